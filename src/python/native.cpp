// native.cpp: lets our own Python functions see the operands they are made for, and NumPy the rest.
//
// Native(name, ours, numpy_function, flags, shortcut): Frit arrays, NumPy and Python scalars, lists
// of these, types, strings and callables go to `ours`; exact ndarrays of a native dtype are wrapped
// first; with anything else (subclasses, objects with __array_function__) the call is NumPy's. When
// `ours` raises, NumPy does the call, so that errors have its words. The shortcut, where there is
// one, is tried first: see methods.h.
#include "python/native.h"

#include <structmember.h>

#include <algorithm>
#include <optional>

#include "python/fallback.h"
#include "python/function_attributes.h"
#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/sequences.h"
#include "python/source.h"

namespace frit::python {
namespace {

enum Flag : long {
  calls_back = 1,  // it runs functions of the user's, which must not run twice: no replay of errors
  takes_anything = 2,  // it converts operands itself: no check of them
  // Several steps, and the result is no view of an operand: where all operands are small, NumPy
  // needs less time than the steps do.
  left_to_numpy_if_small = 4,
  // The same, where small operands and numbers may make a large result.
  left_to_numpy_if_tiny = 8,
  gives_array_back = 16,         // given one array of ours and nothing else
  gives_dense_array_back = 32,   // the same, where it lies in C order and has axes
  gives_column_array_back = 64,  // the same, where it lies in Fortran's order
  gives_back = gives_array_back | gives_dense_array_back | gives_column_array_back,
  // It is one call of a method of ours: what that leaves to NumPy, NumPy's function does, at the
  // caller's line.
  one_step = 128,
};
// Behind the flags: up to how many times as much counts as small.
constexpr int flag_bits = 8;

// A callable; one in C of the usual kind is called without asking the interpreter how.
struct Callee {
  PyObject* object;
  _PyCFunctionFastWithKeywords direct;  // or null

  void hold(PyObject* callable) {
    object = Py_NewRef(callable);
    const bool is_plain = PyCFunction_CheckExact(callable) &&
                          PyCFunction_GET_FLAGS(callable) == (METH_FASTCALL | METH_KEYWORDS);
    if (is_plain)
      direct = reinterpret_cast<_PyCFunctionFastWithKeywords>(
          reinterpret_cast<void (*)()>(PyCFunction_GET_FUNCTION(callable)));
  }
  Ref operator()(const Arguments& arguments) const {
    if (direct)
      return Ref::steal(direct(PyCFunction_GET_SELF(object), arguments.values, arguments.positional,
                               arguments.names));
    return Ref::steal(PyObject_Vectorcall(
        object, arguments.values, static_cast<std::size_t>(arguments.positional), arguments.names));
  }
};

struct NativeObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* dictionary;
  PyObject* weak_references;
  Callee ours;
  PyObject* function;  // NumPy's
  Callee shortcut;     // its object is null where there is none
  PyObject* name;      // str, interned: places are counted by its address
  long flags;
};
PyTypeObject* native_type = nullptr;
PyObject* unfit_class = nullptr;
thread_local PyObject* function_of_one_step = nullptr;  // borrowed

NativeObject& native_of(PyObject* object) { return *reinterpret_cast<NativeObject*>(object); }

// ---- operands -----------------------------------------------------------------------------------

enum class Kind : std::uint8_t { Plain, Ndarray, Foreign };

bool is_number_or_text(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) ||
         PyComplex_CheckExact(object) || PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
}

bool has_array_function(PyObject* object) {
  return PyObject_HasAttr(as_object(Py_TYPE(object)), numpy.array_function);
}

Kind kind_of(PyObject* object, bool look_inside) {
  if (is_array(object) || object == Py_None || is_number_or_text(object) || is_scalar(object))
    return Kind::Plain;
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    if (!look_inside) return Kind::Plain;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
      if (kind_of(PySequence_Fast_GET_ITEM(object, k), false) == Kind::Foreign)
        return Kind::Foreign;
    return Kind::Plain;
  }
  if (PyArray_CheckExact(object))
    return dtype_of(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(object))) ? Kind::Ndarray
                                                                             : Kind::Foreign;
  if (PyArray_Check(object)) return Kind::Foreign;
  if (object == numpy.no_value || object == Py_Ellipsis || PyType_Check(object) ||
      PyArray_IsScalar(object, Generic) || PyArray_DescrCheck(object) || PySlice_Check(object) ||
      PyRange_Check(object) || PyDict_CheckExact(object))
    return Kind::Plain;
  return PyCallable_Check(object) && !has_array_function(object) ? Kind::Plain : Kind::Foreign;
}

Kind kind_of_all(const Arguments& arguments) {
  Kind all = Kind::Plain;
  const Py_ssize_t count = arguments.positional + arguments.keywords();
  for (Py_ssize_t k = 0; k < count; ++k) {
    const Kind kind = kind_of(arguments.values[k], true);
    if (kind == Kind::Foreign) return kind;
    if (kind == Kind::Ndarray) all = kind;
  }
  return all;
}

// Goes through the operands of a call as long as they are small.
struct Smallness {
  std::int64_t times;   // so many times what is computed at once counts as small
  bool limits_product;  // tiny: so many elements are also the limit of what they make together
  std::int64_t product = 1;

  bool fits(const Array& a) {
    constexpr std::int64_t most = 1024;
    const std::int64_t bytes = a.layout()->size() * size_of(a.dtype());
    if (bytes > times * Engine::get().settings.immediate_bytes || !is_ready(a)) return false;
    if (!limits_product) return true;
    product *= std::max<std::int64_t>(a.size(), 1);
    return product <= most;
  }
  bool fits(PyObject* object, int depth = 0) {
    if (is_array(object)) return fits(array_of(object).array);
    if (is_scalar(object)) return fits(scalar_of(object).array);
    if (PyLong_Check(object) && limits_product) {
      constexpr long few = 64;
      int overflow = 0;
      const long value = PyLong_AsLongAndOverflow(object, &overflow);
      return overflow == 0 && value <= few && value >= -few;
    }
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) return true;
    if (depth == 2) return false;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
      if (!fits(PySequence_Fast_GET_ITEM(object, k), depth + 1)) return false;
    return true;
  }
};

bool is_left_to_numpy(const NativeObject& self, const Arguments& arguments) {
  if ((self.flags & (left_to_numpy_if_small | left_to_numpy_if_tiny)) == 0) return false;
  Smallness small{.times = std::max(self.flags >> flag_bits, 1L),
                  .limits_product = (self.flags & left_to_numpy_if_tiny) != 0};
  PyObject* const* end = arguments.values + arguments.positional + arguments.keywords();
  return std::all_of(arguments.values, end, [&](PyObject* each) { return small.fits(each); });
}

// ---- the call -----------------------------------------------------------------------------------

// The ndarrays among the operands as arrays of ours.
class Wrapped {
 public:
  explicit Wrapped(const Arguments& given) : given_(given), room_(count()) {
    try {
      for (; made_ < count(); ++made_) {
        PyObject* const value = given.values[made_];
        room_.values()[made_] =
            PyArray_CheckExact(value) ? object_of_ndarray(Ref::borrow(value)) : Py_NewRef(value);
      }
    } catch (...) {
      release();
      throw;
    }
  }
  Wrapped(const Wrapped&) = delete;
  ~Wrapped() { release(); }
  Arguments arguments() { return {room_.values(), given_.positional, given_.names}; }
  // One that comes back (out=) is the caller's own object again.
  Ref given_back(Ref result) {
    for (Py_ssize_t k = 0; k < count() && result; ++k)
      if (result.get() == room_.values()[k]) return Ref::borrow(given_.values[k]);
    return result;
  }

 private:
  Py_ssize_t count() const { return given_.positional + given_.keywords(); }
  void release() {
    for (Py_ssize_t k = 0; k < made_; ++k) Py_DECREF(room_.values()[k]);
  }
  const Arguments& given_;
  ArgumentRoom room_;
  Py_ssize_t made_ = 0;
};

bool is_replayed(const NativeObject& self) {
  if (PyErr_ExceptionMatches(unfit_class)) return true;
  if ((self.flags & calls_back) != 0) return false;
  for (PyObject* type : {PyExc_TypeError, PyExc_ValueError, PyExc_IndexError, PyExc_AttributeError,
                         PyExc_NotImplementedError})
    if (PyErr_ExceptionMatches(type)) return true;
  return false;
}

// Nothing where the shortcut leaves the call to `ours`.
Ref take_shortcut(const NativeObject& self, const Arguments& arguments) {
  if (!self.shortcut.object || arguments.positional == 0) return {};
  Ref result = self.shortcut(arguments);
  if (!result) throw PythonError{};
  return result.get() == Py_NotImplemented ? Ref() : std::move(result);
}

// While a function of one step runs, in its own frame.
class InOneStep {
 public:
  explicit InOneStep(PyObject* function) : before_(function_of_one_step) {
    function_of_one_step = function;
  }
  InOneStep(const InOneStep&) = delete;
  InOneStep& operator=(const InOneStep&) = delete;
  ~InOneStep() { function_of_one_step = before_; }

 private:
  PyObject* before_;
};

// Takes the error that is set: why NumPy does the call; empty for an error of the user's.
std::string take_reason() {
  const bool unfit = PyErr_ExceptionMatches(unfit_class) != 0;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const Ref held[] = {Ref::steal(type), Ref::steal(value), Ref::steal(traceback)};
  if (!unfit) return {};
  const Ref text = Ref::steal(PyObject_Str(value ? value : type));
  const char* letters = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!letters) PyErr_Clear();
  return letters && *letters ? letters : "an operand is not native";
}

PyObject* call_native(PyObject* object, PyObject* const* values, std::size_t flags_and_count,
                      PyObject* names) {
  const NativeObject& self = native_of(object);
  const Arguments arguments{values, PyVectorcall_NARGS(flags_and_count), names};
  return guarded([&]() -> PyObject* {
    const Kind kind = (self.flags & takes_anything) != 0 ? Kind::Plain : kind_of_all(arguments);
    if (kind == Kind::Foreign)
      return fall_back(PyUnicode_AsUTF8(self.name), self.function, arguments,
                       "an operand is of a foreign type");
    std::optional<Wrapped> wrapped;
    const auto wrapped_here = [&]() -> Wrapped& {
      return wrapped ? *wrapped : wrapped.emplace(arguments);
    };
    if (kind == Kind::Plain) {
      if (Ref result = take_shortcut(self, arguments)) return result.release();
    } else if (self.shortcut.object) {
      if (Ref result = take_shortcut(self, wrapped_here().arguments()))
        return wrapped->given_back(std::move(result)).release();
    }
    if (is_left_to_numpy(self, arguments)) {
      const std::int64_t before = numpy_calls;
      PyObject* result = call_numpy(self.function, arguments);
      numpy_calls = before;  // a choice, which the size makes
      return result;
    }
    const auto ours = [&](const Arguments& operands) {
      const InOneStep step((self.flags & one_step) != 0 ? self.ours.object : nullptr);
      return self.ours(operands);
    };
    Ref result = kind == Kind::Plain ? ours(arguments)
                                     : wrapped_here().given_back(ours(wrapped_here().arguments()));
    if (result) return result.release();
    if (!is_replayed(self)) throw PythonError{};
    const std::string reason = take_reason();
    return fall_back(PyUnicode_AsUTF8(self.name), self.function, arguments,
                     reason.empty() ? nullptr : reason.c_str());
  });
}

// asarray and its like: of one array of ours, which may be asked for in the dtype that it has.
bool asks_for_own_dtype(const Array& array, PyObject* names, PyObject* dtype) {
  static PyObject* const name = PyUnicode_InternFromString("dtype");
  return PyTuple_GET_SIZE(names) == 1 && PyTuple_GET_ITEM(names, 0) == name &&
         native_dtype(dtype) == array.dtype();
}
PyObject* call_giving_back(PyObject* object, PyObject* const* values, std::size_t flags_and_count,
                           PyObject* names) {
  const long flags = native_of(object).flags;
  if (PyVectorcall_NARGS(flags_and_count) != 1)
    return call_native(object, values, flags_and_count, names);
  if (!is_array(values[0])) {
    const bool is_number = PyFloat_CheckExact(values[0]) || PyLong_CheckExact(values[0]);
    if (!is_number || names || (flags & gives_array_back) == 0)
      return call_native(object, values, flags_and_count, names);
    return guarded([&] {
      const std::optional<Array> number = array_of_numbers(values[0]);
      return number ? new_array(*number) : call_native(object, values, flags_and_count, names);
    });
  }
  const Array& array = array_of(values[0]).array;
  const Layout& layout = *array.layout();
  const bool is_as_asked =
      (flags & gives_array_back) != 0 ||
      (layout.ndim() > 0 &&
       ((flags & gives_dense_array_back) != 0 ? layout.c_contiguous() : layout.f_contiguous()));
  if (is_as_asked && (!names || asks_for_own_dtype(array, names, values[1])))
    return Py_NewRef(values[0]);
  return call_native(object, values, flags_and_count, names);
}

// ---- the object ---------------------------------------------------------------------------------

PyObject* construct(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"name",  "ours",     "numpy_function",
                                      "flags", "shortcut", nullptr};
  PyObject *name = nullptr, *ours = nullptr, *function = nullptr, *shortcut = nullptr;
  long flags = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "UOO|lO", const_cast<char**>(names), &name,
                                   &ours, &function, &flags, &shortcut))
    return nullptr;
  return guarded([&] {
    Ref object = checked(native_type->tp_alloc(native_type, 0));
    NativeObject& self = native_of(object.get());
    self.call = (flags & gives_back) != 0 ? call_giving_back : call_native;
    self.dictionary = checked(PyDict_New()).release();
    self.ours.hold(ours);
    self.function = Py_NewRef(function);
    if (shortcut && shortcut != Py_None) self.shortcut.hold(shortcut);
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    self.name = name;
    self.flags = flags;
    return object.release();
  });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(as_object(Py_TYPE(object)));
  Py_VISIT(native_of(object).dictionary);
  Py_VISIT(native_of(object).ours.object);
  Py_VISIT(native_of(object).function);
  Py_VISIT(native_of(object).shortcut.object);
  return 0;
}
int clear(PyObject* object) {
  Py_CLEAR(native_of(object).dictionary);
  return 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  NativeObject& self = native_of(object);
  if (self.weak_references) PyObject_ClearWeakRefs(object);
  Py_XDECREF(self.dictionary);
  Py_XDECREF(self.ours.object);
  Py_XDECREF(self.function);
  Py_XDECREF(self.shortcut.object);
  Py_XDECREF(self.name);
  free_object(object);
}

PyObject* bind(PyObject* object, PyObject* instance, PyObject*) {
  return bound(object, instance, becomes_method(native_of(object).function));
}

PyObject* represent(PyObject* object) { return PyObject_Repr(native_of(object).function); }

// Equal to NumPy's function, so that tables of functions by function hold for both.
PyObject* compare(PyObject* self, PyObject* other, int comparison) {
  if (comparison != Py_EQ && comparison != Py_NE) return Py_NewRef(Py_NotImplemented);
  const bool equal = self == other || native_of(self).function == other;
  return PyBool_FromLong(equal == (comparison == Py_EQ));
}
Py_hash_t hash(PyObject* self) { return PyObject_Hash(native_of(self).function); }

}  // namespace

void leave_to_caller(const char* reason) {
  if (!function_of_one_step || !PyFunction_Check(function_of_one_step) ||
      PyFunction_GET_CODE(function_of_one_step) != innermost_code())
    return;
  if (reason)
    PyErr_SetString(unfit_class, reason);
  else
    PyErr_SetNone(PyExc_TypeError);  // an error: NumPy has its words
  throw PythonError{};
}

void make_native_type(PyObject* module) {
  unfit_class =
      checked(PyErr_NewExceptionWithDoc(
                  "frit._core.Unfit",
                  "Raised by a native function, before any effect, where NumPy should do the call.",
                  nullptr, nullptr))
          .release();
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(NativeObject, call), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(NativeObject, dictionary), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(NativeObject, weak_references), READONLY,
       nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {
      {"__reduce__", FunctionAttributes<NativeObject>::reduce, METH_NOARGS, nullptr},
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
                         {Py_tp_members, members},
                         {Py_tp_getset, FunctionAttributes<NativeObject>::table},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"frit._core.Native", sizeof(NativeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  native_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  checked_status(PyModule_AddObjectRef(module, "Native", as_object(native_type)));
  checked_status(PyModule_AddObjectRef(module, "Unfit", unfit_class));
}

}  // namespace frit::python
