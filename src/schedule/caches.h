// caches.h: what the schedule takes for granted of the caches.
#pragma once

#include <cstdint>

namespace frit {

// Bytes that a launch touches: more than the caches hold, so that stores bypass them.
inline constexpr std::int64_t streaming_from = 24 << 20;
// More than the nearest cache holds, so that what is loaded is fetched ahead.
inline constexpr std::int64_t fetched_from = 200 << 10;

}  // namespace frit
