// sweep.h: runs several launches in one pass over the arrays, each some rows behind the one before.
//
// The rows are cut into parts for the threads: each does first what no other part has to do with,
// which is less from launch to launch; then what is left about the parts' borders (split tiling).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "schedule/nest_sweep.h"
#include "schedule/sweep_size.h"

namespace frit {

// A launch that waits for its sweep, with arguments of its own.
struct SweptLaunch {
  // No launch but a copy of rows, from pointers[0] to pointers[1].
  const Surroundings* copied = nullptr;
  std::int32_t number = -1;  // in NestSweeps
  KernelCode* code = nullptr;
  const Executable* executable = nullptr;  // chosen when the sweep runs
  Pace pace{};
  double cost = 0;  // as in LaunchShape
  std::vector<void*> pointers;
  std::vector<std::int64_t> integers;
  std::vector<Scalar> scalars;
  // Its rows, and how many are an iteration of the kernel. With more than one, the integers
  // `begin_argument` and `end_argument` say where the iterations start and end, and it has no more
  // integers than most_integers.
  static constexpr std::size_t most_integers = 32;
  std::int64_t begin = 0, end = 0, rows = 1;
  // Or how many iterations are a row; of the last one, maybe less: `extent_of_kernel` in all.
  std::int64_t per_row = 1, extent_of_kernel = 0;
  std::size_t begin_argument = 0, end_argument = 0;
  // Of one that touches a single row: that row. All its iterations run when the others are there.
  std::optional<std::int64_t> point;
  std::int64_t shift = 0;  // rows that it runs behind the first launch

  std::int64_t first() const { return point.value_or(begin); }
  std::int64_t behind() const { return point ? *point + 1 : end; }
  std::int64_t extent() const { return behind() - first(); }
  std::int64_t iterations() const { return (end - begin + rows - 1) / rows; }
};

// Returns the floating-point status flags that were raised.
unsigned run_sweep(std::span<const SweptLaunch> launches, std::int64_t turn, std::int64_t parts);

// The launches of a nest that wait to go over the arrays together.
class LaunchSweep {
 public:
  // bytes: of all arrays that the launches touch. shift: the most, for arrays of any size, with
  // turns of few rows; 0: as they fit the caches.
  void begin(std::int64_t bytes, std::int64_t shift);
  // Where all arrays are in the caches, launches one after another are as fast.
  bool pays() const { return limits_.bytes > 0; }
  bool is_empty() const { return count_ == 0; }

  // Room for another launch, to be filled. May it go along with those that wait? Then `add` makes
  // it one of them.
  SweptLaunch& next();
  bool takes(const NestSweeps& sweeps);
  void add();

  // Runs those that wait; what `next` was filled with stays there. Returns the floating-point
  // status flags that were raised.
  unsigned run();

 private:
  static SweepSize with(const SweepSize& size, const SweptLaunch& l);
  unsigned run_together();

  std::vector<SweptLaunch> launches_;  // count_ of them wait; what others have allocated is kept
  std::size_t count_ = 0;
  SweepSize size_;  // of those that wait
  SweepLimits limits_;
};

}  // namespace frit
