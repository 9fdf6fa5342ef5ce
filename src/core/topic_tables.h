/* The auxiliary variables that make the conditional laws of alpha and beta gamma, for one row and topic or one row
 * (Escobar & West 1995, Journal of the American Statistical Association 90, 577-588; Teh, Jordan, Beal & Blei 2006, the
 * same 101, 1566-1581, appendix A).
 *
 *   Gamma(a + n)/Gamma(a) = prod_{i<n} (a + i): one table for token i with probability
 *   a/(a + i);   Gamma(A)/Gamma(A + N) = int h^(A-1) (1 - h)^(N-1) dh / Gamma(N).
 */
#ifndef WB_TOPIC_TABLES_H
#define WB_TOPIC_TABLES_H

#include "core/random_beta.h"

/* How many of the tokens first..count - 1 open a table, token i with probability shape / (shape + extra + i). No table
 * opens from one token to another with the product of the other probabilities, so that one uniform number finds the
 * next token that does: most topics of a document need only one. */
WB_HD int64_t wb_topic_openings(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t element, double shape,
                                double extra, int32_t first, int32_t count) {
  if (first >= count) return 0;
  wb_stream stream = wb_stream_open(key, purpose, iteration, element);
  int64_t tables = 0;
  double none = 1.0, u = wb_stream_uniform(&stream);
  for (int32_t i = first; i < count; i++) {
    const double others = extra + (double)i;
    none *= others / (shape + others);
    if (u < none) continue;
    tables++;
    none = 1.0;
    u = wb_stream_uniform(&stream);
  }
  return tables;
}

/* How many of the tokens 0..count - 1, count >= 1, open a table; the first always. */
WB_HD int64_t wb_topic_tables(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t element, double shape,
                              int32_t count) {
  return 1 + wb_topic_openings(key, purpose, iteration, element, shape, 0.0, 1, count);
}

/* The same with shape + extra instead of shape, where a table counts with probability shape / (shape + extra): for the
 * law of shape if extra is fixed, since (shape + extra)^m is a sum over the subsets of m tables. */
WB_HD int64_t wb_topic_own_tables(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t element, double shape,
                                  double extra, int32_t count) {
  if (extra == 0.0) return wb_topic_tables(key, purpose, iteration, element, shape, count);
  return wb_topic_openings(key, purpose, iteration, element, shape, extra, 0, count);
}

/* log of a draw from Be(shape_sum, tokens); 0 if there are no tokens, since the factor is then 1. */
WB_HD double wb_topic_log_stick(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t element, double shape_sum,
                                int64_t tokens) {
  if (tokens == 0) return 0.0;
  wb_stream stream = wb_stream_open(key, purpose, iteration, element);
  double log_v, log_1mv;
  wb_draw_log_beta(&stream, shape_sum, (double)tokens, &log_v, &log_1mv);
  return log_v;
}

#endif
