// identity.h: what compiled code depends on beside its Kernel, as text, for cache keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace frit::cpu {

// 64 bits that depend on all bytes and on `seed`. Not cryptographic.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed);

// Frit's version, the formulas, the build of the compiler library at `jit_path`, and this CPU with
// its features.
std::string code_identity(const std::string& jit_path);

}  // namespace frit::cpu
