/* Arithmetic on numbers of wide range (see wide.h): conversions, exponential
 * tilting by powers of two, and the convolution that loses no term.
 */
#include "core/rounding.h"

#include "numeric/wide.h"

#include "core/elementary.h"

/* 2^e for a whole e in [-1000, 1023], 0 below. */
WB_HD double wide_power(double e) {
  const uint64_t bits = (wb_double_bits(e + WB_TO_INTEGER) + 1023) << 52;
  return wb_bits_double(bits & wb_mask(e >= -1000.0));
}

/* The nearest whole number, for |x| below 2^51. */
WB_HD double wide_nearest(double x) {
  return (x + WB_TO_INTEGER) - WB_TO_INTEGER;
}

/* x 2^shift with its mantissa in [1, 2); x is 0 or a normal number. */
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
  wide_normalize(x * wb_select(subnormal, 18014398509481984.0, 1.0), wb_select(subnormal, -54.0, 0.0),
                 mantissa, exponent);
}

/* exp(x) = 2^k exp(x - k log 2); x is -inf or above -WB_WIDE_LARGEST / 2. */
WB_HD void wide_from_log(double x, double *mantissa, double *exponent) {
  const int positive = x > -WB_WIDE_LARGEST;
  const double within = wb_select(positive, x, 0.0);
  const double k = wide_nearest(within * WB_LOG2_E);
  const double r = wb_fma(k, -WB_LN2_LOW, wb_fma(k, -WB_LN2_HIGH, within));
  *mantissa = wb_select(positive, wb_exp_reduced(r), 0.0);
  *exponent = wb_select(positive, k, WB_WIDE_NOTHING);
}

/* Two factors, so that only the second can round, to 0 or to infinity. */
WB_HD double wide_to_double(double mantissa, double exponent) {
  double e = wb_select(exponent > -1100.0, exponent, -1100.0);
  e = wb_select(e < 1100.0, e, 1100.0);
  double first = wb_select(e < -700.0, -700.0, e);
  first = wb_select(first > 700.0, 700.0, first);
  return mantissa * wide_power(first) * wide_power(e - first);
}

WB_HD double wide_to_log(double mantissa, double exponent) {
  /* Near 1 the exponent is 0: a logarithm near 0 loses nothing. */
  const int upper = mantissa > 1.4142135623730951;
  const double m = wb_select(upper, 0.5 * mantissa, mantissa);
  const double e = wb_select(upper, exponent + 1.0, exponent);
  const double log_m = wb_log(m);
  const double high = wb_fma(e, WB_LN2_HIGH, log_m);
  const double lost = log_m - wb_fma(e, -WB_LN2_HIGH, high);
  return wb_select(mantissa > 0, high + wb_fma(e, WB_LN2_LOW, lost), -wb_infinity());
}

/* value 2^(shift - reference), shift exact, reference whole. */
WB_HD double wide_tilt(double mantissa, double exponent, double shift, double reference) {
  const double whole = wide_nearest(shift);
  const double power = wb_exp_reduced((shift - whole) * WB_LN2_HIGH);
  return mantissa * power * wide_power((exponent - reference) + whole);
}

WB_HD void wide_untilt(double x, double shift, double reference, double *mantissa, double *exponent) {
  const double whole = wide_nearest(shift);
  const double power = wb_exp_reduced((whole - shift) * WB_LN2_HIGH);
  wide_normalize(x * power, reference - whole, mantissa, exponent);
}

#define WB_LOOPS "numeric/wide_loops.h"
#include "numeric/isa.h"

#define DISPATCH(name, ...)                                              \
  static void (*const loops[])(__VA_ARGS__) = WB_ISA_TABLE(name)

void wb_wide_from_double(int64_t count, const double *x, double *mantissa, double *exponent, wb_isa isa) {
  DISPATCH(wide_from_double, int64_t, const double *, double *, double *);
  loops[isa](count, x, mantissa, exponent);
}

void wb_wide_from_log(int64_t count, const double *log_x, double *mantissa, double *exponent, wb_isa isa) {
  DISPATCH(wide_from_log, int64_t, const double *, double *, double *);
  loops[isa](count, log_x, mantissa, exponent);
}

void wb_wide_to_double(int64_t count, const double *mantissa, const double *exponent, double *x, wb_isa isa) {
  DISPATCH(wide_to_double, int64_t, const double *, const double *, double *);
  loops[isa](count, mantissa, exponent, x);
}

void wb_wide_to_log(int64_t count, const double *mantissa, const double *exponent, double *log_x, wb_isa isa) {
  DISPATCH(wide_to_log, int64_t, const double *, const double *, double *);
  loops[isa](count, mantissa, exponent, log_x);
}

void wb_wide_tilt(int64_t count, const double *mantissa, const double *exponent, double slope, int64_t first,
                  double reference, double *x, wb_tilt_sums *sums, wb_isa isa) {
  DISPATCH(wide_tilt, int64_t, const double *, const double *, double, int64_t, double, double *, wb_tilt_sums *);
  loops[isa](count, mantissa, exponent, slope, first, reference, x, sums);
}

void wb_wide_untilt(int64_t count, const double *x, double slope, int64_t first, double reference,
                    double *mantissa, double *exponent, wb_isa isa) {
  DISPATCH(wide_untilt, int64_t, const double *, double, int64_t, double, double *, double *);
  loops[isa](count, x, slope, first, reference, mantissa, exponent);
}

void wb_wide_convolve(const wb_wide *p, const wb_wide *q, int64_t first, int64_t count, double *mantissa,
                      double *exponent, wb_isa isa) {
  DISPATCH(wide_convolve, int64_t, int64_t, const double *, const double *, const double *, const double *,
           double *, double *);
  double m[WB_WIDE_OUTPUTS], e[WB_WIDE_OUTPUTS];
  for (int64_t at = 0; at < count; at += WB_WIDE_OUTPUTS) {
    const int64_t i = first + at, here = count - at < WB_WIDE_OUTPUTS ? count - at : WB_WIDE_OUTPUTS;
    /* An index of q stays within the margin for the j of any of these outputs. */
    const int64_t begin = i - q->length + 1 > 0 ? i - q->length + 1 : 0;
    const int64_t end = i + WB_WIDE_OUTPUTS < p->length ? i + WB_WIDE_OUTPUTS : p->length;
    loops[isa](begin, end, p->mantissa, p->exponent, q->mantissa + i, q->exponent + i, m, e);
    for (int64_t l = 0; l < here; l++) {
      mantissa[at + l] = m[l];
      exponent[at + l] = e[l];
    }
  }
}
