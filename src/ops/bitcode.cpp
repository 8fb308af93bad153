// bitcode.cpp: the checked bitcode of the formulas as bytes inside the library.
//
// Compiled by clang (for #embed); FRIT_BITCODE names the file.
#include "ops/ops.h"

namespace frit {

std::span<const char> formula_bitcode() {
  alignas(16) static const char bytes[] = {
#pragma clang diagnostic ignored "-Wc23-extensions"
#embed FRIT_BITCODE
  };
  return {bytes, sizeof(bytes)};
}

}  // namespace frit
