// callback_shortcuts.cpp: apply_along_axis of arrays of few rows, around the calls of the function.
#include <algorithm>
#include <numeric>

#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

// The next of the results that are there, whatever it is called with.
PyObject* next_result(PyObject* results, PyObject* const*, Py_ssize_t, PyObject*) {
  PyObject* const next = PyIter_Next(results);
  if (!next && !PyErr_Occurred()) PyErr_SetNone(PyExc_StopIteration);
  return next;
}

// NumPy puts the results together: the function, which must not run twice, stays out of it.
PyObject* joined_by_numpy(PyObject* axis, PyObject* array, const std::vector<Ref>& results) {
  static PyMethodDef definition = plain_row("func1d", next_result);
  const Ref list = checked(PyList_New(std::ssize(results)));
  for (std::size_t k = 0; k < results.size(); ++k)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(k), Py_NewRef(results[k].get()));
  const Ref iterator = checked(PyObject_GetIter(list.get()));
  const Ref function = checked(PyCFunction_New(&definition, iterator.get()));
  return call_numpy_on(numpy_function("apply_along_axis"), function.get(), axis, array);
}

// As arrays of one shape and dtype; else none.
std::vector<Array> like_results(const std::vector<Ref>& results) {
  std::vector<Array> arrays;
  try {
    for (const Ref& each : results) {
      arrays.push_back(array_operand(each.get()));
      if (arrays.back().dtype() != arrays[0].dtype() ||
          !std::ranges::equal(arrays.back().shape(), arrays[0].shape()))
        return {};
    }
  } catch (const Unfit&) {
    return {};
  }
  return arrays;
}

// The array's rows along an axis, in the order of their indices.
class Rows {
 public:
  Rows(ArrayObject& object, std::size_t axis) : object_(object), array_(object.array), axis_(axis) {
    for (std::size_t k = 0; k < array_.shape().size(); ++k)
      if (k != axis) axes_.push_back(k);
    index_.resize(axes_.size());
  }
  Shape shape() const {
    Shape outer;
    for (const std::size_t k : axes_) outer.push_back(array_.shape()[k]);
    return outer;
  }
  Ref next() {
    std::int64_t offset = array_.offset();
    for (std::size_t k = 0; k < axes_.size(); ++k) offset += index_[k] * array_.strides()[axes_[k]];
    for (std::size_t k = axes_.size(); k-- > 0;) {
      if (++index_[k] < array_.shape()[axes_[k]]) break;
      index_[k] = 0;
    }
    return Ref::steal(new_view(window(array_, array_.shape().subspan(axis_, 1),
                                      array_.strides().subspan(axis_, 1), offset, array_.dtype()),
                               object_));
  }

 private:
  ArrayObject& object_;
  const Array array_;  // held: the function may change the object's shape
  std::size_t axis_;
  std::vector<std::size_t> axes_;
  Shape index_;
};

// One behind the other, and their axes in the place of the one that the rows lay along.
PyObject* joined(const std::vector<Array>& results, const Shape& outer, std::size_t axis) {
  const auto inner = results[0].shape();
  Shape shape = outer;
  shape.insert(shape.end(), inner.begin(), inner.end());
  const Array whole = empty(shape, results[0].dtype());
  const auto strides = whole.strides().subspan(outer.size());
  std::int64_t offset = 0;
  for (const Array& each : results) {
    assign_window(whole, inner, strides, offset, each);
    offset += each.size() * size_of(each.dtype());
  }
  std::vector<int> order(outer.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<int> moved(inner.size());
  std::iota(moved.begin(), moved.end(), static_cast<int>(outer.size()));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(axis), moved.begin(), moved.end());
  const Ref owner = Ref::steal(new_array(whole));
  return new_view(transpose(whole, order), array_of(owner.get()));
}

// apply_along_axis(func1d, axis, arr, *args, **kwargs).
PyObject* apply_along_axis(PyObject*, PyObject* const* values, Py_ssize_t positional,
                           PyObject* names) {
  constexpr Py_ssize_t least = 3;
  constexpr std::int64_t most = 1 << 16;  // beyond, the results are not all held
  if (positional < least || !is_array(values[2])) return left_to_numpy();
  return guarded([&] {
    ArrayObject& object = array_of(values[2]);
    const int ndim = object.array.ndim();
    const std::int64_t size = object.array.size();
    const std::optional<std::int64_t> given = word_of(values[1]);
    if (!given || *given < -ndim || *given >= ndim || size == 0 || size > most)
      return left_to_numpy();
    note_source();
    const auto axis = static_cast<std::size_t>(*given < 0 ? *given + ndim : *given);
    std::int64_t count = size / object.array.shape()[axis];
    std::vector<PyObject*> operands(
        values + 2, values + positional + Arguments{values, positional, names}.keywords());
    Rows rows(object, axis);
    const Shape outer = rows.shape();
    std::vector<Ref> results;
    for (; count > 0; --count) {
      const Ref row = rows.next();
      operands[0] = row.get();
      results.push_back(checked(PyObject_Vectorcall(
          values[0], operands.data(), static_cast<std::size_t>(positional - 2), names)));
    }
    const std::vector<Array> arrays = like_results(results);
    if (arrays.empty() ||
        outer.size() + arrays[0].shape().size() > static_cast<std::size_t>(max_dimensions))
      return joined_by_numpy(values[1], values[2], results);
    return joined(arrays, outer, axis);
  });
}

}  // namespace

std::vector<PyMethodDef> callback_shortcuts() {
  return {plain_row("apply_along_axis", apply_along_axis)};
}

}  // namespace frit::python
