// routine_use.cpp: indices as sums, windows, and which points of a routine depend on one another.
#include "ir/routine_use.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "ir/error.h"
#include "ir/routine_apart.h"
#include "ir/routine_cut.h"
#include "ir/routine_lanes.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

template <class Visit>
void for_each_instr(const Block& block, int depth, Visit&& visit) {
  for (const Instr& instr : block) {
    visit(instr, depth);
    for_each_instr(instr.other, depth + 1, visit);
    for_each_instr(instr.body, depth + 1, visit);
  }
}

// Strides and extents: by size, does each stride step over everything that the smaller ones reach?
bool steps_over(std::vector<std::pair<std::int64_t, std::int64_t>> steps, std::int64_t item) {
  std::erase_if(steps, [](const auto& step) { return step.second <= 1; });
  for (auto& step : steps) step.first = std::abs(step.first);
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = item;
  for (const auto& [stride, extent] : steps) {
    if (stride < reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

// Finds out whether all that is done to some bases are updates in whatever order.
class UpdateSearch {
 public:
  UpdateSearch(const RoutineUse& use, const Forms& forms)
      : use_(use), body_(use.routine->body), forms_(forms), uses_(body_.values.size()) {
    definitions_.assign(body_.values.size(), nullptr);
    for_each_instr(body_.code, 0, [&](const Instr& instr, int) {
      if (instr.result != no_value) definitions_[at(instr.result)] = &instr;
      for (ValueId arg : instr.args)
        if (arg != no_value) ++uses_[at(arg)];
      for (const Term& term : instr.address.terms) ++uses_[at(term.index)];
    });
  }

  // None where some base is touched in another way.
  std::vector<RoutineUse::Update> run(const std::vector<std::int32_t>& bases) {
    find(body_.code);
    std::vector<RoutineUse::Update> found;
    for (std::int32_t base : bases) {
      std::vector<RoutineUse::Update> own;
      std::size_t accesses = 0;
      for (const RoutineAccess& access : use_.accesses)
        if (access.instr) accesses += base_of(*access.instr) == base;
      for (const RoutineUse::Update& update : all_)
        if (use_.parameters[at(update.parameter)].base == base) own.push_back(update);
      const bool same = std::all_of(own.begin(), own.end(),
                                    [&](const RoutineUse::Update& u) { return u == own[0]; });
      if (own.empty() || !same || accesses != 2 * own.size() || !is_dense(own[0].parameter))
        return {};
      found.push_back(own[0]);
    }
    return found;
  }

 private:
  std::int32_t base_of(const Instr& access) const {
    return use_.parameters[at(access.address.operand)].base;
  }

  void find(const Block& block) {
    for (std::size_t k = 0; k < block.size(); ++k) {
      find(block[k].body);
      find(block[k].other);
      if (block[k].kind == InstrKind::Store) add(block, k);
    }
  }

  void add(const Block& block, std::size_t position) {
    const Instr& store = block[position];
    const std::int32_t parameter = store.address.operand;
    const DType dtype = body_.operands[at(parameter)].dtype;
    const Instr* apply = definitions_[at(store.args[0])];
    if (!apply || apply->kind != InstrKind::Apply || uses_[at(apply->result)] != 1) return;
    const auto holds = [&](ValueId before, int uses) {
      const Instr* load = definitions_[at(before)];
      return load && load->kind == InstrKind::Load && uses_[at(before)] == uses &&
             is_same_element(*load, store) && stands_alone(block, *load, position);
    };
    if (is_float(dtype) && apply->op == Op::Select) {
      const std::optional<Op> op = extreme(*apply);
      if (op && holds(apply->args[2], 2)) all_.push_back({parameter, *op});
      return;
    }
    const std::optional<Op> op = combining(apply->op, dtype);
    if (!op) return;
    for (int side = 0; side < (apply->op == Op::Subtract ? 1 : 2); ++side)
      if (holds(apply->args[side], 1)) return all_.push_back({parameter, *op});
  }

  // Of `y < x ? y : x`, where x is what was there.
  std::optional<Op> extreme(const Instr& select) const {
    const ValueId y = select.args[1], x = select.args[2];
    const Instr* less = definitions_[at(select.args[0])];
    if (x == y || !less || less->kind != InstrKind::Apply || less->op != Op::Less)
      return std::nullopt;
    if (less->args[0] == y && less->args[1] == x) return Op::Minimum;
    if (less->args[0] == x && less->args[1] == y) return Op::Maximum;
    return std::nullopt;
  }

  // How the results of parts are put together; none: the order of updates matters.
  static std::optional<Op> combining(Op op, DType dtype) {
    if (!is_integer(dtype) && !is_float(dtype)) return std::nullopt;
    if (op == Op::Subtract) return Op::Add;
    const bool any =
        op == Op::Add || op == Op::Multiply ||
        (is_integer(dtype) && (op == Op::Minimum || op == Op::Maximum || op == Op::BitwiseAnd ||
                               op == Op::BitwiseOr || op == Op::BitwiseXor));
    return any ? std::optional(op) : std::nullopt;
  }

  bool is_same_element(const Instr& load, const Instr& store) const {
    if (load.address.operand != store.address.operand) return false;
    for (std::size_t k = 0; k < store.address.terms.size(); ++k)
      if (forms_[load.address.terms[k].index] != forms_[store.address.terms[k].index]) return false;
    return true;
  }

  // The load stands in the same block before the store, and nothing between them touches the base.
  bool stands_alone(const Block& block, const Instr& load, std::size_t store) const {
    const std::int32_t base = base_of(load);
    for (std::size_t k = store; k-- > 0;) {
      if (&block[k] == &load) return true;
      bool touches = false;
      const auto look = [&](const Instr& instr, int) {
        const bool reaches = instr.kind == InstrKind::Load || instr.kind == InstrKind::Store;
        touches |= reaches && base_of(instr) == base;
      };
      look(block[k], 0);
      for_each_instr(block[k].body, 0, look);
      for_each_instr(block[k].other, 0, look);
      if (touches) return false;
    }
    return false;
  }

  // Do its elements fill a stretch of memory, each of them once?
  bool is_dense(std::int32_t parameter) const {
    const Layout& layout = *use_.parameters[at(parameter)].layout;
    const ByteRange range = byte_range(layout);
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (std::size_t k = 0; k < layout.shape().size(); ++k)
      steps.emplace_back(layout.strides()[k], layout.shape()[k]);
    return layout.size() > 0 && range.high - range.low == layout.size() * layout.item_size() &&
           steps_over(std::move(steps), layout.item_size());
  }

  const RoutineUse& use_;
  const Kernel& body_;
  const Forms& forms_;
  std::vector<int> uses_;
  std::vector<const Instr*> definitions_;
  std::vector<RoutineUse::Update> all_;
};

class Analysis {
 public:
  explicit Analysis(RoutineUse& use)
      : use_(use),
        routine_(*use.routine),
        body_(routine_.body),
        forms_(routine_, extents(), use.integers),
        parts_(Forms::in_parts(routine_, extents(), use.integers)) {}

  void run() {
    use_.immediate.assign(body_.operands.size(), false);
    for_each_instr(body_.code, 0, [&](const Instr& instr, int depth) {
      if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) add_access(instr, depth);
    });
    find_needed();
    find_axes();
    find_dependences();
    use_.cost = cost_of(body_.code, forms_);
    find_lanes();
    for (std::size_t n = 0; n < use_.accesses.size(); ++n)
      if (use_.accesses[n].instr) add_touched(static_cast<std::int32_t>(n));
  }

 private:
  std::span<const std::int64_t> extents() const { return use_.domain->shape(); }

  void add_access(const Instr& instr, int depth) {
    const RoutineParameter& parameter = use_.parameters[at(instr.address.operand)];
    RoutineAccess access{
        .instr = &instr, .is_window = true, .at_top = depth == 0, .offset = parameter.offset};
    Affine bytes;
    for (std::size_t k = 0; k < instr.address.terms.size(); ++k) {
      const ValueId index = instr.address.terms[k].index;
      const std::int64_t stride = parameter.layout->strides()[k];
      auto sum = add(bytes, forms_[index], stride);
      if (!sum) sum = add(bytes, {.terms = {{index, 1}}}, stride);  // as it is computed
      check(sum.has_value(), "an index stays within 64 bits");
      bytes = *sum;
    }
    access.offset += bytes.constant;
    access.terms = bytes.terms;
    access.strides.assign(extents().size(), 0);
    for (const auto& [value, stride] : access.terms) {
      if (value >= routine_.rank)
        access.is_window = false;
      else if (extents()[at(value)] > 1)
        access.strides[at(value)] = stride;
    }
    if (use_.accesses.size() <= at(instr.number)) use_.accesses.resize(at(instr.number) + 1);
    use_.accesses[at(instr.number)] = std::move(access);
  }

  // Backwards from what has an effect. Blocks are walked in reverse; locals carry needs around
  // loops: all their writes count.
  void find_needed() {
    use_.needed.assign(body_.values.size(), false);
    mark_needed(body_.code);
  }
  void need(ValueId value) {
    if (value != no_value) use_.needed[at(value)] = true;
  }
  void mark_needed(const Block& block) {
    for (std::size_t k = block.size(); k-- > 0;) {
      const Instr& instr = block[k];
      switch (instr.kind) {
        case InstrKind::Constant:
        case InstrKind::ScalarArg:
        case InstrKind::IntegerArg:
        case InstrKind::ReadLocal:
          break;
        case InstrKind::Apply:
        case InstrKind::Cast:
          if (use_.needed[at(instr.result)])
            for (ValueId arg : instr.args) need(arg);
          break;
        case InstrKind::Load:
          if (use_.needed[at(instr.result)]) need_address(instr);
          break;
        case InstrKind::Store:
          need(instr.args[0]);
          need_address(instr);
          break;
        case InstrKind::WriteLocal:
          need(instr.args[0]);
          break;
        case InstrKind::Loop:
        case InstrKind::If:
        case InstrKind::While:
          mark_needed(instr.body);
          mark_needed(instr.other);
          need(instr.args[0]);
          need(instr.args[1]);
          break;
      }
    }
  }
  void need_address(const Instr& instr) {
    const RoutineAccess& access = use_.accesses[at(instr.number)];
    if (access.is_window) return;
    for (const auto& term : access.terms) need(term.first);
  }

  // Which axes a value differs along: spreads through locals and conditions until nothing changes.
  void find_axes() {
    use_.axes_of.assign(body_.values.size(), 0);
    for (std::int32_t k = 0; k < routine_.rank; ++k) {
      use_.axes_of[at(k)] = std::uint64_t{1} << k;
      use_.uses_index |= use_.needed[at(k)] && extents()[at(k)] > 1;
    }
    spread_axes();
  }
  void spread_axes() {
    locals_.assign(body_.locals.size(), 0);
    do {
      changed_ = false;
      spread(body_.code, 0);
    } while (changed_);
  }
  void find_lanes() {
    use_.lanes = frit::find_lanes(use_, forms_, parts_);
    if (!use_.lanes.empty()) spread_axes();
  }
  void spread(const Block& block, std::uint64_t around) {
    for (const Instr& instr : block) {
      std::uint64_t mask = 0;
      for (ValueId arg : instr.args)
        if (arg != no_value) mask |= use_.axes_of[at(arg)];
      switch (instr.kind) {
        case InstrKind::Constant:
        case InstrKind::ScalarArg:
        case InstrKind::IntegerArg:
          break;
        case InstrKind::Apply:
        case InstrKind::Cast:
          use_.axes_of[at(instr.result)] = mask;
          break;
        case InstrKind::Load:
          for (const Term& term : instr.address.terms) mask |= use_.axes_of[at(term.index)];
          use_.axes_of[at(instr.result)] = mask;
          break;
        case InstrKind::Store:
          break;
        case InstrKind::ReadLocal:
          use_.axes_of[at(instr.result)] = locals_[at(instr.number)];
          break;
        case InstrKind::WriteLocal:
          mask |= around;
          if ((locals_[at(instr.number)] | mask) != locals_[at(instr.number)]) {
            locals_[at(instr.number)] |= mask;
            changed_ = true;
          }
          break;
        case InstrKind::Loop:
          // Between lanes of a loop outside of lanes its bounds don't differ.
          if (!use_.lanes.empty() && use_.lanes[at(instr.result)]) {
            use_.axes_of[at(instr.result)] = mask | around | lane_bit;
            spread(instr.body, around | mask);
            break;
          }
          use_.axes_of[at(instr.result)] = mask | around;
          spread(instr.body, around | mask);
          break;
        case InstrKind::If:
          spread(instr.body, around | mask);
          spread(instr.other, around | mask);
          break;
        case InstrKind::While:
          spread(instr.other, around | locals_[at(instr.number)]);
          spread(instr.body, around | locals_[at(instr.number)]);
          break;
      }
    }
  }

  // ---- dependences between points ---------------------------------------------------------------

  void find_dependences() {
    for (const RoutineAccess& store : use_.accesses) {
      if (store.instr->kind != InstrKind::Store) continue;
      if (!stays_at_its_point(store, store) && !touches_each_once(store)) put_in_order(store);
      for (const RoutineAccess& other : use_.accesses) {
        const std::int32_t base = parameter_of(store).base;
        if (parameter_of(other).base != base || &other == &store) continue;
        const bool same_window = store.is_window && other.is_window &&
                                 store.offset == other.offset && store.strides == other.strides;
        if (!same_window && !never_meet(store, other)) {
          if (same_array(store, other) ? !stays_at_its_point(store, other) : may_meet(store, other))
            put_in_order(store);
          // Other elements of the same memory: each store is seen by the loads behind it.
          if (same_array(store, other) || may_meet(store, other)) make_immediate(base);
        }
      }
      if (!store.at_top || !store.is_window) make_immediate(parameter_of(store).base);
    }
    if (!use_.in_order) return;
    for (const RoutineAccess& store : use_.accesses)
      if (store.instr->kind == InstrKind::Store) make_immediate(parameter_of(store).base);
    use_.updates = UpdateSearch(use_, forms_).run(ordering_);
  }
  void put_in_order(const RoutineAccess& store) {
    use_.in_order = true;
    const std::int32_t base = parameter_of(store).base;
    if (std::find(ordering_.begin(), ordering_.end(), base) == ordering_.end())
      ordering_.push_back(base);
  }

  const RoutineParameter& parameter_of(const RoutineAccess& a) const {
    return use_.parameters[at(a.instr->address.operand)];
  }
  bool same_array(const RoutineAccess& a, const RoutineAccess& b) const {
    const RoutineParameter &x = parameter_of(a), &y = parameter_of(b);
    return a.instr->address.operand == b.instr->address.operand ||
           (x.offset == y.offset && x.layout.get() == y.layout.get() &&
            body_.operands[at(a.instr->address.operand)].dtype ==
                body_.operands[at(b.instr->address.operand)].dtype);
  }
  void make_immediate(std::int32_t base) {
    for (std::size_t k = 0; k < use_.parameters.size(); ++k)
      if (use_.parameters[k].base == base) use_.immediate[k] = true;
  }
  bool may_meet(const RoutineAccess& a, const RoutineAccess& b) const {
    const RoutineParameter &x = parameter_of(a), &y = parameter_of(b);
    const ByteRange p = byte_range(*x.layout), q = byte_range(*y.layout);
    return x.offset + p.low < y.offset + q.high && y.offset + q.low < x.offset + p.high;
  }

  bool touches_each_once(const RoutineAccess& a) const {
    if (!a.is_window) return false;
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (std::size_t k = 0; k < a.strides.size(); ++k)
      steps.emplace_back(a.strides[k], extents()[k]);
    return steps_over(std::move(steps),
                      size_of(body_.operands[at(a.instr->address.operand)].dtype));
  }

  // Two windows that lie apart, or whose elements lie between one another (even and odd ones).
  bool never_meet(const RoutineAccess& a, const RoutineAccess& b) const {
    if (!a.is_window || !b.is_window) return false;
    std::int64_t low_a = a.offset, high_a = a.offset, low_b = b.offset, high_b = b.offset, step = 0;
    for (std::size_t k = 0; k < a.strides.size(); ++k) {
      const std::int64_t count = extents()[k] - 1;
      (a.strides[k] < 0 ? low_a : high_a) += a.strides[k] * count;
      (b.strides[k] < 0 ? low_b : high_b) += b.strides[k] * count;
      step = std::gcd(step, std::gcd(a.strides[k], b.strides[k]));
    }
    const std::int64_t size_a = size_of(body_.operands[at(a.instr->address.operand)].dtype);
    const std::int64_t size_b = size_of(body_.operands[at(b.instr->address.operand)].dtype);
    if (high_a + size_a <= low_b || high_b + size_b <= low_a) return true;
    if (step == 0) return false;
    const std::int64_t apart = ((b.offset - a.offset) % step + step) % step;
    return apart >= size_a && apart + size_b <= step;
  }

  // For two accesses of one array: do two different points always touch different elements?
  bool stays_at_its_point(const RoutineAccess& a, const RoutineAccess& b) const {
    Iterations points{.differ = {}, .agree = [](ValueId) { return false; }};
    for (std::int32_t axis = 0; axis < routine_.rank; ++axis)
      if (extents()[at(axis)] > 1)
        for (ValueId part : parts_.parts_of(axis)) points.differ.push_back(part);
    return touch_apart(*a.instr, *b.instr, *parameter_of(a).layout, parts_, points);
  }

  // ---- what a node lists as its accesses --------------------------------------------------------

  void add_touched(std::int32_t number) {
    const RoutineAccess& access = use_.accesses[at(number)];
    auto& list = access.instr->kind == InstrKind::Store ? use_.outputs : use_.inputs;
    for (const RoutineUse::Touched& known : list) {
      const RoutineAccess& other = use_.accesses[at(known.access)];
      if (other.instr->address.operand != access.instr->address.operand ||
          other.is_window != access.is_window)
        continue;
      if (!access.is_window || (other.offset == access.offset && other.strides == access.strides))
        return;
    }
    if (!access.is_window) return list.push_back({number, parameter_of(access).layout});
    const int item = size_of(body_.operands[at(access.instr->address.operand)].dtype);
    list.push_back({number, LayoutRef::adopt(make_layout(extents(), access.strides, item))});
  }

  RoutineUse& use_;
  const Routine& routine_;
  const Kernel& body_;
  const Forms forms_, parts_;
  std::vector<std::uint64_t> locals_;
  std::vector<std::int32_t> ordering_;  // bases whose elements several points touch
  bool changed_ = false;
};

}  // namespace

void analyse(RoutineUse& use) {
  RoutineUse cut = use;
  cut.routine = cut_loops(use.routine, use.domain->shape(), cut.integers);
  if (cut.routine != use.routine) {
    Analysis(cut).run();
    if (!cut.lanes.empty()) {
      use = std::move(cut);
      return;
    }
  }
  Analysis(use).run();
}

}  // namespace frit
