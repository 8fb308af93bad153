// lanes.h: copies of lanes by element size: strided, and by lists of lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace frit::interp {

// Calls visit with a zero-sized tag for the element's size, visit(Size<8>{}, arguments..). What a
// loop over elements uses is passed as an argument: what it captured would be read again behind
// each store of bytes, which may be stored anywhere.
template <int bytes>
struct Size {
  static constexpr int value = bytes;
};
template <class Visit, class... Arguments>
inline void with_size(int size, Visit visit, Arguments... arguments) {
  switch (size) {
    case 1:
      return visit(Size<1>{}, arguments...);
    case 2:
      return visit(Size<2>{}, arguments...);
    case 4:
      return visit(Size<4>{}, arguments...);
    case 8:
      return visit(Size<8>{}, arguments...);
    default:
      return visit(Size<16>{}, arguments...);
  }
}

// to[k] = from[k] for n elements, each with its own distance in bytes between elements.
void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from,
                  std::int64_t from_stride, std::int64_t n, int size);
// Rows of elements side by side, to_step apart: to[r][k] = from[k][r], whose k are from_step apart.
struct Rows {
  std::int64_t count, lanes;
};
void turn(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
          Rows rows, int size);
// to[k] = first + k.
void count_up(std::int64_t* to, std::int64_t first, std::int64_t n);
// to[k] = *from.
void fill(std::byte* to, const std::byte* from, std::int64_t n, int size);

using Lane = std::int32_t;

// How many of n conditions hold: those that are not 0.
std::int64_t count_true(const std::uint8_t* conditions, std::int64_t n);
// Lists the lanes whose condition holds, and the others. Both lists need room for n.
void split(const std::uint8_t* conditions, std::int64_t n, Lane* chosen, Lane* rest);
// to[k] = from[lanes[k]].
void pack(std::byte* to, const std::byte* from, const Lane* lanes, std::int64_t n, int size);
// block[to[k]] = block[from[k]]; no lane is in both lists.
void move_lanes(std::byte* block, const Lane* to, const Lane* from, std::int64_t n, int size);
// to[to_lanes[k]] = from[from_lanes[k]]; from_lanes may be null: all of them in order.
void unpack(std::byte* to, const Lane* to_lanes, const std::byte* from, const Lane* from_lanes,
            std::int64_t n, int size);
// to[k] = the element at from + lanes[k] * stride.
void load_lanes(std::byte* to, const std::byte* from, std::int64_t stride, const Lane* lanes,
                std::int64_t n, int size);
// Where lane k's element lies: at lanes[k] * stride + indices[k] * index_stride, in bytes; lanes
// may be null: k. Indices are Int64, at any address.
struct Steps {
  const Lane* lanes;
  std::int64_t stride;
  const std::byte* indices;
  std::int64_t index_stride;
};
// to[k] = the element at from + what steps say.
void load_indexed(std::byte* to, const std::byte* from, const Steps& steps, std::int64_t n,
                  int size);
// The element at to + lanes[k] * stride = from[k]; with from_stride 0 always the first.
void store_lanes(std::byte* to, std::int64_t stride, const Lane* lanes, const std::byte* from,
                 std::int64_t from_stride, std::int64_t n, int size);

}  // namespace frit::interp
