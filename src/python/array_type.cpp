// array_type.cpp: the type Array: objects and their memory, and the slots that are not numbers.
#include "python/array_type.h"

#include <structmember.h>

#include <array>
#include <cstring>
#include <memory>

#include "python/fallback.h"
#include "python/indexing.h"
#include "python/interop.h"
#include "python/numbers.h"
#include "python/numpy_api.h"
#include "python/source.h"

namespace frit::python {

PyTypeObject* array_type = nullptr;

namespace {

// Objects of dead arrays, for the next ones. They keep their hold on the type.
struct FreeList {
  std::array<PyObject*, 64> objects;
  std::size_t count = 0;
};
FreeList free_list;

PyObject* allocate_object() {
  if (free_list.count > 0) {
    PyObject* object = free_list.objects[--free_list.count];
    _Py_NewReference(object);
    return object;
  }
  PyObject* object = PyObject_New(PyObject, array_type);
  if (!object) throw PythonError{};
  return object;
}

void dealloc_array(PyObject* object) {
  ArrayObject& self = array_of(object);
  if (self.weak_references) PyObject_ClearWeakRefs(object);
  const bool has_extra = self.array.base()->extra != nullptr;
  PyObject* owner = std::exchange(self.owner, nullptr);
  PyObject* pinned = std::exchange(self.pinned, nullptr);
  if (has_extra && self.array.base()->foreign) release_foreign(std::move(self.array));
  self.array.~Array();
  if (free_list.count < free_list.objects.size()) {
    free_list.objects[free_list.count++] = object;
  } else {
    PyTypeObject* type = Py_TYPE(object);
    PyObject_Free(object);
    Py_DECREF(as_object(type));
  }
  Py_XDECREF(pinned);
  Py_XDECREF(owner);
  if (has_extra) drain_released();
}

// ---- as text, as a sequence ---------------------------------------------------------------------

PyObject* represent(PyObject* object) {
  return guarded([&] { return PyObject_Repr(real_array(array_of(object)).get()); });
}
PyObject* as_text(PyObject* object) {
  return guarded([&] { return PyObject_Str(real_array(array_of(object)).get()); });
}

Py_ssize_t length(PyObject* object) {
  const Layout& layout = *array_of(object).array.layout();
  if (layout.ndim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
  }
  return layout.shape()[0];
}

// For the C interface's PySequence_GetItem.
PyObject* sequence_item(PyObject* object, Py_ssize_t index) {
  return guarded([&]() -> PyObject* {
    const Array& array = array_of(object).array;
    if (array.ndim() == 0)
      raise(PyExc_IndexError,
            "too many indices for array: array is 0-dimensional, but 1 were indexed");
    if (index < 0 || index >= array.shape()[0])
      raise(PyExc_IndexError, "index %zd is out of bounds for axis 0 with size %zd", index,
            static_cast<Py_ssize_t>(array.shape()[0]));
    return get_row(object, index);
  });
}

int contains(PyObject* object, PyObject* value) {
  // NumPy: (self == value).any()
  const Ref equal = Ref::steal(rich_compare(object, value, Py_EQ));
  if (!equal) return -1;
  if (equal.get() == Py_NotImplemented) return 0;
  const Ref any = Ref::steal(PyObject_CallMethod(equal.get(), "any", nullptr));
  return any ? PyObject_IsTrue(any.get()) : -1;
}

// For the C interface's PySequence_SetItem.
int set_sequence_item(PyObject* object, Py_ssize_t index, PyObject* value) {
  const Ref key = Ref::steal(PyLong_FromSsize_t(index));
  return key ? set_item(object, key.get(), value) : -1;
}

PyObject* refuse_concatenation(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Concatenation operation is not implemented for NumPy arrays, use "
                  "np.concatenate() instead. Please do not rely on this error; it may not be given "
                  "on all Python implementations.");
  return nullptr;
}

struct Rows {
  PyObject_HEAD PyObject* array;
  std::int64_t next;
};
PyTypeObject* rows_type = nullptr;

PyObject* iterate(PyObject* object) {
  return guarded([&]() -> PyObject* {
    if (array_of(object).array.ndim() == 0) raise(PyExc_TypeError, "iteration over a 0-d array");
    Rows* rows = PyObject_New(Rows, rows_type);
    if (!rows) throw PythonError{};
    rows->array = Py_NewRef(object);
    rows->next = 0;
    return as_object(rows);
  });
}

PyObject* next_row(PyObject* object) {
  auto* rows = reinterpret_cast<Rows*>(object);
  if (rows->next >= array_of(rows->array).array.layout()->shape()[0]) return nullptr;
  return guarded([&] { return get_row(rows->array, rows->next++); });
}

void dealloc_rows(PyObject* object) {
  Py_DECREF(reinterpret_cast<Rows*>(object)->array);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(as_object(type));
}

void make_rows_type() {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc_rows)},
                         {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                         {Py_tp_iternext, reinterpret_cast<void*>(next_row)},
                         {0, nullptr}};
  PyType_Spec spec = {"frit._core.Rows", sizeof(Rows), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  rows_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

// ---- the buffer protocol: NumPy answers for the real array on our memory ------------------------

// What a buffer of ours holds.
struct Lent {
  Ref holder;        // of memory that is lent at once
  Py_buffer real{};  // NumPy's answer; its obj is null where there is none
};

// Of each dtype, as NumPy has told it.
std::array<const char*, dtype_count> formats;

// All that a reader may ask for, as NumPy itself does wherever it makes an array of an object: of
// an array that is dense the answer is known.
bool is_lent_at_once(const Array& array, int flags) {
  const Layout& layout = *array.layout();
  return flags == PyBUF_FULL_RO && formats[static_cast<std::size_t>(array.dtype())] &&
         layout.contiguous() == &layout && layout.ndim() > 0 && layout.size() > 0;
}

void lend(ArrayObject& object, Py_buffer& view, Ref& holder) {
  const Array& array = object.array;
  view.buf = export_memory(array, holder);
  const Layout& layout = *array.layout();  // the holder holds it
  view.itemsize = layout.item_size();
  view.len = layout.size() * layout.item_size();
  view.readonly = object.read_only || !array.base()->writable;
  view.ndim = layout.ndim();
  view.format = const_cast<char*>(formats[static_cast<std::size_t>(array.dtype())]);
  view.shape = const_cast<Py_ssize_t*>(layout.shape().data());
  view.strides = const_cast<Py_ssize_t*>(layout.strides().data());
  view.suboffsets = nullptr;
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded_status([&] {
    ArrayObject& self = array_of(object);
    auto lent = std::make_unique<Lent>();
    if (is_lent_at_once(self.array, flags)) {
      lend(self, *view, lent->holder);
    } else {
      checked_status(PyObject_GetBuffer(real_array(self).get(), &lent->real, flags));
      *view = lent->real;
      const char*& format = formats[static_cast<std::size_t>(self.array.dtype())];
      if (view->format && !format) format = strdup(view->format);
    }
    view->obj = Py_NewRef(object);  // memoryview(x).obj is x
    view->internal = lent.release();
  });
}

void release_buffer(PyObject*, Py_buffer* view) {
  const std::unique_ptr<Lent> lent(static_cast<Lent*>(view->internal));
  if (lent->real.obj) PyBuffer_Release(&lent->real);
}

// ---- attributes and methods that are not ours come from ndarray ---------------------------------

void add_ndarray_rest(PyObject* type) {
  const Ref names = checked(PyObject_Dir(numpy.ndarray));
  const Ref own = checked(PyObject_GetAttrString(type, "__dict__"));
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(names.get()); ++k) {
    PyObject* name = PyList_GET_ITEM(names.get(), k);
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError{};
    if (PySequence_Contains(own.get(), name) != 0) continue;
    if (std::string_view(text).starts_with("__")) continue;  // slots and protocols are all our own
    const Ref attribute = checked(PyObject_GetAttr(numpy.ndarray, name));
    const Ref descriptor = Ref::steal(new_fallback_attribute(text, attribute.get()));
    checked_status(PyObject_SetAttr(type, name, descriptor.get()));
  }
}

}  // namespace

PyObject* new_array(Array&& array) {
  PyObject* object = allocate_object();
  ArrayObject& self = array_of(object);
  self.weak_references = nullptr;
  self.owner = nullptr;
  self.pinned = nullptr;
  new (&self.array) Array(std::move(array));
  self.read_only = false;
  self.warns_on_write = false;
  return object;
}

PyObject* new_view(Array array, ArrayObject& of) {
  PyObject* object = new_array(std::move(array));
  set_viewed(array_of(object), of);
  array_of(object).read_only = of.read_only;
  array_of(object).warns_on_write = of.warns_on_write;
  return object;
}

void set_viewed(ArrayObject& view, ArrayObject& of) {
  PyObject* owner = of.owner && is_array(of.owner) ? of.owner : as_object(&of);
  Py_XSETREF(view.owner, Py_NewRef(owner));
}

void make_array_type(PyObject* module) {
  make_rows_type();
  std::vector<PyMethodDef> methods;
  for (const auto& part :
       {array_methods(), sorting_methods(), array_reduction_methods(), array_protocol_methods()})
    methods.insert(methods.end(), part.begin(), part.end());
  for (PyMethodDef& method : methods)
    if (method.ml_name[0] != '_') method.ml_doc = text_of(numpy.ndarray, method.ml_name);
  std::vector<PyGetSetDef> attributes = array_attributes();
  for (PyGetSetDef& attribute : attributes)
    if (attribute.name[0] != '_') attribute.doc = text_of(numpy.ndarray, attribute.name);
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  std::vector<PyType_Slot> slots;
  const auto add = [&](int slot, auto function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
  };
  add(Py_tp_dealloc, dealloc_array);
  add(Py_tp_repr, represent);
  add(Py_tp_str, as_text);
  add(Py_tp_hash, PyObject_HashNotImplemented);
  add(Py_tp_iter, iterate);
  add(Py_sq_length, length);
  add(Py_sq_item, sequence_item);
  add(Py_sq_ass_item, set_sequence_item);
  add(Py_sq_concat, refuse_concatenation);
  add(Py_sq_contains, contains);
  add(Py_mp_length, length);
  add(Py_mp_subscript, get_item);
  add(Py_mp_ass_subscript, set_item);
  add(Py_bf_getbuffer, get_buffer);
  add(Py_bf_releasebuffer, release_buffer);
  slots.push_back({Py_tp_methods, kept_table(std::move(methods))});
  slots.push_back({Py_tp_getset, kept_table(std::move(attributes))});
  slots.push_back({Py_tp_members, members});
  slots.push_back({Py_tp_doc, const_cast<char*>(text_of(numpy.ndarray, nullptr))});
  add_number_slots(slots);
  slots.push_back(index_slot());
  add_inplace_slots(slots);
  slots.push_back({0, nullptr});
  // Since NumPy 2.5 arrays match the patterns of sequences.
  const auto flags = static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                           (PyArray_Type.tp_flags & Py_TPFLAGS_SEQUENCE));
  PyType_Spec spec = {"numpy.ndarray", sizeof(ArrayObject), 0, flags, slots.data()};
  PyObject* type = checked(PyType_FromSpec(&spec)).release();
  array_type = reinterpret_cast<PyTypeObject*>(type);
  add_ndarray_rest(type);
  set_array_metaclass();
  checked_status(PyModule_AddObjectRef(module, "Array", type));
}

}  // namespace frit::python
