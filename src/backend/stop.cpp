// stop.cpp: the byte that launches read.
#include "backend/stop.h"

namespace frit {

std::atomic<StopState> stop_state{StopState::Unasked};

}  // namespace frit
