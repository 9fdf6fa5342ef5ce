/* The working memory of a thread that draws terms or documents. A session keeps it between passes. Only
 * cpu/topic_model/tokens.c includes this file, after its session. */
#pragma once

struct workbench {
  workbench *next;      /* in the list of idle ones */
  int rows;             /* documents or terms whose gammas are drawn together */
  double *shape;        /* rows x topics */
  int32_t *tally;       /* rows x topics: counts of tokens */
  int32_t *group_tally; /* documents of a group x topics */
  double *base;         /* rows x topics: the shape of a count of 0 */
  double *inverse;      /* rows x topics: 1 over it */
  double *value;        /* rows x topics: gammas or means */
  char *weight;         /* documents of a group x width, in the precision of the weights */
  void *sums;           /* ring x stretches x lanes, in the precision of the weights */
  double *trees;        /* ring x (tree + 1) */
  double *norm;         /* documents of a group: the sums of their gammas */
  topic_gamma_room *room;
};

static workbench *workbench_new(const wb_topic_session *s) {
  const int64_t documents = s->order.group, most = documents > WB_TOPIC_LEAF ? documents : WB_TOPIC_LEAF;
  const int topics = s->settings.topics, fit = topics < TOPIC_GAMMAS ? TOPIC_GAMMAS / topics : 1;
  const int rows = fit < most ? fit : (int)most;
  const size_t lanes = WB_TOPIC_LANES, size = (size_t)wb_topic_stretches(s->rows) * lanes;
  const size_t gammas = ((size_t)rows * (size_t)topics + 2 * lanes - 1) / lanes * lanes;
  const size_t weights = (size_t)documents * s->width, norms = (size_t)documents + lanes;
  const size_t head = (sizeof(workbench) + 63) / 64 * 64, room = (sizeof(topic_gamma_room) + 63) / 64 * 64;
  char *memory = wb_aligned_malloc(
      head + room + (4 * gammas + weights + TOPIC_RING * (size + WB_TOPIC_TREE + 1) + norms) * sizeof(double) +
      (gammas + (size_t)documents * (size_t)topics) * sizeof(int32_t));
  if (!memory) return NULL;
  workbench *bench = (workbench *)memory;
  bench->rows = rows;
  bench->room = (topic_gamma_room *)(memory + head);
  bench->shape = (double *)(memory + head + room);
  bench->value = bench->shape + gammas;
  bench->base = bench->value + gammas;
  bench->inverse = bench->base + gammas;
  bench->sums = bench->inverse + gammas;
  bench->trees = (double *)bench->sums + TOPIC_RING * size;
  bench->weight = (char *)(bench->trees + TOPIC_RING * (WB_TOPIC_TREE + 1));
  bench->norm = (double *)bench->weight + weights;
  bench->tally = (int32_t *)(bench->norm + norms);
  bench->group_tally = bench->tally + gammas;
  memset(bench->norm, 0, norms * sizeof(double));
  return bench;
}

/* NULL without memory; then *failed is set. */
static workbench *workbench_take(wb_topic_session *s, int *failed) {
  workbench *bench;
#pragma omp critical(wb_topic_workbench)
  {
    bench = s->idle;
    if (bench) s->idle = bench->next;
  }
  if (!bench) bench = workbench_new(s);
  if (!bench) {
#pragma omp atomic write
    *failed = 1;
  }
  return bench;
}

static void workbench_put(wb_topic_session *s, workbench *bench) {
#pragma omp critical(wb_topic_workbench)
  {
    bench->next = s->idle;
    s->idle = bench;
  }
}
