// kernel_builder_test.cpp: user kernels: values, control flow, fusion, indices and errors.
#include "frit/kernel_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "frit/frit.h"
#include "front/testing_tiers.h"

namespace frit {
namespace {

std::vector<double> ramp(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t k = 0; k < n; ++k)
    v[k] = std::sin(static_cast<double>(k)) * 3 + 0.25 * static_cast<double>(k % 17);
  return v;
}

template <class T>
Array array_of(const std::vector<T>& values, std::initializer_list<std::int64_t> shape) {
  return from_values(std::span<const T>(values), shape);
}

Array part(const Array& a, std::int64_t start, std::int64_t count) {
  const AxisSlice s{.start = start, .step = 1, .count = count};
  return slice(a, {&s, 1});
}

std::int64_t launches() {
  const Statistics s = statistics();
  return s.interpreted_launches + s.compiled_launches;
}

class Kernels : public testing::TestWithParam<Tier> {
 protected:
  void SetUp() override {
    set_tier(GetParam());
    eval();
    reset_statistics();
  }
  void TearDown() override {
    eval();
    set_tier(Tier::Automatic);
  }
};
INSTANTIATE_TEST_SUITE_P(Tiers, Kernels, both_tiers(), tier_name);

constexpr std::int64_t rows = 63, columns = 70;

double& at(std::vector<double>& v, std::int64_t i, std::int64_t j, std::int64_t width = columns) {
  return v[static_cast<std::size_t>(i * width + j)];
}

TEST(Door, intervals_are_numpys_slices) {
  const Array x = array_of(ramp(60), {6, 10});
  const auto at_most = [](std::int64_t start, std::int64_t stop) {
    return Interval{.start = start, .stop = stop};
  };
  const auto shape = [](const Array& a) {
    return std::vector<std::int64_t>(a.shape().begin(), a.shape().end());
  };
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shape(slice(x, {at_most(1, -1), at_most(1, -1)})), (Shape{4, 8}));
  EXPECT_EQ(shape(slice(x, {{.start = -2}})), (Shape{2, 10}));
  EXPECT_EQ(shape(slice(x, {{}, {.start = 1, .step = 4}})), (Shape{6, 3}));
  EXPECT_EQ(shape(slice(x, {at_most(-99, 99), at_most(4, 2)})), (Shape{6, 0}));
  EXPECT_EQ(shape(slice(x, {at_most(9, 99)})), (Shape{0, 10}));
  EXPECT_EQ(values<double>(slice(x, {at_most(2, 3), {.start = 1, .stop = 8, .step = 3}})),
            (std::vector<double>{ramp(60)[21], ramp(60)[24], ramp(60)[27]}));
  EXPECT_THROW(slice(x, {{}, {}, {}}), IndexError);
  EXPECT_THROW(slice(x, {{.step = 0}}), ValueError);
}

TEST(Door, numbers_take_the_arrays_type) {
  const Array whole = array_of<std::int32_t>({1, 2, 3}, {3});
  EXPECT_EQ((whole + 1).dtype(), DType::Int32);
  EXPECT_EQ((7u - whole).dtype(), DType::Int32);
  EXPECT_EQ((whole * std::size_t{2}).dtype(), DType::Int32);
  EXPECT_EQ((whole / 2).dtype(), DType::Float64);
  EXPECT_EQ((whole + 0.5f).dtype(), DType::Float64);
  EXPECT_EQ((array_of<float>({1, 2}, {2}) * 0.1).dtype(), DType::Float32);
  EXPECT_THROW(whole + UINT64_MAX, ValueError);
  EXPECT_EQ(values<std::int32_t>(7 - whole), (std::vector<std::int32_t>{6, 5, 4}));
}

TEST_P(Kernels, a_stencil_reads_its_neighbours) {
  auto x = ramp(rows * columns);
  const Array u = array_of(x, {rows, columns}), v = zeros({rows, columns});
  KernelBuilder k({rows - 2, columns - 2});
  const auto U = k.input(u), V = k.output(v);
  const auto i = k.axis(0) + 1, j = k.axis(1) + 1;
  V(i, j) =
      U(i, j) + 0.25 * (U(i - 1, j) + U(i + 1, j) + U(i, j - 1) + U(i, j + 1) - 4.0 * U(i, j));
  k.record();
  const auto result = values<double>(v);
  for (std::int64_t p = 0; p < rows; ++p)
    for (std::int64_t q = 0; q < columns; ++q) {
      const bool inner = p > 0 && q > 0 && p < rows - 1 && q < columns - 1;
      const double sum =
          inner ? ((((at(x, p - 1, q) + at(x, p + 1, q)) + at(x, p, q - 1)) + at(x, p, q + 1)) -
                   4.0 * at(x, p, q))
                : 0;
      ASSERT_EQ(result[static_cast<std::size_t>(p * columns + q)],
                inner ? at(x, p, q) + 0.25 * sum : 0.0)
          << p << " " << q;
    }
}

TEST_P(Kernels, conditions_keep_neighbours_inside) {
  auto x = ramp(rows * columns);
  const Array u = array_of(x, {rows, columns}), v = empty(u.shape(), DType::Float64);
  KernelBuilder k({rows, columns});
  const auto U = k.input(u), V = k.output(v);
  const auto i = k.axis(0), j = k.axis(1);
  const auto s = k.local(0.0);
  k.if_(
      i > 0 && j < columns - 1, [&] { s = U(i - 1, j + 1); }, [&] { s = -1.0; });
  k.if_(i != 0, [&] { s += 1.0; });
  V(i, j) = s + U(i, j);
  k.record();
  const auto result = values<double>(v);
  for (std::int64_t p = 0; p < rows; ++p)
    for (std::int64_t q = 0; q < columns; ++q) {
      double expected = p > 0 && q < columns - 1 ? at(x, p - 1, q + 1) : -1.0;
      if (p != 0) expected += 1.0;
      ASSERT_EQ(result[static_cast<std::size_t>(p * columns + q)], expected + at(x, p, q))
          << p << " " << q;
    }
}

TEST_P(Kernels, while_runs_each_point_as_long_as_it_wants) {
  constexpr std::int64_t n = 57, most = 50;
  const Array counts = empty(std::vector<std::int64_t>{n, n}, DType::Int64);
  KernelBuilder k({n, n});
  const auto C = k.output(counts);
  const auto i = k.axis(0), j = k.axis(1);
  const Expression cr = k.scalar(-2.0) + i * (3.0 / n), ci = k.scalar(-1.5) + j * (3.0 / n);
  const auto zr = k.local(0.0), zi = k.local(0.0);
  const auto t = k.local(0);
  k.while_([&] { return zr * zr + zi * zi <= 4.0 && t < most; },
           [&] {
             const Expression next = zr * zr - zi * zi + cr;
             zi = 2.0 * zr * zi + ci;
             zr = next;
             t += 1;
           });
  C(i, j) = t;
  k.record();
  const auto result = values<std::int64_t>(counts);
  for (std::int64_t p = 0; p < n; ++p)
    for (std::int64_t q = 0; q < n; ++q) {
      const double a = -2.0 + static_cast<double>(p) * (3.0 / n),
                   b = -1.5 + static_cast<double>(q) * (3.0 / n);
      double x = 0, y = 0;
      std::int64_t count = 0;
      while (x * x + y * y <= 4.0 && count < most) {
        const double next = x * x - y * y + a;
        y = 2.0 * x * y + b;
        x = next;
        ++count;
      }
      ASSERT_EQ(result[static_cast<std::size_t>(p * n + q)], count) << p << " " << q;
    }
}

TEST_P(Kernels, an_inner_loop_makes_a_matrix_vector_product) {
  auto m = ramp(rows * columns), x = ramp(columns);
  const Array a = array_of(m, {rows, columns}), b = array_of(x, {columns}),
              y = empty(std::vector<std::int64_t>{rows}, DType::Float64);
  KernelBuilder k({rows});
  const auto A = k.input(a), B = k.input(b), Y = k.output(y);
  const auto i = k.axis(0);
  const auto s = k.local(0.0);
  k.loop(0, A.extent(1), [&](Expression t) { s += A(i, t) * B(t); });
  Y(i) = s;
  k.record();
  const auto result = values<double>(y);
  for (std::int64_t p = 0; p < rows; ++p) {
    double sum = 0;
    for (std::int64_t t = 0; t < columns; ++t) sum += at(m, p, t) * x[static_cast<std::size_t>(t)];
    ASSERT_EQ(result[static_cast<std::size_t>(p)], sum);
  }
}

TEST_P(Kernels, bounds_of_a_loop_may_differ_from_point_to_point) {
  constexpr std::int64_t n = 300;
  const auto x = ramp(n);
  const Array a = array_of(x, {n}), y = zeros({n});
  KernelBuilder k({n});
  const auto A = k.input(a), Y = k.output(y);
  const auto i = k.axis(0);
  const auto s = k.local(0.0);
  k.loop(0, i + 1, [&](Expression t) { s += A(t); });
  Y(i) = s;
  k.record();
  const auto result = values<double>(y);
  double sum = 0;
  for (std::size_t p = 0; p < n; ++p) ASSERT_EQ(result[p], sum += x[p]);
}

TEST_P(Kernels, rows_are_written_by_inner_loops) {
  auto m = ramp(rows * columns);
  const Array a = array_of(m, {rows, columns}), y = empty(a.shape(), DType::Float64);
  KernelBuilder k({rows});
  const auto A = k.input(a), Y = k.inout(y);
  const auto i = k.axis(0);
  const auto s = k.local(0.0);
  k.loop(0, columns, [&](Expression t) {
    s += A(i, t);
    Y(i, t) = s;
  });
  k.loop(0, columns, [&](Expression t) { Y(i, t) /= s; });
  k.record();
  const auto result = values<double>(y);
  for (std::int64_t p = 0; p < rows; ++p) {
    std::vector<double> sums;
    double sum = 0;
    for (std::int64_t t = 0; t < columns; ++t) sums.push_back(sum += at(m, p, t));
    for (std::int64_t t = 0; t < columns; ++t)
      ASSERT_EQ(result[static_cast<std::size_t>(p * columns + t)],
                sums[static_cast<std::size_t>(t)] / sum);
  }
}

// ---- fusion -------------------------------------------------------------------------------------

TEST_P(Kernels, a_kernel_between_two_expressions_is_one_launch_without_temporaries) {
  constexpr std::int64_t n = 40'000;
  const auto x = ramp(n);
  const Array a = array_of(x, {n});
  eval();
  reset_statistics();
  Array z;
  {
    const Array before = a * 2.0 + 1.0;
    const Array made = empty(a.shape(), DType::Float64);
    KernelBuilder k({n});
    const auto B = k.input(before), M = k.output(made);
    const auto i = k.axis(0);
    const auto s = k.local(B(i));
    k.if_(B(i) > 3.0, [&] { s = B(i) * 0.5; });
    M(i) = s;
    k.record();
    z = made - 1.0;
  }
  EXPECT_EQ(launches(), 0);
  const auto result = values<double>(z);
  EXPECT_EQ(launches(), 1);
  EXPECT_EQ(statistics().bytes_peak - statistics().bytes_live, 0);
  for (std::size_t p = 0; p < n; ++p) {
    const double b = x[p] * 2.0 + 1.0;
    ASSERT_EQ(result[p], (b > 3.0 ? b * 0.5 : b) - 1.0);
  }
}

TEST_P(Kernels, stores_under_conditions_fuse_through_memory) {
  constexpr std::int64_t n = 40'000;
  const auto x = ramp(n);
  const Array a = array_of(x, {n});
  eval();
  reset_statistics();
  Array z;
  {
    const Array b = a + 1.0;
    KernelBuilder k({n});
    const auto B = k.inout(b);
    const auto i = k.axis(0);
    k.if_(B(i) > 3.0, [&] { B(i) = 100.0; });
    k.record();
    z = b * 2.0;
  }
  const auto result = values<double>(z);
  EXPECT_EQ(launches(), 1);
  for (std::size_t p = 0; p < n; ++p)
    ASSERT_EQ(result[p], (x[p] + 1.0 > 3.0 ? 100.0 : x[p] + 1.0) * 2.0);
}

TEST_P(Kernels, a_kernel_that_reads_through_memory_sees_what_the_one_before_it_made) {
  const Array x = array_of(ramp(6), {6});
  KernelBuilder first({});
  const auto X = first.output(x);
  X(4) = first.scalar(-0.25);
  first.record();
  KernelBuilder second({});
  const auto Y = second.inout(x);
  second.loop(0, 3, [&](Expression) { Y(1) = 7.0; });
  Y(2) = Y(4);
  second.record();
  auto expected = ramp(6);
  expected[1] = 7.0;
  expected[2] = expected[4] = -0.25;
  EXPECT_EQ(values<double>(x), expected);
}

TEST_P(Kernels, a_sum_of_a_kernels_values_is_folded_where_they_are_made) {
  constexpr std::int64_t n = 100'003;
  const auto x = ramp(n);
  const Array a = array_of(x, {n});
  const double expected = value<double>(sum(a * a + 1.0));
  eval();
  reset_statistics();
  KernelBuilder k({n});
  const auto A = k.input(a);
  const auto i = k.axis(0);
  const auto total = k.reduce(Op::Add, A(i) * A(i) + 1.0);
  const auto top = k.reduce(Op::Maximum, A(i));
  EXPECT_THROW(total.array(), ValueError);
  k.record();
  EXPECT_EQ(value<double>(total.array()), expected);
  EXPECT_EQ(launches(), 1);
  EXPECT_EQ(value<double>(top.array()), *std::max_element(x.begin(), x.end()));
}

TEST_P(Kernels, rows_of_a_kernel_are_reduced_and_used_again) {
  auto x = ramp(rows * columns);
  const Array a = array_of(x, {rows, columns});
  eval();
  reset_statistics();
  const Array w = empty(a.shape(), DType::Float64);
  KernelBuilder k({rows, columns});
  const auto A = k.input(a), W = k.output(w);
  const auto i = k.axis(0), j = k.axis(1);
  W(i, j) = where(j < 3, A(i, j), A(i, j) * A(i, j));
  const auto tops = k.reduce(Op::Maximum, A(i, j), {1});
  k.record();
  const int axis[1] = {1};
  const Array sums = reduce(Op::Add, w, {.axes = axis, .all_axes = false, .keepdims = true});
  const auto result = values<double>(w / sums);
  EXPECT_EQ(launches(), 1);
  const auto top = values<double>(tops.array());
  const auto total = values<double>(sum(w, 1));
  for (std::int64_t p = 0; p < rows; ++p) {
    EXPECT_EQ(top[static_cast<std::size_t>(p)],
              *std::max_element(&at(x, p, 0), &at(x, p, 0) + columns));
    for (std::int64_t q = 0; q < columns; ++q) {
      const double v = q < 3 ? at(x, p, q) : at(x, p, q) * at(x, p, q);
      ASSERT_EQ(result[static_cast<std::size_t>(p * columns + q)],
                v / total[static_cast<std::size_t>(p)]);
    }
  }
}

TEST_P(Kernels, another_scalar_or_size_needs_no_other_code) {
  wait_for_compiler();  // with what other tests have left to it
  flush_caches();
  std::int64_t compiled = 0;
  for (int round = 0; round < 3; ++round) {
    const std::int64_t n = 200 + 100 * (round == 2);
    const auto x = ramp(static_cast<std::size_t>(n));
    const Array a = array_of(x, {n}), y = zeros({n});
    eval();
    reset_statistics();
    const double factor = 2.5 + round;
    KernelBuilder k({n - 1});
    const auto A = k.input(a), Y = k.output(y);
    const auto i = k.axis(0);
    const auto s = k.local(0.0);
    k.loop(0, n - 100, [&](Expression t) { s += A(t); });
    Y(i) = A(i + 1) * k.scalar(factor) + s;
    k.record();
    const auto result = values<double>(y);
    double sum = 0;
    for (std::int64_t t = 0; t < n - 100; ++t) sum += x[static_cast<std::size_t>(t)];
    for (std::size_t p = 0; p + 1 < static_cast<std::size_t>(n); ++p)
      ASSERT_EQ(result[p], x[p + 1] * factor + sum);
    EXPECT_EQ(statistics().plan_misses, round == 1 ? 0 : 1) << round;
    if (GetParam() == Tier::Compiled) {
      const Statistics now = statistics();
      EXPECT_EQ(now.compiled_launches, 1);
      if (round == 0) compiled = now.kernels_compiled + now.kernels_loaded;
      EXPECT_GT(compiled, 0);
      EXPECT_EQ(now.kernels_compiled + now.kernels_loaded, compiled);
    }
  }
}

// ---- indices ------------------------------------------------------------------------------------

TEST_P(Kernels, computed_indices_gather) {
  constexpr std::int64_t n = 1000, m = 77;
  const auto x = ramp(m);
  std::vector<std::int32_t> index(n);
  for (std::size_t k = 0; k < n; ++k) index[k] = static_cast<std::int32_t>((k * 31 + 5) % m);
  const Array u = array_of(x, {m}), idx = array_of(index, {n}), v = zeros({n});
  KernelBuilder k({n});
  const auto U = k.input(u), I = k.input(idx), V = k.output(v);
  V(k.axis(0)) = U(I(k.axis(0)));
  k.record();
  EXPECT_TRUE(is_pending(v));
  const auto result = values<double>(v);
  for (std::size_t p = 0; p < n; ++p) ASSERT_EQ(result[p], x[static_cast<std::size_t>(index[p])]);
}

TEST_P(Kernels, an_index_that_leaves_its_array_is_an_error_and_touches_nothing) {
  constexpr std::int64_t n = 100;
  std::vector<std::int64_t> index(n);
  for (std::int64_t k = 0; k < n; ++k) index[static_cast<std::size_t>(k)] = k;
  index[40] = 100;
  index[41] = -1;
  const Array all = zeros({n + 20}), v = part(all, 10, n), idx = array_of(index, {n}),
              u = array_of(ramp(n), {n});
  KernelBuilder k({n});
  const auto U = k.input(u), I = k.input(idx), V = k.inout(v);
  V(I(k.axis(0))) = U(I(k.axis(0))) + 7.0;
  EXPECT_THROW(k.record(), IndexError);
  EXPECT_EQ(values<double>(all), std::vector<double>(n + 20, 0.0));
}

TEST_P(Kernels, indices_from_locals_are_held_inside) {
  constexpr std::int64_t n = 64;
  const auto x = ramp(n);
  const Array u = array_of(x, {n}), v = zeros({n});
  const auto chase = [&](std::int64_t steps) {
    KernelBuilder k({n});
    const auto U = k.input(u), V = k.output(v);
    const auto at_ = k.local(k.axis(0));
    k.loop(0, steps, [&](Expression) { at_ = at_ + 1; });
    k.if_(at_ < n || k.axis(0) < 2, [&] { V(k.axis(0)) = U(at_); });
    k.record();
  };
  chase(3);
  const auto result = values<double>(v);
  for (std::size_t p = 0; p < n; ++p) ASSERT_EQ(result[p], p + 3 < n ? x[p + 3] : 0.0);
  EXPECT_THROW(chase(63), IndexError);
}

TEST_P(Kernels, a_histogram_counts_in_order) {
  constexpr std::int64_t n = 5000, bins = 13;
  std::vector<std::int64_t> index(n), expected(bins, 0);
  for (std::size_t k = 0; k < n; ++k)
    ++expected[static_cast<std::size_t>(index[k] = static_cast<std::int64_t>(k * k % bins))];
  const Array idx = array_of(index, {n}), counts = zeros({bins}, DType::Int64);
  KernelBuilder k({n});
  const auto I = k.input(idx), C = k.inout(counts);
  const Expression bin = I(k.axis(0));
  C(bin) += 1;
  k.record();
  EXPECT_EQ(values<std::int64_t>(counts), expected);
}

TEST_P(Kernels, a_histogram_of_floats_of_any_size_is_exact_where_floats_are) {
  constexpr std::int64_t n = 200000, bins = 13;
  std::vector<std::int64_t> index(n);
  std::vector<double> weight(n), sums(bins, 3), least(bins, 3), largest(bins, 3);
  for (std::size_t k = 0; k < n; ++k) {
    const auto bin = static_cast<std::size_t>(index[k] = static_cast<std::int64_t>(k * k % bins));
    weight[k] = k % 997 == 0 ? static_cast<double>(k % 5) - 2 : 0.0;
    sums[bin] += weight[k];
    least[bin] = std::min(least[bin], weight[k]);
    largest[bin] = std::max(largest[bin], weight[k]);
  }
  for (DType dtype : {DType::Float16, DType::Float32, DType::Float64}) {
    const Array idx = array_of(index, {n}), w = astype(array_of(weight, {n}), dtype);
    const auto threes = [&] { return astype(zeros({bins}, DType::Float64) + 3.0, dtype); };
    const Array a = threes(), b = threes(), c = threes();
    KernelBuilder k({n});
    const auto I = k.input(idx), W = k.input(w), A = k.inout(a), B = k.inout(b), C = k.inout(c);
    const Expression bin = I(k.axis(0)), x = W(k.axis(0));
    A(bin) += x;
    const Expression low = B(bin), high = C(bin);
    B(bin) = where(x < low, x, low);
    C(bin) = where(high < x, x, high);
    k.record();
    EXPECT_EQ(values<double>(astype(a, DType::Float64)), sums) << info(dtype).name;
    EXPECT_EQ(values<double>(astype(b, DType::Float64)), least) << info(dtype).name;
    EXPECT_EQ(values<double>(astype(c, DType::Float64)), largest) << info(dtype).name;
  }
}

TEST_P(Kernels, points_that_depend_on_one_another_run_in_order) {
  auto x = ramp(rows * columns);
  const Array u = array_of(x, {rows, columns});
  KernelBuilder k({rows - 1, columns - 1});
  const auto U = k.inout(u);
  const auto i = k.axis(0) + 1, j = k.axis(1) + 1;
  U(i, j) = 0.5 * (U(i - 1, j) + U(i, j - 1));
  k.record();
  for (std::int64_t p = 1; p < rows; ++p)
    for (std::int64_t q = 1; q < columns; ++q)
      at(x, p, q) = 0.5 * (at(x, p - 1, q) + at(x, p, q - 1));
  EXPECT_EQ(values<double>(u), x);
}

TEST_P(Kernels, an_input_is_read_as_it_was_even_where_it_is_written) {
  constexpr std::int64_t n = 5000;
  for (const std::int64_t shift : {0, 1, 3}) {
    const auto x = ramp(n);
    const Array base = array_of(x, {n}), u = part(base, 0, n - shift),
                v = part(base, shift, n - shift);
    KernelBuilder k({n - shift});
    const auto U = k.input(u), V = k.output(v);
    const auto i = k.axis(0);
    V(i) = U(i) * 2.0;
    V(i) = U(i) + 1.0;
    k.record();
    const auto result = values<double>(base);
    for (std::int64_t p = 0; p < n; ++p)
      ASSERT_EQ(
          result[static_cast<std::size_t>(p)],
          p < shift ? x[static_cast<std::size_t>(p)] : x[static_cast<std::size_t>(p - shift)] + 1.0)
          << shift;
  }
}

TEST_P(Kernels, array_operations_around_a_kernel_keep_program_order) {
  constexpr std::int64_t n = 30'000;
  const auto x = ramp(n);
  const Array u = array_of(x, {n}), y = empty(u.shape(), DType::Float64);
  {
    const Array before = u + 0.0;
    KernelBuilder k({n - 1});
    const auto U = k.input(u), Y = k.output(y), B = k.inout(before);
    const auto i = k.axis(0);
    Y(i) = U(i + 1) + B(i);
    B(i) = 1.0;
    k.record();
    u *= 0.0;
    assign(part(y, n - 1, 1), 0.0);
    part(y, 0, n - 1) += part(before, 0, n - 1);
  }
  const auto result = values<double>(y);
  for (std::size_t p = 0; p + 1 < n; ++p) ASSERT_EQ(result[p], x[p + 1] + x[p] + 1.0);
  for (const double v : values<double>(u)) ASSERT_EQ(v, 0.0);
}

TEST_P(Kernels, transposed_windows_and_smaller_types) {
  std::vector<float> x(rows * columns);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k) * 0.5f;
  const Array a = array_of(x, {rows, columns});
  const int axes[2] = {1, 0};
  const Array t = transpose(a, axes), y = empty(t.shape(), DType::Int32);
  KernelBuilder k({columns, rows});
  const auto T = k.input(t), Y = k.output(y);
  const auto i = k.axis(0), j = k.axis(1);
  Y(i, j) = cast(T(i, j) * 2.0 + 1, DType::Int32);
  k.record();
  const auto result = values<std::int32_t>(y);
  for (std::int32_t p = 0; p < columns; ++p)
    for (std::int32_t q = 0; q < rows; ++q)
      ASSERT_EQ(result[static_cast<std::size_t>(p * rows + q)], q * columns + p + 1);
}

TEST_P(Kernels, no_axes_and_no_points) {
  const Array y = zeros({3});
  KernelBuilder one({});
  const auto Y = one.output(y);
  Y(1) = 5.0;
  one.record();
  KernelBuilder none({0});
  const auto Z = none.output(y);
  Z(none.axis(0)) = 9.0;
  none.record();
  EXPECT_EQ(values<double>(y), (std::vector<double>{0.0, 5.0, 0.0}));
}

// ---- errors -------------------------------------------------------------------------------------

TEST(KernelErrors, numbers_beyond_int64_are_refused) {
  KernelBuilder k({4});
  EXPECT_THROW(k.scalar(UINT64_MAX), ValueError);
  EXPECT_THROW(k.local(UINT64_MAX), ValueError);
  EXPECT_THROW(k.axis(0) + UINT64_MAX, ValueError);
  EXPECT_EQ(k.scalar(std::uint64_t{5}).dtype(), DType::Int64);
}

TEST(KernelErrors, are_thrown_where_the_mistake_is_written) {
  const Array a = zeros({4, 5}), row = zeros({5}), flags = zeros({5}, DType::Bool);
  const auto message = [](auto&& mistake) -> std::string {
    KernelBuilder k({4, 5});
    try {
      mistake(k);
    } catch (const IndexError& e) {
      return std::string("IndexError: ") + e.what();
    } catch (const TypeError& e) {
      return std::string("TypeError: ") + e.what();
    } catch (const ValueError& e) {
      return std::string("ValueError: ") + e.what();
    }
    return "";
  };
  using K = KernelBuilder&;
  EXPECT_EQ(
      message([&](K k) { static_cast<void>(static_cast<Expression>(k.input(a)(k.axis(0)))); }),
      "IndexError: load: 1 indices for an array of 2 dimensions");
  EXPECT_EQ(message([&](K k) { k.axis(2); }), "IndexError: axis: number 2 of a kernel with 2 axes");
  EXPECT_EQ(message([&](K k) {
              static_cast<void>(static_cast<Expression>(k.input(row)(k.scalar(1.5))));
            }),
            "TypeError: load: index 0 is float64, not an integer: cast(x, DType::Int64)");
  EXPECT_EQ(
      message([&](K k) { k.input(row).store({k.axis(1)}, 1.0); }),
      "ValueError: store: the array was given as input, which is only read: use output or inout");
  EXPECT_EQ(
      message([&](K k) { static_cast<void>(static_cast<Expression>(k.output(row)(k.axis(1)))); }),
      "ValueError: load: the array was given as output, which is only written: use inout");
  EXPECT_EQ(message([&](K k) { k.output(flags).store({k.axis(1)}, k.scalar(1.5)); }),
            "TypeError: store: float64 does not go into bool without a cast: cast(x, DType::..)");
  EXPECT_EQ(message([&](K k) { k.if_(k.axis(0), [] {}); }),
            "TypeError: if_: the condition is int64, not bool: compare it");
  EXPECT_EQ(message([&](K k) { k.loop(0, k.scalar(2.0), [](Expression) {}); }),
            "TypeError: loop: a bound is float64, not an integer");
  EXPECT_EQ(message([&](K k) { static_cast<void>(k.scalar(2.0) << 1); }),
            "TypeError: LeftShift: not possible in a kernel for float64, int64; cast the operands");
  EXPECT_EQ(message([&](K k) {
              Expression inside = 0;
              k.loop(0, 2, [&](Expression t) { inside = t + 1; });
              (void)(inside + 1);
            }),
            "ValueError: KernelBuilder: a value made inside a loop_, if_ or while_ is used outside "
            "of it: keep it in a local");
  EXPECT_EQ(message([&](K k) {
              KernelBuilder other({2});
              (void)(k.axis(0) + other.axis(0));
            }),
            "ValueError: KernelBuilder: a value of another kernel");
  EXPECT_EQ(message([&](K k) {
              k.output(row).store({k.axis(1) + 1}, 1.0);
              k.record();
            }),
            "IndexError: index 1 to 5 is out of bounds for axis 0 with size 5 of array 0 in a "
            "kernel: put a condition around the access, or launch over fewer points");
  EXPECT_EQ(message([&](K k) {
              k.record();
              k.record();
            }),
            "ValueError: KernelBuilder: the kernel has been recorded; make a new one");
  EXPECT_EQ(
      message([&](K k) {
        try {
          k.loop(0, 2, [&](Expression) { throw std::runtime_error("mine"); });
        } catch (const std::runtime_error&) {
        }
        k.record();
      }),
      "ValueError: KernelBuilder: an error stopped the writing of this kernel; make a new one");
  EXPECT_THROW(KernelBuilder({-1}), ValueError);
}

}  // namespace
}  // namespace frit
