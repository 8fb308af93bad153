// fuse.cpp: greedy fusion: each node joins the earlier group that saves most bytes, if it may.
//
// A node may join a group when its iteration space fits, when nothing between that group and the
// node conflicts with it, and when every access it shares with the group's members is the same
// element at the same iteration (distance zero). One hazard is solved instead of refused: an
// in-place update whose neighbours were read (a stencil). There the group writes to a shadow, new
// memory for the base, and reads go to the old memory. And spaces that differ by a border (a[1:] +=
// b behind a = c) become one where what they write is shared: members then have boxes in it.
#include "schedule/fuse.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/kernel.h"
#include "schedule/dependence.h"
#include "schedule/reduction_order.h"
#include "schedule/sweep_size.h"

namespace frit {
namespace {

constexpr std::size_t most_members = 160;
constexpr std::size_t most_windows = 36;    // memory operands of a group
constexpr std::int64_t longest_row = 8192;  // elements of a row that is passed over more than once
// Steps on what rows of more elements than lanes take (lower_rows.cpp) were reduced to: each is
// done once a row, by itself, where a Map of its own does as many rows at a time as a vector holds.
constexpr std::int64_t longest_lane = 7, few_row_steps = 8;
constexpr std::size_t most_windows_of_strangers = 10;
constexpr std::size_t most_candidates = 12;
constexpr std::int64_t small_space = 1 << 15;  // elements: here a shared launch always pays
// Borders are launches of their own: few points, beside a pass that is saved over many.
constexpr std::int64_t widest_border = 8, elements_a_part = 1 << 12, most_parts = 9;

bool is_ordered(Op op, DType dtype) { return !reduces_in_any_order(op, dtype); }

// One use of a slot by a member of a group.
struct Touch {
  std::uint32_t group;
  std::uint32_t member;
  std::int16_t input;  // below 0: output number -1 - input
  const Access* access;
  bool is_write() const { return input < 0; }
};

bool same_window(const Window& a, const Window& b, const std::vector<std::int64_t>& extents) {
  if (a.slot != b.slot || a.offset != b.offset || a.dtype != b.dtype || a.whole || b.whole)
    return false;
  for (std::size_t k = 0; k < extents.size(); ++k)
    if (extents[k] > 1 && a.strides[k] != b.strides[k]) return false;
  return true;
}

bool merges_axes(const Window& w, const std::vector<int>& axes,
                 const std::vector<std::int64_t>& extents) {
  for (std::size_t k = 0; k + 1 < axes.size(); ++k) {
    const auto outer = static_cast<std::size_t>(axes[k]),
               inner = static_cast<std::size_t>(axes[k + 1]);
    if (w.strides[outer] != w.strides[inner] * extents[inner]) return false;
  }
  return true;
}

ReductionShape shape_of(const Node& node) {
  // NumPy converts what is not of the result's type (that a sum of float16 works in float32 is not
  // its business).
  return shape_of_reduction(*node.in[0].layout, node.reduced, node.in[0].dtype != node.out.dtype);
}

class Fuser {
 public:
  Fuser(const Segment& segment, Arena& arena)
      : segment_(segment), arena_(arena), touches_(segment.slots.size()) {}

  std::vector<Group> run(const std::vector<bool>& needed) {
    for (std::uint32_t k = 0; k < segment_.nodes.size(); ++k) {
      if (!needed[k]) continue;
      if (k + 1 < segment_.nodes.size() && needed[k + 1] && place_halves(k))
        ++k;
      else
        place(k);
    }
    return std::move(groups_);
  }

 private:
  void place(std::uint32_t number) {
    const Node& node = segment_.nodes[number];
    why_ = nullptr;
    windows_made_ = false;
    shape_.reset();
    if (node.kind == NodeKind::Routine && node.site->routine->in_order) {
      why_ = "a kernel whose points depend on one another";
    } else if (node.kind != NodeKind::Call) {
      const std::uint32_t first = earliest_group(node);
      std::uint32_t best = UINT32_MAX;
      Attempt best_attempt;
      std::size_t tried = 0;
      for (std::uint32_t g = static_cast<std::uint32_t>(groups_.size());
           g-- > first && tried < most_candidates; ++tried) {
        Attempt attempt;
        attempt.member.node = number;
        if (const char* why = obstacle(g, attempt)) {
          if (!why_) why_ = why;
        } else if (best == UINT32_MAX || attempt.shared > best_attempt.shared) {
          best = g;
          best_attempt = std::move(attempt);
        }
      }
      if (best != UINT32_MAX) return join(best, best_attempt);
    }
    open_group(number);
  }

  // The last group that a node conflicts with: it must not run before that one.
  std::uint32_t earliest_group(const Node& node) const {
    std::uint32_t first = 0;
    for_each_access(node, [&](const Access& a, bool is_write) {
      const auto& list = touches_[a.base->slot];
      for (std::size_t k = list.size(); k-- > 0;) {
        const Touch& t = list[k];
        if (t.group < first || !(is_write || t.is_write())) continue;
        if (boxes_meet(a.offset, *a.layout, t.access->offset, *t.access->layout))
          first = std::max(first, t.group);
      }
    });
    return first;
  }

  struct Attempt {
    Member member;
    // Of a member with a box: its first point, in the group's space as it is.
    std::vector<std::int64_t> begin;
    bool takes_shape = false;            // the group becomes what the node's reduction is
    std::vector<std::uint32_t> shadows;  // slots to be shadowed
    std::int64_t shared = 0;             // bytes that need not move
  };

  // Why the node can't join; nullptr: it can.
  const char* obstacle(std::uint32_t g, Attempt& attempt) {
    const char* why = obstacle_in_space(g, attempt);
    if (!why) return nullptr;
    Attempt in_box;
    in_box.member.node = attempt.member.node;
    if (!find_box(g, in_box) || !relations_hold(g, groups_[g], in_box)) return why;
    attempt = std::move(in_box);
    return nullptr;
  }

  const char* obstacle_in_space(std::uint32_t g, Attempt& attempt) {
    const Group& group = groups_[g];
    const Node& node = segment_.nodes[attempt.member.node];
    if (group.kind == GroupKind::Call) return "the step before it is a library call";
    if (!segment_.fuses && !is_of_launch(group, node)) return "fusion is switched off";
    if (group.in_order) return "the kernel before it runs point after point";
    if (group.members.size() >= most_members) return "the group is full";
    if (!fit_space(group, node, attempt)) return "another iteration space";
    if (is_elsewhere(group, node)) return "another place of large arrays";
    if (attempt.member.level == Level::Row && is_busy_behind_rows(group, attempt))
      return "more steps behind a row than the row is worth";
    set_windows(group.extents, attempt.takes_shape ? node.reduced : group.reduced, attempt.member);
    if (!tree_holds(group, node, attempt)) return "the order of a float sum would change";
    if (!relations_hold(g, group, attempt)) return "reads or writes overlap at another iteration";
    if (attempt.member.phase > 0 && row_length(group, attempt) > longest_row)
      return "rows are too long to stay in cache";
    if (attempt.member.phase > 0 && (attempt.takes_shape ? shape_->buffered : group.buffered))
      return "the rows are put in order first";
    // What comes may join both: strangers share a loop as long as it has few streams of memory.
    if (attempt.shared == 0 && windows_[g].size() > most_windows_of_strangers &&
        space_of(group) > small_space)
      return "nothing in common, and many operands";
    return nullptr;
  }

  // Rows and elements at different places of large arrays are kernels of their own, so that each
  // goes along in a sweep where its neighbours do (plan_sweep.h).
  bool is_elsewhere(const Group& group, const Node& node) const {
    constexpr double far_apart = 1.0 / 64;  // of the array
    if (node.kind != NodeKind::Elementwise) return false;
    bool is_far = false;
    for_each_access(node, [&](const Access& a, bool) {
      const std::optional<double> here = place_in_large(group, a.base->slot, a.offset);
      if (!here || is_far) return;
      const auto is_far_from = [&](const Window& w) {
        const auto there =
            w.slot == no_slot ? std::nullopt : place_in_large(group, w.slot, w.offset);
        return there && std::abs(*there - *here) > far_apart;
      };
      is_far = std::ranges::any_of(group.members, [&](const Member& m) {
        return is_far_from(m.out) || std::ranges::any_of(m.in, is_far_from);
      });
    });
    return is_far;
  }
  // Where the byte is in an array of which the group's space is a small part, and that no cache
  // holds: from 0 to 1.
  std::optional<double> place_in_large(const Group& group, std::uint32_t slot,
                                       std::int64_t offset) const {
    constexpr std::int64_t small_part = 16;
    const std::int64_t bytes = segment_.slots[slot].bytes;
    const SweepLimits limits{
        .bytes = bytes, .threads = segment_.threads, .most_shift = segment_.sweep_shift};
    if (space_of(group) * 8 * small_part > bytes || !limits.pays()) return std::nullopt;
    return static_cast<double>(offset) / static_cast<double>(bytes);
  }

  // A reduction of what the group's kernel makes for it and for nobody else.
  bool is_of_launch(const Group& group, const Node& node) const {
    if (node.kind != NodeKind::Reduce) return false;
    const std::uint32_t slot = node.in[0].base->slot;
    if (segment_.slots[slot].alive || segment_.slots[slot].has_data) return false;
    const Node& first = segment_.nodes[group.members.front().node];
    return first.kind == NodeKind::Routine &&
           std::any_of(first.site->outputs.begin(), first.site->outputs.end(),
                       [&](const Access& a) { return a.base->slot == slot; });
  }

  static std::int64_t space_of(const Group& group) {
    std::int64_t n = 1;
    for (std::int64_t e : group.extents) n *= e;
    return n;
  }

  std::int64_t row_length(const Group& group, const Attempt& attempt) const {
    const std::uint64_t reduced =
        attempt.takes_shape ? segment_.nodes[attempt.member.node].reduced : group.reduced;
    std::int64_t n = 1;
    for (std::size_t k = 0; k < group.extents.size(); ++k)
      if (reduced >> k & 1) n *= group.extents[k];
    return n;
  }

  bool is_busy_behind_rows(const Group& group, const Attempt& attempt) const {
    const std::int64_t length = row_length(group, attempt);
    if (length <= longest_lane) return false;
    const auto steps = std::ranges::count(group.members, Level::Row, &Member::level);
    return steps >= few_row_steps + length / 4;
  }

  // Sets the member's level, and the shape that a reduction gives the group.
  bool fit_space(const Group& group, const Node& node, Attempt& attempt) {
    const auto space = domain(node);
    const bool full =
        std::equal(space.begin(), space.end(), group.extents.begin(), group.extents.end());
    if (node.kind == NodeKind::Reduce) {
      if (!full) return false;
      attempt.member.level = Level::Reduce;
      if (!shape_) shape_ = shape_of(node);
      const ReductionShape& shape = *shape_;
      if (group.kind == GroupKind::Map) {
        attempt.takes_shape = group.shadowed.empty() && !has_boxes(group);
        return attempt.takes_shape;
      }
      return group.kind == shape.kind && group.reduced == node.reduced &&
             group.order == shape.order && group.tree == shape.tree &&
             group.buffered == shape.buffered && group.chunk == shape.chunk &&
             shares_leaves(group, node);
    }
    if (full) {
      attempt.member.level = Level::Full;
      return !has_boxes(group) || may_be_cut(segment_, group, node);
    }
    if (node.kind == NodeKind::Routine) return false;
    attempt.member.level = Level::Row;
    return group.kind == GroupKind::Rows && is_row_space(group, space);
  }

  // ---- boxes ------------------------------------------------------------------------------------

  // Two copies that one behind the other make a new array (np.roll): members of the array's space,
  // each in a box of it, so that what reads the array finds each element in a register. False: they
  // are none.
  bool place_halves(std::uint32_t number) {
    const std::array<std::uint32_t, 2> nodes{number, number + 1};
    const std::optional<Halves> halves = halves_of(nodes);
    if (!halves) return false;
    const std::uint32_t first = std::max(earliest_group(segment_.nodes[nodes[0]]),
                                         earliest_group(segment_.nodes[nodes[1]]));
    std::uint32_t best = UINT32_MAX;
    std::array<Attempt, 2> best_attempts;
    std::size_t tried = 0;
    for (std::uint32_t g = static_cast<std::uint32_t>(groups_.size());
         g-- > first && tried < most_candidates; ++tried) {
      std::array<Attempt, 2> attempts;
      if (groups_[g].extents != halves->extents || !half_fits(g, *halves, nodes, 0, attempts[0]) ||
          !half_fits(g, *halves, nodes, 1, attempts[1]))
        continue;
      const bool are_strangers = attempts[0].shared == 0 && attempts[1].shared == 0;
      if (are_strangers && windows_[g].size() > most_windows_of_strangers) continue;
      if (best != UINT32_MAX && attempts[0].shared <= best_attempts[0].shared) continue;
      best = g;
      best_attempts = std::move(attempts);
    }
    if (best == UINT32_MAX) {
      Group group;
      group.why = groups_.empty() ? "" : "reads or writes overlap at another iteration";
      group.extents = halves->extents;
      for (std::size_t k = 0; k < 2; ++k) {
        best_attempts[k] = {};
        set_half(*halves, nodes, k, best_attempts[k]);
      }
      best = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back(std::move(group));
    }
    for (Attempt& attempt : best_attempts) join(best, attempt);
    return true;
  }

  struct Halves {
    std::vector<std::int64_t> extents;  // the array's
    std::array<std::vector<std::int64_t>, 2> begins;
    std::span<const std::int64_t> strides;
  };

  std::optional<Halves> halves_of(const std::array<std::uint32_t, 2>& nodes) {
    const Node& one = segment_.nodes[nodes[0]];
    const Node& two = segment_.nodes[nodes[1]];
    const auto is_copy = [](const Node& node) {
      return node.kind == NodeKind::Elementwise && node.op == Op::Copy && node.in[0].base &&
             node.in[0].base != node.out.base;
    };
    if (!segment_.fuses || !is_copy(one) || !is_copy(two) || one.out.base != two.out.base ||
        one.out.dtype != two.out.dtype || segment_.slots[one.out.base->slot].has_data ||
        !touches_[one.out.base->slot].empty())
      return std::nullopt;
    const bool is_first_lower = one.out.offset < two.out.offset;
    const Access& low = is_first_lower ? one.out : two.out;
    const Access& high = is_first_lower ? two.out : one.out;
    const auto shape = low.layout->shape(), more = high.layout->shape();
    if (shape.size() != more.size()) return std::nullopt;
    Halves halves{.extents = {shape.begin(), shape.end()}, .begins = {}, .strides = {}};
    halves.begins.fill(std::vector<std::int64_t>(shape.size()));
    std::int64_t along = -1, points = 1;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const bool is_cut = low.layout->strides()[k] * shape[k] == high.offset - low.offset;
      if (is_cut && along < 0) {
        along = static_cast<std::int64_t>(k);
        halves.extents[k] += more[k];
        halves.begins[is_first_lower ? 1 : 0][k] = shape[k];
      } else if (shape[k] != more[k]) {
        return std::nullopt;
      }
      points *= halves.extents[k];
    }
    // A dense array, whole.
    if (along < 0 || low.offset != 0 || points < 3 * elements_a_part ||
        points * size_of(low.dtype) != low.base->bytes)
      return std::nullopt;
    const std::span<std::int64_t> strides = new_strides(shape.size());
    std::int64_t stride = size_of(low.dtype);
    for (std::size_t k = shape.size(); k-- > 0; stride *= halves.extents[k]) {
      strides[k] = stride;
      if ((shape[k] > 1 && low.layout->strides()[k] != stride) ||
          (more[k] > 1 && high.layout->strides()[k] != stride))
        return std::nullopt;
    }
    halves.strides = strides;
    return halves;
  }

  // The member that makes one half, by its windows over the array's space.
  void set_half(const Halves& halves, const std::array<std::uint32_t, 2>& nodes, std::size_t k,
                Attempt& attempt) {
    attempt.member.node = nodes[k];
    attempt.begin = halves.begins[k];
    windows_made_ = false;
    set_windows(halves.extents, 0, attempt.member);
    windows_made_ = false;
    // Along an axis of one point, too.
    attempt.member.out.strides = halves.strides;
    std::vector<std::int64_t> back = attempt.begin;
    for (std::int64_t& points : back) points = -points;
    move_windows(attempt.member, back, arena_);
  }

  bool half_fits(std::uint32_t g, const Halves& halves, const std::array<std::uint32_t, 2>& nodes,
                 std::size_t k, Attempt& attempt) {
    const Group& group = groups_[g];
    const Node& node = segment_.nodes[nodes[k]];
    if (group.kind != GroupKind::Map || group.in_order || !group.shadowed.empty() ||
        group.members.size() + 2 > most_members || !may_be_cut(segment_, group, node))
      return false;
    const std::int64_t parts = parts_with(group, halves.begins[k], domain(node));
    if (parts > most_parts || parts * elements_a_part > space_of(group)) return false;
    set_half(halves, nodes, k, attempt);
    return relations_hold(g, group, attempt);
  }

  // Where the node's points lie in a space that is the group's but for a border, so that what is
  // shared and written is the same element at the same point.
  bool find_box(std::uint32_t g, Attempt& attempt) {
    const Group& group = groups_[g];
    const Node& node = segment_.nodes[attempt.member.node];
    const auto space = domain(node);
    if (!segment_.fuses || group.kind != GroupKind::Map || group.in_order ||
        !group.shadowed.empty() || group.members.size() >= most_members ||
        space.size() != group.extents.size() || space_of(group) < 3 * elements_a_part)
      return false;
    for (std::size_t k = 0; k < space.size(); ++k)
      if (std::abs(space[k] - group.extents[k]) > widest_border) return false;
    for_each_access(node, [&](const Access& a, bool is_write) {
      for (const Touch& t : touches_[a.base->slot])
        if (attempt.begin.empty() && t.group == g && (is_write || t.is_write()))
          attempt.begin = first_point(group, t, a, is_write);
    });
    if (attempt.begin.empty() || !may_be_cut(segment_, group, node)) return false;
    const std::int64_t parts = parts_with(group, attempt.begin, space);
    if (parts > most_parts || parts * elements_a_part > space_of(group)) return false;
    set_windows(group.extents, group.reduced, attempt.member);
    std::vector<std::int64_t> back = attempt.begin;
    for (std::int64_t& points : back) points = -points;
    move_windows(attempt.member, back, arena_);
    return true;
  }

  // Of a node whose access shall meet the other one at each point. What it only reads it has to
  // read wholly: part of it may be one neighbour of several, which are for a group behind.
  static std::vector<std::int64_t> first_point(const Group& group, const Touch& touch,
                                               const Access& access, bool is_write) {
    const Member& other = group.members[touch.member];
    const Window& theirs = window_of(other, touch);
    const auto shape = access.layout->shape(), strides = access.layout->strides();
    if (theirs.dtype != access.dtype || !std::ranges::equal(theirs.strides, strides)) return {};
    std::vector<std::size_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::ranges::sort(axes, std::greater{}, [&](std::size_t k) { return std::abs(strides[k]); });
    std::vector<std::int64_t> first(shape.size());
    std::int64_t rest = access.offset - theirs.offset;
    for (const std::size_t k : axes) {
      if (strides[k] == 0) return {};
      const std::int64_t half = std::abs(strides[k]) / 2;
      first[k] = (rest + (rest < 0 ? -half : half)) / strides[k];
      rest -= first[k] * strides[k];
      const std::int64_t end = first[k] + shape[k];
      if (!is_write && (first[k] > begin_of(other, k) || end < end_of(group, other, k))) return {};
      const std::int64_t hull =
          std::max(end, group.extents[k]) - std::min(first[k], std::int64_t{0});
      const std::int64_t border = hull - std::min(shape[k], group.extents[k]);
      if (border > widest_border || border * 2 > hull) return {};
    }
    if (rest != 0) return {};
    return first;
  }

  // Is no element at two points, where one member's box or the other's has them?
  bool meet_once(const Group& group, const Attempt& attempt, const Member& other,
                 const Window& window) const {
    if (attempt.begin.empty() && other.box.is_all()) return true;
    const auto space = domain(segment_.nodes[attempt.member.node]);
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, points
    bool same_box = true;
    for (std::size_t k = 0; k < space.size(); ++k) {
      const std::int64_t begin = attempt.begin.empty() ? 0 : attempt.begin[k];
      const std::int64_t from = begin_of(other, k), to = end_of(group, other, k);
      same_box &= begin == from && begin + space[k] == to;
      axes.emplace_back(std::abs(window.strides[k]),
                        std::max(begin + space[k], to) - std::min(begin, from));
    }
    std::ranges::sort(axes);
    std::int64_t reach = size_of(window.dtype);
    for (const auto& [stride, points] : axes) {
      if (same_box || points < 2) continue;
      if (stride < reach) return false;
      reach += stride * (points - 1);
    }
    return true;
  }

  // At most so many parts has the group's space with one more box.
  static std::int64_t parts_with(const Group& group, const std::vector<std::int64_t>& begin,
                                 std::span<const std::int64_t> space) {
    std::int64_t parts = 1;
    for (std::size_t k = 0; k < space.size(); ++k) {
      std::vector<std::int64_t> bounds{begin[k], begin[k] + space[k]};
      for (const Member& m : group.members) {
        bounds.push_back(begin_of(m, k));
        bounds.push_back(end_of(group, m, k));
      }
      std::ranges::sort(bounds);
      parts *= std::unique(bounds.begin(), bounds.end()) - bounds.begin() - 1;
    }
    return parts;
  }

  static std::int64_t begin_of(const Member& m, std::size_t axis) {
    return m.box.is_all() ? 0 : m.box.begin[axis];
  }
  static std::int64_t end_of(const Group& group, const Member& m, std::size_t axis) {
    return m.box.is_all() ? group.extents[axis] : m.box.end[axis];
  }

  // The group's space becomes the hull of what it was and of the new member's box.
  void take_box(Group& group, Attempt& attempt) {
    const auto space = domain(segment_.nodes[attempt.member.node]);
    std::vector<std::int64_t> origin, hull, begin(space.size()), end(space.size());
    for (std::size_t k = 0; k < space.size(); ++k) {
      origin.push_back(std::min(attempt.begin[k], std::int64_t{0}));
      hull.push_back(std::max(attempt.begin[k] + space[k], group.extents[k]) - origin[k]);
    }
    const auto place = [&](Member& m) {
      const bool is_all = end == hull && std::ranges::count(begin, 0) == std::ssize(begin);
      m.box = is_all ? Box{} : Box{kept(begin), kept(end)};
      move_windows(m, origin, arena_);
    };
    for (Member& m : group.members) {
      for (std::size_t k = 0; k < space.size(); ++k) {
        begin[k] = begin_of(m, k) - origin[k];
        end[k] = end_of(group, m, k) - origin[k];
      }
      place(m);
    }
    for (std::size_t k = 0; k < space.size(); ++k) {
      begin[k] = attempt.begin[k] - origin[k];
      end[k] = begin[k] + space[k];
    }
    place(attempt.member);
    group.extents = std::move(hull);
  }

  std::span<const std::int64_t> kept(const std::vector<std::int64_t>& numbers) {
    const std::span<std::int64_t> copy = new_strides(numbers.size());
    std::ranges::copy(numbers, copy.begin());
    return copy;
  }

  // Trees over real and over complex elements have other leaves.
  bool shares_leaves(const Group& group, const Node& node) const {
    const int mine = tree_class(node.op, node.signature.in[0]);
    return mine == 0 ||
           std::all_of(group.members.begin(), group.members.end(), [&](const Member& m) {
             const Node& other = segment_.nodes[m.node];
             if (m.level != Level::Reduce) return true;
             const int theirs = tree_class(other.op, other.signature.in[0]);
             return theirs == 0 || theirs == mine;
           });
  }

  // The group's space with its reduced axes gone, or of extent 1.
  static bool is_row_space(const Group& group, std::span<const std::int64_t> space) {
    const std::size_t rank = group.extents.size();
    if (space.size() == rank) {
      for (std::size_t k = 0; k < rank; ++k)
        if (space[k] != (group.reduced >> k & 1 ? 1 : group.extents[k])) return false;
      return true;
    }
    if (space.size() != rank - static_cast<std::size_t>(std::popcount(group.reduced))) return false;
    std::size_t j = 0;
    for (std::size_t k = 0; k < rank; ++k)
      if (!(group.reduced >> k & 1) && space[j++] != group.extents[k]) return false;
    return true;
  }

  std::span<std::int64_t> new_strides(std::size_t count) {
    void* place = arena_.allocate(count * sizeof(std::int64_t), alignof(std::int64_t));
    auto* first = static_cast<std::int64_t*>(place);
    std::uninitialized_fill_n(first, count, 0);
    return {first, count};
  }
  std::span<Window> new_windows(std::size_t count) {
    auto* first = static_cast<Window*>(arena_.allocate(count * sizeof(Window), alignof(Window)));
    std::uninitialized_default_construct_n(first, count);
    return {first, count};
  }

  Window make_window(const Access& a, const std::vector<std::int64_t>& extents,
                     std::uint64_t reduced) {
    Window w;
    w.dtype = a.dtype;
    w.offset = a.offset;
    if (!a.base) {
      w.slot = no_slot;
      return w;
    }
    w.slot = a.base->slot;
    const std::span<std::int64_t> own = new_strides(extents.size());
    const auto strides = a.layout->strides();
    const auto shape = a.layout->shape();
    if (strides.size() == extents.size()) {
      for (std::size_t k = 0; k < extents.size(); ++k)
        if (shape[k] > 1) own[k] = strides[k];
    } else {
      std::size_t j = 0;
      for (std::size_t k = 0; k < extents.size(); ++k)
        if (!(reduced >> k & 1)) own[k] = shape[j] > 1 ? strides[j] : 0, ++j;
    }
    w.strides = own;
    return w;
  }

  // The member's windows: mostly the same for all groups that are tried.
  void set_windows(const std::vector<std::int64_t>& extents, std::uint64_t reduced,
                   Member& member) {
    if (!windows_made_ || made_.reduced != reduced || made_.extents != extents) {
      made_.extents = extents;
      made_.reduced = reduced;
      const Node& node = segment_.nodes[member.node];
      node.kind == NodeKind::Routine ? make_routine_windows(node) : make_windows(node);
      windows_made_ = true;
    }
    member.out = made_.out;
    member.in = made_.in;
    member.outs = made_.outs;
  }

  void make_windows(const Node& node) {
    made_.out = make_window(node.out, made_.extents, made_.reduced);
    const std::span<Window> in = new_windows(static_cast<std::size_t>(node.inputs));
    for (std::size_t k = 0; k < in.size(); ++k)
      in[k] = make_window(node.in[k], made_.extents, made_.reduced);
    made_.in = in;
    made_.outs = {};
  }

  void make_routine_windows(const Node& node) {
    const CallSite& site = *node.site;
    const auto window_of = [&](const Access& a, std::int32_t number) {
      const RoutineAccess& access = site.routine->accesses[static_cast<std::size_t>(number)];
      Window w{
          .slot = a.base->slot, .offset = a.offset, .dtype = a.dtype, .strides = access.strides};
      if (!access.is_window) {
        w.strides = new_strides(made_.extents.size());
        w.whole = std::max<std::int64_t>(1, a.layout->size() * a.layout->item_size());
      }
      w.immediate =
          site.routine->immediate[static_cast<std::size_t>(access.instr->address.operand)];
      return w;
    };
    const std::span<Window> in = new_windows(site.inputs.size());
    const std::span<Window> outs = new_windows(site.outputs.size());
    for (std::size_t k = 0; k < in.size(); ++k)
      in[k] = window_of(site.inputs[k], site.routine->inputs[k].access);
    for (std::size_t k = 0; k < outs.size(); ++k)
      outs[k] = window_of(site.outputs[k], site.routine->outputs[k].access);
    made_.out = {};
    made_.in = in;
    made_.outs = outs;
  }

  // Every member's memory must run along the axes that an ordered reduction takes as one, unless it
  // is put in order in a buffer: then only along those that are cut into chunks.
  bool tree_holds(const Group& group, const Node& node, const Attempt& attempt) const {
    const bool buffered = attempt.takes_shape ? shape_->buffered : group.buffered;
    const std::vector<int>& chunked = attempt.takes_shape ? shape_->chunked : group.chunked;
    const std::vector<int>& tree = buffered              ? chunked
                                   : attempt.takes_shape ? shape_->tree
                                                         : group.tree;
    if (tree.size() < 2) return true;
    const bool ordered = group.ordered || (node.kind == NodeKind::Reduce &&
                                           is_ordered(node.op, node.signature.in[0]));
    if (!ordered) return true;
    if (group.keeps_axes || keeps_axes(node)) return false;
    const auto holds = [&](const Member& m) {
      if (m.level == Level::Full && m.out.slot != no_slot &&
          !merges_axes(m.out, tree, group.extents))
        return false;
      for (const Window& w : m.outs)
        if (!w.whole && !merges_axes(w, tree, group.extents)) return false;
      for (const Window& w : m.in)
        if (w.slot != no_slot && !w.whole && !merges_axes(w, tree, group.extents)) return false;
      return true;
    };
    if (!holds(attempt.member)) return false;
    if (group.ordered) return true;
    return std::all_of(group.members.begin(), group.members.end(), holds);
  }

  bool relations_hold(std::uint32_t g, const Group& group, Attempt& attempt) {
    Member& member = attempt.member;
    const Node& node = segment_.nodes[member.node];
    const GroupKind kind = attempt.takes_shape ? shape_->kind : group.kind;
    const auto check_access = [&](const Access& a, const Window& w, bool is_write) {
      for (const Touch& t : touches_[w.slot]) {
        if (t.group != g) continue;
        const Member& other = group.members[t.member];
        const Window& theirs = window_of(other, t);
        const bool same = same_window(w, theirs, group.extents);
        // Neighbouring windows of one base are in the cache together.
        if (!same && !is_write && !t.is_write()) attempt.shared += a.layout->item_size();
        if (same)
          attempt.shared += a.layout->size() * a.layout->item_size() * (t.is_write() ? 2 : 1);
        if (!is_write && !t.is_write()) continue;
        if (!same && !boxes_meet(a.offset, *a.layout, t.access->offset, *t.access->layout))
          continue;
        const bool after_reduction = other.level == Level::Reduce && t.is_write();
        if (kind != GroupKind::Rows &&
            (after_reduction || (member.level == Level::Reduce && is_write)))
          return false;
        if (same && !meet_once(group, attempt, other, w)) return false;
        if (!same) {
          if (!(is_write && !t.is_write())) return false;
          if (!can_shadow(group, attempt, w)) return false;
          continue;
        }
        // A loop that touches what a row step made, or read, comes after that row step.
        const bool made_behind =
            other.level == Level::Row || (other.level == Level::Reduce && t.is_write());
        const int behind = member.level != Level::Row && made_behind ? 1 : 0;
        member.phase = std::max(member.phase, other.phase + behind);
      }
      return true;
    };
    if (node.kind == NodeKind::Routine) {
      const CallSite& site = *node.site;
      // What goes to memory at once can't go to new memory.
      const auto is_shadowed = [&](const Window& w) {
        return w.immediate && std::find(group.shadowed.begin(), group.shadowed.end(), w.slot) !=
                                  group.shadowed.end();
      };
      if (std::any_of(member.in.begin(), member.in.end(), is_shadowed) ||
          std::any_of(member.outs.begin(), member.outs.end(), is_shadowed))
        return false;
      for (std::size_t k = 0; k < site.inputs.size(); ++k)
        if (!check_access(site.inputs[k], member.in[k], false)) return false;
      for (std::size_t k = 0; k < site.outputs.size(); ++k)
        if (!check_access(site.outputs[k], member.outs[k], true)) return false;
      return windows_[g].size() < most_windows;
    }
    for (std::size_t k = 0; k < member.in.size(); ++k)
      if (member.in[k].slot != no_slot && !check_access(node.in[k], member.in[k], false))
        return false;
    return check_access(node.out, member.out, true) && windows_[g].size() < most_windows;
  }

  static const Window& window_of(const Member& m, const Touch& t) {
    if (!t.is_write()) return m.in[static_cast<std::size_t>(t.input)];
    return m.outs.empty() ? m.out : m.outs[static_cast<std::size_t>(-1 - t.input)];
  }

  static bool keeps_axes(const Node& node) {
    return node.kind == NodeKind::Routine && node.site->routine->uses_index;
  }

  // Windows that are likely to be memory operands of the group's kernel.
  void count_window(std::uint32_t g, const Access& a) {
    if (windows_.size() <= g) windows_.resize(g + 1);
    const SlotState& slot = segment_.slots[a.base->slot];
    if (!slot.alive && !slot.has_data) return;
    const std::pair<std::uint32_t, std::int64_t> key{a.base->slot, a.offset};
    auto& seen = windows_[g];
    if (std::find(seen.begin(), seen.end(), key) == seen.end()) seen.push_back(key);
  }

  // May this in-place write go to new memory of its base?
  bool can_shadow(const Group& group, Attempt& attempt, const Window& w) {
    const Member& member = attempt.member;
    if (group.kind != GroupKind::Map || attempt.takes_shape || member.level != Level::Full ||
        w.whole || w.immediate || !attempt.begin.empty() || has_boxes(group))
      return false;
    const SlotState& slot = segment_.slots[w.slot];
    if (slot.pinned || !slot.has_data) return false;
    if (std::find(attempt.shadows.begin(), attempt.shadows.end(), w.slot) != attempt.shadows.end())
      return true;
    if (std::find(group.shadowed.begin(), group.shadowed.end(), w.slot) != group.shadowed.end())
      return true;
    // Nobody in the group has written this base, and the node itself reads it only where it writes.
    for (const Touch& t : touches_[w.slot])
      if (t.group == index_of(group) && t.is_write()) return false;
    for (const Window& in : member.in)
      if (in.slot == w.slot && !same_window(in, w, group.extents)) return false;
    std::int64_t written = size_of(w.dtype);
    for (std::int64_t e : group.extents) written *= e;
    if (written * 2 < slot.bytes) return false;
    Grid grid;
    if (!grid_of(w, group.extents, slot.bytes, grid)) return false;
    attempt.shadows.push_back(w.slot);
    return true;
  }

  std::uint32_t index_of(const Group& group) const {
    return static_cast<std::uint32_t>(&group - groups_.data());
  }

  static void take_shape(Group& group, ReductionShape shape) {
    group.kind = shape.kind;
    group.order = std::move(shape.order);
    group.tree = std::move(shape.tree);
    group.buffered = shape.buffered;
    group.chunk = shape.chunk;
    group.chunked = std::move(shape.chunked);
  }

  void join(std::uint32_t g, Attempt& attempt) {
    Group& group = groups_[g];
    const Node& node = segment_.nodes[attempt.member.node];
    if (attempt.takes_shape) {
      take_shape(group, std::move(*shape_));
      group.reduced = node.reduced;
    }
    if (node.kind == NodeKind::Reduce && is_ordered(node.op, node.signature.in[0]))
      group.ordered = true;
    group.keeps_axes |= keeps_axes(node);
    if (!attempt.begin.empty()) take_box(group, attempt);
    group.shadowed.insert(group.shadowed.end(), attempt.shadows.begin(), attempt.shadows.end());
    add(g, attempt.member);
  }

  void add(std::uint32_t g, const Member& member) {
    Group& group = groups_[g];
    const Node& node = segment_.nodes[member.node];
    const auto index = static_cast<std::uint32_t>(group.members.size());
    if (node.site) {
      std::int16_t number = 0;
      for (const Access& a : node.site->inputs)
        touches_[a.base->slot].push_back({g, index, number++, &a});
      number = -1;
      for (const Access& a : node.site->outputs)
        touches_[a.base->slot].push_back({g, index, number--, &a});
    } else {
      for (int k = 0; k < node.inputs; ++k)
        if (node.in[k].base)
          touches_[node.in[k].base->slot].push_back(
              {g, index, static_cast<std::int16_t>(k), &node.in[k]});
      touches_[node.out.base->slot].push_back({g, index, -1, &node.out});
    }
    for_each_access(node, [&](const Access& a, bool) { count_window(g, a); });
    group.members.push_back(member);
  }

  void open_group(std::uint32_t number) {
    const Node& node = segment_.nodes[number];
    Group group;
    group.why = groups_.empty() ? "" : why_ ? why_ : "a library call";
    Member member;
    member.node = number;
    if (node.kind == NodeKind::Call) {
      group.kind = GroupKind::Call;
    } else {
      const auto space = domain(node);
      group.extents.assign(space.begin(), space.end());
      if (node.kind == NodeKind::Reduce) {
        take_shape(group, shape_of(node));
        group.reduced = node.reduced;
        group.ordered = is_ordered(node.op, node.signature.in[0]);
        member.level = Level::Reduce;
      }
      group.in_order = node.kind == NodeKind::Routine && node.site->routine->in_order;
      group.keeps_axes = group.in_order || keeps_axes(node);
      set_windows(group.extents, group.reduced, member);
    }
    groups_.push_back(std::move(group));
    add(static_cast<std::uint32_t>(groups_.size() - 1), member);
  }

  const Segment& segment_;
  Arena& arena_;
  std::vector<Group> groups_;
  std::vector<std::vector<Touch>> touches_;  // by slot, in order
  // By group: slot and offset.
  std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> windows_;
  // Of the node that is placed:
  const char* why_ = nullptr;            // the first obstacle met
  std::optional<ReductionShape> shape_;  // of a reduction, once asked for
  struct {
    std::vector<std::int64_t> extents;
    std::uint64_t reduced = 0;
    Window out;
    std::span<const Window> in, outs;
  } made_;  // its windows over this space
  bool windows_made_ = false;
};

}  // namespace

std::vector<Group> fuse(const Segment& segment, const std::vector<bool>& needed, Arena& arena) {
  return Fuser(segment, arena).run(needed);
}

bool may_be_cut(const Segment& segment, const Group& group, const Node& with) {
  std::int64_t points = 1;
  for (std::int64_t e : group.extents) points *= e;
  bool is_checked = false, is_known = points <= most_replayed;
  const auto has_no_index = [&](const Node& node) {
    is_checked |= node.float_checks != 0;
    if (node.kind == NodeKind::Elementwise)
      return std::none_of(node.in, node.in + node.inputs,
                          [](const Access& a) { return !a.base && a.offset == iota_input; });
    is_known = false;
    if (node.kind != NodeKind::Routine) return false;
    const RoutineUse& use = *node.site->routine;
    return !use.in_order && !use.uses_index && use.lanes.empty() &&
           std::ranges::all_of(use.accesses,
                               [](const RoutineAccess& a) { return !a.instr || a.is_window; });
  };
  return has_no_index(with) &&
         std::ranges::all_of(
             group.members, [&](const Member& m) { return has_no_index(segment.nodes[m.node]); }) &&
         (!is_checked || is_known);
}

bool has_boxes(const Group& group) {
  return std::ranges::any_of(group.members, [](const Member& m) { return !m.box.is_all(); });
}

void move_windows(Member& member, std::span<const std::int64_t> points, Arena& arena) {
  const auto move = [&](Window& w) {
    for (std::size_t k = 0; k < w.strides.size(); ++k) w.offset += points[k] * w.strides[k];
  };
  const auto moved = [&](std::span<const Window> windows) {
    auto* first =
        static_cast<Window*>(arena.allocate(windows.size() * sizeof(Window), alignof(Window)));
    std::uninitialized_copy(windows.begin(), windows.end(), first);
    const std::span<Window> copies(first, windows.size());
    std::ranges::for_each(copies, move);
    return copies;
  };
  move(member.out);
  member.in = moved(member.in);
  member.outs = moved(member.outs);
}

bool has_lanes_inside(const Segment& segment, const Group& group) {
  if (group.kind != GroupKind::Map && (group.kind != GroupKind::Fold || group.buffered))
    return false;
  return std::any_of(group.members.begin(), group.members.end(), [&](const Member& m) {
    const Node& node = segment.nodes[m.node];
    return node.kind == NodeKind::Routine && !node.site->routine->lanes.empty();
  });
}

bool grid_of(const Window& window, const std::vector<std::int64_t>& extents,
             std::int64_t base_bytes, Grid& grid) {
  grid = {};
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, count; by falling stride
  for (std::size_t k = 0; k < extents.size(); ++k)
    if (extents[k] > 1) axes.emplace_back(window.strides[k], extents[k]);
  std::sort(axes.rbegin(), axes.rend());
  const std::int64_t item = size_of(window.dtype);
  // A last grid axis of single elements, where the window takes one of each row.
  if (axes.empty() || axes.back().first != item) axes.emplace_back(item, 1);
  std::int64_t above = base_bytes, rest = window.offset;
  for (const auto& [stride, count] : axes) {
    if (stride < item || above % stride != 0) return false;
    grid.extents.push_back(above / stride);
    grid.starts.push_back(rest / stride);
    grid.counts.push_back(count);
    if (grid.starts.back() + count > grid.extents.back()) return false;
    rest %= stride;
    above = stride;
  }
  return rest == 0;
}

}  // namespace frit
