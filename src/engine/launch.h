// launch.h: runs one launch of a kernel in parts, on the pool's threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/backend.h"

namespace frit {

struct LaunchShape {
  std::int64_t extent = 0;   // of the parallel loop
  std::int64_t granule = 1;  // parts are multiples of this many iterations
  std::int64_t offset = 0;   // of which so many came before the first one
  std::int64_t scratch_bytes = 0;
  double cost = 0;          // estimated nanoseconds on one core
  double cost_of_part = 0;  // of these, what a thread spends on what the others have, too
  // Not one of a loop's launches, in which a thread meets its rows again.
  bool once = false;
  // What the first part reaches in any order: it would wait for each line that is far away.
  std::span<const std::span<const std::byte>> near = {};
};

// Returns the floating-point status flags that the parts raised.
unsigned run_parts(const Executable& executable, const LaunchArguments& arguments,
                   const LaunchShape& shape);

}  // namespace frit
