// survey.h: the decoder's first walk. In: a Kernel. Out: how often and until when values are used.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace frit::interp {

using Position = std::int32_t;
inline constexpr Position never = INT32_MAX;

inline std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

// What the survey knows of a value.
struct ValueFacts {
  const Instr* definition = nullptr;
  std::int32_t uses = 0;
  std::int32_t block = 0;         // the number of the block that defines it
  std::int32_t level = 0;         // loops around its definition
  std::int32_t region_level = 0;  // regions of lanes around its definition
  Position death = -1;  // last use; a use in a loop behind the definition lasts to the loop's end
  // Load, ReadLocal: the next instruction that may change what was read.
  Position next_write = never;
  bool consumed_in_place = false;  // some use could take it over as its destination's content
};

// What a region of lanes uses from outside.
struct RegionFacts {
  struct Local {
    std::int32_t number;
    bool written;
  };
  std::vector<ValueId> values;
  std::vector<Local> locals;
};

struct Survey {
  std::vector<ValueFacts> values;
  std::vector<Position> loop_ends;  // of Loops and Whiles in order of their beginning
  std::vector<Position> local_first, local_last;
  std::vector<RegionFacts> regions;  // in order of their beginning
  std::int32_t constants = 0;
  Position positions = 0;
};

Survey survey(const Kernel& kernel, const Variance& variance);

}  // namespace frit::interp
