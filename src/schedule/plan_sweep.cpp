// plan_sweep.cpp: which launches of a plan go over the rows together, and in what memory.
#include "schedule/plan_sweep.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "schedule/sweep_size.h"

namespace frit {
namespace {

constexpr std::size_t most_items = 64;
constexpr std::int64_t most_of_array = std::int64_t{1} << 44;  // bytes: no memory holds more
constexpr std::int64_t most_beside = 48 << 20;  // bytes of blocks, beside those of two arrays
// A block's bytes are moved more than once: they come to the cache to be written.
constexpr std::int64_t moves_of_block = 2;
constexpr double share_of_memory = 0.75;  // of its cost that it has not where the caches hold all
constexpr double least_saved = 0.25;      // of the launches' traffic

using Item = PlanSweep::Item;

// The same code, with stores that stay in the caches and nothing fetched ahead.
void stay_in_caches(Block& block) {
  for (Instr& instr : block) {
    instr.streaming = false;
    stay_in_caches(instr.body);
    stay_in_caches(instr.other);
  }
}
std::shared_ptr<const Kernel> in_caches(const std::shared_ptr<const Kernel>& kernel) {
  bool streams = false;
  for_each_instr(kernel->code, [&](const Instr& instr) { streams |= instr.streaming; });
  if (!streams) return kernel;
  Kernel copy = *kernel;
  stay_in_caches(copy.code);
  return std::make_shared<const Kernel>(std::move(copy));
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::int64_t bytes_of(const Segment& segment, const Plan& plan, std::uint32_t slot) {
  const std::size_t own = segment.slots.size();
  return slot < own ? segment.slots[slot].bytes : plan.temporaries[slot - own];
}

// Where the slots' memory is, and what goes together so far.
class Candidate {
 public:
  Candidate(const Segment& segment, const Plan& plan, std::span<const std::int64_t> pitches)
      : segment_(&segment), plan_(&plan), pitches_(pitches) {
    memory_.assign(pitches.size(), PlanSweep::initial);
    is_gone_.assign(pitches.size(), false);
  }

  bool empty() const { return sweep_.items.empty(); }

  // A step that goes along; false: it can't, and this is not to be used any more.
  bool add(std::uint32_t number) {
    const Step& step = plan_->steps[number];
    const LaunchStep& launch = step.launch;
    if (step.kind != StepKind::Launch || launch.reach.empty() || launch.scratch_bytes != 0 ||
        launch.extent == 0 || (launch.pace != Pace::Lanes && launch.elements != 1))
      return false;
    for (std::uint32_t slot : step.allocate) memory_[slot] = take_block(slot);
    std::vector<std::int32_t> shadows;  // the blocks of launch.shadows
    for (const LaunchStep::Shadow& shadow : launch.shadows) {
      shadows.push_back(take_block(shadow.slot));
      if (!shadow.border.empty() &&
          !add_copy(number, shadow.slot, memory_[shadow.slot], shadows.back(), shadow.border))
        return false;
    }
    if (!own_what_is_written(number, launch) || !add_launch(number, launch, shadows)) return false;
    launch_bytes_ += launch.bytes;
    touched_ += touched_by(launch);
    for (std::size_t k = 0; k < shadows.size(); ++k) {
      const std::uint32_t slot = launch.shadows[k].slot;
      sweep_.left.push_back({.group = step.group, .slot = slot, .block = memory_[slot]});
      give_back(memory_[slot]);
      memory_[slot] = shadows[k];
    }
    for (std::uint32_t slot : step.deallocate) {
      give_back(memory_[slot]);
      memory_[slot] = PlanSweep::initial;
      is_gone_[slot] = true;
    }
    return true;
  }

  // Are there several launches, over memory that no cache holds?
  bool may_sweep() const { return launches_ > 1 && limits().pays(); }
  // Of the steps [first, behind), where it is worth it.
  std::optional<PlanSweep> finish(std::uint32_t first, std::uint32_t behind) {
    const std::int64_t moved = bytes_of_initial() + moves_of_block * bytes_of_blocks();
    const double saved = 1 - static_cast<double>(moved) / static_cast<double>(touched_);
    if (!may_sweep() || (segment_->sweep_shift == 0 && saved < least_saved)) return std::nullopt;
    sweep_.first = first;
    sweep_.behind = behind;
    for (const Memory& block : blocks_) sweep_.blocks.push_back(block.bytes);
    for (std::uint32_t slot = 0; slot < memory_.size(); ++slot) {
      if (memory_[slot] != PlanSweep::initial)
        sweep_.results.push_back({slot, memory_[slot]});
      else if (is_gone_[slot])
        sweep_.gone.push_back(slot);
    }
    std::int64_t deepest = 0;
    for (const Item& item : sweep_.items) deepest = std::max(deepest, item.shift);
    sweep_.turn = limits().turn(size_);
    sweep_.parts = limits().parts(deepest, size_);
    const double of_launches = std::max(0.0, saved) * static_cast<double>(launch_bytes_);
    sweep_.bytes_saved = static_cast<std::int64_t>(of_launches);
    for (Item& item : sweep_.items)
      if (item.kernel) item.kernel = in_caches(item.kernel);
    return std::move(sweep_);
  }

 private:
  // What an item touches of a block, by the sweep's rows.
  struct Touch {
    std::size_t item;
    bool is_write;
    std::int64_t low, high;  // bytes behind the start of the row of the item's iteration
  };
  using Touches = std::vector<std::pair<std::int32_t, Touch>>;  // with the block
  struct Memory {
    std::int64_t bytes, pitch;
    std::vector<Touch> touches{};
  };

  std::int64_t bytes_of(std::uint32_t slot) const {
    return frit::bytes_of(*segment_, *plan_, slot);
  }
  SweepLimits limits() const {
    return {.bytes = bytes_of_initial() + bytes_of_blocks(),
            .threads = segment_->threads,
            .most_shift = segment_->sweep_shift};
  }
  std::int64_t bytes_of_initial() const {
    std::int64_t bytes = 0;
    for (std::uint32_t slot : initial_) bytes += bytes_of(slot);
    return bytes;
  }
  std::int64_t bytes_of_blocks() const {
    std::int64_t bytes = 0;
    for (const Memory& block : blocks_) bytes += block.bytes;
    return bytes;
  }

  // Memory that it reads, and that it writes.
  std::int64_t touched_by(const LaunchStep& launch) const {
    struct Touched {
      std::uint32_t slot;
      bool is_write;
      bool operator==(const Touched&) const = default;
    };
    std::vector<Touched> touched;
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < launch.operands.size(); ++k) {
      const Touched t{launch.operands[k].slot, launch.kernel->operands[k].written};
      const Reach& reach = launch.reach[k];
      if (!reach.known || std::ranges::find(touched, t) != touched.end()) continue;
      touched.push_back(t);
      bytes += std::min(bytes_of(t.slot),
                        reach.high - reach.low + std::abs(reach.stride) * (launch.extent - 1));
    }
    return std::min(bytes, launch.bytes);
  }

  // Of those that are free the one that was left first, as its rows are the farthest away.
  std::int32_t take_block(std::uint32_t slot) {
    const std::int64_t bytes = bytes_of(slot), pitch = pitches_[slot];
    const auto free = std::ranges::find_if(free_, [&](std::int32_t k) {
      return memory_of(k).bytes == bytes && memory_of(k).pitch == pitch;
    });
    if (free != free_.end()) {
      const std::int32_t taken = *free;
      free_.erase(free);
      return taken;
    }
    blocks_.push_back({.bytes = bytes, .pitch = pitch});
    return static_cast<std::int32_t>(blocks_.size()) - 1;
  }
  void give_back(std::int32_t block) {
    if (block != PlanSweep::initial) free_.push_back(block);
  }
  Memory& memory_of(std::int32_t block) { return blocks_[static_cast<std::size_t>(block)]; }

  bool own_what_is_written(std::uint32_t number, const LaunchStep& launch) {
    for (std::size_t k = 0; k < launch.operands.size(); ++k) {
      const Binding& b = launch.operands[k];
      if (!launch.kernel->operands[k].written || b.kind != Binding::Kind::Slot ||
          memory_[b.slot] != PlanSweep::initial)
        continue;
      const std::size_t own = segment_->slots.size();
      if (b.slot < own && segment_->slots[b.slot].pinned) return false;
      const std::int64_t bytes = bytes_of(b.slot), pitch = pitches_[b.slot];
      if (pitch <= 0 || bytes % pitch != 0) return false;
      const std::int64_t rows = bytes / pitch;
      const std::int32_t block = take_block(b.slot);
      if (!add_copy(number, b.slot, PlanSweep::initial, block,
                    {.pitch = pitch, .rows = rows, .begin = rows, .end = rows, .within = {}},
                    rows == 1 ? row_of(launch) : 0))
        return false;
      memory_[b.slot] = block;
    }
    return true;
  }

  // Where a launch meets what is swept: what has but one row is there at that row too.
  std::int64_t row_of(const LaunchStep& launch) {
    for (std::size_t k = 0; k < launch.operands.size(); ++k) {
      const Binding& b = launch.operands[k];
      if (b.kind != Binding::Kind::Slot || !launch.reach[k].known) continue;
      const std::int64_t pitch = pitches_[b.slot];
      if (memory_[b.slot] != PlanSweep::initial && pitch < bytes_of(b.slot))
        return floor_divide(b.offset + launch.reach[k].low, pitch);
    }
    return 0;
  }

  bool add_copy(std::uint32_t number, std::uint32_t slot, std::int32_t from, std::int32_t to,
                const Surroundings& copied, std::int64_t begin = 0) {
    if (memory_of(to).pitch != copied.pitch) return false;
    if (from == PlanSweep::initial) note_initial(slot);
    Item item;
    item.step = number;
    item.blocks = {from, to};
    item.slot = slot;
    item.copied = copied;
    item.begin = begin;
    item.rows = copied.rows;
    Touches touches;
    if (from != PlanSweep::initial)
      touches.push_back({from, {.item = 0, .is_write = false, .low = 0, .high = copied.pitch}});
    touches.push_back({to, {.item = 0, .is_write = true, .low = 0, .high = copied.pitch}});
    return place(std::move(item), touches, 0);
  }

  bool add_launch(std::uint32_t number, const LaunchStep& launch,
                  std::span<const std::int32_t> shadows) {
    Item item;
    item.step = number;
    item.kernel = launch.kernel;
    Touches touches;
    item.per_row = 0;
    for (std::size_t k = 0; k < launch.operands.size(); ++k) {
      const Binding& b = launch.operands[k];
      std::int32_t block = PlanSweep::initial;
      if (b.kind == Binding::Kind::Slot) {
        block = memory_[b.slot];
        if (block == PlanSweep::initial) note_initial(b.slot);
      } else if (b.kind == Binding::Kind::Shadow) {
        for (std::size_t s = 0; s < shadows.size(); ++s)
          if (launch.shadows[s].slot == b.slot) block = shadows[s];
      }
      item.blocks.push_back(block);
      if (block == PlanSweep::initial) continue;
      const Reach& reach = launch.reach[k];
      const std::int64_t pitch = memory_of(block).pitch;
      if (!reach.known || pitch == 0) return false;
      const bool is_one = launch.extent == 1;  // whatever it would step on
      if (!is_one && (reach.stride <= 0 || pitch % reach.stride != 0)) return false;
      const std::int64_t per_row = is_one ? 1 : pitch / reach.stride;
      if (item.per_row == 0) item.per_row = per_row;
      if (item.per_row != per_row) return false;
      const std::int64_t more = (per_row - 1) * reach.stride;
      touches.push_back({block,
                         {.item = 0,
                          .is_write = launch.kernel->operands[k].written,
                          .low = b.offset + reach.low,
                          .high = b.offset + reach.high + more}});
    }
    if (touches.empty()) return false;
    item.rows = (launch.extent + item.per_row - 1) / item.per_row;
    ++launches_;
    const double cost = launch.cost - share_of_memory * launch.memory_cost();
    return place(std::move(item), touches, cost);
  }

  // NumPy has two temporaries at a time for most of what is written so, and little more than NumPy
  // is what a program may need.
  bool takes_too_much() const {
    std::int64_t largest = 0;
    for (const Memory& block : blocks_) largest = std::max(largest, block.bytes);
    return bytes_of_blocks() > 2 * largest + most_beside;
  }

  void note_initial(std::uint32_t slot) {
    if (std::ranges::find(initial_, slot) == initial_.end()) initial_.push_back(slot);
  }

  // A launch's first row may be called any number: that with which it is the least behind the
  // others.
  bool place(Item item, const Touches& touches, double cost) {
    if (sweep_.items.size() == most_items || takes_too_much()) return false;
    std::int64_t best = item.kernel ? -1 : shift_of(touches, item.begin);
    for (const auto& [block, touch] : touches) {
      if (!item.kernel) break;
      const std::int64_t begin = floor_divide(touch.low, memory_of(block).pitch);
      const std::int64_t shift = shift_of(touches, begin);
      if (best >= 0 && shift >= best) continue;
      best = shift;
      item.begin = begin;
    }
    item.shift = best;
    SweepSize size = size_;
    size.extent = std::max(size.extent, item.rows);
    size.all_rows += item.rows;
    size.cost += cost;
    if (cost > 0 && item.rows > 1)
      size.cost_of_row = std::max(size.cost_of_row, cost / static_cast<double>(item.rows));
    if (!limits().fits(std::max<std::int64_t>(item.shift, 1), size)) return false;
    size_ = size;
    for (const auto& [block, touch] : touches) {
      const std::int64_t start = item.begin * memory_of(block).pitch;
      memory_of(block).touches.push_back({.item = sweep_.items.size(),
                                          .is_write = touch.is_write,
                                          .low = touch.low - start,
                                          .high = touch.high - start});
      if (!touch.is_write) continue;
      for (PlanSweep::Left& left : sweep_.left)
        if (left.block == block) left.whole = false;
    }
    sweep_.items.push_back(std::move(item));
    return true;
  }

  std::int64_t shift_of(const Touches& touches, std::int64_t begin) {
    std::int64_t shift = 0;
    for (const auto& [block, touch] : touches) {
      const Memory& memory = memory_of(block);
      const std::int64_t start = begin * memory.pitch;
      for (const Touch& before : memory.touches) {
        if (!touch.is_write && !before.is_write) continue;
        const std::int64_t apart = std::max(
            {std::int64_t{0}, floor_divide(touch.high - start - before.low - 1, memory.pitch),
             floor_divide(before.high - touch.low + start - 1, memory.pitch)});
        shift = std::max(shift, sweep_.items[before.item].shift + apart);
      }
    }
    return shift;
  }

  const Segment* segment_;
  const Plan* plan_;
  std::span<const std::int64_t> pitches_;  // by slot
  PlanSweep sweep_;
  std::vector<Memory> blocks_;
  std::vector<std::int32_t> free_;      // blocks, the one left first in front
  std::vector<std::int32_t> memory_;    // by slot: block, or as it was
  std::vector<bool> is_gone_;           // by slot
  std::vector<std::uint32_t> initial_;  // slots whose memory from before is touched
  SweepSize size_;
  std::int64_t launch_bytes_ = 0;  // the traffic of the launches as their windows are,
  std::int64_t touched_ = 0;       // and with each byte of memory once, as caches have it
  int launches_ = 0;
};

// Bytes from one row of a slot's memory to the next: the longest step that a launch takes in it.
std::vector<std::int64_t> pitches_of(const Segment& segment, const Plan& plan) {
  std::vector<std::int64_t> pitches(segment.slots.size() + plan.temporaries.size());
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::Launch) continue;
    const LaunchStep& launch = step.launch;
    for (std::size_t k = 0; k < launch.reach.size(); ++k) {
      const Binding& b = launch.operands[k];
      if (b.kind != Binding::Kind::Slot && b.kind != Binding::Kind::Shadow) continue;
      if (launch.reach[k].known)
        pitches[b.slot] = std::max(pitches[b.slot], launch.reach[k].stride);
    }
    for (const LaunchStep::Shadow& shadow : launch.shadows)
      if (!shadow.border.empty())
        pitches[shadow.slot] = std::max(pitches[shadow.slot], shadow.border.pitch);
  }
  for (std::uint32_t slot = 0; slot < pitches.size(); ++slot)  // of one row
    if (pitches[slot] == 0) pitches[slot] = bytes_of(segment, plan, slot);
  return pitches;
}

// There is an error to come: an array may have as many bytes as fit a number.
bool is_beyond_memory(const Segment& segment, const Plan& plan) {
  for (std::uint32_t slot = 0; slot < segment.slots.size() + plan.temporaries.size(); ++slot)
    if (bytes_of(segment, plan, slot) > most_of_array) return true;
  return false;
}

}  // namespace

void find_sweeps(const Segment& segment, Plan& plan) {
  const auto steps = static_cast<std::uint32_t>(plan.steps.size());
  if (std::ranges::count(plan.steps, StepKind::Launch, &Step::kind) < 2) return;
  if (is_beyond_memory(segment, plan)) return;
  SweepLimits all{.threads = segment.threads, .most_shift = segment.sweep_shift};
  for (const SlotState& slot : segment.slots) all.bytes += slot.bytes;
  if (!all.pays()) return;
  const std::vector<std::int64_t> pitches = pitches_of(segment, plan);
  const Candidate nothing(segment, plan, pitches);
  Candidate together = nothing;
  std::uint32_t first = 0;
  const auto finish = [&](std::uint32_t behind) {
    plan.may_sweep |= together.may_sweep();
    if (auto sweep = together.finish(first, behind)) plan.sweeps.push_back(std::move(*sweep));
    together = nothing;
  };
  for (std::uint32_t k = 0; k < steps;) {
    // A group runs whole or not at all.
    std::uint32_t end = k;
    while (end < steps && plan.steps[end].group == plan.steps[k].group) ++end;
    const auto add_to = [&](Candidate& candidate) {
      for (std::uint32_t step = k; step < end; ++step)
        if (!candidate.add(step)) return false;
      return true;
    };
    Candidate longer = together;
    if (add_to(longer)) {
      if (together.empty()) first = k;
      together = std::move(longer);
    } else if (!together.empty()) {
      finish(k);
      continue;  // with it as the first one
    }
    k = end;
  }
  finish(steps);
}

}  // namespace frit
