// nest_edit.h: instructions that are added to a Routine, in front of others or behind them.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/routine.h"

namespace frit {

inline ValueId new_value(Routine& routine, DType dtype) {
  routine.body.values.push_back(dtype);
  return static_cast<ValueId>(routine.body.values.size() - 1);
}

inline Instr read_of(Routine& routine, std::int32_t local) {
  Instr read;
  read.kind = InstrKind::ReadLocal;
  read.number = local;
  read.result = new_value(routine, routine.body.locals[static_cast<std::size_t>(local)]);
  return read;
}

inline Instr write_of(std::int32_t local, ValueId value) {
  Instr write;
  write.kind = InstrKind::WriteLocal;
  write.number = local;
  write.args[0] = value;
  return write;
}

inline ValueId add_zero(Routine& routine, DType dtype, Block& to) {
  Instr zero;
  zero.kind = InstrKind::Constant;
  zero.constant.dtype = dtype;
  zero.result = new_value(routine, dtype);
  to.push_back(std::move(zero));
  return to.back().result;
}

inline ValueId add_apply(Routine& routine, Op op, DType result, ValueId a, ValueId b, Block& to) {
  Instr instr;
  instr.kind = InstrKind::Apply;
  instr.op = op;
  instr.args[0] = a;
  instr.args[1] = b;
  instr.result = new_value(routine, result);
  to.push_back(std::move(instr));
  return to.back().result;
}

// edit(instr, before, behind) of all, those inside of an instruction first.
template <class Edit>
void edit_block(Block& instructions, const Edit& edit) {
  Block to;
  for (Instr& instr : instructions) {
    edit_block(instr.body, edit);
    edit_block(instr.other, edit);
    Block before, behind;
    edit(instr, before, behind);
    std::ranges::move(before, std::back_inserter(to));
    to.push_back(std::move(instr));
    std::ranges::move(behind, std::back_inserter(to));
  }
  instructions = std::move(to);
}

}  // namespace frit
