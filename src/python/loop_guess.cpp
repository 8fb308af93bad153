// loop_guess.cpp: see loop_guess.h.
#include "python/loop_guess.h"

#include <array>
#include <cmath>

#include "python/kernels.h"
#include "python/numpy_api.h"
#include "python/objects.h"

namespace frit::python {
namespace {

constexpr std::size_t deepest = 32;  // stacks; a deeper nest has no guess

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
  is_plain_ = steps_.size() == 4 && steps_[0].kind == Kind::Read && steps_[1].word == 'l' &&
              steps_[2].kind == Kind::Constant && steps_[3].word == '*';
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

std::optional<double> LoopGuess::read(const Step& step, PyObject* const* passed, std::size_t count,
                                      PyObject* space) const {
  const Input& input = inputs_[static_cast<std::size_t>(step.number)];
  const auto number_of = [&](PyObject* value) {
    return step.word == 'v' ? integer_of(value) : extent_of(value, step.word);
  };
  if (!input.name && input.attributes.empty() && input.number < count)
    return number_of(passed[input.number]);
  const Ref value = find(input, passed, count, space);
  if (!value) return std::nullopt;
  return number_of(value.get());
}

std::optional<double> LoopGuess::value(PyObject* const* passed, std::size_t count,
                                       PyObject* space) const {
  if (is_plain_) {
    const std::optional<double> rounds = read(steps_[0], passed, count, space);
    if (!rounds) return std::nullopt;
    return std::max(*rounds, 0.0) * steps_[2].number;
  }
  std::array<double, deepest> stack;
  std::size_t depth = 0;
  for (const Step& step : steps_) {
    if (step.kind == Kind::Operation) {
      apply(step.word, stack.data(), depth);
      continue;
    }
    if (depth == deepest) return std::nullopt;
    double number = step.number;
    if (step.kind == Kind::Read) {
      const std::optional<double> found = read(step, passed, count, space);
      if (!found) return std::nullopt;
      number = *found;
    }
    stack[depth++] = number;
  }
  if (depth != 1 || !std::isfinite(stack[0])) return std::nullopt;
  return stack[0];
}

Ref plain_attribute(PyObject* object, PyObject* name) {
  PyTypeObject* type = Py_TYPE(object);
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
