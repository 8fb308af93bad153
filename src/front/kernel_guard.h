// kernel_guard.h: indices that only the data decide: checked in the kernel, or in front of it.
//
// In: a Routine, and what is known of each of its indices (check_bounds). Out: a guarded Routine,
// which holds each index inside its axis and reports the first bad one of a point; or an
// inspection, a Routine that computes only those indices, and whether any is bad.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frit/array.h"
#include "ir/routine_use.h"

namespace frit {

using Bounds = std::vector<std::vector<InBounds>>;  // by access and axis

struct GuardQuestion {
  const Routine& routine;
  std::span<const std::int64_t> integers;
  std::span<const Array> arrays;  // of the parameters
  const Bounds& bounds;
};

// Where an index was bad: an access of the routine in question.
struct BadIndex {
  std::int32_t access = 0, axis = 0;
};
BadIndex bad_index_of(std::int64_t code);

// With integers of its own, and accesses of its own, of which this is known.
struct CheckedRoutine {
  Routine routine;
  std::vector<std::int64_t> integers;
  Bounds bounds;
};

// Its last two parameters, int64 arrays of the axes' shape: for each point a code (0: all was
// well), and the index. A store through a bad index is left out.
CheckedRoutine guard_indices(const GuardQuestion& question);

// Its last parameter, a Bool array of the axes' shape: was an index of the point bad? It writes
// nothing else. None where an index depends on what the routine itself writes.
std::optional<CheckedRoutine> inspect_indices(const GuardQuestion& question);

}  // namespace frit
