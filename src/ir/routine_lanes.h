// routine_lanes.h: which loops inside of a routine's points run as lanes: the threads of teams,
// rows of matrices.
#pragma once

#include <vector>

#include "ir/routine_use.h"

namespace frit {

// Estimated operations.
double cost_of(const Block& block, const Forms& forms);

// RoutineUse::lanes, of a use whose accesses, axes_of and in_order are known. `parts`: its forms in
// parts.
std::vector<bool> find_lanes(const RoutineUse& use, const Forms& forms, const Forms& parts);

}  // namespace frit
