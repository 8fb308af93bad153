// nest_rows.cpp: rows side by side: rounds of a loop that share what their vector loop loads.
//
// A stencil loads most elements several times: as the upper neighbour of one row, the middle of the
// next one, the lower one of the next but one. With some rows side by side in one vector loop each
// is loaded once for all of them.
#include <algorithm>
#include <functional>
#include <set>

#include "schedule/nest_planner.h"

namespace frit {
namespace {

constexpr std::int64_t most_unrolled = 8;      // rounds,
constexpr std::size_t longest_unrolled = 160;  // and instructions when it is done
constexpr std::size_t longest_rows = 480;      // the same, of all rows
constexpr double least_shared = 0.25;          // of the loads, that more rows must make needless
constexpr double fewest_groups = 8;            // that threads share
// Elements. The processor fetches ahead along a row: of memory that is in no cache, few rows of
// fewer are faster.
constexpr double long_row = 128;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

std::size_t length_of(const std::vector<const Block*>& blocks) {
  std::size_t n = 0;
  for (const Block* block : blocks)
    for (const Instr& instr : *block) n += 1 + length_of({&instr.body, &instr.other});
  return n;
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> literal_bounds(const Nest& nest,
                                                                    const PlanNode& node) {
  const Affine &begin = nest.forms[at(node.instr->args[0])],
               &end = nest.forms[at(node.instr->args[1])];
  if (!begin.terms.empty() || !end.terms.empty()) return std::nullopt;
  return std::pair{begin.constant, end.constant};
}

std::size_t length_when_unrolled(const Nest& nest, const PlanNode& node) {
  std::size_t n = length_of(node.blocks);
  for (const PlanNode& inner : node.body)
    if (inner.loop >= 0 && unrolls_in_lanes(nest, inner)) {
      const auto bounds = literal_bounds(nest, inner);
      n += length_when_unrolled(nest, inner) *
           static_cast<std::size_t>(std::max<std::int64_t>(0, bounds->second - bounds->first));
    }
  return n;
}

bool unrolls_in_lanes(const Nest& nest, const PlanNode& node) {
  if (node.run != LoopRun::Serial || node.instr->kind != InstrKind::Loop || node.skew ||
      !node.parts.empty())
    return false;
  const auto bounds = literal_bounds(nest, node);
  if (!bounds || bounds->second - bounds->first > most_unrolled) return false;
  const auto rounds = std::max<std::int64_t>(0, bounds->second - bounds->first);
  return length_when_unrolled(nest, node) * static_cast<std::size_t>(rounds) <= longest_unrolled;
}

namespace {

// The elements that a vector loop loads in one round, of several rows.
class RowLoads {
 public:
  RowLoads(const Nest& nest, std::int32_t rows, const PlanNode& vector)
      : nest_(nest), loop_(rows), row_(nest.loop(rows).index()), lane_(vector.instr->result) {
    collect(vector);
  }

  std::size_t count(std::int64_t rows) const {
    std::set<Load> different;
    for (std::int64_t r = 0; r < rows; ++r)
      for (Load load : loads_) {
        for (Affine& index : load.indices)
          for (const auto& [value, coefficient] : index.terms)
            if (value == row_) index.constant += coefficient * r;
        different.insert(std::move(load));
      }
    return different.size();
  }
  // Is none at a place that is computed?
  bool are_known() const { return are_known_; }

 private:
  struct Load {
    std::int32_t parameter;
    std::vector<Affine> indices;
    bool operator<(const Load& other) const {
      if (parameter != other.parameter) return parameter < other.parameter;
      return std::ranges::lexicographical_compare(
          indices, other.indices, [](const Affine& a, const Affine& b) {
            return std::tie(a.constant, a.terms) < std::tie(b.constant, b.terms);
          });
    }
  };

  void collect(const PlanNode& node) {
    for (const Block* block : node.blocks)
      for (const Instr& instr : *block)
        if (instr.kind == InstrKind::Load) add(instr);
    for (const PlanNode& inner : node.body) {
      if (inner.loop < 0) continue;
      const auto bounds = literal_bounds(nest_, inner);
      for (std::int64_t i = bounds->first; i < bounds->second; ++i) {
        unrolled_.emplace_back(inner.instr->result, i);
        collect(inner);
        unrolled_.pop_back();
      }
    }
  }
  void add(const Instr& instr) {
    const NestAccess& access = nest_.accesses[at(instr.number)];
    Load load{instr.address.operand, access.indices};
    bool moves = false;
    for (Affine& index : load.indices) {
      for (const auto& [value, round] : unrolled_)
        std::erase_if(index.terms, [&](const auto& term) {
          if (term.first != value) return false;
          index.constant += term.second * round;
          return true;
        });
      for (const auto& [value, coefficient] : index.terms) {
        moves |= value == lane_;
        const bool is_index = value == row_ || value == lane_;
        if (!is_index && (at(value) >= nest_.definitions.size() || nest_.is_inside(value, loop_)))
          are_known_ = false;
      }
    }
    if (moves) loads_.push_back(std::move(load));
  }

  const Nest& nest_;
  const std::int32_t loop_;
  const ValueId row_, lane_;
  std::vector<std::pair<ValueId, std::int64_t>> unrolled_;
  std::vector<Load> loads_;
  bool are_known_ = true;
};

// Only assignments to locals, loops that are written out, and stores behind all loads.
bool is_straight(const Nest& nest, const PlanNode& node, bool may_store) {
  for (const PlanNode& n : node.body) {
    if (!n.instr) return false;
    if (n.instr->kind == InstrKind::WriteLocal) continue;
    if (n.instr->kind == InstrKind::Store && may_store) continue;
    if (n.loop < 0 || !unrolls_in_lanes(nest, n) || !is_straight(nest, n, false)) return false;
  }
  bool has_stored = false;
  for (const Instr& instr : *node.blocks[0]) {
    if (instr.kind == InstrKind::Store) has_stored = true;
    if (has_stored && (instr.kind == InstrKind::Load || instr.kind == InstrKind::Loop))
      return false;
  }
  return true;
}

}  // namespace

std::int64_t Planner::rows_together(std::int32_t loop, const Statements& statements,
                                    const std::vector<PlanNode>& body) const {
  if (statements.empty() || body.size() != statements.size()) return 1;
  for (std::size_t k = 0; k + 1 < body.size(); ++k)
    if (body[k].instr != statements[k] || body[k].instr->kind != InstrKind::WriteLocal) return 1;
  const PlanNode& vector = body.back();
  if (vector.instr != statements.back() || vector.run != LoopRun::Vector || !vector.parts.empty() ||
      vector.instr->tree || vector.blocks.size() != 1)
    return 1;
  const Status rows = status_of(loop, members_of(loop, statements)),
               lanes = status_of(vector.loop,
                                 members_of(vector.loop, statements_of(vector.instr->body)));
  const auto is_plain = [](const Status& s) {
    return s.is_free() && !s.reduces() && !s.has_last && !s.has_companion;
  };
  if (!is_plain(rows) || !is_plain(lanes) || !has_fixed_bounds(vector.loop, loop) ||
      !is_straight(nest_, vector, true))
    return 1;
  const RowLoads loads(nest_, loop, vector);
  const auto one = static_cast<double>(loads.count(1));
  if (!loads.are_known()) return 1;
  for (std::int64_t together : {4, 2}) {
    const double most = (1 - least_shared) * one * static_cast<double>(together);
    if (together == 4 && rounds_of(vector.loop) < long_row) continue;
    if (rounds_of(loop) >= fewest_groups * static_cast<double>(together) &&
        length_when_unrolled(nest_, vector) * static_cast<std::size_t>(together) <= longest_rows &&
        static_cast<double>(loads.count(together)) <= most)
      return together;
  }
  return 1;
}

}  // namespace frit
