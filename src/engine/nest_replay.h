// nest_replay.h: which of the flags that a nest has raised NumPy would have raised.
#pragma once

#include "engine/nest_run.h"

namespace frit {

// Behind a run: the nest is gone through again in its order, one op after the other, and values
// decide (float_flags.h). Nothing is stored. What followed from elements that the run has written
// over isn't known any more: flags that nothing else explains are put down to ops on such values,
// where these may raise them and the arrays bear it out. So are those of what comes after `most`
// instructions.
struct JudgedFlags {
  unsigned flags = 0;
  bool in_vain = false;  // values have told nothing, or not all
};
JudgedFlags judged_flags(const Routine& routine, const NestCall& call, unsigned raised,
                         std::int64_t most);

}  // namespace frit
