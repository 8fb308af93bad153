// nest_simplify.cpp: promotes locals to values, and elements that stay the same to locals.
#include "schedule/nest_simplify.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "schedule/nest_edit.h"
#include "schedule/nest_induction.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

void add_written_locals(const Block& block, std::vector<bool>& written) {
  for (const Instr& instr : block) {
    if (instr.kind == InstrKind::WriteLocal) written[at(instr.number)] = true;
    add_written_locals(instr.other, written);
    add_written_locals(instr.body, written);
  }
}

// ---- locals -> values ---------------------------------------------------------------------------

// Same structure and same operands: the same value.
bool same_pure(const Instr& a, const Instr& b) {
  return a.kind == b.kind && a.op == b.op && a.math == b.math && a.number == b.number &&
         std::equal(a.args, a.args + 3, b.args) && a.constant == b.constant;
}

// Walks in the order of execution with what each local is known to hold. What a block defines is
// forgotten where the block ends, for it is not visible there. Pure instructions go as far out as
// their operands allow, and stand once; what may raise an error stays under its condition.
class LocalPromotion {
 public:
  explicit LocalPromotion(Routine& routine)
      : routine_(routine),
        same_(routine.body.values.size(), no_value),
        read_of_(routine.body.values.size(), no_local),
        added_to_(routine.body.values.size(), no_local),
        level_(routine.body.values.size(), 0),
        needed_(routine.body.locals.size(), false) {}

  void run() {
    Known known(routine_.body.locals.size(), no_value);
    routine_.body.code = block(std::move(routine_.body.code), known, no_value);
    drop_unread(routine_.body.code);
  }

 private:
  using Known = std::vector<ValueId>;  // by local
  struct Open {
    Block block;
    std::vector<Instr> pure;  // those that stand in it
    bool is_conditional = false;
  };

  struct Loaded {
    Address address;
    ValueId value;
  };

  ValueId resolve(ValueId id) const {
    while (id != no_value && same_[at(id)] != no_value) id = same_[at(id)];
    return id;
  }

  Block block(Block from, Known& known, ValueId index, bool is_conditional = false) {
    open_.emplace_back().is_conditional = is_conditional;
    if (index != no_value) level_[at(index)] = open_.size() - 1;
    for (Instr& instr : from) {
      for (ValueId& arg : instr.args) arg = resolve(arg);
      for (Term& term : instr.address.terms) term.index = resolve(term.index);
      if (is_pure(instr)) {
        pure(std::move(instr));
        continue;
      }
      if (instr.result != no_value) level_[at(instr.result)] = open_.size() - 1;
      if (instr.kind == InstrKind::ReadLocal) {
        ValueId& held = known[at(instr.number)];
        if (held != no_value) {
          same_[at(instr.result)] = held;
          continue;
        }
        held = instr.result;
        read_of_[at(held)] = instr.number;
        needed_[at(instr.number)] = true;
      }
      if (instr.kind == InstrKind::WriteLocal) known[at(instr.number)] = instr.args[0];
      if (instr.kind == InstrKind::Load && is_loaded(instr)) continue;
      if (instr.kind == InstrKind::Store) loaded_.clear();
      nested(instr, known);
      open_.back().block.push_back(std::move(instr));
    }
    Block to = std::move(open_.back().block);
    open_.pop_back();
    drop_overwritten(to);
    return to;
  }

  static bool reads(const Instr& instr, std::int32_t local) {
    if ((instr.kind == InstrKind::ReadLocal || instr.kind == InstrKind::While) &&
        instr.number == local)
      return true;
    const auto in = [&](const Block& block) {
      return std::any_of(block.begin(), block.end(),
                         [&](const Instr& inner) { return reads(inner, local); });
    };
    return in(instr.body) || in(instr.other);
  }

  // A write that is written over in the same block, with no read between the two.
  static void drop_overwritten(Block& block) {
    for (std::size_t k = 0; k < block.size();) {
      bool dead = false;
      if (block[k].kind == InstrKind::WriteLocal)
        for (std::size_t later = k + 1; later < block.size(); ++later) {
          dead =
              block[later].kind == InstrKind::WriteLocal && block[later].number == block[k].number;
          if (dead || reads(block[later], block[k].number)) break;
        }
      if (dead)
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(k));
      else
        ++k;
    }
  }

  void pure(Instr instr) {
    std::size_t level = 0;
    for (ValueId arg : instr.args)
      if (arg != no_value) level = std::max(level, level_[at(arg)]);
    const DType type = routine_.body.values[at(instr.result)];
    const std::size_t outermost = level;
    const bool has_operand = instr.args[0] != no_value;
    if (has_operand && raises_easily(instr, routine_.body.values[at(instr.args[0])], type))
      level = std::max(level, innermost_condition());
    for (std::size_t l = outermost; l <= level; ++l)
      for (const Instr& known : open_[l].pure)
        if (same_pure(known, instr) && routine_.body.values[at(known.result)] == type) {
          same_[at(instr.result)] = known.result;
          return;
        }
    level_[at(instr.result)] = level;
    if (instr.kind == InstrKind::Apply && instr.op == Op::Add)
      for (ValueId arg : {instr.args[0], instr.args[1]})
        for (const auto* local : {&read_of_, &added_to_})
          if ((*local)[at(arg)] != no_local) added_to_[at(instr.result)] = (*local)[at(arg)];
    open_[level].pure.push_back(instr);
    open_[level].block.push_back(std::move(instr));
  }

  std::size_t innermost_condition() const {
    std::size_t level = open_.size() - 1;
    while (level > 0 && !open_[level].is_conditional) --level;
    return level;
  }

  void nested(Instr& instr, Known& known) {
    if (instr.body.empty() && instr.other.empty()) return;
    std::vector<bool> written(known.size());
    add_written_locals(instr.body, written);
    add_written_locals(instr.other, written);
    const auto forget = [&](Known& k) {
      for (std::size_t n = 0; n < k.size(); ++n)
        if (written[n]) k[n] = no_value;
    };
    // A branch begins with what is known before it; a loop's later iterations do not.
    if (instr.kind != InstrKind::If) forget(known);
    Known in_other = known, in_body = known;
    forget_sums(instr.other, in_other);
    forget_sums(instr.body, in_body);
    const bool is_loop = instr.kind == InstrKind::Loop;
    const bool stores = has_store(instr.body) || has_store(instr.other);
    if (instr.kind != InstrKind::If && stores) loaded_.clear();
    const std::vector<Loaded> loaded = loaded_;
    instr.other = block(std::move(instr.other), in_other, no_value, !is_loop);
    loaded_ = loaded;
    instr.body = block(std::move(instr.body), in_body, is_loop ? instr.result : no_value, !is_loop);
    loaded_ = stores ? std::vector<Loaded>{} : loaded;
    forget(known);
    if (instr.kind == InstrKind::While) needed_[at(instr.number)] = true;
  }

  // Has the element been loaded before, with no store since? (Arrays may share memory.)
  bool is_loaded(const Instr& load) {
    for (const Loaded& l : loaded_)
      if (l.address == load.address) {
        same_[at(load.result)] = l.value;
        return true;
      }
    loaded_.push_back({load.address, load.result});
    return false;
  }
  static bool has_store(const Block& block) {
    return std::ranges::any_of(block, [](const Instr& instr) {
      return instr.kind == InstrKind::Store || has_store(instr.body) || has_store(instr.other);
    });
  }

  // A branch that adds to a local reads it, or nobody would see that it holds a sum.
  void forget_sums(const Block& branch, Known& known) const {
    for (const Instr& instr : branch)
      if (instr.kind == InstrKind::WriteLocal) {
        ValueId& held = known[at(instr.number)];
        if (held != no_value && added_to_[at(held)] == instr.number) held = no_value;
      }
  }

  void drop_unread(Block& block) {
    std::erase_if(block, [&](const Instr& instr) {
      return instr.kind == InstrKind::WriteLocal && !needed_[at(instr.number)];
    });
    for (Instr& instr : block) {
      drop_unread(instr.body);
      drop_unread(instr.other);
    }
  }

  Routine& routine_;
  std::vector<Open> open_;
  std::vector<Loaded> loaded_;  // what elements hold, if nothing is stored
  static constexpr std::int32_t no_local = -1;
  std::vector<ValueId> same_;           // what a value was found to be
  std::vector<std::int32_t> read_of_;   // the local that a value was read from
  std::vector<std::int32_t> added_to_;  // the local of which a value is the sum with others
  std::vector<std::size_t> level_;      // the block that defines a value: its place in open_
  std::vector<bool> needed_;            // locals that are still read
};

// ---- stores of both branches -> one -------------------------------------------------------------

//   if (c) { ..; a[e] = x } else { ..; a[e] = y }   is   if (c) { ..; t = x } else { ..; t = y }
//                                                        a[e] = t
// In lanes a store that all of them do is worth many that a mask guards.
class StoreJoining {
 public:
  explicit StoreJoining(Routine& routine) : routine_(routine) {}
  void run() {
    edit_block(routine_.body.code, [&](Instr& instr, Block&, Block& behind) {
      if (instr.kind != InstrKind::If) return;
      for (std::size_t k = 0; are_alike(instr.body, instr.other, k); ++k) join(instr, k, behind);
    });
  }

 private:
  // Equal indices are one value, which only the blocks around both branches can have computed.
  static bool are_alike(const Block& body, const Block& other, std::size_t from_the_end) {
    if (from_the_end >= std::min(body.size(), other.size())) return false;
    const Instr& x = body.rbegin()[static_cast<std::ptrdiff_t>(from_the_end)];
    const Instr& y = other.rbegin()[static_cast<std::ptrdiff_t>(from_the_end)];
    return x.kind == InstrKind::Store && y.kind == InstrKind::Store && x.address == y.address &&
           !loads(body, x.address) && !loads(other, x.address);
  }
  // An element that is added to is better left what it is: an update (NestUpdate).
  static bool loads(const Block& block, const Address& address) {
    return std::any_of(block.begin(), block.end(), [&](const Instr& instr) {
      return (instr.kind == InstrKind::Load && instr.address == address) ||
             loads(instr.body, address) || loads(instr.other, address);
    });
  }

  void join(Instr& branch, std::size_t from_the_end, Block& behind) {
    Instr store = branch.body.rbegin()[static_cast<std::ptrdiff_t>(from_the_end)];
    const DType type = routine_.body.operands[at(store.address.operand)].dtype;
    const auto local = static_cast<std::int32_t>(routine_.body.locals.size());
    routine_.body.locals.push_back(type);
    Instr read = read_of(routine_, local);
    store.args[0] = read.result;
    for (Block* side : {&branch.body, &branch.other}) {
      Instr& write = side->rbegin()[static_cast<std::ptrdiff_t>(from_the_end)];
      write.kind = InstrKind::WriteLocal;
      write.number = local;
      write.address = {};
    }
    behind.insert(behind.begin(), {std::move(read), std::move(store)});
  }

  Routine& routine_;
};

// ---- elements -> locals -------------------------------------------------------------------------

// What is certain of differences of indices, from the bounds of the loops.
class IndexGaps {
 public:
  explicit IndexGaps(const Kernel& body) : known_(body.values.size()) { add(body.code); }

  bool differ(ValueId x, ValueId y) const {
    return least(x, y, 0).value_or(0) > 0 || least(y, x, 0).value_or(0) > 0;
  }

 private:
  struct Known {
    enum class Kind : std::uint8_t { Other, Literal, Index, Moved } kind{};
    ValueId begin = no_value, end = no_value;  // Index: of a loop; Moved: begin + literal
    std::int64_t literal = 0;
  };
  using Bound = std::optional<std::int64_t>;

  void add(const Block& block) {
    for (const Instr& instr : block) {
      if (instr.result != no_value) known_[at(instr.result)] = known(instr);
      add(instr.other);
      add(instr.body);
    }
  }

  Known known(const Instr& instr) const {
    if (instr.kind == InstrKind::Loop)
      return {.kind = Known::Kind::Index, .begin = instr.args[0], .end = instr.args[1]};
    if (instr.kind == InstrKind::Constant && instr.constant.dtype == DType::Int64)
      return {.kind = Known::Kind::Literal, .literal = instr.constant.as<std::int64_t>()};
    if (instr.kind == InstrKind::Apply && (instr.op == Op::Add || instr.op == Op::Subtract)) {
      const Known& x = known_[at(instr.args[0])];
      const Known& y = known_[at(instr.args[1])];
      constexpr std::int64_t small = std::int64_t{1} << 32;
      const auto moved = [](ValueId by, std::int64_t literal) {
        return Known{.kind = Known::Kind::Moved, .begin = by, .literal = literal};
      };
      if (y.kind == Known::Kind::Literal && std::abs(y.literal) < small)
        return moved(instr.args[0], instr.op == Op::Add ? y.literal : -y.literal);
      if (x.kind == Known::Kind::Literal && std::abs(x.literal) < small && instr.op == Op::Add)
        return moved(instr.args[1], x.literal);
    }
    return {};
  }

  // What y - x is at least.
  Bound least(ValueId x, ValueId y, int depth) const {
    constexpr int deepest = 6;
    if (x == y) return 0;
    if (depth == deepest) return std::nullopt;
    const Known &a = known_[at(x)], &b = known_[at(y)];
    Bound best;
    const auto take = [&](Bound bound, std::int64_t more) {
      if (bound && (!best || *bound + more > *best)) best = *bound + more;
    };
    using Kind = Known::Kind;
    if (a.kind == Kind::Literal && b.kind == Kind::Literal) return b.literal - a.literal;
    if (a.kind == Kind::Moved) take(least(a.begin, y, depth + 1), -a.literal);
    if (b.kind == Kind::Moved) take(least(x, b.begin, depth + 1), b.literal);
    if (a.kind == Kind::Index) take(least(a.end, y, depth + 1), 1);
    if (b.kind == Kind::Index) take(least(x, b.begin, depth + 1), 0);
    return best;
  }

  std::vector<Known> known_;  // by value
};

// For a loop that writes one element of an array, the same in all iterations, and touches no other
// element by an index that may be the same:
//   if (it comes to a store) local = a[e];
//   the loop, with the local instead;
//   if (it came to a store) a[e] = local
class ElementPromotion {
 public:
  ElementPromotion(SimplifiedNest& nest, const NestFacts& facts)
      : nest_(nest),
        routine_(nest.routine),
        facts_(facts),
        gaps_(nest.routine.body),
        next_access_(accesses_in(routine_)) {}

  void run() { block(routine_.body.code); }

 private:
  using Loops = std::vector<const Instr*>;  // those around it, the outermost first
  struct Uses {
    std::vector<const Instr*> accesses;
    std::vector<Loops> around;  // by access
    // A store that each iteration comes to, if these loops in it run at all: they are the fewest.
    const Instr* certain = nullptr;
    Loops loops;
  };
  struct Place {
    bool certain = true;
    Loops loops;
  };
  struct Kept {
    Address element;
    std::int32_t local;
    std::int32_t load = -1, store = -1;               // accesses that it stands for
    std::vector<std::pair<ValueId, ValueId>> ranges;  // of the loops that must run
  };

  void block(Block& instructions) {
    Block to;
    for (Instr& instr : instructions) {
      std::vector<Kept> kept;
      if (instr.kind == InstrKind::Loop) promote(instr, kept);
      block(instr.body);
      block(instr.other);
      if (kept.empty())
        to.push_back(std::move(instr));
      else
        enclose(std::move(instr), kept, to);
    }
    instructions = std::move(to);
  }

  void promote(Instr& loop, std::vector<Kept>& kept) {
    std::vector<Uses> uses(routine_.body.operands.size());
    std::vector<bool> inside(routine_.body.values.size());
    inside[at(loop.result)] = true;
    collect(loop.body, {}, uses, inside);
    for (std::size_t p = 0; p < uses.size(); ++p) {
      if (!uses[p].certain || !is_alone(static_cast<std::int32_t>(p), uses)) continue;
      if (!all_same_or_apart(uses[p], inside) || !all_stand_in_its_loops(uses[p])) continue;
      Kept k{.element = uses[p].certain->address,
             .local = static_cast<std::int32_t>(routine_.body.locals.size()),
             .ranges = {{loop.args[0], loop.args[1]}}};
      for (const Instr* inner : uses[p].loops)
        k.ranges.emplace_back(inner->args[0], inner->args[1]);
      // One condition for all: that of the first.
      if (!kept.empty() && kept[0].ranges != k.ranges) continue;
      routine_.body.locals.push_back(routine_.body.operands[p].dtype);
      for (const Instr* access : uses[p].accesses)
        if (access->kind == InstrKind::Load && k.load < 0 && is_of(*access, k.element))
          k.load = access->number;
      k.store = uses[p].certain->number;
      nest_.locals.push_back({k.local, k.load < 0 ? k.store : k.load, k.store});
      replace(loop.body, k.element, k.local);
      kept.push_back(std::move(k));
    }
  }

  void collect(const Block& instructions, const Place& place, std::vector<Uses>& uses,
               std::vector<bool>& inside) {
    for (const Instr& instr : instructions) {
      if (instr.result != no_value) inside[at(instr.result)] = true;
      if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) {
        Uses& u = uses[at(instr.address.operand)];
        u.accesses.push_back(&instr);
        u.around.push_back(place.loops);
        if (instr.kind == InstrKind::Store && place.certain &&
            (!u.certain || place.loops.size() < u.loops.size())) {
          u.certain = &instr;
          u.loops = place.loops;
        }
      }
      Place inner{.certain = false, .loops = place.loops};
      collect(instr.other, inner, uses, inside);
      if (instr.kind == InstrKind::Loop) {
        inner.certain = place.certain && !inside[at(instr.args[0])] && !inside[at(instr.args[1])];
        inner.loops.push_back(&instr);
      }
      collect(instr.body, inner, uses, inside);
    }
  }

  // No other parameter that the loop touches may be the same memory.
  bool is_alone(std::int32_t parameter, const std::vector<Uses>& uses) const {
    for (const auto& [a, b] : facts_.mixed)
      if (a == parameter || b == parameter) return false;
    const auto array_of = [&](std::int32_t p) {
      return at(p) < facts_.same.size() && facts_.same[at(p)].array >= 0 ? facts_.same[at(p)].array
                                                                         : p;
    };
    for (std::size_t other = 0; other < uses.size(); ++other) {
      const auto p = static_cast<std::int32_t>(other);
      if (p != parameter && !uses[other].accesses.empty() && array_of(p) == array_of(parameter))
        return false;
    }
    return true;
  }

  static bool is_of(const Instr& access, const Address& element) {
    return access.address.operand == element.operand && access.address.terms == element.terms;
  }

  // Each access is to the element that is stored, or is a load of another one.
  bool all_same_or_apart(const Uses& uses, const std::vector<bool>& inside) const {
    const Address& element = uses.certain->address;
    for (const Term& term : element.terms)
      if (inside[at(term.index)]) return false;
    return std::all_of(uses.accesses.begin(), uses.accesses.end(), [&](const Instr* a) {
      return is_of(*a, element) || (a->kind == InstrKind::Load && is_apart(a->address, element));
    });
  }

  // Where a loop around the store does not run, nothing else may read or write the element.
  static bool all_stand_in_its_loops(const Uses& uses) {
    const Loops& outer = uses.loops;
    for (std::size_t k = 0; k < uses.accesses.size(); ++k) {
      const Loops& own = uses.around[k];
      if (is_of(*uses.accesses[k], uses.certain->address) &&
          std::mismatch(outer.begin(), outer.end(), own.begin(), own.end()).first != outer.end())
        return false;
    }
    return true;
  }

  bool is_apart(const Address& x, const Address& y) const {
    for (std::size_t axis = 0; axis < x.terms.size(); ++axis)
      if (gaps_.differ(x.terms[axis].index, y.terms[axis].index)) return true;
    return false;
  }

  void replace(Block& instructions, const Address& element, std::int32_t local) {
    for (Instr& instr : instructions) {
      if ((instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) &&
          is_of(instr, element)) {
        instr.kind = instr.kind == InstrKind::Load ? InstrKind::ReadLocal : InstrKind::WriteLocal;
        instr.number = local;
        instr.address = {};
      }
      replace(instr.body, element, local);
      replace(instr.other, element, local);
    }
  }

  void enclose(Instr loop, const std::vector<Kept>& kept, Block& to) {
    ValueId condition = no_value;
    for (const auto& [begin, end] : kept[0].ranges) {
      const ValueId runs = add_apply(routine_, Op::Less, DType::Bool, begin, end, to);
      condition = condition == no_value
                      ? runs
                      : add_apply(routine_, Op::LogicalAnd, DType::Bool, condition, runs, to);
    }
    Instr before, behind;
    before.kind = behind.kind = InstrKind::If;
    before.args[0] = behind.args[0] = condition;
    for (const Kept& k : kept) {
      // Otherwise the local would seem to hold something of an earlier iteration of a loop around.
      const ValueId zero = add_zero(routine_, routine_.body.locals[at(k.local)], to);
      to.push_back(write_of(k.local, zero));
      Instr load;
      load.kind = InstrKind::Load;
      load.address = k.element;
      load.number = add_access(k);
      load.result = new_value(routine_, routine_.body.locals[at(k.local)]);
      Instr write = write_of(k.local, load.result);
      before.body.push_back(std::move(load));
      before.body.push_back(std::move(write));
      Instr read = read_of(routine_, k.local);
      Instr store;
      store.kind = InstrKind::Store;
      store.address = k.element;
      store.number = add_access(k);
      store.args[0] = read.result;
      behind.body.push_back(std::move(read));
      behind.body.push_back(std::move(store));
    }
    to.push_back(std::move(before));
    to.push_back(std::move(loop));
    to.push_back(std::move(behind));
  }

  std::int32_t add_access(const Kept& k) {
    nest_.accesses.push_back({next_access_, k.load < 0 ? k.store : k.load, k.store});
    return next_access_++;
  }
  static std::int32_t accesses_in(const Routine& routine) {
    std::int32_t count = 0;
    const std::function<void(const Block&)> walk = [&](const Block& block) {
      for (const Instr& instr : block) {
        if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store)
          count = std::max(count, instr.number + 1);
        walk(instr.body);
        walk(instr.other);
      }
    };
    walk(routine.body.code);
    return count;
  }

  SimplifiedNest& nest_;
  Routine& routine_;
  const NestFacts& facts_;
  IndexGaps gaps_;
  std::int32_t next_access_;
};

// The integer arguments that say how much counters are moved.
std::vector<std::int32_t> express_all_inductions(Routine& routine) {
  std::vector<std::int32_t> scales;
  while (express_inductions(routine, scales)) LocalPromotion(routine).run();
  return scales;
}

// Does a loop write an int64?
bool may_count(const Kernel& body, const Block& block, bool is_in_loop) {
  return std::ranges::any_of(block, [&](const Instr& instr) {
    if (instr.kind == InstrKind::WriteLocal && is_in_loop)
      return body.locals[at(instr.number)] == DType::Int64;
    const bool is_inside = is_in_loop || instr.kind == InstrKind::Loop;
    return may_count(body, instr.body, is_inside) || may_count(body, instr.other, is_inside);
  });
}

}  // namespace

std::vector<std::int32_t> scaling_integers(const Routine& routine) {
  if (!may_count(routine.body, routine.body.code, false)) return {};
  Routine copy = routine;
  LocalPromotion(copy).run();
  return express_all_inductions(copy);
}

SimplifiedNest simplify_nest(const Routine& routine, const NestFacts& facts) {
  SimplifiedNest result{.routine = routine, .accesses = {}, .locals = {}};
  LocalPromotion(result.routine).run();
  express_all_inductions(result.routine);
  StoreJoining(result.routine).run();
  ElementPromotion(result, facts).run();
  LocalPromotion(result.routine).run();
  return result;
}

}  // namespace frit
