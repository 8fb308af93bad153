// sorted_test.cpp: sort, argsort, concatenate, stack and the reductions by name.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "frit/frit.h"
#include "ir/testing_random.h"

namespace frit {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Each row in order, the places a permutation that gives it, equal elements as they stood.
void check_sorted(const Array& rows) {
  const Array sorted = sort(rows), places = argsort(rows);
  const auto before = values<double>(astype(rows, DType::Float64));
  const auto after = values<double>(astype(sorted, DType::Float64));
  const auto stood = values<std::int64_t>(places);
  const std::int64_t n = rows.shape().back();
  EXPECT_EQ(sorted.dtype(), rows.dtype());
  for (std::size_t k = 0; k < before.size(); ++k) {
    const auto row = k / static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const double here = before[row + static_cast<std::size_t>(stood[k])];
    ASSERT_TRUE(here == after[k] || (std::isnan(here) && std::isnan(after[k])));
    if (k == row) continue;
    ASSERT_TRUE(after[k - 1] <= after[k] || std::isnan(after[k]));
    ASSERT_TRUE(after[k - 1] < after[k] || stood[k - 1] < stood[k] ||
                std::isnan(after[k]) != std::isnan(after[k - 1]));
  }
  std::vector<std::int64_t> all(stood);
  for (std::size_t row = 0; row < all.size(); row += static_cast<std::size_t>(n)) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row);
    std::sort(begin, begin + n);
    for (std::int64_t k = 0; k < n; ++k) ASSERT_EQ(begin[k], k);
  }
}

TEST(Sorted, rows_of_any_type_and_length) {
  testing::Random random{1};
  for (DType dtype :
       {DType::Bool, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32,
        DType::UInt32, DType::Int64, DType::UInt64, DType::Float16, DType::Float32, DType::Float64})
    for (std::int64_t n : {1, 2, 63, 64, 1000, 140'000}) {
      const std::int64_t rows = n > 1000 ? 1 : 3;
      std::vector<double> numbers(static_cast<std::size_t>(rows * n));
      const bool is_natural = is_bool(dtype) || dtype == DType::UInt8 || dtype == DType::UInt16 ||
                              dtype == DType::UInt32 || dtype == DType::UInt64;
      for (double& x : numbers) x = static_cast<double>(random.between(is_natural ? 0 : -99, 99));
      if (is_float(dtype))
        for (std::size_t k = 0; k < numbers.size(); k += 7) numbers[k] = nan;
      check_sorted(astype(from_values(numbers, {rows, n}), dtype));
    }
}

TEST(Sorted, along_any_axis_of_any_window) {
  const Array x = from_values(std::vector<double>{3, 1, 2, 9, 7, 8}, {2, 3});
  EXPECT_EQ(values<double>(sort(x, 0)), (std::vector<double>{3, 1, 2, 9, 7, 8}));
  EXPECT_EQ(values<double>(sort(-x, 0)), (std::vector<double>{-9, -7, -8, -3, -1, -2}));
  EXPECT_EQ(values<std::int64_t>(argsort(-x, 0)), (std::vector<std::int64_t>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(values<double>(sort(transpose(x), 0)), (std::vector<double>{1, 7, 2, 8, 3, 9}));
  EXPECT_EQ(values<double>(sort(slice(x, {{}, {0, 3, 2}}))), (std::vector<double>{2, 3, 8, 9}));
  EXPECT_EQ(sort(zeros({3, 0})).size(), 0);
  EXPECT_EQ(sort(zeros({0, 3}), 0).size(), 0);
  EXPECT_THROW(sort(sum(x)), ValueError);
  EXPECT_THROW(sort(x, 2), ValueError);
  EXPECT_THROW(argsort(x, -3), ValueError);
  EXPECT_THROW(sort(Array()), ValueError);
}

TEST(Sorted, complex_numbers_by_real_and_imaginary_part_with_nans_last) {
  using C = std::complex<double>;
  const std::vector<C> numbers{{nan, 1}, {1, nan}, {2, 0}, {1, 5}, {1, -5}, {nan, nan}, {0, nan}};
  const std::vector<std::int64_t> expected{4, 3, 2, 6, 1, 0, 5};
  EXPECT_EQ(values<std::int64_t>(argsort(from_values(numbers, {7}))), expected);
  const auto sorted = values<C>(sort(from_values(numbers, {7})));
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_EQ(sorted[k], numbers[static_cast<std::size_t>(expected[k])]);
}

TEST(Join, arrays_lie_one_behind_the_other) {
  const Array x = from_values(std::vector<double>{1, 2, 3, 4}, {2, 2});
  const Array n = astype(x, DType::Int32) * 10;
  EXPECT_EQ(values<double>(concatenate({x, n})), (std::vector<double>{1, 2, 3, 4, 10, 20, 30, 40}));
  EXPECT_EQ(values<double>(concatenate({transpose(x), n}, -1)),
            (std::vector<double>{1, 3, 10, 20, 2, 4, 30, 40}));
  EXPECT_EQ(values<std::int32_t>(stack({n, n + 1}, 2)),
            (std::vector<std::int32_t>{10, 11, 20, 21, 30, 31, 40, 41}));
  EXPECT_EQ(values<double>(stack({x, x * 2.0}, -3)), (std::vector<double>{1, 2, 3, 4, 2, 4, 6, 8}));
  EXPECT_EQ(values<double>(stack({sum(x), x.size() * sum(x)})), (std::vector<double>{10, 40}));
  EXPECT_EQ(concatenate({x, zeros({0, 2})}).shape()[0], 2);
  const Array grown = concatenate({x, x});
  x += 1.0;  // what was joined is what it was
  EXPECT_EQ(values<double>(grown), (std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_THROW(concatenate({x, zeros({3, 3})}), ValueError);
  EXPECT_THROW(concatenate({x, zeros({3})}), ValueError);
  EXPECT_THROW(concatenate({sum(x)}), ValueError);
  EXPECT_THROW(concatenate({x}, 2), ValueError);
  EXPECT_THROW(concatenate({}), ValueError);
  EXPECT_THROW(concatenate({x, Array()}), ValueError);
  EXPECT_THROW(stack({x, zeros({2, 3})}), ValueError);
  EXPECT_THROW(stack({x}, 3), ValueError);
}

TEST(Reductions, by_the_names_that_people_know) {
  const Array x = from_values(std::vector<double>{3, 1, 2, 9, 7, 8}, {2, 3});
  EXPECT_EQ(value<std::int64_t>(argmax(x)), 3);
  EXPECT_EQ(values<std::int64_t>(argmin(x, 1)), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(values<std::int64_t>(argmax(x, 0)), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(value<std::int64_t>(argmin(x)), 1);
  EXPECT_EQ(values<double>(cumsum(x, 1)), (std::vector<double>{3, 4, 6, 9, 16, 24}));
  EXPECT_EQ(values<double>(cumprod(x, -2)), (std::vector<double>{3, 1, 2, 27, 7, 16}));
  EXPECT_EQ(values<double>(clip(x, 2, 8)), (std::vector<double>{3, 2, 2, 8, 7, 8}));
  EXPECT_DOUBLE_EQ(value<double>(var(x)), 58.0 / 6);
  EXPECT_DOUBLE_EQ(value<double>(stddev(x, {.ddof = 1})), std::sqrt(58.0 / 5));
  EXPECT_DOUBLE_EQ(value<double>(var(x * std::complex<double>(0, 1))), 58.0 / 6);
  EXPECT_EQ(var(astype(x, DType::Float32)).dtype(), DType::Float32);
}

TEST(Reductions, a_number_after_the_array_is_an_axis_and_a_ddof_has_its_name) {
  const Array x = from_values(std::vector<double>{3, 1, 2, 9, 7, 5}, {2, 3});
  EXPECT_EQ(values<double>(mean(x, 1)), (std::vector<double>{2, 7}));
  EXPECT_DOUBLE_EQ(values<double>(var(x, 1))[0], 2.0 / 3);
  EXPECT_EQ(values<double>(var(x, 1, {.ddof = 1})), (std::vector<double>{1, 4}));
  EXPECT_EQ(values<double>(stddev(x, -1, {.ddof = 1})), (std::vector<double>{1, 2}));
  EXPECT_EQ(values<double>(var(x, {0, 1}, {.ddof = 5})), (std::vector<double>{47.5}));
  EXPECT_EQ(value<double>(stddev(x, {1, 0})), value<double>(stddev(x)));
  EXPECT_EQ(value<double>(var(x, {.ddof = 6})), INFINITY);
  EXPECT_EQ(value<double>(var(x, {.ddof = 9})), INFINITY);
  EXPECT_TRUE(std::isnan(value<double>(var(full({1}, 2.0), {.ddof = 2}))));
  EXPECT_TRUE(std::isnan(value<double>(var(zeros({0})))));
  EXPECT_THROW(var(x, 2), ValueError);
  const auto is_taken = [](auto ddof) {
    return requires { var(Array(), ddof); };
  };
  EXPECT_TRUE(is_taken(1));
  EXPECT_FALSE(is_taken(1.0));
}

TEST(Reductions, means_and_variances_add_up_in_numpys_types) {
  const std::int64_t most = INT64_MAX;
  const Array large = from_values(std::vector<std::int64_t>{most, most, 1, 3}, {2, 2});
  EXPECT_EQ(value<double>(mean(large)), 0x1p62);
  EXPECT_EQ(values<double>(mean(large, 1)), (std::vector<double>{0x1p63, 2}));
  EXPECT_EQ(values<double>(mean(large, {0, -1})), (std::vector<double>{0x1p62}));
  const std::uint64_t half = std::uint64_t{1} << 63;
  const Array beyond = from_values(std::vector<std::uint64_t>{half, half + 2048, half}, {3});
  EXPECT_DOUBLE_EQ(value<double>(var(beyond)), 2048.0 * 2048 / 3);
  EXPECT_EQ(value<double>(mean(arange(0.0, 1.0, 8) < 2.0)), 0.25);
  const Array halves = astype(full({4, 100}, 60000.0), DType::Float16);
  EXPECT_EQ(values<double>(astype(mean(halves, 1), DType::Float64)),
            std::vector<double>(4, 60000.0));
  EXPECT_EQ(mean(halves).dtype(), DType::Float16);
  const Array ones = full({1, 16'387}, 1.0);  // beside the middle of two float16
  assign(slice(ones, {{}, {0, 2}}), from_values(std::vector<double>{9, 1 + 0x1p-9}, {2}));
  const Array once = astype(ones, DType::Float16);
  EXPECT_EQ(value<double>(astype(mean(once), DType::Float64)), 1 + 0x1p-10);
  EXPECT_EQ(value<double>(astype(mean(once, 1), DType::Float64)), 1.0);
  EXPECT_EQ(values<double>(astype(mean(halves), DType::Float64)), std::vector<double>{60000.0});
  const Array few = from_values(std::vector<std::complex<float>>{{1, 2}, {3, -2}}, {2});
  EXPECT_EQ(value<float>(var(few)), 5.0F);
}

}  // namespace
}  // namespace frit
