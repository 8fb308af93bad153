// loops_move.cpp: loops that copy, fill and count, for elements that may lie at any address.
//
// Compiled by clang once for each instruction set, FRIT_LEVEL naming it.
#include "ops/loops.h"
#include "ops/rows.h"

namespace frit {
namespace {

// Source and target are no part of one another.
#define FRIT_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")

// What stands for an element of so many bytes.
template <int bytes>
struct Raw;
#define FRIT_RAW(bytes, Type)                                 \
  template <>                                                 \
  struct Raw<bytes> {                                         \
    typedef Type type __attribute__((aligned(1), may_alias)); \
  };
FRIT_RAW(1, uint8)
FRIT_RAW(2, uint16)
FRIT_RAW(4, uint32)
FRIT_RAW(8, uint64)
#undef FRIT_RAW
template <>
struct Raw<16> {
  typedef uint64 type __attribute__((ext_vector_type(2), aligned(1), may_alias));
};

template <int bytes>
struct Copy {
  using T = typename Raw<bytes>::type;

  // A distance that the compiler knows: backwards and every other one are loads and shuffles.
  template <int step>
  static void known(T* to, const T* from, int64 n) {
    FRIT_VECTORIZE
    for (int64 k = 0; k < n; ++k) to[k] = from[k * step];
  }
  // To neighbours, from any distance, several at once.
  static void gather(T* to, const char* from, int64 step, int64 n) {
    const auto at = [&](int64 k) { return *(const T*)(from + k * step); };
    int64 k = 0;
    if constexpr (bytes == 8) {
      typedef uint64 Four __attribute__((ext_vector_type(4), aligned(1), may_alias));
      for (; k + 4 <= n; k += 4) *(Four*)(to + k) = Four{at(k), at(k + 1), at(k + 2), at(k + 3)};
    } else {
      for (; k + 4 <= n; k += 4) {
        const T a = at(k), b = at(k + 1), c = at(k + 2), d = at(k + 3);
        to[k] = a;
        to[k + 1] = b;
        to[k + 2] = c;
        to[k + 3] = d;
      }
    }
    for (; k < n; ++k) to[k] = at(k);
  }

  static void any(void* to, int64 to_step, const void* from, int64 from_step, int64 n) {
    if (to_step != bytes && from_step == 0) {
      const T value = *(const T*)from;
      for (int64 k = 0; k < n; ++k) *(T*)((char*)to + k * to_step) = value;
    } else if (to_step != bytes) {
      for (int64 k = 0; k < n; ++k)
        *(T*)((char*)to + k * to_step) = *(const T*)((const char*)from + k * from_step);
    } else if (from_step == 2 * bytes) {
      known<2>((T*)to, (const T*)from, n);
    } else if (from_step == -bytes) {
      known<-1>((T*)to, (const T*)from, n);
    } else {
      gather((T*)to, (const char*)from, from_step, n);
    }
  }
};

template <int bytes>
void fill(void* to, const void* from, int64 n) {
  using T = typename Raw<bytes>::type;
  const T value = *(const T*)from;
  auto* elements = (T*)to;
  FRIT_VECTORIZE
  for (int64 k = 0; k < n; ++k) elements[k] = value;
}

void count_up(int64* to, int64 first, int64 n) {
  FRIT_VECTORIZE
  for (int64 k = 0; k < n; ++k) to[k] = first + k;
}

template <int bytes>
constexpr MoveLoops move_loops_of = {Copy<bytes>::any, fill<bytes>};

#define FRIT_JOIN(a, b) a##b
#define FRIT_AT_LEVEL(name, level) FRIT_JOIN(name, level)

}  // namespace

void FRIT_AT_LEVEL(fill_moves_, FRIT_LEVEL)(LoopTable& table) {
  table.moves[0] = move_loops_of<1>;
  table.moves[1] = move_loops_of<2>;
  table.moves[2] = move_loops_of<4>;
  table.moves[3] = move_loops_of<8>;
  table.moves[4] = move_loops_of<16>;
  table.count_up = count_up;
}

}  // namespace frit
