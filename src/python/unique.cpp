// unique.cpp: numpy.unique and its like, and what asks whether elements are among others.
//
// As NumPy does it: the elements are sorted, by its own loops, and the first of each run is kept;
// or integers that lie close together are counted in a table. Which of 0.0 and -0.0 is kept NumPy's
// loops decide: where there are both it does the call.
#include <cstring>

#include "front/common.h"
#include "front/dense.h"
#include "front/distinct.h"
#include "front/order.h"
#include "front/parts.h"
#include "ops/loops.h"
#include "python/array_type.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/sequences.h"
#include "python/sorting.h"

namespace frit::python {
namespace {

using Parts = DistinctParts;
using Found = Distinct;

std::int64_t* places_in(Array& array, std::int64_t n) {
  array = empty({&n, 1}, DType::Int64);
  return reinterpret_cast<std::int64_t*>(memory_of(array));
}

// The elements in their order, and in `places` where each was, if that is asked for.
std::optional<Array> sort_elements(const Array& flat, const Parts& parts, Array* places) {
  std::optional<Array> result;
  if (places) {
    std::optional<Array> order = sorted_places(flat, NPY_STABLESORT);
    if (!order) return std::nullopt;
    *places = *std::move(order);
    result = take_dense(flat, *places, 0);
  } else {
    result = sorted(flat, NPY_QUICKSORT);
  }
  // NumPy sorts so that the first is in front only where its place is asked for.
  if (result && !parts.index && is_float(flat.dtype()) && has_both_zeros(*result))
    return std::nullopt;
  return result;
}

// Whether another value begins with y, behind x.
template <class T>
bool is_other(T x, T y) {
  return x != y && (x == x || y == y);  // all NaNs are one
}

// Where runs of equal elements begin.
template <class T>
std::vector<std::int64_t> runs_of(const T* sorted, std::int64_t n) {
  std::vector<std::int64_t> begins(1, 0);
  begins.reserve(static_cast<std::size_t>(std::min<std::int64_t>(n, 1024)) + 1);
  for (std::int64_t k = 1; k < n; ++k)
    if (is_other(sorted[k - 1], sorted[k])) begins.push_back(k);
  return begins;
}

// The first of each run, moved to the front; how many.
template <class T>
std::int64_t move_together(T* sorted, std::int64_t n) {
  std::int64_t count = 1;
  T last = sorted[0];
  for (std::int64_t k = 1; k < n; ++k) {
    const T x = sorted[k];
    sorted[count] = x;
    count += is_other(last, x);
    last = x;
  }
  return count;
}

// Has elements that can be sorted here.
bool is_sorted_here(const Array& array) {
  if (array.size() == 0 || !array.c_contiguous()) return false;
  return is_integer(array.dtype()) || array.dtype() == DType::Float64 ||
         array.dtype() == DType::Float32;
}

std::optional<Found> find_unique(const Array& array, const Parts& parts) {
  if (is_integer(array.dtype()) && array.size() > 0 && array.c_contiguous() &&
      !is_small_and_ready(array)) {
    const Array flat = raveled(array);
    evaluate(flat);
    if (std::optional<Found> found = distinct_in_table(flat, parts)) return found;
  }
  if (!is_sorted_here(array)) return std::nullopt;
  const Array flat = raveled(array);
  const std::int64_t n = flat.size();
  const bool needs_places = parts.index || parts.inverse;
  Array order;
  const std::optional<Array> sorted = sort_elements(flat, parts, needs_places ? &order : nullptr);
  if (!sorted) return std::nullopt;
  const auto* const places =
      needs_places ? reinterpret_cast<const std::int64_t*>(evaluate(order)) : nullptr;
  std::vector<std::int64_t> begins;
  Found found;
  const auto take_values = [&]<class T>(T) {
    auto* const elements = reinterpret_cast<T*>(memory_of(*sorted));
    const std::int64_t count = move_together(elements, n);
    found.values = empty({&count, 1}, array.dtype());
    std::memcpy(memory_of(found.values), elements, static_cast<std::size_t>(count) * sizeof(T));
  };
  const auto take = [&]<class T>(T) {
    const auto* const elements = reinterpret_cast<const T*>(evaluate(*sorted));
    begins = runs_of(elements, n);
    const std::int64_t count = std::ssize(begins);
    found.values = empty({&count, 1}, array.dtype());
    auto* const values = reinterpret_cast<T*>(memory_of(found.values));
    for (std::size_t k = 0; k < begins.size(); ++k) values[k] = elements[begins[k]];
  };
  const auto with_sorted = [&](auto&& work) {
    if (array.dtype() == DType::Float64)
      work(double{});
    else if (array.dtype() == DType::Float32)
      work(float{});
    else
      with_unit(size_of(array.dtype()), [&]<class Unit>(Unit unit) {
        if constexpr (std::is_integral_v<Unit>) work(unit);
      });
  };
  if (!needs_places && !parts.counts) {
    with_sorted(take_values);
    return found;
  }
  with_sorted(take);
  const std::size_t count = begins.size();
  begins.push_back(n);
  if (parts.index) {
    std::int64_t* const index = places_in(found.index, std::ssize(begins) - 1);
    for (std::size_t k = 0; k < count; ++k) index[k] = places[begins[k]];
  }
  if (parts.inverse) {
    std::int64_t* const inverse = places_in(found.inverse, n);
    for (std::size_t k = 0; k < count; ++k)
      for (std::int64_t j = begins[k]; j < begins[k + 1]; ++j)
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
    if (!is_integer(array_behind(self).dtype())) return left_to_numpy();  // NaNs differ there
    std::optional<Found> found = find_unique(
        array_behind(self),
        {.index = has_inverse && has_counts, .inverse = has_inverse, .counts = has_counts});
    if (!found) return left_to_numpy();
    return named_tuple(type, tuple_of(*found, array_behind(self)));
  }
};

// Integers that float64 holds.
bool are_exact(const Array& integers) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  const Array dense = copy(integers, 'C');
  const Extremes found = range_loop(dense.dtype())(evaluate(dense), dense.size());
  const bool fits = is_signed(dense.dtype()) || (found.least >= 0 && found.greatest >= 0);
  return fits && found.least > -most && found.greatest < most;
}

// isin(element, test_elements, invert=False), by what both are promoted to.
std::optional<Array> among(const Array& elements, const Array& wanted, bool is_inverted) {
  const DType from = elements.dtype(), to = wanted.dtype();
  const auto is_known = [](DType dtype) {
    return is_integer(dtype) || dtype == DType::Float64 || dtype == DType::Float32;
  };
  if (!is_known(from) || !is_known(to) || wanted.size() == 0) return std::nullopt;
  const DType common = promote(from, to);
  // Integers are compared as such.
  if (!is_known(common) || (is_integer(from) && is_integer(to) && !is_integer(common)))
    return std::nullopt;
  if (elements.size() == 0) return std::nullopt;
  for (const Array* each : {&elements, &wanted})
    if (is_integer(each->dtype()) && !is_integer(common) && !are_exact(*each)) return std::nullopt;
  const Array of = from == common ? elements : astype(elements, common, 'C'),
              in = to == common ? wanted : astype(wanted, common, 'C');
  evaluate(of);
  evaluate(in);
  return are_among(of, in, is_inverted);
}

struct IsIn {
  static constexpr const char* name = "isin";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [given, unique, invert, kind] =
        named(arguments, {"test_elements", "assume_unique", "invert", "kind"}, 3);
    if (!given || (kind && kind != Py_None) || flag_operand(unique, false)) return left_to_numpy();
    std::optional<Array> wanted;
    if (is_array(given))
      wanted = array_behind(given);
    else if (PyList_CheckExact(given) || PyTuple_CheckExact(given))
      wanted = array_of_numbers(given);
    if (!wanted) return left_to_numpy();
    const std::optional<Array> answers =
        among(array_behind(self), *wanted, flag_operand(invert, false));
    if (!answers) return left_to_numpy();
    return answers->ndim() == 0 ? left_to_numpy() : new_array(*answers);
  }
};

// The functions of two sets of integers of one type, as NumPy makes them of unique and isin.
enum class SetOf : std::uint8_t { Both, Either, First };
template <SetOf which>
struct TwoSets {
  static constexpr const char* name = which == SetOf::Both     ? "intersect1d"
                                      : which == SetOf::Either ? "union1d"
                                                               : "setdiff1d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional != 1 || arguments.names || !is_array(arguments.values[0]))
      return left_to_numpy();
    const Array &one = array_behind(self), &other = array_behind(arguments.values[0]);
    if (!is_integer(one.dtype()) || one.dtype() != other.dtype() || one.size() == 0 ||
        other.size() == 0)
      return left_to_numpy();
    const std::optional<Array> values =
        which == SetOf::Either ? values_of(joined(one, other)) : values_of(one);
    if (!values) return left_to_numpy();
    if (which == SetOf::Either) return new_array(*values);
    evaluate(other);
    const Array mask = are_among(*values, other, which == SetOf::First);
    return new_array(compress(*values, mask));
  }

 private:
  static std::optional<Array> values_of(const Array& array) {
    std::optional<Found> found = find_unique(array, {});
    return found ? std::optional(std::move(found->values)) : std::nullopt;
  }
  static Array joined(const Array& one, const Array& other) {
    const std::int64_t size = one.size() + other.size();
    const Array both = empty({&size, 1}, one.dtype());
    std::byte* const to = memory_of(both);
    const auto append = [](const Array& array, std::byte* at) {
      const Array dense = array.c_contiguous() ? array : copy(array, 'C');
      std::memcpy(at, evaluate(dense),
                  static_cast<std::size_t>(array.size() * size_of(array.dtype())));
    };
    append(one, to);
    append(other, to + one.size() * size_of(one.dtype()));
    return both;
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
  return {shortcut_row<Unique>(),
          shortcut_row<UniqueNamed<true, true>>(),
          shortcut_row<UniqueNamed<false, true>>(),
          shortcut_row<UniqueNamed<true, false>>(),
          shortcut_row<IsIn>(),
          shortcut_row<TwoSets<SetOf::Both>>(),
          shortcut_row<TwoSets<SetOf::Either>>(),
          shortcut_row<TwoSets<SetOf::First>>()};
}

}  // namespace frit::python
