// index_range.cpp: in pieces, one look at each.
#include "engine/index_range.h"

#include <algorithm>
#include <vector>

#include "engine/pool.h"
#include "ops/loops.h"

namespace frit {
namespace {

// What a thread takes at once, at least; less where the threads are awake.
constexpr std::int64_t elements_of_piece = 1 << 16, elements_awake = 1 << 13;

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
    const Extremes all = range_loop(dtype)(data + begin * size_of(dtype), end - begin);
    // An unsigned number that leaves int64 comes out below 0, and is to stay the least.
    found[static_cast<std::size_t>(piece)] = {std::min(all.least, all.greatest), all.greatest};
  }
};

}  // namespace

std::optional<Range> range_of_integers(const std::byte* data, std::int64_t count, DType dtype) {
  ThreadPool& pool = ThreadPool::get();
  // As many for each thread, so that each finds in its cache what it is to work on next.
  const std::int64_t threads = pool.threads();
  std::int64_t pieces = count / (pool.is_awake() ? elements_awake : elements_of_piece);
  if (pieces > threads) pieces = pieces / threads * threads;
  pieces = std::max<std::int64_t>(pieces, 1);
  const std::int64_t elements = std::max<std::int64_t>((count + pieces - 1) / pieces, 1);
  Pieces work{data, count, dtype, elements, std::vector<Range>(static_cast<std::size_t>(pieces))};
  pool.run(
      pieces, [](void* context, std::int64_t k) { static_cast<Pieces*>(context)->find(k); }, &work);
  Range all{INT64_MAX, INT64_MIN};
  for (const Range& found : work.found) all = joined(all, found);
  if (dtype == DType::UInt64 && all.low < 0) return std::nullopt;
  return all;
}

}  // namespace frit
