// refusals.cpp: the kinds of calls, and a table of those that were refused.
#include "python/refusals.h"

#include <bit>

#include "python/float_state.h"
#include "python/objects.h"

namespace frit::python {

std::array<bool, 256> refused_at = {};

namespace {

enum class Tag : std::uint64_t { Array, Scalar, Integer, Itself, Typed, Ndarray, Sequence };

std::uint64_t tagged(Tag tag, std::uint64_t word) {
  return mixed(static_cast<std::uint64_t>(tag), word);
}
std::uint64_t tagged(Tag tag, const void* address) {
  return tagged(tag, reinterpret_cast<std::uintptr_t>(address));
}

std::uint64_t kind_of_array(const Array& array) {
  const Layout& layout = *array.layout();
  std::uint64_t word = static_cast<std::uint64_t>(array.dtype());
  word = word << 8 | static_cast<std::uint64_t>(layout.ndim());
  word = word << 8 |
         static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(layout.size())));
  word = word << 1 | static_cast<std::uint64_t>(layout.c_contiguous());
  return word << 1 | static_cast<std::uint64_t>(layout.f_contiguous());
}

// How many digits a Python int has, and its sign: what doesn't fit a dtype is refused.
std::uint64_t digits_of(PyObject* object) {
#if PY_VERSION_HEX >= 0x030C0000
  return reinterpret_cast<PyLongObject*>(object)->long_value.lv_tag;
#else
  return static_cast<std::uint64_t>(Py_SIZE(object));
#endif
}

// What of an operand may decide whether native code takes it; 0: the operand may have a say of its
// own, or is rare.
std::uint64_t kind_of(PyObject* object, int depth = 0) {
  if (is_array(object)) return tagged(Tag::Array, kind_of_array(array_of(object).array));
  if (is_scalar(object))
    return tagged(Tag::Scalar, static_cast<std::uint64_t>(scalar_of(object).array.dtype()));
  if (PyLong_CheckExact(object)) return tagged(Tag::Integer, digits_of(object));
  if (object == Py_None || PyBool_Check(object) || object == Py_Ellipsis ||
      PyUnicode_CheckExact(object) || PyType_Check(object) || PyArray_DescrCheck(object) ||
      Py_IS_TYPE(object, ufunc_type))
    return tagged(Tag::Itself, object);
  if (PyFloat_CheckExact(object) || PyComplex_CheckExact(object) || PySlice_Check(object) ||
      PyArray_IsScalar(object, Generic))
    return tagged(Tag::Typed, Py_TYPE(object));
  if (PyArray_CheckExact(object))
    return tagged(Tag::Ndarray, PyArray_DESCR(reinterpret_cast<PyArrayObject*>(object)));
  if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) return 0;
  constexpr int deepest = 2;
  constexpr Py_ssize_t longest = 8;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  if (depth == deepest || count > longest) return 0;
  std::uint64_t kind = tagged(Tag::Sequence, Py_TYPE(object));
  for (Py_ssize_t k = 0; k < count; ++k) {
    const std::uint64_t item = kind_of(PySequence_Fast_GET_ITEM(object, k), depth + 1);
    if (item == 0) return 0;
    kind = mixed(kind, item);
  }
  return kind;
}

std::uint64_t kind_of(const CallOf& call) {
  // What native code takes depends on them.
  if (float_errors_are_immediate || underflow_is_told()) return 0;
  const SourcePosition at = Engine::get().source;
  std::uint64_t kind = mixed(reinterpret_cast<std::uintptr_t>(call.callee),
                             reinterpret_cast<std::uintptr_t>(at.code));
  kind = mixed(kind, static_cast<std::uint64_t>(at.instruction));
  const auto take = [&kind](PyObject* object) {
    const std::uint64_t operand = kind_of(object);
    kind = mixed(kind, operand);
    return operand != 0;
  };
  if (call.self && !take(call.self)) return 0;
  const Arguments& given = call.arguments;
  for (Py_ssize_t k = 0; k < given.positional + given.keywords(); ++k)
    if (!take(given.values[k])) return 0;
  for (Py_ssize_t k = 0; k < given.keywords(); ++k) take(PyTuple_GET_ITEM(given.names, k));
  return kind;
}

struct Entry {
  std::uint64_t kind = 0;  // of different calls with one hash, one may be left to NumPy in vain
  Refusal refusal{};
  int left = 0;  // so many calls are NumPy's
};
constexpr int calls_until_retry = 255;

}  // namespace

const Refusal* find_refusal(const CallOf& call) {
  const std::uint64_t kind = kind_of(call);
  Entry& entry = kept_entry<Entry>(kind);
  if (kind == 0 || entry.kind != kind || entry.left == 0) return nullptr;
  if (--entry.left == 0) entry.kind = 0;
  return &entry.refusal;
}

void note_refusal(const CallOf& call, const char* reason) {
  const std::uint64_t kind = kind_of(call);
  if (kind == 0) return;
  Entry& entry = kept_entry<Entry>(kind);
  entry = {kind, {reason}, entry.kind == kind ? calls_until_retry : 0};
  refused_at[place_of(call.callee)] = true;
}

}  // namespace frit::python
