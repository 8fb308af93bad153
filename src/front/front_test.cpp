// front_test.cpp: programs as a C++ user writes them: values, mutation, fusion, plan cache.
#include "front/common.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/memory.h"
#include "front/testing_tiers.h"
#include "ir/neutral.h"

namespace frit {
namespace {

using Shape = std::vector<std::int64_t>;

Array array_of(const std::vector<double>& values, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  const Array a = empty(shape, DType::Float64);
  std::byte* data = begin_export(a);
  std::memcpy(data, values.data(), values.size() * sizeof(double));
  end_export(a.base());
  return a;
}

std::vector<double> values_of(const Array& a) {
  const Array dense =
      a.c_contiguous() && a.dtype() == DType::Float64 ? a : astype(a, DType::Float64, 'C');
  const auto* p = reinterpret_cast<const double*>(read(dense));
  return {p, p + dense.size()};
}

std::vector<double> ramp(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t k = 0; k < n; ++k)
    v[k] = std::sin(static_cast<double>(k)) * 3 + 0.25 * static_cast<double>(k % 17);
  return v;
}

Array row_window(const Array& a, std::int64_t start, std::int64_t count, std::int64_t step = 1) {
  const AxisSlice s{.start = start, .step = step, .count = count};
  return slice(a, {&s, 1});
}

class EachTier : public OnEachTier {};
INSTANTIATE_TEST_SUITE_P(Tiers, EachTier, both_tiers(), tier_name);

constexpr std::size_t large = 100'003;

TEST_P(EachTier, a_chain_of_elementwise_ops_is_one_kernel_without_temporaries) {
  const auto x = ramp(large);
  const Array a = array_of(x);
  Array y;
  {
    const Array b = apply(Op::Multiply, {a, 2.0});
    const Array c = apply(Op::Add, {b, 1.0});
    y = apply(Op::Sqrt, {apply(Op::Multiply, {c, c})});
  }
  const auto before = statistics();
  const auto result = values_of(y);
  const auto after = statistics();
  EXPECT_EQ(after.interpreted_launches + after.compiled_launches - before.interpreted_launches -
                before.compiled_launches,
            1);
  for (std::size_t k = 0; k < large; ++k) {
    const double c = x[k] * 2.0 + 1.0;
    ASSERT_EQ(result[k], std::sqrt(c * c));
  }
}

TEST_P(EachTier, a_later_write_does_not_reach_an_earlier_read) {
  for (std::size_t n : {std::size_t{10}, large}) {
    const Array x = array_of(ramp(n));
    const Array y = apply(Op::Add, {x, 1.0});
    assign(row_window(x, 0, 1), 5.0);
    const Array z = apply(Op::Add, {x, 1.0});
    EXPECT_EQ(values_of(y)[0], ramp(n)[0] + 1);
    EXPECT_EQ(values_of(z)[0], 6.0);
  }
}

TEST_P(EachTier, overlapping_windows_in_place_see_the_old_values) {
  for (std::size_t n : {std::size_t{10}, large}) {
    const auto x = ramp(n);
    const auto count = static_cast<std::int64_t>(n) - 1;
    const Array a = array_of(x);
    const Array tail = row_window(a, 1, count), head = row_window(a, 0, count);
    apply(Op::Add, {tail, head}, {.out = &tail});
    const auto result = values_of(a);
    EXPECT_EQ(result[0], x[0]);
    for (std::size_t k = 1; k < n; ++k) ASSERT_EQ(result[k], x[k] + x[k - 1]);
  }
}

TEST_P(EachTier, a_stencil_in_place_in_a_loop_is_one_kernel_a_round_and_one_plan) {
  constexpr std::int64_t rows = 400, columns = 300;
  auto x = ramp(rows * columns);
  const Array u = array_of(x, {rows, columns});
  const auto inner = [&](std::int64_t di, std::int64_t dj) {
    const AxisSlice s[2] = {{.start = 1 + di, .step = 1, .count = rows - 2},
                            {.start = 1 + dj, .step = 1, .count = columns - 2}};
    return slice(u, s);
  };
  const auto round = [&] {
    const Array center = inner(0, 0);
    const Array sum = apply(Op::Add, {apply(Op::Add, {inner(-1, 0), inner(1, 0)}),
                                      apply(Op::Add, {inner(0, -1), inner(0, 1)})});
    const Array change =
        apply(Op::Multiply, {apply(Op::Subtract, {sum, apply(Op::Multiply, {center, 4.0})}), 0.1});
    apply(Op::Add, {center, change}, {.out = &center});
    eval();
  };
  reset_statistics();
  constexpr int rounds = 5;
  for (int k = 0; k < rounds; ++k) round();
  const auto s = statistics();
  EXPECT_EQ(s.interpreted_launches + s.compiled_launches, rounds);
  EXPECT_EQ(s.plan_misses, 1);
  EXPECT_EQ(s.plan_hits, rounds - 1);
  for (int t = 0; t < rounds; ++t) {
    auto old = x;
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return old[static_cast<std::size_t>(i * columns + j)];
    };
    for (std::int64_t i = 1; i + 1 < rows; ++i)
      for (std::int64_t j = 1; j + 1 < columns; ++j) {
        const double sum = (at(i - 1, j) + at(i + 1, j)) + (at(i, j - 1) + at(i, j + 1));
        x[static_cast<std::size_t>(i * columns + j)] = at(i, j) + (sum - at(i, j) * 4.0) * 0.1;
      }
  }
  EXPECT_EQ(values_of(u), x);
}

double pairwise(const double* a, std::int64_t n) {
  if (n < 8) {
    double s = -0.0;
    for (std::int64_t k = 0; k < n; ++k) s += a[k];
    return s;
  }
  if (n <= 128) {
    double r[8];
    for (int k = 0; k < 8; ++k) r[k] = a[k];
    std::int64_t i = 8;
    for (; i < n - n % 8; i += 8)
      for (int k = 0; k < 8; ++k) r[k] += a[i + k];
    double s = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) s += a[i];
    return s;
  }
  std::int64_t half = n / 2;
  half -= half % 8;
  return pairwise(a, half) + pairwise(a + half, n - half);
}

TEST_P(EachTier, sums_have_numpys_order_whatever_the_size) {
  for (std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{5000},
                        std::size_t{32769}, large, std::size_t{1'234'567}}) {
    const auto x = ramp(n);
    const Array a = array_of(x);
    auto scaled = x;
    for (double& v : scaled) v *= 1.5;
    EXPECT_EQ(values_of(reduce(Op::Add, a))[0], pairwise(x.data(), static_cast<std::int64_t>(n)))
        << n;
    EXPECT_EQ(values_of(reduce(Op::Add, apply(Op::Multiply, {a, 1.5})))[0],
              pairwise(scaled.data(), static_cast<std::int64_t>(n)))
        << n;
  }
}

TEST_P(EachTier, a_row_softmax_is_one_kernel) {
  constexpr std::int64_t rows = 200, columns = 333;
  const auto x = ramp(rows * columns);
  const Array a = array_of(x, {rows, columns});
  const int axis[1] = {1};
  const ReduceOptions by_row{.axes = axis, .all_axes = false, .keepdims = true};
  Array y;
  {
    const Array shifted = apply(Op::Subtract, {a, reduce(Op::Maximum, a, by_row)});
    const Array doubled = apply(Op::Multiply, {shifted, shifted});
    y = apply(Op::TrueDivide, {doubled, reduce(Op::Add, doubled, by_row)});
  }
  reset_statistics();
  const auto result = values_of(y);
  const auto s = statistics();
  EXPECT_EQ(s.interpreted_launches + s.compiled_launches, 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double> row(x.begin() + i * columns, x.begin() + (i + 1) * columns);
    const double top = *std::max_element(row.begin(), row.end());
    for (double& v : row) v = (v - top) * (v - top);
    const double sum = pairwise(row.data(), columns);
    for (std::int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(result[static_cast<std::size_t>(i * columns + j)],
                row[static_cast<std::size_t>(j)] / sum);
  }
}

TEST_P(EachTier, reductions_over_each_axis_of_three) {
  const Shape shape{17, 40, 23};
  const auto x = ramp(17 * 40 * 23);
  const Array a = array_of(x, shape);
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return x[static_cast<std::size_t>((i * 40 + j) * 23 + k)];
  };
  for (int axis = 0; axis < 3; ++axis) {
    const int axes[1] = {axis};
    const auto sums = values_of(reduce(Op::Add, a, {.axes = axes, .all_axes = false}));
    const auto tops = values_of(reduce(Op::Maximum, a, {.axes = axes, .all_axes = false}));
    std::size_t where = 0;
    const std::int64_t kept[2] = {axis == 0 ? 40 : 17, axis == 2 ? 40 : 23};
    for (std::int64_t p = 0; p < kept[0]; ++p)
      for (std::int64_t q = 0; q < kept[1]; ++q, ++where) {
        std::vector<double> lane;
        for (std::int64_t r = 0; r < shape[static_cast<std::size_t>(axis)]; ++r)
          lane.push_back(axis == 0 ? at(r, p, q) : axis == 1 ? at(p, r, q) : at(p, q, r));
        double sum = lane[0];
        if (axis == 2)
          sum = pairwise(lane.data(), 23);
        else
          for (std::size_t r = 1; r < lane.size(); ++r) sum += lane[r];
        ASSERT_EQ(sums[where], sum) << axis;
        ASSERT_EQ(tops[where], *std::max_element(lane.begin(), lane.end()));
      }
  }
}

TEST_P(EachTier, an_export_settles_what_was_recorded_and_sees_what_comes) {
  const auto x = ramp(large);
  const Array f = array_of(x);
  const Array y = apply(Op::Add, {f, 1.0});
  auto* n = reinterpret_cast<double*>(begin_export(f));
  n[0] = 5;
  EXPECT_EQ(values_of(y)[0], x[0] + 1);
  const Array z = apply(Op::Add, {f, 1.0});
  n[0] = 7;
  EXPECT_EQ(values_of(z)[0], 6.0);
  end_export(f.base());
}

TEST_P(EachTier, transposed_in_place_addition_buffers) {
  constexpr std::int64_t n = 200;
  const auto x = ramp(n * n);
  const Array a = array_of(x, {n, n});
  const int axes[2] = {1, 0};
  const Array t = transpose(a, axes);
  apply(Op::Add, {a, t}, {.out = &a});
  const auto result = values_of(a);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(result[i * n + j], x[i * n + j] + x[j * n + i]);
}

TEST_P(EachTier, masked_ops_write_only_where_the_mask_is_true) {
  const auto x = ramp(large);
  const Array a = array_of(x);
  const Array positive = apply(Op::Greater, {a, 0.0});
  const Array out = array_of(std::vector<double>(large, -1.0));
  apply(Op::Sqrt, {a}, {.out = &out, .where = &positive});
  const auto result = values_of(out);
  for (std::size_t k = 0; k < large; ++k) ASSERT_EQ(result[k], x[k] > 0 ? std::sqrt(x[k]) : -1.0);
}

// Row steps and whole rows are the same elements here, so that their writes must not change places.
TEST_P(EachTier, rows_of_one_element_are_written_in_program_order) {
  constexpr std::int64_t n = 5000;
  for (const Shape& shape : {Shape{n, 1}, Shape{1, n}, Shape{n, 1, 1}, Shape{1, n, 1}}) {
    std::vector<int> ones;
    std::vector<AxisSlice> line(shape.size(), {.count = n});
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (shape[k] == 1) {
        ones.push_back(static_cast<int>(k));
        line[k] = {.start = 0, .step = 1, .count = -1};
      }
    const auto x = ramp(n);
    const Array a = array_of(x, shape), flat = slice(a, line);
    const Array rows = reduce(Op::Add, a, {.axes = ones, .all_axes = false, .keepdims = true});
    const Array sums = reduce(Op::Add, a, {.axes = ones, .all_axes = false});
    apply(Op::Add, {flat, sums}, {.out = &flat});      // 2 x
    apply(Op::Multiply, {a, rows}, {.out = &a});       // 2 x x
    apply(Op::Subtract, {flat, 1.0}, {.out = &flat});  // 2 x x - 1
    apply(Op::Multiply, {a, 0.5}, {.out = &a});        // x x - 0.5
    const Array again = reduce(Op::Add, a, {.axes = ones, .all_axes = false});
    apply(Op::Add, {a, apply(Op::Negative, {rows})}, {.out = &a});
    const auto result = values_of(a), sum = values_of(again);
    for (std::size_t k = 0; k < n; ++k) {
      const double product = ((x[k] + x[k]) * x[k] - 1.0) * 0.5;
      ASSERT_EQ(sum[k], product);
      ASSERT_EQ(result[k], product - x[k]);
    }
  }
}

TEST_P(EachTier, a_loop_without_reads_holds_constant_memory) {
  const Array a = array_of(ramp(20'000));
  eval();
  reset_statistics();
  const auto before = statistics().bytes_live;
  for (int k = 0; k < 20'000; ++k) apply(Op::Multiply, {a, 1.0001}, {.out = &a});
  eval();
  EXPECT_LE(statistics().bytes_peak - before, 1 << 20);
}

// Every window that fits into a few elements, and many that do not: with a fresh window in between
// and without.
TEST(AssignWindow, writes_what_assign_writes_to_the_window) {
  const auto outcome = [](const auto& write) {
    const Array target = array_of(ramp(12));
    try {
      write(target);
    } catch (const ValueError& error) {
      return std::pair(values_of(target), std::string(error.what()));
    }
    return std::pair(values_of(target), std::string());
  };
  const Array column = array_of({1, 2, 3}, {3, 1}), row = array_of({7, 8}), one = array_of({5});
  const Array pending = apply(Op::Add, {array_of(ramp(5000)), Argument(1.0)});
  const std::int64_t of_row[1] = {2}, dense[1] = {8};
  const Array later = window(pending, of_row, dense, 0, DType::Float64);
  const Array narrow = astype(row, DType::Float32);
  const Argument values[] = {Scalar::of(DType::Float64, 9.0),
                             Scalar::of(DType::Int64, 4L),
                             column,
                             row,
                             one,
                             later,
                             narrow};
  for (const Argument& value : values)
    for (std::int64_t rows : {0, 1, 2, 3})
      for (std::int64_t columns : {0, 1, 2, 5})
        for (std::int64_t row_stride : {-32, 0, 4, 16, 40})
          for (std::int64_t stride : {-16, 0, 8, 16})
            for (std::int64_t offset : {-8, 0, 40, 96}) {
              const std::int64_t shape[2] = {rows, columns}, strides[2] = {row_stride, stride};
              EXPECT_EQ(
                  outcome([&](const Array& a) { assign_window(a, shape, strides, offset, value); }),
                  outcome([&](const Array& a) {
                    assign(window(a, shape, strides, offset, DType::Float64), value);
                  }))
                  << rows << ' ' << columns << ' ' << row_stride << ' ' << stride << ' ' << offset;
            }
}

TEST(AssignWindow, waits_for_readers_and_for_its_own_elements) {
  const Array a = array_of(ramp(5000));
  const double first = ramp(5000)[0];
  const Array sum = apply(Op::Add, {a, Argument(1.0)});  // not computed yet
  const std::int64_t shape[1] = {4}, strides[1] = {8}, backwards[1] = {-8};
  assign_window(a, shape, strides, 0, Scalar::of(DType::Float64, -1.0));
  EXPECT_EQ(values_of(sum)[0], first + 1);
  EXPECT_EQ(values_of(a)[3], -1.0);
  const Array b = array_of({1, 2, 3, 4});
  assign_window(b, shape, strides, 0, window(b, shape, backwards, 24, DType::Float64));
  EXPECT_EQ(values_of(b), (std::vector<double>{4, 3, 2, 1}));
}

TEST(ApplyBeside, reads_the_callers_memory_at_once_or_does_nothing) {
  const Array x = array_of({1, 2, 3});
  std::vector<double> theirs{10, 20, 30};
  const Array difference = apply_beside(Op::Subtract, x, theirs.data(), 0);
  const Array reversed = apply_beside(Op::Subtract, x, theirs.data(), 1);
  theirs.assign(3, 0);
  EXPECT_EQ(values_of(difference), (std::vector<double>{9, 18, 27}));
  EXPECT_EQ(values_of(reversed), (std::vector<double>{-9, -18, -27}));
  const std::vector<double> many(large);
  EXPECT_FALSE(
      apply_beside(Op::Add, array_of(ramp(large)), many.data(), 1).base());  // would be recorded
  const Array pending = row_window(apply(Op::Add, {array_of(ramp(large)), 1.0}), 0, 3);
  EXPECT_FALSE(apply_beside(Op::Add, pending, many.data(), 1).base());
  EXPECT_FALSE(
      apply_beside(Op::Add, row_window(array_of(ramp(9)), 0, 3, 2), many.data(), 1).base());
  EXPECT_EQ(values_of(pending)[0], ramp(1)[0] + 1);
}

TEST(Trace, a_chain_of_a_million_ops_needs_no_recursion) {
  Array a = array_of(ramp(3000));
  for (int k = 0; k < 1'000'000; ++k) a = apply(Op::Negative, {a});
  EXPECT_EQ(values_of(a), ramp(3000));
}

TEST(Trace, allocation_failure_leaves_the_program_alive) {
  const Array a = array_of(ramp(large));
  const Array y = apply(Op::Add, {a, 1.0});
  memory::fail_after(1);
  EXPECT_THROW(read(y), std::bad_alloc);
  memory::fail_after(0);
  EXPECT_EQ(values_of(y)[1], ramp(large)[1] + 1);
}

}  // namespace
}  // namespace frit
