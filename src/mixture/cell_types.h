/* Joins the components of several draws of a mixture into cell types. */
#pragma once

#include "backend/types.h"
#include "mixture/mixture.h"
#include "mixture/peaks.h"

/* Outputs, from 0. A component with less than `least` of a draw's weight takes those of the nearest with as much. */
typedef struct wb_mixture_types {
  int32_t *own;   /* components x draws: the branch in the draw's own density; NULL: not wanted */
  int32_t *leaf;  /* components x draws: the leaf of the averaged density at its mean */
  int32_t leaves; /* how many of these there are */
  int32_t *type;  /* leaves: the type of each by the rule */
  double *mass;   /* leaves: the weight; the sum is 1 */
  double *place;  /* columns x leaves: the mean, in units of the averaged density */
} wb_mixture_types;

/* The most leaves that wb_mixture_find_types() finds: arrays of `out` have room for as many. used: components. */
int32_t wb_mixture_most_leaves(const wb_mixture_draws *draws, double least, int32_t averaged, const int32_t *which,
                               int32_t *used);

/* which: the `averaged` draws, as positions among `draws`, whose components together are the averaged density. Its
 * finest branches, which any valley separates, cut by the branches of the rule, are the leaves. */
int wb_mixture_find_types(const wb_mixture_draws *draws, double least, int32_t averaged, const int32_t *which,
                          const wb_peaks_rule *rule, int32_t threads, wb_poll *poll, wb_mixture_types *out,
                          wb_message *message);
