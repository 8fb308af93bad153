// neutral.cpp: neutral elements by op and type.
#include "ir/neutral.h"

#include <limits>

namespace frit {
namespace {

template <class T>
Scalar lowest_or_highest(DType dtype, Op op) {
  using L = std::numeric_limits<T>;
  const bool lowest = op == Op::Maximum || op == Op::Fmax;
  if constexpr (L::has_infinity) return Scalar::of(dtype, lowest ? -L::infinity() : L::infinity());
  return Scalar::of(dtype, lowest ? L::lowest() : L::max());
}

std::optional<Scalar> extreme_of(Op op, DType dtype) {
  const bool lowest = op == Op::Maximum || op == Op::Fmax;
  const double inf = std::numeric_limits<double>::infinity();
  switch (dtype) {
    case DType::Bool:
      return Scalar::of(dtype, static_cast<std::uint8_t>(lowest ? 0 : 1));
    case DType::Int8:
      return lowest_or_highest<std::int8_t>(dtype, op);
    case DType::Int16:
      return lowest_or_highest<std::int16_t>(dtype, op);
    case DType::Int32:
      return lowest_or_highest<std::int32_t>(dtype, op);
    case DType::Int64:
      return lowest_or_highest<std::int64_t>(dtype, op);
    case DType::UInt8:
      return lowest_or_highest<std::uint8_t>(dtype, op);
    case DType::UInt16:
      return lowest_or_highest<std::uint16_t>(dtype, op);
    case DType::UInt32:
      return lowest_or_highest<std::uint32_t>(dtype, op);
    case DType::UInt64:
      return lowest_or_highest<std::uint64_t>(dtype, op);
    case DType::Float16:
      return Scalar::of(dtype, static_cast<std::uint16_t>(lowest ? 0xFC00 : 0x7C00));
    case DType::Float32:
      return lowest_or_highest<float>(dtype, op);
    case DType::Float64:
      return lowest_or_highest<double>(dtype, op);
    case DType::Complex64: {
      const float part = static_cast<float>(lowest ? -inf : inf);
      return Scalar::of(dtype, std::complex<float>(part, part));
    }
    case DType::Complex128:
      return Scalar::of(dtype, std::complex<double>(lowest ? -inf : inf, lowest ? -inf : inf));
  }
  return std::nullopt;
}

}  // namespace

Scalar scalar_of(DType dtype, double value) {
  switch (dtype) {
    case DType::Bool:
      return Scalar::of(dtype, static_cast<std::uint8_t>(value != 0));
    case DType::Int8:
      return Scalar::of(dtype, static_cast<std::int8_t>(value));
    case DType::Int16:
      return Scalar::of(dtype, static_cast<std::int16_t>(value));
    case DType::Int32:
      return Scalar::of(dtype, static_cast<std::int32_t>(value));
    case DType::Int64:
      return Scalar::of(dtype, static_cast<std::int64_t>(value));
    case DType::UInt8:
      return Scalar::of(dtype, static_cast<std::uint8_t>(value));
    case DType::UInt16:
      return Scalar::of(dtype, static_cast<std::uint16_t>(value));
    case DType::UInt32:
      return Scalar::of(dtype, static_cast<std::uint32_t>(value));
    case DType::UInt64:
      return Scalar::of(dtype, static_cast<std::uint64_t>(value));
    case DType::Float32:
      return Scalar::of(dtype, static_cast<float>(value));
    case DType::Float64:
      return Scalar::of(dtype, value);
    case DType::Complex64:
      return Scalar::of(dtype, std::complex<float>(static_cast<float>(value)));
    case DType::Complex128:
      return Scalar::of(dtype, std::complex<double>(value));
    case DType::Float16: {
      const double from = value;
      Scalar result = Scalar::of(dtype, std::uint16_t{0});
      void* args[2] = {result.bytes, const_cast<double*>(&from)};
      cast_loop(DType::Float64, DType::Float16)(args, 1, 0);
      return result;
    }
  }
  return {};
}

std::optional<Scalar> neutral_of(Op op, DType dtype) {
  if (op == Op::Maximum || op == Op::Minimum) return extreme_of(op, dtype);
  if (op == Op::Fmax || op == Op::Fmin) {
    if (is_complex(dtype)) return std::nullopt;
    if (is_float(dtype)) return scalar_of(dtype, std::numeric_limits<double>::quiet_NaN());
    return extreme_of(op, dtype);
  }
  if (op == Op::Add && is_inexact(dtype)) {
    if (dtype == DType::Complex64) return Scalar::of(dtype, std::complex<float>(-0.0f, -0.0f));
    if (dtype == DType::Complex128) return Scalar::of(dtype, std::complex<double>(-0.0, -0.0));
    return scalar_of(dtype, -0.0);
  }
  return identity_of(op, dtype);
}

}  // namespace frit
