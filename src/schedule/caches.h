// caches.h: what the schedule takes for granted of the caches.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "ops/level.h"

namespace frit {

// Bytes that a launch touches: more than the caches hold, so that stores bypass them.
inline constexpr std::int64_t streaming_from = 24 << 20;
// More than the nearest cache holds.
inline constexpr std::int64_t fetched_from = 200 << 10;

// More than the caches of single cores hold.
inline constexpr std::int64_t shared_from = 8 << 20;

// From where a launch that touches so many bytes has them, by the limits above.
enum class Distance : std::uint8_t { Near, Far, Shared, Memory };
inline Distance distance_of(std::int64_t bytes) {
  return bytes > streaming_from ? Distance::Memory
         : bytes > shared_from  ? Distance::Shared
         : bytes > fetched_from ? Distance::Far
                                : Distance::Near;
}

// Is what a launch loads fetched ahead by instructions? is_plain: the processor's own prefetching
// finds its way, which AMD's do so well that the instructions only cost.
inline bool is_fetched_ahead(Distance distance, bool is_plain) {
  return is_amds_processor() ? distance >= Distance::Shared && !is_plain
                             : distance >= Distance::Far;
}

// Rows of a stencil side by side (nest_rows.cpp).
struct RowFacts {
  double least_shared = 0.2;       // of the loads, that more rows must make needless
  double least_shared_once = 0.2;  // where no loop around comes by the same rows again
  bool are_fetched = true;         // the next ones, meanwhile
};
// AMD's processors with AVX-512 load so fast, and follow one row so much better than several, that
// they gain from a core's own cache only; where a first pass has its rows from is not known.
inline RowFacts rows_from(Distance distance, bool is_in_own_cache) {
  constexpr double most = 0.4, never = 2;
  RowFacts facts;
  if (!is_amds_processor() || !has_many_registers()) return facts;
  facts.are_fetched = false;
  if (distance != Distance::Near) facts.least_shared = is_in_own_cache ? most : never;
  facts.least_shared_once = distance == Distance::Near ? never : facts.least_shared;
  return facts;
}

// Are the bytes that a launch touches more than the first cache holds, and few enough to be in the
// second one?
inline bool is_in_own_cache(std::int64_t bytes) { return bytes > 64 << 10 && bytes <= 1 << 20; }
// Kernel::from_own_cache, where that matters: others need no code of their own for it.
bool gains_from_own_cache(const Kernel& kernel);

// Bytes of the cache that a core has for itself, and of the last one, which all share.
double own_cache();
double shared_cache();

}  // namespace frit
