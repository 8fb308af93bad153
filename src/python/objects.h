// objects.h: Array and Scalar, the types that hold engine arrays; how results become objects.
#pragma once

#include <atomic>

#include "engine/engine.h"
#include "python/python.h"

namespace frit::python {

// The user's ndarray.
struct ArrayObject {
  PyObject_HEAD PyObject* weak_references;
  PyObject* owner;  // NumPy's .base: whose memory this is a window on; null: its own
  // A real ndarray that keeps the memory in place, once somebody asked for its raw address.
  PyObject* pinned;
  Array array;
  bool read_only;  // this window must not be written through
  // A result of broadcast_arrays: read-only until the first write, of which NumPy warns.
  bool warns_on_write;
};

// A full reduction's result, or any 0-d result: computed when somebody looks.
struct ScalarObject {
  PyObject_HEAD PyObject* weak_references;
  PyObject* value;  // the NumPy scalar, once known
  Array array;      // 0-d
};

extern PyTypeObject* array_type;
extern PyTypeObject* scalar_type;
extern PyTypeObject* ufunc_type;

inline bool is_array(PyObject* object) { return Py_IS_TYPE(object, array_type); }
inline bool is_scalar(PyObject* object) { return Py_TYPE(object)->tp_base == scalar_type; }
inline ArrayObject& array_of(PyObject* object) { return *reinterpret_cast<ArrayObject*>(object); }
inline ScalarObject& scalar_of(PyObject* object) {
  return *reinterpret_cast<ScalarObject*>(object);
}

// A new reference. `owner` is borrowed; a view's own owner is looked through, as NumPy does.
PyObject* new_array(Array&& array);
inline PyObject* new_array(const Array& array) { return new_array(Array(array)); }
PyObject* new_view(Array array, ArrayObject& of);
void set_viewed(ArrayObject& view, ArrayObject& of);
PyObject* new_scalar(Array array);
// A NumPy scalar if the value is there already, else a lazy Scalar.
PyObject* new_scalar_result(Array array);
// What an op gives: 0-d results are scalars.
inline PyObject* new_result(Array&& array) {
  return array.layout()->ndim() == 0 ? new_scalar_result(std::move(array))
                                     : new_array(std::move(array));
}
inline PyObject* new_result(const Array& array) { return new_result(Array(array)); }

// The NumPy scalar of a lazy one, computed now. Borrowed.
PyObject* scalar_value(ScalarObject& scalar);

// Nothing recorded still has to write the array, and it has memory. Without the engine's lock: a
// base that is not pending becomes so only under the GIL.
inline bool is_ready(const Array& array) {
  Base* base = array.base();
  return std::atomic_ref(base->pending_writes).load(std::memory_order_acquire) == 0 &&
         base->data != nullptr;
}
// Nothing recorded reads or writes it either.
inline bool is_idle(const Array& array) {
  Base* base = array.base();
  return std::atomic_ref(base->pending).load(std::memory_order_acquire) == 0 &&
         base->data != nullptr;
}

inline const Array& array_behind(PyObject* object) { return array_of(object).array; }

// The memory of an array that was just made, for its elements to be written to.
inline std::byte* memory_of(const Array& fresh) {
  eval(fresh);
  return fresh.base()->data;
}
// Computes the array's elements (without the GIL if that may take long), and warns of what went
// wrong.
const std::byte* evaluate(const Array& array);
void evaluate_all();
// The same, but what a device has made may stay there.
void evaluate_recorded();
// The same, but for large arrays that nobody is foreseen to read: they may stay unstored.
void run_all();
// Issues float warnings that are due. Throws PythonError if a warning is an error.
void issue_float_warnings();
// Some float error would raise or be recorded: what was asked for runs at once.
extern bool float_errors_are_immediate;
// After every native call.
inline void settle_warnings() {
  if (float_errors_are_immediate || !Engine::get().float_warnings.empty()) [[unlikely]]
    issue_float_warnings();
}

// Makes the types, each in its file; called once, in this order.
void make_array_type(PyObject* module);
void make_scalar_type(PyObject* module);
void make_ufunc_type(PyObject* module);
void make_fallback_types(PyObject* module);
void make_export_type();

}  // namespace frit::python
