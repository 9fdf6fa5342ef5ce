/* Tests categorical draws at every uniform of single precision, at the least and the greatest uniform of double
 * precision, and at the borders between items. An item of zero weight must never be drawn. Every other item must be
 * drawn for its share of the uniforms. */
#include <stdio.h>
#include <stdlib.h>

#include "core/philox.h"
#include "../measure/tree_draw.h"

static int failures;

static void report(const char *name, double worst, double limit) {
  const int held = worst <= limit;
  if (!held) failures++;
  printf("%-66s %9.3g of %9.3g%s\n", name, worst, limit, held ? "" : "  FAILED");
}

/* Uniform words, the same in every run. */
static uint64_t word(uint32_t i, uint32_t j) { return wb_bits64(wb_philox(42, i, j, 0, 0), 0); }

#define MOST 128
#define UNIFORMS (1u << 23)

/* The draw in one pass from the weights of `count` items, with the same uniform in all blocks. */
static int one_passf(int count, const float *weights, float u) {
  float total = 0;
  int chosen = -1;
  for (int first = 0; first < count; first += WB_BLOCK_ITEMS) {
    const int end = first + WB_BLOCK_ITEMS < count ? first + WB_BLOCK_ITEMS : count;
    float prefix[WB_BLOCK_ITEMS], sum = 0;
    for (int j = first; j < end; j++) prefix[j - first] = sum += weights[j];
    const float position = wb_block_positionf(u, total, sum);
    total += sum;
    if (position >= 0) {
      chosen = first;
      while (chosen < end - 1 && prefix[chosen - first] <= position) chosen++;
    }
  }
  return chosen;
}

static int one_pass(int count, const double *weights, double u) {
  double total = 0;
  int chosen = -1;
  for (int first = 0; first < count; first += WB_BLOCK_ITEMS) {
    const int end = first + WB_BLOCK_ITEMS < count ? first + WB_BLOCK_ITEMS : count;
    double prefix[WB_BLOCK_ITEMS], sum = 0;
    for (int j = first; j < end; j++) prefix[j - first] = sum += weights[j];
    const double position = wb_block_position(u, total, sum);
    total += sum;
    if (position >= 0) {
      chosen = first;
      while (chosen < end - 1 && prefix[chosen - first] <= position) chosen++;
    }
  }
  return chosen;
}

static int by_inversionf(int count, const float *weights, float u) {
  float total = 0, prefix = weights[0];
  for (int j = 0; j < count; j++) total += weights[j];
  const float target = wb_targetf(u, total);
  int item = 0;
  while (prefix <= target) prefix += weights[++item];
  return item;
}

static int by_inversion(int count, const double *weights, double u) {
  double total = 0, prefix = weights[0];
  for (int j = 0; j < count; j++) total += weights[j];
  const double target = wb_target(u, total);
  int item = 0;
  while (prefix <= target) prefix += weights[++item];
  return item;
}

static int by_treesf(int count, const float *weights, float u) {
  float room[MOST / WB_TREE];
  return (int)wb_draw_by_treesf(count, weights, u, room);
}

static int by_trees(int count, const double *weights, double u) {
  double room[MOST / WB_TREE];
  return (int)wb_draw_by_trees(count, weights, u, room);
}

typedef int draw_single(int count, const float *weights, float u);
typedef int draw_double(int count, const double *weights, double u);

static const struct {
  const char *name;
  draw_single *single;
  draw_double *full;
} laws[] = {
    {"one pass", one_passf, one_pass}, {"inversion", by_inversionf, by_inversion}, {"trees", by_treesf, by_trees}};

/* Rows for which rounding matters: zeros at both ends and between, weights of very different magnitudes, and equal
 * neighbours. */
static void make_row(uint32_t number, int count, double *weights) {
  int positive = 0;
  for (int j = 0; j < count; j++) {
    const double u = wb_uniform(word(number, 2 * (uint32_t)j)), v = wb_uniform(word(number, 2 * (uint32_t)j + 1));
    double w = 0;
    switch (number % 5) {
      case 0: w = u < 0.5 ? 0 : v; break;
      case 1: w = u < 0.3 ? 0 : 1; break;
      case 2: w = u < 0.7 ? 0x1p-30 * v : v; break;
      case 3: w = u < 0.9 ? 0 : v < 0.5 ? 0x1p-20 : 1; break;
      default: w = j % 7 == 3 ? 1 + 0x1p-23 : 0x1p-24; break;
    }
    weights[j] = j < 2 || j > count - 3 ? 0 : w;
    positive |= weights[j] > 0;
  }
  if (!positive) weights[count / 2] = 0.1;
}

/* Counts how often each item is drawn over all uniforms of single precision. `off` becomes the largest difference from
 * an item's share. It may be a few uniforms, because of the borders and the rounding of sums. */
static void every_uniform(int law, int count, uint32_t number, double *zero, double *off) {
  double weights[MOST], total = 0, drawn[MOST] = {0};
  float narrow[MOST];
  make_row(number, count, weights);
  for (int j = 0; j < count; j++) {
    narrow[j] = (float)weights[j];
    total += narrow[j];
  }
  for (uint32_t i = 0; i < UNIFORMS; i++) {
    const int item = laws[law].single(count, narrow, wb_uniformf(i << 9));
    if (item < 0 || item >= count || !(narrow[item] > 0)) (*zero)++;
    else drawn[item]++;
  }
  for (int j = 0; j < count; j++) {
    const double difference = drawn[j] - UNIFORMS * (narrow[j] / total);
    if (difference > *off) *off = difference;
    if (-difference > *off) *off = -difference;
  }
}

static void every_uniforms(void) {
  for (int law = 0; law < 3; law++) {
    double zero = 0, off = 0, zero_long = 0;
    char name[80];
    /* In one pass each block has a uniform of its own, so shares are compared for one block only. */
    for (uint32_t number = 0; number < 5; number++) every_uniform(law, number % 2 ? 5 : 16, number, &zero, &off);
    snprintf(name, sizeof name, "%s, every single uniform, one block: items without weight", laws[law].name);
    report(name, zero, 0);
    snprintf(name, sizeof name, "%s, every single uniform, one block: uniforms too many or few", laws[law].name);
    report(name, off, 4);
    off = 0;
    every_uniform(law, 40, 10, &zero_long, &off);
    every_uniform(law, 40, 14, &zero_long, &off);
    snprintf(name, sizeof name, "%s, every single uniform, several blocks: items without weight", laws[law].name);
    report(name, zero_long, 0);
  }
}

/* Tries uniforms at both ends and around every border of rows of up to 128 items. They may be any u in (0, 1), not only
 * values of the generator. */
static void borders(void) {
  for (int law = 0; law < 3; law++) {
    double zero = 0, zerof = 0, tried = 0;
    char name[80];
    for (uint32_t number = 0; number < 2000; number++) {
      const int count = 5 + (int)(word(number, 1000) % (MOST - 4));
      double weights[MOST], total = 0, prefix = 0;
      float narrow[MOST];
      make_row(number, count, weights);
      for (int j = 0; j < count; j++) {
        narrow[j] = (float)weights[j];
        total += weights[j];
      }
      for (int j = -1; j < count; j++) {
        if (j >= 0) prefix += weights[j];
        double u = j < 0 ? 0x1p-53 : prefix / total;
        for (int step = 0; step < 3; step++) u = u > 0x1p-52 ? wb_next_below(u) : u;
        for (int step = 0; step < 6; step++, u += u * 0x1p-52) {
          const double inside = u < 1 ? u : 1 - 0x1p-53;
          const float f = (float)inside < 1 ? (float)inside : 1 - 0x1p-24f;
          const int item = laws[law].full(count, weights, inside);
          const int itemf = laws[law].single(count, narrow, f > 0 ? f : 0x1p-24f);
          zero += item < 0 || item >= count || !(weights[item] > 0);
          zerof += itemf < 0 || itemf >= count || !(narrow[itemf] > 0);
          tried++;
        }
      }
    }
    snprintf(name, sizeof name, "%s, borders in double: items without weight", laws[law].name);
    report(name, zero, 0);
    snprintf(name, sizeof name, "%s, borders in single: items without weight", laws[law].name);
    report(name, zerof, 0);
    if (tried < 1e5) report("borders tried", -tried, -1e5);
  }
}

/* With whole weights all sums are exact, so trees and prefix sums must give the same item. */
static void exact_index(void) {
  double different = 0;
  for (uint32_t number = 0; number < 20000; number++) {
    const int count = 1 + (int)(word(number, 2000) % MOST);
    double weights[MOST] = {0};
    for (int j = 0; j < count; j++)
      weights[j] = (double)(word(number, (uint32_t)j) % 4 == 0 ? 0 : word(number, (uint32_t)j) % 997);
    weights[word(number, 2001) % (uint64_t)count] += 1;
    const double u = wb_uniform(word(number, 2002));
    different += by_trees(count, weights, u) != by_inversion(count, weights, u);
  }
  report("trees and prefix sums, exact sums: different items", different, 0);
}

/* Weights without a positive, finite sum must be refused. */
static void refusals(void) {
  const double none[3] = {0, 0, 0}, infinite[2] = {1, 1e308 * 10}, negative[3] = {-1, 0, 0};
  const float nonef[2] = {0, 0};
  double room[1], wrong = 0;
  float roomf[1];
  wrong += wb_draw_by_trees(3, none, 0.5, room) != -1;
  wrong += wb_draw_by_trees(2, infinite, 0.5, room) != -1;
  wrong += wb_draw_by_trees(3, negative, 0.5, room) != -1;
  wrong += wb_draw_by_treesf(2, nonef, 0.5f, roomf) != -1;
  report("rows that cannot be drawn from: drawn from", wrong, 0);
}

int main(void) {
  every_uniforms();
  borders();
  exact_index();
  refusals();
  printf("%s\n", failures ? "FAILED" : "all held");
  return failures != 0;
}
