// nest_fuzz_test.cpp: verdicts of random nests against all pairs of iterations.
//
// Each nest is walked in order, with every access noted. A loop that is called parallel must have
// no two iterations that touch one element, one of them writing, but for what is called a
// reduction. Loops that are called serial though nothing happens at these sizes are counted and
// printed.
// FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED change how many nests run and which.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "ir/routine.h"
#include "schedule/nest_verdict.h"
#include "schedule/testing_nest_random.h"

namespace frit {
namespace {

using testing::NestWalk;
using testing::number_from;
using testing::RandomNest;

struct Event {
  const Instr* instr;
  std::int64_t byte;
  std::vector<std::pair<const Instr*, std::int64_t>> iteration;
};

// What two iterations of one run of a loop do to each other.
struct Conflicts {
  bool found = false;
  std::string what;
  std::int64_t rounds = 0;  // of the longest run
};

class Judgement {
 public:
  Judgement(const JudgedNest& judged, std::vector<Event> events, std::vector<Event> local_events)
      : judged_(judged),
        nest_(*judged.nest),
        events_(std::move(events)),
        local_events_(std::move(local_events)) {}

  Conflicts of(std::int32_t loop) const {
    Conflicts c = of_memory(loop);
    if (!c.found) c = of_locals(loop);
    std::map<std::vector<std::int64_t>, std::set<std::int64_t>> rounds;
    for (const Event& e : events_)
      if (const auto p = place(e, loop)) rounds[p->run].insert(p->round);
    for (const auto& [_, all] : rounds)
      c.rounds = std::max(c.rounds, static_cast<std::int64_t>(all.size()));
    return c;
  }

 private:
  // Which run of the loop, and which iteration of it; none: outside of it.
  struct Place {
    std::vector<std::int64_t> run;
    std::int64_t round;
  };
  std::optional<Place> place(const Event& e, std::int32_t loop) const {
    Place p;
    for (const auto& [instr, round] : e.iteration) {
      if (instr == nest_.loop(loop).instr) {
        p.round = round;
        return p;
      }
      p.run.push_back(round);
    }
    return std::nullopt;
  }

  bool is_reduced(const Event& e, std::int32_t loop) const {
    const NestAccess& a = nest_.accesses[static_cast<std::size_t>(e.instr->number)];
    return a.update >= 0 &&
           judged_.verdicts[static_cast<std::size_t>(loop)].kind == LoopKind::Reduction &&
           is_reduction_of_array(nest_, loop, a.array);
  }

  Conflicts of_memory(std::int32_t loop) const {
    struct Seen {
      std::int64_t round;
      const Event* event;
    };
    std::map<std::pair<std::vector<std::int64_t>, std::int64_t>, std::vector<Seen>> all;
    for (const Event& e : events_) {
      const auto p = place(e, loop);
      if (!p) continue;
      auto& list = all[{p->run, e.byte}];
      for (const Seen& s : list) {
        if (s.round == p->round) continue;
        const bool writes =
            s.event->instr->kind == InstrKind::Store || e.instr->kind == InstrKind::Store;
        if (!writes || (is_reduced(*s.event, loop) && is_reduced(e, loop))) continue;
        return {true, "accesses " + std::to_string(s.event->instr->number) + " and " +
                          std::to_string(e.instr->number) + " in rounds " +
                          std::to_string(s.round) + " and " + std::to_string(p->round)};
      }
      if (list.size() < 64) list.push_back({p->round, &e});
    }
    return {};
  }

  // A local that is read in an iteration before it is written there, and written in another.
  Conflicts of_locals(std::int32_t loop) const {
    const auto& roles = judged_.locals.roles[static_cast<std::size_t>(loop)];
    std::map<std::pair<std::vector<std::int64_t>, std::int64_t>,
             std::map<std::int64_t, std::pair<bool, bool>>>
        all;  // run and local -> round -> {reads first, writes}
    for (const Event& e : local_events_) {
      const auto p = place(e, loop);
      if (!p) continue;
      const LocalRole role = roles[static_cast<std::size_t>(e.byte)];
      if (role == LocalRole::Reduction || role == LocalRole::Extreme ||
          role == LocalRole::Companion)
        continue;
      auto& [reads_first, writes] = all[{p->run, e.byte}][p->round];
      if (e.instr->kind == InstrKind::WriteLocal)
        writes = true;
      else
        reads_first |= !writes;
    }
    for (const auto& [key, rounds] : all)
      for (const auto& [round, use] : rounds)
        for (const auto& [other, other_use] : rounds)
          if (other != round && use.first && other_use.second)
            return {true, "local " + std::to_string(key.second)};
    return {};
  }

  const JudgedNest& judged_;
  const Nest& nest_;
  std::vector<Event> events_, local_events_;
};

constexpr std::uint64_t shards = 10;  // run side by side

class NestFuzz : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(NestFuzz, no_loop_is_wrongly_called_parallel) {
  const auto all = static_cast<std::uint64_t>(number_from("FRIT_FUZZ_PROGRAMS", 5000)),
             seed_of_first = static_cast<std::uint64_t>(number_from("FRIT_FUZZ_SEED", 1)),
             nests = all / shards, first = seed_of_first + GetParam() * nests;
  std::size_t parallel = 0, reductions = 0, serial = 0, serial_for_nothing = 0, at_run_time = 0,
              gave_up = 0;
  for (std::uint64_t seed = first; seed < first + nests; ++seed) {
    const RandomNest random(seed);
    const Routine given = random.routine();
    const auto nest = analyse_nest(given, random.facts());
    ASSERT_NO_THROW(verify(nest->routine)) << "seed " << seed << "\n" << print(nest->routine);
    for (std::uint64_t call = 0; call < 3; ++call) {
      testing::Random numbers{seed * 16 + call};
      std::vector<std::int64_t> integers;
      for (int k = 0; k < random.integers(); ++k) integers.push_back(numbers.between(0, 6));
      RandomNest::Memory before = random.memory(seed), after = random.memory(seed);
      NestWalk(given, before.arrays, integers).run();
      std::vector<Event> events, local_events;
      NestWalk walk(nest->routine, after.arrays, integers);
      walk.watch = [&](const NestWalk::Event& e) {
        events.push_back({e.instr, e.byte, *e.iteration});
      };
      walk.watch_local = [&](const NestWalk::Event& e) {
        local_events.push_back({e.instr, e.byte, *e.iteration});
      };
      walk.run();
      ASSERT_TRUE(before.words == after.words)
          << "simplification changes the result: seed " << seed << ", call " << call << "\n"
          << print(given) << "\n"
          << print(nest->routine);
      ConditionBits bits;
      evaluate_conditions(*nest, integers, bits);
      const JudgedNest judged = judge(nest, bits);
      const Judgement truth(judged, std::move(events), std::move(local_events));
      for (std::size_t k = 0; k < nest->loops.size(); ++k) {
        const LoopVerdict& verdict = judged.verdicts[k];
        const Conflicts conflicts = truth.of(static_cast<std::int32_t>(k));
        const bool may_share =
            verdict.kind == LoopKind::Parallel || verdict.kind == LoopKind::Reduction;
        ASSERT_FALSE(may_share && conflicts.found)
            << "wrongly parallel: seed " << seed << ", call " << call << ", loop v"
            << nest->loops[k].index() << ": " << conflicts.what << "\n"
            << print(judged) << print(nest->routine);
        if (nest->loops[k].is_while()) continue;
        at_run_time += verdict.at_run_time ? 1 : 0;
        gave_up += verdict.reason == LoopReason::WorkLimit ? 1 : 0;
        if (verdict.kind == LoopKind::Parallel) ++parallel;
        if (verdict.kind == LoopKind::Reduction) ++reductions;
        if (may_share || conflicts.rounds < 3) continue;
        ++serial;
        if (!conflicts.found) ++serial_for_nothing;
      }
    }
  }
  std::cout << nests << " nests, loops: " << parallel << " parallel, " << reductions
            << " reductions, " << serial << " serial, of these " << serial_for_nothing
            << " without a conflict in the three or more rounds tried; decided at run time: "
            << at_run_time << "; work limit: " << gave_up << "\n";
  EXPECT_GE(parallel, nests / 4);  // else nothing is tested
  EXPECT_GE(reductions, nests / 100);
  EXPECT_GE(at_run_time, nests / 100);
}

INSTANTIATE_TEST_SUITE_P(Shard, NestFuzz, ::testing::Range(std::uint64_t{0}, shards));

}  // namespace
}  // namespace frit
