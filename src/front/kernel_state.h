// kernel_state.h: a user's kernel being written: its open blocks, and which values are visible.
#pragma once

#include <vector>

#include "frit/kernel_builder.h"
#include "front/kernel_definition.h"
#include "ir/routine.h"

namespace frit {

// The order of a loop's float sums: as it suits, or NumPy's pairwise tree.
enum class LoopSums : std::uint8_t { Any, Tree };

// Floating-point errors of an op: does anybody hear of them?
enum class OpErrors : std::uint8_t { Told, Quiet };

class KernelState {
 public:
  explicit KernelState(std::int32_t rank);

  // ---- values ----
  Expression compute(Op op, std::span<const Expression> arguments,
                     MathLibrary math = MathLibrary::Frit, OpErrors errors = OpErrors::Told);
  Expression cast(const Expression& x, DType dtype);
  Expression integer(const KernelInteger& value);
  Expression integer(std::int64_t value) { return integer(KernelInteger{.value = value}); }
  Expression scalar(DType dtype, std::int32_t number);
  // Arguments that are visible everywhere, wherever the writing is.
  Expression early_integer(const KernelInteger& value);
  Expression early_scalar(DType dtype, std::int32_t number);
  Expression early_cast(const Expression& x, DType dtype);
  Expression constant(const Scalar& value);
  Expression value(std::int32_t number);  // ValueError where it is not visible
  bool is_visible(std::int32_t value) const;
  DType type_of(std::int32_t value) const {
    return routine.body.values[static_cast<std::size_t>(value)];
  }
  // The value in this type; literals are converted here. Refuses values of other kernels and of
  // closed blocks.
  ValueId in_type(const Expression& x, DType dtype);
  ValueId stored_value(const Expression& x, DType dtype,
                       const char* what);  // as in_type, where NumPy's same_kind cast is allowed
  ValueId condition(const Expression& x, const char* what);

  // ---- places ----
  std::int32_t add_parameter(DType dtype, std::int32_t rank, ParameterUse use);
  std::int32_t add_local(DType dtype);
  std::int32_t add_zeroed_local(DType dtype);  // 0 at every point before anything is written to it
  Expression read_local(std::int32_t number);
  void write_local(std::int32_t number, const Expression& value);
  Expression load(std::int32_t parameter, std::span<const Expression> indices);
  void store(std::int32_t parameter, std::span<const Expression> indices, const Expression& value);

  // ---- structure ----
  void loop(const Expression& begin, const Expression& end,
            const std::function<void(Expression)>& body, LoopSums sums = LoopSums::Any);
  void branch(const Expression& condition, const std::function<void()>& body,
              const std::function<void()>& otherwise, bool fails = false);
  // rounds: about how many, 0 where nobody knows.
  void repeat(const std::function<Expression()>& condition, const std::function<void()>& body,
              int rounds = 0);
  std::size_t reduce(Op op, const Expression& value, std::vector<int> axes, bool all_axes);

  // The finished kernel; nothing can be written any more.
  KernelDefinition define();
  void check_open() const;
  const Block& written() const { return open_.front().block; }  // the outermost block
  static KernelState* owner(const Expression& x);
  static std::int32_t number_of(const Expression& x) { return x.value_; }

  Routine routine;
  std::vector<ParameterUse> uses;
  std::vector<KernelInteger> integers;
  std::vector<std::int32_t> scalars;
  std::vector<KernelReduction> reductions;
  std::int32_t accesses = 0;

 private:
  struct Open {
    Block block;
    std::int32_t number = 0;
  };
  Expression add(Instr instr, DType dtype);
  void add(Instr instr);
  Expression add_early(Instr instr, DType dtype);
  Instr integer_instr(const KernelInteger& value);
  Instr scalar_instr(DType dtype, std::int32_t number);
  void make_plain_scalars();
  ValueId literal_in_type(const Expression& x, DType dtype);
  Address address(std::int32_t parameter, std::span<const Expression> indices, const char* what);
  void check_value(const Expression& x) const;
  template <class Write>
  Block nested(Write&& write, ValueId visible = no_value);

  std::vector<Open> open_;
  Block early_;                         // goes before the outermost block
  std::vector<std::int32_t> block_of_;  // of each value: the number of the block that defines it
  std::int32_t blocks_ = 0;
  enum class Stage : std::uint8_t { Writing, Recorded, Broken } stage_ = Stage::Writing;
};

}  // namespace frit
