// pool.cpp: workers spin for the next launch, at last letting others onto the CPU, and then sleep.
#include "engine/pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace frit {
namespace {

constexpr int spins_at_first = 2000, spins_between_looks = 50;
// How long a worker stays awake: to wake one takes tens of microseconds, and a virtual machine
// takes a millisecond or more to give a core back that slept.
constexpr std::chrono::microseconds linger(1000);
constexpr std::int64_t most_parts = 0xFFFF;
constexpr std::int64_t few_parts = 4;
constexpr std::chrono::microseconds soon(200), suspended(200), wake_pays(40);
// Between two looks at who works: a thread that runs has run for more by then.
constexpr std::chrono::microseconds patience(20);
constexpr int least_penalty = 16, most_penalty = 512;
constexpr std::chrono::seconds longest_alone(5);

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
  // A write takes twenty cycles and more; inexact, which nobody asks for, is nearly always set.
  const unsigned control = _mm_getcsr();
  if (control & known_flags) _mm_setcsr(control & ~known_flags);
}
unsigned float_flags() { return _mm_getcsr() & known_flags; }
#else
void clear_float_flags() { std::feclearexcept(FE_ALL_EXCEPT); }
unsigned float_flags() {
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  return (raised & FE_INVALID ? flag_invalid : 0u) | (raised & FE_DIVBYZERO ? flag_divide : 0u) |
         (raised & FE_OVERFLOW ? flag_overflow : 0u) |
         (raised & FE_UNDERFLOW ? flag_underflow : 0u);
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

// A launch gives each thread a share of the parts, the same one each time, so that what a thread
// wrote in one launch is still in its cache in the next; who has done its own share goes on with
// the others'. A share is published as one word, its ticket: generation, end, next part. Whoever
// raises the last field has taken that part; from then on the launch cannot end before the part is
// done, so its job may be read. A thread that wakes late finds no part left: nobody waits for
// threads, only for parts. A worker that is awake looks at its own share alone, and finds all that
// it needs in that line of memory: each line takes a tenth of a microsecond from core to core.
struct ThreadPool::Shared {
  static constexpr std::uint64_t field = 0xFFFF;
  struct Job {
    Part part = nullptr;
    void* context = nullptr;
    std::int64_t first = 0;  // the number of the tickets' part 0
  };
  struct alignas(64) Share {
    std::atomic<std::uint64_t> ticket{0};
    Job job;

    std::uint64_t generation() const { return ticket.load(std::memory_order_acquire) >> 32; }
  };
  std::vector<Share> shares;
  alignas(64) std::atomic<std::int64_t> done{0};
  std::atomic<unsigned> flags{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr error;                         // of the first part that failed
  alignas(64) std::atomic<std::uint32_t> calls{0};  // what sleeping workers wait on
  std::atomic<int> sleeping{0};                     // workers that do not run yet, if called
  std::atomic<bool> stopping{false};
  std::vector<std::thread> workers;
  // What the caller knows of a worker.
  struct alignas(64) Watch {
    std::atomic<bool> works{false};     // may have a part in its hands
    std::atomic<bool> is_guest{false};  // on the caller's CPU
    cpu_set_t home;                     // where else it may run
  };
  std::vector<Watch> watches;
  std::vector<std::int64_t> has_run;  // nanoseconds of each, at the latest look; -1: there was none
  int kept_free = -1;                 // the CPU that workers stay off

  explicit Shared(int threads)
      : shares(static_cast<std::size_t>(threads)), watches(shares.size()), has_run(shares.size()) {}

  static bool has_parts(std::uint64_t t) { return (t & field) < (t >> 16 & field); }

  void publish(std::uint32_t generation, std::int64_t parts, const Job& job) {
    const std::int64_t all = std::ssize(workers) + 1;
    const std::int64_t n = std::min(all, parts);  // the last threads get none
    for (std::int64_t k = 0; k < all; ++k) {
      const auto begin = static_cast<std::uint64_t>(parts * std::min(k, n) / n);
      const auto end = static_cast<std::uint64_t>(parts * std::min(k + 1, n) / n);
      Share& share = shares[static_cast<std::size_t>(k)];
      share.job = job;
      share.ticket.store(std::uint64_t{generation} << 32 | end << 16 | begin,
                         std::memory_order_release);
    }
  }

  void work(std::size_t self) {
    for (std::size_t k = 0; k < shares.size(); ++k) work_on(shares[(self + k) % shares.size()]);
  }
  void work_on(Share& share) {
    std::uint64_t t = share.ticket.load(std::memory_order_acquire);
    while (has_parts(t)) {
      if (!share.ticket.compare_exchange_weak(t, t + 1, std::memory_order_acq_rel)) continue;
      clear_float_flags();
      const Job& job = share.job;
      try {
        job.part(job.context, job.first + static_cast<std::int64_t>(t & field));
      } catch (...) {  // no memory: the caller throws it, when nobody works on its job any more
        if (!has_failed.exchange(true)) error = std::current_exception();
      }
      if (const unsigned raised = float_flags()) flags.fetch_or(raised, std::memory_order_relaxed);
      done.fetch_add(1, std::memory_order_release);
      t = share.ticket.load(std::memory_order_acquire);
    }
  }

  void worker(std::size_t self) {
    Watch& watch = watches[self];
    while (true) {
      const std::uint32_t called = calls.load();
      if (stopping.load()) return;  // stop() sets it before it calls
      const std::uint64_t seen = shares[self].generation();
      watch.works.store(true);
      work(self);
      watch.works.store(false);
      while (watch.is_guest.load()) std::this_thread::yield();  // until it is sent home
      if (comes_soon(shares[self], seen, called)) continue;
      sleeping.fetch_add(1);
      // Whoever publishes in this moment may not know that it must call, and does all by itself.
      if (shares[self].generation() == seen) calls.wait(called);
      sleeping.fetch_sub(1);
    }
  }
  // Is there another launch before it pays to sleep? At first nobody else is let onto the CPU.
  bool comes_soon(const Share& own, std::uint64_t seen, std::uint32_t called) const {
    const auto comes = [&](int spins) {
      for (int spin = 0; spin < spins; ++spin) {
        if (own.generation() != seen) return true;
        pause();
      }
      return calls.load(std::memory_order_relaxed) != called;
    };
    for (int spin = 0; spin < spins_at_first; spin += spins_between_looks)
      if (comes(spins_between_looks)) return true;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < linger) {
      if (comes(spins_between_looks)) return true;
      std::this_thread::yield();
    }
    return false;
  }
  void wake() {
    if (sleeping.load() == 0) return;
    keep_free(sched_getcpu());
    call();
  }
  void call() {
    calls.fetch_add(1);
    calls.notify_all();
  }
  // A CPU that sleeps may pass for a busy one, in virtual machines: Linux then puts a thread that
  // is woken behind the caller, on the caller's CPU, and it runs milliseconds later. False: the
  // workers are kept off it already, or may not run elsewhere.
  bool keep_free(int cpu) {
    cpu_set_t others;
    if (cpu == kept_free || sched_getaffinity(0, sizeof others, &others) != 0) return false;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) == 0) return false;
    for (std::thread& worker : workers)
      pthread_setaffinity_np(worker.native_handle(), sizeof others, &others);
    kept_free = cpu;
    return true;
  }

  // Returns for how long the caller has looked on. It lets nobody else onto its CPU, who would stay
  // there for milliseconds; and while it was suspended itself it has seen nothing.
  std::chrono::nanoseconds wait_for(std::int64_t count) {
    std::ranges::fill(has_run, -1);
    bool has_guests = false;
    std::chrono::nanoseconds waited{};
    auto looked = std::chrono::steady_clock::now();
    const auto is_done = [&] { return done.load(std::memory_order_acquire) == count; };
    for (int spin = 0; !is_done(); ++spin) {
      pause();
      if (spin % spins_between_looks != spins_between_looks - 1) continue;
      if (has_guests) std::this_thread::yield();
      const auto now = std::chrono::steady_clock::now();
      if (now - looked < patience) continue;
      waited += patience;
      looked = now;
      has_guests |= take_guests(is_done);
    }
    if (has_guests) send_guests_home();
    return waited;
  }
  // A worker that does not run has lost its CPU to somebody else, and Linux lets it wait for
  // milliseconds. The caller has nothing to do but wait for its part: so it lends its own CPU.
  template <class IsDone>
  bool take_guests(const IsDone& is_done) {
    bool has_guests = false;
    for (std::size_t k = 1; k < watches.size() && !is_done(); ++k) {
      Watch& watch = watches[k];
      if (!watch.works.load() || watch.is_guest.load()) continue;
      const pthread_t thread = workers[k - 1].native_handle();
      const std::int64_t run = nanoseconds_run(thread);
      has_guests |= run == has_run[k] && run >= 0 && take_guest(watch, thread);
      has_run[k] = run;
    }
    return has_guests;
  }
  static std::int64_t nanoseconds_run(pthread_t thread) {
    clockid_t clock;
    timespec run;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &run) != 0) return -1;
    return std::int64_t{run.tv_sec} * 1'000'000'000 + run.tv_nsec;
  }
  static bool take_guest(Watch& watch, pthread_t thread) {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    if (pthread_getaffinity_np(thread, sizeof watch.home, &watch.home) != 0) return false;
    watch.is_guest.store(true);
    pthread_setaffinity_np(thread, sizeof here, &here);
    return true;
  }
  void send_guests_home() {
    for (std::size_t k = 1; k < watches.size(); ++k) {
      if (!watches[k].is_guest.load()) continue;
      pthread_setaffinity_np(workers[k - 1].native_handle(), sizeof watches[k].home,
                             &watches[k].home);
      watches[k].is_guest.store(false);
    }
    keep_free(sched_getcpu());  // where it was the caller that came onto a worker's CPU
  }
};

ThreadPool::ThreadPool() : threads_(default_threads()), penalty_(least_penalty) {}

ThreadPool& ThreadPool::get() {
  static ThreadPool* pool = new ThreadPool;  // outlives everything that may launch
  return *pool;
}

void ThreadPool::start() {
  shared_ = new Shared(threads_);
  shared_->workers.reserve(shared_->shares.size());
  try {
    for (int k = 1; k < threads_; ++k)
      shared_->workers.emplace_back([s = shared_, k] { s->worker(static_cast<std::size_t>(k)); });
  } catch (const std::system_error&) {  // there are no more: those that run, and the caller, do all
  }
}

namespace {

unsigned run_alone(std::int64_t parts, ThreadPool::Part part, void* context) {
  clear_float_flags();
  for (std::int64_t k = 0; k < parts; ++k) part(context, k);
  return float_flags();
}

}  // namespace

unsigned ThreadPool::run(std::int64_t parts, Part part, void* context, bool is_long) {
  if (parts <= 1 || threads_ <= 1 || closed_) return run_alone(parts, part, context);
  const auto start = std::chrono::steady_clock::now();
  if (start < alone_until_) return run_alone(parts, part, context);
  if (!shared_) this->start();
  Shared& s = *shared_;
  if (s.workers.empty()) return run_alone(parts, part, context);
  // To wake a sleeping thread takes as long as a few parts; it pays where more launches follow.
  const bool all_asleep = s.sleeping.load() >= static_cast<int>(s.workers.size());
  if (parts <= few_parts && !is_long && all_asleep && start - last_launch_ > soon) {
    const unsigned raised = run_alone(parts, part, context);
    last_launch_ = std::chrono::steady_clock::now();
    return raised;
  }
  s.flags.store(0, std::memory_order_relaxed);
  std::chrono::nanoseconds waited{};
  for (std::int64_t first = 0; first < parts; first += most_parts) {
    const std::int64_t count = std::min(parts - first, most_parts);
    s.done.store(0, std::memory_order_relaxed);
    s.publish(++generation_, count, {part, context, first});
    s.wake();
    s.work(0);
    waited = s.wait_for(count);
    if (s.has_failed.exchange(false)) std::rethrow_exception(std::exchange(s.error, nullptr));
  }
  last_launch_ = std::chrono::steady_clock::now();
  judge(last_launch_ - start - waited, waited);
  return s.flags.load(std::memory_order_relaxed);
}

bool ThreadPool::is_awake() const {
  return shared_ && !shared_->workers.empty() &&
         shared_->sleeping.load(std::memory_order_relaxed) == 0;
}

void ThreadPool::note_short(std::chrono::nanoseconds work) {
  const Time now = std::chrono::steady_clock::now();
  if (now - last_short_ > work + soon) short_work_ = {};
  last_short_ = now;
  short_work_ += work;
  if (short_work_ < wake_pays || threads_ <= 1 || closed_ || now < alone_until_) return;
  short_work_ = {};
  if (!shared_) start();
  shared_->wake();
}

// Waiting for longer than all the work took means that somebody else has the other CPUs: a thread
// of ours was suspended with a part in its hands. Then launches run alone for a while, longer each
// time. Unless it was the caller that came onto a worker's CPU: then the workers leave it.
void ThreadPool::judge(std::chrono::nanoseconds worked, std::chrono::nanoseconds waited) {
  if (waited > worked + suspended) {
    if (shared_->keep_free(sched_getcpu())) return;
    const std::chrono::nanoseconds alone = penalty_ * waited;
    alone_until_ = last_launch_ + std::min<std::chrono::nanoseconds>(alone, longest_alone);
    penalty_ = std::min(penalty_ * 2, most_penalty);
  } else {
    penalty_ = std::max(penalty_ / 2, least_penalty);
  }
}

void ThreadPool::stop() {
  if (!shared_) return;
  shared_->stopping.store(true);
  shared_->call();
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
