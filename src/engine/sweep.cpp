// sweep.cpp: what goes into a sweep, and how its parts are run.
#include "engine/sweep.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "engine/pool.h"

namespace frit {
namespace {

constexpr std::size_t most_launches = 64;
class Sweep {
 public:
  Sweep(std::span<const SweptLaunch> launches, std::int64_t turn)
      : launches_(launches), turn_(turn) {
    first_ = launches[0].first();
    behind_ = launches[0].behind();
    for (const SweptLaunch& l : launches) {
      first_ = std::min(first_, l.first());
      behind_ = std::max(behind_, l.behind());
      deepest_ = std::max(deepest_, l.shift);
    }
  }

  unsigned run(std::int64_t most_parts) {
    // Rows about one border are not about another.
    parts_ = std::clamp<std::int64_t>((behind_ - first_) / (2 * deepest_ + 1), 1, most_parts);
    ThreadPool& pool = ThreadPool::get();
    const auto part = [](void* sweep, std::int64_t k) { static_cast<Sweep*>(sweep)->run_part(k); };
    const auto border = [](void* sweep, std::int64_t k) {
      static_cast<Sweep*>(sweep)->run_border(k + 1);
    };
    const unsigned flags = pool.run(parts_, part, this, true);
    return parts_ == 1 ? flags : flags | pool.run(parts_ - 1, border, this);
  }

 private:
  // Where part k begins.
  std::int64_t border(std::int64_t k) const { return first_ + (behind_ - first_) * k / parts_; }

  void run_part(std::int64_t part) const {
    const std::int64_t low = border(part), high = border(part + 1);
    for (std::int64_t row = low; row < high + deepest_; row += turn_)
      for (const SweptLaunch& l : launches_) {
        const std::int64_t own_low = part == 0 ? low : low + l.shift;
        const std::int64_t own_high = part == parts_ - 1 ? high : high - l.shift;
        run_rows(l, std::max(own_low, row - l.shift), std::min(own_high, row - l.shift + turn_));
      }
  }

  void run_border(std::int64_t part) const {
    const std::int64_t middle = border(part);
    for (const SweptLaunch& l : launches_) run_rows(l, middle - l.shift, middle + l.shift);
  }

  static void run_rows(const SweptLaunch& l, std::int64_t low, std::int64_t high) {
    low = std::max(low, l.first());
    high = std::min(high, l.behind());
    if (low >= high) return;
    if (l.copied)
      return l.copied->copy(static_cast<const std::byte*>(l.pointers[0]),
                            static_cast<std::byte*>(l.pointers[1]), low - l.begin, high - l.begin);
    const LaunchArguments arguments = {l.pointers.data(), l.integers.data(), l.scalars.data()};
    if (l.point) {
      l.executable->run(arguments, 0, l.iterations(), nullptr);
    } else if (l.per_row > 1) {
      l.executable->run(arguments, (low - l.begin) * l.per_row,
                        std::min((high - l.begin) * l.per_row, l.extent_of_kernel), nullptr);
    } else if (l.rows == 1) {
      l.executable->run(arguments, low - l.begin, high - l.begin, nullptr);
    } else {  // iterations of several rows, counted from the first of these
      std::array<std::int64_t, SweptLaunch::most_integers> integers;
      std::ranges::copy(l.integers, integers.begin());
      integers[l.begin_argument] = low;
      integers[l.end_argument] = high;
      l.executable->run({l.pointers.data(), integers.data(), l.scalars.data()}, 0,
                        (high - low + l.rows - 1) / l.rows, nullptr);
    }
  }

  std::span<const SweptLaunch> launches_;
  std::int64_t turn_, deepest_ = 0, first_ = 0, behind_ = 0, parts_ = 1;
};

}  // namespace

unsigned run_sweep(std::span<const SweptLaunch> launches, std::int64_t turn, std::int64_t parts) {
  return Sweep(launches, turn).run(parts);
}

void LaunchSweep::begin(std::int64_t bytes, std::int64_t shift) {
  count_ = 0;
  limits_ = {.bytes = bytes, .threads = ThreadPool::get().threads(), .most_shift = shift};
  if (!limits_.pays()) limits_.bytes = 0;
}

SweptLaunch& LaunchSweep::next() {
  if (launches_.size() <= count_) launches_.resize(count_ + 1);
  return launches_[count_];
}

bool LaunchSweep::takes(const NestSweeps& sweeps) {
  SweptLaunch& l = launches_[count_];
  l.shift = 0;
  if (count_ == 0) return l.point || limits_.fits(1, with({}, l));
  if (count_ == most_launches) return false;
  const auto at = [](std::int32_t number) { return static_cast<std::size_t>(number); };
  for (std::size_t k = 0; k < count_; ++k) {
    const SweptLaunch& before = launches_[k];
    const std::int64_t apart = sweeps.distance[at(before.number)][at(l.number)];
    if (apart == NestSweeps::unknown) return false;
    l.shift = std::max(l.shift, before.shift + apart);
  }
  return limits_.fits(l.shift, with(size_, l));
}

void LaunchSweep::add() {
  size_ = with(count_ == 0 ? SweepSize() : size_, launches_[count_]);
  ++count_;
}

SweepSize LaunchSweep::with(const SweepSize& size, const SweptLaunch& l) {
  SweepSize both = size;
  both.extent = std::max(size.extent, l.extent());
  if (l.point) return both;
  both.all_rows += l.extent();
  both.cost += l.cost;
  both.rows = std::max(size.rows, l.rows);
  both.cost_of_row = std::max(size.cost_of_row, l.cost / static_cast<double>(l.extent()));
  return both;
}

unsigned LaunchSweep::run() {
  const SweptLaunch& l = launches_[0];
  const unsigned flags =
      count_ > 1 ? run_together()
                 : Engine::get().launch(*l.code, l.pace,
                                        {l.pointers.data(), l.integers.data(), l.scalars.data()},
                                        {.extent = l.iterations(), .cost = l.cost});
  if (launches_.size() > count_) std::swap(launches_[0], launches_[count_]);
  count_ = 0;
  return flags;
}

unsigned LaunchSweep::run_together() {
  Engine& engine = Engine::get();
  std::int64_t deepest = 1;
  double cost = 0, of_interpreted = 0;
  const auto is_interpreted = [](const SweptLaunch& l) {
    return l.executable == l.code->interpreted.get();
  };
  const std::span<SweptLaunch> all(launches_.data(), count_);
  for (SweptLaunch& l : all) {
    l.executable = &engine.executable(*l.code, l.cost, l.pace);
    deepest = std::max(deepest, l.shift);
    cost += l.cost;
    if (is_interpreted(l)) of_interpreted += l.cost;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const unsigned flags = run_sweep(all, limits_.turn(size_), limits_.parts(deepest, size_));
  const std::chrono::duration<double, std::nano> took = Clock::now() - start;
  for (const SweptLaunch& l : all)
    if (is_interpreted(l))
      engine.note_cost(*l.code, std::max(0.0, took.count() - cost) * l.cost / of_interpreted);
  engine.statistics.swept_launches += static_cast<std::int64_t>(all.size());
  return flags;
}

}  // namespace frit
