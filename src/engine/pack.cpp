// pack.cpp: row by row, with one typed loop an element size.
#include "engine/pack.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
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

// The two share no memory.
template <class Unit>
void copy_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
              std::int64_t from_stride, std::int64_t n) {
  const auto move = [&](std::int64_t k) {
    Unit unit;
    std::memcpy(&unit, from + k * from_stride, sizeof unit);
    std::memcpy(to + k * to_stride, &unit, sizeof unit);
  };
  for (; n >= 4; n -= 4, to += 4 * to_stride, from += 4 * from_stride) {
    move(0);
    move(1);
    move(2);
    move(3);
  }
  for (; n > 0; --n, to += to_stride, from += from_stride) move(0);
}

struct Pair {
  std::uint64_t parts[2];
};
struct Quad {
  std::uint64_t parts[4];
};
constexpr std::int64_t largest_unit = sizeof(Quad);

// One element over and over, n > 0 times.
template <class Unit>
void fill_row(std::byte* to, const std::byte* element, std::int64_t n) {
  constexpr std::int64_t block = 64;
  if (std::memcmp(element, element + 1, sizeof(Unit) - 1) == 0) {  // of equal bytes
    std::memset(to, std::to_integer<int>(*element), static_cast<std::size_t>(n) * sizeof(Unit));
    return;
  }
  std::byte pattern[block];
  for (std::int64_t k = 0; k < block; k += static_cast<std::int64_t>(sizeof(Unit)))
    std::memcpy(pattern + k, element, sizeof(Unit));
  std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(Unit));
  for (; bytes >= block; bytes -= block, to += block) std::memcpy(to, pattern, block);
  std::memcpy(to, pattern, static_cast<std::size_t>(bytes));
}

template <class Unit>
void copy_units(std::byte* to, std::int64_t to_stride, const std::byte* from,
                std::int64_t from_stride, std::int64_t n) {
  if (from_stride == 0 && to_stride == sizeof(Unit)) return fill_row<Unit>(to, from, n);
  copy_row<Unit>(to, to_stride, from, from_stride, n);
}

void copy_items(std::byte* to, std::int64_t to_stride, const std::byte* from,
                std::int64_t from_stride, std::int64_t n, int item) {
  if (to_stride == item && from_stride == item) {
    std::memcpy(to, from, static_cast<std::size_t>(n * item));
    return;
  }
  switch (item) {
    case 1:
      return copy_units<std::uint8_t>(to, to_stride, from, from_stride, n);
    case 2:
      return copy_units<std::uint16_t>(to, to_stride, from, from_stride, n);
    case 4:
      return copy_units<std::uint32_t>(to, to_stride, from, from_stride, n);
    case 8:
      return copy_units<std::uint64_t>(to, to_stride, from, from_stride, n);
    case 16:
      return copy_units<Pair>(to, to_stride, from, from_stride, n);
    case largest_unit:
      return copy_units<Quad>(to, to_stride, from, from_stride, n);
  }
}

}  // namespace

namespace {

// In C order; gives back where the next element goes. No extent is 0.
std::byte* pack_axes(std::byte* dense, const std::byte* data, std::span<const std::int64_t> shape,
                     std::span<const std::int64_t> strides, int item) {
  constexpr std::int64_t short_row = 8;
  const std::int64_t n = shape[0], stride = strides[0];
  if (shape.size() == 1) {
    copy_items(dense, item, data, stride, n, item);
    return dense + n * item;
  }
  if (stride == 0) {
    // Once, and then as much again and again.
    std::byte* end = pack_axes(dense, data, shape.subspan(1), strides.subspan(1), item);
    std::byte* const last = dense + n * (end - dense);
    while (end < last) {
      const std::ptrdiff_t length = std::min(end - dense, last - end);
      std::memcpy(end, dense, static_cast<std::size_t>(length));
      end += length;
    }
    return end;
  }
  if (shape.size() == 2 && shape[1] < short_row && shape[1] < n) {
    for (std::int64_t k = 0; k < shape[1]; ++k)
      copy_items(dense + k * item, shape[1] * item, data + k * strides[1], stride, n, item);
    return dense + n * shape[1] * item;
  }
  for (std::int64_t k = 0; k < n; ++k)
    dense = pack_axes(dense, data + k * stride, shape.subspan(1), strides.subspan(1), item);
  return dense;
}

}  // namespace

void pack(std::byte* dense, const std::byte* data, const Layout& layout) {
  if (layout.size() == 0) return;
  const std::int64_t one[1] = {1};
  const bool is_single = layout.ndim() == 0;
  pack_axes(dense, data, is_single ? std::span<const std::int64_t>(one) : layout.shape(),
            is_single ? std::span<const std::int64_t>(one) : layout.strides(), layout.item_size());
}

void unpack(std::byte* data, const Layout& layout, const std::byte* dense) {
  const int item = layout.item_size();
  for_each_row(data, layout, [&](std::byte* row, std::int64_t n, std::int64_t stride) {
    copy_items(row, stride, dense, item, n, item);
    dense += n * item;
  });
}

void copy_elements(Strided to, Strided from, std::span<const std::int64_t> shape, int item) {
  // The axes of more than one element, in the order in which they are written.
  struct Axis {
    std::int64_t extent, to, from;
  };
  Axis axes[max_dimensions];
  std::size_t count = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) continue;
    std::size_t at = count++;
    for (; at > 0 && std::abs(axes[at - 1].to) < std::abs(to.strides[k]); --at)
      axes[at] = axes[at - 1];
    axes[at] = {shape[k], to.strides[k], from.strides[k]};
  }
  if (count == 0) return copy_items(to.data, 0, from.data, 0, 1, item);
  // Those merged that lie in a row in both windows.
  std::size_t merged = 1;
  for (std::size_t k = 1; k < count; ++k) {
    const Axis axis = axes[k];
    Axis& outer = axes[merged - 1];
    if (outer.to == axis.extent * axis.to && outer.from == axis.extent * axis.from)
      outer = {outer.extent * axis.extent, axis.to, axis.from};
    else
      axes[merged++] = axis;
  }
  count = merged;
  // A few elements in a row move as one.
  const Axis last = axes[count - 1];
  const auto run = static_cast<std::uint64_t>(last.extent * item);
  if (count > 1 && last.to == item && last.from == item && run <= largest_unit &&
      std::has_single_bit(run)) {
    item = static_cast<int>(run);
    --count;
  }
  // Of short rows there are many: instead, long ones in parts that stay in the nearest cache, along
  // an axis within which few elements lie.
  constexpr std::int64_t short_row = 8, few = 16, part = 256;
  std::size_t longest = count - 1;
  std::int64_t within = axes[longest].extent;
  for (std::size_t k = longest; k-- > 0 && within < few; within *= axes[k].extent)
    if (axes[k].extent > axes[longest].extent) longest = k;
  const bool has_short_rows = axes[count - 1].extent < short_row && longest != count - 1;
  if (has_short_rows) std::swap(axes[count - 1], axes[longest]);
  const Axis& row = axes[count - 1];
  std::int64_t extents[max_dimensions];
  for (std::size_t k = 0; k < count; ++k) extents[k] = axes[k].extent;
  const std::int64_t most = has_short_rows ? part : row.extent;
  for (std::int64_t left = row.extent; left > 0; left -= most) {
    extents[count - 1] = std::min(left, most);
    Strided into = to, out_of = from;
    walk_rows(
        {extents, count},
        [&] { copy_items(into.data, row.to, out_of.data, row.from, extents[count - 1], item); },
        [&](std::size_t axis, std::int64_t steps) {
          into.data += steps * axes[axis].to;
          out_of.data += steps * axes[axis].from;
        });
    to.data += most * row.to;
    from.data += most * row.from;
  }
}

}  // namespace frit
