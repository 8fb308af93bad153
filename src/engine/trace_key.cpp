// trace_key.cpp: the pending trace as words: where they are equal, one plan serves.
#include "engine/engine.h"

namespace frit {
namespace {

std::uint64_t word(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

// Bases have numbers by first use, reads before writes.
void Engine::number_bases() {
  slots_.clear();
  ++segment_;
  for (const Node& node : nodes_)
    for_each_access(node, [&](const Access& a, bool) {
      if (a.base->segment == segment_) return;
      a.base->segment = segment_;
      a.base->slot = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back(a.base);
    });
}

std::vector<SlotState> Engine::slot_states() const {
  std::vector<SlotState> states;
  states.reserve(slots_.size());
  for (const Base* base : slots_) states.push_back(state_of(*base));
  return states;
}

void Engine::append_to_key(const Node& node) {
  // One word for most: the layout is mostly the result's, the offset mostly 0.
  const Layout* const usual = node.out.layout;
  const auto add = [usual](std::uint64_t* to, const Access& a) {
    const std::uint64_t type = static_cast<std::uint64_t>(a.dtype) << 32;
    if (!a.base) {
      *to++ = std::uint64_t{1} << 63 | type | (static_cast<std::uint64_t>(a.offset) & 0xFFFF);
      return to;
    }
    const bool has_layout = a.layout != usual, has_offset = a.offset != 0;
    *to++ = a.base->slot | type | std::uint64_t{has_layout} << 40 | std::uint64_t{has_offset} << 41;
    if (has_layout) *to++ = word(a.layout);
    if (has_offset) *to++ = static_cast<std::uint64_t>(a.offset);
    return to;
  };
  const std::uint64_t is_checked = node.float_checks != 0;  // fuse.h: may_be_cut
  if (node.kind == NodeKind::Routine) {
    key_.push_back(static_cast<std::uint64_t>(node.kind) | is_checked << 7);
    return append_to_key(*node.site);
  }
  const std::size_t accesses =
      node.site ? node.site->outputs.size() + node.site->inputs.size() : 1 + max_inputs;
  std::uint64_t* to = key_.room_for(3 + 3 * accesses);
  const bool is_pure = node.kind == NodeKind::Call && node.site->call->is_pure();
  const std::uint64_t types = std::bit_cast<std::uint32_t>(node.signature);
  const std::uint64_t head = static_cast<std::uint64_t>(node.kind) | std::uint64_t{is_pure} << 7 |
                             static_cast<std::uint64_t>(node.op) << 8 |
                             static_cast<std::uint64_t>(node.inputs) << 16 | is_checked << 24 |
                             types << 32;
  *to++ = head;
  *to++ = word(usual);
  if (node.kind == NodeKind::Call) {
    *to++ = node.site->outputs.size() << 32 | node.site->inputs.size();
    for (const Access& a : node.site->outputs) to = add(to, a);
    for (const Access& a : node.site->inputs) to = add(to, a);
  } else {
    if (node.kind == NodeKind::Reduce) *to++ = node.reduced;
    to = add(to, node.out);
    for (int k = 0; k < node.inputs; ++k) to = add(to, node.in[k]);
  }
  key_.grown_to(to);
}

// The use's id stands for all that a plan of a routine depends on, but for which memory it touches.
void Engine::append_to_key(const CallSite& routine) {
  key_.push_back(routine.routine->id);
  for (const Access& a : routine.outputs) key_.push_back(a.base->slot);
  for (const Access& a : routine.inputs) key_.push_back(a.base->slot);
}

// The nodes, the states of the bases, and how plans fuse.
void Engine::write_key() {
  number_bases();
  key_.clear();
  for (const Node& node : nodes_) append_to_key(node);
  std::uint64_t* to = key_.room_for(slots_.size() + 1);
  for (const Base* base : slots_) {
    const SlotState s = state_of(*base);
    *to++ = static_cast<std::uint64_t>(s.bytes) << 3 | static_cast<std::uint64_t>(s.alive) << 2 |
            static_cast<std::uint64_t>(s.has_data) << 1 | static_cast<std::uint64_t>(s.pinned);
  }
  *to++ = static_cast<std::uint64_t>(settings.fusion);
  key_.grown_to(to);
}

}  // namespace frit
