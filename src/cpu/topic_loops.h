/* The hot loops of the topic model, included once for each instruction set by
 * isa.h: the weights of a token in both precisions, gammas and uniforms in double. */

#define REAL double
#define REAL_NAME(stem) WB_NAME(stem##_double)
#define REAL_VECTOR wb_vector
#define REAL_FMA WB_VECTOR_FMA
#define REAL_SET WB_VECTOR_SET
#define REAL_SCALAR_FMA wb_fma
#define REAL_WEIGHT wb_topic_weight
#include "cpu/topic_weights.h"

#define REAL float
#define REAL_NAME(stem) WB_NAME(stem##_single)
#define REAL_VECTOR wb_vectorf
#define REAL_FMA WB_VECTOR_FMAF
#define REAL_SET WB_VECTOR_SETF
#define REAL_SCALAR_FMA wb_fmaf
#define REAL_WEIGHT wb_topic_weightf
#include "cpu/topic_weights.h"

#include "numeric/philox_loops.h"

/* Trial 0 of a tile of gammas of shapes below 1: the proposals, whether they are
 * accepted for sure, and whether they are rejected for sure. */
static inline __attribute__((always_inline)) void WB_NAME(small_quick)(const double *shape, const double *inverse,
                                                                       const uint64_t *first,
                                                                       const uint64_t *second, double *draw,
                                                                       uint64_t *accepted, uint64_t *refused) {
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    const double x = wb_gamma_small_propose(inverse[i], wb_gamma_small_bound(shape[i]), wb_uniform(first[i]));
    const double v = wb_uniform(second[i]);
    draw[i] = x;
    accepted[i] = wb_mask(wb_gamma_small_quick(x, v));
    refused[i] = wb_mask(wb_gamma_small_refuse(x, v));
  }
}

/* Any trial with the complete test. */
static inline __attribute__((always_inline)) void WB_NAME(small_complete)(const double *shape, const uint64_t *first,
                                                                          const uint64_t *second, double *draw,
                                                                          uint64_t *accepted) {
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    const wb_gamma_small small = wb_gamma_small_of(shape[i]);
    draw[i] = wb_gamma_small_propose(small.inverse, small.bound, wb_uniform(first[i]));
  }
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++)
    accepted[i] = wb_mask(wb_gamma_small_accept(shape[i] - 1.0, draw[i], wb_uniform(second[i])));
}

/* The same for shapes from 1 on; only the complete test rejects. */
static inline __attribute__((always_inline)) void WB_NAME(large_tile)(const int complete, const double *shape,
                                                                      const uint64_t *first, const uint64_t *second,
                                                                      double *draw, uint64_t *accepted) {
  double normal[WB_PHILOX_TILE], t[WB_PHILOX_TILE];
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    const double d = shape[i] - 0.3333333333333333;
    normal[i] = wb_normal_quantile_within(wb_uniform(first[i]));
    draw[i] = wb_gamma_large_propose(d, 1.0 / wb_sqrt(9.0 * d), normal[i], &t[i]);
    accepted[i] = wb_mask(wb_gamma_large_quick(normal[i], t[i], wb_uniform(second[i])));
  }
  if (!complete) return;
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++)
    accepted[i] = wb_mask(wb_gamma_large_accept(shape[i] - 0.3333333333333333, normal[i], t[i], wb_uniform(second[i])));
}

/* One bit for each lane of a tile of masks. */
static inline __attribute__((always_inline)) uint32_t WB_NAME(mask_bits)(const uint64_t *mask) {
  uint32_t bits = 0;
#if WB_VECTOR_BYTES == 64
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += 8) bits |= (uint32_t)_mm512_movepi64_mask(_mm512_loadu_si512(mask + i)) << i;
#elif WB_VECTOR_BYTES == 32
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += 4)
    bits |= (uint32_t)_mm256_movemask_pd(_mm256_loadu_pd((const double *)(const void *)(mask + i))) << i;
#else
  for (int i = 0; i < WB_PHILOX_TILE; i++) bits |= (uint32_t)(mask[i] & 1) << i;
#endif
  return bits;
}

/* Whether more than five of 16 bits are set: fewer gammas of shapes from 1 on are cheaper
 * in the list. */
static inline __attribute__((always_inline)) int WB_NAME(many_bits)(uint32_t bits) {
  /* Each time the lowest bit goes. */
  WB_UNROLL
  for (int i = 0; i < 5; i++) bits &= bits - 1;
  return bits != 0;
}

/* Appends the lanes in `bits` of the tile that begins at `begin` to a list; those in
 * `refused` have lost trial 0. */
static inline __attribute__((always_inline)) int WB_NAME(append)(uint32_t bits, uint32_t refused, int begin,
                                                                 const double *shape, topic_gamma_list *list,
                                                                 int count) {
  /* Written so that GCC does not call a library to count the bits first. */
  for (int lane; bits; bits ^= 1u << lane) {
    lane = __builtin_ctz(bits);
    list->index[count] = begin + lane;
    list->shape[count] = shape[begin + lane];
    list->trial[count] = refused >> lane & 1;
    count++;
  }
  return count;
}

/* Tries the gammas of a list until all are accepted. */
static inline __attribute__((always_inline)) void WB_NAME(try_list)(const int large, uint64_t key, uint32_t purpose,
                                                                    uint32_t iteration, uint64_t first,
                                                                    topic_gamma_list *restrict list, int count,
                                                                    double *restrict draw) {
  uint64_t element[WB_PHILOX_TILE], one[WB_PHILOX_TILE], two[WB_PHILOX_TILE], accepted[WB_PHILOX_TILE];
  double draws[WB_PHILOX_TILE];
  while (count > 0) {
    int left = 0;
    /* Whole tiles: the last gamma of the list fills up the last one. */
    for (int i = count; i % WB_PHILOX_TILE != 0; i++) {
      list->index[i] = list->index[count - 1];
      list->shape[i] = list->shape[count - 1];
      list->trial[i] = list->trial[count - 1];
    }
    for (int begin = 0; begin < count; begin += WB_PHILOX_TILE) {
      const int tile = count - begin < WB_PHILOX_TILE ? count - begin : WB_PHILOX_TILE;
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) element[i] = first + (uint64_t)list->index[begin + i];
      WB_NAME(philox_tile)(key, purpose, iteration, list->trial + begin, element, one, two);
      if (large) WB_NAME(large_tile)(1, list->shape + begin, one, two, draws, accepted);
      else WB_NAME(small_complete)(list->shape + begin, one, two, draws, accepted);
      for (int i = 0; i < tile; i++) {
        draw[list->index[begin + i]] = draws[i];
        list->index[left] = list->index[begin + i];
        list->shape[left] = list->shape[begin + i];
        list->trial[left] = list->trial[begin + i] + 1;
        left += accepted[i] == 0;
      }
    }
    count = left;
  }
}

/* Gamma draws of elements first.. first + count - 1 with their shapes, at most
 * TOPIC_GAMMAS of them; shape and draw have room for whole tiles. inverse: 1/shape where
 * the shape is below 1. Trial 0 with the
 * quick tests passes over all of them; those that it leaves open are listed. */
static void WB_NAME(topic_gammas)(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first,
                                  double *restrict shape, const double *restrict inverse, int count,
                                  topic_gamma_room *restrict room, double *restrict draw) {
  uint64_t element[WB_PHILOX_TILE], one[WB_PHILOX_TILE], two[WB_PHILOX_TILE], is_large[WB_PHILOX_TILE];
  uint64_t accepted[WB_PHILOX_TILE], refused[WB_PHILOX_TILE];
  double large_draw[WB_PHILOX_TILE];
  const uint32_t all = (uint32_t)((UINT64_C(1) << WB_PHILOX_TILE) - 1);
  int small = 0, large = 0;
  for (int i = count; i % WB_PHILOX_TILE != 0; i++) shape[i] = shape[count - 1];
  for (int begin = 0; begin < count; begin += WB_PHILOX_TILE) {
    const uint32_t present = count - begin < WB_PHILOX_TILE ? (1u << (count - begin)) - 1 : all;
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) element[i] = first + (uint64_t)(begin + i);
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) is_large[i] = wb_mask(shape[begin + i] >= 1.0);
    const uint32_t large_bits = WB_NAME(mask_bits)(is_large);
    WB_NAME(philox_tile)(key, purpose, iteration, NULL, element, one, two);
    uint32_t open_small = 0, refused_small = 0, open_large = large_bits;
    if (large_bits != all) {
      WB_NAME(small_quick)(shape + begin, inverse + begin, one, two, draw + begin, accepted, refused);
      open_small = ~(WB_NAME(mask_bits)(accepted) | large_bits);
      refused_small = WB_NAME(mask_bits)(refused);
    }
    if (WB_NAME(many_bits)(large_bits)) {
      WB_NAME(large_tile)(0, shape + begin, one, two, large_draw, accepted);
      if (large_bits == all) {
        /* `draw` holds nothing yet. */
        for (int i = 0; i < WB_PHILOX_TILE; i++) draw[begin + i] = large_draw[i];
      } else {
        WB_VECTOR_LOOP
        for (int i = 0; i < WB_PHILOX_TILE; i++)
          draw[begin + i] = wb_bits_double((wb_double_bits(large_draw[i]) & is_large[i]) |
                                           (wb_double_bits(draw[begin + i]) & ~is_large[i]));
      }
      open_large &= ~WB_NAME(mask_bits)(accepted);
    }
    small = WB_NAME(append)(open_small & present, refused_small, begin, shape, &room->small, small);
    large = WB_NAME(append)(open_large & present, 0, begin, shape, &room->large, large);
  }
  WB_NAME(try_list)(0, key, purpose, iteration, first, &room->small, small, draw);
  WB_NAME(try_list)(1, key, purpose, iteration, first, &room->large, large, draw);
}

/* The uniforms of tokens, `tokens` rounded up to whole tiles. */
static void WB_NAME(topic_uniforms)(uint64_t key, uint32_t iteration, const uint32_t *restrict token, int tokens,
                                    double *restrict uniform) {
  uint64_t element[WB_PHILOX_TILE], one[WB_PHILOX_TILE], two[WB_PHILOX_TILE];
  for (int begin = 0; begin < tokens; begin += WB_PHILOX_TILE) {
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) element[i] = token[begin + i] >> 1;
    WB_NAME(philox_tile)(key, WB_PURPOSE_TOPIC, iteration, NULL, element, one, two);
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      const uint64_t mask = (uint64_t)0 - (uint64_t)(token[begin + i] & 1);
      uniform[begin + i] = wb_uniform((one[i] & ~mask) | (two[i] & mask));
    }
  }
}

/* Logs in place. */
static void WB_NAME(topic_logs)(int64_t count, double *restrict value) {
  for (int64_t i = 0; i < count; i++) value[i] = wb_log(value[i]);
}
