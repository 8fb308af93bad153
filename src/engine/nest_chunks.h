// nest_chunks.h: a launch's own copies of an array, one a chunk: put together behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/nest_memory.h"

namespace frit {

// Dense arrays of the shape of `array`, one behind the other, that the array is combined with.
struct ChunkCopies {
  NestArgument array;
  Scalar identity;  // of the operation, and of the array's dtype
  Op op{};
  std::byte* data = nullptr;
  std::int64_t count = 0;

  std::int64_t elements() const;  // of one of them
  std::int64_t bytes() const { return count * elements() * size_of(identity.dtype); }
};

// array = op(array, copy), one copy after the other. Returns the floating-point flags it raised.
unsigned combine(const ChunkCopies& copies);

}  // namespace frit
