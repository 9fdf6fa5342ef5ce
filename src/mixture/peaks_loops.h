/* Loops of mixture/peaks.c, included once for each instruction set by isa.h. */
#define WIDTH (WB_VECTOR_BYTES / sizeof(double))

static double WB_NAME(peaks_log_density)(const wb_peaks_density *density, const double *z, double *restrict share) {
  const size_t p = (size_t)density->columns, count = wb_peaks_share_size(density->components);
  wb_vector tops = WB_VECTOR_SET(-wb_infinity());
  for (size_t j = 0; j < count; j += WIDTH) {
    const double *factor = density->factor + j / LANES * wb_packed_size(density->columns) * LANES + j % LANES;
    const double *offset = density->offset + j / LANES * p * LANES + j % LANES;
    wb_vector squares = WB_VECTOR_SET(0);
    for (size_t r = 0; r < p; r++, offset += LANES) {
      wb_vector sum = -*(const wb_vector *)offset;
      for (size_t c = 0; c <= r; c++, factor += LANES) sum += *(const wb_vector *)factor * WB_VECTOR_SET(z[c]);
      squares += sum * sum;
    }
    const wb_vector own = *(const wb_vector *)(density->constant + j) - WB_VECTOR_SET(0.5) * squares;
    const __typeof__(own > own) higher = own > tops;
    tops = (wb_vector)((higher & (__typeof__(higher))own) | (~higher & (__typeof__(higher))tops));
    memcpy(share + j, &own, sizeof own);
  }
  double top[WIDTH], total = 0;
  memcpy(top, &tops, sizeof top);
  for (size_t l = 1; l < WIDTH; l++) top[0] = top[l] > top[0] ? top[l] : top[0];
  for (size_t j = 0; j < count; j += LANES) {
    for (size_t l = j; l < j + LANES; l++) {
      const double log_share = share[l] - top[0];
      share[l] = wb_select(log_share > LEAST_LOG_SHARE, wb_exp(log_share), 0);
    }
    for (size_t l = j; l < j + LANES; l++) total += share[l];
  }
  for (size_t j = 0; j < count; j++) share[j] /= total;
  return top[0] + wb_log(total);
}

/* tools/loops: vector additions */
static void WB_NAME(peaks_climb)(const wb_peaks_density *density, double *z, double *room) {
  const int32_t p = density->columns;
  const size_t size = moments_size(p);
  double *const share = room, *const moments = room + wb_peaks_share_size(density->components);
  double *const next = moments + wb_packed_size(p);
  int32_t *const some = (int32_t *)(moments + size);
  for (int step = 0; step < MOST_STEPS; step++) {
    WB_NAME(peaks_log_density)(density, z, share);
    int32_t count = 0;
    for (int32_t j = 0; j < density->components; j++) {
      some[count] = j;
      count += share[j] != 0;
    }
    for (size_t first = 0; first < size; first += WIDTH) {
      wb_vector sum = WB_VECTOR_SET(0);
      for (int32_t i = 0; i < count; i++)
        sum += WB_VECTOR_SET(share[some[i]]) * *(const wb_vector *)(density->moments + (size_t)some[i] * size + first);
      memcpy(moments + first, &sum, sizeof sum);
    }
    if (wb_cholesky(p, moments) != 0) return;
    wb_cholesky_solve(p, moments, next, next);
    double moved = 0;
    for (int32_t c = 0; c < p; c++) {
      moved += (next[c] - z[c]) * (next[c] - z[c]);
      z[c] = step < PLAIN_STEPS ? next[c] : z[c] + LENGTHENED * (next[c] - z[c]);
    }
    if (!(moved > LAST_STEP * LAST_STEP)) return;
  }
}
#undef WIDTH
