// functions.h: functions of NumPy's namespace in C, and conversion to and from NumPy.
#pragma once

#include <vector>

#include "frit/array.h"
#include "python/python.h"

namespace frit::python {

// The module keeps pointers into these.
std::vector<PyMethodDef> creation_functions();
std::vector<PyMethodDef> array_functions();
// Shortcuts (methods.h), by the names of NumPy's functions.
std::vector<PyMethodDef> creation_shortcuts();
std::vector<PyMethodDef> array_shortcuts();
std::vector<PyMethodDef> reduction_shortcuts();
std::vector<PyMethodDef> joining_shortcuts();
std::vector<PyMethodDef> plain_shortcuts();
std::vector<PyMethodDef> linear_shortcuts();

// The arrays of a list or tuple along a new first axis, in C order. Throws Unfit, for other items
// as well.
Array stacked_arrays(PyObject* sequence);

// array.argsort() of a few elements in a row; else null.
PyObject* small_argsort(const Array& array);

// left.dot(other, out); out may be null. A new reference.
PyObject* dot_product(const Array& left, PyObject* other, PyObject* out);

}  // namespace frit::python
