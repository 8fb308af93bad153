// formula.cpp: widening, instruction by instruction.
#include "codegen/formula.h"

#include <cmath>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include "ir/error.h"
#include "ops/ops.h"
#include "ops/permutation.h"

namespace frit::codegen {
namespace {

using namespace llvm;

// Emits one formula once.
class Widening {
 public:
  Widening(Function& formula, std::span<const FormulaArgument> arguments, unsigned lanes,
           Builder& builder, Formulas::Target target)
      : formula_(formula), lanes_(lanes), builder_(builder), target_(target) {
    check(formula.arg_size() == arguments.size(), "a formula gets as many arguments as it takes");
    for (unsigned k = 0; k < arguments.size(); ++k) {
      const FormulaArgument& given = arguments[k];
      const Type* wanted = formula.getArg(k)->getType();
      check((given.scalar ? given.scalar->getType() : given.vector->getType()->getScalarType()) ==
                wanted,
            "a formula's argument has the type it takes");
      mapped_[formula.getArg(k)] = {given.scalar, given.vector};
    }
  }

  Value* run() {
    check(formula_.size() == 1, "a formula is straight-line code");
    for (Instruction& instruction : formula_.getEntryBlock()) {
      if (auto* done = dyn_cast<ReturnInst>(&instruction)) return either(done->getReturnValue());
      mapped_[&instruction] = emit(instruction);
    }
    throw InternalError("frit: internal error: a formula returns its result");
  }

 private:
  struct Mapped {
    Value* scalar = nullptr;
    Value* vector = nullptr;
  };

  Mapped& mapped(Value* value) {
    auto found = mapped_.find(value);
    if (found != mapped_.end()) return found->second;
    check(isa<Constant>(value), "a formula uses its arguments, its own values and constants");
    return mapped_[value] = {value, nullptr};
  }
  bool is_uniform(Value* value) { return mapped(value).scalar != nullptr; }
  Value* scalar(Value* value) { return mapped(value).scalar; }
  Value* vector(Value* value) {
    Mapped& entry = mapped(value);
    if (!entry.vector) {
      Value* splat = splat_of(entry.scalar);
      mapped_[value].vector = splat;
      return splat;
    }
    return entry.vector;
  }
  Value* either(Value* value) { return is_uniform(value) ? scalar(value) : vector(value); }

  // Behind its definition, which may be in front of the loop.
  Value* splat_of(Value* scalar) {
    const Builder::InsertPointGuard guard(builder_);
    move_behind(scalar);
    return builder_.CreateVectorSplat(lanes_, scalar);
  }
  // As near to the beginning as these allow, if one block has them all.
  void move_behind(ArrayRef<Value*> scalars) {
    llvm::Instruction* last = nullptr;
    for (Value* scalar : scalars) {
      auto* made = dyn_cast<Instruction>(scalar);
      if (!made) continue;
      if (last && last->getParent() != made->getParent()) return;
      if (!last || last->comesBefore(made)) last = made;
    }
    if (!last) return;
    if (const auto place = last->getInsertionPointAfterDef())
      builder_.SetInsertPoint(last->getParent(), *place);
  }
  // What raises no flag may be computed in front of the loop, even of a loop without a round: a
  // reciprocal in integers takes as long as the rest of a division.
  bool may_move(Instruction& in) {
    return in.getType()->isIntegerTy() && llvm::all_of(in.operand_values(), [](Value* v) {
             return isa<Function>(v) || v->getType()->isIntegerTy();
           });
  }

  Mapped emit(Instruction& instruction) {
    const bool uniform = llvm::all_of(instruction.operand_values(),
                                      [&](Value* v) { return isa<Function>(v) || is_uniform(v); });
    const Builder::InsertPointGuard guard(builder_);
    if (uniform && may_move(instruction)) {
      SmallVector<Value*, 4> operands;
      for (Value* operand : instruction.operand_values())
        if (!isa<Function>(operand)) operands.push_back(scalar(operand));
      move_behind(operands);
    }
    Value* result = build(instruction, uniform);
    if (auto* made = dyn_cast<Instruction>(result); made && !isa<CallInst>(made))
      made->copyIRFlags(&instruction);
    return uniform ? Mapped{result, nullptr} : Mapped{nullptr, result};
  }

  Value* build(Instruction& in, bool uniform) {
    const auto operand = [&](unsigned k) {
      return uniform ? scalar(in.getOperand(k)) : vector(in.getOperand(k));
    };
    const auto type = [&](Type* t) -> Type* {
      return uniform ? t : FixedVectorType::get(t, lanes_);
    };
    if (auto* op = dyn_cast<BinaryOperator>(&in))
      return builder_.CreateBinOp(op->getOpcode(), operand(0), operand(1));
    if (auto* op = dyn_cast<UnaryOperator>(&in))
      return builder_.CreateUnOp(op->getOpcode(), operand(0));
    if (isa<FPToSIInst>(in)) return float_to_integer(operand(0), type(in.getType()));
    Value *x = nullptr, *y = nullptr;
    if (!uniform && is_high_half(in, x, y)) return high_half(x, y);
    if (auto* op = dyn_cast<CastInst>(&in))
      return builder_.CreateCast(op->getOpcode(), operand(0), type(op->getDestTy()));
    if (auto* op = dyn_cast<CmpInst>(&in))
      return builder_.CreateCmp(op->getPredicate(), operand(0), operand(1));
    if (isa<SelectInst>(in)) return select(in, uniform);
    if (isa<FreezeInst>(in)) return builder_.CreateFreeze(operand(0));
    if (auto* op = dyn_cast<ExtractValueInst>(&in))
      return builder_.CreateExtractValue(operand(0), op->getIndices());
    if (auto* call = dyn_cast<IntrinsicInst>(&in)) return intrinsic(*call, uniform);
    if (auto* op = dyn_cast<ExtractElementInst>(&in)) return look_up(*op, uniform);
    throw InternalError("frit: internal error: " + formula_.getName().str() +
                        " has an instruction that can't be widened: " + in.getOpcodeName());
  }
  static bool is_high_half(Instruction& in, Value*& x, Value*& y) {
    using namespace PatternMatch;
    return in.getType()->isIntegerTy(64) &&
           match(&in, m_Trunc(m_LShr(m_Mul(m_ZExt(m_Value(x)), m_ZExt(m_Value(y))),
                                     m_SpecificInt(64)))) &&
           x->getType() == in.getType() && y->getType() == in.getType();
  }
  // The upper half of products of 64-bit integers, by products of their halves: vectors have those,
  // and LLVM would take whole ones lane by lane.
  Value* high_half(Value* x, Value* y) {
    const auto low_of = [&](Value* z) {
      return builder_.CreateAnd(z, ConstantInt::get(z->getType(), 0xffffffff));
    };
    const auto high_of = [&](Value* z) { return builder_.CreateLShr(z, 32); };
    const auto half_of = [&](Value* z, const auto& half) {
      if (!is_uniform(z)) return half(vector(z));
      const Builder::InsertPointGuard guard(builder_);
      Value* number = scalar(z);
      move_behind(number);
      return splat_of(half(number));
    };
    Value *x_low = half_of(x, low_of), *x_high = half_of(x, high_of);
    Value *y_low = half_of(y, low_of), *y_high = half_of(y, high_of);
    Value* first = builder_.CreateAdd(builder_.CreateMul(x_high, y_low),
                                      high_of(builder_.CreateMul(x_low, y_low)));
    Value* second = builder_.CreateAdd(builder_.CreateMul(x_low, y_high), low_of(first));
    Value* sum = builder_.CreateAdd(builder_.CreateMul(x_high, y_high), high_of(first));
    return builder_.CreateAdd(sum, high_of(second));
  }
  // The smallest integer where the number has no place in it, as x86's instructions give and the
  // ready-made loops too. LLVM's own conversion is undefined there, and it would fold it to
  // anything.
  Value* float_to_integer(Value* x, Type* to) {
    const unsigned bits = to->getScalarSizeInBits();
    if (const Intrinsic::ID instruction = truncation_to(bits, x->getType()))
      return convert_by(instruction, x);
    // Frozen: AVX-512 would convert under the mask of what fits, and raise no flag for the rest.
    Value* converted = builder_.CreateFreeze(builder_.CreateFPToSI(x, to));
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (x->getType()->getScalarType()->isHalfTy() && bits > 16)
      x = builder_.CreateFPExt(x, x->getType()->getWithNewType(builder_.getFloatTy()));
    Value* size = builder_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
    Value* fits = builder_.CreateFCmpOLT(size, ConstantFP::get(x->getType(), limit));
    Value* smallest = ConstantInt::get(to, APInt::getSignedMinValue(bits));
    return builder_.CreateSelect(fits, converted, smallest);
  }
  // x86's instruction for one number: of a choice that a branch may make, the conversion would move
  // behind the branch, and raise no flag for what does not fit. None: there is no such instruction.
  Intrinsic::ID truncation_to(unsigned bits, Type* from) const {
    if (!builder_.GetInsertBlock()->getModule()->getTargetTriple().isX86() ||
        (bits != 32 && bits != 64))
      return Intrinsic::not_intrinsic;
    if (from->isDoubleTy())
      return bits == 64 ? Intrinsic::x86_sse2_cvttsd2si64 : Intrinsic::x86_sse2_cvttsd2si;
    if (from->isFloatTy())
      return bits == 64 ? Intrinsic::x86_sse_cvttss2si64 : Intrinsic::x86_sse_cvttss2si;
    return Intrinsic::not_intrinsic;
  }
  Value* convert_by(Intrinsic::ID instruction, Value* x) {
    constexpr unsigned bits_of_register = 128;
    auto* vector =
        FixedVectorType::get(x->getType(), bits_of_register / x->getType()->getScalarSizeInBits());
    Value* lane = builder_.CreateInsertElement(PoisonValue::get(vector), x, std::uint64_t{0});
    return builder_.CreateIntrinsic(instruction, {}, {lane});
  }
  // A formula's only vectors are its tables.
  Value* look_up(ExtractElementInst& in, bool uniform) {
    auto* table = dyn_cast<Constant>(in.getVectorOperand());
    check(table != nullptr, "a formula looks up in constants");
    Value* place = uniform ? scalar(in.getIndexOperand()) : vector(in.getIndexOperand());
    if (!uniform && target_.has_avx512 && is_permutable(*table, lanes_))
      return permuted(builder_, *table, place);
    Module& module = *builder_.GetInsertBlock()->getModule();
    // An array: a vector would ask for more alignment than the code itself has.
    SmallVector<Constant*, 16> elements;
    while (Constant* element = table->getAggregateElement(static_cast<unsigned>(elements.size())))
      elements.push_back(element);
    auto* type = ArrayType::get(in.getType(), elements.size());
    auto* memory =
        new GlobalVariable(module, type, /*isConstant=*/true, GlobalValue::PrivateLinkage,
                           ConstantArray::get(type, elements), "table");
    Value* address = builder_.CreateGEP(in.getType(), memory, place);
    if (uniform) return builder_.CreateLoad(in.getType(), address);
    const Align alignment = module.getDataLayout().getABITypeAlign(in.getType());
    return builder_.CreateMaskedGather(FixedVectorType::get(in.getType(), lanes_), address,
                                       alignment);
  }
  // A condition that is the same in all lanes chooses between whole vectors.
  Value* select(Instruction& in, bool uniform) {
    Value* condition = in.getOperand(0);
    if (uniform)
      return builder_.CreateSelect(scalar(condition), scalar(in.getOperand(1)),
                                   scalar(in.getOperand(2)));
    return builder_.CreateSelect(either(condition), vector(in.getOperand(1)),
                                 vector(in.getOperand(2)));
  }
  Value* intrinsic(IntrinsicInst& call, bool uniform) {
    const Intrinsic::ID id = call.getIntrinsicID();
    SmallVector<Type*, 4> overloads;
    check(Intrinsic::getIntrinsicSignature(call.getCalledFunction(), overloads),
          "a formula calls intrinsics only");
    SmallVector<Value*, 4> operands;
    for (unsigned k = 0; k < call.arg_size(); ++k) {
      const bool stays_scalar = isVectorIntrinsicWithScalarOpAtArg(id, k, nullptr);
      check(!stays_scalar || is_uniform(call.getArgOperand(k)),
            "an intrinsic's scalar operand is the same in all lanes");
      operands.push_back(uniform || stays_scalar ? scalar(call.getArgOperand(k))
                                                 : vector(call.getArgOperand(k)));
    }
    if (!uniform)
      for (Type*& overload : overloads) overload = FixedVectorType::get(overload, lanes_);
    if (id == Intrinsic::fmuladd && !target_.has_fused_multiply_add)
      return builder_.CreateFAdd(builder_.CreateFMul(operands[0], operands[1]), operands[2]);
    Function* callee = Intrinsic::getOrInsertDeclaration(
        builder_.GetInsertBlock()->getModule(), id == Intrinsic::fmuladd ? Intrinsic::fma : id,
        overloads);
    return builder_.CreateCall(callee, operands);
  }

  Function& formula_;
  unsigned lanes_;
  Builder& builder_;
  Formulas::Target target_;
  DenseMap<Value*, Mapped> mapped_;
};

}  // namespace

Formulas::Formulas(llvm::LLVMContext& context, Target target) : target_(target) {
  const std::span<const char> bytes = formula_bitcode();
  auto buffer = llvm::MemoryBuffer::getMemBuffer({bytes.data(), bytes.size()}, "formulas",
                                                 /*RequiresNullTerminator=*/false);
  auto module = llvm::getOwningLazyBitcodeModule(std::move(buffer), context);
  if (!module)
    throw InternalError("frit: internal error: formulas: " + toString(module.takeError()));
  module_ = std::move(*module);
}

llvm::Function* Formulas::find(const std::string& symbol) {
  llvm::Function* formula = materialized(symbol);
  if (!formula || target_.has_fused_multiply_add) return formula;
  // "frit_Exp_d" of "frit_Exp_d_ordinary"
  const std::string family = symbol.substr(0, symbol.find('_', symbol.find('_', 5) + 1));
  const auto known = families_.find(family);
  const bool asks = known != families_.end() ? known->second : asks_for_fused(family);
  families_.emplace(family, asks);
  return asks ? nullptr : formula;
}

bool Formulas::asks_for_fused(const std::string& family) {
  for (const char* of_family : {"", "_re", "_im", "_rare"}) {
    const llvm::Function* formula = materialized(family + of_family);
    if (!formula) continue;
    for (const llvm::Instruction& in : llvm::instructions(*formula)) {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&in);
      if (call && call->getIntrinsicID() == llvm::Intrinsic::fma) return true;
    }
  }
  return false;
}

llvm::Function* Formulas::materialized(const std::string& symbol) {
  llvm::Function* formula = module_->getFunction(symbol);
  if (!formula) return nullptr;
  if (llvm::Error error = formula->materialize())
    throw InternalError("frit: internal error: formulas: " + toString(std::move(error)));
  return formula->isDeclaration() ? nullptr : formula;
}

llvm::Value* Formulas::widen(llvm::Function& formula, std::span<const FormulaArgument> arguments,
                             unsigned lanes, Builder& builder) {
  return Widening(formula, arguments, lanes, builder, target_).run();
}

unsigned length_of(const llvm::Function& formula) { return formula.getInstructionCount(); }

bool may_trap(const llvm::Function& formula) {
  for (const llvm::Instruction& in : llvm::instructions(formula)) {
    const unsigned opcode = in.getOpcode();
    if (opcode == llvm::Instruction::FDiv || opcode == llvm::Instruction::FRem ||
        opcode == llvm::Instruction::FPToSI || opcode == llvm::Instruction::FPToUI)
      return true;
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&in))
      if (call->getIntrinsicID() == llvm::Intrinsic::sqrt) return true;
  }
  return false;
}

}  // namespace frit::codegen
