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

template <class F>
struct Exponential;
template <>
struct Exponential<double> {
  // Adding this rounds to an integer, which then stands in the low bits.
  static constexpr double rounder = 0x1.8p52;
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double ln2_high = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
  // exp is infinite above and 0 below these; expm1 is -1 below.
  static constexpr double highest = 710, lowest = -746, lowest_expm1 = -40;
  static constexpr double highest_sinh = 710.6, highest_tanh = 22, small = 0x1p-28, tiny = 0x1p-54;
  static constexpr double highest_exp2 = 1025, lowest_exp2 = -1076;
  // (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2
  static constexpr double rest[] = {
      0x1.0000000000001p-1,  0x1.555555555554dp-3,  0x1.5555555553ce8p-5,  0x1.11111111144cdp-7,
      0x1.6c16c178a58b2p-10, 0x1.a01a018c37677p-13, 0x1.a019b8cc875bbp-16, 0x1.71de59f3520bap-19,
      0x1.2891bc11bdc43p-22, 0x1.aeabc345fdc3dp-26};
  // (2^r - 1) / r, |r| <= 0.5
  static constexpr double rest_exp2[] = {
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a1acp-5,  0x1.3b2ab6fba1ee3p-7,
      0x1.5d87fe7880441p-10, 0x1.430913093a10fp-13, 0x1.ffcbfd0180bb4p-17, 0x1.62bfd4fe48ea4p-20,
      0x1.b523dc17d3518p-24, 0x1.e6055974795f2p-28, 0x1.eb5b6dba908d7p-32};
};
template <>
struct Exponential<float> {
  static constexpr float rounder = 0x1.8p23f;
  static constexpr float log2_e = 0x1.715476p0f;
  static constexpr float ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;
  static constexpr float highest = 89, lowest = -104, lowest_expm1 = -20;
  static constexpr float highest_sinh = 89.42f, highest_tanh = 10, small = 0x1p-13f,
                         tiny = 0x1p-25f;
  static constexpr float highest_exp2 = 129, lowest_exp2 = -151;
  static constexpr float rest[] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.55556ap-5f, 0x1.120c8ep-7f,
                                   0x1.6cad2ap-10f};
  static constexpr float rest_exp2[] = {0x1.62e43p-1f,  0x1.ebfbdep-3f,  0x1.c6af9ep-5f,
                                        0x1.3b2c58p-7f, 0x1.5ef4a2p-10f, 0x1.427918p-13f};
};

// x in [low, high], as `x` where x is a number.
template <class F>
F clamped(F x, F low, F high) {
  F below = pick(x > high, high, x);
  return pick(below < low, low, below);
}

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
  F q() const { return fused_multiply_add(r * r, polynomial(Exponential<F>::rest, r), r); }
};

// The parts of exp(x) = 2^n * (1 + q + q_low).
template <class F>
struct ExponentParts {
  F n, n_rounder, q, q_low;
  explicit ExponentParts(F x) {
    Reduced<F> reduced(x);
    n = reduced.n, n_rounder = reduced.n_rounder;
    F r = reduced.r, curved = r * r * polynomial(Exponential<F>::rest, r);
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
  F number = pick(is_nan(x), (F)0, x);
  Reduced<F> reduced(clamped(number, C::lowest, C::highest));
  F result = Scale<F>(reduced.n_rounder, sign_bit(x)).times_one_and(reduced.q());
  return pick(is_nan(x), x, result);
}

// 2^(x + tail), for |x| within its limits and a small tail.
template <class F>
F exponential2_of(F x, F tail) {
  using C = Exponential<F>;
  F n_rounder = x + C::rounder;
  F n = n_rounder - C::rounder;
  F r = (x - n) + tail;
  return Scale<F>(n_rounder, sign_bit(x))
      .times(fused_multiply_add(r, polynomial(C::rest_exp2, r), (F)1));
}

template <class F>
F exponential2(F x) {
  using C = Exponential<F>;
  F number = pick(is_nan(x), (F)0, x);
  F result = exponential2_of(clamped(number, C::lowest_exp2, C::highest_exp2), (F)0);
  return pick(is_nan(x), x, result);
}

// (exp(x) - 1) / 2 for x from lowest_expm1 to highest_sinh. By quarters: 2^n itself may be
// infinite.
template <class F>
F half_expm1(F x) {
  ExponentParts<F> e(x);
  F power = power_of_rounded(e.n_rounder - (F)2);
  F base = power - (F)0.25, curved = power * e.q;
  F sum = base + curved;
  F low = fused_multiply_add(power, e.q_low, (base - sum) + curved);
  F result = (sum + low) * (F)2;
  return pick(e.n == 0, e.q * (F)0.5, result);
}

template <class F>
F expm1_of(F x) {
  using C = Exponential<F>;
  F number = pick(is_nan(x), (F)0, x);
  F result = half_expm1(clamped(number, C::lowest_expm1, C::highest)) * (F)2;
  // Halves of tiny numbers are not exact.
  return pick(is_nan(x) | magnitude_below(x, C::tiny), x, result);
}

// ---- hyperbolic functions -----------------------------------------------------------------------

template <class F>
F sinh_of(F x) {
  using C = Exponential<F>;
  F size = pick(is_nan(x), (F)0, absolute(x));
  F u = half_expm1(pick(size > C::highest_sinh, C::highest_sinh, size));
  F finite = pick(u > (F)0x1p60, (F)0x1p60, u);
  F result = u + finite / (finite + finite + (F)1);
  F whole = pick(size < C::small, size, result);
  return pick(is_nan(x), x, copy_sign(whole, x));
}

template <class F>
F cosh_of(F x) {
  using C = Exponential<F>;
  F size = pick(is_nan(x), (F)0, absolute(x));
  ExponentParts<F> e(pick(size > C::highest_sinh, C::highest_sinh, size));
  F power = power_of_rounded(e.n_rounder - (F)2);
  F half_exp = fused_multiply_add(power, e.q, power) * (F)2;
  F result = half_exp + (F)0.25 / half_exp;
  return pick(is_nan(x), x, result);
}

template <class F>
F tanh_of(F x) {
  using C = Exponential<F>;
  F size = pick(is_nan(x), (F)0, absolute(x));
  F inside = pick(size > C::highest_tanh, C::highest_tanh, size);
  F u = half_expm1(inside + inside);
  F result = u / (u + (F)1);
  F whole = pick(size < C::small, size, result);
  return pick(is_nan(x), x, copy_sign(whole, x));
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
