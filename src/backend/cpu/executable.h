// executable.h: compiled code in memory that may be executed, as an Executable.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "codegen/code.h"

namespace frit::cpu {

// Throws DeviceError where the system gives no such memory.
std::unique_ptr<const Executable> make_executable(const codegen::Code& code);

}  // namespace frit::cpu
