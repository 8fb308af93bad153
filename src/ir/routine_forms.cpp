// routine_forms.cpp: one pass over the values in their order, and the range that each must have.
#include "ir/routine_forms.h"

#include <algorithm>
#include <limits>

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

constexpr std::size_t most_cuts = 8;

constexpr Range int64_range{std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max()};
constexpr Range int32_range{std::numeric_limits<std::int32_t>::min(),
                            std::numeric_limits<std::int32_t>::max()};

Range range_of_type(DType dtype) {
  if (!is_integer(dtype) || dtype == DType::Int64 || dtype == DType::UInt64) return int64_range;
  const std::int64_t size = std::int64_t{1} << (8 * size_of(dtype) - (is_signed(dtype) ? 1 : 0));
  return {is_signed(dtype) ? -size : 0, size - 1};
}

bool is_followed(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

void find_written(const Block& block, std::vector<bool>& locals) {
  for_each_instr(block, [&](const Instr& instr) {
    if (instr.kind == InstrKind::WriteLocal) locals[at(instr.number)] = true;
  });
}

bool is_within(const Range& inner, const Range& outer) {
  return inner.low >= outer.low && inner.high <= outer.high;
}

}  // namespace

std::optional<Affine> add(const Affine& a, const Affine& b, std::int64_t factor) {
  Affine sum;
  std::int64_t scaled;
  if (__builtin_mul_overflow(b.constant, factor, &scaled) ||
      __builtin_add_overflow(a.constant, scaled, &sum.constant))
    return std::nullopt;
  std::size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool from_a =
        j == b.terms.size() || (i < a.terms.size() && a.terms[i].first <= b.terms[j].first);
    const bool from_b =
        i == a.terms.size() || (j < b.terms.size() && b.terms[j].first <= a.terms[i].first);
    const ValueId value = from_a ? a.terms[i].first : b.terms[j].first;
    std::int64_t coefficient = from_a ? a.terms[i].second : 0;
    if (from_b && (__builtin_mul_overflow(b.terms[j].second, factor, &scaled) ||
                   __builtin_add_overflow(coefficient, scaled, &coefficient)))
      return std::nullopt;
    if (coefficient != 0) sum.terms.emplace_back(value, coefficient);
    i += from_a ? 1 : 0;
    j += from_b ? 1 : 0;
  }
  return sum;
}

Forms::Forms(const Routine& routine, std::span<const std::int64_t> extents,
             std::span<const std::int64_t> integers)
    : Forms(routine, extents, integers, {}, ranges_of_locals(routine, extents, integers)) {}

Forms::Forms(const Routine& routine, std::span<const std::int64_t> extents,
             std::span<const std::int64_t> integers, std::vector<IndexCut> cuts, LocalRanges locals)
    : values_(routine.body.values),
      local_types_(routine.body.locals),
      integers_(integers),
      cuts_(std::move(cuts)),
      forms_(values_.size() + 2 * cuts_.size()),
      ranges_(forms_.size()),
      is_index_(forms_.size()),
      locals_(std::move(locals)),
      written_(local_types_.size(), Range{0, 0}),
      held_(local_types_.size()) {
  for (std::size_t k = 0; k < forms_.size(); ++k) {
    forms_[k].terms = {{static_cast<ValueId>(k), 1}};
    if (k < values_.size()) ranges_[k] = range_of_type(values_[k]);
  }
  for (std::size_t k = 0; k < extents.size(); ++k) {
    ranges_[k] = {0, std::max<std::int64_t>(extents[k] - 1, 0)};
    set_index(static_cast<ValueId>(k));
  }
  walk(routine.body.code);
}

Forms Forms::in_parts(const Routine& routine, std::span<const std::int64_t> extents,
                      std::span<const std::int64_t> integers) {
  const LocalRanges locals = ranges_of_locals(routine, extents, integers);
  std::vector<IndexCut> cuts;
  for (;;) {
    Forms forms(routine, extents, integers, cuts, locals);
    if (forms.wanted_.empty() || cuts.size() >= most_cuts) return forms;
    cuts.push_back(forms.wanted_.front());
  }
}

// Those that are written from ranges of their own (n / 2), where what loops write (h / 2) then
// stays in these.
Forms::LocalRanges Forms::ranges_of_locals(const Routine& routine,
                                           std::span<const std::int64_t> extents,
                                           std::span<const std::int64_t> integers) {
  const std::vector<DType>& types = routine.body.locals;
  LocalRanges found(types.size());
  if (std::none_of(types.begin(), types.end(), is_followed)) return found;
  // What depends on a local may be anything as yet, and does not count.
  const Forms first(routine, extents, integers, {}, found);
  for (std::size_t k = 0; k < types.size(); ++k)
    if (is_followed(types[k])) found[k] = first.written_[k];
  for (bool changed = true; changed;) {
    changed = false;
    const Forms forms(routine, extents, integers, {}, found);
    for (std::size_t k = 0; k < types.size(); ++k)
      if (found[k] && !is_within(forms.written_[k], *found[k])) {
        found[k].reset();
        changed = true;
      }
  }
  return found;
}

void Forms::walk(const Block& block) {
  for (const Instr& instr : block) {
    if (instr.result != no_value && is_followed(values_[at(instr.result)])) define(instr);
    if (instr.kind == InstrKind::ReadLocal) read(instr);
    if (instr.kind == InstrKind::WriteLocal) write(instr);
    if (!instr.body.empty() || !instr.other.empty())
      instr.kind == InstrKind::If ? walk_inside(instr.body, instr.other, false)
                                  : walk_inside(instr.other, instr.body, true);
  }
}

// Behind it, what was held before is held where neither block writes it: values of the blocks are
// not visible there.
void Forms::walk_inside(const Block& first, const Block& second, bool repeats) {
  std::vector<bool> written(local_types_.size());
  find_written(first, written);
  find_written(second, written);
  auto behind = held_;
  for (std::size_t k = 0; k < written.size(); ++k)
    if (written[k]) behind[k].reset();
  const auto before = repeats ? behind : held_;
  held_ = before;
  walk(first);
  held_ = before;
  walk(second);
  held_ = std::move(behind);
}

void Forms::write(const Instr& instr) {
  const std::size_t local = at(instr.number);
  if (!is_followed(local_types_[local])) return;
  const Affine& form = forms_[at(instr.args[0])];
  held_[local] = form;
  const Range all = range_of_type(local_types_[local]);
  const Range range = sum_range(form).value_or(all);
  if (!locals_[local] && is_within(all, range)) return;
  written_[local] = {std::min(written_[local].low, range.low),
                     std::max(written_[local].high, range.high)};
}

void Forms::read(const Instr& instr) {
  const std::size_t local = at(instr.number);
  if (!is_followed(local_types_[local])) return;
  if (locals_[local]) ranges_[at(instr.result)] = *locals_[local];
  if (held_[local])
    forms_[at(instr.result)] = *held_[local];
  else
    held_[local] = forms_[at(instr.result)];
}

std::vector<ValueId> Forms::parts_of(ValueId index) const {
  std::vector<ValueId> parts;
  for (const auto& [part, _] : forms_[at(index)].terms) parts.push_back(part);
  return parts;
}

ValueId Forms::index_of(ValueId value) const {
  while (at(value) >= values_.size()) value = cuts_[(at(value) - values_.size()) / 2].index;
  return value;
}

// Its range is known: of itself, or of its parts.
void Forms::set_index(ValueId index) {
  is_index_[at(index)] = true;
  for (std::size_t k = 0; k < cuts_.size(); ++k) {
    if (cuts_[k].index != index) continue;
    const Range whole = ranges_[at(index)];
    const std::int64_t divisor = cuts_[k].divisor;
    const ValueId quotient = first_part(k), remainder = quotient + 1;
    ranges_[at(quotient)] = {whole.low / divisor, whole.high / divisor};
    ranges_[at(remainder)] = whole.low / divisor == whole.high / divisor
                                 ? Range{whole.low % divisor, whole.high % divisor}
                                 : Range{0, divisor - 1};
    set_index(quotient);
    set_index(remainder);
    if (const auto sum = add(forms_[at(remainder)], forms_[at(quotient)], divisor))
      forms_[at(index)] = *sum;
    return;
  }
}

void Forms::define(const Instr& instr) {
  if (instr.kind == InstrKind::Loop) {
    const auto begin = sum_range(forms_[at(instr.args[0])]),
               end = sum_range(forms_[at(instr.args[1])]);
    if (begin && end && end->high > int64_range.low) {
      ranges_[at(instr.result)] = {begin->low, std::max(end->high - 1, begin->low)};
      set_index(instr.result);
    }
    return;
  }
  const auto sum = form_of(instr);
  if (!sum) return;
  // In 64 bits a sum is taken as it is written.
  if (values_[at(instr.result)] == DType::Int32) {
    const auto range = sum_range(*sum);
    if (!range || range->low < int32_range.low || range->high > int32_range.high) return;
  }
  forms_[at(instr.result)] = *sum;
}

std::optional<Affine> Forms::form_of(const Instr& instr) {
  if (instr.kind == InstrKind::Constant)
    return Affine{.constant = instr.constant.dtype == DType::Int32
                                  ? instr.constant.as<std::int32_t>()
                                  : instr.constant.as<std::int64_t>(),
                  .terms = {}};
  if (instr.kind == InstrKind::IntegerArg)
    return Affine{.constant = integers_[at(instr.number)], .terms = {}};
  const auto form = [&](int k) -> const Affine& { return forms_[at(instr.args[k])]; };
  if (instr.kind == InstrKind::Cast) {
    const DType from = values_[at(instr.args[0])];
    if (!is_integer(from) || from == DType::UInt64) return std::nullopt;
    return form(0);
  }
  if (instr.kind != InstrKind::Apply) return std::nullopt;
  if (instr.op == Op::Add) return add(form(0), form(1), 1);
  if (instr.op == Op::Subtract) return add(form(0), form(1), -1);
  if (instr.op == Op::Negative) return add({}, form(0), -1);
  if (instr.op == Op::Multiply && form(1).terms.empty()) return add({}, form(0), form(1).constant);
  if (instr.op == Op::Multiply && form(0).terms.empty()) return add({}, form(1), form(0).constant);
  return quotient_or_remainder(instr);
}

// Of numbers that are not negative, by one that is positive: all divisions agree there.
std::optional<Affine> Forms::quotient_or_remainder(const Instr& instr) {
  const bool is_quotient = instr.op == Op::TruncateDivide || instr.op == Op::FloorDivide;
  if (!is_quotient && instr.op != Op::Fmod && instr.op != Op::Remainder) return std::nullopt;
  if (!is_followed(values_[at(instr.args[0])]) || !is_followed(values_[at(instr.args[1])]))
    return std::nullopt;
  const Affine &form = forms_[at(instr.args[0])], &by = forms_[at(instr.args[1])];
  if (!by.terms.empty() || by.constant <= 0) return std::nullopt;
  const auto range = sum_range(form);
  if (!range || range->low < 0) return std::nullopt;
  if (const auto found = divided(form, by.constant))
    return is_quotient ? found->quotient : found->remainder;
  ranges_[at(instr.result)] = is_quotient
                                  ? Range{range->low / by.constant, range->high / by.constant}
                                  : Range{0, std::min(by.constant - 1, range->high)};
  return std::nullopt;
}

// form = divisor * quotient + remainder, where the terms with multiples of the divisor leave less
// than it.
std::optional<Forms::Division> Forms::divided(const Affine& form, std::int64_t divisor) {
  Division found;
  found.remainder.constant = (form.constant % divisor + divisor) % divisor;
  found.quotient.constant = (form.constant - found.remainder.constant) / divisor;
  for (const auto& [value, coefficient] : form.terms)
    if (coefficient % divisor == 0)
      found.quotient.terms.emplace_back(value, coefficient / divisor);
    else
      found.remainder.terms.emplace_back(value, coefficient);
  const auto is_less = [&](const Affine& sum, std::int64_t than) {
    const auto range = sum_range(sum);
    return range && range->low >= 0 && range->high < than;
  };
  if (is_less(found.remainder, divisor)) return found;
  for (const auto& [value, coefficient] : found.remainder.terms) {
    if (!is_index_[at(value)] || coefficient <= 0 || divisor % coefficient != 0) continue;
    const auto rest = add(found.remainder, {.terms = {{value, 1}}}, -coefficient);
    const Range& range = ranges_[at(value)];
    if (rest && is_less(*rest, coefficient) && range.low >= 0 && range.high < int64_range.high)
      wanted_.push_back({value, divisor / coefficient});
  }
  return std::nullopt;
}

std::optional<Range> Forms::sum_range(const Affine& form) const {
  __int128 low = form.constant, high = form.constant;
  for (const auto& [value, coefficient] : form.terms) {
    const Range& r = ranges_[at(value)];
    const __int128 a = static_cast<__int128>(coefficient) * r.low,
                   b = static_cast<__int128>(coefficient) * r.high;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  if (low < int64_range.low || high > int64_range.high) return std::nullopt;
  return Range{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

}  // namespace frit
