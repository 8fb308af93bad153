// warnings.cpp: from raised status flags to the op and the source line that a warning names.
//
// A flag says only that some op of a launch did something. Which one, and whether it counts, is
// found by replaying the group op by op, in chunks, and looking at the values: NaN out of no NaN is
// invalid, infinity out of finite numbers is a division by zero or an overflow. A replay needs the
// launch's inputs: where the launch has overwritten them, the flags are put down to the last op
// that may raise them.
#include <algorithm>
#include <cstring>
#include <map>

#include "engine/engine.h"
#include "engine/pack.h"
#include "engine/pool.h"

namespace frit {
namespace {

constexpr std::int64_t chunk_elements = 1 << 15;

std::uint8_t bit(FloatError error) { return static_cast<std::uint8_t>(error); }

bool is_candidate(const Node& node) {
  return !node.site && node.float_checks != 0 && has(node.op, MayWarn);
}

// Which elements are NaN, and which are infinite.
struct Kinds {
  std::vector<std::uint8_t> nan, infinite, zero;
};

void apply_predicate(Op op, DType dtype, const std::byte* data, std::int64_t n,
                     std::vector<std::uint8_t>& result) {
  result.assign(static_cast<std::size_t>(n), 0);
  const Loop test = loop(op, dtype);
  if (!test || !is_inexact(dtype)) return;
  void* args[2] = {result.data(), const_cast<std::byte*>(data)};
  test(args, n, 0);
}

Kinds kinds_of(DType dtype, const std::byte* data, std::int64_t n) {
  Kinds k;
  apply_predicate(Op::Isnan, dtype, data, n, k.nan);
  apply_predicate(Op::Isinf, dtype, data, n, k.infinite);
  k.zero.assign(static_cast<std::size_t>(n), 0);
  void* args[2] = {k.zero.data(), const_cast<std::byte*>(data)};
  cast_loop(dtype, DType::Bool)(args, n, 0);
  for (std::uint8_t& z : k.zero) z = z ? 0 : 1;
  return k;
}

bool divides(Op op) {
  return op == Op::TrueDivide || op == Op::FloorDivide || op == Op::Remainder || op == Op::Fmod ||
         op == Op::Reciprocal || op == Op::Power || op == Op::FloatPower;
}

// An exact infinity: a zero divisor, a zero to a negative power, log(0), atanh(1).
bool is_pole(Op op, const std::vector<Kinds>& inputs, std::size_t e) {
  if (op == Op::Power || op == Op::FloatPower || op == Op::Reciprocal)
    return inputs[0].zero[e] != 0;
  if (divides(op)) return inputs[1].zero[e] != 0;
  return op == Op::Log || op == Op::Log2 || op == Op::Log10 || op == Op::Log1p || op == Op::Arctanh;
}

// What an op's values say, as status flags.
unsigned flags_from_values(Op op, const Signature& signature, std::int64_t n,
                           const std::vector<std::vector<std::byte>>& in,
                           const std::vector<std::byte>& out) {
  const Kinds result = kinds_of(signature.out, out.data(), n);
  std::vector<Kinds> inputs;
  for (std::size_t k = 0; k < in.size(); ++k)
    inputs.push_back(kinds_of(signature.in[k], in[k].data(), n));
  const Kinds& last = inputs.back();
  const bool integer = !is_inexact(signature.out);
  unsigned flags = 0;
  for (std::size_t e = 0; e < static_cast<std::size_t>(n); ++e) {
    bool nan_in = false, infinite_in = false;
    for (const Kinds& k : inputs) {
      nan_in |= k.nan[e] != 0;
      infinite_in |= k.infinite[e] != 0;
    }
    if (integer) {
      if (divides(op) && last.zero[e]) flags |= flag_divide;
      continue;
    }
    if (result.nan[e] && !nan_in) flags |= flag_invalid;
    if (result.infinite[e] && !nan_in && !infinite_in) {
      flags |= is_pole(op, inputs, e) ? flag_divide : flag_overflow;
    }
  }
  return flags;
}

// The rows [begin, end) of a window along one axis, dense.
void pack_part(const Access& a, std::int64_t axis, std::int64_t begin, std::int64_t end,
               std::vector<std::byte>& dense) {
  std::vector<std::int64_t> shape(a.layout->shape().begin(), a.layout->shape().end());
  const std::byte* data = a.base->data + a.offset;
  if (!shape.empty()) {
    shape[static_cast<std::size_t>(axis)] = end - begin;
    data += begin * a.layout->strides()[static_cast<std::size_t>(axis)];
  }
  const LayoutRef part =
      LayoutRef::adopt(make_layout(shape, a.layout->strides(), a.layout->item_size()));
  dense.resize(static_cast<std::size_t>(part->size() * part->item_size()));
  pack(dense.data(), data, *part);
}

bool same_access(const Access& a, const Access& b) {
  return a.base == b.base && a.offset == b.offset && a.layout == b.layout && a.dtype == b.dtype;
}

// Are the group's inputs still what they were?
bool inputs_intact(const std::vector<const Node*>& nodes, const LaunchStep& launch,
                   const std::vector<Base*>& slots) {
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (int j = 0; j < nodes[k]->inputs; ++j) {
      const Access& in = nodes[k]->in[j];
      if (!in.base) continue;
      const bool made_here =
          std::any_of(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(k),
                      [&](const Node* n) { return same_access(n->out, in); });
      if (made_here) continue;
      const bool shadowed = std::any_of(launch.shadows.begin(), launch.shadows.end(),
                                        [&](const auto& s) { return slots[s.slot] == in.base; });
      bool overwritten = false;
      for (const Node* n : nodes)
        for_each_access(*n,
                        [&](const Access& a, bool w) { overwritten |= w && a.base == in.base; });
      if ((overwritten && !shadowed) || !in.base->data) return false;
    }
  return true;
}

// Replays the elementwise nodes of one iteration space; found[k] collects the flags of nodes[k].
class Replay {
 public:
  Replay(const std::vector<const Node*>& nodes, std::vector<unsigned>& found)
      : nodes_(nodes), found_(found) {}

  void run() {
    std::span<const std::int64_t> space;
    for (const Node* n : nodes_)
      if (domain(*n).size() >= space.size()) space = domain(*n);
    std::size_t axis = 0;
    std::int64_t total = 1;
    for (std::size_t k = 0; k < space.size(); ++k) {
      total *= space[k];
      if (space[k] > space[axis]) axis = k;
    }
    const std::int64_t extent = space.empty() ? 1 : space[axis];
    const std::int64_t rows =
        std::max<std::int64_t>(1, chunk_elements / std::max<std::int64_t>(1, total / extent));
    for (std::int64_t begin = 0; begin < extent; begin += rows)
      chunk(space, static_cast<std::int64_t>(axis), begin, std::min(extent, begin + rows));
  }

 private:
  void chunk(std::span<const std::int64_t> space, std::int64_t axis, std::int64_t begin,
             std::int64_t end) {
    std::vector<std::pair<const Access*, std::vector<std::byte>>> made;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const Node& node = *nodes_[k];
      const auto mine = domain(node);
      if (node.kind != NodeKind::Elementwise ||
          !std::equal(mine.begin(), mine.end(), space.begin(), space.end()))
        continue;
      std::int64_t n = 1;
      for (std::size_t j = 0; j < space.size(); ++j)
        n *= static_cast<std::int64_t>(j) == axis ? end - begin : space[j];
      std::vector<std::vector<std::byte>> in(node.inputs);
      bool known = true;
      for (std::size_t j = 0; j < node.inputs && known; ++j)
        known = input(node, j, axis, begin, end, n, made, in[j]);
      if (!known) continue;
      std::vector<std::byte> out(static_cast<std::size_t>(n * size_of(node.signature.out)));
      void* args[1 + max_inputs] = {out.data()};
      for (std::size_t j = 0; j < in.size(); ++j) args[1 + j] = in[j].data();
      if (node.op == Op::Copy)
        out = in[0];
      else
        loop(node.op, node.signature.in[node.op == Op::Select ? 1 : 0])(args, n, 0);
      if (is_candidate(node)) found_[k] |= flags_from_values(node.op, node.signature, n, in, out);
      made.emplace_back(&node.out, cast(std::move(out), node.signature.out, node.out.dtype, n));
    }
  }

  bool input(const Node& node, std::size_t j, std::int64_t axis, std::int64_t begin,
             std::int64_t end, std::int64_t n,
             const std::vector<std::pair<const Access*, std::vector<std::byte>>>& made,
             std::vector<std::byte>& dense) {
    const Access& a = node.in[j];
    const DType type = node.signature.in[j];
    if (!a.base) {
      if (a.offset == iota_input) return false;
      const Scalar& value = node.constants[a.offset];
      const std::vector<std::byte> one(value.bytes, value.bytes + size_of(value.dtype));
      const std::vector<std::byte> element = cast(one, value.dtype, type, 1);
      for (std::int64_t e = 0; e < n; ++e)
        dense.insert(dense.end(), element.begin(), element.end());
      return true;
    }
    for (std::size_t k = made.size(); k-- > 0;)
      if (same_access(*made[k].first, a)) {
        dense = cast(made[k].second, a.dtype, type, n);
        return true;
      }
    if (!a.base->data) return false;
    pack_part(a, axis, begin, end, dense);
    dense = cast(std::move(dense), a.dtype, type, n);
    return true;
  }

  static std::vector<std::byte> cast(std::vector<std::byte> data, DType from, DType to,
                                     std::int64_t n) {
    if (from == to) return data;
    std::vector<std::byte> result(static_cast<std::size_t>(n * size_of(to)));
    void* args[2] = {result.data(), data.data()};
    cast_loop(from, to)(args, n, 0);
    return result;
  }

  const std::vector<const Node*>& nodes_;
  std::vector<unsigned>& found_;
};

}  // namespace

void Engine::note_float_flags(Op op, SourcePosition position, std::uint8_t checks, unsigned flags,
                              bool reduction) {
  const auto note = [&](unsigned flag, FloatError error) {
    if ((flags & flag) == 0 || (checks & bit(error)) == 0) return;
    for (const FloatWarning& w : float_warnings)
      if (w.error == error && w.op == op && w.source.code == position.code &&
          w.source.instruction == position.instruction)
        return;
    float_warnings.push_back({error, op, position, reduction});
  };
  note(flag_divide, FloatError::DivideByZero);
  note(flag_overflow, FloatError::Overflow);
  note(flag_invalid, FloatError::Invalid);
}

void Engine::note_small(Op op, const Signature& signature, void* const* args, std::int64_t n,
                        unsigned splat, unsigned flags) {
  const auto bytes_of = [&](int k, DType dtype) {
    const auto* data = static_cast<const std::byte*>(args[k]);
    const auto item = static_cast<std::size_t>(size_of(dtype));
    std::vector<std::byte> result;
    const bool single = k > 0 && (splat >> (k - 1) & 1) != 0;
    for (std::int64_t e = 0; e < n; ++e) {
      const std::byte* element = data + (single ? 0 : static_cast<std::size_t>(e) * item);
      result.insert(result.end(), element, element + item);
    }
    return result;
  };
  std::vector<std::vector<std::byte>> in;
  bool intact = true;
  for (int k = 1; k <= info(op).inputs; ++k) {
    intact &= args[k] != args[0];
    in.push_back(bytes_of(k, signature.in[k - 1]));
  }
  if (intact) flags = flags_from_values(op, signature, n, in, bytes_of(0, signature.out));
  note_float_flags(op, source, settings.float_checks, flags);
}

void Engine::diagnose(const Step& step, const CachedPlan& cached, unsigned flags) {
  flags &= flags_of_interest;
  std::vector<const Node*> members;
  std::size_t candidates = 0;
  for (std::uint32_t k : cached.plan->groups[step.group].nodes) {
    members.push_back(&nodes_[k]);
    candidates += is_candidate(nodes_[k]) ? 1 : 0;
  }
  if (candidates == 0) return;
  std::vector<unsigned> found(members.size(), 0);
  if (inputs_intact(members, step.launch, slots_)) {
    Replay(members, found).run();
    unsigned explained = 0;
    for (unsigned f : found) explained |= f;
    // What no elementwise op explains belongs to a reduction.
    for (std::size_t k = members.size(); k-- > 0;)
      if (members[k]->kind == NodeKind::Reduce && is_candidate(*members[k])) {
        found[k] = flags & ~explained;
        break;
      }
  } else {
    for (std::size_t k = members.size(); k-- > 0;)
      if (is_candidate(*members[k])) {
        found[k] = flags;
        break;
      }
  }
  for (std::size_t k = 0; k < members.size(); ++k)
    note_float_flags(members[k]->op, members[k]->source, members[k]->float_checks, found[k],
                     members[k]->kind == NodeKind::Reduce);
}

}  // namespace frit
