// nest_product.h: recognises the product of two matrices, written as three loops.
#pragma once

#include <optional>

#include "schedule/nest_verdict.h"

namespace frit {

// c[r, s] = (c[r, s] +) the sum over t of a[r, t] * b[t, s]; the axes of each may be swapped.
struct NestProduct {
  std::int32_t a = -1, b = -1, c = -1;               // accesses; c: the store
  std::int32_t rows = -1, columns = -1, inner = -1;  // loops r, s, t
  bool accumulates = false;
};

// Of all that the loop does, or none.
std::optional<NestProduct> find_product(const JudgedNest& judged, std::int32_t loop);

}  // namespace frit
