// exponential.h: exp and what is made of it: exp2, expm1, sinh, cosh, tanh, erf.
#pragma once

#include "ops/machine.h"

namespace frit::formula {
namespace {  // see machine.h

// Polynomials are minimax over the reduced range, lowest coefficient first.
template <class F, int count>
F polynomial(const F (&c)[count], F x) {
  F sum = c[count - 1];
#pragma clang loop unroll(full)
  for (int k = count - 2; k >= 0; --k) sum = fused_multiply_add(sum, x, c[k]);
  return sum;
}

// The same by its even and its odd terms, whose sums run side by side.
template <class F, int count>
F polynomial(const F (&c)[count], F x, F square) {
  constexpr int last_even = (count - 1) / 2 * 2, last_odd = count / 2 * 2 - 1;
  F even = c[last_even], odd = c[last_odd];
#pragma clang loop unroll(full)
  for (int k = last_even - 2; k >= 0; k -= 2) even = fused_multiply_add(even, square, c[k]);
#pragma clang loop unroll(full)
  for (int k = last_odd - 2; k >= 0; k -= 2) odd = fused_multiply_add(odd, square, c[k]);
  return fused_multiply_add(odd, x, even);
}

template <class F>
struct Exponential;
template <>
struct Exponential<double> {
  // Adding this rounds to an integer, which then stands in the low bits.
  static constexpr double rounder = 0x1.8p52;
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double ln2_high = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
  // exp is infinite above and 0 below these, sinh infinite and tanh 1 above.
  static constexpr double highest = 710, lowest = -745.2, highest_sinh = 710.6, highest_tanh = 22;
  static constexpr double highest_exp2 = 1025, lowest_exp2 = -1075.5;
  // Nothing but normal numbers comes of sizes below these.
  static constexpr double ordinary = 708, ordinary_exp2 = 1022;
  // (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2
  static constexpr double rest[] = {
      0x1.0000000000001p-1,  0x1.555555555554dp-3,  0x1.5555555553ce8p-5,  0x1.11111111144cdp-7,
      0x1.6c16c178a58b2p-10, 0x1.a01a018c37677p-13, 0x1.a019b8cc875bbp-16, 0x1.71de59f3520bap-19,
      0x1.2891bc11bdc43p-22, 0x1.aeabc345fdc3dp-26};
  // (sinh(r) / r - 1) / r^2 and (cosh(r) - 1) / r^2 in r^2
  static constexpr double sinh[] = {0x1.5555555555559p-3, 0x1.111111110f64cp-7,
                                    0x1.a01a01b0122fbp-13, 0x1.71ddf7d50126cp-19,
                                    0x1.af5fb0aa4988ep-26};
  static constexpr double cosh[] = {0x1p-1,
                                    0x1.555555555555cp-5,
                                    0x1.6c16c16c13e7ap-10,
                                    0x1.a01a01b1b17bfp-16,
                                    0x1.27e4c497e5ba2p-22,
                                    0x1.1f95e91286152p-29};
  // ((2^r - 1) / r - ln(2)) / r, |r| <= 0.5
  static constexpr double rest_exp2[] = {
      0x1.ebfbdff82c598p-3,  0x1.c6b08d704a1acp-5,  0x1.3b2ab6fba1ee3p-7,  0x1.5d87fe7880441p-10,
      0x1.430913093a10fp-13, 0x1.ffcbfd0180bb4p-17, 0x1.62bfd4fe48ea4p-20, 0x1.b523dc17d3518p-24,
      0x1.e6055974795f2p-28, 0x1.eb5b6dba908d7p-32};
};
template <>
struct Exponential<float> {
  static constexpr float rounder = 0x1.8p23f;
  static constexpr float log2_e = 0x1.715476p0f;
  static constexpr float ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;
  static constexpr float highest = 89, lowest = -104, highest_sinh = 89.42f, highest_tanh = 10;
  static constexpr float highest_exp2 = 129, lowest_exp2 = -151;
  static constexpr float ordinary = 87, ordinary_exp2 = 126;
  static constexpr float rest[] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.55556ap-5f, 0x1.120c8ep-7f,
                                   0x1.6cad2ap-10f};
  static constexpr float sinh[] = {0x1.555556p-3f, 0x1.1110b2p-7f, 0x1.a1714p-13f};
  static constexpr float cosh[] = {0x1p-1f, 0x1.55547ep-5f, 0x1.6d990ap-10f};
  static constexpr float rest_exp2[] = {0x1.ebfbdep-3f, 0x1.c6af9ep-5f, 0x1.3b2c58p-7f,
                                        0x1.5ef4a2p-10f, 0x1.427918p-13f};
};

// x in [low, high], as `x` where x is a number.
template <class F>
F clamped(F x, F low, F high) {
  F below = pick(x > high, high, x);
  return pick(below < low, low, below);
}

// A power's exponent, and whether the power is 0. Then it is computed of 0: on the way to 0 through
// denormal numbers processors take a hundred cycles each, and masked softmaxes are full of it.
template <class F>
struct Exponent {
  bool vanishes;
  F inside;
  Exponent(F x, F low, F high) {
    vanishes = x < low;
    inside = pick(vanishes, (F)0, pick(x > high, high, x));
  }
  F or_nothing(F power) const { return pick(vanishes, (F)0, power); }
};

// x = n * ln(2) + r + r_low, n_rounder = n + rounder.
template <class F>
struct Reduced {
  F n, n_rounder, r, r_low;
  explicit Reduced(F x) {
    using C = Exponential<F>;
    n_rounder = fused_multiply_add(x, C::log2_e, C::rounder);
    n = n_rounder - C::rounder;
    F first = fused_multiply_add(-n, C::ln2_high, x);
    r = fused_multiply_add(-n, C::ln2_low, first);
    r_low = fused_multiply_add(-n, C::ln2_low, first - r);
  }
  // exp(r) - 1
  F q() const {
    F square = r * r;
    return fused_multiply_add(square, polynomial(Exponential<F>::rest, r, square), r);
  }
};

// The parts of exp(x) = 2^n * (1 + q + q_low).
template <class F>
struct ExponentParts {
  F n, n_rounder, q, q_low;
  explicit ExponentParts(F x) {
    Reduced<F> reduced(x);
    n = reduced.n, n_rounder = reduced.n_rounder;
    F r = reduced.r, square = r * r;
    F curved = square * polynomial(Exponential<F>::rest, r, square);
    q = r + curved;
    q_low = ((r - q) + curved) + reduced.r_low;
  }
};

// 2^n for n that stands in the low bits of n_rounder.
template <class F>
F power_of_rounded(F n_rounder) {
  using Bits = typename Format<F>::Bits;
  return from_bits<F>((Bits)((bits_of(n_rounder) << Format<F>::stored_digits) + bits_of((F)1)));
}

// 2^n = first * behind, and p * first * behind is rounded once for p near 1: 2^n itself may be
// denormal, so of n below 0 the first has 64 more; or infinite, so of others it has 2 less.
template <class F>
struct Scale {
  F first, behind;
  Scale(F n_rounder, bool is_negative) {
    using Bits = typename Format<F>::Bits;
    constexpr F down = (F)0x1p-64, up = 4;
    behind = pick(is_negative, down, up);
    Bits start =
        pick(is_negative, 2 * bits_of((F)1) - bits_of(down), 2 * bits_of((F)1) - bits_of(up));
    first = from_bits<F>((Bits)((bits_of(n_rounder) << Format<F>::stored_digits) + start));
  }
  F times(F p) const { return p * first * behind; }
  // (1 + q) * 2^n
  F times_one_and(F q) const { return fused_multiply_add(q, first, first) * behind; }
};

template <class F>
F exponential(F x) {
  using C = Exponential<F>;
  bool stays = is_nan(x) | (x == infinity_of<F>());
  Exponent<F> exponent(pick(stays, (F)0, x), C::lowest, C::highest);
  Reduced<F> reduced(exponent.inside);
  F result = Scale<F>(reduced.n_rounder, sign_bit(x)).times_one_and(reduced.q());
  return pick(stays, x, exponent.or_nothing(result));
}

template <class F>
bool exponential_is_ordinary(F x) {
  return magnitude_below(x, Exponential<F>::ordinary);
}
template <class F>
F exponential_of_ordinary(F x) {
  Reduced<F> reduced(x);
  F power = power_of_rounded(reduced.n_rounder);
  return fused_multiply_add(reduced.q(), power, power);
}

// 2^r, |r| <= 0.5
template <class F>
F exponential2_near(F r) {
  using C = Exponential<F>;
  F slope = fused_multiply_add(r, polynomial(C::rest_exp2, r, r * r), C::ln2_high);
  return fused_multiply_add(r, slope, (F)1);
}

// 2^(x + tail), for a number x and a small tail.
template <class F>
F exponential2_of(F x, F tail) {
  using C = Exponential<F>;
  Exponent<F> exponent(x, C::lowest_exp2, C::highest_exp2);
  F n_rounder = exponent.inside + C::rounder;
  F n = n_rounder - C::rounder;
  F near = exponential2_near((exponent.inside - n) + tail);
  return exponent.or_nothing(Scale<F>(n_rounder, sign_bit(x)).times(near));
}

template <class F>
F exponential2(F x) {
  bool stays = is_nan(x) | (x == infinity_of<F>());
  F result = exponential2_of(pick(stays, (F)0, x), (F)0);
  return pick(stays, x, result);
}

template <class F>
bool exponential2_is_ordinary(F x) {
  return magnitude_below(x, Exponential<F>::ordinary_exp2);
}
template <class F>
F exponential2_of_ordinary(F x) {
  using C = Exponential<F>;
  F n_rounder = x + C::rounder;
  return exponential2_near(x - (n_rounder - C::rounder)) * power_of_rounded(n_rounder);
}

// exp(x) - 1 for ordinary x, but for the sign of 0.
template <class F>
F expm1_near(F x) {
  Reduced<F> reduced(x);
  F r = reduced.r, square = r * r, power = power_of_rounded(reduced.n_rounder), base = power - 1;
  F rest = fused_multiply_add(square, polynomial(Exponential<F>::rest, r, square), reduced.r_low);
  F sum = fused_multiply_add(power, r, base);
  // In float what the sum has lost is left so.
  if constexpr (__is_same(F, double))
    return sum + fused_multiply_add(power, rest, fused_multiply_add(power, r, base - sum));
  return fused_multiply_add(power, rest, sum);
}
template <class F>
F expm1_of_ordinary(F x) {
  return copy_sign(expm1_near(x), x);
}
template <class F>
F expm1_of(F x) {
  bool ordinary = exponential_is_ordinary(x);
  F far = pick(sign_bit(x) & !is_nan(x), (F)-1, exponential(x));
  return pick(ordinary, expm1_of_ordinary(pick(ordinary, x, (F)0)), far);
}

// ---- hyperbolic functions -----------------------------------------------------------------------

// Of exp(x) = 2^n * exp(r) the sinh of r, its cosh less 1, and sums of 2^(n-1) and 2^(-n-1).
template <class F>
struct Hyperbolic {
  F sine, sine_low, rise, sum, difference;
  explicit Hyperbolic(F x) {
    using C = Exponential<F>;
    using Bits = typename Format<F>::Bits;
    Reduced<F> reduced(x);
    F r = reduced.r, square = r * r;
    sine = fused_multiply_add(r * square, polynomial(C::sinh, square), r);
    sine_low = reduced.r_low;
    rise = square * polynomial(C::cosh, square);
    F power = power_of_rounded(reduced.n_rounder - 1);
    F inverse = from_bits<F>((Bits)(2 * bits_of((F)0.5) - bits_of(power)));
    sum = power + inverse, difference = power - inverse;
  }
};

// exp(size) / 2, infinite only where that is.
template <class F>
F half_exponential(F size) {
  using C = Exponential<F>;
  Reduced<F> reduced(pick(size > C::highest_sinh, C::highest_sinh, size));
  return Scale<F>(reduced.n_rounder - 1, false).times_one_and(reduced.q());
}

template <class F>
F sinh_of_ordinary(F x) {
  Hyperbolic<F> h(x);
  F curved = fused_multiply_add(h.sine, h.sum, h.sine_low * h.sum);
  return copy_sign(h.difference + fused_multiply_add(h.rise, h.difference, curved), x);
}
template <class F>
F sinh_of(F x) {
  bool ordinary = exponential_is_ordinary(x);
  F size = pick(is_finite(x), absolute(x), (F)0);
  F far = pick(is_finite(x), copy_sign(half_exponential(size), x), x);
  return pick(ordinary, sinh_of_ordinary(pick(ordinary, x, (F)0)), far);
}

template <class F>
F cosh_of_ordinary(F x) {
  Hyperbolic<F> h(x);
  return h.sum + fused_multiply_add(h.rise, h.sum, h.sine * h.difference);
}
template <class F>
F cosh_of(F x) {
  bool ordinary = exponential_is_ordinary(x);
  F size = pick(is_finite(x), absolute(x), (F)0);
  F far = pick(is_finite(x), half_exponential(size), pick(is_nan(x), x, infinity_of<F>()));
  return pick(ordinary, cosh_of_ordinary(pick(ordinary, x, (F)0)), far);
}

// u / (u + 2), where u = exp(2 * size) - 1.
inline double tanh_of_size(double size) {
  double u = expm1_near(size + size);
  return u / (u + 2);
}
// An error of the exponent matters no more than it is a part of it, so one product reduces it.
inline float tanh_of_size(float size) {
  using C = Exponential<float>;
  float twice = size + size;
  float n_rounder = fused_multiply_add(twice, C::log2_e, C::rounder);
  float r = fused_multiply_add(C::rounder - n_rounder, C::ln2_high, twice), square = r * r;
  float q = fused_multiply_add(square, polynomial(C::rest, r, square), r);
  float power = power_of_rounded(n_rounder);
  float u = fused_multiply_add(power, q, power - 1);
  return u / (u + 2);
}
// The size is limited in bits: NaN is the largest.
template <class F>
F tanh_of(F x) {
  using Bits = typename Format<F>::Bits;
  const Bits highest = bits_of(Exponential<F>::highest_tanh);
  Bits size = bits_of(absolute(x));
  F result = tanh_of_size(from_bits<F>(pick(size < highest, size, highest)));
  return pick(is_nan(x), x, copy_sign(result, x));
}

// ---- the error function -------------------------------------------------------------------------

struct ErrorFunction {
  // erf(x) / x in x^2, |x| <= 1
  static constexpr double inner[] = {
      0x1.20dd750429b6dp0,   -0x1.812746b0379cap-2,  0x1.ce2f21a041df3p-4,  -0x1.b82ce3125647ap-6,
      0x1.565bcd07fa605p-8,  -0x1.c02db2f9c2b97p-11, 0x1.f9a30b576b8ccp-14, -0x1.f4d05fc887746p-17,
      0x1.b9cd799776869p-20, -0x1.5e94fcc839227p-23, 0x1.f253bae72eb8fp-27, -0x1.290ef2aba090fp-30,
      0x1.bcc7673e2e32p-35};
  // erfc(x) * exp(x^2) in x - 2, 1 <= x <= 6, weighted by exp(-x^2)
  static constexpr double outer[] = {
      0x1.058671b52c76ep-2,  -0x1.b57034efd414fp-4,  0x1.5672b9ea1556ap-5,  -0x1.fa9d3ac91ca98p-7,
      0x1.6490721548632p-8,  -0x1.e028e8be415c9p-10, 0x1.369ff9f97b9dp-11,  -0x1.83821d2329082p-13,
      0x1.d37baf701b765p-15, -0x1.115d5dd338edcp-16, 0x1.36968541ba6bap-18, -0x1.576e10b292cb7p-20,
      0x1.725c2983ba084p-22, -0x1.8663241432fcdp-24, 0x1.905ab21e922p-26,   -0x1.8cabe907f13afp-28,
      0x1.8cbf452b8d63dp-30, -0x1.a9cc687fe9eb9p-32, 0x1.a4ec09ab595bp-34,  -0x1.16375ec38ae4fp-36,
      0x1.4a0a5e43d57c2p-40};
};

inline double erf_of(double x) {
  double size = pick(is_nan(x), 0.0, absolute(x));
  double inside = pick(size > 6, 6.0, size);
  double square = inside * inside;
  double near = inside * polynomial(ErrorFunction::inner, square);
  Reduced<double> reduced(-square);
  double power = Scale<double>(reduced.n_rounder, true).times_one_and(reduced.q());
  double far = 1 - power * polynomial(ErrorFunction::outer, inside - 2);
  double result = pick(inside < 1, near, far);
  return pick(is_nan(x), x, copy_sign(result, x));
}
inline float erf_of(float x) { return (float)erf_of((double)x); }

}  // namespace
}  // namespace frit::formula
