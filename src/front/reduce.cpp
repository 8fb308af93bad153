// reduce.cpp: reductions (lazy), scans and arg-extremes (library steps of our own).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/float_flags.h"
#include "engine/pack.h"
#include "engine/pool.h"
#include "engine/small.h"
#include "front/common.h"
#include "front/extreme_kernel.h"
#include "front/parts.h"
#include "ir/call_kernel.h"
#include "ir/hash.h"
#include "ir/kernel.h"
#include "ir/neutral.h"
#include "ops/loops.h"
#include "schedule/reduction_order.h"

namespace frit {
namespace {

DType default_reduce_dtype(Op op, DType dtype) {
  if (op == Op::Add || op == Op::Multiply) {
    if (is_bool(dtype)) return DType::Int64;
    if (is_signed(dtype)) return DType::Int64;
    if (is_unsigned(dtype)) return DType::UInt64;
  }
  if (op == Op::LogicalAnd || op == Op::LogicalOr || op == Op::LogicalXor) return DType::Bool;
  return dtype;
}

std::uint64_t axes_mask(const Array& a, const ReduceOptions& options) {
  if (options.all_axes)
    return a.ndim() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << a.ndim()) - 1;
  std::uint64_t mask = 0;
  for (int given : options.axes) {
    const int axis = axis_of(given, a.ndim());
    if (mask >> axis & 1) throw ValueError("duplicate value in 'axis'");
    mask |= std::uint64_t{1} << axis;
  }
  return mask;
}

// Where the results of a reduction lie.
struct ReducedShape {
  LayoutRef result;  // of the result itself
  LayoutRef over;    // of the result over the input's axes: strides 0 where reduced
};

// NumPy lays the result out in the order of the input's axes.
ReducedShape make_reduced_shape(const Layout& in, std::uint64_t mask, bool keepdims, int item) {
  const auto n = static_cast<std::size_t>(in.ndim());
  std::vector<std::int64_t> over(n), kept(n), input(n);
  for (std::size_t k = 0; k < n; ++k) input[k] = in.shape()[k] == 1 ? 0 : in.strides()[k];
  std::vector<int> order(n);
  const std::span<const std::int64_t> view = input;
  iteration_order({&view, 1}, static_cast<int>(n), order);
  std::int64_t stride = item;
  for (std::size_t k = n; k-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[k]);
    kept[axis] = stride;
    if (mask >> axis & 1) continue;
    over[axis] = stride;
    stride *= std::max<std::int64_t>(in.shape()[axis], 1);
  }
  std::vector<std::int64_t> shape, strides;
  for (std::size_t k = 0; k < n; ++k) {
    const bool reduced = (mask >> k & 1) != 0;
    if (reduced && !keepdims) continue;
    shape.push_back(reduced ? 1 : in.shape()[k]);
    strides.push_back(kept[k]);
  }
  return {LayoutRef::adopt(make_layout(shape, strides, item)),
          LayoutRef::adopt(make_layout(in.shape(), over, item))};
}

// The last ones are kept.
ReducedShape reduced_shape(const Array& a, std::uint64_t mask, bool keepdims, int item) {
  struct Known {
    LayoutRef in;
    std::uint64_t mask = 0;
    int item = 0;
    bool keepdims = false;
    ReducedShape shape;
  };
  const auto layout = reinterpret_cast<std::uintptr_t>(a.layout());
  Known& entry = kept_entry<Known>(mixed(mixed(layout, mask), static_cast<std::uint64_t>(item)));
  if (entry.in.get() != a.layout() || entry.mask != mask || entry.item != item ||
      entry.keepdims != keepdims) {
    ReducedShape shape = make_reduced_shape(*a.layout(), mask, keepdims, item);
    entry = {LayoutRef(a.layout()), mask, item, keepdims, std::move(shape)};
  }
  return entry.shape;
}

bool inner_axis_is_reduced(const Array& a, std::uint64_t mask) {
  const std::vector<int> order = reduction_order(*a.layout());
  return order.empty() || (mask >> order.back() & 1) != 0;
}

// How a float16 sum or product rounds: NumPy works off an inner loop in float32 and rounds it once.
DType working_type(Op op, DType dtype, const Array& a, std::uint64_t mask) {
  if ((op != Op::Add && op != Op::Multiply) || dtype != DType::Float16) return dtype;
  const ReductionShape shape = shape_of_reduction(*a.layout(), mask, a.dtype() != dtype);
  if (shape.kind == GroupKind::Columns) return dtype;
  std::size_t reduced = 0;
  for (int axis : shape.order) reduced += mask >> axis & 1;
  if (shape.tree.size() == reduced && shape.chunk == 0) return DType::Float32;
  throw TypeError("float16 reduction over this layout");
}

// As a part of the reduction, and so of its name where it warns; but one number by itself is apart.
Array converted_to_reduce(const Array& a, DType dtype) {
  Engine& engine = Engine::get();
  const OtherSources sources(engine);
  if (a.ndim() > 0 && !engine.source.ufunc) engine.source.ufunc = "reduce";
  return astype(a, dtype);
}

// Any or all of bool elements, where the first of them say it or they are few; false: neither.
bool decide(Op op, const Array& a, const Array& out) {
  if (op != Op::LogicalOr && op != Op::LogicalAnd) return false;
  const bool is_any = op == Op::LogicalOr;
  Engine& engine = Engine::get();
  const std::int64_t first = engine.settings.immediate_bytes, n = a.size();
  const std::int64_t stop = n <= 32 * first ? n : first;
  if (stop == 0) return false;
  const std::byte* elements = a.base()->data + a.offset();
  const ExtremeLoop place = extreme_loop(is_any ? Op::Maximum : Op::Minimum, DType::Bool);
  const bool result = elements[place(elements, stop)] != std::byte{0};
  if (result != is_any && stop < n) return false;
  engine.allocate(out.base());
  std::memcpy(out.base()->data, &result, 1);
  out.base()->stamp = 0;
  return true;
}

// Of larger arrays only what is one result. Kernels take complex extremes one after another, the
// ready-made loop several at once.
bool computes_at_once(Op op, const Array& a, DType dtype, std::int64_t results) {
  Engine& engine = Engine::get();
  const std::int64_t bytes = a.size() * size_of(dtype);
  const bool is_complex_extreme = is_complex(dtype) && (op == Op::Maximum || op == Op::Minimum);
  if (bytes > engine.settings.immediate_bytes)
    return (is_complex_extreme || engine.computes_at_once(op, bytes)) && results == 1;
  if (!engine.is_ready(a.base())) engine.foresight.note_step(engine.source, op);
  return true;
}

}  // namespace

Array reduce(Op op, const Array& a, const ReduceOptions& options) {
  check_array(a);
  if (options.out) check_array(*options.out);
  if (options.where) check_where(*options.where);
  Locked lock(Engine::lock());
  if (options.out) {
    // Before anything is computed: an error leaves no warnings behind.
    check_writable(*options.out);
    const DType dtype = options.dtype ? *options.dtype : default_reduce_dtype(op, a.dtype());
    const ReducedShape shape =
        reduced_shape(a, axes_mask(a, options), options.keepdims, size_of(dtype));
    if (!std::ranges::equal(shape.result->shape(), options.out->shape()))
      throw ValueError("output parameter for reduction operation has the wrong shape");
    // NumPy's iterator looks at the output's layout too.
    if (!reduces_in_any_order(op, dtype) &&
        reduction_order(*options.out->layout()) != reduction_order(*shape.result))
      throw TypeError("no native reduction into this order of axes");
    ReduceOptions plain = options;
    plain.out = nullptr;
    const Array result = reduce(op, a, plain);
    assign(*options.out, result);
    return *options.out;
  }
  const DType dtype = options.dtype ? *options.dtype : default_reduce_dtype(op, a.dtype());
  if (!loop(op, dtype))
    throw TypeError(text("no native reduction by ", info(op).name, " of ", info(dtype).name));
  const std::optional<Scalar> neutral = neutral_of(op, dtype);
  if (!neutral)
    throw TypeError(text("no native reduction by ", info(op).name, " of ", info(dtype).name));
  const std::uint64_t mask = axes_mask(a, options);
  if (options.where) {
    if (!reduces_in_any_order(op, dtype))
      throw TypeError("no native masked reduction in this order");
    if (!options.initial && !identity_of(op, dtype))
      throw ValueError(
          text("reduction operation '", info(op).numpy_name,
               "' does not have an identity, so to use a where mask one has to specify 'initial'"));
    const Array masked = apply(Op::Select, {*options.where, a, Argument(*neutral)},
                               {.signature = select_signature(dtype), .casting = Casting::Unsafe});
    ReduceOptions plain = options;
    plain.where = nullptr;
    if (!std::equal(masked.shape().begin(), masked.shape().end(), a.shape().begin(),
                    a.shape().end()))
      throw ValueError("where mask does not broadcast to the reduced array");
    return reduce(op, masked, plain);
  }
  if (a.size() == 0 && !options.initial && !identity_of(op, dtype)) {
    // What counts is the extents that are folded away, even if the result is empty.
    std::int64_t folded = 1;
    for (std::size_t k = 0; k < a.shape().size(); ++k)
      if (mask >> k & 1) folded *= a.shape()[k];
    if (folded == 0)
      throw ValueError(text("zero-size array to reduction operation ", info(op).numpy_name,
                            " which has no identity"));
  }
  if (dtype == DType::Float16 && a.dtype() != dtype && a.size() > 0) {
    working_type(op, dtype, a, mask);
    ReduceOptions plain = options;
    plain.out = nullptr;
    return reduce(op, converted_to_reduce(a, dtype), plain);
  }
  ReducedShape shape = reduced_shape(a, mask, options.keepdims, size_of(dtype));
  const Array out = fresh(std::move(shape.result), dtype);
  if (out.size() == 0) return out;
  if (op == Op::Multiply && is_complex(dtype) && inner_axis_is_reduced(a, mask))
    op = Op::MultiplyUnfused;
  const DType working = working_type(op, dtype, a, mask);
  // NumPy starts a sum from +0, so that a sum of negative zeros is +0.
  const std::optional<Scalar> identity = identity_of(op, working);
  Scalar initial = identity ? *identity : *neutral_of(op, working);
  if (options.initial) {
    void* args[2] = {initial.bytes, const_cast<std::byte*>(options.initial->bytes)};
    initial = Scalar{};
    initial.dtype = working;
    args[0] = initial.bytes;
    cast_loop(options.initial->dtype, working)(args, 1, 0);
  }
  if (a.size() == 0) {
    assign(out, Argument(initial));
    return out;
  }
  Engine& engine = Engine::get();
  if (is_bool(a.dtype()) && is_bool(dtype) && out.size() == 1 && !options.initial &&
      a.c_contiguous() && engine.is_ready(a.base()) && decide(op, a, out)) {
    ++engine.statistics.immediate;
    return out;
  }
  Access target = access_of(out);
  target.layout = shape.over.get();
  const bool may_run = working == dtype && out.base()->pending == 0;
  if (may_run && computes_at_once(op, a, dtype, out.size()) && engine.is_ready(a.base()) &&
      reduce_small(
          {.op = op, .mask = mask, .in = access_of(a), .out = target, .initial = initial})) {
    ++engine.statistics.immediate;
    return out;
  }
  Node& node = engine.open_node();
  node.kind = NodeKind::Reduce;
  node.op = op;
  node.inputs = 1;
  node.signature = {{working, working, working}, working};
  node.reduced = mask;
  node.float_checks = engine.settings.float_checks;
  node.constants[0] = initial;
  node.in[0] = access_of(a);
  node.out = target;
  engine.commit();
  return out;
}

// ---- scans --------------------------------------------------------------------------------------

namespace {

// Runs over one axis of a window, the others as an outer product; dense rows are handed to `row`.
template <class Row>  // row(const std::byte* in, n, index of the row)
void for_each_lane(const Layout& layout, int axis, const std::byte* data, Row&& row) {
  const auto n = static_cast<std::size_t>(layout.ndim());
  std::vector<std::int64_t> index(n, 0);
  const auto along = static_cast<std::size_t>(axis);
  std::int64_t lanes = layout.size() / std::max<std::int64_t>(layout.shape()[along], 1);
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < n; ++k) offset += index[k] * layout.strides()[k];
    row(data + offset, lane, index);
    for (std::size_t k = n; k-- > 0;) {
      if (k == along) continue;
      if (++index[k] < layout.shape()[k]) break;
      index[k] = 0;
    }
  }
}

class ScanCall final : public Call {
 public:
  ScanCall(Op op, DType dtype, LayoutRef in, LayoutRef out, int axis)
      : op_(op), dtype_(dtype), in_(std::move(in)), out_(std::move(out)), axis_(axis) {}
  std::string_view name() const override { return "scan"; }
  const char* warning_name() const override {
    return may_warn(op_, dtype_) ? "accumulate" : nullptr;
  }
  // Each element follows from the one before it and one of the input's.
  unsigned meant_flags(std::span<std::byte* const> pointers, unsigned raised) const override {
    const auto along = static_cast<std::size_t>(axis_);
    std::vector<std::int64_t> shape(in_->shape().begin(), in_->shape().end());
    if (--shape[along] == 0) return 0;
    const auto part = [&](const std::byte* data, const Layout& layout, std::int64_t first) {
      const int item = size_of(dtype_);
      const LayoutRef rest = LayoutRef::adopt(make_layout(shape, layout.strides(), item));
      std::vector<std::byte> dense(static_cast<std::size_t>(rest->size() * item));
      pack(dense.data(), data + first * layout.strides()[along], *rest);
      return dense;
    };
    const std::int64_t n = in_->size() / in_->shape()[along] * shape[along];
    const auto before = part(pointers[0], *out_, 0), added = part(pointers[1], *in_, 1);
    const std::byte* const in[] = {before.data(), added.data()};
    const auto out = part(pointers[0], *out_, 1);
    return flags_from_values(op_, {{dtype_, dtype_}, dtype_}, n, in, out.data(), raised);
  }
  void run(std::span<std::byte* const> pointers) const override {
    if (scans_rows()) return run_on_rows(pointers);
    const ScanLoop scan = scan_loop(op_, dtype_);
    const auto along = static_cast<std::size_t>(axis_);
    const std::int64_t n = in_->shape()[along], item = size_of(dtype_);
    const std::int64_t in_stride = in_->strides()[along], out_stride = out_->strides()[along];
    const bool is_dense = in_stride == item, is_dense_out = out_stride == item;
    constexpr std::int64_t most = 2048;  // elements at a time, where they are not dense
    const std::int64_t step = is_dense && is_dense_out ? n : std::min(n, most);
    std::vector<std::byte> dense(is_dense && is_dense_out ? 0
                                                          : static_cast<std::size_t>(step * item));
    const auto copy = move_loops(static_cast<int>(item)).copy;
    for_each_lane(*in_, axis_, pointers[1],
                  [&](const std::byte* in, std::int64_t, const std::vector<std::int64_t>& index) {
                    std::int64_t offset = 0;
                    for (std::size_t k = 0; k < index.size(); ++k)
                      offset += index[k] * out_->strides()[k];
                    std::byte* out = pointers[0] + offset;
                    // The first element stays as it is.
                    Scalar carry;
                    std::memcpy(carry.bytes, in, static_cast<std::size_t>(item));
                    std::memcpy(out, in, static_cast<std::size_t>(item));
                    for (std::int64_t k = 1; k < n; k += step) {
                      const std::int64_t count = std::min(step, n - k);
                      const std::byte* from = in + k * in_stride;
                      std::byte* const to = is_dense_out ? out + k * out_stride : dense.data();
                      if (!is_dense) {
                        copy(dense.data(), item, from, in_stride, count);
                        from = dense.data();
                      }
                      scan(to, from, carry.bytes, count);
                      if (!is_dense_out) copy(out + k * out_stride, out_stride, to, item, count);
                    }
                  });
  }

 private:
  // Is the array, in C order, rows that lie one behind the other along the axis?
  bool scans_rows() const {
    return (!is_complex(dtype_) || op_ == Op::Add) && loop(op_, dtype_) && in_->c_contiguous() &&
           out_->c_contiguous() && row_size() >= least_row;
  }
  std::int64_t row_size() const {
    std::int64_t size = 1;
    for (std::size_t k = static_cast<std::size_t>(axis_) + 1; k < in_->shape().size(); ++k)
      size *= in_->shape()[k];
    return size;
  }
  void run_on_rows(std::span<std::byte* const> pointers) const {
    const std::int64_t n = in_->shape()[static_cast<std::size_t>(axis_)], count = row_size(),
                       row = count * size_of(dtype_), lanes = in_->size() / (n * count);
    const Loop combine = loop(op_, dtype_);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::byte* out = pointers[0] + lane * n * row;
      std::byte* in = pointers[1] + lane * n * row;
      std::memcpy(out, in, static_cast<std::size_t>(row));
      for (std::int64_t k = 1; k < n; ++k) {
        void* args[3] = {out + k * row, out + (k - 1) * row, in + k * row};
        combine(args, count, 0);
      }
    }
  }
  static constexpr std::int64_t least_row = 2;  // elements

  Op op_;
  DType dtype_;
  LayoutRef in_, out_;
  int axis_;
};

}  // namespace

Array accumulate(Op op, const Array& a, int axis, std::optional<DType> dtype, const Array* out) {
  Locked lock(Engine::lock());
  check_array(a);
  if (out) check_array(*out);
  axis = axis_of(axis, a.ndim());
  const DType type = dtype ? *dtype : default_reduce_dtype(op, a.dtype());
  // NumPy's loops fuse complex products, but for those that read what they have just written.
  if (op == Op::Multiply && is_complex(type) && a.ndim() > 0 &&
      a.shape()[static_cast<std::size_t>(axis)] != 2)
    op = Op::MultiplyUnfused;
  if (!scan_loop(op, type))
    throw TypeError(text("no native scan by ", info(op).name, " of ", info(type).name));
  const Array in = a.dtype() == type ? a : astype(a, type);
  Array result;
  if (out && out->dtype() == type && !share_memory(*out->base(), *in.base())) {
    result = *out;
    check_writable(result);
    if (!std::equal(a.shape().begin(), a.shape().end(), result.shape().begin(),
                    result.shape().end()))
      throw ValueError("provided out is the wrong size for the accumulation.");
  } else {
    const Layout* like = a.layout();
    result = fresh(result_layout(a.shape(), {&like, 1}, size_of(type)), type);
  }
  if (a.size() > 0)
    record_call(std::make_shared<ScanCall>(op, type, LayoutRef(in.layout()),
                                           LayoutRef(result.layout()), axis),
                {&result, 1}, {&in, 1});
  if (out && !result.same_base(*out)) {
    assign(*out, result);
    return *out;
  }
  return result;
}

// ---- arg-extremes -------------------------------------------------------------------------------

namespace {

Op op_of(Extreme which) { return which == Extreme::Max ? Op::Maximum : Op::Minimum; }

// The loop for lanes along an axis in front of the last one, beside which enough others lie; or
// none.
ExtremeColumnsLoop columns_loop(Extreme which, const Layout& in, DType dtype, int axis) {
  constexpr std::int64_t least_columns = 16, most_rows = std::int64_t{1} << 31;
  const auto along = static_cast<std::size_t>(axis);
  const bool has_columns = along + 2 == in.shape().size() && in.shape()[along] < most_rows &&
                           in.shape().back() >= least_columns &&
                           in.strides().back() == size_of(dtype);
  return has_columns ? extreme_columns_loop(op_of(which), dtype) : nullptr;
}

class ExtremeCall final : public Call {
 public:
  ExtremeCall(Extreme which, DType dtype, LayoutRef in, int axis)
      : which_(which), dtype_(dtype), in_(std::move(in)), axis_(axis) {}
  std::string_view name() const override { return which_ == Extreme::Max ? "argmax" : "argmin"; }
  void run(std::span<std::byte* const> pointers) const override {
    const std::span<const std::int64_t> shape = in_->shape();
    const auto along = static_cast<std::size_t>(axis_);
    const std::int64_t lanes = in_->size() / shape[along];
    auto* const places = reinterpret_cast<std::int64_t*>(pointers[0]);
    if (lanes == 1 && in_->strides()[along] == size_of(dtype_)) {
      *places = place_in_row(pointers[1], shape[along]);
      return;
    }
    // Parts of the first axis with several lanes.
    std::size_t cut = 0;
    while (cut + 1 < shape.size() && (cut == along || shape[cut] == 1)) ++cut;
    if (cut == along) return run_on({shape.begin(), shape.end()}, pointers[1], places);
    for_parts(shape[cut], in_->size() / shape[cut], [&](std::int64_t begin, std::int64_t end) {
      Shape part(shape.begin(), shape.end());
      part[cut] = end - begin;
      run_on(std::move(part), pointers[1] + begin * in_->strides()[cut],
             places + begin * (lanes / shape[cut]));
    });
  }
  // Of lanes that lie one behind the other, as many as a device has threads.
  using Call::describe;
  bool describe(CallKernel& kernel) const override {
    constexpr std::int64_t least_lanes = 1 << 12;
    constexpr double cost = 0.5;  // ns an element
    const std::span<const std::int64_t> shape = in_->shape(), strides = in_->strides();
    const auto along = static_cast<std::size_t>(axis_);
    std::int64_t lanes = 1, step = 0;
    for (std::size_t k = shape.size(); k-- > 0;) {
      if (k == along || shape[k] == 1) continue;
      if (lanes == 1)
        step = strides[k];
      else if (strides[k] != lanes * step)
        return false;
      lanes *= shape[k];
    }
    if (lanes < least_lanes || is_complex(dtype_)) return false;
    kernel = {.kernel = std::make_shared<const Kernel>(extreme_kernel(op_of(which_), dtype_)),
              .integers = {shape[along], step, strides[along]},
              .extent = lanes,
              .cost = cost * static_cast<double>(in_->size())};
    return true;
  }

 private:
  using Shape = std::vector<std::int64_t>;

  std::int64_t place_in_row(const std::byte* row, std::int64_t n) const {
    constexpr std::int64_t least = 1 << 15;  // elements of a piece
    const ExtremeLoop find = extreme_loop(op_of(which_), dtype_);
    const std::int64_t item = size_of(dtype_),
                       pieces = std::min<std::int64_t>(n / least, 4 * ThreadPool::get().threads());
    if (pieces < 2) return find(row, n);
    std::vector<std::int64_t> found(static_cast<std::size_t>(pieces));
    std::vector<std::byte> elements(static_cast<std::size_t>(pieces * item));
    for_parts(pieces, n / pieces, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t begin = n * k / pieces, end = n * (k + 1) / pieces;
        const std::int64_t place = begin + find(row + begin * item, end - begin);
        found[static_cast<std::size_t>(k)] = place;
        std::memcpy(elements.data() + k * item, row + place * item, static_cast<std::size_t>(item));
      }
    });
    return found[static_cast<std::size_t>(find(elements.data(), pieces))];
  }

  void run_on(Shape shape, const std::byte* in, std::int64_t* place) const {
    const auto along = static_cast<std::size_t>(axis_);
    const std::int64_t n = shape[along], stride = in_->strides()[along];
    const int item = size_of(dtype_);
    if (const ExtremeColumnsLoop find = columns_loop(which_, *in_, dtype_, axis_)) {
      const std::int64_t columns = shape.back();
      shape.resize(along + 1);
      return walk_rows(
          shape,
          [&] {
            find(in, n, stride, columns, place);
            place += columns;
          },
          [&](std::size_t axis, std::int64_t steps) { in += steps * in_->strides()[axis]; });
    }
    const ExtremeLoop find = extreme_loop(op_of(which_), dtype_);
    std::vector<std::byte> dense(stride == item ? 0 : static_cast<std::size_t>(n * item));
    Shape strides(in_->strides().begin(), in_->strides().end());
    std::rotate(shape.begin() + axis_, shape.begin() + axis_ + 1, shape.end());
    std::rotate(strides.begin() + axis_, strides.begin() + axis_ + 1, strides.end());
    walk_rows(
        shape,
        [&] {
          if (stride != item) move_loops(item).copy(dense.data(), item, in, stride, n);
          *place++ = find(stride != item ? dense.data() : in, n);
        },
        [&](std::size_t axis, std::int64_t steps) { in += steps * strides[axis]; });
  }

  Extreme which_;
  DType dtype_;
  LayoutRef in_;
  int axis_;
};

}  // namespace

// As NumPy: lanes of so many elements are put side by side first.
constexpr int least_copied = 16;

Array arg_extreme(Extreme which, const Array& a, std::optional<int> axis, bool keepdims) {
  check_array(a);
  if (axis) axis = axis_of(*axis, a.ndim());
  Locked lock(Engine::lock());
  if ((axis ? a.shape()[static_cast<std::size_t>(*axis)] : a.size()) == 0)
    throw ValueError(text("attempt to get ", which == Extreme::Max ? "argmax" : "argmin",
                          " of an empty sequence"));
  Array in = a;
  int along = 0;
  std::vector<std::int64_t> shape;
  if (!axis) {
    const std::int64_t flat[1] = {a.size()};
    const Array dense = a.c_contiguous() ? a : copy(a, 'C');
    in = *reshape_window(dense, flat);
    if (keepdims) shape.assign(static_cast<std::size_t>(a.ndim()), 1);
  } else {
    along = *axis;
    for (std::size_t k = 0; k < a.shape().size(); ++k) {
      if (static_cast<int>(k) != along)
        shape.push_back(a.shape()[k]);
      else if (keepdims)
        shape.push_back(1);
    }
    if (a.size() == 0) return empty(shape, DType::Int64);
    if (in.strides()[*axis] != size_of(in.dtype()) && in.shape()[*axis] >= least_copied &&
        !columns_loop(which, *in.layout(), in.dtype(), *axis)) {
      std::vector<int> order(static_cast<std::size_t>(in.ndim()));
      std::iota(order.begin(), order.end(), 0);
      std::rotate(order.begin() + along, order.begin() + along + 1, order.end());
      in = copy(transpose(in, order), 'C');
      along = in.ndim() - 1;
    }
  }
  const Array out = empty(shape, DType::Int64);
  record_call(std::make_shared<ExtremeCall>(which, in.dtype(), LayoutRef(in.layout()), along),
              {&out, 1}, {&in, 1});
  return out;
}

namespace {

// Ready, and not so large that other threads should go on meanwhile: run now, which saves planning.
bool call_at_once(const Call& call, std::span<const Array> outputs, std::span<const Array> inputs) {
  Engine& engine = Engine::get();
  std::int64_t bytes = 0;
  for (const Array& a : outputs) {
    if (a.base()->pending != 0) return false;
    bytes += a.size() * size_of(a.dtype());
  }
  for (const Array& a : inputs) {
    if (!engine.is_ready(a.base())) return false;
    bytes += a.size() * size_of(a.dtype());
  }
  if (bytes > 64 * engine.settings.immediate_bytes) return false;
  std::vector<std::byte*> pointers;
  for (const Array& a : outputs) {
    engine.allocate(a.base());
    a.base()->stamp = 0;
  }
  for (const auto& arrays : {outputs, inputs})
    for (const Array& a : arrays) pointers.push_back(a.base()->data + a.offset());
  ++engine.statistics.immediate;
  const std::uint8_t checks = call.warning_name() ? engine.settings.float_checks : std::uint8_t{0};
  if (checks == 0) {
    call.run(pointers);
    return true;
  }
  clear_float_flags();
  call.run(pointers);
  SourcePosition at = engine.source;
  if (!at.ufunc) at.ufunc = call.warning_name();
  engine.note_float_flags(Op{}, at, checks, flags_of_call(call, access_of(outputs[0]), pointers));
  return true;
}

}  // namespace

void record_call(std::shared_ptr<const Call> call, std::span<const Array> outputs,
                 std::span<const Array> inputs) {
  for (const Array& a : outputs) check_array(a);
  for (const Array& a : inputs) check_array(a);
  Locked lock(Engine::lock());
  if (call_at_once(*call, outputs, inputs)) return;
  auto site = std::make_unique<CallSite>();
  site->call = std::move(call);
  for (const Array& a : outputs) site->outputs.push_back(access_of(a));
  for (const Array& a : inputs) site->inputs.push_back(access_of(a));
  Node& node = Engine::get().open_node();
  node.kind = NodeKind::Call;
  node.float_checks = site->call->warning_name() ? Engine::get().settings.float_checks : 0;
  node.site = std::move(site);
  Engine::get().commit();
}

}  // namespace frit
