// math_library.cpp: C's functions, and NumPy's loops, in the form of ready-made loops.
#include "ops/math_library.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace frit {
namespace {

// ---- C ------------------------------------------------------------------------------------------

// Not to be seen through: a compiler takes pow(x, 2) for x * x, which is another number for some x.
double (*volatile const power)(double, double) = std::pow;

// pow(x, 2). Its error is below 0.05 units in the last place, besides the rounding, so that it is
// the rounded product where that isn't nearly halfway between two numbers.
double square_by_power(double x) {
  const double product = x * x;
  // Without a flag: what is compared may be NaN.
  if (!std::isgreater(product, 0x1p-900) || std::isinf(product)) return power(x, 2.0);
  const double error = std::fabs(std::fma(x, x, -product));
  constexpr std::uint64_t exponent_bits = std::uint64_t{0x7ff} << 52;
  const double below = std::bit_cast<double>(std::bit_cast<std::uint64_t>(product) & exponent_bits);
  // Below a power of two the units are half as large.
  const bool is_plain = error <= 0.45 * 0x1p-52 * below && (product != below || error == 0);
  return is_plain ? product : power(x, 2.0);
}
double root_by_power(double x) { return power(x, 0.5); }

template <class T, T (*function)(T)>
void of_one(void* const* args, std::int64_t n, unsigned splat) {
  const auto* const x = static_cast<const T*>(args[1]);
  auto* const out = static_cast<T*>(args[0]);
  for (std::int64_t k = 0; k < n; ++k) out[k] = function(x[splat & 1 ? 0 : k]);
}
template <class T, T (*function)(T, T)>
void of_two(void* const* args, std::int64_t n, unsigned splat) {
  const auto *const x = static_cast<const T*>(args[1]), *const y = static_cast<const T*>(args[2]);
  auto* const out = static_cast<T*>(args[0]);
  for (std::int64_t k = 0; k < n; ++k)
    out[k] = function(x[splat & 1 ? 0 : k], y[splat & 2 ? 0 : k]);
}

struct CFunction {
  Op op;
  DType in;
  Loop loop;
  const void* function;
};
template <double (*function)(double)>
CFunction one(Op op) {
  return {op, DType::Float64, of_one<double, function>, reinterpret_cast<const void*>(function)};
}
template <double (*function)(double, double)>
CFunction two(Op op) {
  return {op, DType::Float64, of_two<double, function>, reinterpret_cast<const void*>(function)};
}
template <float (*function)(float)>
CFunction one_float(Op op) {
  return {op, DType::Float32, of_one<float, function>, reinterpret_cast<const void*>(function)};
}
template <float (*function)(float, float)>
CFunction two_floats(Op op) {
  return {op, DType::Float32, of_two<float, function>, reinterpret_cast<const void*>(function)};
}

const CFunction* c_function(Op op, DType in) {
  static const CFunction functions[] = {
      one<square_by_power>(Op::Square), one<root_by_power>(Op::Sqrt), two<std::pow>(Op::Power),
      two_floats<std::pow>(Op::Power),  two<std::hypot>(Op::Hypot),   one<std::exp>(Op::Exp),
      one<std::exp2>(Op::Exp2),         one<std::expm1>(Op::Expm1),   one<std::log>(Op::Log),
      one<std::log2>(Op::Log2),         one<std::log10>(Op::Log10),   one<std::log1p>(Op::Log1p),
      one<std::cbrt>(Op::Cbrt),         one<std::erf>(Op::Erf),       one<std::sin>(Op::Sin),
      one<std::cos>(Op::Cos),           one<std::tan>(Op::Tan),       one<std::asin>(Op::Arcsin),
      one<std::acos>(Op::Arccos),       one<std::atan>(Op::Arctan),   two<std::atan2>(Op::Arctan2),
      one<std::sinh>(Op::Sinh),         one<std::cosh>(Op::Cosh),     one<std::tanh>(Op::Tanh),
      one<std::asinh>(Op::Arcsinh),     one<std::acosh>(Op::Arccosh), one<std::atanh>(Op::Arctanh),
  };
  for (const CFunction& f : functions)
    if (f.op == op && f.in == in) return &f;
  return nullptr;
}

// Those of floats, which Python has none of.
const CFunction* c_function_of_floats(Op op) {
  static const CFunction functions[] = {
      one_float<std::exp>(Op::Exp),       one_float<std::exp2>(Op::Exp2),
      one_float<std::expm1>(Op::Expm1),   one_float<std::log>(Op::Log),
      one_float<std::log2>(Op::Log2),     one_float<std::log10>(Op::Log10),
      one_float<std::log1p>(Op::Log1p),   one_float<std::cbrt>(Op::Cbrt),
      one_float<std::erf>(Op::Erf),       one_float<std::sin>(Op::Sin),
      one_float<std::cos>(Op::Cos),       one_float<std::tan>(Op::Tan),
      one_float<std::asin>(Op::Arcsin),   one_float<std::acos>(Op::Arccos),
      one_float<std::atan>(Op::Arctan),   two_floats<std::atan2>(Op::Arctan2),
      one_float<std::sinh>(Op::Sinh),     one_float<std::cosh>(Op::Cosh),
      one_float<std::tanh>(Op::Tanh),     one_float<std::asinh>(Op::Arcsinh),
      one_float<std::acosh>(Op::Arccosh), one_float<std::atanh>(Op::Arctanh),
      two_floats<std::hypot>(Op::Hypot),  two_floats<std::pow>(Op::Power),
  };
  const auto* const found = std::ranges::find(functions, op, &CFunction::op);
  return found != std::end(functions) ? found : nullptr;
}

// ---- flags --------------------------------------------------------------------------------------

// Some of NumPy's loops clear the flags, which other operations have raised. fetestexcept asks two
// units, and takes longer than a function.
#if defined(__x86_64__)
unsigned raised_flags() {
  return _mm_getcsr() &
         (_MM_EXCEPT_INVALID | _MM_EXCEPT_DIV_ZERO | _MM_EXCEPT_OVERFLOW | _MM_EXCEPT_UNDERFLOW);
}
void raise_flags(unsigned flags) { _mm_setcsr(_mm_getcsr() | flags); }
#else
unsigned raised_flags() {
  return static_cast<unsigned>(
      std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW));
}
void raise_flags(unsigned flags) { std::feraiseexcept(static_cast<int>(flags)); }
#endif

// ---- NumPy --------------------------------------------------------------------------------------

// What it has a function for whose bits are not those of the formula.
constexpr Op ufuncs[] = {Op::Exp,   Op::Exp2,      Op::Expm1,      Op::Log,     Op::Log2,
                         Op::Log10, Op::Log1p,     Op::Cbrt,       Op::Sin,     Op::Cos,
                         Op::Tan,   Op::Arcsin,    Op::Arccos,     Op::Arctan,  Op::Arctan2,
                         Op::Sinh,  Op::Cosh,      Op::Tanh,       Op::Arcsinh, Op::Arctanh,
                         Op::Hypot, Op::Logaddexp, Op::Logaddexp2, Op::Power};
constexpr std::size_t ufunc_count = std::size(ufuncs);
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

struct UfuncCall {
  UfuncLoop run = nullptr;
  void* data = nullptr;
};
UfuncCall calls[2][ufunc_count];  // of Float32, of Float64

std::size_t number_of(Op op) {
  for (std::size_t k = 0; k < ufunc_count; ++k)
    if (ufuncs[k] == op) return k;
  return none;
}
std::size_t width_of(DType in) {
  return in == DType::Float32 ? 0 : in == DType::Float64 ? 1 : none;
}

template <std::size_t width, std::size_t number>
void of_ufunc(void* const* args, std::int64_t n, unsigned splat) {
  constexpr std::intptr_t size = width == 0 ? sizeof(float) : sizeof(double);
  const UfuncCall& call = calls[width][number];
  const int inputs = info(ufuncs[number]).inputs;
  char* arguments[3];
  std::intptr_t steps[3];
  for (int k = 0; k < inputs; ++k) {
    arguments[k] = static_cast<char*>(args[k + 1]);
    steps[k] = splat >> k & 1 ? 0 : size;
  }
  arguments[inputs] = static_cast<char*>(args[0]);
  steps[inputs] = size;
  // By one exponent for all NumPy squares, or takes a root, instead.
  if (ufuncs[number] == Op::Power && n == 1) steps[1] = 0;
  const std::intptr_t count = n;
  const unsigned flags = raised_flags();
  call.run(arguments, &count, steps, call.data);
  if (flags != 0 && (flags & ~raised_flags()) != 0) raise_flags(flags);
}

template <std::size_t width, std::size_t... numbers>
constexpr std::array<Loop, ufunc_count> loops_of(std::index_sequence<numbers...>) {
  return {of_ufunc<width, numbers>...};
}
constexpr std::array<Loop, ufunc_count> ufunc_loops[2] = {
    loops_of<0>(std::make_index_sequence<ufunc_count>()),
    loops_of<1>(std::make_index_sequence<ufunc_count>())};

Loop loop_of_numpy(Op op, DType in) {
  const std::size_t width = width_of(in), number = number_of(op);
  if (width == none || number == none || !calls[width][number].run) return nullptr;
  return ufunc_loops[width][number];
}

}  // namespace

std::string_view prefix_of(MathLibrary library) {
  static constexpr std::string_view prefixes[math_library_count] = {"", "c.", "numpy."};
  return prefixes[static_cast<std::size_t>(library)];
}

bool has_function(MathLibrary library, Op op, DType in) {
  if (library == MathLibrary::NumPy) return width_of(in) != none && number_of(op) != none;
  return library == MathLibrary::C && c_function(op, in);
}

Loop loop(MathLibrary library, Op op, DType in) {
  if (library == MathLibrary::C)
    if (const CFunction* found = c_function(op, in)) return found->loop;
  if (library == MathLibrary::NumPy)
    if (const Loop found = loop_of_numpy(op, in)) return found;
  return loop(op, in);
}

Loop loop_without_fused(Op op, DType in) {
  if (op == Op::Square || op == Op::Sqrt) return nullptr;  // no more than a machine's operation
  const CFunction* const found =
      in == DType::Float32 ? c_function_of_floats(op) : c_function(op, in);
  return found ? found->loop : nullptr;
}

const void* function_of_numbers(MathLibrary library, Op op, DType in) {
  const CFunction* const found = library == MathLibrary::C ? c_function(op, in) : nullptr;
  return found ? found->function : nullptr;
}

void set_numpy_loop(Op op, DType in, UfuncLoop run, void* data) {
  const std::size_t width = width_of(in), number = number_of(op);
  if (width != none && number != none) calls[width][number] = {run, data};
}

}  // namespace frit
