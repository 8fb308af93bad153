// memory_test.cpp: what the allocator of arrays does to malloc's.
#include "engine/memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

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

TEST(Memory, malloc_keeps_as_much_as_the_arrays_hold_that_were_taken_over) {
  constexpr std::int64_t bytes = 1 << 20;
  constexpr int many = 24;
  memory::add_malloc_live(many * bytes);
  void* volatile blocks[many];
  for (void* volatile& block : blocks) block = std::malloc(bytes);
  const auto held_now = [] { return mallinfo2().arena + mallinfo2().hblkhd; };
  const std::size_t held = held_now();
  for (void* volatile& block : blocks) std::free(block);
  EXPECT_EQ(held_now(), held) << "what was freed went back to the system";
  memory::add_malloc_live(-many * bytes);
}
#endif

TEST(Memory, arrays_of_nearly_one_size_share_blocks) {
  for (const std::int64_t bytes : {100'000, 500'000, 1'500'000, 5'000'000, 20'000'000}) {
    std::set<std::byte*> blocks;
    for (int k = 0; k < 32; ++k) {
      const std::int64_t size = bytes + bytes * k / 128;
      std::byte* const block = memory::allocate(size);
      block[0] = block[size - 1] = std::byte{1};
      blocks.insert(block);
      memory::deallocate(block, size);
    }
    EXPECT_LE(blocks.size(), 5U) << bytes;
    memory::release_cached();
  }
}

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

TEST(Memory, very_large_blocks_are_kept_where_they_are_asked_for_again) {
  memory::release_cached();
  constexpr std::int64_t bytes = std::int64_t{1} << 30;
  std::byte* block = memory::allocate(bytes);  // untouched, it takes no memory
  memory::deallocate(block, bytes);
  EXPECT_EQ(memory::figures().cached, 0);
  block = memory::allocate(bytes);
  memory::deallocate(block, bytes);
  EXPECT_GE(memory::figures().cached, bytes);
  EXPECT_EQ(memory::allocate(bytes), block);
  memory::deallocate(block, bytes);
  memory::release_cached();
}

TEST(Memory, large_blocks_begin_at_different_lines_of_a_page) {
  constexpr int many = 64;
  for (const std::int64_t bytes : {std::int64_t{100'000}, std::int64_t{4} << 20}) {
    std::set<std::uintptr_t> begins;
    std::vector<std::byte*> blocks;
    for (int k = 0; k < many; ++k) {
      blocks.push_back(memory::allocate(bytes));
      const auto begin = reinterpret_cast<std::uintptr_t>(blocks.back()) % 4096;
      EXPECT_EQ(begin % 64, 0U);
      begins.insert(begin);
      blocks.back()[0] = blocks.back()[bytes - 1] = std::byte{1};
    }
    EXPECT_EQ(begins.size(), many);
    for (std::byte* block : blocks) memory::deallocate(block, bytes);
    memory::release_cached();
  }
}

TEST(Memory, zeros_are_live_as_far_as_they_are_touched) {
  constexpr std::int64_t bytes = (64 << 20) + 12345;
  memory::release_cached();
  const std::int64_t before = memory::figures().live;
  std::byte* const zeros = memory::allocate_zeros(bytes);
  ASSERT_NE(zeros, nullptr);
  EXPECT_EQ(memory::figures().live, before);
  EXPECT_EQ(zeros[0], std::byte{0});
  EXPECT_EQ(zeros[bytes - 1], std::byte{0});
  memory::deallocate(zeros, bytes);
  EXPECT_EQ(memory::figures().live, before);
  EXPECT_EQ(memory::figures().cached, 0) << "what is hardly there is not kept";

  std::byte* const filled = memory::allocate_zeros(bytes);
  std::fill(filled, filled + bytes, std::byte{1});
  memory::deallocate(filled, bytes);
  EXPECT_EQ(memory::figures().live, before);
  EXPECT_GE(memory::figures().peak, before + bytes);
  EXPECT_GE(memory::figures().cached, bytes);
  EXPECT_EQ(memory::allocate_zeros(bytes), nullptr) << "the block that was freed serves";
  memory::release_cached();
}

TEST(Memory, small_zeros_are_not_worth_pages_of_their_own) {
  EXPECT_EQ(memory::allocate_zeros(1000), nullptr);
}

}  // namespace
}  // namespace frit
