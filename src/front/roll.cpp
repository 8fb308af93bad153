// roll.cpp: elements moved along an axis, from its end round to its beginning.
#include <cstring>

#include "front/common.h"
#include "front/dense.h"

namespace frit {
namespace {

// Up to here it takes less time to move the bytes at once than to record it; beyond, what reads the
// result may be computed in the same pass.
constexpr std::int64_t most_bytes = 256 << 10;

// Elements that come from the end of an axis.
std::int64_t wrapped(std::int64_t shift, std::int64_t extent) {
  return ((shift % extent) + extent) % extent;
}

// Axis by axis, each of so many elements, the last ones in one move. `bytes`: all of them.
void roll_axes(std::byte* to, const std::byte* from, std::span<const std::int64_t> shape,
               std::span<const std::int64_t> fronts, std::int64_t bytes) {
  const std::int64_t n = shape[0], each = bytes / n, front = fronts[0];
  if (shape.size() == 1) {
    const std::int64_t head = front * each;
    std::memcpy(to + head, from, static_cast<std::size_t>(bytes - head));
    std::memcpy(to, from + bytes - head, static_cast<std::size_t>(head));
    return;
  }
  for (std::int64_t k = 0; k < n; ++k)
    roll_axes(to + (k + front < n ? k + front : k + front - n) * each, from + k * each,
              shape.subspan(1), fronts.subspan(1), each);
}

}  // namespace

std::optional<Array> roll_dense(const Array& a, std::span<const std::int64_t> shifts) {
  Locked lock(Engine::lock());
  Engine& engine = Engine::get();
  if (!a.c_contiguous() || a.size() == 0 || a.ndim() == 0 ||
      a.size() * size_of(a.dtype()) > most_bytes || !engine.is_ready(a.base()))
    return std::nullopt;
  const Array out = fresh(LayoutRef(a.layout()->contiguous()), a.dtype());
  engine.allocate(out.base());
  // Up to the last axis along which anything moves.
  std::vector<std::int64_t> shape(a.shape().begin(), a.shape().end()), fronts;
  for (std::size_t k = 0; k < shape.size(); ++k) fronts.push_back(wrapped(shifts[k], shape[k]));
  while (shape.size() > 1 && fronts.back() == 0) {
    shape.pop_back();
    fronts.pop_back();
  }
  roll_axes(out.base()->data, a.base()->data + a.offset(), shape, fronts, out.base()->bytes);
  ++engine.statistics.immediate;
  return out;
}

Array roll(const Array& a, std::int64_t shift, int axis) {
  check_array(a);
  check_axis(axis, a.ndim());
  if (!a.c_contiguous()) throw TypeError("no native roll of an array that is not in C order");
  const auto along = static_cast<std::size_t>(axis);
  std::vector<std::int64_t> shifts(a.shape().size());
  shifts[along] = shift;
  if (std::optional<Array> rolled = roll_dense(a, shifts)) return *std::move(rolled);
  Locked lock(Engine::lock());
  const Array out = fresh(LayoutRef(a.layout()->contiguous()), a.dtype());
  if (a.size() == 0) return out;
  const std::int64_t n = a.shape()[along], front = wrapped(shift, n);
  std::vector<AxisSlice> axes;
  for (const std::int64_t extent : a.shape()) axes.push_back({.count = extent});
  const auto part = [&](const Array& of, std::int64_t start, std::int64_t count) {
    axes[along] = {.start = start, .count = count};
    return slice(of, axes);
  };
  const auto move = [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    if (count > 0) assign(part(out, to, count), part(a, from, count));
  };
  // The larger part first: a small one, into memory that nobody waits for, would run at once.
  if (front > n - front) move(0, n - front, front);
  move(front, 0, n - front);
  if (front <= n - front) move(0, n - front, front);
  return out;
}

}  // namespace frit
