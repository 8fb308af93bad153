// postpone.cpp: large arrays that a run makes but doesn't store, though somebody can see them.
//
// They are computed in the registers of the kernels that use them, and the steps that make them
// stay in the trace, in front: whoever reads such an array gets it by the same steps. There are two
// kinds:
//
// - `x = np.linspace(0, 1, n)` costs less to make than to load. What numbers alone make by few
//   cheap steps is not stored before it is read twice.
// - `lap = ..` in a loop at the top of a program is mostly read by nobody before the name means the
//   next one. What is not read again the engine learns by place (unread.h).
//
// Steps that stay need what they read as it was. Memory that the run itself changes is kept where
// the run leaves it for new memory (a shadow): those steps then read the old one. Where it is
// changed in place, what they make is stored.
#include <algorithm>

#include "engine/engine.h"
#include "engine/step_place.h"

namespace frit {
namespace {

// Estimated ns an element that making an array once more may take: of numbers alone; of others,
// which are foreseen not to be read.
constexpr float most_cost_of_numbers = 2, most_cost = 16;
// What is needed of a reduction, say, is stored, where it is so many times smaller.
constexpr std::int64_t small_part = 16;

constexpr std::uint32_t no_node = ~std::uint32_t{0};

StepPlace place_of(const Node& node) { return {node.source, node.op}; }
bool makes(const Node& node, const Base* base) {
  return node.kind == NodeKind::Elementwise && node.out.base == base;
}
bool makes_postponed(const Node& node) {
  return node.kind == NodeKind::Elementwise && node.out.base->is_postponed;
}
bool is_promised(const Base& base) { return !base.data && base.exports == 0 && !base.foreign; }

}  // namespace

// Chooses what a run does not store. What is learnt from it is the engine's.
class Postponing {
 public:
  Postponing(Engine& engine, std::span<Node> nodes, std::span<Base* const> slots,
             const Base* wanted)
      : engine_(engine), nodes_(nodes), slots_(slots), wanted_(wanted), made_(slots.size()) {
    for (std::uint32_t k = 0; k < nodes.size(); ++k)
      for_each_access(nodes[k], [&](const Access& a, bool is_write) {
        if (is_write) made_of(a).writers.push_back(k);
      });
    for (const Base* base : slots)
      if (base->was_postponed && base->handles > 0 && is_promised(*base))
        waiting_.push_back(maker_of(made_[base->slot]));
  }

  void store(std::uint32_t slot) { made_[slot].waits = false; }
  // Marks bases as postponed, and those that their steps read as kept. snapshots: the memory that
  // the steps need as it was before a node of the run writes it. unread: what nobody is foreseen to
  // read.
  void choose(std::vector<Snapshot>& snapshots, std::vector<std::uint32_t>& unread) {
    do {
      while (exclude_some()) {
      }
      mark();
    } while (exclude_by_changes() || exclude_by_memory() || exclude_by_runs());
    for (Base* base : slots_) {
      const Made& m = made_[base->slot];
      if (base == wanted_ && base->was_postponed && !m.writers.empty())
        engine_.unread.note_read(maker_of(m));
      if (m.changed_by != no_node) snapshots.push_back({.base = base, .before = m.changed_by});
      if (m.is_needed && base->handles > 0 && !waits_as_cheap(*base)) unread.push_back(base->slot);
    }
  }

 private:
  struct Made {
    std::vector<std::uint32_t> writers;  // nodes
    bool waits = true;                   // the steps that make it may be done later
    bool of_numbers = true;              // and of arrays that are
    bool is_read = false;  // by a step that makes another one, which may not be written behind that
    bool is_used = false;  // by a step that runs now
    bool is_needed = false;
    float cost = 0;
    std::uint32_t changed_by = no_node;  // behind all steps that stay and read it
    bool is_cheap() const { return of_numbers && cost <= most_cost_of_numbers; }
  };
  Made& made_of(const Access& a) { return made_[a.base->slot]; }

  // What is made of others waits only if they are there then, which a later step may change: until
  // nothing does.
  bool exclude_some() {
    bool has_changed = false;
    for (Made& m : made_) {
      m.of_numbers = true;
      m.is_read = m.is_used = false;
      m.cost = 0;
    }
    const auto exclude = [&](Made& m) {
      has_changed |= m.waits;
      m.waits = false;
    };
    for (std::uint32_t k = 0; k < nodes_.size(); ++k) {
      const Node& node = nodes_[k];
      if (node.kind != NodeKind::Elementwise) {
        for_each_access(node, [&](const Access& a, bool is_write) {
          if (is_write)
            exclude(made_of(a));
          else
            made_of(a).is_used = true;
        });
        continue;
      }
      Made& out = made_of(node.out);
      if (out.is_read) exclude(out);
      out.cost += cost_of(node);
      for (int i = 0; i < node.inputs; ++i) {
        const Access& a = node.in[i];
        if (!a.base || a.base == node.out.base) continue;
        Made& in = made_of(a);
        in.is_read = true;
        if (in.waits) {
          out.cost += in.cost;
          out.of_numbers &= in.of_numbers;
        } else {
          out.of_numbers = false;
          if (!may_be_kept(*a.base, *node.out.base)) exclude(out);
        }
      }
      if (!out.waits)
        for (int i = 0; i < node.inputs; ++i)
          if (node.in[i].base) made_of(node.in[i]).is_used = true;
    }
    for (const Base* base : slots_)
      if (!may_wait(*base)) exclude(made_[base->slot]);
    return has_changed;
  }
  float cost_of(const Node& node) const {
    const double share = static_cast<double>(node.out.layout->size() * size_of(node.out.dtype)) /
                         static_cast<double>(std::max<std::int64_t>(node.out.base->bytes, 1));
    return engine_.cost_of(node.op) * static_cast<float>(share);
  }
  // Will it be in memory when its reader is computed once more?
  static bool may_be_kept(const Base& base, const Base& reader) {
    if (base.exports > 0 || base.foreign) return false;
    return base.data || base.handles > 0 || base.bytes <= reader.bytes / small_part;
  }
  bool may_wait(const Base& base) const {
    const Made& m = made_[base.slot];
    if (!m.waits || !is_promised(base) || &base == wanted_ || m.cost > most_cost) return false;
    if (m.writers.empty()) return false;  // np.empty, which nobody has written
    if (base.handles == 0) return true;
    const Settings& settings = engine_.settings;
    if (waits_as_cheap(base) && base.bytes >= settings.postponed_bytes)
      return !(base.was_postponed && m.is_used);
    if (base.bytes < settings.unread_bytes) return false;
    return base.was_postponed || is_foreseen(m);
  }
  // Whoever wants no array, but reads a clock, say, has asked for all that has not run yet.
  bool waits_as_cheap(const Base& base) const {
    return made_[base.slot].is_cheap() && (wanted_ || base.was_postponed);
  }
  // A place of which many arrays wait makes a collection of them.
  bool is_foreseen(const Made& m) const {
    constexpr int most_alike = 4;
    const StepPlace maker = maker_of(m);
    if (std::ranges::count(waiting_, maker) > most_alike) engine_.unread.note_read(maker);
    return engine_.unread.foresees(maker, engine_.statistics.evals);
  }
  StepPlace maker_of(const Made& m) const { return place_of(nodes_[m.writers.back()]); }

  // Of what waits, all that somebody can see, and what that is made of.
  void mark() {
    for (Base* base : slots_) {
      Made& m = made_[base->slot];
      m.is_needed = m.waits && base->handles > 0;
      m.changed_by = no_node;
      base->is_kept = false;
    }
    for_each_node_that_stays([&](std::uint32_t, const Access& a) {
      if (Made& in = made_of(a); in.waits)
        in.is_needed = true;
      else
        a.base->is_kept = true;
    });
    for (Base* base : slots_) base->is_postponed = made_[base->slot].is_needed;
  }
  template <class Visit>  // visit(node, input), of the last one first
  void for_each_node_that_stays(Visit&& visit) {
    for (auto k = static_cast<std::uint32_t>(nodes_.size()); k-- > 0;) {
      const Node& node = nodes_[k];
      if (node.kind != NodeKind::Elementwise || !made_of(node.out).is_needed) continue;
      for (int i = 0; i < node.inputs; ++i)
        if (node.in[i].base) visit(k, node.in[i]);
    }
  }

  // What steps that stay read may be written by one other step behind them, which may leave it for
  // new memory.
  bool exclude_by_changes() {
    bool has_changed = false;
    for_each_node_that_stays([&](std::uint32_t k, const Access& a) {
      Made& in = made_of(a);
      if (!a.base->is_kept) return;
      const auto next = std::ranges::upper_bound(in.writers, k);
      if (next == in.writers.end()) return;
      if (nodes_[*next].kind == NodeKind::Elementwise &&
          (in.changed_by == no_node || in.changed_by == *next)) {
        in.changed_by = *next;
        return;
      }
      made_of(nodes_[k].out).waits = false;
      has_changed = true;
    });
    return has_changed;
  }

  // What is kept may not take more than what is not stored.
  bool exclude_by_memory() {
    std::int64_t kept = 0, saved = 0;
    for (const Base* base : slots_) {
      const Made& m = made_[base->slot];
      if (base->is_kept && (base->handles == 0 || m.changed_by != no_node)) kept += base->bytes;
      if (m.is_needed && base->handles > 0 && !m.is_cheap()) saved += base->bytes;
    }
    if (kept <= saved + saved / 8) return false;  // windows without a border are smaller
    for (const Base* base : slots_)
      if (Made& m = made_[base->slot]; base->handles > 0 && !m.is_cheap()) m.waits = false;
    return true;
  }

  // What is made of more than numbers is computed by this run, so that its errors are told now. If
  // it was before, it is stored: somebody does read it.
  bool exclude_by_runs() {
    std::vector<SlotState> states;
    states.reserve(slots_.size());
    for (const Base* base : slots_) states.push_back(state_of(*base));
    const std::vector<bool> runs = needed_nodes({.nodes = nodes_, .slots = states});
    bool has_changed = false;
    for (const Base* base : slots_) {
      Made& m = made_[base->slot];
      if (!m.is_needed || base->handles == 0 || waits_as_cheap(*base)) continue;
      const auto run = std::ranges::count_if(m.writers, [&](std::uint32_t k) { return runs[k]; });
      if (base->was_postponed ? run == 0 : run == std::ssize(m.writers)) continue;
      if (base->was_postponed) engine_.unread.note_read(maker_of(m));
      m.waits = false;
      has_changed = true;
    }
    return has_changed;
  }

  Engine& engine_;
  std::span<Node> nodes_;
  std::span<Base* const> slots_;
  const Base* wanted_;
  std::vector<Made> made_;
  std::vector<StepPlace> waiting_;  // what makes that which waited before
};

// Marks what need not be stored by the run that is to begin, but for what is wanted.
void Engine::postpone(const Base* wanted, std::span<const std::uint32_t> to_store) {
  const std::int64_t least = std::min(settings.postponed_bytes, settings.unread_bytes);
  const bool has_large = std::ranges::any_of(nodes_, [&](const Node& node) {
    if (node.kind != NodeKind::Elementwise) return false;
    const Base& base = *node.out.base;
    return base.handles > 0 && base.bytes >= least && is_promised(base);
  });
  if (!has_large) return;
  number_bases();
  Postponing choice(*this, nodes_, slots_, wanted);
  for (std::uint32_t slot : to_store) choice.store(slot);
  choice.choose(snapshots_, unread_);
  for (const Base* base : slots_) has_postponed_ |= base->is_postponed;
}

// What has to be stored (its slots), since the plan does not leave for new memory what its steps
// need as it was, or stores it anyway.
std::vector<std::uint32_t> Engine::not_postponed_by(const Plan& plan) {
  std::vector<bool> is_bad(slots_.size(), false);
  for (Snapshot& snapshot : snapshots_) {
    snapshot.group = group_that_leaves(plan, snapshot);
    if (snapshot.group == no_group) is_bad[snapshot.base->slot] = true;
  }
  for (const Step& step : plan.steps)
    for (std::uint32_t slot : step.allocate)
      if (std::ranges::find(unread_, slot) != unread_.end()) is_bad[slot] = true;
  for (const Node& node : nodes_)
    if (makes_postponed(node))
      for_each_access(node, [&](const Access& a, bool) {
        if (is_bad[a.base->slot]) is_bad[node.out.base->slot] = true;
      });
  std::vector<std::uint32_t> found;
  for (std::uint32_t slot : unread_)
    if (is_bad[slot]) found.push_back(slot);
  return found;
}

// The group that writes the base to new memory, as the first one behind what is to be kept.
std::uint32_t Engine::group_that_leaves(const Plan& plan, const Snapshot& snapshot) const {
  const auto has_node = [&](const GroupSummary& group) {
    return std::ranges::find(group.nodes, snapshot.before) != group.nodes.end();
  };
  const auto found = std::ranges::find_if(plan.groups, has_node);
  if (found == plan.groups.end()) return no_group;
  for (std::uint32_t k : found->nodes)
    if (k < snapshot.before && makes(nodes_[k], snapshot.base)) return no_group;
  const auto group = static_cast<std::uint32_t>(found - plan.groups.begin());
  int launches = 0, leaves = 0;
  for (const Step& step : plan.steps) {
    if (step.group != group || step.kind != StepKind::Launch) continue;
    ++launches;
    for (const LaunchStep::Shadow& shadow : step.launch.shadows)
      if (shadow.slot == snapshot.base->slot && step.launch.extent > 0) ++leaves;
  }
  return launches == 1 && leaves == 1 ? group : no_group;
}

// A launch has written the base to new memory: the old one is given up, or kept.
void Engine::leave_memory(Base* base, std::uint32_t group) {
  for (Snapshot& s : snapshots_) {
    if (s.base != base || s.group != group) continue;
    keep_old(s, std::exchange(base->data, nullptr));
    if (base->extra && base->extra->owner) {
      s.old->need_extra().owner = std::exchange(base->extra->owner, nullptr);
      s.old->extra->release = base->extra->release;
    }
    return;
  }
  release_memory(base);
}

void Engine::keep_old(Snapshot& snapshot, std::byte* data) {
  snapshot.old = new_base(snapshot.base->bytes);
  snapshot.old->handles = 0;
  snapshot.old->data = data;
}

// What has run has told of its errors; where it runs again, nobody hears of them.
void Engine::silence_postponed(const std::vector<bool>& have_run) {
  if (!has_postponed_) return;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    Node& node = nodes_[k];
    if (have_run[k] && makes_postponed(node) && node.float_checks != 0)
      node.float_checks = silent_checks;
  }
}

// The steps that make what was postponed are not finished. What of it had to be in memory for a
// while is not kept: of several writes only those are done that somebody read.
void Engine::keep_postponed(std::vector<bool>& finished) {
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    Node& node = nodes_[k];
    if (!makes_postponed(node)) continue;
    if (node.out.base->data) release_memory(node.out.base);
    finished[k] = false;
    for (const Snapshot& s : snapshots_)
      if (s.old && k < s.before) read_old(node, s);
  }
  end_postponing();
}

void Engine::read_old(Node& node, const Snapshot& snapshot) {
  for (int i = 0; i < node.inputs; ++i) {
    Access& a = node.in[i];
    if (a.base != snapshot.base) continue;
    a.base = snapshot.old;
    ++snapshot.old->pending;
    lower(snapshot.base->pending);  // it is written by a step that is not dropped yet
  }
}

void Engine::end_postponing() {
  for (const Snapshot& s : snapshots_)
    if (s.old && s.old->pending == 0) destroy(s.old);
  for (const Snapshot& s : snapshots_) s.base->is_kept = false;
  snapshots_.clear();
  unread_.clear();
  if (!has_postponed_) return;
  for (const Node& node : nodes_)
    if (makes_postponed(node))
      for_each_access(node, [](const Access& a, bool) { a.base->is_kept = false; });
  for (const Node& node : nodes_)
    if (makes_postponed(node)) {
      node.out.base->is_postponed = false;
      node.out.base->was_postponed = true;
    }
  has_postponed_ = false;
}

// The run will store all, after all.
void Engine::give_up_postponing() {
  for (Base* base : slots_) base->is_postponed = base->is_kept = false;
  snapshots_.clear();
  unread_.clear();
  has_postponed_ = false;
}

// What made arrays that are gone need not wait any longer, nor what it would have read.
void Engine::drop_unseen() {
  if (waiting_ == 0) return;
  number_bases();
  const std::vector<bool> needed = needed_nodes(segment(slot_states()));
  std::vector<Node> dropped;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < waiting_; ++k) {
    if (!needed[k]) {
      dropped.push_back(std::move(nodes_[k]));
      continue;
    }
    if (kept != k) nodes_[kept] = std::move(nodes_[k]);
    ++kept;
  }
  const std::size_t count = dropped.size();
  nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(kept),
               nodes_.begin() + static_cast<std::ptrdiff_t>(waiting_));
  waiting_ = kept;
  if (anchor_ > 0) anchor_ -= count;
  for (auto& [first, second] : twins_) {
    first -= count;
    second -= count;
  }
  for (const Node& node : dropped)
    for_each_access(node, [&](const Access& a, bool is_write) { drop_access(a, is_write); });
  note_what_is_read();
}

// Of what waits, by later steps: also where its name means another array by now (`x = f(x)`).
void Engine::note_what_is_read() {
  for (std::size_t k = waiting_; k < nodes_.size(); ++k)
    for_each_access(nodes_[k], [&](const Access& a, bool is_write) {
      if (is_write || a.base->data || !a.base->was_postponed) return;
      for (std::size_t maker = waiting_; maker-- > 0;)
        if (makes(nodes_[maker], a.base)) return unread.note_read(place_of(nodes_[maker]));
    });
}

// Each eval looks through what waits. Of much nothing waits any longer.
bool Engine::may_wait_longer() {
  constexpr std::size_t most_waiting = 256;  // nodes
  if (waiting_ <= most_waiting) return true;
  note_all_read();
  return false;
}

// All that waits is to be stored now: somebody does read it.
void Engine::note_all_read() {
  for (std::size_t k = 0; k < waiting_; ++k)
    if (nodes_[k].kind == NodeKind::Elementwise && nodes_[k].out.base->handles > 0)
      unread.note_read(place_of(nodes_[k]));
}

}  // namespace frit
