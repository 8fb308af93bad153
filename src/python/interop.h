// interop.h: memory shared with NumPy: real ndarrays on ours, and our windows on theirs.
#pragma once

#include <optional>

#include "python/objects.h"

namespace frit::python {

// A real ndarray on the array's own memory: an export that lasts as long as the ndarray and its
// views.
Ref real_array(ArrayObject& object);
Ref real_array(const Array& array, bool writable);
// Whether the ndarray, once made so, still is what real_array would make.
bool is_real_of(PyObject* real, ArrayObject& object);
// The caller is done with it: where nobody else holds it or a view of it, the export ends and the
// object serves the next one.
void give_back(Ref real);

// The array's memory, and in `holder` an object: the export lasts as long as it.
std::byte* export_memory(const Array& array, Ref& holder);

// A window on an exact ndarray's memory: one of ours again if that is where it came from, else
// foreign memory, of which two overlapping ndarrays share one base. nullopt: its dtype is not ours.
std::optional<Array> wrap_ndarray(PyObject* ndarray);

// The object for a result of NumPy. Adopts a fresh array that nobody else can see. Takes the
// reference. Whatever is no exact ndarray of a native dtype comes back as it is.
// `others`: references that the caller's own frames hold besides this one.
PyObject* object_of_ndarray(Ref ndarray, int others = 0);
// The same for a small exact ndarray that nobody else can see, as most results are: a copy. Takes
// no reference; null: not such a one.
PyObject* object_of_fresh(PyObject* ndarray, int others = 0);
// The same inside tuples, named tuples, lists and dicts.
PyObject* object_of_result(Ref result, int others = 0);
// The object for a view of what real_array() has made for `viewed`; null: only the above can tell.
PyObject* view_of_ours(PyObject* ndarray, ArrayObject& viewed);

// np.asarray(object), as ours if its dtype is native; the second by NumPy whatever it is.
PyObject* converted(PyObject* object);
PyObject* converted_by_numpy(PyObject* object);

// Foreign::release for an object that owns memory.
inline void release_owner(void* owner) { Py_DECREF(static_cast<PyObject*>(owner)); }
// Drops an Array on foreign memory; with the last one goes our hold on that memory.
void release_foreign(Array array);

// The real ndarray for Array, the NumPy scalar for Scalar, the real ufunc and type for ours;
// anything else as it is.
Ref real_object(PyObject* object);

}  // namespace frit::python
