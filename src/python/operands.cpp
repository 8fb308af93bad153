// operands.cpp: reads operands, axes, shapes and flags.
#include "python/operands.h"

#include <algorithm>

#include "ir/layout.h"
#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/sequences.h"

namespace frit::python {
namespace {

bool read_integer(PyObject* object, Operand& operand) {
  const std::optional<std::int64_t> value = word_of(object);
  if (!value) throw Unfit{"Python integer beyond 64 bits signed"};
  operand.argument = Argument(*value);
  return true;
}

// Of a small ndarray, which is only read: to copy it costs less than a window on its memory.
std::optional<Array> copy_of_few(PyObject* ndarray) {
  auto* array = reinterpret_cast<PyArrayObject*>(ndarray);
  constexpr npy_intp few_bytes = 1024;
  const std::optional<DType> dtype = dtype_of(PyArray_DESCR(array));
  if (!dtype || PyArray_NBYTES(array) > few_bytes || !PyArray_IS_C_CONTIGUOUS(array) ||
      PyArray_NDIM(array) > max_dimensions || PyArray_BASE(array))
    return std::nullopt;
  return copy_of(PyArray_DATA(array),
                 {PyArray_DIMS(array), static_cast<std::size_t>(PyArray_NDIM(array))}, *dtype);
}

bool read_rare(PyObject* object, Operand& operand) {
  if (const std::optional<Scalar> value = numpy_scalar_value(object)) {
    operand.argument = Argument(*value);
    return true;
  }
  if (PyComplex_CheckExact(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    operand.argument = Argument(
        Scalar::of(DType::Complex128, std::complex<double>(value.real, value.imag)), Weak::Complex);
    return true;
  }
  if (PyArray_CheckExact(object) || PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    std::optional<Array> few = PyArray_CheckExact(object) ? copy_of_few(object) : std::nullopt;
    operand.held = few ? std::move(*few) : array_operand(object);
    operand.argument = Argument(*operand.held);
    return true;
  }
  return false;
}

}  // namespace

bool read_operand(PyObject* object, Operand& operand) {
  if (is_array(object)) {
    operand.argument = Argument(array_of(object).array);
    return true;
  }
  if (PyFloat_CheckExact(object)) {
    operand.argument = Argument(PyFloat_AS_DOUBLE(object));
    return true;
  }
  if (PyLong_CheckExact(object)) return read_integer(object, operand);
  if (is_scalar(object)) {
    operand.argument = Argument(scalar_of(object).array);
    return true;
  }
  if (PyBool_Check(object)) {
    operand.argument = Argument(object == Py_True);
    return true;
  }
  return read_rare(object, operand);
}

Array apply_beside_ndarray(Op op, PyObject* left, PyObject* right) {
  const int place = PyArray_CheckExact(left) ? 0 : 1;
  PyObject* given = place == 0 ? left : right;
  PyObject* ours = place == 0 ? right : left;
  if (!PyArray_CheckExact(given) || !is_array(ours)) return {};
  auto* ndarray = reinterpret_cast<PyArrayObject*>(given);
  const Array& array = array_of(ours).array;
  const auto shape = array.shape();
  // A base may be memory of ours.
  const bool is_alike = PyArray_ISCARRAY_RO(ndarray) && !PyArray_BASE(ndarray) &&
                        dtype_of(PyArray_DESCR(ndarray)) == array.dtype() &&
                        static_cast<std::size_t>(PyArray_NDIM(ndarray)) == shape.size() &&
                        std::equal(shape.begin(), shape.end(), PyArray_DIMS(ndarray));
  return is_alike ? apply_beside(op, array, PyArray_DATA(ndarray), place) : Array();
}

bool is_plain_scalar(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         PyComplex_CheckExact(object) || PyArray_CheckScalar(object);
}

Array array_operand(PyObject* object) {
  if (is_array(object)) return array_of(object).array;
  if (is_scalar(object)) return scalar_of(object).array;
  if (PyArray_CheckExact(object)) {
    std::optional<Array> wrapped = wrap_ndarray(object);
    if (!wrapped) throw Unfit{"dtype is not native"};
    return *wrapped;
  }
  if (const std::optional<Scalar> value = numpy_scalar_value(object)) return full({}, *value);
  const bool number = PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
                      PyBool_Check(object) || PyComplex_CheckExact(object);
  if (!number && !PyList_CheckExact(object) && !PyTuple_CheckExact(object))
    throw Unfit{"an operand is of a foreign type"};
  if (std::optional<Array> array = array_of_numbers(object)) return std::move(*array);
  const Ref ours = Ref::steal(converted_by_numpy(object));
  if (!is_array(ours.get())) throw Unfit{"dtype is not native"};
  return array_of(ours.get()).array;
}

Array index_operand(PyObject* object) {
  if ((PyList_CheckExact(object) && PyList_GET_SIZE(object) == 0)) {
    const std::int64_t none[1] = {0};
    return empty(none, DType::Int64);
  }
  Array index = array_operand(object);
  if (!is_integer(index.dtype()) && !is_bool(index.dtype())) throw Unfit{"not an index"};
  return index;
}

std::int64_t integer_operand(PyObject* object) {
  if (PyLong_CheckExact(object)) {
    const long long value = PyLong_AsLongLong(object);
    if (value != -1 || !PyErr_Occurred()) return value;
    PyErr_Clear();
    throw Unfit{"an integer is too large"};
  }
  if (PyBool_Check(object)) throw Unfit{"a bool is no integer"};
  const Ref index = Ref::steal(PyNumber_Index(object));
  if (!index) {
    PyErr_Clear();
    throw Unfit{"not an integer"};
  }
  const long long value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw Unfit{"an integer is too large"};
  }
  return value;
}

Shape shape_operand(PyObject* object) {
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
    if (n > max_dimensions) throw Unfit{"too many dimensions"};
    Shape shape(static_cast<std::size_t>(n));
    for (Py_ssize_t k = 0; k < n; ++k)
      shape[static_cast<std::size_t>(k)] = integer_operand(PySequence_Fast_GET_ITEM(object, k));
    return shape;
  }
  const bool is_sequence = is_array(object) && array_of(object).array.ndim() > 0;
  if (PyLong_CheckExact(object) || (PyIndex_Check(object) && !is_sequence))
    return {integer_operand(object)};
  if (!PySequence_Check(object))
    throw Unfit{"not a shape"};  // what can be iterated is no sequence yet
  const Ref sequence = Ref::steal(PySequence_Tuple(object));
  if (!sequence) {
    PyErr_Clear();
    throw Unfit{"not a shape"};
  }
  return shape_operand(sequence.get());
}

int axis_operand(PyObject* object, int ndim) {
  const std::int64_t axis = integer_operand(object);
  const std::int64_t normal = axis < 0 ? axis + ndim : axis;
  if (normal < 0 || normal >= ndim) throw Unfit{"an axis is out of bounds"};
  return static_cast<int>(normal);
}

Axes axes_operand(PyObject* object, int ndim) {
  if (!object || object == Py_None || object == numpy.no_value) return {};
  Axes result{.all = false, .axes = {}};
  if (!PyTuple_Check(object)) {
    // NumPy lets a 0-d array be reduced along axis 0 or -1.
    if (ndim == 0 && (integer_operand(object) == 0 || integer_operand(object) == -1)) return {};
    result.axes.push_back(axis_operand(object, ndim));
    result.all = ndim == 1;
    return result;
  }
  std::uint64_t seen = 0;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(object); ++k) {
    const int axis = axis_operand(PyTuple_GET_ITEM(object, k), ndim);
    if (seen >> axis & 1) throw Unfit{"an axis is given twice"};
    seen |= std::uint64_t{1} << axis;
    result.axes.push_back(axis);
  }
  return result;
}

bool flag_operand(PyObject* object, bool absent) {
  if (!object || object == numpy.no_value) return absent;
  if (object == Py_True) return true;
  if (object == Py_False) return false;
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) throw PythonError{};
  return truth != 0;
}

char order_operand(PyObject* object, char absent) {
  if (!object || object == Py_None) return absent;
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : nullptr;
  if (text && length == 1) {
    switch (text[0]) {
      case 'C':
      case 'c':
        return 'C';
      case 'F':
      case 'f':
        return 'F';
      case 'A':
      case 'a':
        return 'A';
      case 'K':
      case 'k':
        return 'K';
      default:
        break;
    }
  }
  throw Unfit{"not an order"};
}

void check_writable(ArrayObject& object) {
  if (object.warns_on_write) {
    checked_status(PyErr_WarnEx(
        PyExc_DeprecationWarning,
        "Numpy has detected that you (may be) writing to an array with\noverlapping memory from "
        "np.broadcast_arrays. If this is intentional\nset the WRITEABLE flag True or make a copy "
        "immediately before writing.",
        1));
    object.warns_on_write = object.read_only = false;
  }
  if (object.read_only || !object.array.writable()) throw Unfit{"the array is read-only"};
}

// Where NumPy takes them for apart it writes all of the output before it raises an error; where
// not, it computes into a copy, which an error leaves behind. Which of them it does with arrays
// whose bounds overlap hangs on how far it looks: it is left to NumPy.
void check_errors_in_place(const Array& input, const Array& target) {
  if (!float_errors_are_immediate) return;
  if (input.same_base(target)) {
    if (input.layout() == target.layout() && input.offset() == target.offset()) return;
    const ByteRange read = byte_range(*input.layout()), written = byte_range(*target.layout());
    const std::int64_t ahead = target.offset() - input.offset();
    if (read.high <= ahead + written.low || ahead + written.high <= read.low) return;
  } else if (!may_share_memory(input, target)) {
    return;
  }
  throw Unfit{"an error leaves an overlapping output alone"};
}

Array target_operand(PyObject* object) {
  if (is_array(object)) {
    check_writable(array_of(object));
    return array_of(object).array;
  }
  if (!PyArray_CheckExact(object)) throw Unfit{"an output is of a foreign type"};
  if (!PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(object)))
    throw Unfit{"the array is read-only"};
  std::optional<Array> wrapped = wrap_ndarray(object);
  if (!wrapped) throw Unfit{"dtype is not native"};
  return *wrapped;
}

}  // namespace frit::python
