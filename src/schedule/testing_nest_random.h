// testing_nest_random.h: random loop nests with small sizes, and memory for them.
//
// Affine indices with random coefficients, triangular bounds, conditions, overlapping views,
// index arrays, locals that live on, reductions, while loops. All integers are small, and all
// indices lie within `reach` of the middle of their axis.
#pragma once

#include <string>

#include "ir/testing_random.h"
#include "schedule/nest.h"
#include "schedule/testing_nest.h"

namespace frit::testing {

class RandomNest {
 public:
  static constexpr std::int64_t reach = 64, extent = 2 * reach;

  explicit RandomNest(std::uint64_t seed) : random_{seed} {
    floats_ = random_.one_in(3);
    const int arrays = static_cast<int>(random_.between(1, 3));
    for (int k = 0; k < arrays; ++k) add_array();
    if (random_.one_in(5)) add_view();
    index_array_ = maker_.array(DType::Int64, 1);
    ranks_.push_back(1);
    for (int k = 0; k < 2; ++k) symbols_.push_back(maker_.integer());
    for (int k = 0; k < 2; ++k) {
      locals_.push_back(maker_.local(element_type()));
      maker_.write(locals_.back(), literal(random_.between(-2, 2)));
    }
    statements(0, static_cast<int>(random_.between(1, 2)), true);
    // What the locals hold in the end is seen.
    for (int local : locals_)
      if (random_.one_in(2)) maker_.store(0, at_middle(0), maker_.read(local));
  }

  Routine routine() const { return maker_.routine(); }
  // What is known of the views.
  NestFacts facts() const {
    NestFacts facts;
    if (view_of_ < 0) return facts;
    facts.same.resize(static_cast<std::size_t>(view_) + 1);
    if (mixed_)
      facts.mixed.emplace_back(view_of_, view_);
    else
      facts.same[static_cast<std::size_t>(view_)] = {.array = view_of_, .shift = shift_};
    return facts;
  }
  int integers() const { return static_cast<int>(symbols_.size()); }
  bool has_floats() const { return floats_; }

  // Memory with the same contents for the same seed.
  struct Memory {
    std::vector<std::vector<std::int64_t>> words;  // by array that is no view
    std::vector<NestArray> arrays;
  };
  Memory memory(std::uint64_t seed) const {
    Random random{seed};
    Memory made;
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      const bool is_view = static_cast<int>(k) == view_;
      std::int64_t size = 1;
      for (int axis = 0; axis < ranks_[k]; ++axis) size *= 2 * extent;
      made.words.emplace_back(is_view ? 0 : static_cast<std::size_t>(size));
      for (std::int64_t& word : made.words.back()) {
        word = random.between(-9, 9);
        if (!floats_ || static_cast<int>(k) == index_array_) continue;
        const double real = static_cast<double>(word) / 4;
        std::memcpy(&word, &real, sizeof word);
      }
    }
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      const bool is_view = static_cast<int>(k) == view_;
      const std::size_t owner = is_view ? static_cast<std::size_t>(view_of_) : k;
      NestArray a;
      a.data = reinterpret_cast<std::byte*>(made.words[owner].data());
      std::int64_t stride = 8;
      for (int axis = ranks_[k]; axis-- > 0; stride *= 2 * extent) {
        a.strides.insert(a.strides.begin(), stride);
        a.shape.insert(a.shape.begin(), extent);
        a.data += stride * (reach / 2);  // room for views on all sides
        if (is_view) a.data += stride * shift_[static_cast<std::size_t>(axis)];
      }
      made.arrays.push_back(std::move(a));
    }
    return made;
  }

 private:
  DType element_type() const { return floats_ ? DType::Float64 : DType::Int64; }
  void add_array() {
    const int rank = static_cast<int>(random_.between(1, 2));
    ranks_.push_back(rank);
    arrays_.push_back(maker_.array(element_type(), rank));
  }
  void add_view() {
    view_of_ = 0;
    view_ = static_cast<int>(ranks_.size());
    mixed_ = random_.one_in(3);
    ranks_.push_back(ranks_[0]);
    arrays_.push_back(maker_.array(element_type(), ranks_[0]));
    for (int k = 0; k < ranks_[0]; ++k) shift_.push_back(random_.between(-2, 2));
  }

  // ---- values -----------------------------------------------------------------------------------

  ValueId literal(std::int64_t value) {
    return floats_ ? maker_.real(static_cast<double>(value) / 2) : maker_.literal(value);
  }
  std::vector<ValueId> at_middle(int array) {
    std::vector<ValueId> indices;
    for (int k = 0; k < ranks_[static_cast<std::size_t>(array)]; ++k)
      indices.push_back(maker_.literal(reach));
    return indices;
  }
  // A sum of indices of the loops around, perhaps of a symbol, and a number.
  ValueId sum(std::int64_t constant, bool plain) {
    ValueId value = maker_.literal(constant);
    for (ValueId index : indices_) {
      const std::int64_t c = plain ? random_.below(2) : random_.between(-2, 2);
      if (c) value = maker_.plus(value, maker_.times(index, maker_.literal(c)));
    }
    if (random_.one_in(5)) value = maker_.plus(value, symbol());
    return value;
  }
  ValueId symbol() { return maker_.arg(random_.pick(symbols_)); }
  ValueId index() {
    if (!indices_.empty() && random_.one_in(2)) {  // as people write it: i + 1
      const ValueId i = random_.pick(indices_);
      return maker_.shifted(maker_.plus(i, maker_.literal(reach)), random_.between(-1, 1));
    }
    if (random_.one_in(14))
      return maker_.plus(maker_.load(index_array_, {sum(reach, true)}), maker_.literal(reach));
    ValueId s = sum(reach + random_.between(-2, 2), random_.one_in(2));
    if (random_.one_in(12)) s = maker_.apply(Op::FloorDivide, s, maker_.literal(2));
    if (random_.one_in(16))
      s = maker_.plus(maker_.apply(Op::Remainder, s, maker_.literal(3)), maker_.literal(reach));
    return s;
  }
  std::vector<ValueId> indices_of(int array) {
    std::vector<ValueId> indices;
    for (int k = 0; k < ranks_[static_cast<std::size_t>(array)]; ++k) indices.push_back(index());
    return indices;
  }
  int some_array() { return random_.pick(arrays_); }
  int some_local() { return random_.pick(locals_); }

  ValueId value(int depth) {
    const std::int64_t kind = random_.below(depth > 0 ? 6 : 3);
    if (kind == 0) return literal(random_.between(-3, 3));
    if (kind == 1 && random_.one_in(3)) return maker_.read(some_local());
    if (kind <= 2) {
      const int a = some_array();
      return maker_.load(a, indices_of(a));
    }
    const ValueId x = value(depth - 1), y = value(depth - 1);
    return kind == 3   ? maker_.minus(x, y)
           : kind == 4 ? maker_.plus(x, y)
                       : maker_.apply(Op::Minimum, x, y);
  }

  // ---- statements -------------------------------------------------------------------------------

  void statements(int depth, int count, bool outermost = false) {
    for (int k = 0; k < count; ++k) {
      const bool may_loop = depth < 3 && loops_ < 5;
      if (outermost || (may_loop && random_.one_in(2)))
        loop(depth);
      else
        statement(depth);
    }
  }

  void loop(int depth) {
    ++loops_;
    ValueId begin, end;
    const std::int64_t shape = random_.below(indices_.empty() ? 3 : 5);
    begin = maker_.literal(random_.between(0, 1));
    if (shape <= 1)
      end = symbol();
    else if (shape == 2)
      end = maker_.literal(random_.between(2, 5));
    else if (shape == 3) {  // triangular, upper
      begin = maker_.shifted(indices_.back(), random_.between(0, 1));
      end = symbol();
    } else {  // triangular, lower
      end = maker_.shifted(indices_.back(), random_.between(0, 1));
    }
    if (random_.one_in(8)) end = maker_.apply(Op::Minimum, end, maker_.literal(4));
    maker_.loop(begin, end, [&](ValueId i) {
      indices_.push_back(i);
      statements(depth + 1, static_cast<int>(random_.between(1, depth == 0 ? 3 : 2)));
      indices_.pop_back();
    });
  }

  ValueId condition() {
    constexpr Op ops[] = {Op::Less, Op::LessEqual, Op::Greater, Op::Equal, Op::NotEqual};
    const Op op = ops[random_.below(5)];
    if (random_.one_in(2)) {
      const ValueId x = value(0);
      return maker_.apply(op, x, value(0));
    }
    const ValueId x = sum(random_.between(-1, 1), true);
    const ValueId c = maker_.apply(op, x, symbol());
    if (!random_.one_in(4)) return c;
    const ValueId other = maker_.apply(Op::Less, sum(0, true), maker_.literal(3));
    return maker_.apply(random_.one_in(2) ? Op::LogicalAnd : Op::LogicalOr, c, other);
  }

  void statement(int depth) {
    const std::int64_t kind = random_.below(10);
    if (kind <= 4) {
      const int a = some_array();
      const ValueId v = value(2);
      return maker_.store(a, indices_of(a), v);
    }
    if (kind == 5) {  // an update
      const int a = some_array();
      const std::vector<ValueId> indices = indices_of(a);
      const ValueId v = value(1);
      return maker_.store(a, indices, maker_.plus(maker_.load(a, indices), v));
    }
    if (kind == 6) {  // a sum
      const int local = some_local();
      const ValueId v = value(1);
      constexpr Op ops[] = {Op::Add,     Op::Add,      Op::Subtract,  Op::Minimum,
                            Op::Maximum, Op::Multiply, Op::BitwiseXor};
      const Op op = ops[random_.below(floats_ ? 5 : 7)];
      return maker_.write(local, maker_.apply(op, maker_.read(local), v));
    }
    if (kind == 7) return maker_.write(some_local(), value(2));
    if (kind == 8 && depth < 4) {
      const ValueId c = condition();
      return maker_.if_(
          c, [&] { statements(depth + 1, 1); },
          random_.one_in(3) ? std::function<void()>([&] { statements(depth + 1, 1); })
                            : std::function<void()>());
    }
    if (kind == 9 && random_.one_in(3)) {  // the least so far
      const int local = some_local();
      const ValueId v = value(1);
      const bool least = random_.one_in(2), with_index = !floats_ && random_.one_in(2);
      const ValueId better =
          maker_.apply(least ? Op::Less : Op::GreaterEqual, v, maker_.read(local));
      return maker_.if_(better, [&] {
        maker_.write(local, v);
        if (with_index && !indices_.empty())
          maker_.write(locals_[local == locals_[0] ? 1 : 0], indices_.back());
      });
    }
    if (kind == 9 && random_.one_in(3) && depth < 3) {
      const int counter = maker_.local(DType::Int64);
      maker_.write(counter, maker_.literal(0));
      return maker_.while_(
          [&] { return maker_.apply(Op::Less, maker_.read(counter), maker_.literal(2)); },
          [&] {
            statements(depth + 1, 1);
            maker_.write(counter, maker_.shifted(maker_.read(counter), 1));
          },
          random_.one_in(2) ? 2 : 0);
    }
    const int local = some_local();  // a temporary
    maker_.write(local, value(1));
    const int a = some_array();
    const ValueId v = maker_.plus(maker_.read(local), value(0));
    maker_.store(a, indices_of(a), v);
  }

  Random random_;
  NestMaker maker_;
  bool floats_ = false, mixed_ = false;
  int index_array_ = -1, view_ = -1, view_of_ = -1, loops_ = 0;
  std::vector<std::int64_t> shift_;
  std::vector<int> arrays_, symbols_, locals_;
  std::vector<int> ranks_;
  std::vector<ValueId> indices_;
};

}  // namespace frit::testing
