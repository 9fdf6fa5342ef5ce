/* The inner loops of the mixture: of tiles in both precisions, of sums in double, for each instruction set. */

#include "numeric/philox_loops.h"

#define REAL_LOOPS "cpu/mixture/draw_tile.h"
#include "cpu/both_precisions.h"

/* Draws `lanes` rows, a multiple of WB_PHILOX_TILE, to halves: see wb_half_draw(). */
static void WB_NAME(mixture_draw_halves)(int lanes, uint64_t key, uint32_t iteration, uint32_t step,
                                         const uint64_t *row, const double *restrict difference, double *restrict half,
                                         double *restrict log_first, double *restrict log_second) {
  uint64_t bits[MIXTURE_TILE], unused[MIXTURE_TILE];
  WB_NAME(philox_words)(lanes, key, WB_PURPOSE_HALF, iteration, step, row, bits, unused);
  for (int l = 0; l < lanes; l++) half[l] = wb_half_draw(difference[l], bits[l], &log_first[l], &log_second[l]);
}

/* Two tickets for each of MIXTURE_TILE rows; row: their numbers. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(mixture_tickets)(uint64_t key, uint32_t iteration, const uint64_t *row, uint64_t *tickets) {
  WB_NAME(philox_words)(MIXTURE_TILE, key, WB_PURPOSE_ANCHOR, iteration, 0, row, tickets, tickets + MIXTURE_TILE);
  for (int l = 0; l < MIXTURE_TILE; l++) {
    tickets[l] = wb_half_ticket(tickets[l], row[l]);
    tickets[MIXTURE_TILE + l] = wb_half_ticket(tickets[MIXTURE_TILE + l], row[l]);
  }
}

/* Adds all rows of a component to lines `row`..`row + height - 1` of the triangle of sums, for `width` vectors from
 * column `column` on, in registers. If `scaled` is not NULL, it holds the rows times their weights. */
WB_INLINE void WB_NAME(add_block)(const int height, const int width, int row, int column, const double *rows,
                                  size_t stride, const int32_t *members, const double *scaled, int count, double *sums,
                                  size_t line) {
  const int lanes = WB_VECTOR_BYTES / 8;
  wb_vector sum[4][2];
  WB_UNROLL
  for (int i = 0; i < height; i++) {
    WB_UNROLL
    for (int v = 0; v < width; v++) sum[i][v] = *(const wb_vector *)(sums + (size_t)i * line + column + v * lanes);
  }
  for (int m = 0; m < count; m++) {
    const double *values = rows + (size_t)members[m] * stride;
    const double *first = scaled ? scaled + (size_t)m * stride : values;
    wb_vector other[2];
    WB_UNROLL
    for (int v = 0; v < width; v++) other[v] = *(const wb_vector *)(values + column + v * lanes);
    WB_UNROLL
    for (int i = 0; i < height; i++) {
      const wb_vector value = WB_VECTOR_SET(first[row + i]);
      WB_UNROLL
      for (int v = 0; v < width; v++) sum[i][v] = WB_VECTOR_FMA(value, other[v], sum[i][v]);
    }
  }
  WB_UNROLL
  for (int i = 0; i < height; i++) {
    WB_UNROLL
    for (int v = 0; v < width; v++) *(wb_vector *)(sums + (size_t)i * line + column + v * lanes) = sum[i][v];
  }
}

WB_INLINE void WB_NAME(add_triangle)(int values, const double *rows, size_t stride, const int32_t *members,
                                     const double *scaled, int count, double *sums) {
  const int lanes = WB_VECTOR_BYTES / 8;
  for (int row = 0; row < values; row += 4) {
    const int height = values - row < 4 ? values - row : 4;
    /* Four lines from a multiple of four on have the same padding. */
    const int line = (int)mixture_padded(row + 1);
    for (int column = 0; column < line;) {
      const int width = line - column >= 2 * lanes ? 2 : 1;
#define ADD(h, w) WB_NAME(add_block)(h, w, row, column, rows, stride, members, scaled, count, sums, (size_t)line)
      switch (2 * height + width) {
        case 10: ADD(4, 2); break;
        case 9: ADD(4, 1); break;
        case 8: ADD(3, 2); break;
        case 7: ADD(3, 1); break;
        case 6: ADD(2, 2); break;
        case 5: ADD(2, 1); break;
        case 4: ADD(1, 2); break;
        default: ADD(1, 1); break;
      }
#undef ADD
      column += width * lanes;
    }
    sums += (size_t)height * (size_t)line;
  }
}

/* Adds the products of the values of a component's rows to its sums, a lower triangle with each line padded to whole
 * vectors, in the order of `members`. The first value of a row is 1, for the count and the sums. */
static void WB_NAME(mixture_add_rows)(int values, const double *rows, size_t stride, const int32_t *members, int count,
                                      double *sums) {
  WB_NAME(add_triangle)(values, rows, stride, members, NULL, count, sums);
}

/* mixture_add_rows() with a weight for each member: entry (r, c) takes the product of value c and the rounded product
 * of weight and value r. `scaled` has room for the members' rows. */
static void WB_NAME(mixture_add_weighted)(int values, const double *restrict rows, size_t stride,
                                          const int32_t *members, const double *weights, int count,
                                          double *restrict scaled, double *sums) {
  for (int m = 0; m < count; m++) {
    const double *row = rows + (size_t)members[m] * stride;
    for (size_t c = 0; c < stride; c++) scaled[(size_t)m * stride + c] = weights[m] * row[c];
  }
  WB_NAME(add_triangle)(values, rows, stride, members, scaled, count, sums);
}
