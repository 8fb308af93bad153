// addresses.h: In: a Kernel. Out: the same one, where indices of lanes are sums only in addresses.
//
// x[i + n] with a lane i is a block side by side in memory, but its index is a value of each lane,
// for which every element would be gathered by itself. Taken apart, x[i][n], it is a plain address:
// one of the lane, and a term that all lanes share.
#pragma once

#include <optional>

#include "ir/kernel.h"

namespace frit::interp {

// None: there are no such indices.
std::optional<Kernel> take_sums_apart(const Kernel& kernel);

}  // namespace frit::interp
