/* Rows with missing values on a graphics card. The host side is in cuda/mixture/missing.cu with its kernels, the twin of
 * cpu/mixture/missing.c. */
#ifndef WB_CUDA_MIXTURE_MISSING_CUH
#define WB_CUDA_MIXTURE_MISSING_CUH

#include "cuda/mixture/session.cuh"

namespace wb {

/* Sends the patterns of the session's data to the device, if values are missing. */
int open_missing(wb_mixture_session *s, wb_message *message);

/* WB_ERROR_MEMORY where values are missing and the rows do not stay on the device, where drawn values are kept. */
int keeps_missing(const wb_mixture_session *s, wb_message *message);

/* Before a pass over the rows under the session's components, whose log weights have been sent. */
int begin_missing(wb_mixture_session *s, wb_message *message);

/* Draws those rows of leaves first, ..., first + count - 1 that lack values, and these values. x, labels and log_sums are
 * those of the first of these leaves. */
template <typename Real>
int draw_missing(wb_mixture_session *s, int64_t first, int64_t count, const Real *share, uint64_t key, uint32_t iteration, Real *x,
                 int32_t *labels, Real *log_sums, wb_message *message);

/* Before rows are evaluated under `parameters`. */
int begin_missing_evaluation(wb_mixture_session *s, const wb_mixture_parameters *parameters, wb_message *message);

/* Evaluates those of `rows` rows from number `row` on that lack values; x begins with row number `start`, the outputs with
 * row number `row`. */
template <typename Real>
int evaluate_missing(wb_mixture_session *s, int64_t start, int64_t row, int64_t rows, const Real *x, int32_t *labels, double *log_sums,
                     double *probability, int64_t stride, wb_message *message);

} // namespace wb

int wb_cuda_mixture_get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message);

#endif
