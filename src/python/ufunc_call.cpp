// ufunc_call.cpp: a call of a ufunc: arguments read, computed natively, or handed to NumPy.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "front/resolution.h"
#include "python/array_type.h"
#include "python/fallback.h"
#include "python/float_state.h"
#include "python/indexing.h"
#include "python/interop.h"
#include "python/numbers.h"
#include "python/numpy_api.h"
#include "python/operands.h"
#include "python/reductions.h"
#include "python/refusals.h"
#include "python/source.h"
#include "python/ufunc_type.h"

namespace frit::python {
namespace {

constexpr int most_inputs = 3, most_outputs = 2;
constexpr const char* where_without_out = "NumPy warns of where= without out=";

// The options of a call, absent ones null.
struct Options {
  PyObject* out = nullptr;
  PyObject* where = nullptr;
  PyObject* dtype = nullptr;
  PyObject* casting = nullptr;
};

// `native`: vecdot alone may be told the last axis.
Options read_options(const Arguments& arguments, Native native) {
  static constexpr const char* names[] = {"out",   "where",     "dtype", "casting", "order",
                                          "subok", "signature", "sig",   "axis"};
  PyObject* slots[std::size(names)];
  sort_arguments({arguments.values + arguments.positional, 0, arguments.names}, names, 0, slots);
  auto [out, where, dtype, casting, order, subok, signature, sig, axis] = slots;
  if (order && order_operand(order, 'K') != 'K') throw Unfit{"order="};
  if (subok && !PyBool_Check(subok)) throw Unfit{"subok="};
  if ((signature && signature != Py_None) || (sig && sig != Py_None)) throw Unfit{"signature="};
  if (axis && (native != Native::Vecdot || word_of(axis) != -1)) throw Unfit{"axis="};
  return {out, where, dtype, casting};
}

Casting casting_operand(PyObject* object) {
  if (!object) return Casting::SameKind;
  if (PyUnicode_Check(object)) {
    static constexpr std::pair<const char*, Casting> known[] = {{"no", Casting::No},
                                                                {"equiv", Casting::Equiv},
                                                                {"safe", Casting::Safe},
                                                                {"same_kind", Casting::SameKind},
                                                                {"unsafe", Casting::Unsafe}};
    for (const auto& [name, casting] : known)
      if (PyUnicode_CompareWithASCIIString(object, name) == 0) return casting;
  }
  throw Unfit{"casting="};
}

// One call, read.
struct Call {
  Operand inputs[most_inputs];
  PyObject* outs[most_outputs] = {};  // borrowed; null: a fresh result
  Array targets[most_outputs];
  Array mask;
  bool masked = false;
  std::optional<DType> dtype;
  Casting casting = Casting::SameKind;
  bool plain = true;         // every operand is a plain number: NumPy's business
  bool wants_array = false;  // out=...: an array, even if it is 0-d

  const Array* target(int k) const { return outs[k] ? &targets[k] : nullptr; }
};

void read_outs(const UFuncObject& ufunc, PyObject* out, Call& call) {
  if (!out || out == Py_None) return;
  if (out == Py_Ellipsis) {
    call.wants_array = true;
    call.plain = false;
    return;
  }
  if (!PyTuple_Check(out)) {
    if (ufunc.outputs != 1) throw Unfit{"out= is no tuple"};
    call.outs[0] = out;
    return;
  }
  if (PyTuple_GET_SIZE(out) != ufunc.outputs) throw Unfit{"out= has another length"};
  for (int k = 0; k < ufunc.outputs; ++k)
    if (PyTuple_GET_ITEM(out, k) != Py_None) call.outs[k] = PyTuple_GET_ITEM(out, k);
}

void read_call(const UFuncObject& ufunc, const Arguments& arguments, Call& call) {
  const auto given = static_cast<int>(arguments.positional);
  if (given < ufunc.inputs || given > ufunc.inputs + ufunc.outputs)
    throw Unfit{"another number of arguments"};
  for (int k = 0; k < ufunc.inputs; ++k) {
    PyObject* object = arguments.values[k];
    if (!read_operand(object, call.inputs[k])) throw Unfit{"an operand is of a foreign type"};
    call.plain &= is_plain_scalar(object);
  }
  const bool is_deprecated =
      ufunc.native == Native::Op && (ufunc.op == Op::Maximum || ufunc.op == Op::Minimum);
  if (given > ufunc.inputs && is_deprecated) throw Unfit{"NumPy warns of out= by position"};
  for (int k = ufunc.inputs; k < given; ++k)
    if (arguments.values[k] != Py_None) call.outs[k - ufunc.inputs] = arguments.values[k];
  if (arguments.keywords() > 0) {
    const Options options = read_options(arguments, ufunc.native);
    if (options.out && given > ufunc.inputs) throw Unfit{"out= given twice"};
    read_outs(ufunc, options.out, call);
    call.dtype = requested_dtype(options.dtype);
    call.casting = casting_operand(options.casting);
    if (options.where && options.where != Py_True) {
      call.mask = array_operand(options.where);
      if (!is_bool(call.mask.dtype())) throw Unfit{"where= is not a mask"};
      call.masked = true;
      if (!options.out && !call.outs[0] && !call.outs[1]) throw Unfit{where_without_out};
    }
  }
  for (int k = 0; k < ufunc.outputs; ++k)
    if (call.outs[k]) {
      call.targets[k] = target_operand(call.outs[k]);
      call.plain = false;
    }
}

DType dtype_of(const Argument& a) { return a.array ? a.array->dtype() : a.scalar.dtype; }

// The loop that dtype= asks for.
std::optional<Signature> signature_for(Op op, const Call& call) {
  if (!call.dtype) return std::nullopt;
  const TypeRule rule = info(op).rule;
  if (rule != TypeRule::Same && rule != TypeRule::FloatOnly && rule != TypeRule::TrueDivide)
    throw Unfit{"dtype= for this ufunc"};
  OperandType types[most_inputs];
  const auto inputs = static_cast<std::size_t>(info(op).inputs);
  for (std::size_t k = 0; k < inputs; ++k) types[k] = {*call.dtype};
  const std::optional<Signature> signature = resolve(op, {types, inputs});
  if (!signature || signature->out != *call.dtype || signature->in[0] != *call.dtype)
    throw Unfit{"dtype= without such a loop"};
  for (std::size_t k = 0; k < inputs; ++k) {
    const Argument& a = call.inputs[k].argument;
    const bool is_whole = a.weak == Weak::Int && !is_bool(*call.dtype);
    const bool fits = a.weak != Weak::No ? is_whole || is_inexact(*call.dtype)
                                         : can_cast(dtype_of(a), *call.dtype, call.casting);
    if (!fits) throw Unfit{"dtype= needs a cast that casting= forbids"};
    if (is_complex(dtype_of(a)) && !is_complex(*call.dtype))
      throw Unfit{"complex operands in a real loop"};
  }
  return signature;
}

// casting= also limits what happens to the inputs on their way into the loop.
void check_input_casts(Op op, const Call& call) {
  if (call.casting == Casting::No || call.casting == Casting::Equiv)
    for (const Operand& input : std::span(call.inputs, static_cast<std::size_t>(info(op).inputs)))
      if (input.argument.weak != Weak::No) throw Unfit{"casting= forbids Python numbers"};
  if (call.casting == Casting::SameKind || call.casting == Casting::Unsafe || call.dtype) return;
  OperandType types[most_inputs];
  const auto inputs = static_cast<std::size_t>(info(op).inputs);
  for (std::size_t k = 0; k < inputs; ++k) {
    const Argument& a = call.inputs[k].argument;
    types[k] = {dtype_of(a), a.weak};
  }
  const std::optional<Signature> signature = resolve(op, {types, inputs});
  if (!signature) throw Unfit{"no loop"};
  for (std::size_t k = 0; k < inputs; ++k)
    if (types[k].weak == Weak::No && !can_cast(types[k].dtype, signature->in[k], call.casting))
      throw Unfit{"casting= forbids this loop"};
}

// Beside an array NumPy takes a Python integer for C's int, and refuses what that can't hold.
void check_exponent(Op op, const Argument& y) {
  if (op == Op::Ldexp && y.weak == Weak::Int &&
      !std::in_range<std::int32_t>(y.scalar.as<std::int64_t>()))
    throw Unfit{"an exponent is out of bounds for int32"};
}

bool gives_complex(Op op, const Call& call) {
  const auto inputs = static_cast<std::size_t>(info(op).inputs);
  OperandType types[most_inputs];
  for (std::size_t k = 0; k < inputs; ++k) {
    const Argument& a = call.inputs[k].argument;
    types[k] = {dtype_of(a), a.weak};
  }
  std::optional<Signature> signature = signature_for(op, call);
  if (!signature) signature = resolve(op, {types, inputs});
  return signature && is_complex(signature->out);
}

Array apply_op(Op op, const Call& call, int output = 0) {
  const auto inputs = static_cast<std::size_t>(info(op).inputs);
  Argument arguments[most_inputs] = {call.inputs[0].argument, call.inputs[1].argument,
                                     call.inputs[2].argument};
  check_input_casts(op, call);
  check_exponent(op, arguments[1]);
  if (const Array* target = call.target(output))
    for (std::size_t k = 0; k < inputs; ++k)
      if (arguments[k].array) check_errors_in_place(*arguments[k].array, *target);
  if (const Array* target = call.target(output)) {
    const bool has_complex = (call.dtype && is_complex(*call.dtype)) ||
                             std::any_of(arguments, arguments + inputs,
                                         [](const Argument& a) { return is_complex(dtype_of(a)); });
    if (has_complex && !is_complex(target->dtype()))
      throw Unfit{"complex operands, and an output that is not"};
    // NumPy reads what the mask leaves as it is in the loop's type, and warns.
    if (call.masked && is_complex(target->dtype()) && !gives_complex(op, call))
      throw Unfit{"a mask, and a complex output of a real loop"};
  }
  const ApplyOptions options{.out = call.target(output),
                             .where = call.masked ? &call.mask : nullptr,
                             .signature = signature_for(op, call),
                             .casting = call.casting};
  if (op == Op::Power) return power_of(arguments[0], arguments[1], options);
  return apply(op, std::span<const Argument>(arguments, inputs), options);
}

PyObject* result_object(const Call& call, int output, Array result) {
  if (call.outs[output]) return Py_NewRef(call.outs[output]);
  if (call.wants_array) return new_array(std::move(result));
  return new_result(std::move(result));
}

PyObject* pair_of(const Call& call, Op first, Op second) {
  // Both are computed before either output is written: an output may be an input.
  if (call.outs[0] || call.outs[1]) throw Unfit{"two outputs in given arrays"};
  const Ref one = Ref::steal(result_object(call, 0, apply_op(first, call, 0)));
  const Ref two = Ref::steal(result_object(call, 1, apply_op(second, call, 1)));
  return checked(PyTuple_Pack(2, one.get(), two.get())).release();
}

// With a new axis of one element before so many of the last ones.
Array with_new_axis(const Array& a, std::ptrdiff_t last) {
  Shape shape(a.shape().begin(), a.shape().end());
  shape.insert(shape.end() - last, 1);
  return *reshape_window(a, shape);
}
// Without such an axis.
Array without_axis(const Array& a, std::ptrdiff_t last) {
  Shape shape(a.shape().begin(), a.shape().end());
  shape.erase(shape.end() - last - 1);
  return *reshape_window(a, shape);
}

// Vectors are matrices of one row or one column: BLAS does the same for them.
Array product_of(Native native, const Array& left, const Array& right) {
  if (native == Native::Matmul) return matmul(left, right);
  const int left_core = native == Native::Matvec ? 2 : 1,
            right_core = native == Native::Vecmat ? 2 : 1;
  if (left.ndim() < left_core || right.ndim() < right_core) throw Unfit{"too few axes"};
  if (native == Native::Matvec) return without_axis(matmul(left, with_new_axis(right, 0)), 0);
  if (is_complex(left.dtype())) throw Unfit{"conjugated vectors"};
  const Array rows = with_new_axis(left, 1);
  if (native == Native::Vecmat) return without_axis(matmul(rows, right), 1);
  return without_axis(without_axis(matmul(rows, with_new_axis(right, 0)), 0), 0);
}

Array matmul_of(const UFuncObject& ufunc, const Call& call) {
  if (call.masked || call.dtype) throw Unfit{"a product with dtype="};
  const Array* left = call.inputs[0].argument.array;
  const Array* right = call.inputs[1].argument.array;
  if (!left || !right) throw Unfit{"a product with a number"};
  const Array* target = call.target(0);
  const DType dtype = promote(left->dtype(), right->dtype());
  if (!can_cast(left->dtype(), dtype, call.casting) ||
      !can_cast(right->dtype(), dtype, call.casting))
    throw Unfit{"casting= forbids this product"};
  if (target && !can_cast(dtype, target->dtype(), call.casting))
    throw Unfit{"a product into another dtype"};
  note_ufunc(ufunc.name);
  const Array product = product_of(ufunc.native, *left, *right);
  if (!target) return product;
  if (!std::ranges::equal(product.shape(), target->shape()))
    throw Unfit{"a product into another shape"};
  assign(*target, product);
  return *target;
}

Array clip_of(const Call& call) {
  if (call.masked || call.dtype) throw Unfit{"clip with dtype="};
  if (!call.inputs[0].argument.array) throw Unfit{"clip of a number"};
  const Array result =
      clipped(*call.inputs[0].argument.array, call.inputs[1].argument, call.inputs[2].argument);
  const Array* target = call.target(0);
  if (!target) return result;
  if (!can_cast(result.dtype(), target->dtype(), call.casting) ||
      !std::ranges::equal(result.shape(), target->shape()))
    throw Unfit{"clip into another array"};
  assign(*target, result);
  return *target;
}

PyObject* call_native(const UFuncObject& ufunc, const Call& call) {
  switch (ufunc.native) {
    case Native::Op:
      return result_object(call, 0, apply_op(ufunc.op, call));
    case Native::Matmul:
    case Native::Matvec:
    case Native::Vecmat:
    case Native::Vecdot:
      return result_object(call, 0, matmul_of(ufunc, call));
    case Native::Clip:
      return result_object(call, 0, clip_of(call));
    case Native::Divmod:
      note_ufunc("divmod");
      return pair_of(call, Op::FloorDivide, Op::Remainder);
    case Native::Modf:
      return pair_of(call, Op::ModfFractional, Op::ModfIntegral);
    case Native::Frexp:
      return pair_of(call, Op::FrexpMantissa, Op::FrexpExponent);
    case Native::No:
      break;
  }
  throw Unfit{"this ufunc is not native"};
}

// The shortest path: one array of ours, or two operands of which one is, and nothing else.
PyObject* call_simple(const UFuncObject& ufunc, const Arguments& arguments) {
  if (ufunc.native != Native::Op || arguments.names || arguments.positional != ufunc.inputs ||
      ufunc.op == Op::Power)
    return nullptr;
  if (ufunc.inputs == 1) {
    if (!is_array(arguments.values[0])) return nullptr;
    const Argument x[1] = {array_of(arguments.values[0]).array};
    return new_result(apply(ufunc.op, x));
  }
  if (ufunc.inputs != 2 || !(is_array(arguments.values[0]) || is_array(arguments.values[1])))
    return nullptr;
  if (Array result = apply_beside_ndarray(ufunc.op, arguments.values[0], arguments.values[1]))
    return new_result(std::move(result));
  Operand x, y;
  if (!read_operand(arguments.values[0], x) || !read_operand(arguments.values[1], y))
    throw Unfit{"an operand is of a foreign type"};
  check_exponent(ufunc.op, y.argument);
  const Argument both[2] = {x.argument, y.argument};
  return new_result(apply(ufunc.op, both));
}

bool is_all_plain(const UFuncObject& ufunc, const Arguments& arguments) {
  if (arguments.positional > ufunc.inputs || arguments.keywords() > 0) return false;
  for (Py_ssize_t k = 0; k < arguments.positional; ++k)
    if (!is_plain_scalar(arguments.values[k])) return false;
  return true;
}

PyObject* call_real(const UFuncObject& ufunc, const Arguments& arguments) {
  return checked(PyObject_Vectorcall(ufunc.real, arguments.values,
                                     static_cast<std::size_t>(arguments.positional),
                                     arguments.names))
      .release();
}

}  // namespace

namespace {

bool is_one_number(const Argument& bound) { return !bound.array || bound.array->size() == 1; }

bool is_nan_or_array(const Argument& bound) {
  if (bound.array) return true;
  switch (bound.scalar.dtype) {
    case DType::Float64:
      return std::isnan(bound.scalar.as<double>());
    case DType::Float32:
      return std::isnan(bound.scalar.as<float>());
    case DType::Float16:
      return true;  // rare
    default:
      return false;
  }
}

}  // namespace

// Its elements serve several times.
bool is_broadcast(const Array& x) {
  for (std::size_t k = 0; k < x.strides().size(); ++k)
    if (x.strides()[k] == 0 && x.shape()[k] > 1) return true;
  return false;
}

Array clipped(const Array& x, const Argument& low, const Argument& high) {
  // In two steps, the first of which would settle an order of axes that the other bound decides.
  if (is_broadcast(x) && high.array && high.array->ndim() > 1)
    throw Unfit{"clip of a broadcast array by an array"};
  const auto type_of = [](const Argument& a) { return OperandType{dtype_of(a), a.weak}; };
  // All three decide on the type: floats before integers (int32, which int8 and uint16 make, would
  // turn float16 into float64), Python's numbers last.
  OperandType types[3] = {{x.dtype()}, type_of(low), type_of(high)};
  std::ranges::stable_sort(types, {}, [](const OperandType& t) {
    return t.weak != Weak::No ? 2 : is_inexact(t.dtype) ? 0 : 1;
  });
  const std::optional<Signature> first = resolve(Op::Maximum, {types, 2});
  if (!first) throw Unfit{"no loop"};
  const OperandType rest[2] = {{first->out}, types[2]};
  const std::optional<Signature> second = resolve(Op::Minimum, rest);
  if (!second) throw Unfit{"no loop"};
  const DType dtype = second->out;
  // Comparisons of complex NaNs would warn, as NumPy's clip does not.
  if (is_complex(dtype)) throw Unfit{"clip of complex numbers"};
  const ApplyOptions same{.signature = Signature{{dtype, dtype, dtype}, dtype},
                          .casting = Casting::Unsafe};
  const ApplyOptions compare{.signature = Signature{{dtype, dtype, dtype}, DType::Bool}};
  const ApplyOptions select{.signature = Signature{{DType::Bool, dtype, dtype}, dtype},
                            .casting = Casting::Unsafe};
  if (is_inexact(dtype) && !is_nan_or_array(low) && !is_nan_or_array(high)) {
    // An element that equals its bound stays, which shows in the sign of zero: of two equal
    // operands both ops give the second, those of float16 the first.
    if (dtype == DType::Float16)
      return apply(Op::Minimum, {apply(Op::Maximum, {x, low}, same), high}, same);
    return apply(Op::Minimum, {high, apply(Op::Maximum, {low, x}, same)}, same);
  }
  const Array raised = apply(Op::Maximum, {x, low}, same);
  if (!is_inexact(dtype)) return apply(Op::Minimum, {raised, high}, same);
  // Where an element equals its bound NumPy keeps the element if the bounds are one number each,
  // else it takes the bound, which shows in the sign of zero.
  const bool keeps = is_one_number(low) && is_one_number(high);
  const Argument& at_low = keeps ? Argument(x) : low;
  const Array above =
      apply(Op::Select,
            {apply(keeps ? Op::Equal : Op::LessEqual, {x, low}, compare), at_low, raised}, select);
  const Array lowered = apply(Op::Minimum, {above, high}, same);
  const Argument& at_high = keeps ? Argument(above) : high;
  return apply(
      Op::Select,
      {apply(keeps ? Op::Equal : Op::GreaterEqual, {above, high}, compare), at_high, lowered},
      select);
}

namespace {

// The usual form of it, told apart at once. (Names in a program's text are interned.)
bool has_where_alone(const UFuncObject& ufunc, const Arguments& arguments) {
  static PyObject* const where = PyUnicode_InternFromString("where");
  return arguments.keywords() == 1 && arguments.positional == ufunc.inputs &&
         PyTuple_GET_ITEM(arguments.names, 0) == where &&
         arguments.values[arguments.positional] != Py_True;
}

}  // namespace

PyObject* call_ufunc(UFuncObject& ufunc, const Arguments& arguments) {
  if (has_where_alone(ufunc, arguments))
    return fall_back(ufunc.name, ufunc.real, arguments, where_without_out);
  if (ufunc.native == Native::No)
    return is_all_plain(ufunc, arguments)
               ? call_real(ufunc, arguments)
               : fall_back(ufunc.name, ufunc.real, arguments, "this ufunc is not native");
  return checked(native_or(
                     {&ufunc, arguments},
                     [&]() -> PyObject* {
                       leave_underflow_to_numpy();
                       if (PyObject* result = call_simple(ufunc, arguments)) {
                         Ref owned = Ref::steal(result);
                         settle_warnings();
                         return owned.release();
                       }
                       if (is_all_plain(ufunc, arguments)) return call_real(ufunc, arguments);
                       Call call;
                       read_call(ufunc, arguments, call);
                       if (call.plain && !call.masked) return call_real(ufunc, arguments);
                       const Ref result = Ref::steal(call_native(ufunc, call));
                       settle_warnings();
                       return Py_NewRef(result.get());
                     },
                     [&](const char* reason) {
                       return fall_back(ufunc.name, ufunc.real, arguments, reason);
                     }))
      .release();
}

// ---- reduce, accumulate, outer, at --------------------------------------------------------------

namespace {

Op reducing_op(const UFuncObject& ufunc) {
  if (ufunc.native != Native::Op || ufunc.inputs != 2)
    throw Unfit{"this ufunc does not reduce natively"};
  const TypeRule rule = info(ufunc.op).rule;
  if (rule != TypeRule::Same && rule != TypeRule::Logical && rule != TypeRule::FloatOnly)
    throw Unfit{"this ufunc does not reduce natively"};
  return ufunc.op;
}

void refuse_negative_powers(Op op, DType dtype) {
  if (op == Op::Power && is_signed(dtype)) throw Unfit{"integer powers that may be negative"};
}

PyObject* reduce_method(const UFuncObject& ufunc, const Arguments& arguments) {
  static constexpr const char* names[] = {"array",    "axis",    "dtype", "out",
                                          "keepdims", "initial", "where"};
  PyObject* slots[std::size(names)];
  sort_arguments(arguments, names, std::size(names), slots);
  if (!slots[0]) throw Unfit{"reduce takes an array"};
  const Op op = reducing_op(ufunc);
  const Array array = array_operand(slots[0]);
  static PyObject* zero = PyLong_FromLong(0);
  PyObject* axis = slots[1] ? slots[1] : zero;
  refuse_negative_powers(op, array.dtype());
  const bool inexact_loop = info(op).rule == TypeRule::FloatOnly;
  if (inexact_loop && !is_inexact(array.dtype())) throw Unfit{"a float reduction of integers"};
  return reduce_native(op, array,
                       {.axis = axis,
                        .dtype = slots[2],
                        .out = slots[3],
                        .keepdims = slots[4],
                        .initial = slots[5],
                        .where = slots[6]});
}

PyObject* accumulate_method(const UFuncObject& ufunc, const Arguments& arguments) {
  static constexpr const char* names[] = {"array", "axis", "dtype", "out"};
  PyObject* slots[std::size(names)];
  sort_arguments(arguments, names, std::size(names), slots);
  if (!slots[0] || (slots[3] && slots[3] != Py_None)) throw Unfit{"accumulate with out="};
  const Op op = reducing_op(ufunc);
  const Array array = array_operand(slots[0]);
  const std::optional<DType> wanted = requested_dtype(slots[2]);
  if (wanted && is_complex(array.dtype()) && !is_complex(*wanted))
    throw Unfit{"complex values lose their imaginary part"};
  const int axis = slots[1] ? axis_operand(slots[1], array.ndim()) : 0;
  if (array.ndim() == 0) throw Unfit{"cannot accumulate on a scalar"};
  refuse_negative_powers(op, wanted.value_or(array.dtype()));
  if (info(op).rule == TypeRule::FloatOnly && !is_inexact(array.dtype()))
    throw Unfit{"a float scan of integers"};
  return new_array(accumulate(op, array, axis, wanted));
}

PyObject* outer_method(const UFuncObject& ufunc, const Arguments& arguments) {
  if (arguments.positional != 2 || ufunc.inputs != 2 || ufunc.native == Native::Matmul)
    throw Unfit{"outer of other than two operands"};
  const Array left = array_operand(arguments.values[0]);
  const Array right = array_operand(arguments.values[1]);
  Shape shape(left.shape().begin(), left.shape().end()),
      strides(left.strides().begin(), left.strides().end());
  shape.resize(shape.size() + right.shape().size(), 1);
  strides.resize(shape.size(), 0);
  const Ref column =
      Ref::steal(new_array(window(left, shape, strides, left.offset(), left.dtype())));
  std::vector<PyObject*> values{column.get(), arguments.values[1]};
  values.insert(values.end(), arguments.values + 2, arguments.values + 2 + arguments.keywords());
  Call call;
  read_call(ufunc, {values.data(), 2, arguments.names}, call);
  // Python numbers count as arrays here.
  call.inputs[1].held = right;
  call.inputs[1].argument = Argument(*call.inputs[1].held);
  return call_native(ufunc, call);
}

PyObject* at_method(const UFuncObject& ufunc, const Arguments& arguments) {
  if (arguments.keywords() != 0 || arguments.positional != 3) throw Unfit{"at with one operand"};
  if (ufunc.native != Native::Op || ufunc.inputs != 2 || info(ufunc.op).rule != TypeRule::Same)
    throw Unfit{"this ufunc has no native at"};
  const Array target = target_operand(arguments.values[0]);
  if (PyTuple_Check(arguments.values[1])) throw Unfit{"at by other than one index array"};
  const Array index = index_operand(arguments.values[1]);
  if (!is_integer(index.dtype()) || target.ndim() < 1)
    throw Unfit{"at by other than one index array"};
  Operand value;
  if (!read_operand(arguments.values[2], value)) throw Unfit{"an operand is of a foreign type"};
  // Here NumPy takes a Python number as an array of its own dtype.
  const OperandType types[2] = {{target.dtype()}, {dtype_of(value.argument)}};
  const std::optional<Signature> signature = resolve(ufunc.op, types);
  if (!signature || signature->out != target.dtype() || signature->in[0] != target.dtype())
    throw Unfit{"at in another dtype"};
  refuse_negative_powers(ufunc.op, target.dtype());
  scatter_apply(ufunc.op, target, {&index, 1}, value.argument);
  return Py_NewRef(Py_None);
}

PyObject* method_native(const UFuncObject& ufunc, std::string_view method,
                        const Arguments& arguments) {
  if (method == "reduce") return reduce_method(ufunc, arguments);
  if (method == "accumulate") return accumulate_method(ufunc, arguments);
  if (method == "outer") return outer_method(ufunc, arguments);
  return at_method(ufunc, arguments);
}

}  // namespace

PyObject* call_ufunc_method(UFuncObject& ufunc, const char* method, const Arguments& arguments) {
  const auto in_numpy = [&](const char* reason) {
    return fall_back(ufunc.name, kept_attribute(ufunc.real, method), arguments, reason);
  };
  if (std::string_view(method) == "reduceat") return in_numpy("reduceat is not native");
  return checked(native_or(
                     {method, arguments, as_object(&ufunc)},
                     [&] {
                       leave_underflow_to_numpy();
                       const Ref result = Ref::steal(method_native(ufunc, method, arguments));
                       settle_warnings();
                       return Py_NewRef(result.get());
                     },
                     in_numpy))
      .release();
}

}  // namespace frit::python
