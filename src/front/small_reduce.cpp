// small_reduce.cpp: small reductions, computed at once by ready-made loops, in NumPy's order.
#include <algorithm>
#include <cstring>

#include "engine/float_flags.h"
#include "engine/pool.h"
#include "front/common.h"
#include "front/small.h"
#include "schedule/reduction_order.h"

namespace frit {
namespace {

constexpr std::int64_t most_bytes = 16 << 10;  // of a row that is copied

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

// The elements of some axes one after another, the last axis fastest.
struct Window {
  std::span<const int> axes;
  std::span<const std::int64_t> extents, strides;  // of all axes

  std::int64_t size() const {
    std::int64_t n = 1;
    for (int axis : axes) n *= extents[at(axis)];
    return n;
  }
  bool is_dense(std::int64_t item) const {
    for (std::size_t k = axes.size(); k-- > 0; item *= extents[at(axes[k])])
      if (strides[at(axes[k])] != item) return false;
    return true;
  }
  template <class Visit>  // visit(index)
  void for_each_index(Visit&& visit) const {
    std::int64_t index[max_dimensions] = {};
    for (std::int64_t left = size(); left > 0; --left) {
      visit(std::span<const std::int64_t>(index, axes.size()));
      for (std::size_t k = axes.size(); k-- > 0;) {
        if (++index[k] < extents[at(axes[k])]) break;
        index[k] = 0;
      }
    }
  }
  static std::int64_t offset(std::span<const int> axes, std::span<const std::int64_t> index,
                             std::span<const std::int64_t> strides) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < axes.size(); ++k) sum += index[k] * strides[at(axes[k])];
    return sum;
  }
};

// One step of the reduction: `to` holds what came before.
class Folding {
 public:
  Folding(Op op, DType type)
      : op_(op),
        type_(type),
        fold_(reduce_loop(op, type)),
        combine_(loop(op, type)),
        in_order_(tree_class(op, type) == 0 && !reduces_in_any_order(op, type)) {}
  explicit operator bool() const { return fold_ && combine_; }

  // to = op(to, all of the row)
  void fold(std::byte* to, const std::byte* row, std::int64_t n) const {
    const auto item = static_cast<std::size_t>(size_of(type_));
    Scalar folded;
    if (in_order_) {
      std::memcpy(folded.bytes, to, item);
      fold_in_order(row, n, folded);
      std::memcpy(to, folded.bytes, item);
    } else {
      fold_(folded.bytes, row, n);
      add_row(to, folded.bytes, 1);
    }
  }
  // to[k] = op(to[k], row[k])
  void add_row(std::byte* to, const std::byte* row, std::int64_t n) const {
    void* args[3] = {to, to, const_cast<std::byte*>(row)};
    combine_(args, n, 0);
  }

 private:
  // folded = op(.. op(op(folded, in[0]), in[1]) ..)
  void fold_in_order(const std::byte* in, std::int64_t n, Scalar& folded) const {
    const ScanLoop scan = scan_loop(op_, type_);
    alignas(64) std::byte scanned[4096];
    const std::int64_t item = size_of(type_),
                       at_once = static_cast<std::int64_t>(sizeof scanned) / item;
    for (std::int64_t k = 0; k < n; k += at_once)
      scan(scanned, in + k * item, folded.bytes, std::min(at_once, n - k));
  }

  Op op_;
  DType type_;
  ReduceLoop fold_;
  Loop combine_;
  bool in_order_;
};

// Rows that NumPy's inner loop takes at once; or, where the innermost axis stays, rows onto rows.
class Rows {
 public:
  Rows(const Array& a, std::uint64_t mask, std::span<const std::int64_t> out_strides)
      : shape_(shape_of_reduction(*a.layout(), mask, false)),
        columns_(shape_.kind == GroupKind::Columns),
        row_{std::span(shape_.order).last(columns_ ? 1 : shape_.tree.size()), a.shape(),
             a.strides()},
        rounds_{std::span(shape_.order).first(shape_.order.size() - row_.axes.size()), a.shape(),
                a.strides()},
        data_(a.base()->data + a.offset()),
        out_strides_(out_strides),
        item_(size_of(a.dtype())) {}

  bool can_be_small() const {
    return shape_.chunk == 0 && row_.size() * item_ <= most_bytes &&
           (!columns_ || out_strides_[at(shape_.order.back())] == item_);
  }
  void fold(const Folding& folding, std::byte* out) const {
    const std::int64_t n = row_.size();
    const bool is_dense = row_.is_dense(item_);
    alignas(64) std::byte dense[most_bytes];
    rounds_.for_each_index([&](std::span<const std::int64_t> index) {
      const std::byte* row = data_ + Window::offset(rounds_.axes, index, rounds_.strides);
      if (!is_dense) row = gather(row, dense);
      std::byte* to = out + Window::offset(rounds_.axes, index, out_strides_);
      if (columns_)
        folding.add_row(to, row, n);
      else
        folding.fold(to, row, n);
    });
  }

 private:
  const std::byte* gather(const std::byte* row, std::byte* dense) const {
    std::byte* next = dense;
    row_.for_each_index([&](std::span<const std::int64_t> index) {
      const std::byte* element = row + Window::offset(row_.axes, index, row_.strides);
      std::memcpy(next, element, static_cast<std::size_t>(item_));
      next += item_;
    });
    return dense;
  }

  ReductionShape shape_;
  bool columns_;
  Window row_, rounds_;
  const std::byte* data_;
  std::span<const std::int64_t> out_strides_;
  std::int64_t item_;
};

}  // namespace

bool reduce_small(Op op, const Array& a, std::uint64_t mask, const Array& out,
                  std::span<const std::int64_t> strides, const Scalar& initial) {
  Engine& engine = Engine::get();
  const DType type = out.dtype();
  if (a.size() * size_of(type) > engine.settings.immediate_bytes) return false;
  if (a.base()->pending_writes != 0 || a.base()->data == nullptr) return false;
  const Folding folding(op, type);
  if (!folding) return false;
  const std::int64_t item = size_of(type), results = out.size();
  const bool is_whole = results == 1 && a.c_contiguous();
  if (a.dtype() != type) {
    if (!is_whole) return false;
    const SourcePosition at = engine.source;
    engine.source.ufunc = "reduce";  // a part of it, and its warnings
    const Array converted = astype(a, type);
    engine.source = at;
    return reduce_small(op, converted, mask, out, strides, initial);
  }
  std::optional<Rows> rows;
  if (!is_whole && !rows.emplace(a, mask, strides).can_be_small()) return false;
  engine.allocate(out.base());
  std::byte* result = out.base()->data + out.offset();
  const bool want_flags = engine.settings.float_checks != 0 && may_warn(op, type);
  if (want_flags) clear_float_flags();
  for (std::int64_t k = 0; k < results; ++k)
    std::memcpy(result + k * item, initial.bytes, static_cast<std::size_t>(item));
  if (rows)
    rows->fold(folding, result);
  else
    folding.fold(result, a.base()->data + a.offset(), a.size());
  out.base()->stamp = 0;
  if (want_flags)
    engine.note_float_flags(op, engine.source, engine.settings.float_checks,
                            credible(access_of(out), float_flags()), true);
  ++engine.statistics.immediate;
  return true;
}

}  // namespace frit
