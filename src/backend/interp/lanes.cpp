// lanes.cpp: the copies that lanes.h declares.
#include "backend/interp/lanes.h"

#include <algorithm>

#include "ops/ops.h"

// These loops are worth vectors, which g++ makes at this level only.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace frit::interp {

namespace {

template <int bytes>
struct Unsigned;
template <>
struct Unsigned<1> {
  using type = std::uint8_t;
};
template <>
struct Unsigned<2> {
  using type = std::uint16_t;
};
template <>
struct Unsigned<4> {
  using type = std::uint32_t;
};
template <>
struct Unsigned<8> {
  using type = std::uint64_t;
};
template <>
struct Unsigned<16> {
  using type = unsigned __int128;
};

// Elements may lie at any address: views of records do.
template <int bytes>
inline typename Unsigned<bytes>::type get(const std::byte* from) {
  typename Unsigned<bytes>::type value;
  std::memcpy(&value, from, bytes);
  return value;
}
template <int bytes>
inline void put(std::byte* to, typename Unsigned<bytes>::type value) {
  std::memcpy(to, &value, bytes);
}

}  // namespace

void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from,
                  std::int64_t from_stride, std::int64_t n, int size) {
  move_loops(size).copy(to, to_stride, from, from_stride, n);
}

void count_up(std::int64_t* to, std::int64_t first, std::int64_t n) {
  count_up_loop()(to, first, n);
}

void turn(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
          Rows rows, int size) {
  with_size(
      size,
      [](auto tag, std::byte* to, std::int64_t to_step, const std::byte* from,
         std::int64_t from_step, Rows rows) {
        constexpr int bytes = decltype(tag)::value;
        constexpr std::int64_t tile = 8;  // as many lines of `from` are read, and one a row written
        for (std::int64_t lane = 0; lane < rows.lanes; lane += tile) {
          const std::int64_t lanes = std::min(tile, rows.lanes - lane);
          for (std::int64_t r = 0; r < rows.count; ++r) {
            std::byte* const row = to + r * to_step + lane * bytes;
            const std::byte* const column = from + lane * from_step + r * bytes;
            if (lanes == tile)
              for (std::int64_t k = 0; k < tile; ++k)
                put<bytes>(row + k * bytes, get<bytes>(column + k * from_step));
            else
              for (std::int64_t k = 0; k < lanes; ++k)
                put<bytes>(row + k * bytes, get<bytes>(column + k * from_step));
          }
        }
      },
      to, to_step, from, from_step, rows);
}

void fill(std::byte* to, const std::byte* from, std::int64_t n, int size) {
  move_loops(size).fill(to, from, n);
}

std::int64_t count_true(const std::uint8_t* conditions, std::int64_t n) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < n; ++k) count += conditions[k] != 0;
  return count;
}

void split(const std::uint8_t* conditions, std::int64_t n, Lane* chosen, Lane* rest) {
  std::int64_t taken = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    chosen[taken] = rest[k - taken] = static_cast<Lane>(k);
    taken += conditions[k] != 0;
  }
}

void pack(std::byte* to, const std::byte* from, const Lane* lanes, std::int64_t n, int size) {
  with_size(
      size,
      [](auto tag, std::byte* to, const std::byte* from, const Lane* lanes, std::int64_t n) {
        constexpr int bytes = decltype(tag)::value;
        for (std::int64_t k = 0; k < n; ++k)
          put<bytes>(to + k * bytes, get<bytes>(from + std::int64_t{lanes[k]} * bytes));
      },
      to, from, lanes, n);
}

void move_lanes(std::byte* block, const Lane* to, const Lane* from, std::int64_t n, int size) {
  with_size(
      size,
      [](auto tag, std::byte* block, const Lane* to, const Lane* from, std::int64_t n) {
        constexpr int bytes = decltype(tag)::value;
        for (std::int64_t k = 0; k < n; ++k)
          put<bytes>(block + std::int64_t{to[k]} * bytes,
                     get<bytes>(block + std::int64_t{from[k]} * bytes));
      },
      block, to, from, n);
}

void unpack(std::byte* to, const Lane* to_lanes, const std::byte* from, const Lane* from_lanes,
            std::int64_t n, int size) {
  with_size(
      size,
      [](auto tag, std::byte* to, const Lane* to_lanes, const std::byte* from,
         const Lane* from_lanes, std::int64_t n) {
        constexpr int bytes = decltype(tag)::value;
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t lane = from_lanes ? from_lanes[k] : k;
          put<bytes>(to + std::int64_t{to_lanes[lane]} * bytes, get<bytes>(from + lane * bytes));
        }
      },
      to, to_lanes, from, from_lanes, n);
}

void load_lanes(std::byte* to, const std::byte* from, std::int64_t stride, const Lane* lanes,
                std::int64_t n, int size) {
  with_size(
      size,
      [](auto tag, std::byte* to, const std::byte* from, std::int64_t stride, const Lane* lanes,
         std::int64_t n) {
        constexpr int bytes = decltype(tag)::value;
        for (std::int64_t k = 0; k < n; ++k)
          put<bytes>(to + k * bytes, get<bytes>(from + lanes[k] * stride));
      },
      to, from, stride, lanes, n);
}

void load_indexed(std::byte* to, const std::byte* from, const Steps& steps, std::int64_t n,
                  int size) {
  const auto copy = [&](auto own) {
    with_size(
        size,
        [](auto tag, std::byte* to, const std::byte* from, auto own, const std::byte* indices,
           std::int64_t stride, std::int64_t n) {
          constexpr int bytes = decltype(tag)::value;
          for (std::int64_t k = 0; k < n; ++k) {
            std::int64_t index;
            std::memcpy(&index, indices + k * 8, sizeof index);
            put<bytes>(to + k * bytes, get<bytes>(from + own(k) + index * stride));
          }
        },
        to, from, own, steps.indices, steps.index_stride, n);
  };
  if (steps.stride == 0) return copy([](std::int64_t) { return std::int64_t{0}; });
  if (!steps.lanes) return copy([stride = steps.stride](std::int64_t k) { return k * stride; });
  copy([lanes = steps.lanes, stride = steps.stride](std::int64_t k) { return lanes[k] * stride; });
}

void store_lanes(std::byte* to, std::int64_t stride, const Lane* lanes, const std::byte* from,
                 std::int64_t from_stride, std::int64_t n, int size) {
  with_size(
      size,
      [](auto tag, std::byte* to, std::int64_t stride, const Lane* lanes, const std::byte* from,
         std::int64_t from_stride, std::int64_t n) {
        constexpr int bytes = decltype(tag)::value;
        for (std::int64_t k = 0; k < n; ++k)
          put<bytes>(to + lanes[k] * stride, get<bytes>(from + k * from_stride));
      },
      to, stride, lanes, from, from_stride, n);
}

}  // namespace frit::interp
