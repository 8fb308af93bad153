// square_roots_test.cpp: compiled square roots (codegen/square_roots.h), against the machine's.
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

class SquareRoots : public ::testing::Test {
 protected:
  void SetUp() override { set_tier(Tier::Compiled); }
  void TearDown() override { set_tier(Tier::Automatic); }
};

// Long enough to be a kernel.
void expect_roots(Values values) {
  values.resize(std::max(values.size(), std::size_t{100'000}), 2.0);
  const Array x =
      from_values(std::span<const double>(values), {static_cast<std::int64_t>(values.size())});
  const Values roots = frit::values<double>(sqrt(x));
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
TEST_F(SquareRoots, nearest_to_the_middle_of_two_numbers_are_rounded_well) {
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

TEST_F(SquareRoots, of_any_bits_are_the_machine_s) {
  std::mt19937_64 random(1);
  Values values(1'000'000);
  for (double& value : values) value = std::bit_cast<double>(random() >> 1);
  expect_roots(values);
  for (double& value : values)
    value = std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52),
                       static_cast<int>(random() % 1200) - 600);
  expect_roots(values);
}

TEST_F(SquareRoots, beside_others_that_have_none) {
  using Limits = std::numeric_limits<double>;
  const double odd[] = {0.0,
                        -0.0,
                        -1.0,
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::denorm_min(),
                        Limits::min(),
                        Limits::max(),
                        0x1p-500,
                        0x1p500,
                        0x1p499,
                        std::nextafter(0x1p-500, 0.0),
                        std::nextafter(0x1p500, 0.0)};
  Values values(200'000);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = 1.0 + static_cast<double>(k);
    if (k % 11 == 0) values[k] = odd[k / 11 % std::size(odd)];
  }
  expect_roots(values);
}

}  // namespace
}  // namespace frit
