// receivers.cpp: how C code that knows numbers by their C type gets the values of lazy ones.
//
// `timedelta(seconds=x)` asks PyFloat_Check(x), which holds for np.float64 and for no lazy Scalar.
#include "python/receivers.h"

#include <algorithm>
#include <array>

#include "python/fallback.h"
#include "python/numpy_api.h"
#include "python/objects.h"
#include "python/source.h"

// After NumPy's other headers.
#define NO_IMPORT_UFUNC
#include <numpy/ufuncobject.h>

namespace frit::python {
namespace {

constexpr std::size_t most_types = 8;
std::array<PyTypeObject*, most_types> types;
std::array<newfunc, most_types> constructors;

// The tp_new of types[k] and what derives from it.
template <std::size_t k>
PyObject* construct(PyTypeObject* type, PyObject* values, PyObject* keywords) {
  // NumPy's C code makes the dtype of strings without a tuple of arguments.
  if (!values || !may_hold_any_of_ours(values, keywords))
    return constructors[k](type, values, keywords);
  return guarded([&] {
    const Ref real_values = real_deep(values);
    const Ref real_keywords = keywords ? real_deep(keywords) : Ref();
    return checked(constructors[k](type, real_values.get(), real_keywords.get())).release();
  });
}

// ---- ufuncs that a program makes ----------------------------------------------------------------
//
// NumPy's call of a ufunc asks arrays of ours for their say: that takes longer than a small result.

vectorcallfunc call_of_ufuncs = nullptr;  // NumPy's own

PyObject* call_made_ufunc(PyObject* ufunc, PyObject* const* values, std::size_t flags_and_count,
                          PyObject* names) {
  const Arguments arguments{values, PyVectorcall_NARGS(flags_and_count), names};
  PyObject* const* const end = values + arguments.positional + arguments.keywords();
  if (std::none_of(values, end, is_array))
    return call_of_ufuncs(ufunc, values, flags_and_count, names);
  note_source();
  return guarded([&] {
    const char* const name = reinterpret_cast<PyUFuncObject*>(ufunc)->name;
    return fall_back(name ? name : "?", ufunc, arguments, "a ufunc of the program's");
  });
}

// frompyfunc(func, nin, nout, ...).
PyObject* make_ufunc(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  return guarded([&] {
    Ref made = checked(PyObject_Vectorcall(numpy_function("frompyfunc"), values,
                                           static_cast<std::size_t>(positional), names));
    auto& ufunc = *reinterpret_cast<PyUFuncObject*>(made.get());
    if (!call_of_ufuncs) call_of_ufuncs = ufunc.vectorcall;
    if (ufunc.vectorcall == call_of_ufuncs) ufunc.vectorcall = call_made_ufunc;
    return made.release();
  });
}

// ---- NumPy's classes that look at the arrays that they are made of ----------------------------
//
// They take an object that is none of NumPy's by way of its buffer: to describe it, and to make an
// array of that, takes longer than a real array does.

enum class Slot : std::uint8_t { New, Init };
struct Reader {
  const char* module;
  const char* name;
  Slot slot;
};
constexpr Reader readers[] = {{"numpy", "nditer", Slot::Init},
                              {"numpy", "broadcast", Slot::New},
                              {"numpy", "ndenumerate", Slot::Init},
                              {"numpy.ma", "MaskedArray", Slot::New}};
struct Slots {
  newfunc construct;
  initproc initialize;
};
Slots numpys[std::size(readers)];

// call(the arguments, with real arrays for ours), counted where there are any.
template <std::size_t k, class Call>
auto call_reader(PyObject* values, PyObject* keywords, Call&& call) {
  if (!may_hold_any_of_ours(values, keywords)) return call(values, keywords);
  note_source();
  const Ref real_values = real_deep(values);
  const Ref real_keywords = keywords ? real_deep(keywords) : Ref();
  if (real_values.get() != values || real_keywords.get() != keywords)
    note_fallback(readers[k].name, "it reads elements one by one");
  return call(real_values.get(), real_keywords.get());
}
template <std::size_t k>
PyObject* construct_reader(PyTypeObject* type, PyObject* values, PyObject* keywords) {
  return guarded([&] {
    return call_reader<k>(values, keywords, [=](PyObject* real_values, PyObject* real_keywords) {
      return numpys[k].construct(type, real_values, real_keywords);
    });
  });
}
template <std::size_t k>
int initialize_reader(PyObject* self, PyObject* values, PyObject* keywords) {
  int status = -1;
  const int done = guarded_status([&] {
    status = call_reader<k>(values, keywords, [=](PyObject* real_values, PyObject* real_keywords) {
      return numpys[k].initialize(self, real_values, real_keywords);
    });
  });
  return done < 0 ? done : status;
}

template <std::size_t k>
void stand_in_front(std::string_view module_name) {
  if (module_name != readers[k].module || numpys[k].construct || numpys[k].initialize) return;
  const Ref module = checked(PyImport_ImportModule(readers[k].module));
  const Ref found = checked(PyObject_GetAttrString(module.get(), readers[k].name));
  auto* const type = reinterpret_cast<PyTypeObject*>(found.get());
  if (readers[k].slot == Slot::New)
    numpys[k].construct = std::exchange(type->tp_new, construct_reader<k>);
  else
    numpys[k].initialize = std::exchange(type->tp_init, initialize_reader<k>);
}

PyObject* read_real_arrays(PyObject*, PyObject* name) {
  return guarded([&] {
    const char* const text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError{};
    give_readers_real_arrays(text);
    return Py_NewRef(Py_None);
  });
}

template <std::size_t... k>
constexpr std::array<newfunc, sizeof...(k)> constructs(std::index_sequence<k...>) {
  return {construct<k>...};
}

PyTypeObject* type_among(PyObject* object, const char* function) {
  if (!PyType_Check(object)) raise(PyExc_TypeError, "%s: %R is no type", function, object);
  return reinterpret_cast<PyTypeObject*>(object);
}

PyObject* constructed_from_values(PyObject*, PyObject* object) {
  return guarded([&] {
    construct_from_values(type_among(object, "constructed_from_values"));
    return Py_NewRef(Py_None);
  });
}

// ---- a type whose [] and == want real arrays ---------------------------------------------------

struct Operators {
  PyTypeObject* type = nullptr;
  binaryfunc get = nullptr;
  objobjargproc set = nullptr;
  richcmpfunc compare = nullptr;
} tensors;

PyObject* get_item(PyObject* self, PyObject* key) {
  if (!may_hold_ours(key)) return tensors.get(self, key);
  return guarded([&] { return checked(tensors.get(self, real_deep(key).get())).release(); });
}
int set_item(PyObject* self, PyObject* key, PyObject* value) {
  if (!may_hold_ours(key) && (!value || !may_hold_ours(value)))
    return tensors.set(self, key, value);
  return guarded_status([&] {
    const Ref real = value ? real_deep(value) : Ref();
    checked_status(tensors.set(self, real_deep(key).get(), real.get()));
  });
}
PyObject* compare(PyObject* self, PyObject* other, int comparison) {
  if (!may_hold_ours(other)) return tensors.compare(self, other, comparison);
  return guarded(
      [&] { return checked(tensors.compare(self, real_deep(other).get(), comparison)).release(); });
}

void ask_with_real_arrays(PyTypeObject* type) {
  PyMappingMethods& items = *type->tp_as_mapping;
  if (items.mp_subscript == tensors.get) items.mp_subscript = get_item;
  if (items.mp_ass_subscript == tensors.set) items.mp_ass_subscript = set_item;
  if (type->tp_richcompare == tensors.compare) type->tp_richcompare = compare;
  const Ref children = checked(PyObject_CallMethod(as_object(type), "__subclasses__", nullptr));
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(children.get()); ++k)
    ask_with_real_arrays(reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(children.get(), k)));
}

// operators_take_real_arrays(type): in its slots, so that T[2] takes no longer; no way back.
PyObject* operators_take_real_arrays(PyObject*, PyObject* object) {
  return guarded([&] {
    PyTypeObject* const type = type_among(object, "operators_take_real_arrays");
    if (tensors.type == type) return Py_NewRef(Py_None);
    const PyMappingMethods* const items = type->tp_as_mapping;
    if (tensors.type || !items || !items->mp_subscript || !items->mp_ass_subscript ||
        !type->tp_richcompare)
      raise(PyExc_TypeError, "operators_take_real_arrays: another type, or one without []");
    tensors = {type, items->mp_subscript, items->mp_ass_subscript, type->tp_richcompare};
    ask_with_real_arrays(type);
    return Py_NewRef(Py_None);
  });
}

// set_in_type(type, name, value): setattr also for the types of C modules, which forbid it.
PyObject* set_in_type(PyObject*, PyObject* const* values, Py_ssize_t count) {
  return guarded([&] {
    if (count != 3) raise(PyExc_TypeError, "set_in_type takes 3 arguments");
    PyTypeObject* type = type_among(values[0], "set_in_type");
#if PY_VERSION_HEX >= 0x030C0000
    const Ref names = checked(PyType_GetDict(type));
#else
    const Ref names = Ref::borrow(type->tp_dict);
#endif
    checked_status(PyDict_SetItem(names.get(), values[1], values[2]));
    PyType_Modified(type);
    return Py_NewRef(Py_None);
  });
}

// compute_held(array, items=False): the lazy numbers in an ndarray of objects become NumPy's, in
// place; with items, arrays without axes become Python's.
PyObject* compute_held(PyObject*, PyObject* const* values, Py_ssize_t count) {
  return guarded([&] {
    if (count < 1) raise(PyExc_TypeError, "compute_held: no array");
    PyObject* const object = values[0];
    const bool items = count > 1 && values[1] == Py_True;
    if (!PyArray_Check(object)) return Py_NewRef(object);
    auto* const array = reinterpret_cast<PyArrayObject*>(object);
    if (PyArray_TYPE(array) != NPY_OBJECT || !PyArray_IS_C_CONTIGUOUS(array))
      return Py_NewRef(object);
    auto* const elements = static_cast<PyObject**>(PyArray_DATA(array));
    for (npy_intp k = 0; k < PyArray_SIZE(array); ++k) {
      if (!elements[k]) continue;
      if (items && is_array(elements[k]) && array_of(elements[k]).array.ndim() == 0) {
        Py_SETREF(elements[k],
                  checked(PyObject_CallMethod(elements[k], "item", nullptr)).release());
        continue;
      }
      if (!is_scalar(elements[k])) continue;
      const Ref lazy = Ref::borrow(elements[k]);
      Py_SETREF(elements[k], Py_NewRef(scalar_value(scalar_of(lazy.get()))));
    }
    return Py_NewRef(object);
  });
}

}  // namespace

void construct_from_values(PyTypeObject* type) {
  const auto end = std::ranges::find(types, nullptr);
  if (std::find(types.begin(), end, type) != end) return;
  if (end == types.end()) raise(PyExc_ValueError, "construct_from_values: too many types");
  const auto k = static_cast<std::size_t>(end - types.begin());
  *end = type;
  constructors[k] = type->tp_new;
  type->tp_new = constructs(std::make_index_sequence<most_types>())[k];
}

void construct_numpy_types_from_values() {
  for (PyTypeObject* type : {&PyTimedeltaArrType_Type, &PyVoidArrType_Type, &PyObjectArrType_Type,
                             reinterpret_cast<PyTypeObject*>(&PyArrayDescr_Type)})
    construct_from_values(type);
}

void give_readers_real_arrays(const char* module) {
  [&]<std::size_t... k>(std::index_sequence<k...>) { (stand_in_front<k>(module), ...); }
  (std::make_index_sequence<std::size(readers)>());
}

std::vector<PyMethodDef> receiver_shortcuts() {
  return {{"frompyfunc", as_c_function(make_ufunc), METH_FASTCALL | METH_KEYWORDS, nullptr}};
}

std::vector<PyMethodDef> receiver_functions() {
  return {{"constructed_from_values", constructed_from_values, METH_O, nullptr},
          {"operators_take_real_arrays", operators_take_real_arrays, METH_O, nullptr},
          {"set_in_type", as_c_function(set_in_type), METH_FASTCALL, nullptr},
          {"give_readers_real_arrays", read_real_arrays, METH_O, nullptr},
          {"compute_held", as_c_function(compute_held), METH_FASTCALL, nullptr}};
}

}  // namespace frit::python
