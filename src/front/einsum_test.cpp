// einsum_test.cpp: products along named axes, against loops over all of them.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "frit/frit.h"
#include "front/testing_tiers.h"

namespace frit {
namespace {

using Values = std::vector<double>;

// Small whole numbers: each order of additions gives the same.
Array numbers(std::initializer_list<std::int64_t> shape, int first = 1) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  Values values(static_cast<std::size_t>(size));
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<double>((static_cast<int>(k) * 7 + first) % 11 - 5);
  return from_values<double>(values, shape);
}

// Each combination of indices once.
Values by_loops(const std::vector<std::string>& inputs, const std::string& output,
                const std::vector<Array>& operands) {
  std::map<char, std::int64_t> extents, index;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    for (std::size_t axis = 0; axis < inputs[k].size(); ++axis)
      extents[inputs[k][axis]] = operands[k].shape()[axis];
  const auto place = [&](const std::string& labels) {
    std::int64_t at = 0;
    for (const char label : labels) at = at * extents[label] + index[label];
    return static_cast<std::size_t>(at);
  };
  std::int64_t size = 1, all = 1;
  for (const char label : output) size *= extents[label];
  for (const auto& [label, extent] : extents) all *= extent;
  std::vector<Values> elements;
  for (const Array& operand : operands) elements.push_back(values<double>(operand));
  Values result(static_cast<std::size_t>(size), 0.0);
  for (std::int64_t k = 0; k < all; ++k) {
    std::int64_t rest = k;
    for (const auto& [label, extent] : extents) {
      index[label] = rest % extent;
      rest /= extent;
    }
    double product = 1;
    for (std::size_t j = 0; j < inputs.size(); ++j) product *= elements[j][place(inputs[j])];
    result[place(output)] += product;
  }
  return result;
}

void expect_as_by_loops(const std::vector<std::string>& inputs, const std::string& output,
                        const std::vector<Array>& operands) {
  std::string formula;
  for (const std::string& input : inputs) formula += (formula.empty() ? "" : ",") + input;
  formula += "->" + output;
  EXPECT_EQ(values<double>(einsum(formula, operands)), by_loops(inputs, output, operands))
      << formula;
}

class Einsum : public OnEachTier {};
INSTANTIATE_TEST_SUITE_P(Tiers, Einsum, both_tiers(), tier_name);

TEST_P(Einsum, gives_the_sum_of_products) {
  const Array a = numbers({12, 14}), b = numbers({14, 10}, 3), c = numbers({10, 9}, 5);
  const Array stack = numbers({6, 12, 14}, 2), other = numbers({6, 14, 10}, 4);
  const Array row = numbers({14}), points = numbers({40, 3}), turn = numbers({3, 3});
  expect_as_by_loops({"ij", "jk"}, "ik", {a, b});
  expect_as_by_loops({"ij", "jk"}, "ki", {a, b});
  expect_as_by_loops({"bij", "bjk"}, "bik", {stack, other});
  expect_as_by_loops({"bij", "bjk"}, "ikb", {stack, other});
  expect_as_by_loops({"ij", "j"}, "i", {a, row});
  expect_as_by_loops({"ij", "j"}, "j", {a, row});
  expect_as_by_loops({"ij", "j"}, "", {a, row});
  expect_as_by_loops({"ij", "k"}, "kji", {a, row});
  expect_as_by_loops({"ij", "nj"}, "ni", {turn, points});
  expect_as_by_loops({"ni", "ij", "nj"}, "n", {points, turn, points});
  expect_as_by_loops({"ij", "jk", "kl"}, "il", {a, b, c});
  expect_as_by_loops({"bij"}, "jb", {stack});
}

TEST_P(Einsum, reads_what_is_pending_and_is_recorded) {
  const Array a = numbers({300, 200}), b = numbers({300, 200}, 4);
  const Array doubled = a * 2.0;
  const Array rows = einsum("ij,ij->i", {doubled, b});
  EXPECT_TRUE(is_pending(rows));
  assign(a, 0.0);  // later: the product has seen what was there before
  const Array before = numbers({300, 200}) * 2.0;
  EXPECT_EQ(values<double>(rows), by_loops({"ij", "ij"}, "i", {before, b}));
}

TEST(EinsumViews, axes_of_one_operand_are_a_window) {
  const Array a = numbers({3, 4}), square = zeros({3, 3});
  const Array turned = einsum("ij->ji", {a}), diagonal = einsum("ii->i", {square});
  EXPECT_TRUE(turned.same_base(a) && diagonal.same_base(square));
  assign(diagonal, 2.0);
  EXPECT_EQ(value<double>(sum(square)), 6.0);
}

TEST(EinsumErrors, subscripts_that_do_not_fit) {
  const Array a = zeros({2, 3}), b = zeros({4, 5});
  for (const char* wrong : {"", "i", "ijk", "ij,jk", "ij->ii", "ij->k", "i.j", "i&", "....", "ii"})
    EXPECT_THROW(einsum(wrong, {a}), ValueError) << wrong;
  EXPECT_THROW(einsum("ij,jk->ik", {a, b}), ValueError);
  EXPECT_THROW(einsum("i...,...->i", {a, b}), ValueError);
  EXPECT_THROW(einsum("", std::span<const Array>()), ValueError);
  EXPECT_THROW(einsum("i->i", {Array()}), ValueError);
  EXPECT_THROW(einsum(std::string(63, ','), std::vector<Array>(64, a)), ValueError);
  // What is known of two operands says nothing of one.
  EXPECT_EQ(einsum("ij,kj->ik", {a, a}).size(), 4);
  EXPECT_THROW(einsum(std::string("\2ij,kj->ik"), {a}), ValueError);
}

TEST(Promotion, of_several_types_at_once) {
  using enum DType;
  EXPECT_EQ(promote(std::vector{Int8, UInt16, Float32}), Float32);
  EXPECT_EQ(promote(std::vector{Int8, UInt8, Float16}), Float16);
  EXPECT_EQ(promote(std::vector{Int32, Float32, Complex64}), Complex128);
  EXPECT_EQ(promote(std::vector{Int8, UInt8}), Int16);
  EXPECT_EQ(promote(std::vector{Bool, UInt64, Int64}), Float64);
  EXPECT_EQ(promote(std::vector{Bool, Bool}), Bool);
}

}  // namespace
}  // namespace frit
