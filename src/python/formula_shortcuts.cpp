// formula_shortcuts.cpp: shortcuts of functions that are a few operations, NumPy's one by one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "python/array_type.h"
#include "python/float_state.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

template <bool wants_complex>
struct AsksForComplex {
  static constexpr const char* name = wants_complex ? "iscomplexobj" : "isrealobj";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    return PyBool_FromLong(is_complex(array_behind(self).dtype()) == wants_complex);
  }
};

// iscomplex(x) and isreal(x): whether imaginary parts are other than 0, or are 0.
template <Op op>
struct ComparesImaginary {
  static constexpr const char* name = op == Op::NotEqual ? "iscomplex" : "isreal";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (array.ndim() == 0) return left_to_numpy();
    if (!is_complex(array.dtype())) {
      if (!array.c_contiguous()) return left_to_numpy();
      const auto same = static_cast<std::uint8_t>(op == Op::Equal);
      return new_array(full(array.shape(), Scalar::of(DType::Bool, same)));
    }
    const DType part = array.dtype() == DType::Complex64 ? DType::Float32 : DType::Float64;
    const Array imaginary =
        window(array, array.shape(), array.strides(), array.offset() + size_of(part), part);
    note_ufunc(info(op).numpy_name.data());
    return new_array(apply(
        op, {imaginary, Argument(cast_scalar(Scalar::of(DType::Bool, std::uint8_t{0}), part))}));
  }
};

// fix(x), which NumPy puts together from ceil and floor.
struct Fix {
  static constexpr const char* name = "fix";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (is_complex(array.dtype())) throw Unfit{"complex numbers"};
    return new_result(apply(Op::Trunc, {array}));
  }
};

// isposinf and isneginf of floats.
template <int sign>
struct IsInfinite {
  static constexpr const char* name = sign > 0 ? "isposinf" : "isneginf";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (!is_inexact(array.dtype()) || is_complex(array.dtype())) return left_to_numpy();
    return new_result(
        apply(Op::Equal, {array, Argument(sign * std::numeric_limits<double>::infinity())}));
  }
};

// angle(z) of complex numbers.
struct Angle {
  static constexpr const char* name = "angle";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (!is_complex(array.dtype())) return left_to_numpy();
    const DType part = real_of(array.dtype());
    const auto part_at = [&](std::int64_t offset) {
      return window(array, array.shape(), array.strides(), array.offset() + offset, part);
    };
    return new_result(apply(Op::Arctan2, {part_at(size_of(part)), part_at(0)}));
  }
};

// sinc(x) of float64, by NumPy's steps.
struct Sinc {
  static constexpr const char* name = "sinc";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (array.dtype() != DType::Float64) return left_to_numpy();
    const Array x = apply(Op::Multiply, {array, Argument(M_PI)});
    const Array y = apply(Op::Select, {x, x, Argument(std::numeric_limits<double>::epsilon())});
    return new_result(apply(Op::TrueDivide, {apply(Op::Sin, {y}), y}));
  }
};

// polyval(p, x) of a few coefficients, by NumPy's steps.
struct PolynomialValues {
  static constexpr const char* name = "polyval";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    constexpr std::int64_t few = 16;
    const Array &coefficients = array_behind(self), &x = other_array(arguments);
    if (coefficients.dtype() != DType::Float64 || x.dtype() != DType::Float64 ||
        coefficients.ndim() != 1 || x.ndim() == 0 || coefficients.size() > few ||
        !is_small_and_ready(coefficients) || !x.c_contiguous())
      return left_to_numpy();
    const std::byte* const first = evaluate(coefficients);
    double numbers[few];
    for (std::int64_t k = 0; k < coefficients.size(); ++k)
      std::memcpy(&numbers[k], first + k * coefficients.strides()[0], sizeof(double));
    Array y = full(x.shape(), Scalar::of(DType::Float64, 0.0));
    for (std::int64_t k = 0; k < coefficients.size(); ++k)
      y = apply(Op::Add, {apply(Op::Multiply, {y, x}), Argument(numbers[k])});
    return new_array(std::move(y));
  }
};

// nancumsum(a) and nancumprod(a) of vectors of floats.
template <Op op>
struct CumulativeWithoutNaN {
  static constexpr const char* name = op == Op::Add ? "nancumsum" : "nancumprod";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (!is_inexact(array.dtype()) || array.ndim() != 1) return left_to_numpy();
    if (op == Op::Multiply) leave_underflow_to_numpy();
    const Scalar neutral =
        cast_scalar(Scalar::of(DType::Float64, op == Op::Add ? 0.0 : 1.0), array.dtype());
    const Array kept = apply(Op::Select, {apply(Op::Isnan, {array}), Argument(neutral), array});
    return new_array(accumulate(op, kept, 0));
  }
};

// linalg.norm of real floats, computed as NumPy does: of all elements the root of a product with
// itself; of rows the root of a sum of squares, or the sum of absolute values. (Other norms are
// common too: they are refused without an exception.)
struct Norm {
  static constexpr const char* name = "linalg.norm";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    const bool real = array.dtype() == DType::Float64 || array.dtype() == DType::Float32;
    const auto [order, axis, keep] = named(arguments, {"ord", "axis", "keepdims"});
    const std::int64_t power = !order || order == Py_None ? 2 : small_integer(order);
    const bool all = !axis || axis == Py_None;
    const bool keeps = flag_operand(keep, false);
    if (!real || (power != 1 && power != 2) || (!all && !PyLong_CheckExact(axis)))
      return left_to_numpy();
    if (all && power == 2 && !keeps && (array.ndim() == 1 || !order || order == Py_None))
      return of_all(array);
    if (all && array.ndim() == 2 && power == 2 && !keeps && array.dtype() == DType::Float64)
      return spectral_norm(self);
    if (all && array.ndim() != 1) return left_to_numpy();
    const int axes[1] = {all ? 0 : axis_operand(axis, array.ndim())};
    const ReduceOptions options{.axes = axes, .all_axes = false, .keepdims = keeps};
    if (power == 1) return new_result(reduce(Op::Add, apply(Op::Absolute, {array}), options));
    return new_result(
        apply(Op::Sqrt, {reduce(Op::Add, apply(Op::Multiply, {array, array}), options)}));
  }

 private:
  static std::int64_t small_integer(PyObject* object) {
    int overflow = 0;
    return PyLong_CheckExact(object) ? PyLong_AsLongAndOverflow(object, &overflow) : -1;
  }
  static PyObject* of_all(const Array& array) {
    if (array.ndim() != 1 && !array.c_contiguous()) return left_to_numpy();
    const Array flat = raveled(array);
    note_ufunc("dot");
    return new_result(apply(Op::Sqrt, {dot(flat, flat)}));
  }
};

// linalg.vector_norm(x) and linalg.matrix_norm(x) of real floats, as NumPy computes them.
Array root_of_squares(const Array& array, std::span<const int> axes) {
  const Array squares = apply(Op::Multiply, {array, array});
  return apply(Op::Sqrt, {reduce(Op::Add, squares, {.axes = axes, .all_axes = false})});
}
bool is_double_or_single(const Array& array) {
  return array.dtype() == DType::Float64 || array.dtype() == DType::Float32;
}
struct VectorNorm {
  static constexpr const char* name = "linalg.vector_norm";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    if (!is_double_or_single(array_behind(self))) return left_to_numpy();
    return new_result(root_of_squares(raveled(array_behind(self)), std::array{0}));
  }
};
struct MatrixNorm {
  static constexpr const char* name = "linalg.matrix_norm";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    const int n = array.ndim();
    if (!is_double_or_single(array) || n < 2) return left_to_numpy();
    return new_result(root_of_squares(array, std::array{n - 2, n - 1}));
  }
};

// linalg.matrix_power(a, n) of a square, or a cube.
struct MatrixPower {
  static constexpr const char* name = "linalg.matrix_power";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [times] = named(arguments, {"n"});
    const std::int64_t n = times ? word_of(times).value_or(0) : 0;
    const Array& a = array_behind(self);
    const auto shape = a.shape();
    const bool is_square = shape.size() >= 2 && shape.back() == shape[shape.size() - 2];
    if (!is_square || (n != 2 && n != 3)) return left_to_numpy();
    note_ufunc("matmul");
    const Array square = matmul(a, a);
    return new_array(n == 2 ? square : matmul(square, a));
  }
};

// tensordot(a, b, axes=1) of two matrices: a view of their product. So is linalg.tensordot, which
// takes axes by name alone.
template <Py_ssize_t most_positional>
struct TensorDot {
  static constexpr const char* name = most_positional == 1 ? "linalg.tensordot" : "tensordot";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional == 0 || arguments.positional > most_positional) return left_to_numpy();
    const auto [other, axes] = named(arguments, {"b", "axes"});
    const Array& a = array_behind(self);
    if (!is_array(other) || !axes || word_of(axes) != 1) return left_to_numpy();
    const Array& b = array_behind(other);
    if (a.ndim() != 2 || b.ndim() != 2 || a.size() == 0 || b.size() == 0 ||
        a.shape()[1] != b.shape()[0])
      return left_to_numpy();
    note_ufunc("dot");
    const Ref product = Ref::steal(new_array(dot(a, b)));
    return new_view(Array(array_behind(product.get())), array_of(product.get()));
  }
};

// select(condlist, choicelist, default=0) of arrays alike, and a Python number.
PyObject* select(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  return shortcut({&address_of<select>, arguments}, [&] {
    const auto [condition_list, choice_list, given] =
        named(arguments, {"condlist", "choicelist", "default"});
    if (!choice_list || !PyList_CheckExact(condition_list) || !PyList_CheckExact(choice_list))
      return left_to_numpy();
    const auto conditions = like_arrays(condition_list), choices = like_arrays(choice_list);
    if (conditions.empty() || conditions.size() != choices.size() ||
        conditions[0]->dtype() != DType::Bool ||
        !std::ranges::equal(conditions[0]->shape(), choices[0]->shape()))
      return left_to_numpy();
    const DType dtype = choices[0]->dtype();
    const bool is_weak =
        !given || PyLong_CheckExact(given) || (PyFloat_CheckExact(given) && is_inexact(dtype));
    if (!is_weak || is_bool(dtype)) return left_to_numpy();
    const std::optional<Scalar> number =
        given ? element_value(given, dtype) : std::optional(Scalar{.dtype = dtype});
    if (!number) return left_to_numpy();
    Array result = apply(Op::Select, {*conditions.back(), *choices.back(), Argument(*number)});
    for (std::size_t k = conditions.size() - 1; k-- > 0;)
      result = apply(Op::Select, {*conditions[k], *choices[k], result});
    return new_array(std::move(result));
  });
}

// gradient(f[, step], axis=) of floats, with steps of one length, by NumPy's steps.
struct Gradient {
  static constexpr const char* name = "gradient";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional > 1) return left_to_numpy();
    const auto [given, along] = named(arguments, {"", "axis"}, 1);
    Array f = array_behind(self);
    if (is_integer(f.dtype())) f = astype(f, DType::Float64);
    // Numbers of NumPy's have a type.
    const bool is_plain = !given || PyFloat_CheckExact(given) || PyLong_CheckExact(given);
    const std::optional<double> step = given ? double_of(given) : 1.0;
    const bool fits = f.dtype() == DType::Float64 || (f.dtype() == DType::Float32 && is_plain);
    if (!fits || !step || *step == 0 || f.ndim() == 0 || !f.c_contiguous() ||
        std::ranges::min(f.shape()) < 2)
      return left_to_numpy();
    Steps steps;
    if (along && along != Py_None)
      return new_array(
          along_axis(f, static_cast<std::size_t>(axis_operand(along, f.ndim())), *step, steps));
    if (f.ndim() == 1) return new_array(along_axis(f, 0, *step, steps));
    const Ref all = checked(PyTuple_New(f.ndim()));
    for (Py_ssize_t k = 0; k < f.ndim(); ++k)
      PyTuple_SET_ITEM(all.get(), k,
                       new_array(along_axis(f, static_cast<std::size_t>(k), *step, steps)));
    return Py_NewRef(all.get());
  }

 private:
  static Array along_axis(const Array& f, std::size_t axis, double step, Steps& steps) {
    const std::int64_t n = f.shape()[axis];
    const Array result = empty(f.shape(), f.dtype());
    if (is_small_and_ready(f)) memory_of(result);
    const auto part = [axis](const Array& whole, std::int64_t start, std::int64_t count) {
      std::vector<AxisSlice> axes;
      for (const std::int64_t extent : whole.shape()) axes.push_back({.count = extent});
      axes[axis] = {.start = start, .count = count};
      return slice(whole, axes);
    };
    // (f[high] - f[low]) / by, of `count` elements; what warnings call that.
    const auto put = [&](std::int64_t to, std::int64_t high, std::int64_t low, std::int64_t count,
                         double by, bool are_numbers) {
      steps.next(are_numbers ? "scalar subtract" : "subtract");
      const Array difference = apply(Op::Subtract, {part(f, high, count), part(f, low, count)});
      steps.next(are_numbers ? "scalar divide" : "divide");
      const Array target = part(result, to, count);
      apply(Op::TrueDivide, {difference, Argument(by)}, {.out = &target});
    };
    const bool are_numbers = f.ndim() == 1;
    put(1, 2, 0, n - 2, 2. * step, false);
    put(0, 1, 0, 1, step, are_numbers);
    put(n - 1, n - 1, n - 2, 1, step, are_numbers);
    return result;
  }
};

// cov(m[, y]) of vectors and matrices of real numbers, by NumPy's steps.
struct Covariance {
  static constexpr const char* name = "cov";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [other] = named(arguments, {"y"});
    if (other && !is_array(other)) return left_to_numpy();
    std::optional<Array> variables = rows_of(array_behind(self));
    if (variables && other) variables = joined(*variables, rows_of(array_behind(other)));
    if (!variables || variables->shape()[0] == 0 || variables->shape()[1] < 2)
      return left_to_numpy();
    const auto n = static_cast<double>(variables->shape()[1]);
    const int along[] = {1};
    const Array sums =
        reduce(Op::Add, *variables, {.axes = along, .all_axes = false, .keepdims = true});
    Steps steps;
    steps.next("divide");
    const Array means = apply(Op::TrueDivide, {sums, Argument(n)});
    steps.next("subtract");
    const Array centered = apply(Op::Subtract, {*variables, means});
    steps.next("dot");
    const Array products = dot(centered, reversed_axes(centered));
    steps.next("multiply");
    apply(Op::Multiply, {products, Argument(1. / (n - 1))}, {.out = &products});
    const Ref whole = Ref::steal(new_array(products));
    const bool is_one = products.size() == 1;
    const std::vector<std::int64_t> shape(is_one ? 0 : 2, variables->shape()[0]);
    return new_view(*reshape_window(products, shape), array_of(whole.get()));
  }

 private:
  static std::optional<Array> rows_of(const Array& given) {
    const int dimensions = given.ndim();
    if (dimensions == 0 || dimensions > 2 || is_complex(given.dtype())) return std::nullopt;
    const Array numbers = given.dtype() == DType::Float64 ? given : astype(given, DType::Float64);
    const std::int64_t shape[] = {1, numbers.shape().back()};
    return dimensions == 2 ? numbers : reshape_window(numbers, shape);
  }
  static std::optional<Array> joined(const Array& one, const std::optional<Array>& other) {
    if (!other || other->shape()[1] != one.shape()[1] || !one.c_contiguous() ||
        !other->c_contiguous())
      return std::nullopt;
    const std::int64_t n = one.shape()[1], shape[] = {one.shape()[0] + other->shape()[0], n};
    const Array both = empty(shape, DType::Float64);
    if (is_small_and_ready(one) && is_small_and_ready(*other)) memory_of(both);
    const AxisSlice first[] = {{.count = one.shape()[0]}, {.count = n}},
                    second[] = {{.start = one.shape()[0], .count = other->shape()[0]},
                                {.count = n}};
    assign(slice(both, first), one);
    assign(slice(both, second), *other);
    return both;
  }
};

// linalg.multi_dot(arrays) of three matrices.
PyObject* multi_dot(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  constexpr Py_ssize_t three = 3;
  const bool is_sequence =
      positional == 1 && !names && (PyList_CheckExact(values[0]) || PyTuple_CheckExact(values[0]));
  if (!is_sequence || PySequence_Fast_GET_SIZE(values[0]) != three) return left_to_numpy();
  return shortcut({&address_of<multi_dot>, {values, positional, names}}, [&] {
    const Array* factors[three];
    for (Py_ssize_t k = 0; k < three; ++k) {
      PyObject* const each = PySequence_Fast_GET_ITEM(values[0], k);
      if (!is_array(each) || array_behind(each).ndim() != 2) return left_to_numpy();
      factors[k] = &array_behind(each);
    }
    const Array &a = *factors[0], &b = *factors[1], &c = *factors[2];
    const std::int64_t rows = a.shape()[0], inner = a.shape()[1], between = b.shape()[1],
                       columns = c.shape()[1];
    if (b.shape()[0] != inner || c.shape()[0] != between) return left_to_numpy();
    const bool is_left_first =
        rows * between * (inner + columns) < inner * columns * (rows + between);
    note_ufunc("dot");
    return new_array(is_left_first ? dot(dot(a, b), c) : dot(a, dot(b, c)));
  });
}

}  // namespace

std::vector<PyMethodDef> formula_shortcuts() {
  return {plain_row("select", select),
          plain_row("linalg.multi_dot", multi_dot),
          shortcut_row<MatrixPower>(),
          shortcut_row<TensorDot<1>>(),
          shortcut_row<TensorDot<2>>(),
          shortcut_row<Norm>(),
          shortcut_row<AsksForComplex<true>>(),
          shortcut_row<AsksForComplex<false>>(),
          shortcut_row<ComparesImaginary<Op::NotEqual>>(),
          shortcut_row<ComparesImaginary<Op::Equal>>(),
          shortcut_row<Fix>(),
          shortcut_row<IsInfinite<1>>(),
          shortcut_row<IsInfinite<-1>>(),
          shortcut_row<Angle>(),
          shortcut_row<Sinc>(),
          shortcut_row<PolynomialValues>(),
          shortcut_row<CumulativeWithoutNaN<Op::Add>>(),
          shortcut_row<CumulativeWithoutNaN<Op::Multiply>>(),
          shortcut_row<Gradient>(),
          shortcut_row<Covariance>(),
          shortcut_row<VectorNorm>(),
          shortcut_row<MatrixNorm>()};
}

}  // namespace frit::python
