// moments.h: the steps of means and variances, in the types in which NumPy takes them.
#pragma once

#include "frit/array.h"

namespace frit {

// sum / count, through the type that NumPy's loop has for (sum, int64), and on to `result`.
Array divided_sum(const Array& sum, double count, DType result);
// |x|^2, of complex numbers as NumPy: their parts' squares.
Array squared(const Array& x);

}  // namespace frit
