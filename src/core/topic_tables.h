/* The auxiliary variables that make the conditional laws of alpha and beta gamma (Escobar & West 1995, Journal of the
 * American Statistical Association 90, 577-588; Teh, Jordan, Beal & Blei 2006, the same 101, 1566-1581, appendix A).
 *
 *   Gamma(a + n)/Gamma(a) = prod_{i<n} (a + i): one table for token i with probability a/(a + i);
 *   Gamma(A)/Gamma(A + N) = int h^(A-1) (1 - h)^(N-1) dh / Gamma(N).
 *
 * Only sums of tables over many counts n with the same a are needed. The tables of tokens i are one binomial draw, from
 * the number of counts above i, by a histogram. Tokens above its last level are drawn one by one. Likewise the sum of
 * -log h over many rows is a sum over i of gammas of rate A + i, whose shape is the number of rows with more than i
 * tokens. */
#pragma once

#include "core/random_beta.h"
#include "core/random_binomial.h"

/* Levels of beta that share a stream. */
#define WB_TOPIC_LEVEL_CHUNK 32

/* The number of levels of the `rows` histograms of alpha, or of the histogram of beta; longest: the most tokens of a
 * document, or of a term. A histogram has the numbers of counts 0, ..., levels, the last one with all larger counts. */
WB_HD int32_t wb_topic_alpha_levels(int64_t rows, int64_t longest) {
  int64_t levels = 262144 / rows;
  if (levels < 8) levels = 8;
  if (levels > 4096) levels = 4096;
  if (levels > longest) levels = longest;
  return levels < 1 ? 1 : (int32_t)levels;
}
WB_HD int32_t wb_topic_beta_levels(int64_t longest) {
  return longest > 2048 ? 2048 : longest < 1 ? 1 : (int32_t)longest;
}

/* How many tokens of the levels high - 1, ..., low >= 1 open a table, token i with probability shape / (shape + i).
 * *above: the number of counts of at least `high`; receives the number of counts of at least `low`.
 *
 * One uniform number finds the next level with an opening, since most levels have none. */
WB_HD int64_t wb_topic_level_openings(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t element,
                                      double shape, const int32_t *histogram, int32_t low, int32_t high,
                                      int64_t *above) {
  wb_stream stream = wb_stream_open(key, purpose, iteration, element);
  int64_t tables = 0, tokens = *above;
  double none = 1.0, u = 2.0; /* 2: not drawn yet */
  for (int32_t i = high - 1; i >= low; i--) {
    if (tokens > 0) {
      const double others = (double)i, all = shape + others, p = shape / all, q = others / all;
      if (p > q || p * (double)tokens > WB_BINOMIAL_INVERSION) {
        tables += wb_draw_binomial(&stream, tokens, p, q);
      } else {
        if (u > 1.0) u = wb_stream_uniform(&stream);
        const double closed = wb_whole_power(q, tokens), next = none * closed;
        if (u < next) {
          none = next;
        } else {
          tables += wb_binomial_invert(tokens, p, q, closed, u / none);
          none = 1.0;
          u = 2.0;
        }
      }
    }
    tokens += histogram[i];
  }
  *above = tokens;
  return tables;
}

/* How many of the tokens first..count - 1 open a table: token i with probability shape / (shape + extra + i). */
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

/* wb_topic_level_openings() of a chunk of the levels of beta, which has a stream of its own. */
WB_HD int64_t wb_topic_chunk_openings(uint64_t key, uint32_t purpose, uint32_t iteration, double shape,
                                      const int32_t *histogram, int32_t levels, int32_t chunk, int64_t *above) {
  const int32_t first = chunk * WB_TOPIC_LEVEL_CHUNK, end = first + WB_TOPIC_LEVEL_CHUNK;
  return wb_topic_level_openings(key, purpose, iteration, (uint64_t)chunk, shape, histogram, first < 1 ? 1 : first,
                                 end < levels ? end : levels, above);
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
