// view_shortcuts.cpp: shortcuts of functions that give views: other axes, in another order.
#include <algorithm>
#include <array>
#include <numeric>

#include "python/array_type.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/sequences.h"

namespace frit::python {

Array flipped(const Array& array, std::span<const int> axes) {
  Shape strides(array.strides().begin(), array.strides().end());
  std::int64_t offset = array.offset();
  for (const int axis : axes) {
    const auto k = static_cast<std::size_t>(axis);
    if (array.size() > 0) offset += (array.shape()[k] - 1) * strides[k];
    strides[k] = -strides[k];
  }
  return window(array, array.shape(), strides, offset, array.dtype());
}

namespace {

struct AtLeast1D {
  static constexpr const char* name = "atleast_1d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    if (array_behind(self).ndim() == 0) throw Unfit{"no axis"};
    return Py_NewRef(self);
  }
};

// The view whose axes are those of the array, or new ones (-1): as a[None, :] has it.
template <std::size_t ndim>
PyObject* with_new_axes(PyObject* self, const std::array<int, ndim>& axes) {
  const Array& array = array_behind(self);
  std::array<std::int64_t, ndim> shape, strides;
  for (std::size_t k = 0; k < ndim; ++k) {
    const auto axis = static_cast<std::size_t>(axes[k]);
    shape[k] = axes[k] < 0 ? 1 : array.shape()[axis];
    strides[k] = axes[k] < 0 ? 0 : array.strides()[axis];
  }
  return new_view(window(array, shape, strides, array.offset(), array.dtype()), array_of(self));
}

struct AtLeast2D {
  static constexpr const char* name = "atleast_2d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (array.ndim() >= 2) return Py_NewRef(self);
    if (array.ndim() == 0) throw Unfit{"no axis"};
    return with_new_axes<2>(self, {-1, 0});
  }
};

struct AtLeast3D {
  static constexpr const char* name = "atleast_3d";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    switch (array_behind(self).ndim()) {
      case 0:
        throw Unfit{"no axis"};
      case 1:
        return with_new_axes<3>(self, {-1, 0, -1});
      case 2:
        return with_new_axes<3>(self, {0, 1, -1});
      default:
        return Py_NewRef(self);
    }
  }
};

// atleast_1d(number).
PyObject* atleast_1d(PyObject* module, PyObject* const* values, Py_ssize_t positional,
                     PyObject* names) {
  if (positional == 1 && !names && (PyFloat_CheckExact(values[0]) || PyLong_CheckExact(values[0])))
    return guarded([&] {
      const std::optional<Array> number = array_of_numbers(values[0]);
      if (!number) return left_to_numpy();
      const Ref whole = Ref::steal(new_array(*number));
      const std::int64_t shape[1] = {1};
      return new_view(*reshape_window(*number, shape), array_of(whole.get()));
    });
  return method_shortcut<AtLeast1D>(module, values, positional, names);
}

struct Flip {
  static constexpr const char* name = "flip";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [axis] = named(arguments, {"axis"});
    const Array& array = array_behind(self);
    if (array.ndim() == 0) throw Unfit{"no axis"};
    Axes along = axes_operand(axis, array.ndim());
    if (along.all) {
      along.axes.resize(static_cast<std::size_t>(array.ndim()));
      std::iota(along.axes.begin(), along.axes.end(), 0);
    }
    return new_view(flipped(array, along.axes), array_of(self));
  }
};

// flipud and fliplr.
template <int axis>
struct FlipAlong {
  static constexpr const char* name = axis == 0 ? "flipud" : "fliplr";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    const Array& array = array_behind(self);
    if (array.ndim() <= axis) throw Unfit{"too few axes"};
    return new_view(flipped(array, std::array{axis}), array_of(self));
  }
};

// rot90(m, k=1), of the first two axes.
struct Rotate {
  static constexpr const char* name = "rot90";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [times] = named(arguments, {"k"});
    const std::optional<std::int64_t> given = times ? word_of(times) : 1;
    const Array& array = array_behind(self);
    if (!given || array.ndim() < 2) return left_to_numpy();
    const std::int64_t quarters = *given & 3;
    std::vector<int> turned_axes;
    if (quarters == 1 || quarters == 2) turned_axes.push_back(1);
    if (quarters == 2 || quarters == 3) turned_axes.push_back(0);
    Array turned = flipped(array, turned_axes);
    if (quarters % 2 == 1) {
      std::vector<int> order(static_cast<std::size_t>(array.ndim()));
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[0], order[1]);
      turned = transpose(turned, order);
    }
    return new_view(std::move(turned), array_of(self));
  }
};

// rollaxis(a, axis, start=0).
struct RollAxis {
  static constexpr const char* name = "rollaxis";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [axis, before] = named(arguments, {"axis", "start"});
    const Array& array = array_behind(self);
    const int n = array.ndim();
    const std::optional<std::int64_t> given = before ? word_of(before) : 0;
    if (!axis || !given || *given < -n || *given > n) return left_to_numpy();
    const int from = axis_operand(axis, n);
    std::int64_t to = *given < 0 ? *given + n : *given;
    if (from < to) --to;
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + from);
    order.insert(order.begin() + to, from);
    return new_view(transpose(array, order), array_of(self));
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

// unstack(x, *, axis=0) into views: elements of a vector are none.
struct Unstack {
  static constexpr const char* name = "unstack";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    if (arguments.positional > 0 || array.ndim() < 2) return left_to_numpy();
    const auto [given] = named(arguments, {"axis"});
    const auto axis = static_cast<std::size_t>(given ? axis_operand(given, array.ndim()) : 0);
    Shape shape(array.shape().begin(), array.shape().end()),
        strides(array.strides().begin(), array.strides().end());
    const std::int64_t extent = shape[axis], stride = strides[axis];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
    Ref views = checked(PyTuple_New(extent));
    for (std::int64_t k = 0; k < extent; ++k)
      PyTuple_SET_ITEM(
          views.get(), k,
          new_view(window(array, shape, strides, array.offset() + k * stride, array.dtype()),
                   array_of(self)));
    return views.release();
  }
};

// from_dlpack(x): the elements in C order, as the exchanged description has them.
struct FromDlpack {
  static constexpr const char* name = "from_dlpack";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    const ArrayObject& object = array_of(self);
    const bool is_plain = arguments.positional + arguments.keywords() == 0 &&
                          array.c_contiguous() && array.size() > 0 && !object.read_only &&
                          !object.warns_on_write && array.writable();
    if (!is_plain) return left_to_numpy();
    return new_view(Array(array), array_of(self));
  }
};

// The integers of a tuple or list.
Shape integers_of(PyObject* object) {
  if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) throw Unfit{"no tuple"};
  return shape_operand(object);
}

Shape dense_strides(const Shape& shape, std::int64_t item) {
  Shape strides(shape.size());
  for (std::size_t k = shape.size(); k-- > 0; item *= shape[k]) strides[k] = item;
  return strides;
}

// A view with any strides, which lies within the array's memory.
PyObject* strided(PyObject* self, const Shape& shape, const Shape& strides, bool is_writable) {
  const Array& array = array_behind(self);
  const int item = size_of(array.dtype());
  const bool is_plain = array.size() > 0 && shape.size() == strides.size() && !shape.empty() &&
                        std::ranges::all_of(shape, [](std::int64_t n) { return n > 0; }) &&
                        std::ranges::all_of(strides, [=](auto step) { return step % item == 0; });
  if (!is_plain || array_of(self).warns_on_write) return left_to_numpy();
  PyObject* const view =
      new_view(window(array, shape, strides, array.offset(), array.dtype()), array_of(self));
  array_of(view).read_only |= !is_writable;
  return view;
}

// lib.stride_tricks.as_strided(x, shape=None, strides=None, subok=False, writeable=True).
struct AsStrided {
  static constexpr const char* name = "lib.stride_tricks.as_strided";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [shape, strides, subok, writable] =
        named(arguments, {"shape", "strides", "subok", "writeable"});
    const Array& array = array_behind(self);
    flag_operand(subok, false);
    const Shape extents = shape && shape != Py_None
                              ? integers_of(shape)
                              : Shape(array.shape().begin(), array.shape().end());
    Shape steps(array.strides().begin(), array.strides().end());
    if (strides && strides != Py_None)
      steps = integers_of(strides);
    else if (array.c_contiguous())
      steps = dense_strides(extents, size_of(array.dtype()));
    return strided(self, extents, steps, flag_operand(writable, true));
  }
};

// lib.stride_tricks.sliding_window_view(x, window_shape, axis=None): of all axes, or of one.
struct SlidingWindows {
  static constexpr const char* name = "lib.stride_tricks.sliding_window_view";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [lengths, along] = named(arguments, {"window_shape", "axis"});
    const Array& array = array_behind(self);
    if (!lengths) return left_to_numpy();
    const Shape windows =
        PyTuple_CheckExact(lengths) ? integers_of(lengths) : Shape{integer_operand(lengths)};
    const bool is_of_all = !along || along == Py_None;
    const std::size_t first =
        is_of_all ? 0 : static_cast<std::size_t>(axis_operand(along, array.ndim()));
    if (windows.size() != (is_of_all ? array.shape().size() : 1)) return left_to_numpy();
    Shape shape(array.shape().begin(), array.shape().end()),
        strides(array.strides().begin(), array.strides().end());
    for (std::size_t k = 0; k < windows.size(); ++k) {
      shape[first + k] -= windows[k] - 1;
      shape.push_back(windows[k]);
      strides.push_back(strides[first + k]);
    }
    return strided(self, shape, strides, false);
  }
};

// frombuffer(bytes, dtype=float, count=-1, offset=0): memory that nobody changes.
PyObject* from_buffer(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (positional == 0 || !PyBytes_CheckExact(values[0])) return left_to_numpy();
  PyObject* const bytes = values[0];
  return shortcut({&address_of<from_buffer>, {values, positional, names}}, [&] {
    const Arguments options{values + 1, positional - 1, names};
    PyObject* slots[3] = {};
    static constexpr const char* slot_names[] = {"dtype", "count", "offset"};
    if (options.positional + options.keywords() > 0) sort_arguments(options, slot_names, 3, slots);
    const auto [dtype, count, start] = slots;
    const std::optional<DType> type = dtype ? native_dtype(dtype) : DType::Float64;
    const std::int64_t offset = start ? word_of(start).value_or(-1) : 0;
    const std::optional<std::int64_t> asked = count ? word_of(count) : -1;
    if (!type || !asked || offset < 0) return left_to_numpy();
    const std::int64_t item = size_of(*type), length = PyBytes_GET_SIZE(bytes) - offset;
    const std::int64_t extent = *asked < 0 ? length / item : *asked;
    const bool fits = extent > 0 && extent <= length / item && offset % item == 0 &&
                      (*asked >= 0 || extent * item == length);
    if (!fits) return left_to_numpy();
    auto* const memory = reinterpret_cast<std::byte*>(PyBytes_AS_STRING(bytes));
    PyObject* const made = new_array(wrap({.data = memory + offset,
                                           .memory = memory,
                                           .bytes = PyBytes_GET_SIZE(bytes),
                                           .owner = Py_NewRef(bytes),
                                           .release = release_owner,
                                           .writable = false},
                                          {&extent, 1}, {&item, 1}, *type));
    array_of(made).owner = Py_NewRef(bytes);
    array_of(made).read_only = true;
    return made;
  });
}

}  // namespace

std::vector<PyMethodDef> view_shortcuts() {
  return {plain_row("frombuffer", from_buffer),
          plain_row("atleast_1d", atleast_1d),
          shortcut_row<AtLeast2D>(),
          shortcut_row<AtLeast3D>(),
          shortcut_row<Flip>(),
          shortcut_row<FlipAlong<0>>(),
          shortcut_row<FlipAlong<1>>(),
          shortcut_row<Rotate>(),
          shortcut_row<RollAxis>(),
          shortcut_row<MoveAxis>(),
          shortcut_row<Unstack>(),
          shortcut_row<FromDlpack>(),
          shortcut_row<AsStrided>(),
          shortcut_row<SlidingWindows>()};
}

}  // namespace frit::python
