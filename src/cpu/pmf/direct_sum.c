/* The distribution of a sum of two independent discrete random variables by the direct sum r_i = sum_j p_j q_{i-j}. All
 * terms are non-negative, so every entry has a small relative error.
 *
 * A pair takes at least m n fused multiply-adds. Vectors run across outputs or, for small pairs that lie side by side,
 * across pairs. One thread computes each chunk of outputs, or each pair, alone. */
#include "core/rounding.h"

#include "cpu/table.h"

#include "core/min_max.h"
#include "core/weight_look.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/poll.h"
#include "numeric/spread.h"

/* Pairs that convolve_lanes takes together. A row of this many doubles fills a cache line. */
#define WB_CONVOLUTION_LANES 8

/* Rows of zeros that convolve_lanes reads beyond either end of q. It computes one output more than this together. */
#define LANES_MARGIN 7

/* Rows of zeros that convolve_lanes_long reads before and after q. */
#define LONG_BEFORE 32
#define LONG_AFTER 64

#define WB_LOOPS "cpu/pmf/direct_sum_loops.h"
#include "numeric/isa.h"

/* Outputs of a chunk; a multiple of every tile. A block of p and its entries of q stay in the innermost cache. */
#define CHUNK 512

/* Zeros before and after q: a tile and a group reach this far beyond its ends. */
#define Q_BEFORE 96
#define Q_AFTER 96

/* Less work (multiply-adds; 0.2 ms) runs on one thread: waiting for a second may cost more than it saves. */
#define PARALLEL_FROM 1e7

/* Multiply-adds between polls for interrupts: less than half a second on one thread. */
#define SLICE 4e9
#define BASELINE_SLICE 2e8

/* A pair of up to this many doubles is gathered on the stack. */
#define SMALL_OPERANDS 4608

/* Pairs that are gathered before any of them is convolved. */
#define LANES_TOGETHER 64

/* In a batch, pairs with longer vectors than this are gathered one at a time. */
#define LANES_UP_TO 512

/* From this length of p on, convolve_lanes_long is faster than convolve_lanes. */
#define LANES_LONG_FROM 96

static int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/* One pair with its vectors side by side in memory and zeros around them. */
typedef struct operands {
  int64_t m, n;
  const double *p; /* padded with zeros to whole groups */
  const double *q; /* with Q_BEFORE zeros before and Q_AFTER after it */
} operands;

static size_t operand_doubles(int64_t m, int64_t n) {
  return (size_t)round_up(m, WB_CONVOLUTION_GROUP) + (size_t)n + Q_BEFORE + Q_AFTER;
}

static void copy(double *to, int64_t to_stride, const double *from, int64_t stride, int64_t count) {
  if (to_stride == 1 && stride == 1) memcpy(to, from, (size_t)count * sizeof(double));
  else
    for (int64_t i = 0; i < count; i++) to[i * to_stride] = from[i * stride];
}

static operands gather_pair(const wb_convolution *work, int64_t pair, double *memory) {
  const int64_t m = work->m, n = work->n, padded = round_up(m, WB_CONVOLUTION_GROUP);
  double *const p = memory, *const q = memory + padded + Q_BEFORE;
  copy(p, 1, work->p + pair * work->p_pair_stride, work->p_stride, m);
  memset(p + m, 0, (size_t)(padded - m) * sizeof(double));
  memset(q - Q_BEFORE, 0, Q_BEFORE * sizeof(double));
  copy(q, 1, work->q + pair * work->q_pair_stride, work->q_stride, n);
  memset(q + n, 0, Q_AFTER * sizeof(double));
  return (operands){m, n, p, q};
}

/* Outputs first..first + count - 1, count <= CHUNK, into r[0], r[r_stride], ... */
static void convolve_chunk(wb_isa isa, const operands *pair, int64_t first, int64_t count, double *r,
                           int64_t r_stride) {
  _Alignas(64) double sum[CHUNK];
  const int outputs = *WB_LOOP(convolve_outputs, isa);
  const int64_t begin = wb_max_int(0, first - pair->n + 1);
  const int64_t end = wb_min_int(pair->m, first + count);
  memset(sum, 0, (size_t)round_up(count, outputs) * sizeof(double));
  for (int64_t block = begin / WB_CONVOLUTION_BLOCK * WB_CONVOLUTION_BLOCK; block < end;
       block += WB_CONVOLUTION_BLOCK) {
    const int64_t block_end = wb_min_int(block + WB_CONVOLUTION_BLOCK, end);
    for (int64_t at = 0; at < count; at += outputs) {
      /* The groups of this block that have a term for an output of the tile. */
      const int64_t i = first + at;
      const int64_t low =
          wb_max_int(block, wb_max_int(0, i - pair->n + 1) / WB_CONVOLUTION_GROUP * WB_CONVOLUTION_GROUP);
      const int64_t high = wb_min_int(block_end, i + outputs);
      if (low < high)
        WB_LOOP(convolve_tile, isa)(pair->p + low, pair->q + (i - low), round_up(high - low, WB_CONVOLUTION_GROUP),
                                    sum + at);
    }
  }
  copy(r, r_stride, sum, 1, count);
}

static unsigned look_at(int64_t count, const double *weights) {
  wb_weight_bits bits = {0, 0, 0};
  for (int64_t i = 0; i < count; i++) wb_weight_see(&bits, weights[i]);
  return wb_weight_judge(bits);
}

typedef struct pair_call {
  const wb_convolution *work;
  wb_isa isa;
  operands gathered;
  double *r;
} pair_call;

static void convolve_piece(void *context, int64_t chunk) {
  const pair_call *const call = context;
  const wb_convolution *const work = call->work;
  const int64_t at = chunk * CHUNK;
  convolve_chunk(call->isa, &call->gathered, work->first + at, wb_min_int(CHUNK, work->count - at),
                 call->r + at * work->r_stride, work->r_stride);
}

/* If `seen` is not NULL, what was seen of the weights is added to it. */
static void convolve_pair(const wb_convolution *work, const wb_run *run, int64_t pair, double *memory, int threads,
                          unsigned *seen) {
  pair_call call = {work, run->isa, gather_pair(work, pair, memory), work->r + pair * work->r_pair_stride};
  if (seen) *seen |= look_at(work->m, call.gathered.p) | look_at(work->n, call.gathered.q);
  wb_spread(threads, (work->count + CHUNK - 1) / CHUNK, convolve_piece, &call);
}

/* Copies `count` vectors into blocks of WB_CONVOLUTION_LANES vectors side by side, and back, 512 bytes at a time. */
static void to_lanes(const double *restrict from, int64_t stride, int length, int count, int64_t room,
                     double *restrict to) {
  for (int j = 0; j < length; j++)
    for (int l = 0; l < count; l += WB_CONVOLUTION_LANES) {
      const int here = count - l < WB_CONVOLUTION_LANES ? count - l : WB_CONVOLUTION_LANES;
      double *const out = to + l * room + j * WB_CONVOLUTION_LANES;
      const double *const in = from + j * stride + l;
      if (here == WB_CONVOLUTION_LANES) {
        memcpy(out, in, WB_CONVOLUTION_LANES * sizeof(double));
      } else {
        for (int k = 0; k < WB_CONVOLUTION_LANES; k++) out[k] = k < here ? in[k] : 0;
      }
    }
}
static void from_lanes(const double *restrict from, int64_t room, int64_t length, int count, double *restrict to,
                       int64_t stride) {
  for (int64_t j = 0; j < length; j++)
    for (int l = 0; l < count; l += WB_CONVOLUTION_LANES) {
      const int here = count - l < WB_CONVOLUTION_LANES ? count - l : WB_CONVOLUTION_LANES;
      const double *const in = from + l * room + j * WB_CONVOLUTION_LANES;
      double *const out = to + j * stride + l;
      if (here == WB_CONVOLUTION_LANES) {
        memcpy(out, in, WB_CONVOLUTION_LANES * sizeof(double));
      } else {
        for (int k = 0; k < here; k++) out[k] = in[k];
      }
    }
}

/* Rows of p, q and r of WB_CONVOLUTION_LANES pairs in memory. */
typedef struct lanes_layout {
  int p_rows, q_before, q_rows, r_rows;
} lanes_layout;

static lanes_layout lay_out_lanes(int m, int n) {
  const int outputs = m + n - 1;
  if (m < LANES_LONG_FROM) return (lanes_layout){m, LANES_MARGIN, n + 2 * LANES_MARGIN, outputs + LANES_MARGIN};
  return (lanes_layout){(int)round_up(m, WB_CONVOLUTION_GROUP), LONG_BEFORE, n + LONG_BEFORE + LONG_AFTER,
                        (int)round_up(outputs, WB_CONVOLUTION_GROUP)};
}

static int lanes_rows(const lanes_layout *layout) { return layout->p_rows + layout->q_rows + layout->r_rows; }

static void clear_rows(double *rows, int first, int end) {
  memset(rows + (int64_t)first * WB_CONVOLUTION_LANES, 0,
         (size_t)(end - first) * WB_CONVOLUTION_LANES * sizeof(double));
}

/* Pairs first..first + count - 1, count <= LANES_TOGETHER, side by side. `seen`: what is known of the weights. */
static void convolve_lanes(const wb_convolution *work, wb_isa isa, int64_t first, int count, double *memory,
                           unsigned *seen) {
  const int m = (int)work->m, n = (int)work->n;
  const lanes_layout layout = lay_out_lanes(m, n);
  const int room = lanes_rows(&layout);
  double *const p = memory, *const q = p + (layout.p_rows + layout.q_before) * WB_CONVOLUTION_LANES;
  double *const r = p + (layout.p_rows + layout.q_rows) * WB_CONVOLUTION_LANES;
  to_lanes(work->p + first, work->p_stride, m, count, room, p);
  to_lanes(work->q + first, work->q_stride, n, count, room, q);
  for (int64_t l = 0; l < count; l += WB_CONVOLUTION_LANES) {
    const int64_t at = l * room;
    const int here = count - (int)l < WB_CONVOLUTION_LANES ? count - (int)l : WB_CONVOLUTION_LANES;
    *seen |= WB_LOOP(look_at_lanes, isa)(m, here, p + at) | WB_LOOP(look_at_lanes, isa)(n, here, q + at);
    clear_rows(p + at, m, layout.p_rows);
    clear_rows(q + at, -layout.q_before, 0);
    clear_rows(q + at, n, layout.q_rows - layout.q_before);
    if (m >= LANES_LONG_FROM) WB_LOOP(convolve_lanes_long, isa)(m, n, p + at, q + at, r + at);
    else WB_LOOP(convolve_lanes, isa)(m, n, p + at, q + at, r + at);
  }
  from_lanes(r + work->first * WB_CONVOLUTION_LANES, room, work->count, count, work->r + first, work->r_stride);
}

typedef struct batch_call {
  const wb_convolution *work;
  const wb_run *run;
  int side_by_side;
  int64_t together; /* pairs of a piece; if side_by_side, a multiple of LANES_TOGETHER */
  int look;         /* whether `seen` is wanted */
  unsigned seen;
} batch_call;

static void convolve_pairs(void *context, int64_t piece, void *memory) {
  batch_call *const call = context;
  const wb_convolution *const work = call->work;
  const int64_t first = piece * call->together, end = wb_min_int(work->pairs, first + call->together);
  unsigned seen = 0;
  for (int64_t pair = first; call->side_by_side && pair < end; pair += LANES_TOGETHER)
    convolve_lanes(work, call->run->isa, pair, (int)wb_min_int(LANES_TOGETHER, end - pair), memory, &seen);
  for (int64_t pair = first; !call->side_by_side && pair < end; pair++)
    convolve_pair(work, call->run, pair, memory, 1, call->look ? &seen : NULL);
#pragma omp atomic update
  call->seen |= seen;
}

/* Many pairs: each thread takes some at a time. */
static int convolve_batch(const wb_convolution *work, const wb_run *run, int threads, unsigned *seen,
                          wb_message *message) {
  const int side_by_side = work->p_pair_stride == 1 && work->q_pair_stride == 1 && work->r_pair_stride == 1 &&
                           work->m <= LANES_UP_TO && work->n <= 2 * LANES_UP_TO;
  const lanes_layout layout = side_by_side ? lay_out_lanes((int)work->m, (int)work->n) : (lanes_layout){0, 0, 0, 0};
  const size_t doubles =
      side_by_side ? (size_t)lanes_rows(&layout) * LANES_TOGETHER : operand_doubles(work->m, work->n);
  /* Several large pieces for each thread: threads that write side by side would clear the same new pages. */
  const int64_t share = threads > 1 ? work->pairs / (8 * (int64_t)threads) + 1 : work->pairs;
  const int64_t together = side_by_side ? round_up(share, LANES_TOGETHER) : share;
  batch_call call = {work, run, side_by_side, together, seen != NULL, 0};
  const int done = wb_spread_with_memory(threads, (work->pairs + together - 1) / together, doubles * sizeof(double),
                                         convolve_pairs, &call);
  if (seen) *seen |= call.seen;
  return done ? WB_OK : wb_out_of_memory(message, "copies of a pair of vectors", doubles * sizeof(double));
}

static int convolve_slice(const wb_convolution *work, const wb_run *run, unsigned *seen, wb_message *message) {
  const double multiply_adds = (double)wb_min_int(work->m, work->n) * (double)work->count;
  const int one_thread = run->threads < 2 || multiply_adds * (double)work->pairs < PARALLEL_FROM;
  if (work->pairs > 1 && (one_thread || multiply_adds < 1e7 || work->pairs >= 4 * run->threads))
    return convolve_batch(work, run, one_thread ? 1 : run->threads, seen, message);
  /* Short pairs use the stack: allocating and freeing memory would cost more than the sums. */
  _Alignas(64) double small[SMALL_OPERANDS];
  const size_t doubles = operand_doubles(work->m, work->n);
  double *const taken = doubles > SMALL_OPERANDS ? wb_aligned_malloc(doubles * sizeof(double)) : NULL;
  double *const memory = doubles > SMALL_OPERANDS ? taken : small;
  if (!memory) return wb_out_of_memory(message, "copies of a pair of vectors", doubles * sizeof(double));
  const int threads = one_thread ? 1 : wb_idle_threads(run->threads);
  for (int64_t pair = 0; pair < work->pairs; pair++) convolve_pair(work, run, pair, memory, threads, seen);
  wb_aligned_free(taken);
  return WB_OK;
}

/* Each slice has chunks of outputs, or pairs, for every thread. */
static int convolve(const wb_convolution *work, const wb_run *run, wb_poll *poll, unsigned *seen, wb_message *message) {
  if (seen) *seen = 0;
  const double products = (double)work->m * (double)work->count,
               most = run->isa == WB_ISA_BASELINE ? BASELINE_SLICE : SLICE;
  const int64_t threads = run->threads;
  const int64_t pairs = products * (double)work->pairs <= most
                            ? work->pairs
                            : round_up((int64_t)(most / products) + 1, LANES_TOGETHER * threads);
  const int64_t count = work->pairs > 1 || products <= most
                            ? work->count
                            : round_up((int64_t)(most / (double)work->m) + 1, CHUNK * threads);
  for (int64_t pair = 0; pair < work->pairs; pair += pairs)
    for (int64_t output = 0; output < work->count; output += count) {
      const wb_convolution slice = wb_convolution_part(work, pair, wb_min_int(pairs, work->pairs - pair), output,
                                                       wb_min_int(count, work->count - output));
      WB_TRY(convolve_slice(&slice, run, seen, message));
      const double done = (double)slice.m * (double)slice.count * (double)slice.pairs;
      if (wb_poll_after(poll, 1e3 + done / most * WB_POLL_EVERY)) return WB_INTERRUPTED;
    }
  return WB_OK;
}

const wb_pmf_functions wb_cpu_pmf = {.convolve = convolve};
