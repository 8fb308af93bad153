// functions.h: functions of NumPy's namespace in C, and conversion to and from NumPy.
#pragma once

#include <vector>

#include "frit/array.h"
#include "python/python.h"

namespace frit::python {

// They end with an empty row; the module keeps pointers into them.
std::vector<PyMethodDef> creation_functions();
std::vector<PyMethodDef> array_functions();

// left.dot(other, out); out may be null. A new reference.
PyObject* dot_product(const Array& left, PyObject* other, PyObject* out);

template <class Function>
PyCFunction as_c_function(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace frit::python
