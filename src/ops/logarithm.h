// logarithm.h: log, and what is made of it: log2, log10, log1p, inverse hyperbolics, logaddexp.
#pragma once

#include "ops/exponential.h"
#include "ops/machine.h"

namespace frit::formula {
namespace {  // see machine.h

template <class F>
struct Logarithm;
template <>
struct Logarithm<double> {
  static constexpr double ln2 = 0x1.62e42fefa39efp-1, log2_e = 0x1.71547652b82fep0;
  static constexpr double large = 0x1p28;
  // (log(1 + r) / r - 1) / r in r, |r| <= 0.0401
  static constexpr double rest[] = {-0.5,
                                    0x1.555555555526cp-2,
                                    -0x1.ffffffffff108p-3,
                                    0x1.999999a24de64p-3,
                                    -0x1.555555649acacp-3,
                                    0x1.249208d5b94f7p-3,
                                    -0x1.ffff5418586f8p-4,
                                    0x1.c891ba32b82e9p-4,
                                    -0x1.9b2e7c90d528cp-4};
};
template <>
struct Logarithm<float> {
  static constexpr float ln2 = 0x1.62e43p-1f, log2_e = 0x1.715476p0f;
  static constexpr float large = 0x1p13f;
};

// A base of logarithms: of e its logarithm is scale_high + scale_low, of 2 unit_high + unit_low,
// where k * unit_high is exact, and of 16 / n high[n % 16] + low[n % 16], 12 <= n <= 23, where
// k * unit_high + high[n % 16] is exact.
template <class F>
struct Natural;
template <>
struct Natural<double> {
  static constexpr double scale_high = 1, scale_low = 0;
  static constexpr double unit_high = 0x1.62e42fefa38p-1, unit_low = 0x1.ef35793c7673p-45;
  static constexpr double high[16] = {0,
                                      -0x1.f0a30c0118p-5,
                                      -0x1.e27076e2bp-4,
                                      -0x1.5ff3070a79p-3,
                                      -0x1.c8ff7c79aap-3,
                                      -0x1.1675cababa8p-2,
                                      -0x1.4618bc21c6p-2,
                                      -0x1.739d7f6bbdp-2,
                                      -0x1.9f323ecbf98p-2,
                                      0,
                                      0,
                                      0,
                                      0x1.269621134d8p-2,
                                      0x1.a93ed3c8aep-3,
                                      0x1.1178e8227ep-3,
                                      0x1.08598b59e4p-4};
  static constexpr double low[16] = {0,
                                     0x1.d599e83368e91p-45,
                                     0x1.a342c2af0003cp-45,
                                     -0x1.e9e439f105039p-46,
                                     0x1.7794f689f8434p-45,
                                     0x1.f1fc63382a8fp-46,
                                     0x1.3d82f484c84ccp-46,
                                     -0x1.a7389314feb5p-52,
                                     -0x1.2fcada35d9bdp-48,
                                     0,
                                     0,
                                     0,
                                     0x1.c93c1df5bb3b6p-45,
                                     -0x1.8724350562169p-45,
                                     0x1.1ef78ce2d07f2p-45,
                                     -0x1.7e5dd7009902cp-46};
};
template <class F>
struct Binary;
template <>
struct Binary<double> {
  static constexpr double scale_high = 0x1.71547652b82fep0, scale_low = 0x1.777d0ffda0d24p-56;
  static constexpr double unit_high = 1, unit_low = 0;
  static constexpr double high[16] = {0,
                                      -0x1.663f6fac9p-4,
                                      -0x1.5c01a39fbep-3,
                                      -0x1.fbc16b9026p-3,
                                      -0x1.49a784bcd2p-2,
                                      -0x1.91bba891f1p-2,
                                      -0x1.d6753e032fp-2,
                                      -0x1.0c10500d638p-1,
                                      -0x1.2b803473f78p-1,
                                      0,
                                      0,
                                      0,
                                      0x1.a8ff971811p-2,
                                      0x1.32bfee370fp-2,
                                      0x1.8a8980abfcp-3,
                                      0x1.7d60496cfcp-4};
  static constexpr double low[16] = {0,
                                     -0x1.3167ccc538261p-44,
                                     0x1.2f0c0bfe9dbecp-44,
                                     -0x1.0144751b3314fp-44,
                                     0x1.1d406db502403p-44,
                                     -0x1.c22d2cad415aep-44,
                                     0x1.7c407050799bfp-44,
                                     -0x1.532c412ba94dbp-44,
                                     -0x1.6879fa00b120ap-44,
                                     0,
                                     0,
                                     0,
                                     -0x1.6879fa00b120ap-44,
                                     -0x1.979a5db68721dp-46,
                                     -0x1.66cccab240e9p-46,
                                     -0x1.2ce6312ebb81dp-46};
};
template <class F>
struct Decimal;
template <>
struct Decimal<double> {
  static constexpr double scale_high = 0x1.bcb7b1526e50ep-2, scale_low = 0x1.95355baaafad3p-57;
  static constexpr double unit_high = 0x1.34413509f8p-2, unit_low = -0x1.80433b83b532ap-44;
  static constexpr double high[16] = {0,
                                      -0x1.af5f92b01p-6,
                                      -0x1.a30a9d60ap-5,
                                      -0x1.31b3055c48p-4,
                                      -0x1.8cf1838864p-4,
                                      -0x1.e3bc1ab0e2p-4,
                                      -0x1.1b3e71ec95p-3,
                                      -0x1.42c7e7fe4p-3,
                                      -0x1.68a288b60bp-3,
                                      0,
                                      0,
                                      0,
                                      0x1.ffbfc2bbc8p-4,
                                      0x1.715d0ce368p-4,
                                      0x1.db11ed766cp-5,
                                      0x1.cb38fccd88p-6};
  static constexpr double low[16] = {0,
                                     0x1.9f05921f59258p-46,
                                     0x1.0163d7e67d282p-45,
                                     0x1.dcffc97be8c9cp-45,
                                     -0x1.019365163f2fcp-45,
                                     0x1.8070aa756b03ep-46,
                                     0x1.0a888999b6bep-48,
                                     0x1.ff1d22abd8abep-46,
                                     -0x1.ff0ad8890c395p-45,
                                     0,
                                     0,
                                     0,
                                     -0x1.ff229f20ed3d2p-46,
                                     -0x1.41149840eaa65p-46,
                                     -0x1.40bcd23c3e44cp-45,
                                     0x1.fedb4b594a31bp-45};
};
// rest: (log(1 + f) / f - scale) / f in f, -0.3125 <= f < 0.375
template <>
struct Natural<float> {
  static constexpr float scale = 1;
  static constexpr float unit_high = 0x1.62e4p-1f, unit_low = 0x1.7f7d1cp-20f;
  static constexpr float rest[] = {-0x1.fffffcp-2f, 0x1.55551p-2f,  -0x1.0001fep-2f,
                                   0x1.99c83p-3f,   -0x1.54c6cp-3f, 0x1.1f961cp-3f,
                                   -0x1.05cd06p-3f, 0x1.19815p-3f,  -0x1.9c94p-4f};
};
template <>
struct Binary<float> {
  static constexpr float scale = 0x1.715476p0f;
  static constexpr float unit_high = 1, unit_low = 0;
  static constexpr float rest[] = {-0x1.715474p-1f, 0x1.ec703ap-2f,  -0x1.715756p-2f,
                                   0x1.27986p-2f,   -0x1.eba2eap-3f, 0x1.9ee642p-3f,
                                   -0x1.79b2e4p-3f, 0x1.962044p-3f,  -0x1.299cbap-3f};
};
template <>
struct Decimal<float> {
  static constexpr float scale = 0x1.bcb7b2p-2f;
  static constexpr float unit_high = 0x1.344136p-2f, unit_low = 0;
  static constexpr float rest[] = {-0x1.bcb7aep-3f, 0x1.287a3ap-3f,  -0x1.bcbb28p-4f,
                                   0x1.63ee9ep-4f,  -0x1.27fe9ep-4f, 0x1.f396b4p-5f,
                                   -0x1.c6cb7p-5f,  0x1.e90644p-5f,  -0x1.665c5ep-5f};
};

// x = 2^k * z, 0.6875 <= z < 1.375, for x positive, finite and normal.
template <class F>
struct LogarithmParts {
  using Bits = typename Format<F>::Bits;
  static constexpr int digits = Format<F>::stored_digits;
  static constexpr Bits one = (Bits)Format<F>::bias << digits;
  static constexpr Bits lowest = one - ((Bits)5 << (digits - 3));  // of 0.6875
  // What k counts: in float it is in the bits' own place.
  static constexpr F unit = digits == 23 ? (F)0x1p-23 : (F)1;
  F k, z;
  explicit LogarithmParts(F x) {
    Bits above = bits_of(x) - lowest;
    if constexpr (__is_same(F, float)) {
      Bits exponent = above & ~(((Bits)1 << digits) - 1);
      z = from_bits<F>(bits_of(x) - exponent);
      k = (float)(int32)exponent;
    } else {
      z = from_bits<F>((above & (((Bits)1 << digits) - 1)) + lowest);
      // Not every machine converts 64-bit integers. One stands in the low bits of 2^digits, and of
      // what follows it.
      constexpr F integer = (F)((Bits)1 << digits);
      k = from_bits<F>(((above + one) >> digits) | bits_of(integer)) - (integer + Format<F>::bias);
    }
  }
};

// z = 16 / n * (1 + r), |r| <= 0.0401, and r is exact: it is a multiple of 2^-57 below 2^-4, of
// 2^-56 for z above 1.
struct NearQuotient {
  double inverse, r;  // n / 16
  uint64 n;           // its low four bits
  explicit NearQuotient(double z) {
    constexpr double rounder = 0x1.8p48;  // to sixteenths
    double sum =
        fused_multiply_add(z, fused_multiply_add(z, 0.927607, -2.92076171875), 3 + rounder);
    n = bits_of(sum);
    inverse = sum - rounder;
    r = fused_multiply_add(z, inverse, -1.0);
  }
};

// f * f, but 0 where that is too little to be seen beside f: of denormal numbers processors take a
// hundred cycles each, and log(1 + exp(x)) is full of them.
inline double square_beside(double f) { return f * pick(magnitude_below(f, 0x1p-200), 0.0, f); }
inline float square_beside(float f) { return f * pick(magnitude_below(f, 0x1p-40f), 0.0f, f); }

// The logarithm of 2^k * 16 / n * (1 + r).
template <class Base>
double logarithm_near(double k, NearQuotient near, double square) {
  double r = near.r;
  double whole = fused_multiply_add(k, Base::unit_high, look_up(Base::high, near.n));
  double low = look_up(Base::low, near.n);
  if constexpr (Base::unit_low != 0) low = fused_multiply_add(k, Base::unit_low, low);
  double rest = polynomial(Logarithm<double>::rest, r, square);
  double line = r;
  if constexpr (Base::scale_high == 1) {
    low = fused_multiply_add(square, rest, low);
  } else {
    line = r * Base::scale_high;
    double line_low = fused_multiply_add(r, Base::scale_high, -line);
    low = fused_multiply_add(r, Base::scale_low, low + line_low);
    low = fused_multiply_add(square * Base::scale_high, rest, low);
  }
  double sum = whole + line;
  return sum + (((whole - sum) + line) + low);
}
// The logarithm of 2^k * (1 + f), k by its unit.
template <class Base>
float logarithm_near(float k, float f, float square) {
  float low = square * polynomial(Base::rest, f, square);
  constexpr float unit = LogarithmParts<float>::unit;
  if constexpr (Base::unit_low != 0) low = fused_multiply_add(k, unit * Base::unit_low, low);
  return fused_multiply_add(k, unit * Base::unit_high, fused_multiply_add(f, Base::scale, low));
}

template <class Base>
double logarithm_of_parts(LogarithmParts<double> parts) {
  NearQuotient near(parts.z);
  return logarithm_near<Base>(parts.k, near, near.r * near.r);
}
template <class Base>
float logarithm_of_parts(LogarithmParts<float> parts) {
  float f = parts.z - 1;
  return logarithm_near<Base>(parts.k, f, f * f);
}

// Positive, finite and normal.
template <class F>
bool logarithm_is_ordinary(F x) {
  using Bits = typename Format<F>::Bits;
  constexpr Bits first = (Bits)1 << Format<F>::stored_digits;
  constexpr Bits infinity = (Bits)Format<F>::exponent_mask << Format<F>::stored_digits;
  return (Bits)(bits_of(x) - first) < infinity - first;
}
template <template <class> class Base, class F>
F logarithm_of_ordinary(F x) {
  return logarithm_of_parts<Base<F>>(LogarithmParts<F>(x));
}

// The logarithm `value` where x > 0 is finite; else what any logarithm is: infinite at 0 and
// infinity, NaN below 0. The last sum raises the flags: it overflows at 0, and is infinity minus
// infinity below.
template <class F>
F with_limits_of_logarithm(F x, F value) {
  using Int = typename Format<F>::Int;
  Int bits = (Int)bits_of(x);
  bool ordinary = (bits > 0) & (bits < (Int)bits_of(infinity_of<F>()));
  bool zero = x == 0;
  // Not a constant, see overflow_if.
  F huge = from_bits<F>((typename Format<F>::Bits)(
      bits_of(absolute(x)) | pick(zero, bits_of(Format<F>::huge), (typename Format<F>::Bits)0)));
  F left = pick(zero, -huge, copy_sign(infinity_of<F>(), x));
  F right = pick(zero, -huge, absolute(x) + infinity_of<F>());
  return pick(ordinary, value, left) + pick(ordinary, (F)0, right);
}

template <template <class> class Base, class F>
F logarithm(F x) {
  using Format = Format<F>;
  bool denormal =
      (typename Format::Int)bits_of(x) < (typename Format::Int)bits_of(Format::smallest_normal);
  LogarithmParts<F> parts(pick(denormal, x * Format::two_to_digits, x));
  parts.k = pick(denormal, parts.k - Format::digits / parts.unit, parts.k);
  return with_limits_of_logarithm(x, logarithm_of_parts<Base<F>>(parts));
}

// (1 + x) / 2^k - 1, rounded once.
template <class F>
F fraction_of_log1p(F x, F k) {
  using Bits = typename Format<F>::Bits;
  // 2^(2 - k)
  F rounder = fused_multiply_add(k, -LogarithmParts<F>::unit, Exponential<F>::rounder + 2);
  F power = from_bits<F>((Bits)((bits_of(rounder) << Format<F>::stored_digits) + bits_of((F)1)));
  return (F)0.25 * fused_multiply_add(x, power, power - 4);
}

// log(1 + x) where 1 + x is ordinary, but for the sign of 0.
inline double log1p_inside(double x) {
  LogarithmParts<double> parts(1 + x);
  NearQuotient near(parts.z);
  double f = fraction_of_log1p(x, parts.k);
  near.r = fused_multiply_add(f, near.inverse, near.inverse - 1);
  return logarithm_near<Natural<double>>(parts.k, near, square_beside(near.r));
}
inline float log1p_inside(float x) {
  float k = LogarithmParts<float>(1 + x).k;
  float f = fraction_of_log1p(x, k);
  return logarithm_near<Natural<float>>(k, f, square_beside(f));
}
template <class F>
bool log1p_is_ordinary(F x) {
  return logarithm_is_ordinary((F)1 + x);
}
template <class F>
F log1p_of_ordinary(F x) {
  return copy_sign(log1p_inside(x), x);  // of 0 too
}

template <class F>
F log1p_of(F x) {
  return copy_sign(with_limits_of_logarithm((F)1 + x, log1p_inside(x)), x);
}

// ---- inverse hyperbolic functions ---------------------------------------------------------------

template <class F>
F arcsinh_of_ordinary(F x) {
  using C = Logarithm<F>;
  F size = absolute(x);
  bool large = size > C::large;
  F inside = pick(large, (F)1, size);
  F square = inside * inside;
  F argument = inside + square / ((F)1 + square_root((F)1 + square));
  F result = log1p_inside(pick(large, size - 1, argument)) + pick(large, C::ln2, (F)0);
  return copy_sign(result, x);
}
template <class F>
F arcsinh_of(F x) {
  return pick(is_finite(x), arcsinh_of_ordinary(pick(is_finite(x), x, (F)0)), x);
}

// At least 1, and finite.
template <class F>
bool arccosh_is_ordinary(F x) {
  using Bits = typename Format<F>::Bits;
  return (Bits)(bits_of(x) - bits_of((F)1)) < bits_of(infinity_of<F>()) - bits_of((F)1);
}
template <class F>
F arccosh_of_ordinary(F x) {
  using C = Logarithm<F>;
  bool large = x > C::large;
  F t = pick(large, (F)0, x - 1);
  F argument = t + square_root(t * (t + (F)2));
  return log1p_inside(pick(large, x - 1, argument)) + pick(large, C::ln2, (F)0);
}
template <class F>
F arccosh_of(F x) {
  bool ordinary = arccosh_is_ordinary(x),
       below = !is_nan(x) & (sign_bit(x) | magnitude_below(x, (F)1));
  F value = arccosh_of_ordinary(pick(ordinary, x, (F)1));
  return pick(ordinary, value, pick(below, invalid_if(below, x), x));
}

template <class F>
F arctanh_of_ordinary(F x) {
  F size = absolute(x);
  return copy_sign((F)0.5 * log1p_inside((size + size) / ((F)1 - size)), x);
}
template <class F>
F arctanh_of(F x) {
  F size = absolute(x), quotient = (size + size) / ((F)1 - size);
  bool pole = quotient == infinity_of<F>();  // of which log1p raises another flag
  F result = pick(pole, quotient, (F)0.5 * log1p_of(pick(pole, (F)1, quotient)));
  return pick(is_nan(x) | (x == 0), x, copy_sign(result, x));
}

// ---- sums of logarithms -------------------------------------------------------------------------

// x - y, but x of equal infinities: the exponent of y is taken away.
template <class F>
F difference_of(F x, F y) {
  using Bits = typename Format<F>::Bits;
  bool equal_infinities = (x == y) & is_infinite(x);
  Bits bits = bits_of(y) ^ pick(equal_infinities, bits_of(infinity_of<F>()), (Bits)0);
  return x - from_bits<F>(bits);
}

template <class F>
F log_add_exp(F x, F y) {
  F difference = difference_of(x, y);
  F larger = pick(sign_bit(difference), y, x);
  F sum = larger + log1p_of(exponential(-absolute(difference)));
  // NumPy raises invalid for NaN.
  return pick(is_nan(difference), invalid_if(is_nan(difference), x), sum);
}

template <class F>
F log_add_exp2(F x, F y) {
  F difference = difference_of(x, y);
  F larger = pick(sign_bit(difference), y, x);
  F sum = larger + log1p_of(exponential2(-absolute(difference))) * Logarithm<F>::log2_e;
  return pick(is_nan(difference), invalid_if(is_nan(difference), x), sum);
}

}  // namespace
}  // namespace frit::formula
