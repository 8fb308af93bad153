// nest_program.cpp: writes the steps of the host, with the launches in their places.
#include "schedule/nest_program.h"

#include <algorithm>

#include "ir/error.h"
#include "schedule/nest_cost.h"
#include "schedule/nest_launch.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class ProgramWriter {
 public:
  ProgramWriter(NestProgram& program, const PlanFacts& facts)
      : program_(program), nest_(*program.judged.nest), facts_(facts) {}

  void run() { program_.steps = block(nest_.routine.body.code, program_.plan.nodes); }

 private:
  LaunchWriter writer() const { return {program_.judged, program_.plan, facts_}; }

  static bool is_host(const PlanNode& n) {
    return n.instr && (n.run == LoopRun::Host || n.run == LoopRun::Parallel);
  }

  std::vector<NestStep> block(const Block& block, const std::vector<PlanNode>& nodes) {
    std::vector<NestStep> steps;
    std::vector<bool> placed(nodes.size());
    std::vector<const PlanNode*> waiting;  // nodes that share a launch
    const auto launch_waiting = [&] {
      if (waiting.empty()) return;
      steps.push_back(launch(writer().in_order(waiting)));
      waiting.clear();
    };
    for (const Instr& instr : block) {
      if (instr.result != no_value && instr.kind != InstrKind::Loop) {
        // A value that a waiting launch changes is computed behind it; what only depends on
        // arguments and constants is not.
        if (changes(instr)) launch_waiting();
        steps.push_back({.kind = NestStep::Kind::Compute, .instr = &instr, .parts = {}});
        continue;
      }
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        const PlanNode& n = nodes[k];
        if (stands_for(n) != &instr) continue;
        placed[k] = true;
        const bool is_plain = n.instr == &instr && (instr.kind == InstrKind::Store ||
                                                    instr.kind == InstrKind::WriteLocal);
        if (!is_host(n) && !(is_plain && waiting.empty())) {
          waiting.push_back(&n);
          continue;
        }
        launch_waiting();
        steps.push_back(step(n));
      }
    }
    launch_waiting();
    check(std::find(placed.begin(), placed.end(), false) == placed.end(),
          "each node of a plan has its place");
    return steps;
  }
  static const Instr* stands_for(const PlanNode& n) { return n.place ? n.place : n.instr; }
  static bool changes(const Instr& instr) {
    return instr.kind == InstrKind::Load || instr.kind == InstrKind::ReadLocal;
  }

  NestStep launch(NestLaunch made) {
    NestStep s{.kind = NestStep::Kind::Launch, .instr = nullptr, .parts = {}};
    s.launch = static_cast<std::int32_t>(program_.launches.size());
    program_.launches.push_back(std::move(made));
    return s;
  }

  NestStep step(const PlanNode& n) {
    if (n.run == LoopRun::Parallel) {
      NestLaunch made = writer().parallel(n);
      if (!made.arrays.empty()) {
        std::vector<const PlanNode*> inside;
        for (const PlanNode& inner : n.body) inside.push_back(&inner);
        made.in_order = launch(writer().in_order(inside)).launch;
      }
      return launch(std::move(made));
    }
    using Kind = NestStep::Kind;
    NestStep s{.kind = Kind::Compute, .instr = n.instr, .parts = n.parts};
    if (n.instr->kind == InstrKind::Loop) s.kind = Kind::Loop;
    if (n.instr->kind == InstrKind::If) s.kind = Kind::If;
    if (n.instr->kind == InstrKind::While) s.kind = Kind::While;
    if (n.product >= 0) {
      s.kind = Kind::Product;
      s.product = n.product;
      for (const PlanNode& inner : n.body)
        s.body.push_back(is_host(inner) ? step(inner) : launch(writer().in_order({&inner})));
      return s;
    }
    if (s.kind != Kind::Compute) {
      s.body = block(n.instr->body, n.body);
      s.other = block(n.instr->other, n.other);
    }
    return s;
  }

  NestProgram& program_;
  const Nest& nest_;
  const PlanFacts& facts_;
};

// Values of the host that nobody asks for are not computed.
class Sweep {
 public:
  explicit Sweep(NestProgram& program)
      : program_(program), needed_(program.judged.nest->definitions.size()) {}

  void run() {
    for (const NestLaunch& l : program_.launches) {
      for (const NestLaunch::Integer& i : l.integers)
        if (i.kind == NestLaunch::Integer::Kind::Value) need(i.number);
      for (const NestLaunch::Number& n : l.scalars) need(n.value);
      if (l.loop) need_all(*l.loop);
      if (l.across) need_all(*l.across);
      for (const LoopPart& part : l.parts) need_cut(part);
    }
    mark(program_.steps);
    sweep(program_.steps);
  }

 private:
  const Nest& nest() const { return *program_.judged.nest; }
  void need(ValueId id) {
    if (id == no_value || needed_[at(id)]) return;
    needed_[at(id)] = true;
    need_all(*nest().definitions[at(id)]);
  }
  void need_all(const Instr& instr) {
    for (ValueId arg : instr.args) need(arg);
    for (const Term& term : instr.address.terms) need(term.index);
  }
  void need_cut(const LoopPart& part) {
    if (part.cut.kind == SplitCandidate::Kind::OuterIndex) need(nest().loop(part.cut.loop).index());
  }

  void mark(const std::vector<NestStep>& steps) {
    for (const NestStep& s : steps) {
      if (s.instr && (s.kind != NestStep::Kind::Compute || s.instr->result == no_value))
        need_all(*s.instr);
      for (const LoopPart& part : s.parts) need_cut(part);
      if (s.product >= 0) {
        const NestProduct& p = program_.plan.products[at(s.product)];
        for (std::int32_t l : {p.rows, p.columns, p.inner}) need_all(*nest().loop(l).instr);
      }
      mark(s.body);
      mark(s.other);
    }
  }
  void sweep(std::vector<NestStep>& steps) {
    std::erase_if(steps, [&](const NestStep& s) {
      return s.kind == NestStep::Kind::Compute && s.instr->result != no_value &&
             !needed_[at(s.instr->result)];
    });
    for (NestStep& s : steps) {
      sweep(s.body);
      sweep(s.other);
    }
  }

  NestProgram& program_;
  std::vector<bool> needed_;
};

// Moves the steps to the front that compute the same for the same integers, and counts them.
void fix_integers(NestProgram& program) {
  const std::vector<DType>& dtypes = program.judged.nest->routine.body.values;
  std::vector<bool> is_fixed(dtypes.size());
  const auto find = [&](const NestStep& step) {
    if (step.kind != NestStep::Kind::Compute) return false;
    const Instr& instr = *step.instr;
    const auto is_ready = [&](ValueId id) { return id == no_value || is_fixed[at(id)]; };
    const bool is_sum =
        instr.kind == InstrKind::Apply && dtypes[at(instr.result)] == DType::Int64 &&
        (instr.op == Op::Add || instr.op == Op::Subtract || instr.op == Op::Multiply ||
         instr.op == Op::Minimum || instr.op == Op::Maximum);
    const bool found = instr.kind == InstrKind::Constant || instr.kind == InstrKind::IntegerArg ||
                       (is_sum && std::ranges::all_of(instr.args, is_ready));
    if (found) is_fixed[at(instr.result)] = true;
    return found;
  };
  const auto rest = std::stable_partition(program.steps.begin(), program.steps.end(), find);
  program.fixed = static_cast<std::size_t>(rest - program.steps.begin());
}

// What a run is guessed to take: the launches' costs, in lanes where they have some.
class RunCost {
 public:
  RunCost(const NestProgram& program, const PlanFacts& facts)
      : program_(program), nest_(*program.judged.nest), facts_(facts) {}

  double of(const std::vector<NestStep>& steps) const {
    double cost = 0;
    for (const NestStep& s : steps) cost += of(s);
    return cost;
  }

 private:
  double of(const NestStep& s) const {
    using Kind = NestStep::Kind;
    switch (s.kind) {
      case Kind::Compute:
        return nest_cost::host_step;
      case Kind::Launch:
        return of(program_.launches[at(s.launch)]);
      case Kind::Loop:
        return rounds_of(*s.instr) * of(s.body);
      case Kind::If:
      case Kind::While:
      case Kind::Product:
        return of(s.body) + of(s.other);
    }
    return 0;
  }
  double of(const NestLaunch& launch) const {
    double cost = 0;
    for (const NestLaunch::Cost& c : launch.cost) {
      double rounds = 1;
      bool is_counted = !launch.loop;
      for (const auto& [loop, of_loop] : c.loops) {
        rounds *= of_loop;
        is_counted = is_counted || loop == launch.loop;
      }
      if (!is_counted) rounds *= rounds_of(*launch.loop);
      if (launch.across) rounds *= rounds_of(*launch.across);
      cost += c.weight * rounds;
    }
    return cost;
  }
  double rounds_of(const Instr& loop) const {
    for (std::size_t k = 0; k < nest_.loops.size(); ++k)
      if (nest_.loops[k].instr == &loop) return rounds_of_loop(facts_, k);
    return 1;
  }

  const NestProgram& program_;
  const Nest& nest_;
  const PlanFacts& facts_;
};

// Between chunks a launch may be stopped, so they last for milliseconds at most, however many
// rounds there are: as far as there is memory for what each makes of its own.
std::int64_t longest_chunk(const NestLaunch& launch, std::int64_t rounds) {
  constexpr std::int64_t longest = 1 << 22, most_chunks = 1 << 20;
  return launch.arrays.empty() ? std::max(longest, rounds / most_chunks) : rounds;
}

}  // namespace

std::int64_t chunk_length(const NestLaunch& launch, std::int64_t rounds) {
  if (launch.grain == PlanNode::Grain::Tile) return launch.tile_length;
  constexpr std::int64_t most_chunks = 64, most_terms = 1 << 16;
  if (launch.adds_in_order && rounds <= most_terms) return 1;
  const std::int64_t even = (rounds + most_chunks - 1) / most_chunks;
  // Whole vectors: what is left over of one takes as long as all of it.
  const std::int64_t unit = std::min(launch.shortest_chunk, chunk_of_lanes);
  const std::int64_t length = (even + unit - 1) / unit * unit;
  return std::max(launch.shortest_chunk, std::min(length, longest_chunk(launch, rounds)));
}

std::shared_ptr<const NestProgram> lower_nest(JudgedNest judged, const PlanFacts& facts) {
  auto program = std::make_shared<NestProgram>();
  program->judged = std::move(judged);
  program->plan = plan_nest(program->judged, facts);
  ProgramWriter(*program, facts).run();
  Sweep(*program).run();
  fix_integers(*program);
  program->sweeps = find_sweeps(*program->judged.nest, program->launches);
  program->may_be_endless =
      std::ranges::any_of(program->judged.nest->loops, &NestLoop::may_be_endless);
  program->is_straight = std::ranges::all_of(program->steps, [](const NestStep& step) {
    return step.kind == NestStep::Kind::Compute || step.kind == NestStep::Kind::Launch;
  });
  program->takes_long =
      program->may_be_endless
          ? program->plan.cost * nest_cost::rounds_of_while > nest_cost::stoppable_whiles
          : RunCost(*program, facts).of(program->steps) > nest_cost::stoppable_run;
  if (program->takes_long || program->may_be_endless) {
    for (NestLaunch& l : program->launches) {
      Kernel kernel = *l.kernel;
      kernel.may_stop = true;
      l.kernel = std::make_shared<const Kernel>(std::move(kernel));
    }
  }
  return program;
}

}  // namespace frit
