// scalar_math.cpp: which operators NumPy's scalars compute themselves, and of what they warn alone.
#include "python/scalar_math.h"

#include <cmath>
#include <cstring>
#include <optional>

#include "python/numpy_api.h"
#include "python/operands.h"

namespace frit::python {
namespace {

DType dtype_of(const Argument& argument) {
  return argument.array ? argument.array->dtype() : argument.scalar.dtype;
}

bool is_python_number(PyObject* object) {
  return PyLong_CheckExact(object) || PyBool_Check(object) || PyFloat_CheckExact(object) ||
         PyComplex_CheckExact(object);
}

// Does a scalar of this dtype know the Python number?
bool knows(DType own, PyObject* number) {
  if (PyComplex_CheckExact(number)) return is_complex(own);
  return !PyFloat_CheckExact(number) || is_inexact(own);
}

// The C library's pow. What is no operand is a number.
class PowerOfScalars final : public Call {
 public:
  using Number = std::optional<Scalar>;
  PowerOfScalars(DType dtype, const Number& base, const Number& exponent)
      : dtype_(dtype), base_(base), exponent_(exponent) {}
  std::string_view name() const override { return "power"; }
  const char* warning_name() const override { return "scalar power"; }
  bool is_pure() const override { return true; }

  void run(std::span<std::byte* const> pointers) const override {
    std::size_t next = 1;
    const auto given = [&](const Number& number) {
      if (number) return *number;
      Scalar read;
      read.dtype = dtype_;
      std::memcpy(read.bytes, pointers[next++], static_cast<std::size_t>(size_of(dtype_)));
      return read;
    };
    const Scalar base = given(base_), exponent = given(exponent_);
    const Scalar power = dtype_ == DType::Float64 ? power_as<double>(DType::Float64, base, exponent)
                                                  : power_as<float>(DType::Float32, base, exponent);
    std::memcpy(pointers[0], power.bytes, static_cast<std::size_t>(size_of(dtype_)));
  }

 private:
  template <class T>
  Scalar power_as(DType dtype, const Scalar& base, const Scalar& exponent) const {
    const auto number = [&](const Scalar& scalar) { return cast_scalar(scalar, dtype).as<T>(); };
    return cast_scalar(Scalar::of(dtype, std::pow(number(base), number(exponent))), dtype_);
  }

  DType dtype_;
  Number base_, exponent_;
};

}  // namespace

std::optional<Array> power_of_scalars(const Argument (&arguments)[2]) {
  const OperandType types[] = {{dtype_of(arguments[0]), arguments[0].weak},
                               {dtype_of(arguments[1]), arguments[1].weak}};
  const std::optional<Signature> signature = resolve(Op::Power, types);
  if (!signature || !is_float(signature->out)) return std::nullopt;
  std::vector<Array> inputs;
  PowerOfScalars::Number numbers[2];
  for (std::size_t k = 0; k < 2; ++k) {
    const Argument& argument = arguments[k];
    if (argument.array)
      inputs.push_back(astype(*argument.array, signature->out));
    else
      numbers[k] = cast_scalar(argument.scalar, signature->out);
  }
  Array result = empty({}, signature->out);
  record_call(std::make_shared<PowerOfScalars>(signature->out, numbers[0], numbers[1]),
              {&result, 1}, inputs);
  return result;
}

namespace {

// Does NumPy warn of nothing, and have but one value for it? Which NaN, and of zeros of different
// signs which one, NumPy knows; and of what vanishes it may tell.
bool is_sure(Op op, double x) {
  switch (op) {
    case Op::Isnan:
    case Op::Isinf:
    case Op::Isfinite:
    case Op::Signbit:
      return true;
    case Op::Absolute:
    case Op::Fabs:
    case Op::Sign:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Rint:
      return !std::isnan(x);
    case Op::Sqrt:
      return x >= 0;
    case Op::Square:
      return std::isnormal(x * x) || x == 0;
    default:
      return false;
  }
}
bool is_sure(Op op, double x, double y) {
  switch (op) {
    case Op::Maximum:
    case Op::Fmax:
    case Op::Minimum:
    case Op::Fmin:
      return x < y || x > y || std::memcmp(&x, &y, sizeof x) == 0;
    default:
      return false;
  }
}

}  // namespace

PyObject* ufunc_of_floats(Op op, PyObject* const* values, Py_ssize_t count) {
  double x, y = 0;
  if (count == 1) {
    if (!read_double(values[0], x)) {
      const std::optional<double> number = op == Op::Sqrt ? double_of(values[0]) : std::nullopt;
      if (!number) return nullptr;
      x = *number;
    }
    if (!is_sure(op, x)) return nullptr;
  } else {
    const std::optional<double> first = double_of(values[0]), second = double_of(values[1]);
    if (!first || !second || (PyLong_CheckExact(values[0]) && PyLong_CheckExact(values[1])))
      return nullptr;
    x = *first, y = *second;
    if (!is_sure(op, x, y)) return nullptr;
  }
  alignas(double) std::byte result[sizeof(double)];
  void* args[3] = {result, &x, &y};
  loop(op, DType::Float64)(args, 1, 0);
  const DType type = info(op).rule == TypeRule::Predicate ? DType::Bool : DType::Float64;
  return guarded([&] { return make_scalar(result, type); });
}

bool knows_floats(Op op) { return is_sure(op, 1.0) || is_sure(op, 1.0, 2.0); }

bool scalars_compute(const NumberPair& pair) {
  const DType left = dtype_of(pair.left), right = dtype_of(pair.right);
  if (is_python_number(pair.objects[0])) return !is_bool(right) && knows(right, pair.objects[0]);
  if (is_bool(left)) return false;
  if (is_python_number(pair.objects[1])) return knows(left, pair.objects[1]);
  return can_cast(right, left, Casting::Safe) || can_cast(left, right, Casting::Safe);
}

bool scalars_tell_more(Op op, const NumberPair& pair) {
  const OperandType types[] = {{dtype_of(pair.left), pair.left.weak},
                               {dtype_of(pair.right), pair.right.weak}};
  const std::optional<Signature> signature = resolve(op, types);
  return signature && scalars_compute(pair) && scalars_tell_more(op, signature->out);
}

bool scalars_tell_more(Op op, DType dtype) {
  switch (op) {
    case Op::Multiply:
      return is_integer(dtype);
    case Op::Add:
    case Op::Subtract:
    case Op::FloorDivide:
    case Op::Negative:
    case Op::Absolute:
      return is_integer(dtype) && dtype != DType::Int64;
    case Op::Remainder:
      return dtype == DType::Float16;
    default:
      return false;
  }
}

}  // namespace frit::python
