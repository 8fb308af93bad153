// lower_routine.cpp: copies a routine's block; what changes is how its memory is reached.
#include "schedule/lower_routine.h"

#include <algorithm>

#include "ir/error.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class RoutineLowering {
 public:
  RoutineLowering(const CallSite& site, const Member& member, RoutineHost& host)
      : use_(*site.routine),
        body_(use_.routine->body),
        member_(member),
        host_(host),
        writer_(host.writer()) {
    values_.assign(body_.values.size(), no_value);
    for (DType dtype : body_.locals) locals_.push_back(writer_.local(dtype));
    windows_.assign(use_.accesses.size(), nullptr);
    for (std::size_t n = 0; n < use_.accesses.size(); ++n)
      windows_[n] = find_window(use_.accesses[n]);
    variable_of_.assign(use_.accesses.size(), -1);
  }

  void run() {
    make_variables();
    for (std::size_t n = 0; n < use_.accesses.size(); ++n)
      if (const Window* w = windows_[n]; w && w->immediate && !w->whole && variable_of_[n] < 0)
        host_.settle(*w);
    block(body_.code, Place::Top);
    for (const Variable& v : variables_) {
      const ValueId value = writer_.read_local(v.local);
      v.stores_behind ? host_.write(*v.window, value) : host_.note(*v.window, value);
    }
  }

 private:
  enum class Place : std::uint8_t { Top, Nested };

  const Window* find_window(const RoutineAccess& access) const {
    if (!access.instr) return nullptr;
    const bool is_store = access.instr->kind == InstrKind::Store;
    const auto& windows = is_store ? member_.outs : member_.in;
    const auto& touched = is_store ? use_.outputs : use_.inputs;
    for (std::size_t k = 0; k < windows.size(); ++k) {
      const RoutineAccess& other = use_.accesses[at(touched[k].access)];
      if (other.instr->address.operand != access.instr->address.operand ||
          other.is_window != access.is_window)
        continue;
      if (!access.is_window || (other.offset == access.offset && other.strides == access.strides))
        return &windows[k];
    }
    check(false, "each access of a routine has a window");
    return nullptr;
  }

  // ---- elements that are stored under conditions ------------------------------------------------
  // They are variables while the routine runs: memory that was written under a mask is slow to be
  // read back. Where the element is stored in any case one store behind the routine does; else the
  // stores stay under their conditions, so that what is seldom changed is seldom written.

  struct Variable {
    const Window* window;
    std::int32_t local;
    bool stores_behind;
  };

  void make_variables() {
    for (std::size_t n = 0; n < use_.accesses.size(); ++n) {
      const RoutineAccess& first = use_.accesses[n];
      if (!windows_[n] || !windows_[n]->immediate || variable_of_[n] >= 0 || !is_variable(first))
        continue;
      const auto number = static_cast<std::int32_t>(variables_.size());
      bool is_read = false;
      for (std::size_t k = n; k < use_.accesses.size(); ++k)
        if (base_of(use_.accesses[k]) == base_of(first)) {
          variable_of_[k] = number;
          is_read |= !is_store(use_.accesses[k]);
        }
      const Window& window = *windows_[n];
      const bool is_stored = surely_stores(body_.code, number);
      variables_.push_back(
          {&window, writer_.local(window.dtype), is_stored || host_.is_owed(window)});
      const bool begins_with_store = first.at_top && is_store(first);
      if (!begins_with_store && (is_read || !is_stored))
        writer_.write_local(variables_.back().local, host_.read(window));
    }
  }

  // Does each way through the block come to a store to the variable?
  bool surely_stores(const Block& block, std::int32_t variable) const {
    return std::any_of(block.begin(), block.end(), [&](const Instr& instr) {
      if (instr.kind == InstrKind::Store) return variable_of_[at(instr.number)] == variable;
      return instr.kind == InstrKind::If && surely_stores(instr.body, variable) &&
             surely_stores(instr.other, variable);
    });
  }

  // Is all that the routine does to this memory at the point's own element, which is there?
  bool is_variable(const RoutineAccess& access) const {
    if (use_.in_order) return false;
    return std::all_of(use_.accesses.begin(), use_.accesses.end(), [&](const RoutineAccess& a) {
      return base_of(a) != base_of(access) ||
             (a.is_window && a.always_inside && a.offset == access.offset &&
              a.strides == access.strides && dtype_of(a) == dtype_of(access));
    });
  }

  static bool is_store(const RoutineAccess& a) { return a.instr->kind == InstrKind::Store; }
  DType dtype_of(const RoutineAccess& a) const {
    return body_.operands[at(a.instr->address.operand)].dtype;
  }
  std::int32_t base_of(const RoutineAccess& a) const {
    return a.instr ? use_.parameters[at(a.instr->address.operand)].base : -1;
  }

  void block(const Block& instructions, Place place) {
    for (const Instr& instr : instructions) instruction(instr, place);
  }

  ValueId value(ValueId id) {
    if (id == no_value) return no_value;
    if (id < use_.routine->rank) return host_.axis_index(id);
    check(values_[at(id)] != no_value, "a routine's value is lowered before it is used");
    return values_[at(id)];
  }
  // A term of an address may stand for a value of another integer type.
  ValueId index(ValueId id) {
    return body_.values[at(id)] == DType::Int64 ? value(id) : writer_.cast(value(id), DType::Int64);
  }
  void define(const Instr& instr, ValueId id) { values_[at(instr.result)] = id; }

  void instruction(const Instr& instr, Place place) {
    if (instr.result != no_value && instr.kind != InstrKind::Loop && !use_.needed[at(instr.result)])
      return;
    switch (instr.kind) {
      case InstrKind::Constant:
        return define(instr, writer_.constant(instr.constant));
      case InstrKind::ScalarArg:
        return define(instr, host_.routine_scalar(instr.number));
      case InstrKind::IntegerArg:
        return define(instr, writer_.integer_value(integer(use_.integers[at(instr.number)])));
      case InstrKind::Apply:
        return define(instr,
                      writer_.apply(instr.op, body_.values[at(instr.result)], value(instr.args[0]),
                                    value(instr.args[1]), value(instr.args[2])));
      case InstrKind::Cast:
        return define(instr, writer_.cast(value(instr.args[0]), body_.values[at(instr.result)]));
      case InstrKind::Load:
        return define(instr, load(instr, place));
      case InstrKind::Store:
        return store(instr, place);
      case InstrKind::ReadLocal:
        return define(instr, writer_.read_local(locals_[at(instr.number)]));
      case InstrKind::WriteLocal:
        return writer_.write_local(locals_[at(instr.number)], value(instr.args[0]));
      case InstrKind::Loop:
        return loop(instr);
      case InstrKind::If:
        writer_.open_if(value(instr.args[0]), instr.fails);
        block(instr.body, Place::Nested);
        if (!instr.other.empty()) {
          writer_.open_else();
          block(instr.other, Place::Nested);
        }
        return writer_.close_if();
      case InstrKind::While:
        writer_.open_while();
        block(instr.other, Place::Nested);
        writer_.begin_while_body(writer_.read_local(locals_[at(instr.number)]));
        block(instr.body, Place::Nested);
        return writer_.close_while();
    }
  }

  // Equal numbers are one argument only where the routine has one: the code must not depend on
  // their being equal.
  std::int32_t integer(std::int64_t number) { return host_.new_integer(number); }

  // ---- memory -----------------------------------------------------------------------------------

  ValueId load(const Instr& instr, Place place) {
    const RoutineAccess& access = use_.accesses[at(instr.number)];
    const Window& window = *windows_[at(instr.number)];
    if (const std::int32_t v = variable_of_[at(instr.number)]; v >= 0)
      return writer_.read_local(variables_[at(v)].local);
    if (!access.is_window || window.immediate)
      return writer_.load_here(address(instr, MemoryAccess::Read));
    if (place == Place::Top || access.always_inside) return host_.read(window);
    if (const ValueId known = host_.register_of(window); known != no_value) return known;
    return writer_.load_here(address(instr, MemoryAccess::Read));
  }

  void store(const Instr& instr, Place place) {
    const RoutineAccess& access = use_.accesses[at(instr.number)];
    const Window& window = *windows_[at(instr.number)];
    const ValueId what = value(instr.args[0]);
    if (const std::int32_t v = variable_of_[at(instr.number)]; v >= 0) {
      writer_.write_local(variables_[at(v)].local, what);
      if (variables_[at(v)].stores_behind) return;
    } else if (access.is_window && !window.immediate) {
      check(place == Place::Top, "a store under a condition goes to memory at once");
      return host_.write(window, what);
    }
    writer_.store(address(instr, MemoryAccess::Write), what);
  }

  Address address(const Instr& instr, MemoryAccess how) {
    const RoutineAccess& access = use_.accesses[at(instr.number)];
    const Window& window = *windows_[at(instr.number)];
    if (access.is_window) return host_.window_address(window, how);
    Address result = host_.whole_address(window, access.offset, how);
    for (const auto& [id, stride] : access.terms) {
      const bool is_axis = id < use_.routine->rank;
      if (is_axis && (use_.domain->shape()[at(id)] == 1 || host_.is_own(window))) continue;
      const bool is_lane = id == lane_ || (is_axis && (host_.lane_axes() >> id & 1) != 0);
      // Dense: a scaled register of the address, where other strides are a product each.
      const bool is_dense = (is_lane || !is_axis) && stride == size_of(window.dtype);
      result.terms.push_back({index(id), is_dense ? unit_stride : integer(stride)});
    }
    return result;
  }

  // ---- loops ------------------------------------------------------------------------------------

  void loop(const Instr& instr) {
    const std::uint64_t differs = use_.axes_of[at(instr.args[0])] | use_.axes_of[at(instr.args[1])];
    const ValueId begin = value(instr.args[0]), end = value(instr.args[1]);
    if (is_lanes(instr)) return lanes(instr, begin, end);
    if (differs & host_.lane_axes()) return loop_of_lanes(instr, begin, end);
    define(instr, writer_.open_loop(begin, end, false));
    block(instr.body, Place::Nested);
    writer_.close_loop();
  }

  bool is_lanes(const Instr& instr) const {
    return (host_.lane_axes() & lane_bit) != 0 && !use_.lanes.empty() &&
           use_.lanes[at(instr.result)];
  }

  // Its locals are each lane's own.
  void lanes(const Instr& instr, ValueId begin, ValueId end) {
    const std::vector<std::int32_t> outer = locals_;
    take_own_locals(instr.body);
    lane_ = instr.result;
    define(instr, writer_.open_loop(begin, end, true));
    block(instr.body, Place::Nested);
    writer_.close_loop();
    lane_ = no_value;
    locals_ = outer;
  }
  void take_own_locals(const Block& instructions) {
    for (const Instr& instr : instructions) {
      if (instr.kind == InstrKind::WriteLocal)
        locals_[at(instr.number)] = writer_.local(body_.locals[at(instr.number)]);
      take_own_locals(instr.body);
      take_own_locals(instr.other);
    }
  }

  // Each lane has its own bounds: it counts for itself.
  void loop_of_lanes(const Instr& instr, ValueId begin, ValueId end) {
    const std::int32_t counter = writer_.local(DType::Int64);
    writer_.write_local(counter, begin);
    writer_.open_while();
    ValueId goes_on = writer_.apply(Op::Less, DType::Bool, writer_.read_local(counter), end);
    if (const Instr* const ending = ending_if(instr)) {
      Block asks;
      add_definition(instr.body, ending->args[0], asks);
      block(asks, Place::Nested);
      goes_on = writer_.apply(Op::LogicalAnd, DType::Bool, goes_on, value(ending->args[0]));
    }
    writer_.begin_while_body(goes_on);
    const ValueId index = writer_.read_local(counter);
    define(instr, index);
    block(instr.body, Place::Nested);
    writer_.write_local(counter,
                        writer_.apply(Op::Add, DType::Int64, index, writer_.constant_int(1)));
    writer_.close_while();
  }

  // What the value follows from within the block, before it.
  static void add_definition(const Block& from, ValueId id, Block& to) {
    const Instr* const made = id == no_value ? nullptr : definition_in(from, id);
    if (!made) return;
    for (ValueId arg : made->args) add_definition(from, arg, to);
    to.push_back(*made);
  }

  const RoutineUse& use_;
  const Kernel& body_;
  const Member& member_;
  RoutineHost& host_;
  KernelWriter& writer_;
  std::vector<ValueId> values_;
  std::vector<std::int32_t> locals_;
  ValueId lane_ = no_value;             // the loop inside that is lanes, while it is open
  std::vector<const Window*> windows_;  // of each access
  std::vector<Variable> variables_;
  std::vector<std::int32_t> variable_of_;  // of each access, or -1
};

}  // namespace

void lower_routine(const CallSite& site, const Member& member, RoutineHost& host) {
  RoutineLowering(site, member, host).run();
}

}  // namespace frit
