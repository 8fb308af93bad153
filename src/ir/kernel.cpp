// kernel.cpp: facts about Kernels: trees of reductions, variance, the key of the code cache.
#include "ir/kernel.h"

#include <algorithm>
#include <cstring>

#include "ir/error.h"

namespace frit {

int tree_class(Op op, DType dtype) {
  if (op != Op::Add || !is_inexact(dtype)) return 0;
  return is_complex(dtype) ? 2 : 1;
}

bool is_pure(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::Constant:
    case InstrKind::ScalarArg:
    case InstrKind::IntegerArg:
    case InstrKind::Apply:
    case InstrKind::Cast:
      return true;
    case InstrKind::Load:
    case InstrKind::Store:
    case InstrKind::ReadLocal:
    case InstrKind::WriteLocal:
    case InstrKind::Loop:
    case InstrKind::If:
    case InstrKind::While:
      return false;
  }
  return false;
}

bool raises_easily(const Instr& instr, DType from, DType to) {
  if (instr.kind == InstrKind::Cast) return conversion_may_warn(from, to);
  const Op op = instr.op;
  return instr.kind == InstrKind::Apply && may_warn(op, from) && op != Op::Add &&
         op != Op::Subtract && op != Op::Multiply && op != Op::Square && op != Op::MultiplyUnfused;
}

const Instr* definition_in(const Block& block, ValueId id) {
  const auto found = std::ranges::find(block, id, &Instr::result);
  return found == block.end() ? nullptr : &*found;
}

namespace {

// Not of the round's number, and not of memory, which others may write.
bool follows_from_locals(const Instr& loop, ValueId id) {
  if (id == loop.result) return false;
  const Instr* made = id == no_value ? nullptr : definition_in(loop.body, id);
  if (!made || made->kind == InstrKind::ReadLocal) return true;
  return is_pure(*made) && std::ranges::all_of(made->args, [&](ValueId arg) {
           return follows_from_locals(loop, arg);
         });
}

}  // namespace

const Instr* ending_if(const Instr& loop) {
  if (loop.parallel || loop.vector || !loop.reductions.empty()) return nullptr;
  const Instr* found = nullptr;
  for (const Instr& instr : loop.body) {
    if (is_pure(instr) || instr.kind == InstrKind::Load || instr.kind == InstrKind::ReadLocal)
      continue;
    if (found || instr.kind != InstrKind::If || !instr.other.empty()) return nullptr;
    found = &instr;
  }
  return found && follows_from_locals(loop, found->args[0]) ? found : nullptr;
}

const Instr& parallel_loop(const Kernel& kernel) {
  check(!kernel.code.empty() && kernel.code.back().kind == InstrKind::Loop &&
            kernel.code.back().parallel,
        "a kernel ends with its parallel loop");
  return kernel.code.back();
}

// ---- variance -----------------------------------------------------------------------------------

namespace {

// Spreads variance from vector loops' indices; what varies only grows, so repeating until nothing
// changes ends.
class VarianceSpread {
 public:
  explicit VarianceSpread(const Kernel& kernel) : kernel_(kernel) {
    found_.values.resize(kernel.values.size());
    found_.locals.resize(kernel.locals.size());
  }
  Variance run() {
    do {
      changed_ = false;
      walk(kernel_.code, {});
    } while (changed_);
    return std::move(found_);
  }

 private:
  struct Place {
    bool in_vector = false;
    bool masked = false;  // only some of the lanes come here
  };
  bool value(ValueId id) const {
    return id != no_value && found_.values[static_cast<std::size_t>(id)];
  }
  void mark_value(ValueId id) { found_.values[static_cast<std::size_t>(id)] = true; }
  void mark_local(std::int32_t number) {
    if (found_.locals[static_cast<std::size_t>(number)]) return;
    found_.locals[static_cast<std::size_t>(number)] = true;
    changed_ = true;  // a read of it, or a While on it, may stand before this place
  }

  void walk(const Block& block, Place place) {
    for (const Instr& instr : block) visit(instr, place);
  }
  void visit(const Instr& instr, Place place) {
    switch (instr.kind) {
      case InstrKind::Constant:
      case InstrKind::ScalarArg:
      case InstrKind::IntegerArg:
      case InstrKind::Store:
        return;
      case InstrKind::Apply:
      case InstrKind::Cast:
        if (value(instr.args[0]) || value(instr.args[1]) || value(instr.args[2]))
          mark_value(instr.result);
        return;
      case InstrKind::Load:
        for (const Term& term : instr.address.terms)
          if (value(term.index)) mark_value(instr.result);
        return;
      case InstrKind::ReadLocal:
        if (found_.locals[static_cast<std::size_t>(instr.number)]) mark_value(instr.result);
        return;
      case InstrKind::WriteLocal:
        if (place.masked || value(instr.args[0])) mark_local(instr.number);
        return;
      case InstrKind::Loop:
        return visit_loop(instr, place);
      case InstrKind::If:
        place.masked |= value(instr.args[0]);
        walk(instr.body, place);
        walk(instr.other, place);
        return;
      case InstrKind::While:
        place.masked |= found_.locals[static_cast<std::size_t>(instr.number)];
        walk(instr.other, place);
        walk(instr.body, place);
        return;
    }
  }
  void visit_loop(const Instr& loop, Place place) {
    if (loop.vector) mark_value(loop.result);
    walk(loop.body, {.in_vector = place.in_vector || loop.vector, .masked = place.masked});
    if (loop.vector) return;  // the reduction of lanes is one value for all
    for (const Reduction& reduction : loop.reductions)
      if (place.masked || value(reduction.value)) mark_local(reduction.local);
  }

  const Kernel& kernel_;
  Variance found_;
  bool changed_ = false;
};

}  // namespace

Variance variance_of(const Kernel& kernel) { return VarianceSpread(kernel).run(); }

// ---- serialize ----------------------------------------------------------------------------------

namespace {

// Every list is preceded by its length and every field is a word, so no two kernels give the same
// bytes.
class Serializer {
 public:
  std::string run(const Kernel& kernel) {
    words_.reserve(512);
    count(kernel.operands.size());
    for (const Operand& operand : kernel.operands)
      add(static_cast<std::int32_t>(operand.dtype), operand.written ? 1 : 0, operand.scratch_offset,
          operand.beside, operand.distance);
    types(kernel.scalars);
    add(kernel.integers,
        (kernel.may_stop ? 1 : 0) | (kernel.from_own_cache ? 2 : 0) | (kernel.loads_early ? 4 : 0));
    types(kernel.values);
    types(kernel.locals);
    block(kernel.code);
    return {reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof words_[0]};
  }

 private:
  template <class... Word>
  void add(Word... word) {
    (words_.push_back(word), ...);
  }
  void count(std::size_t size) { add(static_cast<std::int32_t>(size)); }
  void types(const std::vector<DType>& list) {
    count(list.size());
    for (DType dtype : list) add(static_cast<std::int32_t>(dtype));
  }
  void block(const Block& instructions) {
    count(instructions.size());
    for (const Instr& instr : instructions) instruction(instr);
  }
  void instruction(const Instr& instr) {
    const int flags = (instr.parallel ? 1 : 0) | (instr.vector ? 2 : 0) |
                      (instr.streaming ? 4 : 0) | (instr.tree ? 8 : 0) | (instr.repeats ? 16 : 0) |
                      (instr.fails ? 32 : 0) | (instr.quiet ? 64 : 0);
    add(static_cast<int>(instr.kind) | static_cast<int>(instr.op) << 8 |
            static_cast<int>(instr.math) << 16 | flags << 24,
        instr.result, instr.args[0], instr.args[1], instr.args[2], instr.number,
        instr.address.operand);
    if (instr.kind == InstrKind::Constant) {
      std::int32_t words[4];
      static_assert(sizeof words == sizeof instr.constant.bytes);
      std::memcpy(words, instr.constant.bytes, sizeof words);
      for (std::int32_t word : words) add(word);
    }
    if (instr.kind == InstrKind::While) add(instr.rounds);
    terms(instr.address);
    count(instr.reductions.size());
    for (const Reduction& reduction : instr.reductions)
      add(static_cast<std::int32_t>(reduction.op), reduction.value, reduction.local);
    count(instr.fetches.size());
    for (const Fetch& fetch : instr.fetches) {
      add(fetch.elements, fetch.for_stores ? 1 : 0, fetch.address.operand);
      terms(fetch.address);
    }
    block(instr.body);
    block(instr.other);
  }
  void terms(const Address& address) {
    count(address.terms.size());
    for (const Term& term : address.terms) add(term.index, term.stride);
  }

  std::vector<std::int32_t> words_;
};

}  // namespace

std::string serialize(const Kernel& kernel) { return Serializer().run(kernel); }

}  // namespace frit
