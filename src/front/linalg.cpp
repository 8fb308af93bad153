// linalg.cpp: matrix products by the process's BLAS (the one that NumPy has loaded, else OpenBLAS), as steps of the trace.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "front/common.h"
#include "front/small.h"
#include "ir/neutral.h"

namespace frit {
namespace {

// CBLAS's gemm for one type, with 32- or 64-bit sizes.
struct Gemm {
  void* function = nullptr;
  bool wide = false;
};

constexpr int row_major = 101, plain = 111;

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

Gemm gemm_for(DType dtype) {
  const char* letter = dtype == DType::Float32      ? "s"
                       : dtype == DType::Float64    ? "d"
                       : dtype == DType::Complex64  ? "c"
                       : dtype == DType::Complex128 ? "z"
                                                    : nullptr;
  if (!letter || !blas_library()) return {};
  const std::string name = std::string("cblas_") + letter + "gemm";
  for (const auto& [symbol, wide] : {std::pair{"scipy_" + name + "64_", true},
                                     {name + "64_", true},
                                     {"scipy_" + name, false},
                                     {name, false}})
    if (void* f = dlsym(blas_library(), symbol.c_str())) return {f, wide};
  return {};
}

template <class Int>
void call_gemm(void* f, DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const void* a,
               const void* b, void* c) {
  const auto M = static_cast<Int>(m), N = static_cast<Int>(n), K = static_cast<Int>(k);
  const Int lda = std::max<Int>(K, 1), ldb = std::max<Int>(N, 1), ldc = std::max<Int>(N, 1);
  const Scalar one = scalar_of(dtype, 1), zero = scalar_of(dtype, 0);
  if (dtype == DType::Float32) {
    using F = void (*)(int, int, int, Int, Int, Int, float, const void*, Int, const void*, Int,
                       float, void*, Int);
    reinterpret_cast<F>(f)(row_major, plain, plain, M, N, K, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
  } else if (dtype == DType::Float64) {
    using F = void (*)(int, int, int, Int, Int, Int, double, const void*, Int, const void*, Int,
                       double, void*, Int);
    reinterpret_cast<F>(f)(row_major, plain, plain, M, N, K, 1.0, a, lda, b, ldb, 0.0, c, ldc);
  } else {
    using F = void (*)(int, int, int, Int, Int, Int, const void*, const void*, Int, const void*,
                       Int, const void*, void*, Int);
    reinterpret_cast<F>(f)(row_major, plain, plain, M, N, K, one.bytes, a, lda, b, ldb, zero.bytes,
                           c, ldc);
  }
}

// One product of dense row-major matrices.
void multiply_dense(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const std::byte* a,
                    const std::byte* b, std::byte* c) {
  const Gemm gemm = gemm_for(dtype);
  if (gemm.function && m > 0 && n > 0 && k > 0) {
    if (gemm.wide)
      call_gemm<std::int64_t>(gemm.function, dtype, m, n, k, a, b, c);
    else
      call_gemm<std::int32_t>(gemm.function, dtype, m, n, k, a, b, c);
    return;
  }
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

class MatmulCall final : public Call {
 public:
  MatmulCall(DType dtype, std::int64_t batches, std::int64_t m, std::int64_t n, std::int64_t k)
      : dtype_(dtype), batches_(batches), m_(m), n_(n), k_(k) {}
  std::string_view name() const override { return "matmul"; }
  const char* warning_name() const override { return "matmul"; }
  void run(std::span<std::byte* const> pointers) const override {
    const std::int64_t item = size_of(dtype_);
    for (std::int64_t t = 0; t < batches_; ++t)
      multiply_dense(dtype_, m_, n_, k_, pointers[1] + t * m_ * k_ * item,
                     pointers[2] + t * k_ * n_ * item, pointers[0] + t * m_ * n_ * item);
  }

 private:
  DType dtype_;
  std::int64_t batches_, m_, n_, k_;
};

// `a` as dense batches of matrices of this type and shape.
Array dense_batches(const Array& a, DType dtype, const std::vector<std::int64_t>& shape) {
  const Array wide = broadcast_to(a, shape);
  if (wide.dtype() == dtype && wide.c_contiguous()) return wide;
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
  std::int64_t batches = 1;
  for (std::int64_t e : shape) batches *= e;
  std::vector<std::int64_t> left_shape = shape, right_shape = shape, result_shape = shape,
                            full_shape = shape;
  left_shape.insert(left_shape.end(), {m, k});
  right_shape.insert(right_shape.end(), {k, n});
  full_shape.insert(full_shape.end(), {m, n});
  if (!row_vector) result_shape.push_back(m);
  if (!column_vector) result_shape.push_back(n);
  const Array result = empty(full_shape, dtype);
  if (result.size() > 0) {
    const Array inputs[2] = {dense_batches(left, dtype, left_shape),
                             dense_batches(right, dtype, right_shape)};
    if (k == 0)
      assign(result, Argument(scalar_of(dtype, 0)));
    else
      record_call(std::make_shared<MatmulCall>(dtype, batches, m, n, k), {&result, 1}, inputs);
  }
  const Array shaped = *reshape_window(result, result_shape);
  if (!out) return shaped;
  check_writable(*out);
  assign(*out, shaped);
  return *out;
}

}  // namespace frit
