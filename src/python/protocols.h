// protocols.h: __array__, __array_ufunc__ and the other ways in which libraries meet our objects.
#pragma once

#include <vector>

#include "python/objects.h"

namespace frit::python {

std::vector<PyMethodDef> scalar_protocol_methods();
// __trunc__, which np.float64 alone has, as a float.
PyMethodDef float_truncation();

// What the door gives: {numpy function: our function}, and the module that is our namespace.
void set_functions(PyObject* functions);
void set_namespace(PyObject* module);

}  // namespace frit::python
