// layout.cpp: the table of interned layouts.
#include "ir/layout.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/error.h"
#include "ir/hash.h"

namespace frit {
namespace {

// Without the call that std::equal makes of it: there are one to four numbers.
bool is_same(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != b[k]) return false;
  return true;
}

struct Description {
  std::span<const std::int64_t> shape, strides;
  int item_size;
  std::uint64_t hash;
};

std::uint64_t hash_of(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                      int item_size) {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(item_size), shape.size());
  for (std::int64_t n : shape) hash = mixed(hash, static_cast<std::uint64_t>(n));
  for (std::int64_t s : strides) hash = mixed(hash, static_cast<std::uint64_t>(s));
  return hash;
}

std::int64_t size_of_shape(std::span<const std::int64_t> shape, int item_size) {
  std::int64_t size = 1;
  bool empty = false;
  for (std::int64_t n : shape) {
    if (n < 0) throw ValueError("negative dimensions are not allowed");
    if (n == 0) empty = true;
    std::int64_t factor = n == 0 ? 1 : n;
    if (__builtin_mul_overflow(size, factor, &size))
      throw ValueError("Maximum allowed dimension exceeded");
  }
  std::int64_t bytes;
  if (__builtin_mul_overflow(size, static_cast<std::int64_t>(item_size), &bytes))
    throw ValueError(
        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible "
        "size.");
  return empty ? 0 : size;
}

}  // namespace

bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                   int item_size, bool fortran) {
  std::int64_t expected = item_size;
  const std::size_t n = shape.size();
  for (std::int64_t extent : shape)
    if (extent == 0) return true;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t axis = fortran ? k : n - 1 - k;
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

struct LayoutTable {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Layout* l) const { return l->hash_; }
    std::size_t operator()(const Description& d) const { return d.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Layout* a, const Layout* b) const { return a == b; }
    bool operator()(const Description& d, const Layout* l) const {
      return l->hash_ == d.hash && l->item_size_ == d.item_size &&
             static_cast<std::size_t>(l->ndim_) == d.shape.size() && is_same(l->shape(), d.shape) &&
             is_same(l->strides(), d.strides);
    }
    bool operator()(const Layout* l, const Description& d) const { return (*this)(d, l); }
  };
  std::unordered_set<const Layout*, Hash, Equal> layouts;
  // Those asked for last, each at the place that its hash gives it: the set divides at each look.
  std::array<const Layout*, 256> recent{};
  // Dense ones likewise, by shape alone.
  std::array<const Layout*, 64> recent_dense{};
  // Programs make and drop the same windows all the time: a layout that nobody uses stays until so
  // many others were dropped after it.
  std::array<const Layout*, 512> idle{};
  std::size_t next_idle = 0;

  // Never destroyed: layouts may be released by objects that outlive static destruction. Made under
  // the engine's lock, as all here is done.
  static LayoutTable& get() {
    if (!table) [[unlikely]]
      start();
    return *table;
  }
  [[gnu::noinline]] static void start() { table = new LayoutTable; }
  static inline constinit LayoutTable* table = nullptr;

  const Layout*& recent_at(std::uint64_t hash) { return recent[hash >> 56]; }
  const Layout*& recent_dense_at(std::span<const std::int64_t> shape, int item_size) {
    return recent_dense[hash_of(shape, {}, item_size) >> 58];
  }

  const Layout* intern(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                       int item_size) {
    if (shape.size() > static_cast<std::size_t>(max_dimensions))
      throw ValueError(text("maximum supported dimension for an ndarray is currently ",
                            max_dimensions, ", found ", shape.size()));
    const Description description{shape, strides, item_size, hash_of(shape, strides, item_size)};
    const Layout*& place = recent_at(description.hash);
    if (place && Equal{}(description, place)) {
      place->retain();
      return place;
    }
    if (auto found = layouts.find(description); found != layouts.end()) {
      (*found)->retain();
      return place = *found;
    }
    const std::int64_t size = size_of_shape(shape, item_size);
    void* memory = ::operator new(sizeof(Layout) + shape.size_bytes() + strides.size_bytes());
    Layout* layout = new (memory) Layout;
    layout->ndim_ = static_cast<int>(shape.size());
    layout->item_size_ = item_size;
    layout->size_ = size;
    layout->hash_ = description.hash;
    auto* dimensions = reinterpret_cast<std::int64_t*>(layout + 1);
    std::ranges::copy(shape, dimensions);
    std::ranges::copy(strides, dimensions + shape.size());
    layout->c_contiguous_ = is_contiguous(shape, strides, item_size, false);
    layout->f_contiguous_ = is_contiguous(shape, strides, item_size, true);
    layouts.insert(layout);
    layout->retain();
    const Layout* dense = make_contiguous(layout->shape(), item_size);
    layout->contiguous_ = dense;
    if (dense == layout) layout->release();  // the reference to itself is not counted
    return layout;
  }
};

void Layout::retire(const Layout* layout) {
  if (layout->is_queued_) return;
  LayoutTable& table = LayoutTable::get();
  layout->is_queued_ = true;
  const Layout* oldest = std::exchange(table.idle[table.next_idle], layout);
  table.next_idle = (table.next_idle + 1) % table.idle.size();
  if (!oldest) return;
  oldest->is_queued_ = false;
  if (oldest->references_ > 0) return;
  table.layouts.erase(oldest);
  if (const Layout*& place = table.recent_at(oldest->hash_); place == oldest) place = nullptr;
  if (const Layout*& place = table.recent_dense_at(oldest->shape(), oldest->item_size_);
      place == oldest)
    place = nullptr;
  const Layout* dense = oldest->contiguous_;
  oldest->~Layout();
  ::operator delete(const_cast<Layout*>(oldest));
  if (dense != oldest && dense) dense->release();
}

const Layout* make_layout(std::span<const std::int64_t> shape,
                          std::span<const std::int64_t> strides, int item_size) {
  if (shape.size() != strides.size())
    throw ValueError(text(strides.size(), " strides for ", shape.size(), " axes"));
  return LayoutTable::get().intern(shape, strides, item_size);
}

namespace {

// By itself: what it needs of registers and room would cost those that are found at once a third of
// their time.
[[gnu::noinline]] const Layout* intern_contiguous(std::span<const std::int64_t> shape,
                                                  int item_size) {
  if (shape.size() > static_cast<std::size_t>(max_dimensions))
    throw ValueError(text("maximum supported dimension for an ndarray is currently ",
                          max_dimensions, ", found ", shape.size()));
  std::int64_t strides[max_dimensions];
  std::int64_t stride = item_size;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    const std::int64_t extent = shape[axis] > 0 ? shape[axis] : 1;
    if (__builtin_mul_overflow(stride, extent, &stride)) {
      size_of_shape(shape, item_size);  // throws unless an axis is empty
      stride = item_size;
    }
  }
  const Layout* const made = make_layout(shape, {strides, shape.size()}, item_size);
  return LayoutTable::get().recent_dense_at(shape, item_size) = made;
}

}  // namespace

const Layout* make_contiguous(std::span<const std::int64_t> shape, int item_size) {
  const Layout* const place = LayoutTable::get().recent_dense_at(shape, item_size);
  if (place && place->item_size() == item_size && place->shape().size() == shape.size() &&
      is_same(place->shape(), shape)) {
    place->retain();
    return place;
  }
  return intern_contiguous(shape, item_size);
}

// NumPy's npyiter_find_best_axis_ordering: a stable insertion sort from the innermost axis
// outwards, in which the operands vote and a stride of 0 abstains.
void iteration_order(std::span<const std::span<const std::int64_t>> strides, int ndim,
                     std::span<int> order) {
  int inner_first[max_dimensions];
  for (int k = 0; k < ndim; ++k) inner_first[k] = ndim - 1 - k;
  for (int i = 1; i < ndim; ++i) {
    const int axis = inner_first[i];
    int position = i;
    for (int j = i - 1; j >= 0; --j) {
      bool undecided = true, smaller = false;
      for (const auto& operand : strides) {
        const std::int64_t mine = std::abs(operand[static_cast<std::size_t>(axis)]);
        const std::int64_t other = std::abs(operand[static_cast<std::size_t>(inner_first[j])]);
        if (mine == 0 || other == 0) continue;
        if (other <= mine)
          smaller = false;
        else if (undecided)
          smaller = true;
        undecided = false;
      }
      if (undecided) continue;
      if (!smaller) break;
      position = j;
    }
    for (int j = i; j > position; --j) inner_first[j] = inner_first[j - 1];
    inner_first[position] = axis;
  }
  for (int k = 0; k < ndim; ++k) order[static_cast<std::size_t>(k)] = inner_first[ndim - 1 - k];
}

ByteRange byte_range(const Layout& layout) {
  if (layout.size() == 0) return {};
  ByteRange range{0, layout.item_size()};
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    const std::int64_t reach = layout.strides()[k] * (layout.shape()[k] - 1);
    (reach < 0 ? range.low : range.high) += reach;
  }
  return range;
}

std::string shape_words(std::span<const std::int64_t> shape, std::string_view separator) {
  std::string words = "(";
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (k > 0) words += separator;
    words += std::to_string(shape[k]);
  }
  return words + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace frit
