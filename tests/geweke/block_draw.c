/* Tests the draw of a component by blocks (core/block_draw.h). It must never choose a component of weight zero. This is
 * tried for all 2^23 uniforms of single precision, and in double precision for the ends of the unit interval and 20,001
 * neighbours of every point where the choice changes. The choice must also have the right law: in single precision, the
 * share of the uniforms that choose a component is its share of the weights, to 5 in 1e7.
 *
 * The last line is "N passed, N failed". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/block_draw.h"
#include "core/elementary.h"
#include "core/philox.h"

#define BLOCK_LOG double
#define REAL_BITS 64
#include "cpu/real.h"
#include "cpu/block_loops.h"
#define BLOCK_LOG float
#define REAL_BITS 32
#include "cpu/real.h"
#include "cpu/block_loops.h"

#define ITEMS 6

/* The total weight of the blocks before, and the weights of the items of the current block. */
typedef struct block_case {
  double before;
  double weight[ITEMS];
} block_case;

static const block_case cases[] = {
    {0, {1, 0.5, 0, 0.25, 0.125, 1}},
    {0, {0, 0, 1, 0, 0, 0}},
    {1, {0, 0, 0, 0, 0, 0}},
    {16, {0, 0, 0, 0, 0, 0}},
    {1, {0, 1, 0, 0, 0, 0}},
    {3, {0, 0.1, 0, 0.3, 0, 0}},
    {1, {1e-9, 0, 1e-9, 0, 0, 0}},
    {7.3, {0, 0, 0, 0, 0, 1e-37}},
    {1.0000001, {0, 1e-8, 0, 1e-8, 0, 1e-8}},
    {1e-20, {0, 0.3, 0.7, 0, 1, 0}},
    {1e-37, {0, 1e-37, 0, 0, 0, 0}},
    {15.999999, {0, 1, 1, 0, 0.0001, 0}},
    {1234.5, {0.0001, 0, 0, 0, 0, 0.0001}},
    {0, {0, 0, 0, 0, 0, 0}}, /* a row that is infinitely far from all components so far */
};
#define CASES (sizeof cases / sizeof cases[0])

/* The item that the processor's loops choose, or -1 if the draw stays with the blocks before. The loop for one row and
 * the loop for several rows must agree. */
#define CHOOSE(REAL_OF, INDEX_OF, precision) \
  static int choose_##precision(const block_case *c, REAL_OF u) { \
    REAL_OF prefix[ITEMS], sum = 0, total = (REAL_OF)c->before, of_rows = total; \
    INDEX_OF chosen = -1, item = -1; \
    for (int j = 0; j < ITEMS; j++) prefix[j] = sum += (REAL_OF)c->weight[j]; \
    block_take_one_##precision(0, ITEMS, prefix, u, &total, &chosen); \
    block_take_##precision(1, 0, ITEMS, prefix, 1, &u, &of_rows, &item); \
    return item == chosen && of_rows == total && total == (REAL_OF)c->before + sum ? (int)chosen : ITEMS; \
  }
CHOOSE(float, int32_t, single)
CHOOSE(double, int64_t, double)

static double total_weight(const block_case *c) {
  double total = c->before;
  for (int j = 0; j < ITEMS; j++) total += c->weight[j];
  return total;
}

static int allowed(const block_case *c, int chosen, int single) {
  if (chosen < 0) return c->before > 0 || total_weight(c) == 0;
  return chosen < ITEMS && (single ? (float)c->weight[chosen] > 0 : c->weight[chosen] > 0);
}

static int check_single(const block_case *c) {
  long count[ITEMS] = {0}, wrong = 0;
  for (uint32_t i = 0; i < 1u << 23; i++) {
    const int chosen = choose_single(c, wb_uniformf(i << 9));
    if (!allowed(c, chosen, 1)) wrong++;
    else if (chosen >= 0) count[chosen]++;
  }
  const double total = total_weight(c) > 0 ? total_weight(c) : 1;
  for (int j = 0; j < ITEMS; j++) wrong += !(fabs((double)count[j] / 0x1p23 - c->weight[j] / total) <= 5e-7);
  return wrong == 0;
}

static int check_double(const block_case *c) {
  const double total = total_weight(c) > 0 ? total_weight(c) : 1;
  double border = c->before;
  long wrong = 0;
  for (int j = -1; j <= ITEMS; j++) {
    /* A uniform is an odd multiple of 2^-53. */
    const double middle = j < 0 ? 0 : border / total;
    const int64_t at = (int64_t)floor(middle * 0x1p52);
    for (int64_t i = at - 10000; i <= at + 10000; i++) {
      if (i < 0 || i >= (int64_t)1 << 52) continue;
      wrong += !allowed(c, choose_double(c, wb_uniform((uint64_t)i << 12)), 0);
    }
    if (j >= 0 && j < ITEMS) border += c->weight[j];
  }
  wrong += !allowed(c, choose_double(c, wb_uniform(0)), 0);
  wrong += !allowed(c, choose_double(c, wb_uniform(UINT64_MAX)), 0);
  return wrong == 0;
}

int main(void) {
  int passed = 0, failed = 0;
  for (size_t i = 0; i < CASES; i++) {
    const int single = check_single(&cases[i]), twice = check_double(&cases[i]);
    passed += single + twice;
    failed += 2 - single - twice;
    if (!single) printf("block %d in single precision FAILED\n", (int)i + 1);
    if (!twice) printf("block %d in double precision FAILED\n", (int)i + 1);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
