/* What the other files of this folder do for the sessions of sweep.c. */
#pragma once

#include "backend/regression_table.h"

/* Working memory of a session with terms. A piece is up to WB_LEAF_ROWS rows of one level. */
typedef struct wb_term_sums {
  double *omega, *z; /* rows: Polya-Gamma variables, and weights in the linear term */
  int64_t pieces[WB_REGRESSION_MOST_TERMS];
  int32_t *piece_start[WB_REGRESSION_MOST_TERMS]; /* pieces + 1: where a piece begins in the term's `index` */
  int32_t *piece_level[WB_REGRESSION_MOST_TERMS];
  double *piece_sums; /* room for the pieces of any term */
} wb_term_sums;

/* The working memory of a thread, NULL before its first pass. */
typedef struct thread_memory {
  double *numbers;
  void *variables; /* of wb_cpu_polyagamma_draw_alone() */
} thread_memory;

/* A session. A segment: the rows of a group in a leaf. Working memory is kept, since allocation takes long. */
struct wb_regression_session {
  wb_regression_data data;
  int threads;
  wb_isa isa;
  int64_t leaves, segments;
  int64_t *segment_row;   /* segments + 1: the first row of each */
  int32_t *segment_group; /* segments */
  int64_t *leaf_segment;  /* leaves + 1: the first segment of each */
  double *segment_sums;   /* segments x WB_REGRESSION_GROUP_STATISTICS(columns) */
  /* Rows: log likelihoods or logits; NULL before they are needed. Of a pair, information and slopes follow. */
  double *row_values;
  thread_memory *memory; /* threads */
  wb_term_sums terms;
};

/* One thread, and another for each tenth of a millisecond of a pass over the rows or so. */
int wb_cpu_regression_threads(const wb_regression_session *session, double operations_a_row);

int wb_cpu_terms_open(const wb_regression_data *data, wb_term_sums *sums, wb_message *message);
void wb_cpu_terms_close(wb_term_sums *sums);

/* Adds an outcome's effects of all terms to the fixed parts of rows begin..begin + rows - 1. */
void wb_cpu_terms_add(const wb_regression_session *session, const double *effects, int outcome, int64_t begin, int rows,
                      double *fixed);

/* The statistics of a group, as sweep() has them, over `count` of its rows from `first` on. omega, z: of these. */
void wb_cpu_terms_segment(const wb_regression_session *session, int64_t first, int count, const double *omega,
                          const double *z, double *to);

/* The statistics of all levels of all terms, as sweep() of backend/regression_table.h has them. */
void wb_cpu_terms_sum(const wb_regression_session *session, int threads, double *statistics);

/* The sums of `value` (rows) over the rows of each level of a term. */
void wb_cpu_terms_total(const wb_regression_session *session, int32_t term, const double *value, double *total);

/* Levels with one effect whose maps are made at a time: parts of their records, and then the maps. */
enum { WB_LEVEL_COLUMNS = 128 };
typedef struct wb_level_columns {
  double weight[WB_LEVEL_COLUMNS], share[WB_LEVEL_COLUMNS], mode[WB_LEVEL_COLUMNS], linear[WB_LEVEL_COLUMNS];
  double shift[WB_LEVEL_COLUMNS], mean[WB_LEVEL_COLUMNS], root[WB_LEVEL_COLUMNS];
} wb_level_columns;
void wb_cpu_level_map(wb_isa isa, int count, wb_level_columns *columns, double tie, double most);

/* Functions of the table. */
int wb_cpu_terms_change(wb_regression_session *session, int32_t changed, const double *change, int32_t wanted,
                        double *linear, wb_message *message);
int wb_cpu_levels_place(wb_regression_session *session, const wb_regression_placing *placing, double *to,
                        double *density, wb_message *message);
int wb_cpu_dual_gram(wb_regression_session *session, const double *weight, size_t stride, double *gram,
                     wb_message *message);
int wb_cpu_dual_multiply(wb_regression_session *session, const double *v, double *product, wb_message *message);
int wb_cpu_dual_multiply_transposed(wb_regression_session *session, const double *v, double *product,
                                    wb_message *message);
