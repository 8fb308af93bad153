// level.cpp: asks the processor, and FRIT_CPU.
#include "ops/level.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

namespace frit {

bool has_level([[maybe_unused]] std::string_view level) {
#if defined(__x86_64__)
  if (level == "v4") return __builtin_cpu_supports("x86-64-v4");
  if (level == "v3") return __builtin_cpu_supports("x86-64-v3");
#endif
  return true;
}

namespace {

// An unknown name is told, once, and the machine's own level stands.
const std::string_view* named_level() {
  const char* given = std::getenv("FRIT_CPU");
  if (!given || !*given) return std::begin(cpu_levels);
  const auto* found = std::ranges::find(cpu_levels, given);
  if (found != std::end(cpu_levels)) return found;
  std::string known;
  for (std::string_view level : cpu_levels) known.append(" '").append(level).append("'");
  std::fprintf(stderr, "frit: FRIT_CPU must be one of%s, not '%s'; it is not used\n", known.c_str(),
               given);
  return std::begin(cpu_levels);
}

}  // namespace

std::string_view cpu_level() {
  static const std::string_view level =
      *std::find_if(named_level(), std::end(cpu_levels), has_level);
  return level;
}

bool has_many_registers() {
#if defined(__aarch64__)
  return true;
#else
  return cpu_level() == "v4";
#endif
}

bool is_amds_processor() {
#if defined(__x86_64__)
  static const bool found = __builtin_cpu_is("amd");
  return found;
#else
  return false;
#endif
}

}  // namespace frit
