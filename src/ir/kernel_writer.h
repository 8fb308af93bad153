// kernel_writer.h: writes a Kernel: nesting, invariant code and common subexpressions.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace frit {

class KernelWriter {
 public:
  KernelWriter();

  // ---- arguments ----
  std::int32_t operand(DType dtype, bool written);
  std::int32_t scratch_operand(DType dtype, std::int32_t offset_integer);
  void mark_written(std::int32_t operand) {
    kernel_.operands[static_cast<std::size_t>(operand)].written = true;
  }
  std::int32_t integer();  // a new integer argument; its number
  ValueId integer_value(std::int32_t number);
  ValueId scalar(DType dtype);  // a new scalar argument; its value
  std::int32_t local(DType dtype);

  // ---- values: pure instructions stand as far out as their arguments allow, and once; those that
  // easily raise a floating-point error not outside of a condition. (i + 1) - 1 of int64 is i ----
  ValueId constant(const Scalar& value);
  ValueId constant_int(std::int64_t value) { return constant(Scalar::of(DType::Int64, value)); }
  ValueId apply(Op op, DType result, ValueId a, ValueId b = no_value, ValueId c = no_value,
                MathLibrary math = MathLibrary::Frit);
  ValueId cast(ValueId value, DType dtype);
  DType type_of(ValueId value) const { return kernel_.values[static_cast<std::size_t>(value)]; }

  // ---- memory and locals ----
  // Stands as far out as its indices allow: only for memory that is not written before in the loops
  // it leaves.
  ValueId load(Address address, bool streaming = false);
  ValueId load_here(Address address, bool streaming = false);  // stands where it is written
  void store(Address address, ValueId value, bool streaming = false);
  ValueId read_local(std::int32_t local);
  void write_local(std::int32_t local, ValueId value);

  // ---- structure ----
  ValueId open_parallel(bool vector);
  ValueId open_loop(ValueId begin, ValueId end, bool vector);
  void close_loop(std::vector<Reduction> reductions = {});
  void fetch(Fetch what);  // in the rounds of the innermost loop
  void allow_repeats();    // of the innermost loop
  void open_if(ValueId condition, bool fails = false);
  void open_else();
  void close_if();
  // While: open_while, write the condition, begin_while_body(value of it), the body, close_while.
  void open_while();
  void begin_while_body(ValueId condition);
  void close_while();
  std::size_t depth() const { return blocks_.size() - 1; }

  Kernel finish();

 private:
  struct Known {  // a pure instruction that stands somewhere
    InstrKind kind;
    Op op;
    MathLibrary math;
    DType type;
    std::int32_t number;
    ValueId args[3];
    Scalar constant;
    std::size_t level;
    ValueId result;
  };
  // What an int64 is the sum of: a value, or none, and a literal.
  struct Sum {
    ValueId base = no_value;
    std::uint64_t literal = 0;  // wraps
  };
  ValueId new_value(DType dtype, std::size_t level);
  // A sum with a literal as a base plus one literal; no_value: it is none.
  ValueId sum(Op op, ValueId a, ValueId b);
  std::size_t level_of(ValueId value) const { return levels_[static_cast<std::size_t>(value)]; }
  ValueId pure(Instr instr, DType type, std::size_t level);
  ValueId load_at(std::size_t level, Address address, bool streaming);
  std::size_t innermost_condition() const;  // its block; 0: none
  Instr pop();
  void forget_above(std::size_t level);

  struct Open {
    Instr instr;  // the loop, if or while being written
    bool in_other = false;
  };
  Kernel kernel_;
  std::vector<Block> blocks_;        // blocks_[0] is the root
  std::vector<Open> open_;           // open_[k] owns blocks_[k + 1]
  std::vector<std::size_t> levels_;  // of each value: the depth of the block that defines it
  std::vector<Sum> sums_;            // by value
  std::vector<Known> known_;
  std::vector<ValueId> integer_values_;
};

}  // namespace frit
