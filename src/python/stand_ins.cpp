// stand_ins.cpp: classes that stand for NumPy's: equal to them, with their instances, and replaced
// as bases where else metaclasses would be at odds, as those of NumPy's classes are not.
#include "python/stand_ins.h"

#include <string_view>

#include "python/array_type.h"
#include "python/numpy_api.h"
#include "python/ufunc_type.h"

namespace frit::python {
namespace {

PyTypeObject* stand_in_type = nullptr;

// The class of Array or UFunc: class Meta(type(np.ndarray)).
bool is_metaclass(PyObject* object) {
  return object == as_object(Py_TYPE(as_object(array_type))) ||
         object == as_object(Py_TYPE(as_object(ufunc_type)));
}

// What the class itself, none of its bases, has under this name; borrowed, or null.
PyObject* own_attribute(PyObject* type, const char* name) {
  PyObject* const own = reinterpret_cast<PyTypeObject*>(type)->tp_dict;
  return own ? PyDict_GetItemString(own, name) : nullptr;
}

// typing keeps what it has made of classes in caches: there each of the two is itself, else a
// program's Optional[np.ndarray] would be the one of a library that was there before.
bool is_asked_by_cache_of_typing() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (!frame) return false;
  const Ref globals = Ref::steal(PyFrame_GetGlobals(frame));
  const Ref code = Ref::steal(as_object(PyFrame_GetCode(frame)));
  PyObject* const module = PyDict_GetItemString(globals.get(), "__name__");
  const auto is = [](PyObject* text, const char* wanted) {
    return text && PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, wanted) == 0;
  };
  return is(reinterpret_cast<PyCodeObject*>(code.get())->co_name, "inner") && is(module, "typing");
}

// So that a program's questions and tables by class hold for the objects that libraries and pickles
// give. Classes that a program derives are themselves.
PyObject* compare(PyObject* self, PyObject* other, int comparison) {
  if (!PyType_Check(other) || (comparison != Py_EQ && comparison != Py_NE))
    return Py_NewRef(Py_NotImplemented);
  const bool equal =
      self == other || (stands_for(self) == stands_for(other) && !is_asked_by_cache_of_typing());
  if (!equal) return Py_NewRef(Py_NotImplemented);  // the other's metaclass may know better
  return PyBool_FromLong(comparison == Py_EQ);
}
Py_hash_t hash(PyObject* self) { return PyType_Type.tp_hash(stands_for(self)); }

// The check of a class that stands for none: its metaclass may derive from ABCMeta, too.
PyObject* checked_further(PyObject* type, const char* check, PyObject* object) {
  return guarded([&] {
    const Ref further =
        checked(PyObject_CallFunctionObjArgs(as_object(&PySuper_Type), stand_in_type, type, NULL));
    return checked(PyObject_CallMethod(further.get(), check, "O", object)).release();
  });
}
PyObject* subclass_check(PyObject* type, PyObject* candidate) {
  if (candidate == type) Py_RETURN_TRUE;
  if (!is_stand_in(type)) return checked_further(type, "__subclasscheck__", candidate);
  PyObject *const real = stands_for(type), *const asked = stands_for(candidate);
  // An ABC asks the classes that derive from it, and this may be one of them.
  const auto of = [](PyObject* object) { return reinterpret_cast<PyTypeObject*>(object); };
  if (PyType_Check(asked) && PyType_IsSubtype(of(type), of(real)))
    return PyBool_FromLong(PyType_IsSubtype(of(asked), of(real)));
  const int is = PyObject_IsSubclass(asked, real);
  return is < 0 ? nullptr : PyBool_FromLong(is);
}
PyObject* instance_check(PyObject* type, PyObject* object) {
  if (Py_IS_TYPE(object, reinterpret_cast<PyTypeObject*>(type))) Py_RETURN_TRUE;
  if (!is_stand_in(type)) return checked_further(type, "__instancecheck__", object);
  PyObject* const real = stands_for(type);
  const bool is_plain = Py_IS_TYPE(real, &PyType_Type);  // without a check of its own
  const int is = is_plain ? PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(real))
                          : PyObject_IsInstance(object, real);
  if (is != 0) return is < 0 ? nullptr : PyBool_FromLong(is);
  // A mock or a proxy says that its class is the one that the program names, ours.
  static PyObject* const name = PyUnicode_InternFromString("__class__");
  const Ref named = Ref::steal(PyObject_GetAttr(object, name));
  if (named && named.get() != as_object(Py_TYPE(object)) && PyType_Check(named.get()))
    return subclass_check(type, named.get());
  if (!named && !PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
  PyErr_Clear();
  Py_RETURN_FALSE;
}

// The metaclass that all of them ask for; null (no error): they are at odds.
PyTypeObject* metaclass_of(PyObject* given, PyObject* bases) {
  auto* winner = given ? reinterpret_cast<PyTypeObject*>(given) : &PyType_Type;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(bases); ++k) {
    PyTypeObject* const candidate = Py_TYPE(PyTuple_GET_ITEM(bases, k));
    if (PyType_IsSubtype(winner, candidate)) continue;
    if (!PyType_IsSubtype(candidate, winner)) return nullptr;
    winner = candidate;
  }
  return winner;
}

// Others: also the stand-ins but Array, of which no class derives in any case.
enum class Replaced : std::uint8_t { Arrays, Others };
Ref real_bases(PyObject* bases, PyObject* names, Replaced replaced) {
  const Ref list = checked(PyList_New(0));
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(bases); ++k) {
    PyObject* base = PyTuple_GET_ITEM(bases, k);
    if (base == as_object(array_type)) {
      const Ref between = names ? class_behind(names) : Ref();
      if (between) checked_status(PyList_Append(list.get(), between.get()));
      base = numpy.ndarray;
    } else if (is_metaclass(base)) {
      base = as_object(&PyType_Type);
    } else if (replaced == Replaced::Others && is_stand_in(base)) {
      if (PyObject* const instead = own_attribute(base, "_base")) base = instead;
    }
    checked_status(PyList_Append(list.get(), base));
  }
  return checked(PyList_AsTuple(list.get()));
}

}  // namespace

PyObject* stands_for(PyObject* type) {
  if (type == as_object(array_type)) return numpy.ndarray;
  if (type == as_object(ufunc_type)) return numpy.ufunc;
  if (Py_IS_TYPE(type, &PyType_Type) || !PyType_IsSubtype(Py_TYPE(type), stand_in_type))
    return type;
  PyObject* const real = own_attribute(type, "_real");
  return real ? real : type;
}

bool is_stand_in(PyObject* object) { return stands_for(object) != object; }

bool is_replaced_as_base(PyObject* object) { return is_stand_in(object) || is_metaclass(object); }

Derivation derivation_of(PyObject* given, PyObject* bases, PyObject* names) {
  for (const Replaced replaced : {Replaced::Arrays, Replaced::Others}) {
    Ref real = real_bases(bases, names, replaced);
    if (PyTypeObject* const metaclass = metaclass_of(given, real.get()))
      return {std::move(real), Ref::borrow(as_object(metaclass))};
  }
  raise(PyExc_TypeError,
        "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of "
        "the metaclasses of all its bases");
}

PyObject* derive(PyObject* given, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    PyObject *name, *bases, *names;
    if (!PyArg_ParseTuple(arguments, "OO!O", &name, &PyTuple_Type, &bases, &names))
      throw PythonError{};
    const Derivation made = derivation_of(given, bases, names);
    const Ref real_arguments = checked(PyTuple_Pack(3, name, made.bases.get(), names));
    return checked(PyObject_Call(made.metaclass.get(), real_arguments.get(), keywords)).release();
  });
}

namespace {

std::vector<PyType_Slot> with_common_slots(std::vector<PyType_Slot> slots) {
  static PyMethodDef methods[] = {{"__instancecheck__", instance_check, METH_O, nullptr},
                                  {"__subclasscheck__", subclass_check, METH_O, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  slots.push_back({Py_tp_methods, methods});
  slots.push_back({Py_tp_richcompare, reinterpret_cast<void*>(compare)});
  slots.push_back({Py_tp_hash, reinterpret_cast<void*>(hash)});
  slots.push_back({0, nullptr});
  return slots;
}

PyTypeObject* make_metaclass(const char* name, unsigned flags, std::vector<PyType_Slot> slots) {
  slots = with_common_slots(std::move(slots));
  PyType_Spec spec = {name, 0, 0, static_cast<unsigned>(Py_TPFLAGS_DEFAULT) | flags, slots.data()};
  const Ref bases = checked(PyTuple_Pack(1, as_object(&PyType_Type)));
  return reinterpret_cast<PyTypeObject*>(
      checked(PyType_FromSpecWithBases(&spec, bases.get())).release());
}

}  // namespace

// Heap types may change their class to one of the same layout; PyType_FromMetaclass came with 3.12.
void set_metaclass(PyTypeObject* type, const char* name, std::vector<PyType_Slot> slots) {
  // Immutable: what a name of the class means follows from the class's own version then.
  Py_SET_TYPE(as_object(type), make_metaclass(name, Py_TPFLAGS_IMMUTABLETYPE, std::move(slots)));
}

void make_stand_in_type(PyObject* module) {
  stand_in_type = make_metaclass("frit._core.StandIn", Py_TPFLAGS_BASETYPE, {});
  checked_status(PyModule_AddObjectRef(module, "StandIn", as_object(stand_in_type)));
}

}  // namespace frit::python
