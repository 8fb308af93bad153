// hash.h: hashes of words, for tables of this process.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace frit {

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ hash >> 32;
}

// One of 64 entries that outlive every array, by the upper bits of a hash: where a function keeps
// an answer, with what it is the answer to.
template <class Entry>
Entry& kept_entry(std::uint64_t hash) {
  static auto* const entries = new std::array<Entry, 64>;
  return (*entries)[hash >> 58];
}

// Four chains side by side: one alone waits for its multiplications.
inline std::uint64_t hash_words(std::span<const std::uint64_t> words) {
  std::uint64_t lanes[4] = {words.size(), 1, 2, 3};
  std::size_t k = 0;
  for (; k + 4 <= words.size(); k += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = mixed(lanes[lane], words[k + lane]);
  for (; k < words.size(); ++k) lanes[0] = mixed(lanes[0], words[k]);
  return mixed(mixed(mixed(lanes[0], lanes[1]), lanes[2]), lanes[3]);
}

}  // namespace frit
