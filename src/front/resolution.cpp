// resolution.cpp: an op's rule on its operands' types, and numbers in the type that it finds.
#include "front/resolution.h"

#include <algorithm>

namespace frit {
namespace {

std::optional<Signature> resolve_arguments(Op op, std::span<const Argument> arguments) {
  OperandType types[max_inputs];
  for (std::size_t k = 0; k < arguments.size(); ++k)
    types[k] = {arguments[k].array ? arguments[k].array->dtype() : arguments[k].scalar.dtype,
                arguments[k].weak};
  return resolve(op, {types, arguments.size()});
}

bool is_truth(const Argument& a) { return is_bool(a.array ? a.array->dtype() : a.scalar.dtype); }

}  // namespace

bool int_fits(std::int64_t value, DType dtype) {
  if (!is_integer(dtype)) return true;
  if (is_unsigned(dtype) && value < 0) return false;
  const int bits = 8 * size_of(dtype) - (is_signed(dtype) ? 1 : 0);
  return bits >= 63 || value >> bits == (value < 0 ? -1 : 0);
}

bool is_beyond(const Argument& number, DType dtype) {
  return number.weak == Weak::Int && !int_fits(number.scalar.as<std::int64_t>(), dtype);
}

void check_count(Op op, std::size_t operands) {
  if (operands != static_cast<std::size_t>(info(op).inputs))
    throw TypeError(text(info(op).name, ": takes ", info(op).inputs, " operands, not ", operands));
}

Resolution resolution_of(Op op, const Signature& signature) {
  Resolution found;
  found.signature = signature;
  found.loop = loop(op, signature);
  found.warns = may_warn(op, signature.in[0]);
  found.is_mixed = info(op).rule == TypeRule::Compare && signature.in[0] != signature.in[1];
  if (!found.loop && !found.is_mixed)
    throw TypeError(text("no native ", info(op).name, " for ", info(signature.in[0]).name));
  return found;
}

Resolution resolve_anew(Op op, std::span<const Argument> arguments) {
  check_count(op, arguments.size());
  if (const std::optional<Signature> signature = resolve_arguments(op, arguments)) {
    Resolution found = resolution_of(op, *signature);
    found.may_widen = info(op).rule == TypeRule::Compare && is_integer(signature->in[0]) &&
                      std::ranges::any_of(arguments, [&](const Argument& a) {
                        return a.weak == Weak::Int && signature->in[0] != DType::Int64;
                      });
    return found;
  }
  if (op == Op::Subtract && std::ranges::all_of(arguments, is_truth))
    throw TypeError(
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
        "operator, or the logical_xor function instead.");
  if (op == Op::Negative && is_truth(arguments[0]))
    throw TypeError(
        "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or "
        "the logical_not function instead.");
  throw TypeError(text("ufunc '", info(op).numpy_name,
                       "' not supported for the input types, and the inputs could not be safely "
                       "coerced to any supported "
                       "types according to the casting rule ''safe''"));
}

Scalar converted(const Argument& a, DType dtype) {
  if (a.scalar.dtype == dtype) return a.scalar;
  if (is_beyond(a, dtype))
    throw TypeError(text("the integer ", a.scalar.as<std::int64_t>(), " is out of bounds for ",
                         info(dtype).name));
  const Scalar result = cast_scalar(a.scalar, dtype);
  Engine& engine = Engine::get();
  if (engine.settings.float_checks != 0 && conversion_may_warn(a.scalar.dtype, dtype)) {
    const OtherSources sources(engine);
    engine.source.ufunc = nullptr;  // a step of its own
    engine.note_conversion(Op::Copy, a.scalar.dtype, dtype, a.scalar.bytes, result.bytes, 1);
  }
  return result;
}

}  // namespace frit
