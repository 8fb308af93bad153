// addresses.cpp: follows the indices of addresses through additions and subtractions.
#include "backend/interp/addresses.h"

namespace frit::interp {
namespace {

constexpr std::size_t most_terms = 8;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class Addresses {
 public:
  explicit Addresses(const Kernel& kernel)
      : kernel_(kernel),
        variance_(variance_of(kernel)),
        definitions_(kernel.values.size()),
        negated_(kernel.values.size(), no_value),
        made_{.operands = kernel.operands,
              .scalars = kernel.scalars,
              .integers = kernel.integers,
              .values = kernel.values,
              .locals = kernel.locals,
              .code = {}} {}

  std::optional<Kernel> run() {
    find(kernel_.code);
    if (!found_any_) return std::nullopt;
    made_.code = rewritten(kernel_.code);
    made_.may_stop = kernel_.may_stop;
    return std::move(made_);
  }

 private:
  bool is_sum(ValueId id) const {
    const Instr& instr = *definitions_[at(id)];
    return instr.kind == InstrKind::Apply && (instr.op == Op::Add || instr.op == Op::Subtract) &&
           variance_.values[at(id)] && kernel_.values[at(id)] == DType::Int64;
  }
  bool is_lane(ValueId id) const {
    const Instr& instr = *definitions_[at(id)];
    return instr.kind == InstrKind::Loop && instr.vector;
  }

  // The terms that a sum is made of: lanes, and what all lanes share; `negative`: less it.
  struct Part {
    ValueId value;
    bool negative;
  };
  bool add_parts(ValueId id, bool negative, std::vector<Part>& parts) const {
    if (parts.size() >= most_terms) return false;
    if (is_sum(id)) {
      const Instr& instr = *definitions_[at(id)];
      const bool subtracts = instr.op == Op::Subtract;
      return add_parts(instr.args[0], negative, parts) &&
             add_parts(instr.args[1], negative != subtracts, parts);
    }
    const bool varies = variance_.values[at(id)];
    if (varies && (negative || !is_lane(id))) return false;
    parts.push_back({id, negative});
    return true;
  }
  std::optional<std::vector<Part>> parts_of(ValueId id) const {
    std::vector<Part> parts;
    if (!is_sum(id) || !add_parts(id, false, parts)) return std::nullopt;
    return parts;
  }

  void find(const Block& block) {
    for (const Instr& instr : block) {
      if (instr.result != no_value) definitions_[at(instr.result)] = &instr;
      for (const Term& term : instr.address.terms)
        if (const auto parts = parts_of(term.index)) {
          found_any_ = true;
          for (const Part& part : *parts)
            if (part.negative && negated_[at(part.value)] == no_value)
              negated_[at(part.value)] = new_value();
        }
      // As a While runs: its condition first.
      find(instr.other);
      find(instr.body);
    }
  }
  ValueId new_value() {
    made_.values.push_back(DType::Int64);
    return static_cast<ValueId>(made_.values.size() - 1);
  }

  Block rewritten(const Block& block) {
    Block made;
    made.reserve(block.size());
    for (const Instr& instr : block) {
      Instr& copy = made.emplace_back(instr);
      copy.address.terms = rewritten(instr.address.terms);
      copy.other = rewritten(instr.other);
      copy.body = rewritten(instr.body);
      if (instr.result == no_value || negated_[at(instr.result)] == no_value) continue;
      if (instr.kind == InstrKind::Loop)
        add_negated(instr.result, copy.body, copy.body.begin());
      else
        add_negated(instr.result, made, made.end());
    }
    return made;
  }
  void add_negated(ValueId id, Block& block, Block::iterator place) {
    Instr zero, negated;
    zero.kind = InstrKind::Constant;
    zero.result = new_value();
    zero.constant = Scalar::of(DType::Int64, std::int64_t{0});
    negated.kind = InstrKind::Apply;
    negated.op = Op::Subtract;
    negated.result = negated_[at(id)];
    negated.args[0] = zero.result;
    negated.args[1] = id;
    place = block.insert(place, std::move(negated));
    block.insert(place, std::move(zero));
  }
  std::vector<Term> rewritten(const std::vector<Term>& terms) const {
    std::vector<Term> made;
    for (const Term& term : terms) {
      const auto parts = parts_of(term.index);
      if (!parts) made.push_back(term);
      for (const Part& part : parts.value_or(std::vector<Part>()))
        made.push_back({part.negative ? negated_[at(part.value)] : part.value, term.stride});
    }
    return made;
  }

  const Kernel& kernel_;
  const Variance variance_;
  std::vector<const Instr*> definitions_;
  std::vector<ValueId> negated_;  // by value: that with the other sign, where an address needs it
  Kernel made_;
  bool found_any_ = false;
};

}  // namespace

std::optional<Kernel> take_sums_apart(const Kernel& kernel) { return Addresses(kernel).run(); }

}  // namespace frit::interp
