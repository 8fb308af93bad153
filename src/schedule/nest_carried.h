// nest_carried.h: In: a loop that runs in order. Out: what its rounds hand on to the next ones.
#pragma once

#include <vector>

#include "schedule/nest.h"

namespace frit {

// y[i] = f(y[i - 1], y[i - 2]): where the element is stored, the loads of the round behind give it
// without a look at memory. All stand in the loop itself, and run in each round.
struct CarriedElement {
  std::int32_t store = -1;                       // an access
  std::vector<std::vector<std::int32_t>> loads;  // [d - 1]: of what was stored d rounds before
  bool operator==(const CarriedElement&) const = default;
};
std::vector<CarriedElement> carried_elements(const Nest& nest, std::int32_t loop);
// The same with loads that run in some rounds only, which look at memory.
std::vector<CarriedElement> reloaded_elements(const Nest& nest, std::int32_t loop);

}  // namespace frit
