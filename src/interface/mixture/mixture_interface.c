/* Density and allocation of a Gaussian mixture for other packages. */
#include "interface/interface.h"

#include <float.h>
#include <math.h>

#include "mixture/mixture.h"
#include "numeric/memory.h"

#define MOST_COLUMNS 1024

/* Probabilities that are kept at a time for allocations: 8 MB. */
#define PROBABILITIES ((int64_t)1 << 20)
#define LEAST_ROWS 256

/* A mixture and the rows where it is evaluated, in units of (x - center) / scale. */
typedef struct open_mixture_rows {
  wb_mixture_session *session;
  wb_mixture_state state;
  double log_unit; /* the log of the product of the scales */
  double *memory;
} open_mixture_rows;

static void close_rows(const wb_interface_call *call, open_mixture_rows *opened) {
  call->call.backend->mixture->close(opened->session);
  wb_aligned_free(opened->memory);
}

static int check_mixture(const warpbayes_mixture *mixture, wb_message *message) {
  WB_TRY(wb_interface_pointer("mixture", mixture, message));
  WB_TRY(wb_interface_size("components", mixture->components, 1, INT32_MAX, message));
  WB_TRY(wb_interface_size("columns", mixture->columns, 1, MOST_COLUMNS, message));
  const int64_t k = mixture->components, p = mixture->columns;
  WB_TRY(wb_interface_matrix("covariances", k, p * p, message));
  WB_TRY(wb_interface_numbers("weights", mixture->weights, k, DBL_MIN, DBL_MAX, message));
  WB_TRY(wb_interface_numbers("means", mixture->means, k * p, -DBL_MAX, DBL_MAX, message));
  /* The upper triangles are not read; the rest is checked by the Cholesky factors. */
  WB_TRY(wb_interface_pointer("covariances", mixture->covariances, message));
  if (mixture->center) WB_TRY(wb_interface_numbers("center", mixture->center, p, -DBL_MAX, DBL_MAX, message));
  if (mixture->scale) WB_TRY(wb_interface_numbers("scale", mixture->scale, p, DBL_MIN, DBL_MAX, message));
  return WB_OK;
}

static int check_rows(int64_t rows, int64_t columns, const double *x, wb_message *message) {
  WB_TRY(wb_interface_size("rows", rows, 0, INT32_MAX, message));
  if (rows > 0) WB_TRY(wb_interface_pointer("x", x, message));
  for (int64_t i = 0; i < rows * columns; i++)
    if (!(x[i] - x[i] == 0))
      return wb_fail(message, WB_ERROR_INPUT, "`x` has a value that is not finite in row %.0f, column %.0f",
                     (double)(i % rows + 1), (double)(i / rows + 1));
  return WB_OK;
}

static int open_rows(wb_interface_call *call, const warpbayes_mixture *mixture, int64_t rows, const double *x,
                     open_mixture_rows *opened) {
  const int32_t k = mixture->components, p = mixture->columns;
  const size_t size = wb_mixture_state_size(k, p), bytes = (size + 2 * (size_t)p) * sizeof(double);
  opened->session = NULL;
  opened->memory = wb_aligned_malloc(bytes);
  if (!opened->memory) return wb_out_of_memory(call->message, "a mixture", bytes);
  double *const center = opened->memory + size, *const inverse_scale = center + p;
  opened->log_unit = 0;
  for (int32_t c = 0; c < p; c++) {
    center[c] = mixture->center ? mixture->center[c] : 0;
    inverse_scale[c] = mixture->scale ? 1 / mixture->scale[c] : 1;
  }
  if (mixture->scale) opened->log_unit = wb_mixture_log_unit(p, mixture->scale);
  wb_mixture_state_place(&opened->state, k, p, opened->memory);
  const wb_mixture_data data = {
      .x = x, .rows = rows, .columns = p, .center = center, .inverse_scale = inverse_scale, .precision = WB_DOUBLE};
  WB_TRY(wb_mixture_from_moments(&opened->state, mixture->weights, mixture->means, mixture->covariances, center,
                                 inverse_scale, call->message));
  return call->call.backend->mixture->open(&data, &call->call.run, &opened->session, call->message);
}

/* Evaluates rows first, ..., first + count - 1. Outputs may be NULL, and are not set for rows of density 0. */
static int evaluate_rows(const wb_interface_call *call, const open_mixture_rows *opened, int64_t first, int64_t count,
                         double *log_density, double *probability, int32_t *component) {
  WB_TRY(wb_mixture_evaluate(call->call.backend, opened->session, &opened->state, first, count, component, log_density,
                             probability, call->message));
  for (int64_t i = 0; i < count; i++) {
    log_density[i] -= opened->log_unit;
    if ((probability || component) && log_density[i] == -(double)INFINITY)
      return wb_fail(call->message, WB_ERROR_INPUT, "row %.0f of `x` is too far from every component",
                     (double)(first + i + 1));
  }
  return WB_OK;
}

int wb_interface_mixture_evaluate(const warpbayes_mixture *mixture, int64_t rows, const double *x, int32_t threads,
                                  double *log_density, double *probability, int32_t *component,
                                  warpbayes_message *message) {
  wb_interface_call call;
  open_mixture_rows opened;
  wb_message *const text = wb_interface_begin(&call, message);
  WB_TRY(wb_interface_threads(&call, threads));
  WB_TRY(check_mixture(mixture, text));
  WB_TRY(check_rows(rows, mixture->columns, x, text));
  WB_TRY(wb_interface_matrix("probability", rows, mixture->components, text));
  if (rows == 0) return WB_OK;
  double *const own = log_density ? NULL : wb_aligned_malloc((size_t)rows * sizeof(double));
  if (!log_density && !own) return wb_out_of_memory(text, "densities of rows", (size_t)rows * sizeof(double));
  int status = open_rows(&call, mixture, rows, x, &opened);
  if (status == WB_OK)
    status = evaluate_rows(&call, &opened, 0, rows, log_density ? log_density : own, probability, component);
  close_rows(&call, &opened);
  wb_aligned_free(own);
  return status;
}

/* Draws components of all rows in slices; `probability` has room for those of `step` rows and their densities. */
static int allocate_slices(wb_interface_call *call, const warpbayes_source *from, const open_mixture_rows *opened,
                           int64_t rows, int64_t step, double *probability, int32_t *component, double *log_density) {
  const int32_t k = opened->state.components;
  for (int64_t first = 0; first < rows; first += step) {
    const int64_t count = rows - first < step ? rows - first : step;
    const wb_categorical_rows given = {
        .rows = count, .columns = k, .weights = probability, .row_stride = 1, .column_stride = count};
    const wb_categorical_draws asked = {.key = wb_interface_iterated_key(from),
                                        .first_row = (int64_t)from->first + first,
                                        .draws = 1,
                                        .index = component + first,
                                        .index_stride = count};
    double *const density = log_density ? log_density + first : probability + step * k;
    WB_TRY(evaluate_rows(call, opened, first, count, density, probability, NULL));
    WB_TRY(call->call.backend->categorical->draw(&given, &asked, &call->call.run, call->message));
  }
  return WB_OK;
}

int wb_interface_mixture_allocate(const warpbayes_source *from, const warpbayes_mixture *mixture, int64_t rows,
                                  const double *x, int32_t *component, double *log_density,
                                  warpbayes_message *message) {
  wb_interface_call call;
  open_mixture_rows opened;
  wb_message *const text = wb_interface_begin(&call, message);
  WB_TRY(check_mixture(mixture, text));
  WB_TRY(check_rows(rows, mixture->columns, x, text));
  WB_TRY(wb_interface_source(&call, from, rows));
  if (rows > 0) WB_TRY(wb_interface_pointer("component", component, text));
  if (rows == 0) return WB_OK;
  int64_t step = PROBABILITIES / mixture->components;
  if (step < LEAST_ROWS) step = LEAST_ROWS;
  if (step > rows) step = rows;
  const size_t bytes = (size_t)step * ((size_t)mixture->components + 1) * sizeof(double);
  double *const probability = wb_aligned_malloc(bytes);
  if (!probability) return wb_out_of_memory(text, "probabilities of components", bytes);
  int status = open_rows(&call, mixture, rows, x, &opened);
  if (status == WB_OK) status = allocate_slices(&call, from, &opened, rows, step, probability, component, log_density);
  close_rows(&call, &opened);
  wb_aligned_free(probability);
  return status;
}
