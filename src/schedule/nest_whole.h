// nest_whole.h: In: the nodes of a launch. Out: the arrays of which it stores each element, if its
// loops run over all of them. A device need not be brought what is in these.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "schedule/nest_plan.h"

namespace frit {

// A store that each iteration of these loops makes, all of which it runs through.
struct WholeStore {
  std::int32_t parameter = -1;
  std::vector<std::pair<std::int32_t, std::int64_t>> axes;  // the index: a loop's, and a number
};
std::vector<WholeStore> whole_stores(const Nest& nest, const PlanNode& node);

// Does it store all of the array, in a call with these integers?
bool covers(const WholeStore& store, const Nest& nest, std::span<const std::int64_t> integers,
            std::span<const std::int64_t> shape);

}  // namespace frit
