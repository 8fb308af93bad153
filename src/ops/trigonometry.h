// trigonometry.h: sin, cos, tan and their inverses.
#pragma once

#include "ops/exponential.h"
#include "ops/machine.h"

namespace frit::formula {
namespace {  // see machine.h

template <class F>
struct Trigonometry;
template <>
struct Trigonometry<double> {
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  // pi / 2 in three parts.
  static constexpr double high = 0x1.921fb54442d18p+0, middle = 0x1.1a62633145c07p-54,
                          low = -0x1.f1976b7ed8fbcp-110;
  static constexpr double limit = 0x1p40;  // of the angles that these parts reduce
  // (sin(r) / r - 1) / r^2 in r^2, |r| <= pi / 4
  static constexpr double sine[] = {-0x1.5555555555555p-3,  0x1.1111111110c75p-7,
                                    -0x1.a01a019e9daa3p-13, 0x1.71de37ad58585p-19,
                                    -0x1.ae601c94d2daap-26, 0x1.5e1009160a347p-33};
  // (cos(r) - 1 + r^2 / 2) / r^4 in r^2
  static constexpr double cosine[] = {0x1.5555555555555p-5,  -0x1.6c16c16c168c8p-10,
                                      0x1.a01a019f37a4ep-16, -0x1.27e4fa0213fd3p-22,
                                      0x1.1eeb56f12ca4bp-29, -0x1.9072de2e6f4eap-37};
  // (tan(r) / r - 1) / r^2 in r^2
  static constexpr double tangent[] = {
      0x1.55555555554e6p-2,   0x1.1111111118efdp-3,  0x1.ba1ba1b3e33e9p-5,   0x1.664f49c078a37p-6,
      0x1.226e0fd911f7cp-7,   0x1.d6d9899c654f4p-9,  0x1.7d577a26ca6dep-10,  0x1.3819c7c00f089p-11,
      0x1.d10fb808ce5bbp-13,  0x1.20e3e557fa707p-13, -0x1.d69d3781966fcp-16, 0x1.7d5f59a648803p-14,
      -0x1.7ee4a498cd64fp-15, 0x1.61058c0d53b53p-16};
};
template <>
struct Trigonometry<float> {
  static constexpr float two_over_pi = 0x1.45f306p-1f;
  static constexpr float high = 0x1.921fb6p0f, middle = -0x1.777a5cp-25f, low = -0x1.ee59dap-50f;
  static constexpr float limit = 0x1p17f;
  static constexpr float sine[] = {-0x1.555556p-3f, 0x1.111198p-7f, -0x1.a08304p-13f,
                                   0x1.877072p-19f};
  static constexpr float cosine[] = {0x1.555554p-5f, -0x1.6c129cp-10f, 0x1.9bc644p-16f};
  static constexpr float tangent[] = {0x1.5554d2p-2f, 0x1.11302ep-3f, 0x1.b540b4p-5f,
                                      0x1.92352cp-6f, 0x1.817b5p-9f,  0x1.36d3bp-7f};
};

// x = n * pi / 2 + angle + tail, |angle| <= pi / 4, tail a little of it. Only the low two bits of
// `quadrant` count.
template <class F>
struct ReducedAngle {
  typename Format<F>::Bits quadrant;
  F angle, tail;
};

// Cody and Waite's reduction. The first difference is exact: x and n * high are multiples of one
// ulp of `high`, and differ by less than 1. The second is exact as a pair.
template <class F>
ReducedAngle<F> reduced(F x) {
  using C = Trigonometry<F>;
  F n_rounder = fused_multiply_add(x, C::two_over_pi, Exponential<F>::rounder);
  F n = n_rounder - Exponential<F>::rounder;
  F first = fused_multiply_add(-n, C::high, x);
  F product = n * C::middle;
  F product_low = fused_multiply_add(n, C::middle, -product);
  F second = first - product;
  F lost = (first - second) - product;
  F low = fused_multiply_add(-n, C::low, lost - product_low);
  return {bits_of(n_rounder), second, low};
}

template <class F>
struct SineCosine {
  F sine, cosine;
  explicit SineCosine(F angle) {
    using C = Trigonometry<F>;
    F z = angle * angle;
    sine = fused_multiply_add(angle * z, polynomial(C::sine, z), angle);
    F half_z = (F)0.5 * z;
    F near = (F)1 - half_z;
    cosine = near + fused_multiply_add(z * z, polynomial(C::cosine, z), ((F)1 - near) - half_z);
  }
};

// sin(angle + quadrant * pi / 2)
template <class F>
F sine_in_quadrant(F angle, typename Format<F>::Bits quadrant) {
  using Bits = typename Format<F>::Bits;
  SineCosine<F> both(angle);
  F value = pick(quadrant & 1, both.cosine, both.sine);
  return from_bits<F>((Bits)(bits_of(value) ^ ((quadrant & 2) << (8 * sizeof(F) - 2))));
}

template <class F>
bool angle_is_rare(F x) {
  return !magnitude_below(x, Trigonometry<F>::limit) & is_finite(x);
}

template <class F>
F sin_of(F x) {
  ReducedAngle<F> r = reduced(x);
  F value = sine_in_quadrant(r.angle + r.tail, r.quadrant);
  return pick(x == 0, x, value);
}
template <class F>
F cos_of(F x) {
  ReducedAngle<F> r = reduced(x);
  return sine_in_quadrant(r.angle + r.tail, r.quadrant + 1);
}

// The tangent of the angle, or minus its reciprocal, of which in double the error is made good.
template <class F>
F tangent_of(ReducedAngle<F> r) {
  F z = r.angle * r.angle;
  F rest = fused_multiply_add(r.angle * z, polynomial(Trigonometry<F>::tangent, z, z * z), r.tail);
  F tangent = r.angle + rest;
  // Not by 0, where it counts for nothing: 1 or more then.
  using Bits = typename Format<F>::Bits;
  bool odd = (r.quadrant & 1) != 0;
  F inverse = (F)-1 / from_bits<F>((Bits)(bits_of(tangent) | pick(odd, (Bits)0, bits_of((F)1))));
  if constexpr (__is_same(F, double)) {
    F tangent_low = (r.angle - tangent) + rest;
    F error = fused_multiply_add(tangent, inverse, fused_multiply_add(tangent_low, inverse, (F)1));
    inverse = fused_multiply_add(inverse, error, inverse);
  }
  return pick(odd, inverse, tangent);
}
template <class F>
F tan_of(F x) {
  F value = tangent_of(reduced(x));
  return pick(x == 0, x, value);
}

// ---- angles of any size -------------------------------------------------------------------------
// Payne and Hanek: of the product with 2 / pi only the bits that matter, in integers. By loops: for
// FLOAT_RARE.

inline uint64 bits_of_two_over_pi(int from) {
  static const uint64 words[] = {0,
                                 0xa2f9836e4e441529,
                                 0xfc2757d1f534ddc0,
                                 0xdb6295993c439041,
                                 0xfe5163abdebbc561,
                                 0xb7246e3a424dd2e0,
                                 0x06492eea09d1921c,
                                 0xfe1deb1cb129a73e,
                                 0xe88235f52ebb4484,
                                 0xe99c7026b45f7e41,
                                 0x3991d639835339f4,
                                 0x9c845f8bbdf9283b,
                                 0x1ff897ffde05980f,
                                 0xef2f118b5a0a6d1f,
                                 0x6d367ecf27cb09b7,
                                 0x4f463f669e5fea2d,
                                 0x7527bac7ebe5f17b,
                                 0x3d0739f78a5292ea,
                                 0x6bfb5fb11f8d5d08,
                                 0x56033046fc7b6bab,
                                 0xf0cfbc209af4361d};
  int word = (from + 64) / 64, shift = (from + 64) % 64;
  return shift == 0 ? words[word] : words[word] << shift | words[word + 1] >> (64 - shift);
}

[[gnu::noinline]] inline ReducedAngle<double> reduced_whole(double x) {
  uint64 bits = bits_of(absolute(x));
  int exponent = (int)(bits >> 52) - 1075;  // |x| = significand * 2^exponent, exponent >= -12
  uint64 significand = (bits & 0x000fffffffffffff) | 0x0010000000000000;
  // Bits of 2 / pi above these give multiples of 4; a fraction of 190 bits is left.
  int from = exponent - 2;
  using Wide = unsigned __int128;
  Wide low = (Wide)significand * bits_of_two_over_pi(from + 128);
  Wide middle = (Wide)significand * bits_of_two_over_pi(from + 64) + (uint64)(low >> 64);
  uint64 words[3] = {significand * bits_of_two_over_pi(from) + (uint64)(middle >> 64),
                     (uint64)middle, (uint64)low};
  uint64 quadrant = (words[0] + ((uint64)1 << 61)) >> 62;  // to nearest
  int64 top = (int64)(words[0] - (quadrant << 62));
  // The signed fraction as a sum of two doubles, from pieces that are exact.
  double pieces[6] = {(double)(top >> 32) * 0x1p-30,       (double)(uint32)top * 0x1p-62,
                      (double)(words[1] >> 32) * 0x1p-94,  (double)(uint32)words[1] * 0x1p-126,
                      (double)(words[2] >> 32) * 0x1p-158, (double)(uint32)words[2] * 0x1p-190};
  double high = 0, rest = 0;
  for (double piece : pieces) {
    double sum = high + piece;
    double part = sum - high;
    rest += (high - (sum - part)) + (piece - part);
    high = sum;
  }
  using C = Trigonometry<double>;
  double angle = high * C::high;
  double tail = fused_multiply_add(high, C::high, -angle) + (high * C::middle + rest * C::high);
  bool negative = sign_bit(x);
  return {negative ? 0 - quadrant : quadrant, negative ? -angle : angle, negative ? -tail : tail};
}

inline double sin_whole(double x) {
  ReducedAngle<double> r = reduced_whole(x);
  return sine_in_quadrant(r.angle + r.tail, r.quadrant);
}
inline double cos_whole(double x) {
  ReducedAngle<double> r = reduced_whole(x);
  return sine_in_quadrant(r.angle + r.tail, r.quadrant + 1);
}
inline double tan_whole(double x) { return tangent_of(reduced_whole(x)); }

// float angles that float's parts do not reduce: in double.
inline float sin_whole(float x) {
  return (float)(angle_is_rare((double)x) ? sin_whole((double)x) : sin_of((double)x));
}
inline float cos_whole(float x) {
  return (float)(angle_is_rare((double)x) ? cos_whole((double)x) : cos_of((double)x));
}
inline float tan_whole(float x) {
  return (float)(angle_is_rare((double)x) ? tan_whole((double)x) : tan_of((double)x));
}

// ---- inverse functions --------------------------------------------------------------------------

template <class F>
struct Arcs;
template <>
struct Arcs<double> {
  static constexpr double quarter_high = 0x1.921fb54442d18p-1, quarter_low = 0x1.1a62633145c07p-55;
  static constexpr double half_high = 0x1.921fb54442d18p+0, half_low = 0x1.1a62633145c07p-54;
  static constexpr double pi_high = 0x1.921fb54442d18p+1, pi_low = 0x1.1a62633145c07p-53;
  static constexpr double tan_eighth = 0x1.a827999fcef34p-2;  // of pi / 8
  // (atan(t) / t - 1) / t^2 in t^2, |t| <= tan(pi / 8)
  static constexpr double tangent[] = {
      -0x1.5555555555555p-2, 0x1.9999999999429p-3, -0x1.249249243d5dbp-3, 0x1.c71c7188ab98fp-4,
      -0x1.745d0b99ded28p-4, 0x1.3b126bbc60fafp-4, -0x1.10fae2a77b01cp-4, 0x1.dfecbcef0e29fp-5,
      -0x1.a0b80a4b8f9b8p-5, 0x1.41b2dd159d0b3p-5, -0x1.3ae613233315fp-6};
  // (asin(t) / t - 1) / t^2 in t^2, |t| <= 1/2
  static constexpr double sine[] = {
      0x1.555555555554ep-3, 0x1.3333333337233p-4, 0x1.6db6db67f6d9fp-5,  0x1.f1c71fbd29fb8p-6,
      0x1.6e8b264d46888p-6, 0x1.1c5997c356d91p-6, 0x1.c86a22cdaff3ep-7,  0x1.856073c14bd94p-7,
      0x1.fd1151b570dd7p-8, 0x1.087182f11a045p-6, -0x1.6602746b9f34fp-7, 0x1.cfa0dd17fcda8p-6};
};
template <>
struct Arcs<float> {
  static constexpr float half_high = 0x1.921fb6p0f, half_low = -0x1.777a5cp-25f;
  static constexpr float pi_high = 0x1.921fb6p1f, pi_low = -0x1.777a5cp-24f;
  // |t| <= 1
  static constexpr float tangent[] = {-0x1.5554e6p-2f, 0x1.997adap-3f,  -0x1.231b42p-3f,
                                      0x1.b56794p-4f,  -0x1.367d26p-4f, 0x1.64c28ep-5f,
                                      -0x1.0f9feap-6f, 0x1.85cb9p-9f};
  static constexpr float sine[] = {0x1.5555cap-3f, 0x1.33013ep-4f, 0x1.748e7p-5f, 0x1.8b8adcp-6f,
                                   0x1.59f148p-5f};
};

// atan(y / x) for x, y >= 0, not both 0 or infinite: by t = y / x, (y - x) / (y + x) or -x / y, the
// smallest of them.
inline double arctangent_of_quotient(double y, double x) {
  bool low = y < Arcs<double>::tan_eighth * x, high = x < Arcs<double>::tan_eighth * y;
  double above = pick(low, y, pick(high, -x, y - x));
  double below = pick(low, x, pick(high, y, y + x));
  double base = pick(low, 0.0, pick(high, Arcs<double>::half_high, Arcs<double>::quarter_high));
  double base_low = pick(low, 0.0, pick(high, Arcs<double>::half_low, Arcs<double>::quarter_low));
  double t = above / below;
  double z = t * t;
  return base +
         (fused_multiply_add(t * z, polynomial(Arcs<double>::tangent, z, z * z), base_low) + t);
}

inline double arctan_of(double x) {
  double size = pick(is_nan(x), 0.0, absolute(x));
  double inside = pick(size > 0x1p60, 0x1p60, size);
  return pick(is_nan(x), x, copy_sign(arctangent_of_quotient(inside, 1.0), x));
}

inline double arctan2_of(double y, double x) {
  double a = pick(is_nan(y), 1.0, absolute(y)), b = pick(is_nan(x), 1.0, absolute(x));
  // Both 0: the quotient is 0; both infinite: it is 1; huge: their sum must not overflow; tiny:
  // products must not vanish.
  bool infinite = is_infinite(a) & is_infinite(b);
  bool huge = (a > 0x1p1000) | (b > 0x1p1000);
  bool tiny = (a < 0x1p-900) & (b < 0x1p-900);
  double scale = pick(huge, 0x1p-30, pick(tiny, 0x1p100, 1.0));
  double above = pick(infinite, 1.0, a * scale);
  double below = pick(infinite, 1.0, pick((a == 0) & (b == 0), 1.0, b * scale));
  double angle = arctangent_of_quotient(above, below);
  double turned = (Arcs<double>::pi_high - angle) + Arcs<double>::pi_low;
  double result = copy_sign(pick(sign_bit(x), turned, angle), y);
  return pick(is_nan(x), x, pick(is_nan(y), y, result));
}

// atan(t) + base, 0 <= t <= 1, or base - atan(t); base is 0, pi / 2 or pi.
inline float arctangent_from(float base, bool turned, float t) {
  using C = Arcs<float>;
  float z = t * t;
  float angle = fused_multiply_add(t * z, polynomial(C::tangent, z, z * z), t);
  return base + fused_multiply_add(base, C::half_low / C::half_high, pick(turned, -angle, angle));
}
inline float arctan_of(float x) {
  float size = absolute(x);
  bool large = !magnitude_below(x, 1.0f);
  // 1 / size, or size / 1. In bits, see digits_behind.
  uint32 swap = pick(large, bits_of(size) ^ bits_of(1.0f), 0u);
  float t = from_bits<float>(bits_of(size) ^ swap) / from_bits<float>(bits_of(1.0f) ^ swap);
  float angle = arctangent_from(pick(large, Arcs<float>::half_high, 0.0f), large, t);
  return pick(is_nan(x), x, copy_sign(angle, x));
}
inline float arctan2_of(float y, float x) {
  using C = Arcs<float>;
  float a = absolute(y), b = absolute(x);
  bool steep = magnitude_below(x, a), behind = sign_bit(x);
  float above = pick(steep, b, a), below = pick(steep, a, b);
  // Both 0: the quotient is 0 / 1; both infinite: it is 1 / 1. In bits, see digits_behind.
  uint32 finite =
      pick(above == infinity_of<float>(), bits_of(infinity_of<float>()) ^ bits_of(1.0f), 0u);
  uint32 nonzero = pick(below == 0, bits_of(1.0f), 0u);
  float t = from_bits<float>(bits_of(above) ^ finite) /
            from_bits<float>((bits_of(below) ^ finite) | nonzero);
  float base = pick(steep, C::half_high, pick(behind, C::pi_high, 0.0f));
  float angle = copy_sign(arctangent_from(base, steep != behind, t), y);
  return pick(is_nan(x), x, pick(is_nan(y), y, angle));
}

// asin(t) - t for t in [0, 1/2], as t * z * polynomial.
template <class F>
F arcsine_rest(F t, F z) {
  return t * z * polynomial(Arcs<F>::sine, z, z * z);
}

template <class F>
F arcsin_of(F x) {
  using C = Arcs<F>;
  F size = pick(is_nan(x), (F)0, absolute(x));
  bool large = size > (F)0.5;
  F z = pick(large, (F)0.5 - (F)0.5 * size, size * size);
  F t = pick(large, square_root(z), size);
  F rest = arcsine_rest(t, z);
  F turned = C::half_high - ((t + t) - (C::half_low - (rest + rest)));
  F inner = t + rest;
  return pick(is_nan(x), x, copy_sign(pick(large, turned, inner), x));
}

template <class F>
F arccos_of(F x) {
  using C = Arcs<F>;
  F size = pick(is_nan(x), (F)0, absolute(x));
  bool large = size > (F)0.5;
  F z = pick(large, (F)0.5 - (F)0.5 * size, size * size);
  F t = pick(large, square_root(z), size);
  F rest = arcsine_rest(t, z);
  F signed_t = copy_sign(t, x), signed_rest = copy_sign(rest, x);
  F inner = C::half_high - (signed_t - (C::half_low - signed_rest));
  F outer = (t + t) + (rest + rest);
  F turned = C::pi_high - ((t + t) - (C::pi_low - (rest + rest)));
  F result = pick(large, pick(sign_bit(x), turned, outer), inner);
  return pick(is_nan(x), x, result);
}

}  // namespace
}  // namespace frit::formula
