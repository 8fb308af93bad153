// moments.cpp: means and variances, step by step and in the types in which NumPy computes them.
#include <algorithm>

#include "frit/frit.h"
#include "front/common.h"

namespace frit {
namespace {

double count_over(const Array& x, const ReduceOptions& over) {
  std::int64_t count = over.all_axes ? x.size() : 1;
  for (int axis : over.axes) count *= x.shape()[static_cast<std::size_t>(axis_of(axis, x.ndim()))];
  return static_cast<double>(count);
}

// The type in which NumPy adds up for a mean or variance, where it isn't the elements' own.
std::optional<DType> summing_type(DType dtype) {
  if (is_inexact(dtype)) return {};
  return DType::Float64;
}

// In float64, as NumPy divides by its count, which is an integer.
Array quotient(const Array& sum, double count) {
  return apply(Op::TrueDivide, {sum, Scalar::of(DType::Float64, count)});
}
Array divided(const Array& sum, double count) {
  const Array wide = quotient(sum, count);
  return wide.dtype() == sum.dtype() ? wide : astype(wide, sum.dtype());
}

// |x|^2, of complex numbers as NumPy: their parts' squares.
Array squared(const Array& x) {
  if (!is_complex(x.dtype())) return apply(Op::Square, {x});
  const DType part = real_of(x.dtype());
  const auto square_of = [&](int offset) {
    return apply(Op::Square, {window(x, x.shape(), x.strides(), x.offset() + offset, part)});
  };
  return apply(Op::Add, {square_of(0), square_of(size_of(part))});
}

}  // namespace

Array mean_over(const Array& x, ReduceOptions over) {
  check_array(x);
  const bool is_half = x.dtype() == DType::Float16;
  over.dtype = is_half ? DType::Float32 : summing_type(x.dtype());
  const Array sum = reduce(Op::Add, x, over);
  const double count = count_over(x, over);
  if (!is_half) return divided(sum, count);
  // NumPy rounds a mean of all elements once, others to float32 first.
  return astype(sum.ndim() == 0 ? quotient(sum, count) : divided(sum, count), x.dtype());
}

Array variance_over(const Array& x, ReduceOptions over, double ddof) {
  check_array(x);
  over.dtype = summing_type(x.dtype());
  ReduceOptions kept = over;
  kept.keepdims = true;
  const Array sum = reduce(Op::Add, x, kept);
  const double count = count_over(x, over);
  const Array distance = x - divided(sum, count);
  return divided(reduce(Op::Add, squared(distance), over), std::max(count - ddof, 0.0));
}

}  // namespace frit
