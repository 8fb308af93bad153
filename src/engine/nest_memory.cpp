// nest_memory.cpp: overlap of windows, as a shift of indices where it is one.
#include "engine/nest_memory.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "engine/pack.h"
#include "ir/layout.h"
#include "schedule/dependence.h"

namespace frit {
namespace {

bool windows_meet(const NestArgument& a, DType type_a, const NestArgument& b, DType type_b) {
  const LayoutRef x = LayoutRef::adopt(make_layout(a.shape, a.strides, size_of(type_a)));
  const LayoutRef y = LayoutRef::adopt(make_layout(b.shape, b.strides, size_of(type_b)));
  return boxes_meet(0, *x, b.data - a.data, *y);
}

}  // namespace

ByteSpan bytes_of(const NestArgument& a, DType dtype) {
  ByteSpan b{a.data, a.data + size_of(dtype)};
  for (std::size_t k = 0; k < a.shape.size(); ++k) {
    if (a.shape[k] == 0) return {a.data, a.data};
    (a.strides[k] < 0 ? b.low : b.high) += a.strides[k] * (a.shape[k] - 1);
  }
  return b;
}

bool is_nested(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
               std::int64_t item) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] > 1) axes.emplace_back(std::abs(strides[k]), shape[k] - 1);
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = item;
  for (const auto& [stride, count] : axes) {
    if (stride < reach) return false;
    reach += stride * count;
  }
  return true;
}

bool overlap(ByteSpan x, ByteSpan y) { return x.low < y.high && y.low < x.high; }

bool has_element(Op predicate, const NestArgument& a, DType dtype) {
  constexpr std::int64_t block = 1024, single_extent[] = {1}, single_stride[] = {0};
  if (!is_inexact(dtype) || std::ranges::find(a.shape, 0) != a.shape.end()) return false;
  const bool is_single = a.shape.empty();
  const auto shape = is_single ? std::span<const std::int64_t>(single_extent) : a.shape;
  const auto strides = is_single ? std::span<const std::int64_t>(single_stride) : a.strides;
  const std::int64_t at_once = strides.back() == size_of(dtype) ? block : 1;
  std::array<std::uint8_t, block> answers;
  std::byte* row = a.data;
  bool found = false;
  const auto look = [&] {
    for (std::int64_t x = 0; x < shape.back() && !found; x += at_once) {
      const std::int64_t n = std::min(at_once, shape.back() - x);
      void* args[2] = {answers.data(), row + x * strides.back()};
      loop(predicate, dtype)(args, n, 0);
      found = std::find(answers.begin(), answers.begin() + n, 1) != answers.begin() + n;
    }
  };
  walk_rows(shape, look,
            [&](std::size_t axis, std::int64_t steps) { row += steps * strides[axis]; });
  return found;
}

SharedMemory shared_memory(const NestArgument& a, const NestArgument& b, DType type_a,
                           DType type_b) {
  using Kind = SharedMemory::Kind;
  const ByteSpan x = bytes_of(a, type_a), y = bytes_of(b, type_b);
  if (x.high <= y.low || y.high <= x.low || x.low == x.high || y.low == y.high)
    return {Kind::None, {}};
  if (!windows_meet(a, type_a, b, type_b)) return {Kind::None, {}};
  const std::size_t rank = a.shape.size();
  if (type_a != type_b || rank != b.shape.size() ||
      !std::equal(a.strides.begin(), a.strides.end(), b.strides.begin()))
    return {Kind::Mixed, {}};
  // The distance as a sum of strides, the largest first.
  std::vector<std::size_t> axes(rank);
  for (std::size_t k = 0; k < rank; ++k) axes[k] = k;
  std::sort(axes.begin(), axes.end(), [&](std::size_t i, std::size_t j) {
    return std::abs(a.strides[i]) > std::abs(a.strides[j]);
  });
  std::int64_t distance = b.data - a.data;
  SharedMemory result{Kind::Shifted, std::vector<std::int64_t>(rank, 0)};
  std::vector<std::int64_t> extents(rank);
  for (std::size_t k : axes) {
    const std::int64_t stride = a.strides[k];
    if (stride != 0) {
      // To the nearest: what is left is at most half a stride, on either side.
      const std::int64_t half = std::abs(stride) / 2;
      const std::int64_t sign = (distance < 0) != (stride < 0) ? -1 : 1;
      result.shift[k] = sign * ((std::abs(distance) + half) / std::abs(stride));
      distance -= result.shift[k] * stride;
    }
    extents[k] = std::max(a.shape[k], b.shape[k] + result.shift[k]) -
                 std::min<std::int64_t>(0, result.shift[k]);
  }
  // Both lie in one grid, in which different indices are different elements.
  if (distance != 0 || !is_nested(extents, a.strides, size_of(type_a))) return {Kind::Mixed, {}};
  return result;
}

}  // namespace frit
