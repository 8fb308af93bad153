// half_functions.h: exp, logarithms, sin and cos of a float16 that stands in a float, to 2^-17 of
// themselves.
#pragma once

#include "ops/exponential.h"
#include "ops/logarithm.h"
#include "ops/machine.h"

namespace frit::formula {
namespace {  // see machine.h

inline bool size_is_below(half x, float limit) {
  return (bits_of(x) & 0x7fff) < bits_of((half)limit);
}

// 2^x, |x| < 100.
inline float half_exponential2(float x) {
  // (2^r - 1) / r, |r| <= 0.5
  static constexpr float slope[] = {0x1.62e12cp-1f, 0x1.ec036ep-3f, 0x1.c9fc74p-5f, 0x1.3a057cp-7f};
  constexpr float rounder = Exponential<float>::rounder;
  float n_rounder = x + rounder, r = x - (n_rounder - rounder);
  float power = power_of_rounded(n_rounder);
  return fused_multiply_add(r * power, polynomial(slope, r), power);
}
// Of base^x, where the base's logarithm is `scale`.
inline float half_power(float x, float scale) {
  bool stays = is_nan(x) | (x == infinity_of<float>());
  float result = half_exponential2(clamped(pick(stays, 0.0f, x) * scale, -64.0f, 64.0f));
  return pick(stays, x, result);
}

// log2(x), x > 0
inline float half_log2(float x) {
  // log2(1 + f) / f, -0.3125 <= f < 0.375
  static constexpr float slope[] = {0x1.715518p0f,   -0x1.714b4cp-1f, 0x1.eae1a4p-2f,
                                    -0x1.73d73ep-2f, 0x1.4c75dep-2f,  -0x1.e8033ep-3f};
  LogarithmParts<float> parts(x);
  float f = parts.z - 1;
  return fused_multiply_add(f, polynomial(slope, f), parts.unit * parts.k);
}
inline bool is_positive(half x) { return (uint16)(bits_of(x) - 1) < 0x7bff; }  // and finite

// sin(x - shift * pi), n being the integer nearest to x / pi + shift.
inline float half_sine(float x, float shift) {
  // (sin(r) / r - 1) / r^2 in r^2, |r| <= pi / 2
  static constexpr float curve[] = {-0x1.555112p-3f, 0x1.107138p-7f, -0x1.84dc3cp-13f};
  constexpr float rounder = Exponential<float>::rounder;
  float n_rounder = fused_multiply_add(x, 0x1.45f306p-2f, shift) + rounder;
  float n = n_rounder - rounder - shift;
  // pi in two positive parts, of which -0 stays what it is.
  float r = fused_multiply_add(-n, 0x1.4442d2p-23f, fused_multiply_add(-n, 0x1.921fb4p1f, x));
  float square = r * r;
  float value = r * fused_multiply_add(square, polynomial(curve, square), 1.0f);
  return from_bits<float>(bits_of(value) ^ (bits_of(n_rounder) << 31));
}

}  // namespace
}  // namespace frit::formula
