// linalg.cpp: matrix products as steps of the trace, by the BLAS that NumPy has loaded, if any.
//
// The routine and its arguments are chosen as NumPy chooses them (matmul.c.src): each sums in an
// order of its own, so that only the same routine gives the same last bits.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <climits>
#include <complex>
#include <cstring>
#include <string>

#include "front/common.h"
#include "front/small.h"
#include "ir/neutral.h"

namespace frit {
namespace {

constexpr int row_major = 101, column_major = 102, plain = 111, transposed = 112, upper = 121;

int remember_openblas(dl_phdr_info* info, std::size_t, void* found) {
  if (info->dlpi_name && std::strstr(info->dlpi_name, "openblas")) {
    *static_cast<std::string*>(found) = info->dlpi_name;
    return 1;
  }
  return 0;
}

void* blas_library() {
  static void* library = [] {
    std::string loaded;
    dl_iterate_phdr(remember_openblas, &loaded);
    if (!loaded.empty())
      if (void* handle = dlopen(loaded.c_str(), RTLD_NOW | RTLD_NOLOAD)) return handle;
    return dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

// A routine of CBLAS for one element type, with 32- or 64-bit sizes.
struct Routine {
  void* function = nullptr;
  bool wide = false;
};

Routine find_routine(std::string_view prefix, std::string_view rest) {
  if (!blas_library()) return {};
  const std::string name = "cblas_" + std::string(prefix) + std::string(rest);
  for (const auto& [symbol, wide] : {std::pair{"scipy_" + name + "64_", true},
                                     {name + "64_", true},
                                     {"scipy_" + name, false},
                                     {name, false}})
    if (void* f = dlsym(blas_library(), symbol.c_str())) return {f, wide};
  return {};
}

template <class T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr std::string_view prefix = "s";
};
template <>
struct Blas<double> {
  static constexpr std::string_view prefix = "d";
};
template <>
struct Blas<std::complex<float>> {
  static constexpr std::string_view prefix = "c";
};
template <>
struct Blas<std::complex<double>> {
  static constexpr std::string_view prefix = "z";
};
template <class T>
constexpr bool is_complex_number = !std::is_floating_point_v<T>;

// Calls f(.., sizes as Int, ..). Real factors go by value, complex ones by address.
template <class T, class Int>
struct Calls {
  using Factor = std::conditional_t<is_complex_number<T>, const void*, T>;
  static Factor factor(const T& value) {
    if constexpr (is_complex_number<T>)
      return &value;
    else
      return value;
  }
  static T dot(void* f, Int n, const T* x, Int x_step, const T* y, Int y_step) {
    if constexpr (is_complex_number<T>) {
      T result;
      reinterpret_cast<void (*)(Int, const void*, Int, const void*, Int, void*)>(f)(
          n, x, x_step, y, y_step, &result);
      return result;
    } else {
      return reinterpret_cast<T (*)(Int, const T*, Int, const T*, Int)>(f)(n, x, x_step, y, y_step);
    }
  }
  static void gemv(void* f, int order, Int m, Int n, const T* a, Int lda, const T* x, Int x_step,
                   T* y, Int y_step) {
    const T one = 1, zero = 0;
    reinterpret_cast<void (*)(int, int, Int, Int, Factor, const void*, Int, const void*, Int,
                              Factor, void*, Int)>(f)(order, transposed, n, m, factor(one), a, lda,
                                                      x, x_step, factor(zero), y, y_step);
  }
  static void syrk(void* f, int trans, Int m, Int n, const T* a, Int lda, T* c, Int ldc) {
    const T one = 1, zero = 0;
    reinterpret_cast<void (*)(int, int, int, Int, Int, Factor, const void*, Int, Factor, void*,
                              Int)>(f)(row_major, upper, trans, m, n, factor(one), a, lda,
                                       factor(zero), c, ldc);
  }
  static void gemm(void* f, int trans_a, int trans_b, Int m, Int n, Int k, const T* a, Int lda,
                   const T* b, Int ldb, T* c, Int ldc) {
    const T one = 1, zero = 0;
    reinterpret_cast<void (*)(int, int, int, Int, Int, Int, Factor, const void*, Int, const void*,
                              Int, Factor, void*, Int)>(f)(
        row_major, trans_a, trans_b, m, n, k, factor(one), a, lda, b, ldb, factor(zero), c, ldc);
  }
};

// A matrix somewhere in memory; steps in elements.
template <class T>
struct Matrix {
  const T* data;
  std::int64_t rows, columns, row_step, column_step;
  // May BLAS run through it row by row?
  bool by_rows() const {
    return column_step == 1 && row_step >= std::max<std::int64_t>(columns, 1) &&
           row_step <= INT_MAX;
  }
  bool by_columns() const { return turned().by_rows(); }
  Matrix turned() const { return {data, columns, rows, column_step, row_step}; }
};

// Products of one element type.
template <class T>
class Product {
 public:
  Product() = default;

  void run(Matrix<T> a, Matrix<T> b, T* out) {
    const std::int64_t m = a.rows, k = a.columns, n = b.columns;
    if (m == 1 && n == 1) {
      *out = dot(k, a.data, a.column_step, b.data, b.row_step);
    } else if (k == 1 || !gemm_.function) {
      one_by_one(a, b, out);
    } else if (m == 1 || n == 1) {
      const Matrix<T> matrix = m == 1 ? b.turned() : a;
      const T* vector = m == 1 ? a.data : b.data;
      const std::int64_t step = m == 1 ? a.column_step : b.row_step;
      if ((matrix.by_rows() || matrix.by_columns()) && step >= 1 && step <= INT_MAX)
        times_vector(matrix, vector, step, out);
      else
        one_by_one(a, b, out);
    } else {
      std::vector<T> dense_a, dense_b;
      times_matrix(blasable(a, dense_a), blasable(b, dense_b), out);
    }
  }

 private:
  // A dense copy, of the same orientation, of what BLAS can't run through.
  static Matrix<T> blasable(const Matrix<T>& a, std::vector<T>& copy) {
    if (a.by_rows() || a.by_columns()) return a;
    copy.resize(static_cast<std::size_t>(a.rows * a.columns));
    const bool turn = std::abs(a.row_step) < std::abs(a.column_step);
    const Matrix<T> from = turn ? a.turned() : a;
    T* to = copy.data();
    for (std::int64_t i = 0; i < from.rows; ++i)
      for (std::int64_t j = 0; j < from.columns; ++j)
        *to++ = from.data[i * from.row_step + j * from.column_step];
    const Matrix<T> dense{copy.data(), from.rows, from.columns, from.columns, 1};
    return turn ? dense.turned() : dense;
  }

  static T times(const T& x, const T& y) {
    if constexpr (is_complex_number<T>)
      return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
    else
      return x * y;
  }

  T dot(std::int64_t n, const T* x, std::int64_t x_step, const T* y, std::int64_t y_step) {
    const bool fits = n <= INT_MAX / 2 + 1 && x_step >= 1 && y_step >= 1 && x_step <= INT_MAX &&
                      y_step <= INT_MAX;
    if (fits && dot_.function) {
      const T sum = dot_.wide ? Wide::dot(dot_.function, n, x, x_step, y, y_step)
                              : Narrow::dot(dot_.function, static_cast<int>(n), x,
                                            static_cast<int>(x_step), y, static_cast<int>(y_step));
      return T{} + sum;
    }
    T sum{};
    for (std::int64_t i = 0; i < n; ++i) sum += times(x[i * x_step], y[i * y_step]);
    return sum;
  }

  void one_by_one(const Matrix<T>& a, const Matrix<T>& b, T* out) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < b.columns; ++j) {
        T sum{};
        for (std::int64_t t = 0; t < a.columns; ++t)
          sum += times(a.data[i * a.row_step + t * a.column_step],
                       b.data[t * b.row_step + j * b.column_step]);
        *out++ = sum;
      }
  }

  void times_vector(const Matrix<T>& a, const T* x, std::int64_t x_step, T* out) {
    const bool rows = a.by_rows();
    const int order = rows ? column_major : row_major;
    const std::int64_t lda = rows ? a.row_step : a.column_step;
    if (gemv_.wide)
      Wide::gemv(gemv_.function, order, a.rows, a.columns, a.data, lda, x, x_step, out, 1);
    else
      Narrow::gemv(gemv_.function, order, static_cast<int>(a.rows), static_cast<int>(a.columns),
                   a.data, static_cast<int>(lda), x, static_cast<int>(x_step), out, 1);
  }

  void times_matrix(const Matrix<T>& a, const Matrix<T>& b, T* out) {
    const int trans_a = a.by_rows() ? plain : transposed,
              trans_b = b.by_rows() ? plain : transposed;
    const std::int64_t lda = trans_a == plain ? a.row_step : a.column_step;
    const std::int64_t ldb = trans_b == plain ? b.row_step : b.column_step;
    const std::int64_t m = a.rows, k = a.columns, n = b.columns;
    const bool square = a.data == b.data && m == n && a.row_step == b.column_step &&
                        a.column_step == b.row_step && trans_a != trans_b;
    if (square) {
      if (syrk_.wide)
        Wide::syrk(syrk_.function, trans_a, m, k, a.data, lda, out, n);
      else
        Narrow::syrk(syrk_.function, trans_a, static_cast<int>(m), static_cast<int>(k), a.data,
                     static_cast<int>(lda), out, static_cast<int>(n));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n; ++j) out[j * n + i] = out[i * n + j];
    } else if (gemm_.wide) {
      Wide::gemm(gemm_.function, trans_a, trans_b, m, n, k, a.data, lda, b.data, ldb, out, n);
    } else {
      Narrow::gemm(gemm_.function, trans_a, trans_b, static_cast<int>(m), static_cast<int>(n),
                   static_cast<int>(k), a.data, static_cast<int>(lda), b.data,
                   static_cast<int>(ldb), out, static_cast<int>(n));
    }
  }

  using Wide = Calls<T, std::int64_t>;
  using Narrow = Calls<T, int>;
  Routine gemm_ = find_routine(Blas<T>::prefix, "gemm");
  Routine gemv_ = find_routine(Blas<T>::prefix, "gemv");
  Routine syrk_ = find_routine(Blas<T>::prefix, "syrk");
  Routine dot_ = find_routine(Blas<T>::prefix, is_complex_number<T> ? "dotu_sub" : "dot");
};

// Of integers, where every order gives the same.
void multiply_integers(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                       const std::byte* a, const std::byte* b, std::byte* c) {
  const std::int64_t item = size_of(dtype);
  const Loop times = loop(Op::Multiply, dtype), plus = loop(Op::Add, dtype);
  std::vector<std::byte> row(static_cast<std::size_t>(n * item));
  std::memset(c, 0, static_cast<std::size_t>(m * n * item));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) {
      void* product[3] = {row.data(), const_cast<std::byte*>(a + (i * k + j) * item),
                          const_cast<std::byte*>(b + j * n * item)};
      times(product, n, 1);
      void* sum[3] = {c + i * n * item, c + i * n * item, row.data()};
      plus(sum, n, 0);
    }
}

// Stacks of matrices: the last two axes of both layouts; what is before them is broadcast.
class MatmulCall final : public Call {
 public:
  MatmulCall(DType dtype, LayoutRef a, LayoutRef b)
      : dtype_(dtype), a_(std::move(a)), b_(std::move(b)) {}
  std::string_view name() const override { return "matmul"; }
  const char* warning_name() const override { return "matmul"; }
  void run(std::span<std::byte* const> pointers) const override {
    switch (dtype_) {
      case DType::Float32:
        return run_as<float>(pointers);
      case DType::Float64:
        return run_as<double>(pointers);
      case DType::Complex64:
        return run_as<std::complex<float>>(pointers);
      case DType::Complex128:
        return run_as<std::complex<double>>(pointers);
      default:
        return for_each_pair(pointers, [&](const std::byte* a, const std::byte* b, std::byte* out) {
          multiply_integers(dtype_, rows(), columns(), inner(), a, b, out);
        });
    }
  }

 private:
  std::size_t last() const { return a_->shape().size() - 1; }
  std::int64_t rows() const { return a_->shape()[last() - 1]; }
  std::int64_t inner() const { return a_->shape()[last()]; }
  std::int64_t columns() const { return b_->shape()[last()]; }

  template <class Multiply>  // multiply(a, b, out)
  void for_each_pair(std::span<std::byte* const> pointers, Multiply&& multiply) const {
    const std::size_t stacked = last() - 1;
    std::vector<std::int64_t> index(stacked, 0);
    std::byte* out = pointers[0];
    for (;;) {
      std::int64_t a = 0, b = 0;
      for (std::size_t k = 0; k < stacked; ++k) {
        a += index[k] * a_->strides()[k];
        b += index[k] * b_->strides()[k];
      }
      multiply(pointers[1] + a, pointers[2] + b, out);
      out += rows() * columns() * size_of(dtype_);
      std::size_t k = stacked;
      while (k > 0 && ++index[k - 1] == a_->shape()[k - 1]) index[--k] = 0;
      if (k == 0) return;
    }
  }

  template <class T>
  void run_as(std::span<std::byte* const> pointers) const {
    static Product<T> product;
    constexpr auto item = static_cast<std::int64_t>(sizeof(T));
    for_each_pair(pointers, [&](const std::byte* a, const std::byte* b, std::byte* out) {
      const auto steps = [&](const Layout& layout, std::size_t axis) {
        return layout.strides()[axis] / item;
      };
      product.run({reinterpret_cast<const T*>(a), rows(), inner(), steps(*a_, last() - 1),
                   steps(*a_, last())},
                  {reinterpret_cast<const T*>(b), inner(), columns(), steps(*b_, last() - 1),
                   steps(*b_, last())},
                  reinterpret_cast<T*>(out));
    });
  }

  DType dtype_;
  LayoutRef a_, b_;
};

// `a` broadcast to stacks of matrices, of this type: as it lies where BLAS may take it so.
Array stacked(const Array& a, DType dtype, const std::vector<std::int64_t>& shape) {
  const Array wide = broadcast_to(a, shape);
  const bool whole_steps =
      std::all_of(wide.strides().begin(), wide.strides().end(),
                  [&](std::int64_t stride) { return stride % size_of(dtype) == 0; });
  if (wide.dtype() == dtype && (wide.c_contiguous() || (is_inexact(dtype) && whole_steps)))
    return wide;
  return astype(wide, dtype, 'C');
}

}  // namespace

Array matmul(const Array& a, const Array& b, const Array* out) {
  Locked lock(Engine::lock());
  if (a.ndim() == 0 || b.ndim() == 0)
    throw ValueError(
        "matmul: Input operand does not have enough dimensions (has 0, gufunc core with signature "
        "(n?,k),(k,m?)->(n?,m?) requires 1)");
  const DType dtype = promote(a.dtype(), b.dtype());
  if (is_bool(dtype) || dtype == DType::Float16) throw TypeError("no native matmul of this type");
  const bool row_vector = a.ndim() == 1, column_vector = b.ndim() == 1;
  const auto as_matrix = [](const Array& x, bool row) {
    const std::int64_t shape[2] = {row ? 1 : x.shape()[0], row ? x.shape()[0] : 1};
    return *reshape_window(x, shape);
  };
  const Array left = row_vector ? as_matrix(a, true) : a;
  const Array right = column_vector ? as_matrix(b, false) : b;
  const std::size_t la = left.shape().size(), lb = right.shape().size();
  const std::int64_t m = left.shape()[la - 2], k = left.shape()[la - 1], n = right.shape()[lb - 1];
  if (right.shape()[lb - 2] != k)
    throw ValueError(
        text("matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
             "signature (n?,k),(k,m?)->(n?,m?) (size ",
             right.shape()[lb - 2], " is different from ", k, ")"));
  const std::span<const std::int64_t> stacks[2] = {left.shape().first(la - 2),
                                                   right.shape().first(lb - 2)};
  std::vector<std::int64_t> shape = broadcast_shapes(stacks);
  std::vector<std::int64_t> left_shape = shape, right_shape = shape, result_shape = shape,
                            full_shape = shape;
  left_shape.insert(left_shape.end(), {m, k});
  right_shape.insert(right_shape.end(), {k, n});
  full_shape.insert(full_shape.end(), {m, n});
  if (!row_vector) result_shape.push_back(m);
  if (!column_vector) result_shape.push_back(n);
  const Array result = empty(full_shape, dtype);
  if (result.size() > 0) {
    const Array inputs[2] = {stacked(left, dtype, left_shape), stacked(right, dtype, right_shape)};
    if (k == 0)
      assign(result, Argument(scalar_of(dtype, 0)));
    else
      record_call(std::make_shared<MatmulCall>(dtype, LayoutRef(inputs[0].layout()),
                                               LayoutRef(inputs[1].layout())),
                  {&result, 1}, inputs);
  }
  const Array shaped = *reshape_window(result, result_shape);
  if (!out) return shaped;
  check_writable(*out);
  if (out->layout() != shaped.layout() && !std::ranges::equal(out->shape(), shaped.shape()))
    throw ValueError("matmul: the output has another shape than the product");
  assign(*out, shaped);
  return *out;
}

}  // namespace frit
