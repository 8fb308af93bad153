// lower_body.cpp: a member at a point: values of windows, and the arguments that reach memory.
#include "schedule/lower_body.h"

#include <algorithm>

#include "ir/error.h"

namespace frit {
namespace {

constexpr std::int32_t absent = -2;  // a term that is not there: the window has no stride along it

std::int64_t stride_of(const Window& w, int axis) {
  return w.strides[static_cast<std::size_t>(axis)];
}

}  // namespace

Body::Body(const Lowering& lowering)
    : segment_(lowering.segment),
      group_(lowering.group),
      lanes_inside_(has_lanes_inside(segment_, group_)),
      uses_(lowering.uses),
      plan_(lowering.plan) {
  const std::size_t members = group_.members.size();
  memory_.reserve(2 * members + 4);
  full_.reserve(2 * members + 4);
  bound_.reserve(8);
  stride_arguments_.reserve(8);
  step_.operands.reserve(8);
  step_.integers.reserve(8);
  is_last_pass_ = last_phase() == 0;
  for (const Member& m : group_.members) {
    if (in_memory(m.out.slot)) memory_.push_back(&m.out);
    for (const Window& w : m.outs)
      if (in_memory(w.slot) && !w.whole) memory_.push_back(&w);
    for (const Window& w : m.in)
      if (in_memory(w.slot) && !w.whole) memory_.push_back(&w);
  }
}

// ---- windows and axes ---------------------------------------------------------------------------

bool Body::in_memory(std::uint32_t slot) const {
  return slot != no_slot &&
         (segment_.slots[slot].has_data || uses_[slot].held || uses_[slot].stored);
}

bool Body::same(const Window& a, const Window& b) const {
  if (a.slot != b.slot || a.offset != b.offset || a.dtype != b.dtype || a.whole || b.whole)
    return false;
  for (std::size_t k = 0; k < group_.extents.size(); ++k)
    if (group_.extents[k] > 1 && a.strides[k] != b.strides[k]) return false;
  return true;
}

int Body::last_phase() const {
  int last = 0;
  for (const Member& m : group_.members) last = std::max(last, m.phase);
  return last;
}

std::vector<Axis> Body::merge(const std::vector<int>& axes) const {
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

// What is written decides: elements read with a stride cost less than elements stored with one.
std::vector<int> Body::natural_order() const {
  std::vector<std::span<const std::int64_t>> strides;
  for (const Member& m : group_.members)
    if (in_memory(m.out.slot) && stored(m.out.slot)) strides.emplace_back(m.out.strides);
  if (strides.empty())
    for (const Window* w : memory_) strides.emplace_back(w->strides);
  const int ndim = static_cast<int>(group_.extents.size());
  std::vector<int> order(group_.extents.size());
  iteration_order(strides, ndim, order);
  return order;
}

// ---- arguments ----------------------------------------------------------------------------------

std::int32_t Body::add_integer(std::int64_t value) {
  step_.integers.push_back(value);
  return writer_.integer();
}

std::int32_t Body::add_operand(DType dtype, MemoryAccess access, Binding binding) {
  step_.operands.push_back(binding);
  return writer_.operand(dtype, access == MemoryAccess::Write);
}

std::int32_t Body::scratch(DType dtype, std::int64_t elements) {
  const std::int64_t bytes = (elements * size_of(dtype) + 63) / 64 * 64;
  const std::int32_t offset = add_integer(step_.scratch_bytes);
  step_.scratch_bytes += bytes;
  step_.operands.push_back({.kind = Binding::Kind::Scratch});
  return writer_.scratch_operand(dtype, offset);
}

ValueId Body::scalar(const Member& m, int constant) {
  const Scalar& value = node_of(m).constants[constant];
  step_.scalars.push_back({.node = m.node, .constant = static_cast<std::uint16_t>(constant)});
  return writer_.scalar(value.dtype);
}

std::uint32_t Body::new_temporary(std::int64_t bytes) {
  plan_.temporaries.push_back(bytes);
  return static_cast<std::uint32_t>(segment_.slots.size() + plan_.temporaries.size() - 1);
}

bool Body::shadowed(std::uint32_t slot) const {
  return std::find(group_.shadowed.begin(), group_.shadowed.end(), slot) != group_.shadowed.end();
}

std::int32_t Body::operand_of(const Window& w, MemoryAccess access) {
  const bool write = access == MemoryAccess::Write;
  const bool shadow = write && shadowed(w.slot);
  for (const Bound& b : bound_)
    if (b.shadow == shadow && same(*b.window, w)) {
      if (write) writer_.mark_written(b.operand);
      return b.operand;
    }
  Binding binding = place_of(w.slot, w.offset);
  if (shadow) binding.kind = Binding::Kind::Shadow;
  const std::int32_t operand =
      is_own(w) ? own_operand(w.dtype, w.slot, w.offset) : add_operand(w.dtype, access, binding);
  bound_.push_back({&w, shadow, operand});
  return operand;
}

std::int32_t Body::stride_argument(const Window& w, const Axis& axis) {
  const std::int64_t stride = stride_of(w, axis.inner());
  if (stride == 0 || is_own(w)) return absent;
  if (axis.lanes && stride == size_of(w.dtype)) return unit_stride;
  // Windows with the same strides share their arguments.
  for (const StrideArgument& known : stride_arguments_)
    if (known.axis == &axis && std::ranges::equal(known.window->strides, w.strides))
      return known.number;
  stride_arguments_.push_back({&axis, &w, add_integer(stride)});
  return stride_arguments_.back().number;
}

Address Body::address(const Window& w, MemoryAccess access) {
  if (access == MemoryAccess::Read) loaded_.push_back(w.slot);
  Address result{.operand = operand_of(w, access), .terms = terms_of(w.slot)};
  result.terms.reserve(result.terms.size() + nest_.size());
  for (const Axis* axis : nest_)
    if (const std::int32_t stride = stride_argument(w, *axis); stride != absent)
      result.terms.push_back({axis->index, stride});
  return result;
}

Binding Body::place_of(std::uint32_t slot, std::int64_t offset) const {
  return {.kind = Binding::Kind::Slot, .slot = slot, .offset = offset};
}

std::vector<Term> Body::terms_of(std::uint32_t) const { return {}; }

// ---- values of windows --------------------------------------------------------------------------

const Body::Current* Body::find(const std::vector<Current>& values, const Window& w) const {
  for (std::size_t k = values.size(); k-- > 0;)
    if (same(*values[k].window, w)) return &values[k];
  return nullptr;
}

const Body::Kept* Body::find_kept(const Window& w) const {
  for (const Kept& k : kept_)
    if (same(*k.window, w)) return &k;
  return nullptr;
}

void Body::set(std::vector<Current>& values, const Window& w, ValueId value) {
  for (Current& c : values)
    if (same(*c.window, w)) {
      c = {&w, value, true};
      return;
    }
  values.push_back({&w, value, true});
}

// Does the window stay the same along the inner loops?
bool Body::is_row_window(const Window& w) const {
  if (group_.kind != GroupKind::Rows) return false;
  for (std::size_t k = 0; k < group_.extents.size(); ++k)
    if ((group_.reduced >> k & 1) && w.strides[k] != 0) return false;
  return true;
}

ValueId Body::resolve(const Member& m, int input) {
  const Window& w = m.in[static_cast<std::size_t>(input)];
  if (w.slot == no_slot) {
    if (w.offset != iota_input) return scalar(m, static_cast<int>(w.offset));
    // An axis of one element may be left out.
    return nest_.empty() ? writer_.constant_int(0) : nest_.back()->index;
  }
  return value_of(w);
}

ValueId Body::value_of(const Window& w) {
  if (const Current* c = find(full_, w)) return c->value;
  if (const Current* c = find(rows_, w)) return c->value;
  if (const Kept* kept = find_kept(w)) {
    const ValueId value = writer_.load(kept_address(*kept));
    full_.push_back({&w, value, false});
    return value;
  }
  const ValueId value = writer_.load(address(w, MemoryAccess::Read), is_fetched_ahead(w));
  (is_row_window(w) ? rows_ : full_).push_back({&w, value, false});
  return value;
}

ValueId Body::compute(const Member& m) {
  const Node& node = node_of(m);
  ValueId args[max_inputs] = {no_value, no_value, no_value};
  for (int k = 0; k < node.inputs; ++k) args[k] = writer_.cast(resolve(m, k), node.signature.in[k]);
  add_cost(node.op);
  const ValueId result =
      node.op == Op::Copy ? args[0]
                          : writer_.apply(node.op, node.signature.out, args[0], args[1], args[2]);
  return writer_.cast(result, m.out.dtype);
}

void Body::run_member(const Member& m) {
  if (node_of(m).kind != NodeKind::Routine) return set(full_, m.out, compute(m));
  cost_ += node_of(m).site->routine->cost;
  routine_ = &m;
  fill_own_memory(m);
  lower_routine(*node_of(m).site, m, *this);
}

void Body::run_loop_members(int phase) {
  for (const Member& m : group_.members)
    if (m.phase == phase && m.level == Level::Full) run_member(m);
}

void Body::add_cost(Op op) { cost_ += has(op, Costly) ? 1.5 : 0.08; }

void Body::flush(std::vector<Current>& values) {
  for (Current& c : values) {
    if (!c.written) continue;
    c.written = false;
    if (stored(c.window->slot))
      writer_.store(address(*c.window, MemoryAccess::Write), c.value, streams(*c.window));
  }
}

Address Body::kept_address(const Kept& row) const {
  Address result{.operand = row.operand, .terms = {}};
  const std::size_t outer = nest_.size() - row.strides.size();
  for (std::size_t k = 0; k < row.strides.size(); ++k)
    result.terms.push_back({nest_[outer + k]->index, row.strides[k]});
  return result;
}

// ---- what a routine asks for --------------------------------------------------------------------

ValueId Body::axis_index(std::int32_t axis) {
  if (extent_of(axis) == 1) return writer_.constant_int(0);
  for (const Axis* a : nest_)
    if (a->members.size() == 1 && a->members[0] == axis) return a->index;
  check(false, "an axis whose index is used has a loop of its own");
  return no_value;
}

std::uint64_t Body::lane_axes() const {
  if (lanes_inside_) return lane_bit;
  std::uint64_t axes = 0;
  for (const Axis* a : nest_)
    if (a->lanes)
      for (int member : a->members) axes |= std::uint64_t{1} << member;
  return axes;
}

ValueId Body::routine_scalar(std::int32_t number) {
  step_.scalars.push_back({.node = routine_->node, .constant = static_cast<std::uint16_t>(number)});
  return writer_.scalar(node_of(*routine_).site->scalars[static_cast<std::size_t>(number)].dtype);
}

ValueId Body::register_of(const Window& w) {
  const bool known = find(full_, w) || find(rows_, w) || find_kept(w);
  return known ? value_of(w) : no_value;
}

bool Body::is_owed(const Window& w) const {
  const Current* c = find(full_, w);
  if (!c) c = find(rows_, w);
  return c && c->written;
}

void Body::note(const Window& w, ValueId value) {
  set(full_, w, value);
  for (Current& c : full_)
    if (same(*c.window, w)) c.written = false;
}

void Body::settle(const Window& w) {
  for (std::vector<Current>* values : {&full_, &rows_}) {
    for (const Current& c : *values)
      if (same(*c.window, w) && c.written)
        writer_.store(address(*c.window, MemoryAccess::Write), c.value);
    std::erase_if(*values, [&](const Current& c) { return same(*c.window, w); });
  }
}

Address Body::whole_address(const Window& w, std::int64_t offset, MemoryAccess access) {
  if (access == MemoryAccess::Read) loaded_.push_back(w.slot);
  return {.operand = whole_operand(w, offset, access), .terms = terms_of(w.slot)};
}

std::int32_t Body::whole_operand(const Window& w, std::int64_t offset, MemoryAccess access) {
  const bool write = access == MemoryAccess::Write;
  for (const WholeOperand& known : whole_)
    if (known.slot == w.slot && known.offset == offset && known.dtype == w.dtype) {
      if (write) writer_.mark_written(known.operand);
      return known.operand;
    }
  const std::int32_t operand = is_own(w) ? own_operand(w.dtype, w.slot, offset)
                                         : add_operand(w.dtype, access, place_of(w.slot, offset));
  whole_.push_back({w.slot, offset, w.dtype, operand});
  return operand;
}

// ---- memory that each point has for itself ------------------------------------------------------

bool Body::is_own(const Window& w) const {
  return w.slot != no_slot && uses_[w.slot].own_bytes > 0;
}

// The same scratch memory for one point after another.
std::int32_t Body::own_operand(DType dtype, std::uint32_t slot, std::int64_t offset) {
  auto known = std::ranges::find(own_, slot, &Own::slot);
  if (known == own_.end()) {
    known = own_.insert(known, {slot, step_.scratch_bytes});
    step_.scratch_bytes += (uses_[slot].own_bytes + 63) / 64 * 64;
  }
  step_.operands.push_back({.kind = Binding::Kind::Scratch});
  return writer_.scratch_operand(dtype, add_integer(known->offset + offset));
}

void Body::fill_own_memory(const Member& m) {
  std::vector<std::uint32_t> filled;
  for (const Window& w : m.outs) {
    if (!is_own(w) || !uses_[w.slot].fill || std::ranges::count(filled, w.slot) > 0) continue;
    filled.push_back(w.slot);
    const ValueId value = compute(*uses_[w.slot].fill);
    const std::int32_t operand = own_operand(w.dtype, w.slot, 0);
    const ValueId element = writer_.open_loop(
        writer_.constant_int(0), integer_value(uses_[w.slot].own_bytes / size_of(w.dtype)), true);
    writer_.store({.operand = operand, .terms = {{element, unit_stride}}}, value);
    writer_.close_loop();
  }
}

// ---- loops --------------------------------------------------------------------------------------

void Body::open(Axis& axis, bool vector) {
  axis.lanes = vector;
  const ValueId zero = writer_.constant_int(0);
  const ValueId end = writer_.integer_value(extent_argument(axis));
  axis.index = writer_.open_loop(zero, end, vector);
  nest_.push_back(&axis);
}

void Body::close(std::vector<Reduction> reductions) {
  writer_.close_loop(std::move(reductions));
  nest_.pop_back();
}

void Body::open_flat(std::vector<Axis>& axes) {
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

void Body::open_lanes(std::vector<Axis>& outer, Axis& lanes, std::int64_t granule) {
  if (!outer.empty()) {
    open_flat(outer);
    return open(lanes, true);
  }
  lanes.lanes = true;
  lanes.index = writer_.open_parallel(true);
  step_.extent = lanes.extent;
  step_.granule = granule;
  nest_.push_back(&lanes);
}

void Body::close_lanes(const std::vector<Axis>& outer) {
  if (!outer.empty()) close();
  close_flat();
}

void Body::close_flat() {
  writer_.close_loop();
  nest_.clear();
}

std::size_t vector_axis(const std::vector<Axis>& axes) {
  std::size_t longest = axes.size() - 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    if (axes[k].extent >= shortest_vector) return k;
    if (axes[k].extent > axes[longest].extent) longest = k;
  }
  return longest;
}

}  // namespace frit
