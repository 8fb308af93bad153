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
  static constexpr double ln2_high = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
  static constexpr double log2_e_high = 0x1.71547652b82fep+0, log2_e_low = 0x1.777d0ffda0d24p-56;
  static constexpr double log10_e_high = 0x1.bcb7b1526e50ep-2, log10_e_low = 0x1.95355baaafad3p-57;
  // The high part has few enough digits to be multiplied by an exponent exactly.
  static constexpr double log10_2_high = 0x1.34413509f8p-2, log10_2_low = -0x1.80433b83b532ap-44;
  static constexpr double root_half = 0x1.6a09e667f3bcdp-1;
  static constexpr double integer_bits = 0x1p52;  // its low bits are an integer's
  static constexpr double tiny = 0x1p-54, large = 0x1p28;
  // (log((1 + s) / (1 - s)) / s - 2) / s^2 in s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)
  static constexpr double rest[] = {
      0x1.5555555555558p-1, 0x1.999999999531bp-2, 0x1.2492492defcd8p-2, 0x1.c71c62e51dd4bp-3,
      0x1.7462b5147d5bap-3, 0x1.39fe4d7604323p-3, 0x1.2b5958e1e12dbp-3};
};
template <>
struct Logarithm<float> {
  static constexpr float ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;
  static constexpr float log2_e_high = 0x1.715476p0f, log2_e_low = 0x1.4ae0cp-26f;
  static constexpr float log10_e_high = 0x1.bcb7b2p-2f, log10_e_low = -0x1.5b235ep-27f;
  static constexpr float log10_2_high = 0x1.344p-2f, log10_2_low = 0x1.3509f8p-18f;
  static constexpr float root_half = 0x1.6a09e6p-1f;
  static constexpr float integer_bits = 0x1p23f;
  static constexpr float tiny = 0x1p-25f, large = 0x1p13f;
  static constexpr float rest[] = {0x1.555556p-1f, 0x1.99986cp-2f, 0x1.24c21cp-2f, 0x1.ce5a28p-3f};
};

// x = 2^k * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for x positive, finite and normal.
template <class F>
struct LogarithmParts {
  F k, f;
  explicit LogarithmParts(F x) {
    using C = Logarithm<F>;
    using Bits = typename Format<F>::Bits;
    constexpr int digits = Format<F>::stored_digits;
    constexpr Bits offset = (Bits)Format<F>::bias << digits;
    // k + bias in the exponent's place.
    Bits shifted = bits_of(x) - bits_of(C::root_half) + offset;
    k = from_bits<F>((shifted >> digits) | bits_of(C::integer_bits)) -
        (C::integer_bits + (F)Format<F>::bias);
    Bits power = (shifted & ~(((Bits)1 << digits) - 1)) - offset;
    f = from_bits<F>(bits_of(x) - power) - (F)1;
  }
};

// The same for all positive x.
template <class F>
LogarithmParts<F> logarithm_parts(F x) {
  using Format = Format<F>;
  bool denormal =
      (typename Format::Int)bits_of(x) < (typename Format::Int)bits_of(Format::smallest_normal);
  LogarithmParts<F> parts(pick(denormal, x * Format::two_to_digits, x));
  parts.k = pick(denormal, parts.k - (F)Format::digits, parts.k);
  return parts;
}

// log(1 + f) = f - half_square + rest
template <class F>
struct LogarithmTerms {
  F half_square, rest;
  explicit LogarithmTerms(F f) {
    F s = f / ((F)2 + f);
    F z = s * s;
    half_square = (F)0.5 * f * f;
    rest = s * (half_square + z * polynomial(Logarithm<F>::rest, z));
  }
};

// log(2^k * (1 + f))
template <class F>
F logarithm_of_parts(F k, F f) {
  using C = Logarithm<F>;
  LogarithmTerms<F> t(f);
  F low = fused_multiply_add(k, C::ln2_low, t.rest);
  return fused_multiply_add(k, C::ln2_high, f - (t.half_square - low));
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

template <class F>
F logarithm(F x) {
  LogarithmParts<F> parts = logarithm_parts(x);
  return with_limits_of_logarithm(x, logarithm_of_parts(parts.k, parts.f));
}

// log(1 + f) * (scale_high + scale_low) + k * (unit_high + unit_low), with the big terms exact.
template <class F>
F scaled_logarithm(LogarithmParts<F> parts, F scale_high, F scale_low, F unit_high, F unit_low) {
  LogarithmTerms<F> t(parts.f);
  F high = parts.f - t.half_square;
  F low = ((parts.f - high) - t.half_square) + t.rest;
  F product = high * scale_high;
  F product_low = fused_multiply_add(high, scale_high, -product) +
                  fused_multiply_add(high, scale_low, low * scale_high);
  F whole = parts.k * unit_high;
  F sum = whole + product;
  F sum_low = ((whole - sum) + product) + fused_multiply_add(parts.k, unit_low, product_low);
  return sum + sum_low;
}
template <class F>
F logarithm2(F x) {
  using C = Logarithm<F>;
  F value = scaled_logarithm(logarithm_parts(x), C::log2_e_high, C::log2_e_low, (F)1, (F)0);
  return with_limits_of_logarithm(x, value);
}
template <class F>
F logarithm10(F x) {
  using C = Logarithm<F>;
  F value = scaled_logarithm(logarithm_parts(x), C::log10_e_high, C::log10_e_low, C::log10_2_high,
                             C::log10_2_low);
  return with_limits_of_logarithm(x, value);
}

// log(1 + x) where 1 + x is positive and finite.
template <class F>
F log1p_inside(F x) {
  using Bits = typename Format<F>::Bits;
  F k = LogarithmParts<F>((F)1 + x).k;
  // 2^(2 - k): f = (1 + x) / 2^k - 1 is then rounded once.
  F rounder = Exponential<F>::rounder + (F)2 - k;
  F power = from_bits<F>((Bits)((bits_of(rounder) << Format<F>::stored_digits) + bits_of((F)1)));
  F f = fused_multiply_add((F)0.25 * x, power, fused_multiply_add((F)0.25, power, (F)-1));
  return logarithm_of_parts(k, f);
}

template <class F>
F log1p_of(F x) {
  F value = with_limits_of_logarithm((F)1 + x, log1p_inside(x));
  return pick(magnitude_below(x, Logarithm<F>::tiny), x, value);
}

// ---- inverse hyperbolic functions ---------------------------------------------------------------

template <class F>
F arcsinh_of(F x) {
  using C = Logarithm<F>;
  F size = pick(is_nan(x), (F)0, absolute(x));
  bool large = size > C::large;
  F inside = pick(large, (F)1, size);
  F square = inside * inside;
  F argument = inside + square / ((F)1 + square_root((F)1 + square));
  F result = log1p_of(pick(large, size - 1, argument)) + pick(large, C::ln2_high, (F)0);
  return pick(is_nan(x) | (x == 0), x, copy_sign(result, x));
}

template <class F>
F arccosh_of(F x) {
  using C = Logarithm<F>;
  F number = pick(is_nan(x), (F)1, x);
  bool large = number > C::large;
  // Below 1 the root is made invalid.
  F t = pick(number < 1, (F)-1, pick(large, (F)0, number - 1));
  F argument = t + square_root(t * (t + (F)2));
  F result = log1p_of(pick(large, number - 1, argument)) + pick(large, C::ln2_high, (F)0);
  return pick(is_nan(x), x, result);
}

template <class F>
F arctanh_of(F x) {
  F size = absolute(x);
  F result = (F)0.5 * log1p_of((size + size) / ((F)1 - size));
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
  F sum = larger + log1p_of(exponential2(-absolute(difference))) * Logarithm<F>::log2_e_high;
  return pick(is_nan(difference), invalid_if(is_nan(difference), x), sum);
}

}  // namespace
}  // namespace frit::formula
