// order.h: what sorting would put at given places; and sorting by all threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frit/array.h"

namespace frit {

// Sorts n elements of a type where they lie, NaNs behind all others; below 0: it failed. May run in
// any thread.
using SortElements = int (*)(void* elements, std::intptr_t n, void* unused);

// The elements at these places, in increasing order, of each sorted row.
struct Ranked {
  Array values;                           // (rows, ranks), in the rows' type
  bool has_nan = false;                   // some row has
  std::unique_ptr<bool[]> rows_with_nan;  // where it is so
};
// Of dense rows, there already, of float64, float32, int64 or int32. None where the sign of a zero
// would depend on how they are sorted, or sorting failed.
std::optional<Ranked> ranked(const Array& rows, std::span<const std::int64_t> ranks,
                             SortElements sort);

// Whether elements of this type are sorted by all threads.
bool can_sort_together(DType dtype);
// Sorts the n elements of such a type. False: it failed, or the order of zeros of both signs
// depends on how they are sorted; the elements are then as they may be.
bool sort_together(void* elements, std::int64_t n, DType dtype, SortElements sort);

}  // namespace frit
