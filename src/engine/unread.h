// unread.h: of which large arrays nobody reads an element behind the run that made them.
//
// A name that stays alive (`lap = ..` in a loop at the top of a program) is an array that somebody
// could read, and mostly nobody does before the name means the next one. Programs do the same
// again: what was made at this place of the program before, and used by the same run, is not stored
// the next time (postpone.cpp). Where somebody does read it then, it is computed once more, and the
// place is never trusted again.
#pragma once

#include <array>

#include "engine/step_place.h"

namespace frit {

class Unread {
 public:
  // Is what this step makes known from an earlier run, and was it not read? (Where it is not known,
  // it is from now on.) run: a number for the run.
  bool foresees(const StepPlace& maker, std::int64_t run) {
    if (!maker.code) return false;
    Made& made = made_at(maker);
    if (made.by == maker) return !made.is_read && made.run != run;
    made = {.by = maker, .run = run};
    return false;
  }
  void note_read(const StepPlace& maker) { made_at(maker) = {.by = maker, .is_read = true}; }

 private:
  struct Made {
    StepPlace by;
    bool is_read = false;
    std::int64_t run = -1;  // the first one
  };
  Made& made_at(const StepPlace& maker) { return made_[maker.hash() % made_.size()]; }

  std::array<Made, 512> made_;
};

}  // namespace frit
