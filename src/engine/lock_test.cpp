// lock_test.cpp: the mutex, taken by one thread, then by several.
#include "engine/lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace frit {
namespace {

constexpr int rounds = 200'000;

struct Counted {
  EngineLock lock;
  long count = 0;  // guarded by lock

  void add(int times) {
    for (int k = 0; k < times; ++k) {
      const std::scoped_lock outer(lock);
      const std::scoped_lock inner(lock);
      ++count;
    }
  }
};

TEST(EngineLock, OthersJoinTheFavourite) {
  // Each time a favourite that is in the middle of its rounds when the first other comes.
  for (int trial = 0; trial < 20; ++trial) {
    Counted counted;
    std::atomic<bool> begun = false;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      counted.add(2);
      begun = true;
      counted.add(rounds / 10);
    });
    while (!begun) std::this_thread::yield();
    for (int k = 0; k < 3; ++k) threads.emplace_back([&] { counted.add(rounds / 10); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counted.count, 2 + 4 * (rounds / 10));
  }
}

TEST(EngineLock, TheFavouriteKeepsWhatItHolds) {
  Counted counted;
  counted.add(2);
  counted.lock.lock();
  std::atomic<bool> is_in = false;
  std::thread other([&] {
    const std::scoped_lock locked(counted.lock);
    is_in = true;
    counted.add(1);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(is_in);
  counted.add(1);  // deeper, while the other waits
  EXPECT_FALSE(is_in);
  counted.lock.unlock();
  other.join();
  counted.add(1);  // as one among others
  EXPECT_EQ(counted.count, 5);
}

TEST(EngineLock, AnotherFavouriteAfterFork) {
  Counted counted;
  counted.add(2);
  counted.lock.lock();
  counted.lock.reset();  // whoever held it is gone
  std::thread other([&] { counted.add(2); });
  other.join();
  counted.add(2);
  EXPECT_EQ(counted.count, 6);
}

std::atomic<int> waits = 0;

TEST(EngineLock, AWaitThatLastsIsTheWaiters) {
  EngineLock::set_waiter([](void (*wait)(void*), void* context) {
    ++waits;
    wait(context);
  });
  Counted counted;
  counted.add(2);
  EXPECT_EQ(waits, 0);
  counted.lock.lock();
  std::thread other([&] { counted.add(1); });
  while (waits == 0) std::this_thread::yield();
  EXPECT_EQ(counted.count, 2);
  counted.lock.unlock();
  other.join();
  EXPECT_EQ(counted.count, 3);
  EngineLock::set_waiter(nullptr);
}

}  // namespace
}  // namespace frit
