// index_range.h: the least and the largest of the integers in a piece of memory, on all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/routine_use.h"

namespace frit {

// Of `count` > 0 integers side by side. None: they leave int64. Under the engine's lock.
std::optional<Range> range_of_integers(const std::byte* data, std::int64_t count, DType dtype);

}  // namespace frit
