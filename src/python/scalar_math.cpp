// scalar_math.cpp: which operators NumPy's scalars compute themselves, and of what they warn alone.
#include "python/scalar_math.h"

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

}  // namespace

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
    case Op::Power:
      return is_float(dtype);
    default:
      return false;
  }
}

}  // namespace frit::python
