// frit.h: the C++ door: lazy fused arrays with operators, and kernels of your own.
//
//   frit::Array x = frit::arange(0.0, 1e-6, 1'000'000);
//   frit::Array y = frit::sqrt(x * 2.0 + 1.0);   // recorded
//   double total = frit::value<double>(frit::sum(y));  // one kernel runs
#pragma once

#include <algorithm>

#include "frit/array.h"
#include "frit/kernel_builder.h"

namespace frit {

// ---- making arrays ------------------------------------------------------------------------------

inline Array zeros(std::initializer_list<std::int64_t> shape, DType dtype = DType::Float64) {
  return full({shape.begin(), shape.size()}, Scalar{.dtype = dtype});
}
inline Array full(std::initializer_list<std::int64_t> shape, double value) {
  return full({shape.begin(), shape.size()}, Scalar::of(DType::Float64, value));
}
// n values start, start + step, ..
inline Array arange(double start, double step, std::int64_t n) {
  return arange(Scalar::of(DType::Float64, start), Scalar::of(DType::Float64, step), n);
}
// A copy of contiguous values.
template <class T>
Array from_values(std::span<const T> values, std::initializer_list<std::int64_t> shape);

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

// ---- products along named axes ------------------------------------------------------------------

// einsum("ij,jk->ik", {a, b}).
inline Array einsum(std::string_view subscripts, std::initializer_list<Array> operands) {
  return einsum(subscripts, std::span<const Array>(operands.begin(), operands.size()));
}

// ---- operators ----------------------------------------------------------------------------------

#define FRIT_BINARY_OPERATOR(symbol, op)                                                         \
  inline Array operator symbol(const Array& x, const Array& y) { return apply(Op::op, {x, y}); } \
  template <class T>                                                                             \
  requires std::is_arithmetic_v<T> Array operator symbol(const Array& x, T y) {                  \
    return apply(Op::op, {x, y});                                                                \
  }                                                                                              \
  template <class T>                                                                             \
  requires std::is_arithmetic_v<T> Array operator symbol(T x, const Array& y) {                  \
    return apply(Op::op, {x, y});                                                                \
  }
FRIT_BINARY_OPERATOR(+, Add)
FRIT_BINARY_OPERATOR(-, Subtract)
FRIT_BINARY_OPERATOR(*, Multiply)
FRIT_BINARY_OPERATOR(/, TrueDivide)
FRIT_BINARY_OPERATOR(<, Less)
FRIT_BINARY_OPERATOR(<=, LessEqual)
FRIT_BINARY_OPERATOR(>, Greater)
FRIT_BINARY_OPERATOR(>=, GreaterEqual)
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
#undef FRIT_ASSIGNMENT_OPERATOR

inline Array operator-(const Array& x) { return apply(Op::Negative, {x}); }

#define FRIT_UNARY_FUNCTION(name, op) \
  inline Array name(const Array& x) { return apply(Op::op, {x}); }
FRIT_UNARY_FUNCTION(abs, Absolute)
FRIT_UNARY_FUNCTION(sqrt, Sqrt)
FRIT_UNARY_FUNCTION(square, Square)
FRIT_UNARY_FUNCTION(exp, Exp)
FRIT_UNARY_FUNCTION(log, Log)
FRIT_UNARY_FUNCTION(sin, Sin)
FRIT_UNARY_FUNCTION(cos, Cos)
FRIT_UNARY_FUNCTION(tanh, Tanh)
FRIT_UNARY_FUNCTION(floor, Floor)
#undef FRIT_UNARY_FUNCTION

inline Array maximum(const Argument& x, const Argument& y) { return apply(Op::Maximum, {x, y}); }
inline Array minimum(const Argument& x, const Argument& y) { return apply(Op::Minimum, {x, y}); }
inline Array power(const Argument& x, const Argument& y) { return apply(Op::Power, {x, y}); }
// Element by element: condition ? x : y. All of one type, or numbers.
inline Array where(const Array& condition, const Argument& x, const Argument& y) {
  return apply(Op::Select, {condition, x, y});
}

// ---- reductions ---------------------------------------------------------------------------------

inline Array sum(const Array& x) { return reduce(Op::Add, x); }
inline Array max(const Array& x) { return reduce(Op::Maximum, x); }
inline Array min(const Array& x) { return reduce(Op::Minimum, x); }
// Along one axis; a negative one counts from the last.
inline Array reduce_axis(Op op, const Array& x, int axis) {
  const int from_first = axis < 0 ? axis + x.ndim() : axis;
  return reduce(op, x, {.axes = {&from_first, 1}, .all_axes = false});
}
inline Array sum(const Array& x, int axis) { return reduce_axis(Op::Add, x, axis); }
inline Array max(const Array& x, int axis) { return reduce_axis(Op::Maximum, x, axis); }
inline Array min(const Array& x, int axis) { return reduce_axis(Op::Minimum, x, axis); }

// ---- values -------------------------------------------------------------------------------------

template <class T>
struct TypeOf;
#define FRIT_DTYPE(Name, name, code, kind, size, type)                                            \
  template <>                                                                                     \
  struct TypeOf<                                                                                  \
      std::conditional_t<DType::Name == DType::Bool, bool,                                        \
                         std::conditional_t<DType::Name == DType::Float16, struct Half, type>>> { \
    static constexpr DType value = DType::Name;                                                   \
  };
#include "ops/dtype.def"
#undef FRIT_DTYPE

// The only element, computed now. TypeError when T is not the array's type.
template <class T>
T value(const Array& x) {
  if (x && x.size() != 1) throw ValueError(text("value: the array has ", x.size(), " elements"));
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
Array from_values(std::span<const T> values, std::initializer_list<std::int64_t> shape) {
  const Array a = empty({shape.begin(), shape.size()}, TypeOf<T>::value);
  if (static_cast<std::size_t>(a.size()) != values.size())
    throw ValueError("from_values: shape and number of values differ");
  std::byte* data = begin_export(a);
  if (!values.empty()) __builtin_memcpy(data, values.data(), values.size_bytes());
  end_export(a.base());
  return a;
}

}  // namespace frit
