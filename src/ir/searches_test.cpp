// searches_test.cpp: Whiles that look for an element find the same one by vectors.
#include "ir/searches.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "backend/interp/interp.h"
#include "ir/testing.h"

namespace frit {
namespace {

using testing::KernelMaker;
using testing::Launch;

// What is varied of: for k in [first, last): if x[k] < limit: place = k, stop.
struct Variant {
  using Write = std::function<ValueId(KernelMaker&, int x, ValueId k, ValueId limit)>;
  Write condition = [](KernelMaker& make, int x, ValueId k, ValueId limit) {
    return make.apply(Op::Less, make.load(x, {{k}}), limit);
  };
  std::function<void(KernelMaker&, int count)> each_round = [](KernelMaker&, int) {};
  bool counts_by_two = false, fails = false, in_lanes = false, loads_early = true;
};

Kernel search_kernel(const Variant& variant) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), places = make.written(DType::Int64);
  const int first = make.integer(), last = make.integer();
  const int limit = make.scalar(DType::Float64);
  const int go = make.local(DType::Bool), found = make.local(DType::Bool);
  const int k = make.local(DType::Int64), place = make.local(DType::Int64);
  const int count = make.local(DType::Int64);
  const ValueId begin = make.integer_arg(first), end = make.integer_arg(last);
  const ValueId below = make.scalar_arg(limit);
  const ValueId step = make.constant(std::int64_t{variant.counts_by_two ? 2 : 1});
  const ValueId none = make.constant(std::int64_t{-1}), zero = make.constant(std::int64_t{0});
  const ValueId yes = make.constant(DType::Bool, std::uint8_t{1});
  const ValueId no = make.constant(DType::Bool, std::uint8_t{0});
  const auto search = [&](ValueId i) {
    make.write(k, begin);
    make.write(place, none);
    make.write(found, no);
    make.write(count, zero);
    make.while_do(
        go,
        [&] {
          const ValueId is_below = make.apply(Op::Less, make.read(k), end);
          const ValueId is_open = make.apply(Op::LogicalNot, make.read(found));
          make.write(go, make.apply(Op::LogicalAnd, is_below, is_open));
        },
        [&] {
          const ValueId at = make.read(k);
          make.write(k, make.apply(Op::Add, at, step));
          variant.each_round(make, count);
          make.if_then(variant.condition(make, x, at, below), [&] {
            make.write(place, at);
            make.write(found, yes);
          });
        });
    make.store(places, {{i}}, make.apply(Op::Add, make.read(place), make.read(count)));
  };
  if (variant.in_lanes)
    make.parallel_vector(search);
  else
    make.parallel(search);
  Kernel kernel = make.kernel();
  for_each_instr(kernel.code, [&](const Instr& instr) {
    if (instr.kind == InstrKind::If) const_cast<Instr&>(instr).fails = variant.fails;
  });
  kernel.loads_early = variant.loads_early;
  return kernel;
}

bool is_search(const Variant& variant) { return with_searches(search_kernel(variant)).has_value(); }

TEST(Searches, find_what_a_round_after_the_other_finds) {
  const Kernel kernel = search_kernel({});
  const std::optional<Kernel> by_vectors = with_searches(kernel);
  ASSERT_TRUE(by_vectors.has_value());
  verify(*by_vectors);
  EXPECT_EQ(with_searches(kernel), by_vectors);
  const auto executable = make_interpreter()->compile(*by_vectors);
  constexpr std::int64_t n = 700;
  for (const std::int64_t first : {0, 1, 5, 690})
    for (const std::int64_t last : {0, 1, 15, 16, 17, 143, 144, 145, 400, 699, 700})
      for (std::int64_t at = -1; at < n; at += at < 300 ? 1 : 37) {
        std::vector<double> x(n, 1.0);
        for (std::int64_t k = at; k >= 0 && k < n; k += 9) x[static_cast<std::size_t>(k)] = -1.0;
        std::int64_t expected = -1, got = -2;
        for (std::int64_t k = first; k < last && expected < 0; ++k)
          if (x[static_cast<std::size_t>(k)] < 0) expected = k;
        Launch()
            .pointer(x.data())
            .pointer(&got)
            .integer(first)
            .integer(last)
            .scalar(DType::Float64, 0.0)
            .run(*executable, 0, 1);
        ASSERT_EQ(got, expected) << first << ' ' << last << ' ' << at;
      }
}

TEST(Searches, are_those_whose_rounds_do_nothing_else) {
  EXPECT_TRUE(is_search({}));
  EXPECT_FALSE(is_search({.loads_early = false})) << "elements behind may lie outside of memory";
  EXPECT_FALSE(is_search({.in_lanes = true})) << "they are lanes already";
  EXPECT_FALSE(is_search({.counts_by_two = true})) << "elements lie apart";
  EXPECT_FALSE(is_search({.fails = true})) << "nobody looks for an error";
  EXPECT_FALSE(is_search({.each_round = [](KernelMaker& make, int count) {
    make.write(count, make.apply(Op::Add, make.read(count), make.constant(std::int64_t{1})));
  }})) << "each round does something";
}

TEST(Searches, ask_what_vectors_compute_from_elements_side_by_side) {
  using Write = Variant::Write;
  const auto is_asked = [](const Write& condition) { return is_search({.condition = condition}); };
  EXPECT_TRUE(is_asked([](KernelMaker& make, int x, ValueId k, ValueId limit) {
    const ValueId size = make.apply(Op::Absolute, make.load(x, {{k}}));
    return make.apply(Op::LogicalNot, make.apply(Op::LessEqual, size, limit));
  }));
  EXPECT_FALSE(is_asked([](KernelMaker& make, int, ValueId k, ValueId) {
    return make.apply(Op::Equal, k, k);
  })) << "of no element";
  EXPECT_FALSE(is_asked([](KernelMaker& make, int x, ValueId k, ValueId limit) {
    return make.apply(Op::Less, make.load(x, {{k, 0}}), limit);
  })) << "elements lie apart";
  EXPECT_FALSE(is_asked([](KernelMaker& make, int x, ValueId k, ValueId limit) {
    return make.apply(Op::Less, make.load(x, {{make.apply(Op::Multiply, k, k)}}), limit);
  })) << "elements lie anywhere";
  EXPECT_FALSE(is_asked([](KernelMaker& make, int x, ValueId k, ValueId limit) {
    return make.apply(Op::Less, make.apply(Op::Sqrt, make.load(x, {{k}})), limit);
  })) << "a round that is not come to would warn";
}

}  // namespace
}  // namespace frit
