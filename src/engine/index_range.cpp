// index_range.cpp: in blocks that are in the cache for the second look.
#include "engine/index_range.h"

#include <algorithm>
#include <vector>

#include "engine/pool.h"

namespace frit {
namespace {

// What a thread takes at once; less where the threads are awake.
constexpr std::int64_t elements_of_piece = 1 << 16, elements_awake = 1 << 13;
constexpr std::int64_t bytes_of_block = 16 << 10;

std::int64_t extreme(Op op, DType dtype, const std::byte* data, std::int64_t count) {
  std::int64_t found = 0, wide = 0;
  reduce_loop(op, dtype)(&found, data, count);
  void* args[2] = {&wide, &found};
  cast_loop(dtype, DType::Int64)(args, 1, 0);
  return wide;
}

Range joined(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

struct Pieces {
  const std::byte* data;
  std::int64_t count;
  DType dtype;
  std::int64_t elements;  // of one of them
  std::vector<Range> found;

  void find(std::int64_t piece) {
    const std::int64_t begin = piece * elements;
    const std::int64_t end = std::min(count, begin + elements);
    const std::int64_t block = bytes_of_block / size_of(dtype);
    Range all{INT64_MAX, INT64_MIN};
    for (std::int64_t k = begin; k < end; k += block) {
      const std::byte* from = data + k * size_of(dtype);
      const std::int64_t n = std::min(block, end - k);
      const std::int64_t low = extreme(Op::Minimum, dtype, from, n);
      const std::int64_t high = extreme(Op::Maximum, dtype, from, n);
      // An unsigned number that leaves int64 comes out below 0, and is to stay the least.
      all = joined(all, {std::min(low, high), high});
    }
    found[static_cast<std::size_t>(piece)] = all;
  }
};

}  // namespace

std::optional<Range> range_of_integers(const std::byte* data, std::int64_t count, DType dtype) {
  ThreadPool& pool = ThreadPool::get();
  const std::int64_t elements = pool.is_awake() ? elements_awake : elements_of_piece;
  const std::int64_t pieces = (count + elements - 1) / elements;
  Pieces work{data, count, dtype, elements, std::vector<Range>(static_cast<std::size_t>(pieces))};
  pool.run(
      pieces, [](void* context, std::int64_t k) { static_cast<Pieces*>(context)->find(k); }, &work);
  Range all{INT64_MAX, INT64_MIN};
  for (const Range& found : work.found) all = joined(all, found);
  if (dtype == DType::UInt64 && all.low < 0) return std::nullopt;
  return all;
}

}  // namespace frit
