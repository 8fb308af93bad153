// testing.h: builds Kernels by hand and launches them, for the tests of the IR and of the backends.
//
//   testing::KernelMaker make;
//   int x = make.operand(DType::Float64), y = make.written(DType::Float64);
//   make.parallel_vector([&](ValueId i) {
//     make.store(y, {{i}}, make.apply(Op::Add, make.load(x, {{i}}), ..));
//   });
//   Kernel kernel = make.kernel();          // verified
//   testing::Launch().pointer(a).pointer(b).run(*backend.compile(kernel), 0, n);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "ir/error.h"
#include "ir/kernel.h"
#include "ops/ops.h"

namespace frit::testing {

// Writes a Kernel instruction by instruction; bodies are given as functions that write them.
class KernelMaker {
 public:
  KernelMaker() { open_.push_back(&kernel_.code); }
  KernelMaker(const KernelMaker&) = delete;
  KernelMaker& operator=(const KernelMaker&) = delete;

  // ---- the kernel's tables: each returns a number for load, store, scalar_arg, integer_arg, read,
  // write ----
  int operand(DType dtype) { return add(kernel_.operands, Operand{.dtype = dtype}); }
  int written(DType dtype) {
    return add(kernel_.operands, Operand{.dtype = dtype, .written = true});
  }
  int scratch(DType dtype, int offset_integer) {
    return add(kernel_.operands,
               Operand{.dtype = dtype, .written = true, .scratch_offset = offset_integer});
  }
  int scalar(DType dtype) { return add(kernel_.scalars, dtype); }
  int integer() { return kernel_.integers++; }
  int local(DType dtype) { return add(kernel_.locals, dtype); }

  // ---- instructions that give a value ---------------------------------------------------------
  template <class T>
  ValueId constant(DType dtype, T value) {
    Instr instr = of(InstrKind::Constant);
    instr.constant = Scalar::of(dtype, value);
    return emit(std::move(instr), dtype);
  }
  ValueId constant(double value) { return constant(DType::Float64, value); }
  ValueId constant(std::int64_t value) { return constant(DType::Int64, value); }
  ValueId scalar_arg(int number) {
    return emit(of(InstrKind::ScalarArg, number),
                kernel_.scalars[static_cast<std::size_t>(number)]);
  }
  ValueId integer_arg(int number) { return emit(of(InstrKind::IntegerArg, number), DType::Int64); }
  ValueId apply(Op op, ValueId a, ValueId b = no_value, ValueId c = no_value) {
    const ValueId args[] = {a, b, c};
    OperandType operands[3] = {};
    for (int k = 0; k < info(op).inputs; ++k) operands[k].dtype = type(args[k]);
    const auto signature = resolve(op, {operands, static_cast<std::size_t>(info(op).inputs)});
    check(signature.has_value(), "the op takes operands of these types");
    Instr instr = of(InstrKind::Apply);
    instr.op = op;
    instr.args[0] = a;
    instr.args[1] = b;
    instr.args[2] = c;
    return emit(std::move(instr), signature->out);
  }
  ValueId cast(DType to, ValueId value) {
    Instr instr = of(InstrKind::Cast);
    instr.args[0] = value;
    return emit(std::move(instr), to);
  }
  ValueId load(int operand, std::vector<Term> terms) {
    Instr instr = of(InstrKind::Load);
    instr.address = {operand, std::move(terms)};
    return emit(std::move(instr), kernel_.operands[static_cast<std::size_t>(operand)].dtype);
  }
  ValueId read(int local) {
    return emit(of(InstrKind::ReadLocal, local), kernel_.locals[static_cast<std::size_t>(local)]);
  }

  // ---- instructions that do something ---------------------------------------------------------
  void store(int operand, std::vector<Term> terms, ValueId value) {
    Instr instr = of(InstrKind::Store);
    instr.args[0] = value;
    instr.address = {operand, std::move(terms)};
    open_.back()->push_back(std::move(instr));
  }
  void write(int local, ValueId value) {
    Instr instr = of(InstrKind::WriteLocal, local);
    instr.args[0] = value;
    open_.back()->push_back(std::move(instr));
  }

  // ---- control: `body` is called once, with the loop's index, and writes the body --------------
  template <class Body>
  void parallel(Body&& body) {
    loop(loop_of(true, false), body);
  }
  template <class Body>
  void parallel_vector(Body&& body) {
    loop(loop_of(true, true), body);
  }
  // `body` may return the loop's reductions (std::vector<Reduction>).
  template <class Body>
  void vector_loop(ValueId begin, ValueId end, Body&& body) {
    loop(bounded(begin, end, loop_of(false, true)), body);
  }
  template <class Body>
  void serial_loop(ValueId begin, ValueId end, Body&& body) {
    loop(bounded(begin, end, loop_of(false, false)), body);
  }
  template <class Then>
  void if_then(ValueId condition, Then&& then) {
    if_else(condition, then, [] {});
  }
  template <class Then, class Else>
  void if_else(ValueId condition, Then&& then, Else&& otherwise) {
    Instr instr = of(InstrKind::If);
    instr.args[0] = condition;
    within(instr.body, then);
    within(instr.other, otherwise);
    open_.back()->push_back(std::move(instr));
  }
  // `condition` writes the Bool local `number`.
  template <class Condition, class Body>
  void while_do(int number, Condition&& condition, Body&& body) {
    Instr instr = of(InstrKind::While, number);
    within(instr.other, condition);
    within(instr.body, body);
    open_.back()->push_back(std::move(instr));
  }

  DType type(ValueId value) const { return kernel_.values[static_cast<std::size_t>(value)]; }
  const Kernel& unverified() const { return kernel_; }
  Kernel& unverified() { return kernel_; }
  Kernel kernel() const {
    verify(kernel_);
    return kernel_;
  }

 private:
  template <class T>
  static int add(std::vector<T>& table, T entry) {
    table.push_back(std::move(entry));
    return static_cast<int>(table.size()) - 1;
  }
  static Instr of(InstrKind kind, std::int32_t number = -1) {
    Instr instr;
    instr.kind = kind;
    instr.number = number;
    return instr;
  }
  static Instr loop_of(bool parallel, bool vector) {
    Instr instr = of(InstrKind::Loop);
    instr.parallel = parallel;
    instr.vector = vector;
    return instr;
  }
  ValueId new_value(DType dtype) { return add(kernel_.values, dtype); }
  ValueId emit(Instr instr, DType dtype) {
    instr.result = new_value(dtype);
    open_.back()->push_back(std::move(instr));
    return static_cast<ValueId>(kernel_.values.size()) - 1;
  }
  static Instr bounded(ValueId begin, ValueId end, Instr instr) {
    instr.args[0] = begin;
    instr.args[1] = end;
    return instr;
  }
  template <class Body>
  void within(Block& block, Body&& body) {
    open_.push_back(&block);
    body();
    open_.pop_back();
  }
  template <class Body>
  void loop(Instr instr, Body&& body) {
    const ValueId index = instr.result = new_value(DType::Int64);
    open_.push_back(&instr.body);
    if constexpr (std::is_void_v<decltype(body(index))>)
      body(index);
    else
      instr.reductions = body(index);
    open_.pop_back();
    open_.back()->push_back(std::move(instr));
  }

  Kernel kernel_;
  // Blocks being written; the inner ones belong to instructions on the C++ stack.
  std::vector<Block*> open_;
};

// The arguments of one launch, and its private scratch memory.
class Launch {
 public:
  Launch& pointer(const void* memory) {
    pointers_.push_back(const_cast<void*>(memory));
    return *this;
  }
  Launch& integer(std::int64_t value) {
    integers_.push_back(value);
    return *this;
  }
  template <class T>
  Launch& scalar(DType dtype, T value) {
    scalars_.push_back(Scalar::of(dtype, value));
    return *this;
  }
  Launch& scratch(std::size_t bytes) {
    scratch_.resize(bytes / sizeof(Line) + 1);
    return *this;
  }
  const Launch& run(const Executable& executable, std::int64_t begin, std::int64_t end) const {
    executable.run({pointers_.data(), integers_.data(), scalars_.data()}, begin, end,
                   reinterpret_cast<std::byte*>(scratch_.data()));
    return *this;
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<void*> pointers_;
  std::vector<std::int64_t> integers_;
  std::vector<Scalar> scalars_;
  mutable std::vector<Line> scratch_;
};

}  // namespace frit::testing
