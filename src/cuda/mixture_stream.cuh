/* Rows of a mixture session that do not stay on the graphics card: see mixture_stream.cu. */
#ifndef WB_CUDA_MIXTURE_STREAM_CUH
#define WB_CUDA_MIXTURE_STREAM_CUH

#include "cuda/mixture_session.cuh"

namespace wb {

/* As many leaves to the device as there is room for beside what a sweep needs; the first ones stay there. */
int settle_rows(wb_mixture_session *s, wb_message *message);

/* Before a pass over the rows of all parts that will be made again and again: how rows that do not stay on
 * the device get there. */
int prepare_rows(wb_mixture_session *session, wb_message *message);

/* Bytes of device memory that a chunk takes for each leaf, so that the next chunk can arrive. */
uint64_t transit_leaf(const wb_mixture_session *s);
/* Device memory for chunks of at most `chunk` leaves. */
int open_transit(wb_mixture_session *s, int64_t chunk, mixture_transit *transit, wb_message *message);

/* How many leaves from `first` on are computed at a time, at most `chunk`: all of them are on the device or none is
 * taken for it. Chunks begin at multiples of `step`, a power of two that is no more than 64. */
int64_t leaves_at_once(const wb_mixture_session *s, int64_t first, int64_t chunk, int64_t step);

/* *x: where leaves first, ..., first + count - 1 are on the device for work that is given to the session's stream
 * until the next call for the same `transit`. Sends them if they are not there. */
template <typename Real>
int find_rows(wb_mixture_session *s, int64_t first, int64_t count, mixture_transit *transit, const Real **x, wb_message *message);

/* At the end of a pass in chunks of `chunk` leaves: sends what the next pass begins with. */
int send_ahead(wb_mixture_session *s, int64_t chunk, int64_t step, mixture_transit *transit, wb_message *message);

} // namespace wb

#endif
