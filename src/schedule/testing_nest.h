// testing_nest.h: writes loop nests, walks them in order, and counts what their iterations touch.
//
//   NestMaker m;
//   int a = m.array(DType::Float64, 1), n = m.integer();
//   m.loop(m.literal(1), m.arg(n), [&](ValueId i) {
//     m.store(a, {i}, m.plus(m.load(a, {m.shifted(i, -1)}), m.real(1.0)));
//   });
//   Routine routine = m.routine();
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "ir/error.h"
#include "ir/routine.h"
#include "ops/ops.h"

namespace frit::testing {

class NestMaker {
 public:
  NestMaker() { open_.push_back(&routine_.body.code); }
  NestMaker(const NestMaker&) = delete;
  NestMaker& operator=(const NestMaker&) = delete;

  int array(DType dtype, int rank) {
    routine_.body.operands.push_back({.dtype = dtype});
    routine_.parameter_ranks.push_back(rank);
    return static_cast<int>(routine_.body.operands.size() - 1);
  }
  int integer() { return routine_.body.integers++; }
  int scalar(DType dtype) {
    routine_.body.scalars.push_back(dtype);
    return static_cast<int>(routine_.body.scalars.size() - 1);
  }
  int local(DType dtype) {
    routine_.body.locals.push_back(dtype);
    return static_cast<int>(routine_.body.locals.size() - 1);
  }

  ValueId literal(std::int64_t value) { return constant(Scalar::of(DType::Int64, value)); }
  ValueId real(double value) { return constant(Scalar::of(DType::Float64, value)); }
  ValueId constant(const Scalar& value) {
    Instr instr = of(InstrKind::Constant);
    instr.constant = value;
    return add(std::move(instr), value.dtype);
  }
  ValueId arg(int number) {
    Instr instr = of(InstrKind::IntegerArg);
    instr.number = number;
    return add(std::move(instr), DType::Int64);
  }
  ValueId scalar_arg(int number) {
    Instr instr = of(InstrKind::ScalarArg);
    instr.number = number;
    return add(std::move(instr), routine_.body.scalars[static_cast<std::size_t>(number)]);
  }
  ValueId apply(Op op, ValueId a, ValueId b = no_value, ValueId c = no_value) {
    Instr instr = of(InstrKind::Apply);
    instr.op = op;
    const ValueId args[] = {a, b, c};
    OperandType types[3] = {};
    const int inputs = info(op).inputs;
    for (int k = 0; k < inputs; ++k) {
      instr.args[k] = args[k];
      types[k].dtype = type(args[k]);
    }
    const auto signature = resolve(op, {types, static_cast<std::size_t>(inputs)});
    check(signature.has_value(), "the op takes operands of these types");
    return add(std::move(instr), signature->out);
  }
  ValueId cast(ValueId value, DType to) {
    Instr instr = of(InstrKind::Cast);
    instr.args[0] = value;
    return add(std::move(instr), to);
  }
  ValueId plus(ValueId a, ValueId b) { return apply(Op::Add, a, b); }
  ValueId shifted(ValueId a, std::int64_t by) { return by ? plus(a, literal(by)) : a; }
  ValueId minus(ValueId a, ValueId b) { return apply(Op::Subtract, a, b); }
  ValueId times(ValueId a, ValueId b) { return apply(Op::Multiply, a, b); }

  ValueId load(int array, std::vector<ValueId> indices) {
    Instr instr = of(InstrKind::Load);
    instr.address = address(array, indices);
    instr.number = accesses_++;
    return add(std::move(instr), routine_.body.operands[static_cast<std::size_t>(array)].dtype);
  }
  void store(int array, std::vector<ValueId> indices, ValueId value) {
    routine_.body.operands[static_cast<std::size_t>(array)].written = true;
    Instr instr = of(InstrKind::Store);
    instr.address = address(array, indices);
    instr.number = accesses_++;
    instr.args[0] = value;
    open_.back()->push_back(std::move(instr));
  }
  ValueId read(int local) {
    Instr instr = of(InstrKind::ReadLocal);
    instr.number = local;
    return add(std::move(instr), routine_.body.locals[static_cast<std::size_t>(local)]);
  }
  void write(int local, ValueId value) {
    Instr instr = of(InstrKind::WriteLocal);
    instr.number = local;
    instr.args[0] = value;
    open_.back()->push_back(std::move(instr));
  }

  ValueId loop(ValueId begin, ValueId end, const std::function<void(ValueId)>& body) {
    Instr instr = of(InstrKind::Loop);
    instr.args[0] = begin;
    instr.args[1] = end;
    const ValueId index = instr.result = new_value(DType::Int64);
    nested(instr.body, [&] { body(index); });
    open_.back()->push_back(std::move(instr));
    return index;
  }
  void if_(ValueId condition, const std::function<void()>& body,
           const std::function<void()>& otherwise = {}) {
    Instr instr = of(InstrKind::If);
    instr.args[0] = condition;
    nested(instr.body, body);
    if (otherwise) nested(instr.other, otherwise);
    open_.back()->push_back(std::move(instr));
  }
  void while_(const std::function<ValueId()>& condition, const std::function<void()>& body,
              int rounds = 0) {
    Instr instr = of(InstrKind::While);
    instr.rounds = rounds;
    instr.number = local(DType::Bool);
    nested(instr.other, [&] { write(instr.number, condition()); });
    nested(instr.body, body);
    open_.back()->push_back(std::move(instr));
  }

  DType type(ValueId value) const { return routine_.body.values[static_cast<std::size_t>(value)]; }
  Routine routine() const {
    verify(routine_);
    return routine_;
  }

 private:
  static Instr of(InstrKind kind) {
    Instr instr;
    instr.kind = kind;
    return instr;
  }
  ValueId new_value(DType dtype) {
    routine_.body.values.push_back(dtype);
    return static_cast<ValueId>(routine_.body.values.size() - 1);
  }
  ValueId add(Instr instr, DType dtype) {
    instr.result = new_value(dtype);
    const ValueId result = instr.result;
    open_.back()->push_back(std::move(instr));
    return result;
  }
  Address address(int array, const std::vector<ValueId>& indices) const {
    Address made{.operand = array, .terms = {}};
    for (std::size_t k = 0; k < indices.size(); ++k)
      made.terms.push_back({indices[k], static_cast<std::int32_t>(k)});
    return made;
  }
  void nested(Block& block, const std::function<void()>& write) {
    Block own;
    open_.push_back(&own);
    write();
    open_.pop_back();
    block = std::move(own);
  }

  Routine routine_;
  std::vector<Block*> open_;
  std::int32_t accesses_ = 0;
};

// Memory of one parameter of a nest: a window in bytes that it may share with others.
struct NestArray {
  std::byte* data = nullptr;                 // of element 0
  std::vector<std::int64_t> shape, strides;  // bytes
};

// Walks a Routine instruction by instruction, as it was written: the oracle of all that is made
// from it. `watch` hears of every access.
class NestWalk {
 public:
  struct Event {
    const Instr* instr;
    std::int64_t byte;  // of memory: equal for equal elements
    const std::vector<std::pair<const Instr*, std::int64_t>>* iteration;  // of all loops around
  };
  std::function<void(const Event&)> watch;
  std::function<void(const Event&)> watch_local;  // `byte` is the local's number

  NestWalk(const Routine& routine, std::vector<NestArray> arrays,
           std::vector<std::int64_t> integers, std::vector<Scalar> scalars = {})
      : routine_(routine),
        arrays_(std::move(arrays)),
        integers_(std::move(integers)),
        scalars_(std::move(scalars)),
        values_(routine.body.values.size()),
        locals_(routine.body.locals.size()) {
    for (std::size_t k = 0; k < locals_.size(); ++k)
      locals_[k] = Scalar{.dtype = routine.body.locals[k]};
  }

  void run() { block(routine_.body.code); }

 private:
  Scalar& value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }
  std::int64_t number(ValueId id) { return value(id).as<std::int64_t>(); }
  DType type(ValueId id) const { return routine_.body.values[static_cast<std::size_t>(id)]; }

  void block(const Block& instructions) {
    for (const Instr& instr : instructions) run(instr);
  }

  void run(const Instr& instr) {
    switch (instr.kind) {
      case InstrKind::Constant:
        value(instr.result) = instr.constant;
        return;
      case InstrKind::ScalarArg:
        value(instr.result) = scalars_[static_cast<std::size_t>(instr.number)];
        return;
      case InstrKind::IntegerArg:
        value(instr.result) =
            Scalar::of(DType::Int64, integers_[static_cast<std::size_t>(instr.number)]);
        return;
      case InstrKind::Apply: {
        Scalar result{.dtype = type(instr.result)};
        void* args[4] = {result.bytes, nullptr, nullptr, nullptr};
        for (int k = 0; k < info(instr.op).inputs; ++k) args[k + 1] = value(instr.args[k]).bytes;
        frit::loop(instr.op, type(instr.args[info(instr.op).rule == TypeRule::Select ? 1 : 0]))(
            args, 1, 0);
        value(instr.result) = result;
        return;
      }
      case InstrKind::Cast: {
        Scalar result{.dtype = type(instr.result)};
        void* args[4] = {result.bytes, value(instr.args[0]).bytes, nullptr, nullptr};
        cast_loop(type(instr.args[0]), type(instr.result))(args, 1, 0);
        value(instr.result) =
            type(instr.args[0]) == type(instr.result) ? value(instr.args[0]) : result;
        return;
      }
      case InstrKind::Load: {
        Scalar result{.dtype = type(instr.result)};
        std::memcpy(result.bytes, address(instr), static_cast<std::size_t>(size_of(result.dtype)));
        value(instr.result) = result;
        return;
      }
      case InstrKind::Store:
        std::memcpy(address(instr), value(instr.args[0]).bytes,
                    static_cast<std::size_t>(size_of(value(instr.args[0]).dtype)));
        return;
      case InstrKind::ReadLocal:
        if (watch_local) watch_local({&instr, instr.number, &iteration_});
        value(instr.result) = locals_[static_cast<std::size_t>(instr.number)];
        return;
      case InstrKind::WriteLocal:
        if (watch_local) watch_local({&instr, instr.number, &iteration_});
        locals_[static_cast<std::size_t>(instr.number)] = value(instr.args[0]);
        return;
      case InstrKind::Loop: {
        const std::int64_t begin = number(instr.args[0]), end = number(instr.args[1]);
        iteration_.emplace_back(&instr, 0);
        for (std::int64_t i = begin; i < end; ++i) {
          iteration_.back().second = i;
          value(instr.result) = Scalar::of(DType::Int64, i);
          block(instr.body);
        }
        iteration_.pop_back();
        return;
      }
      case InstrKind::If:
        return block(value(instr.args[0]).as<std::uint8_t>() ? instr.body : instr.other);
      case InstrKind::While: {
        iteration_.emplace_back(&instr, 0);
        for (;; ++iteration_.back().second) {
          block(instr.other);
          if (!locals_[static_cast<std::size_t>(instr.number)].as<std::uint8_t>()) break;
          block(instr.body);
        }
        iteration_.pop_back();
        return;
      }
    }
  }

  std::byte* address(const Instr& instr) {
    const NestArray& a = arrays_[static_cast<std::size_t>(instr.address.operand)];
    std::byte* p = a.data;
    for (std::size_t k = 0; k < instr.address.terms.size(); ++k) {
      const std::int64_t index = number(instr.address.terms[k].index);
      check(index >= 0 && index < a.shape[k], "an index of a nest is inside its array");
      p += index * a.strides[k];
    }
    if (watch) watch({&instr, reinterpret_cast<std::intptr_t>(p), &iteration_});
    return p;
  }

  const Routine& routine_;
  std::vector<NestArray> arrays_;
  std::vector<std::int64_t> integers_;
  std::vector<Scalar> scalars_, values_, locals_;
  std::vector<std::pair<const Instr*, std::int64_t>> iteration_;
};

}  // namespace frit::testing
