/* The state of a mixture session: its rows (session.c, pairs.c of cpu/mixture) and components (components.c). */
#pragma once

#include "backend/backend.h"
#include "numeric/idle.h"
#include "numeric/spread.h"

/* Working memory of one thread, kept from pass to pass. A line of the cache each. */
typedef struct mixture_scratch {
  void *memory;
  size_t bytes;
  int64_t leaf;    /* whose rows are all in the memory; -1: of none */
  uint64_t sorted; /* the session's `pairing` by which these rows were sorted; 0: they are not sorted by pair */
  char apart[64 - sizeof(void *) - sizeof(size_t) - 2 * sizeof(int64_t)];
} mixture_scratch;

struct wb_mixture_session {
  wb_mixture_data data;           /* center and inverse_scale are the session's own copies */
  int32_t *labels;                /* rows: the last draw */
  struct wb_cpu_missing *missing; /* see cpu/mixture/missing.c; NULL if no values are missing */
  int threads;
  wb_isa isa;
  int32_t components;                                   /* 0 before they are set */
  double *memory;                                       /* holds all that follows */
  double *statistics;                                   /* components x WB_MIXTURE_STATISTICS(columns) */
  double *mean, *offset, *factor, *pull;                /* see wb_component */
  double *log_determinant, *floor_trace, *log_constant; /* components */
  void *share;                  /* samples x components, doubles or floats: see set_constants(); NULL without samples */
  int64_t *sizes;               /* samples x components: rows of the last labels; NULL without samples */
  double log_likelihood;        /* of the last labels */
  double *nodes;                /* of a part of the rows: see get_nodes() */
  size_t node_count, node_room; /* doubles in `nodes`, and doubles that have room */
  mixture_scratch *scratch;     /* of each thread */
  int32_t *pair;                /* components: the pair of each when halves were drawn last; NULL before */
  int32_t pair_components, pairs; /* of that call */
  uint64_t pairing;               /* changes when the labels or the pairs change */
};

/* Threads for `rows` rows in `units` units of work: one for each fifth of a millisecond of work or so. */
static inline int mixture_threads(const wb_mixture_session *session, int components, int64_t rows, int64_t units) {
  const double p = session->data.columns;
  const double operations = (double)rows * components * (0.5 * p * (p + 3) + 27);
  double threads = 1 + operations / 5e6;
  if (threads > session->threads) threads = session->threads;
  if (threads > (double)units) threads = (double)units;
  return threads < 2 ? 1 : wb_idle_threads((int)threads);
}

int wb_cpu_mixture_get_nodes(wb_mixture_session *session, double *nodes, wb_message *message);

int wb_cpu_mixture_set_components(wb_mixture_session *session, int32_t components, const double *statistics,
                                  wb_message *message);
int wb_cpu_mixture_set_statistics(wb_mixture_session *session, int32_t first, int32_t count, const double *statistics,
                                  wb_message *message);
int wb_cpu_mixture_get_statistics(wb_mixture_session *session, int32_t first, int32_t count, double *statistics,
                                  wb_message *message);
int wb_cpu_mixture_draw_components(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source,
                                   uint64_t key, uint32_t iteration, wb_message *message);
int wb_cpu_mixture_add_precisions(wb_mixture_session *session, const wb_mixture_precisions *sums, wb_message *message);
int wb_cpu_mixture_measure(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message);
int wb_cpu_mixture_get_components(wb_mixture_session *session, double *mean, double *factor, wb_message *message);
