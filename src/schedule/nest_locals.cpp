// nest_locals.cpp: liveness of locals by structure, and the patterns of reductions.
#include "schedule/nest_locals.h"

#include <algorithm>

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

using Locals = std::vector<bool>;

void add(Locals& to, const Locals& more) {
  for (std::size_t k = 0; k < to.size(); ++k)
    if (more[k]) to[k] = true;
}

class LocalAnalysis {
 public:
  explicit LocalAnalysis(const Nest& nest)
      : nest_(nest), body_(nest.routine.body), uses_(body_.values.size(), 0) {
    found_.live_after.assign(nest.loops.size(), Locals(body_.locals.size()));
    found_.roles.assign(nest.loops.size(),
                        std::vector<LocalRole>(body_.locals.size(), LocalRole::Fixed));
  }

  NestLocals run() {
    count_uses(body_.code);
    before(body_.code, none(), Record::Yes);
    find_patterns(body_.code, -1);
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop) judge(loop);
    return std::move(found_);
  }

 private:
  enum class Record : bool { No, Yes };
  Locals none() const { return Locals(body_.locals.size()); }

  std::int32_t loop_of(const Instr& instr) const {
    for (std::size_t k = 0; k < nest_.loops.size(); ++k)
      if (nest_.loops[k].instr == &instr) return static_cast<std::int32_t>(k);
    return -1;
  }

  // The locals that are read before they are written, if those in `live` are read behind the block.
  Locals before(const Block& block, Locals live, Record record) {
    for (std::size_t k = block.size(); k-- > 0;) {
      const Instr& instr = block[k];
      switch (instr.kind) {
        case InstrKind::ReadLocal:
          live[at(instr.number)] = true;
          break;
        case InstrKind::WriteLocal:
          live[at(instr.number)] = false;
          break;
        case InstrKind::If: {
          Locals otherwise = before(instr.other, live, record);
          live = before(instr.body, std::move(live), record);
          add(live, otherwise);
          break;
        }
        case InstrKind::Loop: {
          if (record == Record::Yes) found_.live_after[at(loop_of(instr))] = live;
          add(live, before(instr.body, none(), Record::No));
          if (record == Record::Yes) before(instr.body, live, record);
          break;
        }
        case InstrKind::While: {
          if (record == Record::Yes) found_.live_after[at(loop_of(instr))] = live;
          Locals top = live;
          for (int round = 0; round < 2; ++round) {
            Locals behind = live;
            add(behind, before(instr.body, top, Record::No));
            behind[at(instr.number)] = true;
            add(top, before(instr.other, std::move(behind), Record::No));
          }
          if (record == Record::Yes) {
            before(instr.body, top, record);
            Locals behind = live;
            add(behind, before(instr.body, top, Record::No));
            before(instr.other, std::move(behind), record);
          }
          live = top;
          if (!exposed_condition(instr)) live[at(instr.number)] = false;
          break;
        }
        case InstrKind::Constant:
        case InstrKind::ScalarArg:
        case InstrKind::IntegerArg:
        case InstrKind::Apply:
        case InstrKind::Cast:
        case InstrKind::Load:
        case InstrKind::Store:
          break;
      }
    }
    return live;
  }

  // Is the Bool of a While read before its condition block has written it?
  bool exposed_condition(const Instr& loop) {
    Locals behind = none();
    behind[at(loop.number)] = true;
    return before(loop.other, std::move(behind), Record::No)[at(loop.number)];
  }

  // Locals that every run of the block writes.
  void add_certain_writes(const Block& block, Locals& written) const {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::WriteLocal) written[at(instr.number)] = true;
      if (instr.kind == InstrKind::While) add_certain_writes(instr.other, written);
      if (instr.kind != InstrKind::If) continue;
      Locals a = written, b = written;
      add_certain_writes(instr.body, a);
      add_certain_writes(instr.other, b);
      for (std::size_t k = 0; k < a.size(); ++k) written[k] = a[k] && b[k];
    }
  }

  static void add_writes(const Block& block, Locals& written) {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::WriteLocal) written[at(instr.number)] = true;
      add_writes(instr.body, written);
      add_writes(instr.other, written);
    }
  }

  // ---- patterns ---------------------------------------------------------------------------------

  void count_uses(const Block& block) {
    for (const Instr& instr : block) {
      for (ValueId arg : instr.args)
        if (arg != no_value) ++uses_[at(arg)];
      for (const Term& term : instr.address.terms) ++uses_[at(term.index)];
      count_uses(instr.body);
      count_uses(instr.other);
    }
  }

  void find_patterns(const Block& block, std::int32_t loop) {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::WriteLocal) {
        if (find_update(instr, loop)) continue;
        find_select(instr, loop);
      }
      if (instr.kind == InstrKind::If) find_extreme(instr, loop);
      const bool is_loop = instr.kind == InstrKind::Loop || instr.kind == InstrKind::While;
      const std::int32_t inside = is_loop ? loop_of(instr) : loop;
      find_patterns(instr.other, inside);
      find_patterns(instr.body, inside);
    }
  }

  static bool is_reduction(Op op) {
    return op == Op::Add || op == Op::Subtract || op == Op::Multiply || op == Op::Maximum ||
           op == Op::Minimum || op == Op::Fmax || op == Op::Fmin || op == Op::BitwiseAnd ||
           op == Op::BitwiseOr || op == Op::BitwiseXor || op == Op::LogicalAnd ||
           op == Op::LogicalOr || op == Op::LogicalXor;
  }

  bool is_read_of(ValueId value, std::int32_t local, std::int32_t loop) const {
    const Instr* instr = nest_.definitions[at(value)];
    return instr->kind == InstrKind::ReadLocal && instr->number == local &&
           nest_.definition_loop[at(value)] == loop;
  }

  bool find_update(const Instr& write, std::int32_t loop) {
    LocalUpdate update{.local = write.number, .op = {}, .write = &write, .operands = {}};
    ValueId value = write.args[0];
    for (int length = 0; length < 16; ++length) {
      const Instr* instr = nest_.definitions[at(value)];
      if (is_read_of(value, write.number, loop)) {
        if (length == 0) return false;
        update.read = value;
        std::reverse(update.operands.begin(), update.operands.end());
        found_.updates.push_back(std::move(update));
        return true;
      }
      if (instr->kind != InstrKind::Apply || info(instr->op).inputs != 2 ||
          !is_reduction(instr->op) || (length > 0 && instr->op != update.op) ||
          (length > 0 && uses_[at(value)] != 1) ||
          is_in_order(instr->op, body_.values[at(instr->result)]))
        return false;
      if (body_.values[at(instr->args[0])] != body_.values[at(instr->result)]) return false;
      update.op = instr->op;
      const int chain = leads_to_read(instr->args[0], write.number, loop, instr->op) ? 0 : 1;
      if (chain == 1 && !has(instr->op, Commutative)) return false;
      update.operands.push_back(instr->args[1 - chain]);
      value = instr->args[chain];
    }
    return false;
  }

  bool leads_to_read(ValueId value, std::int32_t local, std::int32_t loop, Op op) const {
    for (int length = 0; length < 16; ++length) {
      if (is_read_of(value, local, loop)) return true;
      const Instr* instr = nest_.definitions[at(value)];
      if (instr->kind != InstrKind::Apply || instr->op != op) return false;
      value = instr->args[0];
    }
    return false;
  }

  struct Comparison {
    Op compare{};
    ValueId operand = no_value, read = no_value;
  };
  // v < local, or local > v.
  bool is_comparison(ValueId condition, std::int32_t loop, Comparison& found) const {
    const Instr* instr = nest_.definitions[at(condition)];
    if (instr->kind != InstrKind::Apply) return false;
    Op mirrored;
    if (instr->op == Op::Less)
      mirrored = Op::Greater;
    else if (instr->op == Op::LessEqual)
      mirrored = Op::GreaterEqual;
    else if (instr->op == Op::Greater)
      mirrored = Op::Less;
    else if (instr->op == Op::GreaterEqual)
      mirrored = Op::LessEqual;
    else
      return false;
    for (int k = 0; k < 2; ++k) {
      const Instr* read = nest_.definitions[at(instr->args[1 - k])];
      if (read->kind != InstrKind::ReadLocal || nest_.definition_loop[at(read->result)] != loop)
        continue;
      found = {k == 0 ? instr->op : mirrored, instr->args[k], read->result};
      return true;
    }
    return false;
  }

  void find_extreme(const Instr& branch, std::int32_t loop) {
    Comparison c;
    if (!branch.other.empty() || !is_comparison(branch.args[0], loop, c)) return;
    LocalExtreme made{.local = nest_.definitions[at(c.read)]->number,
                      .compare = c.compare,
                      .branch = &branch,
                      .read = c.read,
                      .operand = c.operand,
                      .companions = {}};
    bool found = false;
    for (const Instr& instr : branch.body) {
      if (instr.kind == InstrKind::WriteLocal && instr.number == made.local) {
        if (instr.args[0] != c.operand || found) return;
        found = true;
      } else if (instr.kind == InstrKind::WriteLocal) {
        made.companions.push_back(instr.number);
      } else if (instr.result == no_value || instr.kind == InstrKind::Loop) {
        return;
      }
    }
    if (found && uses_[at(c.read)] == 1) found_.extremes.push_back(std::move(made));
  }

  // local = v < local ? v : local.
  void find_select(const Instr& write, std::int32_t loop) {
    const Instr* select = nest_.definitions[at(write.args[0])];
    Comparison c;
    if (select->kind != InstrKind::Apply || select->op != Op::Select ||
        !is_comparison(select->args[0], loop, c) ||
        nest_.definitions[at(c.read)]->number != write.number)
      return;
    if (select->args[1] != c.operand || select->args[2] != c.read || uses_[at(c.read)] != 2 ||
        uses_[at(select->result)] != 1)
      return;
    found_.extremes.push_back({.local = write.number,
                               .compare = c.compare,
                               .branch = &write,
                               .read = c.read,
                               .operand = c.operand,
                               .companions = {}});
  }

  // ---- roles ------------------------------------------------------------------------------------

  void judge(std::size_t number) {
    const NestLoop& loop = nest_.loops[number];
    Locals written = none(), certain = none();
    add_writes(loop.instr->body, written);
    add_writes(loop.instr->other, written);
    add_certain_writes(loop.instr->body, certain);
    const Locals exposed = before(loop.instr->body, none(), Record::No);
    std::vector<LocalRole>& roles = found_.roles[number];
    for (std::size_t x = 0; x < written.size(); ++x) {
      if (!written[x]) continue;
      if (loop.is_while())
        roles[x] = LocalRole::Carried;
      else if (!exposed[x])
        roles[x] = !found_.live_after[number][x] ? LocalRole::Private
                   : certain[x]                  ? LocalRole::Last
                                                 : LocalRole::Carried;
      else
        roles[x] = role_of_exposed(*loop.instr, static_cast<std::int32_t>(x));
    }
    for (const LocalExtreme& e : found_.extremes)
      for (std::int32_t x : e.companions)
        if (roles[at(e.local)] == LocalRole::Extreme && is_companion(*loop.instr, e, x))
          roles[at(x)] = LocalRole::Companion;
    // All of them, or none. What a private one is read for behind the branch would depend on how
    // the comparisons went so far.
    for (const LocalExtreme& e : found_.extremes)
      for (std::int32_t x : e.companions) {
        const bool goes_along =
            roles[at(x)] == LocalRole::Companion ||
            (roles[at(x)] == LocalRole::Private && is_read_in_branch_alone(*loop.instr, e, x));
        if (roles[at(e.local)] == LocalRole::Extreme && !goes_along &&
            contains(loop.instr->body, e.branch))
          roles[at(e.local)] = LocalRole::Carried;
      }
  }

  struct Mentions {
    std::vector<ValueId> reads;
    std::vector<const Instr*> writes;
  };
  static void mentions(const Block& block, std::int32_t local, Mentions& found) {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::ReadLocal && instr.number == local)
        found.reads.push_back(instr.result);
      if (instr.kind == InstrKind::WriteLocal && instr.number == local)
        found.writes.push_back(&instr);
      if (instr.kind == InstrKind::While && instr.number == local) found.reads.push_back(no_value);
      mentions(instr.body, local, found);
      mentions(instr.other, local, found);
    }
  }

  static bool contains(const Block& block, const Instr* wanted) {
    return std::any_of(block.begin(), block.end(), [&](const Instr& instr) {
      return &instr == wanted || contains(instr.body, wanted) || contains(instr.other, wanted);
    });
  }

  LocalRole role_of_exposed(const Instr& loop, std::int32_t local) const {
    Mentions all;
    mentions(loop.body, local, all);
    bool all_updates = true, one_op = true;
    std::vector<ValueId> reads = all.reads;
    Op op{};
    for (std::size_t k = 0; k < all.writes.size(); ++k) {
      const auto update =
          std::find_if(found_.updates.begin(), found_.updates.end(),
                       [&](const LocalUpdate& u) { return u.write == all.writes[k]; });
      if (update == found_.updates.end()) {
        all_updates = false;
        break;
      }
      const Op own = update->op == Op::Subtract ? Op::Add : update->op;
      if (k > 0 && own != op) one_op = false;
      op = own;
      if (uses_[at(update->read)] == 1 && uses_[at(update->write->args[0])] == 1)
        std::erase(reads, update->read);
    }
    if (all_updates && one_op) {
      if (reads.empty()) return LocalRole::Reduction;
      return all.writes.size() == 1 && stands_in(loop.body, all.writes[0]) ? LocalRole::Scan
                                                                           : LocalRole::Carried;
    }
    return is_extreme(loop, local, all) ? LocalRole::Extreme : LocalRole::Carried;
  }

  static bool stands_in(const Block& block, const Instr* wanted) {
    return std::any_of(block.begin(), block.end(),
                       [&](const Instr& instr) { return &instr == wanted; });
  }

  bool is_extreme(const Instr& loop, std::int32_t local, const Mentions& all) const {
    const LocalExtreme* only = nullptr;
    for (const LocalExtreme& e : found_.extremes)
      if (e.local == local && contains(loop.body, e.branch)) {
        if (only) return false;
        only = &e;
      }
    return only && all.writes.size() == 1 && all.reads.size() == 1 && all.reads[0] == only->read;
  }

  // Written by this branch alone, and not read in the loop.
  bool is_companion(const Instr& loop, const LocalExtreme& extreme, std::int32_t local) const {
    if (!contains(loop.body, extreme.branch)) return false;
    Mentions all, in_branch;
    mentions(loop.body, local, all);
    mentions(extreme.branch->body, local, in_branch);
    return all.reads.empty() && all.writes.size() == in_branch.writes.size();
  }

  static bool is_read_in_branch_alone(const Instr& loop, const LocalExtreme& extreme,
                                      std::int32_t local) {
    Mentions all, in_branch;
    mentions(loop.body, local, all);
    mentions(extreme.branch->body, local, in_branch);
    return all.reads.size() == in_branch.reads.size();
  }

  const Nest& nest_;
  const Kernel& body_;
  std::vector<std::int32_t> uses_;
  NestLocals found_;
};

}  // namespace

NestLocals find_local_roles(const Nest& nest) { return LocalAnalysis(nest).run(); }

}  // namespace frit
