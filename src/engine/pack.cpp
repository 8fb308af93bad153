// pack.cpp: row by row, with one typed loop an element size.
#include "engine/pack.h"

#include <cstring>

namespace frit {
namespace {

// Visits the rows of a window in C order: visit(first byte, extent, stride).
template <class Visit>
void for_each_row(std::byte* data, const Layout& layout, Visit&& visit) {
  if (layout.size() == 0) return;
  if (layout.ndim() == 0) return visit(data, 1, 0);
  const auto shape = layout.shape(), strides = layout.strides();
  walk_rows(
      shape, [&] { visit(data, shape.back(), strides.back()); },
      [&](std::size_t axis, std::int64_t steps) { data += steps * strides[axis]; });
}

template <class Unit>
void copy_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
              std::int64_t from_stride, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    Unit unit;
    std::memcpy(&unit, from + k * from_stride, sizeof unit);
    std::memcpy(to + k * to_stride, &unit, sizeof unit);
  }
}

struct Pair {
  std::uint64_t parts[2];
};

void copy_items(std::byte* to, std::int64_t to_stride, const std::byte* from,
                std::int64_t from_stride, std::int64_t n, int item) {
  if (to_stride == item && from_stride == item) {
    std::memcpy(to, from, static_cast<std::size_t>(n * item));
    return;
  }
  switch (item) {
    case 1:
      return copy_row<std::uint8_t>(to, to_stride, from, from_stride, n);
    case 2:
      return copy_row<std::uint16_t>(to, to_stride, from, from_stride, n);
    case 4:
      return copy_row<std::uint32_t>(to, to_stride, from, from_stride, n);
    case 8:
      return copy_row<std::uint64_t>(to, to_stride, from, from_stride, n);
    case 16:
      return copy_row<Pair>(to, to_stride, from, from_stride, n);
  }
}

}  // namespace

void pack(std::byte* dense, const std::byte* data, const Layout& layout) {
  const int item = layout.item_size();
  for_each_row(const_cast<std::byte*>(data), layout,
               [&](std::byte* row, std::int64_t n, std::int64_t stride) {
                 copy_items(dense, item, row, stride, n, item);
                 dense += n * item;
               });
}

void unpack(std::byte* data, const Layout& layout, const std::byte* dense) {
  const int item = layout.item_size();
  for_each_row(data, layout, [&](std::byte* row, std::int64_t n, std::int64_t stride) {
    copy_items(row, stride, dense, item, n, item);
    dense += n * item;
  });
}

}  // namespace frit
