// permute_tables.cpp: a tool of the build: look-ups in constant tables become permutations.
//
// In: bitcode of ready-made loops for AVX-512, after clang's loop vectoriser, which gathers from a
// table in memory. Out: the same with permutations of registers. Fails where there was none to do.
#include <cstdio>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "ops/permutation.h"

namespace {

using namespace llvm;

// Where each lane reads, as a place in a constant table that a permutation serves; else nullptr.
Value* places_in_table(const IntrinsicInst& gather, const Constant*& table) {
  const auto* type = cast<FixedVectorType>(gather.getType());
  auto* address = dyn_cast<GetElementPtrInst>(gather.getArgOperand(0));
  const DataLayout& layout = gather.getDataLayout();
  if (!address || address->getNumIndices() != 1 ||
      layout.getTypeAllocSize(address->getSourceElementType()) !=
          layout.getTypeAllocSize(type->getElementType()))
    return nullptr;
  auto* variable = dyn_cast<GlobalVariable>(address->getPointerOperand());
  if (!variable || !variable->isConstant() || !variable->hasInitializer()) return nullptr;
  table = variable->getInitializer();
  const bool fits = table->getAggregateElement(0U) &&
                    layout.getTypeAllocSize(table->getAggregateElement(0U)->getType()) ==
                        layout.getTypeAllocSize(type->getElementType());
  return fits && frit::is_permutable(*table, type->getNumElements()) ? address->getOperand(1)
                                                                     : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s in.bc out.bc\n", argv[0]);
    return 2;
  }
  LLVMContext context;
  auto buffer = MemoryBuffer::getFile(argv[1]);
  if (!buffer) {
    std::fprintf(stderr, "%s: %s\n", argv[1], buffer.getError().message().c_str());
    return 1;
  }
  auto module = parseBitcodeFile(**buffer, context);
  if (!module) {
    errs() << argv[1] << ": " << toString(module.takeError()) << "\n";
    return 1;
  }
  SmallVector<IntrinsicInst*> gathers;
  for (Function& function : **module)
    for (Instruction& i : instructions(function))
      if (auto* call = dyn_cast<IntrinsicInst>(&i);
          call && call->getIntrinsicID() == Intrinsic::masked_gather)
        gathers.push_back(call);

  int made = 0;
  for (IntrinsicInst* gather : gathers) {
    const Constant* table = nullptr;
    Value* places = places_in_table(*gather, table);
    if (!places) continue;
    IRBuilder<> builder(gather);
    Value* found = frit::permuted(builder, *table, places);  // floats, or wanted as integers
    gather->replaceAllUsesWith(builder.CreateBitCast(found, gather->getType()));
    gather->eraseFromParent();
    ++made;
  }
  if (made == 0) {
    std::fprintf(stderr, "%s: the vectoriser left no gather from a table\n", argv[1]);
    return 1;
  }
  std::error_code error;
  raw_fd_ostream out(argv[2], error);
  if (error) {
    std::fprintf(stderr, "%s: %s\n", argv[2], error.message().c_str());
    return 1;
  }
  WriteBitcodeToFile(**module, out);
  return 0;
}
