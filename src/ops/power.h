// power.h: x^y, cube roots and hypotenuses.
#pragma once

#include "ops/exponential.h"
#include "ops/logarithm.h"
#include "ops/machine.h"

namespace frit::formula {
namespace {  // see machine.h

inline float hypotenuse(float x, float y) {
  double wide_x = x, wide_y = y;
  double root = square_root(wide_x * wide_x + wide_y * wide_y);
  return pick(is_infinite(x) | is_infinite(y), infinity_of<float>(), (float)root);
}

// Scaled by a power of two, so that squares neither overflow nor vanish; then one step of Newton's
// method on the exact error of the square root (Borges, An Improved Algorithm for hypot, 2019).
inline double hypotenuse(double x, double y) {
  double a = absolute(x), b = absolute(y);
  double large = pick(a > b, a, b), small = pick(a > b, b, a);
  bool huge = large > 0x1p500, tiny = large < 0x1p-450;
  double down = pick(huge, 0x1p-600, pick(tiny, 0x1p600, 1.0));
  double up = pick(huge, 0x1p600, pick(tiny, 0x1p-600, 1.0));
  bool infinite = is_infinite(x) | is_infinite(y);
  double p = pick(infinite, 1.0, large * down), q = pick(infinite, 0.0, small * down);
  double p_square = p * p;
  double root = square_root(fused_multiply_add(q, q, p_square));
  double root_square = root * root;
  double error =
      fused_multiply_add(-q, q, root_square - p_square) +
      (fused_multiply_add(root, root, -root_square) - fused_multiply_add(p, p, -p_square));
  // 2^-1000 is lost in every sum but that of zeros, for which it keeps 0 / 0 from raising a flag (a
  // select would not: an optimiser may divide on both of its sides).
  double corrected = (root - error / (root + root + 0x1p-1000)) * up;
  return pick(infinite, infinity_of<double>(), corrected);
}

// ---- cube roots ---------------------------------------------------------------------------------

// |x| = v * 2^(3 * third), 1/2 <= v < 4, for x normal; m^(-1/3) * scale is v^(-1/3).
template <class F>
struct CubeRootParts {
  F m, v, scale, third_rounder;
  explicit CubeRootParts(F size) {
    using Bits = typename Format<F>::Bits;
    constexpr int digits = Format<F>::stored_digits;
    constexpr F rounder = Exponential<F>::rounder, integer = (F)((Bits)1 << digits);
    Bits bits = bits_of(size);
    m = from_bits<F>((bits & (((Bits)1 << digits) - 1)) | bits_of((F)1));
    F exponent = from_bits<F>((bits >> digits) | bits_of(integer)) - (integer + Format<F>::bias);
    third_rounder = fused_multiply_add(exponent, (F)(1.0 / 3), rounder);
    F left = fused_multiply_add((F)-3, third_rounder - rounder, exponent);
    bool none = left == 0, more = left > 0;
    scale = pick(none, (F)1, pick(more, (F)0x1.965fea53d6e3dp-1, (F)0x1.428a2f98d728bp0));
    v = m * pick(none, (F)1, pick(more, (F)2, (F)0.5));
  }
};

// The reciprocal cube root by polynomial, improved by one step; from its square the root, made good
// by one step on the exact error.
inline double cube_root(CubeRootParts<double> parts) {
  // m^(-1/3) in m, 1 <= m < 2
  static constexpr double start[] = {0x1.c7f365bd286f4p0,  -0x1.90e741fc8214cp0,
                                     0x1.3e68b9b41b9f5p0,  -0x1.321c5eb425b51p-1,
                                     0x1.3fa269bb2cf75p-3, -0x1.16d6f13b19c36p-6};
  double m = parts.m, v = parts.v;
  double w = polynomial(start, m, m * m) * parts.scale;
  double error = fused_multiply_add(-v * w, w * w, 1.0);
  w = fused_multiply_add(w * error, 1.0 / 3, w);
  double square = w * w, y = v * square;
  double y_square = y * y;
  double y_square_low = fused_multiply_add(y, y, -y_square);
  double rest = fused_multiply_add(-y_square_low, y, fused_multiply_add(-y_square, y, v));
  return fused_multiply_add(rest, square * (1.0 / 3), y);
}
// A polynomial good to 14 bits, and one step.
inline float cube_root(CubeRootParts<float> parts) {
  static constexpr float start[] = {0x1.ab8594p0f, -0x1.2c41eep0f, 0x1.64166ap-1f, -0x1.c5189p-3f,
                                    0x1.d46fbcp-6f};
  float m = parts.m, v = parts.v;
  float w = polynomial(start, m, m * m) * parts.scale;
  float square = w * w, y = v * square;
  float rest = fused_multiply_add(-y * y, y, v);
  return fused_multiply_add(rest, square * (1.0f / 3), y);
}

// Normal numbers.
template <class F>
bool cbrt_is_ordinary(F x) {
  return logarithm_is_ordinary(absolute(x));
}
template <class F>
F cbrt_of_ordinary(F x) {
  CubeRootParts<F> parts(absolute(x));
  return copy_sign(cube_root(parts) * power_of_rounded(parts.third_rounder), x);
}
// Denormal numbers by a power of 8 above them.
template <class F>
F cbrt_of(F x) {
  constexpr F up = Format<F>::digits == 24 ? (F)0x1p24 : (F)0x1p54;
  constexpr F down = Format<F>::digits == 24 ? (F)0x1p-8 : (F)0x1p-18;
  bool denormal = magnitude_below(x, Format<F>::smallest_normal);
  F root = cbrt_of_ordinary(x * pick(denormal, up, (F)1)) * pick(denormal, down, (F)1);
  return pick((x == 0) | !is_finite(x), x, root);
}

// ---- powers -------------------------------------------------------------------------------------

// ((log(1 + r) / r - 1) / r + 1/2) / r in r, |r| <= 0.0401
struct Powers {
  static constexpr double rest[] = {
      0x1.5555555555556p-2, -0x1.0000000000001p-2, 0x1.99999999980b7p-3, -0x1.5555555552106p-3,
      0x1.249249361db71p-3, -0x1.0000001bdc27dp-3, 0x1.c71bc5ac2e6cdp-4, -0x1.9998bd6308f0ap-4,
      0x1.75db6b3d798dap-4, -0x1.56f02b1b0ab0fp-4};
};

// A sum of two doubles.
struct Pair {
  double high, low;
};

// log2(2^k * z) to about 2^-67 of itself; the low part is below 2^-11 of the high one.
inline Pair precise_log2(LogarithmParts<double> parts) {
  using Base = Binary<double>;
  NearQuotient near(parts.z);
  double r = near.r, square = r * r, half = -0.5 * square;
  double half_low = fused_multiply_add(-0.5 * r, r, -half);
  double natural = r + half;
  double cubic = fused_multiply_add(r * square, polynomial(Powers::rest, r, square), half_low);
  double natural_low = ((r - natural) + half) + cubic;
  double e = natural * Base::scale_high;
  double e_low = fused_multiply_add(natural, Base::scale_high, -e);
  e_low = fused_multiply_add(natural, Base::scale_low, e_low);
  e_low = fused_multiply_add(natural_low, Base::scale_high, e_low);
  double whole = parts.k + look_up(Base::high, near.n);
  double high = whole + e;
  return {high, ((whole - high) + e) + (e_low + look_up(Base::low, near.n))};
}

inline Pair product_of(double y, Pair log) {
  double product = y * log.high;
  double low = fused_multiply_add(y, log.low, fused_multiply_add(y, log.high, -product));
  double sum = product + low;
  return {sum, (product - sum) + low};
}

// 2 to a sum whose low part is small.
inline double power_of_two_to(Pair sum) { return exponential2_of(sum.high, sum.low); }

// What powers are beside |x|^y for ordinary numbers, as C and NumPy have it.
template <class F>
F with_limits_of_power(F x, F y, F value) {
  F size = absolute(x), half_y = (F)0.5 * y;
  bool whole = round_to_even(y) == y;
  bool odd = whole & (round_to_even(half_y) != half_y) & (absolute(y) < Format<F>::two_to_digits);
  bool one = size == 1, zero = x == 0;
  bool nan = is_nan(x) | is_nan(y);

  // 0, infinity and infinite exponents give 0 or infinity; 0 to a negative power must raise a flag.
  bool limit = zero | is_infinite(x) | is_infinite(y);
  using Int = typename Format<F>::Int;
  bool above_one = (Int)bits_of(size) > (Int)bits_of((F)1);
  bool grows = above_one != sign_bit(y);
  bool pole = zero & grows & is_finite(y);
  F limit_value = pick(grows, pick(pole, overflow_if(pole, x), infinity_of<F>()), (F)0);
  F magnitude = pick(one, (F)1, pick(limit, limit_value, value));
  // A negative number to a fraction.
  bool invalid = sign_bit(x) & !zero & !is_infinite(x) & !whole & !nan;
  F number = pick(invalid, invalid_if(invalid, x), magnitude);
  F with_sign = pick(odd & sign_bit(x), -number, number);
  F result = pick(nan, x + y, with_sign);
  return pick((x == 1) | (y == 0), (F)1, result);
}

// x is positive, finite and normal; the product with its logarithm is below 2^31.
inline bool power_is_ordinary(double x, double y) {
  return logarithm_is_ordinary(x) & magnitude_below(y, 0x1p20);
}
inline double power_of_ordinary(double x, double y) {
  return power_of_two_to(product_of(y, precise_log2(LogarithmParts<double>(x))));
}

inline double power_of(double x, double y) {
  bool ordinary = is_finite(x) & is_finite(y) & (x != 0);
  bool denormal = magnitude_below(x, Format<double>::smallest_normal);
  double size = absolute(x) * pick(denormal, 0x1p53, 1.0);
  LogarithmParts<double> parts(pick(ordinary, size, 1.0));
  parts.k -= pick(denormal, 53.0, 0.0);
  // Past these nothing but 1 to the power has a finite logarithm that is not 0.
  double exponent = clamped(pick(ordinary, y, 0.0), -0x1p63, 0x1p63);
  Pair product = product_of(exponent, precise_log2(parts));
  product.low = pick(absolute(product.high) > 1100, 0.0, product.low);
  return with_limits_of_power(x, y, power_of_two_to(product));
}

struct FloatPowers {
  // log2(1 + r) / r in r, |r| <= 0.0401
  static constexpr double log2[] = {0x1.71547652d5b46p0,  -0x1.71547653ee249p-1,
                                    0x1.ec70899b0058dp-2, -0x1.715451132dd7cp-2,
                                    0x1.27f948584041ep-2, -0x1.eda13caab157ap-3};
  // (2^r - 1) / r, |r| <= 1/32
  static constexpr double exp2[] = {0x1.62e42feb349b2p-1, 0x1.ebfff1c9e9282p-3,
                                    0x1.c6b4644339b37p-5};
  // 2^(n / 16) less the bits that n, moved to behind the exponent, adds
  static constexpr double sixteenths[] = {0x1p0,
                                          0x1.fb5586cf9890fp-1,
                                          0x1.f72b83c7d517bp-1,
                                          0x1.f387a6e756238p-1,
                                          0x1.f06fe0a31b715p-1,
                                          0x1.edea64c123422p-1,
                                          0x1.ebfdad5362a27p-1,
                                          0x1.eab07dd485429p-1,
                                          0x1.ea09e667f3bcdp-1,
                                          0x1.ea11473eb0187p-1,
                                          0x1.eace5422aa0dbp-1,
                                          0x1.ec49182a3f09p-1,
                                          0x1.ee89f995ad3adp-1,
                                          0x1.f199bdd85529cp-1,
                                          0x1.f5818dcfba487p-1,
                                          0x1.fa4afa2a490dap-1};
};

// In double, to some 2^-28.
inline float power_of_two_to(float y, LogarithmParts<float> parts) {
  using C = FloatPowers;
  NearQuotient near(parts.z);
  double r = near.r;
  double whole = (double)parts.k + look_up(Binary<double>::high, near.n);
  double log = fused_multiply_add(r, polynomial(C::log2, r, r * r), whole);
  double product = clamped(y * log, -200.0, 200.0);
  constexpr double rounder = 0x1.8p48;  // to sixteenths
  double n_rounder = product + rounder;
  double rest = product - (n_rounder - rounder);
  uint64 n = bits_of(n_rounder);
  double power = from_bits<double>(bits_of(look_up(C::sixteenths, n)) + (n << 48));
  return (float)fused_multiply_add(power * rest, polynomial(C::exp2, rest), power);
}

inline bool power_is_ordinary(float x, float y) { return logarithm_is_ordinary(x) & is_finite(y); }
inline float power_of_ordinary(float x, float y) {
  return power_of_two_to(y, LogarithmParts<float>(x));
}
inline float power_of(float x, float y) {
  bool ordinary = is_finite(x) & is_finite(y) & (x != 0);
  bool denormal = magnitude_below(x, Format<float>::smallest_normal);
  float size = absolute(x) * pick(denormal, 0x1p24f, 1.0f);
  LogarithmParts<float> parts(pick(ordinary, size, 1.0f));
  parts.k -= pick(denormal, 24.0f, 0.0f);
  return with_limits_of_power(x, y, power_of_two_to(pick(ordinary, y, 0.0f), parts));
}

}  // namespace
}  // namespace frit::formula
