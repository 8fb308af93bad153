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
  // Is the initial value the first of the elements, not one to be combined with their result?
  bool starts_from_initial(const Accumulator& a) const;

  // ---- what NumPy copies to a buffer (lower_buffered.cpp) ---------------------------------------

  // The reduced axes of a buffered reduction: one index of `rows` and all of `inner` are `core`
  // elements of the buffer.
  struct BufferedAxes {
    std::vector<Axis> outer;
    Axis rows;
    std::vector<Axis> inner;
    std::int64_t core = 1, rows_at_once = 1;
    std::int64_t chunks() const { return (rows.extent + rows_at_once - 1) / rows_at_once; }
  };
  BufferedAxes buffered_axes() const;
  // One buffer full, each reduction into its local.
  void reduce_chunk(BufferedAxes& axes, ValueId chunk, std::vector<Accumulator>& accumulators);
  // All of it, one buffer after another.
  void reduce_buffered(BufferedAxes& axes, std::vector<Accumulator>& accumulators);

 private:
  ValueId reduced_input(const Member& m);
};

}  // namespace frit
