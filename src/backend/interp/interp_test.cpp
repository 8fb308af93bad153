// interp_test.cpp: the interpreter against plain C++, and against the reference on random kernels.
#include "backend/interp/interp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numeric>
#include <random>
#include <thread>

#include "backend/interp/program.h"
#include "ir/testing.h"
#include "ir/testing_cases.h"
#include "ir/testing_reference.h"

namespace frit {
namespace {

using testing::KernelMaker;
using testing::Launch;

std::shared_ptr<const Executable> compile(const KernelMaker& make) {
  static const std::unique_ptr<Backend> interpreter = make_interpreter();
  return interpreter->compile(make.kernel());
}

template <class T = double>
std::vector<T> random_numbers(std::int64_t n, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& value : x) value = static_cast<T>(normal(random));
  return x;
}
std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

// ---- elementwise --------------------------------------------------------------------------------

// z = (x + y) * x - s
template <class T>
void expect_chain(DType dtype) {
  KernelMaker make;
  const int x = make.operand(dtype), y = make.operand(dtype), z = make.written(dtype);
  const ValueId s = make.scalar_arg(make.scalar(dtype));
  make.parallel_vector([&](ValueId i) {
    const ValueId a = make.load(x, {{i}}), b = make.load(y, {{i}});
    make.store(z, {{i}},
               make.apply(Op::Subtract, make.apply(Op::Multiply, make.apply(Op::Add, a, b), a), s));
  });
  const auto executable = compile(make);
  for (std::int64_t n : {0, 1, 7, 64, 1000, 10007}) {
    std::vector<T> a(at(n)), b(at(n)), got(at(n) + 1, T(77));
    for (std::int64_t k = 0; k < n; ++k) {
      a[at(k)] = static_cast<T>(static_cast<float>(k % 11 - 5));
      b[at(k)] = static_cast<T>(static_cast<float>(k % 7 - 3));
    }
    Launch()
        .pointer(a.data())
        .pointer(b.data())
        .pointer(got.data())
        .scalar(dtype, T(3))
        .run(*executable, 0, n);
    for (std::int64_t k = 0; k < n; ++k) {
      const T sum = static_cast<T>(a[at(k)] + b[at(k)]);
      const T product = static_cast<T>(sum * a[at(k)]);
      ASSERT_EQ(got[at(k)], static_cast<T>(product - T(3)))
          << info(dtype).name << " at " << k << " of " << n;
    }
    EXPECT_EQ(got[at(n)], T(77));
  }
}

TEST(Interpreter, runs_chains_in_every_type) {
  expect_chain<std::int8_t>(DType::Int8);
  expect_chain<std::int16_t>(DType::Int16);
  expect_chain<std::int32_t>(DType::Int32);
  expect_chain<std::int64_t>(DType::Int64);
  expect_chain<std::uint8_t>(DType::UInt8);
  expect_chain<std::uint16_t>(DType::UInt16);
  expect_chain<std::uint32_t>(DType::UInt32);
  expect_chain<std::uint64_t>(DType::UInt64);
  expect_chain<float>(DType::Float32);
  expect_chain<double>(DType::Float64);
  expect_chain<std::complex<float>>(DType::Complex64);
  expect_chain<std::complex<double>>(DType::Complex128);
}

TEST(Interpreter, rounds_float16_after_each_op) {
  KernelMaker make;
  const int x = make.operand(DType::Float16), y = make.written(DType::Float16);
  make.parallel_vector([&](ValueId i) {
    const ValueId a = make.load(x, {{i}});
    make.store(y, {{i}}, make.apply(Op::Subtract, make.apply(Op::Add, a, a), a));
  });
  // 65504 + 65504 is infinite, 1 + 1 - 1 is one; 0x3c00 is 1, 0x7bff the largest.
  const std::vector<std::uint16_t> values = {0x3c00, 0x7bff, 0xbc00, 0x0001};
  std::vector<std::uint16_t> got(values.size());
  Launch().pointer(values.data()).pointer(got.data()).run(*compile(make), 0, 4);
  EXPECT_EQ(got, (std::vector<std::uint16_t>{0x3c00, 0x7c00, 0xbc00, 0x0001}));
}

TEST(Interpreter, follows_any_stride) {
  KernelMaker make;
  const int x = make.operand(DType::Int32), y = make.written(DType::Int32);
  const int from = make.integer(), to = make.integer();
  make.parallel_vector([&](ValueId i) {
    const ValueId value = make.load(x, {{i, from}});
    make.store(y, {{i, to}}, make.apply(Op::Multiply, value, value));
  });
  const auto executable = compile(make);
  constexpr std::int64_t n = 5000, room = 4 * n;
  std::vector<std::int32_t> a(at(2 * room));
  std::iota(a.begin(), a.end(), -20000);
  for (std::int64_t i : {0, 1, -1, 2, -3})
    for (std::int64_t j : {1, -1, 3, -4}) {
      std::vector<std::int32_t> got(at(2 * room)), expected = got;
      for (std::int64_t k = 0; k < n; ++k)
        expected[at(room + j * k)] = a[at(room + i * k)] * a[at(room + i * k)];
      Launch()
          .pointer(&a[at(room)])
          .pointer(&got[at(room)])
          .integer(4 * i)
          .integer(4 * j)
          .run(*executable, 0, n);
      ASSERT_EQ(got, expected) << i << ' ' << j;
    }
}

TEST(Interpreter, copies_elements_that_are_not_aligned) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64),
            step = make.integer();
  make.parallel_vector([&](ValueId i) { make.store(y, {{i, step}}, make.load(x, {{i, step}})); });
  std::vector<char> from(3000), to(3000);
  std::iota(from.begin(), from.end(), 1);
  Launch().pointer(&from[1]).pointer(&to[3]).integer(9).run(*compile(make), 0, 300);
  for (std::size_t k = 0; k < 300; ++k)
    ASSERT_EQ(std::memcmp(&from[1 + 9 * k], &to[3 + 9 * k], 8), 0);
}

TEST(Interpreter, runs_parts_of_the_parallel_loop) {
  KernelMaker make;
  const int y = make.written(DType::Int64);
  make.parallel_vector([&](ValueId i) { make.store(y, {{i}}, make.apply(Op::Multiply, i, i)); });
  std::vector<std::int64_t> got(9000, -1);
  Launch().pointer(got.data()).run(*compile(make), 17, 8000);
  for (std::int64_t k = 0; k < 9000; ++k) ASSERT_EQ(got[at(k)], k >= 17 && k < 8000 ? k * k : -1);
}

TEST(Interpreter, broadcasts_rows_and_columns) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.operand(DType::Float64),
            z = make.written(DType::Float64);
  const int n = make.integer(), row = make.integer();
  const ValueId zero = make.constant(std::int64_t{0}), end = make.integer_arg(n);
  make.parallel([&](ValueId i) {
    make.vector_loop(zero, end, [&](ValueId j) {
      make.store(z, {{i, row}, {j}},
                 make.apply(Op::Subtract, make.load(x, {{i}}), make.load(y, {{j}})));
    });
  });
  const auto executable = compile(make);
  for (std::int64_t columns : {0, 1, 3, 2100}) {
    const std::int64_t rows = 37;
    const auto a = random_numbers(rows), b = random_numbers(columns, 2);
    std::vector<double> got(at(rows * columns));
    Launch()
        .pointer(a.data())
        .pointer(b.data())
        .pointer(got.data())
        .integer(columns)
        .integer(8 * columns)
        .run(*executable, 0, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(got[at(i * columns + j)], a[at(i)] - b[at(j)]);
  }
}

// ---- order of loads and stores ------------------------------------------------------------------

TEST(Interpreter, keeps_a_loaded_value_over_a_store_to_its_place) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), same = make.written(DType::Float64),
            z = make.written(DType::Float64);
  make.parallel_vector([&](ValueId i) {
    const ValueId old = make.load(x, {{i}});
    make.store(same, {{i}}, make.apply(Op::Add, old, old));
    make.store(z, {{i}}, make.apply(Op::Add, old, make.load(same, {{i}})));
  });
  const auto executable = compile(make);
  for (std::int64_t n : {1, 5, 3000}) {
    const auto start = random_numbers(n);
    auto memory = start;
    std::vector<double> got(at(n));
    Launch()
        .pointer(memory.data())
        .pointer(memory.data())
        .pointer(got.data())
        .run(*executable, 0, n);
    for (std::int64_t k = 0; k < n; ++k) {
      ASSERT_EQ(memory[at(k)], 2 * start[at(k)]);
      ASSERT_EQ(got[at(k)], start[at(k)] + (start[at(k)] + start[at(k)]));
    }
  }
}

TEST(Interpreter, swaps_two_arrays) {
  KernelMaker make;
  const int x = make.written(DType::Float32), y = make.written(DType::Float32);
  make.parallel_vector([&](ValueId i) {
    const ValueId a = make.load(x, {{i}}), b = make.load(y, {{i}});
    make.store(x, {{i}}, b);
    make.store(y, {{i}}, a);
  });
  const auto a = random_numbers<float>(4099), b = random_numbers<float>(4099, 2);
  auto u = a, v = b;
  Launch().pointer(u.data()).pointer(v.data()).run(*compile(make), 0, 4099);
  EXPECT_EQ(u, b);
  EXPECT_EQ(v, a);
}

TEST(Interpreter, keeps_a_local_that_was_read_over_a_write) {
  KernelMaker make;
  const int y = make.written(DType::Int64), l = make.local(DType::Int64);
  make.parallel_vector([&](ValueId i) {
    make.write(l, i);
    const ValueId old = make.read(l);
    make.write(l, make.apply(Op::Multiply, old, old));
    make.store(y, {{i}}, make.apply(Op::Subtract, make.read(l), old));
  });
  std::vector<std::int64_t> got(5000);
  Launch().pointer(got.data()).run(*compile(make), 0, 5000);
  for (std::int64_t k = 0; k < 5000; ++k) ASSERT_EQ(got[at(k)], k * k - k);
}

// ---- reductions ---------------------------------------------------------------------------------

// y[row] = start op reduction of x[row, :]
struct RowReduction {
  RowReduction(Op op, DType dtype, bool vector) {
    const int x = make.operand(dtype), y = make.written(dtype), l = make.local(dtype);
    const ValueId end = make.integer_arg(make.integer());
    const int row = make.integer();
    const ValueId zero = make.constant(std::int64_t{0});
    const ValueId start = make.scalar_arg(make.scalar(dtype));
    const auto body = [&](ValueId i) {
      return [this, op, x, l, row, i](ValueId j) {
        return std::vector<Reduction>{{op, make.load(x, {{i, row}, {j}}), l}};
      };
    };
    make.parallel([&](ValueId i) {
      make.write(l, start);
      if (vector)
        make.vector_loop(zero, end, body(i));
      else
        make.serial_loop(zero, end, body(i));
      make.store(y, {{i}}, make.read(l));
    });
    executable = compile(make);
  }
  template <class T>
  T operator()(DType dtype, const std::vector<T>& x, std::int64_t n, T start) const {
    T got{};
    Launch()
        .pointer(x.data())
        .pointer(&got)
        .integer(n)
        .integer(0)
        .scalar(dtype, start)
        .run(*executable, 0, 1);
    return got;
  }
  KernelMaker make;
  std::shared_ptr<const Executable> executable;
};

template <class T>
void expect_tree_sums(DType dtype, const std::vector<T>& x) {
  const RowReduction by_lanes(Op::Add, dtype, true), in_order(Op::Add, dtype, false);
  for (std::int64_t n = 0; n <= static_cast<std::int64_t>(x.size()); n += n < 2000 ? 1 : 997) {
    const T start = T(0.375);
    T expected = start;
    if (n > 0) expected = start + testing::pairwise_sum(x.data(), n);
    ASSERT_EQ(by_lanes(dtype, x, n, start), expected) << info(dtype).name << ' ' << n;
    if (n < 5000 && n % 7 < 2) {
      ASSERT_EQ(in_order(dtype, x, n, start), expected) << info(dtype).name << ' ' << n;
    }
    if (n > 0) {
      T ready{};
      reduce_loop(Op::Add, dtype)(&ready, x.data(), n);
      ASSERT_EQ(ready, testing::pairwise_sum(x.data(), n)) << info(dtype).name << ' ' << n;
    }
  }
}

TEST(Interpreter, adds_in_numpys_tree_for_every_extent) {
  const auto x = random_numbers(100000);
  expect_tree_sums(DType::Float64, x);
  expect_tree_sums(DType::Float32, random_numbers<float>(50000));
  std::vector<std::complex<double>> complex(20000);
  for (std::size_t k = 0; k < complex.size(); ++k) complex[k] = {x[2 * k], x[2 * k + 1]};
  expect_tree_sums(DType::Complex128, complex);
}

TEST(Interpreter, adds_negative_zeros_to_a_negative_zero) {
  const RowReduction by_lanes(Op::Add, DType::Float64, true),
      in_order(Op::Add, DType::Float64, false);
  const std::vector<double> zeros(300, -0.0);
  for (std::int64_t n : {1, 7, 8, 9, 300}) {
    EXPECT_TRUE(std::signbit(by_lanes(DType::Float64, zeros, n, -0.0))) << n;
    EXPECT_TRUE(std::signbit(in_order(DType::Float64, zeros, n, -0.0))) << n;
  }
}

TEST(Interpreter, multiplies_floats_one_after_another_from_the_start) {
  const RowReduction by_lanes(Op::Multiply, DType::Float64, true),
      in_order(Op::Multiply, DType::Float64, false);
  auto x = random_numbers(9000);
  for (double& value : x) value = 1 + value / 100;
  double product = 1.25;
  for (std::int64_t n = 1; n <= 9000; ++n) {
    product *= x[at(n - 1)];
    if (n % 501 > 3 && n > 10) continue;
    ASSERT_EQ(by_lanes(DType::Float64, x, n, 1.25), product) << n;
    ASSERT_EQ(in_order(DType::Float64, x, n, 1.25), product) << n;
  }
}

TEST(Interpreter, subtracts_integers_one_after_another_from_the_start) {
  const RowReduction by_lanes(Op::Subtract, DType::Int64, true);
  std::vector<std::int64_t> x(5000);
  std::iota(x.begin(), x.end(), 3);
  std::int64_t rest = 10;
  for (std::int64_t value : x) rest -= value;
  EXPECT_EQ(by_lanes(DType::Int64, x, 5000, std::int64_t{10}), rest);
}

TEST(Interpreter, finds_extremes_and_keeps_nans) {
  const RowReduction maximum(Op::Maximum, DType::Float64, true),
      minimum(Op::Minimum, DType::Float64, true);
  auto x = random_numbers(7000);
  EXPECT_EQ(maximum(DType::Float64, x, 7000, -100.0), *std::max_element(x.begin(), x.end()));
  EXPECT_EQ(minimum(DType::Float64, x, 7000, 100.0), *std::min_element(x.begin(), x.end()));
  EXPECT_EQ(minimum(DType::Float64, x, 0, 100.0), 100.0);
  for (std::size_t k : {0u, 3000u, 6999u}) {
    auto y = x;
    y[k] = NAN;
    EXPECT_TRUE(std::isnan(maximum(DType::Float64, y, 7000, -100.0))) << k;
    EXPECT_TRUE(std::isnan(minimum(DType::Float64, y, 7000, 100.0))) << k;
  }
}

TEST(Interpreter, adds_float16_in_float32_and_rounds_once) {
  const RowReduction sum(Op::Add, DType::Float16, true), serial(Op::Add, DType::Float16, false);
  // 2048 ones and then ones that float16 could not add to 2048 one by one.
  const std::vector<std::uint16_t> ones(4000, 0x3c00);
  EXPECT_EQ(sum(DType::Float16, ones, 4000, std::uint16_t{0}), 0x6bd0);  // 4000
  EXPECT_EQ(serial(DType::Float16, ones, 4000, std::uint16_t{0}), 0x6bd0);
}

TEST(Interpreter, computes_a_softmax_by_rows_through_scratch) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64);
  const ValueId end = make.integer_arg(make.integer());
  const int row = make.integer(), place = make.integer();
  const int e = make.scratch(DType::Float64, place);
  const int top = make.local(DType::Float64), sum = make.local(DType::Float64);
  const ValueId zero = make.constant(std::int64_t{0}), nothing = make.constant(0.0);
  const ValueId lowest = make.constant(-INFINITY);
  make.parallel([&](ValueId i) {
    make.write(top, lowest);
    make.write(sum, nothing);
    make.vector_loop(zero, end, [&](ValueId j) {
      return std::vector<Reduction>{{Op::Maximum, make.load(x, {{i, row}, {j}}), top}};
    });
    const ValueId largest = make.read(top);
    make.vector_loop(zero, end, [&](ValueId j) {
      const ValueId value =
          make.apply(Op::Exp, make.apply(Op::Subtract, make.load(x, {{i, row}, {j}}), largest));
      make.store(e, {{j}}, value);
      return std::vector<Reduction>{{Op::Add, value, sum}};
    });
    const ValueId total = make.read(sum);
    make.vector_loop(zero, end, [&](ValueId j) {
      make.store(y, {{i, row}, {j}}, make.apply(Op::TrueDivide, make.load(e, {{j}}), total));
    });
  });
  const auto executable = compile(make);
  for (std::int64_t columns : {1, 3, 129, 5000}) {
    const std::int64_t rows = 9;
    const auto a = random_numbers(rows * columns);
    std::vector<double> got(a.size()), exps(at(columns));
    Launch()
        .pointer(a.data())
        .pointer(got.data())
        .pointer(nullptr)
        .integer(columns)
        .integer(8 * columns)
        .integer(128)
        .scratch(static_cast<std::size_t>(128 + 8 * columns))
        .run(*executable, 0, rows);
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* const line = &a[at(i * columns)];
      const double largest = *std::max_element(line, line + columns);
      for (std::int64_t j = 0; j < columns; ++j) {
        double difference = line[j] - largest;
        void* const args[4] = {&exps[at(j)], &difference, nullptr, nullptr};
        loop(Op::Exp, DType::Float64)(args, 1, 0);
      }
      const double total = 0.0 + testing::pairwise_sum(exps.data(), columns);
      for (std::int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(got[at(i * columns + j)], exps[at(j)] / total) << columns << ' ' << i << ' ' << j;
    }
  }
}

TEST(Interpreter, adds_short_rows_to_the_row_before) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64);
  const int rows = make.integer(), columns = make.integer(), row = make.integer();
  const ValueId begin = make.constant(std::int64_t{1}), zero = make.constant(std::int64_t{0});
  const ValueId end = make.integer_arg(rows), width = make.integer_arg(columns);
  make.parallel([&](ValueId) {
    make.serial_loop(begin, end, [&](ValueId i) {
      const ValueId before = make.apply(Op::Subtract, i, begin);
      make.vector_loop(zero, width, [&](ValueId j) {
        const ValueId value = make.load(y, {{before, row}, {j}});
        make.store(y, {{i, row}, {j}}, make.apply(Op::Add, value, make.load(x, {{i, row}, {j}})));
      });
    });
    // Rows whose length is their number.
    make.serial_loop(begin, end, [&](ValueId i) {
      make.vector_loop(zero, i, [&](ValueId j) {
        make.store(y, {{i, row}, {j}}, make.apply(Op::Negative, make.load(y, {{i, row}, {j}})));
      });
    });
  });
  const auto executable = compile(make);
  for (const auto& [m, n] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 7}, {50, 64}, {7, 5000}}) {
    const auto a = random_numbers(m * n);
    std::vector<double> got(at(m * n), 1.0), expected = got;
    Launch()
        .pointer(a.data())
        .pointer(got.data())
        .integer(m)
        .integer(n)
        .integer(8 * n)
        .run(*executable, 0, 1);
    for (std::int64_t k = n; k < m * n; ++k) expected[at(k)] = expected[at(k - n)] + a[at(k)];
    for (std::int64_t i = 1; i < m; ++i)
      for (std::int64_t j = 0; j < i; ++j) expected[at(i * n + j)] *= -1;
    ASSERT_EQ(got, expected);
  }
}

// Like the sum of a narrow matrix's rows.
TEST(Interpreter, adds_short_rows_into_one) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64);
  const int rows = make.integer(), columns = make.integer(), row = make.integer();
  const ValueId zero = make.constant(std::int64_t{0});
  const ValueId end = make.integer_arg(rows), width = make.integer_arg(columns);
  make.parallel([&](ValueId) {
    make.serial_loop(zero, end, [&](ValueId i) {
      make.vector_loop(zero, width, [&](ValueId j) {
        make.store(y, {{j}},
                   make.apply(Op::Add, make.load(x, {{i, row}, {j}}), make.load(y, {{j}})));
      });
    });
  });
  const auto executable = compile(make);
  for (std::int64_t n : {1, 8, 65, 5000}) {
    const std::int64_t m = 19;
    const auto a = random_numbers(m * n);
    std::vector<double> got(at(n), 0.0), expected = got;
    Launch()
        .pointer(a.data())
        .pointer(got.data())
        .integer(m)
        .integer(n)
        .integer(8 * n)
        .run(*executable, 0, 1);
    for (std::int64_t k = 0; k < m * n; ++k) expected[at(k % n)] += a[at(k)];
    ASSERT_EQ(got, expected);
  }
}

// As sums along the first axis are lowered: the first operand is the sum, or a row.
TEST(Interpreter, takes_four_rows_together_in_order) {
  for (const bool row_first : {false, true}) {
    KernelMaker make;
    const int x = make.operand(DType::Float32), y = make.written(DType::Float32);
    const int rows = make.integer(), columns = make.integer(), row = make.integer();
    const ValueId zero = make.constant(std::int64_t{0}), four = make.constant(std::int64_t{4});
    const ValueId end = make.integer_arg(rows), width = make.integer_arg(columns);
    make.parallel([&](ValueId) {
      make.serial_loop(zero, end, [&](ValueId i) {
        std::vector<ValueId> numbers{make.apply(Op::Multiply, i, four)};
        for (std::int64_t k = 1; k < 4; ++k)
          numbers.push_back(make.apply(Op::Add, numbers[0], make.constant(k)));
        make.vector_loop(zero, width, [&](ValueId j) {
          ValueId sum = make.load(y, {{j}});
          for (std::size_t k = 0; k < 4; ++k) {
            const ValueId next = make.load(x, {{numbers[k], row}, {j}});
            sum = k == 0 && row_first ? make.apply(Op::Maximum, next, sum)
                                      : make.apply(Op::Maximum, sum, next);
          }
          make.store(y, {{j}}, sum);
        });
      });
    });
    const auto executable = compile(make);
    for (const std::int64_t n : {1, 2, 3, 4, 5, 64, 3000})
      for (const std::int64_t fours : {1, 2, 7})
        for (const bool onto_a_row : {false, true}) {
          // Of equal numbers, as 0.0 and -0.0 are, the later operand is taken.
          std::vector<float> a(at(4 * fours * n));
          for (std::size_t k = 0; k < a.size(); ++k) a[k] = k * k % 7 < 3 ? -0.0f : 0.0f;
          std::vector<float> apart(at(n), 0.0f), expected_rows = a, expected = apart;
          float* const got = onto_a_row ? a.data() + n : apart.data();
          float* const sums = onto_a_row ? expected_rows.data() + n : expected.data();
          for (std::int64_t i = 0; i < 4 * fours; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
              const float next = expected_rows[at(i * n + j)];
              const float sum = i % 4 == 0 ? sums[j] : expected[at(j)];
              const float kept = row_first && i % 4 == 0 ? sum : next;
              expected[at(j)] = kept;
              if (i % 4 == 3) sums[j] = expected[at(j)];
            }
          Launch().pointer(a.data()).pointer(got).integer(fours).integer(n).integer(4 * n).run(
              *executable, 0, 1);
          for (std::int64_t j = 0; j < n; ++j)
            ASSERT_EQ(std::signbit(got[j]), std::signbit(sums[j])) << n << " " << fours;
        }
  }
}

TEST(Interpreter, copies_into_another_order) {
  KernelMaker make;
  const int x = make.operand(DType::Int16), y = make.written(DType::Int16);
  const int columns = make.integer(), from_row = make.integer(), to_row = make.integer();
  const ValueId zero = make.constant(std::int64_t{0}), width = make.integer_arg(columns);
  make.parallel([&](ValueId i) {
    make.vector_loop(zero, width, [&](ValueId j) {
      make.store(y, {{i, to_row}, {j}}, make.load(x, {{j, from_row}, {i}}));
    });
  });
  const auto executable = compile(make);
  for (const auto& [m, n] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {17, 3}, {16, 8}, {50, 70}, {20, 3000}})
    for (const bool in_place : {false, true}) {
      const std::int64_t width_of_all = std::max(m, n);
      std::vector<std::int16_t> a(at(width_of_all * width_of_all)), b = a;
      for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<std::int16_t>(k);
      std::vector<std::int16_t> expected_a = a, expected = b;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          (in_place ? expected_a : expected)[at(i * width_of_all + j)] =
              expected_a[at(j * width_of_all + i)];
      Launch()
          .pointer(a.data())
          .pointer(in_place ? a.data() : b.data())
          .integer(n)
          .integer(2 * width_of_all)
          .integer(2 * width_of_all)
          .run(*executable, 0, m);
      ASSERT_EQ(in_place ? a : b, in_place ? expected_a : expected) << m << " x " << n;
    }
}

// Every other one, backwards, and further apart; to memory of their own and to what they are read
// from.
TEST(Interpreter, brings_lanes_together) {
  KernelMaker make;
  const int x = make.operand(DType::Int64), y = make.written(DType::Int64);
  const int step = make.integer();
  make.parallel_vector([&](ValueId i) { make.store(y, {{i}}, make.load(x, {{i, step}})); });
  const auto executable = compile(make);
  for (const std::int64_t stride : {-3, -2, -1, 2, 3, 5}) {
    const std::int64_t n = 2500;
    std::vector<std::int64_t> a(at(5 * n)), b(at(n));
    std::iota(a.begin(), a.end(), 0);
    std::int64_t* const first = a.data() + (stride < 0 ? -stride * (n - 1) : 0);
    Launch().pointer(first).pointer(b.data()).integer(8 * stride).run(*executable, 0, n);
    for (std::int64_t k = 0; k < n; ++k) ASSERT_EQ(b[at(k)], first[k * stride]);
  }
}

TEST(Interpreter, adds_rows_into_a_lane_local) {
  KernelMaker make;
  const int x = make.operand(DType::Float32), y = make.written(DType::Float32),
            sum = make.local(DType::Float32);
  const ValueId rows = make.integer_arg(make.integer());
  const int row = make.integer();
  const ValueId zero = make.constant(std::int64_t{0}),
                nothing = make.constant(DType::Float32, 0.0f);
  make.parallel_vector([&](ValueId j) {
    make.write(sum, nothing);
    make.serial_loop(zero, rows, [&](ValueId i) {
      make.write(sum, make.apply(Op::Add, make.read(sum), make.load(x, {{i, row}, {j}})));
    });
    make.store(y, {{j}}, make.read(sum));
  });
  const std::int64_t m = 41, n = 3000;
  const auto a = random_numbers<float>(m * n);
  std::vector<float> got(at(n)), expected(at(n));
  Launch()
      .pointer(a.data())
      .pointer(got.data())
      .integer(m)
      .integer(4 * n)
      .run(*compile(make), 0, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) expected[at(j)] += a[at(i * n + j)];
  EXPECT_EQ(got, expected);
}

TEST(Interpreter, adds_in_numpys_tree_along_a_serial_loop_in_each_lane) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64),
            sum = make.local(DType::Float64);
  const ValueId rows = make.integer_arg(make.integer());
  const int row = make.integer();
  const ValueId zero = make.constant(std::int64_t{0}), start = make.constant(0.5);
  make.parallel_vector([&](ValueId j) {
    make.write(sum, start);
    make.serial_loop(zero, rows, [&](ValueId i) {
      return std::vector<Reduction>{{Op::Add, make.load(x, {{i, row}, {j}}), sum}};
    });
    make.store(y, {{j}}, make.read(sum));
  });
  const auto executable = compile(make);
  const std::int64_t n = 700;
  for (std::int64_t m : {0, 1, 5, 8, 13, 128, 129, 300, 1500}) {
    const auto a = random_numbers(m * n);
    std::vector<double> got(at(n)), column(at(m));
    Launch().pointer(a.data()).pointer(got.data()).integer(m).integer(8 * n).run(*executable, 0, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) column[at(i)] = a[at(i * n + j)];
      ASSERT_EQ(got[at(j)], m == 0 ? 0.5 : 0.5 + testing::pairwise_sum(column.data(), m))
          << m << ' ' << j;
    }
  }
}

// ---- branches and masks -------------------------------------------------------------------------

TEST(Interpreter, stores_in_both_branches_of_an_if_on_lanes) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64),
            z = make.written(DType::Int32);
  const ValueId zero = make.constant(0.0), one = make.constant(DType::Int32, 1),
                two = make.constant(DType::Int32, 2);
  make.parallel_vector([&](ValueId i) {
    const ValueId a = make.load(x, {{i}});
    make.if_else(
        make.apply(Op::Less, a, zero),
        [&] {
          make.store(y, {{i}}, make.apply(Op::Negative, a));
          make.store(z, {{i}}, one);
        },
        [&] {
          make.if_then(make.apply(Op::Greater, a, make.constant(1.0)),
                       [&] { make.store(z, {{i}}, two); });
          make.store(y, {{i}}, make.apply(Op::Sqrt, a));
        });
  });
  const auto a = random_numbers(5000);
  std::vector<double> got(5000, -7);
  std::vector<std::int32_t> kind(5000, -7);
  std::feclearexcept(FE_ALL_EXCEPT);
  Launch().pointer(a.data()).pointer(got.data()).pointer(kind.data()).run(*compile(make), 0, 5000);
  EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO), 0);
  for (std::size_t k = 0; k < 5000; ++k) {
    ASSERT_EQ(got[k], a[k] < 0 ? -a[k] : std::sqrt(a[k]));
    ASSERT_EQ(kind[k], a[k] < 0 ? 1 : a[k] > 1 ? 2 : -7);
  }
}

TEST(Interpreter, raises_no_flags_for_lanes_that_are_not_active) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64);
  const ValueId zero = make.constant(0.0), one = make.constant(1.0);
  make.parallel_vector([&](ValueId i) {
    const ValueId a = make.load(x, {{i}});
    make.if_else(
        make.apply(Op::Equal, a, zero), [&] { make.store(y, {{i}}, zero); },
        [&] {
          const ValueId inverse = make.apply(Op::TrueDivide, one, a);
          make.store(y, {{i}}, make.apply(Op::Multiply, inverse, inverse));
        });
  });
  const auto executable = compile(make);
  std::vector<double> a(3000), got(3000);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = k % 3 == 0 ? 0.0 : static_cast<double>(k);
  std::feclearexcept(FE_ALL_EXCEPT);
  Launch().pointer(a.data()).pointer(got.data()).run(*executable, 0, 3000);
  EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0);
  a[1] = 1e-200;  // an active lane that overflows
  Launch().pointer(a.data()).pointer(got.data()).run(*executable, 0, 3000);
  EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), FE_OVERFLOW);
  EXPECT_EQ(got[1], INFINITY);
}

TEST(Interpreter, draws_the_mandelbrot_set_with_a_while_on_lanes) {
  KernelMaker make;
  const int out = make.written(DType::Int64);
  const int zr = make.local(DType::Float64), zi = make.local(DType::Float64);
  const int count = make.local(DType::Int64), go = make.local(DType::Bool);
  const ValueId width = make.integer_arg(make.integer()), one = make.constant(std::int64_t{1});
  const ValueId limit = make.constant(std::int64_t{200}), none = make.constant(std::int64_t{0});
  const ValueId zero = make.constant(0.0), four = make.constant(4.0), two = make.constant(2.0);
  const ValueId step = make.constant(1.0 / 32), left = make.constant(-2.0),
                low = make.constant(-1.5);
  make.parallel_vector([&](ValueId i) {
    const ValueId column = make.apply(Op::Remainder, i, width);
    const ValueId row = make.apply(Op::FloorDivide, i, width);
    const auto point = [&](ValueId k, ValueId from) {
      return make.apply(Op::Add, make.apply(Op::Multiply, make.cast(DType::Float64, k), step),
                        from);
    };
    const ValueId cr = point(column, left), ci = point(row, low);
    make.write(zr, zero);
    make.write(zi, zero);
    make.write(count, none);
    make.while_do(
        go,
        [&] {
          const ValueId r = make.read(zr), j = make.read(zi);
          const ValueId size =
              make.apply(Op::Add, make.apply(Op::Multiply, r, r), make.apply(Op::Multiply, j, j));
          make.write(go, make.apply(Op::LogicalAnd, make.apply(Op::Less, size, four),
                                    make.apply(Op::Less, make.read(count), limit)));
        },
        [&] {
          const ValueId r = make.read(zr), j = make.read(zi);
          const ValueId next = make.apply(Op::Add,
                                          make.apply(Op::Subtract, make.apply(Op::Multiply, r, r),
                                                     make.apply(Op::Multiply, j, j)),
                                          cr);
          make.write(
              zi, make.apply(Op::Add, make.apply(Op::Multiply, two, make.apply(Op::Multiply, r, j)),
                             ci));
          make.write(zr, next);
          make.write(count, make.apply(Op::Add, make.read(count), one));
        });
    make.store(out, {{i}}, make.read(count));
  });
  constexpr std::int64_t w = 96, h = 96;
  std::vector<std::int64_t> got(at(w * h));
  Launch().pointer(got.data()).integer(w).run(*compile(make), 0, w * h);
  for (std::int64_t i = 0; i < w * h; ++i) {
    const double cr = static_cast<double>(i % w) / 32 - 2,
                 ci = static_cast<double>(i / w) / 32 - 1.5;
    double x = 0, y = 0;
    std::int64_t steps = 0;
    while (x * x + y * y < 4 && steps < 200) {
      const double next = x * x - y * y + cr;
      y = 2 * (x * y) + ci;
      x = next;
      ++steps;
    }
    ASSERT_EQ(got[at(i)], steps) << i;
  }
}

TEST(Interpreter, gathers_and_scatters_by_computed_indices) {
  KernelMaker make;
  const int x = make.operand(DType::Int16), p = make.operand(DType::Int64),
            y = make.written(DType::Int16);
  const int stride = make.integer();
  make.parallel_vector([&](ValueId i) {
    const ValueId j = make.load(p, {{i}});
    make.store(y, {{j, stride}}, make.load(x, {{j}}));
  });
  constexpr std::int64_t n = 4000;
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  std::vector<std::int16_t> a(n), got(2 * n, -1);
  std::iota(a.begin(), a.end(), static_cast<std::int16_t>(-2000));
  Launch()
      .pointer(a.data())
      .pointer(order.data())
      .pointer(got.data())
      .integer(4)
      .run(*compile(make), 0, n);
  for (std::size_t k = 0; k < n; ++k) {
    ASSERT_EQ(got[2 * k], a[k]);
    ASSERT_EQ(got[2 * k + 1], -1);
  }
}

// The last use of an index is in what is stored and where, in one.
TEST(Interpreter, scatters_a_function_of_the_index_itself) {
  KernelMaker make;
  const int y = make.written(DType::Int64);
  const ValueId two = make.constant(std::int64_t{2}), most = make.constant(std::int64_t{100});
  make.parallel_vector([&](ValueId i) {
    const ValueId j = make.apply(Op::Multiply, i, two);
    make.store(y, {{j}}, make.apply(Op::Minimum, j, most));
  });
  std::vector<std::int64_t> got(2 * 90, -1);
  Launch().pointer(got.data()).run(*compile(make), 0, 90);
  for (std::int64_t k = 0; k < 90; ++k) {
    ASSERT_EQ(got[at(2 * k)], std::min<std::int64_t>(2 * k, 100));
    ASSERT_EQ(got[at(2 * k + 1)], -1);
  }
}

// The lane beyond the end would read and write outside of the arrays: address sanitizer and the
// guards see it.
TEST(Interpreter, touches_no_memory_of_lanes_that_are_not_active) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), p = make.operand(DType::Int64),
            y = make.written(DType::Float64);
  const ValueId n = make.integer_arg(make.integer()), next = make.constant(std::int64_t{1});
  const ValueId zero = make.constant(std::int64_t{0});
  make.parallel_vector([&](ValueId i) {
    make.if_then(make.apply(Op::Less, i, n), [&] {
      const ValueId shifted = make.load(x, {{i}, {next}});
      const ValueId j = make.load(p, {{i}});
      make.if_then(make.apply(Op::GreaterEqual, j, zero), [&] {
        const ValueId gathered = make.load(x, {{j}});
        make.store(y, {{j}}, make.apply(Op::Add, shifted, gathered));
      });
    });
  });
  constexpr std::int64_t n_active = 1000;
  const auto a = random_numbers(n_active + 1);
  std::vector<std::int64_t> order(n_active);
  for (std::int64_t k = 0; k < n_active; ++k)
    order[at(k)] = k % 5 == 0 ? -(std::int64_t{1} << 50) : k;
  std::vector<double> got(n_active, 0.25);
  Launch()
      .pointer(a.data())
      .pointer(order.data())
      .pointer(got.data())
      .integer(n_active)
      .run(*compile(make), 0, 6000);
  for (std::size_t k = 0; k < n_active; ++k) ASSERT_EQ(got[k], k % 5 == 0 ? 0.25 : a[k + 1] + a[k]);
}

// ---- the tier as a whole ------------------------------------------------------------------------

TEST(Interpreter, runs_one_executable_on_several_threads) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64);
  make.parallel_vector([&](ValueId i) {
    const ValueId a = make.load(x, {{i}});
    make.store(y, {{i}}, make.apply(Op::Multiply, make.apply(Op::Add, a, a), a));
  });
  const auto executable = compile(make);
  const auto a = random_numbers(100000);
  std::vector<double> got(a.size());
  Launch launch;
  launch.pointer(a.data()).pointer(got.data());
  std::vector<std::thread> threads;
  for (std::int64_t k = 0; k < 4; ++k)
    threads.emplace_back([&, k] { launch.run(*executable, 25000 * k, 25000 * (k + 1)); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < a.size(); ++k) ASSERT_EQ(got[k], (a[k] + a[k]) * a[k]);
}

TEST(Interpreter, refuses_what_verify_refuses) {
  Kernel kernel;
  EXPECT_THROW(make_interpreter()->compile(kernel), std::logic_error);
}

TEST(InterpreterProgram, needs_no_copies_for_a_chain_of_contiguous_operands) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.operand(DType::Float64),
            z = make.written(DType::Float64);
  make.parallel_vector([&](ValueId i) {
    const ValueId a = make.load(x, {{i}}), b = make.load(y, {{i}});
    make.store(z, {{i}}, make.apply(Op::Multiply, make.apply(Op::Add, a, b), b));
  });
  const interp::Program program = interp::decode(make.kernel());
  std::vector<interp::StepKind> kinds;
  for (const interp::Step& step : program.steps) kinds.push_back(step.kind);
  using enum interp::StepKind;
  EXPECT_EQ(kinds, (std::vector<interp::StepKind>{Loop, Load, Load, Apply, ApplyStore}));
  EXPECT_LE(program.frame_bytes, program.lanes * 8 + 256);
}

TEST(InterpreterProgram, keeps_a_long_chain_in_one_block) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), z = make.written(DType::Float64);
  make.parallel_vector([&](ValueId i) {
    ValueId value = make.load(x, {{i}});
    for (int k = 0; k < 20; ++k) value = make.apply(Op::Add, value, value);
    make.store(z, {{i}}, value);
  });
  const interp::Program program = interp::decode(make.kernel());
  EXPECT_LE(program.frame_bytes, program.lanes * 8 + 256);
}

class RandomKernels : public ::testing::TestWithParam<int> {};

TEST_P(RandomKernels, give_the_bits_of_the_reference) {
  testing::ReferenceBackend reference;
  const auto interpreter = make_interpreter();
  constexpr int cases = 100;
  for (int k = 0; k < cases && !HasFatalFailure(); ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * cases + k);
    testing::expect_same(testing::RandomCase(seed).make(), reference, *interpreter,
                         "seed " + std::to_string(seed));
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernels, ::testing::Range(0, 20));

}  // namespace
}  // namespace frit
