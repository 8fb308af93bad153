// part_shortcuts.cpp: shortcuts of functions that cut arrays into parts, or leave parts out.
#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/pack.h"
#include "python/array_type.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

bool is_dense(const Array& array) { return array.c_contiguous() && array.ndim() > 0; }

// The numbers of a list or tuple of ints, or of a dense vector of int64; else nothing.
std::optional<std::vector<std::int64_t>> numbers_of(PyObject* object) {
  std::vector<std::int64_t> numbers;
  if (is_array(object)) {
    const Array& array = array_behind(object);
    if (array.dtype() != DType::Int64 || array.ndim() != 1 || !array.c_contiguous())
      return std::nullopt;
    numbers.resize(static_cast<std::size_t>(array.size()));
    if (array.size() > 0)
      std::memcpy(numbers.data(), evaluate(array), numbers.size() * sizeof(std::int64_t));
    return numbers;
  }
  if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) return std::nullopt;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k) {
    const std::optional<std::int64_t> number = word_of(PySequence_Fast_GET_ITEM(object, k));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// ---- split --------------------------------------------------------------------------------------

enum class Lengths : std::uint8_t { Any, Equal };  // of parts that are given by their number

// Where the parts begin and the last one ends; nothing where NumPy should judge.
std::optional<std::vector<std::int64_t>> borders_of(PyObject* sections, std::int64_t extent,
                                                    Lengths lengths) {
  std::vector<std::int64_t> borders = {0};
  if (const std::optional<std::int64_t> count = word_of(sections)) {
    constexpr std::int64_t most = 1 << 20;
    if (*count <= 0 || *count > most || (lengths == Lengths::Equal && extent % *count != 0))
      return std::nullopt;
    for (std::int64_t k = 0; k < *count; ++k)
      borders.push_back(borders.back() + extent / *count + (k < extent % *count));
    return borders;
  }
  const auto numbers = numbers_of(sections);
  if (!numbers) return std::nullopt;
  borders.insert(borders.end(), numbers->begin(), numbers->end());
  borders.push_back(extent);
  return borders;
}

PyObject* parts_along(PyObject* self, PyObject* sections, int axis, Lengths lengths) {
  const Array& array = array_behind(self);
  const auto along = static_cast<std::size_t>(axis);
  const std::int64_t extent = array.shape()[along];
  const auto borders = borders_of(sections, extent, lengths);
  if (!borders) return left_to_numpy();
  Shape shape(array.shape().begin(), array.shape().end());
  const auto count = static_cast<Py_ssize_t>(borders->size()) - 1;
  Ref parts = checked(PyList_New(count));
  for (Py_ssize_t k = 0; k < count; ++k) {
    Py_ssize_t begin = (*borders)[static_cast<std::size_t>(k)],
               end = (*borders)[static_cast<std::size_t>(k) + 1];
    shape[along] = PySlice_AdjustIndices(extent, &begin, &end, 1);
    PyList_SET_ITEM(parts.get(), k,
                    new_view(window(array, shape, array.strides(),
                                    array.offset() + begin * array.strides()[along], array.dtype()),
                             array_of(self)));
  }
  return parts.release();
}

// array_split and split(ary, indices_or_sections, axis=0).
template <Lengths lengths>
struct Split {
  static constexpr const char* name = lengths == Lengths::Equal ? "split" : "array_split";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [sections, axis] = named(arguments, {"indices_or_sections", "axis"});
    const int ndim = array_behind(self).ndim();
    if (!sections || ndim == 0) return left_to_numpy();
    return parts_along(self, sections, axis ? axis_operand(axis, ndim) : 0, lengths);
  }
};
// vsplit, hsplit and dsplit(ary, indices_or_sections).
template <int axis>
struct SplitAlong {
  static constexpr const char* names[] = {"vsplit", "hsplit", "dsplit"};
  static constexpr const char* name = names[axis];
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [sections] = named(arguments, {"indices_or_sections"});
    const int ndim = array_behind(self).ndim();
    const bool is_flat = axis == 1 && ndim == 1;
    if (!sections || ndim == 0 || (!is_flat && ndim < std::max(axis + 1, 2)))
      return left_to_numpy();
    return parts_along(self, sections, is_flat ? 0 : axis, Lengths::Equal);
  }
};

// ---- delete and insert --------------------------------------------------------------------------

// Elements of an axis that are left out.
struct Gap {
  std::int64_t begin, end;
};

// The array, which is dense, without gaps that follow one another.
Array without(const Array& array, std::size_t axis, const std::vector<Gap>& gaps) {
  Shape shape(array.shape().begin(), array.shape().end());
  std::int64_t rows = 1, row = size_of(array.dtype());
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (k < axis) rows *= shape[k];
    if (k > axis) row *= shape[k];
  }
  const std::int64_t extent = shape[axis];
  for (const Gap& gap : gaps) shape[axis] -= gap.end - gap.begin;
  Array result = empty(shape, array.dtype());
  const std::byte* from = evaluate(array);
  std::byte* to = memory_of(result);
  const auto move = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t bytes = (end - begin) * row;
    std::memcpy(to, from + begin * row, static_cast<std::size_t>(bytes));
    to += bytes;
  };
  for (; rows > 0; --rows, from += extent * row) {
    std::int64_t next = 0;
    for (const Gap& gap : gaps) {
      move(next, gap.begin);
      next = gap.end;
    }
    move(next, extent);
  }
  return result;
}

// delete(arr, obj, axis=None) of dense elements: of a vector by indices or by a mask, else by one
// number or slice.
struct Delete {
  static constexpr const char* name = "delete";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [which, along] = named(arguments, {"obj", "axis"});
    const Array& whole = array_behind(self);
    if (!which || !is_dense(whole) || whole.size() == 0) return left_to_numpy();
    const bool has_axis = along && along != Py_None;
    const Array array = has_axis ? whole : raveled(whole);
    const int axis = has_axis ? axis_operand(along, array.ndim()) : 0;
    const std::int64_t extent = array.shape()[static_cast<std::size_t>(axis)];
    std::optional<std::vector<Gap>> gaps;
    if (PySlice_Check(which) || PyLong_CheckExact(which)) {
      // Beyond, it is recorded. One that is pending is computed: programs take elements out of an
      // array one after another.
      constexpr std::int64_t times = 64;
      if (array.size() * size_of(array.dtype()) <= times * Engine::get().settings.immediate_bytes)
        gaps = PySlice_Check(which) ? gaps_of_slice(which, extent) : gaps_of_number(which, extent);
    } else if (array.ndim() == 1) {
      if (is_mask(which, extent)) {
        note_ufunc("invert");
        return new_array(compress(array, apply(Op::Invert, {array_behind(which)})));
      }
      gaps = gaps_of(which, extent);
    }
    return gaps ? new_array(without(array, static_cast<std::size_t>(axis), *gaps))
                : left_to_numpy();
  }

 private:
  static bool is_mask(PyObject* object, std::int64_t extent) {
    if (!is_array(object)) return false;
    const Array& mask = array_behind(object);
    return mask.dtype() == DType::Bool && mask.ndim() == 1 && mask.size() == extent;
  }
  static std::optional<std::vector<Gap>> gaps_of_slice(PyObject* slice, std::int64_t extent) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) {
      PyErr_Clear();  // NumPy says it
      return std::nullopt;
    }
    const Py_ssize_t count = PySlice_AdjustIndices(extent, &start, &stop, step);
    std::vector<Gap> gaps;
    if (step == 1 && count > 0) {
      gaps.push_back({start, start + count});
    } else {
      const Py_ssize_t first = step < 0 ? start + (count - 1) * step : start;
      for (Py_ssize_t k = 0, at = first; k < count; ++k, at += std::abs(step))
        gaps.push_back({at, at + 1});
    }
    return gaps;
  }
  static std::optional<std::vector<Gap>> gaps_of_number(PyObject* object, std::int64_t extent) {
    const std::optional<std::int64_t> number = word_of(object);
    return number ? gaps_of(std::vector{*number}, extent) : std::nullopt;
  }
  static std::optional<std::vector<Gap>> gaps_of(PyObject* object, std::int64_t extent) {
    constexpr std::int64_t few = 64;
    auto numbers = numbers_of(object);
    if (!numbers || numbers->empty() || std::ssize(*numbers) > std::max(few, extent / few))
      return std::nullopt;
    return gaps_of(*std::move(numbers), extent);
  }
  static std::optional<std::vector<Gap>> gaps_of(std::vector<std::int64_t> numbers,
                                                 std::int64_t extent) {
    for (std::int64_t& number : numbers) {
      if (number < -extent || number >= extent) return std::nullopt;
      if (number < 0) number += extent;
    }
    std::ranges::sort(numbers);
    std::vector<Gap> gaps;
    for (const std::int64_t number : numbers)
      if (gaps.empty() || gaps.back().begin != number) gaps.push_back({number, number + 1});
    return gaps;
  }
};

// insert(arr, obj, values, axis=None) of one number at one place of a dense vector.
struct Insert {
  static constexpr const char* name = "insert";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [place, value, along] = named(arguments, {"obj", "values", "axis"});
    const Array& whole = array_behind(self);
    if (!place || !value || !is_dense(whole) || is_array(value) || is_scalar(value))
      return left_to_numpy();
    const bool has_axis = along && along != Py_None;
    if (has_axis && (whole.ndim() != 1 || axis_operand(along, 1) != 0)) return left_to_numpy();
    constexpr std::int64_t times = 64;
    const std::optional<std::int64_t> number = word_of(place);
    const std::optional<Scalar> element = element_value(value, whole.dtype());
    const std::int64_t n = whole.size(), shape[] = {n + 1};
    if (!number || *number < -n || *number > n || !element || !is_small_and_ready(whole, times))
      return left_to_numpy();
    Array result = empty(shape, whole.dtype());
    const auto item = static_cast<std::size_t>(size_of(whole.dtype()));
    const auto before = static_cast<std::size_t>(*number < 0 ? *number + n : *number) * item;
    const std::byte* const from = evaluate(whole);
    std::byte* const to = memory_of(result);
    std::memcpy(to, from, before);
    std::memcpy(to + before, element->bytes, item);
    std::memcpy(to + before + item, from + before, static_cast<std::size_t>(n) * item - before);
    return new_array(std::move(result));
  }
};

// ---- what a condition leaves --------------------------------------------------------------------

// The elements, in C order, for which as many conditions are true; nothing of others.
PyObject* elements_where(PyObject* condition, PyObject* object) {
  if (!is_array(condition) || !is_array(object)) return left_to_numpy();
  const Array &mask = array_behind(condition), &array = array_behind(object);
  if (mask.dtype() != DType::Bool || !is_dense(mask) || !is_dense(array) ||
      mask.size() != array.size())
    return left_to_numpy();
  return new_array(compress(raveled(array), raveled(mask)));
}

// extract(condition, arr).
struct Extract {
  static constexpr const char* name = "extract";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const bool is_plain = arguments.positional == 1 && !arguments.names;
    return is_plain ? elements_where(self, arguments.values[0]) : left_to_numpy();
  }
};
// compress(condition, a, axis=None), of a vector along its axis.
struct Compress {
  static constexpr const char* name = "compress";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [object, axis] = named(arguments, {"a", "axis"});
    if (!object || array_behind(self).ndim() != 1 || (axis && axis != Py_None))
      return left_to_numpy();
    return elements_where(self, object);
  }
};

// The method: a.compress(condition, axis=None).
struct CompressMethod {
  static constexpr const char* name = "compress";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [condition, axis] = named(arguments, {"condition", "axis"});
    const bool is_plain = condition && is_array(condition) && array_behind(condition).ndim() == 1 &&
                          (!axis || axis == Py_None);
    Ref result = Ref::steal(is_plain ? elements_where(condition, self) : left_to_numpy());
    if (result.get() == Py_NotImplemented) throw Unfit{"a condition of another kind"};
    return result.release();
  }
};

// place(arr, mask, vals) of one value.
struct Place {
  static constexpr const char* name = "place";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [mask, values] = named(arguments, {"mask", "vals"});
    if (!mask || !values || !is_array(mask) ||
        (!PyList_CheckExact(values) && !PyTuple_CheckExact(values)) ||
        PySequence_Fast_GET_SIZE(values) != 1)
      return left_to_numpy();
    const Array &array = array_behind(self), &where = array_behind(mask);
    const std::optional<Scalar> value =
        element_value(PySequence_Fast_GET_ITEM(values, 0), array.dtype());
    if (!value || where.dtype() != DType::Bool || array.ndim() == 0 ||
        !std::ranges::equal(array.shape(), where.shape()))
      return left_to_numpy();
    check_writable(array_of(self));
    assign(array, Argument(*value), &where);
    return Py_NewRef(Py_None);
  }
};

// argwhere(a): the transpose of the indices' array.
struct ArgWhere {
  static constexpr const char* name = "argwhere";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array& array = array_behind(self);
    if (arguments.positional > 0 || arguments.names || array.ndim() == 0) return left_to_numpy();
    evaluate(array);
    const std::vector<Array> indices = nonzero(array);
    const std::int64_t shape[] = {std::ssize(indices), indices[0].size()};
    Array whole = empty(shape, DType::Int64);
    std::byte* to = memory_of(whole);
    constexpr std::int64_t item = sizeof(std::int64_t);
    for (const Array& each : indices) {
      if (shape[1] == 0) break;
      auto* const from = const_cast<std::byte*>(evaluate(each));
      copy_elements({to, {&item, 1}}, {from, each.strides()}, {&shape[1], 1}, item);
      to += shape[1] * item;
    }
    const Ref owner = Ref::steal(new_array(whole));
    return new_view(transpose(whole, std::vector<int>{1, 0}), array_of(owner.get()));
  }
};

}  // namespace

PyMethodDef compress_method() { return method_row<CompressMethod>(); }

std::vector<PyMethodDef> part_shortcuts() {
  return {shortcut_row<Split<Lengths::Equal>>(),
          shortcut_row<Split<Lengths::Any>>(),
          shortcut_row<SplitAlong<0>>(),
          shortcut_row<SplitAlong<1>>(),
          shortcut_row<SplitAlong<2>>(),
          shortcut_row<Delete>(),
          shortcut_row<Insert>(),
          shortcut_row<Extract>(),
          shortcut_row<Compress>(),
          shortcut_row<Place>(),
          shortcut_row<ArgWhere>()};
}

}  // namespace frit::python
