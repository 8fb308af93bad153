// ptx.cpp: NVIDIA's target, its passes and its text.
#include "codegen/grid/ptx.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

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

std::string Ptx::generate(Module& module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(target_.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, modules);

  SmallVector<char, 0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  if (target_->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile))
    throw DeviceError("LLVM: this target can't write code");
  passes.run(module);
  return std::string(text.data(), text.size());
}

}  // namespace frit::codegen
