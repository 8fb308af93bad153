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
  bool is_a_large = magnitude_below(b, a);
  double large = pick(is_a_large, a, b), small = pick(is_a_large, b, a);
  bool huge = !magnitude_below(large, 0x1p500), tiny = magnitude_below(large, 0x1p-450);
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
struct CubeRootParts {
  double m, v, scale, third_rounder;
  explicit CubeRootParts(double size) {
    constexpr double rounder = Exponential<double>::rounder, integer = 0x1p52;
    uint64 bits = bits_of(size);
    m = from_bits<double>((bits & (((uint64)1 << 52) - 1)) | bits_of(1.0));
    double exponent = from_bits<double>((bits >> 52) | bits_of(integer)) - (integer + 1023);
    third_rounder = fused_multiply_add(exponent, 1.0 / 3, rounder);
    double left = fused_multiply_add(-3.0, third_rounder - rounder, exponent);
    bool none = left == 0, more = left > 0;
    scale = pick(none, 1.0, pick(more, 0x1.965fea53d6e3dp-1, 0x1.428a2f98d728bp0));
    v = m * pick(none, 1.0, pick(more, 2.0, 0.5));
  }
};

// The reciprocal cube root by polynomial, improved by one step; from its square the root, made good
// by one step on the exact error.
inline double cube_root_of_normal(double size) {
  // m^(-1/3) in m, 1 <= m < 2
  static constexpr double start[] = {0x1.c7f365bd286f4p0,  -0x1.90e741fc8214cp0,
                                     0x1.3e68b9b41b9f5p0,  -0x1.321c5eb425b51p-1,
                                     0x1.3fa269bb2cf75p-3, -0x1.16d6f13b19c36p-6};
  CubeRootParts parts(size);
  double m = parts.m, v = parts.v;
  double w = polynomial(start, m, m * m) * parts.scale;
  double error = fused_multiply_add(-v * w, w * w, 1.0);
  w = fused_multiply_add(w * error, 1.0 / 3, w);
  double square = w * w, y = v * square;
  double y_square = y * y;
  double y_square_low = fused_multiply_add(y, y, -y_square);
  double rest = fused_multiply_add(-y_square_low, y, fused_multiply_add(-y_square, y, v));
  double root = fused_multiply_add(rest, square * (1.0 / 3), y);
  return root * power_of_rounded(parts.third_rounder);
}

// The bits of a number are nearly its logarithm: less a third of them, the bits of 1 and a third
// are those of the reciprocal cube root, to a 28th of it. `error` tells how far from it exactly.
inline float cube_root_of_normal(float size) {
  constexpr float integer = 0x1p23f;
  // ((1 - error)^(-1/3) - 1) / error
  static constexpr float slope[] = {0x1.5554eep-2f, 0x1.c9ae6p-3f, 0x1.643f08p-3f};
  float bits = from_bits<float>((bits_of(size) >> 9) | bits_of(integer));
  float start = fused_multiply_add(bits, -1.0f / 3, 13958060.0f);
  float w = from_bits<float>(bits_of(start) << 9);
  float error = fused_multiply_add(-size * w, w * w, 1.0f);
  w = fused_multiply_add(w * error, polynomial(slope, error), w);
  float square = w * w, y = size * square;
  float rest = fused_multiply_add(-y * y, y, size);
  return fused_multiply_add(rest, square * (1.0f / 3), y);
}

// Normal numbers.
template <class F>
bool cbrt_is_ordinary(F x) {
  return logarithm_is_ordinary(absolute(x));
}
template <class F>
F cbrt_of_ordinary(F x) {
  return copy_sign(cube_root_of_normal(absolute(x)), x);
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

// A sum of two numbers.
template <class F>
struct Pair {
  F high, low;
};

// log2(2^k * z) to about 2^-67 of itself; the low part is below 2^-11 of the high one.
inline Pair<double> precise_log2(LogarithmParts<double> parts) {
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

// 2 to a sum.
inline double power_of_two_to(Pair<double> sum) {
  double high = sum.high + sum.low;
  return exponential2_of(high, (sum.high - high) + sum.low);
}

struct FloatPowers {
  // Of the 32 parts of [0.6875, 1.375) that the bits tell apart a reciprocal of their middle, of so
  // few digits that z * inverse - 1 is exact; and -log2(inverse), of which k + high is exact.
  static constexpr float inverse[] = {
      0x1.7p0f,  0x1.68p0f,  0x1.6p0f,   0x1.58p0f, 0x1.5p0f,   0x1.4cp0f,  0x1.44p0f,  0x1.4p0f,
      0x1.38p0f, 0x1.34p0f,  0x1.2cp0f,  0x1.28p0f, 0x1.2p0f,   0x1.1cp0f,  0x1.18p0f,  0x1.14p0f,
      0x1.1p0f,  0x1.0cp0f,  0x1.08p0f,  0x1p0f,    0x1p0f,     0x1.e8p-1f, 0x1.d8p-1f, 0x1.dp-1f,
      0x1.cp-1f, 0x1.b4p-1f, 0x1.a8p-1f, 0x1.ap-1f, 0x1.94p-1f, 0x1.8cp-1f, 0x1.8p-1f,  0x1.78p-1f};
  static constexpr float high[] = {-0x1.0c1p-1f,
                                   -0x1.f7a8p-2f,
                                   -0x1.d674p-2f,
                                   -0x1.b48p-2f,
                                   -0x1.91bcp-2f,
                                   -0x1.800cp-2f,
                                   -0x1.5cp-2f,
                                   -0x1.49a8p-2f,
                                   -0x1.244p-2f,
                                   -0x1.113p-2f,
                                   -0x1.d4ap-3f,
                                   -0x1.acf8p-3f,
                                   -0x1.5cp-3f,
                                   -0x1.32bp-3f,
                                   -0x1.08c8p-3f,
                                   -0x1.bc8p-4f,
                                   -0x1.664p-4f,
                                   -0x1.0ebp-4f,
                                   -0x1.6bap-5f,
                                   0,
                                   0,
                                   0x1.1bbp-4f,
                                   0x1.e0bp-4f,
                                   0x1.22d8p-3f,
                                   0x1.8a88p-3f,
                                   0x1.dacp-3f,
                                   0x1.169cp-2f,
                                   0x1.32cp-2f,
                                   0x1.5dfcp-2f,
                                   0x1.7b88p-2f,
                                   0x1.a9p-2f,
                                   0x1.c818p-2f};
  static constexpr float low[] = {-0x1.40358ep-19f,
                                  -0x1.5a32c2p-20f,
                                  -0x1.3e032ep-18f,
                                  0x1.408c78p-18f,
                                  0x1.5db83ap-20f,
                                  0x1.a9ce9ep-18f,
                                  -0x1.a39fbep-18f,
                                  0x1.ed0cbap-20f,
                                  -0x1.eac382p-20f,
                                  -0x1.f6b4c2p-20f,
                                  0x1.1b3cdap-19f,
                                  0x1.0e9258p-18f,
                                  -0x1.a39fbep-19f,
                                  0x1.61d876p-19f,
                                  0x1.3b992cp-18f,
                                  -0x1.0902b6p-18f,
                                  0x1.20a6dep-21f,
                                  -0x1.c4fd14p-19f,
                                  -0x1.a6eb1ep-18f,
                                  0,
                                  0,
                                  0x1.953002p-19f,
                                  0x1.ae8f3p-20f,
                                  0x1.6e155ap-18f,
                                  0x1.80abfcp-19f,
                                  0x1.169f22p-18f,
                                  0x1.4d8fc6p-24f,
                                  -0x1.1c8f12p-22f,
                                  0x1.cf1eeap-18f,
                                  0x1.f02cf2p-18f,
                                  -0x1.a39fbep-20f,
                                  0x1.dc2d46p-18f};
  // log2(1 + r) = r * (line + line_low) + r^2 * (square + square_low) + r^3 * rest(r)
  static constexpr float line = 0x1.715476p0f, line_low = 0x1.4ae0cp-26f;
  static constexpr float square = -0x1.715476p-1f, square_low = -0x1.4ae0cp-27f;
  static constexpr float rest[] = {0x1.ec709cp-2f, -0x1.7154eep-2f, 0x1.2799f6p-2f,
                                   -0x1.e32b86p-3f};
  // (2^r - 1) / r, |r| <= 0.07
  static constexpr float exp2[] = {0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6bb6ep-5f, 0x1.3b3068p-7f};
  // 2^(n / 16) less the bits that n, moved to behind the exponent, adds; and what it lacks, as a
  // part of it
  static constexpr float sixteenths[] = {
      0x1p0f,         0x1.fb5586p-1f, 0x1.f72b84p-1f, 0x1.f387a6p-1f,
      0x1.f06fep-1f,  0x1.edea64p-1f, 0x1.ebfdaep-1f, 0x1.eab07ep-1f,
      0x1.ea09e6p-1f, 0x1.ea1148p-1f, 0x1.eace54p-1f, 0x1.ec4918p-1f,
      0x1.ee89fap-1f, 0x1.f199bep-1f, 0x1.f5818ep-1f, 0x1.fa4afap-1f};
  static constexpr float lack[] = {0,
                                   0x1.8d96d4p-25f,
                                   -0x1.9c0c22p-27f,
                                   0x1.964904p-25f,
                                   0x1.125002p-25f,
                                   0x1.370be4p-25f,
                                   -0x1.0a355p-25f,
                                   -0x1.00d8acp-27f,
                                   0x1.26055cp-26f,
                                   -0x1.05cb44p-25f,
                                   0x1.67a1cap-28f,
                                   0x1.a3b5e4p-28f,
                                   -0x1.f9c304p-27f,
                                   -0x1.6961b4p-28f,
                                   -0x1.a5217cp-28f,
                                   0x1.61428ep-28f};
};

// log2(2^k * z) to about 2^-36 of itself; the low part is below 2^-11 of the high one.
inline Pair<float> precise_log2(LogarithmParts<float> parts) {
  using C = FloatPowers;
  uint32 n = (bits_of(parts.z) - LogarithmParts<float>::lowest) >> 18;
  float r = fused_multiply_add(parts.z, look_up(C::inverse, n), -1.0f);
  float whole = fused_multiply_add(parts.k, parts.unit, look_up(C::high, n));
  float slope = fused_multiply_add(r, C::square, C::line);
  float slope_low = fused_multiply_add(r, C::square, C::line - slope) + C::line_low;
  float high = fused_multiply_add(r, slope, whole);
  float high_low = fused_multiply_add(r, slope, whole - high);
  float rest = fused_multiply_add(r, polynomial(C::rest, r), C::square_low);
  float low = fused_multiply_add(r, fused_multiply_add(r, rest, slope_low), look_up(C::low, n));
  return {high, high_low + low};
}

inline float power_of_two_to(Pair<float> sum) {
  using C = FloatPowers;
  constexpr float rounder = 0x1.8p19f;  // to sixteenths
  float inside = clamped(sum.high, -160.0f, 129.0f);
  float n_rounder = inside + rounder;
  float r = (inside - (n_rounder - rounder)) + sum.low;
  uint32 n = bits_of(n_rounder);
  float part = fused_multiply_add(r, polynomial(C::exp2, r), look_up(C::lack, n));
  // As in Scale.
  bool is_negative = sign_bit(inside);
  uint32 start = pick(is_negative, (uint32)64 << 23, (uint32)-2 << 23);
  float first = from_bits<float>(bits_of(look_up(C::sixteenths, n)) + (n << 19) + start);
  return fused_multiply_add(part, first, first) * pick(is_negative, 0x1p-64f, 4.0f);
}

template <class F>
Pair<F> product_of(F y, Pair<F> log) {
  F product = y * log.high;
  return {product, fused_multiply_add(y, log.low, fused_multiply_add(y, log.high, -product))};
}

// x is positive, finite and normal, or 0 and y is positive; the product with its logarithm has a
// small low part.
template <class F>
bool power_is_ordinary(F x, F y) {
  return (logarithm_is_ordinary(x) | ((bits_of(x) == 0) & !sign_bit(y) & (bits_of(y) != 0))) &
         magnitude_below(y, Format<F>::digits == 24 ? (F)0x1p14 : (F)0x1p20);
}
template <class F>
F power_of_ordinary(F x, F y) {
  F power = power_of_two_to(product_of(y, precise_log2(LogarithmParts<F>(x))));
  return pick(bits_of(x) == 0, (F)0, power);
}

// What powers are beside |x|^y for ordinary numbers, as C and NumPy have it.
template <class F>
F with_limits_of_power(F x, F y, F value) {
  F size = absolute(x), half_y = (F)0.5 * y;
  bool whole = round_to_even(y) == y;
  bool odd =
      whole & (round_to_even(half_y) != half_y) & magnitude_below(y, Format<F>::two_to_digits);
  bool one = size == 1, zero = x == 0;
  bool nan = is_nan(x) | is_nan(y);

  // 0, infinity and infinite exponents give 0 or infinity.
  bool limit = zero | is_infinite(x) | is_infinite(y);
  using Int = typename Format<F>::Int;
  bool above_one = (Int)bits_of(size) > (Int)bits_of((F)1);
  bool grows = above_one != sign_bit(y);
  // 0 to a negative power divides by zero: 1 / 0 here, elsewhere by x's digits (see overflow_if).
  bool pole = zero & grows & !nan & (y != 0);
  F inverse = (F)1 / digits_behind(pole, (typename Format<F>::Bits)0, x);
  F limit_value = pick(grows, pick(pole, inverse, infinity_of<F>()), (F)0);
  F magnitude = pick(one, (F)1, pick(limit, limit_value, value));
  // A negative number to a fraction.
  bool invalid = sign_bit(x) & !zero & !is_infinite(x) & !whole & !nan;
  F number = pick(invalid, invalid_if(invalid, x), magnitude);
  F with_sign = pick(odd & sign_bit(x), -number, number);
  F result = pick(nan, x + y, with_sign);
  return pick((x == 1) | (y == 0), (F)1, result);
}

template <class F>
F power_of(F x, F y) {
  using Format = Format<F>;
  bool ordinary = is_finite(x) & is_finite(y) & (x != 0);
  bool denormal = magnitude_below(x, Format::smallest_normal);
  F size = absolute(x) * pick(denormal, Format::two_to_digits, (F)1);
  LogarithmParts<F> parts(pick(ordinary, size, (F)1));
  parts.k -= pick(denormal, Format::digits / parts.unit, (F)0);
  // Past these nothing but 1 to the power has a finite logarithm that is not 0.
  F exponent = clamped(pick(ordinary, y, (F)0), (F)-0x1p63, (F)0x1p63);
  Pair<F> product = product_of(exponent, precise_log2(parts));
  product.low = pick(absolute(product.high) > 1100, (F)0, product.low);
  return with_limits_of_power(x, y, power_of_two_to(product));
}

}  // namespace
}  // namespace frit::formula
