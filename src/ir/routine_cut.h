// routine_cut.h: loops over t that use t / c and t % c become two: over the quotient, and inside of
// it over the remainder. So tile[t / c][t % c] is a row of memory, as the threads of a team use it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/routine.h"

namespace frit {

// The routine itself where there is none. The new loops' lengths are added to `integers`. Points do
// the same in the same order.
std::shared_ptr<const Routine> cut_loops(std::shared_ptr<const Routine> routine,
                                         std::span<const std::int64_t> extents,
                                         std::vector<std::int64_t>& integers);

}  // namespace frit
