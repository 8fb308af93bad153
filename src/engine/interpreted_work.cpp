// interpreted_work.cpp: see interpreted_work.h.
#include "engine/interpreted_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace frit {
namespace {

// Nanoseconds that the interpreter takes for an instruction, and for each of its lanes.
constexpr double an_instruction = 4, a_lane = 0.3;
constexpr double most_lanes = 512;
// Of loops whose rounds nobody knows.
constexpr double some_rounds = 8;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Follows the integers that rounds are computed from. An index is taken for the one in the middle.
class Work {
 public:
  Work(const Kernel& kernel, const LaunchArguments& arguments, std::int64_t extent)
      : kernel_(kernel),
        arguments_(arguments),
        extent_(static_cast<double>(extent)),
        numbers_(kernel.values.size(), unknown) {}

  double of(const Block& block, double lanes) {
    double sum = 0;
    for (const Instr& instr : block) sum += of(instr, lanes);
    return sum;
  }

 private:
  double of(const Instr& instr, double lanes) {
    switch (instr.kind) {
      case InstrKind::Constant:
      case InstrKind::ScalarArg:
      case InstrKind::IntegerArg:
        number(instr.result) = given(instr);
        return 0;
      case InstrKind::Loop:
        return of_loop(instr, lanes);
      case InstrKind::While:
        return (instr.rounds > 0 ? instr.rounds : some_rounds) *
               (of(instr.other, lanes) + of(instr.body, lanes));
      case InstrKind::If:
        return of(instr.other, lanes) + of(instr.body, lanes);
      case InstrKind::Apply:
        number(instr.result) = computed(instr);
        break;
      case InstrKind::Cast:
        number(instr.result) = number(instr.args[0]);
        break;
      case InstrKind::Load:
      case InstrKind::Store:
      case InstrKind::ReadLocal:
      case InstrKind::WriteLocal:
        break;
    }
    return an_instruction + a_lane * lanes;
  }

  double of_loop(const Instr& loop, double lanes) {
    double begin = 0, rounds = extent_;
    if (!loop.parallel) {
      begin = number(loop.args[0]);
      rounds = number(loop.args[1]) - begin;
      if (std::isnan(rounds)) begin = unknown, rounds = some_rounds;
      rounds = std::max(rounds, 0.0);
    }
    number(loop.result) = begin + rounds / 2;
    if (!loop.vector) return rounds * of(loop.body, lanes);
    const double together = std::min(rounds, most_lanes);
    return std::ceil(rounds / most_lanes) * of(loop.body, together);
  }

  double& number(ValueId id) { return numbers_[static_cast<std::size_t>(id)]; }

  double given(const Instr& instr) const {
    const auto at = static_cast<std::size_t>(instr.number);
    if (instr.kind == InstrKind::IntegerArg) return static_cast<double>(arguments_.integers[at]);
    const Scalar& scalar =
        instr.kind == InstrKind::Constant ? instr.constant : arguments_.scalars[at];
    switch (kernel_.values[static_cast<std::size_t>(instr.result)]) {
      case DType::Int64:
        return static_cast<double>(scalar.as<std::int64_t>());
      case DType::Int32:
        return scalar.as<std::int32_t>();
      default:
        return unknown;
    }
  }

  double computed(const Instr& instr) {
    if (info(instr.op).inputs != 2) return unknown;
    const double x = number(instr.args[0]), y = number(instr.args[1]);
    if (instr.op == Op::Add) return x + y;
    if (instr.op == Op::Subtract) return x - y;
    if (instr.op == Op::Multiply) return x * y;
    if (instr.op == Op::Minimum) return x < y ? x : y;
    if (instr.op == Op::Maximum) return x > y ? x : y;
    if (instr.op == Op::FloorDivide) return y != 0 ? std::floor(x / y) : unknown;
    return unknown;
  }

  const Kernel& kernel_;
  const LaunchArguments& arguments_;
  const double extent_;
  std::vector<double> numbers_;
};

}  // namespace

double interpreted_work(const Kernel& kernel, const LaunchArguments& arguments,
                        std::int64_t extent) {
  return Work(kernel, arguments, extent).of(kernel.code, 1);
}

}  // namespace frit
