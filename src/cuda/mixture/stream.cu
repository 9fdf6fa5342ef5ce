/* Sends rows of a mixture session to the graphics card. Leaves that fit stay on the card. The others travel in every
 * pass, in chunks: while one is computed, the next arrives in a second buffer, at the end of a pass the next pass's
 * first two. Spans of leaves that stay and that travel alternate, so that the bus works while leaves that stay are
 * computed.
 *
 * No pass copies rows on the host: the bus would wait. In single precision the card makes one page-locked copy of the
 * scaled rows that travel, in leaves. In double precision, or without memory for a copy, the caller's matrix is
 * page-locked, and the card scales and orders its columns. If the system refuses, and for rows that are sent once
 * (locking takes time), the host copies through page-locked buffers. */
#include "cuda/mixture/state.cuh"

#include "core/scaled_value.h"

namespace wb {

constexpr int LOAD_THREADS = 256;

/* Scales raw values (rows x columns, column-major) into leaves; rows past the end of the last leaf are zero. Grid:
 * leaves x WB_LEAF_ROWS / LOAD_THREADS blocks by columns; 18 registers; reads 8 bytes and writes one Real a value. */
template <typename Real>
__global__ void __launch_bounds__(LOAD_THREADS)
    mixture_load(const double *raw, int64_t rows, const double *center, const double *inverse_scale, Real *x) {
  const int64_t row = thread_number<LOAD_THREADS>();
  const int64_t c = blockIdx.y, p = gridDim.y;
  Real *const to = x + (row / WB_LEAF_ROWS * p + c) * WB_LEAF_ROWS + row % WB_LEAF_ROWS;
  if (row < rows) *to = precise<Real>::narrow(wb_scaled_value(raw[c * rows + row], center[c], inverse_scale[c]));
  else *to = 0;
}

namespace {

/* Groups of leaves are summed together; they begin at multiples of their size. */
constexpr int64_t MOST_STEP = int64_t(1) << GROUP_LEVELS;
const char *const SENDING = "sending rows to the device";

int64_t round_down(int64_t leaf, int64_t step) { return leaf / step * step; }

/* The most spans. Data that are large enough have so many. */
constexpr int64_t SPANS = 8;

/* Leaves begin..change - 1 of a span stay, from index `place` on among all that stay; change..end - 1 travel. */
struct leaf_span {
  int64_t begin, change, end, place;
};

/* The span that has a leaf. If there are several, they and their parts are of MOST_STEP leaves each but the last. */
leaf_span span_of(const wb_mixture_session *s, int64_t leaf) {
  if (s->spans == 1) return {0, s->kept, s->leaves, 0};
  const int64_t all = ceiling(s->leaves, MOST_STEP), kept = s->kept / MOST_STEP, n = s->spans;
  const int64_t i = ((leaf / MOST_STEP + 1) * n - 1) / all;
  const int64_t begin = i * all / n * MOST_STEP, place = i * kept / n * MOST_STEP;
  return {begin, begin + (i + 1) * kept / n * MOST_STEP - place, smaller(s->leaves, (i + 1) * all / n * MOST_STEP),
          place};
}

/* How many leaves of about `leaves` that fit on the device stay there, and in how many spans: each has at least one
 * MOST_STEP that stays and one that travels, since it has two on average. */
void choose_spans(wb_mixture_session *s, int64_t leaves) {
  const int64_t kept = leaves / MOST_STEP, travel = s->leaves / MOST_STEP - kept;
  const int64_t spans = smaller(SPANS, smaller(kept, travel) / 2);
  s->spans = larger<int64_t>(1, spans);
  s->kept = spans > 1 ? kept * MOST_STEP : leaves;
}

/* Whether a leaf travels in a pass whose chunks begin at multiples of `step`. */
bool travels(const wb_mixture_session *s, int64_t leaf, int64_t step) {
  return !s->resident() && leaf >= round_down(span_of(s, leaf).change, step);
}

/* The first leaf from `leaf` on that travels in such a pass. */
int64_t next_to_travel(const wb_mixture_session *s, int64_t leaf, int64_t step) {
  return travels(s, leaf, step) ? leaf : round_down(span_of(s, leaf).change, step);
}

/* The index of this leaf among the leaves that travel. */
int64_t place_in_copy(const wb_mixture_session *s, int64_t leaf) {
  const leaf_span span = span_of(s, leaf);
  return leaf - round_down(span.place + span.change - span.begin, MOST_STEP);
}

/* Through page-locked buffers -------------------------------------------------- */

/* How many leaves a page-locked buffer of about `bytes` holds, at least one. */
int64_t stage_leaves(const wb_mixture_session *s, uint64_t bytes) {
  const int64_t fit = int64_t(smaller(bytes, STAGE_BYTES) / s->raw_leaf());
  return smaller(s->leaves, larger<int64_t>(1, fit));
}

void close_stage(wb_mixture_session *s) {
  if (s->stage > 0) (void)cudaStreamSynchronize(s->copies.get());
  s->stage = 0;
  s->pinned.release();
}

int open_stage(wb_mixture_session *s, int64_t leaves, wb_message *message) {
  if (s->stage > 0) return WB_OK;
  const int status = s->pinned.take(2 * size_t(leaves) * s->raw_leaf(), message);
  if (status == WB_OK) s->stage = leaves;
  else close_stage(s);
  return status;
}

int copy_to_device(const wb_mixture_session *s, void *to, const void *from, size_t bytes, wb_message *message) {
  return copy_later(to, from, bytes, cudaMemcpyHostToDevice, SENDING, message, s->copies.get());
}

const double *column(const wb_mixture_session *s, size_t c, int64_t leaf) {
  return s->data.x + c * size_t(s->stride) + leaf * WB_LEAF_ROWS;
}

/* Rows of a column that one thread copies at a time: 128 KB. */
constexpr int64_t SPAN = 16384;

/* Columns of `rows` rows: from the caller's matrix to `to` on the device. */
int send_staged(wb_mixture_session *s, int64_t first, int64_t count, double *to, wb_message *message) {
  const size_t p = size_t(s->data.columns);
  const int64_t all = s->rows(first, count);
  WB_TRY(open_stage(s, stage_leaves(s, STAGE_BYTES), message));
  for (int64_t leaf = first; leaf < first + count; leaf += s->stage) {
    const int64_t rows = s->rows(leaf, smaller(s->stage, first + count - leaf));
    const size_t bytes = size_t(rows) * sizeof(double);
    const int i = s->turn++ & 1;
    WB_TRY(s->copied[i].wait(SENDING, message));
    double *const from =
        static_cast<double *>(s->pinned.address()) + size_t(i) * size_t(s->stage) * (s->raw_leaf() / sizeof(double));
    const int64_t spans = ceiling(rows, SPAN);
    spread(&s->run, spans * s->data.columns, [&](int64_t piece) {
      const size_t c = size_t(piece / spans);
      const int64_t first_row = piece % spans * SPAN;
      std::memcpy(from + c * size_t(rows) + first_row, column(s, c, leaf) + first_row,
                  size_t(smaller(SPAN, rows - first_row)) * sizeof(double));
    });
    if (rows == all) WB_TRY(copy_to_device(s, to, from, p * bytes, message));
    else
      for (size_t c = 0; c < p; c++)
        WB_TRY(copy_to_device(s, to + c * size_t(all) + (leaf - first) * WB_LEAF_ROWS, from + c * size_t(rows), bytes,
                              message));
    WB_TRY(s->copied[i].record(s->copies.get(), message));
  }
  return WB_OK;
}

int send_locked(wb_mixture_session *s, int64_t first, int64_t count, double *to, wb_message *message) {
  const size_t rows = size_t(s->rows(first, count));
  for (size_t c = 0; c < size_t(s->data.columns); c++)
    WB_TRY(copy_to_device(s, to + c * rows, column(s, c, first), rows * sizeof(double), message));
  return WB_OK;
}

/* Sends leaves to one of the two buffers once its last chunk has been read. */
int send(wb_mixture_session *s, int64_t first, int64_t count, mixture_transit *transit, int buffer,
         wb_message *message) {
  transit->first[buffer] = -1;
  void *const to = transit->arriving[buffer].address();
  WB_TRY(s->read[buffer].hold(s->copies.get(), message));
  if (transit->packed)
    WB_TRY(copy_to_device(
        s, to, static_cast<const char *>(s->packed_rows.address()) + size_t(place_in_copy(s, first)) * s->leaf(),
        size_t(count) * s->leaf(), message));
  else if (s->source == mixture_source::locked)
    WB_TRY(send_locked(s, first, count, static_cast<double *>(to), message));
  else WB_TRY(send_staged(s, first, count, static_cast<double *>(to), message));
  WB_TRY(s->arrived[buffer].record(s->copies.get(), message));
  transit->first[buffer] = first;
  return WB_OK;
}

/* Work on the chunk that was found last has been given to the stream. */
int end_reading(wb_mixture_session *s, mixture_transit *transit, wb_message *message) {
  const int buffer = transit->reading;
  transit->reading = -1;
  return buffer < 0 ? int(WB_OK) : s->read[buffer].record(s->stream.get(), message);
}

/* Finds leaves that travel; columns are made leaves at `to`. *x: where they are. */
template <typename Real>
int receive(wb_mixture_session *s, int64_t first, int64_t count, mixture_transit *transit, Real *to, const Real **x,
            wb_message *message) {
  int buffer = transit->first[0] == first ? 0 : transit->first[1] == first ? 1 : -1;
  if (buffer < 0) {
    buffer = 1 - transit->last;
    WB_TRY(send(s, first, count, transit, buffer, message));
  }
  WB_TRY(s->arrived[buffer].hold(s->stream.get(), message));
  transit->last = transit->reading = buffer;
  if (transit->packed) {
    *x = static_cast<const Real *>(transit->arriving[buffer].address());
    return WB_OK;
  }
  const size_t p = size_t(s->data.columns);
  *x = to;
  WB_TRY(launch(s->cover(LOAD_THREADS, count * WB_LEAF_ROWS, s->data.columns), mixture_load<Real>, "scaling rows",
                message, static_cast<const double *>(transit->arriving[buffer].address()), s->rows(first, count),
                s->units.data(), s->units.data() + p, to));
  return end_reading(s, transit, message);
}

/* Sends the leaves that stay, or that travel, once, `stage` at a time: made at to(leaf), then done(leaf, count). */
template <typename Real, typename To, typename Done>
int send_once(wb_mixture_session *s, bool stay, int64_t stage, To to, Done done, wb_message *message) {
  mixture_transit transit;
  const auto send_all = [&]() -> int {
    WB_TRY(open_stage(s, stage, message));
    for (device_bytes &buffer : transit.arriving)
      WB_TRY(buffer.allocate(size_t(stage) * s->raw_leaf(), "rows as they arrive", message));
    leaf_span span;
    for (int64_t begin = 0; begin < s->leaves; begin = span.end) {
      span = span_of(s, begin);
      const int64_t first = stay ? begin : round_down(span.change, MOST_STEP), end = stay ? span.change : span.end;
      for (int64_t leaf = first; leaf < end; leaf += stage) {
        const int64_t count = smaller(stage, end - leaf);
        const Real *x;
        WB_TRY(receive<Real>(s, leaf, count, &transit, to(leaf), &x, message));
        WB_TRY(done(leaf, count));
      }
    }
    return s->stream.wait(SENDING, message);
  };
  close_stage(s);
  /* The buffers are freed after this. */
  const int status = settled(s, send_all());
  close_stage(s);
  return status;
}

/* Rows that stay on the device ------------------------------------------------- */

/* Where a leaf that stays is. */
template <typename Real>
Real *kept_leaf(const wb_mixture_session *s, int64_t leaf) {
  const leaf_span span = span_of(s, leaf);
  return static_cast<Real *>(s->x.address()) +
         size_t(span.place + leaf - span.begin) * WB_LEAF_ROWS * size_t(s->data.columns);
}

int keep_rows(wb_mixture_session *s, int64_t leaves, uint64_t beside, wb_message *message) {
  s->x.release();
  choose_spans(s, leaves);
  if (leaves == 0) return WB_OK;
  int status = s->x.allocate(s->leaf() * uint64_t(s->kept), "the rows", message);
  if (status == WB_OK)
    status = with_precision(s->data.precision, [&](auto real) {
      typedef decltype(real) Real;
      return send_once<Real>(
          s, true, stage_leaves(s, beside / 2), [&](int64_t leaf) { return kept_leaf<Real>(s, leaf); },
          [](int64_t, int64_t) { return int(WB_OK); }, message);
    });
  if (status != WB_OK) {
    s->x.release();
    choose_spans(s, 0);
  }
  /* Not a failure: rows that do not fit are sent in chunks in every call. */
  return status == WB_ERROR_MEMORY ? int(WB_OK) : status;
}

/* How rows travel -------------------------------------------------------------- */

int pack_rows(wb_mixture_session *s, wb_message *message) {
  const uint64_t bytes = uint64_t(s->leaves - round_down(s->kept, MOST_STEP)) * s->leaf();
  uint64_t left = 0;
  WB_TRY(memory_left(s->memory_limit, s->held(), &left, message));
  const int64_t stage = stage_leaves(s, left / 4);
  const size_t place = size_t(stage) * s->leaf();
  if (bytes > s->host_memory || uint64_t(stage) * 2 * s->raw_leaf() + place > left) return WB_OK;
  device_bytes room;
  int status = s->packed_rows.allocate(bytes, "rows that travel", message);
  if (status == WB_OK) status = room.allocate(place, "rows as they arrive", message);
  char *const to = static_cast<char *>(s->packed_rows.address());
  if (status == WB_OK)
    status = send_once<float>(
        s, false, stage, [&](int64_t) { return static_cast<float *>(room.address()); },
        [&](int64_t leaf, int64_t count) {
          return copy_later(to + size_t(place_in_copy(s, leaf)) * s->leaf(), room.address(), size_t(count) * s->leaf(),
                            cudaMemcpyDeviceToHost, "fetching scaled rows", message, s->stream.get());
        },
        message);
  if (status == WB_OK) s->source = mixture_source::packed;
  else s->packed_rows.release();
  return status == WB_ERROR_MEMORY ? int(WB_OK) : status;
}

} // namespace

int settle_rows(wb_mixture_session *s, wb_message *message) {
  const uint64_t bytes = s->leaf() * uint64_t(s->leaves), whole = larger(bytes / 12, 2 * s->raw_leaf());
  uint64_t left = 0;
  WB_TRY(memory_left(s->memory_limit, s->held(), &left, message));
  if (bytes + whole <= left) return keep_rows(s, s->leaves, whole, message);
  /* Missing values are drawn into rows that stay. */
  if (s->data.missing != nullptr) return WB_OK;
  /* Chunks, what is kept of each row, and components, whose number is not known yet. */
  const uint64_t labels = s->data.keep_labels ? sizeof(int32_t) * WB_LEAF_ROWS * uint64_t(s->leaves) : 0;
  const uint64_t beside = labels + smaller(CHUNK_BYTES + left / 16, left / 2);
  const int64_t fit = beside < left ? int64_t((left - beside) / s->leaf()) : 0;
  return keep_rows(s, smaller(fit, s->leaves - 1), beside, message);
}

int keep_fewer(wb_mixture_session *s, wb_message *message) {
  s->work = {};
  s->held_back = true;
  const int64_t leaves = s->kept / 2;
  const uint64_t beside = s->leaf() * uint64_t(s->kept - leaves);
  /* The copy lacks the leaves that stay no longer. */
  if (s->source == mixture_source::packed && round_down(s->kept, MOST_STEP) > 0) {
    (void)cudaStreamSynchronize(s->copies.get());
    s->packed_rows.release();
    s->source = mixture_source::staged;
  }
  return keep_rows(s, leaves, beside, message);
}

int prepare_rows(wb_mixture_session *session, wb_message *message) {
  bool lock = false;
  for (wb_mixture_session *s = session; s != nullptr; s = s->next) {
    if (s->resident() || s->source != mixture_source::staged || s->unlockable) continue;
    /* If rows had to leave after a pass, its memory is laid out for columns, not for packed leaves. */
    if (s->data.precision == WB_SINGLE && !s->held_back) {
      WB_TRY(on_device(s, message, [&](auto) { return pack_rows(s, message); }));
    }
    lock = lock || s->source == mixture_source::staged;
  }
  if (!lock) return WB_OK;
  WB_ON_DEVICE(session->device, message);
  /* The matrix of all parts. */
  const bool is_locked = session->matrix.lock(session->data.x - session->first_row,
                                              size_t(session->stride) * size_t(session->data.columns) * sizeof(double));
  for (wb_mixture_session *s = session; s != nullptr; s = s->next) {
    if (s->source != mixture_source::staged) continue;
    s->unlockable = !is_locked;
    if (is_locked) s->source = mixture_source::locked;
  }
  return WB_OK;
}

uint64_t transit_leaf(const wb_mixture_session *s) {
  return s->resident() ? 0 : s->source == mixture_source::packed ? 2 * s->leaf() : 2 * s->raw_leaf() + s->leaf();
}

int open_transit(wb_mixture_session *s, int64_t chunk, int64_t step, int64_t end, mixture_transit *transit,
                 wb_message *message) {
  *transit = {};
  transit->chunk = chunk;
  transit->step = step;
  transit->end = end;
  if (s->resident()) return WB_OK;
  transit->packed = s->source == mixture_source::packed;
  const size_t leaves = size_t(smaller(chunk, s->leaves - round_down(s->kept, MOST_STEP)));
  for (device_bytes &buffer : transit->arriving)
    WB_TRY(buffer.allocate(leaves * (transit->packed ? s->leaf() : s->raw_leaf()), "a chunk of rows", message));
  return transit->packed ? int(WB_OK) : transit->leaves.allocate(leaves * s->leaf(), "a chunk of rows", message);
}

int64_t leaves_at_once(const wb_mixture_session *s, int64_t first, const mixture_transit *transit) {
  const int64_t next = next_to_travel(s, first, transit->step);
  const int64_t end = s->resident() ? s->leaves : next > first ? next : span_of(s, first).end;
  return smaller(transit->chunk, smaller(end, transit->end) - first);
}

namespace {

/* Sends the next travelling chunks from `leaf` on to free buffers, unless the host's threads must copy them. */
int send_early(wb_mixture_session *s, int64_t leaf, mixture_transit *transit, wb_message *message) {
  if (s->source == mixture_source::staged || s->resident()) return WB_OK;
  int64_t next[2] = {-1, -1}, from = leaf;
  for (int i = 0; i < 2; i++) {
    if (from < transit->end) from = next_to_travel(s, from, transit->step);
    if (from >= transit->end) break;
    next[i] = from;
    from += leaves_at_once(s, from, transit);
  }
  for (int i = 0; i < 2; i++) {
    if (next[i] < 0 || transit->first[0] == next[i] || transit->first[1] == next[i]) continue;
    const int64_t other = next[1 - i];
    const int free = 1 - transit->last, buffer = other >= 0 && transit->first[free] == other ? 1 - free : free;
    if (buffer != transit->reading)
      WB_TRY(send(s, next[i], leaves_at_once(s, next[i], transit), transit, buffer, message));
  }
  return WB_OK;
}

} // namespace

template <typename Real>
int find_rows(wb_mixture_session *s, int64_t first, mixture_transit *transit, const Real **x, wb_message *message) {
  const int64_t count = leaves_at_once(s, first, transit);
  WB_TRY(end_reading(s, transit, message));
  if (!travels(s, first, transit->step)) *x = kept_leaf<Real>(s, first);
  else WB_TRY(receive<Real>(s, first, count, transit, static_cast<Real *>(transit->leaves.address()), x, message));
  return send_early(s, first + count, transit, message);
}
WB_BOTH_PRECISIONS(find_rows)

int send_ahead(wb_mixture_session *s, mixture_transit *transit, wb_message *message) {
  WB_TRY(end_reading(s, transit, message));
  return send_early(s, 0, transit, message);
}

} // namespace wb
