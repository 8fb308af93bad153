// protocols.cpp: how NumPy and other libraries meet our arrays and scalars.
#include "python/protocols.h"

#define NO_IMPORT_UFUNC
#include "python/python.h"

#include <numpy/ufuncobject.h>

#include "python/array_type.h"
#include "python/fallback.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/source.h"
#include "python/ufunc_type.h"

namespace frit::python {
namespace {

PyObject* functions_of_door = nullptr;
PyObject* namespace_of_door = nullptr;

// ---- NumPy's dispatch ---------------------------------------------------------------------------

// An operand that decides for itself: no call of ours may settle it.
bool has_own_say(PyObject* object) {
  if (is_array(object) || is_scalar(object) || PyArray_CheckExact(object) ||
      is_plain_scalar(object) || PyList_CheckExact(object) || PyTuple_CheckExact(object) ||
      object == Py_None)
    return false;
  const Ref special = Ref::steal(PyObject_GetAttr(as_object(Py_TYPE(object)), numpy.array_ufunc));
  if (!special) PyErr_Clear();
  return special && !PyArray_Check(object);
}

// What an installed library asks of NumPy: it expects NumPy's own arrays, and may give them to C.
PyObject* call_for_library(PyObject* function, PyObject* arguments, PyObject* keywords) {
  const Ref real_arguments = real_deep(arguments);
  const Ref real_keywords = keywords ? real_deep(keywords) : Ref();
  const NumPyCall call(function);
  return checked(PyObject_Call(function, real_arguments.get(), real_keywords.get())).release();
}

Ref tuple_of(PyObject* const* values, Py_ssize_t count) {
  Ref tuple = checked(PyTuple_New(count));
  for (Py_ssize_t k = 0; k < count; ++k) PyTuple_SET_ITEM(tuple.get(), k, Py_NewRef(values[k]));
  return tuple;
}

Ref dictionary_of(PyObject* names, PyObject* const* values) {
  Ref dictionary = checked(PyDict_New());
  const Py_ssize_t count = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t k = 0; k < count; ++k)
    checked_status(PyDict_SetItem(dictionary.get(), PyTuple_GET_ITEM(names, k), values[k]));
  return dictionary;
}

// Its own text, as long as it lives.
const char* name_of_ufunc(PyObject* ufunc) {
  const char* name = PyObject_TypeCheck(ufunc, reinterpret_cast<PyTypeObject*>(numpy.ufunc))
                         ? reinterpret_cast<PyUFuncObject*>(ufunc)->name
                         : nullptr;
  return name ? name : "?";  // as NumPy calls one without
}

// __array_ufunc__(self, ufunc, method, *inputs, **kwargs)
PyObject* array_ufunc(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  note_source();
  return guarded([&]() -> PyObject* {
    if (count < 2) raise(PyExc_TypeError, "__array_ufunc__ takes at least 2 arguments");
    for (Py_ssize_t k = 2; k < count; ++k)
      if (values[k] != self && has_own_say(values[k])) return Py_NewRef(Py_NotImplemented);
    const char* method = PyUnicode_AsUTF8(values[1]);
    if (!method) throw PythonError{};
    if (is_called_by_library()) {
      const Ref function = checked(PyObject_GetAttr(values[0], values[1]));
      return call_for_library(function.get(), tuple_of(values + 2, count - 2).get(),
                              dictionary_of(names, values + count).get());
    }
    const Arguments arguments{values + 2, count - 2, names};
    PyObject* ours = ufunc_for(values[0]);
    const bool is_call = std::string_view(method) == "__call__";
    if (ours)
      return is_call ? call_ufunc(ufunc_of(ours), arguments)
                     : call_ufunc_method(ufunc_of(ours), method, arguments);
    const Ref function =
        is_call ? Ref::borrow(values[0]) : checked(PyObject_GetAttr(values[0], values[1]));
    return fall_back(name_of_ufunc(values[0]), function.get(), arguments,
                     "a ufunc of another library");
  });
}

// __array_function__(self, func, types, args, kwargs)
PyObject* array_function(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  note_source();
  return guarded([&]() -> PyObject* {
    PyObject* slots[4];
    const char* const slot_names[] = {"func", "types", "args", "kwargs"};
    sort_arguments({values, count, names}, slot_names, 4, slots);
    for (PyObject* slot : slots)
      if (!slot) raise(PyExc_TypeError, "__array_function__ takes 4 arguments");
    auto [function, types, arguments, keywords] = slots;
    if (!PyTuple_CheckExact(arguments)) raise(PyExc_TypeError, "args must be a tuple.");
    if (!PyDict_CheckExact(keywords)) raise(PyExc_TypeError, "kwargs must be a dict.");
    // It converts what it finds in its sequences.
    if (NumPyCall::is_at_work(function)) {
      const Ref behind_dispatch = checked(PyObject_GetAttrString(function, "_implementation"));
      return checked(PyObject_Call(behind_dispatch.get(), arguments, keywords)).release();
    }
    if (is_called_by_library()) return call_for_library(function, arguments, keywords);
    if (functions_of_door) {
      PyObject* ours = PyDict_GetItemWithError(functions_of_door, function);
      if (ours) return checked(PyObject_Call(ours, arguments, keywords)).release();
      if (PyErr_Occurred()) throw PythonError{};
    }
    const Ref real_arguments = real_deep(arguments);
    const Ref real_keywords = real_deep(keywords);
    const NumPyCall call(function);
    return object_of_result(
        checked(PyObject_Call(function, real_arguments.get(), real_keywords.get())));
  });
}

PyObject* array_namespace(PyObject*, PyObject* values, PyObject* keywords) {
  if (PyTuple_GET_SIZE(values) > 0 || keywords) {
    // Whether there is such a version says an array of NumPy's own.
    npy_intp none = 0;
    const Ref real = Ref::steal(PyArray_SimpleNew(1, &none, NPY_DOUBLE));
    const Ref method =
        real ? Ref::steal(PyObject_GetAttrString(real.get(), "__array_namespace__")) : Ref();
    if (!method || !Ref::steal(PyObject_Call(method.get(), values, keywords))) return nullptr;
  }
  if (namespace_of_door) return Py_NewRef(namespace_of_door);
  return PyImport_ImportModule("frit.numpy");
}

// ---- conversion ---------------------------------------------------------------------------------

// The real array's method of this name, with our arguments, its result as it is.
PyObject* call_method_of(Ref real, const char* name, const Arguments& arguments) {
  const Ref function = checked(PyObject_GetAttrString(real.get(), name));
  return checked(PyObject_Vectorcall(function.get(), arguments.values,
                                     static_cast<std::size_t>(arguments.positional),
                                     arguments.names))
      .release();
}

template <const char* const* name>
PyObject* real_method(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  note_source();
  return guarded([&] { return call_method_of(real_object(self), *name, {values, count, names}); });
}
constexpr const char* array_name = "__array__";
constexpr const char* dlpack_name = "__dlpack__";
constexpr const char* dlpack_device_name = "__dlpack_device__";
constexpr const char* reduce_name = "__reduce__";
constexpr const char* reduce_ex_name = "__reduce_ex__";
constexpr const char* format_name = "__format__";
constexpr const char* complex_name = "__complex__";
constexpr const char* round_name = "__round__";
constexpr const char* trunc_name = "__trunc__";

// The result of somebody's computation on arrays, as an array of this class.
PyObject* array_wrap(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  note_source();
  return guarded([&] {
    std::vector<PyObject*> all{self};
    all.insert(all.end(), values, values + count + (names ? PyTuple_GET_SIZE(names) : 0));
    return call_numpy(ndarray_method("__array_wrap__"), {all.data(), count + 1, names});
  });
}

// round() has words of its own for a type without the method.
PyObject* scalar_round(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  note_source();
  return guarded([&] {
    Ref real = real_object(self);
    if (PyObject_HasAttrString(real.get(), round_name) == 0)
      raise(PyExc_TypeError, "type %s doesn't define %s method", Py_TYPE(real.get())->tp_name,
            round_name);
    return call_method_of(std::move(real), round_name, {values, count, names});
  });
}

// A scalar is not an array with memory to share: NumPy makes one.
PyObject* scalar_array(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  note_source();
  return guarded([&]() -> PyObject* {
    PyObject* slots[2];
    const char* const slot_names[] = {"dtype", "copy"};
    sort_arguments({values, count, names}, slot_names, 2, slots);
    const Ref array = checked(PyArray_FromScalar(scalar_value(scalar_of(self)), nullptr));
    if (!slots[0] || slots[0] == Py_None) return Py_NewRef(array.get());
    return checked(PyObject_CallMethod(array.get(), "astype", "O", slots[0])).release();
  });
}

PyObject* scalar_complex(PyObject* self, PyObject*) {
  note_source();
  return guarded([&] {
    return PyObject_CallOneArg(as_object(&PyComplex_Type), scalar_value(scalar_of(self)));
  });
}

PyObject* copy_array(PyObject* self, PyObject*) {
  note_source();
  return guarded([&] { return new_array(copy(array_of(self).array, 'K')); });
}

PyObject* size_of_array(PyObject* self, PyObject*) {
  const ArrayObject& object = array_of(self);
  const bool owns = !object.owner && !object.array.base()->foreign;
  const std::int64_t elements = owns ? object.array.size() * size_of(object.array.dtype()) : 0;
  constexpr std::int64_t header = 96, axis = 16;  // as NumPy's arrays say
  return PyLong_FromLongLong(header + axis * object.array.ndim() + elements);
}

PyObject* size_of_scalar(PyObject* self, PyObject*) {
  constexpr int header = 24;  // as NumPy's scalars say
  return PyLong_FromLong(header + size_of(scalar_of(self).array.dtype()));
}

// What looks at values by such a hint asks the class that it is made of.
PyObject* class_item(PyObject* type, PyObject* key) {
  return guarded([&] {
    const Ref real =
        checked(PyObject_CallMethod(numpy.ndarray, "__class_getitem__", "(O)", key));  // one key
    const Ref arguments = checked(PyObject_GetAttrString(real.get(), "__args__"));
    return checked(Py_GenericAlias(type, arguments.get())).release();
  });
}

constexpr int fast = METH_FASTCALL | METH_KEYWORDS;

}  // namespace

void set_functions(PyObject* functions) { Py_XSETREF(functions_of_door, Py_NewRef(functions)); }
void set_namespace(PyObject* module) { Py_XSETREF(namespace_of_door, Py_NewRef(module)); }

std::vector<PyMethodDef> array_protocol_methods() {
  return {{"__array_ufunc__", as_c_function(array_ufunc), fast, nullptr},
          {"__array_function__", as_c_function(array_function), fast, nullptr},
          {"__array_namespace__", as_c_function(array_namespace), METH_VARARGS | METH_KEYWORDS,
           nullptr},
          {"__array__", as_c_function(real_method<&array_name>), fast, nullptr},
          {"__array_wrap__", as_c_function(array_wrap), fast, nullptr},
          {"__dlpack__", as_c_function(real_method<&dlpack_name>), fast, nullptr},
          {"__dlpack_device__", as_c_function(real_method<&dlpack_device_name>), fast, nullptr},
          {"__reduce__", as_c_function(real_method<&reduce_name>), fast, nullptr},
          {"__reduce_ex__", as_c_function(real_method<&reduce_ex_name>), fast, nullptr},
          {"__format__", as_c_function(real_method<&format_name>), fast, nullptr},
          {"__complex__", as_c_function(real_method<&complex_name>), fast, nullptr},
          {"__sizeof__", size_of_array, METH_NOARGS, nullptr},
          {"__copy__", copy_array, METH_NOARGS, nullptr},
          {"__deepcopy__", copy_array, METH_O, nullptr},
          {"__class_getitem__", class_item, METH_O | METH_CLASS, nullptr}};
}

std::vector<PyMethodDef> scalar_protocol_methods() {
  return {{"__array__", as_c_function(scalar_array), fast, nullptr},
          {"__array_ufunc__", as_c_function(array_ufunc), fast, nullptr},
          {"__array_function__", as_c_function(array_function), fast, nullptr},
          {"__reduce__", as_c_function(real_method<&reduce_name>), fast, nullptr},
          {"__reduce_ex__", as_c_function(real_method<&reduce_ex_name>), fast, nullptr},
          {"__format__", as_c_function(real_method<&format_name>), fast, nullptr},
          {"__complex__", scalar_complex, METH_NOARGS, nullptr},
          {"__round__", as_c_function(scalar_round), fast, nullptr},
          {"__sizeof__", size_of_scalar, METH_NOARGS, nullptr}};
}

PyMethodDef float_truncation() {
  return {"__trunc__", as_c_function(real_method<&trunc_name>), fast, nullptr};
}

}  // namespace frit::python
