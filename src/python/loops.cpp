// loops.cpp: a loop nest that Python's translator has written, run on NumPy's and our own arrays.
//
// A nest takes *values*: arrays and numbers, in the order the translator numbered them. loop_key
// says what they are; a nest is only run with values of the key that it was written for, after the
// translator's guard has found every index to be inside of its array.
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <unordered_map>

#include "engine/index_range.h"
#include "engine/interrupts.h"
#include "engine/nest_run.h"
#include "engine/pool.h"
#include "front/common.h"
#include "front/contents.h"
#include "front/kernel_definition.h"
#include "python/float_state.h"
#include "python/interop.h"
#include "python/kernels.h"
#include "python/libraries.h"
#include "python/loop_guess.h"
#include "python/numpy_api.h"
#include "python/source.h"
#include "python/stoppable.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace frit::python {
namespace {

// Elements, or rounds, from which on the GIL is given back.
constexpr std::int64_t long_work = 20'000;

using Values = std::span<PyObject* const>;

Values values_of(const nb::tuple& values) {
  return {reinterpret_cast<PyTupleObject*>(values.ptr())->ob_item, values.size()};
}

PyArrayObject* ndarray_of(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

std::optional<std::int64_t> small_integer(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0 || value > largest_loop_integer || value < -largest_loop_integer)
    return std::nullopt;
  return value;
}

nb::object loop_key(const nb::tuple& values) {
  std::string key;
  for (nb::handle value : values)
    if (!append_loop_key(value.ptr(), key)) return nb::none();
  return nb::str(key.c_str(), key.size());
}

// ---- attributes ---------------------------------------------------------------------------------

// A path is the number of an object, and names. None: a path has no plain attribute.
nb::object plain_attributes(const nb::tuple& objects, const nb::tuple& paths) {
  Ref result = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(paths.size())));
  if (!result) throw nb::python_error();
  for (std::size_t k = 0; k < paths.size(); ++k) {
    const nb::tuple path = nb::borrow<nb::tuple>(paths[k]);
    Ref value = Ref::borrow(objects[nb::cast<std::size_t>(path[0])].ptr());
    for (std::size_t depth = 1; depth < path.size(); ++depth) {
      value = plain_attribute(value.get(), path[depth].ptr());
      if (!value) return nb::none();
    }
    PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(k), value.release());
  }
  return nb::steal(result.release());
}

// Whether storing the attribute, which the object has, does nothing else.
bool is_plain_store(nb::handle object, nb::handle name) {
  PyTypeObject* type = Py_TYPE(object.ptr());
  if (type->tp_setattro != PyObject_GenericSetAttr) return false;
  PyObject* of_type = _PyType_Lookup(type, name.ptr());
  if (of_type && Py_TYPE(of_type)->tp_descr_set) return false;
  if (!of_type) {
    // It is its own, if it is there. To ask for its dict would make it slower from then on.
    const Ref found = Ref::steal(PyObject_GenericGetAttr(object.ptr(), name.ptr()));
    PyErr_Clear();
    return static_cast<bool>(found);
  }
  const Ref own = Ref::steal(PyObject_GenericGetDict(object.ptr(), nullptr));
  const bool is_there = own && PyDict_GetItemWithError(own.get(), name.ptr());
  if (PyErr_Occurred()) PyErr_Clear();
  return is_there;
}

nb::object loop_signature(const nb::tuple& values) {
  std::string signature;
  const Values items = values_of(values);
  if (!append_signature(items.data(), items.size(), signature)) return nb::none();
  return nb::bytes(signature.data(), signature.size());
}

// The least and the largest number of an array of integers; ValueError: there are none, or they are
// larger than an index can be.
nb::tuple index_range(nb::handle value) {
  std::optional<Range> range;
  if (is_array(value.ptr())) {
    const Locked lock(Engine::lock());
    range = range_of_elements(array_of(value.ptr()).array);
  } else if (PyArray_CheckExact(value.ptr()) && PyArray_SIZE(ndarray_of(value.ptr())) > 0) {
    Ref dense = Ref::steal(PyArray_FROM_OF(value.ptr(), NPY_ARRAY_IN_ARRAY));
    if (!dense) throw nb::python_error();
    PyArrayObject* array = ndarray_of(dense.get());
    const Locked lock(Engine::lock());
    range = range_of_integers(static_cast<std::byte*>(PyArray_DATA(array)), PyArray_SIZE(array),
                              dtype_of(PyArray_DESCR(array)).value());
  }
  if (!range) throw nb::value_error("an array of indices has a least and a largest number");
  return nb::make_tuple(range->low, range->high);
}

// What a nest gives back: an array of one element behind the arrays it was given.
struct Result {
  char kind = 'N';  // of the Python object: I, F, C, B, or a NumPy scalar
  DType dtype{};
};

// The values of one call.
class Call {
 public:
  // Memory::Later: arrays of ours are not evaluated; an address tells only which of them share it.
  enum class Memory : std::uint8_t { Now, Later };

  Call() = default;
  Call(const ReadyKernel& kernel, Values values, std::span<const Result> results, Memory memory) {
    take(kernel, values, results, memory);
  }

  void take(const ReadyKernel& kernel, Values values, std::span<const Result> results,
            Memory memory) {
    memory_ = memory;
    const std::size_t count = values.size();
    integers_.assign(count, 0);
    scalars_.assign(count, {});
    for (std::size_t k = 0; k < count; ++k) take_number(k, values[k]);
    const KernelDefinition& definition = kernel.definition;
    arrays_.reserve(kernel.parameters.size());
    results_.assign(results.size(), {});
    for (std::int32_t number : kernel.parameters) {
      const auto k = static_cast<std::size_t>(number);
      if (k < count)
        take_array(values[k]);
      else
        arrays_.push_back({results_[k - count].bytes, one, one_stride});
    }
    for (const KernelInteger& integer : definition.integers) {
      given_integers_.push_back(value_of(integer));
      // It may be how often a loop goes round.
      if (integer.kind != KernelInteger::Kind::Extent)
        rounds_ *= std::max(1.0, static_cast<double>(given_integers_.back()));
    }
    for (std::int32_t number : definition.scalars)
      given_scalars_.push_back(
          number >= 0 ? scalars_[static_cast<std::size_t>(number)]
                      : Scalar::of(DType::Int64, integers_[static_cast<std::size_t>(-1 - number)]));
  }

  // Lets go of the arrays; the room is kept for the next call.
  void clear() {
    for (auto* list : {&integers_, &given_integers_}) list->clear();
    given_scalars_.clear();
    arrays_.clear();
    bases_.clear();
    held_.clear();
    own_.clear();
    elements_ = 0;
    rounds_ = 1;
  }

  NestCall call() const { return {arrays_, given_integers_, given_scalars_}; }
  std::span<const std::int64_t> integers() const { return given_integers_; }
  std::span<const Scalar> scalars() const { return given_scalars_; }
  bool is_long() const { return elements_ > long_work || rounds_ > long_work; }
  nb::object result(std::size_t k, const Result& result) const {
    Scalar scalar;
    scalar.dtype = result.dtype;
    std::memcpy(scalar.bytes, results_[k].bytes, sizeof scalar.bytes);
    switch (result.kind) {
      case 'I':
        return nb::int_(scalar.as<std::int64_t>());
      case 'F':
        return nb::float_(scalar.as<double>());
      case 'C': {
        const auto z = scalar.as<std::complex<double>>();
        return nb::steal(PyComplex_FromDoubles(z.real(), z.imag()));
      }
      case 'B':
        return nb::bool_(scalar.as<std::uint8_t>() != 0);
      default:
        return nb::steal(make_scalar(scalar));
    }
  }

 private:
  void take_number(std::size_t k, PyObject* value) {
    if (PyArray_CheckExact(value) || is_array(value)) return;
    if (PyLong_CheckExact(value)) {
      integers_[k] = small_integer(value).value_or(0);
    } else if (PyFloat_CheckExact(value)) {
      scalars_[k] = Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(value));
    } else if (PyComplex_CheckExact(value)) {
      const std::complex<double> z(PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value));
      scalars_[k] = Scalar::of(DType::Complex128, z);
    } else if (PyBool_Check(value)) {
      scalars_[k] = Scalar::of(DType::Bool, static_cast<std::uint8_t>(value == Py_True ? 1 : 0));
    } else if (const std::optional<Scalar> scalar = numpy_scalar_value(value)) {
      scalars_[k] = *scalar;
      if (is_integer(scalar->dtype) && scalar->dtype != DType::UInt64)
        integers_[k] = cast_scalar(*scalar, DType::Int64).as<std::int64_t>();
    }
  }
  void take_array(PyObject* value) {
    if (memory_ == Memory::Later && is_array(value)) return take_place(array_of(value).array);
    if (is_array(value) && Engine::get().has_device() && take_own(array_of(value).array)) return;
    Ref ndarray = is_array(value) ? real_array(array_of(value)) : Ref::borrow(value);
    if (!PyArray_CheckExact(ndarray.get())) raise(PyExc_TypeError, "a loop nest needs arrays");
    PyArrayObject* array = ndarray_of(ndarray.get());
    const auto rank = static_cast<std::size_t>(PyArray_NDIM(array));
    arrays_.push_back({static_cast<std::byte*>(PyArray_DATA(array)),
                       {PyArray_DIMS(array), rank},
                       {PyArray_STRIDES(array), rank}});
    elements_ += PyArray_SIZE(array);
    held_.push_back(std::move(ndarray));
  }
  // Of an array that nobody else sees, a device may have the newest contents, and keep them.
  bool take_own(const Array& array) {
    Array own = array;
    {
      const Locked lock(Engine::lock());
      Base* base = own.base();
      if (!base->data || base->exports > 0 || base->foreign || base->is_touched()) return false;
      arrays_.push_back({base->data + own.offset(), own.shape(), own.strides(), base});
    }
    elements_ += own.size();
    own_.push_back(std::move(own));
    return true;
  }
  void take_place(const Array& array) {
    constexpr int bits = 40;  // of a place inside of a base
    std::size_t number = 0;
    while (number < bases_.size() && bases_[number] != array.base()) ++number;
    if (number == bases_.size()) bases_.push_back(array.base());
    const std::uintptr_t place = (number + 1) << bits;
    arrays_.push_back(
        {reinterpret_cast<std::byte*>(place) + array.offset(), array.shape(), array.strides()});
    elements_ += array.size();
  }
  std::int64_t value_of(const KernelInteger& integer) const {
    switch (integer.kind) {
      case KernelInteger::Kind::Literal:
        return integer.value;
      case KernelInteger::Kind::Given:
        return integers_[static_cast<std::size_t>(integer.number)];
      case KernelInteger::Kind::Extent:
        break;
    }
    return arrays_[static_cast<std::size_t>(integer.number)]
        .shape[static_cast<std::size_t>(integer.axis)];
  }

  static constexpr std::int64_t one[1] = {1}, one_stride[1] = {8};
  Memory memory_ = Memory::Now;
  std::vector<const Base*> bases_;
  std::vector<Ref> held_;
  std::vector<Array> own_;
  std::vector<NestArgument> arrays_;
  std::vector<std::int64_t> integers_, given_integers_;
  std::vector<Scalar> scalars_, given_scalars_;
  std::vector<Scalar> results_;  // their bytes
  std::int64_t elements_ = 0;
  double rounds_ = 1;
};

class Nest {
 public:
  // results: a kind (I, F, C, B, N) and a type character each.
  Nest(nb::handle kernel, const std::vector<std::string>& results)
      : kernel_(ready_kernel(kernel.ptr())) {
    if (!kernel_) throw nb::python_error();
    for (const std::string& result : results)
      for (int k = 0; k < dtype_count; ++k)
        if (info(static_cast<DType>(k)).code == result.at(1))
          results_.push_back({result[0], static_cast<DType>(k)});
    check(results_.size() == results.size(), "a loop nest's results have types");
    nest_ = std::make_unique<LoopNest>(*kernel_->definition.routine);
  }

  // chunk, tile: rounds of the shortest chunk, and of a wavefront's tile each way (0: as they fit).
  // arrays: the chunks that have arrays of their own.
  void run_as_large(double rounds, std::int64_t chunk, std::int64_t tile, std::int64_t arrays) {
    nest_->tuning = {.assumed_rounds = rounds,
                     .shortest_chunk = chunk,
                     .array_share = 0,
                     .most_arrays = arrays,
                     .wave_tile = tile};
  }

  // A tuple: the status flags of floating point that were raised, then the results.
  // warns: where it is left to the trace, errors are told as warnings when it has run.
  Ref run(Values values, bool warns) {
    unsigned flags = 0;
    const bool waits = is_left_to_the_trace(values, warns);
    std::unique_ptr<Call> call = spare_ ? std::move(spare_) : std::make_unique<Call>();
    if (!waits) {
      evaluate_recorded();
      call->take(*kernel_, values, results_, Call::Memory::Now);
      flags = run_now(*call);
      if (warns && flags & flags_of_interest && float_errors_are_told())
        flags = judged(*call, flags);
    }
    Ref found = checked(PyTuple_New(static_cast<Py_ssize_t>(1 + results_.size())));
    PyTuple_SET_ITEM(found.get(), 0, checked(PyLong_FromUnsignedLong(flags)).release());
    for (std::size_t k = 0; k < results_.size(); ++k)
      PyTuple_SET_ITEM(found.get(), static_cast<Py_ssize_t>(1 + k),
                       call->result(k, results_[k]).release().ptr());
    call->clear();
    spare_ = std::move(call);
    return found;
  }

  // A row a loop of the nest: (depth, kind, reason, at run time, source, sink, kind of dependence);
  // source and sink are numbers of accesses, -1 where there are none. kind: a LoopKind, or
  // `wavefront`; a loop that reduces into the local `failures` alone is parallel. Then: is it a
  // While; do its rounds run in sweeps?
  nb::list verdicts(const nb::tuple& given, std::int32_t failures) {
    const Values values = values_of(given);
    const bool later = may_wait(values);
    if (!later) evaluate_recorded();
    const Call call(*kernel_, values, results_, later ? Call::Memory::Later : Call::Memory::Now);
    const Locked lock(Engine::lock());
    const NestProgram& program = nest_->program_for(call.call());
    const JudgedNest& judged = program.judged;
    const Nest_& nest = *judged.nest;
    const std::vector<bool> waves = loops_in_wavefronts(program.plan, nest.loops.size());
    const std::vector<bool> swept = loops_in_sweeps(program);
    nb::list rows;
    for (std::size_t k = 0; k < judged.verdicts.size(); ++k) {
      const LoopVerdict& verdict = judged.verdicts[k];
      std::int32_t source = -1, sink = -1, kind = -1;
      if (verdict.dependence >= 0) {
        const Dependence& d = nest.dependences[static_cast<std::size_t>(verdict.dependence)];
        source = written(nest, d.source);
        sink = written(nest, d.sink);
        kind = static_cast<std::int32_t>(d.kind);
      }
      const bool counts_failures_alone =
          failures >= 0 && verdict.kind == LoopKind::Reduction && verdict.local == failures;
      const LoopKind shown = counts_failures_alone ? LoopKind::Parallel : verdict.kind;
      rows.append(nb::make_tuple(nest.loops[k].depth,
                                 waves[k] ? wavefront : static_cast<int>(shown),
                                 static_cast<int>(verdict.reason), verdict.at_run_time, source,
                                 sink, kind, nest.loops[k].is_while(), bool(swept[k])));
    }
    return rows;
  }

 private:
  using Nest_ = frit::Nest;

  // Can all that it does wait until somebody looks? So it is if it works on arrays of ours alone,
  // into memory that nobody else sees, and gives back nothing.
  bool may_wait(Values values) const {
    const Settings& settings = Engine::get().settings;
    if (!results_.empty() || !settings.lazy || settings.fusion == Fusion::Off) return false;
    std::int64_t bytes = 0;
    for (const std::int32_t number : kernel_->parameters) {
      PyObject* value = values[static_cast<std::size_t>(number)];
      if (!is_array(value)) return false;
      const Array& array = array_of(value).array;
      if (array.base()->exports > 0 || array.base()->foreign) return false;
      bytes = std::max(bytes, array.size() * size_of(array.dtype()));
    }
    return bytes > settings.immediate_bytes;
  }

  bool is_left_to_the_trace(Values values, bool warns) {
    if (!nest_->may_have_points() || !may_wait(values)) return false;
    if (left_at_once_ > 0) {
      --left_at_once_;
      return false;
    }
    const Call call(*kernel_, values, results_, Call::Memory::Later);
    std::optional<LoopNest::Points> points;
    {
      const Locked lock(Engine::lock());
      points = nest_->points_for(call.call());
    }
    if (!points) return false;
    note_ufunc("a loop");
    KernelLaunch launch{.extents = points->extents,
                        .arrays = {},
                        .integers = call.integers(),
                        .scalars = call.scalars(),
                        .warns = warns};
    for (const std::int32_t number : kernel_->parameters)
      launch.arrays.push_back(array_of(values[static_cast<std::size_t>(number)]).array);
    const Recorded recorded = launch_points(definition_of(points->routine), std::move(launch));
    settle_warnings();
    if (recorded == Recorded::New && is_short(*points)) {
      if (++news_ >= few_news) left_at_once_ = many_at_once;
    } else {
      news_ = 0;
    }
    return recorded != Recorded::No;
  }
  static bool is_short(const LoopNest::Points& points) {
    std::int64_t count = 1;
    for (const std::int64_t extent : points.extents) count *= extent;
    return count < many_points;
  }

  const KernelDefinition& definition_of(const std::shared_ptr<const Routine>& routine) {
    KernelDefinition& definition = definitions_[routine->id];
    if (definition.routine) return definition;
    definition.routine = routine;
    definition.uses.assign(routine->body.operands.size(), ParameterUse::Shared);
    for (std::int32_t k = 0; k < routine->body.integers; ++k)
      definition.integers.push_back({.kind = KernelInteger::Kind::Given, .number = k});
    for (std::size_t k = 0; k < routine->body.scalars.size(); ++k)
      definition.scalars.push_back(static_cast<std::int32_t>(k));
    return definition;
  }

  unsigned run_now(const Call& call) {
    std::optional<unsigned> flags;
    const bool may_be_endless = nest_->may_be_endless();
    const HeardSignals heard = may_be_endless ? signals_heard_here() : HeardSignals::None;
    if (heard != HeardSignals::Several) {
      try {
        std::optional<WithoutGil> released;
        if (may_be_endless || call.is_long()) released.emplace();
        const Locked lock(Engine::lock());
        const RunsNest here;
        flags = nest_->run_if_short(call.call(), heard == HeardSignals::ControlC);
      } catch (const Interrupted&) {
        raise_for_control_c();
      }
      if (flags) return *flags;
    }
    run_stoppable([&] {
      const RunsNest here;
      flags = nest_->run(call.call());
    });
    return *flags;
  }
  unsigned judged(const Call& call, unsigned flags) {
    std::optional<WithoutGil> released;
    if (call.is_long()) released.emplace();
    const Locked lock(Engine::lock());
    return nest_->judged(call.call(), flags);
  }
  // Of launches of few points that are each the first of their kind, as of a nest with a number
  // that is another at each call: a plan takes longer than they do, so after some the next ones run
  // at once.
  static constexpr std::int64_t many_points = 1 << 15;
  static constexpr int few_news = 8, many_at_once = 255;
  static constexpr int wavefront = static_cast<int>(LoopKind::Serial) + 1;
  // The access, as the translator numbered it.
  static std::int32_t written(const Nest_& nest, std::int32_t access) {
    for (const NestOrigin& origin : nest.access_origins)
      if (origin.number == access) return origin.load >= 0 ? origin.load : origin.store;
    return access;
  }

  std::shared_ptr<const ReadyKernel> kernel_;
  std::vector<Result> results_;
  std::unique_ptr<LoopNest> nest_;
  std::unique_ptr<Call> spare_;  // of the latest run, for its room
  std::unordered_map<std::uint64_t, KernelDefinition> definitions_;  // by routine
  int news_ = 0;                                                     // in a row
  int left_at_once_ = 0;                                             // calls
};

}  // namespace

bool append_loop_key(PyObject* value, std::string& key) {
  if (PyArray_CheckExact(value)) {
    PyArrayObject* array = ndarray_of(value);
    const std::optional<DType> dtype = dtype_of(PyArray_DESCR(array));
    if (!dtype || !PyArray_ISALIGNED(array)) return false;
    const char words[3] = {PyArray_ISWRITEABLE(array) ? 'A' : 'R', info(*dtype).code,
                           static_cast<char>('0' + PyArray_NDIM(array))};
    key.append(words, 3);
  } else if (PyLong_CheckExact(value)) {
    if (!small_integer(value)) return false;
    key += 'I';
  } else if (PyFloat_CheckExact(value)) {
    key += 'F';
  } else if (PyComplex_CheckExact(value)) {
    key += 'C';
  } else if (PyBool_Check(value)) {
    key += 'B';
  } else if (is_array(value)) {
    const ArrayObject& array = array_of(value);
    key += array.read_only || array.warns_on_write ? 'R' : 'A';
    key += info(array.array.dtype()).code;
    key += static_cast<char>('0' + array.array.ndim());
  } else if (const std::optional<Scalar> scalar = numpy_scalar_value(value)) {
    key += 'N';
    key += info(scalar->dtype).code;
  } else {
    return false;
  }
  return true;
}

bool append_signature(PyObject* const* values, std::size_t count, std::string& signature) {
  const auto append = [&](const std::int64_t* numbers, std::size_t n) {
    signature.append(reinterpret_cast<const char*>(numbers), n * sizeof *numbers);
  };
  for (std::size_t k = 0; k < count; ++k) {
    PyObject* value = values[k];
    if (!append_loop_key(value, signature)) return false;
    if (PyArray_CheckExact(value)) {
      PyArrayObject* array = ndarray_of(value);
      append(PyArray_DIMS(array), static_cast<std::size_t>(PyArray_NDIM(array)));
    } else if (PyLong_CheckExact(value)) {
      const std::int64_t number = *small_integer(value);
      append(&number, 1);
    } else if (is_array(value)) {
      const auto shape = array_of(value).array.shape();
      append(shape.data(), shape.size());
    }
  }
  return true;
}

Ref run_nest(PyObject* nest, PyObject* const* values, std::size_t count, bool warns) {
  try {
    return nb::inst_ptr<Nest>(nest)->run({values, count}, warns);
  } catch (nb::python_error& error) {
    error.restore();
    throw PythonError{};
  }
}

void add_loops(PyObject* module_object) {
  make_gate_type(module_object);
  add_loop_lists(module_object);
  nb::module_ m = nb::borrow<nb::module_>(module_object);
  nb::class_<Nest>(m, "LoopNest", "A nest of loops, ready to run.")
      .def(nb::init<nb::handle, const std::vector<std::string>&>(), "kernel"_a, "results"_a)
      .def(
          "run",
          [](Nest& self, const nb::tuple& values, bool warns) {
            try {
              return nb::steal(self.run(values_of(values), warns).release());
            } catch (const PythonError&) {
              throw nb::python_error();
            } catch (const abi::__forced_unwind&) {  // a daemon thread's, at the end of the program
              wait_for_the_end_of_the_process();
            }
          },
          "values"_a, "warns"_a = true)
      .def("verdicts", &Nest::verdicts, "values"_a, "failures"_a)
      .def(
          "run_as_large", &Nest::run_as_large, "rounds"_a, "chunk"_a, "tile"_a, "arrays"_a,
          "Before the first run, for tests: it is planned as one whose loops have so many rounds.");
  m.def("loop_key", loop_key, "values"_a,
        "What the values are, as a string; None: a nest does not take them.");
  m.def("loop_signature", loop_signature, "values"_a,
        "The key, with the extents of arrays and the values of ints; None: a nest takes them not.");
  m.def("plain_attributes", plain_attributes, "objects"_a, "paths"_a,
        "The values at the paths, each an object's number and names; None: one is no plain one.");
  m.def("is_plain_store", is_plain_store, "object"_a, "name"_a,
        "Whether storing the attribute, which the object has, runs no code of a class.");
  m.def("float_errors_may_stop", float_errors_may_stop,
        "Whether an error of a float must be told where it comes: it would stop the loop, say.");
  m.def("libraries_changed", libraries_changed,
        "Whether a dictionary that watch_libraries() was given has been changed since.");
  m.def(
      "watch_libraries", [](const nb::list& dictionaries) { watch_libraries(dictionaries.ptr()); },
      "dictionaries"_a, "Watches these dictionaries of modules, as they are.");
  m.def("index_range", index_range, "array"_a, "The least and the largest of some integers.");
}

}  // namespace frit::python
