// join.h: arrays written one behind another.
#pragma once

#include "frit/array.h"

namespace frit {

// Whose extents along the axis make up the whole's; the others are the same.
void store_parts(const Array& whole, std::span<const Array> parts, std::size_t axis);

}  // namespace frit
