// index_shortcuts.cpp: shortcuts of functions that turn indices into indices, or choose by them.
#include <algorithm>
#include <cstring>
#include <vector>

#include "front/dense.h"
#include "front/parts.h"
#include "front/positions.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

// An array with elements that lie in C order.
const Array* dense_array(PyObject* object) {
  if (!is_array(object)) return nullptr;
  const Array& array = array_of(object).array;
  return array.c_contiguous() && array.ndim() > 0 && array.size() > 0 ? &array : nullptr;
}

}  // namespace

std::vector<const Array*> like_arrays(PyObject* sequence) {
  if (!PyTuple_CheckExact(sequence) && !PyList_CheckExact(sequence)) return {};
  std::vector<const Array*> arrays;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k) {
    const Array* array = dense_array(PySequence_Fast_GET_ITEM(sequence, k));
    if (!array || (k > 0 && (array->dtype() != arrays[0]->dtype() ||
                             !std::ranges::equal(array->shape(), arrays[0]->shape()))))
      return {};
    arrays.push_back(array);
  }
  return arrays;
}

namespace {

const Array* dense_places(PyObject* object) {
  const Array* array = dense_array(object);
  return array && array->dtype() == DType::Int64 ? array : nullptr;
}

template <class T = std::byte>
const T* elements(const Array& array) {
  return reinterpret_cast<const T*>(evaluate(array));
}

// The extents of a tuple, none of them 0, and how many elements they make; else none.
std::optional<std::pair<Shape, std::int64_t>> extents_of(PyObject* tuple) {
  if (!PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) == 0) return std::nullopt;
  Shape extents;
  std::int64_t size = 1;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k) {
    const std::optional<std::int64_t> extent = word_of(PyTuple_GET_ITEM(tuple, k));
    if (!extent || *extent <= 0 || __builtin_mul_overflow(size, *extent, &size))
      return std::nullopt;
    extents.push_back(*extent);
  }
  if (extents.size() >= static_cast<std::size_t>(max_dimensions)) return std::nullopt;
  return std::pair{std::move(extents), size};
}

// Of arrays with more NumPy's older iterator says that it takes no more.
constexpr int most_dimensions_of_iterator = 32;

// choose(a, choices), all of one shape.
struct Choose {
  static constexpr const char* name = "choose";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional != 1 || arguments.names) return left_to_numpy();
    const Array* places = dense_places(self);
    const std::vector<const Array*> choices = like_arrays(arguments.values[0]);
    constexpr std::size_t most = 32;  // NumPy has a limit as well
    if (!places || choices.empty() || choices.size() > most ||
        places->ndim() > most_dimensions_of_iterator ||
        !std::ranges::equal(places->shape(), choices[0]->shape()))
      return left_to_numpy();
    const std::byte* from[most];
    for (std::size_t k = 0; k < choices.size(); ++k) from[k] = elements(*choices[k]);
    Array result = empty(places->shape(), choices[0]->dtype());
    std::byte* const to = memory_of(result);
    // From here on no other thread runs, which might change what is checked.
    const auto* which = elements<std::uint64_t>(*places);
    const std::span<const std::uint64_t> all(which, static_cast<std::size_t>(places->size()));
    if (std::ranges::any_of(all, [&](std::uint64_t k) { return k >= choices.size(); }))
      return left_to_numpy();
    with_unit(size_of(result.dtype()), [&]<class Unit>(Unit) {
      auto* const chosen = reinterpret_cast<Unit*>(to);
      for (std::size_t k = 0; k < all.size(); ++k)
        std::memcpy(chosen + k, from[all[k]] + k * sizeof(Unit), sizeof(Unit));
    });
    return new_array(std::move(result));
  }
};

// The method: a.choose(choices).
struct ChooseMethod {
  static constexpr const char* name = "choose";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    Ref chosen = Ref::steal(Choose::run(self, arguments));
    if (chosen.get() == Py_NotImplemented) throw Unfit{"choices of another kind"};
    return chosen.release();
  }
};

// A row of coordinates for each place, all in numbers of one width: short ones are divided in a
// fraction of the time. False: one is out of bounds.
template <class Number>
bool unravel(std::span<const std::int64_t> places, const Shape& shape, std::int64_t size,
             std::int64_t* row) {
  for (const std::int64_t place : places) {
    if (place < 0 || place >= size) return false;
    auto rest = static_cast<Number>(place);
    for (std::size_t k = shape.size(); k-- > 0;) {
      const auto extent = static_cast<Number>(shape[k]);
      row[k] = static_cast<std::int64_t>(rest % extent);
      rest /= extent;
    }
    row += shape.size();
  }
  return true;
}

// unravel_index(indices, shape): columns of one array, as NumPy gives them.
struct UnravelIndex {
  static constexpr const char* name = "unravel_index";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const Array* places = dense_places(self);
    if (!places || arguments.positional != 1 || arguments.names) return left_to_numpy();
    const auto extents = extents_of(arguments.values[0]);
    if (!extents || places->ndim() >= max_dimensions) return left_to_numpy();
    const auto& [shape, size] = *extents;
    const auto count = static_cast<std::int64_t>(shape.size());
    const auto* flat = elements<std::int64_t>(*places);
    Shape whole_shape(places->shape().begin(), places->shape().end());
    whole_shape.push_back(count);
    Array whole = empty(whole_shape, DType::Int64);
    auto* const row = reinterpret_cast<std::int64_t*>(memory_of(whole));
    const std::span<const std::int64_t> all(flat, static_cast<std::size_t>(places->size()));
    const bool is_inside = size <= UINT32_MAX ? unravel<std::uint32_t>(all, shape, size, row)
                                              : unravel<std::uint64_t>(all, shape, size, row);
    if (!is_inside) return left_to_numpy();
    const Ref owner = Ref::steal(new_array(whole));
    const auto axes = static_cast<std::size_t>(places->ndim());
    Ref columns = checked(PyTuple_New(count));
    for (std::int64_t k = 0; k < count; ++k)
      PyTuple_SET_ITEM(
          columns.get(), k,
          new_view(window(whole, places->shape(), whole.strides().first(axes),
                          k * static_cast<std::int64_t>(sizeof(std::int64_t)), DType::Int64),
                   array_of(owner.get())));
    return columns.release();
  }
};

// sums[i] += index[i] * step by the ready-made loops; it may wrap.
void add_steps(std::byte* sums, const std::int64_t* index, std::int64_t n, std::int64_t step) {
  constexpr std::int64_t part = 512;
  constexpr unsigned by_number = 1 << 1;
  const Loop multiply = loop(Op::Multiply, DType::UInt64), add = loop(Op::Add, DType::UInt64);
  std::int64_t products[part];
  for (std::int64_t k = 0; k < n; k += part, sums += sizeof products) {
    const std::int64_t count = std::min(part, n - k);
    void* product[3] = {products, const_cast<std::int64_t*>(index + k), &step};
    multiply(product, count, by_number);
    void* sum[3] = {sums, sums, products};
    add(sum, count, 0);
  }
}

// ravel_multi_index(multi_index, dims) of arrays of one shape.
PyObject* ravel_multi_index(PyObject*, PyObject* const* values, Py_ssize_t positional,
                            PyObject* names) {
  if (positional != 2 || names) return left_to_numpy();
  return shortcut({&address_of<ravel_multi_index>, {values, positional, names}}, [&] {
    const std::vector<const Array*> indices = like_arrays(values[0]);
    const auto extents = extents_of(values[1]);
    if (indices.empty() || indices[0]->dtype() != DType::Int64 || !extents ||
        extents->first.size() != indices.size() || !PyTuple_CheckExact(values[0]))
      return left_to_numpy();
    Array result = empty(indices[0]->shape(), DType::Int64);
    std::byte* const sums = memory_of(result);
    std::memset(sums, 0, static_cast<std::size_t>(result.size()) * sizeof(std::int64_t));
    std::int64_t step = extents->second;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      step /= extents->first[k];
      const std::int64_t* const index = elements<std::int64_t>(*indices[k]);
      if (!all_below(index, result.size(), extents->first[k])) return left_to_numpy();
      add_steps(sums, index, result.size(), step);
    }
    return new_array(std::move(result));
  });
}

// broadcast_arrays(*arrays) of one shape: the arrays themselves.
struct BroadcastArrays {
  static constexpr const char* name = "broadcast_arrays";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto shape = array_of(self).array.shape();
    if (arguments.names || shape.size() > most_dimensions_of_iterator) return left_to_numpy();
    Ref arrays = checked(PyTuple_New(arguments.positional + 1));
    PyTuple_SET_ITEM(arrays.get(), 0, Py_NewRef(self));
    for (Py_ssize_t k = 0; k < arguments.positional; ++k) {
      PyObject* const other = arguments.values[k];
      if (!is_array(other) || !std::ranges::equal(array_of(other).array.shape(), shape))
        return left_to_numpy();
      PyTuple_SET_ITEM(arrays.get(), k + 1, Py_NewRef(other));
    }
    return arrays.release();
  }
};

// The axis of take_along_axis and put_along_axis; nothing for None, and where NumPy refuses so many
// arrays of indices.
std::optional<int> axis_of(PyObject* axis, int ndim) {
  if (axis == Py_None || ndim == 0 || ndim == max_dimensions) return std::nullopt;
  return axis ? axis_operand(axis, ndim) : ndim - 1;
}

// take_along_axis(arr, indices, axis=-1).
struct TakeAlongAxis {
  static constexpr const char* name = "take_along_axis";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [places, axis] = named(arguments, {"indices", "axis"});
    const Array& array = array_of(self).array;
    const std::optional<int> along = axis_of(axis, array.ndim());
    if (!along || !places || !is_array(places)) return left_to_numpy();
    std::optional<Array> taken = take_per_line(array, array_of(places).array, *along);
    return taken ? new_array(*std::move(taken)) : left_to_numpy();
  }
};

// put_along_axis(arr, indices, values, axis).
struct PutAlongAxis {
  static constexpr const char* name = "put_along_axis";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [places, values, axis] = named(arguments, {"indices", "values", "axis"});
    const Array& array = array_of(self).array;
    const std::optional<int> along = axis_of(axis, array.ndim());
    if (!along || !axis || !places || !values || !is_array(places)) return left_to_numpy();
    check_writable(array_of(self));
    const std::optional<Scalar> number =
        is_array(values) || is_scalar(values) ? std::nullopt : element_value(values, array.dtype());
    if (!number && !is_array(values)) return left_to_numpy();
    const Argument value = number ? Argument(*number) : Argument(array_of(values).array);
    return put_per_line(array, array_of(places).array, *along, value) ? Py_NewRef(Py_None)
                                                                      : left_to_numpy();
  }
};

}  // namespace

PyMethodDef choose_method() { return method_row<ChooseMethod>(); }

std::vector<PyMethodDef> index_shortcuts() {
  return {shortcut_row<Choose>(),          shortcut_row<UnravelIndex>(),
          shortcut_row<BroadcastArrays>(), shortcut_row<TakeAlongAxis>(),
          shortcut_row<PutAlongAxis>(),    plain_row("ravel_multi_index", ravel_multi_index)};
}

}  // namespace frit::python
