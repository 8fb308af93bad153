// loop_gate.cpp: what a loop asks before it runs: the shortest way to a no.
//
// A gate stands for its place's `take` or `rest` (frit/loops/run/place.py). It guesses what the
// loop takes and asks its pace; only where the answer is yes, or a no of another kind than the one
// before, does it go on to the place. It is told when the loop has run as Python, and times both.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/loop_pace.h"
#include "engine/pool.h"
#include "python/float_state.h"
#include "python/kernels.h"
#include "python/libraries.h"
#include "python/loop_guess.h"
#include "python/numpy_api.h"

namespace frit::python {
namespace {

using Verdict = LoopPace::Verdict;

constexpr int most_inside = 64;
constexpr int most_in_vain = 4096;
constexpr std::size_t most_remembered = 4;   // kinds of calls
constexpr std::size_t most_kept = 64 << 10;  // bytes; beyond, Python's copies cost little beside
constexpr unsigned told_flags = flag_invalid | flag_divide | flag_overflow;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t interpreted_launches() {
  const std::scoped_lock lock(Engine::lock());
  return Engine::get().statistics.interpreted_launches;
}

constexpr double timing = 60e-9;  // seconds that it adds to a loop's time

// What a nest that may fail stores to, as it was; put back at the end, unless it is dropped.
class KeptArrays {
 public:
  KeptArrays() = default;
  KeptArrays(const KeptArrays&) = delete;
  KeptArrays& operator=(const KeptArrays&) = delete;
  ~KeptArrays() {
    for (const Kept& array : arrays_)
      std::memcpy(array.memory, copies_.get() + array.offset, array.bytes);
  }

  // False: they are not all small and dense ndarrays.
  bool keep(PyObject* const* passed, const std::vector<std::size_t>& numbers) {
    std::size_t bytes = 0;
    for (const std::size_t k : numbers) {
      if (!PyArray_CheckExact(passed[k])) return false;
      auto* array = reinterpret_cast<PyArrayObject*>(passed[k]);
      if (!PyArray_ISONESEGMENT(array)) return false;
      bytes += static_cast<std::size_t>(PyArray_NBYTES(array));
      if (bytes > most_kept) return false;
    }
    copies_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    arrays_.reserve(numbers.size());
    for (const std::size_t k : numbers) {
      auto* array = reinterpret_cast<PyArrayObject*>(passed[k]);
      const Kept kept{PyArray_BYTES(array), static_cast<std::size_t>(PyArray_NBYTES(array)),
                      arrays_.empty() ? 0 : arrays_.back().offset + arrays_.back().bytes};
      std::memcpy(copies_.get() + kept.offset, kept.memory, kept.bytes);
      arrays_.push_back(kept);
    }
    return true;
  }
  void drop() { arrays_.clear(); }

 private:
  struct Kept {
    char* memory;
    std::size_t bytes, offset;
  };
  std::vector<Kept> arrays_;
  std::unique_ptr<std::byte[]> copies_;
};

// How a nest that may fail says so.
struct Failures {
  Py_ssize_t result = 0;             // what it gives there counts them
  bool are_flags = false;            // errors of floats are failures, too
  std::vector<std::size_t> written;  // the values that it stores to
};

// A plan that runs without Python, where errors of floats stop nothing.
struct Direct {
  Ref nest{};     // null: there is none
  Ref outputs{};  // made by outputs(what the nest gives, values); null: there are none
  Ref warn{};     // warn(flags) tells of errors; null: they are nobody's
  Ref allows{};   // allows() says whether nests run at all; null: always
  Ref guard{};    // guard(*values) says whether it runs these elements; null: whatever they are
  std::optional<Failures> failures{};

  // What `take` gives; null: the plan can't run now.
  Ref run(PyObject* const* passed, std::size_t count) const {
    if (allows && checked(PyObject_CallNoArgs(allows.get())).get() != Py_True) return {};
    if (warn && float_errors_may_stop()) return {};
    if (guard && !lets_pass(passed, count)) return {};
    const bool tells = static_cast<bool>(warn);
    KeptArrays kept;
    if (failures && !kept.keep(passed, failures->written)) return {};
    const Ref found = run_nest(nest.get(), passed, count, tells);
    PyObject* flags = PyTuple_GET_ITEM(found.get(), 0);
    const bool has_errors = tells && (PyLong_AsUnsignedLong(flags) & told_flags) != 0;
    if (failures && has_failed(found.get(), has_errors)) return {};
    kept.drop();
    if (has_errors) checked(PyObject_CallOneArg(warn.get(), flags));
    if (!outputs) return checked(PyTuple_New(0));
    const Ref values = checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (std::size_t k = 0; k < count; ++k)
      PyTuple_SET_ITEM(values.get(), static_cast<Py_ssize_t>(k), Py_NewRef(passed[k]));
    PyObject* both[] = {found.get(), values.get()};
    return checked(PyObject_Vectorcall(outputs.get(), both, 2, nullptr));
  }
  bool has_failed(PyObject* found, bool has_errors) const {
    if (failures->are_flags && has_errors) return true;
    const int is_any = PyObject_IsTrue(PyTuple_GET_ITEM(found, failures->result));
    checked_status(is_any);
    return is_any != 0;
  }
  bool lets_pass(PyObject* const* passed, std::size_t count) const {
    PyObject* found = PyObject_Vectorcall(guard.get(), passed, count, nullptr);
    if (!found && (PyErr_ExceptionMatches(PyExc_ValueError) != 0 ||
                   PyErr_ExceptionMatches(PyExc_ArithmeticError) != 0)) {
      PyErr_Clear();  // no elements, or a number that is no index
      return false;
    }
    return checked(found).get() == Py_True;
  }
};

// What runs calls like one that ran compiled: with its signature and, if there is a guard, elements
// that this lets pass.
struct Remembered {
  std::string signature{};
  Ref resume{};
  Direct direct{};
};

struct Gate {
  LoopGuess guess;
  LoopPace pace;
  Ref place;  // its attribute `clock` is the gate while the loop runs as Python, and is timed
  Ref ask;    // the place's method
  Ref space;  // the module's variables
  // The oldest first; all want variables of the module to be what they were (known), or none.
  std::vector<std::shared_ptr<const Remembered>> remembered{};
  Ref known{}, absent{};
  std::string asked{};            // the signature of the latest call
  std::int64_t runs = 0;          // without Python
  LoopPace::Choice choice{};      // the latest
  bool is_chosen = false;         // and nobody has asked for it yet
  std::optional<Verdict> told{};  // to the place, the latest
  LoopPace::Choice running{};     // the choice of the call whose loop runs as Python
  double began = 0;
  std::uint64_t news = 0;  // of all loops, then
  int depth = 0;           // of calls in that loop, and itself
  int calls_inside = 0;
  int in_vain = 0;  // calls that were refused, one after another

  std::shared_ptr<const Remembered> like(std::span<PyObject* const> passed) {
    if (remembered.empty()) return nullptr;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(known.get()); ++k) {
      PyObject* pair = PyTuple_GET_ITEM(known.get(), k);
      PyObject* value = PyDict_GetItemWithError(space.get(), PyTuple_GET_ITEM(pair, 0));
      if (value != PyTuple_GET_ITEM(pair, 1)) return nullptr;
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(absent.get()); ++k)
      if (PyDict_Contains(space.get(), PyTuple_GET_ITEM(absent.get(), k)) != 0) return nullptr;
    asked.clear();
    if (!append_signature(passed.data(), passed.size(), asked)) return nullptr;
    const auto found = find(asked);
    return found != remembered.end() ? *found : nullptr;
  }
  std::vector<std::shared_ptr<const Remembered>>::const_iterator find(
      const std::string& signature) const {
    return std::ranges::find(remembered, signature,
                             [](const auto& one) -> const std::string& { return one->signature; });
  }
  // What they hold dies behind the change: that may run code of the program.
  void remember(std::shared_ptr<const Remembered> one) {
    auto at = find(one->signature);
    if (at == remembered.end() && remembered.size() == most_remembered) at = remembered.begin();
    std::shared_ptr<const Remembered> dropped;
    if (at != remembered.end()) {
      dropped = *at;
      remembered.erase(at);
    }
    remembered.push_back(std::move(one));
  }
  // null: the place has to be asked.
  Ref run(const std::shared_ptr<const Remembered>& one, std::span<PyObject* const> passed) {
    if (one->direct.nest) {
      if (Ref found = one->direct.run(passed.data(), passed.size())) {
        ++runs;
        return found;
      }
    }
    Ref found =
        checked(PyObject_Vectorcall(one->resume.get(), passed.data(), passed.size(), nullptr));
    if (found.get() != Py_False && found.get() != Py_None) return found;
    std::erase(remembered, one);
    return {};
  }
  std::optional<double> seconds(PyObject* const* passed, std::size_t count) {
    if (!guess.is_known()) return std::nullopt;
    const std::optional<double> nanoseconds = guess.value(passed, count, space.get());
    if (!nanoseconds) return std::nullopt;
    return *nanoseconds * 1e-9;
  }
  // It may have been a trial.
  void note_run() { in_vain = std::max(0, in_vain - 32); }
  // A loop that takes as long at every call, and stays Python thousands of times, will do so: to
  // ask takes a tenth of what a hundred rounds over a list do.
  void note_in_vain() {
    if (!guess.is_constant() || ++in_vain < most_in_vain) return;
    in_vain = 0;
    static PyObject* const name = checked(PyUnicode_InternFromString("end_asking")).release();
    checked(PyObject_CallMethodNoArgs(place.get(), name));
  }
  // A loop that an exception ends tells nobody: after a while it is taken for gone.
  void begin(double when, const LoopPace::Choice& of) {
    if (depth > 0 && ++calls_inside < most_inside) {
      ++depth;
      return;
    }
    depth = 1;
    calls_inside = 0;
    running = of;
    began = when;
    news = LoopPace::news();
  }
  void end() {
    if (--depth > 0) return;
    const double seconds = now() - began;
    // A call that asked in vain is what a compiled one would be, once the loops inside are known.
    if (running.verdict == Verdict::Compiled) {
      if (news == LoopPace::news()) pace.note_compiled(running, seconds);
    } else
      pace.note_python(running, std::max(seconds - timing, 0.0));
  }
};

struct GateObject {
  PyObject_HEAD bool has_gate;
  alignas(Gate) std::byte memory[sizeof(Gate)];
};
GateObject& object_of(PyObject* object) { return *reinterpret_cast<GateObject*>(object); }
Gate& gate_of(PyObject* object) {
  return *std::launder(reinterpret_cast<Gate*>(object_of(object).memory));
}

void set_clock(const Gate& gate, PyObject* clock) {
  static PyObject* const name = checked(PyUnicode_InternFromString("clock")).release();
  checked_status(PyObject_SetAttr(gate.place.get(), name, clock));
}

// The kinds of no that mean different things to the loops inside.
bool is_alike(std::optional<Verdict> told, Verdict verdict) {
  if (!told || *told == Verdict::Compiled || verdict == Verdict::Compiled) return false;
  return (*told == Verdict::Unknown) == (verdict == Verdict::Unknown);
}

// Whether a debugger or a coverage tool wants to see lines by sys.monitoring, as place.py asks.
#if PY_VERSION_HEX >= 0x030C0000
bool is_watched() {
  static PyObject* const get_tool = [] {
    PyObject* const monitoring = PySys_GetObject("monitoring");
    if (!monitoring) raise(PyExc_RuntimeError, "there is no sys.monitoring");
    return checked(PyObject_GetAttrString(monitoring, "get_tool")).release();
  }();
  for (const long tool : {0, 1, 3, 4}) {  // 2 is for profilers
    const Ref number = checked(PyLong_FromLong(tool));
    const Ref name = checked(PyObject_CallOneArg(get_tool, number.get()));
    if (name.get() != Py_None) return true;
  }
  return false;
}
#else
bool is_watched() { return false; }
#endif

// Whether a call may run compiled, and what the place then gives; `no` where it runs as Python.
struct Call {
  std::span<PyObject* const> passed;  // the variables that are given
  std::span<PyObject* const> asked;   // what the place is asked with
  PyObject* no;
  bool is_whole = true;  // nothing is left of the loop behind a yes
};

// What a handler of the program's signals raises in code of ours is the program's: its traceback
// begins behind (frit/_signals.py).
PyObject* without_our_frames(PyObject* found) {
  if (found) [[likely]]
    return found;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  if (trace) PyException_SetTraceback(error, trace);
  const Ref module = Ref::steal(PyImport_ImportModule("frit._signals"));
  const Ref left =
      Ref::steal(module ? PyObject_CallMethod(module.get(), "leave_out", "O", error) : nullptr);
  if (left) {
    Py_XDECREF(trace);
    PyErr_Restore(type, error, PyException_GetTraceback(error));
  } else {  // by another signal
    for (PyObject* part : {type, error, trace}) Py_XDECREF(part);
  }
  return nullptr;
}

// To ask a place takes some functions of Python's. The last frames that a program may have are its
// own: what Python alone can do raises no RecursionError of ours.
bool are_few_frames_left() {
  constexpr int few = 100;
#if PY_VERSION_HEX >= 0x030C0000
  return PyThreadState_Get()->py_recursion_remaining < few;
#else
  return PyThreadState_Get()->recursion_remaining < few;
#endif
}

PyObject* answer(PyObject* object, const Call& call) {
  if (are_few_frames_left()) [[unlikely]]
    return Py_NewRef(call.no);
  return without_our_frames(guarded([&]() -> PyObject* {
    Gate& gate = gate_of(object);
    const std::optional<double> seconds = gate.seconds(call.passed.data(), call.passed.size());
    const bool is_as_told = gate.depth == 0 && is_alike(gate.told, Verdict::Short);
    if (is_as_told && gate.pace.skips(seconds)) {
      gate.note_in_vain();
      return Py_NewRef(call.no);
    }
    LoopPace::Choice choice = gate.choice = gate.pace.choose(seconds);
    const bool is_compiled = choice.verdict == Verdict::Compiled;
    const double begin = is_compiled && choice.is_timed ? now() : 0;
    const std::int64_t interpreted = begin != 0 ? interpreted_launches() : 0;
    const auto start_clock = [&] {
      set_clock(gate, object);
      gate.begin(begin != 0 ? begin : now(), choice);
    };
    const auto taken = [&](Ref& found) {
      gate.note_run();
      if (begin != 0) {
        const double seconds = now() - begin;
        choice.is_interpreted = interpreted_launches() != interpreted;
        if (call.is_whole)
          gate.pace.note_compiled(choice, seconds);
        else
          start_clock();
      }
      return found.release();
    };
    // Where the libraries may be others than it was made for, the place looks at them.
    const bool may_run = is_compiled && !libraries_changed() && !is_watched();
    if (const auto one = may_run ? gate.like(call.passed) : nullptr)
      if (Ref found = gate.run(one, call.passed)) return taken(found);
    if (!is_alike(gate.told, choice.verdict)) {
      gate.is_chosen = true;
      gate.told = choice.verdict;
      const Ref place = gate.ask;
      Ref found =
          checked(PyObject_Vectorcall(place.get(), call.asked.data(), call.asked.size(), nullptr));
      // Where the place had another reason it is to tell it again.
      if (std::exchange(gate.is_chosen, false)) gate.told.reset();
      if (found.get() != call.no) return taken(found);
    }
    gate.note_in_vain();
    if (choice.is_timed || gate.depth > 0) start_clock();
    return Py_NewRef(call.no);
  }));
}

PyObject* take(PyObject* object, PyObject* const* passed, Py_ssize_t count) {
  if (PyThreadState_Get()->c_tracefunc) Py_RETURN_NONE;  // line by line
  const std::span values(passed, static_cast<std::size_t>(count));
  return answer(object, {.passed = values, .asked = values, .no = Py_None});
}

// Of a loop whose last rounds stay Python's: those, or all of them.
PyObject* rest(PyObject* object, PyObject* rounds) {
  return answer(object, {.passed = {}, .asked = {&rounds, 1}, .no = rounds, .is_whole = false});
}

PyObject* construct(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  return guarded([&]() -> PyObject* {
    static const char* keywords[] = {"place", "space",       "steps",    "inputs",     "shortest",
                                     "worth", "first_worth", "is_eager", "ends_early", nullptr};
    PyObject *place, *space, *steps, *inputs;
    LoopPace::Limits limits;
    int is_eager = 0, ends_early = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "OO!O!O!dddp|p",
                                     const_cast<char**>(keywords), &place, &PyDict_Type, &space,
                                     &PyList_Type, &steps, &PyList_Type, &inputs, &limits.shortest,
                                     &limits.worth, &limits.first_worth, &is_eager, &ends_early))
      return nullptr;
    limits.is_eager = is_eager != 0;
    limits.ends_early = ends_early != 0;
    LoopGuess guess(steps, inputs);
    const bool is_peeled = checked(PyObject_GetAttrString(place, "is_peeled")).get() == Py_True;
    Ref method = checked(PyObject_GetAttrString(place, is_peeled ? "ask_rest" : "ask"));
    Ref object = checked(type->tp_alloc(type, 0));
    GateObject& self = object_of(object.get());
    new (self.memory) Gate{.guess = std::move(guess),
                           .pace = LoopPace(limits),
                           .place = Ref::borrow(place),
                           .ask = std::move(method),
                           .space = Ref::borrow(space)};
    self.has_gate = true;
    return object.release();
  });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  if (object_of(object).has_gate) {
    Py_VISIT(gate_of(object).place.get());
    Py_VISIT(gate_of(object).ask.get());
    Py_VISIT(gate_of(object).space.get());
    Py_VISIT(gate_of(object).known.get());
    for (const auto& one : gate_of(object).remembered) {
      const Direct& direct = one->direct;
      for (const Ref* part : {&one->resume, &direct.nest, &direct.outputs, &direct.warn,
                              &direct.allows, &direct.guard})
        Py_VISIT(part->get());
    }
  }
  return 0;
}

int clear(PyObject* object) {
  if (object_of(object).has_gate) {
    gate_of(object).place = gate_of(object).ask = Ref::borrow(Py_None);
    const auto forgotten = std::exchange(gate_of(object).remembered, {});
  }
  return 0;
}

void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  if (object_of(object).has_gate) gate_of(object).~Gate();
  free_object(object);
}

// ---- what the place asks ------------------------------------------------------------------------

// The number of the verdict about these values: of the call that has come through here, or anew.
PyObject* verdict(PyObject* object, PyObject* const* passed, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    Gate& gate = gate_of(object);
    if (!gate.is_chosen) {
      gate.choice = gate.pace.choose(gate.seconds(passed, static_cast<std::size_t>(count)));
      gate.told = gate.choice.verdict;
      if (gate.choice.verdict != Verdict::Compiled) gate.pace.owe(gate.choice.expected);
    }
    gate.is_chosen = false;
    return PyLong_FromLong(static_cast<long>(gate.choice.verdict));
  });
}

// Seconds as Python, or None: without asking for a verdict.
PyObject* guess(PyObject* object, PyObject* const* passed, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    const std::optional<double> found =
        gate_of(object).seconds(passed, static_cast<std::size_t>(count));
    if (!found) Py_RETURN_NONE;
    return PyFloat_FromDouble(*found);
  });
}

PyObject* latest(PyObject* object, PyObject*) {
  const Gate& gate = gate_of(object);
  return PyLong_FromLong(gate.told ? static_cast<long>(gate.choice.verdict) : 0);
}

std::optional<Failures> failures_of(PyObject* given) {
  if (given == Py_None) return std::nullopt;
  Failures made{.result = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, 0)),
                .are_flags = PyTuple_GET_ITEM(given, 1) == Py_True,
                .written = {}};
  PyObject* written = PyTuple_GET_ITEM(given, 2);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(written); ++k)
    made.written.push_back(PyLong_AsSize_t(PyTuple_GET_ITEM(written, k)));
  return made;
}

// Pairs of a name and a value.
bool is_same_known(PyObject* before, PyObject* now) {
  if (!before || PyTuple_GET_SIZE(before) != PyTuple_GET_SIZE(now)) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(now); ++k) {
    PyObject *one = PyTuple_GET_ITEM(before, k), *other = PyTuple_GET_ITEM(now, k);
    if (PyTuple_GET_ITEM(one, 1) != PyTuple_GET_ITEM(other, 1) ||
        PyUnicode_Compare(PyTuple_GET_ITEM(one, 0), PyTuple_GET_ITEM(other, 0)) != 0)
      return false;
  }
  return true;
}
// Names.
bool is_same_absent(PyObject* before, PyObject* now) {
  if (!before) return false;
  const int is_same = PyObject_RichCompareBool(before, now, Py_EQ);
  checked_status(is_same);
  return is_same != 0;
}

// (signature, resume, known, absent, direct): calls like the latest go to resume(*values), which
// gives what `take` gives, or False where the place has to be asked. direct: None, or (nest,
// outputs, warn, guard, failures, allows), which the gate runs by itself where it can; failures:
// None, or (which result counts them, whether errors of floats are some, values stored to).
// Nothing: all are forgotten.
PyObject* remember(PyObject* object, PyObject* const* values, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    Gate& gate = gate_of(object);
    if (count != 5) {
      const auto forgotten = std::exchange(gate.remembered, {});
      Py_RETURN_NONE;
    }
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    checked_status(PyBytes_AsStringAndSize(values[0], &bytes, &size));
    auto one = std::make_shared<Remembered>();
    one->signature.assign(bytes, static_cast<std::size_t>(size));
    one->resume = Ref::borrow(values[1]);
    // Those that ran with other functions, say, hold for what these were.
    std::vector<std::shared_ptr<const Remembered>> forgotten;
    if (!is_same_known(gate.known.get(), values[2]) ||
        !is_same_absent(gate.absent.get(), values[3]))
      forgotten = std::exchange(gate.remembered, {});
    gate.known = Ref::borrow(values[2]);
    gate.absent = Ref::borrow(values[3]);
    if (values[4] != Py_None) {
      const auto part = [&](Py_ssize_t k) {
        PyObject* value = PyTuple_GET_ITEM(values[4], k);
        return value != Py_None ? Ref::borrow(value) : Ref();
      };
      one->direct = {.nest = part(0),
                     .outputs = part(1),
                     .warn = part(2),
                     .allows = part(5),
                     .guard = part(3),
                     .failures = failures_of(PyTuple_GET_ITEM(values[4], 4))};
    }
    gate.remember(std::move(one));
    Py_RETURN_NONE;
  });
}

PyObject* stop(PyObject* object, PyObject*) {
  return guarded([&]() -> PyObject* {
    Gate& gate = gate_of(object);
    if (gate.depth > 0) gate.end();
    if (gate.depth == 0) set_clock(gate, Py_None);
    Py_RETURN_NONE;
  });
}

PyObject* runs(PyObject* object, PyObject*) { return PyLong_FromLongLong(gate_of(object).runs); }

PyObject* note_translated(PyObject* object, PyObject*) {
  gate_of(object).pace.set_translated();
  Py_RETURN_NONE;
}

}  // namespace

void make_gate_type(PyObject* module) {
  static PyMethodDef methods[] = {
      {"take", as_c_function(take), METH_FASTCALL,
       "Runs a call with these values, if it is to run compiled: what the place's `take` gives."},
      {"rest", rest, METH_O,
       "Runs the first of these rounds, if they are to run compiled: what is left."},
      {"verdict", as_c_function(verdict), METH_FASTCALL,
       "Whether a call with these values runs compiled: a number of LoopPace::Verdict."},
      {"guess", as_c_function(guess), METH_FASTCALL,
       "About how many seconds the loop takes as Python; None: who knows."},
      {"latest", latest, METH_NOARGS, "The latest verdict; 0: the place has another reason."},
      {"remember", as_c_function(remember), METH_FASTCALL,
       "What runs calls like the latest; nothing: forget all."},
      {"stop", stop, METH_NOARGS, "The loop has run as Python."},
      {"runs", runs, METH_NOARGS, "How many calls ran without Python."},
      {"note_translated", note_translated, METH_NOARGS, "The loop has a translation."},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(construct)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"frit._core.LoopGate", sizeof(GateObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  const Ref type = checked(PyType_FromSpec(&spec));
  checked_status(PyModule_AddObjectRef(module, "LoopGate", type.get()));
}

}  // namespace frit::python
