// kernel_bytes.cpp: reads what kernel.cpp's Serializer writes, field by field.
#include "ir/kernel_bytes.h"

#include <cstring>

namespace frit {
namespace {

constexpr int deepest = 200;  // blocks in blocks

class Deserializer {
 public:
  explicit Deserializer(WordReader& reader) : reader_(reader) {}

  std::optional<Kernel> run() {
    kernel_.operands.resize(reader_.count());
    for (Operand& operand : kernel_.operands) {
      operand.dtype = reader_.dtype();
      operand.written = reader_.number(0, 2) != 0;
      operand.scratch_offset = reader_.word();
      operand.beside = reader_.word();
      operand.distance = reader_.word();
    }
    types(kernel_.scalars);
    kernel_.integers = reader_.number(0, INT32_MAX);
    const std::int32_t flags = reader_.number(0, 8);
    kernel_.may_stop = (flags & 1) != 0;
    kernel_.from_own_cache = (flags & 2) != 0;
    kernel_.loads_early = (flags & 4) != 0;
    types(kernel_.values);
    types(kernel_.locals);
    kernel_.code = block(0);
    if (reader_.has_failed()) return std::nullopt;
    return std::move(kernel_);
  }

 private:
  void types(std::vector<DType>& list) {
    list.resize(reader_.count());
    for (DType& dtype : list) dtype = reader_.dtype();
  }
  ValueId value() {
    return reader_.number(no_value, static_cast<std::int64_t>(kernel_.values.size()));
  }

  Block block(int depth) {
    Block instructions(depth < deepest ? reader_.count() : 0);
    for (Instr& instr : instructions) {
      if (reader_.has_failed()) break;
      instruction(instr, depth);
    }
    return instructions;
  }

  void instruction(Instr& instr, int depth) {
    const std::int32_t head = reader_.number(0, std::int64_t{128} << 24);
    const int kind = head & 0xff, op = head >> 8 & 0xff, math = head >> 16 & 0xff,
              flags = head >> 24;
    is_valid(kind <= static_cast<int>(InstrKind::While) && op < op_count &&
             math < math_library_count);
    instr.kind = static_cast<InstrKind>(kind);
    instr.op = static_cast<Op>(op);
    instr.math = static_cast<MathLibrary>(math);
    instr.parallel = (flags & 1) != 0;
    instr.vector = (flags & 2) != 0;
    instr.streaming = (flags & 4) != 0;
    instr.tree = (flags & 8) != 0;
    instr.repeats = (flags & 16) != 0;
    instr.fails = (flags & 32) != 0;
    instr.quiet = (flags & 64) != 0;
    instr.result = value();
    for (ValueId& argument : instr.args) argument = value();
    instr.number = reader_.word();
    instr.address.operand = reader_.word();
    const bool is_constant = instr.kind == InstrKind::Constant;
    is_valid(!(is_constant || instr.kind == InstrKind::Cast) || instr.result != no_value);
    if (is_constant) constant(instr);
    if (instr.kind == InstrKind::While) instr.rounds = reader_.number(0, INT32_MAX);
    terms(instr.address);
    instr.reductions.resize(reader_.count());
    for (Reduction& reduction : instr.reductions) {
      reduction.op = static_cast<Op>(reader_.number(0, op_count));
      reduction.value = value();
      reduction.local = reader_.word();
    }
    instr.fetches.resize(reader_.count());
    for (Fetch& fetch : instr.fetches) {
      fetch.elements = reader_.word();
      fetch.for_stores = reader_.number(0, 2) != 0;
      fetch.address.operand = reader_.word();
      terms(fetch.address);
    }
    instr.body = block(depth + 1);
    instr.other = block(depth + 1);
  }

  void terms(Address& address) {
    address.terms.resize(reader_.count());
    for (Term& term : address.terms) {
      term.index = value();
      term.stride = reader_.word();
    }
  }

  void constant(Instr& instr) {
    std::int32_t words[4];
    static_assert(sizeof words == sizeof instr.constant.bytes);
    for (std::int32_t& word : words) word = reader_.word();
    std::memcpy(instr.constant.bytes, words, sizeof words);
    if (!reader_.has_failed())
      instr.constant.dtype = kernel_.values[static_cast<std::size_t>(instr.result)];
  }
  void is_valid(bool holds) {
    if (!holds) reader_.fail();
  }

  WordReader& reader_;
  Kernel kernel_;
};

}  // namespace

WordReader::WordReader(std::string_view bytes) : words_(bytes.size() / sizeof(std::int32_t)) {
  has_failed_ = bytes.size() % sizeof(std::int32_t) != 0;
  if (!words_.empty()) std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof words_[0]);
}

std::int32_t WordReader::word() {
  if (!has_failed_ && at_ < words_.size()) return words_[at_++];
  has_failed_ = true;
  return 0;
}

std::int64_t WordReader::long_word() {
  const auto low = static_cast<std::uint32_t>(word());
  return static_cast<std::int64_t>(word()) << 32 | low;
}

std::int32_t WordReader::number(std::int64_t least, std::int64_t end) {
  const std::int32_t found = word();
  if (found < least || found >= end) has_failed_ = true;
  return has_failed_ ? 0 : found;
}

std::size_t WordReader::count() {
  return static_cast<std::size_t>(number(0, static_cast<std::int64_t>(words_.size() - at_) + 1));
}

std::optional<Kernel> deserialize(WordReader& reader) { return Deserializer(reader).run(); }

}  // namespace frit
