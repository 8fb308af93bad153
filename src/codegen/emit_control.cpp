// emit_control.cpp: loops, If and While: branches where all lanes agree, masks where they may not.
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/code.h"
#include "codegen/emitter.h"
#include "ir/error.h"

namespace frit::codegen {

using namespace llvm;

BasicBlock* Emitter::new_block(const char* name) {
  return BasicBlock::Create(context_, name, function_);
}

void Emitter::if_then(Value* condition, const std::function<void()>& then) {
  if_then_else(condition, then, nullptr);
}

void Emitter::if_then_else(Value* condition, const std::function<void()>& then,
                           const std::function<void()>& otherwise) {
  if (const auto* known = dyn_cast<ConstantInt>(condition)) {
    if (known->isOne())
      then();
    else if (otherwise)
      otherwise();
    return;
  }
  emit_if(builder_, condition, then, otherwise);
}

void Emitter::counted(Value* begin, Value* end, unsigned step,
                      const std::function<void(Value*)>& emit_body) {
  BasicBlock* from = builder_.GetInsertBlock();
  BasicBlock* loop = new_block("loop");
  BasicBlock* after = new_block("after");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), loop, after);
  builder_.SetInsertPoint(loop);
  PHINode* index = builder_.CreatePHI(int64_, 2);
  index->addIncoming(begin, from);
  emit_body(index);
  Value* next = builder_.CreateNSWAdd(index, int64(step));
  index->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), loop, after);
  builder_.SetInsertPoint(after);
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

// Short loops in order do several rounds at once. One load instruction for all rounds would also
// wait, once one of them read what the round before it wrote (hist[idx[i]] += w[i]), each time.
constexpr std::int64_t rounds_at_once = 8;

bool is_short(const Instr& loop) {
  constexpr std::size_t most = 10;
  return loop.body.size() <= most && none_of(loop.body, [](const Instr& instr) {
           return !instr.body.empty() || !instr.other.empty();
         });
}

bool has_loops(const Block& block) {
  return any_of(block, [](const Instr& instr) {
    return instr.kind == InstrKind::Loop || instr.kind == InstrKind::While ||
           has_loops(instr.body) || has_loops(instr.other);
  });
}

// Of loops without loops in them: so seldom, they look whether to stop.
constexpr std::int64_t rounds_between_looks = 1024;

}  // namespace

// Nothing is done but to end: what is computed by then may be no index.
void Emitter::stop_if_asked() {
  if (!stop_) return;
  if (!stopped_) {
    stopped_ = new_block("stopped");
    ReturnInst::Create(context_, stopped_);
  }
  LoadInst* asked = builder_.CreateLoad(builder_.getInt8Ty(), stop_);
  asked->setAlignment(Align(1));
  asked->setAtomic(AtomicOrdering::Monotonic);
  BasicBlock* next = new_block("next");
  Value* ends = builder_.CreateICmpEQ(asked, builder_.getInt8(asked_to_stop));
  builder_.CreateCondBr(ends, stopped_, next);
  builder_.SetInsertPoint(next);
}

void Emitter::loop(const Instr& instr) {
  Value* begin = instr.parallel ? function_->getArg(3) : value(instr.args[0]).part[0].scalar;
  Value* end = instr.parallel ? function_->getArg(4) : value(instr.args[1]).part[0].scalar;
  check(begin && end, "the bounds of a loop are uniform");
  // Inside, the loop runs at least once: that is what allows to hoist.
  if_then(builder_.CreateICmpSLT(begin, end), [&] {
    if (instr.vector) choose_lanes(instr);
    Accumulators accumulators = open_accumulators(instr);
    Frame inner{.index = instr.result,
                .independent = instr.vector || instr.parallel,
                .accumulators = &accumulators};
    in_frame(inner, [&] {
      if (instr.vector)
        vector_loop(instr, begin, end);
      else
        serial_loop(instr, begin, end);
    });
    for (Accumulator& accumulator : accumulators) close_accumulator(accumulator);
  });
}

void Emitter::in_frame(Frame inner, const std::function<void()>& emit_code) {
  inner.preheader = builder_.GetInsertBlock();
  BasicBlock* start = new_block("start");
  builder_.CreateBr(start);
  builder_.SetInsertPoint(start);
  frames_.push_back(inner);
  emit_code();
  frames_.pop_back();
}

void Emitter::body(const Instr& instr, Value* index, unsigned lanes) {
  const unsigned outer_lanes = lanes_;
  lanes_ = lanes;
  if (stop_ && has_loops(instr.body)) stop_if_asked();
  if (instr.vector && lanes > 1) {
    numbers_ = lane_numbers();
    if (count_) {
      Value* active = builder_.CreateICmpSLT(numbers_, builder_.CreateVectorSplat(lanes_, count_));
      numbers_ =
          builder_.CreateSelect(active, numbers_, Constant::getNullValue(numbers_->getType()));
    }
    define(instr, affine(index, int64(1)));
    if (!count_)
      for (const Fetch& what : instr.fetches) fetch(instr, what, index);
  } else {
    Emitted number{.level = level()};
    number.part[0].scalar = index;
    define(instr, number);
  }
  if (instr.vector) find_neighbours(instr);
  block(instr.body);
  for (Accumulator& accumulator : *frame().accumulators) accumulate(accumulator);
  lanes_ = outer_lanes;
}

void Emitter::serial_loop(const Instr& instr, Value* begin, Value* end) {
  Accumulators& accumulators = *frame().accumulators;
  if (any_of(accumulators, [](const Accumulator& a) { return a.order == Order::Tree; }))
    return tree(accumulators, begin, end,
                [&](Value* from, Value* to) { serial_leaf(instr, accumulators, from, to); });
  const Instr* ending = ending_if(instr);
  BasicBlock* ended = ending ? new_block("ended") : nullptr;
  const auto rounds = [&](Value* from, Value* to, unsigned count) {
    counted(from, to, count, [&](Value* index) {
      for (unsigned k = 0; k < count; ++k)
        body(instr, k ? builder_.CreateNSWAdd(index, int64(k)) : index, lanes_);
      if (!ending) return;
      BasicBlock* next = new_block("next");
      builder_.CreateCondBr(holds_anywhere(ending->args[0]), next, ended);
      builder_.SetInsertPoint(next);
    });
  };
  const auto all = [&](Value* from, Value* to) {
    if (!is_short(instr)) return rounds(from, to, 1);
    Value* count = builder_.CreateAnd(builder_.CreateSub(to, from), int64(-rounds_at_once));
    Value* middle = builder_.CreateAdd(from, count);
    rounds(from, middle, rounds_at_once);
    rounds(middle, to, 1);
  };
  if (!stop_ || has_loops(instr.body)) {
    all(begin, end);
  } else {
    counted(begin, end, rounds_between_looks, [&](Value* from) {
      stop_if_asked();
      Value* next = builder_.CreateNSWAdd(from, int64(rounds_between_looks));
      all(from, builder_.CreateSelect(builder_.CreateICmpSLT(next, end), next, end));
    });
  }
  if (!ending) return;
  builder_.CreateBr(ended);
  builder_.SetInsertPoint(ended);
}

// In one of the lanes that are active.
Value* Emitter::holds_anywhere(ValueId condition) {
  Value* holds = bool_condition(value(condition));
  if (!holds->getType()->isVectorTy()) {
    is_branchy_ = true;
    return holds;
  }
  return any(mask_ ? builder_.CreateAnd(mask_, holds) : holds);
}

void Emitter::vector_loop(const Instr& instr, Value* begin, Value* end) {
  Accumulators& accumulators = *frame().accumulators;
  if (alone_) return single_part(instr, begin, end);
  const std::vector<const Instr*> stores = streaming_stores(instr);
  // Of several rows side by side none is worth to be aligned.
  if (loads_much_ && stores.empty() && accumulators.empty() &&
      (once_ || unit_stores(instr).size() > 1))
    return whole_and_partial(instr, begin, end);
  if (once_) return partial_loop(instr, begin, end, stores);
  if (accumulators.empty())
    if (const auto aligning = stores.empty() ? unit_stores(instr) : stores; !aligning.empty())
      return peeled(instr, begin, end, aligning);
  // Parts begin at multiples of 8 elements behind the first, so what is aligned at the start stays
  // so.
  Value* aligned = stores.empty() ? nullptr : is_aligned(instr, stores, begin);
  if (any_of(accumulators, [](const Accumulator& a) { return a.order == Order::Tree; }))
    return tree(accumulators, begin, end, [&](Value* from, Value* to) {
      vector_leaf(instr, accumulators, from, to, aligned);
    });
  Value* middle = builder_.CreateAdd(begin, whole_vectors(begin, end));
  vector_part(instr, begin, middle, aligned);
  if (accumulators.empty())
    short_part(instr, middle, end);
  else
    single_part(instr, middle, end);
}

Value* Emitter::whole_vectors(Value* begin, Value* end) {
  Value* count = builder_.CreateSub(end, begin);
  return builder_.CreateAnd(count, int64(-static_cast<std::int64_t>(vector_lanes_)));
}

// `aligned` tells whether streaming stores are possible; null: there are none.
void Emitter::vector_part(const Instr& instr, Value* begin, Value* end, Value* aligned) {
  const auto emit_loop = [&] {
    counted(begin, end, vector_lanes_, [&](Value* index) { body(instr, index, vector_lanes_); });
  };
  if (!aligned) return emit_loop();
  const auto emit_streaming = [&] {
    streaming_ = true;
    emit_loop();
    streaming_ = false;
  };
  if_then_else(aligned, emit_streaming, emit_loop);
}

void Emitter::single_part(const Instr& instr, Value* begin, Value* end) {
  counted(begin, end, 1, [&](Value* index) { body(instr, index, 1); });
}

// At most vector_lanes_ - 1 iterations: in shorter vectors, then one by one. (A mask would be no
// faster, and what is loaded next from beside a masked store has to wait for it.)
void Emitter::short_part(const Instr& instr, Value* begin, Value* end) {
  const unsigned lanes = std::max(4u, vector_lanes_ / 4);
  if (lanes == vector_lanes_) return single_part(instr, begin, end);
  Value* count = builder_.CreateAnd(builder_.CreateSub(end, begin), int64(-std::int64_t{lanes}));
  Value* middle = builder_.CreateAdd(begin, count);
  const unsigned full_lanes = std::exchange(vector_lanes_, lanes);
  forget_splats();
  counted(begin, middle, lanes, [&](Value* index) { body(instr, index, lanes); });
  vector_lanes_ = full_lanes;
  forget_splats();
  single_part(instr, middle, end);
}

// ---- one body for all ---------------------------------------------------------------------------

// Or two, where to ask at each access would take as long as what is computed.
void Emitter::whole_and_partial(const Instr& instr, Value* begin, Value* end) {
  const auto emit_partial = [&](Value* from) {
    count_ = builder_.CreateSub(end, from);
    is_full_ = builder_.getFalse();
    body(instr, from, vector_lanes_);
    count_ = is_full_ = nullptr;
  };
  if (instr.repeats) {
    Value* last = builder_.CreateSub(end, int64(vector_lanes_));
    return if_then_else(
        builder_.CreateICmpSLE(begin, last), [&] { overlapping_part(instr, begin, end, last); },
        [&] { emit_partial(begin); });
  }
  Value* middle = builder_.CreateAdd(begin, whole_vectors(begin, end));
  vector_part(instr, begin, middle, nullptr);
  if_then(builder_.CreateICmpSLT(middle, end), [&] { emit_partial(middle); });
}

// Whole vectors alone: the last one, from `last` on, repeats what the one before has done already.
// Under a mask it would take as long as three.
void Emitter::overlapping_part(const Instr& instr, Value* begin, Value* end, Value* last) {
  const std::int64_t lanes = vector_lanes_;
  Value* count = builder_.CreateAdd(builder_.CreateSub(end, begin), int64(lanes - 1));
  Value* behind = builder_.CreateAdd(begin, builder_.CreateAnd(count, int64(-lanes)));
  counted(begin, behind, vector_lanes_, [&](Value* index) {
    Value* is_last = builder_.CreateICmpSLT(last, index);
    body(instr, builder_.CreateSelect(is_last, last, index), vector_lanes_);
  });
}

void Emitter::partial_loop(const Instr& instr, Value* begin, Value* end,
                           ArrayRef<const Instr*> stores) {
  Accumulators& accumulators = *frame().accumulators;
  const bool has_tree =
      any_of(accumulators, [](const Accumulator& a) { return a.order == Order::Tree; });
  aligned_ = nullptr;
  if (has_tree) {
    if (!stores.empty()) aligned_ = is_aligned(instr, stores, begin);
    tree(accumulators, begin, end, [&](Value* from, Value* to) {
      open_leaf(accumulators);
      partial_part(instr, from, to, int64(vector_lanes_));
      // Where the last iteration was a full one nobody has combined the accumulators yet.
      if_then(
          builder_.CreateICmpEQ(
              builder_.CreateAnd(builder_.CreateSub(to, from), int64(vector_lanes_ - 1)), int64(0)),
          [&] { combine_leaf(accumulators); });
    });
  } else if (stores.empty()) {
    partial_part(instr, begin, end, int64(vector_lanes_));
  } else {
    // A first iteration with as many lanes as bring the first store to an aligned address.
    Value* peel = distance_to_aligned(instr, *stores[0], begin);
    Value* none = builder_.CreateICmpEQ(peel, int64(0));
    Value* few = builder_.CreateICmpULT(peel, int64(vector_lanes_));
    Value* start = builder_.CreateAdd(begin, peel);
    aligned_ = builder_.CreateAnd(few, is_aligned(instr, stores, start));
    Value* first = builder_.CreateSelect(builder_.CreateOr(none, builder_.CreateNot(aligned_)),
                                         int64(vector_lanes_), peel);
    partial_part(instr, begin, end, first);
  }
  aligned_ = nullptr;
}

// `first_count`: how many lanes the first iteration has at most.
void Emitter::partial_part(const Instr& instr, Value* begin, Value* end, Value* first_count) {
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* loop = new_block("loop");
  BasicBlock* after = new_block("after");
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  PHINode* index = builder_.CreatePHI(int64_, 2);
  PHINode* most = builder_.CreatePHI(int64_, 2);
  Value* left = builder_.CreateSub(end, index);
  count_ = builder_.CreateSelect(builder_.CreateICmpSLT(left, most), left, most);
  is_full_ = builder_.CreateICmpEQ(count_, int64(vector_lanes_));
  Value* next = builder_.CreateAdd(index, count_);
  body(instr, index, vector_lanes_);
  count_ = is_full_ = nullptr;
  index->addIncoming(begin, before);
  most->addIncoming(first_count, before);
  index->addIncoming(next, builder_.GetInsertBlock());
  most->addIncoming(int64(vector_lanes_), builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), loop, after);
  builder_.SetInsertPoint(after);
}

// ---- aligned stores -----------------------------------------------------------------------------
// Streaming stores need aligned addresses, and others that cross lines of the cache take up to
// twice as long. A few iterations run first, until the first store is aligned; when the others are
// then too, the main part may stream. (NumPy's large arrays begin 16 bytes behind a page.)

namespace {

bool contains_definition(const Block& block, ValueId id) {
  return any_of(block, [&](const Instr& instr) {
    return instr.result == id || contains_definition(instr.body, id) ||
           contains_definition(instr.other, id);
  });
}

bool is_sum(const Instr& instr) {
  return instr.kind == InstrKind::Apply && (instr.op == Op::Add || instr.op == Op::Subtract);
}

// How far an index moves from one iteration to the next; nullopt: it is no sum of the loop's own
// and of what comes from outside of the loop.
std::optional<int> step_of(const Instr& loop, ValueId id) {
  if (id == loop.result) return 1;
  if (!contains_definition(loop.body, id)) return 0;
  const Instr* sum = definition_in(loop.body, id);
  if (!sum || !is_sum(*sum)) return std::nullopt;
  const std::optional<int> x = step_of(loop, sum->args[0]), y = step_of(loop, sum->args[1]);
  if (!x || !y) return std::nullopt;
  return sum->op == Op::Add ? *x + *y : *x - *y;
}

}  // namespace

std::vector<const Instr*> Emitter::streaming_stores(const Instr& loop) {
  std::vector<const Instr*> found;
  if (machine_.is_x86) found = unit_stores(loop);
  std::erase_if(found, [](const Instr* store) { return !store->streaming; });
  return found;
}

std::int64_t Emitter::element_bytes(const Instr& access) const {
  return size_of(kernel_.operands[static_cast<std::size_t>(access.address.operand)].dtype);
}

// Stores of elements that lie side by side.
std::vector<const Instr*> Emitter::unit_stores(const Instr& loop) {
  std::vector<const Instr*> found;
  for (const Instr& instr : loop.body) {
    if (instr.kind != InstrKind::Store) continue;
    bool can = true, moves = false;
    for (const Term& term : instr.address.terms) {
      const std::optional<int> step = step_of(loop, term.index);
      can &= step == 0 || (step == 1 && term.stride == unit_stride && !moves);
      moves |= step == 1;
    }
    if (can && moves && vector_lanes_ * element_bytes(instr) >= 16) found.push_back(&instr);
  }
  return found;
}

// The address, as an integer, of what `store` writes in iteration `index` of the innermost loop.
Value* Emitter::address_at(const Instr& loop, const Instr& store, Value* index) {
  Value* pointer = operand_pointers_[static_cast<std::size_t>(store.address.operand)];
  for (const Term& term : store.address.terms) {
    pointer = along(pointer, store.address, term, index_at(loop, term.index, index));
  }
  return builder_.CreatePtrToInt(pointer, int64_);
}

Value* Emitter::index_at(const Instr& loop, ValueId id, Value* index) {
  if (id == loop.result) return index;
  const Instr* sum = definition_in(loop.body, id);
  if (!sum) return value(id).part[0].scalar;
  Value *x = index_at(loop, sum->args[0], index), *y = index_at(loop, sum->args[1], index);
  return sum->op == Op::Add ? builder_.CreateAdd(x, y) : builder_.CreateSub(x, y);
}

Value* Emitter::is_aligned(const Instr& loop, ArrayRef<const Instr*> stores, Value* index) {
  Value* bits = int64(0);
  for (const Instr* store : stores) bits = builder_.CreateOr(bits, address_at(loop, *store, index));
  Value* low = builder_.CreateAnd(bits, int64(machine_.vector_bytes - 1));
  return builder_.CreateICmpEQ(low, int64(0));
}

// In iterations.
Value* Emitter::distance_to_aligned(const Instr& loop, const Instr& store, Value* index) {
  Value* bytes = builder_.CreateAnd(builder_.CreateNeg(address_at(loop, store, index)),
                                    int64(machine_.vector_bytes - 1));
  return builder_.CreateUDiv(bytes, int64(element_bytes(store)));
}

// Long enough? for two rounds: { few over [from, to); after the first round: the main part }
// Otherwise: the main part, and a second round.
void Emitter::peeled(const Instr& instr, Value* begin, Value* end, ArrayRef<const Instr*> stores) {
  const bool streams = stores[0]->streaming;
  // What fewer stores would gain, the first round takes.
  const std::int64_t fewest = streams ? 1 : 8 * machine_.vector_bytes / element_bytes(*stores[0]);
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* measure = new_block("measure");
  BasicBlock* round = new_block("round");
  BasicBlock* main = new_block("main");
  BasicBlock* after = new_block("after");
  Value* count = builder_.CreateSub(end, begin);
  builder_.CreateCondBr(builder_.CreateICmpSLT(count, int64(fewest)), main, measure);

  builder_.SetInsertPoint(measure);
  Value* wanted = distance_to_aligned(instr, *stores[0], begin);
  Value* peel = builder_.CreateSelect(builder_.CreateICmpSLT(wanted, count), wanted, count);
  Value* first = builder_.CreateAdd(begin, peel);
  builder_.CreateCondBr(builder_.CreateICmpEQ(peel, int64(0)), main, round);

  builder_.SetInsertPoint(round);
  PHINode* from = builder_.CreatePHI(int64_, 2);
  PHINode* to = builder_.CreatePHI(int64_, 2);
  PHINode* last = builder_.CreatePHI(bool_, 2);
  if (streams)
    single_part(instr, from, to);
  else
    short_part(instr, from, to);
  BasicBlock* round_end = builder_.GetInsertBlock();
  builder_.CreateCondBr(last, after, main);

  builder_.SetInsertPoint(main);
  PHINode* start = builder_.CreatePHI(int64_, 3);
  start->addIncoming(begin, before);
  start->addIncoming(begin, measure);
  start->addIncoming(to, round_end);
  Value* middle = builder_.CreateAdd(start, whole_vectors(start, end));
  vector_part(instr, start, middle, streams ? is_aligned(instr, stores, start) : nullptr);
  from->addIncoming(begin, measure);
  to->addIncoming(first, measure);
  last->addIncoming(builder_.getFalse(), measure);
  from->addIncoming(middle, builder_.GetInsertBlock());
  to->addIncoming(end, builder_.GetInsertBlock());
  last->addIncoming(builder_.getTrue(), builder_.GetInsertBlock());
  builder_.CreateBr(round);
  builder_.SetInsertPoint(after);
}

// ---- If and While -------------------------------------------------------------------------------

void Emitter::controlled(const Block& instructions) {
  ++frame().control;
  block(instructions);
  --frame().control;
}

void Emitter::branch_if(const Instr& instr) {
  Value* condition = bool_condition(value(instr.args[0]));
  if (!condition->getType()->isVectorTy()) {
    if (instr.fails && while_end_) return leave_if(condition, instr.body);
    const auto otherwise = [&] { controlled(instr.other); };
    if_then_else(
        condition, [&] { controlled(instr.body); },
        instr.other.empty() ? std::function<void()>() : otherwise);
    return;
  }
  Value* not_taken = builder_.CreateNot(condition);
  Value* around = mask_;
  const bool is_flat = flat_.contains(&instr);
  const auto part = [&](const Block& instructions, Value* mask) {
    const bool was_flat = std::exchange(is_flat_, is_flat);
    masked_block(instructions, around ? builder_.CreateAnd(around, mask) : mask);
    is_flat_ = was_flat;
  };
  part(instr.body, condition);
  if (!instr.other.empty()) part(instr.other, not_taken);
}

void Emitter::masked_block(const Block& instructions, Value* mask) {
  const auto emit_block = [&] {
    Value* around = mask_;
    mask_ = mask;
    controlled(instructions);
    mask_ = around;
  };
  if (is_flat_)
    emit_block();
  else
    if_then(any(mask), emit_block);
}

void Emitter::while_loop(const Instr& instr) {
  if (lanes_ > 1 && variance_.locals[static_cast<std::size_t>(instr.number)])
    masked_while(instr);
  else
    scalar_while(instr);
}

// Behind it the condition is known not to hold.
void Emitter::leave_if(Value* condition, const Block& instructions) {
  BasicBlock* leaving = new_block("leaving");
  BasicBlock* next = new_block("next");
  builder_.CreateCondBr(condition, leaving, next,
                        MDBuilder(context_).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(leaving);
  controlled(instructions);
  builder_.CreateBr(while_end_);
  builder_.SetInsertPoint(next);
}

Value* Emitter::goes_on(const Instr& instr) {
  controlled(instr.other);
  Emitted read = load_local(instr.number);
  return bool_condition(read);
}

// All lanes go on until none does.
void Emitter::masked_while(const Instr& instr) {
  Value* around = mask_;
  BasicBlock* const end_around = std::exchange(while_end_, nullptr);
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* test = new_block("while");
  BasicBlock* inside = new_block("inside");
  BasicBlock* after = new_block("after");
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  Type* type = lanes_type(bool_, lanes_);
  PHINode* alive = builder_.CreatePHI(type, 2);
  alive->addIncoming(around ? around : Constant::getAllOnesValue(type), before);
  mask_ = alive;
  stop_if_asked();
  Value* condition = mask_ = builder_.CreateAnd(alive, goes_on(instr));
  builder_.CreateCondBr(any(condition), inside, after);
  builder_.SetInsertPoint(inside);
  controlled(instr.body);
  alive->addIncoming(condition, builder_.GetInsertBlock());
  builder_.CreateBr(test);
  builder_.SetInsertPoint(after);
  mask_ = around;
  while_end_ = end_around;
}

// The condition stands before the loop and at its end: what one round has loaded or stored for the
// next one stays in registers. For the same reason it looks whether to stop between runs of rounds.
void Emitter::scalar_while(const Instr& instr) {
  is_branchy_ = true;
  const bool looks = stop_ && instr.rounds == 0;
  const bool in_runs = looks && !has_loops(instr.other) && !has_loops(instr.body);
  BasicBlock* run = new_block("run");
  BasicBlock* inside = new_block("inside");
  BasicBlock* next = new_block("round");
  BasicBlock* after = new_block("after");
  BasicBlock* const end_around = std::exchange(while_end_, after);
  builder_.CreateCondBr(goes_on(instr), run, after);
  builder_.SetInsertPoint(run);
  if (looks && !in_runs) stop_if_asked();
  BasicBlock* start = builder_.GetInsertBlock();
  builder_.CreateBr(inside);
  builder_.SetInsertPoint(inside);
  PHINode* left = in_runs ? builder_.CreatePHI(builder_.getInt64Ty(), 2) : nullptr;
  controlled(instr.body);
  builder_.CreateCondBr(goes_on(instr), next, after);
  builder_.SetInsertPoint(next);
  if (in_runs) {
    Value* fewer = builder_.CreateSub(left, int64(1));
    left->addIncoming(int64(rounds_between_looks), start);
    left->addIncoming(fewer, next);
    BasicBlock* look = new_block("look");
    builder_.CreateCondBr(builder_.CreateICmpEQ(fewer, int64(0)), look, inside);
    builder_.SetInsertPoint(look);
    stop_if_asked();
  }
  builder_.CreateBr(run);
  builder_.SetInsertPoint(after);
  while_end_ = end_around;
}

}  // namespace frit::codegen
