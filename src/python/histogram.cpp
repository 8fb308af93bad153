// histogram.cpp: numpy.histogram and histogram2d of arrays of real numbers.
//
// NumPy guesses bins of one width and puts them right by one: so does the engine, but both are only
// the same where each bin holds many numbers of its type. All else is left to NumPy, errors too.
#include "front/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "front/common.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/sequences.h"

namespace frit::python {
namespace {

constexpr std::int64_t most_bins = 1 << 26;

bool holds_numbers(const Array& array) {
  const DType dtype = array.dtype();
  return array.size() > 0 &&
         (is_integer(dtype) || dtype == DType::Float64 || dtype == DType::Float32);
}

template <class T>
T element(const Array& array) {
  T value;
  std::memcpy(&value, evaluate(array), sizeof value);
  return value;
}

// Of float64 or an integer type.
std::optional<double> exact_value(const Scalar& scalar) {
  double value = 0;
  void* const pair[] = {&value, const_cast<std::byte*>(scalar.bytes)};
  if (scalar.dtype != DType::Float64 && !is_integer(scalar.dtype)) return std::nullopt;
  cast_loop(scalar.dtype, DType::Float64)(pair, 1, 0);
  constexpr double most = 0x1p53;
  return scalar.dtype == DType::Float64 || std::abs(value) < most ? std::optional(value)
                                                                  : std::nullopt;
}

// Where the first bin begins and the last one ends.
struct Range {
  double first = 0, last = 0;
  DType dtype = DType::Float64;  // float32: the edges are computed in it

  bool is_finite() const { return std::isfinite(first) && std::isfinite(last); }
  // As NumPy widens one that is empty.
  Range widened() const {
    if (first != last) return *this;
    return {first - 0.5, last + 0.5, dtype};
  }
};

// The least and greatest element; none where they are no finite, exact numbers.
std::optional<Range> range_of(const Array& array) {
  const auto [least, greatest] = as_one_launch([&] {
    const std::pair found{reduce(Op::Minimum, array), reduce(Op::Maximum, array)};
    return found;
  });
  Range range;
  if (array.dtype() == DType::Float32) {
    range = {element<float>(least), element<float>(greatest), DType::Float32};
  } else {
    Scalar scalars[] = {Scalar{}, Scalar{}};
    for (int k = 0; k < 2; ++k) {
      scalars[k].dtype = array.dtype();
      std::memcpy(scalars[k].bytes, evaluate(k == 0 ? least : greatest),
                  static_cast<std::size_t>(size_of(array.dtype())));
    }
    const std::optional<double> first = exact_value(scalars[0]), last = exact_value(scalars[1]);
    if (!first || !last) return std::nullopt;
    range = {*first, *last, DType::Float64};
  }
  return range.is_finite() ? std::optional(range.widened()) : std::nullopt;
}

// One end of a range: a Python number takes the type of the elements, one of NumPy's has its own.
struct End {
  double value = 0;
  bool is_typed = false;
};
std::optional<End> end_of(PyObject* object) {
  if (is_scalar(object)) object = scalar_value(scalar_of(object));
  if (const std::optional<double> number = double_of(object))
    return End{*number, !PyFloat_CheckExact(object) && !PyLong_CheckExact(object)};
  const std::optional<Scalar> scalar = numpy_scalar_value(object);
  const std::optional<double> number = scalar ? exact_value(*scalar) : std::nullopt;
  return number ? std::optional(End{*number, true}) : std::nullopt;
}

// range=(first, last), for elements of float32 in that type if `is_narrow`.
std::optional<Range> given_range(PyObject* object, bool is_narrow) {
  if ((!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) ||
      PySequence_Fast_GET_SIZE(object) != 2)
    return std::nullopt;
  const auto first = end_of(PySequence_Fast_GET_ITEM(object, 0)),
             last = end_of(PySequence_Fast_GET_ITEM(object, 1));
  if (!first || !last || (is_narrow && (first->is_typed || last->is_typed))) return std::nullopt;
  const Range range{first->value, last->value};
  return range.first <= range.last && range.is_finite() ? std::optional(range.widened())
                                                        : std::nullopt;
}

// Edges as an object, and in the type in which numbers are compared with them.
struct Edges {
  Ref object;
  Array compared;
};

// Of `count` bins in a range.
std::optional<Edges> edges_in(const Range& range, std::int64_t count, DType kept, DType compared) {
  const std::optional<Array> edges = uniform_edges(range.first, range.last, count, range.dtype);
  if (!edges) return std::nullopt;
  const Array result = edges->dtype() == kept ? *edges : astype(*edges, kept);
  std::optional<Array> looked_at = edges_of(result, compared);
  if (!looked_at) return std::nullopt;
  return Edges{Ref::steal(new_array(result)), *std::move(looked_at)};
}

// That the program gave: an array or a list.
std::optional<Edges> given_edges(PyObject* object, DType dtype) {
  std::optional<Array> vector;
  if (is_array(object))
    vector = array_behind(object);
  else if (PyList_CheckExact(object) || PyTuple_CheckExact(object))
    vector = array_of_numbers(object);
  if (!vector || !holds_numbers(*vector) || vector->ndim() != 1 || vector->size() > most_bins)
    return std::nullopt;
  evaluate(*vector);
  std::optional<Array> compared = edges_of(
      *vector, promote(dtype, vector->dtype()) == DType::Float32 ? DType::Float32 : DType::Float64);
  if (!compared) return std::nullopt;
  return Edges{is_array(object) ? Ref::borrow(object) : Ref::steal(new_array(*vector)),
               *std::move(compared)};
}

// Bins so much wider than the numbers in them lie apart that NumPy's guess is right to one.
bool are_wide(const Range& range, std::int64_t count, DType dtype) {
  constexpr double many = 64;
  const double apart = dtype == DType::Float32 ? std::numeric_limits<float>::epsilon()
                                               : std::numeric_limits<double>::epsilon();
  const double furthest = std::max(std::abs(range.first), std::abs(range.last));
  const double width = (range.last - range.first) / static_cast<double>(count);
  return width > many * apart * furthest && many * apart * static_cast<double>(count) < 1;
}

bool is_finite(const double* numbers, std::int64_t n) {
  return std::all_of(numbers, numbers + n, [](double x) { return std::isfinite(x); });
}

// values / widths / sum(values), widths in the edges' type; none where NumPy would warn.
std::optional<Array> density_of(const Array& values, const Array& edges) {
  const Array sum = reduce(Op::Add, values);
  const double total = element<double>(astype(sum, DType::Float64));
  const std::int64_t n = values.size();
  const Array result = astype(values, DType::Float64), bounds = astype(edges, DType::Float64);
  evaluate(result);
  auto* const numbers = reinterpret_cast<double*>(result.base()->data);
  if (total == 0 || !std::isfinite(total) || !is_finite(numbers, n)) return std::nullopt;
  const auto* const at = reinterpret_cast<const double*>(evaluate(bounds));
  const bool is_narrow = edges.dtype() == DType::Float32;
  for (std::int64_t k = 0; k < n; ++k) {
    const double width =
        is_narrow ? static_cast<double>(static_cast<float>(at[k + 1]) - static_cast<float>(at[k]))
                  : at[k + 1] - at[k];
    if (width <= 0) return std::nullopt;
    numbers[k] = numbers[k] / width / total;
  }
  return is_finite(numbers, n) ? std::optional(result) : std::nullopt;
}

// What stands for None.
PyObject* given(PyObject* object) { return object == Py_None ? nullptr : object; }

// Weights that NumPy adds in float64: as many as there are numbers.
bool are_weights(PyObject* object, const Array& numbers) {
  if (!is_array(object)) return false;
  const Array& weights = array_behind(object);
  return (weights.dtype() == DType::Float64 || weights.dtype() == DType::Float32 ||
          weights.dtype() == DType::Int64) &&
         std::ranges::equal(weights.shape(), numbers.shape());
}

// histogram(a, bins=10, range=None, density=None, weights=None).
struct Histogram {
  static constexpr const char* name = "histogram";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [bins, range, density, weights] =
        named(arguments, {"bins", "range", "density", "weights"});
    const Array& a = array_behind(self);
    if (!holds_numbers(a)) return left_to_numpy();
    evaluate(a);
    PyObject* const with = given(weights);
    if (with && !are_weights(with, a)) return left_to_numpy();
    const std::optional<std::int64_t> count = bins ? word_of(bins) : 10;
    const std::optional<Edges> edges = count  ? by_number(a, *count, given(range))
                                       : with ? std::nullopt
                                              : given_edges(bins, a.dtype());
    if (!edges) return left_to_numpy();
    if (with) evaluate(array_behind(with));
    const Array values = with ? add_in_bins(a, edges->compared, array_behind(with))
                              : count_in_bins(a, edges->compared);
    if (values.dtype() == DType::Int64 && has_what_is_no_integer(values)) return left_to_numpy();
    if (!flag_operand(given(density), false)) return pair_of(values, *edges);
    const bool is_exact = !with || values.dtype() == DType::Float64;
    const std::optional<Array> relative =
        is_exact && is_integer_or_float(edges->object.get())
            ? density_of(values, array_behind(edges->object.get()))
            : std::nullopt;
    return relative ? pair_of(*relative, *edges) : left_to_numpy();
  }

 private:
  static std::optional<Edges> by_number(const Array& a, std::int64_t count, PyObject* range) {
    const DType dtype = a.dtype() == DType::Float32 ? DType::Float32 : DType::Float64;
    const std::optional<Range> found =
        range ? given_range(range, dtype == DType::Float32) : range_of(a);
    if (count < 1 || count > most_bins || !found || !are_wide(*found, count, dtype))
      return std::nullopt;
    return edges_in(*found, count, dtype, dtype);
  }
  // In whose type the widths of bins are as those of the edges that are compared.
  static bool is_integer_or_float(PyObject* edges) {
    const DType dtype = array_behind(edges).dtype();
    return dtype == DType::Float64 || dtype == DType::Float32 || dtype == DType::Int64;
  }
  // A sum in float64 that no int64 holds becomes the least one: NumPy warns then.
  static bool has_what_is_no_integer(const Array& values) {
    const auto* first = reinterpret_cast<const std::int64_t*>(read(values));
    return std::find(first, first + values.size(), std::numeric_limits<std::int64_t>::min()) !=
           first + values.size();
  }
  static PyObject* pair_of(const Array& values, const Edges& edges) {
    const Ref first = Ref::steal(new_array(values));
    return checked(PyTuple_Pack(2, first.get(), edges.object.get())).release();
  }
};

// histogram2d(x, y, bins=10, range=None, density=None, weights=None).
struct Histogram2D {
  static constexpr const char* name = "histogram2d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [other, bins, range, density, weights] =
        named(arguments, {"y", "bins", "range", "density", "weights"});
    if (!other || !is_array(other)) return left_to_numpy();
    const Array &x = array_behind(self), &y = array_behind(other);
    if (!holds_numbers(x) || !holds_numbers(y) || x.ndim() != 1 || y.ndim() != 1 ||
        x.size() != y.size())
      return left_to_numpy();
    // NumPy makes them one array.
    const DType dtype = promote(x.dtype(), y.dtype());
    if (x.dtype() != y.dtype() && dtype != DType::Float64) return left_to_numpy();
    const Array samples[] = {x.dtype() == dtype ? x : astype(x, dtype),
                             y.dtype() == dtype ? y : astype(y, dtype)};
    for (const Array& each : samples) evaluate(each);
    PyObject* const with = given(weights);
    if (with && (!are_weights(with, x))) return left_to_numpy();
    std::optional<Edges> edges[2];
    for (std::size_t k = 0; k < 2; ++k) {
      edges[k] = edges_along(samples[k], item(bins, k), range_along(given(range), k));
      if (!edges[k]) return left_to_numpy();
    }
    constexpr std::int64_t most_cells = 1 << 26;
    if ((edges[0]->compared.size() + 1) * (edges[1]->compared.size() + 1) > most_cells)
      return left_to_numpy();
    make_alike(*edges[0], *edges[1]);
    std::optional<Array> added;
    if (with) {
      added = astype(array_behind(with), DType::Float64);
      evaluate(*added);
    }
    const Array whole = count_in_grid(samples[0], samples[1], edges[0]->compared,
                                      edges[1]->compared, added ? &*added : nullptr);
    Ref values = inside(whole);
    if (flag_operand(given(density), false)) {
      std::optional<Array> relative = density_of_grid(array_behind(values.get()), edges);
      if (!relative) return left_to_numpy();
      values = Ref::steal(new_array(*std::move(relative)));
    }
    return checked(PyTuple_Pack(3, values.get(), edges[0]->object.get(), edges[1]->object.get()))
        .release();
  }

 private:
  // What `bins` says of an axis; null: the default. Of other sequences than pairs each is for both.
  static PyObject* item(PyObject* bins, std::size_t axis) {
    const bool is_sequence = bins && (PyTuple_CheckExact(bins) || PyList_CheckExact(bins));
    if (!is_sequence || PySequence_Fast_GET_SIZE(bins) != 2) return bins;
    return PySequence_Fast_GET_ITEM(bins, axis);
  }
  // None: no range; null in it: there is something else.
  static std::optional<PyObject*> range_along(PyObject* range, std::size_t axis) {
    if (!range) return std::nullopt;
    const bool is_pair = (PyTuple_CheckExact(range) || PyList_CheckExact(range)) &&
                         PySequence_Fast_GET_SIZE(range) == 2;
    if (!is_pair) return nullptr;
    PyObject* const found = PySequence_Fast_GET_ITEM(range, axis);
    return found == Py_None ? std::nullopt : std::optional(found);
  }

  static std::optional<Edges> edges_along(const Array& sample, PyObject* bins,
                                          std::optional<PyObject*> range) {
    const std::optional<std::int64_t> count = bins ? word_of(bins) : 10;
    if (!count && is_array(bins) && array_behind(bins).size() <= 2) return std::nullopt;
    if (range && !*range) return std::nullopt;
    if (!count) return given_edges(bins, sample.dtype());
    const std::optional<Range> found = range ? given_range(*range, false) : range_of(sample);
    if (*count < 1 || *count > most_bins || !found) return std::nullopt;
    // Float32 only where the ends are elements.
    return edges_in(
        *found, *count, found->dtype,
        promote(sample.dtype(), found->dtype) == DType::Float32 ? DType::Float32 : DType::Float64);
  }

  // What is float32 is exact in float64.
  static void make_alike(Edges& x, Edges& y) {
    if (x.compared.dtype() == y.compared.dtype()) return;
    for (Edges* each : {&x, &y}) {
      each->compared = astype(each->compared, DType::Float64);
      evaluate(each->compared);
    }
  }

  static Ref inside(const Array& whole) {
    const AxisSlice axes[] = {{1, 1, whole.shape()[0] - 2}, {1, 1, whole.shape()[1] - 2}};
    const Ref base = Ref::steal(new_array(whole));
    return Ref::steal(new_view(slice(whole, axes), array_of(base.get())));
  }

  static std::optional<Array> density_of_grid(const Array& values,
                                              const std::optional<Edges> (&edges)[2]) {
    const double total = element<double>(reduce(Op::Add, values));
    if (total == 0 || !std::isfinite(total)) return std::nullopt;
    const Array result = copy(values, 'C');
    evaluate(result);
    auto* numbers = reinterpret_cast<double*>(result.base()->data);
    std::vector<double> widths[2];
    for (std::size_t k = 0; k < 2; ++k) {
      // In the type of the edges that the program gets.
      const Array& given = array_behind(edges[k]->object.get());
      if (given.dtype() != DType::Float64) return std::nullopt;
      const Array dense = copy(given, 'C');
      const auto* const at = reinterpret_cast<const double*>(evaluate(dense));
      for (std::int64_t j = 1; j < given.size(); ++j) {
        widths[k].push_back(at[j] - at[j - 1]);
        if (!(widths[k].back() > 0)) return std::nullopt;
      }
    }
    for (const double height : widths[0])
      for (const double width : widths[1]) {
        *numbers = *numbers / height / width / total;
        if (!std::isfinite(*numbers++)) return std::nullopt;
      }
    return result;
  }
};

}  // namespace

std::vector<PyMethodDef> histogram_shortcuts() {
  return {shortcut_row<Histogram>(), shortcut_row<Histogram2D>()};
}

}  // namespace frit::python
