// nest_replay.cpp: a nest's instructions in order, on numbers that may be unknown.
#include "engine/nest_replay.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "engine/float_flags.h"
#include "engine/pool.h"

namespace frit {
namespace {

std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

struct JudgedFlags {
  unsigned flags = 0;
  bool in_vain = false;  // values have told nothing, or not all
};

class NestReplay {
 public:
  NestReplay(const Routine& routine, const NestCall& call, unsigned raised, std::int64_t most)
      : body_(routine.body),
        rank_(at(routine.rank)),
        call_(call),
        raised_(raised),
        left_(most),
        values_(body_.values.size()),
        locals_(body_.locals.size()),
        is_overwritten_(body_.operands.size()) {
    for (std::size_t k = 0; k < body_.operands.size(); ++k)
      for (std::size_t w = 0; w < body_.operands.size() && !is_overwritten_[k]; ++w)
        is_overwritten_[k] = body_.operands[w].written && shares_memory(k, w);
    for_each_instr(body_.code, [&](const Instr& instr) {
      if (instr.kind == InstrKind::Load) {
        const std::size_t operand = at(instr.address.operand);
        rereads_ |= is_overwritten_[operand] || !call_.arrays[operand].data;
      }
      could_be_ |= meanings(instr);
      overflows_falsely_ |= instr.kind == InstrKind::Apply && overflows_falsely(instr);
    });
  }

  JudgedFlags run(std::span<const std::int64_t> extents) {
    clear_float_flags();
    if (points(extents) == End::Unknown)
      for_each_instr(body_.code, [&](const Instr& instr) { note_unknown(instr); });
    clear_float_flags();
    return {.flags = found_ | unexplained(), .in_vain = left_ < 0 || found_ == 0};
  }

 private:
  struct Number {
    Scalar scalar;
    bool is_known = false;
  };
  // Complete: no more can be found. Unknown: which way the nest went isn't known.
  enum class End : std::uint8_t { Reached, Complete, Unknown };

  Number& value(ValueId id) { return values_[at(id)]; }
  std::int64_t integer(ValueId id) { return value(id).scalar.as<std::int64_t>(); }
  DType type(ValueId id) const { return body_.values[at(id)]; }

  bool shares_memory(std::size_t a, std::size_t b) const {
    if (a == b) return true;
    if (!call_.arrays[a].data || !call_.arrays[b].data) return false;
    return overlap(bytes_of(call_.arrays[a], body_.operands[a].dtype),
                   bytes_of(call_.arrays[b], body_.operands[b].dtype));
  }

  // ---- what flags stand for ---------------------------------------------------------------------

  Signature signature_of(const Instr& instr) const {
    Signature s{.in = {}, .out = type(instr.result)};
    for (int k = 0; k < info(instr.op).inputs; ++k) s.in[k] = type(instr.args[k]);
    return s;
  }

  // What the raised flags can mean, had this instruction raised them.
  unsigned meanings(const Instr& instr) const {
    if (instr.kind == InstrKind::Cast) {
      const DType from = type(instr.args[0]), to = type(instr.result);
      if (from == to || !conversion_may_warn(from, to)) return 0;
      return raised_ & (is_integer(to) ? flag_invalid : flag_overflow);
    }
    if (instr.kind != InstrKind::Apply || instr.quiet) return 0;
    return could_mean(instr.op, signature_of(instr), raised_);
  }

  void note_unknown(const Instr& instr) {
    if (instr.kind == InstrKind::Cast) unknown_ |= meanings(instr);
    if (instr.kind != InstrKind::Apply || instr.quiet) return;
    const Signature signature = signature_of(instr);
    unknown_ |= possible(instr.op, signature);
    has_unknown_poles_ |= meant(instr.op, signature, flag_overflow) == flag_divide;
    floors_unknown_ |= instr.op == Op::FloorDivide && is_float(signature.out);
    if (orders_floats(instr.op, signature.in[0]))
      orders_unknown_ = true;
    else
      errs_easily_ |=
          is_float(signature.out) && raises_easily(instr, signature.in[0], signature.out);
  }

  unsigned unexplained() const {
    unsigned rest = raised_ & flags_of_interest & ~explained_;
    if (rest == 0 || (unknown_ == 0 && !orders_unknown_)) return 0;
    if (rest & flag_overflow && overflows_falsely_) {
      const bool is_seen = holds(Op::Isinf);
      if (!is_seen || has_unknown_poles_) rest &= ~flag_overflow;
      if (is_seen && has_unknown_poles_) rest |= flag_divide;
    }
    // A NaN that was compared may have been there before: sums and products hardly make one.
    // An infinity that was rounded down is invalid besides.
    const bool is_rounded = floors_unknown_ && rest & flag_overflow && holds(Op::Isinf);
    if (rest & flag_invalid && !is_rounded &&
        ((orders_unknown_ && !errs_easily_) || !holds(Op::Isnan)))
      rest &= ~flag_invalid;
    return rest & unknown_;
  }

  // log(0) and 1 // 1e300 overflow on their way.
  bool overflows_falsely(const Instr& instr) const {
    const Signature s = signature_of(instr);
    return raises_flags_of_its_own(instr.op, s.in[0]) &&
           (instr.op == Op::FloorDivide || !(possible(instr.op, s) & flag_overflow));
  }

  // Whether one of the arrays' elements is of this kind.
  bool holds(Op kind) const {
    for (std::size_t k = 0; k < body_.operands.size(); ++k)
      if (call_.arrays[k].data && has_element(kind, call_.arrays[k], body_.operands[k].dtype))
        return true;
    return false;
  }

  // ---- instructions -----------------------------------------------------------------------------

  // The last axis fastest.
  End points(std::span<const std::int64_t> extents) {
    if (std::ranges::find(extents, 0) != extents.end()) return End::Reached;
    for (ValueId k = 0; at(k) < rank_; ++k)
      value(k) = {Scalar::of(DType::Int64, std::int64_t{0}), true};
    for (;;) {
      for (std::size_t k = 0; k < locals_.size(); ++k)
        locals_[k] = {.scalar = {.dtype = body_.locals[k]}, .is_known = true};
      if (const End end = block(body_.code); end != End::Reached) return end;
      std::size_t axis = rank_;
      for (; axis > 0; --axis) {
        const auto id = static_cast<ValueId>(axis - 1);
        const std::int64_t next = integer(id) + 1, extent = extents[axis - 1];
        value(id).scalar = Scalar::of(DType::Int64, next < extent ? next : 0);
        if (next < extent) break;
      }
      if (axis == 0) return End::Reached;
    }
  }

  End block(const Block& instructions) {
    for (const Instr& instr : instructions)
      if (const End end = run(instr); end != End::Reached) return end;
    return End::Reached;
  }

  End run(const Instr& instr) {
    if (--left_ < 0) return End::Unknown;
    switch (instr.kind) {
      case InstrKind::Constant:
        value(instr.result) = {instr.constant, true};
        return End::Reached;
      case InstrKind::ScalarArg:
        value(instr.result) = {call_.scalars[at(instr.number)], true};
        return End::Reached;
      case InstrKind::IntegerArg:
        value(instr.result) = {Scalar::of(DType::Int64, call_.integers[at(instr.number)]), true};
        return End::Reached;
      case InstrKind::Apply:
        return apply(instr);
      case InstrKind::Cast:
        return cast(instr);
      case InstrKind::Load:
        load(instr);
        return End::Reached;
      case InstrKind::Store: {
        if (!rereads_ || !call_.arrays[at(instr.address.operand)].data) return End::Reached;
        const std::byte* address = address_of(instr);
        if (!address) return End::Unknown;
        stored_[address] = value(instr.args[0]);
        return End::Reached;
      }
      case InstrKind::ReadLocal:
        value(instr.result) = locals_[at(instr.number)];
        return End::Reached;
      case InstrKind::WriteLocal:
        locals_[at(instr.number)] = value(instr.args[0]);
        return End::Reached;
      case InstrKind::Loop:
        return loop(instr);
      case InstrKind::If: {
        const Number& condition = value(instr.args[0]);
        if (!condition.is_known) return End::Unknown;
        return block(condition.scalar.as<std::uint8_t>() ? instr.body : instr.other);
      }
      case InstrKind::While:
        for (;;) {
          if (const End end = block(instr.other); end != End::Reached) return end;
          const Number& goes_on = locals_[at(instr.number)];
          if (!goes_on.is_known) return End::Unknown;
          if (!goes_on.scalar.as<std::uint8_t>()) return End::Reached;
          if (const End end = block(instr.body); end != End::Reached) return end;
        }
    }
    return End::Reached;
  }

  End loop(const Instr& instr) {
    if (!value(instr.args[0]).is_known || !value(instr.args[1]).is_known) return End::Unknown;
    const std::int64_t begin = integer(instr.args[0]), end = integer(instr.args[1]);
    for (std::int64_t i = begin; i < end; ++i) {
      value(instr.result) = {Scalar::of(DType::Int64, i), true};
      if (const End inside = block(instr.body); inside != End::Reached) return inside;
    }
    return End::Reached;
  }

  End apply(const Instr& instr) {
    Number& result = value(instr.result);
    const int inputs = info(instr.op).inputs;
    result = {.scalar = {.dtype = type(instr.result)}, .is_known = true};
    void* args[4] = {result.scalar.bytes, nullptr, nullptr, nullptr};
    const std::byte* in[3] = {};
    for (int k = 0; k < inputs; ++k) {
      Number& input = value(instr.args[k]);
      result.is_known &= input.is_known;
      args[k + 1] = input.scalar.bytes;
      in[k] = input.scalar.bytes;
    }
    if (!result.is_known) {
      note_unknown(instr);
      return End::Reached;
    }
    const Signature signature = signature_of(instr);
    frit::loop(instr.op, signature)(args, 1, 0);
    if (orders_nan(instr)) explained_ |= flag_invalid;
    const unsigned raised = float_flags() & flags_of_interest;
    if (raised == 0) return End::Reached;
    explained_ |= raised;
    clear_float_flags();
    if (instr.quiet || !may_warn(instr.op, signature.in[0])) return End::Reached;
    unsigned flags =
        flags_from_values(instr.op, signature, 1, {in, at(inputs)}, result.scalar.bytes, raised);
    // C's pow, which NumPy's scalars have, takes a zero to minus infinity without a word.
    if (instr.op == Op::Power && is_of(Op::Isinf, instr.args[1])) flags &= ~flag_divide;
    return find(flags);
  }

  bool is_of(Op kind, ValueId id) const {
    std::uint8_t answer = 0;
    void* args[2] = {&answer, const_cast<std::byte*>(values_[at(id)].scalar.bytes)};
    if (is_float(type(id))) frit::loop(kind, type(id))(args, 1, 0);
    return answer != 0;
  }

  // The run may have taken it for invalid, even where a single comparison doesn't.
  bool orders_nan(const Instr& instr) const {
    if (!rereads_ || !(raised_ & flag_invalid) || !orders_floats(instr.op, type(instr.args[0])))
      return false;
    const auto first = std::begin(instr.args);
    return std::any_of(first, first + info(instr.op).inputs,
                       [&](ValueId id) { return is_of(Op::Isnan, id); });
  }

  End cast(const Instr& instr) {
    const Number& given = value(instr.args[0]);
    Number& result = value(instr.result);
    const DType from = type(instr.args[0]), to = type(instr.result);
    if (from == to || !given.is_known) {
      if (!given.is_known) note_unknown(instr);
      result = {given.is_known ? given.scalar : Scalar{.dtype = to}, given.is_known};
      return End::Reached;
    }
    result = {.scalar = {.dtype = to}, .is_known = true};
    void* args[2] = {result.scalar.bytes, const_cast<std::byte*>(given.scalar.bytes)};
    cast_loop(from, to)(args, 1, 0);
    const unsigned raised = float_flags() & flags_of_interest;
    if (raised == 0) return End::Reached;
    explained_ |= raised;
    clear_float_flags();
    return find(flags_of_conversion(from, to, given.scalar.bytes, result.scalar.bytes, 1));
  }

  End find(unsigned flags) {
    found_ |= flags;
    return (could_be_ & ~found_) == 0 ? End::Complete : End::Reached;
  }

  // null: an index isn't known.
  const std::byte* address_of(const Instr& instr) {
    const NestArgument& a = call_.arrays[at(instr.address.operand)];
    const std::byte* p = a.data;
    for (std::size_t k = 0; k < instr.address.terms.size(); ++k) {
      if (!value(instr.address.terms[k].index).is_known) return nullptr;
      p += integer(instr.address.terms[k].index) * a.strides[k];
    }
    return p;
  }

  void load(const Instr& instr) {
    Number& result = value(instr.result);
    result = {.scalar = {.dtype = type(instr.result)}, .is_known = false};
    if (!call_.arrays[at(instr.address.operand)].data) return;
    const std::byte* address = address_of(instr);
    if (!address) return;
    if (!is_overwritten_[at(instr.address.operand)]) {
      std::memcpy(result.scalar.bytes, address, at(size_of(result.scalar.dtype)));
      result.is_known = true;
      return;
    }
    const auto stored = stored_.find(address);
    if (stored != stored_.end() && stored->second.scalar.dtype == result.scalar.dtype)
      result = stored->second;
  }

  const Kernel& body_;
  const std::size_t rank_;
  const NestCall& call_;
  const unsigned raised_;
  std::int64_t left_;  // instructions
  std::vector<Number> values_, locals_;
  std::vector<bool> is_overwritten_;  // by operand: it shares memory with one that is written
  bool rereads_ = false;              // elements that may have been stored
  std::unordered_map<const std::byte*, Number> stored_;
  unsigned could_be_ = 0;   // all that could be found
  unsigned found_ = 0;      // what values say
  unsigned explained_ = 0;  // raised by ops whose values said what is meant
  unsigned unknown_ = 0;    // what ops on unknown values may raise
  bool overflows_falsely_ = false;
  // Ops on unknown values.
  bool has_unknown_poles_ = false, orders_unknown_ = false, errs_easily_ = false;
  bool floors_unknown_ = false;
};

// Does a loop within others, perhaps one of no rounds, hold what may raise a flag and is the same
// in all of its rounds?
class LoopLeaving {
 public:
  explicit LoopLeaving(const Routine& routine)
      : body_(routine.body),
        definitions_(body_.values.size()),
        depths_(body_.values.size()),
        outermost_(routine.rank > 0 ? 0 : 1) {
    for_each_instr(body_.code, [&](const Instr& instr) {
      if (instr.result != no_value) definitions_[at(instr.result)] = &instr;
    });
  }
  bool any() { return any_in(body_.code, 0); }

 private:
  bool any_in(const Block& block, int depth) {
    return std::ranges::any_of(block, [&](const Instr& instr) { return leaves(instr, depth); });
  }

  bool leaves(const Instr& instr, int depth) {
    if (instr.kind == InstrKind::Loop) {
      const int inner = has_rounds(instr) ? depth : depth + 1;
      depths_[at(instr.result)] = inner;
      if (inner > depth) written_.push_back(locals_written_in(instr));
      const bool any = any_in(instr.body, inner);
      if (inner > depth) written_.pop_back();
      return any;
    }
    if (instr.result == no_value) return any_in(instr.other, depth) || any_in(instr.body, depth);
    const int needed = depth_needed(instr, depth);
    depths_[at(instr.result)] = needed;
    return may_raise(instr) && needed < depth && depth > outermost_;
  }

  bool has_rounds(const Instr& loop) const {
    const Instr* const begin = definitions_[at(loop.args[0])];
    const Instr* const end = definitions_[at(loop.args[1])];
    return begin && end && begin->kind == InstrKind::Constant && end->kind == InstrKind::Constant &&
           begin->constant.as<std::int64_t>() < end->constant.as<std::int64_t>();
  }

  std::vector<bool> locals_written_in(const Instr& loop) const {
    std::vector<bool> written(body_.locals.size());
    for_each_instr(loop.body, [&](const Instr& instr) {
      if (instr.kind == InstrKind::WriteLocal) written[at(instr.number)] = true;
      for (const Reduction& reduction : instr.reductions) written[at(reduction.local)] = true;
    });
    for (const Reduction& reduction : loop.reductions) written[at(reduction.local)] = true;
    return written;
  }

  int depth_needed(const Instr& instr, int depth) const {
    if (instr.kind == InstrKind::ReadLocal) {
      while (depth > 0 && !written_[at(depth - 1)][at(instr.number)]) --depth;
      return depth;
    }
    if (instr.kind != InstrKind::Load && !is_pure(instr)) return depth;
    int needed = 0;
    for (const ValueId arg : instr.args)
      if (arg != no_value) needed = std::max(needed, depths_[at(arg)]);
    for (const Term& term : instr.address.terms) needed = std::max(needed, depths_[at(term.index)]);
    return needed;
  }

  bool may_raise(const Instr& instr) const {
    const auto type = [&](ValueId id) { return body_.values[at(id)]; };
    if (instr.kind == InstrKind::Cast)
      return conversion_may_warn(type(instr.args[0]), type(instr.result));
    return instr.kind == InstrKind::Apply && may_warn(instr.op, type(instr.args[0]));
  }

  const Kernel& body_;
  std::vector<const Instr*> definitions_;
  std::vector<int> depths_;                 // by value: of the loops that it needs
  std::vector<std::vector<bool>> written_;  // locals, by the loops around
  int outermost_;                           // what leaves that is the host's
};

}  // namespace

FlagJudge::FlagJudge(const Kernel& body) {
  for_each_instr(body.code, [&](const Instr& instr) {
    has_conditions_ |=
        (instr.kind == InstrKind::If && !instr.fails) || instr.kind == InstrKind::While;
    widens_halves_ |=
        instr.kind == InstrKind::Cast && body.values[at(instr.args[0])] == DType::Float16;
    if (instr.kind != InstrKind::Apply) return;
    const DType dtype = body.values[at(instr.args[0])];
    compares_floats_ |= orders_floats(instr.op, dtype);
    has_formulas_ |= raises_flags_of_its_own(instr.op, dtype);
    has_quiet_ |= instr.quiet;
  });
}

// Formulas raise flags on their way, machines take it for invalid to order a NaN, and of one half
// they convert what else is in its register.
unsigned FlagJudge::judge(const Routine& routine, std::span<const std::int64_t> extents,
                          const NestCall& call, unsigned raised, bool is_doubtful) {
  constexpr std::int64_t least = 1 << 12;
  if (!leaves_loops_) leaves_loops_ = LoopLeaving(routine).any();
  is_doubtful |= has_conditions_ || has_formulas_ || *leaves_loops_ || has_quiet_ ||
                 ((compares_floats_ || widens_halves_) && raised & flag_invalid);
  if (!is_doubtful) return raised;
  const JudgedFlags judged =
      NestReplay(routine, call, raised & flags_of_interest, most_).run(extents);
  if (judged.in_vain) most_ = std::max(most_ / 4, least);
  return judged.flags | (raised & ~flags_of_interest);
}

}  // namespace frit
