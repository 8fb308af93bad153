// kernels.h: the kernel door's own types: writers of kernels, views, policies, and their launches.
#pragma once

#include <memory>

#include "front/kernel_definition.h"
#include "python/objects.h"

namespace frit::python {

// The base of the door's views: an object that stands for one array.
struct ViewObject {
  PyObject_HEAD PyObject* weak_references;
  PyObject* array;  // ArrayObject; null before __init__
};
extern PyTypeObject* view_type;
inline ViewObject& view_of(PyObject* object) { return *reinterpret_cast<ViewObject*>(object); }

// The base of the door's policies: which points a launch has.
inline constexpr int most_policy_axes = 8;
struct PolicyObject {
  PyObject_HEAD int code;  // below 0: a launch goes through Python
  int axes;
  std::int64_t begin[most_policy_axes], end[most_policy_axes];
};
extern PyTypeObject* policy_type;
inline PolicyObject& policy_of(PyObject* object) {
  return *reinterpret_cast<PolicyObject*>(object);
}

// A kernel that is ready to be launched with values of certain types.
struct ReadyKernel {
  KernelDefinition definition;
  int rank = 0;                          // of its axes
  std::vector<std::int32_t> parameters;  // by parameter: the number of its value
};
// Null (an error is set) if the object is none.
std::shared_ptr<const ReadyKernel> ready_kernel(PyObject* object);

// At exit: before the interpreter's objects go.
void forget_kernels();

void make_view_and_policy_types(PyObject* module);
void make_kernel_types(PyObject* module);
void add_kernel_writer(PyObject* module);
// Loop nests (loops.cpp), what asks before them (loop_gate.cpp), lists in them (loop_lists.cpp).
void add_loops(PyObject* module);
void make_gate_type(PyObject* module);
void add_loop_lists(PyObject* module);
// What most guards of a nest follow from: types, ranks, extents, Python ints. False: something
// is no value that a nest takes.
bool append_signature(PyObject* const* values, std::size_t count, std::string& signature);
// What loop_key says of the value; false: nothing that a nest takes.
bool append_loop_key(PyObject* value, std::string& key);
inline constexpr std::int64_t largest_loop_integer = (std::int64_t{1} << 62) - 1;
// As LoopNest.run.
Ref run_nest(PyObject* nest, PyObject* const* values, std::size_t count, bool warns);

}  // namespace frit::python
