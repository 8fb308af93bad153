// values.cpp: evaluating, and the floating-point warnings that come of it.
#include <algorithm>

#include "python/float_state.h"
#include "python/numpy_api.h"
#include "python/objects.h"
#include "python/source.h"

namespace frit::python {

namespace {

PyObject* float_handler = nullptr;

const char* words_of(FloatError error) {
  switch (error) {
    case FloatError::DivideByZero:
      return "divide by zero";
    case FloatError::Overflow:
      return "overflow";
    case FloatError::Underflow:
      return "underflow";
    case FloatError::Invalid:
      return "invalid value";
  }
  return "";
}

// NumPy's name of the kind of error, as errstate takes it.
const char* kind_of(FloatError error) {
  switch (error) {
    case FloatError::DivideByZero:
      return "divide";
    case FloatError::Overflow:
      return "over";
    case FloatError::Underflow:
      return "under";
    case FloatError::Invalid:
      return "invalid";
  }
  return "";
}

FloatMode mode_of(FloatError error) {
  const FloatState& state = float_state();
  switch (error) {
    case FloatError::DivideByZero:
      return state.divide;
    case FloatError::Overflow:
      return state.over;
    case FloatError::Underflow:
      return state.under;
    case FloatError::Invalid:
      return state.invalid;
  }
  return FloatMode::Ignore;
}

// NumPy's own name of the ufunc, as its messages have it.
std::string_view name_of(const FloatWarning& warning) {
  if (warning.source.ufunc) return warning.source.ufunc;
  if (warning.reduction) return "reduce";
  const std::string_view name = info(warning.op).numpy_name;
  return name.empty() ? "cast" : name;  // the only op without a ufunc that may warn is a conversion
}

bool is_of_one_call(const FloatWarning& a, const FloatWarning& b) {
  return a.source.code == b.source.code && a.source.instruction == b.source.instruction &&
         a.source.step == b.source.step && a.source.inner == b.source.inner &&
         name_of(a) == name_of(b);
}

// The registry in which `warnings` notes what it has shown of this file.
Ref registry_of(const SourceLine& line, Ref& module_name) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject *key, *module;
  Py_ssize_t position = 0;
  const Ref wanted = checked(PyUnicode_FromString(line.filename.c_str()));
  while (PyDict_Next(modules, &position, &key, &module)) {
    if (!PyModule_Check(module)) continue;
    PyObject* globals = PyModule_GetDict(module);
    PyObject* file = PyDict_GetItemString(globals, "__file__");
    if (!file || !PyUnicode_Check(file) || PyUnicode_Compare(file, wanted.get()) != 0) continue;
    module_name = Ref::borrow(PyDict_GetItemString(globals, "__name__"));
    PyObject* registry = PyDict_GetItemString(globals, "__warningregistry__");
    if (registry) return Ref::borrow(registry);
    Ref fresh = checked(PyDict_New());
    checked_status(PyDict_SetItemString(globals, "__warningregistry__", fresh.get()));
    return fresh;
  }
  // Code without a module (exec, an interactive line): one registry a file.
  static PyObject* registries = checked(PyDict_New()).release();
  PyObject* registry = PyDict_GetItem(registries, wanted.get());
  if (registry) return Ref::borrow(registry);
  Ref fresh = checked(PyDict_New());
  checked_status(PyDict_SetItem(registries, wanted.get(), fresh.get()));
  return fresh;
}

void warn(const FloatWarning& warning, const SourceLine& line, const char* name) {
  const Ref message =
      checked(PyUnicode_FromFormat("%s encountered in %s", words_of(warning.error), name));
  const Ref file =
      checked(PyUnicode_FromString(line.filename.empty() ? "sys" : line.filename.c_str()));
  Ref module_name;
  const Ref registry = registry_of(line, module_name);
  checked_status(PyErr_WarnExplicitObject(PyExc_RuntimeWarning, message.get(), file.get(),
                                          line.line > 0 ? line.line : 1, module_name.get(),
                                          registry.get()));
}

// `raised`: all errors of its call, as bits.
void handle(const FloatWarning& warning, unsigned raised) {
  const FloatMode mode = mode_of(warning.error);
  if (mode == FloatMode::Ignore) return;
  const char* name = name_of(warning).data();
  if (mode == FloatMode::Raise)
    raise(PyExc_FloatingPointError, "%s encountered in %s", words_of(warning.error), name);
  const SourceLine line = resolve_source(warning.source);
  if (mode == FloatMode::Warn) return warn(warning, line, name);
  if (!float_handler) return;
  checked(PyObject_CallFunction(float_handler, "ssiI", kind_of(warning.error), name,
                                static_cast<int>(mode), raised));
}

}  // namespace

void set_float_handler(PyObject* handler) { Py_XSETREF(float_handler, Py_NewRef(handler)); }

void issue_float_warnings() {
  // An error that the caller is about to report comes first.
  if (PyErr_Occurred()) return;
  // Then nobody needs to know the state, which NumPy's functions change all the time.
  if (!has_pending() && !has_float_warnings()) return;
  know_float_state();
  if (float_errors_are_immediate && has_pending()) {
    try {
      eval();
    } catch (const std::bad_alloc&) {  // of what somebody will read
    }
  }
  const std::vector<FloatWarning> warnings = take_float_warnings();
  for (auto first = warnings.begin(); first != warnings.end(); ++first) {
    const auto is_of_this_call = [&](const FloatWarning& w) { return is_of_one_call(w, *first); };
    if (std::any_of(warnings.begin(), first, is_of_this_call)) continue;
    unsigned raised = 0;
    for (const FloatWarning& w : warnings)
      if (is_of_this_call(w)) raised |= static_cast<unsigned>(w.error);
    // In NumPy's order; what both parts of a composite ufunc found, once.
    for (FloatError error : {FloatError::DivideByZero, FloatError::Overflow, FloatError::Invalid})
      if (raised & static_cast<unsigned>(error))
        handle({error, first->op, first->source, first->reduction}, raised);
  }
}

const std::byte* evaluate(const Array& array) {
  note_look();
  if (!is_ready(array)) {
    {
      WithoutGil released;
      eval(array);
    }
    settle_warnings();
    drain_released();
  }
  return array.base()->data + array.offset();
}

namespace {

void run_trace(void (*run)()) {
  note_look();
  const auto has_nodes = [] {
    const std::scoped_lock lock(Engine::lock());
    return Engine::get().has_nodes();
  };
  if (has_nodes()) {
    WithoutGil released;
    run();
  }
  settle_warnings();
  drain_released();
}

}  // namespace

void evaluate_all() {
  run_trace([] { eval(); });
}
void evaluate_recorded() {
  run_trace([] {
    const std::scoped_lock lock(Engine::lock());
    Engine::get().eval_recorded();
  });
}
void run_all() {
  run_trace([] { run_pending(); });
}

}  // namespace frit::python
