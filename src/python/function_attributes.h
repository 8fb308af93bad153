// function_attributes.h: what a callable that stands for a function of NumPy's has from it.
//
// Names, signature and text are read when somebody asks, as most are never asked for, and libraries
// change the texts of NumPy's functions. What is set stands in the callable's dictionary.
#pragma once

#include "python/fallback.h"

namespace frit::python {

// As an attribute of a class, is the function the method of its objects? Python's functions are,
// and those of NumPy's that ask for __array_function__; those in C are not.
inline bool becomes_method(PyObject* function) {
  return PyFunction_Check(function) ||
         std::string_view(Py_TYPE(function)->tp_name).ends_with("_ArrayFunctionDispatcher");
}

// What a class's attribute is to an object of it.
inline PyObject* bound(PyObject* function, PyObject* instance, bool is_method) {
  if (!instance || instance == Py_None || !is_method) return Py_NewRef(function);
  return PyMethod_New(function, instance);
}

// Object: a struct with `function`, which is NumPy's, and `dictionary`.
template <class Object>
struct FunctionAttributes {
  static PyObject* get(PyObject* object, void* name) {
    const auto& self = *reinterpret_cast<Object*>(object);
    const auto* text = static_cast<const char*>(name);
    if (PyObject* own = self.dictionary ? PyDict_GetItemString(self.dictionary, text) : nullptr)
      return Py_NewRef(own);
    PyObject* const found = PyObject_GetAttrString(self.function, text);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    if (std::string_view(text) == "__wrapped__") {
      PyErr_Clear();
      return Py_NewRef(self.function);
    }
    return nullptr;
  }
  // A library's function in Python is one for inspect, which then looks into it.
  static PyObject* kind(PyObject* object, void*) {
    if constexpr (requires(Object self) { self.is_foreign; }) {
      const auto& self = *reinterpret_cast<Object*>(object);
      if (self.is_foreign && PyFunction_Check(self.function))
        return Py_NewRef(as_object(&PyFunction_Type));
    }
    return Py_NewRef(as_object(Py_TYPE(object)));
  }
  static PyObject* of_python_function(PyObject* object, void* name) {
    const auto* text = static_cast<const char*>(name);
    if (Ref::steal(kind(object, nullptr)).get() == as_object(&PyFunction_Type))
      return PyObject_GetAttrString(reinterpret_cast<Object*>(object)->function, text);
    PyErr_SetString(PyExc_AttributeError, text);
    return nullptr;
  }
  static constexpr PyGetSetDef python_row(const char* name) {
    return {name, of_python_function, nullptr, nullptr, const_cast<char*>(name)};
  }
  static int set(PyObject* object, PyObject* value, void* name) {
    auto& self = *reinterpret_cast<Object*>(object);
    const auto* text = static_cast<const char*>(name);
    if (!self.dictionary && !(self.dictionary = PyDict_New())) return -1;
    if (value) return PyDict_SetItemString(self.dictionary, text, value);
    if (PyDict_DelItemString(self.dictionary, text) == 0) return 0;
    if (PyErr_ExceptionMatches(PyExc_KeyError)) PyErr_SetString(PyExc_AttributeError, text);
    return -1;
  }
  // NumPy's function without its protocol (NEP 18), for an __array_function__ of the program's.
  static PyObject* implementation(PyObject* object, void*) {
    return guarded([&] {
      PyObject* const function = reinterpret_cast<Object*>(object)->function;
      const Ref found = checked(PyObject_GetAttrString(function, "_implementation"));
      const Ref name = checked(PyObject_GetAttrString(function, "__name__"));
      const char* const text = PyUnicode_AsUTF8(name.get());
      return checked(text ? new_fallback(text, found.get()) : nullptr).release();
    });
  }
  // Those of frit.numpy by their place there, which has another object than NumPy's module of that
  // name; others by name, as functions are.
  static PyObject* reduce(PyObject* object, PyObject*) {
    PyObject* const dictionary = reinterpret_cast<Object*>(object)->dictionary;
    PyObject* const path = dictionary ? PyDict_GetItemString(dictionary, "_path") : nullptr;
    if (!path) return PyObject_GetAttrString(object, "__qualname__");
    return guarded([&] {
      const Ref pickles = checked(PyImport_ImportModule("frit.numpy._pickles"));
      const Ref named = checked(PyObject_GetAttrString(pickles.get(), "named"));
      return checked(Py_BuildValue("(O(O))", named.get(), path)).release();
    });
  }
  static constexpr PyGetSetDef row(const char* name) {
    return {name, get, set, nullptr, const_cast<char*>(name)};
  }
  static PyObject* documentation(PyObject* object, void*) {
    return PyObject_GetAttrString(reinterpret_cast<Object*>(object)->function, "__doc__");
  }

  static inline PyGetSetDef table[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
      {"__doc__", documentation, nullptr, nullptr, nullptr},
      {"__class__", kind, nullptr, nullptr, nullptr},
      python_row("__annotations__"),
      python_row("__code__"),
      python_row("__defaults__"),
      python_row("__kwdefaults__"),
      python_row("__closure__"),
      python_row("__globals__"),
      {"_implementation", implementation, nullptr, nullptr, nullptr},
      row("__name__"),
      row("__qualname__"),
      row("__signature__"),
      row("__text_signature__"),
      row("__wrapped__"),
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
};

}  // namespace frit::python
