// matrices.cpp: matrices with ones on a diagonal, diagonals, and what lies on one side of them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "python/array_type.h"
#include "python/float_state.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {

Array diagonal(const Array& array, std::int64_t shift, std::size_t one, std::size_t two) {
  if (shift != static_cast<int>(shift)) throw Unfit{"an offset beyond what NumPy takes"};
  const std::int64_t rows = array.shape()[one] + std::min<std::int64_t>(shift, 0);
  const std::int64_t columns = array.shape()[two] - std::max<std::int64_t>(shift, 0);
  const std::int64_t n = std::max<std::int64_t>(std::min(rows, columns), 0);
  std::int64_t start = array.offset();
  if (n > 0) start += shift >= 0 ? shift * array.strides()[two] : -shift * array.strides()[one];
  const std::int64_t stride = array.strides()[one] + array.strides()[two];
  if (array.ndim() == 2) return window(array, {&n, 1}, {&stride, 1}, start, array.dtype());
  Shape shape, strides;
  for (std::size_t k = 0; k < array.shape().size(); ++k) {
    if (k == one || k == two) continue;
    shape.push_back(array.shape()[k]);
    strides.push_back(array.strides()[k]);
  }
  shape.push_back(n);
  strides.push_back(stride);
  return window(array, shape, strides, start, array.dtype());
}

namespace {

std::int64_t word_operand(PyObject* object) {
  const std::optional<std::int64_t> word = word_of(object);
  if (!word) throw Unfit{"other than Python integers"};
  return *word;
}

// Zeros, but for a diagonal. More elements than a few are recorded step by step (_creation.py).
Array with_diagonal(std::int64_t rows, std::int64_t columns, std::int64_t shift, DType dtype,
                    const Argument& elements) {
  constexpr std::int64_t few = 4096;
  if (rows < 0 || columns < 0 || rows > few || columns > few || rows * columns > few)
    throw Unfit{"many elements"};
  const std::int64_t shape[2] = {rows, columns};
  const Array made = full(shape, cast_scalar(Scalar::of(DType::Int64, std::int64_t{0}), dtype));
  const Array on = diagonal(made, shift, 0, 1);
  assign_window(made, on.shape(), on.strides(), on.offset(), elements);
  return made;
}

PyObject* ones_on_diagonal(PyObject* rows, PyObject* columns, PyObject* shift, PyObject* dtype) {
  const DType type = requested_dtype(dtype).value_or(DType::Float64);
  const bool is_square = !columns || columns == Py_None;
  const Scalar one = cast_scalar(Scalar::of(DType::Int64, std::int64_t{1}), type);
  return new_array(with_diagonal(word_operand(rows), word_operand(is_square ? rows : columns),
                                 shift ? word_operand(shift) : 0, type, one));
}

PyObject* eye(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  return shortcut({&address_of<eye>, arguments}, [&] {
    const auto [rows, columns, shift, dtype] = named(arguments, {"N", "M", "k", "dtype"});
    return ones_on_diagonal(rows, columns, shift, dtype);
  });
}

PyObject* identity(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  return shortcut({&address_of<identity>, arguments}, [&] {
    const auto [extent, dtype] = named(arguments, {"n", "dtype"});
    return ones_on_diagonal(extent, nullptr, nullptr, dtype);
  });
}

// tri(N, M=None, k=0) of few float64 elements.
PyObject* tri(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  return shortcut({&address_of<tri>, arguments}, [&] {
    constexpr std::int64_t few = 4096;
    const auto [given_rows, given_columns, given_shift] = named(arguments, {"N", "M", "k"});
    const std::int64_t rows = word_operand(given_rows);
    const bool is_square = !given_columns || given_columns == Py_None;
    const std::int64_t columns = is_square ? rows : word_operand(given_columns);
    if (rows < 0 || columns < 0 || rows > few || columns > few || rows * columns > few)
      return left_to_numpy();
    const std::int64_t shift =
        given_shift ? std::clamp(word_operand(given_shift), -rows - 1, columns) : 0;
    const std::int64_t shape[2] = {rows, columns};
    Array result = empty(shape, DType::Float64);
    auto* to = reinterpret_cast<double*>(memory_of(result));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        *to++ = column <= row + shift ? 1.0 : 0.0;
    return new_array(std::move(result));
  });
}

// vander(x, N=None, increasing=False) of few float64 elements whose powers are numbers.
struct Vandermonde {
  static constexpr const char* name = "vander";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    constexpr std::int64_t few = 4096;
    const auto [given, increasing] = named(arguments, {"N", "increasing"});
    const Array& x = array_of(self).array;
    if (x.ndim() != 1 || x.dtype() != DType::Float64) return left_to_numpy();
    const std::int64_t rows = x.size(),
                       columns = given && given != Py_None ? word_operand(given) : rows;
    if (columns <= 0 || rows <= 0 || rows > few || columns > few || rows * columns > few)
      return left_to_numpy();
    leave_underflow_to_numpy();
    const bool is_increasing = flag_operand(increasing, false);
    const std::byte* from = evaluate(x);
    const std::int64_t shape[2] = {rows, columns};
    Array result = empty(shape, DType::Float64);
    auto* const to = reinterpret_cast<double*>(memory_of(result));
    bool are_finite = true;
    for (std::int64_t row = 0; row < rows; ++row) {
      double number, power = 1;
      std::memcpy(&number, from + row * x.strides()[0], sizeof number);
      for (std::int64_t k = 0; k < columns; ++k) {
        to[row * columns + (is_increasing ? k : columns - 1 - k)] = power;
        are_finite &= std::isfinite(power);
        power = k == 0 ? number : power * number;
      }
    }
    return are_finite ? new_array(std::move(result)) : left_to_numpy();  // it warns
  }
};

// diag(v, k=0): a diagonal, or a matrix that has the vector on it.
struct Diag {
  static constexpr const char* name = "diag";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [given] = named(arguments, {"k"});
    const Array& array = array_of(self).array;
    const std::int64_t shift = given ? word_operand(given) : 0;
    if (array.ndim() == 2) {
      PyObject* view = new_view(diagonal(array, shift, 0, 1), array_of(self));
      array_of(view).read_only = true;
      return view;
    }
    if (array.ndim() != 1) throw Unfit{"neither row nor matrix"};
    return of_vector(array, shift);
  }
  static PyObject* of_vector(const Array& array, std::int64_t shift) {
    if (std::abs(shift) > array.size()) throw Unfit{"a shift beyond the vector"};
    const std::int64_t extent = array.size() + std::abs(shift);
    return new_array(with_diagonal(extent, extent, shift, array.dtype(), array));
  }
};

// diagflat(v, k=0): a matrix that has all elements on a diagonal.
struct DiagFlat {
  static constexpr const char* name = "diagflat";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [given] = named(arguments, {"k"});
    return Diag::of_vector(raveled(array_behind(self)), given ? word_operand(given) : 0);
  }
};

// indices(dimensions) of few elements.
PyObject* indices(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  if (positional != 1 || names || !PyTuple_CheckExact(values[0])) return left_to_numpy();
  return shortcut({&address_of<indices>, {values, positional, names}}, [&] {
    constexpr std::int64_t few = 4096;
    const auto axes = static_cast<std::size_t>(PyTuple_GET_SIZE(values[0]));
    Shape shape = {static_cast<std::int64_t>(axes)};
    std::int64_t size = 1;
    for (std::size_t k = 0; k < axes; ++k) {
      const std::int64_t extent =
          word_operand(PyTuple_GET_ITEM(values[0], static_cast<Py_ssize_t>(k)));
      if (extent <= 0 || extent > few || (size *= extent) > few) return left_to_numpy();
      shape.push_back(extent);
    }
    if (axes == 0 || axes >= static_cast<std::size_t>(max_dimensions)) return left_to_numpy();
    Array result = empty(shape, DType::Int64);
    auto* to = reinterpret_cast<std::int64_t*>(memory_of(result));
    for (std::size_t axis = 1, step = static_cast<std::size_t>(size); axis <= axes; ++axis) {
      const auto extent = static_cast<std::size_t>(shape[axis]);
      step /= extent;
      for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k)
        *to++ = static_cast<std::int64_t>(k / step % extent);
    }
    return new_array(std::move(result));
  });
}

// tril(m, k=0) and triu of matrices in C order, which are there.
template <bool is_lower>
struct Triangle {
  static constexpr const char* name = is_lower ? "tril" : "triu";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [given] = named(arguments, {"k"});
    const Array& array = array_of(self).array;
    if (array.ndim() < 2 || !array.c_contiguous() || !is_small_and_ready(array, moved_times))
      return left_to_numpy();
    const std::int64_t rows = array.shape()[array.shape().size() - 2],
                       columns = array.shape().back(), item = size_of(array.dtype());
    const std::int64_t shift = std::clamp(given ? word_operand(given) : 0, -rows, columns);
    Array result = empty(array.shape(), array.dtype());
    std::byte* to = memory_of(result);
    const std::byte* from = array.base()->data + array.offset();
    for (const std::byte* end = to + result.base()->bytes; to < end;)
      for (std::int64_t row = 0; row < rows; ++row, to += columns * item, from += columns * item) {
        const std::int64_t split =
            std::clamp<std::int64_t>(row + shift + (is_lower ? 1 : 0), 0, columns) * item;
        const auto front = static_cast<std::size_t>(split),
                   rest = static_cast<std::size_t>(columns * item - split);
        if (is_lower) {
          std::memcpy(to, from, front);
          std::memset(to + split, 0, rest);
        } else {
          std::memset(to, 0, front);
          std::memcpy(to + split, from + split, rest);
        }
      }
    return new_array(std::move(result));
  }
};

}  // namespace

std::vector<PyMethodDef> matrix_shortcuts() {
  return {plain_row("eye", eye),          plain_row("identity", identity),
          plain_row("tri", tri),          shortcut_row<Vandermonde>(),
          plain_row("indices", indices),  shortcut_row<Diag>(),
          shortcut_row<DiagFlat>(),       shortcut_row<Triangle<true>>(),
          shortcut_row<Triangle<false>>()};
}

}  // namespace frit::python
