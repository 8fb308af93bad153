// sorting.h: arrays sorted along their last axis, as NumPy's loops do it.
#pragma once

#include <optional>

#include "frit/array.h"
#include "python/numpy_api.h"

namespace frit::python {

// Nothing where those are no rows in C order of a type that can be sorted.
std::optional<Array> sorted(const Array& rows, NPY_SORTKIND kind);
std::optional<Array> sorted_places(const Array& rows, NPY_SORTKIND kind);

}  // namespace frit::python
