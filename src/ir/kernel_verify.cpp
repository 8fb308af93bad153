// kernel_verify.cpp: checks each rule of kernel.h, so that backends need not.
#include "ir/error.h"
#include "ir/kernel.h"

namespace frit {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), visible_(kernel.values.size()), defined_(kernel.values.size()) {}

  void run() {
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k) {
      const Operand& operand = kernel_.operands[k];
      check(operand.scratch_offset >= -1 && operand.scratch_offset < kernel_.integers,
            "a scratch operand's offset is an integer argument");
      check(operand.beside < 0 || is_beside(operand, k), "an operand is beside an earlier one");
    }
    root(kernel_.code);
    variance_ = variance_of(kernel_);
    uniform_rules(kernel_.code, {});
  }

 private:
  bool is_beside(const Operand& operand, std::size_t number) const {
    if (operand.beside >= static_cast<std::int32_t>(number)) return false;
    const Operand& other = kernel_.operands[static_cast<std::size_t>(operand.beside)];
    return other.beside < 0 && other.scratch_offset < 0 && operand.scratch_offset < 0 &&
           other.dtype == operand.dtype;
  }

  struct Place {
    bool in_vector = false;
    bool masked = false;
  };

  // ---- first walk: numbers, scopes and types -------------------------------------------------
  void root(const Block& code) {
    parallel_loop(kernel_);
    for (const Instr& instr : code) {
      if (instr.kind == InstrKind::Loop)
        check(&instr == &code.back(), "the parallel loop is the last instruction of the root");
      else
        check(is_pure(instr),
              "before the parallel loop stand only constants, arguments, Apply and Cast");
      instruction(instr, {.at_root = true});
    }
  }

  struct Around {
    bool at_root = false;
    bool in_vector = false;
  };
  // What a block defines is not visible behind it.
  void block(const Block& instructions, Around around) {
    const std::size_t mark = scope_.size();
    for (const Instr& instr : instructions) instruction(instr, around);
    leave_scope(mark);
  }
  void leave_scope(std::size_t mark) {
    for (; scope_.size() > mark; scope_.pop_back()) visible_[scope_.back()] = false;
  }

  void instruction(const Instr& instr, Around around) {
    switch (instr.kind) {
      case InstrKind::Constant:
        define(instr, instr.constant.dtype);
        return;
      case InstrKind::ScalarArg:
        check(instr.number >= 0 && index(instr.number) < kernel_.scalars.size(),
              "a scalar argument is in the kernel's table");
        define(instr, kernel_.scalars[index(instr.number)]);
        return;
      case InstrKind::IntegerArg:
        check(instr.number >= 0 && instr.number < kernel_.integers,
              "an integer argument is below the kernel's count");
        define(instr, DType::Int64);
        return;
      case InstrKind::Apply:
        return apply(instr);
      case InstrKind::Cast:
        type_of(instr.args[0]);
        no_more_args(instr, 1);
        check(is_value(instr.result), "an instruction that gives a value names it");
        define(instr, kernel_.values[index(instr.result)]);
        return;
      case InstrKind::Load:
        address(instr.address);
        define(instr, kernel_.operands[index(instr.address.operand)].dtype);
        return;
      case InstrKind::Store:
        address(instr.address);
        check(kernel_.operands[index(instr.address.operand)].written,
              "a Store's operand is written");
        check(type_of(instr.args[0]) == kernel_.operands[index(instr.address.operand)].dtype,
              "a Store's value has its operand's type");
        return;
      case InstrKind::ReadLocal:
        define(instr, local_type(instr.number));
        return;
      case InstrKind::WriteLocal:
        check(type_of(instr.args[0]) == local_type(instr.number),
              "a WriteLocal's value has its local's type");
        return;
      case InstrKind::Loop:
        return loop(instr, around);
      case InstrKind::If:
        check(type_of(instr.args[0]) == DType::Bool, "the condition of an If is Bool");
        check(!instr.fails || instr.other.empty(), "an If that fails has no else");
        block(instr.body, {.in_vector = around.in_vector});
        block(instr.other, {.in_vector = around.in_vector});
        return;
      case InstrKind::While:
        check(local_type(instr.number) == DType::Bool, "the local of a While is Bool");
        block(instr.other, {.in_vector = around.in_vector});
        block(instr.body, {.in_vector = around.in_vector});
        return;
    }
    check(false, "an instruction has one of the known kinds");
  }

  void apply(const Instr& instr) {
    const OpInfo& row = info(instr.op);
    DType types[3] = {};
    for (int k = 0; k < row.inputs; ++k) types[k] = type_of(instr.args[k]);
    no_more_args(instr, row.inputs);
    define(instr, result_type(instr.op, types));
  }
  // The type that the op table's rule gives, for operands that need no conversion.
  static DType result_type(Op op, const DType* types) {
    const OpInfo& row = info(op);
    OperandType operands[3] = {};
    for (int k = 0; k < row.inputs; ++k) operands[k].dtype = types[k];
    const auto signature = resolve(op, {operands, static_cast<std::size_t>(row.inputs)});
    check(signature.has_value(), "the op of an Apply takes operands of these types");
    for (int k = 0; k < row.inputs; ++k)
      check(signature->in[k] == types[k], "the operands of an Apply have its op's types");
    const DType in = types[row.rule == TypeRule::Select ? 1 : 0];
    check(row.types.find(info(in).code) != std::string_view::npos,
          "the op of an Apply has a formula for its operands' type");
    return signature->out;
  }

  void loop(const Instr& instr, Around around) {
    check(instr.parallel == around.at_root, "the one parallel loop is at the root");
    check(!instr.parallel || instr.reductions.empty(), "a loop with reductions is not parallel");
    check(!(instr.vector && around.in_vector), "a vector loop is not inside another");
    if (!instr.parallel)
      for (int k = 0; k < 2; ++k)
        check(type_of(instr.args[k]) == DType::Int64, "the bounds of a loop are Int64");
    const bool is_inner_vector = instr.vector && !instr.parallel;
    check(is_inner_vector || instr.fetches.empty(),
          "only a vector loop inside of another one fetches");
    check(!instr.repeats || (is_inner_vector && instr.reductions.empty()),
          "only a vector loop inside of another one, without reductions, repeats");
    for (const Fetch& fetch : instr.fetches) {
      check(fetch.elements > 0, "a fetch goes forward");
      address(fetch.address);
    }
    const std::size_t mark = scope_.size();
    define(instr, DType::Int64);
    for (const Instr& inner : instr.body)
      instruction(inner, {.in_vector = around.in_vector || instr.vector});
    int shared_class = 0;
    for (const Reduction& reduction : instr.reductions) {
      const DType dtype = type_of(reduction.value);
      check(dtype == local_type(reduction.local), "a reduction's value has its local's type");
      const DType types[] = {dtype, dtype};
      check(info(reduction.op).inputs == 2 && result_type(reduction.op, types) == dtype,
            "a reduction's op takes two of its values and gives a third");
      const int own_class = tree_class(reduction.op, dtype);
      check(own_class == 0 || shared_class == 0 || own_class == shared_class,
            "the reductions of a loop have the same tree");
      if (own_class != 0) shared_class = own_class;
    }
    leave_scope(mark);
  }
  void address(const Address& address) {
    check(address.operand >= 0 && index(address.operand) < kernel_.operands.size(),
          "an address names an operand of the kernel");
    for (const Term& term : address.terms) {
      check(type_of(term.index) == DType::Int64, "the index of an address term is Int64");
      check(term.stride == unit_stride || (term.stride >= 0 && term.stride < kernel_.integers),
            "a stride is unit_stride or an integer argument");
    }
  }

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }
  bool is_value(ValueId id) const { return id >= 0 && index(id) < kernel_.values.size(); }
  DType type_of(ValueId id) const {
    check(is_value(id) && visible_[index(id)], "a value is used where it is visible");
    return kernel_.values[index(id)];
  }
  DType local_type(std::int32_t number) const {
    check(number >= 0 && index(number) < kernel_.locals.size(), "a local is in the kernel's table");
    return kernel_.locals[index(number)];
  }
  void define(const Instr& instr, DType dtype) {
    check(is_value(instr.result), "an instruction that gives a value names it");
    check(!defined_[index(instr.result)], "a value is defined once");
    check(kernel_.values[index(instr.result)] == dtype, "a value has the type of its instruction");
    defined_[index(instr.result)] = visible_[index(instr.result)] = true;
    scope_.push_back(index(instr.result));
  }
  static void no_more_args(const Instr& instr, int inputs) {
    for (int k = inputs; k < 3; ++k)
      check(instr.args[k] == no_value, "an instruction has no more operands than it takes");
  }

  // ---- second walk: what must be uniform -----------------------------------------------------
  void uniform_rules(const Block& block, Place place) {
    for (const Instr& instr : block) uniform_rules(instr, place);
  }
  void uniform_rules(const Instr& instr, Place place) {
    switch (instr.kind) {
      case InstrKind::ReadLocal:
      case InstrKind::WriteLocal:
        return lane_private(instr.number, place);
      case InstrKind::Loop:
        if (place.in_vector)
          check(!variance_.values[index(instr.args[0])] && !variance_.values[index(instr.args[1])],
                "the bounds of a loop inside a vector loop are uniform");
        for (const Reduction& reduction : instr.reductions) lane_private(reduction.local, place);
        return uniform_rules(instr.body, {.in_vector = place.in_vector || instr.vector});
      case InstrKind::If:
        uniform_rules(instr.body, place);
        return uniform_rules(instr.other, place);
      case InstrKind::While:
        lane_private(instr.number, place);
        uniform_rules(instr.other, place);
        return uniform_rules(instr.body, place);
      case InstrKind::Apply:
        check(instr.math == MathLibrary::Frit || !variance_.values[index(instr.result)],
              "another library's function is of values that don't vary");
        return;
      case InstrKind::Constant:
      case InstrKind::ScalarArg:
      case InstrKind::IntegerArg:
      case InstrKind::Cast:
      case InstrKind::Load:
      case InstrKind::Store:
        return;
    }
  }
  void lane_private(std::int32_t local, Place place) const {
    check(place.in_vector || !variance_.locals[index(local)],
          "a local that differs between lanes is used only inside vector loops");
  }

  const Kernel& kernel_;
  std::vector<bool> visible_, defined_;
  std::vector<std::size_t> scope_;  // the visible values, innermost last
  Variance variance_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace frit
