// dependence.h: the one judge: may two accesses touch one element, and at one iteration?
#pragma once

#include <cstdint>
#include <span>

#include "ir/trace.h"

namespace frit {

enum class Relation : std::uint8_t {
  Disjoint,  // never the same byte
  Same,      // the same element at every iteration, and only there (distance zero)
  Overlap,   // anything else, or not decided within the work limit
};

// Two windows over one iteration space (or, for different shapes, only Disjoint or Overlap).
Relation relate(const Access& a, const Access& b);

// Do two strided boxes of bytes meet? Exact within a work limit, then true.
bool boxes_meet(std::int64_t offset_a, const Layout& a, std::int64_t offset_b, const Layout& b);

// Can two different indices of one window reach the same byte?
bool overlaps_itself(const Layout& layout);

}  // namespace frit
