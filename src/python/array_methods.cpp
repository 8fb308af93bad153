// array_methods.cpp: the methods of Array that shape, copy, convert and pick.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "front/dense.h"
#include "python/array_type.h"
#include "python/flags.h"
#include "python/float_state.h"
#include "python/functions.h"
#include "python/indexing.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/reductions.h"
#include "python/ufunc_type.h"

namespace frit::python {
namespace {

bool is_given(PyObject* object) { return object && object != Py_None; }

// f(1, 2, 3) or f((1, 2, 3)); one None counts as nothing given.
Shape integers_of(const Arguments& arguments) {
  if (arguments.positional == 1) return shape_operand(arguments.values[0]);
  Shape result;
  for (Py_ssize_t k = 0; k < arguments.positional; ++k)
    result.push_back(integer_operand(arguments.values[k]));
  return result;
}

PyObject* view_or_new(Reshaped result, PyObject* self) {
  if (result.is_view) return new_view(std::move(result.array), array_of(self));
  return new_array(std::move(result.array));
}

struct Reshape {
  static constexpr const char* name = "reshape";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    char order = 'C';
    for (Py_ssize_t k = 0; k < arguments.keywords(); ++k) {
      PyObject* keyword = PyTuple_GET_ITEM(arguments.names, k);
      PyObject* value = arguments.values[arguments.positional + k];
      if (PyUnicode_CompareWithASCIIString(keyword, "order") == 0) {
        order = order_operand(value, 'C');
      } else if (PyUnicode_CompareWithASCIIString(keyword, "copy") != 0 || value != Py_None) {
        throw Unfit{"reshape with copy="};
      }
    }
    if (arguments.positional == 0) throw Unfit{"reshape without a shape"};
    return view_or_new(reshaped(array_behind(self), integers_of(arguments), order), self);
  }
};

struct Ravel {
  static constexpr const char* name = "ravel";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [order] = named(arguments, {"order"});
    const Array& array = array_behind(self);
    char layout = order_operand(order, 'C');
    if (array.ndim() == 1 && array.c_contiguous()) return new_view(Array(array), array_of(self));
    if (layout == 'K') {
      if (!array.c_contiguous() && !array.f_contiguous()) throw Unfit{"ravel in memory order"};
      layout = 'A';
    }
    // Other than reshape, ravel copies even what one stride runs over.
    const bool dense = layout == 'C'   ? array.c_contiguous()
                       : layout == 'F' ? array.f_contiguous()
                                       : array.c_contiguous() || array.f_contiguous();
    if (!dense) return new_array(reshaped(copy(array, layout), {array.size()}, layout).array);
    if (array.c_contiguous() && array.ndim() > 0 && layout != 'F') {
      const std::int64_t shape[1] = {array.size()}, strides[1] = {size_of(array.dtype())};
      return new_view(window(array, shape, strides, array.offset(), array.dtype()), array_of(self));
    }
    return view_or_new(reshaped(array, {array.size()}, layout), self);
  }
};

// ravel() of what lies in C order: no step of a program, so its line is not looked up.
PyObject* ravel(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Layout& layout = *array_behind(self).layout();
  if (positional > 0 || names || !layout.c_contiguous() || layout.ndim() == 0)
    return method<Ravel>(self, values, positional, names);
  return guarded([&] { return Ravel::run(self, {values, 0, nullptr}); });
}

struct Flatten {
  static constexpr const char* name = "flatten";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [order] = named(arguments, {"order"});
    const Array& array = array_behind(self);
    char layout = order_operand(order, 'C');
    if (layout == 'K') {
      if (!array.c_contiguous() && !array.f_contiguous()) throw Unfit{"flatten in memory order"};
      layout = 'A';
    }
    const bool fortran =
        layout == 'F' || (layout == 'A' && array.f_contiguous() && !array.c_contiguous());
    return new_array(
        reshaped(copy(array, fortran ? 'F' : 'C'), {array.size()}, fortran ? 'F' : 'C').array);
  }
};

struct Transpose {
  static constexpr const char* name = "transpose";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.keywords() != 0) throw Unfit{"transpose with keywords"};
    const Array& array = array_behind(self);
    if (arguments.positional == 0 || (arguments.positional == 1 && arguments.values[0] == Py_None))
      return new_view(reversed_axes(array), array_of(self));
    const Shape given = integers_of(arguments);
    if (static_cast<int>(given.size()) != array.ndim()) throw Unfit{"axes don't match array"};
    std::vector<int> axes;
    std::uint64_t seen = 0;
    for (std::int64_t axis : given) {
      const std::int64_t normal = axis < 0 ? axis + array.ndim() : axis;
      if (normal < 0 || normal >= array.ndim() || (seen >> normal & 1))
        throw Unfit{"axes don't match array"};
      seen |= std::uint64_t{1} << normal;
      axes.push_back(static_cast<int>(normal));
    }
    return new_view(transpose(array, axes), array_of(self));
  }
};

struct SwapAxes {
  static constexpr const char* name = "swapaxes";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [first, second] = named(arguments, {"axis1", "axis2"});
    if (!first || !second) throw Unfit{"swapaxes takes two axes"};
    const Array& array = array_behind(self);
    std::vector<int> axes(static_cast<std::size_t>(array.ndim()));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[static_cast<std::size_t>(axis_operand(first, array.ndim()))],
              axes[static_cast<std::size_t>(axis_operand(second, array.ndim()))]);
    return new_view(transpose(array, axes), array_of(self));
  }
};

struct Squeeze {
  static constexpr const char* name = "squeeze";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    const auto [axis] = named(arguments, {"axis"});
    const Axes axes = axes_operand(axis, array.ndim());
    const bool any = !is_given(axis);
    Shape shape, strides;
    for (int k = 0; k < array.ndim(); ++k) {
      const auto extent = array.shape()[static_cast<std::size_t>(k)];
      const bool named_axis =
          !any && (axes.all || std::ranges::find(axes.axes, k) != axes.axes.end());
      if (named_axis && extent != 1)
        throw Unfit{"cannot select an axis to squeeze out which has size not equal to one"};
      if (named_axis || (any && extent == 1)) continue;
      shape.push_back(extent);
      strides.push_back(array.strides()[static_cast<std::size_t>(k)]);
    }
    if (static_cast<int>(shape.size()) == array.ndim()) return Py_NewRef(self);
    return new_view(window(array, shape, strides, array.offset(), array.dtype()), array_of(self));
  }
};

// squeeze() where no axis has one element.
PyObject* squeeze(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const auto shape = array_behind(self).layout()->shape();
  if (positional == 0 && !names && std::ranges::find(shape, 1) == shape.end())
    return Py_NewRef(self);
  return method<Squeeze>(self, values, positional, names);
}

struct AsType {
  static constexpr const char* name = "astype";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [dtype, order, casting, subok, copies] =
        named(arguments, {"dtype", "order", "casting", "subok", "copy"});
    const std::optional<DType> wanted = requested_dtype(dtype);
    if (!wanted) throw Unfit{"astype without a dtype"};
    if (casting && PyUnicode_Check(casting) &&
        PyUnicode_CompareWithASCIIString(casting, "unsafe") != 0)
      throw Unfit{"astype with casting="};
    const Array& array = array_behind(self);
    if (is_inexact(*wanted) && size_of(*wanted) < size_of(array.dtype()))
      leave_underflow_to_numpy();
    const char layout = order_operand(order, 'K');
    const bool loses_part = is_complex(array.dtype()) && !is_complex(*wanted) && !is_bool(*wanted);
    // Which integer stands for what fits none is the loop's choice; of int64 there is only one.
    if (loses_part && is_integer(*wanted) && *wanted != DType::Int64)
      throw Unfit{"complex values lose their imaginary part"};
    if (loses_part)
      checked_status(PyErr_WarnEx(complex_warning(),
                                  "Casting complex values to real discards the imaginary part", 1));
    if (!flag_operand(copies, true) && *wanted == array.dtype()) {
      const bool fits =
          layout == 'K' || (layout == 'A' && (array.c_contiguous() || array.f_contiguous())) ||
          (layout == 'C' && array.c_contiguous()) || (layout == 'F' && array.f_contiguous());
      if (fits) return Py_NewRef(self);
    }
    return new_array(astype(array, *wanted, layout));
  }

 private:
  static PyObject* complex_warning() {
    static PyObject* const found =
        checked(PyObject_GetAttrString(checked(PyImport_ImportModule("numpy.exceptions")).get(),
                                       "ComplexWarning"))
            .release();
    return found;
  }
};

struct Copy {
  static constexpr const char* name = "copy";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [order] = named(arguments, {"order"});
    return new_array(copy(array_behind(self), order_operand(order, 'C')));
  }
};

struct Fill {
  static constexpr const char* name = "fill";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [value] = named(arguments, {"value"});
    if (!value) throw Unfit{"fill takes a value"};
    check_writable(array_of(self));
    const Array& array = array_behind(self);
    const std::optional<Scalar> element = element_value(value, array.dtype());
    if (!element) throw Unfit{"a value needs NumPy's conversion"};
    assign_window(array, array.shape(), array.strides(), array.offset(), *element);
    return Py_NewRef(Py_None);
  }
};

struct ToFile {
  static constexpr const char* name = "tofile";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    return call_on_real(name, self, arguments);
  }
};
struct ToBytes {
  static constexpr const char* name = "tobytes";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    if (arguments.positional + arguments.keywords() > 0 || !array.c_contiguous())
      return call_on_real(name, self, arguments);
    const std::byte* data = evaluate(array);
    return checked(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(data),
                                             array.size() * size_of(array.dtype())))
        .release();
  }
};
template <class T>
T element_at(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <class T>
PyObject* item_at(const std::byte* data) {
  const T value = element_at<T>(data);
  if constexpr (std::is_floating_point_v<T>)
    return PyFloat_FromDouble(static_cast<double>(value));
  else if constexpr (std::is_signed_v<T>)
    return PyLong_FromLong(value);
  else
    return PyLong_FromUnsignedLong(value);
}

template <class T>
PyObject* complex_at(const std::byte* data) {
  return PyComplex_FromDoubles(static_cast<double>(element_at<T>(data)),
                               static_cast<double>(element_at<T>(data + sizeof(T))));
}

PyObject* bool_at(const std::byte* data) { return PyBool_FromLong(data[0] != std::byte{}); }

PyObject* half_at(const std::byte* data) {
  double value;
  void* args[2] = {&value, const_cast<std::byte*>(data)};
  cast_loop(DType::Float16, DType::Float64)(args, 1, 0);
  return PyFloat_FromDouble(value);
}

using ItemMaker = PyObject* (*)(const std::byte*);
ItemMaker item_maker(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return bool_at;
    case DType::Int8:
      return item_at<std::int8_t>;
    case DType::Int16:
      return item_at<std::int16_t>;
    case DType::Int32:
      return item_at<std::int32_t>;
    case DType::Int64:
      return item_at<std::int64_t>;
    case DType::UInt8:
      return item_at<std::uint8_t>;
    case DType::UInt16:
      return item_at<std::uint16_t>;
    case DType::UInt32:
      return item_at<std::uint32_t>;
    case DType::UInt64:
      return item_at<std::uint64_t>;
    case DType::Float16:
      return half_at;
    case DType::Float32:
      return item_at<float>;
    case DType::Float64:
      return item_at<double>;
    case DType::Complex64:
      return complex_at<float>;
    case DType::Complex128:
      return complex_at<double>;
  }
  return nullptr;
}

// Python objects of the elements of an axis and those behind it, as nested lists.
PyObject* list_of(const std::byte* data, const Layout& layout, std::size_t axis, ItemMaker item) {
  const std::int64_t extent = layout.shape()[axis], stride = layout.strides()[axis];
  const bool is_last = axis + 1 == layout.shape().size();
  Ref list = checked(PyList_New(extent));
  for (std::int64_t k = 0; k < extent; ++k, data += stride) {
    PyObject* const element = is_last ? item(data) : list_of(data, layout, axis + 1, item);
    if (!element) throw PythonError{};
    PyList_SET_ITEM(list.get(), k, element);
  }
  return list.release();
}

struct Item {
  static constexpr const char* name = "item";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    std::int64_t offset = 0;
    if (arguments.positional == 0 && arguments.keywords() == 0) {
      if (array.size() != 1) throw Unfit{"can only convert an array of size 1 to a Python scalar"};
    } else {
      if (arguments.keywords() != 0) throw Unfit{"item with keywords"};
      const Shape index = integers_of(arguments);
      if (index.size() == 1 && array.ndim() != 1) throw Unfit{"item by flat index"};
      if (static_cast<int>(index.size()) != array.ndim())
        throw Unfit{"incorrect number of indices for array"};
      for (std::size_t k = 0; k < index.size(); ++k) {
        const std::int64_t normal = index[k] < 0 ? index[k] + array.shape()[k] : index[k];
        if (normal < 0 || normal >= array.shape()[k]) throw Unfit{"index is out of bounds"};
        offset += normal * array.strides()[k];
      }
    }
    return checked(item_maker(array.dtype())(evaluate(array) + offset)).release();
  }
};

struct ToList {
  static constexpr const char* name = "tolist";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional > 0 || arguments.keywords() > 0) throw Unfit{"tolist takes nothing"};
    // Held: making objects may run the collector, and with it code of the user's.
    const Array array = array_behind(self);
    const std::byte* data = evaluate(array);
    const ItemMaker item = item_maker(array.dtype());
    if (array.ndim() == 0) return checked(item(data)).release();
    return list_of(data, *array.layout(), 0, item);
  }
};

struct View {
  static constexpr const char* name = "view";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [dtype, type] = named(arguments, {"dtype", "type"});
    const Array& array = array_behind(self);
    const bool same_class = !type || type == as_object(array_type) || type == numpy.ndarray;
    if (!same_class) throw Unfit{"a view of another class"};
    if (!dtype || dtype == as_object(array_type) || dtype == numpy.ndarray)
      return new_view(Array(array), array_of(self));
    const std::optional<DType> wanted = requested_dtype(dtype);
    if (!wanted) throw Unfit{"a view of another class"};
    if (size_of(*wanted) != size_of(array.dtype())) return resized(array, *wanted, self);
    return new_view(window(array, array.shape(), array.strides(), array.offset(), *wanted),
                    array_of(self));
  }

 private:
  // Elements of another size, where all lie at multiples of it: one split into several, or several
  // made one.
  static PyObject* resized(const Array& array, DType wanted, PyObject* self) {
    const std::int64_t item = size_of(wanted);
    const auto is_whole = [item](std::int64_t bytes) { return bytes % item == 0; };
    Shape shape(array.shape().begin(), array.shape().end()),
        strides(array.strides().begin(), array.strides().end());
    const bool may_be_split = !is_bool(wanted) && array.size() > 0 && array.ndim() > 0 &&
                              strides.back() == size_of(array.dtype());
    if (!may_be_split || (item > strides.back() && array.base()->foreign))
      throw Unfit{"a view with another item size"};
    shape.back() *= std::exchange(strides.back(), item);
    if (!is_whole(array.offset()) || !is_whole(shape.back()) ||
        !std::ranges::all_of(strides, is_whole))
      throw Unfit{"a view with another item size"};
    shape.back() /= item;
    return new_view(window(array, shape, strides, array.offset(), wanted), array_of(self));
  }
};

struct Dot {
  static constexpr const char* name = "dot";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [other, out] = named(arguments, {"b", "out"});
    if (!other) throw Unfit{"dot takes an array"};
    return dot_product(array_behind(self), other, out);
  }
};

struct Clip {
  static constexpr const char* name = "clip";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    auto [low, high, out] = named(arguments, {"min", "max", "out"});
    const Array& array = array_behind(self);
    // Python integers at or beyond the type's limits bound nothing.
    if (is_integer(array.dtype())) {
      const auto unbounded = [&](PyObject* bound) {
        return bound && PyLong_CheckExact(bound) && !element_value(bound, array.dtype());
      };
      if (unbounded(low) || unbounded(high)) throw Unfit{"clip by integers beyond the dtype"};
    }
    Operand x, y;
    if (is_given(low) && !read_operand(low, x)) throw Unfit{"an operand is of a foreign type"};
    if (is_given(high) && !read_operand(high, y)) throw Unfit{"an operand is of a foreign type"};
    const Array result = !is_given(low) && !is_given(high) ? apply(Op::Positive, {array})
                         : !is_given(low)                  ? apply(Op::Minimum, {array, y.argument})
                         : !is_given(high)                 ? apply(Op::Maximum, {array, x.argument})
                                                           : clipped(array, x.argument, y.argument);
    if (!is_given(out)) return new_result(result);
    const Array target = target_operand(out);
    if (target.dtype() != result.dtype() || !std::ranges::equal(target.shape(), result.shape()))
      throw Unfit{"clip into another kind of array"};
    assign(target, result);
    return Py_NewRef(out);
  }
};

struct Take {
  static constexpr const char* name = "take";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [indices, axis, out, mode] = named(arguments, {"indices", "axis", "out", "mode"});
    if (!indices || is_given(out)) throw Unfit{"take with out="};
    if (is_given(mode) &&
        (!PyUnicode_Check(mode) || PyUnicode_CompareWithASCIIString(mode, "raise") != 0))
      throw Unfit{"take with mode="};
    const Array& array = array_behind(self);
    const Array index = array_operand(indices);
    if (!is_integer(index.dtype())) throw Unfit{"take by other than integers"};
    if (is_given(axis))
      return new_result(take_along(array, index, axis_operand(axis, array.ndim())));
    return new_result(take_along(raveled(array), index, 0));
  }
};

struct Repeat {
  static constexpr const char* name = "repeat";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [repeats, axis] = named(arguments, {"repeats", "axis"});
    if (repeats && is_array(repeats)) return by_counts(array_behind(self), axis, repeats);
    if (!repeats || !PyLong_CheckExact(repeats)) throw Unfit{"repeat by a sequence"};
    const std::int64_t count = integer_operand(repeats);
    if (count < 0) throw Unfit{"repeats may not contain negative values."};
    Array source = array_behind(self);
    int along = 0;
    if (is_given(axis))
      along = axis_operand(axis, source.ndim());
    else
      source = raveled(source);
    // Each element as a run of `count`: one more axis with stride 0, copied and folded into its
    // neighbour.
    const auto at = static_cast<std::ptrdiff_t>(along) + 1;
    Shape shape(source.shape().begin(), source.shape().end()),
        strides(source.strides().begin(), source.strides().end());
    Shape folded = shape;
    folded[static_cast<std::size_t>(along)] *= count;
    shape.insert(shape.begin() + at, count);
    strides.insert(strides.begin() + at, 0);
    const Array runs = window(source, shape, strides, source.offset(), source.dtype());
    return new_array(reshaped(copy(runs, 'C'), folded, 'C').array);
  }

 private:
  static PyObject* by_counts(const Array& array, PyObject* axis, PyObject* counts) {
    const bool is_flat = !is_given(axis) || array.ndim() == 1;
    if (is_given(axis)) axis_operand(axis, array.ndim());
    if (is_flat) {
      const Array flat = raveled(array);
      if (std::optional<Array> repeated = repeat_dense(flat, array_behind(counts)))
        return new_array(*std::move(repeated));
    }
    throw Unfit{"repeat by other counts"};
  }
};

struct Nonzero {
  static constexpr const char* name = "nonzero";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional + arguments.keywords() != 0) throw Unfit{"nonzero takes no arguments"};
    const Array& array = array_behind(self);
    if (array.ndim() == 0) throw Unfit{"nonzero of a 0-d array"};
    evaluate(array);
    std::vector<Array> indices = nonzero(array);
    const Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(indices.size())));
    const Ref table = table_of(indices);
    for (std::size_t k = 0; k < indices.size(); ++k)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k),
                       new_view(std::move(indices[k]), array_of(table.get())));
    return Py_NewRef(tuple.get());
  }
};

struct Conjugate {
  static constexpr const char* name = "conjugate";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional + arguments.keywords() != 0) throw Unfit{"conjugate with out="};
    if (!is_complex(array_behind(self).dtype())) return Py_NewRef(self);
    return new_result(apply(Op::Conjugate, {array_behind(self)}));
  }
};

struct Round {
  static constexpr const char* name = "round";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [decimals, given] = named(arguments, {"decimals", "out"});
    const Array& array = array_behind(self);
    const std::int64_t places = decimals ? integer_operand(decimals) : 0;
    constexpr int most_places = 22;  // powers of ten up to here are exact
    if (is_given(given) || is_complex(array.dtype()) || is_bool(array.dtype()) ||
        std::abs(places) > most_places || (is_integer(array.dtype()) && places < 0))
      throw Unfit{"round of this type or so far"};
    if (is_integer(array.dtype())) return new_result(copy(array, 'K'));
    if (places == 0) return new_result(apply(Op::Rint, {array}));
    // NumPy's steps, to the last bit.
    const Argument factor(std::pow(10.0, static_cast<double>(std::abs(places))));
    const Op there = places > 0 ? Op::Multiply : Op::TrueDivide;
    const Op back = places > 0 ? Op::TrueDivide : Op::Multiply;
    const Array scaled = apply(Op::Rint, {apply(there, {array, factor})});
    // The result is in C order, unless the array is in Fortran's.
    std::optional<Array> out;
    if (!array.c_contiguous() && !array.f_contiguous()) out = empty(array.shape(), array.dtype());
    return new_result(apply(back, {scaled, factor}, {.out = out ? &*out : nullptr}));
  }
};

struct Diagonal {
  static constexpr const char* name = "diagonal";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [offset, first, second] = named(arguments, {"offset", "axis1", "axis2"});
    PyObject* view = new_view(of(array_behind(self), offset, first, second), array_of(self));
    array_of(view).read_only = true;
    return view;
  }

  static Array of(const Array& array, PyObject* offset, PyObject* first, PyObject* second) {
    if (array.ndim() < 2) throw Unfit{"diag requires an array of at least two dimensions"};
    const auto one = static_cast<std::size_t>(first ? axis_operand(first, array.ndim()) : 0);
    const auto two = static_cast<std::size_t>(second ? axis_operand(second, array.ndim()) : 1);
    if (one == two) throw Unfit{"axis1 and axis2 cannot be the same"};
    return diagonal(array, offset ? integer_operand(offset) : 0, one, two);
  }
};

struct Trace {
  static constexpr const char* name = "trace";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [offset, first, second, dtype, out] =
        named(arguments, {"offset", "axis1", "axis2", "dtype", "out"});
    return reduce_native(Op::Add, Diagonal::of(array_behind(self), offset, first, second),
                         {.axis = last_axis(), .dtype = dtype, .out = out});
  }

  static PyObject* last_axis() {
    static PyObject* const last = PyLong_FromLong(-1);
    return last;
  }
};

// linalg.trace(x, *, offset=0, dtype=None): of the last two axes.
struct MatrixTrace {
  static constexpr const char* name = "linalg.trace";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    if (arguments.positional > 0 || array.ndim() < 2) return left_to_numpy();
    const auto [offset, dtype] = named(arguments, {"offset", "dtype"});
    const auto last = static_cast<std::size_t>(array.ndim() - 1);
    const Array along = diagonal(array, offset ? integer_operand(offset) : 0, last - 1, last);
    return reduce_native(Op::Add, along, {.axis = Trace::last_axis(), .dtype = dtype});
  }
};

struct SetFlags {
  static constexpr const char* name = "setflags";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [write, align, uic] = named(arguments, {"write", "align", "uic"});
    return set_array_flags(self, write, align, uic);
  }
};

struct Resize {
  static constexpr const char* name = "resize";

  static Shape new_shape(const Array& old, const Arguments& arguments) {
    try {
      Shape shape = integers_of(arguments);
      if (!old.c_contiguous() && !old.f_contiguous())
        raise(PyExc_ValueError, "resize only works on single-segment arrays");
      std::int64_t size = 1;
      bool fits = true;
      for (std::int64_t extent : shape)
        fits &= extent >= 0 && !__builtin_mul_overflow(size, extent, &size);
      if (fits) return shape;
    } catch (const Unfit&) {
    }
    refuse(arguments);
  }

  // An array of NumPy's own has the words for it.
  [[noreturn]] static void refuse(const Arguments& arguments) {
    npy_intp none = 0;
    const Ref stand_in = checked(PyArray_SimpleNew(1, &none, NPY_DOUBLE));
    std::vector<PyObject*> values{stand_in.get()};
    values.insert(values.end(), arguments.values,
                  arguments.values + arguments.positional + arguments.keywords());
    checked(PyObject_Vectorcall(ndarray_method(name), values.data(),
                                static_cast<std::size_t>(arguments.positional) + 1,
                                arguments.names));
    throw Unfit{"resize to another shape"};
  }

  // In the words of the installed NumPy.
  [[noreturn]] static void refuse_referenced() {
    npy_intp one = 1;
    const Ref stand_in = checked(PyArray_SimpleNew(1, &one, NPY_DOUBLE));
    const Ref references[] = {Ref::borrow(stand_in.get()), Ref::borrow(stand_in.get())};
    checked(PyObject_CallMethod(references[0].get(), "resize", "i", 2));
    raise(PyExc_ValueError, "cannot resize an array that is referenced");
  }

  static PyObject* run(PyObject* self, const Arguments& arguments) {
    bool checks_references = true;
    for (Py_ssize_t k = 0; k < arguments.keywords(); ++k) {
      PyObject* value = arguments.values[arguments.positional + k];
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(arguments.names, k), "refcheck") != 0 ||
          !(PyBool_Check(value) || PyLong_Check(value)))
        refuse(arguments);
      checks_references = PyObject_IsTrue(value) == 1;
    }
    if (arguments.positional == 0) return Py_NewRef(Py_None);
    ArrayObject& object = array_of(self);
    const Array& old = object.array;
    Shape shape = new_shape(old, arguments);
    std::int64_t size = 1;
    for (std::int64_t extent : shape) size *= extent;
    // It keeps its order: what the memory holds is gone through as before.
    const bool is_fortran = old.f_contiguous() && !old.c_contiguous();
    if (is_fortran) std::ranges::reverse(shape);
    const auto in_order = [&] { return is_fortran ? reversed_axes(old) : old; };
    const auto set = [&](Array made) {
      object.array = is_fortran ? reversed_axes(made) : std::move(made);
      return Py_NewRef(Py_None);
    };
    if (size == old.size()) return set(*reshape_window(in_order(), shape));
    if (!owns_data(object))
      raise(PyExc_ValueError, "cannot resize this array: it does not own its data");
    // What a look at its address has left (x.ctypes) is no reference, unless somebody has it.
    if (object.pinned && Py_REFCNT(object.pinned) == 1) Py_CLEAR(object.pinned);
    // The caller's own two: the name of the array, and the call.
    const bool is_referenced = Py_REFCNT(self) > 2 || object.weak_references != nullptr;
    if (checks_references && (is_referenced || old.base()->handles > 1)) refuse_referenced();
    const Array made = full(shape, Scalar{.dtype = old.dtype()});
    const std::int64_t kept[1] = {std::min(old.size(), made.size())};
    const std::int64_t stride[1] = {size_of(old.dtype())};
    if (kept[0] > 0) {
      const Array from = in_order();
      assign(window(made, kept, stride, 0, made.dtype()),
             window(from, kept, stride, from.offset(), from.dtype()));
    }
    return set(made);
  }
};

}  // namespace

Reshaped reshaped(const Array& array, Shape shape, char order) {
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& extent : shape) {
    if (extent == -1) {
      if (open) throw Unfit{"can only specify one unknown dimension"};
      open = &extent;
    } else if (extent < 0) {
      throw Unfit{"negative dimensions are not allowed"};
    } else if (__builtin_mul_overflow(known, extent, &known)) {
      throw Unfit{"cannot reshape array"};
    }
  }
  if (open) {
    if (known == 0 || array.size() % known != 0) throw Unfit{"cannot reshape array"};
    *open = array.size() / known;
    known *= *open;
  }
  if (known != array.size()) throw Unfit{"cannot reshape array"};
  const bool fortran =
      order == 'F' || (order == 'A' && array.f_contiguous() && !array.c_contiguous());
  if (fortran) {
    // In Fortran order a reshape is a C-order reshape of the transposes.
    std::ranges::reverse(shape);
    Reshaped turned = reshaped(reversed_axes(array), shape, 'C');
    return {reversed_axes(turned.array), turned.is_view};
  }
  if (std::optional<Array> view = reshape_window(array, shape)) return {std::move(*view), true};
  return {*reshape_window(copy(array, 'C'), shape), false};
}

namespace {

// NumPy's functions take fewer forms of arguments than the methods.
struct ClipFunction {
  static constexpr const char* name = "clip";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional == 1) throw Unfit{"clip by one bound"};
    return Clip::run(self, arguments);
  }
};
struct TransposeFunction {
  static constexpr const char* name = "transpose";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional > 1) throw Unfit{"transpose by several arguments"};
    return Transpose::run(self, arguments);
  }
};

}  // namespace

PyObject* nonzero_places(PyObject* array) { return Nonzero::run(array, {}); }

Ref table_of(const std::vector<Array>& indices) {
  const std::int64_t shape[2] = {indices[0].size(), std::ssize(indices)},
                     strides[2] = {8 * shape[1], 8};
  return Ref::steal(new_array(window(indices[0], shape, strides, 0, DType::Int64)));
}

std::vector<PyMethodDef> array_shortcuts() {
  return {shortcut_row<ClipFunction>(),
          shortcut_row<Diagonal>(),
          shortcut_row<Nonzero>(),
          shortcut_row<Ravel>(),
          shortcut_row<Repeat>(),
          shortcut_row<Round>(),
          shortcut_row<Round>("around"),
          shortcut_row<Squeeze>(),
          shortcut_row<SwapAxes>(),
          shortcut_row<Take>(),
          shortcut_row<Trace>(),
          shortcut_row<MatrixTrace>(),
          shortcut_row<TransposeFunction>()};
}

std::vector<PyMethodDef> array_methods() {
  return {method_row<Reshape>(),   plain_row("ravel", ravel),
          method_row<Flatten>(),   method_row<Transpose>(),
          method_row<SwapAxes>(),  plain_row("squeeze", squeeze),
          method_row<AsType>(),    method_row<Copy>(),
          compress_method(),       choose_method(),
          method_row<Fill>(),      method_row<Item>(),
          method_row<View>(),      method_row<Dot>(),
          method_row<Clip>(),      method_row<Take>(),
          method_row<Repeat>(),    method_row<Nonzero>(),
          method_row<Conjugate>(), method_row<Conjugate>("conj"),
          method_row<Round>(),     method_row<Diagonal>(),
          method_row<Trace>(),     method_row<SetFlags>(),
          method_row<Resize>(),    method_row<ToList>(),
          method_row<ToBytes>(),   method_row<ToFile>()};
}

}  // namespace frit::python
