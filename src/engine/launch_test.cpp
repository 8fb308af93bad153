// launch_test.cpp: the parts of a launch cover its extent once; where their borders lie.
#include "engine/launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/pool.h"

namespace frit {
namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

class NotesRanges : public Executable {
 public:
  void run(const LaunchArguments&, std::int64_t begin, std::int64_t end,
           std::byte*) const override {
    const std::lock_guard lock(mutex_);
    ranges_.emplace_back(begin, end);
  }
  Ranges in_order() const {
    Ranges sorted = ranges_;
    std::ranges::sort(sorted);
    return sorted;
  }

 private:
  mutable std::mutex mutex_;
  mutable Ranges ranges_;
};

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    threads_ = ThreadPool::get().threads();
    ThreadPool::get().set_threads(2);
    part_cost_ = std::exchange(Engine::get().settings.part_cost, 1.0);
  }
  void TearDown() override {
    ThreadPool::get().set_threads(threads_);
    Engine::get().settings.part_cost = part_cost_;
  }
  static Ranges ranges_of(const LaunchShape& shape) {
    const NotesRanges notes;
    run_parts(notes, {}, shape);
    return notes.in_order();
  }

 private:
  int threads_ = 1;
  double part_cost_ = 0;
};

TEST_F(Launch, parts_cover_the_extent_once) {
  for (std::int64_t extent = 1; extent < 300; extent += 7)
    for (std::int64_t offset = 0; offset < 64; offset += 9) {
      std::int64_t behind = 0;
      for (const auto& [begin, end] :
           ranges_of({.extent = extent, .granule = 64, .offset = offset, .cost = 1e3})) {
        EXPECT_EQ(begin, behind);
        EXPECT_LT(begin, end);
        behind = end;
      }
      EXPECT_EQ(behind, extent);
    }
}

TEST_F(Launch, borders_lie_at_multiples_of_the_index_itself) {
  const Ranges expected = {{0, 5}, {5, 13}, {13, 21}, {21, 23}};
  EXPECT_EQ(ranges_of({.extent = 23, .granule = 8, .offset = 3, .cost = 1e3}), expected);
}

TEST_F(Launch, what_each_part_costs_by_itself_keeps_a_launch_in_one) {
  const LaunchShape shared{.extent = 64, .cost = 1e3, .cost_of_part = 600};
  EXPECT_EQ(ranges_of(shared), (Ranges{{0, 64}}));
  EXPECT_GT(ranges_of({.extent = 64, .cost = 1e3, .cost_of_part = 100}).size(), 1u);
}

}  // namespace
}  // namespace frit
