// engine.h: the conductor: holds the trace; eval() plans it and runs it step by step.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/cpu.h"
#include "backend/device.h"
#include "engine/device_account.h"
#include "engine/foresight.h"
#include "engine/launch.h"
#include "engine/lock.h"
#include "engine/rounds.h"
#include "engine/unread.h"
#include "engine/vain_tries.h"
#include "engine/words.h"
#include "frit/array.h"
#include "ir/trace.h"
#include "schedule/schedule.h"

namespace frit {

// How long the host takes for what was guessed to cost so much of a core: measured where it decides
// whether a device is faster.
class HostRate {
 public:
  void note(double nanoseconds, double cost) {
    if (cost <= 0) return;
    const double rate = nanoseconds / cost;
    rate_ = rate_ == 0 ? rate : std::min(rate, (rate_ + rate) / 2);
  }
  double time_of(double cost, double if_unknown) const {
    return rate_ == 0 ? if_unknown : rate_ * cost;
  }

 private:
  double rate_ = 0;  // 0: not measured yet
};

// A kernel's code in both tiers; shared by all plans that hold an equal kernel.
struct KernelCode {
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const Executable> interpreted;  // made when first needed
  Compiler::Slot compiled;                        // null: not asked for yet
  bool is_compiled() const {
    return compiled && compiled->load(std::memory_order_acquire) != nullptr;
  }
  bool sought = false;      // among those compiled by earlier processes
  double cost_seen = 0;     // ns of all launches so far
  double improve_at = 2e8;  // of cost_seen: where faster code is asked for
  const DeviceCode* on_device = nullptr;
  bool is_for_host = false;       // the device has none,
  std::string why_not_on_device;  // and why
  // Of a plan's launches; of a nest's, by the cores that share one: nobody knows beforehand how
  // often a while goes round.
  HostRate host_rate, core_rate;
};

// What explain says of a node; its text is made when somebody asks.
struct NodeLabel {
  NodeKind kind;
  Op op;
  DType dtype;
  LayoutRef domain;
  std::string call;
  std::size_t parameters = 0;  // of a Routine
  bool is_loop = false;        // a Routine that was a loop nest
  bool has_lanes = false;      // a Routine with loops inside that may be lanes

  explicit NodeLabel(const Node& node);
  std::string text() const;
};

class Overwritten;
class Residence;

// A plan in the cache, with what its key holds alive.
struct CachedPlan {
  std::vector<std::uint64_t> key;
  std::vector<LayoutRef> layouts;
  std::shared_ptr<const Plan> plan;
  std::vector<std::shared_ptr<KernelCode>> code;                     // one a step
  std::vector<std::vector<std::shared_ptr<KernelCode>>> swept_code;  // by sweep: one an item
  bool raises_flags = false;                            // sweeps were run again in order for it
  std::shared_ptr<const std::vector<NodeLabel>> nodes;  // for explain
  std::uint64_t last_use = 0;
  std::uint64_t runs = 0;
};

// What they are called, in the environment and in Python. The first is the default.
inline constexpr std::pair<const char*, Tier> tier_names[] = {{"automatic", Tier::Automatic},
                                                              {"eager", Tier::Eager},
                                                              {"interpreter", Tier::Interpreter},
                                                              {"compiled", Tier::Compiled}};
inline constexpr std::pair<const char*, Fusion> fusion_names[] = {
    {"on", Fusion::On}, {"trace", Fusion::Trace}, {"off", Fusion::Off}};
inline constexpr std::pair<const char*, DeviceKind> device_names[] = {
    {"cpu", DeviceKind::Cpu},
    {"cuda", DeviceKind::Cuda},
    {"auto", DeviceKind::Auto},
    {"emulated", DeviceKind::Emulated},
    {"emulated-auto", DeviceKind::AutoEmulated}};
inline constexpr std::pair<const char*, Check> check_names[] = {{"auto", Check::WhereNeeded},
                                                                {"bounds", Check::Bounds}};

struct Settings {
  Tier tier = Tier::Automatic;
  bool lazy = true;
  Fusion fusion = Fusion::On;
  Check check = Check::WhereNeeded;
  DeviceKind device = DeviceKind::Cpu;
  // Launches of less, in ns on one core, are no faster there, where their arrays aren't there
  // anyway. Negative, for measurements: it gets whatever can run there.
  double device_cost = 5e4;
  std::uint8_t float_checks = 0;
  // Results up to here are computed at once when their inputs are ready.
  std::int64_t immediate_bytes = 16 << 10;
  // What is made of numbers alone, from so many bytes on, may be computed twice (postpone.cpp).
  std::int64_t postponed_bytes = 4 << 20;
  // What nobody reads behind the run that makes it need not be stored, from so many bytes on.
  std::int64_t unread_bytes = 512 << 10;
  std::int64_t held_bytes = 48 << 20;  // memory that only pending nodes keep alive
  std::size_t most_nodes = 4096;
  std::string dump;  // FRIT_DUMP
  bool dumps(const char* what) const { return dump.find(what) != std::string::npos; }
  double part_cost = 25e3;  // ns of work that is worth handing to another thread
  // ns that it takes to plan, in the first plans: a trace, and each of its nodes.
  double plan_cost = 4e4, plan_node_cost = 3e3;
  double new_trace_factor = 2.6;  // that much more work, where the trace was not met before
  double fresh_byte_cost = 0.25;  // ns: 1 us for a page that a program has not touched before
  // Pending work, in ns and in nodes, from which a loop's next round starts it. Short steps are
  // planned once and met again; a plan of thousands of nodes costs more than it saves.
  double step_cost = 2e6;
  std::size_t step_nodes = 128;
  std::int64_t sweep_shift = 0;  // Segment::sweep_shift
};

// Memory that steps which stay in the trace read, as it is before node `before` of the run writes
// the base: group `group` of the plan leaves it for new memory, then it is that of `old`.
inline constexpr std::uint32_t no_group = ~std::uint32_t{0};
struct Snapshot {
  Base* base;
  std::uint32_t before;
  std::uint32_t group = no_group;
  Base* old = nullptr;
};

class Engine {
 public:
  static Engine& get() {
    Engine* engine = engine_.load(std::memory_order_acquire);
    return engine ? *engine : start();
  }
  static EngineLock& lock() { return lock_; }

  // ---- bases; all under the lock ----
  Base* new_base(std::int64_t bytes) {  // promised memory, one handle
    Base* base = free_base_;
    if (base) [[likely]] {
      free_base_ = reinterpret_cast<Base*>(base->data);
      __builtin_prefetch(free_base_);  // it was long ago
      --free_bases_;
      base->data = nullptr;
    } else {
      base = new Base;
    }
    base->bytes = bytes;
    base->handles = 1;
    return base;
  }
  // The same for a new array. What no machine can give is refused where it is asked for, not where
  // it is needed. (OutOfMemory)
  Base* new_base(const Layout& layout, DType dtype) {
    constexpr std::int64_t addressable = std::int64_t{1} << 47;
    const std::int64_t bytes = layout.size() * layout.item_size();
    if (bytes > addressable) [[unlikely]]
      refuse(layout, dtype);
    return new_base(bytes);
  }
  void allocate(Base* base);                         // gives it memory now
  [[noreturn]] void refuse(const Base& base) const;  // throws OutOfMemory
  [[noreturn]] static void refuse(const Layout& layout, DType dtype);
  void retain_handle(Base* base) { ++base->handles; }
  void release_handle(Base* base) {
    if (--base->handles > 0) return;
    if (!base->is_touched())
      destroy(base);
    else if (base->data)
      held_ += base->bytes;
  }
  bool is_ready(const Base* base) const {
    return base->data != nullptr && base->pending_writes == 0;
  }

  // ---- recording ----
  // A fresh node at the end of the trace, to be filled and then committed; or taken back.
  Node& open_node() { return nodes_.emplace_back(); }
  // Counts the last node's accesses; may evaluate (limits, exported memory, not lazy).
  void commit();
  // The same of an elementwise node with so many inputs, whose arrays all have one layout.
  template <std::size_t inputs>
  void commit_plain(Node& node);
  // All that is pending, into memory. Throws OutOfMemory where there is none for any of it.
  void eval() {
    eval_recorded();
    fetch_all();
    if (left_behind_) [[unlikely]]
      std::rethrow_exception(left_behind_);
  }
  // The same, but what a device has made may stay there.
  void eval_recorded();
  // All that is pending; of large arrays only `wanted` has to be in memory then (postpone.cpp).
  void run_pending(const Base* wanted = nullptr) { eval(wanted, true); }
  // The nodes of a kernel's launch, its own and its reductions', are evaluated together; so are
  // those of a product that only its sum needs.
  void begin_launch() {
    launching_ = true;
    first_of_launch_ = nodes_.size();
  }
  void end_launch() {
    launching_ = false;
    if (due_) eval_recorded();
  }
  // For who writes the base now: evaluates if a pending node touches it.
  void settle(Base* base);
  // Evaluates if a pending node writes the base, for the base alone.
  void need(const Base* base) {
    if (base->pending_writes > 0) fetch(const_cast<Base*>(base));
  }
  // The base's stamp, a new one where it has none; 0: others may change the memory unseen.
  std::uint64_t stamp(Base* base);
  // Who reads or writes one element of `touched` has to wait for what pending nodes write to
  // `awaited`: is it a node itself, so that the work goes on waiting? Where there is much of it for
  // each element that waits.
  bool records_element(const Base& touched, const Base& awaited);
  // What was postponed has run once: it is no work that somebody waits for, but in no memory.
  bool has_pending() const { return newly_recorded() > 0; }
  bool has_nodes() const { return !nodes_.empty(); }
  std::span<const Node> pending_nodes() const { return nodes_; }
  // An x[mask] is pending (front/selection.h): what nobody needs of it is dropped before the trace
  // is looked up, since how many elements it has changes from round to round.
  void note_selection() { has_selections_ = true; }
  // Two pending nodes make the same elements: `first` tells of errors, `second` if that isn't
  // needed.
  void note_twins(std::size_t first, std::size_t second) { twins_.emplace_back(first, second); }

  // After a small op raised flags: its values decide which error it was. args: output, inputs;
  // dense, splat as in Loop.
  void note_small(Op op, const Signature& signature, void* const* args, std::int64_t n,
                  unsigned splat, unsigned flags);
  void note_float_flags(Op op, SourcePosition source, std::uint8_t checks, unsigned flags,
                        bool reduction = false);
  // The same of n elements converted at once, as a part of `op` (Copy: a conversion of its own).
  void note_conversion(Op op, DType from, DType to, const void* in, const void* out,
                       std::int64_t n);

  // ---- kernels: for plans, and for loop nests, which have programs of their own ----
  std::shared_ptr<KernelCode> code_of(const std::shared_ptr<const Kernel>& kernel);
  // Runs in the faster tier that is ready. Returns the floating-point flags that were raised.
  unsigned launch(KernelCode& code, Pace pace, const LaunchArguments& arguments,
                  const LaunchShape& shape);
  bool has_device() const { return settings.device != DeviceKind::Cpu; }
  // The device's memory, opened if it is not and work that takes so long is worth that; else null.
  Residence* device_for(double cost);
  // Launches of less, in ns on one core, are not worth bringing arrays; and do all go, whatever it
  // costs?
  double least_device_cost() const;
  bool device_takes_all() const {
    return settings.device_cost < 0 || settings.device == DeviceKind::Emulated;
  }
  bool is_ready_on_device(KernelCode& code);
  // For who runs it by itself: that tier, for a launch of so much cost (LaunchShape); and, of an
  // interpreted one, what it took beyond that.
  const Executable& executable(KernelCode& code, double cost, Pace pace);
  void note_cost(KernelCode& code, double nanoseconds);

  // An elementwise op whose result has so many bytes is computed at once, if its inputs are ready.
  bool computes_at_once(Op op, std::int64_t bytes) {
    if (bytes <= settings.immediate_bytes)
      return bytes <= Foresight::least_bytes || !foresight.records(source, op, bytes);
    // From here on a launch costs little, and several threads may share it.
    const std::int64_t most_bytes = settings.immediate_bytes * (is_costly(op) ? 4 : 16);
    return bytes <= most_bytes && settings.tier == Tier::Automatic &&
           !foresight.records_large(source, op);
  }

  SourcePosition source;
  Settings settings;
  Foresight foresight;
  Unread unread;
  VainTries equal_elements;  // of finding an order that they decide
  Statistics statistics;
  std::vector<FloatWarning> float_warnings;
  // Owners to be released without the lock.
  std::vector<std::pair<void*, void (*)(void*)>> released;

  void set_device(DeviceKind kind);
  std::string device_description();
  void synchronize();
  std::string explain(bool dot);
  void flush_caches();
  void wait_for_compiler();
  CompilerStatistics compiler_statistics() const { return compiler_->statistics(); }
  void count_transfers(Statistics& s) const;
  void reset_statistics();
  void shutdown();
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  Engine();
  static Engine& start();
  // In trace_key.cpp.
  void number_bases();
  std::vector<SlotState> slot_states() const;  // of the bases that have numbers
  void write_key();
  void append_to_key(const Node& node);
  void append_to_key(const CallSite& routine);
  void add_access(const Access& access, bool is_write);
  void drop_access(const Access& access, bool is_write);
  static void lower(std::int32_t& count);  // of a base's accesses
  void start_trace();
  void tidy();
  void take_zeros();
  void eval(const Base* wanted, bool may_postpone);
  // In postpone.cpp.
  friend class Postponing;
  void postpone(const Base* wanted, std::span<const std::uint32_t> to_store = {});
  std::vector<std::uint32_t> not_postponed_by(const Plan& plan);
  std::uint32_t group_that_leaves(const Plan& plan, const Snapshot& snapshot) const;
  void leave_memory(Base* base, std::uint32_t group);
  void keep_old(Snapshot& snapshot, std::byte* data);
  void silence_postponed(const std::vector<bool>& have_run);
  void keep_postponed(std::vector<bool>& finished);
  void read_old(Node& node, const Snapshot& snapshot);
  void end_postponing();
  void give_up_postponing();
  void drop_unseen();
  bool may_wait_longer();
  void note_all_read();
  void note_what_is_read();
  // What no run has seen yet.
  std::size_t newly_recorded() const { return nodes_.size() - waiting_; }
  const Node& first_recorded() const { return nodes_[waiting_]; }
  bool begins_anew(const Node& node);
  void note_round(const Node& next, std::size_t nodes);
  void eval_before_last();
  bool may_hold_on(const Node& node);
  std::int64_t held_by_pending();
  double pending_cost_of(const Node& node) const;
  double pending_cost_of(Op op, const Layout& space) const {
    return static_cast<double>(space.size()) *
           static_cast<double>(cost_of_op_[static_cast<std::size_t>(op)]);
  }
  static constexpr float cheap = 0.3F, costly = 1.5F;  // estimated ns an element
  float cost_of(Op op) const { return cost_of_op_[static_cast<std::size_t>(op)]; }
  bool is_costly(Op op) const { return cost_of_op_[static_cast<std::size_t>(op)] == costly; }
  Segment segment(std::span<const SlotState> states) const;  // what is pending, for make_plan
  void improve(KernelCode& code);
  struct Lookup {
    std::uint64_t hash;
    CachedPlan* plan;  // null: not known
  };
  Lookup find_plan();
  CachedPlan& new_plan(std::uint64_t hash);
  CachedPlan& plan_of(const Lookup& found) {
    return found.plan ? *found.plan : new_plan(found.hash);
  }
  CachedPlan& plan_that_postpones(const Base* wanted, Lookup found);
  // In eager.cpp. run_eagerly() returns false where it had to stop: the rest is still pending.
  bool runs_eagerly(std::uint64_t hash);
  bool run_eagerly();
  std::int64_t fresh_bytes() const;
  bool run_by_itself(const Node& node);
  void dump(const CachedPlan& cached);
  void dump(const Kernel& kernel) const;
  void finish_nodes(std::vector<bool> done);
  void forget_plans();
  void release_memory(Base* base);
  void destroy(Base* base);
  void destroy_apart(Base* base);  // one with `extra`, or one too many
  void put_free(Base* base);
  void free_unseen(Base* base);  // behind its last use

  struct Running;
  class HeldBack;
  // Nodes whose memory is not to be had. error: why, or null; has_last: the last one is among them.
  struct LeftBehind {
    std::exception_ptr error;
    bool has_last = false;
  };
  LeftBehind run(CachedPlan& cached);
  void allocate_for(std::span<const Step> steps, Running& running);
  // All that the sweep's steps do; false: it can't be, and nothing has been done.
  bool run_in_sweep(const PlanSweep& sweep, std::span<const std::shared_ptr<KernelCode>> code,
                    Running& running);
  bool may_sweep(const PlanSweep& sweep, std::span<const std::shared_ptr<KernelCode>> code,
                 const CachedPlan& cached);
  // In on_device.cpp.
  void open_device(const Running& running);
  void open_device(DeviceKind kind);
  bool try_open_device();
  // Has the device to pay for its transfers?
  static bool has_to_pay(DeviceKind kind) {
    return kind == DeviceKind::Auto || kind == DeviceKind::AutoEmulated;
  }
  bool device_pays() const { return has_to_pay(settings.device); }
  // Where the device's times are a model's, the host's are too: else tests would depend on them.
  bool measures_host() const { return settings.device == DeviceKind::Auto; }
  // Where it has to: has what it could do taken as long by now as it takes to open one? This took
  // so long.
  bool is_worth_opening(double nanoseconds);
  // Nanoseconds, by all threads; as measured, once it has been.
  static double time_on_host(const LaunchStep& launch, const KernelCode& code);
  // The same of a library call, where a device could do it and that is enough to bring its arrays.
  double work_for_device(const Node& node);
  void fetch(Base* base);
  void fetch_all();
  void fetch_pinned(Running& running);
  void note_place(const Step& step, std::string_view why_not_there);
  void bring_home(std::uint32_t slot, bool is_written, Running& running);
  void bring_home(const Step& step, Running& running);
  struct DeviceChoice {
    const DeviceCode* code = nullptr;  // null: it runs on the host,
    std::string_view why{};            // and why
    double saved = 0, brought = 0;     // ns, transfers aside, and these
  };
  DeviceChoice device_code_for(const Step& step, KernelCode& code, const Running& running);
  // Is the device to run the sweep's launches one by one? Else their memory is brought home.
  bool takes_apart(const PlanSweep& sweep, Running& running);
  void note_sweep(const PlanSweep& sweep, double nanoseconds, const CachedPlan& cached);
  struct Transfers {
    std::int64_t there = 0;  // bytes that the device would have to be brought,
    std::int64_t back = 0;   // and the host
  };
  Transfers transfers_of(const LaunchStep& launch, const Running& running) const;
  // The reason why it runs on the host, where nothing has been done; empty: it has run there.
  std::string_view run_on_device(const Step& step, KernelCode& code, Running& running);
  Overwritten keep_overwritten(const Step& step, const Running& running);
  // In calls_on_device.cpp.
  bool run_call_on_device(const Step& step, Running& running);
  bool run_product_on_device(const Node& node, const MatrixProducts& products, Running& running);
  bool run_kernel_on_device(const Node& node, const CallKernel& call, Running& running);
  DeviceAddress address_on_device(const Access& a, const Running& running);
  void run_call_on_host(const Step& step, Running& running);
  void diagnose_from_device(const Step& step, Running& running, Overwritten& overwritten,
                            unsigned flags);
  void free_slot(std::uint32_t slot, Running& running);
  void drop_temporary(std::size_t number, Running& running);
  void run_launch(const Step& step, KernelCode& code, Running& running);
  void run_combine(const Step& step, Running& running);
  void run_call(const Node& node);
  // Of a user's kernel, where its loops would take the interpreter long.
  void wait_for_long_loops(KernelCode& code, const LaunchArguments& arguments, std::int64_t extent);
  SourcePosition source_of(const Node& node) const;  // of one that runs, for warnings
  void order_warnings(std::size_t first);            // as they were recorded, from this one on
  // temporaries: the plan's, as pointers
  void diagnose(const Step& step, const CachedPlan& cached, std::span<std::byte* const> temporaries,
                unsigned flags);

  static std::atomic<Engine*> engine_;
  static EngineLock lock_;

  std::vector<Node> nodes_;
  // Of the trace that is looked up or runs: its bases by number, its words.
  std::vector<Base*> slots_;
  Words key_;
  std::uint64_t segment_ = 1;
  std::exception_ptr left_behind_;  // why the latest eval has left nodes, or null
  std::int64_t held_ = 0;
  std::int64_t held_at_limit_ = 0;  // when it first was too much
  double pending_cost_ = 0;
  int pending_elements_ = 0;  // nodes for one element each
  double cost_seen_ = 0;      // ns of all launches
  std::size_t anchor_ = 0;  // a node from which a loop's rounds may be counted; 0: the first alone
  Rounds rounds_;
  std::uint64_t next_stamp_ = 1;
  std::array<float, op_count> cost_of_op_;
  std::size_t waiting_ = 0;  // nodes at the front that were postponed
  std::vector<Snapshot> snapshots_;
  // The slots of what is postponed since nobody is foreseen to read it.
  std::vector<std::uint32_t> unread_;
  bool has_postponed_ = false;
  bool has_selections_ = false;
  std::vector<std::pair<std::size_t, std::size_t>> twins_;
  bool running_ = false;
  bool launching_ = false;
  std::size_t first_of_launch_ = 0;  // its first node
  bool due_ = false;                 // a node of the launch must not wait
  std::uint64_t clock_ = 0;

  std::unordered_multimap<std::uint64_t, std::unique_ptr<CachedPlan>> plans_;
  // Traces that ran without a plan, and what all their runs took, in ns.
  struct Seen {
    std::uint64_t hash = 0;
    double cost = 0;
  };
  std::array<Seen, 4096> seen_{};
  bool is_seen(std::uint64_t hash) const { return seen_[hash % seen_.size()].hash == hash; }
  std::unordered_map<std::string, std::shared_ptr<KernelCode>> kernels_;
  static constexpr std::size_t most_kernels = 512;
  std::size_t most_kernels_ = most_kernels;  // of more, those that no plan has are dropped
  std::shared_ptr<const Plan> last_plan_;    // null: the last ones ran op by op
  std::vector<std::string> last_places_;     // where its groups ran, if there is a device
  std::shared_ptr<const std::vector<NodeLabel>> last_nodes_;
  std::unique_ptr<Backend> interpreter_;
  std::unique_ptr<Compiler> compiler_;
  Residence* residence_ = nullptr;  // of the device that is used; null: none is
  HostRate product_rate_, call_rate_;
  double closed_time_ = 0;  // ns of what a device might have done
  // Of all that were ever opened: the compiler may still be at work for them.
  std::vector<std::pair<DeviceKind, std::unique_ptr<Residence>>> residences_;
  // Of dead arrays, for the next ones: each has the next one's address for that of its memory.
  Base* free_base_ = nullptr;
  std::size_t free_bases_ = 0;
};

template <std::size_t inputs>
inline void Engine::commit_plain(Node& node) {
  Base* const out = node.out.base;
  const std::size_t pending = nodes_.size();
  std::int32_t pinned = out->exports | out->foreign;
  for (std::size_t k = 0; k < inputs; ++k)
    if (const Base* base = node.in[k].base) pinned |= base->exports | base->foreign;
  if (pinned != 0 || pending > settings.step_nodes || pending > settings.most_nodes ||
      pending_cost_ > settings.step_cost || held_ > settings.held_bytes || !settings.lazy ||
      settings.fusion == Fusion::Off) [[unlikely]]
    return commit();
  node.source = source;
  std::int32_t accesses = 1;
  for (std::size_t k = 0; k < inputs; ++k)
    if (Base* base = node.in[k].base) {
      ++base->pending;
      ++accesses;
    }
  ++out->pending;
  ++out->pending_writes;
  out->stamp = 0;
  node.out.layout->retain(accesses);
  ++statistics.recorded;
  pending_cost_ += pending_cost_of(node.op, *node.out.layout);
}

// As long as it lives, errors may be put down to other lines, under other checks.
class OtherSources {
 public:
  explicit OtherSources(Engine& engine)
      : engine_(engine), source_(engine.source), checks_(engine.settings.float_checks) {}
  OtherSources(const OtherSources&) = delete;
  OtherSources& operator=(const OtherSources&) = delete;
  ~OtherSources() {
    engine_.source = source_;
    engine_.settings.float_checks = checks_;
  }
  void set(const Node& node) {
    engine_.source = node.source;
    engine_.settings.float_checks = node.float_checks;
  }

 private:
  Engine& engine_;
  SourcePosition source_;
  std::uint8_t checks_;
};

}  // namespace frit
