/* Polya-Gamma variables on the processor. The elements of a chunk are sorted by the way of core/polyagamma_draw.h.
 * Trials run in vector code; rejected elements are gathered and tried again. */
#include "core/rounding.h"

#include "cpu/table.h"

#include "core/polyagamma_draw.h"
#include "core/polyagamma_law.h"
#include "core/purpose.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Elements of a chunk, the unit of work; a multiple of WB_PHILOX_TILE. Its arrays stay in the second-level cache. */
#define POLYAGAMMA_CHUNK 1024
/* From this number of draws, or of points, on, several threads run. */
#define POLYAGAMMA_PARALLEL 4096
#define POLYAGAMMA_PARALLEL_POINTS 64

#define WB_LOOPS "cpu/polyagamma/variables_loops.h"
#include "numeric/isa.h"

typedef struct polyagamma_lanes {
  _Alignas(64) uint64_t element[POLYAGAMMA_CHUNK];
  _Alignas(64) double value[4][POLYAGAMMA_CHUNK];
  int32_t to[POLYAGAMMA_CHUNK]; /* the sum that the draw is added to */
  int count;
} polyagamma_lanes;

typedef struct polyagamma_room {
  polyagamma_lanes list;  /* the elements of one way; lane i belongs to sum i */
  polyagamma_lanes part;  /* its elements that need one more part */
  polyagamma_lanes again; /* its elements that were rejected */
  _Alignas(64) uint64_t first[POLYAGAMMA_CHUNK];
  _Alignas(64) uint64_t second[POLYAGAMMA_CHUNK];
  _Alignas(64) double x[POLYAGAMMA_CHUNK];
  _Alignas(64) double sum[POLYAGAMMA_CHUNK];
  _Alignas(64) double shape[POLYAGAMMA_CHUNK]; /* of the chunk's elements */
  _Alignas(64) double tilt[POLYAGAMMA_CHUNK];  /* absolute values */
  double rest[POLYAGAMMA_CHUNK];               /* of a lane of the list: shape of the rest, 0 if there is none */
  double rest_tilt[POLYAGAMMA_CHUNK];          /* tilt of the rest */
  int32_t parts[POLYAGAMMA_CHUNK];             /* parts before the rest */
  int32_t least, most, rests;                  /* range of `parts`, and how many lanes have a rest */
  int32_t order[POLYAGAMMA_CHUNK];             /* the chunk's elements of one way */
  int32_t rejected[POLYAGAMMA_CHUNK];
  int32_t way[POLYAGAMMA_CHUNK];
  wb_polyagamma_expansion series; /* if all elements have the same shape and tilt: is_same */
  int is_same, is_series;
} polyagamma_room;

static int to_whole_vectors(int count) { return (count + 7) / 8 * 8; }

static int to_whole_tiles(int count) { return (count + WB_PHILOX_TILE - 1) / WB_PHILOX_TILE * WB_PHILOX_TILE; }

/* Terms of the expansion; 0: this way is none. */
static int terms_of(int way) {
  return way == WB_POLYAGAMMA_EXPANSION_8   ? 8
         : way == WB_POLYAGAMMA_EXPANSION_6 ? 6
         : way == WB_POLYAGAMMA_EXPANSION_2 ? 2
                                            : 0;
}

static int values_of(int way) { return way == WB_POLYAGAMMA_UNITS ? 4 : 2; }

/* Lanes that fill up a whole tile repeat the first element; their draws are not used. */
static void fill(polyagamma_lanes *lanes, int values) {
  for (int i = lanes->count; i < to_whole_tiles(lanes->count); i++) {
    lanes->element[i] = lanes->element[0];
    for (int v = 0; v < values; v++) lanes->value[v][i] = lanes->value[v][0];
  }
}

static void copy_lane(polyagamma_lanes *to, int j, const polyagamma_lanes *from, int i, int values) {
  to->element[j] = from->element[i];
  for (int v = 0; v < values; v++) to->value[v][j] = from->value[v][i];
  to->to[j] = from->to[i];
}

static void try_lanes(const wb_polyagamma_work *work, wb_isa isa, int way, uint32_t block,
                      const polyagamma_lanes *lanes, polyagamma_room *room) {
  const int count = to_whole_vectors(lanes->count);
  WB_LOOP(polyagamma_words, isa)(to_whole_tiles(count), work->key, block, work->iteration, lanes->element, room->first,
                                 room->second);
  if (way == WB_POLYAGAMMA_UNITS) {
    WB_LOOP(polyagamma_unit, isa)(count, room->first, room->second, lanes->value[0], lanes->value[1], lanes->value[2],
                                  lanes->value[3], room->x);
    return;
  }
  if (room->is_series) {
    WB_LOOP(polyagamma_series, isa)(count, terms_of(way), room->first, room->series, room->x);
    return;
  }
  if (terms_of(way) > 0) {
    WB_LOOP(polyagamma_expansion, isa)(count, terms_of(way), room->first, lanes->value[0], lanes->value[1], room->x);
    return;
  }
  if (way == WB_POLYAGAMMA_TILTED) {
    /* Each element has its own number of iterations: no vectors. */
    for (int i = 0; i < lanes->count; i++)
      room->x[i] =
          wb_polyagamma_saddlepoint_trial(lanes->value[0][i], lanes->value[1][i], room->first[i], room->second[i]);
    return;
  }
  (way == WB_POLYAGAMMA_ALTERNATING ? WB_LOOP(polyagamma_alternate, isa)
   : way == WB_POLYAGAMMA_INVERSE_GAUSSIAN
       ? WB_LOOP(polyagamma_inverse_gaussian, isa)
       : WB_LOOP(polyagamma_part, isa))(count, room->first, room->second, lanes->value[0], lanes->value[1], room->x);
}

static void draw_lanes(const wb_polyagamma_work *work, wb_isa isa, int way, uint32_t part, polyagamma_lanes *lanes,
                       polyagamma_room *room) {
  const double *const x = room->x;
  const int values = values_of(way);
  for (uint32_t trial = 0; lanes->count > 0; trial++) {
    try_lanes(work, isa, way, part * WB_POLYAGAMMA_TRIALS + trial, lanes, room);
    const int count = lanes->count;
    if (lanes == &room->list)
      for (int i = 0; i < count; i++) room->sum[i] += x[i] < 0.0 ? 0.0 : x[i];
    else
      for (int i = 0; i < count; i++) room->sum[lanes->to[i]] += x[i] < 0.0 ? 0.0 : x[i];
    int rejected = 0;
    for (int i = 0; i < count; i++) {
      room->rejected[rejected] = i;
      rejected += x[i] < 0.0;
    }
    for (int j = 0; j < rejected; j++) copy_lane(&room->again, j, lanes, room->rejected[j], values);
    lanes = &room->again;
    lanes->count = rejected;
    fill(lanes, values);
  }
}

/* Turns the shapes and tilts of room->list into the values that its trials read. */
static void prepare_list(wb_isa isa, int way, polyagamma_room *room) {
  polyagamma_lanes *const list = &room->list;
  const int count = list->count;
  room->least = room->most = 1;
  room->rests = 0;
  for (int i = 0; i < count; i++) list->to[i] = i;
  fill(list, 2);
  if (way != WB_POLYAGAMMA_UNITS && way != WB_POLYAGAMMA_PARTS && way != WB_POLYAGAMMA_SINGLES) return;
  room->least = WB_POLYAGAMMA_PARTS_MOST;
  for (int i = 0; i < count; i++) {
    double shape;
    const int n = wb_polyagamma_parts(way, list->value[0][i], &shape, &room->rest[i]);
    list->value[0][i] = shape;
    room->parts[i] = n;
    room->rests += room->rest[i] > 0.0;
    if (n > room->most) room->most = n;
    if (n < room->least) room->least = n;
  }
  fill(list, 2);
  if (way != WB_POLYAGAMMA_UNITS) return;
  memcpy(room->rest_tilt, list->value[1], (size_t)count * sizeof(double));
  WB_LOOP(polyagamma_prepare, isa)(to_whole_vectors(count), room->rest_tilt, list->value[0], list->value[1],
                                   list->value[2], list->value[3]);
}

static void draw_list(const wb_polyagamma_work *work, wb_isa isa, int way, polyagamma_room *room) {
  polyagamma_lanes *const list = &room->list, *const part = &room->part;
  const int count = list->count;
  for (int i = 0; i < count; i++) room->sum[i] = 0.0;
  for (int k = 0; k < room->most; k++) {
    if (k < room->least) {
      draw_lanes(work, isa, way, (uint32_t)k, list, room);
      continue;
    }
    part->count = 0;
    for (int i = 0; i < count; i++)
      if (room->parts[i] > k) copy_lane(part, part->count++, list, i, values_of(way));
    fill(part, values_of(way));
    draw_lanes(work, isa, way, (uint32_t)k, part, room);
  }
  /* The rest of element i is its part number parts[i]. */
  for (int k = room->least; room->rests && k <= room->most; k++) {
    part->count = 0;
    for (int i = 0; i < count; i++) {
      if (room->parts[i] != k || !(room->rest[i] > 0.0)) continue;
      const int j = part->count++;
      part->element[j] = list->element[i];
      part->value[0][j] = room->rest[i];
      part->value[1][j] = room->rest_tilt[i];
      part->to[j] = i;
    }
    fill(part, 2);
    draw_lanes(work, isa, WB_POLYAGAMMA_PARTS, (uint32_t)k, part, room);
  }
}

/* `count` entries of a recycled vector, from entry `at` on. */
static void recycle(const double *from, int64_t length, int64_t at, int count, double *to) {
  if (length == 1) {
    for (int i = 0; i < count; i++) to[i] = from[0];
    return;
  }
  int64_t start = at % length;
  for (int done = 0; done < count;) {
    const int64_t left = length - start;
    const int some = left < count - done ? (int)left : count - done;
    memcpy(to + done, from + start, (size_t)some * sizeof(double));
    done += some;
    start = 0;
  }
}

/* Draws the chunk's elements that `order` names, or all if it is NULL, in one way. */
static void draw_way(const wb_polyagamma_work *work, wb_isa isa, int way, int64_t begin, const int32_t *order,
                     int count, polyagamma_room *room) {
  polyagamma_lanes *const list = &room->list;
  double *const draws = work->draws + begin;
  const uint64_t first = work->first + (uint64_t)begin;
  list->count = count;
  if (way == WB_POLYAGAMMA_NONE) {
    for (int j = 0; j < count; j++) draws[order ? order[j] : j] = wb_nan();
    return;
  }
  if (order) {
    for (int j = 0; j < count; j++) {
      list->element[j] = first + (uint64_t)order[j];
      list->value[0][j] = room->shape[order[j]];
      list->value[1][j] = room->tilt[order[j]];
    }
  } else {
    for (int j = 0; j < to_whole_tiles(count); j++) list->element[j] = first + (uint64_t)j;
  }
  if (!order && !room->is_same) {
    memcpy(list->value[0], room->shape, (size_t)count * sizeof(double));
    memcpy(list->value[1], room->tilt, (size_t)count * sizeof(double));
  }
  if (!room->is_same) prepare_list(isa, way, room);
  draw_list(work, isa, way, room);
  if (order)
    for (int j = 0; j < count; j++) draws[order[j]] = wb_polyagamma_positive(room->sum[j]);
  else
    for (int j = 0; j < count; j++) draws[j] = wb_polyagamma_positive(room->sum[j]);
}

static uint32_t find_ways(int method, wb_isa isa, int count, polyagamma_room *room) {
  uint32_t ways = 0;
  if (method == WB_POLYAGAMMA_AUTO) {
    for (int i = count; i < to_whole_vectors(count); i++) room->shape[i] = room->tilt[i] = 1.0;
    WB_LOOP(polyagamma_way, isa)(to_whole_vectors(count), room->shape, room->tilt, room->x);
  }
  for (int i = 0; i < count; i++) {
    room->way[i] = method == WB_POLYAGAMMA_AUTO ? (int32_t)room->x[i] : -1;
    if (room->way[i] < 0) room->way[i] = wb_polyagamma_way_of(method, room->shape[i], room->tilt[i]);
    ways |= (uint32_t)1 << room->way[i];
  }
  return ways;
}

static void draw_chunk(const wb_polyagamma_work *work, wb_isa isa, int64_t begin, int count, polyagamma_room *room) {
  recycle(work->shape, work->shapes, work->begin + begin, count, room->shape);
  recycle(work->tilt, work->tilts, work->begin + begin, count, room->tilt);
  for (int i = 0; i < count; i++) room->tilt[i] = room->tilt[i] < 0.0 ? -room->tilt[i] : room->tilt[i];
  const uint32_t ways = find_ways(work->method, isa, count, room);
  for (int way = 0; way < WB_POLYAGAMMA_WAYS; way++) {
    if (!(ways >> way & 1)) continue;
    if (ways == (uint32_t)1 << way) {
      draw_way(work, isa, way, begin, NULL, count, room);
      return;
    }
    int elements = 0;
    for (int i = 0; i < count; i++) {
      room->order[elements] = i;
      elements += room->way[i] == way;
    }
    draw_way(work, isa, way, begin, room->order, elements, room);
  }
}

/* Prepares for elements that all have the same shape and tilt. Returns their way. */
static int prepare_same(const wb_polyagamma_work *work, wb_isa isa, polyagamma_room *room) {
  const double b = *work->shape, c = *work->tilt < 0.0 ? -*work->tilt : *work->tilt;
  const int way = wb_polyagamma_way_of(work->method, b, c);
  room->list.count = POLYAGAMMA_CHUNK;
  for (int i = 0; i < POLYAGAMMA_CHUNK; i++) {
    room->list.value[0][i] = b;
    room->list.value[1][i] = c;
  }
  room->is_series = terms_of(way) > 0;
  if (room->is_series) room->series = wb_polyagamma_expansion_by(way, b, c);
  if (way != WB_POLYAGAMMA_NONE) prepare_list(isa, way, room);
  return way;
}

typedef struct draw_call {
  const wb_polyagamma_work *work;
  wb_isa isa;
  int threads;
  polyagamma_room *rooms;
} draw_call;

/* The chunks of one thread: every `threads`-th chunk. */
static void draw_share(void *context, int64_t thread) {
  const draw_call *const call = context;
  const wb_polyagamma_work *const work = call->work;
  polyagamma_room *const room = &call->rooms[thread];
  room->is_series = 0;
  room->is_same = work->shapes == 1 && work->tilts == 1;
  const int way = room->is_same ? prepare_same(work, call->isa, room) : WB_POLYAGAMMA_NONE;
  for (int64_t begin = thread * POLYAGAMMA_CHUNK; begin < work->count;
       begin += (int64_t)call->threads * POLYAGAMMA_CHUNK) {
    const int64_t left = work->count - begin;
    const int count = left < POLYAGAMMA_CHUNK ? (int)left : POLYAGAMMA_CHUNK;
    if (room->is_same) draw_way(work, call->isa, way, begin, NULL, count, room);
    else draw_chunk(work, call->isa, begin, count, room);
  }
}

static int draw(const wb_polyagamma_work *work, const wb_run *run, wb_message *message) {
  const int64_t chunks = (work->count + POLYAGAMMA_CHUNK - 1) / POLYAGAMMA_CHUNK;
  int threads = work->count < POLYAGAMMA_PARALLEL ? 1 : wb_idle_threads(run->threads);
  if (threads > chunks) threads = chunks > 1 ? (int)chunks : 1;
  const size_t bytes = (size_t)threads * sizeof(polyagamma_room);
  polyagamma_room *const rooms = wb_aligned_malloc(bytes);
  if (!rooms) return wb_out_of_memory(message, "lists of Polya-Gamma variables", bytes);
  draw_call call = {work, run->isa, threads, rooms};
  wb_spread(threads, threads, draw_share, &call);
  wb_aligned_free(rooms);
  return WB_OK;
}

int wb_cpu_polyagamma_draw_alone(const wb_polyagamma_work *work, wb_isa isa, void **room, wb_message *message) {
  if (!*room) *room = wb_aligned_malloc(sizeof(polyagamma_room));
  if (!*room) return wb_out_of_memory(message, "lists of Polya-Gamma variables", sizeof(polyagamma_room));
  draw_call call = {work, isa, 1, *room};
  draw_share(&call, 0);
  return WB_OK;
}

#define POINTS_TOGETHER 64

static void evaluate_points(void *context, int64_t piece) {
  const wb_polyagamma_points *const points = context;
  const int64_t first = piece * POINTS_TOGETHER, left = points->count - first;
  for (int64_t i = first; i < first + (left < POINTS_TOGETHER ? left : POINTS_TOGETHER); i++)
    points->value[i] =
        wb_polyagamma_evaluate(points->quantity, points->log, points->x[i], points->shape[i], points->tilt[i]);
}

static int evaluate(const wb_polyagamma_points *points, const wb_run *run, wb_message *message) {
  (void)message;
  const int threads = points->count < POLYAGAMMA_PARALLEL_POINTS ? 1 : wb_idle_threads(run->threads);
  wb_polyagamma_points all = *points;
  wb_spread(threads, (points->count + POINTS_TOGETHER - 1) / POINTS_TOGETHER, evaluate_points, &all);
  return WB_OK;
}

const wb_polyagamma_functions wb_cpu_polyagamma = {.draw = draw, .evaluate = evaluate};
