// foresight_test.cpp: which places of a program are recorded, and which are given up.
#include "engine/foresight.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

constexpr char code[2] = {};

SourcePosition place(int instruction) { return {.code = &code[0], .instruction = instruction}; }

// Of one result: a few of them are worth a plan.
constexpr std::int64_t many_bytes = 8 << 20;

// A stretch of ops that begins at a place and ends with a look: how many of them are recorded.
int recorded(Foresight& foresight, int from, int length, bool plan_is_known = true,
             std::int64_t bytes = many_bytes) {
  int count = 0;
  for (int k = 0; k < length; ++k)
    count += foresight.records(place(from + k), Op::Add, bytes) ? 1 : 0;
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

TEST(Foresight, a_place_is_recorded_once_its_results_are_worth_a_plan) {
  Foresight foresight;
  constexpr int bytes = 8 << 10, length = 20;
  int rounds = 0;
  while (recorded(foresight, 0, length, true, bytes) == 0) ASSERT_LT(++rounds, 1000);
  EXPECT_GT(rounds * length, 3000);
  EXPECT_EQ(recorded(foresight, 0, length, true, bytes), length);
  EXPECT_EQ(recorded(foresight, 100, length, true, bytes), 0);
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
  for (int k = 0; k < 200; ++k)
    count += foresight.records(place(k % 4), Op::Add, many_bytes) ? 1 : 0;
  EXPECT_GT(count, 100);
  EXPECT_LT(count, 200);
}

// The same on larger arrays; what was recorded is evaluated before somebody looks at it.
int recorded_large(Foresight& foresight, int from, int length) {
  int count = 0;
  for (int k = 0; k < length; ++k)
    count += foresight.records_large(place(from + k), Op::Add) ? 1 : 0;
  if (count > 0) foresight.note_plan(true);
  foresight.note_look();
  return count;
}

TEST(Foresight, a_large_op_that_nothing_followed_is_computed_at_once) {
  Foresight foresight;
  EXPECT_EQ(recorded_large(foresight, 0, 1), 1);
  EXPECT_EQ(recorded_large(foresight, 0, 1), 0);
  EXPECT_EQ(recorded_large(foresight, 100, 1), 1);  // another place
  EXPECT_EQ(recorded_large(foresight, 0, 1), 0);
}

TEST(Foresight, a_large_op_that_another_followed_is_recorded) {
  Foresight foresight;
  recorded_large(foresight, 0, 1);
  EXPECT_EQ(recorded_large(foresight, 0, 3), 2);
  EXPECT_TRUE(foresight.records_large(place(0), Op::Add));
  EXPECT_TRUE(foresight.records_large(place(0), Op::Multiply));  // another op of one place
}

TEST(Foresight, a_large_op_before_a_step_that_is_recorded_is_recorded_with_it) {
  Foresight foresight;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(foresight.records_large(place(0), Op::Add));
    foresight.note_step(place(1), Op::Add);
    foresight.note_look();
  }
}

TEST(Foresight, a_large_op_that_is_needed_before_the_next_is_computed_at_once) {
  Foresight foresight;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(foresight.records_large(place(0), Op::Add), round == 0);
    foresight.note_need();
    foresight.note_step(place(1), Op::Add);
  }
}

TEST(Foresight, a_look_at_what_is_there_needs_nothing_that_is_recorded) {
  Foresight foresight;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(foresight.records_large(place(0), Op::Multiply));
    foresight.note_look();
  }
}

TEST(Foresight, a_loop_of_large_ops_that_nobody_needs_is_recorded) {
  Foresight foresight;
  for (int round = 0; round < 9; ++round) EXPECT_TRUE(foresight.records_large(place(0), Op::Add));
}

TEST(Foresight, a_large_op_of_no_place_is_recorded) {
  Foresight foresight;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(foresight.records_large({}, Op::Add));
    foresight.note_look();
  }
}

TEST(Foresight, a_place_that_took_anothers_seat_begins_anew) {
  Foresight foresight;
  recorded(foresight, 0, 20);
  recorded(foresight, 256, 20);
  EXPECT_EQ(recorded(foresight, 0, 20), 0);
}

}  // namespace
}  // namespace frit
