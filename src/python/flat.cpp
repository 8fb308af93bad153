// flat.cpp: array.flat: a flatiter of NumPy's on the real array, with our arrays as keys, values and results.
#include "python/flat.h"

#include "python/fallback.h"
#include "python/interop.h"
#include "python/numpy_api.h"

namespace frit::python {

PyTypeObject* flat_type = nullptr;

namespace {

struct FlatObject {
  PyObject_HEAD PyObject* array;
  PyObject* iterator;  // holds a real array, and so an export of our memory
};

FlatObject& flat_of(PyObject* object) { return *reinterpret_cast<FlatObject*>(object); }

void dealloc(PyObject* object) {
  Py_XDECREF(flat_of(object).iterator);
  Py_XDECREF(flat_of(object).array);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(as_object(type));
}

PyObject* next_element(PyObject* object) { return PyIter_Next(flat_of(object).iterator); }

Py_ssize_t length(PyObject* object) { return PyObject_Size(flat_of(object).iterator); }

PyObject* get_item(PyObject* object, PyObject* key) {
  return guarded(
      [&] { return call_numpy_on(operator_function("getitem"), flat_of(object).iterator, key); });
}

int set_item(PyObject* object, PyObject* key, PyObject* value) {
  return guarded_status([&] {
    PyObject* iterator = flat_of(object).iterator;
    const Ref done =
        Ref::steal(value ? call_numpy_on(operator_function("setitem"), iterator, key, value)
                         : call_numpy_on(operator_function("delitem"), iterator, key));
  });
}

PyObject* compare(PyObject* object, PyObject* other, int comparison) {
  constexpr const char* names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  return guarded([&] {
    return call_numpy_on(operator_function(names[comparison]), flat_of(object).iterator, other);
  });
}

PyObject* get_attribute(PyObject* object, PyObject* name) {
  if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
    return Py_NewRef(as_object(Py_TYPE(flat_of(object).iterator)));
  if (PyUnicode_CompareWithASCIIString(name, "copy") == 0)
    return PyObject_GenericGetAttr(object, name);
  if (PyUnicode_CompareWithASCIIString(name, "base") == 0) return Py_NewRef(flat_of(object).array);
  return PyObject_GetAttr(flat_of(object).iterator, name);
}

PyObject* copy(PyObject* object, PyObject*) {
  return guarded([&] {
    return object_of_ndarray(
        checked(PyObject_CallMethod(flat_of(object).iterator, "copy", nullptr)));
  });
}

}  // namespace

PyObject* new_flat(PyObject* array) {
  Ref iterator = checked(PyObject_GetAttrString(real_array(array_of(array)).get(), "flat"));
  auto* flat = PyObject_New(FlatObject, flat_type);
  if (!flat) throw PythonError{};
  flat->array = Py_NewRef(array);
  flat->iterator = iterator.release();
  return as_object(flat);
}

PyObject* real_flat(PyObject* flat) { return flat_of(flat).iterator; }

void make_flat_type() {
  static PyMethodDef methods[] = {{"copy", copy, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                         {Py_tp_iternext, reinterpret_cast<void*>(next_element)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                         {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
                         {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                         {Py_tp_methods, methods},
                         {Py_mp_length, reinterpret_cast<void*>(length)},
                         {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                         {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                         {0, nullptr}};
  PyType_Spec spec = {"numpy.flatiter", sizeof(FlatObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  flat_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

}  // namespace frit::python
