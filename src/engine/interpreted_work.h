// interpreted_work.h: what a launch takes by the interpreter. In: a Kernel and its arguments. Out:
// an estimate in nanoseconds.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "ir/kernel.h"

namespace frit {

// Loops inside of a user's kernel go round as often as its arguments say: a launch of two points
// may have more to do than one of a million.
double interpreted_work(const Kernel& kernel, const LaunchArguments& arguments,
                        std::int64_t extent);

}  // namespace frit
