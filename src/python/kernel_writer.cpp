// kernel_writer.cpp: KernelWriter: lets the translator of Python source write a kernel.
//
// Values, locals and parameters are small integers here; types are NumPy's type characters. The
// translator has a language's rules of typing; the writer only takes operands of the right types.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "front/kernel_bytes.h"
#include "front/kernel_state.h"
#include "python/kernels.h"
#include "python/numpy_api.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace frit::python {
namespace {

DType dtype_named(const std::string& code) {
  for (int k = 0; k < dtype_count; ++k) {
    const auto dtype = static_cast<DType>(k);
    if (code.size() == 1 && info(dtype).code == code[0]) return dtype;
  }
  throw nb::value_error(("no element type is called " + code).c_str());
}
std::string name_of(DType dtype) { return std::string(1, info(dtype).code); }

Op op_named(const std::string& name) {
  static const std::map<std::string, Op, std::less<>> names = [] {
    std::map<std::string, Op, std::less<>> table;
    for (int k = 0; k < op_count; ++k)
      table.emplace(info(static_cast<Op>(k)).name, static_cast<Op>(k));
    return table;
  }();
  const auto found = names.find(name);
  if (found == names.end()) throw nb::value_error(("no op is called " + name).c_str());
  return found->second;
}

MathLibrary library_named(const std::string& name) {
  if (name == "C") return MathLibrary::C;
  if (name == "NumPy") return MathLibrary::NumPy;
  if (name.empty()) return MathLibrary::Frit;
  throw nb::value_error(("no library is called " + name).c_str());
}

Scalar scalar_from(nb::handle value, DType dtype) {
  const std::optional<Scalar> scalar = element_value(value.ptr(), dtype);
  if (!scalar) throw nb::value_error("a constant does not fit its type");
  return *scalar;
}

// What Python holds of a kernel; launches share the kernel itself.
struct Handle {
  std::shared_ptr<const ReadyKernel> kernel;
};

// Python's exceptions pass through the engine's code as nb::python_error.
class Writer {
 public:
  explicit Writer(int rank) : state_(rank), rank_(rank) {}

  int constant(nb::handle value, const std::string& dtype) {
    return number(state_.constant(scalar_from(value, dtype_named(dtype))));
  }
  // The value number `slot` of a launch.
  int argument(int slot, const std::string& dtype_name) {
    const DType dtype = dtype_named(dtype_name);
    if (!is_integer(dtype) || dtype == DType::UInt64)
      return number(state_.early_scalar(dtype, slot));
    KernelInteger given;
    given.kind = KernelInteger::Kind::Given;
    given.number = slot;
    const Expression whole = state_.early_integer(given);
    return dtype == DType::Int64 ? number(whole) : number(state_.early_cast(whole, dtype));
  }
  int extent(int parameter, int axis) {
    KernelInteger extent;
    extent.kind = KernelInteger::Kind::Extent;
    extent.number = parameter;
    extent.axis = axis;
    return number(state_.early_integer(extent));
  }
  // math: "C" or "NumPy", whose function Python would call here.
  // quiet: nobody is warned of its floating-point errors, as of those of Python's own floats.
  int apply(const std::string& op, const std::vector<int>& arguments, const std::string& math,
            bool quiet) {
    return number(state_.compute(op_named(op), expressions(arguments), library_named(math),
                                 quiet ? OpErrors::Quiet : OpErrors::Told));
  }
  int cast(int value, const std::string& dtype) {
    return number(state_.cast(state_.value(value), dtype_named(dtype)));
  }
  std::string type_of(int value) const { return name_of(state_.type_of(value)); }
  bool is_visible(int value) const { return state_.is_visible(value); }

  int parameter(const std::string& dtype, int rank) {
    return state_.add_parameter(dtype_named(dtype), rank, ParameterUse::Shared);
  }
  int load(int parameter, const std::vector<int>& indices, int line) {
    note_line(line);
    return number(state_.load(parameter, expressions(indices)));
  }
  void store(int parameter, const std::vector<int>& indices, int value, int line) {
    note_line(line);
    state_.store(parameter, expressions(indices), state_.value(value));
  }
  int local(const std::string& dtype) { return state_.add_zeroed_local(dtype_named(dtype)); }
  int read_local(int local) { return number(state_.read_local(local)); }
  void write_local(int local, int value) { state_.write_local(local, state_.value(value)); }

  // tree: its float sums are NumPy's pairwise tree, whatever else becomes of the loop.
  void loop(int begin, int end, const nb::callable& body, bool tree) {
    state_.loop(
        state_.value(begin), state_.value(end),
        [&](const Expression& index) { body(number(index)); },
        tree ? LoopSums::Tree : LoopSums::Any);
  }
  // fails: what the nest does is thrown away where it holds.
  void branch(int condition, const nb::callable& body, nb::handle otherwise, bool fails) {
    std::function<void()> other;
    if (!otherwise.is_none()) other = [&] { otherwise(); };
    state_.branch(
        state_.value(condition), [&] { body(); }, other, fails);
  }
  void repeat(const nb::callable& condition, const nb::callable& body, int rounds) {
    state_.repeat([&] { return state_.value(nb::cast<int>(condition())); }, [&] { body(); },
                  rounds);
  }
  void reduce(const std::string& op, int value) {
    note_line(0);
    const std::size_t reduction = state_.reduce(op_named(op), state_.value(value), {}, true);
    state_.reductions[reduction].needs_points = false;
  }

  // `parameters`: by parameter (those of reductions are left out), the number of its value.
  Handle finish(const std::vector<int>& parameters, std::vector<std::string> names,
                std::string file) {
    auto kernel = std::make_shared<ReadyKernel>();
    kernel->definition = state_.define();
    kernel->definition.names = std::move(names);
    kernel->definition.file = std::move(file);
    kernel->definition.lines = std::move(lines_);
    kernel->rank = rank_;
    kernel->parameters.assign(parameters.begin(), parameters.end());
    return {std::move(kernel)};
  }

 private:
  static int number(const Expression& x) { return KernelState::number_of(x); }
  std::vector<Expression> expressions(const std::vector<int>& values) {
    std::vector<Expression> result;
    result.reserve(values.size());
    for (int value : values) result.push_back(state_.value(value));
    return result;
  }
  void note_line(int line) { lines_.push_back(line); }

  KernelState state_;
  int rank_;
  std::vector<std::int32_t> lines_;  // of the accesses
};

// As Writer::finish, of a kernel without axes.
Handle kernel_from(const nb::bytes& bytes, const std::vector<int>& parameters,
                   std::vector<std::string> names) {
  auto definition = definition_from({bytes.c_str(), bytes.size()});
  if (!definition || definition->routine->rank != 0 ||
      definition->routine->parameter_ranks.size() != parameters.size())
    throw nb::value_error("these bytes are no kernel");
  auto kernel = std::make_shared<ReadyKernel>();
  kernel->definition = std::move(*definition);
  kernel->definition.names = std::move(names);
  kernel->parameters.assign(parameters.begin(), parameters.end());
  return {std::move(kernel)};
}

}  // namespace

std::shared_ptr<const ReadyKernel> ready_kernel(PyObject* object) {
  const Handle* handle = nullptr;
  if (nb::try_cast(nb::handle(object), handle) && handle) return handle->kernel;
  PyErr_SetString(PyExc_TypeError, "not a kernel");
  return nullptr;
}

void add_kernel_writer(PyObject* module_object) {
  nb::module_ m = nb::borrow<nb::module_>(module_object);
  nb::class_<Handle>(m, "Kernel", "A kernel that is ready to be launched.")
      .def("__str__", [](const Handle& h) { return print(*h.kernel->definition.routine); })
      .def("as_bytes",
           [](const Handle& h) {
             const std::string bytes = definition_as_bytes(h.kernel->definition);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_static("from_bytes", &kernel_from);
  nb::class_<Writer>(m, "KernelWriter", "Writes a kernel, instruction by instruction.")
      .def(nb::init<int>(), "rank"_a)
      .def("constant", &Writer::constant)
      .def("argument", &Writer::argument)
      .def("extent", &Writer::extent)
      .def("apply", &Writer::apply, "op"_a, "arguments"_a, "math"_a = "", "quiet"_a = false)
      .def("cast", &Writer::cast)
      .def("type_of", &Writer::type_of)
      .def("is_visible", &Writer::is_visible)
      .def("parameter", &Writer::parameter)
      .def("load", &Writer::load)
      .def("store", &Writer::store)
      .def("local", &Writer::local)
      .def("read_local", &Writer::read_local)
      .def("write_local", &Writer::write_local)
      .def("loop", &Writer::loop, "begin"_a, "end"_a, "body"_a, "tree"_a = false)
      .def("branch", &Writer::branch, "condition"_a, "body"_a, "otherwise"_a = nb::none(),
           "fails"_a = false)
      .def("repeat", &Writer::repeat, "condition"_a, "body"_a, "rounds"_a = 0)
      .def("reduce", &Writer::reduce)
      .def("finish", &Writer::finish);
}

}  // namespace frit::python
