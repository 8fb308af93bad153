// lower_reduce.cpp: accumulators of reductions, and which axes are walked in which order.
#include "schedule/lower_reduce.h"

#include <algorithm>

#include "ir/error.h"
#include "ir/neutral.h"

namespace frit {

ValueId ReducingBody::neutral(const Member& m) {
  const auto value = neutral_of(node_of(m).op, type_of_reduction(m));
  check(value.has_value(), "a reduction has a neutral element");
  return writer_.constant(*value);
}

ValueId ReducingBody::reduced_input(const Member& m) {
  const Node& node = node_of(m);
  add_cost(node.op);
  return writer_.cast(resolve(m, 0), node.signature.in[0]);
}

std::vector<Axis> ReducingBody::kept_axes() const {
  std::vector<int> axes;
  for (int axis : group_.order)
    if (!is_reduced(axis)) axes.push_back(axis);
  return merge(axes);
}

std::vector<Axis> ReducingBody::reduced_axes() const {
  std::vector<int> axes;
  for (int axis : group_.order)
    if (is_reduced(axis)) axes.push_back(axis);
  if (!group_.ordered) return merge(axes);
  // What NumPy does not take as one inner loop must stay apart.
  std::vector<int> outer, tree;
  for (int axis : axes)
    (std::find(group_.tree.begin(), group_.tree.end(), axis) == group_.tree.end() ? outer : tree)
        .push_back(axis);
  std::vector<Axis> merged;
  for (int axis : outer) merged.push_back({.members = {axis}, .extent = extent_of(axis)});
  for (Axis& axis : merge(tree)) merged.push_back(std::move(axis));
  return merged;
}

std::vector<ReducingBody::Accumulator> ReducingBody::accumulators_of(int phase) {
  std::vector<Accumulator> result;
  for (const Member& m : group_.members)
    if (m.level == Level::Reduce && m.phase == phase)
      result.push_back({.member = &m, .local = writer_.local(type_of_reduction(m))});
  return result;
}

std::vector<Reduction> ReducingBody::reductions_of(
    const std::vector<Accumulator>& accumulators) const {
  std::vector<Reduction> result;
  for (const Accumulator& a : accumulators)
    result.push_back({node_of(*a.member).op, a.value, a.local});
  return result;
}

void ReducingBody::point(int phase, std::vector<Accumulator>& accumulators) {
  for (const Member& m : group_.members) {
    if (m.phase != phase) continue;
    if (m.level == Level::Full) run_member(m);
    if (m.level == Level::Reduce)
      for (Accumulator& a : accumulators)
        if (a.member == &m) a.value = reduced_input(m);
  }
}

bool ReducingBody::starts_from_initial(const Accumulator& a) const {
  const Op op = node_of(*a.member).op;
  const DType type = type_of_reduction(*a.member);
  return tree_class(op, type) == 0 && !reduces_in_any_order(op, type);
}

void ReducingBody::combine_local(std::int32_t local, Op op, ValueId value) {
  const ValueId before = writer_.read_local(local);
  writer_.write_local(local, writer_.apply(op, writer_.type_of(before), before, value));
}

}  // namespace frit
