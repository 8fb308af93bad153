// lock.h: the one mutex, recursive, for a program that mostly has one thread.
//
// The thread that took it first is favoured: while nobody else comes it takes the mutex by plain
// stores. An atomic exchange for each would be a quarter of the time that it takes to record an op.
// The first other thread ends the favour for good (lock.cpp); from then on all of them take the
// mutex by an atomic exchange, and give it back by a plain store.
#pragma once

#include <atomic>
#include <cstdint>

namespace frit {

// Its address is the thread's. One in the process: a variable of an inline function would be one in
// each library that hides its symbols. initial-exec: no call to find the thread's storage.
extern constinit thread_local char lock_identity __attribute__((tls_model("initial-exec")));

class EngineLock {
 public:
  void lock() {
    const void* me = self();
    if (favourite_.load(std::memory_order_relaxed) == me) [[likely]] {
      const std::int32_t held = favourite_depth_.load(std::memory_order_relaxed);
      favourite_depth_.store(held + 1, std::memory_order_relaxed);
      // Keeps the compiler's order; the processor's is kept by the barrier that ends the favour.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (!is_shared_.load(std::memory_order_acquire)) [[likely]]
        return;
      if (held > 0) return;
      favourite_depth_.store(0, std::memory_order_release);
    }
    lock_among_others(me);
  }
  void unlock() {
    if (favourite_.load(std::memory_order_relaxed) == self()) [[likely]] {
      const std::int32_t held = favourite_depth_.load(std::memory_order_relaxed);
      if (held > 0) [[likely]] {  // it is held by me, as the favourite
        favourite_depth_.store(held - 1, std::memory_order_release);
        return;
      }
    }
    if (--depth_ == 0) owner_.store(nullptr, std::memory_order_release);
  }
  // What does a wait for others that lasts: so that it can give back what they may need in the
  // meantime (Python's own lock). Null: the wait itself.
  using Waiter = void (*)(void (*wait)(void* context), void* context);
  static void set_waiter(Waiter waiter);
  // In the child after fork: whoever held it is gone.
  void reset() {
    owner_.store(nullptr);
    depth_ = 0;
    favourite_.store(nullptr);
    favourite_depth_.store(0);
    is_shared_.store(false);
  }

 private:
  static const void* self() { return &lock_identity; }
  void lock_among_others(const void* me);
  void settle_favour(const void* me);

  std::atomic<const void*> owner_{nullptr};
  std::int32_t depth_ = 0;  // guarded by owner_
  std::atomic<const void*> favourite_{nullptr};
  std::atomic<std::int32_t> favourite_depth_{0};  // written by the favourite alone
  std::atomic<bool> is_shared_{false};            // nobody is favoured; guarded by owner_
};

}  // namespace frit
