// shortcuts.cpp: functions that NumPy writes in Python, for the plain case in one step; sorting.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "front/dense.h"
#include "python/array_type.h"
#include "python/functions.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

void refuse_options(const Arguments& arguments) {
  if (arguments.positional + arguments.keywords() > 0) throw Unfit{"options"};
}

// The only other argument, which must be an array.
const Array& other_array(const Arguments& arguments) {
  if (arguments.positional != 1 || arguments.names || !is_array(arguments.values[0]))
    throw Unfit{"options"};
  return array_behind(arguments.values[0]);
}

// ---- views --------------------------------------------------------------------------------------

struct AtLeast1D {
  static constexpr const char* name = "atleast_1d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    if (array_behind(self).ndim() == 0) throw Unfit{"no axis"};
    return Py_NewRef(self);
  }
};

struct AtLeast2D {
  static constexpr const char* name = "atleast_2d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (array.ndim() >= 2) return Py_NewRef(self);
    if (array.ndim() == 0) throw Unfit{"no axis"};
    // As a[None, :] has it.
    const std::int64_t shape[2] = {1, array.shape()[0]}, strides[2] = {0, array.strides()[0]};
    return new_view(window(array, shape, strides, array.offset(), array.dtype()), array_of(self));
  }
};

PyObject* flipped(PyObject* self, const Axes& given) {
  const Array& array = array_behind(self);
  const auto shape = array.shape();
  Shape strides(array.strides().begin(), array.strides().end());
  std::int64_t offset = array.offset();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (!given.all && std::ranges::find(given.axes, static_cast<int>(k)) == given.axes.end())
      continue;
    if (array.size() > 0) offset += (shape[k] - 1) * strides[k];
    strides[k] = -strides[k];
  }
  if (shape.empty()) throw Unfit{"no axis"};
  return new_view(window(array, shape, strides, offset, array.dtype()), array_of(self));
}

struct Flip {
  static constexpr const char* name = "flip";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [axis] = named(arguments, {"axis"});
    return flipped(self, axes_operand(axis, array_behind(self).ndim()));
  }
};

// flipud and fliplr.
template <int axis>
struct FlipAlong {
  static constexpr const char* name = axis == 0 ? "flipud" : "fliplr";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    if (array_behind(self).ndim() <= axis) throw Unfit{"too few axes"};
    return flipped(self, {.all = false, .axes = {axis}});
  }
};

struct FlatNonzero {
  static constexpr const char* name = "flatnonzero";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    evaluate(array);
    const Array flat = raveled(array);
    const std::vector<Array> indices = nonzero(flat);
    return new_view(indices[0], array_of(table_of(indices).get()));
  }
};

// roll(a, shift[, axis]) of an array in C order.
struct Roll {
  static constexpr const char* name = "roll";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [shift, axis] = named(arguments, {"shift", "axis"});
    const Array& array = array_behind(self);
    if (shift && axis && PyTuple_CheckExact(axis)) return along_axes(array, shift, axis);
    const std::optional<std::int64_t> by = shift ? word_of(shift) : std::nullopt;
    if (!by || !array.c_contiguous() || array.ndim() == 0) throw Unfit{"another roll"};
    if (axis && axis != Py_None) {
      if (!PyLong_CheckExact(axis)) throw Unfit{"several axes"};
      return new_array(roll(array, *by, axis_operand(axis, array.ndim())));
    }
    const std::int64_t flat[1] = {array.size()};
    const Ref rolled = Ref::steal(new_array(roll(*reshape_window(array, flat), *by, 0)));
    ArrayObject& whole = array_of(rolled.get());
    return new_view(*reshape_window(whole.array, array.shape()), whole);
  }

 private:
  // `shift` is a number for all axes or has one for each.
  static PyObject* along_axes(const Array& array, PyObject* shift, PyObject* axes) {
    const Py_ssize_t count = PyTuple_GET_SIZE(axes);
    const bool has_many = PyTuple_CheckExact(shift);
    if (count == 0 || (has_many && PyTuple_GET_SIZE(shift) != count)) throw Unfit{"another roll"};
    Shape shifts(static_cast<std::size_t>(array.ndim()));
    for (Py_ssize_t k = 0; k < count; ++k) {
      PyObject* const axis = PyTuple_GET_ITEM(axes, k);
      const std::optional<std::int64_t> by = word_of(has_many ? PyTuple_GET_ITEM(shift, k) : shift);
      if (!by || !PyLong_CheckExact(axis)) throw Unfit{"another roll"};
      std::int64_t& sum = shifts[static_cast<std::size_t>(axis_operand(axis, array.ndim()))];
      if (__builtin_add_overflow(sum, *by, &sum)) throw Unfit{"another roll"};
    }
    if (std::optional<Array> rolled = roll_dense(array, shifts))
      return new_array(*std::move(rolled));
    throw Unfit{"many elements"};
  }
};

// moveaxis(a, source, destination): numbers, or tuples of as many.
struct MoveAxis {
  static constexpr const char* name = "moveaxis";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [source, destination] = named(arguments, {"source", "destination"});
    const Array& array = array_behind(self);
    if (!source || !destination) throw Unfit{"moveaxis takes two axes"};
    const std::vector<int> from = axes_of(source, array.ndim()),
                           to = axes_of(destination, array.ndim());
    if (from.size() != to.size()) throw Unfit{"as many sources as destinations"};
    std::vector<int> order(static_cast<std::size_t>(array.ndim()), -1);
    for (std::size_t k = 0; k < to.size(); ++k) order[static_cast<std::size_t>(to[k])] = from[k];
    int next = 0;
    for (int& axis : order) {
      if (axis >= 0) continue;
      while (std::ranges::find(from, next) != from.end()) ++next;
      axis = next++;
    }
    return new_view(transpose(array, order), array_of(self));
  }

 private:
  // Different ones.
  static std::vector<int> axes_of(PyObject* object, int ndim) {
    const bool has_many = PyTuple_CheckExact(object);
    const Py_ssize_t count = has_many ? PyTuple_GET_SIZE(object) : 1;
    std::vector<int> axes;
    for (Py_ssize_t k = 0; k < count; ++k) {
      PyObject* const axis = has_many ? PyTuple_GET_ITEM(object, k) : object;
      if (!PyLong_CheckExact(axis)) throw Unfit{"other axes"};
      axes.push_back(axis_operand(axis, ndim));
      if (std::ranges::count(axes, axes.back()) > 1) throw Unfit{"the same axis twice"};
    }
    return axes;
  }
};

// tile(a, reps): each axis behind one that repeats it, copied and folded into it.
struct Tile {
  static constexpr const char* name = "tile";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [given] = named(arguments, {"reps"});
    if (!given) throw Unfit{"no reps"};
    const Array& array = array_behind(self);
    Shape reps = shape_operand(given), extents(array.shape().begin(), array.shape().end()),
          steps(array.strides().begin(), array.strides().end());
    const std::size_t axes = std::max(reps.size(), extents.size());
    if (2 * axes > static_cast<std::size_t>(max_dimensions)) throw Unfit{"too many axes"};
    reps.insert(reps.begin(), axes - reps.size(), 1);
    steps.insert(steps.begin(), axes - extents.size(), 0);
    extents.insert(extents.begin(), axes - extents.size(), 1);
    if (std::ranges::all_of(reps, [](std::int64_t n) { return n == 1; }))
      return left_to_numpy();  // a copy, in the order of `a`
    Shape shape, strides, folded;
    std::int64_t bytes = size_of(array.dtype());
    for (std::size_t k = 0; k < axes; ++k) {
      if (reps[k] < 0 || __builtin_mul_overflow(bytes, reps[k] * extents[k], &bytes))
        throw Unfit{"no such shape"};
      shape.insert(shape.end(), {reps[k], extents[k]});
      strides.insert(strides.end(), {0, steps[k]});
      folded.push_back(reps[k] * extents[k]);
    }
    const Array tiles = window(array, shape, strides, array.offset(), array.dtype());
    const Ref copied = Ref::steal(new_array(copy(tiles, 'C')));
    ArrayObject& whole = array_of(copied.get());
    return new_view(reshaped(whole.array, folded, 'C').array, whole);
  }
};

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

// convolve(a, v, mode="full") and correlate(a, v, mode="valid") of vectors: NumPy's loops.
template <bool is_convolution>
struct Correlation {
  static constexpr const char* name = is_convolution ? "convolve" : "correlate";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [other, given] = named(arguments, {"v", "mode"});
    const std::optional<int> mode = mode_of(given);
    if (!mode || !other || !is_array(other) || !is_vector(self) || !is_vector(other))
      return left_to_numpy();
    const bool swaps = is_convolution && array_behind(other).size() > array_behind(self).size();
    PyObject* const longer = swaps ? other : self;
    const Ref flipped =
        is_convolution ? Ref::steal(flipped_object(swaps ? self : other)) : Ref::borrow(other);
    Ref left = real_array(array_of(longer)), right = real_array(array_of(flipped.get()));
    Ref result = checked(
        (is_convolution ? PyArray_Correlate : PyArray_Correlate2)(left.get(), right.get(), *mode));
    give_back(std::move(left));
    give_back(std::move(right));
    return object_of_result(std::move(result));
  }

 private:
  static bool is_vector(PyObject* object) {
    return array_behind(object).ndim() == 1 && array_behind(object).size() > 0;
  }
  static PyObject* flipped_object(PyObject* object) {
    return flipped(object, {.all = true, .axes = {}});
  }
  // NumPy's number of it.
  static std::optional<int> mode_of(PyObject* given) {
    static constexpr const char* modes[] = {"valid", "same", "full"};
    if (!given) return is_convolution ? 2 : 0;
    for (int k = 0; k < 3 && PyUnicode_Check(given); ++k)
      if (PyUnicode_CompareWithASCIIString(given, modes[k]) == 0) return k;
    return std::nullopt;
  }
};

// bincount(x, weights=None, minlength=0) of vectors whose elements int64, or float64, holds.
struct BinCount {
  static constexpr const char* name = "bincount";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    constexpr std::int64_t longest = 1 << 24;
    const auto [given, least] = named(arguments, {"weights", "minlength"});
    const std::optional<std::int64_t> wanted = least ? word_of(least) : 0;
    const std::optional<Array> x = row_of(array_behind(self), DType::Int64);
    if (!wanted || *wanted < 0 || *wanted > longest || !x || x->size() == 0) return left_to_numpy();
    const bool is_weighted = given && given != Py_None;
    std::optional<Array> weights;
    if (is_weighted && is_array(given)) weights = row_of(array_behind(given), DType::Float64);
    if (is_weighted && (!weights || weights->size() != x->size())) return left_to_numpy();
    const std::byte* const weight = weights ? evaluate(*weights) : nullptr;
    const std::byte* const places = evaluate(*x);
    const std::uint64_t highest = highest_of(places, x->size());
    if (highest >= static_cast<std::uint64_t>(longest)) return left_to_numpy();
    const std::int64_t length = std::max(static_cast<std::int64_t>(highest) + 1, *wanted);
    Array result = empty({&length, 1}, weights ? DType::Float64 : DType::Int64);
    std::byte* const sums = memory_of(result);
    // Another thread may have changed them while this one waited for the engine.
    if (highest_of(places, x->size()) != highest) return left_to_numpy();
    std::memset(sums, 0, static_cast<std::size_t>(length) * sizeof(std::int64_t));
    const auto* const first = reinterpret_cast<const std::int64_t*>(places);
    if (weights)
      add_up(
          reinterpret_cast<double*>(sums), first, x->size(),
          [values = reinterpret_cast<const double*>(weight)](std::int64_t k) { return values[k]; });
    else
      add_up(reinterpret_cast<std::int64_t*>(sums), first, x->size(),
             [](std::int64_t) { return 1; });
    return new_array(std::move(result));
  }

 private:
  static std::optional<Array> row_of(const Array& array, DType dtype) {
    if (array.ndim() != 1 || !can_cast(array.dtype(), dtype, Casting::Safe)) return std::nullopt;
    if (array.dtype() != dtype) return astype(array, dtype);
    return array.c_contiguous() ? array : copy(array, 'C');
  }
  // What is negative counts as large.
  static std::uint64_t highest_of(const std::byte* places, std::int64_t n) {
    std::uint64_t highest = 0;
    reduce_loop(Op::Maximum, DType::UInt64)(&highest, places, n);
    return highest;
  }
  template <class T, class Weight>
  static void add_up(T* __restrict sums, const std::int64_t* __restrict places, std::int64_t n,
                     Weight weight) {
    for (std::int64_t k = 0; k < n; ++k) sums[places[k]] += weight(k);
  }
};

// Of neighbours along an axis.
Array differences(const Array& array, std::size_t axis, Op op) {
  std::vector<AxisSlice> axes;
  for (const std::int64_t extent : array.shape()) axes.push_back({.count = extent});
  axes[axis].count = std::max<std::int64_t>(axes[axis].count - 1, 0);
  const Array before = slice(array, axes);
  axes[axis].start = array.shape()[axis] - axes[axis].count;
  const Array behind = slice(array, axes);
  note_ufunc(info(op).numpy_name.data());
  return apply(op, {behind, before});
}

// diff(a[, axis=]).
struct Diff {
  static constexpr const char* name = "diff";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [times, along] = named(arguments, {"n", "axis"});
    if (times && word_of(times) != 1) throw Unfit{"several times"};
    const Array& array = array_behind(self);
    if (array.ndim() == 0) throw Unfit{"no axis"};
    const int axis = along ? axis_operand(along, array.ndim()) : array.ndim() - 1;
    const Op op = is_bool(array.dtype()) ? Op::NotEqual : Op::Subtract;
    return new_array(differences(array, static_cast<std::size_t>(axis), op));
  }
};

// ptp(a[, axis]) of what the caches hold: beyond, largest and smallest are found in one pass.
struct PeakToPeak {
  static constexpr const char* name = "ptp";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    constexpr std::int64_t cached = 32;
    const auto [along] = named(arguments, {"axis"});
    const Array& array = array_behind(self);
    if (is_bool(array.dtype()) || array.ndim() == 0 || array.size() == 0 ||
        !is_small_and_ready(array, cached))
      return left_to_numpy();
    const Axes axes = axes_operand(along, array.ndim());
    const ReduceOptions options{.axes = axes.axes, .all_axes = axes.all};
    const auto extreme = [&](Op op) {
      Array found = reduce(op, array, options);
      evaluate(found);  // by itself
      return found;
    };
    const Array highest = extreme(Op::Maximum), lowest = extreme(Op::Minimum);
    note_ufunc("subtract");
    return new_result(apply(Op::Subtract, {highest, lowest}));
  }
};

// ediff1d(a).
struct FlatDiff {
  static constexpr const char* name = "ediff1d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (is_bool(array.dtype())) return left_to_numpy();  // refused by NumPy
    return new_array(differences(raveled(array), 0, Op::Subtract));
  }
};

// outer(a, b) of two vectors.
struct Outer {
  static constexpr const char* name = "outer";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    const Array& other = other_array(arguments);
    if (array.ndim() != 1 || other.ndim() != 1) throw Unfit{"no plain vectors"};
    const std::int64_t shape[2] = {array.size(), 1}, strides[2] = {array.strides()[0], 0};
    const Array column = window(array, shape, strides, array.offset(), array.dtype());
    note_ufunc("multiply");
    return new_array(apply(Op::Multiply, {column, other}));
  }
};

// array_equal(a, b) of two arrays.
struct ArrayEqual {
  static constexpr const char* name = "array_equal";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional != 1 || arguments.names || !is_array(arguments.values[0]))
      throw Unfit{"options"};
    const Array& array = array_behind(self);
    const Array& other = array_behind(arguments.values[0]);
    if (!std::ranges::equal(array.shape(), other.shape())) Py_RETURN_FALSE;
    note_ufunc("equal");
    const Array all = reduce(Op::LogicalAnd, apply(Op::Equal, {array, other}));
    return PyBool_FromLong(*evaluate(all) != std::byte{0});
  }
};

// vdot(a, b), which NumPy does without a warning.
struct Vdot {
  static constexpr const char* name = "vdot";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array &left = array_behind(self), &right = other_array(arguments);
    if (is_bool(left.dtype()) && left.ndim() == 1 && right.ndim() == 1)
      return dot_product(left, arguments.values[0], nullptr);
    const Array a = raveled(left), b = raveled(right);
    if (a.size() != b.size()) throw Unfit{"vectors of different lengths"};
    return new_result(vdot(a, b));
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

// ---- sorting: NumPy's own loops, on elements that lie side by side ------------------------------

bool are_rows(const Array& array) {
  return array.ndim() > 0 && array.c_contiguous() && array.size() > 0 && is_small_and_ready(array);
}
bool is_last_axis(const Array& array, PyObject* axis) {
  const std::optional<std::int64_t> along = axis ? word_of(axis) : -1;
  return along == -1 || along == array.ndim() - 1;
}

std::optional<NPY_SORTKIND> sort_kind(PyObject* kind) {
  if (!kind || kind == Py_None) return NPY_QUICKSORT;
  if (!PyUnicode_Check(kind)) return std::nullopt;
  for (const char* stable : {"stable", "mergesort"})
    if (PyUnicode_CompareWithASCIIString(kind, stable) == 0) return NPY_STABLESORT;
  if (PyUnicode_CompareWithASCIIString(kind, "quicksort") == 0) return NPY_QUICKSORT;
  return std::nullopt;
}

// Sorted along the last axis; nothing where that is not few dense rows.
std::optional<Array> small_sort(const Array& array, NPY_SORTKIND kind) {
  const PyArray_ArrFuncs* functions = PyDataType_GetArrFuncs(descriptor_of(array.dtype()));
  PyArray_SortFunc* const sort = functions->sort[kind];
  if (!sort || !are_rows(array)) return std::nullopt;
  Array sorted = copy(array, 'C');
  eval(sorted);
  const std::int64_t length = array.shape().back(), row_bytes = length * size_of(array.dtype());
  std::byte* row = sorted.base()->data;
  for (const std::byte* end = row + sorted.base()->bytes; row < end; row += row_bytes)
    if (sort(row, length, nullptr) < 0) throw PythonError{};
  return sorted;
}

// sort and argsort, by what does it for rows.
using RowSort = std::optional<Array> (*)(const Array&, NPY_SORTKIND);
template <RowSort sort_rows>
struct SortFunction {
  static constexpr const char* name = sort_rows == small_sort ? "sort" : "argsort";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [axis, kind] = named(arguments, {"axis", "kind"});
    const Array& array = array_behind(self);
    const std::optional<NPY_SORTKIND> way = sort_kind(kind);
    std::optional<Array> sorted;
    if (way && is_last_axis(array, axis))
      sorted = sort_rows(array, *way);
    else if (way && array.ndim() == 2 && is_first_axis(axis))
      sorted = sorted_columns(array, *way);
    return sorted ? new_array(*std::move(sorted)) : left_to_numpy();
  }

 private:
  // As rows of a copy.
  static std::optional<Array> sorted_columns(const Array& array, NPY_SORTKIND way) {
    if (!are_rows(array)) return std::nullopt;
    const std::optional<Array> sorted = sort_rows(copy(reversed_axes(array), 'C'), way);
    return sorted ? std::optional(copy(reversed_axes(*sorted), 'C')) : std::nullopt;
  }
  static bool is_first_axis(PyObject* axis) {
    const std::optional<std::int64_t> along = word_of(axis);
    return along == 0 || along == -2;
  }
};

}  // namespace

std::optional<Array> small_argsort(const Array& array, NPY_SORTKIND kind) {
  const PyArray_ArrFuncs* functions = PyDataType_GetArrFuncs(descriptor_of(array.dtype()));
  PyArray_ArgSortFunc* const sort = functions->argsort[kind];
  if (!sort || !are_rows(array)) return std::nullopt;
  Array places = empty(array.shape(), DType::Int64);
  const std::int64_t length = array.shape().back(), row_bytes = length * size_of(array.dtype());
  auto* first = reinterpret_cast<npy_intp*>(memory_of(places));
  std::byte* row = array.base()->data + array.offset();
  for (const npy_intp* end = first + array.size(); first < end; first += length, row += row_bytes) {
    std::iota(first, first + length, 0);
    if (sort(row, first, length, nullptr) < 0) throw PythonError{};
  }
  return places;
}

namespace {

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
    Array places = empty(keys[0]->shape(), DType::Int64);
    auto* const first = reinterpret_cast<npy_intp*>(memory_of(places));
    std::iota(first, first + places.size(), 0);
    for (const Array* key : keys) {
      PyArray_ArgSortFunc* const sort =
          PyDataType_GetArrFuncs(descriptor_of(key->dtype()))->argsort[NPY_STABLESORT];
      if (!sort) return left_to_numpy();
      if (sort(key->base()->data + key->offset(), first, key->size(), nullptr) < 0)
        throw PythonError{};
    }
    return new_array(std::move(places));
  });
}

// result_type of one or two arrays.
PyObject* result_type(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  constexpr Py_ssize_t most = 2;
  if (names || positional < 1 || positional > most || !is_array(values[0]) ||
      !is_array(values[positional - 1]))
    return left_to_numpy();
  const DType first = array_behind(values[0]).dtype();
  const DType both = positional == 1 ? first : promote(first, array_behind(values[1]).dtype());
  return Py_NewRef(as_object(descriptor_of(both)));
}

// Arrays of several bases share nothing, unless the memory comes from outside.
PyObject* may_share(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (names || positional != 2 || !is_array(values[0]) || !is_array(values[1]))
    return left_to_numpy();
  const Base* one = array_behind(values[0]).base();
  const Base* two = array_behind(values[1]).base();
  return Py_NewRef(one == two || one->foreign || two->foreign ? Py_NotImplemented : Py_False);
}

PyMethodDef row(const char* name,
                PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
  return {name, as_c_function(function), METH_FASTCALL | METH_KEYWORDS, nullptr};
}

}  // namespace

std::vector<PyMethodDef> plain_shortcuts() {
  return {row("result_type", result_type),
          row("may_share_memory", may_share),
          row("shares_memory", may_share),
          row("lexsort", lexsort),
          shortcut_row<AtLeast1D>(),
          shortcut_row<AtLeast2D>(),
          shortcut_row<Flip>(),
          shortcut_row<FlatNonzero>(),
          shortcut_row<Roll>(),
          shortcut_row<MoveAxis>(),
          shortcut_row<Tile>(),
          shortcut_row<Diff>(),
          shortcut_row<PeakToPeak>(),
          shortcut_row<FlatDiff>(),
          shortcut_row<Outer>(),
          shortcut_row<ArrayEqual>(),
          shortcut_row<Vdot>(),
          shortcut_row<Norm>(),
          shortcut_row<AsksForComplex<true>>(),
          shortcut_row<AsksForComplex<false>>(),
          shortcut_row<ComparesImaginary<Op::NotEqual>>(),
          shortcut_row<ComparesImaginary<Op::Equal>>(),
          shortcut_row<Fix>(),
          shortcut_row<BinCount>(),
          shortcut_row<Correlation<true>>(),
          shortcut_row<Correlation<false>>(),
          shortcut_row<FlipAlong<0>>(),
          shortcut_row<FlipAlong<1>>(),
          shortcut_row<SortFunction<small_sort>>(),
          shortcut_row<SortFunction<small_argsort>>()};
}

}  // namespace frit::python
