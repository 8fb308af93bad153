// warnings.cpp: from raised status flags to the op and the source line that a warning names.
//
// A flag says only that some op of a launch did something. Which one, and whether it counts, is
// found by replaying the group op by op, in chunks, and looking at the values: NaN out of no NaN is
// invalid, infinity out of finite numbers is a division by zero or an overflow. Conversions count
// too: of values that no integer holds, or no smaller float. A replay needs an op's inputs: where
// the launch has overwritten them, what the other ops don't explain is put down to the last such op
// that may raise it. Users' kernels are judged by nest_replay.h.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/nest_replay.h"
#include "engine/pool.h"
#include "engine/replay.h"

namespace frit {
namespace {

std::uint8_t bit(FloatError error) { return static_cast<std::uint8_t>(error); }

// Does the memory that the k-th node wrote still hold that?
bool is_last_to_write(const std::vector<const Node*>& members, std::size_t k) {
  return std::none_of(members.begin() + static_cast<std::ptrdiff_t>(k) + 1, members.end(),
                      [&](const Node* later) { return later->out.base == members[k]->out.base; });
}

// Those of the flags that what a node has written shows, where nothing was written over it.
unsigned shown(const std::vector<const Node*>& members, std::size_t k, unsigned flags) {
  const Node& node = *members[k];
  const bool tells = node.kind == NodeKind::Elementwise && is_last_to_write(members, k);
  return tells ? shown(node.op, node.out, flags) : flags;
}

// May the machine have taken a NaN for invalid here, where NumPy doesn't? It compares NaNs: those
// of an operand, or the one that fmax begins with.
bool takes_nans_for_invalid(const std::vector<const Node*>& members) {
  return std::ranges::any_of(members, [](const Node* node) {
    if (node->kind != NodeKind::Elementwise && node->kind != NodeKind::Reduce) return false;
    const DType dtype = node->signature.in[0];
    return orders_floats(node->op, dtype) || raises_flags_of_its_own(node->op, dtype);
  });
}

FlagJudge& judge_of(const Routine& routine) {
  static std::unordered_map<std::uint64_t, FlagJudge> judges;  // under the engine's lock
  constexpr std::size_t most = 256;
  if (judges.size() >= most && !judges.contains(routine.id)) judges.clear();
  return judges.try_emplace(routine.id, routine.body).first->second;
}

// The step that puts the parts of a reduction together; null: its launch makes all of it.
const CombineStep* combination_of(const Plan& plan, std::uint32_t node) {
  for (const Step& step : plan.steps)
    if (step.kind == StepKind::Combine && step.combine.initial.node == node) return &step.combine;
  return nullptr;
}

// Those of the flags that the parts show: what is invalid leaves a NaN in a sum or a product, what
// overflows an infinity or a NaN.
unsigned shown_by(const CombineStep& parts, const std::byte* partials, unsigned flags) {
  return shown(Op::Copy, parts.dtype, partials, parts.count, flags);
}

// Does the memory still hold what the k-th node met there, but for what it wrote itself?
bool is_unchanged(const Base* base, const std::vector<const Node*>& members, std::size_t k,
                  std::span<const Base* const> shadowed) {
  // Shadowed memory is as it was before the launch.
  const bool is_old = std::ranges::find(shadowed, base) != shadowed.end();
  bool changed = !base->data;
  for (std::size_t j = is_old ? 0 : k + 1; j < (is_old ? k : members.size()); ++j)
    for_each_access(*members[j], [&](const Access& a, bool w) { changed |= w && a.base == base; });
  return !changed;
}

// Those of the flags that a user's kernel is to be warned of.
unsigned judged(const std::vector<const Node*>& members, std::size_t k,
                std::span<const Base* const> shadowed, unsigned flags) {
  const CallSite& site = *members[k]->site;
  const RoutineUse& use = *site.routine;
  std::vector<NestArgument> arrays;
  for (const RoutineParameter& p : use.parameters)
    arrays.push_back({.shape = p.layout->shape(), .strides = p.layout->strides()});
  const auto place = [&](const std::vector<RoutineUse::Touched>& touched,
                         const std::vector<Access>& accesses) {
    for (std::size_t t = 0; t < touched.size(); ++t) {
      const Instr& instr = *use.accesses[static_cast<std::size_t>(touched[t].access)].instr;
      const auto parameter = static_cast<std::size_t>(instr.address.operand);
      if (is_unchanged(accesses[t].base, members, k, shadowed))
        arrays[parameter].data = accesses[t].base->data + use.parameters[parameter].offset;
    }
  };
  place(use.inputs, site.inputs);
  place(use.outputs, site.outputs);
  return judge_of(*use.routine)
      .judge(*use.routine, use.domain->shape(), {arrays, use.integers, site.scalars}, flags);
}

}  // namespace

void Engine::note_float_flags(Op op, SourcePosition position, std::uint8_t checks, unsigned flags,
                              bool reduction) {
  const auto note = [&](unsigned flag, FloatError error) {
    if ((flags & flag) == 0 || (checks & bit(error)) == 0) return;
    for (const FloatWarning& w : float_warnings)
      if (w.error == error && w.source.code == position.code &&
          w.source.instruction == position.instruction && w.source.ufunc == position.ufunc &&
          w.source.step == position.step && w.source.inner == position.inner &&
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
  at.order = static_cast<std::uint32_t>(number);
  return at;
}

// Kernels are run in another order than that in which their steps were recorded.
void Engine::order_warnings(std::size_t first) {
  std::stable_sort(
      float_warnings.begin() + static_cast<std::ptrdiff_t>(first), float_warnings.end(),
      [](const FloatWarning& a, const FloatWarning& b) { return a.source.order < b.source.order; });
}

void Engine::note_conversion(Op op, DType from, DType to, const void* in, const void* out,
                             std::int64_t n) {
  note_float_flags(op, source, settings.float_checks, flags_of_conversion(from, to, in, out, n));
}

void Engine::note_small(Op op, const Signature& signature, void* const* args, std::int64_t n,
                        unsigned splat, unsigned flags) {
  const auto repeated = [&](const std::byte* one, DType dtype) {
    const auto item = static_cast<std::size_t>(size_of(dtype));
    std::vector<std::byte> result(static_cast<std::size_t>(n) * item);
    for (std::size_t at = 0; at < result.size(); at += item)
      std::memcpy(result.data() + at, one, item);
    return result;
  };
  std::vector<std::byte> singles[max_inputs];
  const std::byte* in[max_inputs];
  const auto inputs = static_cast<std::size_t>(info(op).inputs);
  bool intact = true;
  for (std::size_t k = 0; k < inputs; ++k) {
    in[k] = static_cast<const std::byte*>(args[1 + k]);
    intact &= args[1 + k] != args[0];
    if ((splat >> k & 1) == 0) continue;
    singles[k] = repeated(in[k], signature.in[k]);
    in[k] = singles[k].data();
  }
  const auto* out = static_cast<const std::byte*>(args[0]);
  flags = intact ? flags_from_values(op, signature, n, {in, inputs}, out, flags)
                 : shown(op, signature.out, out, n, meant(op, signature, flags));
  note_float_flags(op, source, settings.float_checks, flags);
}

void Engine::diagnose(const Step& step, const CachedPlan& cached,
                      std::span<std::byte* const> temporaries, unsigned flags) {
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
    const bool nans = (flags & flag_invalid) != 0 && takes_nans_for_invalid(members);
    replay_in_chunks(members, intact, flags, nans, found);
    for (std::size_t k = 0; k < members.size(); ++k)
      flags &= ~(explained(*members[k], found[k].op) | found[k].inputs);
    // What no replayed op explains belongs to those that could not be, to users' kernels, or to the
    // last reduction.
    const unsigned unexplained = flags;
    std::size_t last_reduction = members.size();
    for (std::size_t k = members.size(); k-- > 0;) {
      const Node& node = *members[k];
      if (!is_candidate(node)) continue;
      if (!intact[k]) found[k].op = shown(members, k, claimed(node, flags));
      if (node.kind == NodeKind::Reduce && last_reduction == members.size() &&
          possible(node.op, node.signature) != 0)
        last_reduction = k;
    }
    std::vector<const Base*> shadowed;
    for (const auto& shadow : step.launch.shadows) shadowed.push_back(slots_[shadow.slot]);
    bool has_kernels = false;
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (members[k]->kind != NodeKind::Routine || !is_candidate(*members[k])) continue;
      has_kernels = true;
      found[k].op = judged(members, k, shadowed, unexplained);
      flags &= ~(found[k].op | (found[k].op & flag_divide ? flag_overflow : 0));
    }
    if (last_reduction < members.size()) {
      const Access& out = members[last_reduction]->out;
      const std::uint32_t index = cached.plan->groups[step.group].nodes[last_reduction];
      const CombineStep* parts = combination_of(*cached.plan, index);
      const bool tells = !parts && is_last_to_write(members, last_reduction);
      unsigned seen = parts ? shown_by(*parts, temporaries[parts->partials - slots_.size()], flags)
                      : tells ? shown(Op::Copy, out, flags)
                              : flags;
      // A NaN comes of a NaN, where there are no infinities, of which one more may come.
      const Found& met = found[last_reduction];
      if (met.meets_nan && !met.meets_infinity) seen &= ~flag_invalid;
      if (has_kernels || out.dtype == DType::Float16)  // whose conversions raise flags at random
        flags = seen;
      else if (nans)
        flags &= ~flag_invalid | seen;
      found[last_reduction].op |= flags;
    }
  }
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Node& node = *members[k];
    const bool reduction = node.kind == NodeKind::Reduce;
    const SourcePosition at = source_of(node);
    note_float_flags(node.op, at, node.float_checks, found[k].op, reduction);
    // One number is converted apart, whatever follows.
    const bool inside_reduction = reduction && node.in[0].layout->ndim() > 0;
    const bool inside =
        inside_reduction || std::any_of(node.in, node.in + node.inputs, [&](const Access& in) {
          return in.base && in.dtype != node.signature.in[&in - node.in] &&
                 !is_converted_apart(*in.layout);
        });
    note_float_flags(inside ? node.op : Op::Copy, at, node.float_checks, found[k].inputs,
                     inside_reduction);
  }
}

}  // namespace frit
