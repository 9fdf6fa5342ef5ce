/* Topic models on a graphics card: the twin of cpu/topic_model/tokens.c, with the same bits in double precision. The
 * corpus, the topics and phi stay on the device. A sweep sends alpha and returns a number for each document. */
#include "cuda/table.cuh"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "cuda/topic_model/tokens_kernels.cuh"

struct wb_topic_session {
  int32_t device;
  wb::own_stream stream;
  int topics, groups, rows, threads;
  size_t width;
  wb_precision precision;
  int64_t leaves, pairs, tokens;
  device_corpus corpus;
  wb::device_array<int32_t> term, count, place_count, group, extra_of;
  wb::device_array<uint32_t> pair_token, place_token;
  wb::device_array<int64_t> first_pair, first_token, first_place;
  wb::device_array<uint16_t> topic;
  wb::device_bytes phi;
  wb::device_array<double> leaf_sum, inverse, alpha, extra, norm, total, log_likelihood, stage;
  wb::device_array<double> log_phi;            /* terms x topics; empty unless documents have one topic */
  wb::device_array<unsigned long long> tables; /* a number for each alpha and one more, then the histogram */
  std::vector<double> sent_alpha;
  int32_t alpha_levels, beta_levels; /* of core/topic_tables.h */
  wb::device_array<wb_gamma_strips> term_strips, share_strips;
  double term_base = 0, share_base = 0; /* of the tables; 0: none */

  int32_t *histogram() const { return reinterpret_cast<int32_t *>(tables.data() + alpha.size() + 1); }
  size_t real() const { return precision == WB_SINGLE ? sizeof(float) : sizeof(double); }
  /* How many documents (with theta) or terms (with phi) a stage holds. */
  int64_t stage_rows() const { return int64_t(stage.size() / size_t(topics)); }
};

namespace {

/* Bytes of theta, or of phi, on their way at a time. */
constexpr size_t STAGE_BYTES = 64 * 1000 * 1000;

template <typename Work>
int on_device(wb_topic_session *s, wb_message *message, Work work) {
  WB_ON_DEVICE(s->device, message, &s->stream);
  return wb::with_precision(s->precision, work);
}

/* An array of the host with one element more, since arrays of no document have an address too. */
template <typename T>
int send(wb::device_array<T> &array, const T *from, int64_t count, wb_message *message) {
  WB_TRY(array.allocate(size_t(count) + 1, "the documents", message));
  if (count == 0) return WB_OK;
  return array.upload(from, size_t(count), "sending the documents to the device", message);
}

/* Bytes of shared memory of a document's block of so many threads. */
template <typename Real>
size_t document_shared(int rows, int threads) {
  return document_memory<Real>(rows, threads / TEAM<Real>).bytes;
}

/* How many threads a document's block can have with the device's shared memory; 0 if not even a warp. */
int find_threads(const wb_topic_session *s, int most_shared) {
  for (int threads = DOCUMENT_THREADS; threads >= WARP; threads /= 2) {
    const size_t bytes = s->precision == WB_SINGLE ? document_shared<float>(s->rows, threads)
                                                   : document_shared<double>(s->rows, threads);
    if (bytes <= size_t(most_shared)) return threads;
  }
  return 0;
}

int fill_session(wb_topic_session *s, const wb_topic_corpus *c, const wb_topic_structure &structure,
                 uint64_t memory_limit, wb_message *message) {
  int most_shared = 0;
  WB_TRY(wb::status_of(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, s->device),
                       "asking for the device's shared memory", message));
  s->threads = find_threads(s, most_shared);
  if (s->threads == 0)
    return wb_fail(
        message, WB_ERROR_BACKEND,
        "%d topics are too many for this device, whose blocks have %d bytes of shared memory; use backend = \"cpu\"",
        s->topics, most_shared);
  const size_t topics = size_t(s->topics), documents = size_t(c->documents), terms = size_t(c->terms);
  const size_t alphas = size_t(s->groups) * topics;
  const size_t phi_bytes = terms * s->width * s->real();
  const size_t stage =
      wb::smaller(wb::larger(documents, terms) * topics, wb::larger(STAGE_BYTES / sizeof(double), topics));
  const size_t histogram = wb::larger(alphas * (size_t(s->alpha_levels) + 1), size_t(s->beta_levels) + 1);
  const uint64_t needed = phi_bytes + histogram * sizeof(int32_t) +
                          sizeof(double) * (size_t(s->leaves) * topics + stage + documents * 4 + terms + alphas * 2 +
                                            size_t(structure.extras) * topics) +
                          uint64_t(c->pairs) * 28 + uint64_t(c->tokens) * 2;
  uint64_t left = 0;
  WB_TRY(wb::memory_left(memory_limit, 0, &left, message));
  if (needed > left)
    return wb_fail(message, WB_ERROR_MEMORY,
                   "%.2f MB of device memory are needed for %d topics of %d terms, but %.2f MB can be used",
                   double(needed) / 1e6, s->topics, int(c->terms), double(left) / 1e6);
  std::vector<uint32_t> pair_token(size_t(c->pairs));
  for (int64_t d = 0; d < c->documents; d++) {
    int64_t token = c->first_token[d];
    for (int64_t i = c->first_pair[d]; i < c->first_pair[d + 1]; i++) {
      pair_token[size_t(i)] = uint32_t(token);
      token += c->count[i];
    }
  }
  WB_TRY(send(s->term, c->term, c->pairs, message));
  WB_TRY(send(s->count, c->count, c->pairs, message));
  WB_TRY(send(s->pair_token, pair_token.data(), c->pairs, message));
  WB_TRY(send(s->place_token, c->place_token, c->pairs, message));
  WB_TRY(send(s->place_count, c->place_count, c->pairs, message));
  WB_TRY(send(s->first_pair, c->first_pair, c->documents + 1, message));
  WB_TRY(send(s->first_token, c->first_token, c->documents + 1, message));
  WB_TRY(send(s->first_place, c->first_place, c->terms + 1, message));
  WB_TRY(s->topic.allocate(size_t(c->tokens) + 1, "the topics of the tokens", message));
  WB_TRY(s->phi.allocate(phi_bytes, "the terms of the topics", message));
  /* The lanes past the last topic stay 0. */
  WB_TRY(wb::clear(s->phi.address(), phi_bytes, "clearing the terms of the topics", message));
  WB_TRY(s->leaf_sum.allocate(size_t(s->leaves) * topics, "sums of terms", message));
  WB_TRY(s->inverse.allocate(topics, "sums of terms", message));
  WB_TRY(s->alpha.allocate(alphas, "alpha", message));
  WB_TRY(s->norm.allocate(documents, "sums of topics", message));
  WB_TRY(s->log_likelihood.allocate(documents, "log likelihoods", message));
  WB_TRY(s->total.allocate(size_t(c->pairs) + 1, "sums of weights", message));
  WB_TRY(s->stage.allocate(stage, "topics on their way", message));
  WB_TRY(s->tables.allocate(alphas + 1 + (histogram + 1) / 2, "tables", message));
  if (s->groups > 1) WB_TRY(send(s->group, structure.group, c->documents, message));
  if (structure.extras > 0) {
    WB_TRY(send(s->extra_of, structure.extra_of, c->terms, message));
    WB_TRY(send(s->extra, structure.extra, int64_t(structure.extras) * s->topics, message));
  }
  s->corpus = {c->documents,          c->terms,
               s->term.data(),        s->count.data(),
               s->pair_token.data(),  s->first_pair.data(),
               s->first_token.data(), s->first_place.data(),
               s->place_token.data(), s->place_count.data(),
               s->group.data(),       s->extra_of.data(),
               s->extra.data()};
  return WB_OK;
}

int open_session(const wb_topic_corpus *corpus, const wb_topic_settings *settings, const wb_run *run,
                 wb_topic_session **session, wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  std::unique_ptr<wb_topic_session> s(new (std::nothrow) wb_topic_session());
  if (s == nullptr) return wb_fail(message, WB_ERROR_MEMORY, "no memory for the session of the topic model");
  s->device = run->device;
  WB_TRY(s->stream.create(message));
  s->topics = settings->topics;
  s->groups = settings->structure.groups > 1 ? settings->structure.groups : 1;
  s->rows = wb_topic_rows(settings->topics);
  s->width = size_t(s->rows) * WB_TOPIC_LANES;
  s->precision = settings->precision;
  s->leaves = wb::ceiling(corpus->terms, WB_TOPIC_LEAF);
  s->pairs = corpus->pairs;
  s->tokens = corpus->tokens;
  s->alpha_levels = wb_topic_alpha_levels(int64_t(s->groups) * s->topics, corpus->longest_document);
  s->beta_levels = wb_topic_beta_levels(corpus->longest_term);
  WB_TRY(fill_session(s.get(), corpus, settings->structure, run->memory_limit, message));
  *session = s.release();
  return WB_OK;
}

int set_topics(wb_topic_session *s, const uint16_t *topic, wb_message *message) {
  WB_ON_DEVICE(s->device, message, &s->stream);
  return s->topic.upload(topic, size_t(s->tokens), "sending topics to the device", message);
}

int get_topics(wb_topic_session *s, uint16_t *topic, wb_message *message) {
  WB_ON_DEVICE(s->device, message, &s->stream);
  return s->topic.download(topic, size_t(s->tokens), "bringing topics from the device", message);
}

int prepare_strips(double base, wb::device_array<wb_gamma_strips> &strips, double &last, const wb_gamma_strips **made,
                   wb_message *message) {
  if (strips.size() == 0) WB_TRY(strips.allocate(1, "tables of gammas", message));
  if (last != base)
    WB_TRY(wb::launch(wb::grid(2, WB_GAMMA_COUNTS), topic_strips, "making tables of gammas", message, base,
                      strips.data()));
  last = base;
  *made = strips.data();
  return WB_OK;
}

int draw_terms(wb_topic_session *s, const wb_topic_draw *draw, wb_message *message) {
  return on_device(s, message, [&](auto real) {
    typedef decltype(real) Real;
    const wb_gamma_strips *strips = nullptr;
    if (draw->beta_tables) WB_TRY(prepare_strips(draw->beta, s->term_strips, s->term_base, &strips, message));
    Real *const phi = static_cast<Real *>(s->phi.address());
    WB_TRY(wb::clear(phi, s->phi.bytes(), "clearing the terms of the topics", message));
    if (s->pairs > 0)
      WB_TRY(wb::launch(wb::cover(COUNT_THREADS, s->pairs), topic_count_terms<Real>, "counting terms", message,
                        s->corpus, s->pairs, s->topic.data(), s->width, phi));
    WB_TRY(wb::launch(wb::grid(TERM_THREADS, s->leaves, wb::ceiling(s->topics, TERM_THREADS)), topic_terms<Real>,
                      "drawing terms", message, s->corpus, s->topics, s->width, draw->key, draw->iteration, draw->mean,
                      draw->beta, strips, phi, s->leaf_sum.data()));
    return wb::launch(wb::cover(128, s->topics), topic_inverse, "adding terms", message, s->leaf_sum.data(), s->leaves,
                      s->topics, s->inverse.data());
  });
}

int set_phi(wb_topic_session *s, const double *phi, wb_message *message) {
  return on_device(s, message, [&](auto real) {
    typedef decltype(real) Real;
    WB_TRY(wb::in_batches(s->corpus.terms, s->stage_rows(), [&](int64_t first, int64_t terms) {
      const int64_t count = terms * s->topics;
      WB_TRY(s->stage.upload(phi + first * s->topics, size_t(count), "sending terms to the device", message));
      return wb::launch(wb::cover(256, count), topic_set_phi<Real>, "setting terms", message, s->stage.data(),
                        s->topics, s->width, count, static_cast<Real *>(s->phi.address()) + size_t(first) * s->width);
    }));
    return wb::launch(wb::cover(128, s->topics), topic_ones, "setting terms", message, s->topics, s->inverse.data());
  });
}

int get_phi(wb_topic_session *s, double *phi, wb_message *message) {
  return on_device(s, message, [&](auto real) {
    typedef decltype(real) Real;
    static const char *const what = "bringing terms from the device";
    const size_t topics = size_t(s->topics);
    std::vector<double> inverse(topics);
    WB_TRY(s->inverse.download(inverse.data(), topics, what, message));
    std::vector<Real> rows(64 * s->width);
    return wb::in_batches(s->corpus.terms, 64, [&](int64_t begin, int64_t count) {
      const size_t first = size_t(begin), terms = size_t(count);
      WB_TRY(wb::copy_to_host(rows.data(), static_cast<const Real *>(s->phi.address()) + first * s->width,
                              terms * s->width * sizeof(Real), what, message));
      for (size_t w = 0; w < terms; w++)
        for (size_t k = 0; k < topics; k++) phi[(first + w) * topics + k] = double(rows[w * s->width + k]) * inverse[k];
      return int(WB_OK);
    });
  });
}

/* A copy takes as long as a kernel of a small sweep, so alpha is sent where it has changed. */
int send_alpha(wb_topic_session *s, const double *alpha, wb_message *message) {
  const size_t count = s->alpha.size();
  if (s->sent_alpha.size() == count && std::equal(alpha, alpha + count, s->sent_alpha.begin())) return WB_OK;
  s->sent_alpha.clear();
  WB_TRY(s->alpha.upload(alpha, count, "sending alpha to the device", message));
  s->sent_alpha.assign(alpha, alpha + count);
  return WB_OK;
}

/* All documents, as many at a time as the stage holds where theta goes or comes. */
int pass_documents(wb_topic_session *s, const wb_topic_draw *draw, const double *given, double *log_likelihood,
                   double *theta, wb_message *message) {
  return on_device(s, message, [&](auto real) {
    typedef decltype(real) Real;
    const int64_t topics = s->topics, all = s->corpus.documents;
    const int64_t at_once = given != nullptr || theta != nullptr ? s->stage_rows() : all;
    const wb_gamma_strips *strips = nullptr;
    if (draw != nullptr) WB_TRY(send_alpha(s, draw->alpha, message));
    if (draw != nullptr && draw->alpha_tables)
      WB_TRY(prepare_strips(draw->alpha[0], s->share_strips, s->share_base, &strips, message));
    const wb_topic_draw how = draw != nullptr ? *draw : wb_topic_draw{};
    double *const stage = s->stage.data(), *const in = given != nullptr ? stage : nullptr,
                  *const out = theta != nullptr ? stage : nullptr;
    const Real *const phi = static_cast<const Real *>(s->phi.address());
    document_arguments<Real> a = {
        s->corpus,     s->topic.data(), s->topics, s->rows, phi, s->inverse.data(), s->alpha.data(), strips, how.key,
        how.iteration, how.mean,        0,         in,      out, s->norm.data(),    s->total.data()};
    WB_TRY(wb::in_batches(all, at_once, [&](int64_t first, int64_t documents) {
      const size_t count = size_t(documents * topics);
      a.first = first;
      if (given != nullptr)
        WB_TRY(s->stage.upload(given + first * topics, count, "sending topics to the device", message));
      WB_TRY(wb::launch(wb::grid(s->threads, documents).sharing(document_shared<Real>(s->rows, s->threads)),
                        topic_documents<Real>, "drawing documents", message, a));
      if (theta == nullptr) return int(WB_OK);
      return s->stage.download(theta + first * topics, count, "bringing topics from the device", message);
    }));
    WB_TRY(wb::launch(wb::cover(SCORE_THREADS, all * WARP), topic_score, "adding logs", message, s->corpus,
                      s->total.data(), s->norm.data(), s->log_likelihood.data()));
    return s->log_likelihood.download(log_likelihood, size_t(all), "bringing log likelihoods from the device", message);
  });
}

int draw_documents(wb_topic_session *s, const wb_topic_draw *draw, double *log_likelihood, double *theta,
                   wb_message *message) {
  return pass_documents(s, draw, nullptr, log_likelihood, theta, message);
}

int score(wb_topic_session *s, const double *theta, double *log_likelihood, wb_message *message) {
  return pass_documents(s, nullptr, theta, log_likelihood, nullptr, message);
}

int clear_tables(wb_topic_session *s, wb_message *message) {
  return wb::clear(s->tables.data(), s->tables.bytes(), "clearing tables", message);
}

/* A number for each alpha, one more, and the first `more` of what follows. */
int bring_tables(wb_topic_session *s, size_t more, std::vector<unsigned long long> &tables, wb_message *message) {
  tables.resize(s->alpha.size() + 1 + more);
  return s->tables.download(tables.data(), tables.size(), "bringing tables from the device", message);
}

int draw_members(wb_topic_session *s, const wb_topic_draw *draw, const double *log_share, int64_t *members,
                 double *log_likelihood, double *theta, wb_message *message) {
  return on_device(s, message, [&](auto real) {
    typedef decltype(real) Real;
    const int64_t topics = s->topics, logs = topics * s->corpus.terms, all = s->corpus.documents;
    if (s->log_phi.size() == 0)
      WB_TRY(s->log_phi.allocate(size_t(logs), "the logs of the terms of the topics", message));
    WB_TRY(clear_tables(s, message));
    WB_TRY(send_alpha(s, log_share, message));
    WB_TRY(wb::launch(wb::cover(COUNT_THREADS, logs), topic_log_terms<Real>, "logs of terms", message, logs, s->topics,
                      s->width, static_cast<const Real *>(s->phi.address()), s->inverse.data(), s->log_phi.data()));
    WB_TRY(wb::in_batches(all, theta != nullptr ? s->stage_rows() : all, [&](int64_t first, int64_t documents) {
      WB_TRY(wb::launch(wb::grid(WARP, documents).sharing(size_t(topics) * sizeof(double)), topic_members,
                        "drawing the topics of documents", message, s->corpus, first, s->topics, draw->key,
                        draw->iteration, s->log_phi.data(), s->alpha.data(), s->topic.data(), s->log_likelihood.data(),
                        theta != nullptr ? s->stage.data() : nullptr, s->tables.data()));
      if (theta == nullptr) return int(WB_OK);
      return s->stage.download(theta + first * topics, size_t(documents * topics), "bringing topics from the device",
                               message);
    }));
    std::vector<unsigned long long> counted;
    WB_TRY(bring_tables(s, 0, counted, message));
    for (int64_t k = 0; k < topics; k++) members[k] = int64_t(counted[size_t(k)]);
    return s->log_likelihood.download(log_likelihood, size_t(all), "bringing log likelihoods from the device", message);
  });
}

int count_documents(wb_topic_session *s, const wb_topic_draw *draw, int32_t *histogram, int64_t *tables,
                    wb_message *message) {
  WB_ON_DEVICE(s->device, message, &s->stream);
  const size_t alphas = s->alpha.size(), cells = alphas * (size_t(s->alpha_levels) + 1);
  WB_TRY(clear_tables(s, message));
  WB_TRY(send_alpha(s, draw->alpha, message));
  const size_t tally = size_t(s->topics) * sizeof(int32_t);
  WB_TRY(wb::launch(wb::grid(TABLE_THREADS, s->corpus.documents).sharing(tally), topic_document_tables,
                    "drawing tables", message, s->corpus, s->topic.data(), s->topics, s->alpha_levels, draw->key,
                    draw->iteration, s->alpha.data(), s->histogram(), s->tables.data()));
  std::vector<unsigned long long> drawn;
  WB_TRY(bring_tables(s, (cells + 1) / 2, drawn, message));
  for (size_t i = 0; i < alphas; i++) tables[i] = int64_t(drawn[i]);
  std::memcpy(histogram, drawn.data() + alphas + 1, cells * sizeof(int32_t));
  return WB_OK;
}

int draw_term_tables(wb_topic_session *s, const wb_topic_draw *draw, int64_t *tables, int64_t *size,
                     wb_message *message) {
  WB_ON_DEVICE(s->device, message, &s->stream);
  const size_t topics = size_t(s->topics);
  WB_TRY(clear_tables(s, message));
  WB_TRY(wb::launch(wb::grid(TABLE_THREADS, s->corpus.terms).sharing(topics * sizeof(int32_t)), topic_term_tables,
                    "drawing tables", message, s->corpus, s->topic.data(), s->topics, s->beta_levels, draw->key,
                    draw->iteration, draw->beta, s->histogram(), s->tables.data() + topics, s->tables.data()));
  WB_TRY(wb::launch(wb::grid((s->beta_levels - 1) / WB_TOPIC_LEVEL_CHUNK + 1, 1), topic_chunk_tables, "drawing tables",
                    message, s->beta_levels, draw->key, draw->iteration, draw->beta, s->histogram(),
                    s->tables.data() + topics));
  std::vector<unsigned long long> drawn;
  WB_TRY(bring_tables(s, 0, drawn, message));
  for (size_t k = 0; k < topics; k++) size[k] = int64_t(drawn[k]);
  *tables = int64_t(drawn[topics]);
  return WB_OK;
}

} // namespace

const wb_topic_model_functions wb_cuda_topic_model = {
    open_session,   set_topics,   get_topics,      draw_terms,       set_phi, get_phi,
    draw_documents, draw_members, count_documents, draw_term_tables, score,   wb::close_on_device<wb_topic_session>,
};
