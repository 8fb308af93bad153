// foreign_calls.h: calls of functions and classes that others define in C, with real arrays.
#pragma once

#include "python/python.h"

namespace frit::python {

std::vector<PyMethodDef> foreign_call_functions();

}  // namespace frit::python
