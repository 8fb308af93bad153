// matrix_product.h: the product of two matrices in memory, by BLAS; set by the layer that knows it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/ops.h"

namespace frit {

struct MatrixInMemory {
  std::byte* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;  // bytes
};
struct MatrixProduct {
  DType dtype{};  // Float32 or Float64
  MatrixInMemory a, b, out;
  std::int64_t rows = 0, inner = 0, columns = 0;
  bool accumulates = false;  // out += a @ b
};

// False where it can't: nothing was done.
using MultiplyMatrices = bool (*)(const MatrixProduct& product);
void set_multiply_matrices(MultiplyMatrices multiply);
bool multiply_matrices(const MatrixProduct& product);

}  // namespace frit
