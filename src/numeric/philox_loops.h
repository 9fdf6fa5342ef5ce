/* Philox for many elements at a time (core/philox.h), included by a topic's loops once for each instruction set
 * (isa.h). The 32 x 32 bit products are intrinsics, because GCC makes slow 64 x 64 bit products of them. */

#ifndef WB_PHILOX_TILE
#define WB_PHILOX_TILE 16
/* Put before a loop over a tile. GCC would otherwise unroll the loop completely and then miss vectors in it. */
#if defined(__clang__)
#define WB_VECTOR_LOOP WB_PRAGMA_(clang loop unroll(disable))
#else
#define WB_VECTOR_LOOP WB_PRAGMA_(GCC unroll 1)
#endif
#endif

#if WB_VECTOR_BYTES == 64
#define WB_WORDS __m512i
#define WB_WORDS_SET(x) _mm512_set1_epi64((long long)(x))
#define WB_WORDS_MULTIPLY(a, b) _mm512_mul_epu32(a, b)
#define WB_WORDS_HIGH(a) _mm512_srli_epi64(a, 32)
#define WB_WORDS_UP(a) _mm512_slli_epi64(a, 32)
#define WB_WORDS_XOR(a, b) _mm512_xor_si512(a, b)
#define WB_WORDS_ADD(a, b) _mm512_add_epi64(a, b)
#define WB_WORDS_SERIES _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)
#define WB_WORDS_JOIN(low, high) _mm512_mask_blend_epi32(0xAAAA, low, high)
#elif WB_VECTOR_BYTES == 32
#define WB_WORDS __m256i
#define WB_WORDS_SET(x) _mm256_set1_epi64x((long long)(x))
#define WB_WORDS_MULTIPLY(a, b) _mm256_mul_epu32(a, b)
#define WB_WORDS_HIGH(a) _mm256_srli_epi64(a, 32)
#define WB_WORDS_UP(a) _mm256_slli_epi64(a, 32)
#define WB_WORDS_XOR(a, b) _mm256_xor_si256(a, b)
#define WB_WORDS_ADD(a, b) _mm256_add_epi64(a, b)
#define WB_WORDS_SERIES _mm256_set_epi64x(3, 2, 1, 0)
#define WB_WORDS_JOIN(low, high) _mm256_blend_epi32(low, high, 0xAA)
#endif

#ifdef WB_WORDS
#define WB_WORDS_LANES (WB_VECTOR_BYTES / 8)
#define WB_WORDS_STEP (2 * WB_WORDS_LANES) /* elements of two vectors, which hide the latency of a multiplication */

/* Rounds `round`..9 for two vectors of elements: keys and two words each. Products use the low half of a lane. */
WB_INLINE void WB_NAME(philox_rounds)(int round, uint32_t k0, uint32_t k1, WB_WORDS *c0, WB_WORDS *c1, WB_WORDS *c2,
                                      WB_WORDS *c3, uint64_t *first, uint64_t *second) {
  const WB_WORDS m0 = WB_WORDS_SET(0xD2511F53u), m1 = WB_WORDS_SET(0xCD9E8D57u);
  WB_UNROLL
  for (; round < 10; round++) {
    WB_UNROLL
    for (int v = 0; v < 2; v++) {
      const WB_WORDS product0 = WB_WORDS_MULTIPLY(c0[v], m0), product1 = WB_WORDS_MULTIPLY(c2[v], m1);
      c0[v] = WB_WORDS_XOR(WB_WORDS_XOR(WB_WORDS_HIGH(product1), c1[v]), WB_WORDS_SET(k0));
      c1[v] = product1;
      c2[v] = WB_WORDS_XOR(WB_WORDS_XOR(WB_WORDS_HIGH(product0), c3[v]), WB_WORDS_SET(k1));
      c3[v] = product0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  WB_UNROLL
  for (int v = 0; v < 2; v++) {
    const WB_WORDS one = WB_WORDS_JOIN(c0[v], WB_WORDS_UP(c1[v])), two = WB_WORDS_JOIN(c2[v], WB_WORDS_UP(c3[v]));
    memcpy(first + v * WB_WORDS_LANES, &one, sizeof one);
    memcpy(second + v * WB_WORDS_LANES, &two, sizeof two);
  }
}
#endif

/* One block of each of WB_PHILOX_TILE elements: block[i] of element[i], or block 0 of all if `block` is NULL. */
WB_INLINE void WB_NAME(philox_tile)(uint64_t key, uint32_t purpose, uint32_t iteration, const uint64_t *block,
                                    const uint64_t *element, uint64_t *first, uint64_t *second) {
#ifdef WB_WORDS
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += WB_WORDS_STEP) {
    WB_WORDS c0[2], c1[2], c2[2], c3[2];
    WB_UNROLL
    for (int v = 0; v < 2; v++) {
      memcpy(&c1[v], element + i + v * WB_WORDS_LANES, sizeof c1[v]);
      c0[v] = WB_WORDS_SET(0);
      if (block) memcpy(&c0[v], block + i + v * WB_WORDS_LANES, sizeof c0[v]);
      c2[v] = WB_WORDS_XOR(WB_WORDS_HIGH(c1[v]), WB_WORDS_SET((uint64_t)purpose << 16));
      c3[v] = WB_WORDS_SET(iteration);
    }
    WB_NAME(philox_rounds)(0, (uint32_t)key, (uint32_t)(key >> 32), c0, c1, c2, c3, first + i, second + i);
  }
#else
  for (int i = 0; i < WB_PHILOX_TILE; i++)
    wb_philox_wide(key, block ? block[i] : 0, element[i] & 0xFFFFFFFFu, wb_philox_c2(purpose, element[i]), iteration,
                   first + i, second + i);
#endif
}

/* Block `block` of each of `count` elements, a multiple of WB_PHILOX_TILE. */
WB_INLINE void WB_NAME(philox_words)(int count, uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t block,
                                     const uint64_t *element, uint64_t *first, uint64_t *second) {
  uint64_t same[WB_PHILOX_TILE];
  for (int i = 0; i < WB_PHILOX_TILE; i++) same[i] = block;
  WB_ROLLED
  for (int i = 0; i < count; i += WB_PHILOX_TILE)
    WB_NAME(philox_tile)(key, purpose, iteration, same, element + i, first + i, second + i);
}

/* Block 0 of elements first..first + WB_PHILOX_TILE - 1. Usually these differ in only one of the four words that the
 * rounds begin with, so the first rounds are shared by all, or by half of them. */
WB_INLINE void WB_NAME(philox_series)(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first, uint64_t *one,
                                      uint64_t *two) {
#ifdef WB_WORDS
  if ((first + WB_PHILOX_TILE - 1) >> 32 == first >> 32) {
    const WB_WORDS m0 = WB_WORDS_SET(0xD2511F53u), m1 = WB_WORDS_SET(0xCD9E8D57u);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    /* Round 1 of (0, element, c2, iteration). */
    const uint64_t product1 = (uint64_t)wb_philox_c2(purpose, first) * 0xCD9E8D57u;
    const uint32_t same0 = (uint32_t)(product1 >> 32) ^ k0, same1 = (uint32_t)product1, same2 = iteration ^ k1;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
    /* Round 2: only its first product differs, so only the last two words do. */
    const uint64_t product2 = (uint64_t)same2 * 0xCD9E8D57u;
    const uint32_t next0 = (uint32_t)(product2 >> 32) ^ same1 ^ k0;
    const WB_WORDS last_key = WB_WORDS_SET(k1);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
    /* Round 3: its first product is the same for all. */
    const uint64_t product3 = (uint64_t)next0 * 0xD2511F53u;
    const WB_WORDS of_first = WB_WORDS_SET((uint32_t)product2 ^ k0),
                   of_last = WB_WORDS_SET((uint32_t)(product3 >> 32) ^ k1);
    WB_UNROLL
    for (int i = 0; i < WB_PHILOX_TILE; i += WB_WORDS_STEP) {
      WB_WORDS c0[2], c1[2], c2[2], c3[2];
      WB_UNROLL
      for (int v = 0; v < 2; v++) {
        const WB_WORDS element =
            WB_WORDS_ADD(WB_WORDS_SET(first + (uint64_t)(i + v * WB_WORDS_LANES)), WB_WORDS_SERIES);
        const WB_WORDS product = WB_WORDS_MULTIPLY(WB_WORDS_XOR(element, WB_WORDS_SET(same0)), m0);
        const WB_WORDS third = WB_WORDS_MULTIPLY(WB_WORDS_XOR(WB_WORDS_HIGH(product), last_key), m1);
        c0[v] = WB_WORDS_XOR(WB_WORDS_HIGH(third), of_first);
        c1[v] = third;
        c2[v] = WB_WORDS_XOR(product, of_last);
        c3[v] = WB_WORDS_SET((uint32_t)product3);
      }
      WB_NAME(philox_rounds)(3, k0 + 0x9E3779B9u, k1 + 0xBB67AE85u, c0, c1, c2, c3, one + i, two + i);
    }
    return;
  }
#endif
  uint64_t element[WB_PHILOX_TILE];
  for (int i = 0; i < WB_PHILOX_TILE; i++) element[i] = first + (uint64_t)i;
  WB_NAME(philox_tile)(key, purpose, iteration, NULL, element, one, two);
}

#undef WB_WORDS
#undef WB_WORDS_SET
#undef WB_WORDS_MULTIPLY
#undef WB_WORDS_HIGH
#undef WB_WORDS_UP
#undef WB_WORDS_XOR
#undef WB_WORDS_ADD
#undef WB_WORDS_SERIES
#undef WB_WORDS_JOIN
#undef WB_WORDS_LANES
#undef WB_WORDS_STEP
