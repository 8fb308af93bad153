// arena.h: a thread's memory for launches, taken and given back as a stack, and kept.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace frit::interp {

class Arena {
 public:
  struct Mark {
    std::size_t chunk = 0;
    std::size_t used = 0;
  };

  // 64-byte aligned; valid until release of a mark taken before it.
  std::byte* take(std::size_t bytes) {
    bytes = (bytes + 63) & ~std::size_t{63};
    while (top_.chunk < chunks_.size()) {
      Chunk& chunk = chunks_[top_.chunk];
      if (top_.used + bytes <= chunk.bytes) {
        std::byte* memory = chunk.memory.get() + top_.used;
        top_.used += bytes;
        return memory;
      }
      // An empty chunk that is too small, and those behind it, make room for one that is large
      // enough.
      if (top_.used == 0)
        chunks_.resize(top_.chunk);
      else
        top_ = {top_.chunk + 1, 0};
    }
    const std::size_t size = bytes < smallest ? smallest : bytes;
    chunks_.push_back({std::unique_ptr<std::byte, Free>(
                           static_cast<std::byte*>(::operator new (size, std::align_val_t{64}))),
                       size});
    top_ = {chunks_.size() - 1, bytes};
    return chunks_.back().memory.get();
  }
  Mark mark() const { return top_; }
  void release(Mark mark) { top_ = mark; }

 private:
  static constexpr std::size_t smallest = 256 * 1024;
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  struct Chunk {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes = 0;
  };
  std::vector<Chunk> chunks_;
  Mark top_;
};

}  // namespace frit::interp
