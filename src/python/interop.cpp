// interop.cpp: exports to and wraps of NumPy's arrays.
#include "python/interop.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <unordered_map>

#include "front/common.h"
#include "python/fallback.h"
#include "python/flat.h"
#include "python/numpy_api.h"
#include "python/sequences.h"
#include "python/ufunc_type.h"

namespace frit::python {
namespace {

// ---- exports: the base object of a real ndarray on our memory -----------------------------------

struct ExportObject {
  PyObject_HEAD Array array;  // empty while the object waits for its next use
  bool writable;
};

PyTypeObject* export_type = nullptr;

ExportObject& export_of(PyObject* object) { return *reinterpret_cast<ExportObject*>(object); }

inline void end(ExportObject& self) {
  if (!self.array) return;
  Base* const base = self.array.base();
  const Layout* const layout = self.array.layout();
  new (&self.array) Array();  // what it held is let go here, under one lock
  const Locked lock(Engine::lock());
  --base->exports;
  layout->release();
  Engine::get().release_handle(base);
}

void dealloc_export(PyObject* object) {
  end(export_of(object));
  export_of(object).array.~Array();
  free_object(object);
}

// NumPy asks the owner of memory whether an array that was made read-only may be written to again.
int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  const ExportObject& self = export_of(object);
  const Base& base = *self.array.base();
  return PyBuffer_FillInfo(view, object, base.data, base.bytes, !self.writable, flags);
}

// Takes over the hold on the base that begin_export gave.
void keep(ExportObject& self, const Array& array) {
  array.layout()->retain();
  new (&self.array) Array(array.base(), array.layout(), array.offset(), array.dtype());
}

[[gnu::noinline]] std::byte* begin_behind_pending(ExportObject& self, const Array& array) {
  std::byte* data = nullptr;
  if (has_pending() || is_pending(array)) {
    WithoutGil released;
    data = begin_export(array);
  } else {
    data = begin_export(array);
  }
  const Locked lock(Engine::lock());
  keep(self, array);
  return data;
}

inline std::byte* begin(ExportObject& self, const Array& array) {
  Engine::get().foresight.note_look();
  if (!is_idle(array)) [[unlikely]]
    return begin_behind_pending(self, array);
  // begin_export, of which nothing but this is left.
  const Locked lock(Engine::lock());
  Base& base = *array.base();
  base.stamp = 0;
  ++base.exports;
  ++base.handles;
  keep(self, array);
  return base.data + array.offset();
}

PyArrayObject* ndarray_of(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }
PyArrayObject_fields& fields_of(PyObject* ndarray) {
  return *reinterpret_cast<PyArrayObject_fields*>(ndarray);
}

// ---- real ndarrays that nobody holds any more, for the next call of NumPy's ---------------------

// By their number of dimensions: the room for shape and strides is theirs.
struct Spare {
  static constexpr std::size_t most = 8;
  std::array<PyObject*, most> ndarrays;
  std::size_t count = 0;
};
constexpr std::size_t spare_ranks = 4;
std::array<Spare, spare_ranks> spares;

Ref new_export() {
  Ref object = checked(export_type->tp_alloc(export_type, 0));
  new (&export_of(object.get()).array) Array();
  return object;
}

[[gnu::noinline]] PyObject* new_ndarray(int ndim, const std::int64_t* shape) {
  // Type and memory are set by the caller: one byte an element is never too many for NumPy, which
  // allocates none where it is given some.
  PyArray_Descr* descriptor = descriptor_of(DType::UInt8);
  Py_INCREF(as_object(descriptor));
  static std::int64_t no_memory;
  Ref real = checked(PyArray_NewFromDescr(&PyArray_Type, descriptor, ndim, shape, nullptr,
                                          &no_memory, 0, nullptr));
  checked_status(PyArray_SetBaseObject(ndarray_of(real.get()), new_export().release()));
  return real.release();
}

std::uintptr_t bits_off_alignment(const PyArrayObject_fields& array, std::uintptr_t bits) {
  return bits & static_cast<std::uintptr_t>(PyDataType_ALIGNMENT(array.descr) - 1);
}

// As NumPy has it: an axis of one element has no say, and no elements are aligned.
[[gnu::noinline]] bool is_aligned(const PyArrayObject_fields& array) {
  auto bits = reinterpret_cast<std::uintptr_t>(array.data);
  for (int k = 0; k < array.nd; ++k) {
    if (array.dimensions[k] == 0) return true;
    if (array.dimensions[k] > 1) bits |= static_cast<std::uintptr_t>(array.strides[k]);
  }
  return bits_off_alignment(array, bits) == 0;
}

// ---- wraps --------------------------------------------------------------------------------------

struct Range {
  std::byte* low = nullptr;
  std::int64_t bytes = 0;
  bool holds(const Range& other) const {
    return other.low >= low && other.low + other.bytes <= low + bytes;
  }
};

Range range_of(PyArrayObject* array) {
  auto* low = static_cast<std::byte*>(PyArray_DATA(array));
  std::byte* high = low + PyArray_ITEMSIZE(array);
  for (int k = 0; k < PyArray_NDIM(array); ++k) {
    const std::int64_t extent = PyArray_DIM(array, k);
    if (extent == 0) return {static_cast<std::byte*>(PyArray_DATA(array)), 0};
    const std::int64_t reach = (extent - 1) * PyArray_STRIDE(array, k);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high - low};
}

// Foreign memory that we have a window on, by the object that owns it.
struct Known {
  Array whole;  // all of it, as bytes
  Range range;
};

std::unordered_map<PyObject*, Known>& known_owners() {
  static auto* owners = new std::unordered_map<PyObject*, Known>;
  return *owners;
}

// Where an ndarray's memory comes from: the end of its chain of bases.
struct Origin {
  PyObject* owner = nullptr;      // keeps the memory alive; what overlapping arrays have in common
  ExportObject* ours = nullptr;   // it is memory of ours
  ArrayObject* buffer = nullptr;  // likewise, through the buffer protocol
};

Origin origin_of(PyObject* ndarray) {
  PyObject* at = ndarray;
  for (int depth = 0; depth < 64; ++depth) {
    PyObject* next = nullptr;
    if (PyArray_Check(at)) {
      next = PyArray_BASE(ndarray_of(at));
    } else if (PyMemoryView_Check(at)) {
      next = PyMemoryView_GET_BASE(at);
    } else if (Py_IS_TYPE(at, export_type)) {
      return {at, reinterpret_cast<ExportObject*>(at), nullptr};
    } else if (is_array(at)) {
      return {at, nullptr, &array_of(at)};
    }
    if (!next) break;
    at = next;
  }
  return {at, nullptr, nullptr};
}

Range range_of_owner(PyObject* owner) {
  if (PyArray_Check(owner)) return range_of(ndarray_of(owner));
  Py_buffer view;
  if (!PyObject_CheckBuffer(owner)) return {};
  if (PyObject_GetBuffer(owner, &view, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    return {};
  }
  const Range range{static_cast<std::byte*>(view.buf), view.len};
  PyBuffer_Release(&view);
  return range;
}

Array wrap_bytes(const Range& range, PyObject* owner, bool writable) {
  const std::int64_t shape[1] = {range.bytes}, strides[1] = {1};
  return wrap({.data = range.low,
               .memory = range.low,
               .bytes = range.bytes,
               .owner = Py_NewRef(owner),
               .release = release_owner,
               .writable = writable},
              shape, strides, DType::UInt8);
}

struct Geometry {
  std::span<const std::int64_t> shape, strides;
};

Geometry geometry_of(PyArrayObject* array) {
  const auto n = static_cast<std::size_t>(PyArray_NDIM(array));
  return {{PyArray_DIMS(array), n}, {PyArray_STRIDES(array), n}};
}

Array window_at(const Array& whole, const Range& range, PyArrayObject* array, DType dtype) {
  const Geometry g = geometry_of(array);
  std::int64_t offset = static_cast<std::byte*>(PyArray_DATA(array)) - range.low;
  if (PyArray_SIZE(array) == 0) offset = std::clamp<std::int64_t>(offset, 0, range.bytes);
  return window(whole, g.shape, g.strides, offset, dtype);
}

// Lets go what nobody else holds, but for one owner's memory. Temporary arrays of other functions
// are such. Of many, only now and then.
void release_unused(PyObject* in_use) {
  constexpr std::size_t few = 16;
  static std::size_t enough = few;
  auto& owners = known_owners();
  if (owners.size() > few && owners.size() < enough) return;
  std::vector<Array> unused;
  for (auto it = owners.begin(); it != owners.end();) {
    const Base* base = it->second.whole.base();
    if (it->first == in_use || base->handles != 1 || base->pending != 0) {
      ++it;
      continue;
    }
    unused.push_back(std::move(it->second.whole));
    it = owners.erase(it);
  }
  enough = 2 * owners.size();
}

Array wrap_foreign(PyObject* ndarray, PyObject* owner, DType dtype) {
  release_unused(owner);
  drain_released();
  PyArrayObject* array = ndarray_of(ndarray);
  const Range needed = range_of(array);
  const bool writable = PyArray_ISWRITEABLE(array);
  auto& owners = known_owners();
  const auto found = owners.find(owner);
  if (found != owners.end() && found->second.range.holds(needed)) {
    if (writable) found->second.whole.base()->writable = true;
    return window_at(found->second.whole, found->second.range, array, dtype);
  }
  const Range owned = range_of_owner(owner);
  if (found == owners.end() && owned.bytes > 0 && owned.holds(needed)) {
    const Array whole = wrap_bytes(owned, owner, writable);
    owners.emplace(owner, Known{whole, owned});
    return window_at(whole, owned, array, dtype);
  }
  return window_at(wrap_bytes(needed, ndarray, writable), needed, array, dtype);
}

bool is_wrappable(PyArrayObject* array, std::optional<DType> dtype) {
  return dtype && PyArray_ISALIGNED(array) && PyArray_NDIM(array) <= max_dimensions;
}

// Nobody but the caller can reach this memory.
bool is_private(PyObject* ndarray, int others) {
  return Py_REFCNT(ndarray) <= 1 + others && PyArray_BASE(ndarray_of(ndarray)) == nullptr &&
         PyArray_CHKFLAGS(ndarray_of(ndarray), NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE);
}

// To copy a few bytes costs less than to keep the object. (Of none there is an address.)
bool has_few_bytes(PyArrayObject* array) {
  constexpr npy_intp few_bytes = 4096;
  npy_intp bytes = PyArray_ITEMSIZE(array);
  for (int k = 0; k < PyArray_NDIM(array); ++k)
    if (__builtin_mul_overflow(bytes, PyArray_DIM(array, k), &bytes)) return false;
  return bytes > 0 && bytes <= few_bytes;
}

Array adopt(PyObject* ndarray, DType dtype) {
  PyArrayObject* array = ndarray_of(ndarray);
  const Geometry g = geometry_of(array);
  const bool is_dense = PyArray_IS_C_CONTIGUOUS(array), is_column = PyArray_IS_F_CONTIGUOUS(array);
  if ((is_dense || is_column) && has_few_bytes(array)) {
    // With its own strides: of one element, an axis may have any.
    Array copied = empty_strided(g.shape, g.strides, dtype);
    std::memcpy(memory_of(copied), PyArray_DATA(array),
                static_cast<std::size_t>(PyArray_NBYTES(array)));
    return copied;
  }
  const Range range = range_of(array);
  return wrap({.data = PyArray_DATA(array),
               .memory = range.low,
               .bytes = range.bytes,
               .owner = Py_NewRef(ndarray),
               .release = release_owner,
               .adopted = true},
              g.shape, g.strides, dtype);
}

// The array that this is a view of, where nobody else can reach either.
PyObject* private_whole(PyObject* ndarray, int others) {
  PyObject* whole = PyArray_BASE(ndarray_of(ndarray));
  const bool is_alone = whole && Py_REFCNT(ndarray) <= 1 + others && PyArray_CheckExact(whole) &&
                        is_private(whole, 0) && PyArray_IS_C_CONTIGUOUS(ndarray_of(whole));
  return is_alone ? whole : nullptr;
}

// Null: the whole is not native.
PyObject* view_of_private(PyArrayObject* array, DType dtype, PyObject* whole) {
  const std::optional<DType> held = dtype_of(PyArray_DESCR(ndarray_of(whole)));
  if (!is_wrappable(ndarray_of(whole), held) || PyArray_SIZE(array) == 0) return nullptr;
  const Ref owner = Ref::steal(new_array(adopt(whole, *held)));
  const Range range{static_cast<std::byte*>(PyArray_DATA(ndarray_of(whole))), 0};
  PyObject* view = new_array(window_at(array_of(owner.get()).array, range, array, dtype));
  set_viewed(array_of(view), array_of(owner.get()));
  array_of(view).read_only = !PyArray_ISWRITEABLE(array);
  return view;
}

}  // namespace

Ref real_array(const Array& array, bool writable) {
  static_assert(sizeof(npy_intp) == sizeof(std::int64_t));
  const Layout& layout = *array.layout();
  const auto ndim = static_cast<std::size_t>(layout.ndim());
  Ref result;
  if (ndim < spare_ranks && spares[ndim].count > 0) [[likely]]
    result = Ref::steal(spares[ndim].ndarrays[--spares[ndim].count]);
  else
    result = Ref::steal(new_ndarray(layout.ndim(), layout.shape().data()));
  PyArrayObject_fields& real = fields_of(result.get());
  real.data = reinterpret_cast<char*>(begin(export_of(real.base), array));
  export_of(real.base).writable = writable;
  settle_warnings();
  const std::int64_t *shape = layout.shape().data(), *strides = layout.strides().data();
  for (std::size_t k = 0; k < ndim; ++k) {
    real.dimensions[k] = shape[k];
    real.strides[k] = strides[k];
  }
  PyArray_Descr* descriptor = descriptor_of(array.dtype());
  if (real.descr != descriptor) {
    Py_INCREF(as_object(descriptor));
    Py_SETREF(real.descr, descriptor);
  }
  const bool is_plainly_aligned =
      layout.c_contiguous() &&
      bits_off_alignment(real, reinterpret_cast<std::uintptr_t>(real.data)) == 0;
  real.flags = (layout.c_contiguous() ? NPY_ARRAY_C_CONTIGUOUS : 0) |
               (layout.f_contiguous() ? NPY_ARRAY_F_CONTIGUOUS : 0) |
               (writable ? NPY_ARRAY_WRITEABLE : 0) |
               (is_plainly_aligned || is_aligned(real) ? NPY_ARRAY_ALIGNED : 0);
  return result;
}

bool is_real_of(PyObject* real, ArrayObject& object) {
  const Array& array = object.array;
  PyArrayObject* const ndarray = ndarray_of(real);
  const Geometry g = geometry_of(ndarray);
  const bool is_writable = !object.read_only && array.base()->writable;
  return is_idle(array) &&
         PyArray_BYTES(ndarray) ==
             reinterpret_cast<const char*>(array.base()->data) + array.offset() &&
         PyArray_DESCR(ndarray) == descriptor_of(array.dtype()) &&
         std::ranges::equal(g.shape, array.shape()) &&
         std::ranges::equal(g.strides, array.strides()) &&
         (PyArray_ISWRITEABLE(ndarray) != 0) == is_writable;
}

void give_back(Ref real) {
  PyArrayObject_fields& fields = fields_of(real.get());
  const auto ndim = static_cast<std::size_t>(fields.nd);
  const bool is_ours_alone = Py_REFCNT(real.get()) == 1 && Py_REFCNT(fields.base) == 1 &&
                             fields.weakreflist == nullptr && fields._buffer_info == nullptr;
  if (!is_ours_alone || ndim >= spare_ranks || spares[ndim].count == Spare::most) return;
  end(export_of(fields.base));
  spares[ndim].ndarrays[spares[ndim].count++] = real.release();
}

std::byte* export_memory(const Array& array, Ref& holder) {
  holder = new_export();
  std::byte* const data = begin(export_of(holder.get()), array);
  settle_warnings();
  return data;
}

Ref real_array(ArrayObject& object) {
  return real_array(object.array, !object.read_only && object.array.base()->writable);
}

std::optional<Array> wrap_ndarray(PyObject* ndarray) {
  PyArrayObject* array = ndarray_of(ndarray);
  const std::optional<DType> dtype = dtype_of(PyArray_DESCR(array));
  if (!is_wrappable(array, dtype)) return std::nullopt;
  const Origin origin = origin_of(ndarray);
  if (origin.ours || origin.buffer) {
    const Array& ours = origin.ours ? origin.ours->array : origin.buffer->array;
    const Range range{ours.base()->data, ours.base()->bytes};
    if (range.holds(range_of(array))) return window_at(ours, range, array, *dtype);
  }
  return wrap_foreign(ndarray, origin.owner, *dtype);
}

PyObject* view_of_ours(PyObject* ndarray, ArrayObject& viewed) {
  PyArrayObject* const array = ndarray_of(ndarray);
  const std::optional<DType> dtype = dtype_of(PyArray_DESCR(array));
  const Base& base = *viewed.array.base();
  const Range range{base.data, base.bytes};
  if (!is_wrappable(array, dtype) || !range.holds(range_of(array))) return nullptr;
  PyObject* const view = new_array(window_at(viewed.array, range, array, *dtype));
  set_viewed(array_of(view), viewed);
  array_of(view).read_only = !PyArray_ISWRITEABLE(array);
  return view;
}

PyObject* object_of_fresh(PyObject* ndarray, int others) {
  PyArrayObject* const array = ndarray_of(ndarray);
  constexpr int needed =
      NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE;
  // Of axes with one element strides may be any.
  const bool has_plain_strides = PyArray_NDIM(array) == 1 || !PyArray_IS_F_CONTIGUOUS(array);
  if (Py_REFCNT(ndarray) > 1 + others || PyArray_BASE(array) ||
      (PyArray_FLAGS(array) & needed) != needed || !has_plain_strides || !has_few_bytes(array))
    return nullptr;
  const std::optional<DType> dtype = dtype_of(PyArray_DESCR(array));
  if (!dtype) return nullptr;
  return new_array(copy_of(PyArray_DATA(array), geometry_of(array).shape, *dtype));
}

PyObject* object_of_ndarray(Ref ndarray, int others) {
  if (!PyArray_CheckExact(ndarray.get())) return ndarray.release();
  if (PyObject* object = object_of_fresh(ndarray.get(), others)) return object;
  PyArrayObject* array = ndarray_of(ndarray.get());
  const std::optional<DType> dtype = dtype_of(PyArray_DESCR(array));
  if (!is_wrappable(array, dtype)) return ndarray.release();
  if (is_private(ndarray.get(), others)) return new_array(adopt(ndarray.get(), *dtype));
  if (PyObject* whole = private_whole(ndarray.get(), others))
    if (PyObject* view = view_of_private(array, *dtype, whole)) return view;
  const std::optional<Array> wrapped = wrap_ndarray(ndarray.get());
  PyObject* object = new_array(*wrapped);
  ArrayObject& made = array_of(object);
  made.read_only = !PyArray_ISWRITEABLE(array);
  // What NumPy shows as .base: not the means by which we hold our own memory, which would keep it
  // exported.
  PyObject* base = PyArray_BASE(array);
  if (!base || Py_IS_TYPE(base, export_type)) return object;
  const Origin origin = PyArray_Check(base) ? origin_of(base) : Origin{};
  made.owner =
      origin.ours ? new_array(origin.ours->array) : Py_NewRef(origin.buffer ? origin.owner : base);
  return object;
}

namespace {

bool holds_arrays(PyObject* object) {
  return PyArray_CheckExact(object) || PyTuple_Check(object) || PyList_CheckExact(object) ||
         PyDict_CheckExact(object);
}

PyObject* object_of_tuple(Ref tuple) {
  bool any = false;
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple.get());
  for (Py_ssize_t k = 0; k < n; ++k) any |= holds_arrays(PyTuple_GET_ITEM(tuple.get(), k));
  if (!any) return tuple.release();
  if (Py_REFCNT(tuple.get()) == 1) {  // nobody else sees its items change, and each is only its own
    for (Py_ssize_t k = 0; k < n; ++k) {
      Ref item = Ref::steal(PyTuple_GET_ITEM(tuple.get(), k));
      PyTuple_SET_ITEM(tuple.get(), k, Py_NewRef(Py_None));
      PyObject* ours = object_of_result(std::move(item));
      Py_DECREF(PyTuple_GET_ITEM(tuple.get(), k));
      PyTuple_SET_ITEM(tuple.get(), k, ours);
    }
    return tuple.release();
  }
  Ref items = checked(PyTuple_New(n));
  for (Py_ssize_t k = 0; k < n; ++k)
    PyTuple_SET_ITEM(items.get(), k,
                     object_of_result(Ref::borrow(PyTuple_GET_ITEM(tuple.get(), k))));
  if (PyTuple_CheckExact(tuple.get())) return items.release();
  return checked(PyObject_CallObject(as_object(Py_TYPE(tuple.get())), items.get())).release();
}

}  // namespace

PyObject* object_of_result(Ref result, int others) {
  PyObject* object = result.get();
  if (PyArray_CheckExact(object)) return object_of_ndarray(std::move(result), others);
  if (PyTuple_Check(object)) return object_of_tuple(std::move(result));
  if (PyList_CheckExact(object)) {
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(object); ++k) {
      if (!holds_arrays(PyList_GET_ITEM(object, k))) continue;
      Ref item = Ref::steal(PyList_GET_ITEM(object, k));
      PyList_SET_ITEM(object, k, Py_NewRef(Py_None));
      PyObject* ours = object_of_result(std::move(item));
      Py_SETREF(reinterpret_cast<PyListObject*>(object)->ob_item[k], ours);
    }
  } else if (PyDict_CheckExact(object)) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &value)) {
      if (!holds_arrays(value)) continue;
      const Ref ours = Ref::steal(object_of_result(Ref::borrow(value)));
      checked_status(
          PyDict_SetItem(object, key, ours.get()));  // of a present key: does not move entries
    }
  }
  return result.release();
}

PyObject* converted(PyObject* object) {
  if (const std::optional<Array> array = array_of_numbers(object)) return new_array(*array);
  return converted_by_numpy(object);
}

PyObject* converted_by_numpy(PyObject* object) {
  Ref made = Ref::steal(PyArray_FromAny(object, nullptr, 0, 0,
                                        NPY_ARRAY_CARRAY_RO & ~NPY_ARRAY_C_CONTIGUOUS, nullptr));
  if (made) return object_of_ndarray(std::move(made));
  if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw PythonError{};
  // Once more, in the way that knows of objects whose __array__ gives an array of ours.
  PyErr_Clear();
  return call_numpy_on(numpy_function("asarray"), object);
}

void release_foreign(Array array) {
  Base* base = array.base();
  auto& owners = known_owners();
  const auto found = owners.find(static_cast<PyObject*>(base->extra->owner));
  if (found == owners.end() || found->second.whole.base() != base) return;
  array = Array();
  if (base->handles != 1 || base->pending != 0) return;
  found->second.whole = Array();
  owners.erase(found);
}

Ref real_object(PyObject* object) {
  if (is_array(object)) return real_array(array_of(object));
  if (is_scalar(object)) return Ref::borrow(scalar_value(scalar_of(object)));
  if (Py_IS_TYPE(object, ufunc_type)) return Ref::borrow(ufunc_of(object).real);
  if (Py_IS_TYPE(object, flat_type)) return Ref::borrow(real_flat(object));
  if (object == as_object(array_type)) return Ref::borrow(numpy.ndarray);
  if (object == as_object(ufunc_type)) return Ref::borrow(numpy.ufunc);
  return Ref::borrow(object);
}

void make_export_type() {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_export)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_tp_doc, const_cast<char*>("Memory of a Frit array that a real ndarray stands on.")},
      {0, nullptr}};
  PyType_Spec spec = {"frit._core.Export", sizeof(ExportObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  export_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

}  // namespace frit::python
