// question_shortcuts.cpp: shortcuts of functions that ask for types and flags, and compute nothing.
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

// Asks of the only argument; null: NumPy answers.
using Question = PyObject* (*)(PyObject* object);

template <Question question>
PyObject* answer(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  PyObject* const known = positional == 1 && !names ? question(values[0]) : nullptr;
  return known ? Py_NewRef(known) : left_to_numpy();
}

PyObject* truth(bool value) { return value ? Py_True : Py_False; }

bool is_python_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         PyComplex_CheckExact(object);
}

PyObject* iterable(PyObject* object) {
  if (is_array(object)) return truth(array_of(object).array.layout()->ndim() > 0);
  if (is_python_number(object)) return Py_False;
  const bool is_sequence = PyTuple_CheckExact(object) || PyList_CheckExact(object) ||
                           PyDict_CheckExact(object) || PyUnicode_CheckExact(object);
  return is_sequence ? Py_True : nullptr;
}

PyObject* is_fortran(PyObject* object) {
  if (!is_array(object)) return nullptr;
  const Layout& layout = *array_of(object).array.layout();
  return truth(layout.f_contiguous() && !layout.c_contiguous());
}

PyObject* is_scalar_object(PyObject* object) {
  if (is_python_number(object) || PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
      PyArray_IsScalar(object, Generic))
    return Py_True;
  const bool is_collection = is_array(object) || PyArray_CheckExact(object) ||
                             PyTuple_CheckExact(object) || PyList_CheckExact(object) ||
                             PyDict_CheckExact(object) || object == Py_None;
  return is_collection ? Py_False : nullptr;
}

PyObject* descriptor(DType dtype) { return as_object(descriptor_of(dtype)); }

// The smallest type that holds a Python integer of 32 bits.
PyObject* least_type(PyObject* object) {
  const std::optional<std::int64_t> number = word_of(object);
  if (!number || *number < INT32_MIN || *number > UINT32_MAX) return nullptr;
  if (*number < 0)
    return descriptor(*number >= INT8_MIN    ? DType::Int8
                      : *number >= INT16_MIN ? DType::Int16
                                             : DType::Int32);
  return descriptor(*number <= UINT8_MAX    ? DType::UInt8
                    : *number <= UINT16_MAX ? DType::UInt16
                                            : DType::UInt32);
}

// can_cast(from, to) of types.
PyObject* can_cast(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (positional != 2 || names) return left_to_numpy();
  return guarded([&] {
    std::optional<DType> types[2];
    for (int k = 0; k < 2; ++k)
      if (PyType_Check(values[k]) || PyArray_DescrCheck(values[k]))
        types[k] = native_dtype(values[k]);
    return types[0] && types[1]
               ? Py_NewRef(truth(frit::can_cast(*types[0], *types[1], Casting::Safe)))
               : left_to_numpy();
  });
}

// common_type(*arrays): a type of floats that holds them all.
PyObject* common_type(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (names) return left_to_numpy();
  bool any_complex = false;
  int bytes = 2;  // of a real number
  for (Py_ssize_t k = 0; k < positional; ++k) {
    if (!is_array(values[k])) return left_to_numpy();
    const DType dtype = array_behind(values[k]).dtype();
    if (is_bool(dtype)) return left_to_numpy();  // refused by NumPy
    any_complex |= is_complex(dtype);
    const DType part = is_complex(dtype) ? real_of(dtype) : dtype;
    bytes = std::max(bytes, is_integer(dtype) ? 8 : size_of(part));
  }
  const DType real = bytes == 8 ? DType::Float64 : bytes == 4 ? DType::Float32 : DType::Float16;
  const DType type = !any_complex             ? real
                     : real == DType::Float64 ? DType::Complex128
                                              : DType::Complex64;
  return Py_NewRef(as_object(descriptor_of(type)->typeobj));
}

}  // namespace

std::vector<PyMethodDef> question_shortcuts() {
  return {plain_row("iterable", answer<iterable>),
          plain_row("isfortran", answer<is_fortran>),
          plain_row("isscalar", answer<is_scalar_object>),
          plain_row("min_scalar_type", answer<least_type>),
          plain_row("can_cast", can_cast),
          plain_row("common_type", common_type)};
}

}  // namespace frit::python
