// nest_kept_test.cpp: kept dependences are those that were found; nothing else is taken for some.
#include "schedule/nest_kept.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "schedule/nest_verdict.h"
#include "schedule/testing_nest_kernels.h"
#include "schedule/testing_nest_random.h"

namespace frit {
namespace {

using testing::NestKernels;
using testing::RandomNest;

void expect_kept(const Routine& routine, const NestFacts& facts) {
  const auto found = analyse_nest(routine, facts);
  const std::string bytes = dependences_as_bytes(*found);
  const auto other = std::const_pointer_cast<Nest>(analyse_nest(routine, facts));
  other->dependences.clear();
  other->conditions.clear();
  ASSERT_TRUE(read_dependences(bytes, *other));
  EXPECT_EQ(dependences_as_bytes(*other), bytes);
  EXPECT_EQ(other->conditions, found->conditions);
  const std::vector<std::int64_t> integers(static_cast<std::size_t>(routine.body.integers), 3);
  ConditionBits bits;
  evaluate_conditions(*found, integers, bits);
  EXPECT_EQ(print(judge(other, bits)), print(judge(found, bits)));
}

TEST(NestKept, dependences_of_kernels_and_random_nests_are_the_same_when_read_again) {
  for (const std::string& name : NestKernels::names())
    expect_kept(NestKernels::make(name, 5, 3).routine, {});
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomNest random(seed);
    expect_kept(random.routine(), random.facts());
  }
}

TEST(NestKept, what_is_cut_off_or_leaves_the_nest_is_refused) {
  const Routine routine = NestKernels::make("lu", 5, 3).routine;
  const auto nest = std::const_pointer_cast<Nest>(analyse_nest(routine));
  const std::string bytes = dependences_as_bytes(*nest);
  for (std::size_t size = 0; size < bytes.size(); size += 8)
    EXPECT_FALSE(read_dependences(bytes.substr(0, size), *nest)) << size;
  EXPECT_FALSE(read_dependences(bytes + std::string(8, '\0'), *nest));
  EXPECT_EQ(dependences_as_bytes(*nest), bytes);
  const auto small =
      std::const_pointer_cast<Nest>(analyse_nest(NestKernels::make("vector add", 5, 3).routine));
  EXPECT_FALSE(read_dependences(bytes, *small));
}

TEST(NestKept, the_next_analysis_takes_what_is_in_the_store) {
  std::string folder = ::testing::TempDir() + "frit-nests-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder.data()));
  DiskStore store({.folder = folder, .identity = "a"});
  const Routine routine = NestKernels::make("lu", 5, 3).routine;
  const auto found = analyse_nest(routine, {}, &store);
  ASSERT_FALSE(found->dependences.empty());
  const std::string question = question_of(routine, {});
  EXPECT_EQ(store.load(question), dependences_as_bytes(*found));
  // Another answer shows that it is read.
  const std::string none(16, '\0');
  store.store(question, none);
  EXPECT_TRUE(analyse_nest(routine, {}, &store)->dependences.empty());
  NestFacts facts;
  facts.mixed = {{0, 0}};
  EXPECT_FALSE(analyse_nest(routine, facts, &store)->dependences.empty());
  store.store(question, "nonsense");
  EXPECT_EQ(dependences_as_bytes(*analyse_nest(routine, {}, &store)), dependences_as_bytes(*found));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace frit
