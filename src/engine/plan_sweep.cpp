// plan_sweep.cpp: runs the launches of a plan's sweep together, in memory of the sweep's own.
//
// Until all of them have run nothing that anybody can see has changed. Where a floating-point flag
// was raised, or memory is short, the blocks are given back and the steps run in order.
#include <algorithm>
#include <new>

#include "engine/float_flags.h"
#include "engine/memory.h"
#include "engine/pool.h"
#include "engine/running.h"
#include "engine/sweep.h"

namespace frit {
namespace {

// What a kernel's launches must have cost in order, in ns, before it is compiled for sweeps.
constexpr double compile_from = 1e7;
constexpr double cost_of_little = 2e3;  // of a launch that may as well be interpreted, in ns

// Blocks of memory, given back where nobody takes them.
class Blocks {
 public:
  explicit Blocks(const std::vector<std::int64_t>& bytes) : bytes_(bytes), data_(bytes.size()) {}
  ~Blocks() {
    for (std::size_t k = 0; k < data_.size(); ++k)
      if (data_[k]) memory::deallocate(data_[k], bytes_[k]);
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  bool allocate() {
    try {
      for (std::size_t k = 0; k < data_.size(); ++k) data_[k] = memory::allocate(bytes_[k]);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  std::byte* operator[](std::int32_t block) const { return data_[static_cast<std::size_t>(block)]; }
  std::byte* take(std::int32_t block) {
    return std::exchange(data_[static_cast<std::size_t>(block)], nullptr);
  }

 private:
  const std::vector<std::int64_t>& bytes_;
  std::vector<std::byte*> data_;
};

// The memory that the snapshot is of.
const PlanSweep::Left* left_for(const Snapshot& snapshot, const PlanSweep& sweep) {
  const auto found = std::ranges::find_if(sweep.left, [&](const PlanSweep::Left& l) {
    return l.group == snapshot.group && l.slot == snapshot.base->slot;
  });
  return found == sweep.left.end() ? nullptr : &*found;
}

}  // namespace

// Is what others need of it left to them, and is there code that is as fast as that of the steps?
bool Engine::may_sweep(const PlanSweep& sweep, std::span<const std::shared_ptr<KernelCode>> code,
                       const CachedPlan& cached) {
  if (cached.raises_flags) return false;
  const Plan& plan = *cached.plan;
  const std::uint32_t first = plan.steps[sweep.first].group;
  const std::uint32_t last = plan.steps[sweep.behind - 1].group;
  for (const Snapshot& snapshot : snapshots_) {
    if (snapshot.group < first || snapshot.group > last) continue;
    const PlanSweep::Left* left = left_for(snapshot, sweep);
    if (!left || !left->whole) return false;
  }
  if (settings.tier != Tier::Automatic) return true;
  bool is_ready = true;
  for (std::size_t k = 0; k < code.size(); ++k) {
    KernelCode* const c = code[k].get();
    const double cost = plan.steps[sweep.items[k].step].launch.cost;
    if (!c || cost < cost_of_little) continue;
    if (!c->compiled) {
      c->cost_seen += cost;
      if (c->cost_seen >= compile_from) c->compiled = compiler_->request(*c->kernel);
    }
    is_ready = is_ready && c->compiled && c->compiled->load(std::memory_order_acquire);
  }
  return is_ready;
}

bool Engine::run_in_sweep(const PlanSweep& sweep, std::span<const std::shared_ptr<KernelCode>> code,
                          Running& running) {
  if (!may_sweep(sweep, code, running.cached)) return false;
  Blocks blocks(sweep.blocks);
  if (!blocks.allocate()) return false;
  const Plan& plan = *running.cached.plan;
  const auto memory_of = [&](std::int32_t block, std::uint32_t slot) {
    return block == PlanSweep::initial ? running.pointer(slot) : blocks[block];
  };
  std::vector<SweptLaunch> launches(sweep.items.size());
  std::uint8_t checks = 0;
  for (std::size_t k = 0; k < launches.size(); ++k) {
    const PlanSweep::Item& item = sweep.items[k];
    const LaunchStep& step = plan.steps[item.step].launch;
    SweptLaunch& l = launches[k];
    l.begin = item.begin;
    l.end = item.begin + item.rows;
    l.per_row = item.per_row;
    l.shift = item.shift;
    if (!item.kernel) {
      l.copied = &item.copied;
      for (std::int32_t block : item.blocks) l.pointers.push_back(memory_of(block, item.slot));
      continue;
    }
    l.extent_of_kernel = step.extent;
    l.code = code[k].get();
    l.executable = &executable(*code[k], step.cost, step.pace);
    l.integers = step.integers;
    for (std::size_t n = 0; n < step.operands.size(); ++n) {
      const Binding& b = step.operands[n];
      l.pointers.push_back(b.kind == Binding::Kind::Table
                               ? running.table(b)
                               : memory_of(item.blocks[n], b.slot) + b.offset);
    }
    l.scalars = running.scalars(step);
    for (std::uint32_t node : plan.groups[plan.steps[item.step].group].nodes)
      checks |= running.nodes[node].float_checks;
  }
  const unsigned flags = run_sweep(launches, sweep.turn, sweep.parts);
  if (checks != 0 && (flags & flags_of_interest)) {
    running.cached.raises_flags = true;
    return false;
  }
  statistics.swept_launches += std::ranges::count(launches, nullptr, &SweptLaunch::copied);
  for (Snapshot& snapshot : snapshots_) {
    const PlanSweep::Left* left = left_for(snapshot, sweep);
    if (!left) continue;
    if (left->block == PlanSweep::initial)
      leave_memory(snapshot.base, left->group);
    else
      keep_old(snapshot, blocks.take(left->block));
  }
  for (const PlanSweep::Result& result : sweep.results) {
    std::byte* const data = blocks.take(result.block);
    if (result.slot >= running.slots.size()) {
      running.set_temporary(result.slot, data);
      continue;
    }
    release_memory(running.slots[result.slot]);
    running.slots[result.slot]->data = data;
  }
  for (std::uint32_t slot : sweep.gone) free_slot(slot, running);
  return true;
}

}  // namespace frit
