// caches.h: what the schedule takes for granted of the caches.
#pragma once

#include <cstdint>

namespace frit {

// Bytes that a launch touches: more than the caches hold, so that stores bypass them, and what is
// loaded is fetched ahead.
inline constexpr std::int64_t streaming_from = 24 << 20;

}  // namespace frit
