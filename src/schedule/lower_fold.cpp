// lower_fold.cpp: lowers a Fold: everything to one element, in parts that follow NumPy's tree.
#include <algorithm>

#include "schedule/lower_reduce.h"

namespace frit {
namespace {

constexpr std::int64_t fold_at_once = 1 << 15;  // elements that one part folds
// Elements of one part of a larger fold. Smaller ones are smaller nodes of the same tree.
constexpr std::int64_t most_grain = 1 << 15, least_grain = 1 << 11, parts_for_device = 1 << 10;

class FoldBody final : public ReducingBody {
 public:
  explicit FoldBody(const Lowering& lowering) : ReducingBody(lowering) {}

  void lower() {
    std::vector<Axis> axes = group_.ordered ? reduced_axes() : merge(group_.order);
    std::int64_t total = 1;
    for (const Axis& a : axes) total *= a.extent;
    allow_streaming();
    bool one_after_another = false;
    for (const Member& m : group_.members)
      if (m.level == Level::Reduce) {
        const Op op = node_of(m).op;
        const DType type = type_of_reduction(m);
        if (!reduces_in_any_order(op, type) && tree_class(op, type) == 0) one_after_another = true;
      }
    const bool at_one_go = total <= fold_at_once || one_after_another;
    if (group_.ordered && group_.buffered)
      return at_one_go ? fold_buffered_at_one_go() : fold_buffered();
    if (at_one_go || axes.empty()) return fold_at_one_go(axes);
    if (axes.size() > 1) return fold_rows(axes);
    fold_tree(axes[0]);
  }

 private:
  struct Partial {
    std::uint32_t slot;
    std::int32_t operand;
  };

  struct Folded {
    const Member* member;
    std::uint32_t slot;
  };

  void fold_at_one_go(std::vector<Axis>& axes) {
    writer_.open_parallel(false);
    step_.extent = 1;
    std::vector<Accumulator> accumulators = accumulators_of(0);
    for (Accumulator& a : accumulators) writer_.write_local(a.local, scalar(*a.member, 0));
    for (std::size_t k = 0; k < axes.size(); ++k)
      open(axes[k], !lanes_inside_ && k + 1 == axes.size());
    point(0, accumulators);
    flush(full_);
    if (axes.empty())
      for (Accumulator& a : accumulators) combine_local(a.local, node_of(*a.member).op, a.value);
    else
      close(reductions_of(accumulators));
    for (std::size_t k = 1; k < axes.size(); ++k) close();
    full_.clear();
    store_results(accumulators);
  }

  void store_results(const std::vector<Accumulator>& accumulators) {
    for (const Accumulator& a : accumulators) {
      const Member& m = *a.member;
      if (!stored(m.out.slot)) continue;
      writer_.store(address(m.out, MemoryAccess::Write),
                    writer_.cast(writer_.read_local(a.local), m.out.dtype));
    }
    close_flat();
    finish_launch();
  }

  void fold_buffered_at_one_go() {
    writer_.open_parallel(false);
    step_.extent = 1;
    std::vector<Accumulator> accumulators = accumulators_of(0);
    for (Accumulator& a : accumulators) writer_.write_local(a.local, scalar(*a.member, 0));
    BufferedAxes axes = buffered_axes();
    reduce_buffered(axes, accumulators);
    store_results(accumulators);
  }

  // NumPy combines the results of its buffers one after another.
  void fold_buffered() {
    BufferedAxes axes = buffered_axes();
    std::vector<Axis> parts = axes.outer;
    parts.push_back({.members = {}, .extent = axes.chunks()});
    open_flat(parts);
    nest_.pop_back();  // a chunk is no axis of any window
    const ValueId part = row_number(parts);
    std::vector<Accumulator> accumulators = accumulators_of(0);
    const std::vector<Partial> partials = partials_for(accumulators, step_.extent);
    for (Accumulator& a : accumulators) writer_.write_local(a.local, neutral(*a.member));
    reduce_chunk(axes, parts.back().index, accumulators);
    store_partials(accumulators, partials, part);
    add_combines(step_.extent, 0, 0);
  }

  // Each outer point folds its inner run; NumPy combines those one after another.
  void fold_rows(std::vector<Axis>& axes) {
    std::vector<Axis> outer(axes.begin(), axes.end() - 1);
    Axis& inner = axes.back();
    open_flat(outer);
    const ValueId row = row_number(outer);
    fold_body(inner, writer_.constant_int(0), writer_.integer_value(extent_argument(inner)), row,
              step_.extent);
    add_combines(step_.extent, 0, 0);
  }

  ValueId row_number(const std::vector<Axis>& outer) {
    ValueId row = outer[0].index;
    for (std::size_t k = 1; k < outer.size(); ++k) {
      const ValueId scaled =
          writer_.apply(Op::Multiply, DType::Int64, row, integer_value(outer[k].extent));
      row = writer_.apply(Op::Add, DType::Int64, scaled, outer[k].index);
    }
    return row;
  }

  // The parts are nodes of NumPy's tree over the whole extent; the combination goes on up the same
  // tree.
  void fold_tree(Axis& axis) {
    DType tree_type = DType::Int64;
    bool tree = false;
    for (const Member& m : group_.members)
      if (m.level == Level::Reduce && tree_class(node_of(m).op, type_of_reduction(m)) != 0) {
        tree = true;
        tree_type = type_of_reduction(m);
      }
    std::vector<std::int64_t> bounds{0};
    const std::int64_t grain =
        segment_.for_device ? std::clamp(axis.extent / parts_for_device, least_grain, most_grain)
                            : most_grain;
    if (tree)
      split_tree(tree_type, axis.extent, grain, bounds);
    else
      for (std::int64_t k = grain; bounds.back() < axis.extent; k += grain)
        bounds.push_back(std::min(k, axis.extent));
    const auto parts = static_cast<std::int64_t>(bounds.size()) - 1;
    plan_.tables.push_back(std::move(bounds));
    const auto table = static_cast<std::uint32_t>(plan_.tables.size() - 1);
    const ValueId part = writer_.open_parallel(false);
    step_.extent = parts;
    const std::int32_t operand =
        add_operand(DType::Int64, MemoryAccess::Read,
                    {.kind = Binding::Kind::Table, .slot = table, .offset = 0});
    const std::int32_t operand_next =
        add_operand(DType::Int64, MemoryAccess::Read,
                    {.kind = Binding::Kind::Table, .slot = table, .offset = 8});
    const ValueId begin = writer_.load({.operand = operand, .terms = {{part, unit_stride}}});
    const ValueId end = writer_.load({.operand = operand_next, .terms = {{part, unit_stride}}});
    fold_body(axis, begin, end, part, parts);
    add_combines(parts, tree ? axis.extent : 0, grain);
  }

  static void split_tree(DType dtype, std::int64_t n, std::int64_t grain,
                         std::vector<std::int64_t>& bounds) {
    std::vector<std::int64_t> todo{n};  // lengths still to be cut, the next one last
    while (!todo.empty()) {
      const std::int64_t length = todo.back();
      todo.pop_back();
      const std::int64_t left = length > grain ? pairwise_split(dtype, length) : 0;
      if (left == 0) {
        bounds.push_back(bounds.back() + length);
      } else {
        todo.push_back(length - left);
        todo.push_back(left);
      }
    }
  }

  void fold_body(Axis& inner, ValueId begin, ValueId end, ValueId part, std::int64_t count) {
    std::vector<Accumulator> accumulators = accumulators_of(0);
    const std::vector<Partial> partials = partials_for(accumulators, count);
    for (Accumulator& a : accumulators) writer_.write_local(a.local, neutral(*a.member));
    inner.lanes = !lanes_inside_;
    inner.index = writer_.open_loop(begin, end, inner.lanes);
    nest_.push_back(&inner);
    point(0, accumulators);
    flush(full_);
    close(reductions_of(accumulators));
    full_.clear();
    store_partials(accumulators, partials, part);
  }

  void store_partials(const std::vector<Accumulator>& accumulators,
                      const std::vector<Partial>& partials, ValueId part) {
    for (std::size_t k = 0; k < accumulators.size(); ++k) {
      writer_.store({.operand = partials[k].operand, .terms = {{part, unit_stride}}},
                    writer_.read_local(accumulators[k].local));
      folded_.push_back({accumulators[k].member, partials[k].slot});
    }
    close_flat();
  }

  std::vector<Partial> partials_for(const std::vector<Accumulator>& accumulators,
                                    std::int64_t count) {
    std::vector<Partial> result;
    for (const Accumulator& a : accumulators) {
      const DType type = type_of_reduction(*a.member);
      const std::uint32_t slot = new_temporary(count * size_of(type));
      result.push_back(
          {slot, add_operand(type, MemoryAccess::Write,
                             {.kind = Binding::Kind::Slot, .slot = slot, .offset = 0})});
    }
    return result;
  }

  void add_combines(std::int64_t parts, std::int64_t tree_extent, std::int64_t grain) {
    finish_launch();
    for (const auto& [member, slot] : folded_) {
      if (!stored(member->out.slot)) continue;
      const Node& node = node_of(*member);
      Step step;
      step.kind = StepKind::Combine;
      const bool tree = tree_class(node.op, type_of_reduction(*member)) != 0;
      step.combine = {
          .op = node.op,
          .dtype = type_of_reduction(*member),
          .out_dtype = member->out.dtype,
          .partials = slot,
          .count = parts,
          .tree_extent = tree ? tree_extent : 0,
          .tree_grain = grain,
          .initial = {.node = member->node, .constant = 0},
          .out = {
              .kind = Binding::Kind::Slot, .slot = member->out.slot, .offset = member->out.offset}};
      plan_.steps.push_back(std::move(step));
    }
  }

  std::vector<Folded> folded_;
};

}  // namespace

void lower_fold(const Lowering& lowering) { FoldBody(lowering).lower(); }

}  // namespace frit
