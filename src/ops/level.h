// level.h: which instruction sets of this processor are used.
#pragma once

#include <string_view>

namespace frit {

// x86-64's levels: v2 has SSE4.2; v3 AVX2, FMA and F16C; v4 AVX-512. Other machines have "base".
#if defined(__x86_64__)
inline constexpr std::string_view cpu_levels[] = {"v4", "v3", "v2"};
#else
inline constexpr std::string_view cpu_levels[] = {"base"};
#endif

// Does this machine have all of a level?
bool has_level(std::string_view level);

// The highest level that is used: the machine's; or a lower one that FRIT_CPU names, as what other
// machines do is tried on this one.
std::string_view cpu_level();

// Registers for vectors: 32 with AVX-512 and on ARM, else 16.
bool has_many_registers();

// Some costs go by the maker, whatever the instruction set.
bool is_amds_processor();

}  // namespace frit
