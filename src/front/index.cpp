// index.cpp: indexing by arrays: indices are checked at the call, then gathers and scatters.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "engine/float_flags.h"
#include "engine/pack.h"
#include "front/common.h"
#include "front/dense.h"
#include "front/parts.h"
#include "front/positions.h"
#include "ops/loops.h"

namespace frit {
namespace {

// Index arrays as dense int64 offsets (in bytes) into the indexed window, checked.
struct Offsets {
  std::vector<std::int64_t> shape;  // of the indices, broadcast
  std::span<std::int64_t> bytes;    // one an index tuple
  Array memory;                     // whose they are
};

// Memory that the engine keeps for the next one: fresh pages cost more than what is done with them.
Array temporary(std::int64_t n, DType dtype) {
  const std::int64_t shape[1] = {n};
  const Array made = empty(shape, dtype);
  Engine::get().allocate(made.base());
  return made;
}

// visit(Index()) with the C++ type of index arrays of this type.
template <class Visit>
auto with_index_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::Int8:
      return visit(std::int8_t{});
    case DType::Int16:
      return visit(std::int16_t{});
    case DType::Int32:
      return visit(std::int32_t{});
    case DType::Int64:
      return visit(std::int64_t{});
    case DType::UInt8:
      return visit(std::uint8_t{});
    case DType::UInt16:
      return visit(std::uint16_t{});
    case DType::UInt32:
      return visit(std::uint32_t{});
    case DType::UInt64:
      return visit(std::uint64_t{});
    case DType::Bool:
    case DType::Float16:
    case DType::Float32:
    case DType::Float64:
    case DType::Complex64:
    case DType::Complex128:
      break;
  }
  throw IndexError("arrays used as indices must be of integer (or boolean) type");
}

constexpr std::int64_t checked_together = 512;  // indices that are still in L1 when they are used

// Adds what each index comes to in bytes; the first of several sets it.
template <class Index, bool is_first>
void add_offsets(std::int64_t* bytes, const Index* indices, std::int64_t n, std::size_t axis,
                 std::int64_t extent, std::int64_t stride) {
  const auto add = [&](std::int64_t k, std::int64_t position) {
    bytes[k] = (is_first ? 0 : bytes[k]) + position * stride;
  };
  for (std::int64_t begin = 0; begin < n; begin += checked_together) {
    const std::int64_t end = std::min(n, begin + checked_together);
    if (all_below(indices + begin, end - begin, extent)) {
      for (std::int64_t k = begin; k < end; ++k) add(k, static_cast<std::int64_t>(indices[k]));
      continue;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const auto asked = static_cast<std::int64_t>(indices[k]);
      const std::int64_t position = position_of(asked, extent);
      if (!is_inside(position, extent)) [[unlikely]]
        throw IndexError(
            text("index ", asked, " is out of bounds for axis ", axis, " with size ", extent));
      add(k, position);
    }
  }
}

Offsets offsets_of(const Array& a, std::span<const Array> indices) {
  check_array(a);
  for (const Array& i : indices) check_array(i);
  if (static_cast<int>(indices.size()) > a.ndim())
    throw IndexError(text("too many indices for array: array is ", a.ndim(), "-dimensional, but ",
                          indices.size(), " were indexed"));
  std::vector<std::span<const std::int64_t>> shapes;
  for (const Array& i : indices) shapes.push_back(i.shape());
  Offsets result;
  result.shape = broadcast_shapes(shapes);
  std::int64_t count = 8;  // bytes of the offsets
  for (std::int64_t n : result.shape)
    if (__builtin_mul_overflow(count, n, &count))
      throw ValueError("advanced indexing operation result is too large");
  count /= 8;
  result.memory = temporary(count, DType::Int64);
  result.bytes = {reinterpret_cast<std::int64_t*>(result.memory.base()->data),
                  static_cast<std::size_t>(count)};
  if (indices.empty()) std::ranges::fill(result.bytes, 0);
  for (std::size_t k = 0; k < indices.size() && count > 0; ++k) {
    const Array& index = indices[k];
    const std::int64_t extent = a.shape()[k], stride = a.strides()[k];
    const LayoutRef layout = broadcast_layout(*index.layout(), result.shape);
    const std::byte* data = read(index);
    Array dense;
    if (!layout->c_contiguous()) {
      dense = temporary(count, index.dtype());
      pack(dense.base()->data, data, *layout);
      data = dense.base()->data;
    }
    with_index_type(index.dtype(), [&]<class Index>(Index) {
      const auto* asked = reinterpret_cast<const Index*>(data);
      if (k == 0)
        add_offsets<Index, true>(result.bytes.data(), asked, count, k, extent, stride);
      else
        add_offsets<Index, false>(result.bytes.data(), asked, count, k, extent, stride);
    });
  }
  return result;
}

template <class Unit>
void gather_units(std::byte* out, const std::byte* data, const std::int64_t* offsets,
                  std::int64_t begin, std::int64_t end) {
  for (std::int64_t k = begin; k < end; ++k)
    std::memcpy(out + k * static_cast<std::int64_t>(sizeof(Unit)), data + offsets[k], sizeof(Unit));
}

void gather_elements(std::byte* out, const std::byte* data, std::span<const std::int64_t> offsets,
                     int item) {
  const auto n = static_cast<std::int64_t>(offsets.size());
  for_parts(n, 1, [&](std::int64_t begin, std::int64_t end) {
    with_unit(item,
              [&]<class Unit>(Unit) { gather_units<Unit>(out, data, offsets.data(), begin, end); });
  });
}

// Functions of their own, so that nothing is read again behind each store.
template <class Index, class Unit>
void take_below(Unit* __restrict out, const std::byte* __restrict data,
                const Index* __restrict asked, std::int64_t n) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  const auto move = [&](std::int64_t k) {
    std::memcpy(out + k, data + asked[k] * size, sizeof(Unit));
  };
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    move(k);
    move(k + 1);
    move(k + 2);
    move(k + 3);
  }
  for (; k < n; ++k) move(k);
}
template <class Index, class Unit>
bool take_checked(Unit* __restrict out, const std::byte* __restrict data,
                  const Index* __restrict asked, std::int64_t n, std::int64_t extent,
                  std::int64_t stride) {
  bool inside = true;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t position = position_of(asked[k], extent);
    const bool right = is_inside(position, extent);
    inside &= right;
    // What is read at 0 in its stead is thrown away.
    std::memcpy(out + k, data + (right ? position : 0) * stride, sizeof(Unit));
  }
  return inside;
}
template <class Index, class Unit>
bool take_part(Unit* out, const std::byte* data, const Index* asked, std::int64_t n,
               std::int64_t extent, std::int64_t stride) {
  bool inside = true;
  for (std::int64_t k = 0; k < n; k += checked_together) {
    const std::int64_t count = std::min(checked_together, n - k);
    if (stride == static_cast<std::int64_t>(sizeof(Unit)) && all_below(asked + k, count, extent))
      take_below(out + k, data, asked + k, count);
    else
      inside &= take_checked(out + k, data, asked + k, count, extent, stride);
  }
  return inside;
}

// The items that one dense array of indices names, moved to dense memory; false if one is out of
// bounds.
template <class Index, class Unit>
bool take_units(std::byte* out, const std::byte* data, const std::byte* indices, std::int64_t n,
                std::int64_t extent, std::int64_t stride) {
  if (extent == 0) return n == 0;
  std::atomic<bool> all_inside = true;
  const auto take = [&](std::int64_t begin, std::int64_t end) {
    if (!take_part<Index, Unit>(reinterpret_cast<Unit*>(out) + begin, data,
                                reinterpret_cast<const Index*>(indices) + begin, end - begin,
                                extent, stride))
      all_inside = false;
  };
  constexpr std::int64_t few = 4096;  // not worth asking the pool
  if (n <= few)
    take(0, n);
  else
    for_parts(n, 1, take);
  return all_inside;
}

// The common case: one dense array of indices into a vector. Nothing: the general way words the
// error.
std::optional<Array> take_from_vector(const Array& a, const Array& index) {
  const bool narrow = index.dtype() == DType::Int32;
  if (a.ndim() != 1 || (!narrow && index.dtype() != DType::Int64) || !index.c_contiguous())
    return std::nullopt;
  const Array out = empty(index.shape(), a.dtype());
  const std::byte* positions = read(index);
  const std::byte* data = read(a);
  Engine::get().allocate(out.base());
  std::byte* to = out.base()->data;
  const int item = size_of(a.dtype());
  const std::int64_t n = index.size(), extent = a.shape()[0], stride = a.strides()[0];
  const bool inside = with_unit(item, [&]<class Unit>(Unit) {
    return narrow ? take_units<std::int32_t, Unit>(to, data, positions, n, extent, stride)
                  : take_units<std::int64_t, Unit>(to, data, positions, n, extent, stride);
  });
  return inside ? std::optional(out) : std::nullopt;
}

// Rows of a few elements by moves of their size.
void gather_rows(std::byte* out, const std::byte* data, const Layout& row,
                 const std::int64_t* offsets, std::int64_t begin, std::int64_t end) {
  const std::int64_t bytes = row.size() * row.item_size();
  const auto by_moves = [&]<std::size_t size>(std::array<std::byte, size>) {
    gather_units<std::array<std::byte, size>>(out, data, offsets, begin, end);
  };
  if (row.c_contiguous()) {
    if (bytes == 16) return by_moves(std::array<std::byte, 16>());
    if (bytes == 24) return by_moves(std::array<std::byte, 24>());
    if (bytes == 32) return by_moves(std::array<std::byte, 32>());
    if (bytes == 64) return by_moves(std::array<std::byte, 64>());
  }
  for (std::int64_t k = begin; k < end; ++k) {
    if (row.c_contiguous())
      std::memcpy(out + k * bytes, data + offsets[k], static_cast<std::size_t>(bytes));
    else
      pack(out + k * bytes, data + offsets[k], row);
  }
}

}  // namespace

Array gather(const Array& a, std::span<const Array> indices) {
  Locked lock(Engine::lock());
  if (indices.size() == 1)
    if (std::optional<Array> taken = take_from_vector(a, indices[0])) return *std::move(taken);
  const Offsets offsets = offsets_of(a, indices);
  const LayoutRef rest = layout_behind(a, indices.size());
  std::vector<std::int64_t> shape = offsets.shape;
  shape.insert(shape.end(), rest->shape().begin(), rest->shape().end());
  const Array out = empty(shape, a.dtype());
  const std::byte* data = read(a);
  Engine::get().allocate(out.base());
  std::byte* to = out.base()->data;
  if (out.size() == 0) return out;
  const int item = size_of(a.dtype());
  if (rest->size() == 1) {
    gather_elements(to, data, offsets.bytes, item);
    return out;
  }
  for_parts(static_cast<std::int64_t>(offsets.bytes.size()), rest->size(),
            [&](std::int64_t begin, std::int64_t end) {
              gather_rows(to, data, *rest, offsets.bytes.data(), begin, end);
            });
  return out;
}

namespace {

// Rows of any size; all indices lie inside.
void take_rows(std::byte* out, const std::byte* data, std::span<const std::int64_t> asked,
               std::int64_t extent, std::int64_t row) {
  for (const std::int64_t index : asked) {
    std::memcpy(out, data + position_of(index, extent) * row, static_cast<std::size_t>(row));
    out += row;
  }
}

bool is_dense_int64(const Array& a) { return a.dtype() == DType::Int64 && a.c_contiguous(); }

}  // namespace

std::optional<Array> take_dense(const Array& a, const Array& indices, int axis) {
  Locked lock(Engine::lock());
  if (!a.c_contiguous() || a.size() == 0 || !is_dense_int64(indices)) return std::nullopt;
  if (a.ndim() == 1) return take_from_vector(a, indices);
  const auto along = static_cast<std::size_t>(axis);
  const auto before = a.shape().first(along), behind = a.shape().subspan(along + 1);
  const std::int64_t n = indices.size(), extent = a.shape()[along];
  const auto* numbers = reinterpret_cast<const std::int64_t*>(read(indices));
  const bool below = all_below(numbers, n, extent);
  if (!below && !all_inside(numbers, n, extent)) return std::nullopt;
  std::vector<std::int64_t> shape(before.begin(), before.end());
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), behind.begin(), behind.end());
  const Array out = empty(shape, a.dtype());
  const std::byte* data = read(a);
  Engine::get().allocate(out.base());
  std::byte* to = out.base()->data;
  std::int64_t outer = 1, row = size_of(a.dtype());
  for (const std::int64_t count : before) outer *= count;
  for (const std::int64_t count : behind) row *= count;
  const int item = size_of(a.dtype());
  if (row == item && n < outer) {  // a few columns
    for_parts(outer, n, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t rows[1] = {end - begin}, steps[1] = {extent * row}, into[1] = {n * row};
      for (std::int64_t k = 0; k < n; ++k) {
        std::byte* column = const_cast<std::byte*>(data) + position_of(numbers[k], extent) * row;
        copy_elements({to + (begin * n + k) * row, into}, {column + begin * extent * row, steps},
                      rows, item);
      }
    });
    return out;
  }
  for_parts(outer, n * row / item, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      std::byte* into = to + k * n * row;
      const std::byte* from = data + k * extent * row;
      if (row == item)
        with_unit(item, [&]<class Unit>(Unit) {
          auto* const units = reinterpret_cast<Unit*>(into);
          if (below)
            take_below(units, from, numbers, n);
          else
            take_checked(units, from, numbers, n, extent, row);
        });
      else
        take_rows(into, from, {numbers, static_cast<std::size_t>(n)}, extent, row);
    }
  });
  return out;
}

std::optional<Array> repeat_dense(const Array& a, const Array& counts) {
  Locked lock(Engine::lock());
  if (a.ndim() != 1 || !a.c_contiguous() || counts.ndim() != 1 || !is_dense_int64(counts) ||
      a.size() != counts.size())
    return std::nullopt;
  const auto* times = reinterpret_cast<const std::int64_t*>(read(counts));
  const std::int64_t n = a.size();
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < n; ++k)
    if (times[k] < 0 || __builtin_add_overflow(total, times[k], &total)) return std::nullopt;
  const std::int64_t shape[1] = {total};
  const Array out = empty(shape, a.dtype());
  const std::byte* from = read(a);
  Engine::get().allocate(out.base());
  std::byte* to = out.base()->data;
  with_unit(size_of(a.dtype()), [&]<class Unit>(Unit) {
    auto* next = reinterpret_cast<Unit*>(to);
    for (std::int64_t k = 0; k < n; ++k) {
      Unit element;
      std::memcpy(&element, from + k * static_cast<std::int64_t>(sizeof(Unit)), sizeof(Unit));
      for (std::int64_t left = times[k]; left > 0; --left) *next++ = element;
    }
  });
  return out;
}

namespace {

// The value of an indexed assignment, dense, in the target's type and the full shape of what is
// assigned.
Array value_for(const Array& a, const Offsets& offsets, const Layout& rest, const Argument& value) {
  std::vector<std::int64_t> shape = offsets.shape;
  shape.insert(shape.end(), rest.shape().begin(), rest.shape().end());
  const Array* given = value.array;
  if (given && given->dtype() == a.dtype() && given->c_contiguous() &&
      !share_memory(*given->base(), *a.base()) && std::ranges::equal(given->shape(), shape))
    return *given;
  const Array dense = empty(shape, a.dtype());
  assign(dense, value);
  return dense;
}

// All indices lie inside; `step`: units of `from` for each.
template <class Unit>
void put_units(std::byte* __restrict to, const std::byte* __restrict from,
               const std::int64_t* __restrict asked, std::int64_t n, std::int64_t step,
               std::int64_t extent, std::int64_t stride) {
  for (std::int64_t k = 0; k < n; ++k)
    std::memcpy(to + position_of(asked[k], extent) * stride,
                from + k * step * static_cast<std::int64_t>(sizeof(Unit)), sizeof(Unit));
}
// The same, none of them negative, into elements side by side.
template <class Unit>
void put_below(std::byte* __restrict to, const std::byte* __restrict from,
               const std::int64_t* __restrict asked, std::int64_t n, std::int64_t step) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Unit));
  for (std::int64_t k = 0; k < n; ++k)
    std::memcpy(to + asked[k] * size, from + k * step * size, sizeof(Unit));
}

// The common case: one dense array of int64 indices into a vector, and a number or a dense vector
// of as many elements of its type, which don't lie in the vector's memory.
bool is_vector_by_index(const Array& a, const Array& index, const Argument& value) {
  const auto is_dense = [&a](const Array& other, DType dtype) {
    return other.ndim() == 1 && other.dtype() == dtype && other.c_contiguous() &&
           !share_memory(*other.base(), *a.base());
  };
  return a.ndim() == 1 && is_dense(index, DType::Int64) &&
         (!value.array ||
          (is_dense(*value.array, a.dtype()) && value.array->size() == index.size()));
}

// False: the general way does it, or words the error.
bool put_in_vector(const Array& a, const Array& index, const Argument& value) {
  const bool is_single = !value.array;
  if (!is_vector_by_index(a, index, value) ||
      (is_single && (value.scalar.dtype != a.dtype() || value.weak != Weak::No)))
    return false;
  const std::byte* from = is_single ? value.scalar.bytes : read(*value.array);
  const auto* asked = reinterpret_cast<const std::int64_t*>(read(index));
  const std::int64_t n = index.size(), extent = a.shape()[0];
  const bool below = all_below(asked, n, extent);
  if (!below && !all_inside(asked, n, extent)) return false;
  Engine& engine = Engine::get();
  engine.settle(a.base());
  engine.allocate(a.base());
  std::byte* to = a.base()->data + a.offset();
  const std::int64_t step = is_single ? 0 : 1, stride = a.strides()[0];
  with_unit(size_of(a.dtype()), [&]<class Unit>(Unit) {
    if (below && stride == static_cast<std::int64_t>(sizeof(Unit)))
      put_below<Unit>(to, from, asked, n, step);
    else
      put_units<Unit>(to, from, asked, n, step, extent, stride);
  });
  return true;
}

}  // namespace

void scatter(const Array& a, std::span<const Array> indices, const Argument& value) {
  check_array(a);
  Locked lock(Engine::lock());
  if (!a.writable()) throw ValueError("assignment destination is read-only");
  if (indices.size() == 1 && put_in_vector(a, indices[0], value)) return;
  Engine& engine = Engine::get();
  const Offsets offsets = offsets_of(a, indices);
  const LayoutRef rest = layout_behind(a, indices.size());
  const Array dense = value_for(a, offsets, *rest, value);
  if (dense.size() == 0) return;
  const std::byte* from = read(dense);
  engine.settle(a.base());
  engine.allocate(a.base());
  std::byte* to = a.base()->data + a.offset();
  const int item = size_of(a.dtype());
  const std::int64_t row = rest->size() * item;
  if (rest->size() == 1)
    return with_unit(item, [&]<class Unit>(Unit) {
      for (std::size_t k = 0; k < offsets.bytes.size(); ++k)
        std::memcpy(to + offsets.bytes[k], from + k * sizeof(Unit), sizeof(Unit));
    });
  const bool is_dense = rest->c_contiguous();
  for (const std::int64_t offset : offsets.bytes) {
    if (is_dense)
      std::memcpy(to + offset, from, static_cast<std::size_t>(row));
    else
      unpack(to + offset, *rest, from);
    from += row;
  }
}

namespace {

// Do the flags say which errors there were? (Integers raise none in the first three.)
bool flags_tell(Op op, DType dtype) {
  return op == Op::Add || op == Op::Subtract || op == Op::Multiply ||
         (op == Op::TrueDivide && is_float(dtype));
}

// NumPy has loops of their own for ufunc.at of these, for vectors and values of their dtype; all
// other warnings speak of "at".
bool is_named_by_itself(Op op, const Array& a, const Argument& value) {
  const DType dtype = value.array ? value.array->dtype() : value.scalar.dtype;
  if (a.ndim() != 1 || dtype != a.dtype() || (value.array && value.array->ndim() > 1)) return false;
  switch (op) {
    case Op::TrueDivide:
      return !is_complex(dtype);
    case Op::Add:
    case Op::Subtract:
    case Op::Multiply:
    case Op::FloorDivide:
    case Op::Maximum:
    case Op::Minimum:
    case Op::Fmax:
    case Op::Fmin:
      return true;
    default:
      return false;
  }
}

// Which elements are updated, by what; as in UpdateLoop.
struct Update {
  Op op;
  DType dtype;
  std::int64_t extent, stride;
  std::span<const std::int64_t> indices;
  bool has_many;
};

template <class T, bool is_add>
void update_complex(void* elements, std::int64_t extent, std::int64_t stride,
                    const std::int64_t* indices, const void* values, std::int64_t step,
                    std::int64_t n) {
  auto* const base = static_cast<std::byte*>(elements);
  const auto* from = static_cast<const T*>(values);
  for (std::int64_t k = 0; k < n; ++k, from += 2 * step) {
    std::byte* const to = base + position_of(indices[k], extent) * stride;
    T parts[2];
    std::memcpy(parts, to, sizeof parts);
    for (int j = 0; j < 2; ++j) parts[j] += is_add ? from[j] : -from[j];
    std::memcpy(to, parts, sizeof parts);
  }
}
UpdateLoop loop_of_updates(Op op, DType dtype) {
  if (!is_complex(dtype)) return update_loop(op, dtype);
  if (op != Op::Add && op != Op::Subtract) return nullptr;
  if (dtype == DType::Complex64)
    return op == Op::Add ? update_complex<float, true> : update_complex<float, false>;
  return op == Op::Add ? update_complex<double, true> : update_complex<double, false>;
}

// One element after another.
bool update_elements(const Update& u, std::byte* to, const std::byte* from) {
  const UpdateLoop update = loop_of_updates(u.op, u.dtype);
  if (!update || (may_warn(u.op, u.dtype) && !flags_tell(u.op, u.dtype))) return false;
  Engine& engine = Engine::get();
  const bool want_flags =
      engine.settings.float_checks != 0 && is_inexact(u.dtype) && may_warn(u.op, u.dtype);
  if (want_flags) clear_float_flags();
  update(to, u.extent, u.stride, u.indices.data(), from, u.has_many ? 1 : 0, std::ssize(u.indices));
  if (want_flags)
    engine.note_float_flags(u.op, engine.source, engine.settings.float_checks, float_flags());
  return true;
}

// False: the general way does it, or words the error.
bool update_vector(Op op, const Array& a, const Array& index, const Argument& value) {
  if (index.size() == 0 || !is_vector_by_index(a, index, value)) return false;
  Array number;
  if (!value.array) assign(number = empty({}, a.dtype()), value);
  const std::byte* from = read(value.array ? *value.array : number);
  const auto* asked = reinterpret_cast<const std::int64_t*>(read(index));
  const std::int64_t n = index.size(), extent = a.shape()[0];
  if (!all_below(asked, n, extent) && !all_inside(asked, n, extent)) return false;
  Engine& engine = Engine::get();
  engine.settle(a.base());
  engine.allocate(a.base());
  return update_elements({.op = op,
                          .dtype = a.dtype(),
                          .extent = extent,
                          .stride = a.strides()[0],
                          .indices = {asked, static_cast<std::size_t>(n)},
                          .has_many = value.array != nullptr},
                         a.base()->data + a.offset(), from);
}

}  // namespace

void scatter_apply(Op op, const Array& a, std::span<const Array> indices, const Argument& value) {
  check_array(a);
  Locked lock(Engine::lock());
  if (!a.writable()) throw ValueError("assignment destination is read-only");
  Engine& engine = Engine::get();
  // NumPy fuses no complex products here.
  const bool is_product = op == Op::Multiply && is_complex(a.dtype());
  const Loop combine = loop(is_product ? Op::MultiplyUnfused : op, a.dtype());
  if (!combine || info(op).inputs != 2)
    throw TypeError(text("no native ", info(op).numpy_name, ".at for ", info(a.dtype()).name));
  const OtherSources sources(engine);
  if (!is_named_by_itself(op, a, value)) engine.source.ufunc = "at";
  if (indices.size() == 1 && update_vector(op, a, indices[0], value)) return;
  const Offsets offsets = offsets_of(a, indices);
  const LayoutRef rest = layout_behind(a, indices.size());
  const bool is_number = !value.array && rest->size() == 1 && !offsets.bytes.empty();
  const Array dense = is_number ? empty({}, a.dtype()) : value_for(a, offsets, *rest, value);
  if (is_number) assign(dense, value);
  if (dense.size() == 0) return;
  const std::byte* from = read(dense);
  engine.settle(a.base());
  engine.allocate(a.base());
  std::byte* to = a.base()->data + a.offset();
  if (rest->size() == 1 && update_elements({.op = op,
                                            .dtype = a.dtype(),
                                            .extent = 0,
                                            .stride = 1,
                                            .indices = offsets.bytes,
                                            .has_many = !is_number},
                                           to, from))
    return;
  const std::int64_t row = rest->size() * size_of(a.dtype());
  std::vector<std::byte> before(static_cast<std::size_t>(row)), after(before.size());
  const Signature signature{{a.dtype(), a.dtype(), a.dtype()}, a.dtype()};
  const bool want_flags = engine.settings.float_checks != 0 && has(op, MayWarn);
  if (want_flags) clear_float_flags();
  for (std::size_t k = 0; k < offsets.bytes.size(); ++k) {
    std::byte* element = to + offsets.bytes[k];
    pack(before.data(), element, *rest);
    void* args[3] = {
        after.data(), before.data(),
        const_cast<std::byte*>(from + (is_number ? 0 : static_cast<std::int64_t>(k) * row))};
    combine(args, rest->size(), 0);
    unpack(element, *rest, after.data());
    if (!want_flags) continue;
    if (const unsigned flags = float_flags(); flags & flags_of_interest) {
      engine.note_small(op, signature, args, rest->size(), 0, flags);
      clear_float_flags();
    }
  }
}
}  // namespace frit
