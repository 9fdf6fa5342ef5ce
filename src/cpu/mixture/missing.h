/* Rows with missing values on the processor (cpu/mixture/missing.c): what cpu/mixture/session.c does with them. */
#ifndef WB_CPU_MIXTURE_MISSING_H
#define WB_CPU_MIXTURE_MISSING_H

#include "cpu/mixture/sums.h"

/* Sets session->missing where the session's data say that values are missing; frees it. */
int wb_cpu_missing_open(wb_mixture_session *session, wb_message *message);
void wb_cpu_missing_close(wb_mixture_session *session);

/* Draws the components of all rows that lack values, and these values; takes the parameters of draw_labels(). */
int wb_cpu_missing_draw(wb_mixture_session *session, const wb_mixture_parameters *parameters, uint64_t key,
                        uint32_t iteration, wb_message *message);

/* How many rows of a leaf lack values; and marks them by place in the leaf. */
int64_t wb_cpu_missing_rows(const wb_mixture_session *session, int64_t leaf);
void wb_cpu_missing_mark(const wb_mixture_session *session, int64_t leaf, int32_t mark, int32_t *places);

/* Takes what was drawn for these rows into the tile's rows, labels and log densities, and into `labels` if it is not
 * NULL. */
void wb_cpu_missing_take(const wb_mixture_session *session, int64_t leaf, tile *t, int32_t *labels);

/* Evaluates those rows that lack values and are among first, ..., first + count - 1; outputs as in
 * `evaluate` of backend/mixture_table.h. */
int wb_cpu_missing_evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first,
                            int64_t count, int32_t *labels, double *log_density, double *probability,
                            wb_message *message);

/* Writes the values drawn last into rows of a leaf, each `stride` doubles, whose other values are there. */
void wb_cpu_missing_fill(const wb_mixture_session *session, int64_t leaf, double *row, size_t stride);

int wb_cpu_mixture_get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message);

#endif
