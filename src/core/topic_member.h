/* The draw of a document's topic where all its tokens have the same one. The log weight of topic k is log_share_k plus,
 * for each term of the document in order, its count times the log of phi_kw, by fused multiply-adds. */
#pragma once

#include "core/categorical_draw.h"
#include "core/elementary.h"
#include "core/philox.h"
#include "core/purpose.h"

/* A term's probability before its log is taken: a gamma of a small shape may be 0. */
WB_HD double wb_topic_term(double probability) { return probability > 1e-300 ? probability : 1e-300; }

/* The topic of a document. weight: exp(log weight - highest log weight), added up in order; sum receives their sum. */
WB_HD int wb_topic_member(const double *weight, int topics, uint64_t key, uint32_t iteration, uint64_t document,
                          double *sum) {
  double total = 0, before = 0;
  for (int k = 0; k < topics; k++) total += weight[k];
  *sum = total;
  const wb_bits bits =
      wb_philox(key, 0, (uint32_t)document, wb_philox_c2(WB_PURPOSE_TOPIC_MEMBER, document), iteration);
  const double target = wb_target(wb_uniform(wb_bits64(bits, 0)), total);
  int k = 0;
  for (; k < topics - 1; k++) {
    before += weight[k];
    if (before > target) break;
  }
  return k;
}
