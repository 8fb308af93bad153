// array_meta.cpp: Array's class: attributes, subclassing, construction, as numpy.ndarray's. And
// UFunc's.
#include <structmember.h>

#include <algorithm>
#include <array>

#include "python/array_type.h"
#include "python/fallback.h"
#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/stand_ins.h"
#include "python/ufunc_type.h"

namespace frit::python {
namespace {

// numpy.ndarray.name for real arrays and ours alike: np.ndarray.sum(x), super().__new__ and so on.
struct UnboundObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* ours;
  PyObject* real;
  _PyCFunctionFastWithKeywords straight;  // what `ours` calls; null: a call by another convention
};
PyTypeObject* unbound_type = nullptr;

// A method of the real ndarray on an instance of a subclass of it, with real objects for ours: not
// least numpy.ndarray where a program says np.ndarray.
Ref call_on_subclass(PyObject* method, const Arguments& arguments) {
  std::vector<Ref> held;
  std::vector<PyObject*> values;
  for (Py_ssize_t k = 0; k < arguments.positional + arguments.keywords(); ++k) {
    held.push_back(real_object(arguments.values[k]));
    values.push_back(held.back().get());
  }
  return checked(PyObject_Vectorcall(
      method, values.data(), static_cast<std::size_t>(arguments.positional), arguments.names));
}

// A method for classes that a program makes.
Ref method_of(PyMethodDef& row) {
  const Ref function = checked(PyCFunction_New(&row, nullptr));
  return checked(PyInstanceMethod_New(function.get()));
}

constexpr int fast = METH_FASTCALL | METH_KEYWORDS;

_PyCFunctionFastWithKeywords numpys_view = nullptr;

// x.view(np.ndarray) of an array that is NumPy's own: a matrix, dates, one of a class that the
// program derives. It gives a real array: it is how a subclass hands its data on to the
// __array_ufunc__ of the class that it comes from, NumPy's.
PyObject* view_as(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  PyObject* const ours = as_object(array_type);
  if (std::find(values, values + all, ours) == values + all)
    return numpys_view(self, values, count, names);
  ArgumentRoom room(all);
  std::replace_copy(values, values + all, room.values(), ours, numpy.ndarray);
  return numpys_view(self, room.values(), count, names);
}

// For good: what the program has made of such arrays outlives its use of our namespace.
void take_views() { numpys_view = put_in_front(ndarray_method("view"), view_as); }

// Arrays that nobody else has: none that was given as out=, which is handed on as it is.
bool is_new(PyObject* result) {
  if (Py_REFCNT(result) > 1) return false;
  if (!PyTuple_CheckExact(result)) return PyArray_CheckExact(result);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(result); ++k)
    if (Py_REFCNT(PyTuple_GET_ITEM(result, k)) > 1) return false;
  return true;
}

// What super().__array_ufunc__ and super().__array_function__ are in such a class. The real
// ndarray's refuse arrays of ours, which np.asarray(self) gives, as operands that have their own
// say.
template <const char* const* name>
PyObject* call_protocol(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    Ref result =
        Ref::steal(call_with_real_arguments(ndarray_method(*name), {values, count, names}));
    return is_new(result.get()) ? object_of_result(std::move(result)) : result.release();
  });
}
constexpr const char* array_ufunc_name = "__array_ufunc__";
constexpr const char* array_function_name = "__array_function__";

PyObject* call_unbound(PyObject* object, PyObject* const* values, std::size_t count,
                       PyObject* names) {
  const auto& self = *reinterpret_cast<UnboundObject*>(object);
  const Py_ssize_t positional = PyVectorcall_NARGS(count);
  if (positional > 0 && is_array(values[0]))
    return self.straight ? self.straight(values[0], values + 1, positional - 1, names)
                         : PyObject_Vectorcall(self.ours, values, count, names);
  return guarded([&] {
    return object_of_ndarray(call_on_subclass(self.real, {values, positional, names}));
  });
}

PyObject* bind_unbound(PyObject* object, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return Py_NewRef(object);
  return PyMethod_New(object, instance);
}

PyObject* unbound_attribute(PyObject* object, PyObject* name) {
  // The type's own text, which is none, would be found first.
  if (PyUnicode_CompareWithASCIIString(name, "__doc__") == 0)
    return PyObject_GetAttr(reinterpret_cast<UnboundObject*>(object)->real, name);
  PyObject* found = PyObject_GenericGetAttr(object, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(reinterpret_cast<UnboundObject*>(object)->real, name);
}

void dealloc_unbound(PyObject* object) {
  Py_XDECREF(reinterpret_cast<UnboundObject*>(object)->ours);
  Py_XDECREF(reinterpret_cast<UnboundObject*>(object)->real);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(as_object(type));
}

// What a class's method of this name was when it was last asked for: NumPy asks for __array_ufunc__
// two to four times in each operation with an operand of ours.
struct KnownMethod {
  Ref name;
  unsigned int version = 0;  // of the class, a new one after each change of it; 0: none
  Ref method;
};
// Never destroyed: the interpreter may be gone.
std::array<KnownMethod, 64>& known_methods = *new std::array<KnownMethod, 64>;

KnownMethod& known_method(PyObject* name) {
  return known_methods[(reinterpret_cast<std::uintptr_t>(name) >> 4) % known_methods.size()];
}

_PyCFunctionFastWithKeywords straight_call(PyObject* method) {
  if (!Py_IS_TYPE(method, &PyMethodDescr_Type)) return nullptr;
  const PyMethodDef& row = *reinterpret_cast<PyMethodDescrObject*>(method)->d_method;
  if (row.ml_flags != (METH_FASTCALL | METH_KEYWORDS)) return nullptr;
  return reinterpret_cast<_PyCFunctionFastWithKeywords>(reinterpret_cast<void (*)()>(row.ml_meth));
}

unsigned int version_of(PyObject* type) {
  auto* object = reinterpret_cast<PyTypeObject*>(type);
  return PyType_HasFeature(object, Py_TPFLAGS_VALID_VERSION_TAG) ? object->tp_version_tag : 0;
}

// What a class attribute is for classes: methods serve both kinds of arrays; everything else is as
// it is.
PyObject* get_attribute(PyObject* type, PyObject* name) {
  const unsigned int version = version_of(type);
  KnownMethod& known = known_method(name);
  if (known.name.get() == name && known.version == version && version != 0)
    return Py_NewRef(known.method.get());
  Ref ours = Ref::steal(PyType_Type.tp_getattro(type, name));
  if (!ours) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
    PyErr_Clear();
    return PyObject_GetAttr(numpy.ndarray, name);
  }
  const bool is_method =
      Py_IS_TYPE(ours.get(), &PyMethodDescr_Type) || Py_IS_TYPE(ours.get(), &PyWrapperDescr_Type);
  if (!is_method) {
    const bool creates = PyUnicode_CompareWithASCIIString(name, "__new__") == 0;
    return creates ? PyObject_GetAttr(numpy.ndarray, name) : ours.release();
  }
  Ref real = Ref::steal(PyObject_GetAttr(numpy.ndarray, name));
  if (!real) {
    PyErr_Clear();
    return ours.release();
  }
  auto* object = PyObject_New(UnboundObject, unbound_type);
  if (!object) return nullptr;
  object->call = call_unbound;
  object->straight = straight_call(ours.get());
  object->ours = ours.release();
  object->real = real.release();
  known = {Ref::borrow(name), version, Ref::borrow(as_object(object))};
  return as_object(object);
}

// numpy.ndarray(shape, dtype, buffer, offset, strides, order)
PyObject* construct_array(PyObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    return object_of_ndarray(checked(call_slot(PyObject_Call, numpy.ndarray, arguments, keywords)));
  });
}

// type("A", (Array,), {}): a subclass of the real ndarray.
PyObject* new_class(PyTypeObject* metatype, PyObject* arguments, PyObject* keywords) {
  if (PyTuple_GET_SIZE(arguments) != 3 || !PyTuple_Check(PyTuple_GET_ITEM(arguments, 1)))
    return PyType_Type.tp_new(metatype, arguments, keywords);
  return derive(nullptr, arguments, keywords);
}

void make_unbound_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(UnboundObject, call), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc_unbound)},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(bind_unbound)},
                         {Py_tp_getattro, reinterpret_cast<void*>(unbound_attribute)},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec = {
      "frit._core.UnboundMethod", sizeof(UnboundObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  unbound_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

}  // namespace

// (NumPy takes whatever is not the very method of ndarray for one that decides otherwise.)
Ref class_behind(PyObject* names) {
  static PyMethodDef rows[] = {
      {array_ufunc_name, as_c_function(call_protocol<&array_ufunc_name>), fast, nullptr},
      {array_function_name, as_c_function(call_protocol<&array_function_name>), fast, nullptr}};
  Ref methods;
  for (PyMethodDef& row : rows) {
    if (!PyDict_GetItemString(names, row.ml_name)) continue;
    if (!methods)
      methods = checked(Py_BuildValue("{s:s,s:()}", "__module__", "numpy", "__slots__"));
    checked_status(PyDict_SetItemString(methods.get(), row.ml_name, method_of(row).get()));
  }
  if (!methods) return methods;
  return checked(PyObject_CallFunction(as_object(&PyType_Type), "s()O", "ndarray", methods.get()));
}

void set_array_metaclass() {
  make_unbound_type();
  take_views();
  set_metaclass(array_type, "frit._core.ArrayType",
                {{Py_tp_new, reinterpret_cast<void*>(new_class)},
                 {Py_tp_call, reinterpret_cast<void*>(construct_array)},
                 {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)}});
}

void set_ufunc_metaclass() { set_metaclass(ufunc_type, "frit._core.UFuncType", {}); }

}  // namespace frit::python
