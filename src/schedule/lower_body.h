// lower_body.h: what the lowerings of all kinds of groups share: a Kernel in the making.
//
// Each kind has a file of its own (lower_map.cpp, lower_rows.cpp, ..) with a class that opens the
// loops and runs the members inside them. Body knows how a member is run: it keeps the values of
// windows in registers, loads what is not there, and stores what was written when it is told to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/kernel_writer.h"
#include "schedule/fuse.h"
#include "schedule/lower.h"
#include "schedule/lower_routine.h"

namespace frit {

struct Lowering {
  const Segment& segment;
  const Group& group;
  std::span<const SlotUse> uses;
  Plan& plan;
};
void lower_map(const Lowering& lowering);
// A Map whose members run in parts of its space: a launch for each set of them.
void lower_boxes(const Lowering& lowering);
// Of a kernel whose points have nothing in common but updates: in parts. False: better in order.
bool lower_updates(const Lowering& lowering);
void lower_rows(const Lowering& lowering);
void lower_columns(const Lowering& lowering);
void lower_fold(const Lowering& lowering);

// A shorter innermost loop is not the one for vectors.
inline constexpr std::int64_t shortest_vector = 16;

// Axes of the group's space that are walked as one.
struct Axis {
  std::vector<int> members;  // outermost first
  std::int64_t extent = 1;
  int inner() const { return members.back(); }
  // While a kernel is written:
  ValueId index = no_value;
  bool lanes = false;  // the vector loop's own index
};

// The axis for vectors: the innermost one that is long enough, else the longest. Those behind it
// are walked inside the vector loop, so that memory is still met in its order.
std::size_t vector_axis(const std::vector<Axis>& axes);

class Body : public RoutineHost {
 protected:
  explicit Body(const Lowering& lowering);

  // ---- windows and axes -------------------------------------------------------------------------

  const Node& node_of(const Member& m) const { return segment_.nodes[m.node]; }
  bool stored(std::uint32_t slot) const { return uses_[slot].stored; }
  bool same(const Window& a, const Window& b) const;
  std::int64_t extent_of(int axis) const { return group_.extents[static_cast<std::size_t>(axis)]; }
  int last_phase() const;
  // Joins neighbours that all memory windows step through as one.
  std::vector<Axis> merge(const std::vector<int>& axes) const;
  std::vector<int> natural_order() const;

  // ---- arguments --------------------------------------------------------------------------------

  std::int32_t add_integer(std::int64_t value);
  ValueId integer_value(std::int64_t value) { return writer_.integer_value(add_integer(value)); }
  std::int32_t add_operand(DType dtype, MemoryAccess access, Binding binding);
  std::int32_t scratch(DType dtype, std::int64_t elements);
  ValueId scalar(const Member& m, int constant);
  std::uint32_t new_temporary(std::int64_t bytes);
  // Where a slot's memory is while the launch runs: an operand's start, and terms before the
  // window's own.
  virtual Binding place_of(std::uint32_t slot, std::int64_t offset) const;
  virtual std::vector<Term> terms_of(std::uint32_t slot) const;
  Address address(const Window& w, MemoryAccess access);

  // ---- values of windows ------------------------------------------------------------------------

  struct Current {
    const Window* window;
    ValueId value;
    bool written;  // not yet in memory
  };
  // A row of a window in scratch memory, from one pass over the row to the next.
  struct Kept {
    const Window* window;
    std::int32_t operand;
    std::vector<std::int32_t> strides;  // one an inner axis
  };

  void set(std::vector<Current>& values, const Window& w, ValueId value);
  ValueId resolve(const Member& m, int input);
  ValueId compute(const Member& m);
  void add_cost(Op op);
  // What was added so far is of so many points.
  void share_cost(std::int64_t points) { cost_ /= static_cast<double>(points); }
  // A Full member at the current point.
  void run_member(const Member& m);
  void run_loop_members(int phase);
  // Stores what a loop body or row step has written and somebody needs.
  void flush(std::vector<Current>& values);
  Address kept_address(const Kept& row) const;

  // ---- loops ------------------------------------------------------------------------------------

  std::int32_t extent_argument(const Axis& axis) { return add_integer(axis.extent); }
  void open(Axis& axis, bool vector);
  void close(std::vector<Reduction> reductions = {});
  // Parts over the outer axes and lanes along another one; without outer axes its lanes are what
  // is cut, at multiples of `granule`.
  void open_lanes(std::vector<Axis>& outer, Axis& lanes, std::int64_t granule);
  void close_lanes(const std::vector<Axis>& outer);
  // One parallel loop over several axes: their indices by division.
  void open_flat(std::vector<Axis>& axes);
  void close_flat();

  // ---- the launch (lower_launch.cpp) ------------------------------------------------------------

  struct Traffic {
    std::int64_t moved = 0;    // bytes: each memory window once
    std::int64_t touched = 0;  // each byte of memory once
  };
  const Traffic& traffic();
  // Stores that bypass the caches pay where a launch touches more than they hold.
  void allow_streaming() { may_stream_ = true; }
  // What other passes over a row are to read is stored where they find it.
  void note_pass(bool is_last) { is_last_pass_ = is_last; }
  void finish_launch();
  // Of a launch whose loops are one an axis: what each iteration of the first one touches.
  void note_reach(const std::vector<Axis>& axes);
  // Of a launch that is not the group's own space: `cost` nanoseconds an element.
  void finish_launch_of(std::int64_t elements, std::int64_t bytes, double cost);

  const Segment& segment_;
  const Group& group_;
  // Lanes are the iterations of loops that the members have inside; no axis is one of lanes.
  const bool lanes_inside_;
  std::span<const SlotUse> uses_;
  Plan& plan_;
  KernelWriter writer_;
  LaunchStep step_;
  std::vector<const Axis*> nest_;     // the axes of the loops that are open
  std::vector<Current> full_, rows_;  // values of windows: in the loop body, in the row
  std::vector<Kept> kept_;

 private:
  struct StrideArgument {
    const Axis* axis;
    const Window* window;
    std::int32_t number;
  };
  struct Bound {
    const Window* window;
    bool shadow;
    std::int32_t operand;
  };
  struct Own {
    std::uint32_t slot;
    std::int64_t offset;  // in scratch memory
  };
  struct WholeOperand {
    std::uint32_t slot;
    std::int64_t offset;
    DType dtype;
    std::int32_t operand;
  };

  bool in_memory(std::uint32_t slot) const;
  bool shadowed(std::uint32_t slot) const;
  bool streams(const Window& w);
  bool is_fetched_ahead(const Window& w);
  bool is_row_window(const Window& w) const;
  std::int32_t operand_of(const Window& w, MemoryAccess access);
  std::int32_t stride_argument(const Window& w, const Axis& axis);
  const Current* find(const std::vector<Current>& values, const Window& w) const;
  const Kept* find_kept(const Window& w) const;
  ValueId value_of(const Window& w);
  std::int32_t own_operand(DType dtype, std::uint32_t slot, std::int64_t offset);
  void fill_own_memory(const Member& m);
  std::int32_t whole_operand(const Window& w, std::int64_t offset, MemoryAccess access);
  Surroundings border_of(std::uint32_t slot) const;

  // ---- what a routine asks for ------------------------------------------------------------------

  KernelWriter& writer() override { return writer_; }
  ValueId axis_index(std::int32_t axis) override;
  std::uint64_t lane_axes() const override;
  ValueId routine_scalar(std::int32_t number) override;
  std::int32_t new_integer(std::int64_t value) override { return add_integer(value); }
  ValueId read(const Window& w) override { return value_of(w); }
  ValueId register_of(const Window& w) override;
  void write(const Window& w, ValueId value) override { set(full_, w, value); }
  bool is_owed(const Window& w) const override;
  void note(const Window& w, ValueId value) override;
  void settle(const Window& w) override;
  bool is_own(const Window& w) const override;
  Address window_address(const Window& w, MemoryAccess access) override {
    return address(w, access);
  }
  Address whole_address(const Window& w, std::int64_t offset, MemoryAccess access) override;

  double cost_ = 0;  // of one point, in nanoseconds
  std::optional<Traffic> traffic_;
  bool may_stream_ = false, is_last_pass_ = false;
  std::vector<std::uint32_t> loaded_;  // slots that Loads written so far read
  std::vector<const Window*> memory_;
  std::vector<Bound> bound_;
  std::vector<StrideArgument> stride_arguments_;
  std::vector<WholeOperand> whole_;
  std::vector<Own> own_;
  const Member* routine_ = nullptr;  // the one being lowered
};

}  // namespace frit
