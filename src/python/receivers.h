// receivers.h: how C code that knows numbers by their C type gets the values of lazy ones.
#pragma once

#include "python/python.h"

namespace frit::python {

// From now on a type in C gets the values of the lazy numbers that it is constructed from. There is
// no way back: with all other arguments nothing changes.
void construct_from_values(PyTypeObject* type);
// Of NumPy's types, those that don't ask for __float__ and the like.
void construct_numpy_types_from_values();

// The iterators, or masked arrays, of this module of NumPy's get real arrays for ours. No way back,
// either.
void give_readers_real_arrays(const char* module);

std::vector<PyMethodDef> receiver_shortcuts();
std::vector<PyMethodDef> receiver_functions();

}  // namespace frit::python
