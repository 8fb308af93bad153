// routine_use.h: a Routine with extents, layouts and integers, and what follows for its memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ir/routine.h"
#include "ir/routine_forms.h"

namespace frit {

struct RoutineParameter {
  std::int32_t base = 0;  // equal numbers: the same memory
  LayoutRef layout;
  std::int64_t offset = 0;  // bytes
};

// One Load or Store of the body; Instr::number is its number.
struct RoutineAccess {
  const Instr* instr = nullptr;
  // Every index is a sum of axes: over the axes, the elements are a window, and each point touches
  // its own element of it.
  bool is_window = false;
  bool at_top = false;  // in the outermost block: every point comes here once
  // Its memory may be touched at every point, wherever the instruction stands.
  bool always_inside = false;
  std::int64_t offset = 0;                                   // bytes, from the base's first byte
  std::vector<std::pair<ValueId, std::int64_t>> terms = {};  // value and its bytes a unit
  std::vector<std::int64_t> strides = {};                    // of the window, bytes an axis
};

// In axes_of: it differs between the lanes of a loop of the body.
inline constexpr std::uint64_t lane_bit = std::uint64_t{1} << 63;

// Shared by all nodes that use the routine in this way; their memory and scalars are their own.
struct RoutineUse {
  std::uint64_t id = 0;  // never used twice: equal ids, equal uses
  // analyse() cuts its loops where that makes sums of indices, and adds integers for that.
  std::shared_ptr<const Routine> routine;
  LayoutRef domain;  // its shape: the extents of the parallel axes
  std::vector<RoutineParameter> parameters;
  std::vector<std::int64_t> integers;

  // ---- found by analyse() ----
  std::vector<RoutineAccess> accesses;
  // Values that something other than an address of its own sum depends on.
  std::vector<bool> needed;
  std::vector<std::uint64_t> axes_of;  // by value: the axes along which it differs, and lane_bit
  // By parameter: stores go to memory at once, in the order of the body.
  std::vector<bool> immediate;
  // Points depend on one another: they run one after another, the last axis fastest.
  bool in_order = false;
  // in_order for nothing but updates `array[e] = op(array[e], v)` whose values nobody else sees:
  // points may run in parts, each with an array of its own that starts from what changes nothing;
  // then array = op(array, part's). For integers, and for extremes of floats, any order gives the
  // same. For sums and products of floats the parts are an order of their own: they must follow
  // from nothing but this use. Minimum of floats is `y < x ? y : x` here, Maximum `x < y ? y : x`,
  // x what was there before.
  struct Update {
    std::int32_t parameter = -1;
    Op op{};
    bool operator==(const Update&) const = default;
  };
  std::vector<Update> updates;
  bool uses_index = false;  // the axes must stay as they are
  // Loops of the body (by their results) whose iterations are independent, and which are better
  // lanes than the points are. Empty: there are none.
  std::vector<bool> lanes;
  double cost = 0;  // estimated operations a point
  // One access (by number) for each different window, and one for each parameter that is touched in
  // another way.
  struct Touched {
    std::int32_t access;
    LayoutRef layout;  // a window's: over the domain; else its parameter's
  };
  std::vector<Touched> inputs, outputs;
};

void analyse(RoutineUse& use);

// ---- bounds -------------------------------------------------------------------------------------

struct BoundsQuestion {
  const Routine& routine;
  std::span<const std::int64_t> extents, integers;
  std::span<const std::span<const std::int64_t>> shapes;  // of the parameters
  // The smallest and largest element of an integer parameter.
  std::function<std::optional<Range>(std::int32_t parameter)> contents;
  // What a message calls an access; none: by its parameter's number.
  std::function<std::string(const Instr& access)> place = {};
};
// For each access (by Instr::number) and axis of its parameter: can the index leave the axis?
// Throws IndexError where it certainly does.
enum class InBounds : std::uint8_t {
  Always,       // at every point of the axes, whatever the conditions around it
  WhenReached,  // because of the conditions around it
  Unknown,
};
std::vector<std::vector<InBounds>> check_bounds(const BoundsQuestion& question);

}  // namespace frit
