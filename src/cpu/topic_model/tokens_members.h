/* Documents of one topic, a thread for a group; for cpu/topic_model/tokens.c. Lower bound besides draw_terms(): a
 * logarithm for each topic of each term, a multiply-add and two loads for each topic of each pair, and an exponential
 * for each topic of each document. */
#pragma once

static void log_leaf(void *context, int64_t leaf) {
  wb_topic_session *const s = context;
  const int topics = s->settings.topics;
  const int64_t first = leaf * WB_TOPIC_LEAF;
  const int64_t end = first + WB_TOPIC_LEAF < s->corpus.terms ? first + WB_TOPIC_LEAF : s->corpus.terms;
  const size_t at = (size_t)first * s->width;
  double *const to = s->log_phi + at;
  if (s->settings.precision == WB_SINGLE)
    WB_LOOP(topic_log_terms_single, s->isa)((const float *)s->phi + at, s->inverse, end - first, topics, s->width, to);
  else
    WB_LOOP(topic_log_terms_double, s->isa)((const double *)s->phi + at, s->inverse, end - first, topics, s->width, to);
}

static void member_groups(void *context) {
  members_pass *const pass = context;
  wb_topic_session *const s = pass->session;
  const wb_topic_corpus *const c = &s->corpus;
  const int64_t size = s->order.group;
  double *const weight = pass->room + (size_t)wb_take(&pass->thread) * s->width;
  for (int64_t first; (first = size * wb_take(&pass->next)) < c->documents;) {
    const int64_t end = first + size < c->documents ? first + size : c->documents;
    WB_LOOP(topic_members, s->isa)(pass, first, end, weight);
    for (int64_t i = c->first_pair[first]; i < c->first_pair[end]; i++)
      for (uint32_t t = s->order.first[i]; t < s->order.first[i + 1]; t++)
        s->topic[t] = s->member[s->order.document[i]];
  }
}

static int draw_members(wb_topic_session *s, const wb_topic_draw *draw, const double *log_share, int64_t *members,
                        double *log_likelihood, double *theta, wb_message *message) {
  const int64_t documents = s->corpus.documents, size = s->order.group, groups = (documents + size - 1) / size;
  const size_t topics = (size_t)s->settings.topics, bytes = (size_t)s->corpus.terms * s->width * sizeof(double);
  const double log_work = (double)s->corpus.terms * (double)topics * 2;
  const double work = (double)topics * ((double)s->corpus.pairs / 4 + 3 * (double)documents);
  const int threads = useful_threads(s, work, groups);
  if (!s->log_phi) s->log_phi = wb_aligned_malloc(bytes);
  if (!s->member) s->member = malloc(((size_t)documents + 1) * sizeof(uint16_t));
  double *const room = wb_aligned_malloc(((size_t)threads + 1) * s->width * sizeof(double));
  if (!s->log_phi || !s->member || !room) {
    wb_aligned_free(room);
    return wb_out_of_memory(message, "the topics of documents", bytes);
  }
  wb_spread(useful_threads(s, log_work, leaves_of(s)), leaves_of(s), log_leaf, s);
  for (size_t k = 0; k < s->width; k++) room[k] = k < topics ? log_share[k] : -1e300;
  members_pass pass = {s, draw, room, log_likelihood, theta, room + s->width, 0, 0};
  wb_on_threads(threads, member_groups, &pass);
  wb_aligned_free(room);
  s->counted = s->terms_counted = 0;
  memset(members, 0, topics * sizeof(int64_t));
  for (int64_t d = 0; d < documents; d++)
    members[s->member[d]] += s->corpus.first_pair[d] < s->corpus.first_pair[d + 1];
  return WB_OK;
}
