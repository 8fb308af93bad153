// selection_test.cpp: x[mask] that is recorded: what it becomes, and when it must be packed.
#include "front/selection.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "front/testing_tiers.h"
#include "ops/pack_loops.h"

namespace frit {
namespace {

constexpr std::int64_t large = 50'003;
using Values = std::vector<double>;

template <class T>
Array array_of(const std::vector<T>& values, DType dtype) {
  const std::int64_t shape[1] = {static_cast<std::int64_t>(values.size())};
  return copy_of(values.data(), shape, dtype);
}

template <class T = double>
std::vector<T> values_of(const Array& a) {
  const auto* p = reinterpret_cast<const T*>(read(a));
  return {p, p + a.size()};
}

class Selections : public OnEachTier {
 protected:
  void SetUp() override {
    OnEachTier::SetUp();
    for (std::size_t k = 0; k < large; ++k) {
      x_.push_back(0.5 + static_cast<double>(k % 89));
      y_.push_back(3.25 - static_cast<double>(k % 13));
      mask_.push_back(k % 3 != 1);
    }
  }

  // f of the elements where the mask is true.
  template <class F>
  void where_true(const F& f) const {
    for (std::size_t k = 0; k < large; ++k)
      if (mask_[k]) f(k);
  }

  Values x_, y_;
  std::vector<std::uint8_t> mask_;
};
INSTANTIATE_TEST_SUITE_P(Tiers, Selections, both_tiers(), tier_name);

TEST_P(Selections, update_is_one_kernel_without_packing) {
  const Array x = array_of(x_, DType::Float64), y = array_of(y_, DType::Float64);
  const Array mask = array_of(mask_, DType::Bool);
  const auto before = statistics();
  {
    const Array product = apply(Op::Multiply, {compress(x, mask), compress(y, mask)});
    expand(x, mask, apply(Op::Add, {product, 2.0}));
  }
  EXPECT_EQ(statistics().evals, before.evals);
  eval();
  const auto after = statistics();
  EXPECT_EQ(after.calls, before.calls);
  EXPECT_EQ(after.interpreted_launches + after.compiled_launches,
            before.interpreted_launches + before.compiled_launches + 1);
  where_true([&](std::size_t k) { x_[k] = x_[k] * y_[k] + 2.0; });
  EXPECT_EQ(values_of(x), x_);
}

TEST_P(Selections, elements_are_those_of_when_they_were_taken) {
  const Array x = array_of(x_, DType::Float64), y = array_of(y_, DType::Float64);
  const Array mask = array_of(mask_, DType::Bool);
  const Array a = compress(x, mask);
  expand(x, mask, apply(Op::Add, {a, compress(y, mask)}));
  expand(y, mask, apply(Op::Multiply, {a, a}));  // of the old x
  Values packed;
  where_true([&](std::size_t k) {
    packed.push_back(x_[k]);
    x_[k] += y_[k];
    y_[k] = packed.back() * packed.back();
  });
  EXPECT_EQ(values_of(y), y_);
  EXPECT_EQ(values_of(x), x_);
  EXPECT_EQ(values_of(a), packed);
}

TEST_P(Selections, steps_in_place_on_packed_elements_are_followed) {
  const Array x = array_of(x_, DType::Float64);
  const Array mask = array_of(mask_, DType::Bool);
  const Array a = compress(x, mask);
  const Array twice = apply(Op::Multiply, {a, 2.0});
  apply(Op::Add, {a, 1.0}, {.out = &a});
  const Array sum = apply(Op::Add, {twice, a});
  apply(Op::Add, {a, 100.0}, {.out = &a});  // later than what is assigned
  expand(x, mask, sum);
  Values packed;
  where_true([&](std::size_t k) {
    packed.push_back(x_[k] + 1.0 + 100.0);
    x_[k] = 2.0 * x_[k] + (x_[k] + 1.0);
  });
  EXPECT_EQ(values_of(x), x_);
  EXPECT_EQ(values_of(a), packed);
}

TEST_P(Selections, mask_that_changes_is_another_mask) {
  const Array x = array_of(x_, DType::Float64);
  const Array mask = array_of(mask_, DType::Bool);
  const Array a = apply(Op::Multiply, {compress(x, mask), 2.0});
  std::vector<std::uint8_t> turned(mask_.rbegin(), mask_.rend());
  assign(mask, array_of(turned, DType::Bool));
  expand(x, mask, a);
  Values packed;
  where_true([&](std::size_t k) { packed.push_back(2.0 * x_[k]); });
  mask_ = turned;
  std::size_t next = 0;
  where_true([&](std::size_t k) { x_[k] = packed[next++]; });
  EXPECT_EQ(values_of(x), x_);
}

TEST_P(Selections, packed_elements_written_apart_are_packed) {
  const Array x = array_of(x_, DType::Float64);
  const Array mask = array_of(mask_, DType::Bool);
  const Array a = apply(Op::Multiply, {compress(x, mask), 2.0});
  const AxisSlice third{.start = 2, .step = 1, .count = 1};
  assign(slice(a, {&third, 1}), -1.0);
  expand(x, mask, a);
  std::size_t next = 0;
  where_true([&](std::size_t k) { x_[k] = next++ == 2 ? -1.0 : 2.0 * x_[k]; });
  EXPECT_EQ(values_of(x), x_);
}

// Where the mask is false nothing is computed that could fail.
TEST_P(Selections, errors_are_those_of_the_selected_elements) {
  for (std::size_t k = 0; k < large; ++k)
    if (!mask_[k]) y_[k] = 0.0;
  where_true([&](std::size_t k) { y_[k] = 4.0; });
  set_float_checks(15);
  const Array x = array_of(x_, DType::Float64), y = array_of(y_, DType::Float64);
  const Array mask = array_of(mask_, DType::Bool);
  take_float_warnings();
  expand(x, mask, apply(Op::TrueDivide, {compress(x, mask), compress(y, mask)}));
  eval();
  EXPECT_TRUE(take_float_warnings().empty());
  const Array zero = apply(Op::Subtract, {compress(y, mask), 4.0});
  const Array quotient = apply(Op::TrueDivide, {compress(x, mask), zero});
  expand(x, mask, quotient);  // computed twice, as it is still there
  eval();
  EXPECT_EQ(take_float_warnings().size(), 1u);
  set_float_checks(0);
}

TEST_P(Selections, rounds_with_other_counts_have_one_plan) {
  const Array x = array_of(x_, DType::Float64);
  const Array mask = array_of(mask_, DType::Bool);
  std::int64_t misses = 0;
  Array a;
  for (int round = 0; round < 8; ++round) {
    if (round == 3) misses = statistics().plan_misses;
    a = compress(x, mask);
    expand(x, mask, apply(Op::Subtract, {a, 3.0}));
    apply(Op::BitwiseAnd, {mask, apply(Op::Greater, {x, 0.0})}, {.out = &mask});
  }
  EXPECT_EQ(statistics().plan_misses, misses);
  for (int round = 0; round < 8; ++round) {
    where_true([&](std::size_t k) { x_[k] -= 3.0; });
    for (std::size_t k = 0; k < large; ++k) mask_[k] &= x_[k] > 0.0;
  }
  EXPECT_EQ(values_of(x), x_);
  EXPECT_EQ(values_of<std::uint8_t>(mask), mask_);
}

template <class T>
void check_pack_loops() {
  const PackLoops loops = pack_loops(sizeof(T));
  if (!loops.pack) GTEST_SKIP() << "no instructions for it";
  for (std::size_t n = 0; n < 70; ++n)
    for (unsigned seed = 1; seed < 6; ++seed) {
      std::vector<T> elements(n + 1), dense(n + 1, T{77}), back(n + 1, T{55});
      std::iota(elements.begin(), elements.end(), T{1000});
      std::vector<std::uint8_t> mask(n + 1, 1);
      for (std::size_t k = 0; k < n; ++k)  // any byte but 0 is true
        mask[k] = static_cast<std::uint8_t>((k * seed * 7919) % 5 < seed - 1 ? (k % 255) + 1 : 0);
      std::vector<T> expected_dense(n + 1, T{77}), expected_back(n + 1, T{55});
      std::int64_t count = 0;
      for (std::size_t k = 0; k < n; ++k)
        if (mask[k]) {
          expected_dense[static_cast<std::size_t>(count++)] = elements[k];
          expected_back[k] = elements[k];
        }
      const auto length = static_cast<std::int64_t>(n);
      EXPECT_EQ(loops.pack(dense.data(), elements.data(), mask.data(), length), count);
      EXPECT_EQ(dense, expected_dense);
      EXPECT_EQ(loops.unpack(back.data(), dense.data(), mask.data(), length), count);
      EXPECT_EQ(back, expected_back);
    }
}

TEST(PackLoops, move_what_is_true_and_nothing_else) {
  check_pack_loops<std::int32_t>();
  check_pack_loops<std::int64_t>();
}

TEST(PackLoops, write_the_places_of_what_is_true_and_nothing_behind_them) {
  const PlacesLoop places = places_loop();
  if (!places) GTEST_SKIP() << "no instructions for it";
  for (std::size_t n = 0; n < 200; ++n)
    for (unsigned seed = 1; seed < 8; ++seed) {
      std::vector<std::uint8_t> mask(n + 1, 1);
      std::vector<std::int64_t> expected;
      for (std::size_t k = 0; k < n; ++k) {
        mask[k] = static_cast<std::uint8_t>((k * seed * 7919) % 7 < seed - 1 ? (k % 255) + 1 : 0);
        if (mask[k]) expected.push_back(static_cast<std::int64_t>(k) + 1000);
      }
      const auto count = static_cast<std::int64_t>(expected.size());
      std::vector<std::int64_t> found(n + 9, -7);
      EXPECT_EQ(places(found.data(), mask.data(), static_cast<std::int64_t>(n), 1000, count),
                count);
      expected.resize(found.size(), -7);
      EXPECT_EQ(found, expected);
    }
}

}  // namespace
}  // namespace frit
