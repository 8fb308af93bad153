// operands.h: from Python objects to what the engine's functions take.
#pragma once

#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/objects.h"

namespace frit::python {

// One operand of an op. Holds what had to be made for it.
// An array that a call holds while it runs. Memory of others is let go with it.
class Temporary {
 public:
  Temporary() = default;
  Temporary(Array array) : array_(std::move(array)) {}
  Temporary(Temporary&&) = default;
  Temporary& operator=(Temporary&& other) noexcept {
    std::swap(array_, other.array_);
    return *this;
  }
  ~Temporary() {
    if (!array_ || !array_.base()->foreign) return;
    release_foreign(std::move(array_));
    drain_released();
  }
  operator const Array&() const { return array_; }
  const Array& operator*() const { return array_; }

 private:
  Array array_;
};

struct Operand {
  Argument argument{Scalar{}};
  Temporary held;  // an ndarray that was wrapped, a list that was converted
};

// Reads an array, a lazy or NumPy scalar, a Python number, an exact ndarray, a list or tuple. False
// (no error) for anything else: it may have a say of its own in the operation.
bool read_operand(PyObject* object, Operand& operand);
// The op of an array of ours and an ndarray like it, or the other way round, computed at once from
// the ndarray's own memory. No array where they are none such.
Array apply_beside_ndarray(Op op, PyObject* left, PyObject* right);
// As an array; throws Unfit where that can't be done natively.
Array array_operand(PyObject* object);
// An integer index array or mask, a list of them included; throws Unfit.
Array index_operand(PyObject* object);

// A Python int of one machine word.
inline std::optional<std::int64_t> word_of(PyObject* object) {
  if (!PyLong_CheckExact(object)) return std::nullopt;
#if PY_VERSION_HEX < 0x030C0000
  if (Py_SIZE(object) == 1) return reinterpret_cast<PyLongObject*>(object)->ob_digit[0];
#endif
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) return std::nullopt;
  return value;
}

// A Python float or int, or an np.float64, whose value is that of a double.
inline std::optional<double> double_of(PyObject* object) {
  if (double number; read_double(object, number)) return number;
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  const std::optional<std::int64_t> word = word_of(object);
  if (!word || *word > exact || *word < -exact) return std::nullopt;
  return static_cast<double>(*word);
}

// Exact Python or NumPy scalar: a ufunc on these alone is NumPy's business.
bool is_plain_scalar(PyObject* object);

// Python integers; throw Unfit where the object is none.
std::int64_t integer_operand(PyObject* object);
// An integer or a sequence of them, such as shapes.
Shape shape_operand(PyObject* object);
// axis=: None (absent): all; an integer or a tuple. Normalised; throws Unfit for what NumPy would
// refuse.
struct Axes {
  bool all = true;
  std::vector<int> axes;
  std::span<const int> span() const { return axes; }
};
Axes axes_operand(PyObject* object, int ndim);
int axis_operand(PyObject* object, int ndim);
bool flag_operand(PyObject* object, bool absent);
char order_operand(PyObject* object, char absent);

// The array behind out= or behind any other thing that is written to; throws Unfit where it is not
// ours or must not be written.
Array target_operand(PyObject* object);
void check_writable(ArrayObject& object);
// Where a floating-point error is raised, NumPy drops what it would have written to memory that an
// input shares at other elements. Throws Unfit there.
void check_errors_in_place(const Array& input, const Array& target);

}  // namespace frit::python
