// stoppable_run_test.cpp: who is asked to stop, and who is not.
#include "engine/stoppable_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "backend/stop.h"
#include "engine/engine.h"

namespace frit {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds long_enough(60'000);

struct Endless {
  std::atomic<bool> has_begun = false;
  std::function<void()> work = [this] {
    has_begun = true;
    for (;;) {
      stop_if_asked();
      std::this_thread::yield();
    }
  };
  void wait() const {
    while (!has_begun) std::this_thread::yield();
  }
};

TEST(StoppableRun, ends_by_itself) {
  int count = 0;
  const std::function<void()> work = [&] { ++count; };
  StoppableRun run(work);
  EXPECT_TRUE(run.has_ended_after(long_enough));
  EXPECT_NO_THROW(run.throw_error());
  EXPECT_EQ(count, 1);
}

TEST(StoppableRun, tells_what_its_work_has_thrown) {
  const std::function<void()> work = [] { throw std::runtime_error("on purpose"); };
  StoppableRun run(work);
  EXPECT_TRUE(run.has_ended_after(long_enough));
  EXPECT_THROW(run.throw_error(), std::runtime_error);
}

TEST(StoppableRun, stops_where_it_is_asked_to) {
  for (int trial = 0; trial < 50; ++trial) {
    Endless endless;
    StoppableRun run(endless.work);
    endless.wait();
    if (trial == 0) {
      EXPECT_FALSE(run.has_ended_after(milliseconds(20)));
    }
    run.stop();
    EXPECT_THROW(run.throw_error(), Stopped);
    EXPECT_FALSE(is_asked_to_stop());
    const std::scoped_lock lock(Engine::lock());  // it is free
  }
}

TEST(StoppableRun, does_not_begin_when_nobody_wants_it_any_more) {
  Endless first, second;
  StoppableRun other(first.work);  // holds the engine's lock
  first.wait();
  StoppableRun run(second.work);
  std::thread stops([&] { run.stop(); });
  EXPECT_FALSE(other.has_ended_after(milliseconds(30)));
  EXPECT_FALSE(is_asked_to_stop()) << "another's launch";
  other.stop();
  stops.join();
  EXPECT_FALSE(second.has_begun);
  EXPECT_NO_THROW(run.throw_error());
}

}  // namespace
}  // namespace frit
