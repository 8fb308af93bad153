// device_account_test.cpp: when a kernel goes to a device, and what that costs at worst.
#include "engine/device_account.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

TEST(DeviceAccount, GoesAtOnceWhereOneLaunchPays) {
  EXPECT_TRUE(DeviceAccount().pays(10, 9, 0));
  EXPECT_FALSE(DeviceAccount().pays(10, 11, 0));
  EXPECT_FALSE(DeviceAccount().pays(-1, 0, 0));
  EXPECT_TRUE(DeviceAccount().pays(-1, 0, 2));  // the host would have to fetch for longer
}

TEST(DeviceAccount, GoesWhenWhatItWouldHaveSavedPays) {
  DeviceAccount account;
  int stayed = 0;
  for (; !account.pays(10, 95, 0); ++stayed) account.stayed(10);
  EXPECT_EQ(stayed, 9);
  account.went(10, 95);
  for (int k = 0; k < 100; ++k) {
    EXPECT_TRUE(account.pays(10, 0, 50));  // its arrays are there
    account.went(10, 0);
  }
}

// A program of several kernels goes as a whole, though each of them brings an array of its own.
TEST(DeviceAccount, KernelsPayForOneAnother) {
  DeviceAccount account;
  int round = 0;
  for (; !account.pays(10, 300, 0); ++round)
    for (int kernel = 0; kernel < 5; ++kernel) account.stayed(10);
  EXPECT_LE(round, 6);
}

// Each launch saves 10 of 12 and its result, 50, is fetched each time.
TEST(DeviceAccount, WhatIsFetchedEachTimeStays) {
  DeviceAccount account;
  double lost = 0;
  int went = 0;
  constexpr int launches = 10'000;
  for (int k = 0; k < launches; ++k) {
    if (!account.pays(10, 0, 0)) {
      account.stayed(10);
      continue;
    }
    account.went(10, 0);
    account.fetched(50);
    lost += 50 - 10;
    ++went;
  }
  EXPECT_GT(went, 0);
  EXPECT_LT(went, 10);
  EXPECT_LT(lost, 0.01 * 12 * launches);
}

// What one part of a program has saved, the next one does not lose.
TEST(DeviceAccount, CreditIsLimited) {
  DeviceAccount account;
  EXPECT_TRUE(account.pays(1e8, 1e7, 0));
  account.went(1e8, 1e7);
  for (int k = 0; k < 100'000; ++k) account.went(1e6, 0);
  double lost = 0;
  for (int k = 0; k < 100'000; ++k)
    if (account.pays(1e4, 0, 0)) {
      account.went(1e4, 0);
      account.fetched(1e6);
      lost += 1e6;
    } else {
      account.stayed(1e4);
    }
  EXPECT_LT(lost, 1e8);
}

TEST(DeviceAccount, WhatPaysItsWayBackGoesOn) {
  DeviceAccount account;
  int went = 0;
  for (int k = 0; k < 100; ++k)
    if (account.pays(10, 4, 0)) {
      account.went(10, 4);
      account.fetched(5);
      ++went;
    } else {
      account.stayed(10);
    }
  EXPECT_EQ(went, 100);
}

// ---- of a nest's runs ---------------------------------------------------------------------------

TEST(NestAccount, OneLaunchPaysForItsTransfersOrStays) {
  NestAccount account;
  for (int run = 0; run < 3; ++run) {
    account.begin();
    EXPECT_FALSE(account.pays(80, 100, 0)) << run;  // what it missed before is not to be had now
    account.stayed(80);
  }
  EXPECT_TRUE(account.pays(100, 100, 0));
  EXPECT_FALSE(account.pays(-1, 0, 0));
}

TEST(NestAccount, LaunchesRentUntilTheyCouldHaveBought) {
  NestAccount account;
  account.begin();
  int stayed = 0;
  while (!account.pays(10, 100, 0)) {
    account.stayed(10);
    ++stayed;
  }
  EXPECT_EQ(stayed, 9);
}

TEST(NestAccount, TheNextRunGoesAtOnce) {
  NestAccount account;
  account.begin();
  for (int k = 0; k < 20; ++k) account.stayed(10);
  account.begin();
  EXPECT_TRUE(account.pays(10, 100, 0));
  account.went(10, 100);
  EXPECT_TRUE(account.pays(10, 0, 100));
  EXPECT_TRUE(account.pays(-5, 0, 100));  // the host would have to fetch
}

TEST(NestAccount, ArraysThatGoForthAndBackAreNotSentForever) {
  NestAccount account;
  int sent = 0;
  for (int run = 0; run < 10; ++run) {
    account.begin();
    for (int k = 0; k < 20; ++k) {
      if (account.pays(10, 50, 0)) {
        account.went(10, 50);  // and the host needs them each time
        ++sent;
      } else {
        account.stayed(10);
      }
    }
  }
  EXPECT_LT(sent, 25);
}

// Whatever the guesses say.
TEST(NestAccount, MeasuredRunsDecide) {
  NestAccount account;
  constexpr double cost = 1e6;
  for (int run = 0; run < 3; ++run) {
    EXPECT_FALSE(account.begin());  // what the host takes isn't known
    account.end(5e5, cost, true);
  }
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(account.begin());
    account.went(1e5, 0);
    account.end(9e5, cost, true);
  }
  EXPECT_FALSE(account.begin());
}

TEST(NestAccount, ShortAndInterpretedRunsStay) {
  NestAccount account;
  for (int run = 0; run < 9; ++run) {
    EXPECT_FALSE(account.begin());
    account.end(5e6, 1e6, false);
  }
  for (int run = 0; run < 9; ++run) {
    EXPECT_FALSE(account.begin());
    account.end(2e4, 1e5, true);
  }
}

}  // namespace
}  // namespace frit
