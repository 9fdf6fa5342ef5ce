/* Entries of the topic model: they convert between R's values and the host algorithm's (topic_model/topic_model.h). */
#include "entry/fields.h"
#include "entry/slices.h"
#include "numeric/memory.h"
#include "topic_model/topic_model.h"

#include <stdlib.h>
#include <string.h>

typedef struct session {
  const wb_backend *backend;
  wb_topic_session *topic;
  wb_topic_corpus corpus;
  wb_topic_structure structure;   /* its arrays are R's, as the corpus's counts by term; the pointer protects both */
  wb_topic_covariates covariates; /* likewise; no columns: none */
  void *memory;
  int32_t topics, threads;
} session;

static void close_session(SEXP pointer) {
  session *s = R_ExternalPtrAddr(pointer);
  if (!s) return;
  s->backend->topic_model->close(s->topic);
  wb_aligned_free(s->memory);
  R_ClearExternalPtr(pointer);
  free(s);
}

/* NULL if the session is closed. */
static session *open_session(SEXP pointer) { return TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL; }

static SEXP closed(void) { return wb_refuse("the session of the topic model is closed"); }

static int is_counts(SEXP start, SEXP row, SEXP count, int documents) {
  if (TYPEOF(start) != INTSXP || TYPEOF(row) != INTSXP || TYPEOF(count) != INTSXP || LENGTH(start) < 1 ||
      documents < 0 || INTEGER_RO(start)[0] != 0 || Rf_xlength(row) != Rf_xlength(count))
    return 0;
  const int *first = INTEGER_RO(start), *rows = INTEGER_RO(row), *counts = INTEGER_RO(count);
  const int terms = LENGTH(start) - 1;
  if (first[terms] != Rf_xlength(row)) return 0;
  double tokens = 0;
  for (int j = 0; j < terms; j++) {
    if (first[j] > first[j + 1] || first[j] < 0 || first[j + 1] > first[terms]) return 0;
    for (int i = first[j]; i < first[j + 1]; i++) {
      if (rows[i] < 0 || rows[i] >= documents || counts[i] < 1 || (i > first[j] && rows[i] <= rows[i - 1])) return 0;
      tokens += counts[i];
    }
  }
  return tokens < 2147483648.0;
}

/* What differs between documents and terms, as R lists it. */
typedef struct differences {
  wb_topic_structure structure;
  wb_topic_covariates covariates;
} differences;

#define AT(member) offsetof(differences, member)
enum { DOCUMENTS = WB_OWN, TERMS };
static const wb_field structure_fields[] = {
    {"groups", INTSXP, {WB_ONE}, WB_OPTIONAL | WB_COPIED, AT(structure.groups)},
    {"group", INTSXP, {DOCUMENTS}, WB_OPTIONAL, AT(structure.group)},
    {"extra_of", INTSXP, {TERMS}, WB_OPTIONAL, AT(structure.extra_of)},
    {"extra", REALSXP, {WB_ANY}, WB_OPTIONAL | WB_FINITE, AT(structure.extra)},
    {"basis", REALSXP, {WB_ANY}, WB_OPTIONAL | WB_FINITE, AT(covariates.basis)},
    {"used", INTSXP, {DOCUMENTS}, WB_OPTIONAL, AT(covariates.used)},
    {"frame", REALSXP, {WB_ANY}, WB_OPTIONAL | WB_FINITE, AT(covariates.frame)},
};

/* Rows of so many numbers in a vector of R; 0 if they are not whole rows. */
static int32_t rows_in(SEXP values, double row) {
  const double rows = (double)Rf_xlength(values) / row;
  return row >= 1 && rows == (int32_t)rows ? (int32_t)rows : 0;
}

/* Reads NULL, or a list of the number of `groups` and the `group` of each document; of `extra_of` and `extra`, topics x
 * rows, as in wb_topic_structure; and of `basis`, columns x groups, `used` and `frame`, terms x documents, as in
 * wb_topic_covariates. What is missing is none. */
static int read_differences(SEXP list, int documents, int terms, int topics, differences *to) {
  memset(to, 0, sizeof *to);
  if (list == R_NilValue) return 1;
  wb_topic_structure *const structure = &to->structure;
  wb_topic_covariates *const covariates = &to->covariates;
  const double size[] = {WB_SIZES, documents, terms};
  if (!WB_READ(list, structure_fields, size, to)) return 0;
  const int groups = structure->groups > 1 ? structure->groups : 1;
  if (groups > 1 && !wb_are_integers(wb_list_element(list, "group"), documents, 0, groups)) return 0;
  SEXP extra = wb_list_element(list, "extra");
  if (structure->extra) {
    structure->extras = rows_in(extra, topics);
    if (structure->extras < 1 || structure->extras > terms ||
        !wb_are_integers(wb_list_element(list, "extra_of"), terms, -1, structure->extras))
      return 0;
    for (R_xlen_t i = 0; i < Rf_xlength(extra); i++)
      if (!(structure->extra[i] >= 0)) return 0;
  }
  if (!covariates->basis) return 1;
  covariates->rows = groups;
  covariates->columns = rows_in(wb_list_element(list, "basis"), groups);
  covariates->terms = covariates->frame ? rows_in(wb_list_element(list, "frame"), documents) : 0;
  return covariates->used && covariates->columns > 0 && covariates->columns <= documents && covariates->terms > 0 &&
         covariates->terms <= documents;
}

SEXP wb_entry_topic_open(SEXP start, SEXP row, SEXP count, SEXP documents, SEXP topics, SEXP precision, SEXP structure,
                         SEXP run) {
  differences differs;
  if (!is_counts(start, row, count, Rf_asInteger(documents)) || Rf_asInteger(topics) < 1 ||
      Rf_asInteger(topics) > WB_TOPIC_MOST ||
      !read_differences(structure, Rf_asInteger(documents), LENGTH(start) - 1, Rf_asInteger(topics), &differs))
    return wb_changed_fit();
  wb_message message;
  const wb_call call = wb_call_from_list(run, &message);
  const wb_backend *const backend = call.backend;
  const wb_topic_settings settings = {Rf_asInteger(topics), Rf_asInteger(precision) ? WB_SINGLE : WB_DOUBLE,
                                      differs.structure};
  SEXP kept = PROTECT(Rf_cons(count, structure)), pointer = PROTECT(wb_session_begin(kept, close_session));
  session *s = calloc(1, sizeof *s);
  int status = s ? wb_backend_has(backend, backend->topic_model, "topic models", &message)
                 : wb_fail(&message, WB_ERROR_MEMORY, "no memory for the session of the topic model");
  if (s)
    *s = (session){.backend = backend,
                   .topics = settings.topics,
                   .threads = call.run.threads,
                   .structure = differs.structure,
                   .covariates = differs.covariates};
  if (status == WB_OK)
    status = wb_topic_corpus_build(Rf_asInteger(documents), LENGTH(start) - 1, INTEGER_RO(start), INTEGER_RO(row),
                                   INTEGER_RO(count), &s->corpus, &s->memory, &message);
  if (status == WB_OK) status = backend->topic_model->open(&s->corpus, &settings, &call.run, &s->topic, &message);
  if (status != WB_OK && s) wb_aligned_free(s->memory);
  SEXP result = wb_session_end(pointer, s, status, &message);
  UNPROTECT(2);
  return result;
}

/* Topics travel as raw, two bytes a token in the order of the machine. */
static SEXP topics_new(const session *s) {
  return Rf_allocVector(RAWSXP, (R_xlen_t)s->corpus.tokens * (R_xlen_t)sizeof(uint16_t));
}

/* The topics of all tokens after `sweeps` sweeps, one after the other. */
static const uint16_t *topics_from_sexp(SEXP value, const session *s, R_xlen_t sweeps) {
  const R_xlen_t count = sweeps * (R_xlen_t)s->corpus.tokens;
  if (TYPEOF(value) != RAWSXP || Rf_xlength(value) != count * (R_xlen_t)sizeof(uint16_t)) return NULL;
  const uint16_t *topic = (const uint16_t *)(const void *)RAW_RO(value);
  return wb_topic_in_range(topic, count, s->topics) ? topic : NULL;
}

SEXP wb_entry_topic_start(SEXP pointer, SEXP key) {
  session *const s = open_session(pointer);
  if (!s) return closed();
  SEXP topic = PROTECT(topics_new(s));
  wb_topic_start(s->corpus.tokens, s->topics, wb_key_from_raw(key), (uint16_t *)(void *)RAW(topic));
  return wb_finish(topic, WB_OK, NULL);
}

SEXP wb_entry_topic_merge(SEXP pointer, SEXP topics, SEXP target) {
  wb_message message;
  session *const s = open_session(pointer);
  if (!s) return closed();
  const uint16_t *topic = topics_from_sexp(topics, s, 1);
  const int32_t left = Rf_asInteger(target);
  if (!topic || left > s->topics || left < s->topics - s->topics / 2) return wb_changed_fit();
  SEXP out = PROTECT(topics_new(s));
  const int status = wb_topic_merge(&s->corpus, s->topics, left, topic, (uint16_t *)(void *)RAW(out), &message);
  return wb_finish(out, status, &message);
}

SEXP wb_entry_topic_split(SEXP pointer, SEXP topics, SEXP target, SEXP key, SEXP iteration) {
  session *const s = open_session(pointer);
  if (!s) return closed();
  const uint16_t *topic = topics_from_sexp(topics, s, 1);
  const int32_t count = Rf_asInteger(target);
  if (!topic || count < s->topics || count > 65536) return wb_changed_fit();
  SEXP out = PROTECT(topics_new(s));
  wb_topic_split(s->corpus.tokens, s->topics, count, wb_key_from_raw(key), (uint32_t)Rf_asReal(iteration), topic,
                 (uint16_t *)(void *)RAW(out));
  return wb_finish(out, WB_OK, NULL);
}

static R_xlen_t alphas(const session *s) {
  return (R_xlen_t)s->topics * (s->structure.groups > 1 ? s->structure.groups : 1);
}

static int is_positive(SEXP values, R_xlen_t length) {
  if (TYPEOF(values) != REALSXP || Rf_xlength(values) != length) return 0;
  for (R_xlen_t i = 0; i < length; i++)
    if (!(REAL_RO(values)[i] > 0)) return 0;
  return 1;
}

typedef struct kept_sweeps {
  int first, every, count;
  unsigned char *topics;
  double *alpha, *beta, *coefficients, *effects, *theta, *phi; /* the last four: NULL unless there or wanted */
} kept_sweeps;

/* The number of the draw that is kept after sweep i, from 0, or -1. */
static int kept_number(const kept_sweeps *kept, int i) {
  const int after = i - kept->first;
  return after >= 0 && after % kept->every == 0 && after / kept->every < kept->count ? after / kept->every : -1;
}

enum { KEPT_TOPICS = WB_OWN, KEPT_ALPHAS, KEPT, COEFFICIENTS, EFFECTS, THETA, PHI };
static const wb_field kept_fields[] = {
    {"topics", RAWSXP, {KEPT_TOPICS}, 0, offsetof(kept_sweeps, topics)},
    {"alpha", REALSXP, {KEPT_ALPHAS}, 0, offsetof(kept_sweeps, alpha)},
    {"beta", REALSXP, {KEPT}, 0, offsetof(kept_sweeps, beta)},
    {"coefficients", REALSXP, {COEFFICIENTS}, WB_OPTIONAL, offsetof(kept_sweeps, coefficients)},
    {"effects", REALSXP, {EFFECTS}, WB_OPTIONAL, offsetof(kept_sweeps, effects)},
    {"theta", REALSXP, {THETA}, WB_OPTIONAL, offsetof(kept_sweeps, theta)},
    {"phi", REALSXP, {PHI}, WB_OPTIONAL, offsetof(kept_sweeps, phi)},
};

typedef struct running {
  session *s;
  wb_topic_chain chain;
  const uint16_t *from; /* the topics before */
  uint16_t *to;
  int32_t count;
  uint32_t first;
  double *log_likelihood, *alpha_sum, *beta_trace, *beta;
  kept_sweeps kept;
} running;

static int keep_sweep(const running *r, int32_t i, int number) {
  const session *const s = r->s;
  const kept_sweeps *const kept = &r->kept;
  const wb_topic_state *const state = &r->chain.state;
  const size_t at = (size_t)number, k = (size_t)s->topics, shapes = (size_t)alphas(s);
  memcpy(kept->alpha + at * shapes, state->alpha, shapes * sizeof(double));
  kept->beta[at] = state->beta;
  if (kept->coefficients) {
    const size_t size = k * (size_t)s->covariates.columns;
    memcpy(kept->coefficients + at * size, state->coefficients, size * sizeof(double));
    WB_TRY(wb_topic_draw_effects(&r->chain, r->first + (uint32_t)i, kept->theta + at * k * (size_t)s->corpus.documents,
                                 kept->effects + at * k * (size_t)s->covariates.terms));
  }
  return s->backend->topic_model->get_topics(s->topic, (uint16_t *)(void *)kept->topics + at * (size_t)s->corpus.tokens,
                                             r->chain.message);
}

static int run_sweeps(void *chain) {
  running *const r = chain;
  const session *const s = r->s;
  const wb_topic_state *const state = &r->chain.state;
  const size_t k = (size_t)s->topics;
  int status = s->backend->topic_model->set_topics(s->topic, r->from, r->chain.message);
  for (int32_t i = 0; i < r->count && status == WB_OK; i++) {
    const int number = kept_number(&r->kept, i);
    double *const theta = number >= 0 ? r->kept.theta : NULL, *const phi = number >= 0 ? r->kept.phi : NULL;
    status = wb_topic_sweep(&r->chain, r->first + (uint32_t)i, r->log_likelihood + i,
                            theta ? theta + (size_t)number * k * (size_t)s->corpus.documents : NULL,
                            phi ? phi + (size_t)number * k * (size_t)s->corpus.terms : NULL);
    r->alpha_sum[i] = wb_topic_alpha_sum(state);
    r->beta_trace[i] = state->beta;
    if (status == WB_OK && number >= 0) status = keep_sweep(r, i, number);
  }
  *r->beta = state->beta;
  return status == WB_OK ? s->backend->topic_model->get_topics(s->topic, r->to, r->chain.message) : status;
}

/* Alphas of covariates, or of several groups, are not learned by the sweep itself. */
static int is_method(SEXP method, int given) {
  if (TYPEOF(method) != INTSXP || LENGTH(method) != 3) return 0;
  const int alpha = INTEGER_RO(method)[1];
  return alpha >= WB_ALPHA_FIXED && alpha <= (given ? WB_ALPHA_FIXED : WB_ALPHA_MEMBERS);
}

static int is_coefficients(SEXP values, const session *s) {
  const double size = (double)s->topics * s->covariates.columns;
  return size > 0 ? wb_are_finite(values, size) : values == R_NilValue;
}

/* Sweeps from a state. The arguments are the session; topics, alpha, beta, coefficients and key of a state, as in
 * wb_topic_state; the number of the first sweep; see wb_read_sweeps(); method: mean, alpha, beta (as in
 * wb_topic_method); the four numbers of its prior; whether theta (topics x documents) and phi (topics x terms) of kept
 * sweeps are wanted: with covariates, theta is. Returns the last state, the traces, and `kept`. */
static SEXP prepare_sweeps(const SEXP *argument, wb_slice *slice) {
  SEXP alpha = argument[2], beta = argument[3], coefficients = argument[4], prior = argument[9];
  session *const s = open_session(argument[0]);
  if (!s) return closed();
  int numbers[4];
  const int columns = s->covariates.columns;
  const uint16_t *topic = topics_from_sexp(argument[1], s, 1);
  if (!topic || !wb_read_sweeps(argument[7], numbers) || !is_positive(alpha, alphas(s)) || !is_positive(beta, 1) ||
      !is_positive(prior, 4) || !is_coefficients(coefficients, s) ||
      !is_method(argument[8], columns || s->structure.groups > 1) || (columns && !LOGICAL_RO(argument[10])[0]))
    return wb_changed_fit();
  const int *chosen = INTEGER_RO(argument[8]), *wanted = LOGICAL_RO(argument[10]);
  const double *shapes = REAL_RO(prior);
  const size_t k = (size_t)s->topics, documents = (size_t)s->corpus.documents, terms = (size_t)s->corpus.terms;
  running *const r = (running *)R_alloc(1, sizeof *r);
  *r = (running){.s = s, .from = topic, .count = numbers[0], .first = (uint32_t)Rf_asReal(argument[6])};
  r->kept = (kept_sweeps){.first = numbers[1], .every = numbers[2], .count = numbers[3]};
  SEXP out = PROTECT(wb_list_new("topics alpha beta log_likelihood alpha_sum beta_trace kept coefficients"));
  SET_VECTOR_ELT(out, 0, topics_new(s));
  SET_VECTOR_ELT(out, 1, Rf_duplicate(alpha));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(Rf_asReal(beta)));
  for (int i = 3; i < 6; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, r->count));
  const double many = r->kept.count, size[] = {
                                         WB_SIZES,
                                         many * (double)s->corpus.tokens * (double)sizeof(uint16_t),
                                         many * (double)alphas(s),
                                         many,
                                         columns ? many * (double)k * columns : -1,
                                         columns ? many * (double)k * s->covariates.terms : -1,
                                         wanted[0] ? many * (double)(k * documents) : -1,
                                         wanted[1] ? many * (double)(k * terms) : -1,
                                     };
  SET_VECTOR_ELT(out, 6, WB_NEW(kept_fields, size, &r->kept));
  SET_VECTOR_ELT(out, 7, Rf_duplicate(coefficients));
  r->to = (uint16_t *)(void *)RAW(VECTOR_ELT(out, 0));
  r->beta = REAL(VECTOR_ELT(out, 2));
  r->log_likelihood = REAL(VECTOR_ELT(out, 3));
  r->alpha_sum = REAL(VECTOR_ELT(out, 4));
  r->beta_trace = REAL(VECTOR_ELT(out, 5));
  r->chain = (wb_topic_chain){
      .backend = s->backend,
      .session = s->topic,
      .corpus = &s->corpus,
      .structure = &s->structure,
      .covariates = columns ? &s->covariates : NULL,
      .method = {chosen[0], (wb_topic_alpha)chosen[1], chosen[2], shapes[0], shapes[1], shapes[2], shapes[3]},
      .state = {s->topics, REAL(VECTOR_ELT(out, 1)), *r->beta, columns ? REAL(VECTOR_ELT(out, 7)) : NULL, columns},
      .key = wb_key_from_raw(argument[5]),
      .message = &slice->message,
  };
  return wb_slice_ready(slice, out, r, run_sweeps, NULL);
}

SEXP wb_entry_topic_sweeps(SEXP chains) { return wb_slices_run(prepare_sweeps, 11, chains); }

typedef struct adding {
  const session *s;
  R_xlen_t sweeps, before; /* that were added before */
  const uint16_t *topic;
  const double *alpha, *beta;
  double *own; /* the alphas of a sweep */
  double *theta_sum, *first_sum, *phi_sum, *share;
  wb_message *message;
} adding;

static int add_means(void *chain) {
  const adding *const a = chain;
  const size_t of_sweep = (size_t)alphas(a->s);
  for (R_xlen_t i = 0; i < a->sweeps; i++) {
    memcpy(a->own, a->alpha + (size_t)i * of_sweep, of_sweep * sizeof(double));
    const wb_topic_state state = {a->s->topics, a->own, a->beta[i], NULL, 0};
    wb_topic_means means = {.corpus = &a->s->corpus,
                            .structure = &a->s->structure,
                            .state = &state,
                            .topic = a->topic + i * (R_xlen_t)a->s->corpus.tokens,
                            .theta_sum = a->theta_sum,
                            .first_sum = a->first_sum,
                            .phi_sum = a->phi_sum,
                            .share = a->share + i * (a->s->topics + 1)};
    double *const score = means.share + a->s->topics;
    *score = NA_REAL;
    if (a->phi_sum && (a->before + i + 1) % WB_TOPIC_SCORED_EVERY == 0) means.score = score;
    WB_TRY(wb_topic_add_means(&means, a->s->threads, a->message));
  }
  return WB_OK;
}

static SEXP prepare_means(const SEXP *argument, wb_slice *slice) {
  const session *const s = open_session(argument[0]);
  if (!s) return closed();
  const R_xlen_t sweeps = Rf_xlength(argument[3]), k = s->topics, of_sweep = alphas(s);
  const uint16_t *topic = topics_from_sexp(argument[1], s, sweeps);
  SEXP arrays = wb_store_arrays(argument[4]);
  const R_xlen_t count = Rf_xlength(arrays);
  if (!topic || !is_positive(argument[2], sweeps * of_sweep) || !is_positive(argument[3], sweeps) || count < 2 ||
      count > 3 || !wb_is_numbers(VECTOR_ELT(arrays, 0), (double)k * s->corpus.documents) ||
      !wb_is_numbers(VECTOR_ELT(arrays, 1), (double)k * s->corpus.documents) ||
      (count == 3 && !wb_is_numbers(VECTOR_ELT(arrays, 2), (double)k * s->corpus.terms)))
    return wb_changed_fit();
  SEXP share = PROTECT(Rf_allocMatrix(REALSXP, s->topics + 1, (int)sweeps));
  adding *const a = (adding *)R_alloc(1, sizeof *a);
  *a = (adding){.s = s,
                .sweeps = sweeps,
                .before = (R_xlen_t)Rf_asReal(argument[5]),
                .topic = topic,
                .alpha = REAL_RO(argument[2]),
                .beta = REAL_RO(argument[3]),
                .own = (double *)R_alloc((size_t)of_sweep, sizeof(double)),
                .theta_sum = REAL(VECTOR_ELT(arrays, 0)),
                .first_sum = REAL(VECTOR_ELT(arrays, 1)),
                .phi_sum = count == 3 ? REAL(VECTOR_ELT(arrays, 2)) : NULL,
                .share = REAL(share),
                .message = &slice->message};
  return wb_slice_ready(slice, share, a, add_means, NULL);
}

/* Adds the means given the topics to the sums of some chains, at the same time. chains: lists of a session, topics,
 * alpha, beta, a store of theta and first topics, topics x documents, and, if it has three arrays, of phi, and how many
 * sweeps it has. topics, alpha and beta belong to one or more sweeps, one after the other. Returns, of each chain, the
 * shares of the topics in all tokens and the score, (topics + 1) x sweeps; most sweeps have the score NA. */
SEXP wb_entry_topic_add_means(SEXP chains) { return wb_slices_run(prepare_means, 6, chains); }

SEXP wb_entry_topic_set_phi(SEXP pointer, SEXP phi) {
  wb_message message;
  session *const s = open_session(pointer);
  if (!s) return closed();
  if (!wb_is_numbers(phi, (double)s->topics * s->corpus.terms)) return wb_changed_fit();
  const int status = s->backend->topic_model->set_phi(s->topic, REAL_RO(phi), &message);
  return status == WB_OK ? R_NilValue : wb_failure(status, &message);
}

/* `sweeps` sweeps of theta and the topics with phi as it was set. Returns the topics. */
SEXP wb_entry_topic_infer(SEXP pointer, SEXP topics, SEXP alpha, SEXP key, SEXP iteration, SEXP sweeps, SEXP mean) {
  wb_message message;
  session *const s = open_session(pointer);
  if (!s) return closed();
  const uint16_t *topic = topics_from_sexp(topics, s, 1);
  if (!topic || !is_positive(alpha, alphas(s))) return wb_changed_fit();
  double *log_likelihood = (double *)R_alloc((size_t)s->corpus.documents + 1, sizeof(double));
  SEXP out = PROTECT(topics_new(s));
  const wb_topic_model_functions *functions = s->backend->topic_model;
  int status = functions->set_topics(s->topic, topic, &message);
  for (int i = 0; i < Rf_asInteger(sweeps) && status == WB_OK; i++) {
    R_CheckUserInterrupt(); /* R owns what this entry holds, and on.exit() closes the session */
    const wb_topic_draw draw = {.key = wb_key_from_raw(key),
                                .iteration = (uint32_t)Rf_asReal(iteration) + (uint32_t)i,
                                .mean = Rf_asLogical(mean),
                                .alpha = REAL_RO(alpha),
                                .beta = 1};
    status = functions->draw_documents(s->topic, &draw, log_likelihood, NULL, &message);
  }
  if (status == WB_OK) status = functions->get_topics(s->topic, (uint16_t *)(void *)RAW(out), &message);
  return wb_finish(out, status, &message);
}

SEXP wb_entry_topic_score(SEXP pointer, SEXP theta) {
  wb_message message;
  session *const s = open_session(pointer);
  if (!s) return closed();
  if (!wb_is_numbers(theta, (double)s->topics * s->corpus.documents)) return wb_changed_fit();
  SEXP out = PROTECT(Rf_allocVector(REALSXP, s->corpus.documents));
  const int status = s->backend->topic_model->score(s->topic, REAL_RO(theta), REAL(out), &message);
  return wb_finish(out, status, &message);
}
