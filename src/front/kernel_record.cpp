// kernel_record.cpp: a launch of a finished kernel -> a node: aliases, bounds, what it touches.
//
// In order: inputs that share memory with what is written are copied; indices are checked, and
// where that must wait for the run, the kernel gets instructions that keep each index inside and
// report; then the node is recorded, and the reductions. What follows from the kernel's structure,
// sizes and layouts is worked out once and kept.
#include <algorithm>
#include <unordered_map>

#include "front/common.h"
#include "front/kernel_definition.h"
#include "ir/neutral.h"
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

// Where an index was bad: 1 + 2^6 * access + axis (0: nowhere), and the index.
constexpr std::int64_t axes_of_code = 64;
struct BadIndex {
  std::int32_t code = -1, index = -1;  // parameters of the axes' shape
};

// Rewrites a block: indices that may leave their axis are held inside it; a store through one is
// left out, and the first of them noted.
class IndexGuard {
 public:
  IndexGuard(Routine& routine, std::vector<std::int64_t>& integers, std::span<const Array> arrays,
             const std::vector<std::vector<InBounds>>& bounds)
      : routine_(routine), integers_(integers), arrays_(arrays), bounds_(bounds) {
    for (std::int32_t* local : {&code_, &index_}) {
      routine_.body.locals.push_back(DType::Int64);
      *local = static_cast<std::int32_t>(routine_.body.locals.size() - 1);
    }
  }

  // Adds the two parameters, and two accesses from number `access` on.
  BadIndex run(std::int32_t access) {
    BadIndex bad;
    for (std::int32_t* parameter : {&bad.code, &bad.index}) {
      *parameter = static_cast<std::int32_t>(routine_.body.operands.size());
      routine_.body.operands.push_back({.dtype = DType::Int64, .written = true});
      routine_.parameter_ranks.push_back(routine_.rank);
    }
    Block code;
    to_ = &code;
    write(code_, constant(0));
    write(index_, constant(0));
    block(routine_.body.code, code);
    to_ = &code;
    store(bad.code, read(code_), access);
    store(bad.index, read(index_), access + 1);
    routine_.body.code = std::move(code);
    return bad;
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
    const auto shape = arrays_[at(instr.address.operand)].shape();
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
      note(instr.number, static_cast<std::int64_t>(d), asked, inside);
      instr.address.terms[d].index = held;
      all_inside =
          all_inside == no_value ? inside : apply(Op::LogicalAnd, DType::Bool, all_inside, inside);
    }
    if (all_inside == no_value || instr.kind == InstrKind::Load)
      return to_->push_back(std::move(instr));
    Instr guard;
    guard.kind = InstrKind::If;
    guard.args[0] = all_inside;
    guard.body.push_back(std::move(instr));
    to_->push_back(std::move(guard));
  }

  void note(std::int32_t access, std::int64_t axis, ValueId index, ValueId inside) {
    const ValueId first = apply(Op::Equal, DType::Bool, read(code_), constant(0));
    const ValueId outside = apply(Op::LogicalNot, DType::Bool, inside);
    const ValueId now = apply(Op::LogicalAnd, DType::Bool, first, outside);
    write(index_, select(now, index, read(index_)));
    write(code_, select(now, constant(1 + axes_of_code * access + axis), read(code_)));
  }

  ValueId add(Instr instr, DType dtype) {
    instr.result = static_cast<ValueId>(routine_.body.values.size());
    routine_.body.values.push_back(dtype);
    to_->push_back(std::move(instr));
    return to_->back().result;
  }
  ValueId apply(Op op, DType dtype, ValueId a, ValueId b = no_value, ValueId c = no_value) {
    Instr instr;
    instr.kind = InstrKind::Apply;
    instr.op = op;
    instr.args[0] = a;
    instr.args[1] = b;
    instr.args[2] = c;
    return add(std::move(instr), dtype);
  }
  ValueId select(ValueId condition, ValueId x, ValueId y) {
    return apply(Op::Select, DType::Int64, condition, x, y);
  }
  ValueId integer(std::int64_t value) {
    Instr instr;
    instr.kind = InstrKind::IntegerArg;
    instr.number = routine_.body.integers++;
    integers_.push_back(value);
    return add(std::move(instr), DType::Int64);
  }
  ValueId constant(std::int64_t value) {
    Instr instr;
    instr.kind = InstrKind::Constant;
    instr.constant = Scalar::of(DType::Int64, value);
    return add(std::move(instr), DType::Int64);
  }
  ValueId read(std::int32_t local) {
    Instr instr;
    instr.kind = InstrKind::ReadLocal;
    instr.number = local;
    return add(std::move(instr), DType::Int64);
  }
  void write(std::int32_t local, ValueId value) {
    Instr instr;
    instr.kind = InstrKind::WriteLocal;
    instr.number = local;
    instr.args[0] = value;
    to_->push_back(std::move(instr));
  }
  void store(std::int32_t parameter, ValueId value, std::int32_t access) {
    Instr instr;
    instr.kind = InstrKind::Store;
    instr.address.operand = parameter;
    for (std::int32_t k = 0; k < routine_.rank; ++k) instr.address.terms.push_back({k, k});
    instr.args[0] = value;
    instr.number = access;
    to_->push_back(std::move(instr));
  }

  Routine& routine_;
  std::vector<std::int64_t>& integers_;
  std::span<const Array> arrays_;
  const std::vector<std::vector<InBounds>>& bounds_;
  std::int32_t code_ = -1, index_ = -1;
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
  KernelRecorder(const KernelDefinition& definition, KernelLaunch& launch)
      : definition_(definition),
        launch_(launch),
        routine_(definition.routine),
        extents_(launch.extents),
        arrays_(launch.arrays) {}

  std::vector<Array> run() {
    check(arrays_.size() == definition_.uses.size(), "a launch has an array for each parameter");
    std::int64_t points = 1;
    for (std::int64_t extent : extents_) points *= extent;
    for (const KernelReduction& r : definition_.reductions)
      arrays_[at(r.parameter)] = empty(extents_, routine_->body.operands[at(r.parameter)].dtype);
    const std::vector<Operand>& operands = routine_->body.operands;
    const bool stores =
        std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return o.written; });
    if (points > 0 && stores) {
      take_integers();
      check_arrays();
      std::shared_ptr<const RoutineUse> use = find_use();
      codes_ ? run_checked(std::move(use)) : record_node(std::move(use));
    }
    std::vector<Array> results;
    for (const KernelReduction& r : definition_.reductions) {
      const Array& values = arrays_[at(r.parameter)];
      std::optional<Scalar> initial = launch_.initial;
      if (points == 0 && !initial && !r.needs_points) initial = neutral_of(r.op, values.dtype());
      results.push_back(
          frit::reduce(r.op, values, {.axes = r.axes, .all_axes = r.all_axes, .initial = initial}));
    }
    return results;
  }

 private:
  const Array& array(std::size_t parameter) const { return arrays_[parameter]; }
  bool is_written(std::size_t parameter) const {
    return routine_->body.operands[parameter].written;
  }

  void take_integers() {
    integers_.reserve(definition_.integers.size());
    for (const KernelInteger& k : definition_.integers) switch (k.kind) {
        case KernelInteger::Kind::Literal:
          integers_.push_back(k.value);
          break;
        case KernelInteger::Kind::Given:
          integers_.push_back(launch_.integers[at(k.number)]);
          break;
        case KernelInteger::Kind::Extent:
          integers_.push_back(array(at(k.number)).shape()[at(k.axis)]);
          break;
      }
  }

  // ---- aliases ----------------------------------------------------------------------------------

  void check_arrays() {
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      if (is_written(k)) {
        if (definition_.uses[k] == ParameterUse::Shared) check_shared(k);
        refuse_hidden_overlap(k);
      } else if (definition_.uses[k] == ParameterUse::Input && clashes(k)) {
        arrays_[k] = copy(array(k));
      }
    }
  }

  void check_shared(std::size_t parameter) {
    const Array& a = array(parameter);
    if (!a.writable())
      throw ValueError(text("kernel: ", name_of(parameter), " is written, but is read-only"));
    if (overlaps_itself(*a.layout()))
      throw ValueError(text("kernel: ", name_of(parameter),
                            " is written, but its elements overlap one another"));
  }

  // An Input is read as it was before the kernel.
  bool clashes(std::size_t in) const {
    for (std::size_t out = 0; out < arrays_.size(); ++out)
      if (is_written(out) && may_share_memory(array(in), array(out)) &&
          !read_before_written(in, out))
        return true;
    return false;
  }

  // Two wraps of one foreign buffer have no base in common by which their order could be kept.
  void refuse_hidden_overlap(std::size_t written) {
    for (std::size_t other = 0; other < arrays_.size(); ++other)
      if ((is_written(other) || definition_.uses[other] == ParameterUse::Shared) &&
          !array(other).same_base(array(written)) && may_share_memory(array(other), array(written)))
        throw ValueError(
            "kernel: two written arrays share foreign memory: wrap it once, and use windows of "
            "that array");
  }

  // Both are one window, touched only at the point itself, and every read stands before the first
  // write.
  bool read_before_written(std::size_t in, std::size_t out) const {
    const Array &a = array(in), &b = array(out);
    if (!a.same_base(b) || a.layout() != b.layout() || a.offset() != b.offset() ||
        a.dtype() != b.dtype())
      return false;
    bool holds = a.ndim() == routine_->rank, written = false;
    for_each_access(routine_->body.code, false, [&](const Instr& instr, bool repeated) {
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
    for (const Array& a : arrays_) shapes.push_back(a.shape());
    auto bounds = check_bounds({.routine = *routine_,
                                .extents = extents_,
                                .integers = integers_,
                                .shapes = shapes,
                                .contents = [&](std::int32_t p) { return contents(at(p)); },
                                .place = [&](const Instr& access) { return place_of(access); }});
    bounds.resize(at(definition_.accesses));
    return bounds;
  }

  std::optional<Range> contents(std::size_t parameter) {
    const Array& a = array(parameter);
    for (std::size_t other = 0; other < arrays_.size(); ++other)
      if (is_written(other) && a.same_base(array(other))) return std::nullopt;
    read_contents_ = true;
    if (a.size() == 0) return std::nullopt;
    const auto as_int64 = [](const Array& x) {
      return item(astype(x, DType::Int64)).as<std::int64_t>();
    };
    const Array low = frit::reduce(Op::Minimum, a), high = frit::reduce(Op::Maximum, a);
    const Range range{as_int64(low), as_int64(high)};
    if (range.low > range.high) return std::nullopt;  // uint64 beyond int64
    return range;
  }

  std::string name_of(std::size_t parameter) const {
    return parameter < definition_.names.size() ? text("'", definition_.names[parameter], "'")
                                                : text("array ", parameter);
  }
  std::string place_of(const Instr& access) const {
    std::string place = name_of(at(access.address.operand));
    const std::size_t number = at(access.number);
    if (number < definition_.lines.size())
      place += text(" (", definition_.file, ", line ", definition_.lines[number], ")");
    return place;
  }

  // An index that must be checked while the kernel runs: it gets parameters for what is found.
  void guard_indices(const std::vector<std::vector<InBounds>>& bounds) {
    const bool any =
        std::any_of(bounds.begin(), bounds.end(), [](const std::vector<InBounds>& axes) {
          return std::find(axes.begin(), axes.end(), InBounds::Unknown) != axes.end();
        });
    if (!any) return;
    Routine guarded = *routine_;
    bad_ = IndexGuard(guarded, integers_, arrays_, bounds).run(definition_.accesses);
    routine_ = intern(guarded);
    codes_ = empty(extents_, DType::Int64);
    indices_ = empty(extents_, DType::Int64);
    arrays_.push_back(codes_);
    arrays_.push_back(indices_);
  }

  // Runs the kernel now; where an index was bad, all is put back as it was.
  void run_checked(std::shared_ptr<const RoutineUse> use) {
    std::vector<std::pair<Array, Array>> kept;
    for (std::size_t k = 0; k < definition_.uses.size(); ++k)
      if (is_written(k) && !is_fresh(k)) kept.emplace_back(array(k), copy(array(k)));
    record_node(std::move(use));
    if (item(frit::reduce(Op::Maximum, codes_)).as<std::int64_t>() == 0) return;
    for (const auto& [array, before] : kept) assign(array, before);
    refuse_bad_index();
  }

  [[noreturn]] void refuse_bad_index() {
    const auto* codes = reinterpret_cast<const std::int64_t*>(read(codes_));
    const std::int64_t* first =
        std::find_if(codes, codes + codes_.size(), [](std::int64_t code) { return code != 0; });
    const std::int64_t point = first - codes, code = *first - 1;
    const auto* indices = reinterpret_cast<const std::int64_t*>(read(indices_));
    const auto number = static_cast<std::int32_t>(code / axes_of_code);
    const auto axis = static_cast<std::size_t>(code % axes_of_code);
    const Instr* access = nullptr;
    for_each_access(definition_.routine->body.code, false, [&](const Instr& instr, bool) {
      if (instr.number == number) access = &instr;
    });
    check(access != nullptr, "a bad index belongs to an access");
    throw IndexError(text("an index computed in a kernel is out of bounds: index ", indices[point],
                          " for axis ", axis, " with size ",
                          array(at(access->address.operand)).shape()[axis], " of ",
                          place_of(*access), "; nothing was written"));
  }

  // The values of a reduction: what they held before means nothing.
  bool is_fresh(std::size_t parameter) const {
    return std::any_of(definition_.reductions.begin(), definition_.reductions.end(),
                       [&](const KernelReduction& r) { return at(r.parameter) == parameter; });
  }

  // ---- the node ---------------------------------------------------------------------------------

  // What follows from structure, sizes and layouts; from `contents` of index arrays too, unless
  // bounds hold without.
  std::shared_ptr<const RoutineUse> find_use() {
    std::vector<std::uint64_t> key = key_of(*routine_);
    if (std::shared_ptr<const RoutineUse> known = known_use(key)) return known;
    const std::vector<std::vector<InBounds>> bounds = find_bounds();
    guard_indices(bounds);
    if (codes_ || read_contents_) {
      key = key_of(*routine_);
      for (const std::vector<InBounds>& axes : bounds)
        for (InBounds b : axes) key.push_back(static_cast<std::uint64_t>(b));
      if (std::shared_ptr<const RoutineUse> known = known_use(key)) return known;
    }
    return add_use(std::move(key), make_use(bounds));
  }

  // The routine's id says how many words of each follow.
  std::vector<std::uint64_t> key_of(const Routine& routine) const {
    std::vector<std::uint64_t> key;
    key.reserve(1 + extents_.size() + integers_.size() + 3 * arrays_.size());
    key.push_back(routine.id);
    key.insert(key.end(), extents_.begin(), extents_.end());
    key.insert(key.end(), integers_.begin(), integers_.end());
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      key.push_back(reinterpret_cast<std::uintptr_t>(array(k).layout()));
      key.push_back(static_cast<std::uint64_t>(array(k).offset()));
      key.push_back(static_cast<std::uint64_t>(base_number(k)));
    }
    return key;
  }
  // Of the first parameter on the same base.
  std::int32_t base_number(std::size_t parameter) const {
    std::size_t first = 0;
    while (!array(first).same_base(array(parameter))) ++first;
    return static_cast<std::int32_t>(first);
  }

  std::shared_ptr<RoutineUse> make_use(const std::vector<std::vector<InBounds>>& bounds) const {
    auto use = std::make_shared<RoutineUse>();
    use->routine = routine_;
    use->domain = LayoutRef::adopt(make_contiguous(extents_, 1));
    use->integers = integers_;
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      use->parameters.push_back({base_number(k), LayoutRef(array(k).layout()), array(k).offset()});
    analyse(*use);
    for (std::size_t n = 0; n < bounds.size(); ++n)
      use->accesses[n].always_inside = std::all_of(
          bounds[n].begin(), bounds[n].end(), [](InBounds b) { return b == InBounds::Always; });
    return use;
  }

  std::vector<Scalar> scalars() const {
    std::vector<Scalar> values;
    values.reserve(definition_.scalars.size());
    for (std::int32_t number : definition_.scalars)
      values.push_back(number >= 0 ? launch_.scalars[at(number)]
                                   : Scalar::of(DType::Int64, launch_.integers[at(-1 - number)]));
    return values;
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
    site->scalars = scalars();
    const Layout* domain = use->domain.get();
    site->routine = std::move(use);
    Node& node = Engine::get().open_node();
    node.kind = NodeKind::Routine;
    node.op = Op::Copy;
    node.out.layout = domain;
    node.site = std::move(site);
    Engine::get().commit();
  }

  const KernelDefinition& definition_;
  KernelLaunch& launch_;
  std::shared_ptr<const Routine> routine_;
  std::span<const std::int64_t> extents_;
  std::vector<Array>& arrays_;
  std::vector<std::int64_t> integers_;
  BadIndex bad_;
  Array codes_, indices_;       // of bad indices; none: all are known to be good
  bool read_contents_ = false;  // the bounds depend on what index arrays hold
};

std::vector<Array> launch(const KernelDefinition& definition, KernelLaunch launch) {
  const Locked lock(Engine::lock());
  Engine& engine = Engine::get();
  engine.begin_launch();
  std::vector<Array> results;
  try {
    results = KernelRecorder(definition, launch).run();
  } catch (...) {
    engine.end_launch();
    throw;
  }
  launch.arrays.clear();  // the values of reductions are needed by nobody else
  engine.end_launch();
  return results;
}

}  // namespace frit
