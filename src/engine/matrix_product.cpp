// matrix_product.cpp: holds the function that multiplies.
#include "engine/matrix_product.h"

#include <atomic>

namespace frit {
namespace {

std::atomic<MultiplyMatrices> multiply_function = nullptr;

}  // namespace

void set_multiply_matrices(MultiplyMatrices multiply) { multiply_function = multiply; }

bool multiply_matrices(const MatrixProduct& product) {
  const MultiplyMatrices multiply = multiply_function;
  return multiply && multiply(product);
}

}  // namespace frit
