// pack_loops.h: moves the elements that a mask selects together, and back, or finds their places, a
// vector at a time.
#pragma once

#include <cstdint>

namespace frit {

// `elements` and `dense` are contiguous; true are the bytes of the mask that are not 0.
struct PackLoops {
  // Both return how many of the n were true.
  using Pack = std::int64_t (*)(void* dense, const void* elements, const std::uint8_t* mask,
                                std::int64_t n);
  using Unpack = std::int64_t (*)(void* elements, const void* dense, const std::uint8_t* mask,
                                  std::int64_t n);
  Pack pack = nullptr;  // null: this machine has no instructions for elements of this size
  Unpack unpack = nullptr;
};

PackLoops pack_loops(int item_size);

// Writes first, first + 1 .. for those of the n that are true, which are `count`; gives that back.
// Null as above.
using PlacesLoop = std::int64_t (*)(std::int64_t* places, const std::uint8_t* mask, std::int64_t n,
                                    std::int64_t first, std::int64_t count);
PlacesLoop places_loop();

}  // namespace frit
