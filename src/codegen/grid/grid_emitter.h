// grid_emitter.h: the state of emitting one Kernel for a grid, shared by grid/*.cpp.
//
// Each value is one number of one thread: nothing is a vector, and control flow is branches. What
// differs from a loop on a CPU is who runs which iteration. In the form Blocks all threads of a
// block run what stands outside of vector loops, and compute the same there; one of them stores.
// Barriers stand where a thread could otherwise read or write what another has not finished with.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/elements.h"
#include "codegen/grid/grid.h"

namespace frit::codegen {

// This kernel is none for a grid.
struct Unsupported {
  std::string why;
};

// A number; a complex one has two parts.
struct Number {
  llvm::Value* part[2] = {};
  int parts = 1;
};

// A reduction while its loop is emitted. Its memory becomes registers.
struct GridSum {
  const Reduction* reduction = nullptr;
  DType dtype{};      // of the values
  DType sum_dtype{};  // float16 is added as float32 and rounded once, as NumPy does
  bool is_tree = false;
  llvm::Value* total[2] = {};      // the result so far
  llvm::Value* started = nullptr;  // bool: it has one
  llvm::Value* slots[2] = {};      // of a tree's leaf: one a thread of the group, or an array
  llvm::Value* left[2] = {};       // left halves on the way down
};

class GridEmitter {
 public:
  GridEmitter(const Kernel& kernel, Formulas& formulas, llvm::Module& module);
  GridCode run();

 private:
  // grid_emitter.cpp
  void choose_form();
  void open_function();
  void parallel_loop();
  void block(const Block& instructions);
  void instruction(const Instr& instr);
  Number constant(const Scalar& literal) const;
  void apply(const Instr& instr);
  Number apply(Op op, DType in, DType out, llvm::ArrayRef<Number> operands);
  llvm::Value* call_formula(llvm::Function& formula, llvm::ArrayRef<Number> operands);
  void note_errors(Op op, DType in, DType out, llvm::ArrayRef<Number> operands, const Number& made);
  llvm::Value* has_pole(Op op, llvm::ArrayRef<Number> operands);
  void raise_if(llvm::Value* condition, std::uint32_t flags);
  Number cast(DType from, DType to, const Number& operand);
  void note_conversion(DType from, DType to, llvm::Value* number, llvm::Value* converted);
  llvm::Value* address(const Address& address);
  Number load_at(DType dtype, llvm::Value* pointer);
  void store_at(DType dtype, const Number& number, llvm::Value* pointer);
  void load(const Instr& instr);
  void store(const Instr& instr);
  void branch_if(const Instr& instr);
  void while_loop(const Instr& instr);
  void stop_if_asked();
  void loop(const Instr& instr);
  void vector_loop(const Instr& instr, llvm::Value* begin, llvm::Value* end);
  void serial_loop(const Instr& instr, llvm::Value* begin, llvm::Value* end);
  void counted_until_ended(const Instr& instr, llvm::Value* begin, llvm::Value* end,
                           const std::function<void(llvm::Value*)>& emit_body);
  void body(const Instr& instr, llvm::Value* index);
  void barrier();
  // From begin on by `step`, as long as it is below `end`.
  void counted(llvm::Value* begin, llvm::Value* end, llvm::Value* step,
               const std::function<void(llvm::Value*)>& emit_body);
  void if_then(llvm::Value* condition, const std::function<void()>& then,
               const std::function<void()>& otherwise = nullptr) {
    emit_if(builder_, condition, then, otherwise);
  }

  // grid_reduce.cpp
  std::vector<GridSum> open_sums(const Instr& instr);
  void take(GridSum& sum, const Number& value);
  void close_sum(GridSum& sum);
  void serial_tree(const Instr& instr, std::vector<GridSum>& sums, llvm::Value* begin,
                   llvm::Value* end);
  void shared_tree(const Instr& instr, std::vector<GridSum>& sums, llvm::Value* begin,
                   llvm::Value* end);
  void serial_leaf(const Instr& instr, std::vector<GridSum>& sums, llvm::Value* begin,
                   llvm::Value* end);
  void group_leaf(const Instr& instr, std::vector<GridSum>& sums, llvm::Value* begin,
                  llvm::Value* end);
  void tree(std::vector<GridSum>& sums, llvm::Value* begin, llvm::Value* end,
            const std::function<void(llvm::Value*, llvm::Value*)>& leaf);
  void fold_shared(GridSum& sum, llvm::Value* count);
  Number add(DType dtype, const Number& x, const Number& y);
  llvm::Value* shuffle(llvm::Value* value, llvm::Value* lane, bool by_distance);
  llvm::Value* shared_at(llvm::Value* place);

  // values
  llvm::Type* element_type(DType dtype) const { return part_type(dtype, context_); }
  DType dtype_of(ValueId id) const { return kernel_.values[static_cast<std::size_t>(id)]; }
  Number& value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }
  llvm::Value* truth(const Number& number);
  llvm::Value* int64(std::int64_t number) const;
  llvm::Value* int32(std::uint32_t number) const;
  llvm::Value* stack(llvm::Type* type, const char* name);
  void make_memory(llvm::Value** memory, DType dtype, const char* name);
  Number load_parts(llvm::Value* const* memory, DType dtype);
  void store_parts(llvm::Value* const* memory, const Number& number, DType dtype);
  llvm::BasicBlock* new_block(const char* name);
  llvm::Value* special(unsigned intrinsic);  // a thread's own number, as int64

  const Kernel& kernel_;
  Formulas& formulas_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  Builder builder_;
  GridCode code_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<Number> values_;
  std::vector<std::array<llvm::Value*, 2>> locals_;
  std::vector<llvm::Value*> operands_, integers_;
  std::vector<Number> scalars_;
  llvm::Value *extent_ = nullptr, *state_ = nullptr, *state_address_ = nullptr;
  // Null: it can't be asked to stop.
  llvm::Value *stop_address_ = nullptr, *rounds_ = nullptr, *stopped_ = nullptr;
  llvm::Value *thread_ = nullptr, *threads_ = nullptr;  // of the block, along x
  llvm::Value* shared_ = nullptr;
  std::vector<std::vector<GridSum>*> sums_;  // of the loops around
  bool in_vector_ = false;
  bool has_scratch_ = false;
  // Outside of vector loops: a thread may have read memory since the last barrier.
  bool has_read_ = false;
};

// NumPy's pairwise sum has 8 accumulators of real numbers.
inline unsigned accumulators_of_tree(DType dtype) {
  return tree_class(Op::Add, dtype) == 2 ? 4 : 8;
}

}  // namespace frit::codegen
