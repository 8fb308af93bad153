// fuse.h: In: a segment's nodes. Out: groups of nodes, in order; each becomes one launch.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace frit {

// Where the windows of a plan in the making lie, until it is made.
using Arena = std::pmr::monotonic_buffer_resource;

// A window over a group's iteration space: one stride an axis of the group.
struct Window {
  std::uint32_t slot = UINT32_MAX;
  std::int64_t offset = 0;
  DType dtype{};
  std::span<const std::int64_t> strides = {};
  // Of a user's kernel only. Whole: not a window, but any element of an array, of `whole` bytes.
  // Immediate: written (and read back) in memory, under the kernel's own conditions.
  std::int64_t whole = 0;
  bool immediate = false;
};

enum class Level : std::uint8_t {
  Full,    // runs at every point of the group's space
  Row,     // runs once for each point of the axes that are not reduced
  Reduce,  // reads at every point, gives one value a row
};

// The points of a group's space where a member runs; empty: all.
struct Box {
  std::span<const std::int64_t> begin = {}, end = {};
  bool is_all() const { return begin.empty(); }
};

struct Member {
  std::uint32_t node = 0;
  Level level = Level::Full;
  // A group's rows are worked off in phases: loop 0, row 0, loop 1, row 1, ..: a Full member or
  // Reduce runs in the loop of its phase, a Row member behind it.
  int phase = 0;
  Box box;
  Window out;                    // Routine: none
  std::span<const Window> in;    // one an input; scalars have slot no_slot
  std::span<const Window> outs;  // Routine: one an output
};
inline constexpr std::uint32_t no_slot = UINT32_MAX;

enum class GroupKind : std::uint8_t {
  Map,      // elementwise
  Rows,     // reductions along the innermost axes, and what feeds and uses them row by row
  Columns,  // reductions along outer axes: the innermost axis stays
  Fold,     // reductions over everything
  Call,
};

struct Group {
  GroupKind kind = GroupKind::Map;
  std::vector<std::int64_t> extents;
  std::uint64_t reduced = 0;  // bit k: axis k is reduced (Rows, Columns, Fold)
  // Rows, Columns, Fold: axes in NumPy's order for the reduction, outermost first, without extent
  // 1.
  std::vector<int> order;
  std::vector<int> tree;  // those at its end that NumPy runs as one inner loop
  bool buffered = false;  // from a buffer, this much at a time (see ReductionShape)
  std::int64_t chunk = 0;
  std::vector<int> chunked;
  bool ordered = false;     // a reduction's order matters (float Add, float Multiply)
  bool in_order = false;    // a Map whose points run one after another: a user's kernel of its own
  bool keeps_axes = false;  // somebody uses the axes' indices: none may be merged
  std::vector<Member> members;
  std::vector<std::uint32_t> shadowed;  // slots written to a shadow
  std::string why;
};

// Whether lanes are the iterations of loops that the group's kernels have inside: then no axis of
// its space is one of lanes.
bool has_lanes_inside(const Segment& segment, const Group& group);

// Nodes with needed[k] == false are left out. The groups' windows lie in `arena`.
std::vector<Group> fuse(const Segment& segment, const std::vector<bool>& needed, Arena& arena);

// May the group run in several launches, each over a part of its space, with one more node?
bool may_be_cut(const Segment& segment, const Group& group, const Node& with);
// A group of more elements is not replayed as a whole, to find out which step raised a flag.
inline constexpr std::int64_t most_replayed = 1 << 24;

// Do some of its members run in a part of its space?
bool has_boxes(const Group& group);

// The same windows, `points` further along each axis of the group's space.
void move_windows(Member& member, std::span<const std::int64_t> points, Arena& arena);

// The regular grid that a base's memory is under this window: extents and starts an axis, if the
// window is a box in it.
struct Grid {
  std::vector<std::int64_t> extents, starts, counts;
};
bool grid_of(const Window& window, const std::vector<std::int64_t>& extents,
             std::int64_t base_bytes, Grid& grid);

}  // namespace frit
