// ptx.cpp: NVIDIA's target, its passes and its text.
#include "codegen/grid/ptx.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include "codegen/passes.h"
#include "ir/error.h"

// LLVM's headers name those of targets that it was configured for, not all that it has.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace frit::codegen {

using namespace llvm;

// Volta and later, whose threads of a warp go on by themselves: the driver compiles the text for
// the GPU that is there.
Ptx::Ptx() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const Target* target = TargetRegistry::lookupTarget(triple, error);
  if (!target) throw DeviceError("LLVM: no target for " + triple.str() + ": " + error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;  // a * b + c keeps both roundings
  target_.reset(target->createTargetMachine(triple, "sm_70", "+ptx63", options, Reloc::PIC_,
                                            std::nullopt, CodeGenOptLevel::Default));
  if (!target_) throw DeviceError("LLVM: no code generator for " + triple.str());
}

Ptx::~Ptx() = default;

void Ptx::prepare(Module& module) const {
  module.setTargetTriple(target_->getTargetTriple());
  module.setDataLayout(target_->createDataLayout());
}

namespace {

// Are these, perhaps, the bits of a float?
bool is_from_float(Value* value, SmallPtrSetImpl<Value*>& seen) {
  if (!seen.insert(value).second) return false;
  if (auto* cast = dyn_cast<BitCastInst>(value)) {
    Value* from = cast->getOperand(0);
    return from->getType()->isFloatingPointTy() || is_from_float(from, seen);
  }
  if (isa<FreezeInst, SelectInst, PHINode>(value))
    return any_of(cast<Instruction>(value)->operands(),
                  [&](Value* operand) { return is_from_float(operand, seen); });
  return false;
}

// LLVM stores the low half of a register by a shorter store of all of it. Where a register was made
// by float arithmetic, NVIDIA's compiler takes that for a conversion (CUDA 13.0, sm_90). So the
// half is taken apart by an instruction of its own.
void part_registers(Function& function) {
  SmallVector<TruncInst*, 8> found;
  for (Instruction& instruction : instructions(function)) {
    auto* trunc = dyn_cast<TruncInst>(&instruction);
    SmallPtrSet<Value*, 8> seen;
    if (trunc && is_from_float(trunc->getOperand(0), seen)) found.push_back(trunc);
  }
  for (TruncInst* trunc : found) {
    IRBuilder<> builder(trunc);
    Value* whole = trunc->getOperand(0);
    const auto assemble = [&](const char* text, const char* constraints, Type* to, Value* from) {
      auto* type = FunctionType::get(to, {from->getType()}, false);
      return builder.CreateCall(InlineAsm::get(type, text, constraints, false), {from});
    };
    if (whole->getType()->isIntegerTy(64))
      whole = assemble("{ .reg .b32 high; mov.b64 {$0, high}, $1; }", "=r,l", builder.getInt32Ty(),
                       whole);
    if (whole->getType()->isIntegerTy(32) && trunc->getType()->getIntegerBitWidth() <= 16)
      whole = assemble("cvt.u16.u32 $0, $1;", "=h,r", builder.getInt16Ty(), whole);
    trunc->replaceAllUsesWith(builder.CreateZExtOrTrunc(whole, trunc->getType()));
    trunc->eraseFromParent();
  }
}

}  // namespace

std::string Ptx::generate(Module& module) {
  PassBuilder builder(target_.get());
  Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, analyses.modules);
  for (Function& function : module) part_registers(function);
  return assembly_of(*target_, module);
}

}  // namespace frit::codegen
