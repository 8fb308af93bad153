// pairwise.cpp: down to a leaf, and up as long as a right half has been done.
#include "codegen/pairwise.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace frit::codegen {

using namespace llvm;

void emit_pairwise(Builder& builder, unsigned accumulators, Value* to_do, Value* begin, Value* end,
                   const PairwiseSteps& steps) {
  Type* type = builder.getInt64Ty();
  Function* function = builder.GetInsertBlock()->getParent();
  const auto number = [&](std::int64_t n) { return ConstantInt::getSigned(type, n); };
  const auto new_block = [&](const char* name) {
    return BasicBlock::Create(builder.getContext(), name, function);
  };
  BasicBlock* before = builder.GetInsertBlock();
  BasicBlock *descend = new_block("descend"), *split = new_block("split"),
             *at_leaf = new_block("leaf");
  BasicBlock *ascend = new_block("ascend"), *parent = new_block("parent"),
             *join = new_block("join");
  BasicBlock *right = new_block("right"), *after = new_block("after");
  builder.CreateBr(descend);

  builder.SetInsertPoint(descend);
  PHINode* from = builder.CreatePHI(type, 3);
  PHINode* to = builder.CreatePHI(type, 3);
  PHINode* depth = builder.CreatePHI(type, 3);
  Value* length = builder.CreateSub(to, from);
  builder.CreateCondBr(builder.CreateICmpSLE(length, number(accumulators * rounds_in_tree_leaf)),
                       at_leaf, split);

  builder.SetInsertPoint(split);
  Value* half = builder.CreateAnd(builder.CreateLShr(length, 1),
                                  number(-static_cast<std::int64_t>(accumulators)));
  Value* middle = builder.CreateAdd(from, half);
  builder.CreateStore(to, builder.CreateGEP(type, to_do, depth));
  Value* deeper = builder.CreateAdd(depth, number(1));
  builder.CreateBr(descend);

  builder.SetInsertPoint(at_leaf);
  steps.leaf(from, to);
  BasicBlock* leaf_end = builder.GetInsertBlock();
  builder.CreateBr(ascend);

  builder.SetInsertPoint(ascend);
  PHINode* up = builder.CreatePHI(type, 2);
  builder.CreateCondBr(builder.CreateICmpEQ(up, number(0)), after, parent);

  // A parent whose right half is done has nothing to do: it ends where we are.
  builder.SetInsertPoint(parent);
  Value* above = builder.CreateSub(up, number(1));
  Value* its_end = builder.CreateLoad(type, builder.CreateGEP(type, to_do, above));
  builder.CreateCondBr(builder.CreateICmpEQ(its_end, to), join, right);

  builder.SetInsertPoint(join);
  steps.join(above);
  BasicBlock* join_end = builder.GetInsertBlock();
  builder.CreateBr(ascend);

  builder.SetInsertPoint(right);
  steps.keep(above);
  BasicBlock* right_end = builder.GetInsertBlock();
  builder.CreateBr(descend);

  from->addIncoming(begin, before);
  to->addIncoming(end, before);
  depth->addIncoming(number(0), before);
  from->addIncoming(from, split);
  to->addIncoming(middle, split);
  depth->addIncoming(deeper, split);
  from->addIncoming(to, right_end);
  to->addIncoming(its_end, right_end);
  depth->addIncoming(up, right_end);
  up->addIncoming(depth, leaf_end);
  up->addIncoming(above, join_end);
  builder.SetInsertPoint(after);
}

}  // namespace frit::codegen
