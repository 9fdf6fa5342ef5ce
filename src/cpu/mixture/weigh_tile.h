/* The probabilities of all components for the rows of a tile, in the precision REAL:
 * included by cpu/mixture/draw_tile.h. */

/* Log weights of all components (components x MIXTURE_TILE), and of each row the largest of
 * them, the sum of all weights divided by that one, and the log of their sum. The same
 * operations as in mixture_evaluate(): blocks that are left out would change no bit. */
static void REAL_NAME(mixture_weigh)(int p, int components, const REAL *restrict coefficients,
                                     const REAL *restrict x, REAL (*restrict weight)[MIXTURE_TILE],
                                     REAL *restrict largest, REAL *restrict total, REAL *restrict log_sum) {
  _Alignas(64) REAL top[MIXTURE_TILE], sum[MIXTURE_TILE];
  REAL_NAME(begin_rows)(largest, total, top);
  for (int base = 0; base < components; base += WB_BLOCK_ITEMS) {
    REAL(*restrict block)[MIXTURE_TILE] = weight + base;
    const int count = REAL_NAME(weigh_block)(p, components, base, coefficients, x, block);
    for (int l = 0; l < MIXTURE_TILE; l++) top[l] = block[0][l];
    for (int j = 1; j < count; j++)
      for (int l = 0; l < MIXTURE_TILE; l++) top[l] = block[j][l] > top[l] ? block[j][l] : top[l];
    int matters = 0;
    for (int l = 0; l < MIXTURE_TILE; l++) matters |= top[l] > largest[l] - REAL_NEGLIGIBLE;
    if (!matters) continue;
    for (int l = 0; l < MIXTURE_TILE; l++) {
      const REAL new_largest = top[l] > largest[l] ? top[l] : largest[l];
      total[l] *= REAL_EXP_WEIGHT(largest[l] - new_largest);
      largest[l] = new_largest;
      sum[l] = 0;
    }
    for (int j = 0; j < count; j++)
      for (int l = 0; l < MIXTURE_TILE; l++) sum[l] += REAL_EXP_WEIGHT(block[j][l] - largest[l]);
    for (int l = 0; l < MIXTURE_TILE; l++) total[l] += sum[l];
  }
  for (int l = 0; l < MIXTURE_TILE; l++) log_sum[l] = largest[l] + REAL_LOG(total[l]);
}

/* A component's probability for each row of the tile. In a function of its own, so that
 * tools/loops sees that it is vector code. */
static __attribute__((noinline)) void REAL_NAME(mixture_probability)(
    const REAL *restrict log_weight, const REAL *restrict largest, const REAL *restrict total,
    double *restrict probability) {
  for (int l = 0; l < MIXTURE_TILE; l++)
    probability[l] = (double)(REAL_EXP_WEIGHT(log_weight[l] - largest[l]) / total[l]);
}

/* Lists those of the tile's first `rows` rows for which a component's probability counts, in
 * order, and the probabilities; returns how many there are. Most components have none. */
/* tools/loops: no vector multiply-adds */
static int REAL_NAME(mixture_list)(const REAL *restrict log_weight, const REAL *restrict largest,
                                   const REAL *restrict total, int rows, int32_t *restrict member,
                                   double *restrict weight) {
  _Alignas(64) double probability[MIXTURE_TILE];
  int matters = 0, count = 0;
  for (int l = 0; l < MIXTURE_TILE; l++) matters |= log_weight[l] - largest[l] > (REAL)MIXTURE_LOG_LEAST_WEIGHT;
  if (!matters) return 0;
  REAL_NAME(mixture_probability)(log_weight, largest, total, probability);
  for (int l = 0; l < rows; l++) {
    member[count] = l;
    weight[count] = probability[l];
    count += probability[l] >= WB_MIXTURE_LEAST_WEIGHT;
  }
  return count;
}
