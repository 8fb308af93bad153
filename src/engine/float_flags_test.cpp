// float_flags_test.cpp: flags that the values don't bear out.
#include "engine/float_flags.h"

#include <gtest/gtest.h>

#include "engine/pool.h"
#include "front/common.h"

namespace frit {
namespace {

Array halves(const std::vector<float>& values) {
  return astype(
      copy_of(values.data(), std::vector<std::int64_t>{std::ssize(values)}, DType::Float32),
      DType::Float16);
}

TEST(FloatFlags, of_float16_only_values_tell) {
  const unsigned all = flag_invalid | flag_overflow | flag_divide;
  const auto left = [&](const std::vector<float>& values) {
    const Array a = halves(values);
    read(a);
    return credible(access_of(a), all);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(left({0, 1, -2}), 0u);
  EXPECT_EQ(left({0, nan}), flag_invalid);
  EXPECT_EQ(left({-infinity, 3}), flag_overflow | flag_divide);
  EXPECT_EQ(left({infinity, nan}), all);
  const Array wide = full(std::vector<std::int64_t>{3}, Scalar::of(DType::Float64, 1.0));
  read(wide);
  EXPECT_EQ(credible(access_of(wide), all), all);
}

}  // namespace
}  // namespace frit
