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

// Is what a launch loads fetched ahead by instructions? is_far: it touches more than fetched_from;
// is_large: than streaming_from; is_plain: the processor's own prefetching finds its way, which
// AMD's do so well that the instructions only cost.
inline bool is_fetched_ahead(bool is_far, bool is_large, bool is_plain) {
  return is_amds_processor() ? is_large && !is_plain : is_far;
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
