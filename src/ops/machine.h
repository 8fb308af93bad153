// machine.h: the element types and single machine operations that formulas are made of.
//
// Compiled by clang only. Everything above it (formula.h, mathematics.h) is a chain of these
// operations and selects: no branch, no table but by look_up, no library: so code generators can
// widen it to vectors and every tier gives the same bits. fma is used: it is one operation with one
// result on every machine (in hardware from x86-64-v3 and on Arm; elsewhere code generators leave a
// formula with fma to the ready-made loops).
#pragma once

#if defined(FRIT_LEVEL) && defined(__x86_64__) && !defined(__FMA__)
#include "ops/software_fma.h"
#endif

namespace frit::formula {
// Internal linkage: the same functions are compiled for several instruction sets, and the linker
// must not take one set's copy for another's.
namespace {

using int8 = signed char;
using int16 = short;
using int32 = int;
using int64 = long;
using uint8 = unsigned char;
using uint16 = unsigned short;
using uint32 = unsigned int;
using uint64 = unsigned long;
using half = _Float16;

// ---- the format ---------------------------------------------------------------------------------

template <class F>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32;
  using Int = int32;
  static constexpr float huge = 0x1p127f;
  static constexpr int digits = 24, stored_digits = 23, bias = 127, exponent_mask = 0xff;
  static constexpr float two_to_digits = 0x1p24f, smallest_normal = 0x1p-126f;
};
template <>
struct Format<double> {
  using Bits = uint64;
  using Int = int64;
  static constexpr double huge = 0x1p1023;
  static constexpr int digits = 53, stored_digits = 52, bias = 1023, exponent_mask = 0x7ff;
  static constexpr double two_to_digits = 0x1p53, smallest_normal = 0x1p-1022;
};

inline uint64 bits_of(double x) { return __builtin_bit_cast(uint64, x); }
inline uint32 bits_of(float x) { return __builtin_bit_cast(uint32, x); }
inline uint16 bits_of(half x) { return __builtin_bit_cast(uint16, x); }
template <class F>
F from_bits(typename Format<F>::Bits bits) {
  return __builtin_bit_cast(F, bits);
}
inline half half_of_bits(uint32 bits) { return __builtin_bit_cast(half, (uint16)bits); }
template <class F>
F infinity_of() {
  return (F)__builtin_inf();
}
template <class F>
F nan_of() {
  return (F)__builtin_nan("");
}

// 2^exponent, for exponents of normal numbers.
template <class F>
F power_of_two(int32 exponent) {
  using Bits = typename Format<F>::Bits;
  return from_bits<F>((Bits)(exponent + Format<F>::bias) << Format<F>::stored_digits);
}

// ---- single machine operations ------------------------------------------------------------------

inline double absolute(double x) { return __builtin_fabs(x); }
inline float absolute(float x) { return __builtin_fabsf(x); }
inline double copy_sign(double x, double y) { return __builtin_copysign(x, y); }
inline float copy_sign(float x, float y) { return __builtin_copysignf(x, y); }
inline double square_root(double x) { return __builtin_sqrt(x); }
inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double round_down(double x) { return __builtin_floor(x); }
inline float round_down(float x) { return __builtin_floorf(x); }
inline double round_up(double x) { return __builtin_ceil(x); }
inline float round_up(float x) { return __builtin_ceilf(x); }
inline double round_to_zero(double x) { return __builtin_trunc(x); }
inline float round_to_zero(float x) { return __builtin_truncf(x); }
inline double round_to_even(double x) { return __builtin_rint(x); }
inline float round_to_even(float x) { return __builtin_rintf(x); }
#if defined(FRIT_LEVEL) && defined(__x86_64__) && !defined(__FMA__)
using software::fused_multiply_add;
#else
inline double fused_multiply_add(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float fused_multiply_add(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#endif
// x * y + z, rounded once or twice, as the machine likes it: where that makes no difference.
template <class F>
F multiply_add(F x, F y, F z) {
#pragma clang fp contract(on)
  return x * y + z;
}

// Both values are computed: a ?: of longer expressions may become a branch.
template <class T>
T pick(bool condition, T yes, T no) {
  return condition ? yes : no;
}

// The constant at a place of which the low bits count; `count` is a power of two. The code
// generators make of the second form what suits the machine; of the first, which clang's vectoriser
// asks for, permute_tables.cpp does.
template <class F, int count>
F look_up(const F (&table)[count], typename Format<F>::Bits place) {
#ifdef FRIT_LEVEL
  return table[place & (count - 1)];
#else
  using Entries = F __attribute__((ext_vector_type(count)));
  Entries entries = {};
#pragma clang loop unroll(full)
  for (int k = 0; k < count; ++k) entries[k] = table[k];
  return entries[place & (count - 1)];
#endif
}

// These compare bits or for equality: quiet on NaN, where < and > would raise invalid.
template <class F>  // of a vector: for each element
auto is_nan(F x) {
  return x != x;
}
template <class F>
bool is_infinite(F x) {
  return absolute(x) == infinity_of<F>();
}
template <class F>
bool is_finite(F x) {
  return (typename Format<F>::Int)bits_of(absolute(x)) <
         (typename Format<F>::Int)bits_of(infinity_of<F>());
}
template <class F>
bool sign_bit(F x) {
  return (typename Format<F>::Int)bits_of(x) < 0;
}
template <class F>
bool magnitude_below(F x, F limit) {
  return (typename Format<F>::Int)bits_of(absolute(x)) < (typename Format<F>::Int)bits_of(limit);
}

// ---- raising flags ------------------------------------------------------------------------------
// An optimiser may fold arithmetic on constants, and may compute both sides of a select for all
// elements. Hence these take their digits from x and choose the exponent in integers: what they
// compute is harmless unless `condition` holds.

// The digits of x behind the exponent of 1, or behind these other leading bits.
template <class F>
F digits_behind(bool condition, typename Format<F>::Bits leading, F x) {
  using Bits = typename Format<F>::Bits;
  constexpr Bits digits = ((Bits)1 << (Format<F>::stored_digits - 1)) - 1;
  return from_bits<F>(
      (Bits)((bits_of(x) & digits) | pick(condition, leading, (Bits)bits_of((F)1))));
}
// Infinity and the flag overflow if the condition holds, else some number of at least 1.
template <class F>
F overflow_if(bool condition, F x) {
  F large = digits_behind(condition, bits_of(Format<F>::huge), x);
  return large * large;
}
inline void raise_overflow() {
  volatile float large = Format<float>::huge;
  large = large * large;
}
// NaN and the flag invalid if the condition holds (by a signalling NaN), else some number.
template <class F>
F invalid_if(bool condition, F x) {
  F signalling =
      digits_behind(condition, (typename Format<F>::Bits)(bits_of(infinity_of<F>()) | 1), x);
  return signalling + signalling;
}

}  // namespace
}  // namespace frit::formula
