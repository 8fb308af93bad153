// unique.cpp: numpy.unique and its like, of a few integers.
//
// As NumPy does it: the elements are sorted, by its own loops, and the first of each run is kept.
// Floats are left to it: which of 0.0 and -0.0 is kept its loops decide.
#include <cstring>
#include <numeric>

#include "front/parts.h"
#include "python/array_type.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

// What is asked for besides the values.
struct Parts {
  bool index = false, inverse = false, counts = false;
};

struct Found {
  Array values, index, inverse, counts;  // empty: not asked for
};

std::int64_t* places_in(Array& array, std::int64_t n) {
  array = empty({&n, 1}, DType::Int64);
  return reinterpret_cast<std::int64_t*>(memory_of(array));
}

// The elements in their order, and in `places` where each was, if that is asked for.
std::optional<Array> sort_elements(const Array& flat, const Parts& parts, npy_intp* places) {
  const PyArray_ArrFuncs* functions = PyDataType_GetArrFuncs(descriptor_of(flat.dtype()));
  const NPY_SORTKIND kind = parts.index ? NPY_STABLESORT : NPY_QUICKSORT;
  const std::byte* const from = evaluate(flat);
  Array sorted = empty(flat.shape(), flat.dtype());
  std::byte* const to = memory_of(sorted);
  const std::int64_t n = flat.size();
  if (!places) {
    std::memcpy(to, from, static_cast<std::size_t>(n * size_of(flat.dtype())));
    PyArray_SortFunc* const sort = functions->sort[kind];
    if (!sort) return std::nullopt;
    if (sort(to, n, nullptr) < 0) throw PythonError{};
    return sorted;
  }
  std::iota(places, places + n, 0);
  PyArray_ArgSortFunc* const sort = functions->argsort[kind];
  if (!sort) return std::nullopt;
  if (sort(const_cast<std::byte*>(from), places, n, nullptr) < 0) throw PythonError{};
  with_unit(size_of(flat.dtype()), [&]<class Unit>(Unit) {
    for (std::int64_t k = 0; k < n; ++k)
      std::memcpy(to + k * static_cast<std::int64_t>(sizeof(Unit)),
                  from + places[k] * static_cast<std::int64_t>(sizeof(Unit)), sizeof(Unit));
  });
  return sorted;
}

std::optional<Found> find_unique(const Array& array, const Parts& parts) {
  if (!is_integer(array.dtype()) || array.size() == 0 || !array.c_contiguous() ||
      !is_small_and_ready(array))
    return std::nullopt;
  const Array flat = raveled(array);
  const std::int64_t n = flat.size();
  const bool needs_places = parts.index || parts.inverse;
  std::vector<npy_intp> places(needs_places ? static_cast<std::size_t>(n) : 0);
  const std::optional<Array> sorted =
      sort_elements(flat, parts, needs_places ? places.data() : nullptr);
  if (!sorted) return std::nullopt;
  std::vector<std::int64_t> begins;  // of runs of equal elements
  begins.reserve(static_cast<std::size_t>(n) + 1);
  Found found;
  with_unit(size_of(array.dtype()), [&]<class Unit>(Unit) {
    const auto* const elements = reinterpret_cast<const Unit*>(evaluate(*sorted));
    for (std::int64_t k = 0; k < n; ++k)
      if (k == 0 || std::memcmp(elements + k, elements + k - 1, sizeof(Unit)) != 0)
        begins.push_back(k);
    const std::int64_t count = std::ssize(begins);
    found.values = empty({&count, 1}, array.dtype());
    auto* const values = reinterpret_cast<Unit*>(memory_of(found.values));
    for (std::size_t k = 0; k < begins.size(); ++k)
      std::memcpy(values + k, elements + begins[k], sizeof(Unit));
  });
  const std::size_t count = begins.size();
  begins.push_back(n);
  if (parts.index) {
    std::int64_t* const index = places_in(found.index, std::ssize(begins) - 1);
    for (std::size_t k = 0; k < count; ++k) index[k] = places[static_cast<std::size_t>(begins[k])];
  }
  if (parts.inverse) {
    std::int64_t* const inverse = places_in(found.inverse, n);
    for (std::size_t k = 0; k < count; ++k)
      for (auto j = static_cast<std::size_t>(begins[k]);
           j < static_cast<std::size_t>(begins[k + 1]); ++j)
        inverse[places[j]] = static_cast<std::int64_t>(k);
  }
  if (parts.counts) {
    std::int64_t* const counts = places_in(found.counts, std::ssize(begins) - 1);
    for (std::size_t k = 0; k < count; ++k) counts[k] = begins[k + 1] - begins[k];
  }
  return found;
}

// The arrays that were asked for; the inverse is a view in the shape of `array`.
Ref tuple_of(Found& found, const Array& array) {
  Ref items[4];
  Py_ssize_t count = 0;
  for (Array* each : {&found.values, &found.index, &found.inverse, &found.counts}) {
    if (!*each) continue;
    Ref whole = Ref::steal(new_array(*each));
    items[count++] =
        each == &found.inverse
            ? Ref::steal(new_view(*reshape_window(*each, array.shape()), array_of(whole.get())))
            : std::move(whole);
  }
  Ref tuple = checked(PyTuple_New(count));
  for (Py_ssize_t k = 0; k < count; ++k) PyTuple_SET_ITEM(tuple.get(), k, items[k].release());
  return tuple;
}

// unique(ar, return_index=False, return_inverse=False, return_counts=False).
struct Unique {
  static constexpr const char* name = "unique";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [index, inverse, counts] =
        named(arguments, {"return_index", "return_inverse", "return_counts"});
    const Parts parts{.index = flag_operand(index, false),
                      .inverse = flag_operand(inverse, false),
                      .counts = flag_operand(counts, false)};
    std::optional<Found> found = find_unique(array_behind(self), parts);
    if (!found) return left_to_numpy();
    if (!parts.index && !parts.inverse && !parts.counts) return new_array(std::move(found->values));
    return tuple_of(*found, array_behind(self)).release();
  }
};

// unique_all, unique_counts and unique_inverse(x): named tuples.
template <bool has_inverse, bool has_counts>
struct UniqueNamed {
  static constexpr const char* name = !has_inverse ? "unique_counts"
                                      : has_counts ? "unique_all"
                                                   : "unique_inverse";
  static constexpr const char* class_name = !has_inverse ? "UniqueCountsResult"
                                            : has_counts ? "UniqueAllResult"
                                                         : "UniqueInverseResult";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    static PyObject* const type = class_of("numpy.lib._arraysetops_impl", class_name);
    std::optional<Found> found = find_unique(
        array_behind(self),
        {.index = has_inverse && has_counts, .inverse = has_inverse, .counts = has_counts});
    if (!found) return left_to_numpy();
    return named_tuple(type, tuple_of(*found, array_behind(self)));
  }
};

}  // namespace

PyObject* class_of(const char* module_name, const char* name) {
  const Ref module = checked(PyImport_ImportModule(module_name));
  return checked(PyObject_GetAttrString(module.get(), name)).release();
}

PyObject* named_tuple(PyObject* type, const Ref& items) {
  // tuple.__new__(type, items), as the class's own __new__ has it.
  const Ref arguments = checked(PyTuple_Pack(1, items.get()));
  return checked(
             PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(type), arguments.get(), nullptr))
      .release();
}

std::vector<PyMethodDef> unique_shortcuts() {
  return {shortcut_row<Unique>(), shortcut_row<UniqueNamed<true, true>>(),
          shortcut_row<UniqueNamed<false, true>>(), shortcut_row<UniqueNamed<true, false>>()};
}

}  // namespace frit::python
