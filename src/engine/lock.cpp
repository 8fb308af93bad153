// lock.cpp: the mutex among several threads, and who is favoured.
#include "engine/lock.h"

#include <algorithm>
#include <chrono>
#include <thread>

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace frit {

constinit thread_local char lock_identity = 0;

namespace {

// ---- a barrier on all threads of the process ----------------------------------------------------

#if defined(__linux__) && !defined(__SANITIZE_THREAD__)  // which can't see such a barrier

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

// The quick barrier has to be asked for, which takes milliseconds once there are other threads.
const bool has_quick_barrier =
    __libc_single_threaded && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;

bool has_barrier() {
  const long commands = membarrier(MEMBARRIER_CMD_QUERY);
  return commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL) != 0;
}

void barrier_on_all_threads() {
  if (has_quick_barrier && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  membarrier(MEMBARRIER_CMD_GLOBAL);  // some milliseconds, once in the process
}

#else

bool has_barrier() { return false; }
void barrier_on_all_threads() {}

#endif

// Asks again, ever later: so unlock wakes nobody.
template <class Try>
void wait_until(Try&& succeeds) {
  auto interval = std::chrono::microseconds(1);
  for (int round = 0; !succeeds(); ++round) {
    if (round < 100) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(interval);
    interval = std::min(interval * 2, std::chrono::microseconds(200));
  }
}

}  // namespace

void EngineLock::lock_among_others(const void* me) {
  if (owner_.load(std::memory_order_relaxed) != me) {
    wait_until([&] {
      const void* nobody = nullptr;
      return owner_.load(std::memory_order_relaxed) == nullptr &&
             owner_.compare_exchange_strong(nobody, me, std::memory_order_acquire);
    });
    if (!is_shared_.load(std::memory_order_relaxed)) [[unlikely]]
      settle_favour(me);
  }
  ++depth_;
}

// The favourite stores its depth, then reads is_shared_; here is_shared_ is stored, then the depth
// read. With a barrier on the favourite's side too, at least one of them sees the other.
void EngineLock::settle_favour(const void* me) {
  if (favourite_.load(std::memory_order_relaxed) == nullptr && has_barrier()) {
    favourite_.store(me, std::memory_order_relaxed);
    return;
  }
  is_shared_.store(true, std::memory_order_seq_cst);
  if (favourite_.load(std::memory_order_relaxed) == nullptr) return;
  barrier_on_all_threads();
  wait_until([&] { return favourite_depth_.load(std::memory_order_acquire) == 0; });
}

}  // namespace frit
