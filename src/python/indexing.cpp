// indexing.cpp: reading and writing elements and windows.
#include "python/indexing.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "front/common.h"
#include "front/dense.h"
#include "python/array_type.h"
#include "python/fallback.h"
#include "python/index_key.h"
#include "python/numpy_api.h"
#include "python/operands.h"
#include "python/refusals.h"
#include "python/sequences.h"
#include "python/source.h"

namespace frit::python {
namespace {

// ---- one element, by integers: as fast as NumPy -------------------------------------------------

// What a key consists of: a tuple's items, or the key.
std::span<PyObject* const> parts_of(PyObject* const& key) {
  if (!PyTuple_CheckExact(key)) return {&key, 1};
  return {&PyTuple_GET_ITEM(key, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(key))};
}

// A plain integer within the extent, counted from the front; false: something else.
bool read_index(PyObject* part, std::int64_t extent, std::int64_t& index) {
  if (PyLong_CheckExact(part)) {
    int overflow = 0;
    index = PyLong_AsLongLongAndOverflow(part, &overflow);
    if (overflow != 0) return false;
  } else if (PyArray_IsScalar(part, Int64)) {
    index = PyArrayScalar_VAL(part, Long);
  } else {
    return false;
  }
  if (index < 0) index += extent;
  return index >= 0 && index < extent;
}

// The byte offset, from the window's first element, of a key of `ndim` plain integers; false: some
// other key.
bool element_offset(const Array& array, PyObject* key, std::int64_t& offset) {
  const auto shape = array.layout()->shape(), strides = array.layout()->strides();
  if (shape.size() == 1 && !PyTuple_CheckExact(key)) {
    std::int64_t index;
    if (!read_index(key, shape[0], index)) return false;
    offset = index * strides[0];
    return true;
  }
  const auto parts = parts_of(key);
  if (parts.size() != shape.size() || parts.empty() || PySlice_Check(parts[0])) return false;
  offset = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    std::int64_t index;
    if (!read_index(parts[k], shape[k], index)) return false;
    offset += index * strides[k];
  }
  return true;
}

// ---- windows, by slices, integers, None and ... -------------------------------------------------

// A window read from a key without anything that has to be allocated.
struct BasicWindow {
  std::int64_t shape[max_dimensions], strides[max_dimensions];
  std::size_t ndim = 0;
  std::int64_t offset;

  void add(std::int64_t extent, std::int64_t stride) {
    shape[ndim] = extent;
    strides[ndim++] = stride;
  }
  Array of(const Array& array) const {
    return window(array, {shape, ndim}, {strides, ndim}, offset, array.dtype());
  }
};

// A bound of a slice; false: something that is no plain integer.
bool read_bound(PyObject* part, Py_ssize_t absent, Py_ssize_t& bound) {
  bound = absent;
  if (part == Py_None) return true;
  if (!PyLong_CheckExact(part)) return false;
  int overflow = 0;
  bound = static_cast<Py_ssize_t>(PyLong_AsLongLongAndOverflow(part, &overflow));
  return overflow == 0;
}

struct SliceBounds {
  Py_ssize_t start, stop, step;
};

// False, with no error set, where the slice is wrong.
bool read_slice(PyObject* object, SliceBounds& bounds) {
  const auto& slice = *reinterpret_cast<PySliceObject*>(object);
  if (slice.step == Py_None && read_bound(slice.start, 0, bounds.start) &&
      read_bound(slice.stop, PY_SSIZE_T_MAX, bounds.stop)) {
    bounds.step = 1;
    return true;
  }
  if (PySlice_Unpack(object, &bounds.start, &bounds.stop, &bounds.step) == 0) return true;
  PyErr_Clear();
  return false;
}

// False: some other key, a scalar result, or an error, all of which read_key knows.
bool read_window(const Array& array, PyObject* key, BasicWindow& result) {
  const auto shape = array.shape(), strides = array.strides();
  const auto parts = parts_of(key);
  if (parts.size() + shape.size() > max_dimensions) return false;
  std::size_t named = 0;
  for (PyObject* part : parts) named += part != Py_None && part != Py_Ellipsis;
  if (named > shape.size()) return false;
  result.offset = array.offset();
  std::size_t axis = 0;
  bool ellipsis = false;
  const auto add_rest = [&](std::size_t n) {
    for (; n > 0; --n, ++axis) result.add(shape[axis], strides[axis]);
  };
  for (PyObject* part : parts) {
    std::int64_t index;
    if (PySlice_Check(part)) {
      SliceBounds bounds;
      if (!read_slice(part, bounds)) return false;
      auto [start, stop, step] = bounds;
      const Py_ssize_t extent = PySlice_AdjustIndices(shape[axis], &start, &stop, step);
      if (extent > 0) result.offset += start * strides[axis];
      result.add(extent, stride_of_slice(strides[axis], step));
      ++axis;
    } else if (part == Py_None) {
      result.add(1, 0);
    } else if (part == Py_Ellipsis) {
      if (ellipsis) return false;
      ellipsis = true;
      add_rest(shape.size() - named);
    } else if (read_index(part, shape[axis], index)) {
      result.offset += index * strides[axis];
      ++axis;
    } else {
      return false;
    }
  }
  add_rest(shape.size() - axis);
  return result.ndim > 0 || ellipsis;
}

// To an array that nobody has still to read or write.
void write_idle(const Array& array, std::int64_t offset, const void* element, std::size_t size) {
  std::byte* to = array.base()->data + array.offset() + offset;
  if (size == 8)  // known to the compiler: no call
    std::memcpy(to, element, 8);
  else if (size == 16)
    std::memcpy(to, element, 16);
  else
    std::memcpy(to, element, size);
  std::atomic_ref(array.base()->stamp).store(0, std::memory_order_release);  // behind the write
}

// Is one element of it read or written by a step that is recorded? (`u[i, j] += s` in each round of
// a simulation.)
bool is_recorded(const Array& array, const Array& awaited) {
  const Locked lock(Engine::lock());
  return Engine::get().records_element(*array.base(), *awaited.base());
}
Array element_of(const Array& array, std::int64_t offset) {
  return window(array, {}, {}, array.offset() + offset, array.dtype());
}

bool write_element(const Array& array, std::int64_t offset, PyObject* value) {
  if (double number; array.dtype() == DType::Float64 && read_double(value, number))
    if (is_idle(array)) {
      write_idle(array, offset, &number, sizeof number);
      return true;
    }
  if (Py_complex number; array.dtype() == DType::Complex128 && read_complex(value, number))
    if (is_idle(array)) {
      write_idle(array, offset, &number, sizeof number);
      return true;
    }
  if (is_scalar(value) && !scalar_of(value).value) {  // `seen[k] = u[i, j]`
    const Array& given = scalar_of(value).array;
    if (!is_ready(given) && given.dtype() == array.dtype() && is_recorded(array, given))
      return false;
  }
  const std::optional<Scalar> element = element_value(value, array.dtype());
  if (!element) return false;
  const auto size = static_cast<std::size_t>(array.layout()->item_size());
  if (is_idle(array)) {
    write_idle(array, offset, element->bytes, size);
    return true;
  }
  // Somebody still has to read or write the old elements: an export waits for them.
  note_source();
  if (is_recorded(array, array)) {
    assign(element_of(array, offset), *element);
    return true;
  }
  std::byte* data;
  {
    WithoutGil released;
    data = begin_export(array);
  }
  std::memcpy(data + offset, element->bytes, size);
  end_export(array.base());
  settle_warnings();
  return true;
}

// ---- reading ------------------------------------------------------------------------------------

// The order of axes that puts the first `count` axes behind `front` of the others; or, backwards,
// the reverse.
std::vector<int> moved_axes(int ndim, int count, int front) {
  std::vector<int> order;
  for (int k = 0; k < front; ++k) order.push_back(count + k);
  for (int k = 0; k < count; ++k) order.push_back(k);
  for (int k = count + front; k < ndim; ++k) order.push_back(k);
  return order;
}

// Calls `take` on a window on the array with the axes behind the first `taken` in the order in
// which they lie in memory, and puts them back in the result: NumPy's order of memory.
template <class Take>
Array taken_in_memory_order(const Array& array, std::size_t taken, Take&& take) {
  const auto rest = static_cast<std::size_t>(array.ndim()) - taken;
  std::vector<int> order(rest);
  const std::span<const std::int64_t> strides = array.strides().subspan(taken);
  iteration_order({&strides, 1}, static_cast<int>(rest), order);
  if (std::ranges::is_sorted(order)) return take(array);
  std::vector<int> axes(taken);
  std::iota(axes.begin(), axes.end(), 0);
  for (int axis : order) axes.push_back(static_cast<int>(taken) + axis);
  const Array result = take(transpose(array, axes));
  const int front = result.ndim() - static_cast<int>(rest);
  std::vector<int> back(static_cast<std::size_t>(result.ndim()));
  std::iota(back.begin(), back.end(), 0);
  for (std::size_t k = 0; k < rest; ++k)
    back[static_cast<std::size_t>(front + order[k])] = front + static_cast<int>(k);
  return transpose(result, back);
}

// The index arrays, if they alone make the result's shape and all lie in Fortran order: so does the
// result then.
bool is_fortran_ordered(const IndexKey& key) {
  const auto taken = static_cast<int>(key.arrays.size());
  int ndim = 0;
  for (const Array& index : key.arrays) ndim = std::max(ndim, index.ndim());
  return key.basic.ndim() == taken && ndim > 1 &&
         std::ranges::all_of(key.arrays, [&](const Array& index) {
           return index.ndim() == 0 ||
                  (index.ndim() == ndim && index.f_contiguous() && !index.c_contiguous());
         });
}

Array reversed_axes_gather(const IndexKey& key) {
  std::vector<Array> turned;
  for (const Array& index : key.arrays) turned.push_back(reversed_axes(index));
  return reversed_axes(gather(key.basic, turned));
}

PyObject* gathered(const IndexKey& key) {
  if (is_fortran_ordered(key)) return new_array(reversed_axes_gather(key));
  const Array result =
      taken_in_memory_order(key.basic, key.arrays.size(),
                            [&](const Array& source) { return gather(source, key.arrays); });
  if (key.front_axes == 0) return new_array(result);
  const int rest = key.basic.ndim() - static_cast<int>(key.arrays.size());
  const Ref whole = Ref::steal(new_array(result));
  return new_view(
      transpose(result, moved_axes(result.ndim(), result.ndim() - rest, key.front_axes)),
      array_of(whole.get()));
}

// The indices, where the key is an array of them and of nothing else, into a vector; else null.
const Array* vector_indices(const Array& array, PyObject* key) {
  if (!is_array(key) || array.ndim() != 1) return nullptr;
  const Array& indices = array_of(key).array;
  // The result of others lies in their order.
  const bool is_plain = indices.ndim() == 1 || (indices.ndim() > 1 && indices.c_contiguous());
  return is_integer(indices.dtype()) && is_plain ? &indices : nullptr;
}

PyObject* get_native(PyObject* self, PyObject* key) {
  const Array& array = array_of(self).array;
  if (const Array* indices = vector_indices(array, key))
    return new_array(gather(array, {indices, 1}));
  if (const std::optional<Array> mask = mask_key(key)) {
    if (mask->ndim() > array.ndim()) throw Unfit{"too many indices"};
    if (mask->ndim() == array.ndim()) return new_array(compress(array, *mask));
    return new_array(taken_in_memory_order(array, static_cast<std::size_t>(mask->ndim()),
                                           [&](const Array& a) { return compress(a, *mask); }));
  }
  const IndexKey read = read_key(array, key);
  if (!read.arrays.empty()) return gathered(read);
  if (read.is_scalar) return make_scalar(evaluate(read.basic), array.dtype());
  if (read.copies) return new_array(copy(read.basic, 'K'));
  return new_view(read.basic, array_of(self));
}

// ---- writing ------------------------------------------------------------------------------------

// What an assignment takes: a number as an element of the target's type, or an array.
struct Value {
  Argument argument{Scalar{}};
  Temporary held = {};
  bool is_number = false;  // that is still to be computed
};

void refuse_lost_parts(const Array& value, DType dtype) {
  if (is_complex(value.dtype()) && !is_complex(dtype))
    throw Unfit{"complex values lose their imaginary part"};
}

// A list or tuple, each item of which NumPy converts to the target's type by itself: no float that
// is not a number becomes an integer, and no integer wraps round.
Array array_of_items(PyObject* sequence, DType dtype) {
  if (std::optional<Array> numbers = array_of_numbers(sequence, dtype)) return *std::move(numbers);
  Array array;
  try {
    array = array_operand(sequence);
  } catch (const PythonError&) {  // whose words are those of an assignment
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw;
    PyErr_Clear();
  }
  if (!array || !can_cast(array.dtype(), dtype, Casting::Safe))
    throw Unfit{"a value needs NumPy's conversion"};
  return array;
}

Array array_of_value(PyObject* object, DType dtype) {
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) return array_of_items(object, dtype);
  Array array = array_operand(object);
  refuse_lost_parts(array, dtype);
  // A number is converted before it is known how many elements take it.
  const bool is_converted = is_scalar(object) && conversion_may_warn(array.dtype(), dtype);
  return is_converted ? astype(array, dtype) : std::move(array);
}

Value read_value(PyObject* object, DType dtype) {
  // NumPy refuses an integer that does not fit: its value must be known.
  if (is_scalar(object) && is_integer(dtype) && scalar_of(object).array.dtype() != dtype)
    object = scalar_value(scalar_of(object));
  Value value;  // returned in place: the argument points into it, or to the object's
  if (is_array(object)) {
    value.argument = Argument(array_of(object).array);
    refuse_lost_parts(array_of(object).array, dtype);
    return value;
  }
  if (const std::optional<Scalar> element = element_value(object, dtype)) {
    value.argument = Argument(*element);
    return value;
  }
  if (is_plain_scalar(object)) throw Unfit{"a value needs NumPy's conversion"};
  value.held = array_of_value(object, dtype);
  value.is_number = is_scalar(object);
  value.argument = Argument(*value.held);
  return value;
}

// A number is converted, and may warn of it, though no element takes it.
void convert_unused(const Value& value, const Array& target, std::span<const Array> indices = {}) {
  const auto is_empty = [](const Array& x) { return x.size() == 0; };
  if (!value.is_number || !(is_empty(target) || std::ranges::any_of(indices, is_empty))) return;
  evaluate(*value.argument.array);
}

// `value` broadcast to the result's shape, with the index arrays' axes moved to the front.
Array value_in_front(const Array& value, const IndexKey& key) {
  std::vector<std::span<const std::int64_t>> shapes;
  int broadcast_ndim = 0;
  for (const Array& indices : key.arrays) broadcast_ndim = std::max(broadcast_ndim, indices.ndim());
  Shape index_shape(static_cast<std::size_t>(broadcast_ndim), 1);
  for (const Array& indices : key.arrays)
    for (std::size_t k = 0; k < indices.shape().size(); ++k) {
      std::int64_t& extent =
          index_shape[static_cast<std::size_t>(broadcast_ndim) - indices.shape().size() + k];
      if (indices.shape()[k] != 1) extent = indices.shape()[k];
    }
  const auto rest = key.basic.shape().subspan(key.arrays.size());
  const auto front = static_cast<std::size_t>(key.front_axes);
  Shape full_shape(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(front));
  full_shape.insert(full_shape.end(), index_shape.begin(), index_shape.end());
  full_shape.insert(full_shape.end(), rest.begin() + static_cast<std::ptrdiff_t>(front),
                    rest.end());
  Array source = value;
  while (source.ndim() > static_cast<int>(full_shape.size()) && source.shape()[0] == 1)
    source = window(source, source.shape().subspan(1), source.strides().subspan(1), source.offset(),
                    source.dtype());
  const Array wide = broadcast_to(source, full_shape);
  std::vector<int> order;
  for (int k = 0; k < broadcast_ndim; ++k) order.push_back(key.front_axes + k);
  for (int k = 0; k < wide.ndim(); ++k)
    if (k < key.front_axes || k >= key.front_axes + broadcast_ndim) order.push_back(k);
  return transpose(wide, order);
}

void assign_masked(const Array& array, const Array& mask, const Value& value) {
  const auto axes = static_cast<std::size_t>(mask.ndim());
  if (mask.ndim() > array.ndim() || !std::ranges::equal(mask.shape(), array.shape().first(axes)))
    throw Unfit{"a mask of another shape"};
  if (mask.ndim() == array.ndim()) return assign(array, value.argument, &mask);
  // Colours, points: a kernel would go over the few elements of each by themselves.
  constexpr std::int64_t few = 8;
  const auto items = array.shape().subspan(axes);
  if (std::accumulate(items.begin(), items.end(), std::int64_t{1}, std::multiplies<>()) <= few)
    return expand(array, mask, value.argument);
  Shape shape(mask.shape().begin(), mask.shape().end()),
      strides(mask.strides().begin(), mask.strides().end());
  shape.resize(static_cast<std::size_t>(array.ndim()), 1);
  strides.resize(static_cast<std::size_t>(array.ndim()), 0);
  const Array wide = window(mask, shape, strides, mask.offset(), DType::Bool);
  const Array whole = broadcast_to(wide, array.shape());
  assign(array, value.argument, &whole);
}

void set_native(PyObject* self, PyObject* key, PyObject* object) {
  check_writable(array_of(self));
  const Array& array = array_of(self).array;
  const Value value = read_value(object, array.dtype());
  if (const Array* indices = vector_indices(array, key)) {
    convert_unused(value, array, {indices, 1});
    return scatter(array, {indices, 1}, value.argument);
  }
  if (BasicWindow basic; !is_array(key) && read_window(array, key, basic))
    if (!value.argument.array || value.argument.array->ndim() <= static_cast<int>(basic.ndim)) {
      if (value.is_number) convert_unused(value, basic.of(array));
      return assign_window(array, {basic.shape, basic.ndim}, {basic.strides, basic.ndim},
                           basic.offset, value.argument);
    }
  convert_unused(value, array);
  if (const std::optional<Array> mask = mask_key(key)) {
    const auto& values = value.argument.array;
    if (!values || (values->ndim() <= 1 && values->size() == 1))
      return assign_masked(array, *mask, value);
    return expand(array, *mask, value.argument);
  }
  const IndexKey read = read_key(array, key);
  if (read.arrays.empty()) {
    // NumPy makes one element of the whole value here, which a sequence is not.
    const bool is_sequence = !is_array(object) && !PyArray_Check(object);
    if (value.argument.array && value.argument.array->ndim() > read.basic.ndim() &&
        (read.is_scalar || is_sequence))
      throw Unfit{"a sequence for one element"};
    convert_unused(value, read.basic);
    return assign(read.basic, value.argument);
  }
  convert_unused(value, read.basic, read.arrays);
  if (value.argument.array && value.argument.array->ndim() > 0 && read.front_axes > 0)
    return scatter(read.basic, read.arrays, value_in_front(*value.argument.array, read));
  scatter(read.basic, read.arrays, value.argument);
}

}  // namespace

PyObject* get_item(PyObject* self, PyObject* key) {
  const Array& array = array_of(self).array;
  const bool is_basic = !is_array(key);
  std::int64_t offset;
  if (is_basic && element_offset(array, key, offset)) {
    if (is_ready(array)) [[likely]] {
      note_look();
      return guarded(
          [&] { return make_scalar(array.base()->data + array.offset() + offset, array.dtype()); });
    }
    note_source();
    return guarded([&] {
      return is_recorded(array, array) ? new_scalar_result(copy(element_of(array, offset)))
                                       : make_scalar(evaluate(array) + offset, array.dtype());
    });
  }
  if (BasicWindow basic; is_basic && read_window(array, key, basic))
    return guarded([&] { return new_view(basic.of(array), array_of(self)); });
  note_source();
  return native_or(
      {"getitem", {&key, 1}, self}, [&] { return get_native(self, key); },
      [&](const char* reason) {
        return fall_back_on("getitem", operator_function("getitem"), reason, self, key);
      });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  if (!value) {
    PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
    return -1;
  }
  const ArrayObject& object = array_of(self);
  std::int64_t offset;
  if (!is_array(key) && !object.read_only && object.array.base()->writable &&
      element_offset(object.array, key, offset)) {
    bool done = false;
    if (guarded_status([&] { done = write_element(object.array, offset, value); }) < 0) return -1;
    if (done) return 0;
  }
  note_source();
  PyObject* const given[] = {key, value};
  const Ref status = Ref::steal(native_or(
      {"setitem", {given, 2}, self},
      [&] {
        set_native(self, key, value);
        settle_warnings();
        return Py_NewRef(Py_None);
      },
      [&](const char* reason) {
        return fall_back_on("setitem", operator_function("setitem"), reason, self, key, value);
      }));
  return status ? 0 : -1;
}

PyObject* get_row(PyObject* self, std::int64_t index) {
  const Array& array = array_of(self).array;
  const Layout& layout = *array.layout();
  if (layout.ndim() == 1) {
    const std::byte* data = is_ready(array) ? array.base()->data + array.offset() : evaluate(array);
    return make_scalar(data + index * layout.strides()[0], array.dtype());
  }
  return new_view(window(array, array.shape().subspan(1), array.strides().subspan(1),
                         array.offset() + index * array.strides()[0], array.dtype()),
                  array_of(self));
}

Array take_along(const Array& array, const Array& indices, int axis) {
  if (axis > 0)
    if (std::optional<Array> taken = take_dense(array, indices, axis)) return *std::move(taken);
  std::vector<int> order(static_cast<std::size_t>(array.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  const Array front = axis == 0 ? array : transpose(array, order);
  const Array result = gather(front, {&indices, 1});
  if (axis == 0) return result;
  return copy(transpose(result, moved_axes(result.ndim(), indices.ndim(), axis)), 'C');
}

}  // namespace frit::python
