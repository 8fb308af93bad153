// sink.cpp: which steps may move behind what runs between, and whether that saves bytes.
#include "schedule/sink.h"

#include <algorithm>
#include <ranges>

#include "schedule/dependence.h"

namespace frit {
namespace {

constexpr std::size_t most_together = 8;  // steps that move at once
constexpr std::size_t most_members = 120;
constexpr std::size_t most_operands = 32;  // windows on memory of the group that they come to

struct Use {
  std::uint32_t group, node;
  const Access* access;
  bool is_write;
  Box box;
};

std::int64_t bytes_of(const Access& a) { return a.layout->size() * a.layout->item_size(); }

bool meet(const Access& a, const Access& b) {
  return boxes_meet(a.offset, *a.layout, b.offset, *b.layout);
}

// Does it touch the same element at the same point, where it runs?
bool is_same(const Use& use, const Access& access) {
  if (use.box.is_all()) return *use.access == access;
  const auto strides = use.access->layout->strides();
  std::int64_t offset = use.access->offset;
  for (std::size_t k = 0; k < strides.size(); ++k) offset -= use.box.begin[k] * strides[k];
  return use.access->dtype == access.dtype && offset == access.offset &&
         std::ranges::equal(strides, access.layout->strides());
}

class Sinker {
 public:
  Sinker(const Segment& segment, std::vector<Group>& groups, Arena& arena)
      : segment_(segment), groups_(groups), arena_(arena), uses_(segment.slots.size()) {}

  void run() {
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
      for (const Member& m : groups_[g].members)
        for_each_access(segment_.nodes[m.node], [&](const Access& a, bool is_write) {
          uses_[a.base->slot].push_back({g, m.node, &a, is_write, m.box});
        });
    // From behind: what a step reads may follow it.
    for (std::uint32_t g = static_cast<std::uint32_t>(groups_.size()); g-- > 0;)
      for (std::size_t k = groups_[g].members.size(); k-- > 0;)
        if (k < groups_[g].members.size()) consider(g, groups_[g].members[k]);
  }

 private:
  const Node& node(std::uint32_t number) const { return segment_.nodes[number]; }

  void consider(std::uint32_t g, const Member& member) {
    if (!may_move(member)) return;
    const std::uint32_t to = reader(g, node(member.node).out);
    if (to == no_group || !takes(to, node(member.node))) return;
    moved_.assign(1, member.node);
    from_ = g;
    to_ = to;
    gain_ = 2 * bytes_of(node(member.node).out);
    // moved_ grows: what only they read comes along.
    for (std::size_t next = 0; next < moved_.size(); ++next)
      if (!inputs_follow(node(moved_[next]), moved_[next])) return;
    if (gain_ > 0) move();
  }

  static constexpr std::uint32_t no_group = UINT32_MAX;

  bool may_move(const Member& member) const {
    return member.level == Level::Full && node(member.node).kind == NodeKind::Elementwise;
  }

  // The group behind g that reads what is written here, as it is written; or no_group. It is the
  // only one, or what the others see is what it writes there itself.
  std::uint32_t reader(std::uint32_t g, const Access& out) const {
    const std::vector<Use>& uses = uses_[out.base->slot];
    std::uint32_t first = no_group;
    bool is_rewritten = false, is_only = true;
    for (const Use& use : uses) {
      if (use.access == &out) continue;
      if (use.group <= g) return no_group;
      first = std::min(first, use.group);
    }
    for (const Use& use : uses) {
      if (use.access == &out) continue;
      is_only &= use.group == first;
      if (use.group != first) continue;
      if (node(use.node).kind == NodeKind::Routine || !is_same(use, out)) return no_group;
      is_rewritten |= use.is_write;
    }
    const bool is_read_alone = segment_.slots[out.base->slot].is_temporary() && is_only;
    return is_read_alone || is_rewritten ? first : no_group;
  }

  // Is it a group that a step over this space can join, in the loop over all elements?
  bool takes(std::uint32_t g, const Node& moved) const {
    const Group& group = groups_[g];
    if (group.kind != GroupKind::Map && group.kind != GroupKind::Fold) return false;
    if (group.in_order || group.buffered || (group.ordered && group.tree.size() > 1)) return false;
    if (!bears_its_parts(group, moved)) return false;
    if (std::ranges::find(group.shadowed, moved.out.base->slot) != group.shadowed.end())
      return false;
    return std::ranges::equal(domain(moved), group.extents) &&
           group.members.size() + most_together <= most_members && operands(g) < most_operands;
  }

  // Where the group's space is cut into parts.
  bool bears_its_parts(const Group& group, const Node& moved) const {
    return !has_boxes(group) || may_be_cut(segment_, group, moved);
  }

  std::size_t operands(std::uint32_t g) const {
    std::vector<std::pair<const Base*, std::int64_t>> seen;
    for (const Member& m : groups_[g].members)
      for_each_access(node(m.node), [&](const Access& a, bool) {
        if (!stays_in_registers(a.base->slot, g)) seen.emplace_back(a.base, a.offset);
      });
    std::ranges::sort(seen);
    return seen.size() - std::ranges::unique(seen).size();
  }

  // Can the step read the same elements where it comes to? Counts the bytes.
  bool inputs_follow(const Node& moved, std::uint32_t number) {
    for (int k = 0; k < moved.inputs; ++k) {
      const Access& in = moved.in[k];
      if (!in.base || std::ranges::any_of(moved_, [&](std::uint32_t m) {
            return node(m).out == in;  // comes along
          }))
        continue;
      if (brings(in)) continue;
      if (stays_in_registers(in.base->slot, from_) || !is_unchanged(in, number)) return false;
      count(in);
    }
    return true;
  }

  bool stays_in_registers(std::uint32_t slot, std::uint32_t g) const {
    return segment_.slots[slot].is_temporary() &&
           std::ranges::all_of(uses_[slot], [&](const Use& use) { return use.group == g; });
  }

  // Takes along the step that makes `in`, for those that move alone.
  bool brings(const Access& in) {
    if (!stays_in_registers(in.base->slot, from_)) return false;
    std::uint32_t maker = UINT32_MAX;
    for (const Use& use : uses_[in.base->slot]) {
      if (!(*use.access == in)) return false;
      if (use.is_write && maker != UINT32_MAX) return false;
      if (use.is_write)
        maker = use.node;
      else if (std::ranges::find(moved_, use.node) == moved_.end())
        return false;
    }
    const std::vector<Member>& members = groups_[from_].members;
    const auto found = std::ranges::find(members, maker, &Member::node);
    if (found == members.end() || !may_move(*found) || moved_.size() == most_together) return false;
    if (!bears_its_parts(groups_[to_], node(maker))) return false;
    moved_.push_back(maker);
    return true;
  }

  // Nothing that runs before step `number` in its new place, and ran behind it, writes these
  // elements; and the other way round.
  bool is_unchanged(const Access& in, std::uint32_t number) const {
    const std::vector<std::uint32_t>& shadowed = groups_[to_].shadowed;
    const bool is_shadowed = std::ranges::find(shadowed, in.base->slot) != shadowed.end();
    return std::ranges::none_of(uses_[in.base->slot], [&](const Use& use) {
      if (!use.is_write || use.group < from_ || use.group > to_ || !meet(in, *use.access))
        return false;
      const bool is_same = *use.access == in && node(use.node).kind != NodeKind::Routine;
      if (use.group < to_) return use.node > number;
      return !is_same && !(is_shadowed && use.node > number);
    });
  }

  void count(const Access& in) {
    bool is_there = false, is_needed_here = false;
    for (const Use& use : uses_[in.base->slot]) {
      is_there |= use.group == to_ && meet(in, *use.access);
      is_needed_here |= use.group == from_ && meet(in, *use.access) &&
                        std::ranges::find(moved_, use.node) == moved_.end();
    }
    if (!is_there) gain_ -= bytes_of(in);
    if (!is_needed_here) gain_ += bytes_of(in);
  }

  void move() {
    for (const std::uint32_t number : moved_) {
      std::vector<Member>& from = groups_[from_].members;
      std::vector<Member>& to = groups_[to_].members;
      const auto member = std::ranges::find(from, number, &Member::node);
      member->phase = 0;
      if (!member->box.is_all()) move_windows(*member, member->box.begin, arena_);
      member->box = {};
      to.insert(std::ranges::lower_bound(to, number, {}, &Member::node), *member);
      from.erase(member);
      for_each_access(node(number), [&](const Access& a, bool) {
        for (Use& use : uses_[a.base->slot])
          if (use.node == number) use.group = to_, use.box = {};
      });
    }
  }

  const Segment& segment_;
  std::vector<Group>& groups_;
  Arena& arena_;
  std::vector<std::vector<Use>> uses_;  // by slot
  // Of the steps that are tried:
  std::vector<std::uint32_t> moved_;
  std::uint32_t from_ = 0, to_ = 0;
  std::int64_t gain_ = 0;
};

}  // namespace

void sink(const Segment& segment, std::vector<Group>& groups, Arena& arena) {
  if (groups.size() > 1 && segment.fuses) Sinker(segment, groups, arena).run();
}

}  // namespace frit
