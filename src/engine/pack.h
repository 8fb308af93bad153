// pack.h: copies between strided windows and dense memory; the walk over a window's rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "ir/layout.h"

namespace frit {

// The elements of a window, dense in C order; and back.
void pack(std::byte* dense, const std::byte* data, const Layout& layout);
void unpack(std::byte* data, const Layout& layout, const std::byte* dense);

// Elements of `item` bytes from one window to another of the same shape, none of whose extents is
// 0. The two share no memory.
struct Strided {
  std::byte* data;  // the first element
  std::span<const std::int64_t> strides;
};
void copy_elements(Strided to, Strided from, std::span<const std::int64_t> shape, int item);

// Calls visit() for each row along the last axis, in C order, and move(axis, steps) on the way to
// the next one. No extent is 0.
template <class Visit, class Move>
void walk_rows(std::span<const std::int64_t> shape, Visit&& visit, Move&& move) {
  std::int64_t index[max_dimensions];
  std::fill_n(index, shape.size(), 0);
  for (;;) {
    visit();
    std::size_t axis = shape.size() - 1;
    for (;;) {
      if (axis == 0) return;
      --axis;
      move(axis, 1);
      if (++index[axis] < shape[axis]) break;
      move(axis, -shape[axis]);
      index[axis] = 0;
    }
  }
}

}  // namespace frit
