// schedule.h: from a segment of the trace to a Plan: which launches, in what order, on what.
//
// The passes, in order: fuse (nodes -> groups, by dependence and bytes), sink (steps move to the
// group that reads them), lower (group -> Kernel and its bindings), and the assembly into a Plan.
//
// A plan depends on: ops, dtypes, layouts and offsets of all accesses, which bases are alive, and
// nothing else. Base memory and scalar values are bound when it runs, so one plan serves every
// repetition of the segment.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ir/trace.h"
#include "schedule/surroundings.h"

namespace frit {

// What the planner knows of the base with number `slot` in this segment.
struct SlotState {
  std::int64_t bytes = 0;
  bool alive = false;     // somebody can see it after the segment, and it is to be stored
  bool has_data = false;  // it holds values from before the segment
  bool pinned = false;    // exported or foreign: its memory may not move
  // Memory of the segment alone.
  bool is_temporary() const { return !alive && !has_data && !pinned; }
};
inline SlotState state_of(const Base& base) {
  const bool varies = !base.data && base.extra && base.extra->most_bytes != 0;
  return {.bytes = varies ? base.extra->most_bytes : base.bytes,
          .alive = (base.handles > 0 || base.is_kept) && !base.is_postponed,
          .has_data = base.data != nullptr,
          .pinned = base.exports > 0 || base.foreign};
}

struct Segment {
  std::span<const Node> nodes;  // every base's `slot` is its index in `slots`
  std::span<const SlotState> slots;
  bool fuses = true;        // false: only a kernel and its own reductions run together
  bool for_device = false;  // which has far more threads than the host
  int threads = 1;  // that launches may be cut for: what is theirs follows, no element's value
  std::int64_t sweep_shift = 0;  // of sweeps, whatever they gain; 0: as they pay
};

// Memory of one kernel operand. Slots from Segment::slots.size() on are the plan's own temporaries.
struct Binding {
  enum class Kind : std::uint8_t { Slot, Shadow, Table, Scratch };
  Kind kind = Kind::Slot;
  std::uint32_t slot = 0;   // Table: index in Plan::tables
  std::int64_t offset = 0;  // bytes
};

struct ScalarBinding {
  std::uint32_t node = 0;
  std::uint16_t constant = 0;  // Routine: number of its scalar
};

enum class StepKind : std::uint8_t {
  Launch,   // run a kernel
  Combine,  // fold the partial results of a launch into one element
  Call,     // an opaque node
};

enum class Pace : std::uint8_t {
  Lanes,     // many points at a time
  OneByOne,  // points of a user's kernel that depend on one another: the interpreter crawls
};

// What an iteration of a launch touches of an operand: bytes [low, high) from the operand's start,
// `stride` further on for each iteration.
struct Reach {
  bool known = false;
  std::int64_t stride = 0, low = 0, high = 0;
};

inline double memory_cost(std::int64_t bytes) { return 0.04 * static_cast<double>(bytes); }  // ns

struct LaunchStep {
  std::shared_ptr<const Kernel> kernel;
  std::vector<Binding> operands;
  std::vector<std::int64_t> integers;
  std::vector<ScalarBinding> scalars;
  std::vector<Reach> reach;  // one an operand; none: nothing is known
  std::int64_t extent = 0;   // of the parallel loop
  std::int64_t granule = 1;  // parts are multiples of this many iterations
  std::int64_t scratch_bytes = 0;
  std::int64_t elements = 0;  // innermost iterations in all
  std::int64_t bytes = 0;     // memory traffic
  double cost = 0;            // estimated nanoseconds on one core, compiled
  double memory_cost() const { return frit::memory_cost(bytes); }  // of that
  Pace pace = Pace::Lanes;
  // In-place updates whose neighbours are still read: the base gets new memory. Its part outside
  // the written window is copied first; afterwards the shadow becomes the base's memory.
  struct Shadow {
    std::uint32_t slot;
    Surroundings border;
  };
  std::vector<Shadow> shadows;
};

struct CombineStep {
  Op op{};
  DType dtype{};
  DType out_dtype{};
  std::uint32_t partials = 0;  // slot
  std::int64_t count = 0;
  // > 0: the partials are leaves of the pairwise tree over this many elements, cut where at most
  // tree_grain are left.
  std::int64_t tree_extent = 0;
  std::int64_t tree_grain = 0;
  ScalarBinding initial;
  Binding out;
};

struct Step {
  StepKind kind = StepKind::Launch;
  std::uint32_t group = 0;  // index in Plan::groups
  std::uint32_t node = 0;   // Call
  LaunchStep launch;
  CombineStep combine;
  std::vector<std::uint32_t> allocate;    // slots that get memory before this step,
  std::vector<std::uint32_t> deallocate;  // and slots that nobody needs after it
};

struct GroupSummary {
  std::vector<std::uint32_t> nodes;
  std::string why;               // why it is not part of the group before it
  std::int64_t bytes_moved = 0;  // memory traffic of its launch
  // Of a kernel whose points depend on one another: how many parts it has (1: in order); else 0.
  std::int64_t parts = 0;
};

// Launches that follow one another and go over the rows of their arrays together, each some rows
// behind the one before (plan_sweep.h). They write memory of the sweep's own alone, its blocks:
// what was there before stays as it is until all is done, so that the same steps can run in order
// instead.
struct PlanSweep {
  static constexpr std::int32_t initial = -1;  // no block: a slot's memory from before the sweep
  // A launch; or, without a kernel, a copy of rows.
  struct Item {
    std::uint32_t step = 0;
    std::shared_ptr<const Kernel> kernel;  // the step's, which leaves its stores in the caches
    std::vector<std::int32_t> blocks;      // one an operand; of a copy: where from, where to
    std::uint32_t slot = 0;                // of a copy
    Surroundings copied;
    std::int64_t begin = 0, rows = 0;  // its rows, by the sweep's count,
    std::int64_t per_row = 1;          // and how many iterations each has
    std::int64_t shift = 0;            // how many rows it is behind
  };
  // What a step leaves for new memory; whole: no later step of the sweep writes over it.
  struct Left {
    std::uint32_t group, slot;
    std::int32_t block;
    bool whole = true;
  };
  struct Result {
    std::uint32_t slot;
    std::int32_t block;
  };
  std::uint32_t first = 0, behind = 0;  // steps, of whole groups
  std::vector<Item> items;
  std::vector<std::int64_t> blocks;  // bytes
  std::vector<Left> left;
  std::vector<Result> results;      // whose memory is a block afterwards
  std::vector<std::uint32_t> gone;  // slots that nobody needs afterwards
  std::int64_t turn = 1, parts = 1;
  std::int64_t bytes_saved = 0;  // of the traffic that the launches have one by one
};

struct Plan {
  std::vector<Step> steps;
  std::vector<PlanSweep> sweeps;  // in order
  bool may_sweep = false;  // some launches could go together, whether or not these gain by it
  std::vector<std::int64_t> temporaries;  // bytes of each of the plan's own slots
  std::vector<std::vector<std::int64_t>> tables;
  std::vector<GroupSummary> groups;
  std::vector<std::uint32_t> unneeded;  // nodes whose results nobody can see: not run
  std::int64_t bytes_moved = 0;         // by all launches
  std::int64_t bytes_least = 0;         // each base read once and written once
  std::int64_t contracted = 0;          // bases that got no memory
  std::int64_t most_temporary = 0;      // bytes of what comes and goes with the plan, at a time
};

std::shared_ptr<const Plan> make_plan(const Segment& segment);

// Which nodes must run: somebody sees what they write, or one that must run reads it.
std::vector<bool> needed_nodes(const Segment& segment);

}  // namespace frit
