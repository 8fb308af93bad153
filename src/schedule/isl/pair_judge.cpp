// pair_judge.cpp: do two accesses of a nest meet, in which iterations? Exactly, by isl, within a
// limit of work.
//
// A set is made of all pairs of iterations (x, y) in which both touch one element: bounds,
// conditions and indices of both are constraints on x, y and the symbols. Level by level it is then
// asked whether such pairs exist with x before y, or y before x. What is no sum of indices and
// symbols (a value read from an array, say) becomes an unknown of its own, the same for x and y
// while they are in one iteration of the loops around its definition.
#include "schedule/pair_judge.h"
#include "schedule/isl/space.h"

namespace frit {
namespace {

constexpr std::int64_t many_rounds = 16;  // a loop that is worth a thought

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class IslPairJudge final : public PairJudge {
 public:
  IslPairJudge(Nest& nest, const NestLimits& limits)
      : nest_(nest), limits_(limits), symbols_(nest) {}

  bool decide(std::size_t a, std::size_t b) override {
    const std::size_t before = nest_.dependences.size();
    if (too_hard_ >= limits_.too_hard || is_beyond_limits(a, b) || ++tests_ > limits_.tests)
      return false;
    isl_ctx_reset_operations(context_.get());
    isl_ctx_set_max_operations(context_.get(), limits_.operations);
    try {
      find(a, b);
      return true;
    } catch (const TooHard&) {
      isl_ctx_reset_error(context_.get());
      nest_.dependences.resize(before);
      ++too_hard_;
      return false;
    }
  }

 private:
  // What counts against the limits, of two accesses.
  struct Size {
    std::vector<ValueId> quotients;
    std::size_t loops = 0, steep = 0;  // steep: of the form with most
  };
  bool is_beyond_limits(std::size_t a, std::size_t b) const {
    Size size;
    for (const NestAccess* access : {&nest_.accesses[a], &nest_.accesses[b]}) {
      for (const Affine& index : access->indices) measure(index, size);
      for (const NestGuard& guard : access->guards) measure(guard.branch->args[0], size, 0);
      for (std::int32_t loop : nest_.path_to(access->loop)) {
        ++size.loops;
        if (nest_.loop(loop).is_while()) continue;
        for (int k = 0; k < 2; ++k) measure(nest_.loop(loop).instr->args[k], size, 0);
      }
    }
    return size.quotients.size() > limits_.quotients || size.loops > limits_.loops ||
           size.steep > limits_.steep || symbols_.values().size() > limits_.symbols;
  }
  void measure(ValueId value, Size& size, int depth) const {
    if (nest_.routine.body.values[at(value)] == DType::Int64) measure(nest_.forms[at(value)], size);
    const Instr* instr = nest_.definitions[at(value)];
    if (!instr || instr->kind != InstrKind::Apply || depth > 8) return;
    for (ValueId arg : instr->args)
      if (arg != no_value) measure(arg, size, depth + 1);
  }
  void measure(const Affine& form, Size& size) const {
    constexpr std::int64_t steep_from = 16;
    const std::size_t values = nest_.definitions.size();
    std::size_t steep = 0;
    for (const auto& [value, coefficient] : form.terms) {
      if (coefficient > steep_from || coefficient < -steep_from) ++steep;
      if (at(value) < values) continue;
      if (std::find(size.quotients.begin(), size.quotients.end(), value) == size.quotients.end())
        size.quotients.push_back(value);
      measure(nest_.divisions[at(value) - values].dividend, size);
    }
    size.steep = std::max(size.steep, steep);
  }

  // ---- one pair ---------------------------------------------------------------------------------

  void find(std::size_t a, std::size_t b) {
    const NestAccess &x = nest_.accesses[a], &y = nest_.accesses[b];
    const PairSpace space(nest_, symbols_, context_.get(), nest_.path_to(x.loop),
                          nest_.path_to(y.loop), unknowns_of(x, y));
    const Domains domains(nest_, space);
    isl::Set set = space.universe();
    for (std::size_t k = 0; k < x.indices.size(); ++k)
      set = both(set, equal(space.value(x.indices[k], 0), space.value(y.indices[k], 1)));
    set = domains.loops(std::move(set), 0);
    set = domains.loops(std::move(set), 1);
    set = domains.guards(std::move(set), x, 0);
    set = domains.guards(std::move(set), y, 1);
    const std::int32_t common = common_loops(nest_, a, b);
    const isl::Set usual = a == b && common == 0 ? isl::Set() : usual_sizes(x, y);
    for (std::int32_t level = 0;; ++level) {
      for (std::size_t k = 0; k < space.unknowns().size(); ++k)
        if (loops_around(space.unknowns()[k]) == level)
          set = both(set, equal(space.unknown(0, k), space.unknown(1, k)));
      if (is_empty(set)) return;
      if (level == common) break;
      const auto l = static_cast<std::size_t>(level);
      carried(a, b, level, common, space, both(set, above(space.index(1, l), space.index(0, l))),
              usual, 0);
      if (a != b)
        carried(b, a, level, common, space, both(set, above(space.index(0, l), space.index(1, l))),
                usual, 1);
      set = both(set, equal(space.index(0, l), space.index(1, l)));
    }
    if (a == b || are_exclusive(x, y)) return;
    const bool forwards = x.position < y.position;
    Dependence d = make_dependence(nest_, forwards ? a : b, forwards ? b : a, common, common);
    d.directions.emplace_back(at(common), std::int8_t{0});
    for (std::int32_t k = 0; k < common; ++k) d.least[at(k)] = d.most[at(k)] = 0;
    nest_.dependences.push_back(std::move(d));
  }

  static bool are_exclusive(const NestAccess& x, const NestAccess& y) {
    for (const NestGuard& g : x.guards)
      for (const NestGuard& h : y.guards)
        if (g.branch == h.branch && g.holds != h.holds) return true;
    return false;
  }

  std::int32_t loops_around(ValueId value) const {
    const std::int32_t loop = nest_.definition_loop[at(value)];
    return loop < 0 ? 0 : nest_.loop(loop).depth + 1;
  }

  // `set`: pairs where the loop `level` carries a dependence from the side `from` to the other.
  void carried(std::size_t source, std::size_t sink, std::int32_t level, std::int32_t common,
               const PairSpace& space, isl::Set set, const isl::Set& usual, int from) {
    if (is_empty(set)) return;
    Dependence d = make_dependence(nest_, source, sink, level, common);
    for (std::int32_t k = 0; k < common; ++k) {
      const auto depth = static_cast<std::size_t>(k);
      if (k < level) {
        d.least[depth] = d.most[depth] = 0;
        continue;
      }
      const isl::Aff distance =
          made(isl_aff_sub(space.index(1 - from, depth).take(), space.index(from, depth).take()));
      d.least[depth] = number_of(made(isl_set_min_val(set.get(), distance.get())));
      d.most[depth] = number_of(made(isl_set_max_val(set.get(), distance.get())));
    }
    std::vector<std::int8_t> signs(at(common), 0);
    signs[at(level)] = 1;
    find_directions(space, set, from, at(level) + 1, signs, d);
    if (!d.least[at(level)] || d.least[at(level)] != d.most[at(level)])
      d.gone_if_split = splits(space, set, from, level);
    find_condition(std::move(set), usual, d);
    nest_.dependences.push_back(std::move(d));
  }

  static std::optional<std::int64_t> number_of(const isl::Val& v) {
    if (isl_val_is_int(v.get()) != isl_bool_true ||
        isl_val_n_abs_num_chunks(v.get(), sizeof(std::int32_t)) > 1)
      return std::nullopt;
    return isl_val_get_num_si(v.get());
  }

  void find_directions(const PairSpace& space, const isl::Set& set, int from, std::size_t depth,
                       std::vector<std::int8_t>& signs, Dependence& d) {
    if (depth == signs.size()) {
      d.directions.push_back(signs);
      return;
    }
    const auto source = [&] { return space.index(from, depth); };
    const auto sink = [&] { return space.index(1 - from, depth); };
    const auto follow = [&](std::int8_t sign, isl::Set part) {
      signs[depth] = sign;
      find_directions(space, part, from, depth + 1, signs, d);
    };
    const auto &least = d.least[depth], &most = d.most[depth];
    if (least && most && *least == *most)
      return follow(static_cast<std::int8_t>((*least > 0) - (*least < 0)), set);
    if (!least || *least < 0)
      if (isl::Set part = both(set, above(source(), sink())); !is_empty(part)) follow(-1, part);
    if ((!least || *least <= 0) && (!most || *most >= 0))
      if (isl::Set part = both(set, equal(source(), sink())); !is_empty(part)) follow(0, part);
    if (!most || *most > 0)
      if (isl::Set part = both(set, above(sink(), source())); !is_empty(part)) follow(1, part);
  }

  std::uint32_t splits(const PairSpace& space, const isl::Set& set, int from, std::int32_t level) {
    const auto l = static_cast<std::size_t>(level);
    const std::int32_t loop = space.frame(0).loops[l];
    if (nest_.loop(loop).is_while()) return 0;
    std::uint32_t found = 0;
    const auto candidates = split_candidates(nest_.loops, loop);
    const Domains domains(nest_, space);
    for (std::size_t c = 0; c < candidates.size() && c < 32; ++c) {
      isl::Aff cut;
      if (candidates[c].kind == SplitCandidate::Kind::OuterIndex) {
        cut = space.index(0, static_cast<std::size_t>(nest_.loop(candidates[c].loop).depth));
      } else {
        const bool first = candidates[c].kind == SplitCandidate::Kind::First;
        const auto bounds = domains.bounds(nest_.loop(loop).instr->args[first ? 0 : 1],
                                           first ? Op::Maximum : Op::Minimum);
        if (bounds.size() != 1) continue;
        cut = space.value(bounds[0], 0);
        if (!first) cut = made(isl_aff_add_constant_si(cut.take(), -1));
      }
      // No dependence among the iterations before the cut, and none among those behind it.
      const bool before = is_empty(both(set, above(cut, space.index(1 - from, l))));
      if (before && is_empty(both(set, above(space.index(from, l), cut)))) found |= 1u << c;
    }
    return found;
  }

  // Sizes for which each loop around the two has some rounds: where a dependence exists for all of
  // these, it counts as one that always exists.
  isl::Set usual_sizes(const NestAccess& x, const NestAccess& y) {
    isl::Set all = made(
        isl_set_universe(made(isl_space_params_alloc(
                                  context_.get(), static_cast<unsigned>(symbols_.values().size())))
                             .take()));
    std::vector<std::int32_t> loops = nest_.path_to(x.loop);
    for (std::int32_t loop : nest_.path_to(y.loop)) loops.push_back(loop);
    std::sort(loops.begin(), loops.end());
    loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
    for (std::int32_t loop : loops)
      if (!nest_.loop(loop).is_while()) all = intersection(std::move(all), sizes_with_rounds(loop));
    return all;
  }

  const isl::Set& sizes_with_rounds(std::int32_t loop) {
    rounds_.resize(nest_.loops.size());
    isl::Set& known = rounds_[at(loop)];
    if (known) return known;
    const std::vector<std::int32_t> path = nest_.path_to(loop);
    std::vector<ValueId> unknowns;
    for (std::int32_t k : path) add_unknowns_of_loop(k, unknowns);
    const PairSpace space(nest_, symbols_, context_.get(), path, {}, std::move(unknowns));
    const Domains domains(nest_, space);
    const isl::Set inside = domains.loops(space.universe(), 0);
    for (std::int64_t rounds : {many_rounds, std::int64_t{2}}) {
      isl::Set set = inside;
      for (const Affine& end : domains.bounds(nest_.loop(loop).instr->args[1], Op::Minimum)) {
        isl::Aff last = made(isl_aff_add_constant_si(space.index(0, path.size() - 1).take(),
                                                     static_cast<int>(rounds - 1)));
        set = both(set, above(space.value(end, 0), last));
      }
      known = made(isl_set_params(set.take()));
      if (!is_empty(known)) return known;
    }
    known = made(isl_set_universe(made(isl_set_get_space(known.get())).take()));
    return known;
  }

  void find_condition(isl::Set set, const isl::Set& usual, Dependence& d) {
    if (symbols_.values().empty()) return;
    isl::Set sizes = made(isl_set_params(set.take()));
    if (is_true(isl_set_is_subset(usual.get(), sizes.get()))) return;
    std::optional<Condition> condition = condition_of(nest_, symbols_, std::move(sizes));
    if (!condition) return;
    const auto known = std::find(nest_.conditions.begin(), nest_.conditions.end(), *condition);
    d.condition = static_cast<std::int32_t>(known - nest_.conditions.begin());
    if (known == nest_.conditions.end()) nest_.conditions.push_back(std::move(*condition));
  }

  // ---- unknowns ---------------------------------------------------------------------------------

  std::vector<ValueId> unknowns_of(const NestAccess& x, const NestAccess& y) const {
    std::vector<ValueId> found;
    for (const NestAccess* access : {&x, &y}) {
      for (const Affine& index : access->indices) add_unknowns(index, found);
      for (const NestGuard& guard : access->guards)
        add_unknowns_of_condition(guard.branch->args[0], found, 0);
      for (std::int32_t loop : nest_.path_to(access->loop)) add_unknowns_of_loop(loop, found);
    }
    return found;
  }
  void add_unknowns_of_loop(std::int32_t number, std::vector<ValueId>& found) const {
    const NestLoop& loop = nest_.loop(number);
    if (loop.is_while()) return;
    for (int k = 0; k < 2; ++k)
      add_unknowns_of_bound(nest_.forms[at(loop.instr->args[k])], found, 0);
  }
  void add_unknowns_of_bound(const Affine& form, std::vector<ValueId>& found, int depth) const {
    add_unknowns(form, found);
    if (form.terms.size() != 1 || at(form.terms[0].first) >= nest_.definitions.size()) return;
    const Instr* instr = nest_.definitions[at(form.terms[0].first)];
    if (!instr || instr->kind != InstrKind::Apply || depth > 4) return;
    if (instr->op == Op::Maximum || instr->op == Op::Minimum)
      for (int k = 0; k < 2; ++k)
        add_unknowns_of_bound(nest_.forms[at(instr->args[k])], found, depth + 1);
  }
  void add_unknowns_of_condition(ValueId condition, std::vector<ValueId>& found, int depth) const {
    const Instr* instr = nest_.definitions[at(condition)];
    if (!instr || instr->kind != InstrKind::Apply || depth > 8) return;
    for (int k = 0; k < info(instr->op).inputs; ++k) {
      const DType type = nest_.routine.body.values[at(instr->args[k])];
      if (type == DType::Int64) add_unknowns(nest_.forms[at(instr->args[k])], found);
      if (type == DType::Bool) add_unknowns_of_condition(instr->args[k], found, depth + 1);
    }
  }
  void add_unknowns(const Affine& form, std::vector<ValueId>& found) const {
    const std::size_t values = nest_.definitions.size();
    for (const auto& [value, _] : form.terms) {
      if (at(value) >= values) {
        add_unknowns(nest_.divisions[at(value) - values].dividend, found);
        continue;
      }
      const Instr* definition = nest_.definitions[at(value)];
      const bool is_index = definition && definition->kind == InstrKind::Loop;
      if (is_index || symbols_.number_of(value) >= 0) continue;
      if (std::find(found.begin(), found.end(), value) == found.end()) found.push_back(value);
    }
  }

  Nest& nest_;
  const NestLimits limits_;
  isl::Context context_;  // before what it owns
  const Symbols symbols_;
  std::vector<isl::Set> rounds_;  // by loop: sizes_with_rounds
  int too_hard_ = 0, tests_ = 0;
};

}  // namespace

PairJudge* frit_make_pair_judge(Nest& nest, const NestLimits& limits) {
  return new IslPairJudge(nest, limits);
}

}  // namespace frit
