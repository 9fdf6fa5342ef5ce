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

/* which: the `averaged` draws, as positions among `draws`, whose components together are the averaged density. Its
 * finest branches, which any valley separates, cut by the branches of the rule, are the leaves. Arrays of `out` have
 * room for as many leaves as components. */
int wb_mixture_find_types(const wb_mixture_draws *draws, double least, int32_t averaged, const int32_t *which,
                          const wb_peaks_rule *rule, const wb_run *run, wb_poll *poll, wb_mixture_types *out,
                          wb_message *message);
