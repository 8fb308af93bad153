// complex_functions.h: exp, sqrt, sin, cos and powers of a complex element, from its parts.
//
// Straight-line for the numbers that programs compute with, each part within 4 ulp; what is near
// the ends of the range, infinite or NaN is rare, and the C library's (as it is NumPy's): its
// branches are many.
#pragma once

#include "ops/mathematics.h"

namespace frit::formula {
namespace {  // see machine.h

template <class F>
struct Parts {
  F re, im;
};

template <class F>
struct ComplexRange;
template <>
struct ComplexRange<double> {
  using Number = _Complex double;
  static constexpr double exponent = 708;  // below it exp and sinh are far from either end
  static constexpr double large = 0x1p1000, small = 0x1p-1000;  // squares of these are not taken
  static Number exp(Number x) { return __builtin_cexp(x); }
  static Number sqrt(Number x) { return __builtin_csqrt(x); }
  static Number sin(Number x) { return __builtin_csin(x); }
  static Number cos(Number x) { return __builtin_ccos(x); }
  static Number power(Number x, Number y) { return __builtin_cpow(x, y); }
};
template <>
struct ComplexRange<float> {
  using Number = _Complex float;
  static constexpr float exponent = 87;
  static constexpr float large = 0x1p100f, small = 0x1p-100f;
  static Number exp(Number x) { return __builtin_cexpf(x); }
  static Number sqrt(Number x) { return __builtin_csqrtf(x); }
  static Number sin(Number x) { return __builtin_csinf(x); }
  static Number cos(Number x) { return __builtin_ccosf(x); }
  static Number power(Number x, Number y) { return __builtin_cpowf(x, y); }
};
template <class F>
typename ComplexRange<F>::Number number_of(F re, F im) {
  typename ComplexRange<F>::Number x;
  __real__ x = re;
  __imag__ x = im;
  return x;
}
template <class F, class Number>
Parts<F> parts_of_number(Number x) {
  return {__real__ x, __imag__ x};
}

// ---- exp, sin, cos ------------------------------------------------------------------------------

template <class F>
bool complex_exp_is_rare(F x_re, F x_im) {
  return !(magnitude_below(x_re, ComplexRange<F>::exponent) &
           magnitude_below(x_im, Trigonometry<F>::limit));
}
template <class F>
Parts<F> complex_exp_whole(F x_re, F x_im) {
  return parts_of_number<F>(ComplexRange<F>::exp(number_of(x_re, x_im)));
}

// An angle with an imaginary part.
template <class F>
bool complex_angle_is_rare(F x_re, F x_im) {
  return complex_exp_is_rare(x_im, x_re);
}
template <class F>
Parts<F> complex_sin_whole(F x_re, F x_im) {
  return parts_of_number<F>(ComplexRange<F>::sin(number_of(x_re, x_im)));
}
template <class F>
Parts<F> complex_cos_whole(F x_re, F x_im) {
  return parts_of_number<F>(ComplexRange<F>::cos(number_of(x_re, x_im)));
}

// ---- sqrt ---------------------------------------------------------------------------------------

template <class F>
bool complex_sqrt_is_rare(F x_re, F x_im) {
  F re = absolute(x_re), im = absolute(x_im);
  bool ordinary =
      magnitude_below(re, ComplexRange<F>::large) & magnitude_below(im, ComplexRange<F>::large) &
      !(magnitude_below(re, ComplexRange<F>::small) & magnitude_below(im, ComplexRange<F>::small));
  return !(ordinary | ((re == 0) & (im == 0)));
}
// The larger part of the root, and the one that follows from it.
template <class F>
Parts<F> complex_root_parts(F x_re, F x_im) {
  F root = square_root((absolute(x_re) + hypotenuse(x_re, x_im)) * (F)0.5);
  // `small` is lost in every sum but that of zeros: see hypotenuse.
  F other = absolute(x_im) / (root + root + ComplexRange<F>::small);
  return {root, pick(x_re == 0, root, other)};
}
template <class F>
F complex_sqrt_re(F x_re, F x_im) {
  Parts<F> root = complex_root_parts(x_re, x_im);
  return pick(x_re < 0, root.im, root.re);
}
template <class F>
F complex_sqrt_im(F x_re, F x_im) {
  Parts<F> root = complex_root_parts(x_re, x_im);
  return copy_sign(pick(x_re < 0, root.re, root.im), x_im);
}
template <class F>
Parts<F> complex_sqrt_whole(F x_re, F x_im) {
  return parts_of_number<F>(ComplexRange<F>::sqrt(number_of(x_re, x_im)));
}

// ---- powers -------------------------------------------------------------------------------------
// NumPy multiplies for whole exponents below 100, without fma, and so do these, to the bit.

template <class F>
Parts<F> complex_product(Parts<F> x, Parts<F> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class F>
bool complex_power_is_rare(F y_re, F y_im) {
  return !((y_im == 0) & ((y_re == 2) | (y_re == 3)));
}
template <class F>
Parts<F> complex_power_small(F x_re, F x_im, F y_re) {
  Parts<F> x = {x_re, x_im}, square = complex_product(x, x);
  bool zero = (x_re == 0) & (x_im == 0), cubes = y_re == 3;
  // A cube that is not the result might raise a flag.
  Parts<F> power = complex_product(x, {pick(cubes, square.re, x_re), pick(cubes, square.im, x_im)});
  return {pick(zero, (F)0, power.re), pick(zero, (F)0, power.im)};
}
// 1 / x as NumPy's power divides.
template <class F>
Parts<F> complex_inverse(Parts<F> x) {
  F re = absolute(x.re), im = absolute(x.im);
  if (re == 0 && im == 0) return {(F)1 / re, (F)0 / im};
  if (re >= im) {
    F ratio = x.im / x.re, scale = (F)1 / (x.re + x.im * ratio);
    return {((F)1 + (F)0 * ratio) * scale, ((F)0 - ratio) * scale};
  }
  F ratio = x.re / x.im, scale = (F)1 / (x.im + x.re * ratio);
  return {(ratio + (F)0) * scale, ((F)0 * ratio - (F)1) * scale};
}
template <class F>
Parts<F> complex_power_whole(F x_re, F x_im, F y_re, F y_im) {
  if (y_re == 0 && y_im == 0) return {1, 0};
  if (x_re == 0 && x_im == 0) {
    if (y_re > 0) return {0, 0};
    F nan = invalid_if(true, y_re);  // of digits that no optimiser knows
    return {nan, nan};
  }
  // NumPy compares an exponent without imaginary part with whole numbers.
  if (y_im == 0 && is_nan(y_re)) return {invalid_if(true, y_re), y_re};
  int n = y_im == 0 && y_re > -100 && y_re < 100 ? (int)y_re : 0;
  if (n == 0 || (F)n != y_re)
    return parts_of_number<F>(ComplexRange<F>::power(number_of(x_re, x_im), number_of(y_re, y_im)));
  Parts<F> power = {x_re, x_im}, result = power;
  if (n == 1) return power;
  if (n == 2) return complex_product(power, power);
  if (n == 3) return complex_product(power, complex_product(power, power));
  result = {1, 0};
  for (int rest = n < 0 ? -n : n; rest; rest >>= 1) {
    if (rest & 1) result = complex_product(result, power);
    if (rest > 1) power = complex_product(power, power);
  }
  return n < 0 ? complex_inverse(result) : result;
}

}  // namespace
}  // namespace frit::formula
