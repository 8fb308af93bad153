// square_roots.cpp: roots by Newton's iteration on the machine's estimate, correctly rounded.
//
// The divider takes 22 cycles for eight roots, and can do nothing else meanwhile; the twelve
// multiplications and additions take 9 (both measured, AVX-512).
//
// With g near sqrt(a) and h near 1 / (2 sqrt(a)), r = 1/2 - g h is the error of both; g + g r and
// h + h r have twice as many digits. Two rounds make of 14 bits all but the last two. Then
// g + h (a - g g) is off by less than 2^-102 of the root before it is rounded, once. No root is as
// near to the middle of two numbers, where that could change its rounding, but for a = m^2 - c with
// small c, and backend/cpu/square_roots_test.cpp tries all of those. (Cornea, Harrison and Tang:
// Scientific Computing on Itanium-based Systems, 2002, chapter 8.)
#include "codegen/square_roots.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace frit::codegen {

using namespace llvm;

namespace {

constexpr unsigned estimated_lanes = 8;  // of the estimate's instruction

// How many of the machine's vectors?
unsigned vectors_of(const Type* type) {
  constexpr unsigned bits = 512;
  const auto* vector = dyn_cast<FixedVectorType>(type);
  if (!vector) return 0;
  return (vector->getNumElements() * vector->getScalarSizeInBits() + bits - 1) / bits;
}

// On how many vectors of eight float64 does it work?
unsigned doubles_of(const Instruction& instruction) {
  const auto* type = dyn_cast<FixedVectorType>(instruction.getType());
  if (!type || !type->getElementType()->isDoubleTy()) return 0;
  const unsigned lanes = type->getNumElements();
  return lanes % estimated_lanes == 0 ? lanes / estimated_lanes : 0;
}

bool is_square_root(const Instruction& instruction) {
  const auto* call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::sqrt && doubles_of(instruction) != 0;
}

// Is the code shorter without the divider's square roots? Beside it, two vector instructions run in
// a cycle.
bool is_shorter_without(const Function& function) {
  constexpr unsigned root_cycles = 22, division_cycles = 16, root_instructions = 20;
  unsigned roots = 0, divisions = 0, others = 0;
  for (const BasicBlock& block : function)
    for (const Instruction& instruction : block) {
      if (is_square_root(instruction))
        roots += doubles_of(instruction);
      else if (instruction.getOpcode() == Instruction::FDiv)
        divisions += doubles_of(instruction);
      else if (isa<StoreInst>(instruction))
        others += vectors_of(instruction.getOperand(0)->getType());
      else
        others += vectors_of(instruction.getType());
    }
  const unsigned with = std::max(root_cycles * roots + division_cycles * divisions, others / 2);
  const unsigned without =
      std::max(division_cycles * divisions, (others + root_instructions * roots) / 2);
  return without < with;
}

class SquareRoot {
 public:
  explicit SquareRoot(IntrinsicInst& hardware) : hardware_(hardware), builder_(&hardware) {
    x_ = hardware.getArgOperand(0);
    type_ = cast<FixedVectorType>(x_->getType());
  }

  // The instruction is left to the vectors with a lane for which the iteration doesn't hold.
  void shorten() {
    Value* bits = builder_.CreateBitCast(x_, VectorType::getInteger(type_));
    Value* nonzero = builder_.CreateICmpNE(bits, Constant::getNullValue(bits->getType()));
    Value* holds = builder_.CreateOr(is_ordinary(bits), builder_.CreateNot(nonzero));
    Instruction *then = nullptr, *otherwise = nullptr;
    SplitBlockAndInsertIfThenElse(builder_.CreateAndReduce(holds), &hardware_, &then, &otherwise,
                                  MDBuilder(builder_.getContext()).createLikelyBranchWeights());
    PHINode* root = PHINode::Create(type_, 2, "root", hardware_.getIterator());
    hardware_.replaceAllUsesWith(root);
    builder_.SetInsertPoint(then);
    root->addIncoming(iterated(nonzero), then->getParent());
    hardware_.moveBefore(otherwise->getIterator());
    root->addIncoming(&hardware_, otherwise->getParent());
  }

 private:
  // Positive, and far enough from the ends of the range for all that is computed.
  Value* is_ordinary(Value* bits) {
    constexpr std::uint64_t unit = 1ULL << 52, bias = 1023, reach = 500;
    Value* above =
        builder_.CreateSub(bits, ConstantInt::get(bits->getType(), (bias - reach) * unit));
    return builder_.CreateICmpULT(above, ConstantInt::get(bits->getType(), 2 * reach * unit));
  }

  // The root of zero is zero, from an estimate of zero.
  Value* iterated(Value* nonzero) {
    Value* half = ConstantFP::get(type_, 0.5);
    Value* estimate = estimated(nonzero);
    Value* g = builder_.CreateFMul(x_, estimate);
    Value* h = builder_.CreateFMul(estimate, half);
    for (int round = 0; round < 2; ++round) {
      Value* error = fused(builder_.CreateFNeg(g), h, half);
      g = fused(g, error, g);
      h = fused(h, error, h);
    }
    return fused(fused(builder_.CreateFNeg(g), g, x_), h, g);
  }

  Value* fused(Value* x, Value* y, Value* z) {
    return builder_.CreateIntrinsic(Intrinsic::fma, {type_}, {x, y, z});
  }

  // 1 / sqrt(x) to 14 bits.
  Value* estimated(Value* nonzero) {
    SmallVector<Value*, 4> parts;
    for (unsigned first = 0; first < type_->getNumElements(); first += estimated_lanes) {
      Value* x = part(x_, first);
      Value* mask = builder_.CreateBitCast(part(nonzero, first), builder_.getInt8Ty());
      parts.push_back(builder_.CreateIntrinsic(Intrinsic::x86_avx512_rsqrt14_pd_512, {},
                                               {x, Constant::getNullValue(x->getType()), mask}));
    }
    return concatenateVectors(builder_, parts);
  }

  Value* part(Value* vector, unsigned first) {
    return builder_.CreateShuffleVector(vector, createSequentialMask(first, estimated_lanes, 0));
  }

  IntrinsicInst& hardware_;
  IRBuilder<> builder_;
  Value* x_ = nullptr;
  FixedVectorType* type_ = nullptr;
};

}  // namespace

void shorten_square_roots(Module& module, const Machine& machine) {
  if (!machine.has_slow_roots) return;
  for (Function& function : module) {
    SmallVector<IntrinsicInst*, 8> roots;
    for (BasicBlock& block : function)
      for (Instruction& instruction : block)
        if (is_square_root(instruction)) roots.push_back(cast<IntrinsicInst>(&instruction));
    if (roots.empty() || !is_shorter_without(function)) continue;
    for (IntrinsicInst* root : roots) SquareRoot(*root).shorten();
  }
}

}  // namespace frit::codegen
