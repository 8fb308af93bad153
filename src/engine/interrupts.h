// interrupts.h: Ctrl-C ends launches that were guessed to be too short for a thread of their own.
//
// A guess does not know how often a While goes round. The work is done where it was asked for, so
// that Python calls no handler meanwhile: here the signal itself asks the launch to stop.
#pragma once

namespace frit {

// Thrown where it was.
struct Interrupted {};

// While it lives, under the engine's lock, SIGINT asks the launch to stop (backend/stop.h), besides
// what it does. Its handler stays, and goes on to the one before it.
class InterruptsHeard {
 public:
  InterruptsHeard();
  InterruptsHeard(const InterruptsHeard&) = delete;
  InterruptsHeard& operator=(const InterruptsHeard&) = delete;
  ~InterruptsHeard();
};

}  // namespace frit
