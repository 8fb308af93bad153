// surroundings.h: what an update in new memory keeps of the old: all but the window that it writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frit {

// One strided box of bytes to be copied from a base's memory to its shadow.
struct BoxCopy {
  std::int64_t offset = 0;
  std::int64_t rows = 1, row_stride = 0, bytes = 0;
};

// All of a base's memory but a window, as rows: those of the grid's first axis under the window.
struct Surroundings {
  std::int64_t pitch = 0, rows = 0;  // bytes of a row, and how many there are
  std::int64_t begin = 0, end = 0;   // the rows that the window has a part of,
  std::vector<BoxCopy> within;       // and what it leaves of each, from the row's start
  bool empty() const { return begin == 0 && end == rows && within.empty(); }
  // Of the rows [low, high).
  void copy(const std::byte* from, std::byte* to, std::int64_t low, std::int64_t high) const;
};

}  // namespace frit
