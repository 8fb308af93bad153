// kernel_launch.cpp: a call of parallel_for and its like -> a launch, without Python in between.
//
// A kernel function is known by its code object. What it takes comes from *slots*: a keyword
// argument, or something that its body names: an attribute of self, a global, a variable of the
// function around it. The types of the slots' values choose among the kernels made so far; where
// none fits, Python's translator makes one. It also does all that is not plain: other spaces,
// policies and callables.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "front/kernel_definition.h"
#include "python/interop.h"
#include "python/kernel_values.h"
#include "python/kernels.h"
#include "python/numpy_api.h"
#include "python/source.h"

namespace frit::python {

namespace {

// What the door does in Python; see set_kernel_hooks.
struct Hooks {
  PyObject* slow = nullptr;       // (operation, args, kwargs): any call
  PyObject* prepare = nullptr;    // (operation, policy, function, self): -> slots
  PyObject* translate = nullptr;  // (operation, policy, function, self, values): -> (kernel, slots)
};
Hooks hooks;
bool plain_default_space = true;

// ---- kernels by function ------------------------------------------------------------------------

struct Specialisation {
  std::vector<std::uint64_t> key;
  std::vector<Ref> objects;  // those whose identity is in the key
  std::shared_ptr<const ReadyKernel> kernel;
  Ref runner;  // launches it in Python, if set: runner(policy, values)
};

struct KernelFunction {
  Ref code;
  std::vector<Slot> slots;
  std::size_t keywords = 0;                                      // slots that are keyword arguments
  std::vector<std::unique_ptr<Specialisation>> specialisations;  // the latest used in front
};

// By code object, operation, and policy.
struct FunctionKey {
  const void* code;
  int operation, policy;
  bool operator==(const FunctionKey&) const = default;
};
struct HashOfFunctionKey {
  std::size_t operator()(const FunctionKey& key) const {
    return reinterpret_cast<std::uintptr_t>(key.code) / 16 * 31 +
           static_cast<std::size_t>(key.operation * 8 + key.policy);
  }
};
constexpr std::size_t most_functions = 4096, most_specialisations = 64;

using Functions =
    std::unordered_map<FunctionKey, std::unique_ptr<KernelFunction>, HashOfFunctionKey>;
Functions& functions() {
  static auto* table = new Functions;  // outlives the interpreter's objects
  return *table;
}

// ---- a launch -----------------------------------------------------------------------------------

enum class Operation : int { For, Reduce, Scan };

struct Call {
  Operation operation = Operation::For;
  const PolicyObject* policy = nullptr;
  PyObject* policy_object = nullptr;
  Callee callee;
  PyObject* const* values = nullptr;  // of the keyword arguments
  PyObject* names = nullptr;
  std::optional<Scalar> initial;
};

PyObject* result_object(std::vector<Array> results) {
  if (results.empty()) Py_RETURN_NONE;
  if (results.size() == 1) return new_scalar_result(std::move(results[0]));
  Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
  for (std::size_t k = 0; k < results.size(); ++k) {
    PyObject* item = new_scalar_result(std::move(results[k]));
    if (!item) throw PythonError{};
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), item);
  }
  return tuple.release();
}

// Of a window that may not be written through, whatever its memory allows.
void refuse_writes(const KernelDefinition& definition, std::size_t parameter) {
  if (definition.routine->body.operands[parameter].written)
    throw ValueError(
        text("kernel: ", definition.name_of(parameter), " is written, but is read-only"));
}

// The launch's numbers: begin and end of each axis of the policy, then one a value.
PyObject* launch_kernel(const ReadyKernel& kernel, const PolicyObject& policy,
                        std::span<const Value> values, const std::optional<Scalar>& initial) {
  std::vector<std::int64_t> integers;
  std::vector<Scalar> scalars;
  integers.reserve(values.size() + 2 * most_policy_axes);
  scalars.reserve(values.size() + 2 * most_policy_axes);
  std::int64_t extents[most_policy_axes];
  for (int k = 0; k < policy.axes; ++k) {
    integers.push_back(policy.begin[k]);
    integers.push_back(policy.end[k]);
    extents[k] = std::max<std::int64_t>(policy.end[k] - policy.begin[k], 0);
  }
  scalars.resize(integers.size());
  for (const Value& value : values) {
    integers.push_back(value.integer);
    scalars.push_back(value.scalar);
  }
  KernelLaunch launch{
      .extents = {extents, static_cast<std::size_t>(kernel.rank)},
      .arrays = {},
      .integers = integers,
      .scalars = scalars,
      .initial = initial,
  };
  launch.arrays.reserve(kernel.definition.uses.size() + 2);
  for (std::int32_t number : kernel.parameters) {
    const Value& value = values[static_cast<std::size_t>(number)];
    if (value.read_only) refuse_writes(kernel.definition, launch.arrays.size());
    launch.arrays.push_back(value.array);
  }
  launch.arrays.resize(kernel.definition.uses.size());
  note_source();
  // Kernels give no warnings, so that none need be awaited here.
  std::vector<Array> results = frit::launch(kernel.definition, std::move(launch));
  drain_released();
  return result_object(std::move(results));
}

Ref tuple_of(const std::vector<Ref>& objects) {
  Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(objects.size())));
  for (std::size_t k = 0; k < objects.size(); ++k)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k),
                     Py_NewRef(objects[k] ? objects[k].get() : Py_None));
  return tuple;
}

bool is_wide(const PolicyObject& policy) {
  bool wide = false;
  for (int k = 0; k < policy.axes; ++k)
    wide |= policy.begin[k] < INT32_MIN || policy.end[k] > INT32_MAX;
  return wide;
}

class Launcher {
 public:
  explicit Launcher(const Call& call) : call_(call) {}

  PyObject* run() {
    KernelFunction& function = known_function();
    // A translation may find that the body names more than was known.
    for (int round = 0; round < 3; ++round) {
      gather(function);
      if (Specialisation* found = find(function)) {
        if (found->runner) return run_in_python(*found);
        return launch_kernel(*found->kernel, *call_.policy, values_.values, call_.initial);
      }
      translate(function);
    }
    raise(PyExc_RuntimeError, "kernel: what its body names changes with each launch");
  }

 private:
  KernelFunction& known_function() {
    PyObject* code = PyFunction_GET_CODE(call_.callee.function);
    const FunctionKey key{code, static_cast<int>(call_.operation), call_.policy->code};
    const auto found = functions().find(key);
    if (found != functions().end()) return *found->second;
    if (functions().size() >= most_functions) functions().clear();
    auto function = std::make_unique<KernelFunction>();
    function->code = Ref::borrow(code);
    const Ref rows = ask(hooks.prepare, {});
    set_slots(*function, rows.get());
    return *functions().emplace(key, std::move(function)).first->second;
  }

  static void set_slots(KernelFunction& function, PyObject* rows) {
    const Ref items = checked(PySequence_Tuple(rows));
    std::vector<Slot> slots;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items.get()); ++k)
      slots.push_back(slot_from(PyTuple_GET_ITEM(items.get(), k)));
    if (slots.size() != function.slots.size()) function.specialisations.clear();
    function.slots = std::move(slots);
    function.keywords = static_cast<std::size_t>(std::count_if(
        function.slots.begin(), function.slots.end(),
        [](const Slot& s) { return s.root == Slot::Root::Keyword && s.attributes.empty(); }));
  }

  Ref ask(PyObject* hook, const Ref& values) {
    if (!hook) raise(PyExc_RuntimeError, "kernel: the door is not open");
    PyObject* self = call_.callee.self ? call_.callee.self : Py_None;
    return checked(PyObject_CallFunction(hook, values ? "iOOOO" : "iOOO",
                                         static_cast<int>(call_.operation), call_.policy_object,
                                         call_.callee.function, self, values.get()));
  }

  void gather(const KernelFunction& function) {
    for (Value& value : values_.values)
      if (value.foreign) release_foreign(std::move(value.array));
    values_.values.assign(function.slots.size(), {});
    objects_.resize(function.slots.size());
    for (std::size_t k = 0; k < function.slots.size(); ++k) {
      objects_[k] = slot_value(function.slots[k], call_.callee, call_.values, call_.names);
      take_value(values_.values[k], objects_[k].get());
    }
    const auto given = static_cast<std::size_t>(call_.names ? PyTuple_GET_SIZE(call_.names) : 0);
    if (given > function.keywords || !names_parameters(function)) refuse_arguments(function);
    for (std::size_t k = 0; k < function.slots.size(); ++k)
      if (function.slots[k].root == Slot::Root::Keyword && values_.values[k].key == absent_key &&
          function.slots[k].attributes.empty())
        refuse_arguments(function);
  }

  static bool is_parameter(const KernelFunction& function, PyObject* name) {
    const auto is_slot = [&](const auto& is_name) {
      return std::any_of(function.slots.begin(), function.slots.end(), [&](const Slot& s) {
        return s.root == Slot::Root::Keyword && s.attributes.empty() && is_name(s.name.get());
      });
    };
    return is_slot([&](PyObject* other) { return other == name; }) ||
           is_slot([&](PyObject* other) { return PyUnicode_Compare(other, name) == 0; });
  }
  bool names_parameters(const KernelFunction& function) const {
    for (Py_ssize_t k = 0; call_.names && k < PyTuple_GET_SIZE(call_.names); ++k)
      if (!is_parameter(function, PyTuple_GET_ITEM(call_.names, k))) return false;
    return true;
  }

  // Is it one in the function's text?
  bool is_written_parameter(PyObject* name) const {
    PyObject* const code = PyFunction_GET_CODE(call_.callee.function);
    const Ref names = checked(PyObject_GetAttrString(code, "co_varnames"));
    const Ref parameters = checked(
        PyTuple_GetSlice(names.get(), 0, reinterpret_cast<const PyCodeObject*>(code)->co_argcount));
    return PySequence_Contains(parameters.get(), name) == 1;
  }

  [[noreturn]] void refuse_arguments(const KernelFunction& function) {
    PyObject* called = reinterpret_cast<PyFunctionObject*>(call_.callee.function)->func_qualname;
    for (Py_ssize_t k = 0; call_.names && k < PyTuple_GET_SIZE(call_.names); ++k) {
      PyObject* const name = PyTuple_GET_ITEM(call_.names, k);
      if (is_parameter(function, name)) continue;
      if (is_written_parameter(name))
        raise(PyExc_TypeError,
              "%U(): '%U' is an index or accumulator here, which the launch gives: parameters for "
              "arguments stand behind these",
              called, name);
      raise(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", called, name);
    }
    for (std::size_t k = 0; k < function.slots.size(); ++k)
      if (function.slots[k].root == Slot::Root::Keyword && values_.values[k].key == absent_key)
        raise(PyExc_TypeError, "%U() missing the keyword argument '%U'", called,
              function.slots[k].name.get());
    raise(PyExc_TypeError, "%U(): wrong keyword arguments", called);
  }

  Specialisation* find(KernelFunction& function) {
    auto& known = function.specialisations;
    for (std::size_t k = 0; k < known.size(); ++k) {
      const std::vector<std::uint64_t>& key = known[k]->key;
      bool same = key.size() == values_.values.size() + 1 && key.back() == policy_key();
      for (std::size_t j = 0; same && j + 1 < key.size(); ++j)
        same = key[j] == values_.values[j].key;
      if (!same) continue;
      if (k > 0)
        std::rotate(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(k),
                    known.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      return known.front().get();
    }
    return nullptr;
  }

  // What of the policy the code depends on: the number of axes, and whether an index fits an int.
  std::uint64_t policy_key() const {
    return static_cast<std::uint64_t>(call_.policy->axes) << 1 | (is_wide(*call_.policy) ? 1 : 0);
  }

  void translate(KernelFunction& function) {
    const Ref made = ask(hooks.translate, tuple_of(objects_));
    PyObject *kernel, *slots, *runner;
    if (!PyArg_ParseTuple(made.get(), "OOO", &kernel, &slots, &runner)) throw PythonError{};
    const bool more = PySequence_Size(slots) != static_cast<Py_ssize_t>(function.slots.size());
    set_slots(function, slots);
    if (more) gather(function);
    auto added = std::make_unique<Specialisation>();
    for (std::size_t k = 0; k < values_.values.size(); ++k) {
      added->key.push_back(values_.values[k].key);
      if ((values_.values[k].key & 7) == object_key) added->objects.push_back(objects_[k]);
    }
    added->key.push_back(policy_key());
    if (kernel != Py_None) {
      added->kernel = ready_kernel(kernel);
      if (!added->kernel) throw PythonError{};
    }
    if (runner != Py_None) added->runner = Ref::borrow(runner);
    if (function.specialisations.size() >= most_specialisations)
      function.specialisations.pop_back();
    function.specialisations.insert(function.specialisations.begin(), std::move(added));
  }

  PyObject* run_in_python(const Specialisation& found) {
    const Ref runner = found.runner;
    const Ref initial = call_.initial
                            ? Ref::steal(make_scalar(call_.initial->bytes, DType::Float64))
                            : Ref::borrow(Py_None);
    return PyObject_CallFunction(runner.get(), "OOO", call_.policy_object, tuple_of(objects_).get(),
                                 initial.get());
  }

  const Call& call_;
  Values values_;
  std::vector<Ref> objects_;
};

// ---- the functions ------------------------------------------------------------------------------

PyObject* slow_call(Operation operation, PyObject* const* values, Py_ssize_t positional,
                    PyObject* names) {
  if (!hooks.slow) raise(PyExc_RuntimeError, "kernel: the door is not open");
  Ref arguments = checked(PyTuple_New(positional));
  for (Py_ssize_t k = 0; k < positional; ++k)
    PyTuple_SET_ITEM(arguments.get(), k, Py_NewRef(values[k]));
  const Ref keywords = checked(PyDict_New());
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k)
    checked_status(
        PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, k), values[positional + k]));
  return checked(PyObject_CallFunction(hooks.slow, "iOO", static_cast<int>(operation),
                                       arguments.get(), keywords.get()))
      .release();
}

std::optional<Callee> callee_of(PyObject* object) {
  if (PyFunction_Check(object)) return Callee{object, nullptr};
  if (PyMethod_Check(object) && PyFunction_Check(PyMethod_GET_FUNCTION(object)))
    return Callee{PyMethod_GET_FUNCTION(object), PyMethod_GET_SELF(object)};
  return std::nullopt;
}

void set_range(PolicyObject& policy, std::int64_t end) {
  policy.code = 0;
  policy.axes = 1;
  policy.begin[0] = 0;
  policy.end[0] = end;
}

PyObject* parallel(Operation operation, PyObject* const* values, Py_ssize_t positional,
                   PyObject* names) {
  PyObject* const* given = values;
  Py_ssize_t count = positional;
  if (count > 0 && (PyUnicode_Check(given[0]) || given[0] == Py_None)) ++given, --count;
  if (count != 2) return slow_call(operation, values, positional, names);
  Call call;
  call.operation = operation;
  call.policy_object = given[0];
  const std::optional<Callee> callee = callee_of(given[1]);
  PolicyObject range;
  if (PyLong_CheckExact(given[0])) {
    const long long end = PyLong_AsLongLong(given[0]);
    if (end == -1 && PyErr_Occurred()) throw PythonError{};
    set_range(range, end);
    call.policy = &range;
    if (!plain_default_space) call.policy = nullptr;
  } else if (PyObject_TypeCheck(given[0], policy_type)) {
    call.policy = &policy_of(given[0]);
  }
  if (!call.policy || call.policy->code < 0 || !callee)
    return slow_call(operation, values, positional, names);
  call.callee = *callee;
  call.values = values + positional;
  call.names = names;
  return Launcher(call).run();
}

template <Operation operation>
PyObject* parallel_function(PyObject*, PyObject* const* values, Py_ssize_t positional,
                            PyObject* names) {
  return guarded([&] { return parallel(operation, values, positional, names); });
}

// launch_function(operation, policy, function, self, kwargs, initial): from the slow way.
PyObject* launch_function(PyObject*, PyObject* arguments) {
  return guarded([&] {
    int operation;
    PyObject *policy, *function, *self, *keywords, *initial;
    if (!PyArg_ParseTuple(arguments, "iO!O!OO!O", &operation, policy_type, &policy,
                          &PyFunction_Type, &function, &self, &PyDict_Type, &keywords, &initial))
      throw PythonError{};
    if (policy_of(policy).code < 0) raise(PyExc_ValueError, "a policy of another space");
    const Ref names = checked(PySequence_Tuple(keywords));
    std::vector<PyObject*> values;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names.get()); ++k)
      values.push_back(PyDict_GetItem(keywords, PyTuple_GET_ITEM(names.get(), k)));
    Call call;
    call.operation = static_cast<Operation>(operation);
    call.policy = &policy_of(policy);
    call.policy_object = policy;
    call.callee = {function, self == Py_None ? nullptr : self};
    call.values = values.data();
    call.names = names.get();
    if (initial != Py_None) call.initial = element_value(initial, DType::Float64);
    return Launcher(call).run();
  });
}

// launch_kernel(kernel, policy, values, initial): the kernel with these values, whatever it came
// from.
PyObject* launch_values(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *kernel, *policy, *objects, *number;
    if (!PyArg_ParseTuple(arguments, "OO!O!O", &kernel, policy_type, &policy, &PyTuple_Type,
                          &objects, &number))
      throw PythonError{};
    const std::shared_ptr<const ReadyKernel> ready = ready_kernel(kernel);
    if (!ready) throw PythonError{};
    Values values;
    values.values.resize(static_cast<std::size_t>(PyTuple_GET_SIZE(objects)));
    for (std::size_t k = 0; k < values.values.size(); ++k)
      take_value(values.values[k], PyTuple_GET_ITEM(objects, static_cast<Py_ssize_t>(k)));
    for (std::int32_t number : ready->parameters)
      if (static_cast<std::size_t>(number) >= values.values.size() ||
          !values.values[static_cast<std::size_t>(number)].array)
        raise(PyExc_TypeError, "launch_kernel: value %d is no array", static_cast<int>(number));
    std::optional<Scalar> initial;
    if (number != Py_None) initial = element_value(number, DType::Float64);
    return launch_kernel(*ready, policy_of(policy), values.values, initial);
  });
}

PyObject* set_kernel_hooks(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject *slow, *prepare, *translate;
    if (!PyArg_ParseTuple(arguments, "OOO", &slow, &prepare, &translate)) throw PythonError{};
    Py_XSETREF(hooks.slow, Py_NewRef(slow));
    Py_XSETREF(hooks.prepare, Py_NewRef(prepare));
    Py_XSETREF(hooks.translate, Py_NewRef(translate));
    Py_RETURN_NONE;
  });
}

PyObject* set_plain_default_space(PyObject*, PyObject* plain) {
  plain_default_space = PyObject_IsTrue(plain) == 1;
  Py_RETURN_NONE;
}

// The array's values of this kind as the translator sees them: (kind, type character, ndim).
PyObject* value_type(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    Values values;
    values.values.resize(1);
    Value& value = values.values[0];
    take_value(value, object);
    const char dtype[2] = {info(value.array ? value.array.dtype() : value.scalar.dtype).code, 0};
    switch (value.key & 7) {
      case array_key:
        return Py_BuildValue("ssi", "array", dtype, value.array.ndim());
      case number_key:
        return Py_BuildValue("ssi", "number", dtype, 0);
      default:
        return Py_BuildValue("ssi", "object", "", 0);
    }
  });
}

PyObject* policy_is_wide(PyObject*, PyObject* policy) {
  if (PyObject_TypeCheck(policy, policy_type)) return PyBool_FromLong(is_wide(policy_of(policy)));
  PyErr_SetString(PyExc_TypeError, "policy_is_wide: no policy");
  return nullptr;
}

PyObject* forget(PyObject*, PyObject*) {
  forget_kernels();
  Py_RETURN_NONE;
}

}  // namespace

void forget_kernels() { functions().clear(); }

void make_kernel_types(PyObject* module) {
  make_view_and_policy_types(module);
  static PyMethodDef rows[] = {
      {"parallel_for", as_c_function(parallel_function<Operation::For>),
       METH_FASTCALL | METH_KEYWORDS, nullptr},
      {"parallel_reduce", as_c_function(parallel_function<Operation::Reduce>),
       METH_FASTCALL | METH_KEYWORDS, nullptr},
      {"parallel_scan", as_c_function(parallel_function<Operation::Scan>),
       METH_FASTCALL | METH_KEYWORDS, nullptr},
      {"launch_function", launch_function, METH_VARARGS, nullptr},
      {"launch_kernel", launch_values, METH_VARARGS, nullptr},
      {"set_kernel_hooks", set_kernel_hooks, METH_VARARGS, nullptr},
      {"set_plain_default_space", set_plain_default_space, METH_O, nullptr},
      {"value_type", value_type, METH_O, nullptr},
      {"policy_is_wide", policy_is_wide, METH_O, nullptr},
      {"forget_kernels", forget, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  checked_status(PyModule_AddFunctions(module, rows));
  add_kernel_writer(module);
  add_loops(module);
}

}  // namespace frit::python
