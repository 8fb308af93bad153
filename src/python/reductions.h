// reductions.h: reductions with NumPy's arguments, for ufunc.reduce and arrays' methods.
#pragma once

#include "python/operands.h"

namespace frit::python {

// The arguments of a reduction; absent ones are null.
struct ReductionArguments {
  PyObject* axis = nullptr;
  PyObject* dtype = nullptr;
  PyObject* out = nullptr;
  PyObject* keepdims = nullptr;
  PyObject* initial = nullptr;
  PyObject* where = nullptr;
};

// The result as an object (a lazy Scalar for a full reduction, `out` itself where that was given);
// throws Unfit.
PyObject* reduce_native(Op op, const Array& array, const ReductionArguments& arguments);

}  // namespace frit::python
