// interrupts.cpp: a handler in front of the one that is there.
#include "engine/interrupts.h"

#include <signal.h>

#include <cerrno>

#include "backend/stop.h"

namespace frit {
namespace {

struct sigaction behind;  // the signal's action but for ours

void ask_to_stop(int number, siginfo_t* info, void* context) {
  const int error = errno;
  if ((behind.sa_flags & SA_SIGINFO) != 0)
    behind.sa_sigaction(number, info, context);
  else
    behind.sa_handler(number);
  // Unless the launch has ended meanwhile.
  auto heard = StopState::Heard;
  stop_state.compare_exchange_strong(heard, StopState::Asked);
  errno = error;
}

// Whoever sets the signal's action anew puts ours away. Not where it is ignored, or ends the
// process.
void stand_in_front() {
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0) return;
  const bool has_info = (now.sa_flags & SA_SIGINFO) != 0;
  if (has_info && now.sa_sigaction == ask_to_stop) return;
  if (!has_info && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return;
  behind = now;
  now.sa_flags |= SA_SIGINFO;
  now.sa_sigaction = ask_to_stop;
  sigaction(SIGINT, &now, nullptr);
}

}  // namespace

InterruptsHeard::InterruptsHeard() {
  stand_in_front();
  stop_state = StopState::Heard;
}
InterruptsHeard::~InterruptsHeard() { stop_state = StopState::Unasked; }

}  // namespace frit
