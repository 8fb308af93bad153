// native.h: LLVM IR -> machine code for this computer, as one flat image. In: a Module. Out: bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <llvm/IR/Module.h>

#include "codegen/emit.h"

namespace llvm {
class TargetMachine;
}

namespace frit::codegen {

// Position-independent: it runs wherever it is copied to, at an address that is a multiple of 64.
struct FlatCode {
  std::string bytes;
  std::uint64_t entry = 0;  // offset of the kernel's function
};

class Native {
 public:
  Native();
  ~Native();
  const Machine& machine() const { return machine_; }
  // The data layout and triple that `module` must have before code is emitted into it.
  void prepare(llvm::Module& module) const;
  // Branchy: with loops that end by what they compute, a number at a time.
  void optimize(llvm::Module& module, bool is_branchy);
  // Throws InternalError if the code needs anything outside of itself.
  FlatCode generate(llvm::Module& module);
  std::string assembly(llvm::Module& module);

 private:
  struct Optimizer;
  struct Generator;

  std::unique_ptr<llvm::TargetMachine> target_;
  Machine machine_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Generator> generator_;
};

// The sections of an ELF object that code needs at run time, one behind another, references between
// them resolved.
FlatCode flatten(const char* object, std::size_t size);

}  // namespace frit::codegen
