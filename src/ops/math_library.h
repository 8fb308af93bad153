// math_library.h: functions of other libraries, for numbers that are computed one at a time.
//
// Frit's formulas of exp, sin, pow and their like are for vectors, and are within some units in the
// last place of the true value, as those of other libraries are; but bits differ. Where a program
// goes on with a result round by round, a last bit becomes visible after some time, and vectors
// gain nothing: there the function is called that Python would call.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/ops.h"

namespace frit {

enum class MathLibrary : std::uint8_t {
  Frit,   // the op table's formulas
  C,      // what Python's math and floats call; Square is pow(x, 2), and Sqrt is pow(x, 0.5)
  NumPy,  // the loops of its ufuncs
};
inline constexpr int math_library_count = 3;

// "c." for messages and dumps; Frit's own has no prefix.
std::string_view prefix_of(MathLibrary library);

// Whether the library may have bits of its own there: a root, say, has not.
bool has_function(MathLibrary library, Op op, DType in);

// The library's function; Frit's own, where it has none for this op and type.
Loop loop(MathLibrary library, Op op, DType in);
// For processors without fma, on which our own formulas take ten times as long: C's function, which
// is NumPy's there. null: there is none.
Loop loop_without_fused(Op op, DType in);
// The library's function itself, T(T) or T(T, T), where T is the type of `in`; null: there is only
// a loop. A library has it on all machines or on none.
const void* function_of_numbers(MathLibrary library, Op op, DType in);

// A loop of a ufunc: its arguments, the inputs first, and the count and distances of its elements.
using UfuncLoop = void (*)(char** arguments, const std::intptr_t* count, const std::intptr_t* steps,
                           void* data);
// For MathLibrary::NumPy; of Float32 or Float64. Not while kernels run. Ops that have no
// function of a library are left out.
void set_numpy_loop(Op op, DType in, UfuncLoop run, void* data);

}  // namespace frit
