/* Loops over the components of a mixture, compiled for each instruction set by cpu/mixture/components.c. */

/* Draws components first, ..., end - 1. Returns how many could not be drawn. */
/* tools/loops: no vector multiply-adds */
static int WB_NAME(mixture_components_draw)(const wb_mixture_session *session, const wb_component_law *law,
                                            const int32_t *source, int32_t first, int32_t end, uint64_t key,
                                            uint32_t iteration, double *work) {
  const wb_team alone = {0, 1};
  const size_t p = (size_t)law->columns, triangle = wb_packed_size(law->columns);
  int failed = 0;
  for (int32_t l = first; l < end; l++) {
    const size_t j = (size_t)source[l], at = (size_t)l;
    const wb_component out = {session->mean + at * p, session->offset + at * p,      session->factor + at * triangle,
                              session->pull + at * p, session->log_determinant + at, session->floor_trace + at};
    failed += !wb_component_draw(alone, law, session->statistics + j * WB_MIXTURE_STATISTICS(p), key, iteration,
                                 (uint64_t)j, work, out);
  }
  return failed;
}

/* tools/loops: no vector multiply-adds */
static void WB_NAME(mixture_components_measure)(const wb_mixture_session *session, const wb_mixture_measures *measures,
                                                int32_t first, int32_t end, double *work) {
  const wb_team alone = {0, 1};
  const int p = session->data.columns;
  const size_t columns = (size_t)p, triangle = wb_packed_size(p), k = (size_t)session->components;
  for (int32_t l = first; l < end; l++) {
    const size_t j = (size_t)l;
    const double *factor = session->factor + j * triangle;
    if (measures->log_determinant) measures->log_determinant[j] = session->log_determinant[j];
    if (measures->distance)
      wb_component_mean_distance(alone, p, factor, session->mean + j * columns, measures->center, work,
                                 &measures->distance[j]);
    if (measures->trace) wb_component_trace(alone, p, factor, measures->root, work, &measures->trace[j]);
    for (int32_t q = 0; q < measures->points; q++)
      wb_component_distance(alone, p, factor, session->offset + j * columns, measures->point + (size_t)q * columns,
                            work, &measures->point_distance[(size_t)q * k + j]);
  }
}

static void WB_NAME(mixture_components_gram)(const wb_mixture_session *session, double weight, int first, int end,
                                             double *gram) {
  const int p = session->data.columns;
  const double *row = session->factor;
  for (int32_t j = 0; j < session->components; j++)
    for (int k = 0; k < p; row += ++k)
      for (int r = first; r <= k && r < end; r++) {
        double *out = gram + wb_packed_row(r);
        const double scaled = weight * row[r];
        for (int c = 0; c <= r; c++) out[c] = wb_fma(scaled, row[c], out[c]);
      }
}

/* pull += weight F' offset, over all components. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(mixture_components_pull)(const wb_mixture_session *session, double weight, double *pull) {
  const size_t p = (size_t)session->data.columns;
  for (size_t j = 0; j < (size_t)session->components; j++)
    for (size_t r = 0; r < p; r++) pull[r] = wb_fma(weight, session->pull[j * p + r], pull[r]);
}
