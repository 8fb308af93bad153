// searches.cpp: Whiles that look for an element ask whole vectors.
#include "ir/searches.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace frit {

namespace {

// One by one at first: a vector that holds what is looked for costs as much as a dozen rounds.
constexpr std::int32_t first_rounds = 16;
// At once. The While goes through those again among which it is: 128 make up for the question.
constexpr std::int64_t rounds_at_once = 128;

// What a While has to be.
class Search {
 public:
  Search(const Kernel& kernel, const Instr& loop) : kernel_(kernel), loop_(loop) {
    for (const Block* block : {&loop.other, &loop.body})
      for_each_instr(*block, [&](const Instr& instr) { inside_.insert(instr.result); });
    inside_.erase(no_value);
    is_one_ = understand_test() && understand_body();
  }

  explicit operator bool() const { return is_one_; }

  std::int32_t index = -1;  // the local that counts
  ValueId last = no_value;
  ValueId below = no_value;        // index < last
  ValueId goes_on = no_value;      // the test as it is written
  ValueId number = no_value;       // the index in the body
  ValueId condition = no_value;    // of what the body does else
  std::vector<const Instr*> asks;  // what the condition follows from, in order

 private:
  bool is_outside(ValueId id) const { return !inside_.contains(id); }
  DType type(ValueId id) const { return kernel_.values[static_cast<std::size_t>(id)]; }

  // ---- the test: index < last, and what does not depend on the index ----
  bool understand_test() {
    std::unordered_map<std::int32_t, ValueId> written;
    std::unordered_set<std::int32_t> read;
    for (const Instr& instr : loop_.other) {
      if (instr.kind == InstrKind::ReadLocal) {
        if (const auto known = written.find(instr.number); known != written.end())
          same_[instr.result] = known->second;
        else
          read.insert(instr.number);
      } else if (instr.kind == InstrKind::WriteLocal) {
        if (read.contains(instr.number)) return false;  // to ask twice would be another thing
        written[instr.number] = instr.args[0];
      } else if (!is_pure(instr)) {
        return false;
      }
    }
    if (!written.contains(loop_.number)) return false;
    goes_on = written.at(loop_.number);
    return understand_part(goes_on) && index >= 0 && !written.contains(index) &&
           std::ranges::none_of(others_, [&](ValueId id) { return follows_from_index(id); });
  }
  bool understand_part(ValueId id) {
    while (same_.contains(id)) id = same_.at(id);
    const Instr* made = definition_in(loop_.other, id);
    if (made && made->kind == InstrKind::Apply && made->op == Op::LogicalAnd)
      return understand_part(made->args[0]) && understand_part(made->args[1]);
    if (made && made->kind == InstrKind::Apply && made->op == Op::Less && index < 0) {
      const Instr* left = definition_in(loop_.other, made->args[0]);
      if (left && left->kind == InstrKind::ReadLocal && !same_.contains(left->result) &&
          type(left->result) == DType::Int64 && is_outside(made->args[1])) {
        index = left->number;
        last = made->args[1];
        below = made->result;
        return true;
      }
    }
    others_.push_back(id);
    return true;
  }
  bool follows_from_index(ValueId id) const {
    while (same_.contains(id)) id = same_.at(id);
    const Instr* made = definition_in(loop_.other, id);
    if (!made) return false;
    if (made->kind == InstrKind::ReadLocal) return made->number == index;
    return std::ranges::any_of(
        made->args, [&](ValueId arg) { return arg != no_value && follows_from_index(arg); });
  }

  // ---- the body: index += 1, if (condition) { .. } ----
  bool understand_body() {
    bool has_counted = false;
    for (const Instr& instr : loop_.body) {
      if (is_pure(instr) || instr.kind == InstrKind::Load) continue;
      if (instr.kind == InstrKind::ReadLocal) {
        if (instr.number != index) continue;
        if (has_counted || number != no_value) return false;
        number = instr.result;
      } else if (instr.kind == InstrKind::WriteLocal) {
        if (has_counted || instr.number != index || !is_next(instr.args[0])) return false;
        has_counted = true;
      } else if (instr.kind == InstrKind::If && condition == no_value && instr.other.empty() &&
                 !instr.fails) {
        condition = instr.args[0];
      } else {
        return false;
      }
    }
    if (!has_counted || condition == no_value || is_outside(condition) || !can_ask(condition))
      return false;
    for (const Instr& instr : loop_.body)
      if (asked_.contains(instr.result)) asks.push_back(&instr);
    return std::ranges::any_of(asks, [&](const Instr* instr) {
      return instr->kind == InstrKind::Load &&
             std::ranges::any_of(instr->address.terms,
                                 [&](const Term& term) { return !is_outside(term.index); });
    });
  }
  bool is_next(ValueId id) const {
    const Instr* sum = definition_in(loop_.body, id);
    if (!sum || sum->kind != InstrKind::Apply || sum->op != Op::Add) return false;
    for (int k = 0; k < 2; ++k)
      if (sum->args[k] == number && is_one(sum->args[1 - k])) return true;
    return false;
  }
  bool is_one(ValueId id) const {
    bool found = false;
    for_each_instr(kernel_.code, [&](const Instr& instr) {
      found |= instr.result == id && instr.kind == InstrKind::Constant &&
               instr.constant.dtype == DType::Int64 && instr.constant.as<std::int64_t>() == 1;
    });
    return found;
  }
  // May it be computed for rounds that are not come to, and by vectors?
  bool can_ask(ValueId id) {
    if (id == number || is_outside(id) || asked_.contains(id)) return true;
    const Instr* made = definition_in(loop_.body, id);
    if (!made || is_complex(type(id)) || type(id) == DType::Float16) return false;
    asked_.insert(id);
    switch (made->kind) {
      case InstrKind::ReadLocal:
        return true;
      case InstrKind::Load:
        return is_side_by_side(made->address);
      case InstrKind::Apply:
        if (has(made->op, Costly) || made->math != MathLibrary::Frit) return false;
        break;
      case InstrKind::Cast:
        break;
      default:
        return false;
    }
    const ValueId first =
        made->args[made->kind == InstrKind::Apply && info(made->op).rule == TypeRule::Select];
    return !raises_easily(*made, type(first), type(id)) &&
           std::ranges::all_of(made->args,
                               [&](ValueId arg) { return arg == no_value || can_ask(arg); });
  }
  bool is_side_by_side(const Address& address) {
    int moving = 0;
    for (const Term& term : address.terms) {
      if (is_outside(term.index)) continue;
      if (term.stride != unit_stride || !is_index(term.index)) return false;
      ++moving;
    }
    return moving <= 1;
  }
  // The index, or its sum with what comes from outside.
  bool is_index(ValueId id) {
    if (id == number) return true;
    const Instr* sum = definition_in(loop_.body, id);
    if (!sum || sum->kind != InstrKind::Apply) return false;
    const ValueId x = sum->args[0], y = sum->args[1];
    const bool is_sum = (sum->op == Op::Add &&
                         ((x == number && is_outside(y)) || (y == number && is_outside(x)))) ||
                        (sum->op == Op::Subtract && x == number && is_outside(y));
    if (is_sum) asked_.insert(id);
    return is_sum;
  }

  const Kernel& kernel_;
  const Instr& loop_;
  std::unordered_set<ValueId> inside_, asked_;
  std::unordered_map<ValueId, ValueId> same_;  // read from a local: what was written to it
  std::vector<ValueId> others_;                // of the test
  bool is_one_ = false;
};

class SearchWriter {
 public:
  explicit SearchWriter(const Kernel& kernel) : original_(kernel), kernel_(kernel) {}

  std::optional<Kernel> run() {
    edit(kernel_.code, false);
    if (!has_changed_) return std::nullopt;
    return std::move(kernel_);
  }

 private:
  // ---- instructions ----
  ValueId new_value(DType dtype) {
    kernel_.values.push_back(dtype);
    return static_cast<ValueId>(kernel_.values.size() - 1);
  }
  std::int32_t new_truth() {
    kernel_.locals.push_back(DType::Bool);
    return static_cast<std::int32_t>(kernel_.locals.size() - 1);
  }
  ValueId constant(Block& to, const Scalar& value) {
    Instr& instr = to.emplace_back();
    instr.kind = InstrKind::Constant;
    instr.constant = value;
    return instr.result = new_value(value.dtype);
  }
  ValueId apply(Block& to, Op op, DType result, ValueId x, ValueId y = no_value) {
    Instr& instr = to.emplace_back();
    instr.kind = InstrKind::Apply;
    instr.op = op;
    instr.args[0] = x;
    instr.args[1] = y;
    return instr.result = new_value(result);
  }
  ValueId read(Block& to, std::int32_t local) {
    Instr& instr = to.emplace_back();
    instr.kind = InstrKind::ReadLocal;
    instr.number = local;
    return instr.result = new_value(kernel_.locals[static_cast<std::size_t>(local)]);
  }
  void write(Block& to, std::int32_t local, ValueId value) {
    Instr& instr = to.emplace_back();
    instr.kind = InstrKind::WriteLocal;
    instr.number = local;
    instr.args[0] = value;
  }

  // ---- copies, whose values are new ----
  using Names = std::unordered_map<ValueId, ValueId>;
  static void rename(ValueId& id, const Names& names) {
    if (const auto found = names.find(id); found != names.end()) id = found->second;
  }
  Instr copied(const Instr& instr, Names& names) {
    Instr copy = instr;
    for (ValueId& arg : copy.args) rename(arg, names);
    for (Term& term : copy.address.terms) rename(term.index, names);
    for (Fetch& fetch : copy.fetches)
      for (Term& term : fetch.address.terms) rename(term.index, names);
    if (instr.result != no_value) {
      copy.result = new_value(kernel_.values[static_cast<std::size_t>(instr.result)]);
      names[instr.result] = copy.result;
    }
    copy.other = copied(instr.other, names);
    copy.body = copied(instr.body, names);
    for (Reduction& reduction : copy.reductions) rename(reduction.value, names);
    return copy;
  }
  Block copied(const Block& block, Names& names) {
    Block copies;
    for (const Instr& instr : block) copies.push_back(copied(instr, names));
    return copies;
  }

  // ---- the kernel ----
  void edit(Block& block, bool is_in_lanes) {
    Block to;
    for (Instr& instr : block) {
      edit(instr.body, is_in_lanes || instr.vector);
      edit(instr.other, is_in_lanes);
      if (instr.kind == InstrKind::While && !is_in_lanes)
        if (const Search search(original_, instr); search) {
          has_changed_ = true;
          add_first_rounds(to, instr, search);
          add_vectors(to, instr, search);
        }
      to.push_back(std::move(instr));
    }
    block = std::move(to);
  }

  void add_first_rounds(Block& to, const Instr& loop, const Search& search) {
    const ValueId many = constant(to, Scalar::of(DType::Int64, std::int64_t{first_rounds}));
    const ValueId few = apply(to, Op::Add, DType::Int64, read(to, search.index), many);
    const ValueId end = apply(to, Op::Minimum, DType::Int64, search.last, few);
    Names names;
    Instr first = copied(loop, names);
    first.rounds = first_rounds;
    for (Instr& instr : first.other)
      if (instr.result == names.at(search.below)) instr.args[1] = end;
    to.push_back(std::move(first));
  }

  // if (it goes on) while (index + rounds <= last and none has it) index += rounds
  void add_vectors(Block& to, const Instr& loop, const Search& search) {
    Names names;
    for (Instr& instr : copied(loop.other, names)) to.push_back(std::move(instr));
    Instr branch;
    branch.kind = InstrKind::If;
    branch.args[0] = names.at(search.goes_on);
    const std::int32_t has_it = new_truth();
    const ValueId many = constant(branch.body, Scalar::of(DType::Int64, rounds_at_once));
    write(branch.body, has_it, constant(branch.body, Scalar::of(DType::Bool, std::uint8_t{0})));

    Instr vectors;
    vectors.kind = InstrKind::While;
    vectors.number = new_truth();
    const auto has_none = [&](Block& block) {
      return apply(block, Op::LogicalNot, DType::Bool, read(block, has_it));
    };
    const ValueId end =
        apply(vectors.other, Op::Add, DType::Int64, read(vectors.other, search.index), many);
    const ValueId is_there = apply(vectors.other, Op::LessEqual, DType::Bool, end, search.last);
    write(vectors.other, vectors.number,
          apply(vectors.other, Op::LogicalAnd, DType::Bool, is_there, has_none(vectors.other)));

    Instr lanes;
    lanes.kind = InstrKind::Loop;
    lanes.vector = true;
    lanes.args[0] = read(vectors.body, search.index);
    lanes.args[1] = apply(vectors.body, Op::Add, DType::Int64, lanes.args[0], many);
    lanes.result = new_value(DType::Int64);
    Names of_lanes{{search.number, lanes.result}};
    for (const Instr* instr : search.asks) lanes.body.push_back(copied(*instr, of_lanes));
    lanes.reductions = {{Op::LogicalOr, of_lanes.at(search.condition), has_it}};
    const ValueId next = lanes.args[1];
    vectors.body.push_back(std::move(lanes));
    Instr move;
    move.kind = InstrKind::If;
    move.args[0] = has_none(vectors.body);
    write(move.body, search.index, next);
    vectors.body.push_back(std::move(move));
    branch.body.push_back(std::move(vectors));
    to.push_back(std::move(branch));
  }

  const Kernel& original_;
  Kernel kernel_;
  bool has_changed_ = false;
};

}  // namespace

std::optional<Kernel> with_searches(const Kernel& kernel) {
  bool has_while = false;
  if (kernel.loads_early)
    for_each_instr(kernel.code,
                   [&](const Instr& instr) { has_while |= instr.kind == InstrKind::While; });
  if (!has_while) return std::nullopt;
  return SearchWriter(kernel).run();
}

}  // namespace frit
