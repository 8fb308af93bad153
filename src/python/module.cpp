// module.cpp: the extension module frit._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/stoppable_run.h"
#include "ir/disk_store.h"
#include "python/class_statements.h"
#include "python/fallback.h"
#include "python/flags.h"
#include "python/flat.h"
#include "python/float_state.h"
#include "python/foreign_calls.h"
#include "python/functions.h"
#include "python/kernels.h"
#include "python/module_names.h"
#include "python/native.h"
#include "python/numbers.h"
#include "python/numpy_api.h"
#include "python/objects.h"
#include "python/protocols.h"
#include "python/receivers.h"
#include "python/source.h"
#include "python/stand_ins.h"
#include "python/stoppable.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace frit::python {
namespace {

// Our own errors are set already when they come this far.
template <class Function>
auto translated(Function&& function) {
  try {
    return function();
  } catch (const PythonError&) {
    throw nb::python_error();
  }
}

nb::dict statistics_as_dict() {
  const Statistics s = statistics();
  nb::dict d;
  d["recorded"] = s.recorded;
  d["immediate"] = s.immediate;
  d["evals"] = s.evals;
  d["eager"] = s.eager;
  d["plan_hits"] = s.plan_hits;
  d["plan_misses"] = s.plan_misses;
  d["interpreted_launches"] = s.interpreted_launches;
  d["device_launches"] = s.device_launches;
  d["bytes_uploaded"] = s.bytes_uploaded;
  d["bytes_downloaded"] = s.bytes_downloaded;
  d["compiled_launches"] = s.compiled_launches;
  d["swept_launches"] = s.swept_launches;
  d["calls"] = s.calls;
  d["numpy_calls"] = numpy_calls;
  d["kernels_compiled"] = s.kernels_compiled;
  d["kernels_loaded"] = s.kernels_loaded;
  d["kernels_failed"] = s.kernels_failed;
  d["compile_failure"] = s.compile_failure;
  d["bytes_live"] = s.bytes_live;
  d["bytes_peak"] = s.bytes_peak;
  d["bytes_cached"] = s.bytes_cached;
  d["eval_seconds"] = s.eval_seconds;
  d["plan_seconds"] = s.plan_seconds;
  d["compile_seconds"] = s.compile_seconds;
  return d;
}

template <class Value, std::size_t n>
Value value_called(const std::string& name, const std::pair<const char*, Value> (&names)[n],
                   const char* otherwise) {
  for (const auto& [known, value] : names)
    if (name == known) return value;
  throw nb::value_error(otherwise);
}

void set_tier_by_name(const std::string& name) {
  set_tier(value_called(name, tier_names,
                        "set_tier: 'automatic', 'eager', 'interpreter' or 'compiled'"));
}

const char* name_of_tier() {
  const std::scoped_lock lock(Engine::lock());
  const Tier tier = Engine::get().settings.tier;
  return std::ranges::find(tier_names, tier, &std::pair<const char*, Tier>::second)->first;
}

void set_fusion_by_name(const std::string& name) {
  set_fusion(value_called(name, fusion_names, "set_fusion: 'on', 'trace' or 'off'"));
}

void set_check_by_name(const std::string& name) {
  set_check(value_called(name, check_names, "set_check: 'auto' or 'bounds'"));
}

// Opening one takes some tenths of a second, and what is pending runs first.
void set_device_by_name(const std::string& name) {
  const DeviceKind kind =
      value_called(name, device_names, "set_device: 'cpu', 'cuda', 'auto' or 'emulated'");
  translated([&] {
    const nb::gil_scoped_release released;
    set_device(kind);
  });
}

const char* name_of_device() {
  const DeviceKind kind = device();
  return std::ranges::find(device_names, kind, &std::pair<const char*, DeviceKind>::second)->first;
}

const Array* array_behind(nb::handle object) {
  if (is_array(object.ptr())) return &array_of(object.ptr()).array;
  if (is_scalar(object.ptr())) return &scalar_of(object.ptr()).array;
  return nullptr;
}

struct Leaving {
  ~Leaving() { Py_LeaveRecursiveCall(); }
};

void eval_object(PyObject* object) {
  if (const Array* array = array_behind(object)) return static_cast<void>(evaluate(*array));
  if (!PyTuple_Check(object) && !PyList_Check(object)) return;
  if (Py_EnterRecursiveCall(" in frit.eval")) throw PythonError{};
  const Leaving leaving;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
    eval_object(Ref::borrow(PySequence_Fast_GET_ITEM(object, k)).get());
}

// Programs call it for each of their results, so it is bound without nanobind.
PyObject* eval_objects(PyObject*, PyObject* const* objects, Py_ssize_t count) {
  return guarded([&] {
    note_source();
    if (count == 0) evaluate_all();
    for (Py_ssize_t k = 0; k < count; ++k) eval_object(objects[k]);
    return Py_NewRef(Py_None);
  });
}

nb::tuple source_line(const SourceLine& line) {
  return nb::make_tuple(line.filename, line.line, line.function);
}

void set_hooks(nb::handle functions, nb::handle namespace_module, nb::handle float_handler,
               nb::handle stand_in) {
  if (!stand_in.is_none()) set_stand_in(stand_in.ptr());
  if (!functions.is_none()) set_functions(functions.ptr());
  if (!namespace_module.is_none()) set_namespace(namespace_module.ptr());
  if (!float_handler.is_none()) set_float_handler(float_handler.ptr());
}

bool has_other_threads() {
  return PyThreadState_Next(PyInterpreterState_ThreadHead(PyInterpreterState_Get())) != nullptr;
}

// At exit: memory that others own gets its last writes, then the compiler and the threads stop.
void shut_down() {
  if (has_other_threads()) nb::set_leak_warnings(false);  // daemons keep what they have
  end_runs_elsewhere();
  if (has_pending()) translated([] { run_all(); });
  forget_kernels();
  Engine::get().shutdown();
}

void add_functions(nb::module_& module, std::vector<PyMethodDef> rows) {
  checked_status(PyModule_AddFunctions(module.ptr(), kept_table(std::move(rows))));
}

void add_types(nb::module_& module) {
  import_numpy();
  make_export_type();
  make_flags_type();
  make_fallback_types(module.ptr());
  make_native_type(module.ptr());
  make_stand_in_type(module.ptr());
  make_derived_metaclass_type();
  make_ufunc_type(module.ptr());
  make_flat_type();
  make_array_type(module.ptr());
  make_scalar_type(module.ptr());
  construct_numpy_types_from_values();
  give_readers_real_arrays("numpy");
  add_functions(module, creation_functions());
  add_functions(module, array_functions());
  add_functions(module, receiver_functions());
  add_functions(module, class_functions());
  add_functions(module, foreign_call_functions());
  add_functions(module, module_name_functions());
  nb::module_ shortcuts = module.def_submodule("shortcuts");
  for (const auto& rows :
       {creation_shortcuts(),   array_shortcuts(),    reduction_shortcuts(), joining_shortcuts(),
        plain_shortcuts(),      linear_shortcuts(),   matrix_shortcuts(),    index_shortcuts(),
        part_shortcuts(),       callback_shortcuts(), close_shortcuts(),     formula_shortcuts(),
        einsum_shortcuts(),     view_shortcuts(),     sorting_shortcuts(),   unique_shortcuts(),
        histogram_shortcuts(),  quantile_shortcuts(), question_shortcuts(),  receiver_shortcuts(),
        correlation_shortcuts()})
    add_functions(shortcuts, rows);
  make_kernel_types(module.ptr());
  make_state_change_type(module.ptr());
  forget_float_state();
}

void add_engine(nb::module_& m) {
  add_functions(m,
                {{"eval", as_c_function(eval_objects), METH_FASTCALL,
                  "eval(*arrays)\n--\n\n"
                  "Computes what is pending: all of it, or at least what the given arrays need.\n\n"
                  "Looks into tuples and lists; what is no array of Frit is left alone.\n"
                  "Errors: MemoryError; where np.errstate asks for it, FloatingPointError."}});
  m.def(
      "is_pending",
      [](nb::handle object) {
        const Array* array = array_behind(object);
        return array && is_pending(*array);
      },
      "array"_a, "Whether something recorded still has to write the array.");
  m.def(
      "is_exported",
      [](nb::handle object) {
        const Array* array = array_behind(object);
        return array && is_exported(*array);
      },
      "array"_a, "Whether others can see the array's memory, so that all work on it is immediate.");
  m.def(
      "has_pending",
      [] { return !is_in_stoppable() && !another_thread_runs_a_nest() && has_pending(); },
      "Whether anything is recorded and not computed, that could be computed now.");
  m.def(
      "run_pending", [] { translated([] { run_all(); }); },
      "Computes what is pending, but stores no large array that nobody is foreseen to read.");
  m.def(
      "finish",
      [] {
        if (!is_running_elsewhere() && has_pending()) translated([] { run_all(); });
      },
      "Computes what is pending, when the program has ended but for its threads.");
  m.def(
      "explain", [](nb::handle) { return explain(); }, "array"_a = nb::none());
  m.def(
      "explain_dot", [](nb::handle) { return explain_dot(); }, "array"_a = nb::none());
  m.def("statistics", statistics_as_dict);
  m.def("reset_statistics", [] {
    reset_statistics();
    numpy_calls = 0;
  });
  m.def("threads", threads);
  m.def(
      "hold_engine", [] { Engine::lock().lock(); },
      "Before a fork: nobody else records meanwhile.");
  m.def("let_engine_go", [] { Engine::lock().unlock(); });
  m.def("set_threads", set_threads, "n"_a);
  m.def(
      "set_lazy",
      [](bool lazy) {
        nb::gil_scoped_release released;
        set_lazy(lazy);
      },
      "lazy"_a);
  m.def("set_tier", set_tier_by_name, "tier"_a);
  m.def("tier", name_of_tier);
  m.def("set_fusion", set_fusion_by_name, "fusion"_a);
  m.def("set_check", set_check_by_name, "check"_a);
  m.def("set_device", set_device_by_name, "name"_a);
  m.def("device", name_of_device);
  m.def(
      "set_device_cost",
      [](double nanoseconds) {
        const std::scoped_lock lock(Engine::lock());
        return std::exchange(Engine::get().settings.device_cost, nanoseconds);
      },
      "nanoseconds"_a,
      "What a launch has to take on one core for a device to get it, if its arrays aren't there. "
      "Negative: it gets whatever can run there.");
  m.def("device_description", device_description);
  m.def(
      "synchronize",
      [] {
        translated([] {
          run_all();
          const nb::gil_scoped_release released;
          synchronize();
        });
      },
      "Computes what is pending, and waits until a device has done it; results stay there.");
  m.def("wait_for_compiler", wait_for_compiler, nb::call_guard<nb::gil_scoped_release>());
  m.def("flush_caches", flush_caches);
  m.def("drain_released", drain_released);
}

// For tests of what else never happens, or only to large arrays.
void add_limit(nb::module_& m, const char* name, std::int64_t Settings::*limit,
               const char* documentation) {
  m.def(
      name,
      [limit](std::int64_t n) {
        const std::scoped_lock lock(Engine::lock());
        return std::exchange(Engine::get().settings.*limit, n);
      },
      "n"_a, documentation);
}

void add_test_hooks(nb::module_& m) {
  m.def("let_float_errors_come_late", let_float_errors_come_late,
        "NumPy's default state in this thread, as if no filter might act: a test runner's do.");
  m.def(
      "fail_allocation",
      [](std::int64_t n) {
        const std::scoped_lock lock(Engine::lock());
        memory::fail_after(n);
      },
      "n"_a, "Lets the n-th allocation of an array's memory from now on fail; 0: none.");
  add_limit(m, "set_immediate_bytes", &Settings::immediate_bytes,
            "Results of up to n bytes are computed at once where their inputs are ready. Gives "
            "back what it was.");
  add_limit(m, "set_postponed_bytes", &Settings::postponed_bytes,
            "What is made of numbers alone is stored when it is read twice, from n bytes on. Gives "
            "back what it was.");
  add_limit(m, "set_unread_bytes", &Settings::unread_bytes,
            "What nobody is foreseen to read is not stored, from n bytes on. Gives back what it "
            "was.");
  add_limit(m, "set_sweep_shift", &Settings::sweep_shift,
            "Launches that may go over their arrays together do, at most n rows apart, whatever "
            "they gain; 0: where it pays. Plans that are known stay (flush_caches). Gives back "
            "what it was.");
  m.def("kernel_folder", &store_folder_from_environment,
        "Where compiled kernels are kept; empty: nowhere.");
  m.def(
      "set_part_cost",
      [](double nanoseconds) {
        const std::scoped_lock lock(Engine::lock());
        return std::exchange(Engine::get().settings.part_cost, nanoseconds);
      },
      "nanoseconds"_a,
      "Work that is worth handing to another thread, for bench/loops.py. Gives back what it was.");
}

void add_door(nb::module_& m) {
  m.def(
      "fallbacks", [] { return nb::steal(translated(fallback_records)); },
      "The fallbacks so far: (name, filename, line, count, reason).");
  m.def("reset_fallbacks", reset_fallback_records);
  m.def(
      "set_fallback_mode",
      [](nb::handle mode, nb::handle error_class, nb::handle warning_class) {
        translated([&] { set_fallback_mode(mode.ptr(), error_class.ptr(), warning_class.ptr()); });
      },
      "mode"_a, "error_class"_a = nb::none(), "warning_class"_a = nb::none());
  m.def("forget_float_state", forget_float_state,
        "NumPy's errstate or the warning filters may have changed in this thread.");
  m.def("watch_ndarray_operators", watch_ndarray_operators,
        "NumPy's arrays know Frit's as right operands of their operators from now on.");
  m.def("unwatch_ndarray_operators", unwatch_ndarray_operators,
        "Undoes watch_ndarray_operators().");
  m.def("set_hooks", set_hooks, nb::kw_only(), "functions"_a = nb::none(),
        "namespace"_a = nb::none(), "float_handler"_a = nb::none(), "stand_in"_a = nb::none());
  m.def(
      "set_package_folders",
      [](std::vector<std::string> folders) { set_package_folders(std::move(folders)); },
      "folders"_a);
  m.def(
      "current_source", [] { return source_line(resolve_source(current_source())); },
      "Filename, line and function of the user's code that is running.");
}

}  // namespace
}  // namespace frit::python

NB_MODULE(_core, module) {
  using namespace frit::python;
  module.doc() = "Frit's arrays, scalars and ufuncs, and the switches of its engine.";
  try {
    add_types(module);
  } catch (const PythonError&) {
    throw nb::python_error();
  }
  add_engine(module);
  add_door(module);
  add_test_hooks(module);
  let_others_run_while_waiting();
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(shut_down));
}
