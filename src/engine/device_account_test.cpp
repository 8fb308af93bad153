// device_account_test.cpp: when a kernel goes to a device, and what that costs at worst.
#include "engine/device_account.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

TEST(DeviceAccount, GoesAtOnceWhereOneLaunchPays) {
  EXPECT_TRUE(DeviceAccount().pays(10, 9));
  EXPECT_FALSE(DeviceAccount().pays(10, 11));
  EXPECT_FALSE(DeviceAccount().pays(-1, 0));
}

TEST(DeviceAccount, GoesWhenWhatItWouldHaveSavedPays) {
  DeviceAccount account;
  int stayed = 0;
  for (; !account.pays(10, 95); ++stayed) account.stayed(10);
  EXPECT_EQ(stayed, 9);
  account.went(10, 95);
  for (int k = 0; k < 100; ++k) {
    EXPECT_TRUE(account.pays(10, 0));  // its arrays are there
    account.went(10, 0);
  }
}

// Each launch saves 10 of 12 and its result, 50, is fetched each time.
TEST(DeviceAccount, WhatIsFetchedEachTimeStays) {
  DeviceAccount account;
  double lost = 0;
  int went = 0;
  constexpr int launches = 10'000;
  for (int k = 0; k < launches; ++k) {
    if (!account.pays(10, 0)) {
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

TEST(DeviceAccount, WhatPaysItsWayBackGoesOn) {
  DeviceAccount account;
  int went = 0;
  for (int k = 0; k < 100; ++k)
    if (account.pays(10, 4)) {
      account.went(10, 4);
      account.fetched(5);
      ++went;
    } else {
      account.stayed(10);
    }
  EXPECT_EQ(went, 100);
}

}  // namespace
}  // namespace frit
