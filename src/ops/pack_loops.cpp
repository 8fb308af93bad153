// pack_loops.cpp: by the compress and expand instructions of AVX-512; places by AVX2 too.
#include "ops/pack_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "ops/level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define FRIT_AVX2 __attribute__((target("avx2,popcnt")))
#define FRIT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))
#endif

namespace frit {
namespace {

#if defined(__x86_64__)

// A vector of elements, of which a mask has a bit each.
struct Vector4 {
  using Element = std::int32_t;
  using Bits = __mmask16;
  FRIT_AVX512 static __m512i load(Bits bits, const Element* from) {
    return _mm512_maskz_loadu_epi32(bits, from);
  }
  FRIT_AVX512 static void store(Element* to, Bits bits, __m512i elements) {
    _mm512_mask_storeu_epi32(to, bits, elements);
  }
  FRIT_AVX512 static __m512i compress(Bits bits, __m512i elements) {
    return _mm512_maskz_compress_epi32(bits, elements);
  }
  FRIT_AVX512 static __m512i expand(Bits bits, __m512i elements) {
    return _mm512_maskz_expand_epi32(bits, elements);
  }
};

struct Vector8 {
  using Element = std::int64_t;
  using Bits = __mmask8;
  FRIT_AVX512 static __m512i load(Bits bits, const Element* from) {
    return _mm512_maskz_loadu_epi64(bits, from);
  }
  FRIT_AVX512 static void store(Element* to, Bits bits, __m512i elements) {
    _mm512_mask_storeu_epi64(to, bits, elements);
  }
  FRIT_AVX512 static __m512i compress(Bits bits, __m512i elements) {
    return _mm512_maskz_compress_epi64(bits, elements);
  }
  FRIT_AVX512 static __m512i expand(Bits bits, __m512i elements) {
    return _mm512_maskz_expand_epi64(bits, elements);
  }
};

template <class Vector>
constexpr std::int64_t lanes = 64 / sizeof(typename Vector::Element);

template <class Vector>
typename Vector::Bits first_lanes(std::int64_t count) {
  return static_cast<typename Vector::Bits>((1u << count) - 1);
}

constexpr std::int64_t several = 64;  // elements, whose mask is a vector

// Which of the next elements are true.
FRIT_AVX512 std::uint64_t bits_at(const std::uint8_t* mask, std::int64_t left) {
  const __mmask64 inside = left >= several ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
  const __m512i bytes = _mm512_maskz_loadu_epi8(inside, mask);
  return _mm512_test_epi8_mask(bytes, bytes);
}

constexpr int few = 4;  // of them: one by one they take no longer than by vectors

// For each of `n` elements that is true, one(number); for vectors with many of them, where the
// first of them is, and their bits: all(number, bits). Where none is true nothing is touched.
template <class Vector, class One, class All>
FRIT_AVX512 inline void for_true(const std::uint8_t* mask, std::int64_t n, One&& one, All&& all) {
  for (std::int64_t k = 0; k < n; k += several) {
    std::uint64_t bits = bits_at(mask + k, n - k);
    if (_mm_popcnt_u64(bits) <= few) {
      for (; bits != 0; bits &= bits - 1) one(k + std::countr_zero(bits));
      continue;
    }
    for (std::int64_t j = k; bits != 0; j += lanes<Vector>, bits >>= lanes<Vector>)
      all(j, static_cast<typename Vector::Bits>(bits));
  }
}

// A compressed vector goes through a register: on some processors storing it directly takes some
// hundred cycles. Stores are masked, as the next elements may be another thread's.
template <class Vector>
FRIT_AVX512 std::int64_t pack(void* dense, const void* elements, const std::uint8_t* mask,
                              std::int64_t n) {
  auto* to = static_cast<typename Vector::Element*>(dense);
  const auto* from = static_cast<const typename Vector::Element*>(elements);
  std::int64_t count = 0;
  for_true<Vector>(
      mask, n, [&](std::int64_t k) { to[count++] = from[k]; },
      [&](std::int64_t k, typename Vector::Bits bits) FRIT_AVX512 {
        const int chosen = _mm_popcnt_u32(bits);
        Vector::store(to + count, first_lanes<Vector>(chosen),
                      Vector::compress(bits, Vector::load(bits, from + k)));
        count += chosen;
      });
  return count;
}

template <class Vector>
FRIT_AVX512 std::int64_t unpack(void* elements, const void* dense, const std::uint8_t* mask,
                                std::int64_t n) {
  auto* to = static_cast<typename Vector::Element*>(elements);
  const auto* from = static_cast<const typename Vector::Element*>(dense);
  std::int64_t count = 0;
  for_true<Vector>(
      mask, n, [&](std::int64_t k) { to[k] = from[count++]; },
      [&](std::int64_t k, typename Vector::Bits bits) FRIT_AVX512 {
        const int chosen = _mm_popcnt_u32(bits);
        const __m512i packed = Vector::load(first_lanes<Vector>(chosen), from + count);
        Vector::store(to + k, bits, Vector::expand(bits, packed));
        count += chosen;
      });
  return count;
}

FRIT_AVX512 std::int64_t write_places(std::int64_t* places, const std::uint8_t* mask,
                                      std::int64_t n, std::int64_t first, std::int64_t) {
  std::int64_t count = 0;
  for_true<Vector8>(
      mask, n, [&](std::int64_t k) { places[count++] = first + k; },
      [&](std::int64_t k, __mmask8 bits) FRIT_AVX512 {
        const int chosen = _mm_popcnt_u32(bits);
        const __m512i numbers = _mm512_add_epi64(_mm512_set1_epi64(first + k),
                                                 _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
        Vector8::store(places + count, first_lanes<Vector8>(chosen),
                       Vector8::compress(bits, numbers));
        count += chosen;
      });
  return count;
}

// For each eight bits, the numbers of those that are set, a byte each.
constexpr std::array<std::uint64_t, 256> places_of_bits = [] {
  std::array<std::uint64_t, 256> table{};
  for (std::size_t bits = 0; bits < table.size(); ++bits)
    for (std::uint64_t place = 0, shift = 0; place < 8; ++place)
      if (bits >> place & 1) {
        table[bits] |= place << shift;
        shift += 8;
      }
  return table;
}();

// Those of eight bits; under a mask where fewer than eight are left, as the memory behind them is
// another thread's.
FRIT_AVX2 void store_places(std::int64_t* to, std::uint64_t numbers, std::int64_t first,
                            std::int64_t left) {
  const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(numbers));
  const __m256i start = _mm256_set1_epi64x(first);
  const __m256i low = _mm256_add_epi64(start, _mm256_cvtepu8_epi64(bytes));
  const __m256i high = _mm256_add_epi64(start, _mm256_cvtepu8_epi64(_mm_srli_si128(bytes, 4)));
  if (left >= 8) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4), high);
    return;
  }
  auto* const words = reinterpret_cast<long long*>(to);
  const __m256i end = _mm256_set1_epi64x(left);
  _mm256_maskstore_epi64(words, _mm256_cmpgt_epi64(end, _mm256_set_epi64x(3, 2, 1, 0)), low);
  _mm256_maskstore_epi64(words + 4, _mm256_cmpgt_epi64(end, _mm256_set_epi64x(7, 6, 5, 4)), high);
}

FRIT_AVX2 std::int64_t write_places_by_table(std::int64_t* places, const std::uint8_t* mask,
                                             std::int64_t n, std::int64_t first,
                                             std::int64_t count) {
  constexpr std::int64_t at_once = 32;
  std::int64_t done = 0, k = 0;
  for (; k + at_once <= n && done < count; k += at_once) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask + k));
    const __m256i zeros = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
    unsigned bits = ~static_cast<unsigned>(_mm256_movemask_epi8(zeros));
    for (std::int64_t j = 0; bits != 0; j += 8, bits >>= 8) {
      store_places(places + done, places_of_bits[bits & 255], first + k + j, count - done);
      done += _mm_popcnt_u32(bits & 255);
    }
  }
  for (; k < n && done < count; ++k)
    if (mask[k]) places[done++] = first + k;
  return done;
}

bool has_avx512() {
  static const bool has = cpu_level() == "v4";
  return has;
}

#endif

}  // namespace

PackLoops pack_loops(int item_size) {
#if defined(__x86_64__)
  if (has_avx512() && item_size == 4) return {pack<Vector4>, unpack<Vector4>};
  if (has_avx512() && item_size == 8) return {pack<Vector8>, unpack<Vector8>};
#endif
  static_cast<void>(item_size);
  return {};
}

PlacesLoop places_loop() {
#if defined(__x86_64__)
  if (has_avx512()) return write_places;
  if (cpu_level() == "v3") return write_places_by_table;
#endif
  return nullptr;
}

}  // namespace frit
