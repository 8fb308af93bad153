// interpreted_work_test.cpp: the estimates follow the arguments that loops depend on.
#include "engine/interpreted_work.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

// for i (parallel): for j in begin..end: local = local + 1
Kernel kernel_of_loops() {
  Kernel kernel;
  kernel.integers = 2;
  kernel.values = {DType::Int64, DType::Int64, DType::Int64, DType::Int64, DType::Int64};
  kernel.locals = {DType::Int64};
  const auto made = [](InstrKind kind, ValueId result, std::int32_t number) {
    Instr instr;
    instr.kind = kind;
    instr.result = result;
    instr.number = number;
    return instr;
  };
  const Instr begin = made(InstrKind::IntegerArg, 0, 0), end = made(InstrKind::IntegerArg, 1, 1);
  Instr inner = made(InstrKind::Loop, 3, -1), outer = made(InstrKind::Loop, 2, -1);
  inner.args[0] = begin.result;
  inner.args[1] = end.result;
  inner.body.push_back(made(InstrKind::ReadLocal, 4, 0));
  outer.parallel = true;
  outer.body.push_back(inner);
  kernel.code = {begin, end, outer};
  return kernel;
}

double work_of(std::int64_t begin, std::int64_t end, std::int64_t extent) {
  const std::int64_t integers[] = {begin, end};
  return interpreted_work(kernel_of_loops(), {nullptr, integers, nullptr}, extent);
}

TEST(InterpretedWork, grows_with_the_rounds_and_the_points) {
  const double one = work_of(0, 1, 1);
  EXPECT_GT(one, 0);
  EXPECT_DOUBLE_EQ(work_of(0, 1000, 1), 1000 * one);
  EXPECT_DOUBLE_EQ(work_of(-500, 500, 3), 3000 * one);
  EXPECT_EQ(work_of(5, 5, 10), 0);
  EXPECT_EQ(work_of(9, 5, 10), 0);
  EXPECT_GT(work_of(INT64_MIN, INT64_MAX, 10), 1e19);
}

}  // namespace
}  // namespace frit
