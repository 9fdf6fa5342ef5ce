/* Declares what cpu/mixture/session.c needs of rows with missing values (cpu/mixture/missing.c). */
#pragma once

#include "cpu/mixture/sums.h"

/* open: sets session->missing if the session's data have missing values. close: frees it. */
int wb_cpu_missing_open(wb_mixture_session *session, wb_message *message);
void wb_cpu_missing_close(wb_mixture_session *session);

/* Draws the components of all incomplete rows and their missing values, with the parameters of draw_labels(). */
int wb_cpu_missing_draw(wb_mixture_session *session, const wb_mixture_parameters *parameters, uint64_t key,
                        uint32_t iteration, wb_message *message);

/* rows: the number of incomplete rows of a leaf. mark: marks them by their place in the leaf. */
int64_t wb_cpu_missing_rows(const wb_mixture_session *session, int64_t leaf);
void wb_cpu_missing_mark(const wb_mixture_session *session, int64_t leaf, int32_t mark, int32_t *places);

/* Copies the draws for these rows into the tile's rows, labels and log densities, and into `labels` or NULL. */
void wb_cpu_missing_take(const wb_mixture_session *session, int64_t leaf, tile *t, int32_t *labels);

/* Evaluates the incomplete rows among first..first + count - 1, as `evaluate` of backend/mixture_table.h. */
int wb_cpu_missing_evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first,
                            int64_t count, int32_t *labels, double *log_density, double *probability,
                            wb_message *message);

/* Writes the last drawn missing values into the rows of a leaf, each `stride` doubles, beside the observed ones. */
void wb_cpu_missing_fill(const wb_mixture_session *session, int64_t leaf, double *row, size_t stride);

int wb_cpu_mixture_get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message);
