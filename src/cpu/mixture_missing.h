/* Rows with missing values on the processor (mixture_missing.c): what mixture.c does with them. */
#ifndef WB_CPU_MIXTURE_MISSING_H
#define WB_CPU_MIXTURE_MISSING_H

#include "cpu/mixture_sums.h"

/* Sets session->missing where the session's data say that values are missing; frees it. */
int wb_cpu_missing_open(wb_mixture_session *session, wb_message *message);
void wb_cpu_missing_close(wb_mixture_session *session);

/* Prepares the draw or the evaluation of rows under these components, by a team of threads. */
int wb_cpu_missing_prepare(wb_mixture_session *session, const wb_mixture_parameters *parameters, wb_message *message);

/* Makes room for the missing values, before they are drawn for the first time. */
int wb_cpu_missing_keep(wb_mixture_session *session, wb_message *message);

/* How many rows of a leaf lack values; and marks them by place in the leaf. */
int64_t wb_cpu_missing_rows(const wb_mixture_session *session, int64_t leaf);
void wb_cpu_missing_mark(const wb_mixture_session *session, int64_t leaf, int32_t mark, int32_t *places);

/* Draws the rows of a leaf that lack values, and these values: into the tile's rows, labels and log densities, as the
 * tile's other rows are. */
void wb_cpu_missing_draw(const wb_mixture_session *session, uint64_t key, uint32_t iteration, int64_t leaf, tile *t,
                         int32_t *labels);

/* Evaluates those rows of a leaf that lack values and are among first, ..., first + count - 1; outputs as in
 * `evaluate` of backend/mixture.h. */
void wb_cpu_missing_evaluate(const wb_mixture_session *session, int64_t leaf, int64_t first, int64_t count,
                             int32_t *labels, double *log_density, double *probability);

/* Writes the values drawn last into rows of a leaf, each `stride` doubles, whose other values are there. */
void wb_cpu_missing_fill(const wb_mixture_session *session, int64_t leaf, double *row, size_t stride);

int wb_cpu_mixture_get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message);

#endif
