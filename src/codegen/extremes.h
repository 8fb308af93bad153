// extremes.h: maximum and minimum by the machine's own instruction. In: emitted IR. Out: the same.
#pragma once

#include <llvm/IR/Module.h>

namespace frit::codegen {

// To be called last: LLVM's passes undo it.
void use_extremes(llvm::Module& module);

}  // namespace frit::codegen
