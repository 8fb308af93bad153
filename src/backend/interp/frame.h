// frame.h: where an interpreted kernel's registers lie in the memory of a running part.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/interp/program.h"
#include "backend/interp/survey.h"

namespace frit::interp {

inline int size_class(int bytes) {
  return bytes <= 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

// Gives out the frame's registers: one for each uniform value, and blocks of lanes, reused when
// what they held is dead.
class Frame {
 public:
  explicit Frame(Register first) : first_(first) {}

  Register uniform() { return add(uniform_class, uniforms_++); }
  Register direct() { return add(uniform_class, 0); }  // set anew before each use
  Register take_block(int bytes) {
    const int c = size_class(bytes);
    if (free_[at(c)].empty()) return add(c, blocks_[at(c)]++);
    const Register block = free_[at(c)].back();
    free_[at(c)].pop_back();
    return block;
  }
  void give_block(Register block) {
    free_[at(entries_[at(block - first_)].size_class)].push_back(block);
  }
  bool is_of_size(Register block, int bytes) const {
    return entries_[at(block - first_)].size_class == size_class(bytes);
  }

  std::int32_t bytes_per_lane() const {
    std::int32_t bytes = 0;
    for (int c = 0; c < 5; ++c) bytes += blocks_[at(c)] << c;
    return bytes;
  }
  // Writes the registers' offsets; returns the frame's size.
  std::int32_t place(std::int32_t lanes, std::vector<std::int32_t>& offsets) const {
    std::array<std::int32_t, 5> begin{};
    std::int32_t end = (uniforms_ + 1) * 16;
    end = (end + 63) & ~63;
    for (int c = 4; c >= 0; --c) {
      begin[at(c)] = end;
      end += blocks_[at(c)] * block_bytes(lanes, c);
    }
    offsets.reserve(entries_.size());
    for (const Entry& entry : entries_)
      offsets.push_back(entry.size_class == uniform_class
                            ? entry.number * 16
                            : begin[at(entry.size_class)] +
                                  entry.number * block_bytes(lanes, entry.size_class));
    return end;
  }

 private:
  static constexpr int uniform_class = 5;
  struct Entry {
    std::int32_t size_class;
    std::int32_t number;
  };
  // One line more than needed, so that blocks don't lie at equal offsets within pages.
  static std::int32_t block_bytes(std::int32_t lanes, int c) { return ((lanes << c) + 127) & ~63; }
  Register add(std::int32_t size_class, std::int32_t number) {
    entries_.push_back({size_class, number});
    return first_ + static_cast<Register>(entries_.size()) - 1;
  }

  Register first_;
  std::vector<Entry> entries_;
  std::array<std::vector<Register>, 5> free_;
  std::array<std::int32_t, 5> blocks_{};
  std::int32_t uniforms_ = 0;
};

}  // namespace frit::interp
