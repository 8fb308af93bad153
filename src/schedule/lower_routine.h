// lower_routine.h: In: a user's kernel in a group. Out: its instructions in the group's Kernel.
#pragma once

#include <cstdint>

#include "ir/kernel_writer.h"
#include "schedule/fuse.h"

namespace frit {

enum class MemoryAccess : std::uint8_t { Read, Write };

// The kernel being written around the routine: its loops are open, and it keeps windows' values in
// registers.
class RoutineHost {
 public:
  virtual ~RoutineHost() = default;
  virtual KernelWriter& writer() = 0;
  virtual ValueId axis_index(std::int32_t axis) = 0;
  // Bit k: axis k differs between the lanes of the vector loop. lane_bit: the vector loops are
  // those that the routine has for it.
  virtual std::uint64_t lane_axes() const = 0;
  virtual ValueId routine_scalar(std::int32_t number) = 0;
  virtual std::int32_t new_integer(std::int64_t value) = 0;  // number of a new integer argument
  // The window's value, in a register if it is there; else loaded, and kept for later.
  virtual ValueId read(const Window& window) = 0;
  virtual ValueId register_of(const Window& window) = 0;        // no_value: only in memory
  virtual void write(const Window& window, ValueId value) = 0;  // kept in a register, stored later
  virtual bool is_owed(const Window& window) const = 0;         // written, and not stored yet
  virtual void note(const Window& window, ValueId value) = 0;   // memory holds this now
  virtual void settle(
      const Window& window) = 0;  // stores what is not stored yet; from now on memory is the value
  virtual Address window_address(const Window& window, MemoryAccess access) = 0;
  // Its points use the same memory one after another: addresses have no terms of their axes.
  virtual bool is_own(const Window& window) const = 0;
  // Of the element at `offset`: what says which element it is comes behind these terms.
  virtual Address whole_address(const Window& window, std::int64_t offset, MemoryAccess access) = 0;
};

void lower_routine(const CallSite& site, const Member& member, RoutineHost& host);

}  // namespace frit
