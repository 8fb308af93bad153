// nest.cpp: walks a simplified Routine and lists its loops, accesses and their index sums.
#include "schedule/nest.h"

#include <algorithm>

#include "ir/error.h"
#include "schedule/nest_kept.h"
#include "schedule/nest_simplify.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class NestBuilder {
 public:
  explicit NestBuilder(Nest& nest) : nest_(nest), body_(nest.routine.body) {
    nest_.forms.resize(body_.values.size());
    nest_.definitions.assign(body_.values.size(), nullptr);
    nest_.definition_loop.assign(body_.values.size(), -1);
    nest_.definition_position.assign(body_.values.size(), -1);
    nest_.written.assign(body_.operands.size(), false);
    integers_.assign(at(body_.integers), no_value);
  }

  void run() {
    block(body_.code);
    find_updates();
  }

 private:
  void block(const Block& instructions) {
    for (const Instr& instr : instructions) {
      const std::int32_t position = position_++;
      if (instr.result != no_value) {
        nest_.definitions[at(instr.result)] = &instr;
        nest_.definition_position[at(instr.result)] = position;
        nest_.definition_loop[at(instr.result)] =
            instr.kind == InstrKind::Loop ? static_cast<std::int32_t>(nest_.loops.size()) : loop_;
        if (body_.values[at(instr.result)] == DType::Int64)
          nest_.forms[at(instr.result)] = form_of(instr);
      }
      switch (instr.kind) {
        case InstrKind::Load:
        case InstrKind::Store:
          access(instr, position);
          break;
        case InstrKind::Loop:
        case InstrKind::While:
          loop(instr, position);
          break;
        case InstrKind::If:
          guarded(instr, instr.body, true);
          guarded(instr, instr.other, false);
          break;
        case InstrKind::Constant:
        case InstrKind::ScalarArg:
        case InstrKind::IntegerArg:
        case InstrKind::Apply:
        case InstrKind::Cast:
        case InstrKind::ReadLocal:
        case InstrKind::WriteLocal:
          break;
      }
    }
  }

  void guarded(const Instr& branch, const Block& instructions, bool holds) {
    guards_.push_back({&branch, holds, loop_ < 0 ? 0 : nest_.loop(loop_).depth + 1});
    block(instructions);
    guards_.pop_back();
  }

  void loop(const Instr& instr, std::int32_t position) {
    const auto number = static_cast<std::int32_t>(nest_.loops.size());
    nest_.loops.push_back({.instr = &instr,
                           .parent = loop_,
                           .depth = loop_ < 0 ? 0 : nest_.loop(loop_).depth + 1,
                           .position = position,
                           .end = 0});
    const std::int32_t around = loop_;
    loop_ = number;
    block(instr.other);
    block(instr.body);
    loop_ = around;
    nest_.loops[at(number)].end = position_;
  }

  void access(const Instr& instr, std::int32_t position) {
    const std::int32_t parameter = instr.address.operand;
    NestAccess made{.instr = &instr,
                    .array = nest_.array_of(parameter),
                    .loop = loop_,
                    .position = position,
                    .indices = {},
                    .guards = guards_};
    for (std::size_t k = 0; k < instr.address.terms.size(); ++k) {
      Affine index = nest_.forms[at(instr.address.terms[k].index)];
      if (made.array != parameter) {
        const auto shifted =
            add(index, {.constant = nest_.facts.same[at(parameter)].shift[k], .terms = {}}, 1);
        if (!shifted) made.array = parameter;  // beyond int64: this is no index of an element
        if (shifted) index = *shifted;
      }
      made.indices.push_back(std::move(index));
    }
    if (made.is_store()) nest_.written[at(made.array)] = true;
    if (nest_.accesses.size() <= at(instr.number)) nest_.accesses.resize(at(instr.number) + 1);
    nest_.accesses[at(instr.number)] = std::move(made);
  }

  // ---- forms ------------------------------------------------------------------------------------

  Affine form_of(const Instr& instr) {
    const Affine itself{.constant = 0, .terms = {{instr.result, 1}}};
    if (instr.kind == InstrKind::Constant)
      return {.constant = instr.constant.as<std::int64_t>(), .terms = {}};
    if (instr.kind == InstrKind::IntegerArg) {
      const auto& known = nest_.facts.integers;
      if (at(instr.number) < known.size() && known[at(instr.number)])
        return {.constant = *known[at(instr.number)], .terms = {}};
      ValueId& first = integers_[at(instr.number)];
      if (first == no_value) first = instr.result;
      return {.constant = 0, .terms = {{first, 1}}};
    }
    if (instr.kind != InstrKind::Apply) return itself;
    const auto form = [&](int k) -> const Affine& { return nest_.forms[at(instr.args[k])]; };
    const auto literal = [&](int k) { return form(k).terms.empty(); };
    if (instr.op == Op::Add) return add(form(0), form(1), 1).value_or(itself);
    if (instr.op == Op::Subtract) return add(form(0), form(1), -1).value_or(itself);
    if (instr.op == Op::Negative) return add({}, form(0), -1).value_or(itself);
    if (instr.op == Op::Maximum && literal(0) && literal(1))
      return {.constant = std::max(form(0).constant, form(1).constant), .terms = {}};
    if (instr.op == Op::Multiply && literal(1))
      return add({}, form(0), form(1).constant).value_or(itself);
    if (instr.op == Op::Multiply && literal(0))
      return add({}, form(1), form(0).constant).value_or(itself);
    if ((instr.op == Op::FloorDivide || instr.op == Op::Remainder) && literal(1) &&
        form(1).constant > 0) {
      const std::int64_t divisor = form(1).constant;
      const Affine floor = quotient(form(0), divisor);
      if (instr.op == Op::FloorDivide) return floor;
      const auto whole = add({}, floor, divisor);
      return whole ? add(form(0), *whole, -1).value_or(itself) : itself;
    }
    return itself;
  }

  Affine quotient(const Affine& dividend, std::int64_t divisor) {
    if (divisor == 1) return dividend;
    const auto values = static_cast<ValueId>(body_.values.size());
    const Nest::Division wanted{dividend, divisor};
    auto& all = nest_.divisions;
    const auto known = std::find(all.begin(), all.end(), wanted);
    const auto number = static_cast<ValueId>(known - all.begin());
    if (known == all.end()) all.push_back(wanted);
    return {.constant = 0, .terms = {{values + number, 1}}};
  }

  // ---- updates ----------------------------------------------------------------------------------

  void find_updates() {
    std::vector<std::int32_t> uses(body_.values.size(), 0);
    count_uses(body_.code, uses);
    for (std::size_t s = 0; s < nest_.accesses.size(); ++s) {
      const NestAccess& store = nest_.accesses[s];
      if (!store.instr || !store.is_store()) continue;
      const ValueId made = store.instr->args[0];
      const Instr* combine = nest_.definitions[at(made)];
      if (combine->kind != InstrKind::Apply || info(combine->op).inputs != 2 || uses[at(made)] != 1)
        continue;
      if (is_in_order(combine->op, body_.values[at(made)])) continue;
      for (int k = 0; k < 2; ++k) {
        const Instr* load = nest_.definitions[at(combine->args[k])];
        if (load->kind != InstrKind::Load || uses[at(load->result)] != 1 ||
            load->address != store.instr->address ||
            nest_.accesses[at(load->number)].loop != store.loop)
          continue;
        if (k == 1 && !has(combine->op, Commutative)) continue;
        const auto number = static_cast<std::int32_t>(nest_.updates.size());
        nest_.updates.push_back(
            {load->number, static_cast<std::int32_t>(s), combine->op, combine->args[1 - k]});
        nest_.accesses[s].update = nest_.accesses[at(load->number)].update = number;
        break;
      }
    }
  }

  static void count_uses(const Block& block, std::vector<std::int32_t>& uses) {
    for (const Instr& instr : block) {
      for (ValueId arg : instr.args)
        if (arg != no_value) ++uses[at(arg)];
      for (const Term& term : instr.address.terms) ++uses[at(term.index)];
      count_uses(instr.body, uses);
      count_uses(instr.other, uses);
    }
  }

  Nest& nest_;
  const Kernel& body_;
  std::int32_t loop_ = -1;
  std::int32_t position_ = 0;
  std::vector<NestGuard> guards_;
  std::vector<ValueId> integers_;  // by number: the first value that is it
};

}  // namespace

std::vector<std::int32_t> Nest::path_to(std::int32_t number) const {
  std::vector<std::int32_t> path;
  for (; number >= 0; number = loop(number).parent) path.push_back(number);
  std::reverse(path.begin(), path.end());
  return path;
}

std::int32_t Nest::array_of(std::int32_t parameter) const {
  return at(parameter) < facts.same.size() && facts.same[at(parameter)].array >= 0
             ? facts.same[at(parameter)].array
             : parameter;
}

bool Nest::is_symbolic(ValueId value) const {
  return at(value) < definitions.size() && definitions[at(value)] &&
         definitions[at(value)]->kind == InstrKind::IntegerArg;
}

bool Nest::is_fixed(const Affine& form) const {
  return std::ranges::all_of(form.terms, [&](const auto& term) {
    const std::size_t number = at(term.first);
    return number < definitions.size() ? is_symbolic(term.first)
                                       : is_fixed(divisions[number - definitions.size()].dividend);
  });
}

std::int64_t Nest::value_of(const Affine& form, std::span<const std::int64_t> integers) const {
  std::int64_t sum = form.constant;
  for (const auto& [id, factor] : form.terms) {
    const std::size_t number = at(id);
    if (number < definitions.size()) {
      sum += factor * integers[at(definitions[number]->number)];
      continue;
    }
    const Division& division = divisions[number - definitions.size()];
    const std::int64_t whole = value_of(division.dividend, integers), by = division.divisor;
    sum += factor * ((whole - (whole % by + by) % by) / by);
  }
  return sum;
}

bool Nest::is_inside(ValueId value, std::int32_t number) const {
  const std::int32_t position = definition_position[at(value)];
  return position >= loop(number).position && position < loop(number).end;
}

std::vector<SplitCandidate> split_candidates(const std::vector<NestLoop>& loops,
                                             std::int32_t loop) {
  using Kind = SplitCandidate::Kind;
  std::vector<SplitCandidate> found{{Kind::First, -1}, {Kind::Last, -1}};
  for (std::int32_t k = loops[at(loop)].parent; k >= 0; k = loops[at(k)].parent)
    if (!loops[at(k)].is_while()) found.push_back({Kind::OuterIndex, k});
  return found;
}

std::shared_ptr<const Nest> analyse_nest(const Routine& routine, NestFacts facts,
                                         DiskStore* store) {
  check(routine.rank == 0, "a loop nest has no parallel axes of its own");
  auto nest = std::make_shared<Nest>();
  SimplifiedNest simplified = simplify_nest(routine, facts);
  nest->routine = std::move(simplified.routine);
  nest->access_origins = std::move(simplified.accesses);
  nest->local_origins = std::move(simplified.locals);
  nest->facts = std::move(facts);
  NestBuilder(*nest).run();
  if (store)
    find_or_load_dependences(routine, *nest, *store);
  else
    find_nest_dependences(*nest);
  return nest;
}

}  // namespace frit
