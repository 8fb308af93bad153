// kernel_bytes_test.cpp: definitions that were written are read as they were; nothing else is.
#include "front/kernel_bytes.h"

#include <gtest/gtest.h>

#include "schedule/testing_nest_kernels.h"
#include "schedule/testing_nest_random.h"

namespace frit {
namespace {

using testing::NestKernels;
using testing::RandomNest;

KernelDefinition definition_of(const Routine& routine) {
  KernelDefinition definition;
  definition.routine = intern(routine);
  definition.uses.assign(routine.parameter_ranks.size(), ParameterUse::Shared);
  for (std::int32_t k = 0; k < routine.body.integers; ++k) {
    KernelInteger integer;
    integer.kind = k % 2 == 0 ? KernelInteger::Kind::Given : KernelInteger::Kind::Literal;
    integer.value = -(std::int64_t{1} << 40) + k;
    integer.number = k;
    definition.integers.push_back(integer);
  }
  for (std::size_t k = 0; k < routine.body.scalars.size(); ++k)
    definition.scalars.push_back(static_cast<std::int32_t>(k) - 1);
  definition.accesses = 7;
  return definition;
}

void expect_read_again(const Routine& routine) {
  const KernelDefinition definition = definition_of(routine);
  const std::string bytes = definition_as_bytes(definition);
  const auto found = definition_from(bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->routine, definition.routine);  // the same one
  EXPECT_EQ(found->uses, definition.uses);
  EXPECT_EQ(found->scalars, definition.scalars);
  EXPECT_EQ(found->accesses, definition.accesses);
  EXPECT_EQ(definition_as_bytes(*found), bytes);
}

TEST(KernelBytes, kernels_and_random_nests_are_the_same_when_read_again) {
  for (const std::string& name : NestKernels::names())
    expect_read_again(NestKernels::make(name, 5, 3).routine);
  Routine unheard = NestKernels::make("lu", 5, 3).routine;
  for_each_instr(unheard.body.code, [](const Instr& instr) {
    if (instr.kind == InstrKind::Apply) const_cast<Instr&>(instr).quiet = true;
  });
  expect_read_again(unheard);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) expect_read_again(RandomNest(seed).routine());
}

TEST(KernelBytes, what_is_cut_off_or_too_long_is_refused) {
  const std::string bytes =
      definition_as_bytes(definition_of(NestKernels::make("lu", 5, 3).routine));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(definition_from(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(definition_from(bytes + std::string(4, '\0')));
}

// Whatever the bytes are, a definition that is found is a valid one.
TEST(KernelBytes, changed_bytes_are_refused_or_a_valid_routine) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const std::string bytes = definition_as_bytes(definition_of(RandomNest(seed).routine()));
    for (std::size_t at = 0; at < bytes.size(); at += 5)
      for (int bit : {0, 3, 7}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
        if (const auto found = definition_from(changed)) verify(*found->routine);
      }
  }
}

}  // namespace
}  // namespace frit
