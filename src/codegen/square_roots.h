// square_roots.h: square roots without the divider. In: emitted IR. Out: the same, the same bits.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/emit.h"

namespace frit::codegen {

// Where a kernel would wait for its square roots of float64, they become multiplications and
// additions; elsewhere they stay.
void shorten_square_roots(llvm::Module& module, const Machine& machine);

}  // namespace frit::codegen
