// broadcast.cpp: the shape that operands have together, and the layout of what comes of them.
#include <algorithm>

#include "front/common.h"

namespace frit {

bool broadcasts_to(std::span<const std::int64_t> from, std::span<const std::int64_t> shape) {
  if (from.size() > shape.size()) return false;
  const std::size_t lead = shape.size() - from.size();
  for (std::size_t k = 0; k < from.size(); ++k)
    if (from[k] != shape[lead + k] && from[k] != 1) return false;
  return true;
}

std::vector<std::int64_t> broadcast_shapes(std::span<const std::span<const std::int64_t>> shapes) {
  std::size_t ndim = 0;
  for (const auto& s : shapes) ndim = std::max(ndim, s.size());
  std::vector<std::int64_t> result(ndim, 1);
  for (const auto& s : shapes)
    for (std::size_t k = 0; k < s.size(); ++k) {
      std::int64_t& extent = result[ndim - s.size() + k];
      if (s[k] == 1) continue;
      if (extent != 1 && extent != s[k]) {
        std::string words = "operands could not be broadcast together with shapes";
        for (const auto& shape : shapes) words += " " + shape_words(shape);
        throw ValueError(words + " ");
      }
      extent = s[k];
    }
  return result;
}

LayoutRef result_layout(std::span<const std::int64_t> shape,
                        std::span<const Layout* const> operands, int item_size) {
  const bool plain = std::all_of(operands.begin(), operands.end(), [](const Layout* l) {
    return l->c_contiguous() || l->ndim() <= 1;
  });
  if (plain || shape.size() <= 1) return LayoutRef::adopt(make_contiguous(shape, item_size));
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<std::span<const std::int64_t>> views;
  for (const Layout* operand : operands) {
    std::vector<std::int64_t> s(shape.size(), 0);
    const std::size_t lead = shape.size() - static_cast<std::size_t>(operand->ndim());
    for (std::size_t k = 0; k < static_cast<std::size_t>(operand->ndim()); ++k)
      if (operand->shape()[k] != 1) s[lead + k] = operand->strides()[k];
    strides.push_back(std::move(s));
  }
  for (const auto& s : strides) views.emplace_back(s);
  const int ndim = static_cast<int>(shape.size());
  std::vector<int> order(shape.size());
  iteration_order(views, ndim, order);
  std::vector<std::int64_t> result(shape.size());
  std::int64_t stride = item_size;
  for (std::size_t k = shape.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[k]);
    result[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
  }
  return LayoutRef::adopt(make_layout(shape, result, item_size));
}

}  // namespace frit
