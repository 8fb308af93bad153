// launch.cpp: how many parts a launch has, and the scratch memory of each thread.
#include "engine/launch.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "engine/engine.h"
#include "engine/pool.h"
#include "ir/per_thread.h"
#include "schedule/nest_cost.h"

namespace frit {
namespace {

struct ScratchBlock {
  std::byte* data = nullptr;
  std::size_t size = 0;
  ~ScratchBlock() { ::operator delete (data, std::align_val_t{64}); }
};

// Scratch memory of the calling thread, kept from launch to launch.
std::byte* scratch_of_thread(std::int64_t bytes) {
  ScratchBlock& block = per_thread<ScratchBlock>();
  const auto wanted = static_cast<std::size_t>(bytes);
  if (block.size < wanted) {
    ::operator delete (block.data, std::align_val_t{64});
    block.data = nullptr;
    block.size = 0;
    block.data = static_cast<std::byte*>(::operator new (wanted, std::align_val_t{64}));
    block.size = wanted;
  }
  return block.data;
}

// Reads memory line by line, if a cache has room for it. By loads, since prefetches may be dropped:
// of 40 KB in a far cache they brought next to nothing.
void bring_near(std::span<const std::byte> memory) {
  constexpr std::size_t line = 64, most = 128 << 10;
  if (memory.size() > most) return;
  const volatile std::byte* data = memory.data();
  for (std::size_t k = 0; k < memory.size(); k += line) static_cast<void>(data[k]);
}

constexpr std::int64_t parts_of_once = 4;

std::int64_t granules_of(const LaunchShape& shape) {
  return (shape.offset + shape.extent + shape.granule - 1) / shape.granule;
}

std::int64_t parts_of(const LaunchShape& shape, const ThreadPool& pool) {
  const int threads = pool.threads();
  double part_cost = Engine::get().settings.part_cost;
  const bool is_awake = pool.is_awake();
  if (is_awake) part_cost = std::min(part_cost, nest_cost::part_awake);
  part_cost += shape.cost_of_part;
  if (threads <= 1 || shape.cost <= 2 * part_cost) return 1;
  auto parts = static_cast<std::int64_t>(shape.cost / part_cost);
  // Who began earlier does more.
  if (shape.once && is_awake && parts >= threads) parts = std::max(parts, threads * parts_of_once);
  parts = std::min<std::int64_t>(parts, threads * 8);
  // As many for each thread, so that each has the same rows in every launch of a loop.
  if (parts > threads) parts = parts / threads * threads;
  return std::clamp<std::int64_t>(parts, 1, granules_of(shape));
}

}  // namespace

unsigned run_parts(const Executable& executable, const LaunchArguments& arguments,
                   const LaunchShape& shape) {
  ThreadPool& pool = ThreadPool::get();
  struct Context {
    const Executable& executable;
    const LaunchArguments& arguments;
    const LaunchShape& shape;
    std::int64_t granules, parts;
  } context{executable, arguments, shape, granules_of(shape), parts_of(shape, pool)};
  const bool is_short =
      context.parts == 1 && context.granules > 1 && shape.cost > nest_cost::launch_pays;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = is_short ? Clock::now() : Clock::time_point();
  const unsigned flags = pool.run(
      context.parts,
      [](void* p, std::int64_t k) {
        const auto& c = *static_cast<Context*>(p);
        const auto border = [&](std::int64_t part) {
          const std::int64_t at = c.granules * part / c.parts * c.shape.granule - c.shape.offset;
          return std::clamp<std::int64_t>(at, 0, c.shape.extent);
        };
        const std::int64_t begin = border(k), end = border(k + 1);
        std::byte* scratch =
            c.shape.scratch_bytes ? scratch_of_thread(c.shape.scratch_bytes) : nullptr;
        if (k == 0)
          for (const auto memory : c.shape.near) bring_near(memory);
        if (begin < end) c.executable.run(c.arguments, begin, end, scratch);
      },
      &context);
  // The cost is that of data in the caches; much more than that, and somebody else had the CPU.
  constexpr double slowest = 8;
  if (is_short)
    pool.note_short(std::min<std::chrono::nanoseconds>(
        Clock::now() - start,
        std::chrono::nanoseconds(static_cast<std::int64_t>(slowest * shape.cost))));
  return flags;
}

}  // namespace frit
