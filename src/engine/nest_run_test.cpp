// nest_run_test.cpp: random nests, transformed and run, against the same nests in order.
//
// FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED change how many nests run and which.
#include "engine/nest_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "front/common.h"
#include "schedule/testing_nest_random.h"

namespace frit {
namespace {

using testing::NestWalk;
using testing::RandomNest;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Numbers of the tests are small fractions, whose sums are exact in any order, so that all bits
// count but the sign of zero.
bool same_words(std::int64_t a, std::int64_t b, bool floats) {
  if (a == b) return true;
  constexpr std::int64_t sign = INT64_MIN;
  return floats && (a & ~sign) == 0 && (b & ~sign) == 0;
}

TEST(NestRun, random_nests_give_what_they_give_in_order) {
  const std::uint64_t nests = setting("FRIT_FUZZ_PROGRAMS", 1500),
                      first = setting("FRIT_FUZZ_SEED", 1);
  Locked lock(Engine::lock());
  std::map<std::string, int> seen;
  for (std::uint64_t seed = first; seed < first + nests; ++seed) {
    const RandomNest random(seed);
    LoopNest nest(random.routine());
    const bool as_large = seed % 3 != 0;
    if (as_large) nest.tuning = {.assumed_rounds = 5000, .shortest_chunk = 2, .array_share = 0};
    for (std::uint64_t call = 0; call < 2; ++call) {
      testing::NestRandom numbers{seed * 16 + call};
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
  for (const char* word : {"parallel", "host", "vector", "chunks", "tiles", "lanes", "behind"})
    EXPECT_GT(seen[word], 0) << word;
}

}  // namespace
}  // namespace frit
