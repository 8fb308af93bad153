// lower_columns.cpp: lowers Columns: rows are added in order into a row of accumulators, by blocks.
#include <algorithm>
#include <cstdint>

#include "schedule/lower_reduce.h"

namespace frit {
namespace {

constexpr std::int64_t column_block = 512;  // elements of an accumulator row
constexpr std::int64_t few_columns = 4;     // columns that have a local each
// Rows that are added in one pass over the accumulators, if the body is short: they are loaded and
// stored as many times less, and as many rows are on their way from memory.
constexpr std::int64_t rows_at_once = 4;
constexpr std::size_t short_body = 8;  // members

class ColumnsBody final : public ReducingBody {
 public:
  explicit ColumnsBody(const Lowering& lowering) : ReducingBody(lowering) {}

  void lower() {
    std::vector<Axis> kept = kept_axes(), serial;
    for (int axis : group_.order)
      if (is_reduced(axis)) serial.push_back({.members = {axis}, .extent = extent_of(axis)});
    if (!group_.ordered) serial = reduced_axes();
    if (kept.size() > 1 && kept.back().extent <= few_columns) return short_columns(kept, serial);
    Axis column = kept.back();
    kept.pop_back();
    const std::int64_t blocks = (column.extent + column_block - 1) / column_block;
    Axis block{.members = {}, .extent = blocks};
    kept.push_back(block);
    open_flat(kept);
    const ValueId size = writer_.constant_int(column_block);
    const ValueId begin = writer_.apply(Op::Multiply, DType::Int64, kept.back().index, size);
    const ValueId bound = writer_.apply(Op::Add, DType::Int64, begin, size);
    const ValueId end =
        writer_.apply(Op::Minimum, DType::Int64, bound, integer_value(column.extent));
    nest_.pop_back();  // the block itself is no axis of any window
    std::vector<Accumulator> accumulators = accumulators_of(0);
    std::vector<std::int32_t> rows, shifts;
    for (const Accumulator& a : accumulators) {
      const DType type = type_of_reduction(*a.member);
      rows.push_back(scratch(type, column_block));
      shifts.push_back(add_integer(-size_of(type)));
    }
    const auto in_row = [&](std::size_t k) {
      return Address{.operand = rows[k],
                     .terms = {{column.index, unit_stride}, {begin, shifts[k]}}};
    };
    const auto over_columns = [&](auto&& write) {
      column.lanes = true;
      column.index = writer_.open_loop(begin, end, true);
      nest_.push_back(&column);
      write();
      close();
    };
    over_columns([&] {
      for (std::size_t k = 0; k < rows.size(); ++k)
        writer_.store(in_row(k), scalar(*accumulators[k].member, 0));
    });
    // One pass over the accumulators adds the rows of these numbers.
    const auto add_rows = [&](std::initializer_list<ValueId> numbers) {
      over_columns([&] {
        std::vector<ValueId> sums;
        for (const ValueId number : numbers) {
          if (!serial.empty()) serial.back().index = number;
          point(0, accumulators);
          if (sums.empty())
            for (std::size_t k = 0; k < rows.size(); ++k) sums.push_back(writer_.load(in_row(k)));
          for (std::size_t k = 0; k < rows.size(); ++k)
            sums[k] = writer_.apply(node_of(*accumulators[k].member).op, writer_.type_of(sums[k]),
                                    sums[k], accumulators[k].value);
          flush(full_);
          full_.clear();
        }
        for (std::size_t k = 0; k < rows.size(); ++k) writer_.store(in_row(k), sums[k]);
      });
    };
    for (std::size_t k = 0; k + 1 < serial.size(); ++k) open(serial[k], false);
    if (serial.empty()) {
      add_rows({no_value});
    } else {
      Axis& last = serial.back();
      const std::int64_t together =
          group_.members.size() <= short_body ? last.extent / rows_at_once * rows_at_once : 0;
      const auto plus = [&](ValueId x, std::int64_t y) {
        return writer_.apply(Op::Add, DType::Int64, x, writer_.constant_int(y));
      };
      nest_.push_back(&last);
      if (together > 0) {
        const ValueId four = writer_.open_loop(writer_.constant_int(0),
                                               integer_value(together / rows_at_once), false);
        const ValueId first =
            writer_.apply(Op::Multiply, DType::Int64, four, writer_.constant_int(rows_at_once));
        add_rows({first, plus(first, 1), plus(first, 2), plus(first, 3)});
        writer_.close_loop();
      }
      add_rows({writer_.open_loop(integer_value(together), integer_value(last.extent), false)});
      writer_.close_loop();
      nest_.pop_back();
      share_cost(together > 0 ? rows_at_once + 1 : 1);
    }
    for (std::size_t k = 0; k + 1 < serial.size(); ++k) close();
    over_columns([&] {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const Member& m = *accumulators[k].member;
        if (stored(m.out.slot))
          writer_.store(address(m.out, MemoryAccess::Write),
                        writer_.cast(writer_.load(in_row(k)), m.out.dtype));
      }
    });
    writer_.close_loop();
    nest_.clear();
    finish_launch();
  }

 private:
  // A few columns (the coordinates of points): lanes run along the longest other axis, and each
  // column has its own local.
  void short_columns(std::vector<Axis>& kept, std::vector<Axis>& serial) {
    Axis column = kept.back();
    kept.pop_back();
    const auto longest = std::max_element(
        kept.begin(), kept.end(), [](const Axis& a, const Axis& b) { return a.extent < b.extent; });
    std::rotate(longest, longest + 1, kept.end());
    std::vector<Axis> outer(kept.begin(), kept.end() - 1);
    Axis& lanes = kept.back();
    open_lanes(outer, lanes, 16);
    std::vector<std::vector<Accumulator>> columns;
    for (std::int64_t j = 0; j < column.extent; ++j) {
      columns.push_back(accumulators_of(0));
      for (Accumulator& a : columns.back()) writer_.write_local(a.local, scalar(*a.member, 0));
    }
    for (Axis& axis : serial) open(axis, false);
    nest_.push_back(&column);
    for (std::int64_t j = 0; j < column.extent; ++j) {
      column.index = writer_.constant_int(j);
      std::vector<Accumulator>& accumulators = columns[static_cast<std::size_t>(j)];
      point(0, accumulators);
      for (Accumulator& a : accumulators) combine_local(a.local, node_of(*a.member).op, a.value);
      flush(full_);
      full_.clear();
    }
    share_cost(column.extent);
    nest_.pop_back();
    for (std::size_t k = 0; k < serial.size(); ++k) close();
    nest_.push_back(&column);
    for (std::int64_t j = 0; j < column.extent; ++j) {
      column.index = writer_.constant_int(j);
      for (const Accumulator& a : columns[static_cast<std::size_t>(j)])
        if (stored(a.member->out.slot))
          writer_.store(address(a.member->out, MemoryAccess::Write),
                        writer_.cast(writer_.read_local(a.local), a.member->out.dtype));
    }
    nest_.pop_back();
    close_lanes(outer);
    finish_launch();
  }
};

}  // namespace

void lower_columns(const Lowering& lowering) { ColumnsBody(lowering).lower(); }

}  // namespace frit
