// flags.cpp: array.flags, an object that looks like NumPy's.
#include "python/flags.h"

#include <array>

#include "python/fallback.h"
#include "python/numpy_api.h"

namespace frit::python {
namespace {

struct FlagsObject {
  PyObject_HEAD PyObject* array;
};
PyTypeObject* flags_type = nullptr;

enum class Flag : std::uint8_t {
  CContiguous,
  FContiguous,
  OwnData,
  Writeable,
  Aligned,
  WritebackIfCopy,
  Contiguous,
  Fortran,
  Fnc,
  Forc,
  Behaved,
  CArray,
  FArray,
  Num,
};

struct FlagName {
  const char* attribute;
  const char* key;
  const char* short_key;
};
constexpr std::array<FlagName, 14> flag_names = {{{"c_contiguous", "C_CONTIGUOUS", "C"},
                                                  {"f_contiguous", "F_CONTIGUOUS", "F"},
                                                  {"owndata", "OWNDATA", "O"},
                                                  {"writeable", "WRITEABLE", "W"},
                                                  {"aligned", "ALIGNED", "A"},
                                                  {"writebackifcopy", "WRITEBACKIFCOPY", "X"},
                                                  {"contiguous", "CONTIGUOUS", nullptr},
                                                  {"fortran", "FORTRAN", nullptr},
                                                  {"fnc", "FNC", nullptr},
                                                  {"forc", "FORC", nullptr},
                                                  {"behaved", "BEHAVED", "B"},
                                                  {"carray", "CARRAY", "CA"},
                                                  {"farray", "FARRAY", "FA"},
                                                  {"num", nullptr, nullptr}}};

int mask_of(const ArrayObject& object) {
  const Array& array = object.array;
  int mask = NPY_ARRAY_ALIGNED;
  if (array.c_contiguous()) mask |= NPY_ARRAY_C_CONTIGUOUS;
  if (array.f_contiguous()) mask |= NPY_ARRAY_F_CONTIGUOUS;
  if (owns_data(object)) mask |= NPY_ARRAY_OWNDATA;
  if ((!object.read_only || object.warns_on_write) && array.writable()) mask |= NPY_ARRAY_WRITEABLE;
  return mask;
}

PyObject* value_of(const ArrayObject& object, Flag flag) {
  const int mask = mask_of(object);
  const bool c = (mask & NPY_ARRAY_C_CONTIGUOUS) != 0, f = (mask & NPY_ARRAY_F_CONTIGUOUS) != 0;
  const bool writeable = (mask & NPY_ARRAY_WRITEABLE) != 0;
  switch (flag) {
    case Flag::CContiguous:
    case Flag::Contiguous:
      return PyBool_FromLong(c);
    case Flag::FContiguous:
    case Flag::Fortran:
      return PyBool_FromLong(f);
    case Flag::OwnData:
      return PyBool_FromLong((mask & NPY_ARRAY_OWNDATA) != 0);
    case Flag::Writeable:
      if (object.warns_on_write)
        checked_status(PyErr_WarnEx(PyExc_FutureWarning,
                                    "future versions will not create a writeable array from "
                                    "broadcast_array. Set the writable "
                                    "flag explicitly to avoid this warning.",
                                    1));
      return PyBool_FromLong(writeable);
    case Flag::Behaved:
      return PyBool_FromLong(writeable);
    case Flag::Aligned:
      return Py_NewRef(Py_True);
    case Flag::WritebackIfCopy:
      return Py_NewRef(Py_False);
    case Flag::Fnc:
      return PyBool_FromLong(f && !c);
    case Flag::Forc:
      return PyBool_FromLong(f || c);
    case Flag::CArray:
      return PyBool_FromLong(c && writeable);
    case Flag::FArray:
      return PyBool_FromLong(!c);  // NumPy wants one of three flags, of which one is always set
    case Flag::Num:
      return PyLong_FromLong(mask);
  }
  return nullptr;
}

const ArrayObject& array_of_flags(PyObject* flags) {
  return array_of(reinterpret_cast<FlagsObject*>(flags)->array);
}

PyObject* get_flag(PyObject* self, void* flag) {
  return guarded([&] {
    return value_of(array_of_flags(self),
                    static_cast<Flag>(reinterpret_cast<std::uintptr_t>(flag)));
  });
}

void set_writeable(PyObject* array, PyObject* value) {
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) throw PythonError{};
  ArrayObject& object = array_of(array);
  const bool owner_allows = object.array.writable() && (!object.owner || !is_array(object.owner) ||
                                                        !array_of(object.owner).read_only);
  if (truth && !owner_allows)
    raise(PyExc_ValueError, "cannot set WRITEABLE flag to True of this array");
  object.read_only = truth == 0;
  object.warns_on_write = false;
}

// NumPy's private attribute: the next write warns.
int set_warns_on_write(PyObject* self, PyObject* value, void*) {
  return guarded_status([&] {
    ArrayObject& object = array_of(reinterpret_cast<FlagsObject*>(self)->array);
    const int truth = value ? PyObject_IsTrue(value) : -1;
    if (truth < 0) raise(PyExc_AttributeError, "Cannot delete flags _warn_on_write attribute");
    if (truth == 0) raise(PyExc_ValueError, "Cannot clear the _warn_on_write flag");
    if (!object.array.writable())
      raise(PyExc_ValueError, "cannot set '_warn_on_write' flag when 'writable' is False");
    object.read_only = object.warns_on_write = true;
  });
}

int set_flag(PyObject* self, PyObject* value, void* flag) {
  return guarded_status([&] {
    PyObject* array = reinterpret_cast<FlagsObject*>(self)->array;
    if (!value) raise(PyExc_AttributeError, "Cannot delete flags writeable attribute");
    if (static_cast<Flag>(reinterpret_cast<std::uintptr_t>(flag)) == Flag::Writeable)
      return set_writeable(array, value);
    const int truth = PyObject_IsTrue(value);
    if (truth < 0) throw PythonError{};
    if (static_cast<Flag>(reinterpret_cast<std::uintptr_t>(flag)) == Flag::Aligned && truth) return;
    raise(PyExc_ValueError, "Cannot set flags on array scalars.");
  });
}

std::optional<Flag> flag_of_key(PyObject* key) {
  const Ref text = PyBytes_Check(key)
                       ? Ref::steal(PyUnicode_FromEncodedObject(key, "ascii", nullptr))
                       : Ref::borrow(key);
  if (!text || !PyUnicode_Check(text.get())) {
    PyErr_Clear();
    return std::nullopt;
  }
  const char* name = PyUnicode_AsUTF8(text.get());
  if (!name) throw PythonError{};
  for (std::size_t k = 0; k < flag_names.size(); ++k)
    for (const char* candidate : {flag_names[k].key, flag_names[k].short_key})
      if (candidate && std::string_view(candidate) == name) return static_cast<Flag>(k);
  return std::nullopt;
}

PyObject* get_key(PyObject* self, PyObject* key) {
  return guarded([&] {
    const std::optional<Flag> flag = flag_of_key(key);
    if (!flag) raise(PyExc_KeyError, "Unknown flag");
    return value_of(array_of_flags(self), *flag);
  });
}

int set_key(PyObject* self, PyObject* key, PyObject* value) {
  return guarded_status([&] {
    const std::optional<Flag> flag = flag_of_key(key);
    if (!flag || *flag != Flag::Writeable || !value) raise(PyExc_KeyError, "Unknown flag");
    set_writeable(reinterpret_cast<FlagsObject*>(self)->array, value);
  });
}

PyObject* represent(PyObject* self) {
  const int mask = mask_of(array_of_flags(self));
  const auto word = [&](int bit) { return (mask & bit) != 0 ? "True" : "False"; };
  return PyUnicode_FromFormat(
      "  C_CONTIGUOUS : %s\n  F_CONTIGUOUS : %s\n  OWNDATA : %s\n  WRITEABLE : %s\n  ALIGNED : "
      "%s\n  WRITEBACKIFCOPY : False\n",
      word(NPY_ARRAY_C_CONTIGUOUS), word(NPY_ARRAY_F_CONTIGUOUS), word(NPY_ARRAY_OWNDATA),
      word(NPY_ARRAY_WRITEABLE), word(NPY_ARRAY_ALIGNED));
}

PyObject* compare(PyObject* self, PyObject* other, int comparison) {
  if ((comparison != Py_EQ && comparison != Py_NE) || !Py_IS_TYPE(other, flags_type))
    return Py_NewRef(Py_NotImplemented);
  const bool equal = mask_of(array_of_flags(self)) == mask_of(array_of_flags(other));
  return PyBool_FromLong(equal == (comparison == Py_EQ));
}

void dealloc(PyObject* object) {
  Py_XDECREF(reinterpret_cast<FlagsObject*>(object)->array);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(as_object(type));
}

}  // namespace

bool owns_data(const ArrayObject& object) {
  return !object.owner && (!object.array.base()->foreign || object.array.size() == 0);
}

void make_flags_type() {
  std::vector<PyGetSetDef> attributes;
  for (std::size_t k = 0; k < flag_names.size(); ++k) {
    const bool settable = k == static_cast<std::size_t>(Flag::Writeable) ||
                          k == static_cast<std::size_t>(Flag::Aligned) ||
                          k == static_cast<std::size_t>(Flag::WritebackIfCopy);
    attributes.push_back({flag_names[k].attribute, get_flag, settable ? set_flag : nullptr, nullptr,
                          reinterpret_cast<void*>(k)});
  }
  attributes.push_back({"_warn_on_write", nullptr, set_warns_on_write, nullptr, nullptr});
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_repr, reinterpret_cast<void*>(represent)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                         {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
                         {Py_mp_subscript, reinterpret_cast<void*>(get_key)},
                         {Py_mp_ass_subscript, reinterpret_cast<void*>(set_key)},
                         {Py_tp_getset, kept_table(std::move(attributes))},
                         {0, nullptr}};
  PyType_Spec spec = {"numpy._core.multiarray.flagsobj", sizeof(FlagsObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  flags_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

PyObject* new_flags(PyObject* array) {
  auto* flags = PyObject_New(FlagsObject, flags_type);
  if (!flags) throw PythonError{};
  flags->array = Py_NewRef(array);
  return as_object(flags);
}

PyObject* set_array_flags(PyObject* array, PyObject* write, PyObject* align, PyObject* writeback) {
  const auto wanted = [](PyObject* value) { return value && value != Py_None; };
  const auto is_true = [&](PyObject* value) {
    const int truth = wanted(value) ? PyObject_IsTrue(value) : 0;
    checked_status(truth);
    return truth != 0;
  };
  is_true(align);  // ours compute the same whether they are taken for aligned or not
  if (is_true(writeback)) throw Unfit{"setflags of uic"};
  if (wanted(write)) set_writeable(array, write);
  return Py_NewRef(Py_None);
}

}  // namespace frit::python
