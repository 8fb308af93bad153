// misuse_test.cpp: what a C++ program may get wrong is an exception, and nothing has happened.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>
#include <sstream>

#include "engine/engine.h"
#include "engine/memory.h"
#include "frit/frit.h"

namespace frit {
namespace {

using Extents = std::vector<std::int64_t>;

TEST(Misuse, an_empty_handle_is_refused_everywhere) {
  const Array none, x = zeros({3});
  const std::vector<Array> nones{none}, xs{x};
  const Extents shape{3};
  const std::vector<int> axis{0};
  EXPECT_THROW(none + 1.0, ValueError);
  EXPECT_THROW(x + none, ValueError);
  EXPECT_THROW(x += none, ValueError);
  EXPECT_THROW(sum(none), ValueError);
  EXPECT_THROW(apply(Op::Add, {x, 1.0}, {.out = &none}), ValueError);
  EXPECT_THROW(apply(Op::Add, {x, 1.0}, {.where = &none}), ValueError);
  EXPECT_THROW(assign(none, 1.0), ValueError);
  EXPECT_THROW(assign(x, none), ValueError);
  EXPECT_THROW(assign(x, 1.0, &none), ValueError);
  EXPECT_THROW(copy(none), ValueError);
  EXPECT_THROW(astype(none, DType::Int64), ValueError);
  EXPECT_THROW(item(none), ValueError);
  EXPECT_THROW(read(none), ValueError);
  EXPECT_THROW(value<double>(none), ValueError);
  EXPECT_THROW(values<double>(none), ValueError);
  EXPECT_THROW(begin_export(none), ValueError);
  EXPECT_THROW(end_export(none.base()), ValueError);
  EXPECT_THROW(end_export(x.base()), ValueError);
  EXPECT_THROW(matmul(none, x), ValueError);
  EXPECT_THROW(matmul(x, none), ValueError);
  EXPECT_THROW(matmul(x, x, &none), ValueError);
  EXPECT_THROW(gather(x, nones), ValueError);
  EXPECT_THROW(gather(none, xs), ValueError);
  EXPECT_THROW(scatter(none, xs, 1.0), ValueError);
  EXPECT_THROW(scatter_apply(Op::Add, none, xs, 1.0), ValueError);
  EXPECT_THROW(compress(x, none), ValueError);
  EXPECT_THROW(compress(none, x), ValueError);
  EXPECT_THROW(nonzero(none), ValueError);
  EXPECT_THROW(count_nonzero(none), ValueError);
  EXPECT_THROW(reduce(Op::Add, x, {.out = &none}), ValueError);
  EXPECT_THROW(reduce(Op::Add, x, {.where = &none}), ValueError);
  EXPECT_THROW(accumulate(Op::Add, none, 0), ValueError);
  EXPECT_THROW(arg_extreme(Extreme::Max, none, {}), ValueError);
  EXPECT_THROW(transpose(none, axis), ValueError);
  EXPECT_THROW(slice(none, std::span<const AxisSlice>()), ValueError);
  EXPECT_THROW(broadcast_to(none, shape), ValueError);
  EXPECT_THROW(reshape_window(none, shape), ValueError);
  EXPECT_THROW(window(none, shape, shape, 0, DType::Float64), ValueError);
  EXPECT_THROW(eval(none), ValueError);
  EXPECT_THROW(is_pending(none), ValueError);
  EXPECT_THROW(is_exported(none), ValueError);
  EXPECT_THROW(may_share_memory(none, x), ValueError);
  EXPECT_THROW(KernelBuilder({3}).input(none), ValueError);
  EXPECT_EQ(none.ndim(), 0);
  EXPECT_EQ(none.size(), 0);
  EXPECT_TRUE(none.shape().empty() && none.strides().empty());
  EXPECT_FALSE(none.writable() || none.c_contiguous() || none.f_contiguous());
}

TEST(Misuse, shapes_and_counts_that_do_not_fit) {
  const Array x = zeros({3, 4}), y = zeros({4, 3}), three = zeros({3}, DType::Bool);
  EXPECT_THROW(x + y, ValueError);
  EXPECT_THROW(assign(x, y), ValueError);
  EXPECT_THROW(apply(Op::Add, {x, 1.0}, {.out = &y}), ValueError);
  EXPECT_THROW(apply(Op::Add, {x, 1.0}, {.out = &x, .where = &three}), ValueError);
  EXPECT_THROW(apply(Op::Add, {x}), TypeError);
  EXPECT_THROW(apply(Op::Add, {x, x, x}), TypeError);
  EXPECT_THROW(apply(Op::Sqrt, {x, x}), TypeError);
  EXPECT_THROW(matmul(x, x), ValueError);
  EXPECT_THROW(compress(x, zeros({5}, DType::Bool)), IndexError);
  EXPECT_THROW(from_values(std::span<const double>(), {6}), ValueError);
  EXPECT_THROW(value<float>(sum(x)), TypeError);
  EXPECT_THROW(value<double>(x), ValueError);
  EXPECT_THROW(broadcast_to(x, Extents{5, 4}), ValueError);
  EXPECT_THROW(reshape_window(x, Extents{5, 4}), ValueError);
  EXPECT_THROW(reshape_window(x, Extents{-3, -4}), ValueError);
  EXPECT_THROW(item(slice(x, {{0, 0}})), ValueError);
  EXPECT_EQ(values<double>(x), std::vector<double>(12, 0.0));
}

TEST(Misuse, strides_axes_orders_and_types_that_do_not_fit) {
  const Array x = arange(0.0, 1.0, 12), rows = reshape(x, {3, 4});
  for (const Extents& strides : {Extents{-8, 8}, Extents{std::int64_t{1} << 40, 8},
                                 Extents{std::int64_t{1} << 62, 8}, Extents{8, -8}, Extents{40, 8}})
    EXPECT_THROW(empty_strided(Extents{3, 4}, strides, DType::Float64), ValueError);
  EXPECT_THROW(empty_strided(Extents{3, 4}, Extents{8}, DType::Float64), ValueError);
  EXPECT_EQ(empty_strided(Extents{3, 4}, Extents{8, 24}, DType::Float64).strides()[1], 24);
  EXPECT_THROW(window(x, Extents{3}, Extents{8, 8}, 0, DType::Float64), ValueError);
  EXPECT_THROW(compress(x, x), TypeError);
  EXPECT_THROW(copy(x, 'X'), ValueError);
  EXPECT_THROW(astype(x, DType::Int64, 'k'), ValueError);
  EXPECT_THROW(accumulate(Op::Add, x, -2), ValueError);
  EXPECT_THROW(arg_extreme(Extreme::Max, x, 1), ValueError);
  EXPECT_EQ(values<double>(accumulate(Op::Add, rows, -1)),
            values<double>(accumulate(Op::Add, rows, 1)));
  EXPECT_EQ(value<std::int64_t>(arg_extreme(Extreme::Max, x, -1)), 11);
  const Array whole = zeros({3, 3}, DType::Int32);
  EXPECT_THROW(matmul(rows, transpose(rows), &whole), TypeError);
  EXPECT_EQ(values<std::int32_t>(whole), std::vector<std::int32_t>(9));
}

TEST(Convenience, shapes_are_lists_vectors_or_spans) {
  const Extents shape{2, 3};
  EXPECT_EQ(values<double>(zeros(shape)), values<double>(zeros({2, 3})));
  EXPECT_EQ(values<double>(ones({2, 3})), values<double>(full(shape, 1.0)));
  EXPECT_EQ(values<double>(ones(shape)), std::vector<double>(6, 1.0));
  const std::vector<double> numbers{0, 1, 2, 3, 4, 5};
  const Array x = from_values(numbers, {2, 3});
  EXPECT_EQ(values<double>(reshape(x, {6})), numbers);
  EXPECT_EQ(values<double>(reshape(transpose(x), {6})), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values<double>(transpose(x, {1, 0})), values<double>(transpose(x)));
  EXPECT_EQ(values<double>(broadcast_to(arange(0.0, 1.0, 3), {2, 3})),
            (std::vector<double>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(value<double>(sum(x, {0, -1})), 15.0);
  EXPECT_EQ(values<double>(mean(x, -1)), (std::vector<double>{1, 4}));
  EXPECT_EQ(value<double>(mean(x)), 2.5);
  EXPECT_EQ(values<double>(linspace(0, 1, 5)), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(values<double>(linspace(3, 4, 1)), std::vector<double>{3});
  EXPECT_THROW(linspace(0, 1, -1), ValueError);
  EXPECT_EQ(value<long long>(sum(astype(x, DType::Int64))), 15);
  const Array turned = std::complex<double>(0, 1) * x;
  EXPECT_EQ(values<std::complex<double>>(turned)[5], std::complex<double>(0, 5));
  EXPECT_EQ((std::complex<float>(0, 1) * astype(x, DType::Float32)).dtype(), DType::Complex64);
  const Array y = copy(x);
  y %= 3;
  EXPECT_EQ(values<double>(+y), (std::vector<double>{0, 1, 2, 0, 1, 2}));
}

TEST(Convenience, values_come_from_whatever_holds_them_in_a_row) {
  std::vector<double> numbers{1, 2, 3, 4};
  const std::array<double, 4> fixed{1, 2, 3, 4};
  const double plain[] = {1, 2, 3, 4};
  const std::span<double> writable(numbers);
  EXPECT_EQ(values<double>(from_values(numbers, {2, 2})), numbers);
  EXPECT_EQ(values<double>(from_values(writable, {4})), numbers);
  EXPECT_EQ(values<double>(from_values(std::span<const double>(numbers), {4})), numbers);
  EXPECT_EQ(values<double>(from_values(std::span(fixed), {4})), numbers);
  EXPECT_EQ(values<double>(from_values(fixed, {2, 2})), numbers);
  EXPECT_EQ(values<double>(from_values(plain, {4})), numbers);
  EXPECT_EQ(values<double>(from_values({1.0, 2.0, 3.0, 4.0}, {4})), numbers);
  EXPECT_EQ(from_values({1, 2}, {2}).dtype(), DType::Int32);
  EXPECT_EQ(from_values<float>({1, 2}, {2}).dtype(), DType::Float32);
  const std::vector<bool> truths{true, false, true};
  EXPECT_EQ(values<bool>(from_values(truths, {3})), truths);
  EXPECT_EQ(values<bool>(from_values({true, false}, {2})), (std::vector<bool>{true, false}));
  EXPECT_THROW(from_values(fixed, {3}), ValueError);
}

TEST(Convenience, arrays_print_as_numpy_prints_them) {
  const Array x = arange(0.0, 1.0, 6);
  std::ostringstream out;
  out << x << '\n' << reshape(x, {2, 3}) / 2 << '\n' << sum(x) << '\n' << (x > 4.0);
  EXPECT_EQ(out.str(),
            "[0. 1. 2. 3. 4. 5.]\n[[0.  0.5 1. ]\n [1.5 2.  2.5]]\n15.0\n"
            "[False False False False False  True]");
  EXPECT_EQ(to_string(reshape(arange(0.0, 1.0, 4), {2, 1, 2})), "[[[0. 1.]]\n\n [[2. 3.]]]");
  EXPECT_EQ(to_string(astype(arange(0.0, 1.0, 2000), DType::Int16)),
            "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(to_string(zeros({0, 3})), "[]");
  EXPECT_EQ(to_string(zeros({2, 0, 2})), "[]");
  EXPECT_EQ(to_string(astype(x, DType::Float16)), to_string(x));
  EXPECT_EQ(to_string(slice(x, {{0, 2}}) * std::complex<double>(1, -1)), "[0.+0.j 1.-1.j]");
  EXPECT_THROW(to_string(Array()), ValueError);
}

TEST(Convenience, numbers_print_as_numpy_prints_them) {
  const auto row = [](std::initializer_list<double> numbers, DType dtype = DType::Float64) {
    return to_string(
        astype(from_values(numbers, {static_cast<std::int64_t>(numbers.size())}), dtype));
  };
  EXPECT_EQ(row({1.0 / 3, 0.1 + 0.2, 12.5}), "[ 0.33333333  0.3        12.5       ]");
  EXPECT_EQ(row({1e10, 1e-10, -1}), "[ 1.e+10  1.e-10 -1.e+00]");
  EXPECT_EQ(row({1e100, 0.25}), "[1.0e+100 2.5e-001]");
  EXPECT_EQ(row({1e8}), "[1.e+08]");
  EXPECT_EQ(row({99999999, 1e5}), "[99999999.   100000.]");
  EXPECT_EQ(row({1e-4, 0.1}), "[0.0001 0.1   ]");
  EXPECT_EQ(row({1, 1001}), "[1.000e+00 1.001e+03]");
  EXPECT_EQ(row({NAN, 1, -INFINITY}), "[ nan   1. -inf]");
  EXPECT_EQ(row({-NAN, -0.0}), "[nan -0.]");
  EXPECT_EQ(row({1.0 / 3, 569'122'880}, DType::Float32), "[3.3333334e-01 5.6912288e+08]");
  EXPECT_EQ(row({0.1, 0.3}, DType::Float16), "[0.1 0.3]");
  EXPECT_EQ(row({1, 0}, DType::Bool), "[ True False]");
  EXPECT_EQ(row({5, -12}, DType::Int8), "[  5 -12]");
  EXPECT_EQ(to_string(from_values(std::vector<std::complex<double>>{{1, -2.5}, {NAN, 10}}, {2})),
            "[ 1. -2.5j nan+10.j ]");
  const auto alone = [](auto number) { return to_string(from_values({number}, {})); };
  EXPECT_EQ(alone(0.1), "0.1");
  EXPECT_EQ(alone(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(alone(1e16), "1e+16");
  EXPECT_EQ(alone(1e-5F), "1e-05");
  EXPECT_EQ(alone(true), "True");
  EXPECT_EQ(alone(std::complex<double>(1, -2)), "(1-2j)");
  EXPECT_EQ(alone(std::complex<double>(0, 2)), "2j");
  EXPECT_EQ(to_string(reshape(arange(0.0, 1.0, 30), {1, 30})),
            "[[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n"
            "  18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]]");
}

TEST(Operators, of_truths_go_element_by_element) {
  using Truths = std::vector<bool>;
  const Array x = arange(0.0, 1.0, 5);
  EXPECT_EQ(values<bool>(x > 0.0 && x < 3.0), (Truths{false, true, true, false, false}));
  EXPECT_EQ(values<bool>(x < 1.0 || x > 3.0), (Truths{true, false, false, false, true}));
  EXPECT_EQ(values<bool>(!(x < 3.0)), (Truths{false, false, false, true, true}));
  EXPECT_EQ(values<bool>(~(x == 3.0)), values<bool>(x != 3.0));
  EXPECT_EQ(values<bool>((x > 0.0) ^ (x > 2.0)), (Truths{false, true, true, false, false}));
  EXPECT_EQ(values<double>(-x % 3.0), (std::vector<double>{0, 2, 1, 0, 2}));
  EXPECT_TRUE(bool(x));
  EXPECT_TRUE(value<bool>(all(x < 5.0)) && !value<bool>(any(x > 5.0)));
  static_assert(!std::is_constructible_v<bool, Array>);       // if (x > 0.0)
  static_assert(!std::is_assignable_v<Array, const Array&>);  // slice(x, ..) = y
}

TEST(Operators, compare_integers_with_numbers_that_they_cannot_be) {
  const auto holds = [](const Array& x) { return value<bool>(all(x)); };
  const Array bytes = zeros({3}, DType::UInt8), one = ones({40'000});
  EXPECT_TRUE(holds(bytes < 300 && bytes > -1 && bytes != 1000 && 300 >= bytes));
  EXPECT_FALSE(value<bool>(any(zeros({1}, DType::Int8) == 1000)));
  EXPECT_TRUE(holds(zeros({2}, DType::UInt64) > -1));
  EXPECT_TRUE(holds(zeros({2}, DType::Int32) < INT64_MAX));
  EXPECT_TRUE(holds(astype(one, DType::Int16) > -70'000));
  const Array truths = zeros({3}, DType::Bool);
  apply(Op::Less, {bytes, 300}, {.out = &truths});
  EXPECT_TRUE(holds(truths));
  EXPECT_THROW(bytes + 300, TypeError);
  const Array found = zeros({3}, DType::Bool);
  KernelBuilder k({3});
  k.output(found)(k.axis(0)) = k.input(bytes)(k.axis(0)) < 300;
  k.record();
  EXPECT_TRUE(holds(found));
}

TEST(Operators, let_operands_go_that_nobody_names) {
  const Array x = full({100'000}, 1.5), y = full({100'000}, 2.0);
  eval();
  memory::reset_peak();
  const std::int64_t before = memory::figures().live;
  const double total = value<double>(sum(sqrt(x * 2.0 + y) - y));
  EXPECT_LT(memory::figures().peak - before, 100'000);
  EXPECT_NEAR(total, 100'000 * (std::sqrt(5.0) - 2.0), 1e-6);
}

TEST(Misuse, integers_have_no_negative_powers) {
  const Array x = astype(arange(1.0, 1.0, 3), DType::Int64);
  EXPECT_THROW(power(x, -1), ValueError);
  EXPECT_THROW(power(x, x - 2), ValueError);
  EXPECT_EQ(values<double>(power(astype(x, DType::Float64), -1)), values<double>(1.0 / x));
  EXPECT_EQ(values<std::int64_t>(power(x, x)), (std::vector<std::int64_t>{1, 4, 27}));
}

TEST(Wrap, memory_without_an_owner_is_left_alone) {
  std::vector<double> memory(1000, 1.0);
  const std::int64_t n = 1000, stride = 8;
  {
    const Array x = wrap({.data = memory.data(), .memory = memory.data(), .bytes = 8 * n}, {&n, 1},
                         {&stride, 1}, DType::Float64);
    EXPECT_EQ(value<double>(sum(x)), 1000.0);
  }
  std::vector<Array> others;
  for (int k = 0; k < 8; ++k) {
    others.push_back(full({1000}, 7.0));
    EXPECT_NE(static_cast<const void*>(read(others.back())), memory.data());
  }
  EXPECT_EQ(memory, std::vector<double>(1000, 1.0));
}

TEST(Values, of_truths_are_all_of_them) {
  const Array x = arange(0.0, 1.0, 5);
  EXPECT_EQ(values<bool>(x < 2.0), (std::vector<bool>{true, true, false, false, false}));
  EXPECT_TRUE(values<bool>(zeros({0}, DType::Bool)).empty());
}

TEST(Misuse, axes_that_are_not_there) {
  const Array x = zeros({3, 4});
  EXPECT_EQ(sum(x, -1).size(), 3);
  EXPECT_THROW(sum(x, 2), ValueError);
  EXPECT_THROW(sum(x, -3), ValueError);
  const std::vector<int> twice{0, 0}, far{0, 2}, one{0};
  EXPECT_THROW(reduce(Op::Add, x, {.axes = twice, .all_axes = false}), ValueError);
  EXPECT_THROW(transpose(x, twice), ValueError);
  EXPECT_THROW(transpose(x, far), ValueError);
  EXPECT_THROW(transpose(x, one), ValueError);
  EXPECT_THROW(accumulate(Op::Add, x, 2), ValueError);
  EXPECT_THROW(arg_extreme(Extreme::Max, x, 5), ValueError);
}

// What the error says.
std::string words(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

TEST(Misuse, messages_name_the_axis_that_was_given) {
  const Array x = zeros({3, 4});
  const std::string expected = "axis -3 is out of bounds for array of dimension 2";
  EXPECT_EQ(words([&] { sum(x, -3); }), expected);
  EXPECT_EQ(words([&] { sum(x, {0, -3}); }), expected);
  EXPECT_EQ(words([&] { mean(x, -3); }), expected);
  EXPECT_EQ(words([&] { argmax(x, -3); }), expected);
  EXPECT_EQ(words([&] { cumsum(x, -3); }), expected);
}

TEST(Misuse, messages_show_the_shapes_in_numpys_words) {
  const Array x = zeros({3, 4}), three = zeros({3}), four = zeros({4});
  EXPECT_EQ(words([&] { x + three; }),
            "operands could not be broadcast together with shapes (3,4) (3,) ");
  EXPECT_EQ(words([&] { four += x; }),
            "non-broadcastable output operand with shape (4,) doesn't match the broadcast shape "
            "(3,4)");
  EXPECT_EQ(words([&] {
              apply(Op::Add, {x, 1.0}, {.out = &three});
            }),
            "operands could not be broadcast together with shapes (3,4) () (3,) ");
  const std::string input = "could not broadcast input array from shape ";
  EXPECT_EQ(words([&] { assign(x, three); }), input + "(3,) into shape (3,4)");
  EXPECT_EQ(words([&] { assign(three, zeros({2, 1, 3})); }), input + "(2,1,3) into shape (3,)");
  EXPECT_EQ(words([&] {
              broadcast_to(zeros({2}), {4, 3});
            }),
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            "(2,)  and requested shape (4,3)");
  EXPECT_EQ(words([&] { reshape(x, {5, 4}); }), "cannot reshape array of size 12 into shape (5,4)");
  assign(three, ones({1, 1, 3}));
  EXPECT_EQ(value<double>(sum(three)), 3.0);
}

TEST(Misuse, masks_are_arrays_of_bool) {
  const Array x = zeros({2, 2}), halves = full({2, 2}, 0.5), three = zeros({3}, DType::Bool);
  const std::string expected =
      "Cannot cast array data from dtype('float64') to dtype('bool') according to the rule 'safe'";
  EXPECT_EQ(words([&] { assign(x, 1.0, &halves); }), expected);
  EXPECT_EQ(words([&] { apply(Op::Add, {x, 1.0}, {.out = &x, .where = &halves}); }), expected);
  EXPECT_EQ(words([&] { reduce(Op::Maximum, x, {.initial = Scalar{}, .where = &halves}); }),
            expected);
  EXPECT_EQ(words([&] { assign(x, 1.0, &three); }),
            "could not broadcast where mask from shape (3,) into shape (2,2)");
  EXPECT_EQ(values<double>(x), std::vector<double>(4));
  const Array truths = x < 1.0;
  EXPECT_NE(words([&] { truths - truths; }).find("use the bitwise_xor"), std::string::npos);
  EXPECT_NE(words([&] { -truths; }).find("use the `~` operator"), std::string::npos);
}

TEST(Misuse, sizes_that_no_memory_holds) {
  EXPECT_THROW(empty(Extents{-3}, DType::Float64), ValueError);
  EXPECT_THROW(empty(Extents(65, 1), DType::Float64), ValueError);
  EXPECT_THROW(empty(Extents{1LL << 40, 1LL << 40}, DType::Float64), ValueError);
  EXPECT_THROW(arange(0.0, 1.0, -5), ValueError);
  EXPECT_THROW(arange(0.0, 1.0, INT64_MAX), ValueError);
  EXPECT_THROW(KernelBuilder({-1}), ValueError);
  EXPECT_THROW(KernelBuilder({1LL << 40, 1LL << 40}), ValueError);
  const Array large = empty(Extents{1LL << 44}, DType::Float64);
  EXPECT_THROW(eval(large + 1.0), std::bad_alloc);
  KernelBuilder k({5});
  const auto L = k.output(large);
  L(k.axis(0)) = 1.0;
  k.record();
  EXPECT_THROW(eval(large), std::bad_alloc);
}

TEST(Misuse, results_that_no_machine_could_hold_are_refused_when_recorded) {
  const Array x = arange(0.0, 1.0, 100'000), many = broadcast_to(x, {1LL << 40, 100'000});
  const Array y = x + 1.0;
  const std::uint64_t recorded = Engine::get().statistics.recorded;
  EXPECT_THROW(empty(Extents{1LL << 45}, DType::Float64), OutOfMemory);
  EXPECT_THROW(copy(many), OutOfMemory);
  EXPECT_THROW(many + 1.0, OutOfMemory);
  EXPECT_THROW(many < 1.0, OutOfMemory);
  EXPECT_THROW(astype(many, DType::Int8), OutOfMemory);
  EXPECT_THROW(apply(Op::Select, {many < 1.0, many, many}), OutOfMemory);
  EXPECT_EQ(Engine::get().statistics.recorded, recorded);
  try {
    sqrt(many);
  } catch (const OutOfMemory& refused) {
    EXPECT_EQ(refused.shape, (Extents{1LL << 40, 100'000}));
    EXPECT_EQ(refused.dtype, DType::Float64);
  }
  EXPECT_EQ(values<double>(y).back(), values<double>(x).back() + 1.0);
}

TEST(Misuse, windows_that_leave_their_memory) {
  const Array x = zeros({3, 4});
  const auto window_at = [&](std::int64_t extent, std::int64_t stride, std::int64_t offset) {
    return window(x, Extents{extent}, Extents{stride}, offset, DType::Float64);
  };
  EXPECT_EQ(window_at(12, -8, 88).size(), 12);
  EXPECT_THROW(window_at(100, 8, 0), ValueError);
  EXPECT_THROW(window_at(1, 8, -8), ValueError);
  EXPECT_THROW(window_at(1, 8, 96), ValueError);
  EXPECT_THROW(window_at(1, 8, INT64_MAX - 4), ValueError);
  EXPECT_THROW(window_at(3, INT64_MAX, 0), ValueError);
  EXPECT_THROW(window_at(3, INT64_MIN, 0), ValueError);
  const auto sliced = [&](AxisSlice s) { return slice(x, {&s, 1}); };
  EXPECT_THROW(sliced({.start = 1, .step = 1, .count = 3}), IndexError);
  EXPECT_THROW(sliced({.start = -1, .step = 1, .count = 1}), IndexError);
  EXPECT_THROW(sliced({.start = 3, .step = 1, .count = -1}), IndexError);
  EXPECT_THROW(sliced({.start = 0, .step = INT64_MAX, .count = 3}), IndexError);
  EXPECT_EQ(sliced({.start = 0, .step = INT64_MAX, .count = 1}).size(), 4);
  EXPECT_THROW(slice(x, std::vector<AxisSlice>(3, {.count = 1})), IndexError);
  double memory[4] = {};
  const Foreign short_by_one{.data = memory + 1, .memory = memory, .bytes = sizeof memory};
  EXPECT_THROW(wrap(short_by_one, Extents{4}, Extents{8}, DType::Float64), ValueError);
}

TEST(Misuse, indices_that_leave_their_array) {
  const Array x = zeros({3, 4});
  const std::int64_t seven = 7;
  const std::vector<Array> outside{from_values(std::span(&seven, 1), {1})};
  EXPECT_THROW(gather(x, outside), IndexError);
  EXPECT_THROW(scatter(x, outside, 1.0), IndexError);
  EXPECT_THROW(gather(x, std::vector<Array>{zeros({2})}), IndexError);
  EXPECT_THROW(gather(x, std::vector<Array>(3, zeros({2}, DType::Int64))), IndexError);
  EXPECT_EQ(values<double>(x), std::vector<double>(12, 0.0));
}

// ---- kernels ------------------------------------------------------------------------------------

TEST(Misuse, kernels_refuse_what_they_cannot_mean) {
  const Array x = zeros({10}), y = zeros({10});
  KernelBuilder k({10});
  const auto X = k.input(x), Y = k.output(y);
  const auto i = k.axis(0);
  const auto total = k.reduce(Op::Add, X(i));
  EXPECT_THROW(total.array(), ValueError);
  EXPECT_THROW(X(i) = 1.0, ValueError);
  EXPECT_THROW(k.local(Y(i)), ValueError);
  EXPECT_THROW(k.axis(1), IndexError);
  EXPECT_THROW(k.axis(-1), IndexError);
  EXPECT_THROW(k.extent(1), IndexError);
  EXPECT_THROW(X.extent(1), IndexError);
  EXPECT_THROW(k.local(X(i, i)), IndexError);
  EXPECT_THROW(k.local(X()), IndexError);
  EXPECT_THROW(k.local(X(1.5)), TypeError);
  EXPECT_THROW(k.if_(X(0), [] {}), TypeError);
  EXPECT_THROW(k.loop(0.5, 2, [](Expression) {}), TypeError);
  EXPECT_THROW(k.reduce(Op::Add, X(i), {1}), ValueError);
  EXPECT_THROW(k.reduce(Op::Add, X(i), {0, 0}), ValueError);
  EXPECT_THROW(k.output(broadcast_to(zeros({1}), Extents{10})), ValueError);
  Y(i) = X(i) + 1.0;
  k.record();
  EXPECT_THROW(k.record(), ValueError);
  EXPECT_THROW(k.axis(0), ValueError);
  EXPECT_THROW(Y(0) = 1.0, ValueError);
  EXPECT_EQ(values<double>(y), std::vector<double>(10, 1.0));
}

TEST(Misuse, values_stay_in_their_kernel_and_block) {
  const Array x = zeros({10});
  KernelBuilder a({10}), b({10});
  const auto A = a.input(x);
  const auto B = b.output(x);
  EXPECT_THROW(B(b.axis(0)) = A(a.axis(0)), ValueError);
  EXPECT_THROW(B(a.axis(0)) = 1.0, ValueError);
  std::optional<Expression> inner;
  b.loop(0, 3, [&](Expression t) { inner = t + 1; });
  EXPECT_THROW(B(*inner) = 1.0, ValueError);
  EXPECT_THROW(compute(Op::Add, {1.0, 2.0}), ValueError);
}

TEST(Misuse, a_kernel_goes_on_without_what_was_refused) {
  const Array x = ones({10}), y = zeros({10});
  KernelBuilder k({10});
  const auto X = k.inout(x), Y = k.input(y);
  const auto i = k.axis(0);
  X(i) = 7.0;
  EXPECT_THROW(X(i, i) = 2.0, IndexError);
  EXPECT_THROW(X(i) = std::complex<double>(0, 1), TypeError);
  EXPECT_THROW(X(i) += Y(i, 0), IndexError);
  EXPECT_THROW(k.local(DType::Int64, 0.5), TypeError);
  EXPECT_THROW(k.if_(X(i) + 1.0, [&] { X(i) = 3.0; }), TypeError);
  EXPECT_THROW(k.loop(0, 2.5, [&](Expression) { X(i) = 3.0; }), TypeError);
  EXPECT_THROW(k.output(broadcast_to(zeros({1}), {10})), ValueError);
  EXPECT_THROW(k.reduce(Op::Add, X(i), {1}), ValueError);
  X(i) += 1.0;
  k.record();
  EXPECT_EQ(values<double>(x), std::vector<double>(10, 8.0));
  KernelBuilder outside({10});
  outside.output(x)(outside.axis(0) + 1) = 1.0;
  EXPECT_THROW(outside.record(), IndexError);
  EXPECT_THROW(outside.record(), ValueError);
}

TEST(Misuse, a_kernel_whose_block_was_left_by_an_exception_is_broken) {
  const Array x = zeros({10});
  KernelBuilder k({10});
  const auto X = k.output(x);
  EXPECT_THROW(k.if_(k.axis(0) > 2, [] { throw std::runtime_error("of the caller's own"); }),
               std::runtime_error);
  EXPECT_THROW(X(0) = 1.0, ValueError);
  EXPECT_THROW(k.record(), ValueError);
  KernelBuilder inside({10});
  EXPECT_THROW(inside.loop(0, 2, [&](Expression) { inside.record(); }), ValueError);
}

TEST(Misuse, other_work_may_stand_inside_a_block) {
  const Array x = zeros({10}), y = zeros({10});
  KernelBuilder k({10});
  const auto X = k.output(x);
  k.if_(k.axis(0) > 2, [&] {
    eval();
    KernelBuilder other({10});
    other.output(y)(other.axis(0)) = 5.0;
    other.record();
    EXPECT_EQ(values<double>(y + 1.0)[9], 6.0);
    X(k.axis(0)) = 9.0;
  });
  k.record();
  EXPECT_EQ(values<double>(x), (std::vector<double>{0, 0, 0, 9, 9, 9, 9, 9, 9, 9}));
}

TEST(Misuse, a_moved_kernel_leaves_nothing_behind) {
  const Array x = zeros({10});
  KernelBuilder from({10});
  const auto X = from.output(x);
  KernelBuilder to = std::move(from);
  X(to.axis(0)) = 2.0;
  to.record();
  EXPECT_EQ(values<double>(x), std::vector<double>(10, 2.0));
  EXPECT_THROW(from.axis(0), ValueError);
  EXPECT_THROW(from.record(), ValueError);
  EXPECT_THROW(from.text(), ValueError);
}

TEST(Misuse, indices_beyond_64_bits_are_out_of_bounds) {
  const Array x = zeros({10}), y = zeros({10});
  const auto shifted = [&](const std::function<Expression(Expression)>& index) {
    KernelBuilder k({10});
    const auto X = k.input(x), Y = k.output(y);
    Y(k.axis(0)) = X(index(k.axis(0)));
    k.record();
  };
  EXPECT_THROW(shifted([](Expression i) { return i + (std::int64_t{1} << 62); }), IndexError);
  EXPECT_THROW(shifted([](Expression i) { return i * INT64_MAX; }), IndexError);
  EXPECT_THROW(shifted([](Expression i) { return i * INT64_MAX * 3 + INT64_MAX; }), IndexError);
  EXPECT_THROW(shifted([](Expression i) { return -1 - i; }), IndexError);
}

}  // namespace
}  // namespace frit
