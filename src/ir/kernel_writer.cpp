// kernel_writer.cpp: open blocks on a stack; an instruction goes as far out as its arguments allow.
#include "ir/kernel_writer.h"

#include <algorithm>
#include <cstring>

#include "ir/error.h"

namespace frit {
namespace {

// Swapped inputs give the same bits: not so for complex products, nor for the maximum of 0.0 and
// -0.0.
bool swaps(Op op, DType type) {
  return has(op, Commutative) && (!is_inexact(type) || (is_float(type) && !has(op, Reorderable)));
}

}  // namespace

// Most kernels are small, and a first call is as fast as they are written: room for one of those.
KernelWriter::KernelWriter() {
  blocks_.reserve(4);
  open_.reserve(4);
  known_.reserve(16);
  levels_.reserve(32);
  sums_.reserve(32);
  integer_values_.reserve(16);
  kernel_.values.reserve(32);
  kernel_.operands.reserve(8);
  blocks_.emplace_back().reserve(8);
}

std::int32_t KernelWriter::operand(DType dtype, bool written) {
  kernel_.operands.push_back({.dtype = dtype, .written = written});
  return static_cast<std::int32_t>(kernel_.operands.size() - 1);
}

std::int32_t KernelWriter::scratch_operand(DType dtype, std::int32_t offset_integer) {
  kernel_.operands.push_back({.dtype = dtype, .written = true, .scratch_offset = offset_integer});
  return static_cast<std::int32_t>(kernel_.operands.size() - 1);
}

std::int32_t KernelWriter::integer() {
  integer_values_.push_back(no_value);
  return kernel_.integers++;
}

ValueId KernelWriter::integer_value(std::int32_t number) {
  ValueId& value = integer_values_[static_cast<std::size_t>(number)];
  if (value == no_value) {
    Instr instr;
    instr.kind = InstrKind::IntegerArg;
    instr.number = number;
    value = pure(std::move(instr), DType::Int64, 0);
  }
  return value;
}

ValueId KernelWriter::scalar(DType dtype) {
  Instr instr;
  instr.kind = InstrKind::ScalarArg;
  instr.number = static_cast<std::int32_t>(kernel_.scalars.size());
  kernel_.scalars.push_back(dtype);
  return pure(std::move(instr), dtype, 0);
}

std::int32_t KernelWriter::local(DType dtype) {
  kernel_.locals.push_back(dtype);
  return static_cast<std::int32_t>(kernel_.locals.size() - 1);
}

ValueId KernelWriter::new_value(DType dtype, std::size_t level) {
  const auto value = static_cast<ValueId>(kernel_.values.size());
  kernel_.values.push_back(dtype);
  levels_.push_back(level);
  sums_.push_back({value, 0});
  return value;
}

ValueId KernelWriter::pure(Instr instr, DType type, std::size_t level) {
  const auto is_same = [&](const Known& known) {
    return known.kind == instr.kind && known.op == instr.op && known.math == instr.math &&
           known.type == type && known.number == instr.number &&
           std::equal(instr.args, instr.args + 3, known.args) &&
           known.constant.dtype == instr.constant.dtype &&
           std::memcmp(known.constant.bytes, instr.constant.bytes, 16) == 0;
  };
  for (std::size_t k = known_.size(); k-- > 0;)
    if (is_same(known_[k])) return known_[k].result;
  instr.result = new_value(type, level);
  known_.push_back({.kind = instr.kind,
                    .op = instr.op,
                    .math = instr.math,
                    .type = type,
                    .number = instr.number,
                    .args = {instr.args[0], instr.args[1], instr.args[2]},
                    .constant = instr.constant,
                    .level = level,
                    .result = instr.result});
  const ValueId result = instr.result;
  blocks_[level].push_back(std::move(instr));
  return result;
}

ValueId KernelWriter::constant(const Scalar& value) {
  Instr instr;
  instr.kind = InstrKind::Constant;
  instr.constant = value;
  const ValueId result = pure(std::move(instr), value.dtype, 0);
  if (value.dtype == DType::Int64)
    sums_[static_cast<std::size_t>(result)] = {no_value, value.as<std::uint64_t>()};
  return result;
}

ValueId KernelWriter::sum(Op op, ValueId a, ValueId b) {
  const Sum x = sums_[static_cast<std::size_t>(a)], y = sums_[static_cast<std::size_t>(b)];
  if (x.base != no_value && y.base != no_value) return no_value;
  if (op == Op::Subtract && y.base != no_value) return no_value;
  const std::uint64_t literal = op == Op::Add ? x.literal + y.literal : x.literal - y.literal;
  const ValueId base = x.base != no_value ? x.base : y.base;
  if (base != no_value && literal == 0) return base;
  const ValueId number = constant_int(static_cast<std::int64_t>(literal));
  if (base == no_value) return number;
  Instr instr;
  instr.kind = InstrKind::Apply;
  instr.op = Op::Add;
  instr.args[0] = std::min(base, number);
  instr.args[1] = std::max(base, number);
  const ValueId result = pure(std::move(instr), DType::Int64, level_of(base));
  sums_[static_cast<std::size_t>(result)] = {base, literal};
  return result;
}

ValueId KernelWriter::apply(Op op, DType result, ValueId a, ValueId b, ValueId c,
                            MathLibrary math) {
  if (result == DType::Int64 && (op == Op::Add || op == Op::Subtract))
    if (const ValueId known = sum(op, a, b); known != no_value) return known;
  Instr instr;
  instr.kind = InstrKind::Apply;
  instr.op = op;
  instr.math = math;
  std::size_t level = 0;
  int k = 0;
  for (ValueId arg : {a, b, c}) {
    if (arg == no_value) continue;
    instr.args[k++] = arg;
    level = std::max(level, level_of(arg));
  }
  if (k == 2 && swaps(op, type_of(a)) && instr.args[0] > instr.args[1])
    std::swap(instr.args[0], instr.args[1]);
  if (raises_easily(instr, type_of(a), result)) level = std::max(level, innermost_condition());
  return pure(std::move(instr), result, level);
}

std::size_t KernelWriter::innermost_condition() const {
  for (std::size_t k = open_.size(); k-- > 0;)
    if (open_[k].instr.kind != InstrKind::Loop) return k + 1;
  return 0;
}

ValueId KernelWriter::cast(ValueId value, DType dtype) {
  if (type_of(value) == dtype) return value;
  Instr instr;
  instr.kind = InstrKind::Cast;
  instr.args[0] = value;
  std::size_t level = level_of(value);
  if (raises_easily(instr, type_of(value), dtype)) level = std::max(level, innermost_condition());
  return pure(std::move(instr), dtype, level);
}

ValueId KernelWriter::load(Address address, bool streaming) {
  // The root block holds only set-up: a load needs the parallel loop around it.
  std::size_t level = 1;
  for (const Term& term : address.terms) level = std::max(level, level_of(term.index));
  return load_at(level, std::move(address), streaming);
}

ValueId KernelWriter::load_here(Address address, bool streaming) {
  return load_at(depth(), std::move(address), streaming);
}

ValueId KernelWriter::load_at(std::size_t level, Address address, bool streaming) {
  Instr instr;
  instr.kind = InstrKind::Load;
  instr.streaming = streaming;
  instr.result =
      new_value(kernel_.operands[static_cast<std::size_t>(address.operand)].dtype, level);
  instr.address = std::move(address);
  const ValueId result = instr.result;
  blocks_[level].push_back(std::move(instr));
  return result;
}

void KernelWriter::store(Address address, ValueId value, bool streaming) {
  Instr instr;
  instr.kind = InstrKind::Store;
  instr.address = std::move(address);
  instr.args[0] = value;
  instr.streaming = streaming;
  blocks_.back().push_back(std::move(instr));
}

ValueId KernelWriter::read_local(std::int32_t local) {
  Instr instr;
  instr.kind = InstrKind::ReadLocal;
  instr.number = local;
  instr.result = new_value(kernel_.locals[static_cast<std::size_t>(local)], depth());
  const ValueId result = instr.result;
  blocks_.back().push_back(std::move(instr));
  return result;
}

void KernelWriter::write_local(std::int32_t local, ValueId value) {
  Instr instr;
  instr.kind = InstrKind::WriteLocal;
  instr.number = local;
  instr.args[0] = value;
  blocks_.back().push_back(std::move(instr));
}

ValueId KernelWriter::open_parallel(bool vector) {
  check(depth() == 0, "the parallel loop stands in the root block");
  const ValueId zero = constant_int(0);
  Open open;
  open.instr.kind = InstrKind::Loop;
  open.instr.parallel = true;
  open.instr.vector = vector;
  open.instr.args[0] = open.instr.args[1] = zero;
  open.instr.result = new_value(DType::Int64, 1);
  const ValueId index = open.instr.result;
  open_.push_back(std::move(open));
  blocks_.emplace_back();
  return index;
}

ValueId KernelWriter::open_loop(ValueId begin, ValueId end, bool vector) {
  Open open;
  open.instr.kind = InstrKind::Loop;
  open.instr.vector = vector;
  open.instr.args[0] = begin;
  open.instr.args[1] = end;
  open.instr.result = new_value(DType::Int64, depth() + 1);
  const ValueId index = open.instr.result;
  open_.push_back(std::move(open));
  blocks_.emplace_back();
  return index;
}

void KernelWriter::forget_above(std::size_t level) {
  std::erase_if(known_, [&](const Known& k) { return k.level > level; });
}

Instr KernelWriter::pop() {
  Instr instr = std::move(open_.back().instr);
  (open_.back().in_other ? instr.other : instr.body) = std::move(blocks_.back());
  open_.pop_back();
  blocks_.pop_back();
  forget_above(depth());
  return instr;
}

void KernelWriter::close_loop(std::vector<Reduction> reductions) {
  Instr loop = pop();
  loop.reductions = std::move(reductions);
  blocks_.back().push_back(std::move(loop));
}

void KernelWriter::fetch(Fetch what) { open_.back().instr.fetches.push_back(std::move(what)); }

void KernelWriter::allow_repeats() { open_.back().instr.repeats = true; }

void KernelWriter::open_if(ValueId condition, bool fails) {
  Open open;
  open.instr.kind = InstrKind::If;
  open.instr.fails = fails;
  open.instr.args[0] = condition;
  open_.push_back(std::move(open));
  blocks_.emplace_back();
}

void KernelWriter::open_else() {
  check(!open_.empty() && open_.back().instr.kind == InstrKind::If, "an else belongs to an if");
  open_.back().instr.body = std::move(blocks_.back());
  blocks_.back().clear();
  open_.back().in_other = true;
  forget_above(depth() - 1);
}

void KernelWriter::close_if() {
  Instr instr = pop();
  blocks_.back().push_back(std::move(instr));
}

void KernelWriter::open_while() {
  Open open;
  open.instr.kind = InstrKind::While;
  open.instr.number = local(DType::Bool);
  open.in_other = true;
  open_.push_back(std::move(open));
  blocks_.emplace_back();
}

void KernelWriter::begin_while_body(ValueId condition) {
  write_local(open_.back().instr.number, condition);
  open_.back().instr.other = std::move(blocks_.back());
  blocks_.back().clear();
  open_.back().in_other = false;
  forget_above(depth() - 1);
}

void KernelWriter::close_while() {
  Instr instr = pop();
  blocks_.back().push_back(std::move(instr));
}

Kernel KernelWriter::finish() {
  check(depth() == 0, "every loop is closed");
  kernel_.code = std::move(blocks_[0]);
  return std::move(kernel_);
}

}  // namespace frit
