// neutral.h: the value that changes nothing when a reduction starts from it.
#pragma once

#include <optional>

#include "ops/ops.h"

namespace frit {

// For reductions without NumPy identity too (maximum: the lowest value); nullopt where there is
// none. Float Add: -0.0, so that a sum of negative zeros keeps its sign.
std::optional<Scalar> neutral_of(Op op, DType dtype);

// A literal of any type from a small number.
Scalar scalar_of(DType dtype, double value);

}  // namespace frit
