/* The density of a mixture whose thin directions are widened, its peaks, and the branches that valleys separate.
 *
 * Lengths are in units of the pooled covariance W = sum_j w_j S_j / sum_j w_j = C C': z = C^-1 (x - center). */
#pragma once

#include "backend/types.h"

/* Two branches are joined if the density between them does not fall below `valley` times that of the lower of their
 * peaks, or if their means are closer than `distance`. Eigenvalues of covariances are raised to floor^2. */
typedef struct wb_peaks_rule {
  double floor, log_valley, distance;
} wb_peaks_rule;

/* Components in the data's units: weights (k), means and covariances as in wb_mixture_draws, one after the other. */
typedef struct wb_peaks_component {
  double weight;
  const double *mean;       /* columns, `stride` apart */
  const double *covariance; /* columns x columns */
} wb_peaks_component;

typedef struct wb_peaks_density {
  wb_isa isa;
  int32_t components, columns;
  double *weight;   /* components */
  double *mean;     /* components x columns: z_j */
  double *factor;   /* blocks of components x packed triangle: F with F'F = S+^-1 */
  double *offset;   /* blocks of components x columns: F z_j */
  double *constant; /* components, in whole blocks: log(w_j det F_j) */
  double *moments;  /* components x (packed triangle, columns): S+^-1 and S+^-1 z_j, in whole blocks */
  double *unit;     /* packed triangle: C */
  double *center;   /* columns */
  double *room;
  void *memory;
} wb_peaks_density;

/* Allocates a density and computes its unit; wb_peaks_place() then places the components. WB_OK, WB_ERROR_MEMORY or,
 * without a Cholesky factor, WB_ERROR_INPUT. */
int wb_peaks_open(wb_peaks_density *density, wb_isa isa, int32_t components, int32_t columns, size_t stride,
                  const wb_peaks_component *of, wb_message *message);
int wb_peaks_place(const wb_peaks_density *density, size_t stride, const wb_peaks_component *of, double floor);
void wb_peaks_close(wb_peaks_density *density);

static inline double wb_peaks_square(int32_t columns, const double *a, const double *b) {
  double sum = 0;
  for (int32_t c = 0; c < columns; c++) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return sum;
}

/* Adds an item to those that are nearest, of which there are `count`, up to `most`, in order. Returns their number. */
static inline int wb_insert_nearest(int count, int most, double own, int32_t item, double *distance, int32_t *nearest) {
  if (count == most && !(own < distance[most - 1])) return count;
  int at = count < most ? count : most - 1;
  for (; at > 0 && distance[at - 1] > own; at--) {
    distance[at] = distance[at - 1];
    nearest[at] = nearest[at - 1];
  }
  distance[at] = own;
  nearest[at] = item;
  return count < most ? count + 1 : most;
}

/* Position of a point of the data in units of the density. */
void wb_peaks_point(const wb_peaks_density *density, size_t stride, const double *x, double *z);

/* log f(z), without the normal constant. share: whole blocks; the components' shares of f, zero below 2e-9. */
size_t wb_peaks_share_size(int32_t components);
double wb_peaks_log_density(const wb_peaks_density *density, const double *z, double *share);

/* Climbs from z to a peak by modal EM (Li, Ray & Lindsay 2007). `room` has wb_peaks_climb_room() doubles. */
size_t wb_peaks_climb_room(int32_t components, int32_t columns);
void wb_peaks_climb(const wb_peaks_density *density, double *z, double *room);

/* Branches of components, from 0, under each rule: branch[components x rules]. top: components x columns, peaks. */
int wb_peaks_branches(const wb_peaks_density *density, const double *top, const wb_peaks_rule *rule, int32_t rules,
                      int32_t *branch, wb_message *message);
