// native.h: Native, a callable that checks operands before a function of ours in Python.
#pragma once

#include "python/python.h"

namespace frit::python {

// Makes the types Native and Unfit of the module; once, after the fallback types.
void make_native_type(PyObject* module);

}  // namespace frit::python
