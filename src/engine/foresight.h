// foresight.h: whether elementwise ops on arrays of some KB are computed at once or recorded.
//
// One such op by itself takes less time at once; eight of them take less as one kernel. How many
// will follow before somebody looks at a value can't be known, but programs do the same again: what
// followed an op at this place of the program last time. To plan them costs as much as some MB of
// such results save, so a place is recorded when it has had as many. A place that was wrong once,
// or whose traces never come back, is not tried again. On larger arrays two ops take less as one
// kernel: there an op is computed at once where, last time, nothing followed it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/step_place.h"
#include "frit/array.h"

namespace frit {

class Foresight {
 public:
  // Results of fewer bytes are always computed at once.
  static constexpr std::int64_t least_bytes = 4096;

  // Somebody looked at a value. (From any thread, without the engine's lock.)
  void note_look() { looked_.store(true, std::memory_order_relaxed); }

  // Of an op at this place, whose result has so many bytes, whether it is recorded.
  bool records(SourcePosition at, Op op, std::int64_t bytes) {
    note_step(at, op);
    if (is_recorded_) return true;
    place_->bytes_at_once += bytes;
    if (length_ >= long_stretch && place_->is_worth_a_plan()) begin_recording();
    return is_recorded_;
  }
  // The same on larger arrays, where the op has nothing before it to be fused with.
  bool records_large(SourcePosition at, Op op) {
    note_step(at, op);
    return !was_last_;
  }
  // A step that is recorded in any case.
  void note_step(SourcePosition at, Op op) {
    if (looked_.load(std::memory_order_relaxed)) {
      looked_.store(false, std::memory_order_relaxed);
      end_stretch();
      begin_stretch(at);
    }
    ++length_;
    if (was_last_ && is_waiting_) place_of(step_) = {};  // not this time
    step_ = {at, op};
    is_waiting_ = true;
    was_last_ = place_of(step_) == step_;
  }
  // What the steps so far made is needed now: nothing can be fused with them.
  void note_need() {
    if (is_waiting_ && step_.code) place_of(step_) = step_;
    is_waiting_ = false;
  }
  // A trace is evaluated, which was met before or not.
  void note_plan(bool known) {
    if (is_recorded_) place_->surprises += known ? -1 : 1;
    note_need();
  }

 private:
  // Ops before the next look from which a kernel takes less time than they do.
  static constexpr int least_length = 8;
  // So many without a look: a loop that will go on.
  static constexpr int long_stretch = 64;
  // Traces that are new, beyond those that were met before, after which a place is given up.
  static constexpr int most_surprises = 8;
  // Of results at once. A plan of a few hundred ops takes 0.3 ms where it is the first one; as one
  // kernel they save 0.02 to 0.2 us each, where they are of 8 KB.
  static constexpr std::int64_t worth_a_plan = 32 << 20;

  struct Place {
    const void* code = nullptr;
    std::int32_t instruction = 0;
    bool is_barred = false;
    int length = 0;  // of the last stretch that began here
    int surprises = 0;
    std::int64_t bytes_at_once = 0;
    bool is_worth_a_plan() const { return bytes_at_once >= worth_a_plan && !is_barred; }
  };

  StepPlace& place_of(const StepPlace& step) {
    return last_steps_[step.hash() % last_steps_.size()];
  }

  void begin_recording() {
    is_recorded_ = true;
    recorded_from_ = length_;
  }
  void end_stretch() {
    place_->length = length_;
    if (is_recorded_ &&
        (length_ - recorded_from_ < least_length || place_->surprises > most_surprises))
      place_->is_barred = true;
    length_ = 0;
    is_recorded_ = false;
    // A look needs what was computed at once; of what was recorded an eval tells.
    if (was_last_) note_need();
  }
  void begin_stretch(SourcePosition at) {
    place_ = &places_[StepPlace::hash_of(at.code, at.instruction) % places_.size()];
    if (place_->code != at.code || place_->instruction != at.instruction)
      *place_ = {.code = at.code, .instruction = at.instruction};
    if (place_->length >= least_length && place_->is_worth_a_plan()) begin_recording();
  }

  std::array<Place, 256> places_;
  Place* place_ = places_.data();
  int length_ = 0;
  int recorded_from_ = 0;
  bool is_recorded_ = false;
  // Those that nothing followed, the last time, before they were needed.
  std::array<StepPlace, 512> last_steps_;
  StepPlace step_;           // the latest
  bool is_waiting_ = false;  // it is still to be computed
  bool was_last_ = false;    // the time before it was one of those
  std::atomic<bool> looked_ = true;
};

}  // namespace frit
