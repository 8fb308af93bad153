// routine.cpp: checks, prints and interns Routines.
#include "ir/routine.h"

#include <unordered_map>

#include "ir/error.h"
#include "ir/hash.h"

namespace frit {
namespace {

constexpr std::size_t most_interned = 4096;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class RoutineVerifier {
 public:
  explicit RoutineVerifier(const Routine& routine)
      : routine_(routine),
        body_(routine.body),
        visible_(routine.body.values.size()),
        defined_(routine.body.values.size()) {}

  void run() {
    check(routine_.rank >= 0 && at(routine_.rank) <= body_.values.size(),
          "a routine has a value for each axis");
    check(routine_.parameter_ranks.size() == body_.operands.size(),
          "a routine knows the rank of each parameter");
    for (std::int32_t k = 0; k < routine_.rank; ++k) define(k, DType::Int64);
    block(body_.code);
  }

 private:
  void block(const Block& instructions) {
    const std::size_t mark = scope_.size();
    for (const Instr& instr : instructions) instruction(instr);
    for (; scope_.size() > mark; scope_.pop_back()) visible_[scope_.back()] = false;
  }

  void instruction(const Instr& instr) {
    switch (instr.kind) {
      case InstrKind::Constant:
        return define(instr.result, instr.constant.dtype);
      case InstrKind::ScalarArg:
        check(instr.number >= 0 && at(instr.number) < body_.scalars.size(),
              "a scalar is in the routine's table");
        return define(instr.result, body_.scalars[at(instr.number)]);
      case InstrKind::IntegerArg:
        check(instr.number >= 0 && instr.number < body_.integers,
              "an integer is in the routine's table");
        return define(instr.result, DType::Int64);
      case InstrKind::Apply:
        return apply(instr);
      case InstrKind::Cast:
        type_of(instr.args[0]);
        return define(instr.result, body_.values[at(instr.result)]);
      case InstrKind::Load:
        address(instr.address);
        return define(instr.result, body_.operands[at(instr.address.operand)].dtype);
      case InstrKind::Store:
        address(instr.address);
        check(body_.operands[at(instr.address.operand)].written, "a stored parameter is written");
        check(type_of(instr.args[0]) == body_.operands[at(instr.address.operand)].dtype,
              "a stored value has its parameter's type");
        return;
      case InstrKind::ReadLocal:
        return define(instr.result, local_type(instr.number));
      case InstrKind::WriteLocal:
        check(type_of(instr.args[0]) == local_type(instr.number), "a local keeps its type");
        return;
      case InstrKind::Loop:
        return loop(instr);
      case InstrKind::If:
        check(type_of(instr.args[0]) == DType::Bool, "the condition of an If is Bool");
        block(instr.body);
        return block(instr.other);
      case InstrKind::While:
        check(local_type(instr.number) == DType::Bool, "the local of a While is Bool");
        block(instr.other);
        return block(instr.body);
    }
  }

  void apply(const Instr& instr) {
    const OpInfo& row = info(instr.op);
    OperandType operands[3] = {};
    for (int k = 0; k < row.inputs; ++k) operands[k].dtype = type_of(instr.args[k]);
    const auto signature = resolve(instr.op, {operands, at(row.inputs)});
    check(signature.has_value(), "the op of an Apply takes operands of these types");
    for (int k = 0; k < row.inputs; ++k)
      check(signature->in[k] == operands[k].dtype, "the operands of an Apply have its types");
    define(instr.result, signature->out);
  }

  void loop(const Instr& instr) {
    check(!instr.parallel && !instr.vector && instr.reductions.empty() && instr.fetches.empty(),
          "a routine's loops are plain");
    for (int k = 0; k < 2; ++k)
      check(type_of(instr.args[k]) == DType::Int64, "the bounds of a loop are Int64");
    const std::size_t mark = scope_.size();
    define(instr.result, DType::Int64);
    block(instr.body);
    for (; scope_.size() > mark; scope_.pop_back()) visible_[scope_.back()] = false;
  }

  void address(const Address& address) {
    check(address.operand >= 0 && at(address.operand) < body_.operands.size(),
          "an address names a parameter");
    check(address.terms.size() == at(routine_.parameter_ranks[at(address.operand)]),
          "an address has a term for each axis");
    for (std::size_t k = 0; k < address.terms.size(); ++k) {
      check(type_of(address.terms[k].index) == DType::Int64, "an index is Int64");
      check(at(address.terms[k].stride) == k,
            "the terms of an address are in the order of the axes");
    }
  }

  DType type_of(ValueId id) const {
    check(id >= 0 && at(id) < body_.values.size() && visible_[at(id)],
          "a value is used where it is visible");
    return body_.values[at(id)];
  }
  DType local_type(std::int32_t number) const {
    check(number >= 0 && at(number) < body_.locals.size(), "a local is in the routine's table");
    return body_.locals[at(number)];
  }
  void define(ValueId id, DType dtype) {
    check(id >= 0 && at(id) < body_.values.size() && !defined_[at(id)], "a value is defined once");
    check(body_.values[at(id)] == dtype, "a value has the type of its instruction");
    defined_[at(id)] = visible_[at(id)] = true;
    scope_.push_back(at(id));
  }

  const Routine& routine_;
  const Kernel& body_;
  std::vector<bool> visible_, defined_;
  std::vector<std::size_t> scope_;
};

// Equal routines have equal hashes; what is left out here is compared.
class Hasher {
 public:
  std::uint64_t run(const Routine& routine) {
    add(static_cast<std::uint64_t>(routine.rank));
    for (const Operand& operand : routine.body.operands)
      add(static_cast<std::uint64_t>(operand.dtype) << 1 | (operand.written ? 1 : 0));
    block(routine.body.code);
    return hash_;
  }

 private:
  void add(std::uint64_t word) { hash_ = mixed(hash_, word); }
  void block(const Block& instructions) {
    add(instructions.size());
    for (const Instr& instr : instructions) {
      add(static_cast<std::uint64_t>(instr.kind) | static_cast<std::uint64_t>(instr.op) << 8 |
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(instr.number)) << 32);
      add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(instr.args[0])) << 32 |
          static_cast<std::uint32_t>(instr.args[1]));
      for (const Term& term : instr.address.terms) add(static_cast<std::uint64_t>(term.index));
      if (instr.kind == InstrKind::Constant) add(instr.constant.as<std::uint64_t>());
      if (!instr.body.empty()) block(instr.body);
      if (!instr.other.empty()) block(instr.other);
    }
  }
  std::uint64_t hash_ = 0;
};

std::uint64_t hash_of(const Routine& routine) { return Hasher().run(routine); }

}  // namespace

void verify(const Routine& routine) { RoutineVerifier(routine).run(); }

std::string print(const Routine& routine) {
  std::string axes = "routine over";
  for (std::int32_t k = 0; k < routine.rank; ++k) axes += " v" + std::to_string(k);
  return axes + "\n" + print(routine.body);
}

std::shared_ptr<const Routine> intern(const Routine& routine) {
  // Never destroyed: kernels may be recorded while the process ends.
  static auto& known = *new std::unordered_multimap<std::uint64_t, std::shared_ptr<const Routine>>;
  static std::uint64_t next_id = 1;
  const std::uint64_t hash = hash_of(routine);
  const auto [first, last] = known.equal_range(hash);
  for (auto k = first; k != last; ++k)
    if (k->second->rank == routine.rank && k->second->parameter_ranks == routine.parameter_ranks &&
        k->second->body == routine.body)
      return k->second;
  verify(routine);
  if (known.size() >= most_interned)
    known.clear();  // later equals get a new id: plans are made anew, never mixed up
  auto added = std::make_shared<Routine>(routine);
  added->id = next_id++;
  return known.emplace(hash, std::move(added))->second;
}

}  // namespace frit
