// array.cpp: the life of an Array, and its windows.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/memory.h"
#include "engine/pool.h"
#include "front/common.h"
#include "schedule/dependence.h"

namespace frit {

Array::Array(const Array& other)
    : base_(other.base_), layout_(other.layout_), offset_(other.offset_), dtype_(other.dtype_) {
  if (!base_) return;
  Locked lock(Engine::lock());
  Engine::get().retain_handle(base_);
  layout_->retain();
}

void Array::release() noexcept {
  Locked lock(Engine::lock());
  layout_->release();
  Engine::get().release_handle(base_);
}

int Array::ndim() const { return layout_ ? layout_->ndim() : 0; }
std::int64_t Array::size() const { return layout_ ? layout_->size() : 0; }
std::span<const std::int64_t> Array::shape() const {
  return layout_ ? layout_->shape() : std::span<const std::int64_t>();
}
std::span<const std::int64_t> Array::strides() const {
  return layout_ ? layout_->strides() : std::span<const std::int64_t>();
}
bool Array::c_contiguous() const { return layout_ && layout_->c_contiguous(); }
bool Array::f_contiguous() const { return layout_ && layout_->f_contiguous(); }
bool Array::writable() const { return base_ && base_->writable; }

void refuse_empty_handle() { throw ValueError("an empty handle, not an array"); }

namespace {

[[noreturn]] void refuse_axis(int axis, int ndim) {
  throw ValueError(text("axis ", axis, " is out of bounds for array of dimension ", ndim));
}

}  // namespace

void check_axis(int axis, int ndim) {
  if (axis < 0 || axis >= ndim) refuse_axis(axis, ndim);
}

int axis_of(int axis, int ndim) {
  if (axis < -ndim || axis >= ndim) refuse_axis(axis, ndim);
  return axis < 0 ? axis + ndim : axis;
}

void check_where(const Array& mask) {
  check_array(mask);
  if (mask.dtype() != DType::Bool)
    throw TypeError(text("Cannot cast array data from dtype('", info(mask.dtype()).name,
                         "') to dtype('bool') according to the rule 'safe'"));
}

Array fresh(LayoutRef layout, DType dtype) {
  Base* base = Engine::get().new_base(*layout, dtype);
  return Array(base, layout.release(), 0, dtype);
}

Array empty(std::span<const std::int64_t> shape, DType dtype) {
  Locked lock(Engine::lock());
  return fresh(LayoutRef::adopt(make_contiguous(shape, size_of(dtype))), dtype);
}

Array copy_of(const void* elements, std::span<const std::int64_t> shape, DType dtype) {
  Locked lock(Engine::lock());
  Array result = fresh(LayoutRef::adopt(make_contiguous(shape, size_of(dtype))), dtype);
  Engine::get().allocate(result.base());
  std::memcpy(result.base()->data, elements, static_cast<std::size_t>(result.base()->bytes));
  return result;
}

namespace {

// In 128 bits: strides and offsets are whatever the caller says.
bool lies_inside(const Layout& layout, std::int64_t offset, std::int64_t bytes) {
  if (layout.size() == 0) return true;
  __int128 low = offset, high = static_cast<__int128>(offset) + layout.item_size();
  for (std::size_t k = 0; k < layout.shape().size(); ++k) {
    const __int128 reach = static_cast<__int128>(layout.shape()[k] - 1) * layout.strides()[k];
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && high <= bytes;
}

}  // namespace

Array empty_strided(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                    DType dtype) {
  Locked lock(Engine::lock());
  LayoutRef layout = LayoutRef::adopt(make_layout(shape, strides, size_of(dtype)));
  if (!lies_inside(*layout, 0, layout->size() * size_of(dtype)))
    throw ValueError("empty_strided: the strides leave the memory of the elements");
  return fresh(std::move(layout), dtype);
}

bool is_plain_window(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                     std::int64_t offset, int item, std::int64_t bytes) {
  std::int64_t low = offset, inner = item;  // `inner`: from the first to behind the last byte
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (shape[k] < 1 || shape[k] > bytes) return false;
    if (shape[k] == 1) continue;
    const std::int64_t stride = strides[k];
    if (stride > bytes || -stride > bytes || std::abs(stride) < inner) return false;
    std::int64_t reach;
    if (__builtin_mul_overflow(stride, shape[k] - 1, &reach)) return false;
    if (reach < 0) low += reach;
    if (__builtin_add_overflow(inner, std::abs(reach), &inner)) return false;
    if (inner > bytes) return false;
  }
  return low >= 0 && low <= bytes - inner;
}

Array wrap(const Foreign& memory, std::span<const std::int64_t> shape,
           std::span<const std::int64_t> strides, DType dtype) {
  Locked lock(Engine::lock());
  LayoutRef layout = LayoutRef::adopt(make_layout(shape, strides, size_of(dtype)));
  const std::int64_t offset =
      static_cast<std::byte*>(memory.data) - static_cast<std::byte*>(memory.memory);
  if (!lies_inside(*layout, offset, memory.bytes))
    throw ValueError("wrap: the window does not lie inside the memory");
  Base* base = Engine::get().new_base(memory.bytes);
  base->data = static_cast<std::byte*>(memory.memory);
  base->foreign = !memory.adopted;
  base->writable = memory.writable;
  base->need_extra().owner = memory.owner;
  base->extra->release = memory.release;
  if (memory.adopted) memory::add_malloc_live(memory.bytes);
  layout->retain();
  return Array(base, layout.get(), offset, dtype);
}

void drain_released() {
  auto& released = Engine::get().released;
  while (
      !released.empty()) {  // one by one: as others may come, and so that the list keeps its room
    std::pair<void*, void (*)(void*)> due;
    {
      Locked lock(Engine::lock());
      if (released.empty()) return;
      due = released.back();
      released.pop_back();
    }
    if (due.second) due.second(due.first);
  }
}

// ---- windows ------------------------------------------------------------------------------------

namespace {

Array window_of(const Array& a, LayoutRef layout, std::int64_t offset, DType dtype) {
  Engine::get().retain_handle(a.base());
  layout->retain();
  return Array(a.base(), layout.get(), offset, dtype);
}

}  // namespace

Array window(const Array& a, std::span<const std::int64_t> shape,
             std::span<const std::int64_t> strides, std::int64_t byte_offset, DType dtype) {
  check_array(a);
  Locked lock(Engine::lock());
  LayoutRef layout = LayoutRef::adopt(make_layout(shape, strides, size_of(dtype)));
  if (!lies_inside(*layout, byte_offset, a.base()->bytes))
    throw ValueError("strides is incompatible with shape of requested array and size of buffer");
  return window_of(a, std::move(layout), byte_offset, dtype);
}

Array transpose(const Array& a, std::span<const int> axes) {
  check_array(a);
  const Layout& layout = *a.layout();
  if (axes.size() != layout.shape().size()) throw ValueError("axes don't match array");
  std::uint64_t seen = 0;
  std::int64_t shape[max_dimensions], strides[max_dimensions];
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k];
    check_axis(axis, layout.ndim());
    if (seen >> axis & 1) throw ValueError("repeated axis in transpose");
    seen |= std::uint64_t{1} << axis;
    shape[k] = layout.shape()[static_cast<std::size_t>(axis)];
    strides[k] = layout.strides()[static_cast<std::size_t>(axis)];
  }
  Locked lock(Engine::lock());
  return window_of(a,
                   LayoutRef::adopt(make_layout({shape, axes.size()}, {strides, axes.size()},
                                                size_of(a.dtype()))),
                   a.offset(), a.dtype());
}

LayoutRef layout_behind(const Array& a, std::size_t indexed) {
  return LayoutRef::adopt(
      make_layout(a.shape().subspan(indexed), a.strides().subspan(indexed), size_of(a.dtype())));
}

LayoutRef broadcast_layout(const Layout& layout, std::span<const std::int64_t> shape) {
  const auto from = layout.shape();
  if (std::equal(from.begin(), from.end(), shape.begin(), shape.end())) return LayoutRef(&layout);
  if (from.size() > shape.size())
    throw ValueError("input operand has more dimensions than allowed by the axis remapping");
  std::int64_t strides[max_dimensions];
  const std::size_t lead = shape.size() - from.size();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (k < lead || (from[k - lead] == 1 && shape[k] != 1)) {
      strides[k] = 0;
    } else {
      if (from[k - lead] != shape[k])
        throw ValueError(
            text("operands could not be broadcast together with remapped shapes "
                 "[original->remapped]: ",
                 shape_words(from), "  and requested shape ", shape_words(shape)));
      strides[k] = layout.strides()[k - lead];
    }
  }
  return LayoutRef::adopt(make_layout(shape, {strides, shape.size()}, layout.item_size()));
}

Array broadcast_to(const Array& a, std::span<const std::int64_t> shape) {
  check_array(a);
  Locked lock(Engine::lock());
  return window_of(a, broadcast_layout(*a.layout(), shape), a.offset(), a.dtype());
}

Array slice(const Array& a, std::span<const AxisSlice> axes) {
  check_array(a);
  if (axes.size() > a.shape().size())
    throw IndexError(text("too many indices for array: array is ", a.ndim(), "-dimensional, but ",
                          axes.size(), " were indexed"));
  Locked lock(Engine::lock());
  std::int64_t shape[max_dimensions], strides[max_dimensions];
  std::int64_t offset = a.offset();
  std::size_t n = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(a.ndim()); ++k) {
    const std::int64_t stride = a.strides()[k];
    if (k >= axes.size()) {
      shape[n] = a.shape()[k];
      strides[n++] = stride;
      continue;
    }
    const AxisSlice& s = axes[k];
    const std::int64_t extent = a.shape()[k];
    if (s.count != 0 && (s.start < 0 || s.start >= extent))
      throw IndexError(
          text("index ", s.start, " is out of bounds for axis ", k, " with size ", extent));
    if (s.count < 0) {
      offset += s.start * stride;
      continue;
    }
    const __int128 last = s.start + static_cast<__int128>(s.count - 1) * s.step;
    if (s.count > 0 && (last < 0 || last >= extent))
      throw IndexError(text("slice: ", s.count, " elements from ", s.start, " in steps of ", s.step,
                            " leave axis ", k, " with size ", extent));
    if (s.count > 0) offset += s.start * stride;
    shape[n] = s.count;
    // A step over less than two elements may be any number.
    strides[n++] = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                             static_cast<std::uint64_t>(s.step));
  }
  return window_of(a, LayoutRef::adopt(make_layout({shape, n}, {strides, n}, size_of(a.dtype()))),
                   offset, a.dtype());
}

std::optional<Array> reshape_window(const Array& a, std::span<const std::int64_t> shape) {
  check_array(a);
  Locked lock(Engine::lock());
  // Refuses negative extents and sizes that overflow, too.
  const LayoutRef dense = LayoutRef::adopt(make_contiguous(shape, size_of(a.dtype())));
  if (dense->size() != a.size())
    throw ValueError(
        text("cannot reshape array of size ", a.size(), " into shape ", shape_words(shape)));
  if (a.c_contiguous()) return window_of(a, dense, a.offset(), a.dtype());
  // NumPy's _attempt_nocopy_reshape: match runs of old axes with runs of new axes.
  std::vector<std::int64_t> old_shape, old_strides;
  for (std::size_t k = 0; k < a.shape().size(); ++k)
    if (a.shape()[k] != 1) {
      old_shape.push_back(a.shape()[k]);
      old_strides.push_back(a.strides()[k]);
    }
  std::int64_t strides[max_dimensions];
  std::size_t oi = 0, ni = 0;
  while (ni < shape.size() && oi < old_shape.size()) {
    std::size_t oj = oi + 1, nj = ni + 1;
    std::int64_t np = shape[ni], op = old_shape[oi];
    while (np != op) {
      if (np < op)
        np *= shape[nj++];
      else
        op *= old_shape[oj++];
    }
    for (std::size_t k = oi; k + 1 < oj; ++k)
      if (old_strides[k] != old_shape[k + 1] * old_strides[k + 1]) return std::nullopt;
    strides[nj - 1] = old_strides[oj - 1];
    for (std::size_t k = nj - 1; k > ni; --k) strides[k - 1] = strides[k] * shape[k];
    ni = nj;
    oi = oj;
  }
  const std::int64_t last = ni >= 1 ? strides[ni - 1] : size_of(a.dtype());
  for (; ni < shape.size(); ++ni) strides[ni] = last;
  return window_of(
      a, LayoutRef::adopt(make_layout(shape, {strides, shape.size()}, size_of(a.dtype()))),
      a.offset(), a.dtype());
}

// ---- values -------------------------------------------------------------------------------------

void eval() {
  note_look();
  Locked lock(Engine::lock());
  Engine::get().eval();
}

// Clocks of programs ask for it: a device has then done it, too.
void run_pending() { synchronize(); }

namespace {

// For memory that no step has written: the array says what it is of.
void allocate_for(const Array& a) {
  try {
    Engine::get().allocate(a.base());
  } catch (const OutOfMemory&) {
    Engine::refuse(*a.layout(), a.dtype());
  }
}

}  // namespace

void eval(const Array& a) {
  note_look();
  check_array(a);
  Locked lock(Engine::lock());
  Engine::get().need(a.base());
  allocate_for(a);
}

bool is_pending(const Array& a) {
  check_array(a);
  Locked lock(Engine::lock());
  return a.base()->pending_writes > 0;
}

bool has_pending() {
  Locked lock(Engine::lock());
  return Engine::get().has_pending();
}

const std::byte* read(const Array& a) {
  Locked lock(Engine::lock());
  eval(a);
  return a.base()->data + a.offset();
}

Scalar item(const Array& a) {
  Locked lock(Engine::lock());
  check_array(a);
  if (a.size() == 0) throw ValueError("item: the array has no elements");
  Scalar value;
  value.dtype = a.dtype();
  std::memcpy(value.bytes, read(a), static_cast<std::size_t>(size_of(a.dtype())));
  return value;
}

std::byte* begin_export(const Array& a) {
  check_array(a);
  Locked lock(Engine::lock());
  Engine& engine = Engine::get();
  engine.settle(a.base());
  allocate_for(a);
  ++a.base()->exports;
  engine.retain_handle(a.base());
  return a.base()->data + a.offset();
}

void end_export(Base* base) {
  Locked lock(Engine::lock());
  if (!base || base->exports < 1) throw ValueError("end_export: without a begin_export before it");
  --base->exports;
  Engine::get().release_handle(base);
}

bool is_exported(const Array& a) {
  check_array(a);
  return a.base()->exports > 0 || a.base()->foreign;
}

bool may_share_memory(const Array& a, const Array& b) {
  check_array(a);
  check_array(b);
  Locked lock(Engine::lock());
  if (a.base() == b.base()) return boxes_meet(a.offset(), *a.layout(), b.offset(), *b.layout());
  if (!share_memory(*a.base(), *b.base())) return false;
  const std::int64_t apart = b.base()->data - a.base()->data;
  return boxes_meet(a.offset(), *a.layout(), b.offset() + apart, *b.layout());
}

bool is_small_and_ready(const Array& a, std::int64_t times) {
  check_array(a);
  Locked lock(Engine::lock());
  const Engine& engine = Engine::get();
  return a.size() * size_of(a.dtype()) <= times * engine.settings.immediate_bytes &&
         engine.is_ready(a.base());
}

void note_look() { Engine::get().foresight.note_look(); }

// ---- settings and figures -----------------------------------------------------------------------

Statistics statistics() {
  Locked lock(Engine::lock());
  Statistics s = Engine::get().statistics;
  const memory::Figures figures = memory::figures();
  s.bytes_live = figures.live;
  s.bytes_peak = figures.peak;
  s.bytes_cached = figures.cached;
  Engine::get().count_transfers(s);
  const CompilerStatistics compiler = Engine::get().compiler_statistics();
  s.kernels_compiled = compiler.compiled;
  s.kernels_loaded = compiler.loaded_from_disk;
  s.kernels_failed = compiler.failed;
  s.compile_failure = compiler.failure;
  s.compile_seconds = compiler.compile_seconds;
  return s;
}

void reset_statistics() {
  Locked lock(Engine::lock());
  Engine::get().reset_statistics();
  memory::reset_peak();
}

void set_tier(Tier tier) {
  Locked lock(Engine::lock());
  Engine::get().settings.tier = tier;
}

void set_fusion(Fusion fusion) {
  const Locked lock(Engine::lock());
  Engine::get().eval();
  Engine::get().settings.fusion = fusion;
}
void set_check(Check check) {
  const Locked lock(Engine::lock());
  Engine::get().settings.check = check;
}
void set_device(DeviceKind kind) {
  const Locked lock(Engine::lock());
  Engine::get().set_device(kind);
}
DeviceKind device() {
  const Locked lock(Engine::lock());
  return Engine::get().settings.device;
}
std::string device_description() {
  const Locked lock(Engine::lock());
  return Engine::get().device_description();
}
void synchronize() {
  note_look();
  const Locked lock(Engine::lock());
  Engine::get().synchronize();
}
void set_lazy(bool lazy) {
  Locked lock(Engine::lock());
  if (!lazy) Engine::get().eval();
  Engine::get().settings.lazy = lazy;
}

int threads() { return ThreadPool::get().threads(); }

void set_threads(int n) {
  Locked lock(Engine::lock());
  ThreadPool::get().set_threads(n);
}

void wait_for_compiler() { Engine::get().wait_for_compiler(); }

void flush_caches() {
  Locked lock(Engine::lock());
  Engine::get().flush_caches();
}

void set_float_checks(unsigned mask) {
  Locked lock(Engine::lock());
  Engine::get().settings.float_checks = static_cast<std::uint8_t>(mask);
}

bool has_float_warnings() { return !Engine::get().float_warnings.empty(); }

std::vector<FloatWarning> take_float_warnings() {
  Locked lock(Engine::lock());
  return std::move(Engine::get().float_warnings);
}

std::string explain() {
  Locked lock(Engine::lock());
  return Engine::get().explain(false);
}

std::string explain_dot() {
  Locked lock(Engine::lock());
  return Engine::get().explain(true);
}

}  // namespace frit
