// sink.h: steps whose result a later group alone reads, or writes again, move into that group.
//
// Fusion places a step when it comes to it: with the group that makes what it reads, before it is
// known that what reads its result has to stand in a later group. `4 * u` of a stencil's next round
// is such a step: with the round before, its result is stored and loaded again; with its own, it
// is in a register.
#pragma once

#include <vector>

#include "schedule/fuse.h"

namespace frit {

// Moves them where fewer bytes move then. Groups that gave all they had are empty behind it.
void sink(const Segment& segment, std::vector<Group>& groups, Arena& arena);

}  // namespace frit
