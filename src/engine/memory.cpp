// memory.cpp: size classes for small buffers, cached mappings with huge pages for large ones.
//
// Large arrays begin at different lines of their first page. Caches and memory find a line by the
// lower bits of its address: were they the same in all arrays, what a kernel reads and writes at
// one time would get into its own way. (Zen 3, a step of Gray and Scott that stores two arrays of
// 23 MB past the caches: 51 ms with arrays that all begin with a huge page, 3 ms so.)
//
// A block that began as zeros takes no memory where nobody has touched it, and may be larger than
// the machine. It counts as live for what of it is found in memory, which is looked at before
// anything is given back because of what lives.
#include "engine/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>

namespace frit::memory {
namespace {

constexpr std::int64_t huge_page = 2 << 20;
constexpr int classes = 48;
// Cached bytes never lift the process above its own peak by more than this.
constexpr std::int64_t cache_allowance = 40 << 20;
// More is only kept where the program has asked again for sizes that were given back, and goes on
// to take what is kept: a program that has done with large arrays gets their memory for other
// things.
constexpr std::int64_t kept_anyway = 256 << 20;
constexpr std::size_t most_remembered = 256;
constexpr std::chrono::seconds soon{1};
using Clock = std::chrono::steady_clock;
// Where large blocks begin in their first page; no two that follow one another are near.
constexpr std::int64_t page = 4096, line = 64, lines_apart = 37;
constexpr std::int64_t most_touched = 512 << 10;  // bytes whose pages are asked for at once
// Bytes: zeros from here on are pages of their own.
constexpr std::int64_t least_zeros = 1 << 20;

// Small classes: four a power of two, from 64 bytes.
int class_of(std::int64_t bytes) {
  if (bytes <= 256) return static_cast<int>((bytes + 63) / 64) - (bytes > 0 ? 1 : 0);
  const int exponent = 63 - __builtin_clzll(static_cast<unsigned long long>(bytes - 1));
  const int quarter = static_cast<int>(((bytes - 1) >> (exponent - 2)) & 3);
  return 4 + (exponent - 8) * 4 + quarter;
}

std::int64_t class_bytes(int k) {
  if (k < 4) return (k + 1) * 64;
  const int exponent = 8 + (k - 4) / 4;
  const std::int64_t unit = std::int64_t{1} << (exponent - 2);
  return (std::int64_t{1} << exponent) + unit * ((k - 4) % 4 + 1);
}

// About eight sizes a power of two: an array whose size is new mostly gets a block that was freed.
// To touch a new page takes longer than what most kernels do with it, and pages behind the array
// that nobody touches take no memory.
std::int64_t mapped_bytes(std::int64_t bytes) {
  const auto eighth =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)) / 8);
  const std::int64_t unit = bytes >= huge_page ? std::clamp(eighth, huge_page / 4, huge_page)
                                               : std::max<std::int64_t>(eighth, 16 << 10);
  return (bytes + page + unit - 1) / unit * unit;
}

// Of which so many count as live.
std::int64_t touchable_bytes(std::int64_t bytes) { return (bytes + page - 1) / page * page; }

// The mapping of a large block.
std::byte* mapping_of(std::byte* block) {
  return block - reinterpret_cast<std::uintptr_t>(block) % page;
}

// Free blocks of one size class, each holding the address of the next.
class FreeList {
 public:
  std::int64_t bytes = 0;  // of a block
  bool has_room() const { return count_ < most; }
  void put(std::byte* block) {
    std::memcpy(block, &first_, sizeof first_);
    first_ = block;
    ++count_;
  }
  // Null when there is none.
  std::byte* take() {
    std::byte* block = first_;
    if (block) {
      std::memcpy(&first_, block, sizeof first_);
      --count_;
    }
    return block;
  }

 private:
  static constexpr int most = 64;
  std::byte* first_ = nullptr;
  int count_ = 0;
};

struct Zeros {
  std::int64_t size;
  std::int64_t touched = 0;  // when it was looked at; counted as live
};

struct State {
  std::array<FreeList, classes> small;
  std::multimap<std::int64_t, std::byte*> large;
  std::map<std::byte*, Zeros> zeros;              // that are not known to be touched all over
  std::byte* looked_at = nullptr;                 // the latest of them
  std::int64_t malloc_live = 0, malloc_kept = 0;  // of arrays that are malloc's
  Figures figures;
  std::int64_t fail_countdown = 0;
  std::multiset<std::int64_t> given_back;  // sizes of mappings that were more than is kept anyway
  std::int64_t wanted_again = 0;           // bytes
  Clock::time_point last_wanted;

  State() {
    for (int k = 0; k < classes; ++k) small[static_cast<std::size_t>(k)].bytes = class_bytes(k);
  }
  FreeList& small_of(std::int64_t bytes) {
    return small[static_cast<std::size_t>(class_of(bytes))];
  }
};

// Never destroyed: arrays may outlive static destruction.
State* the_state = nullptr;
[[gnu::noinline]] void start() { the_state = new State; }
inline State& state() {
  if (!the_state) [[unlikely]]
    start();
  return *the_state;
}

// glibc's malloc keeps freed memory up to twice the largest block that it had mapped by itself and
// that was freed. Under NumPy the program's arrays are such blocks; ours are not malloc's. Without
// them, what NumPy's own functions and other libraries free would go back to the system, and come
// as new pages, at every call.
void keep_blocks_as_large(std::int64_t bytes) {
  constexpr std::int64_t most = 31 << 20;  // beyond 32 MiB malloc always maps
  static std::int64_t largest = 128 << 10;
  const std::int64_t size = std::min(bytes, most);
  if (size <= largest) return;
  largest = size;
  void* volatile block = std::malloc(static_cast<std::size_t>(size));  // NOLINT: meant to be unused
  std::free(block);
}

std::byte* begin_in(std::byte* pages) {
  static std::int64_t blocks = 0;
  return pages + ++blocks * lines_apart * line % page;
}

void* map_pages(std::size_t length) {
  return mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

std::byte* map_block(std::int64_t bytes) {
  keep_blocks_as_large(bytes);
  const bool huge = bytes >= huge_page;
  const auto length = static_cast<std::size_t>(bytes + (huge ? huge_page : 0));
  void* p = map_pages(length);
  if (p == MAP_FAILED) {
    release_cached();
    p = map_pages(length);
  }
  if (p == MAP_FAILED) throw std::bad_alloc();
  auto* start = static_cast<std::byte*>(p);
  if (!huge) return begin_in(start);
  // Trim to a huge-page boundary.
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t aligned =
      (address + huge_page - 1) & ~static_cast<std::uintptr_t>(huge_page - 1);
  const std::size_t before = aligned - address;
  if (before) munmap(start, before);
  const std::size_t behind = length - before - static_cast<std::size_t>(bytes);
  if (behind) munmap(start + before + bytes, behind);
  auto* data = start + before;
  madvise(data, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  return begin_in(data);
}

// The new pages of what is about to be written, all at once: each by itself, when it is touched,
// takes nearly twice as long (1.5 us to 0.8 where the machine is a virtual one). Not of much: that
// is filled by several threads.
void touch_pages(std::byte* block, std::int64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (bytes > most_touched) return;
  // An older system refuses: they come when they are touched.
  madvise(mapping_of(block), static_cast<std::size_t>(bytes), MADV_POPULATE_WRITE);
#endif
}

void unmap(std::byte* block, std::int64_t bytes) {
  munmap(mapping_of(block), static_cast<std::size_t>(bytes));
}

void add_live(State& s, std::int64_t bytes) {
  s.figures.live += bytes;
  s.figures.peak = std::max(s.figures.peak, s.figures.live);
}

// How much of a block's mapping is in memory, by samples.
std::int64_t touched_bytes(std::byte* block, std::int64_t size) {
  constexpr std::int64_t samples = 32;
  std::int64_t touched = 0;
  for (std::int64_t k = 0; k < samples; ++k) {
    unsigned char is_there = 0;
    mincore(mapping_of(block + size / samples * k), 1, &is_there);
    touched += is_there & 1;
  }
  return touched == samples ? size : size / samples * touched;
}

// Those that are touched all over are blocks as any other. Returns the next one.
auto look_at(State& s, std::map<std::byte*, Zeros>::iterator block) {
  Zeros& zeros = block->second;
  const std::int64_t touched = touched_bytes(block->first, zeros.size);
  add_live(s, touched - zeros.touched);
  zeros.touched = touched;
  return touched == zeros.size ? s.zeros.erase(block) : std::next(block);
}

void look_at_some_zeros(State& s) {
  for (int k = 0; k < 4 && !s.zeros.empty(); ++k) {
    auto next = s.zeros.upper_bound(s.looked_at);
    if (next == s.zeros.end()) next = s.zeros.begin();
    s.looked_at = next->first;
    look_at(s, next);
  }
}

void give_back(State& s, std::multimap<std::int64_t, std::byte*>::iterator block) {
  s.figures.cached -= block->first;
  unmap(block->second, block->first);
  s.large.erase(block);
}

// Gives back cached mappings until those and `live` are within the allowance over the peak.
void make_room(State& s, std::int64_t more) {
  const auto is_too_much = [&] {
    const std::int64_t live = s.figures.live + more;
    return !s.large.empty() &&
           live + s.figures.cached > std::max(s.figures.peak, live) + cache_allowance;
  };
  if (is_too_much()) look_at_some_zeros(s);
  while (is_too_much()) give_back(s, std::prev(s.large.end()));
  if (s.figures.cached <= kept_anyway) return;
  if (s.wanted_again > 0 && Clock::now() - s.last_wanted > soon) s.wanted_again = 0;
  while (s.figures.cached > std::max(kept_anyway, s.wanted_again)) {
    const auto last = std::prev(s.large.end());
    if (s.given_back.size() == most_remembered) s.given_back.clear();  // nobody came for them
    s.given_back.insert(last->first);
    give_back(s, last);
  }
}

void note_wanted_again(State& s, std::int64_t size) {
  const auto found = s.given_back.find(size);
  if (found == s.given_back.end()) return;
  s.given_back.erase(found);
  s.wanted_again = std::max(s.wanted_again, s.figures.cached) + size;
  s.last_wanted = Clock::now();
}

[[gnu::noinline]] std::byte* allocate_large(State& s, std::int64_t size) {
  // The block that was freed last: most of it may still be in the caches.
  const auto behind = s.large.upper_bound(size);
  if (behind != s.large.begin() && std::prev(behind)->first == size) {
    const auto found = std::prev(behind);
    std::byte* data = found->second;
    s.large.erase(found);
    s.figures.cached -= size;
    if (s.wanted_again > 0) s.last_wanted = Clock::now();
    return data;
  }
  note_wanted_again(s, size);
  // First, so that cached and new pages are not held at the same time beyond the allowance.
  make_room(s, size);
  std::byte* const block = map_block(size);
  touch_pages(block, size);
  return block;
}

[[gnu::noinline]] void deallocate_large(std::byte* data, std::int64_t bytes) {
  State& s = state();
  const std::int64_t size = mapped_bytes(bytes);
  std::int64_t live = touchable_bytes(bytes);
  if (const auto zeros = s.zeros.find(data); zeros != s.zeros.end()) {
    look_at(s, zeros);
    if (const auto left = s.zeros.find(data); left != s.zeros.end()) {
      live = left->second.touched;
      s.zeros.erase(left);
    }
  }
  s.figures.live -= live;
  // To fill what is hardly there would cost more memory than a new one.
  if (live < size / 2) return unmap(data, size);
  s.figures.cached += size;
  s.large.emplace(size, data);
  make_room(s, 0);
}

void count_down_to_failure(State& s) {
  if (s.fail_countdown < 0 || --s.fail_countdown == 0) throw std::bad_alloc();
}
inline void fail_if_asked(State& s) {
  if (s.fail_countdown != 0) [[unlikely]]
    count_down_to_failure(s);
}

[[gnu::noinline]] std::byte* new_small(std::int64_t bytes) {
  void* const data = std::aligned_alloc(64, static_cast<std::size_t>(bytes));
  if (!data) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

}  // namespace

std::byte* allocate(std::int64_t bytes) {
  State& s = state();
  fail_if_asked(s);
  if (bytes > small_limit) {
    std::byte* const data = allocate_large(s, mapped_bytes(bytes));
    add_live(s, touchable_bytes(bytes));
    return data;
  }
  FreeList& list = s.small_of(bytes);
  std::byte* data = list.take();
  if (!data) [[unlikely]]
    data = new_small(list.bytes);
  add_live(s, list.bytes);
  return data;
}

std::byte* allocate_zeros(std::int64_t bytes) {
  State& s = state();
  const std::int64_t size = mapped_bytes(bytes);
  if (bytes < least_zeros || s.large.contains(size)) return nullptr;
  fail_if_asked(s);
  make_room(s, size);
  std::byte* data = map_block(size);
  s.zeros.emplace(data, Zeros{.size = touchable_bytes(bytes)});
  return data;
}

void deallocate(std::byte* data, std::int64_t bytes) {
  if (bytes > small_limit) return deallocate_large(data, bytes);
  State& s = state();
  FreeList& list = s.small_of(bytes);
  s.figures.live -= list.bytes;
  if (!list.has_room()) return std::free(data);
  list.put(data);
}

// In the trace wait several results of NumPy's at a time, of which NumPy would free one before it
// makes the next: what malloc gave back to the system would come as new pages in each round.
void add_malloc_live(std::int64_t bytes) {
  State& s = state();
  s.malloc_live += bytes;
  if (s.malloc_live <= s.malloc_kept) return;
  s.malloc_kept = s.malloc_live + s.malloc_live / 4;  // not at each array
  keep_blocks_as_large(s.malloc_kept / 2);
}

bool may_be_had(std::int64_t bytes) {
  constexpr std::int64_t not_asked = std::int64_t{1} << 30;
  if (bytes <= not_asked) return true;
  const auto length = static_cast<std::size_t>(bytes);
  void* p = map_pages(length);
  if (p == MAP_FAILED) return false;
  munmap(p, length);
  return true;
}

void release_cached() {
  State& s = state();
  for (FreeList& list : s.small)
    while (std::byte* data = list.take()) std::free(data);
  for (auto& [size, data] : s.large) unmap(data, size);
  s.large.clear();
  s.given_back.clear();
  s.wanted_again = 0;
  s.figures.cached = 0;
}

Figures figures() { return state().figures; }
void reset_peak() { state().figures.peak = state().figures.live; }
void fail_after(std::int64_t n) { state().fail_countdown = n; }

}  // namespace frit::memory
