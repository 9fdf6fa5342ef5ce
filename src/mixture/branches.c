/* Joins the peaks of a density along its saddles. Edges go from each point to its nearest, from each mean to its peak
 * and between all peaks. From the highest down (Kruskal), an edge joins two branches if the rule says so. */
#include "core/rounding.h"

#include <string.h>

#include "mixture/peaks.h"
#include "numeric/memory.h"

#define NEAREST 12
#define BETWEEN 7      /* points on an edge, besides its ends */
#define DEEP 8.0       /* a valley this deep, in logs, need not be measured: its sides are far apart */
#define SAME_PEAK 0.05 /* climbs that end closer than this found the same peak */

typedef struct edge {
  int32_t a, b, seen; /* seen: how many of the points between the ends */
  double height;
} edge;

typedef struct graph {
  const wb_peaks_density *density;
  int32_t points;
  double *point;   /* points x columns */
  double *height;  /* points: log density */
  double *share;   /* room for a density */
  double *between; /* columns */
  int32_t *peak;   /* components: the point that is its peak */
  edge *edges;
  int64_t count;
} graph;

/* Appends the peaks to the points. */
static void find_peaks(graph *g, const double *top) {
  const int32_t k = g->density->components, p = g->density->columns;
  for (int32_t j = 0; j < k; j++) {
    const double *const end = top + (size_t)j * (size_t)p;
    double least = SAME_PEAK * SAME_PEAK;
    g->peak[j] = -1;
    for (int32_t i = k; i < g->points; i++) {
      const double distance = wb_peaks_square(p, end, g->point + (size_t)i * (size_t)p);
      if (distance < least) {
        least = distance;
        g->peak[j] = i;
      }
    }
    if (g->peak[j] >= 0) continue;
    g->peak[j] = g->points;
    memcpy(g->point + (size_t)g->points++ * (size_t)p, end, (size_t)p * sizeof(double));
  }
}

/* known: points x points, whether there is an edge already. */
static void add_edge(graph *g, unsigned char *known, int32_t a, int32_t b, int seen) {
  unsigned char *const here = known + (size_t)(a < b ? a : b) * (size_t)g->points + (size_t)(a < b ? b : a);
  if (a == b || *here) return;
  *here = 1;
  const double height = g->height[a] < g->height[b] ? g->height[a] : g->height[b];
  g->edges[g->count++] = (edge){a, b, seen, height};
}

/* All edges uphill from a mean have its height. The first, to its peak, is taken first: that path has no valley. */
static void add_edges(graph *g, unsigned char *known) {
  const int32_t k = g->density->components, p = g->density->columns;
  for (int32_t j = 0; j < k; j++) add_edge(g, known, j, g->peak[j], BETWEEN);
  for (int32_t i = 0; i < g->points; i++) {
    double distance[NEAREST];
    int32_t nearest[NEAREST];
    int count = 0;
    for (int32_t j = 0; j < g->points; j++) {
      if (j == i) continue;
      const double own = wb_peaks_square(p, g->point + (size_t)i * (size_t)p, g->point + (size_t)j * (size_t)p);
      count = wb_insert_nearest(count, NEAREST, own, j, distance, nearest);
    }
    for (int n = 0; n < count; n++) add_edge(g, known, i, nearest[n], 0);
  }
  for (int32_t i = k; i < g->points; i++)
    for (int32_t j = k; j < i; j++) add_edge(g, known, i, j, 0);
}

/* Looks at one more point of an edge, the middle first. */
static void look(graph *g, edge *e) {
  static const int order[BETWEEN] = {4, 2, 6, 1, 3, 5, 7};
  const size_t p = (size_t)g->density->columns;
  const double part = order[e->seen++] / (BETWEEN + 1.0);
  const double *const a = g->point + (size_t)e->a * p, *const b = g->point + (size_t)e->b * p;
  for (size_t c = 0; c < p; c++) g->between[c] = (1 - part) * a[c] + part * b[c];
  const double height = wb_peaks_log_density(g->density, g->between, g->share);
  if (height < e->height) e->height = height;
  const double lower = g->height[e->a] < g->height[e->b] ? g->height[e->a] : g->height[e->b];
  if (e->height < lower - DEEP) e->seen = BETWEEN;
}

/* Branches: disjoint sets of points. */
typedef struct forest {
  int32_t *parent;
  double *top, *mass, *sum; /* of the root: largest height, weight, and sum of weighted points */
} forest;

static int32_t find_root(const forest *f, int32_t i) {
  while (f->parent[i] != i) i = f->parent[i] = f->parent[f->parent[i]];
  return i;
}

static int belong_together(const forest *f, int32_t p, const wb_peaks_rule *rule, double height, int32_t a, int32_t b) {
  const double lower = f->top[a] < f->top[b] ? f->top[a] : f->top[b];
  if (height - lower >= rule->log_valley) return 1;
  double square = 0;
  for (size_t c = 0; c < (size_t)p; c++) {
    const double x = f->sum[(size_t)a * (size_t)p + c] / f->mass[a];
    const double apart = x - f->sum[(size_t)b * (size_t)p + c] / f->mass[b];
    square += apart * apart;
  }
  return square < rule->distance * rule->distance;
}

static void join(const forest *f, int32_t p, int32_t a, int32_t b) {
  if (f->top[b] > f->top[a]) {
    const int32_t kept = a;
    a = b;
    b = kept;
  }
  f->parent[b] = a;
  f->mass[a] += f->mass[b];
  for (size_t c = 0; c < (size_t)p; c++) f->sum[(size_t)a * (size_t)p + c] += f->sum[(size_t)b * (size_t)p + c];
}

/* A heap of edges, the highest on top, of equal ones the first. */
static int above(const edge *edges, int64_t a, int64_t b) {
  return edges[a].height > edges[b].height || (edges[a].height == edges[b].height && a < b);
}

static void sink(const edge *edges, int64_t *heap, int64_t size, int64_t at) {
  const int64_t own = heap[at];
  for (int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && above(edges, heap[child + 1], heap[child])) child++;
    if (!above(edges, heap[child], own)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = own;
}

static void grow(graph *g, const wb_peaks_rule *rule, const forest *f, int64_t *heap, int32_t *branch) {
  const int32_t k = g->density->components, p = g->density->columns;
  for (int32_t i = 0; i < g->points; i++) {
    f->parent[i] = i;
    f->top[i] = g->height[i];
    f->mass[i] = i < k ? g->density->weight[i] : 1e-12;
    for (int32_t c = 0; c < p; c++) {
      const size_t at = (size_t)i * (size_t)p + (size_t)c;
      f->sum[at] = f->mass[i] * g->point[at];
    }
  }
  int64_t size = g->count;
  for (int64_t i = 0; i < size; i++) heap[i] = i;
  for (int64_t i = size / 2 - 1; i >= 0; i--) sink(g->edges, heap, size, i);
  while (size > 0) {
    edge *const e = g->edges + heap[0];
    const int32_t a = find_root(f, e->a), b = find_root(f, e->b);
    if (a != b && e->seen < BETWEEN) {
      look(g, e);
    } else {
      if (a != b && belong_together(f, p, rule, e->height, a, b)) join(f, p, a, b);
      heap[0] = heap[--size];
    }
    if (size > 0) sink(g->edges, heap, size, 0);
  }
  /* Numbered as components first appear. `heap` is free now. */
  int32_t branches = 0;
  for (int32_t i = 0; i < g->points; i++) heap[i] = -1;
  for (int32_t j = 0; j < k; j++) {
    const int32_t root = find_root(f, j);
    if (heap[root] < 0) heap[root] = branches++;
    branch[j] = (int32_t)heap[root];
  }
}

static int grow_all(graph *g, const wb_peaks_rule *rule, int32_t rules, int32_t *branch, wb_message *message) {
  const size_t n = (size_t)g->points, p = (size_t)g->density->columns, k = (size_t)g->density->components;
  const size_t peaks = n - k, most = k + n * NEAREST + peaks * (peaks + 1) / 2;
  forest f;
  int64_t *heap;
  unsigned char *known;
  void *const memory =
      WB_PARTS("cell types", message, WB_PART(g->edges, most), WB_PART(heap, most + n), WB_PART(f.parent, n),
               WB_PART(f.top, n), WB_PART(f.mass, n), WB_PART(f.sum, n * p), WB_CLEARED(known, n * n));
  if (!memory) return WB_ERROR_MEMORY;
  add_edges(g, known);
  for (int32_t i = 0; i < rules; i++) grow(g, rule + i, &f, heap, branch + (size_t)i * k);
  wb_aligned_free(memory);
  return WB_OK;
}

int wb_peaks_branches(const wb_peaks_density *density, const double *top, const wb_peaks_rule *rule, int32_t rules,
                      int32_t *branch, wb_message *message) {
  const size_t k = (size_t)density->components, p = (size_t)density->columns;
  graph g = {.density = density, .points = density->components};
  void *const memory =
      WB_PARTS("cell types", message, WB_PART(g.point, 2 * k * p), WB_PART(g.height, 2 * k), WB_PART(g.peak, k),
               WB_PART(g.share, wb_peaks_share_size(density->components)), WB_PART(g.between, p));
  if (!memory) return WB_ERROR_MEMORY;
  memcpy(g.point, density->mean, k * p * sizeof(double));
  find_peaks(&g, top);
  for (int32_t i = 0; i < g.points; i++) g.height[i] = wb_peaks_log_density(density, g.point + (size_t)i * p, g.share);
  const int status = grow_all(&g, rule, rules, branch, message);
  wb_aligned_free(memory);
  return status;
}
