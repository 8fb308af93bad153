// float_flags.cpp: NaN out of no NaN, infinity out of finite numbers, and where NumPy sees it
// otherwise.
#include "engine/float_flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>
#include <ranges>
#include <type_traits>

#include "engine/pack.h"
#include "engine/pool.h"
#include "ops/level.h"

namespace frit {
namespace {

// Which elements are NaN, and which are infinite.
struct Kinds {
  std::vector<std::uint8_t> nan, infinite, zero;
};

void apply_predicate(Op op, DType dtype, const std::byte* data, std::int64_t n,
                     std::vector<std::uint8_t>& result) {
  result.assign(static_cast<std::size_t>(n), 0);
  const Loop test = loop(op, dtype);
  if (!test || !is_inexact(dtype)) return;
  void* args[2] = {result.data(), const_cast<std::byte*>(data)};
  test(args, n, 0);
}

Kinds kinds_of(DType dtype, const std::byte* data, std::int64_t n) {
  Kinds k;
  apply_predicate(Op::Isnan, dtype, data, n, k.nan);
  apply_predicate(Op::Isinf, dtype, data, n, k.infinite);
  k.zero.assign(static_cast<std::size_t>(n), 0);
  void* args[2] = {k.zero.data(), const_cast<std::byte*>(data)};
  cast_loop(dtype, DType::Bool)(args, n, 0);
  for (std::uint8_t& z : k.zero) z = z ? 0 : 1;
  return k;
}

bool divides(Op op) {
  return op == Op::TrueDivide || op == Op::FloorDivide || op == Op::Remainder || op == Op::Fmod ||
         op == Op::Reciprocal || op == Op::Power || op == Op::FloatPower;
}

// Where such an op gives an infinity, it does so exactly.
bool has_poles_only(Op op) {
  return op == Op::Log || op == Op::Log2 || op == Op::Log10 || op == Op::Log1p || op == Op::Arctanh;
}

// The input that is zero at a pole of such an op: the divisor, what has a negative power.
std::size_t divisor_of(Op op) {
  return op == Op::Power || op == Op::FloatPower || op == Op::Reciprocal ? 0 : 1;
}

// An exact infinity: a zero divisor, a zero to a negative power, log(0), atanh(1).
bool is_pole(Op op, const std::vector<Kinds>& inputs, std::size_t e) {
  return divides(op) ? inputs[divisor_of(op)].zero[e] != 0 : has_poles_only(op);
}

// NumPy compares what may be a NaN.
bool compares_a_difference(Op op) { return op == Op::Logaddexp || op == Op::Logaddexp2; }

// To minus infinity NumPy's vector loops divide a zero, C's pow doesn't.
bool has_pole_at_infinity(Op op) {
  static const bool has_vectors = has_level("v4");
  return op == Op::Power && has_vectors;
}

// Where NumPy too overflows on its way to a finite result: the difference of huge logarithms, the
// size of a complex number.
bool overflow_tells(Op op, DType dtype) {
  return op == Op::Sign ? is_complex(dtype) : compares_a_difference(op) && dtype != DType::Float16;
}

// NaN out of no NaN, without a word from NumPy: the sign of a complex infinity, the spacing of an
// infinity.
bool quiet_on(Op op, DType dtype, bool infinite_in) {
  return infinite_in && (op == Op::Sign || (op == Op::Spacing && dtype != DType::Float16));
}

template <class F>
bool orders_a_nan(std::int64_t n, const F* x, const F* y) {
  for (std::int64_t k = 0; k < 2 * n; k += 2) {
    if (std::isnan(x[k]) || std::isnan(y[k])) return true;
    if (x[k] == y[k] && (std::isnan(x[k + 1]) || std::isnan(y[k + 1]))) return true;
  }
  return false;
}

// Of complex numbers NumPy compares the imaginary parts where the real ones are equal; a NaN that
// is compared is invalid.
bool orders_a_nan(DType dtype, std::int64_t n, std::span<const std::byte* const> in) {
  const void *x = in[0], *y = in[1];
  if (dtype == DType::Complex64)
    return orders_a_nan(n, static_cast<const float*>(x), static_cast<const float*>(y));
  return orders_a_nan(n, static_cast<const double*>(x), static_cast<const double*>(y));
}

constexpr std::size_t block = 256;  // elements; as a constant count they are looked at in vectors

template <class F>
using Bits = std::conditional_t<sizeof(F) == 4, std::int32_t, std::int64_t>;

// What the elements show of an op on real floats; each is 0 or not.
template <class F>
struct Shown {
  Bits<F> invalid = 0, pole = 0, overflow = 0;
};

template <class F>
struct FloatBlock {
  const F *x, *y, *out, *divisor;  // divisor: zero at a pole

  bool has_special() const {
    Bits<F> special = 0;
    for (std::size_t e = 0; e < block; ++e) special |= std::abs(out[e]) < infinity ? 0 : 1;
    return special != 0;
  }
  bool has_infinity() const {
    Bits<F> infinite = 0;
    for (std::size_t e = 0; e < block; ++e) infinite |= std::abs(out[e]) == infinity ? 1 : 0;
    return infinite != 0;
  }
  // Without branches: where one element is special most are.
  void look(Op op, Shown<F>& shown) const {
    const bool compares = compares_a_difference(op);
    const Bits<F> to_infinity = has_pole_at_infinity(op) ? 1 : 0;
    Bits<F> nan_in = 0, nan_born = 0, nan_out = 0, pole = 0, overflow = 0;
    for (std::size_t e = 0; e < block; ++e) {
      const F size = std::abs(out[e]), size_x = std::abs(x[e]), size_y = std::abs(y[e]);
      const Bits<F> in = (size_x != size_x ? 1 : 0) | (size_y != size_y ? 1 : 0);
      const Bits<F> made = size != size ? 1 : 0;
      const Bits<F> at_pole = divisor[e] == 0 ? 1 : 0;
      const Bits<F> finite =
          (size_x < infinity ? 1 : 0) & ((size_y < infinity ? 1 : 0) | (at_pole & to_infinity));
      const Bits<F> infinite = (size == infinity ? 1 : 0) & finite;
      nan_in |= in;
      nan_out |= made;
      nan_born |= made & (in ^ 1);
      pole |= infinite & at_pole;
      overflow |= infinite & (at_pole ^ 1);
    }
    shown.invalid |= compares ? nan_in | nan_out : nan_born;
    shown.pole |= pole;
    shown.overflow |= overflow;
  }

 private:
  static constexpr F infinity = std::numeric_limits<F>::infinity();
};

// As below, for real floats throughout, until these flags are found: blocks without a NaN or
// infinity in the result are passed over.
template <class F>
unsigned flags_from_floats(Op op, unsigned wanted, std::size_t n, const F* x, const F* y,
                           const F* out) {
  static constexpr std::array<F, block> zeros{};
  static constexpr auto ones = [] {
    std::array<F, block> made{};
    made.fill(1);
    return made;
  }();
  const F* divisor = !divides(op) ? nullptr : divisor_of(op) == 0 ? x : y;
  const F* constant = has_poles_only(op) ? zeros.data() : ones.data();
  Shown<F> shown;
  const auto look = [&](const FloatBlock<F>& elements) {
    // Of NaNs one is enough.
    if (shown.invalid ? elements.has_infinity() : elements.has_special()) elements.look(op, shown);
  };
  const unsigned overflows = flag_overflow | (op == Op::FloorDivide ? flag_invalid : 0);
  const auto found = [&] {
    return (shown.invalid ? flag_invalid : 0) | (shown.pole ? flag_divide : 0) |
           (shown.overflow ? overflows : 0);
  };
  std::size_t begin = 0;
  for (; begin + block <= n && (wanted & ~found()) != 0; begin += block)
    look({x + begin, y + begin, out + begin, divisor ? divisor + begin : constant});
  if (begin + block <= n) return found();
  const auto filled = [&](const F* from) {
    std::array<F, block> made = ones;
    std::copy(from + begin, from + n, made.begin());
    return made;
  };
  const std::array<F, block> last_x = filled(x), last_y = filled(y), last_out = filled(out);
  look({last_x.data(), last_y.data(), last_out.data(),
        !divisor       ? constant
        : divisor == x ? last_x.data()
                       : last_y.data()});
  return found();
}

// The flags of NumPy's steps (Smith's method), one division after another: it compares the sizes of
// the divisor's parts, so a NaN there is invalid, and whatever it does on the way counts.
template <class F>
unsigned flags_of_complex_division(std::int64_t n, const F* x, const F* y) {
  clear_float_flags();
  bool compares_a_nan = false;
  volatile F result;
  for (std::int64_t k = 0; k < 2 * n; k += 2) {
    const volatile F x_re = x[k], x_im = x[k + 1], y_re = y[k], y_im = y[k + 1];
    const F size_re = std::abs(y_re), size_im = std::abs(y_im);
    compares_a_nan |= std::isnan(size_re) || std::isnan(size_im);
    const bool by_real = std::isgreaterequal(size_re, size_im);
    if (size_re == 0 && size_im == 0) {
      result = x_re / size_re;
      result = x_im / size_re;
      continue;
    }
    const volatile F large = by_real ? y_re : y_im, small = by_real ? y_im : y_re;
    const volatile F rest = small / large, scale = F{1} / (large + small * rest);
    if (by_real) {
      result = (x_re + x_im * rest) * scale;
      result = (x_im - x_re * rest) * scale;
    } else {
      result = (x_re * rest + x_im) * scale;
      result = (x_im * rest - x_re) * scale;
    }
  }
  static_cast<void>(result);
  return (float_flags() & flags_of_interest) | (compares_a_nan ? flag_invalid : 0);
}

// The same of NumPy's reciprocal.
template <class F>
unsigned flags_of_complex_reciprocal(std::int64_t n, const F* x) {
  clear_float_flags();
  bool compares_a_nan = false;
  volatile F result;
  for (std::int64_t k = 0; k < 2 * n; k += 2) {
    const volatile F re = x[k], im = x[k + 1];
    compares_a_nan |= std::isnan(x[k]) || std::isnan(x[k + 1]);
    const bool by_real = std::islessequal(std::abs(x[k + 1]), std::abs(x[k]));
    const volatile F large = by_real ? re : im, small = by_real ? im : re;
    const volatile F rest = small / large, size = large + small * rest;
    result = F{1} / size;
    result = rest / size;
  }
  static_cast<void>(result);
  return (float_flags() & flags_of_interest) | (compares_a_nan ? flag_invalid : 0);
}

bool divides_complex(Op op, const Signature& signature) {
  return (op == Op::TrueDivide || op == Op::Reciprocal) && is_complex(signature.out);
}

template <class F>
unsigned flags_of_complex_quotient(std::int64_t n, std::span<const std::byte* const> in) {
  const auto at = [](const std::byte* data) { return reinterpret_cast<const F*>(data); };
  return in.size() == 1 ? flags_of_complex_reciprocal(n, at(in[0]))
                        : flags_of_complex_division(n, at(in[0]), at(in[1]));
}

// Sums and products of complex numbers are computed in NumPy's steps, and exp and its like by the C
// library where they may raise a flag: their flags are NumPy's, even where a part is a NaN and the
// values don't tell.
bool flags_tell(Op op, const Signature& signature) {
  constexpr Op like_numpy[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Square, Op::MultiplyUnfused,
                               Op::Exp, Op::Sqrt,     Op::Sin,      Op::Cos,    Op::Power};
  return is_complex(signature.out) && std::ranges::find(like_numpy, op) != std::end(like_numpy);
}

bool is_sum_or_product(Op op) {
  return op == Op::Add || op == Op::Subtract || op == Op::Multiply || op == Op::MultiplyUnfused ||
         op == Op::Square;
}

// Do an op's results tell its errors? Many complex ones don't: quotients, for one, overflow on the
// way to finite ones.
bool results_tell(Op op, DType dtype) {
  if (!is_complex(dtype)) return is_inexact(dtype);
  return is_sum_or_product(op) || op == Op::Sqrt || op == Op::Sign ||
         (has(op, Costly) && op != Op::Power);
}

// Half of the last bit of a type's largest number.
double least_that_overflows(DType dtype) {
  const DType real = real_of(dtype);
  return std::ldexp(1.0, real == DType::Float16 ? 4 : real == DType::Float32 ? 103 : 970);
}

// The number that an input is, if it is one.
std::optional<std::complex<double>> number_in(const Node& node, int input) {
  const Access& in = node.in[input];
  if (in.base || in.offset == iota_input) return std::nullopt;
  const Scalar number = cast_scalar(node.constants[in.offset], node.signature.in[input]);
  std::complex<double> value;
  std::memcpy(&value, cast_scalar(number, DType::Complex128).bytes, sizeof value);
  return value;
}

// Does one of these ops read the same elements twice?
bool doubles_or_squares(const Node& node) {
  const Access &x = node.in[0], &y = node.in[1];
  const bool is_one = x.base && x.base == y.base && x.offset == y.offset && x.layout == y.layout;
  return node.op == Op::Square || ((node.op == Op::Add || node.op == Op::Multiply) && is_one);
}

// The same of a real power of this exponent: the 0th is 1, a whole one is valid of every number,
// and one that is not negative divides nothing.
unsigned impossible_for_exponent(double exponent) {
  if (exponent == 0) return flags_of_interest;
  return (exponent == std::trunc(exponent) ? flag_invalid : 0) | (exponent > 0 ? flag_divide : 0);
}

// The flags that an op does not raise whatever else it is given, because of the number that it is
// given: no sum of a finite one is invalid, and none of a small one overflows.
unsigned impossible(const Node& node) {
  if (node.kind != NodeKind::Elementwise || !is_inexact(node.signature.out)) return 0;
  const bool is_real = is_float(node.signature.out);
  if (is_real && doubles_or_squares(node)) return flag_invalid;
  if (is_real && node.op == Op::Power)
    if (const std::optional<std::complex<double>> exponent = number_in(node, 1))
      return impossible_for_exponent(exponent->real());
  const bool adds = node.op == Op::Add || node.op == Op::Subtract;
  if (!adds && (!is_real || (node.op != Op::Multiply && node.op != Op::TrueDivide))) return 0;
  unsigned never = 0;
  for (int k = 0; k < node.inputs; ++k) {
    const std::optional<std::complex<double>> number = number_in(node, k);
    if (!number) continue;
    const double size = std::max(std::abs(number->real()), std::abs(number->imag()));
    if (!std::isfinite(number->real()) || !std::isfinite(number->imag())) continue;
    if (adds || size != 0) never |= flag_invalid;
    if (adds && size < least_that_overflows(node.signature.out)) never |= flag_overflow;
    if (node.op == Op::TrueDivide && k == 1 && size != 0) never |= flag_divide;
  }
  return never;
}

}  // namespace

bool is_converted_apart(const Layout& layout) {
  std::int64_t size = 1;
  int axes = 0;
  for (std::size_t k = 0; k < layout.strides().size(); ++k) {
    if (layout.strides()[k] == 0) continue;
    size *= layout.shape()[k];
    ++axes;
  }
  return axes <= 1 && size <= converted_apart;
}

unsigned flags_from_values(Op op, const Signature& signature, std::int64_t n,
                           std::span<const std::byte* const> in, const std::byte* out,
                           unsigned raised) {
  if (flags_tell(op, signature)) return raised;
  const DType dtype = signature.out;
  const unsigned told = overflow_tells(op, dtype) ? raised & flag_overflow : 0;
  const bool alike =
      in.size() <= 2 && std::ranges::all_of(std::views::iota(0u, in.size()),
                                            [&](auto k) { return signature.in[k] == dtype; });
  if (alike && op != Op::Nextafter && op != Op::Sign && op != Op::Spacing) {
    const auto check = [&]<class F>(F) {
      const auto at = [](const std::byte* data) { return reinterpret_cast<const F*>(data); };
      const unsigned wanted = could_mean(op, signature, raised);
      return told | flags_from_floats(op, wanted, static_cast<std::size_t>(n), at(in.front()),
                                      at(in.back()), at(out));
    };
    if (dtype == DType::Float64) return check(double{});
    if (dtype == DType::Float32) return check(float{});
  }
  if (divides_complex(op, signature))
    return dtype == DType::Complex64 ? flags_of_complex_quotient<float>(n, in)
                                     : flags_of_complex_quotient<double>(n, in);
  const Kinds result = kinds_of(signature.out, out, n);
  std::vector<Kinds> inputs;
  for (std::size_t k = 0; k < in.size(); ++k) inputs.push_back(kinds_of(signature.in[k], in[k], n));
  const Kinds& last = inputs.back();
  const bool integer = !is_inexact(signature.out);
  // An infinity that is rounded down, or becomes an integer, is invalid besides.
  const bool inverts = op == Op::Reciprocal,
             floors = op == Op::FloorDivide && signature.out != DType::Float16;
  const bool warns_of_nan = op == Op::Spacing && dtype == DType::Float16;
  // The least integer divided by -1 is told by its flag alone.
  unsigned flags = integer && floors ? raised & flag_overflow : told;
  if (is_bool(signature.out)) return orders_a_nan(signature.in[0], n, in) ? flag_invalid : 0;
  for (std::size_t e = 0; e < static_cast<std::size_t>(n); ++e) {
    bool nan_in = false, infinite_in = false;
    for (const Kinds& k : inputs) {
      nan_in |= k.nan[e] != 0;
      // What nextafter goes to is only a direction.
      infinite_in |= k.infinite[e] != 0 && (op != Op::Nextafter || &k == &inputs[0]);
    }
    if (integer) {
      if (divides(op) && last.zero[e]) flags |= flag_divide | (inverts ? flag_invalid : 0);
      continue;
    }
    if (compares_a_difference(op) && nan_in) flags |= flag_invalid;
    if (result.nan[e] && (!nan_in || warns_of_nan) && !quiet_on(op, signature.out, infinite_in))
      flags |= flag_invalid;
    if (result.infinite[e] && !nan_in && !infinite_in) {
      const bool pole = is_pole(op, inputs, e);
      flags |= pole ? flag_divide : flag_overflow | (floors ? flag_invalid : 0);
    }
  }
  return flags;
}

// Integers of less than 64 bits are made by way of int32 or int64 (see
// to_integer_as_x86).
unsigned flags_of_conversion(DType from, DType to, const void* in, const void* out,
                             std::int64_t n) {
  if (!conversion_may_warn(from, to)) return 0;
  const auto count = static_cast<std::size_t>(n);
  if (is_integer(to)) {
    std::vector<double> values(count);
    void* args[2] = {values.data(), const_cast<void*>(in)};
    cast_loop(from, DType::Float64)(args, n, 0);
    const bool half = size_of(to) < 4 || to == DType::Int32;
    const double low = half ? -0x1p31 - 1 : -0x1p63 - 2048, high = half                  ? 0x1p31
                                                                   : to == DType::UInt64 ? 0x1p64
                                                                                         : 0x1p63;
    for (double x : values)
      if (!(x > low && x < high)) return flag_invalid;
    return 0;
  }
  const int out_parts = is_complex(to) ? 2 : 1, in_parts = is_complex(from) ? 2 : 1;
  std::vector<std::uint8_t> before(count * static_cast<std::size_t>(in_parts), 0),
      after(count * static_cast<std::size_t>(out_parts));
  const auto find_infinities = [](DType dtype, const void* data, std::vector<std::uint8_t>& found) {
    void* args[2] = {found.data(), const_cast<void*>(data)};
    loop(Op::Isinf, real_of(dtype))(args, static_cast<std::int64_t>(found.size()), 0);
  };
  if (is_inexact(from)) find_infinities(from, in, before);
  find_infinities(to, out, after);
  for (std::size_t e = 0; e < count; ++e)
    for (int part = 0; part < std::min(in_parts, out_parts); ++part)
      if (after[e * static_cast<std::size_t>(out_parts) + static_cast<std::size_t>(part)] &&
          !before[e * static_cast<std::size_t>(in_parts) + static_cast<std::size_t>(part)])
        return flag_overflow;
  return 0;
}

unsigned meant(Op op, const Signature& signature, unsigned flags) {
  const unsigned division = flags & (flag_invalid | flag_divide);
  if (divides(op) && !is_inexact(signature.out)) {
    const unsigned kept = op == Op::FloorDivide ? flags & flag_overflow : 0;
    const unsigned besides = op == Op::Reciprocal ? flag_invalid : 0;
    return kept | (division ? flag_divide | besides : 0);
  }
  if (op == Op::Remainder || op == Op::Fmod) return division ? flag_invalid : 0;
  if (has_poles_only(op) && flags & flag_overflow) return (flags & flag_invalid) | flag_divide;
  return flags;
}

unsigned possible(Op op, const Signature& signature) {
  if (!may_warn(op, signature.in[0])) return 0;
  if (!is_float(signature.out))
    return is_complex(signature.in[0]) || divides(op) ? flags_of_interest : 0;
  constexpr Op bounded[] = {Op::Remainder, Op::Fmod,   Op::Sqrt,    Op::Sin,    Op::Cos,
                            Op::Tan,       Op::Arcsin, Op::Arccos,  Op::Arctan, Op::Arctan2,
                            Op::Tanh,      Op::Sign,   Op::Arcsinh, Op::Arccosh};
  if (has_poles_only(op)) return flag_invalid | flag_divide;
  if (std::ranges::find(bounded, op) != std::end(bounded)) return flag_invalid;
  return divides(op) ? flags_of_interest : flag_invalid | flag_overflow;
}

unsigned could_mean(Op op, const Signature& signature, unsigned raised) {
  return (raised | meant(op, signature, raised)) & possible(op, signature);
}

bool raises_flags_of_its_own(Op op, DType dtype) {
  constexpr Op machine[] = {Op::Add,  Op::Subtract,   Op::Multiply,  Op::Square,
                            Op::Sqrt, Op::TrueDivide, Op::Reciprocal};
  if (!is_inexact(dtype)) return false;
  const bool is_machine = std::ranges::find(machine, op) != std::end(machine);
  const bool is_formula = has(op, Costly) || (has(op, MayWarn) && !is_machine);
  return is_formula || dtype == DType::Float16 || is_complex(dtype);
}

bool orders_floats(Op op, DType dtype) { return !has(op, MayWarn) && is_float(dtype); }

unsigned explained(const Node& node, unsigned found) {
  const auto adds = [&](unsigned where, unsigned flag) { return found & where ? flag : 0; };
  if (node.kind != NodeKind::Elementwise) return found;
  if (divides(node.op) && !is_inexact(node.signature.out))
    return found | adds(flag_divide, flag_invalid);
  if (node.op == Op::Remainder || node.op == Op::Fmod)
    return found | adds(flag_invalid, flag_divide);
  return has_poles_only(node.op) ? found | adds(flag_divide, flag_overflow) : found;
}

unsigned claimed(const Node& node, unsigned& flags) {
  unsigned mine = 0;
  const unsigned open = possible(node.op, node.signature) & ~impossible(node);
  if (may_warn(node.op, node.signature.in[0]) && open != 0) {
    mine = meant(node.op, node.signature, flags) & open;
    // What the op can't have been, its result's conversion may.
    if (is_float(node.out.dtype) && conversion_may_warn(node.signature.out, node.out.dtype))
      mine |= shown(Op::Copy, node.out, flags & flag_overflow & ~open);
    // A formula raises more than is meant; the machine's own operations don't.
    flags = raises_flags_of_its_own(node.op, node.signature.in[0]) ? 0 : flags & ~mine;
    return mine;
  }
  const auto claim = [&](DType from, DType to) {
    if (conversion_may_warn(from, to)) mine |= is_integer(to) ? flag_invalid : flag_overflow;
  };
  claim(node.signature.out, node.out.dtype);
  for (int k = 0; k < node.inputs; ++k)
    if (node.in[k].base) claim(node.in[k].dtype, node.signature.in[k]);
  mine &= flags;
  flags &= ~mine;
  return mine;
}

unsigned shown(Op op, DType dtype, const std::byte* results, std::int64_t n, unsigned flags) {
  if (!results_tell(op, dtype) || flags == 0) return flags;
  const Kinds kinds = kinds_of(dtype, results, n);
  const auto any = [](const std::vector<std::uint8_t>& of) {
    return std::ranges::count(of, 0) < std::ssize(of);
  };
  // An infinity that is rounded down is invalid besides.
  const unsigned rounded = op == Op::FloorDivide ? flag_invalid : 0;
  const unsigned of_infinity = flag_overflow | flag_divide | rounded;
  const unsigned told = overflow_tells(op, dtype) ? flag_overflow : 0;
  // Of two products that overflow the difference is none.
  const unsigned of_nan =
      is_complex(dtype) && is_sum_or_product(op) ? flag_invalid | flag_overflow : flag_invalid;
  return flags & (told | (any(kinds.nan) ? of_nan : 0) | (any(kinds.infinite) ? of_infinity : 0));
}

unsigned shown(Op op, const Access& out, unsigned flags) {
  if (flags == 0 || !out.base->data) return flags;
  const std::int64_t n = out.layout->size();
  std::vector<std::byte> dense(static_cast<std::size_t>(n * size_of(out.dtype)));
  pack(dense.data(), out.base->data + out.offset, *out.layout);
  return shown(op, out.dtype, dense.data(), n, flags);
}

unsigned credible(const Access& out, unsigned flags) {
  return out.dtype == DType::Float16 ? shown(Op::Copy, out, flags) : flags;
}

unsigned flags_of_call(const Call& call, const Access& out, std::span<std::byte* const> pointers) {
  const unsigned raised = credible(out, float_flags() & flags_of_interest);
  return raised == 0 ? 0 : call.meant_flags(pointers, raised);
}

bool is_candidate(const Node& node) {
  if (node.float_checks == 0 || node.kind == NodeKind::Call) return false;
  if (node.kind == NodeKind::Routine) return true;
  if (may_warn(node.op, node.signature.in[0]) ||
      conversion_may_warn(node.signature.out, node.out.dtype))
    return true;
  for (int k = 0; k < node.inputs; ++k)
    if (node.in[k].base && conversion_may_warn(node.in[k].dtype, node.signature.in[k])) return true;
  return false;
}

}  // namespace frit
