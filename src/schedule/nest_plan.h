// nest_plan.h: In: a judged nest. Out: the same nest with each loop told how to run.
//
// The plan is a tree like the Routine's blocks, with the same instructions for leaves. Transforms
// change the tree alone: a loop may stand in it several times, with a part of its statements each
// (distribution) or a part of its iterations (peeling); loops may change places, run as tiles, or
// as wavefronts. What a transform needs is asked of the dependences that are active in this call.
//
// The order of float sums changes in three places only: a sum of a vector loop is NumPy's pairwise
// tree; a sum of a parallel loop is made in chunks whose sums are added in order, where a round
// takes long chunks of one round each (both depend on sizes and layouts, never on tier or
// threads); and the product of two large matrices is BLAS's.
// All other results are those of the loops in order, bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/caches.h"
#include "schedule/nest_product.h"

namespace frit {

enum class LoopRun : std::uint8_t {
  Host,      // the program's own loop, around launches
  Parallel,  // a launch; its parts run at the same time
  Serial,    // in order, inside of a launch
  Vector,    // the lanes of one, inside of a launch
};

// The iterations before a cut, at it, or behind it.
struct LoopPart {
  enum class Side : std::uint8_t { Before, At, Behind } side{};
  SplitCandidate cut;
};

struct PlanNode {
  const Instr* instr = nullptr;  // a Loop, If, While, Store or WriteLocal
  const Instr* place = nullptr;  // what stands here in the text, if that is not `instr`
  std::int32_t loop = -1;        // of a Loop or While
  LoopRun run = LoopRun::Serial;
  // Parallel: an iteration of the launch is one of the loop; a lane of it; a chunk of them, which
  // the same loop runs through inside (reductions); a tile of them, which is run through at the
  // node in it that says in_tile; or a tile of a wavefront.
  enum class Grain : std::uint8_t { One, Lane, Chunk, Tile, Wave } grain = Grain::One;
  bool in_tile = false;  // the iterations of the tile around it
  // Serial, with assignments and one Vector loop in it: so many iterations run through that loop
  // side by side.
  std::int64_t together = 1;
  std::vector<LoopPart> parts = {};
  // > 0: a wavefront over this loop i and the loop j in it: w = skew * i + j runs in order, and
  // for each w the iterations (i, w - skew * i) run as lanes. Nothing depends on a later i or an
  // earlier w, so rectangles of (i, w) are tiles: Grain::Wave launches those of each diagonal.
  std::int64_t skew = 0;
  std::int32_t skewed = -1;  // the loop j
  // Compiled code runs it row by row, each along j, where that takes less than lanes do: the node
  // of the loop j stands in `body` (and says in_tile in a tile), that of its lanes in `other`.
  bool by_rows = false;
  // In NestPlan::products: done by BLAS if it can; else by the nodes in `body`.
  std::int32_t product = -1;
  // Loops: whose values are computed here, and whose statements stand here (of the last one).
  std::vector<const Block*> blocks = {};
  std::vector<PlanNode> body = {}, other = {};
};

// What a plan is made for, besides the verdicts.
struct PlanFacts {
  std::vector<std::int32_t>
      unit_axes;                       // by parameter: the axis along which it is contiguous, or -1
  std::vector<double> rounds;          // by loop: about how many
  std::int64_t shortest_chunk = 4096;  // rounds of a loop without loops in it
  Distance distance = Distance::Near;  // of the arrays
  bool is_in_own_cache = false;
  RowFacts rows_together = {};
};

// 64, where nothing is known.
inline double rounds_of_loop(const PlanFacts& facts, std::size_t loop) {
  return loop < facts.rounds.size() ? facts.rounds[loop] : 64;
}

struct NestPlan {
  std::vector<PlanNode> nodes;
  std::vector<NestProduct> products;
  std::vector<bool> in_lanes;  // by loop: somewhere its rounds run side by side
  double cost = 0;             // estimated nanoseconds of the nest in order

  // Is the value computed for one round after another, wherever it is needed?
  bool runs_one_by_one(const Nest& nest, ValueId value) const;
};
NestPlan plan_nest(const JudgedNest& judged, const PlanFacts& facts);

// Of a loop in lanes, whose bounds are the same for all of them: is it written out round by round?
bool unrolls_in_lanes(const Nest& nest, const PlanNode& node);
// The first round of a loop and what is behind its last, if they are known.
std::optional<std::pair<std::int64_t, std::int64_t>> literal_bounds(const Nest& nest,
                                                                    const PlanNode& node);

// An element in the first of some rows side by side (rounds of a loop, with a vector loop in each).
struct RowElement {
  std::int32_t parameter = -1;
  std::vector<Affine> indices;
};
// Those that lie farthest, of each array that the rows load from, or store to, one row behind
// another: with the next rows these meet elements that no row has met.
struct RowEnds {
  std::vector<RowElement> loads, stores;
};
RowEnds ends_of_rows(const Nest& nest, const PlanNode& rows);

// "parallel v2\n  vector v4\n    store 3" for tests and explain.
std::string print(const NestPlan& plan);
// By loop: does it run as part of a wavefront?
std::vector<bool> loops_in_wavefronts(const NestPlan& plan, std::size_t loops);

}  // namespace frit
