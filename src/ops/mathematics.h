// mathematics.h: elementary functions of an element, float and double, to at most 2 ulp; tanh and
// arccosh to 2.5.
//
// Straight-line, as machine.h asks. Where the truth is not straight-line for rare inputs, there are
// three functions: f holds for most inputs, f_is_rare says for which it does not, f_whole holds for
// those. Where the truth is straight-line, but long for the sake of few inputs, f_is_ordinary says
// for which inputs f_of_ordinary gives the same bits.
//
// NaN comes in and goes out without raising a flag: hence NaN is tested by x != x, and replaced
// before it meets < or >. Other flags that mathematics asks for (log(0), exp(1000)) are raised by
// arithmetic.
#pragma once

#include "ops/exponential.h"
#include "ops/half_functions.h"
#include "ops/logarithm.h"
#include "ops/machine.h"
#include "ops/power.h"
#include "ops/trigonometry.h"
