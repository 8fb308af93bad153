// lower_reduce.h: what the lowerings of groups with reductions share: accumulators and axes.
#pragma once

#include <vector>

#include "schedule/lower_body.h"

namespace frit {

class ReducingBody : public Body {
 protected:
  struct Accumulator {
    const Member* member;
    std::int32_t local = -1;
    ValueId value = no_value;  // of the current loop body
  };

  explicit ReducingBody(const Lowering& lowering) : Body(lowering) {}

  bool is_reduced(int axis) const { return (group_.reduced >> axis & 1) != 0; }
  DType type_of_reduction(const Member& m) const { return node_of(m).signature.in[0]; }
  ValueId neutral(const Member& m);
  std::vector<Axis> kept_axes() const;
  // The inner axes of a reduction: the last one for vectors.
  std::vector<Axis> reduced_axes() const;

  std::vector<Accumulator> accumulators_of(int phase);
  std::vector<Reduction> reductions_of(const std::vector<Accumulator>& accumulators) const;
  // Full members and reductions of one phase, in program order, at one point.
  void point(int phase, std::vector<Accumulator>& accumulators);
  void combine_local(std::int32_t local, Op op, ValueId value);

 private:
  ValueId reduced_input(const Member& m);
};

}  // namespace frit
