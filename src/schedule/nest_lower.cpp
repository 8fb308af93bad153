// nest_lower.cpp: writes the launches of a plan as Kernels, and the rest as steps of the host.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "ir/error.h"
#include "ir/kernel_writer.h"
#include "schedule/nest_program.h"

namespace frit {
namespace {

constexpr std::int64_t most_unrolled = 8;    // rounds,
constexpr std::size_t longest_unrolled = 160;  // and instructions when it is done
constexpr std::int64_t tile_length = 512;
constexpr std::int64_t most_chunks = 64;
constexpr double lane_cost = 0.08, order_cost = 0.35, function_cost = 1.5;  // ns an op

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

Scalar number_in(DType dtype, double value) {
  Scalar result{.dtype = dtype};
  void* args[2] = {result.bytes, &value};
  cast_loop(DType::Float64, dtype)(args, 1, 0);
  return result;
}

// The least or largest number of a type.
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

// What a sum by `op` starts from: adding it changes nothing, not even the sign of a zero.
Scalar start_of(Op op, DType dtype) {
  if (op == Op::Maximum || op == Op::Fmax) return extreme_of(dtype, false);
  if (op == Op::Minimum || op == Op::Fmin) return extreme_of(dtype, true);
  if (op == Op::Add && is_float(dtype)) return number_in(dtype, -0.0);
  const auto identity = identity_of(op, dtype);
  if (identity && identity->dtype == dtype) return *identity;
  Scalar zero{.dtype = dtype};
  return zero;
}

Op combining(Op op) { return op == Op::Subtract ? Op::Add : op; }
bool wants_least(Op compare) { return compare == Op::Less || compare == Op::LessEqual; }

// ---- one launch ---------------------------------------------------------------------------------

class LaunchWriter {
 public:
  LaunchWriter(const JudgedNest& judged, const PlanFacts& facts)
      : judged_(judged),
        nest_(*judged.nest),
        body_(nest_.routine.body),
        facts_(facts),
        values_(body_.values.size(), no_value),
        locals_(body_.locals.size(), -1) {}

  // Nodes that run one after another, as one iteration.
  NestLaunch in_order(const std::vector<const PlanNode*>& nodes) {
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

  NestLaunch parallel(const PlanNode& node) {
    using Grain = PlanNode::Grain;
    find_inside({&node});
    launch_.loop = node.instr;
    launch_.parts = node.parts;
    launch_.grain = node.grain;
    const ValueId round = writer_.open_parallel(node.grain == Grain::Lane);
    if (node.grain == Grain::Lane) lanes_loop_ = node.loop;
    const ValueId begin = integer({Kind::Begin});
    if (node.grain == Grain::Chunk || node.grain == Grain::Tile) {
      const ValueId length = integer({Kind::Chunk}), end = integer({Kind::End});
      const ValueId low = int_apply(Op::Add, begin, int_apply(Op::Multiply, round, length));
      ranges_[node.loop] = {low, int_apply(Op::Minimum, int_apply(Op::Add, low, length), end)};
    } else {
      values_[at(node.instr->result)] = int_apply(Op::Add, begin, round);
    }
    if (node.grain == Grain::Chunk)
      chunk(node, round);
    else
      emit_loop_body(node);
    if (node.grain != Grain::Chunk) store_last(node, values_[at(node.instr->result)]);
    writer_.close_loop();
    for (const PlanNode& n : node.body) add_cost(n, {});
    launch_.shortest_chunk = has_inner_loop(node) ? 1 : facts_.shortest_chunk;
    return finish();
  }

 private:
  using Kind = NestLaunch::Integer::Kind;

  NestLaunch finish() {
    launch_.kernel = std::make_shared<const Kernel>(writer_.finish());
    return std::move(launch_);
  }

  bool has_inner_loop(const PlanNode& node) const {
    const std::function<int(const std::vector<PlanNode>&)> depth =
        [&](const std::vector<PlanNode>& nodes) {
          int most = 0;
          for (const PlanNode& n : nodes)
            most = std::max({most, depth(n.other), depth(n.body) + (n.loop >= 0 ? 1 : 0)});
          return most;
        };
    return depth(node.body) > (node.grain == PlanNode::Grain::Chunk ? 1 : 0);
  }

  // ---- arguments --------------------------------------------------------------------------------

  template <class T>
  static std::int32_t number_of(std::vector<T>& list, const T& wanted, bool& added) {
    const auto found = std::find(list.begin(), list.end(), wanted);
    added = found == list.end();
    const auto number = static_cast<std::int32_t>(found - list.begin());
    if (added) list.push_back(wanted);
    return number;
  }
  std::int32_t integer_number(const NestLaunch::Integer& wanted) {
    bool added;
    const std::int32_t number = number_of(launch_.integers, wanted, added);
    if (added) check(writer_.integer() == number, "arguments are numbered as they are added");
    return number;
  }
  ValueId integer(const NestLaunch::Integer& wanted) {
    return writer_.integer_value(integer_number(wanted));
  }
  ValueId scalar(const NestLaunch::Number& wanted, DType dtype) {
    bool added;
    const std::int32_t number = number_of(launch_.scalars, wanted, added);
    if (added) scalar_values_.push_back(writer_.scalar(dtype));
    return scalar_values_[at(number)];
  }
  std::int32_t operand(const NestLaunch::Pointer& wanted, DType dtype, bool writes) {
    bool added;
    const std::int32_t number = number_of(launch_.operands, wanted, added);
    if (added) writer_.operand(dtype, false);
    if (writes) writer_.mark_written(number);
    return number;
  }
  ValueId host_local(std::size_t x) {
    return scalar({.value = no_value, .local = static_cast<std::int32_t>(x)}, body_.locals[x]);
  }

  // ---- values -----------------------------------------------------------------------------------

  // A value of the launch, or else of the host, which is an argument.
  ValueId value(ValueId id) {
    if (id == no_value) return no_value;
    ValueId& known = values_[at(id)];
    if (known != no_value) return known;
    const Instr& definition = *nest_.definitions[at(id)];
    if (definition.kind == InstrKind::Constant) return writer_.constant(definition.constant);
    if (definition.kind == InstrKind::IntegerArg) {
      const Affine& form = nest_.forms[at(id)];
      if (form.terms.empty()) return writer_.constant_int(form.constant);
    }
    check(!inside_[at(id)], ("a value of a launch is written before it is used" + std::to_string(id) + print(judged_) + print(nest_.routine) + print(plan_nest(judged_, facts_))).c_str());
    if (body_.values[at(id)] == DType::Int64) return known = integer({Kind::Value, id});
    return known = scalar({.value = id, .local = -1}, body_.values[at(id)]);
  }
  ValueId int_apply(Op op, ValueId a, ValueId b) { return writer_.apply(op, DType::Int64, a, b); }
  ValueId less(ValueId a, ValueId b) { return writer_.apply(Op::Less, DType::Bool, a, b); }

  Address address(const Instr& instr, bool writes) {
    const std::int32_t parameter = instr.address.operand;
    const DType dtype = body_.operands[at(parameter)].dtype;
    const bool own = std::any_of(launch_.arrays.begin(), launch_.arrays.end(), [&](const auto& a) {
      return a.parameter == nest_.array_of(parameter);
    });
    Address made;
    if (own) {
      made.operand = operand({NestLaunch::Pointer::Kind::PartialArray, parameter}, dtype, writes);
      made.terms.push_back({chunk_, integer_number({Kind::PartialBytes, parameter})});
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

  // ---- locals -----------------------------------------------------------------------------------

  std::int32_t local(std::size_t x) {
    if (locals_[x] < 0) locals_[x] = writer_.local(body_.locals[x]);
    return locals_[x];
  }
  // Does somebody outside of the launch read or write it?
  bool is_shared(std::size_t x) const { return mentions_in_all_[x] > mentions_[x]; }

  // Which values and locals belong to the launch.
  void find_inside(const std::vector<const PlanNode*>& nodes) {
    inside_.assign(body_.values.size(), false);
    reads_.assign(body_.locals.size(), false);
    writes_.assign(body_.locals.size(), false);
    mentions_.assign(body_.locals.size(), 0);
    mentions_in_all_.assign(body_.locals.size(), 0);
    mentioned_.clear();
    count_mentions(body_.code, mentions_in_all_);
    for (const PlanNode* n : nodes) add_inside(*n);
  }
  static void count_mentions(const Block& block, std::vector<std::int32_t>& mentions) {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::ReadLocal || instr.kind == InstrKind::WriteLocal)
        ++mentions[at(instr.number)];
      count_mentions(instr.body, mentions);
      count_mentions(instr.other, mentions);
    }
  }
  void add_inside(const PlanNode& node) {
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
  void add_values(const Block& block) {
    for (const Instr& instr : block) {
      if (instr.result == no_value || instr.kind == InstrKind::Loop) continue;
      if (inside_[at(instr.result)]) continue;  // a block that stands in several pieces
      inside_[at(instr.result)] = true;
      if (instr.kind != InstrKind::ReadLocal) continue;
      reads_[at(instr.number)] = true;
      ++mentions_[at(instr.number)];
    }
  }

  void store_local(std::int32_t x) {
    const std::int32_t to =
        operand({NestLaunch::Pointer::Kind::Local, x}, body_.locals[at(x)], true);
    writer_.store({.operand = to, .terms = {}}, writer_.read_local(local(at(x))));
  }

  LocalRole role(const PlanNode& node, std::size_t x) const {
    return judged_.locals.role(node.loop, static_cast<std::int32_t>(x));
  }

  // The value that the last iteration leaves in a local.
  void store_last(const PlanNode& node, ValueId index) {
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

  // ---- chunks -----------------------------------------------------------------------------------

  // Each chunk sums from the op's neutral element; the host adds the chunks' sums in order.
  void chunk(const PlanNode& node, ValueId round) {
    chunk_ = round;
    for (std::size_t x = 0; x < locals_.size(); ++x) {
      if (!writes_[x]) continue;
      if (auto reduction = reduction_of(node, static_cast<std::int32_t>(x)))
        launch_.reductions.push_back(std::move(*reduction));
    }
    add_arrays(node);
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

  std::optional<ChunkReduction> reduction_of(const PlanNode& node, std::int32_t x) const {
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
  bool is_inside(const PlanNode& node, const Instr* instr) const {
    return contains(nest_.loop(node.loop).instr->body, instr);
  }
  static bool contains(const Block& block, const Instr* wanted) {
    return std::any_of(block.begin(), block.end(), [&](const Instr& instr) {
      return &instr == wanted || contains(instr.body, wanted) || contains(instr.other, wanted);
    });
  }

  void add_arrays(const PlanNode& node) {
    for (const NestUpdate& u : nest_.updates) {
      const NestAccess& store = nest_.accesses[at(u.store)];
      const auto path = nest_.path_to(store.loop);
      if (std::find(path.begin(), path.end(), node.loop) == path.end()) continue;
      if (!is_reduced(node.loop, store.array)) continue;
      const bool known = std::any_of(launch_.arrays.begin(), launch_.arrays.end(),
                                     [&](const ChunkArray& a) { return a.parameter == store.array; });
      const DType dtype = body_.operands[at(store.array)].dtype;
      if (!known)
        launch_.arrays.push_back(
            {store.array, combining(u.op), start_of(combining(u.op), dtype)});
    }
  }
  // Is there a dependence that the loop carries, and only between updates?
  bool is_reduced(std::int32_t loop, std::int32_t array) const {
    if (!is_reduction_of_array(nest_, loop, array)) return false;
    for (std::size_t k = 0; k < nest_.dependences.size(); ++k) {
      const Dependence& d = nest_.dependences[k];
      if (!judged_.active[k] || nest_.accesses[at(d.source)].array != array) continue;
      if (d.level >= d.common || d.level != nest_.loop(loop).depth) continue;
      if (nest_.path_to(nest_.accesses[at(d.source)].loop)[at(d.level)] == loop) return true;
    }
    return false;
  }

  // ---- nodes ------------------------------------------------------------------------------------

  // Nodes of which several may stand for one instruction, with no values between them.
  void emit_in_order(const std::vector<PlanNode>& nodes) {
    for (const PlanNode& n : nodes) emit(n);
  }

  // The values and statements of the blocks, as they stand in the text.
  void emit_blocks(const std::vector<const Block*>& blocks, const std::vector<PlanNode>& nodes) {
    if (blocks.empty()) return emit_in_order(nodes);
    std::vector<bool> needed(body_.values.size());
    for (const PlanNode& n : nodes) need(n, needed);
    for (const Block* block : blocks)
      for (const Instr& instr : *block) {
        const bool is_value = instr.result != no_value && instr.kind != InstrKind::Loop;
        if (is_value && needed[at(instr.result)]) emit_value(instr);
        if (is_value) continue;
        for (const PlanNode& n : nodes)
          if (n.instr == &instr) emit(n);
      }
  }

  void need(const PlanNode& node, std::vector<bool>& needed) const {
    if (node.instr) {
      for (ValueId arg : node.instr->args) need(arg, needed);
      for (const Term& term : node.instr->address.terms) need(term.index, needed);
    }
    if (node.skewed >= 0)
      for (ValueId arg : nest_.loop(node.skewed).instr->args) need(arg, needed);
    for (const PlanNode& n : node.body) need(n, needed);
    for (const PlanNode& n : node.other) need(n, needed);
  }
  void need(ValueId id, std::vector<bool>& needed) const {
    if (id == no_value || needed[at(id)]) return;
    needed[at(id)] = true;
    const Instr& definition = *nest_.definitions[at(id)];
    for (ValueId arg : definition.args) need(arg, needed);
    for (const Term& term : definition.address.terms) need(term.index, needed);
  }

  void emit_value(const Instr& instr) {
    ValueId& made = values_[at(instr.result)];
    switch (instr.kind) {
      case InstrKind::Constant:
        made = writer_.constant(instr.constant);
        return;
      case InstrKind::Apply:
        made = writer_.apply(instr.op, body_.values[at(instr.result)], value(instr.args[0]),
                             value(instr.args[1]), value(instr.args[2]));
        return;
      case InstrKind::Cast:
        made = writer_.cast(value(instr.args[0]), body_.values[at(instr.result)]);
        return;
      case InstrKind::Load:
        made = writer_.load_here(address(instr, false));
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

  void emit(const PlanNode& node) {
    if (!node.instr) return emit_in_order(node.body);
    const Instr& instr = *node.instr;
    switch (instr.kind) {
      case InstrKind::Store:
        return writer_.store(address(instr, true), value(instr.args[0]));
      case InstrKind::WriteLocal:
        return writer_.write_local(local(at(instr.number)), value(instr.args[0]));
      case InstrKind::If:
        writer_.open_if(value(instr.args[0]));
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

  // ---- loops ------------------------------------------------------------------------------------

  std::pair<ValueId, ValueId> range_of(const PlanNode& node) {
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

  void emit_loop(const PlanNode& node) {
    if (node.skew > 0) return emit_wavefront(node);
    const auto [begin, end] = range_of(node);
    if (node.run == LoopRun::Vector) return emit_vector(node, begin, end);
    if (unrolls(node)) return emit_unrolled(node);
    if (lanes_loop_ >= 0 && (differs(node.instr->args[0]) || differs(node.instr->args[1])))
      return emit_loop_of_lanes(node, begin, end);
    values_[at(node.instr->result)] = writer_.open_loop(begin, end, false);
    emit_loop_body(node);
    writer_.close_loop();
  }

  void emit_loop_body(const PlanNode& node) { emit_blocks(node.blocks, node.body); }

  // Each lane has its own bounds: it counts for itself.
  void emit_loop_of_lanes(const PlanNode& node, ValueId begin, ValueId end) {
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

  // May the value differ between the lanes?
  bool differs(ValueId id) const {
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

  static std::size_t length_of(const std::vector<const Block*>& blocks) {
    std::size_t n = 0;
    for (const Block* block : blocks)
      for (const Instr& instr : *block) n += 1 + length_of({&instr.body, &instr.other});
    return n;
  }
  std::optional<std::pair<std::int64_t, std::int64_t>> literal_bounds(const PlanNode& node) const {
    const Affine &begin = nest_.forms[at(node.instr->args[0])],
                 &end = nest_.forms[at(node.instr->args[1])];
    if (!begin.terms.empty() || !end.terms.empty()) return std::nullopt;
    return std::pair{begin.constant, end.constant};
  }
  std::size_t length_when_unrolled(const PlanNode& node) const {
    std::size_t n = length_of(node.blocks);
    for (const PlanNode& inner : node.body)
      if (inner.loop >= 0 && unrolls(inner)) {
        const auto bounds = literal_bounds(inner);
        n += length_when_unrolled(inner) *
             static_cast<std::size_t>(std::max<std::int64_t>(0, bounds->second - bounds->first));
      }
    return n;
  }
  bool unrolls(const PlanNode& node) const {
    if (node.run != LoopRun::Serial || node.instr->kind != InstrKind::Loop || node.skew ||
        !node.parts.empty() || ranges_.contains(node.loop) || lanes_loop_ < 0)
      return false;
    const auto bounds = literal_bounds(node);
    if (!bounds || bounds->second - bounds->first > most_unrolled) return false;
    const auto rounds = std::max<std::int64_t>(0, bounds->second - bounds->first);
    return length_when_unrolled(node) * static_cast<std::size_t>(rounds) <= longest_unrolled;
  }
  void emit_unrolled(const PlanNode& node) {
    const auto bounds = literal_bounds(node);
    for (std::int64_t i = bounds->first; i < bounds->second; ++i) {
      values_[at(node.instr->result)] = writer_.constant_int(i);
      emit_loop_body(node);
    }
  }

  // ---- lanes ------------------------------------------------------------------------------------

  struct LaneSum {
    std::size_t local;
    std::int32_t outer;  // the kernel's local for it, outside of the loop
    std::int32_t lane;   // what one iteration adds
    Op op{};
    Op compare{};        // of an extreme
    bool extreme = false;
    std::int32_t best = -1;  // an extreme: of all lanes
  };

  void emit_vector(const PlanNode& node, ValueId begin, ValueId end) {
    std::vector<LaneSum> sums = open_sums(node);
    const std::vector<std::int32_t> outside = locals_;
    renew_private(node);
    const std::int32_t around = std::exchange(lanes_loop_, node.loop);
    values_[at(node.instr->result)] = writer_.open_loop(begin, end, true);
    for (const LaneSum& s : sums) {
      const DType dtype = body_.locals[s.local];
      const Scalar start = s.extreme ? extreme_of(dtype, wants_least(s.compare))
                                     : start_of(s.op, dtype);
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
      writer_.open_if(
          writer_.apply(s.compare, DType::Bool, best, writer_.read_local(s.outer)));
      writer_.write_local(s.outer, best);
      writer_.close_if();
    }
  }

  // A local that differs between lanes is another one than outside of the loop.
  void renew_private(const PlanNode& node) {
    std::vector<bool> written(locals_.size());
    find_writes(node.body, written);
    for (std::size_t x = 0; x < locals_.size(); ++x)
      if (written[x] && role(node, x) == LocalRole::Private) locals_[x] = -1;
  }

  std::vector<LaneSum> open_sums(const PlanNode& node) {
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
        s.op = is_float(dtype) ? (least ? Op::Fmin : Op::Fmax)
                               : (least ? Op::Minimum : Op::Maximum);
        writer_.write_local(s.best, writer_.constant(extreme_of(dtype, least)));
      }
      sums.push_back(s);
    }
    return sums;
  }
  static void find_writes(const std::vector<PlanNode>& nodes, std::vector<bool>& written) {
    for (const PlanNode& n : nodes) {
      if (n.instr && n.instr->kind == InstrKind::WriteLocal) written[at(n.instr->number)] = true;
      find_writes(n.body, written);
      find_writes(n.other, written);
    }
  }

  // w = skew * i + j in order; the iterations (i, w - skew * i) are lanes.
  void emit_wavefront(const PlanNode& node) {
    const PlanNode inner{.instr = nest_.loop(node.skewed).instr, .loop = node.skewed};
    const auto [i_begin, i_end] = range_of(node);
    const auto [j_begin, j_end] = range_of(inner);
    const ValueId one = writer_.constant_int(1), skew = writer_.constant_int(node.skew);
    const auto plus = [&](ValueId a, ValueId b) { return int_apply(Op::Add, a, b); };
    const auto minus = [&](ValueId a, ValueId b) { return int_apply(Op::Subtract, a, b); };
    const auto times_skew = [&](ValueId a) { return int_apply(Op::Multiply, a, skew); };
    const auto floor = [&](ValueId a) { return int_apply(Op::FloorDivide, a, skew); };
    // An i that has iterations at all.
    writer_.open_if(less(j_begin, j_end));
    const ValueId first = plus(times_skew(i_begin), j_begin);
    const ValueId behind = plus(times_skew(minus(i_end, one)), j_end);
    writer_.open_if(less(i_begin, i_end));
    const ValueId w = writer_.open_loop(first, behind, false);
    const ValueId low = floor(plus(minus(w, j_end), skew));
    const ValueId high = plus(floor(minus(w, j_begin)), one);
    const std::int32_t around = std::exchange(lanes_loop_, node.loop);
    lanes_partner_ = node.skewed;
    const std::vector<std::int32_t> outside = locals_;
    renew_private(node);
    const ValueId i = writer_.open_loop(int_apply(Op::Maximum, i_begin, low),
                                        int_apply(Op::Minimum, i_end, high), true);
    values_[at(node.instr->result)] = i;
    values_[at(inner.instr->result)] = minus(w, times_skew(i));
    emit_loop_body(node);
    writer_.close_loop();
    lanes_loop_ = around;
    lanes_partner_ = -1;
    locals_ = outside;
    writer_.close_loop();
    writer_.close_if();
    writer_.close_if();
  }

  // ---- cost -------------------------------------------------------------------------------------

  void add_cost(const PlanNode& node, std::vector<std::pair<const Instr*, double>> loops) {
    const bool lanes = node.run == LoopRun::Vector || node.skew > 0 || in_lanes_;
    if (node.loop >= 0) {
      const double rounds = at(node.loop) < facts_.rounds.size() ? facts_.rounds[at(node.loop)] : 64;
      loops.emplace_back(node.instr, rounds);
      if (node.skewed >= 0) {
        const double more =
            at(node.skewed) < facts_.rounds.size() ? facts_.rounds[at(node.skewed)] : 64;
        loops.emplace_back(nest_.loop(node.skewed).instr, more);
      }
    }
    const double each = lanes || launch_.grain == PlanNode::Grain::Lane ? lane_cost : order_cost;
    double weight = node.loop < 0 ? each : 0;
    for (const Block* block : node.blocks)
      for (const Instr& instr : *block) {
        if (instr.kind == InstrKind::Apply) weight += has(instr.op, Costly) ? function_cost : each;
        if (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) weight += each;
      }
    if (weight > 0) launch_.cost.push_back({weight, loops});
    const bool around = std::exchange(in_lanes_, lanes);
    for (const PlanNode& n : node.body) add_cost(n, loops);
    for (const PlanNode& n : node.other) add_cost(n, loops);
    in_lanes_ = around;
  }

  const JudgedNest& judged_;
  const Nest& nest_;
  const Kernel& body_;
  const PlanFacts& facts_;
  NestLaunch launch_;
  KernelWriter writer_;
  std::vector<ValueId> values_;        // by value of the Routine: in the kernel, or no_value
  std::vector<std::int32_t> locals_;   // by local of the Routine: in the kernel, or -1
  std::vector<ValueId> scalar_values_;
  std::vector<bool> inside_;           // by value: the launch computes it
  std::vector<bool> reads_, writes_;   // by local: in the launch
  std::vector<std::int32_t> mentions_, mentions_in_all_;  // by local
  std::set<const Instr*> mentioned_;   // WriteLocals of the launch
  std::map<std::int32_t, std::pair<ValueId, ValueId>> ranges_;  // of chunks and tiles, by loop
  ValueId chunk_ = no_value;           // the number of the chunk
  std::int32_t lanes_loop_ = -1;       // the loop whose iterations are lanes now
  std::int32_t lanes_partner_ = -1;    // a wavefront's other loop
  bool in_lanes_ = false;
};

// ---- the host -----------------------------------------------------------------------------------

class ProgramWriter {
 public:
  ProgramWriter(NestProgram& program, const PlanFacts& facts)
      : program_(program), nest_(*program.judged.nest), facts_(facts) {}

  void run() {
    program_.steps = block(nest_.routine.body.code, program_.plan.nodes);
  }

 private:
  static bool is_host(const PlanNode& n) {
    return n.instr && (n.run == LoopRun::Host || n.run == LoopRun::Parallel);
  }

  std::vector<NestStep> block(const Block& block, const std::vector<PlanNode>& nodes) {
    std::vector<NestStep> steps;
    std::vector<bool> placed(nodes.size());
    std::vector<const PlanNode*> waiting;  // nodes that share a launch
    const auto launch_waiting = [&] {
      if (waiting.empty()) return;
      steps.push_back(launch(LaunchWriter(program_.judged, facts_).in_order(waiting)));
      waiting.clear();
    };
    for (const Instr& instr : block) {
      if (instr.result != no_value && instr.kind != InstrKind::Loop) {
        // A value that a waiting launch changes is computed behind it; what only depends on
        // arguments and constants is not.
        if (changes(instr)) launch_waiting();
        steps.push_back({.kind = NestStep::Kind::Compute, .instr = &instr, .parts = {}});
        continue;
      }
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        const PlanNode& n = nodes[k];
        if (stands_for(n) != &instr) continue;
        placed[k] = true;
        const bool is_plain = n.instr == &instr && (instr.kind == InstrKind::Store ||
                                                    instr.kind == InstrKind::WriteLocal);
        if (!is_host(n) && !(is_plain && waiting.empty())) {
          waiting.push_back(&n);
          continue;
        }
        launch_waiting();
        steps.push_back(step(n));
      }
    }
    launch_waiting();
    check(std::find(placed.begin(), placed.end(), false) == placed.end(),
          "each node of a plan has its place");
    return steps;
  }
  static const Instr* stands_for(const PlanNode& n) {
    return n.place ? n.place : n.instr;
  }
  static bool changes(const Instr& instr) {
    return instr.kind == InstrKind::Load || instr.kind == InstrKind::ReadLocal;
  }

  NestStep launch(NestLaunch made) {
    NestStep s{.kind = NestStep::Kind::Launch, .instr = nullptr, .parts = {}};
    s.launch = static_cast<std::int32_t>(program_.launches.size());
    program_.launches.push_back(std::move(made));
    return s;
  }

  NestStep step(const PlanNode& n) {
    if (n.run == LoopRun::Parallel) {
      NestLaunch made = LaunchWriter(program_.judged, facts_).parallel(n);
      if (!made.arrays.empty()) {
        std::vector<const PlanNode*> inside;
        for (const PlanNode& inner : n.body) inside.push_back(&inner);
        made.in_order = launch(LaunchWriter(program_.judged, facts_).in_order(inside)).launch;
      }
      return launch(std::move(made));
    }
    using Kind = NestStep::Kind;
    NestStep s{.kind = Kind::Compute, .instr = n.instr, .parts = n.parts};
    if (n.instr->kind == InstrKind::Loop) s.kind = Kind::Loop;
    if (n.instr->kind == InstrKind::If) s.kind = Kind::If;
    if (n.instr->kind == InstrKind::While) s.kind = Kind::While;
    if (n.product >= 0) {
      s.kind = Kind::Product;
      s.product = n.product;
      for (const PlanNode& inner : n.body)
        s.body.push_back(is_host(inner)
                             ? step(inner)
                             : launch(LaunchWriter(program_.judged, facts_).in_order({&inner})));
      return s;
    }
    if (s.kind != Kind::Compute) {
      s.body = block(n.instr->body, n.body);
      s.other = block(n.instr->other, n.other);
    }
    return s;
  }

  NestProgram& program_;
  const Nest& nest_;
  const PlanFacts& facts_;
};

// Values of the host that nobody asks for are not computed.
class Sweep {
 public:
  explicit Sweep(NestProgram& program)
      : program_(program), needed_(program.judged.nest->definitions.size()) {}

  void run() {
    for (const NestLaunch& l : program_.launches) {
      for (const NestLaunch::Integer& i : l.integers)
        if (i.kind == NestLaunch::Integer::Kind::Value) need(i.number);
      for (const NestLaunch::Number& n : l.scalars) need(n.value);
      if (l.loop) need_all(*l.loop);
      for (const LoopPart& part : l.parts) need_cut(part);
    }
    mark(program_.steps);
    sweep(program_.steps);
  }

 private:
  const Nest& nest() const { return *program_.judged.nest; }
  void need(ValueId id) {
    if (id == no_value || needed_[at(id)]) return;
    needed_[at(id)] = true;
    need_all(*nest().definitions[at(id)]);
  }
  void need_all(const Instr& instr) {
    for (ValueId arg : instr.args) need(arg);
    for (const Term& term : instr.address.terms) need(term.index);
  }
  void need_cut(const LoopPart& part) {
    if (part.cut.kind == SplitCandidate::Kind::OuterIndex) need(nest().loop(part.cut.loop).index());
  }

  void mark(const std::vector<NestStep>& steps) {
    for (const NestStep& s : steps) {
      if (s.instr && (s.kind != NestStep::Kind::Compute || s.instr->result == no_value))
        need_all(*s.instr);
      for (const LoopPart& part : s.parts) need_cut(part);
      if (s.product >= 0) {
        const NestProduct& p = program_.plan.products[at(s.product)];
        for (std::int32_t l : {p.rows, p.columns, p.inner}) need_all(*nest().loop(l).instr);
      }
      mark(s.body);
      mark(s.other);
    }
  }
  void sweep(std::vector<NestStep>& steps) {
    std::erase_if(steps, [&](const NestStep& s) {
      return s.kind == NestStep::Kind::Compute && s.instr->result != no_value &&
             !needed_[at(s.instr->result)];
    });
    for (NestStep& s : steps) {
      sweep(s.body);
      sweep(s.other);
    }
  }

  NestProgram& program_;
  std::vector<bool> needed_;
};

}  // namespace

std::int64_t chunk_length(const NestLaunch& launch, std::int64_t rounds) {
  if (launch.grain == PlanNode::Grain::Tile) return tile_length;
  const std::int64_t even = (rounds + most_chunks - 1) / most_chunks;
  if (!launch.arrays.empty()) return std::max<std::int64_t>(1, (rounds + 7) / 8);
  return std::max(launch.shortest_chunk, even);
}

std::shared_ptr<const NestProgram> lower_nest(JudgedNest judged, const PlanFacts& facts) {
  auto program = std::make_shared<NestProgram>();
  program->judged = std::move(judged);
  program->plan = plan_nest(program->judged, facts);
  ProgramWriter(*program, facts).run();
  Sweep(*program).run();
  return program;
}

}  // namespace frit
