// nest_planner.h: the planner's questions (nest_lanes.cpp) and transforms (nest_plan.cpp,
// nest_waves.cpp).
#pragma once

#include <optional>

#include "schedule/nest_plan.h"

namespace frit {

inline constexpr double fewest_rounds = 4;   // that lanes are worth
inline constexpr double scalar_score = 3.5;  // of running in order: see score()

using Statements = std::vector<const Instr*>;

Statements statements_of(const Block& block);

// What a set of statements of one loop touches.
struct Members {
  std::vector<bool> accesses;  // by number
  std::vector<bool> locals;    // touched
  std::vector<bool> values;    // needed, of those that the loop defines
};

// Whether the iterations of a loop, with some of its statements, may run in any order.
struct Status {
  std::vector<std::int32_t> blocking;  // dependences
  bool carried_local = false;
  bool reduces_local = false, reduces_array = false;
  bool has_extreme = false, has_companion = false, has_last = false;
  bool is_free() const { return blocking.empty() && !carried_local; }
  bool reduces() const { return reduces_local || reduces_array; }
};
// Chooses how each loop runs.
class Planner {
 public:
  Planner(const JudgedNest& judged, const PlanFacts& facts);
  NestPlan run();

 private:
  // ---- costs ------------------------------------------------------------------------------------
  double rounds_of(std::int32_t loop) const;
  double cost_of(const Block& block) const;
  double cost_of(const Instr& instr) const;
  double cost_of(std::int32_t loop, const Statements& statements) const;
  std::int32_t loop_of(const Instr& instr) const;
  static bool has_loop(const Block& block);

  // ---- members ----------------------------------------------------------------------------------
  Members members_of(std::int32_t loop, const Statements& statements) const;
  void add_members(const Instr& instr, std::int32_t loop, Members& m) const;
  void add_value(ValueId value, std::int32_t loop, Members& m) const;

  // ---- status -----------------------------------------------------------------------------------
  bool is_carried_by(const Dependence& d, std::int32_t loop) const;
  bool is_in(std::int32_t inner, std::int32_t outer) const;
  Status status_of(std::int32_t loop, const Members& m) const;

  // ---- nodes ------------------------------------------------------------------------------------
  PlanNode node(const Instr& instr, LoopRun run = LoopRun::Serial) const;

  // ---- on the host ------------------------------------------------------------------------------
  std::vector<PlanNode> host_statements(const Statements& statements);
  std::optional<PlanNode> product_of(std::int32_t loop);
  static bool has_launch_that_pays(const std::vector<PlanNode>& nodes);
  static bool has_host_loop_or_product(const std::vector<PlanNode>& nodes);
  std::vector<PlanNode> host_loop(std::int32_t loop, const Statements& statements);
  std::vector<PlanNode> rows_in_order(std::int32_t loop, const Statements& statements);
  bool adds_floats(const Members& members) const;
  bool adds_in_parallel_loops(std::int32_t loop, const Members& members) const;
  std::vector<PlanNode> border_launches(std::int32_t loop, const Statements& statements);
  // The host's own loop if there is something parallel in it, else one launch for all of it.
  PlanNode in_order(std::int32_t loop, const Statements& statements, std::vector<LoopPart> parts);
  PlanNode parallel(std::int32_t loop, const Statements& statements, std::vector<LoopPart> parts);
  PlanNode chunked(std::int32_t loop, const Statements& statements);

  // ---- peeling ----------------------------------------------------------------------------------
  std::optional<SplitCandidate> common_cut(std::int32_t loop, const Status& status) const;
  // The parts of the loop: called for each in order.
  template <class Make>
  static void for_each_part(const SplitCandidate& cut, Make&& make);
  std::vector<PlanNode> host_pieces(std::int32_t loop, const Statements& statements,
                                    const Status& status);

  // ---- distribution -----------------------------------------------------------------------------
  // Groups of statements that may run as loops of their own, in this order; neighbours that can
  // share a loop do.
  std::vector<Statements> distributed(std::int32_t loop, const Statements& statements) const;
  // By two statements: must the first one's loop come before the second one's?
  std::vector<std::vector<bool>> order_of(std::int32_t loop, const Statements& statements) const;
  // Strongly connected ones together, each behind those before it; else in the order of the text.
  static std::vector<std::vector<std::size_t>> components(
      const std::vector<std::vector<bool>>& before);
  std::vector<Statements> merged(std::int32_t loop, const Statements& statements,
                                 const std::vector<std::vector<std::size_t>>& components) const;

  // ---- interchange ------------------------------------------------------------------------------
  // The loop, and the loops in it of which each is the only statement of the one before, as long
  // as what stands between them may be computed inside.
  std::vector<std::int32_t> band_of(std::int32_t loop, const Statements& statements) const;
  bool is_mixed(std::int32_t array) const;
  bool has_fixed_bounds(std::int32_t inner, std::int32_t outer) const;
  // A loop of the band that no dependence moves along can be the outermost one: its iterations
  // never meet.
  std::optional<PlanNode> parallel_loop_outermost(std::int32_t loop, const Statements& statements,
                                                  const Members& members);
  bool stays_along(std::int32_t inner, std::int32_t outer, const Members& members) const;
  PlanNode moved_outermost(const std::vector<std::int32_t>& band, std::size_t chosen);

  // ---- inside of a launch -----------------------------------------------------------------------
  std::vector<PlanNode> kernel_statements(const Statements& statements, bool in_lanes);
  std::vector<PlanNode> kernel_loop(std::int32_t loop, const Statements& statements, bool in_lanes,
                                    const std::vector<LoopPart>& parts);
  std::vector<PlanNode> kernel_pieces(std::int32_t loop, const Statements& statements,
                                      const Status& status);

  // How many rounds of a loop, whose nodes are `body`, run side by side.
  std::int64_t rows_together(std::int32_t loop, const Statements& statements,
                             const std::vector<PlanNode>& body) const;

  // ---- lanes ------------------------------------------------------------------------------------
  bool may_have_lanes(std::int32_t loop, const Statements& statements, const Status& status) const;
  // Is there a loop in it whose sums are a tree? Its own iterations are the lanes, then.
  static bool has_tree(const Statements& statements);
  bool divides_in_while(const Block& block, bool is_in_while) const;
  static bool stands_in(const Statements& statements, const Instr* wanted);
  static bool contains(const Block& block, const Instr* wanted);
  bool is_best_in_lanes(std::int32_t loop, const Statements& statements) const;
  // The best score of the loops inside, on average; of none: as bad as can be.
  double best_inside(const Statements& statements) const;
  double best_of(std::int32_t loop, const Statements& statements) const;
  // What an access costs in lanes of this loop, on average: 1 where the lanes lie side by side,
  // less where all lanes share an element, much where each is loaded for itself.
  double score(std::int32_t loop, const Statements& statements) const;
  bool depends_on(ValueId value, std::int32_t loop, int depth) const;
  double cost_in_lanes(const NestAccess& access, std::int32_t loop) const;

  // ---- wavefronts -------------------------------------------------------------------------------
  std::optional<PlanNode> wavefront(std::int32_t loop, const Statements& statements);
  // One element of the inner loop after another, with what the next one needs in a register: does
  // that take less than lanes do?
  bool is_best_by_rows(std::int32_t inner) const;
  void run_by_rows(PlanNode& waves);
  const JudgedNest& judged_;
  const Nest& nest_;
  const Kernel& body_;
  const PlanFacts& facts_;
  std::vector<NestProduct> products_;
  bool beside_launches_ = false;  // the loop that is planned stands beside some that pay
};

}  // namespace frit
