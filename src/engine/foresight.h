// foresight.h: whether elementwise ops on arrays of some KB are computed at once or recorded.
//
// One such op by itself takes less time at once; eight of them take less as one kernel. How many
// will follow before somebody looks at a value can't be known, but programs do the same again: what
// followed an op at this place of the program last time. A place that was wrong once, or whose
// traces never come back, is not tried again.
#pragma once

#include <array>
#include <atomic>

#include "frit/array.h"

namespace frit {

class Foresight {
 public:
  // Results of fewer bytes are always computed at once.
  static constexpr std::int64_t least_bytes = 4096;

  // Somebody looked at a value. (From any thread, without the engine's lock.)
  void note_look() { looked_.store(true, std::memory_order_relaxed); }

  // Of an op at this place, whether it is recorded.
  bool records(SourcePosition at) {
    if (looked_.load(std::memory_order_relaxed)) {
      looked_.store(false, std::memory_order_relaxed);
      end_stretch();
      begin_stretch(at);
    }
    if (++length_ == long_stretch && !is_recorded_ && !place_->is_barred) begin_recording();
    return is_recorded_;
  }
  // A trace is evaluated, for which there was a plan or not.
  void note_plan(bool known) {
    if (is_recorded_) place_->surprises += known ? -1 : 1;
  }

 private:
  // Ops before the next look from which a kernel takes less time than they do.
  static constexpr int least_length = 8;
  // So many without a look: a loop that will go on.
  static constexpr int long_stretch = 64;
  // Traces without a plan, beyond those with one, after which a place is given up.
  static constexpr int most_surprises = 8;

  struct Place {
    const void* code = nullptr;
    std::int32_t instruction = 0;
    bool is_barred = false;
    int length = 0;  // of the last stretch that began here
    int surprises = 0;
  };

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
  }
  void begin_stretch(SourcePosition at) {
    const auto hash = (reinterpret_cast<std::uintptr_t>(at.code) >> 4) * 31 +
                      static_cast<std::uintptr_t>(at.instruction);
    place_ = &places_[hash % places_.size()];
    if (place_->code != at.code || place_->instruction != at.instruction)
      *place_ = {.code = at.code, .instruction = at.instruction};
    if (place_->length >= least_length && !place_->is_barred) begin_recording();
  }

  std::array<Place, 256> places_;
  Place* place_ = places_.data();
  int length_ = 0;
  int recorded_from_ = 0;
  bool is_recorded_ = false;
  std::atomic<bool> looked_ = true;
};

}  // namespace frit
