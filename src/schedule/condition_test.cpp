// condition_test.cpp: conditions on integer arguments, and numbers beyond int64.
#include "schedule/condition.h"

#include <gtest/gtest.h>

#include <array>

namespace frit {
namespace {

bool holds(const Condition& c, std::array<std::int64_t, 2> arguments) {
  return c.may_hold(arguments);
}

TEST(Condition, no_alternative_never_holds) { EXPECT_FALSE(holds(Condition(2, {}), {1, 2})); }

TEST(Condition, all_rows_of_one_alternative_must_hold) {
  // n0 - n1 >= 0 and n0 - 5 == 0; or n1 - 9 == 0
  const std::array<Condition::Alternative, 2> either{
      {{.quotients = {},
        .zero = {{.constant = -5, .terms = {{0, 1}}}},
        .not_negative = {{.constant = 0, .terms = {{0, 1}, {1, -1}}}}},
       {.quotients = {}, .zero = {{.constant = -9, .terms = {{1, 1}}}}, .not_negative = {}}}};
  const Condition c(2, either);
  EXPECT_TRUE(holds(c, {5, 5}));
  EXPECT_FALSE(holds(c, {5, 6}));
  EXPECT_FALSE(holds(c, {6, 6}));
  EXPECT_TRUE(holds(c, {0, 9}));
}

TEST(Condition, quotients_are_floors) {
  // 2 * floor(n0 / 2) == n0: even
  const std::array<Condition::Alternative, 1> even{
      {{.quotients = {{.row = {.constant = 0, .terms = {{0, 1}}}, .divisor = 2}},
        .zero = {{.constant = 0, .terms = {{0, 1}, {2, -2}}}},
        .not_negative = {}}}};
  const Condition c(2, even);
  for (std::int64_t n : {-4, -2, 0, 2, 100}) EXPECT_TRUE(holds(c, {n, 0})) << n;
  for (std::int64_t n : {-3, -1, 1, 99}) EXPECT_FALSE(holds(c, {n, 0})) << n;
}

TEST(Condition, what_leaves_int64_may_hold) {
  const std::array<Condition::Alternative, 1> far{
      {{.quotients = {},
        .zero = {},
        .not_negative = {{.constant = -1, .terms = {{0, -4}}}}}}};  // -4 n0 - 1 >= 0
  const Condition c(2, far);
  EXPECT_FALSE(holds(c, {INT64_MAX / 8, 0}));
  EXPECT_TRUE(holds(c, {INT64_MAX, 0}));
  EXPECT_TRUE(holds(c, {INT64_MIN, 0}));
}

}  // namespace
}  // namespace frit
