// nest_memory_test.cpp: views of one array, and how they overlap.
#include "engine/nest_memory.h"

#include <gtest/gtest.h>

#include <limits>

namespace frit {
namespace {

using Kind = SharedMemory::Kind;

struct Window {
  std::int64_t offset;  // elements of 8 bytes
  std::vector<std::int64_t> shape, strides;
};

SharedMemory shared(const Window& a, const Window& b, DType type_b = DType::Float64) {
  static std::byte memory[8 * 4096];
  return shared_memory({memory + 8 * (2048 + a.offset), a.shape, a.strides},
                       {memory + 8 * (2048 + b.offset), b.shape, b.strides}, DType::Float64,
                       type_b);
}

TEST(NestMemory, windows_apart_share_nothing) {
  EXPECT_EQ(shared({0, {10}, {8}}, {10, {10}, {8}}).kind, Kind::None);
  EXPECT_EQ(shared({0, {10}, {16}}, {1, {10}, {16}}).kind, Kind::None);  // even and odd
  EXPECT_EQ(shared({0, {0}, {8}}, {0, {10}, {8}}).kind, Kind::None);
}

TEST(NestMemory, a_nan_is_found_wherever_it_is) {
  std::vector<double> numbers(6000);
  const auto found = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                         std::int64_t first = 0) {
    return has_element(Op::Isnan,
                       {reinterpret_cast<std::byte*>(numbers.data() + first), shape, strides},
                       DType::Float64);
  };
  EXPECT_FALSE(found({60, 100}, {800, 8}));
  numbers[4321] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(found({60, 100}, {800, 8}));
  EXPECT_TRUE(found({100, 60}, {8, 800}));
  EXPECT_TRUE(found({6000}, {-8}, 5999));
  EXPECT_TRUE(found({}, {}, 4321));
  EXPECT_FALSE(found({}, {}, 4320));
  EXPECT_FALSE(found({3000}, {16}));  // the even ones
  EXPECT_FALSE(found({60, 21}, {800, 8}));
  EXPECT_FALSE(found({0, 100}, {800, 8}));
  EXPECT_FALSE(has_element(Op::Isnan,
                           {reinterpret_cast<std::byte*>(numbers.data()),
                            std::vector<std::int64_t>{6000}, std::vector<std::int64_t>{8}},
                           DType::Int64));
}

TEST(NestMemory, the_same_window_is_shifted_by_nothing) {
  const SharedMemory s = shared({0, {10, 10}, {80, 8}}, {0, {10, 10}, {80, 8}});
  EXPECT_EQ(s.kind, Kind::Shifted);
  EXPECT_EQ(s.shift, (std::vector<std::int64_t>{0, 0}));
}

TEST(NestMemory, views_of_one_array_are_shifted) {
  // u[1:, :] and u[:-1, :]; u[:-1, 1:] and u[1:, :-1]; with a negative step.
  EXPECT_EQ(shared({10, {9, 10}, {80, 8}}, {0, {9, 10}, {80, 8}}).shift,
            (std::vector<std::int64_t>{-1, 0}));
  EXPECT_EQ(shared({1, {9, 9}, {80, 8}}, {10, {9, 9}, {80, 8}}).shift,
            (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(shared({9, {10}, {-8}}, {7, {8}, {-8}}).shift, (std::vector<std::int64_t>{2}));
}

TEST(NestMemory, what_is_no_shift_is_mixed) {
  EXPECT_EQ(shared({0, {10}, {8}}, {9, {10}, {-8}}).kind, Kind::Mixed);  // reversed
  EXPECT_EQ(shared({0, {10, 10}, {80, 8}}, {0, {10, 10}, {8, 80}}).kind, Kind::Mixed);
  EXPECT_EQ(shared({0, {10}, {8}}, {0, {20}, {4}}, DType::Float32).kind, Kind::Mixed);
  // A row that goes on in the next one: the same element has two indices.
  EXPECT_EQ(shared({0, {10, 10}, {80, 8}}, {5, {9, 10}, {80, 8}}).kind, Kind::Mixed);
}

}  // namespace
}  // namespace frit
