// loops.h: tables of the ready-made loops of one instruction set; ops.cpp picks one.
#pragma once

#include "ops/ops.h"

namespace frit {

struct LoopTable {
  Loop elementwise[op_count][dtype_count] = {};
  Loop casts[dtype_count][dtype_count] = {};
  ReduceLoop reductions[op_count][dtype_count] = {};
  ScanLoop scans[op_count][dtype_count] = {};
};

#define FRIT_DECLARE_LEVEL(level)             \
  void fill_plain_##level(LoopTable& table);  \
  void fill_costly_##level(LoopTable& table); \
  void fill_reductions_##level(LoopTable& table);
#if defined(__x86_64__)
FRIT_DECLARE_LEVEL(v2)
FRIT_DECLARE_LEVEL(v3)
FRIT_DECLARE_LEVEL(v4)
#else
FRIT_DECLARE_LEVEL(base)
#endif
#undef FRIT_DECLARE_LEVEL

// The loops of one level; nullptr where this machine cannot run it.
const LoopTable* loops_of(std::string_view level);

}  // namespace frit
