// kernel_definition.h: a finished kernel, written once, and its launches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frit/array.h"
#include "ir/routine.h"

namespace frit {

enum class ParameterUse : std::uint8_t {
  Input,   // only read, and as it was before the kernel
  Output,  // only written
  InOut,
  // What the kernel does to it is read off its body. Reads see what is in memory at that moment,
  // also where another parameter is the same memory.
  Shared,
};

// What an integer argument of the routine is in a launch.
struct KernelInteger {
  enum class Kind : std::uint8_t {
    Literal,  // value
    Given,    // number: of the launch's integers
    Extent,   // of axis `axis` of parameter `number`
  };
  Kind kind = Kind::Literal;
  std::int64_t value = 0;
  std::int32_t number = -1;
  std::int32_t axis = 0;
};

// Of the values that each point stores in the parameter, an array of the axes' shape which every
// launch makes for itself.
struct KernelReduction {
  Op op{};
  bool all_axes = true;
  std::vector<int> axes;
  std::int32_t parameter = -1;
  bool needs_points = true;  // else no points give what changes nothing (least: the largest value)
};

struct KernelDefinition {
  std::shared_ptr<const Routine> routine;
  std::vector<ParameterUse> uses;  // by parameter
  std::vector<KernelInteger> integers;
  // By scalar argument of the routine: its number among the launch's scalars, or, below 0, -1 - its
  // number among the launch's integers.
  std::vector<std::int32_t> scalars;
  std::vector<KernelReduction> reductions;
  std::int32_t accesses = 0;

  // For messages; may be empty.
  std::string file;
  std::vector<std::string> names;   // of the parameters
  std::vector<std::int32_t> lines;  // of the accesses
  std::string name_of(std::size_t parameter) const {
    return parameter < names.size() ? text("'", names[parameter], "'") : text("array ", parameter);
  }
};

struct KernelLaunch {
  std::span<const std::int64_t> extents;
  std::vector<Array> arrays;  // by parameter; empty for the values of reductions
  std::span<const std::int64_t> integers = {};
  std::span<const Scalar> scalars = {};
  std::optional<Scalar> initial = {};  // of the reductions
  bool warns = false;                  // of floating-point errors, as "a loop" would
};

// Records the launch; the reductions' results. Throws ValueError and IndexError, before anything is
// recorded.
std::vector<Array> launch(const KernelDefinition& definition, KernelLaunch launch);

// The same of a kernel without reductions, all of whose indices are known to be inside. No: its
// points must run one after another, or an array can't be written so. New: no launch of it had
// these extents, integers and layouts before, so that the trace needs a plan of its own.
enum class Recorded : std::uint8_t { No, New, Again };
Recorded launch_points(const KernelDefinition& definition, KernelLaunch launch);

}  // namespace frit
