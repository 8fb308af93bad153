// moments.cpp: means and variances, step by step and in the types in which NumPy computes them.
#include "front/moments.h"

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

}  // namespace

Array divided_sum(const Array& sum, double count, DType result) {
  const DType dtype = sum.dtype();
  // Where float32 has the count, its quotient is that of float64, rounded.
  const bool has_count = static_cast<double>(static_cast<float>(count)) == count;
  const bool is_exact =
      dtype == DType::Float64 || (dtype == DType::Float32 && result == dtype && has_count);
  const DType wide = is_exact ? dtype : is_complex(dtype) ? DType::Complex128 : DType::Float64;
  const Scalar divisor = wide == DType::Float32 ? Scalar::of(wide, static_cast<float>(count))
                                                : Scalar::of(wide, count);  // + 0i
  const Array quotient = apply(Op::TrueDivide, {sum, Argument(divisor)},
                               {.signature = Signature{{wide, wide, wide}, wide}});
  return wide == result ? quotient : astype(quotient, result);
}

Array squared(const Array& x) {
  if (!is_complex(x.dtype())) return apply(Op::Square, {x});
  const DType part = real_of(x.dtype());
  const auto square_of = [&](int offset) {
    return apply(Op::Square, {window(x, x.shape(), x.strides(), x.offset() + offset, part)});
  };
  return apply(Op::Add, {square_of(0), square_of(size_of(part))});
}

Array mean_over(const Array& x, ReduceOptions over) {
  check_array(x);
  const bool is_half = x.dtype() == DType::Float16;
  over.dtype = is_half ? DType::Float32 : summing_type(x.dtype());
  const Array sum = reduce(Op::Add, x, over);
  const double count = count_over(x, over);
  if (!is_half) return divided_sum(sum, count, sum.dtype());
  // NumPy rounds a mean of all elements once, others to float32 first.
  if (sum.ndim() == 0) return divided_sum(sum, count, x.dtype());
  return astype(divided_sum(sum, count, sum.dtype()), x.dtype());
}

Array variance_over(const Array& x, ReduceOptions over, double ddof) {
  check_array(x);
  over.dtype = summing_type(x.dtype());
  ReduceOptions kept = over;
  kept.keepdims = true;
  const Array sum = reduce(Op::Add, x, kept);
  const double count = count_over(x, over);
  const Array distance = x - divided_sum(sum, count, sum.dtype());
  const Array squares = reduce(Op::Add, squared(distance), over);
  return divided_sum(squares, std::max(count - ddof, 0.0), squares.dtype());
}

}  // namespace frit
