// ops.h: what an operation means: element types, the op table, rules that follow from it.
//
// Everything here is generated from two tables: dtype.def (one row an element type) and op.def (one
// row an op: name, type rule, flags, identity and the formula for one element). Nobody else keeps
// a list of ops: a pass asks info(op).
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace frit {

// ---- element types ------------------------------------------------------------------------------

enum class DType : std::uint8_t {
#define FRIT_DTYPE(Name, name, code, kind, size, type) Name,
#include "ops/dtype.def"
#undef FRIT_DTYPE
};

inline constexpr int dtype_count = 0
#define FRIT_DTYPE(Name, name, code, kind, size, type) +1
#include "ops/dtype.def"
#undef FRIT_DTYPE
    ;

struct DTypeInfo {
  std::string_view name;  // NumPy's name: "float64"
  char code;              // NumPy's type character: 'd'
  char kind;              // NumPy's kind: b i u f c
  int size;               // bytes of one element
};

inline constexpr DTypeInfo dtype_table[] = {
#define FRIT_DTYPE(Name, name, code, kind, size, type) {name, code, kind, size},
#include "ops/dtype.def"
#undef FRIT_DTYPE
};
inline const DTypeInfo& info(DType dtype) { return dtype_table[static_cast<int>(dtype)]; }
inline int size_of(DType dtype) { return info(dtype).size; }
inline bool is_bool(DType d) { return d == DType::Bool; }
inline bool is_signed(DType d) { return info(d).kind == 'i'; }
inline bool is_unsigned(DType d) { return info(d).kind == 'u'; }
inline bool is_integer(DType d) { return is_signed(d) || is_unsigned(d); }
inline bool is_float(DType d) { return info(d).kind == 'f'; }
inline bool is_complex(DType d) { return info(d).kind == 'c'; }
inline bool is_inexact(DType d) { return is_float(d) || is_complex(d); }
// The float type of a complex type's parts; any other type is its own.
DType real_of(DType dtype);

// NumPy 2's promotion of two array types (NEP 50).
DType promote(DType a, DType b);
// Of several at once: the most general kind decides first, so it is not that of one after the
// other (int8, uint16, float32: float32). None: Float64.
DType promote(std::span<const DType> all);
enum class Casting : std::uint8_t { No, Equiv, Safe, SameKind, Unsafe };
bool can_cast(DType from, DType to, Casting casting);

// One element of any type, as an argument of a kernel. Always 16 bytes, the unused ones zero.
struct Scalar {
  alignas(16) std::byte bytes[16] = {};
  DType dtype = DType::Float64;

  template <class T>
  T as() const {
    T value;
    __builtin_memcpy(&value, bytes, sizeof(T));
    return value;
  }
  template <class T>
  static Scalar of(DType dtype, T value) {
    static_assert(sizeof(T) <= 16);
    Scalar s;
    s.dtype = dtype;
    __builtin_memcpy(s.bytes, &value, sizeof(T));
    return s;
  }
  bool operator==(const Scalar&) const = default;  // the same type and bits
};

// ---- ops ----------------------------------------------------------------------------------------

enum class Op : std::uint8_t {
#define FRIT_OP(Name, ...) Name,
#include "ops/op.def"
#undef FRIT_OP
};

inline constexpr int op_count = 0
#define FRIT_OP(Name, ...) +1
#include "ops/op.def"
#undef FRIT_OP
    ;

enum class TypeRule : std::uint8_t {
  Same,           // (T, ..) -> T
  Compare,        // (T, T) -> bool
  Predicate,      // (T) -> bool
  FloatOnly,      // integers become the smallest float that NumPy takes; (F, ..) -> F
  TrueDivide,     // as FloatOnly, but every integer pair becomes float64
  Logical,        // (T, T) -> bool, any T
  RealOfComplex,  // complex T -> its real type, others T -> T (absolute)
  Select,         // (bool, T, T) -> T
  Exponent,       // (F, int) -> F (ldexp)
  FloatToInt,     // (F) -> int32 (the exponent that frexp gives)
  ToUInt8,        // (T) -> uint8 (bitwise_count)
};

enum OpFlag : std::uint32_t {
  NoFlags = 0,
  // Swapping the inputs gives the same bits, but for the last bit of complex products (NumPy fuses
  // one half of them), for NaN, and for the sign of a zero in Maximum and its like.
  Commutative = 1u << 0,
  MayWarn = 1u << 1,     // can raise an IEEE flag on some input
  NumPyUfunc = 1u << 2,  // is a ufunc of NumPy's namespace
  // Of real elements a reduction by this op may run in any order, bit for bit but for the sign of a
  // zero (min, max, and, or); float add and multiply may not.
  Reorderable = 1u << 3,
  Costly = 1u << 4,       // more than ~20 instructions an element
  RefusesBool = 1u << 5,  // bool operands alone are a TypeError, though they could be cast to int8
};

// What a reduction over no elements gives.
enum class Identity : std::uint8_t { None, Zero, One, AllOnes, False, True, MinusInfinity };

struct OpInfo {
  std::string_view name;        // "Add"
  std::string_view numpy_name;  // "add"; empty where NumPy has no such ufunc
  int inputs;
  TypeRule rule;
  std::uint32_t flags;
  Identity identity;
  std::string_view
      numpy_types;         // the type characters (of the first input) that NumPy has loops for
  std::string_view types;  // those of them that have formulas here, in NumPy's order
  // The formulas' text, as written in the row (C); for GPU dialects and docs.
  std::string_view source;
};

const OpInfo& info(Op op);
inline bool has(Op op, OpFlag flag) { return (info(op).flags & flag) != 0; }
std::optional<Op> op_by_numpy_name(std::string_view name);
// May a reduction take its elements in any order? Not the largest complex number: of several with a
// NaN it is the first.
bool reduces_in_any_order(Op op, DType dtype);
// Does NumPy warn of this op on some elements of this type (of the first input; Select: of the
// others)?
bool may_warn(Op op, DType dtype);
// Can astype raise an IEEE flag: invalid (floats to integers), overflow (to a float of a smaller
// range)?
bool conversion_may_warn(DType from, DType to);
std::optional<Scalar> identity_of(Op op, DType dtype);

// How a caller's operand counts for the type rule: an array (or NumPy scalar) by its dtype, a
// Python int, float or complex weakly (NEP 50: only its kind matters).
enum class Weak : std::uint8_t { No, Int, Float, Complex };
struct OperandType {
  DType dtype;  // for weak operands: Int64, Float64, Complex128
  Weak weak = Weak::No;
};

struct Signature {
  DType in[3];
  DType out;
};
// The loop that NumPy's ufunc would choose, but for these: true_divide of integers is given as
// float64's loop (NumPy converts inside), ldexp's exponent is always Int64, and comparisons of
// int64 with uint64 are {Int64, UInt64} or the reverse, which no loop or formula here covers: ask
// NumPy. nullopt where NumPy raises a TypeError (no loop).
std::optional<Signature> resolve(Op op, std::span<const OperandType> operands);

// ---- ready-made loops (the interpreter's, compiled ahead of time per ISA) -----------------------

// args[0] is the output, args[1..] the inputs; all contiguous with n elements, except input k where
// bit k of `splat` is set (k = 0 for the first input): that one is a single element. The output may
// be the same memory as an input that is not a splat; it must not overlap one otherwise. Bool
// elements are bytes 0/1. Complex elements are interleaved pairs.
using Loop = void (*)(void* const* args, std::int64_t n, unsigned splat);
Loop loop(Op op, DType in);  // nullptr where the op has no formula for this type
// The choice goes by the type that the op works in: Select's first input is bool.
inline Loop loop(Op op, const Signature& signature) {
  return loop(op, signature.in[op == Op::Select ? 1 : 0]);
}
Loop cast_loop(DType from, DType to);  // as astype: C's conversions, out-of-range as x86 does them
Scalar cast_scalar(const Scalar& value, DType to);  // the same of one number

// An input, for each of the op's, at which it raises no flag that a program could be warned of.
double harmless_input(Op op, DType in);

// out = the reduction of in[0..n), n >= 1, contiguous, in NumPy's own order for one inner loop
// (float and complex Add: the pairwise tree; else one after another, or any order where that gives
// the same bits, but for the sign of a zero in Maximum and its like). float16: Add, Subtract,
// Multiply and TrueDivide reduce in float and round once. NumPy's reductions multiply complex
// numbers without fma: reduce those by MultiplyUnfused.
using ReduceLoop = void (*)(void* out, const void* in, std::int64_t n);
ReduceLoop reduce_loop(Op op, DType dtype);

// What sums of rows take: op(op(op(op(first, rows[0]), rows[1]), rows[2]), rows[3]), for each of n
// elements. What is between stays in registers, and so many rows are on their way from memory.
inline constexpr int chain_length = 4;
enum class ChainStart { Sum, Row };  // the op's first operand
struct ChainLoops {
  void (*chain)(void* out, const void* first, const void* const* rows, std::int64_t n) = nullptr;
  // So many times four rows, which lie `stride` bytes apart, onto the sums.
  void (*add_rows)(void* sums, const void* rows, std::int64_t stride, std::int64_t fours,
                   std::int64_t n, ChainStart start) = nullptr;
};
ChainLoops chain_loops(Op op, DType dtype);  // null: of some ops only

// Inclusive scan: out[i] = op(carry, in[0], .., in[i]) one after another; *carry is updated. May be
// in place.
using ScanLoop = void (*)(void* out, const void* in, void* carry, std::int64_t n);
ScanLoop scan_loop(Op op, DType dtype);

// Of elements of 1, 2, 4, 8 or 16 bytes, at any address. to[k] = from[k] for n of them, each side
// with its own distance in bytes between elements, where the two share no memory; to[k] = *from.
struct MoveLoops {
  void (*copy)(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
               std::int64_t n) = nullptr;
  void (*fill)(void* to, const void* from, std::int64_t n) = nullptr;
};
const MoveLoops& move_loops(int size);

// to[k] = first + k.
using CountUpLoop = void (*)(std::int64_t* to, std::int64_t first, std::int64_t n);
CountUpLoop count_up_loop();

// Length of the first half where NumPy's pairwise sum splits n elements of `dtype`, or 0 where n is
// a leaf.
std::int64_t pairwise_split(DType dtype, std::int64_t n);

// ---- formulas for the code generators -----------------------------------------------------------

// LLVM bitcode (built by clang from the op table) of one straight-line function a formula: no
// branches, calls to LLVM intrinsics only, no memory. Complex types: two functions, suffix "_re"
// and "_im", each taking (x_re, x_im, y_re, y_im, ..). Bool is i8: 0 or 1 where it was computed;
// what comes from memory may be any byte, and is true where it is not 0. float16 is `half`.
std::span<const char> formula_bitcode();
// A complex op whose result is real or bool (equal, absolute) has one function, without suffix.
// Select takes (bool, y.., z..). Ldexp's second argument is i64.
std::string formula_symbol(Op op, DType in);    // "frit_Add_d"; the type bool is written "bool"
std::string cast_symbol(DType from, DType to);  // "frit_cast_l_d"; between real types only

// Some formulas hold for most inputs only (fmod of a long quotient, sin of a huge angle, gcd). The
// bitcode then also has a function of this name, with the same arguments, which gives i8 1 where
// the formula's value is NOT the answer: loop(op, in) must compute that element (it is right
// everywhere). No such function: the formula is always right.
std::string rare_symbol(Op op, DType in);  // "frit_Fmod_d_rare"; complex: "frit_Exp_D_rare"
// Of some formulas the bitcode has a second, shorter one that gives the same bits where the first
// of these two functions gives i8 1.
std::string is_ordinary_symbol(Op op, DType in);  // "frit_Log_d_is_ordinary"
std::string ordinary_symbol(Op op, DType in);     // "frit_Log_d_ordinary"
// Of integer divisions a second one, for vectors without AVX-512.
std::string far_symbol(Op op, DType in);  // "frit_FloorDivide_l_far"
std::string by_one_symbol(Op op, DType in);
// And one for a number at a time.
std::string alone_symbol(Op op, DType in);  // "frit_FloorDivide_l_alone"
// Of this name: where its i8 is 1, the flag overflow is to be raised, which the formula leaves out.
std::string overflow_symbol(Op op, DType in);  // "frit_FloorDivide_l_overflows"

}  // namespace frit
