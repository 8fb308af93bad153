// extremes.cpp: maximum and minimum of floats by two instructions.
//
// `is_nan(x) ? x : (x > y ? x : y)` is a test for NaN and x86's maximum, under the mask of that
// test where there are masks. LLVM makes one choice of the two, `is_nan(x) | x > y ? x : y`, in
// which its code generator sees no maximum: two comparisons, an `or`, a blend.
#include "codegen/extremes.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

namespace frit::codegen {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// x > y or x < y?
bool is_order(const Value* condition, const Value* x, const Value* y) {
  CmpPredicate predicate;
  return match(condition, m_FCmp(predicate, m_Specific(x), m_Specific(y))) &&
         (predicate == FCmpInst::FCMP_OGT || predicate == FCmpInst::FCMP_OLT);
}

// Undoes `first | second ? x : y` for `first ? x : (second ? x : y)`, or, where the first asks for
// NaN, `is a number ? (second ? x : y) : x`: only what is computed under a mask costs no blend, not
// what was there before.
void split(SelectInst& choice) {
  Value *first = nullptr, *second = nullptr;
  Value *x = choice.getTrueValue(), *y = choice.getFalseValue();
  if (!x->getType()->isFPOrFPVectorTy() ||
      !match(&choice, m_Select(m_Or(m_Value(first), m_Value(second)), m_Value(), m_Value())))
    return;
  if (!is_order(second, x, y)) std::swap(first, second);
  if (!is_order(second, x, y)) return;
  IRBuilder<> builder(&choice);
  Value* const extreme = builder.CreateSelect(second, x, y);
  const auto* const test = dyn_cast<FCmpInst>(first);
  if (test && test->getPredicate() == FCmpInst::FCMP_UNO) {
    choice.setCondition(builder.CreateFCmpORD(test->getOperand(0), test->getOperand(1)));
    choice.setTrueValue(extreme);
    choice.setFalseValue(x);
  } else {
    choice.setCondition(first);
    choice.setFalseValue(extreme);
  }
}

}  // namespace

void use_extremes(Module& module) {
  for (Function& function : module)
    for (BasicBlock& block : function)
      for (Instruction& instruction : block)
        if (auto* choice = dyn_cast<SelectInst>(&instruction)) split(*choice);
}

}  // namespace frit::codegen
