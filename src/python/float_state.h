// float_state.h: what becomes of floating-point errors: NumPy's errstate, as the door tells it.
#pragma once

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

// For the calling thread.
void set_float_state(const FloatState& state);
// Called as handler(kind, ufunc name, mode, filename, line) for the modes Call, Print and Log.
void set_float_handler(PyObject* handler);

}  // namespace frit::python
