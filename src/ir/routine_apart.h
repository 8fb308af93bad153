// routine_apart.h: do two iterations of a routine touch different elements of an array?
#pragma once

#include <functional>
#include <vector>

#include "ir/layout.h"
#include "ir/routine_forms.h"

namespace frit {

// 0 <= value < below, where both iterations come to the accesses.
struct Bounded {
  ValueId value = no_value;
  Affine below;
  bool operator==(const Bounded&) const = default;
};

// Two iterations that differ in at least one of these values (parts of indices), and agree in those
// for which `agree` says so. Of all others nothing is known but their ranges.
struct Iterations {
  std::vector<ValueId> differ;
  std::function<bool(ValueId)> agree;
  std::vector<Bounded> bounded = {};
};

// Do the accesses a, of the one iteration, and b, of the other, always touch different elements of
// the array that both have? So it is where some index of both moves further with a value than all
// the rest of it reaches: A[i], A[i * 10 + j] for j < 10. A value that is told apart is the same
// for the others. `forms` are in parts.
bool touch_apart(const Instr& a, const Instr& b, const Layout& layout, const Forms& forms,
                 const Iterations& iterations);

}  // namespace frit
