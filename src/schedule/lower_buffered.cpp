// lower_buffered.cpp: reductions of what NumPy copies to a buffer first, in scratch memory.
#include <algorithm>

#include "schedule/lower_reduce.h"

namespace frit {

ReducingBody::BufferedAxes ReducingBody::buffered_axes() const {
  BufferedAxes axes;
  for (int axis : group_.order)
    if (is_reduced(axis) &&
        std::find(group_.tree.begin(), group_.tree.end(), axis) == group_.tree.end())
      axes.outer.push_back({.members = {axis}, .extent = extent_of(axis)});
  const std::size_t first = std::max<std::size_t>(group_.chunked.size(), 1);
  const auto rest = group_.tree.begin() + static_cast<std::ptrdiff_t>(first);
  axes.rows.members.assign(group_.tree.begin(), rest);
  for (int axis : axes.rows.members) axes.rows.extent *= extent_of(axis);
  axes.inner = merge({rest, group_.tree.end()});
  for (const Axis& axis : axes.inner) axes.core *= axis.extent;
  axes.rows_at_once = group_.chunk ? group_.chunk / axes.core : axes.rows.extent;
  return axes;
}

void ReducingBody::reduce_chunk(BufferedAxes& axes, ValueId chunk,
                                std::vector<Accumulator>& accumulators) {
  const ValueId size = integer_value(axes.rows_at_once);
  const ValueId begin = writer_.apply(Op::Multiply, DType::Int64, chunk, size);
  const ValueId bound = writer_.apply(Op::Add, DType::Int64, begin, size);
  const ValueId end =
      writer_.apply(Op::Minimum, DType::Int64, bound, integer_value(axes.rows.extent));
  // To the buffer; a single run of elements needs none.
  const bool direct = axes.inner.empty();
  axes.rows.lanes = direct;
  axes.rows.index = writer_.open_loop(begin, end, direct);
  nest_.push_back(&axes.rows);
  for (std::size_t k = 0; k < axes.inner.size(); ++k)
    open(axes.inner[k], k + 1 == axes.inner.size());
  point(0, accumulators);
  std::vector<std::int32_t> buffers;
  for (const Accumulator& a : accumulators) {
    if (direct) break;
    const std::int64_t row = axes.core * size_of(type_of_reduction(*a.member));
    buffers.push_back(scratch(type_of_reduction(*a.member), axes.rows_at_once * axes.core));
    Address to{.operand = buffers.back(),
               .terms = {{axes.rows.index, add_integer(row)}, {begin, add_integer(-row)}}};
    std::int64_t stride = row;
    for (const Axis& axis : axes.inner) {
      stride /= axis.extent;
      to.terms.push_back({axis.index, axis.lanes ? unit_stride : add_integer(stride)});
    }
    writer_.store(to, a.value);
  }
  flush(full_);
  close(direct ? reductions_of(accumulators) : std::vector<Reduction>{});
  for (std::size_t k = 0; k < axes.inner.size(); ++k) close();
  full_.clear();
  if (direct) return;
  // From the buffer.
  const ValueId rows = writer_.apply(Op::Subtract, DType::Int64, end, begin);
  const ValueId count = writer_.apply(Op::Multiply, DType::Int64, rows, integer_value(axes.core));
  const ValueId element = writer_.open_loop(writer_.constant_int(0), count, true);
  for (std::size_t k = 0; k < accumulators.size(); ++k)
    accumulators[k].value =
        writer_.load({.operand = buffers[k], .terms = {{element, unit_stride}}});
  writer_.close_loop(reductions_of(accumulators));
}

void ReducingBody::reduce_buffered(BufferedAxes& axes, std::vector<Accumulator>& accumulators) {
  for (Axis& axis : axes.outer) open(axis, false);
  if (axes.chunks() == 1) {
    reduce_chunk(axes, writer_.constant_int(0), accumulators);
  } else {
    const ValueId chunk =
        writer_.open_loop(writer_.constant_int(0), integer_value(axes.chunks()), false);
    reduce_chunk(axes, chunk, accumulators);
    writer_.close_loop();
  }
  for (std::size_t k = 0; k < axes.outer.size(); ++k) close();
}

}  // namespace frit
