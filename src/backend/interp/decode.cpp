// decode.cpp: In: a Kernel. Out: a Program: registers by liveness, accesses without copies.
//
// Two walks in the same order, which number instructions and loop ends by position. The survey
// finds how often and until which position each value is used; the second walk gives out registers
// and writes the steps.
//
// An Apply whose only use is a store (or a write of a local) behind it in the same block is done
// there, so that it can write to its destination; kernel.h's values never change, so doing it later
// gives the same result.
#include <algorithm>
#include <utility>

#include "backend/interp/frame.h"
#include "backend/interp/program.h"
#include "backend/interp/survey.h"
#include "ir/error.h"

namespace frit::interp {
namespace {

class Decoder {
 public:
  explicit Decoder(const Kernel& kernel)
      : kernel_(kernel),
        variance_(variance_of(kernel)),
        survey_(survey(kernel, variance_)),
        first_constant_(kernel.integers + static_cast<std::int32_t>(kernel.scalars.size())),
        frame_(first_constant_ + survey_.constants),
        registers_(kernel.values.size(), no_register),
        blocks_(kernel.values.size(), no_register),
        next_dying_(kernel.values.size(), no_value),
        dying_(at(survey_.positions + 1), no_value),
        step_numbers_(kernel.values.size(), -1),
        is_direct_(kernel.values.size(), 0),
        local_registers_(kernel.locals.size(), no_register) {}

  Program run() {
    program_.may_stop = kernel_.may_stop;
    program_.operands = kernel_.operands;
    program_.integers = kernel_.integers;
    program_.scalars = static_cast<std::int32_t>(kernel_.scalars.size());
    program_.constants.reserve(at(survey_.constants));
    program_.steps.reserve(at(survey_.positions));
    for (std::size_t k = 0; k < kernel_.locals.size(); ++k)
      if (!variance_.locals[k]) local_registers_[k] = frame_.uniform();
    walk(kernel_.code, {});
    place_frame();
    return std::move(program_);
  }

 private:
  struct Place {
    ValueId lane_index = no_value;  // of the vector loop around
    bool in_region = false;
  };

  bool varies(ValueId id) const { return variance_.values[at(id)]; }
  DType type(ValueId id) const { return kernel_.values[at(id)]; }
  int size(ValueId id) const { return size_of(type(id)); }
  const ValueFacts& facts(ValueId id) const { return survey_.values[at(id)]; }
  Register reg(ValueId id) const { return registers_[at(id)]; }

  void walk(const Block& block, Place place) {
    for (const Instr& instr : block) {
      ++position_;
      visit(instr, place);
    }
  }

  void visit(const Instr& instr, Place place) {
    const Position here = position_;
    switch (instr.kind) {
      case InstrKind::Constant:
        registers_[at(instr.result)] =
            first_constant_ + static_cast<Register>(program_.constants.size());
        program_.constants.push_back(instr.constant);
        return;
      case InstrKind::ScalarArg:
        registers_[at(instr.result)] = kernel_.integers + instr.number;
        return;
      case InstrKind::IntegerArg:
        registers_[at(instr.result)] = instr.number;
        return;
      case InstrKind::Apply:
      case InstrKind::Cast:
        if (facts(instr.result).uses == 0 || is_postponed(instr.result)) break;
        apply(instr);
        break;
      case InstrKind::Load:
        if (facts(instr.result).uses == 0) break;
        load(instr, place);
        break;
      case InstrKind::Store:
        store(instr, place);
        break;
      case InstrKind::ReadLocal:
        if (facts(instr.result).uses == 0) break;
        read_local(instr);
        break;
      case InstrKind::WriteLocal:
        write_local(instr);
        break;
      case InstrKind::Loop:
        loop(instr, place);
        break;
      case InstrKind::If:
        branch(instr, place);
        break;
      case InstrKind::While:
        while_loop(instr, place);
        break;
    }
    release_dying(here);
    if (position_ != here) release_dying(position_);
  }

  // ---- registers of values ----
  void own_block(ValueId id, Register block) {
    blocks_[at(id)] = block;
    const Position death = std::max(facts(id).death, position_);
    next_dying_[at(id)] = dying_[at(death)];
    dying_[at(death)] = id;
  }
  void release_dying(Position here) {
    for (ValueId id = dying_[at(here)]; id != no_value; id = next_dying_[at(id)]) release(id);
    dying_[at(here)] = no_value;
  }
  void release(ValueId id) {
    if (blocks_[at(id)] != no_register) frame_.give_block(blocks_[at(id)]);
    blocks_[at(id)] = no_register;
  }
  Register new_value(ValueId id) {
    if (!varies(id)) return registers_[at(id)] = frame_.uniform();
    const Register block = frame_.take_block(size(id));
    own_block(id, block);
    return registers_[at(id)] = block;
  }
  // The result may take over the block of an operand that dies here, if its elements have the same
  // size.
  void release_operands(const Instr& instr) {
    for (ValueId arg : instr.args)
      if (arg != no_value && facts(arg).death == position_ && blocks_[at(arg)] != no_register &&
          frame_.is_of_size(blocks_[at(arg)], size(instr.result)))
        release(arg);
  }
  // Done where its only use stands.
  bool is_postponed(ValueId id) const { return facts(id).consumed_in_place && facts(id).uses == 1; }

  // ---- Apply and Cast ----
  Step function_step(const Instr& instr) const {
    Step step{.kind = varies(instr.result) ? StepKind::Apply : StepKind::ApplyOnce};
    step.size = static_cast<std::uint8_t>(size(instr.result));
    for (int k = 0; k < 3 && instr.args[k] != no_value; ++k) {
      step.in[k] = reg(instr.args[k]);
      if (!varies(instr.args[k])) step.splat = static_cast<std::uint8_t>(step.splat | (1 << k));
      step.inputs = static_cast<std::uint8_t>(k + 1);
    }
    for (int k = step.inputs; k < 3; ++k) step.in[k] = step.in[0];
    if (instr.kind == InstrKind::Cast) {
      step.function = cast_loop(type(instr.args[0]), type(instr.result));
    } else {
      const DType in = type(instr.args[info(instr.op).rule == TypeRule::Select]);
      step.function = frit::loop(instr.math, instr.op, in);
      step.is_silent = is_inexact(in) && !may_warn(instr.op, in);
    }
    const bool is_copy = instr.kind == InstrKind::Cast && type(instr.args[0]) == type(instr.result);
    check(is_copy || step.function != nullptr, "the op table has a loop for each formula");
    return step;
  }
  void apply(const Instr& instr) {
    const Step step = function_step(instr);
    if (step.kind != StepKind::ApplyOnce) release_operands(instr);
    apply(instr, step);
  }
  void apply(const Instr& instr, Step step) {
    if (step.kind == StepKind::ApplyOnce) step.kind = integer_kind(instr);
    if (instr.kind == InstrKind::Cast && type(instr.args[0]) == type(instr.result))
      step.kind = step.kind == StepKind::Apply ? StepKind::Copy : StepKind::CopyOnce;
    step.out = new_value(instr.result);
    step_numbers_[at(instr.result)] = add(step);
  }
  StepKind integer_kind(const Instr& instr) const {
    if (instr.kind != InstrKind::Apply || type(instr.result) != DType::Int64 ||
        type(instr.args[0]) != DType::Int64)
      return StepKind::ApplyOnce;
    if (instr.op == Op::Add) return StepKind::AddIntegers;
    if (instr.op == Op::Subtract) return StepKind::SubtractIntegers;
    if (instr.op == Op::Multiply) return StepKind::MultiplyIntegers;
    return StepKind::ApplyOnce;
  }

  // ---- memory ----
  std::int32_t access(const Address& address, Place place) {
    Access access{.operand = address.operand,
                  .first_term = static_cast<std::int32_t>(program_.terms.size())};
    const auto is_lane = [&](const Term& t) { return t.index == place.lane_index; };
    for (const Term& term : address.terms)
      if (!is_lane(term) && !varies(term.index)) {
        program_.terms.push_back({reg(term.index), term.stride});
        ++access.uniform_terms;
      }
    for (const Term& term : address.terms)
      if (is_lane(term)) {
        program_.terms.push_back({no_register, term.stride});
        ++access.lane_terms;
      }
    for (const Term& term : address.terms)
      if (!is_lane(term) && varies(term.index)) {
        program_.terms.push_back({reg(term.index), term.stride});
        ++access.varying_terms;
      }
    program_.accesses.push_back(access);
    return static_cast<std::int32_t>(program_.accesses.size()) - 1;
  }
  static bool is_contiguous(const Address& address, Place place) {
    int lane_terms = 0;
    bool unit = true;
    for (const Term& term : address.terms)
      if (term.index == place.lane_index) {
        ++lane_terms;
        unit &= term.stride == unit_stride;
      }
    return lane_terms == 1 && unit;
  }

  void load(const Instr& instr, Place place) {
    const ValueId id = instr.result;
    Step step{.kind = StepKind::LoadOnce, .size = static_cast<std::uint8_t>(size(id))};
    step.access = access(instr.address, place);
    const Access& from = program_.accesses.back();
    if (!varies(id)) {
      step.out = new_value(id);
    } else if (from.varying_terms > 0) {
      step.kind = StepKind::Gather;
      step.out = new_value(id);
      needs_temporaries_ = true;
    } else {
      step.kind = StepKind::Load;
      const bool may_change = facts(id).next_write < facts(id).death;
      if (may_change || place.in_region || !is_contiguous(instr.address, place)) {
        step.spare = frame_.take_block(size(id));
        own_block(id, step.spare);
      }
      step.out = registers_[at(id)] = frame_.direct();
      if (may_change) directs_.push_back({id, {step.out, step.spare, size(id)}});
      is_direct_[at(id)] = step.spare == no_register;
      stream_bytes_ += size(id);
    }
    add(step);
  }

  // The direct values that are needed behind this position.
  template <class T>
  void add_hazards(T& owner) {
    std::erase_if(directs_, [&](const Direct& d) { return facts(d.value).death <= position_; });
    owner.hazards = static_cast<std::int32_t>(program_.hazards.size());
    owner.hazard_count = static_cast<std::int32_t>(directs_.size());
    for (const Direct& direct : directs_) program_.hazards.push_back(direct.hazard);
  }

  void store(const Instr& instr, Place place) {
    const ValueId id = instr.args[0];
    const bool is_lane_store =
        varies(id) || std::any_of(instr.address.terms.begin(), instr.address.terms.end(),
                                  [&](const Term& t) { return varies(t.index); });
    const bool postponed = is_postponed(id);
    const std::int32_t to = access(instr.address, place);
    const bool is_scatter = program_.accesses.back().varying_terms > 0;
    if (postponed && is_scatter) {
      // Its operands stay: they may be indices of the store.
      apply(*facts(id).definition, function_step(*facts(id).definition));
    } else if (postponed) {
      Step step = function_step(*facts(id).definition);
      step.kind = StepKind::ApplyStore;
      step.access = to;
      add_hazards(step);
      if (place.in_region || !is_contiguous(instr.address, place))
        step.spare = brief_block(size(id));
      else
        chain(id, step);
      stream_bytes_ += size(id);
      add(step);
      return;
    }
    if (is_lane_store && !is_scatter && !place.in_region && moves(id, instr.address, place)) {
      program_.steps.back().kind = StepKind::Move;
      program_.steps.back().detail = to;
      stream_bytes_ += size(id);
      return;
    }
    Step step{.kind = StepKind::StoreOnce, .inputs = 1};
    if (is_scatter)
      step.kind = StepKind::Scatter;
    else if (is_lane_store)
      step.kind = StepKind::Store;
    needs_temporaries_ |= is_scatter;
    step.size = static_cast<std::uint8_t>(size(id));
    step.splat = varies(id) ? 0 : 1;
    step.in[0] = reg(id);
    step.access = to;
    add_hazards(step);
    if (is_lane_store) stream_bytes_ += size(id);
    add(step);
  }
  // Was this just loaded, for this store alone?
  bool moves(ValueId id, const Address& to, Place place) const {
    const Step& load = program_.steps.back();
    return load.kind == StepKind::Load && load.out == reg(id) && load.spare != no_register &&
           facts(id).uses == 1 && is_contiguous(to, place) && directs_.empty();
  }
  // `step` applies an op to what the same op made of rows before, as sums of rows do: rows whose
  // elements lie side by side are taken together.
  void chain(ValueId id, Step& step) {
    const Instr& last = *facts(id).definition;
    if (last.kind != InstrKind::Apply) return;
    Chain chain{.loops = chain_loops(last.op, type(last.args[0]))};
    if (!chain.loops.chain) return;
    std::int32_t links[chain_length];
    ValueId sum = id;
    for (int k = chain_length - 1; k >= 0; --k) {
      const Instr* link = facts(sum).definition;
      if (!link || link->kind != InstrKind::Apply || link->op != last.op || facts(sum).uses != 1 ||
          facts(sum).block != facts(id).block || !stays_in_memory(link->args[1]))
        return;
      chain.rows[k] = reg(link->args[1]);
      links[k] = step_numbers_[at(sum)];
      sum = link->args[0];
    }
    if (!stays_in_memory(sum)) return;
    for (int k = chain_length - 2; k >= 0; --k) erase_step(links[k]);
    step.kind = StepKind::ApplyChain;
    step.in[0] = reg(sum);
    step.detail = static_cast<std::int32_t>(program_.chains.size());
    program_.chains.push_back(chain);
  }
  // Until this position: a load that copied nothing.
  bool stays_in_memory(ValueId id) const {
    return is_direct_[at(id)] && facts(id).next_write >= position_;
  }
  void erase_step(std::int32_t number) {
    program_.steps.erase(program_.steps.begin() + number);
    for (std::int32_t& other : step_numbers_) other -= other > number;
  }
  // A block that is free again behind this instruction.
  Register brief_block(int bytes) {
    const Register block = frame_.take_block(bytes);
    brief_.push_back(block);
    return block;
  }

  // ---- locals ----
  void read_local(const Instr& instr) {
    const Register local = local_registers_[at(instr.number)];
    if (facts(instr.result).next_write >= facts(instr.result).death) {
      registers_[at(instr.result)] = local;
      return;
    }
    Step step{.kind = varies(instr.result) ? StepKind::Copy : StepKind::CopyOnce, .inputs = 1};
    step.size = static_cast<std::uint8_t>(size(instr.result));
    step.in[0] = local;
    step.out = new_value(instr.result);
    add(step);
  }
  void write_local(const Instr& instr) {
    const ValueId id = instr.args[0];
    const Register local = local_registers_[at(instr.number)];
    if (is_postponed(id)) {
      Step step = function_step(*facts(id).definition);
      step.kind = StepKind::ApplyWrite;
      step.out = local;
      add(step);
      return;
    }
    Step step{.kind = variance_.locals[at(instr.number)] ? StepKind::Write : StepKind::CopyOnce,
              .inputs = 1};
    step.size = static_cast<std::uint8_t>(size(id));
    step.splat = varies(id) ? 0 : 1;
    step.in[0] = reg(id);
    step.out = local;
    add(step);
  }

  // ---- control ----
  void loop(const Instr& instr, Place place) {
    LoopDetail detail{.parallel = instr.parallel, .vector = instr.vector};
    if (!instr.parallel) {
      detail.begin = reg(instr.args[0]);
      detail.end = reg(instr.args[1]);
    }
    const std::int32_t first_step = add({.kind = StepKind::Loop});
    const auto number = static_cast<std::int32_t>(program_.loops.size());
    program_.loops.push_back(detail);
    const Position end = survey_.loop_ends[at(loops_seen_++)];
    if (!instr.vector)
      detail.index = registers_[at(instr.result)] = frame_.uniform();
    else if (facts(instr.result).uses > 0)
      detail.index = registers_[at(instr.result)] = frame_.take_block(8);
    if (instr.vector) {
      take_locals(end);
      place.lane_index = instr.result;
    }
    const Instr* const around = std::exchange(ending_, ending_if(instr));
    walk(instr.body, place);
    ending_ = around;
    ++position_;
    add_reductions(instr, detail);
    if (instr.vector) {
      if (detail.index != no_register) frame_.give_block(detail.index);
      give_locals();
      directs_.clear();
    }
    Step& step = program_.steps[at(first_step)];
    step.detail = number;
    step.end = static_cast<std::int32_t>(program_.steps.size());
    program_.loops[at(number)] = detail;
  }
  // Lanes' locals keep their blocks for the whole vector loop: their content outlives an iteration
  // of the loops inside.
  void take_locals(Position end) {
    for (std::size_t k = 0; k < kernel_.locals.size(); ++k)
      if (variance_.locals[k] && survey_.local_first[k] <= end &&
          survey_.local_last[k] >= position_)
        local_registers_[k] = frame_.take_block(size_of(kernel_.locals[k]));
  }
  void give_locals() {
    for (std::size_t k = 0; k < kernel_.locals.size(); ++k)
      if (variance_.locals[k] && local_registers_[k] != no_register) {
        frame_.give_block(local_registers_[k]);
        local_registers_[k] = no_register;
      }
  }
  void add_reductions(const Instr& instr, LoopDetail& detail) {
    detail.first_reduction = static_cast<std::int32_t>(program_.reductions.size());
    detail.reduction_count = static_cast<std::int32_t>(instr.reductions.size());
    for (const Reduction& reduction : instr.reductions) {
      if (tree_class(reduction.op, type(reduction.value)) != 0)
        detail.tree = static_cast<std::int32_t>(program_.reductions.size());
      program_.reductions.push_back(reduction_detail(reduction, instr.vector));
    }
    needs_temporaries_ |= detail.reduction_count > 0;
  }
  ReductionDetail reduction_detail(const Reduction& reduction, bool vector) const {
    const DType dtype = type(reduction.value);
    ReductionDetail detail;
    detail.order = tree_class(reduction.op, dtype) != 0        ? ReductionOrder::Tree
                   : reduces_in_any_order(reduction.op, dtype) ? ReductionOrder::Any
                                                               : ReductionOrder::OneAfterAnother;
    detail.value_varies = varies(reduction.value);
    detail.local_varies = variance_.locals[at(reduction.local)];
    const bool widened = detail.order == ReductionOrder::Tree && dtype == DType::Float16;
    detail.tree_dtype = widened ? DType::Float32 : dtype;
    detail.size = static_cast<std::uint8_t>(size_of(dtype));
    detail.tree_size = static_cast<std::uint8_t>(size_of(detail.tree_dtype));
    detail.value = reg(reduction.value);
    detail.local = local_registers_[at(reduction.local)];
    detail.combine = frit::loop(reduction.op, dtype);
    detail.combine_tree = frit::loop(reduction.op, detail.tree_dtype);
    if (widened) {
      detail.widen = cast_loop(DType::Float16, DType::Float32);
      detail.narrow = cast_loop(DType::Float32, DType::Float16);
    }
    detail.reduce = reduce_loop(reduction.op, detail.tree_dtype);
    detail.scan = scan_loop(reduction.op, dtype);
    check(!vector || (detail.order == ReductionOrder::OneAfterAnother ? detail.scan != nullptr
                                                                      : detail.reduce != nullptr),
          "the op table has a reduction loop for each reduction");
    return detail;
  }

  // ---- branches ----
  // Between begin_region and end_region the steps of one region are written.
  std::int32_t begin_region() {
    const RegionFacts& uses = survey_.regions[at(regions_seen_++)];
    Region region{.first_packed = static_cast<std::int32_t>(program_.packed.size())};
    for (const RegionFacts::Local& local : uses.locals)
      if (variance_.locals[at(local.number)])
        pack(region, local_registers_[at(local.number)], size_of(kernel_.locals[at(local.number)]),
             local.written);
    for (ValueId id : uses.values) pack(region, reg(id), size(id), false);
    add_hazards(region);
    region.places = frame_.take_block(4);
    program_.regions.push_back(region);
    return static_cast<std::int32_t>(program_.regions.size()) - 1;
  }
  // Several values may share one register: a local and those read from it.
  void pack(Region& region, Register outside, int bytes, bool written) {
    const auto end = program_.packed.end();
    if (std::any_of(end - region.packed_count, end,
                    [&](const Packed& p) { return p.outside == outside; }))
      return;
    program_.packed.push_back({outside, frame_.take_block(bytes), bytes, written});
    ++region.packed_count;
  }
  void end_region(std::int32_t number) {
    const Region& region = program_.regions[at(number)];
    for (std::int32_t k = 0; k < region.packed_count; ++k)
      frame_.give_block(program_.packed[at(region.first_packed + k)].block);
    frame_.give_block(region.places);
  }

  void branch(const Instr& instr, Place place) {
    if (varies(instr.args[0])) return branch_by_lane(instr, place);
    const std::int32_t first = add({.kind = StepKind::If, .ends_loop = &instr == ending_});
    program_.steps[at(first)].in[0] = reg(instr.args[0]);
    walk(instr.body, place);
    program_.steps[at(first)].middle = static_cast<std::int32_t>(program_.steps.size());
    walk(instr.other, place);
    program_.steps[at(first)].end = static_cast<std::int32_t>(program_.steps.size());
  }
  void branch_by_lane(const Instr& instr, Place place) {
    place.in_region = true;
    const std::int32_t first = add({.kind = StepKind::IfLanes, .ends_loop = &instr == ending_});
    program_.steps[at(first)].in[0] = reg(instr.args[0]);
    LaneBranch lanes{.chosen = frame_.take_block(4), .rest = frame_.take_block(4)};
    lanes.region = begin_region();
    walk(instr.body, place);
    end_region(lanes.region);
    program_.steps[at(first)].middle = static_cast<std::int32_t>(program_.steps.size());
    lanes.other = begin_region();
    walk(instr.other, place);
    end_region(lanes.other);
    end_branch(first, lanes);
  }
  void end_branch(std::int32_t first, const LaneBranch& lanes) {
    for (Register block : {lanes.chosen, lanes.rest, lanes.homes})
      if (block != no_register) frame_.give_block(block);
    Step& step = program_.steps[at(first)];
    step.detail = static_cast<std::int32_t>(program_.branches.size());
    step.end = static_cast<std::int32_t>(program_.steps.size());
    program_.branches.push_back(lanes);
  }

  void while_loop(const Instr& instr, Place place) {
    const bool by_lane = variance_.locals[at(instr.number)];
    const std::int32_t first = add({.kind = by_lane ? StepKind::WhileLanes : StepKind::While});
    program_.steps[at(first)].in[0] = local_registers_[at(instr.number)];
    ++loops_seen_;
    LaneBranch lanes;
    if (by_lane) {
      place.in_region = has_lane_loop_ = true;
      lanes = {.chosen = frame_.take_block(4),
               .rest = frame_.take_block(4),
               .homes = frame_.take_block(4)};
      lanes.region = begin_region();
    }
    walk(instr.other, place);
    program_.steps[at(first)].middle = static_cast<std::int32_t>(program_.steps.size());
    walk(instr.body, place);
    ++position_;
    if (by_lane) {
      end_region(lanes.region);
      return end_branch(first, lanes);
    }
    program_.steps[at(first)].end = static_cast<std::int32_t>(program_.steps.size());
  }

  std::int32_t add(const Step& step) {
    program_.steps.push_back(step);
    for (Register block : brief_) frame_.give_block(block);
    brief_.clear();
    return static_cast<std::int32_t>(program_.steps.size()) - 1;
  }

  // As many lanes as keep the live blocks, and the memory that passes by, in the first-level cache.
  void place_frame() {
    constexpr std::int32_t fewest = 256, most = 2048;
    // Loops that lanes leave one by one want many lanes, so that enough remain for a while.
    const std::int32_t cache_bytes = (has_lane_loop_ ? 96 : 28) * 1024;
    const std::int32_t bytes = frame_.bytes_per_lane() + std::min(stream_bytes_, 64) + 1;
    program_.lanes = std::clamp((cache_bytes / bytes) & ~63, fewest, most);
    program_.frame_bytes = frame_.place(program_.lanes, program_.frame_offsets);
    program_.temporary_bytes = needs_temporaries_ ? program_.lanes * 16 + 64 : 0;
  }

  struct Direct {
    ValueId value;
    Hazard hazard;
  };

  const Kernel& kernel_;
  const Variance variance_;
  const Survey survey_;
  const Register first_constant_;
  Frame frame_;
  Program program_;
  std::vector<Register> registers_;          // of values
  std::vector<Register> blocks_;             // that values own
  std::vector<ValueId> next_dying_, dying_;  // lists of values by the position of their last use
  std::vector<std::int32_t> step_numbers_;   // of values that an Apply made
  std::vector<char> is_direct_;              // of values: loaded, without room for a copy
  std::vector<Register> local_registers_;
  std::vector<Register> brief_;
  std::vector<Direct> directs_;
  const Instr* ending_ = nullptr;  // of the innermost loop
  std::int32_t stream_bytes_ = 0;
  std::int32_t loops_seen_ = 0, regions_seen_ = 0;
  Position position_ = 0;
  bool needs_temporaries_ = false, has_lane_loop_ = false;
};

}  // namespace

Program decode(const Kernel& kernel) { return Decoder(kernel).run(); }

}  // namespace frit::interp
