/* Log weights of a tile of rows under all components, and the draw of a component for each row (core/block_draw.h), in
 * the precision REAL. cpu/mixture/sums_loops.h includes this file and defines REAL.
 *
 * Lower bound: p(p+3)/2 fused multiply-adds for each (row, component), and about 25 operations for the weight and its
 * draw. Vectors run across the rows of the tile. Four rows of the triangle are accumulated at a time. */

#define BLOCK_LOG REAL
#include "cpu/block_loops.h"

#define LANES ((int)(WB_VECTOR_BYTES / sizeof(REAL)))
/* Vectors of rows at a time, for accumulators of four rows of the triangle in 32 registers (in 16: of two). */
#define VECTORS (WB_VECTOR_BYTES == 64 ? 4 : 2)
#define STEP (VECTORS * LANES)

/* Adds z_r^2, z = F x - offset, for `count` (a constant) rows of F from `row` on, to the distances of STEP rows. */
WB_INLINE void REAL_NAME(add_squares)(const int count, int row, const REAL *restrict coefficients,
                                      const REAL *restrict x, REAL_VECTOR squares[4]) {
  REAL_VECTOR z[4][4];
  const REAL *line[4];
  WB_UNROLL
  for (int i = 0; i < count; i++) {
    line[i] = coefficients + (size_t)(row + i) * (row + i + 3) / 2;
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) z[i][v] = REAL_SET(line[i][0]);
    line[i]++;
  }
  for (int c = 0; c < row; c++) {
    REAL_VECTOR value[4];
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) value[v] = *(const REAL_VECTOR *)(x + (size_t)c * MIXTURE_TILE + v * LANES);
    WB_UNROLL
    for (int i = 0; i < count; i++) {
      const REAL_VECTOR coefficient = REAL_SET(line[i][c]);
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++) z[i][v] = REAL_FMA(coefficient, value[v], z[i][v]);
    }
  }
  WB_UNROLL
  for (int c = 0; c < count; c++) {
    REAL_VECTOR value[4];
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++)
      value[v] = *(const REAL_VECTOR *)(x + (size_t)(row + c) * MIXTURE_TILE + v * LANES);
    WB_UNROLL
    for (int i = c; i < count; i++) {
      const REAL_VECTOR coefficient = REAL_SET(line[i][row + c]);
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++) z[i][v] = REAL_FMA(coefficient, value[v], z[i][v]);
    }
  }
  WB_UNROLL
  for (int i = 0; i < count; i++) {
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) squares[v] = REAL_FMA(z[i][v], z[i][v], squares[v]);
  }
}

/* log(pi_j N(x | mu_j, Sigma_j)) of the tile's first `lanes` rows or more: constant - |F x - offset|^2 / 2. */
static void REAL_NAME(mixture_log_weight)(int lanes, int p, const REAL *restrict coefficients, const REAL *restrict x,
                                          REAL *restrict log_weight) {
  const REAL constant = coefficients[0];
  coefficients++;
  for (int first = 0; first < lanes; first += STEP) {
    REAL_VECTOR squares[4];
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) squares[v] = REAL_SET(0);
    int row = 0;
    for (; row + 4 <= p; row += 4) REAL_NAME(add_squares)(4, row, coefficients, x + first, squares);
    switch (p - row) {
      case 3: REAL_NAME(add_squares)(3, row, coefficients, x + first, squares); break;
      case 2: REAL_NAME(add_squares)(2, row, coefficients, x + first, squares); break;
      case 1: REAL_NAME(add_squares)(1, row, coefficients, x + first, squares); break;
      default: break;
    }
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++)
      *(REAL_VECTOR *)(log_weight + first + v * LANES) = REAL_FMA(REAL_SET((REAL)-0.5), squares[v], REAL_SET(constant));
  }
}

/* Scales MIXTURE_TILE values of each of p columns; columns are `stride` apart. The values of the next tile are
 * prefetched. `most`: the bound of scaled values; the loop must not know that it is constant (scaled_value.h). */
/* tools/loops: vector additions */
static void REAL_NAME(mixture_load)(int p, const double *restrict x, size_t stride, const double *restrict center,
                                    const double *restrict inverse_scale, double most, void *tile) {
  REAL *restrict scaled = tile;
  for (int c = 0; c < p; c++, x += stride, scaled += MIXTURE_TILE) {
    const double middle = center[c], factor = inverse_scale[c];
#if defined(__GNUC__)
    for (int l = 0; l < MIXTURE_TILE; l += 8) __builtin_prefetch(x + MIXTURE_TILE + l);
#endif
    for (int l = 0; l < MIXTURE_TILE; l++) scaled[l] = (REAL)wb_scaled_within(x[l], middle, factor, most);
  }
}

/* Copies the tile's first `rows` rows one after the other, `stride` doubles each: a 1, then the row's values. */
/* tools/loops: no vector multiply-adds */
static void REAL_NAME(mixture_transpose)(int p, int rows, const void *tile, size_t stride, double *restrict row) {
  const REAL *restrict x = tile;
  for (int l = 0; l < rows; l++, row += stride, x++) {
    *(wb_pair *)row = (wb_pair){1, (double)x[0]};
    int c = 1;
    for (; c + 1 < p; c += 2)
      *(wb_pair *)(row + c + 1) = (wb_pair){(double)x[c * MIXTURE_TILE], (double)x[(c + 1) * MIXTURE_TILE]};
    if (c < p) row[c + 1] = (double)x[c * MIXTURE_TILE];
  }
}

/* Uniforms of the tile's rows for REAL_UNIFORMS successive blocks of components. */
static void REAL_NAME(mixture_uniforms)(uint64_t key, uint32_t iteration, const uint64_t *restrict row, uint32_t group,
                                        REAL *restrict uniform) {
  uint64_t first[MIXTURE_TILE], second[MIXTURE_TILE];
  WB_NAME(philox_words)(MIXTURE_TILE, key, WB_PURPOSE_LABEL, iteration, group, row, first, second);
  for (int l = 0; l < MIXTURE_TILE; l++) REAL_SPREAD(uniform + l, MIXTURE_TILE, first[l], second[l]);
}

/* The state of the tile's rows before the first block. */
WB_INLINE void REAL_NAME(begin_rows)(REAL *restrict largest, REAL *restrict total) {
  for (int l = 0; l < MIXTURE_TILE; l++) {
    largest[l] = REAL_NOTHING;
    total[l] = 0;
  }
}

WB_INLINE int REAL_NAME(weigh_block)(int p, int components, int base, const REAL *restrict coefficients,
                                     const REAL *restrict x, REAL (*restrict log_weight)[MIXTURE_TILE]) {
  const int count = components - base < WB_BLOCK_ITEMS ? components - base : WB_BLOCK_ITEMS;
  for (int j = 0; j < count; j++)
    REAL_NAME(mixture_log_weight)(MIXTURE_TILE, p, coefficients + (size_t)(base + j) * mixture_coefficients(p), x,
                                  log_weight[j]);
  return count;
}

/* Sums a block of weights given by logs, which `prefix` sums replace. 0, without change, if negligible for all rows. */
WB_INLINE int REAL_NAME(sum_block)(const int prefix, int count, REAL (*weight)[MIXTURE_TILE], REAL *restrict largest,
                                   REAL *restrict total, REAL *restrict sum) {
  _Alignas(64) REAL top[MIXTURE_TILE];
  for (int l = 0; l < MIXTURE_TILE; l++) top[l] = weight[0][l];
  for (int j = 1; j < count; j++)
    for (int l = 0; l < MIXTURE_TILE; l++) top[l] = weight[j][l] > top[l] ? weight[j][l] : top[l];
  int matters = 0;
  for (int l = 0; l < MIXTURE_TILE; l++) matters |= top[l] > largest[l] - REAL_NEGLIGIBLE;
  if (!matters) return 0;
  for (int l = 0; l < MIXTURE_TILE; l++) REAL_NAME(block_rescale)(top[l], &largest[l], &total[l]);
  REAL_NAME(block_sum)(MIXTURE_TILE, count, weight[0], MIXTURE_TILE, largest, sum, prefix ? weight[0] : NULL,
                       MIXTURE_TILE);
  return 1;
}

/* Draws the component of each row of the tile, and computes the log of the sum of its weights. x is p x MIXTURE_TILE.
 * coefficients: mixture_coefficients(p) values for each component. If share is not NULL, it is added to the components'
 * log weights; with `place`, row l uses share[place[l]] and what follows. row: the numbers of the tile's rows. */
static void REAL_NAME(mixture_draw)(int p, int components, const void *packed, const void *shares,
                                    const int64_t *restrict place, const void *values, uint64_t key, uint32_t iteration,
                                    const uint64_t *restrict row, void *labels, void *log_sums) {
  const REAL *restrict coefficients = packed, *restrict share = shares, *restrict x = values;
  REAL *restrict log_sum = log_sums;
  REAL_INDEX *restrict label = labels;
  _Alignas(64) REAL weight[WB_BLOCK_ITEMS][MIXTURE_TILE];
  _Alignas(64) REAL uniform[REAL_UNIFORMS * MIXTURE_TILE];
  _Alignas(64) REAL largest[MIXTURE_TILE], total[MIXTURE_TILE], sum[MIXTURE_TILE];
  uint32_t drawn = UINT32_MAX; /* the group of blocks that `uniform` is for; none yet */
  REAL_NAME(begin_rows)(largest, total);
  for (int l = 0; l < MIXTURE_TILE; l++) label[l] = 0;
  for (int base = 0; base < components; base += WB_BLOCK_ITEMS) {
    const int count = REAL_NAME(weigh_block)(p, components, base, coefficients, x, weight);
    for (int j = 0; share && !place && j < count; j++)
      for (int l = 0; l < MIXTURE_TILE; l++) weight[j][l] += share[base + j];
    for (int j = 0; share && place && j < count; j++)
      for (int l = 0; l < MIXTURE_TILE; l++) weight[j][l] += share[place[l] + base + j];
    if (!REAL_NAME(sum_block)(1, count, weight, largest, total, sum)) continue;
    const uint32_t block = (uint32_t)(base / WB_BLOCK_ITEMS);
    if (block / REAL_UNIFORMS != drawn) {
      drawn = block / REAL_UNIFORMS;
      REAL_NAME(mixture_uniforms)(key, iteration, row, drawn, uniform);
    }
    REAL_NAME(block_take)(MIXTURE_TILE, base, count, weight[0], MIXTURE_TILE,
                          uniform + block % REAL_UNIFORMS * MIXTURE_TILE, total, label);
  }
  for (int l = 0; l < MIXTURE_TILE; l++) log_sum[l] = largest[l] + REAL_LOG(total[l]);
}

/* For each row of the tile: the most probable component (the first among equals) and the log of the sum of its weights.
 * probability[l + j stride], unless NULL, gets those of the first `rows` rows, and the log weights meanwhile. */
static void REAL_NAME(mixture_evaluate)(int p, int components, const void *packed, const void *values, void *labels,
                                        void *log_sums, double *restrict probability, int64_t stride, int rows) {
  const REAL *restrict coefficients = packed, *restrict x = values;
  REAL *restrict log_sum = log_sums;
  REAL_INDEX *restrict label = labels;
  _Alignas(64) REAL weight[WB_BLOCK_ITEMS][MIXTURE_TILE];
  _Alignas(64) REAL largest[MIXTURE_TILE], total[MIXTURE_TILE], top[MIXTURE_TILE], sum[MIXTURE_TILE];
  _Alignas(64) REAL_INDEX best[MIXTURE_TILE];
  REAL_NAME(begin_rows)(largest, total);
  for (int l = 0; l < MIXTURE_TILE; l++) label[l] = 0;
  for (int base = 0; base < components; base += WB_BLOCK_ITEMS) {
    const int count = REAL_NAME(weigh_block)(p, components, base, coefficients, x, weight);
    if (probability)
      for (int j = 0; j < count; j++)
        for (int l = 0; l < rows; l++) probability[l + (base + j) * stride] = weight[j][l];
    for (int l = 0; l < MIXTURE_TILE; l++) {
      top[l] = weight[0][l];
      best[l] = base;
    }
    for (int j = 1; j < count; j++)
      for (int l = 0; l < MIXTURE_TILE; l++) {
        best[l] = weight[j][l] > top[l] ? base + j : best[l];
        top[l] = weight[j][l] > top[l] ? weight[j][l] : top[l];
      }
    for (int l = 0; l < MIXTURE_TILE; l++) label[l] = top[l] > largest[l] ? best[l] : label[l];
    for (int l = 0; l < MIXTURE_TILE; l++) REAL_NAME(block_rescale)(top[l], &largest[l], &total[l]);
    REAL_NAME(block_sum)(MIXTURE_TILE, count, weight[0], MIXTURE_TILE, largest, sum, NULL, 0);
    for (int l = 0; l < MIXTURE_TILE; l++) total[l] += sum[l];
  }
  for (int l = 0; l < MIXTURE_TILE; l++) log_sum[l] = largest[l] + REAL_LOG(total[l]);
  if (!probability) return;
  for (int j = 0; j < components; j++)
    for (int l = 0; l < rows; l++) {
      double *entry = probability + l + j * stride;
      *entry = (double)(REAL_EXP_WEIGHT((REAL)*entry - largest[l]) / total[l]);
    }
}

/* tools/loops: no vector multiply-adds */
static void REAL_NAME(mixture_halves)(int lanes, int p, const void *packed, size_t pair, const void *values,
                                      double *restrict difference) {
  const REAL *coefficients = (const REAL *)packed + 2 * mixture_coefficients(p) * pair;
  _Alignas(64) REAL weight[2][MIXTURE_TILE];
  for (int j = 0; j < 2; j++)
    REAL_NAME(mixture_log_weight)(lanes, p, coefficients + (size_t)j * mixture_coefficients(p), values, weight[j]);
  for (int l = 0; l < lanes; l++) difference[l] = (double)weight[1][l] - (double)weight[0][l];
}

/* Log weights of all components (components x MIXTURE_TILE). For each row: the largest log weight, the sum of all
 * weights divided by the largest weight, and the log of the sum, with the bits of mixture_evaluate(). */
static void REAL_NAME(mixture_weigh)(int p, int components, const void *packed, const void *values, void *weights,
                                     void *tops, void *totals, void *log_sums) {
  REAL(*restrict weight)[MIXTURE_TILE] = weights;
  REAL *restrict largest = tops, *restrict total = totals, *restrict log_sum = log_sums;
  _Alignas(64) REAL sum[MIXTURE_TILE];
  REAL_NAME(begin_rows)(largest, total);
  for (int base = 0; base < components; base += WB_BLOCK_ITEMS) {
    const int count = REAL_NAME(weigh_block)(p, components, base, packed, values, weight + base);
    if (!REAL_NAME(sum_block)(0, count, weight + base, largest, total, sum)) continue;
    for (int l = 0; l < MIXTURE_TILE; l++) total[l] += sum[l];
  }
  for (int l = 0; l < MIXTURE_TILE; l++) log_sum[l] = largest[l] + REAL_LOG(total[l]);
}

/* A component's probability for each row of the tile: a function of its own, so that tools/loops sees vector code. */
static __attribute__((noinline)) void REAL_NAME(mixture_probability)(const REAL *restrict log_weight,
                                                                     const REAL *restrict largest,
                                                                     const REAL *restrict total,
                                                                     double *restrict probability) {
  for (int l = 0; l < MIXTURE_TILE; l++)
    probability[l] = (double)(REAL_EXP_WEIGHT(log_weight[l] - largest[l]) / total[l]);
}

/* Lists, in order, the rows among the tile's first `rows` whose probability of a component counts, and these
 * probabilities. Returns their number. Most components have none. */
/* tools/loops: no vector multiply-adds */
static int REAL_NAME(mixture_list)(size_t component, const void *weights, const void *tops, const void *totals,
                                   int rows, int32_t *restrict member, double *restrict weight) {
  const REAL *restrict log_weight = (const REAL *)weights + component * MIXTURE_TILE, *restrict largest = tops;
  _Alignas(64) double probability[MIXTURE_TILE];
  int matters = 0, count = 0;
  for (int l = 0; l < MIXTURE_TILE; l++) matters |= log_weight[l] - largest[l] > (REAL)MIXTURE_LOG_LEAST_WEIGHT;
  if (!matters) return 0;
  REAL_NAME(mixture_probability)(log_weight, largest, totals, probability);
  for (int l = 0; l < rows; l++) {
    member[count] = l;
    weight[count] = probability[l];
    count += probability[l] >= WB_MIXTURE_LEAST_WEIGHT;
  }
  return count;
}

#undef LANES
#undef VECTORS
#undef STEP
