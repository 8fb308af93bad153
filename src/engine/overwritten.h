// overwritten.h: what a launch is about to overwrite, kept for who has to name an error's op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/memory.h"
#include "ir/trace.h"
#include "schedule/schedule.h"

namespace frit {

// Arrays that a launch is about to overwrite. Which of its ops raised a flag is seen from what they
// have read, so they are kept: of a few elements, where that costs next to nothing, and in a plan's
// first runs, which mostly are its only ones.
class Overwritten {
 public:
  // Of an array.
  static constexpr std::int64_t most_bytes = 1024, most_bytes_at_first = 512 << 10;
  static constexpr std::uint64_t first_runs = 4;

  static std::int64_t most_bytes_of(const CachedPlan& plan) {
    return plan.runs <= first_runs ? most_bytes_at_first : most_bytes;
  }

  void keep(Base* base) {
    for (const Kept& kept : kept_)
      if (kept.base == base) return;
    const std::int64_t bytes = base->bytes;
    kept_.push_back({.base = base, .before = {memory::allocate(bytes), {bytes}}});
    std::memcpy(kept_.back().before.get(), base->data, static_cast<std::size_t>(bytes));
  }
  bool empty() const { return kept_.empty(); }

  // The step as one that has left these arrays for new memory; while this lives they hold what
  // they held.
  class Restored {
   public:
    Restored(Overwritten& overwritten, const Step& step) : overwritten_(overwritten), step_(step) {
      for (Kept& kept : overwritten_.kept_) {
        kept.now = std::exchange(kept.base->data, kept.before.get());
        step_.launch.shadows.push_back({.slot = kept.base->slot, .border = {}});
      }
    }
    ~Restored() {
      for (const Kept& kept : overwritten_.kept_) kept.base->data = kept.now;
    }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;
    const Step& step() const { return step_; }

   private:
    Overwritten& overwritten_;
    Step step_;
  };

 private:
  struct Kept {
    Base* base;
    memory::Block before;
    std::byte* now = nullptr;
  };
  std::vector<Kept> kept_;
};

// Those whose old elements a member of the group reads, and could be warned of. None where some are
// larger, for then the results have to tell, or where a sum has, which is judged by its results.
// Of each that is kept, `fetch` first sees to it that the host's memory is the newest.
Overwritten overwritten_by(const std::vector<std::uint32_t>& group, const std::vector<Node>& nodes,
                           std::int64_t most_bytes,
                           const std::function<void(Base&)>& fetch = nullptr);

}  // namespace frit
