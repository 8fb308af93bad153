// stop.cpp: the flag.
#include "backend/stop.h"

namespace frit {

std::atomic<bool> stop_flag{false};

}  // namespace frit
