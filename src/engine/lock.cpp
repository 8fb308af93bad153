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

std::atomic<EngineLock::Waiter> waiter_of_all{nullptr};

template <class Holds>
bool comes_soon(Holds& holds) {
  for (int round = 0; round < 100; ++round) {
    if (holds()) return true;
    std::this_thread::yield();
  }
  return holds();
}

// Asks again, ever later: so unlock wakes nobody.
template <class Holds>
void sleep_until(Holds& holds) {
  auto interval = std::chrono::microseconds(1);
  while (!holds()) {
    std::this_thread::sleep_for(interval);
    interval = std::min(interval * 2, std::chrono::microseconds(200));
  }
}

template <class Holds>
void wait_until(Holds holds) {
  if (comes_soon(holds)) return;
  const auto wait = [](void* context) { sleep_until(*static_cast<Holds*>(context)); };
  if (const EngineLock::Waiter waiter = waiter_of_all.load(std::memory_order_relaxed))
    waiter(wait, &holds);
  else
    wait(&holds);
}

}  // namespace

void EngineLock::set_waiter(Waiter waiter) { waiter_of_all.store(waiter); }

void EngineLock::lock_among_others(const void* me) {
  if (owner_.load(std::memory_order_relaxed) != me) {
    // Not taken within the wait: who asks for Python's lock at its end may never get it, where the
    // interpreter has ended, and nobody else would get this one.
    const auto is_free = [&] { return owner_.load(std::memory_order_relaxed) == nullptr; };
    const auto is_taken = [&] {
      const void* nobody = nullptr;
      return is_free() && owner_.compare_exchange_strong(nobody, me, std::memory_order_acquire);
    };
    while (!is_taken()) wait_until(is_free);
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
