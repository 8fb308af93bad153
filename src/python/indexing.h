// indexing.h: a[key] and a[key] = value for every kind of key.
#pragma once

#include "python/objects.h"

namespace frit::python {

PyObject* get_item(PyObject* self, PyObject* key);
int set_item(PyObject* self, PyObject* key, PyObject* value);  // value null: deletion, which raises

// a[index] on the first axis, for iteration: a NumPy scalar or a window. The index is in range.
PyObject* get_row(PyObject* self, std::int64_t index);

// a[k..., indices, ...] along one axis, as take does with mode='raise'; throws.
Array take_along(const Array& array, const Array& indices, int axis);

}  // namespace frit::python
