// array_type.h: the parts from which the type Array is put together, each in its own file.
#pragma once

#include <vector>

#include "python/objects.h"

namespace frit::python {

std::vector<PyGetSetDef> array_attributes();
std::vector<PyMethodDef> array_methods();  // shape, copies, conversion
std::vector<PyMethodDef> sorting_methods();
std::vector<PyMethodDef> array_reduction_methods();
std::vector<PyMethodDef> array_protocol_methods();  // __array__ and its like, pickling, DLPack

// Gives Array its class, which makes real ndarrays its instances, and real subclasses of its
// subclasses.
void set_array_metaclass();
// The class between the real ndarray and one derived from it with methods for NumPy's protocols,
// for its super(); null: it has none. names: what the class has.
Ref class_behind(PyObject* names);

// A view of the array with NumPy's rules: shared by methods and attributes.
Array reversed_axes(const Array& array);
// Reshapes as NumPy does: a window if possible, else a copy; -1 may stand for one extent. Throws
// Unfit for a shape that does not fit.
struct Reshaped {
  Array array;
  bool is_view;
};
Reshaped reshaped(const Array& array, Shape shape, char order);
// The elements in C order, as a vector.
inline Array raveled(const Array& array) {
  return array.ndim() == 1 ? array : reshaped(array, {array.size()}, 'C').array;
}

}  // namespace frit::python
