// jit.cpp: Kernel -> Code: the stages in order: emit, optimize, generate.
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/code.h"
#include "codegen/divider.h"
#include "codegen/emit.h"
#include "codegen/extremes.h"
#include "codegen/formula.h"
#include "codegen/grid/grid.h"
#include "codegen/grid/ptx.h"
#include "codegen/native.h"
#include "codegen/quiet.h"
#include "ir/error.h"
#include "ir/searches.h"

namespace frit::codegen {
namespace {

// LLVM would end the process. After this exception its state is not to be trusted.
struct FatalError : InternalError {
  using InternalError::InternalError;
};
void on_fatal_error(void*, const char* reason, bool) {
  std::string_view words = reason;
  while (words.ends_with('\n')) words.remove_suffix(1);
  throw FatalError(std::string("frit: internal error: LLVM: ").append(words));
}

class LlvmJit final : public Jit {
  template <class Stages>
  auto guarded(Stages&& stages) {
    check(!broken_, "a jit that is broken is not used");
    const llvm::ScopedFatalErrorHandler handler(on_fatal_error);
    try {
      return stages();
    } catch (const FatalError&) {
      broken_ = true;
      throw;
    }
  }

 public:
  LlvmJit()
      : formulas_(context_, {.has_avx512 = native_.machine().has_avx512,
                             .has_fused_multiply_add = native_.machine().has_fused_multiply_add}) {}

  bool is_broken() const override { return broken_; }

  Code compile(const Kernel& kernel, Effort effort) override {
    return guarded([&] {
      auto [module, emitted] = module_of(kernel, effort);
      FlatCode code = native_.generate(*module);
      return Code{std::move(code.bytes), code.entry, std::move(emitted.call_outs),
                  emitted.is_improvable};
    });
  }
  GridCode compile_grid(const Kernel& kernel) override {
    return guarded([&] {
      if (!ptx_) ptx_ = std::make_unique<Ptx>();
      llvm::Module module("kernel", context_);
      ptx_->prepare(module);
      GridCode code = emit_grid(kernel, formulas_of_grids(), module);
      if (!code.why_not.empty()) return code;
      check_module(module);
      code.text = ptx_->generate(module);
      return code;
    });
  }
  std::string llvm_text(const Kernel& kernel, Effort effort) override {
    return guarded([&] {
      auto module = module_of(kernel, effort).first;
      std::string text;
      llvm::raw_string_ostream stream(text);
      module->print(stream, nullptr);
      return text;
    });
  }
  std::string assembly(const Kernel& kernel, Effort effort) override {
    return guarded([&] {
      auto module = module_of(kernel, effort).first;
      return native_.assembly(*module);
    });
  }

 private:
  std::pair<std::unique_ptr<llvm::Module>, EmittedKernel> module_of(const Kernel& kernel,
                                                                    Effort effort) {
    auto module = std::make_unique<llvm::Module>("kernel", context_);
    native_.prepare(*module);
    const std::optional<Kernel> searching = with_searches(kernel);
    EmittedKernel emitted =
        emit(searching ? *searching : kernel, {native_.machine(), effort}, formulas_, *module);
    native_.optimize(*module, emitted.is_branchy);
    spare_divider(*module, native_.machine());
    use_extremes(*module);
    quiet_comparisons(*module, native_.machine());
    check_module(*module);
    return {std::move(module), std::move(emitted)};
  }
  Formulas& formulas_of_grids() {
    if (native_.machine().has_fused_multiply_add) return formulas_;
    if (!fused_formulas_)
      fused_formulas_ = std::make_unique<Formulas>(context_, Formulas::Target());
    return *fused_formulas_;
  }
  // Costs a tenth of a compile, so only where FRIT_CHECK_LLVM asks for it: the tests do.
  static void check_module(const llvm::Module& module) {
    static const bool wanted = std::getenv("FRIT_CHECK_LLVM") != nullptr;
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (wanted && llvm::verifyModule(module, &stream))
      throw InternalError("frit: internal error: invalid LLVM IR: " + problems);
  }

  llvm::LLVMContext context_;
  Native native_;
  Formulas formulas_;
  std::unique_ptr<Formulas> fused_formulas_;  // where formulas_ has none with fma
  std::unique_ptr<Ptx> ptx_;                  // null: not needed so far
  bool broken_ = false;
};

}  // namespace
}  // namespace frit::codegen

frit::codegen::Jit* frit_make_jit() { return new frit::codegen::LlvmJit(); }
