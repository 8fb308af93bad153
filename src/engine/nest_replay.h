// nest_replay.h: which of the flags that a nest has raised NumPy would have raised.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/nest_memory.h"
#include "ir/routine.h"

namespace frit {

// Of one routine, behind its runs: the nest is gone through again in its order, one op after the
// other, and values decide (float_flags.h). Nothing is stored. What followed from elements that the
// run has written over, or of arrays without memory, isn't known any more: flags that nothing else
// explains are put down to ops on such values, where these may raise them and the arrays bear it
// out. So are those of what comes after so many instructions: fewer where that was in vain.
class FlagJudge {
 public:
  explicit FlagJudge(const Kernel& body);
  // extents: of the routine's parallel axes. is_doubtful: whether something may have been computed
  // beside the nest's own instructions.
  unsigned judge(const Routine& routine, std::span<const std::int64_t> extents,
                 const NestCall& call, unsigned raised, bool is_doubtful = false);

 private:
  // Lanes that are idle compute sums and products all the same, and what branches share is computed
  // in front of them.
  bool has_conditions_ = false;
  bool compares_floats_ = false;
  bool has_formulas_ = false;  // which raise flags of their own
  bool has_quiet_ = false;     // of which nobody is warned
  bool widens_halves_ = false;
  // What is the same in all rounds of a loop is computed in front of it: perhaps of no rounds.
  // Empty: nothing was judged yet.
  std::optional<bool> leaves_loops_;
  std::int64_t most_ = 1 << 20;
};

}  // namespace frit
