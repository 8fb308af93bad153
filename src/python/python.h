// python.h: what the extension's files share: owned references, errors, NumPy's C interface.
#pragma once

#include <Python.h>

#define PY_ARRAY_UNIQUE_SYMBOL FRIT_NUMPY_API
#ifndef FRIT_IMPORTS_NUMPY  // numpy_api.cpp alone loads the table of functions
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frit/array.h"
#include "ir/error.h"

namespace frit::python {

// A Python error is set: unwinds to the next guarded().
struct PythonError {};
// Nothing is wrong, but this case is not done natively: NumPy does it. The reason goes into the
// report.
struct Unfit {
  const char* reason;
};

// An owned reference.
class Ref {
 public:
  Ref() = default;
  static Ref steal(PyObject* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  static Ref borrow(PyObject* object) { return steal(Py_XNewRef(object)); }
  Ref(const Ref& other) : object_(Py_XNewRef(other.object_)) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// The result of a C function that sets an error when it gives null.
inline Ref checked(PyObject* object) {
  if (!object) throw PythonError{};
  return Ref::steal(object);
}
inline void checked_status(int status) {
  if (status < 0) throw PythonError{};
}

// A table of methods or attributes, ended: types and functions point into it for ever. Each call
// has its own, for the module is made again where its first import has failed.
template <class Row>
Row* kept_table(std::vector<Row> rows) {
  static std::vector<std::vector<Row>> kept;
  rows.push_back({});
  kept.push_back(std::move(rows));
  return kept.back().data();
}
// Python's own, whatever the frame that runs has; a new reference, or null with an error set.
PyObject* builtin(const char* name);
template <class Type>
PyObject* as_object(Type* object) {
  return reinterpret_cast<PyObject*>(object);
}

// A function with any of CPython's signatures, for a table of methods, whose flags tell which.
template <class Function>
PyCFunction as_c_function(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// Puts a function in front of a C method that takes METH_FASTCALL | METH_KEYWORDS, for good. Gives
// what was there; null: the method is of another kind, and stays.
_PyCFunctionFastWithKeywords put_in_front(PyObject* method, _PyCFunctionFastWithKeywords function);

// The end of a dealloc: the memory of an object of ours goes, and its hold on its type.
inline void free_object(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(as_object(type));
}

// Turns the C++ exception in flight into a Python error.
void set_error_from_exception() noexcept;

// Runs C++ on behalf of the interpreter.
template <class Function>
PyObject* guarded(Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    set_error_from_exception();
    return nullptr;
  }
}
template <class Function>
int guarded_status(Function&& function) noexcept {
  try {
    function();
    return 0;
  } catch (...) {
    set_error_from_exception();
    return -1;
  }
}

[[noreturn]] void raise(PyObject* type, const char* format, ...);

using Shape = std::vector<std::int64_t>;

// The arguments of a METH_FASTCALL | METH_KEYWORDS function or of a vectorcall.
struct Arguments {
  PyObject* const* values = nullptr;
  Py_ssize_t positional = 0;
  PyObject* names = nullptr;  // tuple or null

  Py_ssize_t keywords() const { return names ? PyTuple_GET_SIZE(names) : 0; }
};

// Sorts arguments into `slots` by name, as a Python signature would. The first `most_positional`
// names may be given by position. Absent ones stay null. Throws Unfit for anything that does not
// match: NumPy words the error.
void sort_arguments(const Arguments& arguments, std::span<const char* const> names,
                    std::size_t most_positional, std::span<PyObject*> slots);

[[noreturn]] void wait_for_the_end_of_the_process() noexcept;

// Releases the GIL while it lives, and takes it again.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { take_back(); }

 private:
  void take_back();  // not noexcept: see there
  PyThreadState* state_;
};

}  // namespace frit::python
