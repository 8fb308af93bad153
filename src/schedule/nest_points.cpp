// nest_points.cpp: takes the loops off a nest; their indices become axes.
#include "schedule/nest_points.h"

#include <algorithm>

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

constexpr std::int64_t most_rounds = 8;      // of a loop that a point does round by round,
constexpr std::int64_t longest_point = 160;  // and instructions of all that it does

// Locals: no parallel loop hands one from point to point.
bool may_stand_between_loops(const Instr& instr) {
  return is_pure(instr) || instr.kind == InstrKind::Load || instr.kind == InstrKind::ReadLocal ||
         instr.kind == InstrKind::WriteLocal;
}

class PointsWriter {
 public:
  explicit PointsWriter(const JudgedNest& judged)
      : judged_(judged), nest_(*judged.nest), renumbered_(nest_.routine.body.values.size()) {}

  std::optional<NestPoints> run() {
    const Kernel& from = nest_.routine.body;
    const Block* block = &from.code;
    // The axes are the first values: they are counted first.
    for (const Instr* loop; (loop = only_loop(*block)) != nullptr; block = &loop->body) {
      if (!add_axis(*loop)) break;
      loops_.push_back(loop);
    }
    if (loops_.empty() || length_of(*block) > longest_point) return std::nullopt;
    to_.operands = from.operands;
    to_.scalars = from.scalars;
    to_.integers = from.integers;
    to_.locals = from.locals;
    to_.values.assign(loops_.size(), DType::Int64);
    block = &from.code;
    for (const Instr* loop : loops_) {
      for (const Instr& instr : *block) {
        if (&instr == loop) continue;
        if (!may_repeat(instr)) return std::nullopt;
        to_.code.push_back(copy(instr));
      }
      to_.code.push_back(index_of(*loop));
      block = &loop->body;
    }
    for (Instr& instr : copies(*block)) to_.code.push_back(std::move(instr));
    Routine routine{.rank = static_cast<std::int32_t>(loops_.size()),
                    .parameter_ranks = nest_.routine.parameter_ranks,
                    .body = std::move(to_)};
    verify(routine);
    points_.routine = intern(routine);
    return std::move(points_);
  }

 private:
  // Of what a point does, with the rounds of short loops one after the other; longer than any point
  // where a loop in it is not short.
  std::int64_t length_of(const Block& block) const {
    std::int64_t length = 0;
    for (const Instr& instr : block) {
      std::int64_t own = 1 + length_of(instr.body) + length_of(instr.other);
      if (instr.kind == InstrKind::Loop) {
        const auto rounds = literal_rounds(instr);
        if (!rounds || rounds->second - rounds->first > most_rounds) return longest_point + 1;
        own *= std::max<std::int64_t>(0, rounds->second - rounds->first);
      }
      length = std::min(length + own, longest_point + 1);
    }
    return length;
  }

  std::optional<std::pair<std::int64_t, std::int64_t>> literal_rounds(const Instr& loop) const {
    const Affine &begin = nest_.forms[at(loop.args[0])], &end = nest_.forms[at(loop.args[1])];
    if (loop.tree || !begin.terms.empty() || !end.terms.empty()) return std::nullopt;
    return std::pair{begin.constant, end.constant};
  }

  // Behind the loop nothing may come, for its points would not be done yet.
  const Instr* only_loop(const Block& block) const {
    if (block.empty() || block.back().kind != InstrKind::Loop) return nullptr;
    const bool is_only = std::all_of(block.begin(), block.end() - 1, may_stand_between_loops);
    return is_only ? &block.back() : nullptr;
  }

  bool add_axis(const Instr& loop) {
    for (std::size_t k = 0; k < nest_.loops.size(); ++k)
      if (nest_.loops[k].instr == &loop && judged_.verdicts[k].kind != LoopKind::Parallel)
        return false;
    std::optional<Affine> begin = of_integers(loop.args[0]), end = of_integers(loop.args[1]);
    if (!begin || !end) return false;
    points_.axes.push_back({std::move(*begin), std::move(*end)});
    return true;
  }

  std::optional<Affine> of_integers(ValueId value) const {
    Affine form = nest_.forms[at(value)];
    for (auto& [term, coefficient] : form.terms) {
      if (at(term) >= nest_.definitions.size() || !nest_.is_symbolic(term)) return std::nullopt;
      term = nest_.definitions[at(term)]->number;
    }
    return form;
  }

  // May it be done at each point, instead of once for some of them?
  bool may_repeat(const Instr& instr) const {
    return instr.kind != InstrKind::Load ||
           (nest_.facts.mixed.empty() && !nest_.written[at(nest_.array_of(instr.address.operand))]);
  }

  Instr index_of(const Instr& loop) {
    Instr index;
    index.kind = InstrKind::Apply;
    index.op = Op::Add;
    index.args[0] = static_cast<ValueId>(axis_++);
    index.args[1] = renumbered_[at(loop.args[0])];
    index.result = new_value(loop.result);
    return index;
  }

  ValueId new_value(ValueId old) {
    to_.values.push_back(nest_.routine.body.values[at(old)]);
    return renumbered_[at(old)] = static_cast<ValueId>(to_.values.size() - 1);
  }

  Instr copy(const Instr& from) {
    Instr instr = from;
    for (ValueId& arg : instr.args)
      if (arg != no_value) arg = renumbered_[at(arg)];
    for (Term& term : instr.address.terms) term.index = renumbered_[at(term.index)];
    if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) instr.number = accesses_++;
    if (instr.result != no_value) instr.result = new_value(from.result);
    // A While's condition stands before its body.
    instr.other = copies(from.other);
    instr.body = copies(from.body);
    return instr;
  }

  Block copies(const Block& block) {
    Block made;
    for (const Instr& instr : block) {
      if (instr.kind != InstrKind::Loop) {
        made.push_back(copy(instr));
        continue;
      }
      const auto [begin, end] = *literal_rounds(instr);
      for (std::int64_t round = begin; round < end; ++round) {
        Instr index;
        index.kind = InstrKind::Constant;
        index.constant = Scalar::of(DType::Int64, round);
        index.result = new_value(instr.result);
        made.push_back(std::move(index));
        for (Instr& inner : copies(instr.body)) made.push_back(std::move(inner));
      }
    }
    return made;
  }

  const JudgedNest& judged_;
  const Nest& nest_;
  std::vector<const Instr*> loops_;
  NestPoints points_;
  Kernel to_;
  std::vector<ValueId> renumbered_;
  std::size_t axis_ = 0;
  std::int32_t accesses_ = 0;
};

std::optional<std::int64_t> value_of(const Affine& form, std::span<const std::int64_t> integers) {
  std::int64_t sum = form.constant;
  for (const auto& [number, coefficient] : form.terms) {
    std::int64_t part;
    if (__builtin_mul_overflow(coefficient, integers[at(number)], &part) ||
        __builtin_add_overflow(sum, part, &sum))
      return std::nullopt;
  }
  return sum;
}

}  // namespace

std::optional<std::vector<std::int64_t>> NestPoints::extents(
    std::span<const std::int64_t> integers) const {
  constexpr std::int64_t most_points = std::int64_t{1} << 40;
  std::vector<std::int64_t> extents;
  std::int64_t points = 1;
  for (const Axis& axis : axes) {
    const std::optional<std::int64_t> begin = value_of(axis.begin, integers),
                                      end = value_of(axis.end, integers);
    std::int64_t extent;
    if (!begin || !end || __builtin_sub_overflow(*end, *begin, &extent) || extent <= 0 ||
        __builtin_mul_overflow(points, extent, &points) || points > most_points)
      return std::nullopt;
    extents.push_back(extent);
  }
  return extents;
}

std::optional<NestPoints> points_of(const JudgedNest& judged) { return PointsWriter(judged).run(); }

}  // namespace frit
