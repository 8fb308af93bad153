// kernel_record.cpp: a launch of a finished kernel -> a node: aliases, bounds, what it touches.
//
// In order: inputs that share memory with what is written are copied; indices are checked; then the
// node is recorded, and the reductions. What follows from the kernel's structure, sizes and layouts
// is worked out once and kept.
//
// Indices that are no sums of axes are checked by the range of the index arrays that they come from
// (contents.h). Where that does not settle it, an inspection of the indices runs first, and finds
// nothing as a rule. Where they depend on what the kernel itself writes, the kernel runs at once,
// with checks in it (kernel_guard.h), as all do under FRIT_CHECK=bounds.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "front/common.h"
#include "front/contents.h"
#include "front/kernel_definition.h"
#include "front/kernel_guard.h"
#include "ir/hash.h"
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

// ---- what is known of kernels that were recorded before -----------------------------------------

constexpr std::size_t most_uses = 4096;
constexpr std::uint64_t trusted = ~std::uint64_t{0};  // in a key: where others have the setting

struct HashOfWords {
  std::size_t operator()(const std::vector<std::uint64_t>& words) const {
    return hash_words(words);
  }
};
template <class Value>
using ByKey = std::unordered_map<std::vector<std::uint64_t>, Value, HashOfWords>;

// How the launches of one key run, where the index arrays that the bounds were found by hold
// numbers of these ranges.
struct Recipe {
  std::vector<std::int32_t> asked;  // parameters
  std::vector<std::optional<Range>> ranges;
  std::shared_ptr<const RoutineUse> use;
  std::shared_ptr<const RoutineUse> inspection;  // to be run first; may be null
  std::vector<std::uint64_t> passed;             // what the last one that found nothing looked at
  bool guarded = false;                          // `use` checks its indices
};

// Under the engine's lock. Never destroyed: kernels may be recorded while the process ends.
ByKey<Recipe>& recipes() {
  static auto& known = *new ByKey<Recipe>;
  return known;
}
ByKey<std::shared_ptr<const RoutineUse>>& uses() {
  static auto& known = *new ByKey<std::shared_ptr<const RoutineUse>>;
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
        routine_(*definition.routine),
        extents_(launch.extents),
        arrays_(launch.arrays) {}

  std::vector<Array> run() {
    check(arrays_.size() == definition_.uses.size(), "a launch has an array for each parameter");
    std::int64_t points = 1;
    for (std::int64_t extent : extents_) points *= extent;
    for (const KernelReduction& r : definition_.reductions)
      arrays_[at(r.parameter)] = empty(extents_, routine_.body.operands[at(r.parameter)].dtype);
    const std::vector<Operand>& operands = routine_.body.operands;
    const bool stores =
        std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return o.written; });
    if (points > 0 && stores) {
      take_integers();
      check_arrays();
      record_checked();
    }
    std::vector<Array> results;
    for (const KernelReduction& r : definition_.reductions) {
      const Array& values = arrays_[at(r.parameter)];
      std::optional<Scalar> initial = launch_.initial;
      if (points == 0 && !initial && !r.needs_points && !identity_of(r.op, values.dtype()))
        initial = neutral_of(r.op, values.dtype());
      results.push_back(
          frit::reduce(r.op, values, {.axes = r.axes, .all_axes = r.all_axes, .initial = initial}));
    }
    return results;
  }

  Recorded run_points() {
    take_integers();
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      if (is_written(k) && (!array(k).writable() || overlaps_itself(*array(k).layout())))
        return Recorded::No;
    are_trusted_ = true;
    const std::shared_ptr<const RoutineUse>& use = find_recipe().use;
    if (use->in_order) return Recorded::No;
    record_node(use, arrays_);
    return is_new_ ? Recorded::New : Recorded::Again;
  }

 private:
  const Array& array(std::size_t parameter) const { return arrays_[parameter]; }
  bool is_written(std::size_t parameter) const { return routine_.body.operands[parameter].written; }

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

  Bounds find_bounds(Recipe& recipe) {
    std::vector<std::span<const std::int64_t>> shapes;
    for (const Array& a : arrays_) shapes.push_back(a.shape());
    Bounds bounds =
        check_bounds({.routine = routine_,
                      .extents = extents_,
                      .integers = integers_,
                      .shapes = shapes,
                      .contents = [&](std::int32_t parameter) -> std::optional<Range> {
                        if (!may_ask(at(parameter))) return std::nullopt;
                        recipe.asked.push_back(parameter);
                        recipe.ranges.push_back(range_of_elements(array(at(parameter))));
                        return recipe.ranges.back();
                      },
                      .place = [&](const Instr& access) { return place_of(access); }});
    bounds.resize(std::max(bounds.size(), at(definition_.accesses)));
    if (are_trusted_)
      for (auto& axes : bounds)
        std::replace(axes.begin(), axes.end(), InBounds::Unknown, InBounds::WhenReached);
    return bounds;
  }

  // Is what the array holds now what the kernel will read?
  bool may_ask(std::size_t parameter) const {
    if (are_trusted_ || Engine::get().settings.check == Check::Bounds) return false;
    for (std::size_t other = 0; other < arrays_.size(); ++other)
      if (is_written(other) && array(parameter).same_base(array(other))) return false;
    return true;
  }

  std::string name_of(std::size_t parameter) const { return definition_.name_of(parameter); }
  std::string place_of(const Instr& access) const {
    std::string place = name_of(at(access.address.operand));
    const std::size_t number = at(access.number);
    if (number < definition_.lines.size())
      place += text(" (", definition_.file, ", line ", definition_.lines[number], ")");
    return place;
  }

  void record_checked() {
    Recipe& recipe = find_recipe();
    if (recipe.guarded) return run_guarded(recipe.use);
    if (recipe.inspection && !passes(recipe)) {
      Recipe unused;
      return run_guarded(guarded_use(find_bounds(unused)));  // finds it again, and says what it was
    }
    record_node(recipe.use, arrays_);
  }

  bool passes(Recipe& recipe) {
    std::vector<std::uint64_t> looks_at = inputs_of(*recipe.inspection);
    if (!looks_at.empty() && looks_at == recipe.passed) return true;
    std::vector<Array> arrays = arrays_;
    arrays.push_back(empty(extents_, DType::Bool));
    record_node(recipe.inspection, arrays);
    const Array any = frit::reduce(Op::LogicalOr, arrays.back());
    arrays.pop_back();  // so that its values are stored nowhere
    if (item(any).as<std::uint8_t>() != 0) return false;
    recipe.passed = std::move(looks_at);
    return true;
  }

  // The stamps of the memory that it reads, and the scalars; empty where that may change unseen.
  std::vector<std::uint64_t> inputs_of(const RoutineUse& inspection) const {
    std::vector<std::uint64_t> state;
    for (const RoutineUse::Touched& input : inspection.inputs) {
      const Instr& access = *inspection.accesses[at(input.access)].instr;
      state.push_back(Engine::get().stamp(array(at(access.address.operand)).base()));
      if (state.back() == 0) return {};
    }
    for (const Scalar& value : scalars())
      for (std::size_t k = 0; k < sizeof value.bytes; k += sizeof(std::uint64_t))
        std::memcpy(&state.emplace_back(), value.bytes + k, sizeof(std::uint64_t));
    state.push_back(1);
    return state;
  }

  // Runs the kernel now; where an index was bad, all is put back as it was.
  void run_guarded(std::shared_ptr<const RoutineUse> use) {
    std::vector<std::pair<Array, Array>> kept;
    for (std::size_t k = 0; k < definition_.uses.size(); ++k)
      if (is_written(k) && !is_fresh(k)) kept.emplace_back(array(k), copy(array(k)));
    std::vector<Array> arrays = arrays_;
    const Array codes = empty(extents_, DType::Int64), indices = empty(extents_, DType::Int64);
    arrays.push_back(codes);
    arrays.push_back(indices);
    record_node(std::move(use), arrays);
    if (item(frit::reduce(Op::Maximum, codes)).as<std::int64_t>() == 0) return;
    for (const auto& [array, before] : kept) assign(array, before);
    refuse_bad_index(codes, indices);
  }

  [[noreturn]] void refuse_bad_index(const Array& codes, const Array& indices) {
    const auto* code = reinterpret_cast<const std::int64_t*>(read(codes));
    const std::int64_t* first =
        std::find_if(code, code + codes.size(), [](std::int64_t c) { return c != 0; });
    const BadIndex bad = bad_index_of(*first);
    const std::int64_t index = reinterpret_cast<const std::int64_t*>(read(indices))[first - code];
    const Instr* access = nullptr;
    for_each_access(routine_.body.code, false, [&](const Instr& instr, bool) {
      if (instr.number == bad.access) access = &instr;
    });
    check(access != nullptr, "a bad index belongs to an access");
    throw IndexError(text("an index computed in a kernel is out of bounds: index ", index,
                          " for axis ", bad.axis, " with size ",
                          array(at(access->address.operand)).shape()[at(bad.axis)], " of ",
                          place_of(*access), "; nothing was written"));
  }

  // The values of a reduction: what they held before means nothing.
  bool is_fresh(std::size_t parameter) const {
    return std::any_of(definition_.reductions.begin(), definition_.reductions.end(),
                       [&](const KernelReduction& r) { return at(r.parameter) == parameter; });
  }

  // ---- the node ---------------------------------------------------------------------------------

  // Stays valid until the next launch.
  Recipe& find_recipe() {
    std::vector<std::uint64_t> key = key_of(routine_, integers_, arrays_);
    key.push_back(are_trusted_ ? trusted
                               : static_cast<std::uint64_t>(Engine::get().settings.check));
    if (const auto found = recipes().find(key); found != recipes().end()) {
      Recipe& known = found->second;
      bool holds = true;
      for (std::size_t k = 0; k < known.asked.size() && holds; ++k)
        holds = range_of_elements(array(at(known.asked[k]))) == known.ranges[k];
      if (holds) return known;
    }
    is_new_ = true;
    Recipe recipe;
    const Bounds bounds = find_bounds(recipe);
    const bool settled = std::none_of(bounds.begin(), bounds.end(), [](const auto& axes) {
      return std::find(axes.begin(), axes.end(), InBounds::Unknown) != axes.end();
    });
    const std::optional<CheckedRoutine> inspection =
        settled || Engine::get().settings.check == Check::Bounds
            ? std::nullopt
            : inspect_indices({routine_, integers_, arrays_, bounds});
    recipe.guarded = !settled && !inspection;
    recipe.use = recipe.guarded ? guarded_use(bounds)
                                : find_use(definition_.routine, integers_, arrays_, bounds);
    if (inspection) {
      std::vector<Array> arrays = arrays_;
      arrays.push_back(empty(extents_, DType::Bool));
      recipe.inspection =
          find_use(intern(inspection->routine), inspection->integers, arrays, inspection->bounds);
    }
    if (recipes().size() >= most_uses) recipes().clear();
    return recipes().insert_or_assign(std::move(key), std::move(recipe)).first->second;
  }

  std::shared_ptr<const RoutineUse> guarded_use(const Bounds& bounds) {
    const CheckedRoutine guarded = guard_indices({routine_, integers_, arrays_, bounds});
    std::vector<Array> arrays = arrays_;
    for (int k = 0; k < 2; ++k) arrays.push_back(empty(extents_, DType::Int64));
    return find_use(intern(guarded.routine), guarded.integers, arrays, guarded.bounds);
  }

  // What follows from structure, sizes, layouts and bounds.
  std::shared_ptr<const RoutineUse> find_use(std::shared_ptr<const Routine> routine,
                                             std::span<const std::int64_t> integers,
                                             std::span<const Array> arrays,
                                             const Bounds& bounds) const {
    std::vector<std::uint64_t> key = key_of(*routine, integers, arrays);
    for (const auto& axes : bounds)
      for (InBounds b : axes) key.push_back(static_cast<std::uint64_t>(b));
    if (std::shared_ptr<const RoutineUse> known = known_use(key)) return known;
    auto use = std::make_shared<RoutineUse>();
    use->routine = std::move(routine);
    use->domain = LayoutRef::adopt(make_contiguous(extents_, 1));
    use->integers.assign(integers.begin(), integers.end());
    for (const Array& a : arrays)
      use->parameters.push_back({base_number(arrays, a), LayoutRef(a.layout()), a.offset()});
    analyse(*use);
    for (std::size_t n = 0; n < bounds.size(); ++n)
      use->accesses[n].always_inside = std::all_of(
          bounds[n].begin(), bounds[n].end(), [](InBounds b) { return b == InBounds::Always; });
    return add_use(std::move(key), std::move(use));
  }

  // The routine's id says how many words of each follow.
  std::vector<std::uint64_t> key_of(const Routine& routine, std::span<const std::int64_t> integers,
                                    std::span<const Array> arrays) const {
    std::vector<std::uint64_t> key;
    key.reserve(2 + extents_.size() + integers.size() + 3 * arrays.size());
    key.push_back(routine.id);
    key.insert(key.end(), extents_.begin(), extents_.end());
    key.insert(key.end(), integers.begin(), integers.end());
    for (const Array& a : arrays) {
      key.push_back(reinterpret_cast<std::uintptr_t>(a.layout()));
      key.push_back(static_cast<std::uint64_t>(a.offset()));
      key.push_back(static_cast<std::uint64_t>(base_number(arrays, a)));
    }
    return key;
  }
  // Of the first parameter on the same base.
  static std::int32_t base_number(std::span<const Array> arrays, const Array& a) {
    std::size_t first = 0;
    while (!arrays[first].same_base(a)) ++first;
    return static_cast<std::int32_t>(first);
  }

  std::vector<Scalar> scalars() const {
    std::vector<Scalar> values;
    values.reserve(definition_.scalars.size());
    for (std::int32_t number : definition_.scalars)
      values.push_back(number >= 0 ? launch_.scalars[at(number)]
                                   : Scalar::of(DType::Int64, launch_.integers[at(-1 - number)]));
    return values;
  }

  void record_node(std::shared_ptr<const RoutineUse> use, std::span<const Array> arrays) {
    if (use->outputs.empty()) return;
    auto site = std::make_unique<CallSite>();
    const auto list = [&](const std::vector<RoutineUse::Touched>& touched,
                          std::vector<Access>& accesses) {
      accesses.reserve(touched.size());
      for (const RoutineUse::Touched& t : touched) {
        const RoutineAccess& access = use->accesses[at(t.access)];
        const Array& a = arrays[at(access.instr->address.operand)];
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
    if (launch_.warns) node.float_checks = Engine::get().settings.float_checks;
    Engine::get().commit();
  }

  const KernelDefinition& definition_;
  KernelLaunch& launch_;
  const Routine& routine_;
  std::span<const std::int64_t> extents_;
  std::vector<Array>& arrays_;
  std::vector<std::int64_t> integers_;
  bool are_trusted_ = false;  // whoever launches has checked the indices
  bool is_new_ = false;       // no launch was like this one
};

Recorded launch_points(const KernelDefinition& definition, KernelLaunch launch) {
  const Locked lock(Engine::lock());
  return KernelRecorder(definition, launch).run_points();
}

std::vector<Array> launch(const KernelDefinition& definition, KernelLaunch launch) {
  const Locked lock(Engine::lock());
  return as_one_launch([&] {
    std::vector<Array> results = KernelRecorder(definition, launch).run();
    launch.arrays.clear();  // the values of reductions are needed by nobody else
    return results;
  });
}

}  // namespace frit
