// pair_judge.h: the exact test of two accesses of a nest, by isl, in a library of its own.
#pragma once

#include "schedule/nest.h"

namespace frit {

class PairJudge {
 public:
  virtual ~PairJudge() = default;
  // Adds the dependences between the accesses a <= b to the nest; false, with nothing added: it is
  // too hard.
  virtual bool decide(std::size_t a, std::size_t b) = 0;
};

// In libfrit_isl. The caller owns the answer.
extern "C" PairJudge* frit_make_pair_judge(Nest& nest, const NestLimits& limits);

std::int32_t common_loops(const Nest& nest, std::size_t a, std::size_t b);
// With nothing known of its directions.
Dependence make_dependence(const Nest& nest, std::size_t source, std::size_t sink,
                           std::int32_t level, std::int32_t common);

}  // namespace frit
