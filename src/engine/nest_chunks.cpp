// nest_chunks.cpp: in pieces of the array, on all threads.
#include "engine/nest_chunks.h"

#include <algorithm>
#include <cstring>

#include "engine/pool.h"

namespace frit {
namespace {

// What a thread takes at once; less where the threads are awake.
constexpr std::int64_t elements_of_piece = 16'384, elements_awake = 2'048;

struct Pieces {
  const ChunkCopies& copies;
  std::int64_t elements;  // to cut in pieces
  std::int64_t length;    // of one of them
};

// Elements of one row, which are in a row of each copy too.
void combine_run(const ChunkCopies& c, std::int64_t begin, std::int64_t end, std::byte* to,
                 std::int64_t stride) {
  const std::int64_t item = size_of(c.identity.dtype), copy = c.elements() * item;
  const std::int64_t at_once = stride == item ? end - begin : 1;
  const Loop op = loop(c.op, c.identity.dtype);
  for (std::int64_t k = 0; k < c.count; ++k) {
    std::byte* from = c.data + k * copy + begin * item;
    for (std::int64_t x = 0; x < end - begin; x += at_once) {
      void* args[3] = {to + x * stride, to + x * stride, from + x * item};
      op(args, at_once, 0);
    }
  }
}

void combine_piece(const ChunkCopies& c, std::int64_t begin, std::int64_t end) {
  const auto shape = c.array.shape, strides = c.array.strides;
  const std::size_t rank = shape.size();
  const std::int64_t row = rank ? shape[rank - 1] : 1;
  const std::int64_t stride = rank ? strides[rank - 1] : size_of(c.identity.dtype);
  while (begin < end) {
    std::byte* to = c.array.data + begin % row * stride;
    std::int64_t outer = begin / row;
    for (std::size_t k = rank; k-- > 1;) {
      to += outer % shape[k - 1] * strides[k - 1];
      outer /= shape[k - 1];
    }
    const std::int64_t behind = std::min(end, begin + row - begin % row);
    combine_run(c, begin, behind, to, stride);
    begin = behind;
  }
}

}  // namespace

std::int64_t ChunkCopies::elements() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : array.shape) n *= extent;
  return n;
}

unsigned combine(const ChunkCopies& copies) {
  ThreadPool& pool = ThreadPool::get();
  const std::int64_t elements = copies.elements();
  Pieces pieces{copies, elements, pool.is_awake() ? elements_awake : elements_of_piece};
  return pool.run((elements + pieces.length - 1) / pieces.length,
                  [](void* context, std::int64_t k) {
                    const auto& all = *static_cast<const Pieces*>(context);
                    const std::int64_t begin = k * all.length;
                    combine_piece(all.copies, begin, std::min(all.elements, begin + all.length));
                  },
                  &pieces);
}

}  // namespace frit
