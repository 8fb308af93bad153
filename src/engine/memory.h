// memory.h: a caching allocator: arrays of a loop get the pages of the arrays before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "ops/ops.h"

namespace frit {

// The machine has no memory for an array: as much of the array as is known.
struct OutOfMemory : std::bad_alloc {
  std::vector<std::int64_t> shape;
  DType dtype;

  OutOfMemory(std::vector<std::int64_t> asked, DType type) : shape(std::move(asked)), dtype(type) {}
};

}  // namespace frit

namespace frit::memory {

// Bytes: blocks up to here come in a few sizes, larger ones are pages of their own.
constexpr std::int64_t small_limit = 64 << 10;

struct Figures {
  std::int64_t live = 0, peak = 0, cached = 0;
};

// At least `bytes` bytes, 64-byte aligned, contents undefined; throws std::bad_alloc. All calls
// under the engine's lock.
std::byte* allocate(std::int64_t bytes);
// The same, all of them 0, of pages that take no memory before they are touched. Null: a block that
// was freed would do, or it isn't worth it.
std::byte* allocate_zeros(std::int64_t bytes);
void deallocate(std::byte* data, std::int64_t bytes);  // bytes as allocated
struct Freeing {
  std::int64_t bytes = 0;
  void operator()(std::byte* data) const { deallocate(data, bytes); }
};
using Block = std::unique_ptr<std::byte, Freeing>;
// Arrays of malloc's that were taken over (or, with a minus, given back): of as much malloc keeps
// the pages.
void add_malloc_live(std::int64_t bytes);
// Whether the machine would give so many now; nothing is taken. (Without the lock, too.)
bool may_be_had(std::int64_t bytes);
void release_cached();
Figures figures();
void reset_peak();
// The n-th allocation from now on fails (tests); 0: none; below 0: all.
void fail_after(std::int64_t n);

}  // namespace frit::memory
