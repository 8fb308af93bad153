// divider.cpp: roots and quotients by iteration on the machine's estimates, correctly rounded.
//
// The divider takes 22 cycles for eight roots and 16 for eight quotients. Their multiplications
// and additions take 8 or 9, and 3 where the divisor is the same for all. (AVX-512; all measured.)
//
// Roots. With g near sqrt(x) and h near 1 / (2 sqrt(x)), r = 1/2 - g h is the error of both;
// g + g r and h + h r have twice as many digits. Two rounds make of 14 bits all but the last two.
// Then g + h (x - g g) is off by less than 2^-102 of the root before it is rounded, once. No root
// is as near to the middle of two numbers, where that could change its rounding, but for
// x = m^2 - c with small c, and backend/cpu/divider_test.cpp tries all of those. (Cornea, Harrison
// and Tang: Scientific Computing on Itanium-based Systems, 2002, chapter 8.)
//
// Quotients. Take 1 <= x, y < 2, and B = 2^52 y, a whole number. With z near 1 / y its error is
// e = 1 - y z; z + z (e + e e) has three times as many digits, and once more z + z e twice as many:
// 2^-84 is left before z is rounded, so
//   |z - 1/y| <= 2^-54 (1 + 2^-29).
// With q = x z rounded, r = x - y q and u the last place of x / y, the result is, before it is
// rounded,
//   q + r z = x / y + (x / y - q) d, where d = y z - 1.
// No quotient is nearer to the middle of two numbers than u / (2 B). Where q is off by half of u,
// what is added may be that at most:
//   |d| < 1 / (B + 1), that is y y 2^-54 (1 + 2^-28) < 2^-52, which holds for y <= 2 - 2^-26.
// Nor is q off by as much as 3/2 u, which would be the next middle, but by half of u from its own
// rounding and x 2^-54 (1 + 2^-29) at most, which is less than u (1 - 2^-28) if x < y, and half of
// u otherwise. Where q is off by more than u, and r has one digit too many, no middle is near.
// (Markstein: IA-64 and Elementary Functions, 2000, chapter 8, for a z that is 1 / y rounded.)
#include "codegen/divider.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace frit::codegen {

using namespace llvm;

namespace {

constexpr unsigned vector_lanes = 8;  // of float64

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
  return lanes % vector_lanes == 0 ? lanes / vector_lanes : 0;
}

bool is_root(const Instruction& instruction) {
  const auto* call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::sqrt && doubles_of(instruction) != 0;
}

bool is_quotient(const Instruction& instruction) {
  return instruction.getOpcode() == Instruction::FDiv && doubles_of(instruction) != 0;
}

bool uses_divider(const Function& function) {
  // LLVM has no way to take the estimates of whole registers apart.
  constexpr std::uint64_t whole = 512;
  if (function.getFnAttributeAsParsedInteger("min-legal-vector-width") < whole) return false;
  return any_of(instructions(function), [](const Instruction& instruction) {
    return is_root(instruction) || is_quotient(instruction);
  });
}

// ---- which -------------------------------------------------------------------------------------

struct Division {
  Instruction* quotient;
  Instruction* before;  // the loop of a divisor that is the same in all of it; null for others
};

// Which of them are to leave the divider?
struct Spare {
  bool roots = false, quotients = false;
};

// What an iteration of a loop does. A loop within it is counted by itself.
struct Work {
  SmallVector<Instruction*, 4> roots;
  SmallVector<Division, 4> divisions;
  unsigned root_vectors = 0, quotient_vectors = 0;
  unsigned reciprocals = 0;  // vectors of divisors that aren't the same
  unsigned others = 0;       // instructions

  Work(const llvm::Loop& loop, const LoopInfo& loops, const DominatorTree& dominators) {
    const BasicBlock* last = loop.getLoopLatch();
    for (BasicBlock* block : loop.blocks()) {
      // Others are for the odd case, such as the end of a row.
      const bool is_always_run = !last || dominators.dominates(block, last);
      if (loops.getLoopFor(block) != &loop || !is_always_run) continue;
      for (Instruction& instruction : *block) count(instruction, loop);
    }
  }

  Spare best() const {
    Spare best;
    for (const Spare spare : {Spare{true, false}, Spare{false, true}, Spare{true, true}})
      if (cycles(spare) < cycles(best)) best = spare;
    return best;
  }

 private:
  // Beside the divider, two vector instructions run in a cycle.
  unsigned cycles(Spare spare) const {
    constexpr unsigned root = 22, quotient = 16;
    constexpr unsigned root_instructions = 18, quotient_instructions = 7, reciprocal = 11;
    unsigned divider = 0, instructions = others;
    if (spare.roots)
      instructions += root_instructions * root_vectors;
    else
      divider += root * root_vectors;
    if (spare.quotients)
      instructions += quotient_instructions * quotient_vectors + reciprocal * reciprocals;
    else
      divider += quotient * quotient_vectors;
    return std::max(divider, instructions / 2);
  }

  void count(Instruction& instruction, const llvm::Loop& loop) {
    const unsigned vectors = doubles_of(instruction);
    if (is_root(instruction)) {
      roots.push_back(&instruction);
      root_vectors += vectors;
    } else if (is_quotient(instruction)) {
      BasicBlock* before = loop.getLoopPreheader();
      const bool is_same = before && loop.isLoopInvariant(instruction.getOperand(1));
      divisions.push_back({&instruction, is_same ? before->getTerminator() : nullptr});
      quotient_vectors += vectors;
      if (!is_same) reciprocals += vectors;
    } else if (isa<StoreInst>(instruction)) {
      others += vectors_of(instruction.getOperand(0)->getType());
    } else {
      others += vectors_of(instruction.getType());
    }
  }
};

// ---- how ---------------------------------------------------------------------------------------

class Spared {
 public:
  explicit Spared(Instruction& hardware)
      : hardware_(hardware),
        builder_(&hardware),
        type_(cast<FixedVectorType>(hardware.getType())),
        integers_(VectorType::getInteger(type_)) {}

 protected:
  // The instruction is left to the vectors with a lane that has one of the marks.
  template <class Iterated>
  void replace(Value* bits, std::uint64_t marks, Iterated iterated) {
    Instruction *then = nullptr, *otherwise = nullptr;
    SplitBlockAndInsertIfThenElse(any_of(bits, marks), &hardware_, &then, &otherwise,
                                  MDBuilder(builder_.getContext()).createUnlikelyBranchWeights());
    PHINode* result = PHINode::Create(type_, 2, "", hardware_.getIterator());
    hardware_.replaceAllUsesWith(result);
    builder_.SetInsertPoint(otherwise);
    result->addIncoming(iterated(), otherwise->getParent());
    hardware_.moveBefore(then->getIterator());
    result->addIncoming(&hardware_, then->getParent());
  }

  // Has a `range_mark` where |x| isn't between 2^-256 and 2^256, so far from the ends of the range
  // that nothing computed here overflows or loses digits. The sign stays, if x has no such mark.
  Value* range_of(Value* x) {
    constexpr std::uint64_t unit = 1ULL << 52, bias = 1023, reach = 256;
    return builder_.CreateSub(bits_of(x), integer((bias - reach) * unit));
  }
  static constexpr std::uint64_t range_marks = 3ULL << 61, sign = 1ULL << 63;

  Value* bits_of(Value* x) { return builder_.CreateBitCast(x, integers_); }
  Constant* integer(std::uint64_t value) { return ConstantInt::get(integers_, value); }
  Constant* number(double value) { return ConstantFP::get(type_, value); }
  Value* fused(Value* x, Value* y, Value* z) {
    return builder_.CreateIntrinsic(Intrinsic::fma, {type_}, {x, y, z});
  }
  Value* negative(Value* x) { return builder_.CreateFNeg(x); }

  // 14 bits of an estimate; 0 where there is a mask, and it doesn't hold.
  Value* estimated(Intrinsic::ID estimate, Value* x, Value* mask) {
    SmallVector<Value*, 4> parts;
    for (unsigned first = 0; first < type_->getNumElements(); first += vector_lanes) {
      Value* of = part(x, first);
      Value* lanes = mask ? builder_.CreateBitCast(part(mask, first), builder_.getInt8Ty())
                          : builder_.getInt8(0xff);
      parts.push_back(builder_.CreateIntrinsic(estimate, {},
                                               {of, Constant::getNullValue(of->getType()), lanes}));
    }
    return concatenateVectors(builder_, parts);
  }

  Instruction& hardware_;
  IRBuilder<> builder_;
  FixedVectorType* type_;
  VectorType* integers_;

 private:
  // One test for all the vectors.
  Value* any_of(Value* bits, std::uint64_t marks) {
    Value* all = nullptr;
    for (unsigned first = 0; first < type_->getNumElements(); first += vector_lanes) {
      Value* some = part(bits, first);
      all = all ? builder_.CreateOr(all, some) : some;
    }
    Value* marked = builder_.CreateAnd(all, ConstantInt::get(all->getType(), marks));
    return builder_.CreateOrReduce(
        builder_.CreateICmpNE(marked, Constant::getNullValue(all->getType())));
  }

  Value* part(Value* vector, unsigned first) {
    return builder_.CreateShuffleVector(vector, createSequentialMask(first, vector_lanes, 0));
  }
};

class Root : Spared {
 public:
  explicit Root(Instruction& hardware) : Spared(hardware), x_(hardware.getOperand(0)) {}

  // The root of zero is zero, from an estimate of zero.
  void spare() {
    Value* nonzero = builder_.CreateICmpNE(bits_of(x_), integer(0));
    Value* range = builder_.CreateSelect(nonzero, range_of(x_), integer(0));
    replace(range, range_marks | sign, [&] { return iterated(nonzero); });
  }

 private:
  Value* iterated(Value* nonzero) {
    Value* half = number(0.5);
    Value* estimate = estimated(Intrinsic::x86_avx512_rsqrt14_pd_512, x_, nonzero);
    Value* g = builder_.CreateFMul(x_, estimate);
    Value* h = builder_.CreateFMul(estimate, half);
    for (int round = 0; round < 2; ++round) {
      Value* error = fused(negative(g), h, half);
      g = fused(g, error, g);
      h = fused(h, error, h);
    }
    return fused(fused(negative(g), g, x_), h, g);
  }

  Value* x_;
};

class Quotient : Spared {
 public:
  explicit Quotient(Instruction& hardware)
      : Spared(hardware), x_(hardware.getOperand(0)), y_(hardware.getOperand(1)) {}

  void spare(Instruction* before) {
    Value *divisor = nullptr, *known = nullptr;
    if (before) {
      builder_.SetInsertPoint(before);
      divisor = divisor_range();
      Value* marks = builder_.CreateAnd(divisor, integer(range_marks));
      Value* fits = builder_.CreateICmpEQ(marks, integer(0));
      known = reciprocal(builder_.CreateSelect(fits, y_, number(1)));
      builder_.SetInsertPoint(&hardware_);
    } else {
      divisor = divisor_range();
    }
    Value* nonzero = builder_.CreateFCmpUNE(x_, number(0));
    Value* dividend = builder_.CreateSelect(nonzero, range_of(x_), integer(0));
    replace(builder_.CreateOr(dividend, divisor), range_marks,
            [&] { return iterated(known ? known : reciprocal(y_), nonzero); });
  }

 private:
  // Marked where the digits begin with 26 ones, too.
  Value* divisor_range() {
    constexpr std::uint64_t without_digits = 0xfffULL << 52, digits = 1ULL << 26;
    Value* carried = builder_.CreateAdd(builder_.CreateOr(bits_of(y_), integer(without_digits)),
                                        integer(digits));
    return builder_.CreateOr(range_of(y_), builder_.CreateNot(carried));
  }

  Value* reciprocal(Value* y) {
    Value* one = number(1);
    Value* z = estimated(Intrinsic::x86_avx512_rcp14_pd_512, y, nullptr);
    Value* error = fused(negative(y), z, one);
    z = fused(z, fused(error, error, error), z);
    return fused(z, fused(negative(y), z, one), z);
  }

  // Zero has no remainder, and keeps its sign.
  Value* iterated(Value* z, Value* nonzero) {
    Value* q = builder_.CreateFMul(x_, z);
    Value* remainder = fused(negative(y_), q, x_);
    return builder_.CreateSelect(nonzero, fused(remainder, z, q), q);
  }

  Value *x_, *y_;
};

}  // namespace

void spare_divider(Module& module, const Machine& machine) {
  if (!machine.has_slow_divider) return;
  SmallVector<Instruction*, 8> roots;
  SmallVector<Division, 8> divisions;
  for (Function& function : module) {
    if (!uses_divider(function)) continue;
    const DominatorTree dominators(function);
    const LoopInfo loops(dominators);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const Work work(*loop, loops, dominators);
      const Spare spare = work.best();
      if (spare.roots) roots.append(work.roots);
      if (spare.quotients) divisions.append(work.divisions);
    }
  }
  for (Instruction* root : roots) Root(*root).spare();
  for (const Division& division : divisions) Quotient(*division.quotient).spare(division.before);
}

}  // namespace frit::codegen
