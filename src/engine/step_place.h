// step_place.h: where in the program a step is recorded, and what it does.
#pragma once

#include "frit/array.h"

namespace frit {

struct StepPlace {
  const void* code = nullptr;
  std::int32_t instruction = -1;  // of no step
  Op op{};

  StepPlace() = default;
  StepPlace(SourcePosition at, Op does) : code(at.code), instruction(at.instruction), op(does) {}
  bool operator==(const StepPlace&) const = default;

  static std::uintptr_t hash_of(const void* code, std::int32_t instruction) {
    return (reinterpret_cast<std::uintptr_t>(code) >> 4) * 31 +
           static_cast<std::uintptr_t>(instruction);
  }
  std::uintptr_t hash() const {
    return hash_of(code, instruction) + 7 * static_cast<std::uintptr_t>(op);
  }
};

}  // namespace frit
