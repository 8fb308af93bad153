// close_shortcuts.cpp: isclose and allclose of few float64 elements, in one pass.
#include <cmath>

#include "engine/pool.h"
#include "python/float_state.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

struct Tolerance {
  double relative = 1e-5, absolute = 1e-8;
  bool equal_nan = false;

  // NumPy's operations, one by one.
  bool holds(double x, double y) const {
    const double difference = std::abs(x - y), most = absolute + relative * std::abs(y);
    const bool are_nan = std::isnan(x) & std::isnan(y);
    return ((difference <= most) & std::isfinite(y)) | (x == y) | (equal_nan & are_nan);
  }
};

// A finite Python number.
std::optional<double> number_of(PyObject* object) {
  if (PyFloat_CheckExact(object))
    return std::isfinite(PyFloat_AS_DOUBLE(object)) ? std::optional(PyFloat_AS_DOUBLE(object))
                                                    : std::nullopt;
  const std::optional<std::int64_t> word = word_of(object);
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  return word && std::abs(*word) <= exact ? std::optional(static_cast<double>(*word))
                                          : std::nullopt;
}

struct Comparison {
  const double *x, *y;
  std::int64_t n, step;  // of y: 0 for one number
  Tolerance tolerance;

  // take(k, whether the k-th elements are close) for all; false: an overflow, of which NumPy warns.
  template <class Take>
  bool for_each(Take&& take) const {
    clear_float_flags();
    for (std::int64_t k = 0; k < n; ++k) take(k, tolerance.holds(x[k], y[step * k]));
    return (float_flags() & flag_overflow) == 0;
  }
};

bool is_dense_double(const Array& array) {
  constexpr std::int64_t times = 4;
  return array.dtype() == DType::Float64 && array.c_contiguous() && array.ndim() > 0 &&
         array.size() > 0 && is_small_and_ready(array, times);
}

// f(a comparison) of an array and an array like it, or a number; else NumPy does it.
template <class F>
PyObject* compared(PyObject* self, const Arguments& arguments, F&& f) {
  const auto [other, relative, absolute, equal_nan] =
      named(arguments, {"b", "rtol", "atol", "equal_nan"});
  const Array& array = array_of(self).array;
  if (!other || !is_dense_double(array) || (equal_nan && !PyBool_Check(equal_nan)))
    return left_to_numpy();
  leave_underflow_to_numpy();
  Tolerance tolerance{.equal_nan = equal_nan == Py_True};
  for (const auto& [given, part] :
       {std::pair(relative, &tolerance.relative), std::pair(absolute, &tolerance.absolute)}) {
    if (!given) continue;
    const std::optional<double> number = number_of(given);
    if (!number) return left_to_numpy();
    *part = *number;
  }
  Comparison comparison{
      .x = nullptr, .y = nullptr, .n = array.size(), .step = 1, .tolerance = tolerance};
  std::optional<double> number;
  if (is_array(other)) {
    const Array& second = array_of(other).array;
    if (!is_dense_double(second) || !std::ranges::equal(array.shape(), second.shape()))
      return left_to_numpy();
    comparison.y = reinterpret_cast<const double*>(evaluate(second));
  } else {
    if (!(number = number_of(other))) return left_to_numpy();
    comparison.y = &*number;
    comparison.step = 0;
  }
  comparison.x = reinterpret_cast<const double*>(evaluate(array));
  return f(comparison);
}

// isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False).
struct IsClose {
  static constexpr const char* name = "isclose";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return compared(self, arguments, [self](const Comparison& comparison) {
      Array result = empty(array_of(self).array.shape(), DType::Bool);
      auto* const close = reinterpret_cast<bool*>(memory_of(result));
      const bool is_quiet = comparison.for_each([=](std::int64_t k, bool is) { close[k] = is; });
      return is_quiet ? new_array(std::move(result)) : left_to_numpy();
    });
  }
};
// allclose, of the same arguments.
struct AllClose {
  static constexpr const char* name = "allclose";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return compared(self, arguments, [](const Comparison& comparison) {
      bool all = true;
      const bool is_quiet = comparison.for_each([&all](std::int64_t, bool is) { all &= is; });
      return is_quiet ? PyBool_FromLong(all) : left_to_numpy();
    });
  }
};

}  // namespace

std::vector<PyMethodDef> close_shortcuts() {
  return {shortcut_row<IsClose>(), shortcut_row<AllClose>()};
}

}  // namespace frit::python
