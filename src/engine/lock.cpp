// lock.cpp: the slow path of the mutex: it asks again, ever later, so that unlock wakes nobody.
#include "engine/lock.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace frit {

constinit thread_local char lock_identity = 0;

void EngineLock::wait_for(const void* me) {
  auto interval = std::chrono::microseconds(1);
  for (int round = 0;; ++round) {
    const void* nobody = nullptr;
    if (owner_.load(std::memory_order_relaxed) == nullptr &&
        owner_.compare_exchange_strong(nobody, me, std::memory_order_acquire))
      return;
    if (round < 100) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(interval);
    interval = std::min(interval * 2, std::chrono::microseconds(200));
  }
}

}  // namespace frit
