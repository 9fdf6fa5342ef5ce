/* Trials of Polya-Gamma draws for many elements, included once for each instruction set by isa.h. Vectors run across
 * elements. Each loop applies one scalar function of core/polyagamma_draw.h. `count` is a multiple of 8. */

#include "numeric/philox_loops.h"

/* The two words of each element's block. `count` is a multiple of WB_PHILOX_TILE here. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(polyagamma_words)(int count, uint64_t key, uint32_t block, uint32_t iteration,
                                      const uint64_t *element, uint64_t *first, uint64_t *second) {
  WB_NAME(philox_words)(count, key, WB_PURPOSE_POLYAGAMMA, iteration, block, element, first, second);
}

/* wb_polyagamma_choose() without branches, for tilts >= 0: the way as a double, -1 if it needs more tests. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(polyagamma_way)(int count, const double *restrict shape, const double *restrict tilt,
                                    double *restrict way) {
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
                                        double *restrict mean, double *restrict total, double *restrict right_inverse) {
  for (int i = 0; i < count; i++) {
    const wb_polyagamma_unit unit = wb_polyagamma_unit_prepare(tilt[i]);
    half_square[i] = unit.half_square;
    mean[i] = unit.mean;
    total[i] = unit.total;
    right_inverse[i] = unit.right_inverse;
  }
}

static void WB_NAME(polyagamma_unit)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                     const double *restrict half_square, const double *restrict mean,
                                     const double *restrict total, const double *restrict right_inverse,
                                     double *restrict x) {
  for (int i = 0; i < count; i++) {
    const wb_polyagamma_unit unit = {half_square[i], mean[i], total[i], right_inverse[i]};
    x[i] = wb_polyagamma_unit_trial(unit, first[i], second[i]);
  }
}

static void WB_NAME(polyagamma_part)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                     const double *restrict shape, const double *restrict tilt, double *restrict x) {
  for (int i = 0; i < count; i++) {
    x[i] = wb_polyagamma_part_trial(shape[i], tilt[i], WB_POLYAGAMMA_PART_LIMIT, WB_POLYAGAMMA_PART_TERMS, first[i],
                                    second[i]);
  }
}

static void WB_NAME(polyagamma_alternate)(int count, const uint64_t *restrict first, const uint64_t *restrict second,
                                          const double *restrict shape, const double *restrict tilt,
                                          double *restrict x) {
  for (int i = 0; i < count; i++) {
    x[i] = wb_polyagamma_part_trial(shape[i], tilt[i], WB_POLYAGAMMA_ALTERNATE_LIMIT, WB_POLYAGAMMA_ALTERNATE_TERMS,
                                    first[i], second[i]);
  }
}

static void WB_NAME(polyagamma_inverse_gaussian)(int count, const uint64_t *restrict first,
                                                 const uint64_t *restrict second, const double *restrict shape,
                                                 const double *restrict tilt, double *restrict x) {
  for (int i = 0; i < count; i++) x[i] = wb_polyagamma_inverse_gaussian(shape[i], tilt[i], first[i], second[i]);
}

/* The expansion with so many terms. */
static void WB_NAME(polyagamma_expansion)(int count, int terms, const uint64_t *restrict first,
                                          const double *restrict shape, const double *restrict tilt,
                                          double *restrict x) {
  if (terms == 8)
    for (int i = 0; i < count; i++)
      x[i] = wb_polyagamma_expand(wb_polyagamma_expansion_prepare(shape[i], tilt[i], 8), 8, first[i]);
  else if (terms == 6)
    for (int i = 0; i < count; i++)
      x[i] = wb_polyagamma_expand(wb_polyagamma_expansion_prepare(shape[i], tilt[i], 6), 6, first[i]);
  else
    for (int i = 0; i < count; i++)
      x[i] = wb_polyagamma_expand(wb_polyagamma_expansion_prepare(shape[i], tilt[i], 2), 2, first[i]);
}

/* The same if all elements have the same shape and tilt. */
static void WB_NAME(polyagamma_series)(int count, int terms, const uint64_t *restrict first,
                                       wb_polyagamma_expansion series, double *restrict x) {
  if (terms == 8)
    for (int i = 0; i < count; i++) x[i] = wb_polyagamma_expand(series, 8, first[i]);
  else if (terms == 6)
    for (int i = 0; i < count; i++) x[i] = wb_polyagamma_expand(series, 6, first[i]);
  else
    for (int i = 0; i < count; i++) x[i] = wb_polyagamma_expand(series, 2, first[i]);
}
