// roll.cpp: elements moved along an axis, from its end round to its beginning.
#include <cstring>

#include "front/common.h"

namespace frit {
namespace {

// Up to here it takes less time to move the bytes at once than to record it; beyond, what reads the
// result may be computed in the same pass.
constexpr std::int64_t most_bytes = 1 << 20;

}  // namespace

Array roll(const Array& a, std::int64_t shift, int axis) {
  check_array(a);
  check_axis(axis, a.ndim());
  if (!a.c_contiguous()) throw TypeError("no native roll of an array that is not in C order");
  Locked lock(Engine::lock());
  const Array out = fresh(LayoutRef(a.layout()->contiguous()), a.dtype());
  if (a.size() == 0) return out;
  const auto along = static_cast<std::size_t>(axis);
  const std::int64_t n = a.shape()[along];
  const std::int64_t front = ((shift % n) + n) % n;  // elements that come from the end
  Engine& engine = Engine::get();
  if (out.base()->bytes > most_bytes || !engine.is_ready(a.base())) {
    std::vector<AxisSlice> axes;
    for (const std::int64_t extent : a.shape()) axes.push_back({.count = extent});
    const auto part = [&](const Array& of, std::int64_t start, std::int64_t count) {
      axes[along] = {.start = start, .count = count};
      return slice(of, axes);
    };
    assign(part(out, front, n - front), part(a, 0, n - front));
    if (front > 0) assign(part(out, 0, front), part(a, n - front, front));
    return out;
  }
  std::int64_t rows = 1;
  for (std::size_t k = 0; k < along; ++k) rows *= a.shape()[k];
  const std::int64_t row = out.base()->bytes / rows, head = row / n * front;
  engine.allocate(out.base());
  const std::byte* from = a.base()->data + a.offset();
  std::byte* to = out.base()->data;
  for (std::int64_t k = 0; k < rows; ++k, from += row, to += row) {
    std::memcpy(to + head, from, static_cast<std::size_t>(row - head));
    std::memcpy(to, from + row - head, static_cast<std::size_t>(head));
  }
  ++engine.statistics.immediate;
  return out;
}

}  // namespace frit
