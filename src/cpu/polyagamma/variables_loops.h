/* Trials of Polya-Gamma draws for many elements at a time, included once for each
 * instruction set by isa.h: vectors run across elements, and each loop is one scalar
 * function of core/polyagamma_draw.h. `count` is a multiple of 8. */

/* The two words of each element's block. A multiplication of the low halves of 64-bit lanes is
 * one instruction, which compilers do not find: they multiply 64 bits by 64. */
#if WB_VECTOR_BYTES > 16
#if WB_VECTOR_BYTES == 64
#define INTEGERS __m512i
#define MULTIPLY(a, b) _mm512_mul_epu32(a, b)
#define RIGHT_32(a) _mm512_srli_epi64(a, 32)
#define LEFT_32(a) _mm512_slli_epi64(a, 32)
#define EACH(x) _mm512_set1_epi64((int64_t)(x))
#define XOR(a, b) _mm512_xor_si512(a, b)
#define AND(a, b) _mm512_and_si512(a, b)
#define OR(a, b) _mm512_or_si512(a, b)
#else
#define INTEGERS __m256i
#define MULTIPLY(a, b) _mm256_mul_epu32(a, b)
#define RIGHT_32(a) _mm256_srli_epi64(a, 32)
#define LEFT_32(a) _mm256_slli_epi64(a, 32)
#define EACH(x) _mm256_set1_epi64x((int64_t)(x))
#define XOR(a, b) _mm256_xor_si256(a, b)
#define AND(a, b) _mm256_and_si256(a, b)
#define OR(a, b) _mm256_or_si256(a, b)
#endif
/* High halves of c0..c3 hold what multiplications do not read. */
static void WB_NAME(polyagamma_words)(int count, uint64_t key, uint32_t block, uint32_t iteration,
                                      const uint64_t *element, uint64_t *first, uint64_t *second) {
  const INTEGERS factor0 = EACH(0xD2511F53u), factor1 = EACH(0xCD9E8D57u), low = EACH(0xFFFFFFFFu);
  const INTEGERS purpose = EACH((uint64_t)WB_PURPOSE_POLYAGAMMA << 16), high_bits = EACH(0xFFFFu);
  for (int i = 0; i < count; i += WB_VECTOR_BYTES / 8) {
    const INTEGERS index = *(const INTEGERS *)(element + i);
    INTEGERS c0 = EACH(block), c1 = index, c2 = OR(AND(RIGHT_32(index), high_bits), purpose), c3 = EACH(iteration);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    WB_UNROLL
    for (int round = 0; round < 10; round++) {
      const INTEGERS product0 = MULTIPLY(c0, factor0), product1 = MULTIPLY(c2, factor1);
      c0 = XOR(XOR(RIGHT_32(product1), c1), EACH(k0));
      c1 = product1;
      c2 = XOR(XOR(RIGHT_32(product0), c3), EACH(k1));
      c3 = product0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    *(INTEGERS *)(first + i) = OR(LEFT_32(c1), AND(c0, low));
    *(INTEGERS *)(second + i) = OR(LEFT_32(c3), AND(c2, low));
  }
}
#undef INTEGERS
#undef MULTIPLY
#undef RIGHT_32
#undef LEFT_32
#undef EACH
#undef XOR
#undef AND
#undef OR
#else
static void WB_NAME(polyagamma_words)(int count, uint64_t key, uint32_t block, uint32_t iteration,
                                      const uint64_t *element, uint64_t *first, uint64_t *second) {
  for (int i = 0; i < count; i++)
    wb_philox_wide(key, block, element[i] & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_POLYAGAMMA, element[i]), iteration,
                   &first[i], &second[i]);
}
#endif

/* wb_polyagamma_choose() without branches, its ways as doubles; tilts >= 0. -1 where it has to look closer. */
static void WB_NAME(polyagamma_way)(int count, const double *restrict shape, const double *restrict tilt, double *restrict way) {
  for (int i = 0; i < count; i++) {
    const double b = shape[i], c = tilt[i];
    double chosen = wb_select(c >= WB_POLYAGAMMA_SMALL_TILT, WB_POLYAGAMMA_PARTS, WB_POLYAGAMMA_UNITS);
    chosen = wb_select(b >= 1.0, chosen, WB_POLYAGAMMA_PARTS);
    chosen = wb_select(b >= 12.0, WB_POLYAGAMMA_EXPANSION_8, chosen);
    chosen = wb_select(b >= 30.0, WB_POLYAGAMMA_EXPANSION_6, chosen);
    chosen = wb_select(b > 0.0, chosen, -1.0);
    chosen = wb_select(b < 1e300, chosen, -1.0);
    way[i] = wb_select(c < 15.0, chosen, -1.0);
  }
}

static void WB_NAME(polyagamma_prepare)(int count, const double *restrict tilt, double *restrict half_square,
                                        double *restrict mean, double *restrict total,
                                        double *restrict right_inverse) {
  for (int i = 0; i < count; i++) {
    const wb_polyagamma_unit unit = wb_polyagamma_unit_prepare(tilt[i]);
    half_square[i] = unit.half_square;
    mean[i] = unit.mean;
    total[i] = unit.total;
    right_inverse[i] = unit.right_inverse;
  }
}

static void WB_NAME(polyagamma_unit)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                     const double *restrict half_square,
                                     const double *restrict mean, const double *restrict total,
                                     const double *restrict right_inverse, double *restrict x) {
  for (int i = 0; i < count; i++) {
    const wb_polyagamma_unit unit = {half_square[i], mean[i], total[i], right_inverse[i]};
    x[i] = wb_polyagamma_unit_trial(unit, first[i], second[i]);
  }
}

static void WB_NAME(polyagamma_part)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                     const double *restrict shape, const double *restrict tilt, double *restrict x) {
  for (int i = 0; i < count; i++) {
    x[i] = wb_polyagamma_part_trial(shape[i], tilt[i], WB_POLYAGAMMA_PART_LIMIT, WB_POLYAGAMMA_PART_TERMS, first[i], second[i]);
  }
}

static void WB_NAME(polyagamma_alternate)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                          const double *restrict shape, const double *restrict tilt, double *restrict x) {
  for (int i = 0; i < count; i++) {
    x[i] = wb_polyagamma_part_trial(shape[i], tilt[i], WB_POLYAGAMMA_ALTERNATE_LIMIT, WB_POLYAGAMMA_ALTERNATE_TERMS,
                                    first[i], second[i]);
  }
}

static void WB_NAME(polyagamma_inverse_gaussian)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                                 const double *restrict shape, const double *restrict tilt, double *restrict x) {
  for (int i = 0; i < count; i++) {
    x[i] = wb_polyagamma_inverse_gaussian(shape[i], tilt[i], first[i], second[i]);
  }
}

static void WB_NAME(polyagamma_expansion_8)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                            const double *restrict shape, const double *restrict tilt,
                                            double *restrict x) {
  (void)second;
  for (int i = 0; i < count; i++)
    x[i] = wb_polyagamma_expand(wb_polyagamma_expansion_prepare(shape[i], tilt[i], 8), 8, first[i]);
}

/* All elements of one shape and tilt. */
static void WB_NAME(polyagamma_series_8)(int count, const uint64_t *restrict first, wb_polyagamma_expansion series,
                                         double *restrict x) {
  for (int i = 0; i < count; i++) x[i] = wb_polyagamma_expand(series, 8, first[i]);
}

static void WB_NAME(polyagamma_expansion_6)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                            const double *restrict shape, const double *restrict tilt,
                                            double *restrict x) {
  (void)second;
  for (int i = 0; i < count; i++)
    x[i] = wb_polyagamma_expand(wb_polyagamma_expansion_prepare(shape[i], tilt[i], 6), 6, first[i]);
}

/* All elements of one shape and tilt. */
static void WB_NAME(polyagamma_series_6)(int count, const uint64_t *restrict first, wb_polyagamma_expansion series,
                                         double *restrict x) {
  for (int i = 0; i < count; i++) x[i] = wb_polyagamma_expand(series, 6, first[i]);
}

static void WB_NAME(polyagamma_expansion_2)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                            const double *restrict shape, const double *restrict tilt,
                                            double *restrict x) {
  (void)second;
  for (int i = 0; i < count; i++)
    x[i] = wb_polyagamma_expand(wb_polyagamma_expansion_prepare(shape[i], tilt[i], 2), 2, first[i]);
}

/* All elements of one shape and tilt. */
static void WB_NAME(polyagamma_series_2)(int count, const uint64_t *restrict first, wb_polyagamma_expansion series,
                                         double *restrict x) {
  for (int i = 0; i < count; i++) x[i] = wb_polyagamma_expand(series, 2, first[i]);
}
