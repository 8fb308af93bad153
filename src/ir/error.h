// error.h: the caller's errors, ours and the machine's; and text() to word them.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace frit {

// The caller's: NumPy's exception types.
struct ValueError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
struct TypeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
struct IndexError : std::out_of_range {
  using std::out_of_range::out_of_range;
};
// Ours: a rule of the engine does not hold.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};
// The machine's: a call failed.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

inline void check(bool holds, const char* what_must_hold) {
  if (!holds) [[unlikely]]
    throw InternalError(std::string("frit: internal error: ") + what_must_hold);
}

}  // namespace frit
