/* Pairs of components on the processor: chooses rows at random and draws rows to the halves of a pair. */
#include "core/rounding.h"

#include "cpu/mixture/sums.h"

#include <stdlib.h>

#include "core/min_max.h"
#include "core/mixture_half.h"
#include "core/scaled_value.h"
#include "numeric/memory.h"

/* Tiles that a thread takes at a time when anchors are chosen. */
#define TILES_TOGETHER 64

typedef struct anchors_request {
  const wb_mixture_session *session;
  const wb_mixture_pairs *pairs;
  uint64_t key;
  uint32_t iteration;
  int64_t next, tiles; /* the next tile that no thread has taken, and their number */
  uint64_t *least;     /* of each slot: the least ticket of its rows */
} anchors_request;

static void choose_in_tiles(void *context) {
  anchors_request *const ask = context;
  const wb_mixture_session *session = ask->session;
  const wb_mixture_pairs *pairs = ask->pairs;
  const int slots = 2 * pairs->pairs;
  const int64_t rows = session->data.rows;
  const mixture_loops loop = wb_cpu_mixture_loops(session);
  uint64_t row[MIXTURE_TILE], tickets[2 * MIXTURE_TILE], own[2 * WB_MIXTURE_MOST_PAIRS];
  for (int i = 0; i < slots; i++) own[i] = UINT64_MAX;
  for (int64_t some; (some = wb_take(&ask->next)) * TILES_TOGETHER < ask->tiles;) {
    const int64_t end = wb_min_int((some + 1) * TILES_TOGETHER * MIXTURE_TILE, rows);
    for (int64_t first = some * TILES_TOGETHER * MIXTURE_TILE; first < end; first += MIXTURE_TILE) {
      for (int l = 0; l < MIXTURE_TILE; l++) row[l] = (uint64_t)(session->data.first_row + first + l);
      loop.tickets(ask->key, ask->iteration, row, tickets);
      for (int l = 0; l < MIXTURE_TILE && first + l < end; l++) {
        const int32_t label = session->labels[first + l], pair = pairs->pair[label], side = pairs->side[label];
        if (pair < 0) continue;
        for (int half = 0; half < 2; half++) {
          const uint64_t ticket = tickets[half * MIXTURE_TILE + l];
          uint64_t *to = &own[2 * pair + half];
          if ((side < 0 || side == half) && ticket < *to) *to = ticket;
        }
      }
    }
  }
#pragma omp critical(wb_least_tickets)
  for (int i = 0; i < slots; i++)
    if (own[i] < ask->least[i]) ask->least[i] = own[i];
}

int wb_cpu_mixture_choose_anchors(wb_mixture_session *session, const wb_mixture_pairs *pairs, uint64_t key,
                                  uint32_t iteration, int64_t *anchors, wb_message *message) {
  const int slots = 2 * pairs->pairs;
  const int64_t rows = session->data.rows, tiles = (rows + MIXTURE_TILE - 1) / MIXTURE_TILE;
  uint64_t least[2 * WB_MIXTURE_MOST_PAIRS];
  (void)message;
  for (int i = 0; i < slots; i++) least[i] = UINT64_MAX;
  const int threads = mixture_threads(session, session->components, rows, tiles);
  anchors_request ask = {session, pairs, key, iteration, 0, tiles, least};
  wb_on_threads(threads, choose_in_tiles, &ask);
  for (int i = 0; i < slots; i++) anchors[i] = least[i] == UINT64_MAX ? -1 : (int64_t)(least[i] & 0xFFFFFFFFu);
  return WB_OK;
}

/* Rows that are drawn together: a divisor of MIXTURE_TILE, and a multiple of WB_PHILOX_TILE. */
#define PAIR_LANES 16

typedef struct halves_request {
  const wb_mixture_pairs *pairs;
  const void *packed; /* the halves' coefficients */
  const int64_t *anchors;
  int known;
  uint64_t key;
  uint32_t iteration, step;
} halves_request;

/* Draws the halves of `count` rows of a leaf, at most a tile, and adds to the log probability of their pair. Appends
 * the rows of half h to list[h], which has listed[h] rows. */
static void draw_tile_halves(const wb_mixture_session *session, const halves_request *ask, int32_t pair,
                             int64_t leaf_begin, const int32_t *member, int count, tile *t,
                             int32_t (*list)[WB_LEAF_ROWS], int listed[2], int64_t *log_probability) {
  const int64_t *anchors = ask->anchors + 2 * (size_t)pair;
  double difference[MIXTURE_TILE], half[MIXTURE_TILE], log_half[2][MIXTURE_TILE];
  /* Most pairs of small data have a few rows only. */
  const int lanes = (count + PAIR_LANES - 1) / PAIR_LANES * PAIR_LANES;
  wb_cpu_mixture_tile_gather(session, leaf_begin, member, count, lanes, t);
  t->loop.halves(lanes, session->data.columns, ask->packed, (size_t)pair, t->x, difference);
  t->loop.draw_halves(lanes, ask->key, ask->iteration, ask->step, t->number, difference, half, log_half[0],
                      log_half[1]);
  for (int l = 0; l < count; l++) {
    const int64_t i = (int64_t)t->number[l];
    const int32_t side = ask->pairs->side[session->labels[row_of(session, t->number[l])]];
    int to = i == anchors[1];
    if (i != anchors[0] && i != anchors[1]) {
      to = ask->known && side >= 0 ? side : half[l] > 0;
      *log_probability += (int64_t)log_half[to][l];
    }
    list[to][listed[to]++] = member[l];
  }
}

/* Copies a leaf's scaled rows that belong to pairs, and lists them by pair, unless this thread had the leaf last. */
static void gather_leaf(const wb_mixture_session *session, const wb_mixture_pairs *pairs, int64_t leaf, int rows,
                        tile *t) {
  const wb_mixture_data *data = &session->data;
  const int p = data->columns, has_rows = t->own->leaf == leaf;
  const int64_t begin = leaf * WB_LEAF_ROWS;
  const size_t padded = mixture_padded(p + 1);
  if (has_rows && t->own->sorted == session->pairing) return;
  for (int l = 0; l < rows; l++) {
    const int32_t pair = pairs->pair[session->labels[begin + l]];
    t->drawn[l] = pair < 0 ? pairs->pairs : pair;
    if (pair < 0 || has_rows) continue;
    double *row = t->row + (size_t)l * padded + 1;
    for (int c = 0; c < p; c++) {
      const double scaled = wb_scaled_value(data->x[(size_t)c * (size_t)data->rows + (size_t)(begin + l)],
                                            data->center[c], data->inverse_scale[c]);
      row[c] = data->precision == WB_SINGLE ? (double)wb_scaled_valuef(scaled) : scaled;
    }
  }
  wb_cpu_mixture_leaf_sort(pairs->pairs + 1, rows, t);
  if (has_rows) t->own->sorted = session->pairing;
  else mixture_has_leaf(t, -1);
}

/* Draws the halves of a leaf's rows and adds the rows to the sums of their halves. */
static void halve_leaf(const wb_mixture_session *session, const void *asked, int64_t leaf, tile *t, double *sums) {
  const halves_request *ask = asked;
  const int p = session->data.columns;
  const size_t size = wb_cpu_mixture_padded_sums(p), padded = mixture_padded(p + 1);
  const int64_t begin = leaf * WB_LEAF_ROWS, left = session->data.rows - begin;
  int32_t list[2][WB_LEAF_ROWS];
  gather_leaf(session, ask->pairs, leaf, left < WB_LEAF_ROWS ? (int)left : WB_LEAF_ROWS, t);
  wb_cpu_missing_fill(session, leaf, t->row + 1, padded);
  for (int32_t g = 0, at = 0; g < ask->pairs->pairs; g++) {
    int listed[2] = {0, 0};
    while (at < t->end[g]) {
      const int count = t->end[g] - at < MIXTURE_TILE ? t->end[g] - at : MIXTURE_TILE;
      draw_tile_halves(session, ask, g, begin, t->member + at, count, t, list, listed, &t->count[g]);
      at += count;
    }
    for (int half = 0; half < 2; half++)
      if (listed[half] > 0)
        t->loop.add_rows(p + 1, t->row, padded, list[half], listed[half], sums + (size_t)(2 * g + half) * size);
  }
}

/* Notes the pairs, so that lists of rows by other pairs are not taken for theirs. */
static int note_pairs(wb_mixture_session *session, const wb_mixture_pairs *pairs, wb_message *message) {
  const size_t bytes = (size_t)pairs->components * sizeof(int32_t);
  const int as_before = session->pair_components == pairs->components && session->pairs == pairs->pairs;
  if (as_before && memcmp(session->pair, pairs->pair, bytes) == 0) return WB_OK;
  if (session->pair_components != pairs->components) {
    free(session->pair);
    session->pair = malloc(bytes);
    session->pair_components = session->pair ? pairs->components : 0;
    if (!session->pair) return wb_out_of_memory(message, "the pairs of components", bytes);
  }
  memcpy(session->pair, pairs->pair, bytes);
  session->pairs = pairs->pairs;
  session->pairing++;
  return WB_OK;
}

int wb_cpu_mixture_draw_halves(wb_mixture_session *session, const wb_mixture_pairs *pairs,
                               const wb_mixture_parameters *halves, const int64_t *anchors, int known, uint64_t key,
                               uint32_t iteration, uint32_t step, double *statistics, double *log_probability,
                               wb_message *message) {
  void *packed;
  WB_TRY(note_pairs(session, pairs, message));
  WB_TRY(wb_cpu_mixture_pack(session, halves, &packed, message));
  int64_t total[WB_MIXTURE_MOST_PAIRS] = {0};
  double unused = 0;
  const halves_request ask = {pairs, packed, anchors, known, key, iteration, step};
  const mixture_pass pass = {
      session->components, pairs->pairs + 1, 2 * pairs->pairs, (size_t)pairs->pairs, 0, halve_leaf, &ask};
  const int status = wb_cpu_mixture_pass(session, &pass, statistics, &unused, total, message);
  for (int32_t g = 0; g < pairs->pairs && status == WB_OK; g++) log_probability[g] = (double)total[g] / WB_HALF_UNIT;
  free(packed);
  return status;
}
