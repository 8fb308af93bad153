// nest_locals.h: what a local is to a loop: private to an iteration, a sum of them, or carried.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/nest.h"

namespace frit {

enum class LocalRole : std::uint8_t {
  Fixed,      // not written in the loop
  Private,    // each iteration writes it before it reads it, and nobody reads it after the loop
  Last,       // the same, but the last iteration's value is read after the loop
  Reduction,  // local = op(local, v), and nothing else
  Extreme,    // if (v < local) local = v, and nothing else; what is written with it is Companion
  Companion,  // written where an Extreme is (argmin)
  Scan,       // local = op(local, v), and other reads of it
  Carried,    // anything else
};

// local = op(..op(local, operand 0).., operand n): one WriteLocal.
struct LocalUpdate {
  std::int32_t local = -1;
  Op op{};
  const Instr* write = nullptr;
  ValueId read = no_value;  // the value of the local before
  std::vector<ValueId> operands;
};

// if (v `compare` local) { local = v; companions = .. }
struct LocalExtreme {
  std::int32_t local = -1;
  Op compare{};  // Less, LessEqual, Greater or GreaterEqual, with v on the left
  const Instr* branch = nullptr;
  ValueId read = no_value;
  ValueId operand = no_value;
  std::vector<std::int32_t> companions;
};

struct NestLocals {
  std::vector<std::vector<LocalRole>> roles;  // by loop, by local
  std::vector<LocalUpdate> updates;
  std::vector<LocalExtreme> extremes;
  // By loop: the locals whose value after it somebody reads.
  std::vector<std::vector<bool>> live_after;

  LocalRole role(std::int32_t loop, std::int32_t local) const {
    return roles[static_cast<std::size_t>(loop)][static_cast<std::size_t>(local)];
  }
};

NestLocals find_local_roles(const Nest& nest);

}  // namespace frit
