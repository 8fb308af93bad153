// schedule.cpp: the passes in order, and the life of memory around each step.
#include "schedule/schedule.h"

#include <algorithm>

#include "schedule/fuse.h"
#include "schedule/lower.h"
#include "schedule/own_memory.h"
#include "schedule/plan_sweep.h"
#include "schedule/sink.h"

namespace frit {
namespace {

constexpr std::uint32_t never = UINT32_MAX;

// Where, by group, each slot is touched.
struct SlotLife {
  std::uint32_t first = never, last = 0;
};

std::vector<SlotLife> lives(const Segment& segment, const std::vector<Group>& groups) {
  std::vector<SlotLife> result(segment.slots.size());
  for (std::uint32_t g = 0; g < groups.size(); ++g)
    for (const Member& m : groups[g].members)
      for_each_access(segment.nodes[m.node], [&](const Access& a, bool) {
        SlotLife& life = result[a.base->slot];
        life.first = std::min(life.first, g);
        life.last = std::max(life.last, g);
      });
  return result;
}

void use(std::vector<std::uint32_t>& used, std::uint32_t slot) {
  if (std::find(used.begin(), used.end(), slot) == used.end()) used.push_back(slot);
}

std::vector<std::uint32_t> slots_of(const Step& step, const Segment& segment) {
  std::vector<std::uint32_t> used;
  switch (step.kind) {
    case StepKind::Launch:
      for (const Binding& b : step.launch.operands)
        if (b.kind == Binding::Kind::Slot || b.kind == Binding::Kind::Shadow) use(used, b.slot);
      break;
    case StepKind::Combine:
      use(used, step.combine.partials);
      use(used, step.combine.out.slot);
      break;
    case StepKind::Call:
      for_each_access(segment.nodes[step.node],
                      [&](const Access& a, bool) { use(used, a.base->slot); });
      break;
  }
  return used;
}

// Memory comes with the first step that touches a slot and goes behind the last one.
void place_memory(const Segment& segment, Plan& plan) {
  const std::size_t own = segment.slots.size();
  std::vector<std::uint32_t> first(own + plan.temporaries.size(), never), last(first);
  for (std::uint32_t k = 0; k < plan.steps.size(); ++k)
    for (std::uint32_t slot : slots_of(plan.steps[k], segment)) {
      if (first[slot] == never) first[slot] = k;
      last[slot] = k;
    }
  std::vector<std::int64_t> more(plan.steps.size() + 1);  // bytes of those before each step
  for (std::uint32_t slot = 0; slot < first.size(); ++slot) {
    const bool temporary = slot >= own;
    if (first[slot] == never) {
      if (!temporary && !segment.slots[slot].has_data) ++plan.contracted;
      continue;
    }
    const bool comes = temporary || !segment.slots[slot].has_data;
    const bool goes = temporary || (!segment.slots[slot].alive && !segment.slots[slot].pinned);
    if (comes) plan.steps[first[slot]].allocate.push_back(slot);
    if (goes) plan.steps[last[slot]].deallocate.push_back(slot);
    if (!comes || !goes) continue;
    const std::int64_t bytes = temporary ? plan.temporaries[slot - own] : segment.slots[slot].bytes;
    more[first[slot]] += bytes;
    more[last[slot] + 1] -= bytes;
  }
  std::int64_t now = 0;
  for (const std::int64_t bytes : more)
    plan.most_temporary = std::max(plan.most_temporary, now += bytes);
}

// What a program that keeps nothing in between must move: each base that existed read once, each
// that stays written once.
void count_bytes(const Segment& segment, Plan& plan) {
  std::vector<bool> read(segment.slots.size()), written(segment.slots.size());
  for (const Node& node : segment.nodes)
    for_each_access(node, [&](const Access& a, bool is_write) {
      (is_write ? written : read)[a.base->slot] = true;
    });
  for (std::size_t slot = 0; slot < segment.slots.size(); ++slot) {
    const SlotState& s = segment.slots[slot];
    if (read[slot] && s.has_data) plan.bytes_least += s.bytes;
    if (written[slot] && (s.alive || s.pinned)) plan.bytes_least += s.bytes;
  }
  for (const GroupSummary& g : plan.groups) plan.bytes_moved += g.bytes_moved;
  for (const PlanSweep& sweep : plan.sweeps) plan.bytes_moved -= sweep.bytes_saved;
}

}  // namespace

// Backwards: a node is needed when somebody sees its base afterwards, or a needed node reads it. A
// library call always is.
std::vector<bool> needed_nodes(const Segment& segment) {
  std::vector<bool> slot_needed(segment.slots.size()), needed(segment.nodes.size());
  for (std::size_t slot = 0; slot < slot_needed.size(); ++slot)
    slot_needed[slot] = segment.slots[slot].alive || segment.slots[slot].pinned;
  for (std::size_t k = segment.nodes.size(); k-- > 0;) {
    const Node& node = segment.nodes[k];
    needed[k] = node.kind == NodeKind::Call && !node.site->call->is_pure();
    for_each_access(node, [&](const Access& a, bool is_write) {
      if (is_write && slot_needed[a.base->slot]) needed[k] = true;
    });
    if (!needed[k]) continue;
    for_each_access(node, [&](const Access& a, bool is_write) {
      if (!is_write) slot_needed[a.base->slot] = true;
    });
  }
  return needed;
}

std::shared_ptr<const Plan> make_plan(const Segment& segment) {
  auto plan = std::make_shared<Plan>();
  const std::vector<bool> needed = needed_nodes(segment);
  for (std::uint32_t k = 0; k < needed.size(); ++k)
    if (!needed[k]) plan->unneeded.push_back(k);
  Arena arena;
  std::vector<Group> groups = fuse(segment, needed, arena);
  sink(segment, groups, arena);
  std::vector<SlotUse> uses(segment.slots.size(), SlotUse{.stored = true});
  find_own_memory(segment, groups, uses);
  for (const SlotUse& use : uses)
    if (use.fill) plan->unneeded.push_back(use.fill->node);
  std::erase_if(groups, [](const Group& group) { return group.members.empty(); });
  const std::vector<SlotLife> life = lives(segment, groups);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    for (const Member& m : group.members)
      for_each_access(segment.nodes[m.node], [&](const Access& a, bool) {
        const SlotState& s = segment.slots[a.base->slot];
        uses[a.base->slot].stored = s.alive || s.pinned || life[a.base->slot].last > g;
        uses[a.base->slot].held = life[a.base->slot].first < g;
      });
    // What a user's kernel stores under its own conditions goes through memory, even if nobody sees
    // it afterwards.
    for (const Member& m : group.members)
      for (const Window& w : m.outs)
        if (w.immediate) uses[w.slot].stored = true;
    GroupSummary summary{.nodes = {}, .why = group.why};
    for (const Member& m : group.members) summary.nodes.push_back(m.node);
    const std::size_t from = plan->steps.size();
    if (group.kind == GroupKind::Call) {
      Step step;
      step.kind = StepKind::Call;
      step.node = group.members[0].node;
      plan->steps.push_back(std::move(step));
    } else {
      lower(segment, group, uses, *plan);
      summary.bytes_moved = plan->steps[from].launch.bytes;
      if (group.in_order) summary.parts = plan->steps[from].launch.extent;
    }
    for (std::size_t k = from; k < plan->steps.size(); ++k) plan->steps[k].group = g;
    plan->groups.push_back(std::move(summary));
  }
  place_memory(segment, *plan);
  find_sweeps(segment, *plan);
  count_bytes(segment, *plan);
  return plan;
}

}  // namespace frit
