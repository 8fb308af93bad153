// foreign_calls.cpp: calls of functions and classes that others define in C, with real arrays.
#include "python/foreign_calls.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "python/fallback.h"
#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/source.h"

namespace frit::python {
namespace {

ternaryfunc compiled_call = nullptr;  // numba's

// The tp_call of compiled functions. They take less time than an adapter in Python would.
PyObject* call_compiled(PyObject* callee, PyObject* values, PyObject* keywords) {
  if (!may_hold_any_of_ours(values, keywords)) return compiled_call(callee, values, keywords);
  note_source();
  return guarded(
      [&] { return checked(call_slot(compiled_call, callee, values, keywords)).release(); });
}

// taking_ours(type): a __call__ for it. As it is a slot's descriptor, the type that gets it calls
// the slot, with no look-up.
PyObject* taking_ours(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Ref call = checked(PyObject_GetAttrString(object, "__call__"));
    if (!PyType_Check(object) || !Py_IS_TYPE(call.get(), &PyWrapperDescr_Type))
      raise(PyExc_TypeError, "taking_ours: %R is no type with a __call__ in C", object);
    auto* const type = reinterpret_cast<PyTypeObject*>(object);
    const auto& slot = *reinterpret_cast<PyWrapperDescrObject*>(call.get());
    compiled_call = reinterpret_cast<ternaryfunc>(slot.d_wrapped);
    return PyDescr_NewWrapper(type, slot.d_base, reinterpret_cast<void*>(call_compiled));
  });
}

std::unordered_map<PyTypeObject*, ternaryfunc> type_calls;  // of types that others define in C

PyObject* call_with_real_values(PyObject* callee, PyObject* values, PyObject* keywords) {
  const auto found = type_calls.find(Py_TYPE(callee));
  if (found == type_calls.end()) return PyErr_Format(PyExc_SystemError, "%R is called", callee);
  if (!may_hold_any_of_ours(values, keywords)) return found->second(callee, values, keywords);
  note_source();
  return guarded([&] {
    return checked(call_slot(found->second, callee, values, keywords, Results::AsTheyAre))
        .release();
  });
}

void set_type_call(PyTypeObject* type, bool on) {
  const bool is_on = type->tp_call == call_with_real_values;
  if (on && !is_on && type->tp_call) {
    type_calls[type] = type->tp_call;
    type->tp_call = call_with_real_values;
  } else if (!on && is_on) {
    type->tp_call = type_calls.extract(type).mapped();
  }
}

// Functions that Cython makes insist on real arrays where their text says np.ndarray, of generators
// that they are given, too; so may others in C. Calls of them go by a pointer in each, which is
// kept here, with a reference to the function.
struct FunctionCall {
  vectorcallfunc call;
  PyMethodDef* definition;  // of a builtin function's; or null
  PyMethodDef ours;
};
std::unordered_map<PyObject*, FunctionCall> function_calls;

constexpr int conventions = METH_VARARGS | METH_FASTCALL | METH_KEYWORDS | METH_O | METH_NOARGS;

// Builtin functions that take a tuple (METH_VARARGS) have no pointer: their type makes the tuple.
PyObject* call_with_tuple(PyObject* callee, const Arguments& arguments) {
  return guarded([&] {
    const Ref all = checked(PyTuple_New(arguments.positional));
    for (Py_ssize_t k = 0; k < arguments.positional; ++k)
      PyTuple_SET_ITEM(all.get(), k, Py_NewRef(arguments.values[k]));
    const Ref named = arguments.names ? checked(PyDict_New()) : Ref();
    for (Py_ssize_t k = 0; k < arguments.keywords(); ++k)
      checked_status(PyDict_SetItem(named.get(), PyTuple_GET_ITEM(arguments.names, k),
                                    arguments.values[arguments.positional + k]));
    return checked(Py_TYPE(callee)->tp_call(callee, all.get(), named.get())).release();
  });
}

vectorcallfunc* call_of(PyObject* function) {
  const Py_ssize_t offset = Py_TYPE(function)->tp_vectorcall_offset;
  return offset > 0 ? reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function) + offset)
                    : nullptr;
}

PyObject* call_function(PyObject* callee, PyObject* const* values, std::size_t count,
                        PyObject* names) {
  const Arguments arguments{values, PyVectorcall_NARGS(count), names};
  const std::span all(values,
                      static_cast<std::size_t>(arguments.positional + arguments.keywords()));
  if (std::ranges::any_of(all, [](PyObject* x) { return is_array(x) || is_generator(x); })) {
    note_source();
    return guarded([&] { return call_with_real_arrays(callee, arguments); });
  }
  const auto found = function_calls.find(callee);
  if (found == function_calls.end()) return PyErr_Format(PyExc_SystemError, "%R is called", callee);
  const FunctionCall& before = found->second;
  return before.call ? before.call(callee, values, count, names)
                     : call_with_tuple(callee, arguments);
}

void set_function_call(PyObject* function, vectorcallfunc& call, bool on) {
  const bool is_builtin = PyCFunction_CheckExact(function);
  if (on && call != call_function && (call || is_builtin)) {
    FunctionCall& before = function_calls[Py_NewRef(function)] = {call, nullptr, {}};
    if (call && is_builtin) {
      // Those of a convention that it knows the interpreter calls without a look at the pointer.
      PyMethodDef*& definition = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
      before.ours = *definition;
      before.ours.ml_flags &= ~conventions;
      before.definition = std::exchange(definition, &before.ours);
    }
    call = call_function;
  } else if (!on && call == call_function) {
    const auto before = function_calls.extract(function);
    call = before.mapped().call;
    if (before.mapped().definition)
      reinterpret_cast<PyCFunctionObject*>(function)->m_ml = before.mapped().definition;
    Py_DECREF(function);
  }
}

// call_with_real(callee, on): in the function itself, or else in its type, so that whoever holds an
// object of it holds one that takes our arrays.
PyObject* call_with_real(PyObject*, PyObject* arguments) {
  PyObject* callee = nullptr;
  int on = 0;
  if (!PyArg_ParseTuple(arguments, "Op", &callee, &on)) return nullptr;
  return guarded([&]() -> PyObject* {
    vectorcallfunc* const call = PyType_Check(callee) ? nullptr : call_of(callee);
    if (call)
      set_function_call(callee, *call, on != 0);
    else
      set_type_call(
          PyType_Check(callee) ? reinterpret_cast<PyTypeObject*>(callee) : Py_TYPE(callee),
          on != 0);
    return Py_NewRef(Py_None);
  });
}

// ---- constructors -------------------------------------------------------------------------------

// Subclasses inherit the slots, and may call those of the class that they come from: each has a
// function that knows its own type.
constexpr std::size_t most_types = 64;
struct Constructors {
  PyTypeObject* type;
  newfunc make;
  initproc fill;
  vectorcallfunc both;
  bool is_on;
};
std::array<Constructors, most_types> constructors;
std::size_t constructor_count = 0;

// (A class that it is told of it may ask arrays about that it is given later, in lists.)
Ref real_values(PyObject* values) { return values ? real_deep(values, Classes::AsTheyAre) : Ref(); }

template <std::size_t k>
PyObject* make_with_real(PyTypeObject* type, PyObject* values, PyObject* keywords) {
  return guarded([&] {
    const Ref all = real_values(values), named = real_values(keywords);
    return checked(constructors[k].make(type, all.get(), named.get())).release();
  });
}
template <std::size_t k>
int fill_with_real(PyObject* self, PyObject* values, PyObject* keywords) {
  return guarded_status([&] {
    const Ref all = real_values(values), named = real_values(keywords);
    checked_status(constructors[k].fill(self, all.get(), named.get()));
  });
}

struct Slots {
  newfunc make;
  initproc fill;
};
template <std::size_t... k>
constexpr std::array<Slots, sizeof...(k)> slots_of(std::index_sequence<k...>) {
  return {Slots{make_with_real<k>, fill_with_real<k>}...};
}

constexpr auto slots = slots_of(std::make_index_sequence<most_types>());

// Where the type stands, or would.
std::size_t place_of(PyTypeObject* type) {
  std::size_t k = 0;
  while (k < constructor_count && constructors[k].type != type) ++k;
  return k;
}

// Slots that the type has from its base stay those of its base: object's compare them.
Slots slots_for(PyTypeObject* type, std::size_t k) {
  Slots found = slots[k];
  if (type->tp_new == PyBaseObject_Type.tp_new) found.make = type->tp_new;
  if (type->tp_init == PyBaseObject_Type.tp_init) found.fill = type->tp_init;
  const std::size_t base = place_of(type->tp_base);
  if (base < constructor_count && constructors[base].make == type->tp_new)
    found.make = slots[base].make;
  if (base < constructor_count && constructors[base].fill == type->tp_init)
    found.fill = slots[base].fill;
  return found;
}

// __init__, which super() finds, calls the slot as it was when the type was made.
void set_init(PyTypeObject* type, initproc fill) {
  PyObject* const before = PyDict_GetItemString(type->tp_dict, "__init__");
  if (!before || !Py_IS_TYPE(before, &PyWrapperDescr_Type)) return;
  const auto& descriptor = *reinterpret_cast<PyWrapperDescrObject*>(before);
  const Ref made =
      checked(PyDescr_NewWrapper(type, descriptor.d_base, reinterpret_cast<void*>(fill)));
  checked_status(PyDict_SetItemString(type->tp_dict, "__init__", made.get()));
  PyType_Modified(type);
}

// construct_with_real(type, on): its objects are made of real arrays. Bases come before what
// derives from them.
PyObject* construct_with_real(PyObject*, PyObject* arguments) {
  PyTypeObject* type = nullptr;
  int on = 0;
  if (!PyArg_ParseTuple(arguments, "O!p", &PyType_Type, &type, &on)) return nullptr;
  return guarded([&]() -> PyObject* {
    const std::size_t k = place_of(type);
    if (k == most_types) return Py_NewRef(Py_None);
    Constructors& before = constructors[k];
    if (on && (k == constructor_count || !before.is_on)) {
      if (k == constructor_count) ++constructor_count;
      const Slots ours = slots_for(type, k);
      before = {type, type->tp_new, type->tp_init, type->tp_vectorcall, true};
      Py_INCREF(as_object(type));
      if (type->tp_new) type->tp_new = ours.make;
      if (type->tp_init) type->tp_init = ours.fill;
      type->tp_vectorcall = nullptr;
      if (type->tp_init) set_init(type, ours.fill);
    } else if (!on && k < constructor_count && before.is_on) {
      before.is_on = false;
      type->tp_new = before.make;
      type->tp_init = before.fill;
      type->tp_vectorcall = before.both;
      if (type->tp_init) set_init(type, before.fill);
      Py_DECREF(as_object(type));
    }
    return Py_NewRef(Py_None);
  });
}

PyObject* set_generator_types(PyObject*, PyObject* types) {
  return guarded([&]() -> PyObject* {
    if (!PyTuple_CheckExact(types)) raise(PyExc_TypeError, "set_generators: %R is no tuple", types);
    set_generators(types);
    return Py_NewRef(Py_None);
  });
}

}  // namespace

std::vector<PyMethodDef> foreign_call_functions() {
  return {{"taking_ours", taking_ours, METH_O, nullptr},
          {"call_with_real", call_with_real, METH_VARARGS, nullptr},
          {"construct_with_real", construct_with_real, METH_VARARGS, nullptr},
          {"set_generators", set_generator_types, METH_O, nullptr}};
}

}  // namespace frit::python
