// surroundings.cpp: copies what is around a window, row by row.
#include "schedule/surroundings.h"

#include <algorithm>
#include <cstring>

namespace frit {

void Surroundings::copy(const std::byte* from, std::byte* to, std::int64_t low,
                        std::int64_t high) const {
  const auto copy_bytes = [&](std::int64_t offset, std::int64_t bytes) {
    std::memcpy(to + offset, from + offset, static_cast<std::size_t>(bytes));
  };
  const auto copy_rows = [&](std::int64_t first, std::int64_t last) {
    if (first < last) copy_bytes(first * pitch, (last - first) * pitch);
  };
  copy_rows(low, std::min(high, begin));
  // Rows of one axis are elements: as many as the array has, and nothing is left of them.
  const std::int64_t last = within.empty() ? begin : std::min(high, end);
  for (std::int64_t row = std::max(low, begin); row < last; ++row)
    for (const BoxCopy& box : within)
      for (std::int64_t r = 0; r < box.rows; ++r)
        copy_bytes(row * pitch + box.offset + r * box.row_stride, box.bytes);
  copy_rows(std::max(low, end), high);
}

}  // namespace frit
