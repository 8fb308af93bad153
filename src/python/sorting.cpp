// sorting.cpp: sort, partition, argsort, lexsort: NumPy's own loops, on elements that lie side by
// side; and places in what is sorted.
#include <algorithm>
#include <cstring>

#include "front/common.h"
#include "front/dense.h"
#include "front/search.h"
#include "front/sort.h"
#include "python/array_type.h"
#include "python/functions.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/sorting.h"

namespace frit::python {
namespace {

// NumPy's functions give Python's lock back for more elements.
constexpr std::int64_t few = 1 << 12;

bool are_rows(const Array& array) {
  return array.ndim() > 0 && array.c_contiguous() && array.size() > 0;
}
bool is_last_axis(const Array& array, PyObject* axis) {
  const std::optional<std::int64_t> along = axis ? word_of(axis) : -1;
  return along == -1 || along == array.ndim() - 1;
}

// NumPy's loops; null where there is none.
SortLoops sort_loops(DType dtype, NPY_SORTKIND kind) {
  const PyArray_ArrFuncs* const functions = PyDataType_GetArrFuncs(descriptor_of(dtype));
  static const SortElements words =
      PyDataType_GetArrFuncs(descriptor_of(DType::UInt64))->sort[NPY_QUICKSORT];
  return {.values = functions->sort[kind],
          .quick = functions->sort[NPY_QUICKSORT],
          .places = functions->argsort[kind],
          .words = words,
          .is_stable = kind == NPY_STABLESORT};
}

std::optional<NPY_SORTKIND> sort_kind(PyObject* kind) {
  if (!kind || kind == Py_None) return NPY_QUICKSORT;
  if (!PyUnicode_Check(kind)) return std::nullopt;
  for (const char* stable : {"stable", "mergesort"})
    if (PyUnicode_CompareWithASCIIString(kind, stable) == 0) return NPY_STABLESORT;
  if (PyUnicode_CompareWithASCIIString(kind, "quicksort") == 0) return NPY_QUICKSORT;
  return std::nullopt;
}

// What sort(rows) does, without Python's lock if that may take long.
template <class Sort>
void run_sort(const Array& rows, Sort&& sort) {
  std::optional<WithoutGil> released;
  if (rows.size() > few) released.emplace();
  const bool is_well = sort();
  released.reset();
  if (is_well) return;
  if (!PyErr_Occurred()) PyErr_NoMemory();
  throw PythonError{};
}

// sort and argsort, by what does it for rows.
using RowSort = std::optional<Array> (*)(const Array&, NPY_SORTKIND);
template <RowSort sort_rows>
std::optional<Array> sorted_along(const Array& array, const Arguments& arguments) {
  const auto [axis, kind] = named(arguments, {"axis", "kind"});
  const std::optional<NPY_SORTKIND> way = sort_kind(kind);
  if (!way) return std::nullopt;
  if (is_last_axis(array, axis)) return sort_rows(array, *way);
  const std::optional<std::int64_t> along = word_of(axis);
  if (array.ndim() != 2 || (along != 0 && along != -2) || !are_rows(array)) return std::nullopt;
  // As rows of a copy.
  const std::optional<Array> rows = sort_rows(copy(reversed_axes(array), 'C'), *way);
  return rows ? std::optional(copy(reversed_axes(*rows), 'C')) : std::nullopt;
}
template <RowSort sort_rows>
struct SortFunction {
  static constexpr const char* name = sort_rows == sorted ? "sort" : "argsort";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    std::optional<Array> result = sorted_along<sort_rows>(array_behind(self), arguments);
    return result ? new_array(*std::move(result)) : left_to_numpy();
  }
};

// lexsort(keys) of arrays that lie side by side: by one key after the other, as NumPy sorts them.
PyObject* lexsort(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (positional != 1 || names || (!PyTuple_CheckExact(values[0]) && !PyList_CheckExact(values[0])))
    return left_to_numpy();
  return shortcut({&address_of<lexsort>, {values, positional, names}}, [&] {
    std::vector<const Array*> keys;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(values[0]); ++k) {
      PyObject* const key = PySequence_Fast_GET_ITEM(values[0], k);
      if (!is_array(key) || array_behind(key).ndim() != 1 || !are_rows(array_behind(key)) ||
          (k > 0 && array_behind(key).size() != keys[0]->size()))
        return left_to_numpy();
      keys.push_back(&array_behind(key));
    }
    if (keys.empty()) return left_to_numpy();
    std::optional<Array> places;
    for (const Array* key : keys) {
      if (!places && keys.size() > 1 && evaluate(*key) && is_in_order(*key)) continue;
      // The order so far, among elements that this key does not tell apart.
      const std::optional<Array> order =
          sorted_places(places ? *take_dense(*key, *places, 0) : *key, NPY_STABLESORT);
      if (!order) return left_to_numpy();
      places = places ? take_dense(*places, *order, 0) : order;
    }
    return new_array(places ? *std::move(places) : *sorted_places(*keys[0], NPY_STABLESORT));
  });
}

// Memory that lies as C has it, so that a loop of NumPy's may go over it.
bool is_aligned(const Array& array, const std::byte* data) {
  constexpr int word = 8;
  return reinterpret_cast<std::uintptr_t>(data) %
             static_cast<std::uintptr_t>(std::min(size_of(array.dtype()), word)) ==
         0;
}

// sort(): few rows where they lie.
struct Sort {
  static constexpr const char* name = "sort";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const bool is_plain = arguments.positional + arguments.keywords() == 0;
    if (!is_plain || !sort_in_place(array_of(self))) return call_on_real(name, self, arguments);
    return Py_NewRef(Py_None);
  }

 private:
  static bool sort_in_place(ArrayObject& object) {
    const Array& array = object.array;
    if (object.read_only || object.warns_on_write || !array.base()->writable || !are_rows(array))
      return false;
    const SortLoops loops = sort_loops(array.dtype(), NPY_QUICKSORT);
    if (array.size() == 1) return true;
    evaluate(array);
    {
      const Locked lock(Engine::lock());
      Engine::get().settle(array.base());
    }
    std::byte* const to = array.base()->data + array.offset();
    if (!loops.values || !is_aligned(array, to)) return false;
    run_sort(array, [&] { return sort_rows(array, to, loops); });
    return true;
  }
};

struct ArgSort {
  static constexpr const char* name = "argsort";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (std::optional<Array> places = sorted_along<sorted_places>(array_behind(self), arguments))
      return new_array(*std::move(places));
    return call_on_real(name, self, arguments);
  }
};

// What partition and argpartition take: one place, along the last axis. NumPy's C functions copy
// the array of places before they look at elements.
PyArrayObject* only_place(const Arguments& arguments) {
  static PyObject* const place = checked(PyArray_SimpleNew(0, nullptr, NPY_INTP)).release();
  const std::optional<std::int64_t> given =
      arguments.positional == 1 && !arguments.names ? word_of(arguments.values[0]) : std::nullopt;
  auto* const array = reinterpret_cast<PyArrayObject*>(place);
  if (given) *static_cast<npy_intp*>(PyArray_DATA(array)) = *given;
  return given ? array : nullptr;
}

struct Partition {
  static constexpr const char* name = "partition";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    PyArrayObject* const place = only_place(arguments);
    if (!place) return call_on_real(name, self, arguments);
    Ref real = real_array(array_of(self));
    checked_status(PyArray_Partition(reinterpret_cast<PyArrayObject*>(real.get()), place, -1,
                                     NPY_INTROSELECT));
    give_back(std::move(real));
    return Py_NewRef(Py_None);
  }
};
struct ArgPartition {
  static constexpr const char* name = "argpartition";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    PyArrayObject* const place = only_place(arguments);
    if (!place) return call_on_real(name, self, arguments);
    Ref real = real_array(array_of(self));
    Ref places = checked(PyArray_ArgPartition(reinterpret_cast<PyArrayObject*>(real.get()), place,
                                              -1, NPY_INTROSELECT));
    give_back(std::move(real));
    return object_of_ndarray(std::move(places));
  }
};

// partition(a, kth, axis=-1): of a copy, in place.
struct PartitionFunction {
  static constexpr const char* name = "partition";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [kth, axis] = named(arguments, {"kth", "axis"});
    if (!kth || axis == Py_None) return left_to_numpy();
    Ref copied = Ref::steal(new_array(copy(array_behind(self), 'K')));
    const Ref none = Ref::steal(Partition::run(copied.get(), arguments));
    return copied.release();
  }
};
struct ArgPartitionFunction {
  static constexpr const char* name = "argpartition";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [kth, axis] = named(arguments, {"kth", "axis"});
    return kth ? ArgPartition::run(self, arguments) : left_to_numpy();
  }
};

// NumPy's order: NaN comes behind all numbers.
template <class T>
bool is_before(T x, T y) {
  return x < y || (y != y && x == x);
}
// As NumPy looks for it: so also of elements in no order.
template <class T>
std::int64_t place_for(const std::byte* data, std::int64_t stride, std::int64_t size, T key,
                       bool is_right) {
  std::int64_t low = 0, high = size;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    T element;
    std::memcpy(&element, data + middle * stride, sizeof element);
    if (is_right ? !is_before(key, element) : is_before(element, key))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Whether a side is the right one; nothing where it is neither. Absent: the left one.
std::optional<bool> is_right_side(PyObject* side) {
  if (!side) return false;
  if (!PyUnicode_CheckExact(side)) return std::nullopt;
  if (PyUnicode_CompareWithASCIIString(side, "right") == 0) return true;
  if (PyUnicode_CompareWithASCIIString(side, "left") == 0) return false;
  return std::nullopt;
}

// searchsorted(number, side="left") of a vector of float64 or int64; null where it is no such.
PyObject* place_of_number(const Array& array, const Arguments& arguments) {
  if (arguments.positional != 1 || arguments.keywords() > 1 || array.ndim() != 1) return nullptr;
  bool is_right = false;
  if (arguments.names) {
    const auto [number, side] = named(arguments, {"v", "side"});
    const std::optional<bool> asked = is_right_side(side);
    if (!asked) return nullptr;
    is_right = *asked;
  }
  PyObject* const given = arguments.values[0];
  const std::optional<std::int64_t> word = word_of(given);
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  const bool is_float = PyFloat_CheckExact(given);
  if (!is_float && !(word && std::abs(*word) <= exact)) return nullptr;
  std::int64_t place = 0;
  const std::int64_t stride = array.strides()[0], size = array.size();
  if (array.dtype() == DType::Float64)
    place = place_for<double>(evaluate(array), stride, size,
                              is_float ? PyFloat_AS_DOUBLE(given) : static_cast<double>(*word),
                              is_right);
  else if (array.dtype() == DType::Int64 && !is_float)
    place = place_for<std::int64_t>(evaluate(array), stride, size, *word, is_right);
  else
    return nullptr;
  return make_scalar(reinterpret_cast<const std::byte*>(&place), DType::Int64);
}
// searchsorted(array, side="left"); null as above.
PyObject* places_of_array(const Array& array, const Arguments& arguments) {
  const auto [given, side, sorter] = named(arguments, {"v", "side", "sorter"});
  const std::optional<bool> is_right = is_right_side(side);
  if (!given || !is_array(given) || sorter || !is_right) return nullptr;
  evaluate(array);
  evaluate(array_behind(given));
  const std::optional<Array> places = places_in(array, array_behind(given), *is_right);
  return places ? new_array(*places) : nullptr;
}
PyObject* places_of(const Array& array, const Arguments& arguments) {
  PyObject* const place = place_of_number(array, arguments);
  return place ? place : places_of_array(array, arguments);
}
struct SearchSorted {
  static constexpr const char* name = "searchsorted";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    PyObject* const places = places_of(array_behind(self), arguments);
    return places ? places : call_on_real(name, self, arguments);
  }
};
struct SearchSortedFunction {
  static constexpr const char* name = "searchsorted";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    PyObject* const places = places_of(array_behind(self), arguments);
    return places ? places : left_to_numpy();
  }
};

// interp(x, xp, fp, left=None, right=None) of arrays.
struct Interp {
  static constexpr const char* name = "interp";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [xp, fp, left, right] = named(arguments, {"xp", "fp", "left", "right"});
    if (!xp || !fp || !is_array(xp) || !is_array(fp)) return left_to_numpy();
    const auto outside = [](PyObject* given) -> std::optional<double> {
      if (!given || given == Py_None) return std::nullopt;
      if (const std::optional<double> number = double_of(given)) return number;
      throw Unfit{"no number"};
    };
    const std::optional<double> below = outside(left), above = outside(right);
    for (PyObject* const each : {self, xp, fp}) evaluate(array_behind(each));
    const std::optional<Array> values =
        interpolated(array_behind(self), array_behind(xp), array_behind(fp), below, above);
    return values ? new_array(*values) : left_to_numpy();
  }
};

}  // namespace

std::optional<Array> sorted(const Array& rows, NPY_SORTKIND kind) {
  const SortLoops loops = sort_loops(rows.dtype(), kind);
  if (!loops.values || !are_rows(rows)) return std::nullopt;
  evaluate(rows);
  Array result = empty(rows.shape(), rows.dtype());
  std::byte* const to = memory_of(result);
  run_sort(rows, [&] { return sort_rows(rows, to, loops); });
  return result;
}

std::optional<Array> sorted_places(const Array& rows, NPY_SORTKIND kind) {
  const SortLoops loops = sort_loops(rows.dtype(), kind);
  if (!loops.places || !are_rows(rows)) return std::nullopt;
  evaluate(rows);
  Array result = empty(rows.shape(), DType::Int64);
  auto* const to = reinterpret_cast<std::int64_t*>(memory_of(result));
  run_sort(rows, [&] { return sort_places(rows, to, loops); });
  return result;
}

std::vector<PyMethodDef> sorting_methods() {
  return {method_row<Sort>(), method_row<ArgSort>(), method_row<Partition>(),
          method_row<ArgPartition>(), method_row<SearchSorted>()};
}

std::vector<PyMethodDef> sorting_shortcuts() {
  return {plain_row("lexsort", lexsort),
          shortcut_row<SortFunction<sorted>>(),
          shortcut_row<SortFunction<sorted_places>>(),
          shortcut_row<PartitionFunction>(),
          shortcut_row<ArgPartitionFunction>(),
          shortcut_row<SearchSortedFunction>(),
          shortcut_row<Interp>()};
}

}  // namespace frit::python
