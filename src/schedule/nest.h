// nest.h: a loop nest: what its loops touch, and which of their iterations depend on one another.
//
// In: a Routine of rank 0 (ordinary nested loops, as a person wrote them), and what is known beyond
// its structure. Out: a Nest: its loops, its accesses to arrays, and the dependences between them.
// This is the static stage: it is symbolic in sizes and integers, runs once for a Routine, and may
// take milliseconds. What it can't decide without the integers' values becomes a Condition, which
// the run-time stage (nest_verdict.h) evaluates.
//
// Meaning. Integers are Python's: index arithmetic does not wrap. Every access is inside its
// array: whoever runs the nest has checked that. Different parameters are different memory unless
// the facts say otherwise, and two different elements of a parameter are different memory unless
// they say so (`mixed`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/routine_use.h"
#include "schedule/condition.h"

namespace frit {

// What is known of a call beyond the Routine. Equal facts give equal Nests.
struct NestFacts {
  // Values of integer arguments to be taken as literals; none: symbolic.
  std::vector<std::optional<std::int64_t>> integers;
  // Parameter k is the parameter `array`, seen from its element `shift` on: element e here is
  // element e + shift there. Missing: itself.
  struct Same {
    std::int32_t array = -1;
    std::vector<std::int64_t> shift;
    bool operator==(const Same&) const = default;
  };
  std::vector<Same> same;
  // Pairs of parameters that share memory in another way; {k, k}: elements of k overlap.
  std::vector<std::pair<std::int32_t, std::int32_t>> mixed;
  bool operator==(const NestFacts&) const = default;
};

// One Loop or While of the Nest. Loops stand in the order of the text: parents before children.
struct NestLoop {
  const Instr* instr = nullptr;
  std::int32_t parent = -1;
  std::int32_t depth = 0;              // loops around it
  std::int32_t position = 0, end = 0;  // of the instructions in it: (position, end)
  bool is_while() const { return instr->kind == InstrKind::While; }
  bool may_be_endless() const { return is_while() && instr->rounds == 0; }
  ValueId index() const { return instr->result; }
};

// A condition around an access.
struct NestGuard {
  const Instr* branch = nullptr;  // an If
  bool holds = true;              // in its body, or else in its `other`
  std::int32_t depth = 0;         // loops around the If
};

// One Load or Store; Instr::number is its number.
struct NestAccess {
  const Instr* instr = nullptr;
  std::int32_t array = 0;       // the parameter, after NestFacts::same
  std::int32_t loop = -1;       // the innermost loop around it
  std::int32_t position = 0;    // among all instructions, in the order of the text
  std::vector<Affine> indices;  // an axis each, with the shift
  std::vector<NestGuard> guards;
  // Number of the update `array[e] = op(array[e], v)` that it is part of, or -1.
  std::int32_t update = -1;
  bool is_store() const { return instr->kind == InstrKind::Store; }
};

// Whether `x = op(x, v)` keeps Python's order: a sum of half floats has so few bits that another
// order gives another number (the sum of 4,000 ones is 2,048).
constexpr bool is_in_order(Op op, DType dtype) {
  return dtype == DType::Float16 && (op == Op::Add || op == Op::Subtract || op == Op::Multiply);
}

// array[e] = op(array[e], v), where nothing else uses the old element or the new value.
struct NestUpdate {
  std::int32_t load = -1, store = -1;  // accesses
  Op op{};
  ValueId operand = no_value;  // v
};

enum class DependenceKind : std::uint8_t { Flow, Anti, Output };

// The access `sink` touches, in a later iteration of the loop `level` (and in the same one of the
// loops around that), an element that `source` has touched; or, with level == common, in the same
// iteration of all of the loops that both are in, behind `source`.
struct Dependence {
  std::int32_t source = -1, sink = -1;  // accesses
  DependenceKind kind{};
  std::int32_t level = 0;   // depth of the loop that carries it
  std::int32_t common = 0;  // how many loops both are in
  // What the sink's index minus the source's can be along each common loop: a combination of signs
  // each. Empty: any.
  std::vector<std::vector<std::int8_t>> directions;
  // The same as a range, where it has an end: equal ends are a distance that is one number.
  std::vector<std::optional<std::int64_t>> least, most;
  // Holds where the dependence exists; -1: it always does (or for all but a few sizes).
  std::int32_t condition = -1;
  // Only because the work limit was reached, or because memory is shared in an unknown way.
  bool assumed = false;
  // Bit c: gone when the loop `level` is cut at candidate c (split_candidates).
  std::uint32_t gone_if_split = 0;
};

// Where a loop may be cut, so that the iteration at this index stands alone.
struct SplitCandidate {
  enum class Kind : std::uint8_t { OuterIndex, First, Last } kind{};
  std::int32_t loop = -1;  // OuterIndex: the loop whose index it is
};
// Of the loop: its first and last iteration, and the indices of the loops around it.
std::vector<SplitCandidate> split_candidates(const std::vector<NestLoop>& loops, std::int32_t loop);

// An access or a local that was not in the Routine as given, and the accesses it stands for there.
struct NestOrigin {
  std::int32_t number = -1;
  std::int32_t load = -1, store = -1;
};

struct Nest {
  Routine routine;                                        // simplified (nest_simplify.h)
  std::vector<NestOrigin> access_origins, local_origins;  // of what the simplification added
  NestFacts facts;
  std::vector<NestLoop> loops;
  std::vector<NestAccess> accesses;           // by Instr::number
  std::vector<const Instr*> definitions;      // of each value
  std::vector<std::int32_t> definition_loop;  // the innermost loop around each definition
  std::vector<std::int32_t> definition_position;
  std::vector<Affine> forms;  // of each Int64 value
  // forms may name value `values + k`: the floor of divisions[k].
  struct Division {
    Affine dividend;
    std::int64_t divisor = 1;
    bool operator==(const Division&) const = default;
  };
  std::vector<Division> divisions;
  std::vector<bool> written;  // by parameter: has a Store (after NestFacts::same)
  std::vector<NestUpdate> updates;
  std::vector<Dependence> dependences;
  std::vector<Condition> conditions;
  bool has_pair_judge = true;  // else isl is missing, and all pairs are assumed to depend

  Nest() = default;
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

  const NestLoop& loop(std::int32_t number) const {
    return loops[static_cast<std::size_t>(number)];
  }
  // The loops around (and including) `loop`, outermost first.
  std::vector<std::int32_t> path_to(std::int32_t loop) const;
  std::int32_t array_of(std::int32_t parameter) const;
  bool is_symbolic(ValueId value) const;  // an integer argument
  // Is it the same in all rounds of all loops, of integer arguments and numbers alone? Its value:
  bool is_fixed(const Affine& form) const;
  std::int64_t value_of(const Affine& form, std::span<const std::int64_t> integers) const;
  bool is_inside(ValueId value, std::int32_t loop) const;  // defined in the loop, or its index
};

// Never throws for what a person wrote: what is too hard is assumed to depend. What is found is
// kept in the store, if there is one (nest_kept.h).
class DiskStore;
std::shared_ptr<const Nest> analyse_nest(const Routine& routine, NestFacts facts = {},
                                         DiskStore* store = nullptr);

// Operations of isl that the test of two accesses may take; how many tests may take more, and how
// many there may be, before all that are left are assumed to depend.
// (isl counts its operations, not the length of its numbers, which can grow without end where much
// comes together: that has limits of its own.)
struct NestLimits {
  std::uint64_t operations = 40'000;
  int too_hard = 2;
  int tests = 1500;
  std::size_t quotients = 2, symbols = 24, loops = 12;  // of two accesses
  std::size_t steep = 2;  // terms of a sum with large factors: i * 10000 + j * 100 + k has two
};
void find_nest_dependences(Nest& nest, const NestLimits& limits = {});  // nest_dependence.cpp

}  // namespace frit
