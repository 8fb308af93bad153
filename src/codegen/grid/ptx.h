// ptx.h: LLVM IR -> PTX, the text that NVIDIA's driver compiles for its GPUs. In: a Module.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>

namespace llvm {
class TargetMachine;
}

namespace frit::codegen {

class Ptx {
 public:
  Ptx();
  ~Ptx();
  void prepare(llvm::Module& module) const;
  // Optimizes too.
  std::string generate(llvm::Module& module);

 private:
  std::unique_ptr<llvm::TargetMachine> target_;
};

}  // namespace frit::codegen
