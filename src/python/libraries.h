// libraries.h: whether the modules that loop nests take functions from have changed.
#pragma once

#include "python/python.h"

namespace frit::python {

// Has any of the dictionaries that are watched been changed since? True before any is.
bool libraries_changed();
// Watches these instead, as they are.
void watch_libraries(PyObject* dictionaries);

}  // namespace frit::python
