// layout.h: shapes and strides, interned: equal layouts are one object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace frit {

inline constexpr int max_dimensions = 64;  // as NumPy 2

// How the elements of a window lie in memory. Immutable. Strides are in bytes. Counted by hand
// under the engine's lock (retain/release): a layout that nobody uses leaves the table after a
// while.
class Layout {
 public:
  int ndim() const { return ndim_; }
  std::int64_t size() const { return size_; }          // elements
  bool c_contiguous() const { return c_contiguous_; }  // for this item size, as NumPy's flag
  bool f_contiguous() const { return f_contiguous_; }
  int item_size() const { return item_size_; }
  std::span<const std::int64_t> shape() const {
    return {dimensions(), static_cast<std::size_t>(ndim_)};
  }
  std::span<const std::int64_t> strides() const {
    return {dimensions() + ndim_, static_cast<std::size_t>(ndim_)};
  }
  // The C-contiguous layout of this shape and item size (itself, where it is that).
  const Layout* contiguous() const { return contiguous_; }

  void retain(std::int32_t times = 1) const { references_ += times; }
  void release() const {
    if (--references_ == 0) retire(this);
  }

 private:
  friend struct LayoutTable;
  Layout() = default;
  static void retire(const Layout* layout);
  const std::int64_t* dimensions() const { return reinterpret_cast<const std::int64_t*>(this + 1); }

  mutable std::int32_t references_ = 0;
  int ndim_ = 0;
  int item_size_ = 0;
  bool c_contiguous_ = false;
  bool f_contiguous_ = false;
  mutable bool is_queued_ = false;  // among the idle ones, where it may be in use again
  std::int64_t size_ = 0;
  std::uint64_t hash_ = 0;
  const Layout* contiguous_ = nullptr;  // retained unless it is this
};

// Both return a layout with one reference for the caller. Throw ValueError for too many dimensions
// or a size that overflows.
const Layout* make_layout(std::span<const std::int64_t> shape,
                          std::span<const std::int64_t> strides, int item_size);
const Layout* make_contiguous(std::span<const std::int64_t> shape, int item_size);

// In C order, or in Fortran's. Axes of extent 1 have no say; an empty window is so both ways.
bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                   int item_size, bool fortran = false);

// Do all indices lead to one element?
inline bool is_one_element(const Layout& layout) {
  for (const std::int64_t stride : layout.strides())
    if (stride != 0) return false;
  return true;
}

// A counted reference to a Layout.
class LayoutRef {
 public:
  LayoutRef() = default;
  // Takes over the caller's reference.
  static LayoutRef adopt(const Layout* layout) {
    LayoutRef ref;
    ref.layout_ = layout;
    return ref;
  }
  explicit LayoutRef(const Layout* layout) : layout_(layout) {
    if (layout_) layout_->retain();
  }
  LayoutRef(const LayoutRef& other) : LayoutRef(other.layout_) {}
  LayoutRef(LayoutRef&& other) noexcept : layout_(other.layout_) { other.layout_ = nullptr; }
  LayoutRef& operator=(LayoutRef other) noexcept {
    const Layout* mine = layout_;
    layout_ = other.layout_;
    other.layout_ = mine;
    return *this;
  }
  ~LayoutRef() {
    if (layout_) layout_->release();
  }
  const Layout* get() const { return layout_; }
  // The reference is the caller's.
  const Layout* release() { return std::exchange(layout_, nullptr); }
  const Layout* operator->() const { return layout_; }
  const Layout& operator*() const { return *layout_; }
  explicit operator bool() const { return layout_ != nullptr; }

 private:
  const Layout* layout_ = nullptr;
};

// The lowest and one past the highest byte that a window with this layout touches, relative to its
// first element. {0, 0} when empty.
struct ByteRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
ByteRange byte_range(const Layout& layout);

// The order in which NumPy's iterator visits the axes of these operands (all of one rank, strides 0
// where broadcast or extent 1), outermost first: by falling stride, C order where that says
// nothing.
void iteration_order(std::span<const std::span<const std::int64_t>> strides, int ndim,
                     std::span<int> order);

// A shape as NumPy's messages write it: (2,3), (4,), ().
std::string shape_words(std::span<const std::int64_t> shape, std::string_view separator = ",");

}  // namespace frit
