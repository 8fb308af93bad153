// creation.cpp: array, asarray, empty, zeros, ones, full, arange.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/memory.h"
#include "python/functions.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"
#include "python/sequences.h"

namespace frit::python {
namespace {

bool is_given(PyObject* object) { return object && object != Py_None && object != numpy.no_value; }

bool is_on_cpu(PyObject* device) {
  return !is_given(device) ||
         (PyUnicode_Check(device) && PyUnicode_CompareWithASCIIString(device, "cpu") == 0);
}

struct Made {
  Shape shape;
  DType dtype;
  char order;
};

Made read_made(PyObject* shape, PyObject* dtype, PyObject* order, PyObject* device,
               PyObject* like) {
  if (!shape || is_given(like)) throw Unfit{"like="};
  if (!is_on_cpu(device)) throw Unfit{"device="};
  Made made{shape_operand(shape), requested_dtype(dtype).value_or(DType::Float64),
            order_operand(order, 'C')};
  if (made.order != 'C' && made.order != 'F') throw Unfit{"order="};
  for (std::int64_t extent : made.shape)
    if (extent < 0) throw Unfit{"negative dimensions are not allowed"};
  return made;
}

// Programs look for a MemoryError where they ask for an array by its size, not where it is filled.
void need_memory(std::span<const std::int64_t> shape, DType dtype) {
  std::int64_t bytes = size_of(dtype);
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return;  // refused as a shape
  if (!memory::may_be_had(bytes)) throw OutOfMemory({shape.begin(), shape.end()}, dtype);
}

Array empty_made(const Made& made) {
  need_memory(made.shape, made.dtype);
  if (made.order == 'C' || made.shape.size() < 2) return empty(made.shape, made.dtype);
  Shape strides;
  std::int64_t stride = size_of(made.dtype);
  for (std::int64_t extent : made.shape) {
    strides.push_back(stride);
    stride *= std::max<std::int64_t>(extent, 1);
  }
  return empty_strided(made.shape, strides, made.dtype);
}

Array filled(const Made& made, const Scalar& value) {
  need_memory(made.shape, made.dtype);
  if (made.order == 'C' || made.shape.size() < 2) return full(made.shape, value);
  const Array array = empty_made(made);
  assign(array, Argument(value));
  return array;
}

Scalar number(std::int64_t value, DType dtype) {
  return cast_scalar(Scalar::of(DType::Int64, value), dtype);
}

// The integer type holds the value.
bool is_exactly(const Scalar& element, std::int64_t value) {
  return cast_scalar(element, DType::Int64).as<std::int64_t>() == value &&
         (value >= 0 || is_signed(element.dtype));
}

Array zeros_made(const Made& made) { return filled(made, Scalar{.dtype = made.dtype}); }
Array ones_made(const Made& made) { return filled(made, number(1, made.dtype)); }

Made read_plain(const Arguments& arguments) {
  const auto [shape, dtype, order, device, like] =
      named(arguments, {"shape", "dtype", "order", "device", "like"}, 3);
  return read_made(shape, dtype, order, device, like);
}

// What f(shape), f(shape, dtype) and f(shape, dtype=dtype) ask for, with few axes: the common
// calls, which need no Shape.
struct Plain {
  static constexpr std::size_t most = 4;
  std::array<std::int64_t, most> extents;
  std::size_t axes;
  DType dtype;
  std::span<const std::int64_t> shape() const { return {extents.data(), axes}; }
};
std::optional<Plain> only_shape(const Arguments& arguments) {
  static PyObject* const name = PyUnicode_InternFromString("dtype");
  const bool has_dtype = arguments.positional + arguments.keywords() == 2;
  const bool is_plain =
      arguments.keywords() == 0
          ? arguments.positional == 1 || has_dtype
          : has_dtype && arguments.positional == 1 && PyTuple_GET_ITEM(arguments.names, 0) == name;
  if (!is_plain) return std::nullopt;
  Plain plain;
  PyObject* const given = arguments.values[0];
  const bool has_many = PyTuple_CheckExact(given);
  plain.axes = has_many ? static_cast<std::size_t>(PyTuple_GET_SIZE(given)) : 1;
  if (plain.axes > Plain::most) return std::nullopt;
  for (std::size_t k = 0; k < plain.axes; ++k) {
    const std::optional<std::int64_t> extent =
        word_of(has_many ? PyTuple_GET_ITEM(given, static_cast<Py_ssize_t>(k)) : given);
    if (!extent || *extent < 0) return std::nullopt;
    plain.extents[k] = *extent;
  }
  plain.dtype = requested_dtype(has_dtype ? arguments.values[1] : nullptr).value_or(DType::Float64);
  need_memory(plain.shape(), plain.dtype);
  return plain;
}

struct Empty {
  static constexpr const char* name = "empty";
  static PyObject* run(const Arguments& arguments) {
    if (const std::optional<Plain> plain = only_shape(arguments))
      return new_array(empty(plain->shape(), plain->dtype));
    return new_array(empty_made(read_plain(arguments)));
  }
};
struct Zeros {
  static constexpr const char* name = "zeros";
  static PyObject* run(const Arguments& arguments) {
    if (const std::optional<Plain> plain = only_shape(arguments))
      return new_array(full(plain->shape(), Scalar{.dtype = plain->dtype}));
    return new_array(zeros_made(read_plain(arguments)));
  }
};
struct Ones {
  static constexpr const char* name = "ones";
  static PyObject* run(const Arguments& arguments) {
    if (const std::optional<Plain> plain = only_shape(arguments))
      return new_array(full(plain->shape(), number(1, plain->dtype)));
    return new_array(ones_made(read_plain(arguments)));
  }
};

// The dtype that np.array would give a scalar.
DType dtype_of_scalar(PyObject* value) {
  if (PyFloat_CheckExact(value)) return DType::Float64;
  if (PyBool_Check(value)) return DType::Bool;
  if (PyLong_CheckExact(value)) return DType::Int64;
  if (PyComplex_CheckExact(value)) return DType::Complex128;
  const std::optional<Scalar> scalar = numpy_scalar_value(value);
  if (!scalar) throw Unfit{"a fill value that is no number"};
  return scalar->dtype;
}

struct Full {
  static constexpr const char* name = "full";
  static PyObject* run(const Arguments& arguments) {
    const auto [shape, value, dtype, order, device, like] =
        named(arguments, {"shape", "fill_value", "dtype", "order", "device", "like"}, 4);
    if (!value) throw Unfit{"full takes a value"};
    Made made = read_made(shape, dtype, order, device, like);
    if (is_scalar(value) || is_array(value)) {
      const Array source = array_operand(value);
      if (!is_given(dtype)) made.dtype = source.dtype();
      if (is_complex(source.dtype()) && !is_complex(made.dtype))
        throw Unfit{"complex values lose their imaginary part"};
      const Array array = empty_made(made);
      assign(array, source);
      return new_array(array);
    }
    if (!is_given(dtype)) made.dtype = dtype_of_scalar(value);
    const std::optional<Scalar> element = element_value(value, made.dtype);
    if (!element) throw Unfit{"a value needs NumPy's conversion"};
    return new_array(filled(made, *element));
  }
};

// empty_like(array, dtype=None) and its like, of arrays in C order.
template <Array (*make)(const Made&)>
PyObject* like(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (positional == 0 || !is_array(values[0])) return left_to_numpy();
  return shortcut({&address_of<like<make>>, {values, positional, names}}, [&] {
    const Array& prototype = array_of(values[0]).array;
    const auto [dtype] = named({values + 1, positional - 1, names}, {"dtype"});
    if (!prototype.c_contiguous()) throw Unfit{"a layout to be kept"};
    const auto shape = prototype.shape();
    const DType type = requested_dtype(dtype).value_or(prototype.dtype());
    return new_array(make({{shape.begin(), shape.end()}, type, 'C'}));
  });
}
template <Array (*make)(const Made&)>
PyMethodDef like_row(const char* name) {
  return {name, as_c_function(like<make>), METH_FASTCALL | METH_KEYWORDS, nullptr};
}

// full_like(array, number, dtype=None).
PyObject* full_like(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (positional < 2 || !is_array(values[0])) return left_to_numpy();
  return shortcut({&address_of<full_like>, {values, positional, names}}, [&] {
    const Array& prototype = array_of(values[0]).array;
    const auto [value, dtype] = named({values + 1, positional - 1, names}, {"fill_value", "dtype"});
    const DType type = requested_dtype(dtype).value_or(prototype.dtype());
    const bool is_number = !is_array(value) && !is_scalar(value);
    const std::optional<Scalar> element = is_number ? element_value(value, type) : std::nullopt;
    if (!element || !prototype.c_contiguous()) return left_to_numpy();
    const auto shape = prototype.shape();
    return new_array(filled({{shape.begin(), shape.end()}, type, 'C'}, *element));
  });
}

// arange, for numbers whose result is int64 or float64, as NumPy computes length and elements.
// linspace(first, step, last, n): what is behind NumPy's function of that name.
struct Linspace {
  static constexpr const char* name = "linspace";
  static PyObject* run(const Arguments& arguments) {
    const auto [first, step, last, n] = named(arguments, {"first", "step", "last", "n"}, 4);
    const std::int64_t extent = integer_operand(n);
    need_memory({&extent, 1}, DType::Float64);
    return new_array(frit::linspace(PyFloat_AsDouble(first), PyFloat_AsDouble(step),
                                    PyFloat_AsDouble(last), extent));
  }
};

struct Arange {
  static constexpr const char* name = "arange";

  static double value_of(PyObject* object) {
    if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
    return static_cast<double>(integer_operand(object));
  }

  static PyObject* run(const Arguments& arguments) {
    auto [start, stop, step, dtype, device, like] =
        named(arguments, {"start", "stop", "step", "dtype", "device", "like"}, 4);
    if (is_given(device) || is_given(like) || (start && start == Py_None))
      throw Unfit{"arange with device= or like="};
    if (!is_given(stop)) {
      stop = start;
      start = nullptr;
    }
    if (!is_given(step)) step = nullptr;
    if (!stop || (arguments.positional == 0 && !start)) throw Unfit{"arange takes a stop"};
    bool is_float = false;
    for (PyObject* each : {start, stop, step}) {
      if (!each) continue;
      if (PyFloat_CheckExact(each) || PyArray_IsScalar(each, Double))
        is_float = true;
      else if (!PyLong_CheckExact(each) && !PyArray_IsScalar(each, Long))
        throw Unfit{"arange of other than numbers of 64 bits"};
    }
    const DType natural = is_float ? DType::Float64 : DType::Int64;
    const DType type = requested_dtype(dtype).value_or(natural);
    const bool computes =
        type == DType::Float64 || type == DType::Float32 || (is_integer(type) && !is_float);
    if (!computes) throw Unfit{"arange in another dtype"};
    return new_array(is_float ? floats(start, stop, step, type)
                              : integers(start, stop, step, type));
  }

  // NumPy fills with the difference of the first two elements, not with the step that was asked
  // for.
  static Array filled_between(const Scalar& first, const Scalar& second, double length) {
    if (!(std::abs(length) < 4e15)) throw Unfit{"a length that only NumPy judges"};
    Scalar step;
    step.dtype = first.dtype;
    void* operands[3] = {step.bytes, const_cast<std::byte*>(second.bytes),
                         const_cast<std::byte*>(first.bytes)};
    loop(Op::Subtract, first.dtype)(operands, 1, 0);
    const Scalar zero = number(0, first.dtype);
    if (!is_integer(first.dtype) && !(is_sum(second, first, step) && is_sum(first, first, zero)))
      throw Unfit{"first elements that are no sums"};
    const std::int64_t extent = std::max<std::int64_t>(static_cast<std::int64_t>(length), 0);
    need_memory({&extent, 1}, first.dtype);
    return frit::arange(first, step, extent);
  }

  // To the last bit: -0.0 is not -0.0 + 0.0.
  static bool is_sum(const Scalar& expected, const Scalar& left, const Scalar& right) {
    Scalar sum;
    void* operands[3] = {sum.bytes, const_cast<std::byte*>(left.bytes),
                         const_cast<std::byte*>(right.bytes)};
    loop(Op::Add, left.dtype)(operands, 1, 0);
    return std::memcmp(sum.bytes, expected.bytes, static_cast<std::size_t>(size_of(left.dtype))) ==
           0;
  }

  static Array integers(PyObject* start, PyObject* stop, PyObject* step, DType dtype) {
    const std::int64_t first = start ? integer_operand(start) : 0, last = integer_operand(stop),
                       by = step ? integer_operand(step) : 1;
    constexpr std::int64_t limit = std::int64_t{1} << 53;
    const auto is_far = [](std::int64_t n) { return n < -limit || n > limit; };
    if (by == 0 || is_far(first) || is_far(last) || is_far(by))
      throw Unfit{"a length that only NumPy judges"};
    const double length = std::ceil(static_cast<double>(last - first) / static_cast<double>(by));
    const Scalar start_element = number(first, dtype), next = number(first + by, dtype);
    if (is_integer(dtype) && (!is_exactly(start_element, first) || !is_exactly(next, first + by)))
      throw Unfit{"an integer is out of bounds"};
    return filled_between(start_element, next, length);
  }

  static Array floats(PyObject* start, PyObject* stop, PyObject* step, DType dtype) {
    const double first = start ? value_of(start) : 0.0, last = value_of(stop),
                 by = step ? value_of(step) : 1.0;
    if (by == 0) throw Unfit{"a step of zero"};
    const double exact = (last - first) / by;
    // An infinite step, or one that makes the quotient vanish, still reaches the start.
    const bool only_start = exact == 0.0 && last != first && !std::signbit(exact);
    const double length = only_start ? 1.0 : std::ceil(exact);
    const auto element = [dtype](double value) {
      return dtype == DType::Float32 ? Scalar::of(dtype, static_cast<float>(value))
                                     : Scalar::of(dtype, value);
    };
    return filled_between(element(first), element(only_start ? first : first + by), length);
  }
};

// ---- array and asarray --------------------------------------------------------------------------

bool is_ours(PyObject* object) { return is_array(object) || is_scalar(object); }

// With axes of extent 1 in front, if there are fewer than `least`. A view if it is of `object`.
PyObject* at_least(const Array& array, std::int64_t least, PyObject* object) {
  if (array.ndim() >= least) return object ? Py_NewRef(object) : new_array(array);
  if (least > max_dimensions) throw Unfit{"too many dimensions"};
  Shape shape(static_cast<std::size_t>(least - array.ndim()), 1), strides(shape.size(), 0);
  shape.insert(shape.end(), array.shape().begin(), array.shape().end());
  strides.insert(strides.end(), array.strides().begin(), array.strides().end());
  const std::int64_t outer =
      array.ndim() > 0 ? array.strides()[0] * array.shape()[0] : size_of(array.dtype());
  std::fill(strides.begin(), strides.end() - array.ndim(), outer);
  Array wide = window(array, shape, strides, array.offset(), array.dtype());
  return object ? new_view(std::move(wide), array_of(object)) : new_array(std::move(wide));
}

struct Conversion {
  PyObject* object;
  PyObject* dtype;
  PyObject* copies;
  char order;
  std::int64_t least;  // dimensions
};

// Of what is ours already.
PyObject* convert_ours(const Conversion& asked) {
  const std::optional<DType> wanted = requested_dtype(asked.dtype);
  const Array source = array_operand(asked.object);
  const bool same = !wanted || *wanted == source.dtype();
  const bool laid_out = asked.order == 'K' || asked.order == 'A' ||
                        (asked.order == 'C' && source.c_contiguous()) ||
                        (asked.order == 'F' && source.f_contiguous());
  PyObject* const copies = asked.copies;
  if (copies && copies != Py_None && !PyBool_Check(copies)) throw Unfit{"copy="};
  const bool may_share = copies == Py_None || copies == Py_False;
  if (may_share && same && laid_out && is_array(asked.object))
    return at_least(source, asked.least, asked.object);
  if (may_share && copies != Py_None) throw Unfit{"a copy is needed and forbidden"};
  if (!same && is_complex(source.dtype()) && !is_complex(*wanted))
    throw Unfit{"complex values lose their imaginary part"};
  return at_least(astype(source, wanted.value_or(source.dtype()), asked.order), asked.least,
                  nullptr);
}

// Of numbers and lists of them, if the dtype is one of ours; else null.
PyObject* convert_numbers(PyObject* object, PyObject* dtype, std::int64_t least) {
  const std::optional<DType> wanted = native_dtype(dtype);
  if (is_given(dtype) && !wanted) return nullptr;
  const std::optional<Array> array = array_of_numbers(object, wanted);
  return array ? at_least(*array, least, nullptr) : nullptr;
}

struct ArrayFunction {
  static constexpr const char* name = "array";

  static PyObject* run(const Arguments& arguments) {
    if (arguments.positional > 0 && !is_ours(arguments.values[0])) {
      PyObject* dtype = nullptr;
      if (takes_dtype_alone(arguments, dtype))
        if (PyObject* made = convert_numbers(arguments.values[0], dtype, 0)) return made;
      return is_lone_sequence(arguments) ? of_sequence(arguments.values[0]) : by_numpy(arguments);
    }
    try {
      return native(arguments);
    } catch (const Unfit&) {
      return by_numpy(arguments);
    }
  }

  static bool takes_dtype_alone(const Arguments& arguments, PyObject*& dtype) {
    if (arguments.positional + arguments.keywords() > 2) return false;
    if (arguments.positional == 2) dtype = arguments.values[1];
    if (arguments.keywords() == 0) return true;
    dtype = arguments.values[1];
    return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(arguments.names, 0), "dtype") == 0;
  }

  // Of a list or tuple alone no memory can be shared: as asarray.
  static bool is_lone_sequence(const Arguments& arguments) {
    return arguments.positional == 1 && arguments.keywords() == 0 &&
           (PyList_CheckExact(arguments.values[0]) || PyTuple_CheckExact(arguments.values[0]));
  }

  static PyObject* of_sequence(PyObject* sequence) {
    if (PySequence_Fast_GET_SIZE(sequence) > 0 && is_array(PySequence_Fast_GET_ITEM(sequence, 0)))
      try {
        return new_array(stacked_arrays(sequence));
      } catch (const Unfit&) {
      }
    return converted_by_numpy(sequence);
  }

  static PyObject* native(const Arguments& arguments) {
    const auto [object, dtype, copies, order, subok, ndmin, like, device] =
        named(arguments, {"object", "dtype", "copy", "order", "subok", "ndmin", "like", "device"});
    if (!object || is_given(like) || is_given(device)) throw Unfit{"like= or device="};
    if (!is_ours(object)) throw Unfit{"an object to be converted"};
    return convert_ours({.object = object,
                         .dtype = dtype,
                         .copies = copies,
                         .order = order_operand(order, 'K'),
                         .least = ndmin ? integer_operand(ndmin) : 0});
  }

  // Conversion is what NumPy is for here: no fallback to be reported. Its own signature has fewer
  // positions.
  static PyObject* by_numpy(const Arguments& arguments) {
    static constexpr const char* names[] = {"object", "dtype", "copy", "order",
                                            "subok",  "ndmin", "like"};
    if (arguments.positional <= 2) return call_numpy(numpy_function(name), arguments);
    if (arguments.keywords() > 0 ||
        arguments.positional > static_cast<Py_ssize_t>(std::size(names)))
      throw Unfit{"too many arguments"};
    static PyObject* keyword_names[std::size(names)] = {};
    const Ref keywords = checked(PyTuple_New(arguments.positional - 2));
    for (Py_ssize_t k = 2; k < arguments.positional; ++k) {
      if (!keyword_names[k])
        keyword_names[k] = checked(PyUnicode_InternFromString(names[k])).release();
      PyTuple_SET_ITEM(keywords.get(), k - 2, Py_NewRef(keyword_names[k]));
    }
    return call_numpy(numpy_function(name), {arguments.values, 2, keywords.get()});
  }
};

// asarray and asanyarray, as far as they differ from array.
template <const char* const* function_name>
struct AsArray {
  static constexpr const char* name = *function_name;

  static PyObject* run(const Arguments& arguments) {
    if (arguments.positional == 1 && !arguments.names && !is_ours(arguments.values[0]))
      if (PyObject* made = convert_numbers(arguments.values[0], nullptr, 0)) return made;
    const auto [object, dtype, order, device, copies, like] =
        named(arguments, {"a", "dtype", "order", "device", "copy", "like"}, 3);
    if (!object || !is_on_cpu(device) || is_given(like)) throw Unfit{"device= or like= is given"};
    PyObject* const sharing = copies ? copies : Py_None;
    try {
      if (is_ours(object))
        return convert_ours({.object = object,
                             .dtype = dtype,
                             .copies = sharing,
                             .order = order_operand(order, 'K'),
                             .least = 0});
    } catch (const Unfit&) {
      return call_numpy(numpy_function(name), arguments);
    }
    if (!is_given(order) && (sharing == Py_None || sharing == Py_True))
      if (PyObject* made = convert_numbers(object, dtype, 0)) return made;
    return call_numpy(numpy_function(name), arguments);
  }
};

// ascontiguousarray and asfortranarray.
template <const char* const* function_name, char order>
struct InOnePiece {
  static constexpr const char* name = *function_name;

  static PyObject* run(const Arguments& arguments) {
    if (arguments.positional == 1 && arguments.keywords() == 0 && is_array(arguments.values[0])) {
      const Array& array = array_of(arguments.values[0]).array;
      if (array.ndim() > 0 && (order == 'C' ? array.c_contiguous() : array.f_contiguous()))
        return Py_NewRef(arguments.values[0]);
    }
    const auto [object, dtype, like] = named(arguments, {"a", "dtype", "like"}, 2);
    if (!object || is_given(like)) throw Unfit{"like= is given"};
    try {
      if (is_ours(object))
        return convert_ours(
            {.object = object, .dtype = dtype, .copies = Py_None, .order = order, .least = 1});
    } catch (const Unfit&) {
      return call_numpy(numpy_function(name), arguments);
    }
    if (order == 'C')
      if (PyObject* made = convert_numbers(object, dtype, 1)) return made;
    return call_numpy(numpy_function(name), arguments);
  }
};

constexpr const char* asarray_name = "asarray";
constexpr const char* asanyarray_name = "asanyarray";
constexpr const char* ascontiguousarray_name = "ascontiguousarray";
constexpr const char* asfortranarray_name = "asfortranarray";

// own(object): ours as it is, a real ndarray as a window on its memory, one of a subclass as it is.
PyObject* own(PyObject*, PyObject* object) {
  note_source();
  return guarded([&]() -> PyObject* {
    if (is_array(object)) return Py_NewRef(object);
    if (is_scalar(object)) return new_array(scalar_of(object).array);
    if (PyArray_CheckExact(object)) return object_of_ndarray(Ref::borrow(object), 0);
    if (!PyArray_Check(object)) return converted(object);
    return Py_NewRef(object);
  });
}

}  // namespace

std::vector<PyMethodDef> creation_shortcuts() {
  return {like_row<empty_made>("empty_like"), like_row<zeros_made>("zeros_like"),
          like_row<ones_made>("ones_like"), plain_row("full_like", full_like)};
}

std::vector<PyMethodDef> creation_functions() {
  return {function_row<Empty>(),
          function_row<Zeros>(),
          function_row<Ones>(),
          function_row<Full>(),
          function_row<Arange>(),
          function_row<Linspace>(),
          function_row<ArrayFunction>(),
          function_row<AsArray<&asarray_name>>(),
          function_row<AsArray<&asanyarray_name>>(),
          function_row<InOnePiece<&ascontiguousarray_name, 'C'>>(),
          function_row<InOnePiece<&asfortranarray_name, 'F'>>(),
          {"own", own, METH_O, nullptr}};
}

}  // namespace frit::python
