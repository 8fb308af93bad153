// kernel_record.cpp: a finished kernel -> a node: aliases, bounds, and what its accesses touch.
//
// In order: inputs that share memory with what is written are copied; indices are checked, and
// where that must wait for the run, the kernel gets instructions that keep each index inside and
// report; then the node is recorded, and the reductions. What follows from the kernel's structure,
// sizes and layouts is worked out once and kept.
#include <algorithm>
#include <unordered_map>

#include "front/common.h"
#include "front/kernel_state.h"
#include "schedule/dependence.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

template <class Visit>  // visit(instr, inside a loop or while)
void for_each_access(const Block& block, bool repeated, Visit&& visit) {
  for (const Instr& instr : block) {
    if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) visit(instr, repeated);
    const bool again = repeated || instr.kind == InstrKind::Loop || instr.kind == InstrKind::While;
    for_each_access(instr.body, again, visit);
    for_each_access(instr.other, again, visit);
  }
}

// ---- indices that are checked while the kernel runs ---------------------------------------------

// Rewrites a block: indices that may leave their axis are held inside it; a store through one is
// left out, and the local `bad` set.
class IndexGuard {
 public:
  IndexGuard(Routine& routine, std::vector<std::int64_t>& integers,
             std::span<const KernelParameter> parameters,
             const std::vector<std::vector<InBounds>>& bounds)
      : routine_(routine), integers_(integers), parameters_(parameters), bounds_(bounds) {
    routine_.body.locals.push_back(DType::Bool);
    bad_ = static_cast<std::int32_t>(routine_.body.locals.size() - 1);
  }

  // `flags`: a parameter of the axes' shape, which gets true at points with a bad index.
  void run(std::int32_t flags, std::int32_t access) {
    Block code;
    to_ = &code;
    write_bad(constant_false());
    block(routine_.body.code, code);
    to_ = &code;
    Instr store;
    store.kind = InstrKind::Store;
    store.address.operand = flags;
    for (std::int32_t k = 0; k < routine_.rank; ++k) store.address.terms.push_back({k, k});
    store.args[0] = read_bad();
    store.number = access;
    code.push_back(std::move(store));
    routine_.body.code = std::move(code);
  }

 private:
  void block(const Block& from, Block& to) {
    for (const Instr& instr : from) {
      to_ = &to;
      if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) {
        access(instr);
        continue;
      }
      Instr copy = instr;
      copy.body.clear();
      copy.other.clear();
      block(instr.other, copy.other);
      block(instr.body, copy.body);
      to.push_back(std::move(copy));
    }
  }

  void access(Instr instr) {
    const auto shape = parameters_[at(instr.address.operand)].array.shape();
    ValueId all_inside = no_value;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (bounds_[at(instr.number)][d] != InBounds::Unknown) continue;
      if (shape[d] == 0)
        throw IndexError(text("kernel: an index into axis ", d, " of an array without elements"));
      const ValueId asked = instr.address.terms[d].index;
      const ValueId held =
          apply(Op::Maximum, DType::Int64,
                apply(Op::Minimum, DType::Int64, asked, integer(shape[d] - 1)), integer(0));
      const ValueId inside = apply(Op::Equal, DType::Bool, asked, held);
      instr.address.terms[d].index = held;
      all_inside =
          all_inside == no_value ? inside : apply(Op::LogicalAnd, DType::Bool, all_inside, inside);
    }
    if (all_inside == no_value) return to_->push_back(std::move(instr));
    write_bad(apply(Op::LogicalOr, DType::Bool, read_bad(),
                    apply(Op::LogicalNot, DType::Bool, all_inside)));
    if (instr.kind == InstrKind::Load) return to_->push_back(std::move(instr));
    Instr guard;
    guard.kind = InstrKind::If;
    guard.args[0] = all_inside;
    guard.body.push_back(std::move(instr));
    to_->push_back(std::move(guard));
  }

  ValueId add(Instr instr, DType dtype) {
    instr.result = static_cast<ValueId>(routine_.body.values.size());
    routine_.body.values.push_back(dtype);
    to_->push_back(std::move(instr));
    return to_->back().result;
  }
  ValueId apply(Op op, DType dtype, ValueId a, ValueId b = no_value) {
    Instr instr;
    instr.kind = InstrKind::Apply;
    instr.op = op;
    instr.args[0] = a;
    instr.args[1] = b;
    return add(std::move(instr), dtype);
  }
  ValueId integer(std::int64_t value) {
    Instr instr;
    instr.kind = InstrKind::IntegerArg;
    instr.number = routine_.body.integers++;
    integers_.push_back(value);
    return add(std::move(instr), DType::Int64);
  }
  ValueId constant_false() {
    Instr instr;
    instr.kind = InstrKind::Constant;
    instr.constant = Scalar::of(DType::Bool, std::uint8_t{0});
    return add(std::move(instr), DType::Bool);
  }
  ValueId read_bad() {
    Instr instr;
    instr.kind = InstrKind::ReadLocal;
    instr.number = bad_;
    return add(std::move(instr), DType::Bool);
  }
  void write_bad(ValueId value) {
    Instr instr;
    instr.kind = InstrKind::WriteLocal;
    instr.number = bad_;
    instr.args[0] = value;
    to_->push_back(std::move(instr));
  }

  Routine& routine_;
  std::vector<std::int64_t>& integers_;
  std::span<const KernelParameter> parameters_;
  const std::vector<std::vector<InBounds>>& bounds_;
  std::int32_t bad_ = -1;
  Block* to_ = nullptr;
};

// ---- what is known of kernels that were recorded before -----------------------------------------

constexpr std::size_t most_uses = 4096;

struct HashOfWords {
  std::size_t operator()(const std::vector<std::uint64_t>& words) const {
    std::uint64_t hash = words.size();
    for (std::uint64_t word : words) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 29;
    }
    return hash;
  }
};
using Uses =
    std::unordered_map<std::vector<std::uint64_t>, std::shared_ptr<const RoutineUse>, HashOfWords>;

// Under the engine's lock. Never destroyed: kernels may be recorded while the process ends.
Uses& uses() {
  static Uses& known = *new Uses;
  return known;
}

std::shared_ptr<const RoutineUse> known_use(const std::vector<std::uint64_t>& key) {
  const auto found = uses().find(key);
  return found == uses().end() ? nullptr : found->second;
}

std::shared_ptr<const RoutineUse> add_use(std::vector<std::uint64_t> key,
                                          std::shared_ptr<RoutineUse> use) {
  static std::uint64_t next_id = 1;
  use->id = next_id++;
  if (uses().size() >= most_uses) uses().clear();  // later equals get a new id, and a new plan
  return uses().emplace(std::move(key), std::move(use)).first->second;
}

}  // namespace

class KernelRecorder {
 public:
  explicit KernelRecorder(KernelState& state) : state_(state), routine_(state.routine) {}

  void run() {
    routine_.body.code = std::move(state_.open_.front().block);
    std::int64_t points = 1;
    for (std::int64_t extent : state_.extents) points *= extent;
    const bool stores =
        std::any_of(state_.parameters.begin(), state_.parameters.end(),
                    [](const KernelParameter& p) { return p.use != ParameterUse::Input; });
    if (points > 0 && stores) {
      copy_aliased_inputs();
      std::shared_ptr<const RoutineUse> use = find_use();
      flags_ ? run_checked(std::move(use)) : record_node(std::move(use));
    }
    for (KernelReduction& r : state_.reductions)
      r.result = frit::reduce(r.op, state_.parameters[at(r.parameter)].array,
                              {.axes = r.axes, .all_axes = r.all_axes});
  }

 private:
  Array& array(std::size_t parameter) { return state_.parameters[parameter].array; }

  // ---- aliases: an input is read as it was before the kernel ------------------------------------

  void copy_aliased_inputs() {
    for (std::size_t in = 0; in < state_.parameters.size(); ++in) {
      if (state_.parameters[in].use != ParameterUse::Input) {
        refuse_hidden_overlap(in);
        continue;
      }
      const bool clashes = [&] {
        for (std::size_t out = 0; out < state_.parameters.size(); ++out)
          if (state_.parameters[out].use != ParameterUse::Input &&
              may_share_memory(array(in), array(out)) && !read_before_written(in, out))
            return true;
        return false;
      }();
      if (clashes) array(in) = copy(array(in));
    }
  }

  // Two wraps of one foreign buffer have no base in common by which their order could be kept.
  void refuse_hidden_overlap(std::size_t written) {
    for (std::size_t other = 0; other < state_.parameters.size(); ++other)
      if (state_.parameters[other].use != ParameterUse::Input &&
          !array(other).same_base(array(written)) && may_share_memory(array(other), array(written)))
        throw ValueError(
            "kernel: two written arrays share foreign memory: wrap it once, and use windows of "
            "that array");
  }

  // Both are one window, touched only at the point itself, and every read stands before the first
  // write.
  bool read_before_written(std::size_t in, std::size_t out) {
    const Array &a = array(in), &b = array(out);
    if (!a.same_base(b) || a.layout() != b.layout() || a.offset() != b.offset() ||
        a.dtype() != b.dtype())
      return false;
    bool holds = a.ndim() == routine_.rank, written = false;
    for_each_access(routine_.body.code, false, [&](const Instr& instr, bool repeated) {
      const std::size_t parameter = at(instr.address.operand);
      if (parameter != in && parameter != out) return;
      for (const Term& term : instr.address.terms) holds &= term.index == term.stride;
      if (parameter == in) holds &= !written && !repeated;
      if (parameter == out) written = true;
    });
    return holds;
  }

  // ---- bounds -----------------------------------------------------------------------------------

  std::vector<std::vector<InBounds>> find_bounds() {
    std::vector<std::span<const std::int64_t>> shapes;
    for (const KernelParameter& p : state_.parameters) shapes.push_back(p.array.shape());
    auto bounds = check_bounds({.routine = routine_,
                                .extents = state_.extents,
                                .integers = state_.integers,
                                .shapes = shapes,
                                .contents = [&](std::int32_t parameter) {
                                  read_contents_ = true;
                                  return contents(array(at(parameter)));
                                }});
    bounds.resize(at(state_.accesses));
    return bounds;
  }

  static std::optional<Range> contents(const Array& a) {
    if (a.size() == 0) return std::nullopt;
    const auto as_int64 = [](const Array& x) {
      return item(astype(x, DType::Int64)).as<std::int64_t>();
    };
    const Array low = frit::reduce(Op::Minimum, a), high = frit::reduce(Op::Maximum, a);
    const Range range{as_int64(low), as_int64(high)};
    if (range.low > range.high) return std::nullopt;  // uint64 beyond int64
    return range;
  }

  // An index that must be checked while the kernel runs: it gets a parameter of flags.
  void guard_indices(const std::vector<std::vector<InBounds>>& bounds) {
    const bool any =
        std::any_of(bounds.begin(), bounds.end(), [](const std::vector<InBounds>& axes) {
          return std::find(axes.begin(), axes.end(), InBounds::Unknown) != axes.end();
        });
    if (!any) return;
    const std::size_t before = state_.parameters.size();
    flags_ = empty(state_.extents, DType::Bool);
    const std::vector<KernelParameter> checked = state_.parameters;
    state_.parameters.push_back({flags_, ParameterUse::Output});
    routine_.body.operands.push_back({.dtype = DType::Bool, .written = true});
    routine_.parameter_ranks.push_back(routine_.rank);
    IndexGuard(routine_, state_.integers, checked, bounds)
        .run(static_cast<std::int32_t>(before), state_.accesses++);
  }

  // Runs the kernel now; where an index was bad, all is put back as it was.
  void run_checked(std::shared_ptr<const RoutineUse> use) {
    std::vector<std::pair<Array, Array>> kept;
    for (std::size_t k = 0; k < state_.parameters.size(); ++k)
      if (state_.parameters[k].use != ParameterUse::Input && !is_fresh(k))
        kept.emplace_back(array(k), copy(array(k)));
    record_node(std::move(use));
    if (!item(frit::reduce(Op::LogicalOr, flags_)).as<std::uint8_t>()) return;
    for (const auto& [array, before] : kept) assign(array, before);
    throw IndexError("an index computed in a kernel is out of bounds; nothing was written");
  }

  // Flags, or the values of a reduction: what they held before means nothing.
  bool is_fresh(std::size_t parameter) {
    return array(parameter).same_base(flags_) ||
           std::any_of(state_.reductions.begin(), state_.reductions.end(),
                       [&](const KernelReduction& r) { return at(r.parameter) == parameter; });
  }

  // ---- the node ---------------------------------------------------------------------------------

  // What follows from structure, sizes and layouts; from `contents` of index arrays too, unless
  // bounds hold without.
  std::shared_ptr<const RoutineUse> find_use() {
    std::shared_ptr<const Routine> routine = intern(routine_);
    std::vector<std::uint64_t> key = key_of(*routine);
    if (std::shared_ptr<const RoutineUse> known = known_use(key)) return known;
    const std::vector<std::vector<InBounds>> bounds = find_bounds();
    guard_indices(bounds);
    if (flags_ || read_contents_) {
      if (flags_) routine = intern(routine_);
      key = key_of(*routine);
      for (const std::vector<InBounds>& axes : bounds)
        for (InBounds b : axes) key.push_back(static_cast<std::uint64_t>(b));
      if (std::shared_ptr<const RoutineUse> known = known_use(key)) return known;
    }
    return add_use(std::move(key), make_use(std::move(routine), bounds));
  }

  // The routine's id says how many words of each follow.
  std::vector<std::uint64_t> key_of(const Routine& routine) {
    std::vector<std::uint64_t> key;
    key.reserve(1 + state_.extents.size() + state_.integers.size() + 3 * state_.parameters.size());
    key.push_back(routine.id);
    key.insert(key.end(), state_.extents.begin(), state_.extents.end());
    key.insert(key.end(), state_.integers.begin(), state_.integers.end());
    for (std::size_t k = 0; k < state_.parameters.size(); ++k) {
      key.push_back(reinterpret_cast<std::uintptr_t>(array(k).layout()));
      key.push_back(static_cast<std::uint64_t>(array(k).offset()));
      key.push_back(static_cast<std::uint64_t>(base_number(k)));
    }
    return key;
  }
  // Of the first parameter on the same base.
  std::int32_t base_number(std::size_t parameter) {
    std::size_t first = 0;
    while (!array(first).same_base(array(parameter))) ++first;
    return static_cast<std::int32_t>(first);
  }

  std::shared_ptr<RoutineUse> make_use(std::shared_ptr<const Routine> routine,
                                       const std::vector<std::vector<InBounds>>& bounds) {
    auto use = std::make_shared<RoutineUse>();
    use->routine = std::move(routine);
    use->domain = LayoutRef::adopt(make_contiguous(state_.extents, 1));
    use->integers = state_.integers;
    for (std::size_t k = 0; k < state_.parameters.size(); ++k)
      use->parameters.push_back({base_number(k), LayoutRef(array(k).layout()), array(k).offset()});
    analyse(*use);
    for (std::size_t n = 0; n < bounds.size(); ++n)
      use->accesses[n].always_inside = std::all_of(
          bounds[n].begin(), bounds[n].end(), [](InBounds b) { return b == InBounds::Always; });
    return use;
  }

  void record_node(std::shared_ptr<const RoutineUse> use) {
    if (use->outputs.empty()) return;
    auto site = std::make_unique<CallSite>();
    const auto list = [&](const std::vector<RoutineUse::Touched>& touched,
                          std::vector<Access>& accesses) {
      accesses.reserve(touched.size());
      for (const RoutineUse::Touched& t : touched) {
        const RoutineAccess& access = use->accesses[at(t.access)];
        const Array& a = array(at(access.instr->address.operand));
        accesses.push_back(
            {a.base(), t.layout.get(), access.is_window ? access.offset : a.offset(), a.dtype()});
      }
    };
    list(use->inputs, site->inputs);
    list(use->outputs, site->outputs);
    site->scalars = state_.scalars;
    const Layout* domain = use->domain.get();
    site->routine = std::move(use);
    Node& node = Engine::get().open_node();
    node.kind = NodeKind::Routine;
    node.op = Op::Copy;
    node.out.layout = domain;
    node.site = std::move(site);
    Engine::get().commit();
  }

  KernelState& state_;
  Routine& routine_;
  Array flags_;                 // true at points with a bad index; none: all are known to be good
  bool read_contents_ = false;  // the bounds depend on what index arrays hold
};

void KernelState::record() {
  check_open();
  if (open_.size() != 1)
    throw ValueError("record: called inside a loop, if_ or while_ of the kernel");
  Locked lock(Engine::lock());
  stage_ = Stage::Broken;  // until it is recorded
  KernelRecorder(*this).run();
  stage_ = Stage::Recorded;
  for (KernelParameter& p : parameters) p.array = {};
}

}  // namespace frit
