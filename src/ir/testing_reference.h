// testing_reference.h: kernel.h's meaning in the plainest words, an element at a time; for tests.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "backend/backend.h"
#include "ir/error.h"
#include "ir/kernel.h"

namespace frit::testing {

// NumPy's pairwise sum of n numbers that lie `step` apart (complex: the parts of one are 1 apart),
// from its definition.
template <class T>
T pairwise_sum(const T* x, std::int64_t n) {
  if (n < 8) {
    T sum = x[0];
    for (std::int64_t k = 1; k < n; ++k) sum = sum + x[k];
    return sum;
  }
  if (n <= 128) {
    T r[8];
    for (int k = 0; k < 8; ++k) r[k] = x[k];
    std::int64_t i = 8;
    for (; i < n - n % 8; i += 8)
      for (int k = 0; k < 8; ++k) r[k] = r[k] + x[i + k];
    T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) sum = sum + x[i];
    return sum;
  }
  std::int64_t half = n / 2;
  half -= half % 8;
  return pairwise_sum(x, half) + pairwise_sum(x + half, n - half);
}

// The same for complex numbers, of which NumPy counts the parts.
template <class T>
std::complex<T> pairwise_sum(const std::complex<T>* x, std::int64_t n) {
  if (n < 4) {
    std::complex<T> sum = x[0];
    for (std::int64_t k = 1; k < n; ++k) sum += x[k];
    return sum;
  }
  if (n <= 64) {
    std::complex<T> r[4] = {x[0], x[1], x[2], x[3]};
    std::int64_t i = 4;
    for (; i < n - n % 4; i += 4)
      for (int k = 0; k < 4; ++k) r[k] += x[i + k];
    std::complex<T> sum = (r[0] + r[1]) + (r[2] + r[3]);
    for (; i < n; ++i) sum += x[i];
    return sum;
  }
  std::int64_t half = 2 * n / 2;
  half -= half % 8;
  half /= 2;
  return pairwise_sum(x, half) + pairwise_sum(x + half, n - half);
}

class ReferenceKernel final : public Executable {
 public:
  explicit ReferenceKernel(const Kernel& kernel) : kernel_(kernel) {}
  void run(const LaunchArguments& arguments, std::int64_t begin, std::int64_t end,
           std::byte* scratch) const override {
    State state{arguments, scratch, begin, end, {}, {}};
    state.values.resize(kernel_.values.size());
    state.locals.resize(kernel_.locals.size());
    run_block(kernel_.code, state);
  }

 private:
  struct State {
    const LaunchArguments& arguments;
    std::byte* scratch;
    std::int64_t begin, end;
    std::vector<Scalar> values, locals;
    Scalar& value(ValueId id) { return values[static_cast<std::size_t>(id)]; }
    Scalar& local(std::int32_t number) { return locals[static_cast<std::size_t>(number)]; }
  };

  DType type(ValueId id) const { return kernel_.values[static_cast<std::size_t>(id)]; }

  void run_block(const Block& block, State& state) const {
    for (const Instr& instr : block) run_instr(instr, state);
  }

  void run_instr(const Instr& instr, State& state) const {
    switch (instr.kind) {
      case InstrKind::Constant:
        state.value(instr.result) = instr.constant;
        return;
      case InstrKind::ScalarArg:
        state.value(instr.result) = state.arguments.scalars[instr.number];
        return;
      case InstrKind::IntegerArg:
        state.value(instr.result) =
            Scalar::of(DType::Int64, state.arguments.integers[instr.number]);
        return;
      case InstrKind::Apply: {
        Scalar result{.dtype = type(instr.result)};
        void* args[4] = {result.bytes, nullptr, nullptr, nullptr};
        for (int k = 0; k < info(instr.op).inputs; ++k)
          args[k + 1] = state.value(instr.args[k]).bytes;
        const DType in = type(instr.args[info(instr.op).rule == TypeRule::Select ? 1 : 0]);
        frit::loop(instr.math, instr.op, in)(args, 1, 0);
        state.value(instr.result) = result;
        return;
      }
      case InstrKind::Cast: {
        Scalar result{.dtype = type(instr.result)};
        void* args[4] = {result.bytes, state.value(instr.args[0]).bytes, nullptr, nullptr};
        if (type(instr.args[0]) == type(instr.result))
          result = state.value(instr.args[0]);
        else
          cast_loop(type(instr.args[0]), type(instr.result))(args, 1, 0);
        state.value(instr.result) = result;
        return;
      }
      case InstrKind::Load: {
        Scalar result{.dtype = type(instr.result)};
        std::memcpy(result.bytes, address(instr.address, state),
                    static_cast<std::size_t>(size_of(result.dtype)));
        state.value(instr.result) = result;
        return;
      }
      case InstrKind::Store: {
        const Scalar& value = state.value(instr.args[0]);
        std::memcpy(address(instr.address, state), value.bytes,
                    static_cast<std::size_t>(size_of(value.dtype)));
        return;
      }
      case InstrKind::ReadLocal:
        state.value(instr.result) = state.local(instr.number);
        return;
      case InstrKind::WriteLocal:
        state.local(instr.number) = state.value(instr.args[0]);
        return;
      case InstrKind::Loop:
        return run_loop(instr, state);
      case InstrKind::If:
        return run_block(state.value(instr.args[0]).as<std::uint8_t>() ? instr.body : instr.other,
                         state);
      case InstrKind::While:
        for (;;) {
          run_block(instr.other, state);
          if (!state.local(instr.number).as<std::uint8_t>()) return;
          run_block(instr.body, state);
        }
    }
  }

  std::byte* address(const Address& address, State& state) const {
    const Operand& operand = kernel_.operands[static_cast<std::size_t>(address.operand)];
    std::byte* memory = operand.scratch_offset < 0
                            ? static_cast<std::byte*>(state.arguments.pointers[address.operand])
                            : state.scratch + state.arguments.integers[operand.scratch_offset];
    for (const Term& term : address.terms)
      memory += state.value(term.index).as<std::int64_t>() *
                (term.stride == unit_stride ? size_of(operand.dtype)
                                            : state.arguments.integers[term.stride]);
    return memory;
  }

  void run_loop(const Instr& loop, State& state) const {
    const std::int64_t begin =
        loop.parallel ? state.begin : state.value(loop.args[0]).as<std::int64_t>();
    const std::int64_t end =
        loop.parallel ? state.end : state.value(loop.args[1]).as<std::int64_t>();
    std::vector<std::vector<Scalar>> reduced(loop.reductions.size());
    for (std::int64_t i = begin; i < end; ++i) {
      state.value(loop.result) = Scalar::of(DType::Int64, i);
      run_block(loop.body, state);
      for (std::size_t k = 0; k < reduced.size(); ++k)
        reduced[k].push_back(state.value(loop.reductions[k].value));
    }
    if (begin >= end) return;
    for (std::size_t k = 0; k < reduced.size(); ++k) {
      Scalar& local = state.local(loop.reductions[k].local);
      const Op op = loop.reductions[k].op;
      if (tree_class(op, local.dtype) == 0 && !reduces_in_any_order(op, local.dtype))
        for (const Scalar& value : reduced[k]) local = combine(op, local, value);
      else
        local = combine(op, local, reduce(op, reduced[k]));
    }
  }

  static Scalar combine(Op op, const Scalar& x, const Scalar& y) {
    Scalar result{.dtype = x.dtype};
    void* const args[4] = {result.bytes, const_cast<std::byte*>(x.bytes),
                           const_cast<std::byte*>(y.bytes), nullptr};
    frit::loop(op, x.dtype)(args, 1, 0);
    return result;
  }
  template <class T>
  static Scalar sum(const std::vector<Scalar>& values) {
    std::vector<T> x;
    for (const Scalar& value : values) x.push_back(value.as<T>());
    return Scalar::of(values[0].dtype, pairwise_sum(x.data(), static_cast<std::int64_t>(x.size())));
  }
  static Scalar reduce(Op op, const std::vector<Scalar>& values) {
    if (op == Op::Add) switch (values[0].dtype) {
        case DType::Float16: {
          std::vector<Scalar> wide;
          for (const Scalar& value : values) wide.push_back(cast_scalar(value, DType::Float32));
          return cast_scalar(sum<float>(wide), DType::Float16);
        }
        case DType::Float32:
          return sum<float>(values);
        case DType::Float64:
          return sum<double>(values);
        case DType::Complex64:
          return sum<std::complex<float>>(values);
        case DType::Complex128:
          return sum<std::complex<double>>(values);
        default:
          break;
      }
    Scalar result = values[0];
    for (std::size_t k = 1; k < values.size(); ++k) result = combine(op, result, values[k]);
    return result;
  }

  const Kernel kernel_;
};

// An Executable for any Kernel that verify() accepts.
class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::shared_ptr<const Executable> compile(const Kernel& kernel) override {
    verify(kernel);
    return std::make_shared<ReferenceKernel>(kernel);
  }
};

}  // namespace frit::testing
