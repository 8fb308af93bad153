// surroundings_test.cpp: what is around a window is copied, and nothing of it.
#include "schedule/surroundings.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

// The bytes that are copied, of an array's; 0: not.
std::vector<int> copied(const Surroundings& around, std::int64_t low, std::int64_t high) {
  const auto size = static_cast<std::size_t>(around.pitch * around.rows);
  std::vector<std::byte> from(size, std::byte{1}), to(size);
  around.copy(from.data(), to.data(), low, high);
  std::vector<int> found;
  for (const std::byte b : to) found.push_back(static_cast<int>(b));
  return found;
}

TEST(Surroundings, of_a_window_of_one_axis_are_what_stands_before_and_behind_it) {
  const Surroundings around{.pitch = 1, .rows = 7, .begin = 2, .end = 6, .within = {}};
  EXPECT_EQ(copied(around, 0, 7), (std::vector<int>{1, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(copied(around, 1, 4), (std::vector<int>{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(copied(around, 5, 7), (std::vector<int>{0, 0, 0, 0, 0, 0, 1}));
}

TEST(Surroundings, of_a_window_of_two_axes_are_parts_of_its_rows_too) {
  const Surroundings around{.pitch = 3,
                            .rows = 4,
                            .begin = 1,
                            .end = 3,
                            .within = {{.offset = 0, .bytes = 1}, {.offset = 2, .bytes = 1}}};
  EXPECT_EQ(copied(around, 0, 4), (std::vector<int>{1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(copied(around, 2, 3), (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace frit
