// lower_columns.cpp: lowers Columns: rows are added in order into a row of accumulators, by blocks.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "schedule/lower_reduce.h"

namespace frit {
namespace {

// Elements of an accumulator row. A processor fetches ahead within a page, so the longer a block's
// part of each row the better, as long as its sums stay in the caches.
constexpr std::int64_t shortest_block = 256, longest_block = 2048;
constexpr std::int64_t few_columns = 4;  // columns that have a local each
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
    column_ = kept.back();
    kept.pop_back();
    const std::int64_t column_block = block_for(kept, column_.extent);
    const std::int64_t blocks = (column_.extent + column_block - 1) / column_block;
    Axis block{.members = {}, .extent = blocks};
    kept.push_back(block);
    open_flat(kept);
    const ValueId size = writer_.constant_int(column_block);
    begin_ = writer_.apply(Op::Multiply, DType::Int64, kept.back().index, size);
    const ValueId bound = plus(begin_, size);
    end_ = writer_.apply(Op::Minimum, DType::Int64, bound, integer_value(column_.extent));
    nest_.pop_back();  // the block itself is no axis of any window
    accumulators_ = accumulators_of(0);
    for (const Accumulator& a : accumulators_) {
      const DType type = type_of_reduction(*a.member);
      rows_.push_back(scratch(type, column_block));
      shifts_.push_back(add_integer(-size_of(type)));
    }
    over_columns([&] {
      for (std::size_t k = 0; k < rows_.size(); ++k)
        writer_.store(sum_at(k), scalar(*accumulators_[k].member, 0));
    });
    add_all(serial);
    over_columns([&] {
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        const Member& m = *accumulators_[k].member;
        if (stored(m.out.slot))
          writer_.store(address(m.out, MemoryAccess::Write),
                        writer_.cast(writer_.load(sum_at(k)), m.out.dtype));
      }
    });
    writer_.close_loop();
    nest_.clear();
    finish_launch();
  }

 private:
  // A block for each thread, unless the axes around give them enough to do. A power of two: few
  // extents have kernels of their own.
  std::int64_t block_for(const std::vector<Axis>& outer, std::int64_t columns) const {
    std::int64_t threads = segment_.threads;
    for (const Axis& axis : outer) threads = (threads + axis.extent - 1) / axis.extent;
    const auto each = static_cast<std::uint64_t>((columns + threads - 1) / threads);
    return std::clamp(static_cast<std::int64_t>(std::bit_ceil(each)), shortest_block,
                      longest_block);
  }
  ValueId plus(ValueId x, ValueId y) { return writer_.apply(Op::Add, DType::Int64, x, y); }
  Address sum_at(std::size_t k) const {
    return {.operand = rows_[k], .terms = {{column_.index, unit_stride}, {begin_, shifts_[k]}}};
  }
  template <class Write>
  void over_columns(Write&& write) {
    column_.lanes = true;
    column_.index = writer_.open_loop(begin_, end_, true);
    nest_.push_back(&column_);
    write();
    close();
  }

  // Every row to the sums of the block's columns, in order.
  void add_all(std::vector<Axis>& serial) {
    if (serial.empty()) return add_rows(nullptr, {no_value});
    Axis& last = serial.back();
    for (std::size_t k = 0; k + 1 < serial.size(); ++k) open(serial[k], false);
    nest_.push_back(&last);
    const std::int64_t together =
        group_.members.size() <= short_body ? last.extent / rows_at_once * rows_at_once : 0;
    if (together > 0) {
      const ValueId four =
          writer_.open_loop(writer_.constant_int(0), integer_value(together / rows_at_once), false);
      std::vector<ValueId> numbers{
          writer_.apply(Op::Multiply, DType::Int64, four, writer_.constant_int(rows_at_once))};
      for (std::int64_t k = 1; k < rows_at_once; ++k)
        numbers.push_back(plus(numbers[0], writer_.constant_int(k)));
      add_rows(&last, numbers);
      writer_.close_loop();
    }
    add_rows(&last,
             {writer_.open_loop(integer_value(together), integer_value(last.extent), false)});
    writer_.close_loop();
    nest_.pop_back();
    share_cost(together > 0 ? rows_at_once + 1 : 1);
    for (std::size_t k = 0; k + 1 < serial.size(); ++k) close();
  }

  // One pass over the sums adds the rows with these numbers of an axis; null: there is one row.
  void add_rows(Axis* axis, const std::vector<ValueId>& numbers) {
    over_columns([&] {
      std::vector<ValueId> sums;
      for (const ValueId number : numbers) {
        if (axis) axis->index = number;
        point(0, accumulators_);
        if (sums.empty())
          for (std::size_t k = 0; k < rows_.size(); ++k) sums.push_back(writer_.load(sum_at(k)));
        for (std::size_t k = 0; k < rows_.size(); ++k)
          sums[k] = writer_.apply(node_of(*accumulators_[k].member).op, writer_.type_of(sums[k]),
                                  sums[k], accumulators_[k].value);
        flush(full_);
        full_.clear();
      }
      for (std::size_t k = 0; k < rows_.size(); ++k) writer_.store(sum_at(k), sums[k]);
    });
  }

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

  Axis column_;
  ValueId begin_ = no_value, end_ = no_value;  // of the block's columns
  std::vector<Accumulator> accumulators_;
  std::vector<std::int32_t> rows_, shifts_;  // of each: scratch memory, and its address's stride
};

}  // namespace

void lower_columns(const Lowering& lowering) { ColumnsBody(lowering).lower(); }

}  // namespace frit
