// passes.cpp: a target's assembly.
#include "codegen/passes.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "ir/error.h"

namespace frit::codegen {

using namespace llvm;

std::string assembly_of(TargetMachine& target, Module& module) {
  SmallVector<char, 0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile))
    throw DeviceError("LLVM: this target can't write code");
  passes.run(module);
  return std::string(text.data(), text.size());
}

}  // namespace frit::codegen
