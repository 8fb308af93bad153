// nest_sweep.h: In: the launches of a program. Out: which of them may go over the arrays together.
//
// A sweep runs several launches that follow one another in one pass: each some rows behind the one
// before, so that what one has stored is still in the cache when the next loads it. (Loop shifting
// and fusion; over the rounds of a time loop, time skewing.) The rows are the rounds of the
// launched loops; a launch that touches one row alone, as at a border, runs when the others are
// there.
#pragma once

#include <optional>
#include <vector>

#include "schedule/nest_verdict.h"

namespace frit {

struct NestLaunch;
struct NestProgram;

struct NestSweeps {
  static constexpr std::int64_t unknown = -1;

  // By launch: may it be in a sweep? Its row, if it touches but one: else its rows are its rounds.
  std::vector<bool> may_sweep;
  std::vector<std::optional<Affine>> point;
  // By two launches: rows that are farther apart never touch one element, one of them writing.
  std::vector<std::vector<std::int64_t>> distance;

  // Is there anything that a sweep could be made of?
  bool any() const { return !distance.empty(); }
};
NestSweeps find_sweeps(const Nest& nest, const std::vector<NestLaunch>& launches);

// By loop: do its rounds follow one another in sweeps, where the arrays are large?
std::vector<bool> loops_in_sweeps(const NestProgram& program);

}  // namespace frit
