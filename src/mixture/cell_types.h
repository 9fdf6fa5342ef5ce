/* Joins the components of a mixture into cell types. */
#ifndef WB_MIXTURE_CELL_TYPES_H
#define WB_MIXTURE_CELL_TYPES_H

#include "backend/types.h"

/* How many standard deviations of the pooled covariance W = sum_j w_j S_j / sum_j w_j separate the means of each pair:
 * sqrt((m_h - m_j)' W^-1 (m_h - m_j)). weights: k, not negative, sum above 0; means: k x columns; covariances: columns
 * x columns x k; separation: k x k; all column-major. */
int wb_mixture_separation(int32_t components, int32_t columns, const double *weights, const double *means,
                          const double *covariances, double *separation, wb_message *message);

/* Joins two of `components` types at a time until one is left. Each step joins the pair that is most often mistaken for
 * each other, with the largest
 *   max(overlap[h, j] / size[j], overlap[j, h] / size[h]),
 * of equal ones the first by column, then by row. overlap: k x k, the mass of j that is taken for h; the diagonal is
 * not read. size: k, the mass of each. Both are overwritten: the masses of joined types add up. Step i joins type
 * second[i] to type first[i], the smaller number, at level[i]; these arrays have k - 1 entries. memory: k * (8 + 4)
 * bytes. */
void wb_mixture_join_types(int32_t components, double *overlap, double *size, int32_t *first, int32_t *second,
                           double *level, void *memory);

#endif
