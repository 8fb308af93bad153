// sweep_size.cpp: sweeps and caches.
#include "schedule/sweep_size.h"

#include "schedule/caches.h"

namespace frit {
namespace {

constexpr double shortest_turn = 1000;   // nanoseconds of a launch before the next one
constexpr double cost_of_call = 60;      // of a launch's turn, in nanoseconds
constexpr double share_of_calls = 0.5;   // of what the launches take
constexpr std::int64_t least_depth = 8;  // rows of a thread, in shifts
constexpr double cache_share = 0.6;      // that the rows of a sweep may take
constexpr std::int64_t few_rows = 6;     // shifts that are worth a core's own cache
constexpr std::int64_t most_parts = 4;   // of a thread

}  // namespace

bool SweepLimits::pays() const {
  return most_shift > 0 || static_cast<double>(bytes) > own_cache() * static_cast<double>(threads);
}

std::int64_t SweepLimits::turn(const SweepSize& size) const {
  if (most_shift > 0 || size.cost_of_row <= 0) return size.rows;
  const double most = static_cast<double>(size.extent);
  const auto wanted = static_cast<std::int64_t>(std::min(most, shortest_turn / size.cost_of_row));
  return (wanted / size.rows + 1) * size.rows;
}

bool SweepLimits::fits(std::int64_t shift, const SweepSize& size) const {
  if (most_shift > 0) return shift <= most_shift;
  if (threads > 1 && shift * least_depth * threads > size.extent) return false;
  const std::int64_t of_turn = turn(size);
  // A plane of a cube takes as long as thousands of elements of a line: with turns for planes, the
  // line would go element by element.
  const double calls = static_cast<double>(size.all_rows) / static_cast<double>(of_turn);
  if (size.cost_of_row > 0 && calls * cost_of_call > share_of_calls * size.cost) return false;
  const double row = static_cast<double>(bytes) / static_cast<double>(size.extent);
  const auto take = [&](std::int64_t rows) { return row * static_cast<double>(rows + of_turn); };
  if (take(shift) <= cache_share * own_cache()) return true;
  const double share = cache_share * shared_cache();
  return static_cast<double>(bytes) > share && take(few_rows) > cache_share * own_cache() &&
         take(shift) <= share / static_cast<double>(threads);
}

std::int64_t SweepLimits::parts(std::int64_t shift, const SweepSize& size) const {
  const std::int64_t deepest = std::max<std::int64_t>(shift, 1);
  return threads * std::clamp<std::int64_t>(size.extent / (2 * least_depth * threads * deepest), 1,
                                            most_parts);
}

}  // namespace frit
