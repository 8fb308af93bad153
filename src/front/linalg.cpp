// linalg.cpp: matrix products as steps of the trace, by the BLAS that NumPy has loaded, if any.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>

#include "engine/matrix_product.h"
#include "engine/pool.h"
#include "front/common.h"
#include "front/dense.h"
#include "front/parts.h"
#include "ir/matrix_products.h"
#include "ir/neutral.h"
#include "ops/loops.h"

namespace frit {
namespace {

// ---- the library --------------------------------------------------------------------------------

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

// The CBLAS functions for one type, all there or none; with 32- or 64-bit sizes.
struct Blas {
  void *dot = nullptr, *gemv = nullptr, *gemm = nullptr, *syrk = nullptr;
  bool wide = false;
  void* conjugate_dot = nullptr;  // of complex numbers

  explicit operator bool() const { return gemm != nullptr; }
};

Blas find_blas(std::string_view letter, std::string_view dot) {
  if (!blas_library()) return {};
  const std::string prefix = "cblas_" + std::string(letter);
  for (const auto& [before, behind, wide] : {std::tuple{"scipy_", "64_", true},
                                             {"", "64_", true},
                                             {"scipy_", "", false},
                                             {"", "", false}}) {
    const auto find = [&](std::string_view name) {
      return dlsym(blas_library(), (before + prefix + std::string(name) + behind).c_str());
    };
    const Blas blas{find(dot), find("gemv"), find("gemm"), find("syrk"), wide, find("dotc_sub")};
    if (blas.dot && blas.gemv && blas.gemm && blas.syrk) return blas;
  }
  return {};
}

template <class T>
const Blas& blas_of();
template <>
const Blas& blas_of<float>() {
  static const Blas blas = find_blas("s", "dot");
  return blas;
}
template <>
const Blas& blas_of<double>() {
  static const Blas blas = find_blas("d", "dot");
  return blas;
}
template <>
const Blas& blas_of<std::complex<float>>() {
  static const Blas blas = find_blas("c", "dotu_sub");
  return blas;
}
template <>
const Blas& blas_of<std::complex<double>>() {
  static const Blas blas = find_blas("z", "dotu_sub");
  return blas;
}

enum Order : int { RowMajor = 101, ColumnMajor = 102 };
enum Transpose : int { Plain = 111, Transposed = 112 };
constexpr int upper = 121;

// ---- one product --------------------------------------------------------------------------------

// A matrix in memory; strides in elements.
template <class T>
struct Matrix {
  T* data;
  std::int64_t rows, columns, row_stride, column_stride;

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
  // BLAS can read it row by row.
  bool has_rows() const { return column_stride == 1 && row_stride >= columns; }
  bool is_blasable() const { return has_rows() || transposed().has_rows(); }
  std::int64_t leading() const { return has_rows() ? row_stride : column_stride; }
};

template <std::size_t bytes>
constexpr DType unsigned_of_size = bytes == 1   ? DType::UInt8
                                   : bytes == 2 ? DType::UInt16
                                   : bytes == 4 ? DType::UInt32
                                                : DType::UInt64;

// The ready-made loops' dtype for T: whether integers have a sign makes no difference.
template <class T>
constexpr DType dtype_of_loops = std::is_same_v<T, float>    ? DType::Float32
                                 : std::is_same_v<T, double> ? DType::Float64
                                                             : unsigned_of_size<sizeof(T)>;

// Rows of real numbers in order, by the ready-made loops, which are vectors.
template <class T>
void add_rows(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out) {
  constexpr DType dtype = dtype_of_loops<T>;
  const Loop multiply_loop = loop(Op::Multiply, dtype), add_loop = loop(Op::Add, dtype);
  std::vector<T> products(static_cast<std::size_t>(b.columns));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    T* row = out.data + i * out.row_stride;
    std::fill_n(row, b.columns, T{});
    for (std::int64_t k = 0; k < a.columns; ++k) {
      void* product[3] = {products.data(), a.data + i * a.row_stride + k * a.column_stride,
                          b.data + k * b.row_stride};
      multiply_loop(product, b.columns, 1);
      void* sum[3] = {row, row, products.data()};
      add_loop(sum, b.columns, 0);
    }
  }
}

template <class T>
bool has_long_rows(const Matrix<T>& b, const Matrix<T>& out) {
  return b.column_stride == 1 && out.column_stride == 1 && b.columns >= 16;
}

// The choice among dot, gemv, gemm, syrk and plain loops is NumPy's (matmul.c.src), so that the
// bits are NumPy's too where the BLAS is.
template <class T, class Int>
class Product {
  static constexpr bool is_complex = !std::is_arithmetic_v<T>;
  using Factor = std::conditional_t<is_complex, const void*, T>;

 public:
  explicit Product(const Blas& blas) : blas_(blas) {}

  void operator()(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out) const {
    const std::int64_t m = a.rows, n = a.columns, p = b.columns;
    if (m == 1 && p == 1) return dot(a, b, out);
    if (n == 1 && (m == 1 || p == 1)) return loops(a, b, out);
    if (m == 1 && b.is_blasable() && a.column_stride >= 1)
      return gemv(b.transposed(), a.data, a.column_stride, out.data, out.column_stride);
    if (p == 1 && a.is_blasable() && b.row_stride >= 1)
      return gemv(a, b.data, b.row_stride, out.data, out.row_stride);
    if (m == 1 || n == 1 || p == 1) return loops(a, b, out);
    std::vector<T> a_copy, b_copy;
    multiply(blasable(a, a_copy), blasable(b, b_copy), out);
  }

  // out (+)= a @ b by gemm alone; false where it can't write out.
  bool gemm(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out, T keep) const {
    if (!out.has_rows()) {
      if (!out.transposed().has_rows()) return false;
      return gemm(b.transposed(), a.transposed(), out.transposed(), keep);
    }
    std::vector<T> a_copy, b_copy;
    const Matrix<T> x = blasable(a, a_copy), y = blasable(b, b_copy);
    call_gemm(x, y, out, keep);
    return true;
  }

  // Sums each element's products in order.
  static void loops(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out) {
    if constexpr (!is_complex)
      if (has_long_rows(b, out)) return add_rows(a, b, out);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      T* to = out.data + i * out.row_stride;
      if (b.columns == 1) {
        *to = sum_of_products(a.data + i * a.row_stride, a.column_stride, b.data, b.row_stride,
                              a.columns);
        continue;
      }
      for (std::int64_t j = 0; j < b.columns; ++j) to[j * out.column_stride] = T{};
      for (std::int64_t k = 0; k < a.columns; ++k) {
        const T factor = a.data[i * a.row_stride + k * a.column_stride];
        const T* from = b.data + k * b.row_stride;
        for (std::int64_t j = 0; j < b.columns; ++j)
          add(to[j * out.column_stride], times(factor, from[j * b.column_stride]));
      }
    }
  }

 private:
  // No special treatment of infinities, unlike std::complex's own.
  static T times(T x, T y) {
    if constexpr (is_complex)
      return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::uint64_t{x} * y);
    else
      return x * y;
  }
  static void add(T& sum, T term) { sum = static_cast<T>(sum + term); }
  // By the ready-made loops, which are vectors; the order of integers makes no difference.
  static T sum_of_integers(const T* x, const T* y, std::int64_t n) {
    constexpr std::int64_t piece = 1 << 16;
    if (n <= piece) return sum_of_piece(x, y, n);
    std::vector<T> sums(static_cast<std::size_t>((n + piece - 1) / piece));
    for_parts(std::ssize(sums), piece, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t begin = p * piece;
        sums[static_cast<std::size_t>(p)] =
            sum_of_piece(x + begin, y + begin, std::min(piece, n - begin));
      }
    });
    T sum{};
    for (const T part : sums) add(sum, part);
    return sum;
  }
  static T sum_of_piece(const T* x, const T* y, std::int64_t n) {
    constexpr std::int64_t least = 64, block = 8192 / sizeof(T);
    T sum{};
    std::int64_t k = 0;
    if (n >= least) {
      const Loop multiply_loop = loop(Op::Multiply, unsigned_of_size<sizeof(T)>);
      const ReduceLoop reduce = reduce_loop(Op::Add, unsigned_of_size<sizeof(T)>);
      alignas(64) T products[block];
      for (; k < n; k += block) {
        const std::int64_t count = std::min(block, n - k);
        void* const args[3] = {products, const_cast<T*>(x + k), const_cast<T*>(y + k)};
        multiply_loop(args, count, 0);
        T part;
        reduce(&part, products, count);
        add(sum, part);
      }
    }
    for (; k < n; ++k) add(sum, times(x[k], y[k]));
    return sum;
  }
  static T sum_of_products(const T* x, std::int64_t x_stride, const T* y, std::int64_t y_stride,
                           std::int64_t n) {
    T sum{};
    if constexpr (std::is_integral_v<T>)
      if (x_stride == 1 && y_stride == 1) return sum_of_integers(x, y, n);
    for (std::int64_t k = 0; k < n; ++k) add(sum, times(x[k * x_stride], y[k * y_stride]));
    return sum;
  }
  static Int narrow(std::int64_t n) { return static_cast<Int>(n); }
  static Factor factor(const T& value) {
    if constexpr (is_complex)
      return &value;
    else
      return value;
  }

  // By BLAS in chunks, whose sums are added in double at least.
  void dot(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out) const {
    using Sum = std::conditional_t<is_complex, std::complex<double>, double>;
    constexpr std::int64_t chunk = std::int64_t{1} << 30;
    const std::int64_t n = a.columns;
    Sum sum{};
    if (a.column_stride > 0 && b.row_stride > 0) {
      for (std::int64_t k = 0; k < n; k += chunk) {
        const Int count = narrow(std::min(chunk, n - k));
        const T *x = a.data + k * a.column_stride, *y = b.data + k * b.row_stride;
        T part;
        if constexpr (is_complex) {
          reinterpret_cast<void (*)(Int, const void*, Int, const void*, Int, void*)>(blas_.dot)(
              count, x, narrow(a.column_stride), y, narrow(b.row_stride), &part);
        } else {
          part = reinterpret_cast<T (*)(Int, const T*, Int, const T*, Int)>(blas_.dot)(
              count, x, narrow(a.column_stride), y, narrow(b.row_stride));
        }
        sum += static_cast<Sum>(part);
      }
    } else {
      sum = static_cast<Sum>(sum_of_products(a.data, a.column_stride, b.data, b.row_stride, n));
    }
    *out.data = static_cast<T>(sum);
  }

  void gemv(const Matrix<T>& a, const T* x, std::int64_t x_stride, T* y,
            std::int64_t y_stride) const {
    const T one(1), zero(0);
    reinterpret_cast<void (*)(int, int, Int, Int, Factor, const T*, Int, const T*, Int, Factor, T*,
                              Int)>(blas_.gemv)(a.has_rows() ? ColumnMajor : RowMajor, Transposed,
                                                narrow(a.columns), narrow(a.rows), factor(one),
                                                a.data, narrow(a.leading()), x, narrow(x_stride),
                                                factor(zero), y, narrow(y_stride));
  }

  // The matrix, or a dense copy in its order of axes.
  static Matrix<T> blasable(const Matrix<T>& a, std::vector<T>& copy) {
    if (a.is_blasable()) return a;
    if (std::abs(a.row_stride) < std::abs(a.column_stride))
      return blasable(a.transposed(), copy).transposed();
    copy.resize(static_cast<std::size_t>(a.rows * a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = 0; k < a.columns; ++k)
        copy[static_cast<std::size_t>(i * a.columns + k)] =
            a.data[i * a.row_stride + k * a.column_stride];
    return {copy.data(), a.rows, a.columns, a.columns, 1};
  }

  // out = keep * out + a @ b
  void call_gemm(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out, T keep) const {
    const T one(1);
    reinterpret_cast<void (*)(int, int, int, Int, Int, Int, Factor, const T*, Int, const T*, Int,
                              Factor, T*, Int)>(blas_.gemm)(
        RowMajor, a.has_rows() ? Plain : Transposed, b.has_rows() ? Plain : Transposed,
        narrow(a.rows), narrow(b.columns), narrow(a.columns), factor(one), a.data,
        narrow(a.leading()), b.data, narrow(b.leading()), factor(keep), out.data,
        narrow(out.row_stride));
  }

  void multiply(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out) const {
    const T one(1), zero(0);
    const int a_is = a.has_rows() ? Plain : Transposed, b_is = b.has_rows() ? Plain : Transposed;
    const bool by_its_transpose = a.data == b.data && a.rows == b.columns &&
                                  a.row_stride == b.column_stride &&
                                  a.column_stride == b.row_stride && a_is != b_is;
    if (!by_its_transpose) return call_gemm(a, b, out, zero);
    reinterpret_cast<void (*)(int, int, int, Int, Int, Factor, const T*, Int, Factor, T*, Int)>(
        blas_.syrk)(RowMajor, upper, a_is, narrow(b.columns), narrow(a.columns), factor(one),
                    a.data, narrow(a.leading()), factor(zero), out.data, narrow(out.row_stride));
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t j = i + 1; j < out.columns; ++j)
        out.data[j * out.row_stride + i] = out.data[i * out.row_stride + j];
  }

  const Blas& blas_;
};

// An element of a bool array: whatever is not zero is true.
enum class Truth : std::uint8_t {};

// An element is true where a true one of its row meets a true one of its column: rows of `b` added
// up until all are.
void any_of_both(const Matrix<Truth>& a, const Matrix<Truth>& b, const Matrix<Truth>& out) {
  constexpr Truth no{0};
  const bool has_rows = b.column_stride == 1 && out.column_stride == 1;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Truth* const to = out.data + i * out.row_stride;
    for (std::int64_t j = 0; j < b.columns; ++j) to[j * out.column_stride] = no;
    std::int64_t open = 0;  // the first that is still false
    for (std::int64_t k = 0; k < a.columns && open < b.columns; ++k) {
      if (a.data[i * a.row_stride + k * a.column_stride] == no) continue;
      const Truth* const from = b.data + k * b.row_stride;
      const auto add = [](Truth& sum, Truth term) { sum = Truth{sum != no || term != no}; };
      if (has_rows)  // in vectors
        for (std::int64_t j = open; j < b.columns; ++j) add(to[j], from[j]);
      else
        for (std::int64_t j = open; j < b.columns; ++j)
          add(to[j * out.column_stride], from[j * b.column_stride]);
      while (open < b.columns && to[open * out.column_stride] != no) ++open;
    }
  }
}

template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& out) {
  if constexpr (std::is_same_v<T, Truth>) {
    any_of_both(a, b, out);
  } else if constexpr (std::is_integral_v<T>) {
    Product<T, std::int64_t>::loops(a, b, out);
  } else {
    const Blas& blas = blas_of<T>();
    if (!blas || a.columns == 0)
      Product<T, std::int64_t>::loops(a, b, out);
    else if (blas.wide)
      Product<T, std::int64_t>{blas}(a, b, out);
    else
      Product<T, std::int32_t>{blas}(a, b, out);
  }
}

// ---- products of loop nests ---------------------------------------------------------------------

template <class T>
bool multiply_in_memory(const MatrixProduct& p) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  bool whole = true;
  const auto matrix = [&](const MatrixInMemory& m, std::int64_t rows, std::int64_t columns) {
    whole &= m.row_stride % item == 0 && m.column_stride % item == 0 &&
             reinterpret_cast<std::uintptr_t>(m.data) % alignof(T) == 0;
    return Matrix<T>{reinterpret_cast<T*>(m.data), rows, columns, m.row_stride / item,
                     m.column_stride / item};
  };
  const Matrix<T> a = matrix(p.a, p.rows, p.inner), b = matrix(p.b, p.inner, p.columns),
                  out = matrix(p.out, p.rows, p.columns);
  const Blas& blas = blas_of<T>();
  if (!whole || !blas) return false;
  const T keep(p.accumulates ? 1 : 0);
  return blas.wide ? Product<T, std::int64_t>{blas}.gemm(a, b, out, keep)
                   : Product<T, std::int32_t>{blas}.gemm(a, b, out, keep);
}

[[maybe_unused]] const bool is_known_to_nests = [] {
  set_multiply_matrices([](const MatrixProduct& p) {
    return p.dtype == DType::Float64 ? multiply_in_memory<double>(p) : multiply_in_memory<float>(p);
  });
  return true;
}();

// ---- stacks of products -------------------------------------------------------------------------

// left @ right for each matrix of two stacks of one (broadcast) shape, into a dense stack.
class MatmulCall final : public Call {
 public:
  MatmulCall(DType dtype, const Array& left, const Array& right)
      : dtype_(dtype), left_(left.layout()), right_(right.layout()) {}
  std::string_view name() const override { return "matmul"; }
  const char* warning_name() const override { return "matmul"; }

  using Call::describe;
  bool describe(MatrixProducts& products) const override {
    constexpr std::int64_t most = 256;
    const std::size_t outer = left_->shape().size() - 2;
    const auto batches = left_->shape().first(outer);
    std::int64_t count = 1;
    for (const std::int64_t extent : batches) count *= extent;
    const std::int64_t item = size_of(dtype_);
    const std::int64_t m = left_->shape()[outer], n = right_->shape()[outer + 1];
    if (!is_inexact(dtype_) || dtype_ == DType::Float16 || count > most) return false;
    const auto steps = [&](const Layout& layout) {
      return MatrixProducts::Steps{layout.strides()[outer], layout.strides()[outer + 1]};
    };
    products = {.dtype = dtype_,
                .rows = m,
                .inner = left_->shape()[outer + 1],
                .columns = n,
                .left = steps(*left_),
                .right = steps(*right_),
                .out = {n * item, item},
                .starts = {}};
    const auto start = [&](const Layout& layout, std::int64_t batch) {
      std::int64_t bytes = 0;
      for (std::size_t axis = outer; axis-- > 0;) {
        bytes += batch % layout.shape()[axis] * layout.strides()[axis];
        batch /= layout.shape()[axis];
      }
      return bytes;
    };
    for (std::int64_t t = 0; t < count; ++t)
      products.starts.push_back({start(*left_, t), start(*right_, t), t * m * n * item});
    return true;
  }

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
      case DType::Int8:
      case DType::UInt8:
        return run_as<std::uint8_t>(pointers);
      case DType::Int16:
      case DType::UInt16:
        return run_as<std::uint16_t>(pointers);
      case DType::Int32:
      case DType::UInt32:
        return run_as<std::uint32_t>(pointers);
      case DType::Int64:
      case DType::UInt64:
        return run_as<std::uint64_t>(pointers);
      case DType::Bool:
        return run_as<Truth>(pointers);
      case DType::Float16:
        break;
    }
  }

 private:
  // Unsigned integers wrap as NumPy's signed ones do.
  template <class T>
  void run_as(std::span<std::byte* const> pointers) const {
    const std::size_t outer = left_->shape().size() - 2;
    const std::int64_t m = left_->shape()[outer], n = right_->shape()[outer + 1];
    std::int64_t batches = 1;
    for (std::int64_t extent : left_->shape().first(outer)) batches *= extent;
    const auto matrix = [&](const Layout& layout, std::byte* data, std::int64_t batch) {
      for (std::size_t axis = outer; axis-- > 0;) {
        data += batch % layout.shape()[axis] * layout.strides()[axis];
        batch /= layout.shape()[axis];
      }
      constexpr auto item = static_cast<std::int64_t>(sizeof(T));
      return Matrix<T>{reinterpret_cast<T*>(data), layout.shape()[outer], layout.shape()[outer + 1],
                       layout.strides()[outer] / item, layout.strides()[outer + 1] / item};
    };
    for (std::int64_t t = 0; t < batches; ++t)
      multiply<T>(matrix(*left_, pointers[1], t), matrix(*right_, pointers[2], t),
                  {reinterpret_cast<T*>(pointers[0]) + t * m * n, m, n, n, 1});
  }

  DType dtype_;
  LayoutRef left_, right_;
};

// The extents of one product; a vector is a matrix of one row on the left, of one column on the
// right.
struct Extents {
  std::int64_t rows, inner, columns;
};

template <class T>
Matrix<T> matrix_of(const Array& x, bool is_left) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  auto* elements = reinterpret_cast<T*>(x.base()->data + x.offset());
  const std::int64_t extent = x.shape()[0], stride = x.strides()[0] / item;
  if (x.ndim() == 2) return {elements, extent, x.shape()[1], stride, x.strides()[1] / item};
  if (is_left) return {elements, 1, extent, extent, stride};
  return {elements, extent, 1, stride, 1};
}

// Of operands that are there: nothing has to be made but the result.
template <class T>
Array product_at_once(const Array& a, const Array& b, const Extents& n) {
  Engine& engine = Engine::get();
  const std::int64_t both[2] = {n.rows, n.columns};
  const std::span<const std::int64_t> shape = std::span(both).subspan(
      a.ndim() == 1 ? 1 : 0, static_cast<std::size_t>(a.ndim() + b.ndim() - 2));
  Array result = empty(shape, a.dtype());
  engine.allocate(result.base());
  auto* elements = reinterpret_cast<T*>(result.base()->data + result.offset());
  const bool checks = engine.settings.float_checks != 0;
  if (checks) clear_float_flags();
  multiply<T>(matrix_of<T>(a, true), matrix_of<T>(b, false),
              {elements, n.rows, n.columns, n.columns, 1});
  ++engine.statistics.immediate;
  if (checks) {
    SourcePosition at = engine.source;
    if (!at.ufunc) at.ufunc = "matmul";
    engine.note_float_flags(Op{}, at, engine.settings.float_checks, float_flags());
  }
  return result;
}

bool has_whole_strides(const Array& a, DType dtype) {
  return std::ranges::all_of(a.strides(),
                             [&](std::int64_t stride) { return stride % size_of(dtype) == 0; });
}

// No array where anything is out of the ordinary.
Array small_product(const Array& a, const Array& b) {
  const std::int64_t most_bytes = moderate_times * Engine::get().settings.immediate_bytes;
  const auto is_plain = [](const Array& x) {
    return (x.ndim() == 1 || x.ndim() == 2) && x.size() > 0 && has_whole_strides(x, x.dtype()) &&
           is_small_and_ready(x, moderate_times);
  };
  if (a.dtype() != b.dtype() || !is_plain(a) || !is_plain(b)) return {};
  const Extents n{a.ndim() == 2 ? a.shape()[0] : 1, a.shape().back(),
                  b.ndim() == 2 ? b.shape()[1] : 1};
  if (b.shape()[0] != n.inner || n.rows * n.columns * size_of(a.dtype()) > most_bytes) return {};
  switch (a.dtype()) {
    case DType::Float32:
      return product_at_once<float>(a, b, n);
    case DType::Float64:
      return product_at_once<double>(a, b, n);
    case DType::Complex64:
      return product_at_once<std::complex<float>>(a, b, n);
    case DType::Complex128:
      return product_at_once<std::complex<double>>(a, b, n);
    case DType::Int64:
      return product_at_once<std::uint64_t>(a, b, n);
    case DType::Bool:
      return product_at_once<Truth>(a, b, n);
    default:
      return {};
  }
}

// `a` as a stack of matrices of this type and shape, its elements at whole distances.
Array stack_of(const Array& a, DType dtype, const std::vector<std::int64_t>& shape) {
  const bool whole = has_whole_strides(a, dtype);
  if (a.dtype() == dtype && whole) return broadcast_to(a, shape);
  return broadcast_to(astype(a, dtype, 'C'), shape);
}

}  // namespace

Array matmul(const Array& a, const Array& b, const Array* out) {
  check_array(a);
  check_array(b);
  if (out) check_array(*out);
  Locked lock(Engine::lock());
  if (!out)
    if (Array product = small_product(a, b)) return product;
  if (a.ndim() == 0 || b.ndim() == 0)
    throw ValueError(
        "matmul: Input operand does not have enough dimensions (has 0, gufunc core with signature "
        "(n?,k),(k,m?)->(n?,m?) requires 1)");
  const DType dtype = promote(a.dtype(), b.dtype());
  if (dtype == DType::Float16) throw TypeError("no native matmul of this type");
  if (out && !can_cast(dtype, out->dtype(), Casting::SameKind))
    throw TypeError(text("Cannot cast ufunc 'matmul' output from dtype('", info(dtype).name,
                         "') to dtype('", info(out->dtype()).name,
                         "') with casting rule 'same_kind'"));
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
    const Array inputs[2] = {stack_of(left, dtype, left_shape),
                             stack_of(right, dtype, right_shape)};
    if (k == 0)
      assign(result, Argument(scalar_of(dtype, 0)));
    else
      record_call(std::make_shared<MatmulCall>(dtype, inputs[0], inputs[1]), {&result, 1}, inputs);
  }
  const Array shaped = *reshape_window(result, result_shape);
  if (!out) return shaped;
  check_writable(*out);
  if (out->layout() != shaped.layout() && !std::ranges::equal(out->shape(), shaped.shape()))
    throw ValueError("matmul: the output has another shape than the product");
  assign(*out, shaped);
  return *out;
}

namespace {

template <class T, class Int>
std::complex<double> conjugate_sum(const Blas& blas, const Matrix<T>& x, const Matrix<T>& y) {
  const auto sum_of = reinterpret_cast<void (*)(Int, const void*, Int, const void*, Int, void*)>(
      blas.conjugate_dot);
  constexpr std::int64_t chunk = std::int64_t{1} << 30;
  std::complex<double> sum{};
  for (std::int64_t k = 0; k < x.columns; k += chunk) {
    T part;
    sum_of(static_cast<Int>(std::min(chunk, x.columns - k)), x.data + k * x.column_stride,
           static_cast<Int>(x.column_stride), y.data + k * y.row_stride,
           static_cast<Int>(y.row_stride), &part);
    sum += part;
  }
  return sum;
}

template <class T>
std::optional<Array> conjugate_product_of(const Array& a, const Array& b) {
  const Blas& blas = blas_of<T>();
  if (!blas || !blas.conjugate_dot) return std::nullopt;
  Engine& engine = Engine::get();
  eval(a);
  eval(b);
  const Array result = empty({}, a.dtype());
  engine.allocate(result.base());
  const Matrix<T> x = matrix_of<T>(a, true), y = matrix_of<T>(b, false);
  const T sum(blas.wide ? conjugate_sum<T, std::int64_t>(blas, x, y)
                        : conjugate_sum<T, std::int32_t>(blas, x, y));
  std::memcpy(result.base()->data, &sum, sizeof sum);
  return result;
}

// The sum of conj(a) * b, if BLAS can read them.
std::optional<Array> conjugate_product(const Array& a, const Array& b) {
  const auto fits = [&](const Array& x) {
    return x.ndim() == 1 && x.size() == a.size() && x.size() > 0 && x.dtype() == a.dtype() &&
           x.strides()[0] > 0 && has_whole_strides(x, x.dtype());
  };
  if (!fits(a) || !fits(b)) return std::nullopt;
  if (a.dtype() == DType::Complex64) return conjugate_product_of<std::complex<float>>(a, b);
  if (a.dtype() == DType::Complex128) return conjugate_product_of<std::complex<double>>(a, b);
  return std::nullopt;
}

Array readable_by_blas(const Array& a) {
  if (!is_inexact(a.dtype())) return a;
  const std::int64_t item = size_of(a.dtype());
  for (std::size_t k = 0; k < a.shape().size(); ++k)
    if (a.strides()[k] < 0 || a.strides()[k] % item != 0 ||
        (a.strides()[k] == 0 && a.shape()[k] > 1))
      return copy(a, 'C');
  if (a.ndim() == 2 && !a.c_contiguous() && !a.f_contiguous()) return copy(a, 'C');
  return a;
}

}  // namespace

Array dot(const Array& a, const Array& b, const Array* out) {
  check_array(a);
  check_array(b);
  check(a.ndim() <= 2 && b.ndim() <= 2, "a dot of at most two dimensions");
  return matmul(readable_by_blas(a), readable_by_blas(b), out);
}

std::optional<Array> bool_product(const Array& a, const Array& b) {
  Locked lock(Engine::lock());
  Engine& engine = Engine::get();
  const auto is_ready_row = [&](const Array& x) {
    return x.c_contiguous() && engine.is_ready(x.base());
  };
  if (!is_ready_row(a) || !is_ready_row(b)) return std::nullopt;
  const auto elements_of = [](const Array& x) {
    return reinterpret_cast<std::uint8_t*>(x.base()->data + x.offset());
  };
  std::uint8_t *const x = elements_of(a), *const y = elements_of(b);
  const Loop both_loop = loop(Op::LogicalAnd, DType::Bool);
  const ExtremeLoop first_true = extreme_loop(Op::Maximum, DType::Bool);
  constexpr std::int64_t few = 64, many = 4096;
  std::uint8_t both[many];
  bool found = false;
  for (std::int64_t k = 0, n = few; k < a.size() && !found; k += n, n = many) {
    n = std::min(n, a.size() - k);
    void* args[3] = {both, x + k, y + k};
    both_loop(args, n, 0);
    found = both[first_true(both, n)] != 0;
  }
  const Array result = empty({}, DType::Bool);
  engine.allocate(result.base());
  std::memcpy(result.base()->data, &found, 1);
  ++engine.statistics.immediate;
  return result;
}

Array vdot(const Array& a, const Array& b) {
  check_array(a);
  check_array(b);
  Locked lock(Engine::lock());
  if (std::optional<Array> sum = conjugate_product(a, b)) return *std::move(sum);
  Engine& engine = Engine::get();
  const OtherSources silent(engine);
  engine.settings.float_checks = 0;
  return dot(is_complex(a.dtype()) ? apply(Op::Conjugate, {a}) : a, b);
}

}  // namespace frit
