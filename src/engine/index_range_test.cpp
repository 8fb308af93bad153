// index_range_test.cpp: the least and the largest of integers, whatever their type and number.
#include "engine/index_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "engine/engine.h"

namespace frit {
namespace {

template <class T>
std::optional<Range> range_of(const std::vector<T>& x, DType dtype) {
  const std::scoped_lock lock(Engine::lock());
  return range_of_integers(reinterpret_cast<const std::byte*>(x.data()),
                           static_cast<std::int64_t>(x.size()), dtype);
}

TEST(IndexRange, both_ends_are_found_in_every_piece) {
  for (const std::size_t size : {1u, 2u, 1000u, 16384u, 65536u, 65537u, 300'000u})
    for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
      std::vector<std::int32_t> x(size, 7);
      x[place] = -3;
      x[size - 1 - place] = std::max(x[size - 1 - place], 90);
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      EXPECT_EQ(range_of(x, DType::Int32), (Range{*low, *high})) << size << ' ' << place;
    }
}

TEST(IndexRange, unsigned_numbers_that_leave_int64_have_none) {
  std::vector<std::uint64_t> x(200'000, 5);
  EXPECT_EQ(range_of(x, DType::UInt64), (Range{5, 5}));
  x[150'000] = std::uint64_t{1} << 63;
  EXPECT_EQ(range_of(x, DType::UInt64), std::nullopt);
}

}  // namespace
}  // namespace frit
