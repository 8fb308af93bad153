// numpy_api.cpp: NumPy's C interface, its dtypes and scalars.
#define FRIT_IMPORTS_NUMPY
#include "python/numpy_api.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include <numpy/ufuncobject.h>

#include "ir/hash.h"
#include "ops/math_library.h"
#include "python/objects.h"

namespace frit::python {

NumPy numpy;

namespace {

PyArray_Descr* descriptors[dtype_count];
PyTypeObject* scalar_types[dtype_count];

constexpr int type_number_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return NPY_BOOL;
    case DType::Int8:
      return NPY_INT8;
    case DType::Int16:
      return NPY_INT16;
    case DType::Int32:
      return NPY_INT32;
    case DType::Int64:
      return NPY_INT64;
    case DType::UInt8:
      return NPY_UINT8;
    case DType::UInt16:
      return NPY_UINT16;
    case DType::UInt32:
      return NPY_UINT32;
    case DType::UInt64:
      return NPY_UINT64;
    case DType::Float16:
      return NPY_HALF;
    case DType::Float32:
      return NPY_FLOAT32;
    case DType::Float64:
      return NPY_FLOAT64;
    case DType::Complex64:
      return NPY_COMPLEX64;
    case DType::Complex128:
      return NPY_COMPLEX128;
  }
  return NPY_NOTYPE;
}

std::optional<DType> dtype_of_number(int number) {
  switch (number) {
    case NPY_BOOL:
      return DType::Bool;
    case NPY_BYTE:
      return DType::Int8;
    case NPY_UBYTE:
      return DType::UInt8;
    case NPY_SHORT:
      return DType::Int16;
    case NPY_USHORT:
      return DType::UInt16;
    case NPY_INT:
      return DType::Int32;
    case NPY_UINT:
      return DType::UInt32;
    case NPY_LONG:
    case NPY_LONGLONG:
      return DType::Int64;
    case NPY_ULONG:
    case NPY_ULONGLONG:
      return DType::UInt64;
    case NPY_HALF:
      return DType::Float16;
    case NPY_FLOAT:
      return DType::Float32;
    case NPY_DOUBLE:
      return DType::Float64;
    case NPY_CFLOAT:
      return DType::Complex64;
    case NPY_CDOUBLE:
      return DType::Complex128;
    default:
      return std::nullopt;
  }
}

PyObject* attribute(PyObject* object, const char* name) {
  return checked(PyObject_GetAttrString(object, name)).release();
}

}  // namespace

namespace {

// The loops of NumPy's functions of real numbers (ops/math_library.h).
void take_loops() {
  for (int k = 0; k < op_count; ++k) {
    const auto op = static_cast<Op>(k);
    const bool is_of_reals = info(op).rule == TypeRule::FloatOnly || op == Op::Power;
    if (!has(op, NumPyUfunc) || !is_of_reals) continue;
    const Ref found = checked(PyObject_GetAttrString(numpy.module, info(op).numpy_name.data()));
    if (!PyObject_TypeCheck(found.get(), reinterpret_cast<PyTypeObject*>(numpy.ufunc))) continue;
    const auto& ufunc = *reinterpret_cast<PyUFuncObject*>(found.get());
    for (int j = ufunc.ntypes; j-- > 0;) {  // of several for a type NumPy takes the first
      const std::string_view types(ufunc.types + j * ufunc.nargs,
                                   static_cast<std::size_t>(ufunc.nargs));
      for (const auto& [type, dtype] :
           {std::pair{NPY_FLOAT, DType::Float32}, std::pair{NPY_DOUBLE, DType::Float64}})
        if (std::ranges::all_of(types, [&](char t) { return t == static_cast<char>(type); }))
          set_numpy_loop(op, dtype, ufunc.functions[j], ufunc.data ? ufunc.data[j] : nullptr);
    }
  }
}

}  // namespace

void import_numpy() {
  if (PyArray_ImportNumPyAPI() < 0) throw PythonError{};
  numpy.module = checked(PyImport_ImportModule("numpy")).release();
  numpy.ndarray = attribute(numpy.module, "ndarray");
  numpy.ufunc = attribute(numpy.module, "ufunc");
  numpy.no_value = attribute(numpy.module, "_NoValue");
  numpy.operators = checked(PyImport_ImportModule("operator")).release();
  numpy.array_ufunc = checked(PyUnicode_InternFromString("__array_ufunc__")).release();
  numpy.array_priority = checked(PyUnicode_InternFromString("__array_priority__")).release();
  numpy.array_function = checked(PyUnicode_InternFromString("__array_function__")).release();
  for (int k = 0; k < dtype_count; ++k) {
    descriptors[k] = PyArray_DescrFromType(type_number_of(static_cast<DType>(k)));
    scalar_types[k] = descriptors[k]->typeobj;
  }
  take_loops();
}

PyObject* kept_attribute(PyObject* owner, const char* name) {
  struct Kept {
    PyObject* owner = nullptr;
    const char* name = nullptr;
    PyObject* attribute = nullptr;
  };
  static std::array<Kept, 256> kept;
  const std::uint64_t hash =
      mixed(reinterpret_cast<std::uintptr_t>(owner), reinterpret_cast<std::uintptr_t>(name));
  Kept& place = kept[hash >> 56];
  // What was here before keeps its reference: somebody may be calling it.
  if (place.owner != owner || place.name != name) place = {owner, name, attribute(owner, name)};
  return place.attribute;
}

PyObject* numpy_function(const char* name) { return kept_attribute(numpy.module, name); }
PyObject* operator_function(const char* name) { return kept_attribute(numpy.operators, name); }
PyObject* ndarray_method(const char* name) { return kept_attribute(numpy.ndarray, name); }

const char* text_of(PyObject* type, const char* attribute) {
  static std::deque<std::string> texts;
  const Ref named = Ref::steal(attribute ? PyObject_GetAttrString(type, attribute) : nullptr);
  PyObject* const object = attribute ? named.get() : type;
  const auto part = [object](const char* which) -> std::string {
    const Ref text = Ref::steal(object ? PyObject_GetAttrString(object, which) : nullptr);
    PyErr_Clear();
    const char* letters =
        text && PyUnicode_Check(text.get()) ? PyUnicode_AsUTF8(text.get()) : nullptr;
    return letters ? letters : "";
  };
  const std::string words = part("__doc__"), signature = part("__text_signature__");
  if (words.empty()) return nullptr;
  const bool is_method = attribute && !signature.empty();
  texts.push_back(is_method ? attribute + signature + "\n--\n\n" + words : words);
  return texts.back().c_str();
}

// ---- dtypes -------------------------------------------------------------------------------------

std::optional<DType> dtype_of(const PyArray_Descr* descriptor) {
  if (!PyArray_ISNBO(descriptor->byteorder)) return std::nullopt;
  return dtype_of_number(descriptor->type_num);
}

PyArray_Descr* descriptor_of(DType dtype) { return descriptors[static_cast<int>(dtype)]; }

std::optional<DType> native_dtype(PyObject* object) {
  if (!object || object == Py_None || object == numpy.no_value || is_array(object))
    return std::nullopt;  // of an array its dtype attribute would be taken
  if (PyArray_DescrCheck(object)) return dtype_of(reinterpret_cast<PyArray_Descr*>(object));
  if (object == as_object(&PyFloat_Type)) return DType::Float64;
  if (object == as_object(&PyLong_Type)) return DType::Int64;
  if (object == as_object(&PyBool_Type)) return DType::Bool;
  for (int k = 0; k < dtype_count; ++k)
    if (object == as_object(scalar_types[k])) return static_cast<DType>(k);
  if (PyType_Check(object) &&
      PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object), &PyArrayDescr_Type)) {
    // A class of dtypes, such as numpy.dtypes.Float64DType: its one instance.
    const Ref instance = Ref::steal(PyObject_CallNoArgs(object));
    if (!instance) PyErr_Clear();
    return instance && PyArray_DescrCheck(instance.get())
               ? dtype_of(reinterpret_cast<PyArray_Descr*>(instance.get()))
               : std::nullopt;
  }
  PyArray_Descr* descriptor = nullptr;
  if (PyArray_DescrConverter2(object, &descriptor) == NPY_FAIL) PyErr_Clear();
  const Ref owned = Ref::steal(as_object(descriptor));
  return descriptor ? dtype_of(descriptor) : std::nullopt;
}

std::optional<DType> requested_dtype(PyObject* object) {
  if (!object || object == Py_None || object == numpy.no_value) return std::nullopt;
  const std::optional<DType> dtype = native_dtype(object);
  if (!dtype) throw Unfit{"dtype is not native"};
  return dtype;
}

// ---- scalars ------------------------------------------------------------------------------------

namespace {

template <class ScalarObject, class Value>
PyObject* allocate_scalar(DType dtype, const std::byte* value) {
  PyTypeObject* type = scalar_types[static_cast<int>(dtype)];
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) throw PythonError{};
  std::memcpy(&reinterpret_cast<ScalarObject*>(object)->obval, value, sizeof(Value));
  return object;
}

}  // namespace

PyObject* make_scalar(const std::byte* value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return Py_NewRef(*value != std::byte{0} ? PyArrayScalar_True : PyArrayScalar_False);
    case DType::Int32:
      return allocate_scalar<PyIntScalarObject, std::int32_t>(dtype, value);
    case DType::Int64:
      return allocate_scalar<PyLongScalarObject, std::int64_t>(dtype, value);
    case DType::Float32:
      return allocate_scalar<PyFloatScalarObject, float>(dtype, value);
    case DType::Float64:
      return allocate_scalar<PyDoubleScalarObject, double>(dtype, value);
    case DType::Complex128:
      return allocate_scalar<PyCDoubleScalarObject, std::complex<double>>(dtype, value);
    case DType::Int8:
    case DType::Int16:
    case DType::UInt8:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
    case DType::Float16:
    case DType::Complex64:
      break;
  }
  return checked(PyArray_Scalar(const_cast<std::byte*>(value), descriptor_of(dtype), nullptr))
      .release();
}

std::optional<Scalar> numpy_scalar_value(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const auto known = [&](DType dtype) { return type == scalar_types[static_cast<int>(dtype)]; };
  if (known(DType::Float64)) return Scalar::of(DType::Float64, PyArrayScalar_VAL(object, Double));
  if (known(DType::Int64)) return Scalar::of(DType::Int64, PyArrayScalar_VAL(object, Long));
  if (known(DType::Float32)) return Scalar::of(DType::Float32, PyArrayScalar_VAL(object, Float));
  if (!PyArray_IsScalar(object, Number) && !PyArray_IsScalar(object, Bool)) return std::nullopt;
  const Ref descriptor = Ref::steal(as_object(PyArray_DescrFromScalar(object)));
  if (!descriptor) throw PythonError{};
  const auto* described = reinterpret_cast<PyArray_Descr*>(descriptor.get());
  if (type != described->typeobj) return std::nullopt;  // a subclass: NumPy knows what it means
  const std::optional<DType> dtype = dtype_of(described);
  if (!dtype) return std::nullopt;
  Scalar value;
  value.dtype = *dtype;
  PyArray_ScalarAsCtype(object, value.bytes);
  return value;
}

namespace {

template <class Integer>
std::optional<Scalar> integer_element(long long value, DType dtype) {
  if constexpr (sizeof(Integer) == 8 && std::is_unsigned_v<Integer>) {
    if (value < 0) return std::nullopt;
  } else if (value < static_cast<long long>(std::numeric_limits<Integer>::min()) ||
             value > static_cast<long long>(std::numeric_limits<Integer>::max())) {
    return std::nullopt;
  }
  return Scalar::of(dtype, static_cast<Integer>(value));
}

std::optional<Scalar> integer_value(long long value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return Scalar::of(dtype, static_cast<std::uint8_t>(value != 0));
    case DType::Int8:
      return integer_element<std::int8_t>(value, dtype);
    case DType::Int16:
      return integer_element<std::int16_t>(value, dtype);
    case DType::Int32:
      return integer_element<std::int32_t>(value, dtype);
    case DType::Int64:
      return integer_element<std::int64_t>(value, dtype);
    case DType::UInt8:
      return integer_element<std::uint8_t>(value, dtype);
    case DType::UInt16:
      return integer_element<std::uint16_t>(value, dtype);
    case DType::UInt32:
      return integer_element<std::uint32_t>(value, dtype);
    case DType::UInt64:
      return integer_element<std::uint64_t>(value, dtype);
    case DType::Float64:
    case DType::Complex128:
      return cast_scalar(Scalar::of(DType::Float64, static_cast<double>(value)), dtype);
    case DType::Float16:
    case DType::Float32:
    case DType::Complex64:
      // Beyond 2^53 NumPy goes through double, beyond the type's range it warns.
      if (value > 65504 || value < -65504) return std::nullopt;
      return cast_scalar(Scalar::of(DType::Float64, static_cast<double>(value)), dtype);
  }
  return std::nullopt;
}

// Only conversions that neither raise, warn nor lose a part.
std::optional<Scalar> float_value(double value, DType dtype) {
  if (dtype == DType::Float64) return Scalar::of(dtype, value);
  if (is_bool(dtype)) return Scalar::of(dtype, static_cast<std::uint8_t>(value != 0));
  if (is_integer(dtype)) {
    if (!(value > -9.2e18 && value < 9.2e18)) return std::nullopt;
    return integer_value(static_cast<long long>(value), dtype);
  }
  if (std::isfinite(value) && dtype != DType::Complex128) {
    const double largest = dtype == DType::Float16 ? 65504.0 : 3.4028234e38;
    // Below it may warn of underflow.
    const double smallest = dtype == DType::Float16 ? 6.2e-5 : 1.2e-38;
    if (std::fabs(value) > largest || (value != 0 && std::fabs(value) < smallest))
      return std::nullopt;
  }
  if (dtype == DType::Float32) return Scalar::of(dtype, static_cast<float>(value));
  return cast_scalar(Scalar::of(DType::Float64, value), dtype);
}

}  // namespace

bool read_double(PyObject* object, double& value) {
  const bool is_double =
      PyFloat_CheckExact(object) ||
      Py_TYPE(object) == scalar_types[static_cast<int>(DType::Float64)];  // derives from float
  if (is_double) value = PyFloat_AS_DOUBLE(object);
  return is_double;
}

bool read_complex(PyObject* object, Py_complex& value) {
  const bool is_read =
      PyComplex_CheckExact(object) ||
      Py_TYPE(object) == scalar_types[static_cast<int>(DType::Complex128)];  // derives from complex
  if (is_read) value = reinterpret_cast<PyComplexObject*>(object)->cval;
  return is_read;
}

std::optional<Scalar> element_value(PyObject* object, DType dtype) {
  if (PyFloat_CheckExact(object)) return float_value(PyFloat_AS_DOUBLE(object), dtype);
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) return std::nullopt;
    return integer_value(value, dtype);
  }
  if (PyBool_Check(object))
    return cast_scalar(Scalar::of(DType::Bool, static_cast<std::uint8_t>(object == Py_True)),
                       dtype);
  if (PyComplex_CheckExact(object)) {
    if (!is_complex(dtype)) return std::nullopt;
    const Py_complex value = PyComplex_AsCComplex(object);
    const DType part = real_of(dtype);
    if (!float_value(value.real, part) || !float_value(value.imag, part)) return std::nullopt;
    return cast_scalar(Scalar::of(DType::Complex128, std::complex<double>(value.real, value.imag)),
                       dtype);
  }
  const std::optional<Scalar> value = numpy_scalar_value(object);
  if (!value || value->dtype == dtype) return value;
  if (can_cast(value->dtype, dtype, Casting::Safe)) return cast_scalar(*value, dtype);
  if (value->dtype == DType::Float64) return float_value(value->as<double>(), dtype);
  if (value->dtype == DType::Int64 && !is_integer(dtype))
    return integer_value(value->as<std::int64_t>(), dtype);
  if (is_integer(value->dtype) && is_integer(dtype)) {
    const Scalar wide = cast_scalar(*value, DType::Int64);
    const bool beyond = is_unsigned(value->dtype) && wide.as<std::int64_t>() < 0;
    return beyond ? std::nullopt : integer_value(wide.as<std::int64_t>(), dtype);
  }
  return std::nullopt;
}

}  // namespace frit::python
