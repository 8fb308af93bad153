// eager_test.cpp: what runs without a plan, and what is planned.
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "frit/array.h"

namespace frit {
namespace {

constexpr std::int64_t some = 3000;  // elements: more than are computed at once

class Eager : public testing::Test {
 protected:
  void SetUp() override {
    flush_caches();
    reset_statistics();
  }
  void TearDown() override { Engine::get().settings = settings; }
  Settings settings = Engine::get().settings;
};

Array counted(std::int64_t n) {
  return arange(Scalar::of(DType::Float64, 0.0), Scalar::of(DType::Float64, 1.0), n);
}

double element(const Array& a, std::int64_t k) {
  eval();
  return reinterpret_cast<const double*>(a.base()->data + a.offset())[k];
}

TEST_F(Eager, a_trace_is_planned_when_its_runs_would_have_paid_for_it) {
  const Array x = counted(some);
  eval();
  const auto run = [&] {
    reset_statistics();
    const Array y = apply(Op::Add, {apply(Op::Multiply, {x, 2.0}), 1.0});
    EXPECT_EQ(element(y, 7), 15.0);
    return statistics();
  };
  int rounds = 0;
  Statistics s = run();
  for (; s.eager == 1; s = run()) {
    EXPECT_EQ(s.plan_misses + s.interpreted_launches + s.compiled_launches, 0);
    ASSERT_LT(++rounds, 1000);
  }
  EXPECT_GT(rounds, 3);
  EXPECT_EQ(s.plan_misses, 1);
  EXPECT_EQ(s.interpreted_launches + s.compiled_launches, 1);
  s = run();
  EXPECT_EQ(s.eager + s.plan_misses, 0);
  EXPECT_EQ(s.plan_hits, 1);
}

TEST_F(Eager, series_whose_lengths_change_are_not_planned) {
  for (std::int64_t n = some; n < some + 20; ++n) {
    reset_statistics();
    const Array y = apply(Op::Add, {apply(Op::Multiply, {counted(n), 2.0}), 1.0});
    EXPECT_EQ(element(y, n - 1), 2.0 * static_cast<double>(n - 1) + 1.0);
    EXPECT_EQ(statistics().eager, 1);
    EXPECT_EQ(statistics().plan_misses, 0);
  }
}

TEST_F(Eager, much_work_is_planned_at_once) {
  const Array x = counted(1'000'000);
  eval();
  reset_statistics();
  const Array y = apply(Op::Add, {apply(Op::Multiply, {x, 2.0}), 1.0});
  EXPECT_EQ(element(y, 7), 15.0);
  EXPECT_EQ(statistics().eager, 0);
  EXPECT_EQ(statistics().plan_misses, 1);
}

TEST_F(Eager, what_has_no_loop_of_its_own_is_planned_with_what_follows_it) {
  Engine::get().settings.tier = Tier::Eager;
  const Array x = counted(some);
  const Array half = apply(Op::Multiply, {x, 0.5});
  // A sum in another type, converted a buffer at a time.
  const Array sum =
      reduce(Op::Add, astype(counted(20'000), DType::Float32), {.dtype = DType::Float64});
  const Array all = apply(Op::Add, {half, sum});
  EXPECT_EQ(element(all, 2), 1.0 + 20'000.0 * 19'999.0 / 2);
  EXPECT_GT(statistics().plan_misses, 0);
}

TEST_F(Eager, temporaries_are_freed_behind_their_last_use) {
  Engine::get().settings.tier = Tier::Eager;
  Array x = full(std::vector<std::int64_t>{1 << 20}, Scalar::of(DType::Float64, 1.0));
  eval();
  reset_statistics();
  const std::int64_t before = statistics().bytes_live;
  for (int k = 0; k < 20; ++k) x = apply(Op::Add, {x, 1.0});
  EXPECT_EQ(element(x, 5), 21.0);
  EXPECT_EQ(statistics().eager, 1);
  EXPECT_LE(statistics().bytes_peak - before, 3 * (8 << 20));
}

TEST_F(Eager, results_that_nobody_sees_are_not_computed) {
  Engine::get().settings.tier = Tier::Eager;
  Engine::get().settings.float_checks = 15;
  const Array x = counted(some);
  eval();
  apply(Op::TrueDivide, {1.0, x});
  const Array y = apply(Op::Add, {x, 1.0});
  EXPECT_EQ(element(y, 0), 1.0);
  EXPECT_TRUE(Engine::get().float_warnings.empty());
}

TEST_F(Eager, explain_says_so) {
  const Array x = counted(some);
  eval();
  const Array y = apply(Op::Add, {apply(Op::Multiply, {x, 2.0}), 1.0});
  eval();
  EXPECT_EQ(Engine::get().explain(false),
            "evaluated: 2 operations, one by one: done sooner than planned, so far\n"
            "    multiply float64(3000,)\n"
            "    add float64(3000,)\n");
}

}  // namespace
}  // namespace frit
