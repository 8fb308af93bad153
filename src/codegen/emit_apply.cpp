// emit_apply.cpp: one op or conversion: widened formulas, or calls to ready-made loops.
#include <algorithm>
#include <cfenv>
#include <cstring>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/emitter.h"
#include "ir/error.h"

namespace frit::codegen {

using namespace llvm;

namespace {

bool has_formula(Formulas& formulas, const std::string& symbol) {
  return formulas.find(symbol) || formulas.find(symbol + "_re");
}

bool is_constant(const Emitted& operand) {
  return all_of(ArrayRef(operand.part, static_cast<std::size_t>(operand.parts)),
                [](const Emitted::Part& p) { return isa_and_nonnull<Constant>(p.scalar); });
}

// Does the op raise a flag of constants? Most don't, and are left to the optimizer.
bool raises_of_constants(Op op, DType in, ArrayRef<Emitted*> operands) {
  const Loop run = loop(op, in);
  if (!run || operands.size() > 3) return true;
  alignas(16) std::byte bytes[4][16] = {};
  void* args[4] = {bytes[0], bytes[1], bytes[2], bytes[3]};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::byte* to = bytes[k + 1];
    for (int part = 0; part < operands[k]->parts; ++part) {
      const Value* value = operands[k]->part[part].scalar;
      const auto* number = dyn_cast<ConstantFP>(value);
      const auto* whole = dyn_cast<ConstantInt>(value);
      if (!number && !whole) return true;
      const APInt bits = number ? number->getValueAPF().bitcastToAPInt() : whole->getValue();
      const std::size_t size = bits.getBitWidth() / 8;
      std::memcpy(to, bits.getRawData(), size);
      to += size;
    }
  }
  std::fenv_t kept;
  std::feholdexcept(&kept);
  run(args, 1, 0);
  const bool raises = std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != 0;
  std::fesetenv(&kept);
  return raises;
}

// As many as the operand's parts.
Emitted harmless_numbers(Op op, DType in, const Emitted& operand) {
  Emitted input{.parts = operand.parts};
  for (int k = 0; k < operand.parts; ++k) {
    const Emitted::Part& part = operand.part[k];
    Type* type = (part.scalar ? part.scalar : part.vector)->getType()->getScalarType();
    input.part[k].scalar = type->isFloatingPointTy()
                               ? static_cast<Value*>(ConstantFP::get(type, harmless_input(op, in)))
                               : ConstantInt::get(type, 0);
  }
  return input;
}

bool any_varies(ArrayRef<Emitted*> operands) {
  return any_of(operands, [](Emitted* operand) { return operand->varies(); });
}

}  // namespace

bool Emitter::may_call_out(Op op, DType in) {
  const std::string symbol = formula_symbol(op, in);
  return !has_formula(formulas_, symbol) || formulas_.find(symbol + "_rare");
}

// Of operands that are the same in all lanes.
bool Emitter::may_branch(Op op, DType in) {
  return may_call_out(op, in) || formulas_.find(overflow_symbol(op, in));
}

Emitted Emitter::apply(Op op, DType in, DType out, ArrayRef<Emitted*> operands) {
  const std::string symbol = formula_symbol(op, in);
  SmallVector<Emitted, 3> replaced;
  SmallVector<Emitted*, 3> used(operands);
  const bool varies = any_varies(operands);
  const bool is_kept = is_conditional(varies);
  if (is_kept && has(op, MayWarn) && is_inexact(in)) {
    // Of constants alone no operand keeps it from being computed where nobody comes.
    const bool is_known = llvm::all_of(operands, [](Emitted* x) { return is_constant(*x); });
    if (!is_known || raises_of_constants(op, in, operands)) {
      for (Emitted* operand : operands)
        replaced.push_back(is_known
                               ? where_active(*operand, harmless_numbers(op, in, *operand), varies)
                               : harmless(op, in, *operand, varies));
      for (std::size_t k = 0; k < used.size(); ++k) used[k] = &replaced[k];
    }
  } else if (is_kept && divides(op) && is_integer(in) && !is_constant(*used.back())) {
    Emitted one{.parts = 1};
    one.part[0].scalar = ConstantInt::get(element_type(in), 1);
    replaced.push_back(where_active(*used.back(), one, varies));
    used.back() = &replaced.back();
  }
  if (op == Op::Negative && is_inexact(in)) {
    // The optimizer makes -(x * 3) x * -3, and y + -x y - x, which has another sign for a NaN.
    Emitted positive = fenced(*used[0]);
    return fenced(call_formulas(symbol, out, {&positive}));
  }
  Emitted last = fenced_choice(op, *used.back());
  used.back() = &last;
  if (may_call_out(op, in)) return call_out_where_rare(op, in, out, used);
  if (has_shorter_way(op, in, used)) return shorter_where_ordinary(op, in, out, used);
  raise_where_it_overflows(op, in, used);
  if (!any_varies(used) && formulas_.find(alone_symbol(op, in)))
    return call_formulas(alone_symbol(op, in), out, used);
  if (!machine_.has_avx512 && is_by_one(used) && formulas_.find(by_one_symbol(op, in)))
    return call_formulas(by_one_symbol(op, in), out, used);
  if (!machine_.has_avx512 && formulas_.find(far_symbol(op, in)))
    return call_formulas(far_symbol(op, in), out, used);
  return call_formulas(symbol, out, used);
}

// Is the second operand one number for many of the first? What is made in this loop is another in
// each round.
bool Emitter::is_by_one(ArrayRef<Emitted*> operands) {
  return operands.size() == 2 && operands[0]->varies() && !operands[1]->varies() &&
         operands[1]->level < level();
}

void Emitter::raise_where_it_overflows(Op op, DType in, ArrayRef<Emitted*> operands) {
  Function* overflows = formulas_.find(overflow_symbol(op, in));
  if (!overflows) return;
  const auto look_at_lanes = [&] {
    if_then(any(active(call_formula(*overflows, operands))), [&] { raise_overflow(); });
  };
  if (!is_by_one(operands)) return look_at_lanes();
  // Most numbers let nothing overflow, not even the smallest one.
  Emitted smallest;
  smallest.part[0].scalar = ConstantInt::get(
      element_type(in), APInt::getSignedMinValue(element_type(in)->getScalarSizeInBits()));
  if_then(any(active(call_formula(*overflows, {&smallest, operands[1]}))), look_at_lanes);
}

// Of what a formula says of the lanes, what is true of active ones.
Value* Emitter::active(Value* flags) {
  Value* where = builder_.CreateICmpNE(flags, Constant::getNullValue(flags->getType()));
  return mask_ && where->getType()->isVectorTy() ? builder_.CreateAnd(where, mask_) : where;
}

void Emitter::raise_overflow() {
  Type* type = builder_.getFloatTy();
  Value* memory = stack(type, "large");
  builder_.CreateStore(ConstantFP::get(type, 0x1p127), memory, /*isVolatile=*/true);
  Value* large = builder_.CreateLoad(type, memory, /*isVolatile=*/true);
  builder_.CreateStore(builder_.CreateFMul(large, large), memory, /*isVolatile=*/true);
}

// Lanes that are not active must not raise flags. Sums and products of what other operations made
// stay as they are: they are the bulk of a masked loop, and raise a flag only from extreme values,
// which the engine judges by them (FlagJudge, engine/nest_replay.h). Where perhaps no lane is
// active not even those. `varies`: one of the operands does.
Emitted Emitter::harmless(Op op, DType in, const Emitted& operand, bool varies) {
  const std::string symbol = formula_symbol(op, in);
  Function* formula = formulas_.find(symbol);
  if (!formula) formula = formulas_.find(symbol + "_re");
  // Nor must they keep the others from the shorter way.
  const bool may_stay =
      formula && !may_trap(*formula) && !formulas_.find(ordinary_symbol(op, in)) && !is_flat_;
  if (may_stay || is_constant(operand)) return operand;
  return where_active(operand, harmless_numbers(op, in, operand), varies);
}

// What is computed from it is not computed where nobody comes: the optimizer thinks that it may be.
Emitted Emitter::where_active(const Emitted& operand, const Emitted& otherwise, bool varies) {
  if (!mask_) return held(operand);
  if (!varies) return held(select(any(mask_), operand, otherwise));
  return fenced(select(mask_, operand, otherwise));
}

Emitted Emitter::call_formulas(const std::string& symbol, DType out, ArrayRef<Emitted*> operands) {
  const bool varies = any_varies(operands);
  Emitted result{.parts = parts_of(out), .level = level()};
  const char* const pair[] = {"_re", "_im"};
  for (int k = 0; k < result.parts; ++k) {
    Function* formula = formulas_.find(result.parts == 2 ? symbol + pair[k] : symbol);
    check(formula != nullptr, "an op that is applied has a formula");
    Value* made = call_formula(*formula, operands);
    // A formula may ignore what varies: isnan of integers is a constant.
    if (varies && !made->getType()->isVectorTy()) made = builder_.CreateVectorSplat(lanes_, made);
    (varies ? result.part[k].vector : result.part[k].scalar) = made;
  }
  return result;
}

Value* Emitter::call_formula(Function& formula, ArrayRef<Emitted*> operands) {
  const bool varies = any_varies(operands);
  SmallVector<FormulaArgument, 6> arguments;
  for (Emitted* operand : operands)
    for (int k = 0; k < operand->parts; ++k)
      arguments.push_back({operand->part[k].scalar, varies ? vector_of(*operand, k) : nullptr});
  return formulas_.widen(formula, arguments, lanes_, builder_);
}

// ---- calls --------------------------------------------------------------------------------------

// Not in flat code, where nothing may branch.
bool Emitter::has_shorter_way(Op op, DType in, ArrayRef<Emitted*> operands) {
  return !is_flat_ && formulas_.find(ordinary_symbol(op, in)) && any_varies(operands);
}

// The shorter formula's result, but where any lane is not ordinary the ready-made loop's for all
// lanes.
Emitted Emitter::shorter_where_ordinary(Op op, DType in, DType out, ArrayRef<Emitted*> operands) {
  Value* memory[2];
  make_memory(memory, out, lanes_, "shorter");
  Value* ordinary = call_formula(*formulas_.find(is_ordinary_symbol(op, in)), operands);
  Value* other = builder_.CreateICmpEQ(ordinary, Constant::getNullValue(ordinary->getType()));
  if_then_else(
      any(other),
      [&] {
        store_parts(memory, call_out({op, in}, out, operands, lanes_), out, lanes_);
      },
      [&] {
        store_parts(memory, call_formulas(ordinary_symbol(op, in), out, operands), out, lanes_);
      });
  Emitted result = load_parts(memory, out, lanes_);
  result.level = level();
  return result;
}

// The formula's result, but where any lane is rare the ready-made loop's for all lanes: it holds
// everywhere.
Emitted Emitter::call_out_where_rare(Op op, DType in, DType out, ArrayRef<Emitted*> operands) {
  const std::string symbol = formula_symbol(op, in);
  const bool varies = any_varies(operands);
  const unsigned lanes = varies ? lanes_ : 1;
  Function* rare = formulas_.find(symbol + "_rare");
  if (!rare || !has_formula(formulas_, symbol)) return call_out({op, in}, out, operands, lanes);
  Value* memory[2];
  make_memory(memory, out, lanes, "whole");
  store_parts(memory, call_formulas(symbol, out, operands), out, lanes);
  if_then(any(active(call_formula(*rare, operands))), [&] {
    store_parts(memory, call_out({op, in}, out, operands, lanes), out, lanes);
  });
  Emitted result = load_parts(memory, out, lanes);
  result.level = level();
  return result;
}

Value* Emitter::argument_in_memory(Emitted& operand, unsigned lanes) {
  Type* element = in_lanes(operand, 0)->getType()->getScalarType();
  const unsigned parts = static_cast<unsigned>(operand.parts);
  Value* memory = stack(lanes_type(element, lanes * parts), "argument");
  for (unsigned k = 0; k < parts; ++k) {
    if (lanes == 1)
      builder_.CreateStore(operand.part[k].scalar, builder_.CreateConstGEP1_64(element, memory, k));
    else if (k == 0)
      builder_.CreateStore(parts == 2 ? interleave(operand) : vector_of(operand, 0), memory);
  }
  return memory;
}

// What stands outside of the code, which gets its address from the caller.
Value* Emitter::callee(const CallOut& wanted) {
  auto known = std::ranges::find(call_outs_, wanted);
  if (known == call_outs_.end()) known = call_outs_.insert(known, wanted);
  const auto number = static_cast<unsigned>(known - call_outs_.begin()) + outside_loops;
  return builder_.CreateLoad(pointer_,
                             builder_.CreateConstGEP1_64(pointer_, function_->getArg(6), number));
}

// Another library's function, of one number.
Emitted Emitter::call_library(const Instr& instr, DType in, ArrayRef<Emitted*> operands) {
  const DType out = dtype_of(instr.result);
  const CallOut wanted{.op = instr.op, .in = in, .math = instr.math};
  if (!function_of_numbers(instr.math, instr.op, in)) return call_out(wanted, out, operands, 1);
  SmallVector<Value*, 2> arguments;
  for (const Emitted* operand : operands) arguments.push_back(operand->part[0].scalar);
  const SmallVector<Type*, 2> types(operands.size(), element_type(in));
  auto* type = FunctionType::get(element_type(out), types, false);
  const auto called = [&]() -> Value* {
    CallInst* call = builder_.CreateCall(type, callee(wanted), arguments);
    call->setDoesNotThrow();
    return call;
  };
  const bool is_square = instr.op == Op::Square && instr.math == MathLibrary::C;
  Emitted result{.parts = 1, .level = level()};
  result.part[0].scalar = is_square && in == DType::Float64 && machine_.has_fused_multiply_add
                              ? product_or(arguments[0], called)
                              : called();
  return result;
}

// x * x, but where C's pow(x, 2) may be another number what is called (ops/math_library.cpp): for a
// call all that is in registers is written to memory. Of numbers that are neither large nor small
// pow's error is below 0.02 units in the last place, besides the rounding.
Value* Emitter::product_or(Value* x, const std::function<Value*()>& called) {
  const auto bits_of = [&](double value) {
    return builder_.getInt64(std::bit_cast<std::uint64_t>(value));
  };
  Type* type = x->getType();
  Value* memory = stack(type, "square");
  Value* product = builder_.CreateFMul(x, x);
  builder_.CreateStore(product, memory);
  // As integers: comparisons of floats would raise a flag for a NaN.
  Value* bits = builder_.CreateBitCast(product, int64_);
  Value* is_middling =
      builder_.CreateICmpULT(builder_.CreateSub(bits, bits_of(0x1p-100)),
                             builder_.CreateSub(bits_of(0x1p100), bits_of(0x1p-100)));
  Value* less = builder_.CreateFNeg(  // without infinity - infinity
      builder_.CreateSelect(is_middling, product, ConstantFP::getZero(type)));
  Value* error = builder_.CreateUnaryIntrinsic(
      Intrinsic::fabs, builder_.CreateIntrinsic(Intrinsic::fma, {type}, {x, x, less}));
  Value* below_bits = builder_.CreateAnd(bits, bits_of(HUGE_VAL));
  Value* below = builder_.CreateBitCast(below_bits, type);
  // Below a power of two the units are half as large.
  Value* limit =
      builder_.CreateSelect(builder_.CreateICmpEQ(bits, below_bits), ConstantFP::getZero(type),
                            builder_.CreateFMul(below, ConstantFP::get(type, 0.48 * 0x1p-52)));
  Value* holds = builder_.CreateAnd(is_middling, builder_.CreateFCmpOLE(error, limit));
  if_then(builder_.CreateNot(holds), [&] { builder_.CreateStore(called(), memory); });
  return builder_.CreateLoad(type, memory);
}

Emitted Emitter::call_out(const CallOut& wanted, DType out, ArrayRef<Emitted*> operands,
                          unsigned lanes) {
  check(frit::loop(wanted.op, wanted.in) != nullptr,
        "an op that is applied has a formula or a ready-made loop");
  Type* result_type = lanes_type(element_type(out), lanes * static_cast<unsigned>(parts_of(out)));
  Value* to = stack(result_type, "result");
  Value* arguments = stack(ArrayType::get(pointer_, 4), "arguments");
  builder_.CreateStore(to, arguments);
  for (unsigned k = 0; k < operands.size(); ++k) {
    Value* from = argument_in_memory(*operands[k], lanes);
    builder_.CreateStore(from, builder_.CreateConstGEP1_64(pointer_, arguments, k + 1));
  }
  auto* type =
      FunctionType::get(builder_.getVoidTy(), {pointer_, int64_, builder_.getInt32Ty()}, false);
  builder_.CreateCall(type, callee(wanted), {arguments, int64(lanes), builder_.getInt32(0)})
      ->setDoesNotThrow();

  if (lanes > 1 && parts_of(out) == 2) return deinterleave(builder_.CreateLoad(result_type, to));
  Value* memory[2] = {to, nullptr};
  if (parts_of(out) == 2) memory[1] = builder_.CreateConstGEP1_64(element_type(out), to, 1);
  return load_parts(memory, out, lanes);
}

// ---- conversions --------------------------------------------------------------------------------

// As astype: complex to real drops the imaginary part, complex to bool asks whether any part is not
// zero.
Emitted Emitter::cast(DType from, DType to, Emitted& operand) {
  if (from == to) return operand;
  if (is_conditional(operand.varies()) && is_inexact(from) && conversion_may_warn(from, to) &&
      !is_constant(operand)) {
    Emitted zero{.parts = operand.parts};
    for (int k = 0; k < operand.parts; ++k)
      zero.part[k].scalar = Constant::getNullValue(element_type(from));
    Emitted harmless = where_active(operand, zero, operand.varies());
    return cast_parts(from, to, harmless);
  }
  return cast_parts(from, to, operand);
}

Emitted Emitter::cast_parts(DType from, DType to, Emitted& operand) {
  Emitted result{.parts = parts_of(to), .level = level()};
  Emitted part[2];
  for (int k = 0; k < operand.parts; ++k) {
    part[k].part[0] = operand.part[k];
    if (real_of(from) == real_of(to)) continue;
    Emitted* source[] = {&part[k]};
    Emitted converted = call_formulas(cast_symbol(real_of(from), real_of(to)), real_of(to), source);
    part[k].part[0] = converted.part[0];
  }
  for (int k = 0; k < result.parts; ++k) {
    if (k < operand.parts)
      result.part[k] = part[k].part[0];
    else
      result.part[k].scalar = Constant::getNullValue(element_type(to));
  }
  if (result.parts == 2 && operand.parts == 1 && result.part[0].scalar == nullptr)
    result.part[1] = {nullptr, Constant::getNullValue(lanes_type(element_type(to), lanes_))};
  if (to == DType::Bool && operand.parts == 2)
    (operand.varies() ? result.part[0].vector : result.part[0].scalar) =
        builder_.CreateOr(in_lanes(part[0], 0), in_lanes(part[1], 0));
  return result;
}

}  // namespace frit::codegen
