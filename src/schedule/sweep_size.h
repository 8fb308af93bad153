// sweep_size.h: how much goes into a sweep: launches whose rows fit the caches together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace frit {

// Of the launches of a sweep.
struct SweepSize {
  std::int64_t extent = 1;    // rows of the longest launch
  std::int64_t rows = 1;      // in the largest iteration
  double cost_of_row = 0;     // of the dearest launch, in nanoseconds
  std::int64_t all_rows = 0;  // of all launches,
  double cost = 0;            // and what they take, in nanoseconds
};

struct SweepLimits {
  std::int64_t bytes = 0;  // of all memory that the launches touch
  std::int64_t threads = 1;
  std::int64_t most_shift = 0;  // whatever the caches hold, with turns of few rows; 0: as they do

  // Where all of it is in the caches, launches one after another are as fast.
  bool pays() const;
  // Do the rows between the first launch and the last fit a cache, and are they few beside those of
  // a thread? And are the launches alike, so that a turn of each is worth its call?
  bool fits(std::int64_t shift, const SweepSize& size) const;
  // Rows of a launch before the next one has its turn.
  std::int64_t turn(const SweepSize& size) const;
  // Into how many parts the rows are cut, where the last launch is so many behind the first.
  std::int64_t parts(std::int64_t shift, const SweepSize& size) const;
};

}  // namespace frit
