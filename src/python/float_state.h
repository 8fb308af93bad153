// float_state.h: what becomes of floating-point errors: NumPy's errstate and the warning filters.
//
// NumPy's own state (a context variable) is the truth. Whatever may change it or the filters first
// computes what is pending, under the state it was recorded in; the new state is looked up when the
// next operation needs it. NumPy's own functions enter and leave states all the time (each of
// linalg's does), and no operation of ours ever sees those.
#pragma once

#include <atomic>

#include "python/python.h"

namespace frit::python {

enum class FloatMode : std::uint8_t { Ignore, Warn, Raise, Call, Print, Log };

// NumPy's defaults.
struct FloatState {
  FloatMode divide = FloatMode::Warn;
  FloatMode over = FloatMode::Warn;
  FloatMode under = FloatMode::Ignore;
  FloatMode invalid = FloatMode::Warn;
  // Ops run at once, so that an error is raised or recorded where it belongs.
  bool immediate = false;
};

// The calling thread's, as it was looked up last.
const FloatState& float_state();

// The calling thread's state, or the filters, may have changed.
void forget_float_state();

// How many threads have a state that must be looked up.
extern std::atomic<int> forgotten_float_states;
// Looks the calling thread's state up, where it was forgotten. An error of Python's leaves it so.
void look_up_float_state() noexcept;
// Before each operation.
inline void know_float_state() {
  if (forgotten_float_states.load(std::memory_order_relaxed) != 0) [[unlikely]]
    look_up_float_state();
}

// NumPy alone tells what underflows: while somebody wants to hear of it, NumPy computes.
extern std::atomic<int> states_with_underflow;  // of threads
inline bool underflow_is_told() {
  return states_with_underflow.load(std::memory_order_relaxed) != 0 &&
         float_state().under != FloatMode::Ignore;
}
inline void leave_underflow_to_numpy() {
  if (underflow_is_told()) [[unlikely]]
    throw Unfit{"underflow is told of"};
}

// Whether an error must be told where it comes, since it may stop the program: NumPy's state or a
// filter says so, at this moment. What is only shown as a warning may come later.
bool float_errors_may_stop();

// Whether anybody hears of an error in a loop, by NumPy's state and the filters at this moment.
bool float_errors_are_told();

// For tests: NumPy's default state, whatever the filters are.
void let_float_errors_come_late();

// Called as handler(kind, ufunc name, mode, flags) for the modes Call, Print and Log.
void set_float_handler(PyObject* handler);

// Makes the type StateChange; and remembers how warnings are shown by default.
void make_state_change_type(PyObject* module);

}  // namespace frit::python
