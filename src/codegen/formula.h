// formula.h: reads the op table's formulas and widens scalar straight-line code to vectors.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace frit::codegen {

using Builder = llvm::IRBuilder<>;

// One argument of a formula: a scalar that is the same in all lanes, or a vector with one element a
// lane.
struct FormulaArgument {
  llvm::Value* scalar = nullptr;
  llvm::Value* vector = nullptr;  // may stand beside `scalar`: its splat, made where it is cheapest
};

class Formulas {
 public:
  struct Target {
    bool has_avx512 = false;  // look-ups in tables are permutations
    bool has_fused_multiply_add = true;
  };
  Formulas(llvm::LLVMContext& context, Target target);

  // nullptr where the table has no such formula, or the op's formula asks for fma and the target
  // hasn't got it.
  llvm::Function* find(const std::string& symbol);

  // The formula's result for these arguments, emitted at `builder`. A vector of `lanes` elements if
  // any argument varies (has no scalar), else a scalar. Parts that depend on scalars only stay
  // scalar.
  llvm::Value* widen(llvm::Function& formula, std::span<const FormulaArgument> arguments,
                     unsigned lanes, Builder& builder);

 private:
  llvm::Function* materialized(const std::string& symbol);
  bool asks_for_fused(const std::string& family);

  std::unique_ptr<llvm::Module> module_;
  Target target_;
  std::map<std::string, bool> families_;  // of an op and a type: whether one of it asks for fma
};

// Instructions of a formula, as an estimate of its cost.
unsigned length_of(const llvm::Function& formula);
// Whether finite operands can make it raise "invalid" or "divide by zero": it divides, takes roots
// or converts.
bool may_trap(const llvm::Function& formula);

}  // namespace frit::codegen
