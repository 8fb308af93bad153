// engine.cpp: bases and recording. eval.cpp runs what is recorded.
#include "engine/engine.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "backend/interp/interp.h"
#include "engine/memory.h"
#include "engine/pool.h"
#include "engine/residence.h"
#include "schedule/dependence.h"

namespace frit {
namespace {

constexpr std::size_t most_free_bases = 4096;  // as many as nodes may wait

// Two nodes of one source line, and one line of ours, that do the same: a loop's next round begins.
bool same_step(const Node& a, const Node& b) {
  return a.source.code == b.source.code && a.source.instruction == b.source.instruction &&
         a.source.inner == b.source.inner && a.op == b.op && a.kind == b.kind &&
         a.out.layout == b.out.layout && a.source.code != nullptr;
}

Rounds::Begin begin_of(const Node& node) {
  const Access& made = node.kind == NodeKind::Call ? node.site->outputs.front() : node.out;
  return {node.source, made.layout->size()};
}

// From the environment. An unknown name is told, once, and the first one, the default, stands.
template <class Value, std::size_t n>
void read_setting(const char* variable, Value& setting,
                  const std::pair<const char*, Value> (&names)[n]) {
  const char* given = std::getenv(variable);
  if (!given || !*given) return;
  std::string known;
  for (const auto& [name, value] : names) {
    if (std::string_view(given) == name) {
      setting = value;
      return;
    }
    known += text(known.empty() ? "'" : ", '", name, "'");
  }
  std::fputs(text("frit: ", variable, " must be one of ", known, ", not '", given,
                  "'; it is taken as '", names[0].first, "'\n")
                 .c_str(),
             stderr);
}

}  // namespace

constinit std::atomic<Engine*> Engine::engine_ = nullptr;
constinit EngineLock Engine::lock_;

Engine& Engine::start() {
  static Engine* engine = new Engine;  // outlives every array
  engine_.store(engine, std::memory_order_release);
  return *engine;
}

Engine::Engine() : interpreter_(make_interpreter()), compiler_(make_compiler()) {
  read_setting("FRIT_TIER", settings.tier, tier_names);
  read_setting("FRIT_FUSION", settings.fusion, fusion_names);
  read_setting("FRIT_CHECK", settings.check, check_names);
  read_setting("FRIT_DEVICE", settings.device, device_names);
  if (const char* cost = std::getenv("FRIT_DEVICE_COST"))
    settings.device_cost = std::strtod(cost, nullptr);
  if (const char* dump = std::getenv("FRIT_DUMP")) settings.dump = dump;
  for (int op = 0; op < op_count; ++op)
    cost_of_op_[static_cast<std::size_t>(op)] = has(static_cast<Op>(op), Costly) ? costly : cheap;
  nodes_.reserve(256);
  pthread_atfork([] { get().before_fork(); }, [] { get().after_fork_in_parent(); },
                 [] { get().after_fork_in_child(); });
}

double Engine::pending_cost_of(const Node& node) const {
  if (node.kind == NodeKind::Call) return 0;
  if (node.kind == NodeKind::Routine)
    return static_cast<double>(node.out.layout->size()) * node.site->routine->cost;
  const Access& space = node.kind == NodeKind::Reduce ? node.in[0] : node.out;
  return pending_cost_of(node.op, *space.layout);
}

// ---- bases --------------------------------------------------------------------------------------

void Engine::allocate(Base* base) {
  if (base->data) return;
  try {
    base->data = memory::allocate(base->bytes);
  } catch (const std::bad_alloc&) {
    refuse(*base);
  }
}

// A step that writes the whole base knows its shape.
void Engine::refuse(const Base& base) const {
  for (const Node& node : nodes_) {
    const Access& out = node.out;
    if (out.base != &base || out.layout->size() * size_of(out.dtype) != base.bytes) continue;
    refuse(*out.layout, out.dtype);
  }
  throw OutOfMemory({base.bytes}, DType::UInt8);
}

void Engine::refuse(const Layout& layout, DType dtype) {
  throw OutOfMemory({layout.shape().begin(), layout.shape().end()}, dtype);
}

void Engine::release_memory(Base* base) {
  if (base->extra && (base->extra->owner || base->foreign)) {
    if (!base->foreign) memory::add_malloc_live(-base->bytes);
    released.emplace_back(std::exchange(base->extra->owner, nullptr), base->extra->release);
  } else if (base->data) {
    memory::deallocate(base->data, base->bytes);
  }
  base->data = nullptr;
}

// Without `extra`.
inline void Engine::put_free(Base* base) {
  new (base) Base;
  base->data = reinterpret_cast<std::byte*>(free_base_);
  free_base_ = base;
  ++free_bases_;
}

void Engine::destroy(Base* base) {
  if (base->is_on_device) [[unlikely]]
    residence_->drop(*base);
  if (base->extra || free_bases_ == most_free_bases) [[unlikely]]
    return destroy_apart(base);
  if (base->data) memory::deallocate(base->data, base->bytes);
  put_free(base);
}

void Engine::destroy_apart(Base* base) {
  release_memory(base);
  base->extra = nullptr;
  if (free_bases_ == most_free_bases)
    delete base;
  else
    put_free(base);
}

// Its memory goes; the trace may still name it.
void Engine::free_unseen(Base* base) {
  if (!base->data || base->handles > 0 || base->foreign || base->exports > 0) return;
  if (base->is_on_device) residence_->drop(*base);
  release_memory(base);
}

// ---- recording ----------------------------------------------------------------------------------

void Engine::start_trace() {
  pending_cost_ = 0;
  pending_elements_ = 0;
  anchor_ = 0;
  waiting_ = 0;
  rounds_.start_trace();
  has_selections_ = false;
  twins_.clear();
}

inline void Engine::add_access(const Access& access, bool is_write) {
  access.layout->retain();
  ++access.base->pending;
  if (is_write) {
    ++access.base->pending_writes;
    access.base->stamp = 0;
  }
}

void Engine::commit() {
  nodes_.back().source = source;
  if (waiting_ > 0 && held_ > settings.held_bytes) [[unlikely]] {
    drop_unseen();
    held_ = held_by_pending();
  }
  if (begins_anew(nodes_.back())) [[unlikely]]
    eval_before_last();
  Node& node = nodes_.back();
  bool at_once = !settings.lazy || settings.fusion == Fusion::Off;
  for_each_access(node, [&](const Access& a, bool is_write) {
    add_access(a, is_write);
    at_once |= a.base->exports > 0 || a.base->foreign;
  });
  ++statistics.recorded;
  if (node.kind == NodeKind::Routine) foresight.note_step(source, node.op);
  pending_cost_ += pending_cost_of(node);
  if (!at_once && nodes_.size() <= settings.most_nodes) [[likely]]
    return;
  if (launching_)
    due_ = true;
  else
    eval_recorded();
}

bool Engine::records_element(const Base& touched, const Base& awaited) {
  constexpr double work_for_element = 2e5;  // ns that are worth a node
  if (awaited.pending_writes == 0 || touched.exports > 0 || touched.foreign || !settings.lazy ||
      settings.fusion != Fusion::On)
    return false;
  if (&touched == &awaited && touched.bytes < settings.unread_bytes) return false;
  if (pending_cost_ < work_for_element * (pending_elements_ + 1)) return false;
  ++pending_elements_;
  return true;
}

// Bytes that only what is still to be computed keeps.
std::int64_t Engine::held_by_pending() {
  std::int64_t held = 0;
  ++segment_;
  for (std::size_t k = waiting_; k < nodes_.size(); ++k)
    for_each_access(nodes_[k], [&](const Access& a, bool) {
      Base& base = *a.base;
      if (base.segment == segment_ || base.handles > 0 || !base.data) return;
      base.segment = segment_;
      held += base.bytes;
    });
  return held;
}

// Should what was recorded before this last node run now?
bool Engine::begins_anew(const Node& node) {
  if (newly_recorded() <= 1 || (launching_ && nodes_.size() - 1 > first_of_launch_)) return false;
  const bool are_many = nodes_.size() > settings.step_nodes;
  if ((are_many || pending_cost_ > settings.step_cost) && same_step(node, first_recorded()))
    return are_many ||
           !rounds_.waits(begin_of(node), newly_recorded() - 1, held_, settings.held_bytes);
  if (are_many) {
    // What came before a loop is no beginning of its rounds: they are counted from here. Only where
    // there are many nodes: rounds of few that belong together (the terms of a sum) stay together.
    if (anchor_ > 0 && same_step(node, nodes_[anchor_])) return true;
    if (anchor_ == 0) anchor_ = nodes_.size() - 1;
  }
  return held_ > settings.held_bytes && !may_hold_on(node);
}

// The last node is not yet committed; whoever records it holds what it touches.
void Engine::eval_before_last() {
  Node last = std::move(nodes_.back());
  nodes_.pop_back();
  const std::size_t nodes = newly_recorded();
  const bool is_round = nodes > 0 && same_step(last, first_recorded());
  run_pending();
  if (is_round && last_plan_) note_round(last, nodes);
  first_of_launch_ = nodes_.size();
  nodes_.push_back(std::move(last));
}

// So many nodes have run, since a loop's next round begins with this one.
void Engine::note_round(const Node& next, std::size_t nodes) {
  Rounds::Trace trace{.nodes = nodes,
                      .temporaries = last_plan_->most_temporary,
                      .may_sweep = last_plan_->may_sweep};
  for (const Step& step : last_plan_->steps) {
    trace.memory += step.launch.memory_cost();
    trace.work += step.launch.cost - step.launch.memory_cost();
    trace.bytes += step.launch.bytes;
  }
  for (const PlanSweep& sweep : last_plan_->sweeps) {
    trace.memory -= memory_cost(sweep.bytes_saved);
    trace.bytes -= sweep.bytes_saved;
  }
  const Rounds::Limits limits{.nodes = settings.step_nodes, .held = settings.held_bytes};
  if (!rounds_.note(begin_of(next), trace, limits)) return;
  std::vector<Compiler::Slot> awaited;
  const auto await = [&](const std::shared_ptr<const Kernel>& kernel) {
    if (settings.tier != Tier::Automatic) return;
    KernelCode& code = *code_of(kernel);
    if (!code.compiled) code.compiled = compiler_->request(*code.kernel);
    awaited.push_back(code.compiled);
  };
  for (const Step& step : last_plan_->steps)
    if (step.kind == StepKind::Launch) await(step.launch.kernel);
  for (const PlanSweep& sweep : last_plan_->sweeps)
    for (const PlanSweep::Item& item : sweep.items)
      if (item.kernel) await(item.kernel);
  rounds_.await(begin_of(next), std::move(awaited));
}

// Too much is held, but this node makes little of what is still to be computed, as the mean of a
// large temporary. To evaluate now would store the temporary, which its owner is about to drop.
// Nothing more may be held in the meantime.
bool Engine::may_hold_on(const Node& node) {
  if (held_at_limit_ == 0) held_at_limit_ = held_;
  if (held_ > held_at_limit_) return false;
  constexpr std::int64_t little = 1 << 20;
  bool reads_promise = false, is_little = true;
  for_each_access(node, [&](const Access& a, bool is_write) {
    if (is_write)
      is_little &= a.base->bytes <= little;
    else
      reads_promise |= a.base->data == nullptr;
  });
  return reads_promise && is_little;
}

void Engine::settle(Base* base) {
  base->stamp = 0;
  if (base->pending == 0) return;
  try {
    eval();
  } catch (const OutOfMemory&) {
    if (base->pending > 0) throw;
  }
  if (base->is_on_device) residence_->drop(*base);
}

std::uint64_t Engine::stamp(Base* base) {
  if (base->exports > 0 || base->foreign) return 0;
  if (base->stamp == 0) base->stamp = next_stamp_++;
  return base->stamp;
}

// ---- life of the process ------------------------------------------------------------------------

void Engine::forget_plans() {
  plans_.clear();
  seen_.fill({});
  last_plan_.reset();
  last_nodes_.reset();
  rounds_ = {};
}

void Engine::flush_caches() {
  forget_plans();
  kernels_.clear();
  memory::release_cached();
}

void Engine::count_transfers(Statistics& s) const {
  if (!residence_) return;
  s.bytes_uploaded = residence_->figures().uploaded;
  s.bytes_downloaded = residence_->figures().downloaded;
}

void Engine::reset_statistics() {
  statistics = {};
  for (auto& [_, residence] : residences_) residence->reset_figures();
}

void Engine::wait_for_compiler() { compiler_->wait(); }

void Engine::shutdown() {
  // Daemon threads may still record and evaluate, now and later.
  const std::lock_guard locked(lock());
  compiler_->stop();
  ThreadPool::get().close();
}

// No thread of ours is left then: later Pythons warn of forks beside threads.
void Engine::before_fork() {
  lock().lock();
  fetch_all();
  compiler_->pause();
  ThreadPool::get().stop();
}

void Engine::after_fork_in_parent() {
  compiler_->resume();
  lock().unlock();
}

// A device can't be used by two processes in turn: the child goes on without.
void Engine::after_fork_in_child() {
  if (residence_) residence_->forget_all();
  residence_ = nullptr;
  for (auto& opened : residences_) static_cast<void>(opened.second.release());
  residences_.clear();
  settings.device = DeviceKind::Cpu;
  for (auto& [_, code] : kernels_) code->on_device = nullptr;
  compiler_->after_fork_in_child();
  ThreadPool::get().after_fork_in_child();
  lock().reset();
}

}  // namespace frit
