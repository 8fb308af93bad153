// numbers.h: operators, shared by Array and Scalar: what a + b means for any pair of objects.
#pragma once

#include "python/operands.h"

namespace frit::python {

// Fills a type's number slots and its comparison.
void add_number_slots(std::vector<PyType_Slot>& slots);
// Of types that may be an index.
PyType_Slot index_slot();
// In-place operators: Arrays only.
void add_inplace_slots(std::vector<PyType_Slot>& slots);

PyObject* rich_compare(PyObject* left, PyObject* right, int comparison);

// From now on NumPy's arrays know ours as right operands (ndarray_operators.cpp); and no more.
void watch_ndarray_operators();
void unwatch_ndarray_operators();

// power: refuses integers to a negative power (which needs the exponents' values), and computes the
// few exponents that NumPy's loop treats apart as NumPy does. Throws Unfit.
Array power_of(const Argument& base, const Argument& exponent, const ApplyOptions& options = {});

}  // namespace frit::python
