// nest_launch_loops.cpp: loops inside of a launch: in order, as lanes, as wavefronts, unrolled.
#include <algorithm>

#include "ir/error.h"
#include "schedule/nest_launch.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

std::pair<ValueId, ValueId> LaunchWriter::range_of(const PlanNode& node) {
  const auto known = ranges_.find(node.loop);
  if (known != ranges_.end()) return known->second;
  ValueId begin = value(node.instr->args[0]), end = value(node.instr->args[1]);
  const ValueId first = begin, behind = end;
  for (const LoopPart& part : node.parts) {
    ValueId cut = no_value;
    switch (part.cut.kind) {
      case SplitCandidate::Kind::First:
        cut = first;
        break;
      case SplitCandidate::Kind::Last:
        cut = int_apply(Op::Subtract, behind, writer_.constant_int(1));
        break;
      case SplitCandidate::Kind::OuterIndex:
        cut = value(nest_.loop(part.cut.loop).index());
        break;
    }
    const ValueId after = int_apply(Op::Add, cut, writer_.constant_int(1));
    switch (part.side) {
      case LoopPart::Side::Before:
        end = int_apply(Op::Minimum, end, cut);
        break;
      case LoopPart::Side::At:
        begin = int_apply(Op::Maximum, begin, cut);
        end = int_apply(Op::Minimum, end, after);
        break;
      case LoopPart::Side::Behind:
        begin = int_apply(Op::Maximum, begin, after);
        break;
    }
  }
  return {begin, end};
}

void LaunchWriter::emit_loop(const PlanNode& node) {
  if (node.skew > 0) return emit_wavefront(node);
  const auto [begin, end] = range_of(node);
  if (node.run == LoopRun::Vector) return emit_vector(node, begin, end);
  if (unrolls(node)) return emit_unrolled(node);
  if (node.together > 1) return emit_together(node);
  if (lanes_loop_ >= 0 && (differs(node.instr->args[0]) || differs(node.instr->args[1])))
    return emit_loop_of_lanes(node, begin, end);
  const std::vector<Carried> carried = open_carried(node, begin, end);
  values_[at(node.instr->result)] = writer_.open_loop(begin, end, false);
  emit_loop_body(node);
  hand_on(carried);
  writer_.close_loop();
}

std::vector<LaunchWriter::Carried> LaunchWriter::open_carried(const PlanNode& node, ValueId begin,
                                                              ValueId end) {
  std::vector<Carried> all;
  if (lanes_loop_ >= 0 || group_) return all;
  const std::vector<ValueId> outside = values_;
  for (const CarriedElement& element : carried_elements(nest_, node.loop)) {
    std::vector<bool> needed(body_.values.size());
    if (!may_carry(node, element, needed)) continue;
    Carried made{.store = nest_.accesses[at(element.store)].instr, .locals = {}};
    // What the first round loads, which only a loop with rounds may.
    writer_.open_if(less(begin, end));
    values_[at(node.instr->result)] = begin;
    for (const Block* block : node.blocks)
      for (const Instr& instr : *block)
        if (instr.result != no_value && needed[at(instr.result)]) emit_value(instr);
    for (const std::vector<std::int32_t>& loads : element.loads) {
      const Instr& first = *nest_.accesses[at(loads[0])].instr;
      made.locals.push_back(writer_.local(body_.values[at(first.result)]));
      writer_.write_local(made.locals.back(), load(first));
    }
    writer_.close_if();
    values_ = outside;
    for (std::size_t d = 0; d < element.loads.size(); ++d)
      for (std::int32_t access : element.loads[d]) carried_[access] = made.locals[d];
    all.push_back(std::move(made));
  }
  return all;
}

// `needed`: what the indices of its loads are computed from.
bool LaunchWriter::may_carry(const PlanNode& node, const CarriedElement& element,
                             std::vector<bool>& needed) const {
  const NestAccess& store = nest_.accesses[at(element.store)];
  if (std::ranges::find(node.body, store.instr, &PlanNode::instr) == node.body.end()) return false;
  if (std::ranges::find(launch_.arrays, store.array, &ChunkArray::parameter) !=
      launch_.arrays.end())
    return false;
  for (const std::vector<std::int32_t>& loads : element.loads)
    for (const Term& term : nest_.accesses[at(loads[0])].instr->address.terms)
      need(term.index, needed);
  const auto may_come_first = [&](const Instr& instr) {
    const bool is_value = instr.result != no_value && instr.kind != InstrKind::Loop;
    return !is_value || !needed[at(instr.result)] || is_pure(instr);
  };
  return std::ranges::all_of(
      node.blocks, [&](const Block* block) { return std::ranges::all_of(*block, may_come_first); });
}

void LaunchWriter::hand_on(const std::vector<Carried>& all) {
  for (const Carried& carried : all) {
    for (std::size_t d = carried.locals.size() - 1; d > 0; --d)
      writer_.write_local(carried.locals[d], writer_.read_local(carried.locals[d - 1]));
    writer_.write_local(carried.locals[0], value(carried.store->args[0]));
    std::erase_if(carried_, [&](const auto& held) {
      return std::ranges::find(carried.locals, held.second) != carried.locals.end();
    });
  }
}

void LaunchWriter::emit_loop_of_lanes(const PlanNode& node, ValueId begin, ValueId end) {
  const std::int32_t counter = writer_.local(DType::Int64);
  writer_.write_local(counter, begin);
  writer_.open_while();
  writer_.begin_while_body(less(writer_.read_local(counter), end));
  const ValueId index = writer_.read_local(counter);
  values_[at(node.instr->result)] = index;
  emit_loop_body(node);
  writer_.write_local(counter, int_apply(Op::Add, index, writer_.constant_int(1)));
  writer_.close_while();
}

bool LaunchWriter::differs(ValueId id) const {
  if (id == nest_.loop(lanes_loop_).index()) return true;
  if (lanes_partner_ >= 0 && id == nest_.loop(lanes_partner_).index()) return true;
  const Instr& instr = *nest_.definitions[at(id)];
  if (!inside_[at(id)]) return false;
  if (instr.kind == InstrKind::ReadLocal) return writes_[at(instr.number)];
  if (instr.kind == InstrKind::Loop)
    return nest_.is_inside(id, lanes_loop_) && (differs(instr.args[0]) || differs(instr.args[1]));
  for (ValueId arg : instr.args)
    if (arg != no_value && differs(arg)) return true;
  return std::any_of(instr.address.terms.begin(), instr.address.terms.end(),
                     [&](const Term& t) { return differs(t.index); });
}

bool LaunchWriter::unrolls(const PlanNode& node) const {
  return lanes_loop_ >= 0 && !ranges_.contains(node.loop) && unrolls_in_lanes(nest_, node);
}

void LaunchWriter::emit_unrolled(const PlanNode& node) {
  const auto bounds = literal_bounds(nest_, node);
  for (std::int64_t i = bounds->first; i < bounds->second; ++i) {
    values_[at(node.instr->result)] = writer_.constant_int(i);
    emit_loop_body(node);
  }
}

void LaunchWriter::emit_together(const PlanNode& node) {
  const auto [begin, end] = range_of(node);
  const ValueId zero = writer_.constant_int(0), step = writer_.constant_int(node.together);
  const ValueId rounds = int_apply(Op::Maximum, zero, int_apply(Op::Subtract, end, begin));
  const ValueId groups = int_apply(Op::FloorDivide, rounds, step);
  const auto behind = [&](ValueId group) {
    return int_apply(Op::Add, begin, int_apply(Op::Multiply, group, step));
  };
  const ValueId last = behind(int_apply(Op::Subtract, groups, writer_.constant_int(1)));
  const ValueId group = writer_.open_loop(zero, groups, false);
  emit_group(node, behind(group), last);
  writer_.close_loop();
  values_[at(node.instr->result)] = writer_.open_loop(behind(groups), end, false);
  emit_loop_body(node);
  writer_.close_loop();
}

void LaunchWriter::emit_group(const PlanNode& node, ValueId first, ValueId last) {
  const std::vector<ValueId> values_outside = values_;
  const std::vector<std::int32_t> locals_outside = locals_;
  const PlanNode& inner = node.body.back();
  // What is a row's own.
  std::vector<std::vector<ValueId>> values;
  std::vector<std::vector<std::int32_t>> locals;
  for (std::int64_t row = 0; row < node.together; ++row) {
    values_ = values_outside;
    locals_ = locals_outside;
    renew_private(node);
    values_[at(node.instr->result)] = int_apply(Op::Add, first, writer_.constant_int(row));
    emit_blocks(node.blocks, node.body, &inner);
    values.push_back(values_);
    locals.push_back(locals_);
  }
  const std::int32_t around = std::exchange(lanes_loop_, inner.loop);
  const auto [begin, end] = range_of(inner);
  const ValueId index = writer_.open_loop(begin, end, true);
  if (facts_.rows_together.are_fetched && facts_.distance < Distance::Memory) {
    // Not of rows behind the last ones: those are another thread's, and would go to and fro.
    const ValueId next = int_apply(Op::Add, first, writer_.constant_int(node.together));
    fetch_next_group(node, int_apply(Op::Minimum, last, next), begin);
  }
  if (stores_apart(inner.loop)) writer_.allow_repeats();
  Group group;
  group_ = &group;
  for (std::size_t row = 0; row < values.size(); ++row) {
    values_ = std::move(values[row]);
    locals_ = std::move(locals[row]);
    renew_private(inner);
    values_[at(inner.instr->result)] = index;
    emit_loop_body(inner);
  }
  group_ = nullptr;
  for (const Waiting& w : group.waiting) writer_.store(w.address, w.value, streams(*w.store));
  writer_.close_loop();
  lanes_loop_ = around;
  values_ = values_outside;
  locals_ = locals_outside;
}

bool LaunchWriter::stores_apart(std::int32_t loop) const {
  std::vector<bool> loaded(body_.operands.size()), stored(body_.operands.size());
  for (const NestAccess& access : nest_.accesses) {
    const auto path = nest_.path_to(access.loop);
    if (access.instr && std::ranges::find(path, loop) != path.end())
      (access.is_store() ? stored : loaded)[at(access.array)] = true;
  }
  for (const auto& [a, b] : nest_.facts.mixed)
    if (stored[at(nest_.array_of(a))] || stored[at(nest_.array_of(b))]) return false;
  for (std::size_t array = 0; array < stored.size(); ++array)
    if (stored[array] && loaded[array]) return false;
  return true;
}

void LaunchWriter::fetch_next_group(const PlanNode& node, ValueId next, ValueId begin) {
  const RowEnds ends = ends_of_rows(nest_, node);
  for (const RowElement& load : ends.loads) fetch(load, node, {next, begin}, false);
  for (const RowElement& store : ends.stores) fetch(store, node, {next, begin}, true);
}

// All rows of a group, one behind another: so the processor finds its way, and goes ahead.
void LaunchWriter::fetch(const RowElement& element, const PlanNode& node,
                         std::pair<ValueId, ValueId> place, bool for_stores) {
  const std::int32_t parameter = element.parameter;
  const auto rank = static_cast<std::int32_t>(element.indices.size());
  if (facts_.unit_axes[at(parameter)] != rank - 1) return;
  const ValueId row = node.instr->result, lane = node.body.back().instr->result;
  std::vector<ValueId> indices;
  for (const Affine& form : element.indices) {
    ValueId index = writer_.constant_int(form.constant);
    for (const auto& [id, coefficient] : form.terms) {
      const bool is_known = !inside_[at(id)] || id == row || id == lane;
      if (!is_known && values_[at(id)] == no_value) return;
      ValueId term = id == row ? place.first : id == lane ? place.second : value(id);
      if (coefficient != 1) term = int_apply(Op::Multiply, term, writer_.constant_int(coefficient));
      index = int_apply(Op::Add, index, term);
    }
    indices.push_back(index);
  }
  const DType dtype = body_.operands[at(parameter)].dtype;
  Address from{operand({NestLaunch::Pointer::Kind::Parameter, parameter}, dtype, false), {}};
  for (std::int32_t axis = 0; axis < rank; ++axis)
    from.terms.push_back(
        {indices[at(axis)],
         axis + 1 == rank ? unit_stride : integer_number({Kind::Stride, parameter, axis})});
  writer_.fetch({std::move(from), static_cast<std::int32_t>(node.together), for_stores});
}

void LaunchWriter::emit_vector(const PlanNode& node, ValueId begin, ValueId end) {
  std::vector<LaneSum> sums = open_sums(node);
  const std::vector<std::int32_t> outside = locals_;
  renew_private(node);
  const std::int32_t around = std::exchange(lanes_loop_, node.loop);
  values_[at(node.instr->result)] = writer_.open_loop(begin, end, true);
  for (const LaneSum& s : sums) {
    const DType dtype = body_.locals[s.local];
    const Scalar start =
        s.extreme ? extreme_of(dtype, wants_least(s.compare)) : start_of(s.op, dtype);
    writer_.write_local(s.lane, writer_.constant(start));
    locals_[s.local] = s.lane;
  }
  emit_loop_body(node);
  std::vector<Reduction> reductions;
  for (const LaneSum& s : sums)
    reductions.push_back({s.op, writer_.read_local(s.lane), s.extreme ? s.best : s.outer});
  writer_.close_loop(std::move(reductions));
  lanes_loop_ = around;
  locals_ = outside;
  for (const LaneSum& s : sums) {
    if (!s.extreme) continue;
    const ValueId best = writer_.read_local(s.best);
    writer_.open_if(writer_.apply(s.compare, DType::Bool, best, writer_.read_local(s.outer)));
    writer_.write_local(s.outer, best);
    writer_.close_if();
  }
}

void LaunchWriter::renew_private(const PlanNode& node) {
  std::vector<bool> written(locals_.size());
  find_writes(node.body, written);
  for (std::size_t x = 0; x < locals_.size(); ++x)
    if (written[x] && role(node, x) == LocalRole::Private) locals_[x] = -1;
}

std::vector<LaunchWriter::LaneSum> LaunchWriter::open_sums(const PlanNode& node) {
  std::vector<bool> written(locals_.size());
  find_writes(node.body, written);
  std::vector<LaneSum> sums;
  for (std::size_t x = 0; x < locals_.size(); ++x) {
    if (!written[x]) continue;
    const LocalRole r = role(node, x);
    if (r != LocalRole::Reduction && r != LocalRole::Extreme) continue;
    const auto reduction = reduction_of(node, static_cast<std::int32_t>(x));
    check(reduction.has_value(), "a reduction has an update");
    const DType dtype = body_.locals[x];
    LaneSum s{.local = x,
              .outer = local(x),
              .lane = writer_.local(dtype),
              .op = reduction->op,
              .compare = reduction->op,
              .extreme = reduction->extreme};
    if (s.extreme) {
      s.best = writer_.local(dtype);
      const bool least = wants_least(s.compare);
      s.op = is_float(dtype) ? (least ? Op::Fmin : Op::Fmax) : (least ? Op::Minimum : Op::Maximum);
      writer_.write_local(s.best, writer_.constant(extreme_of(dtype, least)));
    }
    sums.push_back(s);
  }
  return sums;
}

void LaunchWriter::find_writes(const std::vector<PlanNode>& nodes, std::vector<bool>& written) {
  for (const PlanNode& n : nodes) {
    if (n.instr && n.instr->kind == InstrKind::WriteLocal) written[at(n.instr->number)] = true;
    find_writes(n.body, written);
    find_writes(n.other, written);
  }
}

void LaunchWriter::emit_wavefront(const PlanNode& node) {
  const auto [i_begin, i_end] = range_of(node);
  const auto [j_begin, j_end] =
      range_of(PlanNode{.instr = nest_.loop(node.skewed).instr, .loop = node.skewed});
  const ValueId one = writer_.constant_int(1), skew = writer_.constant_int(node.skew);
  const auto sum = [&](ValueId i, ValueId j) {
    return int_apply(Op::Add, int_apply(Op::Multiply, i, skew), j);
  };
  // An i that has iterations at all.
  writer_.open_if(less(j_begin, j_end));
  WaveRange range{i_begin,
                  i_end,
                  j_begin,
                  j_end,
                  sum(i_begin, j_begin),
                  sum(int_apply(Op::Subtract, i_end, one), j_end)};
  if (node.grain == PlanNode::Grain::Wave) {
    const ValueId length = integer({Kind::WaveLength});
    const ValueId begin =
        int_apply(Op::Subtract, integer({Kind::Wave}), int_apply(Op::Multiply, chunk_, length));
    range.first = int_apply(Op::Maximum, range.first, begin);
    range.behind = int_apply(Op::Minimum, range.behind, int_apply(Op::Add, begin, length));
  }
  writer_.open_if(less(i_begin, i_end));
  if (node.by_rows) {
    // The interpreter takes for one element what it takes for many side by side.
    PlanNode lanes = node;
    lanes.blocks.push_back(node.body[0].blocks[0]);
    lanes.body = node.other;
    const std::vector<ValueId> outside = values_;
    writer_.open_if(less(writer_.constant_int(0), integer({Kind::IsInterpreted})));
    emit_diagonals(lanes, range);
    writer_.open_else();
    values_ = outside;
    emit_rows_of_wave(node, range);
    writer_.close_if();
    values_ = outside;
  } else {
    emit_diagonals(node, range);
  }
  writer_.close_if();
  writer_.close_if();
}

void LaunchWriter::emit_diagonals(const PlanNode& node, const WaveRange& range) {
  const ValueId one = writer_.constant_int(1), skew = writer_.constant_int(node.skew);
  const auto plus = [&](ValueId a, ValueId b) { return int_apply(Op::Add, a, b); };
  const auto minus = [&](ValueId a, ValueId b) { return int_apply(Op::Subtract, a, b); };
  const auto floor = [&](ValueId a) { return int_apply(Op::FloorDivide, a, skew); };
  const ValueId w = writer_.open_loop(range.first, range.behind, false);
  const ValueId low = floor(plus(minus(w, range.j_end), skew));
  const ValueId high = plus(floor(minus(w, range.j_begin)), one);
  const std::int32_t around = std::exchange(lanes_loop_, node.loop);
  lanes_partner_ = node.skewed;
  const std::vector<std::int32_t> outside = locals_;
  renew_private(node);
  const ValueId i = writer_.open_loop(int_apply(Op::Maximum, range.i_begin, low),
                                      int_apply(Op::Minimum, range.i_end, high), true);
  values_[at(node.instr->result)] = i;
  values_[at(nest_.loop(node.skewed).index())] = minus(w, int_apply(Op::Multiply, i, skew));
  emit_loop_body(node);
  writer_.close_loop();
  lanes_loop_ = around;
  lanes_partner_ = -1;
  locals_ = outside;
  writer_.close_loop();
}

void LaunchWriter::emit_rows_of_wave(const PlanNode& node, const WaveRange& range) {
  const std::vector<std::int32_t> outside = locals_;
  renew_private(node);
  const ValueId i = writer_.open_loop(range.i_begin, range.i_end, false);
  values_[at(node.instr->result)] = i;
  const bool is_tile = node.body[0].in_tile;
  if (is_tile) {
    const ValueId before = int_apply(Op::Multiply, i, writer_.constant_int(node.skew));
    const auto inside = [&](ValueId w) { return int_apply(Op::Subtract, w, before); };
    ranges_[node.skewed] = {int_apply(Op::Maximum, range.j_begin, inside(range.first)),
                            int_apply(Op::Minimum, range.j_end, inside(range.behind))};
  }
  emit_loop_body(node);
  if (is_tile) ranges_.erase(node.skewed);
  writer_.close_loop();
  locals_ = outside;
}

}  // namespace frit
