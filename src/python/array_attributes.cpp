// array_attributes.cpp: the attributes of Array.
#include <algorithm>
#include <numeric>

#include "python/array_type.h"
#include "python/fallback.h"
#include "python/flags.h"
#include "python/flat.h"
#include "python/interop.h"
#include "python/numpy_api.h"
#include "python/operands.h"
#include "python/source.h"

namespace frit::python {
namespace {

PyObject* tuple_of(std::span<const std::int64_t> values) {
  const Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t k = 0; k < values.size(); ++k) {
    PyObject* number = PyLong_FromLongLong(values[k]);
    if (!number) throw PythonError{};
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), number);
  }
  return Py_NewRef(tuple.get());
}

PyObject* shape(PyObject* self, void*) {
  return guarded([&] { return tuple_of(array_behind(self).shape()); });
}

// An attribute that NumPy gives or sets on the real array.
PyObject* get_from_real(PyObject* self, const char* name) {
  return PyObject_GetAttrString(real_array(array_of(self)).get(), name);
}
void set_on_real(PyObject* self, const char* name, PyObject* value) {
  const Ref real = real_array(array_of(self));
  const Ref converted = value ? real_deep(value) : Ref{};
  checked_status(PyObject_SetAttrString(real.get(), name, converted.get()));
}

// NumPy's warning of a shape that is set (since 2.5), in its words: by one that stays as it is.
void warn_of_set_shape() {
  static PyObject* const name = checked(PyUnicode_InternFromString("shape")).release();
  static PyObject* const real = [] {
    const npy_intp none = 0;
    return checked(PyArray_ZEROS(1, &none, NPY_DOUBLE, 0)).release();
  }();
  const Ref shape = checked(PyObject_GetAttr(real, name));
  checked_status(PyObject_SetAttr(real, name, shape.get()));
}

int set_shape(PyObject* self, PyObject* value, void*) {
  note_source();
  return guarded_status([&] {
    if (!value) raise(PyExc_AttributeError, "Cannot delete array shape");
    try {
      Reshaped result = reshaped(array_behind(self), shape_operand(value), 'C');
      if (!result.is_view) throw Unfit{"the shape needs a copy"};
      warn_of_set_shape();
      array_of(self).array = std::move(result.array);
    } catch (const Unfit&) {
      set_on_real(self, "shape", value);  // raises, in NumPy's words
    }
  });
}

PyObject* strides(PyObject* self, void*) {
  return guarded([&] { return tuple_of(array_behind(self).strides()); });
}
// The strides that the real array refused (its error is set): it knows of this window only, and
// there may be more memory behind it.
void set_within_base(PyObject* self, PyObject* strides) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  try {
    const Array& old = array_behind(self);
    const Shape wanted = shape_operand(strides);
    if (wanted.size() != old.shape().size()) throw Unfit{"strides must be same length as shape"};
    for (std::int64_t stride : wanted)
      if (stride % size_of(old.dtype()) != 0) throw Unfit{"unaligned"};
    array_of(self).array = window(old, old.shape(), wanted, old.offset(), old.dtype());
  } catch (...) {
    PyErr_Restore(type, error, traceback);
    throw PythonError{};
  }
  const Ref dropped[] = {Ref::steal(type), Ref::steal(error), Ref::steal(traceback)};
}

int set_strides(PyObject* self, PyObject* value, void*) {
  return guarded_status([&] {
    const Ref real = real_array(array_of(self));
    if (PyObject_SetAttrString(real.get(), "strides", value) < 0) {
      if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw PythonError{};
      return set_within_base(self, value);
    }
    std::optional<Array> wrapped = wrap_ndarray(real.get());
    if (!wrapped)
      raise(PyExc_ValueError, "frit: an array cannot become unaligned in place; use as_strided()");
    array_of(self).array = std::move(*wrapped);
  });
}

PyObject* dtype(PyObject* self, void*) {
  return Py_NewRef(as_object(descriptor_of(array_behind(self).dtype())));
}
int set_dtype(PyObject* self, PyObject* value, void*) {
  return guarded_status([&] {
    const Ref real = real_array(array_of(self));
    checked_status(PyObject_SetAttrString(real.get(), "dtype", value));
    std::optional<Array> wrapped = wrap_ndarray(real.get());
    if (!wrapped)
      raise(PyExc_TypeError, "frit: an array cannot become one of dtype %R in place; use .view()",
            value);
    array_of(self).array = std::move(*wrapped);
  });
}

PyObject* ndim(PyObject* self, void*) {
  return PyLong_FromLong(array_behind(self).layout()->ndim());
}
PyObject* size(PyObject* self, void*) {
  return PyLong_FromLongLong(array_behind(self).layout()->size());
}
PyObject* item_size(PyObject* self, void*) {
  return PyLong_FromLong(size_of(array_behind(self).dtype()));
}
PyObject* byte_count(PyObject* self, void*) {
  return PyLong_FromLongLong(array_behind(self).size() * size_of(array_behind(self).dtype()));
}

PyObject* transposed(PyObject* self, void*) {
  return guarded([&] { return new_view(reversed_axes(array_behind(self)), array_of(self)); });
}

PyObject* matrix_transposed(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const int n = array_behind(self).ndim();
    if (n < 2) return get_from_real(self, "mT");  // raises
    std::vector<int> axes(static_cast<std::size_t>(n));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[static_cast<std::size_t>(n - 1)], axes[static_cast<std::size_t>(n - 2)]);
    return new_view(transpose(array_behind(self), axes), array_of(self));
  });
}

Array part_of_complex(const Array& array, bool imaginary) {
  const DType part = real_of(array.dtype());
  return window(array, array.shape(), array.strides(),
                array.offset() + (imaginary ? size_of(part) : 0), part);
}

PyObject* real_part(PyObject* self, void*) {
  return guarded([&] {
    if (!is_complex(array_behind(self).dtype())) return Py_NewRef(self);
    return new_view(part_of_complex(array_behind(self), false), array_of(self));
  });
}
PyObject* imaginary_part(PyObject* self, void*) {
  return guarded([&] {
    const Array& array = array_behind(self);
    if (is_complex(array.dtype())) return new_view(part_of_complex(array, true), array_of(self));
    const Scalar zero{.dtype = array.dtype()};
    PyObject* zeros = new_array(array.f_contiguous() && !array.c_contiguous()
                                    ? reversed_axes(full(reversed_axes(array).shape(), zero))
                                    : full(array.shape(), zero));
    array_of(zeros).read_only = true;
    return zeros;
  });
}

int set_part(PyObject* self, PyObject* value, const char* name, bool imaginary) {
  note_source();
  return guarded_status([&] {
    try {
      check_writable(array_of(self));
      const Array& array = array_behind(self);
      if (!value || (imaginary && !is_complex(array.dtype()))) throw Unfit{"not settable"};
      const Array target = is_complex(array.dtype()) ? part_of_complex(array, imaginary) : array;
      Operand operand;
      if (!read_operand(value, operand) || operand.argument.weak != Weak::No)
        throw Unfit{"a value needs NumPy's conversion"};
      assign(target, operand.argument);
      settle_warnings();
    } catch (const Unfit&) {
      set_on_real(self, name, value);
    } catch (const std::invalid_argument&) {
      set_on_real(self, name, value);
    }
  });
}
int set_real(PyObject* self, PyObject* value, void*) {
  return set_part(self, value, "real", false);
}
int set_imaginary(PyObject* self, PyObject* value, void*) {
  return set_part(self, value, "imag", true);
}

// ---- the outside --------------------------------------------------------------------------------

PyObject* flags(PyObject* self, void*) {
  return guarded([&] { return new_flags(self); });
}
PyObject* base(PyObject* self, void*) {
  PyObject* owner = array_of(self).owner;
  return Py_NewRef(owner ? owner : Py_None);
}
PyObject* flat(PyObject* self, void*) {
  return guarded([&] { return new_flat(self); });
}
int set_flat(PyObject* self, PyObject* value, void*) {
  return guarded_status([&] { set_on_real(self, "flat", value); });
}
PyObject* data(PyObject* self, void*) { return PyMemoryView_FromObject(self); }
PyObject* device(PyObject*, void*) { return PyUnicode_FromString("cpu"); }
PyObject* array_priority(PyObject*, void*) { return PyFloat_FromDouble(0.0); }

// A raw address has no lifetime: whoever asked for one may use it as long as the owner of the
// memory lives.
Ref pinned_real(PyObject* self) {
  PyObject* owner = array_of(self).owner;
  ArrayObject& keeper = array_of(owner && is_array(owner) ? owner : self);
  if (!keeper.pinned) keeper.pinned = real_array(keeper).release();
  if (&keeper == &array_of(self) && is_real_of(keeper.pinned, keeper))
    return Ref::borrow(keeper.pinned);
  return real_array(array_of(self));
}
template <const char* const* name>
PyObject* get_pinned(PyObject* self, void*) {
  static PyObject* const interned = PyUnicode_InternFromString(*name);
  return guarded([&] { return PyObject_GetAttr(pinned_real(self).get(), interned); });
}
constexpr const char* ctypes_name = "ctypes";
constexpr const char* interface_name = "__array_interface__";
constexpr const char* struct_name = "__array_struct__";

// An installed library knows arrays by isinstance(x, numpy.ndarray) of the real NumPy, which asks
// for this. Whoever takes the memory behind it gets a real array, as ever.
PyObject* class_of(PyObject* self, void*) {
  PyTypeObject* type = is_called_by_library() ? &PyArray_Type : Py_TYPE(self);
  return Py_NewRef(as_object(type));
}
int set_class(PyObject* self, PyObject* value, void*) {
  static PyObject* const name = checked(PyUnicode_InternFromString("__class__")).release();
  PyObject* const descriptor = _PyType_Lookup(&PyBaseObject_Type, name);
  return Py_TYPE(descriptor)->tp_descr_set(descriptor, self, value);
}

}  // namespace

Array reversed_axes(const Array& array) {
  int axes[max_dimensions];
  const int n = array.layout()->ndim();
  for (int k = 0; k < n; ++k) axes[k] = n - 1 - k;
  return transpose(array, {axes, static_cast<std::size_t>(n)});
}

std::vector<PyGetSetDef> array_attributes() {
  return {
      {"shape", shape, set_shape, nullptr, nullptr},
      {"strides", strides, set_strides, nullptr, nullptr},
      {"dtype", dtype, set_dtype, nullptr, nullptr},
      {"ndim", ndim, nullptr, nullptr, nullptr},
      {"size", size, nullptr, nullptr, nullptr},
      {"itemsize", item_size, nullptr, nullptr, nullptr},
      {"nbytes", byte_count, nullptr, nullptr, nullptr},
      {"T", transposed, nullptr, nullptr, nullptr},
      {"mT", matrix_transposed, nullptr, nullptr, nullptr},
      {"real", real_part, set_real, nullptr, nullptr},
      {"imag", imaginary_part, set_imaginary, nullptr, nullptr},
      {"flags", flags, nullptr, nullptr, nullptr},
      {"base", base, nullptr, nullptr, nullptr},
      {"flat", flat, set_flat, nullptr, nullptr},
      {"data", data, nullptr, nullptr, nullptr},
      {"ctypes", get_pinned<&ctypes_name>, nullptr, nullptr, nullptr},
      {"__array_interface__", get_pinned<&interface_name>, nullptr, nullptr, nullptr},
      {"__array_struct__", get_pinned<&struct_name>, nullptr, nullptr, nullptr},
      {"__array_priority__", array_priority, nullptr, nullptr, nullptr},
      {"device", device, nullptr, nullptr, nullptr},
      {"__class__", class_of, set_class, nullptr, nullptr},
  };
}

}  // namespace frit::python
