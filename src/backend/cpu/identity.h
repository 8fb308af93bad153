// identity.h: what compiled code depends on beside its Kernel, as text, for cache keys.
#pragma once

#include <string>

namespace frit::cpu {

// Frit's version, the formulas, the build of the compiler library at `jit_path`, and this CPU with
// its features.
std::string code_identity(const std::string& jit_path);

}  // namespace frit::cpu
