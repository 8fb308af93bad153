// vain_tries.h: at which places of a program a way that mostly saves time was tried in vain.
//
// What it costs to try is lost there. Programs do the same again: so the next times the other way
// is taken at once, for twice as many with each try that was in vain.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/step_place.h"

namespace frit {

class VainTries {
 public:
  // Whether to try this time.
  bool tries(SourcePosition at) {
    Place* const place = find(at);
    if (!place || place->left == 0) return true;
    --place->left;
    return false;
  }
  // After a try.
  void note(SourcePosition at, bool was_in_vain) {
    Place* const found = find(at);
    if (!was_in_vain) {
      if (found) *found = {};
      return;
    }
    const int pause = found ? std::min(2 * found->pause, longest_pause) : first_pause;
    slot_of(at) = {at.code, at.instruction, pause, pause};
  }

 private:
  static constexpr int first_pause = 16, longest_pause = 1024;

  struct Place {
    const void* code = nullptr;
    std::int32_t instruction = 0;
    int pause = 0;  // after the latest try
    int left = 0;   // of it
  };

  Place& slot_of(SourcePosition at) {
    return places_[StepPlace::hash_of(at.code, at.instruction) % places_.size()];
  }
  Place* find(SourcePosition at) {
    Place& place = slot_of(at);
    return place.pause > 0 && place.code == at.code && place.instruction == at.instruction
               ? &place
               : nullptr;
  }

  std::array<Place, 64> places_;
};

}  // namespace frit
