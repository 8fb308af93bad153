// float_state.cpp: looks up NumPy's errstate and Python's warning filters when they have changed.
//
// StateChange(original, leaving=False): a function that changes the state, as NumPy or `warnings`
// has it: pending work is computed before the call, and the state forgotten after it. Leaving, the
// old state comes back even where pending work raises.
#include "python/float_state.h"

#include <structmember.h>

#include <algorithm>
#include <optional>

#include "front/common.h"
#include "python/fallback.h"
#include "python/numpy_api.h"
#include "python/objects.h"

namespace frit::python {

std::atomic<int> forgotten_float_states = 0;
std::atomic<int> states_with_underflow = 0;
bool float_errors_are_immediate = false;

namespace {

struct ThreadState {
  FloatState state;
  FloatState modes;  // NumPy's, which the filters have made the state of
  bool is_known = true;
  void become_known() {
    if (!std::exchange(is_known, true)) --forgotten_float_states;
  }
  void become_unknown() {
    if (std::exchange(is_known, false)) ++forgotten_float_states;
  }
  void become(const FloatState& next, const FloatState& setting) {
    states_with_underflow += tells_underflow(next) - tells_underflow(state);
    state = next;
    modes = setting;
    become_known();
  }
  static int tells_underflow(const FloatState& s) { return s.under != FloatMode::Ignore ? 1 : 0; }
  ~ThreadState() { become({}, {}); }
};
thread_local ThreadState thread_state;

// NumPy's objects: the context variable, and the function that tells what is in it.
PyObject* setting_variable = nullptr;
PyObject* read_setting = nullptr;
// How warnings were shown when Frit was imported.
PyObject* warnings_module = nullptr;
PyObject* usual_show = nullptr;
PyObject* usual_showwarning = nullptr;

// What the context variable held when a state was left, and what it stands for: programs enter
// states and come back to this one. Held, so that no other object has its address.
struct Kept {
  PyObject* setting = nullptr;
  FloatState modes;
} kept;

Ref current_setting() {
  PyObject* setting = nullptr;
  if (PyContextVar_Get(setting_variable, nullptr, &setting) < 0) throw PythonError{};
  return Ref::steal(setting);
}

FloatMode mode_of_word(PyObject* settings, const char* kind) {
  PyObject* word = PyDict_GetItemString(settings, kind);
  if (!word || !PyUnicode_Check(word)) return FloatMode::Warn;
  static constexpr std::pair<const char*, FloatMode> words[] = {
      {"ignore", FloatMode::Ignore}, {"warn", FloatMode::Warn},   {"raise", FloatMode::Raise},
      {"call", FloatMode::Call},     {"print", FloatMode::Print}, {"log", FloatMode::Log}};
  for (const auto& [text, mode] : words)
    if (PyUnicode_CompareWithASCIIString(word, text) == 0) return mode;
  return FloatMode::Warn;
}

bool is_same(const FloatState& a, const FloatState& b) {
  return a.divide == b.divide && a.over == b.over && a.under == b.under && a.invalid == b.invalid;
}

// The modes as NumPy 2 keeps them: three bits a kind, in an int at the beginning of a capsule.
std::optional<FloatState> modes_in_capsule(PyObject* setting) {
  constexpr const char* name = "numpy.ufunc.extobj";
  if (!PyCapsule_IsValid(setting, name)) return std::nullopt;
  const auto mask = *static_cast<const unsigned*>(PyCapsule_GetPointer(setting, name));
  const auto mode = [mask](int kind) { return mask >> (3 * kind) & 7u; };
  constexpr auto last = static_cast<unsigned>(FloatMode::Log);
  for (int kind = 0; kind < 4; ++kind)
    if (mode(kind) > last || mask >> 12 != 0) return std::nullopt;
  return FloatState{.divide = static_cast<FloatMode>(mode(0)),
                    .over = static_cast<FloatMode>(mode(1)),
                    .under = static_cast<FloatMode>(mode(2)),
                    .invalid = static_cast<FloatMode>(mode(3))};
}
bool capsule_tells = false;  // this NumPy's capsules were found to be such

FloatState modes_of_setting(PyObject* setting) {
  if (setting == kept.setting) return kept.modes;
  if (capsule_tells)
    if (const std::optional<FloatState> modes = modes_in_capsule(setting)) return *modes;
  const Ref settings = checked(PyObject_CallNoArgs(read_setting));
  return {.divide = mode_of_word(settings.get(), "divide"),
          .over = mode_of_word(settings.get(), "over"),
          .under = mode_of_word(settings.get(), "under"),
          .invalid = mode_of_word(settings.get(), "invalid")};
}

// At once: to ask the module for it goes through its type.
Ref warnings_attribute(const char* name, PyObject*& interned) {
  if (!interned) interned = checked(PyUnicode_InternFromString(name)).release();
  if (PyObject* own = PyDict_GetItemWithError(PyModule_GetDict(warnings_module), interned))
    return Ref::borrow(own);
  return checked(PyObject_GetAttr(warnings_module, interned));
}

// (action, message, category, module, line)
struct Filter {
  PyObject* tuple;
  PyObject* part(Py_ssize_t k) const { return PyTuple_GET_ITEM(tuple, k); }
  bool acts_as(const char* action) const {
    return PyUnicode_Check(part(0)) && PyUnicode_CompareWithASCIIString(part(0), action) == 0;
  }
  bool covers_ours() const {
    const int covers = PyObject_IsSubclass(PyExc_RuntimeWarning, part(2));
    if (covers < 0) throw PythonError{};
    return covers != 0;
  }
  // Whatever a warning says, and wherever it is given.
  bool is_for_all() const {
    return part(1) == Py_None && part(3) == Py_None && PyLong_Check(part(4)) &&
           PyObject_Not(part(4)) == 1;
  }
};

std::optional<Filter> filter_at(PyObject* filters, Py_ssize_t k) {
  PyObject* filter = PyList_GET_ITEM(filters, k);
  if (!PyTuple_Check(filter) || PyTuple_GET_SIZE(filter) != 5) return std::nullopt;
  return Filter{filter};
}

bool filters_may_raise(PyObject* filters) {
  if (!PyList_Check(filters)) return true;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(filters); ++k) {
    const std::optional<Filter> filter = filter_at(filters, k);
    if (!filter || (filter->acts_as("error") && filter->covers_ours())) return true;
  }
  return false;
}

// No RuntimeWarning is told, so that nobody needs to know which there would be. Filters that ignore
// some warnings (as NumPy's own, of sizes of types) may come first.
bool filters_ignore_all(PyObject* filters) {
  for (Py_ssize_t k = 0; PyList_Check(filters) && k < PyList_GET_SIZE(filters); ++k) {
    const std::optional<Filter> filter = filter_at(filters, k);
    if (!filter) return false;
    if (!filter->covers_ours()) continue;
    if (!filter->acts_as("ignore")) return false;
    if (filter->is_for_all()) return true;
  }
  return false;
}

// What the filters were found to mean. `warnings` changes them by another list, another first one
// or another number of them. Held, so that no other object has its address.
struct SeenFilters {
  PyObject* list = nullptr;
  PyObject* first = nullptr;
  Py_ssize_t count = 0;
  bool may_raise = false;
  bool ignore_all = false;
} seen;

const SeenFilters& current_filters() {
  static PyObject* name = nullptr;
  Ref list = warnings_attribute("filters", name);
  const Py_ssize_t count = PyList_Check(list.get()) ? PyList_GET_SIZE(list.get()) : 0;
  Ref first = Ref::borrow(count > 0 ? PyList_GET_ITEM(list.get(), 0) : nullptr);
  if (list.get() == seen.list && first.get() == seen.first && count == seen.count) return seen;
  const bool may_raise = filters_may_raise(list.get()), ignore_all = filters_ignore_all(list.get());
  const SeenFilters before =
      std::exchange(seen, {list.release(), first.release(), count, may_raise, ignore_all});
  Py_XDECREF(before.list);
  Py_XDECREF(before.first);
  return seen;
}

// A RuntimeWarning would raise or be recorded rather than printed.
bool filters_may_act() {
  static PyObject *show = nullptr, *showwarning = nullptr;
  if (warnings_attribute("_showwarnmsg_impl", show).get() != usual_show ||
      warnings_attribute("showwarning", showwarning).get() != usual_showwarning)
    return true;
  return current_filters().may_raise;
}

void set_state(const FloatState& state, const FloatState& setting) {
  unsigned checks = 0;
  for (const auto& [mode, error] :
       {std::pair(state.divide, FloatError::DivideByZero),
        std::pair(state.over, FloatError::Overflow), std::pair(state.under, FloatError::Underflow),
        std::pair(state.invalid, FloatError::Invalid)})
    if (mode != FloatMode::Ignore) checks |= static_cast<unsigned>(error);
  thread_state.become(state, setting);
  float_errors_are_immediate = state.immediate;
  set_float_checks(checks);
}

void look_up() {
  const Ref setting = current_setting();
  const FloatState modes_set = modes_of_setting(setting.get());
  FloatState state = modes_set;
  if (current_filters().ignore_all)
    for (FloatMode* mode : {&state.divide, &state.over, &state.under, &state.invalid})
      if (*mode == FloatMode::Warn) *mode = FloatMode::Ignore;
  const auto modes = {state.divide, state.over, state.under, state.invalid};
  state.immediate = std::ranges::max(modes) > FloatMode::Warn ||
                    (std::ranges::max(modes) == FloatMode::Warn && filters_may_act());
  set_state(state, modes_set);
}

// The state that was just come back to is kept in mind.
void keep_setting() {
  Ref setting = current_setting();
  if (setting.get() == kept.setting) return;
  const FloatState modes = modes_of_setting(setting.get());
  PyObject* before = std::exchange(kept.setting, setting.release());
  kept.modes = modes;
  Py_XDECREF(before);
}

// ---- StateChange --------------------------------------------------------------------------------

struct StateChangeObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* dictionary;
  PyObject* original;
  bool is_leaving;
};
PyTypeObject* state_change_type = nullptr;

StateChangeObject& change_of(PyObject* object) {
  return *reinterpret_cast<StateChangeObject*>(object);
}

void compute_pending() {
  if (has_pending() || has_float_warnings()) run_all();
}

PyObject* call_change(PyObject* object, PyObject* const* values, std::size_t count,
                      PyObject* names) {
  const StateChangeObject& self = change_of(object);
  const auto original = [&] {
    Ref result = Ref::steal(PyObject_Vectorcall(self.original, values, count, names));
    forget_float_state();
    return result;
  };
  return guarded([&] {
    if (!self.is_leaving) {
      compute_pending();
      return checked(original().release()).release();
    }
    try {
      compute_pending();
    } catch (...) {
      set_error_from_exception();
      PyObject *type, *value, *traceback;
      PyErr_Fetch(&type, &value, &traceback);
      const Ref result = original();
      if (result)
        PyErr_Restore(type, value, traceback);
      else
        for (PyObject* part : {type, value, traceback}) Py_XDECREF(part);
      throw PythonError{};
    }
    const Ref result = checked(original().release());
    keep_setting();
    return Py_NewRef(result.get());
  });
}

PyObject* construct(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"original", "leaving", nullptr};
  PyObject* original = nullptr;
  int leaving = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|p", const_cast<char**>(names), &original,
                                   &leaving))
    return nullptr;
  return guarded([&] {
    Ref object = checked(state_change_type->tp_alloc(state_change_type, 0));
    StateChangeObject& self = change_of(object.get());
    self.call = call_change;
    self.original = Py_NewRef(original);
    self.dictionary = checked(PyDict_New()).release();
    self.is_leaving = leaving != 0;
    return object.release();
  });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(as_object(Py_TYPE(object)));
  Py_VISIT(change_of(object).original);
  Py_VISIT(change_of(object).dictionary);
  return 0;
}
int clear(PyObject* object) {
  Py_CLEAR(change_of(object).dictionary);
  return 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  Py_XDECREF(change_of(object).original);
  Py_XDECREF(change_of(object).dictionary);
  free_object(object);
}
PyObject* bind(PyObject* object, PyObject* instance, PyObject*) {
  return instance && instance != Py_None ? PyMethod_New(object, instance) : Py_NewRef(object);
}

// ---- contexts -----------------------------------------------------------------------------------

// Another context may hold another state. A task of asyncio runs in its own each time.
void meet_context() {
  if (!thread_state.is_known) return;
  if (is_same(modes_of_setting(current_setting().get()), thread_state.modes)) return;
  compute_pending();
  forget_float_state();
}

PyObject* call_inside(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    meet_context();
    return checked(PyObject_Vectorcall(values[0], values + 1, static_cast<std::size_t>(count - 1),
                                       names))
        .release();
  });
}

_PyCFunctionFastWithKeywords pythons_run = nullptr;

// contextvars.Context.run(function, ...)
PyObject* run_in_context(PyObject* context, PyObject* const* values, Py_ssize_t count,
                         PyObject* names) {
  static PyMethodDef row = {"run", as_c_function(call_inside), METH_FASTCALL | METH_KEYWORDS,
                            nullptr};
  static PyObject* const inside = PyCFunction_New(&row, nullptr);
  if (count == 0 || !inside) return pythons_run(context, values, count, names);
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  ArgumentRoom room(all + 1);
  room.values()[0] = inside;
  std::copy(values, values + all, room.values() + 1);
  Ref result = Ref::steal(pythons_run(context, room.values(), count + 1, names));
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const Ref met = Ref::steal(guarded([] {
    meet_context();
    return Py_NewRef(Py_None);
  }));
  if (!met && !type) return nullptr;
  PyErr_Restore(type, value, traceback);
  return result.release();
}

PyObject* attribute_or_null(PyObject* module, const char* name) {
  PyObject* found = PyObject_GetAttrString(module, name);
  if (!found) PyErr_Clear();
  return found;
}

}  // namespace

const FloatState& float_state() { return thread_state.state; }

void forget_float_state() {
  thread_state.become_unknown();
  float_errors_are_immediate = true;  // until it is looked up, whatever finds an error looks
}

void look_up_float_state() noexcept {
  if (thread_state.is_known) return;
  PyObject *type, *value, *traceback;  // an error that is on its way
  PyErr_Fetch(&type, &value, &traceback);
  try {
    look_up();
  } catch (...) {
    PyErr_Clear();
  }
  PyErr_Restore(type, value, traceback);
}

void let_float_errors_come_late() { set_state({}, {}); }

bool float_errors_may_stop() {
  const FloatState modes = modes_of_setting(current_setting().get());
  return modes.under != FloatMode::Ignore ||
         std::ranges::max({modes.divide, modes.over, modes.invalid}) > FloatMode::Warn ||
         current_filters().may_raise;
}

bool float_errors_are_told() {
  const FloatState modes = modes_of_setting(current_setting().get());
  return std::ranges::max({modes.divide, modes.over, modes.invalid}) != FloatMode::Ignore &&
         !current_filters().ignore_all;
}

void make_state_change_type(PyObject* module) {
  warnings_module = checked(PyImport_ImportModule("warnings")).release();
  const Ref core = checked(PyImport_ImportModule("numpy._core._multiarray_umath"));
  setting_variable = checked(PyObject_GetAttrString(core.get(), "_extobj_contextvar")).release();
  read_setting = checked(PyObject_GetAttrString(core.get(), "_get_extobj_dict")).release();
  const Ref setting = current_setting();
  const std::optional<FloatState> modes = modes_in_capsule(setting.get());
  capsule_tells = modes && is_same(*modes, modes_of_setting(setting.get())) &&
                  !is_same(*modes, {FloatMode::Ignore, FloatMode::Ignore, FloatMode::Ignore,
                                    FloatMode::Ignore});
  const Ref contexts = checked(PyImport_ImportModule("contextvars"));
  const Ref context = checked(PyObject_GetAttrString(contexts.get(), "Context"));
  pythons_run =
      put_in_front(checked(PyObject_GetAttrString(context.get(), "run")).get(), run_in_context);
  usual_show = attribute_or_null(warnings_module, "_showwarnmsg_impl");
  usual_showwarning = attribute_or_null(warnings_module, "showwarning");

  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(StateChangeObject, call), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(StateChangeObject, dictionary), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(construct)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                         {Py_tp_members, members},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"frit._core.StateChange", sizeof(StateChangeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_METHOD_DESCRIPTOR,
                      slots};
  state_change_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  checked_status(PyModule_AddObjectRef(module, "StateChange", as_object(state_change_type)));
}

}  // namespace frit::python
