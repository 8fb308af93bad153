// ufunc_type.h: UFunc: the callables add, sin and so on, with reduce, accumulate, outer, at.
#pragma once

#include <optional>

#include "python/objects.h"

namespace frit::python {

// What a ufunc computes natively, if anything.
enum class Native : std::uint8_t {
  No,
  Op,
  Matmul,
  Matvec,
  Vecmat,
  Vecdot,
  Divmod,
  Modf,
  Frexp,
  Clip
};

struct UFuncObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* dictionary;
  PyObject* real;  // numpy's
  const char* name;
  Native native;
  Op op;  // for Native::Op
  int inputs, outputs;
  bool knows_floats;     // ufunc_of_floats may have the value
  PyObject* methods[5];  // reduce and so on, bound when first asked for
};
inline UFuncObject& ufunc_of(PyObject* object) { return *reinterpret_cast<UFuncObject*>(object); }

// Ours for one of NumPy's; null (no error) if it is not in NumPy's namespace. Borrowed.
PyObject* ufunc_for(PyObject* real);
PyObject* all_ufuncs();  // dict by name, borrowed

// Gives UFunc its class, which makes real ufuncs its instances.
void set_ufunc_metaclass();

// A call of the ufunc with all that NumPy allows; falls back by itself.
PyObject* call_ufunc(UFuncObject& ufunc, const Arguments& arguments);
PyObject* call_ufunc_method(UFuncObject& ufunc, const char* method, const Arguments& arguments);

// minimum(maximum(x, low), high) as numpy.clip computes it.
Array clipped(const Array& x, const Argument& low, const Argument& high);

}  // namespace frit::python
