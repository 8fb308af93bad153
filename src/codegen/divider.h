// divider.h: square roots and quotients without the divider. In: emitted IR. Out: the same bits.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/emit.h"

namespace frit::codegen {

// Where a loop would wait for its square roots or quotients of float64, they become multiplications
// and additions; elsewhere they stay.
void spare_divider(llvm::Module& module, const Machine& machine);

}  // namespace frit::codegen
