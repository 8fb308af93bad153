// pool_test.cpp: every part of a launch is run once, whether threads sleep, wake or spin.
#include "engine/pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace frit {
namespace {

class Pool : public testing::Test {
 protected:
  void SetUp() override {
    before_ = ThreadPool::get().threads();
    ThreadPool::get().set_threads(4);
  }
  void TearDown() override { ThreadPool::get().set_threads(before_); }

  // How often each part of a launch is run.
  static std::vector<int> launch(std::int64_t parts) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
    ThreadPool::get().run(
        parts,
        [](void* context, std::int64_t k) {
          ++(*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<std::size_t>(k)];
        },
        &runs);
    return {runs.begin(), runs.end()};
  }

 private:
  int before_ = 1;
};

TEST_F(Pool, runs_each_part_once_whether_threads_sleep_or_not) {
  for (int round = 0; round < 400; ++round) {
    const std::int64_t parts = 1 + round % 37;
    EXPECT_EQ(launch(parts), std::vector<int>(static_cast<std::size_t>(parts), 1)) << round;
    // Threads go to sleep after a millisecond; some are on their way when the next launch comes.
    if (round % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(900 + 10 * round));
  }
}

TEST_F(Pool, short_launches_wake_threads_that_the_next_launches_use) {
  for (int round = 0; round < 200; ++round) {
    ThreadPool::get().note_short(std::chrono::microseconds(round % 130));
    EXPECT_EQ(launch(3), (std::vector<int>{1, 1, 1})) << round;
    if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST_F(Pool, what_a_part_throws_the_caller_gets_when_all_parts_are_done) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> runs{0};
    const auto part = [](void* context, std::int64_t k) {
      ++*static_cast<std::atomic<int>*>(context);
      if (k % 5 == 3) throw std::bad_alloc();
    };
    EXPECT_THROW(ThreadPool::get().run(20, part, &runs, true), std::bad_alloc);
    EXPECT_EQ(runs, 20);
    EXPECT_EQ(launch(20), std::vector<int>(20, 1)) << round;
  }
}

// Threads that start from here on ask for stacks that the machine hasn't got.
class NoRoomForStacks {
 public:
  NoRoomForStacks() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t without_room;
    pthread_getattr_default_np(&without_room);
    pthread_attr_setstacksize(&without_room, std::size_t{1} << 47);
    pthread_setattr_default_np(&without_room);
    pthread_attr_destroy(&without_room);
  }
  ~NoRoomForStacks() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoRoomForStacks(const NoRoomForStacks&) = delete;
  NoRoomForStacks& operator=(const NoRoomForStacks&) = delete;

 private:
  pthread_attr_t before_;
};

TEST_F(Pool, without_threads_to_be_had_the_caller_does_all) {
  ThreadPool::get().set_threads(5);
  {
    const NoRoomForStacks no_room;
    EXPECT_THROW(std::thread([] {}), std::system_error);
    for (const std::int64_t parts : {1, 3, 40, 100'000})
      EXPECT_EQ(launch(parts), std::vector<int>(static_cast<std::size_t>(parts), 1));
    ThreadPool::get().note_short(std::chrono::milliseconds(10));
    EXPECT_FALSE(ThreadPool::get().is_awake());
  }
  EXPECT_EQ(launch(40), std::vector<int>(40, 1));
  ThreadPool::get().set_threads(4);
  EXPECT_EQ(launch(40), std::vector<int>(40, 1));
}

// However it was found when it was called: asleep, or on its way.
TEST_F(Pool, a_thread_at_work_is_awake) {
  ThreadPool::get().set_threads(2);
  struct Meeting {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> worker_is_there{false}, caller_has_looked{false};
    bool have_met = false, was_awake = false;
  };
  int meetings = 0;
  for (int round = 0; round < 100; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + 5 * round));
    Meeting meeting;
    ThreadPool::get().run(
        10,
        [](void* context, std::int64_t) {
          using Clock = std::chrono::steady_clock;
          auto& m = *static_cast<Meeting*>(context);
          if (std::this_thread::get_id() != m.caller) {
            m.worker_is_there = true;
            while (!m.caller_has_looked) std::this_thread::yield();
          } else if (!m.caller_has_looked) {
            // Where others have the CPU the caller may have been left alone.
            const auto end = Clock::now() + std::chrono::milliseconds(100);
            while (!m.worker_is_there && Clock::now() < end) std::this_thread::yield();
            m.have_met = m.worker_is_there;
            m.was_awake = ThreadPool::get().is_awake();
            m.caller_has_looked = true;
          }
        },
        &meeting);
    if (!meeting.have_met) continue;
    ++meetings;
    EXPECT_TRUE(meeting.was_awake) << round;
  }
  EXPECT_GT(meetings, 0);
}

TEST_F(Pool, a_thread_that_is_woken_leaves_the_callers_cpu_alone) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU";
  ThreadPool::get().set_threads(2);
  launch(10);
  struct Seen {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> cpus{0};  // that the worker may run on
  } seen;
  // It may have been awake still, where others keep it from its CPU.
  const int fewer = CPU_COUNT(&all) - 1;
  for (int round = 0; round < 100 && seen.cpus != fewer; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ThreadPool::get().run(
        10,
        [](void* context, std::int64_t) {
          auto& s = *static_cast<Seen*>(context);
          cpu_set_t mine;
          if (std::this_thread::get_id() == s.caller)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          else if (sched_getaffinity(0, sizeof mine, &mine) == 0)
            s.cpus = CPU_COUNT(&mine);
        },
        &seen);
  }
  EXPECT_EQ(seen.cpus, fewer);
}

// One that sleeps has no CPU either, as one that was suspended has none.
TEST_F(Pool, a_thread_that_has_lost_its_cpu_gets_the_waiting_callers_for_its_part) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU";
  ThreadPool::get().set_threads(2);
  struct Seen {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> worker_is_there{false};
    std::atomic<int> before{0}, as_guest{0};  // CPUs that the worker may run on
  };
  const auto cpus = [] {
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 0;
  };
  const int fewer = CPU_COUNT(&all) - 1;
  int guests = 0;
  for (int round = 0; round < 20; ++round) {
    Seen seen;
    struct Context {
      Seen& seen;
      decltype(cpus)& count;
    } context{seen, cpus};
    ThreadPool::get().run(
        10,
        [](void* p, std::int64_t) {
          auto& [s, count] = *static_cast<Context*>(p);
          if (std::this_thread::get_id() == s.caller) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
            while (!s.worker_is_there && std::chrono::steady_clock::now() < end) continue;
          } else if (!s.worker_is_there) {
            s.before = count();
            s.worker_is_there = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            s.as_guest = count();
          }
        },
        &context);
    if (!seen.worker_is_there) continue;
    EXPECT_GE(seen.before, fewer);  // it was sent home behind the launch before
    guests += seen.as_guest == 1;
  }
  EXPECT_GT(guests, 0);
}

TEST_F(Pool, one_thread_is_never_woken) {
  ThreadPool::get().set_threads(1);
  ThreadPool::get().note_short(std::chrono::milliseconds(5));
  EXPECT_FALSE(ThreadPool::get().is_awake());
  EXPECT_EQ(launch(9), std::vector<int>(9, 1));
}

}  // namespace
}  // namespace frit
