// class_statements.cpp: the program's class statements: bases that stand for NumPy's, and classes
// that have an __array__.
#include "python/class_statements.h"

#include <algorithm>

#include "python/stand_ins.h"

namespace frit::python {
namespace {

// ---- what a class statement takes for its metaclass ---------------------------------------------
//
// Python itself finds the metaclass of a class, and raises where those of its bases are at odds,
// before any of them is asked. What is no type it calls.

struct DerivedMetaclass {
  PyObject_HEAD PyObject* given;  // the program's; null: none
};
PyTypeObject* derived_metaclass_type = nullptr;

PyObject* given_to(PyObject* self) { return reinterpret_cast<DerivedMetaclass*>(self)->given; }

// __prepare__(name, bases, **keywords)
PyObject* prepare(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    if (count != 2) raise(PyExc_TypeError, "__prepare__ takes 2 arguments");
    const Derivation derivation = derivation_of(given_to(self), values[1], nullptr);
    const Ref method = checked(PyObject_GetAttrString(derivation.metaclass.get(), "__prepare__"));
    std::vector<PyObject*> all(values, values + count + (names ? PyTuple_GET_SIZE(names) : 0));
    all[1] = derivation.bases.get();
    return checked(PyObject_Vectorcall(method.get(), all.data(), 2, names)).release();
  });
}

PyObject* call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return derive(given_to(self), arguments, keywords);
}

void dealloc(PyObject* self) {
  Py_XDECREF(given_to(self));
  free_object(self);
}

Ref derived_metaclass(PyObject* given) {
  Ref made = checked(derived_metaclass_type->tp_alloc(derived_metaclass_type, 0));
  reinterpret_cast<DerivedMetaclass*>(made.get())->given = Py_XNewRef(given);
  return made;
}

// ---- the statement ------------------------------------------------------------------------------

PyObject *python_builds = nullptr, *dress_class = nullptr;

// __build_class__(body, name, *bases, metaclass=.., **keywords)
PyObject* build(const Arguments& arguments) {
  const auto count = static_cast<std::size_t>(arguments.positional);
  PyObject* const* const values = arguments.values;
  const bool is_derived =
      arguments.positional > 2 && std::any_of(values + 2, values + count, is_replaced_as_base);
  if (!is_derived) return PyObject_Vectorcall(python_builds, values, count, arguments.names);
  return guarded([&] {
    std::vector<PyObject*> all(values, values + arguments.positional + arguments.keywords());
    static PyObject* const word = checked(PyUnicode_InternFromString("metaclass")).release();
    Ref names = arguments.names ? Ref::borrow(arguments.names) : checked(PyTuple_New(0));
    const Py_ssize_t place = PySequence_Contains(names.get(), word) == 1
                                 ? PySequence_Index(names.get(), word)
                                 : PyTuple_GET_SIZE(names.get());
    Ref metaclass;
    if (place == PyTuple_GET_SIZE(names.get())) {
      metaclass = derived_metaclass(nullptr);
      const Ref more = checked(PyTuple_Pack(1, word));
      names = checked(PySequence_Concat(names.get(), more.get()));
      all.push_back(metaclass.get());
    } else if (PyObject*& given = all[count + static_cast<std::size_t>(place)];
               PyType_Check(given)) {
      metaclass = derived_metaclass(given);
      given = metaclass.get();
    }
    return checked(PyObject_Vectorcall(python_builds, all.data(), count, names.get())).release();
  });
}

// Stands for builtins.__build_class__, without a frame of its own, which class bodies would see.
PyObject* build_class(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  PyObject* const made = build({values, count, names});
  if (!made || !PyType_Check(made)) return made;
  static PyObject* const name = checked(PyUnicode_InternFromString("__array__")).release();
  PyObject* const own = reinterpret_cast<PyTypeObject*>(made)->tp_dict;
  PyObject* const method = own ? PyDict_GetItemWithError(own, name) : nullptr;
  if (!method || !PyFunction_Check(method)) return made;
  if (!Ref::steal(PyObject_CallOneArg(dress_class, made))) PyErr_Clear();  // it is as it was
  return made;
}

// watch_classes(dress): calls it with each class that is made from now on and has an __array__.
PyObject* watch_classes(PyObject*, PyObject* dress) {
  return guarded([&] {
    static PyMethodDef row = {"__build_class__", as_c_function(build_class),
                              METH_FASTCALL | METH_KEYWORDS, nullptr};
    Py_XSETREF(dress_class, Py_NewRef(dress));
    if (python_builds) return Py_NewRef(Py_None);
    PyObject* const builtins = PyEval_GetBuiltins();
    python_builds = checked(PyMapping_GetItemString(builtins, "__build_class__")).release();
    const Ref ours = checked(PyCFunction_New(&row, nullptr));
    checked_status(PyDict_SetItemString(builtins, "__build_class__", ours.get()));
    return Py_NewRef(Py_None);
  });
}

}  // namespace

std::vector<PyMethodDef> class_functions() {
  return {{"watch_classes", watch_classes, METH_O, nullptr}};
}

void make_derived_metaclass_type() {
  static PyMethodDef methods[] = {
      {"__prepare__", as_c_function(prepare), METH_FASTCALL | METH_KEYWORDS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_call, reinterpret_cast<void*>(call)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"frit._core.DerivedMetaclass", sizeof(DerivedMetaclass), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  derived_metaclass_type =
      reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

}  // namespace frit::python
