// lower.cpp: one function a kind of group; Body writes what they share: members' values, loads, stores.
#include "schedule/lower.h"

#include <algorithm>

#include "ir/error.h"
#include "ir/kernel_writer.h"
#include "ir/neutral.h"
#include "schedule/lower_routine.h"

namespace frit {
namespace {

constexpr std::int64_t column_block = 512;      // elements of an accumulator row
constexpr std::int64_t few_columns = 4;         // columns that have a local each
constexpr std::int64_t fold_at_once = 1 << 15;  // elements that one part folds
constexpr std::int64_t fold_grain = 1 << 15;    // elements of one part of a larger fold
constexpr std::int64_t shortest_vector = 16;  // a shorter innermost loop is not the one for vectors
constexpr std::int64_t streaming_from = 24 << 20;  // bytes of a launch: larger than the caches
constexpr std::int64_t short_row =
    7;  // rows up to here are summed one after another (NumPy's n < 8)
constexpr std::int64_t short_row_any_order = 32;

double cost_of(Op op) { return has(op, Costly) ? 1.5 : 0.08; }

// Axes of the group's space that are walked as one.
struct Axis {
  std::vector<int> members;  // outermost first
  std::int64_t extent = 1;
  int inner() const { return members.back(); }
  // While a kernel is written:
  ValueId index = no_value;
  bool lanes = false;  // the vector loop's own index
};

class Body final : public RoutineHost {
 public:
  Body(const Segment& segment, const Group& group, std::span<const SlotUse> uses, Plan& plan)
      : segment_(segment), group_(group), uses_(uses), plan_(plan) {
    collect_memory_windows();
  }

  void lower() {
    switch (group_.kind) {
      case GroupKind::Map:
        map();
        break;
      case GroupKind::Rows:
        rows();
        break;
      case GroupKind::Columns:
        columns();
        break;
      case GroupKind::Fold:
        fold();
        break;
      case GroupKind::Call:
        check(false, "a call is not lowered");
        break;
    }
  }

 private:
  // ---- windows and axes ----------------------------------------------------------------------

  const Node& node_of(const Member& m) const { return segment_.nodes[m.node]; }
  bool in_memory(std::uint32_t slot) const {
    return slot != no_slot &&
           (segment_.slots[slot].has_data || uses_[slot].held || uses_[slot].stored);
  }
  bool stored(std::uint32_t slot) const { return uses_[slot].stored; }
  bool same(const Window& a, const Window& b) const {
    if (a.slot != b.slot || a.offset != b.offset || a.dtype != b.dtype || a.whole || b.whole)
      return false;
    for (std::size_t k = 0; k < group_.extents.size(); ++k)
      if (group_.extents[k] > 1 && a.strides[k] != b.strides[k]) return false;
    return true;
  }
  std::int64_t extent_of(int axis) const { return group_.extents[static_cast<std::size_t>(axis)]; }
  static std::int64_t stride_of(const Window& w, int axis) {
    return w.strides[static_cast<std::size_t>(axis)];
  }
  bool is_reduced(int axis) const { return (group_.reduced >> axis & 1) != 0; }

  void collect_memory_windows() {
    for (const Member& m : group_.members) {
      if (in_memory(m.out.slot)) memory_.push_back(&m.out);
      for (const Window& w : m.outs)
        if (in_memory(w.slot) && !w.whole) memory_.push_back(&w);
      for (const Window& w : m.in)
        if (in_memory(w.slot) && !w.whole) memory_.push_back(&w);
    }
  }

  // Joins neighbours that all memory windows step through as one.
  std::vector<Axis> merge(const std::vector<int>& axes) const {
    std::vector<Axis> merged;
    for (int axis : axes) {
      if (extent_of(axis) == 1) continue;
      if (!merged.empty() && !group_.keeps_axes) {
        const int outer = merged.back().inner();
        const bool joins = std::all_of(memory_.begin(), memory_.end(), [&](const Window* w) {
          return stride_of(*w, outer) == stride_of(*w, axis) * extent_of(axis);
        });
        if (joins) {
          merged.back().members.push_back(axis);
          merged.back().extent *= extent_of(axis);
          continue;
        }
      }
      merged.push_back({.members = {axis}, .extent = extent_of(axis)});
    }
    return merged;
  }

  std::vector<int> natural_order() const {
    std::vector<std::span<const std::int64_t>> strides;
    for (const Window* w : memory_)
      if (stored(w->slot)) strides.emplace_back(w->strides);
    for (const Window* w : memory_)
      if (!stored(w->slot)) strides.emplace_back(w->strides);
    const int ndim = static_cast<int>(group_.extents.size());
    std::vector<int> order(group_.extents.size());
    iteration_order(strides, ndim, order);
    return order;
  }

  // ---- arguments -----------------------------------------------------------------------------------

  std::int32_t add_integer(std::int64_t value) {
    step_.integers.push_back(value);
    return writer_.integer();
  }
  ValueId integer_value(std::int64_t value) { return writer_.integer_value(add_integer(value)); }

  std::int32_t add_operand(DType dtype, bool written, Binding binding) {
    step_.operands.push_back(binding);
    return writer_.operand(dtype, written);
  }

  std::int32_t scratch(DType dtype, std::int64_t elements) {
    const std::int64_t bytes = (elements * size_of(dtype) + 63) / 64 * 64;
    const std::int32_t offset = add_integer(step_.scratch_bytes);
    step_.scratch_bytes += bytes;
    step_.operands.push_back({.kind = Binding::Kind::Scratch});
    return writer_.scratch_operand(dtype, offset);
  }

  ValueId scalar(const Member& m, int constant) {
    const Scalar& value = node_of(m).constants[constant];
    step_.scalars.push_back({.node = m.node, .constant = static_cast<std::uint16_t>(constant)});
    return writer_.scalar(value.dtype);
  }

  std::uint32_t new_temporary(std::int64_t bytes) {
    plan_.temporaries.push_back(bytes);
    return static_cast<std::uint32_t>(segment_.slots.size() + plan_.temporaries.size() - 1);
  }

  bool shadowed(std::uint32_t slot) const {
    return std::find(group_.shadowed.begin(), group_.shadowed.end(), slot) != group_.shadowed.end();
  }

  struct StrideArgument {
    const Axis* axis;
    const Window* window;
    std::int32_t number;
  };
  struct Kept {
    const Window* window;
    std::int32_t operand;
    std::vector<std::int32_t> strides;  // one an inner axis
  };
  static constexpr std::int32_t absent = -2;

  struct Bound {
    const Window* window;
    bool shadow;
    std::int32_t operand;
  };

  std::int32_t operand_of(const Window& w, bool write) {
    const bool shadow = write && shadowed(w.slot);
    for (const Bound& b : bound_)
      if (b.shadow == shadow && same(*b.window, w)) {
        if (write) writer_.mark_written(b.operand);
        return b.operand;
      }
    const auto kind = shadow ? Binding::Kind::Shadow : Binding::Kind::Slot;
    const std::int32_t operand =
        add_operand(w.dtype, write, {.kind = kind, .slot = w.slot, .offset = w.offset});
    bound_.push_back({&w, shadow, operand});
    return operand;
  }

  std::int32_t stride_argument(const Window& w, const Axis& axis) {
    const std::int64_t stride = stride_of(w, axis.inner());
    if (stride == 0) return absent;
    if (axis.lanes && stride == size_of(w.dtype)) return unit_stride;
    // Windows with the same strides share their arguments.
    for (const StrideArgument& known : stride_arguments_)
      if (known.axis == &axis && known.window->strides == w.strides) return known.number;
    stride_arguments_.push_back({&axis, &w, add_integer(stride)});
    return stride_arguments_.back().number;
  }

  Address address(const Window& w, bool write) {
    Address result{.operand = operand_of(w, write), .terms = {}};
    for (const Axis* axis : nest_)
      if (const std::int32_t stride = stride_argument(w, *axis); stride != absent)
        result.terms.push_back({axis->index, stride});
    return result;
  }

  // ---- values of windows ---------------------------------------------------------------------------

  struct Current {
    const Window* window;
    ValueId value;
    bool written;  // not yet in memory
  };

  const Current* find(const std::vector<Current>& values, const Window& w) const {
    for (std::size_t k = values.size(); k-- > 0;)
      if (same(*values[k].window, w)) return &values[k];
    return nullptr;
  }

  void set(std::vector<Current>& values, const Window& w, ValueId value) {
    for (Current& c : values)
      if (same(*c.window, w)) {
        c = {&w, value, true};
        return;
      }
    values.push_back({&w, value, true});
  }

  // Does the window stay the same along the inner loops?
  bool is_row_window(const Window& w) const {
    if (group_.kind != GroupKind::Rows) return false;
    for (std::size_t k = 0; k < group_.extents.size(); ++k)
      if (is_reduced(static_cast<int>(k)) && w.strides[k] != 0) return false;
    return true;
  }

  ValueId resolve(const Member& m, int input) {
    const Window& w = m.in[static_cast<std::size_t>(input)];
    if (w.slot == no_slot) {
      if (w.offset != iota_input) return scalar(m, static_cast<int>(w.offset));
      check(!nest_.empty(), "an index has an axis");
      return nest_.back()->index;
    }
    return value_of(w);
  }

  ValueId value_of(const Window& w) {
    if (const Current* c = find(full_, w)) return c->value;
    if (const Current* c = find(rows_, w)) return c->value;
    if (const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                       [&](const Kept& k) { return same(*k.window, w); });
        kept != kept_.end()) {
      const ValueId value = writer_.load(kept_address(*kept));
      full_.push_back({&w, value, false});
      return value;
    }
    const ValueId value = writer_.load(address(w, false));
    (is_row_window(w) ? rows_ : full_).push_back({&w, value, false});
    return value;
  }

  ValueId compute(const Member& m) {
    const Node& node = node_of(m);
    ValueId args[max_inputs] = {no_value, no_value, no_value};
    for (int k = 0; k < node.inputs; ++k)
      args[k] = writer_.cast(resolve(m, k), node.signature.in[k]);
    cost_ += cost_of(node.op);
    const ValueId result =
        node.op == Op::Copy ? args[0]
                            : writer_.apply(node.op, node.signature.out, args[0], args[1], args[2]);
    return writer_.cast(result, m.out.dtype);
  }

  // A Full member at the current point.
  void run_member(const Member& m) {
    if (node_of(m).kind != NodeKind::Routine) return set(full_, m.out, compute(m));
    cost_ += node_of(m).site->routine->cost;
    routine_ = &m;
    lower_routine(*node_of(m).site, m, *this);
  }

  // ---- what a routine asks for ----------------------------------------------------------------------

  KernelWriter& writer() override { return writer_; }
  ValueId axis_index(std::int32_t axis) override {
    if (extent_of(axis) == 1) return writer_.constant_int(0);
    for (const Axis* a : nest_)
      if (a->members.size() == 1 && a->members[0] == axis) return a->index;
    check(false, "an axis whose index is used has a loop of its own");
    return no_value;
  }
  std::uint64_t lane_axes() const override {
    std::uint64_t axes = 0;
    for (const Axis* a : nest_)
      if (a->lanes)
        for (int member : a->members) axes |= std::uint64_t{1} << member;
    return axes;
  }
  ValueId routine_scalar(std::int32_t number) override {
    step_.scalars.push_back(
        {.node = routine_->node, .constant = static_cast<std::uint16_t>(number)});
    return writer_.scalar(
        node_of(*routine_).site->routine->scalars[static_cast<std::size_t>(number)].dtype);
  }
  std::int32_t new_integer(std::int64_t value) override { return add_integer(value); }
  ValueId read(const Window& w) override { return value_of(w); }
  ValueId register_of(const Window& w) override {
    const bool known =
        find(full_, w) || find(rows_, w) ||
        std::any_of(kept_.begin(), kept_.end(), [&](const Kept& k) { return same(*k.window, w); });
    return known ? value_of(w) : no_value;
  }
  void write(const Window& w, ValueId value) override { set(full_, w, value); }
  void settle(const Window& w) override {
    for (std::vector<Current>* values : {&full_, &rows_}) {
      for (const Current& c : *values)
        if (same(*c.window, w) && c.written) writer_.store(address(*c.window, true), c.value);
      std::erase_if(*values, [&](const Current& c) { return same(*c.window, w); });
    }
  }
  Address window_address(const Window& w, MemoryAccess how) override {
    return address(w, how == MemoryAccess::Write);
  }
  std::int32_t whole_operand(const Window& w, std::int64_t offset, MemoryAccess how) override {
    const bool write = how == MemoryAccess::Write;
    for (const WholeOperand& known : whole_)
      if (known.slot == w.slot && known.offset == offset && known.dtype == w.dtype) {
        if (write) writer_.mark_written(known.operand);
        return known.operand;
      }
    const std::int32_t operand = add_operand(
        w.dtype, write, {.kind = Binding::Kind::Slot, .slot = w.slot, .offset = offset});
    whole_.push_back({w.slot, offset, w.dtype, operand});
    return operand;
  }

  // Stores what a loop body or row step has written and somebody needs.
  void flush(std::vector<Current>& values) {
    for (Current& c : values) {
      if (!c.written) continue;
      c.written = false;
      if (stored(c.window->slot))
        writer_.store(address(*c.window, true), c.value, streams(*c.window));
    }
  }

  // Memory that the launch does not read, and that is too large to be found in the cache afterwards.
  bool streams(const Window& w) const {
    if (!streaming_ || last_phase() > 0) return false;
    return shadowed(w.slot) || !segment_.slots[w.slot].has_data || !reads_slot(w.slot);
  }
  bool reads_slot(std::uint32_t slot) const {
    for (const Member& m : group_.members)
      for (const Window& in : m.in)
        if (in.slot == slot) return true;
    return false;
  }

  // ---- loops -----------------------------------------------------------------------------------------

  std::int32_t extent_argument(const Axis& axis) { return add_integer(axis.extent); }

  void open(Axis& axis, bool vector) {
    axis.lanes = vector;
    const ValueId zero = writer_.constant_int(0);
    const ValueId end = writer_.integer_value(extent_argument(axis));
    axis.index = writer_.open_loop(zero, end, vector);
    nest_.push_back(&axis);
  }

  void close(std::vector<Reduction> reductions = {}) {
    writer_.close_loop(std::move(reductions));
    nest_.pop_back();
  }

  // One parallel loop over several axes: their indices by division.
  void open_flat(std::vector<Axis>& axes) {
    std::int64_t total = 1;
    for (const Axis& a : axes) total *= a.extent;
    step_.extent = total;
    ValueId rest = writer_.open_parallel(false);
    for (std::size_t k = axes.size(); k-- > 0;) {
      if (k == 0) {
        axes[k].index = rest;
        break;
      }
      const ValueId extent = integer_value(axes[k].extent);
      const ValueId quotient = writer_.apply(Op::FloorDivide, DType::Int64, rest, extent);
      const ValueId product = writer_.apply(Op::Multiply, DType::Int64, quotient, extent);
      axes[k].index = writer_.apply(Op::Subtract, DType::Int64, rest, product);
      rest = quotient;
    }
    for (Axis& a : axes) nest_.push_back(&a);
  }

  void close_flat() {
    writer_.close_loop();
    nest_.clear();
  }

  // ---- Map ---------------------------------------------------------------------------------------------

  void map() {
    if (group_.in_order) return map_in_order();
    if (group_.extents.empty()) return map_single();
    std::vector<Axis> axes = merge(natural_order());
    if (axes.empty()) axes.push_back({.members = {0}, .extent = 1});
    streaming_ = traffic() > streaming_from;
    put_longest_last(axes);
    if (axes.size() == 1) {
      axes[0].lanes = true;
      axes[0].index = writer_.open_parallel(true);
      step_.extent = axes[0].extent;
      step_.granule = 512;
      nest_.push_back(&axes[0]);
    } else {
      axes[0].index = writer_.open_parallel(false);
      step_.extent = axes[0].extent;
      nest_.push_back(&axes[0]);
      for (std::size_t k = 1; k < axes.size(); ++k) open(axes[k], k + 1 == axes.size());
    }
    run_loop_members(0);
    flush(full_);
    for (std::size_t k = 1; k < axes.size(); ++k) close();
    close_flat();
    finish_launch();
  }

  // Points that depend on one another: one part, the axes as they were given.
  void map_in_order() {
    std::vector<Axis> axes;
    for (int k = 0; k < static_cast<int>(group_.extents.size()); ++k)
      if (extent_of(k) > 1) axes.push_back({.members = {k}, .extent = extent_of(k)});
    writer_.open_parallel(false);
    step_.extent = 1;
    for (Axis& axis : axes) open(axis, false);
    run_loop_members(0);
    flush(full_);
    for (std::size_t k = 0; k < axes.size(); ++k) close();
    close_flat();
    finish_launch();
  }

  // A space of no axes: one point.
  void map_single() {
    writer_.open_parallel(false);
    step_.extent = 1;
    run_loop_members(0);
    flush(full_);
    close_flat();
    finish_launch();
  }

  // Vectors along an innermost axis of a few elements would be slow: the longest axis serves instead.
  static void put_longest_last(std::vector<Axis>& axes,
                               std::int64_t long_enough = shortest_vector) {
    if (axes.size() < 2 || axes.back().extent >= long_enough) return;
    std::size_t longest = axes.size() - 1;
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (axes[k].extent > axes[longest].extent) longest = k;
    std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(longest),
                axes.begin() + static_cast<std::ptrdiff_t>(longest) + 1, axes.end());
  }

  void run_loop_members(int phase) {
    for (const Member& m : group_.members)
      if (m.phase == phase && m.level == Level::Full) run_member(m);
  }

  // ---- reductions ----------------------------------------------------------------------------------------

  struct Accumulator {
    const Member* member;
    std::int32_t local = -1;
    ValueId value = no_value;  // of the current loop body
  };

  DType type_of_reduction(const Member& m) const { return node_of(m).signature.in[0]; }

  ValueId neutral(const Member& m) {
    const auto value = neutral_of(node_of(m).op, type_of_reduction(m));
    check(value.has_value(), "a reduction has a neutral element");
    return writer_.constant(*value);
  }

  ValueId reduced_input(const Member& m) {
    const Node& node = node_of(m);
    cost_ += cost_of(node.op);
    return writer_.cast(resolve(m, 0), node.signature.in[0]);
  }

  // Full members and reductions of one phase, in program order, at one point.
  void point(int phase, std::vector<Accumulator>& accumulators) {
    for (const Member& m : group_.members) {
      if (m.phase != phase) continue;
      if (m.level == Level::Full) run_member(m);
      if (m.level == Level::Reduce)
        for (Accumulator& a : accumulators)
          if (a.member == &m) a.value = reduced_input(m);
    }
  }

  std::vector<Accumulator> accumulators_of(int phase) {
    std::vector<Accumulator> result;
    for (const Member& m : group_.members)
      if (m.level == Level::Reduce && m.phase == phase)
        result.push_back({.member = &m, .local = writer_.local(type_of_reduction(m))});
    return result;
  }

  // The inner axes of a reduction: the last one for vectors.
  std::vector<Axis> reduced_axes() const {
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

  std::vector<Axis> kept_axes() const {
    std::vector<int> axes;
    for (int axis : group_.order)
      if (!is_reduced(axis)) axes.push_back(axis);
    return merge(axes);
  }

  // ---- Rows --------------------------------------------------------------------------------------------------

  int last_phase() const {
    int last = 0;
    for (const Member& m : group_.members) last = std::max(last, m.phase);
    return last;
  }

  void rows() {
    std::vector<Axis> spine = kept_axes(), inner = reduced_axes();
    streaming_ = traffic() > streaming_from;
    if (lanes_over_rows(spine, inner)) return short_rows(spine, inner);
    open_flat(spine);
    for (int phase = 0; phase <= last_phase(); ++phase) {
      row_loop(phase, inner);
      row_step(phase);
    }
    flush(rows_);
    close_flat();
    finish_launch();
  }

  // One pass over the row: values that a later pass needs are kept in scratch memory, unless they are stored anyway.
  void row_loop(int phase, std::vector<Axis>& inner) {
    std::vector<Accumulator> accumulators = accumulators_of(phase);
    const bool empty =
        std::none_of(group_.members.begin(), group_.members.end(),
                     [&](const Member& m) { return m.phase == phase && m.level != Level::Row; });
    if (empty) return;
    for (Accumulator& a : accumulators) writer_.write_local(a.local, scalar(*a.member, 0));
    if (group_.ordered && group_.buffered) {
      BufferedAxes axes = buffered_axes();
      reduce_buffered(axes, accumulators);
    } else if (inner.empty()) {  // rows of one element
      point(phase, accumulators);
      for (Accumulator& a : accumulators) combine_local(a.local, node_of(*a.member).op, a.value);
      end_of_row_body(phase, inner);
    } else {
      for (std::size_t k = 0; k < inner.size(); ++k) open(inner[k], k + 1 == inner.size());
      point(phase, accumulators);
      end_of_row_body(phase, inner);
      std::vector<Reduction> reductions;
      for (Accumulator& a : accumulators)
        reductions.push_back({node_of(*a.member).op, a.value, a.local});
      close(std::move(reductions));
      for (std::size_t k = 1; k < inner.size(); ++k) close();
    }
    full_.clear();
    for (Accumulator& a : accumulators) pending_.push_back(a);
  }

  // ---- what NumPy copies to a buffer -------------------------------------------------------------

  // The reduced axes of a buffered reduction: one index of `rows` and all of `inner` are `core` elements of the buffer.
  struct BufferedAxes {
    std::vector<Axis> outer;
    Axis rows;
    std::vector<Axis> inner;
    std::int64_t core = 1, rows_at_once = 1;
    std::int64_t chunks() const { return (rows.extent + rows_at_once - 1) / rows_at_once; }
  };

  BufferedAxes buffered_axes() const {
    BufferedAxes axes;
    for (int axis : group_.order)
      if (is_reduced(axis) &&
          std::find(group_.tree.begin(), group_.tree.end(), axis) == group_.tree.end())
        axes.outer.push_back({.members = {axis}, .extent = extent_of(axis)});
    const std::size_t first = std::max<std::size_t>(group_.chunked.size(), 1);
    const auto rest = group_.tree.begin() + static_cast<std::ptrdiff_t>(first);
    axes.rows.members.assign(group_.tree.begin(), rest);
    for (int axis : axes.rows.members) axes.rows.extent *= extent_of(axis);
    axes.inner = merge({rest, group_.tree.end()});
    for (const Axis& axis : axes.inner) axes.core *= axis.extent;
    axes.rows_at_once = group_.chunk ? group_.chunk / axes.core : axes.rows.extent;
    return axes;
  }

  // One buffer full: the rows [begin, end), each reduction into its local.
  void reduce_chunk(BufferedAxes& axes, ValueId begin, ValueId end,
                    std::vector<Accumulator>& accumulators) {
    axes.rows.lanes = axes.inner.empty();
    axes.rows.index = writer_.open_loop(begin, end, axes.rows.lanes);
    nest_.push_back(&axes.rows);
    for (std::size_t k = 0; k < axes.inner.size(); ++k)
      open(axes.inner[k], k + 1 == axes.inner.size());
    point(0, accumulators);
    if (axes.inner.empty()) {
      flush(full_);
      close(reductions_of(accumulators));
      full_.clear();
      return;
    }
    std::vector<std::int32_t> buffers;
    for (Accumulator& a : accumulators) {
      const std::int64_t item = size_of(type_of_reduction(*a.member)), row = axes.core * item;
      buffers.push_back(scratch(type_of_reduction(*a.member), axes.rows_at_once * axes.core));
      Address to{.operand = buffers.back(),
                 .terms = {{axes.rows.index, add_integer(row)}, {begin, add_integer(-row)}}};
      std::int64_t stride = row;
      for (std::size_t k = 0; k < axes.inner.size(); ++k) {
        stride /= axes.inner[k].extent;
        const bool last = k + 1 == axes.inner.size();
        to.terms.push_back({axes.inner[k].index, last ? unit_stride : add_integer(stride)});
      }
      writer_.store(to, a.value);
    }
    flush(full_);
    for (std::size_t k = 0; k <= axes.inner.size(); ++k) close();
    full_.clear();
    const ValueId rows = writer_.apply(Op::Subtract, DType::Int64, end, begin);
    const ValueId count = writer_.apply(Op::Multiply, DType::Int64, rows, integer_value(axes.core));
    const ValueId element = writer_.open_loop(writer_.constant_int(0), count, true);
    for (std::size_t k = 0; k < accumulators.size(); ++k)
      accumulators[k].value =
          writer_.load({.operand = buffers[k], .terms = {{element, unit_stride}}});
    writer_.close_loop(reductions_of(accumulators));
  }

  std::pair<ValueId, ValueId> rows_of_chunk(const BufferedAxes& axes, ValueId chunk) {
    const ValueId size = integer_value(axes.rows_at_once);
    const ValueId begin = writer_.apply(Op::Multiply, DType::Int64, chunk, size);
    const ValueId bound = writer_.apply(Op::Add, DType::Int64, begin, size);
    return {begin,
            writer_.apply(Op::Minimum, DType::Int64, bound, integer_value(axes.rows.extent))};
  }

  // All of it, one buffer after another.
  void reduce_buffered(BufferedAxes& axes, std::vector<Accumulator>& accumulators) {
    for (Axis& axis : axes.outer) open(axis, false);
    if (axes.chunks() == 1) {
      reduce_chunk(axes, writer_.constant_int(0), integer_value(axes.rows.extent), accumulators);
    } else {
      const ValueId chunk =
          writer_.open_loop(writer_.constant_int(0), integer_value(axes.chunks()), false);
      const auto [begin, end] = rows_of_chunk(axes, chunk);
      reduce_chunk(axes, begin, end, accumulators);
      writer_.close_loop();
    }
    for (std::size_t k = 0; k < axes.outer.size(); ++k) close();
  }

  void combine_local(std::int32_t local, Op op, ValueId value) {
    const ValueId before = writer_.read_local(local);
    writer_.write_local(local, writer_.apply(op, writer_.type_of(before), before, value));
  }

  void end_of_row_body(int phase, const std::vector<Axis>& inner) {
    for (Current& c : full_)
      if (c.written && !stored(c.window->slot) && needed_after(*c.window, phase))
        keep(*c.window, c.value, inner);
    flush(full_);
  }

  bool needed_after(const Window& w, int phase) const {
    for (const Member& m : group_.members)
      if (m.phase > phase && m.level != Level::Row)
        for (const Window& in : m.in)
          if (in.slot == w.slot && same(in, w)) return true;
    return false;
  }

  // The row of a window in scratch memory, dense over the inner axes.
  void keep(const Window& w, ValueId value, const std::vector<Axis>& inner) {
    std::erase_if(kept_, [&](const Kept& k) { return same(*k.window, w); });
    Kept row{.window = &w, .operand = -1, .strides = {}};
    std::int64_t elements = 1;
    for (std::size_t k = inner.size(); k-- > 0;) {
      row.strides.insert(row.strides.begin(), k + 1 == inner.size()
                                                  ? unit_stride
                                                  : add_integer(elements * size_of(w.dtype)));
      elements *= inner[k].extent;
    }
    row.operand = scratch(w.dtype, elements);
    writer_.store(kept_address(row), value);
    kept_.push_back(std::move(row));
  }

  Address kept_address(const Kept& row) const {
    Address result{.operand = row.operand, .terms = {}};
    const std::size_t outer = nest_.size() - row.strides.size();
    for (std::size_t k = 0; k < row.strides.size(); ++k)
      result.terms.push_back({nest_[outer + k]->index, row.strides[k]});
    return result;
  }

  void row_step(int phase) {
    for (const Member& m : group_.members) {
      if (m.phase != phase) continue;
      if (m.level == Level::Row) set(rows_, m.out, compute(m));
      if (m.level == Level::Reduce)
        for (const Accumulator& a : pending_)
          if (a.member == &m)
            set(rows_, m.out, writer_.cast(writer_.read_local(a.local), m.out.dtype));
    }
  }

  // Rows of a few elements: many rows at a time, one lane a row, each summed one element after another.
  bool lanes_over_rows(const std::vector<Axis>& spine, const std::vector<Axis>& inner) const {
    if (last_phase() > 0 || spine.back().extent < shortest_vector) return false;
    std::int64_t row = 1;
    for (const Axis& a : inner) row *= a.extent;
    if (!group_.ordered) return row <= short_row_any_order;
    // The parts of complex numbers are added in one tree.
    const bool pairs =
        std::any_of(group_.members.begin(), group_.members.end(), [&](const Member& m) {
          return m.level == Level::Reduce && is_complex(type_of_reduction(m));
        });
    return row <= (pairs ? short_row / 2 : short_row) && inner.size() <= 1;
  }

  // Is the initial value the first of the elements, not one to be combined with their result?
  bool starts_from_initial(const Accumulator& a) const {
    const Op op = node_of(*a.member).op;
    const DType type = type_of_reduction(*a.member);
    return tree_class(op, type) == 0 && !reduces_in_any_order(op, type);
  }

  void short_rows(std::vector<Axis>& spine, std::vector<Axis>& inner) {
    std::vector<Axis> outer(spine.begin(), spine.end() - 1);
    Axis& lanes = spine.back();
    if (outer.empty()) {
      lanes.lanes = true;
      lanes.index = writer_.open_parallel(true);
      step_.extent = lanes.extent;
      step_.granule = 64;
      nest_.push_back(&lanes);
    } else {
      open_flat(outer);
      open(lanes, true);
    }
    std::vector<Accumulator> accumulators = accumulators_of(0);
    for (Accumulator& a : accumulators)
      writer_.write_local(a.local,
                          starts_from_initial(a) ? scalar(*a.member, 0) : neutral(*a.member));
    for (Axis& axis : inner) open(axis, false);
    point(0, accumulators);
    for (Accumulator& a : accumulators) combine_local(a.local, node_of(*a.member).op, a.value);
    flush(full_);
    for (std::size_t k = 0; k < inner.size(); ++k) close();
    full_.clear();
    for (Accumulator& a : accumulators) {
      pending_.push_back(a);
      if (starts_from_initial(a)) continue;
      // initial op (the row's reduction), as NumPy combines them
      const ValueId initial = scalar(*a.member, 0);
      const ValueId row = writer_.read_local(a.local);
      writer_.write_local(a.local,
                          writer_.apply(node_of(*a.member).op, writer_.type_of(row), initial, row));
    }
    row_step(0);
    flush(rows_);
    if (!outer.empty()) close();
    close_flat();
    finish_launch();
  }

  // ---- Columns -------------------------------------------------------------------------------------------------

  void columns() {
    std::vector<Axis> kept = kept_axes(), serial;
    for (int axis : group_.order)
      if (is_reduced(axis)) serial.push_back({.members = {axis}, .extent = extent_of(axis)});
    if (!group_.ordered) serial = reduced_axes();
    if (kept.size() > 1 && kept.back().extent <= few_columns) return short_columns(kept, serial);
    Axis column = kept.back();
    kept.pop_back();
    const std::int64_t blocks = (column.extent + column_block - 1) / column_block;
    Axis block{.members = {}, .extent = blocks};
    kept.push_back(block);
    open_flat(kept);
    const ValueId size = writer_.constant_int(column_block);
    const ValueId begin = writer_.apply(Op::Multiply, DType::Int64, kept.back().index, size);
    const ValueId bound = writer_.apply(Op::Add, DType::Int64, begin, size);
    const ValueId end =
        writer_.apply(Op::Minimum, DType::Int64, bound, integer_value(column.extent));
    nest_.pop_back();  // the block itself is no axis of any window
    std::vector<Accumulator> accumulators = accumulators_of(0);
    std::vector<std::int32_t> rows;
    for (const Accumulator& a : accumulators)
      rows.push_back(scratch(type_of_reduction(*a.member), column_block));
    const auto in_row = [&](std::size_t k) {
      const std::int64_t item = size_of(type_of_reduction(*accumulators[k].member));
      if (row_shift_.size() <= k) row_shift_.push_back(add_integer(-item));
      return Address{.operand = rows[k],
                     .terms = {{column.index, unit_stride}, {begin, row_shift_[k]}}};
    };
    const auto over_columns = [&](auto&& write) {
      column.lanes = true;
      column.index = writer_.open_loop(begin, end, true);
      nest_.push_back(&column);
      write();
      close();
    };
    over_columns([&] {
      for (std::size_t k = 0; k < rows.size(); ++k)
        writer_.store(in_row(k), scalar(*accumulators[k].member, 0));
    });
    for (Axis& axis : serial) open(axis, false);
    over_columns([&] {
      point(0, accumulators);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const ValueId before = writer_.load(in_row(k));
        const ValueId after = writer_.apply(node_of(*accumulators[k].member).op,
                                            writer_.type_of(before), before, accumulators[k].value);
        writer_.store(in_row(k), after);
      }
      flush(full_);
      full_.clear();
    });
    for (std::size_t k = 0; k < serial.size(); ++k) close();
    over_columns([&] {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const Member& m = *accumulators[k].member;
        if (stored(m.out.slot))
          writer_.store(address(m.out, true), writer_.cast(writer_.load(in_row(k)), m.out.dtype));
      }
    });
    writer_.close_loop();
    nest_.clear();
    finish_launch();
  }

  // A few columns (the coordinates of points): lanes run along the longest other axis, and each column has its own local.
  void short_columns(std::vector<Axis>& kept, std::vector<Axis>& serial) {
    Axis column = kept.back();
    kept.pop_back();
    put_longest_last(kept, INT64_MAX);
    std::vector<Axis> outer(kept.begin(), kept.end() - 1);
    Axis& lanes = kept.back();
    if (outer.empty()) {
      lanes.lanes = true;
      lanes.index = writer_.open_parallel(true);
      step_.extent = lanes.extent;
      step_.granule = 16;
      nest_.push_back(&lanes);
    } else {
      open_flat(outer);
      open(lanes, true);
    }
    std::vector<std::vector<Accumulator>> columns;
    for (std::int64_t j = 0; j < column.extent; ++j) {
      columns.push_back(accumulators_of(0));
      for (Accumulator& a : columns.back()) writer_.write_local(a.local, scalar(*a.member, 0));
    }
    for (Axis& axis : serial) open(axis, false);
    nest_.push_back(&column);
    for (std::int64_t j = 0; j < column.extent; ++j) {
      column.index = writer_.constant_int(j);
      std::vector<Accumulator>& accumulators = columns[static_cast<std::size_t>(j)];
      point(0, accumulators);
      for (Accumulator& a : accumulators) combine_local(a.local, node_of(*a.member).op, a.value);
      flush(full_);
      full_.clear();
    }
    nest_.pop_back();
    for (std::size_t k = 0; k < serial.size(); ++k) close();
    nest_.push_back(&column);
    for (std::int64_t j = 0; j < column.extent; ++j) {
      column.index = writer_.constant_int(j);
      for (const Accumulator& a : columns[static_cast<std::size_t>(j)])
        if (stored(a.member->out.slot))
          writer_.store(address(a.member->out, true),
                        writer_.cast(writer_.read_local(a.local), a.member->out.dtype));
    }
    nest_.pop_back();
    if (!outer.empty()) close();
    close_flat();
    finish_launch();
  }

  // ---- Fold ------------------------------------------------------------------------------------------------------

  void fold() {
    std::vector<Axis> axes = group_.ordered ? reduced_axes() : merge(group_.order);
    std::int64_t total = 1;
    for (const Axis& a : axes) total *= a.extent;
    streaming_ = traffic() > streaming_from;
    bool one_after_another = false;
    for (const Member& m : group_.members)
      if (m.level == Level::Reduce) {
        const Op op = node_of(m).op;
        const DType type = type_of_reduction(m);
        if (!reduces_in_any_order(op, type) && tree_class(op, type) == 0) one_after_another = true;
      }
    const bool at_one_go = total <= fold_at_once || one_after_another;
    if (group_.ordered && group_.buffered) return fold_buffered(at_one_go);
    if (at_one_go || axes.empty()) return fold_at_one_go(axes);
    if (axes.size() > 1) return fold_rows(axes);
    fold_tree(axes[0]);
  }

  void fold_at_one_go(std::vector<Axis>& axes) {
    writer_.open_parallel(false);
    step_.extent = 1;
    std::vector<Accumulator> accumulators = accumulators_of(0);
    for (Accumulator& a : accumulators) writer_.write_local(a.local, scalar(*a.member, 0));
    for (std::size_t k = 0; k < axes.size(); ++k) open(axes[k], k + 1 == axes.size());
    point(0, accumulators);
    flush(full_);
    if (axes.empty())
      for (Accumulator& a : accumulators) combine_local(a.local, node_of(*a.member).op, a.value);
    else
      close(reductions_of(accumulators));
    for (std::size_t k = 1; k < axes.size(); ++k) close();
    full_.clear();
    for (Accumulator& a : accumulators) {
      const Member& m = *a.member;
      if (!stored(m.out.slot)) continue;
      writer_.store(address(m.out, true), writer_.cast(writer_.read_local(a.local), m.out.dtype));
    }
    close_flat();
    finish_launch();
  }

  std::vector<Reduction> reductions_of(const std::vector<Accumulator>& accumulators) const {
    std::vector<Reduction> result;
    for (const Accumulator& a : accumulators)
      result.push_back({node_of(*a.member).op, a.value, a.local});
    return result;
  }

  struct Partial {
    std::uint32_t slot;
    std::int32_t operand;
  };

  std::vector<Partial> partials_for(const std::vector<Accumulator>& accumulators,
                                    std::int64_t count) {
    std::vector<Partial> result;
    for (const Accumulator& a : accumulators) {
      const DType type = type_of_reduction(*a.member);
      const std::uint32_t slot = new_temporary(count * size_of(type));
      result.push_back(
          {slot,
           add_operand(type, true, {.kind = Binding::Kind::Slot, .slot = slot, .offset = 0})});
    }
    return result;
  }

  // NumPy combines the sums of its buffers one after another.
  void fold_buffered(bool at_one_go) {
    BufferedAxes axes = buffered_axes();
    std::vector<Accumulator> accumulators = accumulators_of(0);
    if (at_one_go) {
      writer_.open_parallel(false);
      step_.extent = 1;
      for (Accumulator& a : accumulators) writer_.write_local(a.local, scalar(*a.member, 0));
      reduce_buffered(axes, accumulators);
      for (const Accumulator& a : accumulators)
        if (stored(a.member->out.slot))
          writer_.store(address(a.member->out, true),
                        writer_.cast(writer_.read_local(a.local), a.member->out.dtype));
      close_flat();
      return finish_launch();
    }
    std::vector<Axis> parts = axes.outer;
    parts.push_back({.members = {}, .extent = axes.chunks()});
    open_flat(parts);
    nest_.pop_back();  // a chunk is no axis of any window
    const ValueId part = row_number(parts);
    const std::vector<Partial> partials = partials_for(accumulators, step_.extent);
    for (Accumulator& a : accumulators) writer_.write_local(a.local, neutral(*a.member));
    const auto [begin, end] = rows_of_chunk(axes, parts.back().index);
    reduce_chunk(axes, begin, end, accumulators);
    for (std::size_t k = 0; k < accumulators.size(); ++k) {
      writer_.store({.operand = partials[k].operand, .terms = {{part, unit_stride}}},
                    writer_.read_local(accumulators[k].local));
      folded_.push_back({accumulators[k].member, partials[k].slot});
    }
    close_flat();
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

  void fold_body(Axis& inner, ValueId begin, ValueId end, ValueId part, std::int64_t count) {
    std::vector<Accumulator> accumulators = accumulators_of(0);
    const std::vector<Partial> partials = partials_for(accumulators, count);
    for (Accumulator& a : accumulators) writer_.write_local(a.local, neutral(*a.member));
    inner.lanes = true;
    inner.index = writer_.open_loop(begin, end, true);
    nest_.push_back(&inner);
    point(0, accumulators);
    flush(full_);
    close(reductions_of(accumulators));
    full_.clear();
    for (std::size_t k = 0; k < accumulators.size(); ++k)
      writer_.store({.operand = partials[k].operand, .terms = {{part, unit_stride}}},
                    writer_.read_local(accumulators[k].local));
    close_flat();
    for (std::size_t k = 0; k < accumulators.size(); ++k)
      folded_.push_back({accumulators[k].member, partials[k].slot});
  }

  // The parts are nodes of NumPy's tree over the whole extent; the combination goes on up the same tree.
  void fold_tree(Axis& axis) {
    DType tree_type = DType::Int64;
    bool tree = false;
    for (const Member& m : group_.members)
      if (m.level == Level::Reduce && tree_class(node_of(m).op, type_of_reduction(m)) != 0) {
        tree = true;
        tree_type = type_of_reduction(m);
      }
    std::vector<std::int64_t> bounds{0};
    if (tree)
      split_tree(tree_type, axis.extent, bounds);
    else
      for (std::int64_t k = fold_grain; bounds.back() < axis.extent; k += fold_grain)
        bounds.push_back(std::min(k, axis.extent));
    const auto parts = static_cast<std::int64_t>(bounds.size()) - 1;
    plan_.tables.push_back(std::move(bounds));
    const auto table = static_cast<std::uint32_t>(plan_.tables.size() - 1);
    const ValueId part = writer_.open_parallel(false);
    step_.extent = parts;
    const std::int32_t operand = add_operand(
        DType::Int64, false, {.kind = Binding::Kind::Table, .slot = table, .offset = 0});
    const std::int32_t operand_next = add_operand(
        DType::Int64, false, {.kind = Binding::Kind::Table, .slot = table, .offset = 8});
    const ValueId begin = writer_.load({.operand = operand, .terms = {{part, unit_stride}}});
    const ValueId end = writer_.load({.operand = operand_next, .terms = {{part, unit_stride}}});
    fold_body(axis, begin, end, part, parts);
    add_combines(parts, tree ? axis.extent : 0, fold_grain);
  }

  static void split_tree(DType dtype, std::int64_t n, std::vector<std::int64_t>& bounds) {
    std::vector<std::int64_t> todo{n};  // lengths still to be cut, the next one last
    while (!todo.empty()) {
      const std::int64_t length = todo.back();
      todo.pop_back();
      const std::int64_t left = length > fold_grain ? pairwise_split(dtype, length) : 0;
      if (left == 0) {
        bounds.push_back(bounds.back() + length);
      } else {
        todo.push_back(length - left);
        todo.push_back(left);
      }
    }
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

  // ---- the step --------------------------------------------------------------------------------------------------

  // Bytes that the launch moves: each memory window once.
  std::int64_t traffic() const {
    std::vector<const Window*> seen;
    std::int64_t bytes = 0;
    for (const Window* w : memory_) {
      if (std::any_of(seen.begin(), seen.end(),
                      [&](const Window* s) { return s->slot == w->slot && same(*s, *w); }))
        continue;
      seen.push_back(w);
      std::int64_t size = size_of(w->dtype);
      for (std::size_t k = 0; k < group_.extents.size(); ++k)
        if (w->strides[k] != 0) size *= group_.extents[k];
      bytes += size;
    }
    std::vector<std::uint32_t> slots;
    const auto add_whole = [&](const Window& w) {
      if (!w.whole || std::find(slots.begin(), slots.end(), w.slot) != slots.end()) return;
      slots.push_back(w.slot);
      bytes += w.whole;
    };
    for (const Member& m : group_.members) {
      for (const Window& w : m.in) add_whole(w);
      for (const Window& w : m.outs) add_whole(w);
    }
    // Windows of one base overlap: no more than the base itself, once in and once out.
    return bytes;
  }

  void finish_launch() {
    step_.kernel = std::make_shared<const Kernel>(writer_.finish());
    step_.elements = 1;
    for (std::int64_t e : group_.extents) step_.elements *= e;
    step_.bytes = traffic();
    step_.cost =
        static_cast<double>(step_.elements) * cost_ + static_cast<double>(step_.bytes) * 0.04;
    for (std::uint32_t slot : group_.shadowed) step_.shadows.push_back({slot, border_of(slot)});
    Step step;
    step.kind = StepKind::Launch;
    step.launch = std::move(step_);
    plan_.steps.push_back(std::move(step));
  }

  // What a shadow keeps of the old memory: everything outside the written window, slab by slab.
  std::vector<BoxCopy> border_of(std::uint32_t slot) const {
    const Window* written = nullptr;
    for (const Member& m : group_.members)
      if (m.out.slot == slot) {
        written = &m.out;
        break;
      } else {
        for (const Window& w : m.outs)
          if (w.slot == slot) written = &w;
      }
    Grid grid;
    check(written && grid_of(*written, group_.extents, segment_.slots[slot].bytes, grid),
          "a shadow has a grid");
    const std::int64_t item = size_of(written->dtype);
    std::vector<std::int64_t> pitch(grid.extents.size() + 1, item);
    for (std::size_t k = grid.extents.size(); k-- > 0;) pitch[k] = pitch[k + 1] * grid.extents[k];
    std::vector<BoxCopy> boxes;
    // For axis k: the outer axes run over the window, axis k over what the window leaves out, the inner ones over all.
    std::int64_t rows = 1;
    std::vector<std::int64_t> outer_offsets{0};
    for (std::size_t k = 0; k < grid.extents.size(); ++k) {
      const std::int64_t before = grid.starts[k] * pitch[k + 1];
      const std::int64_t behind =
          (grid.extents[k] - grid.starts[k] - grid.counts[k]) * pitch[k + 1];
      const std::int64_t behind_start = (grid.starts[k] + grid.counts[k]) * pitch[k + 1];
      for (std::int64_t offset : outer_offsets) {
        if (before > 0)
          boxes.push_back(
              {.offset = offset, .rows = rows, .row_stride = k ? pitch[k] : 0, .bytes = before});
        if (behind > 0)
          boxes.push_back({.offset = offset + behind_start,
                           .rows = rows,
                           .row_stride = k ? pitch[k] : 0,
                           .bytes = behind});
      }
      // Descend: rows of the next axis are the window's points on this one.
      if (k + 1 < grid.extents.size()) {
        std::vector<std::int64_t> deeper;
        for (std::int64_t offset : outer_offsets)
          for (std::int64_t r = 0; r < rows; ++r)
            deeper.push_back(offset + r * (k ? pitch[k] : 0) + grid.starts[k] * pitch[k + 1]);
        outer_offsets = std::move(deeper);
        rows = grid.counts[k];
      }
    }
    return boxes;
  }

  struct WholeOperand {
    std::uint32_t slot;
    std::int64_t offset;
    DType dtype;
    std::int32_t operand;
  };

  struct Folded {
    const Member* member;
    std::uint32_t slot;
  };

  const Segment& segment_;
  const Group& group_;
  std::span<const SlotUse> uses_;
  Plan& plan_;
  KernelWriter writer_;
  LaunchStep step_;
  double cost_ = 0;
  bool streaming_ = false;
  std::vector<const Window*> memory_;
  std::vector<const Axis*> nest_;  // the axes of the loops that are open
  std::vector<Bound> bound_;
  std::vector<StrideArgument> stride_arguments_;
  std::vector<Current> full_, rows_;  // values of windows: in the loop body, in the row
  std::vector<Kept> kept_;
  std::vector<Accumulator> pending_;
  std::vector<Folded> folded_;
  std::vector<WholeOperand> whole_;
  const Member* routine_ = nullptr;  // the one being lowered
  std::vector<std::int32_t> row_shift_;
};

}  // namespace

void lower(const Segment& segment, const Group& group, std::span<const SlotUse> uses, Plan& plan) {
  Body(segment, group, uses, plan).lower();
}

}  // namespace frit
