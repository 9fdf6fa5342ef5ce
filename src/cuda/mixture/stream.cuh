/* Rows of a mixture session that do not stay on the graphics card: see cuda/mixture/stream.cu. */
#ifndef WB_CUDA_MIXTURE_STREAM_CUH
#define WB_CUDA_MIXTURE_STREAM_CUH

#include "cuda/mixture/session.cuh"

namespace wb {

/* As many leaves to the device as there is room for beside what a sweep needs; the first ones stay there. */
int settle_rows(wb_mixture_session *s, wb_message *message);

/* Before a pass over the rows of all parts that will be made again and again: how rows that do not stay on
 * the device get there. */
int prepare_rows(wb_mixture_session *session, wb_message *message);

/* Bytes of device memory that a chunk takes for each leaf, so that the next chunk can arrive. */
uint64_t transit_leaf(const wb_mixture_session *s);
/* Device memory for passes up to leaf `end` in chunks of at most `chunk` leaves; chunks begin at multiples of `step`, a power of two
 * that is no more than 64. */
int open_transit(wb_mixture_session *s, int64_t chunk, int64_t step, int64_t end, mixture_transit *transit, wb_message *message);

/* How many leaves from `first` on are computed at a time: all of them stay on the device, or all are treated as
 * rows that travel. */
int64_t leaves_at_once(const wb_mixture_session *s, int64_t first, const mixture_transit *transit);

/* *x: where the leaves that are computed at a time from `first` on are on the device, for work that is given to the session's stream
 * until the next call for the same `transit`. Sends them if they are not there, and those that come next. */
template <typename Real>
int find_rows(wb_mixture_session *s, int64_t first, mixture_transit *transit, const Real **x, wb_message *message);

/* At the end of a pass: sends what the next one begins with. */
int send_ahead(wb_mixture_session *s, mixture_transit *transit, wb_message *message);

} // namespace wb

#endif
