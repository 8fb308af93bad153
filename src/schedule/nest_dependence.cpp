// nest_dependence.cpp: which accesses of a nest depend on one another.
#include <algorithm>
#include <map>

#include "ir/error.h"
#include "ir/library.h"
#include "schedule/nest.h"
#include "schedule/pair_judge.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

// isl is opened with the first nest: libfrit must load where it is not installed.
decltype(&frit_make_pair_judge) pair_judges() {
  static const auto make = [] {
    try {
      return find_function<decltype(&frit_make_pair_judge)>(path_beside_libfrit("libfrit_isl.so"),
                                                            "frit_make_pair_judge");
    } catch (const DeviceError&) {
      return decltype(&frit_make_pair_judge)(nullptr);
    }
  }();
  return make;
}

// Pairs of accesses to one array that are judged, some 0.3 ms each, and 15 in deep nests. Of more
// nobody asks. Fewer are judged where the nest itself computes which of the elements in a row it
// reads and writes, at dozens of places: so it is with the state of random numbers, of which
// nothing is parallel anyway.
constexpr std::int64_t most_judged_pairs = 200, most_at_computed_places = 20;

class DependenceFinder {
 public:
  DependenceFinder(Nest& nest, const NestLimits& limits) : nest_(nest) {
    if (const auto make = pair_judges())
      judge_.reset(make(nest, limits));
    else
      nest_.has_pair_judge = false;
  }

  void run() {
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
      for (std::size_t b = a; b < nest_.accesses.size(); ++b) {
        const NestAccess &x = nest_.accesses[a], &y = nest_.accesses[b];
        if (!x.instr || !y.instr || !(x.is_store() || y.is_store())) continue;
        const bool mixed = are_mixed(x.array, y.array);
        if (x.array != y.array && !mixed) continue;
        const bool comparable = !mixed && x.indices.size() == y.indices.size();
        const bool is_judged = comparable && judge_ && is_asked_of(x.array);
        if (!is_judged || !judge_->decide(a, b)) assume(a, b);
      }
  }

 private:
  bool are_mixed(std::int32_t a, std::int32_t b) const {
    return std::any_of(nest_.facts.mixed.begin(), nest_.facts.mixed.end(), [&](const auto& m) {
      const std::int32_t p = nest_.array_of(m.first), q = nest_.array_of(m.second);
      return (p == a && q == b) || (p == b && q == a);
    });
  }

  bool is_asked_of(std::int32_t array) {
    const auto [found, is_new] = asked_.try_emplace(array, false);
    if (is_new) {
      std::int64_t stores = 0, loads = 0;
      bool is_computed = false;
      for (const NestAccess& access : nest_.accesses) {
        if (!access.instr || access.array != array) continue;
        ++(access.is_store() ? stores : loads);
        is_computed |= access.indices.size() == 1 && is_computed_in_nest(access.indices[0]);
      }
      const std::int64_t pairs = stores * loads + stores * (stores + 1) / 2;  // with a store
      found->second = pairs <= (is_computed ? most_at_computed_places : most_judged_pairs);
    }
    return found->second;
  }
  // Whether more than indices of loops and what is known before is in it.
  bool is_computed_in_nest(const Affine& form) const {
    return std::ranges::any_of(form.terms, [&](const auto& term) {
      const std::size_t value = at(term.first), values = nest_.definitions.size();
      if (value >= values) return is_computed_in_nest(nest_.divisions[value - values].dividend);
      const Instr* definition = nest_.definitions[value];
      const bool is_index = definition && definition->kind == InstrKind::Loop;
      return !is_index && nest_.definition_loop[value] >= 0;
    });
  }

  // In both orders at each level.
  void assume(std::size_t a, std::size_t b) {
    const std::int32_t common = common_loops(nest_, a, b);
    for (std::int32_t level = 0; level <= common; ++level)
      for (const auto& [source, sink] : {std::pair{a, b}, std::pair{b, a}}) {
        const bool backwards = nest_.accesses[source].position >= nest_.accesses[sink].position;
        if (level == common && backwards) continue;
        Dependence d = make_dependence(nest_, source, sink, level, common);
        d.assumed = true;
        nest_.dependences.push_back(std::move(d));
        if (a == b) break;
      }
  }

  Nest& nest_;
  std::unique_ptr<PairJudge> judge_;
  std::map<std::int32_t, bool> asked_;  // by array
};

}  // namespace

std::int32_t common_loops(const Nest& nest, std::size_t a, std::size_t b) {
  const auto x = nest.path_to(nest.accesses[a].loop), y = nest.path_to(nest.accesses[b].loop);
  std::size_t n = 0;
  while (n < x.size() && n < y.size() && x[n] == y[n]) ++n;
  return static_cast<std::int32_t>(n);
}

Dependence make_dependence(const Nest& nest, std::size_t source, std::size_t sink,
                           std::int32_t level, std::int32_t common) {
  const bool from_store = nest.accesses[source].is_store();
  const bool to_store = nest.accesses[sink].is_store();
  return {.source = static_cast<std::int32_t>(source),
          .sink = static_cast<std::int32_t>(sink),
          .kind = !from_store ? DependenceKind::Anti
                  : to_store  ? DependenceKind::Output
                              : DependenceKind::Flow,
          .level = level,
          .common = common,
          .directions = {},
          .least = std::vector<std::optional<std::int64_t>>(at(common)),
          .most = std::vector<std::optional<std::int64_t>>(at(common))};
}

void find_nest_dependences(Nest& nest, const NestLimits& limits) {
  DependenceFinder(nest, limits).run();
}

}  // namespace frit
