// quiet.h: comparisons that raise no flag for a NaN. In: optimized IR. Out: the same.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/emit.h"

namespace frit::codegen {

// To be called last: what it makes is no comparison to LLVM's passes any more.
void quiet_comparisons(llvm::Module& module, const Machine& machine);

}  // namespace frit::codegen
