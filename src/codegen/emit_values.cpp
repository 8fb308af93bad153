// emit_values.cpp: values in lanes: types, splats, masks, stack memory.
#include "codegen/emitter.h"
#include "ir/error.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/KnownBits.h>

namespace frit::codegen {

using namespace llvm;

Type* Emitter::lanes_type(Type* element, unsigned lanes) const {
  return lanes == 1 ? element : FixedVectorType::get(element, lanes);
}

Emitted& Emitter::value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }

void Emitter::define(const Instr& instr, Emitted made) {
  if (made.level < 0) made.level = level();
  value(instr.result) = std::move(made);
}

Constant* Emitter::lane_numbers() const {
  SmallVector<Constant*, 32> numbers;
  for (unsigned k = 0; k < lanes_; ++k) numbers.push_back(ConstantInt::get(int64_, k));
  return ConstantVector::get(numbers);
}

// The lanes of an evenly spaced index. Where nothing but addresses needs the vector, the optimizer
// drops it.
Emitted Emitter::affine(Value* base, Value* step) {
  Emitted result{.level = level(), .base = base, .step = step};
  Value* steps = builder_.CreateMul(numbers_, builder_.CreateVectorSplat(lanes_, step));
  result.part[0].vector = builder_.CreateAdd(builder_.CreateVectorSplat(lanes_, base), steps);
  return result;
}

// A splat stands right behind the scalar's definition, so that it is made once, outside of the
// loops that use it.
Value* Emitter::vector_of(Emitted& from, int part) {
  Emitted::Part& p = from.part[part];
  if (p.vector) return p.vector;
  if (auto* literal = dyn_cast<Constant>(p.scalar))
    return p.vector = ConstantVector::getSplat(ElementCount::getFixed(lanes_), literal);
  IRBuilder<>::InsertPointGuard guard(builder_);
  if (auto* instruction = dyn_cast<Instruction>(p.scalar)) {
    BasicBlock* home = instruction->getParent();
    builder_.SetInsertPoint(home, instruction->getInsertionPointAfterDef().value_or(home->end()));
  } else {
    builder_.SetInsertPoint(entry_->getTerminator());
  }
  return p.vector = builder_.CreateVectorSplat(lanes_, p.scalar);
}

Value* Emitter::in_lanes(Emitted& from, int part) {
  return from.varies() ? vector_of(from, part) : from.part[part].scalar;
}

Value* Emitter::bool_condition(Emitted& from) {
  Value* byte = in_lanes(from, 0);
  return builder_.CreateICmpNE(byte, Constant::getNullValue(byte->getType()));
}

// Complex elements lie in memory as pairs; in registers as a vector of real and one of imaginary
// parts.
Value* Emitter::interleave(Emitted& pair) {
  SmallVector<int, 32> picks;
  for (unsigned k = 0; k < lanes_; ++k) {
    picks.push_back(static_cast<int>(k));
    picks.push_back(static_cast<int>(k + lanes_));
  }
  return builder_.CreateShuffleVector(vector_of(pair, 0), vector_of(pair, 1), picks);
}

Emitted Emitter::deinterleave(Value* pairs) {
  Emitted result{.parts = 2, .level = level()};
  for (unsigned part = 0; part < 2; ++part) {
    SmallVector<int, 32> picks;
    for (unsigned k = 0; k < lanes_; ++k) picks.push_back(static_cast<int>(2 * k + part));
    result.part[part].vector = builder_.CreateShuffleVector(pairs, picks);
  }
  return result;
}

Value* Emitter::any(Value* mask) {
  if (!mask->getType()->isVectorTy()) return mask;
  Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(lanes_));
  return builder_.CreateICmpNE(bits, ConstantInt::get(bits->getType(), 0));
}

// `condition` is an i1 or, with varying results, a vector of them.
Emitted Emitter::select(Value* condition, const Emitted& yes, const Emitted& no) {
  Emitted result{.parts = yes.parts, .level = level()};
  Emitted a = yes, b = no;
  const bool scalar = !condition->getType()->isVectorTy() && !a.varies() && !b.varies();
  for (int k = 0; k < yes.parts; ++k) {
    if (scalar)
      result.part[k].scalar = builder_.CreateSelect(condition, a.part[k].scalar, b.part[k].scalar);
    else
      result.part[k].vector = builder_.CreateSelect(condition, vector_of(a, k), vector_of(b, k));
  }
  return result;
}

// The same numbers, of which the optimizer knows nothing. To LLVM, arithmetic has no flags: in
// c ? 1 / (c ? x : 1) : 0 it drops the inner choice, which keeps the division from x = 0.
Emitted Emitter::fenced(const Emitted& value) {
  Emitted result = value;
  const auto fence = [&](Value*& v) {
    if (!v || !isa<Instruction>(v) || isa<LoadInst>(v)) return;
    Type* type = v->getType()->getScalarType();
    if (type->isFloatTy() || type->isDoubleTy())
      v = builder_.CreateIntrinsic(Intrinsic::arithmetic_fence, {v->getType()}, {v});
  };
  for (int k = 0; k < value.parts; ++k) {
    if (result.part[k].scalar && result.part[k].vector) result.part[k].vector = nullptr;
    fence(result.part[k].scalar);
    fence(result.part[k].vector);
  }
  return result;
}

namespace {

bool is_of_register(const Type& type) {
  return type.isFloatTy() || type.isDoubleTy() || (type.isIntegerTy() && !type.isIntegerTy(1));
}

// Is it nothing but 0 or 1?
bool is_bit(Value* v, const DataLayout& layout) {
  if (isa<UIToFPInst>(v) || isa<SIToFPInst>(v)) v = cast<CastInst>(v)->getOperand(0);
  return isa<Instruction>(v) && v->getType()->isIntOrIntVectorTy() &&
         computeKnownBits(v, layout).countMaxActiveBits() <= 1;
}

}  // namespace

// The same numbers, of one iteration, where they stand: what follows from them is not computed
// before. (A fence keeps its place no more than arithmetic does; assembly that does nothing keeps
// it.)
Emitted Emitter::held(const Emitted& value) {
  Emitted result = value;
  for (Emitted::Part& part : result.part) {
    Value*& v = part.scalar;
    if (!v || !is_of_register(*v->getType())) continue;
    auto* type = FunctionType::get(v->getType(), {v->getType()}, false);
    const bool is_number = v->getType()->isFloatingPointTy();
    const char* same_register = !is_number ? "=r,0" : machine_.is_x86 ? "=x,0" : "=w,0";
    CallInst* here =
        builder_.CreateCall(InlineAsm::get(type, "", same_register, /*hasSideEffects=*/false), {v});
    here->setDoesNotAccessMemory();
    here->setDoesNotThrow();
    v = here;
    part.vector = nullptr;
  }
  return result;
}

// The last operand, fenced where the optimizer would compute the quotients for 0 and 1 itself and
// choose between them, by which 1 / 0 raises nothing.
Emitted Emitter::fenced_choice(Op op, const Emitted& operand) {
  if (!divides(op)) return operand;
  Emitted result = operand;
  const DataLayout& layout = function_->getParent()->getDataLayout();
  const auto fence = [&](Value*& v) {
    if (!v || !is_bit(v, layout) || v->getType()->getScalarType()->isHalfTy()) return;
    Type* const type = v->getType();
    const bool is_wide = type->getScalarSizeInBits() == 64;
    Type* const word = type->getWithNewType(is_wide ? int64_ : builder_.getInt32Ty());
    Type* const number =
        type->getWithNewType(is_wide ? builder_.getDoubleTy() : builder_.getFloatTy());
    const bool is_whole = type->isIntOrIntVectorTy();
    if (is_whole) v = builder_.CreateBitCast(builder_.CreateZExt(v, word), number);
    v = builder_.CreateIntrinsic(Intrinsic::arithmetic_fence, {number}, {v});
    if (is_whole) v = builder_.CreateTrunc(builder_.CreateBitCast(v, word), type);
  };
  for (int k = 0; k < operand.parts; ++k) {
    if (result.part[k].scalar && result.part[k].vector) result.part[k].vector = nullptr;
    fence(result.part[k].scalar);
    fence(result.part[k].vector);
  }
  return result;
}

Emitted Emitter::extract(Emitted& from, Value* lane) {
  Emitted result{.parts = from.parts, .level = level()};
  for (int k = 0; k < from.parts; ++k)
    result.part[k].scalar = from.varies() ? builder_.CreateExtractElement(vector_of(from, k), lane)
                                          : from.part[k].scalar;
  return result;
}

// Allocas stand in the entry block, where they cost nothing and can become registers.
Value* Emitter::stack(Type* type, const char* name) {
  IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(entry_, entry_->getFirstInsertionPt());
  return builder_.CreateAlloca(type, nullptr, name);
}

void Emitter::make_memory(Value** memory, DType dtype, unsigned lanes, const char* name) {
  make_memory(memory, parts_of(dtype), lanes_type(element_type(dtype), lanes), name);
}

void Emitter::make_memory(Value** memory, int parts, Type* part, const char* name) {
  for (int k = 0; k < parts; ++k) memory[k] = stack(part, name);
}

Emitted Emitter::load_parts(Value* const* memory, DType dtype, unsigned lanes) {
  Emitted result{.parts = parts_of(dtype), .level = level()};
  for (int k = 0; k < result.parts; ++k) {
    Value* loaded = builder_.CreateLoad(lanes_type(element_type(dtype), lanes), memory[k]);
    (lanes == 1 ? result.part[k].scalar : result.part[k].vector) = loaded;
  }
  return result;
}

void Emitter::store_parts(Value* const* memory, Emitted from, DType dtype, unsigned lanes) {
  for (int k = 0; k < parts_of(dtype); ++k)
    builder_.CreateStore(lanes == 1 ? from.part[k].scalar : vector_of(from, k), memory[k]);
}

void Emitter::at_preheader(const std::function<void()>& emit_code) {
  IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(frame().preheader->getTerminator());
  emit_code();
  check(builder_.GetInsertBlock() == frame().preheader, "what is hoisted does not branch");
}

}  // namespace frit::codegen
