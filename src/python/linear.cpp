// linear.cpp: small matrices of numpy.linalg: NumPy's own loops around LAPACK, called at once.
//
// NumPy's functions spend most of their time on such matrices before and behind the loop: types,
// errstate, wrapping. The loop is the same here, so the bits are. Where it reports an error, or
// anything is not plain, NumPy does the whole call.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "engine/pool.h"
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

// After NumPy's other headers.
#include <numpy/ufuncobject.h>

namespace frit::python {
namespace {

constexpr std::int64_t most_rows = 64;  // beyond, LAPACK takes the time

// ---- NumPy's loops ------------------------------------------------------------------------------

struct LinearLoop {
  PyUFuncGenericFunction run = nullptr;
  void* data = nullptr;
};

// That of doubles; `results`: the types of what it gives. One name, one loop: for the life of the
// process.
LinearLoop double_loop(const char* name, std::string_view results = {}) {
  const Ref module = checked(PyImport_ImportModule("numpy.linalg._umath_linalg"));
  const Ref object = checked(PyObject_GetAttrString(module.get(), name));
  if (!PyObject_TypeCheck(object.get(), reinterpret_cast<PyTypeObject*>(numpy.ufunc)))
    throw Unfit{"NumPy has no such loop"};
  const auto& ufunc = *reinterpret_cast<PyUFuncObject*>(object.get());
  for (int k = 0; k < ufunc.ntypes; ++k) {
    const char* types = ufunc.types + k * ufunc.nargs;
    bool fits = true;
    for (int j = 0; j < ufunc.nargs; ++j)
      fits &= types[j] == (j < ufunc.nin || results.empty()
                               ? static_cast<char>(NPY_DOUBLE)
                               : results[static_cast<std::size_t>(j - ufunc.nin)]);
    if (fits) return {ufunc.functions[k], ufunc.data ? ufunc.data[k] : nullptr};
  }
  throw Unfit{"NumPy has no such loop"};
}

template <std::size_t operands, std::size_t strides>
void call(const LinearLoop& loop, std::array<char*, operands> pointers,
          std::array<npy_intp, 5> sizes, std::array<npy_intp, strides> core, unsigned errors) {
  std::array<npy_intp, operands + strides> steps{};  // first those from matrix to matrix: one alone
  std::ranges::copy(core, steps.begin() + operands);
  clear_float_flags();
  loop.run(pointers.data(), sizes.data(), steps.data(), loop.data);
  if ((float_flags() & errors) != 0) throw Unfit{"NumPy words the error"};
}

// ---- operands and results -----------------------------------------------------------------------

struct Operand2D {
  Array array;
  char* data = nullptr;
  npy_intp rows = 0, columns = 0, row_stride = 0, column_stride = 0;
  bool is_vector = false;
};

bool is_whole(npy_intp value) { return value % static_cast<npy_intp>(sizeof(double)) == 0; }

// A small matrix of doubles, or of integers as doubles; or a vector.
Operand2D operand_of(PyObject* object, int least_ndim = 2) {
  if (!object || !is_array(object)) throw Unfit{"no matrix"};
  Array array = array_of(object).array;
  const int ndim = array.ndim();
  const bool fits = ndim >= least_ndim && ndim <= 2 && array.size() > 0 &&
                    array.shape()[0] <= most_rows && array.shape()[ndim - 1] <= most_rows;
  if (!fits || is_complex(array.dtype()) ||
      (is_inexact(array.dtype()) && array.dtype() != DType::Float64))
    throw Unfit{"no small matrix of doubles"};
  if (array.dtype() != DType::Float64) array = astype(array, DType::Float64);
  Operand2D operand;
  operand.data = reinterpret_cast<char*>(const_cast<std::byte*>(evaluate(array)));
  operand.is_vector = ndim == 1;
  operand.rows = array.shape()[0];
  operand.row_stride = array.strides()[0];
  operand.columns = ndim == 2 ? array.shape()[1] : 1;
  operand.column_stride = ndim == 2 ? array.strides()[1] : 0;
  if (!is_whole(reinterpret_cast<npy_intp>(operand.data)) || !is_whole(operand.row_stride) ||
      !is_whole(operand.column_stride))
    throw Unfit{"elements that are not aligned"};
  operand.array = std::move(array);
  return operand;
}

Operand2D square_operand(PyObject* object) {
  Operand2D a = operand_of(object);
  if (a.rows != a.columns) throw Unfit{"no square matrix"};
  return a;
}

constexpr npy_intp item = sizeof(double);

struct Result {
  Array array;
  char* data;

  explicit Result(std::initializer_list<std::int64_t> shape)
      : array(empty({shape.begin(), shape.size()}, DType::Float64)) {
    data = reinterpret_cast<char*>(memory_of(array));
  }
  PyObject* object() { return new_array(std::move(array)); }
};

// A named tuple of linalg's.
PyObject* tuple_of_results(PyObject* type, std::initializer_list<Result*> results) {
  Ref items = checked(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
  Py_ssize_t count = 0;
  for (Result* result : results) PyTuple_SET_ITEM(items.get(), count++, result->object());
  return named_tuple(type, items);
}
PyObject* linear_class(const char* name) { return class_of("numpy.linalg._linalg", name); }

// ---- the functions ------------------------------------------------------------------------------

// A square matrix of a square matrix.
PyObject* square_of_square(const LinearLoop& loop, PyObject* self, const Arguments& arguments) {
  refuse_options(arguments);
  const Operand2D a = square_operand(self);
  const npy_intp n = a.rows;
  Result result({n, n});
  call<2, 4>(loop, {a.data, result.data}, {1, n}, {a.row_stride, a.column_stride, n * item, item},
             flag_invalid);
  return result.object();
}

struct Inverse {
  static constexpr const char* name = "linalg.inv";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    static const LinearLoop loop = double_loop("inv");
    return square_of_square(loop, self, arguments);
  }
};

struct Solve {
  static constexpr const char* name = "linalg.solve";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    if (arguments.positional != 1 || arguments.names) throw Unfit{"options"};
    static const LinearLoop vector_loop = double_loop("solve1"), loop = double_loop("solve");
    const Operand2D a = square_operand(self), b = operand_of(arguments.values[0], 1);
    const npy_intp n = a.rows, columns = b.columns;
    if (b.rows != n) throw Unfit{"other rows"};
    if (b.is_vector) {
      Result x({n});
      call<3, 4>(vector_loop, {a.data, b.data, x.data}, {1, n},
                 {a.row_stride, a.column_stride, b.row_stride, item}, flag_invalid);
      return x.object();
    }
    Result x({n, columns});
    call<3, 6>(loop, {a.data, b.data, x.data}, {1, n, columns},
               {a.row_stride, a.column_stride, b.row_stride, b.column_stride, columns * item, item},
               flag_invalid);
    return x.object();
  }
};

struct Determinant {
  static constexpr const char* name = "linalg.det";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    static const LinearLoop loop = double_loop("det");
    const Operand2D a = square_operand(self);
    Scalar result;
    result.dtype = DType::Float64;
    call<2, 2>(loop, {a.data, reinterpret_cast<char*>(result.bytes)}, {1, a.rows},
               {a.row_stride, a.column_stride}, flags_of_interest | flag_underflow);
    return make_scalar(result);
  }
};

struct Cholesky {
  static constexpr const char* name = "linalg.cholesky";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    static const LinearLoop loop = double_loop("cholesky_lo");
    return square_of_square(loop, self, arguments);
  }
};

struct SymmetricEigenvalues {
  static constexpr const char* name = "linalg.eigvalsh";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    static const LinearLoop loop = double_loop("eigvalsh_lo");
    const Operand2D a = square_operand(self);
    Result values({a.rows});
    call<2, 3>(loop, {a.data, values.data}, {1, a.rows}, {a.row_stride, a.column_stride, item},
               flag_invalid);
    return values.object();
  }
};

struct SymmetricEigensystem {
  static constexpr const char* name = "linalg.eigh";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    static const LinearLoop loop = double_loop("eigh_lo");
    const Operand2D a = square_operand(self);
    const npy_intp n = a.rows;
    Result values({n}), vectors({n, n});
    call<3, 5>(loop, {a.data, values.data, vectors.data}, {1, n},
               {a.row_stride, a.column_stride, item, n * item, item}, flag_invalid);
    static PyObject* const type = linear_class("EighResult");
    return tuple_of_results(type, {&values, &vectors});
  }
};

constexpr char complex_types[] = {NPY_CDOUBLE, NPY_CDOUBLE};
constexpr std::string_view complex_results(complex_types, 2);

// Whether real eigenvalues are given as real numbers, as NumPy did until 2.5.
bool gives_real() {
  static const bool gives = [] {
    const npy_intp shape[] = {1, 1};
    const Ref matrix = checked(PyArray_ZEROS(2, shape, NPY_DOUBLE, 0));
    const Ref module = checked(PyImport_ImportModule("numpy.linalg"));
    const Ref values = checked(PyObject_CallMethod(module.get(), "eigvals", "O", matrix.get()));
    return !PyArray_ISCOMPLEX(reinterpret_cast<PyArrayObject*>(values.get()));
  }();
  return gives;
}

// The complex results of eig, as NumPy gives them: real, if all eigenvalues are.
struct Eigen {
  static constexpr npy_intp item = 2 * sizeof(double);

  explicit Eigen(std::initializer_list<std::int64_t> shape)
      : array(empty({shape.begin(), shape.size()}, DType::Complex128)) {
    data = reinterpret_cast<char*>(memory_of(array));
  }
  bool is_real() const {
    if (!gives_real()) return false;
    const auto* const numbers = reinterpret_cast<const double*>(data);
    for (std::int64_t k = 0; k < array.size(); ++k)
      if (numbers[2 * k + 1] != 0) return false;
    return true;
  }
  // A view of the complex numbers where they are real.
  PyObject* object(bool as_real) {
    PyObject* const whole = new_array(array);
    if (!as_real) return whole;
    const Ref owner = Ref::steal(whole);
    return new_view(window(array, array.shape(), array.strides(), 0, DType::Float64),
                    array_of(whole));
  }

  Array array;
  char* data;
};

// The finite elements that NumPy insists on.
void check_finite(const Operand2D& a) {
  for (npy_intp row = 0; row < a.rows; ++row)
    for (npy_intp column = 0; column < a.columns; ++column) {
      double element;
      std::memcpy(&element, a.data + row * a.row_stride + column * a.column_stride, sizeof element);
      if (!std::isfinite(element)) throw Unfit{"elements that are not finite"};
    }
}

struct Eigensystem {
  static constexpr const char* name = "linalg.eig";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    static const LinearLoop loop = double_loop("eig", complex_results);
    const Operand2D a = square_operand(self);
    check_finite(a);
    const npy_intp n = a.rows, each = Eigen::item;
    Eigen values({n}), vectors({n, n});
    call<3, 5>(loop, {a.data, values.data, vectors.data}, {1, n},
               {a.row_stride, a.column_stride, each, n * each, each}, flag_invalid);
    static PyObject* const type = linear_class("EigResult");
    const bool is_real = values.is_real();
    Ref items = checked(PyTuple_New(2));
    PyTuple_SET_ITEM(items.get(), 0, values.object(is_real));
    PyTuple_SET_ITEM(items.get(), 1, vectors.object(is_real));
    return named_tuple(type, items);
  }
};
struct Eigenvalues {
  static constexpr const char* name = "linalg.eigvals";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    static const LinearLoop loop = double_loop("eigvals", complex_results);
    const Operand2D a = square_operand(self);
    check_finite(a);
    Eigen values({a.rows});
    call<2, 3>(loop, {a.data, values.data}, {1, a.rows},
               {a.row_stride, a.column_stride, Eigen::item}, flag_invalid);
    return values.object(values.is_real());
  }
};

// lstsq(a, b), with the default rcond.
struct LeastSquares {
  static constexpr const char* name = "linalg.lstsq";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [other, cutoff] = named(arguments, {"b", "rcond"});
    if (cutoff && cutoff != Py_None) throw Unfit{"another rcond"};
    static constexpr char types[] = {NPY_DOUBLE, NPY_DOUBLE, NPY_INT, NPY_DOUBLE};
    static const LinearLoop loop = double_loop("lstsq", {types, std::size(types)});
    const Operand2D a = operand_of(self), b = operand_of(other, 1);
    const npy_intp m = a.rows, n = a.columns, sides = b.columns, p = std::min(m, n);
    if (b.rows != m) throw Unfit{"other rows"};
    double least = std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(n, m));
    npy_int rank = 0;
    Result x = b.is_vector ? Result({n}) : Result({n, sides});
    Result residuals({sides}), values({p});
    call<7, 8>(loop,
               {a.data, b.data, reinterpret_cast<char*>(&least), x.data, residuals.data,
                reinterpret_cast<char*>(&rank), values.data},
               {1, m, n, sides, p},
               {a.row_stride, a.column_stride, b.row_stride, b.column_stride, sides * item, item,
                item, item},
               flag_invalid);
    const bool has_residuals = rank == n && m > n;
    const std::int64_t none = 0;
    Ref items[] = {Ref::steal(x.object()),
                   Ref::steal(has_residuals ? residuals.object()
                                            : new_array(empty({&none, 1}, DType::Float64))),
                   Ref::steal(make_scalar(reinterpret_cast<const std::byte*>(&rank), DType::Int32)),
                   Ref::steal(values.object())};
    return checked(PyTuple_Pack(4, items[0].get(), items[1].get(), items[2].get(), items[3].get()))
        .release();
  }
};

// The singular values alone.
Result singular_values(const Operand2D& a) {
  static const LinearLoop loop = double_loop("svd");
  const npy_intp p = std::min(a.rows, a.columns);
  Result values({p});
  call<2, 3>(loop, {a.data, values.data}, {1, a.rows, a.columns, p},
             {a.row_stride, a.column_stride, item}, flag_invalid);
  return values;
}

struct SingularValuesAlone {
  static constexpr const char* name = "linalg.svdvals";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    refuse_options(arguments);
    return singular_values(operand_of(self)).object();
  }
};

struct SingularValues {
  static constexpr const char* name = "linalg.svd";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [full, compute] = named(arguments, {"full_matrices", "compute_uv"});
    static const LinearLoop full_loop = double_loop("svd_f"), short_loop = double_loop("svd_s");
    const bool is_full = flag_operand(full, true);
    const Operand2D a = operand_of(self);
    const npy_intp m = a.rows, n = a.columns, p = std::min(m, n);
    if (!flag_operand(compute, true)) return singular_values(a).object();
    Result values({p});
    Result left({m, is_full ? m : p}), right({is_full ? n : p, n});
    call<4, 7>(
        is_full ? full_loop : short_loop, {a.data, left.data, values.data, right.data},
        {1, m, n, p},
        {a.row_stride, a.column_stride, (is_full ? m : p) * item, item, item, n * item, item},
        flag_invalid);
    static PyObject* const type = linear_class("SVDResult");
    return tuple_of_results(type, {&left, &values, &right});
  }
};

}  // namespace

PyObject* spectral_norm(PyObject* matrix) {
  const Result values = singular_values(operand_of(matrix));
  return make_scalar(reinterpret_cast<const std::byte*>(values.data), DType::Float64);
}

std::vector<PyMethodDef> linear_shortcuts() {
  return {shortcut_row<Inverse>(),
          shortcut_row<Solve>(),
          shortcut_row<Determinant>(),
          shortcut_row<Cholesky>(),
          shortcut_row<SymmetricEigenvalues>(),
          shortcut_row<SymmetricEigensystem>(),
          shortcut_row<Eigensystem>(),
          shortcut_row<Eigenvalues>(),
          shortcut_row<LeastSquares>(),
          shortcut_row<SingularValues>(),
          shortcut_row<SingularValuesAlone>()};
}

}  // namespace frit::python
