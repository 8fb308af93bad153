// kernel_values.cpp: Python objects -> the values of a launch.
#include "python/kernel_values.h"

#include "ops/ops.h"
#include "python/kernels.h"
#include "python/numpy_api.h"

namespace frit::python {

namespace {

std::uint64_t key_of(std::uint64_t kind, DType dtype, int ndim = 0) {
  return kind | static_cast<std::uint64_t>(dtype) << 8 | static_cast<std::uint64_t>(ndim) << 16;
}

void take_array(Value& value, const Array& array, bool read_only = false) {
  value.array = array;
  value.read_only = read_only;
  value.key = key_of(array_key, array.dtype(), array.ndim());
}

void take_number(Value& value, const Scalar& scalar) {
  value.scalar = scalar;
  value.key = key_of(number_key, scalar.dtype);
  if (is_integer(scalar.dtype) && scalar.dtype != DType::UInt64)
    value.integer = cast_scalar(scalar, DType::Int64).as<std::int64_t>();
}

void take_integer(Value& value, PyObject* object) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) {
    PyErr_SetString(PyExc_OverflowError, "kernel: an integer argument is beyond 64 bits");
    throw PythonError{};
  }
  value.integer = number;
  const bool small = number >= INT32_MIN && number <= INT32_MAX;
  value.scalar = small ? Scalar::of(DType::Int32, static_cast<std::int32_t>(number))
                       : Scalar::of(DType::Int64, static_cast<std::int64_t>(number));
  value.key = key_of(number_key, value.scalar.dtype);
}

[[noreturn]] void refuse_ndarray(PyArrayObject* array) {
  PyArray_Descr* dtype = PyArray_DESCR(array);
  if (dtype_of(dtype) && !PyArray_ISALIGNED(array))
    raise(PyExc_TypeError,
          "kernel: an ndarray of %R whose elements are not aligned: give a copy of it", dtype);
  raise(PyExc_TypeError, "kernel: an ndarray of a type that is not supported: %R", dtype);
}

}  // namespace

void take_value(Value& value, PyObject* object) {
  if (object == nullptr) {
    value.key = absent_key;
  } else if (PyObject_TypeCheck(object, view_type)) {
    PyObject* array = view_of(object).array;
    if (!array) raise(PyExc_ValueError, "kernel: a view that was not initialised");
    take_array(value, array_of(array).array, array_of(array).read_only);
  } else if (PyFloat_CheckExact(object)) {
    value.scalar = Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(object));
    value.key = key_of(number_key, DType::Float64);
  } else if (PyLong_CheckExact(object)) {
    take_integer(value, object);
  } else if (PyBool_Check(object)) {
    take_number(value,
                Scalar::of(DType::Bool, static_cast<std::uint8_t>(object == Py_True ? 1 : 0)));
  } else if (is_array(object)) {
    take_array(value, array_of(object).array, array_of(object).read_only);
  } else if (is_scalar(object)) {
    take_array(value, scalar_of(object).array);
  } else if (PyArray_CheckExact(object)) {
    std::optional<Array> array = wrap_ndarray(object);
    if (!array) refuse_ndarray(reinterpret_cast<PyArrayObject*>(object));
    take_array(value, *array, !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(object)));
    value.foreign = array->base()->foreign;
  } else if (const std::optional<Scalar> scalar = numpy_scalar_value(object)) {
    take_number(value, *scalar);
  } else {
    value.key = object_key | reinterpret_cast<std::uintptr_t>(object) << 3;
  }
}

namespace {

// What the function's definition gives a parameter; null (no error) if nothing.
Ref default_value(PyObject* function, PyObject* name) {
  if (PyObject* by_name = PyFunction_GET_KW_DEFAULTS(function)) {
    Ref found = Ref::borrow(PyDict_GetItemWithError(by_name, name));
    if (found || PyErr_Occurred()) return found;
  }
  PyObject* last = PyFunction_GET_DEFAULTS(function);
  if (!last) return {};
  const Ref names = checked(PyObject_GetAttrString(PyFunction_GET_CODE(function), "co_varnames"));
  const auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  const Py_ssize_t count = PyTuple_GET_SIZE(last), first = code->co_argcount - count;
  for (Py_ssize_t k = 0; k < count; ++k)
    if (PyUnicode_Compare(PyTuple_GET_ITEM(names.get(), first + k), name) == 0)
      return Ref::borrow(PyTuple_GET_ITEM(last, k));
  return {};
}

Ref given_value(PyObject* name, PyObject* const* values, PyObject* names) {
  const Py_ssize_t count = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t k = 0; k < count; ++k)
    if (PyTuple_GET_ITEM(names, k) == name) return Ref::borrow(values[k]);
  for (Py_ssize_t k = 0; k < count; ++k)
    if (PyUnicode_Compare(PyTuple_GET_ITEM(names, k), name) == 0) return Ref::borrow(values[k]);
  return {};
}

}  // namespace

Ref slot_value(const Slot& slot, const Callee& callee, PyObject* const* values, PyObject* names) {
  Ref object;
  switch (slot.root) {
    case Slot::Root::Keyword:
      object = given_value(slot.name.get(), values, names);
      if (!object) object = default_value(callee.function, slot.name.get());
      if (!object && PyErr_Occurred()) throw PythonError{};
      break;
    case Slot::Root::Self:
      object = Ref::borrow(callee.self);
      break;
    case Slot::Root::Global:
      object = Ref::borrow(
          PyDict_GetItemWithError(PyFunction_GET_GLOBALS(callee.function), slot.name.get()));
      if (!object && PyErr_Occurred()) throw PythonError{};
      break;
    case Slot::Root::Cell: {
      PyObject* closure = PyFunction_GET_CLOSURE(callee.function);
      if (closure && slot.cell < PyTuple_GET_SIZE(closure))
        object = Ref::steal(PyCell_Get(PyTuple_GET_ITEM(closure, slot.cell)));
      break;
    }
    case Slot::Root::Dictionary:
    case Slot::Root::CellObject:
      break;
  }
  if (slot.root == Slot::Root::Dictionary) {
    object = Ref::borrow(PyDict_GetItemWithError(slot.holder.get(), slot.name.get()));
    if (!object && PyErr_Occurred()) throw PythonError{};
  }
  if (slot.root == Slot::Root::CellObject) object = Ref::steal(PyCell_Get(slot.holder.get()));
  for (const Ref& attribute : slot.attributes) {
    if (!object) return object;
    object = Ref::steal(PyObject_GetAttr(object.get(), attribute.get()));
    if (!object) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError{};
      PyErr_Clear();
    }
  }
  return object;
}

Slot slot_from(PyObject* row) {
  Slot slot;
  const Ref items = checked(PySequence_Tuple(row));
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  if (count < 2) raise(PyExc_ValueError, "a slot has a root and a name");
  const long root = PyLong_AsLong(PyTuple_GET_ITEM(items.get(), 0));
  if (root < 0 || root > 5) raise(PyExc_ValueError, "a slot's root is 0 to 5");
  slot.root = static_cast<Slot::Root>(root);
  const auto interned = [](PyObject* text) {
    if (!PyUnicode_CheckExact(text)) raise(PyExc_TypeError, "a slot's name is a string");
    PyObject* name = Py_NewRef(text);
    PyUnicode_InternInPlace(&name);
    return Ref::steal(name);
  };
  PyObject* name = PyTuple_GET_ITEM(items.get(), 1);
  if (slot.root == Slot::Root::Cell) {
    slot.cell = PyLong_AsSsize_t(name);
    if (slot.cell < 0) raise(PyExc_ValueError, "a cell has a number");
  } else if (slot.root == Slot::Root::CellObject) {
    if (!PyCell_Check(name)) raise(PyExc_TypeError, "a slot's cell is a cell");
    slot.holder = Ref::borrow(name);
  } else if (slot.root == Slot::Root::Dictionary) {
    PyObject *dictionary, *key;
    if (!PyArg_ParseTuple(name, "O!O", &PyDict_Type, &dictionary, &key)) throw PythonError{};
    slot.holder = Ref::borrow(dictionary);
    slot.name = interned(key);
  } else {
    slot.name = interned(name);
  }
  for (Py_ssize_t k = 2; k < count; ++k)
    slot.attributes.push_back(interned(PyTuple_GET_ITEM(items.get(), k)));
  return slot;
}

}  // namespace frit::python
