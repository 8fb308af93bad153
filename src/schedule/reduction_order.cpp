// reduction_order.cpp: where NumPy copies elements to a buffer before it reduces them.
#include "schedule/reduction_order.h"

#include <algorithm>

namespace frit {
namespace {

constexpr std::int64_t buffer_elements = 8192;

// Neighbouring axes that one stride runs over.
struct Run {
  std::vector<int> axes;  // outermost first
  std::int64_t extent = 1;
};

// The reduced axes at the end of the order as runs, the innermost run first.
std::vector<Run> inner_runs(const Layout& input, std::uint64_t reduced,
                            const std::vector<int>& order) {
  const auto extents = input.shape(), strides = input.strides();
  std::vector<Run> runs;
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[k]);
    if (!(reduced >> axis & 1)) break;
    const bool joins = !runs.empty() && [&] {
      const auto inner = static_cast<std::size_t>(runs.back().axes.front());
      return strides[axis] == strides[inner] * extents[inner];
    }();
    if (!joins) runs.emplace_back();
    runs.back().axes.insert(runs.back().axes.begin(), order[k]);
    runs.back().extent *= extents[axis];
  }
  return runs;
}

}  // namespace

std::vector<int> reduction_order(const Layout& layout) {
  std::int64_t strides[max_dimensions];
  const int ndim = layout.ndim();
  for (int k = 0; k < ndim; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    strides[axis] = layout.shape()[axis] == 1 ? 0 : layout.strides()[axis];
  }
  const std::span<const std::int64_t> operand{strides, static_cast<std::size_t>(ndim)};
  int order[max_dimensions];
  iteration_order({&operand, 1}, ndim, order);
  std::vector<int> result;
  for (int k = 0; k < ndim; ++k)
    if (layout.shape()[static_cast<std::size_t>(order[k])] != 1) result.push_back(order[k]);
  return result;
}

ReductionShape shape_of_reduction(const Layout& input, std::uint64_t reduced, bool converts) {
  ReductionShape shape;
  shape.order = reduction_order(input);
  std::int64_t kept = 1;
  for (int axis : shape.order)
    if (!(reduced >> axis & 1)) kept *= input.shape()[static_cast<std::size_t>(axis)];
  const bool inner_is_reduced = shape.order.empty() || (reduced >> shape.order.back() & 1);
  shape.kind = kept == 1          ? GroupKind::Fold
               : inner_is_reduced ? GroupKind::Rows
                                  : GroupKind::Columns;
  if (shape.kind == GroupKind::Columns || shape.order.empty()) return shape;
  const std::vector<Run> runs = inner_runs(input, reduced, shape.order);
  // How many runs are buffered together: NumPy weighs the copy against calls of the inner loop.
  std::size_t count = 1;
  std::int64_t core = 1, size = runs[0].extent;
  if (runs.size() > 1) {
    const std::int64_t both = std::min(size * runs[1].extent, buffer_elements);
    shape.buffered = !converts && 2 * size <= both;
  }
  if (converts || shape.buffered)
    while (count < runs.size() && size < buffer_elements) {
      core = size;
      size *= runs[count++].extent;
    }
  for (std::size_t k = count; k-- > 0;)
    shape.tree.insert(shape.tree.end(), runs[k].axes.begin(), runs[k].axes.end());
  shape.buffered |= converts && (count > 1 || size > buffer_elements);
  if (shape.buffered && size > buffer_elements) {
    shape.chunk = core * (buffer_elements / core);
    shape.chunked = runs[count - 1].axes;
  }
  return shape;
}

}  // namespace frit
