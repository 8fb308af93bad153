// interp.cpp: the interpreter as a backend: decodes a Kernel once, then runs it.
#include "backend/interp/interp.h"

#include "backend/interp/addresses.h"
#include "backend/interp/machine.h"
#include "backend/interp/program.h"

namespace frit {
namespace {

class InterpretedKernel final : public Executable {
 public:
  explicit InterpretedKernel(const Kernel& kernel) : program_(decode(kernel)) {}
  void run(const LaunchArguments& arguments, std::int64_t begin, std::int64_t end,
           std::byte* scratch) const override {
    try {
      if (begin < end) interp::Machine(program_, arguments, scratch).run(begin, end);
    } catch (const Stopped&) {
    }
  }

 private:
  static interp::Program decode(const Kernel& kernel) {
    const std::optional<Kernel> simpler = interp::take_sums_apart(kernel);
    return interp::decode(simpler ? *simpler : kernel);
  }
  const interp::Program program_;
};

class Interpreter final : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::shared_ptr<const Executable> compile(const Kernel& kernel) override {
    verify(kernel);
    return std::make_shared<InterpretedKernel>(kernel);
  }
};

}  // namespace

std::unique_ptr<Backend> make_interpreter() { return std::make_unique<Interpreter>(); }

}  // namespace frit
