// kernel_guard.cpp: writes checks of indices into a routine, and takes the rest of it away.
#include "front/kernel_guard.h"

#include <algorithm>

#include "ir/error.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

// 1 + axes_of_code * access + axis.
constexpr std::int64_t axes_of_code = 64;

enum class Report : std::uint8_t {
  FirstIndex,  // which it was, and its value; the routine does its work
  AnyIndex,    // whether there was one; the routine stores nothing else
};

// Rewrites a block: indices that may leave their axis are held inside it, and the bad ones noted.
class IndexGuard {
 public:
  IndexGuard(const GuardQuestion& question, Report report)
      : question_(question), report_(report), routine_(question.routine) {
    integers_.assign(question.integers.begin(), question.integers.end());
    count_accesses(routine_.body.code);
  }

  void run() {
    const Block body = std::move(routine_.body.code);
    Block code;
    to_ = &code;
    if (report_ == Report::FirstIndex) {
      code_ = add_local(DType::Int64);
      index_ = add_local(DType::Int64);
    } else {
      any_ = add_local(DType::Bool);
      for (Operand& operand : routine_.body.operands) operand.written = false;
    }
    block(body, code);
    to_ = &code;
    if (report_ == Report::FirstIndex) {
      store(read(code_, DType::Int64), DType::Int64);
      store(read(index_, DType::Int64), DType::Int64);
    } else {
      store(read(any_, DType::Bool), DType::Bool);
    }
    routine_.body.code = std::move(code);
  }

  Routine& routine() { return routine_; }
  std::vector<std::int64_t>& integers() { return integers_; }

 private:
  void count_accesses(const Block& block) {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store)
        accesses_ = std::max(accesses_, instr.number + 1);
      count_accesses(instr.body);
      count_accesses(instr.other);
    }
  }

  void block(const Block& from, Block& to) {
    for (const Instr& instr : from) {
      to_ = &to;
      if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) {
        access(instr);
        continue;
      }
      Instr copy = instr;
      copy.body.clear();
      copy.other.clear();
      block(instr.other, copy.other);
      block(instr.body, copy.body);
      to.push_back(std::move(copy));
    }
  }

  void access(Instr instr) {
    const auto shape = question_.arrays[at(instr.address.operand)].shape();
    ValueId all_inside = no_value;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (question_.bounds[at(instr.number)][d] != InBounds::Unknown) continue;
      if (shape[d] == 0) return refuse(std::move(instr), static_cast<std::int64_t>(d));
      const ValueId asked = instr.address.terms[d].index, first = integer(0),
                    last = integer(shape[d] - 1);
      const ValueId held =
          apply(Op::Maximum, DType::Int64, apply(Op::Minimum, DType::Int64, asked, last), first);
      const ValueId inside =
          apply(Op::LogicalAnd, DType::Bool, apply(Op::GreaterEqual, DType::Bool, asked, first),
                apply(Op::LessEqual, DType::Bool, asked, last));
      note(instr.number, static_cast<std::int64_t>(d), asked, inside);
      instr.address.terms[d].index = held;
      all_inside =
          all_inside == no_value ? inside : apply(Op::LogicalAnd, DType::Bool, all_inside, inside);
    }
    if (instr.kind == InstrKind::Store && report_ == Report::AnyIndex) return;
    if (all_inside == no_value || instr.kind == InstrKind::Load)
      return to_->push_back(std::move(instr));
    Instr guard;
    guard.kind = InstrKind::If;
    guard.args[0] = all_inside;
    guard.body.push_back(std::move(instr));
    to_->push_back(std::move(guard));
  }

  // An axis without elements has no index that could be held inside: who comes here is reported.
  void refuse(Instr instr, std::int64_t axis) {
    note(instr.number, axis, instr.address.terms[static_cast<std::size_t>(axis)].index,
         constant(DType::Bool, 0));
    if (instr.kind == InstrKind::Store) return;
    Instr nothing;
    nothing.kind = InstrKind::Constant;
    nothing.result = instr.result;
    nothing.constant.dtype = routine_.body.values[at(instr.result)];
    to_->push_back(std::move(nothing));
  }

  void note(std::int32_t access, std::int64_t axis, ValueId index, ValueId inside) {
    const ValueId outside = apply(Op::LogicalNot, DType::Bool, inside);
    if (report_ == Report::AnyIndex)
      return write(any_, apply(Op::LogicalOr, DType::Bool, read(any_, DType::Bool), outside));
    const ValueId first =
        apply(Op::Equal, DType::Bool, read(code_, DType::Int64), constant(DType::Int64, 0));
    const ValueId now = apply(Op::LogicalAnd, DType::Bool, first, outside);
    write(index_, select(now, index, read(index_, DType::Int64)));
    write(code_, select(now, constant(DType::Int64, 1 + axes_of_code * access + axis),
                        read(code_, DType::Int64)));
  }

  // ---- instructions -----------------------------------------------------------------------------

  ValueId add(Instr instr, DType dtype) {
    instr.result = static_cast<ValueId>(routine_.body.values.size());
    routine_.body.values.push_back(dtype);
    to_->push_back(std::move(instr));
    return to_->back().result;
  }
  ValueId apply(Op op, DType dtype, ValueId a, ValueId b = no_value, ValueId c = no_value) {
    Instr instr;
    instr.kind = InstrKind::Apply;
    instr.op = op;
    instr.args[0] = a;
    instr.args[1] = b;
    instr.args[2] = c;
    return add(std::move(instr), dtype);
  }
  ValueId select(ValueId condition, ValueId x, ValueId y) {
    return apply(Op::Select, DType::Int64, condition, x, y);
  }
  ValueId integer(std::int64_t value) {
    Instr instr;
    instr.kind = InstrKind::IntegerArg;
    instr.number = routine_.body.integers++;
    integers_.push_back(value);
    return add(std::move(instr), DType::Int64);
  }
  ValueId constant(DType dtype, std::int64_t value) {
    Instr instr;
    instr.kind = InstrKind::Constant;
    instr.constant = dtype == DType::Bool ? Scalar::of(dtype, static_cast<std::uint8_t>(value))
                                          : Scalar::of(dtype, value);
    return add(std::move(instr), dtype);
  }
  // A local that is 0 at first.
  std::int32_t add_local(DType dtype) {
    routine_.body.locals.push_back(dtype);
    const auto number = static_cast<std::int32_t>(routine_.body.locals.size() - 1);
    write(number, constant(dtype, 0));
    return number;
  }
  ValueId read(std::int32_t local, DType dtype) {
    Instr instr;
    instr.kind = InstrKind::ReadLocal;
    instr.number = local;
    return add(std::move(instr), dtype);
  }
  void write(std::int32_t local, ValueId value) {
    Instr instr;
    instr.kind = InstrKind::WriteLocal;
    instr.number = local;
    instr.args[0] = value;
    to_->push_back(std::move(instr));
  }
  // At the point itself, in a parameter of its own.
  void store(ValueId value, DType dtype) {
    Instr instr;
    instr.kind = InstrKind::Store;
    instr.address.operand = static_cast<std::int32_t>(routine_.body.operands.size());
    routine_.body.operands.push_back({.dtype = dtype, .written = true});
    routine_.parameter_ranks.push_back(routine_.rank);
    for (std::int32_t k = 0; k < routine_.rank; ++k) instr.address.terms.push_back({k, k});
    instr.args[0] = value;
    instr.number = accesses_++;
    to_->push_back(std::move(instr));
  }

  const GuardQuestion& question_;
  const Report report_;
  Routine routine_;
  std::vector<std::int64_t> integers_;
  std::int32_t accesses_ = 0;
  std::int32_t code_ = -1, index_ = -1, any_ = -1;
  Block* to_ = nullptr;
};

// Keeps what the stores need.
class Slice {
 public:
  explicit Slice(Routine& routine)
      : routine_(routine),
        values_(routine.body.values.size()),
        locals_(routine.body.locals.size()) {}

  void run() {
    do {
      changed_ = false;
      mark(routine_.body.code);
    } while (changed_);
    keep(routine_.body.code);
  }

 private:
  bool is_needed(const Instr& instr) const {
    const auto any = [&](const Block& block) {
      return std::any_of(block.begin(), block.end(), [&](const Instr& i) { return is_needed(i); });
    };
    switch (instr.kind) {
      case InstrKind::Store:
        return true;
      case InstrKind::WriteLocal:
        return locals_[at(instr.number)];
      case InstrKind::Loop:
      case InstrKind::If:
      case InstrKind::While:
        return any(instr.body) || any(instr.other);
      case InstrKind::Constant:
      case InstrKind::ScalarArg:
      case InstrKind::IntegerArg:
      case InstrKind::Apply:
      case InstrKind::Cast:
      case InstrKind::Load:
      case InstrKind::ReadLocal:
        break;
    }
    return values_[at(instr.result)];
  }

  void mark(const Block& block) {
    for (std::size_t k = block.size(); k-- > 0;) {
      const Instr& instr = block[k];
      mark(instr.body);
      mark(instr.other);
      if (!is_needed(instr)) continue;
      for (ValueId argument : instr.args)
        if (argument != no_value) set(values_, argument);
      for (const Term& term : instr.address.terms) set(values_, term.index);
      if (instr.kind == InstrKind::ReadLocal || instr.kind == InstrKind::While)
        set(locals_, instr.number);
    }
  }
  void set(std::vector<bool>& which, std::int32_t number) {
    changed_ |= !which[at(number)];
    which[at(number)] = true;
  }

  void keep(Block& block) {
    std::erase_if(block, [&](const Instr& instr) { return !is_needed(instr); });
    for (Instr& instr : block) {
      keep(instr.other);
      keep(instr.body);
    }
  }

  Routine& routine_;
  std::vector<bool> values_, locals_;  // needed
  bool changed_ = false;
};

template <class Visit>
void for_each_load(const Block& block, Visit&& visit) {
  for (const Instr& instr : block) {
    if (instr.kind == InstrKind::Load) visit(instr);
    for_each_load(instr.body, visit);
    for_each_load(instr.other, visit);
  }
}

// Numbers the accesses that are left anew; `old` gets their numbers from before.
void number_accesses(Block& block, std::vector<std::int32_t>& old) {
  for (Instr& instr : block) {
    number_accesses(instr.other, old);
    number_accesses(instr.body, old);
    if (instr.kind != InstrKind::Load && instr.kind != InstrKind::Store) continue;
    old.push_back(instr.number);
    instr.number = static_cast<std::int32_t>(old.size() - 1);
  }
}

CheckedRoutine finished(IndexGuard guard, const GuardQuestion& question) {
  CheckedRoutine made{std::move(guard.routine()), std::move(guard.integers()), {}};
  std::vector<std::int32_t> old;
  number_accesses(made.routine.body.code, old);
  for (std::int32_t access : old) {
    auto& axes = made.bounds.emplace_back();
    if (at(access) < question.bounds.size()) axes = question.bounds[at(access)];
    // Held inside; a store stands under a condition.
    std::replace(axes.begin(), axes.end(), InBounds::Unknown, InBounds::WhenReached);
  }
  return made;
}

bool reads_what_is_written(const Routine& slice, const GuardQuestion& question) {
  bool reads = false;
  const std::vector<Operand>& operands = question.routine.body.operands;
  for_each_load(slice.body.code, [&](const Instr& load) {
    for (std::size_t k = 0; k < operands.size() && !reads; ++k)
      reads = operands[k].written &&
              (k == at(load.address.operand) ||
               may_share_memory(question.arrays[k], question.arrays[at(load.address.operand)]));
  });
  return reads;
}

}  // namespace

BadIndex bad_index_of(std::int64_t code) {
  return {.access = static_cast<std::int32_t>((code - 1) / axes_of_code),
          .axis = static_cast<std::int32_t>((code - 1) % axes_of_code)};
}

CheckedRoutine guard_indices(const GuardQuestion& question) {
  IndexGuard guard(question, Report::FirstIndex);
  guard.run();
  return finished(std::move(guard), question);
}

std::optional<CheckedRoutine> inspect_indices(const GuardQuestion& question) {
  IndexGuard guard(question, Report::AnyIndex);
  guard.run();
  Slice(guard.routine()).run();
  if (reads_what_is_written(guard.routine(), question)) return std::nullopt;
  return finished(std::move(guard), question);
}

}  // namespace frit
