// formula.h: what the rows of op.def may call: exact, straight-line arithmetic on an element.
//
// Compiled by clang only, with -fwrapv (integers wrap) and -ffp-contract=off. No library header, no
// lookup table and no branch may be used by a function that FLOAT, INT .. name; those for the
// _RARE entries may branch and call.
#pragma once

#include "ops/complex_functions.h"
#include "ops/mathematics.h"

namespace frit::formula {
namespace {  // see mathematics.h

// ---- integers -----------------------------------------------------------------------------------

template <class T>
struct UnsignedOf;
template <>
struct UnsignedOf<int8> {
  using type = uint8;
};
template <>
struct UnsignedOf<int16> {
  using type = uint16;
};
template <>
struct UnsignedOf<int32> {
  using type = uint32;
};
template <>
struct UnsignedOf<int64> {
  using type = uint64;
};
template <>
struct UnsignedOf<uint8> {
  using type = uint8;
};
template <>
struct UnsignedOf<uint16> {
  using type = uint16;
};
template <>
struct UnsignedOf<uint32> {
  using type = uint32;
};
template <>
struct UnsignedOf<uint64> {
  using type = uint64;
};
template <class T>
using Unsigned = typename UnsignedOf<T>::type;

template <class T>
constexpr bool is_signed_integer = (T)-1 < (T)0;
template <class T>
constexpr T smallest = (T)((Unsigned<T>)1 << (8 * sizeof(T) - 1));

// The float type in which the quotient of two T, rounded down, is exact. 64-bit integers have none.
template <class T>
using Quotient = __type_pack_element<(sizeof(T) < 4 ? 0 : 1), float, double>;

// The wide integer type into which a quotient of small integers is converted.
template <class T>
int64 to_integer(double quotient) {
  return (int64)quotient;
}
template <class T>
int32 to_integer(float quotient) {
  return (int32)quotient;
}

template <class T>
Unsigned<T> magnitude(T x) {
  if constexpr (is_signed_integer<T>)
    return (Unsigned<T>)(x < 0 ? -x : x);
  else
    return x;
}

// Where vectors of 64-bit integers become doubles in one instruction.
#if defined(__AVX512DQ__) || !defined(FRIT_LEVEL)
constexpr bool doubles_are_near = true;
#else
constexpr bool doubles_are_near = false;
#endif

// Quotient and rest by a reciprocal of y, which is computed once where y is one number. With
// y == 0 nothing exists, and divide-by-zero is raised: `exists` hangs on the reciprocal, since an
// optimiser that finds y tested would drop the division.

// Rounded down. x / y is a multiple of 1 / y: less half of what is missing to the next integer, it
// is far enough from all halves between integers that the nearest one is right.
template <class T>
struct NarrowDivision {
  T quotient, rest;
  bool exists;

  // (A function that returns this would return it in one register, packed.)
  NarrowDivision(T x, T y) {
    using F = Quotient<T>;
    F inverse = (F)1 / (F)y;
    exists = is_finite(inverse);
    inverse = exists ? inverse : (F)0;
    quotient = quotient_of(x, inverse);
    rest = (T)(x - quotient * y);
  }

 private:
  static T quotient_of(T x, Quotient<T> inverse) {
    using F = Quotient<T>;
    F down = multiply_add(absolute(inverse), (F)0.5, (F)-0.5);
    F rounded = multiply_add((F)x, inverse, down) + Exponential<F>::rounder;
    return (T)bits_of(rounded);  // the integer stands in the low bits
  }
  // Of bytes many more fit a vector as products with 2^16 / y, rounded up, by its halves. (This
  // type is not promoted to int.)
  static uint8 quotient_of(uint8 x, float inverse) requires __is_same(T, uint8) {
    using Word = unsigned _BitInt(16);
    int32 factor = (int32)(inverse * 0x1p16f) + 1;
    Word high = (Word)(factor >> 8), low = (Word)(factor & 255);
    return (uint8)((Word)((Word)x * high + ((Word)x * low >> 8)) >> 8);
  }
};

// Of unsigned numbers. The reciprocal is too small by so little that the quotient is right or one
// less.
struct ByDoubles {
  uint64 quotient, rest;
  bool exists;

  // The five roundings of the first quotient leave at most y + 2^15; those of its rest less than 1.
  ByDoubles(uint64 x, uint64 y) {
    double reciprocal = (1 - 0x1p-50) / (double)y;
    exists = is_finite(reciprocal);
    reciprocal = exists ? reciprocal : 0;
    quotient = (uint64)((double)x * reciprocal);
    rest = x - quotient * y;
    uint64 more = (uint64)((double)rest * reciprocal);
    quotient += more;
    rest -= more * y;
    bool one_less = rest >= y;
    quotient += one_less;
    rest -= one_less ? y : (uint64)0;
  }
};
struct ByHighHalf {
  uint64 quotient, rest;
  bool exists;

  // Of x * (most / y) / 2^64: x / y - 2 < that.
  ByHighHalf(uint64 x, uint64 y) {
    // 0 or about 1: a conversion of y would take as long as the rest.
    exists = is_finite(1.0 / from_bits<double>((y == 0 ? (uint64)0 : bits_of(1.0)) | (y & 1)));
    uint64 reciprocal = (uint64)-1 / (y > 1 ? y : 1);
    quotient = (uint64)((unsigned __int128)x * reciprocal >> 64);
    rest = x - quotient * y;
    bool one_less = rest >= y;
    quotient += one_less;
    rest -= one_less ? y : (uint64)0;
  }
};
using WideDivision = __type_pack_element<doubles_are_near, ByHighHalf, ByDoubles>;

template <class T>
using Division = __type_pack_element<(sizeof(T) < 8 ? 0 : 1), NarrowDivision<T>, WideDivision>;

// Division by the magnitude of y; the quotient and rest of x and y follow from it without knowing
// more than signs. A negative quotient is rounded down by way of ~x = -1 - x, which is not negative
// then.
template <class Wide>
struct SignedDivision {
  int64 quotient, rest;
  bool exists;

  SignedDivision(int64 x, int64 y) {
    int64 flip = y < 0 ? -1 : 0;
    int64 towards = (x ^ flip) - flip;
    // Is the quotient negative? (The smallest number stays what it is when its sign is changed.)
    int64 negative = (towards & ~(x & flip)) < 0 ? -1 : 0;
    uint64 size = magnitude(y);
    Wide division((uint64)(towards ^ negative), size);
    exists = division.exists;
    quotient = (int64)division.quotient ^ negative;
    rest = ((int64)division.rest ^ negative) + ((int64)size & negative);
    rest = (rest ^ flip) - flip;
  }
};

// The upper half of the product, by products of halves, which vectors have.
inline uint64 high_half(uint64 x, uint64 y) {
  uint64 x_low = (uint32)x, x_high = x >> 32, y_low = (uint32)y, y_high = y >> 32;
  uint64 first = x_high * y_low + (x_low * y_low >> 32);
  uint64 second = x_low * y_high + (uint32)first;
  return x_high * y_high + (first >> 32) + (second >> 32);
}

// ((high + 1) * 2^64 - 1) / divisor, which has its first bit set and is more than `high`. By digits
// of 32 bits: what their first halves say is at most two too much.
inline uint64 quotient_of_two_words(uint64 high, uint64 divisor) {
  uint64 first = divisor >> 32, second = (uint32)divisor, quotient = 0;
#pragma clang loop unroll(full)
  for (int k = 0; k < 2; ++k) {
    uint64 digit = high / first, rest = high - digit * first;
#pragma clang loop unroll(full)
    for (int n = 0; n < 2; ++n) {
      bool is_more = ((digit >> 32) != 0) | (digit * second > (rest << 32 | 0xffffffff));
      bool too_much = is_more & ((rest >> 32) == 0);
      digit -= too_much;
      rest += too_much ? first : (uint64)0;
    }
    high = (high << 32 | 0xffffffff) - digit * divisor;
    quotient = quotient << 32 | digit;
  }
  return quotient;
}

// What of a division by one number is worked out in front of the loop, so that a quotient takes a
// product, a sum or two and a shift (Granlund and Montgomery, Division by Invariant Integers using
// Multiplication, 1994). 2^shift < size <= 2^(shift + 1), but for sizes of 0 and 1. (Narrower
// integers are divided faster by way of floats.)
struct OneDivisor {
  uint64 size, shift, reciprocal, is_one;

  // 2^(64 + shift) / size, rounded up: enough for dividends of up to 2^63. For a size of 1 it is
  // 2^64 - 1, and the dividend plus 1.
  static OneDivisor of_half_range(uint64 size) {
    OneDivisor d(size);
    uint64 up = quotient_of_two_words((uint64)-1 >> 1, d.normalised()) + 1;
    d.reciprocal = pick(size == 1, (uint64)-1, pick(d.is_power(), (uint64)1 << 63, up));
    return d;
  }
  uint64 half_range_quotient(uint64 x) const { return high_half(x + is_one, reciprocal) >> shift; }

  // 2^(64 + shift + 1) / size - 2^64, rounded up.
  static OneDivisor of_whole_range(uint64 size) {
    OneDivisor d(size);
    uint64 up = quotient_of_two_words(~d.normalised(), d.normalised()) + 1;
    d.reciprocal = pick(d.is_power(), (uint64)1, up);
    return d;
  }
  uint64 whole_range_quotient(uint64 x) const {
    uint64 part = high_half(x, reciprocal);
    return (part + ((x - part) >> (1 - is_one))) >> shift;
  }

 private:
  explicit OneDivisor(uint64 size)
      : size(size), shift(63 - leading_zeros((size - 1) | 1)), is_one(size == 1) {}
  bool is_power() const { return (size & (size - 1)) == 0; }
  // Never 0, of which the division would trap.
  uint64 normalised() const {
    uint64 some = size | (size == 0);
    return some << leading_zeros(some);
  }
  static uint64 leading_zeros(uint64 x) { return (uint64)__builtin_clzll(x); }
};
// All bits, and none, with divide-by-zero, where y is 0.
template <class T>
T bits_where_divisible(T y) {
  double one_or_zero = from_bits<double>((y == 0 ? (uint64)0 : bits_of(1.0)) | (uint64)(y & 1));
  return is_finite(1.0 / one_or_zero) ? (T)-1 : (T)0;
}

// One number at a time: the processor's own division, or what a compiler makes of one by a literal.
struct ByMachine {
  uint64 quotient, rest;
  bool exists;

  ByMachine(uint64 x, uint64 y) {
    exists = bits_where_divisible(y) != 0;
    uint64 size = y == 0 ? 1 : y;
    quotient = x / size;
    rest = x - quotient * size;
  }
};

// Signs as in SignedDivision.
template <class T>
T floor_divide_signed_by_one(T x, T y) {
  T flip = y < 0 ? -1 : 0, towards = (x ^ flip) - flip;
  T negative = (towards & ~(x & flip)) < 0 ? -1 : 0;
  auto divisor = OneDivisor::of_half_range(magnitude(y));
  T quotient = (T)divisor.half_range_quotient((uint64)(towards ^ negative)) ^ negative;
  return quotient & bits_where_divisible(y);
}
template <class T>
T divide_unsigned_by_one(T x, T y) {
  return OneDivisor::of_whole_range(y).whole_range_quotient(x) & bits_where_divisible(y);
}
template <class T>
T rest_by_one(T x, T y, T quotient) {
  return (T)(x - quotient * y) & (T)(y == 0 ? 0 : -1);
}

template <class T, class Wide = WideDivision>
T floor_divide_signed(T x, T y) {
  if constexpr (sizeof(T) < 8) {
    return NarrowDivision<T>(x, y).quotient;
  } else {
    SignedDivision<Wide> division(x, y);
    return division.exists ? (T)division.quotient : (T)0;
  }
}
template <class T>
bool floor_division_overflows(T x, T y) {
  return (x == smallest<T>)&(y == (T)-1);
}

template <class T, class By = Division<T>>
T divide_unsigned(T x, T y) {
  By division(x, y);
  return division.exists ? (T)division.quotient : (T)0;
}

// C's /.
template <class T, class By = Division<Unsigned<T>>>
T truncate_divide_signed(T x, T y) {
  By division(magnitude(x), magnitude(y));
  auto quotient = (Unsigned<T>)division.quotient;
  bool negative = (x < 0) != (y < 0);
  return division.exists ? (T)(negative ? (Unsigned<T>)-quotient : quotient) : (T)0;
}

template <class T, class By = Division<T>>
T remainder_unsigned(T x, T y) {
  By division(x, y);
  return division.exists ? (T)division.rest : (T)0;
}

// C's %: the sign of x.
template <class T, class By = Division<Unsigned<T>>>
T fmod_signed(T x, T y) {
  T rest = (T)remainder_unsigned<Unsigned<T>, By>(magnitude(x), magnitude(y));
  return x < 0 ? (T)-rest : rest;
}

template <class T, class Wide = WideDivision>
T remainder_signed(T x, T y) {
  if constexpr (sizeof(T) < 8) {
    NarrowDivision<T> division(x, y);
    return division.exists ? division.rest : (T)0;
  } else {
    SignedDivision<Wide> division(x, y);
    return division.exists ? (T)division.rest : (T)0;
  }
}

template <class T>
T reciprocal_integer(T x) {
  if constexpr (sizeof(T) < 8) {
    using F = Quotient<T>;
    F quotient = round_to_zero((F)1 / (F)x);
    // NumPy casts 1.0 / 0 back to T.
    T at_zero = __is_same(T, int32) ? smallest<T> : (T)0;
    return x == 0 ? at_zero : (T)to_integer<T>(x == 0 ? (F)0 : quotient);
  } else {
    double quotient = 1.0 / (double)x;  // 1 or -1 for these two alone
    T result = absolute(quotient) == 1 ? x : (T)0;
    return (is_signed_integer<T> & is_infinite(quotient)) ? smallest<T> : result;
  }
}

// x to the power y, 0 <= y <= 15.
template <class T>
T power_small(T x, T y) {
  uint64 x1 = (uint64)x, x2 = x1 * x1, x4 = x2 * x2, x8 = x4 * x4;
  uint64 low = ((y & 1) ? x1 : 1) * ((y & 2) ? x2 : 1);
  uint64 high = ((y & 4) ? x4 : 1) * ((y & 8) ? x8 : 1);
  return (T)(low * high);
}

template <class T>
T power_integer(T x, T y) {
  uint64 result = 1, square = (uint64)x;
  for (uint64 rest = (Unsigned<T>)y; rest != 0; rest >>= 1, square *= square)
    if (rest & 1) result *= square;
  return (T)result;
}

template <class T>
T gcd_integer(T x, T y) {
  Unsigned<T> a = magnitude(x), b = magnitude(y);
  while (b != 0) {
    Unsigned<T> rest = a % b;
    a = b;
    b = rest;
  }
  return (T)a;
}

template <class T>
T lcm_integer(T x, T y) {
  Unsigned<T> divisor = (Unsigned<T>)gcd_integer(x, y);
  return divisor == 0 ? (T)0 : (T)(magnitude(x) / divisor * magnitude(y));
}

// Shifts by the width or more, and (as NumPy) by a negative count, shift everything out.
template <class T>
bool shift_is_wide(T, T y) {
  return (Unsigned<T>)y >= 8 * sizeof(T);
}
template <class T>
T narrow_shift(T, T y) {
  return y & (T)(8 * sizeof(T) - 1);
}

template <class T>
uint8 count_ones(T x) {
  return (uint8)__builtin_popcountll((uint64)(Unsigned<T>)x);
}
inline uint8 count_ones(int x) { return (uint8)__builtin_popcount((uint32)x); }

// ---- conversions --------------------------------------------------------------------------------

// What x86's conversion instructions give, out of range too. LLVM defines only conversions that are
// in range, and its ways to the other widths differ between vectors and scalars; to int32 and int64
// it uses the instructions.
template <class To, class F>
To to_integer_as_x86(F x) {
  if constexpr (sizeof(To) < 4 || __is_same(To, int32)) {
    return (To)(int32)x;
  } else if constexpr (__is_same(To, uint64)) {
    bool high = x >= (F)0x1p63;
    int64 low = (int64)(high ? x - (F)0x1p63 : x);
    return (uint64)low ^ (high ? (uint64)1 << 63 : 0);
  } else {
    return (To)(int64)x;
  }
}

// ---- float division -----------------------------------------------------------------------------
// NumPy's npy_divmod, with its fmod. fmod is exact; one rounded division finds it while the
// quotient fits into the significand. Signs are looked up, as < and > would raise invalid on a NaN.

// In integers, where large numbers don't overflow: nothing else does of 1 // 1e300.
template <class F>
bool quotient_is_long(F x, F y) {
  using Int = typename Format<F>::Int;
  Int digits = (Int)bits_of(Format<F>::two_to_digits) - (Int)bits_of((F)1);
  Int distance = (Int)bits_of(absolute(x)) - (Int)bits_of(absolute(y));
  bool is_long = (distance >= digits) | magnitude_below(y, Format<F>::smallest_normal);
  return is_long & (y != 0) & is_finite(x);
}

template <class F>
F fmod_float(F x, F y) {
  F quotient = round_to_zero(x / y);
  F rest = fused_multiply_add(-quotient, pick(is_infinite(y), (F)1, y), x);  // not 0 * infinity
  // The division may have rounded up to an integer: then the rest has the wrong sign, and is exact
  // all the same.
  F size = absolute(y);
  F signed_rest = sign_bit(x) ? -rest : rest;
  F fixed = (sign_bit(signed_rest) & (signed_rest != 0)) ? signed_rest + size : signed_rest;
  // A NaN has the sign of the operand that it comes from, or the one that the machine makes.
  F undefined = quotient != quotient ? quotient : rest;
  F result = undefined != undefined ? undefined : copy_sign(fixed, x);
  return quotient == 0 ? x : result;
}

// What NumPy makes of fmod's result.
template <class F>
F remainder_of(F x, F y, F rest) {
  F moved = sign_bit(y) != sign_bit(rest) ? rest + y : rest;
  F result = rest == 0 ? copy_sign((F)0, y) : moved;
  return y == 0 ? rest : result;
}
// In place of 0: NumPy takes no remainder of a division by zero, nor the flag that goes with it.
template <class F>
F nonzero(F y) {
  return pick(y == 0, (F)1, y);
}
// x, and 0 where y is: of an infinite number the remainder is invalid.
template <class F>
F divided_by_nonzero(F x, F y) {
  return pick(y == 0, (F)0, x);
}
// y may be 0; what `rest` is the remainder of may not.
template <class F>
F floor_divide_of(F x, F y, F divisor, F rest) {
  F quotient = x / y;
  F exact = (divided_by_nonzero(x, y) - rest) / divisor;
  F down = ((rest != 0) & (sign_bit(y) != sign_bit(rest))) ? exact - 1 : exact;
  F floored = round_down(down);
  F nearest = sign_bit((F)0.5 - (down - floored)) ? floored + 1 : floored;
  F result = down == 0 ? copy_sign((F)0, quotient) : nearest;
  return y == 0 ? quotient : result;
}

template <class F>
F remainder_float(F x, F y) {
  return remainder_of(x, y, fmod_float(x, y));
}
template <class F>
F floor_divide_float(F x, F y) {
  F divisor = nonzero(y);
  return floor_divide_of(x, y, divisor, fmod_float(divided_by_nonzero(x, y), divisor));
}

inline double fmod_whole(double x, double y) { return __builtin_fmod(x, y); }
inline float fmod_whole(float x, float y) { return __builtin_fmodf(x, y); }
template <class F>
F remainder_whole(F x, F y) {
  return remainder_of(x, y, fmod_whole(x, y));
}
template <class F>
F floor_divide_whole(F x, F y) {
  F divisor = nonzero(y);
  return floor_divide_of(x, y, divisor, fmod_whole(divided_by_nonzero(x, y), divisor));
}

// ---- steps --------------------------------------------------------------------------------------

template <class F>
F heaviside_of(F x, F at_zero) {
  F step = sign_bit(x) ? (F)0 : (F)1;
  F value = x == 0 ? at_zero : step;
  return is_nan(x) ? x : value;
}

// ---- complex numbers ----------------------------------------------------------------------------
// Division by Smith's method, in NumPy's order of operations.

// small / large, parts of these sizes. NumPy's comparison of the sizes is invalid where one is a
// NaN; the compiler's own comparisons are quiet.
template <class F>
F divided_sizes(F size_re, F size_im, F small, F large) {
  bool unordered = is_nan(size_re) | is_nan(size_im);
  F flagged = invalid_if(unordered, size_re);
  return pick(unordered, flagged, small / large);
}

template <class F>
struct SmithDivision {
  F x_re, x_im, rest, scale, zero;
  bool by_real, by_zero;
  SmithDivision(F a_re, F a_im, F y_re, F y_im) {
    F size_re = absolute(y_re), size_im = absolute(y_im);
    by_real = size_re >= size_im;
    by_zero = (size_re == 0) & (size_im == 0);
    // What is not the result must raise no flag: 0 / 1 where y is 0, x / 1 where it is not. (A
    // choice by `by_zero` of 0 or 1 would not do: the compiler knows by_zero where x / 0 is used.)
    F size = by_real ? size_re : size_im;
    zero = round_up(magnitude_below(size, (F)1) ? size : (F)1);
    F large = nonzero(by_real ? y_re : y_im), small = by_real ? y_im : y_re;
    rest = divided_sizes(size_re, size_im, small, large);
    scale = (F)1 / (large + small * rest);
    x_re = pick(by_zero, (F)0, a_re);
    x_im = pick(by_zero, (F)0, a_im);
  }
};
template <class F>
F complex_divide_re(F x_re, F x_im, F y_re, F y_im) {
  SmithDivision<F> d(x_re, x_im, y_re, y_im);
  F left = d.by_real ? d.x_re : d.x_re * d.rest, right = d.by_real ? d.x_im * d.rest : d.x_im;
  F quotient = (left + right) * d.scale;
  return d.by_zero ? x_re / d.zero : quotient;
}
template <class F>
F complex_divide_im(F x_re, F x_im, F y_re, F y_im) {
  SmithDivision<F> d(x_re, x_im, y_re, y_im);
  F left = d.by_real ? d.x_im : d.x_im * d.rest, right = d.by_real ? d.x_re * d.rest : d.x_re;
  F quotient = (left - right) * d.scale;
  return d.by_zero ? x_im / d.zero : quotient;
}

template <class F>
F complex_reciprocal_re(F x_re, F x_im) {
  F size_re = absolute(x_re), size_im = absolute(x_im);
  bool by_real = size_im <= size_re;
  F large = by_real ? x_re : x_im, small = by_real ? x_im : x_re;
  F rest = divided_sizes(size_re, size_im, small, large), sum = large + small * rest;
  return (by_real ? (F)1 : rest) / sum;
}
template <class F>
F complex_reciprocal_im(F x_re, F x_im) {
  F size_re = absolute(x_re), size_im = absolute(x_im);
  bool by_real = size_im <= size_re;
  F large = by_real ? x_re : x_im, small = by_real ? x_im : x_re;
  F rest = divided_sizes(size_re, size_im, small, large), sum = large + small * rest;
  return (by_real ? -rest : (F)-1) / sum;
}

// NumPy's way, which is not that of hypot.
template <class F>
F complex_absolute(F x_re, F x_im) {
  F re = absolute(x_re), im = absolute(x_im);
  bool by_real = magnitude_below(im, re), infinite = is_infinite(re) | is_infinite(im);
  F large = by_real ? re : im, small = by_real ? im : re;
  // Not by 1, which is neutral: a compiler may divide by all of `large` then and choose afterwards,
  // and 0 / 0 raises a flag.
  F ratio = small / pick(infinite | (large == 0), (F)2, large);
  F size = square_root(fused_multiply_add(ratio, ratio, (F)1)) * large;
  return pick(infinite, infinity_of<F>(), size);
}

// Of two parts, the infinite one decides; where the size overflows, NumPy decides for the imaginary
// one.
template <class F>
F complex_sign_re(F x_re, F x_im) {
  F size = hypotenuse(x_re, x_im);
  F infinite_re = pick(is_infinite(x_im), nan_of<F>(), copy_sign((F)1, x_re));
  F infinite = pick(is_infinite(x_re), infinite_re, (F)0);
  F finite = size == 0 ? (F)0 : x_re / size;
  F result = is_infinite(size) ? infinite : finite;
  return is_nan(size) ? size : result;
}
template <class F>
F complex_sign_im(F x_re, F x_im) {
  F size = hypotenuse(x_re, x_im);
  F infinite_re = pick(is_infinite(x_im), nan_of<F>(), (F)0);
  F infinite = pick(is_infinite(x_re), infinite_re, copy_sign((F)1, x_im));
  F finite = size == 0 ? (F)0 : x_im / size;
  F result = is_infinite(size) ? infinite : finite;
  return is_nan(size) ? size : result;
}

template <class F>
bool complex_below(F x_re, F x_im, F y_re, F y_im) {
  return ((x_re < y_re) & !is_nan(x_im) & !is_nan(y_im)) | ((x_re == y_re) & (x_im < y_im));
}
template <class F>
bool complex_at_most(F x_re, F x_im, F y_re, F y_im) {
  return ((x_re < y_re) & !is_nan(x_im) & !is_nan(y_im)) | ((x_re == y_re) & (x_im <= y_im));
}
// Where NumPy compares a NaN that is invalid, and false; the compiler's own comparisons may be
// quiet.
template <class F>
bool invalid_order(F x_re, F x_im, F y_re, F y_im) {
  bool unordered = is_nan(x_re) | is_nan(y_re) | ((x_re == y_re) & (is_nan(x_im) | is_nan(y_im)));
  return is_nan(invalid_if(unordered, x_re));
}
template <class F>
bool complex_less(F x_re, F x_im, F y_re, F y_im) {
  return complex_below(x_re, x_im, y_re, y_im) & !invalid_order(x_re, x_im, y_re, y_im);
}
template <class F>
bool complex_less_equal(F x_re, F x_im, F y_re, F y_im) {
  return complex_at_most(x_re, x_im, y_re, y_im) & !invalid_order(x_re, x_im, y_re, y_im);
}
template <class F>
bool complex_maximum_takes_x(F x_re, F x_im, F y_re, F y_im) {
  return is_nan(x_re) | is_nan(x_im) | complex_at_most(y_re, y_im, x_re, x_im);
}
template <class F>
bool complex_minimum_takes_x(F x_re, F x_im, F y_re, F y_im) {
  return is_nan(x_re) | is_nan(x_im) | complex_at_most(x_re, x_im, y_re, y_im);
}
template <class F>
bool complex_fmax_takes_x(F x_re, F x_im, F y_re, F y_im) {
  return is_nan(y_re) | is_nan(y_im) | complex_at_most(y_re, y_im, x_re, x_im);
}
template <class F>
bool complex_fmin_takes_x(F x_re, F x_im, F y_re, F y_im) {
  return is_nan(y_re) | is_nan(y_im) | complex_at_most(x_re, x_im, y_re, y_im);
}

// ---- the format of floats -----------------------------------------------------------------------

template <class F>
F next_after(F x, F y) {
  using Bits = typename Format<F>::Bits;
  Bits bits = bits_of(x);
  bool nan = is_nan(x) | is_nan(y);
  F from = pick(nan, (F)0, x), towards = pick(nan, (F)0, y);
  Bits stepped = (from < towards) == !sign_bit(x) ? bits + 1 : bits - 1;
  F from_zero = copy_sign(from_bits<F>((Bits)1), y);
  F next = x == 0 ? from_zero : from_bits<F>(stepped);
  F finite = pick(is_infinite(next), copy_sign(overflow_if(is_infinite(next), x), x), next);
  F result = x == y ? y : finite;
  return pick(nan, x + y, result);
}

// Distance to the next number away from zero, with the sign of x.
template <class F>
F spacing_of(F x) {
  using Bits = typename Format<F>::Bits;
  F number = pick(is_finite(x), x, (F)1);
  F next = from_bits<F>((Bits)(bits_of(number) + 1));
  bool last = is_infinite(next);
  F distance = pick(last, copy_sign(overflow_if(last, number), number), next - number);
  F result = x == 0 ? from_bits<F>((Bits)1) : distance;
  return pick(is_finite(x), result, pick(is_nan(x), x, nan_of<F>()));
}

inline half next_after_half(half x, half y) {
  uint16 bits = bits_of(x), other = bits_of(y);
  bool zero = (bits & 0x7fff) == 0, nan = is_nan((float)x) | is_nan((float)y);
  float from = pick(nan, 0.0f, (float)x), towards = pick(nan, 0.0f, (float)y);
  bool grows = (from < towards) == !(bits & 0x8000);
  uint16 stepped = (uint16)(grows ? bits + 1 : bits - 1);
  uint16 from_zero = (uint16)((other & 0x8000) | 1);
  uint16 next = zero ? from_zero : stepped;
  uint16 result = (float)x == (float)y ? bits : next;
  bool last = ((result & 0x7fff) == 0x7c00) & is_finite((float)x);
  float value = (float)half_of_bits(nan ? (uint16)0x7e00 : result);
  return (half)pick(last & !nan, copy_sign(overflow_if(last & !nan, (float)x), value), value);
}

// NumPy's npy_half_spacing: the distance to the next number up, positive.
inline half spacing_of_half(half x) {
  uint32 bits = bits_of(x), exponent = bits & 0x7c00;
  uint32 lower = (bits & 0x8000) && (bits & 0x3ff) == 0 ? 0x400 : 0;
  uint32 normal = exponent - 0x2800 - lower;
  uint32 shift = (exponent >> 10) - 1 - (lower >> 10);
  uint32 denormal = exponent > 0x400 ? 1u << (shift & 15) : 1u;
  uint32 result = exponent > 0x2800 + lower ? normal : denormal;
  // NumPy raises overflow for the largest number, invalid for infinity and NaN.
  bool last = bits == 0x7bff, invalid = exponent == 0x7c00;
  float value = (float)half_of_bits(result);
  float flagged = pick(last, overflow_if(last, (float)x), value);
  return (half)pick(invalid, invalid_if(invalid, (float)x), flagged);
}

// x = mantissa * 2^exponent, mantissa in [0.5, 1); zero, infinity and NaN are their own mantissa.
template <class F>
int32 exponent_of(F x) {
  using Format = Format<F>;
  bool denormal = magnitude_below(x, Format::smallest_normal);
  F scaled = denormal ? x * Format::two_to_digits : x;
  int32 biased = (int32)((bits_of(scaled) >> Format::stored_digits) & Format::exponent_mask);
  int32 exponent = biased - Format::bias + 1 - (denormal ? Format::digits : 0);
  return ((x == 0) | !is_finite(x)) ? 0 : exponent;
}
template <class F>
F mantissa_of(F x) {
  using Format = Format<F>;
  using Bits = typename Format::Bits;
  F scaled = pick(magnitude_below(x, Format::smallest_normal), x * Format::two_to_digits, x);
  Bits kept = bits_of(scaled) & ~((Bits)Format::exponent_mask << Format::stored_digits);
  F mantissa = from_bits<F>(kept | ((Bits)(Format::bias - 1) << Format::stored_digits));
  return ((x == 0) | !is_finite(x)) ? x : mantissa;
}

// x * 2^exponent, rounded once: a step down leaves so much to go that what it rounds ends as 0 (as
// musl's scalbn).
template <class F>
F load_exponent(F x, int64 exponent) {
  using Format = Format<F>;
  constexpr int64 most = Format::bias, least = 1 - most, down = least + Format::digits;
  F scale[2];
#pragma clang loop unroll(full)
  for (F& step : scale) {
    bool above = exponent > most, below = exponent < least;
    step = pick(above, power_of_two<F>(most), pick(below, power_of_two<F>(down), (F)1));
    exponent -= pick(above, most, pick(below, down, (int64)0));
  }
  exponent = pick(exponent > most, most, pick(exponent < least, least, exponent));
  return x * scale[0] * scale[1] * power_of_two<F>((int32)exponent);
}

}  // namespace
}  // namespace frit::formula
