// math_library_test.cpp: other libraries' functions as loops, and one number at a time.
#include "ops/math_library.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace frit {
namespace {

double apply(MathLibrary library, Op op, double x, double y = 0) {
  double made = 0;
  void* args[3] = {&made, &x, &y};
  loop(library, op, DType::Float64)(args, 1, 0);
  return made;
}

// As a compiler must not see through it.
double (*volatile const power)(double, double) = std::pow;

TEST(MathLibrary, SquaresAreThoseOfPow) {
  std::mt19937_64 random(7);
  int others = 0;
  for (int k = 0; k < 300000; ++k) {
    const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const double x = std::ldexp(mantissa, static_cast<int>(random() % 1100) - 545);
    const double expected = power(x, 2.0), found = apply(MathLibrary::C, Op::Square, x);
    ASSERT_EQ(std::memcmp(&expected, &found, sizeof found), 0) << x;
    others += found != x * x;
  }
  EXPECT_GT(others, 50);
  for (const double x : {0.0, -0.0, 1.0, 2.0, -3.0, 5e-324, 1e-155, 1.4e154, 1e308, HUGE_VAL}) {
    EXPECT_EQ(apply(MathLibrary::C, Op::Square, x), power(x, 2.0)) << x;
    EXPECT_EQ(apply(MathLibrary::C, Op::Sqrt, std::fabs(x)), power(std::fabs(x), 0.5)) << x;
  }
  std::feclearexcept(FE_ALL_EXCEPT);
  for (const double x : {0.0, 3.0, HUGE_VAL, -HUGE_VAL, std::nan("")})
    apply(MathLibrary::C, Op::Square, x);
  EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0);
  EXPECT_TRUE(std::isnan(apply(MathLibrary::C, Op::Square, NAN)));
}

TEST(MathLibrary, LoopsGoThroughTheirOperands) {
  double x[3] = {0.25, 1.5, 3}, y[3] = {2, 0.5, -1}, out[3];
  void* args[3] = {out, x, y};
  loop(MathLibrary::C, Op::Power, DType::Float64)(args, 3, 0);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(out[k], power(x[k], y[k]));
  loop(MathLibrary::C, Op::Power, DType::Float64)(args, 3, 1);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(out[k], power(x[0], y[k]));
  loop(MathLibrary::C, Op::Power, DType::Float64)(args, 3, 2);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(out[k], power(x[k], y[0]));
}

TEST(MathLibrary, WhatALibraryLacksIsFrits) {
  for (const MathLibrary library : {MathLibrary::C, MathLibrary::NumPy}) {
    EXPECT_EQ(loop(library, Op::Add, DType::Float64), loop(Op::Add, DType::Float64));
    EXPECT_FALSE(has_function(library, Op::Floor, DType::Float64));
    EXPECT_FALSE(has_function(library, Op::Sin, DType::Float16));
    EXPECT_TRUE(has_function(library, Op::Sin, DType::Float64));
    EXPECT_EQ(loop(library, Op::Sin, DType::Float16), loop(Op::Sin, DType::Float16));
    EXPECT_EQ(function_of_numbers(library, Op::Add, DType::Float64), nullptr);
  }
  auto* const sine = reinterpret_cast<double (*)(double)>(
      const_cast<void*>(function_of_numbers(MathLibrary::C, Op::Sin, DType::Float64)));
  ASSERT_NE(sine, nullptr);
  EXPECT_EQ(sine(0.7), apply(MathLibrary::C, Op::Sin, 0.7));
}

// Of a ufunc: distances in bytes, the data that came with it, and one element for all.
// It clears the flags, as some do.
void scaled_sum(char** arguments, const std::intptr_t* count, const std::intptr_t* steps,
                void* data) {
  std::feclearexcept(FE_ALL_EXCEPT);
  for (std::intptr_t k = 0; k < *count; ++k) {
    double x, y;
    std::memcpy(&x, arguments[0] + k * steps[0], sizeof x);
    std::memcpy(&y, arguments[1] + k * steps[1], sizeof y);
    const double sum = *static_cast<double*>(data) * (x + y);
    std::memcpy(arguments[2] + k * steps[2], &sum, sizeof sum);
  }
}

TEST(MathLibrary, NumPysLoopsTakeTheirArguments) {
  double factor = 10, x[3] = {1, 2, 3}, y[3] = {0.5, 0.25, 4}, out[3];
  set_numpy_loop(Op::Logaddexp2, DType::Float64, scaled_sum, &factor);
  void* args[3] = {out, x, y};
  volatile double large = 1e300;
  large = large * large;  // raises overflow, in the unit that computes
  loop(MathLibrary::NumPy, Op::Logaddexp2, DType::Float64)(args, 3, 2);
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(out[k], 10 * (x[k] + y[0]));
  set_numpy_loop(Op::Logaddexp2, DType::Float64, nullptr, nullptr);
  EXPECT_EQ(loop(MathLibrary::NumPy, Op::Logaddexp2, DType::Float64),
            loop(Op::Logaddexp2, DType::Float64));
}

}  // namespace
}  // namespace frit
