// software_fma_test.cpp: as the processor's or C's fma, to the last bit and flag.
#ifdef __x86_64__
#include "ops/software_fma.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

namespace frit {
namespace {

using Limits = std::numeric_limits<double>;
constexpr int watched = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
constexpr double special[] = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              1.5,
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN(),
                              Limits::denorm_min(),
                              -Limits::denorm_min(),
                              Limits::min(),
                              Limits::max(),
                              -Limits::max(),
                              0x1p-149,
                              0x1p-126,
                              0x1.fffffep127,
                              0x1p-538,
                              0x1p511};

template <class F>
struct Result {
  F value;
  int flags;
  bool operator==(const Result& other) const {
    using Bits = std::conditional_t<sizeof(F) == 8, std::uint64_t, std::uint32_t>;
    const bool is_same = std::isnan(value)
                             ? std::isnan(other.value)
                             : std::bit_cast<Bits>(value) == std::bit_cast<Bits>(other.value);
    return is_same && flags == other.flags;
  }
};

template <class F, class Function>
Result<F> result(Function function, F x, F y, F z) {
  std::feclearexcept(FE_ALL_EXCEPT);
  const volatile F value = function(x, y, z);
  const int flags = std::fetestexcept(watched);
  return {value, flags};
}

template <class F>
void expect_same(F x, F y, F z) {
  const auto software = result<F>(
      [](F a, F b, F c) { return formula::software::fused_multiply_add(a, b, c); }, x, y, z);
  const auto expected = result<F>([](F a, F b, F c) { return std::fma(a, b, c); }, x, y, z);
  ASSERT_EQ(software, expected) << std::hexfloat << x << " * " << y << " + " << z << ": "
                                << software.value << " and " << expected.value << ", flags "
                                << software.flags << " and " << expected.flags;
}

class Numbers {
 public:
  double next() {
    const std::uint64_t bits = random_();
    switch (random_() % 5) {
      case 0:
        return std::bit_cast<double>(bits);  // any at all
      case 1:
        return of(bits, 120);
      case 2:  // of few digits: products are exact, sums end in a tie
        return of(bits & (~std::uint64_t{0} << random_() % 53), 6);
      case 3:
        return special[bits % std::size(special)];
      default:
        return of(bits, 2);
    }
  }
  // What takes nearly all of x * y away.
  double opposite(double x, double y) {
    const double z = -(x * y);
    return random_() % 2 == 0 ? z : std::nextafter(z, random_() % 2 == 0 ? HUGE_VAL : -HUGE_VAL);
  }
  bool one_in_four() { return random_() % 4 == 0; }

 private:
  // Exponents of that many sizes around 0.
  double of(std::uint64_t bits, unsigned sizes) {
    const std::uint64_t exponent = 1023 - sizes / 2 + random_() % sizes;
    return std::bit_cast<double>((bits & ~(std::uint64_t{0x7ff} << 52)) | exponent << 52);
  }
  std::mt19937_64 random_{1};
};

TEST(SoftwareFma, special_numbers) {
  for (const double x : special)
    for (const double y : special)
      for (const double z : special) {
        expect_same(x, y, z);
        expect_same(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
      }
}

TEST(SoftwareFma, random_numbers) {
  Numbers numbers;
  for (int k = 0; k < 300'000; ++k) {
    const double x = numbers.next(), y = numbers.next();
    const double z = numbers.one_in_four() ? numbers.opposite(x, y) : numbers.next();
    expect_same(x, y, z);
    const auto fx = static_cast<float>(x), fy = static_cast<float>(y);
    expect_same(fx, fy, numbers.one_in_four() ? -(fx * fy) : static_cast<float>(z));
  }
}

}  // namespace
}  // namespace frit
#endif
