// lock.h: the one mutex, recursive: taken by an atomic exchange, given back by a plain store.
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
    if (owner_.load(std::memory_order_relaxed) != me) {
      const void* nobody = nullptr;
      if (!owner_.compare_exchange_strong(nobody, me, std::memory_order_acquire)) wait_for(me);
    }
    ++depth_;
  }
  void unlock() {
    if (--depth_ == 0) owner_.store(nullptr, std::memory_order_release);
  }
  bool held_by_me() const { return owner_.load(std::memory_order_relaxed) == self(); }
  // In the child after fork: whoever held it is gone.
  void reset() {
    owner_.store(nullptr);
    depth_ = 0;
  }

 private:
  static const void* self() { return &lock_identity; }
  void wait_for(const void* me);

  std::atomic<const void*> owner_{nullptr};
  std::int32_t depth_ = 0;  // guarded by owner_
};

}  // namespace frit
