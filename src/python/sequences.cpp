// sequences.cpp: numbers and nested lists of numbers as arrays.
//
// Two walks: the first finds the shape and what kinds of numbers there are, the second writes them.
// Neither runs any code of the user's, as all objects are of exactly known types.
#include "python/sequences.h"

#include <algorithm>
#include <cstring>

#include "python/numpy_api.h"
#include "python/objects.h"

namespace frit::python {
namespace {

constexpr int deepest = 8;

enum Kind : unsigned { none = 0, boolean = 1, integer = 2, floating = 4, other = 8 };

bool is_sequence(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

Kind kind_of(PyObject* object) {
  if (PyFloat_CheckExact(object) || Py_IS_TYPE(object, &PyDoubleArrType_Type)) return floating;
  if (PyLong_CheckExact(object) || Py_IS_TYPE(object, &PyLongArrType_Type)) return integer;
  return PyBool_Check(object) ? boolean : other;
}

std::span<PyObject* const> items_of(PyObject* sequence) {
  return {PySequence_Fast_ITEMS(sequence),
          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence))};
}

// The extents along the first items; 0 where it is deeper than we go.
int find_shape(PyObject* object, std::int64_t* shape) {
  int ndim = 0;
  while (is_sequence(object)) {
    if (ndim == deepest) return 0;
    const auto items = items_of(object);
    shape[ndim++] = static_cast<std::int64_t>(items.size());
    if (items.empty()) break;
    object = items[0];
  }
  return ndim;
}

// Of all leaves; `other` as well where the parts do not have this shape.
unsigned find_kinds(PyObject* sequence, std::span<const std::int64_t> shape) {
  const auto items = items_of(sequence);
  if (static_cast<std::int64_t>(items.size()) != shape[0]) return other;
  unsigned kinds = none;
  if (shape.size() == 1) {
    for (PyObject* item : items) kinds |= kind_of(item);
    return kinds;
  }
  for (PyObject* item : items) {
    kinds |= is_sequence(item) ? find_kinds(item, shape.subspan(1)) : other;
    if ((kinds & other) != 0) return kinds;
  }
  return kinds;
}

DType dtype_of_kinds(unsigned kinds) {
  if ((kinds & floating) != 0 || kinds == none) return DType::Float64;
  return (kinds & integer) != 0 ? DType::Int64 : DType::Bool;
}

bool write_integer(PyObject* item, std::int64_t& value) {
  if (Py_IS_TYPE(item, &PyLongArrType_Type)) {
    value = PyArrayScalar_VAL(item, Long);
    return true;
  }
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(item, &overflow);  // of a bool, too
  return overflow == 0;
}

// One element, and on to the place of the next; false where the value does not go in.
bool write(PyObject* item, DType dtype, std::byte*& to) {
  std::byte* const here = to;
  to += size_of(dtype);
  if (dtype == DType::Float64) {
    double value;
    if (PyFloat_Check(item)) {  // np.float64 is one, too
      value = PyFloat_AS_DOUBLE(item);
    } else {
      std::int64_t whole;
      if (!write_integer(item, whole)) return false;
      value = static_cast<double>(whole);
    }
    std::memcpy(here, &value, sizeof value);
    return true;
  }
  if (dtype == DType::Int64 && !PyFloat_Check(item)) {
    std::int64_t value;
    if (!write_integer(item, value)) return false;
    std::memcpy(here, &value, sizeof value);
    return true;
  }
  const std::optional<Scalar> element = element_value(item, dtype);
  if (element) std::memcpy(here, element->bytes, static_cast<std::size_t>(size_of(dtype)));
  return element.has_value();
}

bool write_all(PyObject* sequence, int ndim, DType dtype, std::byte*& to) {
  return std::ranges::all_of(items_of(sequence), [&](PyObject* item) {
    return ndim == 1 ? write(item, dtype, to) : write_all(item, ndim - 1, dtype, to);
  });
}

std::optional<Array> array_of_number(PyObject* number, std::optional<DType> wanted) {
  const unsigned kind = kind_of(number);
  if (kind == other) return std::nullopt;
  const std::optional<Scalar> element =
      element_value(number, wanted.value_or(dtype_of_kinds(kind)));
  if (!element) return std::nullopt;
  return copy_of(element->bytes, {}, element->dtype);
}

}  // namespace

std::optional<Array> array_of_numbers(PyObject* object, std::optional<DType> wanted) {
  if (!is_sequence(object)) return array_of_number(object, wanted);
  std::int64_t extents[deepest];
  const int ndim = find_shape(object, extents);
  if (ndim == 0) return std::nullopt;
  const std::span<const std::int64_t> shape(extents, static_cast<std::size_t>(ndim));
  const unsigned kinds = find_kinds(object, shape);
  if ((kinds & other) != 0) return std::nullopt;
  const DType dtype = wanted.value_or(dtype_of_kinds(kinds));
  // Of several kinds, NumPy finds a type for all and converts to the one that is asked for.
  Array array = empty(shape, dtype);
  std::byte* to = memory_of(array);
  if (!write_all(object, ndim, dtype, to)) return std::nullopt;
  return array;
}

}  // namespace frit::python
