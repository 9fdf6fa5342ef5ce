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

/* The two uniforms of block `trial` of each element. */
static void WB_NAME(topic_trial_words)(uint64_t key, uint32_t purpose, uint32_t iteration, uint32_t trial,
                                       const uint64_t *restrict element, int count, double *restrict u,
                                       double *restrict v) {
  for (int i = 0; i < count; i++) {
    uint64_t first, second;
    wb_philox_wide(key, trial, element[i] & 0xFFFFFFFFu, (element[i] >> 32) | (uint64_t)purpose << 16, iteration,
                   &first, &second);
    u[i] = wb_uniform(first);
    v[i] = wb_uniform(second);
  }
}

/* Trial `trial` of `count` gammas of shapes below 1: the proposals, and whether they
 * are accepted. The complete test is left out of the first round. */
static void WB_NAME(topic_small_round)(const double *restrict shape, int count, int complete, const double *restrict u,
                                       const double *restrict v, double *restrict draw, uint64_t *restrict accepted) {
  for (int i = 0; i < count; i++) {
    const wb_gamma_small small = wb_gamma_small_of(shape[i]);
    draw[i] = wb_gamma_small_propose(small.inverse, small.bound, u[i]);
  }
  if (complete)
    for (int i = 0; i < count; i++)
      accepted[i] = wb_mask(wb_gamma_small_accept(shape[i] - 1.0, draw[i], v[i]));
  else
    for (int i = 0; i < count; i++) accepted[i] = wb_mask(wb_gamma_small_quick(draw[i], v[i]));
}

/* The same for shapes from 1 on. */
static void WB_NAME(topic_large_round)(const double *restrict shape, int count, int complete, double *restrict u,
                                       const double *restrict v, double *restrict draw, uint64_t *restrict accepted) {
  for (int i = 0; i < count; i++) u[i] = wb_normal_quantile_within(u[i]);
  for (int i = 0; i < count; i++) {
    const double d = shape[i] - 0.3333333333333333;
    double t;
    draw[i] = wb_gamma_large_propose(d, 1.0 / wb_sqrt(9.0 * d), u[i], &t);
    accepted[i] = wb_mask(wb_gamma_large_quick(u[i], t, v[i]));
  }
  if (complete)
    for (int i = 0; i < count; i++) {
      const double d = shape[i] - 0.3333333333333333, t = u[i] * (1.0 / wb_sqrt(9.0 * d));
      accepted[i] = wb_mask(wb_gamma_large_accept(d, u[i], t, v[i]));
    }
}

/* Puts the draws of one list in their places; what was not accepted goes through the
 * complete test of the same trial, then through further trials. */
static void WB_NAME(topic_gamma_list)(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first,
                                      const double *restrict shape, int large, topic_gamma_room *restrict room,
                                      int count, double *restrict draw) {
  for (uint32_t round = 0; count > 0; round++) {
    for (int i = 0; i < count; i++) room->element[i] = first + (uint64_t)room->index[i];
    for (int i = 0; i < count; i++) room->shape[i] = shape[room->index[i]];
    /* Rounds 0 and 1 are trial 0 without and with the complete test. */
    WB_NAME(topic_trial_words)(key, purpose, iteration, round > 0 ? round - 1 : 0, room->element, count, room->u, room->v);
    if (large)
      WB_NAME(topic_large_round)(room->shape, count, round > 0, room->u, room->v, room->draw, room->accepted);
    else
      WB_NAME(topic_small_round)(room->shape, count, round > 0, room->u, room->v, room->draw, room->accepted);
    int left = 0;
    for (int i = 0; i < count; i++) {
      const int32_t at = room->index[i];
      draw[at] = room->draw[i];
      room->index[left] = at;
      left += room->accepted[i] == 0;
    }
    count = left;
  }
}

/* Gamma draws of elements first.. first + count - 1 with their shapes, at most
 * TOPIC_GAMMAS of them. */
static void WB_NAME(topic_gammas)(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first,
                                  const double *restrict shape, int count, topic_gamma_room *restrict room,
                                  double *restrict draw) {
  int small = 0, large = 0;
  for (int i = 0; i < count; i++) {
    room->index[small] = i;
    small += shape[i] < 1.0;
  }
  WB_NAME(topic_gamma_list)(key, purpose, iteration, first, shape, 0, room, small, draw);
  for (int i = 0; i < count; i++) {
    room->index[large] = i;
    large += shape[i] >= 1.0;
  }
  WB_NAME(topic_gamma_list)(key, purpose, iteration, first, shape, 1, room, large, draw);
}

/* Uniforms of `pairs` pairs of tokens from pair `first` on. */
static void WB_NAME(topic_uniforms)(uint64_t key, uint32_t iteration, uint64_t first, int pairs, double *restrict uniform) {
  for (int i = 0; i < pairs; i++) {
    const uint64_t element = first + (uint64_t)i;
    uint64_t one, two;
    wb_philox_wide(key, 0, element & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_TOPIC, element), iteration, &one, &two);
    uniform[2 * i] = wb_uniform(one);
    uniform[2 * i + 1] = wb_uniform(two);
  }
}

/* sum + count * log(weight) of each pair in turn. `weight` is overwritten. */
static double WB_NAME(topic_log_sum)(const int32_t *restrict count, int pairs, double *restrict weight, double sum) {
  for (int i = 0; i < pairs; i++) weight[i] = wb_log(weight[i]);
  for (int i = 0; i < pairs; i++) sum = wb_fma((double)count[i], weight[i], sum);
  return sum;
}
