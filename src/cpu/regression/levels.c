/* Acts on the effects of all levels of a term (core/regression_level.h). GPU: cuda/regression/levels.cu. */
#include "core/scalar.h"

#include "core/purpose.h"
#include "core/regression_level.h"
#include "cpu/regression/parts.h"
#include "numeric/idle.h"
#include "numeric/spread.h"

typedef struct level_work {
  wb_level_place place;
  const wb_regression_placing *placing;
  wb_isa isa;
  int32_t levels;
  double *to, *density;
} level_work;

static void map_columns(const level_work *work, int32_t first, int32_t count, wb_level_columns *columns) {
  const size_t size = WB_LEVEL_RECORD(1, work->place.p);
  for (int32_t i = 0; i < count; i++) {
    const double *const record = work->placing->records + (size_t)(first + i) * size;
    columns->weight[i] = record[0];
    columns->share[i] = record[1];
    columns->mode[i] = record[2];
    columns->linear[i] = record[3];
    columns->shift[i] = wb_level_shift(&work->place, record, 0);
  }
  wb_cpu_level_map(work->isa, count, columns, *work->place.tie, *work->place.most);
}

static void act(void *context, int64_t piece) {
  const level_work *const work = context;
  const wb_regression_placing *const placing = work->placing;
  const int32_t q = work->place.q, first = (int32_t)piece * WB_LEVEL_COLUMNS;
  const int32_t left = work->levels - first, count = left < WB_LEVEL_COLUMNS ? left : WB_LEVEL_COLUMNS;
  const size_t size = WB_LEVEL_RECORD(q, work->place.p);
  wb_level_columns columns;
  double mean[WB_LEVEL_MOST], root[WB_LEVEL_MOST_PACKED];
  if (q == 1) map_columns(work, first, count, &columns);
  for (int32_t i = 0; i < count; i++) {
    const size_t l = (size_t)(first + i), own = l * (size_t)q;
    wb_stream stream = {0};
    if (placing->action == WB_LEVEL_PROPOSE)
      stream = wb_stream_open(placing->key, WB_PURPOSE_LEVEL_PROPOSAL, placing->iteration, placing->first + l);
    if (q > 1) wb_level_map(&work->place, placing->records + l * size, mean, root);
    work->density[l] = wb_level_act(&work->place, placing->action, q == 1 ? columns.mean + i : mean,
                                    q == 1 ? columns.root + i : root, placing->from + own, work->to + own, &stream);
  }
}

int wb_cpu_levels_place(wb_regression_session *session, const wb_regression_placing *placing, double *to,
                        double *density, wb_message *message) {
  const wb_regression_data *const data = &session->data;
  const wb_level_place place = {placing->columns, data->columns, placing->change, placing->tie, placing->most};
  const int32_t levels = placing->term < 0 ? data->groups : data->terms[placing->term].levels;
  level_work work = {place, placing, session->isa, levels, to, density};
  (void)message;
  const int32_t pieces = (levels + WB_LEVEL_COLUMNS - 1) / WB_LEVEL_COLUMNS;
  const int32_t wanted = pieces < session->threads ? pieces : session->threads;
  wb_spread(wanted > 1 ? wb_idle_threads(wanted) : 1, pieces, act, &work);
  return WB_OK;
}
