/* The topic model's loops: weights in both precisions, gammas and uniforms in double, for each instruction set. */

#include "numeric/philox_loops.h"

WB_INLINE void WB_NAME(gather_tile)(const double *table, const uint64_t *at, double *value) {
#if WB_VECTOR_BYTES == 64
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += 8)
    _mm512_storeu_pd(value + i, _mm512_i64gather_pd(_mm512_loadu_si512(at + i), table, 8));
#elif WB_VECTOR_BYTES == 32
  /* One by one: the gather instruction is slow on many processors that have no wider vectors. */
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += 4)
    _mm256_storeu_pd(value + i, _mm256_set_pd(table[at[i + 3]], table[at[i + 2]], table[at[i + 1]], table[at[i]]));
#else
  for (int i = 0; i < WB_PHILOX_TILE; i++) value[i] = table[at[i]];
#endif
}

/* Gathers the two neighbouring numbers at each place. */
WB_INLINE void WB_NAME(gather_both)(const double *table, const uint64_t *at, double *one, double *two) {
#if WB_VECTOR_BYTES == 32
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += 4) {
    const __m256d even = _mm256_set_m128d(_mm_loadu_pd(table + at[i + 2]), _mm_loadu_pd(table + at[i]));
    const __m256d odd = _mm256_set_m128d(_mm_loadu_pd(table + at[i + 3]), _mm_loadu_pd(table + at[i + 1]));
    _mm256_storeu_pd(one + i, _mm256_unpacklo_pd(even, odd));
    _mm256_storeu_pd(two + i, _mm256_unpackhi_pd(even, odd));
  }
#else
  WB_NAME(gather_tile)(table, at, one);
  WB_NAME(gather_tile)(table + 1, at, two);
#endif
}

/* One bit for each lane of a tile of masks. */
WB_INLINE uint32_t WB_NAME(mask_bits)(const uint64_t *mask) {
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

/* The uniforms of tokens, with `tokens` rounded up to whole tiles. */
/* tools/loops: no vector multiply-adds */
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

/* The logarithms of `count` numbers, in their place; there is room for whole tiles. */
static void WB_NAME(topic_logs)(int64_t count, double *restrict value) {
  for (int64_t begin = 0; begin < count; begin += WB_PHILOX_TILE) {
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) value[begin + i] = wb_log(value[begin + i]);
  }
}

/* Documents first..end - 1 of one topic each (core/topic_member.h): draws it, and computes its probabilities. Lanes
 * past the last topic have no weight. weight: width. */
static void WB_NAME(topic_members)(const members_pass *pass, int64_t first, int64_t end, double *weight) {
  const wb_topic_session *const s = pass->session;
  const wb_topic_corpus *const c = &s->corpus;
  const size_t topics = (size_t)s->settings.topics, width = s->width;
  for (int64_t d = first; d < end; d++) {
    double top = -INFINITY, sum;
    memcpy(weight, pass->log_share, width * sizeof(double));
    for (int64_t i = c->first_pair[d]; i < c->first_pair[d + 1]; i++) {
      const double *const line = s->log_phi + (size_t)c->term[i] * width, count = (double)c->count[i];
      for (size_t k = 0; k < width; k += WB_TOPIC_LANES) {
        WB_VECTOR_LOOP
        for (size_t l = 0; l < WB_TOPIC_LANES; l++) weight[k + l] = wb_fma(count, line[k + l], weight[k + l]);
      }
    }
    for (size_t k = 0; k < topics; k++) top = weight[k] > top ? weight[k] : top;
    for (size_t k = 0; k < width; k += WB_TOPIC_LANES) {
      WB_VECTOR_LOOP
      for (size_t l = 0; l < WB_TOPIC_LANES; l++) weight[k + l] = wb_exp(weight[k + l] - top);
    }
    s->member[d] =
        (uint16_t)wb_topic_member(weight, (int)topics, pass->draw->key, pass->draw->iteration, (uint64_t)d, &sum);
    pass->log_likelihood[d] = c->first_pair[d] < c->first_pair[d + 1] ? top + wb_log(sum) : 0;
    for (size_t k = 0; pass->theta && k < topics; k++) pass->theta[(size_t)d * topics + k] = weight[k] / sum;
  }
}

#define REAL_BITS 64
#include "cpu/real.h"
#define REAL_WEIGHT wb_topic_weight
#define REAL_LEAST WB_TOPIC_LEAST
#define REAL_FOUR_LOAD(from) _mm256_loadu_pd(from)
#define REAL_EIGHT __m512d
#define REAL_EIGHT_ZERO _mm512_setzero_pd()
#define REAL_EIGHT_GATHER(table, at) _mm512_i64gather_pd(at, table, 8)
#define REAL_EIGHT_DOUBLE(x) (x)
#define REAL_EIGHT_SELECT(otherwise, mask, x) _mm512_mask_mov_pd(otherwise, mask, x)
#define REAL_EIGHT_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#include "cpu/topic_model/token_weights.h"

#define REAL_BITS 32
#include "cpu/real.h"
#define REAL_WEIGHT wb_topic_weightf
#define REAL_LEAST (double)WB_TOPIC_LEASTF
#define REAL_FOUR_LOAD(from) _mm256_cvtps_pd(_mm_loadu_ps(from))
/* In the lower half of a vector, since half vectors belong to another instruction set. */
#define REAL_EIGHT __m512
#define REAL_EIGHT_ZERO _mm512_setzero_ps()
#define REAL_EIGHT_GATHER(table, at) _mm512_zextps256_ps512(_mm512_i64gather_ps(at, table, 4))
#define REAL_EIGHT_DOUBLE(x) _mm512_cvtps_pd(_mm512_castps512_ps256(x))
#define REAL_EIGHT_SELECT(otherwise, mask, x) _mm512_mask_mov_ps(otherwise, mask, x)
#define REAL_EIGHT_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "cpu/topic_model/token_weights.h"

/* Trial 0 of a tile of gammas with shapes below 1: proposals, the surely accepted, the surely rejected. */
WB_INLINE void WB_NAME(small_quick)(const double *shape, const double *inverse, const uint64_t *first,
                                    const uint64_t *second, double *draw, uint64_t *accepted, uint64_t *refused) {
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    const double x = wb_gamma_small_propose(inverse[i], wb_gamma_small_bound(shape[i]), wb_uniform(first[i]));
    const double v = wb_uniform(second[i]);
    draw[i] = x;
    accepted[i] = wb_mask(wb_gamma_small_quick(x, v));
    refused[i] = wb_mask(wb_gamma_small_refuse(x, v));
  }
}

/* Any trial, with the complete test. */
WB_INLINE void WB_NAME(small_complete)(const double *shape, const uint64_t *first, const uint64_t *second, double *draw,
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

/* A trial for shapes of at least 1. Only the complete test rejects. */
WB_INLINE void WB_NAME(large_tile)(const int complete, const double *shape, const uint64_t *first,
                                   const uint64_t *second, double *draw, uint64_t *accepted) {
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

/* Whether more than five of 16 bits are set. Up to five gammas with shapes of at least 1 are cheaper in the list. */
WB_INLINE int WB_NAME(many_bits)(uint32_t bits) {
  /* Clears the lowest bit each time. */
  WB_UNROLL
  for (int i = 0; i < 5; i++) bits &= bits - 1;
  return bits != 0;
}

/* Appends the lanes in `bits` of the tile at `begin` to a list. Those in `refused` were rejected in trial 0. */
WB_INLINE int WB_NAME(append)(uint32_t bits, uint32_t refused, int begin, const double *shape, topic_gamma_list *list,
                              int count) {
  /* Written so that GCC does not first call a library to count the bits. */
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
WB_INLINE void WB_NAME(try_list)(const int large, uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first,
                                 topic_gamma_list *restrict list, int count, double *restrict draw) {
  uint64_t element[WB_PHILOX_TILE], one[WB_PHILOX_TILE], two[WB_PHILOX_TILE], accepted[WB_PHILOX_TILE];
  double draws[WB_PHILOX_TILE];
  while (count > 0) {
    int left = 0;
    /* The last gamma of the list fills up the last tile. */
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

/* Gamma draws of elements first..first + count - 1, count <= TOPIC_GAMMAS. shape and draw have room for whole tiles.
 * inverse: 1/shape where shapes are below 1. Trial 0 passes over all, and lists what the quick tests leave open. */
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
        /* `draw` is not set yet. */
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

/* Builds the tables of the shapes base, base + 1, ... */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(topic_strips)(double base, int count, wb_gamma_strips *strips) {
  wb_gamma_strips_build(base + (double)count, &strips->law[count], strips->strip[count]);
}

WB_INLINE void WB_NAME(finish_strips)(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first,
                                      const wb_gamma_strips *strips, topic_strip_list *restrict list, int open,
                                      double *restrict draw) {
  uint64_t element[WB_PHILOX_TILE], block[WB_PHILOX_TILE], more[WB_PHILOX_TILE], next[WB_PHILOX_TILE],
      at[WB_PHILOX_TILE];
  uint64_t accepted[WB_PHILOX_TILE], quick[WB_PHILOX_TILE];
  double shape[WB_PHILOX_TILE], area[WB_PHILOX_TILE], top[WB_PHILOX_TILE], last[WB_PHILOX_TILE];
  double start[WB_PHILOX_TILE], width[WB_PHILOX_TILE], draws[WB_PHILOX_TILE], next_draws[WB_PHILOX_TILE];
  const double *const law = &strips->law[0].shape, *const strip = &strips->strip[0][0].start;
  for (uint64_t trial = 1; open > 0; trial++) {
    int left = 0;
    /* The last element of the list fills up the last tile. */
    for (int i = open; i % WB_PHILOX_TILE != 0; i++) {
      list->index[i] = list->index[open - 1];
      list->count[i] = list->count[open - 1];
      list->bits[i] = list->bits[open - 1];
    }
    for (int begin = 0; begin < open; begin += WB_PHILOX_TILE) {
      const int tile = open - begin < WB_PHILOX_TILE ? open - begin : WB_PHILOX_TILE;
      const uint64_t *const count = list->count + begin, *const bits = list->bits + begin;
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) {
        element[i] = first + (uint64_t)list->index[begin + i];
        block[i] = trial;
        at[i] = count[i] * 4;
      }
      WB_NAME(philox_tile)(key, purpose, iteration, block, element, more, next);
      WB_NAME(gather_tile)(law, at, shape);
      WB_NAME(gather_tile)(law + 1, at, area);
      WB_NAME(gather_tile)(law + 2, at, top);
      WB_NAME(gather_tile)(law + 3, at, last);
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) at[i] = (count[i] * WB_GAMMA_STRIPS + wb_gamma_strip_index(bits[i])) * 2;
      WB_NAME(gather_both)(strip, at, start, width);
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) {
        double log_draw;
        accepted[i] = wb_mask(
            wb_gamma_strip_accept(shape[i], area[i], top[i], last[i], start[i], width[i], bits[i], more[i], &log_draw));
        draws[i] = wb_exp_weight(log_draw);
      }
      /* The next trial's point. */
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) at[i] = (count[i] * WB_GAMMA_STRIPS + wb_gamma_strip_index(next[i])) * 2;
      WB_NAME(gather_both)(strip, at, start, width);
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) {
        quick[i] = wb_mask(wb_gamma_strip_quick(width[i], next[i]));
        next_draws[i] = wb_exp_weight(wb_gamma_strip_log(start[i], width[i], next[i]));
      }
      for (int i = 0; i < tile; i++) {
        const int32_t index = list->index[begin + i];
        draw[index] = accepted[i] ? draws[i] : next_draws[i];
        list->index[left] = index;
        list->count[left] = count[i];
        list->bits[left] = next[i];
        left += (accepted[i] | quick[i]) == 0;
      }
    }
    open = left;
  }
}

/* The logs of a tile of draws from strips of the shapes base + number. Returns a bit for each draw left open. */
WB_INLINE uint32_t WB_NAME(strip_tile)(const double *strip, const uint64_t *bits, const int32_t *number,
                                       double *log_draw) {
  uint64_t at[WB_PHILOX_TILE], open[WB_PHILOX_TILE];
  double start[WB_PHILOX_TILE], width[WB_PHILOX_TILE];
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    const uint64_t law = (uint64_t)(number[i] < WB_GAMMA_COUNTS ? number[i] : 0);
    at[i] = (law * WB_GAMMA_STRIPS + wb_gamma_strip_index(bits[i])) * 2;
  }
  WB_NAME(gather_both)(strip, at, start, width);
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    log_draw[i] = wb_gamma_strip_log(start[i], width[i], bits[i]);
    open[i] = ~wb_mask(wb_gamma_strip_quick(width[i], bits[i])) | wb_mask(number[i] >= WB_GAMMA_COUNTS);
  }
  return WB_NAME(mask_bits)(open);
}

/* Gamma draws of elements first..first + count - 1 with shapes base + tally, count <= TOPIC_GAMMAS, by the tables of
 * this base. tally and draw have room for whole tiles. Shapes too large for the tables have trials from trial 1 on. */
static void WB_NAME(topic_strip_gammas)(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first,
                                        const wb_gamma_strips *strips, int32_t *restrict tally, int count,
                                        topic_gamma_room *restrict room, double *restrict draw) {
  uint64_t one[WB_PHILOX_TILE], two[WB_PHILOX_TILE];
  double log_draw[WB_PHILOX_TILE];
  uint64_t *const words = room->word;
  const double *const strip = &strips->strip[0][0].start;
  const int odd = (int)(first & 1);
  int unsure = 0, large = 0;
  for (int i = count; i % WB_PHILOX_TILE != 0; i++) tally[i] = 0;
  for (int begin = 0; begin < count; begin += WB_PHILOX_TILE) {
    /* The words of the next gammas, two a block. */
    for (int w = 0; begin % TOPIC_WORDS == 0 && w < TOPIC_WORDS + odd && begin + w < count + odd;
         w += 2 * WB_PHILOX_TILE) {
      WB_NAME(philox_series)(key, purpose, iteration, ((first + (uint64_t)begin) >> 1) + (uint64_t)(w / 2), one, two);
      for (int i = 0; i < WB_PHILOX_TILE; i++) {
        words[w + 2 * i] = one[i];
        words[w + 2 * i + 1] = two[i];
      }
    }
    const uint64_t *const bits = words + odd + begin % TOPIC_WORDS;
    const int32_t *const number = tally + begin;
    uint32_t rest = WB_NAME(strip_tile)(strip, bits, number, log_draw);
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) draw[begin + i] = wb_exp_weight(log_draw[i]);
    if (count - begin < WB_PHILOX_TILE) rest &= (1u << (count - begin)) - 1;
    for (; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (number[lane] < WB_GAMMA_COUNTS) {
        room->strips.index[unsure] = begin + lane;
        room->strips.count[unsure] = (uint64_t)number[lane];
        room->strips.bits[unsure++] = bits[lane];
      } else {
        room->large.index[large] = begin + lane;
        room->large.shape[large] = strips->law[0].shape + (double)number[lane];
        room->large.trial[large++] = 1;
      }
    }
  }
  WB_NAME(finish_strips)(key, purpose, iteration, first, strips, &room->strips, unsure, draw);
  WB_NAME(try_list)(1, key, purpose, iteration, first, &room->large, large, draw);
}
