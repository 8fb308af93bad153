// code.h: compiled code and the interface of libfrit_jit, all that Frit knows of the compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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

// How the iterations of a kernel lie on a grid of blocks of threads.
enum class GridForm : std::uint8_t {
  Threads,  // each thread takes iterations of the parallel loop
  Rows,     // and those of the one vector loop in it: a grid of two dimensions
  Blocks,   // a block takes an iteration; its threads share each vector loop inside
};

// Code of one Kernel for such a grid, as text for the device's own compiler (PTX). The function's
// parameters: an address for each operand (of a scratch operand: not looked at), the integers, the
// parts of the scalars, then the extent of the parallel loop, the scratch memory, the bytes of it
// that a thread (Threads) or block has, and the address of the launch's state; of a kernel that may
// be asked to stop, that of a word which asks when it isn't 0.
struct GridCode {
  std::string text;
  GridForm form{};
  // It may turn out that a formula doesn't hold for an element: the state then has `grid_rare`, and
  // what was stored is not the answer.
  bool may_be_rare = false;
  // Operands that some threads read while others have gone on to write: these must not be memory
  // that the launch writes.
  std::vector<std::int32_t> read_early;
  // (operand, integer): the integer, a stride in bytes, and the operand's address have to be
  // multiples of what one element is aligned to.
  std::vector<std::pair<std::int32_t, std::int32_t>> strides;
  bool adds_in_trees = false;   // eight threads a leaf of 128 elements
  bool looks_for_stop = false;  // it goes on until it is done or asked to stop
  std::string why_not;          // no code: this kernel is none for a grid
};
// The state of a launch: status flags (ops/status_flags.h), and:
inline constexpr std::uint32_t grid_rare = 1u << 31;
inline constexpr const char* grid_entry = "frit_kernel";  // the function's name
inline constexpr unsigned most_grid_threads = 256;        // of a block; a power of two, 32 or more

// Used by one thread at a time.
class Jit {
 public:
  virtual ~Jit() = default;
  // These throw InternalError or DeviceError.
  virtual Code compile(const Kernel& kernel, Effort effort) = 0;
  // For NVIDIA's GPUs.
  virtual GridCode compile_grid(const Kernel& kernel) = 0;
  virtual std::string llvm_text(const Kernel& kernel, Effort effort) = 0;
  virtual std::string assembly(const Kernel& kernel, Effort effort) = 0;
  // LLVM has given up, in the middle of its work: this is good for nothing, not even for its
  // destructor. Another one may be made.
  virtual bool is_broken() const = 0;
};

}  // namespace frit::codegen

extern "C" {
// The entry of libfrit_jit, found by name. The caller deletes the result. Throws as Jit does.
frit::codegen::Jit* frit_make_jit();
}
