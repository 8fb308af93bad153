// foresight_test.cpp: which places of a program are recorded, and which are given up.
#include "engine/foresight.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

constexpr char code[2] = {};

SourcePosition place(int instruction) { return {&code[0], instruction, nullptr}; }

// A stretch of ops that begins at a place and ends with a look: how many of them are recorded.
int recorded(Foresight& foresight, int from, int length, bool plan_is_known = true) {
  int count = 0;
  for (int k = 0; k < length; ++k) count += foresight.records(place(from + k)) ? 1 : 0;
  if (count > 0) foresight.note_plan(plan_is_known);
  foresight.note_look();
  return count;
}

TEST(Foresight, a_long_stretch_is_recorded_when_it_comes_again) {
  Foresight foresight;
  EXPECT_EQ(recorded(foresight, 0, 20), 0);
  EXPECT_EQ(recorded(foresight, 0, 20), 20);
  EXPECT_EQ(recorded(foresight, 100, 20), 0);  // another place
  EXPECT_EQ(recorded(foresight, 0, 20), 20);
}

TEST(Foresight, ops_that_are_looked_at_are_computed_at_once) {
  Foresight foresight;
  for (int round = 0; round < 10; ++round) EXPECT_EQ(recorded(foresight, 0, 3), 0);
}

TEST(Foresight, a_place_that_was_wrong_once_is_given_up) {
  Foresight foresight;
  recorded(foresight, 0, 20);
  EXPECT_EQ(recorded(foresight, 0, 2), 2);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(recorded(foresight, 0, 100), 0);
}

TEST(Foresight, a_place_whose_traces_never_come_back_is_given_up) {
  Foresight foresight;
  recorded(foresight, 0, 20);
  int rounds = 0;
  while (recorded(foresight, 0, 20, false) == 20) ASSERT_LT(++rounds, 20);
  EXPECT_GT(rounds, 2);  // the first sight of a trace, and the second, have no plan
  EXPECT_EQ(recorded(foresight, 0, 20), 0);
}

TEST(Foresight, a_loop_without_looks_is_recorded_after_a_while) {
  Foresight foresight;
  int count = 0;
  for (int k = 0; k < 200; ++k) count += foresight.records(place(k % 4)) ? 1 : 0;
  EXPECT_GT(count, 100);
  EXPECT_LT(count, 200);
}

TEST(Foresight, a_place_that_took_anothers_seat_begins_anew) {
  Foresight foresight;
  recorded(foresight, 0, 20);
  recorded(foresight, 256, 20);
  EXPECT_EQ(recorded(foresight, 0, 20), 0);
}

}  // namespace
}  // namespace frit
