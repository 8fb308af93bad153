// extreme_kernel.h: argmin and argmax of many lanes as a kernel.
#pragma once

#include "ir/kernel.h"

namespace frit {

// Operands: places, elements. Integers: elements of a lane; bytes from one lane's first element to
// the next one's; bytes from one element of a lane to the next.
Kernel extreme_kernel(Op op, DType dtype);  // op: Maximum or Minimum

}  // namespace frit
