// lower_rows.cpp: lowers Rows: a row in phases, loop, row step, loop, ..; or many short rows.
#include <algorithm>
#include <utility>

#include "ir/error.h"
#include "schedule/lower_reduce.h"

namespace frit {
namespace {

// Rows up to here are summed one after another (NumPy's n < 8).
constexpr std::int64_t short_row = 7;
constexpr std::int64_t short_row_any_order = 32;
// Rows up to here may be written out, element by element, where that is not too much code.
constexpr std::int64_t longest_written_out = 32;
constexpr std::int64_t most_written_out = 128;  // elements times members

class RowsBody final : public ReducingBody {
 public:
  explicit RowsBody(const Lowering& lowering) : ReducingBody(lowering) {}

  void lower() {
    std::vector<Axis> spine = kept_axes(), inner = reduced_axes();
    check(!spine.empty() && !inner.empty(), "rows have several elements, and there are several");
    allow_streaming();
    if (lanes_over_rows(spine, inner)) return short_rows(spine, inner);
    if (is_written_out(spine, inner)) return written_out(spine, inner[0]);
    open_flat(spine);
    for (int phase = 0; phase <= last_phase(); ++phase) {
      note_pass(phase == last_phase());
      row_loop(phase, inner);
      row_step(phase);
    }
    flush(rows_);
    close_flat();
    finish_launch();
  }

 private:
  // One pass over the row: values that a later pass needs are kept in scratch memory, unless they
  // are stored anyway.
  void row_loop(int phase, std::vector<Axis>& inner) {
    std::vector<Accumulator> accumulators = accumulators_of(phase);
    const bool empty =
        std::none_of(group_.members.begin(), group_.members.end(),
                     [&](const Member& m) { return m.phase == phase && m.level != Level::Row; });
    if (empty) return;
    for (Accumulator& a : accumulators) writer_.write_local(a.local, scalar(*a.member, 0));
    if (group_.ordered && group_.buffered) {
      BufferedAxes axes = buffered_axes();
      reduce_buffered(axes, accumulators);
    } else {
      for (std::size_t k = 0; k < inner.size(); ++k) open(inner[k], k + 1 == inner.size());
      point(phase, accumulators);
      end_of_row_body(phase, inner);
      close(reductions_of(accumulators));
      for (std::size_t k = 1; k < inner.size(); ++k) close();
      full_.clear();
    }
    for (Accumulator& a : accumulators) pending_.push_back(a);
  }

  void end_of_row_body(int phase, const std::vector<Axis>& inner) {
    for (Current& c : full_)
      if (c.written && !stored(c.window->slot) && needed_after(*c.window, phase))
        keep(*c.window, c.value, inner);
    flush(full_);
  }

  bool needed_after(const Window& w, int phase) const {
    for (const Member& m : group_.members)
      if (m.phase > phase && m.level != Level::Row)
        for (const Window& in : m.in)
          if (in.slot == w.slot && same(in, w)) return true;
    return false;
  }

  // The row of a window in scratch memory, dense over the inner axes.
  void keep(const Window& w, ValueId value, const std::vector<Axis>& inner) {
    std::erase_if(kept_, [&](const Kept& k) { return same(*k.window, w); });
    Kept row{.window = &w, .operand = -1, .strides = {}};
    std::int64_t elements = 1;
    for (std::size_t k = inner.size(); k-- > 0;) {
      row.strides.insert(row.strides.begin(), k + 1 == inner.size()
                                                  ? unit_stride
                                                  : add_integer(elements * size_of(w.dtype)));
      elements *= inner[k].extent;
    }
    row.operand = scratch(w.dtype, elements);
    writer_.store(kept_address(row), value);
    kept_.push_back(std::move(row));
  }

  void row_step(int phase) {
    for (const Member& m : group_.members) {
      if (m.phase != phase) continue;
      if (m.level == Level::Row) set(rows_, m.out, compute(m));
      if (m.level == Level::Reduce)
        for (const Accumulator& a : pending_)
          if (a.member == &m)
            set(rows_, m.out, writer_.cast(writer_.read_local(a.local), m.out.dtype));
    }
  }

  // Rows of a few elements: many rows at a time, one lane a row, each summed one element after
  // another.
  bool lanes_over_rows(const std::vector<Axis>& spine, const std::vector<Axis>& inner) const {
    if (last_phase() > 0 || spine[vector_axis(spine)].extent < shortest_vector) return false;
    std::int64_t row = 1;
    for (const Axis& a : inner) row *= a.extent;
    if (!group_.ordered) return row <= short_row_any_order;
    // The parts of complex numbers are added in one tree.
    const bool pairs =
        std::any_of(group_.members.begin(), group_.members.end(), [&](const Member& m) {
          return m.level == Level::Reduce && is_complex(type_of_reduction(m));
        });
    return row <= (pairs ? short_row / 2 : short_row) && inner.size() <= 1;
  }

  // The loops over rows, with vectors along one of them.
  struct RowLoops {
    std::vector<Axis> outer, behind;
    Axis lanes;
  };
  void open_rows(const std::vector<Axis>& spine, RowLoops& loops) {
    const auto at = spine.begin() + static_cast<std::ptrdiff_t>(vector_axis(spine));
    loops = {.outer = {spine.begin(), at}, .behind = {at + 1, spine.end()}, .lanes = *at};
    open_lanes(loops.outer, loops.lanes, 64);
    for (Axis& axis : loops.behind) open(axis, false);
  }
  void close_rows(const RowLoops& loops) {
    for (std::size_t k = 0; k < loops.behind.size(); ++k) close();
    close_lanes(loops.outer);
    finish_launch();
  }

  void short_rows(const std::vector<Axis>& spine, std::vector<Axis>& inner) {
    RowLoops loops;
    open_rows(spine, loops);
    std::vector<Accumulator> accumulators = accumulators_of(0);
    for (Accumulator& a : accumulators)
      writer_.write_local(a.local,
                          starts_from_initial(a) ? scalar(*a.member, 0) : neutral(*a.member));
    for (Axis& axis : inner) open(axis, false);
    point(0, accumulators);
    for (Accumulator& a : accumulators) combine_local(a.local, node_of(*a.member).op, a.value);
    flush(full_);
    for (std::size_t k = 0; k < inner.size(); ++k) close();
    full_.clear();
    for (Accumulator& a : accumulators) {
      pending_.push_back(a);
      if (starts_from_initial(a)) continue;
      // initial op (the row's reduction), as NumPy combines them
      const ValueId initial = scalar(*a.member, 0);
      const ValueId row = writer_.read_local(a.local);
      writer_.write_local(a.local,
                          writer_.apply(node_of(*a.member).op, writer_.type_of(row), initial, row));
    }
    row_step(0);
    flush(rows_);
    close_rows(loops);
  }

  // As short_rows, for rows in phases (softmax over a few classes), or in NumPy's tree: the row's
  // elements are values of their own, so nothing goes through memory from one phase to the next.
  bool is_written_out(const std::vector<Axis>& spine, const std::vector<Axis>& inner) const {
    if (inner.size() != 1 || spine[vector_axis(spine)].extent < shortest_vector) return false;
    const auto members = static_cast<std::int64_t>(group_.members.size());
    return inner[0].extent <= longest_written_out &&
           inner[0].extent * members <= most_written_out &&
           std::none_of(group_.members.begin(), group_.members.end(),
                        [&](const Member& m) { return node_of(m).kind == NodeKind::Routine; });
  }

  void written_out(const std::vector<Axis>& spine, Axis& inner) {
    RowLoops loops;
    open_rows(spine, loops);
    std::vector<std::vector<Current>> elements(static_cast<std::size_t>(inner.extent));
    const auto at_each_element = [&](auto&& run) {
      nest_.push_back(&inner);
      for (std::size_t j = 0; j < elements.size(); ++j) {
        inner.index = writer_.constant_int(static_cast<std::int64_t>(j));
        std::swap(full_, elements[j]);
        run();
        std::swap(full_, elements[j]);
      }
      nest_.pop_back();
    };
    for (int phase = 0; phase <= last_phase(); ++phase) {
      std::vector<Accumulator> accumulators;
      for (const Member& m : group_.members)
        if (m.level == Level::Reduce && m.phase == phase) accumulators.push_back({.member = &m});
      std::vector<std::vector<ValueId>> reduced(accumulators.size());
      at_each_element([&] {
        point(phase, accumulators);
        for (std::size_t k = 0; k < accumulators.size(); ++k)
          reduced[k].push_back(accumulators[k].value);
      });
      std::size_t next = 0;
      for (const Member& m : group_.members) {
        if (m.phase != phase) continue;
        if (m.level == Level::Row) set(rows_, m.out, compute(m));
        if (m.level == Level::Reduce) {
          set(rows_, m.out,
              writer_.cast(row_result(accumulators[next], reduced[next]), m.out.dtype));
          ++next;
        }
      }
    }
    share_cost(inner.extent);
    at_each_element([&] { flush(full_); });
    flush(rows_);
    close_rows(loops);
  }

  // The row's elements, reduced in NumPy's order, behind the initial value.
  ValueId row_result(const Accumulator& a, std::vector<ValueId> values) {
    const Op op = node_of(*a.member).op;
    const DType type = type_of_reduction(*a.member);
    const ValueId initial = scalar(*a.member, 0);
    const auto combined = [&](ValueId x, ValueId y) { return writer_.apply(op, type, x, y); };
    const auto in_order = [&](ValueId first, std::size_t from) {
      for (std::size_t k = from; k < values.size(); ++k) first = combined(first, values[k]);
      return first;
    };
    if (starts_from_initial(a)) return in_order(initial, 0);
    // Eight accumulators (four of complex numbers) in turn, added in pairs; then the rest.
    const std::size_t width = is_complex(type) ? 4 : 8;
    if (tree_class(op, type) == 0 || values.size() < width)
      return combined(initial, in_order(values[0], 1));
    const std::size_t turns = values.size() - values.size() % width;
    std::vector<ValueId> sums(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(width));
    for (std::size_t k = width; k < turns; ++k)
      sums[k % width] = combined(sums[k % width], values[k]);
    for (std::size_t distance = 1; distance < width; distance *= 2)
      for (std::size_t k = 0; k < width; k += 2 * distance)
        sums[k] = combined(sums[k], sums[k + distance]);
    return combined(initial, in_order(sums[0], turns));
  }

  std::vector<Accumulator> pending_;  // whose rows are done, and whose results are not yet used
};

}  // namespace

void lower_rows(const Lowering& lowering) { RowsBody(lowering).lower(); }

}  // namespace frit
