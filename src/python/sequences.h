// sequences.h: numbers and nested lists of numbers as arrays, as np.array makes them.
#pragma once

#include <optional>

#include "python/python.h"

namespace frit::python {

// Of a number of Python's or NumPy's (a 0-d array), or a list or tuple of such, however deep.
// nullopt: there is something else in it, its parts differ in length, or a value needs a warning or
// an error: NumPy knows. `wanted`: the dtype asked for.
std::optional<Array> array_of_numbers(PyObject* object, std::optional<DType> wanted = std::nullopt);

}  // namespace frit::python
