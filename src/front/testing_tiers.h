// testing_tiers.h: tests that run on both tiers that fuse, each time with nothing planned before.
#pragma once

#include <gtest/gtest.h>

#include "frit/array.h"

namespace frit {

class OnEachTier : public testing::TestWithParam<Tier> {
 protected:
  void SetUp() override {
    flush_caches();
    set_tier(GetParam());
  }
  void TearDown() override { set_tier(Tier::Automatic); }
};

inline auto both_tiers() { return testing::Values(Tier::Interpreter, Tier::Compiled); }
inline const char* tier_name(const testing::TestParamInfo<Tier>& info) {
  return info.param == Tier::Interpreter ? "interpreter" : "compiled";
}

}  // namespace frit
