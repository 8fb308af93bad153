// methods.h: how a method of Array is written: its name, its native form; NumPy does the rest.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "python/fallback.h"
#include "python/numpy_api.h"
#include "python/refusals.h"
#include "python/source.h"

namespace frit::python {

// call(self and the arguments behind it).
template <class Call>
PyObject* call_with_self(PyObject* self, const Arguments& arguments, Call&& call) {
  const Py_ssize_t count = arguments.positional + arguments.keywords();
  ArgumentRoom room(count + 1);
  PyObject** const values = room.values();
  values[0] = self;
  std::copy_n(arguments.values, count, values + 1);
  return call(Arguments{values, arguments.positional + 1, arguments.names});
}

// numpy.ndarray.name(self, ...).
inline PyObject* call_real_method(const char* name, PyObject* self, const Arguments& arguments,
                                  const char* reason) {
  return call_with_self(self, arguments, [&](const Arguments& all) {
    return fall_back(name, ndarray_method(name), all, reason);
  });
}
// The same of a method that reads the real array, or changes it in place: no loss, so not counted
// as a fallback.
inline PyObject* call_on_real(const char* name, PyObject* self, const Arguments& arguments) {
  return call_with_self(
      self, arguments, [&](const Arguments& all) { return call_numpy(ndarray_method(name), all); });
}

// A method is a struct with `name` and `run(self, arguments)`, which may throw Unfit.
template <class Method>
PyObject* method(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  note_source();
  return native_or(
      {Method::name, arguments, self},
      [&] {
        Ref result = Ref::steal(Method::run(self, arguments));
        settle_warnings();
        return result.release();
      },
      [&](const char* reason) { return call_real_method(Method::name, self, arguments, reason); });
}

template <class Method>
PyMethodDef method_row(const char* name = Method::name) {
  return {name, as_c_function(method<Method>), METH_FASTCALL | METH_KEYWORDS, nullptr};
}

// A function in C that is no method.
using PlainFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
inline PyMethodDef plain_row(const char* name, PlainFunction function) {
  return {name, as_c_function(function), METH_FASTCALL | METH_KEYWORDS, nullptr};
}

// An address that stands for a C function.
template <auto function>
constexpr char address_of = 0;

// A shortcut is a function of NumPy's name for the plain case: arrays of ours and few options. It
// answers NotImplemented in all others: Native then calls the function itself.
inline PyObject* left_to_numpy() { return Py_NewRef(Py_NotImplemented); }

template <class Run>
PyObject* shortcut(const CallOf& call, Run&& run) {
  note_source();
  return native_or(
      call,
      [&] {
        Ref result = Ref::steal(run());
        settle_warnings();
        return result.release();
      },
      [](const char*) { return left_to_numpy(); });
}

// A method, where NumPy's function takes the same after the array.
template <class Method>
PyObject* method_shortcut(PyObject*, PyObject* const* values, Py_ssize_t positional,
                          PyObject* names) {
  if (positional == 0 || !is_array(values[0])) return left_to_numpy();
  return shortcut({&address_of<method_shortcut<Method>>, {values, positional, names}}, [&] {
    return Method::run(values[0], {values + 1, positional - 1, names});
  });
}
template <class Method>
PyMethodDef shortcut_row(const char* name = Method::name) {
  return {name, as_c_function(method_shortcut<Method>), METH_FASTCALL | METH_KEYWORDS, nullptr};
}

// A function is written the same way, without self; numpy.name is its fallback.
template <class Function>
PyObject* function(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  note_source();
  return native_or(
      {Function::name, arguments},
      [&] {
        Ref result = Ref::steal(Function::run(arguments));
        settle_warnings();
        return result.release();
      },
      [&](const char* reason) {
        return fall_back(Function::name, numpy_function(Function::name), arguments, reason);
      });
}

template <class Function>
PyMethodDef function_row() {
  return {Function::name, as_c_function(function<Function>), METH_FASTCALL | METH_KEYWORDS,
          nullptr};
}

// The arguments under these names, in this order; the first `most_positional` may be given by
// position.
template <std::size_t count>
std::array<PyObject*, count> named(const Arguments& arguments, const char* const (&names)[count],
                                   std::size_t most_positional = count) {
  std::array<PyObject*, count> slots;
  sort_arguments(arguments, names, most_positional, slots);
  return slots;
}

// For functions that take options which they leave to NumPy.
inline void refuse_options(const Arguments& arguments) {
  if (arguments.positional + arguments.keywords() > 0) throw Unfit{"options"};
}

// The only other argument, which must be an array.
inline const Array& other_array(const Arguments& arguments) {
  if (arguments.positional != 1 || arguments.names || !is_array(arguments.values[0]))
    throw Unfit{"options"};
  return array_behind(arguments.values[0]);
}

}  // namespace frit::python
