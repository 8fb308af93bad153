// kernel_state.h: a user's kernel being written: its open blocks, and which values are visible.
#pragma once

#include <deque>
#include <map>

#include "frit/kernel_builder.h"
#include "ir/routine.h"

namespace frit {

enum class ParameterUse : std::uint8_t { Input, Output, InOut };

struct KernelParameter {
  Array array;
  ParameterUse use{};
};

struct KernelReduction {
  Op op{};
  bool all_axes = true;
  std::vector<int> axes;
  std::int32_t parameter = -1;  // the array of the values
  Array result;
};

class KernelState {
 public:
  explicit KernelState(std::span<const std::int64_t> extents);

  // ---- values ----
  Expression compute(Op op, std::span<const Expression> arguments);
  Expression cast(const Expression& x, DType dtype);
  Expression integer(std::int64_t value);
  Expression scalar(const Scalar& value);
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
  std::int32_t add_parameter(const Array& a, ParameterUse use);
  std::int32_t add_local(DType dtype);
  Expression read_local(std::int32_t number);
  void write_local(std::int32_t number, const Expression& value);
  Expression load(std::int32_t parameter, std::span<const Expression> indices);
  void store(std::int32_t parameter, std::span<const Expression> indices, const Expression& value);

  // ---- structure ----
  void loop(const Expression& begin, const Expression& end,
            const std::function<void(Expression)>& body);
  void branch(const Expression& condition, const std::function<void()>& body,
              const std::function<void()>& otherwise);
  void repeat(const std::function<Expression()>& condition, const std::function<void()>& body);
  std::size_t reduce(Op op, const Expression& value, std::vector<int> axes, bool all_axes);

  void record();
  void check_open() const;
  const Block& written() const { return open_.front().block; }  // the outermost block
  static KernelState* owner(const Expression& x);

  Routine routine;
  std::vector<std::int64_t> extents;
  std::vector<KernelParameter> parameters;
  std::vector<std::int64_t> integers;
  std::vector<Scalar> scalars;
  std::deque<KernelReduction> reductions;
  std::int32_t accesses = 0;

 private:
  struct Open {
    Block block;
    std::int32_t number = 0;
  };
  Expression add(Instr instr, DType dtype);
  void add(Instr instr);
  ValueId literal_in_type(const Expression& x, DType dtype);
  Address address(std::int32_t parameter, std::span<const Expression> indices, const char* what);
  void check_value(const Expression& x) const;
  template <class Write>
  Block nested(Write&& write, ValueId visible = no_value);

  std::vector<Open> open_;
  std::vector<std::int32_t> block_of_;  // of each value: the number of the block that defines it
  std::int32_t blocks_ = 0;
  enum class Stage : std::uint8_t { Writing, Recorded, Broken } stage_ = Stage::Writing;
  friend class KernelRecorder;
};

}  // namespace frit
