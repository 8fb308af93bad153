// program.h: In: a Kernel. Out: a Program, flat steps over registers, for the interpreter.
//
// A register is a pointer to a value: one element where the value is uniform, a block of them, one
// a lane, where it differs between the lanes of a vector loop. Most registers point into the frame,
// a piece of memory that each running part has for itself; a *direct* register points to an
// operand's own memory, so that loads copy nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace frit::interp {

using Register = std::int32_t;
inline constexpr Register no_register = -1;

enum class StepKind : std::uint8_t {
  Apply,       // out = function(in...), for all lanes
  ApplyStore,  // the same, straight to memory
  ApplyWrite,  // the same, straight to a local
  ApplyChain,  // one op on in[0] and the rows of a Chain, one after another, straight to memory
  ApplyOnce,   // the same, for uniform values
  AddIntegers,
  SubtractIntegers,
  MultiplyIntegers,  // uniform, without a call
  Load,
  LoadOnce,
  Gather,
  Store,
  Move,  // Load and Store of the same lanes, which lie apart there and side by side here
  StoreOnce,
  Scatter,
  Copy,
  CopyOnce,  // out = in[0]
  Write,     // the lanes' local `out` = in[0]
  Loop,
  If,
  IfLanes,
  While,
  WhileLanes,
};

struct Step {
  StepKind kind{};
  std::uint8_t inputs = 0;
  std::uint8_t splat = 0;  // bit k: in[k] is uniform
  std::uint8_t size = 0;   // bytes of one element of the result, or of what is stored or copied
  bool is_silent = false;  // Apply ..: what it raises is nobody's concern: it compares NaNs
  bool ends_loop = false;  // If, IfLanes: where it holds nowhere, the loop in order around it ends
  Register out = no_register;
  Register in[3] = {0, 0, 0};
  Register spare = no_register;  // a block of the frame for what can't be direct
  std::int32_t access = -1;      // Load, Store, Move ..: number of the Access
  std::int32_t hazards = 0;      // Store ..: first Hazard, and how many
  std::int32_t hazard_count = 0;
  // Loop, IfLanes, WhileLanes, ApplyChain, Move: number of the LoopDetail, LaneBranch, Chain, or
  // the Access of the store
  std::int32_t detail = -1;
  std::int32_t middle = 0;  // If: first step of else; While: first step of the body
  std::int32_t end = 0;     // Loop, If, While: the first step behind it
  frit::Loop function = nullptr;
};

// An address. Its terms stand in Program::terms: those with uniform indices, the lanes' own, those
// with varying indices.
struct Access {
  std::int32_t operand = 0;
  std::int32_t first_term = 0;
  std::int16_t uniform_terms = 0, lane_terms = 0, varying_terms = 0;
};

// A direct register whose value is used behind a store: copied to its spare block first, where the
// store would change it.
struct Hazard {
  Register direct = no_register;
  Register spare = no_register;
  std::int32_t size = 0;
};

// A part of a vector loop that some of its lanes run: these are packed side by side, so that each
// step runs on a dense block of them and the others do and risk nothing. A register that comes from
// outside is made to point to a packed copy meanwhile.
struct Packed {
  Register outside = no_register;
  Register block = no_register;
  std::int32_t size = 0;
  bool written = false;  // a local: its lanes go back
};
struct Region {
  std::int32_t first_packed = 0, packed_count = 0;
  std::int32_t hazards = 0,
               hazard_count = 0;  // direct values from outside that its stores may change
  Register places = no_register;  // for each packed lane, its number in the vector loop's block
};
struct LaneBranch {
  std::int32_t region = -1, other = -1;               // If: body and else; While: all of it
  Register chosen = no_register, rest = no_register;  // lists of lanes by the condition
  Register homes = no_register;  // While: for each packed lane, its number outside
};

// What an ApplyChain takes besides in[0], all direct.
struct Chain {
  Register rows[chain_length] = {};
  ChainLoops loops;
};

enum class ReductionOrder : std::uint8_t { Tree, Any, OneAfterAnother };

struct ReductionDetail {
  ReductionOrder order{};
  bool value_varies = false;
  bool local_varies = false;
  std::uint8_t size = 0;       // bytes of one value
  std::uint8_t tree_size = 0;  // bytes of one partial result
  DType tree_dtype{};          // float16 is added as float32 and rounded once, as NumPy does
  Register value = no_register;
  Register local = no_register;
  frit::Loop combine = nullptr;       // on values
  frit::Loop combine_tree = nullptr;  // on partial results
  frit::Loop widen = nullptr;         // value -> partial result; null where they have one type
  frit::Loop narrow = nullptr;
  ReduceLoop reduce = nullptr;  // of a block of partial results
  ScanLoop scan = nullptr;
};

struct LoopDetail {
  bool parallel = false, vector = false;
  std::int32_t first_reduction = 0, reduction_count = 0;
  std::int32_t tree = -1;        // the reduction whose tree orders the loop; -1: none does
  Register index = no_register;  // serial: the index; vector: the lanes' indices, or none
  Register begin = no_register, end = no_register;
};

struct Program {
  bool may_stop = false;  // as of the Kernel
  std::vector<Step> steps;
  std::vector<Access> accesses;
  std::vector<Term> terms;  // Term::index is a register
  std::vector<Hazard> hazards;
  std::vector<LoopDetail> loops;
  std::vector<LaneBranch> branches;
  std::vector<Chain> chains;
  std::vector<Region> regions;
  std::vector<Packed> packed;
  std::vector<ReductionDetail> reductions;
  std::vector<Operand> operands;
  // Registers in this order: integer arguments, scalar arguments, constants, the frame's.
  std::int32_t integers = 0;
  std::int32_t scalars = 0;
  std::vector<Scalar> constants;
  std::vector<std::int32_t> frame_offsets;
  std::int32_t lanes = 0;  // of a full block
  std::int32_t frame_bytes = 0;
  std::int32_t temporary_bytes = 0;  // of each of the three blocks behind the frame; 0: not needed
};

Program decode(const Kernel& kernel);

}  // namespace frit::interp
