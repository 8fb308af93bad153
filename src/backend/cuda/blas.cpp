// blas.cpp: which of cuBLAS' functions a product is, and in which order of its elements.
#include "backend/cuda/blas.h"

#include <optional>

#include "ir/error.h"
#include "ir/library.h"

namespace frit::cuda {
namespace {

using Handle = void*;
using Status = int;  // 0: success
enum Transposition : int { as_is = 0, transposed = 1 };
enum PointerMode : int { on_host = 0, on_device = 1 };

using Gemm = Status (*)(Handle, int, int, std::int64_t, std::int64_t, std::int64_t, const void*,
                        Pointer, std::int64_t, Pointer, std::int64_t, const void*, Pointer,
                        std::int64_t);
using Gemv = Status (*)(Handle, int, std::int64_t, std::int64_t, const void*, Pointer, std::int64_t,
                        Pointer, std::int64_t, const void*, Pointer, std::int64_t);
using Dot = Status (*)(Handle, std::int64_t, Pointer, std::int64_t, Pointer, std::int64_t, Pointer);

struct Functions {
  Gemm gemm;
  Gemv gemv;
  Dot dot;
};

// A matrix as cuBLAS takes it: by columns, as it is or transposed. Distances in elements.
struct Operand {
  Pointer data;
  int transposition;
  std::int64_t leading;
};

std::optional<Operand> by_columns(Pointer data, std::int64_t rows, std::int64_t columns,
                                  std::int64_t row_step, std::int64_t column_step) {
  if ((row_step == 1 || rows == 1) && (column_step >= rows || columns == 1))
    return Operand{data, as_is, columns == 1 ? rows : column_step};
  if ((column_step == 1 || columns == 1) && (row_step >= columns || rows == 1))
    return Operand{data, transposed, rows == 1 ? columns : row_step};
  return std::nullopt;
}

}  // namespace

struct Blas::Library {
  Handle handle = nullptr;
  Status (*set_pointer_mode)(Handle, int) = nullptr;
  Functions functions[4];  // float32, float64, complex64, complex128
};

Blas::Blas(Stream stream) : stream_(stream) {}

bool Blas::open() {
  if (was_sought_) return library_ != nullptr;
  was_sought_ = true;
  for (const char* path :
       {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"}) {
    try {
      auto* library = new Library;  // for as long as the process lives
      const auto find = [&]<class Function>(Function& function, const char* name) {
        function = find_function<Function>(path, name);
      };
      Status (*create)(Handle*) = nullptr;
      Status (*set_stream)(Handle, Stream) = nullptr;
      find(create, "cublasCreate_v2");
      find(set_stream, "cublasSetStream_v2");
      find(library->set_pointer_mode, "cublasSetPointerMode_v2");
      const struct {
        const char *gemm, *gemv, *dot;
      } names[4] = {{"cublasSgemm_v2_64", "cublasSgemv_v2_64", "cublasSdot_v2_64"},
                    {"cublasDgemm_v2_64", "cublasDgemv_v2_64", "cublasDdot_v2_64"},
                    {"cublasCgemm_v2_64", "cublasCgemv_v2_64", "cublasCdotu_v2_64"},
                    {"cublasZgemm_v2_64", "cublasZgemv_v2_64", "cublasZdotu_v2_64"}};
      for (int k = 0; k < 4; ++k) {
        find(library->functions[k].gemm, names[k].gemm);
        find(library->functions[k].gemv, names[k].gemv);
        find(library->functions[k].dot, names[k].dot);
      }
      if (create(&library->handle) != 0 || set_stream(library->handle, stream_) != 0) continue;
      library_ = library;
      return true;
    } catch (const DeviceError&) {  // the next one, perhaps
    }
  }
  return false;
}

bool Blas::multiply(const MatrixProducts& p, Pointer left, Pointer right, Pointer out) {
  if (p.rows == 0 || p.inner == 0 || p.columns == 0 || p.starts.empty()) return false;
  const std::int64_t item = size_of(p.dtype);
  const auto elements = [&](MatrixProducts::Steps& steps) {
    if (steps.row % item != 0 || steps.column % item != 0) return false;
    steps = {steps.row / item, steps.column / item};
    return true;
  };
  MatrixProducts::Steps l = p.left, r = p.right, o = p.out;
  if (!elements(l) || !elements(r) || !elements(o) ||
      (left | right | out) % static_cast<Pointer>(size_of(real_of(p.dtype))) != 0)
    return false;
  const int type = p.dtype == DType::Float32     ? 0
                   : p.dtype == DType::Float64   ? 1
                   : p.dtype == DType::Complex64 ? 2
                                                 : 3;
  const bool is_dot = p.rows == 1 && p.columns == 1;
  const bool is_single = p.dtype == DType::Float32 || p.dtype == DType::Complex64;
  const float one_single[2] = {1, 0}, none_single[2] = {0, 0};
  const double one_double[2] = {1, 0}, none_double[2] = {0, 0};
  const void* one = is_single ? static_cast<const void*>(one_single) : one_double;
  const void* none = is_single ? static_cast<const void*>(none_single) : none_double;
  const auto a = by_columns(left, p.rows, p.inner, l.row, l.column);
  const auto b = by_columns(right, p.inner, p.columns, r.row, r.column);
  const bool has_vectors = l.column > 0 && r.row > 0;
  if (is_dot ? !has_vectors : !a || !b) return false;
  if (o.column != 1 && p.columns > 1) return false;
  if (!open()) return false;
  const Functions& f = library_->functions[type];
  const Handle handle = library_->handle;
  if (library_->set_pointer_mode(handle, is_dot ? on_device : on_host) != 0) return false;
  for (const auto& start : p.starts) {
    const Pointer x = left + static_cast<Pointer>(start.left),
                  y = right + static_cast<Pointer>(start.right),
                  to = out + static_cast<Pointer>(start.out);
    Status status;
    if (is_dot)
      status = f.dot(handle, p.inner, x, l.column, y, r.row, to);
    else if (p.columns == 1 && r.row > 0)
      status = a->transposition == as_is ? f.gemv(handle, as_is, p.rows, p.inner, one, x,
                                                  a->leading, y, r.row, none, to, o.row)
                                         : f.gemv(handle, transposed, p.inner, p.rows, one, x,
                                                  a->leading, y, r.row, none, to, o.row);
    else  // by columns the transposed product: right' @ left'
      status = f.gemm(handle, 1 - b->transposition, 1 - a->transposition, p.columns, p.rows,
                      p.inner, one, y, b->leading, x, a->leading, none, to, o.row);
    if (status != 0) {
      if (&start == p.starts.data()) return false;
      throw DeviceError(text("cuBLAS: a product failed: status ", std::to_string(status)));
    }
  }
  return true;
}

}  // namespace frit::cuda
