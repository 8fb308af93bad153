// native.cpp: this computer's target, the optimizer's passes and the code generator.
#include "codegen/native.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SCCP.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include "codegen/passes.h"
#include "ir/error.h"
#include "ops/level.h"

namespace frit::codegen {

using namespace llvm;

namespace {

// The policy of how wide vectors are. All of a register: on AVX-512 machines since Ice Lake wide
// vectors cost little clock, and a memory-bound loop needs half as many instructions.
Machine machine_of(std::string_view level, const Triple& triple) {
  Machine machine;
  machine.is_x86 = triple.isX86();
  machine.has_many_registers = machine.has_fused_multiply_add = triple.isAArch64();
  if (!machine.is_x86) return machine;
  machine.vector_bytes = level == "v4" ? 64 : level == "v3" ? 32 : 16;
  machine.has_quiet_predicates = machine.has_fused_multiply_add = level != "v2";
  if (level != "v2") machine.fewest_masked_bytes = level == "v4" ? 1 : 4;
  machine.has_avx512 = machine.has_many_registers = level == "v4";
  return machine;
}

std::string joined(const StringMap<bool>& features) {
  std::string list;
  for (const auto& feature : features) {
    if (!list.empty()) list += ',';
    list += (feature.second ? '+' : '-');
    list += feature.first();
  }
  return list;
}

}  // namespace

// The emitter writes vector code already; what is left is to clean up: stack memory to registers,
// common subexpressions of neighbouring formulas, and the conversions between them.
struct Native::Optimizer {
  explicit Optimizer(TargetMachine& target) : builder(&target), analyses(builder) {
    add_passes(straight, false);
    add_passes(branchy, true);
  }
  static void add_passes(FunctionPassManager& passes, bool is_branchy) {
    passes.addPass(PromotePass());
    // First, or what nobody uses stands for what comes later and is the same, and is computed.
    passes.addPass(DCEPass());
    passes.addPass(EarlyCSEPass());
    // Before addresses are rewritten: what a round has loaded or stored is there in the next one.
    if (is_branchy) {
      passes.addPass(JumpThreadingPass());
      passes.addPass(GVNPass());
    }
    passes.addPass(
        InstCombinePass(InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
    // What ends a loop leaves it, before choices are made of what decides that.
    if (is_branchy) {
      passes.addPass(JumpThreadingPass());
      passes.addPass(SCCPPass());
      passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
    }
    passes.addPass(SimplifyCFGPass());
    passes.addPass(EarlyCSEPass());
  }
  void run(Module& module, bool is_branchy) {
    FunctionPassManager& passes = is_branchy ? branchy : straight;
    for (Function& function : module)
      if (!function.isDeclaration()) passes.run(function, analyses.functions);
    analyses.functions.clear();
    analyses.modules.clear();
  }

  PassBuilder builder;
  Analyses analyses;
  FunctionPassManager straight, branchy;
};

// The code generator's passes, set up once: that is half a millisecond.
struct Native::Generator {
  explicit Generator(TargetMachine& target) : stream(bytes) {
    MCContext* context = nullptr;
    if (target.addPassesToEmitMC(passes, context, stream))
      throw DeviceError("LLVM: this target can't write code");
  }

  SmallVector<char, 0> bytes;
  raw_svector_ostream stream;
  legacy::PassManager passes;
};

namespace {

// LLVM has no other switch for these.
void set_option(StringRef name, bool value) {
  const auto& options = cl::getRegisteredOptions();
  const auto found = options.find(name);
  if (found != options.end()) static_cast<cl::opt<bool>*>(found->second)->setValue(value);
}

// Processors whose gathers leaked data (Downfall) have them made several times as slow.
bool are_gathers_slowed() {
  std::ifstream file("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
  std::string state;
  return std::getline(file, state) && state != "Not affected" && !state.starts_with("Vulnerable");
}

}  // namespace

Native::Native() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  // It takes a third of the code generator's time and gains nothing on our loops, whose addresses
  // are a base and a scaled index.
  set_option("disable-lsr", true);
  // It makes branches of selects in recurrences (minima of table entries), as if data were always
  // the same way: a wrong guess costs 15 cycles where a select takes two.
  set_option("x86-cmov-converter", false);
  // What the round before has loaded is next to where it is wanted: at a sum of the index.
  set_option("gvn-add-phi-translation", true);
  const Triple triple(sys::getProcessTriple());
  std::string error;
  const llvm::Target* target = TargetRegistry::lookupTarget(triple, error);
  if (!target) throw DeviceError("LLVM: no target for " + triple.str() + ": " + error);
  // A level below the machine's is a processor without anything else.
  const bool is_lowered = cpu_level() != *std::ranges::find_if(cpu_levels, has_level);
  const std::string processor =
      is_lowered ? "x86-64-" + std::string(cpu_level()) : sys::getHostCPUName().str();
  const std::string features = is_lowered ? "" : joined(sys::getHostCPUFeatures());
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;  // a * b + c keeps both roundings
  target_.reset(target->createTargetMachine(triple, processor, features, options, Reloc::PIC_,
                                            CodeModel::Small, CodeGenOptLevel::Default,
                                            /*JIT=*/true));
  if (!target_) throw DeviceError("LLVM: no code generator for " + triple.str());
  machine_ = machine_of(cpu_level(), triple);
  machine_.has_fast_gather =
      machine_.is_x86 && !are_gathers_slowed() &&
      target_->getMCSubtargetInfo()->checkFeatures("+fast-gather,-prefer-no-gather");
  machine_.has_slow_divider = machine_.has_avx512 && !is_amds_processor();
  machine_.has_fast_shuffles = machine_.has_avx512 && is_amds_processor();
  optimizer_ = std::make_unique<Optimizer>(*target_);
  generator_ = std::make_unique<Generator>(*target_);
}

Native::~Native() = default;

void Native::prepare(Module& module) const {
  module.setTargetTriple(target_->getTargetTriple());
  module.setDataLayout(target_->createDataLayout());
}

void Native::optimize(Module& module, bool is_branchy) { optimizer_->run(module, is_branchy); }

FlatCode Native::generate(Module& module) {
  generator_->passes.run(module);
  const SmallVector<char, 0> object = std::move(generator_->bytes);
  generator_->bytes.clear();
  return flatten(object.data(), object.size());
}

std::string Native::assembly(Module& module) { return assembly_of(*target_, module); }

}  // namespace frit::codegen
