// kernel_fuzz_test.cpp: random user kernels between array operations, against a walk over points.
//
// The reference keeps its own memory, walks a kernel's points one after another and evaluates its
// expressions as trees; inputs are copied before, and a bad index undoes the kernel. It shares with
// the engine only the op table. FRIT_FUZZ_PROGRAMS and FRIT_FUZZ_SEED change how many programs run
// and which; a failing program is made as short as it can be and printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <sstream>

#include "engine/engine.h"
#include "frit/frit.h"
#include "ir/testing_random.h"

namespace frit {
namespace {

using testing::number_from;
using testing::Random;
using Extents = std::vector<std::int64_t>;

struct Difference : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

// ---- the reference's memory ---------------------------------------------------------------------

struct Memory {
  DType dtype{};
  std::vector<std::byte> bytes;

  Scalar get(std::int64_t element) const {
    Scalar s;
    s.dtype = dtype;
    std::memcpy(s.bytes, bytes.data() + element * size_of(dtype), at(size_of(dtype)));
    return s;
  }
  void set(std::int64_t element, const Scalar& value) {
    std::memcpy(bytes.data() + element * size_of(dtype), value.bytes, at(size_of(dtype)));
  }
};

// A window, as the reference sees it: offset and strides in elements.
struct View {
  std::shared_ptr<Memory> memory;
  std::int64_t offset = 0;
  Extents shape, strides;

  std::int64_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::int64_t element(std::span<const std::int64_t> index) const {
    std::int64_t result = offset;
    for (std::size_t k = 0; k < shape.size(); ++k) result += index[k] * strides[k];
    return result;
  }
};

struct Held {
  Array array;
  View view;
};

template <class Visit>  // visit(index), the last axis fastest
void for_each_point(const Extents& extents, Visit&& visit) {
  if (std::count(extents.begin(), extents.end(), 0) > 0) return;
  Extents index(extents.size(), 0);
  for (;;) {
    visit(index);
    std::size_t k = index.size();
    while (k > 0 && ++index[k - 1] == extents[k - 1]) index[--k] = 0;
    if (k == 0) return;
  }
}

Scalar apply_to(Op op, DType out, std::span<const Scalar> inputs) {
  Scalar values[3], result;
  std::copy(inputs.begin(), inputs.end(), values);
  result.dtype = out;
  void* args[4] = {result.bytes, values[0].bytes, values[1].bytes, values[2].bytes};
  loop(op, values[op == Op::Select ? 1 : 0].dtype)(args, 1, 0);
  return result;
}

// ---- kernels as trees ---------------------------------------------------------------------------

enum class ExprKind { Literal, Argument, Axis, Local, LoopIndex, Load, Apply, Cast };

struct Expr {
  ExprKind kind = ExprKind::Literal;
  DType dtype{};
  Scalar value = {};      // Literal, Argument
  std::size_t which = 0;  // axis, local, parameter, depth of the loop
  Op op{};
  std::vector<Expr> args = {};  // Load: indices
};

enum class StatementKind { Set, Store, If, Loop, While };

struct Statement {
  StatementKind kind{};
  std::size_t which = 0;           // local, parameter; While: the local that counts
  std::vector<Expr> indices = {};  // Store
  std::vector<Expr> values = {};   // Set, Store: the value; If, While: condition; Loop: bounds
  std::vector<Statement> body = {}, other = {};
};

enum class Use { Input, Output, InOut };

struct KernelTree {
  struct Parameter {
    Held held;
    Use use{};
  };
  struct Sum {
    Op op{};
    Expr value = {};
    std::vector<int> axes = {};
    bool all_axes = true;
  };
  Extents extents;
  std::vector<Parameter> parameters = {};
  std::vector<DType> locals = {};
  std::vector<Statement> body = {};
  std::vector<Sum> sums = {};
};

// ---- the reference's walk -----------------------------------------------------------------------

class Walk {
 public:
  explicit Walk(const KernelTree& tree) : tree_(tree) {
    for (const KernelTree::Parameter& p : tree.parameters) {
      views_.push_back(p.held.view);
      if (p.use == Use::Input) views_.back().memory = std::make_shared<Memory>(*p.held.view.memory);
    }
  }

  // The values of the sums' operands, point by point. IndexError: memory is as it was.
  std::vector<std::vector<Scalar>> run() {
    std::vector<std::pair<std::shared_ptr<Memory>, std::vector<std::byte>>> before;
    for (const View& v : views_) before.emplace_back(v.memory, v.memory->bytes);
    std::vector<std::vector<Scalar>> sums(tree_.sums.size());
    try {
      for_each_point(tree_.extents, [&](const Extents& point) {
        point_ = &point;
        locals_.clear();
        for (DType dtype : tree_.locals) locals_.push_back(Scalar{.dtype = dtype});
        block(tree_.body);
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k].push_back(value(tree_.sums[k].value));
      });
    } catch (const IndexError&) {
      for (auto& [memory, bytes] : before) memory->bytes = bytes;
      throw;
    }
    return sums;
  }

 private:
  void block(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) statement(s);
  }

  void statement(const Statement& s) {
    switch (s.kind) {
      case StatementKind::Set:
        locals_[s.which] = value(s.values[0]);
        return;
      case StatementKind::Store: {
        const Extents index = indices(s.indices);
        const Scalar what = value(s.values[0]);
        views_[s.which].memory->set(element(s.which, index), what);
        return;
      }
      case StatementKind::If:
        return block(value(s.values[0]).as<std::uint8_t>() ? s.body : s.other);
      case StatementKind::Loop: {
        const auto begin = value(s.values[0]).as<std::int64_t>(),
                   end = value(s.values[1]).as<std::int64_t>();
        loops_.push_back(begin);
        for (std::int64_t t = begin; t < end; ++t) {
          loops_.back() = t;
          block(s.body);
        }
        loops_.pop_back();
        return;
      }
      case StatementKind::While:
        while (value(s.values[0]).as<std::uint8_t>()) block(s.body);
        return;
    }
  }

  Extents indices(const std::vector<Expr>& list) {
    Extents result;
    for (const Expr& e : list) result.push_back(value(e).as<std::int64_t>());
    return result;
  }

  std::int64_t element(std::size_t parameter, const Extents& index) const {
    const View& view = views_[parameter];
    for (std::size_t k = 0; k < index.size(); ++k)
      if (index[k] < 0 || index[k] >= view.shape[k]) throw IndexError("out of bounds");
    return view.element(index);
  }

  Scalar value(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Literal:
      case ExprKind::Argument:
        return e.value;
      case ExprKind::Axis:
        return Scalar::of(DType::Int64, (*point_)[e.which]);
      case ExprKind::Local:
        return locals_[e.which];
      case ExprKind::LoopIndex:
        return Scalar::of(DType::Int64, loops_[e.which]);
      case ExprKind::Load:
        return views_[e.which].memory->get(element(e.which, indices(e.args)));
      case ExprKind::Cast:
        return cast_scalar(value(e.args[0]), e.dtype);
      case ExprKind::Apply: {
        std::vector<Scalar> inputs;
        for (const Expr& a : e.args) inputs.push_back(value(a));
        return apply_to(e.op, e.dtype, inputs);
      }
    }
    return {};
  }

  const KernelTree& tree_;
  std::vector<View> views_;
  const Extents* point_ = nullptr;
  std::vector<Scalar> locals_;
  std::vector<std::int64_t> loops_;
};

// ---- the same kernel for the engine -------------------------------------------------------------

class Writer {
 public:
  explicit Writer(const KernelTree& tree) : tree_(tree), kernel_(tree.extents) {
    for (const KernelTree::Parameter& p : tree.parameters)
      parameters_.push_back(p.use == Use::Input    ? kernel_.input(p.held.array)
                            : p.use == Use::Output ? kernel_.output(p.held.array)
                                                   : kernel_.inout(p.held.array));
    for (DType dtype : tree.locals) {
      locals_.push_back(is_integer(dtype) ? kernel_.local(dtype, 0) : kernel_.local(dtype, 0.0));
    }
    block(tree.body);
    for (const KernelTree::Sum& s : tree.sums) {
      std::vector<int> axes = s.axes;
      if (s.all_axes)
        totals_.push_back(kernel_.reduce(s.op, value(s.value)));
      else
        totals_.push_back(kernel_.reduce(s.op, value(s.value), {axes[0]}));
    }
  }

  KernelBuilder& kernel() { return kernel_; }
  const std::vector<KernelBuilder::Total>& totals() const { return totals_; }

 private:
  void block(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) statement(s);
  }

  void statement(const Statement& s) {
    switch (s.kind) {
      case StatementKind::Set:
        return kernel_.set(locals_[s.which], value(s.values[0]));
      case StatementKind::Store: {
        std::vector<Expression> index;
        for (const Expr& e : s.indices) index.push_back(value(e));
        const Expression what = value(s.values[0]);
        if (index.size() == 1)
          parameters_[s.which](index[0]) = what;
        else
          parameters_[s.which](index[0], index[1]) = what;
        return;
      }
      case StatementKind::If:
        if (s.other.empty()) return kernel_.if_(value(s.values[0]), [&] { block(s.body); });
        return kernel_.if_(
            value(s.values[0]), [&] { block(s.body); }, [&] { block(s.other); });
      case StatementKind::Loop:
        return kernel_.loop(value(s.values[0]), value(s.values[1]), [&](Expression t) {
          loops_.push_back(t);
          block(s.body);
          loops_.pop_back();
        });
      case StatementKind::While:
        return kernel_.while_([&] { return value(s.values[0]); }, [&] { block(s.body); });
    }
  }

  Expression value(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Literal:
        if (is_integer(e.dtype)) return cast_scalar(e.value, DType::Int64).as<std::int64_t>();
        return cast_scalar(e.value, DType::Float64).as<double>();
      case ExprKind::Argument:
        return kernel_.scalar(e.value);
      case ExprKind::Axis:
        return kernel_.axis(static_cast<int>(e.which));
      case ExprKind::Local:
        return locals_[e.which];
      case ExprKind::LoopIndex:
        return loops_[e.which];
      case ExprKind::Load: {
        const Expression first = value(e.args[0]);
        if (e.args.size() == 1) return parameters_[e.which](first);
        return parameters_[e.which](first, value(e.args[1]));
      }
      case ExprKind::Cast:
        return cast(value(e.args[0]), e.dtype);
      case ExprKind::Apply: {
        const Expression first = value(e.args[0]);
        if (e.args.size() == 1) return compute(e.op, {first});
        const Expression second = value(e.args[1]);
        if (e.args.size() == 2) return compute(e.op, {first, second});
        return compute(e.op, {first, second, value(e.args[2])});
      }
    }
    return 0;
  }

  const KernelTree& tree_;
  KernelBuilder kernel_;
  std::vector<KernelBuilder::Parameter> parameters_;
  std::vector<KernelBuilder::Local> locals_;
  std::vector<Expression> loops_;
  std::vector<KernelBuilder::Total> totals_;
};

// ---- random kernels -----------------------------------------------------------------------------

constexpr DType dtypes[] = {DType::Float64, DType::Float64, DType::Int64, DType::Float32,
                            DType::Int32,   DType::UInt8,   DType::Int16, DType::Float16};

Expr literal(std::int64_t value) {
  return {.dtype = DType::Int64, .value = Scalar::of(DType::Int64, value)};
}
Expr apply_expr(Op op, DType dtype, std::vector<Expr> args) {
  return {.kind = ExprKind::Apply, .dtype = dtype, .op = op, .args = std::move(args)};
}
Expr cast_expr(Expr e, DType dtype) {
  if (e.dtype == dtype) return e;
  return {.kind = ExprKind::Cast, .dtype = dtype, .args = {std::move(e)}};
}

class TreeMaker {
 public:
  TreeMaker(Random& random, const std::vector<Held>& held) : random_(random), held_(held) {}

  KernelTree make() {
    for (std::int64_t k = random_.between(1, 4); k > 0; --k)
      tree_.parameters.push_back({random_.pick(held_), static_cast<Use>(random_.below(3))});
    if (std::all_of(tree_.parameters.begin(), tree_.parameters.end(),
                    [](const KernelTree::Parameter& p) { return p.use == Use::Input; }))
      tree_.parameters[0].use = random_.one_in(2) ? Use::Output : Use::InOut;
    choose_extents();
    for (std::int64_t k = random_.between(1, 3); k > 0; --k)
      tree_.locals.push_back(random_.pick(dtypes));
    counter_ = tree_.locals.size();
    tree_.locals.push_back(DType::Int64);
    tree_.body = statements(2);
    while (random_.one_in(6) && tree_.sums.size() < 2) add_sum();
    return std::move(tree_);
  }

 private:
  // Mostly those of a written array, or a few less.
  void choose_extents() {
    const Extents& shape = random_.pick(tree_.parameters).held.view.shape;
    for (std::int64_t extent : shape)
      tree_.extents.push_back(std::max<std::int64_t>(
          random_.one_in(40) ? 0 : 1, extent - (random_.one_in(2) ? random_.below(4) : 0)));
    if (random_.one_in(8)) tree_.extents.push_back(random_.between(1, 4));
    if (random_.one_in(8)) tree_.extents.pop_back();
    for (std::int64_t extent : tree_.extents) ranges_.push_back({0, extent - 1});
  }

  std::vector<Statement> statements(int depth) {
    std::vector<Statement> result;
    for (std::int64_t k = random_.between(1, depth == 2 ? 4 : 2); k > 0; --k)
      result.push_back(statement(depth));
    return result;
  }

  Statement statement(int depth) {
    switch (random_.below(depth > 0 ? 12 : 7)) {
      case 0:
      case 1: {
        const std::size_t local = at(random_.below(static_cast<std::int64_t>(counter_)));
        return {
            .kind = StatementKind::Set, .which = local, .values = {value(tree_.locals[local], 2)}};
      }
      case 7:
      case 8:
        return guard(depth);
      case 9: {
        Statement s{.kind = StatementKind::If, .values = {condition(1)}};
        s.body = statements(depth - 1);
        if (random_.one_in(2)) s.other = statements(depth - 1);
        return s;
      }
      case 10:
        return loop_of(depth);
      case 11:
        return while_of(depth);
      default:
        return store();
    }
  }

  Statement store() {
    std::size_t parameter = 0;
    do {
      parameter = at(random_.below(static_cast<std::int64_t>(tree_.parameters.size())));
    } while (tree_.parameters[parameter].use == Use::Input);
    Statement s{.kind = StatementKind::Store, .which = parameter};
    s.indices = indices(parameter);
    s.values = {value(dtype_of(parameter), 2)};
    return s;
  }

  // if_(low <= axis && axis < high): within, indices may reach further.
  Statement guard(int depth) {
    if (tree_.extents.empty()) return store();
    const std::size_t axis = at(random_.below(static_cast<std::int64_t>(tree_.extents.size())));
    const Range outside = ranges_[axis];
    if (outside.low >= outside.high) return store();
    const Expr index{.kind = ExprKind::Axis, .dtype = DType::Int64, .which = axis};
    const std::int64_t cut = random_.between(outside.low + 1, outside.high);
    const bool above = random_.one_in(2);
    Statement s{.kind = StatementKind::If};
    s.values = {
        apply_expr(above ? Op::GreaterEqual : Op::Less, DType::Bool, {index, literal(cut)})};
    ranges_[axis] = above ? Range{cut, outside.high} : Range{outside.low, cut - 1};
    s.body = statements(depth - 1);
    ranges_[axis] = above ? Range{outside.low, cut - 1} : Range{cut, outside.high};
    if (random_.one_in(2)) s.other = statements(depth - 1);
    ranges_[axis] = outside;
    return s;
  }

  Statement loop_of(int depth) {
    Statement s{.kind = StatementKind::Loop};
    const std::int64_t begin = random_.between(-1, 2), rounds = random_.between(0, 4);
    Expr end = literal(begin + rounds);
    std::int64_t last = begin + rounds - 1;
    if (!tree_.extents.empty() && random_.one_in(3)) {
      const std::size_t axis = at(random_.below(static_cast<std::int64_t>(tree_.extents.size())));
      end = {.kind = ExprKind::Axis, .dtype = DType::Int64, .which = axis};
      last = ranges_[axis].high - 1;
    }
    s.values = {literal(begin), std::move(end)};
    loops_.push_back({begin, last});
    s.body = statements(depth - 1);
    loops_.pop_back();
    return s;
  }

  // while_(counter < n [&& condition]) { counter += 1; .. }: what was counted before counts on.
  Statement while_of(int depth) {
    const Expr counter{.kind = ExprKind::Local, .dtype = DType::Int64, .which = counter_};
    Expr test = apply_expr(Op::Less, DType::Bool, {counter, literal(random_.between(1, 6))});
    if (random_.one_in(2))
      test = apply_expr(Op::LogicalAnd, DType::Bool, {std::move(test), condition(1)});
    Statement s{.kind = StatementKind::While, .values = {std::move(test)}};
    s.body.push_back({.kind = StatementKind::Set,
                      .which = counter_,
                      .values = {apply_expr(Op::Add, DType::Int64, {counter, literal(1)})}});
    for (Statement& inner : statements(depth - 1)) s.body.push_back(std::move(inner));
    return s;
  }

  void add_sum() {
    KernelTree::Sum sum;
    constexpr Op ops[] = {Op::Add, Op::Maximum, Op::Minimum};
    sum.op = random_.pick(ops);
    // A sum of floats has an order of its own; the tests of reductions look at that.
    const DType dtype = sum.op == Op::Add ? DType::Int64 : random_.pick(dtypes);
    sum.value = cast_expr(value(dtype, 1), dtype);
    if (sum.value.kind == ExprKind::Literal) return;
    if (std::count(tree_.extents.begin(), tree_.extents.end(), 0) > 0) return;
    if (tree_.extents.size() > 1 && random_.one_in(2)) {
      sum.all_axes = false;
      sum.axes = {static_cast<int>(random_.below(static_cast<std::int64_t>(tree_.extents.size())))};
    }
    tree_.sums.push_back(std::move(sum));
  }

  // ---- values ----

  DType dtype_of(std::size_t parameter) const {
    return tree_.parameters[parameter].held.view.memory->dtype;
  }

  Expr value(DType dtype, int depth) {
    switch (random_.below(depth > 0 ? 12 : 6)) {
      case 0:
        return constant(dtype, ExprKind::Literal);
      case 1:
        return constant(dtype, ExprKind::Argument);
      case 2:
        if (!tree_.extents.empty())
          return cast_expr(
              {.kind = ExprKind::Axis,
               .dtype = DType::Int64,
               .which = at(random_.below(static_cast<std::int64_t>(tree_.extents.size())))},
              dtype);
        return constant(dtype, ExprKind::Argument);
      case 3:
        return local(dtype);
      case 10: {
        Expr first = operand(dtype, depth);
        return apply_expr(Op::Select, dtype,
                          {condition(depth - 1), std::move(first), value(dtype, depth - 1)});
      }
      case 11: {
        constexpr Op ops[] = {Op::Negative, Op::Absolute, Op::Square};
        return apply_expr(random_.pick(ops), dtype, {operand(dtype, depth)});
      }
      case 7:
      case 8:
      case 9: {
        constexpr Op ops[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Maximum, Op::Minimum};
        Expr first = operand(dtype, depth);
        return apply_expr(random_.pick(ops), dtype, {std::move(first), value(dtype, depth - 1)});
      }
      default:
        return load(dtype);
    }
  }

  // Not a literal: an operation needs one operand that is not.
  Expr operand(DType dtype, int depth) {
    Expr e = value(dtype, depth - 1);
    return e.kind == ExprKind::Literal ? load(dtype) : e;
  }

  Expr constant(DType dtype, ExprKind kind) {
    const std::int64_t least = dtype == DType::UInt8 ? 0 : -5;
    const double number = is_integer(dtype) ? static_cast<double>(random_.between(least, 5))
                                            : static_cast<double>(random_.between(-12, 12)) / 4;
    return {.kind = kind,
            .dtype = dtype,
            .value = cast_scalar(Scalar::of(DType::Float64, number), dtype)};
  }

  Expr local(DType dtype) {
    const std::size_t which = at(random_.below(static_cast<std::int64_t>(tree_.locals.size())));
    return cast_expr({.kind = ExprKind::Local, .dtype = tree_.locals[which], .which = which},
                     dtype);
  }

  Expr load(DType dtype) {
    std::vector<std::size_t> readable;
    for (std::size_t k = 0; k < tree_.parameters.size(); ++k)
      if (tree_.parameters[k].use != Use::Output) readable.push_back(k);
    if (readable.empty()) return local(dtype);
    const std::size_t parameter = random_.pick(readable);
    Expr e{.kind = ExprKind::Load, .dtype = dtype_of(parameter), .which = parameter};
    e.args = indices(parameter);
    return cast_expr(std::move(e), dtype);
  }

  Expr condition(int depth) {
    constexpr Op ops[] = {Op::Less, Op::LessEqual, Op::Greater, Op::Equal, Op::NotEqual};
    const DType dtype = random_.pick(dtypes);
    Expr first = value(dtype, depth);
    if (first.kind == ExprKind::Literal) first = local(dtype);
    return apply_expr(random_.pick(ops), DType::Bool, {std::move(first), value(dtype, depth)});
  }

  // ---- indices: mostly inside ----

  std::vector<Expr> indices(std::size_t parameter) {
    const Extents& shape = tree_.parameters[parameter].held.view.shape;
    std::vector<Expr> result;
    for (std::size_t d = 0; d < shape.size(); ++d) result.push_back(index(shape[d], d));
    return result;
  }

  Expr index(std::int64_t extent, std::size_t dimension) {
    const auto axes = static_cast<std::int64_t>(tree_.extents.size());
    switch (random_.below(12)) {
      case 0:
        return literal(random_.below(extent));
      case 1:
        if (!loops_.empty()) {
          const std::size_t which = at(random_.below(static_cast<std::int64_t>(loops_.size())));
          return moved({.kind = ExprKind::LoopIndex, .dtype = DType::Int64, .which = which},
                       loops_[which], extent);
        }
        [[fallthrough]];
      case 2:
        return held_inside(value(DType::Int64, 1), extent);
      case 3:
        if (random_.one_in(4)) return not_literal(value(DType::Int64, 1));  // maybe outside
        [[fallthrough]];
      default: {
        if (axes == 0) return literal(random_.below(extent));
        const std::size_t axis = dimension < tree_.extents.size() && !random_.one_in(5)
                                     ? dimension
                                     : at(random_.below(axes));
        return moved({.kind = ExprKind::Axis, .dtype = DType::Int64, .which = axis}, ranges_[axis],
                     extent);
      }
    }
  }

  Expr not_literal(Expr e) { return e.kind == ExprKind::Literal ? local(DType::Int64) : e; }

  // e + c, or c - e: inside where it can be, most of the time.
  Expr moved(Expr e, const Range& range, std::int64_t extent) {
    const std::int64_t width = range.high - range.low;
    if (width >= extent) return held_inside(std::move(e), extent);
    const std::int64_t low = random_.between(0, extent - 1 - std::max<std::int64_t>(width, 0)) +
                             (random_.one_in(60) ? 1 : 0);
    if (random_.one_in(6))
      return apply_expr(
          Op::Add, DType::Int64,
          {apply_expr(Op::Negative, DType::Int64, {std::move(e)}), literal(low + range.high)});
    if (low == range.low && random_.one_in(2)) return e;
    return apply_expr(Op::Add, DType::Int64, {std::move(e), literal(low - range.low)});
  }

  Expr held_inside(Expr e, std::int64_t extent) {
    e = not_literal(std::move(e));
    if (random_.one_in(2))
      return apply_expr(Op::Remainder, DType::Int64, {std::move(e), literal(extent)});
    return apply_expr(
        Op::Maximum, DType::Int64,
        {apply_expr(Op::Minimum, DType::Int64, {std::move(e), literal(extent - 1)}), literal(0)});
  }

  Random& random_;
  const std::vector<Held>& held_;
  KernelTree tree_;
  std::vector<Range> ranges_;  // of each axis, under the conditions around
  std::vector<Range> loops_;
  std::size_t counter_ = 0;
};

// ---- programs -----------------------------------------------------------------------------------

class Program {
 public:
  explicit Program(std::uint64_t seed) : seed_(seed), random_{seed} {
    const std::int64_t most = random_.one_in(3) ? 40 : 7;
    for (int k = 0; k < 3; ++k) add_array(most);
    for (int k = 0; k < 4; ++k) add_window();
  }

  void step(std::size_t number) {
    random_ = Random{seed_ * 1000003 + number * 7919 + 1};
    switch (random_.below(10)) {
      case 0:
        log_ << "eval\n";
        return eval();
      case 1:
        return add_window();
      case 2:
      case 3:
        return array_operation();
      case 4:
        return check(random_.pick(held_));
      default:
        return kernel();
    }
  }

  void check_all() {
    for (const Held& h : held_) check(h);
    for (const Held& h : totals_) check(h);
  }
  std::string text() const { return log_.str(); }

 private:
  void add_array(std::int64_t most) {
    Held h;
    h.view.memory = std::make_shared<Memory>();
    h.view.memory->dtype = random_.pick(dtypes);
    const std::int64_t rank = random_.one_in(3) ? 1 : 2;
    for (std::int64_t k = 0; k < rank; ++k) h.view.shape.push_back(random_.between(1, most));
    h.view.strides.assign(h.view.shape.size(), 1);
    for (std::size_t k = h.view.shape.size(); k-- > 1;)
      h.view.strides[k - 1] = h.view.strides[k] * h.view.shape[k];
    const DType dtype = h.view.memory->dtype;
    h.view.memory->bytes.resize(at(h.view.size() * size_of(dtype)));
    for (std::int64_t k = 0; k < h.view.size(); ++k)
      h.view.memory->set(
          k,
          cast_scalar(Scalar::of(DType::Float64, static_cast<double>(random_.between(-20, 60)) / 4),
                      dtype));
    h.array = empty(h.view.shape, dtype);
    std::byte* data = begin_export(h.array);
    std::memcpy(data, h.view.memory->bytes.data(), h.view.memory->bytes.size());
    end_export(h.array.base());
    held_.push_back(std::move(h));
  }

  // Part of an array, backwards or with steps or transposed.
  void add_window() {
    const Held from = random_.pick(held_);
    Held h;
    h.view.memory = from.view.memory;
    h.view.offset = from.view.offset;
    std::vector<AxisSlice> slices;
    for (std::size_t k = 0; k < from.view.shape.size(); ++k) {
      const std::int64_t extent = from.view.shape[k];
      std::int64_t step = random_.one_in(4) ? 2 : 1;
      std::int64_t start = random_.below(std::min<std::int64_t>(extent, 3));
      std::int64_t count = (extent - start - 1) / step + 1;
      count = random_.one_in(2) ? count : random_.between(1, count);
      if (random_.one_in(5)) {
        start += step * (count - 1);
        step = -step;
      }
      slices.push_back({.start = start, .step = step, .count = count});
      h.view.offset += start * from.view.strides[k];
      h.view.shape.push_back(count);
      h.view.strides.push_back(step * from.view.strides[k]);
    }
    h.array = slice(from.array, slices);
    if (h.view.shape.size() == 2 && random_.one_in(4)) {
      const int axes[2] = {1, 0};
      h.array = transpose(h.array, axes);
      std::swap(h.view.shape[0], h.view.shape[1]);
      std::swap(h.view.strides[0], h.view.strides[1]);
    }
    held_.push_back(std::move(h));
  }

  // out op= number, or out op= another window of the same shape and type.
  void array_operation() {
    constexpr Op ops[] = {Op::Add, Op::Subtract, Op::Maximum};
    const Op op = random_.pick(ops);
    const Held out = random_.pick(held_), other = random_.pick(held_);
    const DType dtype = out.view.memory->dtype;
    const bool same = other.view.shape == out.view.shape && other.view.memory->dtype == dtype;
    const Scalar number = cast_scalar(Scalar::of(DType::Int64, random_.between(-3, 3)), dtype);
    std::vector<Scalar> results;
    for_each_point(out.view.shape, [&](const Extents& index) {
      const Scalar inputs[] = {out.view.memory->get(out.view.element(index)),
                               same ? other.view.memory->get(other.view.element(index)) : number};
      results.push_back(apply_to(op, dtype, inputs));
    });
    std::size_t k = 0;
    for_each_point(out.view.shape, [&](const Extents& index) {
      out.view.memory->set(out.view.element(index), results[k++]);
    });
    log_ << "array operation " << info(op).name << "\n";
    if (same)
      apply(op, {out.array, other.array}, {.out = &out.array});
    else
      apply(op, {out.array, number}, {.out = &out.array});
  }

  void kernel() {
    const KernelTree tree = TreeMaker(random_, held_).make();
    Writer writer(tree);
    log_ << "kernel over";
    for (std::int64_t extent : tree.extents) log_ << " " << extent;
    for (const KernelTree::Parameter& p : tree.parameters) {
      log_ << (p.use == Use::Input ? ", in" : p.use == Use::Output ? ", out" : ", inout");
      for (std::int64_t extent : p.held.view.shape) log_ << " " << extent;
    }
    log_ << "\n" << writer.kernel().text();
    bool bad = false;
    std::vector<std::vector<Scalar>> sums;
    try {
      sums = Walk(tree).run();
    } catch (const IndexError&) {
      bad = true;
    }
    try {
      writer.kernel().record();
      if (bad) throw Difference("a bad index was not found");
    } catch (const IndexError& e) {
      if (!bad) throw Difference(frit::text("a good index was refused: ", e.what()));
      return;
    }
    for (std::size_t k = 0; k < sums.size(); ++k)
      hold_total(tree, tree.sums[k], sums[k], writer.totals()[k].array());
  }

  void hold_total(const KernelTree& tree, const KernelTree::Sum& sum,
                  const std::vector<Scalar>& values, const Array& result) {
    Held h;
    h.array = result;
    h.view.memory = std::make_shared<Memory>();
    h.view.memory->dtype = result.dtype();
    for (std::size_t k = 0; k < tree.extents.size(); ++k)
      if (!sum.all_axes && static_cast<int>(k) != sum.axes[0])
        h.view.shape.push_back(tree.extents[k]);
    h.view.strides.assign(h.view.shape.size(), 1);
    for (std::size_t k = h.view.shape.size(); k-- > 1;)
      h.view.strides[k - 1] = h.view.strides[k] * h.view.shape[k];
    h.view.memory->bytes.resize(at(h.view.size() * size_of(result.dtype())));
    std::vector<bool> started(at(h.view.size()));
    std::size_t point = 0;
    for_each_point(tree.extents, [&](const Extents& index) {
      Extents place;
      for (std::size_t k = 0; k < index.size(); ++k)
        if (!sum.all_axes && static_cast<int>(k) != sum.axes[0]) place.push_back(index[k]);
      const std::int64_t element = h.view.element(place);
      const Scalar next = cast_scalar(values[point++], result.dtype());
      const Scalar both[] = {started[at(element)] ? h.view.memory->get(element) : next, next};
      h.view.memory->set(element,
                         started[at(element)] ? apply_to(sum.op, result.dtype(), both) : next);
      started[at(element)] = true;
    });
    totals_.push_back(std::move(h));
  }

  void check(const Held& h) {
    const Array dense = h.array.c_contiguous() ? h.array : copy(h.array, 'C');
    const std::byte* data = read(dense);
    std::int64_t k = 0;
    for_each_point(h.view.shape, [&](const Extents& index) {
      Scalar have;
      have.dtype = dense.dtype();
      std::memcpy(have.bytes, data + k++ * size_of(have.dtype), at(size_of(have.dtype)));
      const Scalar want = h.view.memory->get(h.view.element(index));
      const double x = cast_scalar(have, DType::Float64).as<double>(),
                   y = cast_scalar(want, DType::Float64).as<double>();
      if (have == want || (x != x && y != y) || (x == 0 && y == 0)) return;
      throw Difference(
          frit::text("element ", k - 1, " is ", std::to_string(x), ", not ", std::to_string(y)));
    });
  }

  std::uint64_t seed_;
  Random random_;
  std::vector<Held> held_, totals_;
  std::ostringstream log_;
};

// ---- running and shortening ---------------------------------------------------------------------

struct Outcome {
  bool failed = false;
  std::string text;
};

Outcome run(std::uint64_t seed, const std::vector<std::size_t>& steps) {
  Program program(seed);
  try {
    for (std::size_t number : steps) program.step(number);
    program.check_all();
  } catch (const std::exception& e) {
    return {true, program.text() + "-> " + e.what()};
  }
  return {};
}

std::string shortest(std::uint64_t seed, std::vector<std::size_t> steps) {
  for (std::size_t k = 0; k < steps.size();) {
    std::vector<std::size_t> fewer = steps;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    if (run(seed, fewer).failed)
      steps = std::move(fewer);
    else
      ++k;
  }
  return run(seed, steps).text;
}

void fuzz(Tier tier, std::int64_t programs) {
  struct Restore {
    Settings settings = Engine::get().settings;
    ~Restore() { Engine::get().settings = settings; }
  } restore;
  set_tier(tier);
  const std::int64_t first = number_from("FRIT_FUZZ_SEED", 1);
  for (std::int64_t k = 0; k < programs; ++k) {
    const auto seed = static_cast<std::uint64_t>(first + k);
    // Some programs are cut into short segments, and some do small operations at once.
    Engine::get().settings.most_nodes = seed % 3 == 0 ? 3 : 4096;
    Engine::get().settings.immediate_bytes = seed % 5 == 0 ? 16 << 10 : 0;
    std::vector<std::size_t> steps(8);
    std::iota(steps.begin(), steps.end(), 0u);
    if (!run(seed, steps).failed) continue;
    ADD_FAILURE() << "seed " << seed << ":\n" << shortest(seed, steps);
    return;
  }
}

TEST(KernelFuzz, random_kernels_give_the_values_of_a_walk_over_their_points_interpreted) {
  fuzz(Tier::Interpreter, number_from("FRIT_FUZZ_PROGRAMS", 4000));
}
TEST(KernelFuzz, random_kernels_give_the_values_of_a_walk_over_their_points_compiled) {
  fuzz(Tier::Compiled, number_from("FRIT_FUZZ_PROGRAMS", 4000) / 40);
}

}  // namespace
}  // namespace frit
