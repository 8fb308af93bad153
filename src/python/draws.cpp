// draws.cpp: few numbers of the usual distributions, from the streams of NumPy's generators.
#include "python/draws.h"

#include <dlfcn.h>
#include <numpy/random/distributions.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "python/numpy_api.h"
#include "python/objects.h"
#include "python/operands.h"

namespace frit::python {
namespace {

// ---- NumPy's library of distributions -----------------------------------------------------------

using Fill = void (*)(bitgen_t*, npy_intp, double*);
using OfOne = double (*)(bitgen_t*, double);
using OfTwo = double (*)(bitgen_t*, double, double);
using OfThree = double (*)(bitgen_t*, double, double, double);
using Count = std::int64_t (*)(bitgen_t*, double);

// Of numpy/random/distributions.h, as NumPy's modules have them; null where one hides them.
struct Distributions {
  Fill uniforms = nullptr, normals = nullptr, exponentials = nullptr;
  double (*cauchy)(bitgen_t*) = nullptr;
  OfOne exponential = nullptr, gamma_of_shape = nullptr, chisquare = nullptr, t = nullptr,
        pareto = nullptr, weibull = nullptr, power = nullptr, rayleigh = nullptr;
  OfTwo uniform = nullptr, normal = nullptr, gamma = nullptr, beta = nullptr, f = nullptr,
        vonmises = nullptr, laplace = nullptr, gumbel = nullptr, logistic = nullptr,
        lognormal = nullptr, wald = nullptr;
  OfThree triangular = nullptr;
  Count poisson = nullptr, geometric = nullptr;
  std::int64_t (*binomial)(bitgen_t*, double p, std::int64_t n, binomial_t*) = nullptr;
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
  find(library, "random_standard_exponential_fill", all.exponentials);
  find(library, "random_standard_cauchy", all.cauchy);
  find(library, "random_exponential", all.exponential);
  find(library, "random_standard_gamma", all.gamma_of_shape);
  find(library, "random_chisquare", all.chisquare);
  find(library, "random_standard_t", all.t);
  find(library, "random_pareto", all.pareto);
  find(library, "random_weibull", all.weibull);
  find(library, "random_power", all.power);
  find(library, "random_rayleigh", all.rayleigh);
  find(library, "random_uniform", all.uniform);
  find(library, "random_normal", all.normal);
  find(library, "random_gamma", all.gamma);
  find(library, "random_beta", all.beta);
  find(library, "random_f", all.f);
  find(library, "random_vonmises", all.vonmises);
  find(library, "random_laplace", all.laplace);
  find(library, "random_gumbel", all.gumbel);
  find(library, "random_logistic", all.logistic);
  find(library, "random_lognormal", all.lognormal);
  find(library, "random_wald", all.wald);
  find(library, "random_triangular", all.triangular);
  find(library, "random_poisson", all.poisson);
  find(library, "random_geometric", all.geometric);
  find(library, "random_binomial", all.binomial);
  find(library, "random_bounded_uint64_fill", all.integers);
  return all;
}

const Distributions& distributions() {
  static const Distributions all = load_distributions();
  return all;
}

// ---- the stream of a generator ------------------------------------------------------------------

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

// ---- normal numbers of a RandomState ------------------------------------------------------------

// They are made in pairs, of which it keeps the second.
struct Kept {
  int is_there;
  double number;
};

// Where a RandomState has it: no header tells. A number that is set by NumPy's own method is looked
// for in the object; 0: it isn't found, or nothing is as expected.
std::size_t find_kept(PyObject* state, const auto& set) {
  const auto size = static_cast<std::size_t>(Py_TYPE(state)->tp_basicsize);
  const auto* const bytes = reinterpret_cast<const char*>(state);
  const auto is_at = [bytes](std::size_t at, const Kept& expected) {
    Kept kept;
    std::memcpy(&kept, bytes + at, sizeof kept);
    return kept.is_there == expected.is_there && kept.number == expected.number;
  };
  constexpr Kept first{1, 0x1.3579bdf02468ap-3}, second{0, 0x1.2468ace13579bp-2};
  std::size_t found = 0;
  if (!set(first)) return 0;
  for (std::size_t at = sizeof(PyObject); at + sizeof(Kept) <= size; at += sizeof(void*)) {
    if (!is_at(at, first)) continue;
    if (found != 0) return 0;
    found = at;
  }
  return found != 0 && set(second) && is_at(found, second) ? found : 0;
}

struct RandomStates {
  Ref type;              // NumPy's
  std::size_t kept = 0;  // bytes from an object's begin
};

RandomStates load_random_states() {
  RandomStates all;
  const Ref module = Ref::steal(PyImport_ImportModule("numpy.random.mtrand"));
  if (module) all.type = Ref::steal(PyObject_GetAttrString(module.get(), "RandomState"));
  const Ref state = Ref::steal(all.type ? PyObject_CallFunction(all.type.get(), "i", 1) : nullptr);
  const Ref words =
      Ref::steal(state ? PyObject_CallMethod(state.get(), "get_state", "O", Py_False) : nullptr);
  const auto set = [&](const Kept& kept) {
    const Ref has = Ref::steal(PyLong_FromLong(kept.is_there)),
              number = Ref::steal(PyFloat_FromDouble(kept.number));
    if (!has || !number || PyDict_SetItemString(words.get(), "has_gauss", has.get()) < 0 ||
        PyDict_SetItemString(words.get(), "gauss", number.get()) < 0)
      return false;
    return bool(Ref::steal(PyObject_CallMethod(state.get(), "set_state", "O", words.get())));
  };
  if (words && PyDict_Check(words.get())) all.kept = find_kept(state.get(), set);
  PyErr_Clear();
  return all;
}

// Of another kind, or not known: null.
Kept* kept_by(PyObject* generator) {
  static const RandomStates& all = *new RandomStates(load_random_states());
  if (all.kept == 0 ||
      !PyObject_TypeCheck(generator, reinterpret_cast<PyTypeObject*>(all.type.get())))
    return nullptr;
  return reinterpret_cast<Kept*>(reinterpret_cast<char*>(generator) + all.kept);
}

// Marsaglia's polar method, as the older interface promises it for good.
double next_polar(bitgen_t* stream, Kept& kept) {
  if (kept.is_there) return std::exchange(kept, {0, 0.0}).number;
  double x, y, square;
  do {
    x = 2.0 * stream->next_double(stream->state) - 1.0;
    y = 2.0 * stream->next_double(stream->state) - 1.0;
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * std::log(square) / square);
  kept = {1, factor * x};
  return factor * y;
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

// What NumPy takes for a parameter; of what it refuses it words the error.
enum class Bound : std::uint8_t { None, NotNegative, Positive, Mean, Probability, SomeProbability };

bool is_within(double value, Bound bound) {
  constexpr double large_mean = 1e9;  // NumPy's limit is near 2^63
  switch (bound) {
    case Bound::None:
      return std::isfinite(value);
    case Bound::NotNegative:
      return std::isfinite(value) && !std::signbit(value);
    case Bound::Positive:
      return std::isfinite(value) && value > 0;
    case Bound::Mean:
      return !std::signbit(value) && value <= large_mean;
    case Bound::Probability:
      return !std::signbit(value) && value <= 1;
    case Bound::SomeProbability:
      return value > 0 && value <= 1;
  }
  return false;
}

struct Parameter {
  const char* name;
  Bound bound = Bound::None;
  double absent = std::numeric_limits<double>::quiet_NaN();  // NaN: it has to be given
};

// Those of a call, in order, and the size behind them.
template <std::size_t count>
struct Given {
  std::array<double, count> values;
  PyObject* size = nullptr;
};

template <std::size_t count>
std::optional<Given<count>> given_in(const Arguments& arguments,
                                     const Parameter (&parameters)[count]) {
  std::array<const char*, count + 1> names;
  for (std::size_t k = 0; k < count; ++k) names[k] = parameters[k].name;
  names[count] = "size";
  std::array<PyObject*, count + 1> slots;
  if (!read_named<count + 1>(arguments, names, slots)) return std::nullopt;
  Given<count> given;
  for (std::size_t k = 0; k < count; ++k) {
    const std::optional<double> value = number_in(slots[k], parameters[k].absent);
    if (!value || !is_within(*value, parameters[k].bound)) return std::nullopt;
    given.values[k] = *value;
  }
  given.size = slots[count];
  return given;
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
  if (!size) return nullptr;
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

// One number after the other.
template <class One>
PyObject* doubles_one_by_one(PyObject* generator, const std::optional<Size>& size, One&& one) {
  return drawn_doubles(generator, size, [&](bitgen_t* stream, npy_intp count, double* numbers) {
    for (npy_intp k = 0; k < count; ++k) numbers[k] = one(stream);
  });
}

constexpr Parameter of_scale[] = {{"scale", Bound::NotNegative, 1}};
constexpr Parameter of_place_and_scale[] = {{"loc", Bound::None, 0},
                                            {"scale", Bound::NotNegative, 1}};
constexpr Parameter of_mean_and_sigma[] = {{"mean", Bound::None, 0},
                                           {"sigma", Bound::NotNegative, 1}};
constexpr Parameter of_shape[] = {{"shape", Bound::NotNegative}};
constexpr Parameter of_shape_and_scale[] = {{"shape", Bound::NotNegative},
                                            {"scale", Bound::NotNegative, 1}};
constexpr Parameter of_freedom[] = {{"df", Bound::Positive}};
constexpr Parameter of_two_freedoms[] = {{"dfnum", Bound::Positive}, {"dfden", Bound::Positive}};
constexpr Parameter of_positive_a[] = {{"a", Bound::Positive}};
constexpr Parameter of_a[] = {{"a", Bound::NotNegative}};
constexpr Parameter of_a_and_b[] = {{"a", Bound::Positive}, {"b", Bound::Positive}};
constexpr Parameter of_angle[] = {{"mu"}, {"kappa", Bound::NotNegative}};
constexpr Parameter of_wald[] = {{"mean", Bound::Positive}, {"scale", Bound::Positive}};

// One of the distributions with these parameters, all of them real numbers.
template <auto member, const auto& parameters>
PyObject* distributed(PyObject* generator, const Arguments& arguments) {
  const auto one = distributions().*member;
  const auto given = one ? given_in(arguments, parameters) : std::nullopt;
  if (!given) return nullptr;
  return doubles_one_by_one(generator, size_in(given->size), [&](bitgen_t* stream) {
    return std::apply([&](auto... values) { return one(stream, values...); }, given->values);
  });
}

PyObject* standard_cauchy(PyObject* generator, const Arguments& arguments) {
  const auto one = distributions().cauchy;
  std::array<PyObject*, 1> slots;
  if (!one || !read_named<1>(arguments, {"size"}, slots)) return nullptr;
  return doubles_one_by_one(generator, size_in(slots[0]), one);
}

constexpr Parameter of_triangular[] = {{"left"}, {"mode"}, {"right"}};

PyObject* triangular(PyObject* generator, const Arguments& arguments) {
  const auto given = given_in(arguments, of_triangular);
  if (!given) return nullptr;
  const auto [left, mode, right] = given->values;
  if (left > mode || mode > right || left == right) return nullptr;
  return distributed<&Distributions::triangular, of_triangular>(generator, arguments);
}

PyObject* uniform(PyObject* generator, const Arguments& arguments) {
  const auto one = distributions().uniform;
  std::array<PyObject*, 3> slots;
  if (!one || !read_named<3>(arguments, {"low", "high", "size"}, slots)) return nullptr;
  const std::optional<double> low = number_in(slots[0], 0.0), high = number_in(slots[1], 1.0);
  if (!low || !high) return nullptr;
  const double width = *high - *low;
  if (!std::isfinite(width) || std::signbit(width)) return nullptr;
  return doubles_one_by_one(generator, size_in(slots[2]),
                            [&](bitgen_t* stream) { return one(stream, *low, width); });
}

// ---- of a RandomState, as the older interface promises them -------------------------------------

template <class AsNumber>  // of a standard normal number
PyObject* polar_numbers(PyObject* generator, const std::optional<Size>& size,
                        AsNumber&& as_number) {
  Kept* const kept = kept_by(generator);
  if (!kept) return nullptr;
  return doubles_one_by_one(generator, size,
                            [&](bitgen_t* stream) { return as_number(next_polar(stream, *kept)); });
}

constexpr auto as_it_is = [](double number) { return number; };

PyObject* polar_standard_normal(PyObject* generator, const Arguments& arguments) {
  std::array<PyObject*, 1> slots;
  if (!read_named<1>(arguments, {"size"}, slots)) return nullptr;
  return polar_numbers(generator, size_in(slots[0]), as_it_is);
}

PyObject* randn(PyObject* generator, const Arguments& arguments) {
  if (arguments.names) return nullptr;
  const auto axes = static_cast<std::size_t>(arguments.positional);
  return polar_numbers(generator, size_of_parts({arguments.values, axes}), as_it_is);
}

PyObject* polar_normal(PyObject* generator, const Arguments& arguments) {
  const auto given = given_in(arguments, of_place_and_scale);
  if (!given) return nullptr;
  const auto [middle, scale] = given->values;
  return polar_numbers(generator, size_in(given->size),
                       [&](double number) { return middle + scale * number; });
}

double next_by_logarithm(bitgen_t* stream) {
  return -std::log(1.0 - stream->next_double(stream->state));
}

PyObject* exponential_by_logarithm(PyObject* generator, const Arguments& arguments) {
  const auto given = given_in(arguments, of_scale);
  if (!given) return nullptr;
  const double scale = given->values[0];
  return doubles_one_by_one(generator, size_in(given->size),
                            [&](bitgen_t* stream) { return scale * next_by_logarithm(stream); });
}

PyObject* standard_exponential_by_logarithm(PyObject* generator, const Arguments& arguments) {
  std::array<PyObject*, 1> slots;
  if (!read_named<1>(arguments, {"size"}, slots)) return nullptr;
  return doubles_one_by_one(generator, size_in(slots[0]), next_by_logarithm);
}

// ---- integers -----------------------------------------------------------------------------------

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

// count(stream): one number.
template <class One>
PyObject* counts_one_by_one(PyObject* generator, const std::optional<Size>& size, One&& one) {
  return drawn<std::int64_t>(
      generator, size, DType::Int64,
      [&](bitgen_t* stream, npy_intp count, std::int64_t* numbers) {
        for (npy_intp k = 0; k < count; ++k) numbers[k] = one(stream);
      },
      PyLong_FromLongLong);
}

template <auto member, const auto& parameters>
PyObject* counted(PyObject* generator, const Arguments& arguments) {
  const auto one = distributions().*member;
  const auto given = one ? given_in(arguments, parameters) : std::nullopt;
  if (!given) return nullptr;
  return counts_one_by_one(generator, size_in(given->size),
                           [&](bitgen_t* stream) { return one(stream, given->values[0]); });
}

PyObject* binomial(PyObject* generator, const Arguments& arguments) {
  const auto one = distributions().binomial;
  std::array<PyObject*, 3> slots;
  if (!one || !read_named<3>(arguments, {"n", "p", "size"}, slots) || !slots[0] || !slots[1])
    return nullptr;
  const std::optional<std::int64_t> n = word_of(slots[0]);
  const std::optional<double> p = double_of(slots[1]);
  if (!n || *n < 0 || !p || !is_within(*p, Bound::Probability)) return nullptr;
  static binomial_t constants;  // of n and p: kept for the next call, and made anew for others
  return counts_one_by_one(generator, size_in(slots[2]),
                           [&](bitgen_t* stream) { return one(stream, *p, *n, &constants); });
}

constexpr Parameter of_mean[] = {{"lam", Bound::Mean, 1}};
constexpr Parameter of_probability[] = {{"p", Bound::SomeProbability}};

struct Row {
  std::string_view name;
  Draw draw;
};
constexpr Row rows[] = {
    {"Generator.random", standard_numbers<&Distributions::uniforms>},
    {"Generator.standard_normal", standard_numbers<&Distributions::normals>},
    {"Generator.uniform", uniform},
    {"Generator.normal", distributed<&Distributions::normal, of_place_and_scale>},
    {"Generator.standard_exponential", standard_numbers<&Distributions::exponentials>},
    {"Generator.standard_cauchy", standard_cauchy},
    {"Generator.exponential", distributed<&Distributions::exponential, of_scale>},
    {"Generator.rayleigh", distributed<&Distributions::rayleigh, of_scale>},
    {"Generator.standard_gamma", distributed<&Distributions::gamma_of_shape, of_shape>},
    {"Generator.gamma", distributed<&Distributions::gamma, of_shape_and_scale>},
    {"Generator.beta", distributed<&Distributions::beta, of_a_and_b>},
    {"Generator.chisquare", distributed<&Distributions::chisquare, of_freedom>},
    {"Generator.standard_t", distributed<&Distributions::t, of_freedom>},
    {"Generator.f", distributed<&Distributions::f, of_two_freedoms>},
    {"Generator.pareto", distributed<&Distributions::pareto, of_positive_a>},
    {"Generator.power", distributed<&Distributions::power, of_positive_a>},
    {"Generator.weibull", distributed<&Distributions::weibull, of_a>},
    {"Generator.vonmises", distributed<&Distributions::vonmises, of_angle>},
    {"Generator.laplace", distributed<&Distributions::laplace, of_place_and_scale>},
    {"Generator.gumbel", distributed<&Distributions::gumbel, of_place_and_scale>},
    {"Generator.logistic", distributed<&Distributions::logistic, of_place_and_scale>},
    {"Generator.lognormal", distributed<&Distributions::lognormal, of_mean_and_sigma>},
    {"Generator.wald", distributed<&Distributions::wald, of_wald>},
    {"Generator.triangular", triangular},
    {"Generator.poisson", counted<&Distributions::poisson, of_mean>},
    {"Generator.geometric", counted<&Distributions::geometric, of_probability>},
    {"Generator.binomial", binomial},
    {"Generator.integers", integers<false, as_numpy_integer>},
    {"RandomState.random", standard_numbers<&Distributions::uniforms>},
    {"RandomState.random_sample", standard_numbers<&Distributions::uniforms>},
    {"RandomState.rand", rand},
    {"RandomState.randn", randn},
    {"RandomState.standard_normal", polar_standard_normal},
    {"RandomState.normal", polar_normal},
    {"RandomState.standard_exponential", standard_exponential_by_logarithm},
    {"RandomState.exponential", exponential_by_logarithm},
    {"RandomState.uniform", uniform},
    {"RandomState.randint", integers<true, as_python_integer>},
};

}  // namespace

bool may_draw() {
  PyThreadState* const first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  return PyThreadState_Next(first) == nullptr;
}

Draw find_draw(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &Row::name);
  return found == std::end(rows) ? nullptr : found->draw;
}

}  // namespace frit::python
