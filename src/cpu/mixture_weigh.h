/* The pass over the rows of a Bayesian EM step: every row is added to the sums of all
 * components, weighted by its probability of each. A part of mixture.c, which includes it.
 *
 * A thread takes one leaf at a time, and of this one tile. It has the log weights of the tile's
 * rows under all components; then component by component it lists the rows whose probability
 * counts and adds them to the component's sums. So no more than MIXTURE_TILE rows of
 * probabilities exist at a time, and the rows of a leaf are added in order.
 */

typedef void weigh_double(int p, int components, const double *coefficients, const double *x,
                          double (*weight)[MIXTURE_TILE], double *largest, double *total, double *log_sum);
typedef void weigh_single(int p, int components, const float *coefficients, const float *x,
                          float (*weight)[MIXTURE_TILE], float *largest, float *total, float *log_sum);
typedef int list_double(const double *log_weight, const double *largest, const double *total, int rows, int32_t *member,
                        double *weight);
typedef int list_single(const float *log_weight, const float *largest, const float *total, int rows, int32_t *member,
                        double *weight);
typedef void add_weighted(int values, const double *rows, size_t stride, const int32_t *members, const double *weights,
                          int count, double *scaled, double *sums);

static weigh_double *const weigh_doubles[] = WB_ISA_TABLE(mixture_weigh_double);
static weigh_single *const weigh_singles[] = WB_ISA_TABLE(mixture_weigh_single);
static list_double *const list_doubles[] = WB_ISA_TABLE(mixture_list_double);
static list_single *const list_singles[] = WB_ISA_TABLE(mixture_list_single);
static add_weighted *const add_weighted_of[] = WB_ISA_TABLE(mixture_add_weighted);

/* What a thread works on: a tile as draw_labels() has it, whose rows lie at the beginning of
 * `t.row`, and the log weights of its rows. */
typedef struct weighing {
  tile t;
  double *weight;           /* components x MIXTURE_TILE, in double or as floats */
  double *largest, *total;  /* MIXTURE_TILE, likewise */
  double *scaled;           /* MIXTURE_TILE x padded(p + 1): rows times their weights */
} weighing;

static size_t weighing_bytes(int p, int components) {
  return ((size_t)p + 4 + 2 * mixture_padded(p + 1) + (size_t)components) * MIXTURE_TILE * sizeof(double);
}

static weighing weighing_in(void *memory, int p) {
  weighing w;
  const size_t padded = mixture_padded(p + 1);
  w.t = tile_in(memory, p);
  w.largest = w.t.row + MIXTURE_TILE * padded;
  w.total = w.largest + MIXTURE_TILE;
  w.scaled = w.total + MIXTURE_TILE;
  w.weight = w.scaled + MIXTURE_TILE * padded;
  memset(w.t.row, 0, MIXTURE_TILE * padded * sizeof(double));
  for (int l = 0; l < MIXTURE_TILE; l++) w.t.row[(size_t)l * padded] = 1;
  return w;
}

/* Weighs the rows of one leaf and adds them; the last entry of `sums` takes the log
 * likelihood. */
static void weigh_leaf(const wb_mixture_session *session, int components, const void *packed, int64_t leaf, weighing *w,
                       double *sums) {
  const wb_mixture_data *data = &session->data;
  const int p = data->columns, single = data->precision == WB_SINGLE;
  const size_t size = padded_sums(p), padded = mixture_padded(p + 1);
  const int64_t begin = leaf * WB_LEAF_ROWS;
  const int64_t end = data->rows - begin < WB_LEAF_ROWS ? data->rows : begin + WB_LEAF_ROWS;
  int32_t member[MIXTURE_TILE];
  double weight[MIXTURE_TILE], log_likelihood = 0;
  tile *t = &w->t;
  for (int64_t first = begin; first < end; first += MIXTURE_TILE) {
    const int rows = end - first < MIXTURE_TILE ? (int)(end - first) : MIXTURE_TILE;
    tile_load(session, first, rows, t);
    tile_transpose(data, rows, 0, t);
    if (single)
      weigh_singles[session->isa](p, components, packed, (float *)t->x, (float(*)[MIXTURE_TILE])w->weight,
                                  (float *)w->largest, (float *)w->total, (float *)t->log_sum);
    else
      weigh_doubles[session->isa](p, components, packed, t->x, (double(*)[MIXTURE_TILE])w->weight, w->largest, w->total,
                                  t->log_sum);
    for (int l = 0; l < rows; l++) log_likelihood += tile_log_sum(data, t, l);
    for (int32_t j = 0; j < components; j++) {
      const size_t at = (size_t)j * MIXTURE_TILE;
      const int count =
          single ? list_singles[session->isa]((const float *)w->weight + at, (const float *)w->largest,
                                              (const float *)w->total, rows, member, weight)
                 : list_doubles[session->isa](w->weight + at, w->largest, w->total, rows, member, weight);
      if (count > 0)
        add_weighted_of[session->isa](p + 1, t->row, padded, member, weight, count, w->scaled, sums + (size_t)j * size);
    }
  }
  sums[(size_t)components * size] = log_likelihood;
}

static int weigh_rows(wb_mixture_session *session, const wb_mixture_parameters *parameters, double *statistics,
                      double *log_likelihood, wb_message *message) {
  const int p = session->data.columns, k = parameters->components;
  const int64_t leaves = (session->data.rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const size_t size = padded_sums(p);
  void *packed;
  int status = pack_coefficients(session, parameters, &packed, message);
  if (status != WB_OK) return status;
  wb_reduction_tree tree;
  wb_reduction_open(&tree, leaves, (size_t)k * size + 8);
  const int threads = mixture_threads(session, k, session->data.rows, leaves);
#pragma omp parallel num_threads(threads)
  {
    void *memory = wb_aligned_malloc(weighing_bytes(p, k));
    weighing w = {0};
    if (memory)
      w = weighing_in(memory, p);
    else
      wb_reduction_fail(&tree);
#pragma omp for schedule(dynamic, 1)
    for (int64_t leaf = 0; leaf < leaves; leaf++) {
      double *sums = memory ? wb_reduction_take(&tree) : NULL;
      if (sums) {
        weigh_leaf(session, k, packed, leaf, &w, sums);
        wb_reduction_give(&tree, leaf, sums);
      }
    }
    wb_aligned_free(memory);
  }
  const double *root = wb_reduction_root(&tree);
  if (root) {
    for (int j = 0; j < k; j++)
      unpack_statistics(p, root + (size_t)j * size, statistics + (size_t)j * WB_MIXTURE_STATISTICS(p));
    *log_likelihood = root[(size_t)k * size];
  } else {
    status = wb_out_of_memory(message, "the sums of a leaf", tree.size * sizeof(double));
  }
  wb_reduction_close(&tree);
  free(packed);
  return status;
}
