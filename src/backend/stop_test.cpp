// stop_test.cpp: launches that would never end, asked to stop.
#include "backend/stop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "backend/cpu/cpu.h"
#include "backend/interp/interp.h"
#include "ir/testing.h"

namespace frit {
namespace {

using testing::KernelMaker;
using testing::Launch;

constexpr std::int64_t endless = std::int64_t{1} << 61;

// Its loop goes round as often as asked; each round adds one to each number.
struct Shape {
  const char* name;
  std::function<void(KernelMaker&, int numbers, ValueId rounds)> write;
};

void add_one(KernelMaker& make, int numbers, ValueId i) {
  make.store(numbers, {{i}},
             make.apply(Op::Add, make.load(numbers, {{i}}), make.constant(std::int64_t{1})));
}

// i: as many lanes as it has, or one iteration.
void go_round(KernelMaker& make, int numbers, ValueId rounds, ValueId i) {
  const int go = make.local(DType::Bool), count = make.local(DType::Int64);
  make.write(count, make.constant(std::int64_t{0}));
  make.while_do(
      go, [&] { make.write(go, make.apply(Op::Less, make.read(count), rounds)); },
      [&] {
        add_one(make, numbers, i);
        make.write(count, make.apply(Op::Add, make.read(count), make.constant(std::int64_t{1})));
      });
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {
      {"a While of lanes",
       [](KernelMaker& make, int numbers, ValueId rounds) {
         make.parallel_vector([&](ValueId i) { go_round(make, numbers, rounds, i); });
       }},
      {"a While of one",
       [](KernelMaker& make, int numbers, ValueId rounds) {
         make.parallel([&](ValueId i) { go_round(make, numbers, rounds, i); });
       }},
      {"a loop around a loop",
       [](KernelMaker& make, int numbers, ValueId rounds) {
         const ValueId zero = make.constant(std::int64_t{0}), one = make.constant(std::int64_t{1});
         make.parallel([&](ValueId i) {
           make.serial_loop(zero, rounds, [&](ValueId) {
             make.vector_loop(i, make.apply(Op::Add, i, one),
                              [&](ValueId j) { add_one(make, numbers, j); });
           });
         });
       }},
      {"a loop of lanes",
       [](KernelMaker& make, int numbers, ValueId rounds) {
         make.parallel_vector([&](ValueId i) {
           make.serial_loop(make.constant(std::int64_t{0}), rounds,
                            [&](ValueId) { add_one(make, numbers, i); });
         });
       }},
      {"a loop with little in it",
       [](KernelMaker& make, int numbers, ValueId rounds) {
         make.parallel([&](ValueId i) {
           make.serial_loop(make.constant(std::int64_t{0}), rounds,
                            [&](ValueId) { add_one(make, numbers, i); });
         });
       }},
      {"a sum",
       [](KernelMaker& make, int numbers, ValueId rounds) {
         const int sum = make.local(DType::Int64);
         const ValueId one = make.constant(std::int64_t{1});
         make.parallel([&](ValueId i) {
           make.write(sum, make.load(numbers, {{i}}));
           make.serial_loop(make.constant(std::int64_t{0}), rounds, [&](ValueId round) {
             make.if_then(make.apply(Op::GreaterEqual, round, round),
                          [&] { make.write(sum, make.apply(Op::Add, make.read(sum), one)); });
           });
           make.store(numbers, {{i}}, make.read(sum));
         });
       }},
  };
  return list;
}

Kernel kernel_of(const Shape& shape, bool may_stop) {
  KernelMaker make;
  const int numbers = make.written(DType::Int64);
  const ValueId rounds = make.integer_arg(make.integer());
  shape.write(make, numbers, rounds);
  Kernel kernel = make.kernel();
  kernel.may_stop = may_stop;
  return kernel;
}

// Both tiers' code.
std::vector<std::pair<std::string, const Executable*>> executables(const Kernel& kernel) {
  static const std::unique_ptr<Backend> interpreter = make_interpreter();
  static const std::unique_ptr<Compiler> compiler = make_compiler();
  static std::vector<std::shared_ptr<const Executable>> kept;
  kept.push_back(interpreter->compile(kernel));
  const Compiler::Slot slot = compiler->request(kernel);
  compiler->wait();
  return {{"interpreted", kept.back().get()}, {"compiled", slot->load()}};
}

constexpr std::int64_t lanes = 20;

std::vector<std::int64_t> run(const Executable& executable, std::int64_t rounds) {
  std::vector<std::int64_t> numbers(lanes, 5);
  Launch().pointer(numbers.data()).integer(rounds).run(executable, 0, lanes);
  return numbers;
}

TEST(Stop, ends_launches_that_never_would) {
  for (const Shape& shape : shapes())
    for (const auto& [tier, executable] : executables(kernel_of(shape, true))) {
      SCOPED_TRACE(tier + " " + shape.name);
      ASSERT_TRUE(executable);
      EXPECT_EQ(run(*executable, 2500), std::vector<std::int64_t>(lanes, 2505));
      std::thread other([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        stop_state = StopState::Asked;
      });
      run(*executable, endless);
      other.join();
      stop_state = StopState::Unasked;
      EXPECT_EQ(run(*executable, 3), std::vector<std::int64_t>(lanes, 8));
    }
}

TEST(Stop, is_not_for_launches_of_other_kernels) {
  stop_state = StopState::Asked;
  for (const Shape& shape : shapes())
    for (const auto& [tier, executable] : executables(kernel_of(shape, false))) {
      SCOPED_TRACE(tier + " " + shape.name);
      EXPECT_EQ(run(*executable, 7), std::vector<std::int64_t>(lanes, 12));
    }
  stop_state = StopState::Unasked;
}

}  // namespace
}  // namespace frit
