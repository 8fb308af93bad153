// postpone.cpp: large arrays that are made of numbers are not stored before they are read twice.
//
// `x = np.linspace(0, 1, n)` costs less to make than to load. Where somebody wants `f(x).sum()`, x
// is computed in the registers of that kernel, and the steps that make it stay in the trace, though
// others can see x: the memory is only taken when another trace reads it, or when somebody asks for
// all that is pending. Programs that never do never hold it.
#include <algorithm>

#include "engine/engine.h"

namespace frit {
namespace {

constexpr float most_cost = 2;  // estimated ns an element that making an array once more may take

struct Made {
  bool of_numbers = true;  // and of arrays that are
  bool is_read = false;    // by a step that makes another one, which may not be written behind that
  bool is_used = false;    // by a step that runs now
  bool is_needed = false;
  float cost = 0;
};

bool is_promised(const Base& base) { return !base.data && base.exports == 0 && !base.foreign; }

}  // namespace

// Marks what need not be stored by the run that is to begin, but for what is wanted.
void Engine::postpone(const Base& wanted) {
  const auto is_large = [&](const Base& base) {
    return base.handles > 0 && is_promised(base) && base.bytes >= settings.postponed_bytes;
  };
  const bool has_large = std::ranges::any_of(nodes_, [&](const Node& node) {
    return node.kind == NodeKind::Elementwise && is_large(*node.out.base);
  });
  if (!has_large) return;
  number_bases();
  std::vector<Made> made(slots_.size());
  const auto slot_of = [&](const Access& a) -> Made& { return made[a.base->slot]; };
  const auto may_wait = [&](const Base& base) {
    if (!is_promised(base) || &base == &wanted) return false;
    if (base.handles == 0) return true;
    return is_large(base) && !(base.was_postponed && made[base.slot].is_used);
  };
  // What is made of others is so if they are, which a later step may change: until nothing does.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (Made& m : made) m = {.of_numbers = m.of_numbers, .is_used = m.is_used};
    const auto exclude = [&](Made& m) {
      has_changed |= m.of_numbers;
      m.of_numbers = false;
    };
    for (const Node& node : nodes_) {
      if (node.kind != NodeKind::Elementwise) {
        for_each_access(node, [&](const Access& a, bool is_write) {
          if (is_write)
            exclude(slot_of(a));
          else
            slot_of(a).is_used = true;
        });
        continue;
      }
      Made& out = slot_of(node.out);
      if (out.is_read) exclude(out);
      const double share = static_cast<double>(node.out.layout->size() * size_of(node.out.dtype)) /
                           static_cast<double>(std::max<std::int64_t>(node.out.base->bytes, 1));
      out.cost += cost_of_op_[static_cast<std::size_t>(node.op)] * static_cast<float>(share);
      for (int k = 0; k < node.inputs; ++k) {
        if (!node.in[k].base || node.in[k].base == node.out.base) continue;
        Made& in = slot_of(node.in[k]);
        in.is_read = true;
        out.cost += in.cost;
        if (!in.of_numbers) exclude(out);
      }
      if (out.cost > most_cost) exclude(out);
      if (!out.of_numbers)
        for (int k = 0; k < node.inputs; ++k)
          if (node.in[k].base) slot_of(node.in[k]).is_used = true;
    }
    for (const Base* base : slots_)
      if (!may_wait(*base)) exclude(made[base->slot]);
  }
  for (const Base* base : slots_)
    made[base->slot].is_needed = made[base->slot].of_numbers && base->handles > 0;
  for (std::size_t k = nodes_.size(); k-- > 0;) {
    const Node& node = nodes_[k];
    if (node.kind != NodeKind::Elementwise || !slot_of(node.out).is_needed) continue;
    for (int i = 0; i < node.inputs; ++i)
      if (node.in[i].base) slot_of(node.in[i]).is_needed = true;
  }
  for (Base* base : slots_) {
    base->is_postponed = made[base->slot].is_needed;
    has_postponed_ |= base->is_postponed;
  }
}

// What has run has told of its errors; where it runs again, nobody hears of them.
void Engine::silence_postponed(const std::vector<bool>& have_run) {
  if (!has_postponed_) return;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    Node& node = nodes_[k];
    const bool again =
        have_run[k] && node.kind == NodeKind::Elementwise && node.out.base->is_postponed;
    if (again && node.float_checks != 0) node.float_checks = silent_checks;
  }
}

// The steps that make what was postponed are not finished. What of it had to be in memory for a
// while is not kept: of several writes only those are done that somebody read.
void Engine::keep_postponed(std::vector<bool>& finished) {
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    Node& node = nodes_[k];
    if (node.kind != NodeKind::Elementwise || !node.out.base->is_postponed) continue;
    if (node.out.base->data) release_memory(node.out.base);
    finished[k] = false;
  }
  end_postponing();
}

void Engine::end_postponing() {
  if (!has_postponed_) return;
  for (const Node& node : nodes_)
    if (node.kind == NodeKind::Elementwise && node.out.base->is_postponed) {
      node.out.base->is_postponed = false;
      node.out.base->was_postponed = true;
    }
  has_postponed_ = false;
}

}  // namespace frit
