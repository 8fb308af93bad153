// matrix_products.h: what a step of the trace multiplies, for libraries that do.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/ops.h"

namespace frit {

// A stack of matrix products: out = left @ right. Distances between elements are in bytes.
struct MatrixProducts {
  DType dtype{};
  std::int64_t rows = 0, inner = 0, columns = 0;
  struct Steps {
    std::int64_t row = 0, column = 0;
  } left, right, out;
  struct Starts {
    std::int64_t left = 0, right = 0, out = 0;
  };
  std::vector<Starts> starts;  // one a product: bytes behind the operands' first elements
};

}  // namespace frit
