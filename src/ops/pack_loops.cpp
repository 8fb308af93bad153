// pack_loops.cpp: by the compress and expand instructions of AVX-512.
#include "ops/pack_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define FRIT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))
#endif

namespace frit {
namespace {

#if defined(__x86_64__)

// A compressed vector goes through a register: on some processors storing it directly takes some
// hundred cycles. Stores are masked, as the next elements may be another thread's.
FRIT_AVX512 std::int64_t pack4(void* dense, const void* elements, const std::uint8_t* mask,
                               std::int64_t n) {
  auto* to = static_cast<std::int32_t*>(dense);
  const auto* from = static_cast<const std::int32_t*>(elements);
  for (std::int64_t k = 0; k < n; k += 16) {
    const auto inside = static_cast<__mmask16>(n - k >= 16 ? 0xFFFF : (1u << (n - k)) - 1);
    const __m128i bytes = _mm_maskz_loadu_epi8(inside, mask + k);
    const __mmask16 chosen = _mm_test_epi8_mask(bytes, bytes);
    const __m512i packed =
        _mm512_maskz_compress_epi32(chosen, _mm512_maskz_loadu_epi32(inside, from + k));
    const int count = _mm_popcnt_u32(chosen);
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << count) - 1), packed);
    to += count;
  }
  return to - static_cast<std::int32_t*>(dense);
}

FRIT_AVX512 std::int64_t pack8(void* dense, const void* elements, const std::uint8_t* mask,
                               std::int64_t n) {
  auto* to = static_cast<std::int64_t*>(dense);
  const auto* from = static_cast<const std::int64_t*>(elements);
  for (std::int64_t k = 0; k < n; k += 8) {
    const auto inside = static_cast<__mmask8>(n - k >= 8 ? 0xFF : (1u << (n - k)) - 1);
    const __m128i bytes = _mm_maskz_loadu_epi8(inside, mask + k);
    const auto chosen = static_cast<__mmask8>(_mm_test_epi8_mask(bytes, bytes));
    const __m512i packed =
        _mm512_maskz_compress_epi64(chosen, _mm512_maskz_loadu_epi64(inside, from + k));
    const int count = _mm_popcnt_u32(chosen);
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1u << count) - 1), packed);
    to += count;
  }
  return to - static_cast<std::int64_t*>(dense);
}

FRIT_AVX512 std::int64_t unpack4(void* elements, const void* dense, const std::uint8_t* mask,
                                 std::int64_t n) {
  auto* to = static_cast<std::int32_t*>(elements);
  const auto* from = static_cast<const std::int32_t*>(dense);
  for (std::int64_t k = 0; k < n; k += 16) {
    const auto inside = static_cast<__mmask16>(n - k >= 16 ? 0xFFFF : (1u << (n - k)) - 1);
    const __m128i bytes = _mm_maskz_loadu_epi8(inside, mask + k);
    const __mmask16 chosen = _mm_test_epi8_mask(bytes, bytes);
    const int count = _mm_popcnt_u32(chosen);
    const __m512i packed =
        _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), from);
    _mm512_mask_storeu_epi32(to + k, chosen, _mm512_maskz_expand_epi32(chosen, packed));
    from += count;
  }
  return from - static_cast<const std::int32_t*>(dense);
}

FRIT_AVX512 std::int64_t unpack8(void* elements, const void* dense, const std::uint8_t* mask,
                                 std::int64_t n) {
  auto* to = static_cast<std::int64_t*>(elements);
  const auto* from = static_cast<const std::int64_t*>(dense);
  for (std::int64_t k = 0; k < n; k += 8) {
    const auto inside = static_cast<__mmask8>(n - k >= 8 ? 0xFF : (1u << (n - k)) - 1);
    const __m128i bytes = _mm_maskz_loadu_epi8(inside, mask + k);
    const auto chosen = static_cast<__mmask8>(_mm_test_epi8_mask(bytes, bytes));
    const int count = _mm_popcnt_u32(chosen);
    const __m512i packed = _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1), from);
    _mm512_mask_storeu_epi64(to + k, chosen, _mm512_maskz_expand_epi64(chosen, packed));
    from += count;
  }
  return from - static_cast<const std::int64_t*>(dense);
}

#endif

}  // namespace

PackLoops pack_loops(int item_size) {
#if defined(__x86_64__)
  static const bool has_avx512 = __builtin_cpu_supports("x86-64-v4");
  if (has_avx512 && item_size == 4) return {pack4, unpack4};
  if (has_avx512 && item_size == 8) return {pack8, unpack8};
#endif
  static_cast<void>(item_size);
  return {};
}

}  // namespace frit
