// loop_guess.cpp: see loop_guess.h.
#include "python/loop_guess.h"

#include <algorithm>
#include <cmath>

#include "python/kernels.h"
#include "python/numpy_api.h"
#include "python/objects.h"

namespace frit::python {
namespace {

std::optional<double> integer_of(PyObject* value) {
  if (!PyLong_CheckExact(value)) {
    const std::optional<Scalar> scalar = numpy_scalar_value(value);
    if (!scalar || !is_integer(scalar->dtype)) return std::nullopt;
    Ref number = Ref::steal(PyNumber_Long(value));
    if (!number) PyErr_Clear();
    return number ? integer_of(number.get()) : std::nullopt;
  }
  const double number = PyLong_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return number;
}

std::span<const std::int64_t> shape_of(PyObject* value) {
  static_assert(sizeof(npy_intp) == sizeof(std::int64_t));
  if (is_array(value)) return array_of(value).array.shape();
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(value);
  return {reinterpret_cast<const std::int64_t*>(PyArray_DIMS(array)),
          static_cast<std::size_t>(PyArray_NDIM(array))};
}

std::optional<double> extent_of(PyObject* value, char word) {
  if (is_array(value) || PyArray_CheckExact(value)) {
    const std::span<const std::int64_t> shape = shape_of(value);
    if (word == 's') {
      double size = 1;
      for (const std::int64_t extent : shape) size *= static_cast<double>(extent);
      return size;
    }
    const std::size_t rank = shape.size();
    const std::size_t axis = word <= '9' ? static_cast<std::size_t>(word - '0')
                                         : rank - static_cast<std::size_t>(word - 'A') - 1;
    if (axis >= rank) return std::nullopt;
    return static_cast<double>(shape[axis]);
  }
  const bool has_length = PyList_CheckExact(value) || PyTuple_CheckExact(value) ||
                          PyUnicode_CheckExact(value) || PyBytes_CheckExact(value) ||
                          PyRange_Check(value);
  if (word != '0' || !has_length) return std::nullopt;
  const Py_ssize_t length = PyObject_Length(value);
  if (length < 0) PyErr_Clear();
  return static_cast<double>(length);
}

double range_length(double begin, double end, double step) {
  return step == 0 ? NAN : std::max(0.0, std::ceil((end - begin) / step));
}

// The step on the numbers at the end of the stack; the first of them becomes the result.
void apply(char word, double* x, std::size_t& depth) {
  const std::size_t count = word == 'r' ? 3 : word == 'i' || word == 'l' ? 1 : 2;
  check(depth >= count, "a guess has numbers for its steps");
  x += depth - count;
  depth -= count - 1;
  switch (word) {
    case '+':
      x[0] += x[1];
      break;
    case '-':
      x[0] -= x[1];
      break;
    case '*':
      x[0] *= x[1];
      break;
    case '/':
      x[0] /= x[1];
      break;
    case 'd':
      x[0] = std::floor(x[0] / x[1]);
      break;
    case '%':
      x[0] -= x[1] * std::floor(x[0] / x[1]);
      break;
    case 'n':
      x[0] = std::min(x[0], x[1]);
      break;
    case 'x':
      x[0] = std::max(x[0], x[1]);
      break;
    case 'p':
      x[0] = std::pow(x[0], x[1]);
      break;
    case 'l':
      x[0] = std::max(x[0], 0.0);
      break;
    case 'i':
      x[0] = std::trunc(x[0]);
      break;
    default:
      x[0] = range_length(x[0], x[1], x[2]);
  }
}

}  // namespace

LoopGuess::LoopGuess(PyObject* steps, PyObject* inputs) {
  for (Py_ssize_t k = 0; k < PyList_Size(steps); ++k) {
    const char* word = nullptr;
    double number = 0;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(steps, k), "sd", &word, &number)) throw PythonError{};
    const bool is_read = word[0] == 'v' || word[0] == 's' || (word[0] >= '0' && word[0] <= '7') ||
                         (word[0] >= 'A' && word[0] <= 'G');
    check(!is_read || (number >= 0 && number < static_cast<double>(PyList_Size(inputs))),
          "a guess reads its inputs");
    const Kind other = word[0] == 'c' ? Kind::Constant : Kind::Operation;
    if (is_read) number = static_cast<double>(number_of(word[0], static_cast<std::size_t>(number)));
    steps_.push_back({is_read ? Kind::Read : other, word[0], number});
  }
  for (Py_ssize_t k = 0; k < PyList_Size(inputs); ++k) {
    PyObject* path = PyList_GET_ITEM(inputs, k);
    Input input;
    PyObject* root = PyTuple_GetItem(path, 0);
    if (!root) throw PythonError{};
    if (PyUnicode_Check(root))
      input.name = Ref::borrow(root);
    else
      input.number = PyLong_AsSize_t(root);
    for (Py_ssize_t depth = 1; depth < PyTuple_GET_SIZE(path); ++depth)
      input.attributes.push_back(Ref::borrow(PyTuple_GET_ITEM(path, depth)));
    inputs_.push_back(std::move(input));
  }
  if (PyErr_Occurred()) throw PythonError{};
  for (Read& read : reads_) {
    const Input& input = inputs_[read.input];
    if (!input.name && input.attributes.empty()) read.passed = input.number;
  }
  if (reads_.size() > most) steps_.clear();
}

std::size_t LoopGuess::number_of(char word, std::size_t input) {
  const auto is_same = [&](const Read& read) { return read.word == word && read.input == input; };
  const auto found = std::ranges::find_if(reads_, is_same);
  const auto number = static_cast<std::size_t>(found - reads_.begin());
  if (found == reads_.end()) reads_.push_back({.word = word, .input = input});
  return number;
}

Ref LoopGuess::find(const Input& input, PyObject* const* passed, std::size_t count,
                    PyObject* space) {
  Ref value;
  if (input.name)
    value = Ref::borrow(PyDict_GetItemWithError(space, input.name.get()));
  else if (input.number < count)
    value = Ref::borrow(passed[input.number]);
  if (PyErr_Occurred()) PyErr_Clear();
  for (const Ref& attribute : input.attributes)
    if (value) value = plain_attribute(value.get(), attribute.get());
  return value;
}

std::optional<double> LoopGuess::find_number(const Read& read, PyObject* const* passed,
                                             std::size_t count, PyObject* space) const {
  const auto of = [&](PyObject* value) {
    return read.word == 'v' ? integer_of(value) : extent_of(value, read.word);
  };
  if (read.passed < count) return of(passed[read.passed]);
  const Ref value = find(inputs_[read.input], passed, count, space);
  if (!value) return std::nullopt;
  return of(value.get());
}

// What most calls read, and most are short: an extent of an array that they are given.
inline std::optional<double> LoopGuess::extent_passed(const Read& read, PyObject* const* passed,
                                                      std::size_t count) {
  const int axis = read.word - '0';
  if (read.passed >= count || axis < 0 || axis > 7) return std::nullopt;
  if (!PyArray_CheckExact(passed[read.passed])) return std::nullopt;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(passed[read.passed]);
  if (axis >= PyArray_NDIM(array)) return std::nullopt;
  return static_cast<double>(PyArray_DIM(array, axis));
}

std::optional<double> LoopGuess::value(PyObject* const* passed, std::size_t count,
                                       PyObject* space) {
  bool is_known = known_value_.has_value();
  for (std::size_t k = 0; k < reads_.size(); ++k) {
    const Read& read = reads_[k];
    double& known = known_[k];
    std::optional<double> found = extent_passed(read, passed, count);
    if (!found) found = find_number(read, passed, count, space);
    if (!found) {
      known_value_.reset();
      return std::nullopt;
    }
    is_known = is_known && known == *found;
    known = *found;
  }
  if (!is_known) known_value_ = compute(known_);
  return known_value_;
}

std::optional<double> LoopGuess::compute(const Numbers& numbers) const {
  Numbers stack;
  std::size_t depth = 0;
  for (const Step& step : steps_) {
    if (step.kind == Kind::Operation) {
      apply(step.word, stack.data(), depth);
      continue;
    }
    if (depth == most) return std::nullopt;
    const bool is_read = step.kind == Kind::Read;
    stack[depth++] = is_read ? numbers[static_cast<std::size_t>(step.number)] : step.number;
  }
  if (depth != 1 || !std::isfinite(stack[0])) return std::nullopt;
  return stack[0];
}

Ref plain_attribute(PyObject* object, PyObject* name) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyMethod_Check(object)) {
    if (PyUnicode_CompareWithASCIIString(name, "__self__") == 0)
      return Ref::borrow(PyMethod_GET_SELF(object));
    if (PyUnicode_CompareWithASCIIString(name, "__func__") == 0)
      return Ref::borrow(PyMethod_GET_FUNCTION(object));
    return {};
  }
  if (type->tp_getattro != PyObject_GenericGetAttr) return {};
  PyObject* of_type = _PyType_Lookup(type, name);
  Ref found;
  const bool is_our_own =
      of_type && Py_IS_TYPE(of_type, &PyGetSetDescr_Type) && PyDescr_TYPE(of_type) == view_type;
  if (!of_type || !Py_TYPE(of_type)->tp_descr_get || Py_IS_TYPE(of_type, &PyMemberDescr_Type) ||
      is_our_own) {
    found = Ref::steal(PyObject_GenericGetAttr(object, name));
  } else if (PyFunction_Check(of_type)) {
    // To ask for its dict would make an object slower from then on.
    found = Ref::steal(PyObject_GenericGetAttr(object, name));
    if (found && PyMethod_Check(found.get()) && PyMethod_GET_FUNCTION(found.get()) == of_type &&
        PyMethod_GET_SELF(found.get()) == object)
      found = {};
  } else if (!Py_TYPE(of_type)->tp_descr_set) {
    const Ref own = Ref::steal(PyObject_GenericGetDict(object, nullptr));
    if (own) found = Ref::borrow(PyDict_GetItemWithError(own.get(), name));
  }
  if (PyErr_Occurred()) PyErr_Clear();
  return found;
}

}  // namespace frit::python
