// draws.h: few numbers from NumPy's streams, without NumPy's calls.
//
// NumPy's method takes ten times as long for one number as its generator. The plain calls are made
// here, of the functions of NumPy's own library of distributions: the numbers are its, to the bit.
#pragma once

#include <string_view>

#include "python/python.h"

namespace frit::python {

// A call of this method of NumPy's Generator or RandomState; a new reference. Null without an
// error: NumPy has to do it, and nothing was drawn. Null with one: no memory.
using Draw = PyObject* (*)(PyObject* generator, const Arguments& arguments);

// To be asked before each Draw. Not while the process has another thread, which may draw under the
// generator's lock and without the interpreter's, or wait here for what this one loads.
bool may_draw();

// By class and name, as in "Generator.random"; null: a method of which nothing is known here.
Draw find_draw(std::string_view name);

}  // namespace frit::python
