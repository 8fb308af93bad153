// pool.h: the threads that run launches: a small fork-join pool that survives fork.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "ops/status_flags.h"

namespace frit {

class ThreadPool {
 public:
  // Runs part(k) for k in [0, parts), on the caller and the pool's threads, and returns when all
  // are done. `part` must not throw. Returns the floating-point status flags (ops/status_flags.h)
  // that the parts raised.
  // is_long: each part takes longer than to wake a thread for it.
  using Part = void (*)(void* context, std::int64_t k);
  unsigned run(std::int64_t parts, Part part, void* context, bool is_long = false);

  // Can a launch be handed over at once? Not where a worker would have to be woken first.
  bool is_awake() const;
  // After a launch that was too short for a wake, though not for threads that are awake: wakes
  // them where such launches follow one another. work: what it took.
  void note_short(std::chrono::nanoseconds work);

  int threads() const { return threads_; }
  void set_threads(int n);
  // In the child after fork: the threads are gone.
  void after_fork_in_child();
  void stop();
  // At the end of the process: stops, and lets every later run be done by its caller alone.
  void close();

  static ThreadPool& get();

 private:
  ThreadPool();
  struct Shared;
  void start();
  void judge(std::chrono::nanoseconds worked, std::chrono::nanoseconds waited);
  int threads_ = 1;
  using Time = std::chrono::steady_clock::time_point;
  Time alone_until_{};  // launches before do not ask for other threads
  int penalty_;         // how many times what was waited for that will be, next time
  std::uint32_t generation_ = 0;
  Time last_launch_{};                     // its end
  Time last_short_{};                      // the end of the latest that was too short
  std::chrono::nanoseconds short_work_{};  // of those since, with hardly a pause
  Shared* shared_ = nullptr;               // null: no threads running
  bool closed_ = false;
};

// Number of CPUs this process may use: affinity, cgroup quota, OMP_NUM_THREADS, FRIT_NUM_THREADS.
int default_threads();

// Clears and reads the calling thread's sticky floating-point flags, those of status_flags.h.
void clear_float_flags();
unsigned float_flags();

}  // namespace frit
