// power.cpp: powers, of which some of integers are none.
#include "front/common.h"

namespace frit {
namespace {

DType type_of(const Argument& x) { return x.array ? x.array->dtype() : x.scalar.dtype; }

bool is_negative(const Scalar& value) {
  return cast_scalar(value, DType::Int64).as<std::int64_t>() < 0;
}

bool has_negative_exponent(const Argument& base, const Argument& exponent) {
  if (!is_signed(type_of(exponent)) || is_inexact(type_of(base))) return false;
  if (!exponent.array) return is_negative(exponent.scalar);
  if (exponent.array->size() == 0) return false;
  return is_negative(item(reduce(Op::Minimum, *exponent.array)));
}

}  // namespace

Array power(const Argument& base, const Argument& exponent, const ApplyOptions& options) {
  if (has_negative_exponent(base, exponent))
    throw ValueError("Integers to negative integer powers are not allowed.");
  return apply(Op::Power, {base, exponent}, options);
}

}  // namespace frit
