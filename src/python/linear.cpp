// linear.cpp: small matrices of numpy.linalg: NumPy's own loops around LAPACK, called at once.
//
// NumPy's functions spend most of their time on such matrices before and behind the loop: types,
// errstate, wrapping. The loop is the same here, so the bits are. Where it reports an error, or
// anything is not plain, NumPy does the whole call.
#include <array>

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

// That of doubles alone. One name, one loop: for the life of the process.
LinearLoop double_loop(const char* name) {
  const Ref module = checked(PyImport_ImportModule("numpy.linalg._umath_linalg"));
  const Ref object = checked(PyObject_GetAttrString(module.get(), name));
  if (!PyObject_TypeCheck(object.get(), reinterpret_cast<PyTypeObject*>(numpy.ufunc)))
    throw Unfit{"NumPy has no such loop"};
  const auto& ufunc = *reinterpret_cast<PyUFuncObject*>(object.get());
  for (int k = 0; k < ufunc.ntypes; ++k) {
    const char* types = ufunc.types + k * ufunc.nargs;
    bool is_double = true;
    for (int j = 0; j < ufunc.nargs; ++j) is_double &= types[j] == NPY_DOUBLE;
    if (is_double) return {ufunc.functions[k], ufunc.data ? ufunc.data[k] : nullptr};
  }
  throw Unfit{"NumPy has no such loop"};
}

template <std::size_t operands, std::size_t strides>
void call(const LinearLoop& loop, std::array<char*, operands> pointers,
          std::array<npy_intp, 4> sizes, std::array<npy_intp, strides> core, unsigned errors) {
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

// One of linalg's classes of named tuples, for the life of the process.
PyObject* tuple_class(const char* name) {
  const Ref module = checked(PyImport_ImportModule("numpy.linalg._linalg"));
  return checked(PyObject_GetAttrString(module.get(), name)).release();
}

PyObject* named_tuple(PyObject* type, std::initializer_list<Result*> results) {
  Ref items[3];
  PyObject* values[3];
  std::size_t count = 0;
  for (Result* result : results) {
    items[count] = Ref::steal(result->object());
    values[count] = items[count].get();
    ++count;
  }
  return checked(PyObject_Vectorcall(type, values, count, nullptr)).release();
}

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
    static PyObject* const type = tuple_class("EighResult");
    return named_tuple(type, {&values, &vectors});
  }
};

struct SingularValues {
  static constexpr const char* name = "linalg.svd";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [full, compute] = named(arguments, {"full_matrices", "compute_uv"});
    static const LinearLoop full_loop = double_loop("svd_f"), short_loop = double_loop("svd_s"),
                            values_loop = double_loop("svd");
    const bool is_full = flag_operand(full, true);
    const Operand2D a = operand_of(self);
    const npy_intp m = a.rows, n = a.columns, p = std::min(m, n);
    Result values({p});
    if (!flag_operand(compute, true)) {
      call<2, 3>(values_loop, {a.data, values.data}, {1, m, n, p},
                 {a.row_stride, a.column_stride, item}, flag_invalid);
      return values.object();
    }
    Result left({m, is_full ? m : p}), right({is_full ? n : p, n});
    call<4, 7>(
        is_full ? full_loop : short_loop, {a.data, left.data, values.data, right.data},
        {1, m, n, p},
        {a.row_stride, a.column_stride, (is_full ? m : p) * item, item, item, n * item, item},
        flag_invalid);
    static PyObject* const type = tuple_class("SVDResult");
    return named_tuple(type, {&left, &values, &right});
  }
};

}  // namespace

std::vector<PyMethodDef> linear_shortcuts() {
  return {shortcut_row<Inverse>(),
          shortcut_row<Solve>(),
          shortcut_row<Determinant>(),
          shortcut_row<Cholesky>(),
          shortcut_row<SymmetricEigenvalues>(),
          shortcut_row<SymmetricEigensystem>(),
          shortcut_row<SingularValues>()};
}

}  // namespace frit::python
