// shortcuts.cpp: functions that NumPy writes in Python, for the plain case in one step.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "front/common.h"
#include "front/dense.h"
#include "python/array_type.h"
#include "python/float_state.h"
#include "python/functions.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

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

// fft.fftshift and fft.ifftshift(x, axes=None), of a few elements in C order: rolls by half of each
// axis.
template <int sign>
struct HalfShift {
  static constexpr const char* name = sign > 0 ? "fft.fftshift" : "fft.ifftshift";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [along] = named(arguments, {"axes"});
    const Array& array = array_behind(self);
    if (array.ndim() == 0 || (along && along != Py_None && !PyLong_CheckExact(along)))
      return left_to_numpy();
    const Axes given = axes_operand(along, array.ndim());
    Shape shifts(array.shape().size());
    for (std::size_t k = 0; k < shifts.size(); ++k)
      if (given.all || static_cast<int>(k) == given.axes[0])
        shifts[k] = sign * (array.shape()[k] / 2);
    std::optional<Array> shifted = roll_dense(array, shifts);
    return shifted ? new_array(*std::move(shifted)) : left_to_numpy();
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
    // A copy, in the order of `a`, or a view of what has no elements.
    if (array.size() == 0 || std::ranges::all_of(reps, [](std::int64_t n) { return n == 1; }))
      return left_to_numpy();
    Shape shape, strides, folded;
    std::int64_t bytes = size_of(array.dtype());
    for (std::size_t k = 0; k < axes; ++k) {
      std::int64_t all = 0;
      if (reps[k] < 0 || __builtin_mul_overflow(reps[k], extents[k], &all) ||
          __builtin_mul_overflow(bytes, all, &bytes))
        throw Unfit{"no such shape"};
      shape.insert(shape.end(), {reps[k], extents[k]});
      strides.insert(strides.end(), {0, steps[k]});
      folded.push_back(all);
    }
    const Array tiles = window(array, shape, strides, array.offset(), array.dtype());
    const Ref copied = Ref::steal(new_array(copy(tiles, 'C')));
    ArrayObject& whole = array_of(copied.get());
    return new_view(reshaped(whole.array, folded, 'C').array, whole);
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
Array differences(const Array& array, std::size_t axis, Op op, Steps& steps) {
  std::vector<AxisSlice> axes;
  for (const std::int64_t extent : array.shape()) axes.push_back({.count = extent});
  axes[axis].count = std::max<std::int64_t>(axes[axis].count - 1, 0);
  const Array before = slice(array, axes);
  axes[axis].start = array.shape()[axis] - axes[axis].count;
  const Array behind = slice(array, axes);
  steps.next(info(op).numpy_name.data());
  return apply(op, {behind, before});
}

// diff(a[, n][, axis=]).
struct Diff {
  static constexpr const char* name = "diff";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [given, along] = named(arguments, {"n", "axis"});
    constexpr std::int64_t most = 16;
    const std::int64_t times = given ? word_of(given).value_or(0) : 1;
    if (times < 1 || times > most) return left_to_numpy();
    const Array& array = array_behind(self);
    if (array.ndim() == 0) throw Unfit{"no axis"};
    const auto axis =
        static_cast<std::size_t>(along ? axis_operand(along, array.ndim()) : array.ndim() - 1);
    const Op op = is_bool(array.dtype()) ? Op::NotEqual : Op::Subtract;
    Steps steps;
    Array result = differences(array, axis, op, steps);
    for (std::int64_t k = 1; k < times; ++k) result = differences(result, axis, op, steps);
    return new_array(std::move(result));
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
    Steps steps;
    return new_array(differences(raveled(array), 0, Op::Subtract, steps));
  }
};

// outer(a, b) of two vectors, and linalg.outer.
struct Outer {
  static constexpr const char* name = "outer";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    const Array& other = other_array(arguments);
    if (array.ndim() != 1 || other.ndim() != 1) throw Unfit{"no plain vectors"};
    const auto matrix = [](const Array& x, std::int64_t rows, std::int64_t columns) {
      const std::int64_t shape[2] = {rows, columns}, stride = x.strides()[0];
      const std::int64_t strides[2] = {columns == 1 ? stride : 0, columns == 1 ? 0 : stride};
      return window(x, shape, strides, x.offset(), x.dtype());
    };
    note_ufunc("multiply");
    return new_array(
        apply(Op::Multiply, {matrix(array, array.size(), 1), matrix(other, 1, other.size())}));
  }
};

// cross(a, b) of vectors of three elements, along the last axis; and linalg.cross. Of two vectors,
// in numbers.
struct Cross {
  static constexpr const char* name = "cross";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& left = array_behind(self);
    if (arguments.positional != 1 || arguments.names || !is_array(arguments.values[0]))
      return left_to_numpy();
    const Array& right = array_behind(arguments.values[0]);
    const auto are_vectors = [](const Array& a) { return a.ndim() > 0 && a.shape().back() == 3; };
    if (!are_vectors(left) || !are_vectors(right)) return left_to_numpy();
    if (left.ndim() > 1 || right.ndim() > 1) return of_rows(left, right);
    if (underflow_is_told()) return left_to_numpy();
    switch (promote(left.dtype(), right.dtype())) {
      case DType::Float64:
        return of<double, double>(left, right, DType::Float64);
      case DType::Float32:
        return of<float, float>(left, right, DType::Float32);
      case DType::Int64:  // which wrap
        return of<std::int64_t, std::uint64_t>(left, right, DType::Int64);
      default:
        return left_to_numpy();
    }
  }

  static PyObject* of_rows(const Array& left, const Array& right) {
    const auto lines_of = [](const Array& a) {
      return a.shape().first(static_cast<std::size_t>(a.ndim() - 1));
    };
    const DType dtype = promote(left.dtype(), right.dtype());
    if (is_bool(dtype) || left.size() == 0 || right.size() == 0) return left_to_numpy();
    const std::span<const std::int64_t> shapes[] = {lines_of(left), lines_of(right)};
    std::vector<std::int64_t> shape = broadcast_shapes(shapes);
    shape.push_back(3);
    const Array product = empty(shape, dtype);
    Steps steps;
    if (is_small_and_ready(left) && is_small_and_ready(right)) memory_of(product);
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t i = (k + 1) % 3, j = (k + 2) % 3;
      const Array to = component(product, k);
      const auto times = [&](std::int64_t of_left, std::int64_t of_right) {
        steps.next("multiply");
        return apply(Op::Multiply, {component(left, of_left), component(right, of_right)});
      };
      const Array first = times(i, j), second = times(j, i);
      steps.next("subtract");
      apply(Op::Subtract, {first, second}, {.out = &to});
    }
    return new_array(product);
  }
  static Array component(const Array& array, std::int64_t k) {
    const auto last = static_cast<std::size_t>(array.ndim() - 1);
    return window(array, array.shape().first(last), array.strides().first(last),
                  array.offset() + k * array.strides()[last], array.dtype());
  }

  template <class T>
  static std::array<T, 3> elements(const Array& array, DType dtype) {
    const std::byte* const from = evaluate(array);
    std::array<T, 3> all;
    for (std::size_t k = 0; k < all.size(); ++k) {
      void* pointers[2] = {&all[k], const_cast<std::byte*>(from) +
                                        static_cast<std::int64_t>(k) * array.strides()[0]};
      cast_loop(array.dtype(), dtype)(pointers, 1, 0);
    }
    return all;
  }

  // What is finite had no error that NumPy would warn of; of the rest NumPy does all again.
  template <class T, class Wrapping>
  static PyObject* of(const Array& left, const Array& right, DType dtype) {
    const std::array<T, 3> a = elements<T>(left, dtype), b = elements<T>(right, dtype);
    std::array<T, 3> product;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      const auto times = [](T x, T y) {
        return static_cast<Wrapping>(x) * static_cast<Wrapping>(y);
      };
      product[k] = static_cast<T>(times(a[i], b[j]) - times(a[j], b[i]));
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(product[k])) return left_to_numpy();
    }
    const std::int64_t shape[1] = {3};
    return new_array(copy_of(product.data(), shape, dtype));
  }
};

// array_equal(a, b) of two arrays; array_equiv(a, b) of two of one shape.
template <bool broadcasts>
struct ArrayEqual {
  static constexpr const char* name = broadcasts ? "array_equiv" : "array_equal";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional != 1 || arguments.names || !is_array(arguments.values[0]))
      throw Unfit{"options"};
    const Array& array = array_behind(self);
    const Array& other = array_behind(arguments.values[0]);
    if (!std::ranges::equal(array.shape(), other.shape()))
      return broadcasts ? left_to_numpy() : Py_NewRef(Py_False);
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
    // Alone of NumPy's products this one doesn't make BLAS a copy: its own loop adds these up.
    for (const Array* x : {&a, &b})
      if (x->ndim() == 1 && x->size() > 1 && x->strides()[0] <= 0)
        throw Unfit{"reversed or repeated vectors"};
    return new_result(vdot(a, b));
  }
};

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

}  // namespace

std::vector<PyMethodDef> plain_shortcuts() {
  return {plain_row("result_type", result_type),
          plain_row("may_share_memory", may_share),
          plain_row("shares_memory", may_share),
          shortcut_row<FlatNonzero>(),
          shortcut_row<Roll>(),
          shortcut_row<Tile>(),
          shortcut_row<Diff>(),
          shortcut_row<PeakToPeak>(),
          shortcut_row<FlatDiff>(),
          shortcut_row<Outer>(),
          shortcut_row<Outer>("linalg.outer"),
          shortcut_row<Cross>(),
          shortcut_row<Cross>("linalg.cross"),
          shortcut_row<HalfShift<1>>(),
          shortcut_row<HalfShift<-1>>(),
          shortcut_row<ArrayEqual<false>>(),
          shortcut_row<ArrayEqual<true>>(),
          shortcut_row<Vdot>(),
          shortcut_row<BinCount>()};
}

}  // namespace frit::python
