// ndarray_operators.cpp: operators of NumPy's own arrays and scalars with ours on the right.
//
// `ndarray * x`, with an array of ours, is computed at once.
// NumPy's operators ask the right operand's class for its say, in a tuple, a dictionary, two
// strings and four look-ups, which takes longer than NumPy's own product of a hundred elements. So
// the slots of NumPy's class get a function in front of them, which takes exactly this pair of
// operands and hands on all others: what ndarray.__mul__ and NumPy's own code call stays as it is.
// What native code refuses goes NumPy's way, too, and so does what an installed library computes.
//
// `np.float64(2) * s`, with a lazy scalar: NumPy's scalars take it for an array, and compute by
// loops, which call errors by other names and see no overflow of integers. So their slots have one
// in front as well, which has ours compute. It takes arrays, too, by which the product of a hundred
// elements takes a third of the time.
//
// `ndarray[k] = s`: NumPy takes it for an array here, too, whose integers wrap round where a
// scalar's are refused, and an array of ours for a sequence. So NumPy gets what they stand for.
//
// `ndarray[x]`: what is no ndarray and holds nothing is to NumPy an empty list, whose type doesn't
// count: of an empty mask it makes indices.
#include <algorithm>
#include <array>

#include "python/fallback.h"
#include "python/float_state.h"
#include "python/numbers.h"
#include "python/numpy_api.h"
#include "python/objects.h"
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

// ---- scalars ------------------------------------------------------------------------------------

// The operators that NumPy's scalars compute themselves, unless they are bools; and powers.
constexpr binaryfunc PyNumberMethods::*scalar_rows[] = {
    &PyNumberMethods::nb_add,          &PyNumberMethods::nb_subtract,
    &PyNumberMethods::nb_multiply,     &PyNumberMethods::nb_true_divide,
    &PyNumberMethods::nb_floor_divide, &PyNumberMethods::nb_remainder,
    &PyNumberMethods::nb_divmod,
};

struct ScalarSlots {
  binaryfunc binary[std::size(scalar_rows)];
  ternaryfunc power;
};
ScalarSlots numpy_scalar_slots[dtype_count];

PyTypeObject* scalar_class(DType dtype) { return descriptor_of(dtype)->typeobj; }

template <int dtype>
bool is_scalar_pair(PyObject* left, PyObject* right) {
  return (is_scalar(right) || is_array(right)) &&
         Py_IS_TYPE(left, scalar_class(static_cast<DType>(dtype))) && !is_called_by_library();
}

template <int dtype, std::size_t row>
PyObject* operate_on_scalars(PyObject* left, PyObject* right) {
  if (is_scalar_pair<dtype>(left, right))
    return (scalar_type->tp_as_number->*scalar_rows[row])(left, right);
  return numpy_scalar_slots[dtype].binary[row](left, right);
}

template <int dtype>
PyObject* power_of_scalars(PyObject* left, PyObject* right, PyObject* modulo) {
  if (is_scalar_pair<dtype>(left, right))
    return scalar_type->tp_as_number->nb_power(left, right, modulo);
  return numpy_scalar_slots[dtype].power(left, right, modulo);
}

template <int dtype, std::size_t... row>
constexpr ScalarSlots scalar_slots_of(std::index_sequence<row...>) {
  return {{operate_on_scalars<dtype, row>...}, power_of_scalars<dtype>};
}

template <int... dtype>
constexpr std::array<ScalarSlots, sizeof...(dtype)> all_scalar_slots(
    std::integer_sequence<int, dtype...>) {
  return {scalar_slots_of<dtype>(std::make_index_sequence<std::size(scalar_rows)>())...};
}
constexpr auto our_scalar_slots = all_scalar_slots(std::make_integer_sequence<int, dtype_count>());

void set_scalar_slots(const ScalarSlots& slots, DType dtype) {
  PyNumberMethods& numbers = *scalar_class(dtype)->tp_as_number;
  for (std::size_t k = 0; k < std::size(scalar_rows); ++k)
    numbers.*scalar_rows[k] = slots.binary[k];
  numbers.nb_power = slots.power;
}

ScalarSlots scalar_slots(DType dtype) {
  const PyNumberMethods& numbers = *scalar_class(dtype)->tp_as_number;
  ScalarSlots slots{.binary = {}, .power = numbers.nb_power};
  for (std::size_t k = 0; k < std::size(scalar_rows); ++k)
    slots.binary[k] = numbers.*scalar_rows[k];
  return slots;
}

template <class Visit>
void for_each_scalar_class(Visit&& visit) {
  for (int k = 0; k < dtype_count; ++k)
    if (const auto dtype = static_cast<DType>(k); !is_bool(dtype)) visit(dtype);
}

// ---- keys ---------------------------------------------------------------------------------------

binaryfunc numpy_get;

bool is_or_holds_array(PyObject* key) {
  if (!PyTuple_CheckExact(key)) return is_array(key);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key); ++k)
    if (is_array(PyTuple_GET_ITEM(key, k))) return true;
  return false;
}

PyObject* get(PyObject* ndarray, PyObject* key) {
  if (!is_or_holds_array(key)) [[likely]]
    return numpy_get(ndarray, key);
  return guarded([&] { return numpy_get(ndarray, real_deep(key).get()); });
}

// ---- assignments --------------------------------------------------------------------------------

objobjargproc numpy_assign;

constexpr int deepest = 16;  // as real_deep goes

bool holds_ours(PyObject* value, int depth = 0) {
  if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value))
    return is_scalar(value) || is_array(value);
  PyObject* const* const items = PySequence_Fast_ITEMS(value);
  return depth < deepest &&
         std::any_of(items, items + PySequence_Fast_GET_SIZE(value),
                     [=](PyObject* item) { return holds_ours(item, depth + 1); });
}

// The same with NumPy's scalars for ours: an array of objects holds the program's own arrays and
// lists.
Ref with_values(PyObject* value, int depth = 0) {
  if (is_scalar(value)) return Ref::borrow(scalar_value(scalar_of(value)));
  const bool is_list = PyList_CheckExact(value) != 0;
  if ((!is_list && !PyTuple_CheckExact(value)) || depth == deepest) return Ref::borrow(value);
  const Ref items = checked(PySequence_Tuple(value));  // as it is while numbers are computed
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  Ref values = checked(PyTuple_New(count));
  bool has_changed = false;
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* const item = PyTuple_GET_ITEM(items.get(), k);
    Ref given = with_values(item, depth + 1);
    has_changed |= given.get() != item;
    PyTuple_SET_ITEM(values.get(), k, given.release());
  }
  if (!has_changed) return Ref::borrow(value);
  return is_list ? checked(PySequence_List(values.get())) : std::move(values);
}

int assign_value(PyObject* ndarray, PyObject* key, PyObject* value);

int assign_by_real_key(PyObject* ndarray, PyObject* key, PyObject* value) {
  Ref real;
  if (guarded_status([&] { real = real_deep(key); }) < 0) return -1;
  return assign_value(ndarray, real.get(), value);
}

int assign_value(PyObject* ndarray, PyObject* key, PyObject* value) {
  if (is_or_holds_array(key)) [[unlikely]]
    return assign_by_real_key(ndarray, key, value);
  if (!value || !holds_ours(value)) return numpy_assign(ndarray, key, value);
  note_source();
  const bool holds_objects = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(ndarray)) == NPY_OBJECT;
  Ref real;
  if (guarded_status([&] { real = holds_objects ? with_values(value) : real_deep(value); }) < 0)
    return -1;
  return numpy_assign(ndarray, key, real.get());
}

// Classes that are derived later find theirs in the method.
template <class Function>
void set_method(const char* name, Function function) {
  const Ref method = checked(PyMapping_GetItemString(PyArray_Type.tp_dict, name));
  if (Py_IS_TYPE(method.get(), &PyWrapperDescr_Type))
    reinterpret_cast<PyWrapperDescrObject*>(method.get())->d_wrapped =
        reinterpret_cast<void*>(function);
}

// The class and those derived from it that have its function.
template <class Function>
void set_slot(PyTypeObject* type, Function PyMappingMethods::*slot, Function from, Function to) {
  if (type->tp_as_mapping->*slot == from) type->tp_as_mapping->*slot = to;
  const Ref derived = checked(PyObject_CallMethod(as_object(type), "__subclasses__", nullptr));
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(derived.get()); ++k)
    set_slot(reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(derived.get(), k)), slot, from, to);
}

}  // namespace

void watch_ndarray_operators() {
  if (std::exchange(is_in_front, true)) return;
  PyNumberMethods& numbers = *PyArray_Type.tp_as_number;
  for (std::size_t k = 0; k < std::size(rows); ++k)
    numpy_slots[k] = std::exchange(numbers.*rows[k].slot, our_slots[k]);
  numpy_compare = std::exchange(PyArray_Type.tp_richcompare, compare);
  numpy_assign = PyArray_Type.tp_as_mapping->mp_ass_subscript;
  set_method("__setitem__", assign_value);
  set_slot<objobjargproc>(&PyArray_Type, &PyMappingMethods::mp_ass_subscript, numpy_assign,
                          assign_value);
  numpy_get = PyArray_Type.tp_as_mapping->mp_subscript;
  set_method("__getitem__", get);
  set_slot<binaryfunc>(&PyArray_Type, &PyMappingMethods::mp_subscript, numpy_get, get);
  for_each_scalar_class([](DType dtype) {
    numpy_scalar_slots[static_cast<int>(dtype)] = scalar_slots(dtype);
    set_scalar_slots(our_scalar_slots[static_cast<std::size_t>(dtype)], dtype);
  });
}

void unwatch_ndarray_operators() {
  if (!std::exchange(is_in_front, false)) return;
  PyNumberMethods& numbers = *PyArray_Type.tp_as_number;
  for (std::size_t k = 0; k < std::size(rows); ++k) numbers.*rows[k].slot = numpy_slots[k];
  PyArray_Type.tp_richcompare = numpy_compare;
  set_method("__setitem__", numpy_assign);
  set_slot<objobjargproc>(&PyArray_Type, &PyMappingMethods::mp_ass_subscript, assign_value,
                          numpy_assign);
  set_method("__getitem__", numpy_get);
  set_slot<binaryfunc>(&PyArray_Type, &PyMappingMethods::mp_subscript, get, numpy_get);
  for_each_scalar_class(
      [](DType dtype) { set_scalar_slots(numpy_scalar_slots[static_cast<int>(dtype)], dtype); });
}

}  // namespace frit::python
