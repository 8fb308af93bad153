// fallback.h: calls of NumPy for ours: operands evaluated, results wrapped, places counted.
#pragma once

#include <memory>
#include <utility>

#include "python/objects.h"

namespace frit::python {

// Room for the arguments of a call: on the stack where they are few. The callee may use the slot
// before the first (PY_VECTORCALL_ARGUMENTS_OFFSET).
class ArgumentRoom {
 public:
  explicit ArgumentRoom(Py_ssize_t count) {
    if (count > few) [[unlikely]]
      more_ = std::make_unique<PyObject*[]>(static_cast<std::size_t>(count) + 1);
  }
  PyObject** values() { return (more_ ? more_.get() : here_) + 1; }

 private:
  static constexpr Py_ssize_t few = 8;
  PyObject* here_[few + 1];
  std::unique_ptr<PyObject*[]> more_;
};

// Calls `function` with Frit objects replaced by real ones and wraps what comes back. A real array
// that NumPy hands back (out=, in-place operators) becomes the very object it stood for.
PyObject* call_numpy(PyObject* function, const Arguments& arguments);
// The same for a function that is not NumPy's: what it gives back stays as it is.
PyObject* call_with_real_arguments(PyObject* function, const Arguments& arguments);
// The same for one that changes its argument in place: arrays that are arguments themselves are
// replaced, and not those in a list, which would be a copy. So are generators of random numbers,
// whose arrays would be ours.
PyObject* call_with_real_arrays(PyObject* function, const Arguments& arguments);
// Which function of NumPy a thread has called for us, while this lives.
class NumPyCall {
 public:
  explicit NumPyCall(PyObject* function) : outer_(std::exchange(function_, function)) {}
  ~NumPyCall() { function_ = outer_; }
  NumPyCall(const NumPyCall&) = delete;
  // Its own dispatch may ask us about an array that we have left in its arguments: in a sequence of
  // a class that nobody looks into.
  static bool is_at_work(PyObject* function) { return function_ == function; }

 private:
  static thread_local constinit inline PyObject* function_ = nullptr;
  PyObject* outer_;
};
bool is_generator(PyObject* object);
// The classes of generators, whose `_numpy` is the real one with the same stream.
void set_generators(PyObject* types);
// The same for the tp_call of a library's type; Ours: its results become ours if an argument was.
// Null, with the error set, where the call failed.
enum class Results : std::uint8_t { Ours, AsTheyAre };
PyObject* call_slot(ternaryfunc slot, PyObject* callee, PyObject* values, PyObject* keywords,
                    Results results = Results::Ours);
bool may_hold_ours(PyObject* object);
bool may_hold_any_of_ours(PyObject* values, PyObject* keywords);
// Calls so far that were handed arrays of ours, counted as fallbacks or not.
extern std::int64_t numpy_calls;
// Python function that makes, for an object whose __array__ gives an array of ours, one whose
// __array__ gives a real array: NumPy takes no other.
void set_stand_in(PyObject* function);

// The same as a fallback: counted under `name` at the user's line, and refused under
// FRIT_FALLBACK=error. Without a reason it is the replay of a call that failed: not counted unless
// NumPy succeeds after all.
PyObject* fall_back(const char* name, PyObject* function, const Arguments& arguments,
                    const char* reason);

// Counts or refuses one that the caller does by other means.
void note_fallback(const char* name, const char* reason);

// Where one function was called last, and its count there.
struct CountedPlace {
  const void* code = nullptr;
  std::int32_t instruction = 0;
  std::uint32_t generation = 0;  // of the records that the count is in; 0: none
  std::int64_t* count = nullptr;
};
// The same, without a look-up where the place is that of the last call.
void note_fallback(const char* name, const char* reason, CountedPlace& last);

template <class... Objects>
PyObject* fall_back_on(const char* name, PyObject* function, const char* reason,
                       Objects*... objects) {
  PyObject* const values[] = {objects...};
  return fall_back(name, function, {values, sizeof...(Objects), nullptr}, reason);
}
template <class... Objects>
PyObject* call_numpy_on(PyObject* function, Objects*... objects) {
  PyObject* const values[] = {objects...};
  return call_numpy(function, {values, sizeof...(Objects), nullptr});
}

// Real objects for ours, inside lists, tuples and dicts as well; the same object where there is
// nothing to replace. Of ours, ndarray and ufunc are classes of which real objects are instances,
// too.
enum class Classes : std::uint8_t { Replaced, AsTheyAre };
Ref real_deep(PyObject* object, Classes classes = Classes::Replaced);

// A callable that is a fallback of `function`; bound to an instance when it is a method's.
PyObject* new_fallback(const char* name, PyObject* function);
// The attribute of ndarray of this name, by way of NumPy: a method, or a property read from the
// real array.
PyObject* new_fallback_attribute(const char* name, PyObject* attribute);

// For the module.
PyObject* fallback_records();
void reset_fallback_records();
void set_fallback_mode(PyObject* mode, PyObject* error_class, PyObject* warning_class);

}  // namespace frit::python
