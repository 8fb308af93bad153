// kernel.h: a Kernel is one launch: loops over arrays of memory, with a body of typed instructions.
//
// All doors end here: a fused group of NumPy calls, a PyKokkos workunit and a Python loop nest are
// all Kernels, and a backend runs Kernels and nothing else.
//
// Meaning. A Kernel is a block of instructions that run in order. Instructions that give a value
// define it once (`result`, an index into Kernel::values); a value is visible in its own block
// behind its definition and in blocks nested there. What changes over time is a *local* (ReadLocal,
// WriteLocal) or memory (Load, Store).
//
//   Constant     result = a literal baked into the kernel
//   ScalarArg    result = scalar argument number `number`
//   IntegerArg   result = integer argument number `number` (int64: extents, bounds)
//   Apply        result = op(args...), by the op table's formula, or by another library's function
//                (`math`: of values that don't vary); all args have the op's input type
//   Cast         result = args[0] converted to the result's type, as astype does
//   Load         result = the element at `address`
//   Store        the element at `address` = args[0]
//   ReadLocal    result = the local `number`
//   WriteLocal   the local `number` = args[0]
//   Loop         for result in [args[0], args[1]): body, then the loop's reductions (below)
//   If           args[0] is Bool: body, else other (if any)
//   While        run `other`, which sets the Bool local `number`; leave if false; run body; repeat
//
// Loops. `parallel`: iterations are independent, and a launch may run any part [begin, end) of
// them: the one parallel loop is the last instruction of the root block, everything before it is
// uniform set-up (Constant, ScalarArg, IntegerArg, Apply, Cast), and its own bounds are then given
// by the launch: args are not used.
// `vector`: iterations are independent, so that a backend runs many at a time (SIMD lanes); on each
// path from the root there is at most one vector loop. A value inside a vector loop that depends on
// its index is *varying*, all others are uniform. If and While on varying conditions run under a
// mask of lanes. A loop inside a vector loop has uniform bounds. A loop that is neither runs in
// order. A loop may be both parallel and vector; a loop with reductions is not parallel.
//
// An If that `fails` has a body alone. It says in a local of its launch that what this does is
// thrown away, and stands in a While that ends for that reason: what is left of the round may be
// left out.
//
// Fetches of a vector loop change nothing: they say what loops behind it go on with.
//
// Reductions of a loop {op, value, local}: `value` is defined in the body; after the last iteration
//   local = op(local, R), R = all values reduced in NumPy's order for an inner loop of this extent:
// float and complex Add: the pairwise tree (pairwise_split); what reduces_in_any_order: any order.
// Every other op takes the values one after another, beginning with the local:
//   local = op(.. op(op(local, value 0), value 1) ..).
// With no iterations the local is unchanged. All reductions of one loop share its leaves: they have
// the same tree (see tree_class).
// The order is part of the meaning: every backend gives the same bits.
//
// Addresses. pointer(operand) + sum of index_k * stride_k, in bytes; a stride is an integer
// argument, or the element size (unit_stride). A term whose index is the vector loop's own index
// says how lanes lie in memory: absent (one element for all lanes), unit_stride (contiguous), else
// strided. Varying indices that are computed make a gather or scatter. All accesses are inside the
// operand's memory: whoever makes the Kernel has checked that. Within a vector or parallel loop no
// iteration reads what another writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/math_library.h"
#include "ops/ops.h"

namespace frit {

using ValueId = std::int32_t;
inline constexpr ValueId no_value = -1;
inline constexpr std::int32_t unit_stride = -1;

enum class InstrKind : std::uint8_t {
  Constant,
  ScalarArg,
  IntegerArg,
  Apply,
  Cast,
  Load,
  Store,
  ReadLocal,
  WriteLocal,
  Loop,
  If,
  While,
};

struct Term {
  ValueId index = no_value;           // an Int64 value
  std::int32_t stride = unit_stride;  // number of an integer argument (bytes), or unit_stride
  bool operator==(const Term&) const = default;
};

struct Address {
  std::int32_t operand = -1;
  std::vector<Term> terms;
  bool operator==(const Address&) const = default;
};

struct Reduction {
  Op op{};
  ValueId value = no_value;
  std::int32_t local = -1;
  bool operator==(const Reduction&) const = default;
};

// What the rounds of a vector loop bring into the cache for the loops behind: from `address` on,
// which has indices from outside of the loop alone, so many elements a round. It may lie anywhere.
struct Fetch {
  Address address;
  std::int32_t elements = 0;
  bool for_stores = false;
  bool operator==(const Fetch&) const = default;
};

struct Instr;
using Block = std::vector<Instr>;

struct Instr {
  InstrKind kind{};
  Op op{};                 // Apply
  MathLibrary math{};      // Apply: whose function; in a Routine: where it is one number at a time
  bool parallel = false;   // Loop
  bool vector = false;     // Loop
  bool streaming = false;  // Load, Store: of what the cache doesn't hold, and not soon again
  bool tree = false;       // Loop of a Routine: its float sums are NumPy's pairwise tree
  bool repeats = false;    // vector Loop: an iteration may run twice, as it reads nothing it writes
  bool fails = false;      // If: what the launch does is thrown away where it holds (above)
  bool quiet = false;      // Apply of a Routine: nobody is warned of it, as of Python's own floats
  ValueId result = no_value;
  ValueId args[3] = {no_value, no_value, no_value};
  std::int32_t number = -1;           // argument or local
  std::int32_t rounds = 0;            // While: about how many; 0: nobody knows
  Scalar constant;                    // Constant
  Address address;                    // Load, Store
  std::vector<Reduction> reductions;  // Loop
  std::vector<Fetch> fetches;         // vector Loop, not the parallel one
  Block body;                         // Loop, If, While
  Block other;                        // If: else; While: the condition
  bool operator==(const Instr&) const = default;
};

// visit(instr) for all of a block, and of the blocks inside: conditions and else before bodies.
template <class Visit>
void for_each_instr(const Block& block, Visit&& visit) {
  for (const Instr& instr : block) {
    visit(instr);
    for_each_instr(instr.other, visit);
    for_each_instr(instr.body, visit);
  }
}

struct Operand {
  DType dtype{};
  bool written = false;
  // A scratch operand is private memory of each running part of a launch: its pointer is
  // the launch's scratch pointer + integer argument number `scratch_offset` (bytes); -1: ordinary
  // memory.
  std::int32_t scratch_offset = -1;
  // Ordinary memory of an earlier operand, seen from its element `distance` on; -1: nobody knows.
  std::int32_t beside = -1, distance = 0;
  bool operator==(const Operand&) const = default;
};

struct Kernel {
  std::vector<Operand> operands;
  std::vector<DType> scalars;  // types of the scalar arguments
  std::int32_t integers = 0;   // how many integer arguments
  std::vector<DType> values;   // type of each value
  std::vector<DType> locals;   // type of each local
  Block code;
  // A launch of it may be asked to stop (backend/stop.h): it looks between rounds of its loops.
  bool may_stop = false;
  // Its arrays are, most likely, in the caches that a core has for itself, but not in the first.
  bool from_own_cache = false;
  // What a round of a While loads lies inside of its memory also where no round comes to it.
  bool loads_early = false;
  bool operator==(const Kernel&) const = default;
};

// How many tree leaves apart: two Add reductions can share a loop when their classes are equal
// (0: any order or one after another; 1: pairwise over real elements; 2: pairwise over complex
// ones).
int tree_class(Op op, DType dtype);

// Which values and locals differ between the lanes of the vector loop around them.
struct Variance {
  std::vector<bool> values;
  std::vector<bool> locals;
};
Variance variance_of(const Kernel& kernel);

// Throws InternalError, naming the first rule above that does not hold.
void verify(const Kernel& kernel);

// The kernel as text, one instruction a line: for tests, dumps and explain.
std::string print(const Kernel& kernel);

// All of its structure as bytes: equal for two kernels if and only if they mean the same code. The
// key of the code cache.
std::string serialize(const Kernel& kernel);

// Its value depends on its arguments alone, and it does nothing else.
bool is_pure(const Instr& instr);
// What raises a floating-point error stays under the condition that keeps it from doing so. Sums
// and products raise one from extreme values only, and are the bulk of what a condition's branches
// share.
bool raises_easily(const Instr& instr, DType from, DType to);  // of its first operand and its own

// All that a loop in order does, where its condition, once it is false, stays so: nothing else
// changes what that follows from. The loop may end with the first round in which it holds nowhere.
// Null: there is no such If.
const Instr* ending_if(const Instr& loop);

// The instruction of this very block that defines a value; null: none does.
const Instr* definition_in(const Block& block, ValueId id);

// The root's parallel loop.
const Instr& parallel_loop(const Kernel& kernel);

}  // namespace frit
