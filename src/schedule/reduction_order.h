// reduction_order.h: in what order NumPy reduces an array of this layout.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/layout.h"
#include "schedule/fuse.h"

namespace frit {

// NumPy's order of axes for a reduction of this layout: by falling stride, extent-1 axes dropped.
std::vector<int> reduction_order(const Layout& layout);

// What NumPy's iterator makes of a reduction (nditer_constr.c: npyiter_find_buffering_setup).
struct ReductionShape {
  GroupKind kind{};
  std::vector<int> order;  // all axes, outermost first
  // The axes at the end of `order` that one inner loop takes as one: the pairwise tree goes over
  // these. Either the elements lie in memory so, or (`buffered`) NumPy copies them to a buffer
  // first.
  std::vector<int> tree;
  bool buffered = false;
  // Of a buffered tree that is longer than the buffer: this many elements make a tree, and the
  // trees' sums are added one after another. A multiple of the elements that one index of the
  // `chunked` axes (tree's first ones) stands for. 0: all
  std::int64_t chunk = 0;
  std::vector<int> chunked;
};

// `converts`: the elements are of another type than the reduction.
ReductionShape shape_of_reduction(const Layout& input, std::uint64_t reduced, bool converts);

}  // namespace frit
