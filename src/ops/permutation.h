// permutation.h: a look-up in a constant table, by AVX-512: a permutation of registers, no memory.
//
// For what writes LLVM IR: the code generator, and permute_tables.cpp for the ready-made loops.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

namespace frit {

// Can `lanes` elements of this table, an array or a vector, be found by permutations?
inline bool is_permutable(const llvm::Constant& table, unsigned lanes) {
  if (lanes % 8 != 0 || !table.getAggregateElement(15U) || table.getAggregateElement(16U))
    return false;
  const llvm::Type* element = table.getAggregateElement(0U)->getType();
  return element->isDoubleTy() || element->isIntegerTy(64);
}

// The elements of `table` at `places`, whose bits above those of a place in the table are not
// looked at.
inline llvm::Value* permuted(llvm::IRBuilderBase& builder, const llvm::Constant& table,
                             llvm::Value* places) {
  llvm::Value* all = nullptr;
  if (llvm::PatternMatch::match(places,
                                llvm::PatternMatch::m_And(llvm::PatternMatch::m_Value(all),
                                                          llvm::PatternMatch::m_SpecificInt(15))))
    places = all;
  const auto half = [&](unsigned from) {
    llvm::SmallVector<llvm::Constant*, 8> elements;
    for (unsigned k = 0; k < 8; ++k) elements.push_back(table.getAggregateElement(from + k));
    return llvm::ConstantVector::get(elements);
  };
  const llvm::Intrinsic::ID permute = half(0)->getType()->getScalarType()->isDoubleTy()
                                          ? llvm::Intrinsic::x86_avx512_vpermi2var_pd_512
                                          : llvm::Intrinsic::x86_avx512_vpermi2var_q_512;
  const unsigned lanes =
      llvm::cast<llvm::FixedVectorType>(places->getType())->getElementCount().getFixedValue();
  llvm::SmallVector<llvm::Value*, 8> pieces;
  for (unsigned from = 0; from < lanes; from += 8) {
    llvm::SmallVector<int, 8> part;
    for (unsigned k = 0; k < 8; ++k) part.push_back(static_cast<int>(from + k));
    llvm::Value* eight = lanes == 8 ? places : builder.CreateShuffleVector(places, part);
    pieces.push_back(builder.CreateIntrinsic(permute, {}, {half(0), eight, half(8)}));
  }
  return llvm::concatenateVectors(builder, pieces);
}

}  // namespace frit
