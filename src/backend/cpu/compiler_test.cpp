// compiler_test.cpp: the compile service at its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "backend/cpu/cpu.h"
#include "ir/error.h"
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

// The second service finds on the disk what the first one has made.
TEST(Compiler, grids_are_kept_on_the_disk) {
  std::string folder = ::testing::TempDir() + "frit-grids-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder.data()));
  setenv("FRIT_CACHE_DIR", folder.c_str(), 1);
  constexpr std::uint64_t count = 12;
  std::vector<codegen::GridCode> made[2];
  CompilerStatistics statistics[2];
  for (int k = 0; k < 2; ++k) {
    const std::unique_ptr<Compiler> compiler = make_compiler();
    for (std::uint64_t seed = 1; seed <= count; ++seed)
      compiler->request_grid(frit::testing::RandomCase(seed).make().kernel,
                             [&](codegen::GridCode code) { made[k].push_back(std::move(code)); });
    compiler->wait();
    statistics[k] = compiler->statistics();
  }
  unsetenv("FRIT_CACHE_DIR");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(statistics[0].compiled, count);
  EXPECT_EQ(statistics[1].loaded_from_disk, count);
  EXPECT_TRUE(std::ranges::any_of(made[0], [](const auto& code) { return !code.text.empty(); }));
  ASSERT_EQ(made[1].size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(made[0][k].text, made[1][k].text);
    EXPECT_EQ(made[0][k].why_not, made[1][k].why_not);
    EXPECT_EQ(made[0][k].strides, made[1][k].strides);
  }
}

// LLVM gives up in the middle of one kernel.
class JitThatBreaks final : public codegen::Jit {
 public:
  explicit JitThatBreaks(int good) : good_(good) {}
  ~JitThatBreaks() override { EXPECT_FALSE(broken_) << "destroyed after it has broken"; }
  codegen::Code compile(const Kernel&, codegen::Effort) override {
    EXPECT_FALSE(broken_) << "used after it has broken";
    broken_ = good_-- == 0;
    if (broken_) throw InternalError("frit: internal error: LLVM: no way to do this");
    codegen::Code code;
    code.bytes = std::string(64, '\xc3');  // returns
    return code;
  }
  codegen::GridCode compile_grid(const Kernel&) override { return {}; }
  std::string llvm_text(const Kernel&, codegen::Effort) override { return {}; }
  std::string assembly(const Kernel&, codegen::Effort) override { return {}; }
  bool is_broken() const override { return broken_; }

 private:
  int good_;
  bool broken_ = false;
};

CompilerStatistics after_requests(std::uint64_t count, int good_kernels_per_jit, int* opened) {
  setenv("FRIT_CACHE", "0", 1);
  const std::unique_ptr<Compiler> compiler = make_compiler([=] {
    ++*opened;
    return std::make_unique<JitThatBreaks>(good_kernels_per_jit);
  });
  unsetenv("FRIT_CACHE");
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    compiler->request(frit::testing::RandomCase(seed).make().kernel);
  compiler->wait();
  return compiler->statistics();
}

TEST(Compiler, a_kernel_that_llvm_cannot_do_leaves_the_others_compiled) {
  int opened = 0;
  const CompilerStatistics statistics = after_requests(12, 3, &opened);
  EXPECT_EQ(opened, 3);
  EXPECT_EQ(statistics.compiled, 9);
  EXPECT_EQ(statistics.failed, 3);
  EXPECT_EQ(statistics.failure, "frit: internal error: LLVM: no way to do this");
}

TEST(Compiler, an_llvm_that_fails_at_everything_is_given_up) {
  int opened = 0;
  const CompilerStatistics statistics = after_requests(20, 0, &opened);
  EXPECT_EQ(opened, 8);
  EXPECT_EQ(statistics.compiled, 0);
  EXPECT_EQ(statistics.failed, 20);
}

}  // namespace
}  // namespace frit
