// extremes_test.cpp: no elements, very many of everything, many threads, and the process's end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "frit/frit.h"

namespace frit {
namespace {

using Values = std::vector<double>;

Values ramp(std::size_t n) {
  Values v(n);
  for (std::size_t k = 0; k < n; ++k) v[k] = std::sin(static_cast<double>(k)) * 3;
  return v;
}

Array array_of(const Values& values) {
  return from_values(std::span<const double>(values), {static_cast<std::int64_t>(values.size())});
}

// ---- nothing ------------------------------------------------------------------------------------

TEST(Extremes, arrays_without_elements) {
  const Array none = zeros({0}), tall = zeros({3, 0}), wide = zeros({0, 4});
  EXPECT_TRUE(values<double>(none + 1.0).empty());
  EXPECT_EQ(value<double>(sum(none)), 0.0);
  EXPECT_EQ(values<double>(sum(tall, 1)), Values(3, 0.0));
  EXPECT_TRUE(values<double>(max(tall, 0)).empty());
  EXPECT_THROW(max(none), ValueError);
  EXPECT_THROW(max(tall, 1), ValueError);
  EXPECT_EQ(values<double>(matmul(tall, wide)), Values(12, 0.0));
  none += 1.0;
  assign(none, 3.0);
  EXPECT_EQ(copy(tall, 'F').size(), 0);
  EXPECT_EQ(astype(wide, DType::Int32).size(), 0);
  EXPECT_TRUE(values<double>(from_values(std::span<const double>(), {0})).empty());
  EXPECT_EQ(nonzero(tall).size(), 2u);
  EXPECT_EQ(count_nonzero(tall), 0);
  EXPECT_EQ(compress(none, zeros({0}, DType::Bool)).size(), 0);
  EXPECT_EQ(accumulate(Op::Add, tall, 1).size(), 0);
  EXPECT_EQ(argmin(tall, 0).shape()[0], 0);
  EXPECT_EQ(arg_extreme(Extreme::Max, zeros({0, 16, 9}), 2, true).shape()[1], 16);
  EXPECT_TRUE(values<std::int64_t>(argmax(wide, 1)).empty());
  EXPECT_THROW(argmin(tall, 1), ValueError);
  EXPECT_THROW(argmax(tall), ValueError);
  EXPECT_TRUE(values<double>(arange(0.0, 1.0, 0)).empty());
  const std::vector<Array> nowhere{zeros({0}, DType::Int64)};
  EXPECT_EQ(gather(none, nowhere).size(), 0);
  EXPECT_EQ(gather(zeros({5}), nowhere).size(), 0);
  scatter(none, nowhere, 1.0);
  eval();
}

TEST(Extremes, kernels_without_points_or_elements) {
  const Array none = zeros({0}), x = zeros({3});
  KernelBuilder no_points({0, 5});
  no_points.output(x)(no_points.axis(1)) = 1.0;  // would leave x
  const auto total = no_points.reduce(Op::Add, no_points.scalar(2.0));
  no_points.record();
  EXPECT_EQ(value<double>(total.array()), 0.0);
  KernelBuilder one_point({});
  const auto most = one_point.reduce(Op::Maximum, one_point.scalar(2.5));
  one_point.record();
  EXPECT_EQ(value<double>(most.array()), 2.5);
  KernelBuilder idle({4});
  idle.input(none);
  idle.output(none);
  idle.record();
  EXPECT_EQ(values<double>(x), Values(3, 0.0));
}

// ---- very many ----------------------------------------------------------------------------------

TEST(Extremes, sixty_four_axes) {
  std::vector<std::int64_t> shape(64, 1);
  shape[0] = 3;
  shape[63] = 7;
  const Array x = full(shape, Scalar::of(DType::Float64, 2.0));
  EXPECT_EQ(value<double>(sum(x + 1.0)), 63.0);
  for (int axis : {0, 5, 63}) EXPECT_EQ(value<double>(sum(sum(x, axis))), 42.0);
  KernelBuilder k(shape);
  const auto count = k.reduce(Op::Add, k.scalar(1.0));
  const auto along = k.reduce(Op::Add, k.axis(63) + k.axis(0), {63});
  k.record();
  EXPECT_EQ(value<double>(count.array()), 21.0);
  EXPECT_EQ(values<std::int64_t>(along.array()), (std::vector<std::int64_t>{21, 28, 35}));
}

TEST(Extremes, a_kernel_of_many_arrays_and_a_sum_of_many) {
  std::vector<Array> arrays;
  for (int k = 0; k < 120; ++k) arrays.push_back(full({3000}, static_cast<double>(k)));
  const Array out = zeros({3000});
  KernelBuilder k({3000});
  const auto s = k.local(0.0);
  for (const Array& a : arrays) s += k.input(a)(k.axis(0));
  k.output(out)(k.axis(0)) = s;
  k.record();
  Array total = arrays[0];
  for (std::size_t j = 1; j < arrays.size(); ++j) total = total + arrays[j];
  EXPECT_EQ(values<double>(out), Values(3000, 119 * 60.0));
  EXPECT_EQ(values<double>(total), Values(3000, 119 * 60.0));
}

TEST(Extremes, a_kernel_of_thousands_of_instructions_and_a_hundred_conditions) {
  const Array x = array_of(ramp(2000)), y = zeros({2000});
  KernelBuilder k({2000});
  const auto X = k.input(x), Y = k.output(y);
  const auto i = k.axis(0);
  const auto s = k.local(0.0);
  for (int round = 0; round < 1000; ++round) s = s * 0.5 + X(i);
  const std::function<void(int)> nest = [&](int depth) {
    if (depth == 0) return s += 1.0;
    k.if_(X(i) > -100.0 - depth, [&] { nest(depth - 1); });
  };
  nest(100);
  Y(i) = s;
  k.record();
  Values expected = ramp(2000);
  for (double& e : expected) {
    double t = 0;
    for (int round = 0; round < 1000; ++round) t = t * 0.5 + e;
    e = t + 1;
  }
  EXPECT_EQ(values<double>(y), expected);
}

TEST(Extremes, loops_at_the_ends_of_int64) {
  const Array y = zeros({10}, DType::Int64);
  const auto last_index = [&](std::int64_t begin, std::int64_t end) {
    KernelBuilder k({10});
    const auto Y = k.output(y);
    k.loop(k.scalar(begin), k.scalar(end), [&](Expression t) { Y(k.axis(0)) = t; });
    k.record();
    return values<std::int64_t>(y)[9];
  };
  EXPECT_EQ(last_index(INT64_MAX - 2, INT64_MAX), INT64_MAX - 1);
  EXPECT_EQ(last_index(INT64_MIN, INT64_MIN + 2), INT64_MIN + 1);
  EXPECT_EQ(last_index(5, -5), INT64_MIN + 1);
  EXPECT_EQ(last_index(INT64_MAX, INT64_MIN), INT64_MIN + 1);
}

TEST(Extremes, thousands_of_kernels_before_the_first_value) {
  constexpr std::size_t n = 500;
  Array u = array_of(ramp(n)), v = array_of(ramp(n));
  Values x = ramp(n), y = ramp(n);
  for (int round = 0; round < 10'000; ++round) {
    KernelBuilder k({static_cast<std::int64_t>(n) - 2});
    const auto U = k.input(u), V = k.output(v);
    const auto i = k.axis(0) + 1;
    V(i) = 0.5 * U(i) + 0.25 * (U(i - 1) + U(i + 1));
    k.record();
    std::swap(u, v);
    for (std::size_t p = 1; p + 1 < n; ++p) y[p] = 0.5 * x[p] + 0.25 * (x[p - 1] + x[p + 1]);
    std::swap(x, y);
  }
  EXPECT_EQ(values<double>(u), x);
  EXPECT_EQ(values<double>(v), y);
}

// ---- threads ------------------------------------------------------------------------------------

TEST(Extremes, threads_record_and_evaluate_at_once) {
  constexpr int threads = 6, rounds = 40;
  const Array shared = zeros({20'000});
  std::atomic<int> wrong{0};
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (int round = 0; round < rounds; ++round) {
        Array mine = full({3000}, static_cast<double>(t));
        for (int k = 0; k < 20; ++k) mine = mine + 1.0;
        shared += 1.0;
        KernelBuilder k({3000});
        const auto M = k.inout(mine);
        M(k.axis(0)) = M(k.axis(0)) * 2.0;
        k.record();
        if (value<double>(sum(mine)) != 3000.0 * 2 * (t + 20)) ++wrong;
        if (round % 7 == 0) eval();
        if (round % 13 == 0) explain();
        if (round % 17 == 0) flush_caches();
      }
    });
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(values<double>(shared), Values(20'000, threads * rounds));
}

// ---- the end of the process ---------------------------------------------------------------------

// Evaluates an expression and a kernel when it is destroyed.
struct Late {
  Array x;
  ~Late() {
    if (!x) return;
    const Array y = x + 1.0;
    KernelBuilder k({5000});
    const auto Y = k.inout(y);
    Y(k.axis(0)) = Y(k.axis(0)) * 2.0;
    k.record();
    std::fputs(values<double>(y)[1] == (ramp(5000)[1] + 1.0) * 2.0 ? "late" : "wrong", stderr);
  }
};

TEST(ExtremesDeathTest, destructors_may_evaluate_while_the_process_ends) {
  const auto program = [] {
    static Late global;
    static thread_local Late of_thread;
    global.x = of_thread.x = array_of(ramp(5000));
    Array large = array_of(ramp(300'000));
    for (int k = 0; k < 5; ++k) eval(large = large * 1.5 + k);
    std::exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "^latelate$");
}

TEST(ExtremesDeathTest, the_process_may_end_while_threads_work) {
  const auto program = [] {
    std::atomic<int> started{0};
    for (int t = 0; t < 3; ++t)
      std::thread([&started, t] {
        for (int round = 0;; ++round) {
          Array x = full({20'000 + t}, 1.0);
          for (int k = 0; k <= round % 9; ++k) x = x * 1.5 + k;
          eval(x);
          ++started;
        }
      }).detach();
    while (started < 20) std::this_thread::yield();
    std::exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

// Every compile may be LLVM's first need of something that it destroys when the process ends.
TEST(ExtremesDeathTest, the_process_may_end_while_what_other_threads_asked_for_is_compiled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto program = [](int milliseconds) {
    setenv("FRIT_CACHE", "0", 1);
    std::thread([=] {
      for (int round = 0; round < 60; ++round) {
        Array x = full({50'000}, 1.0);
        for (int k = 0; k < 5 + round % 10; ++k) x = x + 1.0;
        eval(x = round % 2 ? sqrt(x) : x);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    }).join();
    std::exit(0);
  };
  for (int k = 0; k < 12; ++k) EXPECT_EXIT(program(20 + 15 * k), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace frit
