/* The loops over wide numbers, for each instruction set (isa.h). The compiler vectorises most bodies. */

/* tools/loops: no vector multiply-adds */
static void WB_NAME(wide_from_double)(int64_t count, const double *restrict x, double *restrict mantissa,
                                      double *restrict exponent) {
  for (int64_t i = 0; i < count; i++) wide_from_double(x[i], mantissa + i, exponent + i);
}

static void WB_NAME(wide_from_log)(int64_t count, const double *restrict x, double *restrict mantissa,
                                   double *restrict exponent) {
  for (int64_t i = 0; i < count; i++) wide_from_log(x[i], mantissa + i, exponent + i);
}

/* tools/loops: no vector multiply-adds */
static void WB_NAME(wide_to_double)(int64_t count, const double *mantissa, const double *exponent, double *x) {
  for (int64_t i = 0; i < count; i++) x[i] = wide_to_double(mantissa[i], exponent[i]);
}

static void WB_NAME(wide_to_log)(int64_t count, const double *mantissa, const double *exponent, double *x) {
  for (int64_t i = 0; i < count; i++) x[i] = wide_to_log(mantissa[i], exponent[i]);
}

#define LANES (WB_VECTOR_BYTES / 8)
typedef double WB_NAME(wide_unaligned) __attribute__((vector_size(WB_VECTOR_BYTES), aligned(8), may_alias));

/* Sums of tilted values, as eight partial sums by index modulo eight: one order for all widths of vectors. */
typedef struct WB_NAME(wide_partial) {
  wb_vector value[8 / LANES], index[8 / LANES], index_square[8 / LANES], square[8 / LANES];
} WB_NAME(wide_partial);

WB_INLINE void WB_NAME(wide_add)(const double *x, const double *at, WB_NAME(wide_partial) *sum) {
  WB_UNROLL
  for (int v = 0; v < 8 / LANES; v++) {
    const wb_vector value = (wb_vector) * (const WB_NAME(wide_unaligned) *)(x + v * LANES);
    const wb_vector index = (wb_vector) * (const WB_NAME(wide_unaligned) *)(at + v * LANES);
    const wb_vector weighted = value * index;
    sum->value[v] += value;
    sum->index[v] += weighted;
    sum->index_square[v] = WB_VECTOR_FMA(weighted, index, sum->index_square[v]);
    sum->square[v] = WB_VECTOR_FMA(value, value, sum->square[v]);
  }
}

static double WB_NAME(wide_total)(const wb_vector *sum) {
  double lane[8], total = 0;
  memcpy(lane, sum, sizeof lane);
  for (int l = 0; l < 8; l++) total += lane[l];
  return total;
}

static void WB_NAME(wide_tilt_some)(int count, const double *restrict mantissa, const double *restrict exponent,
                                    double slope, int64_t first, double reference, double *restrict x) {
  const double start = (double)first;
  for (int k = 0; k < count; k++) x[k] = wide_tilt(mantissa[k], exponent[k], slope * (start + (double)k), reference);
}

/* Without `mantissa`, x has been tilted. */
static void WB_NAME(wide_tilt)(int64_t count, const double *restrict mantissa, const double *restrict exponent,
                               double slope, int64_t first, double reference, double *restrict x, wb_tilt_sums *sums) {
  WB_NAME(wide_partial) sum;
  memset(&sum, 0, sizeof sum);
  double at[256];
  for (int64_t begin = 0; begin < count; begin += 256) {
    const int here = (int)(count - begin < 256 ? count - begin : 256);
    const double offset = (double)begin;
    double *restrict const out = x + begin;
    if (mantissa)
      WB_NAME(wide_tilt_some)(here, mantissa + begin, exponent + begin, slope, first + begin, reference, out);
    for (int k = 0; k < here; k++) at[k] = offset + (double)k;
    for (int k = 0; k + 8 <= here; k += 8) WB_NAME(wide_add)(out + k, at + k, &sum);
    if (here % 8) { /* the last values, padded with zeros */
      double rest[16] = {0};
      for (int l = 0; l < here % 8; l++) {
        rest[l] = out[here / 8 * 8 + l];
        rest[8 + l] = at[here / 8 * 8 + l];
      }
      WB_NAME(wide_add)(rest, rest + 8, &sum);
    }
  }
  sums->value = WB_NAME(wide_total)(sum.value);
  sums->index = WB_NAME(wide_total)(sum.index);
  sums->index_square = WB_NAME(wide_total)(sum.index_square);
  sums->square = WB_NAME(wide_total)(sum.square);
}

static void WB_NAME(wide_untilt)(int64_t count, const double *restrict x, double slope, int64_t first, double reference,
                                 double *restrict mantissa, double *restrict exponent) {
  for (int64_t begin = 0; begin < count; begin += 256) {
    const int here = (int)(count - begin < 256 ? count - begin : 256);
    const double start = (double)(first + begin);
    double *restrict const m = mantissa + begin, *restrict const e = exponent + begin;
    const double *restrict const in = x + begin;
    for (int k = 0; k < here; k++) wide_untilt(in[k], slope * (start + (double)k), reference, m + k, e + k);
  }
}

/* Computes WB_WIDE_OUTPUTS outputs in two passes. The first finds the largest exponent among the terms of each output;
 * the second adds the terms relative to it. Blocks of WB_WIDE_BLOCK terms, in increasing j, are added in order. */
static void WB_NAME(wide_convolve)(int64_t begin, int64_t end, const double *p_mantissa, const double *p_exponent,
                                   const double *q_mantissa, const double *q_exponent, double *mantissa,
                                   double *exponent) {
  typedef WB_NAME(wide_unaligned) loose;
  typedef int64_t whole __attribute__((vector_size(WB_VECTOR_BYTES)));
  enum { vectors = WB_WIDE_OUTPUTS / LANES };
  const wb_vector to_integer = WB_VECTOR_SET(WB_TO_INTEGER), least = WB_VECTOR_SET(-1000.0);
  wb_vector top[vectors], total[vectors], sum[vectors];
  WB_UNROLL
  for (int v = 0; v < vectors; v++) {
    top[v] = WB_VECTOR_SET(2 * WB_WIDE_NOTHING);
    total[v] = WB_VECTOR_SET(0.0);
  }
  for (int64_t j = begin; j < end; j++) {
    const wb_vector e = WB_VECTOR_SET(p_exponent[j]);
    WB_UNROLL
    for (int v = 0; v < vectors; v++) {
      const wb_vector both = e + (wb_vector) * (const loose *)(q_exponent - j + v * LANES);
      const whole above = (whole)(both > top[v]);
      top[v] = (wb_vector)(((whole)both & above) | ((whole)top[v] & ~above));
    }
  }
  for (int64_t block = begin; block < end; block += WB_WIDE_BLOCK) {
    const int64_t stop = end - block < WB_WIDE_BLOCK ? end : block + WB_WIDE_BLOCK;
    WB_UNROLL
    for (int v = 0; v < vectors; v++) sum[v] = WB_VECTOR_SET(0.0);
    for (int64_t j = block; j < stop; j++) {
      const wb_vector m = WB_VECTOR_SET(p_mantissa[j]), e = WB_VECTOR_SET(p_exponent[j]);
      WB_UNROLL
      for (int v = 0; v < vectors; v++) {
        /* wb_power_of_two() of the exponent relative to the largest. */
        const wb_vector below = e + (wb_vector) * (const loose *)(q_exponent - j + v * LANES) - top[v];
        const whole bits = (((whole)(below + to_integer) + 1023) << 52) & (whole)(below >= least);
        sum[v] = WB_VECTOR_FMA(m * (wb_vector)bits, (wb_vector) * (const loose *)(q_mantissa - j + v * LANES), sum[v]);
      }
    }
    WB_UNROLL
    for (int v = 0; v < vectors; v++) total[v] += sum[v];
  }
  double largest[WB_WIDE_OUTPUTS], x[WB_WIDE_OUTPUTS];
  memcpy(largest, top, sizeof largest);
  memcpy(x, total, sizeof x);
  for (int l = 0; l < WB_WIDE_OUTPUTS; l++) wide_normalize(x[l], largest[l], mantissa + l, exponent + l);
}

#undef LANES
