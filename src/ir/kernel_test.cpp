// kernel_test.cpp: verify, print, serialize and variance of Kernels.
#include "ir/kernel.h"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <vector>

#include "ir/error.h"
#include "ir/testing.h"

namespace frit {
namespace {

using testing::KernelMaker;

std::string refusal(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "accepted";
}
void expect_refused(const KernelMaker& make, const std::string& rule) {
  EXPECT_EQ(refusal(make.unverified()), "frit: internal error: " + rule);
}

// y[i] = x[i * n0] + s0, by rows with a sum of each.
Kernel row_kernel() {
  KernelMaker make;
  const int x = make.operand(DType::Float64), y = make.written(DType::Float64);
  const int n = make.integer(), row = make.integer(), column = make.integer();
  const int s = make.scalar(DType::Float64), sum = make.local(DType::Float64);
  const ValueId zero = make.constant(std::int64_t{0}), end = make.integer_arg(n);
  const ValueId added = make.scalar_arg(s), start = make.constant(-0.5);
  make.parallel([&](ValueId i) {
    make.write(sum, start);
    make.vector_loop(zero, end, [&](ValueId j) {
      const ValueId value = make.apply(Op::Add, make.load(x, {{i, row}, {j, column}}), added);
      return std::vector<Reduction>{{Op::Add, value, sum}};
    });
    make.store(y, {{i}}, make.read(sum));
  });
  return make.kernel();
}

TEST(KernelVerify, only_a_vector_loop_in_the_parallel_one_fetches_from_what_is_defined_outside) {
  Kernel kernel = row_kernel();
  Instr& parallel = kernel.code[4];
  Fetch fetch{.address = {.operand = 0, .terms = {{parallel.result, 1}}}, .elements = 4};
  parallel.body[1].fetches = {fetch};
  EXPECT_EQ(refusal(kernel), "accepted");
  EXPECT_NE(print(kernel).find("  vector loop v5 in v0..v1\n    fetch x0[v4*n1] by 4\n"),
            std::string::npos)
      << print(kernel);
  parallel.body[1].fetches[0].address.terms[0].index = parallel.body[1].result;
  EXPECT_EQ(refusal(kernel), "frit: internal error: a value is used where it is visible");
  parallel.body[1].fetches.clear();
  parallel.fetches = {fetch};
  EXPECT_EQ(refusal(kernel),
            "frit: internal error: only a vector loop inside of another one fetches");
}

TEST(KernelVerify, a_loop_with_reductions_does_not_repeat) {
  Kernel kernel = row_kernel();
  Instr& rows = kernel.code[4].body[1];
  rows.repeats = true;
  EXPECT_EQ(refusal(kernel),
            "frit: internal error: only a vector loop inside of another one, without reductions, "
            "repeats");
  rows.reductions.clear();
  EXPECT_EQ(refusal(kernel), "accepted");
  EXPECT_NE(print(kernel).find("repeating loop v5"), std::string::npos) << print(kernel);
}

TEST(KernelPrint, shows_one_instruction_a_line_and_nesting_by_indentation) {
  EXPECT_EQ(print(row_kernel()),
            "kernel x0 float64, x1 float64 written, s0 float64, n0 int64, n1 int64, n2 int64, l0 "
            "float64\n"
            "v0 int64 = 0\n"
            "v1 int64 = n0\n"
            "v2 float64 = s0\n"
            "v3 float64 = -0.5\n"
            "parallel loop v4\n"
            "  l0 = v3\n"
            "  vector loop v5 in v0..v1\n"
            "    v6 float64 = load x0[v4*n1 + v5*n2]\n"
            "    v7 float64 = Add v6, v2\n"
            "  reduce l0 by Add of v7\n"
            "  v8 float64 = l0\n"
            "  store x1[v4] = v8\n");
}

TEST(KernelPrint, shows_branches_whiles_casts_and_scratch) {
  KernelMaker make;
  const int at = make.integer();
  const int x = make.scratch(DType::Float32, at), go = make.local(DType::Bool);
  const ValueId yes = make.constant(DType::Bool, std::uint8_t{1});
  make.parallel_vector([&](ValueId i) {
    const ValueId value = make.cast(DType::Int32, make.load(x, {{i}}));
    make.if_else(
        yes, [&] { make.write(go, yes); }, [&] { make.cast(DType::Float64, value); });
    make.while_do(
        go, [&] { make.write(go, yes); }, [&] { make.read(go); });
  });
  EXPECT_EQ(print(make.kernel()),
            "kernel x0 float32 written scratch at n0, n0 int64, l0 bool\n"
            "v0 bool = true\n"
            "parallel vector loop v1\n"
            "  v2 float32 = load x0[v1]\n"
            "  v3 int32 = cast v2\n"
            "  if v0\n"
            "    l0 = v0\n"
            "  else\n"
            "    v4 float64 = cast v3\n"
            "  while l0 after\n"
            "    l0 = v0\n"
            "  do\n"
            "    v5 bool = l0\n");

  Kernel failing = make.kernel();
  Instr& branch = failing.code.back().body[2];
  branch.fails = true;
  EXPECT_EQ(refusal(failing), "frit: internal error: an If that fails has no else");
  branch.other.clear();
  EXPECT_NE(print(failing).find("  fail if v0\n    l0 = v0\n  while"), std::string::npos);
}

TEST(KernelSerialize, differs_for_every_change_of_structure) {
  const Kernel kernel = row_kernel();
  const std::string bytes = serialize(kernel);
  EXPECT_EQ(bytes, serialize(row_kernel()));
  const auto expect_changed = [&](auto&& change) {
    Kernel other = kernel;
    change(other);
    EXPECT_NE(bytes, serialize(other));
  };
  expect_changed([](Kernel& k) { k.operands[0].dtype = DType::Float32; });
  expect_changed([](Kernel& k) { k.operands[1].written = false; });
  expect_changed([](Kernel& k) { k.operands[1].scratch_offset = 0; });
  expect_changed([](Kernel& k) { k.operands[1].beside = 0; });
  expect_changed([](Kernel& k) { k.operands[1].distance = 1; });
  expect_changed([](Kernel& k) { k.scalars[0] = DType::Int8; });
  expect_changed([](Kernel& k) { ++k.integers; });
  expect_changed([](Kernel& k) { k.locals[0] = DType::Float32; });
  expect_changed([](Kernel& k) { k.values[7] = DType::Float32; });
  expect_changed([](Kernel& k) { k.code[3].constant = Scalar::of(DType::Float64, 0.25); });
  expect_changed([](Kernel& k) { k.code[4].vector = true; });
  expect_changed([](Kernel& k) { k.code[4].tree = true; });
  expect_changed([](Kernel& k) { k.code[4].repeats = true; });
  expect_changed([](Kernel& k) { k.code[4].body[1].reductions[0].op = Op::Multiply; });
  expect_changed(
      [](Kernel& k) { k.code[4].body[1].body[0].address.terms[1].stride = unit_stride; });
  expect_changed([](Kernel& k) { k.code[4].body[1].body[0].address.terms.pop_back(); });
  expect_changed([](Kernel& k) { k.code[4].body[1].body[1].op = Op::Multiply; });
  expect_changed(
      [](Kernel& k) { k.code[4].body[1].fetches.push_back({.address = {}, .elements = 1}); });
  expect_changed([](Kernel& k) { k.code[4].body[3].streaming = true; });
  expect_changed([](Kernel& k) { k.code[4].body[2].quiet = true; });
  expect_changed([](Kernel& k) { k.from_own_cache = true; });
  expect_changed([](Kernel& k) { k.loads_early = true; });
  expect_changed([](Kernel& k) { std::swap(k.code[4].body[2], k.code[4].body[3]); });

  Kernel two, three;
  for (Kernel* k : {&two, &three}) k->code.emplace_back().kind = InstrKind::While;
  EXPECT_EQ(serialize(two), serialize(three));
  two.code[0].rounds = 2;
  three.code[0].rounds = 3;
  EXPECT_NE(serialize(two), serialize(three));
  three = two;
  for (Kernel* k : {&two, &three}) k->code[0].kind = InstrKind::If;
  three.code[0].fails = true;
  EXPECT_NE(serialize(two), serialize(three));
}

TEST(KernelVariance, follows_the_vector_index_through_values_locals_and_masks) {
  KernelMaker make;
  const int x = make.operand(DType::Float64);
  const int varying = make.local(DType::Float64), uniform = make.local(DType::Float64);
  const int masked = make.local(DType::Float64), summed = make.local(DType::Float64);
  const ValueId zero = make.constant(std::int64_t{0}), three = make.constant(std::int64_t{3});
  const ValueId one = make.constant(1.0);
  ValueId element, first, sum, compared, index, read_before_write;
  make.parallel_vector([&](ValueId i) {
    make.write(summed, one);
    make.write(varying, one);
    make.serial_loop(zero, three, [&](ValueId j) {
      index = j;
      read_before_write = make.read(varying);
      element = make.load(x, {{i}});
      first = make.load(x, {{j}});
      sum = make.apply(Op::Add, first, one);
      make.write(varying, element);
      make.write(uniform, sum);
      return std::vector<Reduction>{{Op::Add, element, summed}};
    });
    compared = make.apply(Op::Less, element, one);
    make.if_then(compared, [&] { make.write(masked, one); });
  });
  // `element` was used outside the loop that defines it.
  EXPECT_EQ(refusal(make.unverified()),
            "frit: internal error: a value is used where it is visible");
  const Variance variance = variance_of(make.unverified());
  const auto varies = [&](ValueId id) {
    return bool{variance.values[static_cast<std::size_t>(id)]};
  };
  EXPECT_TRUE(varies(element));
  EXPECT_TRUE(varies(compared));
  EXPECT_TRUE(varies(read_before_write));
  EXPECT_FALSE(varies(first));
  EXPECT_FALSE(varies(sum));
  EXPECT_FALSE(varies(index));
  EXPECT_EQ(variance.locals, (std::vector<bool>{true, false, true, true}));
}

TEST(KernelVariance, makes_everything_written_in_a_while_on_lanes_vary) {
  KernelMaker make;
  const int x = make.operand(DType::Float64), go = make.local(DType::Bool);
  const int count = make.local(DType::Int64);
  const ValueId zero = make.constant(std::int64_t{0}), one = make.constant(1.0);
  make.parallel_vector([&](ValueId i) {
    make.write(count, zero);
    make.while_do(
        go, [&] { make.write(go, make.apply(Op::Less, make.load(x, {{i}}), one)); },
        [&] { make.write(count, make.apply(Op::Add, make.read(count), zero)); });
  });
  EXPECT_EQ(variance_of(make.kernel()).locals, (std::vector<bool>{true, true}));
}

// What ending_if says of a loop for k in [0, 3) with this body; the If stands last.
bool ends_early(const std::function<ValueId(KernelMaker&, ValueId, int)>& body,
                std::vector<Reduction> reductions = {}) {
  KernelMaker make;
  make.written(DType::Int64);
  const int left = make.local(DType::Bool);
  make.local(DType::Int64);
  const ValueId zero = make.constant(std::int64_t{0}), three = make.constant(std::int64_t{3});
  const ValueId yes = make.constant(DType::Bool, true);
  make.parallel([&](ValueId) {
    make.serial_loop(zero, three, [&](ValueId k) {
      make.if_then(body(make, k, left), [&] { make.write(left, yes); });
      return reductions;
    });
  });
  const Kernel kernel = make.unverified();
  const Instr& loop = parallel_loop(kernel).body.back();
  const Instr* ending = ending_if(loop);
  EXPECT_TRUE(!ending || ending == &loop.body.back());
  return ending != nullptr;
}

TEST(KernelEndingIf, is_all_that_a_loop_does_under_a_condition_that_only_it_changes) {
  const auto not_left = [](KernelMaker& make, ValueId, int left) {
    return make.apply(Op::LogicalNot, make.read(left));
  };
  EXPECT_TRUE(ends_early(not_left));
  EXPECT_FALSE(ends_early([](KernelMaker& make, ValueId k, int left) {
    const ValueId early = make.apply(Op::Less, k, k);
    return make.apply(Op::LogicalAnd, early, make.apply(Op::LogicalNot, make.read(left)));
  })) << "it follows from the round";
  EXPECT_FALSE(ends_early([](KernelMaker& make, ValueId, int) {
    const ValueId loaded = make.load(0, {});
    return make.apply(Op::Less, loaded, loaded);
  })) << "it follows from memory";
  EXPECT_FALSE(ends_early([&](KernelMaker& make, ValueId k, int left) {
    make.write(1, k);
    return not_left(make, k, left);
  })) << "each round writes a local";
  EXPECT_FALSE(ends_early([&](KernelMaker& make, ValueId k, int left) {
    make.store(0, {{k}}, k);
    return not_left(make, k, left);
  })) << "each round stores";
  EXPECT_FALSE(ends_early(not_left, {{Op::Add, 0, 1}})) << "each round adds to a sum";
  EXPECT_TRUE(ends_early(
      [](KernelMaker& make, ValueId, int) { return make.constant(DType::Bool, false); }));
}

TEST(KernelVerify, refuses_a_kernel_that_does_not_end_with_its_parallel_loop) {
  KernelMaker make;
  expect_refused(make, "a kernel ends with its parallel loop");
  make.constant(1.0);
  expect_refused(make, "a kernel ends with its parallel loop");
  make.parallel([](ValueId) {});
  EXPECT_EQ(refusal(make.unverified()), "accepted");
  make.constant(1.0);
  expect_refused(make, "a kernel ends with its parallel loop");
}

TEST(KernelVerify, refuses_memory_access_before_the_parallel_loop) {
  KernelMaker make;
  const int x = make.operand(DType::Float64);
  make.load(x, {});
  make.parallel([](ValueId) {});
  expect_refused(make, "before the parallel loop stand only constants, arguments, Apply and Cast");
}

TEST(KernelVerify, refuses_a_second_parallel_loop) {
  KernelMaker make;
  make.parallel([&](ValueId) { make.parallel([](ValueId) {}); });
  expect_refused(make, "the one parallel loop is at the root");
}

TEST(KernelVerify, refuses_a_vector_loop_inside_another) {
  KernelMaker make;
  const ValueId zero = make.constant(std::int64_t{0});
  make.parallel_vector([&](ValueId) { make.vector_loop(zero, zero, [](ValueId) {}); });
  expect_refused(make, "a vector loop is not inside another");
}

TEST(KernelVerify, refuses_bounds_that_differ_between_lanes) {
  KernelMaker make;
  const ValueId zero = make.constant(std::int64_t{0});
  make.parallel_vector([&](ValueId i) { make.serial_loop(zero, i, [](ValueId) {}); });
  expect_refused(make, "the bounds of a loop inside a vector loop are uniform");
}

TEST(KernelVerify, refuses_a_parallel_loop_with_reductions) {
  KernelMaker make;
  const int sum = make.local(DType::Int64);
  make.parallel([&](ValueId i) { return std::vector<Reduction>{{Op::Add, i, sum}}; });
  expect_refused(make, "a loop with reductions is not parallel");
}

TEST(KernelVerify, refuses_reductions_with_different_trees_in_one_loop) {
  KernelMaker make;
  const int real = make.local(DType::Float64), complex = make.local(DType::Complex128);
  const int count = make.local(DType::Int64);
  const ValueId zero = make.constant(std::int64_t{0}), one = make.constant(1.0);
  const ValueId i = make.constant(DType::Complex128, std::complex<double>(0, 1));
  make.parallel([&](ValueId) {
    make.vector_loop(zero, zero, [&](ValueId j) {
      return std::vector<Reduction>{
          {Op::Add, j, count}, {Op::Add, one, real}, {Op::Add, i, complex}};
    });
  });
  expect_refused(make, "the reductions of a loop have the same tree");
  make.unverified().code.back().body[0].reductions.pop_back();
  EXPECT_EQ(refusal(make.unverified()), "accepted");
}

TEST(KernelVerify, refuses_values_of_the_wrong_type) {
  KernelMaker make;
  const int x = make.written(DType::Float32), l = make.local(DType::Int8);
  const ValueId one = make.constant(1.0);
  make.parallel([&](ValueId i) { make.store(x, {{i}}, one); });
  expect_refused(make, "a Store's value has its operand's type");
  Instr& store = make.unverified().code.back().body[0];
  store.kind = InstrKind::WriteLocal;
  store.number = l;
  expect_refused(make, "a WriteLocal's value has its local's type");
  store.kind = InstrKind::If;
  expect_refused(make, "the condition of an If is Bool");
  store.kind = InstrKind::While;
  expect_refused(make, "the local of a While is Bool");
  store.kind = InstrKind::Apply;
  store.op = Op::Add;
  store.args[1] = make.unverified().code.back().result;
  expect_refused(make, "the operands of an Apply have its op's types");
}

TEST(KernelVerify, refuses_a_store_to_an_operand_that_is_not_written) {
  KernelMaker make;
  const int x = make.operand(DType::Float64);
  const ValueId one = make.constant(1.0);
  make.parallel([&](ValueId i) { make.store(x, {{i}}, one); });
  expect_refused(make, "a Store's operand is written");
}

TEST(KernelVerify, refuses_values_outside_their_scope_and_defined_twice) {
  KernelMaker make;
  const ValueId yes = make.constant(DType::Bool, std::uint8_t{1});
  ValueId inner = no_value;
  make.parallel([&](ValueId) {
    make.if_then(yes, [&] { inner = make.constant(1.0); });
    make.apply(Op::Negative, inner);
  });
  expect_refused(make, "a value is used where it is visible");
  Block& body = make.unverified().code.back().body;
  body.pop_back();
  EXPECT_EQ(refusal(make.unverified()), "accepted");
  body.push_back(body[0].body[0]);
  expect_refused(make, "a value is defined once");
}

TEST(KernelVerify, refuses_numbers_outside_the_tables) {
  KernelMaker make;
  const int x = make.operand(DType::Float64);
  make.parallel([&](ValueId i) { make.load(x, {{i}}); });
  Kernel& kernel = make.unverified();
  Instr& load = kernel.code.back().body[0];
  load.address.terms[0].stride = 0;
  expect_refused(make, "a stride is unit_stride or an integer argument");
  load.address.terms[0].index = 77;
  expect_refused(make, "a value is used where it is visible");
  load.address.operand = 1;
  expect_refused(make, "an address names an operand of the kernel");
  load.kind = InstrKind::ReadLocal;
  load.number = 0;
  expect_refused(make, "a local is in the kernel's table");
  load.kind = InstrKind::ScalarArg;
  expect_refused(make, "a scalar argument is in the kernel's table");
  load.kind = InstrKind::IntegerArg;
  expect_refused(make, "an integer argument is below the kernel's count");
  kernel.operands[0].scratch_offset = 0;
  expect_refused(make, "a scratch operand's offset is an integer argument");
  kernel.operands[0].scratch_offset = -1;
  kernel.operands[0].beside = 0;
  expect_refused(make, "an operand is beside an earlier one");
}

TEST(KernelVerify, refuses_lane_locals_outside_vector_loops) {
  KernelMaker make;
  const int l = make.local(DType::Int64);
  const ValueId zero = make.constant(std::int64_t{0});
  make.parallel([&](ValueId) {
    make.vector_loop(zero, zero, [&](ValueId j) { make.write(l, j); });
    make.read(l);
  });
  expect_refused(make, "a local that differs between lanes is used only inside vector loops");
}

TEST(TreeClass, separates_sums_of_real_and_complex_numbers_from_everything_else) {
  EXPECT_EQ(tree_class(Op::Add, DType::Float64), 1);
  EXPECT_EQ(tree_class(Op::Add, DType::Float16), 1);
  EXPECT_EQ(tree_class(Op::Add, DType::Complex64), 2);
  EXPECT_EQ(tree_class(Op::Add, DType::Int64), 0);
  EXPECT_EQ(tree_class(Op::Multiply, DType::Float64), 0);
  EXPECT_EQ(tree_class(Op::Maximum, DType::Float64), 0);
}

}  // namespace
}  // namespace frit
