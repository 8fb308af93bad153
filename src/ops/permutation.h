// permutation.h: a look-up in a constant table, by AVX-512: a permutation of registers, no memory.
//
// For what writes LLVM IR: the code generator, and permute_tables.cpp for the ready-made loops.
#pragma once

#include <cstdint>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

namespace frit {

// How many elements fill a register; 0 of a type that is in no table.
inline unsigned permuted_at_once(const llvm::Type& element) {
  if (element.isDoubleTy() || element.isIntegerTy(64)) return 8;
  return element.isFloatTy() || element.isIntegerTy(32) ? 16 : 0;
}

// Can `lanes` elements of this table, an array or a vector, be found by permutations? It fills two
// registers, or one.
inline bool is_permutable(const llvm::Constant& table, unsigned lanes) {
  unsigned count = 0;
  while (count <= 32 && table.getAggregateElement(count)) ++count;
  if (count == 0 || lanes % 8 != 0) return false;
  const unsigned width = permuted_at_once(*table.getAggregateElement(0U)->getType());
  return width != 0 && (count == 2 * width || (count == width && width == 16));
}

// The elements of `table` at `places`, whose bits above those of a place in the table are not
// looked at.
inline llvm::Value* permuted(llvm::IRBuilderBase& builder, const llvm::Constant& table,
                             llvm::Value* places) {
  using namespace llvm::PatternMatch;
  llvm::Type* element = table.getAggregateElement(0U)->getType();
  const unsigned width = permuted_at_once(*element);
  const bool is_one_register = !table.getAggregateElement(width);
  const std::uint64_t last = (is_one_register ? 1 : 2) * width - 1;
  llvm::Value* all = nullptr;
  if (match(places, m_ZExtOrSelf(m_And(m_Value(all), m_SpecificInt(last))))) places = all;
  const auto* type = llvm::cast<llvm::FixedVectorType>(places->getType());
  const unsigned lanes = type->getNumElements();
  places = builder.CreateZExtOrTrunc(
      places, llvm::FixedVectorType::get(builder.getIntNTy(512 / width), lanes));
  const auto part = [&](unsigned from) {
    llvm::SmallVector<llvm::Constant*, 16> elements;
    for (unsigned k = 0; k < width; ++k) elements.push_back(table.getAggregateElement(from + k));
    return llvm::ConstantVector::get(elements);
  };
  const auto permute = [&](llvm::Value* some) -> llvm::Value* {
    using namespace llvm::Intrinsic;
    const bool is_float = element->isFloatingPointTy();
    if (is_one_register)
      return builder.CreateIntrinsic(
          is_float ? x86_avx512_permvar_sf_512 : x86_avx512_permvar_si_512, {}, {part(0), some});
    const ID two = width == 8
                       ? (is_float ? x86_avx512_vpermi2var_pd_512 : x86_avx512_vpermi2var_q_512)
                       : (is_float ? x86_avx512_vpermi2var_ps_512 : x86_avx512_vpermi2var_d_512);
    return builder.CreateIntrinsic(two, {}, {part(0), some, part(width)});
  };
  // Of fewer lanes than a register has the others are anything.
  const auto lanes_from = [&](llvm::Value* of, unsigned from, unsigned count) {
    llvm::SmallVector<int, 16> which;
    const unsigned given = llvm::cast<llvm::FixedVectorType>(of->getType())->getNumElements();
    for (unsigned k = from; k < from + count; ++k)
      which.push_back(k < given ? static_cast<int>(k) : -1);
    return given == count ? of : builder.CreateShuffleVector(of, which);
  };
  llvm::SmallVector<llvm::Value*, 8> pieces;
  for (unsigned from = 0; from < lanes; from += width)
    pieces.push_back(permute(lanes_from(places, from, width)));
  return lanes_from(llvm::concatenateVectors(builder, pieces), 0, lanes);
}

}  // namespace frit
