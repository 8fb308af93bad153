// selection.h: x[mask] that is recorded, not computed, and what is done to its elements done in
// place.
//
// `x[mask] = f(x[mask], y[mask])` packs the elements, computes, and puts them back. Where most of
// the mask is true it is less work to compute f on the whole arrays and keep the results where the
// mask is true, in one kernel and without temporaries. So x[mask] is recorded twice: as a call that
// packs it (Compress), and as a whole array (x where the mask is true, else the first element that
// was selected, so that nothing is computed that is not computed anyway, errors included). What
// then happens to the packed array is recorded as ever. An assignment through the same mask looks
// back at how its values were made, and does the same steps on the whole arrays. The others are not
// run: nobody sees them any more.
#pragma once

#include <memory>

#include "front/common.h"

namespace frit {

// A window on a mask, as it was when it was evaluated.
struct MaskVersion {
  std::uint64_t stamp = 0;  // 0: others may change it unseen
  std::int64_t offset = 0;
  const Layout* layout = nullptr;  // dense; kept by who keeps this

  static MaskVersion of(const Array& mask);
  bool operator==(const MaskVersion&) const = default;
};

// Outputs: the packed elements. Inputs: the array, the mask.
class Compress : public Call {
 public:
  Compress(const MaskVersion& mask, std::int64_t count)
      : layout_(mask.layout), mask_(mask), count_(count) {}
  std::string_view name() const override { return "x[mask]"; }
  bool is_pure() const override { return true; }
  const MaskVersion& mask() const { return mask_; }
  std::int64_t count() const { return count_; }

 private:
  LayoutRef layout_;
  MaskVersion mask_;
  std::int64_t count_;
};

// Records a[mask]; first: the first of its elements.
Array record_selection(std::shared_ptr<const Compress> call, const Array& a, const Array& mask,
                       const std::byte* first);

// a[mask] = values, if they were made from selections by this mask: recorded. False: they were not.
bool assign_selection(const Array& a, const Array& mask, const Array& values);

// a[mask] = value, at once, where the mask has a's shape and few of it are true; false: nothing was
// done, since it is better recorded. (mask.cpp)
bool fill_few(const Array& a, const Array& mask, const Argument& value);

}  // namespace frit
