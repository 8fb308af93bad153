// dependence.cpp: overlap of windows: a bounded linear equation, by pruned depth-first search.
//
// Two windows meet when  offset_a + sum a_k i_k + p == offset_b + sum b_k j_k + q  has a solution
// with indices in their extents and p, q byte positions inside an element. Negative strides are
// flipped so that all coefficients are positive: sum c_t x_t == target, 0 <= x_t <= u_t.
#include "schedule/dependence.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace frit {
namespace {

struct Unknown {
  std::int64_t coefficient;
  std::int64_t bound;
};

constexpr int work_limit = 20000;

// Terms in falling order of coefficient. Depth is at most 2 * max_dimensions + 2.
class Equation {
 public:
  explicit Equation(std::vector<Unknown> unknowns) : unknowns_(std::move(unknowns)) {
    std::sort(unknowns_.begin(), unknowns_.end(),
              [](const Unknown& x, const Unknown& y) { return x.coefficient > y.coefficient; });
    merge_equal();
    const std::size_t n = unknowns_.size();
    rest_max_.assign(n + 1, 0);
    rest_gcd_.assign(n + 1, 0);
    for (std::size_t k = n; k-- > 0;) {
      rest_max_[k] = rest_max_[k + 1] + unknowns_[k].coefficient * unknowns_[k].bound;
      rest_gcd_[k] = std::gcd(rest_gcd_[k + 1], unknowns_[k].coefficient);
    }
  }

  // true also when the work limit is reached
  bool solvable(std::int64_t target) {
    work_ = 0;
    return search(0, target);
  }

 private:
  void merge_equal() {
    std::vector<Unknown> merged;
    for (const Unknown& u : unknowns_) {
      if (!merged.empty() && merged.back().coefficient == u.coefficient)
        merged.back().bound += u.bound;
      else
        merged.push_back(u);
    }
    unknowns_ = std::move(merged);
  }

  bool search(std::size_t k, std::int64_t target) {
    if (target < 0 || target > rest_max_[k]) return false;
    if (k == unknowns_.size()) return target == 0;
    if (rest_gcd_[k] != 0 && target % rest_gcd_[k] != 0) return false;
    if (++work_ > work_limit) return true;
    const auto [c, bound] = unknowns_[k];
    const std::int64_t short_by = target - rest_max_[k + 1];
    const std::int64_t low = short_by > 0 ? (short_by + c - 1) / c : 0;
    const std::int64_t high = std::min(bound, target / c);
    for (std::int64_t x = high; x >= low; --x) {
      if (search(k + 1, target - c * x)) return true;
      if (work_ > work_limit) return true;
    }
    return false;
  }

  std::vector<Unknown> unknowns_;
  std::vector<std::int64_t> rest_max_, rest_gcd_;
  int work_ = 0;
};

void add_axes(const Layout& layout, std::vector<Unknown>& unknowns) {
  for (std::size_t k = 0; k < layout.shape().size(); ++k) {
    const std::int64_t stride = layout.strides()[k];
    if (stride == 0 || layout.shape()[k] <= 1) continue;
    unknowns.push_back({stride < 0 ? -stride : stride, layout.shape()[k] - 1});
  }
}

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
  std::vector<Unknown> unknowns;
  add_axes(a, unknowns);
  add_axes(b, unknowns);
  unknowns.push_back({1, a.item_size() - 1});
  unknowns.push_back({1, b.item_size() - 1});
  const std::int64_t target = (offset_b + range_b.high - 1) - (offset_a + range_a.low);
  return Equation(std::move(unknowns)).solvable(target);
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
