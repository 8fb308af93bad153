// kernel_builder.cpp: the public classes: the text is their KernelState's, the arrays are here.
#include "frit/kernel_builder.h"

#include <algorithm>

#include "front/common.h"
#include "front/kernel_state.h"
#include "schedule/dependence.h"

namespace frit {

// What a KernelBuilder is given while it writes: its one launch.
class KernelBuilderState : public KernelState {
 public:
  explicit KernelBuilderState(std::span<const std::int64_t> shape)
      : KernelState(static_cast<std::int32_t>(shape.size())), extents(shape.begin(), shape.end()) {}

  std::vector<std::int64_t> extents;
  std::vector<Array> arrays;
  std::vector<Scalar> values;  // of the scalars
  std::vector<Array> results;  // of the reductions, once recorded
};

namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

std::span<const std::int64_t> checked_extents(std::span<const std::int64_t> shape) {
  std::int64_t points = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) throw ValueError(text("KernelBuilder: an extent is negative: ", extent));
    if (__builtin_mul_overflow(points, std::max<std::int64_t>(extent, 1), &points))
      throw ValueError("KernelBuilder: more points than an int64 can count");
  }
  if (shape.size() > static_cast<std::size_t>(max_dimensions))
    throw ValueError(text("KernelBuilder: more than ", max_dimensions, " axes"));
  return shape;
}

// Every KernelState that a builder's parts point to is a builder's.
KernelBuilderState& builder_of(KernelState* state) {
  return static_cast<KernelBuilderState&>(*state);
}

std::int32_t add_array(KernelBuilderState& state, const Array& a, ParameterUse use) {
  state.check_open();
  if (!a) throw ValueError("KernelBuilder: an empty handle, not an array");
  if (use != ParameterUse::Input) {
    check_writable(a);
    if (overlaps_itself(*a.layout()))
      throw ValueError("KernelBuilder: a written array has overlapping elements");
  }
  const std::int32_t number = state.add_parameter(a.dtype(), a.ndim(), use);
  state.arrays.resize(static_cast<std::size_t>(number));  // reductions have none
  state.arrays.push_back(a);
  return number;
}

}  // namespace

DType Expression::dtype() const { return kernel_ ? kernel_->type_of(value_) : literal_.dtype; }

KernelState* KernelState::owner(const Expression& x) { return x.kernel_; }

Expression compute(Op op, std::initializer_list<Expression> arguments) {
  for (const Expression& x : arguments)
    if (KernelState* kernel = KernelState::owner(x))
      return kernel->compute(op, {arguments.begin(), arguments.size()});
  throw ValueError(text(
      info(op).name, ": literals only: an expression belongs to a kernel by one of its operands"));
}
Expression cast(const Expression& x, DType dtype) {
  if (KernelState* kernel = KernelState::owner(x)) return kernel->cast(x, dtype);
  throw ValueError("cast: a literal belongs to no kernel");
}

KernelBuilder::Local::operator Expression() const { return kernel_->read_local(number_); }
const KernelBuilder::Local& KernelBuilder::Local::operator=(const Expression& value) const {
  kernel_->write_local(number_, value);
  return *this;
}

KernelBuilder::Element::operator Expression() const { return kernel_->load(parameter_, indices_); }
const KernelBuilder::Element& KernelBuilder::Element::operator=(const Expression& value) const {
  kernel_->store(parameter_, indices_, value);
  return *this;
}

Expression KernelBuilder::Parameter::extent(int axis) const {
  const auto shape = builder_of(kernel_).arrays[at(number_)].shape();
  if (axis < 0 || at(axis) >= shape.size())
    throw IndexError(
        frit::text("extent: axis ", axis, " of an array of ", shape.size(), " dimensions"));
  return kernel_->integer(shape[at(axis)]);
}

const Array& KernelBuilder::Total::array() const {
  const std::vector<Array>& results = builder_of(kernel_).results;
  if (number_ >= results.size())
    throw ValueError("the result of a reduction is there when its kernel has been recorded");
  return results[number_];
}

KernelBuilder::KernelBuilder(std::span<const std::int64_t> extents)
    : state_(std::make_unique<KernelBuilderState>(checked_extents(extents))) {}
KernelBuilder::KernelBuilder(KernelBuilder&&) noexcept = default;
KernelBuilder& KernelBuilder::operator=(KernelBuilder&&) noexcept = default;
KernelBuilder::~KernelBuilder() = default;

KernelBuilderState& KernelBuilder::state() const {
  if (!state_) throw ValueError("KernelBuilder: the kernel was moved to another one");
  return *state_;
}

KernelBuilder::Parameter KernelBuilder::input(const Array& a) {
  return {&state(), add_array(state(), a, ParameterUse::Input)};
}
KernelBuilder::Parameter KernelBuilder::output(const Array& a) {
  return {&state(), add_array(state(), a, ParameterUse::Output)};
}
KernelBuilder::Parameter KernelBuilder::inout(const Array& a) {
  return {&state(), add_array(state(), a, ParameterUse::InOut)};
}

Expression KernelBuilder::axis(int number) {
  state().check_open();
  if (number < 0 || number >= state().routine.rank)
    throw IndexError(
        frit::text("axis: number ", number, " of a kernel with ", state().routine.rank, " axes"));
  return Expression(&state(), number);
}
Expression KernelBuilder::extent(int number) {
  if (number < 0 || number >= state().routine.rank)
    throw IndexError(
        frit::text("extent: axis ", number, " of a kernel with ", state().routine.rank, " axes"));
  return state().integer(state().extents[at(number)]);
}
Expression KernelBuilder::scalar(const Scalar& value) {
  const auto number = static_cast<std::int32_t>(state().values.size());
  const Expression x = state().scalar(value.dtype, number);
  state().values.push_back(value);
  return x;
}

KernelBuilder::Local KernelBuilder::local(const Expression& initial) {
  return local(initial.dtype(), initial);
}
KernelBuilder::Local KernelBuilder::local(DType dtype, const Expression& initial) {
  const Local result(&state(), state().add_local(dtype));
  return result = initial;
}

void KernelBuilder::loop(const Expression& begin, const Expression& end,
                         const std::function<void(Expression)>& body) {
  state().loop(begin, end, body);
}
void KernelBuilder::if_(const Expression& condition, const std::function<void()>& body,
                        const std::function<void()>& otherwise) {
  state().branch(condition, body, otherwise);
}
void KernelBuilder::while_(const std::function<Expression()>& condition,
                           const std::function<void()>& body) {
  state().repeat(condition, body);
}

KernelBuilder::Total KernelBuilder::reduce(Op op, const Expression& value) {
  return {&state(), state().reduce(op, value, {}, true)};
}
KernelBuilder::Total KernelBuilder::reduce(Op op, const Expression& value,
                                           std::initializer_list<int> axes) {
  return {&state(), state().reduce(op, value, axes, false)};
}

void KernelBuilder::record() {
  const KernelDefinition definition = state().define();
  KernelBuilderState& s = state();
  s.arrays.resize(definition.uses.size());
  s.results = launch(definition,
                     {.extents = s.extents, .arrays = std::move(s.arrays), .scalars = s.values});
}

std::string KernelBuilder::text() const {
  Routine so_far = state().routine;
  so_far.body.code = state().written();
  return print(so_far);
}

}  // namespace frit
