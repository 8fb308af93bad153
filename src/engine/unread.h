// unread.h: of which large arrays nobody reads an element behind the run that made them.
//
// A name that stays alive (`lap = ..` in a loop at the top of a program) is an array that somebody
// could read, and mostly nobody does before the name means the next one. Programs do the same
// again: what was made at this place of the program before, and used by the same run, is not stored
// the next time (postpone.cpp). Where somebody does read it then, it is computed once more, and the
// place is never trusted again.
#pragma once

#include <array>

#include "frit/array.h"

namespace frit {

class Unread {
 public:
  // Is what this op makes here known from an earlier run, and was it not read? (Where it is not
  // known, it is from now on.) run: a number for the run.
  bool foresees(SourcePosition at, Op op, std::int64_t run) {
    if (!at.code) return false;
    Place& place = place_of(at, op);
    if (place.is(at, op)) return !place.is_read && place.run != run;
    place = {.code = at.code, .instruction = at.instruction, .op = op, .run = run};
    return false;
  }
  void note_read(SourcePosition at, Op op) {
    place_of(at, op) = {.code = at.code, .instruction = at.instruction, .op = op, .is_read = true};
  }

 private:
  struct Place {
    const void* code = nullptr;
    std::int32_t instruction = 0;
    Op op{};
    bool is_read = false;
    std::int64_t run = -1;  // the first one
    bool is(SourcePosition at, Op made_by) const {
      return code == at.code && instruction == at.instruction && op == made_by;
    }
  };
  Place& place_of(SourcePosition at, Op op) {
    const std::uintptr_t hash = (reinterpret_cast<std::uintptr_t>(at.code) >> 4) * 31 +
                                static_cast<std::uintptr_t>(at.instruction) +
                                7 * static_cast<std::uintptr_t>(op);
    return places_[hash % places_.size()];
  }

  std::array<Place, 512> places_;
};

}  // namespace frit
