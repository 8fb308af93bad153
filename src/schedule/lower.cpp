// lower.cpp: chooses the lowering of a group's kind; each has a file of its own.
#include "schedule/lower.h"

#include "ir/error.h"
#include "schedule/lower_body.h"

namespace frit {

void lower(const Segment& segment, const Group& group, std::span<const SlotUse> uses, Plan& plan) {
  const Lowering lowering{segment, group, uses, plan};
  switch (group.kind) {
    case GroupKind::Map:
      return has_boxes(group) ? lower_boxes(lowering) : lower_map(lowering);
    case GroupKind::Rows:
      return lower_rows(lowering);
    case GroupKind::Columns:
      return lower_columns(lowering);
    case GroupKind::Fold:
      return lower_fold(lowering);
    case GroupKind::Call:
      check(false, "a call is not lowered");
  }
}

}  // namespace frit
