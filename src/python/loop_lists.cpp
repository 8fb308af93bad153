// loop_lists.cpp: lists of numbers as arrays that a loop nest works on, and back again.
//
// A list of floats (Python's or NumPy's), of ints, of bools, or of floats and ints (and a list of
// such lists, all of one length) becomes an array of its numbers. What a nest has changed is stored
// into the lists that are there, element by element: one that has the number which it had remains
// the object it was.
// A string, and a list of strings of one length, becomes an array of code points.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "python/kernels.h"
#include "python/numpy_api.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace frit::python {
namespace {

constexpr int most_axes = 3;
constexpr std::int64_t most_exact = std::int64_t{1} << 53;  // of an int beside floats
constexpr char no_kind = '0';                               // of no elements
constexpr char characters = 'c', text = 's';                // of lists; of a string

bool is_sequence(PyObject* value) { return PyList_CheckExact(value) || PyTuple_CheckExact(value); }

using Items = std::span<PyObject* const>;
Items items_of(PyObject* sequence) {
  return {PySequence_Fast_ITEMS(sequence),
          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence))};
}

// A type's numbers, from objects and to objects. `kind` is what a nest's key says of a list.
struct Floats {
  using Number = double;
  static constexpr char kind = 'd';
  static bool read(PyObject* object, double& to) {
    if (!PyFloat_CheckExact(object)) return false;
    to = PyFloat_AS_DOUBLE(object);
    return true;
  }
  static PyObject* made(double value) { return PyFloat_FromDouble(value); }
};
// NumPy's: they are not changed, as what is stored would be Python's.
struct NumPysFloats {
  using Number = double;
  static constexpr char kind = 'n';
  static bool is(PyObject* object) { return Py_TYPE(object) == &PyDoubleArrType_Type; }
  static bool read(PyObject* object, double& to) {
    if (!is(object)) return false;
    to = PyFloat_AS_DOUBLE(object);
    return true;
  }
};
struct Ints {
  using Number = std::int64_t;
  static constexpr char kind = 'l';
  static bool read(PyObject* object, std::int64_t& to) {
    if (!PyLong_CheckExact(object)) return false;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    to = value;
    return overflow == 0 && value <= largest_loop_integer && value >= -largest_loop_integer;
  }
  static PyObject* made(std::int64_t value) { return PyLong_FromLongLong(value); }
};
struct Bools {
  using Number = std::uint8_t;
  static constexpr char kind = '?';
  static bool read(PyObject* object, std::uint8_t& to) {
    if (!PyBool_Check(object)) return false;
    to = object == Py_True ? 1 : 0;
    return true;
  }
  static PyObject* made(std::uint8_t value) { return PyBool_FromLong(value); }
};
// Floats, and ints that are floats' equals.
struct Mixed {
  using Number = double;
  static constexpr char kind = 'm';
  static bool read(PyObject* object, double& to) {
    if (Floats::read(object, to)) return true;
    std::int64_t whole = 0;
    if (!Ints::read(object, whole) || whole > most_exact || whole < -most_exact) return false;
    to = static_cast<double>(whole);
    return true;
  }
};

struct Shape {
  int rank = 0;
  npy_intp extents[most_axes]{};
};

// By the first elements; false: too many axes.
bool measure(PyObject* value, Shape& shape, PyObject*& first) {
  first = value;
  while (is_sequence(first)) {
    if (shape.rank == most_axes) return false;
    const Items items = items_of(first);
    shape.extents[shape.rank++] = static_cast<npy_intp>(items.size());
    if (items.empty()) {
      first = nullptr;
      return true;
    }
    first = items[0];
  }
  return true;
}

// visit(sequence) of the innermost ones, in order; false: one is no sequence of the shape, or was
// not liked.
template <class Visit>
bool visit_rows(PyObject* value, const Shape& shape, int axis, const Visit& visit) {
  if (!is_sequence(value)) return false;
  const Items items = items_of(value);
  if (static_cast<npy_intp>(items.size()) != shape.extents[axis]) return false;
  if (axis + 1 == shape.rank) return visit(value);
  return std::ranges::all_of(
      items, [&](PyObject* item) { return visit_rows(item, shape, axis + 1, visit); });
}

template <class Type>
bool read_all(PyObject* value, const Shape& shape, PyArrayObject* array) {
  auto* to = static_cast<typename Type::Number*>(PyArray_DATA(array));
  return visit_rows(value, shape, 0, [&](PyObject* row) {
    return std::ranges::all_of(items_of(row),
                               [&](PyObject* item) { return Type::read(item, *to++); });
  });
}

Ref new_array_of(const Shape& shape, int type) {
  npy_intp extents[most_axes];
  std::copy_n(shape.extents, most_axes, extents);
  return checked(PyArray_SimpleNew(shape.rank, extents, type));
}

template <class Type>
Ref array_if(PyObject* value, const Shape& shape, int type, char& kind) {
  Ref array = new_array_of(shape, type);
  if (!read_all<Type>(value, shape, reinterpret_cast<PyArrayObject*>(array.get()))) return {};
  kind = Type::kind;
  return array;
}

bool read_characters(PyObject* from, npy_intp count, std::uint32_t*& to) {
  if (!PyUnicode_CheckExact(from) || PyUnicode_GET_LENGTH(from) != count) return false;
  for (npy_intp k = 0; k < count; ++k) *to++ = PyUnicode_READ_CHAR(from, k);
  return true;
}

// Of strings of one character each, or with an axis more. null: they are not alike.
Ref array_of_characters(PyObject* value, Shape shape, PyObject* first, char& kind, int& rank) {
  const npy_intp length = PyUnicode_GET_LENGTH(first);
  const Shape strings = shape;
  if (value == first || length != 1) {
    if (shape.rank == most_axes) return {};
    shape.extents[shape.rank++] = length;
  }
  kind = value == first ? text : characters;
  rank = shape.rank;
  Ref array = new_array_of(shape, NPY_UINT32);
  auto* to =
      static_cast<std::uint32_t*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.get())));
  const auto read = [&](PyObject* from) { return read_characters(from, length, to); };
  const bool is_read =
      value == first ? read(value) : visit_rows(value, strings, 0, [&](PyObject* row) {
        return std::ranges::all_of(items_of(row), read);
      });
  return is_read ? std::move(array) : Ref();
}

// null: it holds something else.
Ref array_of_sequence(PyObject* value, char& kind, int& rank) {
  Shape shape;
  PyObject* first = nullptr;
  if (!measure(value, shape, first)) return {};
  rank = shape.rank;
  Ref found;
  if (!first) {
    kind = no_kind;
    Ref array = new_array_of(shape, NPY_DOUBLE);
    const bool is_even = visit_rows(value, shape, 0, [](PyObject*) { return true; });
    return is_even ? std::move(array) : Ref();
  }
  if (PyUnicode_CheckExact(first)) return array_of_characters(value, shape, first, kind, rank);
  if (PyBool_Check(first)) return array_if<Bools>(value, shape, NPY_BOOL, kind);
  if (NumPysFloats::is(first)) return array_if<NumPysFloats>(value, shape, NPY_DOUBLE, kind);
  if (PyFloat_CheckExact(first)) found = array_if<Floats>(value, shape, NPY_DOUBLE, kind);
  if (PyLong_CheckExact(first)) found = array_if<Ints>(value, shape, NPY_INT64, kind);
  if (found || !(PyFloat_CheckExact(first) || PyLong_CheckExact(first))) return found;
  return array_if<Mixed>(value, shape, NPY_DOUBLE, kind);
}

// A list, and the number of the value that it is (part of).
using Place = std::pair<PyObject*, std::size_t>;

void note_lists(PyObject* value, std::size_t number, int rank, std::vector<Place>& lists) {
  if (!is_sequence(value)) return;
  if (PyList_CheckExact(value)) lists.emplace_back(value, number);  // a tuple is not changed
  if (rank > 1)
    for (PyObject* item : items_of(value)) note_lists(item, number, rank - 1, lists);
}

bool has_tuples(PyObject* value, int rank) {
  if (!PyList_CheckExact(value)) return true;
  return rank > 1 && std::ranges::any_of(items_of(value), [&](PyObject* item) {
           return has_tuples(item, rank - 1);
         });
}

nb::object list_arrays(const nb::tuple& values) {
  std::string key;
  std::vector<Place> lists;
  std::vector<std::size_t> letters(values.size());  // where a list's begins
  Ref arrays = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t k = 0; k < values.size(); ++k) {
    PyObject* value = values[k].ptr();
    Ref array = Ref::borrow(value);
    if (is_sequence(value) || PyUnicode_CheckExact(value)) {
      char kind = no_kind;
      int rank = 0;
      array = array_of_sequence(value, kind, rank);
      if (!array) return nb::none();
      letters[k] = key.size();
      const bool is_fixed = kind == characters || kind == text || kind == NumPysFloats::kind;
      key += is_fixed || has_tuples(value, rank) ? 'Q' : 'L';
      key += kind;
      key += static_cast<char>('0' + rank);
      note_lists(value, k, rank, lists);
    } else if (!append_loop_key(value, key)) {
      return nb::none();
    }
    PyTuple_SET_ITEM(arrays.get(), static_cast<Py_ssize_t>(k), array.release());
  }
  std::ranges::sort(lists);
  for (std::size_t k = 1; k < lists.size(); ++k)
    if (lists[k].first == lists[k - 1].first)
      key[letters[lists[k].second]] = key[letters[lists[k - 1].second]] = 'Q';
  return nb::make_tuple(nb::steal(arrays.release()), nb::str(key.c_str(), key.size()));
}

Shape shape_of(PyArrayObject* array) {
  Shape shape{.rank = PyArray_NDIM(array)};
  std::copy_n(PyArray_DIMS(array), shape.rank, shape.extents);
  return shape;
}

bool visit_lists(PyObject* value, const Shape& shape, const auto& visit) {
  return visit_rows(value, shape, 0,
                    [&](PyObject* row) { return PyList_CheckExact(row) && visit(row); });
}

// Which elements of a list of floats and ints are floats.
nb::object list_tags(nb::handle list, nb::handle array) {
  const Shape shape = shape_of(reinterpret_cast<PyArrayObject*>(array.ptr()));
  Ref tags = new_array_of(shape, NPY_BOOL);
  auto* to = static_cast<std::uint8_t*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(tags.get())));
  visit_rows(list.ptr(), shape, 0, [&](PyObject* row) {
    for (PyObject* item : items_of(row)) *to++ = PyFloat_CheckExact(item) ? 1 : 0;
    return true;
  });
  return nb::steal(tags.release());
}

template <class Type>
bool is_same(PyObject* object, typename Type::Number value) {
  typename Type::Number old;
  return Type::read(object, old) && std::memcmp(&old, &value, sizeof old) == 0;
}

template <class Type>
void set(PyObject* list, std::size_t k, typename Type::Number value) {
  const auto at = static_cast<Py_ssize_t>(k);
  if (is_same<Type>(PyList_GET_ITEM(list, at), value)) return;
  checked_status(PyList_SetItem(list, at, checked(Type::made(value)).release()));
}

template <class Type>
void set_all(PyObject* list, const Shape& shape, PyArrayObject* array) {
  const auto* from = static_cast<const typename Type::Number*>(PyArray_DATA(array));
  visit_lists(list, shape, [&](PyObject* row) {
    const std::size_t count = items_of(row).size();
    for (std::size_t k = 0; k < count; ++k) set<Type>(row, k, *from++);
    return true;
  });
}

void set_tagged(PyObject* list, const Shape& shape, PyArrayObject* array, PyArrayObject* tags) {
  const auto* from = static_cast<const double*>(PyArray_DATA(array));
  const auto* tag = static_cast<const std::uint8_t*>(PyArray_DATA(tags));
  visit_lists(list, shape, [&](PyObject* row) {
    const std::size_t count = items_of(row).size();
    for (std::size_t k = 0; k < count; ++k, ++from)
      if (*tag++ != 0)
        set<Floats>(row, k, *from);
      else
        set<Ints>(row, k, static_cast<std::int64_t>(*from));
    return true;
  });
}

// Whether a float became a NaN: which NaN of Python's it would be, an array does not tell.
bool has_new_nans(nb::handle list, nb::handle given) {
  auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
  const auto* from = static_cast<const double*>(PyArray_DATA(array));
  return !visit_rows(list.ptr(), shape_of(array), 0, [&](PyObject* row) {
    return std::ranges::none_of(items_of(row), [&](PyObject* item) {
      const double value = *from++;
      return std::isnan(value) && !is_same<Floats>(item, value);
    });
  });
}

void store_list(nb::handle list, nb::handle given, nb::handle tags) {
  auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
  const Shape shape = shape_of(array);
  if (!tags.is_none())
    return set_tagged(list.ptr(), shape, array, reinterpret_cast<PyArrayObject*>(tags.ptr()));
  switch (PyArray_TYPE(array)) {
    case NPY_DOUBLE:
      return set_all<Floats>(list.ptr(), shape, array);
    case NPY_BOOL:
      return set_all<Bools>(list.ptr(), shape, array);
    default:
      return set_all<Ints>(list.ptr(), shape, array);
  }
}

Ref object_of(char kind, const std::byte* from, DType dtype) {
  switch (kind) {
    case 'F':
      return checked(PyFloat_FromDouble(*reinterpret_cast<const double*>(from)));
    case 'I':
      return checked(PyLong_FromLongLong(*reinterpret_cast<const std::int64_t*>(from)));
    case 'B':
      return checked(PyBool_FromLong(*reinterpret_cast<const std::uint8_t*>(from)));
    default:
      return checked(make_scalar(from, dtype));
  }
}

void extend_list(nb::handle list, nb::handle given, std::size_t begin, std::size_t end, char kind) {
  auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
  const DType dtype = dtype_of(PyArray_DESCR(array)).value();
  const auto* data = static_cast<const std::byte*>(PyArray_DATA(array));
  const auto size = static_cast<std::size_t>(PyArray_ITEMSIZE(array));
  for (std::size_t k = begin; k < end; ++k)
    checked_status(PyList_Append(list.ptr(), object_of(kind, data + k * size, dtype).get()));
}

// A function that may throw PythonError, for nanobind.
template <class Function>
auto translated(Function function) {
  return [function](auto... arguments) {
    try {
      return function(arguments...);
    } catch (const PythonError&) {
      throw nb::python_error();
    }
  };
}

}  // namespace

void add_loop_lists(PyObject* module_object) {
  nb::module_ m = nb::borrow<nb::module_>(module_object);
  m.def(
      "list_arrays",
      [](const nb::tuple& values) {
        return translated([](const nb::tuple& x) { return list_arrays(x); })(values);
      },
      "values"_a,
      "The values with arrays for lists and tuples of numbers, and for strings, and their key "
      "(loop_key), in which L"
      " or Q (that is not to be changed), a type and a number of axes stand for each; None: they"
      " hold something else.");
  m.def(
      "list_tags",
      [](nb::handle list, nb::handle array) {
        return translated([](nb::handle x, nb::handle y) { return list_tags(x, y); })(list, array);
      },
      "list"_a, "array"_a, "Which of the numbers are floats.");
  m.def("has_new_nans", has_new_nans, "list"_a, "array"_a,
        "Whether an element is a NaN that was none, or another one.");
  m.def(
      "store_list",
      [](nb::handle list, nb::handle array, nb::handle tags) {
        translated([](nb::handle x, nb::handle y, nb::handle z) { store_list(x, y, z); })(
            list, array, tags);
      },
      "list"_a, "array"_a, "tags"_a.none(),
      "Stores what differs. tags: which are floats, where it has both.");
  m.def(
      "extend_list",
      [](nb::handle list, nb::handle array, std::size_t begin, std::size_t end, char kind) {
        translated([](nb::handle x, nb::handle y, std::size_t b, std::size_t e, char c) {
          extend_list(x, y, b, e, c);
        })(list, array, begin, end, kind);
      },
      "list"_a, "array"_a, "begin"_a, "end"_a, "kind"_a,
      "Appends elements, as objects of a kind of results: I, F, B or N.");
}

}  // namespace frit::python
