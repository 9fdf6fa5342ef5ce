/* Arithmetic on wide numbers (see wide.h): conversions, tilting by powers of two, and complete convolution. */
#include "core/rounding.h"

#include "numeric/wide.h"

#include "core/elementary.h"

/* x 2^shift as a wide number with its mantissa in [1, 2). x is 0 or a normal number. */
WB_HD void wide_normalize(double x, double shift, double *mantissa, double *exponent) {
  const uint64_t bits = wb_double_bits(x);
  const int positive = x > 0;
  const double e = wb_bits_double(bits >> 52 | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
  const double m = wb_bits_double((bits & 0x000FFFFFFFFFFFFFu) | 0x3FF0000000000000u);
  *mantissa = wb_select(positive, m, 0.0);
  *exponent = wb_select(positive, e + shift, WB_WIDE_NOTHING);
}

WB_HD void wide_from_double(double x, double *mantissa, double *exponent) {
  const int subnormal = x < 2.2250738585072014e-308;
  wide_normalize(x * wb_select(subnormal, 18014398509481984.0, 1.0), wb_select(subnormal, -54.0, 0.0), mantissa,
                 exponent);
}

/* exp(x) = 2^k exp(x - k log 2), for x = -inf or x > -WB_WIDE_LARGEST / 2. */
WB_HD void wide_from_log(double x, double *mantissa, double *exponent) {
  const int positive = x > -WB_WIDE_LARGEST;
  const double within = wb_select(positive, x, 0.0);
  const double k = wb_nearest(within * WB_LOG2_E);
  const double r = wb_fma(k, -WB_LN2_LOW, wb_fma(k, -WB_LN2_HIGH, within));
  *mantissa = wb_select(positive, wb_exp_reduced(r), 0.0);
  *exponent = wb_select(positive, k, WB_WIDE_NOTHING);
}

/* The power of two is two factors. The first product is exact; only the second can round, under- or overflow. */
WB_HD double wide_to_double(double mantissa, double exponent) {
  double e = wb_select(exponent > -1100.0, exponent, -1100.0);
  e = wb_select(e < 1100.0, e, 1100.0);
  double first = wb_select(e < -700.0, -700.0, e);
  first = wb_select(first > 700.0, 700.0, first);
  return mantissa * wb_power_of_two(first) * wb_power_of_two(e - first);
}

WB_HD double wide_to_log(double mantissa, double exponent) {
  /* The mantissa is brought between sqrt(1/2) and sqrt(2): near 1 the exponent is 0, and the log cancels nothing. */
  const int upper = mantissa > 1.4142135623730951;
  const double m = wb_select(upper, 0.5 * mantissa, mantissa);
  const double e = wb_select(upper, exponent + 1.0, exponent);
  const double log_m = wb_log(m);
  const double high = wb_fma(e, WB_LN2_HIGH, log_m);
  const double lost = log_m - wb_fma(e, -WB_LN2_HIGH, high);
  return wb_select(mantissa > 0, high + wb_fma(e, WB_LN2_LOW, lost), -wb_infinity());
}

/* value 2^(shift - reference). The product that gave `shift` was exact, and `reference` is an integer. */
WB_HD double wide_tilt(double mantissa, double exponent, double shift, double reference) {
  const double whole = wb_nearest(shift);
  const double power = wb_exp_reduced((shift - whole) * WB_LN2_HIGH);
  return mantissa * power * wb_power_of_two((exponent - reference) + whole);
}

WB_HD void wide_untilt(double x, double shift, double reference, double *mantissa, double *exponent) {
  const double whole = wb_nearest(shift);
  const double power = wb_exp_reduced((whole - shift) * WB_LN2_HIGH);
  wide_normalize(x * power, reference - whole, mantissa, exponent);
}

#define WB_LOOPS "numeric/wide_loops.h"
#include "numeric/isa.h"

void wb_wide_from_double(int64_t count, const double *x, double *mantissa, double *exponent, wb_isa isa) {
  WB_LOOP(wide_from_double, isa)(count, x, mantissa, exponent);
}

void wb_wide_from_log(int64_t count, const double *log_x, double *mantissa, double *exponent, wb_isa isa) {
  WB_LOOP(wide_from_log, isa)(count, log_x, mantissa, exponent);
}

void wb_wide_to_double(int64_t count, const double *mantissa, const double *exponent, double *x, wb_isa isa) {
  WB_LOOP(wide_to_double, isa)(count, mantissa, exponent, x);
}

void wb_wide_to_log(int64_t count, const double *mantissa, const double *exponent, double *log_x, wb_isa isa) {
  WB_LOOP(wide_to_log, isa)(count, mantissa, exponent, log_x);
}

void wb_wide_tilt(int64_t count, const double *mantissa, const double *exponent, double slope, int64_t first,
                  double reference, double *x, wb_tilt_sums *sums, wb_isa isa) {
  WB_LOOP(wide_tilt, isa)(count, mantissa, exponent, slope, first, reference, x, sums);
}

void wb_wide_tilt_some(int64_t count, const double *mantissa, const double *exponent, double slope, int64_t first,
                       double reference, double *x, wb_isa isa) {
  WB_LOOP(wide_tilt_some, isa)((int)count, mantissa, exponent, slope, first, reference, x);
}

void wb_wide_untilt(int64_t count, const double *x, double slope, int64_t first, double reference, double *mantissa,
                    double *exponent, wb_isa isa) {
  WB_LOOP(wide_untilt, isa)(count, x, slope, first, reference, mantissa, exponent);
}

wb_wide wb_wide_surround(const wb_wide *x, double *memory) {
  const int64_t n = x->length, padded = WB_WIDE_SURROUNDED(n);
  const wb_wide inner = {n, memory + WB_WIDE_OUTPUTS, memory + padded + WB_WIDE_OUTPUTS};
  for (int64_t k = 1; k <= WB_WIDE_OUTPUTS; k++) {
    inner.mantissa[-k] = inner.mantissa[n - 1 + k] = 0;
    inner.exponent[-k] = inner.exponent[n - 1 + k] = WB_WIDE_NOTHING;
  }
  memcpy(inner.mantissa, x->mantissa, (size_t)n * sizeof(double));
  memcpy(inner.exponent, x->exponent, (size_t)n * sizeof(double));
  return inner;
}

void wb_wide_convolve(const wb_wide *p, const wb_wide *q, int64_t first, int64_t count, double *mantissa,
                      double *exponent, wb_isa isa) {
  double m[WB_WIDE_OUTPUTS], e[WB_WIDE_OUTPUTS];
  for (int64_t at = 0; at < count; at += WB_WIDE_OUTPUTS) {
    const int64_t i = first + at, here = count - at < WB_WIDE_OUTPUTS ? count - at : WB_WIDE_OUTPUTS;
    /* All terms of these outputs, and a few terms in which q is one of its surrounding zeros. */
    const int64_t begin = i - q->length + 1 > 0 ? i - q->length + 1 : 0;
    const int64_t end = i + WB_WIDE_OUTPUTS < p->length ? i + WB_WIDE_OUTPUTS : p->length;
    WB_LOOP(wide_convolve, isa)(begin, end, p->mantissa, p->exponent, q->mantissa + i, q->exponent + i, m, e);
    for (int64_t l = 0; l < here; l++) {
      mantissa[at + l] = m[l];
      exponent[at + l] = e[l];
    }
  }
}
