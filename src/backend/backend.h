// backend.h: the interface of a backend: makes a Kernel an Executable, runs parts of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "ir/kernel.h"

namespace frit {

// The arguments of one launch, in the order of the Kernel's tables. Borrowed: valid while the
// launch runs.
struct LaunchArguments {
  void* const* pointers;  // one an operand (nullptr for scratch operands)
  const std::int64_t* integers;
  const Scalar* scalars;
};

// A Kernel made ready to run. Thread-safe: several threads run disjoint parts of one launch at the
// same time.
class Executable {
 public:
  virtual ~Executable() = default;
  // Runs iterations [begin, end) of the kernel's parallel loop. `scratch` is private to this call,
  // 64-byte aligned.
  virtual void run(const LaunchArguments& arguments, std::int64_t begin, std::int64_t end,
                   std::byte* scratch) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Never returns null; throws InternalError for a kernel that verify() would refuse.
  virtual std::shared_ptr<const Executable> compile(const Kernel& kernel) = 0;
};

}  // namespace frit
