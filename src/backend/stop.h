// stop.h: asks the launch that runs to end early, where nobody wants its results any more.
//
// For kernels that may run for minutes (Kernel::may_stop). One launch runs at a time, under the
// engine's lock; what it has written by then is neither what it was nor what it would have become.
#pragma once

#include <atomic>

namespace frit {

// Compiled code reads it as a byte. An inline variable would be one in each library.
extern std::atomic<bool> stop_flag;
static_assert(sizeof stop_flag == 1 && std::atomic<bool>::is_always_lock_free);

inline bool is_asked_to_stop() { return stop_flag.load(std::memory_order_relaxed); }

// Thrown where somebody is asked to.
struct Stopped {};
inline void stop_if_asked() {
  if (is_asked_to_stop()) [[unlikely]]
    throw Stopped();
}

}  // namespace frit
