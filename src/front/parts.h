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

struct Unit16 {
  std::uint64_t parts[2];
};

// f(a unit of this many bytes), for the sizes that elements have.
template <class F>
decltype(auto) with_unit(int item, F&& f) {
  switch (item) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(Unit16{});
  }
}

}  // namespace frit
