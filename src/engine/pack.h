// pack.h: copies between strided windows and dense memory.
#pragma once

#include <cstddef>

#include "ir/layout.h"

namespace frit {

// The elements of a window, dense in C order; and back.
void pack(std::byte* dense, const std::byte* data, const Layout& layout);
void unpack(std::byte* data, const Layout& layout, const std::byte* dense);

}  // namespace frit
