// compiler_test.cpp: the compile service at its end.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "backend/cpu/cpu.h"
#include "ir/testing_cases.h"

namespace frit {
namespace {

// In a child, which has nothing of LLVM yet: at different points of its loading and first use.
void exit_while_compiling(int microseconds) {
  setenv("FRIT_CACHE", "0", 1);
  static auto* const compiler = make_compiler().release();
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    compiler->request(frit::testing::RandomCase(seed).make().kernel);
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  std::exit(0);
}

TEST(CompilerDeathTest, a_program_may_end_while_llvm_is_loaded_or_first_used) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int milliseconds = 0; milliseconds < 120; milliseconds += 4)
    EXPECT_EXIT(exit_while_compiling(milliseconds * 1000), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace frit
