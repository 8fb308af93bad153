// code.h: compiled code and the interface of libfrit_jit, all that Frit knows of the compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace frit::codegen {

// A ready-made loop that the code calls: for elements where a formula doesn't hold, or for
// another library's function.
struct CallOut {
  Op op{};
  DType in{};
  MathLibrary math{};
  bool operator==(const CallOut&) const = default;
};

// Quick: the least time to the first result. Thorough: several times that, for faster code of
// kernels that run for long. The bits of the results are the same.
enum class Effort : std::uint8_t { Quick, Thorough };

// Machine code of one Kernel: position-independent, for any address that is a multiple of 64.
struct Code {
  std::string bytes;
  std::uint64_t entry = 0;  // offset of an Entry
  std::vector<CallOut> call_outs;
  bool is_improvable = false;  // more effort would make it faster
};

// outside: the byte that may ask to stop (backend/stop.h), then the call-outs' loops in order.
using Entry = void (*)(void* const* pointers, const std::int64_t* integers, const Scalar* scalars,
                       std::int64_t begin, std::int64_t end, std::byte* scratch,
                       const void* const* outside);
inline constexpr unsigned outside_stop = 0, outside_loops = 1;
inline constexpr std::uint8_t asked_to_stop = 2;  // the byte; any other asks for nothing

// Used by one thread at a time.
class Jit {
 public:
  virtual ~Jit() = default;
  // These throw InternalError or DeviceError.
  virtual Code compile(const Kernel& kernel, Effort effort) = 0;
  virtual std::string llvm_text(const Kernel& kernel, Effort effort) = 0;
  virtual std::string assembly(const Kernel& kernel, Effort effort) = 0;
};

}  // namespace frit::codegen

extern "C" {
// The entry of libfrit_jit, found by name. The caller deletes the result. Throws as Jit does.
frit::codegen::Jit* frit_make_jit();
}
