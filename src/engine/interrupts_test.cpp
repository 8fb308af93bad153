// interrupts_test.cpp: what SIGINT does while launches listen, and behind them.
#include "engine/interrupts.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "backend/stop.h"

namespace frit {
namespace {

int calls = 0, other_calls = 0, last_number = 0;
void count(int number) {
  ++calls;
  last_number = number;
}
void count_others(int, siginfo_t*, void*) { ++other_calls; }

class Interrupts : public ::testing::Test {
 protected:
  void SetUp() override {
    sigaction(SIGINT, nullptr, &before_);
    calls = other_calls = 0;
  }
  void TearDown() override { sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_;
};

TEST_F(Interrupts, ask_the_launch_to_stop_and_go_on_to_the_handler) {
  signal(SIGINT, count);
  for (int trial = 1; trial <= 3; ++trial) {
    {
      const InterruptsHeard heard;
      EXPECT_FALSE(is_asked_to_stop());
      raise(SIGINT);
      EXPECT_TRUE(is_asked_to_stop());
      EXPECT_THROW(stop_if_asked(), Stopped);
    }
    EXPECT_FALSE(is_asked_to_stop());
    EXPECT_EQ(calls, trial);
    EXPECT_EQ(last_number, SIGINT);
  }
}

TEST_F(Interrupts, are_the_handlers_alone_where_no_launch_listens) {
  signal(SIGINT, count);
  { const InterruptsHeard heard; }
  raise(SIGINT);
  EXPECT_FALSE(is_asked_to_stop());
  EXPECT_EQ(calls, 1);
}

TEST_F(Interrupts, go_to_the_handler_that_was_set_last) {
  signal(SIGINT, count);
  { const InterruptsHeard heard; }
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = count_others;
  sigaction(SIGINT, &action, nullptr);
  const InterruptsHeard heard;
  raise(SIGINT);
  EXPECT_TRUE(is_asked_to_stop());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(other_calls, 1);
}

TEST_F(Interrupts, stay_ignored) {
  signal(SIGINT, SIG_IGN);
  const InterruptsHeard heard;
  raise(SIGINT);
  EXPECT_FALSE(is_asked_to_stop());
}

}  // namespace
}  // namespace frit
