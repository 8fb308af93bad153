// vain_tries_test.cpp: when a way that was in vain is tried again.
#include "engine/vain_tries.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

constexpr char code[1] = {};

SourcePosition place(int instruction) { return {.code = &code[0], .instruction = instruction}; }

// How many of so many rounds try, all in vain.
int tried(VainTries& tries, int rounds, int instruction) {
  int count = 0;
  for (int round = 0; round < rounds; ++round) {
    if (!tries.tries(place(instruction))) continue;
    ++count;
    tries.note(place(instruction), true);
  }
  return count;
}

TEST(VainTries, what_was_in_vain_is_tried_more_and_more_seldom) {
  VainTries tries;
  EXPECT_EQ(tried(tries, 10, 0), 1);
  EXPECT_EQ(tried(tries, 1000, 0), 5);
  EXPECT_EQ(tried(tries, 10, 1), 1);  // another place
}

TEST(VainTries, what_was_not_in_vain_is_tried_each_time) {
  VainTries tries;
  EXPECT_EQ(tried(tries, 17, 0), 1);
  EXPECT_TRUE(tries.tries(place(0)));
  tries.note(place(0), false);
  for (int round = 0; round < 3; ++round) EXPECT_TRUE(tries.tries(place(0)));
}

}  // namespace
}  // namespace frit
