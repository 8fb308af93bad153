// software_fma.h: fma on processors without it, rounded once. C's own changes the rounding mode
// twice for each, a thousand cycles.
//
// The product is taken apart into two numbers (Dekker: A floating-point technique for extending the
// available precision, 1971), the sum of the three into a number and a rest that is rounded to odd,
// so that the last addition rounds as if it knew all digits (Boldo and Melquiond: Emulation of a
// FMA and correctly rounded sums: proved algorithms using rounding to odd, 2008).
#pragma once

namespace frit::formula {
namespace {
namespace software {

struct Parts {
  double high, low;  // high is the rounded sum of both
};

inline Parts sum(double x, double y) {
  double high = x + y, of_y = high - x;
  return {high, (x - (high - of_y)) + (y - of_y)};
}

inline Parts product(double x, double y) {
  constexpr double splitter = 0x1p27 + 1;
  double x_split = splitter * x, y_split = splitter * y;
  double x_high = x_split - (x_split - x), y_high = y_split - (y_split - y);
  double x_low = x - x_high, y_low = y - y_high, high = x * y;
  return {high, ((x_high * y_high - high) + x_high * y_low + x_low * y_high) + x_low * y_low};
}

// What high lacks is put into its last digit: that of a number that isn't exact is 1.
inline double rounded_to_odd(Parts parts) {
  auto bits = __builtin_bit_cast(unsigned long, parts.high);
  if (parts.low == 0 || (bits & 1) != 0) return parts.high;
  bits += (parts.low > 0) == (parts.high > 0) ? 1 : -1;
  return __builtin_bit_cast(double, bits);
}

inline int exponent_of(double x) {
  return (int)(__builtin_bit_cast(unsigned long, x) >> 52 & 0x7ff) - 1023;
}
// Of sizes with which nothing here overflows or loses digits.
inline bool is_middling(double x) { return (unsigned)(exponent_of(x) + 400) < 800; }

// What follows from it is computed in its branch only: of infinite numbers it would be invalid.
template <class F>
F here(F x) {
  __asm__ volatile("" : "+x"(x));
  return x;
}

inline double fused_multiply_add(double x, double y, double z) {
  if (is_middling(x) && is_middling(y) && exponent_of(z) < 900) {
    x = here(x), z = here(z);
    const Parts xy = product(x, y), first = sum(z, xy.low), second = sum(xy.high, first.high);
    return second.high + rounded_to_odd(sum(first.low, second.low));
  }
  if ((x == 0 || y == 0) && exponent_of(x) < 1024 && exponent_of(y) < 1024) return x * y + z;
  return __builtin_fma(x, y, z);
}

// The product of two floats is a double; so is their sum, but for what it is off by.
inline float fused_multiply_add(float x, float y, float z) {
  if (z != z) return z;  // also of 0 * infinity, without a flag
  const double xy = (double)here(x) * (double)y, whole = xy + (double)z;
  if (exponent_of(whole) == 1024) return (float)whole;
  return (float)rounded_to_odd(sum(here(xy), (double)here(z)));
}

}  // namespace software
}  // namespace
}  // namespace frit::formula
