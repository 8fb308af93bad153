// index_key.cpp: reads index keys by NumPy's rules.
#include "python/index_key.h"

#include <algorithm>

#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/operands.h"
#include "python/sequences.h"

namespace frit::python {
namespace {

enum class Kind : std::uint8_t { Integer, Slice, NewAxis, Ellipsis, Indices, Mask };

struct Item {
  Kind kind;
  std::int64_t integer = 0;
  PyObject* slice = nullptr;
  Array array = {};
  bool from_array = false;  // an integer
  int axes() const {        // of the array that it takes
    return kind == Kind::NewAxis || kind == Kind::Ellipsis ? 0
           : kind == Kind::Mask                            ? array.ndim()
                                                           : 1;
  }
};

bool is_integer_key(PyObject* key) {
  if (PyLong_CheckExact(key)) return true;
  if (PyBool_Check(key)) return false;
  return PyArray_IsScalar(key, Integer) ||
         (is_scalar(key) && is_integer(scalar_of(key).array.dtype())) || PyLong_Check(key);
}

Item read_item(PyObject* key) {
  if (is_integer_key(key)) return {.kind = Kind::Integer, .integer = integer_operand(key)};
  if (PySlice_Check(key)) return {.kind = Kind::Slice, .slice = key};
  if (key == Py_None) return {.kind = Kind::NewAxis};
  if (key == Py_Ellipsis) return {.kind = Kind::Ellipsis};
  if (PyBool_Check(key) || PyArray_IsScalar(key, Bool)) throw Unfit{"an index is a single bool"};
  if (is_array(key) || PyArray_CheckExact(key) || PyList_CheckExact(key) ||
      PyTuple_CheckExact(key)) {
    Array array = index_operand(key);
    if (is_bool(array.dtype())) {
      if (array.ndim() == 0) throw Unfit{"an index is a single bool"};
      return {.kind = Kind::Mask, .array = std::move(array)};
    }
    // A 0-d integer array is an integer, but the result is then a copy only if another index is an
    // array.
    if (array.ndim() == 0) {
      const Scalar value = item(array);
      const Ref number = Ref::steal(make_scalar(value));
      return {.kind = Kind::Integer, .integer = integer_operand(number.get()), .from_array = true};
    }
    return {.kind = Kind::Indices, .array = std::move(array)};
  }
  if (PyIndex_Check(key)) return {.kind = Kind::Integer, .integer = integer_operand(key)};
  throw Unfit{"an index is of a foreign type"};
}

std::vector<Item> read_items(PyObject* key, int ndim) {
  std::vector<Item> items;
  int used = 0;
  bool ellipsis = false;
  const auto add = [&](PyObject* part) {
    items.push_back(read_item(part));
    used += items.back().axes();
    if (items.back().kind == Kind::Ellipsis) {
      if (ellipsis) throw Unfit{"two ellipses"};
      ellipsis = true;
    }
  };
  if (PyTuple_Check(key)) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key); ++k) add(PyTuple_GET_ITEM(key, k));
  } else {
    add(key);
  }
  if (used > ndim) throw Unfit{"too many indices"};
  // The axes that no item names, as slices.
  const auto missing = static_cast<std::size_t>(ndim - used);
  auto at = items.end();
  if (ellipsis) {
    at = std::find_if(items.begin(), items.end(),
                      [](const Item& item) { return item.kind == Kind::Ellipsis; });
    at = items.erase(at);
  }
  items.insert(at, missing, Item{.kind = Kind::Slice});
  return items;
}

std::int64_t checked_index(std::int64_t index, std::int64_t extent) {
  const std::int64_t normal = index < 0 ? index + extent : index;
  if (normal < 0 || normal >= extent) throw Unfit{"an index is out of bounds"};
  return normal;
}

// The window in the making.
struct Window {
  Shape shape, strides;
  std::int64_t offset = 0;

  void add_slice(PyObject* slice, std::int64_t extent, std::int64_t stride) {
    Py_ssize_t start = 0, stop = extent, step = 1;
    if (slice && PySlice_Unpack(slice, &start, &stop, &step) < 0) {
      PyErr_Clear();
      throw Unfit{"not a slice of integers"};
    }
    const Py_ssize_t count = slice ? PySlice_AdjustIndices(extent, &start, &stop, step) : extent;
    if (count > 0) offset += start * stride;
    shape.push_back(count);
    strides.push_back(stride_of_slice(stride, step));
  }
};

// One index array and the axis of the source that it goes over; or a None or slice, kept apart.
struct Advanced {
  std::int64_t extent, stride;
  Array indices;
};

}  // namespace

// A list of bools, however deep.
std::optional<Array> listed_mask(PyObject* list) {
  PyObject* first = list;
  for (int depth = 0; depth < max_dimensions && PyList_CheckExact(first); ++depth) {
    if (PyList_GET_SIZE(first) == 0) return std::nullopt;
    first = PyList_GET_ITEM(first, 0);
  }
  if (!PyBool_Check(first)) return std::nullopt;
  std::optional<Array> mask = array_of_numbers(list);
  return mask && is_bool(mask->dtype()) ? std::move(mask) : std::nullopt;
}

std::optional<Array> mask_key(PyObject* key) {
  if (PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) == 1) key = PyTuple_GET_ITEM(key, 0);
  if (PyList_CheckExact(key)) return listed_mask(key);
  if (is_array(key)) {
    const Array& array = array_of(key).array;
    if (is_bool(array.dtype()) && array.ndim() > 0) return array;
    return std::nullopt;
  }
  if (!PyArray_CheckExact(key)) return std::nullopt;
  auto* real = reinterpret_cast<PyArrayObject*>(key);
  if (PyArray_TYPE(real) != NPY_BOOL || PyArray_NDIM(real) == 0) return std::nullopt;
  return wrap_ndarray(key);
}

IndexKey read_key(const Array& array, PyObject* key) {
  std::vector<Item> items = read_items(key, array.ndim());
  const bool advanced = std::any_of(items.begin(), items.end(), [](const Item& item) {
    return item.kind == Kind::Indices || item.kind == Kind::Mask;
  });
  Window rest;
  rest.offset = array.offset();
  std::vector<Advanced> taken;
  // Where the first array stands among the remaining axes, and whether all stand side by side.
  int place = -1;
  bool together = true, closed = false;
  std::size_t axis = 0;
  for (Item& item : items) {
    const bool array_like = item.kind == Kind::Indices || item.kind == Kind::Mask ||
                            (advanced && item.kind == Kind::Integer);
    if (array_like) {
      if (place < 0) place = static_cast<int>(rest.shape.size());
      if (closed) together = false;
    } else if (place >= 0) {
      closed = true;
    }
    switch (item.kind) {
      case Kind::NewAxis:
        rest.shape.push_back(1);
        rest.strides.push_back(0);
        break;
      case Kind::Slice:
        rest.add_slice(item.slice, array.shape()[axis], array.strides()[axis]);
        ++axis;
        break;
      case Kind::Integer: {
        const std::int64_t index = checked_index(item.integer, array.shape()[axis]);
        if (advanced)
          taken.push_back({array.shape()[axis], array.strides()[axis],
                           full({}, Scalar::of(DType::Int64, index))});
        else
          rest.offset += index * array.strides()[axis];
        ++axis;
        break;
      }
      case Kind::Indices:
        taken.push_back({array.shape()[axis], array.strides()[axis], item.array});
        ++axis;
        break;
      case Kind::Mask: {
        if (!std::ranges::equal(item.array.shape(),
                                array.shape().subspan(axis, item.array.shape().size())))
          throw Unfit{"a mask of another shape"};
        for (Array& indices : nonzero(item.array)) {
          taken.push_back({array.shape()[axis], array.strides()[axis], std::move(indices)});
          ++axis;
        }
        break;
      }
      case Kind::Ellipsis:
        break;
    }
  }
  IndexKey result;
  // Only integers, one an axis, and no ellipsis: one element.
  const bool only_integers =
      std::ranges::all_of(items, [](const Item& item) { return item.kind == Kind::Integer; });
  const std::size_t given = PyTuple_Check(key)   ? static_cast<std::size_t>(PyTuple_GET_SIZE(key))
                            : key == Py_Ellipsis ? 0
                                                 : 1;
  result.is_scalar = only_integers && given == items.size() && key != Py_Ellipsis;
  result.copies = std::ranges::any_of(items, &Item::from_array);
  result.front_axes = advanced && together ? place : 0;
  // NumPy's iterator takes so many operands, of which one is the result.
  if (taken.size() >= NPY_MAXARGS) throw Unfit{"too many index arrays"};
  Shape shape, strides;
  for (Advanced& each : taken) {
    shape.push_back(each.extent);
    strides.push_back(each.stride);
    result.arrays.push_back(std::move(each.indices));
  }
  shape.insert(shape.end(), rest.shape.begin(), rest.shape.end());
  strides.insert(strides.end(), rest.strides.begin(), rest.strides.end());
  result.basic = window(array, shape, strides, rest.offset, array.dtype());
  return result;
}

}  // namespace frit::python
