// nest_simplify.h: In: a nest as it was written. Out: the same work, with fewer locals and stores.
#pragma once

#include "schedule/nest.h"

namespace frit {

// Locals that hold a plain value where they are read become that value. An element of an array that
// a loop reads and writes, and nothing else of that array, is kept in a local while the loop runs.
// Values and locals keep their numbers, and so do the accesses that are left.
struct SimplifiedNest {
  Routine routine;
  std::vector<NestOrigin> accesses, locals;  // that were added
};
SimplifiedNest simplify_nest(const Routine& routine, const NestFacts& facts);

// The integer arguments that say how much counters are moved: indices will be multiplied by them.
std::vector<std::int32_t> scaling_integers(const Routine& routine);

}  // namespace frit
