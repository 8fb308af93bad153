// along.cpp: elements along one axis, by places of its own for each line.
#include <algorithm>
#include <cstring>
#include <optional>

#include "front/common.h"
#include "front/dense.h"
#include "front/parts.h"
#include "front/positions.h"

namespace frit {
namespace {

// A dense array as (outer, extent, inner), and int64 places, which name elements of the extent, as
// (outer, count, inner).
struct Lines {
  std::int64_t outer = 1, extent, count, inner = 1;
  const std::int64_t* places;
  bool any_negative = false;

  bool are_inside() {
    const std::int64_t n = outer * count * inner;
    any_negative = !all_below(places, n, extent);
    return !any_negative || all_inside(places, n, extent);
  }
};

// visit(element of the array, which place), in order.
template <bool any_negative, class Visit>
void visit_lines(const Lines& lines, Visit visit) {
  const std::int64_t extent = lines.extent, inner = lines.inner, rows = lines.outer * lines.count;
  const std::int64_t* place = lines.places;
  for (std::int64_t row = 0, k = 0; row < rows; ++row) {
    const std::int64_t first = row / lines.count * extent * inner;
    for (std::int64_t j = 0; j < inner; ++j, ++k) {
      const std::int64_t position = any_negative ? position_of(place[k], extent) : place[k];
      visit(first + position * inner + j, k);
    }
  }
}
// The same where lines lie along the last axis.
template <bool any_negative, class Visit>
void visit_rows(const Lines& lines, Visit visit) {
  const std::int64_t extent = lines.extent, count = lines.count;
  const std::int64_t* place = lines.places;
  for (std::int64_t row = 0; row < lines.outer; ++row, place += count)
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t position = any_negative ? position_of(place[k], extent) : place[k];
      visit(row * extent + position, row * count + k);
    }
}
template <class Visit>
void visit_places(const Lines& lines, Visit visit) {
  if (lines.inner == 1)
    lines.any_negative ? visit_rows<true>(lines, visit) : visit_rows<false>(lines, visit);
  else
    lines.any_negative ? visit_lines<true>(lines, visit) : visit_lines<false>(lines, visit);
}

// Nothing where they are no such lines. The places are evaluated.
std::optional<Lines> lines_of(const Array& a, const Array& places, int axis) {
  const auto along = static_cast<std::size_t>(axis);
  if (!a.c_contiguous() || !places.c_contiguous() || places.dtype() != DType::Int64 ||
      a.ndim() != places.ndim() || places.size() == 0)
    return std::nullopt;
  Lines lines{.extent = a.shape()[along], .count = places.shape()[along], .places = nullptr};
  for (std::size_t k = 0; k < a.shape().size(); ++k) {
    if (k == along) continue;
    if (a.shape()[k] != places.shape()[k]) return std::nullopt;
    (k < along ? lines.outer : lines.inner) *= a.shape()[k];
  }
  lines.places = reinterpret_cast<const std::int64_t*>(read(places));
  return lines;
}

}  // namespace

std::optional<Array> take_per_line(const Array& a, const Array& places, int axis) {
  Locked lock(Engine::lock());
  std::optional<Lines> lines = lines_of(a, places, axis);
  if (!lines || !lines->are_inside()) return std::nullopt;
  const Array out = empty(places.shape(), a.dtype());
  const std::byte* data = read(a);
  Engine::get().allocate(out.base());
  std::byte* to = out.base()->data;
  with_unit(size_of(a.dtype()), [&]<class Unit>(Unit) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
    visit_places(*lines, [to, data](std::int64_t element, std::int64_t k) {
      std::memcpy(to + k * size, data + element * size, sizeof(Unit));
    });
  });
  return out;
}

bool put_per_line(const Array& a, const Array& places, int axis, const Argument& value) {
  Locked lock(Engine::lock());
  const bool is_number = !value.array;
  const auto is_fitting = [&](const Array& v) {
    return v.dtype() == a.dtype() && v.c_contiguous() && !share_memory(*v.base(), *a.base()) &&
           std::ranges::equal(v.shape(), places.shape());
  };
  if (is_number ? value.scalar.dtype != a.dtype() : !is_fitting(*value.array)) return false;
  if (share_memory(*places.base(), *a.base())) return false;
  const std::byte* from = is_number ? value.scalar.bytes : read(*value.array);
  std::optional<Lines> lines = lines_of(a, places, axis);
  if (!lines || !lines->are_inside()) return false;
  Engine& engine = Engine::get();
  engine.settle(a.base());
  engine.allocate(a.base());
  std::byte* to = a.base()->data + a.offset();
  with_unit(size_of(a.dtype()), [&]<class Unit>(Unit) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
    visit_places(*lines, [to, from, step = is_number ? 0 : size](std::int64_t element, auto k) {
      std::memcpy(to + element * size, from + k * step, sizeof(Unit));
    });
  });
  return true;
}

}  // namespace frit
