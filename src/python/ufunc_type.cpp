// ufunc_type.cpp: the type UFunc, and one object of it for each ufunc of NumPy's namespace.
#include "python/ufunc_type.h"

#define NO_IMPORT_UFUNC
#include "python/python.h"

#include <numpy/ufuncobject.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "python/fallback.h"
#include "python/numpy_api.h"
#include "python/operands.h"
#include "python/scalar_math.h"
#include "python/source.h"

namespace frit::python {

PyTypeObject* ufunc_type = nullptr;

namespace {

PyObject* ufuncs_by_name = nullptr;
std::unordered_map<PyObject*, PyObject*>& ufuncs_by_real() {
  static auto* table = new std::unordered_map<PyObject*, PyObject*>;
  return *table;
}
// Those asked for last, each where its address puts it: the map divides at each look.
std::array<std::pair<PyObject*, PyObject*>, 64> recent;

PyObject* vectorcall(PyObject* object, PyObject* const* values, std::size_t count,
                     PyObject* names) {
  const Py_ssize_t positional = PyVectorcall_NARGS(count);
  const bool is_plain = (positional == 1 || positional == 2) && !names && !is_array(values[0]) &&
                        !is_array(values[positional - 1]);
  if (is_plain) {
    const UFuncObject& self = ufunc_of(object);
    if (self.knows_floats && positional == self.inputs) {
      PyObject* const result = ufunc_of_floats(self.op, values, positional);
      if (result || PyErr_Occurred()) return result;
    }
    // Numbers alone are NumPy's business.
    if (is_plain_scalar(values[0]) && (positional == 1 || is_plain_scalar(values[1])))
      return reinterpret_cast<PyUFuncObject*>(self.real)->vectorcall(self.real, values, count,
                                                                     nullptr);
  }
  note_source();
  return guarded([&] { return call_ufunc(ufunc_of(object), {values, positional, names}); });
}

template <const char* const* name>
PyObject* ufunc_method(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  note_source();
  return guarded([&] { return call_ufunc_method(ufunc_of(self), *name, {values, count, names}); });
}
constexpr const char* reduce_name = "reduce";
constexpr const char* accumulate_name = "accumulate";
constexpr const char* outer_name = "outer";
constexpr const char* at_name = "at";
constexpr const char* reduceat_name = "reduceat";

// A method of the real ufunc that we add nothing to.
template <const char* const* name>
PyObject* real_method(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const Ref method = checked(PyObject_GetAttrString(ufunc_of(self).real, *name));
    return call_numpy(method.get(), {values, count, names});
  });
}
constexpr const char* resolve_name = "resolve_dtypes";

PyObject* real_attribute(PyObject* self, void* name) {
  return PyObject_GetAttrString(ufunc_of(self).real, static_cast<const char*>(name));
}

PyObject* represent(PyObject* self) { return PyObject_Repr(ufunc_of(self).real); }

// A method that computes, bound once: to bind it takes a tenth of the time of a small reduction.
// Null (no error) for any other name. (Names in a program's text are interned.)
PyObject* bound_method(PyObject* self, PyObject* name) {
  static PyObject* const names[] = {
      PyUnicode_InternFromString(reduce_name), PyUnicode_InternFromString(accumulate_name),
      PyUnicode_InternFromString(outer_name), PyUnicode_InternFromString(at_name),
      PyUnicode_InternFromString(reduceat_name)};
  static_assert(std::extent_v<decltype(UFuncObject::methods)> == std::size(names));
  const auto* const found = std::ranges::find(names, name);
  if (found == std::end(names) || ufunc_of(self).dictionary) return nullptr;
  PyObject*& bound = ufunc_of(self).methods[found - names];
  if (!bound) bound = PyObject_GenericGetAttr(self, name);
  return Py_XNewRef(bound);
}

// nin, types, signature, __doc__, resolve_dtypes and so on are the real one's.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  if (PyObject* bound = bound_method(self, name)) return bound;
  if (PyUnicode_GET_LENGTH(name) > 0 && PyUnicode_READ_CHAR(name, 0) == '_') {
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) return Py_NewRef(numpy.ufunc);
    for (const char* real_first :
         {"__doc__", "__name__", "__qualname__", "__module__", "__signature__"})
      if (PyUnicode_CompareWithASCIIString(name, real_first) == 0)
        return PyObject_GetAttr(ufunc_of(self).real, name);
  }
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(ufunc_of(self).real, name);
}

PyObject* compare(PyObject* self, PyObject* other, int comparison) {
  if (comparison != Py_EQ && comparison != Py_NE) return Py_NewRef(Py_NotImplemented);
  const bool equal = self == other || ufunc_of(self).real == other;
  return PyBool_FromLong(equal == (comparison == Py_EQ));
}
Py_hash_t hash(PyObject* self) { return PyObject_Hash(ufunc_of(self).real); }

// Pickled as the name of NumPy's: pickle itself would insist that numpy.sin is this very object.
PyObject* reduce_pickle(PyObject* self, PyObject*) {
  return guarded([&] {
    const Ref module = checked(PyImport_ImportModule("pkgutil"));
    const Ref resolve = checked(PyObject_GetAttrString(module.get(), "resolve_name"));
    const Ref path = checked(PyUnicode_FromFormat("numpy:%s", ufunc_of(self).name));
    return checked(Py_BuildValue("(O(O))", resolve.get(), path.get())).release();
  });
}

void dealloc(PyObject* self) {
  Py_XDECREF(ufunc_of(self).dictionary);
  for (PyObject* bound : ufunc_of(self).methods) Py_XDECREF(bound);
  Py_XDECREF(ufunc_of(self).real);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(as_object(type));
}

Native native_of(std::string_view name, std::optional<Op>& op) {
  op = op_by_numpy_name(name);
  if (op) return Native::Op;
  if (name == "matmul") return Native::Matmul;
  if (name == "matvec") return Native::Matvec;
  if (name == "vecmat") return Native::Vecmat;
  if (name == "vecdot") return Native::Vecdot;
  if (name == "divmod") return Native::Divmod;
  if (name == "modf") return Native::Modf;
  if (name == "frexp") return Native::Frexp;
  if (name == "clip") return Native::Clip;
  return Native::No;
}

int integer_attribute(PyObject* object, const char* name) {
  return static_cast<int>(PyLong_AsLong(checked(PyObject_GetAttrString(object, name)).get()));
}

void add_ufunc(PyObject* real) {
  if (ufuncs_by_real().contains(real)) return;
  const Ref name = checked(PyObject_GetAttrString(real, "__name__"));
  const char* text = PyUnicode_AsUTF8(name.get());
  if (!text) throw PythonError{};
  const Ref object = checked(ufunc_type->tp_alloc(ufunc_type, 0));
  UFuncObject& self = ufunc_of(object.get());
  self.call = vectorcall;
  self.real = Py_NewRef(real);
  PyObject* kept = Py_NewRef(name.get());
  PyUnicode_InternInPlace(&kept);  // the ufunc, and so its name, lives as long as the process
  self.name = PyUnicode_AsUTF8(kept);
  std::optional<Op> op;
  self.native = native_of(text, op);
  self.op = op.value_or(Op::Copy);
  self.inputs = integer_attribute(real, "nin");
  self.knows_floats = self.native == Native::Op && knows_floats(self.op);
  self.outputs = integer_attribute(real, "nout");
  checked_status(PyDict_SetItem(ufuncs_by_name, name.get(), object.get()));
  ufuncs_by_real().emplace(real, Py_NewRef(object.get()));
}

void add_ufuncs_of(const char* module_name) {
  const Ref module = checked(PyImport_ImportModule(module_name));
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(PyModule_GetDict(module.get()), &position, &key, &value))
    if (Py_IS_TYPE(value, reinterpret_cast<PyTypeObject*>(numpy.ufunc))) add_ufunc(value);
}

}  // namespace

PyObject* ufunc_for(PyObject* real) {
  if (Py_IS_TYPE(real, ufunc_type)) return real;
  auto& [known, ours] = recent[(reinterpret_cast<std::uintptr_t>(real) >> 4) % recent.size()];
  if (known == real) return ours;
  const auto found = ufuncs_by_real().find(real);
  if (found == ufuncs_by_real().end()) return nullptr;
  known = real;
  return ours = found->second;
}

PyObject* all_ufuncs() { return ufuncs_by_name; }

void make_ufunc_type(PyObject* module) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(UFuncObject, call), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(UFuncObject, dictionary), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  constexpr int fast = METH_FASTCALL | METH_KEYWORDS;
  static PyMethodDef methods[] = {
      {"reduce", as_c_function(ufunc_method<&reduce_name>), fast, text_of(numpy.ufunc, "reduce")},
      {"accumulate", as_c_function(ufunc_method<&accumulate_name>), fast,
       text_of(numpy.ufunc, "accumulate")},
      {"outer", as_c_function(ufunc_method<&outer_name>), fast, text_of(numpy.ufunc, "outer")},
      {"at", as_c_function(ufunc_method<&at_name>), fast, text_of(numpy.ufunc, "at")},
      {"reduceat", as_c_function(ufunc_method<&reduceat_name>), fast,
       text_of(numpy.ufunc, "reduceat")},
      {"resolve_dtypes", as_c_function(real_method<&resolve_name>), fast,
       text_of(numpy.ufunc, resolve_name)},
      {"__reduce__", reduce_pickle, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  std::vector<PyGetSetDef> attributes;
  for (const char* name : {"nin", "nout", "nargs", "ntypes", "types", "identity", "signature"})
    attributes.push_back({name, real_attribute, nullptr, nullptr, const_cast<char*>(name)});
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_getset, kept_table(std::move(attributes))},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_repr, reinterpret_cast<void*>(represent)},
                         {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                         {Py_tp_hash, reinterpret_cast<void*>(hash)},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {Py_tp_doc, const_cast<char*>(text_of(numpy.ufunc, nullptr))},
                         {0, nullptr}};
  PyType_Spec spec = {
      "numpy.ufunc", sizeof(UFuncObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  ufunc_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  set_ufunc_metaclass();
  ufuncs_by_name = checked(PyDict_New()).release();
  ufuncs_by_real().clear();  // of a first import that has failed
  recent.fill({});
  add_ufuncs_of("numpy._core.umath");
  checked_status(PyModule_AddObjectRef(module, "UFunc", as_object(ufunc_type)));
  checked_status(PyModule_AddObjectRef(module, "ufuncs", ufuncs_by_name));
}

}  // namespace frit::python
