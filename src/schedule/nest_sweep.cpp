// nest_sweep.cpp: how far apart the rows of two launches must be.
#include "schedule/nest_sweep.h"

#include <algorithm>
#include <cstdlib>

#include "schedule/nest_program.h"

namespace frit {
namespace {

constexpr std::size_t most_launches = 24;
constexpr std::int64_t farthest = 64;  // rows: with more, hardly a sweep fits a cache

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

// Rounds that nothing but arrays connects with one another and with the host.
bool is_plain(const NestLaunch& launch) {
  using Grain = PlanNode::Grain;
  using Pointer = NestLaunch::Pointer;
  return launch.loop && !launch.across && launch.in_order < 0 && launch.reductions.empty() &&
         launch.arrays.empty() && launch.grain != Grain::Chunk && launch.grain != Grain::Wave &&
         std::ranges::all_of(launch.operands,
                             [](const Pointer& p) { return p.kind == Pointer::Kind::Parameter; });
}

class SweepFinder {
 public:
  SweepFinder(const Nest& nest, const std::vector<NestLaunch>& launches)
      : nest_(nest), launches_(launches) {}

  NestSweeps run() {
    NestSweeps found;
    if (!nest_.facts.mixed.empty() || launches_.size() > most_launches) return found;
    found.point.resize(launches_.size());
    for (const NestLaunch& launch : launches_) {
      found.may_sweep.push_back(is_plain(launch));
      rows_.push_back({.loop = launch.loop, .point = {}});
    }
    for (std::size_t k = 0; k < launches_.size(); ++k)
      if (found.may_sweep[k]) find_point(found, k);
    found.distance.assign(launches_.size(), std::vector(launches_.size(), NestSweeps::unknown));
    for (std::size_t k = 0; k < launches_.size(); ++k)
      for (std::size_t l = 0; l < launches_.size(); ++l)
        if (found.may_sweep[k] && found.may_sweep[l]) found.distance[k][l] = distance(k, l);
    for (std::size_t k = 0; k < launches_.size(); ++k)
      found.may_sweep[k] = found.distance[k][k] != NestSweeps::unknown;
    if (std::ranges::count(found.may_sweep, true) == 0) return {};
    return found;
  }

 private:
  // What tells a launch's rows from one another: the index of its loop; or there is but one.
  struct Rows {
    const Instr* loop = nullptr;
    std::optional<Affine> point;
  };
  // factor * row + constant + rest, in which no loop has a part.
  struct RowForm {
    std::int64_t factor = 0;
    Affine rest;
  };

  // A border's launch runs along it, the others from border to border: to them its rows are one,
  // that of an index that is the same in all of its rounds.
  void find_point(NestSweeps& found, std::size_t k) {
    std::int64_t least = count_unknown(found, k);
    Rows best = rows_[k];
    for (std::int32_t number : launches_[k].accesses) {
      const NestAccess& access = nest_.accesses[at(number)];
      if (!access.is_store()) continue;
      for (const Affine& index : access.indices) {
        if (least == 0 || !nest_.is_fixed(index)) continue;
        rows_[k] = {.loop = nullptr, .point = index};
        const std::int64_t unknown = count_unknown(found, k);
        if (unknown >= least) continue;
        least = unknown;
        best = rows_[k];
      }
    }
    rows_[k] = best;
    found.point[k] = best.point;
  }
  std::int64_t count_unknown(const NestSweeps& found, std::size_t k) const {
    std::int64_t n = 0;
    for (std::size_t l = 0; l < launches_.size(); ++l)
      n += found.may_sweep[l] && distance(k, l) == NestSweeps::unknown;
    return n;
  }

  std::int64_t distance(std::size_t k, std::size_t l) const {
    std::int64_t most = 0;
    for (std::int32_t a : launches_[k].accesses)
      for (std::int32_t b : launches_[l].accesses) {
        const NestAccess &x = nest_.accesses[at(a)], &y = nest_.accesses[at(b)];
        if (x.array != y.array || !(x.is_store() || y.is_store())) continue;
        const std::int64_t own = distance(x, rows_[k], y, rows_[l]);
        if (own == NestSweeps::unknown || own > farthest) return NestSweeps::unknown;
        most = std::max(most, own);
      }
    return most;
  }

  // Two accesses meet only where all their indices are equal: one axis that says how far apart
  // their rows are is enough.
  std::int64_t distance(const NestAccess& x, const Rows& x_rows, const NestAccess& y,
                        const Rows& y_rows) const {
    std::int64_t least = NestSweeps::unknown;
    for (std::size_t axis = 0; axis < x.indices.size() && axis < y.indices.size(); ++axis) {
      const std::int64_t own =
          distance(row_form(x.indices[axis], x_rows), row_form(y.indices[axis], y_rows));
      if (own != NestSweeps::unknown && (least == NestSweeps::unknown || own < least)) least = own;
    }
    return least;
  }

  static std::int64_t distance(const std::optional<RowForm>& x, const std::optional<RowForm>& y) {
    if (!x || !y || x->factor != y->factor || x->rest.terms != y->rest.terms)
      return NestSweeps::unknown;
    const std::optional<Affine> apart = add(x->rest, y->rest, -1);
    if (!apart || apart->constant == INT64_MIN) return NestSweeps::unknown;
    // With a remainder they never meet.
    return std::abs(apart->constant) / std::abs(x->factor);
  }

  std::optional<RowForm> row_form(const Affine& index, const Rows& rows) const {
    RowForm form{.factor = 0, .rest = index};
    if (rows.point) {  // the row, and what is left
      std::optional<Affine> rest = add(index, *rows.point, -1);
      if (!rest || !nest_.is_fixed(*rest)) return std::nullopt;
      return RowForm{1, std::move(*rest)};
    }
    std::erase_if(form.rest.terms, [&](const auto& term) {
      if (term.first == rows.loop->result) form.factor = term.second;
      return term.first == rows.loop->result;
    });
    if (form.factor == 0 || !nest_.is_fixed(form.rest)) return std::nullopt;
    return form;
  }

  const Nest& nest_;
  const std::vector<NestLaunch>& launches_;
  std::vector<Rows> rows_;  // by launch
};

}  // namespace

NestSweeps find_sweeps(const Nest& nest, const std::vector<NestLaunch>& launches) {
  return SweepFinder(nest, launches).run();
}

namespace {

// The launches of a loop's round, if there is nothing else but values.
bool add_launches(const std::vector<NestStep>& steps, const Nest& nest,
                  std::vector<std::size_t>& launches) {
  return std::ranges::all_of(steps, [&](const NestStep& s) {
    if (s.kind == NestStep::Kind::Launch) launches.push_back(at(s.launch));
    const bool is_value = s.kind == NestStep::Kind::Compute && s.instr->kind != InstrKind::Store &&
                          (s.instr->kind != InstrKind::Load ||
                           !nest.written[at(nest.accesses[at(s.instr->number)].array)]);
    return is_value || s.kind == NestStep::Kind::Launch;
  });
}

void find_loops(const NestProgram& program, const std::vector<NestStep>& steps,
                std::vector<bool>& found) {
  const Nest& nest = *program.judged.nest;
  const NestSweeps& sweeps = program.sweeps;
  for (const NestStep& s : steps) {
    find_loops(program, s.body, found);
    find_loops(program, s.other, found);
    std::vector<std::size_t> launches;
    if (s.kind != NestStep::Kind::Loop || !add_launches(s.body, nest, launches)) continue;
    const bool all = std::ranges::all_of(launches, [&](std::size_t k) {
      return std::ranges::all_of(
          launches, [&](std::size_t l) { return sweeps.distance[k][l] != NestSweeps::unknown; });
    });
    const bool has_rows =
        std::ranges::any_of(launches, [&](std::size_t k) { return !sweeps.point[k].has_value(); });
    for (std::size_t k = 0; k < nest.loops.size(); ++k)
      if (nest.loops[k].instr == s.instr) found[k] = all && has_rows;
  }
}

}  // namespace

std::vector<bool> loops_in_sweeps(const NestProgram& program) {
  std::vector<bool> found(program.judged.nest->loops.size());
  if (program.sweeps.any()) find_loops(program, program.steps, found);
  return found;
}

}  // namespace frit
