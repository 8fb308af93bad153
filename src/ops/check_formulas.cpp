// check_formulas.cpp: a tool of the build: verifies the bitcode and writes what codegen reads.
//
// In: bitcode of formulas.cpp. Out: the same without functions that stand for missing formulas,
// without what ties it to one processor. Fails, naming the function, if a formula is not
// straight-line: one basic block, no memory, no call but LLVM's intrinsics.
#include <cstdio>
#include <string>
#include <vector>

#include <llvm/ADT/SmallString.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace {

bool stands_for_nothing(const llvm::Function& function) {
  return llvm::isa<llvm::UnreachableInst>(function.getEntryBlock().front());
}

// Empty where the function is straight-line.
std::string fault_of(const llvm::Function& function) {
  if (function.size() != 1) return "it branches";
  for (const llvm::Instruction& i : function.getEntryBlock()) {
    if (i.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst>(i) ||
        llvm::isa<llvm::GetElementPtrInst>(i))
      return std::string("it touches memory: ") + i.getOpcodeName();
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
    if (call && !llvm::isa<llvm::IntrinsicInst>(call)) {
      const llvm::Function* callee = call->getCalledFunction();
      return "it calls " + (callee ? callee->getName().str() : std::string("through a pointer"));
    }
    if (i.isTerminator() && !llvm::isa<llvm::ReturnInst>(i))
      return std::string("it ends in ") + i.getOpcodeName();
  }
  return "";
}

// Processor, ranges and debug notes: nothing a code generator may rely on.
void strip(llvm::Function& function) {
  function.setAttributes(llvm::AttributeList());
  function.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::None);
  function.setDSOLocal(false);
  for (llvm::Instruction& i : function.getEntryBlock()) {
    i.dropUnknownNonDebugMetadata();
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) call->setAttributes(llvm::AttributeList());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s in.bc out.bc\n", argv[0]);
    return 2;
  }
  llvm::LLVMContext context;
  auto buffer = llvm::MemoryBuffer::getFile(argv[1]);
  if (!buffer) {
    std::fprintf(stderr, "%s: %s\n", argv[1], buffer.getError().message().c_str());
    return 1;
  }
  auto module = llvm::parseBitcodeFile(**buffer, context);
  if (!module) {
    llvm::errs() << argv[1] << ": " << llvm::toString(module.takeError()) << "\n";
    return 1;
  }

  int faults = 0;
  std::vector<llvm::Function*> missing;
  for (llvm::Function& function : **module) {
    if (function.isDeclaration()) continue;
    if (stands_for_nothing(function)) {
      missing.push_back(&function);
      continue;
    }
    if (std::string fault = fault_of(function); !fault.empty()) {
      std::fprintf(stderr, "op.def: %s is not straight-line: %s\n",
                   function.getName().str().c_str(), fault.c_str());
      ++faults;
    }
    strip(function);
  }
  for (llvm::Function* function : missing) function->eraseFromParent();
  if (faults != 0) return 1;

  (*module)->setSourceFileName("op.def");
  if (llvm::NamedMDNode* identity = (*module)->getNamedMetadata("llvm.ident"))
    identity->eraseFromParent();
  std::error_code error;
  llvm::raw_fd_ostream out(argv[2], error);
  if (error) {
    std::fprintf(stderr, "%s: %s\n", argv[2], error.message().c_str());
    return 1;
  }
  llvm::WriteBitcodeToFile(**module, out);
  return 0;
}
