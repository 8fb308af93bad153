// flat.cpp: array.flat: slices of dense arrays natively; else NumPy's flatiter on the real array.
#include "python/flat.h"

#include "python/fallback.h"
#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/operands.h"

namespace frit::python {

PyTypeObject* flat_type = nullptr;

namespace {

struct FlatObject {
  PyObject_HEAD PyObject* array;
  // NumPy's, once it is needed: it holds a real array, and so an export of our memory.
  PyObject* iterator;
};

FlatObject& flat_of(PyObject* object) { return *reinterpret_cast<FlatObject*>(object); }

PyObject* iterator_of(PyObject* object) {
  FlatObject& self = flat_of(object);
  if (!self.iterator)
    self.iterator =
        checked(PyObject_GetAttrString(real_array(array_of(self.array)).get(), "flat")).release();
  return self.iterator;
}

void dealloc(PyObject* object) {
  Py_XDECREF(flat_of(object).iterator);
  Py_XDECREF(flat_of(object).array);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(as_object(type));
}

PyObject* next_element(PyObject* object) {
  return guarded([&] { return PyIter_Next(iterator_of(object)); });
}

Py_ssize_t length(PyObject* object) { return array_of(flat_of(object).array).array.size(); }

// NumPy's iterator goes back to the first element whenever it is indexed.
void go_back(PyObject* object) {
  PyObject* const iterator = flat_of(object).iterator;
  if (iterator) PyArray_ITER_RESET(reinterpret_cast<PyArrayIterObject*>(iterator));
}

// ---- slices of a dense array, natively ----------------------------------------------------------

// The array as one axis, where a key of this kind means there what it means for a flatiter; null
// otherwise.
Ref dense_axis(PyObject* object, PyObject* key) {
  ArrayObject& array = array_of(flat_of(object).array);
  if (!PySlice_Check(key) || !array.array.c_contiguous()) return {};
  const std::int64_t size[1] = {array.array.size()};
  return Ref::steal(new_view(*reshape_window(array.array, size), array));
}

// A flatiter takes NumPy's scalars for arrays, whose integers wrap round, and repeats a value that
// is too short: only one that fits is like any other assignment.
bool fits(PyObject* value, PyObject* key, const Array& flat) {
  if (is_scalar(value)) return scalar_of(value).array.dtype() == flat.dtype();
  if (const std::optional<Scalar> number = numpy_scalar_value(value))
    return number->dtype == flat.dtype();
  if (PyArray_CheckScalar(value)) return false;
  if (is_plain_scalar(value)) return true;
  Py_ssize_t start, stop, step;
  if (!is_array(value) || PySlice_Unpack(key, &start, &stop, &step) < 0) {
    PyErr_Clear();
    return false;
  }
  const Array& array = array_of(value).array;
  return array.ndim() <= 1 &&
         array.size() == PySlice_AdjustIndices(flat.size(), &start, &stop, step);
}

// The element of a dense array at this index; null where it is out of bounds, or where NumPy's
// iterator, which then forgets its place, is under way.
PyObject* dense_element(PyObject* object, PyObject* key) {
  const FlatObject& self = flat_of(object);
  const Array& array = array_of(self.array).array;
  if (self.iterator || !PyLong_CheckExact(key) || !array.c_contiguous()) return nullptr;
  int overflow = 0;
  const std::int64_t given = PyLong_AsLongAndOverflow(key, &overflow);
  const std::int64_t index = given < 0 ? given + array.size() : given;
  if (overflow != 0 || index < 0 || index >= array.size()) return nullptr;
  return make_scalar(evaluate(array) + index * size_of(array.dtype()), array.dtype());
}

PyObject* get_item(PyObject* object, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (PyObject* element = dense_element(object, key)) return element;
    if (const Ref axis = dense_axis(object, key)) {
      const Ref part = checked(PyObject_GetItem(axis.get(), key));
      go_back(object);
      return new_array(copy(array_of(part.get()).array, 'C'));
    }
    return call_numpy_on(operator_function("getitem"), iterator_of(object), key);
  });
}

int set_item(PyObject* object, PyObject* key, PyObject* value) {
  return guarded_status([&] {
    const Ref axis = dense_axis(object, key);
    if (axis && value && fits(value, key, array_of(axis.get()).array)) {
      checked_status(PyObject_SetItem(axis.get(), key, value));
      return go_back(object);
    }
    PyObject* iterator = iterator_of(object);
    const Ref done =
        Ref::steal(value ? call_numpy_on(operator_function("setitem"), iterator, key, value)
                         : call_numpy_on(operator_function("delitem"), iterator, key));
  });
}

PyObject* compare(PyObject* object, PyObject* other, int comparison) {
  constexpr const char* names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  return guarded([&] {
    return call_numpy_on(operator_function(names[comparison]), iterator_of(object), other);
  });
}

PyObject* get_attribute(PyObject* object, PyObject* name) {
  if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
    return Py_NewRef(as_object(&PyArrayIter_Type));
  if (PyUnicode_CompareWithASCIIString(name, "copy") == 0)
    return PyObject_GenericGetAttr(object, name);
  if (PyUnicode_CompareWithASCIIString(name, "base") == 0) return Py_NewRef(flat_of(object).array);
  return guarded([&] { return PyObject_GetAttr(iterator_of(object), name); });
}

PyObject* copy_all(PyObject* object, PyObject*) {
  return guarded([&] {
    const Array& array = array_of(flat_of(object).array).array;
    const std::int64_t size[1] = {array.size()};
    return new_array(*reshape_window(copy(array, 'C'), size));
  });
}

}  // namespace

PyObject* new_flat(PyObject* array) {
  auto* flat = PyObject_New(FlatObject, flat_type);
  if (!flat) throw PythonError{};
  flat->array = Py_NewRef(array);
  flat->iterator = nullptr;
  const Ref held = Ref::steal(as_object(flat));
  constexpr int most_axes = 32;  // of NumPy's iterator, which says so
  if (array_of(array).array.ndim() > most_axes) iterator_of(held.get());
  return Py_NewRef(held.get());
}

PyObject* real_flat(PyObject* flat) { return iterator_of(flat); }

void make_flat_type() {
  static PyMethodDef methods[] = {{"copy", copy_all, METH_NOARGS, nullptr},
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
