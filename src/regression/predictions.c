/* Predictions of a regression: which draws the quantiles lie between (type 7 of Hyndman & Fan 1996, American
 * Statistician 50, 361-365), and how far out they are to be looked for. */
#include "core/scalar.h"

#include "regression/regression.h"

#include "core/elementary.h"

/* The score that `count` of `draws` normal numbers are below; far out if there is none. */
static double score_of(double count, double draws) {
  if (count <= 0.0) return -1e30;
  return count < draws ? wb_normal_quantile_within(count / draws) : 1e30;
}

int wb_regression_predict(const wb_call *call, wb_regression_prediction *prediction, const double *probability,
                          int64_t first, int64_t count, double *out) {
  WB_TRY(wb_backend_has(call->backend, call->backend->regression, "regressions", call->message));
  const double draws = (double)prediction->draws;
  for (int tail = 0; tail < 2; tail++) {
    const double place = (draws - 1.0) * probability[tail];
    prediction->index[tail] = (int64_t)place;
    prediction->part[tail] = place - (double)prediction->index[tail];
    /* How many draws are below a score varies by up to the root of their number. */
    const double below = (double)prediction->index[tail] + 1.0, above = draws - below;
    const double width = 4.0 + 2.5 * wb_sqrt(below < above ? below : above);
    prediction->score[tail][0] = score_of(below - width, draws);
    prediction->score[tail][1] = score_of(below + 1.0 + width, draws);
    prediction->start[tail] = score_of(below < draws ? below : draws - 0.5, draws);
  }
  return call->backend->regression->predict(prediction, first, count, &call->run, out, call->message);
}
