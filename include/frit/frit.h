// frit.h: the C++ door: lazy fused arrays with operators, and kernels of your own.
//
//   frit::Array x = frit::arange(0.0, 1e-6, 1'000'000);
//   frit::Array y = frit::sqrt(x * 2.0 + 1.0);   // recorded
//   double total = frit::value<double>(frit::sum(y));  // one kernel runs
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <ostream>
#include <ranges>

#include "frit/array.h"
#include "frit/kernel_builder.h"

namespace frit {

// ---- making arrays ------------------------------------------------------------------------------

using Extents = std::initializer_list<std::int64_t>;  // {rows, columns}; a vector or span as well

inline std::span<const std::int64_t> span_of(Extents extents) {
  return {extents.begin(), extents.size()};
}
inline Array zeros(std::span<const std::int64_t> shape, DType dtype = DType::Float64) {
  return full(shape, Scalar{.dtype = dtype});
}
inline Array zeros(Extents shape, DType dtype = DType::Float64) {
  return zeros(span_of(shape), dtype);
}
inline Array full(std::span<const std::int64_t> shape, double value) {
  return full(shape, Scalar::of(DType::Float64, value));
}
inline Array full(Extents shape, double value) { return full(span_of(shape), value); }
inline Array ones(std::span<const std::int64_t> shape) { return full(shape, 1.0); }
inline Array ones(Extents shape) { return full(shape, 1.0); }
// n values start, start + step, ..
inline Array arange(double start, double step, std::int64_t n) {
  return arange(Scalar::of(DType::Float64, start), Scalar::of(DType::Float64, step), n);
}
template <std::floating_point N>
Array arange(double start, double step, N) = delete;  // the last is a number of values, not a step
// n values from `first` to `last`, both among them.
inline Array linspace(double first, double last, std::int64_t n) {
  if (n < 0) throw ValueError(text("Number of samples, ", n, ", must be non-negative."));
  if (n < 2) return full({n}, first);
  return linspace(first, (last - first) / static_cast<double>(n - 1), last, n);
}
// A copy of contiguous values: of a vector, span, array or {list}.
template <class T>
Array from_values(std::span<const T> values, Extents shape);
template <std::ranges::contiguous_range Range>
requires std::ranges::sized_range<Range> Array from_values(const Range& values, Extents shape) {
  using Value = std::ranges::range_value_t<Range>;
  return from_values(std::span<const Value>(std::ranges::data(values), std::ranges::size(values)),
                     shape);
}
template <class T>
Array from_values(std::initializer_list<T> values, Extents shape) {
  return from_values(std::span<const T>(values.begin(), values.size()), shape);
}
inline Array from_values(const std::vector<bool>& values, Extents shape);  // which are bits

// ---- windows ------------------------------------------------------------------------------------

// start : stop : step of one axis, as NumPy's slice: negative positions count from the end, and
// what lies outside is cut.
struct Interval {
  std::int64_t start = 0;
  std::optional<std::int64_t> stop = {};  // none: to the end
  std::int64_t step = 1;                  // above 0
};
// A window; axes without an interval are whole.
inline Array slice(const Array& x, std::initializer_list<Interval> intervals) {
  if (!x.base()) return slice(x, std::span<const AxisSlice>());  // refused there
  if (intervals.size() > x.shape().size())
    throw IndexError(text("slice: ", intervals.size(), " intervals for ", x.ndim(), " dimensions"));
  std::vector<AxisSlice> axes;
  for (const Interval& interval : intervals) {
    if (interval.step < 1) throw ValueError(text("slice: a step of ", interval.step));
    const std::int64_t extent = x.shape()[axes.size()];
    const auto position = [&](std::int64_t p) {
      return std::clamp<std::int64_t>(p < 0 ? p + extent : p, 0, extent);
    };
    const std::int64_t start = position(interval.start),
                       stop = position(interval.stop.value_or(extent));
    axes.push_back({.start = start,
                    .step = interval.step,
                    .count = stop > start ? (stop - start - 1) / interval.step + 1 : 0});
  }
  return slice(x, std::span<const AxisSlice>(axes));
}
inline Array slice(Array&& x, std::initializer_list<Interval> intervals) {
  const Array whole = std::move(x);  // let go at the end
  return slice(whole, intervals);
}

// The axes in this order, or in reverse.
inline Array transpose(const Array& x, std::initializer_list<int> axes) {
  return transpose(x, std::span<const int>(axes.begin(), axes.size()));
}
inline Array transpose(const Array& x) {
  std::vector<int> axes(static_cast<std::size_t>(x.ndim()));
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = x.ndim() - 1 - static_cast<int>(k);
  return transpose(x, std::span<const int>(axes));
}
inline Array broadcast_to(const Array& x, Extents shape) { return broadcast_to(x, span_of(shape)); }
// A window where the strides allow it, else a copy.
inline Array reshape(const Array& x, std::span<const std::int64_t> shape) {
  if (std::optional<Array> same = reshape_window(x, shape)) return std::move(*same);
  return *reshape_window(copy(x, 'C'), shape);
}
inline Array reshape(const Array& x, Extents shape) { return reshape(x, span_of(shape)); }

// ---- joining -----------------------------------------------------------------------------------

inline Array concatenate(std::initializer_list<Array> parts, int axis = 0) {
  return concatenate(std::span(parts.begin(), parts.size()), axis);
}
inline Array stack(std::initializer_list<Array> parts, int axis = 0) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}

// ---- products along named axes ------------------------------------------------------------------

// einsum("ij,jk->ik", {a, b}).
inline Array einsum(std::string_view subscripts, std::initializer_list<Array> operands) {
  return einsum(subscripts, std::span<const Array>(operands.begin(), operands.size()));
}

// ---- operators ----------------------------------------------------------------------------------

// An operand that nobody names is let go once it is recorded: the result alone needs it then, and
// it gets no memory of its own if it is computed with that.
template <class T>
concept AnArray = std::is_same_v<std::remove_cvref_t<T>, Array>;
template <class T>
concept ANumber = std::is_arithmetic_v<std::remove_cvref_t<T>> || AComplex<std::remove_cvref_t<T>>;
template <class T>
concept AnOperand = AnArray<T> || ANumber<T>;
inline Array taken(Array&& x) { return std::move(x); }
template <AnOperand... Operands>
Array apply_and_let_go(Op op, Operands&&... operands) {
  Array result = apply(op, {Argument(operands)...});
  const auto let_go = []<class T>(T&& x) {
    if constexpr (std::is_same_v<T, Array>) taken(std::move(x));
  };
  (let_go(std::forward<Operands>(operands)), ...);
  return result;
}

#define FRIT_BINARY_OPERATOR(symbol, op)                                     \
  template <AnOperand X, AnOperand Y>                                        \
  requires(AnArray<X> || AnArray<Y>) Array operator symbol(X&& x, Y&& y) {   \
    return apply_and_let_go(Op::op, std::forward<X>(x), std::forward<Y>(y)); \
  }
FRIT_BINARY_OPERATOR(+, Add)
FRIT_BINARY_OPERATOR(-, Subtract)
FRIT_BINARY_OPERATOR(*, Multiply)
FRIT_BINARY_OPERATOR(/, TrueDivide)  // of integers: float64
FRIT_BINARY_OPERATOR(%, Remainder)   // Python's: it has the divisor's sign
FRIT_BINARY_OPERATOR(<, Less)
FRIT_BINARY_OPERATOR(<=, LessEqual)
FRIT_BINARY_OPERATOR(>, Greater)
FRIT_BINARY_OPERATOR(>=, GreaterEqual)
FRIT_BINARY_OPERATOR(==, Equal)
FRIT_BINARY_OPERATOR(!=, NotEqual)
FRIT_BINARY_OPERATOR(&&, LogicalAnd)  // both sides are recorded
FRIT_BINARY_OPERATOR(||, LogicalOr)
FRIT_BINARY_OPERATOR(&, BitwiseAnd)
FRIT_BINARY_OPERATOR(|, BitwiseOr)
FRIT_BINARY_OPERATOR(^, BitwiseXor)
#undef FRIT_BINARY_OPERATOR

#define FRIT_ASSIGNMENT_OPERATOR(symbol, op)                               \
  inline const Array& operator symbol(const Array& x, const Argument& y) { \
    apply(Op::op, {x, y}, {.out = &x});                                    \
    return x;                                                              \
  }
FRIT_ASSIGNMENT_OPERATOR(+=, Add)
FRIT_ASSIGNMENT_OPERATOR(-=, Subtract)
FRIT_ASSIGNMENT_OPERATOR(*=, Multiply)
FRIT_ASSIGNMENT_OPERATOR(/=, TrueDivide)
FRIT_ASSIGNMENT_OPERATOR(%=, Remainder)
FRIT_ASSIGNMENT_OPERATOR(&=, BitwiseAnd)
FRIT_ASSIGNMENT_OPERATOR(|=, BitwiseOr)
FRIT_ASSIGNMENT_OPERATOR(^=, BitwiseXor)
#undef FRIT_ASSIGNMENT_OPERATOR

inline Array operator!(Array&& x) { return apply_and_let_go(Op::LogicalNot, std::move(x)); }

#define FRIT_UNARY_FUNCTION(name, op)                                       \
  inline Array name(const Array& x) { return apply_and_let_go(Op::op, x); } \
  inline Array name(Array&& x) { return apply_and_let_go(Op::op, std::move(x)); }
FRIT_UNARY_FUNCTION(operator+, Positive)
FRIT_UNARY_FUNCTION(operator-, Negative)
FRIT_UNARY_FUNCTION(operator~, Invert)
FRIT_UNARY_FUNCTION(abs, Absolute)
FRIT_UNARY_FUNCTION(sqrt, Sqrt)
FRIT_UNARY_FUNCTION(square, Square)
FRIT_UNARY_FUNCTION(exp, Exp)
FRIT_UNARY_FUNCTION(log, Log)
FRIT_UNARY_FUNCTION(sin, Sin)
FRIT_UNARY_FUNCTION(cos, Cos)
FRIT_UNARY_FUNCTION(tan, Tan)
FRIT_UNARY_FUNCTION(tanh, Tanh)
FRIT_UNARY_FUNCTION(erf, Erf)
FRIT_UNARY_FUNCTION(floor, Floor)
FRIT_UNARY_FUNCTION(ceil, Ceil)
FRIT_UNARY_FUNCTION(rint, Rint)
FRIT_UNARY_FUNCTION(isnan, Isnan)
FRIT_UNARY_FUNCTION(isfinite, Isfinite)
#undef FRIT_UNARY_FUNCTION

inline Array maximum(const Argument& x, const Argument& y) { return apply(Op::Maximum, {x, y}); }
inline Array minimum(const Argument& x, const Argument& y) { return apply(Op::Minimum, {x, y}); }
inline Array clip(const Array& x, const Argument& low, const Argument& high) {
  return minimum(maximum(x, low), high);
}
// Element by element: condition ? x : y. All of one type, or numbers.
inline Array where(const Array& condition, const Argument& x, const Argument& y) {
  return apply(Op::Select, {condition, x, y});
}

// ---- reductions ---------------------------------------------------------------------------------

// Along one axis, or several; a negative one counts from the last.
inline ReduceOptions along(const int& axis) { return {.axes = {&axis, 1}, .all_axes = false}; }
inline ReduceOptions along(const std::initializer_list<int>& axes) {
  return {.axes = {axes.begin(), axes.size()}, .all_axes = false};
}

#define FRIT_REDUCTION(name, op)                                                         \
  inline Array name(const Array& x) { return reduce(Op::op, x); }                        \
  inline Array name(const Array& x, int axis) { return reduce(Op::op, x, along(axis)); } \
  inline Array name(const Array& x, std::initializer_list<int> axes) {                   \
    return reduce(Op::op, x, along(axes));                                               \
  }                                                                                      \
  inline Array name(Array&& x) { return reduce(Op::op, taken(std::move(x))); }           \
  inline Array name(Array&& x, int axis) {                                               \
    return reduce(Op::op, taken(std::move(x)), along(axis));                             \
  }
FRIT_REDUCTION(sum, Add)
FRIT_REDUCTION(prod, Multiply)
FRIT_REDUCTION(max, Maximum)
FRIT_REDUCTION(min, Minimum)
FRIT_REDUCTION(all, LogicalAnd)
FRIT_REDUCTION(any, LogicalOr)
#undef FRIT_REDUCTION
// Over the axes that `over` names. Of integers and bools: in float64; means of float16 are added up
// in float32.
Array mean_over(const Array& x, ReduceOptions over);
Array variance_over(const Array& x, ReduceOptions over, double ddof);

inline Array mean(const Array& x) { return mean_over(x, {}); }
inline Array mean(const Array& x, int axis) { return mean_over(x, along(axis)); }
inline Array mean(const Array& x, std::initializer_list<int> axes) {
  return mean_over(x, along(axes));
}

// A sum of squares over n - ddof: var(x), var(x, axis), var(x, axis, {.ddof = 1}).
struct VarianceOptions {
  double ddof = 0;
};
inline Array var(const Array& x, VarianceOptions options = {}) {
  return variance_over(x, {}, options.ddof);
}
inline Array var(const Array& x, int axis, VarianceOptions options = {}) {
  return variance_over(x, along(axis), options.ddof);
}
inline Array var(const Array& x, std::initializer_list<int> axes, VarianceOptions options = {}) {
  return variance_over(x, along(axes), options.ddof);
}
template <std::floating_point N>
Array var(const Array&, N, VarianceOptions = {}) = delete;  // a ddof has its name
inline Array stddev(const Array& x, VarianceOptions options = {}) { return sqrt(var(x, options)); }
inline Array stddev(const Array& x, int axis, VarianceOptions options = {}) {
  return sqrt(var(x, axis, options));
}
inline Array stddev(const Array& x, std::initializer_list<int> axes, VarianceOptions options = {}) {
  return sqrt(var(x, axes, options));
}
template <std::floating_point N>
Array stddev(const Array&, N, VarianceOptions = {}) = delete;

// Places (int64) of the first smallest or largest element.
inline Array argmin(const Array& x) { return arg_extreme(Extreme::Min, x, std::nullopt); }
inline Array argmin(const Array& x, int axis) { return arg_extreme(Extreme::Min, x, axis); }
inline Array argmax(const Array& x) { return arg_extreme(Extreme::Max, x, std::nullopt); }
inline Array argmax(const Array& x, int axis) { return arg_extreme(Extreme::Max, x, axis); }

inline Array cumsum(const Array& x, int axis) { return accumulate(Op::Add, x, axis); }
inline Array cumprod(const Array& x, int axis) { return accumulate(Op::Multiply, x, axis); }

// ---- values -------------------------------------------------------------------------------------

template <class T>
struct TypeOf {
  static_assert(std::is_void_v<T>,
                "Frit has no dtype of this type (char is none: std::int8_t or std::uint8_t)");
  static constexpr DType value = DType::Bool;
};
#define FRIT_DTYPE(Name, name, code, kind, size, type)                                            \
  template <>                                                                                     \
  struct TypeOf<                                                                                  \
      std::conditional_t<DType::Name == DType::Bool, bool,                                        \
                         std::conditional_t<DType::Name == DType::Float16, struct Half, type>>> { \
    static constexpr DType value = DType::Name;                                                   \
  };
#include "ops/dtype.def"
#undef FRIT_DTYPE
// The other one of C++'s two 64-bit integers.
using OtherInt64 = std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>;
static_assert(sizeof(OtherInt64) == 8);
template <>
struct TypeOf<OtherInt64> : TypeOf<std::int64_t> {};
template <>
struct TypeOf<std::make_unsigned_t<OtherInt64>> : TypeOf<std::uint64_t> {};

// The only element, computed now. TypeError when T is not the array's type.
template <class T>
T value(const Array& x) {
  if (x.base() && x.size() != 1)
    throw ValueError(text("value: the array has ", x.size(), " elements"));
  if (TypeOf<T>::value != x.dtype())
    throw TypeError(text("value: the array holds ", info(x.dtype()).name));
  return item(x).as<T>();
}

// The elements in C order, computed now.
template <class T>
std::vector<T> values(const Array& x) {
  if (TypeOf<T>::value != x.dtype())
    throw TypeError(text("values: the array holds ", info(x.dtype()).name));
  const Array dense = x.c_contiguous() ? x : copy(x, 'C');
  const auto* first = reinterpret_cast<const T*>(read(dense));
  return std::vector<T>(first, first + dense.size());  // in braces, pointers would be two bools
}

template <class T>
Array from_values(std::span<const T> values, Extents shape) {
  const Array a = empty(span_of(shape), TypeOf<T>::value);
  if (static_cast<std::size_t>(a.size()) != values.size())
    throw ValueError("from_values: shape and number of values differ");
  std::byte* data = begin_export(a);
  if (!values.empty()) __builtin_memcpy(data, values.data(), values.size_bytes());
  end_export(a.base());
  return a;
}
inline Array from_values(const std::vector<bool>& values, Extents shape) {
  const auto truths = std::make_unique<bool[]>(values.size());
  std::copy(values.begin(), values.end(), truths.get());
  return from_values(std::span<const bool>(truths.get(), values.size()), shape);
}

// to_string() of it.
inline std::ostream& operator<<(std::ostream& out, const Array& x) { return out << to_string(x); }

}  // namespace frit
