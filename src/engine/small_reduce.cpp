// small_reduce.cpp: single reductions by ready-made loops, in NumPy's order.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/pack.h"
#include "engine/pool.h"
#include "engine/small.h"
#include "schedule/reduction_order.h"

namespace frit {
namespace {

constexpr std::int64_t most_bytes = 16 << 10;  // of a row that is copied

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

  // Short rows are folded from their first element to the last, each op rounded by itself.
  bool folds_short_rows_in_order() const { return !is_complex(type_) && type_ != DType::Float16; }
  // to[k] = op(to[k], all of row k), for rows that lie side by side: columns(j) gives the j-th
  // elements of all rows.
  template <class Columns>
  void fold_rows(std::byte* to, std::byte* folded, std::int64_t rows, std::int64_t length,
                 Columns&& columns) const {
    if (in_order_) {
      for (std::int64_t j = 0; j < length; ++j) add_row(to, columns(j), rows);
      return;
    }
    std::memcpy(folded, columns(0), static_cast<std::size_t>(rows * size_of(type_)));
    for (std::int64_t j = 1; j < length; ++j) add_row(folded, columns(j), rows);
    add_row(to, folded, rows);
  }

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
  Rows(const Access& a, std::uint64_t mask, std::span<const std::int64_t> out_strides)
      : shape_(shape_of_reduction(*a.layout, mask, false)),
        columns_(shape_.kind == GroupKind::Columns),
        axes_(shape_.order.size()),
        outer_(axes_ - (columns_ ? 1 : shape_.tree.size())),
        data_(a.base->data + a.offset),
        item_(size_of(a.dtype)) {
    for (std::size_t k = 0; k < axes_; ++k) {
      const auto axis = static_cast<std::size_t>(shape_.order[k]);
      extents_[k] = a.layout->shape()[axis];
      strides_[k] = a.layout->strides()[axis];
      out_strides_[k] = out_strides[axis];
    }
    merge_outer_axes();
    for (std::size_t k = axes_; k-- > outer_; size_ *= extents_[k])
      dense_strides_[k] = size_ * item_;
    is_dense_ = std::equal(strides_ + outer_, strides_ + axes_, dense_strides_ + outer_);
  }

  bool can_be_small() const {
    return shape_.chunk == 0 && (is_dense_ || size_ * item_ <= most_bytes) &&
           (!columns_ || out_strides_[outer_] == item_);
  }
  void fold(const Folding& folding, std::byte* out) const {
    if (is_short() && folding.folds_short_rows_in_order()) return fold_side_by_side(folding, out);
    const std::size_t inner = axes_ - outer_;
    alignas(64) std::byte dense[most_bytes];
    std::byte* row = data_;
    const auto visit = [&] {
      if (!is_dense_)
        copy_elements({dense, {dense_strides_ + outer_, inner}}, {row, {strides_ + outer_, inner}},
                      {extents_ + outer_, inner}, static_cast<int>(item_));
      const std::byte* from = is_dense_ ? row : dense;
      if (columns_)
        folding.add_row(out, from, size_);
      else
        folding.fold(out, from, size_);
    };
    // The row stands for one axis more.
    walk_rows({extents_, outer_ + 1}, visit, [&](std::size_t axis, std::int64_t steps) {
      row += steps * strides_[axis];
      out += steps * out_strides_[axis];
    });
  }

 private:
  // Two axes around the rows that are walked as one would be.
  void merge_outer_axes() {
    const auto is_one = [&](const std::int64_t* strides, std::size_t k) {
      return strides[k] == extents_[k + 1] * strides[k + 1];
    };
    for (std::size_t k = outer_; k-- > 1;) {
      const std::size_t before = k - 1;
      if (!is_one(strides_, before) || !is_one(out_strides_, before)) continue;
      extents_[k] *= extents_[before];
      for (std::int64_t* values : {extents_, strides_, out_strides_})
        std::copy(values + k, values + axes_, values + before);
      --outer_;
      --axes_;
    }
  }
  // Many rows of a few elements, whose results lie side by side.
  bool is_short() const {
    constexpr std::int64_t longest = 7, least_rows = 8;
    return !columns_ && outer_ > 0 && axes_ - outer_ == 1 && size_ <= longest &&
           extents_[outer_ - 1] >= least_rows && out_strides_[outer_ - 1] == item_;
  }
  void fold_side_by_side(const Folding& folding, std::byte* out) const {
    constexpr std::int64_t at_once = 512;  // rows
    alignas(64) std::byte column[at_once * sizeof(Scalar::bytes)];
    alignas(64) std::byte folded[at_once * sizeof(Scalar::bytes)];
    const std::size_t axis = outer_ - 1;
    const std::byte* rows = data_;
    const auto visit = [&] {
      for (std::int64_t first = 0; first < extents_[axis]; first += at_once) {
        const std::int64_t count = std::min(at_once, extents_[axis] - first);
        folding.fold_rows(out + first * item_, folded, count, size_, [&](std::int64_t j) {
          const std::byte* from = rows + first * strides_[axis] + j * strides_[outer_];
          const std::int64_t dense = item_;
          copy_elements({column, {&dense, 1}}, {const_cast<std::byte*>(from), {&strides_[axis], 1}},
                        {&count, 1}, static_cast<int>(item_));
          return column;
        });
      }
    };
    walk_rows({extents_, outer_}, visit, [&](std::size_t along, std::int64_t steps) {
      rows += steps * strides_[along];
      out += steps * out_strides_[along];
    });
  }

  ReductionShape shape_;
  bool columns_, is_dense_ = false;
  std::size_t axes_, outer_;  // from `outer_` on, axes are a row's
  std::byte* data_;
  std::int64_t item_, size_ = 1;  // size: elements of a row
  std::int64_t extents_[max_dimensions], strides_[max_dimensions], out_strides_[max_dimensions],
      dense_strides_[max_dimensions];
};

}  // namespace

bool reduce_small(const SmallReduction& r) {
  Engine& engine = Engine::get();
  const DType type = r.out.dtype;
  const Folding folding(r.op, type);
  if (!folding) return false;
  const Layout& space = *r.in.layout;
  const std::int64_t item = size_of(type), n = space.size();
  std::int64_t results = 1;
  for (std::size_t axis = 0; axis < space.shape().size(); ++axis)
    if (!(r.mask >> axis & 1)) results *= space.shape()[axis];
  const bool is_whole = results == 1 && space.c_contiguous();
  // NumPy converts longer rows a buffer at a time, and adds their sums.
  if (r.in.dtype != type && (!is_whole || n > converted_apart)) return false;
  std::optional<Rows> rows;
  if (!is_whole && !rows.emplace(r.in, r.mask, r.out_strides).can_be_small()) return false;
  const std::byte* data = r.in.base->data + r.in.offset;
  std::unique_ptr<std::byte[]> converted;
  if (r.in.dtype != type) {
    converted = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n * item));
    const SourcePosition at = engine.source;
    engine.source.ufunc = "reduce";  // a part of it, and its warnings
    void* args[2] = {converted.get(), const_cast<std::byte*>(data)};
    convert(Op::Copy, r.in.dtype, type, args, n);
    engine.source = at;
    data = converted.get();
  }
  engine.allocate(r.out.base);
  std::byte* result = r.out.base->data + r.out.offset;
  const bool want_flags = engine.settings.float_checks != 0 && may_warn(r.op, type);
  if (want_flags) clear_float_flags();
  for (std::int64_t k = 0; k < results; ++k)
    std::memcpy(result + k * item, r.initial.bytes, static_cast<std::size_t>(item));
  if (rows)
    rows->fold(folding, result);
  else
    folding.fold(result, data, n);
  r.out.base->stamp = 0;
  if (want_flags)
    engine.note_float_flags(r.op, engine.source, engine.settings.float_checks,
                            credible(r.out, float_flags()), true);
  return true;
}

}  // namespace frit
