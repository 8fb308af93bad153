// eval.cpp: runs the pending trace: finds or makes its plan, gives memory, launches, combines.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

#include "backend/interp/interp.h"
#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/interpreted_work.h"
#include "engine/launch.h"
#include "engine/memory.h"
#include "engine/overwritten.h"
#include "engine/pool.h"
#include "engine/running.h"
#include "engine/stopwatch.h"
#include "ir/hash.h"
#include "ir/per_thread.h"
#include "schedule/dependence.h"

namespace frit {
namespace {

constexpr std::size_t most_plans = 1024;
// What a kernel's launches must have cost, in ns, before its code is looked for on disk (some ten
// microseconds), and before it is compiled: about what its compile takes, on a core that the
// program could use, and a program that ends waits for it. The first compile loads LLVM, so all
// launches together must have cost more.
constexpr double load_from = 5e4;
constexpr double compile_from_least = 2e6, compile_from_most = 5e6;
constexpr double compile_an_instruction = 7e4;
constexpr double first_compile_from = 5e7;
// Where points depend on one another, the interpreter takes some hundred times as long.
constexpr double crawl = 50;
// There, from this cost of one launch on, waiting for the compiler is quicker.
constexpr double wait_from = 5e5;
// So it is where the loops inside of a user's kernel take the interpreter longer than this.
constexpr double long_interpreted = 3e7;
constexpr double never = std::numeric_limits<double>::infinity();

double compile_from(const Kernel& kernel) {
  double instructions = 0;
  for_each_instr(kernel.code, [&](const Instr&) { ++instructions; });
  return std::clamp(compile_an_instruction * instructions, compile_from_least, compile_from_most);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void Engine::eval_recorded() {
  note_all_read();
  eval(nullptr, false);
}

void Engine::eval(const Base* wanted, bool may_postpone) {
  if (running_) return;
  left_behind_ = nullptr;
  if (nodes_.empty()) return;
  running_ = true;
  due_ = false;
  const auto start = std::chrono::steady_clock::now();
  struct Done {
    Engine& engine;
    std::chrono::steady_clock::time_point start;
    ~Done() {
      engine.running_ = false;
      engine.end_postponing();  // where an error came before the run
      ++engine.statistics.evals;
      engine.statistics.eval_seconds += seconds_since(start);
    }
  } done{*this, start};
  held_ = held_at_limit_ = 0;
  drop_unseen();
  if (nodes_.empty()) return;
  if (has_selections_) {
    tidy();
    if (nodes_.empty()) return;
  }
  if (!residence_) {
    take_zeros();
    if (nodes_.empty()) return;
    if (may_postpone && may_wait_longer()) postpone(wanted);
  }
  Lookup found = find_plan();
  foresight.note_plan(found.plan || is_seen(found.hash));
  if (!found.plan && !residence_ && runs_eagerly(found.hash)) {
    if (!unread_.empty()) give_up_postponing();
    if (run_eagerly()) return;
    found = find_plan();
  }
  CachedPlan& cached = unread_.empty() ? plan_of(found) : plan_that_postpones(wanted, found);
  last_plan_ = cached.plan;
  last_nodes_ = cached.nodes;
  const LeftBehind left = run(cached);
  left_behind_ = left.error;
  if (left.error) {
    // Who asks for no array asks for what was recorded last, or has time.
    const bool is_of_wanted = wanted ? wanted->pending_writes > 0 : left.has_last && !may_postpone;
    if (is_of_wanted) std::rethrow_exception(left.error);
  }
}

Segment Engine::segment(std::span<const SlotState> states) const {
  return {.nodes = nodes_,
          .slots = states,
          .fuses = settings.fusion == Fusion::On,
          .for_device = has_device(),
          .threads = ThreadPool::get().threads(),
          .sweep_shift = settings.sweep_shift};
}

Engine::Lookup Engine::find_plan() {
  const auto start = std::chrono::steady_clock::now();
  write_key();
  Lookup found{hash_words(key_.all()), nullptr};
  const auto [first, last] = plans_.equal_range(found.hash);
  for (auto it = first; it != last && !found.plan; ++it)
    if (std::ranges::equal(it->second->key, key_.all())) found.plan = it->second.get();
  if (found.plan) {
    ++statistics.plan_hits;
    found.plan->last_use = ++clock_;
    statistics.lookup_seconds += seconds_since(start);
  }
  return found;
}

// What a plan can't postpone is stored, which is another plan.
CachedPlan& Engine::plan_that_postpones(const Base* wanted, Lookup found) {
  std::vector<std::uint32_t> to_store;  // slots
  for (int trials = 3;; --trials) {
    CachedPlan& cached = plan_of(found);
    const std::vector<std::uint32_t> more = not_postponed_by(*cached.plan);
    if (more.empty()) return cached;
    to_store.insert(to_store.end(), more.begin(), more.end());
    give_up_postponing();
    if (trials > 1) postpone(wanted, to_store);
    found = find_plan();
  }
}

CachedPlan& Engine::new_plan(std::uint64_t hash) {
  const auto start = std::chrono::steady_clock::now();
  if (plans_.size() >= most_plans) {
    // The older half goes.
    std::vector<std::uint64_t> uses;
    for (const auto& [_, plan] : plans_) uses.push_back(plan->last_use);
    std::nth_element(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2),
                     uses.end());
    const std::uint64_t oldest = uses[uses.size() / 2];
    std::erase_if(plans_, [&](const auto& entry) { return entry.second->last_use < oldest; });
  }
  auto cached = std::make_unique<CachedPlan>();
  cached->key.assign(key_.all().begin(), key_.all().end());
  cached->last_use = ++clock_;
  for (const Node& node : nodes_)
    for_each_access(node, [&](const Access& a, bool) {
      if (cached->layouts.empty() || cached->layouts.back().get() != a.layout)
        cached->layouts.emplace_back(a.layout);
    });
  const std::vector<SlotState> states = slot_states();
  cached->plan = make_plan(segment(states));
  cached->nodes = std::make_shared<std::vector<NodeLabel>>(nodes_.begin(), nodes_.end());
  for (const Step& step : cached->plan->steps)
    cached->code.push_back(step.kind == StepKind::Launch ? code_of(step.launch.kernel) : nullptr);
  for (const PlanSweep& sweep : cached->plan->sweeps) {
    auto& code = cached->swept_code.emplace_back();
    for (const PlanSweep::Item& item : sweep.items)
      code.push_back(item.kernel ? code_of(item.kernel) : nullptr);
  }
  ++statistics.plan_misses;
  statistics.plan_seconds += seconds_since(start);
  if (!settings.dump.empty()) dump(*cached);
  return *plans_.emplace(hash, std::move(cached))->second;
}

// FRIT_DUMP=graph,kernel,llvm,asm,ptx: new plans and new kernels, to standard error.
void Engine::dump(const CachedPlan& cached) {
  last_plan_ = cached.plan;
  last_nodes_ = cached.nodes;
  last_places_.clear();
  if (settings.dumps("graph")) std::fputs(explain(false).c_str(), stderr);
}

void Engine::dump(const Kernel& kernel) const {
  const auto put = [](const std::string& text) { std::fputs((text + "\n").c_str(), stderr); };
  if (settings.dumps("kernel")) put(print(kernel));
  if (settings.dumps("llvm")) put(compiler_->llvm_text(kernel));
  if (settings.dumps("asm")) put(compiler_->assembly(kernel));
  if (settings.dumps("ptx")) {
    const codegen::GridCode code = compiler_->grid(kernel);
    put(code.why_not.empty() ? code.text : "// none for a GPU: " + code.why_not + "\n");
  }
}

std::shared_ptr<KernelCode> Engine::code_of(const std::shared_ptr<const Kernel>& kernel) {
  if (kernels_.size() >= most_kernels_) {
    std::erase_if(kernels_, [](const auto& k) { return k.second.use_count() == 1; });
    most_kernels_ = std::max(most_kernels, 2 * kernels_.size());
  }
  auto& code = kernels_[serialize(*kernel)];
  if (!code) {
    code = std::make_shared<KernelCode>();
    code->kernel = kernel;
    if (!settings.dump.empty()) dump(*kernel);
  }
  return code;
}

void Engine::free_slot(std::uint32_t slot, Running& running) {
  if (slot < running.slots.size())
    free_unseen(running.slots[slot]);
  else
    drop_temporary(slot - static_cast<std::uint32_t>(running.slots.size()), running);
}

void Engine::allocate_for(std::span<const Step> steps, Running& running) {
  for (const Step& step : steps)
    for (std::uint32_t slot : step.allocate) {
      if (residence_)
        running.undefined[slot] = slot >= running.slots.size() || !running.slots[slot]->data;
      if (slot < running.slots.size()) {
        allocate(running.slots[slot]);
      } else {
        const std::size_t t = slot - running.slots.size();
        running.temporaries[t] = memory::allocate(running.cached.plan->temporaries[t]);
      }
    }
}

void Engine::drop_temporary(std::size_t number, Running& running) {
  running.set_temporary(static_cast<std::uint32_t>(running.slots.size() + number), nullptr);
  if (residence_) residence_->drop(running.copies[number]);
}

// The nodes of groups whose memory is not to be had: those stay pending, and all that comes behind
// them in the same memory. Whoever reads something else is not to hear of it.
class Engine::HeldBack {
 public:
  explicit HeldBack(const Engine& engine)
      : engine_(engine), touched_(engine.slots_.size()), written_(engine.slots_.size()) {}
  std::exception_ptr error;  // the first one; null: there are none

  bool touches(std::uint32_t slot) const { return slot < touched_.size() && touched_[slot]; }
  bool comes_before(const std::vector<std::uint32_t>& nodes) const {
    if (!error) return false;
    bool does = false;
    for_each_access_of(nodes, [&](const Access& a, bool is_write) {
      does |= is_write ? touched_[a.base->slot] : written_[a.base->slot];
    });
    return does;
  }
  void add(const std::vector<std::uint32_t>& nodes) {
    for_each_access_of(nodes, [&](const Access& a, bool is_write) {
      touched_[a.base->slot] = true;
      if (is_write) written_[a.base->slot] = true;
    });
  }

 private:
  template <class Visit>
  void for_each_access_of(const std::vector<std::uint32_t>& nodes, Visit&& visit) const {
    for (std::uint32_t k : nodes) for_each_access(engine_.nodes_[k], visit);
  }

  const Engine& engine_;
  std::vector<bool> touched_, written_;  // by slot
};

Engine::LeftBehind Engine::run(CachedPlan& cached) {
  const Plan& plan = *cached.plan;
  ++cached.runs;
  Running running{.cached = cached, .nodes = nodes_, .slots = slots_, .temporaries = {}};
  running.temporaries.assign(plan.temporaries.size(), nullptr);
  open_device(running);
  if (residence_) {
    running.copies.resize(plan.temporaries.size());
    running.undefined.assign(running.slots.size() + plan.temporaries.size(), false);
  }
  last_places_.assign(residence_ ? plan.groups.size() : 0, {});
  std::vector<bool> finished(nodes_.size(), false);
  HeldBack held_back(*this);
  const std::size_t warnings_before = float_warnings.size();
  const auto free_temporaries = [&] {
    for (std::size_t k = 0; k < running.temporaries.size(); ++k) drop_temporary(k, running);
  };
  try {
    std::size_t sweep = 0;  // the next one
    for (std::size_t k = 0; k < plan.steps.size();) {
      if (sweep < plan.sweeps.size() && k == plan.sweeps[sweep].first && !held_back.error) {
        const PlanSweep& together = plan.sweeps[sweep];
        const auto& codes = cached.swept_code[sweep++];
        const Stopwatch watch(measures_host());
        if (!(residence_ && takes_apart(together, running)) &&
            run_in_sweep(together, codes, running)) {
          if (measures_host()) note_sweep(together, watch.nanoseconds(), cached);
          for (; k < together.behind; ++k)
            for (std::uint32_t node : plan.groups[plan.steps[k].group].nodes) finished[node] = true;
          continue;
        }
      }
      const std::uint32_t group = plan.steps[k].group;
      std::size_t end = k;
      while (end < plan.steps.size() && plan.steps[end].group == group) ++end;
      // All memory of a group first: a group runs whole or not at all.
      bool has_memory = !held_back.comes_before(plan.groups[group].nodes);
      try {
        if (has_memory) allocate_for({plan.steps.data() + k, end - k}, running);
      } catch (const std::bad_alloc&) {
        if (residence_) throw;
        if (!held_back.error) held_back.error = std::current_exception();
        has_memory = false;
      }
      if (!has_memory) {
        held_back.add(plan.groups[group].nodes);
        k = end;
        continue;
      }
      for (; k < end; ++k) {
        const Step& step = plan.steps[k];
        const bool is_done =
            residence_ && step.kind == StepKind::Call && run_call_on_device(step, running);
        if (residence_ && !is_done && step.kind != StepKind::Launch) bring_home(step, running);
        if (residence_ && step.kind == StepKind::Call)
          note_place(step, is_done ? "" : "the device has none, or it is short");
        switch (step.kind) {
          case StepKind::Launch:
            run_launch(step, *cached.code[k], running);
            break;
          case StepKind::Combine:
            run_combine(step, running);
            break;
          case StepKind::Call:
            if (!is_done) run_call_on_host(step, running);
            break;
        }
        for (std::uint32_t slot : step.deallocate)
          if (!held_back.touches(slot)) free_slot(slot, running);
      }
      for (std::uint32_t node : plan.groups[group].nodes) finished[node] = true;
    }
  } catch (...) {
    order_warnings(warnings_before);
    free_temporaries();
    fetch_pinned(running);
    silence_postponed(finished);
    finish_nodes(finished);
    throw;
  }
  order_warnings(warnings_before);
  if (held_back.error) free_temporaries();
  fetch_pinned(running);
  silence_postponed(finished);
  for (std::uint32_t node : plan.unneeded) finished[node] = true;
  const bool has_last = !finished.back();
  finish_nodes(finished);
  return {.error = held_back.error, .has_last = has_last};
}

// Other threads look at these without the lock, to read the elements where they are 0.
void Engine::lower(std::int32_t& count) {
  std::atomic_ref(count).store(count - 1, std::memory_order_release);
}

void Engine::drop_access(const Access& access, bool is_write) {
  access.layout->release();
  Base* base = access.base;
  lower(base->pending);
  if (is_write) lower(base->pending_writes);
  if (!base->is_touched() && base->handles == 0) destroy(base);
}

// Takes the finished nodes out of the trace. What is left, after an error, stays pending in its
// order.
void Engine::finish_nodes(std::vector<bool> finished) {
  const bool are_finished = std::ranges::find(finished, false) == finished.end();
  if (has_postponed_) keep_postponed(finished);
  std::vector<Node> done, rest;
  bool all = std::all_of(finished.begin(), finished.end(), [](bool f) { return f; });
  if (all) {
    done.swap(nodes_);
  } else {
    // Before any node is moved: if there is no memory, all of them stay.
    done.reserve(nodes_.size());
    rest.reserve(nodes_.size());
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      (finished[k] ? done : rest).push_back(std::move(nodes_[k]));
    nodes_.clear();
  }
  start_trace();
  for (const Node& node : done)
    for_each_access(node, [&](const Access& a, bool w) { drop_access(a, w); });
  if (all) {
    done.clear();
    nodes_.swap(done);  // keeps its capacity
  }
  for (Node& node : rest) {
    if (!are_finished) pending_cost_ += pending_cost_of(node);
    nodes_.push_back(std::move(node));
  }
  if (are_finished) waiting_ = nodes_.size();
}

// Drops what nobody needs, and moves calls that wait for nothing to the front: between other nodes
// they would part kernels.
void Engine::tidy() {
  number_bases();
  const std::vector<SlotState> states = slot_states();
  const std::vector<bool> needed = needed_nodes(segment(states));
  for (const auto& [first, second] : twins_)
    if (needed[first] && needed[second]) nodes_[second].float_checks = silent_checks;
  std::vector<Node> calls, rest;
  std::vector<bool> dropped, read(slots_.size()), written(slots_.size());
  // Before any node is moved: if there is no memory, all of them stay.
  calls.reserve(nodes_.size());
  rest.reserve(nodes_.size());
  dropped.reserve(nodes_.size());
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    Node& node = nodes_[k];
    bool waits = node.kind != NodeKind::Call || !needed[k];
    for_each_access(node, [&](const Access& a, bool is_write) {
      waits |= written[a.base->slot] || (is_write && read[a.base->slot]);
    });
    if (!waits) {
      calls.push_back(std::move(node));
      continue;
    }
    if (needed[k])
      for_each_access(node, [&](const Access& a, bool is_write) {
        (is_write ? written : read)[a.base->slot] = true;
      });
    dropped.push_back(!needed[k]);
    rest.push_back(std::move(node));
  }
  dropped.insert(dropped.begin(), calls.size(), false);
  std::ranges::move(rest, std::back_inserter(calls));
  nodes_ = std::move(calls);  // which keeps its capacity
  finish_nodes(dropped);
}

namespace {

// The step that makes all of new memory zeros, in any order of its elements.
bool makes_zeros(const Node& node) {
  if (node.kind != NodeKind::Elementwise || node.op != Op::Copy || node.in[0].base ||
      node.in[0].offset == iota_input)
    return false;
  const Base& base = *node.out.base;
  const Layout& layout = *node.out.layout;
  const Scalar& value = node.constants[node.in[0].offset];
  return !base.data && base.handles > 0 && (layout.c_contiguous() || layout.f_contiguous()) &&
         layout.size() * size_of(node.out.dtype) == base.bytes &&
         std::ranges::all_of(value.bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

// Zeros of which this trace writes little take pages which the system gives as zeros when they are
// touched: nobody has to fill them, and an array may be larger than the memory. What is written all
// over is left to fusion.
void Engine::take_zeros() {
  if (std::ranges::none_of(nodes_, makes_zeros)) return;
  number_bases();
  std::vector<std::int64_t> first(slots_.size(), -1);  // node
  std::vector<std::int64_t> most(slots_.size());       // bytes that another one writes
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const Node& node = nodes_[k];
    const auto points = node.kind == NodeKind::Routine ? node.out.layout->size()
                                                       : std::numeric_limits<std::int64_t>::max();
    for_each_access(node, [&](const Access& a, bool is_write) {
      if (first[a.base->slot] < 0)
        first[a.base->slot] = static_cast<std::int64_t>(k);
      else if (is_write)
        most[a.base->slot] =
            std::max(most[a.base->slot], std::min(points, a.layout->size()) * size_of(a.dtype));
    });
  }
  std::vector<bool> taken(nodes_.size(), false);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    Base& base = *slots_[slot];
    const auto k = static_cast<std::size_t>(first[slot]);
    if (!makes_zeros(nodes_[k]) || nodes_[k].out.base != &base || most[slot] > base.bytes / 2)
      continue;
    try {
      base.data = memory::allocate_zeros(base.bytes);
    } catch (const std::bad_alloc&) {
      refuse(base);
    }
    taken[k] = base.data != nullptr;
  }
  if (std::ranges::find(taken, true) != taken.end()) finish_nodes(taken);
}

// ---- steps --------------------------------------------------------------------------------------

const Executable& Engine::executable(KernelCode& code, double cost, Pace pace) {
  const bool want_compiled = settings.tier == Tier::Automatic || settings.tier == Tier::Compiled;
  if (want_compiled) {
    note_cost(code, pace == Pace::OneByOne ? crawl * cost : cost);
    const bool waits = pace == Pace::OneByOne && cost >= wait_from;
    const auto is_worth_it = [&] {  // only asked where there is no code yet
      return settings.tier == Tier::Compiled || waits ||
             (code.cost_seen >= compile_from_least && cost_seen_ >= first_compile_from &&
              code.cost_seen >= compile_from(*code.kernel));
    };
    if (!code.compiled && !code.sought && code.cost_seen >= load_from) {
      code.sought = true;
      code.compiled = compiler_->find(*code.kernel);
    }
    if (!code.compiled && is_worth_it()) {
      code.compiled = compiler_->request(*code.kernel);
      if (settings.tier == Tier::Compiled) compiler_->wait();
    }
    if (waits && !code.compiled->load(std::memory_order_acquire)) compiler_->wait();
    if (code.compiled && code.compiled->load(std::memory_order_acquire)) {
      improve(code);
      ++statistics.compiled_launches;
      return *code.compiled->load(std::memory_order_acquire);
    }
  }
  if (!code.interpreted) code.interpreted = interpreter_->compile(*code.kernel);
  ++statistics.interpreted_launches;
  return *code.interpreted;
}

void Engine::wait_for_long_loops(KernelCode& code, const LaunchArguments& arguments,
                                 std::int64_t extent) {
  if (settings.tier != Tier::Automatic || code.is_compiled()) return;
  if (interpreted_work(*code.kernel, arguments, extent) < long_interpreted) return;
  if (!code.compiled) code.compiled = compiler_->request(*code.kernel);
  compiler_->wait();
}

unsigned Engine::launch(KernelCode& code, Pace pace, const LaunchArguments& arguments,
                        const LaunchShape& shape) {
  const Executable& chosen = executable(code, shape.cost, pace);
  if (&chosen != code.interpreted.get()) return run_parts(chosen, arguments, shape);
  const auto start = std::chrono::steady_clock::now();
  const unsigned flags = run_parts(chosen, arguments, shape);
  note_cost(code, std::max(0.0, 1e9 * seconds_since(start) - shape.cost));
  return flags;
}

// Estimated beforehand; what an interpreted launch took beyond its estimate is added afterwards.
void Engine::note_cost(KernelCode& code, double nanoseconds) {
  code.cost_seen += nanoseconds;
  cost_seen_ += nanoseconds;
}

// Asks once for faster code, when the launches so far are worth it.
void Engine::improve(KernelCode& code) {
  const bool waits = settings.tier == Tier::Compiled;
  const double cost = waits ? never : code.cost_seen;
  if (code.improve_at == never || cost < code.improve_at) return;
  const bool settled = compiler_->improve(*code.kernel, cost * 1e-9);
  code.improve_at = settled ? never : 2 * code.improve_at;
  if (waits) compiler_->wait();
}

void Engine::run_launch(const Step& step, KernelCode& code, Running& running) {
  const LaunchStep& launch = step.launch;
  if (launch.extent == 0) return;
  if (residence_) {
    const std::string_view why_not = run_on_device(step, code, running);
    note_place(step, why_not);
    if (why_not.empty()) return;
    bring_home(step, running);
  }
  struct ShadowMemory {
    std::uint32_t slot;
    std::byte* data;
  };
  std::vector<ShadowMemory> shadows;
  for (const LaunchStep::Shadow& s : launch.shadows) {
    Base* base = running.slots[s.slot];
    try {
      shadows.push_back({s.slot, memory::allocate(base->bytes)});
    } catch (...) {
      for (const ShadowMemory& taken : shadows)
        memory::deallocate(taken.data, running.slots[taken.slot]->bytes);
      throw;
    }
    s.border.copy(base->data, shadows.back().data, 0, s.border.rows);
  }
  std::vector<void*> pointers;
  pointers.reserve(launch.operands.size());
  const std::int64_t most_kept = Overwritten::most_bytes_of(running.cached);
  bool may_keep = false;
  for (const Binding& b : launch.operands) {
    switch (b.kind) {
      case Binding::Kind::Slot:
        may_keep |= b.slot < running.slots.size() && running.slots[b.slot]->bytes <= most_kept;
        pointers.push_back(running.pointer(b.slot) + b.offset);
        break;
      case Binding::Kind::Shadow:
        for (const ShadowMemory& s : shadows)
          if (s.slot == b.slot) pointers.push_back(s.data + b.offset);
        break;
      case Binding::Kind::Table:
        pointers.push_back(running.table(b));
        break;
      case Binding::Kind::Scratch:
        pointers.push_back(nullptr);
        break;
    }
  }
  const std::vector<Scalar> scalars = running.scalars(launch);

  Overwritten overwritten;
  if (may_keep)
    overwritten =
        overwritten_by(running.cached.plan->groups[step.group].nodes, running.nodes, most_kept);
  const LaunchArguments arguments{pointers.data(), launch.integers.data(), scalars.data()};
  const auto is_users = [&](std::uint32_t k) { return running.nodes[k].kind == NodeKind::Routine; };
  if (std::ranges::any_of(running.cached.plan->groups[step.group].nodes, is_users))
    wait_for_long_loops(code, arguments, launch.extent);
  const bool is_timed = measures_host() && code.is_compiled();
  const Stopwatch watch(is_timed);
  const unsigned flags = this->launch(code, launch.pace, arguments,
                                      {.extent = launch.extent,
                                       .granule = launch.granule,
                                       .scratch_bytes = launch.scratch_bytes,
                                       .cost = launch.cost});
  if (is_timed) code.host_rate.note(watch.nanoseconds(), launch.cost);
  // The shadowed bases still hold the old values.
  if (flags & flags_of_interest) {
    if (overwritten.empty())
      diagnose(step, running.cached, running.temporaries, flags);
    else
      diagnose(Overwritten::Restored(overwritten, step).step(), running.cached, running.temporaries,
               flags);
  }
  for (const ShadowMemory& s : shadows) {
    Base* base = running.slots[s.slot];
    leave_memory(base, step.group);
    base->data = s.data;
  }
}

void Engine::run_combine(const Step& step, Running& running) {
  const CombineStep& c = step.combine;
  const Loop op = loop(c.op, c.dtype);
  const auto item = static_cast<std::size_t>(size_of(c.dtype));
  std::byte* partials = running.pointer(c.partials);
  const auto apply_to = [&](std::byte* into, const std::byte* other) {
    void* args[3] = {into, into, const_cast<std::byte*>(other)};
    op(args, 1, 0);
  };
  Scalar total = running.scalar(c.initial);
  const Node& node = running.nodes[c.initial.node];
  const bool is_checked = node.float_checks != 0 && may_warn(c.op, c.dtype);
  if (is_checked) clear_float_flags();
  if (c.tree_extent > 0) {
    // Walks the tree as split_tree did; a finished left half waits on the stack.
    struct Half {
      std::int64_t length;
      bool right;
      std::byte* left;
    };
    std::vector<Half> stack;
    std::int64_t length = c.tree_extent;
    std::byte* next = partials;
    for (;;) {
      for (std::int64_t left; length > c.tree_grain && (left = pairwise_split(c.dtype, length)) > 0;
           length = left)
        stack.push_back({length - left, false, nullptr});
      std::byte* result = next;
      next += item;
      while (!stack.empty() && stack.back().right) {
        apply_to(stack.back().left, result);
        result = stack.back().left;
        stack.pop_back();
      }
      if (stack.empty()) {
        apply_to(total.bytes, result);
        break;
      }
      stack.back().right = true;
      stack.back().left = result;
      length = stack.back().length;
    }
  } else {
    for (std::int64_t k = 0; k < c.count; ++k)
      apply_to(total.bytes, partials + static_cast<std::size_t>(k) * item);
  }
  unsigned flags = is_checked ? float_flags() & flags_of_interest : 0;
  void* args[2] = {running.pointer(c.out.slot) + c.out.offset, total.bytes};
  cast_loop(c.dtype, c.out_dtype)(args, 1, 0);
  if (is_checked && is_float(c.out_dtype)) flags = float_flags() & flags_of_interest;
  if (flags != 0)
    note_float_flags(node.op, source_of(node), node.float_checks, credible(node.out, flags), true);
}

void Engine::run_call(const Node& node) {
  const CallSite& site = *node.site;
  std::vector<std::byte*> pointers;
  for (const Access& a : site.outputs) pointers.push_back(a.base->data + a.offset);
  for (const Access& a : site.inputs) pointers.push_back(a.base->data + a.offset);
  ++statistics.calls;
  if (node.float_checks == 0) return site.call->run(pointers);
  clear_float_flags();
  site.call->run(pointers);
  SourcePosition at = source_of(node);
  if (!at.ufunc) at.ufunc = site.call->warning_name();
  note_float_flags(node.op, at, node.float_checks,
                   flags_of_call(*site.call, site.outputs[0], pointers));
}

}  // namespace frit
