// stop.h: asks the launch that runs to end early, where nobody wants its results any more.
//
// For kernels that may run for minutes (Kernel::may_stop). One launch runs at a time, under the
// engine's lock; what it has written by then is neither what it was nor what it would have become.
#pragma once

#include <atomic>
#include <cstdint>

namespace frit {

// Heard: a signal's handler may ask, in any thread, until it is heard no more.
enum class StopState : std::uint8_t { Unasked, Heard, Asked };

// Compiled code reads it as a byte. An inline variable would be one in each library.
extern std::atomic<StopState> stop_state;
static_assert(sizeof stop_state == 1 && std::atomic<StopState>::is_always_lock_free);

inline bool is_asked_to_stop() {
  return stop_state.load(std::memory_order_relaxed) == StopState::Asked;
}

// Thrown where somebody is asked to.
struct Stopped {};
inline void stop_if_asked() {
  if (is_asked_to_stop()) [[unlikely]]
    throw Stopped();
}

}  // namespace frit
