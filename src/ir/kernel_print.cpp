// kernel_print.cpp: Kernels as text. x: operands, s: scalars, n: integers, l: locals, v: values.
#include <complex>
#include <sstream>

#include "ir/kernel.h"

namespace frit {
namespace {

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) { out_.precision(17); }

  std::string run() {
    header();
    block(kernel_.code, 0);
    return out_.str();
  }

 private:
  void header() {
    const char* separator = "kernel ";
    const auto item = [&](char letter, std::size_t number, DType dtype) -> std::ostream& {
      out_ << separator << letter << number << ' ' << info(dtype).name;
      separator = ", ";
      return out_;
    };
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k) {
      const Operand& operand = kernel_.operands[k];
      item('x', k, operand.dtype) << (operand.written ? " written" : "");
      if (operand.scratch_offset >= 0) out_ << " scratch at n" << operand.scratch_offset;
      if (operand.beside >= 0) out_ << " at x" << operand.beside << '[' << operand.distance << ']';
    }
    for (std::size_t k = 0; k < kernel_.scalars.size(); ++k) item('s', k, kernel_.scalars[k]);
    for (std::int32_t k = 0; k < kernel_.integers; ++k)
      item('n', static_cast<std::size_t>(k), DType::Int64);
    for (std::size_t k = 0; k < kernel_.locals.size(); ++k) item('l', k, kernel_.locals[k]);
    if (kernel_.may_stop) out_ << separator << "may stop";
    if (kernel_.from_own_cache) out_ << separator << "from a core's own cache";
    if (kernel_.loads_early) out_ << separator << "loads early";
    out_ << '\n';
  }

  void block(const Block& instructions, int depth) {
    for (const Instr& instr : instructions) {
      line(depth);
      instruction(instr, depth);
    }
  }
  std::ostream& line(int depth) {
    for (int k = 0; k < depth; ++k) out_ << "  ";
    return out_;
  }
  std::ostream& definition(const Instr& instr) {
    return out_ << 'v' << instr.result << ' '
                << info(kernel_.values[static_cast<std::size_t>(instr.result)]).name << " = ";
  }

  void instruction(const Instr& instr, int depth) {
    switch (instr.kind) {
      case InstrKind::Constant:
        definition(instr);
        constant(instr.constant);
        break;
      case InstrKind::ScalarArg:
        definition(instr) << 's' << instr.number;
        break;
      case InstrKind::IntegerArg:
        definition(instr) << 'n' << instr.number;
        break;
      case InstrKind::Apply:
        definition(instr) << (instr.quiet ? "quiet " : "") << prefix_of(instr.math)
                          << info(instr.op).name;
        for (int k = 0; k < info(instr.op).inputs; ++k)
          out_ << (k == 0 ? " v" : ", v") << instr.args[k];
        break;
      case InstrKind::Cast:
        definition(instr) << "cast v" << instr.args[0];
        break;
      case InstrKind::Load:
        definition(instr) << (instr.streaming ? "load streaming " : "load ");
        address(instr.address);
        break;
      case InstrKind::Store:
        out_ << (instr.streaming ? "store streaming " : "store ");
        address(instr.address);
        out_ << " = v" << instr.args[0];
        break;
      case InstrKind::ReadLocal:
        definition(instr) << 'l' << instr.number;
        break;
      case InstrKind::WriteLocal:
        out_ << 'l' << instr.number << " = v" << instr.args[0];
        break;
      case InstrKind::Loop:
        return loop(instr, depth);
      case InstrKind::If:
        out_ << (instr.fails ? "fail if v" : "if v") << instr.args[0] << '\n';
        block(instr.body, depth + 1);
        if (!instr.other.empty()) {
          line(depth) << "else\n";
          block(instr.other, depth + 1);
        }
        return;
      case InstrKind::While:
        out_ << "while l" << instr.number << " after\n";
        block(instr.other, depth + 1);
        line(depth) << "do\n";
        return block(instr.body, depth + 1);
    }
    out_ << '\n';
  }

  void loop(const Instr& instr, int depth) {
    out_ << (instr.parallel ? "parallel " : "") << (instr.vector ? "vector " : "")
         << (instr.repeats ? "repeating " : "") << (instr.tree ? "tree " : "") << "loop v"
         << instr.result;
    if (!instr.parallel) out_ << " in v" << instr.args[0] << "..v" << instr.args[1];
    out_ << '\n';
    for (const Fetch& fetch : instr.fetches) {
      line(depth + 1) << "fetch ";
      address(fetch.address);
      out_ << " by " << fetch.elements << (fetch.for_stores ? " for stores\n" : "\n");
    }
    block(instr.body, depth + 1);
    for (const Reduction& reduction : instr.reductions)
      line(depth) << "reduce l" << reduction.local << " by " << info(reduction.op).name << " of v"
                  << reduction.value << '\n';
  }

  void address(const Address& address) {
    out_ << 'x' << address.operand << '[';
    const char* separator = "";
    for (const Term& term : address.terms) {
      out_ << separator << 'v' << term.index;
      if (term.stride != unit_stride) out_ << "*n" << term.stride;
      separator = " + ";
    }
    out_ << ']';
  }

  void constant(const Scalar& scalar) {
    switch (scalar.dtype) {
      case DType::Bool:
        out_ << (scalar.as<std::uint8_t>() ? "true" : "false");
        return;
      case DType::Int8:
        out_ << int{scalar.as<std::int8_t>()};
        return;
      case DType::Int16:
        out_ << scalar.as<std::int16_t>();
        return;
      case DType::Int32:
        out_ << scalar.as<std::int32_t>();
        return;
      case DType::Int64:
        out_ << scalar.as<std::int64_t>();
        return;
      case DType::UInt8:
        out_ << unsigned{scalar.as<std::uint8_t>()};
        return;
      case DType::UInt16:
        out_ << scalar.as<std::uint16_t>();
        return;
      case DType::UInt32:
        out_ << scalar.as<std::uint32_t>();
        return;
      case DType::UInt64:
        out_ << scalar.as<std::uint64_t>();
        return;
      case DType::Float16:
        out_ << "half 0x" << std::hex << scalar.as<std::uint16_t>() << std::dec;
        return;
      case DType::Float32:
        out_ << scalar.as<float>();
        return;
      case DType::Float64:
        out_ << scalar.as<double>();
        return;
      case DType::Complex64:
        out_ << scalar.as<std::complex<float>>();
        return;
      case DType::Complex128:
        out_ << scalar.as<std::complex<double>>();
        return;
    }
  }

  const Kernel& kernel_;
  std::ostringstream out_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace frit
