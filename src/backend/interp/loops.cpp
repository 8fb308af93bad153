// loops.cpp: loops and their reductions, in the order that kernel.h defines.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "backend/interp/kept_flags.h"
#include "backend/interp/machine.h"

namespace frit::interp {

// A loop with reductions that is being run. Each reduction has a carry, for what is combined in
// order, and one partial result for each level of the tree; serial loops also have the accumulators
// of a leaf.
struct Machine::Reducing {
  static constexpr int most_accumulators = 8;
  const Step& step;
  const LoopDetail& detail;
  std::int32_t first_step;
  std::int64_t begin;  // of the whole loop
  std::span<const ReductionDetail> reductions;
  std::byte* memory;
  std::int64_t part_bytes;  // of one partial result, with room to the next
  std::int64_t parts;       // a reduction

  std::byte* part(std::size_t reduction, std::int64_t number) const {
    return memory + (static_cast<std::int64_t>(reduction) * parts + number) * part_bytes;
  }
  std::byte* accumulator(std::size_t reduction, std::int64_t number) const {
    return part(reduction, number);
  }
  std::byte* carry(std::size_t reduction) const { return part(reduction, 0); }
  std::byte* level(std::size_t reduction, int depth) const {
    return part(reduction, most_accumulators + depth);
  }
  // The leaves of NumPy's tree add eight numbers at a time: four complex ones.
  std::int64_t accumulators() const {
    const DType dtype = detail_of_tree().tree_dtype;
    return is_complex(dtype) ? most_accumulators / 2 : most_accumulators;
  }
  bool has_tree() const { return detail.tree >= 0; }
  const ReductionDetail& detail_of_tree() const {
    return reductions[static_cast<std::size_t>(detail.tree - detail.first_reduction)];
  }
  std::int64_t split(std::int64_t n) const {
    return pairwise_split(detail_of_tree().tree_dtype, n);
  }
};

void Machine::loop(const Step& step, std::int32_t first) {
  const LoopDetail& detail = program_.loops[static_cast<std::size_t>(step.detail)];
  if (detail.vector)
    vector_loop(step, detail, first);
  else
    serial_loop(step, detail, first);
}

// ---- vector loops -------------------------------------------------------------------------------

void Machine::run_block(const Step& step, const LoopDetail& detail, std::int32_t first,
                        std::int64_t begin, std::int64_t lanes) {
  lane_ = begin;
  lanes_ = lanes;
  if (detail.index != no_register) {
    auto* const indices = reinterpret_cast<std::int64_t*>(reg(detail.index));
    count_up(indices, begin, lanes);
  }
  execute(first, step.end);
}

void Machine::vector_loop(const Step& step, const LoopDetail& detail, std::int32_t first) {
  const std::int64_t begin = detail.parallel ? begin_ : integer(detail.begin);
  const std::int64_t end = detail.parallel ? end_ : integer(detail.end);
  if (begin >= end) return;
  if (detail.reduction_count == 0) {
    for (std::int64_t lane = begin; lane < end; lane += program_.lanes)
      run_block(step, detail, first, lane, std::min<std::int64_t>(end - lane, program_.lanes));
    return;
  }
  if (short_reduction(step, detail, first, begin, end)) return;
  const Arena::Mark mark = arena_.mark();
  constexpr std::int64_t levels = 64;
  const auto count = static_cast<std::size_t>(detail.reduction_count);
  const Reducing loop{
      .step = step,
      .detail = detail,
      .first_step = first,
      .begin = begin,
      .reductions = {program_.reductions.data() + detail.first_reduction, count},
      .memory = arena_.take(count * (Reducing::most_accumulators + levels) * sizeof(Scalar::bytes)),
      .part_bytes = sizeof(Scalar::bytes),
      .parts = Reducing::most_accumulators + levels};
  read_carries(loop);
  if (loop.has_tree()) {
    reduce_lanes(loop, begin, end - begin, 0);
  } else {
    for (std::int64_t lane = begin; lane < end; lane += program_.lanes)
      reduce_block(loop, lane, std::min<std::int64_t>(end - lane, program_.lanes), 0);
  }
  for (std::size_t k = 0; k < count; ++k)
    write_reduced(loop.reductions[k], loop.reductions[k].order == ReductionOrder::Tree
                                          ? loop.level(k, 0)
                                          : loop.carry(k));
  arena_.release(mark);
}

// One reduction of no more than a block, as each row of a matrix is: nothing has to be kept.
bool Machine::short_reduction(const Step& step, const LoopDetail& detail, std::int32_t first,
                              std::int64_t begin, std::int64_t end) {
  const ReductionDetail& reduction =
      program_.reductions[static_cast<std::size_t>(detail.first_reduction)];
  if (detail.reduction_count != 1 || end - begin > program_.lanes || !reduces_at_once(reduction))
    return false;
  run_block(step, detail, first, begin, end - begin);
  reduce_block_at_once(reduction);
  return true;
}

bool Machine::reduces_at_once(const ReductionDetail& reduction) {
  return reduction.order != ReductionOrder::OneAfterAnother && !reduction.widen &&
         reduction.value_varies && !reduction.local_varies;
}

void Machine::reduce_block_at_once(const ReductionDetail& reduction) {
  alignas(16) std::byte reduced[16];
  reduction.reduce(reduced, reg(reduction.value), lanes_);
  write_reduced(reduction, reduced);
}

// Nodes of the tree that fit a block are run as one.
void Machine::reduce_lanes(const Reducing& loop, std::int64_t begin, std::int64_t n, int depth) {
  const std::int64_t left = n > program_.lanes ? loop.split(n) : 0;
  if (left == 0) return reduce_block(loop, begin, n, depth);
  reduce_lanes(loop, begin, left, depth);
  reduce_lanes(loop, begin + left, n - left, depth + 1);
  for (std::size_t k = 0; k < loop.reductions.size(); ++k)
    if (loop.reductions[k].order == ReductionOrder::Tree) {
      std::byte* const sum = loop.level(k, depth);
      void* const args[4] = {sum, sum, loop.level(k, depth + 1), nullptr};
      loop.reductions[k].combine_tree(args, 1, 0);
    }
}

void Machine::reduce_block(const Reducing& loop, std::int64_t begin, std::int64_t n, int depth) {
  run_block(loop.step, loop.detail, loop.first_step, begin, n);
  for (std::size_t k = 0; k < loop.reductions.size(); ++k) {
    const ReductionDetail& reduction = loop.reductions[k];
    if (reduction.order == ReductionOrder::Tree)
      add_lanes(reduction, loop.level(k, depth), true);
    else
      add_lanes(reduction, loop.carry(k), begin == loop.begin);
  }
}

// carry = the values of this block's lanes, behind what it holds already unless this is the first
// block.
void Machine::add_lanes(const ReductionDetail& reduction, std::byte* carry, bool first) {
  const std::byte* values = reg(reduction.value);
  if (!reduction.value_varies) {
    fill(temporaries_[0], values, lanes_, reduction.size);
    values = temporaries_[0];
  }
  if (reduction.widen) {
    void* const args[4] = {temporaries_[1], const_cast<std::byte*>(values), nullptr, nullptr};
    reduction.widen(args, lanes_, 0);
    values = temporaries_[1];
  }
  if (reduction.order == ReductionOrder::OneAfterAnother)
    return reduction.scan(temporaries_[2], values, carry, lanes_);
  if (first) return reduction.reduce(carry, values, lanes_);
  alignas(16) std::byte part[16];
  reduction.reduce(part, values, lanes_);
  void* const args[4] = {carry, carry, part, nullptr};
  reduction.combine(args, 1, 0);
}

// ---- serial loops -------------------------------------------------------------------------------

namespace {

// The bytes between the first and the last of what two axes of elements reach.
struct Span {
  struct Axis {
    std::int64_t extent, step;
  };
  const std::byte *low, *high;
  Span(const std::byte* first, std::array<Axis, 2> axes, std::int64_t size)
      : low(first), high(first + size) {
    for (const Axis& axis : axes) (axis.step < 0 ? low : high) += (axis.extent - 1) * axis.step;
  }
};

}  // namespace

// Whether a row is one block, whose lanes are then the machine's.
bool Machine::takes_row(const LoopDetail& row) {
  const std::int64_t lane = integer(row.begin), lanes = integer(row.end) - lane;
  if (lanes <= 0 || lanes > program_.lanes) return false;
  lane_ = lane;
  lanes_ = lanes;
  return true;
}

// A place in the first row, and how far from it that in the next one is.
template <class PlaceOfRow>
std::pair<Machine::Place, std::int64_t> Machine::over_rows(const LoopDetail& detail,
                                                           std::int64_t begin,
                                                           const PlaceOfRow& place) {
  Place places[2];
  for (std::int64_t next = 0; next < 2; ++next) {
    const std::int64_t index = begin + next;
    std::memcpy(reg(detail.index), &index, sizeof index);
    places[next] = place();
  }
  return {places[0], places[1].memory - places[0].memory};
}

// Rows of one block each that do nothing but load, compute and store elements side by side: their
// addresses advance by the same step from row to row, so they are computed twice, not for each row.
bool Machine::short_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                         std::int64_t begin, std::int64_t end) {
  struct Moving {
    std::byte* memory;
    std::int64_t step;
    // Move: what is loaded.
    const std::byte* from;
    std::int64_t from_step, from_stride;
  };
  constexpr std::int32_t most_steps = 8;
  const Step* const steps = program_.steps.data();
  const Step& rows = steps[first];
  const std::int32_t count = step.end - first - 1;
  if (rows.kind != StepKind::Loop || rows.end != step.end || count > most_steps || places_)
    return false;
  const LoopDetail& row = program_.loops[static_cast<std::size_t>(rows.detail)];
  if (!row.vector || row.parallel || row.reduction_count > 0 || row.index != no_register ||
      row.begin == detail.index || row.end == detail.index)
    return false;
  if (!takes_row(row)) return false;
  Moving moving[most_steps] = {};
  for (std::int32_t k = 0; k < count; ++k) {
    const Step& s = steps[first + 1 + k];
    if (s.kind == StepKind::Apply) continue;
    const bool is_move = s.kind == StepKind::Move;
    if ((s.kind != StepKind::Load && s.kind != StepKind::ApplyStore && s.kind != StepKind::Store &&
         !is_move) ||
        s.hazard_count > 0)
      return false;
    const auto [to, to_step] =
        over_rows(detail, begin, [&] { return lane_place(s, is_move ? s.detail : s.access); });
    if (to.stride != s.size) return false;
    moving[k].memory = to.memory;
    moving[k].step = to_step;
    if (!is_move) continue;
    const auto [from, from_step] = over_rows(detail, begin, [&] { return lane_place(s); });
    moving[k].from = from.memory;
    moving[k].from_step = from_step;
    moving[k].from_stride = from.stride;
    const Span written(to.memory, {{{end - begin, to_step}, {lanes_, s.size}}}, s.size);
    const Span read(from.memory, {{{end - begin, from_step}, {lanes_, from.stride}}}, s.size);
    if (read.low < written.high && written.low < read.high) return false;
  }
  for (std::int64_t index = begin; index < end; ++index) {
    look_for_stop();
    std::memcpy(reg(detail.index), &index, sizeof index);
    for (std::int32_t k = 0; k < count; ++k) {
      const Step& s = steps[first + 1 + k];
      std::byte* const memory = moving[k].memory;
      if (s.kind == StepKind::Load) {
        reg(s.out) = memory;
      } else if (s.kind == StepKind::Store) {
        copy_out({memory, s.size}, reg(s.in[0]), s.splat ? 0 : s.size, s.size);
      } else if (s.kind == StepKind::Move) {
        copy_strided(memory, s.size, moving[k].from, moving[k].from_stride, lanes_, s.size);
        moving[k].from += moving[k].from_step;
      } else {
        apply(s, s.kind == StepKind::Apply ? reg(s.out) : memory);
      }
      moving[k].memory = memory + moving[k].step;
    }
  }
  return true;
}

// Rows of one block each that are reduced to a number, as `short_reduction` does it, which is
// stored: here, too, addresses are computed twice.
bool Machine::reduced_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                           std::int64_t begin, std::int64_t end) {
  struct Moving {
    std::byte* memory;
    std::int64_t step, stride;
  };
  constexpr std::int32_t most_steps = 16, least_rows = 4;
  const std::span<const Step> body(program_.steps.data() + first, program_.steps.data() + step.end);
  if (body.size() > most_steps || end - begin < least_rows || places_) return false;
  const auto row_loop = std::ranges::find(body, StepKind::Loop, &Step::kind);
  if (row_loop == body.end()) return false;
  const LoopDetail& row = program_.loops[static_cast<std::size_t>(row_loop->detail)];
  if (!row.vector || row.parallel || row.reduction_count != 1 || row.index != no_register)
    return false;
  const ReductionDetail& reduction =
      program_.reductions[static_cast<std::size_t>(row.first_reduction)];
  if (!reduces_at_once(reduction)) return false;
  const auto is_made_here = [&](Register number) {
    return number == detail.index ||
           std::ranges::any_of(body, [&](const Step& s) { return s.out == number; });
  };
  if (is_made_here(row.begin) || is_made_here(row.end)) return false;
  if (!takes_row(row)) return false;
  const auto row_begin = static_cast<std::size_t>(row_loop - body.begin()) + 1,
             row_end = static_cast<std::size_t>(row_loop->end - first);
  Moving moving[most_steps] = {};
  for (std::size_t k = 0; k < body.size(); ++k) {
    const Step& s = body[k];
    const bool is_in_row = k >= row_begin && k < row_end;
    if (k + 1 == row_begin || s.kind == (is_in_row ? StepKind::Apply : StepKind::ApplyOnce) ||
        (!is_in_row && s.kind == StepKind::CopyOnce))
      continue;
    if (s.kind != (is_in_row ? StepKind::Load : StepKind::StoreOnce) || s.hazard_count > 0)
      return false;
    const Access& access = program_.accesses[static_cast<std::size_t>(s.access)];
    for (std::int32_t t = 0; t < access.uniform_terms; ++t) {
      const Register index = program_.terms[static_cast<std::size_t>(access.first_term + t)].index;
      if (index != detail.index && is_made_here(index)) return false;
    }
    const auto [place, step_of_row] = over_rows(detail, begin, [&] {
      return is_in_row ? lane_place(s) : Place{.memory = uniform_address(s), .stride = s.size};
    });
    moving[k] = {place.memory, step_of_row, place.stride};
  }
  for (std::int64_t index = begin; index < end; ++index) {
    look_for_stop();
    std::memcpy(reg(detail.index), &index, sizeof index);
    for (std::size_t k = 0; k < body.size(); ++k) {
      const Step& s = body[k];
      std::byte* const memory = moving[k].memory;
      moving[k].memory += moving[k].step;
      if (s.kind == StepKind::Load) {
        load_from({memory, moving[k].stride}, s);
      } else if (s.kind == StepKind::Apply) {
        apply(s, reg(s.out));
      } else if (s.kind == StepKind::StoreOnce) {
        std::memcpy(memory, reg(s.in[0]), s.size);
      } else if (s.kind == StepKind::CopyOnce) {
        std::memcpy(reg(s.out), reg(s.in[0]), s.size);
      } else if (s.kind == StepKind::ApplyOnce) {
        void* const args[4] = {reg(s.out), reg(s.in[0]), reg(s.in[1]), reg(s.in[2])};
        const KeptFlags flags(s.is_silent);
        s.function(args, 1, 0);
      }
      if (k + 1 == row_end) reduce_block_at_once(reduction);
    }
  }
  return true;
}

// Rows of an array onto a row of sums, four in each iteration, which differ by as much as these do
// among one another.
bool Machine::added_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                         std::int64_t begin, std::int64_t end) {
  const Step* const steps = program_.steps.data();
  const std::int32_t last = step.end - 1;
  std::int32_t row_loop = first;
  while (row_loop < last && (steps[row_loop].kind == StepKind::AddIntegers ||
                             steps[row_loop].kind == StepKind::MultiplyIntegers))
    ++row_loop;
  // The sums and four rows are loaded.
  if (last - row_loop != chain_length + 2 || steps[row_loop].kind != StepKind::Loop ||
      steps[last].kind != StepKind::ApplyChain || end - begin < 2)
    return false;
  const LoopDetail& row = program_.loops[static_cast<std::size_t>(steps[row_loop].detail)];
  if (!row.vector || row.parallel || row.reduction_count > 0 || row.index != no_register ||
      row.begin == detail.index || row.end == detail.index || steps[last].hazard_count > 0)
    return false;
  const Chain& chain = program_.chains[static_cast<std::size_t>(steps[last].detail)];
  for (std::int32_t k = first; k < row_loop; ++k)
    if (steps[k].out == row.begin || steps[k].out == row.end) return false;
  std::byte *rows[2][chain_length] = {}, *loaded[2] = {}, *sums[2] = {};
  for (std::int64_t next = 0; next < 2; ++next) {
    const std::int64_t index = begin + next;
    std::memcpy(reg(detail.index), &index, sizeof index);
    execute(first, row_loop);
    lane_ = integer(row.begin);
    for (std::int32_t k = row_loop + 1; k < last; ++k) {
      if (steps[k].kind != StepKind::Load) return false;
      const Place place = lane_place(steps[k]);
      if (place.stride != steps[k].size) return false;
      if (steps[k].out == steps[last].in[0]) loaded[next] = place.memory;
      for (int r = 0; r < chain_length; ++r)
        if (steps[k].out == chain.rows[r]) rows[next][r] = place.memory;
    }
    sums[next] = lane_place(steps[last]).memory;
  }
  const ChainStart start = loaded[0] == sums[0] ? ChainStart::Sum : ChainStart::Row;
  if (start == ChainStart::Row)
    for (int next = 0; next < 2; ++next) std::swap(loaded[next], rows[next][0]);
  const std::int64_t stride = rows[0][1] - rows[0][0];
  for (int r = 1; r < chain_length; ++r)
    if (rows[0][r] - rows[0][r - 1] != stride) return false;
  if (loaded[0] != sums[0] || loaded[1] != sums[0] || sums[1] != sums[0] ||
      rows[1][0] - rows[0][0] != chain_length * stride)
    return false;
  const std::int64_t lanes = integer(row.end) - integer(row.begin), size = steps[last].size;
  const Span read(rows[0][0], {{{chain_length * (end - begin), stride}, {lanes, size}}}, size);
  if (read.low < sums[0] + lanes * size && sums[0] < read.high) return false;
  constexpr std::int64_t at_once = 1 << 16;  // rows between two looks whether to stop
  for (std::int64_t index = begin; index < end; index += at_once) {
    look_for_stop();
    chain.loops.add_rows(sums[0], rows[0][0] + (index - begin) * chain_length * stride, stride,
                         std::min(at_once, end - index), lanes, start);
  }
  return true;
}

// Rows of a copy into another order: what stands side by side is neighbours of one row there, and
// one from each row here. By tiles, of which each line of either side is used while it is near.
bool Machine::turned_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                          std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t tile = 16;
  const Step* const steps = program_.steps.data();
  if (step.end - first != 2 || end - begin < tile) return false;
  const Step &rows = steps[first], &move = steps[first + 1];
  if (rows.kind != StepKind::Loop || move.kind != StepKind::Move) return false;
  const LoopDetail& row = program_.loops[static_cast<std::size_t>(rows.detail)];
  if (!row.vector || row.parallel || row.reduction_count > 0 || row.index != no_register ||
      row.begin == detail.index || row.end == detail.index)
    return false;
  lane_ = integer(row.begin);
  const std::int64_t lanes = integer(row.end) - lane_;
  Place from[2], to[2];
  for (std::int64_t next = 0; next < 2; ++next) {
    const std::int64_t index = begin + next;
    std::memcpy(reg(detail.index), &index, sizeof index);
    from[next] = lane_place(move);
    to[next] = lane_place(move, move.detail);
  }
  const std::int64_t size = move.size;
  if (from[1].memory - from[0].memory != size || to[0].stride != size ||
      std::abs(from[0].stride) <= size)
    return false;
  const std::int64_t to_step = to[1].memory - to[0].memory;
  // Where one row writes what another one reads their order counts.
  const std::int64_t count = end - begin;
  const Span read(from[0].memory, {{{count, size}, {lanes, from[0].stride}}}, size);
  const Span written(to[0].memory, {{{count, to_step}, {lanes, size}}}, size);
  if (read.low < written.high && written.low < read.high) return false;
  for (std::int64_t index = begin; index < end; index += tile) {
    look_for_stop();
    const std::int64_t now = std::min(tile, end - index);
    turn(to[0].memory + (index - begin) * to_step, to_step, from[0].memory + (index - begin) * size,
         from[0].stride, {now, lanes}, move.size);
  }
  return true;
}

void Machine::serial_loop(const Step& step, const LoopDetail& detail, std::int32_t first) {
  const std::int64_t begin = detail.parallel ? begin_ : integer(detail.begin);
  const std::int64_t end = detail.parallel ? end_ : integer(detail.end);
  if (begin >= end) return;
  if (detail.reduction_count == 0) {
    if (turned_rows(step, detail, first, begin, end) ||
        added_rows(step, detail, first, begin, end) ||
        short_rows(step, detail, first, begin, end) ||
        reduced_rows(step, detail, first, begin, end))
      return;
    for (std::int64_t index = begin; index < end; ++index) {
      look_for_stop();
      std::memcpy(reg(detail.index), &index, sizeof index);
      execute(first, step.end);
      if (std::exchange(is_ended_, false)) break;
    }
    return;
  }
  const Arena::Mark mark = arena_.mark();
  const auto count = static_cast<std::size_t>(detail.reduction_count);
  Reducing loop{.step = step,
                .detail = detail,
                .first_step = first,
                .begin = begin,
                .reductions = {program_.reductions.data() + detail.first_reduction, count},
                .memory = nullptr,
                .part_bytes = (lanes_ * 16 + 63) & ~std::int64_t{63},
                .parts = Reducing::most_accumulators + 1};
  if (loop.has_tree())
    for (std::int64_t n = end - begin, left = 0; (left = loop.split(n)) > 0; n -= left)
      ++loop.parts;
  loop.memory = arena_.take(count * static_cast<std::size_t>(loop.parts * loop.part_bytes));
  read_carries(loop);
  reduce_iterations(loop, begin, end - begin, 0);
  for (std::size_t k = 0; k < count; ++k)
    write_reduced(loop.reductions[k], loop.reductions[k].order == ReductionOrder::Tree
                                          ? loop.level(k, 0)
                                          : loop.carry(k));
  arena_.release(mark);
}

void Machine::reduce_iterations(const Reducing& loop, std::int64_t begin, std::int64_t n,
                                int depth) {
  const std::int64_t left = loop.has_tree() ? loop.split(n) : 0;
  if (left == 0) return reduce_leaf(loop, begin, n, depth);
  reduce_iterations(loop, begin, left, depth);
  reduce_iterations(loop, begin + left, n - left, depth + 1);
  for (std::size_t k = 0; k < loop.reductions.size(); ++k)
    if (loop.reductions[k].order == ReductionOrder::Tree)
      add_partial(loop.reductions[k], loop.level(k, depth), loop.level(k, depth + 1));
}

// A leaf of NumPy's tree: eight accumulators in turn, added in pairs, then the rest one after
// another.
void Machine::reduce_leaf(const Reducing& loop, std::int64_t begin, std::int64_t n, int depth) {
  const std::int64_t width = loop.has_tree() ? loop.accumulators() : 1;
  const std::int64_t turns = n < width ? 0 : n - n % width;
  for (std::int64_t i = 0; i < n; ++i) {
    look_for_stop();
    const std::int64_t index = begin + i;
    std::memcpy(reg(loop.detail.index), &index, sizeof index);
    execute(loop.first_step, loop.step.end);
    for (std::size_t k = 0; k < loop.reductions.size(); ++k) {
      const ReductionDetail& reduction = loop.reductions[k];
      if (reduction.order == ReductionOrder::OneAfterAnother) {
        add_in_order(reduction, loop.carry(k));
      } else if (reduction.order == ReductionOrder::Any) {
        add_iteration(reduction, loop.carry(k), index == loop.begin);
      } else if (i < turns) {
        add_iteration(reduction, loop.accumulator(k, i % width), i < width);
        if (i == turns - 1) add_accumulators(loop, k, width, depth);
      } else {
        add_iteration(reduction, loop.level(k, depth), i == 0);
      }
    }
  }
}

// level = ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))
void Machine::add_accumulators(const Reducing& loop, std::size_t number, std::int64_t width,
                               int depth) {
  const ReductionDetail& reduction = loop.reductions[number];
  for (std::int64_t distance = 1; distance < width; distance *= 2)
    for (std::int64_t k = 0; k < width; k += 2 * distance)
      add_partial(reduction, loop.accumulator(number, k), loop.accumulator(number, k + distance));
  std::memcpy(loop.level(number, depth), loop.accumulator(number, 0),
              static_cast<std::size_t>(width_of(reduction) * reduction.tree_size));
}

void Machine::add_partial(const ReductionDetail& reduction, std::byte* into, std::byte* from) {
  void* const args[4] = {into, into, from, nullptr};
  reduction.combine_tree(args, width_of(reduction), 0);
}

// into = into op this iteration's value
void Machine::add_iteration(const ReductionDetail& reduction, std::byte* into, bool first) {
  const std::int64_t width = width_of(reduction);
  std::byte* values = reg(reduction.value);
  if (reduction.widen) {
    void* const args[4] = {first ? into : temporaries_[1], values, nullptr, nullptr};
    reduction.widen(args, width, 0);
    values = temporaries_[1];
    if (first) return;
  }
  if (first) {
    std::memcpy(into, values, static_cast<std::size_t>(width * reduction.size));
    return;
  }
  void* const args[4] = {into, into, values, nullptr};
  reduction.combine_tree(args, width, 0);
}

// carry = carry op this iteration's value, for each lane of the local
void Machine::add_in_order(const ReductionDetail& reduction, std::byte* carry) {
  void* const args[4] = {carry, carry, reg(reduction.value), nullptr};
  reduction.combine(args, width_of_local(reduction), reduction.value_varies ? 0 : 2);
}

// ---- both ---------------------------------------------------------------------------------------

// What is combined one after another begins with the local.
void Machine::read_carries(const Reducing& loop) {
  for (std::size_t k = 0; k < loop.reductions.size(); ++k) {
    const ReductionDetail& reduction = loop.reductions[k];
    if (reduction.order == ReductionOrder::OneAfterAnother)
      std::memcpy(loop.carry(k), reg(reduction.local),
                  static_cast<std::size_t>(width_of_local(reduction) * reduction.size));
  }
}

// local = op(local, reduced); or, one after another, what it has become.
void Machine::write_reduced(const ReductionDetail& reduction, std::byte* reduced) {
  if (reduction.order == ReductionOrder::OneAfterAnother) {
    std::memcpy(reg(reduction.local), reduced,
                static_cast<std::size_t>(width_of_local(reduction) * reduction.size));
    return;
  }
  const bool one_value = !reduction.value_varies || !reduction.local_varies;
  if (reduction.narrow) {
    void* const args[4] = {temporaries_[2], reduced, nullptr, nullptr};
    reduction.narrow(args, one_value ? 1 : lanes_, 0);
    reduced = temporaries_[2];
  }
  std::byte* const local = reg(reduction.local);
  if (!reduction.local_varies) {
    void* const args[4] = {local, local, reduced, nullptr};
    return reduction.combine(args, 1, 0);
  }
  void* const args[4] = {local, local, reduced, nullptr};
  reduction.combine(args, lanes_, one_value ? 2 : 0);
}

}  // namespace frit::interp
