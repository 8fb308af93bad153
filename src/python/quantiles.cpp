// quantiles.cpp: numpy.median, nanmedian, percentile and quantile of arrays of real numbers.
//
// NumPy partitions a copy and computes with the elements at a few places. Here only these are
// looked for (front/order.h); what is computed with them is NumPy's, number by number. Infinities,
// of which it may warn, are left to it.
#include <cmath>
#include <limits>
#include <string_view>

#include "front/common.h"
#include "front/order.h"
#include "python/array_type.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/sequences.h"

namespace frit::python {
namespace {

// Elements that are looked at in this type; none: not natively.
std::optional<DType> type_of_order(DType dtype) {
  switch (dtype) {
    case DType::Float64:
    case DType::Float32:
    case DType::Int64:
    case DType::Int32:
      return dtype;
    case DType::UInt8:
    case DType::UInt16:
      return DType::Int32;
    default:
      return std::nullopt;
  }
}

// The lines of an array along an axis, or all of it, as dense rows; what the result looks like.
struct Lines {
  Array rows;
  Shape shape;  // of a number for each line
};

bool is_absent(PyObject* object) { return !object || object == Py_None || object == Py_False; }

// dims: how many the results have more than there are lines' axes.
std::optional<Lines> lines_of(const Array& array, PyObject* axis, PyObject* keepdims, int dims) {
  const std::optional<DType> dtype = type_of_order(array.dtype());
  const bool keeps = keepdims && keepdims != Py_False && keepdims != numpy.no_value;
  if (!dtype || array.size() == 0 || array.ndim() == 0 || (keeps && keepdims != Py_True))
    return std::nullopt;
  const int ndim = array.ndim();
  std::optional<std::int64_t> along;
  if (axis && axis != Py_None) {
    along = word_of(axis);
    if (!along || *along < -ndim || *along >= ndim) return std::nullopt;
    if (*along < 0) *along += ndim;
    // Else results lie in an order of their own.
    if (!array.c_contiguous() && ndim + dims > 2) return std::nullopt;
  }
  Lines lines;
  Array moved = array;
  if (along) {
    std::vector<int> order;
    for (int k = 0; k < ndim; ++k)
      if (k != *along) order.push_back(k);
    order.push_back(static_cast<int>(*along));
    moved = transpose(array, order);
  }
  for (int k = 0; k < ndim; ++k) {
    const bool is_reduced = !along || k == *along;
    if (!is_reduced) lines.shape.push_back(array.shape()[static_cast<std::size_t>(k)]);
    if (is_reduced && keeps) lines.shape.push_back(1);
  }
  if (moved.dtype() != *dtype) moved = astype(moved, *dtype, 'C');
  if (!moved.c_contiguous()) moved = copy(moved, 'C');
  const std::int64_t length =
      along ? array.shape()[static_cast<std::size_t>(*along)] : array.size();
  const std::int64_t rows[] = {array.size() / length, length};
  lines.rows = *reshape_window(moved, rows);
  evaluate(lines.rows);
  return lines;
}

std::optional<Ranked> elements_at(const Array& rows, std::span<const std::int64_t> ranks) {
  SortElements* const sort = PyDataType_GetArrFuncs(descriptor_of(rows.dtype()))->sort;
  return sort[NPY_QUICKSORT] ? ranked(rows, ranks, sort[NPY_QUICKSORT]) : std::nullopt;
}

template <class T>
T* elements(const Array& array) {
  return reinterpret_cast<T*>(array.base()->data + array.offset());
}

// median(a, axis=None, out=None, overwrite_input=False, keepdims=False).
struct Median {
  static constexpr const char* name = "median";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [axis, out, overwrite, keepdims] =
        named(arguments, {"axis", "out", "overwrite_input", "keepdims"});
    if (!is_absent(out) || !is_absent(overwrite)) return left_to_numpy();
    return of(array_behind(self), axis, keepdims);
  }

  static PyObject* of(const Array& array, PyObject* axis, PyObject* keepdims) {
    const std::optional<Lines> lines = lines_of(array, axis, keepdims, 0);
    if (!lines) return left_to_numpy();
    const std::int64_t length = lines->rows.shape()[1];
    std::vector<std::int64_t> ranks{length / 2};
    if (length % 2 == 0) ranks.insert(ranks.begin(), length / 2 - 1);
    const std::optional<Ranked> found = elements_at(lines->rows, ranks);
    if (!found) return left_to_numpy();
    const bool is_narrow = lines->rows.dtype() == DType::Float32;
    const Array medians = empty(lines->shape, is_narrow ? DType::Float32 : DType::Float64);
    memory_of(medians);
    const bool is_done = with_ordered_element(lines->rows.dtype(), [&]<class T>(T) {
      using Mean = std::conditional_t<std::is_same_v<T, float>, float, double>;
      return fill<T, Mean>(*found, std::ssize(ranks), elements<Mean>(medians), medians.size());
    });
    return is_done ? new_result(medians) : left_to_numpy();
  }

 private:
  template <class T, class Mean>
  static bool fill(const Ranked& found, std::int64_t count, Mean* medians, std::int64_t n) {
    const T* values = elements<T>(found.values);
    bool is_finite = true;
    for (std::int64_t k = 0; k < n; ++k, values += count) {
      Mean sum = 0;  // -0.0 becomes 0.0
      for (std::int64_t j = 0; j < count; ++j) sum += static_cast<Mean>(values[j]);
      medians[k] = sum / static_cast<Mean>(count);
      is_finite &= !std::isinf(medians[k]) && (!std::isnan(medians[k]) || found.has_nan);
      if (found.rows_with_nan[static_cast<std::size_t>(k)])
        medians[k] = std::numeric_limits<Mean>::quiet_NaN();
    }
    return is_finite;
  }
};

// nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False) of all elements: the
// median of those that are numbers. Where none is, NumPy warns.
struct NanMedian {
  static constexpr const char* name = "nanmedian";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [axis, out, overwrite, keepdims] =
        named(arguments, {"axis", "out", "overwrite_input", "keepdims"});
    const Array& array = array_behind(self);
    const bool is_flat = !axis || axis == Py_None || (array.ndim() == 1 && word_of(axis) == 0);
    if (!is_flat || !is_absent(out) || !is_absent(overwrite) || keepdims ||
        (array.dtype() != DType::Float64 && array.dtype() != DType::Float32))
      return left_to_numpy();
    const Array numbers = compress(array, apply(Op::Equal, {array, array}));
    return numbers.size() == 0 ? left_to_numpy() : Median::of(numbers, nullptr, nullptr);
  }
};

// The q of a quantile: one, or a vector of them.
struct Shares {
  std::vector<double> numbers;
  bool is_vector = false;
  bool is_weak = false;  // a Python number, which takes the type of the elements
};

// Where a method looks in n sorted elements for the share q, and which of the two elements around
// that it takes.
struct QuantileMethod {
  enum class Way : std::uint8_t { Linear, Shifted, Midpoint, Averaged, Lower, Higher, Nearest };

  std::string_view name;
  Way way = Way::Linear;
  double alpha = 0, beta = 0;  // Shifted: Hyndman and Fan's

  // Does it give elements, as they are?
  bool takes_elements() const { return way >= Way::Lower; }
  double place(double n, double q) const {
    switch (way) {
      case Way::Linear:
        return (n - 1) * q;
      case Way::Shifted:
        return n * q + (alpha + q * (1 - alpha - beta)) - 1;
      case Way::Midpoint:
        return 0.5 * (std::floor((n - 1) * q) + std::ceil((n - 1) * q));
      case Way::Averaged:
        return n * q - 1;
      case Way::Lower:
        return std::floor((n - 1) * q);
      case Way::Higher:
        return std::ceil((n - 1) * q);
      case Way::Nearest:
        break;
    }
    return std::nearbyint((n - 1) * q);
  }
  // How far to go to the second element, where the place is so far behind the first one.
  double share(double place, double behind) const {
    if (way == Way::Midpoint) return place == std::floor(place) ? 0 : 0.5;
    if (way == Way::Averaged) return behind == 0 ? 0.5 : 1;
    return behind;
  }
};

const QuantileMethod* quantile_method(PyObject* name) {
  using Way = QuantileMethod::Way;
  static constexpr QuantileMethod methods[] = {
      {"linear", Way::Linear},
      {"interpolated_inverted_cdf", Way::Shifted, 0, 1},
      {"hazen", Way::Shifted, 0.5, 0.5},
      {"weibull", Way::Shifted, 0, 0},
      {"median_unbiased", Way::Shifted, 1 / 3.0, 1 / 3.0},
      {"normal_unbiased", Way::Shifted, 3 / 8.0, 3 / 8.0},
      {"midpoint", Way::Midpoint},
      {"averaged_inverted_cdf", Way::Averaged},
      {"lower", Way::Lower},
      {"higher", Way::Higher},
      {"nearest", Way::Nearest},
  };
  if (!name) return &methods[0];
  for (const QuantileMethod& method : methods)
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, method.name.data()) == 0)
      return &method;
  return nullptr;
}

// percentile and quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear",
// keepdims=False, *, weights=None).
template <bool of_hundred>
struct Quantile {
  static constexpr const char* name = of_hundred ? "percentile" : "quantile";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [q, axis, out, overwrite, method, keepdims, weights] = named(
        arguments, {"q", "axis", "out", "overwrite_input", "method", "keepdims", "weights"}, 6);
    const QuantileMethod* const way = quantile_method(method);
    if (!q || !is_absent(out) || !is_absent(overwrite) || (weights && weights != Py_None) || !way)
      return left_to_numpy();
    const std::optional<Shares> shares = shares_of(q);
    if (!shares) return left_to_numpy();
    const std::optional<Lines> lines =
        lines_of(array_behind(self), axis, keepdims, shares->is_vector);
    if (!lines) return left_to_numpy();
    const std::vector<Point> points = points_of(*way, *shares, lines->rows.shape()[1]);
    std::vector<std::int64_t> ranks;
    for (const Point& point : points) ranks.insert(ranks.end(), {point.previous, point.next});
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    const std::optional<Ranked> found = elements_at(lines->rows, ranks);
    if (!found) return left_to_numpy();
    Shape shape = lines->shape;
    if (shares->is_vector) shape.insert(shape.begin(), std::ssize(points));
    if (way->takes_elements())
      return new_result(
          astype(taken(*found, points, ranks, shape), array_behind(self).dtype(), 'C'));
    const bool is_narrow = shares->is_weak && lines->rows.dtype() == DType::Float32;
    // The NaN is an element then.
    if (found->has_nan && lines->rows.dtype() == DType::Float32 && !is_narrow && !shares->is_vector)
      return left_to_numpy();
    const Array result = empty(shape, is_narrow ? DType::Float32 : DType::Float64);
    memory_of(result);
    const bool is_done = with_ordered_element(lines->rows.dtype(), [&]<class T>(T) {
      const Picks<T> picks{*found, ranks};
      return is_narrow ? picks.template interpolate<float>(points, elements<float>(result))
                       : picks.template interpolate<double>(points, elements<double>(result));
    });
    return is_done ? new_result(result) : left_to_numpy();
  }

 private:
  // Two places and how far the value lies from the first to the second.
  struct Point {
    std::int64_t previous, next;
    double share;
  };

  template <class T>
  struct Picks {
    const Ranked& found;
    const std::vector<std::int64_t>& ranks;

    // False where NumPy would warn, or an integer overflows.
    template <class Value>
    bool interpolate(const std::vector<Point>& points, Value* result) const {
      const std::int64_t rows = found.values.shape()[0];
      bool is_done = true;
      for (const Point& point : points) {
        const std::size_t previous = place_of(point.previous), next = place_of(point.next);
        for (std::int64_t k = 0; k < rows; ++k) {
          const T* const values = elements<T>(found.values) + k * std::ssize(ranks);
          const T a = values[previous], b = values[next];
          const bool has_nan = found.rows_with_nan[static_cast<std::size_t>(k)];
          is_done &=
              value(a, b, point.share, *result) || (has_nan && !std::isinf(a) && !std::isinf(b));
          if (has_nan) *result = std::numeric_limits<Value>::quiet_NaN();
          ++result;
        }
      }
      return is_done;
    }

    void take(const std::vector<Point>& points, T* result) const {
      const std::int64_t rows = found.values.shape()[0];
      for (const Point& point : points)
        for (std::int64_t k = 0; k < rows; ++k) {
          *result = elements<T>(found.values)[k * std::ssize(ranks) +
                                              static_cast<std::int64_t>(place_of(point.previous))];
          if (found.rows_with_nan[static_cast<std::size_t>(k)])
            *result = std::numeric_limits<T>::quiet_NaN();
          ++result;
        }
    }

   private:
    std::size_t place_of(std::int64_t rank) const {
      return static_cast<std::size_t>(std::ranges::lower_bound(ranks, rank) - ranks.begin());
    }
    template <class Value>
    static bool value(T a, T b, double share, Value& result) {
      T difference;
      if constexpr (std::is_floating_point_v<T>)
        difference = b - a;
      else if (__builtin_sub_overflow(b, a, &difference))
        return false;
      const auto apart = static_cast<Value>(difference);
      result = share >= 0.5 ? static_cast<Value>(b) - apart * static_cast<Value>(1 - share)
                            : static_cast<Value>(a) + apart * static_cast<Value>(share);
      return std::isfinite(static_cast<Value>(a)) && std::isfinite(static_cast<Value>(b)) &&
             std::isfinite(result);
    }
  };

  static Array taken(const Ranked& found, const std::vector<Point>& points,
                     const std::vector<std::int64_t>& ranks, const Shape& shape) {
    const Array result = empty(shape, found.values.dtype());
    memory_of(result);
    with_ordered_element(found.values.dtype(), [&]<class T>(T) {
      Picks<T>{found, ranks}.take(points, elements<T>(result));
    });
    return result;
  }

  // Whole numbers q of quantile() may give elements in their own type: those are NumPy's.
  static std::optional<Shares> shares_of(PyObject* q) {
    Shares shares;
    if (!of_hundred && PyLong_Check(q)) return std::nullopt;
    if (PyFloat_CheckExact(q) || PyLong_CheckExact(q)) {
      const std::optional<double> number = double_of(q);
      if (!number) return std::nullopt;
      shares = {.numbers = {*number}, .is_weak = true};
    } else {
      const std::optional<Array> array =
          is_array(q) ? std::optional(array_behind(q)) : array_of_numbers(q);
      constexpr std::int64_t most = 256;
      if (!array || array->ndim() > 1 || array->size() > most || array->size() == 0 ||
          (array->dtype() != DType::Float64 && (array->dtype() != DType::Int64 || !of_hundred)))
        return std::nullopt;
      const Array dense = astype(*array, DType::Float64, 'C');
      const auto* const first = reinterpret_cast<const double*>(evaluate(dense));
      shares = {.numbers = {first, first + dense.size()}, .is_vector = array->ndim() == 1};
    }
    for (double& number : shares.numbers) {
      if (of_hundred) number /= 100;
      if (!(number >= 0 && number <= 1)) return std::nullopt;
    }
    return shares;
  }

  static std::vector<Point> points_of(const QuantileMethod& method, const Shares& shares,
                                      std::int64_t length) {
    const auto last = static_cast<double>(length - 1);
    std::vector<Point> points;
    for (const double number : shares.numbers) {
      const double at = method.place(static_cast<double>(length), number);
      if (at >= last) {
        points.push_back(  // as NumPy has it, from place -1
            {length - 1, length - 1, method.share(at, at + 1)});
      } else if (at < 0) {
        points.push_back({0, 0, method.share(at, at)});
      } else {
        const double below = std::floor(at);
        const auto previous = static_cast<std::int64_t>(below);
        points.push_back({previous, previous + 1, method.share(at, at - below)});
      }
    }
    return points;
  }
};

}  // namespace

std::vector<PyMethodDef> quantile_shortcuts() {
  return {shortcut_row<Median>(), shortcut_row<NanMedian>(), shortcut_row<Quantile<true>>(),
          shortcut_row<Quantile<false>>()};
}

}  // namespace frit::python
