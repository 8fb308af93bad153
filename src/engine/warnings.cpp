// warnings.cpp: from raised status flags to the op and the source line that a warning names.
//
// A flag says only that some op of a launch did something. Which one, and whether it counts, is
// found by replaying the group op by op, in chunks, and looking at the values: NaN out of no NaN is
// invalid, infinity out of finite numbers is a division by zero or an overflow. Conversions count
// too: of values that no integer holds, or no smaller float. A replay needs an op's inputs: where
// the launch has overwritten them, what the other ops don't explain is put down to the last such op
// that may raise it.
#include <algorithm>
#include <cstring>

#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/pool.h"
#include "engine/replay.h"

namespace frit {
namespace {

std::uint8_t bit(FloatError error) { return static_cast<std::uint8_t>(error); }

// Those of the flags that what a node has written shows, where nothing was written over it.
unsigned shown(const std::vector<const Node*>& members, std::size_t k, unsigned flags) {
  const Node& node = *members[k];
  const bool is_last =
      std::none_of(members.begin() + static_cast<std::ptrdiff_t>(k) + 1, members.end(),
                   [&](const Node* later) { return later->out.base == node.out.base; });
  return node.kind == NodeKind::Elementwise && is_last ? shown(node.op, node.out, flags) : flags;
}

}  // namespace

void Engine::note_float_flags(Op op, SourcePosition position, std::uint8_t checks, unsigned flags,
                              bool reduction) {
  const auto note = [&](unsigned flag, FloatError error) {
    if ((flags & flag) == 0 || (checks & bit(error)) == 0) return;
    for (const FloatWarning& w : float_warnings)
      if (w.error == error && w.source.code == position.code &&
          w.source.instruction == position.instruction && w.source.ufunc == position.ufunc &&
          w.source.step == position.step &&
          (w.op == op || position.ufunc))
        return;
    float_warnings.push_back({error, op, position, reduction});
  };
  note(flag_divide, FloatError::DivideByZero);
  note(flag_overflow, FloatError::Overflow);
  note(flag_invalid, FloatError::Invalid);
}

// A line that has recorded a step several times warns as often. The parts of a composite ufunc warn
// once.
SourcePosition Engine::source_of(const Node& node) const {
  SourcePosition at = node.source;
  const auto number = static_cast<std::uint64_t>(&node - nodes_.data());
  if (!at.ufunc) at.step = static_cast<std::uint32_t>(segment_ << 12 | number);
  return at;
}

void Engine::note_conversion(Op op, DType from, DType to, const void* in, const void* out,
                             std::int64_t n) {
  note_float_flags(op, source, settings.float_checks, flags_of_conversion(from, to, in, out, n));
}

void Engine::note_small(Op op, const Signature& signature, void* const* args, std::int64_t n,
                        unsigned splat, unsigned flags) {
  const auto bytes_of = [&](int k, DType dtype) {
    const auto* data = static_cast<const std::byte*>(args[k]);
    const auto item = static_cast<std::size_t>(size_of(dtype));
    const bool single = k > 0 && (splat >> (k - 1) & 1) != 0;
    std::vector<std::byte> result(static_cast<std::size_t>(n) * item);
    if (!single && n > 0) std::memcpy(result.data(), data, result.size());
    for (std::size_t at = 0; single && at < result.size(); at += item)
      std::memcpy(result.data() + at, data, item);
    return result;
  };
  std::vector<std::vector<std::byte>> in;
  std::vector<const std::byte*> data;
  bool intact = true;
  for (int k = 1; k <= info(op).inputs; ++k) {
    intact &= args[k] != args[0];
    data.push_back(in.emplace_back(bytes_of(k, signature.in[k - 1])).data());
  }
  const std::vector<std::byte> out = bytes_of(0, signature.out);
  flags = intact ? flags_from_values(op, signature, n, data, out.data(), flags)
                 : shown(op, signature.out, out.data(), n, meant(op, signature, flags));
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
  std::vector<Found> found(members.size());
  if (replay_whole(members, step.launch, slots_, found)) {
    // Each node has said what it raised.
  } else {
    const std::vector<bool> intact = intact_nodes(members, step.launch, slots_);
    replay_in_chunks(members, intact, found);
    for (std::size_t k = 0; k < members.size(); ++k)
      flags &= ~(explained(*members[k], found[k].op) | found[k].inputs);
    // What no replayed op explains belongs to those that could not be, or to the first user's
    // kernel, or the last reduction.
    std::size_t taker = members.size();
    for (std::size_t k = members.size(); k-- > 0;) {
      const Node& node = *members[k];
      if (!is_candidate(node)) continue;
      if (!intact[k]) found[k].op = shown(members, k, claimed(node, flags));
      if (node.kind == NodeKind::Routine ||
          (node.kind == NodeKind::Reduce && taker == members.size() &&
           may_warn(node.op, node.signature.in[0])))
        taker = k;
    }
    if (taker < members.size()) {
      const Node& node = *members[taker];
      found[taker].op |= node.kind == NodeKind::Reduce ? credible(node.out, flags) : flags;
    }
  }
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Node& node = *members[k];
    const bool reduction = node.kind == NodeKind::Reduce;
    const SourcePosition at = source_of(node);
    note_float_flags(node.op, at, node.float_checks, found[k].op, reduction);
    // NumPy converts few elements in a step of its own, more of them inside the op's loop.
    const bool inside = reduction || node.out.layout->size() > converted_apart;
    note_float_flags(inside ? node.op : Op::Copy, at, node.float_checks, found[k].inputs,
                     reduction);
  }
}

}  // namespace frit
