// kernel_bytes.h: bytes that serialize() has written -> the Kernel they are of.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/kernel.h"

namespace frit {

// Reads words one after the other. Behind a word that can't be, or the last one, all of them are 0.
class WordReader {
 public:
  explicit WordReader(std::string_view bytes);
  void fail() { has_failed_ = true; }
  bool has_failed() const { return has_failed_; }
  bool is_at_end() const { return !has_failed_ && at_ == words_.size(); }

  std::int32_t word();
  std::int64_t long_word();
  std::int32_t number(std::int64_t least, std::int64_t end);
  // Of words that follow, at least one each.
  std::size_t count();
  DType dtype() { return static_cast<DType>(number(0, dtype_count)); }

 private:
  std::vector<std::int32_t> words_;
  std::size_t at_ = 0;
  bool has_failed_ = false;
};

// A Kernel whose numbers of types, ops and kinds exist; whether it is a valid one, verify() says.
std::optional<Kernel> deserialize(WordReader& reader);

}  // namespace frit
