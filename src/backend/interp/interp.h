// interp.h: tier 0: walks a Kernel in blocks over ready-made loops; the others' oracle.
#pragma once

#include "backend/backend.h"

namespace frit {

std::unique_ptr<Backend> make_interpreter();

}  // namespace frit
