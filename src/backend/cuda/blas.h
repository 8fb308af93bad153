// blas.h: matrix products by cuBLAS, opened when first needed.
#pragma once

#include "backend/cuda/driver.h"
#include "ir/matrix_products.h"

namespace frit::cuda {

class Blas {
 public:
  explicit Blas(Stream stream);  // in the current context
  // False: there is no such library, or it can't do this; nothing was done.
  bool multiply(const MatrixProducts& products, Pointer left, Pointer right, Pointer out);

 private:
  struct Library;
  bool open();

  Stream stream_;
  bool was_sought_ = false;
  const Library* library_ = nullptr;
};

}  // namespace frit::cuda
