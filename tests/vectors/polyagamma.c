/* Polya-Gamma laws in quadruple precision, by inverting the characteristic function.
 *
 *   polyagamma           a few points; status 0 if all errors are within bounds
 *   polyagamma full      a grid of shapes from 0.001 to 1e6 and tilts from 0 to 1e4
 *   polyagamma table     that grid as CSV
 *
 * For each shape and tilt it computes (and does not sample) the Kolmogorov distance between PG(b, c) and the law of
 * wb_polyagamma_draw(), which must be below 1e-6. It also computes the errors of core/polyagamma_law.h. The law of a
 * draw:
 *   expansion         a draw is a rising function x of a normal z: the distance is the largest |F(x(z)) - Phi(z)|
 *   inverse Gaussian  the distance is that of two distribution functions
 *   parts             the density is that of the proposals times the sum that accepts: a bound is the total variation
 *                     of one part times the number of parts
 *   units             the sum of the series leaves out less than 1e-19; a fraction is one part
 */
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/polyagamma_draw.h"
#include "core/polyagamma_law.h"

typedef __float128 quad;
typedef __complex128 complex_quad;

static complex_quad at(quad re, quad im) {
  complex_quad z;
  __real__ z = re;
  __imag__ z = im;
  return z;
}

/* log cosh(sqrt v). */
static complex_quad log_cosh(complex_quad v) {
  const complex_quad w = csqrtq(v);
  return w + clogq((1 + cexpq(-2 * w)) / 2);
}
static quad log_cosh_real(quad v) { return crealq(log_cosh(at(v, 0))); }

/* The log of the density, the lower tail or the upper tail: the integral of exp(s x) E exp(-s X), divided by s for
 * tails, along a parabola in v = c^2/4 + s/2. Cancellation is harmless with 113 bits. */
static quad log_law(int quantity, quad x, quad b, quad c) {
  const quad pole = c * c / 4, cut = -M_PIq * M_PIq / 4;
  quad low, high;
  if (quantity == WB_POLYAGAMMA_LOWER) {
    low = 1e-30Q;
    high = 1e80Q;
  } else {
    low = 1e-30Q;
    high = quantity == WB_POLYAGAMMA_UPPER ? pole - cut : 1e80Q;
  }
  /* Finds the smallest value of the integrand on the real axis by bisection in the log distance from the pole or the
   * cut, with exact derivatives. */
  quad v0 = 0;
  for (int i = 0; i < 120; i++) {
    const quad middle = sqrtq(low) * sqrtq(high);
    v0 = quantity == WB_POLYAGAMMA_LOWER ? pole + middle : cut + middle;
    const complex_quad w = csqrtq(at(v0, 0));
    const quad slope = cabsq(w) > 1e-10Q ? crealq(ctanhq(w) / w) / 2 : 0.5Q;
    quad derivative = 2 * x - b * slope - 1 / (v0 - cut);
    if (quantity != WB_POLYAGAMMA_DENSITY) derivative -= 1 / (v0 - pole);
    if (derivative < 0) low = middle;
    else high = middle;
  }
  const quad h = (v0 - cut) * 1e-6Q;
  const quad up = log_cosh_real(v0 + h), down = log_cosh_real(v0 - h), here = log_cosh_real(v0);
  const quad up2 = log_cosh_real(v0 + 2 * h), down2 = log_cosh_real(v0 - 2 * h);
  const quad d = v0 - cut;
  const quad second = -b * (up - 2 * here + down) / (h * h) + 1 / (d * d);
  const quad third = -b * (up2 - 2 * up + 2 * down - down2) / (2 * h * h * h) - 2 / (d * d * d);
  const quad bend = -1.5Q * second / third;
  const quad all = second + (quantity == WB_POLYAGAMMA_DENSITY ? 0 : 1 / ((v0 - pole) * (v0 - pole)));
  const quad width = 1 / (2 * bend * sqrtq(all));
  const quad step = (width < 1 ? width : 1) / 9;
  const quad constant = log_cosh_real(pole);
  quad sum = 0;
  for (int i = 0, small = 0; small < 3 && i < 20000; i++) {
    const quad u = i * step;
    const complex_quad shift = bend * at(-u * u, 2 * u), v = v0 + shift;
    complex_quad value = cexpq(2 * x * shift - b * (log_cosh(v) - here)) * at(-u, 1);
    if (quantity != WB_POLYAGAMMA_DENSITY) value /= v - pole;
    sum += i == 0 ? cimagq(value) / 2 : cimagq(value);
    small = cabsq(value) < 1e-26Q * fabsq(sum) ? small + 1 : 0;
  }
  quad scale = 2 * bend * step * sum / M_PIq;
  if (quantity == WB_POLYAGAMMA_DENSITY) scale *= 2;
  if (quantity == WB_POLYAGAMMA_UPPER) scale = -scale;
  return 2 * x * (v0 - pole) - b * (here - constant) + logq(scale);
}

static quad mean_of(quad b, quad c) { return c == 0 ? b / 4 : b * tanhq(c / 2) / (2 * c); }

/* P(X <= x). */
static quad lower(quad x, quad b, quad c) {
  if (x <= 0) return 0;
  return x <= mean_of(b, c) ? expq(log_law(WB_POLYAGAMMA_LOWER, x, b, c))
                            : 1 - expq(log_law(WB_POLYAGAMMA_UPPER, x, b, c));
}

static quad normal_lower(quad z) { return erfcq(-z / sqrtq(2)) / 2; }

static quad expansion_distance(double b, double c, int cumulants, int points) {
  const wb_polyagamma_expansion series = wb_polyagamma_expansion_prepare(b, c, cumulants);
  quad worst = 0;
  double before = 0;
  for (int i = 0; i <= points; i++) {
    const double z = -8.0 + 16.0 * i / points;
    const double x = wb_polyagamma_expansion_at(series, z, cumulants);
    if (!(x > before)) return 1; /* not rising, or not positive */
    before = x;
    const quad distance = fabsq(lower(x, b, c) - normal_lower(z));
    if (distance > worst) worst = distance;
  }
  return worst;
}

static quad inverse_gaussian_distance(quad b, quad c, int points) {
  const quad mean = b / (2 * c), shape = b * b / 4, spread = sqrtq(mean / shape);
  quad worst = 0;
  for (int i = 0; i <= points; i++) {
    const quad z = -6 + 12.0Q * i / points;
    /* x goes from the far left to the far right, for small and for large shapes. */
    const quad x = mean * expq(2 * asinhq(z * spread / 2) + (spread > 1 ? 0 : 0));
    const quad r = sqrtq(shape / x), left = r * (x / mean - 1), right = r * (x / mean + 1);
    /* exp(2 shape/mean) Phi(-right) with erfc's own exponential taken out by logarithms. */
    const quad second = right < 100 ? expq(2 * shape / mean + logq(normal_lower(-right)))
                                    : expq(-left * left / 2) / (right * sqrtq(2 * M_PIq)) * (1 - 1 / (right * right));
    const quad distance = fabsq(normal_lower(left) + second - lower(x, b, c));
    if (distance > worst) worst = distance;
  }
  return worst;
}

/* A bound on the total variation of one part: half the integral of |f - f'|, where f' is the density of accepted
 * trials. */
static quad part_variation(quad b, quad c, int points) {
  quad accepted = 0, missed = 0;
  /* `proposal` is the inverse Gaussian density of the proposals times (1 + e^-c)^b. */
  const quad constant = b * (c / 2 + logq(1 + expq(-c)));
  quad mass = 0, differ = 0;
  (void)accepted;
  const quad low = logq(b * b / 300), high = logq(WB_POLYAGAMMA_PART_LIMIT);
  for (int i = 0; i <= points; i++) {
    const quad x = expq(low + (high - low) * i / points);
    const quad proposal = expq(constant - b * b / (8 * x) - c * c * x / 2) * b / 2 / sqrtq(2 * M_PIq * x * x * x);
    const quad density = expq(log_law(WB_POLYAGAMMA_DENSITY, x, b, c));
    const quad over_x = 1 / x < 52 ? 1 / x : 52;
    quad sum = 1, factor = 1;
    for (int n = 1; n <= WB_POLYAGAMMA_PART_TERMS; n++) {
      const quad term = factor * (2 * n + b) * expq(-(n * n + n * b) * over_x / 2);
      sum += n % 2 ? -term : term;
      factor *= (b + n) / (n + 1);
    }
    sum = sum < 0 ? 0 : sum > 1 ? 1 : sum;
    const quad weight = (high - low) / points * x * (i == 0 || i == points ? 0.5Q : 1);
    mass += weight * proposal * sum;
    differ += weight * fabsq(proposal * sum - density);
  }
  missed = expq(log_law(WB_POLYAGAMMA_UPPER, WB_POLYAGAMMA_PART_LIMIT, b, c));
  /* The difference from the unnormalised law is at most `differ` + `missed`. Normalising at most doubles it, and half
   * of that is the variation. Less than e^-37 of the mass lies left of the grid. */
  (void)mass;
  return differ + missed;
}

static const char *const way_names[] = {
    "none", "units", "parts", "expansion, 8 cumulants", "expansion, 6 cumulants", "inverse Gaussian"};

static quad distance_of(double b, double c, int points) {
  const int way = wb_polyagamma_choose(b, c);
  double part, rest;
  switch (way) {
    case WB_POLYAGAMMA_UNITS:
      wb_polyagamma_parts(way, b, &part, &rest);
      return rest > 0 ? part_variation(rest, c, points) : 1e-19Q;
    case WB_POLYAGAMMA_PARTS: {
      const int parts = wb_polyagamma_parts(way, b, &part, &rest);
      return parts * part_variation(part, c, points);
    }
    case WB_POLYAGAMMA_EXPANSION_8: return expansion_distance(b, c, 8, points);
    case WB_POLYAGAMMA_EXPANSION_6: return expansion_distance(b, c, 6, points);
    case WB_POLYAGAMMA_INVERSE_GAUSSIAN: return inverse_gaussian_distance(b, c, points);
    default: return 1;
  }
}

/* The largest error of a log density or log tail l, divided by max(1, |l|), at points on a logarithmic scale from 8
 * standard deviations below the mean to 8 above. */
static quad law_error(double b, double c) {
  const double mean = wb_polyagamma_middle(b, c);
  double kappa[8];
  wb_polyagamma_unit_cumulants(c, 8, kappa);
  const double spread = wb_sqrt(b * kappa[1]) / mean;
  quad worst = 0;
  for (int i = -4; i <= 4; i++) {
    const double x = mean * (double)expq(2 * asinhq((quad)(i * spread)));
    for (int quantity = WB_POLYAGAMMA_DENSITY; quantity <= WB_POLYAGAMMA_UPPER; quantity++) {
      if (quantity == (x <= mean ? WB_POLYAGAMMA_UPPER : WB_POLYAGAMMA_LOWER)) continue;
      const quad expected = log_law(quantity, x, b, c);
      const quad size = fabsq(expected) > 1 ? fabsq(expected) : 1;
      const quad error = fabsq(wb_polyagamma_log_evaluate(quantity, x, b, c) - expected) / size;
      if (!(error < worst)) worst = error;
    }
  }
  return worst;
}

#define DISTANCE 1e-6
#define LAW_ERROR 2e-11

int main(int argc, char **argv) {
  static const double few[][2] = {{0.001, 0}, {0.3, 5},   {0.999, 0}, {4.5, 2},   {11.999, 2.4},
                                  {12, 5},    {29.99, 4}, {30, 4},    {14, 16.4}, {1000, 0}};
  static const double shapes[] = {1e-3,   1e-2, 0.1, 0.3, 0.6, 0.9,    0.999999, 1,    1.5, 1.999,
                                  2,      4,    4.5, 7.3, 11,  11.999, 12,       13.7, 17,  22,
                                  29.999, 30,   50,  100, 171, 1000,   1e4,      1e5,  1e6};
  static const double tilts[] = {0, 1e-6, 0.01, 0.3,    1,      1.9999, 2,  2.399, 2.4, 3,   4,    5,  6.5,
                                 8, 10,   12,   14.999, 15.001, 17,     20, 22,    30,  100, 1000, 1e4};
  const int table = argc > 1 && argv[1][0] == 't', full = argc > 1;
  const int rows = full ? (int)(sizeof shapes / sizeof *shapes) : (int)(sizeof few / sizeof *few);
  const int columns = full ? (int)(sizeof tilts / sizeof *tilts) + 1 : 1;
  int checks = 0, failures = 0;
  quad worst = 0, worst_error = 0;
  if (table) printf("shape,tilt,way,distance,law_error\n");
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      const double b = full ? shapes[i] : few[i][0];
      /* The last column is the border of the inverse Gaussian. */
      const double border = 15 + 0.5 * wb_log(b > 1 ? b : 1);
      const double c = !full ? few[i][1] : j == columns - 1 ? border : tilts[j];
      const quad distance = distance_of(b, c, full ? 160 : 60), error = law_error(b, c);
      checks += 2;
      if (!(distance <= DISTANCE) || !(error <= LAW_ERROR)) {
        failures++;
        if (!table)
          printf("shape %g, tilt %g: distance %.3g, error of the law %.3g\n", b, c, (double)distance, (double)error);
      }
      if (distance > worst) worst = distance;
      if (error > worst_error) worst_error = error;
      if (table) {
        printf("%.9g,%.9g,\"%s\",%.2g,%.2g\n", b, c, way_names[wb_polyagamma_choose(b, c)], (double)distance,
               (double)error);
        fflush(stdout);
      }
    }
  if (!table)
    printf(
        "Polya-Gamma laws: %d values, %d outside; "
        "largest Kolmogorov distance of a draw %.2g, error of the law %.2g\n",
        checks, failures, (double)worst, (double)worst_error);
  return failures != 0;
}
