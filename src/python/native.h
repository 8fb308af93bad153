// native.h: Native, a callable that checks operands before a function of ours in Python.
#pragma once

#include "frit/array.h"
#include "python/python.h"

namespace frit::python {

// There, and of some hundred KB at most: what moves or finds elements is done at once.
bool is_moderate_and_ready(const Array& array);

// Makes the types Native and Unfit of the module; once, after the fallback types.
void make_native_type(PyObject* module);

}  // namespace frit::python
