// memory_test.cpp: what the allocator of arrays does to malloc's.
#include "engine/memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

namespace frit {
namespace {

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Memory, large_arrays_let_malloc_keep_large_blocks) {
  std::byte* const array = memory::allocate(8 << 20);
  const std::size_t mapped = mallinfo2().hblks;
  void* volatile block = std::malloc(1 << 20);
  EXPECT_EQ(mallinfo2().hblks, mapped) << "the block has a mapping of its own";
  std::free(block);
  memory::deallocate(array, 8 << 20);
}
#endif

TEST(Memory, a_large_block_that_was_freed_last_comes_first) {
  constexpr std::int64_t bytes = (3 << 20) + 4096;
  std::byte *const first = memory::allocate(bytes), *const last = memory::allocate(bytes);
  memory::deallocate(first, bytes);
  memory::deallocate(last, bytes);
  EXPECT_EQ(memory::allocate(bytes), last);
  EXPECT_EQ(memory::allocate(bytes), first);
  memory::deallocate(first, bytes);
  memory::deallocate(last, bytes);
}

}  // namespace
}  // namespace frit
