// nest_run_test.cpp: random nests, transformed and run, against the same nests in order.
//
// FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED change how many nests run and which.
#include "engine/nest_run.h"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

#include "engine/memory.h"
#include "engine/pool.h"
#include "front/common.h"
#include "schedule/testing_nest_random.h"

namespace frit {
namespace {

using testing::NestWalk;
using testing::number_from;
using testing::RandomNest;

// Numbers of the tests are small fractions, whose sums are exact in any order, so that all bits
// count but the sign of zero.
bool same_words(std::int64_t a, std::int64_t b, bool floats) {
  if (a == b) return true;
  constexpr std::int64_t sign = INT64_MIN;
  return floats && (a & ~sign) == 0 && (b & ~sign) == 0;
}

TEST(NestRun, random_nests_give_what_they_give_in_order) {
  const auto nests = static_cast<std::uint64_t>(number_from("FRIT_FUZZ_PROGRAMS", 1500)),
             first = static_cast<std::uint64_t>(number_from("FRIT_FUZZ_SEED", 1));
  Locked lock(Engine::lock());
  std::map<std::string, int> seen;
  std::vector<std::uint64_t> seeds(nests);
  std::iota(seeds.begin(), seeds.end(), first);
  seeds.push_back(70349);  // an extreme's companion, read behind the branch
  for (const std::uint64_t seed : seeds) {
    const RandomNest random(seed);
    LoopNest nest(random.routine());
    const bool as_large = seed % 3 != 0;
    if (as_large)
      nest.tuning = {.assumed_rounds = 20000,
                     .shortest_chunk = 2,
                     .array_share = 0,
                     .most_arrays = seed % 2 == 0 ? 2 : 8,
                     .wave_tile = 2,
                     .sweep_shift = static_cast<std::int64_t>(seed % 5)};
    for (std::uint64_t call = 0; call < 2; ++call) {
      testing::Random numbers{seed * 16 + call};
      std::vector<std::int64_t> integers;
      for (int k = 0; k < random.integers(); ++k) integers.push_back(numbers.between(0, 6));
      RandomNest::Memory expected = random.memory(seed), given = random.memory(seed);
      NestWalk(random.routine(), expected.arrays, integers).run();
      std::vector<NestArgument> arrays;
      for (const testing::NestArray& a : given.arrays)
        arrays.push_back({a.data, a.shape, a.strides});
      const NestCall c{arrays, integers, {}};
      ASSERT_NO_THROW(nest.program_for(c)) << "seed " << seed << "\n" << print(random.routine());
      const NestProgram& program = nest.program_for(c);
      const std::string plan = print(program.plan);
      for (const NestLaunch& launch : program.launches)
        ASSERT_NO_THROW(verify(*launch.kernel))
            << "seed " << seed << "\n"
            << plan << print(*launch.kernel) << print(random.routine());
      for (const char* word : {"parallel", "host", "vector", "wavefront", "chunks", "tiles",
                               "lanes", "before", "behind"})
        if (plan.find(word) != std::string::npos) ++seen[word];
      nest.run(c);
      for (std::size_t k = 0; k < expected.words.size(); ++k)
        for (std::size_t e = 0; e < expected.words[k].size(); ++e)
          ASSERT_TRUE(same_words(expected.words[k][e], given.words[k][e], random.has_floats()))
              << "seed " << seed << ", call " << call << ", array " << k << ", element " << e
              << "\n"
              << print(program.judged) << plan << print(random.routine())
              << print(program.judged.nest->routine);
    }
  }
  for (const auto& [word, count] : seen) std::cout << word << " in " << count << " plans\n";
  for (const char* word :
       {"parallel", "host", "vector", "wavefront", "chunks", "tiles", "lanes", "behind"})
    EXPECT_GT(seen[word], 0) << word;
}

// a[i * step] = a[i * step + 1] + 1: the step is taken as a literal, a new one is a new analysis;
// after many of them it is an unknown.
TEST(NestRun, steps_that_are_arguments_are_found_out_at_the_call) {
  Locked lock(Engine::lock());
  testing::NestMaker m;
  const int a = m.array(DType::Int64, 1), n = m.integer(), step = m.integer();
  const ValueId zero = m.literal(0);
  m.loop(zero, m.arg(n), [&](ValueId i) {
    const ValueId at = m.times(i, m.arg(step));
    const ValueId next = m.load(a, {m.shifted(at, 1)});
    m.store(a, {at}, m.plus(next, m.literal(1)));
  });
  LoopNest nest(m.routine());
  const auto kind = [](const NestProgram& p) { return p.judged.verdicts[0].kind; };
  for (std::int64_t round = 0; round < 40; ++round) {
    const std::int64_t s = 1 + round % 23;
    std::vector<std::int64_t> expected(2048), given(2048);
    for (std::size_t k = 0; k < given.size(); ++k)
      expected[k] = given[k] = static_cast<std::int64_t>(k * k % 97);
    const std::vector<std::int64_t> shape{2048}, strides{8}, integers{80, s};
    NestWalk(m.routine(), {{reinterpret_cast<std::byte*>(expected.data()), shape, strides}},
             integers)
        .run();
    const NestArgument array{reinterpret_cast<std::byte*>(given.data()), shape, strides};
    const NestCall call{{&array, 1}, integers, {}};
    const LoopKind found = kind(nest.program_for(call));
    if (round < 10) {
      EXPECT_EQ(found, s == 1 ? LoopKind::Serial : LoopKind::Parallel) << s;
    }
    nest.run(call);
    EXPECT_EQ(expected, given) << "step " << s;
  }
}

// No memory for the chunks' own arrays: the loop runs in order.
TEST(NestRun, a_histogram_without_memory_for_chunks_runs_in_order) {
  Locked lock(Engine::lock());
  testing::NestMaker m;
  const int bin = m.array(DType::Int64, 1), count = m.array(DType::Int64, 1), n = m.integer();
  const ValueId zero = m.literal(0);
  m.loop(zero, m.arg(n), [&](ValueId i) {
    const ValueId b = m.load(bin, {i});
    m.store(count, {b}, m.plus(m.load(count, {b}), m.literal(1)));
  });
  LoopNest nest(m.routine());
  nest.tuning = {.assumed_rounds = 20000, .shortest_chunk = 2, .array_share = 0};
  std::vector<std::int64_t> bins(1000), counts(64), expected(64);
  for (std::size_t k = 0; k < bins.size(); ++k)
    ++expected[static_cast<std::size_t>(bins[k] = static_cast<std::int64_t>(k * k % 61))];
  const std::vector<std::int64_t> long_shape{1000}, short_shape{64}, strides{8}, integers{1000};
  const NestArgument arrays[] = {
      {reinterpret_cast<std::byte*>(bins.data()), long_shape, strides},
      {reinterpret_cast<std::byte*>(counts.data()), short_shape, strides}};
  const NestCall call{arrays, integers, {}};
  ASSERT_NE(print(nest.program_for(call).plan).find("chunks"), std::string::npos);
  memory::fail_after(1);
  nest.run(call);
  memory::fail_after(0);
  EXPECT_EQ(counts, expected);
  nest.run(call);
  for (std::int64_t& e : expected) e *= 2;
  EXPECT_EQ(counts, expected);
}

// a[i, j] from some of the elements around it, of which each is read before or behind its change.
Routine random_sweep(testing::Random& random) {
  testing::NestMaker m;
  const int a = m.array(DType::Float64, 2), weight = m.array(DType::Float64, 1);
  const int rows = m.integer(), columns = m.integer();
  const bool branches = random.one_in(3), is_table = !branches && random.one_in(2);
  const auto neighbours = random.between(1, 4);
  std::vector<std::pair<std::int64_t, std::int64_t>> steps{{-1, 0}, {0, -1}};
  for (std::int64_t k = 0; k < neighbours; ++k)
    steps.emplace_back(random.between(-2, 1), random.between(-2, 2));
  const ValueId begin = m.literal(2), i_end = m.arg(rows), j_end = m.arg(columns);
  m.loop(begin, i_end, [&](ValueId i) {
    const ValueId w = m.load(weight, {i});
    m.loop(begin, j_end, [&](ValueId j) {
      ValueId sum = m.load(a, {i, j});
      for (const auto& [p, q] : steps)
        if (!is_table || p != 0)
          sum = m.plus(m.times(sum, m.real(0.37)), m.load(a, {m.shifted(i, p), m.shifted(j, q)}));
      if (is_table)
        return m.store(a, {i, j}, m.plus(m.times(sum, w), m.load(a, {i, m.shifted(j, -1)})));
      const auto change = [&] { m.store(a, {i, j}, m.times(sum, w)); };
      if (branches)
        m.if_(m.apply(Op::Greater, sum, m.real(0.9)), change);
      else
        change();
    });
  });
  return m.routine();
}

TEST(NestRun, wavefronts_give_the_same_bits_on_any_number_of_threads) {
  Locked lock(Engine::lock());
  Settings& settings = Engine::get().settings;
  const Settings before = settings;
  const int threads_before = ThreadPool::get().threads();
  settings.part_cost = 1e-3;  // a part a tile
  int waves = 0, tables = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    testing::Random random{seed};
    LoopNest nest(random_sweep(random));
    random = testing::Random{seed};
    const Routine routine = random_sweep(random);
    constexpr std::int64_t width = 96;
    const std::vector<std::int64_t> integers{random.between(0, 80), random.between(0, 80)};
    const std::vector<std::int64_t> square{width, width}, strides{8 * width, 8}, line{width},
        one{8};
    std::vector<double> start(width * width), weights(width);
    for (double& x : start) x = static_cast<double>(random.between(1, 1000)) / 999;
    for (double& x : weights) x = 0.5 + static_cast<double>(random.between(1, 9)) / 17;
    std::vector<double> expected = start;
    const auto bytes = [](std::vector<double>& v) {
      return reinterpret_cast<std::byte*>(v.data());
    };
    NestWalk(routine, {{bytes(expected), square, strides}, {bytes(weights), line, one}}, integers)
        .run();
    nest.tuning = {.assumed_rounds = 20000, .wave_tile = seed % 3 == 0 ? 0 : random.between(1, 40)};
    settings.tier = seed % 4 == 0 ? Tier::Compiled : Tier::Interpreter;
    for (int threads : {1, 2, 3, 7}) {
      ThreadPool::get().set_threads(threads);
      std::vector<double> given = start;
      const NestArgument arrays[] = {{bytes(given), square, strides}, {bytes(weights), line, one}};
      const NestCall call{arrays, integers, {}};
      const std::string plan = print(nest.program_for(call).plan);
      waves += plan.find("wavefront") != std::string::npos;
      tables += plan.find("row by row") != std::string::npos;
      nest.run(call);
      ASSERT_EQ(std::memcmp(given.data(), expected.data(), given.size() * sizeof(double)), 0)
          << "seed " << seed << ", " << threads << " threads\n"
          << print(nest.program_for(call).plan);
    }
  }
  ThreadPool::get().set_threads(threads_before);
  settings = before;
  EXPECT_GT(waves, 100);
  EXPECT_GT(tables, 20);
}

TEST(NestRun, stores_of_both_branches_are_one) {
  Locked lock(Engine::lock());
  testing::NestMaker m;
  const int a = m.array(DType::Float64, 1), b = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    const ValueId x = m.load(a, {i});
    m.if_(
        m.apply(Op::Greater, x, m.real(0)),
        [&] {
          m.store(b, {i}, m.real(7));
          m.store(a, {i}, m.times(x, m.real(2)));
        },
        [&] {
          const ValueId next = m.load(b, {m.shifted(i, 1)});
          m.store(b, {i}, x);
          m.store(a, {i}, next);
        });
  });
  const auto nest = analyse_nest(m.routine());
  std::string text = print(nest->routine);
  int stores = 0;
  for (std::size_t at = 0; (at = text.find("store", at)) != std::string::npos; ++at) ++stores;
  EXPECT_EQ(stores, 2) << text;
  std::vector<double> x{1, -2, 3, -4, 0, 5}, y{9, 8, 7, 6, 5, 4, 3};
  std::vector<double> x_expected = x, y_expected = y;
  const std::vector<std::int64_t> shape{6}, longer{7}, strides{8}, integers{6};
  const auto bytes = [](std::vector<double>& v) { return reinterpret_cast<std::byte*>(v.data()); };
  NestWalk(m.routine(), {{bytes(x_expected), shape, strides}, {bytes(y_expected), longer, strides}},
           integers)
      .run();
  const NestArgument arrays[] = {{bytes(x), shape, strides}, {bytes(y), longer, strides}};
  LoopNest(m.routine()).run({arrays, integers, {}});
  EXPECT_EQ(x, x_expected);
  EXPECT_EQ(y, y_expected);
}

}  // namespace
}  // namespace frit
