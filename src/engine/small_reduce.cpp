// small_reduce.cpp: single reductions by ready-made loops, in NumPy's order.
#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/pack.h"
#include "engine/pool.h"
#include "engine/small.h"
#include "ir/hash.h"
#include "schedule/reduction_order.h"

namespace frit {
namespace {

// Of a row that is copied: to the heap from some size on.
constexpr std::int64_t most_bytes = 256 << 10, few_bytes = 16 << 10;

class CopiedRow {
 public:
  explicit CopiedRow(std::int64_t bytes) {
    if (bytes > few_bytes)
      many_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  }
  std::byte* data() { return many_ ? many_.get() : few_; }

 private:
  std::unique_ptr<std::byte[]> many_;
  alignas(64) std::byte few_[few_bytes];
};

// Of equal complex elements the ready-made loop takes the first, as one that goes in order does.
bool takes_first_of_equals(Op op, DType type) {
  return is_complex(type) && (op == Op::Maximum || op == Op::Minimum);
}

// One step of the reduction: `to` holds what came before.
class Folding {
 public:
  Folding(Op op, DType type)
      : op_(op),
        type_(type),
        fold_(reduce_loop(op, type)),
        combine_(loop(op, type)),
        in_order_(tree_class(op, type) == 0 && !reduces_in_any_order(op, type) &&
                  !takes_first_of_equals(op, type)) {}
  explicit operator bool() const { return fold_ && combine_; }

  // Short rows are folded from their first element to the last, each op rounded by itself.
  bool folds_short_rows_in_order() const { return !is_complex(type_) && type_ != DType::Float16; }
  bool in_order() const { return in_order_; }
  // to[k] = op(to[k], all of row k), for rows that lie side by side: columns(j) gives the j-th
  // elements of all rows.
  template <class Columns>
  void fold_columns(std::byte* to, std::byte* folded, std::int64_t rows, std::int64_t length,
                    Columns&& columns) const {
    if (in_order_) {
      for (std::int64_t j = 0; j < length; ++j) add_row(to, columns(j), rows);
      return;
    }
    std::memcpy(folded, columns(0), static_cast<std::size_t>(rows * size_of(type_)));
    for (std::int64_t j = 1; j < length; ++j) add_row(folded, columns(j), rows);
    add_row(to, folded, rows);
  }
  // The same where row(k) gives the elements of row k; not in order.
  template <class Row>
  void fold_rows(std::byte* to, std::byte* folded, std::int64_t rows, std::int64_t length,
                 Row&& row) const {
    const std::int64_t item = size_of(type_);
    for (std::int64_t k = 0; k < rows; ++k) fold_(folded + k * item, row(k), length);
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

// The rows of a layout that NumPy's inner loop takes at once; or, where the innermost axis stays,
// rows onto rows. Where they are converted first they are rows of a dense copy (pack).
class Rows {
 public:
  Rows() = default;  // of no layout yet
  // `out` goes over the axes of `in`, with strides 0 where the mask says that they are reduced.
  Rows(const Layout& in, std::uint64_t mask, const Layout& out, bool converts)
      : in_(&in), out_(&out), mask_(mask), converts_(converts), item_(out.item_size()) {
    for (std::size_t axis = 0; axis < in.shape().size(); ++axis)
      if (!(mask >> axis & 1)) results_ *= in.shape()[axis];
    is_whole_ = results_ == 1 && in.c_contiguous();
    const ReductionShape shape = shape_of_reduction(in, mask, converts);
    columns_ = shape.kind == GroupKind::Columns;
    axes_ = shape.order.size();
    outer_ = axes_ - (columns_ ? 1 : shape.tree.size());
    for (std::size_t k = 0; k < axes_; ++k) {
      const auto axis = static_cast<std::size_t>(shape.order[k]);
      extents_[k] = in.shape()[axis];
      strides_[k] = in.strides()[axis];
      out_strides_[k] = out.strides()[axis];
    }
    if (converts) {
      std::copy(strides_, strides_ + axes_, in_strides_);
      std::copy(extents_, extents_ + axes_, in_extents_);
      in_axes_ = axes_;
      std::int64_t stride = item_;
      for (std::size_t k = axes_; k-- > 0; stride *= extents_[k]) strides_[k] = stride;
    }
    merge_outer_axes();
    for (std::size_t k = axes_; k-- > outer_; size_ *= extents_[k])
      dense_strides_[k] = size_ * item_;
    is_dense_ = std::equal(strides_ + outer_, strides_ + axes_, dense_strides_ + outer_);
    can_be_small_ = shape.chunk == 0 && (is_dense_ || size_ * item_ <= most_bytes) &&
                    (!columns_ || out_strides_[outer_] == item_);
  }

  bool are_of(const Layout& in, std::uint64_t mask, const Layout& out, bool converts) const {
    return in_.get() == &in && out_.get() == &out && mask_ == mask && converts_ == converts;
  }
  std::int64_t results() const { return results_; }
  bool is_whole() const { return is_whole_; }  // one result, of all elements as they lie
  bool can_be_small() const { return can_be_small_; }
  bool is_one_axis() const { return in_axes_ == 1 && !columns_; }
  std::int64_t copied_bytes() const { return is_dense_ ? 0 : size_ * item_; }
  // All elements, not converted yet, in the order of the rows.
  void pack(const std::byte* data, std::byte* dense) const {
    const std::int64_t item = in_->item_size();
    std::int64_t to[max_dimensions], stride = item;
    for (std::size_t k = in_axes_; k-- > 0; stride *= in_extents_[k]) to[k] = stride;
    copy_elements({dense, {to, in_axes_}}, {const_cast<std::byte*>(data), {in_strides_, in_axes_}},
                  {in_extents_, in_axes_}, static_cast<int>(item));
  }
  void copy(std::byte* row, std::byte* dense) const {
    const std::size_t inner = axes_ - outer_;
    copy_elements({dense, {dense_strides_ + outer_, inner}}, {row, {strides_ + outer_, inner}},
                  {extents_ + outer_, inner}, static_cast<int>(item_));
  }
  void fold(const Folding& folding, std::byte* data, std::byte* out) const {
    if (are_side_by_side()) {
      if (is_short() && folding.folds_short_rows_in_order())
        return fold_lines(data, out, [&](std::byte* to, std::byte* rows, std::int64_t count) {
          fold_short_rows(folding, to, rows, count);
        });
      if (!folding.in_order())
        return fold_lines(data, out, [&](std::byte* to, std::byte* rows, std::int64_t count) {
          fold_long_rows(folding, to, rows, count);
        });
    }
    CopiedRow dense(copied_bytes());
    std::byte* row = data;
    const auto visit = [&] {
      const std::byte* from = as_dense(row, dense.data());
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
  // The row itself where it is dense, or its elements in `dense`.
  const std::byte* as_dense(std::byte* row, std::byte* dense) const {
    if (is_dense_) return row;
    copy(row, dense);
    return dense;
  }
  // Many rows whose results lie side by side.
  bool are_side_by_side() const {
    constexpr std::int64_t least_rows = 8;
    return !columns_ && outer_ > 0 && extents_[outer_ - 1] >= least_rows &&
           out_strides_[outer_ - 1] == item_;
  }
  // A few elements, along one axis.
  bool is_short() const {
    constexpr std::int64_t longest = 7;
    return axes_ - outer_ == 1 && size_ <= longest;
  }
  static constexpr std::int64_t rows_at_once = 512;
  // fold(to, rows, count) for every so many rows along the axis around them.
  template <class Fold>
  void fold_lines(std::byte* rows, std::byte* out, Fold&& fold) const {
    const std::size_t axis = outer_ - 1;
    const auto visit = [&] {
      for (std::int64_t first = 0; first < extents_[axis]; first += rows_at_once)
        fold(out + first * item_, rows + first * strides_[axis],
             std::min(rows_at_once, extents_[axis] - first));
    };
    walk_rows({extents_, outer_}, visit, [&](std::size_t along, std::int64_t steps) {
      rows += steps * strides_[along];
      out += steps * out_strides_[along];
    });
  }
  void fold_short_rows(const Folding& folding, std::byte* to, std::byte* rows,
                       std::int64_t count) const {
    alignas(64) std::byte column[rows_at_once * sizeof(Scalar::bytes)];
    alignas(64) std::byte folded[rows_at_once * sizeof(Scalar::bytes)];
    folding.fold_columns(to, folded, count, size_, [&](std::int64_t j) {
      copy_elements({column, {&item_, 1}},
                    {rows + j * strides_[outer_], {&strides_[outer_ - 1], 1}}, {&count, 1},
                    static_cast<int>(item_));
      return column;
    });
  }
  void fold_long_rows(const Folding& folding, std::byte* to, std::byte* rows,
                      std::int64_t count) const {
    CopiedRow dense(copied_bytes());
    alignas(64) std::byte folded[rows_at_once * sizeof(Scalar::bytes)];
    folding.fold_rows(to, folded, count, size_, [&](std::int64_t k) {
      return as_dense(rows + k * strides_[outer_ - 1], dense.data());
    });
  }

  LayoutRef in_, out_;
  std::uint64_t mask_ = 0;
  bool converts_ = false;
  bool columns_ = false, is_dense_ = false, is_whole_ = false, can_be_small_ = false;
  std::size_t axes_ = 0, outer_ = 0;  // from `outer_` on, axes are a row's
  std::int64_t item_ = 0, size_ = 1;  // size: elements of a row
  std::int64_t results_ = 1;
  std::int64_t extents_[max_dimensions], strides_[max_dimensions], out_strides_[max_dimensions],
      dense_strides_[max_dimensions];
  // As they lie before they are converted.
  std::size_t in_axes_ = 0;
  std::int64_t in_extents_[max_dimensions], in_strides_[max_dimensions];
};

// The last ones are kept.
const Rows& rows_of(const Layout& in, std::uint64_t mask, const Layout& out, bool converts) {
  const auto address = [](const Layout& layout) {
    return reinterpret_cast<std::uintptr_t>(&layout);
  };
  Rows& rows = kept_entry<Rows>(mixed(mixed(address(in), address(out)), mask));
  if (!rows.are_of(in, mask, out, converts)) rows = Rows(in, mask, out, converts);
  return rows;
}

}  // namespace

bool reduce_small(const SmallReduction& r) {
  Engine& engine = Engine::get();
  const DType type = r.out.dtype;
  const Folding folding(r.op, type);
  if (!folding) return false;
  const bool converts = r.in.dtype != type;
  const Rows& rows = rows_of(*r.in.layout, r.mask, *r.out.layout, converts);
  const std::int64_t item = size_of(type), n = r.in.layout->size();
  // NumPy converts a buffer at a time, and adds their sums.
  const bool is_one_row = rows.is_whole() || rows.is_one_axis();
  if (converts && n > converted_apart && (is_inexact(r.in.dtype) || !is_one_row))
    return false;  // the first may warn
  if (!rows.is_whole() && !rows.can_be_small() && !(converts && is_one_row)) return false;
  std::byte* data = r.in.base->data + r.in.offset;
  CopiedRow converted(converts ? n * item : 0),
      dense(converts && !rows.is_whole() ? n * size_of(r.in.dtype) : 0);
  if (converts) {
    const SourcePosition at = engine.source;
    if (r.in.layout->ndim() > 0) engine.source.ufunc = "reduce";  // a part of it, and its warnings
    if (!rows.is_whole()) rows.pack(data, dense.data());
    void* args[2] = {converted.data(), rows.is_whole() ? data : dense.data()};
    convert(Op::Copy, r.in.dtype, type, args, n);
    engine.source = at;
    data = converted.data();
  }
  engine.allocate(r.out.base);
  std::byte* result = r.out.base->data + r.out.offset;
  const bool want_flags = engine.settings.float_checks != 0 && may_warn(r.op, type);
  if (want_flags) clear_float_flags();
  void* first[2] = {result, const_cast<std::byte*>(r.initial.bytes)};
  loop(Op::Copy, type)(first, rows.results(), 1);
  if (converts && is_one_row)
    for (std::int64_t k = 0; k < n; k += converted_apart)
      folding.fold(result, data + k * item, std::min(converted_apart, n - k));
  else if (rows.is_whole())
    folding.fold(result, data, n);
  else
    rows.fold(folding, data, result);
  r.out.base->stamp = 0;
  if (want_flags)
    engine.note_float_flags(r.op, engine.source, engine.settings.float_checks,
                            credible(r.out, float_flags()), true);
  return true;
}

}  // namespace frit
