/* The variances of blocks of coefficients (WB_REGRESSION_BLOCK of regression/chain.h), and the correlations of
 * autoregressions, by slice sampling of log and logit. All coefficients are integrated out, since a variance and its
 * coefficients would hold each other where they are. */
#include "core/scalar.h"

#include "regression/draws.h"
#include "regression/quadratic.h"

size_t wb_regression_block_room(const wb_regression_prior *prior) {
  return wb_regression_blocks(prior) > 0 ? 4 * wb_packed_size(prior->columns) + 3 * (size_t)prior->columns : 0;
}

/* The law of the log of a block's variance v. The root of v is half-Cauchy of scale `scale`, so the density of
 * log(v) is proportional to v^(1/2)/(scale^2 + v). The block has k coefficients with the precision K/v; `structure`
 * is K, packed. Either their likelihood is normal with the information S and the linear term s, or they have the
 * `given` values, whose square with K is `square`. An autoregression has a `gap`. */
typedef struct block_law {
  wb_isa isa;
  int k;
  double scale, square;
  const double *information, *linear, *given; /* information: NULL if the coefficients are given */
  const double *gap;
  double *structure, *factor, *solved; /* factor, solved: room */
} block_law;

static double log_density(const void *what, double log_variance) {
  const block_law *const law = what;
  const double inverse = wb_exp(-log_variance), half = 0.5 * (law->k - 1.0);
  const double prior = wb_fma(-half, log_variance, -wb_log1p(wb_exp(log_variance) / (law->scale * law->scale)));
  if (!law->information) return wb_fma(-0.5 * law->square, inverse, prior);
  const size_t triangle = wb_packed_size(law->k);
  for (size_t i = 0; i < triangle; i++) law->factor[i] = wb_fma(law->structure[i], inverse, law->information[i]);
  if (wb_regression_root(law->isa, law->k, law->factor) > 0) return -wb_infinity();
  wb_triangle_solve(law->k, law->factor, law->linear, law->solved);
  const double square = wb_regression_dot((size_t)law->k, law->solved, law->solved);
  return wb_fma(0.5, square, prior) - wb_triangle_log_determinant(law->k, law->factor);
}

static void copy_block(int first, int k, const double *from, double *to) {
  for (int r = 0; r < k; r++)
    memcpy(to + wb_packed_row(r), from + wb_packed_row(first + r) + (size_t)first, ((size_t)r + 1) * sizeof(double));
}

/* x' K x of the coefficients x of a block. */
static double square_of(const wb_regression_prior *prior, int first, int k, const double *x) {
  double sum = 0.0;
  for (int r = first; r < first + k; r++)
    for (int c = first; c <= r; c++)
      sum = wb_fma((c < r ? 2.0 : 1.0) * x[r] * x[c], prior->precision[wb_packed_at(r, c)], sum);
  return sum;
}

/* Makes K that of an autoregression. Returns half the log of its determinant. */
static double set_correlation(block_law *law, double logit) {
  double half = 0.0;
  law->square = 0.0;
  for (int r = 0; r < law->k; r++) {
    const wb_regression_ar_step step = wb_regression_ar_step_of(law->gap[r], logit);
    half = wb_fma(0.5, wb_log(step.precision), half);
    if (!law->given) continue;
    const double off = r > 0 ? wb_fma(-step.weight, law->given[r - 1], law->given[r]) : law->given[r];
    law->square = wb_fma(step.precision * off, off, law->square);
  }
  if (law->structure) wb_regression_put_autoregression(law->gap, law->k, logit, 0, law->structure);
  return half;
}

double wb_regression_log_innovation(double logit) { return wb_log1mexp(-2.0 * wb_log1p(wb_exp(-logit))); }

typedef struct correlation_law {
  block_law *block;
  double log_innovations;
} correlation_law;

/* The log density of the logit of the correlation, whose prior is logistic, given the variance of the innovations. Data
 * often tell this variance where they hardly tell v and the correlation apart. */
static double correlation_density(const void *what, double logit) {
  const correlation_law *const law = what;
  const double half = set_correlation(law->block, logit);
  return log_density(law->block, law->log_innovations - wb_regression_log_innovation(logit)) + half -
         wb_log1p(wb_exp(logit)) - wb_log1p(wb_exp(-logit));
}

/* Draws the variance. If k coefficients were known, the deviation of its log would be the root of 2/k. The correlation
 * of an autoregression is drawn after it, or before it if `backwards`. */
static void draw_variance(block_law *law, double *local, double *auxiliary, int backwards, wb_stream *stream) {
  const double wide = 6.0 / wb_sqrt((double)law->k), width = wide > 2.0 ? 2.0 : wide;
  double log_variance = wb_log(*local), logit = *auxiliary;
  if (law->gap) set_correlation(law, logit);
  for (int step = 0; step < 2; step++) {
    if (step == backwards) {
      log_variance = wb_slice_draw(log_density, law, width, 32, WB_MOST_LOG, log_variance, stream);
    } else if (law->gap) {
      const correlation_law correlation = {law, log_variance + wb_regression_log_innovation(logit)};
      logit = wb_slice_draw(correlation_density, &correlation, 2.0, 32, WB_MOST_LOG, logit, stream);
      log_variance = correlation.log_innovations - wb_regression_log_innovation(logit);
      set_correlation(law, logit);
    }
  }
  const double variance = wb_exp(log_variance);
  for (int c = 0; c < law->k; c++) local[c] = variance;
  for (int c = 0; c < law->k && law->gap; c++) auxiliary[c] = logit;
}

static const double *gap_of(const wb_regression_prior *prior, int first) {
  return wb_regression_is_autoregression(prior, first) ? prior->gap + first : NULL;
}

/* Draws a block's variance, all coefficients integrated out; the others come first: their factor is made once. */
static void draw_marginal(const wb_regression_chain *chain, double *local, int first, int k, const double *precision,
                          const double *linear, int backwards, double *room, wb_stream *stream) {
  const wb_regression_prior *const prior = &chain->prior;
  const int p = prior->columns, rest = p - k;
  double *const matrix = room, *const solved = matrix + wb_packed_size(p), *const structure = solved + p,
                *const factor = structure + wb_packed_size(k), *const spare = factor + wb_packed_size(k);
  /* Row and column i of `matrix` are those of coefficient `of`. */
  for (int i = 0; i < p; i++) {
    const int row = i < first ? i : i < rest ? i + k : i - rest + first;
    for (int j = 0; j <= i; j++) {
      const int column = j < first ? j : j < rest ? j + k : j - rest + first;
      matrix[wb_packed_at(i, j)] = precision[wb_packed_at(row, column)];
    }
    solved[i] = linear[row];
  }
  if (wb_regression_root(chain->counts.isa, rest, matrix) > 0) return;
  wb_triangle_solve(rest, matrix, solved, solved);
  for (int r = rest; r < p; r++) {
    double *const row = matrix + wb_packed_row(r);
    wb_triangle_solve(rest, matrix, row, row);
    for (int j = 0; j < rest; j++) solved[r] = wb_fma(-row[j], solved[j], solved[r]);
    for (int c = rest; c <= r; c++) {
      const double *const other = matrix + wb_packed_row(c);
      for (int j = 0; j < rest; j++) row[c] = wb_fma(-row[j], other[j], row[c]);
    }
  }
  copy_block(first, k, prior->precision, structure);
  copy_block(rest, k, matrix, matrix);
  block_law law = {.isa = chain->counts.isa,
                   .k = k,
                   .scale = prior->scale[first],
                   .information = matrix,
                   .linear = solved + rest,
                   .gap = gap_of(prior, first),
                   .structure = structure,
                   .factor = factor,
                   .solved = spare};
  draw_variance(&law, local, local + p, backwards, stream);
}

void wb_regression_draw_blocks(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, uint64_t draw,
                               const double *information, const double *linear, double *room) {
  const wb_regression_prior *const prior = &chain->prior;
  const int p = prior->columns, blocks = wb_regression_blocks(prior);
  double *const local = chain->state.shrinkage + (size_t)outcome * WB_REGRESSION_SHRINKAGE(p), *const precision = room,
                *const tilted = precision + wb_packed_size(p), *const rest = tilted + p;
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_BLOCK, iteration, draw);
  /* A random order makes the draws of all variances reversible, which the correction of Poisson rows needs. */
  const int backwards = wb_stream_uniform(&stream) < 0.5;
  for (int i = 0; i < blocks; i++) {
    const int block = backwards ? blocks - 1 - i : i, first = wb_regression_block_column(prior, block),
              k = wb_regression_block_column(prior, block + 1) - first;
    memcpy(tilted, linear, (size_t)p * sizeof(double));
    wb_regression_add_prior(prior, &chain->state, outcome, precision, tilted);
    /* The block's own precision is left out. */
    for (int r = first; r < first + k; r++)
      memset(precision + wb_packed_at(r, first), 0, (size_t)(r - first + 1) * sizeof(double));
    for (size_t j = 0; j < wb_packed_size(p); j++) precision[j] += information[j];
    draw_marginal(chain, local + first, first, k, precision, tilted, backwards, rest, &stream);
  }
}

void wb_regression_draw_blocks_given(const wb_regression_chain *chain, int32_t outcome, wb_stream *stream) {
  const wb_regression_prior *const prior = &chain->prior;
  const int p = prior->columns;
  double *const local = chain->state.shrinkage + (size_t)outcome * WB_REGRESSION_SHRINKAGE(p);
  const double *const coefficients = chain->state.coefficients + (size_t)outcome * (size_t)p;
  for (int32_t block = 0; block < wb_regression_blocks(prior); block++) {
    const int first = wb_regression_block_column(prior, block),
              k = wb_regression_block_column(prior, block + 1) - first;
    block_law law = {.k = k,
                     .scale = prior->scale[first],
                     .square = square_of(prior, first, k, coefficients),
                     .given = coefficients + first,
                     .gap = gap_of(prior, first)};
    draw_variance(&law, local + first, local + p + first, 0, stream);
  }
}
