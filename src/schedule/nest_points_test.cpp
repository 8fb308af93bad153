// nest_points_test.cpp: which nests are kernels of the trace, and over which axes.
#include "schedule/nest_points.h"

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "front/common.h"
#include "schedule/testing_nest.h"

namespace frit {
namespace {

using testing::NestMaker;

std::optional<NestPoints> points(const NestMaker& m, std::vector<std::int64_t> integers = {}) {
  const Locked lock(Engine::lock());
  const auto nest = analyse_nest(m.routine());
  ConditionBits bits;
  integers.resize(static_cast<std::size_t>(nest->routine.body.integers));
  evaluate_conditions(*nest, integers, bits);
  return points_of(judge(nest, bits));
}

using Extents = std::vector<std::int64_t>;

TEST(NestPoints, a_perfect_nest_of_parallel_loops_has_an_axis_a_loop) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 2), n = m.integer(),
            k = m.integer();
  m.loop(m.literal(1), m.shifted(m.arg(n), -1), [&](ValueId i) {
    m.loop(m.arg(k), m.arg(n), [&](ValueId j) {
      m.store(b, {i, j}, m.plus(m.load(a, {m.shifted(i, -1), j}), m.load(a, {i, j})));
    });
  });
  const auto found = points(m);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->routine->rank, 2);
  EXPECT_EQ(found->extents(std::vector<std::int64_t>{10, 3}), (Extents{8, 7}));
  EXPECT_EQ(found->extents(std::vector<std::int64_t>{10, 10}), std::nullopt);
  EXPECT_EQ(found->extents(std::vector<std::int64_t>{std::int64_t{1} << 61, 0}), std::nullopt);
}

TEST(NestPoints, values_and_private_locals_between_the_loops_are_computed_at_each_point) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), b = m.array(DType::Float64, 2), n = m.integer(),
            t = m.local(DType::Float64);
  m.write(t, m.real(0));
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    const ValueId row = m.load(a, {i});
    m.loop(m.literal(0), m.arg(n), [&](ValueId j) {
      m.write(t, m.plus(row, m.real(1)));
      m.store(b, {i, j}, m.read(t));
    });
  });
  EXPECT_TRUE(points(m));
}

TEST(NestPoints, loops_with_dependences_are_none) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(1), m.arg(n),
         [&](ValueId i) { m.store(a, {i}, m.load(a, {m.shifted(i, -1)})); });
  EXPECT_FALSE(points(m));
}

TEST(NestPoints, sums_are_none) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), out = m.array(DType::Float64, 1), n = m.integer(),
            s = m.local(DType::Float64);
  m.write(s, m.real(0));
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) { m.write(s, m.plus(m.read(s), m.load(a, {i}))); });
  m.store(out, {m.literal(0)}, m.read(s));
  EXPECT_FALSE(points(m));
}

TEST(NestPoints, triangles_are_none) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.loop(m.literal(0), i, [&](ValueId j) { m.store(a, {i, j}, m.real(1)); });
  });
  EXPECT_FALSE(points(m));
}

TEST(NestPoints, stores_between_the_loops_are_none) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.store(b, {i}, m.real(1));
    m.loop(m.literal(0), m.arg(n), [&](ValueId j) { m.store(a, {i, j}, m.real(1)); });
  });
  EXPECT_FALSE(points(m));
}

// The element that is read for a row may be one that the row's own points write.
TEST(NestPoints, an_element_of_a_written_array_is_not_read_between_the_loops) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    const ValueId first = m.load(a, {i, m.literal(0)});
    m.loop(m.literal(0), m.arg(n), [&](ValueId j) {
      m.store(a, {i, j}, m.plus(first, m.real(1)));
    });
  });
  EXPECT_FALSE(points(m));
}

TEST(NestPoints, a_body_with_a_loop_is_none) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 1), n = m.integer(),
            s = m.local(DType::Float64);
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.write(s, m.real(0));
    m.loop(m.literal(0), m.arg(n), [&](ValueId j) {
      m.write(s, m.plus(m.read(s), m.load(a, {i, j})));
    });
    m.store(b, {i}, m.read(s));
  });
  EXPECT_FALSE(points(m));
}

TEST(NestPoints, a_few_rounds_in_a_point_are_written_one_after_the_other) {
  const auto with_rounds = [](std::int64_t rounds) {
    NestMaker m;
    const int a = m.array(DType::Float64, 1), b = m.array(DType::Float64, 1), n = m.integer(),
              t = m.local(DType::Float64);
    m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
      m.write(t, m.real(0));
      m.loop(m.literal(0), m.literal(rounds),
             [&](ValueId k) { m.write(t, m.plus(m.read(t), m.load(a, {m.plus(i, k)}))); });
      m.store(b, {i}, m.read(t));
    });
    return points(m);
  };
  const auto found = with_rounds(3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->axes.size(), 1u);
  const std::string text = print(*found->routine);
  EXPECT_EQ(text.find("loop"), std::string::npos) << text;
  std::size_t loads = 0;
  for (std::size_t k = text.find("load"); k != std::string::npos; k = text.find("load", k + 1))
    ++loads;
  EXPECT_EQ(loads, 3u) << text;
  EXPECT_FALSE(with_rounds(9));
}

}  // namespace
}  // namespace frit
