// stoppable.cpp: the main thread waits for work, and looks for signals.
#include "python/stoppable.h"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <system_error>

#include "engine/stoppable_run.h"
#include "front/common.h"
#include "python/python.h"

namespace frit::python {
namespace {

constexpr std::chrono::milliseconds between_looks(20);

// Held for ever.
PyObject* item_of(const char* module, const char* name) {
  const Ref found = checked(PyImport_ImportModule(module));
  return checked(PyObject_GetAttrString(found.get(), name)).release();
}

// Python has no public function that tells.
bool is_main_thread() {
  static PyObject* const main_thread = item_of("threading", "main_thread");
  static PyObject* const name = checked(PyUnicode_InternFromString("ident")).release();
  const Ref main = checked(PyObject_CallNoArgs(main_thread));
  const Ref ident = checked(PyObject_GetAttr(main.get(), name));
  return PyLong_AsUnsignedLong(ident.get()) == PyThread_get_thread_ident();
}

bool control_c_raises() {
  static PyObject* const getsignal = item_of("_signal", "getsignal");
  static PyObject* const interrupt = item_of("_signal", "SIGINT");
  static PyObject* const raising = item_of("_signal", "default_int_handler");
  const Ref handler = checked(PyObject_CallOneArg(getsignal, interrupt));
  return handler.get() == raising;
}

bool has_handler(int number) {
  struct sigaction now;
  if (sigaction(number, nullptr, &now) != 0) return false;
  const bool has_info = (now.sa_flags & SA_SIGINFO) != 0;
  return has_info || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
}

std::atomic<unsigned long> runner = 0;  // the thread that runs a nest; 0: none

thread_local int waiting_here = 0;
struct Waiting {
  Waiting() { ++waiting_here; }
  ~Waiting() { --waiting_here; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

}  // namespace

bool is_in_stoppable() { return waiting_here > 0; }

RunsNest::RunsNest() { runner.store(PyThread_get_thread_ident(), std::memory_order_relaxed); }
RunsNest::~RunsNest() { runner.store(0, std::memory_order_relaxed); }
bool another_thread_runs_a_nest() {
  const unsigned long found = runner.load(std::memory_order_relaxed);
  return found != 0 && found != PyThread_get_thread_ident();
}

HeardSignals signals_heard_here() {
  static PyObject* const name = checked(PyUnicode_InternFromString("signal")).release();
  static PyObject* const modules = PyImport_GetModuleDict();
  if (!is_main_thread()) return HeardSignals::None;
  const bool raises = control_c_raises();
  const int is_loaded = PyDict_Contains(modules, name);  // no handler is set without it
  checked_status(is_loaded);
  if (is_loaded != 0)
    for (const int number :
         {SIGINT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGVTALRM, SIGPROF, SIGQUIT})
      if (has_handler(number) && (number != SIGINT || !raises)) return HeardSignals::Several;
  return raises ? HeardSignals::ControlC : HeardSignals::None;
}

void raise_for_control_c() {
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw PythonError();
}

void let_others_run_while_waiting() {
  EngineLock::set_waiter([](void (*wait)(void*), void* context) {
    // Where Python does not check, it says that every thread has the GIL.
    const bool has_gil = Py_IsInitialized() != 0 && PyGILState_GetThisThreadState() != nullptr &&
                         PyGILState_Check() != 0;
    std::optional<WithoutGil> released;
    if (has_gil) released.emplace();
    wait(context);
  });
}

void run_stoppable(const std::function<void()>& work) {
  std::optional<StoppableRun> run;
  try {
    if (is_main_thread()) run.emplace(work);
  } catch (const std::system_error&) {  // there are no more threads
  }
  if (!run) {
    const WithoutGil released;
    if (run_elsewhere(work)) return;
    wait_for_the_end_of_the_process();  // nobody may see how far it got
  }
  const Waiting waiting;
  for (bool has_ended = false; !has_ended;) {
    {
      const WithoutGil released;
      has_ended = run->has_ended_after(between_looks);
    }
    if (has_ended || PyErr_CheckSignals() == 0) continue;
    {
      const WithoutGil released;
      run->stop();
    }
    throw PythonError();
  }
  run->throw_error();
}

}  // namespace frit::python
