// nest_waves.cpp: loops whose dependences run along both: diagonals of them, or tiles row by row.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "schedule/nest_carried.h"
#include "schedule/nest_cost.h"
#include "schedule/nest_planner.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

constexpr std::int64_t most_skew = 4;

// The longest way from some values to another one, in nanoseconds of ops that wait for each other.
class Chain {
 public:
  Chain(const Nest& nest, std::int32_t loop, const std::vector<std::int32_t>& loads)
      : nest_(nest), loop_(loop) {
    for (std::int32_t access : loads) known_[nest.accesses[at(access)].instr->result] = 0;
    find_writes(nest.loop(loop).instr->body, {});
  }

  // Less than 0: there is no way.
  double to(ValueId id) {
    if (id == no_value) return none;
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    if (at(id) >= nest_.definitions.size() || !nest_.is_inside(id, loop_)) return none;
    known_[id] = none;
    const Instr& instr = *nest_.definitions[at(id)];
    double longest = none;
    for (ValueId arg : instr.args) longest = std::max(longest, to(arg));
    for (const Term& term : instr.address.terms) longest = std::max(longest, to(term.index));
    if (instr.kind == InstrKind::ReadLocal)
      for (const Write& write : writes_)
        if (write.local == instr.number) longest = std::max(longest, to(write));
    return known_[id] = longest < 0 ? none : longest + time_of(instr);
  }

 private:
  static constexpr double none = -std::numeric_limits<double>::infinity();

  // What a branch decides waits for its condition.
  struct Write {
    std::int32_t local;
    std::vector<ValueId> waits_for;
  };
  double to(const Write& write) {
    double longest = none;
    for (ValueId id : write.waits_for) longest = std::max(longest, to(id));
    return longest;
  }
  void find_writes(const Block& block, const std::vector<ValueId>& conditions) {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::WriteLocal) {
        Write write{instr.number, conditions};
        write.waits_for.push_back(instr.args[0]);
        writes_.push_back(std::move(write));
      }
      std::vector<ValueId> inside = conditions;
      if (instr.kind == InstrKind::If) inside.push_back(instr.args[0]);
      find_writes(instr.body, inside);
      find_writes(instr.other, inside);
    }
  }

  double time_of(const Instr& instr) const {
    if (instr.kind == InstrKind::Load) return nest_cost::in_order.function;  // behind the store
    if (instr.kind != InstrKind::Apply) return 0;
    const DType type = nest_.routine.body.values[at(instr.args[0])];
    const bool is_simple = is_integer(type) || is_bool(type);
    switch (instr.op) {
      case Op::Add:
      case Op::Subtract:
        return is_simple ? nest_cost::chained_integer : nest_cost::chained_float;
      case Op::Multiply:
        return nest_cost::chained_float;
      case Op::Minimum:
      case Op::Maximum:
        return is_simple ? nest_cost::chained_extreme : nest_cost::chained_float;
      case Op::Select:
        return nest_cost::chained_extreme;
      case Op::Equal:
      case Op::NotEqual:
      case Op::Less:
      case Op::LessEqual:
      case Op::Greater:
      case Op::GreaterEqual:
      case Op::BitwiseAnd:
      case Op::BitwiseOr:
      case Op::BitwiseXor:
      case Op::LogicalAnd:
      case Op::LogicalOr:
      case Op::LogicalNot:
        return nest_cost::chained_integer;
      default:
        return nest_cost::in_order.function;
    }
  }

  const Nest& nest_;
  const std::int32_t loop_;
  std::map<ValueId, double> known_;
  std::vector<Write> writes_;
};

}  // namespace

std::optional<PlanNode> Planner::wavefront(std::int32_t loop, const Statements& statements) {
  const Members members = members_of(loop, statements);
  const Status status = status_of(loop, members);
  if (status.carried_local || status.reduces() || status.has_last || status.blocking.empty())
    return std::nullopt;
  const std::vector<std::int32_t> band = band_of(loop, statements);
  if (band.size() != 2 || !has_fixed_bounds(band[1], loop)) return std::nullopt;
  const Statements inner = statements_of(nest_.loop(band[1]).instr->body);
  if (std::any_of(inner.begin(), inner.end(), [](const Instr* s) {
        return s->kind == InstrKind::While || s->kind == InstrKind::Loop || has_loop(s->body);
      }))
    return std::nullopt;
  for (std::size_t x = 0; x < members.locals.size(); ++x)
    for (std::int32_t l : band)
      if (members.locals[x]) {
        const LocalRole role = judged_.locals.role(l, static_cast<std::int32_t>(x));
        if (role != LocalRole::Fixed && role != LocalRole::Private) return std::nullopt;
      }
  if (best_inside(statements) < scalar_score) return std::nullopt;  // j itself runs as lanes
  if (rounds_of(loop) < 16 || rounds_of(band[1]) < 16) return std::nullopt;
  const auto outer_depth = at(nest_.loop(loop).depth);
  std::int64_t skew = 1;
  for (std::size_t k = 0; k < nest_.dependences.size(); ++k) {
    const Dependence& d = nest_.dependences[k];
    if (!judged_.active[k] || !members.accesses[at(d.source)] || !members.accesses[at(d.sink)])
      continue;
    if (d.level != static_cast<std::int32_t>(outer_depth)) continue;
    if (d.assumed || d.common < static_cast<std::int32_t>(outer_depth) + 2) return std::nullopt;
    const auto &i = d.least[outer_depth], &j = d.least[outer_depth + 1];
    if (!i || !j || *i < 1) return std::nullopt;
    // skew * i + j > 0
    if (*j <= 0) skew = std::max(skew, -*j / *i + 1);
  }
  if (skew > most_skew) return std::nullopt;
  PlanNode n = node(*nest_.loop(loop).instr, LoopRun::Serial);
  n.skew = skew;
  n.skewed = band[1];
  n.blocks = {&nest_.loop(loop).instr->body, &nest_.loop(band[1]).instr->body};
  n.body = kernel_statements(inner, true);
  if (is_best_by_rows(n.skewed)) run_by_rows(n);
  return n;
}

bool Planner::is_best_by_rows(std::int32_t inner) const {
  const Block& body = nest_.loop(inner).instr->body;
  const Members members = members_of(inner, statements_of(body));
  double in_lanes = nest_cost::wave_element;
  if (std::ranges::count(body, InstrKind::If, &Instr::kind) > 0) in_lanes += nest_cost::wave_branch;
  int stores = 0;
  for (std::size_t k = 0; k < nest_.accesses.size(); ++k) {
    if (!members.accesses[k]) continue;
    in_lanes += nest_cost::wave_access;
    if (nest_.accesses[k].instr && nest_.accesses[k].is_store()) ++stores;
  }
  const std::vector<CarriedElement> carried = reloaded_elements(nest_, inner);
  if (stores != 1 || carried.size() != 1) return false;
  const Instr& store = *nest_.accesses[at(carried[0].store)].instr;
  return Chain(nest_, inner, carried[0].loads[0]).to(store.args[0]) < in_lanes;
}

void Planner::run_by_rows(PlanNode& waves) {
  PlanNode row = node(*nest_.loop(waves.skewed).instr);
  row.body = kernel_statements(statements_of(row.instr->body), false);
  waves.by_rows = true;
  waves.blocks = {&waves.instr->body};
  waves.other = std::exchange(waves.body, {std::move(row)});
}

}  // namespace frit
