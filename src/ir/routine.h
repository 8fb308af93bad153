// routine.h: a user's own kernel as it was written: parallel axes, and a body over elements.
//
// It is one node of the trace. Where a Kernel says how a launch runs, a Routine says only what
// happens at one point of its axes; fusing it with its neighbours and turning addresses into bytes
// is the planner's work.
//
// Meaning. The body is a Block of kernel.h with the same rules, and with these differences: the
// values 0 .. rank-1 are the indices along the parallel axes (Int64, not defined by an
// instruction); operand k is array parameter k; an address has one term for each axis of its
// parameter, in order, whose `stride` is the number of that axis (so printed text reads v3*n0:
// value 3 along axis 0); ScalarArg and IntegerArg name the routine's own arguments; loops are
// plain: neither parallel, nor vector, nor with reductions. Sizes, strides and arguments are no
// part of a Routine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace frit {

struct Routine {
  std::int32_t rank = 0;                      // parallel axes
  std::vector<std::int32_t> parameter_ranks;  // axes of each array parameter
  Kernel body;                                // operands: the parameters
  std::uint64_t id = 0;                       // given by intern: equal ids, equal routines
};

// Throws InternalError, naming the first rule above that does not hold.
void verify(const Routine& routine);

std::string print(const Routine& routine);

// The one routine with this structure, which has an id. Ids are never used twice. Under the
// engine's lock.
std::shared_ptr<const Routine> intern(const Routine& routine);

}  // namespace frit
