// elements.h: what all emitters know of elements, numbers and branches.
#pragma once

#include <functional>

#include "codegen/formula.h"
#include "ops/ops.h"

namespace frit::codegen {

inline int parts_of(DType dtype) { return is_complex(dtype) ? 2 : 1; }
// By its last operand, or 1 by its only one.
inline bool divides(Op op) {
  return op == Op::TrueDivide || op == Op::FloorDivide || op == Op::Remainder || op == Op::Fmod ||
         op == Op::Reciprocal;
}
llvm::Type* part_type(DType dtype, llvm::LLVMContext& context);
llvm::Constant* literal_part(const Scalar& literal, int part, llvm::LLVMContext& context);

// otherwise: may be null.
void emit_if(Builder& builder, llvm::Value* condition, const std::function<void()>& then,
             const std::function<void()>& otherwise);

}  // namespace frit::codegen
