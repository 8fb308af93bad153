// native.h: Native, a callable that checks operands before a function of ours in Python.
#pragma once

#include "python/python.h"

namespace frit::python {

// Makes the types Native and Unfit of the module; once, after the fallback types.
void make_native_type(PyObject* module);

// Throws where a function of one step runs and nothing of the user's in it: the call that is about
// to be NumPy's, for this reason (as that of fall_back), is its only one, and the function's own
// fallback does it.
void leave_to_caller(const char* reason);

}  // namespace frit::python
