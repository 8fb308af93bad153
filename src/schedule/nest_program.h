// nest_program.h: In: a plan of a nest. Out: a program: steps of the host, and launches of Kernels.
//
// Why a program of the host's, and not one Kernel with barriers: between two launches of a serial
// loop the pool's threads spin for some microseconds, so that a launch costs about as much as a
// barrier, and a short one is a plain call; a thread that the system has suspended holds up nobody,
// for parts are handed out, not threads; and a Kernel stays what both backends know.
//
// Values of the Routine that are computed outside of launches are registers of the host, numbered
// as in the Routine; so are locals. A launch takes them as arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schedule/nest_plan.h"
#include "schedule/nest_sweep.h"
#include "schedule/nest_whole.h"
#include "schedule/schedule.h"

namespace frit {

// A sum (or the like) that the chunks of a launch make parts of.
struct ChunkReduction {
  std::int32_t local = -1;
  Op op{};  // local = op(local, part), or, where `extreme`, if (part op local) local = part
  bool extreme = false;
  std::vector<std::int32_t> companions;  // locals that go with it
  Scalar identity;
};
// The same of an array: each chunk has an array of its own for parameter `parameter`.
struct ChunkArray {
  std::int32_t parameter = -1;
  Op op{};
  Scalar identity;
};

struct NestLaunch {
  std::shared_ptr<const Kernel> kernel;
  Pace pace = Pace::Lanes;

  struct Integer {
    enum class Kind : std::uint8_t {
      Value,            // register `number`
      Stride,           // of parameter `number`, axis `axis`, in bytes
      Begin,            // first iteration of the launched loop
      End,              // behind the last one
      Chunk,            // iterations a chunk or tile
      Wave,             // where the first tile of the launch begins along a wavefront
      WaveLength,       // of a tile along it
      IsInterpreted,    // 1, or 0 where the launch runs compiled
      PartialStride,    // of a chunk's own array for parameter `number`
      PartialStep,      // from one chunk's to the next one's
      PartialElements,  // of one of them
      PartialInPlace,   // the same, if the first chunk takes the parameter itself; else 0
    } kind{};
    std::int32_t number = -1, axis = -1;
    bool operator==(const Integer&) const = default;
  };
  struct Number {  // a scalar argument: a register or a local
    ValueId value = no_value;
    std::int32_t local = -1;
    bool operator==(const Number&) const = default;
  };
  struct Pointer {
    enum class Kind : std::uint8_t {
      Parameter,
      Local,         // where the host keeps it
      Partial,       // of local `number`: an element a chunk
      PartialArray,  // of parameter `number`: an array a chunk
    } kind{};
    std::int32_t number = -1;
    bool operator==(const Pointer&) const = default;
  };
  std::vector<Integer> integers;
  std::vector<Number> scalars;
  std::vector<Pointer> operands;
  std::vector<std::int32_t> accesses;  // of the Nest: what it loads and stores, each once

  // The launched loop; null: the launch is one iteration.
  const Instr* loop = nullptr;
  std::vector<LoopPart> parts;
  PlanNode::Grain grain = PlanNode::Grain::One;
  std::int64_t shortest_chunk = 1;
  std::int64_t tile_length = 512;  // rounds of a Tile
  bool adds_in_order = false;      // a round makes one term of each sum
  // Grain::Wave: the loop j of w = skew * i + j. It takes many launches, a diagonal of tiles each.
  const Instr* across = nullptr;
  std::int64_t skew = 0;
  bool by_rows = false;  // a tile's rows, one after another
  std::vector<ChunkReduction> reductions;
  std::vector<ChunkArray> arrays;
  // Estimated nanoseconds of an iteration: the sum of each weight times the rounds of these loops.
  struct Cost {
    double weight = 0;
    std::vector<std::pair<const Instr*, double>> loops;  // and rounds to assume
  };
  std::vector<Cost> cost;
  double lanes = 1;                // of the longest vector loop inside, about
  std::vector<WholeStore> wholes;  // of arrays that it doesn't load
  // Grain::Lane: how many lines each part reads from the others' caches, alike.
  double lines = 0;
  std::int32_t in_order = -1;  // the launch to use where chunks' own arrays would be too large
};

struct NestStep {
  enum class Kind : std::uint8_t { Compute, Loop, If, While, Launch, Product } kind{};
  const Instr* instr = nullptr;      // Compute: any but a Loop, If or While
  std::vector<LoopPart> parts = {};  // Loop
  std::int32_t launch = -1;
  std::int32_t product = -1;                    // in NestPlan::products
  std::vector<NestStep> body = {}, other = {};  // as in Instr; Product: what to do without BLAS
};

struct NestProgram {
  JudgedNest judged;
  std::vector<NestStep> steps;
  std::size_t fixed = 0;  // steps at the front that follow from a call's integers alone
  std::vector<NestLaunch> launches;
  NestSweeps sweeps;
  NestPlan plan;
  bool is_straight = false;  // no step is a loop's
  // If one is true, its kernels may stop.
  bool takes_long = false;  // as far as can be guessed
  bool may_be_endless = false;
};

std::shared_ptr<const NestProgram> lower_nest(JudgedNest judged, const PlanFacts& facts);

// Iterations of a chunk: a function of the loop's rounds and nothing else that changes from call to
// call, since it decides the order of sums. One, where that makes sums what they are in order.
inline constexpr std::int64_t chunk_of_lanes = 16;  // rounds: whole vectors
std::int64_t chunk_length(const NestLaunch& launch, std::int64_t rounds);

}  // namespace frit
