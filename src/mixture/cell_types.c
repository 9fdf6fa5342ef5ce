/* Cell types: branches of the averaged density of some draws, and of each draw's own. */
#include "core/rounding.h"

#include "mixture/cell_types.h"

#include <stdlib.h>
#include <string.h>

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "numeric/memory.h"
#include "numeric/poll.h"
#include "numeric/spread.h"

typedef struct search {
  const wb_mixture_draws *draws;
  double least;
  const wb_peaks_rule *rule;
  const wb_run *run;
  wb_poll *poll;
  wb_peaks_component *component; /* of the averaged density */
  wb_peaks_density density;
  double *top;      /* components of the averaged density x columns: where each climbs to */
  int32_t *leaf_of; /* components of the averaged density */
  int64_t first;    /* of the pieces that are done together */
  int *status;      /* of each piece */
  wb_mixture_types *out;
} search;

static wb_peaks_component component_of(const wb_mixture_draws *draws, int32_t draw, int32_t j) {
  const size_t k = (size_t)draws->components, p = (size_t)draws->columns, at = (size_t)draws->which[draw];
  return (wb_peaks_component){draws->weights[(size_t)draw * k + (size_t)j], draws->means + at * k * p + (size_t)j,
                              draws->covariances + (at * k + (size_t)j) * p * p};
}

/* The components of a draw that hold `least`, or the largest one. Returns how many. */
static int32_t used_components(const wb_mixture_draws *draws, double least, int32_t draw, int32_t *used) {
  const double *const weight = draws->weights + (size_t)draw * (size_t)draws->components;
  int32_t count = 0, largest = 0;
  for (int32_t j = 0; j < draws->components; j++) {
    if (weight[j] >= least && weight[j] > 0) used[count++] = j;
    if (weight[j] > weight[largest]) largest = j;
  }
  if (count == 0) used[count++] = largest;
  return count;
}

static void climb_piece(void *context, int64_t piece) {
  search *const s = context;
  const int64_t i = s->first + piece;
  const size_t p = (size_t)s->density.columns;
  double *const room = malloc(wb_peaks_climb_room(s->density.components, s->density.columns) * sizeof(double));
  s->status[i] = room ? WB_OK : WB_ERROR_MEMORY;
  if (!room) return;
  double *const top = s->top + (size_t)i * p;
  memcpy(top, s->density.mean + (size_t)i * p, p * sizeof(double));
  wb_peaks_climb(&s->density, top, room);
  free(room);
}

static void find_nearest(const search *s, const wb_peaks_density *density, int32_t draw, int32_t count,
                         const int32_t *used, double *z, int32_t *nearest) {
  const int32_t k = s->draws->components, p = density->columns;
  for (int32_t j = 0; j < k; j++) nearest[j] = -1;
  for (int32_t i = 0; i < count; i++) nearest[used[i]] = i;
  for (int32_t j = 0; j < k; j++) {
    if (nearest[j] >= 0) continue;
    wb_peaks_point(density, (size_t)k, component_of(s->draws, draw, j).mean, z);
    double least = wb_infinity();
    nearest[j] = 0;
    for (int32_t i = 0; i < count; i++) {
      const double distance = wb_peaks_square(p, z, density->mean + (size_t)i * (size_t)p);
      if (distance < least) {
        least = distance;
        nearest[j] = i;
      }
    }
  }
}

/* Of the type with most of the averaged density at a point, the leaf with most of it. mass: twice the leaves. */
static int32_t leaf_at(const search *s, const double *z, double *share, double *mass) {
  const int32_t leaves = s->out->leaves, *const type = s->out->type;
  double *const of_type = mass + leaves;
  int32_t best = 0;
  memset(mass, 0, 2 * (size_t)leaves * sizeof(double));
  wb_peaks_log_density(&s->density, z, share);
  for (int32_t j = 0; j < s->density.components; j++) mass[s->leaf_of[j]] += share[j];
  for (int32_t l = 0; l < leaves; l++) of_type[type[l]] += mass[l];
  for (int32_t l = 1; l < leaves; l++) {
    const double own = of_type[type[l]], most = of_type[type[best]];
    if (own > most || (own == most && mass[l] > mass[best])) best = l;
  }
  return best;
}

typedef struct own_cut {
  wb_peaks_component *component;
  wb_peaks_density density;
  double *top, *room;
  int32_t *used, *nearest, *branch;
  int32_t count;
} own_cut;

static int cut_draw(const search *s, int32_t draw, own_cut *own, wb_message *message) {
  const wb_mixture_draws *const draws = s->draws;
  const size_t k = (size_t)draws->components, p = (size_t)draws->columns;
  for (int32_t i = 0; i < own->count; i++) own->component[i] = component_of(draws, draw, own->used[i]);
  WB_TRY(wb_peaks_open(&own->density, s->run->isa, own->count, draws->columns, k, own->component, message));
  double *const z = own->room, *const share = z + p, *const mass = share + wb_peaks_share_size(s->density.components);
  if (s->out->own) {
    WB_TRY(wb_peaks_place(&own->density, k, own->component, s->rule->floor));
    memcpy(own->top, own->density.mean, (size_t)own->count * p * sizeof(double));
    for (int32_t i = 0; i < own->count; i++) wb_peaks_climb(&own->density, own->top + (size_t)i * p, own->room);
    WB_TRY(wb_peaks_branches(&own->density, own->top, s->rule, 1, own->branch, message));
  } else {
    for (int32_t i = 0; i < own->count; i++)
      wb_peaks_point(&own->density, k, own->component[i].mean, own->density.mean + (size_t)i * p);
  }
  find_nearest(s, &own->density, draw, own->count, own->used, z, own->nearest);
  for (int32_t i = 0; i < own->count; i++) {
    wb_peaks_point(&s->density, k, own->component[i].mean, z);
    own->used[i] = leaf_at(s, z, share, mass);
  }
  for (size_t j = 0; j < k; j++) {
    const size_t at = (size_t)draw * k + j;
    if (s->out->own) s->out->own[at] = own->branch[own->nearest[j]];
    s->out->leaf[at] = own->used[own->nearest[j]];
  }
  return WB_OK;
}

static void cut_piece(void *context, int64_t piece) {
  search *const s = context;
  const int64_t draw = s->first + piece;
  const size_t k = (size_t)s->draws->components, p = (size_t)s->draws->columns;
  const size_t most = wb_peaks_climb_room(s->draws->components, s->draws->columns);
  const size_t other = p + wb_peaks_share_size(s->density.components) + 2 * (size_t)s->out->leaves;
  own_cut own = {.count = 0};
  wb_message message;
  void *const memory =
      WB_PARTS("cell types", &message, WB_PART(own.component, k), WB_PART(own.top, k * p), WB_PART(own.used, k),
               WB_PART(own.room, most > other ? most : other), WB_PART(own.nearest, k), WB_PART(own.branch, k));
  if (memory) own.count = used_components(s->draws, s->least, (int32_t)draw, own.used);
  s->status[draw] = memory ? cut_draw(s, (int32_t)draw, &own, &message) : WB_ERROR_MEMORY;
  wb_peaks_close(&own.density);
  wb_aligned_free(memory);
}

/* Does all pieces, some at a time so that the user can interrupt. nanoseconds: of one piece, about. */
static int spread(search *s, wb_piece *work, int64_t pieces, double nanoseconds, wb_message *message) {
  const int64_t together = s->run->threads * (int64_t)(1 + WB_POLL_EVERY / nanoseconds);
  for (int64_t first = 0; first < pieces; first += together) {
    const int64_t count = pieces - first < together ? pieces - first : together;
    s->first = first;
    wb_spread(s->run->threads, count, work, s);
    for (int64_t i = first; i < first + count; i++) {
      if (s->status[i] == WB_ERROR_MEMORY)
        return wb_fail(message, WB_ERROR_MEMORY, "the memory for cell types could not be allocated");
      if (s->status[i] != WB_OK) {
        wb_message_write(message, "the covariances of the components are not positive definite");
        return s->status[i];
      }
    }
    if (wb_poll_after(s->poll, WB_POLL_EVERY)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

/* The components of the averaged density; `used`: room for a draw's. */
static int32_t gather(const wb_mixture_draws *draws, double least, int32_t averaged, const int32_t *which,
                      int32_t *used, wb_peaks_component *component) {
  int32_t total = 0;
  for (int32_t d = 0; d < averaged; d++) {
    const int32_t count = used_components(draws, least, which[d], used);
    for (int32_t i = 0; i < count; i++) component[total + i] = component_of(draws, which[d], used[i]);
    total += count;
  }
  return total;
}

static void number_leaves(search *s, const int32_t *finest, const int32_t *type) {
  wb_mixture_types *const out = s->out;
  const int32_t k = s->density.components;
  const size_t p = (size_t)s->density.columns;
  double total = 0;
  out->leaves = 0;
  for (int32_t j = 0; j < k; j++) {
    int32_t same = 0;
    while (same < j && (finest[same] != finest[j] || type[same] != type[j])) same++;
    const int32_t leaf = s->leaf_of[j] = same < j ? s->leaf_of[same] : out->leaves++;
    double *const place = out->place + (size_t)leaf * p;
    if (same == j) {
      out->type[leaf] = type[j];
      out->mass[leaf] = 0;
      memset(place, 0, p * sizeof(double));
    }
    const double weight = s->density.weight[j];
    out->mass[leaf] += weight;
    total += weight;
    for (size_t c = 0; c < p; c++) place[c] += weight * s->density.mean[(size_t)j * p + c];
  }
  for (int32_t l = 0; l < out->leaves; l++) {
    for (size_t c = 0; c < p; c++) out->place[(size_t)l * p + c] /= out->mass[l];
    out->mass[l] /= total;
  }
}

static int cut_average(search *s, int32_t *branch, wb_message *message) {
  const size_t k = (size_t)s->density.components;
  const double step = (double)k * (double)wb_packed_size(s->density.columns);
  WB_TRY(spread(s, climb_piece, (int64_t)k, 1 + 30 * step, message));
  const wb_peaks_rule rules[2] = {{s->rule->floor, 0, 0}, *s->rule};
  WB_TRY(wb_peaks_branches(&s->density, s->top, rules, 2, branch, message));
  number_leaves(s, branch, branch + k);
  return WB_OK;
}

int wb_mixture_find_types(const wb_mixture_draws *draws, double least, int32_t averaged, const int32_t *which,
                          const wb_peaks_rule *rule, const wb_run *run, wb_poll *poll, wb_mixture_types *out,
                          wb_message *message) {
  const size_t k = (size_t)draws->components, p = (size_t)draws->columns, most = (size_t)averaged * k;
  const size_t pieces = most > (size_t)draws->count ? most : (size_t)draws->count;
  const double step = (double)k * (double)k * (double)wb_packed_size(draws->columns);
  int32_t *branch;
  search s = {.draws = draws, .least = least, .rule = rule, .run = run, .poll = poll, .out = out};
  void *const memory = WB_PARTS("cell types", message, WB_PART(s.component, most), WB_PART(s.top, most * p),
                                WB_PART(s.status, pieces), WB_PART(s.leaf_of, most), WB_PART(branch, 2 * most));
  if (!memory) return WB_ERROR_MEMORY;
  const int32_t total = gather(draws, least, averaged, which, s.leaf_of, s.component);
  int status = wb_peaks_open(&s.density, run->isa, total, draws->columns, k, s.component, message);
  if (status == WB_OK && wb_peaks_place(&s.density, k, s.component, rule->floor) != WB_OK)
    status = wb_fail(message, WB_ERROR_INPUT, "the covariances of the components are not positive definite");
  if (status == WB_OK) status = cut_average(&s, branch, message);
  if (status == WB_OK) status = spread(&s, cut_piece, draws->count, 60 * step, message);
  wb_peaks_close(&s.density);
  wb_aligned_free(memory);
  return status;
}
