// class_statements.h: the program's class statements.
#pragma once

#include "python/python.h"

namespace frit::python {

std::vector<PyMethodDef> class_functions();
void make_derived_metaclass_type();

}  // namespace frit::python
