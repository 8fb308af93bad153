// scalar_math.h: where NumPy's arithmetic of scalars differs from its loops over arrays, by which
// lazy Scalars are computed.
#pragma once

#include "python/operands.h"

namespace frit::python {

// Two numbers, none of them an array, as read from their objects.
struct NumberPair {
  PyObject* objects[2];
  const Argument& left;
  const Argument& right;
};

// Do NumPy's scalars compute the operator themselves? Else it takes them for arrays, and warnings
// don't call it `scalar add`.
bool scalars_compute(const NumberPair& pair);
// Does NumPy tell errors of this operator between scalars that no loop over arrays would? Integers
// that overflow, above all. Sums of int64 count as none such, as they would have to be waited for.
bool scalars_tell_more(Op op, const NumberPair& pair);
bool scalars_tell_more(Op op, DType dtype);

// The power of numbers that become floats: the C library's, as NumPy's scalars have it. Of squares,
// too, the last bit is not always the product's.
std::optional<Array> power_of_scalars(const Argument (&arguments)[2]);

// A ufunc of one or two Python floats or np.float64, one of them maybe a Python int, where it has
// one possible value and NumPy warns of nothing: a tenth of what NumPy's loop over arrays takes.
// Null, without an error: NumPy computes it.
PyObject* ufunc_of_floats(Op op, PyObject* const* values, Py_ssize_t count);
// Whether it has the value of any.
bool knows_floats(Op op);

}  // namespace frit::python
