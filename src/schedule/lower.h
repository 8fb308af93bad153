// lower.h: In: a group of nodes. Out: the step that runs it: a Kernel and its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/fuse.h"
#include "schedule/schedule.h"

namespace frit {

// What becomes of each slot's memory, as far as one group is concerned.
struct SlotUse {
  bool stored = false;  // its last value in the group must reach memory: somebody reads it later
  bool held = false;    // an earlier group has put values into its memory
  // > 0: each point of the one kernel that uses it has so many bytes for itself (own_memory.h),
  std::int64_t own_bytes = 0;
  std::optional<Member> fill = {};  // which sets them all to one number
};

// Appends the steps of the group. New temporaries and tables go to the plan; their slots start
// behind the segment's.
void lower(const Segment& segment, const Group& group, std::span<const SlotUse> uses, Plan& plan);

}  // namespace frit
