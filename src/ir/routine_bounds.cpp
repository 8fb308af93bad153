// routine_bounds.cpp: may an index leave its axis? By ranges of sums, under the conditions there.
#include <algorithm>
#include <limits>

#include "ir/error.h"
#include "ir/routine_use.h"

namespace frit {
namespace {

constexpr int deepest = 48;  // instructions that the range of a value is followed through

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

using Wide = __int128;
using Maybe = std::optional<Range>;

Maybe narrowed_to_64(Wide low, Wide high) {
  if (low < std::numeric_limits<std::int64_t>::min() ||
      high > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return Range{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

// A condition on one value: in [low, high].
struct Constraint {
  ValueId value;
  Range range;
};

class Bounds {
 public:
  explicit Bounds(const BoundsQuestion& question)
      : question_(question),
        body_(question.routine.body),
        forms_(question.routine, question.extents, question.integers),
        definitions_(body_.values.size(), nullptr),
        contents_(body_.operands.size()) {}

  std::vector<std::vector<InBounds>> run() {
    block(body_.code, true);
    return std::move(result_);
  }

 private:
  void block(const Block& instructions, bool certain) {
    for (const Instr& instr : instructions) {
      if (instr.result != no_value) definitions_[at(instr.result)] = &instr;
      switch (instr.kind) {
        case InstrKind::Load:
        case InstrKind::Store:
          access(instr, certain);
          break;
        case InstrKind::Loop: {
          const Maybe index = range_of(instr.result);
          block(instr.body, certain && index && index->low <= index->high &&
                                is_constant(instr.args[0]) && is_constant(instr.args[1]));
          break;
        }
        case InstrKind::If: {
          const std::size_t mark = constraints_.size();
          constrain(instr.args[0], true);
          block(instr.body, false);
          constraints_.resize(mark);
          constrain(instr.args[0], false);
          block(instr.other, false);
          constraints_.resize(mark);
          break;
        }
        case InstrKind::While:
          block(instr.other, false);
          block(instr.body, false);
          break;
        case InstrKind::Constant:
        case InstrKind::ScalarArg:
        case InstrKind::IntegerArg:
        case InstrKind::Apply:
        case InstrKind::Cast:
        case InstrKind::ReadLocal:
        case InstrKind::WriteLocal:
          break;
      }
    }
  }

  bool is_constant(ValueId value) const { return forms_[value].terms.empty(); }

  void access(const Instr& instr, bool certain) {
    const auto shape = question_.shapes[at(instr.address.operand)];
    if (result_.size() <= at(instr.number)) result_.resize(at(instr.number) + 1);
    auto& found = result_[at(instr.number)];
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Affine& form = forms_[instr.address.terms[d].index];
      const auto inside = [&](const Maybe& r) { return r && r->low >= 0 && r->high < shape[d]; };
      under_conditions_ = false;
      const Maybe plain = range_of(form);
      if (inside(plain)) {
        found.push_back(InBounds::Always);
        continue;
      }
      if (certain && plain && is_exact(form))
        throw IndexError(
            text("index ", plain->low, plain->low == plain->high ? "" : text(" to ", plain->high),
                 " is out of bounds for axis ", d, " with size ", shape[d], " of ",
                 question_.place ? question_.place(instr) : text("array ", instr.address.operand),
                 " in a kernel: put a condition around the access, or launch over fewer points"));
      under_conditions_ = true;
      found.push_back(inside(range_of(form)) ? InBounds::WhenReached : InBounds::Unknown);
    }
  }

  // Does the index take both ends of its range at some point? Sums of axes and of loops with
  // constant bounds do.
  bool is_exact(const Affine& form) const {
    return std::all_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
      if (term.first < question_.routine.rank) return true;
      const Instr* loop = definitions_[at(term.first)];
      return loop && loop->kind == InstrKind::Loop && is_constant(loop->args[0]) &&
             is_constant(loop->args[1]);
    });
  }

  // ---- ranges -----------------------------------------------------------------------------------

  Maybe range_of(const Affine& form) {
    Wide low = form.constant, high = form.constant;
    for (const auto& [value, coefficient] : form.terms) {
      const Maybe r = range_of(value);
      if (!r) return std::nullopt;
      const Wide a = static_cast<Wide>(coefficient) * r->low,
                 b = static_cast<Wide>(coefficient) * r->high;
      low += std::min(a, b);
      high += std::max(a, b);
    }
    return narrowed_to_64(low, high);
  }

  Maybe range_of(ValueId value) {
    Maybe r = plain_range(value);
    if (!under_conditions_) return r;
    for (const Constraint& c : constraints_) {
      if (c.value != value) continue;
      if (!r)
        r = Range{std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max()};
      r->low = std::max(r->low, c.range.low);
      r->high = std::min(r->high, c.range.high);
    }
    return r;
  }

  Maybe plain_range(ValueId value) {
    if (value < question_.routine.rank) return Range{0, question_.extents[at(value)] - 1};
    const Instr* instr = definitions_[at(value)];
    if (!instr || depth_ >= deepest) return std::nullopt;
    ++depth_;
    const Maybe r = range_by_definition(*instr);
    --depth_;
    return r;
  }

  static bool has_form(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

  Maybe argument(const Instr& instr, int k) {
    const ValueId value = instr.args[k];
    if (has_form(body_.values[at(value)])) return range_of(forms_[value]);
    return range_of(value);
  }

  // Where a number leaves the 32 bits of its type, nothing is known of it.
  Maybe fitting(const Maybe& r, DType dtype) const {
    if (!r || dtype != DType::Int32) return r;
    if (r->low < std::numeric_limits<std::int32_t>::min() ||
        r->high > std::numeric_limits<std::int32_t>::max())
      return std::nullopt;
    return r;
  }

  Maybe range_by_definition(const Instr& instr) {
    switch (instr.kind) {
      case InstrKind::Loop: {
        const Maybe begin = argument(instr, 0), end = argument(instr, 1);
        if (!begin || !end) return std::nullopt;
        return narrowed_to_64(begin->low, static_cast<Wide>(end->high) - 1);
      }
      case InstrKind::Load:
        return contents_of(instr.address.operand);
      case InstrKind::Cast:
        if (is_integer(body_.values[at(instr.args[0])]) &&
            body_.values[at(instr.args[0])] != DType::UInt64 &&
            has_form(body_.values[at(instr.result)]))
          return fitting(argument(instr, 0), body_.values[at(instr.result)]);
        return std::nullopt;
      case InstrKind::Apply: {
        const DType dtype = body_.values[at(instr.result)];
        return has_form(dtype) ? fitting(range_of_apply(instr), dtype) : std::nullopt;
      }
      case InstrKind::Constant:
      case InstrKind::ScalarArg:
      case InstrKind::IntegerArg:
      case InstrKind::Store:
      case InstrKind::ReadLocal:
      case InstrKind::WriteLocal:
      case InstrKind::If:
      case InstrKind::While:
        break;
    }
    return std::nullopt;
  }

  Maybe range_of_apply(const Instr& instr) {
    if (instr.op == Op::Select) return hull(argument(instr, 1), argument(instr, 2));
    if (info(instr.op).inputs != 2) return std::nullopt;
    constexpr Range all{std::numeric_limits<std::int64_t>::min(),
                        std::numeric_limits<std::int64_t>::max()};
    const Maybe first = argument(instr, 0), second = argument(instr, 1);
    const Range a = first ? *first : all, b = second ? *second : all;
    const bool by_positive = b.low == b.high && b.low > 0;
    // One known side bounds a minimum from above, a maximum from below.
    if (instr.op == Op::Minimum) return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
    if (instr.op == Op::Maximum) return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    if (instr.op == Op::Remainder && by_positive) return Range{0, b.low - 1};
    if (instr.op == Op::Fmod && by_positive)
      return Range{a.low < 0 ? 1 - b.low : 0, a.high > 0 ? b.low - 1 : 0};
    if (instr.op == Op::TruncateDivide && by_positive) return Range{a.low / b.low, a.high / b.low};
    if (instr.op == Op::FloorDivide && by_positive)
      return Range{floor_divide(a.low, b.low), floor_divide(a.high, b.low)};
    if (instr.op != Op::Multiply) return std::nullopt;
    const Wide products[] = {static_cast<Wide>(a.low) * b.low, static_cast<Wide>(a.low) * b.high,
                             static_cast<Wide>(a.high) * b.low, static_cast<Wide>(a.high) * b.high};
    return narrowed_to_64(*std::min_element(products, products + 4),
                          *std::max_element(products, products + 4));
  }
  static Maybe hull(const Maybe& a, const Maybe& b) {
    if (!a || !b) return std::nullopt;
    return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
  }
  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
  }

  Maybe contents_of(std::int32_t parameter) {
    if (body_.operands[at(parameter)].written || !is_integer(body_.operands[at(parameter)].dtype))
      return std::nullopt;
    auto& known = contents_[at(parameter)];
    if (!known) known = question_.contents(parameter);
    return *known;
  }

  // ---- conditions -------------------------------------------------------------------------------

  // What is known where `condition` is (not) true: comparisons that bound a single value, joined by
  // and (or).
  void constrain(ValueId condition, bool holds) {
    std::vector<ValueId> todo{condition};
    while (!todo.empty()) {
      const Instr* instr = definitions_[at(todo.back())];
      todo.pop_back();
      if (!instr || instr->kind != InstrKind::Apply) continue;
      const bool joined = holds ? instr->op == Op::LogicalAnd || instr->op == Op::BitwiseAnd
                                : instr->op == Op::LogicalOr || instr->op == Op::BitwiseOr;
      if (joined && body_.values[at(instr->args[0])] == DType::Bool &&
          body_.values[at(instr->args[1])] == DType::Bool) {
        todo.push_back(instr->args[0]);
        todo.push_back(instr->args[1]);
        continue;
      }
      compare(*instr, holds);
    }
  }

  void compare(const Instr& instr, bool holds) {
    if (info(instr.op).inputs != 2 || !has_form(body_.values[at(instr.args[0])]) ||
        !has_form(body_.values[at(instr.args[1])]))
      return;
    const Affine &x = forms_[instr.args[0]], &y = forms_[instr.args[1]];
    if (instr.op == Op::Less) return holds ? at_most(x, y, -1) : at_most(y, x, 0);
    if (instr.op == Op::LessEqual) return holds ? at_most(x, y, 0) : at_most(y, x, -1);
    if (instr.op == Op::Greater) return holds ? at_most(y, x, -1) : at_most(x, y, 0);
    if (instr.op == Op::GreaterEqual) return holds ? at_most(y, x, 0) : at_most(x, y, -1);
    if (instr.op == (holds ? Op::Equal : Op::NotEqual)) {
      at_most(x, y, 0);
      at_most(y, x, 0);
    }
  }

  // x <= y + shift. Where one value is on only one side, with coefficient 1 or -1, it is bounded.
  void at_most(const Affine& x, const Affine& y, std::int64_t shift) {
    if (x.terms.size() + y.terms.size() != 1) return;
    // x's term - y's term <= rest.
    const Wide rest = static_cast<Wide>(y.constant) + shift - x.constant;
    const auto& [value, coefficient] = x.terms.empty() ? y.terms[0] : x.terms[0];
    const std::int64_t signed_coefficient = x.terms.empty() ? -coefficient : coefficient;
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                           most = std::numeric_limits<std::int64_t>::max();
    if (rest < least || -rest > most || rest > most || -rest < least) return;
    if (signed_coefficient == 1)
      constraints_.push_back({value, {least, static_cast<std::int64_t>(rest)}});
    if (signed_coefficient == -1)
      constraints_.push_back({value, {static_cast<std::int64_t>(-rest), most}});
  }

  const BoundsQuestion& question_;
  const Kernel& body_;
  const Forms forms_;
  std::vector<const Instr*> definitions_;
  std::vector<std::optional<Maybe>> contents_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<InBounds>> result_;
  bool under_conditions_ = false;
  int depth_ = 0;
};

}  // namespace

std::vector<std::vector<InBounds>> check_bounds(const BoundsQuestion& question) {
  return Bounds(question).run();
}

}  // namespace frit
