// routine_cut.cpp: finds loops whose indices are divided by a number that divides their length.
#include "ir/routine_cut.h"

#include "ir/routine_forms.h"

namespace frit {
namespace {

constexpr int most_rounds = 8;

class LoopCutter {
 public:
  LoopCutter(const Routine& routine, std::vector<std::int64_t>& integers, const Forms& forms)
      : made_(routine), integers_(integers), forms_(forms) {}

  // False: there was nothing to cut.
  bool run() {
    made_.body.code = block(made_.body.code);
    return changed_;
  }
  const Routine& made() const { return made_; }

 private:
  Block block(const Block& instructions) {
    Block result;
    result.reserve(instructions.size());
    for (const Instr& instr : instructions) {
      Instr copy = instr;
      copy.body = block(instr.body);
      copy.other = block(instr.other);
      if (const std::int64_t divisor = divisor_of(instr))
        cut(std::move(copy), divisor, result);
      else
        result.push_back(std::move(copy));
    }
    return result;
  }

  // 0: the loop is left as it is.
  std::int64_t divisor_of(const Instr& loop) const {
    if (loop.kind != InstrKind::Loop || loop.tree) return 0;
    const Affine &begin = forms_[loop.args[0]], &end = forms_[loop.args[1]];
    if (!begin.terms.empty() || begin.constant != 0 || !end.terms.empty()) return 0;
    for (const IndexCut& cut : forms_.wanted_cuts())
      if (cut.index == loop.result && cut.divisor > 1 && cut.divisor < end.constant &&
          end.constant % cut.divisor == 0)
        return cut.divisor;
    return 0;
  }

  void cut(Instr loop, std::int64_t divisor, Block& around) {
    changed_ = true;
    const std::int64_t length = forms_[loop.args[1]].constant;
    const ValueId quotients = integer(length / divisor, around),
                  remainders = integer(divisor, around);
    Instr outer, inner;
    outer.kind = inner.kind = InstrKind::Loop;
    outer.args[0] = inner.args[0] = loop.args[0];
    outer.args[1] = quotients;
    inner.args[1] = remainders;
    outer.result = new_value();
    inner.result = new_value();
    const ValueId first = apply(Op::Multiply, new_value(), outer.result, remainders, outer.body);
    apply(Op::Add, loop.result, first, inner.result, inner.body);
    for (Instr& instr : loop.body) inner.body.push_back(std::move(instr));
    outer.body.push_back(std::move(inner));
    around.push_back(std::move(outer));
  }

  ValueId new_value() {
    made_.body.values.push_back(DType::Int64);
    return static_cast<ValueId>(made_.body.values.size() - 1);
  }
  ValueId integer(std::int64_t number, Block& block) {
    Instr instr;
    instr.kind = InstrKind::IntegerArg;
    instr.number = made_.body.integers++;
    instr.result = new_value();
    integers_.push_back(number);
    block.push_back(instr);
    return instr.result;
  }
  ValueId apply(Op op, ValueId result, ValueId a, ValueId b, Block& block) {
    Instr instr;
    instr.kind = InstrKind::Apply;
    instr.op = op;
    instr.result = result;
    instr.args[0] = a;
    instr.args[1] = b;
    block.push_back(instr);
    return result;
  }

  Routine made_;
  std::vector<std::int64_t>& integers_;
  const Forms& forms_;
  bool changed_ = false;
};

}  // namespace

std::shared_ptr<const Routine> cut_loops(std::shared_ptr<const Routine> routine,
                                         std::span<const std::int64_t> extents,
                                         std::vector<std::int64_t>& integers) {
  for (int round = 0; round < most_rounds; ++round) {
    const Forms forms(*routine, extents, integers);
    if (forms.wanted_cuts().empty()) break;
    LoopCutter cutter(*routine, integers, forms);
    if (!cutter.run()) break;
    routine = intern(cutter.made());
  }
  return routine;
}

}  // namespace frit
