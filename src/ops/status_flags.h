// status_flags.h: the IEEE status flags, numbered as in x86's MXCSR.
#pragma once

namespace frit {

constexpr unsigned flag_invalid = 1u << 0, flag_divide = 1u << 2, flag_overflow = 1u << 3;
constexpr unsigned flag_underflow = 1u << 4;
constexpr unsigned known_flags = flag_invalid | flag_divide | flag_overflow | flag_underflow;
constexpr unsigned flags_of_interest = flag_invalid | flag_divide | flag_overflow;

}  // namespace frit
