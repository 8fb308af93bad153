// stand_ins.h: the metaclasses of classes that stand for NumPy's, and what derives from those.
#pragma once

#include "python/python.h"

namespace frit::python {

// NumPy's class for one that stands for it; any other object as it is.
PyObject* stands_for(PyObject* type);
bool is_stand_in(PyObject* object);
// Whether a class that the program derives from it may derive from another one: from a stand-in, or
// the metaclass of one.
bool is_replaced_as_base(PyObject* object);

// Gives a type in C such a metaclass, with slots besides those that all have.
void set_metaclass(PyTypeObject* type, const char* name, std::vector<PyType_Slot> slots);

// The bases that a class of the program's gets where the program names ours, and the metaclass that
// they and `given` (or null) ask for.
struct Derivation {
  Ref bases;
  Ref metaclass;
};
// names: what the class has, where it is known.
Derivation derivation_of(PyObject* given, PyObject* bases, PyObject* names);
// metaclass(name, bases, names, **keywords) for such a class.
PyObject* derive(PyObject* given, PyObject* arguments, PyObject* keywords);

// Makes _core.StandIn, the metaclass for classes in Python. In its dictionary such a class has
// _real, NumPy's, and _base, of which a class derives that has a metaclass of its own.
void make_stand_in_type(PyObject* module);

}  // namespace frit::python
