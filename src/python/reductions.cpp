// reductions.cpp: sum, mean, var and their like, step by step as NumPy's _methods.py computes them.
#include "python/reductions.h"

#include <cmath>

#include "front/moments.h"
#include "python/array_type.h"
#include "python/float_state.h"
#include "python/functions.h"
#include "python/methods.h"

namespace frit::python {
namespace {

bool is_given(PyObject* object) { return object && object != Py_None && object != numpy.no_value; }

// where=True is no mask.
bool is_mask(PyObject* where) { return where && where != Py_True && where != numpy.no_value; }

DType default_dtype(Op op, DType dtype) {
  if (op == Op::Add || op == Op::Multiply) {
    if (is_bool(dtype) || is_signed(dtype)) return DType::Int64;
    if (is_unsigned(dtype)) return DType::UInt64;
  }
  if (op == Op::LogicalAnd || op == Op::LogicalOr || op == Op::LogicalXor) return DType::Bool;
  return dtype;
}

void check_kept(DType from, DType to) {
  if (is_complex(from) && !is_complex(to) && !is_bool(to))
    throw Unfit{"complex values lose their imaginary part"};
}

// out= of a reduction, unless it makes NumPy choose another type.
PyObject* read_out(PyObject* out, DType result) {
  if (!is_given(out)) return nullptr;
  if (PyTuple_Check(out)) {
    if (PyTuple_GET_SIZE(out) != 1) throw Unfit{"out= is no single array"};
    return read_out(PyTuple_GET_ITEM(out, 0), result);
  }
  if (target_operand(out).dtype() != result) throw Unfit{"out= has another dtype"};
  return out;
}

// NumPy takes integers here, and no other objects.
bool keepdims_operand(PyObject* keep) {
  if (keep && keep != numpy.no_value && !PyLong_Check(keep)) throw Unfit{"keepdims= of a type"};
  return flag_operand(keep, false);
}

struct Reduced {
  Axes axes;
  bool keepdims = false;
  std::int64_t count = 1;  // elements that make one result

  Reduced(const Array& array, PyObject* axis, PyObject* keep)
      : axes(axes_operand(axis, array.ndim())), keepdims(keepdims_operand(keep)) {
    if (axes.all)
      count = array.size();
    else
      for (int k : axes.axes) count *= array.shape()[static_cast<std::size_t>(k)];
  }
  ReduceOptions options() const {
    return {.axes = axes.span(), .all_axes = axes.all, .keepdims = keepdims};
  }
};

Array divided(const Array& sum, std::int64_t count, DType result) {
  // NumPy's sum is a scalar here, and knows the count's type. (Real sums divided by a count warn of
  // nothing.)
  if (sum.dtype() == DType::Complex128 && sum.ndim() == 0) note_ufunc("scalar divide");
  return divided_sum(sum, static_cast<double>(count), result);
}
Array divided(const Array& sum, std::int64_t count) { return divided(sum, count, sum.dtype()); }

// The mean in the type in which it is summed.
Array mean_of(const Array& array, const Reduced& reduced, std::optional<DType> dtype) {
  leave_underflow_to_numpy();
  ReduceOptions options = reduced.options();
  options.dtype = dtype;
  return divided(reduce(Op::Add, array, options), reduced.count);
}

// Of float16: summed in float32. NumPy rounds a mean of all elements once, others to float32 first.
Array half_mean_of(const Array& array, const Reduced& reduced) {
  leave_underflow_to_numpy();
  ReduceOptions options = reduced.options();
  options.dtype = DType::Float32;
  const Array sum = reduce(Op::Add, array, options);
  if (sum.ndim() == 0) return divided(sum, reduced.count, DType::Float16);
  return astype(divided(sum, reduced.count), DType::Float16);
}

template <Op op>
PyObject* reduction(PyObject* self, const Arguments& arguments, bool takes_dtype) {
  static constexpr const char* with_dtype[] = {"axis",     "dtype",   "out",
                                               "keepdims", "initial", "where"};
  static constexpr const char* without[] = {"axis", "out", "keepdims", "initial", "where"};
  if (op == Op::Multiply) leave_underflow_to_numpy();
  if (arguments.positional == 0 && arguments.keywords() == 0)
    return new_result(reduce(op, array_of(self).array));
  ReductionArguments given;
  if (takes_dtype) {
    const auto slots = named(arguments, with_dtype);
    given = {slots[0], slots[1], slots[2], slots[3], slots[4], slots[5]};
  } else {
    const auto slots = named(arguments, without);
    given = {.axis = slots[0],
             .out = slots[1],
             .keepdims = slots[2],
             .initial = slots[3],
             .where = slots[4]};
  }
  return reduce_native(op, array_of(self).array, given);
}

struct Sum {
  static constexpr const char* name = "sum";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return reduction<Op::Add>(self, arguments, true);
  }
};
struct Product {
  static constexpr const char* name = "prod";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return reduction<Op::Multiply>(self, arguments, true);
  }
};
struct Minimum {
  static constexpr const char* name = "min";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return reduction<Op::Minimum>(self, arguments, false);
  }
};
struct Maximum {
  static constexpr const char* name = "max";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return reduction<Op::Maximum>(self, arguments, false);
  }
};

template <Op op>
PyObject* truth_reduction(PyObject* self, const Arguments& arguments) {
  const auto slots = named(arguments, {"axis", "out", "keepdims", "where"}, 3);
  return reduce_native(
      op, array_of(self).array,
      {.axis = slots[0], .out = slots[1], .keepdims = slots[2], .where = slots[3]});
}
struct Any {
  static constexpr const char* name = "any";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return truth_reduction<Op::LogicalOr>(self, arguments);
  }
};
struct All {
  static constexpr const char* name = "all";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return truth_reduction<Op::LogicalAnd>(self, arguments);
  }
};

struct Mean {
  static constexpr const char* name = "mean";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [axis, dtype, out, keepdims, where] =
        named(arguments, {"axis", "dtype", "out", "keepdims", "where"}, 4);
    if (is_given(out) || is_mask(where)) throw Unfit{"mean with out= or where="};
    const Array& array = array_of(self).array;
    const Reduced reduced(array, axis, keepdims);
    if (reduced.count == 0) throw Unfit{"mean of an empty slice"};
    if (array.ndim() == 0 && is_given(axis))
      throw Unfit{"mean over an axis of an array without axes"};
    std::optional<DType> wanted = requested_dtype(dtype);
    if (wanted && !is_inexact(*wanted)) throw Unfit{"mean in an integer type"};
    if (wanted) check_kept(array.dtype(), *wanted);
    if (!wanted && array.dtype() == DType::Float16) return new_result(half_mean_of(array, reduced));
    if (!wanted && !is_inexact(array.dtype())) wanted = DType::Float64;
    return new_result(mean_of(array, reduced, wanted));
  }
};

// The squared distance from the mean, summed and divided: NumPy's _var.
Array variance(PyObject* self, const Arguments& arguments) {
  leave_underflow_to_numpy();
  const auto [axis, dtype, out, ddof, keepdims, where, mean, correction] = named(
      arguments, {"axis", "dtype", "out", "ddof", "keepdims", "where", "mean", "correction"}, 5);
  if (is_given(out) || is_mask(where) || is_given(mean) || is_given(correction))
    throw Unfit{"var with out=, where= or mean="};
  const Array& array = array_of(self).array;
  if (array.ndim() == 0 && is_given(axis)) throw Unfit{"var over an axis of an array without axes"};
  const Reduced reduced(array, axis, keepdims);
  const bool is_whole = ddof && PyFloat_CheckExact(ddof) &&
                        std::fabs(PyFloat_AS_DOUBLE(ddof)) < 1e15 &&
                        std::trunc(PyFloat_AS_DOUBLE(ddof)) == PyFloat_AS_DOUBLE(ddof);
  const std::int64_t less = is_whole ? static_cast<std::int64_t>(PyFloat_AS_DOUBLE(ddof))
                            : ddof   ? integer_operand(ddof)
                                     : 0;
  if (less >= reduced.count) throw Unfit{"no degrees of freedom"};
  std::optional<DType> wanted = requested_dtype(dtype);
  if (wanted && !is_float(*wanted)) throw Unfit{"var in a type that is not real"};
  if (!wanted && !is_inexact(array.dtype())) wanted = DType::Float64;
  if (wanted && is_complex(array.dtype())) throw Unfit{"var of complex numbers in another type"};
  Reduced kept = reduced;
  kept.keepdims = true;
  const Array centre = mean_of(array, kept, wanted);
  const Array distance = apply(Op::Subtract, {array, centre});
  ReduceOptions options = reduced.options();
  options.dtype = wanted;
  return divided(reduce(Op::Add, squared(distance), options), reduced.count - less);
}

struct Variance {
  static constexpr const char* name = "var";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return new_result(variance(self, arguments));
  }
};
struct Deviation {
  static constexpr const char* name = "std";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return new_result(apply(Op::Sqrt, {variance(self, arguments)}));
  }
};

// Of a few elements that lie side by side NumPy's own loop finds it at once.
bool has_few_in_order(const Array& array) {
  return array.size() > 0 && array.c_contiguous() && is_small_and_ready(array, moderate_times);
}
PyArray_ArgFunc* numpys_arg_extreme(Extreme which, DType dtype) {
  const PyArray_ArrFuncs* functions = PyDataType_GetArrFuncs(descriptor_of(dtype));
  return which == Extreme::Max ? functions->argmax : functions->argmin;
}

// Of all of them; else null.
PyObject* small_arg_extreme(Extreme which, const Array& array) {
  if (!has_few_in_order(array)) return nullptr;
  npy_intp place = 0;
  numpys_arg_extreme(which, array.dtype())(array.base()->data + array.offset(), array.size(),
                                           &place, nullptr);
  const std::int64_t index = place;
  return make_scalar(reinterpret_cast<const std::byte*>(&index), DType::Int64);
}

// Of each of a few rows; else null.
PyObject* small_arg_extremes(Extreme which, const Array& array) {
  if (!has_few_in_order(array)) return nullptr;
  const std::span<const std::int64_t> shape = array.shape();
  Array places = empty(shape.first(shape.size() - 1), DType::Int64);
  PyArray_ArgFunc* const find = numpys_arg_extreme(which, array.dtype());
  std::byte* row = array.base()->data + array.offset();
  auto* place = reinterpret_cast<npy_intp*>(memory_of(places));
  for (const npy_intp* end = place + places.size(); place < end; ++place) {
    find(row, shape.back(), place, nullptr);
    row += shape.back() * size_of(array.dtype());
  }
  return new_array(std::move(places));
}

template <Extreme which>
PyObject* arg_extreme_of(PyObject* self, const Arguments& arguments) {
  if (arguments.positional == 0 && arguments.keywords() == 0)
    if (PyObject* place = small_arg_extreme(which, array_of(self).array)) return place;
  const auto [axis, out, keepdims] = named(arguments, {"axis", "out", "keepdims"}, 2);
  if (is_given(out)) throw Unfit{"argmax with out="};
  const Array& array = array_of(self).array;
  std::optional<int> along;
  if (is_given(axis)) along = axis_operand(axis, array.ndim());
  if (!keepdims && array.ndim() > 1 && along == array.ndim() - 1)
    if (PyObject* places = small_arg_extremes(which, array)) return places;
  return new_result(arg_extreme(which, array, along, keepdims_operand(keepdims)));
}
struct ArgMin {
  static constexpr const char* name = "argmin";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return arg_extreme_of<Extreme::Min>(self, arguments);
  }
};
struct ArgMax {
  static constexpr const char* name = "argmax";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return arg_extreme_of<Extreme::Max>(self, arguments);
  }
};

template <Op op>
PyObject* scan(PyObject* self, const Arguments& arguments) {
  if (op == Op::Multiply) leave_underflow_to_numpy();
  const auto [axis, dtype, out] = named(arguments, {"axis", "dtype", "out"});
  const Array& array = array_of(self).array;
  const std::optional<DType> wanted = requested_dtype(dtype);
  if (wanted) check_kept(array.dtype(), *wanted);
  PyObject* target = read_out(out, wanted.value_or(default_dtype(op, array.dtype())));
  Array source = array;
  int along = 0;
  if (is_given(axis))
    along = axis_operand(axis, array.ndim());
  else
    source = raveled(array);
  if (!target) return new_array(accumulate(op, source, along, wanted));
  const Array to = target_operand(target);
  accumulate(op, source, along, wanted, &to);
  return Py_NewRef(target);
}
struct CumulativeSum {
  static constexpr const char* name = "cumsum";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return scan<Op::Add>(self, arguments);
  }
};
struct CumulativeProduct {
  static constexpr const char* name = "cumprod";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return scan<Op::Multiply>(self, arguments);
  }
};
// cumulative_sum(x) and cumulative_prod(x) of vectors.
template <Op op>
struct CumulativeFunction {
  static constexpr const char* name = op == Op::Add ? "cumulative_sum" : "cumulative_prod";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const bool is_plain = arguments.positional == 0 && !arguments.names;
    return is_plain && array_of(self).array.ndim() == 1 ? scan<op>(self, arguments)
                                                        : left_to_numpy();
  }
};

}  // namespace

PyObject* reduce_native(Op op, const Array& array, const ReductionArguments& arguments) {
  const Reduced reduced(array, arguments.axis, arguments.keepdims);
  ReduceOptions options = reduced.options();
  options.dtype = requested_dtype(arguments.dtype);
  const DType result_dtype = options.dtype.value_or(default_dtype(op, array.dtype()));
  if (info(op).rule == TypeRule::Logical && !is_bool(result_dtype))
    throw Unfit{"a logical reduction gives bool"};
  check_kept(array.dtype(), result_dtype);
  if (arguments.initial && arguments.initial != numpy.no_value) {
    options.initial = element_value(arguments.initial, result_dtype);
    if (!options.initial) throw Unfit{"initial= needs NumPy's conversion"};
  }
  Array mask;
  if (is_mask(arguments.where)) {
    mask = array_operand(arguments.where);
    if (!is_bool(mask.dtype())) throw Unfit{"where= is not a mask"};
    options.where = &mask;
  }
  PyObject* out = read_out(arguments.out, result_dtype);
  if (!out) return new_result(reduce(op, array, options));
  const Array target = target_operand(out);
  options.out = &target;
  reduce(op, array, options);
  return Py_NewRef(out);
}

std::vector<PyMethodDef> array_reduction_methods() {
  return {method_row<Sum>(),
          method_row<Product>(),
          method_row<Minimum>(),
          method_row<Maximum>(),
          method_row<Any>(),
          method_row<All>(),
          method_row<Mean>(),
          method_row<Variance>(),
          method_row<Deviation>(),
          method_row<ArgMin>(),
          method_row<ArgMax>(),
          method_row<CumulativeSum>(),
          method_row<CumulativeProduct>()};
}

std::vector<PyMethodDef> reduction_shortcuts() {
  return {shortcut_row<Sum>(),
          shortcut_row<Product>(),
          shortcut_row<Minimum>(),
          shortcut_row<Minimum>("amin"),
          shortcut_row<Maximum>(),
          shortcut_row<Maximum>("amax"),
          shortcut_row<Any>(),
          shortcut_row<All>(),
          shortcut_row<Mean>(),
          shortcut_row<Variance>(),
          shortcut_row<Deviation>(),
          shortcut_row<ArgMin>(),
          shortcut_row<ArgMax>(),
          shortcut_row<CumulativeSum>(),
          shortcut_row<CumulativeProduct>(),
          shortcut_row<CumulativeFunction<Op::Add>>(),
          shortcut_row<CumulativeFunction<Op::Multiply>>()};
}

}  // namespace frit::python
