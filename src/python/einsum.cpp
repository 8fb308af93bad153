// einsum.cpp: numpy.einsum of arrays; its other forms and its errors are NumPy's.
#include "python/functions.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

struct EinsumOptions {
  PyObject* out = nullptr;
  bool optimizes = false;
};

EinsumOptions options_of(const Arguments& arguments) {
  if (!arguments.names) return {};
  const auto [out, optimize] =
      named({arguments.values + arguments.positional, 0, arguments.names}, {"out", "optimize"});
  return {out == Py_None ? nullptr : out, optimize && optimize != Py_False};
}

PyObject* into(const Array& result, PyObject* out, std::span<const Array> operands) {
  const Array target = target_operand(out);
  const auto shares = [&](const Array& operand) { return may_share_memory(operand, target); };
  if (target.dtype() != result.dtype() || !std::ranges::equal(target.shape(), result.shape()) ||
      std::ranges::any_of(operands, shares))
    throw Unfit{"einsum into another kind of array"};
  assign(target, result);
  return Py_NewRef(out);
}

PyObject* einsum_of(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  const Arguments arguments{values, positional, names};
  if (positional < 2 || !PyUnicode_CheckExact(values[0])) return left_to_numpy();
  return shortcut({&address_of<einsum_of>, arguments}, [&] {
    const EinsumOptions options = options_of(arguments);
    if (options.optimizes) return left_to_numpy();  // by its own steps, in an order of its own
    Py_ssize_t length = 0;
    const char* subscripts = PyUnicode_AsUTF8AndSize(values[0], &length);
    if (!subscripts) throw PythonError{};
    std::vector<Operand> held(static_cast<std::size_t>(positional - 1));
    std::vector<Array> operands;
    for (std::size_t k = 0; k < held.size(); ++k) {
      if (!read_operand(values[k + 1], held[k]) || !held[k].argument.array)
        throw Unfit{"an operand that is no array"};
      operands.push_back(*held[k].argument.array);
    }
    const Array result = einsum({subscripts, static_cast<std::size_t>(length)}, operands);
    if (options.out) return into(result, options.out, operands);
    if (!result.same_base(operands[0])) return new_result(result);
    if (!is_array(values[1])) throw Unfit{"a view of an array of NumPy's"};
    return result.ndim() == 0 ? new_scalar_result(copy(result))
                              : new_view(result, array_of(values[1]));
  });
}

}  // namespace

std::vector<PyMethodDef> einsum_shortcuts() { return {plain_row("einsum", einsum_of)}; }

}  // namespace frit::python
