// stoppable.h: work that takes long, during which signals are handled and other threads run.
#pragma once

#include <functional>

namespace frit::python {

// Runs it without the GIL, under the engine's lock, to its end. In the main thread, where Python
// calls the handlers of signals (Ctrl-C, alarms), another thread does the work meanwhile; where a
// handler raises, the work is stopped (engine/stoppable_run.h), and PythonError is thrown.
void run_stoppable(const std::function<void()>& work);
// Does this thread wait for such work, in a handler? Whoever takes the engine's lock there waits
// for its end.
bool is_in_stoppable();

// While it lives this thread runs a nest, under the engine's lock: maybe for long, and whoever
// waits for the lock waits for work that another thread has asked for.
class RunsNest {
 public:
  RunsNest();
  RunsNest(const RunsNest&) = delete;
  RunsNest& operator=(const RunsNest&) = delete;
  ~RunsNest();
};
bool another_thread_runs_a_nest();

// What may end what this thread does: nothing, as in all but the main one; Ctrl-C alone, by a
// KeyboardInterrupt, as Python starts; or also handlers that the program has set.
enum class HeardSignals { None, ControlC, Several };
HeardSignals signals_heard_here();
[[noreturn]] void raise_for_control_c();

// Whoever waits for long, for the engine's lock, lets other threads of Python run.
void let_others_run_while_waiting();

}  // namespace frit::python
