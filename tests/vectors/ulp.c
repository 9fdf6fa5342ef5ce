/* Measures the worst error of each elementary function over its whole range, against quadruple precision, in units in
 * the last place (ulp) of the exact result. Arguments are dense and random, and structured around 0, 1, the zeros of
 * the function, the ends of the exponents and the borders between its methods.
 *
 *   ulp [arguments per range, 200000 by default]
 *
 * Exits with 1 if an error exceeds its bound below. */
/* The tables below have a row for each function. */
/* clang-format off */
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/elementary.h"
#include "core/normal_distribution.h"
#include "core/philox.h"
#include "core/trigonometric.h"

typedef __float128 quad;

/* Ranges of arguments; each uses two uniforms. */
typedef enum wb_spread {
  WB_UNIFORM,    /* between the limits */
  WB_EXPONENTS,  /* every exponent of positive numbers between the limits equally often */
  WB_AROUND,     /* lower limit + both signs, at distances from 2^-60 to the upper limit */
  WB_NEIGHBOURS  /* lower limit and the 64 numbers above and below it */
} wb_spread;

typedef struct wb_range {
  wb_spread spread;
  double from, to;
} wb_range;

static double wb_argument(wb_range range, int single, wb_stream *stream) {
  double u = wb_stream_uniform(stream), v = wb_stream_uniform(stream), x = 0.0;
  if (range.spread == WB_UNIFORM) {
    x = range.from + (range.to - range.from) * u;
  } else if (range.spread == WB_EXPONENTS) {
    uint64_t low = wb_double_bits(range.from), high = wb_double_bits(range.to);
    x = wb_bits_double(low + (uint64_t)(u * (double)(high - low)));
  } else if (range.spread == WB_AROUND) {
    x = range.from + (v < 0.5 ? -1.0 : 1.0) * range.to * wb_exp(-41.6 * u);
  } else if (single) {
    return (double)wb_bits_float(wb_float_bits((float)range.from) + (uint32_t)(u * 129.0) - 64);
  } else {
    return wb_bits_double(wb_double_bits(range.from) + (uint64_t)(u * 129.0) - 64);
  }
  return single ? (double)(float)x : x;
}

/* |computed - exact| in ulp of exact. An ulp is 2^(exponent - digits), and at least the spacing of subnormal
 * numbers. */
static double wb_ulp(double computed, quad exact, int single) {
  int exponent, digits = single ? 24 : 53, least = single ? -125 : -1021;
  quad largest = single ? 3.40282346638528859811704183484516925e38Q : 1.79769313486231570814527423731704357e308Q;
  if (computed != computed) return exact != exact ? 0.0 : HUGE_VAL;
  if (fabsq(exact) > largest) exact = exact > 0 ? HUGE_VALQ : -HUGE_VALQ; /* to half an ulp */
  if ((quad)computed == exact) return 0.0;
  if (isinfq(exact) || isinf(computed)) {
    /* The largest number and inf are one apart. */
    return fabsq((quad)computed) == largest || fabsq(exact) > largest * (1 - 1e-7Q * (single ? 1 : 1e-9Q))
      ? 1.0
      : HUGE_VAL;
  }
  frexpq(exact, &exponent);
  if (exponent < least) exponent = least;
  return (double)(fabsq((quad)computed - exact) / ldexpq(1.0Q, exponent - digits));
}

/* Phi^-1(p) in quadruple precision, by Newton's method on log Phi from a start with an error of about 1e-15. */
static quad wb_normal_quantile_quad(double p, double start) {
  quad tail = p > 0.5 ? 1.0Q - (quad)p : (quad)p;
  quad x = p > 0.5 ? -(quad)start : (quad)start;
  for (int i = 0; i < 3; i++) {
    quad cumulative = 0.5Q * erfcq(-x / M_SQRT2q);
    quad density = expq(-x * x / 2) / sqrtq(2 * M_PIq);
    x -= (logq(cumulative) - logq(tail)) * cumulative / density;
  }
  return p > 0.5 ? -x : x;
}

/* The package returns 0 if the exact value is below the normal numbers. */
static quad wb_normal_cdf_quad(quad x) {
  quad cumulative = 0.5Q * erfcq(-x / M_SQRT2q);
  return cumulative < 2.2250738585072014e-308Q ? 0.0Q : cumulative;
}

static quad wb_log1mexp_quad(quad x) {
  return x > -0.7Q ? logq(-expm1q(x)) : log1pq(-expq(x));
}

#define WB_FUNCTIONS(APPLY)                                        \
  APPLY(exp, wb_exp(x), expq(x))                                   \
  APPLY(exp_weight, wb_exp_weight(x), expq(x))                     \
  APPLY(expm1, wb_expm1(x), expm1q(x))                             \
  APPLY(log, wb_log(x), logq(x))                                   \
  APPLY(log1p, wb_log1p(x), log1pq(x))                             \
  APPLY(log1mexp, wb_log1mexp(x), wb_log1mexp_quad(x))             \
  APPLY(sqrt, wb_sqrt(x), sqrtq(x))                                \
  APPLY(lgamma, wb_lgamma(x), lgammaq(x))                          \
  APPLY(normal_quantile, wb_normal_quantile(x), wb_normal_quantile_quad(x, wb_normal_quantile(x))) \
  APPLY(normal_cdf_below, wb_normal_cdf(x), wb_normal_cdf_quad(x)) \
  APPLY(normal_cdf_above, wb_normal_cdf(x), wb_normal_cdf_quad(x)) \
  APPLY(exp_weightf, (double)wb_exp_weightf((float)x), expq(x))    \
  APPLY(logf, (double)wb_logf((float)x), logq(x))                  \
  APPLY(sine, wb_sine(x), sinq(x))                               \
  APPLY(cosine, wb_cosine(x), cosq(x))                           \
  APPLY(angle, wb_angle(x, 1.0), atanq(x))

static double wb_sine(double x) {
  double sine, cosine;
  wb_sine_cosine(x, &sine, &cosine);
  return sine;
}
static double wb_cosine(double x) {
  double sine, cosine;
  wb_sine_cosine(x, &sine, &cosine);
  return cosine;
}

#define WB_DEFINE(name, ours, exact)                                                \
  static double wb_try_##name(double x, int single) { return wb_ulp(ours, exact, single); }
WB_FUNCTIONS(WB_DEFINE)

typedef struct wb_subject {
  const char *name;
  double (*try_at)(double, int);
  int single;
  double bound; /* ulp */
  int share;    /* divides the number of arguments, for slow references */
  wb_range ranges[7];
} wb_subject;

static const double wb_tiny = 2.2250738585072014e-308, wb_huge = 1.7976931348623157e308;

int main(int argc, char **argv) {
  const double least = 5e-324, tiny = wb_tiny, huge = wb_huge;
  const wb_subject subjects[] = {
      {"exp", wb_try_exp, 0, 1.0, 1,
       {{WB_UNIFORM, -746.0, 710.0}, {WB_UNIFORM, -1.0, 1.0}, {WB_AROUND, 0.0, 1.0},
        {WB_UNIFORM, -746.0, -708.0}, {WB_NEIGHBOURS, 709.782712893384, 0}, {WB_NEIGHBOURS, -708.3964185322641, 0},
        {WB_NEIGHBOURS, 0.34657359027997264, 0}}},
      {"exp_weight", wb_try_exp_weight, 0, 1.0, 1,
       {{WB_UNIFORM, -708.3964185322641, 0.0}, {WB_UNIFORM, -1.0, 0.0}, {WB_UNIFORM, -40.0, 0.0},
        {WB_UNIFORM, -708.3964185322641, -708.0}, {WB_NEIGHBOURS, -0.34657359027997264, 0},
        {WB_UNIFORM, 0.0, 709.0}, {WB_UNIFORM, 0.0, 12.0}}},
      {"expm1", wb_try_expm1, 0, 1.2, 1,
       {{WB_UNIFORM, -1.0, 1.0}, {WB_UNIFORM, -40.0, 40.0}, {WB_UNIFORM, 0.0, 710.0}, {WB_AROUND, 0.0, 1.0},
        {WB_EXPONENTS, least, 1.0}, {WB_NEIGHBOURS, 709.782712893384, 0}, {WB_NEIGHBOURS, 0.34657359027997264, 0}}},
      {"log", wb_try_log, 0, 1.0, 1,
       {{WB_EXPONENTS, least, huge}, {WB_UNIFORM, 0.5, 2.0}, {WB_AROUND, 1.0, 0.4}, {WB_EXPONENTS, least, tiny},
        {WB_NEIGHBOURS, 0.7071067811865476, 0}, {WB_NEIGHBOURS, 1.0, 0}, {WB_NEIGHBOURS, tiny, 0}}},
      {"log1p", wb_try_log1p, 0, 1.0, 1,
       {{WB_UNIFORM, -1.0, 2.0}, {WB_AROUND, 0.0, 1.0}, {WB_EXPONENTS, least, huge}, {WB_AROUND, -0.9999999999, 1e-10},
        {WB_UNIFORM, -0.999999, -0.5}, {WB_NEIGHBOURS, 0.4142135623730950, 0},
        {WB_NEIGHBOURS, -0.2928932188134524, 0}}},
      {"log1mexp", wb_try_log1mexp, 0, 2.0, 4,
       {{WB_UNIFORM, -5.0, 0.0}, {WB_UNIFORM, -740.0, 0.0}, {WB_AROUND, -0.6931471805599453, 0.1}}},
      {"sqrt", wb_try_sqrt, 0, 0.5, 4, {{WB_EXPONENTS, least, huge}, {WB_UNIFORM, 1.0, 4.0}}},
      {"lgamma", wb_try_lgamma, 0, 2.5, 8,
       {{WB_UNIFORM, 0.0, 3.0}, {WB_UNIFORM, 3.0, 20.0}, {WB_EXPONENTS, 8.0, 2.5e305}, {WB_EXPONENTS, least, 1.0},
        {WB_AROUND, 1.0, 0.5}, {WB_AROUND, 2.0, 0.5}, {WB_NEIGHBOURS, 8.0, 0}}},
      {"normal_quantile", wb_try_normal_quantile, 0, 7.0, 8,
       {{WB_UNIFORM, 0.0, 1.0}, {WB_AROUND, 0.5, 0.4}, {WB_EXPONENTS, 1e-16, 0.5}, {WB_EXPONENTS, 1e-300, 1e-16},
        {WB_AROUND, 0.075, 0.01}, {WB_NEIGHBOURS, 5.551115123125783e-17, 0}, {WB_NEIGHBOURS, 0.9999999999, 0}}},
      {"normal_cdf_below", wb_try_normal_cdf_below, 0, 8.0, 16,
       {{WB_UNIFORM, -5.0, 0.0}, {WB_UNIFORM, -37.5, 0.0}, {WB_UNIFORM, -1.0, 0.0}, {WB_EXPONENTS, 1e-300, 1e-300}}},
      {"normal_cdf_above", wb_try_normal_cdf_above, 0, 2.5, 16,
       {{WB_UNIFORM, 0.0, 5.0}, {WB_UNIFORM, 0.0, 9.0}, {WB_EXPONENTS, 1e-300, 40.0}}},
      {"sine", wb_try_sine, 0, 1.2, 4,
       {{WB_UNIFORM, -1e5, 1e5}, {WB_UNIFORM, -4.0, 4.0}, {WB_AROUND, 0.0, 1.0}, {WB_NEIGHBOURS, 3.141592653589793, 0},
        {WB_AROUND, 0.7853981633974483, 0.01}}},
      {"cosine", wb_try_cosine, 0, 1.2, 4,
       {{WB_UNIFORM, -1e5, 1e5}, {WB_UNIFORM, -4.0, 4.0}, {WB_AROUND, 0.0, 1.0}, {WB_NEIGHBOURS, 1.5707963267948966, 0},
        {WB_AROUND, 0.7853981633974483, 0.01}}},
      {"angle", wb_try_angle, 0, 2.5, 4,
       {{WB_UNIFORM, -1.0, 1.0}, {WB_EXPONENTS, 1e-300, 1e300}, {WB_AROUND, 0.41421356237309503, 0.01},
        {WB_AROUND, 1.0, 0.4}, {WB_UNIFORM, 1.0, 10.0}}},
      {"exp_weightf", wb_try_exp_weightf, 1, 1.0, 1, {{WB_UNIFORM, -87.3365402, 0.0}, {WB_UNIFORM, -1.0, 0.0}}},
      {"logf", wb_try_logf, 1, 1.0, 1,
       {{WB_EXPONENTS, 1.5e-45, 3.4e38}, {WB_UNIFORM, 0.5, 2.0}, {WB_AROUND, 1.0, 0.4},
        {WB_EXPONENTS, 1.5e-45, 1.2e-38}}}};
  long per_range = argc > 1 ? atol(argv[1]) : 200000;
  int failures = 0;
  printf("%-16s %9s %9s   %s\n", "function", "worst ulp", "bound", "at");
  for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
    const wb_subject *subject = &subjects[s];
    double worst = 0.0, where = 0.0;
    for (int r = 0; r < 7; r++) {
      wb_range range = subject->ranges[r];
      if (range.from == 0.0 && range.to == 0.0) break;
      wb_stream stream = wb_stream_open(20240601, (uint32_t)s, (uint32_t)r, 0);
      long count = range.spread == WB_NEIGHBOURS ? 400 : per_range / subject->share;
      for (long i = 0; i < count; i++) {
        double x = wb_argument(range, subject->single, &stream);
        double error = subject->try_at(x, subject->single);
        if (!(error <= worst)) worst = error, where = x;
      }
    }
    int failed = !(worst <= subject->bound);
    failures += failed;
    printf("%-16s %9.4f %9.1f   %.17g%s\n", subject->name, worst, subject->bound, where, failed ? "   TOO LARGE" : "");
  }
  return failures != 0;
}
