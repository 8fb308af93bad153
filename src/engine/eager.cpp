// eager.cpp: the first tier: what is new and soon done is run op by op, without a plan.
//
// To plan a node takes some microseconds, as long as a ready-made loop takes for some ten thousand
// elements. Traces of less work are planned when all their runs have taken as long: who rents until
// that would have bought the house pays twice what was needed, at most. Traces that don't come
// again cost less than NumPy's calls. What has come back once will come again: it is planned
// sooner.
#include <algorithm>
#include <numeric>

#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/small.h"

namespace frit {
namespace {

bool has_loop(const Node& node) {
  switch (node.kind) {
    case NodeKind::Call:
      return true;
    case NodeKind::Routine:
      return false;
    case NodeKind::Reduce:
      return node.in[0].layout->size() > 0 && node.signature.in[0] == node.out.dtype &&
             node.signature.out == node.out.dtype;
    case NodeKind::Elementwise:
      break;
  }
  return loop(node.op, node.signature);
}

// The indices along a node's only axis, as memory: where one of its inputs is iota_input.
class Indices {
 public:
  SmallInput along(const Layout& out) {
    if (!numbers_) {
      const std::int64_t n = out.size(), bytes = n * item;
      numbers_ = {memory::allocate(bytes), {bytes}};
      layout_ = LayoutRef::adopt(make_contiguous({&n, 1}, item));
      auto* const first = reinterpret_cast<std::int64_t*>(numbers_.get());
      std::iota(first, first + n, std::int64_t{0});
    }
    return {numbers_.get(), layout_.get(), DType::Int64};
  }

 private:
  static constexpr int item = sizeof(std::int64_t);
  memory::Block numbers_;
  LayoutRef layout_;
};

}  // namespace

bool Engine::runs_eagerly(std::uint64_t hash) {
  if (settings.fusion != Fusion::On || !settings.dump.empty()) return false;
  if (settings.tier == Tier::Automatic) {
    constexpr double least_cost = 300;  // ns that a node takes
    const auto nodes = static_cast<double>(nodes_.size());
    Seen& seen = seen_[hash % seen_.size()];
    if (seen.hash != hash) seen = {.hash = hash};
    const bool has_come_back = seen.cost > 0;
    seen.cost += std::max(pending_cost_, least_cost * nodes) +
                 settings.fresh_byte_cost * static_cast<double>(fresh_bytes());
    const double price = (settings.plan_cost + settings.plan_node_cost * nodes) *
                         (has_come_back ? 1 : settings.new_trace_factor);
    if (seen.cost > price) return false;
  } else if (settings.tier != Tier::Eager) {
    return false;
  }
  return std::ranges::all_of(nodes_, has_loop);
}

// Of large arrays, that new pages must be had for if all that is pending is run op by op. A plan
// has fewer arrays in memory, and threads that touch the pages together.
std::int64_t Engine::fresh_bytes() const {
  struct Use {
    std::size_t last = 0;
    bool is_counted = false;
  };
  std::vector<Use> uses(slots_.size());
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    for_each_access(nodes_[k], [&](const Access& a, bool) { uses[a.base->slot].last = k; });
  std::int64_t live = 0, most = 0;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    for_each_access(nodes_[k], [&](const Access& a, bool) {
      Use& use = uses[a.base->slot];
      if (a.base->data || use.is_counted || a.base->bytes <= memory::small_limit) return;
      use.is_counted = true;
      live += a.base->bytes;
    });
    most = std::max(most, live);
    for_each_access(nodes_[k], [&](const Access& a, bool) {
      Use& use = uses[a.base->slot];
      if (!use.is_counted || use.last != k || a.base->handles > 0 || a.base->exports > 0) return;
      use.is_counted = false;
      live -= a.base->bytes;
    });
  }
  return std::max<std::int64_t>(0, most - memory::figures().cached);
}

bool Engine::run_eagerly() {
  const std::vector<bool> needed = needed_nodes(segment(slot_states()));
  std::vector<std::size_t> last_use(slots_.size(), 0);
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    if (needed[k])
      for_each_access(nodes_[k], [&](const Access& a, bool) { last_use[a.base->slot] = k; });
  last_plan_ = nullptr;
  last_nodes_ = std::make_shared<std::vector<NodeLabel>>(nodes_.begin(), nodes_.end());
  ++statistics.eager;

  std::vector<bool> finished(nodes_.size(), false), have_run(nodes_.size(), false);
  const auto run_all = [&] {
    OtherSources sources(*this);
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const Node& node = nodes_[k];
      if (needed[k]) {
        sources.set(node);
        source = source_of(node);
        if (!run_by_itself(node)) return false;
        have_run[k] = true;
        for_each_access(node, [&](const Access& a, bool) {
          if (last_use[a.base->slot] == k) free_unseen(a.base);
        });
      }
      finished[k] = true;
    }
    return true;
  };
  bool all = false;
  try {
    all = run_all();
  } catch (...) {
    silence_postponed(have_run);
    finish_nodes(finished);
    throw;
  }
  silence_postponed(have_run);
  finish_nodes(finished);
  return all;
}

// False: there is no loop for this reduction's order.
bool Engine::run_by_itself(const Node& node) {
  for_each_access(node, [&](const Access& a, bool) { allocate(a.base); });
  if (node.kind == NodeKind::Call) {
    run_call(node);
    return true;
  }
  if (node.kind == NodeKind::Reduce)
    return reduce_small({.op = node.op,
                         .mask = node.reduced,
                         .in = node.in[0],
                         .out = node.out,
                         .initial = node.constants[0]});
  if (node.out.layout->size() == 0) return true;
  SmallInput inputs[max_inputs];
  Indices indices;
  for (std::size_t k = 0; k < node.inputs; ++k) {
    const Access& a = node.in[k];
    if (!a.base && a.offset == iota_input) {
      inputs[k] = indices.along(*node.out.layout);
    } else if (a.base) {
      const Layout* layout = is_one_element(*a.layout) ? nullptr : a.layout;
      inputs[k] = {a.base->data + a.offset, layout, a.dtype};
    } else {
      const Scalar& value = node.constants[a.offset];
      inputs[k] = {value.bytes, nullptr, value.dtype};
    }
  }
  compute_small(node.op, node.signature, node.out.base->data + node.out.offset, *node.out.layout,
                node.out.dtype, {inputs, node.inputs});
  node.out.base->stamp = 0;
  return true;
}

}  // namespace frit
