// loops_place.cpp: loops that find where numbers lie: in which bin along a line, or within bounds.
//
// Compiled by clang once for each instruction set, FRIT_LEVEL naming it.
#include "ops/loops.h"
#include "ops/rows.h"

namespace frit {
namespace {

#define FRIT_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")

template <class T>
bool find_bins(const void* numbers, int64 n, const BinLine& line, int* bins) {
  const T first = (T)line.first, last = (T)line.last, scale = (T)line.scale;
  const T low = (T)line.doubt, high = (T)(1 - line.doubt), most = (T)line.count;
  const int outside = line.count;
  const T* const from = (const T*)numbers;
  int doubts = 0;
  FRIT_VECTORIZE
  for (int64 k = 0; k < n; ++k) {
    const T x = from[k], at = (x - first) * scale;
    const T above = at > 0 ? at : 0, clamped = above < most ? above : most;  // no NaN
    const int guess = (int)clamped;
    const T behind = clamped - (T)guess;
    const bool is_inside = (x >= first) & (x <= last),
               is_doubted = is_inside & ((behind <= low) | (behind >= high));
    const int bin = is_inside ? guess : outside;
    bins[k] = is_doubted ? -1 - guess : bin;
    doubts |= is_doubted;
  }
  return doubts != 0;
}

// A counter as wide as the elements.
template <int bytes>
struct CounterOf {
  using type = int64;
};
template <>
struct CounterOf<4> {
  using type = int;
};

template <class T>
PlacesBetween find_between(const void* numbers, int64 n, const void* low, const void* high,
                           uint8* within) {
  using Counter = typename CounterOf<sizeof(T)>::type;
  const T least = *(const T*)low, greatest = *(const T*)high;
  const T* const from = (const T*)numbers;
  Counter below = 0, between = 0, unordered = 0;
  FRIT_VECTORIZE
  for (int64 k = 0; k < n; ++k) {
    const T x = from[k];
    const bool is_between = (x >= least) & (x <= greatest);
    below += x < least;
    between += is_between;
    unordered += x != x;
    within[k] = is_between;
  }
  return {below, between, unordered};
}

#define FRIT_JOIN(a, b) a##b
#define FRIT_AT_LEVEL(name, level) FRIT_JOIN(name, level)

}  // namespace

void FRIT_AT_LEVEL(fill_places_, FRIT_LEVEL)(LoopTable& table) {
  table.bins[(int)DType::Float64] = find_bins<double>;
  table.bins[(int)DType::Float32] = find_bins<float>;
  table.between[(int)DType::Float64] = find_between<double>;
  table.between[(int)DType::Float32] = find_between<float>;
  table.between[(int)DType::Int64] = find_between<int64>;
  table.between[(int)DType::Int32] = find_between<int>;
}

}  // namespace frit
