// copies.cpp: assignments, conversions, and arrays made of numbers.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "engine/pack.h"
#include "engine/small.h"
#include "front/common.h"
#include "front/selection.h"
#include "schedule/dependence.h"

namespace frit {
namespace {

// Leading axes of extent 1 may go.
void check_value(const Array& target, std::span<const std::int64_t> shape) {
  std::span<const std::int64_t> rest = shape;
  while (rest.size() > target.shape().size() && rest[0] == 1) rest = rest.subspan(1);
  if (!broadcasts_to(rest, target.shape()))
    throw ValueError(text("could not broadcast input array from shape ", shape_words(shape),
                          " into shape ", shape_words(target.shape())));
}

}  // namespace

void assign(const Array& target, const Argument& value, const Array* where) {
  check_array(target);
  if (value.array) check_array(*value.array);
  if (where) check_where(*where);
  Locked lock(Engine::lock());
  if (!target.writable()) throw ValueError("assignment destination is read-only");
  // `x[1:] += y` ends by assigning the window to itself.
  if (!where && value.array && value.array->same_base(target) &&
      value.array->layout() == target.layout() && value.array->offset() == target.offset() &&
      value.array->dtype() == target.dtype())
    return;
  const DType from = value.array ? value.array->dtype() : value.scalar.dtype;
  Argument source = value;
  if (!value.array && value.scalar.dtype != target.dtype())
    source = Argument(converted(value, target.dtype()));
  if (value.array) check_value(target, value.array->shape());
  if (where && !broadcasts_to(where->shape(), target.shape()))
    throw ValueError(text("could not broadcast where mask from shape ", shape_words(where->shape()),
                          " into shape ", shape_words(target.shape())));
  if (value.array && value.array->ndim() > target.ndim()) {
    const auto shape = value.array->shape();
    const std::size_t extra = shape.size() - static_cast<std::size_t>(target.ndim());
    const Array trimmed =
        window(*value.array, shape.subspan(extra), value.array->strides().subspan(extra),
               value.array->offset(), from);
    return assign(target, trimmed, where);
  }
  const DType type = value.array ? from : target.dtype();
  if (where) {
    if (fill_few(target, *where, source)) return;
    Array kept;
    if (value.array && conversion_may_warn(from, target.dtype())) {
      // Elements that the mask leaves out are not converted, and warn of nothing.
      kept = apply(Op::Select, {*where, source, Argument(Scalar{.dtype = from})},
                   {.signature = select_signature(from)});
      source = kept;
    }
    apply(Op::Select, {*where, source, target},
          {.out = &target,
           .signature = select_signature(target.dtype()),
           .casting = Casting::Unsafe});
    return;
  }
  apply(Op::Copy, {source},
        {.out = &target,
         .signature = Signature{{type, type, type}, type},
         .casting = Casting::Unsafe});
}

namespace {

// All are read before the first is written.
void move_elements(const Strided& to, const Strided& from, std::span<const std::int64_t> shape,
                   std::int64_t item) {
  if (shape.size() == 1 && to.strides[0] == item && from.strides[0] == item) {
    std::memmove(to.data, from.data, static_cast<std::size_t>(shape[0] * item));
    return;
  }
  std::int64_t strides[max_dimensions], bytes = item;
  for (std::size_t k = shape.size(); k-- > 0; bytes *= shape[k]) strides[k] = bytes;
  const auto kept = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  const Strided dense{kept.get(), {strides, shape.size()}};
  copy_elements(dense, from, shape, static_cast<int>(item));
  copy_elements(to, dense, shape, static_cast<int>(item));
}

// Copies the bytes where there are few and nothing has to be waited for; false: nothing is done.
bool assign_now(Base* base, DType dtype, std::span<const std::int64_t> shape, Strided target,
                const Argument& value) {
  const std::byte* from = value.scalar.bytes;
  std::span<const std::int64_t> extents, steps;
  if (value.array) {
    const Array& source = *value.array;
    const Base* owner = source.base();
    // `x[1:] += y` ends by assigning the window to itself.
    if (owner == base && source.dtype() == dtype && owner->data + source.offset() == target.data &&
        std::ranges::equal(source.shape(), shape) &&
        std::ranges::equal(source.strides(), target.strides))
      return true;
    if (source.dtype() != dtype || !Engine::get().is_ready(owner) ||
        !broadcasts_to(source.shape(), shape))
      return false;
    from = owner->data + source.offset();
    extents = source.shape();
    steps = source.strides();
  } else if (value.scalar.dtype != dtype) {
    return false;
  }
  std::int64_t strides[max_dimensions];
  const std::size_t lead = shape.size() - extents.size();
  std::fill_n(strides, lead, 0);
  for (std::size_t k = 0; k < extents.size(); ++k)
    strides[lead + k] = extents[k] == 1 ? 0 : steps[k];
  const Strided source{const_cast<std::byte*>(from), {strides, shape.size()}};
  const bool may_overlap = value.array && share_memory(*value.array->base(), *base) && [&] {
    const auto window = LayoutRef::adopt(make_layout(shape, target.strides, size_of(dtype)));
    return boxes_meet(target.data - value.array->base()->data, *window, value.array->offset(),
                      *value.array->layout());
  }();
  base->stamp = 0;
  if (may_overlap)
    move_elements(target, source, shape, size_of(dtype));
  else
    copy_elements(target, source, shape, size_of(dtype));
  return true;
}

// Dense elements of a vector to other places of it: recorded, they would go to new memory and back.
bool is_shift(const Base* base, std::span<const std::int64_t> shape,
              std::span<const std::int64_t> strides, const Argument& value) {
  const Array& source = *value.array;
  const int item = size_of(source.dtype());
  return source.base() == base && shape.size() == 1 && strides[0] == item && source.ndim() == 1 &&
         source.strides()[0] == item && source.shape()[0] == shape[0];
}

}  // namespace

void assign_window(const Array& a, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> strides, std::int64_t byte_offset,
                   const Argument& value) {
  check_array(a);
  if (value.array) check_array(*value.array);
  Locked lock(Engine::lock());
  Engine& engine = Engine::get();
  Base* base = a.base();
  const int item = size_of(a.dtype());
  bool is_now = base->data && base->pending == 0 && base->writable &&
                shape.size() == strides.size() && shape.size() <= max_dimensions &&
                is_plain_window(shape, strides, byte_offset, item, base->bytes);
  if (is_now) {
    std::int64_t bytes = item;  // no more than the base has: the elements are distinct
    for (std::int64_t extent : shape) bytes *= extent;
    // Many elements of one number rather wait for what is done with them, if anything was.
    const std::int64_t times = !value.array ? 2 : is_shift(base, shape, strides, value) ? 1024 : 8;
    is_now = bytes <= engine.settings.immediate_bytes * times ||
             (!value.array && engine.computes_at_once(Op::Copy, bytes));
  }
  if (is_now && assign_now(base, a.dtype(), shape, {base->data + byte_offset, strides}, value)) {
    ++engine.statistics.immediate;
    return;
  }
  assign(window(a, shape, strides, byte_offset, a.dtype()), value);
}

namespace {

// That of the axis around one of n elements; wraps where make_layout refuses all of them.
std::int64_t stride_around(std::int64_t stride, std::int64_t n) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                   static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)));
}

// The axes by their strides, longest first. A stride of 0 counts as the shortest, as in NumPy's
// copies; in its elementwise results (result_layout) it has no say.
LayoutRef kept_layout(const Array& a, int item) {
  const auto n = static_cast<std::size_t>(a.ndim());
  std::array<std::size_t, max_dimensions> axes;
  std::iota(axes.begin(), axes.begin() + n, std::size_t{0});
  std::sort(axes.begin(), axes.begin() + n, [&](std::size_t one, std::size_t other) {
    const std::int64_t step = std::abs(a.strides()[one]), rest = std::abs(a.strides()[other]);
    return step != rest ? step > rest : one < other;
  });
  std::array<std::int64_t, max_dimensions> strides;
  std::int64_t stride = item;
  for (std::size_t k = n; k-- > 0;) {
    strides[axes[k]] = stride;
    stride = stride_around(stride, a.shape()[axes[k]]);
  }
  return LayoutRef::adopt(make_layout(a.shape(), {strides.data(), n}, item));
}

LayoutRef layout_for_copy(const Array& a, DType dtype, char order) {
  if (order != 'C' && order != 'F' && order != 'A' && order != 'K')
    throw ValueError(text("order must be one of 'C', 'F', 'A', or 'K' (got '", order, "')"));
  const int item = size_of(dtype);
  const bool kept = order == 'K' || order == 'A';
  const bool fortran = order == 'F' || (kept && a.f_contiguous() && !a.c_contiguous());
  if (order == 'K' && !fortran && !a.c_contiguous()) return kept_layout(a, item);
  if (!fortran) return LayoutRef::adopt(make_contiguous(a.shape(), item));
  std::vector<std::int64_t> strides;
  std::int64_t stride = item;
  for (std::int64_t n : a.shape()) {
    strides.push_back(stride);
    stride = stride_around(stride, n);
  }
  return LayoutRef::adopt(make_layout(a.shape(), strides, item));
}

// Element by element, in the order in which those of `out` lie.
void copy_as_written(const Array& out, const Array& a) {
  std::array<int, max_dimensions> order;
  std::array<std::int64_t, max_dimensions> shape, to, from;
  const auto n = static_cast<std::size_t>(out.ndim());
  const std::span<const std::int64_t> written = out.strides();
  iteration_order({&written, 1}, out.ndim(), order);
  for (std::size_t k = 0; k < n; ++k) {
    const auto axis = static_cast<std::size_t>(order[k]);
    shape[k] = a.shape()[axis];
    to[k] = written[axis];
    from[k] = a.strides()[axis];
  }
  auto* const read = const_cast<std::byte*>(a.base()->data + a.offset());
  copy_elements({out.base()->data, {to.data(), n}}, {read, {from.data(), n}}, {shape.data(), n},
                size_of(a.dtype()));
}

}  // namespace

Array astype(const Array& a, DType dtype, char order) {
  check_array(a);
  Locked lock(Engine::lock());
  const Array out = fresh(layout_for_copy(a, dtype, order), dtype);
  Engine& engine = Engine::get();
  const std::int64_t bytes = out.base()->bytes;
  const bool is_dense = (a.c_contiguous() && out.c_contiguous()) ||
                        (a.f_contiguous() && out.f_contiguous());  // in one order
  if (is_dense && engine.is_ready(a.base()) &&
      (bytes <= engine.settings.immediate_bytes || engine.computes_at_once(Op::Copy, bytes))) {
    engine.allocate(out.base());
    void* const args[2] = {out.base()->data, a.base()->data + a.offset()};
    if (dtype == a.dtype())
      std::memcpy(args[0], args[1], static_cast<std::size_t>(bytes));
    else
      convert(Op::Copy, a.dtype(), dtype, args, a.size());
    ++engine.statistics.immediate;
    return out;
  }
  // In another order a kernel gains nothing yet; of short rows least of all.
  constexpr std::int64_t short_row = 16;
  const std::int64_t times = a.ndim() > 1 && a.shape().back() < short_row ? 1024 : 16;
  if (!is_dense && dtype == a.dtype() && bytes <= times * engine.settings.immediate_bytes &&
      engine.is_ready(a.base())) {
    engine.allocate(out.base());
    copy_as_written(out, a);
    ++engine.statistics.immediate;
    return out;
  }
  assign(out, a);
  return out;
}

Array copy(const Array& a, char order) { return astype(a, a.dtype(), order); }

Array full(std::span<const std::int64_t> shape, const Scalar& value) {
  Locked lock(Engine::lock());
  const DType dtype = value.dtype;
  Array out = empty(shape, dtype);
  Engine& engine = Engine::get();
  const std::int64_t bytes = out.base()->bytes;
  const Loop fill = loop(Op::Copy, dtype);
  if (bytes > engine.settings.immediate_bytes && !engine.computes_at_once(Op::Copy, bytes)) {
    const Access number{nullptr, nullptr, 0, dtype};
    record_elementwise(Op::Copy, {{dtype, dtype, dtype}, dtype}, access_of(out), {&number, 1},
                       {&value, 1});
    return out;
  }
  engine.allocate(out.base());
  void* args[2] = {out.base()->data, const_cast<std::byte*>(value.bytes)};
  fill(args, out.size(), 1);
  ++engine.statistics.immediate;
  return out;
}

namespace {

// Multiplied and added, each rounded by itself; integers wrap.
template <class T, class Wrapping>
void fill_evenly(std::byte* elements, std::int64_t n, const Scalar& start, const Scalar& step) {
  const auto first = static_cast<Wrapping>(start.as<T>()),
             between = static_cast<Wrapping>(step.as<T>());
  T* out = reinterpret_cast<T*>(elements);
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<T>(first + static_cast<Wrapping>(i) * between);
}

// At once, and nothing else with it.
Array small_arange(const Scalar& start, const Scalar& step, std::int64_t n) {
  const std::int64_t shape[1] = {n};
  const DType dtype = start.dtype;
  const Array out = empty(shape, dtype);
  Engine::get().allocate(out.base());
  ++Engine::get().statistics.immediate;
  std::byte* elements = out.base()->data;
  if (dtype == DType::Int64)
    return fill_evenly<std::int64_t, std::uint64_t>(elements, n, start, step), out;
  if (dtype == DType::Float64) return fill_evenly<double, double>(elements, n, start, step), out;
  if (dtype == DType::Int32)
    return fill_evenly<std::int32_t, std::uint32_t>(elements, n, start, step), out;
  std::vector<std::int64_t> index(static_cast<std::size_t>(n));
  std::iota(index.begin(), index.end(), 0);
  void* converted[2] = {elements, index.data()};
  cast_loop(DType::Int64, dtype)(converted, n, 0);
  void* scaled[3] = {elements, elements, const_cast<std::byte*>(step.bytes)};
  loop(Op::Multiply, dtype)(scaled, n, 2);
  void* moved[3] = {elements, elements, const_cast<std::byte*>(start.bytes)};
  loop(Op::Add, dtype)(moved, n, 2);
  return out;
}

}  // namespace

Array arange(const Scalar& start, const Scalar& step, std::int64_t n) {
  Locked lock(Engine::lock());
  const std::int64_t shape[1] = {n};
  const DType dtype = start.dtype;
  if (n <= Engine::get().settings.immediate_bytes / size_of(dtype))
    return small_arange(start, step, n);
  const Access index{nullptr, nullptr, iota_input, DType::Int64};
  const Access first{nullptr, nullptr, 0, dtype};
  const Signature types{{dtype, dtype, dtype}, dtype};
  const auto is = [&](const Scalar& number, std::int64_t whole) {
    const Scalar same = cast_scalar(Scalar::of(DType::Int64, whole), dtype);
    return std::memcmp(number.bytes, same.bytes, static_cast<std::size_t>(size_of(dtype))) == 0;
  };
  if (is(step, 1)) {
    const Array out = empty(shape, dtype);
    const Access sums[2] = {first, index};
    if (is(start, 0))
      record_elementwise(Op::Copy, types, access_of(out), {&index, 1}, {});
    else
      record_elementwise(Op::Add, types, access_of(out), sums, {&start, 1});
    return out;
  }
  const Array scaled = empty(shape, dtype);
  const Access products[2] = {index, first};
  record_elementwise(Op::Multiply, types, access_of(scaled), products, {&step, 1});
  const Array out = empty(shape, dtype);
  const Access sums[2] = {first, access_of(scaled)};
  record_elementwise(Op::Add, types, access_of(out), sums, {&start, 1});
  return out;
}

Array linspace(double first, double step, double last, std::int64_t n) {
  Locked lock(Engine::lock());
  const std::int64_t shape[1] = {n};
  constexpr DType real = DType::Float64, whole = DType::Int64;
  const Access index{nullptr, nullptr, iota_input, whole}, number{nullptr, nullptr, 0, real};
  const auto record = [&](Op op, const Signature& types, std::initializer_list<Access> inputs,
                          const Scalar& constant) {
    Array out = empty(shape, types.out);
    record_elementwise(op, types, access_of(out), {inputs.begin(), inputs.size()}, {&constant, 1});
    return out;
  };
  const Array scaled =
      record(Op::Multiply, {{real, real, real}, real}, {index, number}, Scalar::of(real, step));
  const Array moved = record(Op::Add, {{real, real, real}, real}, {access_of(scaled), number},
                             Scalar::of(real, first));
  const Array is_last = record(Op::Equal, {{whole, whole, whole}, DType::Bool},
                               {index, {nullptr, nullptr, 0, whole}}, Scalar::of(whole, n - 1));
  return record(Op::Select, {{DType::Bool, real, real}, real},
                {access_of(is_last), number, access_of(moved)}, Scalar::of(real, last));
}

}  // namespace frit
