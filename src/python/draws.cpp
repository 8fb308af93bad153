// draws.cpp: random, uniform, normal and integers of NumPy's generators, of few numbers.
#include "python/draws.h"

#include <dlfcn.h>
#include <numpy/random/bitgen.h>

#include <array>
#include <cmath>
#include <optional>

#include "python/numpy_api.h"
#include "python/objects.h"
#include "python/operands.h"

namespace frit::python {
namespace {

// ---- NumPy's library of distributions -----------------------------------------------------------

// Of numpy/random/distributions.h, as NumPy's modules have them; null where one hides them.
struct Distributions {
  void (*uniforms)(bitgen_t*, npy_intp, double*) = nullptr;
  void (*normals)(bitgen_t*, npy_intp, double*) = nullptr;
  double (*uniform)(bitgen_t*, double low, double width) = nullptr;
  double (*normal)(bitgen_t*, double middle, double scale) = nullptr;
  void (*integers)(bitgen_t*, std::uint64_t low, std::uint64_t width, npy_intp, bool masked,
                   std::uint64_t*) = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

Distributions load_distributions() {
  Distributions all;
  const Ref module = Ref::steal(PyImport_ImportModule("numpy.random._generator"));
  const Ref file = module ? Ref::steal(PyModule_GetFilenameObject(module.get())) : Ref();
  const char* path = file ? PyUnicode_AsUTF8(file.get()) : nullptr;
  PyErr_Clear();
  void* const library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;  // NumPy holds it
  if (!library) return all;
  find(library, "random_standard_uniform_fill", all.uniforms);
  find(library, "random_standard_normal_fill", all.normals);
  find(library, "random_uniform", all.uniform);
  find(library, "random_normal", all.normal);
  find(library, "random_bounded_uint64_fill", all.integers);
  return all;
}

const Distributions& distributions() {
  static const Distributions all = load_distributions();
  return all;
}

// ---- the stream of a generator ------------------------------------------------------------------

// Another thread may draw, under the generator's lock and without the interpreter's.
bool is_only_thread() {
  PyThreadState* const first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  return PyThreadState_Next(first) == nullptr;
}

// What the bit generator of a Generator or RandomState draws by; null: of another kind.
bitgen_t* stream_of(PyObject* generator) {
  struct Known {
    PyObject* bits = nullptr;  // owned, so that no other one gets its address
    bitgen_t* stream = nullptr;
  };
  static std::array<Known, 8> known;
  static PyObject* const name = PyUnicode_InternFromString("_bit_generator");
  const Ref bits = Ref::steal(PyObject_GetAttr(generator, name));
  if (!bits) {
    PyErr_Clear();
    return nullptr;
  }
  Known& entry = known[(reinterpret_cast<std::uintptr_t>(bits.get()) >> 4) % known.size()];
  if (entry.bits == bits.get()) return entry.stream;
  constexpr const char* kind = "BitGenerator";
  const Ref capsule = Ref::steal(PyObject_GetAttrString(bits.get(), "capsule"));
  void* const stream = capsule ? PyCapsule_GetPointer(capsule.get(), kind) : nullptr;
  PyErr_Clear();
  if (!stream) return nullptr;
  Py_XSETREF(entry.bits, Py_NewRef(bits.get()));
  entry.stream = static_cast<bitgen_t*>(stream);
  return entry.stream;
}

// ---- arguments ----------------------------------------------------------------------------------

// The arguments under these names; false: others.
template <std::size_t count>
bool read_named(const Arguments& arguments, const std::array<const char*, count>& names,
                std::array<PyObject*, count>& slots) {
  slots.fill(nullptr);
  if (arguments.positional > static_cast<Py_ssize_t>(count)) return false;
  std::copy_n(arguments.values, arguments.positional, slots.begin());
  for (Py_ssize_t k = 0; k < arguments.keywords(); ++k) {
    PyObject* const given = PyTuple_GET_ITEM(arguments.names, k);
    const auto found = std::ranges::find_if(names, [given](const char* name) {
      return PyUnicode_CompareWithASCIIString(given, name) == 0;
    });
    if (found == names.end() || slots[static_cast<std::size_t>(found - names.begin())])
      return false;
    slots[static_cast<std::size_t>(found - names.begin())] =
        arguments.values[arguments.positional + k];
  }
  return true;
}

std::optional<double> number_in(PyObject* object, double absent) {
  return object ? double_of(object) : absent;
}

// How many numbers are asked for: one, as a number; or an array of them.
struct Size {
  static constexpr std::size_t most_axes = 4;
  static constexpr std::int64_t most = 1024;  // beyond, NumPy's call is little beside the numbers
  std::array<std::int64_t, most_axes> extents;
  std::size_t axes = 0;
  std::span<const std::int64_t> shape() const { return {extents.data(), axes}; }
};

std::optional<Size> size_of_parts(std::span<PyObject* const> parts) {
  Size size;
  std::int64_t all = 1;
  if (parts.size() > Size::most_axes) return std::nullopt;
  for (PyObject* part : parts) {
    const std::optional<std::int64_t> extent = word_of(part);
    if (!extent || *extent < 1 || *extent > Size::most) return std::nullopt;
    all *= *extent;
    size.extents[size.axes++] = *extent;
  }
  return all <= Size::most ? std::optional(size) : std::nullopt;
}

std::optional<Size> size_in(PyObject* object) {
  if (!object || object == Py_None) return Size{};
  if (!PyTuple_CheckExact(object)) return size_of_parts({&object, 1});
  const auto axes = static_cast<std::size_t>(PyTuple_GET_SIZE(object));
  if (axes == 0) return std::nullopt;  // an array without axes
  return size_of_parts({&PyTuple_GET_ITEM(object, 0), axes});
}

// ---- draws --------------------------------------------------------------------------------------

// fill(stream, count, numbers) makes them.
template <class Number, class Fill, class AsObject>
PyObject* drawn(PyObject* generator, const std::optional<Size>& size, DType dtype, Fill&& fill,
                AsObject&& as_object) {
  if (!size || !is_only_thread()) return nullptr;
  bitgen_t* const stream = stream_of(generator);
  if (!stream) return nullptr;
  if (size->axes == 0) {
    Number number;
    fill(stream, npy_intp{1}, &number);
    return as_object(number);
  }
  return guarded([&] {
    Array array = empty(size->shape(), dtype);
    auto* const numbers = reinterpret_cast<Number*>(memory_of(array));
    fill(stream, static_cast<npy_intp>(array.size()), numbers);
    return new_array(std::move(array));
  });
}
template <class Fill>
PyObject* drawn_doubles(PyObject* generator, const std::optional<Size>& size, Fill&& fill) {
  return drawn<double>(generator, size, DType::Float64, fill, PyFloat_FromDouble);
}

// random(size), random_sample(size), standard_normal(size).
template <auto standard>
PyObject* standard_numbers(PyObject* generator, const Arguments& arguments) {
  const auto fill = distributions().*standard;
  std::array<PyObject*, 1> slots;
  if (!fill || !read_named<1>(arguments, {"size"}, slots)) return nullptr;
  return drawn_doubles(generator, size_in(slots[0]), fill);
}

// rand(d0, d1, ..).
PyObject* rand(PyObject* generator, const Arguments& arguments) {
  const auto fill = distributions().uniforms;
  if (!fill || arguments.names) return nullptr;
  const auto axes = static_cast<std::size_t>(arguments.positional);
  return drawn_doubles(generator, size_of_parts({arguments.values, axes}), fill);
}

PyObject* uniform(PyObject* generator, const Arguments& arguments) {
  const auto one = distributions().uniform;
  std::array<PyObject*, 3> slots;
  if (!one || !read_named<3>(arguments, {"low", "high", "size"}, slots)) return nullptr;
  const std::optional<double> low = number_in(slots[0], 0.0), high = number_in(slots[1], 1.0);
  if (!low || !high) return nullptr;
  const double width = *high - *low;
  if (!std::isfinite(width) || std::signbit(width)) return nullptr;
  return drawn_doubles(generator, size_in(slots[2]),
                       [&](bitgen_t* stream, npy_intp count, double* numbers) {
                         for (npy_intp k = 0; k < count; ++k) numbers[k] = one(stream, *low, width);
                       });
}

PyObject* normal(PyObject* generator, const Arguments& arguments) {
  const auto one = distributions().normal;
  std::array<PyObject*, 3> slots;
  if (!one || !read_named<3>(arguments, {"loc", "scale", "size"}, slots)) return nullptr;
  const std::optional<double> middle = number_in(slots[0], 0.0), scale = number_in(slots[1], 1.0);
  if (!middle || !scale || std::isnan(*scale) || std::signbit(*scale)) return nullptr;
  return drawn_doubles(generator, size_in(slots[2]),
                       [&](bitgen_t* stream, npy_intp count, double* numbers) {
                         for (npy_intp k = 0; k < count; ++k)
                           numbers[k] = one(stream, *middle, *scale);
                       });
}

PyObject* as_python_integer(std::uint64_t number) {
  return PyLong_FromLongLong(static_cast<std::int64_t>(number));
}
PyObject* as_numpy_integer(std::uint64_t number) {
  return make_scalar(reinterpret_cast<const std::byte*>(&number), DType::Int64);
}

// integers(low, high, size) and randint(low, high, size); masked: by the older of two ways.
template <bool masked, auto as_object>
PyObject* integers(PyObject* generator, const Arguments& arguments) {
  const auto fill = distributions().integers;
  std::array<PyObject*, 3> slots;
  if (!fill || !read_named<3>(arguments, {"low", "high", "size"}, slots) || !slots[0])
    return nullptr;
  const bool has_high = slots[1] && slots[1] != Py_None;
  const std::optional<std::int64_t> first = word_of(slots[0]),
                                    second = has_high ? word_of(slots[1]) : first;
  if (!first || !second) return nullptr;
  const std::int64_t low = has_high ? *first : 0, high = *second;
  if (low >= high) return nullptr;
  const std::uint64_t start = static_cast<std::uint64_t>(low),
                      width = static_cast<std::uint64_t>(high) - 1 - start;
  return drawn<std::uint64_t>(
      generator, size_in(slots[2]), DType::Int64,
      [&](bitgen_t* stream, npy_intp count, std::uint64_t* numbers) {
        fill(stream, start, width, count, masked, numbers);
      },
      as_object);
}

struct Row {
  std::string_view name;
  Draw draw;
};
constexpr Row rows[] = {
    {"Generator.random", standard_numbers<&Distributions::uniforms>},
    {"Generator.standard_normal", standard_numbers<&Distributions::normals>},
    {"Generator.uniform", uniform},
    {"Generator.normal", normal},
    {"Generator.integers", integers<false, as_numpy_integer>},
    {"RandomState.random", standard_numbers<&Distributions::uniforms>},
    {"RandomState.random_sample", standard_numbers<&Distributions::uniforms>},
    {"RandomState.rand", rand},
    {"RandomState.uniform", uniform},
    {"RandomState.randint", integers<true, as_python_integer>},
};

}  // namespace

Draw find_draw(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &Row::name);
  return found == std::end(rows) ? nullptr : found->draw;
}

}  // namespace frit::python
