// mask.cpp: indexing by bool arrays: reading and writing where they are true.
//
// A mask is read eight bytes at a time: a word of zeros is skipped, a word of ones moves eight
// elements, and the bits of any other word are walked. Blocks of the mask are counted first, so
// that threads know where to go on.
#include <bit>
#include <cstring>
#include <utility>

#include "engine/pack.h"
#include "front/common.h"
#include "front/parts.h"
#include "front/selection.h"
#include "ops/loops.h"
#include "ops/pack_loops.h"

namespace frit {
namespace {

constexpr std::int64_t block = 1 << 14;  // mask elements
constexpr std::uint64_t ones = 0x0101010101010101;

// Eight elements, each 0 or 1: a view of other memory as bool may hold any byte.
std::uint64_t word_at(const std::uint8_t* mask) {
  std::uint64_t word;
  std::memcpy(&word, mask, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  constexpr std::uint64_t rest = 0x7F * ones;
  return (((word & rest) + rest) | word) >> 7 & ones;
}

std::int64_t count_true(const std::uint8_t* mask, std::int64_t n) {
  return count_true_loop()(mask, n);
}

// How many elements of a mask are true before each of its blocks.
class MaskBlocks {
 public:
  MaskBlocks(const std::uint8_t* bytes, std::int64_t size) : size_(size) {
    const std::int64_t blocks = (size + block - 1) / block;
    if (blocks == 1) {  // nothing to share, and nothing to allocate
      count_ = count_true(bytes, size);
      return;
    }
    before_.assign(static_cast<std::size_t>(blocks) + 1, 0);
    for_parts(blocks, block / 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        before_[static_cast<std::size_t>(b) + 1] =
            count_true(bytes + b * block, std::min(block, size - b * block));
    });
    for (std::size_t b = 1; b < before_.size(); ++b) before_[b] += before_[b - 1];
    count_ = before_.back();
  }

  std::int64_t size() const { return size_; }
  std::int64_t count() const { return count_; }

  // work(begin, end, number of true elements before, and in it): in parallel; none for blocks
  // without a true element.
  template <class Work>
  void for_each(std::int64_t elements_each, Work&& work) const {
    if (before_.empty()) {
      if (count_ > 0) work(std::int64_t{0}, size_, std::int64_t{0}, count_);
      return;
    }
    const auto blocks = static_cast<std::int64_t>(before_.size()) - 1;
    for_parts(blocks, block * elements_each, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t before = before_[static_cast<std::size_t>(b)];
        const std::int64_t count = before_[static_cast<std::size_t>(b) + 1] - before;
        if (count > 0) work(b * block, std::min(size_, (b + 1) * block), before, count);
      }
    });
  }

 private:
  std::int64_t size_;
  std::vector<std::int64_t> before_;  // empty where there is one block
  std::int64_t count_ = 0;
};

// The blocks of a dense mask. Those of the last one are kept: `x[mask]` mostly comes with
// `y[mask]`.
std::shared_ptr<const MaskBlocks> blocks_of(const Array& mask, const std::uint8_t* bytes) {
  struct Counted {
    std::uint64_t stamp = 0;
    std::int64_t offset = 0, size = 0;
    std::shared_ptr<const MaskBlocks> blocks;
  };
  static auto* const last = new Counted;  // outlives every array
  const std::uint64_t stamp = Engine::get().stamp(mask.base());
  if (stamp == 0) return std::make_shared<MaskBlocks>(bytes, mask.size());
  if (last->stamp != stamp || last->offset != mask.offset() || last->size != mask.size())
    *last = {stamp, mask.offset(), mask.size(), std::make_shared<MaskBlocks>(bytes, mask.size())};
  return last->blocks;
}

// A mask in dense memory.
class Mask {
 public:
  explicit Mask(const Array& mask) : held_(mask.c_contiguous() ? mask : copy(mask, 'C')) {
    bytes_ = reinterpret_cast<const std::uint8_t*>(read(held_));
    blocks_ = blocks_of(held_, bytes_);
    axes_ = held_.ndim();
  }
  Mask(const std::byte* bytes, std::shared_ptr<const MaskBlocks> blocks, int axes)
      : bytes_(reinterpret_cast<const std::uint8_t*>(bytes)),
        blocks_(std::move(blocks)),
        axes_(axes) {}

  std::int64_t size() const { return blocks_->size(); }
  std::int64_t count() const { return blocks_->count(); }
  const std::uint8_t* bytes() const { return bytes_; }
  int axes() const { return axes_; }
  const std::shared_ptr<const MaskBlocks>& blocks() const { return blocks_; }

  template <class Work>
  void for_blocks(std::int64_t elements_each, Work&& work) const {
    blocks_->for_each(elements_each, work);
  }

 private:
  Array held_;  // none: somebody else holds it
  const std::uint8_t* bytes_;
  std::shared_ptr<const MaskBlocks> blocks_;
  int axes_;
};

// Where the items of an array lie that belong to the elements of a mask over its leading axes: rows
// of equal distances, as long as the strides allow.
class Places {
 public:
  Places(const Layout& a, std::size_t axes, std::byte* data) : data_(data) {
    const auto shape = a.shape().first(axes), strides = a.strides().first(axes);
    for (std::size_t k = axes; k-- > 0;) {
      if (outer_shape_.empty() &&
          (length_ == 1 || strides[k] == step_ * length_ || shape[k] == 1)) {
        if (length_ == 1) step_ = strides[k];
        length_ *= shape[k];
        continue;
      }
      outer_shape_.push_back(shape[k]);
      outer_strides_.push_back(strides[k]);
    }
  }

  std::int64_t length() const { return length_; }
  std::int64_t step() const { return step_; }
  std::byte* row(std::int64_t number) const {
    std::byte* p = data_;
    for (std::size_t k = 0; k < outer_shape_.size(); ++k) {  // innermost first
      p += number % outer_shape_[k] * outer_strides_[k];
      number /= outer_shape_[k];
    }
    return p;
  }

 private:
  std::byte* data_;
  std::int64_t length_ = 1, step_ = 0;
  std::vector<std::int64_t> outer_shape_, outer_strides_;
};

// How one item is moved between its place in the array and dense memory.
enum class Direction { ToDense, FromDense };

template <Direction direction, int bytes>
struct MoveBytes {
  static constexpr std::int64_t size = bytes;
  void operator()(std::byte* place, std::byte* dense) const {
    if constexpr (direction == Direction::ToDense)
      std::memcpy(dense, place, bytes);
    else
      std::memcpy(place, dense, bytes);
  }
  void eight(std::byte* place, std::byte* dense, std::int64_t step) const {
    if (step == bytes) return MoveBytes<direction, 8 * bytes>()(place, dense);
    for (int k = 0; k < 8; ++k) (*this)(place + k * step, dense + k * size);
  }
};

template <Direction direction>
struct MoveRow {
  const Layout& layout;
  std::int64_t size;
  void operator()(std::byte* place, std::byte* dense) const {
    const bool flat = layout.c_contiguous();
    if (direction == Direction::ToDense)
      flat ? static_cast<void>(std::memcpy(dense, place, static_cast<std::size_t>(size)))
           : pack(dense, place, layout);
    else
      flat ? static_cast<void>(std::memcpy(place, dense, static_cast<std::size_t>(size)))
           : unpack(place, layout, dense);
  }
  void eight(std::byte* place, std::byte* dense, std::int64_t step) const {
    for (int k = 0; k < 8; ++k) (*this)(place + k * step, dense + k * size);
  }
};

// Neighbouring elements, of a size that the machine has instructions for.
template <Direction direction>
struct MoveVectors {
  PackLoops loops;
  std::int64_t size;
};

template <Direction direction>
std::byte* move_in_row(const std::uint8_t* mask, std::int64_t n, std::byte* place, std::int64_t,
                       std::byte* dense, const MoveVectors<direction>& move) {
  const std::int64_t count = direction == Direction::ToDense
                                 ? move.loops.pack(dense, place, mask, n)
                                 : move.loops.unpack(place, dense, mask, n);
  return dense + count * move.size;
}

template <class Move>
std::byte* move_in_row(const std::uint8_t* mask, std::int64_t n, std::byte* place,
                       std::int64_t step, std::byte* dense, const Move& move) {
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    std::uint64_t word = word_at(mask + k);
    if (word == ones) {
      move.eight(place + k * step, dense, step);
      dense += 8 * move.size;
      continue;
    }
    for (; word != 0; word &= word - 1) {
      move(place + (k + std::countr_zero(word) / 8) * step, dense);
      dense += move.size;
    }
  }
  for (; k < n; ++k)
    if (mask[k]) {
      move(place + k * step, dense);
      dense += move.size;
    }
  return dense;
}

template <class Move>
void move_masked(const Mask& mask, const Places& places, std::byte* dense,
                 std::int64_t elements_each, const Move& move) {
  mask.for_blocks(elements_each,
                  [&](std::int64_t begin, std::int64_t end, std::int64_t before, std::int64_t) {
                    std::byte* to = dense + before * move.size;
                    while (begin < end) {
                      const std::int64_t from = begin % places.length();
                      const std::int64_t count = std::min(places.length() - from, end - begin);
                      to = move_in_row(mask.bytes() + begin, count,
                                       places.row(begin / places.length()) + from * places.step(),
                                       places.step(), to, move);
                      begin += count;
                    }
                  });
}

// Each element of the mask goes with one of the array.
template <Direction direction>
void move_elements(const Mask& mask, const Layout& a, std::byte* data, std::byte* dense) {
  const Places places(a, static_cast<std::size_t>(mask.axes()), data);
  const PackLoops loops = pack_loops(a.item_size());
  if (loops.pack && places.step() == a.item_size())
    return move_masked(mask, places, dense, 1, MoveVectors<direction>{loops, a.item_size()});
  with_unit(a.item_size(), [&]<class Unit>(Unit) {
    move_masked(mask, places, dense, 1, MoveBytes<direction, sizeof(Unit)>());
  });
}

template <Direction direction>
void move_items(const Mask& mask, const Array& a, std::byte* data, std::byte* dense) {
  const auto axes = static_cast<std::size_t>(mask.axes());
  const LayoutRef rest = layout_behind(a, axes);
  const std::int64_t each = rest->size();
  if (each == 1) return move_elements<direction>(mask, *a.layout(), data, dense);
  const Places places(*a.layout(), axes, data);
  const std::int64_t size = each * size_of(a.dtype());
  const auto move_rows_of = [&]<int... bytes>(std::integer_sequence<int, bytes...>) {
    const auto move = [&]<int own>() {
      move_masked(mask, places, dense, each, MoveBytes<direction, own>());
      return true;
    };
    return ((size == bytes && move.template operator()<bytes>()) || ...);
  };
  // Colours and points: to call for so few bytes takes longer than to move them.
  using Sizes = std::integer_sequence<int, 2, 3, 4, 6, 8, 12, 16, 24, 32>;
  if (rest->c_contiguous() && move_rows_of(Sizes())) return;
  move_masked(mask, places, dense, each, MoveRow<direction>{*rest, size});
}

void check_mask(const Array& a, const Array& mask) {
  if (mask.dtype() != DType::Bool)
    throw TypeError(text("a mask is an array of bool, not of ", info(mask.dtype()).name));
  if (mask.ndim() > a.ndim())
    throw IndexError(text("too many indices for array: array is ", a.ndim(), "-dimensional, but ",
                          mask.ndim(), " were indexed"));
  for (std::size_t k = 0; k < mask.shape().size(); ++k)
    if (mask.shape()[k] != a.shape()[k])
      throw IndexError(text("boolean index did not match indexed array along axis ", k,
                            "; size of axis is ", a.shape()[k],
                            " but size of corresponding boolean axis is ", mask.shape()[k]));
}

// Where most of a mask is true, what its elements are needed for may be done in place.
class CompressElements final : public Compress {
 public:
  CompressElements(const MaskVersion& version, const Mask& mask, const Array& a)
      : Compress(version, mask.count()), blocks_(mask.blocks()), layout_(a.layout()) {}
  void run(std::span<std::byte* const> pointers) const override {
    const Mask mask(pointers[2], blocks_, layout_->ndim());
    move_elements<Direction::ToDense>(mask, *layout_, pointers[1], pointers[0]);
  }

 private:
  std::shared_ptr<const MaskBlocks> blocks_;
  LayoutRef layout_;
};

const std::byte* first_element(const Mask& mask, const Array& a) {
  std::int64_t position = 0;
  while (!mask.bytes()[position]) ++position;
  const Places places(*a.layout(), a.shape().size(), a.base()->data + a.offset());
  return places.row(position / places.length()) + position % places.length() * places.step();
}

// Recorded, if that may gain anything; else no array.
Array compress_later(const Array& a, const Array& mask, const Mask& where) {
  constexpr std::int64_t least_share = 16;  // one in so many elements is true
  const Engine& engine = Engine::get();
  const Base* base = a.base();
  if (a.ndim() != mask.ndim() || where.count() * least_share < where.size() || where.count() == 0 ||
      a.size() * size_of(a.dtype()) <= engine.settings.immediate_bytes || !engine.settings.lazy ||
      engine.settings.fusion != Fusion::On)
    return {};
  if (!engine.is_ready(base) || base->exports > 0 || base->foreign || base == mask.base() ||
      !mask.c_contiguous())
    return {};
  const MaskVersion version = MaskVersion::of(mask);
  if (version.stamp == 0) return {};
  return record_selection(std::make_shared<CompressElements>(version, where, a), a, mask,
                          first_element(where, a));
}

std::vector<std::int64_t> compressed_shape(const Mask& mask, const Array& a) {
  std::vector<std::int64_t> shape{mask.count()};
  const auto rest = a.shape().subspan(static_cast<std::size_t>(mask.axes()));
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

}  // namespace

namespace {

// Few elements in a row, which the machine takes one by one in less time than it takes to prepare
// for many.
constexpr std::int64_t few = 64;

// Which of a few elements are true, as NumPy judges them.
struct Truths {
  std::uint8_t bytes[few];

  Truths(const Array& a) {
    const std::byte* const from = read(a);
    const std::int64_t n = a.size(), step = a.strides()[0];
    if (a.dtype() == DType::Bool) {  // of others' memory it may be any byte
      for (std::int64_t k = 0; k < n; ++k) bytes[k] = from[k * step] != std::byte{0};
      return;
    }
    const Loop cast = cast_loop(a.dtype(), DType::Bool);
    const std::int64_t each = step == size_of(a.dtype()) ? n : 1;
    for (std::int64_t k = 0; k < n; k += each) {
      void* const args[2] = {bytes + k, const_cast<std::byte*>(from) + k * step};
      cast(args, each, 0);
    }
  }
};

bool is_few(const Array& a) { return a.ndim() == 1 && a.size() <= few; }

// Each element is written, and the next one over it where the mask is false.
template <class T, class Element>
std::int64_t choose(const Truths& truths, std::int64_t n, T* chosen, Element&& element) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    chosen[count] = element(k);
    count += truths.bytes[k];
  }
  return count;
}

Array compress_few(const Array& a, const Array& mask) {
  const Truths truths(mask);
  const std::byte* const from = read(a);
  const std::int64_t step = a.strides()[0];
  return with_unit(size_of(a.dtype()), [&]<class Unit>(Unit) {
    Unit chosen[few];
    const std::int64_t count[1] = {choose(truths, a.size(), chosen, [&](std::int64_t k) {
      Unit element;
      std::memcpy(&element, from + k * step, sizeof element);
      return element;
    })};
    return copy_of(chosen, count, a.dtype());
  });
}

Array places_of_few(const Array& a) {
  std::int64_t chosen[few];
  const std::int64_t count[1] = {
      choose(Truths(a), a.size(), chosen, [](std::int64_t k) { return k; })};
  return copy_of(chosen, count, DType::Int64);
}

}  // namespace

Array compress(const Array& a, const Array& mask) {
  check_array(a);
  check_array(mask);
  Locked lock(Engine::lock());
  check_mask(a, mask);
  if (is_few(a) && a.size() * size_of(a.dtype()) <= Engine::get().settings.immediate_bytes)
    return compress_few(a, mask);
  const Mask where(mask);
  if (Array later = compress_later(a, mask, where)) return later;
  const Array out = empty(compressed_shape(where, a), a.dtype());
  // The array's memory is only read.
  auto* data = const_cast<std::byte*>(read(a));
  Engine::get().allocate(out.base());
  if (out.size() != 0) move_items<Direction::ToDense>(where, a, data, out.base()->data);
  return out;
}

void expand(const Array& a, const Array& mask, const Argument& values) {
  check_array(a);
  check_array(mask);
  if (values.array) check_array(*values.array);
  Locked lock(Engine::lock());
  check_writable(a);
  check_mask(a, mask);
  if (values.array && mask.ndim() == a.ndim() && assign_selection(a, mask, *values.array)) return;
  const Mask where(share_memory(*mask.base(), *a.base()) ? copy(mask, 'C')
                                                         : mask);  // it must not change below
  const std::vector<std::int64_t> shape = compressed_shape(where, a);
  if (values.array && mask.ndim() == a.ndim()) {
    const Array& given = *values.array;
    if (given.ndim() > 1)
      throw ValueError(
          text("NumPy boolean array indexing assignment requires a 0 or 1-dimensional "
               "input, input has ",
               given.ndim(), " dimensions"));
    if (given.ndim() == 1 && given.size() != 1 && given.size() != where.count())
      throw ValueError(text("NumPy boolean array indexing assignment cannot assign ", given.size(),
                            " input values to the ", where.count(),
                            " output values where the mask is true"));
  }
  const bool as_they_are = values.array && values.array->dtype() == a.dtype() &&
                           values.array->c_contiguous() &&
                           !share_memory(*values.array->base(), *a.base()) &&
                           std::ranges::equal(values.array->shape(), shape);
  const Array dense = as_they_are ? *values.array : empty(shape, a.dtype());
  if (!as_they_are) assign(dense, values);
  if (dense.size() == 0) return;
  auto* from = const_cast<std::byte*>(read(dense));  // only read
  Engine& engine = Engine::get();
  engine.settle(a.base());
  engine.allocate(a.base());
  move_items<Direction::FromDense>(where, a, a.base()->data + a.offset(), from);
}

bool fill_few(const Array& a, const Array& mask, const Argument& value) {
  constexpr std::int64_t least = 1 << 10, share = 16;  // one in so many is true, at most
  if (value.array || mask.dtype() != DType::Bool || a.size() < least ||
      !std::ranges::equal(a.shape(), mask.shape()))
    return false;
  Locked lock(Engine::lock());
  Engine& engine = Engine::get();
  const auto is_ready = [&](const Base* base) {
    return engine.is_ready(base) && !base->is_on_device;
  };
  if (!is_ready(a.base()) || a.base()->is_touched() || !is_ready(mask.base())) return false;
  if (share_memory(*a.base(), *mask.base()) || !mask.c_contiguous() || !a.writable()) return false;
  if (std::ranges::count(a.strides(), 0) > 0) return false;  // its elements may be one
  const Mask where(mask);
  if (where.count() * share > a.size()) return false;
  const std::int64_t count[1] = {where.count()};
  const Array dense = empty(count, a.dtype());
  assign(dense, value);
  if (count[0] == 0) return true;
  auto* from = const_cast<std::byte*>(read(dense));  // only read
  engine.settle(a.base());
  move_elements<Direction::FromDense>(where, *a.layout(), a.base()->data + a.offset(), from);
  return true;
}

std::vector<Array> nonzero(const Array& a) {
  check_array(a);
  Locked lock(Engine::lock());
  if (a.ndim() == 0) throw ValueError("nonzero: the array has no axes");
  if (is_few(a)) return {places_of_few(a)};
  const Mask mask(a.dtype() == DType::Bool ? a : astype(a, DType::Bool, 'C'));
  const auto axes = static_cast<std::size_t>(a.ndim());
  // As NumPy: the columns of one table.
  const std::int64_t table_shape[2] = {mask.count(), a.ndim()}, shape[1] = {mask.count()},
                     strides[1] = {8 * a.ndim()};
  const Array table = empty(table_shape, DType::Int64);
  Engine::get().allocate(table.base());
  auto* rows = reinterpret_cast<std::int64_t*>(table.base()->data);
  std::vector<Array> result;
  for (std::size_t k = 0; k < axes; ++k)
    result.push_back(window(table, shape, strides,
                            mask.count() > 0 ? 8 * static_cast<std::int64_t>(k) : 0, DType::Int64));
  const auto write = [&](std::int64_t position, std::int64_t* row) {
    for (std::size_t k = axes; k-- > 1;) {
      row[k] = position % a.shape()[k];
      position /= a.shape()[k];
    }
    row[0] = position;
  };
  const PlacesLoop places = places_loop();
  mask.for_blocks(
      a.ndim(), [&](std::int64_t begin, std::int64_t end, std::int64_t before, std::int64_t count) {
        std::int64_t* row = rows + before * a.ndim();
        if (places && axes == 1) {
          places(row, mask.bytes() + begin, end - begin, begin, count);
          return;
        }
        const std::int64_t* stop = row + count * a.ndim();
        const auto add = [&](std::int64_t position) {
          write(position, row);
          row += a.ndim();
        };
        std::int64_t k = begin;
        for (; k + 8 <= end; k += 8) {
          std::uint64_t word = word_at(mask.bytes() + k);
          if (word == ones && axes == 1) {
            for (std::int64_t j = 0; j < 8; ++j) row[j] = k + j;
            row += 8;
            continue;
          }
          if (axes == 1 && word != 0 && stop - row >= 8) {
            // Each position is written, and the next one over it where the mask is false.
            for (std::int64_t j = 0; j < 8; ++j) {
              *row = k + j;
              row += word >> 8 * j & 1;
            }
            continue;
          }
          for (; word != 0; word &= word - 1) add(k + std::countr_zero(word) / 8);
        }
        for (; k < end; ++k)
          if (mask.bytes()[k]) add(k);
      });
  return result;
}

namespace {

std::int64_t count_dense(std::byte* elements, std::int64_t n, DType dtype) {
  if (size_of(dtype) == 1) return count_true(reinterpret_cast<std::uint8_t*>(elements), n);
  constexpr std::int64_t block = 4096;
  std::uint8_t truths[block];
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < n; k += block) {
    const std::int64_t left = std::min(block, n - k);
    void* const args[2] = {truths, elements + k * size_of(dtype)};
    cast_loop(dtype, DType::Bool)(args, left, 0);
    count += count_true(truths, left);
  }
  return count;
}

}  // namespace

std::int64_t count_nonzero(const Array& a) {
  check_array(a);
  Locked lock(Engine::lock());
  constexpr std::int64_t few = 1 << 19;  // not worth a launch
  if (a.c_contiguous() && Engine::get().is_ready(a.base())) {
    if (size_of(a.dtype()) == 1) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(a.base()->data + a.offset());
      return MaskBlocks(bytes, a.size()).count();
    }
    if (a.size() <= few) return count_dense(a.base()->data + a.offset(), a.size(), a.dtype());
  }
  constexpr std::int64_t copied = 16 << 10;
  if (a.size() * size_of(a.dtype()) <= copied && Engine::get().is_ready(a.base())) {
    alignas(64) std::byte dense[copied];
    pack(dense, a.base()->data + a.offset(), *a.layout());
    return count_dense(dense, a.size(), a.dtype());
  }
  const Array mask = a.dtype() == DType::Bool ? a : astype(a, DType::Bool);
  return item(reduce(Op::Add, mask, {.dtype = DType::Int64})).as<std::int64_t>();
}

}  // namespace frit
