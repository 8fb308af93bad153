// addresses_test.cpp: addresses of lanes are taken apart, and mean the same.
#include "backend/interp/addresses.h"

#include <gtest/gtest.h>

#include "ir/testing.h"

namespace frit::interp {
namespace {

// y[i] = x[(i + n) - one * s]
Kernel shifted_by(Op op) {
  testing::KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64);
  const int stride = make.integer();
  const ValueId n = make.integer_arg(make.integer()), one = make.constant(std::int64_t{1});
  make.parallel_vector([&](ValueId i) {
    const ValueId j = make.apply(op, make.apply(Op::Add, i, n), one);
    make.store(y, {{i}}, make.load(x, {{j, stride}}));
  });
  return make.kernel();
}

TEST(Addresses, of_lanes_are_taken_apart) {
  const auto made = take_sums_apart(shifted_by(Op::Subtract));
  ASSERT_TRUE(made);
  verify(*made);
  EXPECT_EQ(print(*made),
            "kernel x0 float64, x1 float64 written, n0 int64, n1 int64\n"
            "v0 int64 = n1\n"
            "v1 int64 = 1\n"
            "v7 int64 = 0\n"
            "v6 int64 = Subtract v7, v1\n"
            "parallel vector loop v2\n"
            "  v3 int64 = Add v2, v0\n"
            "  v4 int64 = Subtract v3, v1\n"
            "  v5 float64 = load x0[v2*n0 + v0*n0 + v6*n0]\n"
            "  store x1[v2] = v5\n");
}

TEST(Addresses, that_are_no_sums_of_lanes_stay) {
  EXPECT_FALSE(take_sums_apart(shifted_by(Op::Multiply)));
}

}  // namespace
}  // namespace frit::interp
