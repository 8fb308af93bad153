// emit.h: Kernel -> LLVM IR. In: a verified Kernel. Out: one function in a Module.
#pragma once

#include <vector>

#include <llvm/IR/Module.h>

#include "codegen/code.h"
#include "codegen/formula.h"
#include "ir/kernel.h"

namespace frit::codegen {

// What the emitter must know of the machine.
struct Machine {
  unsigned vector_bytes = 16;  // of a register
  // Masked loads and stores of elements of so many bytes, and of more, are instructions.
  int fewest_masked_bytes = 64;
  // Can lanes of a vector in memory be moved under a mask?
  bool can_mask(DType dtype) const {
    return !is_complex(dtype) && size_of(dtype) >= fewest_masked_bytes;
  }
  bool is_x86 = false;
  bool has_avx512 = false;
  bool has_fused_multiply_add = false;
  bool has_quiet_predicates = false;  // comparisons of vectors that raise no flag for NaNs
  bool has_many_registers = false;    // 32 of vectors, not 16
  // Can lanes from anywhere in memory be loaded under a mask by one instruction?
  bool can_gather(DType dtype) const {
    return has_avx512 && can_mask(dtype) && size_of(dtype) >= 4;
  }
  bool has_fast_gather = false;  // faster than a load for each lane
  // Does a square root or a quotient take longer than its dozen multiplications and additions?
  // (Intel's; the vectors of AMD's are halves there, and their divider is faster.)
  bool has_slow_divider = false;
  // Are lanes moved across a register beside arithmetic? (AMD's; Intel's have one unit for it,
  // which also adds and multiplies.)
  bool has_fast_shuffles = false;
};

struct EmitOptions {
  const Machine& machine;
  Effort effort = Effort::Quick;
};

struct EmittedKernel {
  std::vector<CallOut> call_outs;
  bool is_improvable = false;  // as in Code
  bool is_branchy = false;     // loops end by what they compute, a number at a time
};

// The function is an Entry.
EmittedKernel emit(const Kernel& kernel, const EmitOptions& options, Formulas& formulas,
                   llvm::Module& module);

inline constexpr const char* entry_name = "frit_kernel";

}  // namespace frit::codegen
