// sweep_test.cpp: random time loops, run in sweeps, against the same loops in order.
//
// FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED change how many there are and which.
#include "engine/sweep.h"

#include <gtest/gtest.h>

#include "engine/nest_run.h"
#include "engine/pool.h"
#include "front/common.h"
#include "schedule/caches.h"
#include "schedule/testing_nest_random.h"

namespace frit {
namespace {

using testing::NestMaker;
using testing::NestWalk;
using testing::number_from;
using testing::Random;

constexpr std::int64_t margin = 2, width = 96;

// Nests that store to one array what they load around the same place of others, and borders, within
// a loop over time.
class RandomTimeLoop {
 public:
  explicit RandomTimeLoop(std::uint64_t seed) : random_{seed} {
    rank_ = random_.one_in(4) ? 1 : 2;
    for (int& a : arrays_) a = maker_.array(DType::Float64, rank_);
    steps_ = maker_.integer();
    rows_ = maker_.integer();
    columns_ = maker_.integer();
    const auto count = random_.between(1, 4);
    maker_.loop(maker_.literal(0), maker_.arg(steps_), [&](ValueId t) {
      time_ = t;
      for (std::int64_t k = 0; k < count; ++k) nest();
    });
  }
  Routine routine() { return maker_.routine(); }
  std::size_t rank() const { return static_cast<std::size_t>(rank_); }

 private:
  void nest() {
    if (rank_ == 1) return line();
    const auto kind = random_.between(0, 7);
    if (kind == 0) return row_border();
    if (kind == 1) return column_border();
    if (kind == 2) return middle_row();
    plane();
  }
  int some_array() { return arrays_[random_.below(3)]; }
  int another(int array) {
    int other = some_array();
    while (other == array) other = some_array();
    return other;
  }
  ValueId before_end(int extent) { return maker_.shifted(maker_.arg(extent), -margin); }
  ValueId start() { return maker_.literal(random_.between(0, 1) ? margin : margin + 1); }
  std::int64_t near() { return random_.between(-margin, margin); }

  ValueId sum(int to, const std::vector<ValueId>& place) {
    ValueId sum = maker_.load(some_array(), place);
    const auto terms = random_.between(1, 4);
    for (std::int64_t k = 0; k < terms; ++k) {
      std::vector<ValueId> around;
      for (ValueId index : place) around.push_back(maker_.shifted(index, near()));
      sum = maker_.plus(maker_.times(sum, maker_.real(0.37)), maker_.load(another(to), around));
    }
    if (random_.one_in(5))
      sum = maker_.plus(sum, maker_.apply(Op::Multiply, maker_.real(0.01), as_real(time_)));
    return sum;
  }
  ValueId as_real(ValueId integer) { return maker_.cast(integer, DType::Float64); }

  void line() {
    const int to = some_array();
    maker_.loop(start(), before_end(rows_),
                [&](ValueId i) { maker_.store(to, {i}, sum(to, {i})); });
  }
  void plane() {
    const int to = some_array();
    maker_.loop(start(), before_end(rows_), [&](ValueId i) {
      maker_.loop(start(), before_end(columns_), [&](ValueId j) {
        maker_.store(to, {i, j}, sum(to, {i, j}));
      });
    });
  }
  ValueId edge(int extent, std::int64_t inside) {
    return random_.one_in(2) ? maker_.literal(inside)
                             : maker_.shifted(maker_.arg(extent), -1 - inside);
  }
  void row_border() {
    const int to = some_array(), from = some_array();
    const bool is_first = random_.one_in(2);
    const auto row = [&](std::int64_t inside) {
      return is_first ? maker_.literal(inside) : maker_.shifted(maker_.arg(rows_), -1 - inside);
    };
    maker_.loop(maker_.literal(0), maker_.arg(columns_), [&](ValueId j) {
      maker_.store(to, {row(0), j}, maker_.load(from, {row(random_.between(1, 3)), j}));
    });
  }
  void middle_row() {
    const int to = some_array(), from = another(to);
    const ValueId row = maker_.apply(Op::FloorDivide, maker_.arg(rows_), maker_.literal(2));
    maker_.loop(start(), before_end(columns_), [&](ValueId j) {
      const ValueId other = maker_.load(from, {maker_.shifted(row, near()), j});
      const ValueId half = maker_.times(maker_.load(to, {row, j}), maker_.real(0.5));
      maker_.store(to, {row, j}, maker_.plus(half, other));  // no sum, whose order is free
    });
  }
  void column_border() {
    const int to = some_array(), from = some_array();
    maker_.loop(maker_.literal(0), maker_.arg(rows_), [&](ValueId i) {
      maker_.store(to, {i, edge(columns_, 0)}, maker_.load(from, {i, edge(columns_, 2)}));
    });
  }

  Random random_;
  NestMaker maker_;
  int rank_ = 2, steps_ = 0, rows_ = 0, columns_ = 0;
  int arrays_[3] = {};
  ValueId time_ = no_value;
};

TEST(Sweep, time_loops_give_what_they_give_in_order) {
  const auto loops = static_cast<std::uint64_t>(number_from("FRIT_FUZZ_PROGRAMS", 300)),
             first = static_cast<std::uint64_t>(number_from("FRIT_FUZZ_SEED", 1));
  Locked lock(Engine::lock());
  Settings& settings = Engine::get().settings;
  const Settings settings_before = settings;
  const int threads_before = ThreadPool::get().threads();
  const std::int64_t swept_before = Engine::get().statistics.swept_launches;
  settings.part_cost = 1e-3;
  for (std::uint64_t seed = first; seed < first + loops; ++seed) {
    RandomTimeLoop made(seed);
    const Routine routine = made.routine();
    Random random{seed};
    const std::vector<std::int64_t> integers{random.between(0, 7), random.between(4, width),
                                             random.between(4, width)};
    const std::vector<std::int64_t> shape(made.rank(), width);
    std::vector<std::int64_t> strides{8};
    if (made.rank() == 2) strides = {8 * width, 8};
    using Data = std::array<std::vector<double>, 3>;
    Data start;
    for (std::vector<double>& data : start) {
      data.resize(made.rank() == 2 ? width * width : width);
      for (double& x : data) x = static_cast<double>(random.between(1, 1000)) / 999;
    }
    const auto arguments = [&](Data& data) {
      std::vector<NestArgument> all;
      for (std::vector<double>& d : data)
        all.push_back({reinterpret_cast<std::byte*>(d.data()), shape, strides});
      return all;
    };
    Data expected = start;
    std::vector<testing::NestArray> walked;
    for (const NestArgument& a : arguments(expected)) walked.push_back({a.data, shape, strides});
    NestWalk(routine, walked, integers).run();
    LoopNest nest(routine);
    nest.tuning = {.assumed_rounds = 20000, .sweep_shift = random.between(1, 20)};
    settings.tier = seed % 4 == 0 ? Tier::Compiled : Tier::Interpreter;
    for (const int threads : {1, 2, 3, 7}) {
      ThreadPool::get().set_threads(threads);
      Data given = start;
      const std::vector<NestArgument> arrays = arguments(given);
      const NestCall call{arrays, integers, {}};
      nest.run(call);
      ASSERT_TRUE(given == expected) << "seed " << seed << ", " << threads << " threads\n"
                                     << print(nest.program_for(call).plan) << print(routine);
    }
  }
  ThreadPool::get().set_threads(threads_before);
  settings = settings_before;
  EXPECT_GT(Engine::get().statistics.swept_launches - swept_before,
            static_cast<std::int64_t>(20 * loops));
}

// A turn is some rows of each launch. Of one whose rows are elements it would be a few elements.
TEST(Sweep, planes_do_not_take_lines_along) {
  const SweepLimits limits{.bytes = static_cast<std::int64_t>(100 * own_cache())};
  const SweepSize planes{.extent = 10'000, .cost_of_row = 2'000, .all_rows = 20'000, .cost = 4e7};
  const SweepSize lines{.extent = 1'000'000, .cost_of_row = 1, .all_rows = 2'000'000, .cost = 2e6};
  EXPECT_TRUE(limits.fits(1, planes));
  EXPECT_TRUE(limits.fits(1, lines));
  const SweepSize both{.extent = lines.extent,
                       .cost_of_row = planes.cost_of_row,
                       .all_rows = planes.all_rows + lines.all_rows,
                       .cost = planes.cost + lines.cost};
  EXPECT_FALSE(limits.fits(1, both));
}

}  // namespace
}  // namespace frit
