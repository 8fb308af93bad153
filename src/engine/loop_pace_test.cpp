// loop_pace_test.cpp: which calls run compiled, for loops whose times are made up.
#include "engine/loop_pace.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

using Verdict = LoopPace::Verdict;

constexpr double us = 1e-6;

LoopPace pace(double shortest, bool is_eager) {
  return LoopPace({.shortest = shortest, .worth = 1e-3, .first_worth = 1e-3, .is_eager = is_eager});
}

// Calls of a loop that takes so long as Python and compiled; how many of them were compiled.
int compiled_of(LoopPace& loop, int calls, double guess, double python, double compiled) {
  int count = 0;
  for (int k = 0; k < calls; ++k) {
    if (loop.skips(guess)) continue;
    const LoopPace::Choice choice = loop.choose(guess);
    if (choice.verdict == Verdict::Compiled) {
      loop.set_translated();
      if (choice.is_timed) loop.note_compiled(choice, compiled);
      ++count;
    } else if (choice.is_timed) {
      loop.note_python(choice, python);
    }
  }
  return count;
}

TEST(LoopPace, short_loops_are_never_translated) {
  LoopPace loop = pace(3 * us, true);
  EXPECT_EQ(compiled_of(loop, 100'000, 1 * us, 1 * us, 3 * us), 0);
  EXPECT_EQ(loop.choose(1 * us).verdict, Verdict::Short);
}

TEST(LoopPace, loops_that_may_end_early_are_tried_as_python_though_they_are_long) {
  LoopPace loop({.shortest = 3 * us, .worth = 1e-3, .first_worth = 1e-3, .ends_early = true});
  EXPECT_LT(compiled_of(loop, 1'000, 50'000 * us, 5 * us, 7'000 * us), 40);
  LoopPace other = pace(3 * us, false);  // a guess is what it takes
  EXPECT_EQ(compiled_of(other, 1'000, 50'000 * us, 50'000 * us, 7'000 * us), 1'000);
  // What is long indeed is not tried again and again.
  LoopPace late({.shortest = 3 * us, .worth = 1e-3, .first_worth = 1e-3, .ends_early = true});
  EXPECT_EQ(compiled_of(late, 1'000, 50'000 * us, 50'000 * us, 7'000 * us), 999);
}

TEST(LoopPace, most_short_calls_are_neither_judged_nor_timed) {
  LoopPace loop = pace(3 * us, true);
  int judged = 0;
  for (int k = 0; k < 6'400; ++k) {
    if (loop.skips(1 * us)) continue;
    ++judged;
    const LoopPace::Choice choice = loop.choose(1 * us);
    EXPECT_TRUE(choice.is_timed);
    loop.note_python(choice, 1 * us);
  }
  EXPECT_LT(judged, 120);
  EXPECT_FALSE(loop.skips(600 * us));
  EXPECT_EQ(loop.choose(600 * us).verdict, Verdict::Compiled);
}

TEST(LoopPace, short_calls_that_become_long_are_found_by_their_times) {
  LoopPace loop = pace(3 * us, true);
  int calls = 0;
  for (; calls < 10'000; ++calls) {
    if (loop.skips(1 * us)) continue;
    const LoopPace::Choice choice = loop.choose(1 * us);
    if (choice.verdict == Verdict::Compiled) break;
    loop.note_python(choice, (calls < 1'000 ? 1 : 50) * us);
  }
  EXPECT_LT(calls, 2'500);
}

TEST(LoopPace, a_first_time_that_another_program_lengthened_is_soon_corrected) {
  LoopPace loop = pace(1 * us, true);
  for (const double seconds : {300 * us, 4000 * us}) {
    const LoopPace::Choice choice = loop.choose(8 * us);
    EXPECT_EQ(choice.verdict, Verdict::Compiled);
    loop.set_translated();
    loop.note_compiled(choice, seconds);
  }
  EXPECT_GT(compiled_of(loop, 2'000, 8 * us, 8 * us, 2 * us), 1'500);
}

TEST(LoopPace, a_cold_start_does_not_make_a_short_call_long) {
  LoopPace loop = pace(1 * us, true);
  const LoopPace::Choice first = loop.choose(0.2 * us);
  EXPECT_EQ(first.verdict, Verdict::Short);
  loop.note_python(first, 30 * us);
  EXPECT_EQ(compiled_of(loop, 10'000, 0.2 * us, 0.3 * us, 0.6 * us), 0);
  // A guess that is far too low is found out.
  LoopPace other = pace(1 * us, true);
  other.note_python(other.choose(0.2 * us), 9 * us);
  EXPECT_EQ(other.choose(0.2 * us).verdict, Verdict::Short);
  other.note_python(other.choose(0.2 * us), 8 * us);
  EXPECT_EQ(other.choose(0.2 * us).verdict, Verdict::Compiled);
}

TEST(LoopPace, a_short_call_is_tried_twice_for_the_first_is_cold) {
  LoopPace loop = pace(1 * us, true);
  bool was_compiled = false;
  const auto call = [&](double python, double compiled, double cold) {
    if (loop.skips(5 * us)) return was_compiled = false;
    const LoopPace::Choice choice = loop.choose(5 * us);
    const bool is_compiled = choice.verdict == Verdict::Compiled;
    const double start = is_compiled != was_compiled ? cold : 0;
    if (is_compiled) {
      loop.set_translated();
      if (choice.is_timed) loop.note_compiled(choice, compiled + start);
    } else if (choice.is_timed) {
      loop.note_python(choice, python + start);
    }
    return was_compiled = is_compiled;
  };
  for (int k = 0; k < 2'000; ++k) call(2 * us, 4 * us, 3 * us);
  EXPECT_FALSE(call(2 * us, 4 * us, 3 * us) && call(2 * us, 4 * us, 3 * us) &&
               call(2 * us, 4 * us, 3 * us));
  int compiled = 0;
  for (int k = 0; k < 2'000; ++k) compiled += call(2 * us, 1 * us, 3 * us);
  EXPECT_GT(compiled, 1'700);
}

TEST(LoopPace, a_loop_that_nobody_asked_for_is_translated_when_python_has_lost_enough) {
  LoopPace loop = pace(3 * us, false);
  EXPECT_EQ(loop.choose(100 * us).verdict, Verdict::Soon);
  EXPECT_EQ(loop.choose(std::nullopt).verdict, Verdict::Unknown);
  EXPECT_EQ(loop.choose(2e-3).verdict, Verdict::Compiled);
  EXPECT_EQ(compiled_of(loop, 10, 100 * us, 100 * us, 5 * us), 0);
  EXPECT_EQ(compiled_of(loop, 10, 100 * us, 100 * us, 5 * us), 10);
}

TEST(LoopPace, what_was_guessed_too_long_runs_as_python) {
  // As a loop that is left in its first round: 3 us, where its range has 50.
  LoopPace loop = pace(3 * us, true);
  EXPECT_LT(compiled_of(loop, 1'000, 50 * us, 3 * us, 9 * us), 50);
  EXPECT_LT(compiled_of(loop, 10'000, 50 * us, 3 * us, 9 * us), 300);
  EXPECT_LE(compiled_of(loop, 200, 50 * us, 3 * us, 9 * us), 2);  // of a try
  EXPECT_EQ(loop.choose(50 * us).verdict, Verdict::Slower);
}

TEST(LoopPace, tries_cost_a_few_percent_at_most) {
  for (const double python : {4.0, 10.0, 100.0, 900.0}) {
    LoopPace loop = pace(3 * us, true);
    const int calls = 20'000;
    const int as_python = calls - compiled_of(loop, calls, python * us, python * us, 3.5 * us);
    EXPECT_LT(as_python * python, 0.04 * calls * 3.5) << python;
  }
}

TEST(LoopPace, what_is_slower_compiled_is_tried_ever_more_seldom) {
  for (const double compiled : {5.0, 8.0, 20.0}) {
    LoopPace loop = pace(3 * us, true);
    const double python = 4;
    compiled_of(loop, 5'000, 4 * us, python * us, compiled * us);
    const int calls = 50'000;
    const int tries = compiled_of(loop, calls, 4 * us, python * us, compiled * us);
    EXPECT_GT(tries, 10) << compiled;
    EXPECT_LT(tries * (compiled - python), 0.011 * calls * python) << compiled;
  }
}

TEST(LoopPace, tries_that_are_interpreted_go_on_until_the_code_is_there) {
  int tries[2] = {0, 0};
  for (const bool is_interpreted : {false, true}) {
    LoopPace loop = pace(3 * us, true);
    for (int k = 0; k < 50'000; ++k) {
      if (loop.skips(4 * us)) continue;
      LoopPace::Choice choice = loop.choose(4 * us);
      if (choice.verdict == Verdict::Compiled) {
        loop.set_translated();
        choice.is_interpreted = is_interpreted;
        loop.note_compiled(choice, 40 * us);
        ++tries[is_interpreted];
      } else {
        loop.note_python(choice, 4 * us);
      }
    }
  }
  EXPECT_GT(tries[1], 3 * tries[0]);
}

TEST(LoopPace, a_loop_that_changes_is_measured_again) {
  LoopPace loop = pace(3 * us, true);
  compiled_of(loop, 1'000, 20 * us, 4 * us, 8 * us);
  EXPECT_NE(loop.choose(20 * us).verdict, Verdict::Compiled);
  compiled_of(loop, 4'000, 20 * us, 40 * us, 8 * us);
  EXPECT_GT(compiled_of(loop, 1'000, 20 * us, 40 * us, 8 * us), 950);
}

TEST(LoopPace, sizes_are_judged_by_themselves) {
  LoopPace loop = pace(3 * us, true);
  compiled_of(loop, 1'000, 6 * us, 6 * us, 9 * us);
  EXPECT_LT(compiled_of(loop, 1'000, 6 * us, 6 * us, 9 * us), 40);
  EXPECT_EQ(loop.choose(600 * us).verdict, Verdict::Compiled);
}

TEST(LoopPace, below_nothing_is_compared) {
  LoopPace loop = pace(-1, true);
  EXPECT_EQ(compiled_of(loop, 1'000, 1 * us, 1 * us, 50 * us), 1'000);
}

}  // namespace
}  // namespace frit
