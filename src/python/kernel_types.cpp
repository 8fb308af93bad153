// kernel_types.cpp: the base classes of the kernel door's views and policies.
#include <structmember.h>

#include <algorithm>

#include "python/kernels.h"

namespace frit::python {

PyTypeObject* view_type = nullptr;
PyTypeObject* policy_type = nullptr;

namespace {

// ---- View's base --------------------------------------------------------------------------------

int view_init(PyObject* object, PyObject* arguments, PyObject*) {
  PyObject* array;
  if (!PyArg_ParseTuple(arguments, "O!", array_type, &array)) return -1;
  Py_XSETREF(view_of(object).array, Py_NewRef(array));
  return 0;
}
int view_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(as_object(Py_TYPE(object)));
  return 0;
}
void view_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  if (view_of(object).weak_references) PyObject_ClearWeakRefs(object);
  Py_CLEAR(view_of(object).array);
  free_object(object);
}
PyObject* view_get_array(PyObject* object, void*) {
  PyObject* array = view_of(object).array;
  if (array) return Py_NewRef(array);
  PyErr_SetString(PyExc_AttributeError, "the view was not initialised: call super().__init__");
  return nullptr;
}

// ---- Policy's base ------------------------------------------------------------------------------

// (code, ((begin, end), ..))
int policy_init(PyObject* object, PyObject* arguments, PyObject*) {
  return guarded_status([&] {
    PolicyObject& policy = policy_of(object);
    PyObject* axes;
    policy.code = -1;
    int code;
    if (!PyArg_ParseTuple(arguments, "iO!", &code, &PyTuple_Type, &axes)) throw PythonError{};
    const Py_ssize_t count = PyTuple_GET_SIZE(axes);
    if (count > most_policy_axes) raise(PyExc_ValueError, "a policy has at most 8 axes");
    std::int64_t points = 1;
    for (Py_ssize_t k = 0; k < count; ++k) {
      long long begin, end;
      if (!PyArg_ParseTuple(PyTuple_GET_ITEM(axes, k), "LL", &begin, &end)) throw PythonError{};
      policy.begin[k] = begin;
      policy.end[k] = end;
      std::int64_t extent;
      if (__builtin_sub_overflow(end, begin, &extent) ||
          __builtin_mul_overflow(points, std::max<std::int64_t>(extent, 1), &points))
        raise(PyExc_ValueError, "a policy has more points than an int64 can count");
    }
    policy.axes = static_cast<int>(count);
    policy.code = code;
  });
}
void policy_dealloc(PyObject* object) { free_object(object); }

PyTypeObject* make_type(PyObject* module, PyType_Spec& spec, const char* name) {
  auto* type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  checked_status(PyModule_AddObjectRef(module, name, as_object(type)));
  return type;
}

void make_view_type(PyObject* module) {
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(ViewObject, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef attributes[] = {{"_array", view_get_array, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_init, reinterpret_cast<void*>(view_init)},
                                {Py_tp_traverse, reinterpret_cast<void*>(view_traverse)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(view_dealloc)},
                                {Py_tp_members, members},
                                {Py_tp_getset, attributes},
                                {0, nullptr}};
  static PyType_Spec spec = {"frit._core.ViewBase", sizeof(ViewObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  view_type = make_type(module, spec, "ViewBase");
}

void make_policy_type(PyObject* module) {
  static PyMemberDef members[] = {{"_code", T_INT, offsetof(PolicyObject, code), READONLY, nullptr},
                                  {"_axes", T_INT, offsetof(PolicyObject, axes), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_init, reinterpret_cast<void*>(policy_init)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(policy_dealloc)},
                                {Py_tp_members, members},
                                {0, nullptr}};
  static PyType_Spec spec = {"frit._core.PolicyBase", sizeof(PolicyObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  policy_type = make_type(module, spec, "PolicyBase");
}

}  // namespace

void make_view_and_policy_types(PyObject* module) {
  make_view_type(module);
  make_policy_type(module);
}

}  // namespace frit::python
