// order.h: what sorting would put at given places.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frit/array.h"

namespace frit {

// f(an element of one of the types that are looked at here).
template <class F>
decltype(auto) with_ordered_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float64:
      return f(double{});
    case DType::Float32:
      return f(float{});
    case DType::Int64:
      return f(std::int64_t{});
    default:
      check(dtype == DType::Int32, "an element type whose order is looked at");
      return f(std::int32_t{});
  }
}

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

// Whether a sorted, dense vector of such a type, there already, has zeros of both signs: in which
// order they come depends on how it was sorted.
bool has_both_zeros(const Array& sorted);

}  // namespace frit
