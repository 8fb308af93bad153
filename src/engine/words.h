// words.h: a growing array of words whose new part is left for the caller to fill.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace frit {

class Words {
 public:
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  std::span<const std::uint64_t> all() const { return {words_.get(), size_}; }

  void push_back(std::uint64_t word) {
    *room_for(1) = word;
    ++size_;
  }
  // Room behind the last word; what is filled of it is then made part of the array by grown_to().
  std::uint64_t* room_for(std::size_t words) {
    if (capacity_ - size_ < words) [[unlikely]]
      grow(words);
    return words_.get() + size_;
  }
  void grown_to(const std::uint64_t* end) { size_ = static_cast<std::size_t>(end - words_.get()); }

 private:
  void grow(std::size_t words) {
    const std::size_t capacity = std::max<std::size_t>(1024, 2 * (size_ + words));
    auto larger = std::make_unique_for_overwrite<std::uint64_t[]>(capacity);
    std::copy_n(words_.get(), size_, larger.get());
    words_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<std::uint64_t[]> words_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace frit
