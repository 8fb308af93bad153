// emit_neighbours.cpp: loads of elements that lie near one another, in whole registers.
//
// A stencil along a row loads x[j - 1], x[j] and x[j + 1]: vectors of which most lie across two
// lines of the cache, where those are as long as a register (AVX-512). Each takes two of the loads
// that a cycle has, waits for two lines that come from memory, and for stores on their way to the
// same places of other pages. So such loads share registers: the lowest one's are loaded, and what
// lies behind them under a mask; the others are made of two neighbouring registers each, by one
// instruction.
#include <algorithm>
#include <optional>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "codegen/emitter.h"

namespace frit::codegen {

using namespace llvm;

namespace {

constexpr unsigned line_bytes = 64;
constexpr std::size_t fewest_loads = 3;  // that are worth it

}  // namespace

// If the index is the loop's own and a number: that.
std::optional<std::int64_t> Emitter::distance_from(const Instr& loop, ValueId index) {
  if (index == loop.result) return 0;
  const Instr* sum = definition_in(loop.body, index);
  if (!sum || sum->kind != InstrKind::Apply || (sum->op != Op::Add && sum->op != Op::Subtract))
    return std::nullopt;
  const auto number = [&](ValueId id) -> std::optional<std::int64_t> {
    if (definition_in(loop.body, id) || id == loop.result) return std::nullopt;
    const auto* literal = dyn_cast_or_null<ConstantInt>(value(id).part[0].scalar);
    return literal ? std::optional(literal->getSExtValue()) : std::nullopt;
  };
  const bool adds = sum->op == Op::Add;
  for (const int k : {0, 1}) {
    if (k == 1 && !adds) break;
    const auto own = distance_from(loop, sum->args[k]);
    const auto other = number(sum->args[1 - k]);
    if (own && other && std::abs(*other) <= line_bytes && std::abs(*own) <= line_bytes)
      return adds ? *own + *other : *own - *other;
  }
  return std::nullopt;
}

// Those of one iteration between which nothing is stored.
void Emitter::find_neighbours(const Instr& loop) {
  neighbours_.clear();
  neighbour_groups_.clear();
  if (!machine_.has_fast_shuffles || lanes_ == 1 || count_ || mask_) return;
  std::size_t open = 0;  // groups from here on may still grow
  for (const Instr& instr : loop.body) {
    if (instr.kind == InstrKind::Store || !instr.body.empty() || !instr.other.empty())
      open = neighbour_groups_.size();
    if (instr.kind != InstrKind::Load) continue;
    const DType dtype = dtype_of(instr.result);
    const auto per_register = line_bytes / static_cast<unsigned>(size_of(dtype));
    if (is_complex(dtype) || size_of(dtype) < 4 || lanes_ % per_register != 0) continue;
    const Operand& operand = kernel_.operands[static_cast<std::size_t>(instr.address.operand)];
    Address key = instr.address;
    if (operand.beside >= 0) key.operand = operand.beside;
    std::optional<std::int64_t> offset;
    for (Term& term : key.terms) {
      const auto own = distance_from(loop, term.index);
      if (!own) continue;
      offset = term.stride == unit_stride && !offset ? own : std::nullopt;
      term.index = loop.result;
      if (!offset) break;
    }
    const bool varies = any_of(key.terms, [&](const Term& term) {
      return term.index != loop.result && is_varying(term.index);
    });
    if (!offset || varies) continue;
    if (operand.beside >= 0) *offset += operand.distance;
    const auto begin = neighbour_groups_.begin() + static_cast<std::ptrdiff_t>(open);
    auto group = std::find_if(begin, neighbour_groups_.end(), [&](const NeighbourGroup& g) {
      return g.address == key &&
             std::max(g.high, *offset) - std::min(g.low, *offset) < std::int64_t{per_register};
    });
    if (group == neighbour_groups_.end()) {
      neighbour_groups_.push_back({.address = key, .low = *offset, .high = *offset});
      group = neighbour_groups_.end() - 1;
    }
    group->low = std::min(group->low, *offset);
    group->high = std::max(group->high, *offset);
    group->offsets.insert(*offset);
    neighbours_[&instr] = {static_cast<std::size_t>(group - neighbour_groups_.begin()), *offset};
  }
  erase_neighbours_of_few();
}

void Emitter::erase_neighbours_of_few() {
  for (auto it = neighbours_.begin(); it != neighbours_.end();)
    it = neighbour_groups_[it->second.group].offsets.size() < fewest_loads ? neighbours_.erase(it)
                                                                           : std::next(it);
}

// Freezing keeps LLVM from making one load across two lines of two registers again.
void Emitter::load_group(NeighbourGroup& group, DType dtype, Value* first) {
  Type* element = element_type(dtype);
  const auto per_register = line_bytes / static_cast<unsigned>(size_of(dtype));
  Type* type = lanes_type(element, per_register);
  const auto place = [&](unsigned k) {
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), first, std::int64_t{k} * line_bytes);
  };
  unsigned k = 0;
  for (; k < lanes_ / per_register; ++k)
    group.registers.push_back(
        builder_.CreateFreeze(builder_.CreateAlignedLoad(type, place(k), Align())));
  SmallVector<Constant*, 16> mask;
  for (unsigned lane = 0; lane < per_register; ++lane)
    mask.push_back(builder_.getInt1(std::int64_t{lane} < group.high - group.low));
  group.registers.push_back(builder_.CreateFreeze(builder_.CreateMaskedLoad(
      type, place(k), Align(), ConstantVector::get(mask), Constant::getNullValue(type))));
}

Emitted Emitter::load_neighbour(const Neighbour& neighbour, DType dtype, Value* pointer) {
  NeighbourGroup& group = neighbour_groups_[neighbour.group];
  const auto shift = static_cast<int>(neighbour.offset - group.low);
  if (group.registers.empty())
    load_group(group, dtype,
               builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer,
                                           -std::int64_t{shift} * size_of(dtype)));
  const auto per_register = static_cast<int>(line_bytes) / size_of(dtype);
  SmallVector<int, 16> own;
  for (int lane = 0; lane < per_register; ++lane) own.push_back(lane + shift);
  SmallVector<Value*, 8> made;
  for (std::size_t k = 0; k + 1 < group.registers.size(); ++k) {
    Value *low = group.registers[k], *high = group.registers[k + 1];
    made.push_back(shift == 0 ? low : builder_.CreateShuffleVector(low, high, own));
  }
  Emitted result{.level = level()};
  result.part[0].vector = made.size() == 1 ? made[0] : concatenated(made);
  return result;
}

// Of vectors of one length, a power of two of them.
Value* Emitter::concatenated(ArrayRef<Value*> vectors) {
  if (vectors.size() == 1) return vectors[0];
  const std::size_t half = vectors.size() / 2;
  Value *low = concatenated(vectors.take_front(half)),
        *high = concatenated(vectors.drop_front(half));
  const auto* type = llvm::cast<FixedVectorType>(low->getType());
  SmallVector<int, 64> lanes;
  for (unsigned lane = 0; lane < 2 * type->getNumElements(); ++lane)
    lanes.push_back(static_cast<int>(lane));
  return builder_.CreateShuffleVector(low, high, lanes);
}

}  // namespace frit::codegen
