// nest_lanes.cpp: what statements touch, what keeps their loop in order, and what lanes cost.
#include <algorithm>
#include <functional>
#include <limits>

#include "ir/error.h"
#include "schedule/nest_cost.h"
#include "schedule/nest_planner.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

// Is it a loop whose sums are a tree, or is there one in it?
bool is_or_has_tree(const Instr& instr) {
  return instr.tree || std::any_of(instr.body.begin(), instr.body.end(), is_or_has_tree) ||
         std::any_of(instr.other.begin(), instr.other.end(), is_or_has_tree);
}

}  // namespace

double Planner::rounds_of(std::int32_t loop) const { return rounds_of_loop(facts_, at(loop)); }

double Planner::cost_of(const Block& block) const {
  double cost = 0;
  for (const Instr& instr : block) cost += cost_of(instr);
  return cost;
}

double Planner::cost_of(const Instr& instr) const {
  switch (instr.kind) {
    case InstrKind::Apply:
      return has(instr.op, Costly) ? nest_cost::in_order.function : nest_cost::in_order.op;
    case InstrKind::Load:
    case InstrKind::Store:
      return nest_cost::in_order.access;
    case InstrKind::Loop:
    case InstrKind::While:
      return rounds_of(loop_of(instr)) * (cost_of(instr.body) + cost_of(instr.other));
    case InstrKind::If:
      return cost_of(instr.body) + cost_of(instr.other);
    case InstrKind::Constant:
    case InstrKind::ScalarArg:
    case InstrKind::IntegerArg:
    case InstrKind::Cast:
    case InstrKind::ReadLocal:
    case InstrKind::WriteLocal:
      break;
  }
  return 0;
}

double Planner::cost_of(std::int32_t loop, const Statements& statements) const {
  double cost = 0;
  for (const Instr* s : statements) cost += cost_of(*s) + nest_cost::in_order.op;
  return cost * rounds_of(loop);
}

std::int32_t Planner::loop_of(const Instr& instr) const {
  for (std::size_t k = 0; k < nest_.loops.size(); ++k)
    if (nest_.loops[k].instr == &instr) return static_cast<std::int32_t>(k);
  check(false, "a loop of the nest is in its list");
  return -1;
}

bool Planner::has_loop(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const Instr& instr) {
    return instr.kind == InstrKind::Loop || instr.kind == InstrKind::While ||
           has_loop(instr.body) || has_loop(instr.other);
  });
}

Members Planner::members_of(std::int32_t loop, const Statements& statements) const {
  Members m;
  m.accesses.assign(nest_.accesses.size(), false);
  m.locals.assign(body_.locals.size(), false);
  m.values.assign(body_.values.size(), false);
  for (const Instr* s : statements) add_members(*s, loop, m);
  return m;
}

void Planner::add_members(const Instr& instr, std::int32_t loop, Members& m) const {
  if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store)
    m.accesses[at(instr.number)] = true;
  if (instr.kind == InstrKind::ReadLocal || instr.kind == InstrKind::WriteLocal ||
      instr.kind == InstrKind::While)
    m.locals[at(instr.number)] = true;
  for (ValueId arg : instr.args)
    if (arg != no_value) add_value(arg, loop, m);
  for (const Term& term : instr.address.terms) add_value(term.index, loop, m);
  for (const Instr& inner : instr.other) add_members(inner, loop, m);
  for (const Instr& inner : instr.body) add_members(inner, loop, m);
}

void Planner::add_value(ValueId value, std::int32_t loop, Members& m) const {
  if (m.values[at(value)] || !nest_.is_inside(value, loop)) return;
  m.values[at(value)] = true;
  const Instr& definition = *nest_.definitions[at(value)];
  if (definition.kind != InstrKind::Loop) add_members(definition, loop, m);
}

bool Planner::is_carried_by(const Dependence& d, std::int32_t loop) const {
  return d.level < d.common && d.level == nest_.loop(loop).depth &&
         is_in(nest_.accesses[at(d.source)].loop, loop) &&
         is_in(nest_.accesses[at(d.sink)].loop, loop);
}

bool Planner::is_in(std::int32_t inner, std::int32_t outer) const {
  for (; inner >= 0; inner = nest_.loop(inner).parent)
    if (inner == outer) return true;
  return false;
}

Status Planner::status_of(std::int32_t loop, const Members& m) const {
  Status s;
  if (nest_.loop(loop).is_while()) {
    s.carried_local = true;
    return s;
  }
  for (std::size_t k = 0; k < nest_.dependences.size(); ++k) {
    const Dependence& d = nest_.dependences[k];
    if (!judged_.active[k] || !is_carried_by(d, loop) || !m.accesses[at(d.source)] ||
        !m.accesses[at(d.sink)])
      continue;
    const NestAccess &source = nest_.accesses[at(d.source)], &sink = nest_.accesses[at(d.sink)];
    if (source.update >= 0 && sink.update >= 0 && !d.assumed &&
        is_reduction_of_array(nest_, loop, source.array))
      s.reduces_array = true;
    else
      s.blocking.push_back(static_cast<std::int32_t>(k));
  }
  for (std::size_t x = 0; x < m.locals.size(); ++x) {
    if (!m.locals[x]) continue;
    switch (judged_.locals.role(loop, static_cast<std::int32_t>(x))) {
      case LocalRole::Fixed:
      case LocalRole::Private:
        break;
      case LocalRole::Last:
        s.has_last = true;
        break;
      case LocalRole::Reduction:
        s.reduces_local = true;
        break;
      case LocalRole::Extreme:
        s.reduces_local = s.has_extreme = true;
        break;
      case LocalRole::Companion:
        s.has_companion = true;
        break;
      case LocalRole::Scan:
      case LocalRole::Carried:
        s.carried_local = true;
        break;
    }
  }
  return s;
}

std::optional<SplitCandidate> Planner::common_cut(std::int32_t loop, const Status& status) const {
  if (status.blocking.empty()) return std::nullopt;
  std::uint32_t cuts = ~0u;
  for (std::int32_t k : status.blocking) cuts &= nest_.dependences[at(k)].gone_if_split;
  if (!cuts) return std::nullopt;
  return split_candidates(nest_.loops, loop)[static_cast<std::size_t>(__builtin_ctz(cuts))];
}

bool Planner::is_mixed(std::int32_t array) const {
  return std::any_of(nest_.facts.mixed.begin(), nest_.facts.mixed.end(), [&](const auto& m) {
    return nest_.array_of(m.first) == array || nest_.array_of(m.second) == array;
  });
}

bool Planner::may_have_lanes(std::int32_t loop, const Statements& statements,
                             const Status& status) const {
  if (!status.is_free() || status.reduces_array || status.has_last || status.has_companion)
    return false;
  if (has_tree(statements)) return false;
  if (rounds_of(loop) < fewest_rounds) return false;
  if (std::any_of(statements.begin(), statements.end(), [&](const Instr* s) {
        const bool is_while = s->kind == InstrKind::While;
        return divides_in_while(s->body, is_while) || divides_in_while(s->other, is_while);
      }))
    return false;
  // The sums of one loop share their tree; sums in order gain nothing.
  int tree = 0;
  for (const LocalUpdate& u : judged_.locals.updates) {
    if (!stands_in(statements, u.write)) continue;
    if (judged_.locals.role(loop, u.local) != LocalRole::Reduction) continue;
    const DType type = body_.locals[at(u.local)];
    const Op op = u.op == Op::Subtract ? Op::Add : u.op;
    const int own = tree_class(op, type);
    if (own == 0 && !reduces_in_any_order(op, type) && !(is_integer(type) || is_bool(type)))
      return false;
    if (own && tree && own != tree) return false;
    tree = std::max(tree, own);
  }
  for (const LocalExtreme& e : judged_.locals.extremes)
    if (stands_in(statements, e.branch) &&
        judged_.locals.role(loop, e.local) == LocalRole::Extreme &&
        (!e.companions.empty() || is_complex(body_.locals[at(e.local)])))
      return false;
  return true;
}

// Lanes go round a while until all of them are through, and integers are divided one by one there:
// each lane's division takes what a whole round takes in order.
bool Planner::divides_in_while(const Block& block, bool is_in_while) const {
  return std::any_of(block.begin(), block.end(), [&](const Instr& instr) {
    const bool is_within = is_in_while || instr.kind == InstrKind::While;
    if (divides_in_while(instr.body, is_within) || divides_in_while(instr.other, is_within))
      return true;
    return is_in_while && instr.kind == InstrKind::Apply &&
           (instr.op == Op::FloorDivide || instr.op == Op::Remainder) &&
           is_integer(body_.values[at(instr.result)]) &&
           nest_.definitions[at(instr.args[1])]->kind != InstrKind::Constant;
  });
}

bool Planner::has_tree(const Statements& statements) {
  return std::any_of(statements.begin(), statements.end(),
                     [](const Instr* s) { return is_or_has_tree(*s); });
}

bool Planner::stands_in(const Statements& statements, const Instr* wanted) {
  return std::any_of(statements.begin(), statements.end(), [&](const Instr* s) {
    return s == wanted || contains(s->body, wanted) || contains(s->other, wanted);
  });
}

bool Planner::contains(const Block& block, const Instr* wanted) {
  return std::any_of(block.begin(), block.end(), [&](const Instr& instr) {
    return &instr == wanted || contains(instr.body, wanted) || contains(instr.other, wanted);
  });
}

bool Planner::is_best_in_lanes(std::int32_t loop, const Statements& statements) const {
  const Status status = status_of(loop, members_of(loop, statements));
  if (!may_have_lanes(loop, statements, status)) return false;
  const double own = score(loop, statements) + (status.reduces_local ? 0.5 : 0);
  return own < scalar_score && own <= best_inside(statements);
}

double Planner::best_inside(const Statements& statements) const {
  double sum = 0, weight = 0;
  const std::function<void(const Instr&)> visit = [&](const Instr& instr) {
    if (instr.kind == InstrKind::Loop) {
      const std::int32_t loop = loop_of(instr);
      const Statements own = statements_of(instr.body);
      const double cost = cost_of(instr) + 1;
      sum += cost * best_of(loop, own);
      weight += cost;
      return;
    }
    for (const Instr& inner : instr.body) visit(inner);
    for (const Instr& inner : instr.other) visit(inner);
  };
  for (const Instr* s : statements) visit(*s);
  return weight > 0 ? sum / weight : std::numeric_limits<double>::infinity();
}

double Planner::best_of(std::int32_t loop, const Statements& statements) const {
  Status status = status_of(loop, members_of(loop, statements));
  double own = std::numeric_limits<double>::infinity();
  if (common_cut(loop, status)) status.blocking.clear();
  if (may_have_lanes(loop, statements, status))
    own = score(loop, statements) + (status.reduces_local ? 0.5 : 0);
  return std::min(own, best_inside(statements));
}

double Planner::score(std::int32_t loop, const Statements& statements) const {
  const Members members = members_of(loop, statements);
  double sum = 0, weight = 0;
  for (std::size_t k = 0; k < nest_.accesses.size(); ++k) {
    const NestAccess& access = nest_.accesses[k];
    if (!access.instr || !members.accesses[k]) continue;
    double rounds = 1;
    for (std::int32_t l = access.loop; l >= 0 && l != loop; l = nest_.loop(l).parent)
      rounds *= rounds_of(l);
    sum += rounds * cost_in_lanes(access, loop);
    weight += rounds;
  }
  if (weight == 0) return 1;
  double result = sum / weight;
  // Lanes with rounds of their own wait for one another.
  for (std::size_t k = 0; k < nest_.loops.size(); ++k) {
    const auto inner = static_cast<std::int32_t>(k);
    if (inner == loop || !is_in(inner, loop) || nest_.loops[k].is_while()) continue;
    if (depends_on(nest_.loops[k].instr->args[0], loop, 0) ||
        depends_on(nest_.loops[k].instr->args[1], loop, 0))
      result += 1.5;
  }
  return result;
}

bool Planner::depends_on(ValueId value, std::int32_t loop, int depth) const {
  if (value == nest_.loop(loop).index()) return true;
  const Instr& instr = *nest_.definitions[at(value)];
  if (!nest_.is_inside(value, loop)) return false;
  if (depth > 24 || instr.kind == InstrKind::ReadLocal) return true;
  if (instr.kind == InstrKind::Loop) return false;
  for (ValueId arg : instr.args)
    if (arg != no_value && depends_on(arg, loop, depth + 1)) return true;
  return std::any_of(instr.address.terms.begin(), instr.address.terms.end(),
                     [&](const Term& t) { return depends_on(t.index, loop, depth + 1); });
}

double Planner::cost_in_lanes(const NestAccess& access, std::int32_t loop) const {
  const std::int32_t parameter = access.instr->address.operand;
  const std::int32_t unit =
      at(parameter) < facts_.unit_axes.size() ? facts_.unit_axes[at(parameter)] : -1;
  bool moves = false, side_by_side = false;
  for (std::size_t axis = 0; axis < access.indices.size(); ++axis)
    for (const auto& [value, coefficient] : access.indices[axis].terms) {
      const bool is_sum = at(value) < nest_.definitions.size();
      if (is_sum && value == nest_.loop(loop).index()) {
        side_by_side = !moves && static_cast<std::int32_t>(axis) == unit && coefficient == 1;
        moves = true;
      } else if (!is_sum || depends_on(value, loop, 0)) {
        return access.is_store() ? 10 : 7;
      }
    }
  if (!moves) return access.is_store() ? 4 : 0.3;
  return side_by_side ? 1 : access.is_store() ? 7 : 5;
}

}  // namespace frit
