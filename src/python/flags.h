// flags.h: array.flags and array.setflags.
#pragma once

#include "python/objects.h"

namespace frit::python {

// Once, before the first of these.
void make_flags_type();
PyObject* new_flags(PyObject* array);
// Is it no window on another array, nor on memory of somebody else's? (No elements are nobody's.)
bool owns_data(const ArrayObject& object);
// array.setflags(write, align, uic); absent arguments are null.
PyObject* set_array_flags(PyObject* array, PyObject* write, PyObject* align, PyObject* writeback);

}  // namespace frit::python
