// join.cpp: arrays one behind another.
#include "front/join.h"

#include "front/common.h"

namespace frit {

void store_parts(const Array& whole, std::span<const Array> parts, std::size_t axis) {
  std::int64_t offset = whole.offset();
  for (const Array& part : parts) {
    if (part.size() > 0)
      assign(window(whole, part.shape(), whole.strides(), offset, whole.dtype()), part);
    offset += part.shape()[axis] * whole.strides()[axis];
  }
}

Array concatenate(std::span<const Array> parts, int axis) {
  if (parts.empty()) throw ValueError("need at least one array to concatenate");
  for (const Array& part : parts) check_array(part);
  const int ndim = parts[0].ndim();
  if (ndim == 0) throw ValueError("zero-dimensional arrays cannot be concatenated");
  const auto along = static_cast<std::size_t>(axis_of(axis, ndim));
  std::vector<std::int64_t> shape(parts[0].shape().begin(), parts[0].shape().end());
  std::vector<DType> types;
  shape[along] = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::span<const std::int64_t> own = parts[k].shape();
    if (own.size() != shape.size())
      throw ValueError(text(
          "all the input array dimensions except for the concatenation axis must match exactly, "
          "but "
          "the array at index 0 has ",
          ndim, " dimension(s) and the array at index ", k, " has ", own.size(), " dimension(s)"));
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != along && own[d] != shape[d])
        throw ValueError(text(
            "all the input array dimensions except for the concatenation axis must match exactly, "
            "but along dimension ",
            d, ", the array at index 0 has size ", shape[d], " and the array at index ", k,
            " has size ", own[d]));
    if (__builtin_add_overflow(shape[along], own[along], &shape[along]))
      throw ValueError("array is too big");
    types.push_back(parts[k].dtype());
  }
  const Array whole = empty(shape, promote(types));
  store_parts(whole, parts, along);
  return whole;
}

Array stack(std::span<const Array> parts, int axis) {
  if (parts.empty()) throw ValueError("need at least one array to stack");
  std::vector<Array> wide;
  for (const Array& part : parts) {
    check_array(part);
    if (!std::ranges::equal(part.shape(), parts[0].shape()))
      throw ValueError("all input arrays must have the same shape");
    const int from_first = axis_of(axis, part.ndim() + 1);
    std::vector<std::int64_t> shape(part.shape().begin(), part.shape().end()),
        strides(part.strides().begin(), part.strides().end());
    shape.insert(shape.begin() + from_first, 1);
    strides.insert(strides.begin() + from_first, 0);
    wide.push_back(window(part, shape, strides, part.offset(), part.dtype()));
  }
  return concatenate(wide, axis);
}

}  // namespace frit
