// fallback.cpp: the way to NumPy and back.
#include "python/fallback.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "python/flat.h"
#include "python/interop.h"
#include "python/native.h"
#include "python/numpy_api.h"
#include "python/source.h"

namespace frit::python {
namespace {

// ---- the record of fallbacks --------------------------------------------------------------------

enum class Mode : std::uint8_t { Silent, Warn, Error };

struct Record {
  std::int64_t count = 0;
  std::string name;
  std::string reason;
  SourceLine line;
};

struct Place {
  const char* name = nullptr;  // by address: one function has one name
  SourcePosition at;
  bool operator==(const Place& other) const {
    return name == other.name && at.code == other.at.code && at.instruction == other.at.instruction;
  }
};
struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    const auto word = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    return (word(place.name) * 31 + word(place.at.code)) * 31 +
           static_cast<std::size_t>(place.at.instruction);
  }
};

struct Records {
  Mode mode = Mode::Silent;
  PyObject* error_class = nullptr;
  PyObject* warning_class = nullptr;
  std::unordered_map<Place, Record, PlaceHash> places;
  std::uint32_t generation = 1;  // another one whenever what a CountedPlace says may be wrong

  // Those met last, each where its hash puts it: the map divides at each look.
  struct Recent {
    Place place;
    Record* record = nullptr;
  };
  std::array<Recent, 64> recent;

  Record& record_of(const Place& place) {
    Recent& entry = recent[PlaceHash{}(place) % recent.size()];
    if (!entry.record || !(entry.place == place)) entry = {place, &places[place]};
    return *entry.record;
  }
  void reset() {
    ++generation;
    recent.fill({});
    places.clear();
  }
};

Records& records() {
  static Records* all = new Records;
  return *all;
}

std::int64_t& count_fallback(const char* name, const char* reason, SourcePosition at) {
  Record& record = records().record_of({name, at});
  if (++record.count > 1) return record.count;
  record.name = name;
  record.reason = reason ? reason : "NumPy accepts what Frit refused";
  record.line = resolve_source(at);
  if (records().mode != Mode::Warn) return record.count;
  const Ref message =
      checked(PyUnicode_FromFormat("%s was done by NumPy: %s", name, record.reason.c_str()));
  const Ref file = checked(PyUnicode_FromString(record.line.filename.c_str()));
  PyObject* category = records().warning_class ? records().warning_class : PyExc_UserWarning;
  checked_status(PyErr_WarnExplicitObject(category, message.get(), file.get(), record.line.line,
                                          nullptr, nullptr));
  return record.count;
}

void refuse_if_asked(const char* name, const char* reason) {
  if (records().mode != Mode::Error) return;
  PyObject* type = records().error_class ? records().error_class : PyExc_RuntimeError;
  raise(type, "%s would be done by NumPy: %s", name,
        reason ? reason : "NumPy accepts what Frit refused");
}

// ---- arguments ----------------------------------------------------------------------------------

constexpr int deepest = 16;

}  // namespace

bool may_hold_ours(PyObject* object) {
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) return false;  // as most items are
  return is_array(object) || is_scalar(object) || Py_IS_TYPE(object, ufunc_type) ||
         Py_IS_TYPE(object, flat_type) || PyTuple_CheckExact(object) || PyList_CheckExact(object) ||
         PyDict_CheckExact(object) || object == as_object(array_type) ||
         object == as_object(ufunc_type);
}

namespace {

PyObject* generators = nullptr;  // a tuple of classes

// Python function: an object like the given one, whose __array__ gives a real array.
PyObject* make_stand_in = nullptr;

// An object of a Python class with an __array__ of its own, which may well give an array of ours.
bool makes_arrays(PyObject* object) {
  return PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) && !PyArray_Check(object) &&
         PyObject_HasAttrString(as_object(Py_TYPE(object)), "__array__");
}

// The real arrays that stand for ours in one call. It holds them.
class Arrays {
 public:
  Arrays() = default;
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  ~Arrays() {
    if (more_) [[unlikely]]
      more_->made.clear();  // lists of real arrays go before those
    for (std::size_t k = 0; k < count_; ++k) {
      give_back(Ref::steal(pairs_[k].real));
      Py_DECREF(pairs_[k].ours);
    }
  }

  // Borrowed: alive as long as this and the given object are.
  PyObject* real(PyObject* object) {
    if (is_array(object)) return real_of_array(object);
    return is_generator(object) ? real_of_generator(object) : object;
  }

  // Some array of ours has a stand-in.
  bool has_arrays() const { return count_ > 0; }

  // Ours for the real one, if it stood for one of ours.
  PyObject* original(PyObject* real) const {
    for (std::size_t k = 0; k < count_; ++k)
      if (pairs_[k].real == real) return pairs_[k].ours;
    if (more_)
      for (const Pair& pair : more_->pairs)
        if (pair.real == real) return pair.ours;
    return nullptr;
  }

 protected:
  PyObject* real_of_array(PyObject* object) {
    if (PyObject* known = known_real(object)) return known;
    if (count_ < few) {
      PyObject* made = real_array(array_of(object)).release();
      pairs_[count_++] = {made, Py_NewRef(object)};
      return made;
    }
    PyObject* made = kept(real_array(array_of(object)));
    kept(Ref::borrow(object));
    more_->by_object.emplace(object, made);
    more_->pairs.push_back({made, object});
    return made;
  }
  // The one with the same stream.
  PyObject* real_of_generator(PyObject* object) {
    static PyObject* const name = checked(PyUnicode_InternFromString("_numpy")).release();
    Ref real = Ref::steal(PyObject_GetAttr(object, name));
    if (!real) {
      PyErr_Clear();  // no __init__ has run
      return object;
    }
    PyObject* made = kept(std::move(real));
    kept(Ref::borrow(object));
    more_->pairs.push_back({made, object});
    return made;
  }
  PyObject* kept(Ref made) {
    if (!more_) more_ = std::make_unique<More>();
    more_->made.push_back(std::move(made));
    return more_->made.back().get();
  }

 private:
  PyObject* known_real(PyObject* object) const {
    for (std::size_t k = 0; k < count_; ++k)
      if (pairs_[k].ours == object) return pairs_[k].real;
    if (!more_) return nullptr;
    const auto found = more_->by_object.find(object);
    return found == more_->by_object.end() ? nullptr : found->second;
  }

  struct Pair {
    PyObject* real;
    PyObject* ours;  // whose list the callee may empty
  };
  // What few calls need.
  struct More {
    std::vector<Pair> pairs;  // behind the first few
    std::unordered_map<PyObject*, PyObject*> by_object;
    std::vector<Ref> made;  // what is in those, and what else stands for something of ours
  };

  static constexpr std::size_t few = 8;
  std::size_t count_ = 0;
  Pair pairs_[few];  // the first `count_` of them, owned
  std::unique_ptr<More> more_;
};

// The same for arrays inside tuples, lists and dicts, and for all else of ours.
class Stand : public Arrays {
 public:
  // Makers: objects whose __array__ gives arrays of ours have stand-ins, too.
  enum class Makers : std::uint8_t { AsTheyAre, Replaced };
  explicit Stand(Makers makers = Makers::AsTheyAre, Classes classes = Classes::Replaced)
      : makers_(makers), classes_(classes) {}

  // Borrowed: alive as long as this and the given object are.
  PyObject* real(PyObject* object, int depth = 0) {
    if (is_array(object)) return real_of_array(object);
    if (makers_ == Makers::AsTheyAre && !may_hold_ours(object)) return object;
    return real_of_other(object, depth);
  }

 private:
  PyObject* real_of_other(PyObject* object, int depth) {
    if (depth > deepest) return object;
    if (PyTuple_CheckExact(object)) return real_of_tuple(object, depth);
    if (PyList_CheckExact(object)) return real_of_list(object, depth);
    if (PyDict_CheckExact(object)) return real_of_dict(object, depth);
    if (classes_ == Classes::AsTheyAre && PyType_Check(object)) return object;
    if (may_hold_ours(object)) return kept(real_object(object));
    if (makes_arrays(object)) return kept(checked(PyObject_CallOneArg(make_stand_in, object)));
    return object;
  }

  PyObject* real_of_tuple(PyObject* tuple, int depth) {
    Ref result;  // made at the first item that differs
    const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* item = PyTuple_GET_ITEM(tuple, k);
      PyObject* replaced = real(item, depth + 1);
      if (!result && replaced == item) continue;
      if (!result) {
        result = checked(PyTuple_New(n));
        for (Py_ssize_t j = 0; j < k; ++j)
          PyTuple_SET_ITEM(result.get(), j, Py_NewRef(PyTuple_GET_ITEM(tuple, j)));
      }
      PyTuple_SET_ITEM(result.get(), k, Py_NewRef(replaced));
    }
    return result ? kept(std::move(result)) : tuple;
  }

  PyObject* real_of_list(PyObject* list, int depth) {
    Ref result;  // made at the first item that differs
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(list); ++k) {
      PyObject* item = PyList_GET_ITEM(list, k);
      PyObject* replaced = real(item, depth + 1);
      if (replaced == item) continue;
      if (!result) result = checked(PyList_GetSlice(list, 0, PyList_GET_SIZE(list)));
      checked_status(PyList_SetItem(result.get(), k, Py_NewRef(replaced)));
    }
    return result ? kept(std::move(result)) : list;
  }

  PyObject* real_of_dict(PyObject* dict, int depth) {
    Ref result;
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict, &position, &key, &value)) {
      PyObject* replaced = real(value, depth + 1);
      if (replaced == value) continue;
      if (!result) result = checked(PyDict_Copy(dict));
      checked_status(PyDict_SetItem(result.get(), key, replaced));
    }
    return result ? kept(std::move(result)) : dict;
  }

  Makers makers_;
  Classes classes_;
};

PyObject* ours_of_ndarray(Ref result, const Arrays& stand) {
  if (PyObject* original = stand.original(result.get())) return Py_NewRef(original);
  PyObject* const base = PyArray_BASE(reinterpret_cast<PyArrayObject*>(result.get()));
  PyObject* const viewed = base ? stand.original(base) : nullptr;
  if (PyObject* view = viewed ? view_of_ours(result.get(), array_of(viewed)) : nullptr) return view;
  PyObject* object = object_of_ndarray(std::move(result));
  if (viewed && is_array(object)) set_viewed(array_of(object), array_of(viewed));
  return object;
}

// An operand of the call, or a view of one.
bool is_of_operands(PyObject* item, const Arrays& stand) {
  if (!PyArray_CheckExact(item)) return false;
  return stand.original(item) ||
         stand.original(PyArray_BASE(reinterpret_cast<PyArrayObject*>(item)));
}

PyObject* ours_of_result(Ref result, const Arrays& stand) {
  if (PyArray_CheckExact(result.get())) {
    if (PyObject* object = object_of_fresh(result.get())) [[likely]]
      return object;
    return ours_of_ndarray(std::move(result), stand);
  }
  const bool is_list = PyList_CheckExact(result.get());
  if (!stand.has_arrays() || (!is_list && !PyTuple_CheckExact(result.get())))
    return object_of_result(std::move(result));
  // Operands themselves (out=(a, b)) and views of them (split).
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(result.get());
  bool any = false;
  for (Py_ssize_t k = 0; k < n; ++k)
    any |= is_of_operands(PySequence_Fast_GET_ITEM(result.get(), k), stand);
  if (!any) return object_of_result(std::move(result));
  Ref items = checked(is_list ? PyList_New(n) : PyTuple_New(n));
  for (Py_ssize_t k = 0; k < n; ++k) {
    Ref item = Ref::borrow(PySequence_Fast_GET_ITEM(result.get(), k));
    PyObject* ours = is_of_operands(item.get(), stand) ? ours_of_ndarray(std::move(item), stand)
                                                       : object_of_result(std::move(item), 1);
    if (is_list)
      PyList_SET_ITEM(items.get(), k, ours);
    else
      PyTuple_SET_ITEM(items.get(), k, ours);
  }
  return items.release();
}

}  // namespace

std::int64_t numpy_calls = 0;

namespace {

// NumPy asked an object for its array, and was given one of ours.
bool is_refused_array() {
  if (!make_stand_in || !PyErr_ExceptionMatches(PyExc_ValueError)) return false;
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  const Ref text = Ref::steal(error ? PyObject_Str(error) : nullptr);
  PyErr_Restore(type, error, traceback);
  return text && PyUnicode_CompareWithASCIIString(
                     text.get(), "object __array__ method not producing an array") == 0;
}

// PyObject_Vectorcall, of which half is a look at what a callee in C gives back.
PyObject* call_directly(PyObject* function, PyObject* const* values, std::size_t count,
                        PyObject* names) {
  const PyTypeObject* const type = Py_TYPE(function);
  vectorcallfunc call = nullptr;
  if ((type->tp_flags & Py_TPFLAGS_HAVE_VECTORCALL) != 0)
    std::memcpy(&call, reinterpret_cast<char*>(function) + type->tp_vectorcall_offset, sizeof call);
  return call ? call(function, values, count, names)
              : PyObject_Vectorcall(function, values, count, names);
}

// Null, with the callee's error set, where the call failed.
template <class Stands>
inline Ref call_with(Stands& stand, PyObject* function, const Arguments& arguments) {
  const Py_ssize_t count = arguments.positional + arguments.keywords();
  ArgumentRoom room(count);
  PyObject** const values = room.values();
  for (Py_ssize_t k = 0; k < count; ++k) values[k] = stand.real(arguments.values[k]);
  if (stand.has_arrays()) ++numpy_calls;
  return Ref::steal(
      call_directly(function, values,
                    static_cast<std::size_t>(arguments.positional) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                    arguments.names));
}

inline PyObject* call_with_stand_ins(PyObject* function, const Arguments& arguments,
                                     Stand::Makers makers) {
  Ref result;
  {
    Stand stand(makers);
    const NumPyCall call(function);
    result = call_with(stand, function, arguments);
    if (!result) return nullptr;
    // While the arguments are held: a result that is one of them is recognised by its address.
    result = Ref::steal(ours_of_result(std::move(result), stand));
  }
  drain_released();
  return result.release();
}

// A function that writes to its operand may give it back, be it among others.
Ref with_operands(Ref result, const Arrays& stand) {
  if (PyObject* ours = stand.original(result.get())) return Ref::borrow(ours);
  if (!stand.has_arrays() || !PyTuple_CheckExact(result.get()) || Py_REFCNT(result.get()) != 1)
    return result;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(result.get()); ++k) {
    PyObject* const item = PyTuple_GET_ITEM(result.get(), k);
    PyObject* const ours = stand.original(item);
    if (!ours) continue;
    PyTuple_SET_ITEM(result.get(), k, Py_NewRef(ours));
    Py_DECREF(item);
  }
  return result;
}

template <class Stands>
PyObject* call_for_results_as_they_are(PyObject* function, const Arguments& arguments) {
  Ref result;
  {
    Stands stand;
    result = checked(call_with(stand, function, arguments).release());
    result = with_operands(std::move(result), stand);
  }
  drain_released();
  return result.release();
}

[[gnu::noinline]] PyObject* call_once_more(PyObject* function, const Arguments& arguments) {
  if (!is_refused_array()) throw PythonError{};
  PyErr_Clear();
  return checked(call_with_stand_ins(function, arguments, Stand::Makers::Replaced)).release();
}

}  // namespace

PyObject* call_numpy(PyObject* function, const Arguments& arguments) {
  PyObject* result = call_with_stand_ins(function, arguments, Stand::Makers::AsTheyAre);
  return result ? result : call_once_more(function, arguments);
}

PyObject* call_with_real_arguments(PyObject* function, const Arguments& arguments) {
  return call_for_results_as_they_are<Stand>(function, arguments);
}

PyObject* call_with_real_arrays(PyObject* function, const Arguments& arguments) {
  return call_for_results_as_they_are<Arrays>(function, arguments);
}

bool may_hold_any_of_ours(PyObject* values, PyObject* keywords) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(values); ++k)
    if (may_hold_ours(PyTuple_GET_ITEM(values, k))) return true;
  return keywords && may_hold_ours(keywords);
}

PyObject* call_slot(ternaryfunc slot, PyObject* callee, PyObject* values, PyObject* keywords,
                    Results results) {
  Ref result;
  {
    Stand stand;
    PyObject* real_values = stand.real(values);
    PyObject* real_keywords = keywords ? stand.real(keywords) : nullptr;
    result = Ref::steal(slot(callee, real_values, real_keywords));
    if (!result) return nullptr;
    if (results == Results::AsTheyAre) {
      result = with_operands(std::move(result), stand);
    } else if (real_values != values || real_keywords != keywords) {
      result = Ref::steal(ours_of_result(std::move(result), stand));
    }
  }
  drain_released();
  return result.release();
}

bool is_generator(PyObject* object) {
  if (!generators) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(generators); ++k)
    if (as_object(Py_TYPE(object)) == PyTuple_GET_ITEM(generators, k)) return true;
  return false;
}

void set_generators(PyObject* types) { Py_XSETREF(generators, Py_NewRef(types)); }

void set_stand_in(PyObject* function) { Py_XSETREF(make_stand_in, Py_NewRef(function)); }

PyObject* fall_back(const char* name, PyObject* function, const Arguments& arguments,
                    const char* reason) {
  leave_to_caller(reason);
  if (reason) {
    note_fallback(name, reason);
    return call_numpy(function, arguments);
  }
  Ref result = Ref::steal(call_numpy(function, arguments));
  note_fallback(name, reason);
  return result.release();
}

void note_fallback(const char* name, const char* reason) {
  refuse_if_asked(name, reason);
  count_fallback(name, reason, current_source());
}

void note_fallback(const char* name, const char* reason, CountedPlace& last) {
  const SourcePosition at = current_source();
  Records& all = records();
  if (last.code == at.code && last.instruction == at.instruction &&
      last.generation == all.generation) [[likely]] {
    ++*last.count;
    return;
  }
  refuse_if_asked(name, reason);
  std::int64_t& count = count_fallback(name, reason, at);
  last = {at.code, at.instruction, all.generation, &count};
}

Ref real_deep(PyObject* object, Classes classes) {
  Stand stand(Stand::Makers::AsTheyAre, classes);
  return Ref::borrow(stand.real(object));
}

PyObject* fallback_records() {
  Ref list = checked(PyList_New(0));
  for (const auto& [place, record] : records().places) {
    const Ref item = checked(Py_BuildValue(
        "(ssiLs)", record.name.c_str(), record.line.filename.c_str(), record.line.line,
        static_cast<long long>(record.count), record.reason.c_str()));
    checked_status(PyList_Append(list.get(), item.get()));
  }
  return list.release();
}

void reset_fallback_records() { records().reset(); }

void set_fallback_mode(PyObject* mode, PyObject* error_class, PyObject* warning_class) {
  const char* text = PyUnicode_AsUTF8(mode);
  if (!text) throw PythonError{};
  const std::string_view name = text;
  if (name != "silent" && name != "warn" && name != "error")
    raise(PyExc_ValueError, "FRIT_FALLBACK must be 'silent', 'warn' or 'error', not '%s'", text);
  Records& all = records();
  ++all.generation;
  all.mode = name == "silent" ? Mode::Silent : name == "warn" ? Mode::Warn : Mode::Error;
  if (error_class && error_class != Py_None) Py_XSETREF(all.error_class, Py_NewRef(error_class));
  if (warning_class && warning_class != Py_None)
    Py_XSETREF(all.warning_class, Py_NewRef(warning_class));
}

}  // namespace frit::python
