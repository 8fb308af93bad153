// fallback_types.cpp: Fallback, a callable that stands for a function or method of NumPy's.
#include <structmember.h>

#include <algorithm>

#include "python/draws.h"
#include "python/fallback.h"
#include "python/function_attributes.h"
#include "python/numpy_api.h"
#include "python/source.h"

namespace frit::python {
namespace {

struct FallbackObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* dictionary;
  PyObject* weak_references;
  PyObject* function;
  PyObject* name;    // str
  const char* text;  // its letters
  const char* reason;
  bool is_method;       // binds to an instance
  bool is_counted;      // as a fallback, to be reported
  bool is_foreign;      // a library's that wants real arrays: its results stay as they are
  bool is_in_place;     // changes its argument, which may be a list of arrays
  PyObject* through;    // the attribute of the instance that stands in for it; or null
  PyObject* slot;       // through's descriptor, once an object of the class that has it was met
  Draw draw;            // does the plain calls; or null
  PyObject* generator;  // that it draws from, where the function is bound to one; or null
  CountedPlace counted;
};
PyTypeObject* fallback_type = nullptr;
// The same, of which the interpreter knows that it needs no bound method for a call.
PyTypeObject* fallback_method_type = nullptr;
PyTypeObject* property_type = nullptr;

struct PropertyObject {
  PyObject_HEAD PyObject* name;
  const char* text;
};

FallbackObject& fallback_of(PyObject* object) { return *reinterpret_cast<FallbackObject*>(object); }

// Without NumPy's call; null: NumPy draws.
PyObject* drawn_by(const FallbackObject& self, PyObject* generator, const Arguments& arguments) {
  if (!may_draw()) return nullptr;
  PyObject* const drawn = self.draw(generator, arguments);
  if (!drawn && PyErr_Occurred()) throw PythonError{};
  return drawn;
}

// A member of an object, which a class with __slots__ keeps at a place of its own: as many
// instructions as a look-up takes times ten.
PyObject* read_slot(PyObject* slot, PyObject* object) {
  const auto& member = *reinterpret_cast<PyMemberDescrObject*>(slot);
  if (Py_TYPE(object) != PyDescr_TYPE(slot)) return nullptr;
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member.d_member->offset);
}

// Keeps the descriptor where it is that of a slot in the object's own class, which is no other's
// as long as the descriptor lives.
void find_slot(FallbackObject& self, PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  PyObject* const found =
      type->tp_dict ? PyDict_GetItemWithError(type->tp_dict, self.through) : nullptr;
  if (!found || !Py_IS_TYPE(found, &PyMemberDescr_Type) || PyDescr_TYPE(found) != type ||
      reinterpret_cast<PyMemberDescrObject*>(found)->d_member->type != T_OBJECT_EX)
    return;
  self.slot = Py_NewRef(found);
}

Ref stand_in_of(FallbackObject& self, PyObject* object) {
  if (!self.slot) [[unlikely]]
    find_slot(self, object);
  if (self.slot)
    if (PyObject* real = read_slot(self.slot, object)) return Ref::borrow(real);
  return checked(PyObject_GetAttr(object, self.through));
}

// On the object that stands in for the instance. A library that was handed the user's generator
// draws NumPy's arrays: what it gives them to may know those alone (ARPACK).
PyObject* call_through(FallbackObject& self, const Arguments& arguments) {
  const Ref real = stand_in_of(self, arguments.values[0]);
  const bool is_by_library = is_called_by_library();
  if (self.draw && !is_by_library) {
    const Arguments rest{arguments.values + 1, arguments.positional - 1, arguments.names};
    if (PyObject* drawn = drawn_by(self, real.get(), rest)) return drawn;
  }
  const Py_ssize_t count = arguments.positional + arguments.keywords();
  ArgumentRoom room(count);
  PyObject** const values = room.values();
  std::copy_n(arguments.values, count, values);
  values[0] = real.get();
  const Arguments through{values, arguments.positional, arguments.names};
  if (self.is_in_place) return call_with_real_arrays(self.function, through);
  return is_by_library ? call_with_real_arguments(self.function, through)
                       : call_numpy(self.function, through);
}

PyObject* call_fallback(PyObject* object, PyObject* const* values, std::size_t count,
                        PyObject* names) {
  FallbackObject& self = fallback_of(object);
  const Arguments arguments{values, PyVectorcall_NARGS(count), names};
  return guarded([&] {
    if (self.through && arguments.positional > 0) return call_through(self, arguments);
    if (self.is_in_place) return call_with_real_arrays(self.function, arguments);
    if (self.is_foreign) return call_with_real_arguments(self.function, arguments);
    if (self.generator) {
      if (is_called_by_library()) return call_with_real_arguments(self.function, arguments);
      if (PyObject* drawn = drawn_by(self, self.generator, arguments)) return drawn;
    }
    if (self.is_counted) note_fallback(self.text, self.reason, self.counted);
    return call_numpy(self.function, arguments);
  });
}

Ref make(PyObject* name, PyObject* function, bool is_method) {
  PyTypeObject* type = is_method ? fallback_method_type : fallback_type;
  Ref object = checked(type->tp_alloc(type, 0));
  FallbackObject& self = fallback_of(object.get());
  self.call = call_fallback;
  self.function = Py_NewRef(function);
  Py_INCREF(name);
  PyUnicode_InternInPlace(&name);  // places are counted by the address of the name
  self.name = name;
  self.text = PyUnicode_AsUTF8(name);
  self.reason = is_method ? "this method is not native" : "this function is not native";
  self.is_method = is_method;
  self.is_counted = true;
  const Ref dictionary = checked(PyDict_New());
  self.dictionary = dictionary.get();
  Py_INCREF(self.dictionary);
  // No property, as the type has a __module__ of its own.
  static PyObject* const module = checked(PyUnicode_InternFromString("__module__")).release();
  if (const Ref from = Ref::steal(PyObject_GetAttr(function, module)))
    checked_status(PyDict_SetItem(self.dictionary, module, from.get()));
  else
    PyErr_Clear();
  return object;
}

PyObject* construct(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"name",   "numpy_function", "counted", "through", "foreign",
                                      "method", "in_place",       "draw",    nullptr};
  PyObject *name = nullptr, *function = nullptr, *through = nullptr;
  int counted = 1, foreign = 0, method = 0, in_place = 0;
  const char* draw = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "UO|pUppps", const_cast<char**>(names),
                                   &name, &function, &counted, &through, &foreign, &method,
                                   &in_place, &draw))
    return nullptr;
  return guarded([&] {
    // A function of C's that a class has as an attribute gets no object of it.
    const bool is_bound = foreign != 0 && Py_TYPE(function)->tp_descr_get != nullptr;
    Ref object = make(name, function, through != nullptr || is_bound || method != 0);
    fallback_of(object.get()).is_counted = counted != 0;
    fallback_of(object.get()).is_foreign = foreign != 0;
    fallback_of(object.get()).is_in_place = in_place != 0;
    fallback_of(object.get()).through = Py_XNewRef(through);
    fallback_of(object.get()).draw = draw ? find_draw(draw) : nullptr;
    if (fallback_of(object.get()).draw && !through)
      fallback_of(object.get()).generator =
          checked(PyObject_GetAttrString(function, "__self__")).release();
    return object.release();
  });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(as_object(Py_TYPE(object)));
  Py_VISIT(fallback_of(object).function);
  Py_VISIT(fallback_of(object).dictionary);
  return 0;
}
int clear(PyObject* object) {
  Py_CLEAR(fallback_of(object).dictionary);
  return 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  if (fallback_of(object).weak_references) PyObject_ClearWeakRefs(object);
  Py_XDECREF(fallback_of(object).dictionary);
  Py_XDECREF(fallback_of(object).function);
  Py_XDECREF(fallback_of(object).name);
  Py_XDECREF(fallback_of(object).through);
  Py_XDECREF(fallback_of(object).slot);
  Py_XDECREF(fallback_of(object).generator);
  free_object(object);
}

PyObject* bind(PyObject* object, PyObject* instance, PyObject*) {
  const FallbackObject& self = fallback_of(object);
  return bound(object, instance, self.is_method || becomes_method(self.function));
}

PyObject* represent(PyObject* object) { return PyObject_Repr(fallback_of(object).function); }

// Equal to NumPy's function, so that tables of functions by function hold for both.
PyObject* compare(PyObject* self, PyObject* other, int comparison) {
  if (comparison != Py_EQ && comparison != Py_NE) return Py_NewRef(Py_NotImplemented);
  const bool equal = self == other || fallback_of(self).function == other;
  return PyBool_FromLong(equal == (comparison == Py_EQ));
}
Py_hash_t hash(PyObject* self) { return PyObject_Hash(fallback_of(self).function); }

// ---- properties ---------------------------------------------------------------------------------

PyObject* get_property(PyObject* object, PyObject* instance, PyObject*) {
  const auto& self = *reinterpret_cast<PropertyObject*>(object);
  if (!instance || instance == Py_None) return PyObject_GetAttr(numpy.ndarray, self.name);
  return guarded([&] {
    const Ref getattr = checked(builtin("getattr"));
    return fall_back_on(self.text, getattr.get(), "this attribute is not native", instance,
                        self.name);
  });
}
int set_property(PyObject* object, PyObject* instance, PyObject* value) {
  const auto& self = *reinterpret_cast<PropertyObject*>(object);
  return guarded_status([&] {
    const Ref setattr = checked(builtin(value ? "setattr" : "delattr"));
    const Ref done =
        value ? Ref::steal(fall_back_on(self.text, setattr.get(), "this attribute is not native",
                                        instance, self.name, value))
              : Ref::steal(fall_back_on(self.text, setattr.get(), "this attribute is not native",
                                        instance, self.name));
  });
}
void dealloc_property(PyObject* object) {
  Py_XDECREF(reinterpret_cast<PropertyObject*>(object)->name);
  free_object(object);
}

}  // namespace

PyObject* new_fallback(const char* name, PyObject* function) {
  return make(checked(PyUnicode_FromString(name)).get(), function, false).release();
}

PyObject* new_fallback_attribute(const char* name, PyObject* attribute) {
  const Ref text = checked(PyUnicode_InternFromString(name));
  if (PyCallable_Check(attribute)) return make(text.get(), attribute, true).release();
  const Ref object = checked(property_type->tp_alloc(property_type, 0));
  auto& self = *reinterpret_cast<PropertyObject*>(object.get());
  self.name = Py_NewRef(text.get());
  self.text = PyUnicode_AsUTF8(text.get());
  return Py_NewRef(object.get());
}

void make_fallback_types(PyObject* module) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FallbackObject, call), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(FallbackObject, dictionary), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(FallbackObject, weak_references), READONLY,
       nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {
      {"__reduce__", FunctionAttributes<FallbackObject>::reduce, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(construct)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                         {Py_tp_repr, reinterpret_cast<void*>(represent)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                         {Py_tp_hash, reinterpret_cast<void*>(hash)},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {Py_tp_getset, FunctionAttributes<FallbackObject>::table},
                         {0, nullptr}};
  PyType_Spec spec = {"frit._core.Fallback", sizeof(FallbackObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
                      slots};
  fallback_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  // Else the type's own __doc__, which is None, would hide the text.
  static PyGetSetDef method_attributes[] = {
      {"__doc__", FunctionAttributes<FallbackObject>::documentation, nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  PyType_Slot method_slots[] = {{Py_tp_getset, method_attributes}, {0, nullptr}};
  PyType_Spec method_spec = {"frit._core.FallbackMethod", sizeof(FallbackObject), 0,
                             // The interpreter notes at a call what an immutable type does there.
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_METHOD_DESCRIPTOR |
                                 Py_TPFLAGS_IMMUTABLETYPE |
                                 Py_TPFLAGS_HAVE_VECTORCALL,  // heap types don't inherit it
                             method_slots};
  const Ref made = checked(PyType_FromSpecWithBases(&method_spec, as_object(fallback_type)));
  fallback_method_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(made.get()));
  PyType_Slot property_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc_property)},
                                  {Py_tp_descr_get, reinterpret_cast<void*>(get_property)},
                                  {Py_tp_descr_set, reinterpret_cast<void*>(set_property)},
                                  {0, nullptr}};
  PyType_Spec property_spec = {"frit._core.FallbackProperty", sizeof(PropertyObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               property_slots};
  property_type =
      reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&property_spec)).release());
  checked_status(PyModule_AddObjectRef(module, "Fallback", as_object(fallback_type)));
}

}  // namespace frit::python
