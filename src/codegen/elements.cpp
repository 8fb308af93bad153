// elements.cpp: types and literals of elements' parts; branches.
#include "codegen/elements.h"

#include <cstring>

#include <llvm/IR/Constants.h>

namespace frit::codegen {

using namespace llvm;

Type* part_type(DType dtype, LLVMContext& context) {
  const DType real = real_of(dtype);
  if (real == DType::Float16) return Type::getHalfTy(context);
  if (real == DType::Float32) return Type::getFloatTy(context);
  if (real == DType::Float64) return Type::getDoubleTy(context);
  return IntegerType::get(context, static_cast<unsigned>(size_of(real)) * 8);
}

Constant* literal_part(const Scalar& literal, int part, LLVMContext& context) {
  Type* type = part_type(literal.dtype, context);
  const unsigned bits = type->getScalarSizeInBits();
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, literal.bytes + static_cast<unsigned>(part) * (bits / 8), bits / 8);
  const APInt integer(bits, pattern);
  if (type->isIntegerTy()) return ConstantInt::get(context, integer);
  return ConstantFP::get(context, APFloat(type->getFltSemantics(), integer));
}

void emit_if(Builder& builder, Value* condition, const std::function<void()>& then,
             const std::function<void()>& otherwise) {
  Function* function = builder.GetInsertBlock()->getParent();
  const auto new_block = [&](const char* name) {
    return BasicBlock::Create(builder.getContext(), name, function);
  };
  BasicBlock* yes = new_block("then");
  BasicBlock* no = otherwise ? new_block("else") : nullptr;
  BasicBlock* after = new_block("after");
  builder.CreateCondBr(condition, yes, no ? no : after);
  builder.SetInsertPoint(yes);
  then();
  builder.CreateBr(after);
  if (no) {
    builder.SetInsertPoint(no);
    otherwise();
    builder.CreateBr(after);
  }
  builder.SetInsertPoint(after);
}

}  // namespace frit::codegen
