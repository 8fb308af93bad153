// nest_run.h: runs loop nests: finds out what holds for a call, keeps the programs, runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/engine.h"
#include "engine/nest_memory.h"
#include "engine/nest_replay.h"
#include "schedule/nest_points.h"
#include "schedule/nest_program.h"

namespace frit {

// A Routine of rank 0 with all that was found out about it. Used under the engine's lock, when
// nothing is pending for the memory of a call.
class LoopNest {
 public:
  explicit LoopNest(Routine routine);
  ~LoopNest();

  // Every index must be inside its array: the caller has checked that. Returns the floating-point
  // status flags (pool.h) that were raised. Throws only before anything is written.
  unsigned run(const NestCall& call);
  // The same, but nullopt, and nothing is done, where the run may take so long that somebody may
  // want to stop it (backend/stop.h): then run throws Stopped. is_heard: Ctrl-C ends it, if it goes
  // on and on all the same; then this throws Interrupted.
  std::optional<unsigned> run_if_short(const NestCall& call, bool is_heard);
  // Are there loops of which nobody knows how often they go round?
  bool may_be_endless() const { return may_be_endless_; }
  // Behind a run, for whoever tells somebody: those of its flags that NumPy would have raised.
  unsigned judged(const NestCall& call, unsigned raised);
  // What run would do: for explain. Of the arrays' memory only its addresses are used.
  const NestProgram& program_for(const NestCall& call);
  // The nest as a kernel for the trace, if it is one, and the extents of its axes in this call.
  struct Points {
    std::shared_ptr<const Routine> routine;
    std::vector<std::int64_t> extents;
  };
  std::optional<Points> points_for(const NestCall& call);
  // false: of the programs made so far none was one, so that it is not worth asking.
  bool may_have_points() const;

  // Tests make small nests run as large ones do. Set before the first run.
  struct Tuning {
    double assumed_rounds = 0;  // of each loop; 0: as they are
    std::int64_t shortest_chunk = PlanFacts().shortest_chunk;
    std::int64_t array_share = 8;  // rounds that an element of a chunk's own array must be worth
    std::int64_t most_arrays = 8;  // chunks that have such arrays
    std::int64_t wave_tile = 0;    // iterations of a wavefront's tile, each way; 0: as they fit
    std::int64_t sweep_shift = 0;  // of sweeps, with turns of few rows; 0: as they fit the caches
  } tuning;

 private:
  struct Variant;  // an analysis: a Nest for some facts
  struct Program;  // with code, for some verdicts
  Variant& variant_for(const NestCall& call);
  Program& program(const NestCall& call);
  Program& find_program(Variant& variant, const NestCall& call);

  Routine routine_;
  FlagJudge judge_;
  std::vector<std::int32_t> literal_;   // integers that indices are multiplied by
  std::vector<std::int32_t> if_small_;  // integers that are a loop's bound
  bool may_be_endless_ = false;
  std::vector<std::unique_ptr<Variant>> variants_;
  Variant* last_variant_ = nullptr;
  std::optional<bool> has_points_;              // a program; none: no program was made yet
  std::vector<std::uint64_t> key_, other_key_;  // of a call, while it is looked up
  // All that a program follows from (integers, extents, strides, addresses): of the latest call,
  // whose program is still there, and of the one that is looked up.
  std::vector<std::int64_t> latest_facts_, facts_;
  Program* latest_ = nullptr;
};

}  // namespace frit
