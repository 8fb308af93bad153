// nest_verdict.h: the run-time stage: with the integers' values, what is each loop?
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/nest.h"
#include "schedule/nest_locals.h"

namespace frit {

enum class LoopKind : std::uint8_t {
  Parallel,   // iterations may run in any order, and at the same time
  Reduction,  // the same, but for sums (.. of one op) into locals or elements
  Scan,       // each iteration adds to what the ones before have summed up, and uses it
  Serial,     // in order
};

enum class LoopReason : std::uint8_t {
  None,
  Dependence,    // `dependence`
  Local,         // `local` carries a value from iteration to iteration
  SharedMemory,  // two arguments overlap in memory, or one does itself
  WorkLimit,     // the analysis gave up
  While,         // nobody knows how many rounds
  NoAnalysis,    // isl is missing
};

struct LoopVerdict {
  LoopKind kind = LoopKind::Parallel;
  LoopReason reason = LoopReason::None;  // why it is serial (or a scan)
  bool at_run_time = false;              // another call with other integers may give another kind
  std::int32_t dependence = -1;          // in Nest::dependences
  std::int32_t local = -1;               // that is carried; or the only one reduced into
  bool operator==(const LoopVerdict&) const = default;
};

// A Nest with what holds for one call: which of its dependences exist.
struct JudgedNest {
  std::shared_ptr<const Nest> nest;
  NestLocals locals;
  std::vector<bool> active;           // by dependence
  std::vector<LoopVerdict> verdicts;  // by loop, as it stands
};

// Bit k (of word k / 64): condition k may hold. What a verdict depends on, besides the Nest.
using ConditionBits = std::vector<std::uint64_t>;
void evaluate_conditions(const Nest& nest, std::span<const std::int64_t> integers,
                         ConditionBits& bits);

JudgedNest judge(std::shared_ptr<const Nest> nest, const ConditionBits& bits);

// Do both ends of a dependence that the loop carries belong to updates by one op, and does the loop
// touch the array in no other way?
bool is_reduction_of_array(const Nest& nest, std::int32_t loop, std::int32_t array);

// "i: parallel\n  j: serial: flow dependence from store 3 to load 1, distance 1" for tests and
// explain; loops are named by the numbers of their values.
std::string print(const JudgedNest& nest);

}  // namespace frit
