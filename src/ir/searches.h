// searches.h: Whiles that look for an element. In: a Kernel. Out: one that asks whole vectors.
//
// The rounds of such a While do nothing but count, until a condition on elements side by side
// holds. Behind a few rounds as they were written, which short searches take, come vectors of
// rounds, as long as it holds for none of them; the While itself goes on where it does. What the
// vectors load the While might not have come to: only for kernels with loads_early.
#pragma once

#include <optional>

#include "ir/kernel.h"

namespace frit {

// nullopt: it has none.
std::optional<Kernel> with_searches(const Kernel& kernel);

}  // namespace frit
