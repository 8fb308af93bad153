// numpy_api.h: NumPy's dtypes and scalars, both ways, and what we call of NumPy's in Python.
#pragma once

#include <optional>

#include "python/python.h"

namespace frit::python {

// Loads NumPy's C interface and the objects below. Once, before anything else.
void import_numpy();

// Python objects that live as long as the process.
struct NumPy {
  PyObject* module = nullptr;       // numpy
  PyObject* ndarray = nullptr;      // numpy.ndarray
  PyObject* ufunc = nullptr;        // numpy.ufunc
  PyObject* no_value = nullptr;     // numpy._NoValue
  PyObject* operators = nullptr;    // the module `operator`
  PyObject* array_ufunc = nullptr;  // the string "__array_ufunc__", and so on
  PyObject* array_priority = nullptr;
  PyObject* array_function = nullptr;
};
extern NumPy numpy;

// owner.name, found by the addresses of both: they, and what is found, live as long as the process.
// Borrowed.
PyObject* kept_attribute(PyObject* owner, const char* name);
// numpy.name, operator.name and numpy.ndarray.name, kept so.
PyObject* numpy_function(const char* name);
PyObject* operator_function(const char* name);
PyObject* ndarray_method(const char* name);
// The text of a type of NumPy's, or of its attribute; that of a method with the signature in front,
// as inspect.signature() reads it. Lives as long as the process; null where there is none.
const char* text_of(PyObject* type, const char* attribute);

// Null (no error) where we have no such type: objects, strings, times, structures, foreign byte
// order, long double.
std::optional<DType> dtype_of(const PyArray_Descr* descriptor);
PyArray_Descr* descriptor_of(DType dtype);  // borrowed
// What a caller gave as dtype=; nullopt: nothing, or a type that is not ours, or no type.
std::optional<DType> native_dtype(PyObject* object);
// The same: null or None is absent. Throws Unfit for types that are not ours,
// and what is no type.
std::optional<DType> requested_dtype(PyObject* object);

// A NumPy scalar (np.float64, ..) with this value.
PyObject* make_scalar(const std::byte* value, DType dtype);
inline PyObject* make_scalar(const Scalar& value) { return make_scalar(value.bytes, value.dtype); }
// The value of a NumPy scalar of one of our types; nullopt for any other object.
std::optional<Scalar> numpy_scalar_value(PyObject* object);
// That of a Python float or np.float64; false: some other object.
bool read_double(PyObject* object, double& value);
// The same of a complex or numpy.complex128.
bool read_complex(PyObject* object, Py_complex& value);

// The value of a Python or NumPy scalar converted as an assignment to an element of this type would
// do it, if that needs no warning or error; nullopt: ask NumPy.
std::optional<Scalar> element_value(PyObject* object, DType dtype);

}  // namespace frit::python
