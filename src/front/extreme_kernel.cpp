// extreme_kernel.cpp: each iteration goes through a lane, and keeps the first of the best.
#include "front/extreme_kernel.h"

#include "ir/kernel_writer.h"

namespace frit {

Kernel extreme_kernel(Op op, DType dtype) {
  KernelWriter writer;
  const std::int32_t places = writer.operand(DType::Int64, true);
  const std::int32_t elements = writer.operand(dtype, false);
  const std::int32_t length = writer.integer(), of_lane = writer.integer(),
                     of_element = writer.integer();
  const std::int32_t best = writer.local(dtype), place = writer.local(DType::Int64);
  const ValueId zero = writer.constant_int(0), one = writer.constant_int(1);
  const ValueId lane = writer.open_parallel(true);
  const auto element = [&](ValueId index) {
    return writer.load_here({.operand = elements, .terms = {{lane, of_lane}, {index, of_element}}});
  };
  writer.write_local(best, element(zero));
  writer.write_local(place, zero);
  const ValueId index = writer.open_loop(one, writer.integer_value(length), false);
  const ValueId next = element(index), before = writer.read_local(best);
  const auto truth = [&](Op which, ValueId x, ValueId y = no_value) {
    return writer.apply(which, DType::Bool, x, y);
  };
  ValueId is_better = truth(op == Op::Maximum ? Op::Greater : Op::Less, next, before);
  if (is_inexact(dtype)) {  // the first NaN is better than anything
    const ValueId is_first = truth(Op::LogicalAnd, truth(Op::Isnan, next),
                                   truth(Op::LogicalNot, truth(Op::Isnan, before)));
    is_better = truth(Op::LogicalOr, is_better, is_first);
  }
  writer.open_if(is_better);
  writer.write_local(best, next);
  writer.write_local(place, index);
  writer.close_if();
  writer.close_loop();
  writer.store({.operand = places, .terms = {{lane, unit_stride}}}, writer.read_local(place));
  writer.close_loop();
  return writer.finish();
}

}  // namespace frit
