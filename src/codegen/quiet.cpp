// quiet.cpp: floats are compared by x86's quiet predicates.
//
// NumPy says nothing where <, <=, > or >= meets a NaN. LLVM takes the predicates that raise invalid
// then: the engine would look for an operation that was invalid in each launch that compares a NaN,
// and where operands are overwritten could name a wrong one. With AVX the quiet predicates cost
// nothing; SSE has none. Where a single number's comparison chooses between floats it would become
// a branch; where it alone decides a branch it is quiet as it is.
#include "codegen/quiet.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

namespace frit::codegen {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Does the comparison choose the extreme so far? That is one instruction, which raises invalid for
// a NaN too, but each waits for the one before it: two more would take time.
bool is_for_running_extreme(const FCmpInst& comparison) {
  const Value *x = comparison.getOperand(0), *y = comparison.getOperand(1);
  if (!isa<PHINode>(x) && !isa<PHINode>(y)) return false;
  return any_of(comparison.users(), [&](const User* user) {
    const auto* choice = dyn_cast<SelectInst>(user);
    if (!choice) return false;
    const Value *one = choice->getTrueValue(), *other = choice->getFalseValue();
    return (one == x && other == y) || (one == y && other == x);
  });
}

// Of a number that all lanes share, and x where it is one (extremes.cpp)? Under AVX-512's mask that
// is one instruction, and the lanes with NaNs are not looked at.
bool is_for_masked_extreme(const FCmpInst& comparison) {
  const Value *x = comparison.getOperand(0), *y = comparison.getOperand(1);
  if (!getSplatValue(y)) return false;
  return any_of(comparison.users(), [&](const User* user) {
    const auto is_number = m_SpecificFCmp(FCmpInst::FCMP_ORD, m_Specific(x), m_Value());
    return match(user, m_Select(m_Specific(&comparison), m_Specific(x), m_Specific(y))) &&
           user->hasOneUse() &&
           match(user->user_back(), m_Select(is_number, m_Specific(user), m_Specific(x)));
  });
}

bool raises_for_nans(const FCmpInst& comparison) {
  switch (comparison.getPredicate()) {
    case FCmpInst::FCMP_OLT:
    case FCmpInst::FCMP_OLE:
    case FCmpInst::FCMP_OGT:
    case FCmpInst::FCMP_OGE:
    case FCmpInst::FCMP_ULT:
    case FCmpInst::FCMP_ULE:
    case FCmpInst::FCMP_UGT:
    case FCmpInst::FCMP_UGE:
      return true;
    default:
      return false;
  }
}

// Of whole registers; others would be taken apart.
bool fills_registers(const Type& type) {
  constexpr unsigned bits_of_smallest = 128;
  const auto* vector = dyn_cast<FixedVectorType>(&type);
  return vector &&
         (vector->getElementType()->isFloatTy() || vector->getElementType()->isDoubleTy()) &&
         vector->getPrimitiveSizeInBits() % bits_of_smallest == 0;
}

// One of single numbers whose truth is computed with.
bool is_combined(const FCmpInst& comparison) {
  const Type& type = *comparison.getOperand(0)->getType();
  return (type.isFloatTy() || type.isDoubleTy()) &&
         none_of(comparison.users(),
                 [](const User* user) {
                   return isa<SelectInst>(user) && user->getType()->isFloatingPointTy();
                 }) &&
         any_of(comparison.users(), [](const User* user) { return !isa<BranchInst>(user); });
}

}  // namespace

void quiet_comparisons(Module& module, const Machine& machine) {
  if (!machine.has_quiet_predicates) return;
  for (Function& function : module)
    for (BasicBlock& block : function)
      for (Instruction& instruction : make_early_inc_range(block)) {
        auto* comparison = dyn_cast<FCmpInst>(&instruction);
        if (!comparison || !raises_for_nans(*comparison) ||
            (!fills_registers(*comparison->getOperand(0)->getType()) &&
             !is_combined(*comparison)) ||
            is_for_running_extreme(*comparison) ||
            (machine.has_avx512 && is_for_masked_extreme(*comparison)))
          continue;
        IRBuilder<> builder(comparison);
        // As far as LLVM knows nobody looks at flags: it may move the comparison.
        comparison->replaceAllUsesWith(builder.CreateConstrainedFPCmp(
            Intrinsic::experimental_constrained_fcmp, comparison->getPredicate(),
            comparison->getOperand(0), comparison->getOperand(1), "", fp::ebIgnore));
        comparison->eraseFromParent();
      }
}

}  // namespace frit::codegen
