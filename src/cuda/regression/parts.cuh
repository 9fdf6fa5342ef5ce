/* What the other files of this folder do for the sessions of sweep.cu. */
#pragma once

#include <vector>

#include "core/elementary.h"
#include "cuda/launch.cuh"

namespace wb {

struct term_rows {
  int columns, levels;
  const double *z; /* nullptr: 1 */
  const int32_t *level;
};
struct term_list {
  int count;
  term_rows term[WB_REGRESSION_MOST_TERMS];
};

/* Adds the products of z and the effects of a term to a value of row `row`. */
__device__ inline double add_term(const term_rows &term, int64_t rows, const double *effects, int64_t row,
                                  double value) {
  const double *const own = effects + size_t(term.level[row]) * term.columns;
  if (term.z == nullptr) return value + own[0];
  for (int k = 0; k < term.columns; k++) value = wb_fma(term.z[k * rows + row], own[k], value);
  return value;
}

struct level_rows {
  const double *x; /* scaled; nullptr: the design is sparse */
  const int32_t *row_start, *column;
  const double *value;
  int64_t rows;
  int columns;
  const double *omega; /* not read by products of the design */
  double *z;           /* the rows' weights in the linear term */
};

/* The terms of a session on the device. A piece is up to WB_LEAF_ROWS rows of one level. */
class term_sums {
public:
  int open(const wb_regression_data &data, wb_message *message);
  int set_effects(const double *effects, wb_message *message);
  const double *effects() const { return effects_.data(); }
  const term_list &list() const { return list_; }

  /* As wb_cpu_terms_sum() and wb_cpu_terms_change(). */
  int sum(const level_rows &rows, double *statistics, wb_message *message);
  int change(const level_rows &rows, int changed, const double *change, int wanted, double *linear,
             wb_message *message);
  /* As wb_cpu_terms_total(). */
  int total(const double *value, int term, double *to, wb_message *message);

private:
  struct term {
    device_array<double> z;
    device_array<int32_t> level, index, piece_start;
    std::vector<int32_t> piece_level;
  };

  int open_term(const wb_regression_data &data, const wb_regression_term &from, term *to, wb_message *message);
  int take(const term &from, size_t size, int levels, double *to, wb_message *message);

  term term_[WB_REGRESSION_MOST_TERMS];
  term_list list_ = {};
  device_array<double> effects_, change_, piece_sums_;
  std::vector<double> host_;
};

/* Actions on the effects of all levels of a term. The records of a session's levels stay on the device. */
class level_actions {
public:
  /* place_levels() of backend/regression_table.h for `levels` levels and p coefficients. */
  int place(const wb_regression_placing &placing, int32_t levels, int p, double *to, double *density,
            wb_message *message);

private:
  device_array<double> records_[WB_REGRESSION_MOST_TERMS + 1], shared_, from_, to_, density_;
};

/* The sums of `value` over the rows of each piece; `index` gives its rows, or nullptr: they follow each other. Pieces
 * are those of `start`, and sums[i] is of piece i. */
int total_pieces(const double *value, const int32_t *index, const int32_t *start, int64_t pieces, double *sums,
                 wb_message *message);
int total_segments(const double *value, const int64_t *start, int64_t segments, double *sums, wb_message *message);

/* Products of a design with more columns than rows, as gram() and others of backend/regression_table.h. */
class dual_products {
public:
  int open(const level_rows &design, wb_message *message);
  int gram(const level_rows &design, const double *weight, size_t stride, double *to, wb_message *message);
  int multiply(const level_rows &design, const double *v, double *product, wb_message *message);
  int multiply_transposed(const level_rows &design, const double *v, double *product, wb_message *message);

private:
  device_array<double> of_columns_, of_rows_, gram_, parts_;
  std::vector<double> host_;
};

} // namespace wb
