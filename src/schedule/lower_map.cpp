// lower_map.cpp: lowers a Map: elementwise members over one loop nest, or one point after another.
#include "schedule/lower_body.h"

namespace frit {
namespace {

class MapBody final : public Body {
 public:
  explicit MapBody(const Lowering& lowering) : Body(lowering) {}

  void lower() {
    if (group_.in_order) return in_order();
    if (group_.extents.empty()) return single();
    std::vector<Axis> axes = merge(natural_order());
    if (axes.empty()) axes.push_back({.members = {0}, .extent = 1});
    allow_streaming();
    const std::size_t lanes = lanes_inside_ ? axes.size() : vector_axis(axes);
    axes[0].lanes = lanes == 0;
    axes[0].index = writer_.open_parallel(axes[0].lanes);
    step_.extent = axes[0].extent;
    if (axes[0].lanes) step_.granule = axes.size() == 1 ? 512 : 64;
    nest_.push_back(&axes[0]);
    for (std::size_t k = 1; k < axes.size(); ++k) open(axes[k], k == lanes);
    run_loop_members(0);
    flush(full_);
    for (std::size_t k = 1; k < axes.size(); ++k) close();
    close_flat();
    note_reach(axes);
    finish_launch();
  }

 private:
  // Points that depend on one another: one part, the axes as they were given.
  void in_order() {
    std::vector<Axis> axes;
    for (int k = 0; k < static_cast<int>(group_.extents.size()); ++k)
      if (extent_of(k) > 1) axes.push_back({.members = {k}, .extent = extent_of(k)});
    writer_.open_parallel(false);
    step_.extent = 1;
    step_.pace = Pace::OneByOne;
    for (Axis& axis : axes) open(axis, false);
    run_loop_members(0);
    flush(full_);
    for (std::size_t k = 0; k < axes.size(); ++k) close();
    close_flat();
    finish_launch();
  }

  // A space of no axes: one point.
  void single() {
    writer_.open_parallel(false);
    step_.extent = 1;
    step_.pace = Pace::OneByOne;
    run_loop_members(0);
    flush(full_);
    close_flat();
    note_reach({});
    finish_launch();
  }
};

}  // namespace

void lower_map(const Lowering& lowering) {
  if (lowering.group.in_order && lower_updates(lowering)) return;
  MapBody(lowering).lower();
}

}  // namespace frit
