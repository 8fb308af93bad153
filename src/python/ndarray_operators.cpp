// ndarray_operators.cpp: `ndarray * x`, with an array of ours on the right, computed at once.
//
// NumPy's operators ask the right operand's class for its say, in a tuple, a dictionary, two
// strings and four look-ups, which takes longer than NumPy's own product of a hundred elements. So
// the slots of NumPy's class get a function in front of them, which takes exactly this pair of
// operands and hands on all others: what ndarray.__mul__ and NumPy's own code call stays as it is.
// What native code refuses goes NumPy's way, too, and so does what an installed library computes.
#include <array>

#include "python/float_state.h"
#include "python/numbers.h"
#include "python/numpy_api.h"
#include "python/source.h"

namespace frit::python {
namespace {

struct Row {
  binaryfunc PyNumberMethods::*slot;
  Op op;
};
constexpr Row rows[] = {
    {&PyNumberMethods::nb_add, Op::Add},
    {&PyNumberMethods::nb_subtract, Op::Subtract},
    {&PyNumberMethods::nb_multiply, Op::Multiply},
    {&PyNumberMethods::nb_true_divide, Op::TrueDivide},
    {&PyNumberMethods::nb_floor_divide, Op::FloorDivide},
    {&PyNumberMethods::nb_remainder, Op::Remainder},
    {&PyNumberMethods::nb_and, Op::BitwiseAnd},
    {&PyNumberMethods::nb_or, Op::BitwiseOr},
    {&PyNumberMethods::nb_xor, Op::BitwiseXor},
};
// By the numbers of Python's comparisons.
constexpr std::array<Op, 6> comparisons = {Op::Less,     Op::LessEqual, Op::Equal,
                                           Op::NotEqual, Op::Greater,   Op::GreaterEqual};
static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);

// NumPy's own. Classes that were derived from NumPy's while ours stood in front of them keep ours.
binaryfunc numpy_slots[std::size(rows)];
richcmpfunc numpy_compare;
bool is_in_front = false;

bool is_pair(PyObject* left, PyObject* right) {
  return is_array(right) && PyArray_CheckExact(left);
}

// Null without an error set: NumPy's way.
PyObject* computed(Op op, PyObject* left, PyObject* right) noexcept {
  note_source();
  try {
    if (underflow_is_told() || is_called_by_library()) return nullptr;
    Array result = apply_beside_ndarray(op, left, right);
    if (!result) {
      if (!dtype_of(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(left)))) return nullptr;
      Operand x;
      if (!read_operand(left, x)) return nullptr;
      result = apply(op, {x.argument, array_of(right).array});
    }
    const Ref object = Ref::steal(new_result(std::move(result)));
    settle_warnings();
    return Py_NewRef(object.get());
  } catch (...) {  // PythonError: the error is set
    return nullptr;
  }
}

template <std::size_t row>
PyObject* operate(PyObject* left, PyObject* right) {
  if (is_pair(left, right)) {
    PyObject* const result = computed(rows[row].op, left, right);
    if (result || PyErr_Occurred()) return result;
  }
  return numpy_slots[row](left, right);
}

PyObject* compare(PyObject* left, PyObject* right, int comparison) {
  if (is_pair(left, right)) {
    PyObject* const result =
        computed(comparisons[static_cast<std::size_t>(comparison)], left, right);
    if (result || PyErr_Occurred()) return result;
  }
  return numpy_compare(left, right, comparison);
}

template <std::size_t... row>
constexpr std::array<binaryfunc, sizeof...(row)> operators_of(std::index_sequence<row...>) {
  return {operate<row>...};
}
constexpr auto our_slots = operators_of(std::make_index_sequence<std::size(rows)>());

}  // namespace

void watch_ndarray_operators() {
  if (std::exchange(is_in_front, true)) return;
  PyNumberMethods& numbers = *PyArray_Type.tp_as_number;
  for (std::size_t k = 0; k < std::size(rows); ++k)
    numpy_slots[k] = std::exchange(numbers.*rows[k].slot, our_slots[k]);
  numpy_compare = std::exchange(PyArray_Type.tp_richcompare, compare);
}

void unwatch_ndarray_operators() {
  if (!std::exchange(is_in_front, false)) return;
  PyNumberMethods& numbers = *PyArray_Type.tp_as_number;
  for (std::size_t k = 0; k < std::size(rows); ++k) numbers.*rows[k].slot = numpy_slots[k];
  PyArray_Type.tp_richcompare = numpy_compare;
}

}  // namespace frit::python
