// rounds_test.cpp: which loops have several rounds in one trace, and when.
#include "engine/rounds.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

constexpr char code[2] = {};
constexpr std::int64_t most_held = 48 << 20;
constexpr Rounds::Limits limits{.nodes = 128, .held = most_held};

SourcePosition place(int instruction) { return {.code = &code[0], .instruction = instruction}; }

// A loop of elementwise rounds, ten nodes each: how many run together is what it is asked for.
struct Loop {
  Rounds rounds{};
  Rounds::Begin begin{place(0), 1'000'000};
  double memory = 2e6, work = 1e6;  // ns of a round
  bool passes_once = true;          // the memory, however many rounds there are
  std::int64_t held = 0;            // by a round
  std::int64_t temporaries = 0;     // of one
  int swept_from = 0;               // so many rounds go over the memory together; 0: none do
  Compiler::Slot code = std::make_shared<std::atomic<const Executable*>>(nullptr);

  // Of one trace: its rounds.
  int trace() {
    rounds.start_trace();
    int count = 1;
    while (rounds.waits(begin, static_cast<std::size_t>(10 * count), count * held, most_held))
      ++count;
    const bool is_swept = swept_from > 0 && count >= swept_from;
    const double passes = passes_once || is_swept ? 1 : count;
    const Rounds::Trace trace{.nodes = static_cast<std::size_t>(10 * count),
                              .bytes = static_cast<std::int64_t>(5e7 * passes),
                              .memory = memory * passes,
                              .work = work * count,
                              .temporaries = temporaries * count,
                              .may_sweep = swept_from > 0 && count > 1};
    if (rounds.note(begin, trace, limits)) rounds.await(begin, {code});
    return count;
  }
  int after(int traces) {
    int count = 0;
    for (int k = 0; k < traces; ++k) count = trace();
    return count;
  }
  void compile() { code->store(reinterpret_cast<const Executable*>(&code)); }
};

TEST(Rounds, wait_for_one_another_when_their_kernel_is_compiled) {
  Loop loop;
  EXPECT_EQ(loop.after(20), 1);
  EXPECT_EQ(loop.trace(), 2);  // the trials
  EXPECT_EQ(loop.trace(), 4);
  EXPECT_EQ(loop.after(10), 1);
  loop.compile();
  EXPECT_EQ(loop.after(10), 4);
}

TEST(Rounds, that_may_be_swept_are_tried_with_all) {
  Loop loop{.memory = 3e6, .work = 2e6, .passes_once = false, .swept_from = 4};
  loop.compile();
  EXPECT_EQ(loop.after(12), 1);
  EXPECT_EQ(loop.trace(), 2);
  EXPECT_EQ(loop.after(10), 8);
  Loop gains_nothing{.memory = 3e6, .work = 2e6, .passes_once = false, .swept_from = 20};
  gains_nothing.compile();
  EXPECT_EQ(gains_nothing.after(40), 1);
}

// A round that calls one function for three arrays passes for three.
TEST(Rounds, are_whole_where_their_parts_begin_alike) {
  Rounds rounds;
  const Rounds::Begin begin{place(0), 1'000'000};
  constexpr std::size_t parts[] = {7, 7, 20};
  std::size_t part = 0;
  const auto trace = [&] {
    rounds.start_trace();
    std::size_t nodes = parts[part++ % 3];
    while (rounds.waits(begin, nodes, 0, most_held)) nodes += parts[part++ % 3];
    const Rounds::Trace made{.nodes = nodes, .bytes = 5'000'000, .memory = 1e6, .work = 3e6};
    rounds.note(begin, made, limits);
    return nodes;
  };
  EXPECT_EQ(trace(), 7U);
  for (int k = 0; k < 11; ++k) trace();
  for (int k = 0; k < 100; ++k) EXPECT_EQ(trace(), 34U);
}

TEST(Rounds, do_not_wait_where_memory_is_passed_as_often) {
  Loop loop{.passes_once = false};
  loop.compile();
  EXPECT_EQ(loop.after(20), 1);
  EXPECT_EQ(loop.trace(), 2);
  EXPECT_EQ(loop.after(1000), 1);
}

TEST(Rounds, do_not_wait_where_most_time_is_work) {
  Loop loop{.memory = 1e6, .work = 3e6};
  loop.compile();
  for (int k = 0; k < 1000; ++k) EXPECT_EQ(loop.trace(), 1);
}

TEST(Rounds, are_few_where_they_are_long_or_hold_much) {
  Loop loop{.work = 1e4};
  loop.compile();
  EXPECT_EQ(loop.after(1000), 8);
  Loop holds{.work = 1e4, .held = 9 << 20};
  holds.compile();
  EXPECT_EQ(holds.after(1000), 5);
  EXPECT_EQ(holds.after(10), 5);
  Loop needs{.work = 1e4, .temporaries = 15 << 20};
  needs.compile();
  EXPECT_EQ(needs.after(1000), 3);
}

TEST(Rounds, that_need_much_memory_each_are_not_tried) {
  Loop loop{.temporaries = 30 << 20};
  loop.compile();
  for (int k = 0; k < 1000; ++k) EXPECT_EQ(loop.trace(), 1);
}

TEST(Rounds, are_told_apart_by_their_places_and_sizes) {
  Loop loop;
  loop.compile();
  EXPECT_EQ(loop.after(200), 4);
  loop.begin.at = place(1);
  EXPECT_EQ(loop.after(10), 1);
  loop.begin = {place(0), 2'000'000};
  EXPECT_EQ(loop.after(10), 1);
  loop.begin = {place(0), 1'000'000};
  EXPECT_EQ(loop.after(10), 4);
}

TEST(Rounds, of_many_loops_in_turn_keep_their_places) {
  Loop loop;
  loop.compile();
  int count = 0;
  for (int turn = 0; turn < 200; ++turn) {
    count = 0;
    for (int k = 0; k < 60; ++k) {
      loop.begin.at = place(k);
      count += loop.trace();
    }
  }
  EXPECT_EQ(count, 60 * 4);
}

}  // namespace
}  // namespace frit
