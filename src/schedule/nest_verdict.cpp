// nest_verdict.cpp: dependences that exist for these integers, and what they make of each loop.
#include "schedule/nest_verdict.h"

#include <algorithm>

#include "ir/error.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

bool carries(const Nest& nest, const Dependence& d, std::int32_t loop) {
  if (d.level >= d.common || d.level != nest.loop(loop).depth) return false;
  const auto path = nest.path_to(nest.accesses[at(d.source)].loop);
  return path[at(d.level)] == loop;
}

// Of several dependences the one that says most is shown: one that was found before one that was
// assumed, and a value that is passed on before memory that is used again.
int rank(const Dependence& d) {
  return (d.assumed ? 2 : 0) + (d.kind == DependenceKind::Flow ? 0 : 1);
}

Op combining(Op op) { return op == Op::Subtract ? Op::Add : op; }

LoopVerdict verdict_of(const JudgedNest& judged, std::int32_t loop) {
  const Nest& nest = *judged.nest;
  LoopVerdict verdict;
  if (nest.loop(loop).is_while()) {
    verdict.kind = LoopKind::Serial;
    verdict.reason = LoopReason::While;
    return verdict;
  }
  bool reduces = false, open = false;
  for (std::size_t k = 0; k < nest.dependences.size(); ++k) {
    const Dependence& d = nest.dependences[k];
    if (!carries(nest, d, loop)) continue;
    open |= d.condition >= 0;
    if (!judged.active[k]) continue;
    const NestAccess& source = nest.accesses[at(d.source)];
    if (source.update >= 0 && nest.accesses[at(d.sink)].update >= 0 && !d.assumed &&
        is_reduction_of_array(nest, loop, source.array)) {
      reduces = true;
      continue;
    }
    if (verdict.dependence >= 0 && rank(d) >= rank(nest.dependences[at(verdict.dependence)]))
      continue;
    verdict.kind = LoopKind::Serial;
    verdict.dependence = static_cast<std::int32_t>(k);
    const bool mixed =
        d.assumed && (source.array != nest.accesses[at(d.sink)].array || !nest.facts.mixed.empty());
    verdict.reason = mixed                 ? LoopReason::SharedMemory
                     : !d.assumed          ? LoopReason::Dependence
                     : nest.has_pair_judge ? LoopReason::WorkLimit
                                           : LoopReason::NoAnalysis;
    verdict.at_run_time = d.condition >= 0;
  }
  if (verdict.kind == LoopKind::Serial) return verdict;
  const std::vector<LocalRole>& roles = judged.locals.roles[at(loop)];
  std::int32_t alone = -1;  // the only one it reduces into
  for (std::size_t x = 0; x < roles.size(); ++x) {
    if (roles[x] == LocalRole::Reduction || roles[x] == LocalRole::Extreme) {
      alone = reduces ? -1 : static_cast<std::int32_t>(x);
      reduces = true;
    }
    if (roles[x] != LocalRole::Carried && roles[x] != LocalRole::Scan) continue;
    if (verdict.kind == LoopKind::Serial) continue;
    verdict.kind = roles[x] == LocalRole::Scan ? LoopKind::Scan : LoopKind::Serial;
    verdict.reason = LoopReason::Local;
    verdict.local = static_cast<std::int32_t>(x);
  }
  if (verdict.kind == LoopKind::Parallel && reduces) {
    verdict.kind = LoopKind::Reduction;
    verdict.local = alone;
  }
  verdict.at_run_time = open && verdict.reason == LoopReason::None;
  return verdict;
}

}  // namespace

bool is_reduction_of_array(const Nest& nest, std::int32_t loop, std::int32_t array) {
  std::optional<Op> op;
  for (const NestAccess& access : nest.accesses) {
    if (!access.instr || access.array != array) continue;
    const auto path = nest.path_to(access.loop);
    if (std::find(path.begin(), path.end(), loop) == path.end()) continue;
    if (access.update < 0 || access.instr->address.operand != array) return false;
    const Op own = combining(nest.updates[at(access.update)].op);
    const DType type = nest.routine.body.operands[at(access.instr->address.operand)].dtype;
    if (own != Op::Add && own != Op::Multiply && !reduces_in_any_order(own, type)) return false;
    if (op && *op != own) return false;
    op = own;
  }
  return op.has_value();
}

void evaluate_conditions(const Nest& nest, std::span<const std::int64_t> integers,
                         ConditionBits& bits) {
  bits.assign((nest.conditions.size() + 63) / 64, 0);
  for (std::size_t k = 0; k < nest.conditions.size(); ++k)
    if (nest.conditions[k].may_hold(integers)) bits[k / 64] |= std::uint64_t{1} << (k % 64);
}

JudgedNest judge(std::shared_ptr<const Nest> nest, const ConditionBits& bits) {
  JudgedNest judged;
  judged.locals = find_local_roles(*nest);
  for (const Dependence& d : nest->dependences) {
    const auto k = static_cast<std::size_t>(std::max(d.condition, 0));
    judged.active.push_back(d.condition < 0 || (bits[k / 64] >> (k % 64) & 1) != 0);
  }
  judged.nest = std::move(nest);
  for (std::size_t loop = 0; loop < judged.nest->loops.size(); ++loop)
    judged.verdicts.push_back(verdict_of(judged, static_cast<std::int32_t>(loop)));
  return judged;
}

std::string print(const JudgedNest& judged) {
  const Nest& nest = *judged.nest;
  std::string all;
  const auto reference = [&](std::int32_t access) {
    return std::string(nest.accesses[at(access)].is_store() ? "store " : "load ") +
           std::to_string(access);
  };
  for (std::size_t k = 0; k < nest.loops.size(); ++k) {
    const NestLoop& loop = nest.loops[k];
    const LoopVerdict& verdict = judged.verdicts[k];
    all += std::string(2 * at(loop.depth), ' ');
    all += loop.is_while() ? "while" : "v" + std::to_string(loop.index());
    const char* const kinds[] = {"parallel", "reduction", "scan", "serial"};
    all += std::string(": ") + kinds[static_cast<std::size_t>(verdict.kind)];
    if (verdict.reason == LoopReason::Local) all += ": local " + std::to_string(verdict.local);
    if (verdict.dependence >= 0) {
      const Dependence& d = nest.dependences[at(verdict.dependence)];
      const char* const words[] = {"flow", "anti", "output"};
      all += std::string(": ") + words[static_cast<std::size_t>(d.kind)] + " dependence from " +
             reference(d.source) + " to " + reference(d.sink);
      const auto &least = d.least[at(d.level)], &most = d.most[at(d.level)];
      if (verdict.reason == LoopReason::SharedMemory) all += " (shared memory)";
      if (verdict.reason == LoopReason::WorkLimit) all += " (not decided)";
      if (least && least == most) all += ", distance " + std::to_string(*least);
    }
    if (verdict.at_run_time) all += " (at run time)";
    all += "\n";
  }
  return all;
}

}  // namespace frit
