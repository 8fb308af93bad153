// einsum.cpp: sums of products along named axes. As products of matrices where that is less work,
// else all of it as one product and one sum, which fuse.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "front/common.h"
#include "ir/neutral.h"

namespace frit {
namespace {

constexpr int letters = 128;  // labels from here on: the axes of an ellipsis, the last one first

// One for each axis. In place: what there is to do with small operands takes no longer than malloc.
template <class T>
class PerAxis {
 public:
  using value_type = T;

  PerAxis() = default;
  PerAxis(const PerAxis& other) : size_(other.size_) { std::ranges::copy(other, items_.begin()); }
  PerAxis& operator=(const PerAxis& other) {
    size_ = other.size_;
    std::ranges::copy(other, items_.begin());
    return *this;
  }

  void push_back(T item) {
    if (size_ == most) throw ValueError(text("einsum: more than ", most, " subscripts"));
    items_[size_++] = item;
  }
  void insert(std::size_t at, T item) {
    push_back(item);
    std::rotate(begin() + at, end() - 1, end());
  }

  T* begin() { return items_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](std::size_t k) const { return items_[k]; }
  T& operator[](std::size_t k) { return items_[k]; }
  bool operator==(const PerAxis& other) const { return std::ranges::equal(*this, other); }

 private:
  static constexpr std::size_t most = 128;  // letters and axes of an ellipsis are fewer
  std::size_t size_ = 0;
  std::array<T, most> items_;  // the first size_ are there
};
using Labels = PerAxis<int>;
using Extents = PerAxis<std::int64_t>;

struct Formula {
  std::vector<Labels> inputs;
  Labels output;
};

// The number of labels where it is none of them.
std::size_t place_in(std::span<const int> labels, int label) {
  return static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
}
bool has(std::span<const int> labels, int label) { return place_in(labels, label) < labels.size(); }

// ---- the text -----------------------------------------------------------------------------------

// `axes`: how many there are; of an output, whose count follows from its text, how many its
// ellipsis stands for.
Labels labels_of(std::string_view part, int axes, bool is_output) {
  Labels labels;
  std::optional<std::size_t> dots;
  for (std::size_t k = 0; k < part.size(); ++k) {
    const char c = part[k];
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else if (!dots && part.substr(k, 3) == "...") {
      dots = labels.size();
      k += 2;
    } else {
      throw ValueError(text("einsum: '", c, "' where a letter or an ellipsis should stand"));
    }
  }
  const int behind_dots = is_output ? axes : axes - static_cast<int>(labels.size());
  if (behind_dots < 0 || (!dots && behind_dots != 0))
    throw ValueError("einsum: subscripts that do not fit the operand's number of axes");
  if (dots)
    for (int k = 0; k < behind_dots; ++k)  // before one another: the last axis comes first
      labels.insert(*dots, letters + k);
  return labels;
}

// The axes of ellipses, and the letters that stand once, in their order.
Labels output_without_arrow(const std::vector<Labels>& inputs, int ellipsis_axes) {
  std::array<int, letters> counts{};
  for (const Labels& labels : inputs)
    for (const int label : labels)
      if (label < letters) ++counts[static_cast<std::size_t>(label)];
  Labels output;
  for (int k = ellipsis_axes; k-- > 0;) output.push_back(letters + k);
  for (int label = 0; label < letters; ++label)
    if (counts[static_cast<std::size_t>(label)] == 1) output.push_back(label);
  return output;
}

Formula formula_of(std::string_view subscripts, std::span<const Array> operands) {
  Formula formula;
  const std::size_t arrow = subscripts.find("->");
  std::string_view rest = subscripts.substr(0, arrow);
  int ellipsis_axes = 0;
  for (const Array& operand : operands) {
    const std::size_t comma = rest.find(',');
    const bool is_last = formula.inputs.size() + 1 == operands.size();
    if ((comma == std::string_view::npos) != is_last)
      throw ValueError(text("einsum: ", operands.size(), " operands, and other subscripts"));
    formula.inputs.push_back(labels_of(rest.substr(0, comma), operand.ndim(), false));
    if (!is_last) rest.remove_prefix(comma + 1);
    int axes = 0;
    for (const int label : formula.inputs.back()) axes += label >= letters;
    ellipsis_axes = std::max(ellipsis_axes, axes);
  }
  if (arrow == std::string_view::npos) {
    formula.output = output_without_arrow(formula.inputs, ellipsis_axes);
    return formula;
  }
  const std::string_view wanted = subscripts.substr(arrow + 2);
  const bool has_dots = wanted.find('.') != std::string_view::npos;
  if (!has_dots && ellipsis_axes > 0)
    throw ValueError("einsum: an ellipsis of the operands that the output lacks");
  formula.output = labels_of(wanted, has_dots ? ellipsis_axes : 0, true);
  for (std::size_t k = 0; k < formula.output.size(); ++k) {
    const int label = formula.output[k];
    if (has(std::span(formula.output).first(k), label))
      throw ValueError("einsum: an output that has a subscript twice");
    if (std::ranges::none_of(formula.inputs, [&](const Labels& l) { return has(l, label); }))
      throw ValueError("einsum: an output subscript that no operand has");
  }
  return formula;
}

// Parsed once. Under the engine's lock; a reference holds until the next call.
const Formula& known_formula(std::string_view subscripts, std::span<const Array> operands) {
  constexpr std::size_t most = 256;
  static std::unordered_map<std::string, Formula> known;
  static std::string key;  // its memory serves again
  key.assign(1, static_cast<char>(operands.size()));
  for (const Array& operand : operands) key += static_cast<char>(operand.ndim());
  key += subscripts;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Formula formula = formula_of(subscripts, operands);
  if (known.size() >= most) known.clear();
  return known.emplace(key, std::move(formula)).first->second;
}

// ---- the operands -------------------------------------------------------------------------------

// An operand whose axes have one label each: where it had two, their diagonal.
struct Factor {
  Array array;
  Labels labels;
  Extents extents, strides;

  Factor(const Array& operand, const Labels& given) : array(operand) {
    for (std::size_t k = 0; k < given.size(); ++k) {
      const std::size_t at = place_in(labels, given[k]);
      if (at == labels.size()) {
        labels.push_back(given[k]);
        extents.push_back(operand.shape()[k]);
        strides.push_back(operand.strides()[k]);
      } else if (extents[at] != operand.shape()[k]) {
        throw ValueError(text("einsum: axes of one subscript with ", extents[at], " and ",
                              operand.shape()[k], " elements"));
      } else {
        strides[at] += operand.strides()[k];
      }
    }
  }

  std::optional<std::size_t> axis_of(int label) const {
    const std::size_t at = place_in(labels, label);
    return at < labels.size() ? std::optional(at) : std::nullopt;
  }
  std::int64_t stride_of(int label) const {
    const auto axis = axis_of(label);
    return axis && extents[*axis] != 1 ? strides[*axis] : 0;
  }
};

// All axes: those of the output, then those that are summed over, by their labels.
struct Axes {
  Labels labels;
  Extents extents;
  std::size_t outputs = 0;

  std::int64_t extent_of(int label) const { return extents[place_in(labels, label)]; }
  bool is_output(int label) const { return has(std::span(labels).first(outputs), label); }
};

Axes axes_of(const Formula& formula, std::span<const Factor> factors) {
  Axes axes{formula.output, {}, formula.output.size()};
  for (const Factor& factor : factors)
    for (const int label : factor.labels)
      if (!has(axes.labels, label)) axes.labels.push_back(label);
  std::sort(axes.labels.begin() + axes.outputs, axes.labels.end());
  if (axes.labels.size() > static_cast<std::size_t>(max_dimensions))
    throw ValueError(text("einsum: ", axes.labels.size(), " different subscripts"));
  for (const int label : axes.labels) {
    std::int64_t extent = 1;
    for (const Factor& factor : factors)
      if (const auto axis = factor.axis_of(label); axis && factor.extents[*axis] != 1) {
        if (extent != 1 && extent != factor.extents[*axis])
          throw ValueError(text("einsum: operands have ", extent, " and ", factor.extents[*axis],
                                " elements along one subscript"));
        extent = factor.extents[*axis];
      }
    axes.extents.push_back(extent);
  }
  return axes;
}

Array window_along(const Factor& factor, const Labels& labels, const Axes& axes) {
  Extents shape, strides;
  for (const int label : labels) {
    shape.push_back(axes.extent_of(label));
    strides.push_back(factor.stride_of(label));
  }
  return window(factor.array, shape, strides, factor.array.offset(), factor.array.dtype());
}

// `array` has its axes by `from`: the window that has them by `to`.
Array transposed(const Array& array, const Labels& from, const Labels& to) {
  std::vector<int> order;
  for (const int label : to) order.push_back(static_cast<int>(place_in(from, label)));
  return transpose(array, order);
}

// The axes in the order in which NumPy visits them.
Labels visited(const Axes& axes, std::span<const Factor> factors) {
  std::vector<Extents> strides;
  for (const Factor& factor : factors) {
    strides.emplace_back();
    for (const int label : axes.labels) strides.back().push_back(factor.stride_of(label));
  }
  const std::vector<std::span<const std::int64_t>> views(strides.begin(), strides.end());
  PerAxis<int> order = axes.labels;  // as many; the axes' numbers come into their places
  iteration_order(views, static_cast<int>(order.size()), order);
  Labels labels;
  for (const int axis : order) labels.push_back(axes.labels[static_cast<std::size_t>(axis)]);
  return labels;
}

// ---- one product and one sum --------------------------------------------------------------------

// Its axes are those of the output by `order`.
Array product_and_sum(std::span<const Factor> factors, const Axes& axes, const Labels& order,
                      DType dtype) {
  // Each step has its number: else the next one would look like a loop's next round.
  std::uint32_t& step = Engine::get().source.inner;
  const Op multiply = is_complex(dtype) ? Op::MultiplyUnfused : Op::Multiply;
  Array product = window_along(factors[0], order, axes);
  for (const Factor& factor : factors.subspan(1)) {
    ++step;
    product = apply(multiply, {product, window_along(factor, order, axes)},
                    {.signature = Signature{{dtype, dtype}, dtype}});
  }
  const auto sum = [&](std::span<const int> along) {
    ++step;
    product = reduce(Op::Add, product, {.axes = along, .all_axes = false, .dtype = dtype});
  };
  std::vector<int> summed;
  summed.reserve(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    if (!axes.is_output(order[k])) summed.push_back(static_cast<int>(k));
  // NumPy's order of additions along several inner axes at once would keep the product apart.
  for (; factors.size() > 1 && summed.size() > 1 && summed.back() + 1 == product.ndim();
       summed.pop_back())
    sum({&summed.back(), 1});
  if (!summed.empty()) sum(summed);
  ++step;
  if (is_inexact(dtype))  // NumPy adds to 0: -0.0 is lost
    product = apply(Op::Add, {product, Argument(scalar_of(dtype, 0))});
  // Of three factors the order in memory is that of the last two.
  return product.c_contiguous() ? product : copy(product, 'C');
}

// The product may be larger than anything that is stored: it is computed with its sum, or not here.
Array product_and_sum_together(std::span<const Factor> factors, const Axes& axes,
                               const Labels& order, DType dtype) {
  const auto run = [&] { return product_and_sum(factors, axes, order, dtype); };
  if (factors.size() == 1 || axes.outputs == axes.labels.size()) return run();
  const Settings& settings = Engine::get().settings;
  if (settings.fusion != Fusion::On || settings.tier == Tier::Eager)
    throw TypeError("no native einsum where nothing is fused");
  return as_one_launch(run);
}

// ---- products of matrices -----------------------------------------------------------------------

// What the axes of two operands are: of both and of the output, of both alone, of one.
struct Roles {
  Labels stacked, inner, left, right;
  bool has_others = false;  // one operand's own, and summed over
};

double elements_along(const Labels& labels, const Axes& axes) {
  double product = 1;
  for (const int label : labels) product *= static_cast<double>(axes.extent_of(label));
  return product;
}

// Is a call of BLAS for each product worth it?
bool are_large(const Roles& roles, const Axes& axes) {
  constexpr double least_elements = 64, least_work = 512;
  const double inner = elements_along(roles.inner, axes), left = elements_along(roles.left, axes),
               right = elements_along(roles.right, axes);
  if (roles.left.empty() || roles.right.empty()) return roles.stacked.empty();
  return inner * std::min(left, right) >= least_elements && inner * left * right >= least_work;
}

Roles roles_of(const Axes& axes, const Factor& left, const Factor& right) {
  Roles roles;
  for (const int label : axes.labels) {
    // Along what an operand is broadcast it has no axis.
    const bool is_one = axes.extent_of(label) == 1;
    const auto reaches = [&](const Factor& factor) {
      const auto axis = factor.axis_of(label);
      return axis && (is_one || factor.extents[*axis] != 1);
    };
    const bool in_left = reaches(left), in_right = reaches(right),
               is_output = axes.is_output(label);
    if (in_left && in_right)
      (is_output ? roles.stacked : roles.inner).push_back(label);
    else if (is_output)
      (in_left ? roles.left : roles.right).push_back(label);
    else
      roles.has_others = true;
  }
  return roles;
}

// A stack of matrices: some axes as its rows, others as its columns. None of either: no such axis.
Array stack_of_matrices(const Factor& factor, const Axes& axes, const Labels& stacked,
                        const Labels& rows, const Labels& columns, bool may_copy) {
  Labels labels = stacked;
  Extents shape;
  for (const int label : stacked) shape.push_back(axes.extent_of(label));
  for (const Labels* group : {&rows, &columns}) {
    if (group->empty()) continue;
    std::int64_t extent = 1;
    for (const int label : *group) {
      labels.push_back(label);
      extent *= axes.extent_of(label);
    }
    shape.push_back(extent);
  }
  const Array whole = window_along(factor, labels, axes);
  if (std::optional<Array> seen = reshape_window(whole, shape)) return *std::move(seen);
  return may_copy ? *reshape_window(copy(whole, 'C'), shape) : Array();
}

// Its axes are by `wanted`, those of the output; no array where the other way is better.
Array matrix_product(const Factor& one, const Factor& two, const Axes& axes, const Labels& wanted,
                     DType dtype) {
  if (!is_inexact(dtype)) return {};
  // The rows of the result are those of the one whose own axis comes first.
  const auto is_own = [&](int label) { return !one.stride_of(label) || !two.stride_of(label); };
  const auto first_own = std::ranges::find_if(wanted, is_own);
  const bool is_swapped = first_own != wanted.end() && two.stride_of(*first_own) != 0;
  const Factor &left = is_swapped ? two : one, &right = is_swapped ? one : two;
  const Roles roles = roles_of(axes, left, right);
  const bool is_matrix_by_vector = roles.left.empty() != roles.right.empty();
  if (roles.has_others || roles.inner.empty() || (roles.left.empty() && roles.right.empty()) ||
      !are_large(roles, axes))
    return {};
  const Array x = stack_of_matrices(left, axes, roles.stacked, roles.left, roles.inner,
                                    !is_matrix_by_vector),
              y = stack_of_matrices(right, axes, roles.stacked, roles.inner, roles.right,
                                    !is_matrix_by_vector);
  if (!x || !y) return {};
  const auto as_product = [&](const Array& a) { return a.dtype() == dtype ? a : astype(a, dtype); };
  const Array product = matmul(as_product(x), as_product(y));
  Labels labels;
  Extents shape;
  for (const Labels* group : {&roles.stacked, &roles.left, &roles.right})
    for (const int label : *group) {
      labels.push_back(label);
      shape.push_back(axes.extent_of(label));
    }
  const Array ordered = transposed(*reshape_window(product, shape), labels, wanted);
  return ordered.c_contiguous() ? ordered : copy(ordered, 'C');
}

}  // namespace

Array einsum(std::string_view subscripts, std::span<const Array> operands) {
  if (operands.empty()) throw ValueError("einsum: no operand");
  if (operands.size() >= static_cast<std::size_t>(max_dimensions))  // NumPy's limit, too
    throw ValueError(text("einsum: ", operands.size(), " operands"));
  std::ranges::for_each(operands, check_array);
  Locked lock(Engine::lock());
  const Formula& formula = known_formula(subscripts, operands);
  std::vector<Factor> factors;
  factors.reserve(operands.size());
  std::vector<DType> dtypes;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    factors.emplace_back(operands[k], formula.inputs[k]);
    dtypes.push_back(operands[k].dtype());
  }
  const DType dtype = promote(dtypes);
  if (dtype == DType::Float16) throw TypeError("no native einsum of this type");
  const Axes axes = axes_of(formula, factors);
  if (factors.size() == 1 && axes.labels.size() == axes.outputs)
    return window_along(factors[0], axes.labels, axes);
  Engine& engine = Engine::get();
  const OtherSources silent(engine);  // NumPy's einsum warns of nothing
  engine.settings.float_checks = 0;
  const Labels order = visited(axes, factors);
  Labels kept;
  std::ranges::copy_if(order, std::back_inserter(kept), [&](int l) { return axes.is_output(l); });
  Array result;
  if (factors.size() == 2) result = matrix_product(factors[0], factors[1], axes, kept, dtype);
  if (!result) result = product_and_sum_together(factors, axes, order, dtype);
  return kept == formula.output ? result : transposed(result, kept, formula.output);
}

}  // namespace frit
