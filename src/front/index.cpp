// index.cpp: indexing by arrays: indices are checked at the call; then gathers and scatters run at their place in the order.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "engine/pool.h"
#include "front/common.h"
#include "front/small.h"

namespace frit {
namespace {

constexpr std::int64_t part_elements = 1 << 14;

// Index arrays as dense int64 offsets (in bytes) into the indexed window, checked.
struct Offsets {
  std::vector<std::int64_t> shape;  // of the indices, broadcast
  std::vector<std::int64_t> bytes;  // one an index tuple
};

std::int64_t index_at(const std::byte* p, DType dtype) {
  const auto as = [p]<class T>(T) {
    T x;
    std::memcpy(&x, p, sizeof x);
    return static_cast<std::int64_t>(x);
  };
  switch (dtype) {
    case DType::Int8:
      return as(std::int8_t{});
    case DType::Int16:
      return as(std::int16_t{});
    case DType::Int32:
      return as(std::int32_t{});
    case DType::Int64:
      return as(std::int64_t{});
    case DType::UInt8:
      return as(std::uint8_t{});
    case DType::UInt16:
      return as(std::uint16_t{});
    case DType::UInt32:
      return as(std::uint32_t{});
    case DType::UInt64:
      return as(std::uint64_t{});
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

Offsets offsets_of(const Array& a, std::span<const Array> indices) {
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
  result.bytes.assign(static_cast<std::size_t>(count), 0);
  if (count == 0) return result;
  std::vector<std::byte> dense;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Array& index = indices[k];
    const std::int64_t extent = a.shape()[k], stride = a.strides()[k];
    const int item = size_of(index.dtype());
    const LayoutRef layout = broadcast_layout(*index.layout(), result.shape);
    const std::byte* data = read(index);
    if (!layout->c_contiguous()) {
      dense.resize(static_cast<std::size_t>(count * item));
      pack(dense.data(), data, *layout);
      data = dense.data();
    }
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t asked = index_at(data + j * item, index.dtype());
      const std::int64_t position = asked < 0 ? asked + extent : asked;
      if (position < 0 || position >= extent)
        throw IndexError(
            text("index ", asked, " is out of bounds for axis ", k, " with size ", extent));
      result.bytes[static_cast<std::size_t>(j)] += position * stride;
    }
  }
  return result;
}

// The axes of `a` behind the indexed ones.
LayoutRef rest_layout(const Array& a, std::size_t indexed) {
  return LayoutRef::adopt(
      make_layout(a.shape().subspan(indexed), a.strides().subspan(indexed), size_of(a.dtype())));
}

struct ForParts {
  template <class Work>  // work(begin, end)
  static void run(std::int64_t n, std::int64_t elements_each, Work&& work) {
    ThreadPool& pool = ThreadPool::get();
    const std::int64_t parts = std::clamp<std::int64_t>(
        n * std::max<std::int64_t>(elements_each, 1) / part_elements, 1, pool.threads() * 4);
    struct Context {
      Work& work;
      std::int64_t n, parts;
    } context{work, n, parts};
    pool.run(
        parts,
        [](void* p, std::int64_t k) {
          auto& c = *static_cast<Context*>(p);
          c.work(c.n * k / c.parts, c.n * (k + 1) / c.parts);
        },
        &context);
  }
};

template <class Unit>
void gather_units(std::byte* out, const std::byte* data, const std::int64_t* offsets,
                  std::int64_t begin, std::int64_t end) {
  for (std::int64_t k = begin; k < end; ++k)
    std::memcpy(out + k * static_cast<std::int64_t>(sizeof(Unit)), data + offsets[k], sizeof(Unit));
}

struct Unit16 {
  std::uint64_t parts[2];
};

void gather_elements(std::byte* out, const std::byte* data,
                     const std::vector<std::int64_t>& offsets, int item) {
  const auto n = static_cast<std::int64_t>(offsets.size());
  ForParts::run(n, 1, [&](std::int64_t begin, std::int64_t end) {
    switch (item) {
      case 1:
        return gather_units<std::uint8_t>(out, data, offsets.data(), begin, end);
      case 2:
        return gather_units<std::uint16_t>(out, data, offsets.data(), begin, end);
      case 4:
        return gather_units<std::uint32_t>(out, data, offsets.data(), begin, end);
      case 8:
        return gather_units<std::uint64_t>(out, data, offsets.data(), begin, end);
      case 16:
        return gather_units<Unit16>(out, data, offsets.data(), begin, end);
    }
  });
}

}  // namespace

Array gather(const Array& a, std::span<const Array> indices) {
  Locked lock(Engine::lock());
  const Offsets offsets = offsets_of(a, indices);
  const LayoutRef rest = rest_layout(a, indices.size());
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
  const std::int64_t row = rest->size() * item;
  ForParts::run(static_cast<std::int64_t>(offsets.bytes.size()), rest->size(),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t k = begin; k < end; ++k) {
                    const std::byte* from = data + offsets.bytes[static_cast<std::size_t>(k)];
                    if (rest->c_contiguous())
                      std::memcpy(to + k * row, from, static_cast<std::size_t>(row));
                    else
                      pack(to + k * row, from, *rest);
                  }
                });
  return out;
}

namespace {

// The value of an indexed assignment, dense, in the target's type and the full shape of what is assigned.
Array value_for(const Array& a, const Offsets& offsets, const Layout& rest, const Argument& value) {
  std::vector<std::int64_t> shape = offsets.shape;
  shape.insert(shape.end(), rest.shape().begin(), rest.shape().end());
  const Array dense = empty(shape, a.dtype());
  assign(dense, value);
  return dense;
}

}  // namespace

void scatter(const Array& a, std::span<const Array> indices, const Argument& value) {
  Locked lock(Engine::lock());
  if (!a.writable()) throw ValueError("assignment destination is read-only");
  Engine& engine = Engine::get();
  const Offsets offsets = offsets_of(a, indices);
  const LayoutRef rest = rest_layout(a, indices.size());
  const Array dense = value_for(a, offsets, *rest, value);
  if (dense.size() == 0) return;
  const std::byte* from = read(dense);
  engine.settle(a.base(), true);
  engine.allocate(a.base());
  std::byte* to = a.base()->data + a.offset();
  const int item = size_of(a.dtype());
  const std::int64_t row = rest->size() * item;
  for (std::size_t k = 0; k < offsets.bytes.size(); ++k) {
    const std::byte* element = from + static_cast<std::int64_t>(k) * row;
    if (rest->size() == 1)
      std::memcpy(to + offsets.bytes[k], element, static_cast<std::size_t>(item));
    else
      unpack(to + offsets.bytes[k], *rest, element);
  }
}

void scatter_apply(Op op, const Array& a, std::span<const Array> indices, const Argument& value) {
  Locked lock(Engine::lock());
  if (!a.writable()) throw ValueError("assignment destination is read-only");
  Engine& engine = Engine::get();
  const Loop combine = loop(op, a.dtype());
  if (!combine || info(op).inputs != 2)
    throw TypeError(text("no native ", info(op).numpy_name, ".at for ", info(a.dtype()).name));
  const Offsets offsets = offsets_of(a, indices);
  const LayoutRef rest = rest_layout(a, indices.size());
  const Array dense = value_for(a, offsets, *rest, value);
  if (dense.size() == 0) return;
  const std::byte* from = read(dense);
  engine.settle(a.base(), true);
  engine.allocate(a.base());
  std::byte* to = a.base()->data + a.offset();
  const std::int64_t row = rest->size() * size_of(a.dtype());
  std::vector<std::byte> before(static_cast<std::size_t>(row)), after(before.size());
  const Signature signature{{a.dtype(), a.dtype(), a.dtype()}, a.dtype()};
  const bool want_flags = engine.settings.float_checks != 0 && has(op, MayWarn);
  if (want_flags) clear_float_flags();
  for (std::size_t k = 0; k < offsets.bytes.size(); ++k) {
    std::byte* element = to + offsets.bytes[k];
    pack(before.data(), element, *rest);
    void* args[3] = {after.data(), before.data(),
                     const_cast<std::byte*>(from + static_cast<std::int64_t>(k) * row)};
    combine(args, rest->size(), 0);
    unpack(element, *rest, after.data());
    if (!want_flags) continue;
    if (const unsigned flags = float_flags(); flags & flags_of_interest) {
      engine.note_small(op, signature, args, rest->size(), 0, flags);
      clear_float_flags();
    }
  }
}

// ---- masks --------------------------------------------------------------------------------------

namespace {

// The positions where a dense bool array is true, in order; in two passes, so that threads know where to write.
std::vector<std::int64_t> true_positions(const std::byte* mask, std::int64_t n) {
  constexpr std::int64_t block = 1 << 14;
  const std::int64_t blocks = (n + block - 1) / block;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(blocks) + 1, 0);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(mask);
  ForParts::run(blocks, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      std::int64_t count = 0;
      for (std::int64_t k = b * block; k < std::min(n, (b + 1) * block); ++k) count += bytes[k];
      counts[static_cast<std::size_t>(b) + 1] = count;
    }
  });
  for (std::size_t b = 1; b < counts.size(); ++b) counts[b] += counts[b - 1];
  // One more, so that the branch-free loop may write behind the last.
  std::vector<std::int64_t> positions(static_cast<std::size_t>(counts.back()) +
                                      static_cast<std::size_t>(blocks) + 1);
  const std::int64_t total = counts.back();
  ForParts::run(blocks, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      std::int64_t at = counts[static_cast<std::size_t>(b)];
      const std::int64_t stop = counts[static_cast<std::size_t>(b) + 1];
      for (std::int64_t k = b * block; k < std::min(n, (b + 1) * block) && at < stop; ++k) {
        positions[static_cast<std::size_t>(at)] = k;
        at += bytes[k];
      }
    }
  });
  positions.resize(static_cast<std::size_t>(total));
  return positions;
}

std::vector<std::int64_t> true_positions_of(const Array& mask) {
  const Array dense = mask.c_contiguous() ? mask : copy(mask, 'C');
  return true_positions(read(dense), dense.size());
}

// Bytes from the first element of `a` to the element with this flat index over its leading `axes` axes.
void to_byte_offsets(std::vector<std::int64_t>& positions, const Array& a, std::size_t axes) {
  const auto shape = a.shape(), strides = a.strides();
  bool dense = true;
  std::int64_t expected = axes > 0 ? strides[axes - 1] : 0;
  for (std::size_t k = axes; k-- > 0;) {
    if (shape[k] != 1 && strides[k] != expected) dense = false;
    expected *= shape[k];
  }
  const auto n = static_cast<std::int64_t>(positions.size());
  const std::int64_t step = axes > 0 ? strides[axes - 1] : 0;
  ForParts::run(n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      std::int64_t rest = positions[static_cast<std::size_t>(j)], offset = 0;
      if (dense) {
        offset = rest * step;
      } else {
        for (std::size_t k = axes; k-- > 0;) {
          offset += rest % shape[k] * strides[k];
          rest /= shape[k];
        }
      }
      positions[static_cast<std::size_t>(j)] = offset;
    }
  });
}

void check_mask(const Array& a, const Array& mask) {
  if (mask.ndim() > a.ndim())
    throw IndexError(text("too many indices for array: array is ", a.ndim(), "-dimensional, but ",
                          mask.ndim(), " were indexed"));
  for (std::size_t k = 0; k < mask.shape().size(); ++k)
    if (mask.shape()[k] != a.shape()[k])
      throw IndexError(text("boolean index did not match indexed array along axis ", k,
                            "; size of axis is ", a.shape()[k],
                            " but size of corresponding boolean axis is ", mask.shape()[k]));
}

}  // namespace

Array compress(const Array& a, const Array& mask) {
  Locked lock(Engine::lock());
  check(mask.dtype() == DType::Bool, "a mask is bool");
  check_mask(a, mask);
  std::vector<std::int64_t> positions = true_positions_of(mask);
  const auto axes = static_cast<std::size_t>(mask.ndim());
  const LayoutRef rest = rest_layout(a, axes);
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(positions.size())};
  shape.insert(shape.end(), rest->shape().begin(), rest->shape().end());
  const Array out = empty(shape, a.dtype());
  const std::byte* data = read(a);
  Engine::get().allocate(out.base());
  if (out.size() == 0) return out;
  to_byte_offsets(positions, a, axes);
  const int item = size_of(a.dtype());
  std::byte* to = out.base()->data;
  if (rest->size() == 1) {
    gather_elements(to, data, positions, item);
    return out;
  }
  const std::int64_t row = rest->size() * item;
  for (std::size_t k = 0; k < positions.size(); ++k)
    pack(to + static_cast<std::int64_t>(k) * row, data + positions[k], *rest);
  return out;
}

std::vector<Array> nonzero(const Array& a) {
  Locked lock(Engine::lock());
  const Array mask = a.dtype() == DType::Bool ? a : astype(a, DType::Bool, 'C');
  const std::vector<std::int64_t> positions = true_positions_of(mask);
  const auto n = static_cast<std::int64_t>(positions.size());
  const auto axes = static_cast<std::size_t>(a.ndim());
  // As NumPy: the columns of one table.
  const std::int64_t table_shape[2] = {n, a.ndim()}, shape[1] = {n}, strides[1] = {8 * a.ndim()};
  const Array table = empty(table_shape, DType::Int64);
  Engine::get().allocate(table.base());
  auto* rows = reinterpret_cast<std::int64_t*>(table.base()->data);
  std::vector<Array> result;
  for (std::size_t k = 0; k < axes; ++k)
    result.push_back(
        window(table, shape, strides, n > 0 ? 8 * static_cast<std::int64_t>(k) : 0, DType::Int64));
  ForParts::run(n, static_cast<std::int64_t>(axes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      std::int64_t rest = positions[static_cast<std::size_t>(j)];
      std::int64_t* row = rows + j * static_cast<std::int64_t>(axes);
      for (std::size_t k = axes; k-- > 1;) {
        row[k] = rest % a.shape()[k];
        rest /= a.shape()[k];
      }
      row[0] = rest;
    }
  });
  return result;
}

std::int64_t count_nonzero(const Array& a) {
  Locked lock(Engine::lock());
  const Array mask = a.dtype() == DType::Bool ? a : astype(a, DType::Bool);
  return item(reduce(Op::Add, mask, {.dtype = DType::Int64})).as<std::int64_t>();
}

}  // namespace frit
