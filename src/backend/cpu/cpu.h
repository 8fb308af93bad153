// cpu.h: tier 1: compiles Kernels on a thread of its own, cached in memory and on disk.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "codegen/code.h"

namespace frit {

struct CompilerStatistics {
  std::int64_t compiled = 0, loaded_from_disk = 0, failed = 0;
  std::int64_t improved = 0;  // compiled a second time, to faster code
  double compile_seconds = 0;
  std::string failure;  // why the first that has failed did
};

// The compile service. LLVM lives in libfrit_jit, which is opened on the first request that misses
// the disk cache.
class Compiler {
 public:
  virtual ~Compiler() = default;
  // Asks for machine code of `kernel`; returns at once. When the code is ready `slot` is set
  // (release order) to an Executable which lives as long as the Compiler; on failure it stays null
  // for good. Asking again for an equal kernel gives the same Executable. The slot is kept alive by
  // the shared pointer.
  using Slot = std::shared_ptr<std::atomic<const Executable*>>;
  virtual Slot request(const Kernel& kernel) = 0;
  // As request, if nothing has to be compiled: the code is in memory or on disk. Else null.
  virtual Slot find(const Kernel& kernel) = 0;
  // Asks for faster code in the slot of a kernel whose code is there; returns at once. False: not
  // yet, as launches worth `seconds` are too few to pay for it. Code that could be no faster is
  // left.
  virtual bool improve(const Kernel& kernel, double seconds) = 0;
  // Code for a GPU's grid: `use` gets it on the compile thread, at some time, and must not throw.
  virtual void request_grid(const Kernel& kernel, std::function<void(codegen::GridCode)> use) = 0;
  virtual codegen::GridCode grid(const Kernel& kernel) = 0;  // at once, for FRIT_DUMP
  // Waits until all requests made so far are done (tests, benchmarks, fork).
  virtual void wait() = 0;
  // As wait for the compile in progress only; the thread ends, and the other compiles are held back
  // until resume (around fork).
  virtual void pause() = 0;
  virtual void resume() = 0;
  // In the child after fork: the thread is gone; start afresh when next needed.
  virtual void after_fork_in_child() = 0;
  virtual void stop() = 0;  // at exit: finishes the compile in progress, drops the others
  virtual CompilerStatistics statistics() const = 0;
  // The kernel's LLVM IR or assembly, for FRIT_DUMP and explain.
  virtual std::string llvm_text(const Kernel& kernel) = 0;
  virtual std::string assembly(const Kernel& kernel) = 0;
};

// `open_jit` is called when one is needed, again after one has broken. Without it: libfrit_jit's.
using OpenJit = std::function<std::unique_ptr<codegen::Jit>()>;
std::unique_ptr<Compiler> make_compiler(OpenJit open_jit = {});

}  // namespace frit
