// positions.h: what integers that index an axis stand for, and whether they lie inside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/ops.h"

namespace frit {

// Indices below 0 count from the end.
inline std::int64_t position_of(std::int64_t index, std::int64_t extent) {
  return index + (index >> 63 & extent);
}
inline bool is_inside(std::int64_t position, std::int64_t extent) {
  return static_cast<std::uint64_t>(position) < static_cast<std::uint64_t>(extent);
}

// Is each of them one of 0 .. extent - 1? By the largest of their bits, for which the ready-made
// loops have vectors.
template <class Index>
bool all_below(const Index* asked, std::int64_t n, std::int64_t extent) {
  using Bits = std::make_unsigned_t<Index>;
  constexpr DType dtype = sizeof(Bits) == 1   ? DType::UInt8
                          : sizeof(Bits) == 2 ? DType::UInt16
                          : sizeof(Bits) == 4 ? DType::UInt32
                                              : DType::UInt64;
  if (n == 0) return true;
  Bits largest;
  reduce_loop(Op::Maximum, dtype)(&largest, asked, n);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  return largest < static_cast<std::uint64_t>(extent) && largest <= most;
}

inline bool all_inside(const std::int64_t* asked, std::int64_t n, std::int64_t extent) {
  bool inside = true;
  for (std::int64_t k = 0; k < n; ++k) inside &= is_inside(position_of(asked[k], extent), extent);
  return inside;
}

}  // namespace frit
