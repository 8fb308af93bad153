// routine_lanes.cpp: loops whose iterations are independent, and whether lanes are better there.
//
// A loop's iterations are independent where no two of them touch one element that one of them
// writes, and where each writes the locals that it reads before it reads them, and nobody else
// reads those.
#include "ir/routine_lanes.h"

#include <algorithm>
#include <functional>

#include "ir/routine_apart.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

constexpr double rounds_of_while = 16;
constexpr std::int64_t fewest_lanes = 8;
// Of a routine's cost: what its loops of lanes must be.
constexpr double share_of_lanes = 0.7;

std::optional<std::int64_t> length_of(const Instr& loop, const Forms& forms) {
  const Affine &begin = forms[loop.args[0]], &end = forms[loop.args[1]];
  std::int64_t length;
  if (!begin.terms.empty() || !end.terms.empty() ||
      __builtin_sub_overflow(end.constant, begin.constant, &length))
    return std::nullopt;
  return std::max<std::int64_t>(length, 0);
}

double rounds_of(const Instr& instr, const Forms& forms) {
  if (instr.kind == InstrKind::While) return rounds_of_while;
  if (instr.kind != InstrKind::Loop) return 1;
  const auto length = length_of(instr, forms);
  return length ? static_cast<double>(*length) : rounds_of_while;
}

using Locals = std::vector<bool>;

// What is read of some locals only after it was written, in the same iteration of the loops around.
class PrivateLocals {
 public:
  PrivateLocals(const Kernel& body, const Instr& loop) : body_(body), loop_(loop) {
    own_.assign(body.locals.size(), false);
    for_each_instr(loop.body, [&](const Instr& instr) {
      if (writes(instr)) own_[at(instr.number)] = true;
    });
  }
  const Locals& own() const { return own_; }

  bool hold() {
    Locals inside(body_.locals.size(), false), outside = inside;
    return scan(loop_.body, inside) && scan(body_.code, outside);
  }

 private:
  static bool writes(const Instr& instr) { return instr.kind == InstrKind::WriteLocal; }
  bool is_bad_read(std::int32_t local, const Locals& written) const {
    return own_[at(local)] && !written[at(local)];
  }

  // `written`: those that surely were; afterwards too.
  bool scan(const Block& block, Locals& written) {
    for (const Instr& instr : block) {
      if (&instr == &loop_) {
        forget(written);
        continue;
      }
      if (writes(instr)) written[at(instr.number)] = true;
      if (instr.kind == InstrKind::ReadLocal && is_bad_read(instr.number, written)) return false;
      if (instr.kind == InstrKind::If) {
        Locals yes = written, no = written;
        if (!scan(instr.body, yes) || !scan(instr.other, no)) return false;
        for (std::size_t k = 0; k < written.size(); ++k) written[k] = yes[k] && no[k];
      } else if (instr.kind == InstrKind::Loop || instr.kind == InstrKind::While) {
        if (!scan_rounds(instr, written)) return false;
      }
    }
    return true;
  }
  bool scan_rounds(const Instr& instr, Locals& written) {
    // The next round finds what the loop has left.
    if (contains_loop(instr.body) || contains_loop(instr.other)) forget(written);
    if (!scan(instr.other, written)) return false;
    if (instr.kind == InstrKind::While && is_bad_read(instr.number, written)) return false;
    Locals inside = written;
    if (!scan(instr.body, inside)) return false;
    if (contains_loop(instr.body) || contains_loop(instr.other)) forget(written);
    return true;
  }
  void forget(Locals& written) const {
    for (std::size_t k = 0; k < written.size(); ++k) written[k] = written[k] && !own_[k];
  }
  bool contains_loop(const Block& block) const {
    bool found = false;
    for_each_instr(block, [&](const Instr& instr) { found |= &instr == &loop_; });
    return found;
  }

  const Kernel& body_;
  const Instr& loop_;
  Locals own_;
};

class LaneSearch {
 public:
  LaneSearch(const RoutineUse& use, const Forms& forms, const Forms& parts)
      : use_(use), body_(use.routine->body), forms_(forms), parts_(parts) {}

  std::vector<bool> run() {
    bool has_loops = false;
    for_each_instr(body_.code,
                   [&](const Instr& instr) { has_loops |= instr.kind == InstrKind::Loop; });
    if (!has_loops) return {};
    const Found found = best(body_.code);
    if (found.loops.empty() || found.gain <= 0 ||
        found.cost < share_of_lanes * cost_of(body_.code, forms_))
      return {};
    // Points that run one after another have no lanes; of a few there are not enough.
    if (!use_.in_order && points() >= fewest_lanes && found.gain <= gain_of_points()) return {};
    std::vector<bool> lanes(body_.values.size());
    for (const Instr* loop : found.loops) lanes[at(loop->result)] = true;
    return lanes;
  }

 private:
  struct Found {
    std::vector<const Instr*> loops;
    double cost = 0;  // of them
    // Accesses that take a stretch of memory, or one element, for all lanes, less all others.
    double gain = 0;
  };

  std::int64_t points() const {
    std::int64_t n = 1;
    for (std::int64_t extent : use_.domain->shape()) n *= extent;
    return n;
  }

  // ---- the best choice --------------------------------------------------------------------------

  Found best(const Block& block) const {
    Found all;
    const auto take = [&](const Found& found, double rounds) {
      all.loops.insert(all.loops.end(), found.loops.begin(), found.loops.end());
      all.cost += rounds * found.cost;
      all.gain += rounds * found.gain;
    };
    for (const Instr& instr : block) {
      if (instr.body.empty() && instr.other.empty()) continue;
      Found inner = best(instr.body);
      if (!instr.other.empty()) {
        const Found other = best(instr.other);
        inner.loops.insert(inner.loops.end(), other.loops.begin(), other.loops.end());
        inner.cost += other.cost;
        inner.gain += other.gain;
      }
      const double rounds = rounds_of(instr, forms_);
      if (instr.kind == InstrKind::Loop) {
        const Found own = of_loop(instr);
        if (!own.loops.empty() && (inner.loops.empty() || own.gain > rounds * inner.gain)) {
          take(own, 1);
          continue;
        }
      }
      take(inner, rounds);
    }
    return all;
  }

  Found of_loop(const Instr& loop) const {
    const auto length = length_of(loop, forms_);
    if (loop.tree || !length || *length < fewest_lanes || !is_independent(loop)) return {};
    const double rounds = static_cast<double>(*length);
    return {.loops = {&loop},
            .cost = rounds * cost_of(loop.body, forms_),
            .gain = rounds * gain_in(loop.body, definitions_in(loop), loop.result)};
  }

  double gain_in(const Block& block, const std::vector<bool>& inside, ValueId lane) const {
    double gain = 0;
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) {
        const RoutineAccess& access = use_.accesses[at(instr.number)];
        bool dense = true;
        for (const auto& [value, bytes] : access.terms) {
          if (value == lane)
            dense &= bytes == item_of(instr);
          else if (inside[at(value)])
            dense &= is_loop_index(value);
        }
        gain += dense ? 1 : -1;
      }
      gain += rounds_of(instr, forms_) *
              (gain_in(instr.body, inside, lane) + gain_in(instr.other, inside, lane));
    }
    return gain;
  }

  // As `gain` of loops, for lanes along the last axis.
  double gain_of_points() const {
    ValueId lane = no_value;
    for (std::int32_t k = 0; k < use_.routine->rank; ++k)
      if (use_.domain->shape()[at(k)] > 1) lane = k;
    std::vector<bool> varies(body_.values.size());
    for (std::size_t k = 0; k < varies.size(); ++k)
      varies[k] = lane != no_value && (use_.axes_of[k] >> lane & 1) != 0;
    return gain_in(body_.code, varies, lane);
  }

  std::int64_t item_of(const Instr& access) const {
    return size_of(body_.operands[at(access.address.operand)].dtype);
  }
  bool is_loop_index(ValueId value) const {
    bool found = false;
    for_each_instr(body_.code, [&](const Instr& instr) {
      found |= instr.kind == InstrKind::Loop && instr.result == value;
    });
    return found;
  }

  // ---- independence -----------------------------------------------------------------------------

  static constexpr std::size_t most_pairs = 4096;

  // The values that iterations may differ in.
  std::vector<bool> definitions_in(const Instr& loop) const {
    const Locals written = PrivateLocals(body_, loop).own();
    std::vector<bool> inside(body_.values.size());
    inside[at(loop.result)] = true;
    for_each_instr(loop.body, [&](const Instr& instr) {
      const bool is_same = instr.kind == InstrKind::ReadLocal && !written[at(instr.number)];
      if (instr.result != no_value && !is_same) inside[at(instr.result)] = true;
    });
    return inside;
  }

  // An access, and what the conditions around it say of the loop's index.
  struct Guarded {
    const Instr* instr;
    std::vector<Bounded> bounded;
  };

  bool is_independent(const Instr& loop) const {
    std::vector<Guarded> accesses;
    const std::vector<ValueId> parts = parts_.parts_of(loop.result);
    if (parts.empty()) return false;
    std::vector<Bounded> bounded;
    for (ValueId part : parts) {
      const Range& range = parts_.range_of(part);
      if (range.low >= 0) bounded.push_back({.value = part, .below = {range.high + 1, {}}});
    }
    find_guarded(loop.body, parts, definitions_of(loop), bounded, accesses);
    if (accesses.size() * accesses.size() > most_pairs) return false;
    const std::vector<bool> inside = definitions_in(loop);
    Iterations iterations{.differ = parts, .agree = [&](ValueId value) {
                            return !inside[at(parts_.index_of(value))];
                          }};
    for (const Guarded& store : accesses) {
      if (store.instr->kind != InstrKind::Store) continue;
      for (const Guarded& other : accesses) {
        iterations.bounded.clear();
        for (const Bounded& b : store.bounded)
          if (std::find(other.bounded.begin(), other.bounded.end(), b) != other.bounded.end())
            iterations.bounded.push_back(b);
        if (may_share_element(*store.instr, *other.instr, iterations)) return false;
      }
    }
    return PrivateLocals(body_, loop).hold();
  }

  std::vector<const Instr*> definitions_of(const Instr& loop) const {
    std::vector<const Instr*> definitions(body_.values.size());
    for_each_instr(loop.body, [&](const Instr& instr) {
      if (instr.result != no_value) definitions[at(instr.result)] = &instr;
    });
    return definitions;
  }

  void find_guarded(const Block& block, const std::vector<ValueId>& parts,
                    const std::vector<const Instr*>& definitions, std::vector<Bounded>& bounded,
                    std::vector<Guarded>& found) const {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store)
        found.push_back({&instr, bounded});
      const std::size_t mark = bounded.size();
      if (instr.kind == InstrKind::If)
        if (const auto bound = bound_by(definitions[at(instr.args[0])], parts))
          bounded.push_back(*bound);
      find_guarded(instr.body, parts, definitions, bounded, found);
      bounded.resize(mark);
      find_guarded(instr.other, parts, definitions, bounded, found);
    }
  }

  // `index < sum`, of an index that is not cut and not below 0.
  std::optional<Bounded> bound_by(const Instr* condition, const std::vector<ValueId>& parts) const {
    if (!condition || condition->kind != InstrKind::Apply || parts.size() != 1 ||
        parts_.range_of(parts[0]).low < 0)
      return std::nullopt;
    const bool less = condition->op == Op::Less, greater = condition->op == Op::Greater;
    const auto is_whole = [&](ValueId id) {
      const DType dtype = body_.values[at(id)];
      return dtype == DType::Int64 || dtype == DType::Int32;
    };
    if ((!less && !greater) || !is_whole(condition->args[0]) || !is_whole(condition->args[1]))
      return std::nullopt;
    const Affine &index = parts_[condition->args[less ? 0 : 1]],
                 &below = parts_[condition->args[less ? 1 : 0]];
    if (index != Affine{.constant = 0, .terms = {{parts[0], 1}}}) return std::nullopt;
    return Bounded{.value = parts[0], .below = below};
  }

  bool may_share_element(const Instr& store, const Instr& other,
                         const Iterations& iterations) const {
    const RoutineParameter &x = use_.parameters[at(store.address.operand)],
                           &y = use_.parameters[at(other.address.operand)];
    if (x.base != y.base) return false;
    const bool same_array = store.address.operand == other.address.operand ||
                            (x.offset == y.offset && x.layout.get() == y.layout.get() &&
                             item_of(store) == item_of(other));
    if (same_array) return !touch_apart(store, other, *x.layout, parts_, iterations);
    const ByteRange p = byte_range(*x.layout), q = byte_range(*y.layout);
    return x.offset + p.low < y.offset + q.high && y.offset + q.low < x.offset + p.high;
  }

  const RoutineUse& use_;
  const Kernel& body_;
  const Forms &forms_, &parts_;
};

}  // namespace

double cost_of(const Block& block, const Forms& forms) {
  double cost = 0;
  for (const Instr& instr : block) {
    if (instr.kind == InstrKind::Apply) cost += has(instr.op, Costly) ? 1.5 : 0.08;
    if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) cost += 0.1;
    if (!instr.body.empty() || !instr.other.empty())
      cost += rounds_of(instr, forms) * (cost_of(instr.body, forms) + cost_of(instr.other, forms));
  }
  return cost;
}

std::vector<bool> find_lanes(const RoutineUse& use, const Forms& forms, const Forms& parts) {
  return LaneSearch(use, forms, parts).run();
}

}  // namespace frit
