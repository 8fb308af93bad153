// front_fuzz_test.cpp: random programs on overlapping windows, both tiers against a reference.
//
// The reference keeps its own bytes, visits windows element by element and buffers every statement;
// it shares with the engine only the op table. FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED change how
// many programs run and which; a failing program is made as short as it can be and printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <sstream>

#include "engine/memory.h"
#include "front/common.h"
#include "ir/neutral.h"
#include "ir/testing_random.h"

namespace frit {
namespace {

using testing::number_from;
using testing::Random;
using Extents = std::vector<std::int64_t>;

// ---- the reference ------------------------------------------------------------------------------

using Bytes = std::shared_ptr<std::vector<std::byte>>;

struct View {
  Bytes memory;
  std::int64_t offset = 0;
  Extents shape, strides;
  DType dtype{};
  bool writable = true;

  std::int64_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
};

template <class Visit>  // visit(byte offset), in C order
void for_each_element(const View& v, Visit&& visit) {
  if (v.size() == 0) return;
  Extents index(v.shape.size(), 0);
  for (;;) {
    std::int64_t at = v.offset;
    for (std::size_t k = 0; k < index.size(); ++k) at += index[k] * v.strides[k];
    visit(at);
    std::size_t k = index.size();
    while (k > 0 && ++index[k - 1] == v.shape[k - 1]) index[--k] = 0;
    if (k == 0) return;
  }
}

std::vector<Scalar> elements(const View& v) {
  std::vector<Scalar> result;
  for_each_element(v, [&](std::int64_t at) {
    Scalar s;
    s.dtype = v.dtype;
    std::memcpy(s.bytes, v.memory->data() + at, static_cast<std::size_t>(size_of(v.dtype)));
    result.push_back(s);
  });
  return result;
}

void store(const View& v, const std::vector<Scalar>& values) {
  std::size_t k = 0;
  for_each_element(v, [&](std::int64_t at) {
    const Scalar s = cast_scalar(values[k++], v.dtype);
    std::memcpy(v.memory->data() + at, s.bytes, static_cast<std::size_t>(size_of(v.dtype)));
  });
}

View dense(const Extents& shape, DType dtype) {
  View v;
  v.shape = shape;
  v.dtype = dtype;
  v.strides.resize(shape.size());
  std::int64_t stride = size_of(dtype);
  for (std::size_t k = shape.size(); k-- > 0;) {
    v.strides[k] = stride;
    stride *= std::max<std::int64_t>(shape[k], 1);
  }
  v.memory = std::make_shared<std::vector<std::byte>>(
      static_cast<std::size_t>(std::max<std::int64_t>(v.size(), 1) * size_of(dtype)));
  return v;
}

View spread(const View& v, const Extents& shape) {
  View result = v;
  result.shape = shape;
  result.strides.assign(shape.size(), 0);
  const std::size_t lead = shape.size() - v.shape.size();
  for (std::size_t k = 0; k < v.shape.size(); ++k)
    if (v.shape[k] != 1) result.strides[lead + k] = v.strides[k];
  result.writable = false;
  return result;
}

Scalar apply_to(Op op, const Signature& signature, const Scalar* inputs) {
  Scalar converted[3], result;
  result.dtype = signature.out;
  void* args[4] = {result.bytes, converted[0].bytes, converted[1].bytes, converted[2].bytes};
  for (int k = 0; k < info(op).inputs; ++k) converted[k] = cast_scalar(inputs[k], signature.in[k]);
  if (info(op).rule == TypeRule::Compare && signature.in[0] != signature.in[1]) {
    // int64 with uint64: the order of the two as numbers.
    const auto number = [](const Scalar& s) {
      return is_signed(s.dtype) ? __int128{s.as<std::int64_t>()} : __int128{s.as<std::uint64_t>()};
    };
    const __int128 x = number(converted[0]), y = number(converted[1]);
    const std::int64_t order[2] = {x > y, x < y};
    for (int k = 0; k < 2; ++k) converted[k] = Scalar::of(DType::Int64, order[k]);
    loop(op, DType::Int64)(args, 1, 0);
    return result;
  }
  loop(op, signature)(args, 1, 0);
  return result;
}

// ---- programs -----------------------------------------------------------------------------------

struct Difference : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr DType dtypes[] = {DType::Float64, DType::Int64, DType::Float64, DType::Int32,
                            DType::Float32, DType::UInt8, DType::Bool};

// One program: step k draws from its own numbers, so that a step can be left out without changing
// what the others draw.
class Program {
 public:
  Program(std::uint64_t seed, bool large) : seed_(seed), large_(large) {}

  std::string text() const { return log_.str(); }

  void step(std::size_t number) {
    random_.state = seed_ * 1'000'003 + number;
    random_.next();
    if (held_.empty()) return make();
    switch (random_.below(24)) {
      case 0:
      case 1:
        return make();
      case 2:
      case 3:
      case 4:
      case 5:
        return look();
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        return compute(false);
      case 11:
      case 12:
      case 13:
      case 14:
      case 15:
        return compute(true);
      case 16:
      case 17:
        return fold();
      case 18:
        return fill();
      case 19:
        return scan();
      case 20:
      case 21:
        return forget();
      case 22:
        return expose();
      default:
        return check_one();
    }
  }

  void check_all() {
    for (std::size_t k = held_.size(); k-- > 0;) check_value(k);
  }

 private:
  struct Held {
    Array array;
    View view;
    int name;
  };

  void hold(Array array, View view) {
    held_.push_back({std::move(array), std::move(view), names_++});
    if (held_.size() > 14) held_.erase(held_.begin() + random_.below(14));
  }
  // The order of axes in a fresh result's memory is the engine's choice.
  void hold_fresh(const Array& array, View view, const std::vector<Scalar>& values) {
    view.strides.assign(array.strides().begin(), array.strides().end());
    store(view, values);
    hold(array, view);
  }
  Held& pick() {
    return held_[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(held_.size())))];
  }

  Extents random_shape() {
    const std::int64_t ndim = random_.below(4);
    Extents shape;
    const std::int64_t largest = large_              ? (ndim == 1   ? 90'000
                                                        : ndim == 2 ? 400
                                                                    : 40)
                                 : random_.one_in(6) ? 40
                                                     : 6;
    for (std::int64_t k = 0; k < ndim; ++k)
      shape.push_back(random_.one_in(12) ? random_.below(2) : random_.between(1, largest));
    return shape;
  }

  void make() {
    const Extents shape = random_shape();
    const DType dtype = dtypes[random_.below(std::size(dtypes))];
    View v = dense(shape, dtype);
    std::vector<Scalar> values;
    for (std::int64_t k = 0; k < v.size(); ++k)
      values.push_back(cast_scalar(
          Scalar::of(DType::Int64, random_.between(dtype == DType::UInt8 ? 0 : -9, 9)), dtype));
    store(v, values);
    const Array a = empty(shape, dtype);
    std::memcpy(begin_export(a), v.memory->data(),
                static_cast<std::size_t>(v.size() * size_of(dtype)));
    end_export(a.base());
    log_ << "a" << names_ << " = new " << info(dtype).name << shape_words(shape) << "\n";
    hold(a, v);
  }

  // A random slice of one array, with steps of both signs.
  std::pair<Array, View> slice_of(const Held& from, const std::vector<std::int64_t>& counts) {
    std::vector<AxisSlice> axes;
    View v = from.view;
    v.shape.clear();
    v.strides.clear();
    log_ << "a" << from.name << "[";
    for (std::size_t k = 0; k < from.view.shape.size(); ++k) {
      const std::int64_t n = from.view.shape[k];
      AxisSlice s{.start = 0, .step = 1, .count = n};
      if (!counts.empty()) {
        s.count = counts[k];
      } else if (n > 0 && !random_.one_in(3)) {
        if (random_.one_in(6)) {
          s.count = -1;
        } else {
          s.count = random_.between(std::max<std::int64_t>(n / 2, 1), n);
        }
      }
      if (s.count == -1) {
        s.start = random_.below(n);
      } else if (s.count > 0) {
        const std::int64_t widest = s.count > 1 ? (n - 1) / (s.count - 1) : 3;
        s.step = random_.one_in(2) ? 1 : random_.between(1, std::min<std::int64_t>(widest, 3));
        const std::int64_t reach = (s.count - 1) * s.step;
        s.start = random_.between(0, n - 1 - reach);
        if (random_.one_in(4)) {
          s.start += reach;
          s.step = -s.step;
        }
      }
      v.offset += s.start * from.view.strides[k];
      if (s.count != -1) {
        v.shape.push_back(s.count);
        v.strides.push_back(from.view.strides[k] * s.step);
      }
      axes.push_back(s);
      log_ << s.start << ":" << s.step << "*" << s.count << ",";
    }
    log_ << "]";
    return {slice(from.array, axes), v};
  }

  void look() {
    const Held& from = pick();
    const auto ndim = from.view.shape.size();
    switch (random_.below(4)) {
      case 0: {
        if (ndim < 2) break;
        std::vector<int> axes(ndim);
        std::iota(axes.begin(), axes.end(), 0);
        std::rotate(axes.begin(),
                    axes.begin() + random_.between(1, static_cast<std::int64_t>(ndim) - 1),
                    axes.end());
        View v = from.view;
        for (std::size_t k = 0; k < ndim; ++k) {
          v.shape[k] = from.view.shape[static_cast<std::size_t>(axes[k])];
          v.strides[k] = from.view.strides[static_cast<std::size_t>(axes[k])];
        }
        log_ << "a" << names_ << " = transpose(a" << from.name << "), first axis " << axes[0]
             << "\n";
        return hold(transpose(from.array, axes), v);
      }
      case 1: {
        const Extents flat{from.view.size()};
        const auto window = reshape_window(from.array, flat);
        if (!window) break;
        View v = from.view;
        v.shape = flat;
        v.strides.assign(window->strides().begin(), window->strides().end());
        log_ << "a" << names_ << " = flat window of a" << from.name << "\n";
        return hold(*window, v);
      }
      default:
        break;
    }
    log_ << "a" << names_ << " = ";
    const auto [array, view] = slice_of(from, {});
    log_ << "\n";
    hold(array, view);
  }

  // Any array, sliced or broadcast, that fits `shape`; none: a scalar serves.
  std::optional<std::pair<Array, View>> operand(const Extents& shape) {
    for (int tries = 0; tries < 6; ++tries) {
      const Held& from = pick();
      const auto lead = static_cast<std::int64_t>(shape.size()) -
                        static_cast<std::int64_t>(from.view.shape.size());
      if (lead < 0) continue;
      std::vector<std::int64_t> counts;
      bool fits = true;
      for (std::size_t k = 0; k < from.view.shape.size(); ++k) {
        const std::int64_t wanted = shape[static_cast<std::size_t>(lead) + k],
                           have = from.view.shape[k];
        fits &= have >= wanted || have == 1;
        counts.push_back(have == 1 ? 1 : wanted);
      }
      if (!fits) continue;
      auto [array, view] = slice_of(from, counts);
      return std::pair{array, spread(view, shape)};
    }
    return std::nullopt;
  }

  void compute(bool in_place) {
    static constexpr Op ops[] = {Op::Add,      Op::Subtract, Op::Maximum, Op::Minimum,
                                 Op::Add,      Op::Multiply, Op::Less,    Op::Select,
                                 Op::Negative, Op::Copy,     Op::Square};
    const Op op = ops[random_.below(std::size(ops))];
    const Held shape_giver = pick();
    if (in_place && !shape_giver.view.writable) return;
    Extents shape = shape_giver.view.shape;
    std::pair<Array, View> target{shape_giver.array, shape_giver.view};
    if (in_place) {
      log_ << "out ";
      if (random_.one_in(2))
        target = slice_of(shape_giver, {});
      else
        log_ << "a" << shape_giver.name;
      shape = target.second.shape;
    } else {
      log_ << "a" << names_;
    }
    log_ << " = " << info(op).name << "(";
    std::vector<Argument> arguments;
    std::vector<Array> arrays;
    arrays.reserve(3);
    std::vector<std::vector<Scalar>> inputs;
    std::vector<OperandType> types;
    Extents result_shape(0);
    const auto count = static_cast<std::size_t>(info(op).inputs);
    bool any = false;
    for (std::size_t k = 0; k < count; ++k) {
      std::optional<std::pair<Array, View>> found;
      if (!in_place && k + 1 == count && !any) {
        found = std::pair{shape_giver.array, shape_giver.view};
        log_ << "a" << shape_giver.name;
      } else if (in_place && k == 0 && random_.one_in(2)) {
        found = std::pair{target.first, target.second};
        log_ << "itself";
      } else if (!random_.one_in(5)) {
        found = operand(shape);
      }
      if (found && op == Op::Select && k == 0 && found->second.dtype != DType::Bool) found.reset();
      if (found) {
        any = true;
        arrays.push_back(found->first);
        arguments.emplace_back(arrays.back());
        inputs.push_back(elements(spread(found->second, shape)));
        types.push_back({found->second.dtype, Weak::No});
      } else {
        const Scalar s =
            op == Op::Select && k == 0
                ? Scalar::of(DType::Bool, static_cast<std::uint8_t>(random_.below(2)))
                : Scalar::of(DType::Float64, static_cast<double>(random_.between(-5, 5)));
        arguments.emplace_back(s);
        inputs.emplace_back(static_cast<std::size_t>(std::accumulate(
                                shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())),
                            s);
        types.push_back({s.dtype, Weak::No});
        log_ << "scalar " << (s.dtype == DType::Bool ? s.as<bool>() : s.as<double>());
      }
      log_ << (k + 1 < count ? ", " : ")");
    }
    std::optional<std::pair<Array, View>> mask;
    if (in_place && random_.one_in(5)) {
      mask = operand(shape);
      if (mask && mask->second.dtype != DType::Bool) mask.reset();
      if (mask) log_ << " where";
    }
    log_ << "\n";
    const std::optional<Signature> signature = resolve(op, types);
    if (!signature) return;
    if (!in_place && !same_shape_reached(arrays, shape)) return;
    std::vector<Scalar> values;
    const std::size_t n = inputs[0].size();
    for (std::size_t x = 0; x < n; ++x) {
      const Scalar args[3] = {inputs[0][x], count > 1 ? inputs[1][x] : Scalar{},
                              count > 2 ? inputs[2][x] : Scalar{}};
      values.push_back(op == Op::Copy ? args[0] : apply_to(op, *signature, args));
    }
    if (in_place) {
      if (mask) {
        const auto old = elements(target.second), chosen = elements(mask->second);
        for (std::size_t x = 0; x < n; ++x)
          if (!chosen[x].as<std::uint8_t>()) values[x] = old[x];
      }
      store(target.second, values);
      if (op == Op::Copy && !mask)
        assign(target.first, arguments[0]);
      else
        frit::apply(op, arguments,
                    {.out = &target.first,
                     .where = mask ? &mask->first : nullptr,
                     .casting = Casting::Unsafe});
      return;
    }
    hold_fresh(frit::apply(op, arguments), dense(shape, signature->out), values);
  }

  // Broadcasting of these arrays alone gives the shape.
  static bool same_shape_reached(const std::vector<Array>& arrays, const Extents& shape) {
    std::vector<std::span<const std::int64_t>> shapes;
    for (const Array& a : arrays) shapes.push_back(a.shape());
    return broadcast_shapes(shapes) == shape;
  }

  // Sums are compared only where every order of addition gives the same.
  static bool is_exact(const std::vector<Scalar>& values) {
    double total = 0;
    for (const Scalar& s : values) {
      if (!is_inexact(s.dtype)) return true;
      const double x = cast_scalar(s, DType::Float64).as<double>();
      if (!(std::abs(x) < 1e12) || x != std::floor(x) || (x == 0 && std::signbit(x))) return false;
      total += std::abs(x);
      if (total > (s.dtype == DType::Float32 ? 1 << 23 : 1e15)) return false;
    }
    return true;
  }

  void fold() {
    static constexpr Op ops[] = {Op::Add, Op::Maximum, Op::Minimum, Op::Add};
    const Op op = ops[random_.below(std::size(ops))];
    const Held from = pick();
    const View& in = from.view;
    if (in.size() == 0 || !is_exact(elements(in))) return;
    std::vector<int> axes;
    for (std::size_t k = 0; k < in.shape.size(); ++k)
      if (random_.one_in(2)) axes.push_back(static_cast<int>(k));
    const bool keepdims = random_.one_in(2);
    Extents kept, shape;
    for (std::size_t k = 0; k < in.shape.size(); ++k) {
      const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(k)) != axes.end();
      kept.push_back(reduced ? 1 : in.shape[k]);
      if (!reduced || keepdims) shape.push_back(kept.back());
    }
    const DType dtype = op == Op::Add && !is_inexact(in.dtype)
                            ? (is_unsigned(in.dtype) ? DType::UInt64 : DType::Int64)
                            : in.dtype;
    View v = dense(kept, dtype);
    std::vector<Scalar> values(static_cast<std::size_t>(v.size()), *neutral_of(op, dtype));
    View numbers = dense(kept, DType::Int64);  // of the result that an element belongs to
    std::vector<Scalar> order;
    for (std::int64_t k = 0; k < numbers.size(); ++k) order.push_back(Scalar::of(DType::Int64, k));
    store(numbers, order);
    const auto all = elements(in), owner = elements(spread(numbers, in.shape));
    const Signature same{{dtype, dtype, dtype}, dtype};
    for (std::size_t x = 0; x < all.size(); ++x) {
      Scalar& into = values[static_cast<std::size_t>(owner[x].as<std::int64_t>())];
      const Scalar args[3] = {into, all[x], {}};
      into = apply_to(op, same, args);
    }
    log_ << "a" << names_ << " = reduce " << info(op).name << "(a" << from.name << ") axes";
    for (int axis : axes) log_ << " " << axis;
    log_ << (keepdims ? " keepdims\n" : "\n");
    hold_fresh(reduce(op, from.array, {.axes = axes, .all_axes = false, .keepdims = keepdims}),
               dense(shape, dtype), values);
  }

  void fill() {
    const Held from = pick();
    if (!from.view.writable) return;
    log_ << "fill ";
    auto [array, view] = slice_of(from, {});
    log_ << "\n";
    const Scalar s = Scalar::of(DType::Float64, static_cast<double>(random_.between(0, 9)));
    store(view, std::vector<Scalar>(static_cast<std::size_t>(view.size()), s));
    assign(array, Argument(s));
  }

  void scan() {
    const Held from = pick();
    const View& in = from.view;
    if (in.shape.empty() || in.dtype == DType::Bool || !is_exact(elements(in))) return;
    const auto axis =
        static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(in.shape.size())));
    View v = dense(in.shape, in.dtype);
    store(v, elements(in));
    for (std::int64_t k = 1; k < in.shape[axis]; ++k) {
      const auto plane = [&](std::int64_t at) {
        View p = v;
        p.offset += at * v.strides[axis];
        p.shape[axis] = 1;
        return p;
      };
      auto before = elements(plane(k - 1)), here = elements(plane(k));
      for (std::size_t x = 0; x < here.size(); ++x) {
        const Scalar args[3] = {before[x], here[x], {}};
        here[x] = apply_to(Op::Add, {{in.dtype, in.dtype, in.dtype}, in.dtype}, args);
      }
      store(plane(k), here);
    }
    log_ << "a" << names_ << " = accumulate Add(a" << from.name << ") axis " << axis << "\n";
    hold_fresh(accumulate(Op::Add, from.array, static_cast<int>(axis), in.dtype), v, elements(v));
  }

  void forget() {
    const auto k = static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(held_.size())));
    log_ << "del a" << held_[k].name << "\n";
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(k));
  }

  // Somebody outside writes an element through the array's address.
  void expose() {
    const Held from = pick();
    if (from.view.size() == 0) return;
    const Scalar s = cast_scalar(Scalar::of(DType::Int64, random_.between(0, 9)), from.view.dtype);
    const auto item = static_cast<std::size_t>(size_of(from.view.dtype));
    log_ << "export a" << from.name << " and write its first element\n";
    std::byte* data = begin_export(from.array);
    std::memcpy(data, s.bytes, item);
    std::memcpy(from.view.memory->data() + from.view.offset, s.bytes, item);
    if (random_.one_in(2)) compute(true);
    end_export(from.array.base());
  }

  void check_one() {
    const auto k = static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(held_.size())));
    log_ << "read a" << held_[k].name << "\n";
    check_value(k);
  }

  void check_value(std::size_t k) {
    const Held& held = held_[k];
    const auto expected = elements(held.view);
    const Extents shape(held.array.shape().begin(), held.array.shape().end());
    if (shape != held.view.shape || held.array.dtype() != held.view.dtype)
      throw Difference(frit::text(
          "a", held.name, " has another shape or type: ", info(held.array.dtype()).name,
          shape_words(shape), " for ", info(held.view.dtype).name, shape_words(held.view.shape)));
    if (held.array.size() == 0) return;
    const std::byte* data = read(held.array);
    View got = held.view;
    got.strides.assign(held.array.strides().begin(), held.array.strides().end());
    got.offset = 0;
    std::size_t x = 0;
    const auto item = static_cast<std::size_t>(size_of(got.dtype));
    for_each_element(got, [&](std::int64_t at) {
      const Scalar& want = expected[x++];
      Scalar have;
      have.dtype = got.dtype;
      std::memcpy(have.bytes, data + at, item);
      if (std::memcmp(have.bytes, want.bytes, item) == 0) return;
      const double w = cast_scalar(want, DType::Float64).as<double>(),
                   h = cast_scalar(have, DType::Float64).as<double>();
      if (w != w && h != h) return;
      throw Difference(frit::text("a", held.name, " differs at element ",
                                  static_cast<std::int64_t>(x - 1), ": ", std::to_string(h),
                                  " instead of ", std::to_string(w)));
    });
  }

  std::uint64_t seed_;
  bool large_;
  Random random_{};
  std::vector<Held> held_;
  int names_ = 0;
  std::ostringstream log_;
};

// ---- running and shortening ---------------------------------------------------------------------

struct Outcome {
  bool failed = false;
  std::string text;
};

Outcome run(std::uint64_t seed, bool large, const std::vector<std::size_t>& steps) {
  Program program(seed, large);
  try {
    for (std::size_t number : steps) program.step(number);
    program.check_all();
  } catch (const std::exception& e) {
    return {true, program.text() + "-> " + e.what()};
  }
  return {};
}

std::string shortest(std::uint64_t seed, bool large, std::vector<std::size_t> steps) {
  for (std::size_t chunk = steps.size() / 2; chunk > 0; chunk /= 2)
    for (std::size_t k = 0; k + chunk <= steps.size();) {
      std::vector<std::size_t> fewer = steps;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k),
                  fewer.begin() + static_cast<std::ptrdiff_t>(k + chunk));
      if (run(seed, large, fewer).failed)
        steps = std::move(fewer);
      else
        k += chunk;
    }
  return run(seed, large, steps).text;
}

void fuzz(Tier tier, std::int64_t programs, bool large) {
  struct Restore {
    Settings settings = Engine::get().settings;
    ~Restore() { Engine::get().settings = settings; }
  } restore;
  set_tier(tier);
  Engine::get().settings.immediate_bytes = 0;  // a few elements are recorded like many
  const std::int64_t first = number_from("FRIT_FUZZ_SEED", 1);
  for (std::int64_t k = 0; k < programs; ++k) {
    const auto seed = static_cast<std::uint64_t>(first + k);
    // Some programs are cut into short segments, and some have large arrays computed at once.
    Engine::get().settings.most_nodes = seed % 3 == 0 ? 5 : 4096;
    Engine::get().settings.immediate_bytes = seed % 7 == 0 ? 64 : 0;
    std::vector<std::size_t> steps(large ? 16 : 30);
    std::iota(steps.begin(), steps.end(), 0u);
    if (!run(seed, large, steps).failed) continue;
    ADD_FAILURE() << "seed " << seed << (large ? ", large" : "") << ":\n"
                  << shortest(seed, large, steps);
    return;
  }
}

TEST(Fuzz, small_programs_on_windows_give_the_references_values_eagerly) {
  fuzz(Tier::Eager, number_from("FRIT_FUZZ_PROGRAMS", 3000), false);
}
TEST(Fuzz, large_programs_on_windows_give_the_references_values_eagerly) {
  fuzz(Tier::Eager, number_from("FRIT_FUZZ_PROGRAMS", 3000) / 50, true);
}
TEST(Fuzz, small_programs_on_windows_give_the_references_values_interpreted) {
  fuzz(Tier::Interpreter, number_from("FRIT_FUZZ_PROGRAMS", 3000), false);
}
TEST(Fuzz, large_programs_on_windows_give_the_references_values_interpreted) {
  fuzz(Tier::Interpreter, number_from("FRIT_FUZZ_PROGRAMS", 3000) / 50, true);
}
TEST(Fuzz, small_programs_on_windows_give_the_references_values_compiled) {
  fuzz(Tier::Compiled, number_from("FRIT_FUZZ_PROGRAMS", 3000) / 30, false);
}
TEST(Fuzz, large_programs_on_windows_give_the_references_values_compiled) {
  fuzz(Tier::Compiled, number_from("FRIT_FUZZ_PROGRAMS", 3000) / 100, true);
}

}  // namespace
}  // namespace frit
