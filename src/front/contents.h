// contents.h: the least and the largest number of an array of indices, known until it is written.
#pragma once

#include <optional>

#include "frit/array.h"
#include "ir/routine_use.h"

namespace frit {

// Of an integer array; none: it is empty, or its numbers leave int64. Evaluates what the array
// waits for, unless the answer is known for its base's stamp (trace.h). Under the engine's lock.
std::optional<Range> range_of_elements(const Array& a);

}  // namespace frit
