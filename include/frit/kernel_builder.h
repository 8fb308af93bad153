// kernel_builder.h: a user's own kernel, with loops and neighbours, as one node of the trace.
//
//   frit::KernelBuilder k({rows - 2, columns - 2});       // parallel axes
//   auto u = k.input(U);
//   auto v = k.output(V);
//   auto i = k.axis(0) + 1, j = k.axis(1) + 1;
//   auto neighbours = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1);
//   v(i, j) = u(i, j) + k.scalar(dt) * (neighbours - 4.0 * u(i, j));
//   k.record();  // returns at once; fuses with what is recorded around it
//
// What is written here is the work at one point of the axes. Points are independent and may run in
// any order and at the same time. Two exceptions keep the meaning clear: an `input` is read as it
// was before the kernel, even where an output is the same memory; and where points of the kernel do
// depend on one another (an `inout` array is read where another point writes it, or two points may
// write one element), they run one after another, the last axis fastest. Where all that they have
// in common are updates (`h(bin) += x`), they may run in parts, each of which adds up by itself:
// sums of floats are rounded in an order that the kernel and its sizes decide, and nothing else.
//
// Structure is compiled once; sizes, scalar() arguments and integer literals are arguments of the
// compiled code. Literals of floating point are part of it.
//
// Indices count from 0 and are never negative. An index that is a sum of axes and numbers is
// checked when the kernel is recorded, under the conditions (if_) around it; one that is computed
// in another way is checked by the contents of the index arrays, or, where that does not settle it,
// while the kernel runs, which it then does at once.
//
// Errors: ValueError, TypeError and IndexError, thrown where the mistake is written or by record().
// What is refused is not written, and the kernel goes on without it. It can't be recorded any more
// when an exception has come out of record(), or out of what stands inside a loop, if_ or while_.
#pragma once

#include <complex>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "frit/array.h"

namespace frit {

class KernelState;  // what has been written so far (front/kernel_state.h)
class KernelBuilderState;

// A value at each point of a kernel, or a literal.
class Expression {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Expression(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      literal_ = Scalar::of(DType::Bool, static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      literal_ = integer(value);
      weak_ = Weak::Int;
    } else {
      literal_ = Scalar::of(DType::Float64, static_cast<double>(value));
      weak_ = Weak::Float;
    }
  }
  Expression(std::complex<double> value)
      : literal_(Scalar::of(DType::Complex128, value)), weak_(Weak::Complex) {}
  Expression(KernelState* kernel, std::int32_t value) : kernel_(kernel), value_(value) {}

  DType dtype() const;
  bool is_literal() const { return kernel_ == nullptr; }

 private:
  friend class KernelState;
  KernelState* kernel_ = nullptr;
  std::int32_t value_ = -1;
  Scalar literal_;
  Weak weak_ = Weak::No;
};

// op at each point, with NumPy's types.
Expression compute(Op op, std::initializer_list<Expression> arguments);
Expression cast(const Expression& x, DType dtype);

#define FRIT_EXPRESSION_BINARY(symbol, op)                                      \
  inline Expression operator symbol(const Expression& x, const Expression& y) { \
    return compute(Op::op, {x, y});                                             \
  }
FRIT_EXPRESSION_BINARY(+, Add)
FRIT_EXPRESSION_BINARY(-, Subtract)
FRIT_EXPRESSION_BINARY(*, Multiply)
FRIT_EXPRESSION_BINARY(/, TrueDivide)  // of integers: float64
FRIT_EXPRESSION_BINARY(%, Remainder)
FRIT_EXPRESSION_BINARY(<, Less)
FRIT_EXPRESSION_BINARY(<=, LessEqual)
FRIT_EXPRESSION_BINARY(>, Greater)
FRIT_EXPRESSION_BINARY(>=, GreaterEqual)
FRIT_EXPRESSION_BINARY(==, Equal)
FRIT_EXPRESSION_BINARY(!=, NotEqual)
FRIT_EXPRESSION_BINARY(&&, LogicalAnd)  // both sides are computed
FRIT_EXPRESSION_BINARY(||, LogicalOr)
FRIT_EXPRESSION_BINARY(&, BitwiseAnd)
FRIT_EXPRESSION_BINARY(|, BitwiseOr)
FRIT_EXPRESSION_BINARY(^, BitwiseXor)
FRIT_EXPRESSION_BINARY(<<, LeftShift)
FRIT_EXPRESSION_BINARY(>>, RightShift)
#undef FRIT_EXPRESSION_BINARY
inline Expression operator-(const Expression& x) { return compute(Op::Negative, {x}); }
inline Expression operator!(const Expression& x) { return compute(Op::LogicalNot, {x}); }
inline Expression operator~(const Expression& x) { return compute(Op::Invert, {x}); }

#define FRIT_EXPRESSION_FUNCTION(name, op) \
  inline Expression name(const Expression& x) { return compute(Op::op, {x}); }
FRIT_EXPRESSION_FUNCTION(abs, Absolute)
FRIT_EXPRESSION_FUNCTION(sqrt, Sqrt)
FRIT_EXPRESSION_FUNCTION(square, Square)
FRIT_EXPRESSION_FUNCTION(exp, Exp)
FRIT_EXPRESSION_FUNCTION(log, Log)
FRIT_EXPRESSION_FUNCTION(sin, Sin)
FRIT_EXPRESSION_FUNCTION(cos, Cos)
FRIT_EXPRESSION_FUNCTION(tan, Tan)
FRIT_EXPRESSION_FUNCTION(tanh, Tanh)
FRIT_EXPRESSION_FUNCTION(erf, Erf)
FRIT_EXPRESSION_FUNCTION(floor, Floor)
FRIT_EXPRESSION_FUNCTION(ceil, Ceil)
FRIT_EXPRESSION_FUNCTION(rint, Rint)
FRIT_EXPRESSION_FUNCTION(isnan, Isnan)
FRIT_EXPRESSION_FUNCTION(isfinite, Isfinite)
#undef FRIT_EXPRESSION_FUNCTION
inline Expression maximum(const Expression& x, const Expression& y) {
  return compute(Op::Maximum, {x, y});
}
inline Expression minimum(const Expression& x, const Expression& y) {
  return compute(Op::Minimum, {x, y});
}
inline Expression power(const Expression& x, const Expression& y) {
  return compute(Op::Power, {x, y});
}
inline Expression floor_divide(const Expression& x, const Expression& y) {
  return compute(Op::FloorDivide, {x, y});
}
// condition ? x : y; both are computed.
inline Expression where(const Expression& condition, const Expression& x, const Expression& y) {
  return compute(Op::Select, {condition, x, y});
}

class KernelBuilder {
 public:
  // A variable of each point. It is a place: reading it gives what it holds at that moment of the
  // kernel.
  class Local {
   public:
    operator Expression() const;
    const Local& operator=(const Expression& value) const;
    const Local& operator=(const Local& value) const {
      return *this = static_cast<Expression>(value);
    }
    Local(const Local&) = default;

   private:
    friend class KernelBuilder;
    Local(KernelState* kernel, std::int32_t number) : kernel_(kernel), number_(number) {}
    KernelState* kernel_;
    std::int32_t number_;
  };

  // One element of an array: a place, too.
  class Element {
   public:
    operator Expression() const;
    const Element& operator=(const Expression& value) const;
    const Element& operator=(const Element& value) const {
      return *this = static_cast<Expression>(value);
    }
    Element(const Element&) = default;

   private:
    friend class KernelBuilder;
    Element(KernelState* kernel, std::int32_t parameter, std::vector<Expression> indices)
        : kernel_(kernel), parameter_(parameter), indices_(std::move(indices)) {}
    KernelState* kernel_;
    std::int32_t parameter_;
    std::vector<Expression> indices_;
  };

  // An array in a kernel.
  class Parameter {
   public:
    template <class... Index>
    Element operator()(const Index&... indices) const {
      return Element(kernel_, number_, {static_cast<Expression>(indices)...});
    }
    void store(std::initializer_list<Expression> indices, const Expression& value) const {
      Element(kernel_, number_, indices) = value;
    }
    Expression extent(int axis) const;  // an argument, not a literal

   private:
    friend class KernelBuilder;
    Parameter(KernelState* kernel, std::int32_t number) : kernel_(kernel), number_(number) {}
    KernelState* kernel_;
    std::int32_t number_;
  };

  // The result of a reduction: there once the kernel is recorded.
  class Total {
   public:
    const Array& array() const;  // ValueError before record()
   private:
    friend class KernelBuilder;
    Total(KernelState* kernel, std::size_t number) : kernel_(kernel), number_(number) {}
    KernelState* kernel_;
    std::size_t number_;
  };

  explicit KernelBuilder(std::span<const std::int64_t> extents);
  KernelBuilder(std::initializer_list<std::int64_t> extents)
      : KernelBuilder(std::span(extents.begin(), extents.size())) {}
  KernelBuilder(KernelBuilder&&) noexcept;
  KernelBuilder& operator=(KernelBuilder&&) noexcept;
  ~KernelBuilder();

  Parameter input(const Array& a);  // only read, and as it was before the kernel
  Parameter output(
      const Array& a);  // only written; elements that no point writes keep their values
  Parameter inout(const Array& a);

  Expression axis(int number);    // the index along a parallel axis, int64
  Expression extent(int number);  // of a parallel axis: an argument, not a literal
  template <class T>
  requires std::is_arithmetic_v<T> Expression
  scalar(T value) {  // an argument: another value needs no other code
    if constexpr (std::is_same_v<T, float>)
      return scalar(Scalar::of(DType::Float32, value));
    else if constexpr (std::is_floating_point_v<T>)
      return scalar(Scalar::of(DType::Float64, static_cast<double>(value)));
    else if constexpr (std::is_same_v<T, bool>)
      return scalar(Scalar::of(DType::Bool, static_cast<std::uint8_t>(value)));
    else
      return scalar(integer(value));
  }
  Expression scalar(const Scalar& value);

  Local local(const Expression& initial);  // of the initial value's type
  Local local(DType dtype, const Expression& initial);
  void set(const Local& local, const Expression& value) { local = value; }

  void loop(const Expression& begin, const Expression& end,
            const std::function<void(Expression)>& body);  // in order
  void if_(const Expression& condition, const std::function<void()>& body,
           const std::function<void()>& otherwise = {});
  void while_(const std::function<Expression()>& condition, const std::function<void()>& body);

  // Over all points, or along some of the axes: in NumPy's order, as a reduction of an array of the
  // values. `value` belongs to the outermost block.
  Total reduce(Op op, const Expression& value);
  Total reduce(Op op, const Expression& value, std::initializer_list<int> axes);

  void record();

  std::string text() const;  // what has been written so far

 private:
  KernelBuilderState& state() const;  // ValueError when it was moved from
  std::unique_ptr<KernelBuilderState> state_;
};

#define FRIT_PLACE_ASSIGNMENT(symbol)                                                    \
  inline void operator symbol##=(const KernelBuilder::Local& x, const Expression& y) {   \
    x = static_cast<Expression>(x) symbol y;                                             \
  }                                                                                      \
  inline void operator symbol##=(const KernelBuilder::Element& x, const Expression& y) { \
    x = static_cast<Expression>(x) symbol y;                                             \
  }
FRIT_PLACE_ASSIGNMENT(+)
FRIT_PLACE_ASSIGNMENT(-)
FRIT_PLACE_ASSIGNMENT(*)
FRIT_PLACE_ASSIGNMENT(/)
#undef FRIT_PLACE_ASSIGNMENT

}  // namespace frit
