// search.h: places in sorted vectors, and values between those of a table.
#pragma once

#include <optional>

#include "frit/array.h"

namespace frit {

// NumPy's searchsorted of real numbers: where each of `values` belongs in the vector. Evaluates
// both. None where NumPy should do it: `sorted` is not, or has many more elements than `values`.
std::optional<Array> places_in(const Array& sorted, const Array& values, bool is_right);

// NumPy's interp of float64: for each x the value of the piecewise linear function through
// (xp[k], fp[k]); `left` below xp[0] (none: fp[0]), `right` above the last. None as above.
std::optional<Array> interpolated(const Array& x, const Array& xp, const Array& fp,
                                  std::optional<double> left, std::optional<double> right);

// How many elements of a vector in increasing order are at most each of `count` values; a NaN
// counts as greater than all. Float64 and float32.
template <class T>
void count_up_to(const T* sorted, std::int64_t size, const T* values, std::int64_t count,
                 std::int64_t* places);

}  // namespace frit
