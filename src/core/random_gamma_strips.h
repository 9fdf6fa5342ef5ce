/* Gamma draws of the shapes base, base + 1, ..., base + 15 from tables, for many gammas that share a base. The density
 * of y = log x, exp(shape y - e^y), is log-concave. From its mode outwards it is covered by strips of equal area, each
 * as high as the density at its inner end, and exponentials with at most that area cover the two tails. A trial takes
 * one of WB_GAMMA_STRIPS numbers with equal probabilities, a point along the strip and a height (Marsaglia & Tsang
 * 2000, "The ziggurat method for generating random variables", Journal of Statistical Software 5(8), turned by a right
 * angle). 97% of the points lie below the density at the strip's outer end: a comparison of integers.
 *
 * Words: trial 0 of element e takes word e % 2 of block 0 of element e / 2. 9 bits choose the strip, 12 are the height,
 * 43 the point along it. If that does not decide, blocks 1, 2, ... of element e follow: one word for digits of the
 * height, one for the next trial. */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"

#define WB_GAMMA_STRIPS 512
#define WB_GAMMA_HEIGHTS 4096
#define WB_GAMMA_COUNTS 16 /* shapes base + 0, ..., base + 15 */

/* A strip: where it begins, and its width. The last 12 bits of the width are the part of the strip's height that lies
 * below the density everywhere. A tail: its begin, and 1 over its rate, negative to the left; last 12 bits 0. */
typedef struct wb_gamma_strip {
  double start, width;
} wb_gamma_strip;

typedef struct wb_gamma_law {
  double shape;
  double area;  /* of a strip, where the density is 1 at its mode */
  double top;   /* log of exp(shape y - e^y) there */
  double tails; /* number of the left tail; the right tail is the next */
} wb_gamma_law;

/* First the strips left of the mode, then the two tails and unused numbers (always rejected), then the right strips. */
typedef struct wb_gamma_strips {
  wb_gamma_law law[WB_GAMMA_COUNTS];
  wb_gamma_strip strip[WB_GAMMA_COUNTS][WB_GAMMA_STRIPS];
} wb_gamma_strips;

/* Whether tables, which take as long as 5e4 gammas on the CPU, save time for so many. The GPU draws the same. */
WB_HD int wb_gamma_strips_serve(double base, int fixed, int64_t gammas) {
  return (base >= 1e-4) & (base <= 1e3) & (gammas >= (fixed ? 100000 : 150000));
}

WB_HD uint64_t wb_gamma_strip_index(uint64_t bits) { return bits & (WB_GAMMA_STRIPS - 1); }
WB_HD uint64_t wb_gamma_strip_height(uint64_t bits) { return bits >> 9 & (WB_GAMMA_HEIGHTS - 1); }
/* (43 bits + 1/2) 2^-43. */
WB_HD double wb_gamma_strip_along(uint64_t bits) {
  return wb_bits_double((bits >> 12 & ~(uint64_t)0x1FF) | 0x3FF0000000000100u) - 1.0;
}

/* Whether the point certainly lies below the density. */
WB_HD int wb_gamma_strip_quick(double width, uint64_t bits) {
  return wb_gamma_strip_height(bits) < (wb_double_bits(width) & (WB_GAMMA_HEIGHTS - 1));
}
/* The log of the draw from a point of a strip. */
WB_HD double wb_gamma_strip_log(double start, double width, uint64_t bits) {
  return wb_fma(width, wb_gamma_strip_along(bits), start);
}

/* The complete test of a point of a strip or tail, with more digits of its height; and the log of the draw. */
WB_HD int wb_gamma_strip_accept(double shape, double area, double top, double tails, double start, double width,
                                uint64_t bits, uint64_t more, double *log_draw) {
  const double two52 = 4503599627370496.0;
  const double index = wb_bits_double(wb_gamma_strip_index(bits) | 0x4330000000000000u) - two52;
  const double height = wb_bits_double(wb_gamma_strip_height(bits) | 0x4330000000000000u) - two52;
  const double h = (height + wb_uniform(more)) * (1.0 / WB_GAMMA_HEIGHTS);
  const double along = wb_gamma_strip_along(bits);
  const int tail = (index >= tails) & (index < tails + 2.0);
  const double exponential = wb_select(tail, -wb_log_biased(along, 1023.0, -0.0), 0.0);
  const double y = wb_fma(width, wb_select(tail, exponential, along), start);
  const double density = wb_exp_weight((wb_fma(shape, y, -wb_exp_weight(y)) - top) + exponential);
  *log_draw = y;
  return h * area < wb_select(width < 0.0, -width, width) * density;
}

/* The log of a draw of shape base + count, count below WB_GAMMA_COUNTS. */
WB_HD double wb_draw_log_gamma_by_strips(const wb_gamma_strips *strips, int count, uint64_t key, uint32_t purpose,
                                         uint32_t iteration, uint64_t element) {
  const uint64_t pair = element >> 1;
  uint64_t bits =
      wb_bits64(wb_philox(key, 0, (uint32_t)pair, wb_philox_c2(purpose, pair), iteration), (int)(element & 1));
  for (uint32_t block = 1;; block++) {
    const wb_gamma_strip strip = strips->strip[count][wb_gamma_strip_index(bits)];
    if (wb_gamma_strip_quick(strip.width, bits)) return wb_gamma_strip_log(strip.start, strip.width, bits);
    const wb_bits more = wb_philox(key, block, (uint32_t)element, wb_philox_c2(purpose, element), iteration);
    const wb_gamma_law law = strips->law[count];
    double log_draw;
    if (wb_gamma_strip_accept(law.shape, law.area, law.top, law.tails, strip.start, strip.width, bits,
                              wb_bits64(more, 0), &log_draw))
      return log_draw;
    bits = wb_bits64(more, 1);
  }
}

/* Builds the strips to one side of the mode, direction -1 or 1, and the tail. Returns how many, fitting or not. */
WB_HD int wb_gamma_strips_side(const wb_gamma_law *law, double direction, wb_gamma_strip *strip, wb_gamma_strip *tail) {
  const uint64_t low = WB_GAMMA_HEIGHTS - 1;
  double y = wb_log(law->shape), x = law->shape, density = 1.0;
  for (int count = 0;; count++) {
    const double rate = direction * (x - law->shape);
    if (density <= law->area * rate || count > 2 * WB_GAMMA_STRIPS) {
      tail->start = y;
      tail->width = wb_bits_double(wb_double_bits(direction / rate) & ~low);
      return count;
    }
    /* A little less than area/density: the last bits hold the height. */
    uint64_t bits = (wb_double_bits(law->area / density) - 4 * WB_GAMMA_HEIGHTS) & ~low;
    const double outer = y + direction * wb_bits_double(bits | low);
    x = wb_exp_weight(outer);
    const double next = wb_exp_weight(wb_fma(law->shape, outer, -x) - law->top);
    /* Rounded down, with a margin larger than any error of the densities. */
    const double part = next / density * WB_GAMMA_HEIGHTS - 1e-6;
    bits |= part > 0.0 ? (uint64_t)part : 0;
    const double width = wb_bits_double(bits);
    if (count < WB_GAMMA_STRIPS) {
      wb_gamma_strip *const at = direction < 0.0 ? strip + count : strip + (WB_GAMMA_STRIPS - 1 - count);
      at->width = width;
      at->start = direction < 0.0 ? y - width : y;
    }
    y += direction * width;
    /* The density at `outer`, 1e-12 of a width further out; the margin of the widths covers that. */
    density = next;
  }
}

/* Sets the area to begin with, which fits most shapes. */
WB_HD void wb_gamma_strips_begin(double shape, wb_gamma_law *law) {
  law->shape = shape;
  law->top = wb_fma(shape, wb_log(shape), -shape);
  law->area = wb_exp(wb_lgamma(shape) - law->top) * (1.0067 / (WB_GAMMA_STRIPS - 2));
}
/* Whether strips and tails fit into the table. If not, sets a larger area. */
WB_HD int wb_gamma_strips_fit(wb_gamma_law *law, int count) {
  const int most = WB_GAMMA_STRIPS - 2;
  if (count > most) law->area *= (count + 0.25) / most;
  return count <= most;
}
WB_HD void wb_gamma_strips_end(wb_gamma_law *law, int left, int right, wb_gamma_strip left_tail,
                               wb_gamma_strip right_tail, wb_gamma_strip *strip) {
  law->tails = left;
  strip[left] = left_tail;
  strip[left + 1] = right_tail;
  for (int i = left + 2; i < WB_GAMMA_STRIPS - right; i++) strip[i].start = strip[i].width = 0.0;
}

/* Builds the table of one shape. */
WB_HD void wb_gamma_strips_build(double shape, wb_gamma_law *law, wb_gamma_strip *strip) {
  wb_gamma_strip left_tail, right_tail;
  int left, right;
  wb_gamma_strips_begin(shape, law);
  do {
    left = wb_gamma_strips_side(law, -1.0, strip, &left_tail);
    right = wb_gamma_strips_side(law, 1.0, strip, &right_tail);
  } while (!wb_gamma_strips_fit(law, left + right));
  wb_gamma_strips_end(law, left, right, left_tail, right_tail, strip);
}
