// sorted.cpp: sort() and argsort(), by loops of C++'s own: NumPy's stable order, NaNs last.
#include <algorithm>
#include <complex>
#include <numeric>

#include "front/common.h"
#include "front/sort.h"

namespace frit {
namespace {

template <class T>
bool comes_before(T a, T b) {
  return a < b || (a == a && b != b);
}
// By real parts, then by imaginary ones; first those without NaN, then those with one in the
// imaginary part, last those with one in the real part.
template <class T>
bool comes_before(std::complex<T> a, std::complex<T> b) {
  const bool a_is_real = a.real() == a.real(), b_is_real = b.real() == b.real();
  if (a_is_real != b_is_real) return a_is_real;
  const bool a_is_whole = a.imag() == a.imag(), b_is_whole = b.imag() == b.imag();
  if (a_is_whole != b_is_whole) return a_is_whole;
  if (a_is_real && a.real() != b.real()) return a.real() < b.real();
  return comes_before(a.imag(), b.imag());
}

template <class T>
SortLoops loops_of() {
  return {.values =
              [](void* elements, std::intptr_t n, void*) {
                auto* const first = static_cast<T*>(elements);
                std::stable_sort(first, first + n, [](T a, T b) { return comes_before(a, b); });
                return 0;
              },
          .quick =
              [](void* elements, std::intptr_t n, void*) {
                auto* const first = static_cast<T*>(elements);
                std::sort(first, first + n, [](T a, T b) { return comes_before(a, b); });
                return 0;
              },
          .places =
              [](void* elements, std::intptr_t* places, std::intptr_t n, void*) {
                const auto* const x = static_cast<const T*>(elements);
                std::stable_sort(places, places + n, [x](std::intptr_t a, std::intptr_t b) {
                  return comes_before(x[a], x[b]);
                });
                return 0;
              },
          .words =
              [](void* elements, std::intptr_t n, void*) {
                auto* const first = static_cast<std::uint64_t*>(elements);
                std::sort(first, first + n);
                return 0;
              },
          .is_stable = true};
}

// Halves are sorted as floats.
SortLoops loops_for(DType dtype) {
  switch (dtype) {
#define FRIT_DTYPE(Name, name, code, kind, size, type) \
  case DType::Name:                                    \
    return loops_of<type>();
#include "ops/dtype.def"
#undef FRIT_DTYPE
  }
  return {};
}

// The axis and the last one change places.
Array with_last(const Array& x, int axis) {
  std::vector<int> axes(static_cast<std::size_t>(x.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<std::size_t>(axis)], axes.back());
  return transpose(x, axes);
}

// work(rows that are there, a fresh array of the type for what it finds), along an axis.
template <class Work>
Array along(const Array& x, int axis, DType dtype, Work&& work) {
  check_array(x);
  const int from_first = axis_of(axis, x.ndim());
  const bool is_last = from_first == x.ndim() - 1;
  const Array lines = is_last ? x : with_last(x, from_first);
  const Array rows = lines.c_contiguous() ? lines : copy(lines, 'C');
  const Array result = empty(rows.shape(), dtype);
  if (x.size() > 0) {
    const Locked lock(Engine::lock());
    read(rows);
    std::byte* const to = begin_export(result);
    const bool is_well = work(rows, to);
    end_export(result.base());
    if (!is_well) throw std::bad_alloc();
  }
  return is_last ? result : copy(with_last(result, from_first), 'C');
}

}  // namespace

Array sort(const Array& x, int axis) {
  check_array(x);
  if (x.dtype() == DType::Float16) return astype(sort(astype(x, DType::Float32), axis), x.dtype());
  return along(x, axis, x.dtype(), [](const Array& rows, std::byte* to) {
    return sort_rows(rows, to, loops_for(rows.dtype()));
  });
}

Array argsort(const Array& x, int axis) {
  check_array(x);
  if (x.dtype() == DType::Float16) return argsort(astype(x, DType::Float32), axis);
  return along(x, axis, DType::Int64, [](const Array& rows, std::byte* to) {
    return sort_places(rows, reinterpret_cast<std::int64_t*>(to), loops_for(rows.dtype()));
  });
}

}  // namespace frit
