// pool.cpp: workers spin for some microseconds for the next launch, then sleep on a futex.
#include "engine/pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace frit {
namespace {

constexpr int spins_before_sleep = 4000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

int quota_of_cgroup() {
  if (std::FILE* f = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    char quota[32];
    long long period = 0;
    const int n = std::fscanf(f, "%31s %lld", quota, &period);
    std::fclose(f);
    if (n == 2 && std::string(quota) != "max" && period > 0)
      return std::max(1, static_cast<int>((std::atoll(quota) + period - 1) / period));
  }
  return 1 << 20;
}

int positive_from_environment(const char* name) {
  const char* value = std::getenv(name);
  const int n = value ? std::atoi(value) : 0;
  return n > 0 ? n : 0;
}

}  // namespace

#if defined(__x86_64__)
void clear_float_flags() {
  const unsigned control = _mm_getcsr();
  if (control & 0x3Du) _mm_setcsr(control & ~0x3Du);
}
unsigned float_flags() { return _mm_getcsr() & 0x3Fu; }
#else
void clear_float_flags() { std::feclearexcept(FE_ALL_EXCEPT); }
unsigned float_flags() {
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  return (raised & FE_INVALID ? 1u : 0u) | (raised & FE_DIVBYZERO ? 4u : 0u) |
         (raised & FE_OVERFLOW ? 8u : 0u) | (raised & FE_UNDERFLOW ? 16u : 0u);
}
#endif

int default_threads() {
  if (const int n = positive_from_environment("FRIT_NUM_THREADS")) return n;
  cpu_set_t set;
  int cpus = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) cpus = CPU_COUNT(&set);
  cpus = std::min(cpus, quota_of_cgroup());
  if (const int n = positive_from_environment("OMP_NUM_THREADS")) cpus = std::min(cpus, n);
  return std::max(1, cpus);
}

struct ThreadPool::Shared {
  // A generation is one launch. The job fields are written before the generation is published.
  std::atomic<std::uint32_t> generation{0};
  std::atomic<bool> stopping{false};
  std::atomic<int> sleeping{0};
  Part part = nullptr;
  void* context = nullptr;
  std::int64_t parts = 0;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> active{0};  // workers that have not finished this generation
  std::atomic<unsigned> flags{0};
  std::vector<std::thread> workers;

  void work() {
    clear_float_flags();
    for (;;) {
      const std::int64_t k = next.fetch_add(1, std::memory_order_relaxed);
      if (k >= parts) break;
      part(context, k);
    }
    flags.fetch_or(float_flags(), std::memory_order_relaxed);
  }

  void worker() {
    std::uint32_t seen = 0;
    for (;;) {
      std::uint32_t now = generation.load(std::memory_order_acquire);
      for (int spin = 0; now == seen && spin < spins_before_sleep; ++spin) {
        pause();
        now = generation.load(std::memory_order_acquire);
      }
      if (now == seen) {
        sleeping.fetch_add(1);
        generation.wait(seen);
        sleeping.fetch_sub(1);
        continue;
      }
      if (stopping.load()) return;
      seen = now;
      work();
      active.fetch_sub(1, std::memory_order_release);
    }
  }
};

ThreadPool::ThreadPool() : threads_(default_threads()) {}

ThreadPool& ThreadPool::get() {
  static ThreadPool* pool = new ThreadPool;  // outlives everything that may launch
  return *pool;
}

void ThreadPool::start() {
  shared_ = new Shared;
  for (int k = 1; k < threads_; ++k) shared_->workers.emplace_back([s = shared_] { s->worker(); });
}

unsigned ThreadPool::run(std::int64_t parts, Part part, void* context) {
  if (parts <= 1 || threads_ <= 1 || closed_) {
    clear_float_flags();
    for (std::int64_t k = 0; k < parts; ++k) part(context, k);
    return float_flags();
  }
  if (!shared_) start();
  Shared& s = *shared_;
  s.part = part;
  s.context = context;
  s.parts = parts;
  s.next.store(0, std::memory_order_relaxed);
  s.flags.store(0, std::memory_order_relaxed);
  s.active.store(static_cast<int>(s.workers.size()), std::memory_order_relaxed);
  s.generation.fetch_add(1);
  if (s.sleeping.load() != 0) s.generation.notify_all();
  s.work();
  for (int spin = 0; s.active.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < spins_before_sleep)
      pause();
    else
      std::this_thread::yield();
  }
  return s.flags.load();
}

void ThreadPool::stop() {
  if (!shared_) return;
  shared_->stopping.store(true);
  shared_->generation.fetch_add(1);
  shared_->generation.notify_all();
  for (std::thread& t : shared_->workers) t.join();
  delete shared_;
  shared_ = nullptr;
}

void ThreadPool::close() {
  stop();
  closed_ = true;
}

void ThreadPool::set_threads(int n) {
  stop();
  threads_ = std::max(1, n);
}

void ThreadPool::after_fork_in_child() {
  shared_ = nullptr;
}  // the parent's threads cannot be joined here

}  // namespace frit
