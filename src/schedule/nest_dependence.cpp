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

// Pairs of accesses to one array that are judged, some 0.3 ms each. Of more nobody asks: where a
// state is read and written at dozens of places (random numbers), nothing is parallel anyway.
constexpr std::int64_t most_judged_pairs = 200;

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
        const bool is_judged = comparable && judge_ && pairs_of(x.array) <= most_judged_pairs;
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

  // Of accesses to an array, one of which is a store.
  std::int64_t pairs_of(std::int32_t array) {
    const auto [found, is_new] = pairs_.try_emplace(array, 0);
    if (is_new) {
      std::int64_t stores = 0, loads = 0;
      for (const NestAccess& access : nest_.accesses)
        if (access.instr && access.array == array) ++(access.is_store() ? stores : loads);
      found->second = stores * loads + stores * (stores + 1) / 2;
    }
    return found->second;
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
  std::map<std::int32_t, std::int64_t> pairs_;  // of the arrays that were asked for
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
