// module_names.h: names of a module that are found when somebody first asks for them.
#pragma once

#include <vector>

#include "python/python.h"

namespace frit::python {

std::vector<PyMethodDef> module_name_functions();

}  // namespace frit::python
