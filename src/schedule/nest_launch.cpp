// nest_launch.cpp: a launch's arguments, values, locals and sums; nest_launch_loops.cpp: its loops.
#include "schedule/nest_launch.h"

#include <algorithm>
#include <complex>
#include <functional>
#include <limits>

#include "ir/error.h"
#include "schedule/caches.h"
#include "schedule/nest_cost.h"

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

Scalar number_in(DType dtype, double value) {
  Scalar result{.dtype = dtype};
  void* args[2] = {result.bytes, &value};
  cast_loop(DType::Float64, dtype)(args, 1, 0);
  return result;
}

Op combining(Op op) { return op == Op::Subtract ? Op::Add : op; }

bool has_lanes(const Block& block) {
  return std::ranges::any_of(block, [](const Instr& instr) {
    return instr.vector || has_lanes(instr.body) || has_lanes(instr.other);
  });
}

}  // namespace

Scalar extreme_of(DType dtype, bool largest) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (is_float(dtype)) return number_in(dtype, largest ? infinity : -infinity);
  Scalar result{.dtype = dtype};
  const bool is_signed = info(dtype).kind == 'i';
  const int bits = 8 * size_of(dtype);
  std::uint64_t pattern = largest ? ~std::uint64_t{0} : 0;
  if (is_signed) pattern = largest ? pattern >> (65 - bits) : std::uint64_t{1} << (bits - 1);
  if (is_bool(dtype)) pattern = largest ? 1 : 0;
  std::memcpy(result.bytes, &pattern, static_cast<std::size_t>(size_of(dtype)));
  return result;
}

Scalar start_of(Op op, DType dtype) {
  if (op == Op::Maximum || op == Op::Fmax) return extreme_of(dtype, false);
  if (op == Op::Minimum || op == Op::Fmin) return extreme_of(dtype, true);
  if (op == Op::Add && is_float(dtype)) return number_in(dtype, -0.0);
  if (op == Op::Add && dtype == DType::Complex64)
    return Scalar::of(dtype, std::complex<float>(-0.0f, -0.0f));
  if (op == Op::Add && dtype == DType::Complex128)
    return Scalar::of(dtype, std::complex<double>(-0.0, -0.0));
  const auto identity = identity_of(op, dtype);
  if (identity && identity->dtype == dtype) return *identity;
  Scalar zero{.dtype = dtype};
  return zero;
}

LaunchWriter::LaunchWriter(const JudgedNest& judged, const NestPlan& plan, const PlanFacts& facts)
    : judged_(judged),
      plan_(plan),
      nest_(*judged.nest),
      body_(nest_.routine.body),
      facts_(facts),
      values_(body_.values.size(), no_value),
      locals_(body_.locals.size(), -1) {}

NestLaunch LaunchWriter::in_order(const std::vector<const PlanNode*>& nodes) {
  find_inside(nodes);
  writer_.open_parallel(false);
  for (std::size_t x = 0; x < locals_.size(); ++x)
    if ((reads_[x] || writes_[x]) && is_shared(x)) writer_.write_local(local(x), host_local(x));
  std::vector<PlanNode> copies;
  for (const PlanNode* n : nodes) copies.push_back(*n);
  emit_in_order(copies);
  for (std::size_t x = 0; x < locals_.size(); ++x)
    if (writes_[x] && is_shared(x)) store_local(static_cast<std::int32_t>(x));
  writer_.close_loop();
  for (const PlanNode& n : copies) add_cost(n, {});
  return finish();
}

NestLaunch LaunchWriter::parallel(const PlanNode& node) {
  using Grain = PlanNode::Grain;
  find_inside({&node});
  launch_.loop = node.instr;
  launch_.parts = node.parts;
  launch_.grain = node.grain;
  const ValueId round = writer_.open_parallel(node.grain == Grain::Lane);
  if (node.grain == Grain::Lane) lanes_loop_ = node.loop;
  const ValueId begin = integer({Kind::Begin});
  if (node.grain == Grain::Chunk || node.grain == Grain::Tile || node.grain == Grain::Wave) {
    const ValueId length = integer({Kind::Chunk}), end = integer({Kind::End});
    const ValueId low = int_apply(Op::Add, begin, int_apply(Op::Multiply, round, length));
    ranges_[node.loop] = {low, int_apply(Op::Minimum, int_apply(Op::Add, low, length), end)};
    if (node.grain == Grain::Tile && node.body[0].together > 1)
      launch_.tile_length = node.body[0].together;
  } else {
    values_[at(node.instr->result)] = int_apply(Op::Add, begin, round);
  }
  if (node.grain == Grain::Chunk) {
    chunk(node, round);
  } else if (node.grain == Grain::Wave) {
    chunk_ = round;
    launch_.across = nest_.loop(node.skewed).instr;
    launch_.skew = node.skew;
    launch_.by_rows = node.by_rows;
    emit_wavefront(node);
  } else {
    emit_loop_body(node);
    store_last(node, values_[at(node.instr->result)]);
  }
  writer_.close_loop();
  if (node.grain == Grain::Wave) {
    add_cost(node, {});
  } else {
    if (node.grain == Grain::Lane) lanes_ = node.instr;
    add_values_cost(node, {});
    for (const PlanNode& n : node.body) add_cost(n, {});
  }
  launch_.shortest_chunk = facts_.shortest_chunk;
  if (has_inner_loop(node))
    launch_.shortest_chunk =
        is_in_lanes(node) ? std::min(chunk_of_lanes, facts_.shortest_chunk) : 1;
  launch_.adds_in_order = adds_in_order(node);
  launch_.wholes = whole_stores(nest_, node);
  std::erase_if(launch_.wholes, [&](const WholeStore& whole) {
    return std::ranges::any_of(launch_.accesses, [&](std::int32_t access) {
      const Instr& instr = *nest_.accesses[at(access)].instr;
      return instr.kind == InstrKind::Load && instr.address.operand == whole.parameter;
    });
  });
  return finish();
}

NestLaunch LaunchWriter::finish() {
  Kernel kernel = writer_.finish();
  kernel.from_own_cache = facts_.is_in_own_cache && gains_from_own_cache(kernel);
  bool has_while = false;
  for_each_instr(kernel.code,
                 [&](const Instr& instr) { has_while |= instr.kind == InstrKind::While; });
  // A nest's indices are inside in all rounds that its bounds allow.
  kernel.loads_early = has_while;
  launch_.kernel = std::make_shared<const Kernel>(std::move(kernel));
  if (has_while || !has_lanes(launch_.kernel->code)) launch_.pace = Pace::OneByOne;
  return std::move(launch_);
}

bool LaunchWriter::has_inner_loop(const PlanNode& node) const {
  const std::function<int(const std::vector<PlanNode>&)> depth =
      [&](const std::vector<PlanNode>& nodes) {
        int most = 0;
        for (const PlanNode& n : nodes)
          most = std::max({most, depth(n.other), depth(n.body) + (n.loop >= 0 ? 1 : 0)});
        return most;
      };
  return depth(node.body) > (node.grain == PlanNode::Grain::Chunk ? 1 : 0);
}

// Are the rounds of a chunk lanes?
bool LaunchWriter::is_in_lanes(const PlanNode& node) {
  return std::ranges::any_of(node.body, [&](const PlanNode& n) {
    return n.loop == node.loop && n.run == LoopRun::Vector;
  });
}

// Rounds that take long, of which each adds one term or none.
bool LaunchWriter::adds_in_order(const PlanNode& node) const {
  if (node.grain != PlanNode::Grain::Chunk || !has_inner_loop(node) || !launch_.arrays.empty())
    return false;
  return !is_in_lanes(node) &&
         std::ranges::all_of(launch_.reductions, [&](const ChunkReduction& r) {
           return r.extreme || adds_one_term(node, r.local);
         });
}

bool LaunchWriter::adds_one_term(const PlanNode& node, std::int32_t x) const {
  const auto is_term = [&](const LocalUpdate& u) {
    const bool exact = u.op == Op::Add || u.op == Op::Subtract || u.op == Op::Multiply;
    return exact && u.operands.size() == 1 && !is_in_loop(node.instr->body, u.write);
  };
  int updates = 0;
  for (const LocalUpdate& u : judged_.locals.updates) {
    if (u.local != x || !is_inside(node, u.write)) continue;
    if (!is_term(u)) return false;
    ++updates;
  }
  return updates == 1;
}

// Is it in a loop of the block?
bool LaunchWriter::is_in_loop(const Block& block, const Instr* wanted) {
  return std::ranges::any_of(block, [&](const Instr& instr) {
    if (instr.kind == InstrKind::Loop || instr.kind == InstrKind::While)
      return contains(instr.body, wanted);
    return is_in_loop(instr.body, wanted) || is_in_loop(instr.other, wanted);
  });
}

std::int32_t LaunchWriter::integer_number(const NestLaunch::Integer& wanted) {
  bool added;
  const std::int32_t number = number_of(launch_.integers, wanted, added);
  if (added) check(writer_.integer() == number, "arguments are numbered as they are added");
  return number;
}

ValueId LaunchWriter::integer(const NestLaunch::Integer& wanted) {
  return writer_.integer_value(integer_number(wanted));
}

ValueId LaunchWriter::scalar(const NestLaunch::Number& wanted, DType dtype) {
  bool added;
  const std::int32_t number = number_of(launch_.scalars, wanted, added);
  if (added) scalar_values_.push_back(writer_.scalar(dtype));
  return scalar_values_[at(number)];
}

std::int32_t LaunchWriter::operand(const NestLaunch::Pointer& wanted, DType dtype, bool writes) {
  bool added;
  const std::int32_t number = number_of(launch_.operands, wanted, added);
  if (added) writer_.operand(dtype, false);
  if (writes) writer_.mark_written(number);
  return number;
}

ValueId LaunchWriter::host_local(std::size_t x) {
  return scalar({.value = no_value, .local = static_cast<std::int32_t>(x)}, body_.locals[x]);
}

ValueId LaunchWriter::value(ValueId id) {
  if (id == no_value) return no_value;
  ValueId& known = values_[at(id)];
  if (known != no_value) return known;
  const Instr& definition = *nest_.definitions[at(id)];
  if (definition.kind == InstrKind::Constant) return writer_.constant(definition.constant);
  if (definition.kind == InstrKind::IntegerArg) {
    const Affine& form = nest_.forms[at(id)];
    if (form.terms.empty()) return writer_.constant_int(form.constant);
  }
  check(!inside_[at(id)], "a value of a launch is written before it is used");
  if (body_.values[at(id)] == DType::Int64) return known = integer({Kind::Value, id});
  return known = scalar({.value = id, .local = -1}, body_.values[at(id)]);
}

Address LaunchWriter::address(const Instr& instr, bool writes) {
  if (std::ranges::find(launch_.accesses, instr.number) == launch_.accesses.end())
    launch_.accesses.push_back(instr.number);
  const std::int32_t parameter = instr.address.operand;
  const DType dtype = body_.operands[at(parameter)].dtype;
  const bool own = std::any_of(launch_.arrays.begin(), launch_.arrays.end(), [&](const auto& a) {
    return a.parameter == nest_.array_of(parameter);
  });
  Address made;
  if (own) {
    made.operand = operand({NestLaunch::Pointer::Kind::PartialArray, parameter}, dtype, writes);
    made.terms.push_back({chunk_, integer_number({Kind::PartialStep, parameter})});
  } else {
    made.operand = operand({NestLaunch::Pointer::Kind::Parameter, parameter}, dtype, writes);
  }
  const auto rank = static_cast<std::int32_t>(instr.address.terms.size());
  const std::int32_t unit = own ? rank - 1 : facts_.unit_axes[at(parameter)];
  for (std::int32_t axis = 0; axis < rank; ++axis) {
    const ValueId index = value(instr.address.terms[at(axis)].index);
    const std::int32_t stride =
        axis == unit ? unit_stride
                     : integer_number({own ? Kind::PartialStride : Kind::Stride, parameter, axis});
    made.terms.push_back({index, stride});
  }
  return made;
}

std::int32_t LaunchWriter::local(std::size_t x) {
  if (locals_[x] < 0) locals_[x] = writer_.local(body_.locals[x]);
  return locals_[x];
}

void LaunchWriter::find_inside(const std::vector<const PlanNode*>& nodes) {
  inside_.assign(body_.values.size(), false);
  reads_.assign(body_.locals.size(), false);
  writes_.assign(body_.locals.size(), false);
  mentions_.assign(body_.locals.size(), 0);
  mentions_in_all_.assign(body_.locals.size(), 0);
  mentioned_.clear();
  count_mentions(body_.code, mentions_in_all_);
  for (const PlanNode* n : nodes) add_inside(*n);
}

void LaunchWriter::count_mentions(const Block& block, std::vector<std::int32_t>& mentions) {
  for (const Instr& instr : block) {
    if (instr.kind == InstrKind::ReadLocal || instr.kind == InstrKind::WriteLocal)
      ++mentions[at(instr.number)];
    count_mentions(instr.body, mentions);
    count_mentions(instr.other, mentions);
  }
}

void LaunchWriter::add_inside(const PlanNode& node) {
  if (node.instr && node.instr->kind == InstrKind::Loop) inside_[at(node.instr->result)] = true;
  if (node.skewed >= 0) inside_[at(nest_.loop(node.skewed).index())] = true;
  if (node.instr && node.instr->kind == InstrKind::WriteLocal) {
    writes_[at(node.instr->number)] = true;
    if (mentioned_.insert(node.instr).second) ++mentions_[at(node.instr->number)];
  }
  if (node.instr && (node.instr->kind == InstrKind::If || node.instr->kind == InstrKind::While)) {
    add_values(node.instr->body);
    add_values(node.instr->other);
  }
  for (const Block* block : node.blocks) add_values(*block);
  for (const PlanNode& n : node.body) add_inside(n);
  for (const PlanNode& n : node.other) add_inside(n);
}

void LaunchWriter::add_values(const Block& block) {
  for (const Instr& instr : block) {
    if (instr.result == no_value || instr.kind == InstrKind::Loop) continue;
    if (inside_[at(instr.result)]) continue;  // a block that stands in several pieces
    inside_[at(instr.result)] = true;
    if (instr.kind != InstrKind::ReadLocal) continue;
    reads_[at(instr.number)] = true;
    ++mentions_[at(instr.number)];
  }
}

void LaunchWriter::store_local(std::int32_t x) {
  const std::int32_t to = operand({NestLaunch::Pointer::Kind::Local, x}, body_.locals[at(x)], true);
  writer_.store({.operand = to, .terms = {}}, writer_.read_local(local(at(x))));
}

LocalRole LaunchWriter::role(const PlanNode& node, std::size_t x) const {
  return judged_.locals.role(node.loop, static_cast<std::int32_t>(x));
}

void LaunchWriter::store_last(const PlanNode& node, ValueId index) {
  ValueId is_last = no_value;
  for (std::size_t x = 0; x < locals_.size(); ++x) {
    if (!writes_[x] || role(node, x) != LocalRole::Last) continue;
    if (is_last == no_value) {
      const ValueId last = int_apply(Op::Subtract, integer({Kind::End}), writer_.constant_int(1));
      is_last = writer_.apply(Op::Equal, DType::Bool, index, last);
      writer_.open_if(is_last);
    }
    store_local(static_cast<std::int32_t>(x));
  }
  if (is_last != no_value) writer_.close_if();
}

void LaunchWriter::chunk(const PlanNode& node, ValueId round) {
  chunk_ = round;
  for (std::size_t x = 0; x < locals_.size(); ++x) {
    if (!writes_[x]) continue;
    if (auto reduction = reduction_of(node, static_cast<std::int32_t>(x)))
      launch_.reductions.push_back(std::move(*reduction));
  }
  add_arrays(node);
  fill_arrays();
  for (const ChunkReduction& r : launch_.reductions) {
    writer_.write_local(local(at(r.local)), writer_.constant(r.identity));
    for (std::int32_t c : r.companions)
      writer_.write_local(local(at(c)), writer_.constant(Scalar{.dtype = body_.locals[at(c)]}));
  }
  emit_in_order(node.body);
  const auto store_part = [&](std::int32_t x) {
    const DType dtype = body_.locals[at(x)];
    const std::int32_t to = operand({NestLaunch::Pointer::Kind::Partial, x}, dtype, true);
    writer_.store({.operand = to, .terms = {{round, unit_stride}}},
                  writer_.read_local(local(at(x))));
  };
  for (const ChunkReduction& r : launch_.reductions) {
    store_part(r.local);
    for (std::int32_t c : r.companions) store_part(c);
  }
  // The last chunk ends with the last iteration.
  const ValueId last = int_apply(Op::Subtract, ranges_[node.loop].second, writer_.constant_int(1));
  store_last(node, last);
}

std::optional<ChunkReduction> LaunchWriter::reduction_of(const PlanNode& node,
                                                         std::int32_t x) const {
  const DType dtype = body_.locals[at(x)];
  if (role(node, at(x)) == LocalRole::Reduction)
    for (const LocalUpdate& u : judged_.locals.updates)
      if (u.local == x && is_inside(node, u.write))
        return ChunkReduction{.local = x,
                              .op = combining(u.op),
                              .extreme = false,
                              .companions = {},
                              .identity = start_of(combining(u.op), dtype)};
  if (role(node, at(x)) == LocalRole::Extreme)
    for (const LocalExtreme& e : judged_.locals.extremes)
      if (e.local == x && is_inside(node, e.branch))
        return ChunkReduction{.local = x,
                              .op = e.compare,
                              .extreme = true,
                              .companions = e.companions,
                              .identity = extreme_of(dtype, wants_least(e.compare))};
  return std::nullopt;
}

bool LaunchWriter::is_inside(const PlanNode& node, const Instr* instr) const {
  return contains(nest_.loop(node.loop).instr->body, instr);
}

bool LaunchWriter::contains(const Block& block, const Instr* wanted) {
  return std::any_of(block.begin(), block.end(), [&](const Instr& instr) {
    return &instr == wanted || contains(instr.body, wanted) || contains(instr.other, wanted);
  });
}

void LaunchWriter::add_arrays(const PlanNode& node) {
  for (const NestUpdate& u : nest_.updates) {
    const NestAccess& store = nest_.accesses[at(u.store)];
    const auto path = nest_.path_to(store.loop);
    if (std::find(path.begin(), path.end(), node.loop) == path.end()) continue;
    if (!is_reduced(node.loop, store.array)) continue;
    const bool known = std::any_of(launch_.arrays.begin(), launch_.arrays.end(),
                                   [&](const ChunkArray& a) { return a.parameter == store.array; });
    const DType dtype = body_.operands[at(store.array)].dtype;
    if (!known)
      launch_.arrays.push_back({store.array, combining(u.op), start_of(combining(u.op), dtype)});
  }
}

void LaunchWriter::fill_arrays() {
  const ValueId one = writer_.constant_int(1);
  for (const ChunkArray& a : launch_.arrays) {
    const ValueId elements = integer({Kind::PartialElements, a.parameter});
    const ValueId in_place = integer({Kind::PartialInPlace, a.parameter});
    // All but the first chunk begin at 0.
    const ValueId missing = int_apply(Op::Subtract, one, chunk_);
    const ValueId begin =
        int_apply(Op::Maximum, writer_.constant_int(0), int_apply(Op::Multiply, in_place, missing));
    const std::int32_t step = integer_number({Kind::PartialStep, a.parameter});
    const std::int32_t to =
        operand({NestLaunch::Pointer::Kind::PartialArray, a.parameter}, a.identity.dtype, true);
    const ValueId element = writer_.open_loop(begin, elements, true);
    writer_.store({.operand = to, .terms = {{chunk_, step}, {element, unit_stride}}},
                  writer_.constant(a.identity));
    writer_.close_loop();
  }
}

bool LaunchWriter::is_reduced(std::int32_t loop, std::int32_t array) const {
  if (!is_reduction_of_array(nest_, loop, array)) return false;
  for (std::size_t k = 0; k < nest_.dependences.size(); ++k) {
    const Dependence& d = nest_.dependences[k];
    if (!judged_.active[k] || nest_.accesses[at(d.source)].array != array) continue;
    if (d.level >= d.common || d.level != nest_.loop(loop).depth) continue;
    if (nest_.path_to(nest_.accesses[at(d.source)].loop)[at(d.level)] == loop) return true;
  }
  return false;
}

void LaunchWriter::emit_in_order(const std::vector<PlanNode>& nodes) {
  for (const PlanNode& n : nodes) emit(n);
}

void LaunchWriter::emit_blocks(const std::vector<const Block*>& blocks,
                               const std::vector<PlanNode>& nodes, const PlanNode* skipped) {
  if (blocks.empty()) return emit_in_order(nodes);
  std::vector<bool> needed(body_.values.size());
  for (const PlanNode& n : nodes) need(n, needed);
  for (const Block* block : blocks)
    for (const Instr& instr : *block) {
      const bool is_value = instr.result != no_value && instr.kind != InstrKind::Loop;
      if (is_value && needed[at(instr.result)]) emit_value(instr);
      if (is_value) continue;
      for (const PlanNode& n : nodes)
        if (n.instr == &instr && &n != skipped) emit(n);
    }
}

void LaunchWriter::need(const PlanNode& node, std::vector<bool>& needed) const {
  if (node.instr) {
    for (ValueId arg : node.instr->args) need(arg, needed);
    for (const Term& term : node.instr->address.terms) need(term.index, needed);
  }
  if (node.skewed >= 0)
    for (ValueId arg : nest_.loop(node.skewed).instr->args) need(arg, needed);
  for (const PlanNode& n : node.body) need(n, needed);
  for (const PlanNode& n : node.other) need(n, needed);
}

void LaunchWriter::need(ValueId id, std::vector<bool>& needed) const {
  if (id == no_value || needed[at(id)]) return;
  needed[at(id)] = true;
  const Instr& definition = *nest_.definitions[at(id)];
  for (ValueId arg : definition.args) need(arg, needed);
  for (const Term& term : definition.address.terms) need(term.index, needed);
}

void LaunchWriter::emit_value(const Instr& instr) {
  ValueId& made = values_[at(instr.result)];
  switch (instr.kind) {
    case InstrKind::Constant:
      made = writer_.constant(instr.constant);
      return;
    case InstrKind::Apply:
      made = writer_.apply(
          instr.op, body_.values[at(instr.result)], value(instr.args[0]), value(instr.args[1]),
          value(instr.args[2]),
          plan_.runs_one_by_one(nest_, instr.result) ? instr.math : MathLibrary::Frit);
      return;
    case InstrKind::Cast:
      made = writer_.cast(value(instr.args[0]), body_.values[at(instr.result)]);
      return;
    case InstrKind::Load:
      made = load(instr);
      return;
    case InstrKind::ReadLocal:
      made = writes_[at(instr.number)] ? writer_.read_local(local(at(instr.number)))
                                       : host_local(at(instr.number));
      return;
    case InstrKind::IntegerArg:
    case InstrKind::ScalarArg:
      check(false, "arguments stand outside of all loops");
      return;
    case InstrKind::Store:
    case InstrKind::WriteLocal:
    case InstrKind::Loop:
    case InstrKind::If:
    case InstrKind::While:
      return;
  }
}

ValueId LaunchWriter::load(const Instr& instr) {
  if (const auto held = carried_.find(instr.number); held != carried_.end())
    return writer_.read_local(held->second);
  const Address from = address(instr, false);
  if (!group_) return writer_.load_here(from, streams(instr));
  const auto known = std::ranges::find(group_->loaded, from, &Loaded::address);
  if (known != group_->loaded.end()) return known->value;
  group_->loaded.push_back({from, writer_.load_here(from, streams(instr))});
  return group_->loaded.back().value;
}

// Does it pass over an array that is not in the cache, and that nothing else loads or stores?
bool LaunchWriter::streams(const Instr& instr) const {
  const NestAccess& access = nest_.accesses[at(instr.number)];
  // An element that several rounds load, as those of an image that is convolved, is not plain.
  const bool is_plain = std::ranges::all_of(
      access.indices, [](const Affine& index) { return index.terms.size() < 2; });
  if (instr.kind == InstrKind::Load ? !is_fetched_ahead(facts_.distance, is_plain)
                                    : facts_.distance < Distance::Memory)
    return false;
  const bool is_alone = std::ranges::count(nest_.accesses, access.array, &NestAccess::array) == 1;
  const auto moves_with = [&](std::int32_t loop) {
    return uses_index(access, *nest_.loop(loop).instr);
  };
  return is_alone && std::ranges::all_of(nest_.path_to(access.loop), moves_with);
}

bool LaunchWriter::uses_index(const NestAccess& access, const Instr& loop) {
  return std::ranges::any_of(access.indices, [&](const Affine& index) {
    return std::ranges::any_of(index.terms,
                               [&](const auto& term) { return term.first == loop.result; });
  });
}

void LaunchWriter::emit(const PlanNode& node) {
  if (!node.instr) return emit_in_order(node.body);
  const Instr& instr = *node.instr;
  switch (instr.kind) {
    case InstrKind::Store:
      if (group_) {
        group_->waiting.push_back({&instr, address(instr, true), value(instr.args[0])});
        return;
      }
      return writer_.store(address(instr, true), value(instr.args[0]), streams(instr));
    case InstrKind::WriteLocal:
      return writer_.write_local(local(at(instr.number)), value(instr.args[0]));
    case InstrKind::If:
      writer_.open_if(value(instr.args[0]), instr.fails);
      emit_blocks({&instr.body}, node.body);
      if (!node.other.empty()) {
        writer_.open_else();
        emit_blocks({&instr.other}, node.other);
      }
      return writer_.close_if();
    case InstrKind::While:
      writer_.open_while();
      emit_blocks({&instr.other}, node.other);
      writer_.begin_while_body(writer_.read_local(local(at(instr.number))));
      emit_blocks({&instr.body}, node.body);
      return writer_.close_while();
    case InstrKind::Loop:
      return emit_loop(node);
    case InstrKind::Constant:
    case InstrKind::ScalarArg:
    case InstrKind::IntegerArg:
    case InstrKind::Apply:
    case InstrKind::Cast:
    case InstrKind::Load:
    case InstrKind::ReadLocal:
      check(false, "a plan's leaves are statements");
  }
}

// Of a statement, or of the values that are computed in a loop's blocks.
void LaunchWriter::add_values_cost(const PlanNode& node, const Rounds& loops) {
  const nest_cost::Rates& rates = lanes_ ? nest_cost::in_lanes : nest_cost::in_order;
  const Instr* const innermost = loops.empty() ? launch_.loop : loops.back().first;
  const Instr* const moving = lanes_ ? lanes_ : innermost;
  double weight = 0;
  if (node.loop < 0 && node.instr)
    weight += node.instr->kind == InstrKind::Store ? rates.access : rates.op;
  for (const Block* block : node.blocks)
    for (const Instr& instr : *block) {
      if (instr.kind == InstrKind::Apply && !is_index(instr.result))
        weight += has(instr.op, Costly) ? rates.function : rates.op;
      if (instr.kind != InstrKind::Load) continue;
      if (varies(instr, moving)) weight += rates.access;
      if (is_shared_column(instr, innermost)) note_lines(loops);
    }
  if (weight > 0) launch_.cost.push_back({weight, loops});
}

void LaunchWriter::note_lines(const Rounds& loops) {
  double lines = 1;
  for (const auto& [loop, rounds] : loops) lines *= rounds;
  launch_.lines = std::max(launch_.lines, lines);
}

// Do all lanes of a launch load the same, from one line after another that the nest writes?
bool LaunchWriter::is_shared_column(const Instr& load, const Instr* loop) const {
  const NestAccess& access = nest_.accesses[at(load.number)];
  if (launch_.grain != PlanNode::Grain::Lane || !loop || loop == launch_.loop) return false;
  if (!nest_.written[at(access.array)] || uses_index(access, *launch_.loop)) return false;
  const std::int32_t unit = facts_.unit_axes[at(access.array)];
  for (std::size_t axis = 0; axis < access.indices.size(); ++axis)
    for (const auto& [id, coefficient] : access.indices[axis].terms)
      if (id == loop->result && static_cast<std::int32_t>(axis) != unit) return true;
  return false;
}

// A sum of indices: an instruction's address has room for it.
bool LaunchWriter::is_index(ValueId id) const {
  return body_.values[at(id)] == DType::Int64 && nest_.forms[at(id)] != Affine{0, {{id, 1}}};
}

// May a load's element be another one in the loop's next iteration, or hold another number?
bool LaunchWriter::varies(const Instr& load, const Instr* loop) const {
  const NestAccess& access = nest_.accesses[at(load.number)];
  const auto is_known = [&](ValueId id) {
    return at(id) < nest_.definitions.size() &&
           (!inside_[at(id)] || nest_.definitions[at(id)]->kind == InstrKind::Loop);
  };
  const auto is_fixed = [&](const Affine& index) {
    return std::ranges::all_of(index.terms, [&](const auto& term) { return is_known(term.first); });
  };
  return !loop || nest_.written[at(access.array)] || uses_index(access, *loop) ||
         !std::ranges::all_of(access.indices, is_fixed);
}

// Of a part of a loop, on average: one at a cut, half of them on each side of an outer index.
double LaunchWriter::rounds_of(const PlanNode& node) const {
  double rounds = rounds_of_loop(facts_, at(node.loop));
  for (const LoopPart& part : node.parts) {
    if (part.side == LoopPart::Side::At) return 1;
    if (part.cut.kind == SplitCandidate::Kind::OuterIndex) rounds /= 2;
  }
  return rounds;
}

void LaunchWriter::add_cost(const PlanNode& node, Rounds loops) {
  const Instr* const around = lanes_;
  if (node.run == LoopRun::Vector || (node.skew > 0 && !node.by_rows)) lanes_ = node.instr;
  if (node.run == LoopRun::Vector) launch_.lanes = std::max(launch_.lanes, rounds_of(node));
  if (node.loop >= 0 && node.instr != launch_.across) {
    // A nest that is a While, and has no loop in it, was taken in the middle: it goes on for long.
    const bool is_all = nest_.loop(node.loop).may_be_endless() && loops.empty() && !launch_.loop;
    loops.emplace_back(node.instr, is_all ? nest_cost::rounds_of_long_while : rounds_of(node));
    if (node.skewed >= 0 && !node.by_rows && node.grain != PlanNode::Grain::Wave)
      loops.emplace_back(nest_.loop(node.skewed).instr, rounds_of_loop(facts_, at(node.skewed)));
  }
  add_values_cost(node, loops);
  for (const PlanNode& n : node.body) add_cost(n, loops);
  if (!node.by_rows)
    for (const PlanNode& n : node.other) add_cost(n, loops);
  lanes_ = around;
}

}  // namespace frit
