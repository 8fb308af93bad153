// distinct.h: which values an array has, and whether its elements are among others, by tables.
#pragma once

#include <optional>

#include "frit/array.h"

namespace frit {

// What is asked for besides the values.
struct DistinctParts {
  bool index = false, inverse = false, counts = false;
};
struct Distinct {
  Array values, index, inverse, counts;  // vectors; empty: not asked for
};
// The values of dense integers that are there, in increasing order: where each is first, which one
// each element has, how many have it. None where they lie too far apart for a table.
std::optional<Distinct> distinct_in_table(const Array& dense, const DistinctParts& parts);

// Whether each element equals one of `wanted` (or, inverted, none): bool, in C order. Both are
// evaluated; of one type, float64, float32 or an integer type.
Array are_among(const Array& elements, const Array& wanted, bool is_inverted);

}  // namespace frit
