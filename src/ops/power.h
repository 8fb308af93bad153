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

// The reciprocal cube root of m by polynomial, improved by a step of third order; from its square
// the root, made good by one step on the exact error: k^3 gives k.
inline double cbrt_of(double x) {
  // m^(-1/3) in m, 1 <= m < 2
  static constexpr double start[] = {0x1.c7f365bd286f4p0,  -0x1.90e741fc8214cp0,
                                     0x1.3e68b9b41b9f5p0,  -0x1.321c5eb425b51p-1,
                                     0x1.3fa269bb2cf75p-3, -0x1.16d6f13b19c36p-6};
  double size = absolute(x);
  bool denormal = magnitude_below(x, 0x1p-1022);
  double normal = pick(denormal, size * 0x1p54, size);
  uint64 bits = bits_of(normal);
  double m = from_bits<double>((bits & 0x000fffffffffffff) | bits_of(1.0));
  // |x| = m * 2^exponent, exponent = 3 * third + left, left in -1, 0, 1
  double exponent = from_bits<double>((bits >> 52) | bits_of(0x1p52)) - (0x1p52 + 1023);
  double rounder = Exponential<double>::rounder;
  double third_rounder = fused_multiply_add(exponent, 1.0 / 3, rounder);
  double third = third_rounder - rounder;
  double left = fused_multiply_add(-3.0, third, exponent);
  double scale = pick(left == 0, 1.0, pick(left > 0, 0x1.965fea53d6e3dp-1, 0x1.428a2f98d728bp0));
  double v = m * pick(left == 0, 1.0, pick(left > 0, 2.0, 0.5));

  double w = polynomial(start, m) * scale;
  double error = fused_multiply_add(-v * w, w * w, 1.0);
  w = fused_multiply_add(w * error, fused_multiply_add(error, 2.0 / 9, 1.0 / 3), w);
  double y = v * w * w;
  double square = y * y;
  double square_low = fused_multiply_add(y, y, -square);
  double rest = fused_multiply_add(-square, y, v) - square_low * y;
  double root = fused_multiply_add(rest, w * w * (1.0 / 3), y);

  double power = power_of_rounded(third_rounder) * pick(denormal, 0x1p-18, 1.0);
  double result = copy_sign(root * power, x);
  return pick((x == 0) | !is_finite(x), x, result);
}
inline float cbrt_of(float x) { return (float)cbrt_of((double)x); }

// ---- powers -------------------------------------------------------------------------------------

struct Powers {
  static constexpr double third_high = 0x1.5555555555555p-2, third_low = 0x1.5555555555555p-56;
  // ((atanh(s) / s - 1) / s^2 - 1/3) / s^2 in s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)
  static constexpr double rest[] = {
      0x1.999999999999ep-3, 0x1.249249248e6e2p-3, 0x1.c71c71d7b093ep-4, 0x1.745d0a08ee2c6p-4,
      0x1.3b18b3a34c12dp-4, 0x1.10193b4743f9cp-4, 0x1.0872e230a460dp-4};
};

// A sum of two doubles.
struct Pair {
  double high, low;
};

// log2(x) to about 2^-65 of itself, x > 0 finite: 2 * atanh(f / (2 + f)), pair by pair.
inline Pair precise_log2(double x) {
  LogarithmParts<double> parts = logarithm_parts(x);
  double f = parts.f, below = 2 + f;
  double below_low = f - (below - 2);
  double inverse = 1 / below;
  double s = f * inverse;
  double s_low = (fused_multiply_add(-s, below, f) - s * below_low) * inverse;
  double z = s * s;
  double z_low = fused_multiply_add(s, s, -z) + 2 * s * s_low;
  // u = z / 3 + z^2 * rest
  double a = z * Powers::third_high;
  double a_low = fused_multiply_add(z, Powers::third_high, -a) +
                 fused_multiply_add(z, Powers::third_low, z_low * Powers::third_high);
  double b = z * z * polynomial(Powers::rest, z);
  double u = a + b;
  double u_low = ((a - u) + b) + a_low;
  // log(1 + f) = 2 s + 2 s u
  double twice = s + s;
  double v = twice * u;
  double v_low = fused_multiply_add(twice, u, -v) + fused_multiply_add(twice, u_low, 2 * s_low * u);
  double natural = twice + v;
  double natural_low = ((twice - natural) + v) + (v_low + 2 * s_low);
  using C = Logarithm<double>;
  double e = natural * C::log2_e_high;
  double e_low = fused_multiply_add(natural, C::log2_e_high, -e) +
                 fused_multiply_add(natural, C::log2_e_low, natural_low * C::log2_e_high);
  double high = parts.k + e;
  return {high, ((parts.k - high) + e) + e_low};
}

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

inline double power_of(double x, double y) {
  double size = absolute(x);
  bool ordinary = is_finite(x) & is_finite(y) & (x != 0);
  Pair log = precise_log2(pick(ordinary, size, 1.0));
  double exponent_y = pick(ordinary, y, 0.0);
  double product = exponent_y * log.high;
  double low = fused_multiply_add(exponent_y, log.high, -product) + exponent_y * log.low;
  bool far = absolute(product) > 1100;
  using C = Exponential<double>;
  double inside = clamped(product, C::lowest_exp2, C::highest_exp2);
  double value = exponential2_of(inside, pick(far, 0.0, low));
  return with_limits_of_power(x, y, value);
}

struct FloatPowers {
  // log2((1 + s) / (1 - s)) / s in s^2, |s| as above
  static constexpr double log2[] = {0x1.71547652bed13p+1, 0x1.ec709d13c0821p-1,
                                    0x1.27777f461993ep-1, 0x1.a58dceca72ce8p-2,
                                    0x1.5ce39e0f72792p-2};
  // (2^r - 1) / r, |r| <= 0.5
  static constexpr double exp2[] = {
      0x1.62e42fefa39efp-1,  0x1.ebfbe045f4d3cp-3,  0x1.c6b08d883dca1p-5, 0x1.3b2a1b7152befp-7,
      0x1.5d879ead06a82p-10, 0x1.443fffc90db59p-13, 0x1.00a581594758ep-16};
};

// In double, to some 2^-31.
inline float power_of(float x, float y) {
  bool ordinary = is_finite(x) & is_finite(y) & (x != 0);
  double size = pick(ordinary, absolute(x), 1.0f), exponent = pick(ordinary, y, 0.0f);
  LogarithmParts<double> parts(size);
  double s = parts.f / (2 + parts.f);
  double log = fused_multiply_add(s, polynomial(FloatPowers::log2, s * s), parts.k);
  double product = clamped(exponent * log, -200.0, 200.0);
  double n_rounder = product + Exponential<double>::rounder;
  double r = product - (n_rounder - Exponential<double>::rounder);
  double fraction = fused_multiply_add(r, polynomial(FloatPowers::exp2, r), 1.0);
  return with_limits_of_power(x, y, (float)(fraction * power_of_rounded(n_rounder)));
}

}  // namespace
}  // namespace frit::formula
