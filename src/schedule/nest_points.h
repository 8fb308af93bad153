// nest_points.h: In: a judged nest. Out: the same as a Routine with parallel axes, where it is one.
//
// A perfect nest of parallel loops is what a user's kernel is: so it can stand in the trace, and
// fuse with what is recorded before and behind it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "schedule/nest_verdict.h"

namespace frit {

struct NestPoints {
  std::shared_ptr<const Routine> routine;
  struct Axis {
    Affine begin, end;  // terms: numbers of integer arguments
  };
  std::vector<Axis> axes;

  // None: there are no points, or more than anybody has memory for.
  std::optional<std::vector<std::int64_t>> extents(std::span<const std::int64_t> integers) const;
};

// None: a loop is not parallel, or has bounds that differ from round to round; something is done
// between the loops; or there are loops in the body that are more than a few rounds by themselves
// (which a nest's own program arranges better).
// Under the engine's lock.
std::optional<NestPoints> points_of(const JudgedNest& judged);

}  // namespace frit
