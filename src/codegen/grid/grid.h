// grid.h: Kernel -> LLVM IR for a grid of blocks of threads. In: a verified Kernel. Out: one
// function in a Module.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/code.h"
#include "codegen/formula.h"
#include "ir/kernel.h"

namespace frit::codegen {

// All of GridCode but its text.
GridCode emit_grid(const Kernel& kernel, Formulas& formulas, llvm::Module& module);

}  // namespace frit::codegen
