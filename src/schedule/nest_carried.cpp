// nest_carried.cpp: finds loads of what the same loop has stored a few rounds before.
#include "schedule/nest_carried.h"

#include <algorithm>

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

constexpr std::int64_t most_rounds = 4;  // a register each

class Search {
 public:
  Search(const Nest& nest, std::int32_t loop, bool in_branches)
      : nest_(nest), loop_(loop), index_(nest.loop(loop).index()), in_branches_(in_branches) {}

  std::vector<CarriedElement> run() const {
    std::vector<CarriedElement> found;
    for (std::size_t k = 0; k < nest_.accesses.size(); ++k) {
      const NestAccess& store = nest_.accesses[k];
      if (!is_store(store) || !runs_always(store) || !is_alone(store)) continue;
      CarriedElement element{.store = static_cast<std::int32_t>(k), .loads = loads_of(store)};
      // Where one is missing in between, nobody has loaded what the first round needs of it.
      const auto missing =
          std::ranges::find_if(element.loads, [](const auto& loads) { return loads.empty(); });
      element.loads.erase(missing, element.loads.end());
      if (!element.loads.empty()) found.push_back(std::move(element));
    }
    return found;
  }

 private:
  // A number may have no access: another stands for it (NestOrigin).
  static bool is_store(const NestAccess& access) { return access.instr && access.is_store(); }

  bool runs_always(const NestAccess& access) const {
    const std::int32_t inside = nest_.loop(loop_).depth + 1;
    return access.loop == loop_ && std::ranges::none_of(access.guards, [=](const NestGuard& g) {
             return g.depth >= inside;
           });
  }

  // Nothing else that the loop does writes to the array.
  bool is_alone(const NestAccess& store) const {
    for (const auto& [a, b] : nest_.facts.mixed)
      if (nest_.array_of(a) == store.array || nest_.array_of(b) == store.array) return false;
    return std::ranges::all_of(nest_.accesses, [&](const NestAccess& other) {
      return &other == &store || !is_store(other) || other.array != store.array ||
             !is_in_loop(other);
    });
  }
  bool is_in_loop(const NestAccess& access) const {
    return access.loop >= 0 && std::ranges::count(nest_.path_to(access.loop), loop_) > 0;
  }

  std::vector<std::vector<std::int32_t>> loads_of(const NestAccess& store) const {
    std::vector<std::vector<std::int32_t>> loads(most_rounds);
    for (std::size_t k = 0; k < nest_.accesses.size(); ++k) {
      const NestAccess& load = nest_.accesses[k];
      if (!load.instr || load.is_store() || load.array != store.array) continue;
      if (in_branches_ ? load.loop != loop_ : !runs_always(load)) continue;
      const std::int64_t rounds = rounds_between(store, load);
      if (rounds >= 1 && rounds <= most_rounds)
        loads[static_cast<std::size_t>(rounds - 1)].push_back(static_cast<std::int32_t>(k));
    }
    return loads;
  }

  // How many rounds before the load has its element been stored? 0: nobody knows, or in none.
  std::int64_t rounds_between(const NestAccess& store, const NestAccess& load) const {
    std::int64_t rounds = 0;
    for (std::size_t axis = 0; axis < store.indices.size(); ++axis) {
      const Affine &to = store.indices[axis], &from = load.indices[axis];
      if (to.terms != from.terms) return 0;
      std::int64_t step = 0;
      for (const auto& [id, coefficient] : to.terms) {
        if (id == index_)
          step = coefficient;
        else if (at(id) >= nest_.definitions.size() || nest_.is_inside(id, loop_))
          return 0;
      }
      std::int64_t distance;
      if (__builtin_sub_overflow(to.constant, from.constant, &distance)) return 0;
      if (step == 0) {
        if (distance != 0) return 0;
        continue;
      }
      if (distance % step != 0 || (rounds != 0 && rounds != distance / step)) return 0;
      rounds = distance / step;
      if (rounds == 0) return 0;
    }
    return rounds;
  }

  const Nest& nest_;
  const std::int32_t loop_;
  const ValueId index_;
  const bool in_branches_;
};

}  // namespace

std::vector<CarriedElement> carried_elements(const Nest& nest, std::int32_t loop) {
  if (nest.loop(loop).is_while()) return {};
  return Search(nest, loop, false).run();
}

std::vector<CarriedElement> reloaded_elements(const Nest& nest, std::int32_t loop) {
  if (nest.loop(loop).is_while()) return {};
  return Search(nest, loop, true).run();
}

}  // namespace frit
