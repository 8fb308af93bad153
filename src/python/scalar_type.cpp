// scalar_type.cpp: Scalar: a 0-d result, computed when somebody looks, then a NumPy scalar.
//
// Each dtype has a type of its own below Scalar, which bears the name of NumPy's: Python's messages
// name the types of objects.
#include <structmember.h>

#include <algorithm>
#include <array>

#include "python/numbers.h"
#include "python/numpy_api.h"
#include "python/protocols.h"

namespace frit::python {

PyTypeObject* scalar_type = nullptr;

namespace {

struct FreeList {
  std::array<PyObject*, 32> objects;
  std::size_t count = 0;
};
FreeList free_list;

PyTypeObject* types[dtype_count];

void dealloc(PyObject* object) {
  ScalarObject& self = scalar_of(object);
  if (self.weak_references) PyObject_ClearWeakRefs(object);
  PyObject* value = std::exchange(self.value, nullptr);
  self.array.~Array();
  PyTypeObject* type = Py_TYPE(object);
  if (free_list.count < free_list.objects.size())
    free_list.objects[free_list.count++] = object;
  else
    PyObject_Free(object);
  Py_DECREF(as_object(type));
  Py_XDECREF(value);
}

PyObject* value_of(PyObject* object) { return scalar_value(scalar_of(object)); }

PyObject* represent(PyObject* object) {
  return guarded([&] { return PyObject_Repr(value_of(object)); });
}
PyObject* as_text(PyObject* object) {
  return guarded([&] { return PyObject_Str(value_of(object)); });
}
Py_hash_t hash(PyObject* object) {
  Py_hash_t result = -1;
  if (guarded_status([&] { result = PyObject_Hash(value_of(object)); }) < 0) return -1;
  return result;
}

// Everything that is not arithmetic is the NumPy scalar's own.
PyObject* get_attribute(PyObject* object, PyObject* name) {
  return guarded([&] { return PyObject_GetAttr(value_of(object), name); });
}

// The attributes that need no value.
PyObject* dtype(PyObject* object) {
  return Py_NewRef(as_object(descriptor_of(scalar_of(object).array.dtype())));
}

PyObject* own_attribute(PyObject* object, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  const std::string_view wanted = text;
  if (wanted == "__class__") {
    const PyArray_Descr* descriptor = descriptor_of(scalar_of(object).array.dtype());
    return Py_NewRef(as_object(descriptor->typeobj));
  }
  if (wanted == "dtype") return dtype(object);
  if (wanted == "ndim") return PyLong_FromLong(0);
  if (wanted == "size") return PyLong_FromLong(1);
  if (wanted == "shape") return PyTuple_New(0);
  if (wanted == "__array_ufunc__" || wanted == "__array_function__" || wanted == "_frit_array")
    return PyObject_GenericGetAttr(object, name);
  return get_attribute(object, name);
}

PyObject* subscript(PyObject* object, PyObject* key) {
  return guarded([&] { return PyObject_GetItem(value_of(object), key); });
}

// What it gives for the value: 0, or -1 for an error.
template <class Use>
int status_for_value(PyObject* object, const Use& use) {
  int status = -1;
  return guarded_status([&] { status = use(value_of(object)); }) < 0 ? -1 : status;
}

// In NumPy's words: it can't.
int set_item(PyObject* object, PyObject* key, PyObject* value) {
  return status_for_value(object, [&](PyObject* own) {
    return value ? PyObject_SetItem(own, key, value) : PyObject_DelItem(own, key);
  });
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return status_for_value(object,
                          [&](PyObject* own) { return PyObject_GetBuffer(own, view, flags); });
}

// type(x)(3.0): NumPy's own scalar.
PyObject* construct(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  const auto* found = std::ranges::find(types, type);
  if (found == std::end(types)) {
    PyErr_SetString(PyExc_TypeError, "cannot create 'frit._core.Scalar' instances");
    return nullptr;
  }
  const PyArray_Descr* descriptor = descriptor_of(static_cast<DType>(found - types));
  return PyObject_Call(as_object(descriptor->typeobj), arguments, keywords);
}

void make_type_of(DType dtype) {
  PyArray_Descr* descriptor = descriptor_of(dtype);
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)}};
  if (is_integer(dtype)) slots.push_back(index_slot());
  static PyMethodDef floats[] = {float_truncation(), {nullptr, nullptr, 0, nullptr}};
  if (dtype == DType::Float64) slots.push_back({Py_tp_methods, floats});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {descriptor->typeobj->tp_name, sizeof(ScalarObject), 0, Py_TPFLAGS_DEFAULT,
                      slots.data()};
  const Ref type = checked(PyType_FromSpecWithBases(&spec, as_object(scalar_type)));
  // np.dtype(type(x)) and np.issubdtype(type(x), ..) ask for it.
  checked_status(PyObject_SetAttrString(type.get(), "dtype", as_object(descriptor)));
  types[static_cast<int>(dtype)] = reinterpret_cast<PyTypeObject*>(Py_NewRef(type.get()));
}

}  // namespace

PyObject* scalar_value(ScalarObject& scalar) {
  if (!scalar.value) {
    PyObject* value = make_scalar(evaluate(scalar.array), scalar.array.dtype());
    if (scalar.value)
      Py_DECREF(value);  // another thread was faster while the GIL was released
    else
      scalar.value = value;
  }
  return scalar.value;
}

PyObject* new_scalar(Array array) {
  PyTypeObject* type = types[static_cast<int>(array.dtype())];
  PyObject* object;
  if (free_list.count > 0) {
    object = PyObject_Init(free_list.objects[--free_list.count], type);
  } else {
    object = PyObject_New(PyObject, type);
    if (!object) throw PythonError{};
  }
  ScalarObject& self = scalar_of(object);
  self.weak_references = nullptr;
  self.value = nullptr;
  new (&self.array) Array(std::move(array));
  return object;
}

PyObject* new_scalar_result(Array array) {
  if (is_ready(array)) {
    note_look();
    return make_scalar(array.base()->data + array.offset(), array.dtype());
  }
  return new_scalar(std::move(array));
}

void make_scalar_type(PyObject* module) {
  static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET,
                                   offsetof(ScalarObject, weak_references), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  std::vector<PyType_Slot> slots;
  const auto add = [&](int slot, auto function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
  };
  add(Py_tp_new, construct);
  add(Py_tp_dealloc, dealloc);
  add(Py_tp_repr, represent);
  add(Py_tp_str, as_text);
  add(Py_tp_hash, hash);
  add(Py_tp_getattro, own_attribute);
  add(Py_mp_subscript, subscript);
  add(Py_mp_ass_subscript, set_item);
  add(Py_bf_getbuffer, get_buffer);
  slots.push_back({Py_tp_members, members});
  slots.push_back({Py_tp_methods, kept_table(scalar_protocol_methods())});
  add_number_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"frit._core.Scalar", sizeof(ScalarObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  scalar_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  for (int k = 0; k < dtype_count; ++k) make_type_of(static_cast<DType>(k));
  checked_status(PyModule_AddObjectRef(module, "Scalar", as_object(scalar_type)));
}

}  // namespace frit::python
