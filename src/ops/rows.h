// rows.h: op.def as C++ templates: value_of<op, dtype>(x, y, z) is one element's formula.
//
// Compiled by clang only, by what makes machine code or bitcode of the formulas.
#pragma once

#include "ops/formula.h"
#include "ops/ops.h"

namespace frit {
namespace {  // see mathematics.h

using namespace formula;

// ---- element types ------------------------------------------------------------------------------

template <DType d>
struct ElementOf;
#define FRIT_ELEMENT(Name, Type)  \
  template <>                     \
  struct ElementOf<DType::Name> { \
    using type = Type;            \
  };
FRIT_ELEMENT(Bool, uint8)
FRIT_ELEMENT(Int8, int8)
FRIT_ELEMENT(Int16, int16)
FRIT_ELEMENT(Int32, int32)
FRIT_ELEMENT(Int64, int64)
FRIT_ELEMENT(UInt8, uint8)
FRIT_ELEMENT(UInt16, uint16)
FRIT_ELEMENT(UInt32, uint32)
FRIT_ELEMENT(UInt64, uint64)
FRIT_ELEMENT(Float16, half)
FRIT_ELEMENT(Float32, float)
FRIT_ELEMENT(Float64, double)
FRIT_ELEMENT(Complex64, float)  // of a part
FRIT_ELEMENT(Complex128, double)
#undef FRIT_ELEMENT
template <DType d>
using Element = typename ElementOf<d>::type;

constexpr bool complex_type(DType d) { return d == DType::Complex64 || d == DType::Complex128; }
constexpr bool signed_type(DType d) { return d >= DType::Int8 && d <= DType::Int64; }
constexpr bool unsigned_type(DType d) { return d >= DType::UInt8 && d <= DType::UInt64; }
constexpr bool float_type(DType d) { return d >= DType::Float16 && d <= DType::Float64; }
static_assert(DType::Int64 < DType::UInt8 && DType::UInt64 < DType::Float16);

constexpr DType part_type(DType d) {
  return d == DType::Complex64 ? DType::Float32 : d == DType::Complex128 ? DType::Float64 : d;
}

// ---- the rows -----------------------------------------------------------------------------------

template <Op op>
struct Formula;

#define FRIT_MEMBER(name, ...)                                                         \
  template <class X, class Y, class Z>                                                 \
  static auto name([[maybe_unused]] X x, [[maybe_unused]] Y y, [[maybe_unused]] Z z) { \
    using T [[maybe_unused]] = X;                                                      \
    return __VA_ARGS__;                                                                \
  }
#define FRIT_COMPLEX_MEMBER(name, ...)                                                          \
  template <class X, class Y>                                                                   \
  static auto name([[maybe_unused]] X x_re, [[maybe_unused]] X x_im, [[maybe_unused]] Y y_re,   \
                   [[maybe_unused]] Y y_im, [[maybe_unused]] Y z_re, [[maybe_unused]] Y z_im) { \
    using T [[maybe_unused]] = Y;                                                               \
    return __VA_ARGS__;                                                                         \
  }
#define BOOL(...) FRIT_MEMBER(boolean, __VA_ARGS__)
#define SIGNED(...) FRIT_MEMBER(signed_integer, __VA_ARGS__)
#define UNSIGNED(...) FRIT_MEMBER(unsigned_integer, __VA_ARGS__)
#define INT(...) SIGNED(__VA_ARGS__) UNSIGNED(__VA_ARGS__)
#define FLOAT(...) FRIT_MEMBER(real, __VA_ARGS__)
#define HALF(...) FRIT_MEMBER(half_precision, __VA_ARGS__)
#define DOUBLE(...) FRIT_MEMBER(double_precision, __VA_ARGS__)
#define COMPLEX(re, im) FRIT_COMPLEX_MEMBER(complex_re, re) FRIT_COMPLEX_MEMBER(complex_im, im)
#define COMPLEX_REAL(...) FRIT_COMPLEX_MEMBER(complex_real, __VA_ARGS__)
#define SIGNED_OVERFLOWS(...) FRIT_MEMBER(signed_overflows, (bool)(__VA_ARGS__))
#define SIGNED_FAR(...) FRIT_MEMBER(signed_far, __VA_ARGS__)
#define UNSIGNED_FAR(...) FRIT_MEMBER(unsigned_far, __VA_ARGS__)
#define SIGNED_BY_ONE(...) FRIT_MEMBER(signed_by_one, __VA_ARGS__)
#define UNSIGNED_BY_ONE(...) FRIT_MEMBER(unsigned_by_one, __VA_ARGS__)
#define SIGNED_ALONE(...) FRIT_MEMBER(signed_alone, __VA_ARGS__)
#define UNSIGNED_ALONE(...) FRIT_MEMBER(unsigned_alone, __VA_ARGS__)
#define INT_RARE(condition, ...) \
  FRIT_MEMBER(integer_is_rare, (bool)(condition)) FRIT_MEMBER(integer_whole, __VA_ARGS__)
#define FLOAT_RARE(condition, ...) \
  FRIT_MEMBER(real_is_rare, (bool)(condition)) FRIT_MEMBER(real_whole, __VA_ARGS__)
#define FLOAT_ORDINARY(condition, ...) \
  FRIT_MEMBER(real_is_ordinary, (bool)(condition)) FRIT_MEMBER(real_ordinary, __VA_ARGS__)
#define HALF_ORDINARY(condition, ...) \
  FRIT_MEMBER(half_is_ordinary, (bool)(condition)) FRIT_MEMBER(half_ordinary, __VA_ARGS__)
#define COMPLEX_RARE(condition, ...)                      \
  FRIT_COMPLEX_MEMBER(complex_is_rare, (bool)(condition)) \
  FRIT_COMPLEX_MEMBER(complex_whole, __VA_ARGS__)
#define FRIT_OP(Name, numpy_name_, inputs_, rule_, flags_, identity_, types_, ...) \
  template <>                                                                      \
  struct Formula<Op::Name> {                                                       \
    static constexpr int inputs = inputs_;                                         \
    static constexpr TypeRule rule = TypeRule::rule_;                              \
    static constexpr unsigned flags = flags_;                                      \
    __VA_ARGS__                                                                    \
  };
#include "ops/op.def"
#undef FRIT_OP
#undef BOOL
#undef SIGNED
#undef UNSIGNED
#undef INT
#undef FLOAT
#undef HALF
#undef DOUBLE
#undef COMPLEX
#undef COMPLEX_REAL
#undef SIGNED_OVERFLOWS
#undef SIGNED_FAR
#undef UNSIGNED_FAR
#undef SIGNED_BY_ONE
#undef UNSIGNED_BY_ONE
#undef SIGNED_ALONE
#undef UNSIGNED_ALONE
#undef INT_RARE
#undef FLOAT_RARE
#undef FLOAT_ORDINARY
#undef HALF_ORDINARY
#undef COMPLEX_RARE
#undef FRIT_MEMBER
#undef FRIT_COMPLEX_MEMBER

// ---- one element --------------------------------------------------------------------------------

constexpr DType input_type(TypeRule rule, DType d, int k) {
  if (rule == TypeRule::Select && k == 0) return DType::Bool;
  if (rule == TypeRule::Exponent && k == 1) return DType::Int64;
  return d;
}
constexpr DType output_type(TypeRule rule, DType d) {
  switch (rule) {
    case TypeRule::Same:
    case TypeRule::FloatOnly:
    case TypeRule::TrueDivide:
    case TypeRule::Select:
    case TypeRule::Exponent:
      return d;
    case TypeRule::Compare:
    case TypeRule::Predicate:
    case TypeRule::Logical:
      return DType::Bool;
    case TypeRule::RealOfComplex:
      return part_type(d);
    case TypeRule::FloatToInt:
      return DType::Int32;
    case TypeRule::ToUInt8:
      return DType::UInt8;
  }
}
template <Op op, DType d, int k>
using Input = Element<input_type(Formula<op>::rule, d, k)>;
template <Op op, DType d>
using Output = Element<output_type(Formula<op>::rule, d)>;
template <Op op, DType d>
constexpr bool complex_output = complex_type(output_type(Formula<op>::rule, d));

template <class T>
T widened(T x) {
  return x;
}
inline float widened(half x) { return x; }

// The byte of a bool in memory may be any: what is not 0 is true. Where it is copied it stays as it
// is.
template <Op op>
constexpr bool moves_only = op == Op::Copy || op == Op::Select;

// The formula's own result, not yet of the output's type; void where the row has no formula for the
// type.
template <Op op, DType d, class X, class Y, class Z>
auto formula_of(X x, Y y, Z z) {
  using F = Formula<op>;
  if constexpr (d == DType::Bool) {
    if constexpr (requires { F::boolean(x, y, z); }) {
      if constexpr (moves_only<op>)
        return F::boolean(x, y, z);
      else
        return F::boolean(x != 0, y != 0, z != 0);
    }
  } else if constexpr (signed_type(d)) {
    if constexpr (requires { F::signed_integer(x, y, z); }) return F::signed_integer(x, y, z);
  } else if constexpr (unsigned_type(d)) {
    if constexpr (requires { F::unsigned_integer(x, y, z); }) return F::unsigned_integer(x, y, z);
  } else if constexpr (d == DType::Float16 && requires { F::half_precision(x, y, z); }) {
    return F::half_precision(x, y, z);
  } else if constexpr (d == DType::Float64 &&
                       requires(double w) { F::double_precision(w, w, w); }) {
    return F::double_precision(x, y, z);
  } else if constexpr (float_type(d)) {
    if constexpr (requires { F::real(widened(x), widened(y), widened(z)); })
      return F::real(widened(x), widened(y), widened(z));
  }
}

template <Op op, DType d>
constexpr bool has_formula = [] {
  using F = Formula<op>;
  if constexpr (complex_type(d)) {
    using X = Input<op, d, 0>;
    using P = Element<d>;
    return requires(X x, P y) { F::complex_re(x, x, y, y, y, y); }
    || requires(X x, P y) { F::complex_real(x, x, y, y, y, y); };
  } else {
    using Result =
        decltype(formula_of<op, d>(Input<op, d, 0>(), Input<op, d, 1>(), Input<op, d, 2>()));
    return !__is_same(Result, void);
  }
}();

template <Op op, DType d>
constexpr bool has_rare = [] {
  using F = Formula<op>;
  if constexpr (d == DType::Bool || !has_formula<op, d>)
    return false;
  else if constexpr (complex_type(d))
    return requires(Element<d> y) { F::complex_is_rare(y, y, y, y, y, y); };
  else if constexpr (!float_type(d))
    return requires(Element<d> y) { F::integer_is_rare(y, y, y); };
  else if constexpr (d == DType::Float16 && requires(half y) { F::half_precision(y, y, y); })
    return false;
  else
    return requires(float y) { F::real_is_rare(y, y, y); };
}();

template <Op op, DType d>
constexpr bool has_ordinary = [] {
  using F = Formula<op>;
  if constexpr (!has_formula<op, d> || !float_type(d))
    return false;
  else if constexpr (d == DType::Float16 && requires(half y) { F::half_precision(y, y, y); })
    return requires(half y) { F::half_is_ordinary(y, y, y); };
  else
    return requires(Element<d> y) { F::real_is_ordinary(widened(y), widened(y), widened(y)); };
}();

template <Op op, DType d>
constexpr bool may_overflow = [] {
  if constexpr (signed_type(d)) return requires(Element<d> y) {
      Formula<op>::signed_overflows(y, y, y);
    };
  else
    return false;
}();

// The formula of 64-bit integers where doubles are far, where y is one number, and where x is, too;
// void where the row has none.
#define FRIT_OTHER_WAY(way)                                                                      \
  template <Op op, DType d, class X, class Y>                                                    \
  auto way##_formula_of(X x, Y y) {                                                              \
    using F = Formula<op>;                                                                       \
    if constexpr (d == DType::Int64) {                                                           \
      if constexpr (requires { F::signed_##way(x, y, y); }) return F::signed_##way(x, y, y);     \
    } else if constexpr (d == DType::UInt64) {                                                   \
      if constexpr (requires { F::unsigned_##way(x, y, y); }) return F::unsigned_##way(x, y, y); \
    }                                                                                            \
  }                                                                                              \
  template <Op op, DType d>                                                                      \
  constexpr bool has_##way =                                                                     \
      !__is_same(decltype(way##_formula_of<op, d>(Element<d>(), Element<d>())), void);
FRIT_OTHER_WAY(far)
FRIT_OTHER_WAY(by_one)
FRIT_OTHER_WAY(alone)
#undef FRIT_OTHER_WAY

// Real element types; without the flag of SIGNED_OVERFLOWS.
template <Op op, DType d>
Output<op, d> quiet_value_of(Input<op, d, 0> x, Input<op, d, 1> y, Input<op, d, 2> z) {
  return (Output<op, d>)formula_of<op, d>(x, y, z);
}
template <Op op, DType d>
bool overflows(Input<op, d, 0> x, Input<op, d, 1> y, Input<op, d, 2> z) {
  return Formula<op>::signed_overflows(x, y, z);
}
template <Op op, DType d>
Output<op, d> value_of(Input<op, d, 0> x, Input<op, d, 1> y, Input<op, d, 2> z) {
  Output<op, d> value = quiet_value_of<op, d>(x, y, z);
  if constexpr (may_overflow<op, d>) {
    // What no optimiser knows to be the value again hangs on the flag.
    using F = Quotient<Element<d>>;
    F flag = overflow_if(overflows<op, d>(x, y, z), from_bits<F>((Unsigned<Element<d>>)value));
    return is_infinite(flag) ? smallest<Element<d>> : value;
  }
  return value;
}
template <Op op, DType d>
bool is_rare(Input<op, d, 0> x, Input<op, d, 1> y, Input<op, d, 2> z) {
  if constexpr (float_type(d))
    return Formula<op>::real_is_rare(widened(x), widened(y), widened(z));
  else
    return Formula<op>::integer_is_rare(x, y, z);
}
template <Op op, DType d>
bool is_ordinary(Input<op, d, 0> x, Input<op, d, 1> y, Input<op, d, 2> z) {
  if constexpr (d == DType::Float16 && requires { Formula<op>::half_is_ordinary(x, y, z); })
    return Formula<op>::half_is_ordinary(x, y, z);
  else
    return Formula<op>::real_is_ordinary(widened(x), widened(y), widened(z));
}
template <Op op, DType d>
Output<op, d> ordinary_value_of(Input<op, d, 0> x, Input<op, d, 1> y, Input<op, d, 2> z) {
  if constexpr (d == DType::Float16 && requires { Formula<op>::half_ordinary(x, y, z); })
    return (Output<op, d>)Formula<op>::half_ordinary(x, y, z);
  else
    return (Output<op, d>)Formula<op>::real_ordinary(widened(x), widened(y), widened(z));
}
template <Op op, DType d>
Output<op, d> whole_value_of(Input<op, d, 0> x, Input<op, d, 1> y, Input<op, d, 2> z) {
  if constexpr (float_type(d))
    return (Output<op, d>)Formula<op>::real_whole(widened(x), widened(y), widened(z));
  else
    return (Output<op, d>)Formula<op>::integer_whole(x, y, z);
}

// Complex types: each part of the formula by itself; void where the row does not have it.
enum class Part { Re, Im, Real, Rare, Whole };
template <Op op, Part part, class... Arguments>
auto part_of(Arguments... a) {
  using F = Formula<op>;
  if constexpr (part == Part::Re) {
    if constexpr (requires { F::complex_re(a...); }) return F::complex_re(a...);
  } else if constexpr (part == Part::Im) {
    if constexpr (requires { F::complex_im(a...); }) return F::complex_im(a...);
  } else if constexpr (part == Part::Real) {
    if constexpr (requires { F::complex_real(a...); }) return F::complex_real(a...);
  } else if constexpr (part == Part::Rare) {
    if constexpr (requires { F::complex_is_rare(a...); }) return F::complex_is_rare(a...);
  } else {
    if constexpr (requires { F::complex_whole(a...); }) return F::complex_whole(a...);
  }
}
template <Op op, Part part, class... Arguments>
constexpr bool has_part = !__is_same(decltype(part_of<op, part>(Arguments()...)), void);

// No instruction does this before AVX-512 FP16, and the library that does raises no flag. Through
// float, rounded to odd: the last bit is set where anything was lost, so that the second rounding
// decides as if it had seen all of the double.
inline half narrowed(double x) {
  float nearest = (float)x;
  double back = nearest;
  // As integers: a comparison of floats would raise invalid on NaN.
  bool is_above = ((int64)bits_of(absolute(back)) > (int64)bits_of(absolute(x))) & !is_nan(x);
  uint32 towards_zero = bits_of(nearest) - is_above;
  half result = (half)from_bits<float>(towards_zero | (back != x));
  bool overflows = is_infinite((float)result) & is_finite(x);
  float infinite = copy_sign(overflow_if(overflows, nearest), nearest);
  return pick(overflows, (half)infinite, result);
}

// What astype does.
template <DType to, DType from>
Element<to> converted(Element<from> x) {
  using To = Element<to>;
  if constexpr (to == DType::Bool)
    return x != 0;
  else if constexpr (from == DType::Bool)
    return (To)(x != 0);
  else if constexpr (to == DType::Float16 && from == DType::Float64)
    return narrowed(x);
  else if constexpr (!float_type(from) || float_type(to))
    return (To)x;
  else if constexpr (to == DType::UInt32 && from == DType::Float16) {
    // The compiler knows that halves fit into int32, and forgets those that are not finite.
    float number = widened(x), flag = invalid_if(!is_finite(number), number);
    return is_nan(flag) ? (To)0 : to_integer_as_x86<To>(number);
  } else
    return to_integer_as_x86<To>(widened(x));
}

}  // namespace
}  // namespace frit
