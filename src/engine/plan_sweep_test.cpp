// plan_sweep_test.cpp: steps by slices that go over their arrays together, and when they don't.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "engine/memory.h"
#include "frit/array.h"

namespace frit {
namespace {

constexpr std::int64_t rows = 60, columns = 40;

class PlanSweeps : public testing::Test {
 protected:
  void SetUp() override {
    Settings& set = Engine::get().settings;
    set.immediate_bytes = 0;
    set.tier = Tier::Interpreter;
    set.sweep_shift = 12;
    flush_caches();
    reset_statistics();
  }
  void TearDown() override {
    Engine::get().settings = settings;
    flush_caches();
  }
  Settings settings = Engine::get().settings;

  // The bits that `steps` leave in a plane, in order and in sweeps; and how many launches were
  // swept.
  template <class Steps>
  std::int64_t compare(Steps&& steps) {
    Engine::get().settings.sweep_shift = 0;
    const std::vector<double> expected = elements(steps(plane()));
    flush_caches();
    Engine::get().settings.sweep_shift = 12;
    const Array given = plane();
    reset_statistics();
    const std::vector<double> found = elements(steps(given));
    EXPECT_EQ(found, expected);
    return statistics().swept_launches;
  }

  static Array plane() {
    const Array line =
        arange(Scalar::of(DType::Float64, 0.0), Scalar::of(DType::Float64, 1.0), rows * columns);
    const std::int64_t shape[] = {rows, columns};
    Array result = apply(Op::Multiply, {*reshape_window(line, shape), 0.01});
    eval();
    return result;
  }
  // The points `down` and `right` of those inside.
  static Array inside(const Array& u, std::int64_t down = 0, std::int64_t right = 0) {
    const std::int64_t shape[] = {rows - 2, columns - 2};
    const std::int64_t strides[] = {8 * columns, 8};
    return window(u, shape, strides, 8 * ((1 + down) * columns + 1 + right), DType::Float64);
  }
  static void spread(const Array& u) {
    const Array around = apply(Op::Add, {inside(u, -1), inside(u, 1)});
    const Array change = apply(Op::Subtract, {around, apply(Op::Multiply, {inside(u), 2.0})});
    assign(inside(u), apply(Op::Add, {inside(u), apply(Op::Multiply, {change, 0.1})}));
  }
  static std::vector<double> elements(const Array& a) {
    eval();
    const auto* data = reinterpret_cast<const double*>(a.base()->data + a.offset());
    return {data, data + a.size()};
  }
};

TEST_F(PlanSweeps, of_updates_in_place_give_the_same_bits) {
  const std::int64_t swept = compare([](const Array& u) {
    for (int k = 0; k < 6; ++k) spread(u);
    return u;
  });
  EXPECT_GE(swept, 6);
}

TEST_F(PlanSweeps, need_several_launches) {
  const std::int64_t swept = compare([](const Array& u) {
    Array twice = apply(Op::Multiply, {u, 2.0});
    eval();
    return twice;
  });
  EXPECT_EQ(swept, 0);
}

// What others see of the memory has to be there, and stays where it is.
TEST_F(PlanSweeps, do_not_move_memory_that_others_hold) {
  const Array u = plane();
  eval();
  const std::byte* const data = begin_export(u);
  spread(u);
  spread(u);
  eval();
  EXPECT_EQ(u.base()->data, data);
  end_export(u.base());
}

TEST_F(PlanSweeps, run_in_order_where_memory_is_short) {
  const Array u = plane(), other = plane();
  eval();
  for (int k = 0; k < 4; ++k) spread(u);
  memory::fail_after(1);  // of the sweep's blocks; the steps' shadows come behind it
  eval();
  memory::fail_after(0);
  for (int k = 0; k < 4; ++k) {
    spread(other);
    eval();
  }
  EXPECT_EQ(elements(u), elements(other));
}

// Which step was it? They run again, one after another, from what was there before.
TEST_F(PlanSweeps, run_in_order_where_an_error_is_to_be_told) {
  Engine& engine = Engine::get();
  engine.settings.float_checks = 0xf;
  const auto steps = [](const Array& u) {
    spread(u);
    const Array wrong = apply(Op::TrueDivide, {inside(u, 0, 1), 0.0});
    assign(inside(u), wrong);
    spread(u);
    return u;
  };
  engine.settings.sweep_shift = 0;
  const std::vector<double> expected = elements(steps(plane()));
  const std::size_t told = engine.float_warnings.size();
  engine.float_warnings.clear();
  flush_caches();
  engine.settings.sweep_shift = 12;
  const std::vector<double> found = elements(steps(plane()));
  EXPECT_GT(told, 0U);
  EXPECT_EQ(engine.float_warnings.size(), told);
  engine.float_warnings.clear();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    EXPECT_TRUE(found[k] == expected[k] || (std::isnan(found[k]) && std::isnan(expected[k]))) << k;
}

}  // namespace
}  // namespace frit
