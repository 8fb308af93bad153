// nest_induction.cpp: finds locals that a loop counts, and writes what they hold by its index.
#include "schedule/nest_induction.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "schedule/nest_edit.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

// k = read + amount. All stand in the loop's own block, the read before the write.
struct Induction {
  std::int32_t local = -1;
  std::size_t read = 0, write = 0;  // places in the block
  Op op{};                          // Add or Subtract
  ValueId amount = no_value;
};

class InductionWriter {
 public:
  InductionWriter(Routine& routine, std::vector<std::int32_t>& scales)
      : routine_(routine),
        scales_(scales),
        definitions_(routine.body.values.size()),
        literals_(routine.body.values.size()) {
    for_each_instr(routine.body.code, [&](const Instr& instr) {
      if (instr.result != no_value && instr.kind != InstrKind::Loop)
        definitions_[at(instr.result)] = {instr.kind, instr.number, {instr.args[0], instr.args[1]}};
      if (instr.kind == InstrKind::Constant && instr.constant.dtype == DType::Int64)
        literals_[at(instr.result)] = instr.constant.as<std::int64_t>();
    });
  }
  bool run() {
    edit_block(routine_.body.code, [&](Instr& instr, Block& before, Block& behind) {
      if (instr.kind != InstrKind::Loop) return;
      while (const auto found = find(instr)) express(instr, *found, before, behind);
    });
    return has_found_;
  }

 private:
  std::optional<Induction> find(const Instr& loop) const {
    std::vector<bool> defined(routine_.body.values.size());
    std::vector<int> reads(routine_.body.locals.size()), writes(reads);
    std::vector<int> uses(defined.size());
    defined[at(loop.result)] = true;
    for_each_instr(loop.body, [&](const Instr& instr) {
      if (instr.result != no_value) defined[at(instr.result)] = true;
      if (instr.kind == InstrKind::ReadLocal || instr.kind == InstrKind::While)
        ++reads[at(instr.number)];
      if (instr.kind == InstrKind::WriteLocal) ++writes[at(instr.number)];
      for (ValueId arg : instr.args)
        if (arg != no_value) ++uses[at(arg)];
      for (const Term& term : instr.address.terms) ++uses[at(term.index)];
    });
    for (std::size_t w = 0; w < loop.body.size(); ++w) {
      const Instr& write = loop.body[w];
      if (write.kind != InstrKind::WriteLocal || reads[at(write.number)] != 1 ||
          writes[at(write.number)] != 1 || routine_.body.locals[at(write.number)] != DType::Int64)
        continue;
      const auto made = std::ranges::find(loop.body, write.args[0], &Instr::result);
      if (made == loop.body.end() || made->kind != InstrKind::Apply ||
          (made->op != Op::Add && made->op != Op::Subtract))
        continue;
      for (int k = 0; k < (made->op == Op::Add ? 2 : 1); ++k) {
        const auto read = std::ranges::find(loop.body, made->args[k], &Instr::result);
        const ValueId amount = made->args[1 - k];
        if (read == loop.body.end() || read->kind != InstrKind::ReadLocal ||
            read->number != write.number || defined[at(amount)])
          continue;
        // A mere count of rounds is a reduction as it stands.
        if (uses[at(read->result)] == 1 && uses[at(made->result)] == 1) continue;
        return Induction{write.number, static_cast<std::size_t>(read - loop.body.begin()), w,
                         made->op, amount};
      }
    }
    return std::nullopt;
  }

  void express(Instr& loop, const Induction& found, Block& before, Block& behind) {
    has_found_ = true;
    add_integers(found.amount);
    before.push_back(read_of(routine_, found.local));
    const ValueId start = before.back().result;
    Block each;
    const ValueId rounds = difference(loop.result, loop.args[0], each);
    apply(found.op, start, times(rounds, found.amount, each), each);
    each.back().result = loop.body[found.read].result;
    loop.body.erase(loop.body.begin() + static_cast<std::ptrdiff_t>(found.write));
    const auto read = loop.body.erase(loop.body.begin() + static_cast<std::ptrdiff_t>(found.read));
    loop.body.insert(read, each.begin(), each.end());

    const ValueId extent = difference(loop.args[1], loop.args[0], behind);
    const ValueId none = add_zero(routine_, DType::Int64, behind);
    const ValueId all = apply(Op::Maximum, extent, none, behind);
    const ValueId added = times(all, found.amount, behind);
    const ValueId last = apply(found.op, start, added, behind);
    behind.push_back(write_of(found.local, last));
  }

  void add_integers(ValueId value) {
    if (at(value) >= definitions_.size()) return;
    const Definition& d = definitions_[at(value)];
    if (d.kind == InstrKind::IntegerArg && std::ranges::count(scales_, d.number) == 0)
      scales_.push_back(d.number);
    if (d.kind == InstrKind::Apply)
      for (ValueId arg : d.args)
        if (arg != no_value) add_integers(arg);
  }

  bool is_literal(ValueId value, std::int64_t number) const {
    const auto known = static_cast<std::size_t>(value);
    return known < literals_.size() && literals_[known] == number;
  }
  ValueId difference(ValueId a, ValueId b, Block& to) {
    return is_literal(b, 0) ? a : apply(Op::Subtract, a, b, to);
  }
  ValueId times(ValueId a, ValueId b, Block& to) {
    return is_literal(b, 1) ? a : apply(Op::Multiply, a, b, to);
  }

  ValueId apply(Op op, ValueId a, ValueId b, Block& to) {
    return add_apply(routine_, op, DType::Int64, a, b, to);
  }

  struct Definition {
    InstrKind kind{};
    std::int32_t number = -1;
    ValueId args[2] = {no_value, no_value};
  };
  Routine& routine_;
  std::vector<std::int32_t>& scales_;
  std::vector<Definition> definitions_;  // by value, of those that were there
  std::vector<std::optional<std::int64_t>> literals_;
  bool has_found_ = false;
};

}  // namespace

bool express_inductions(Routine& routine, std::vector<std::int32_t>& scales) {
  return InductionWriter(routine, scales).run();
}

}  // namespace frit
