// numbers.cpp: the number slots. `array + array` or `+ number` runs no Python, makes no tuple.
#include "python/numbers.h"

#include <algorithm>
#include <utility>

#include "python/fallback.h"
#include "python/float_state.h"
#include "python/numpy_api.h"
#include "python/refusals.h"
#include "python/scalar_math.h"
#include "python/source.h"

namespace frit::python {
namespace {

enum class Slot : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  TrueDivide,
  FloorDivide,
  Remainder,
  Power,
  Matmul,
  LeftShift,
  RightShift,
  And,
  Or,
  Xor,
  Divmod,
};

struct Operator {
  const char* name;  // in the module `operator`
  const char* inplace_name;
  Op op;                             // not used by Matmul and Divmod
  const char* on_scalars = nullptr;  // what a warning calls it between two scalars
};

constexpr Operator operators[] = {
    {"add", "iadd", Op::Add, "scalar add"},
    {"sub", "isub", Op::Subtract, "scalar subtract"},
    {"mul", "imul", Op::Multiply, "scalar multiply"},
    {"truediv", "itruediv", Op::TrueDivide, "scalar divide"},
    {"floordiv", "ifloordiv", Op::FloorDivide, "scalar floor_divide"},
    {"mod", "imod", Op::Remainder, "scalar remainder"},
    {"pow", "ipow", Op::Power, "scalar power"},
    {"matmul", "imatmul", Op::Add},
    {"lshift", "ilshift", Op::LeftShift},
    {"rshift", "irshift", Op::RightShift},
    {"and_", "iand", Op::BitwiseAnd},
    {"or_", "ior", Op::BitwiseOr},
    {"xor", "ixor", Op::BitwiseXor},
    {"divmod", nullptr, Op::FloorDivide, "scalar divmod"},
};
constexpr const Operator& row(Slot slot) { return operators[static_cast<int>(slot)]; }

PyObject* function_of(Slot slot) {
  if (slot == Slot::Divmod) {
    static PyObject* function = builtin("divmod");
    return function;
  }
  return operator_function(row(slot).name);
}

bool is_ours(PyObject* object) { return is_array(object) || is_scalar(object); }

// NumPy's rule for stepping back and letting the other operand's class decide (binop_override.h).
bool defers_to(PyObject* other, bool inplace) {
  if (is_ours(other) || PyArray_CheckExact(other) || is_plain_scalar(other)) return false;
  const Ref special = Ref::steal(PyObject_GetAttr(as_object(Py_TYPE(other)), numpy.array_ufunc));
  if (special) return !inplace && special.get() == Py_None;
  PyErr_Clear();
  const Ref priority = Ref::steal(PyObject_GetAttr(other, numpy.array_priority));
  if (!priority) {
    PyErr_Clear();
    return false;  // a scalar's priority, below ours
  }
  const double value = PyFloat_AsDouble(priority.get());
  if (value == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return value > 0.0;
}

// Of a class in C (pandas' Timestamp): it knows NumPy's arrays by their type.
bool is_made_in_c(PyObject* object) {
  static PyObject* const equal = checked(PyUnicode_InternFromString("__eq__")).release();
  PyObject* const method = _PyType_Lookup(Py_TYPE(object), equal);
  return method && Py_IS_TYPE(method, &PyWrapperDescr_Type) &&
         PyDescr_TYPE(method) != &PyBaseObject_Type;
}

PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }

// A lazy Scalar whose value is known is, for arithmetic with plain numbers, the NumPy scalar that
// it stands for.
bool both_known(PyObject* left, PyObject* right) {
  const auto known = [](PyObject* object) {
    if (is_scalar(object))
      return scalar_of(object).value != nullptr || is_ready(scalar_of(object).array);
    return is_plain_scalar(object);
  };
  return known(left) && known(right);
}

PyObject* on_scalars(Slot slot, PyObject* left, PyObject* right) {
  const auto value = [](PyObject* object) {
    return is_scalar(object) ? scalar_value(scalar_of(object)) : object;
  };
  PyObject* const values[] = {value(left), value(right)};
  return checked(PyObject_Vectorcall(function_of(slot), values, 2, nullptr)).release();
}

bool is_number_or_array(PyObject* object) {
  return is_ours(object) || is_plain_scalar(object) || PyArray_CheckExact(object);
}

// `[0] * n`: by NotImplemented a NumPy scalar leaves it to Python to repeat the list, in place for
// `*=`.
bool is_repeated(PyObject* object) {
  if (is_number_or_array(object)) return false;
  const PyTypeObject* type = Py_TYPE(object);
  const bool multiplies = type->tp_as_number && type->tp_as_number->nb_multiply;
  return type->tp_as_sequence && type->tp_as_sequence->sq_repeat && !multiplies;
}

// Python and the other operand's class decide what these give; they know NumPy scalars, but no lazy
// ones. `1j * x` is a Python number: to complex a float64 is a float.
bool wants_value(PyObject* left, PyObject* right) {
  if (PyComplex_CheckExact(left))
    return is_scalar(right) && scalar_of(right).array.dtype() == DType::Float64;
  return (is_scalar(left) && !is_number_or_array(right)) ||
         (is_scalar(right) && !is_number_or_array(left));
}

std::optional<Op> fast_power(PyObject* base, PyObject* exponent) {
  if (!is_array(base)) return std::nullopt;
  const DType dtype = array_of(base).array.dtype();
  if (PyLong_CheckExact(exponent)) {
    int overflow = 0;
    const long value = PyLong_AsLongAndOverflow(exponent, &overflow);
    if (overflow != 0) return std::nullopt;
    if (value == 2) return Op::Square;
    if (value == -1 && is_inexact(dtype)) return Op::Reciprocal;
  } else if (PyFloat_CheckExact(exponent) && PyFloat_AS_DOUBLE(exponent) == 0.5) {
    // Integers of 32 and 64 bits become float64 under both; a root is what the power rounds to.
    if (is_inexact(dtype) || (is_integer(dtype) && size_of(dtype) >= 4)) return Op::Sqrt;
  }
  return std::nullopt;
}

Array matrix_product(const Operand& left, const Operand& right) {
  if (!left.argument.array || !right.argument.array) throw Unfit{"matmul of a number"};
  return matmul(*left.argument.array, *right.argument.array);
}

PyObject* divided_pair(const Argument (&arguments)[2]) {
  Array quotient = apply(Op::FloorDivide, arguments);
  Array remainder = apply(Op::Remainder, arguments);
  settle_warnings();
  const Ref first = Ref::steal(new_result(std::move(quotient)));
  const Ref second = Ref::steal(new_result(std::move(remainder)));
  return checked(PyTuple_Pack(2, first.get(), second.get())).release();
}

PyObject* finished(Array&& result) {
  settle_warnings();
  return new_result(std::move(result));
}

bool makes_complex(const Argument (&arguments)[2]) {
  return std::ranges::any_of(arguments, [](const Argument& x) {
    return is_complex(x.array ? x.array->dtype() : x.scalar.dtype);
  });
}

PyObject* binary_native(Slot slot, PyObject* left, PyObject* right) {
  if (slot == Slot::Power)
    if (const std::optional<Op> op = fast_power(left, right))
      return finished(apply(*op, {array_of(left).array}));
  if (slot != Slot::Power && slot != Slot::Matmul && slot != Slot::Divmod)
    if (Array result = apply_beside_ndarray(row(slot).op, left, right))
      return finished(std::move(result));
  Operand x, y;
  if (!read_operand(left, x) || !read_operand(right, y))
    throw Unfit{"an operand is of a foreign type"};
  if (slot == Slot::Matmul) return finished(matrix_product(x, y));
  const Argument arguments[2] = {x.argument, y.argument};
  const auto is_number = [](PyObject* object) {
    return is_scalar(object) || is_plain_scalar(object);
  };
  const char* name_on_scalars = row(slot).on_scalars;
  if (name_on_scalars && is_number(left) && is_number(right)) {
    const NumberPair pair{{left, right}, x.argument, y.argument};
    if (scalars_tell_more(row(slot).op, pair))
      return object_of_result(Ref::steal(on_scalars(slot, left, right)));
    if (!scalars_compute(pair)) name_on_scalars = nullptr;
  } else {
    name_on_scalars = nullptr;
  }
  if (name_on_scalars)
    note_ufunc(name_on_scalars);
  else if (slot == Slot::Divmod)
    note_ufunc("divmod");
  if (slot == Slot::Divmod) return divided_pair(arguments);
  if (slot == Slot::Power) {
    std::optional<Array> power;
    if (name_on_scalars) power = power_of_scalars(arguments);
    return finished(power ? *std::move(power) : power_of(arguments[0], arguments[1]));
  }
  const bool is_unfused = name_on_scalars && slot == Slot::Multiply && makes_complex(arguments);
  return finished(apply(is_unfused ? Op::MultiplyUnfused : row(slot).op, arguments));
}

PyObject* binary_general(Slot slot, PyObject* left, PyObject* right) noexcept {
  PyObject* const operands[] = {left, right};
  return native_or(
      {row(slot).name, {operands, 2}},
      [&] {
        if (is_scalar(left) || is_scalar(right)) {
          if (both_known(left, right)) return on_scalars(slot, left, right);
          if (slot == Slot::Multiply && (is_repeated(left) || is_repeated(right)))
            return not_implemented();
          if (wants_value(left, right))
            return object_of_result(Ref::steal(on_scalars(slot, left, right)));
        }
        if (is_ours(left) && defers_to(right, false)) {
          if (is_made_in_c(right)) throw Unfit{"an operand of a class in C that goes before"};
          return not_implemented();
        }
        leave_underflow_to_numpy();
        return binary_native(slot, left, right);
      },
      [&](const char* reason) {
        return fall_back_on(row(slot).name, function_of(slot), reason, left, right);
      });
}

// Beside float64 it is what NumPy makes of it.
Argument integer_beside(const Array& a, std::int64_t integer) {
  return a.dtype() == DType::Float64 ? Argument(static_cast<double>(integer)) : Argument(integer);
}

// Arrays, and numbers beside them; null without error for anything else.
PyObject* binary_at_once(Op op, PyObject* left, PyObject* right) {
  const auto result = [op](const Argument(&arguments)[2]) {
    return finished(apply(op, arguments));
  };
  if (is_array(left)) {
    const Array& a = array_of(left).array;
    if (is_array(right)) return result({a, array_of(right).array});
    if (PyFloat_CheckExact(right)) return result({a, PyFloat_AS_DOUBLE(right)});
    if (const std::optional<std::int64_t> integer = word_of(right))
      return result({a, integer_beside(a, *integer)});
  } else if (is_array(right)) {
    const Array& a = array_of(right).array;
    if (PyFloat_CheckExact(left)) return result({PyFloat_AS_DOUBLE(left), a});
    if (const std::optional<std::int64_t> integer = word_of(left))
      return result({integer_beside(a, *integer), a});
  }
  return nullptr;
}

// Nobody holds it but the expression that it stands in.
bool is_temporary(PyObject* object) {
#if PY_VERSION_HEX >= 0x030E0000
  return PyUnstable_Object_IsUniqueReferencedTemporary(object) != 0;
#else
  return Py_REFCNT(object) == 1;
#endif
}

// Whether NumPy, given such an array, would write the product over it (temp_elide.c).
bool takes_product(PyObject* object, PyObject* other) {
  constexpr std::int64_t least_bytes = 256 * 1024;
  if (!is_array(object)) return false;
  const ArrayObject& fields = array_of(object);
  const Array& array = fields.array;
  if (!is_complex(array.dtype()) || array.size() * size_of(array.dtype()) < least_bytes ||
      !is_temporary(object) || fields.owner || fields.read_only || array.base()->foreign)
    return false;
  Operand beside;
  if (!is_ours(other) && !is_plain_scalar(other)) return false;
  if (!read_operand(other, beside)) return false;
  const Argument& y = beside.argument;
  return can_cast(y.array ? y.array->dtype() : y.scalar.dtype, array.dtype(), Casting::Safe) &&
         (!y.array || y.array->ndim() == 0 || std::ranges::equal(y.array->shape(), array.shape()));
}

// Over its right operand it writes right * left, if the left one is no scalar of its own. That is
// seen in the last bits of a product of complex numbers, which is made by fused multiply-adds.
bool is_turned_round(PyObject* left, PyObject* right) {
  if (is_scalar(left) || PyArray_CheckScalar(left)) return false;
  try {
    return takes_product(right, left) && !takes_product(left, right);
  } catch (...) {  // an operand that the path to NumPy will see again
    PyErr_Clear();
    return false;
  }
}

template <Slot slot>
PyObject* binary(PyObject* left, PyObject* right) {
  note_source();
  if constexpr (slot == Slot::Multiply)
    if (is_turned_round(left, right)) std::swap(left, right);
  if constexpr (slot != Slot::Power && slot != Slot::Matmul && slot != Slot::Divmod) {
    if (underflow_is_told() || may_be_refused(row(slot).name))
      return binary_general(slot, left, right);
    try {
      if (PyObject* result = binary_at_once(row(slot).op, left, right)) return result;
    } catch (const PythonError&) {
      return nullptr;
    } catch (...) {  // once more, on the path that asks NumPy
    }
  }
  return binary_general(slot, left, right);
}

PyObject* power(PyObject* left, PyObject* right, PyObject* modulo) {
  if (modulo != Py_None) return not_implemented();
  return binary<Slot::Power>(left, right);
}

// ---- in place -----------------------------------------------------------------------------------

PyObject* inplace_native(Slot slot, PyObject* left, PyObject* right) {
  check_writable(array_of(left));
  const Array& target = array_of(left).array;
  const ApplyOptions options{.out = &target};
  if (slot == Slot::Power)
    if (const std::optional<Op> op = fast_power(left, right)) {
      apply(*op, {target}, options);
      settle_warnings();
      return Py_NewRef(left);
    }
  Operand y;
  if (!read_operand(right, y)) throw Unfit{"an operand is of a foreign type"};
  if (slot == Slot::Matmul) {
    if (!y.argument.array || target.ndim() != 2 || y.argument.array->ndim() != 2)
      throw Unfit{"in-place matmul of other than matrices"};
    if (!can_cast(promote(target.dtype(), y.argument.array->dtype()), target.dtype(),
                  Casting::SameKind))
      throw Unfit{"matmul into another dtype"};
    matmul(target, *y.argument.array, &target);
  } else {
    const Argument arguments[2] = {target, y.argument};
    if (y.argument.array) check_errors_in_place(*y.argument.array, target);
    if (slot == Slot::Power)
      power_of(arguments[0], arguments[1], options);
    else
      apply(row(slot).op, arguments, options);
  }
  settle_warnings();
  return Py_NewRef(left);
}

template <Slot slot>
PyObject* inplace(PyObject* left, PyObject* right) {
  note_source();
  return native_or(
      {row(slot).inplace_name, {&right, 1}, left},
      [&] {
        if (defers_to(right, true)) return not_implemented();
        leave_underflow_to_numpy();
        return inplace_native(slot, left, right);
      },
      [&](const char* reason) {
        return fall_back_on(row(slot).inplace_name, operator_function(row(slot).inplace_name),
                            reason, left, right);
      });
}

PyObject* inplace_power(PyObject* left, PyObject* right, PyObject*) {
  return inplace<Slot::Power>(left, right);
}

// ---- one operand --------------------------------------------------------------------------------

const Array& own_array(PyObject* object) {
  return is_array(object) ? array_of(object).array : scalar_of(object).array;
}

template <Op op>
PyObject* unary(PyObject* object, const char* name) {
  note_source();
  return native_or(
      {name, {&object, 1}},
      [&] {
        if (is_scalar(object) && (is_ready(scalar_of(object).array) ||
                                  scalars_tell_more(op, scalar_of(object).array.dtype()))) {
          PyObject* value = scalar_value(scalar_of(object));
          return checked(PyObject_CallOneArg(operator_function(name), value)).release();
        }
        return finished(apply(op, {own_array(object)}));
      },
      [&](const char* reason) {
        return fall_back_on(name, operator_function(name), reason, object);
      });
}
PyObject* negative(PyObject* object) { return unary<Op::Negative>(object, "neg"); }
PyObject* positive(PyObject* object) { return unary<Op::Positive>(object, "pos"); }
PyObject* absolute(PyObject* object) { return unary<Op::Absolute>(object, "abs"); }
PyObject* invert(PyObject* object) { return unary<Op::Invert>(object, "invert"); }

// ---- values -------------------------------------------------------------------------------------

// The element of an array that has only one, as a NumPy scalar; null without error where it has
// more or none.
Ref only_element(PyObject* object) {
  if (is_scalar(object)) return Ref::borrow(scalar_value(scalar_of(object)));
  const Array& array = array_of(object).array;
  if (array.size() != 1) return {};
  return Ref::steal(make_scalar(evaluate(array), array.dtype()));
}

int truth(PyObject* object) {
  note_source();
  int result = -1;
  const int status = guarded_status([&] {
    if (is_array(object) && array_of(object).array.size() != 1) {
      // NumPy words the error.
      const Ref answer = Ref::steal(call_numpy_on(operator_function("truth"), object));
      result = answer.get() == Py_True;
      return;
    }
    const Array& array = own_array(object);
    if (is_bool(array.dtype()))
      result = *evaluate(array) != std::byte{0};
    else
      result = PyObject_IsTrue(only_element(object).get());
  });
  return status < 0 ? -1 : result;
}

template <class Convert>
PyObject* converted_element(PyObject* object, const char* function, Convert&& convert) {
  note_source();
  return guarded([&]() -> PyObject* {
    // 0-d arrays and scalars; NumPy warns or raises for all others. An array's complex element is
    // no real number to it, though a complex scalar warns only.
    const Array& array = own_array(object);
    const bool converts = array.ndim() == 0 && !(is_array(object) && is_complex(array.dtype()));
    const Ref element = converts ? only_element(object) : Ref{};
    if (element) return convert(element.get());
    return call_numpy_on(checked(builtin(function)).get(), object);
  });
}

PyObject* to_int(PyObject* object) {
  return converted_element(object, "int", [](PyObject* element) { return PyNumber_Long(element); });
}
PyObject* to_float(PyObject* object) {
  return converted_element(object, "float",
                           [](PyObject* element) { return PyNumber_Float(element); });
}

// Says in NumPy's words that an array is no index: those about one of its own. bytes(x) asks before
// it takes the memory.
PyObject* refuse_index() {
  npy_intp one = 1;
  static PyObject* const none = checked(PyArray_ZEROS(1, &one, NPY_DOUBLE, 0)).release();
  return PyNumber_Index(none);
}

PyObject* to_index(PyObject* object) {
  note_source();
  return guarded([&]() -> PyObject* {
    const Array& array = own_array(object);
    if (is_array(object) && (!is_integer(array.dtype()) || array.ndim() != 0))
      return refuse_index();
    const Ref element = only_element(object);
    if (element) return PyNumber_Index(element.get());
    return call_numpy_on(operator_function("index"), object);
  });
}

struct Comparison {
  Op op;
  const char* name;
};
constexpr Comparison comparisons[] = {{Op::Less, "lt"},    {Op::LessEqual, "le"},
                                      {Op::Equal, "eq"},   {Op::NotEqual, "ne"},
                                      {Op::Greater, "gt"}, {Op::GreaterEqual, "ge"}};

}  // namespace

namespace {

// One exponent throughout, of the type of the base.
std::optional<double> one_exponent(const Argument& base, const Argument& exponent) {
  if (!base.array || exponent.array || exponent.weak == Weak::Complex) return std::nullopt;
  const DType dtype = base.array->dtype();
  if (dtype != DType::Float32 && dtype != DType::Float64) return std::nullopt;
  if (exponent.weak == Weak::No && exponent.scalar.dtype != dtype) return std::nullopt;
  return exponent.weak == Weak::Int ? static_cast<double>(exponent.scalar.as<std::int64_t>())
         : exponent.scalar.dtype == DType::Float32
             ? static_cast<double>(exponent.scalar.as<float>())
             : exponent.scalar.as<double>();
}

// The op that NumPy's power loop of the base's type uses, where it is not pow itself.
std::optional<Op> power_shortcut(double exponent) {
  if (exponent == 2.0) return Op::Square;
  if (exponent == 0.5) return Op::Sqrt;
  if (exponent == -1.0) return Op::Reciprocal;
  if (exponent == 1.0) return Op::Positive;
  return std::nullopt;
}

// Two and three roundings, so within 2 and 3 ulp; no rounding where the power is a number of the
// type, as the squares of its factors are numbers, too. An op of pow's takes twenty times as long.
std::optional<Array> product_power(const Array& base, double exponent,
                                   const ApplyOptions& options) {
  if (exponent != 3.0 && exponent != 4.0) return std::nullopt;
  if (base.ndim() == 0 || options.where) return std::nullopt;
  note_ufunc("power");
  const Array square = apply(Op::Square, {base});
  if (exponent == 4.0) return apply(Op::Square, {square}, options);
  return apply(Op::Multiply, {square, base}, options);
}

// 0 and 1 are what their positive powers are.
std::optional<Array> bool_power(const Argument& base, const Argument& exponent,
                                const ApplyOptions& options) {
  if (!base.array || base.array->dtype() != DType::Bool || base.array->ndim() == 0 ||
      exponent.array || exponent.weak != Weak::Float || !(exponent.scalar.as<double>() > 0.0) ||
      options.out || options.where || options.signature)
    return std::nullopt;
  return astype(*base.array, DType::Float64);
}

}  // namespace

Array power_of(const Argument& base, const Argument& exponent, const ApplyOptions& options) {
  const std::optional<double> one = one_exponent(base, exponent);
  if (one && !options.signature) {
    if (const std::optional<Op> op = power_shortcut(*one)) {
      note_ufunc("power");
      return apply(*op, {base}, options);
    }
    if (const std::optional<Array> power = product_power(*base.array, *one, options)) return *power;
  }
  if (const std::optional<Array> power = bool_power(base, exponent, options)) return *power;
  return power(base, exponent, options);
}

PyObject* rich_compare(PyObject* left, PyObject* right, int comparison) {
  const Comparison& which = comparisons[comparison];
  note_source();
  PyObject* const operands[] = {left, right};
  return native_or(
      {which.name, {operands, 2}},
      [&]() -> PyObject* {
        if (is_scalar(left) && (is_plain_scalar(right) || is_scalar(right)))
          return PyObject_RichCompare(scalar_value(scalar_of(left)),
                                      is_scalar(right) ? scalar_value(scalar_of(right)) : right,
                                      comparison);
        Operand y;
        if (!read_operand(right, y)) {
          if (defers_to(right, false) && !is_made_in_c(right)) return not_implemented();
          if (is_scalar(left))
            return PyObject_RichCompare(scalar_value(scalar_of(left)), right, comparison);
          throw Unfit{"an operand is of a foreign type"};
        }
        const Argument arguments[2] = {own_array(left), y.argument};
        return finished(apply(which.op, arguments));
      },
      [&](const char* reason) {
        return fall_back_on(which.name, operator_function(which.name), reason, left, right);
      });
}

void add_number_slots(std::vector<PyType_Slot>& slots) {
  const auto add = [&](int slot, auto function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
  };
  add(Py_nb_add, binary<Slot::Add>);
  add(Py_nb_subtract, binary<Slot::Subtract>);
  add(Py_nb_multiply, binary<Slot::Multiply>);
  add(Py_nb_true_divide, binary<Slot::TrueDivide>);
  add(Py_nb_floor_divide, binary<Slot::FloorDivide>);
  add(Py_nb_remainder, binary<Slot::Remainder>);
  add(Py_nb_divmod, binary<Slot::Divmod>);
  add(Py_nb_power, power);
  add(Py_nb_matrix_multiply, binary<Slot::Matmul>);
  add(Py_nb_lshift, binary<Slot::LeftShift>);
  add(Py_nb_rshift, binary<Slot::RightShift>);
  add(Py_nb_and, binary<Slot::And>);
  add(Py_nb_or, binary<Slot::Or>);
  add(Py_nb_xor, binary<Slot::Xor>);
  add(Py_nb_negative, negative);
  add(Py_nb_positive, positive);
  add(Py_nb_absolute, absolute);
  add(Py_nb_invert, invert);
  add(Py_nb_bool, truth);
  add(Py_nb_int, to_int);
  add(Py_nb_float, to_float);
  add(Py_tp_richcompare, rich_compare);
}

PyType_Slot index_slot() { return {Py_nb_index, reinterpret_cast<void*>(to_index)}; }

void add_inplace_slots(std::vector<PyType_Slot>& slots) {
  const auto add = [&](int slot, auto function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
  };
  add(Py_nb_inplace_add, inplace<Slot::Add>);
  add(Py_nb_inplace_subtract, inplace<Slot::Subtract>);
  add(Py_nb_inplace_multiply, inplace<Slot::Multiply>);
  add(Py_nb_inplace_true_divide, inplace<Slot::TrueDivide>);
  add(Py_nb_inplace_floor_divide, inplace<Slot::FloorDivide>);
  add(Py_nb_inplace_remainder, inplace<Slot::Remainder>);
  add(Py_nb_inplace_power, inplace_power);
  add(Py_nb_inplace_matrix_multiply, inplace<Slot::Matmul>);
  add(Py_nb_inplace_lshift, inplace<Slot::LeftShift>);
  add(Py_nb_inplace_rshift, inplace<Slot::RightShift>);
  add(Py_nb_inplace_and, inplace<Slot::And>);
  add(Py_nb_inplace_or, inplace<Slot::Or>);
  add(Py_nb_inplace_xor, inplace<Slot::Xor>);
}

}  // namespace frit::python
