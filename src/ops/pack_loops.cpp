// pack_loops.cpp: by the compress and expand instructions of AVX-512.
#include "ops/pack_loops.h"

#include <algorithm>

#include "ops/level.h"

#if defined(__x86_64__)
#include <immintrin.h>
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

// The elements of this vector that are there, and of those the ones that are true.
template <class Vector>
struct Chosen {
  typename Vector::Bits inside, bits;
  int count;
  FRIT_AVX512 Chosen(const std::uint8_t* mask, std::int64_t left)
      : inside(first_lanes<Vector>(std::min(left, lanes<Vector>))) {
    const __m128i bytes = _mm_maskz_loadu_epi8(inside, mask);
    bits = static_cast<typename Vector::Bits>(_mm_test_epi8_mask(bytes, bytes));
    count = _mm_popcnt_u32(bits);
  }
};

// A compressed vector goes through a register: on some processors storing it directly takes some
// hundred cycles. Stores are masked, as the next elements may be another thread's.
template <class Vector>
FRIT_AVX512 std::int64_t pack(void* dense, const void* elements, const std::uint8_t* mask,
                              std::int64_t n) {
  auto* to = static_cast<typename Vector::Element*>(dense);
  const auto* from = static_cast<const typename Vector::Element*>(elements);
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < n; k += lanes<Vector>) {
    const Chosen<Vector> chosen(mask + k, n - k);
    Vector::store(to + count, first_lanes<Vector>(chosen.count),
                  Vector::compress(chosen.bits, Vector::load(chosen.inside, from + k)));
    count += chosen.count;
  }
  return count;
}

template <class Vector>
FRIT_AVX512 std::int64_t unpack(void* elements, const void* dense, const std::uint8_t* mask,
                                std::int64_t n) {
  auto* to = static_cast<typename Vector::Element*>(elements);
  const auto* from = static_cast<const typename Vector::Element*>(dense);
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < n; k += lanes<Vector>) {
    const Chosen<Vector> chosen(mask + k, n - k);
    const __m512i packed = Vector::load(first_lanes<Vector>(chosen.count), from + count);
    Vector::store(to + k, chosen.bits, Vector::expand(chosen.bits, packed));
    count += chosen.count;
  }
  return count;
}

FRIT_AVX512 std::int64_t write_places(std::int64_t* places, const std::uint8_t* mask,
                                      std::int64_t n, std::int64_t first) {
  __m512i place =
      _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < n; k += lanes<Vector8>) {
    const Chosen<Vector8> chosen(mask + k, n - k);
    Vector8::store(places + count, first_lanes<Vector8>(chosen.count),
                   Vector8::compress(chosen.bits, place));
    count += chosen.count;
    place = _mm512_add_epi64(place, _mm512_set1_epi64(lanes<Vector8>));
  }
  return count;
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
#endif
  return nullptr;
}

}  // namespace frit
