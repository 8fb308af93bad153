// parts.h: loops of the front itself (copies by index or mask), shared among the pool's threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/pool.h"

namespace frit {

// work(begin, end) over ranges that make up [0, n); elements_each: how much work one of n is.
template <class Work>
void for_parts(std::int64_t n, std::int64_t elements_each, Work&& work) {
  constexpr std::int64_t part_elements = 1 << 15;
  ThreadPool& pool = ThreadPool::get();
  struct Context {
    Work& work;
    std::int64_t n, parts;
  } context{work, n,
            std::clamp<std::int64_t>(
                n * std::max<std::int64_t>(elements_each, 1) / part_elements, 1,
                std::max<std::int64_t>(std::min<std::int64_t>(n, pool.threads() * 4), 1))};
  pool.run(
      context.parts,
      [](void* p, std::int64_t k) {
        auto& c = *static_cast<Context*>(p);
        c.work(c.n * k / c.parts, c.n * (k + 1) / c.parts);
      },
      &context);
}

}  // namespace frit
