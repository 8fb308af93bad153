// emitter.h: the state of emitting one Kernel, shared by the emit_*.cpp files.
//
// A vector loop is emitted as code for `lanes_` iterations at a time (main part) and again for one
// (rest). With one lane nothing varies: values are scalars and control flow is branches. With more,
// a varying value is a vector and control flow on it narrows `mask_`.
//
// Where the body is long and straight it is emitted once, for up to `lanes_` iterations: only
// loads, stores and reductions ask how many there are. Lanes beyond do what the first lane does, so
// that they raise no flags of their own.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include "codegen/elements.h"
#include "codegen/emit.h"
#include "codegen/formula.h"

namespace frit::codegen {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

// A kernel value in the code emitted now. Complex values have two parts.
struct Emitted {
  struct Part {
    Value* scalar = nullptr;  // the same in all lanes
    Value* vector = nullptr;  // one element a lane; made from `scalar` when first needed
  };
  Part part[2] = {};
  int parts = 1;
  int level = 0;  // how many loops are around its definition
  // An Int64 whose lane k is base + k * step.
  Value* base = nullptr;
  Value* step = nullptr;

  bool is_affine() const { return base != nullptr; }
  bool varies() const { return !part[0].scalar; }
};

// How the lanes of one access lie in memory.
struct Place {
  enum class Kind { Uniform, Unit, Strided, Computed } kind = Kind::Uniform;
  Value* pointer = nullptr;  // of the only element, or of lane 0's
  Value* step = nullptr;     // Strided: bytes between lanes
  Value* triple = nullptr;   // Strided: 3 * step
  // Computed, or made safe for inactive lanes: a pointer each.
  llvm::SmallVector<Value*, 16> lanes = {};
  Value* offsets = nullptr;  // Computed, in place of `lanes`: bytes from `pointer`, as a vector
};

enum class Order {
  Tree,      // NumPy's pairwise sum
  Lanewise,  // any order gives the same bits: one accumulator a lane
  InOrder,   // one after another
};

// One reduction while its loop is emitted. Its memory is on the stack, where most of it becomes
// registers.
struct Accumulator {
  const Reduction* reduction = nullptr;
  Order order{};
  DType dtype{};  // of the values
  // Of partial results: float16 is added as float32 and rounded once, as NumPy does.
  DType sum_dtype{};
  bool over_lanes = false;  // of a vector loop: its lanes are reduced
  unsigned lanes = 1;       // of `narrow`: more than one for a loop inside a vector loop
  // Of `wide`, which a vector loop has: as many lanes as the loop, or as the tree has accumulators.
  unsigned width = 0;
  Value* wide[2] = {};
  Value* narrow[2] = {};  // the result so far
  Value *narrow_started = nullptr,
        *wide_started = nullptr;  // i1: holds a value yet? null: a neutral one from the start
  // Tree in a serial loop: the accumulators and, last, their sum; indexed by `slot`.
  Value* slots[2] = {};
  Value* left[2] = {};  // Tree: left halves on the way down
};

class Emitter {
 public:
  Emitter(const Kernel& kernel, const EmitOptions& options, Formulas& formulas,
          llvm::Module& module);
  EmittedKernel run();

 private:
  struct Frame {  // a loop around the code emitted now
    // Code here runs once, before the loop, when it has any iterations.
    BasicBlock* preheader = nullptr;
    ValueId index = no_value;
    bool independent = false;  // vector or parallel: no iteration reads what another writes
    bool stored = false;       // a Store was emitted in it
    int control = 0;           // depth of If and While inside the loop
    std::vector<Accumulator>* accumulators = nullptr;
    Value* slot = nullptr;  // of the iteration emitted now, in a serial loop with a tree
  };

  // emit.cpp: instructions
  void choose_lanes(const Instr& vector_loop);
  void forget_splats();
  void block(const Block& block);
  void instruction(const Instr& instr);
  void apply(const Instr& instr);
  Emitted apply(Op op, DType in, DType out, llvm::ArrayRef<Emitted*> operands);
  bool may_call_out(Op op, DType in);
  bool may_branch(Op op, DType in);
  Emitted call_formulas(const std::string& symbol, DType out, llvm::ArrayRef<Emitted*> operands);
  Value* call_formula(llvm::Function& formula, llvm::ArrayRef<Emitted*> operands);
  Emitted harmless(Op op, DType in, const Emitted& operand, bool varies);
  Emitted where_active(const Emitted& operand, const Emitted& otherwise, bool varies);
  bool affine_apply(const Instr& instr);
  bool was_chosen_by(const Emitted::Part& condition);
  llvm::Value* active(llvm::Value* flags);
  bool is_by_one(llvm::ArrayRef<Emitted*> operands);
  void raise_where_it_overflows(Op op, DType in, llvm::ArrayRef<Emitted*> operands);
  void raise_overflow();
  Emitted call_out_where_rare(Op op, DType in, DType out, llvm::ArrayRef<Emitted*> operands);
  Value* product_or(Value* x, const std::function<Value*()>& called);
  bool has_shorter_way(Op op, DType in, llvm::ArrayRef<Emitted*> operands);
  Emitted shorter_where_ordinary(Op op, DType in, DType out, llvm::ArrayRef<Emitted*> operands);
  Emitted call_out(const CallOut& wanted, DType out, llvm::ArrayRef<Emitted*> operands,
                   unsigned lanes);
  Emitted call_library(const Instr& instr, DType in, llvm::ArrayRef<Emitted*> operands);
  llvm::Value* callee(const CallOut& wanted);
  Value* argument_in_memory(Emitted& operand, unsigned lanes);
  void cast(const Instr& instr);
  Emitted cast(DType from, DType to, Emitted& value);
  Emitted cast_parts(DType from, DType to, Emitted& value);
  Emitted constant(const Scalar& value) const;
  void scalar_argument(const Instr& instr);
  void integer_argument(const Instr& instr);
  void read_local(const Instr& instr);
  void write_local(const Instr& instr);
  Value* const* local_memory(std::int32_t number);
  unsigned lanes_of_local(std::int32_t number) const;
  bool is_truth(std::int32_t local) const;
  Emitted load_local(std::int32_t number);
  void write_local(std::int32_t number, const Emitted& value);

  // emit_control.cpp
  void stop_if_asked();
  void loop(const Instr& instr);
  void serial_loop(const Instr& instr, Value* begin, Value* end);
  Value* holds_anywhere(ValueId condition);
  void leave_if(Value* condition, const Block& instructions);
  void vector_loop(const Instr& instr, Value* begin, Value* end);
  void vector_part(const Instr& instr, Value* begin, Value* end, Value* aligned);
  void whole_and_partial(const Instr& instr, Value* begin, Value* end);
  void overlapping_part(const Instr& instr, Value* begin, Value* end, Value* last);
  void partial_loop(const Instr& instr, Value* begin, Value* end,
                    llvm::ArrayRef<const Instr*> stores);
  void partial_part(const Instr& instr, Value* begin, Value* end, Value* first_count);
  void single_part(const Instr& instr, Value* begin, Value* end);
  void short_part(const Instr& instr, Value* begin, Value* end);
  void peeled(const Instr& instr, Value* begin, Value* end, llvm::ArrayRef<const Instr*> stores);
  std::vector<const Instr*> streaming_stores(const Instr& loop);
  std::vector<const Instr*> unit_stores(const Instr& loop);
  std::int64_t element_bytes(const Instr& access) const;
  Value* address_at(const Instr& loop, const Instr& store, Value* index);
  Value* index_at(const Instr& loop, ValueId id, Value* index);
  Value* distance_to_aligned(const Instr& loop, const Instr& store, Value* index);
  Value* is_aligned(const Instr& loop, llvm::ArrayRef<const Instr*> stores, Value* index);
  Value* whole_vectors(Value* begin, Value* end);
  void in_frame(Frame frame, const std::function<void()>& emit_code);
  void body(const Instr& instr, Value* index, unsigned lanes);
  void branch_if(const Instr& instr);
  void masked_block(const Block& block, Value* mask);
  void controlled(const Block& block);  // a block that not every iteration runs
  void while_loop(const Instr& instr);
  void masked_while(const Instr& instr);
  void scalar_while(const Instr& instr);
  Value* goes_on(const Instr& instr);
  // Loop over index in [begin, end) by `step`, possibly none; end - begin is a multiple of it.
  void counted(Value* begin, Value* end, unsigned step, const std::function<void(Value*)>& body);
  void if_then(Value* condition, const std::function<void()>& then);
  void if_then_else(Value* condition, const std::function<void()>& then,
                    const std::function<void()>& otherwise);
  BasicBlock* new_block(const char* name);

  // emit_reduce.cpp
  using Accumulators = std::vector<Accumulator>;
  Accumulators open_accumulators(const Instr& instr);
  Accumulator open_accumulator(const Reduction& reduction, bool vector);
  void accumulate(Accumulator& accumulator);
  void accumulate_tree(Accumulator& accumulator, Emitted value);
  void add_round(const Accumulator& accumulator, Emitted& terms, unsigned first);
  void accumulate_in_order(Accumulator& accumulator, Emitted value);
  void accumulate_full(Accumulator& accumulator, Emitted value);
  void accumulate_partial(Accumulator& accumulator, Emitted value);
  void fold(Value* const* memory, Value* started, const Accumulator& accumulator, Emitted value,
            unsigned lanes);
  Emitted add(DType dtype, Emitted x, Emitted y);
  Emitted sum_of_lanes(const Accumulator& accumulator);
  Emitted sum_of_slots(const Accumulator& accumulator);
  std::array<Value*, 2> slot_memory(const Accumulator& accumulator, Value* slot);
  void close_accumulator(Accumulator& accumulator);
  void fold_wide(Accumulator& accumulator);
  void open_leaf(Accumulators& accumulators);
  void combine_leaf(Accumulators& accumulators);
  void vector_leaf(const Instr& instr, Accumulators& accumulators, Value* begin, Value* end,
                   Value* aligned);
  void serial_leaf(const Instr& instr, Accumulators& accumulators, Value* begin, Value* end);
  void tree(Accumulators& accumulators, Value* begin, Value* end,
            const std::function<void(Value*, Value*)>& leaf);

  // emit_memory.cpp
  void load(const Instr& instr);
  void store(const Instr& instr);
  Place place(const Address& address);
  Value* add_uniform_terms(const Address& address, bool outer, Value* pointer);
  Value* stride_of(const Address& address, const Term& term);
  Value* along(Value* pointer, const Address& address, const Term& term, Value* index);
  Value* add_affine_bases(const Address& address, bool outer, Value* pointer);
  void find_step(const Address& address, Place& place);
  void add_computed_terms(const Address& address, Place& place);
  Value* lane_pointer(const Place& place, unsigned lane);
  void make_safe(Place& place);
  Value* evenly_spaced(Value* step);
  Emitted load_single(DType dtype, Value* pointer);
  Emitted load_unit(DType dtype, const Place& place);
  Emitted load_each(DType dtype, Place& place);
  bool gathers(DType dtype) const;
  Emitted load_gathered(DType dtype, const Place& place);
  void prefetch(DType dtype, const Place& from);
  void prefetch(Value* first, unsigned bytes, bool for_stores);
  void fetch(const Instr& loop, const Fetch& what, Value* index);
  Emitted load_full(DType dtype, Place& place);
  Emitted load_partial(DType dtype, Place& place);
  void store_partial(Emitted& value, DType dtype, const Place& place, bool streaming);
  void store_full(Emitted& value, DType dtype, const Place& place, bool streaming);
  Value* lanes_in_memory(Emitted& value);
  Emitted lanes_from_memory(DType dtype, Value* memory);
  void store_single(const Emitted& value, DType dtype, Value* pointer);
  void store_unit(Emitted& value, DType dtype, const Place& place, bool streaming);
  void store_each(Emitted& value, DType dtype, const Place& place);
  Value* active_lanes();
  bool is_hoistable_load(const Address& address);

  // emit_neighbours.cpp
  struct Neighbour {
    std::size_t group = 0;
    std::int64_t offset = 0;  // of its elements, from the loop's own index
  };
  struct NeighbourGroup {
    Address address;  // but for the offset
    std::int64_t low = 0, high = 0;
    std::set<std::int64_t> offsets = {};
    llvm::SmallVector<Value*, 8> registers = {};  // those of `low`, and one more
  };
  std::optional<std::int64_t> distance_from(const Instr& loop, ValueId index);
  void find_neighbours(const Instr& loop);
  void erase_neighbours_of_few();
  void load_group(NeighbourGroup& group, DType dtype, Value* first);
  Emitted load_neighbour(const Neighbour& neighbour, DType dtype, Value* pointer);
  Value* concatenated(llvm::ArrayRef<Value*> vectors);

  // emit_values.cpp: parts, vectors, types
  Type* element_type(DType dtype) const { return part_type(dtype, context_); }
  Type* lanes_type(Type* element, unsigned lanes) const;
  llvm::Constant* lane_numbers() const;
  Emitted affine(Value* base, Value* step);
  Emitted& value(ValueId id);
  void define(const Instr& instr, Emitted value);
  Value* vector_of(Emitted& value, int part);
  Value* in_lanes(Emitted& value, int part);  // scalar if it is one, else vector
  Value* bool_condition(Emitted& value);      // i1, or a vector of i1
  Value* interleave(Emitted& pair);
  Emitted deinterleave(Value* pairs);
  Value* any(Value* mask);
  Emitted select(Value* condition, const Emitted& yes, const Emitted& no);
  Emitted fenced(const Emitted& value);
  Emitted held(const Emitted& value);
  Emitted fenced_choice(Op op, const Emitted& operand);
  Emitted extract(Emitted& value, Value* lane);
  Emitted load_parts(Value* const* memory, DType dtype, unsigned lanes);
  void store_parts(Value* const* memory, Emitted value, DType dtype, unsigned lanes);
  void make_memory(Value** memory, DType dtype, unsigned lanes, const char* name);
  void make_memory(Value** memory, int parts, llvm::Type* part, const char* name);
  Value* stack(Type* type, const char* name);
  Value* integer(std::int32_t number);  // an integer argument, loaded once on entry
  Value* int64(std::int64_t value) const { return llvm::ConstantInt::getSigned(int64_, value); }
  bool is_varying(ValueId id) const {
    return lanes_ > 1 && variance_.values[static_cast<std::size_t>(id)];
  }
  // Of what may raise a flag: is it kept from where nobody comes? (In vectors not from loops of no
  // rounds: what is the same in all lanes stays in a register there.)
  bool is_conditional(bool varies) const {
    return mask_ || (!varies && level() > 1) ||
           llvm::any_of(frames_, [](const Frame& frame) { return frame.control > 0; });
  }
  int level() const { return static_cast<int>(frames_.size()); }
  Frame& frame() { return frames_.back(); }
  DType dtype_of(ValueId id) const { return kernel_.values[static_cast<std::size_t>(id)]; }
  // Runs `emit_code` with the builder before the innermost loop.
  void at_preheader(const std::function<void()>& emit_code);
  // Whether code that needs only values of `level` may stand before the innermost loop, at the same
  // cost or less.
  bool may_hoist(int highest_level) const {
    return !frames_.empty() && frames_.back().control == 0 && highest_level < level();
  }

  const Kernel& kernel_;
  const Variance variance_;
  const std::vector<bool> truths_;  // by local: it holds what comparisons and the like give
  const Machine& machine_;
  const Effort effort_;
  bool is_improvable_ = false;
  bool is_branchy_ = false;
  BasicBlock* while_end_ = nullptr;  // of the While around; null: its lanes end one by one
  std::optional<bool> only_moves_;   // do all vector loops little else but load and store?
  Formulas& formulas_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  Builder builder_;
  llvm::Function* function_ = nullptr;
  BasicBlock* entry_ = nullptr;
  Type* int64_ = nullptr;
  Type* bool_ = nullptr;
  Type* pointer_ = nullptr;

  unsigned vector_lanes_ = 1;    // of the main part of the vector loop
  unsigned lanes_ = 1;           // of the code emitted now
  Value* mask_ = nullptr;        // active lanes; null: all
  std::set<const Instr*> flat_;  // Ifs on varying conditions that need no branch
  bool is_flat_ = false;         // inside of one: perhaps no lane is active
  // Active lanes of a partial iteration, the first ones; null: lanes_ of them.
  Value* count_ = nullptr;
  Value* is_full_ = nullptr;  // count_ is lanes_
  Value* numbers_ = nullptr;  // of the lanes: 0, 1, ..; beyond count_ 0
  Value* aligned_ =
      nullptr;         // whether streaming Stores are possible, where that is asked at each of them
  bool once_ = false;  // the vector loop emitted now has one body for all
  bool loads_much_ = false;  // it is straight, with hardly more to compute than to load
  bool alone_ = false;       // it runs one by one
  bool streaming_ = false;   // streaming Stores are emitted as such now
  bool streamed_ = false;    // any was
  std::vector<Frame> frames_;
  std::vector<Emitted> values_;
  std::vector<Value*> operand_pointers_;
  std::vector<Value*> integers_;
  std::set<const Value*> conditions_;  // of the Selects emitted so far
  // By number and lanes.
  std::map<std::pair<std::int32_t, unsigned>, std::array<Value*, 2>> locals_;
  // Loads of the vector loop's iterations emitted now.
  std::map<const Instr*, Neighbour> neighbours_;
  std::vector<NeighbourGroup> neighbour_groups_;
  std::vector<CallOut> call_outs_;
  Value* stop_ = nullptr;          // where the flag is, in kernels that may stop
  BasicBlock* stopped_ = nullptr;  // where they end then
};

}  // namespace frit::codegen
