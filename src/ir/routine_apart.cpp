// routine_apart.cpp: index by index, by how far one value moves it, and how far the rest may.
#include "ir/routine_apart.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace frit {
namespace {

std::int64_t coefficient(const Affine& form, ValueId value) {
  for (const auto& [term, factor] : form.terms)
    if (term == value) return factor;
  return 0;
}

// Surely not below 0: in numbers that the iterations agree in.
bool is_positive(const Affine& sum, const Forms& forms) {
  __int128 low = sum.constant;
  for (const auto& [value, factor] : sum.terms) {
    const Range& range = forms.range_of(value);
    low += std::min(static_cast<__int128>(factor) * range.low,
                    static_cast<__int128>(factor) * range.high);
  }
  return low >= 0;
}

// Is the rest of x minus the rest of y at least as far from 0 as the value can move an index, in
// numbers that are not known: s[t] and s[t + n], where t < n?
bool is_out_of_reach(const Affine& x, const Affine& y, std::int64_t step, const Bounded& bounded,
                     const Forms& forms, const std::function<bool(ValueId)>& agree) {
  for (const Affine* sum : {&x, &y, &bounded.below})
    for (const auto& [term, _] : sum->terms)
      if (term != bounded.value && !agree(term)) return false;
  const auto rest = add(x, y, -1);
  if (!rest || step == std::numeric_limits<std::int64_t>::min()) return false;
  for (const std::int64_t sign : {1, -1}) {
    const auto signed_rest = add({}, *rest, sign);
    if (!signed_rest) continue;
    const auto beyond = add(*signed_rest, bounded.below, -std::abs(step));
    if (beyond && is_positive(*beyond, forms)) return true;
  }
  return false;
}

// Are the two indices different wherever they are of iterations that differ in the value?
bool tells_apart(const Affine& x, const Affine& y, ValueId value, const Forms& forms,
                 const Iterations& iterations, const std::function<bool(ValueId)>& agree) {
  const std::int64_t step = coefficient(x, value);
  if (step == 0 || step != coefficient(y, value)) return false;
  for (const Bounded& bounded : iterations.bounded)
    if (bounded.value == value && is_out_of_reach(x, y, step, bounded, forms, agree)) return true;
  const __int128 reach = step < 0 ? -static_cast<__int128>(step) : step;
  constexpr __int128 most = static_cast<__int128>(1) << 100;  // so that no sum of them overflows
  // Of the rest of x minus the rest of y.
  __int128 low = static_cast<__int128>(x.constant) - y.constant, high = low;
  const auto add_rest = [&](const Affine& form, const Affine& other, int sign) {
    for (const auto& [term, factor] : form.terms) {
      if (term == value) continue;
      if (coefficient(other, term) == factor && agree(term)) continue;
      const Range& range = forms.range_of(term);
      const __int128 p = static_cast<__int128>(factor) * range.low * sign,
                     q = static_cast<__int128>(factor) * range.high * sign;
      low += std::min(p, q);
      high += std::max(p, q);
      if (std::max(p < 0 ? -p : p, q < 0 ? -q : q) > most) return false;
    }
    return true;
  };
  return add_rest(x, y, 1) && add_rest(y, x, -1) && low > -reach && high < reach;
}

}  // namespace

bool touch_apart(const Instr& a, const Instr& b, const Layout& layout, const Forms& forms,
                 const Iterations& iterations) {
  std::vector<ValueId> told;
  const auto is_told = [&](ValueId value) {
    return std::find(told.begin(), told.end(), value) != told.end();
  };
  const auto agree = [&](ValueId value) { return is_told(value) || iterations.agree(value); };
  const auto is_telling = [&](ValueId value) {
    for (std::size_t d = 0; d < a.address.terms.size(); ++d) {
      if (layout.shape()[d] > 1 && layout.strides()[d] == 0) continue;
      if (tells_apart(forms[a.address.terms[d].index], forms[b.address.terms[d].index], value,
                      forms, iterations, agree))
        return true;
    }
    return false;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (ValueId value : iterations.differ)
      if (!is_told(value) && is_telling(value)) {
        told.push_back(value);
        progress = true;
      }
  }
  return told.size() == iterations.differ.size();
}

}  // namespace frit
