// divider_test.cpp: compiled square roots and quotients (codegen/divider.h), against the machine's.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "frit/frit.h"

namespace frit {
namespace {

using Values = std::vector<double>;

class Divider : public ::testing::Test {
 protected:
  void SetUp() override { set_tier(Tier::Compiled); }
  void TearDown() override {
    set_tier(Tier::Automatic);
    EXPECT_EQ(statistics().kernels_failed, 0) << statistics().compile_failure;
  }
};

Array array_of(const Values& values) {
  return from_values(std::span<const double>(values), {static_cast<std::int64_t>(values.size())});
}

// Long enough to be a kernel.
void expect_roots(Values values) {
  values.resize(std::max(values.size(), std::size_t{100'000}), 2.0);
  const Values roots = frit::values<double>(sqrt(array_of(values)));
  for (std::size_t k = 0; k < values.size(); ++k)
    ASSERT_EQ(std::bit_cast<std::uint64_t>(roots[k]),
              std::bit_cast<std::uint64_t>(std::sqrt(values[k])))
        << k << ": " << values[k];
}

// The odd roots of `square` modulo 2^bits, for a square that is 1 modulo 8: digit by digit.
std::vector<std::uint64_t> odd_roots(std::uint64_t square, int bits) {
  std::uint64_t root = 1;
  for (int k = 3; k < bits; ++k)
    if ((root * root - square) >> k & 1) root += 1ULL << (k - 1);
  const std::uint64_t period = 1ULL << bits, half = period / 2;
  return {root % period, (period - root % period) % period, (root + half) % period,
          (half + period - root % period) % period};
}

// The a = m^2 - c, in steps of 2^-106, where m lies in the middle of two numbers and c is small:
// their roots are the nearest to a middle, and the nearer the smaller c is. Where c is 2^7 and
// more, the error of the iteration can't cross it.
TEST_F(Divider, roots_nearest_to_the_middle_of_two_numbers_are_rounded_well) {
  Values values;
  for (const int bits : {54, 55})  // a in [1, 2), a in [2, 4)
    for (std::int64_t c = 1 - (1 << 15); c < 1 << 15; c += 8)
      for (const std::uint64_t m : odd_roots(static_cast<std::uint64_t>(c), bits)) {
        if (m >> 53 != 1) continue;
        const auto numerator = static_cast<unsigned __int128>(m) * m - static_cast<__int128>(c);
        const auto a = static_cast<std::uint64_t>(numerator >> bits);
        if (a >> 52 != 1) continue;
        ASSERT_EQ(static_cast<std::uint64_t>(numerator) << (64 - bits), 0u);
        values.push_back(std::ldexp(static_cast<double>(a), bits - 106));
      }
  ASSERT_GT(values.size(), 5'000u);
  for (const int exponent : {0, -480, 480}) {
    Values scaled = values;
    for (double& value : scaled) value = std::ldexp(value, exponent);
    expect_roots(scaled);
  }
}

TEST_F(Divider, roots_of_any_bits_are_the_machine_s) {
  std::mt19937_64 random(1);
  Values values(1'000'000);
  for (double& value : values) value = std::bit_cast<double>(random() >> 1);
  expect_roots(values);
  for (double& value : values)
    value = std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52),
                       static_cast<int>(random() % 1200) - 600);
  expect_roots(values);
}

const std::vector<double>& odd_values() {
  using Limits = std::numeric_limits<double>;
  static const std::vector<double> values = [] {
    std::vector<double> made = {
        0.0,           Limits::infinity(), Limits::quiet_NaN(),     Limits::denorm_min(),
        Limits::min(), Limits::max(),      std::nextafter(2.0, 0.0)};
    for (const double edge : {0x1p-256, 0x1p256})
      for (const double value : {edge, std::nextafter(edge, 0.0), std::nextafter(edge, 0x1p1000)})
        made.push_back(value);
    for (std::size_t k = made.size(); k-- > 0;) made.push_back(-made[k]);
    return made;
  }();
  return values;
}

TEST_F(Divider, roots_beside_others_that_have_none) {
  const std::vector<double>& odd = odd_values();
  Values values(200'000);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = 1.0 + static_cast<double>(k);
    if (k % 11 == 0) values[k] = odd[k / 11 % odd.size()];
  }
  expect_roots(values);
}

// ---- quotients ---------------------------------------------------------------------------------

// The NaNs of the processor differ in their signs.
void expect_same(double quotient, double x, double y) {
  const double expected = x / y;
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(quotient)) << x << " / " << y;
    return;
  }
  ASSERT_EQ(std::bit_cast<std::uint64_t>(quotient), std::bit_cast<std::uint64_t>(expected))
      << std::hexfloat << x << " / " << y;
}

void expect_quotients(const Values& x, const Values& y) {
  const Values quotients = frit::values<double>(array_of(x) / array_of(y));
  for (std::size_t k = 0; k < quotients.size(); ++k) {
    expect_same(quotients[k], x[k], y[k]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

double scaled(std::uint64_t digits, int exponent) {
  return std::ldexp(static_cast<double>(digits), exponent - 52);
}

std::uint64_t product_modulo(std::uint64_t x, std::uint64_t y, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(x) * y % modulus);
}

// For x = A / 2^52 < y = B / 2^52, of the quotients with A 2^54 = c modulo B one in two is
// c / (B 2^54) from the middle of two numbers; no other is as near for c = 1 and -1.
TEST_F(Divider, quotients_nearest_to_the_middle_of_two_numbers_are_rounded_well) {
  constexpr std::uint64_t one = 1ULL << 52;
  std::mt19937_64 random(2);
  Values xs, ys;
  while (xs.size() < 1'000'000) {
    // Many are just below 2, where the reciprocal is in the middle of two numbers, too.
    const std::uint64_t divisor = (2 * one - 1 - (random() >> (12 + random() % 52))) | 1;
    std::uint64_t inverse = 1;  // of 2^54
    for (int k = 0; k < 54; ++k) inverse = product_modulo(inverse, (divisor + 1) / 2, divisor);
    for (const std::uint64_t c : {1, 2, 3}) {
      const std::uint64_t multiple = product_modulo(inverse, c, divisor);
      for (const std::uint64_t dividend : {multiple, divisor - multiple}) {
        if (dividend < one) continue;
        const int exponent = static_cast<int>(random() % 400) - 200;
        xs.push_back(scaled(dividend, exponent));
        ys.push_back(scaled(divisor, -exponent));
        if (random() % 2) xs.back() = -xs.back();
      }
    }
  }
  expect_quotients(xs, ys);
}

TEST_F(Divider, quotients_of_any_bits_are_the_machine_s) {
  std::mt19937_64 random(3);
  Values xs(1'000'000), ys(xs.size());
  for (Values* values : {&xs, &ys})
    for (double& value : *values) value = std::bit_cast<double>(random());
  expect_quotients(xs, ys);
  // Digits that begin, or end, with as many ones or zeros; exponents around the ends of the range.
  for (Values* values : {&xs, &ys})
    for (double& value : *values) {
      std::uint64_t digits = random() >> 12;
      const std::uint64_t mask = (random() % 2 ? ~0ULL >> 12 : 0) >> random() % 53;
      digits = random() % 2 ? digits | mask : digits & ~mask;
      if (random() % 2) digits ^= (1ULL << 52) - 1;
      const int exponents[] = {0, 255, -256};
      value =
          scaled(digits | 1ULL << 52, exponents[random() % 3] + static_cast<int>(random() % 6) - 3);
    }
  expect_quotients(xs, ys);
}

TEST_F(Divider, quotients_beside_others_out_of_range) {
  const std::vector<double>& odd = odd_values();
  Values xs(400'000), ys(xs.size());
  for (std::size_t k = 0; k < xs.size(); ++k) {
    xs[k] = k % 7 == 0 ? odd[k / 7 % odd.size()] : 1.0 + static_cast<double>(k);
    ys[k] = k % 11 == 0 ? odd[k / 11 % odd.size()] : 3.0 + static_cast<double>(k % 100);
  }
  expect_quotients(xs, ys);
}

// What the core's own cache holds is computed by several vectors at a time.
TEST_F(Divider, quotients_of_few) {
  for (const std::size_t count : {9'000, 20'000, 50'000}) {
    Values xs(count), ys(count);
    for (std::size_t k = 0; k < count; ++k) {
      xs[k] = 1.0 + static_cast<double>(k);
      ys[k] = 3.0 + static_cast<double>(k % 100);
    }
    expect_quotients(xs, ys);
  }
}

TEST_F(Divider, quotients_by_one_divisor) {
  std::mt19937_64 random(4);
  Values xs(100'000);
  for (std::size_t k = 0; k < xs.size(); ++k)
    xs[k] = k % 5'000 == 0 ? odd_values()[k / 5'000 % odd_values().size()]
                           : scaled(random() >> 12 | 1ULL << 52, static_cast<int>(random() % 9));
  std::vector<double> divisors = odd_values();
  for (const double divisor : {3.0, -7.7, 1e100, 10.0, 2 - 0x1p-26, 2 - 0x1p-27, 4 - 0x1p-24})
    divisors.push_back(divisor);
  const Array x = array_of(xs);
  for (const double divisor : divisors) {
    const Values quotients = frit::values<double>((x - 0.5) / divisor);
    for (std::size_t k = 0; k < xs.size(); ++k) {
      expect_same(quotients[k], xs[k] - 0.5, divisor);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace frit
