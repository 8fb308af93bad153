// dependence.cpp: overlap of windows: a bounded linear equation, by pruned depth-first search.
//
// Two windows meet when  offset_a + sum a_k i_k + p == offset_b + sum b_k j_k + q  has a solution
// with indices in their extents and p, q byte positions inside an element. Negative strides are
// flipped so that all coefficients are positive: sum c_t x_t == target, 0 <= x_t <= u_t.
#include "schedule/dependence.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace frit {
namespace {

struct Unknown {
  std::int64_t coefficient;
  std::int64_t bound;
};

constexpr int work_limit = 20000;

// Planning asks for every pair of accesses that may conflict: nothing here takes memory from the
// heap.
class Equation {
 public:
  // Kept in falling order of coefficient, equal ones as one.
  void add(std::int64_t coefficient, std::int64_t bound) {
    std::size_t k = count_;
    while (k > 0 && unknowns_[k - 1].coefficient < coefficient) --k;
    if (k > 0 && unknowns_[k - 1].coefficient == coefficient) {
      unknowns_[k - 1].bound += bound;
      return;
    }
    std::copy_backward(unknowns_ + k, unknowns_ + count_, unknowns_ + count_ + 1);
    unknowns_[k] = {coefficient, bound};
    ++count_;
  }
  void add_axes(const Layout& layout) {
    for (std::size_t k = 0; k < layout.shape().size(); ++k) {
      const std::int64_t stride = layout.strides()[k];
      if (stride != 0 && layout.shape()[k] > 1) add(std::abs(stride), layout.shape()[k] - 1);
    }
  }

  // true also when the work limit is reached
  bool solvable(std::int64_t target) {
    rest_max_[count_] = rest_gcd_[count_] = 0;
    for (std::size_t k = count_; k-- > 0;) {
      rest_max_[k] = rest_max_[k + 1] + unknowns_[k].coefficient * unknowns_[k].bound;
      rest_gcd_[k] = gcd(rest_gcd_[k + 1], unknowns_[k].coefficient);
    }
    work_ = 0;
    return search(0, target);
  }

 private:
  static constexpr std::size_t most = 2 * max_dimensions + 1;

  // Strides divide one another, mostly.
  static std::int64_t gcd(std::int64_t smaller, std::int64_t larger) {
    if (smaller == 1 || (smaller != 0 && larger % smaller == 0)) return smaller;
    return std::gcd(smaller, larger);
  }

  bool search(std::size_t k, std::int64_t target) {
    if (target < 0 || target > rest_max_[k]) return false;
    if (k == count_) return target == 0;
    if (rest_gcd_[k] > 1 && target % rest_gcd_[k] != 0) return false;
    if (++work_ > work_limit) return true;
    const auto [c, bound] = unknowns_[k];
    if (c == 1) return true;  // the last one, and the target is within its bound
    const std::int64_t short_by = target - rest_max_[k + 1];
    const std::int64_t low = short_by > 0 ? (short_by + c - 1) / c : 0;
    const std::int64_t high = std::min(bound, target / c);
    for (std::int64_t x = high; x >= low; --x) {
      if (search(k + 1, target - c * x)) return true;
      if (work_ > work_limit) return true;
    }
    return false;
  }

  std::size_t count_ = 0;
  int work_ = 0;
  Unknown unknowns_[most + 1];
  std::int64_t rest_max_[most + 1], rest_gcd_[most + 1];
};

}  // namespace

bool boxes_meet(std::int64_t offset_a, const Layout& a, std::int64_t offset_b, const Layout& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  const ByteRange range_a = byte_range(a), range_b = byte_range(b);
  if (offset_a + range_a.high <= offset_b + range_b.low ||
      offset_b + range_b.high <= offset_a + range_a.low)
    return false;
  const bool dense_a = range_a.high - range_a.low == a.size() * a.item_size();
  const bool dense_b = range_b.high - range_b.low == b.size() * b.item_size();
  if (dense_a && dense_b) return true;
  // low_a + sum x + p == low_b + sum y + q; substitute y -> extent - y, q -> size - 1 - q to make
  // every sign positive.
  Equation equation;
  equation.add_axes(a);
  equation.add_axes(b);
  equation.add(1, a.item_size() - 1 + b.item_size() - 1);
  return equation.solvable((offset_b + range_b.high - 1) - (offset_a + range_a.low));
}

Relation relate(const Access& a, const Access& b) {
  if (a.base != b.base) return Relation::Disjoint;
  if (a.offset == b.offset && a.dtype == b.dtype) {
    if (a.layout == b.layout) return Relation::Same;
    // The same shape may be reached by different strides where an extent is 1.
    const auto sa = a.layout->shape(), sb = b.layout->shape();
    if (std::equal(sa.begin(), sa.end(), sb.begin(), sb.end())) {
      bool same = true;
      for (std::size_t k = 0; k < sa.size() && same; ++k)
        same = sa[k] <= 1 || a.layout->strides()[k] == b.layout->strides()[k];
      if (same) return Relation::Same;
    }
  }
  return boxes_meet(a.offset, *a.layout, b.offset, *b.layout) ? Relation::Overlap
                                                              : Relation::Disjoint;
}

bool overlaps_itself(const Layout& layout) {
  if (layout.size() <= 1 || layout.c_contiguous() || layout.f_contiguous()) return false;
  // Sorted by stride, axes that each step over everything below them cannot meet.
  Unknown all[max_dimensions];
  std::size_t count = 0;
  for (std::size_t k = 0; k < layout.shape().size(); ++k) {
    if (layout.shape()[k] <= 1) continue;
    const std::int64_t stride = std::abs(layout.strides()[k]);
    if (stride == 0) return true;
    all[count++] = {stride, layout.shape()[k] - 1};
  }
  const std::span<Unknown> axes(all, count);
  std::sort(axes.begin(), axes.end(),
            [](const Unknown& x, const Unknown& y) { return x.coefficient < y.coefficient; });
  std::int64_t reach = layout.item_size();
  for (const Unknown& axis : axes) {
    if (axis.coefficient < reach) return true;  // conservative: may or may not
    reach += axis.coefficient * axis.bound;
  }
  return false;
}

}  // namespace frit
