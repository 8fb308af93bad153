// call_kernel.h: what a step of the trace is as a kernel, for devices: one thread a lane.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/kernel.h"

namespace frit {

struct CallKernel {
  std::shared_ptr<const Kernel> kernel;  // operands: the outputs, then the inputs
  std::vector<std::int64_t> integers;
  std::int64_t extent = 0;  // of the parallel loop
  double cost = 0;          // estimated nanoseconds on one core
};

}  // namespace frit
