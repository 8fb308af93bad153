// functions.cpp: where, copyto, concatenate, nonzero and others; conversion from and to NumPy.
#include "python/functions.h"

#include <algorithm>
#include <cstring>

#include "engine/pack.h"
#include "front/dense.h"
#include "front/join.h"
#include "python/array_type.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

bool is_given(PyObject* object) { return object && object != Py_None && object != numpy.no_value; }

struct Where {
  static constexpr const char* name = "where";
  static PyObject* run(const Arguments& arguments) {
    if (arguments.keywords() != 0 || arguments.positional != 3) {
      if (arguments.positional == 1 && arguments.keywords() == 0)
        return indices(arguments.values[0]);
      throw Unfit{"where takes one or three arguments"};
    }
    Operand mask, x, y;
    if (!read_operand(arguments.values[0], mask) || !read_operand(arguments.values[1], x) ||
        !read_operand(arguments.values[2], y))
      throw Unfit{"an operand is of a foreign type"};
    // NumPy's where gives an array always: numbers stand as 0-d arrays.
    if (!mask.argument.array) throw Unfit{"where on a single condition"};
    return new_array(apply(Op::Select, {mask.argument, x.argument, y.argument}));
  }
  static PyObject* indices(PyObject* object) {
    if (is_array(object)) return nonzero_places(object);
    return nonzero_places(Ref::steal(new_array(array_operand(object))).get());
  }
};

bool is_python_number(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyComplex_CheckExact(object);
}

bool is_name(PyObject* text, const char* name) {
  return PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, name) == 0;
}

struct CopyTo {
  static constexpr const char* name = "copyto";
  static PyObject* run(const Arguments& arguments) {
    const auto [target_object, source, casting, where] =
        named(arguments, {"dst", "src", "casting", "where"});
    if (!target_object || !source) throw Unfit{"copyto takes two arrays"};
    const Array target = target_operand(target_object);
    Operand value;
    if (!read_operand(source, value)) throw Unfit{"an operand is of a foreign type"};
    const bool unsafe = casting && is_name(casting, "unsafe");
    if (casting && !unsafe && !is_name(casting, "same_kind")) throw Unfit{"copyto with casting="};
    const Argument& a = value.argument;
    if (a.weak != Weak::No) {
      const std::optional<Scalar> element = element_value(source, target.dtype());
      const bool loses = (a.weak == Weak::Float && !is_inexact(target.dtype())) ||
                         (a.weak == Weak::Int && is_bool(target.dtype()));
      if (!element || (loses && !unsafe)) throw Unfit{"a value needs NumPy's conversion"};
      value.argument = Argument(*element);
    } else {
      const DType from = a.array ? a.array->dtype() : a.scalar.dtype;
      if (!can_cast(from, target.dtype(), unsafe ? Casting::Unsafe : Casting::SameKind))
        throw Unfit{"copyto needs a cast that casting= forbids"};
      if (is_complex(from) && !is_complex(target.dtype()))
        throw Unfit{"complex values lose their imaginary part"};
      // Of a number, too, only what is stored is converted.
      if (!a.array && target.size() == 0) return Py_NewRef(Py_None);
    }
    if (!where || where == Py_True) {
      assign(target, value.argument);
    } else {
      const Array mask = array_operand(where);
      if (!is_bool(mask.dtype())) throw Unfit{"where= is not a mask"};
      const Array wide = broadcast_to(mask, target.shape());
      assign(target, value.argument, &wide);
    }
    return Py_NewRef(Py_None);
  }
};

struct Concatenate {
  static constexpr const char* name = "concatenate";
  static PyObject* run(const Arguments& arguments) {
    const auto [sequence, axis_object, out, dtype, casting] =
        named(arguments, {"arrays", "axis", "out", "dtype", "casting"}, 3);
    if (!sequence || (is_given(out) && is_given(dtype)) ||
        (casting && !is_name(casting, "same_kind")))
      throw Unfit{"concatenate with casting="};
    if (!PyTuple_CheckExact(sequence) && !PyList_CheckExact(sequence))
      throw Unfit{"concatenate of other than a list or tuple"};
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence);
    if (n == 0) throw Unfit{"need at least one array to concatenate"};
    std::vector<Array> parts;
    const bool flat = axis_object == Py_None;
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* part = PySequence_Fast_GET_ITEM(sequence, k);
      if (flat && is_python_number(part)) throw Unfit{"a Python number to be joined to arrays"};
      parts.push_back(array_operand(part));
    }
    if (flat)
      for (Array& part : parts) part = raveled(part);
    const int ndim = parts[0].ndim();
    if (ndim == 0) throw Unfit{"zero-dimensional arrays cannot be concatenated"};
    const auto axis =
        static_cast<std::size_t>(flat || !axis_object ? 0 : axis_operand(axis_object, ndim));
    if (is_given(out)) {
      join_into(target_operand(out), parts, axis);
      return Py_NewRef(out);
    }
    return new_array(joined(parts, axis, requested_dtype(dtype)));
  }

  // The axes from the slowest to the fastest in memory, as NumPy sorts those of several arrays
  // (PyArray_CreateMultiSortedStridePerm): where they disagree, C order wins.
  static std::vector<std::size_t> memory_order(const std::vector<Array>& parts) {
    std::vector<std::size_t> order;
    for (std::size_t axis = 0; axis < parts[0].shape().size(); ++axis) {
      std::size_t place = order.size();
      for (std::size_t k = order.size(); k-- > 0;) {
        bool ambiguous = true, before = false;
        for (const Array& part : parts) {
          if (part.shape()[axis] == 1 || part.shape()[order[k]] == 1) continue;
          if (std::abs(part.strides()[axis]) <= std::abs(part.strides()[order[k]]))
            before = false;
          else if (ambiguous)
            before = true;
          ambiguous = false;
        }
        if (ambiguous) continue;
        if (!before) break;
        place = k;
      }
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), axis);
    }
    return order;
  }

  // The shape of the whole; throws Unfit where the parts don't fit together.
  static Shape joined_shape(const std::vector<Array>& parts, std::size_t axis) {
    Shape shape(parts[0].shape().begin(), parts[0].shape().end());
    shape[axis] = 0;
    for (const Array& part : parts) {
      if (part.ndim() != static_cast<int>(shape.size()))
        throw Unfit{"arrays of different dimensions"};
      for (std::size_t k = 0; k < shape.size(); ++k)
        if (k != axis && part.shape()[k] != shape[k]) throw Unfit{"arrays of different shapes"};
      shape[axis] += part.shape()[axis];
    }
    return shape;
  }

  static void join_into(const Array& target, const std::vector<Array>& parts, std::size_t axis) {
    if (!std::ranges::equal(target.shape(), joined_shape(parts, axis)))
      throw Unfit{"out= has another shape"};
    for (const Array& part : parts)
      if (!can_cast(part.dtype(), target.dtype(), Casting::SameKind) ||
          may_share_memory(part, target))
        throw Unfit{"concatenate into this array"};
    store_parts(target, parts, axis);
  }

  // Few elements that lie one part behind the other: moved at once. Else nothing.
  static std::optional<Array> joined_in_a_row(const std::vector<Array>& parts,
                                              std::span<const std::int64_t> shape, DType dtype) {
    constexpr std::int64_t most_bytes = 1 << 20;
    std::int64_t bytes = 0;
    for (const Array& part : parts) {
      bytes += part.size() * size_of(dtype);
      if (part.dtype() != dtype || !part.c_contiguous() || bytes > most_bytes ||
          !is_small_and_ready(part, moved_times))
        return std::nullopt;
    }
    Array result = empty(shape, dtype);
    std::byte* to = memory_of(result);
    for (const Array& part : parts) {
      const auto length = static_cast<std::size_t>(part.size() * size_of(dtype));
      std::memcpy(to, part.base()->data + part.offset(), length);
      to += length;
    }
    return result;
  }

  // Few elements of the result's type, which are there, moved at once; else false.
  static bool join_now(const Array& result, const std::vector<Array>& parts, std::size_t axis) {
    constexpr std::int64_t most_bytes = 1 << 20;
    const int item = size_of(result.dtype());
    if (result.size() == 0 || result.size() * item > most_bytes ||
        !std::ranges::all_of(parts, [&](const Array& part) {
          return part.dtype() == result.dtype() && is_small_and_ready(part, moved_times);
        }))
      return false;
    std::byte* to = memory_of(result);
    for (const Array& part : parts) {
      if (part.size() > 0)
        copy_elements({to, result.strides()}, {part.base()->data + part.offset(), part.strides()},
                      part.shape(), item);
      to += part.shape()[axis] * result.strides()[axis];
    }
    return true;
  }

  static Array joined(const std::vector<Array>& parts, std::size_t axis,
                      std::optional<DType> wanted) {
    const Shape shape = joined_shape(parts, axis);
    if (axis == 0)
      if (std::optional<Array> row =
              joined_in_a_row(parts, shape, wanted.value_or(parts[0].dtype())))
        return *std::move(row);
    std::vector<DType> dtypes;
    for (const Array& part : parts) dtypes.push_back(part.dtype());
    const DType dtype = wanted ? *wanted : promote(dtypes);
    Shape strides(shape.size());
    std::int64_t stride = size_of(dtype);
    const std::vector<std::size_t> order = memory_order(parts);
    for (std::size_t k = order.size(); k-- > 0;) {
      strides[order[k]] = stride;
      stride *= std::max<std::int64_t>(shape[order[k]], 1);
    }
    const Array result = empty_strided(shape, strides, dtype);
    if (!join_now(result, parts, axis)) join_into(result, parts, axis);
    return result;
  }
};

// The arrays of a list; Unfit where one is none of ours.
std::vector<Array> arrays_of(PyObject* sequence) {
  if (!sequence || (!PyTuple_CheckExact(sequence) && !PyList_CheckExact(sequence)))
    throw Unfit{"other than a list or tuple of arrays"};
  std::vector<Array> arrays;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k) {
    PyObject* each = PySequence_Fast_GET_ITEM(sequence, k);
    if (!is_array(each)) throw Unfit{"other than a list or tuple of arrays"};
    arrays.push_back(array_of(each).array);
  }
  if (arrays.empty()) throw Unfit{"need at least one array"};
  return arrays;
}

// As arrays_of, and numbers are arrays without axes.
std::vector<Array> parts_of(PyObject* sequence) {
  if (!sequence || (!PyTuple_CheckExact(sequence) && !PyList_CheckExact(sequence)))
    throw Unfit{"other than a list or tuple"};
  std::vector<Array> parts;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k)
    parts.push_back(array_operand(PySequence_Fast_GET_ITEM(sequence, k)));
  if (parts.empty()) throw Unfit{"need at least one array"};
  return parts;
}

Array with_new_axis(const Array& array, std::size_t axis) {
  Shape shape(array.shape().begin(), array.shape().end()),
      strides(array.strides().begin(), array.strides().end());
  const auto place = static_cast<std::ptrdiff_t>(axis);
  shape.insert(shape.begin() + place, 1);
  strides.insert(strides.begin() + place, 0);
  return window(array, shape, strides, array.offset(), array.dtype());
}

Array stacked(std::vector<Array> parts, std::size_t axis) {
  const bool is_alike = std::ranges::all_of(
      parts, [&](const Array& part) { return std::ranges::equal(part.shape(), parts[0].shape()); });
  if (axis == 0 && is_alike && parts[0].ndim() < max_dimensions) {
    Shape shape(parts[0].shape().begin(), parts[0].shape().end());
    shape.insert(shape.begin(), static_cast<std::int64_t>(parts.size()));
    if (std::optional<Array> row = Concatenate::joined_in_a_row(parts, shape, parts[0].dtype()))
      return *std::move(row);
  }
  for (Array& part : parts) {
    if (part.ndim() == max_dimensions) throw Unfit{"too many dimensions"};
    part = with_new_axis(part, axis);
  }
  return Concatenate::joined(parts, axis, std::nullopt);
}

bool all_of_rank(const std::vector<Array>& arrays, int least, int most) {
  return std::ranges::all_of(arrays,
                             [&](const Array& a) { return a.ndim() >= least && a.ndim() <= most; });
}

// Shortcuts of functions that join a list of arrays.
struct Stack {
  static Array run(const Arguments& arguments) {
    const auto [sequence, axis] = named(arguments, {"arrays", "axis"});
    std::vector<Array> parts = arrays_of(sequence);
    const int place = axis ? axis_operand(axis, parts[0].ndim() + 1) : 0;
    return stacked(std::move(parts), static_cast<std::size_t>(place));
  }
};
struct VerticalStack {
  static Array run(const Arguments& arguments) {
    const auto [sequence] = named(arguments, {"tup"});
    std::vector<Array> parts = parts_of(sequence);
    if (all_of_rank(parts, 1, 1)) return stacked(std::move(parts), 0);
    for (Array& part : parts)
      while (part.ndim() < 2) part = with_new_axis(part, 0);
    return Concatenate::joined(parts, 0, std::nullopt);
  }
};
struct HorizontalStack {
  static Array run(const Arguments& arguments) {
    const auto [sequence] = named(arguments, {"tup"});
    std::vector<Array> parts = parts_of(sequence);
    for (Array& part : parts)
      if (part.ndim() == 0) part = with_new_axis(part, 0);
    return Concatenate::joined(parts, parts[0].ndim() == 1 ? 0 : 1, std::nullopt);
  }
};
struct ColumnStack {
  static Array run(const Arguments& arguments) {
    const auto [sequence] = named(arguments, {"tup"});
    std::vector<Array> parts = parts_of(sequence);
    for (Array& part : parts)
      while (part.ndim() < 2) part = with_new_axis(part, static_cast<std::size_t>(part.ndim()));
    return Concatenate::joined(parts, 1, std::nullopt);
  }
};
struct DepthStack {
  static Array run(const Arguments& arguments) {
    const auto [sequence] = named(arguments, {"tup"});
    std::vector<Array> parts = parts_of(sequence);
    for (Array& part : parts) {
      while (part.ndim() < 2) part = with_new_axis(part, 0);
      if (part.ndim() == 2) part = with_new_axis(part, 2);
    }
    return Concatenate::joined(parts, 2, std::nullopt);
  }
};
struct Append {
  static Array run(const Arguments& arguments) {
    const auto [array, values, axis] = named(arguments, {"arr", "values", "axis"});
    if (!array || !values) throw Unfit{"append takes an array and values"};
    std::vector<Array> parts = {array_operand(array), array_operand(values)};
    if (is_given(axis)) {
      const int place = axis_operand(axis, parts[0].ndim());
      return Concatenate::joined(parts, static_cast<std::size_t>(place), std::nullopt);
    }
    for (Array& part : parts) part = raveled(part);
    return Concatenate::joined(parts, 0, std::nullopt);
  }
};

// block(arrays): a list of arrays with axes, or of such lists of matrices.
struct Block {
  static Array run(const Arguments& arguments) {
    const auto [blocks] = named(arguments, {"arrays"});
    if (!blocks || !PyList_CheckExact(blocks) || PyList_GET_SIZE(blocks) == 0)
      throw Unfit{"blocks of another kind"};
    if (!PyList_CheckExact(PyList_GET_ITEM(blocks, 0))) return row_of(blocks);
    std::vector<Array> rows;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(blocks); ++k)
      rows.push_back(row_of(PyList_GET_ITEM(blocks, k)));
    const int ndim = rows[0].ndim();
    if (!all_of_rank(rows, 2, ndim)) throw Unfit{"blocks of several ranks"};
    return Concatenate::joined(rows, static_cast<std::size_t>(ndim - 2), std::nullopt);
  }

 private:
  static Array row_of(PyObject* list) {
    if (!PyList_CheckExact(list)) throw Unfit{"blocks of another kind"};
    const std::vector<Array> parts = arrays_of(list);
    const int ndim = parts[0].ndim();
    if (ndim == 0 || !all_of_rank(parts, ndim, ndim)) throw Unfit{"blocks of several ranks"};
    return Concatenate::joined(parts, static_cast<std::size_t>(ndim - 1), std::nullopt);
  }
};

// meshgrid(*xi, sparse=False, indexing="xy") of vectors: a copy of each, along an axis of its own.
PyObject* meshgrid(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  return shortcut({&address_of<meshgrid>, {values, positional, names}}, [&] {
    const auto [sparse, indexing] = named({values + positional, 0, names}, {"sparse", "indexing"});
    const bool is_sparse = flag_operand(sparse, false);
    const bool is_xy = !indexing || is_name(indexing, "xy");
    if (!is_xy && !is_name(indexing, "ij")) return left_to_numpy();
    const auto count = static_cast<std::size_t>(positional);
    if (count > static_cast<std::size_t>(max_dimensions)) return left_to_numpy();
    const auto axis_of = [&](std::size_t k) { return is_xy && count > 1 && k < 2 ? 1 - k : k; };
    Shape shape(count);
    for (std::size_t k = 0; k < count; ++k) {
      if (!is_array(values[k]) || array_behind(values[k]).ndim() != 1) return left_to_numpy();
      shape[axis_of(k)] = array_behind(values[k]).size();
    }
    Ref grids = checked(PyTuple_New(positional));
    for (std::size_t k = 0; k < count; ++k) {
      const Array& x = array_behind(values[k]);
      Shape extents = is_sparse ? Shape(count, 1) : shape, strides(count, 0);
      extents[axis_of(k)] = x.size();
      strides[axis_of(k)] = x.strides()[0];
      PyTuple_SET_ITEM(grids.get(), static_cast<Py_ssize_t>(k),
                       new_array(copy(window(x, extents, strides, x.offset(), x.dtype()), 'C')));
    }
    return grids.release();
  });
}

template <class Join>
PyObject* join(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  return shortcut({&address_of<join<Join>>, arguments},
                  [&] { return new_array(Join::run(arguments)); });
}
template <class Join>
PyMethodDef join_row(const char* name) {
  return {name, as_c_function(join<Join>), METH_FASTCALL | METH_KEYWORDS, nullptr};
}

struct BroadcastTo {
  static constexpr const char* name = "broadcast_to";
  static PyObject* run(const Arguments& arguments) {
    const auto [object, shape, subok] = named(arguments, {"array", "shape", "subok"});
    if (!object || !shape) throw Unfit{"broadcast_to takes an array and a shape"};
    const Ref source =
        is_array(object) ? Ref::borrow(object) : Ref::steal(new_array(array_operand(object)));
    const Array& array = array_of(source.get()).array;
    const Shape wanted = shape_operand(shape);
    if (std::ranges::any_of(wanted, [](std::int64_t n) { return n < 0; }))
      throw Unfit{"all elements of broadcast shape must be non-negative"};
    PyObject* view = new_view(broadcast_to(array, wanted), array_of(source.get()));
    array_of(view).read_only = true;
    return view;
  }
};

struct CountNonzero {
  static constexpr const char* name = "count_nonzero";
  static PyObject* run(const Arguments& arguments) {
    const auto [object, axis, keepdims] = named(arguments, {"a", "axis", "keepdims"}, 2);
    if (!object) throw Unfit{"count_nonzero takes an array"};
    const Array array = array_operand(object);
    const Axes axes = axes_operand(axis, array.ndim());
    const bool keeps = flag_operand(keepdims, false);
    if (axes.all && !keeps) {
      evaluate(array);
      const std::int64_t count = count_nonzero(array);
      return make_scalar(reinterpret_cast<const std::byte*>(&count), DType::Int64);
    }
    const Array mask = is_bool(array.dtype()) ? array : astype(array, DType::Bool);
    return new_result(reduce(
        Op::Add, mask,
        {.axes = axes.span(), .all_axes = axes.all, .keepdims = keeps, .dtype = DType::Int64}));
  }
};

struct NonzeroFunction {
  static constexpr const char* name = "nonzero";
  static PyObject* run(const Arguments& arguments) {
    if (arguments.positional != 1 || arguments.keywords() != 0)
      throw Unfit{"nonzero takes an array"};
    return Where::indices(arguments.values[0]);
  }
};

struct DotFunction {
  static constexpr const char* name = "dot";
  static PyObject* run(const Arguments& arguments) {
    const auto [a, b, out] = named(arguments, {"a", "b", "out"});
    if (!a || !b) throw Unfit{"dot takes two arrays"};
    return dot_product(array_operand(a), b, out);
  }
};

struct MayShareMemory {
  static constexpr const char* name = "may_share_memory";
  static PyObject* run(const Arguments& arguments) {
    if (arguments.positional != 2 || !is_array(arguments.values[0]) ||
        !is_array(arguments.values[1]))
      throw Unfit{"memory of other objects"};
    return PyBool_FromLong(
        may_share_memory(array_of(arguments.values[0]).array, array_of(arguments.values[1]).array));
  }
};

// ---- to and from NumPy --------------------------------------------------------------------------

PyObject* to_numpy(PyObject*, PyObject* object) {
  note_source();
  return guarded([&] { return real_object(object).release(); });
}
PyObject* to_numpy_deep(PyObject*, PyObject* object) {
  note_source();
  return guarded([&] { return real_deep(object).release(); });
}
PyObject* wrap_result(PyObject*, PyObject* object) {
  // The caller's stack holds one reference of its own.
  return guarded([&] { return object_of_result(Ref::borrow(object), 1); });
}

// call_numpy(name, function, *args, **kwargs): one fallback, counted; with None for the name, not
// counted.
PyObject* call_numpy_function(PyObject*, PyObject* const* values, Py_ssize_t positional,
                              PyObject* names) {
  note_source();
  return guarded([&]() -> PyObject* {
    if (positional < 2 || (!PyUnicode_Check(values[0]) && values[0] != Py_None))
      raise(PyExc_TypeError, "call_numpy(name, function, *args, **kwargs)");
    if (values[0] == Py_None) return call_numpy(values[1], {values + 2, positional - 2, names});
    PyObject* name = Py_NewRef(values[0]);
    PyUnicode_InternInPlace(&name);
    const Ref kept = Ref::steal(name);
    return fall_back(PyUnicode_AsUTF8(kept.get()), values[1], {values + 2, positional - 2, names},
                     "this function is not native");
  });
}

}  // namespace

PyObject* dot_product(const Array& left, PyObject* other, PyObject* out) {
  Operand operand;
  if (!read_operand(other, operand)) throw Unfit{"an operand is of a foreign type"};
  operand.argument.weak = Weak::No;  // NumPy makes an array of a number here
  const int right_ndim = operand.argument.array ? operand.argument.array->ndim() : 0;
  if (right_ndim == 0 || left.ndim() == 0) {
    if (is_given(out)) throw Unfit{"dot of a number with out="};
    // The library adds the products to zeros, and none where the number is 0.
    const int ndim = std::max(left.ndim(), right_ndim);
    const DType type =
        operand.argument.array ? operand.argument.array->dtype() : operand.argument.scalar.dtype;
    const DType common = promote(left.dtype(), type);
    if ((ndim == 1 || ndim == 2) && is_inexact(common) && common != DType::Float16)
      throw Unfit{"BLAS multiplies by a number"};
    return new_result(apply(Op::Multiply, {left, operand.argument}));
  }
  const Array& right = *operand.argument.array;
  if (left.ndim() > 2 || right.ndim() > 2) throw Unfit{"dot with more than two dimensions"};
  const auto is_true_or_false = [&](const Array& a) {
    return a.ndim() == 1 && a.dtype() == DType::Bool && a.size() == right.size();
  };
  if (!is_given(out) && is_true_or_false(left) && is_true_or_false(right)) {
    if (std::optional<Array> product = bool_product(left, right)) return new_result(*product);
    return new_result(reduce(Op::LogicalOr, apply(Op::LogicalAnd, {left, right})));
  }
  note_ufunc("dot");
  if (!is_given(out)) return new_result(dot(left, right));
  const Array target = target_operand(out);
  if (target.dtype() != promote(left.dtype(), right.dtype()) || !target.c_contiguous())
    throw Unfit{"dot into another kind of array"};
  dot(left, right, &target);
  return Py_NewRef(out);
}

Array stacked_arrays(PyObject* sequence) {
  std::vector<Array> arrays = arrays_of(sequence);
  for (const Array& array : arrays)
    if ((!array.c_contiguous() && array.ndim() > 1) || array.size() == 0)
      throw Unfit{"the result is in C order"};
  return stacked(std::move(arrays), 0);
}

std::vector<PyMethodDef> joining_shortcuts() {
  return {join_row<Stack>("stack"),
          join_row<VerticalStack>("vstack"),
          join_row<HorizontalStack>("hstack"),
          join_row<ColumnStack>("column_stack"),
          join_row<DepthStack>("dstack"),
          join_row<Append>("append"),
          join_row<Block>("block"),
          plain_row("meshgrid", meshgrid)};
}

std::vector<PyMethodDef> array_functions() {
  return {function_row<Where>(),
          function_row<CopyTo>(),
          function_row<Concatenate>(),
          function_row<BroadcastTo>(),
          function_row<CountNonzero>(),
          function_row<NonzeroFunction>(),
          function_row<DotFunction>(),
          function_row<MayShareMemory>(),
          {"to_numpy", to_numpy, METH_O, nullptr},
          {"to_numpy_deep", to_numpy_deep, METH_O, nullptr},
          {"wrap_result", wrap_result, METH_O, nullptr},
          plain_row("call_numpy", call_numpy_function)};
}

}  // namespace frit::python
