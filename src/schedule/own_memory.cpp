// own_memory.cpp: finds the slots that one kernel alone uses, each point its own share.
#include "schedule/own_memory.h"

#include <algorithm>

namespace frit {
namespace {

struct Place {
  std::uint32_t group, member;
};

class OwnMemory {
 public:
  OwnMemory(const Segment& segment, std::vector<Group>& groups, std::span<SlotUse> uses)
      : segment_(segment), groups_(groups), uses_(uses), touches_(segment.slots.size()) {}

  void run() {
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
      for (std::uint32_t m = 0; m < groups_[g].members.size(); ++m)
        for_each_access(node_at({g, m}), [&](const Access& a, bool) {
          std::vector<Place>& list = touches_[a.base->slot];
          if (list.empty() || list.back().group != g || list.back().member != m)
            list.push_back({g, m});
        });
    for (std::uint32_t slot = 0; slot < touches_.size(); ++slot) judge(slot);
    for (const Place& fill : fills_) groups_[fill.group].members[fill.member].node = dropped;
    for (Group& group : groups_)
      std::erase_if(group.members, [](const Member& m) { return m.node == dropped; });
  }

 private:
  static constexpr std::uint32_t dropped = UINT32_MAX;

  const Node& node_at(Place place) const {
    return segment_.nodes[groups_[place.group].members[place.member].node];
  }

  void judge(std::uint32_t slot) {
    const SlotState& state = segment_.slots[slot];
    const std::vector<Place>& list = touches_[slot];
    if (!state.is_temporary() || list.empty() || list.size() > 2) return;
    const Place kernel = list.back();
    if (!has_lanes_inside(segment_, groups_[kernel.group])) return;
    if (list.size() == 2 && !fills(node_at(list[0]), state.bytes)) return;
    const std::int64_t bytes = share(node_at(kernel), slot);
    if (bytes == 0) return;
    uses_[slot].own_bytes = bytes;
    if (list.size() == 1) return;
    uses_[slot].fill = groups_[list[0].group].members[list[0].member];
    fills_.push_back(list[0]);
  }

  // Does it set all of the memory to one number?
  static bool fills(const Node& node, std::int64_t bytes) {
    return node.kind == NodeKind::Elementwise && node.op == Op::Copy && !node.in[0].base &&
           node.in[0].offset != iota_input && node.out.offset == 0 &&
           node.out.layout->size() * size_of(node.out.dtype) == bytes;
  }

  // The bytes that each point of the kernel has for itself; 0: its points share the memory.
  std::int64_t share(const Node& node, std::uint32_t slot) const {
    if (node.kind != NodeKind::Routine || node.site->routine->in_order) return 0;
    const RoutineUse& use = *node.site->routine;
    const std::int64_t points = use.domain->size();
    const std::int64_t bytes = segment_.slots[slot].bytes / points;
    if (use.domain->shape().size() != 1 || points < 2 ||
        bytes * points != segment_.slots[slot].bytes)
      return 0;
    const std::int32_t base = base_of(*node.site, slot);
    bool goes_through_memory = false;
    for (const RoutineAccess& a : use.accesses) {
      if (!a.instr) continue;
      const auto number = static_cast<std::size_t>(a.instr->address.operand);
      const RoutineParameter& parameter = use.parameters[number];
      if (parameter.base != base) continue;
      goes_through_memory |= !a.is_window;
      if (!is_split(parameter, points, bytes) || !use.immediate[number] ||
          !is_of_own_share(a, bytes))
        return 0;
    }
    return goes_through_memory ? bytes : 0;
  }

  static std::int32_t base_of(const CallSite& site, std::uint32_t slot) {
    const RoutineUse& use = *site.routine;
    const auto find = [&](const auto& touched, const auto& accesses) {
      for (std::size_t k = 0; k < touched.size(); ++k)
        if (accesses[k].base->slot == slot) {
          const RoutineAccess& a = use.accesses[static_cast<std::size_t>(touched[k].access)];
          return use.parameters[static_cast<std::size_t>(a.instr->address.operand)].base;
        }
      return std::int32_t{-1};
    };
    const std::int32_t written = find(use.outputs, site.outputs);
    return written >= 0 ? written : find(use.inputs, site.inputs);
  }

  // Is the parameter all of the memory, the first axis one of shares?
  static bool is_split(const RoutineParameter& parameter, std::int64_t points, std::int64_t bytes) {
    const auto shape = parameter.layout->shape();
    return parameter.offset == 0 && !shape.empty() && shape[0] == points &&
           parameter.layout->strides()[0] == bytes && parameter.layout->c_contiguous();
  }

  // Its axis is the points'; bounds are checked axis by axis, so that the others stay in the share.
  static bool is_of_own_share(const RoutineAccess& a, std::int64_t bytes) {
    if (a.offset < 0 || a.offset >= bytes) return false;
    if (a.is_window) return a.strides.size() == 1 && a.strides[0] == bytes;
    return std::ranges::count_if(a.terms, [](const auto& term) { return term.first == 0; }) == 1 &&
           std::ranges::find(a.terms, std::pair<ValueId, std::int64_t>{0, bytes}) != a.terms.end();
  }

  const Segment& segment_;
  std::vector<Group>& groups_;
  std::span<SlotUse> uses_;
  std::vector<std::vector<Place>> touches_;  // by slot, in order
  std::vector<Place> fills_;
};

}  // namespace

void find_own_memory(const Segment& segment, std::vector<Group>& groups, std::span<SlotUse> uses) {
  const auto may_have_some = [&](const Group& group) { return has_lanes_inside(segment, group); };
  if (std::ranges::any_of(groups, may_have_some)) OwnMemory(segment, groups, uses).run();
}

}  // namespace frit
