// flat.h: array.flat: NumPy's iterator over the elements, giving and taking arrays of ours.
#pragma once

#include "python/python.h"

namespace frit::python {

extern PyTypeObject* flat_type;

PyObject* new_flat(PyObject* array);
// NumPy's own flatiter behind it. Borrowed.
PyObject* real_flat(PyObject* flat);
void make_flat_type();

}  // namespace frit::python
