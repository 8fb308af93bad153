// interp.h: tier 0: walks a Kernel block by block over ready-made vector loops; no compiling, and the oracle for the others.
#pragma once

#include "backend/backend.h"

namespace frit {

std::unique_ptr<Backend> make_interpreter();

}  // namespace frit
