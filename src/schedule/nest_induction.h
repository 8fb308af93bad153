// nest_induction.h: variables that each round of a loop adds the same to: they follow from its
// index.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/routine.h"

namespace frit {

//   loop i in b..e             old = k
//     ..k..                    loop i in b..e
//     k = k + c         is       ..old + (i - b) * c..
//                              k = old + max(e - b, 0) * c
// Of int64, which wrap alike. Gives whether there was one: what a loop adds in all its rounds, each
// round of the loop around it may add, once it stands outside of that. scales: gets the integer
// arguments that say how much is added; indices are products of them then.
bool express_inductions(Routine& routine, std::vector<std::int32_t>& scales);

}  // namespace frit
