// index_key.h: an index key, read: the window of its basic part, and index arrays on it.
#pragma once

#include "python/objects.h"

namespace frit::python {

// The stride of a slice. A step over less than two elements may be any number, so this wraps.
inline std::int64_t stride_of_slice(std::int64_t stride, std::int64_t step) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                   static_cast<std::uint64_t>(step));
}

struct IndexKey {
  // The window after integers, slices, None and ...; integers beside index arrays count as those.
  Array basic;
  // The index arrays (integers), for axes first_axis.. of `basic`, which are its leading axes.
  std::vector<Array> arrays;
  // Where the result's broadcast axes go: in front of this many of the other axes .. (0: they stay
  // in front).
  int front_axes = 0;
  bool is_scalar = false;  // full integer key: one element
  bool copies = false;     // a 0-d array stands for an integer: NumPy gives no view then
};

// Throws Unfit for what NumPy should judge.
IndexKey read_key(const Array& array, PyObject* key);

// The mask, if the key is one boolean array and nothing else.
std::optional<Array> mask_key(PyObject* key);

}  // namespace frit::python
