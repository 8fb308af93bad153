// nest_rows.cpp: rows side by side: rounds of a loop that share what their vector loop loads.
//
// A stencil loads most elements several times: as the upper neighbour of one row, the middle of the
// next one, the lower one of the next but one. With some rows side by side in one vector loop each
// is loaded once for all of them.
#include <algorithm>
#include <functional>
#include <set>

#include "ops/level.h"
#include "schedule/nest_planner.h"

namespace frit {
namespace {

constexpr std::int64_t most_unrolled = 8;      // rounds,
constexpr std::size_t longest_unrolled = 160;  // and instructions when it is done
constexpr std::size_t longest_rows = 480;      // the same, of all rows
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

// The elements that a vector loop loads and stores in one round, of one row or several.
class RowElements {
 public:
  RowElements(const Nest& nest, std::int32_t rows, const PlanNode& vector)
      : nest_(nest), loop_(rows), row_(nest.loop(rows).index()), lane_(vector.instr->result) {
    collect(vector);
  }

  std::size_t count_loads(std::int64_t rows) const {
    const auto is_less = [](const RowElement& x, const RowElement& y) {
      if (x.parameter != y.parameter) return x.parameter < y.parameter;
      return std::ranges::lexicographical_compare(
          x.indices, y.indices, [](const Affine& a, const Affine& b) {
            return std::tie(a.constant, a.terms) < std::tie(b.constant, b.terms);
          });
    };
    std::set<RowElement, decltype(is_less)> different(is_less);
    for (std::int64_t r = 0; r < rows; ++r)
      for (RowElement load : loads_) {
        for (Affine& index : load.indices)
          for (const auto& [value, coefficient] : index.terms)
            if (value == row_) index.constant += coefficient * r;
        different.insert(std::move(load));
      }
    return different.size();
  }
  // Is none at a place that is computed?
  bool are_known() const { return are_known_; }

  RowEnds ends() const { return {ends_of(loads_), ends_of(stores_)}; }

 private:
  void collect(const PlanNode& node) {
    for (const Block* block : node.blocks)
      for (const Instr& instr : *block)
        if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) add(instr);
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
    RowElement element{instr.address.operand, {}};
    for (const Term& term : instr.address.terms)
      element.indices.push_back(nest_.forms[at(term.index)]);
    bool moves = false, is_known = true;
    for (Affine& index : element.indices) {
      for (const auto& [value, round] : unrolled_)
        std::erase_if(index.terms, [&](const auto& term) {
          if (term.first != value) return false;
          index.constant += term.second * round;
          return true;
        });
      for (const auto& [value, coefficient] : index.terms) {
        moves |= value == lane_;
        is_known &= is_index(value) ||
                    (at(value) < nest_.definitions.size() && !nest_.is_inside(value, loop_));
      }
    }
    if (instr.kind == InstrKind::Load) are_known_ &= is_known;
    if (moves && is_known)
      (instr.kind == InstrKind::Load ? loads_ : stores_).push_back(std::move(element));
  }
  bool is_index(ValueId value) const { return value == row_ || value == lane_; }

  // Of each array, and of elements that only literals tell apart, the last one.
  std::vector<RowElement> ends_of(const std::vector<RowElement>& elements) const {
    std::vector<RowElement> ends;
    for (const RowElement& element : elements) {
      if (!goes_on_with_rows(element)) continue;
      const auto known = std::ranges::find_if(
          ends, [&](const RowElement& end) { return is_beside(element, end); });
      if (known == ends.end())
        ends.push_back(element);
      else if (std::ranges::lexicographical_compare(known->indices, element.indices, {},
                                                    &Affine::constant, &Affine::constant))
        *known = element;
    }
    return ends;
  }
  // Is one index the row's, and the last one the lane's?
  bool goes_on_with_rows(const RowElement& element) const {
    const auto moves = [](const Affine& index, ValueId by) {
      return std::ranges::count(index.terms, by, [](const auto& term) { return term.first; }) == 1;
    };
    for (std::size_t axis = 0; axis < element.indices.size(); ++axis) {
      const Affine& index = element.indices[axis];
      const bool is_last = axis + 1 == element.indices.size();
      if (moves(index, lane_) != is_last) return false;
      for (const auto& [value, coefficient] : index.terms)
        if (is_index(value) && (coefficient != 1 || (value == row_) == is_last)) return false;
    }
    return std::ranges::any_of(element.indices,
                               [&](const Affine& index) { return moves(index, row_); });
  }
  static bool is_beside(const RowElement& x, const RowElement& y) {
    return x.parameter == y.parameter &&
           std::ranges::equal(x.indices, y.indices, {}, &Affine::terms, &Affine::terms);
  }

  const Nest& nest_;
  const std::int32_t loop_;
  const ValueId row_, lane_;
  std::vector<std::pair<ValueId, std::int64_t>> unrolled_;
  std::vector<RowElement> loads_, stores_;
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

RowEnds ends_of_rows(const Nest& nest, const PlanNode& rows) {
  return RowElements(nest, rows.loop, rows.body.back()).ends();
}

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
  const RowElements elements(nest_, loop, vector);
  const auto one = static_cast<double>(elements.count_loads(1));
  if (!elements.are_known()) return 1;
  const RowFacts& facts = facts_.rows_together;
  const double least = nest_.loop(loop).parent < 0 ? facts.least_shared_once : facts.least_shared;
  for (std::int64_t together : {4, 2}) {
    const double all = one * static_cast<double>(together);
    if (together == 4 && (rounds_of(vector.loop) < long_row || !has_many_registers())) continue;
    if (rounds_of(loop) >= fewest_groups * static_cast<double>(together) &&
        length_when_unrolled(nest_, vector) * static_cast<std::size_t>(together) <= longest_rows &&
        all - static_cast<double>(elements.count_loads(together)) >= least * all)
      return together;
  }
  return 1;
}

}  // namespace frit
