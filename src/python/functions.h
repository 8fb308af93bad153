// functions.h: functions of NumPy's namespace in C, and conversion to and from NumPy.
#pragma once

#include <optional>
#include <vector>

#include "frit/array.h"
#include "python/python.h"

namespace frit::python {

// The module keeps pointers into these.
std::vector<PyMethodDef> creation_functions();
std::vector<PyMethodDef> array_functions();
// Shortcuts (methods.h), by the names of NumPy's functions.
std::vector<PyMethodDef> creation_shortcuts();
std::vector<PyMethodDef> array_shortcuts();
std::vector<PyMethodDef> reduction_shortcuts();
std::vector<PyMethodDef> joining_shortcuts();
std::vector<PyMethodDef> plain_shortcuts();
std::vector<PyMethodDef> linear_shortcuts();
std::vector<PyMethodDef> matrix_shortcuts();
std::vector<PyMethodDef> index_shortcuts();
std::vector<PyMethodDef> part_shortcuts();
std::vector<PyMethodDef> callback_shortcuts();
std::vector<PyMethodDef> close_shortcuts();
std::vector<PyMethodDef> formula_shortcuts();
std::vector<PyMethodDef> einsum_shortcuts();
std::vector<PyMethodDef> sorting_shortcuts();
std::vector<PyMethodDef> correlation_shortcuts();
std::vector<PyMethodDef> unique_shortcuts();
std::vector<PyMethodDef> histogram_shortcuts();
std::vector<PyMethodDef> quantile_shortcuts();
std::vector<PyMethodDef> view_shortcuts();
std::vector<PyMethodDef> question_shortcuts();
PyMethodDef compress_method();
PyMethodDef choose_method();

// The arrays of a list or tuple along a new first axis, in C order. Throws Unfit, for other items
// as well.
Array stacked_arrays(PyObject* sequence);

// A class of NumPy's for results, for the life of the process; and a named tuple of such a class.
PyObject* class_of(const char* module_name, const char* name);
PyObject* named_tuple(PyObject* type, const Ref& items);

// The largest singular value of a small matrix of float64; throws Unfit for others.
PyObject* spectral_norm(PyObject* matrix);

// Those of a list or tuple that lie in C order, have elements and are all like the first in shape
// and dtype; none where one is no such. Borrowed.
std::vector<const Array*> like_arrays(PyObject* sequence);

// The view that runs backwards along these axes.
Array flipped(const Array& array, std::span<const int> axes);

// The elements shifted from the main diagonal of two axes, along a new last one.
Array diagonal(const Array& array, std::int64_t shift, std::size_t one, std::size_t two);

// array.nonzero(); throws Unfit without axes.
PyObject* nonzero_places(PyObject* array);

// The table whose columns these results of nonzero() are: what NumPy shows as their .base.
Ref table_of(const std::vector<Array>& indices);

// left.dot(other, out); out may be null. A new reference.
PyObject* dot_product(const Array& left, PyObject* other, PyObject* out);

}  // namespace frit::python
