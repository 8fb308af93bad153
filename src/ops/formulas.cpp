// formulas.cpp: every formula as a function of its own, for the code generators.
//
// Compiled to bitcode by clang, then checked and stripped by check_formulas.cpp: a function that
// consists of
// `unreachable` stands for a formula that the row does not have.
#include "ops/rows.h"

namespace frit {
namespace {

template <Op op, Part part, class Result, class... Arguments>
Result part_or_unreachable(Arguments... arguments) {
  if constexpr (has_part<op, part, Arguments...>)
    return (Result)part_of<op, part>(arguments...);
  else
    __builtin_unreachable();
}
template <Op op, DType d, class... Arguments>
Output<op, d> value_or_unreachable(Arguments... arguments) {
  if constexpr (has_formula<op, d>)
    return quiet_value_of<op, d>(arguments...);
  else
    __builtin_unreachable();
}
template <Op op, DType d, class... Arguments>
uint8 rare_or_unreachable(Arguments... arguments) {
  if constexpr (has_rare<op, d>)
    return is_rare<op, d>(arguments...);
  else
    __builtin_unreachable();
}
template <Op op, DType d, class... Arguments>
uint8 is_ordinary_or_unreachable(Arguments... arguments) {
  if constexpr (has_ordinary<op, d>)
    return is_ordinary<op, d>(arguments...);
  else
    __builtin_unreachable();
}
template <Op op, DType d, class... Arguments>
Output<op, d> ordinary_or_unreachable(Arguments... arguments) {
  if constexpr (has_ordinary<op, d>)
    return ordinary_value_of<op, d>(arguments...);
  else
    __builtin_unreachable();
}
template <Op op, DType d, class... Arguments>
uint8 overflows_or_unreachable(Arguments... arguments) {
  if constexpr (may_overflow<op, d>)
    return overflows<op, d>(arguments...);
  else
    __builtin_unreachable();
}
#define FRIT_OTHER_WAY(way)                                     \
  template <Op op, DType d>                                     \
  Element<d> way##_or_unreachable(Element<d> x, Element<d> y) { \
    if constexpr (has_##way<op, d>)                             \
      return way##_formula_of<op, d>(x, y);                     \
    else                                                        \
      __builtin_unreachable();                                  \
  }
FRIT_OTHER_WAY(far)
FRIT_OTHER_WAY(by_one)
FRIT_OTHER_WAY(alone)
#undef FRIT_OTHER_WAY

}  // namespace
#define FRIT_REAL_1(Name, D) Input<Op::Name, DType::D, 0> x
#define FRIT_REAL_2(Name, D) FRIT_REAL_1(Name, D), Input<Op::Name, DType::D, 1> y
#define FRIT_REAL_3(Name, D) FRIT_REAL_2(Name, D), Input<Op::Name, DType::D, 2> z
#define FRIT_PASS_1(Name, D) x, Input<Op::Name, DType::D, 1>(), Input<Op::Name, DType::D, 2>()
#define FRIT_PASS_2(Name, D) x, y, Input<Op::Name, DType::D, 2>()
#define FRIT_PASS_3(Name, D) x, y, z

#define FRIT_REAL(Name, inputs, D, suffix)                                                    \
  extern "C" Output<Op::Name, DType::D> frit_##Name##_##suffix(FRIT_REAL_##inputs(Name, D)) { \
    return value_or_unreachable<Op::Name, DType::D>(FRIT_PASS_##inputs(Name, D));             \
  }                                                                                           \
  extern "C" uint8 frit_##Name##_##suffix##_rare(FRIT_REAL_##inputs(Name, D)) {               \
    return rare_or_unreachable<Op::Name, DType::D>(FRIT_PASS_##inputs(Name, D));              \
  }                                                                                           \
  extern "C" uint8 frit_##Name##_##suffix##_overflows(FRIT_REAL_##inputs(Name, D)) {          \
    return overflows_or_unreachable<Op::Name, DType::D>(FRIT_PASS_##inputs(Name, D));         \
  }

#define FRIT_ORDINARY(Name, inputs, D, suffix)                                          \
  extern "C" uint8 frit_##Name##_##suffix##_is_ordinary(FRIT_REAL_##inputs(Name, D)) {  \
    return is_ordinary_or_unreachable<Op::Name, DType::D>(FRIT_PASS_##inputs(Name, D)); \
  }                                                                                     \
  extern "C" Output<Op::Name, DType::D> frit_##Name##_##suffix##_ordinary(              \
      FRIT_REAL_##inputs(Name, D)) {                                                    \
    return ordinary_or_unreachable<Op::Name, DType::D>(FRIT_PASS_##inputs(Name, D));    \
  }

#define FRIT_OTHER_WAY(way, Name, D, suffix)                                         \
  extern "C" Element<DType::D> frit_##Name##_##suffix##_##way(Element<DType::D> x,   \
                                                              Element<DType::D> y) { \
    return way##_or_unreachable<Op::Name, DType::D>(x, y);                           \
  }

#define FRIT_PARTS_1(P) P x_re, P x_im
#define FRIT_PARTS_2(P) P x_re, P x_im, P y_re, P y_im
#define FRIT_PARTS_3(P) uint8 x, P y_re, P y_im, P z_re, P z_im
#define FRIT_PASS_PARTS_1(P) x_re, x_im, P(), P(), P(), P()
#define FRIT_PASS_PARTS_2(P) x_re, x_im, y_re, y_im, P(), P()
#define FRIT_PASS_PARTS_3(P) x, x, y_re, y_im, z_re, z_im

#define FRIT_COMPLEX_FUNCTION(Name, inputs, P, suffix, Result, part)                       \
  extern "C" Result frit_##Name##_##suffix(FRIT_PARTS_##inputs(P)) {                       \
    return part_or_unreachable<Op::Name, Part::part, Result>(FRIT_PASS_PARTS_##inputs(P)); \
  }
#define FRIT_COMPLEX(Name, inputs, D, P, suffix)                     \
  FRIT_COMPLEX_FUNCTION(Name, inputs, P, suffix##_re, P, Re)         \
  FRIT_COMPLEX_FUNCTION(Name, inputs, P, suffix##_im, P, Im)         \
  FRIT_COMPLEX_FUNCTION(Name, inputs, P, suffix##_rare, uint8, Rare) \
  FRIT_COMPLEX_FUNCTION(Name, inputs, P, suffix, FRIT_OUTPUT(Name, D), Real)
#define FRIT_OUTPUT(Name, D) Output<Op::Name, DType::D>

#define FRIT_OP(Name, numpy_name, inputs, ...)    \
  FRIT_REAL(Name, inputs, Bool, bool)             \
  FRIT_REAL(Name, inputs, Int8, b)                \
  FRIT_REAL(Name, inputs, Int16, h)               \
  FRIT_REAL(Name, inputs, Int32, i)               \
  FRIT_REAL(Name, inputs, Int64, l)               \
  FRIT_REAL(Name, inputs, UInt8, B)               \
  FRIT_REAL(Name, inputs, UInt16, H)              \
  FRIT_REAL(Name, inputs, UInt32, I)              \
  FRIT_REAL(Name, inputs, UInt64, L)              \
  FRIT_REAL(Name, inputs, Float16, e)             \
  FRIT_REAL(Name, inputs, Float32, f)             \
  FRIT_REAL(Name, inputs, Float64, d)             \
  FRIT_OTHER_WAY(far, Name, Int64, l)             \
  FRIT_OTHER_WAY(far, Name, UInt64, L)            \
  FRIT_OTHER_WAY(by_one, Name, Int64, l)          \
  FRIT_OTHER_WAY(by_one, Name, UInt64, L)         \
  FRIT_OTHER_WAY(alone, Name, Int64, l)           \
  FRIT_OTHER_WAY(alone, Name, UInt64, L)          \
  FRIT_ORDINARY(Name, inputs, Float16, e)         \
  FRIT_ORDINARY(Name, inputs, Float32, f)         \
  FRIT_ORDINARY(Name, inputs, Float64, d)         \
  FRIT_COMPLEX(Name, inputs, Complex64, float, F) \
  FRIT_COMPLEX(Name, inputs, Complex128, double, D)
#include "ops/op.def"
#undef FRIT_OP

// A complex number to a real type: its real part; a real number to a complex type: the parts x and
// 0. The code generators do that; the casts here are between real types.
#define FRIT_CAST(From, from, To, to)                                             \
  extern "C" Element<DType::To> frit_cast_##from##_##to(Element<DType::From> x) { \
    return converted<DType::To, DType::From>(x);                                  \
  }
#define FRIT_CASTS(From, from)      \
  FRIT_CAST(From, from, Bool, bool) \
  FRIT_CAST(From, from, Int8, b)    \
  FRIT_CAST(From, from, Int16, h)   \
  FRIT_CAST(From, from, Int32, i)   \
  FRIT_CAST(From, from, Int64, l)   \
  FRIT_CAST(From, from, UInt8, B)   \
  FRIT_CAST(From, from, UInt16, H)  \
  FRIT_CAST(From, from, UInt32, I)  \
  FRIT_CAST(From, from, UInt64, L)  \
  FRIT_CAST(From, from, Float16, e) \
  FRIT_CAST(From, from, Float32, f) \
  FRIT_CAST(From, from, Float64, d)
FRIT_CASTS(Bool, bool)
FRIT_CASTS(Int8, b)
FRIT_CASTS(Int16, h)
FRIT_CASTS(Int32, i)
FRIT_CASTS(Int64, l)
FRIT_CASTS(UInt8, B)
FRIT_CASTS(UInt16, H)
FRIT_CASTS(UInt32, I)
FRIT_CASTS(UInt64, L)
FRIT_CASTS(Float16, e)
FRIT_CASTS(Float32, f)
FRIT_CASTS(Float64, d)

}  // namespace frit
