// module_names.cpp: names of a module that are found when somebody first asks for them.
//
// The interpreter notes at an instruction where a module has the name that it reads, unless the
// module has a __getattr__, as NumPy's has: there each `np.sum` is a search, which takes as long as
// the addition of two numbers. So ours have none, and who asks for what they lack comes by here.
#include "python/module_names.h"

#include <unordered_map>

namespace frit::python {
namespace {

getattrofunc read_module = nullptr;  // Python's own

// The function of each module; both live as long as the process.
std::unordered_map<PyObject*, PyObject*>& finders() {
  static auto* all = new std::unordered_map<PyObject*, PyObject*>;
  return *all;
}

PyObject* read_or_find(PyObject* module, PyObject* name) {
  PyObject* const value = read_module(module, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  const auto found = finders().find(module);
  if (found == finders().end()) return nullptr;
  PyErr_Clear();
  const bool is_finder = PyUnicode_CompareWithASCIIString(name, "__getattr__") == 0;
  return is_finder ? Py_NewRef(found->second) : PyObject_CallOneArg(found->second, name);
}

// find_names(module, function): function(name) gives what the module lacks, as its __getattr__
// would, or raises AttributeError.
PyObject* find_names(PyObject*, PyObject* const* values, Py_ssize_t count) {
  return guarded([&] {
    if (count != 2 || !PyModule_CheckExact(values[0]))
      raise(PyExc_TypeError, "find_names takes a plain module and a function");
    if (!read_module) read_module = std::exchange(PyModule_Type.tp_getattro, read_or_find);
    PyObject*& finder = finders().try_emplace(values[0]).first->second;
    if (!finder) Py_INCREF(values[0]);
    Py_XSETREF(finder, Py_NewRef(values[1]));
    return Py_NewRef(Py_None);
  });
}

}  // namespace

std::vector<PyMethodDef> module_name_functions() {
  return {{"find_names", as_c_function(find_names), METH_FASTCALL, nullptr}};
}

}  // namespace frit::python
