// ops.cpp: the op table as data, NumPy's type rules, and the choice of ready-made loops.
#include "ops/ops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <limits>

#include "ops/level.h"
#include "ops/loops.h"
#include "ops/math_library.h"

namespace frit {

// ---- the tables ---------------------------------------------------------------------------------

const OpInfo& info(Op op) {
  // Each class of formulas stands for its type characters; those of one row join to one string.
#define BOOL(...) "?"
#define SIGNED(...) "bhil"
#define UNSIGNED(...) "BHIL"
#define INT(...) "bBhHiIlL"
#define FLOAT(...) "efd"
#define HALF(...)
#define DOUBLE(...) "d"
#define COMPLEX(...) "FD"
#define COMPLEX_REAL(...) "FD"
#define SIGNED_OVERFLOWS(...)
#define SIGNED_FAR(...)
#define UNSIGNED_FAR(...)
#define SIGNED_BY_ONE(...)
#define UNSIGNED_BY_ONE(...)
#define SIGNED_ALONE(...)
#define UNSIGNED_ALONE(...)
#define INT_RARE(...)
#define FLOAT_RARE(...)
#define FLOAT_ORDINARY(...)
#define HALF_ORDINARY(...)
#define COMPLEX_RARE(...)
#define FRIT_OP(Name, numpy_name, inputs, rule, flags, identity, types, ...) \
  {#Name,                                                                    \
   numpy_name,                                                               \
   inputs,                                                                   \
   TypeRule::rule,                                                           \
   static_cast<std::uint32_t>(flags),                                        \
   Identity::identity,                                                       \
   types,                                                                    \
   "" __VA_ARGS__,                                                           \
   #__VA_ARGS__},
  static constexpr OpInfo table[] = {
#include "ops/op.def"
  };
#undef FRIT_OP
#undef BOOL
#undef SIGNED
#undef UNSIGNED
#undef INT
#undef FLOAT
#undef HALF
#undef DOUBLE
#undef COMPLEX
#undef COMPLEX_REAL
#undef SIGNED_OVERFLOWS
#undef SIGNED_FAR
#undef UNSIGNED_FAR
#undef SIGNED_BY_ONE
#undef UNSIGNED_BY_ONE
#undef SIGNED_ALONE
#undef UNSIGNED_ALONE
#undef INT_RARE
#undef FLOAT_RARE
#undef FLOAT_ORDINARY
#undef HALF_ORDINARY
#undef COMPLEX_RARE
  return table[static_cast<int>(op)];
}

bool reduces_in_any_order(Op op, DType dtype) {
  if (!is_inexact(dtype)) return has(op, Reorderable) || has(op, Commutative);
  return has(op, Reorderable) && !(is_complex(dtype) && info(op).rule == TypeRule::Same);
}

bool may_warn(Op op, DType dtype) {
  if (has(op, MayWarn)) return true;
  const bool orders =
      op == Op::Less || op == Op::LessEqual || op == Op::Greater || op == Op::GreaterEqual;
  return orders && is_complex(dtype);
}

bool conversion_may_warn(DType from, DType to) {
  if (is_float(to) || is_complex(to)) {
    const DType part = real_of(to);
    if (is_inexact(from)) return size_of(real_of(from)) > size_of(part);
    return part == DType::Float16 && size_of(from) > 1;
  }
  return is_inexact(from) && is_integer(to);
}

std::optional<Op> op_by_numpy_name(std::string_view name) {
  struct Alias {
    std::string_view alias, name;
  };
  static constexpr Alias aliases[] = {
      {"true_divide", "divide"},
      {"mod", "remainder"},
      {"abs", "absolute"},
      {"conj", "conjugate"},
      {"pow", "power"},
      {"acos", "arccos"},
      {"acosh", "arccosh"},
      {"asin", "arcsin"},
      {"asinh", "arcsinh"},
      {"atan", "arctan"},
      {"atan2", "arctan2"},
      {"atanh", "arctanh"},
      {"bitwise_invert", "invert"},
      {"bitwise_not", "invert"},
      {"bitwise_left_shift", "left_shift"},
      {"bitwise_right_shift", "right_shift"},
  };
  if (name.empty()) return std::nullopt;
  for (const Alias& a : aliases)
    if (a.alias == name) name = a.name;
  for (int i = 0; i < op_count; ++i)
    if (info(static_cast<Op>(i)).numpy_name == name) return static_cast<Op>(i);
  return std::nullopt;
}

namespace {

DType dtype_of_code(char code) {
  for (int i = 0; i < dtype_count; ++i)
    if (info(static_cast<DType>(i)).code == code) return static_cast<DType>(i);
  return DType::Float64;
}

template <class T>
Scalar number(DType dtype, double value) {
  return Scalar::of(dtype, static_cast<T>(value));
}

std::optional<Scalar> scalar_of(DType dtype, double value) {
  switch (dtype) {
    case DType::Bool:
      return number<std::uint8_t>(dtype, value != 0);
    case DType::Int8:
      return number<std::int8_t>(dtype, value);
    case DType::Int16:
      return number<std::int16_t>(dtype, value);
    case DType::Int32:
      return number<std::int32_t>(dtype, value);
    case DType::Int64:
      return number<std::int64_t>(dtype, value);
    case DType::UInt8:
      return number<std::uint8_t>(dtype, value);
    case DType::UInt16:
      return number<std::uint16_t>(dtype, value);
    case DType::UInt32:
      return number<std::uint32_t>(dtype, value);
    case DType::UInt64:
      return number<std::uint64_t>(dtype, value);
    case DType::Float16: {
      // Only 0, 1 and -infinity are asked for.
      int bits = value == 0 ? 0 : value == 1 ? 0x3c00 : 0xfc00;
      return Scalar::of(dtype, static_cast<std::uint16_t>(bits));
    }
    case DType::Float32:
      return number<float>(dtype, value);
    case DType::Float64:
      return number<double>(dtype, value);
    case DType::Complex64:
      return Scalar::of(dtype, std::complex<float>(static_cast<float>(value)));
    case DType::Complex128:
      return Scalar::of(dtype, std::complex<double>(value));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Scalar> identity_of(Op op, DType dtype) {
  switch (info(op).identity) {
    case Identity::None:
      return std::nullopt;
    case Identity::Zero:
    case Identity::False:
      return scalar_of(dtype, 0);
    case Identity::One:
    case Identity::True:
      return scalar_of(dtype, 1);
    case Identity::AllOnes:
      if (is_bool(dtype)) return scalar_of(dtype, 1);
      if (!is_integer(dtype)) return std::nullopt;
      return [&] {
        Scalar s;
        s.dtype = dtype;
        std::fill_n(s.bytes, size_of(dtype), std::byte{0xff});
        return s;
      }();
    case Identity::MinusInfinity:
      if (!is_float(dtype)) return std::nullopt;
      return scalar_of(dtype, -std::numeric_limits<double>::infinity());
  }
  return std::nullopt;
}

// ---- types --------------------------------------------------------------------------------------

DType real_of(DType dtype) {
  if (dtype == DType::Complex64) return DType::Float32;
  if (dtype == DType::Complex128) return DType::Float64;
  return dtype;
}

namespace {

DType complex_of(DType real) {
  return real == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

// The smallest float type that holds all values of an integer type, as far as NumPy promises it.
DType float_for(DType dtype) {
  if (!is_integer(dtype) && !is_bool(dtype)) return real_of(dtype);
  return size_of(dtype) == 1   ? DType::Float16
         : size_of(dtype) == 2 ? DType::Float32
                               : DType::Float64;
}

DType signed_of_size(int size) {
  return size <= 1   ? DType::Int8
         : size == 2 ? DType::Int16
         : size == 4 ? DType::Int32
                     : DType::Int64;
}

DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return size_of(a) >= size_of(b) ? a : b;
  DType s = is_signed(a) ? a : b, u = is_signed(a) ? b : a;
  if (size_of(u) < size_of(s)) return s;
  return size_of(u) == 8 ? DType::Float64 : signed_of_size(2 * size_of(u));
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b || is_bool(b)) return a;
  if (is_bool(a)) return b;
  if (is_integer(a) && is_integer(b)) return promote_integers(a, b);
  DType fa = float_for(a), fb = float_for(b);
  DType real = size_of(fa) >= size_of(fb) ? fa : fb;
  return is_complex(a) || is_complex(b) ? complex_of(real) : real;
}

DType promote(std::span<const DType> all) {
  constexpr auto generality = [](DType d) { return is_complex(d) + is_inexact(d) + !is_bool(d); };
  if (all.empty()) return DType::Float64;
  DType result = *std::ranges::max_element(all, {}, generality);
  for (const DType each : all) result = promote(result, each);
  return result;
}

bool can_cast(DType from, DType to, Casting casting) {
  if (from == to || casting == Casting::Unsafe) return true;
  if (casting == Casting::No || casting == Casting::Equiv) return false;
  if (promote(from, to) == to) return true;
  if (casting == Casting::Safe) return false;
  // SameKind: never down in kind; but unsigned from signed is refused.
  constexpr std::string_view order = "biufc";
  auto rank = [&](DType d) { return order.find(info(d).kind); };
  if (is_unsigned(from) && is_signed(to)) return true;
  if (is_signed(from) && is_unsigned(to)) return false;
  return rank(from) <= rank(to);
}

namespace {

DType strong_type(const OperandType& operand, std::optional<DType> others) {
  if (operand.weak == Weak::No) return operand.dtype;
  bool has_kind = others && !is_bool(*others);
  switch (operand.weak) {
    case Weak::No:
      break;
    case Weak::Int:
      return has_kind ? *others : DType::Int64;
    case Weak::Float:
      return has_kind && is_inexact(*others) ? *others : DType::Float64;
    case Weak::Complex:
      if (!has_kind || !is_inexact(*others)) return DType::Complex128;
      return is_complex(*others) ? *others : complex_of(*others);
  }
  return operand.dtype;
}

DType output_of(TypeRule rule, DType in) {
  switch (rule) {
    case TypeRule::Same:
    case TypeRule::FloatOnly:
    case TypeRule::TrueDivide:
    case TypeRule::Select:
    case TypeRule::Exponent:
      return in;
    case TypeRule::Compare:
    case TypeRule::Predicate:
    case TypeRule::Logical:
      return DType::Bool;
    case TypeRule::RealOfComplex:
      return real_of(in);
    case TypeRule::FloatToInt:
      return DType::Int32;
    case TypeRule::ToUInt8:
      return DType::UInt8;
  }
  return in;
}

// The first of NumPy's loops that all operands can be cast to safely.
std::optional<DType> first_loop(Op op, std::span<const DType> operands) {
  for (char code : info(op).numpy_types) {
    DType d = dtype_of_code(code);
    if (std::ranges::all_of(operands, [&](DType o) { return can_cast(o, d, Casting::Safe); }))
      return d;
  }
  return std::nullopt;
}

// Signed with uint64: NumPy compares them exactly.
Signature mixed_comparison(std::span<const DType> operands) {
  auto wide = [](DType d) { return is_signed(d) ? DType::Int64 : DType::UInt64; };
  return {{wide(operands[0]), wide(operands[1]), DType::Bool}, DType::Bool};
}

}  // namespace

std::optional<Signature> resolve(Op op, std::span<const OperandType> operands) {
  const OpInfo& row = info(op);
  // The operands that decide the loop: Select's condition and ldexp's exponent do not.
  std::size_t first = row.rule == TypeRule::Select ? 1 : 0;
  std::size_t last = row.rule == TypeRule::Exponent ? 1 : operands.size();

  std::optional<DType> others;
  for (std::size_t k = first; k < last; ++k)
    if (operands[k].weak == Weak::No)
      others = others ? promote(*others, operands[k].dtype) : operands[k].dtype;
  std::array<DType, 3> types{};
  for (std::size_t k = first; k < last; ++k) types[k] = strong_type(operands[k], others);
  std::span<const DType> deciding(types.data() + first, last - first);

  if (row.rule == TypeRule::Compare && deciding[0] != deciding[1] && is_integer(deciding[0]) &&
      is_integer(deciding[1]) && promote(deciding[0], deciding[1]) == DType::Float64)
    return mixed_comparison(deciding);
  if (has(op, RefusesBool) && std::ranges::all_of(deciding, is_bool)) return std::nullopt;
  std::optional<DType> in = first_loop(op, deciding);
  // NumPy has logical loops for equal types only, and reads all else as truth values.
  bool one_type = std::ranges::all_of(operands, [&](const OperandType& o) {
    return o.weak == Weak::No && o.dtype == operands[0].dtype;
  });
  if (row.rule == TypeRule::Logical && !one_type) in = DType::Bool;
  if (row.rule == TypeRule::TrueDivide &&
      std::ranges::none_of(deciding, [](DType d) { return is_inexact(d); }))
    in = DType::Float64;
  if (!in) return std::nullopt;

  // ldexp(3, array): NumPy takes the Python integer for the smallest type, but beside a bool array.
  if (row.rule == TypeRule::Exponent && operands[0].weak == Weak::Int &&
      operands[1].weak == Weak::No)
    in = is_bool(operands[1].dtype) ? DType::Float64 : DType::Float16;

  Signature signature{{*in, *in, *in}, output_of(row.rule, *in)};
  if (row.rule == TypeRule::Select) signature.in[0] = DType::Bool;
  if (row.rule == TypeRule::Exponent) {
    // NumPy has loops for C's int and long; the wider one serves both.
    const OperandType& exponent = operands[1];
    if (exponent.weak != Weak::Int &&
        (exponent.weak != Weak::No || !can_cast(exponent.dtype, DType::Int64, Casting::Safe)))
      return std::nullopt;
    signature.in[1] = DType::Int64;
  }
  return signature;
}

// ---- loops --------------------------------------------------------------------------------------

const LoopTable* loops_of(std::string_view level) {
  if (!has_level(level)) return nullptr;
#define FRIT_LEVEL_TABLE(name)           \
  if (level == #name) {                  \
    static const LoopTable filled = [] { \
      LoopTable table;                   \
      fill_plain_##name(table);          \
      fill_costly_##name(table);         \
      fill_reductions_##name(table);     \
      fill_moves_##name(table);          \
      fill_places_##name(table);         \
      return table;                      \
    }();                                 \
    return &filled;                      \
  }
#if defined(__x86_64__)
  FRIT_LEVEL_TABLE(v4)
  FRIT_LEVEL_TABLE(v3)
  FRIT_LEVEL_TABLE(v2)
#else
  FRIT_LEVEL_TABLE(base)
#endif
#undef FRIT_LEVEL_TABLE
  return nullptr;
}

namespace {

// Processors below x86-64-v3 have no fma.
LoopTable with_cs_functions(LoopTable table) {
  for (int op = 0; op < op_count; ++op)
    for (const DType in : {DType::Float32, DType::Float64})
      if (const Loop by_c = loop_without_fused(static_cast<Op>(op), in))
        table.elementwise[op][static_cast<int>(in)] = by_c;
  return table;
}

const LoopTable& best_loops() {
  static const LoopTable* const best = [] {
    const LoopTable* const own = loops_of(cpu_level());
    if (cpu_level() != "v2") return own;
    static const LoopTable by_c = with_cs_functions(*own);
    return &by_c;
  }();
  return *best;
}

}  // namespace

Loop loop(Op op, DType in) {
  return best_loops().elementwise[static_cast<int>(op)][static_cast<int>(in)];
}
Loop cast_loop(DType from, DType to) {
  return best_loops().casts[static_cast<int>(from)][static_cast<int>(to)];
}

Scalar cast_scalar(const Scalar& value, DType to) {
  if (value.dtype == to) return value;
  Scalar result{.dtype = to};
  void* args[2] = {result.bytes, const_cast<std::byte*>(value.bytes)};
  cast_loop(value.dtype, to)(args, 1, 0);
  return result;
}
double harmless_input(Op op, DType in) {
  // Large results would overflow where they are stored as halves.
  if (op == Op::Negative) return 0.0;
  if (op == Op::Invert && is_integer(in) && !is_signed(in))
    return in == DType::UInt64 ? 0x1.fffffffffffffp63 : std::ldexp(1.0, 8 * size_of(in)) - 1;
  const Loop run = loop(op, in);
  std::fenv_t environment;
  std::feholdexcept(&environment);
  double found = 1.0;
  for (const double candidate : {1.0, 0.5, 2.0}) {
    alignas(16) std::byte element[16] = {}, result[16] = {};
    void* to_element[2] = {element, const_cast<double*>(&candidate)};
    cast_loop(DType::Float64, real_of(in))(to_element, 1, 0);
    if (is_complex(in)) std::copy_n(element, size_of(in) / 2, element + size_of(in) / 2);
    void* arguments[4] = {result, element, element, element};
    std::feclearexcept(FE_ALL_EXCEPT);
    if (run) run(arguments, 1, 0);
    if (std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW)) continue;
    found = candidate;
    break;
  }
  std::fesetenv(&environment);
  return found;
}
ReduceLoop reduce_loop(Op op, DType dtype) {
  return best_loops().reductions[static_cast<int>(op)][static_cast<int>(dtype)];
}
ChainLoops chain_loops(Op op, DType dtype) {
  return best_loops().chains[static_cast<int>(op)][static_cast<int>(dtype)];
}
ScanLoop scan_loop(Op op, DType dtype) {
  return best_loops().scans[static_cast<int>(op)][static_cast<int>(dtype)];
}

const MoveLoops& move_loops(int size) {
  return best_loops().moves[std::countr_zero(static_cast<unsigned>(size))];
}
CountUpLoop count_up_loop() { return best_loops().count_up; }

UpdateLoop update_loop(Op op, DType dtype) {
  return best_loops().updates[static_cast<int>(op)][static_cast<int>(dtype)];
}

RangeLoop range_loop(DType dtype) { return best_loops().ranges[static_cast<int>(dtype)]; }
BinLoop bin_loop(DType dtype) { return best_loops().bins[static_cast<int>(dtype)]; }
BetweenLoop between_loop(DType dtype) { return best_loops().between[static_cast<int>(dtype)]; }
CountLoop count_true_loop() { return best_loops().count_true; }
ExtremeLoop extreme_loop(Op op, DType dtype) {
  const LoopTable& loops = best_loops();
  return (op == Op::Maximum ? loops.greatest : loops.least)[static_cast<int>(dtype)];
}
ExtremeColumnsLoop extreme_columns_loop(Op op, DType dtype) {
  const LoopTable& loops = best_loops();
  return (op == Op::Maximum ? loops.greatest_columns
                            : loops.least_columns)[static_cast<int>(dtype)];
}

std::int64_t pairwise_split(DType dtype, std::int64_t n) {
  constexpr std::int64_t leaf = 128;
  // NumPy counts the parts of complex numbers.
  std::int64_t parts = is_complex(dtype) ? 2 : 1;
  if (parts * n <= leaf) return 0;
  std::int64_t half = parts * n / 2;
  return (half - half % 8) / parts;
}

// ---- formulas -----------------------------------------------------------------------------------

namespace {

std::string suffix_of(DType dtype) {
  return is_bool(dtype) ? "bool" : std::string(1, info(dtype).code);
}

}  // namespace

std::string formula_symbol(Op op, DType in) {
  return "frit_" + std::string(info(op).name) + "_" + suffix_of(in);
}
std::string rare_symbol(Op op, DType in) { return formula_symbol(op, in) + "_rare"; }
std::string is_ordinary_symbol(Op op, DType in) { return formula_symbol(op, in) + "_is_ordinary"; }
std::string ordinary_symbol(Op op, DType in) { return formula_symbol(op, in) + "_ordinary"; }
std::string far_symbol(Op op, DType in) { return formula_symbol(op, in) + "_far"; }
std::string by_one_symbol(Op op, DType in) { return formula_symbol(op, in) + "_by_one"; }
std::string alone_symbol(Op op, DType in) { return formula_symbol(op, in) + "_alone"; }
std::string overflow_symbol(Op op, DType in) { return formula_symbol(op, in) + "_overflows"; }
std::string cast_symbol(DType from, DType to) {
  return "frit_cast_" + suffix_of(from) + "_" + suffix_of(to);
}

}  // namespace frit
