// pairwise.h: NumPy's pairwise sum as emitted code: which leaf comes next, and what is added then.
#pragma once

#include <functional>

#include "codegen/formula.h"

namespace frit::codegen {

inline constexpr unsigned deepest_tree = 64;  // halvings of a 64-bit count
inline constexpr unsigned rounds_in_tree_leaf = 16;

// What there is to sum stands in the emitter's memory: the sum so far, and left halves by depth.
struct PairwiseSteps {
  std::function<void(llvm::Value* from, llvm::Value* to)> leaf;  // the sum = that of [from, to)
  std::function<void(llvm::Value* depth)> keep;  // the left half at this depth = the sum
  std::function<void(llvm::Value* depth)> join;  // the sum = the left half at this depth + the sum
};

// pairwise(n) = n is a leaf ? leaf(n) : pairwise(half) + pairwise(n - half), by a stack of what is
// still to do: `to_do`, memory of deepest_tree int64. A leaf has that many rounds of `accumulators`
// elements at most.
void emit_pairwise(Builder& builder, unsigned accumulators, llvm::Value* to_do, llvm::Value* begin,
                   llvm::Value* end, const PairwiseSteps& steps);

}  // namespace frit::codegen
