// kernel_state.cpp: each call checks its operands and writes one instruction of a kernel.
#include "front/kernel_state.h"

#include <algorithm>

#include "front/common.h"
#include "front/resolution.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

constexpr std::size_t expected_length = 48;  // instructions: most kernels are never moved

// Code for these is much better when the number is known.
bool wants_literal(Op op, std::size_t argument) {
  return argument == 1 && (op == Op::FloorDivide || op == Op::Remainder || op == Op::Fmod ||
                           op == Op::Power || op == Op::LeftShift || op == Op::RightShift);
}

}  // namespace

// ---- values -------------------------------------------------------------------------------------

KernelState::KernelState(std::int32_t rank) {
  const auto axes = static_cast<std::size_t>(rank);
  routine.rank = rank;
  routine.body.values.assign(axes, DType::Int64);
  block_of_.assign(axes, 0);
  routine.body.values.reserve(expected_length);
  block_of_.reserve(expected_length);
  open_.push_back({.block = {}, .number = blocks_++});
  open_.back().block.reserve(expected_length);
}

void KernelState::check_open() const {
  if (stage_ == Stage::Recorded)
    throw ValueError("KernelBuilder: the kernel has been recorded; make a new one");
  if (stage_ == Stage::Broken)
    throw ValueError("KernelBuilder: an error stopped the writing of this kernel; make a new one");
}

Expression KernelState::add(Instr instr, DType dtype) {
  instr.result = static_cast<ValueId>(routine.body.values.size());
  routine.body.values.push_back(dtype);
  block_of_.push_back(open_.back().number);
  const ValueId result = instr.result;
  open_.back().block.push_back(std::move(instr));
  return Expression(this, result);
}

void KernelState::add(Instr instr) { open_.back().block.push_back(std::move(instr)); }

Expression KernelState::add_early(Instr instr, DType dtype) {
  instr.result = static_cast<ValueId>(routine.body.values.size());
  routine.body.values.push_back(dtype);
  block_of_.push_back(open_.front().number);
  const ValueId result = instr.result;
  early_.push_back(std::move(instr));
  return Expression(this, result);
}

bool KernelState::is_visible(std::int32_t value) const {
  const std::int32_t block = block_of_[at(value)];
  return std::any_of(open_.begin(), open_.end(), [&](const Open& o) { return o.number == block; });
}

Expression KernelState::value(std::int32_t number) {
  if (number < 0 || at(number) >= routine.body.values.size())
    throw ValueError(text("KernelBuilder: there is no value ", number));
  const Expression x(this, number);
  check_value(x);
  return x;
}

void KernelState::check_value(const Expression& x) const {
  check_open();
  if (x.is_literal()) return;
  if (x.kernel_ != this) throw ValueError("KernelBuilder: a value of another kernel");
  if (!is_visible(x.value_))
    throw ValueError(
        "KernelBuilder: a value made inside a loop_, if_ or while_ is used outside of it: keep it "
        "in a local");
}

ValueId KernelState::literal_in_type(const Expression& x, DType dtype) {
  if (dtype == DType::Int64 && x.weak_ == Weak::Int)
    return integer(x.literal_.as<std::int64_t>()).value_;
  Instr instr;
  instr.kind = InstrKind::Constant;
  instr.constant = cast_scalar(x.literal_, dtype);
  return add(std::move(instr), dtype).value_;
}

Instr KernelState::integer_instr(const KernelInteger& value) {
  check_open();
  Instr instr;
  instr.kind = InstrKind::IntegerArg;
  instr.number = routine.body.integers++;
  integers.push_back(value);
  return instr;
}
Expression KernelState::integer(const KernelInteger& value) {
  return add(integer_instr(value), DType::Int64);
}
Expression KernelState::early_integer(const KernelInteger& value) {
  return add_early(integer_instr(value), DType::Int64);
}

Instr KernelState::scalar_instr(DType dtype, std::int32_t number) {
  check_open();
  Instr instr;
  instr.kind = InstrKind::ScalarArg;
  instr.number = static_cast<std::int32_t>(scalars.size());
  scalars.push_back(number);
  routine.body.scalars.push_back(dtype);
  return instr;
}
Expression KernelState::scalar(DType dtype, std::int32_t number) {
  return add(scalar_instr(dtype, number), dtype);
}
Expression KernelState::early_scalar(DType dtype, std::int32_t number) {
  return add_early(scalar_instr(dtype, number), dtype);
}

Expression KernelState::early_cast(const Expression& x, DType dtype) {
  check_open();
  Instr instr;
  instr.kind = InstrKind::Cast;
  instr.args[0] = x.value_;
  return add_early(std::move(instr), dtype);
}

Expression KernelState::constant(const Scalar& value) {
  check_open();
  Instr instr;
  instr.kind = InstrKind::Constant;
  instr.constant = value;
  return add(std::move(instr), value.dtype);
}

ValueId KernelState::in_type(const Expression& x, DType dtype) {
  check_value(x);
  if (x.is_literal()) return literal_in_type(x, dtype);
  if (type_of(x.value_) == dtype) return x.value_;
  Instr instr;
  instr.kind = InstrKind::Cast;
  instr.args[0] = x.value_;
  return add(std::move(instr), dtype).value_;
}

Expression KernelState::cast(const Expression& x, DType dtype) {
  return Expression(this, in_type(x, dtype));
}

Expression KernelState::compute(Op op, std::span<const Expression> arguments, MathLibrary math,
                                OpErrors errors) {
  check_open();
  const OpInfo& row = info(op);
  if (arguments.size() != at(row.inputs))
    throw TypeError(text(row.name, ": takes ", row.inputs, " operands, not ", arguments.size()));
  OperandType types[max_inputs];
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    check_value(arguments[k]);
    types[k] = arguments[k].is_literal()
                   ? OperandType{arguments[k].literal_.dtype, arguments[k].weak_}
                   : OperandType{type_of(arguments[k].value_)};
  }
  auto signature = resolve(op, {types, arguments.size()});
  if (row.rule == TypeRule::Compare && signature)
    for (std::size_t k = 0; k < arguments.size(); ++k)
      if (is_beyond({arguments[k].literal_, types[k].weak}, signature->in[k])) {
        types[k].weak = Weak::No;  // compared as what it is
        signature = resolve(op, {types, arguments.size()});
      }
  if (!signature || !frit::loop(op, *signature)) {
    std::string words;
    for (std::size_t k = 0; k < arguments.size(); ++k)
      words += (k ? ", " : "") + std::string(info(types[k].dtype).name);
    throw TypeError(
        text(row.name, ": not possible in a kernel for ", words, "; cast the operands"));
  }
  Instr instr;
  instr.kind = InstrKind::Apply;
  instr.op = op;
  instr.quiet = errors == OpErrors::Quiet && may_warn(op, signature->in[0]);
  instr.math = has_function(math, op, signature->in[0]) ? math : MathLibrary::Frit;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const DType in = signature->in[k];
    if (arguments[k].is_literal() && wants_literal(op, k)) {
      Instr constant;
      constant.kind = InstrKind::Constant;
      constant.constant = cast_scalar(arguments[k].literal_, in);
      instr.args[k] = add(std::move(constant), in).value_;
    } else {
      instr.args[k] = in_type(arguments[k], in);
    }
  }
  return add(std::move(instr), signature->out);
}

ValueId KernelState::stored_value(const Expression& x, DType dtype, const char* what) {
  check_value(x);
  const DType from = x.is_literal() ? x.literal_.dtype : type_of(x.value_);
  const bool fits = x.is_literal() && x.weak_ != Weak::No
                        ? !(x.weak_ == Weak::Float && !is_inexact(dtype)) &&
                              !(x.weak_ == Weak::Complex && !is_complex(dtype)) &&
                              !(x.weak_ == Weak::Int && is_bool(dtype))
                        : can_cast(from, dtype, Casting::SameKind);
  if (!fits)
    throw TypeError(text(what, ": ", info(from).name, " does not go into ", info(dtype).name,
                         " without a cast: cast(x, DType::..)"));
  return in_type(x, dtype);
}

ValueId KernelState::condition(const Expression& x, const char* what) {
  check_value(x);
  const DType type = x.is_literal() ? x.literal_.dtype : type_of(x.value_);
  if (!is_bool(type))
    throw TypeError(text(what, ": the condition is ", info(type).name, ", not bool: compare it"));
  return in_type(x, DType::Bool);
}

// ---- places -------------------------------------------------------------------------------------

std::int32_t KernelState::add_parameter(DType dtype, std::int32_t rank, ParameterUse use) {
  check_open();
  uses.push_back(use);
  const bool written = use == ParameterUse::Output || use == ParameterUse::InOut;
  routine.body.operands.push_back({.dtype = dtype, .written = written});
  routine.parameter_ranks.push_back(rank);
  return static_cast<std::int32_t>(uses.size() - 1);
}

std::int32_t KernelState::add_local(DType dtype) {
  check_open();
  routine.body.locals.push_back(dtype);
  return static_cast<std::int32_t>(routine.body.locals.size() - 1);
}

std::int32_t KernelState::add_zeroed_local(DType dtype) {
  const std::int32_t local = add_local(dtype);
  Instr zero;
  zero.kind = InstrKind::Constant;
  zero.constant.dtype = dtype;
  Instr write;
  write.kind = InstrKind::WriteLocal;
  write.number = local;
  write.args[0] = add_early(std::move(zero), dtype).value_;
  early_.push_back(std::move(write));
  return local;
}

Expression KernelState::read_local(std::int32_t number) {
  check_open();
  Instr instr;
  instr.kind = InstrKind::ReadLocal;
  instr.number = number;
  return add(std::move(instr), routine.body.locals[at(number)]);
}

void KernelState::write_local(std::int32_t number, const Expression& value) {
  Instr instr;
  instr.kind = InstrKind::WriteLocal;
  instr.number = number;
  instr.args[0] = stored_value(value, routine.body.locals[at(number)], "local");
  add(std::move(instr));
}

Address KernelState::address(std::int32_t parameter, std::span<const Expression> indices,
                             const char* what) {
  check_open();
  const std::int32_t rank = routine.parameter_ranks[at(parameter)];
  if (indices.size() != at(rank))
    throw IndexError(
        text(what, ": ", indices.size(), " indices for an array of ", rank, " dimensions"));
  Address result{.operand = parameter, .terms = {}};
  for (std::size_t k = 0; k < indices.size(); ++k) {
    check_value(indices[k]);
    const DType type =
        indices[k].is_literal() ? indices[k].literal_.dtype : type_of(indices[k].value_);
    if (!is_integer(type))
      throw TypeError(text(what, ": index ", k, " is ", info(type).name,
                           ", not an integer: cast(x, DType::Int64)"));
    result.terms.push_back({in_type(indices[k], DType::Int64), static_cast<std::int32_t>(k)});
  }
  return result;
}

Expression KernelState::load(std::int32_t parameter, std::span<const Expression> indices) {
  Instr instr;
  instr.kind = InstrKind::Load;
  instr.address = address(parameter, indices, "load");
  if (uses[at(parameter)] == ParameterUse::Output)
    throw ValueError("load: the array was given as output, which is only written: use inout");
  instr.number = accesses++;
  return add(std::move(instr), routine.body.operands[at(parameter)].dtype);
}

void KernelState::store(std::int32_t parameter, std::span<const Expression> indices,
                        const Expression& value) {
  Instr instr;
  instr.kind = InstrKind::Store;
  instr.address = address(parameter, indices, "store");
  if (uses[at(parameter)] == ParameterUse::Input)
    throw ValueError(
        "store: the array was given as input, which is only read: use output or inout");
  Operand& operand = routine.body.operands[at(parameter)];
  operand.written = true;
  instr.args[0] = stored_value(value, operand.dtype, "store");
  instr.number = accesses++;
  add(std::move(instr));
}

// ---- structure ----------------------------------------------------------------------------------

template <class Write>
Block KernelState::nested(Write&& write, ValueId visible) {
  open_.push_back({.block = {}, .number = blocks_++});
  if (visible != no_value) block_of_[at(visible)] = open_.back().number;
  try {
    write();
  } catch (...) {
    stage_ = Stage::Broken;
    throw;
  }
  Block block = std::move(open_.back().block);
  open_.pop_back();
  return block;
}

void KernelState::loop(const Expression& begin, const Expression& end,
                       const std::function<void(Expression)>& body, LoopSums sums) {
  Instr instr;
  instr.kind = InstrKind::Loop;
  instr.tree = sums == LoopSums::Tree;
  int k = 0;
  for (const Expression* bound : {&begin, &end}) {
    check_value(*bound);
    const DType type = bound->is_literal() ? bound->literal_.dtype : type_of(bound->value_);
    if (!is_integer(type))
      throw TypeError(text("loop: a bound is ", info(type).name, ", not an integer"));
    instr.args[k++] = in_type(*bound, DType::Int64);
  }
  instr.result = static_cast<ValueId>(routine.body.values.size());
  routine.body.values.push_back(DType::Int64);
  block_of_.push_back(-1);
  instr.body = nested([&] { body(Expression(this, instr.result)); }, instr.result);
  add(std::move(instr));
}

void KernelState::branch(const Expression& x, const std::function<void()>& body,
                         const std::function<void()>& otherwise, bool fails) {
  Instr instr;
  instr.kind = InstrKind::If;
  instr.fails = fails;
  instr.args[0] = condition(x, "if_");
  instr.body = nested(body);
  if (otherwise) instr.other = nested(otherwise);
  add(std::move(instr));
}

void KernelState::repeat(const std::function<Expression()>& test, const std::function<void()>& body,
                         int rounds) {
  check_open();
  Instr instr;
  instr.kind = InstrKind::While;
  instr.rounds = rounds;
  instr.number = add_local(DType::Bool);
  instr.other =
      nested([&] { write_local(instr.number, Expression(this, condition(test(), "while_"))); });
  instr.body = nested(body);
  add(std::move(instr));
}

std::size_t KernelState::reduce(Op op, const Expression& value, std::vector<int> axes,
                                bool all_axes) {
  check_value(value);
  if (open_.size() != 1)
    throw ValueError(
        "reduce: belongs to the outermost block of a kernel, not inside a loop, if_ or while_");
  for (int axis : axes)
    if (axis < 0 || axis >= routine.rank || std::count(axes.begin(), axes.end(), axis) > 1)
      throw ValueError(text("reduce: axis ", axis, " of a kernel with ", routine.rank, " axes"));
  const DType type = value.is_literal() ? value.literal_.dtype : type_of(value.value_);
  const std::int32_t parameter = add_parameter(type, routine.rank, ParameterUse::Output);
  std::vector<Expression> indices;
  for (std::int32_t k = 0; k < routine.rank; ++k) indices.emplace_back(this, k);
  store(parameter, indices, value);
  reductions.push_back(
      {.op = op, .all_axes = all_axes, .axes = std::move(axes), .parameter = parameter});
  return reductions.size() - 1;
}

// ---- the end ------------------------------------------------------------------------------------

namespace {

// Which values an address, a loop's bounds or a condition hang on; where such an integer argument
// changes, so does what is known of the kernel.
class Structural {
 public:
  explicit Structural(const Kernel& body)
      : body_(body),
        values_(body.values.size()),
        locals_(body.locals.size()),
        uniform_(body.values.size()) {
    find_uniform(body.code);
    do {
      changed_ = false;
      visit(body.code);
    } while (changed_);
  }
  bool operator[](ValueId value) const { return values_[at(value)]; }

 private:
  void need(ValueId value) {
    if (value == no_value || values_[at(value)]) return;
    values_[at(value)] = changed_ = true;
  }
  // Numbers that are the same at all points: a condition on them says nothing of an index.
  void find_uniform(const Block& block) {
    for (const Instr& instr : block) {
      bool uniform = instr.kind == InstrKind::Constant || instr.kind == InstrKind::ScalarArg ||
                     instr.kind == InstrKind::IntegerArg;
      if (instr.kind == InstrKind::Apply || instr.kind == InstrKind::Cast) {
        uniform = true;
        for (ValueId arg : instr.args) uniform &= arg == no_value || uniform_[at(arg)];
      }
      if (instr.result != no_value) uniform_[at(instr.result)] = uniform;
      find_uniform(instr.other);
      find_uniform(instr.body);
    }
  }
  // Backwards, so that one pass is enough but for locals around loops.
  void visit(const Block& block) {
    for (std::size_t k = block.size(); k-- > 0;) {
      const Instr& instr = block[k];
      visit(instr.body);
      visit(instr.other);
      for (const Term& term : instr.address.terms) need(term.index);
      const bool wanted = instr.result != no_value && values_[at(instr.result)];
      switch (instr.kind) {
        case InstrKind::Apply:
        case InstrKind::Cast:
          if (wanted)
            for (ValueId arg : instr.args) need(arg);
          break;
        case InstrKind::Loop:
          need(instr.args[0]);
          need(instr.args[1]);
          break;
        case InstrKind::If:
          if (!uniform_[at(instr.args[0])]) need(instr.args[0]);
          break;
        case InstrKind::ReadLocal:
          if (wanted && !locals_[at(instr.number)]) locals_[at(instr.number)] = changed_ = true;
          break;
        case InstrKind::WriteLocal:
          if (locals_[at(instr.number)]) need(instr.args[0]);
          break;
        case InstrKind::Constant:
        case InstrKind::ScalarArg:
        case InstrKind::IntegerArg:
        case InstrKind::Load:
        case InstrKind::Store:
        case InstrKind::While:
          break;
      }
    }
  }

  const Kernel& body_;
  std::vector<bool> values_, locals_, uniform_;
  bool changed_ = false;
};

}  // namespace

// A given integer on which nothing but numbers hangs is a scalar: with another value the kernel's
// use and its plan stay the same.
void KernelState::make_plain_scalars() {
  const Structural structural(routine.body);
  std::vector<KernelInteger> kept;
  std::size_t seen = 0;
  for (Instr& instr : routine.body.code) {
    if (instr.kind != InstrKind::IntegerArg) continue;
    ++seen;
    const KernelInteger value = integers[at(instr.number)];
    if (value.kind == KernelInteger::Kind::Given && !structural[instr.result]) {
      const std::int32_t number = -1 - value.number;
      instr.kind = InstrKind::ScalarArg;
      instr.number = static_cast<std::int32_t>(scalars.size());
      scalars.push_back(number);
      routine.body.scalars.push_back(DType::Int64);
    } else {
      instr.number = static_cast<std::int32_t>(kept.size());
      kept.push_back(value);
    }
  }
  check(seen == integers.size(), "a kernel with given integers has its arguments in front");
  routine.body.integers = static_cast<std::int32_t>(kept.size());
  integers = std::move(kept);
}

KernelDefinition KernelState::define() {
  check_open();
  if (open_.size() != 1)
    throw ValueError("record: called inside a loop, if_ or while_ of the kernel");
  stage_ = Stage::Recorded;
  Block code = std::move(early_);
  Block& rest = open_.front().block;
  code.insert(code.end(), std::make_move_iterator(rest.begin()),
              std::make_move_iterator(rest.end()));
  routine.body.code = std::move(code);
  const bool gives = std::any_of(integers.begin(), integers.end(), [](const KernelInteger& k) {
    return k.kind == KernelInteger::Kind::Given;
  });
  if (gives) make_plain_scalars();
  KernelDefinition definition;
  definition.uses = std::move(uses);
  definition.integers = std::move(integers);
  definition.scalars = std::move(scalars);
  definition.reductions = std::move(reductions);
  definition.accesses = accesses;
  const Locked lock(Engine::lock());
  definition.routine = intern(routine);
  return definition;
}

}  // namespace frit
