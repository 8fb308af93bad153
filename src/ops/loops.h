// loops.h: tables of the ready-made loops of one instruction set; ops.cpp picks one.
#pragma once

#include "ops/ops.h"

namespace frit {

// One after another: the element with index k is op(itself, values[k * step]). An index counts
// strides of so many bytes; those below 0 count from `extent`; all lie inside. Not of complex
// numbers.
using UpdateLoop = void (*)(void* elements, std::int64_t extent, std::int64_t stride,
                            const std::int64_t* indices, const void* values, std::int64_t step,
                            std::int64_t n);
UpdateLoop update_loop(Op op, DType dtype);

// Which of n > 0 elements is the first of the greatest (Maximum) or least (Minimum); where there is
// a NaN, the first NaN.
using ExtremeLoop = std::int64_t (*)(const void* in, std::int64_t n);
ExtremeLoop extreme_loop(Op op, DType dtype);

// The same of `count` columns that lie side by side: `stride` bytes from row to row of n > 0, below
// 2^31. None where it is no better than the loop above.
using ExtremeColumnsLoop = void (*)(const void* in, std::int64_t n, std::int64_t stride,
                                    std::int64_t count, std::int64_t* places);
ExtremeColumnsLoop extreme_columns_loop(Op op, DType dtype);

// The least and the greatest of n > 0 integers. What leaves int64 comes out below 0.
struct Extremes {
  std::int64_t least, greatest;
};
using RangeLoop = Extremes (*)(const void* in, std::int64_t n);
RangeLoop range_loop(DType dtype);

// How many of n bytes are not 0.
using CountLoop = std::int64_t (*)(const void* in, std::int64_t n);
CountLoop count_true_loop();

// Bins whose edges lie along a line, to `doubt` of a bin.
struct BinLine {
  double first, last;  // edges: exact in the numbers' type, as the others are
  double scale;        // bins / (last - first)
  double doubt;
  std::int32_t count;
};
// The bin of each number; `count`: it lies outside or is NaN; -1 - k: k or one beside it, as the
// edges say. True where there is one of the last kind. Of float64 and float32.
using BinLoop = bool (*)(const void* numbers, std::int64_t n, const BinLine& line,
                         std::int32_t* bins);
BinLoop bin_loop(DType dtype);

// How many of n < 2^31 numbers are below `low`, how many from there to `high`, for which `within`
// is 1, else 0, and how many are NaN. Of float64, float32, int64 and int32.
struct PlacesBetween {
  std::int64_t below, between, unordered;
};
using BetweenLoop = PlacesBetween (*)(const void* numbers, std::int64_t n, const void* low,
                                      const void* high, std::uint8_t* within);
BetweenLoop between_loop(DType dtype);

inline constexpr int move_sizes = 5;  // 1, 2, 4, 8 and 16 bytes

struct LoopTable {
  Loop elementwise[op_count][dtype_count] = {};
  ChainLoops chains[op_count][dtype_count] = {};
  Loop casts[dtype_count][dtype_count] = {};
  ReduceLoop reductions[op_count][dtype_count] = {};
  ScanLoop scans[op_count][dtype_count] = {};
  UpdateLoop updates[op_count][dtype_count] = {};
  ExtremeLoop greatest[dtype_count] = {}, least[dtype_count] = {};
  RangeLoop ranges[dtype_count] = {};
  ExtremeColumnsLoop greatest_columns[dtype_count] = {}, least_columns[dtype_count] = {};
  CountLoop count_true = nullptr;
  BinLoop bins[dtype_count] = {};
  BetweenLoop between[dtype_count] = {};
  MoveLoops moves[move_sizes];
  CountUpLoop count_up = nullptr;
};

#define FRIT_DECLARE_LEVEL(level)                 \
  void fill_plain_##level(LoopTable& table);      \
  void fill_costly_##level(LoopTable& table);     \
  void fill_reductions_##level(LoopTable& table); \
  void fill_moves_##level(LoopTable& table);      \
  void fill_places_##level(LoopTable& table);
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
