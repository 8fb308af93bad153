// plan_sweep.h: In: a plan's steps. Out: its sweeps, of launches that follow one another.
//
// A step of a simulation on arrays that no cache holds reads and writes all of them, and what reads
// neighbours can't be one kernel with what wrote them. Launches of several such steps go over the
// rows together instead, each some rows behind the one before (nest_sweep.h does the same for loop
// nests). How many follows from what an iteration of each launch touches of each operand (Reach).
//
// Memory. A sweep writes blocks of its own alone: where a launch leaves an array for new memory (a
// shadow), that is a block; an array that a launch changes in place is copied to a block first, row
// by row as the sweep goes on. So nobody has to wait for those who read an array as it was, and the
// steps can still run in order when a floating-point error is to be put down to one of them. What a
// launch leaves is taken again by a later one, so two blocks are enough for any number of steps.
#pragma once

#include "schedule/schedule.h"

namespace frit {

void find_sweeps(const Segment& segment, Plan& plan);

}  // namespace frit
