// space.cpp: bounds, conditions and indices as constraints of isl.
#include "schedule/isl/space.h"

#include "ir/error.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

Symbols::Symbols(const Nest& nest) : nest_(nest) {
  for (const NestLoop& loop : nest.loops)
    if (!loop.is_while())
      for (int k = 0; k < 2; ++k) add(nest.forms[at(loop.instr->args[k])], 0);
  for (const NestAccess& access : nest.accesses) {
    for (const Affine& index : access.indices) add(index, 0);
    for (const NestGuard& guard : access.guards) add_condition(guard.branch->args[0]);
  }
}

std::int32_t Symbols::number_of(ValueId value) const {
  const auto found = std::find(values_.begin(), values_.end(), value);
  return found == values_.end() ? -1 : static_cast<std::int32_t>(found - values_.begin());
}

void Symbols::add(const Affine& form, int depth) {
  const std::size_t values = nest_.definitions.size();
  for (const auto& [value, _] : form.terms) {
    if (at(value) >= values) {
      add(nest_.divisions[at(value) - values].dividend, depth);
      continue;
    }
    const Instr* definition = nest_.definitions[at(value)];
    if (definition && definition->kind == InstrKind::Apply &&
        (definition->op == Op::Maximum || definition->op == Op::Minimum) && depth < 4) {
      for (int k = 0; k < 2; ++k) add(nest_.forms[at(definition->args[k])], depth + 1);
      continue;
    }
    if (nest_.definition_loop[at(value)] < 0 && number_of(value) < 0) values_.push_back(value);
  }
}

void Symbols::add_condition(ValueId condition) {
  const Instr* instr = nest_.definitions[at(condition)];
  if (!instr || instr->kind != InstrKind::Apply) return;
  for (int k = 0; k < info(instr->op).inputs; ++k) {
    const DType type = nest_.routine.body.values[at(instr->args[k])];
    if (type == DType::Int64) add(nest_.forms[at(instr->args[k])], 0);
    if (type == DType::Bool) add_condition(instr->args[k]);
  }
}

PairSpace::PairSpace(const Nest& nest, const Symbols& symbols, isl_ctx* ctx,
                     std::vector<std::int32_t> x, std::vector<std::int32_t> y,
                     std::vector<ValueId> unknowns)
    : nest_(nest), symbols_(symbols), unknowns_(std::move(unknowns)) {
  const auto nx = static_cast<unsigned>(x.size()), ny = static_cast<unsigned>(y.size()),
             nu = static_cast<unsigned>(unknowns_.size());
  frames_[0] = {std::move(x), 0, nx + ny};
  frames_[1] = {std::move(y), nx, nx + ny + nu};
  space_ = made(
      isl_space_set_alloc(ctx, static_cast<unsigned>(symbols.values().size()), nx + ny + 2 * nu));
}

isl::Aff PairSpace::constant(std::int64_t value) const {
  isl::Aff zero = made(isl_aff_zero_on_domain_space(space_.copy()));
  return made(isl_aff_set_constant_val(zero.take(), isl_val_int_from_si(ctx(), value)));
}

isl::Aff PairSpace::dimension(unsigned number) const {
  isl::Aff zero = made(isl_aff_zero_on_domain_space(space_.copy()));
  return made(isl_aff_set_coefficient_si(zero.take(), isl_dim_in, static_cast<int>(number), 1));
}

isl::Aff PairSpace::index(int side, std::size_t depth) const {
  return dimension(frames_[side].first_loop + static_cast<unsigned>(depth));
}

isl::Aff PairSpace::unknown(int side, std::size_t number) const {
  return dimension(frames_[side].first_unknown + static_cast<unsigned>(number));
}

isl::Aff PairSpace::value(const Affine& form, int side) const {
  isl::Aff sum = constant(form.constant);
  for (const auto& [id, coefficient] : form.terms) {
    isl::Aff scaled =
        made(isl_aff_scale_val(variable(id, side).take(), isl_val_int_from_si(ctx(), coefficient)));
    sum = made(isl_aff_add(sum.take(), scaled.take()));
  }
  return sum;
}

isl::Aff PairSpace::variable(ValueId id, int side) const {
  const std::size_t values = nest_.definitions.size();
  if (at(id) >= values) {
    const Nest::Division& division = nest_.divisions[at(id) - values];
    isl::Aff quotient = made(isl_aff_scale_down_val(value(division.dividend, side).take(),
                                                    isl_val_int_from_si(ctx(), division.divisor)));
    return made(isl_aff_floor(quotient.take()));
  }
  const Frame& f = frames_[side];
  for (std::size_t k = 0; k < f.loops.size(); ++k)
    if (!nest_.loop(f.loops[k]).is_while() && nest_.loop(f.loops[k]).index() == id)
      return index(side, k);
  if (const std::int32_t symbol = symbols_.number_of(id); symbol >= 0) {
    isl::Aff zero = made(isl_aff_zero_on_domain_space(space_.copy()));
    return made(isl_aff_set_coefficient_si(zero.take(), isl_dim_param, symbol, 1));
  }
  const auto found = std::find(unknowns_.begin(), unknowns_.end(), id);
  check(found != unknowns_.end(), "each variable of a form has a dimension");
  return unknown(side, static_cast<std::size_t>(found - unknowns_.begin()));
}

isl::Set Domains::loops(isl::Set set, int side) const {
  const Frame& frame = space_.frame(side);
  for (std::size_t k = 0; k < frame.loops.size(); ++k) {
    const NestLoop& loop = nest_.loop(frame.loops[k]);
    if (loop.is_while()) {
      set = both(set, at_least(space_.index(side, k), space_.constant(0)));
      continue;
    }
    for (const Affine& begin : bounds(loop.instr->args[0], Op::Maximum))
      set = both(set, at_least(space_.index(side, k), space_.value(begin, side)));
    for (const Affine& end : bounds(loop.instr->args[1], Op::Minimum))
      set = both(set, above(space_.value(end, side), space_.index(side, k)));
  }
  return set;
}

isl::Set Domains::guards(isl::Set set, const NestAccess& access, int side) const {
  for (const NestGuard& guard : access.guards)
    set = intersection(std::move(set), where(guard.branch->args[0], guard.holds, side, 0));
  return set;
}

std::vector<Affine> Domains::bounds(ValueId value, Op join) const {
  std::vector<Affine> found;
  add_bounds(nest_.forms[at(value)], join, 0, found);
  return found;
}

void Domains::add_bounds(const Affine& form, Op join, int depth, std::vector<Affine>& found) const {
  if (form.constant == 0 && form.terms.size() == 1 && form.terms[0].second == 1 &&
      at(form.terms[0].first) < nest_.definitions.size() && depth < 4) {
    const Instr* instr = nest_.definitions[at(form.terms[0].first)];
    if (instr && instr->kind == InstrKind::Apply && instr->op == join) {
      for (int k = 0; k < 2; ++k)
        add_bounds(nest_.forms[at(instr->args[k])], join, depth + 1, found);
      return;
    }
  }
  found.push_back(form);
}

isl::Set Domains::where(ValueId condition, bool holds, int side, int depth) const {
  const Instr* instr = nest_.definitions[at(condition)];
  if (!instr || instr->kind != InstrKind::Apply || depth > 8) return space_.universe();
  const auto type = [&](int k) { return nest_.routine.body.values[at(instr->args[k])]; };
  if (instr->op == Op::LogicalNot && type(0) == DType::Bool)
    return where(instr->args[0], !holds, side, depth + 1);
  const bool is_and = instr->op == Op::LogicalAnd || instr->op == Op::BitwiseAnd;
  const bool is_or = instr->op == Op::LogicalOr || instr->op == Op::BitwiseOr;
  if ((is_and || is_or) && type(0) == DType::Bool && type(1) == DType::Bool) {
    isl::Set a = where(instr->args[0], holds, side, depth + 1);
    isl::Set b = where(instr->args[1], holds, side, depth + 1);
    return is_and == holds ? intersection(std::move(a), std::move(b))
                           : made(isl_set_union(a.take(), b.take()));
  }
  if (info(instr->op).inputs != 2 || type(0) != DType::Int64 || type(1) != DType::Int64)
    return space_.universe();
  const auto x = [&] { return space_.value(nest_.forms[at(instr->args[0])], side); };
  const auto y = [&] { return space_.value(nest_.forms[at(instr->args[1])], side); };
  const auto set = [](isl::BasicSet s) { return made(isl_set_from_basic_set(s.take())); };
  if (instr->op == Op::Less) return set(holds ? above(y(), x()) : at_least(x(), y()));
  if (instr->op == Op::LessEqual) return set(holds ? at_least(y(), x()) : above(x(), y()));
  if (instr->op == Op::Greater) return set(holds ? above(x(), y()) : at_least(y(), x()));
  if (instr->op == Op::GreaterEqual) return set(holds ? at_least(x(), y()) : above(y(), x()));
  if (instr->op == Op::Equal || instr->op == Op::NotEqual) {
    if (holds == (instr->op == Op::Equal)) return set(equal(x(), y()));
    return made(isl_set_union(set(above(x(), y())).take(), set(above(y(), x())).take()));
  }
  return space_.universe();
}

}  // namespace frit
