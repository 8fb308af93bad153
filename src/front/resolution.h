// resolution.h: which types an op works in for its operands, and which loop does it.
#pragma once

#include "front/common.h"

namespace frit {

// What the op table says of an op on operands of these types.
struct Resolution {
  std::uint32_t key = ~0u;  // of the operands; ~0: none
  Signature signature{};
  Loop loop = nullptr;
  bool warns = false;
  // Compares int64 with uint64, for which there is no loop.
  bool is_mixed = false;
  // Compares integers with a number that their type may not have.
  bool may_widen = false;
};
// For given types. (TypeError)
Resolution resolution_of(Op op, const Signature& signature);
// For operands: by the op's rule. (TypeError)
Resolution resolve_anew(Op op, std::span<const Argument> arguments);

// Whether the type has the number; those that are no integers have all.
bool int_fits(std::int64_t value, DType dtype);

// A weak integer that the type beside it doesn't have. It is compared as what it is, as int64.
// (NumPy 2.4 does so, too, but reads through a null pointer where there is a mask.)
bool is_beyond(const Argument& number, DType dtype);

void check_count(Op op, std::size_t operands);

}  // namespace frit
