// nest_plan.cpp: chooses what is parallel, what runs in lanes, and the transforms that allow it.
#include "schedule/nest_plan.h"

#include <algorithm>
#include <functional>

#include "ir/error.h"
#include "schedule/nest_cost.h"
#include "schedule/nest_planner.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

Statements statements_of(const Block& block) {
  Statements found;
  for (const Instr& instr : block)
    if (instr.result == no_value || instr.kind == InstrKind::Loop) found.push_back(&instr);
  return found;
}

Planner::Planner(const JudgedNest& judged, const PlanFacts& facts)
    : judged_(judged), nest_(*judged.nest), body_(nest_.routine.body), facts_(facts) {}

NestPlan Planner::run() {
  NestPlan plan;
  const Statements all = statements_of(body_.code);
  for (const Instr* statement : all) plan.cost += cost_of(*statement);
  const bool loops = !nest_.loops.empty();
  if (plan.cost < nest_cost::small_nest && loops) {
    plan.nodes = kernel_statements(all, false);
  } else {
    plan.nodes = host_statements(all);
  }
  plan.products = std::move(products_);
  return plan;
}

PlanNode Planner::node(const Instr& instr, LoopRun run) const {
  PlanNode n;
  n.instr = &instr;
  n.run = run;
  if (instr.kind == InstrKind::Loop || instr.kind == InstrKind::While) {
    n.loop = loop_of(instr);
    n.blocks = {&instr.body};
  }
  return n;
}

std::vector<PlanNode> Planner::host_statements(const Statements& statements) {
  std::vector<PlanNode> nodes;
  for (const Instr* s : statements) {
    switch (s->kind) {
      case InstrKind::Loop: {
        std::vector<PlanNode> made = host_loop(loop_of(*s), statements_of(s->body));
        if (auto product = product_of(loop_of(*s))) {
          product->body = std::move(made);
          nodes.push_back(std::move(*product));
          break;
        }
        for (PlanNode& n : made) nodes.push_back(std::move(n));
        break;
      }
      case InstrKind::If:
      case InstrKind::While: {
        PlanNode n = node(*s, LoopRun::Host);
        n.body = host_statements(statements_of(s->body));
        n.other = host_statements(statements_of(s->other));
        // Step by step it would take a hundred times as long.
        if (s->kind == InstrKind::While && !has_launch_that_pays(n.body) &&
            !has_launch_that_pays(n.other))
          n = kernel_statements({s}, false)[0];
        nodes.push_back(std::move(n));
        break;
      }
      default:
        nodes.push_back(node(*s, LoopRun::Host));
    }
  }
  return nodes;
}

std::optional<PlanNode> Planner::product_of(std::int32_t loop) {
  const auto product = find_product(judged_, loop);
  if (!product) return std::nullopt;
  if (rounds_of(product->rows) * rounds_of(product->columns) * rounds_of(product->inner) <
      nest_cost::least_product)
    return std::nullopt;
  PlanNode n = node(*nest_.loop(loop).instr, LoopRun::Host);
  n.product = static_cast<std::int32_t>(products_.size());
  products_.push_back(*product);
  return n;
}

bool Planner::has_launch_that_pays(const std::vector<PlanNode>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const PlanNode& n) {
    return n.run == LoopRun::Parallel || n.product >= 0 || has_launch_that_pays(n.body) ||
           has_launch_that_pays(n.other);
  });
}

std::vector<PlanNode> Planner::host_loop(std::int32_t loop, const Statements& statements) {
  if (nest_.loop(loop).instr->tree) return {in_order(loop, statements, {})};
  const Members members = members_of(loop, statements);
  const Status status = status_of(loop, members);
  const bool pays = cost_of(loop, statements) >= nest_cost::launch_pays && rounds_of(loop) >= 2;
  if (!pays && beside_launches_ && status.is_free() && !status.reduces() && !status.has_companion &&
      !status.has_last)
    return border_launches(loop, statements);
  if (pays && status.is_free() && !status.reduces_array && !status.reduces_local &&
      !status.has_companion)
    return {parallel(loop, statements, {})};
  if (pays && !status.carried_local) {
    if (auto moved = parallel_loop_outermost(loop, statements, members)) return {std::move(*moved)};
    if (status.is_free() && status.reduces_array && adds_floats(members)) {
      if (auto rows = rows_in_order(loop, statements); !rows.empty()) return rows;
      if (adds_in_parallel_loops(loop, members)) return {in_order(loop, statements, {})};
    }
    if (status.is_free()) return {chunked(loop, statements)};
  }
  if (pays && !status.carried_local && !status.reduces() && !status.has_companion)
    if (auto pieces = host_pieces(loop, statements, status); !pieces.empty()) return pieces;
  std::vector<PlanNode> nodes;
  if (const auto groups = distributed(loop, statements); groups.size() > 1) {
    for (const Statements& group : groups)
      for (PlanNode& n : host_loop(loop, group)) nodes.push_back(std::move(n));
    // Of several loops that all run in order, one is enough.
    if (has_launch_that_pays(nodes)) return nodes;
  }
  return {in_order(loop, statements, {})};
}

// Where whole rows are added up, round after round, there is enough to do in each of them: the sums
// are Python's then. Each group of statements may have its rows outermost.
std::vector<PlanNode> Planner::rows_in_order(std::int32_t loop, const Statements& statements) {
  std::vector<PlanNode> nodes;
  if (const auto groups = components(order_of(loop, statements)); groups.size() > 1) {
    for (const auto& group : groups) {
      Statements own;
      for (std::size_t k : group) own.push_back(statements[k]);
      for (PlanNode& n : host_loop(loop, own)) nodes.push_back(std::move(n));
    }
    const auto is_chunked = [](const PlanNode& n) { return n.grain == PlanNode::Grain::Chunk; };
    if (std::ranges::none_of(nodes, is_chunked) && has_launch_that_pays(nodes)) return nodes;
    nodes.clear();
  }
  PlanNode rounds = in_order(loop, statements, {});
  if (rounds.run == LoopRun::Host && has_launch_that_pays(rounds.body))
    nodes.push_back(std::move(rounds));
  return nodes;
}

bool Planner::adds_floats(const Members& members) const {
  for (std::size_t k = 0; k < nest_.accesses.size(); ++k) {
    const NestAccess& access = nest_.accesses[k];
    if (!members.accesses[k] || access.update < 0) continue;
    const DType dtype = body_.operands[at(access.array)].dtype;
    if (!reduces_in_any_order(nest_.updates[at(access.update)].op, dtype)) return true;
  }
  return false;
}

// A round has loops of its own over the elements that it adds to: there are lanes in it, and
// Python's order costs no more than the other threads.
bool Planner::adds_in_parallel_loops(std::int32_t loop, const Members& members) const {
  for (std::size_t k = 0; k < nest_.accesses.size(); ++k) {
    const NestAccess& access = nest_.accesses[k];
    if (!members.accesses[k] || access.update < 0) continue;
    if (access.loop == loop || judged_.verdicts[at(access.loop)].kind != LoopKind::Parallel)
      return false;
  }
  return true;
}

bool Planner::has_host_loop_or_product(const std::vector<PlanNode>& nodes) {
  return std::ranges::any_of(nodes, [](const PlanNode& n) {
    return (n.loop >= 0 && n.run == LoopRun::Host) || n.product >= 0 ||
           has_host_loop_or_product(n.body) || has_host_loop_or_product(n.other);
  });
}

// Short loops beside long ones are launches too: those along a border of the arrays, which may then
// go with the others' rows there. What is stored to different borders is apart.
std::vector<PlanNode> Planner::border_launches(std::int32_t loop, const Statements& statements) {
  const auto is_fixed = [&](const Affine& index) { return nest_.is_fixed(index); };
  const bool stores_to_borders = std::ranges::all_of(statements, [&](const Instr* s) {
    return s->kind == InstrKind::Store &&
           std::ranges::any_of(nest_.accesses[at(s->number)].indices, is_fixed);
  });
  std::vector<PlanNode> nodes;
  if (!stores_to_borders) return {parallel(loop, statements, {})};
  for (const auto& component : components(order_of(loop, statements))) {
    Statements own;
    for (std::size_t k : component) own.push_back(statements[k]);
    nodes.push_back(parallel(loop, own, {}));
  }
  return nodes;
}

PlanNode Planner::in_order(std::int32_t loop, const Statements& statements,
                           std::vector<LoopPart> parts) {
  PlanNode n = node(*nest_.loop(loop).instr, LoopRun::Host);
  n.body = host_statements(statements);
  n.parts = parts;
  if (has_launch_that_pays(n.body)) {
    if (facts_.distance >= Distance::Far && !beside_launches_ &&
        !has_host_loop_or_product(n.body)) {
      beside_launches_ = true;
      n.body = host_statements(statements);
      beside_launches_ = false;
    }
    return n;
  }
  const double cost = cost_of(loop, statements);
  if (cost >= nest_cost::waves_pay && parts.empty())
    if (auto waves = wavefront(loop, statements)) {
      waves->run = LoopRun::Parallel;
      waves->grain = PlanNode::Grain::Wave;
      for (PlanNode& n : waves->body) n.in_tile = n.loop == waves->skewed;
      return std::move(*waves);
    }
  // A long run is cut into launches, so that compiled code can take over when it is ready.
  const double rounds = std::max(1.0, rounds_of(loop));
  const bool inner_loops = std::any_of(statements.begin(), statements.end(),
                                       [](const Instr* s) { return has_loop(s->body); });
  if (cost > nest_cost::long_run && cost / rounds > nest_cost::long_launch && inner_loops) return n;
  std::vector<PlanNode> inside = kernel_loop(loop, statements, false, parts);
  if (inside.size() == 1) return std::move(inside[0]);
  // Several loops for one: the launch has no loop of its own.
  PlanNode all;
  all.place = nest_.loop(loop).instr;
  all.body = std::move(inside);
  return all;
}

PlanNode Planner::parallel(std::int32_t loop, const Statements& statements,
                           std::vector<LoopPart> parts) {
  PlanNode n = node(*nest_.loop(loop).instr, LoopRun::Parallel);
  n.parts = std::move(parts);
  const bool lanes = is_best_in_lanes(loop, statements);
  if (lanes) n.grain = PlanNode::Grain::Lane;
  n.body = kernel_statements(statements, lanes);
  if (lanes) return n;
  const std::int64_t together = rows_together(loop, statements, n.body);
  if (together == 1) return n;
  PlanNode rows = node(*n.instr);
  rows.in_tile = true;
  rows.together = together;
  rows.body = std::move(n.body);
  n.grain = PlanNode::Grain::Tile;
  n.blocks.clear();
  n.body = {std::move(rows)};
  return n;
}

PlanNode Planner::chunked(std::int32_t loop, const Statements& statements) {
  PlanNode n = node(*nest_.loop(loop).instr, LoopRun::Parallel);
  n.grain = PlanNode::Grain::Chunk;
  n.blocks.clear();
  n.body = kernel_loop(loop, statements, false, {});
  return n;
}

template <class Make>
void Planner::for_each_part(const SplitCandidate& cut, Make&& make) {
  using Side = LoopPart::Side;
  if (cut.kind != SplitCandidate::Kind::First) make(LoopPart{Side::Before, cut});
  make(LoopPart{Side::At, cut});
  if (cut.kind != SplitCandidate::Kind::Last) make(LoopPart{Side::Behind, cut});
}

std::vector<PlanNode> Planner::host_pieces(std::int32_t loop, const Statements& statements,
                                           const Status& status) {
  std::vector<PlanNode> nodes;
  const auto cut = common_cut(loop, status);
  if (!cut || status.has_last) return nodes;
  for_each_part(*cut, [&](const LoopPart& part) {
    nodes.push_back(part.side == LoopPart::Side::At ? in_order(loop, statements, {part})
                                                    : parallel(loop, statements, {part}));
  });
  return nodes;
}

std::vector<Statements> Planner::distributed(std::int32_t loop,
                                             const Statements& statements) const {
  if (statements.size() < 2 || nest_.loop(loop).is_while()) return {statements};
  return merged(loop, statements, components(order_of(loop, statements)));
}

std::vector<std::vector<bool>> Planner::order_of(std::int32_t loop,
                                                 const Statements& statements) const {
  const std::size_t n = statements.size();
  // Which statements have an access, or a local: mostly one.
  using Owners = std::vector<std::vector<std::size_t>>;
  Owners of_access(nest_.accesses.size()), of_local(body_.locals.size());
  for (std::size_t a = 0; a < n; ++a) {
    const Members members = members_of(loop, {statements[a]});
    const auto note = [&](const std::vector<bool>& has, Owners& owners) {
      for (std::size_t k = 0; k < has.size(); ++k)
        if (has[k]) owners[k].push_back(a);
    };
    note(members.accesses, of_access);
    note(members.locals, of_local);
  }
  constexpr std::size_t bits = 64;
  const std::size_t words = (n + bits - 1) / bits;
  std::vector<std::uint64_t> before(n * words);  // rows of bits
  const auto set = [&](std::size_t a, std::size_t b) {
    before[a * words + b / bits] |= std::uint64_t{1} << b % bits;
  };
  const auto is_set = [&](std::size_t a, std::size_t b) {
    return (before[a * words + b / bits] >> b % bits & 1) != 0;
  };
  for (std::size_t k = 0; k < nest_.dependences.size(); ++k) {
    const Dependence& d = nest_.dependences[k];
    if (!judged_.active[k] || d.level < nest_.loop(loop).depth) continue;
    for (std::size_t a : of_access[at(d.source)])
      for (std::size_t b : of_access[at(d.sink)]) set(a, b);
  }
  for (std::size_t x = 0; x < of_local.size(); ++x) {
    if (judged_.locals.role(loop, static_cast<std::int32_t>(x)) == LocalRole::Fixed) continue;
    for (std::size_t a : of_local[x])
      for (std::size_t b : of_local[x]) set(a, b);
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t a = 0; a < n; ++a)
      if (is_set(a, k))
        for (std::size_t w = 0; w < words; ++w) before[a * words + w] |= before[k * words + w];
  std::vector<std::vector<bool>> found(n, std::vector<bool>(n));
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) found[a][b] = is_set(a, b);
  return found;
}

std::vector<std::vector<std::size_t>> Planner::components(
    const std::vector<std::vector<bool>>& before) {
  const std::size_t n = before.size();
  std::vector<std::vector<std::size_t>> found;
  std::vector<bool> done(n);
  while (std::find(done.begin(), done.end(), false) != done.end())
    for (std::size_t k = 0; k < n; ++k) {
      if (done[k]) continue;
      bool ready = true;
      for (std::size_t j = 0; j < n; ++j)
        if (!done[j] && before[j][k] && !before[k][j]) ready = false;
      if (!ready) continue;
      std::vector<std::size_t> component;
      for (std::size_t j = 0; j < n; ++j)
        if (j == k || (before[j][k] && before[k][j])) component.push_back(j);
      for (std::size_t j : component) done[j] = true;
      found.push_back(std::move(component));
      break;
    }
  return found;
}

std::vector<Statements> Planner::merged(
    std::int32_t loop, const Statements& statements,
    const std::vector<std::vector<std::size_t>>& components) const {
  const auto is_free = [&](const Statements& s) {
    const Status status = status_of(loop, members_of(loop, s));
    return status.is_free() && !status.reduces() && !status.has_companion;
  };
  std::vector<std::vector<std::size_t>> groups;
  std::vector<bool> free;
  const auto chosen = [&](const std::vector<std::size_t>& numbers) {
    Statements s;
    for (std::size_t k : numbers) s.push_back(statements[k]);
    return s;
  };
  for (const auto& component : components) {
    const bool own = is_free(chosen(component));
    if (!groups.empty() && free.back() == own) {
      std::vector<std::size_t> both = groups.back();
      both.insert(both.end(), component.begin(), component.end());
      std::sort(both.begin(), both.end());
      if (!own || is_free(chosen(both))) {
        groups.back() = std::move(both);
        continue;
      }
    }
    groups.push_back(component);
    free.push_back(own);
  }
  std::vector<Statements> result;
  for (const auto& group : groups) result.push_back(chosen(group));
  return result;
}

std::vector<std::int32_t> Planner::band_of(std::int32_t loop, const Statements& statements) const {
  std::vector<std::int32_t> band{loop};
  Statements inside = statements;
  while (inside.size() == 1 && inside[0]->kind == InstrKind::Loop) {
    const std::int32_t inner = loop_of(*inside[0]);
    for (const Instr& instr : nest_.loop(band.back()).instr->body) {
      if (instr.kind == InstrKind::Load &&
          nest_.written[at(nest_.accesses[at(instr.number)].array)])
        return band;
      if (instr.kind == InstrKind::Load && is_mixed(nest_.accesses[at(instr.number)].array))
        return band;
      if (instr.kind == InstrKind::ReadLocal &&
          judged_.locals.role(loop, instr.number) != LocalRole::Fixed)
        return band;
    }
    band.push_back(inner);
    inside = statements_of(nest_.loop(inner).instr->body);
  }
  return band;
}

bool Planner::has_fixed_bounds(std::int32_t inner, std::int32_t outer) const {
  const Instr& instr = *nest_.loop(inner).instr;
  return !nest_.is_inside(instr.args[0], outer) && !nest_.is_inside(instr.args[1], outer);
}

std::optional<PlanNode> Planner::parallel_loop_outermost(std::int32_t loop,
                                                         const Statements& statements,
                                                         const Members& members) {
  if (has_tree(statements)) return std::nullopt;
  std::vector<std::int32_t> band = band_of(loop, statements);
  const auto varying = std::find_if(band.begin() + 1, band.end(), [&](std::int32_t inner) {
    return !has_fixed_bounds(inner, loop);
  });
  band.erase(varying, band.end());
  for (std::size_t k = 1; k < band.size(); ++k) {
    if (!stays_along(band[k], loop, members)) continue;
    if (rounds_of(band[k]) < fewest_rounds) continue;
    return moved_outermost(band, k);
  }
  return std::nullopt;
}

bool Planner::stays_along(std::int32_t inner, std::int32_t outer, const Members& members) const {
  const auto depth = at(nest_.loop(inner).depth);
  for (std::size_t k = 0; k < nest_.dependences.size(); ++k) {
    const Dependence& d = nest_.dependences[k];
    if (!judged_.active[k] || d.level < nest_.loop(outer).depth ||
        !members.accesses[at(d.source)] || !members.accesses[at(d.sink)])
      continue;
    if (d.assumed || d.common <= nest_.loop(inner).depth) return false;
    for (const auto& direction : d.directions)
      if (direction[depth] != 0) return false;
  }
  for (std::size_t x = 0; x < members.locals.size(); ++x) {
    if (!members.locals[x]) continue;
    for (std::int32_t l = inner;; l = nest_.loop(l).parent) {
      const LocalRole role = judged_.locals.role(l, static_cast<std::int32_t>(x));
      if (role != LocalRole::Fixed && role != LocalRole::Private) return false;
      if (l == outer) break;
    }
  }
  return true;
}

PlanNode Planner::moved_outermost(const std::vector<std::int32_t>& band, std::size_t chosen) {
  const std::int32_t moved = band[chosen];
  const Statements innermost = statements_of(nest_.loop(band.back()).instr->body);
  PlanNode outer = node(*nest_.loop(moved).instr, LoopRun::Parallel);
  outer.blocks.clear();
  outer.place = nest_.loop(band[0]).instr;
  std::vector<const Block*> blocks;
  for (std::int32_t l : band) blocks.push_back(&nest_.loop(l).instr->body);

  // The loop for lanes: the moved one as the innermost of a tile, or one of the others.
  std::int32_t lanes = -1;
  double best = scalar_score;
  for (std::int32_t l : band) {
    const Statements own = statements_of(nest_.loop(l).instr->body);
    const Status status = status_of(l, members_of(l, own));
    const bool innermost_now =
        l == moved || l == (moved == band.back() ? band[band.size() - 2] : band.back());
    if (!innermost_now || (l != moved && !may_have_lanes(l, own, status))) continue;
    const double s = score(l, own) + (l != moved && status.reduces_local ? 0.5 : 0);
    if (s < best) {
      best = s;
      lanes = l;
    }
  }
  std::vector<std::int32_t> order;
  for (std::int32_t l : band)
    if (l != moved) order.push_back(l);
  if (lanes == moved) {
    outer.grain = PlanNode::Grain::Tile;
    order.push_back(moved);
  }
  std::vector<PlanNode>* place = &outer.body;
  for (std::int32_t l : order) {
    PlanNode n = node(*nest_.loop(l).instr, l == lanes ? LoopRun::Vector : LoopRun::Serial);
    n.in_tile = l == moved;
    n.blocks.clear();
    place->push_back(std::move(n));
    if (l == order.back()) {
      place->back().blocks = blocks;
      place->back().body = kernel_statements(innermost, lanes >= 0);
    }
    place = &place->back().body;
  }
  return outer;
}

std::vector<PlanNode> Planner::kernel_statements(const Statements& statements, bool in_lanes) {
  std::vector<PlanNode> nodes;
  for (const Instr* s : statements) {
    if (s->kind == InstrKind::Loop) {
      for (PlanNode& n : kernel_loop(loop_of(*s), statements_of(s->body), in_lanes, {}))
        nodes.push_back(std::move(n));
      continue;
    }
    PlanNode n = node(*s);
    n.body = kernel_statements(statements_of(s->body), in_lanes);
    n.other = kernel_statements(statements_of(s->other), in_lanes);
    nodes.push_back(std::move(n));
  }
  return nodes;
}

std::vector<PlanNode> Planner::kernel_loop(std::int32_t loop, const Statements& statements,
                                           bool in_lanes, const std::vector<LoopPart>& parts) {
  PlanNode n = node(*nest_.loop(loop).instr);
  n.parts = parts;
  if (nest_.loop(loop).instr->tree) {
    check(!in_lanes && parts.empty(), "a sum that is a tree has lanes of its own");
    n.run = LoopRun::Vector;
    n.body = kernel_statements(statements, true);
    return {std::move(n)};
  }
  const Status status = status_of(loop, members_of(loop, statements));
  const bool one_round = !parts.empty() && parts.back().side == LoopPart::Side::At;
  if (!in_lanes && !one_round) {
    if (is_best_in_lanes(loop, statements)) {
      n.run = LoopRun::Vector;
      n.body = kernel_statements(statements, true);
      return {std::move(n)};
    }
    if (parts.empty())
      if (auto pieces = kernel_pieces(loop, statements, status); !pieces.empty()) return pieces;
    if (parts.empty())
      if (auto wave = wavefront(loop, statements)) return {std::move(*wave)};
  }
  n.body = kernel_statements(statements, in_lanes);
  if (!in_lanes && parts.empty()) n.together = rows_together(loop, statements, n.body);
  return {std::move(n)};
}

std::vector<PlanNode> Planner::kernel_pieces(std::int32_t loop, const Statements& statements,
                                             const Status& status) {
  std::vector<PlanNode> nodes;
  if (!status.carried_local && !status.has_last)
    if (const auto cut = common_cut(loop, status)) {
      Status without = status;
      without.blocking.clear();
      if (may_have_lanes(loop, statements, without) &&
          score(loop, statements) < std::min(scalar_score, best_inside(statements))) {
        for_each_part(*cut, [&](const LoopPart& part) {
          PlanNode n = node(*nest_.loop(loop).instr);
          n.parts = {part};
          const bool lanes = part.side != LoopPart::Side::At;
          if (lanes) n.run = LoopRun::Vector;
          n.body = kernel_statements(statements, lanes);
          nodes.push_back(std::move(n));
        });
        return nodes;
      }
    }
  const auto groups = distributed(loop, statements);
  if (groups.size() < 2) return nodes;
  const bool helps = std::any_of(groups.begin(), groups.end(), [&](const Statements& group) {
    return is_best_in_lanes(loop, group);
  });
  if (!helps) return nodes;
  for (const Statements& group : groups)
    for (PlanNode& n : kernel_loop(loop, group, false, {})) nodes.push_back(std::move(n));
  return nodes;
}

namespace {

void find_wavefronts(const std::vector<PlanNode>& nodes, std::vector<bool>& found) {
  for (const PlanNode& n : nodes) {
    if (n.skew > 0) found[at(n.loop)] = found[at(n.skewed)] = true;
    find_wavefronts(n.body, found);
    find_wavefronts(n.other, found);
  }
}

void find_lanes(const std::vector<PlanNode>& nodes, std::vector<bool>& found) {
  for (const PlanNode& n : nodes) {
    if (n.run == LoopRun::Vector || n.grain == PlanNode::Grain::Lane) found[at(n.loop)] = true;
    if (n.skew > 0) found[at(n.loop)] = found[at(n.skewed)] = true;
    find_lanes(n.body, found);
    find_lanes(n.other, found);
  }
}

void print(const std::vector<PlanNode>& nodes, int depth, std::string& text) {
  for (const PlanNode& n : nodes) {
    if (!n.instr) {
      print(n.body, depth, text);
      continue;
    }
    text += std::string(2 * at(depth), ' ');
    const char* const runs[] = {"host", "parallel", "serial", "vector"};
    const char* const grains[] = {"", " lanes", " chunks", " tiles", " tiles"};
    const char* const sides[] = {" before", " at", " behind"};
    if (n.instr->kind == InstrKind::Store) {
      text += "store " + std::to_string(n.instr->number);
    } else if (n.instr->kind == InstrKind::WriteLocal) {
      text += "local " + std::to_string(n.instr->number);
    } else if (n.instr->kind == InstrKind::If) {
      text += "if";
    } else {
      text += n.skew           ? "wavefront"
              : n.product >= 0 ? "product"
                               : runs[static_cast<std::size_t>(n.run)];
      text += n.instr->kind == InstrKind::While ? " while" : " v" + std::to_string(n.instr->result);
      if (n.run == LoopRun::Parallel) text += grains[static_cast<std::size_t>(n.grain)];
      for (const LoopPart& part : n.parts) text += sides[static_cast<std::size_t>(part.side)];
      if (n.skew) text += " by " + std::to_string(n.skew);
      if (n.by_rows) text += " row by row";
      if (n.together > 1) text += " " + std::to_string(n.together) + " together";
    }
    text += "\n";
    print(n.body, depth + 1, text);
    if (!n.by_rows) print(n.other, depth + 1, text);
  }
}

}  // namespace

NestPlan plan_nest(const JudgedNest& judged, const PlanFacts& facts) {
  NestPlan plan = Planner(judged, facts).run();
  plan.in_lanes.resize(judged.nest->loops.size());
  find_lanes(plan.nodes, plan.in_lanes);
  return plan;
}

bool NestPlan::runs_one_by_one(const Nest& nest, ValueId value) const {
  const std::int32_t loop = nest.definition_loop[at(value)];
  if (loop < 0) return true;
  return std::ranges::none_of(nest.path_to(loop), [&](std::int32_t l) { return in_lanes[at(l)]; });
}

std::string print(const NestPlan& plan) {
  std::string text;
  print(plan.nodes, 0, text);
  return text;
}

std::vector<bool> loops_in_wavefronts(const NestPlan& plan, std::size_t loops) {
  std::vector<bool> found(loops);
  find_wavefronts(plan.nodes, found);
  return found;
}

}  // namespace frit
