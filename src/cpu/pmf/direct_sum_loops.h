/* The loops of the direct sum, for each instruction set (isa.h). Order of terms: backend/pmf_table.h. */

#define LANES (WB_VECTOR_BYTES / 8)
#define VECTORS 8
/* Vectors that eight entries of q fill. */
#define SHIFT (8 / LANES)
#define STEPS (WB_CONVOLUTION_GROUP / 8)

typedef double WB_NAME(unaligned) __attribute__((vector_size(WB_VECTOR_BYTES), aligned(8), may_alias));

/* Adds one block of p to r: r[l] += sum over j < count of p[j] q[l - j], for VECTORS * LANES outputs. `count` is a
 * multiple of WB_CONVOLUTION_GROUP. q is zero where its index leaves the support.
 *
 * Most loads of q are unaligned and occupy a load port twice. Terms whose j differ by eight read q whole vectors apart:
 * in the order of backend/pmf_table.h, 11 loads serve 32 multiply-adds of AVX-512. */
static void WB_NAME(convolve_tile)(const double *p, const double *q, int64_t count, double *r) {
  wb_vector sum[VECTORS];
  WB_UNROLL
  for (int l = 0; l < VECTORS; l++) sum[l] = WB_VECTOR_SET(0.0);
  for (int64_t group = 0; group < count; group += WB_CONVOLUTION_GROUP) {
    for (int c = 0; c < 8; c++) {
      const double *const weight = p + group + c;
      const double *const last = q - group - c - 8 * (STEPS - 1);
#if WB_VECTOR_BYTES == 64
      wb_vector x[VECTORS + SHIFT * (STEPS - 1)];
      WB_UNROLL
      for (int l = 0; l < VECTORS + SHIFT * (STEPS - 1); l++)
        x[l] = (wb_vector) * (const WB_NAME(unaligned) *)(last + l * LANES);
#define Q_VECTOR(l) x[l]
#else
#define Q_VECTOR(l) ((wb_vector) * (const WB_NAME(unaligned) *)(last + (l)*LANES))
#endif
      WB_UNROLL
      for (int step = 0; step < STEPS; step++) {
        const wb_vector w = WB_VECTOR_SET(weight[8 * step]);
        WB_UNROLL
        for (int l = 0; l < VECTORS; l++) sum[l] = WB_VECTOR_FMA(w, Q_VECTOR(l + SHIFT * (STEPS - 1 - step)), sum[l]);
      }
#undef Q_VECTOR
    }
  }
  WB_UNROLL
  for (int l = 0; l < VECTORS; l++) {
    WB_NAME(unaligned) *const out = (WB_NAME(unaligned) *)(r + l * LANES);
    *out += (WB_NAME(unaligned))sum[l];
  }
}

/* What is seen of `vectors` vectors of weights side by side: element l of each row is a weight of vector l. */
/* tools/loops: vector additions */
static unsigned WB_NAME(look_at_lanes)(int rows, int vectors, const double *weights) {
  enum { width = WB_CONVOLUTION_LANES / LANES };
  typedef uint64_t bit_vector __attribute__((vector_size(WB_VECTOR_BYTES)));
  const wb_vector zero = WB_VECTOR_SET(0.0); /* turns -0 into 0 */
  bit_vector all[width] = {{0}}, above = {0}, large = {0};
  for (int j = 0; j < rows; j++) {
    WB_UNROLL
    for (int l = 0; l < width; l++) {
      const bit_vector bits = (bit_vector)(*(const wb_vector *)(weights + j * WB_CONVOLUTION_LANES + l * LANES) + zero);
      all[l] |= bits;
      above |= bits + WB_WEIGHT_ABOVE;
      large |= bits + WB_WEIGHT_LARGE;
    }
  }
  wb_weight_bits seen = {0, 0, 0};
  int zeros = 0;
  for (int l = 0; l < vectors; l++) {
    seen.all |= all[l / LANES][l % LANES];
    zeros |= all[l / LANES][l % LANES] == 0;
  }
  for (int l = 0; l < LANES; l++) {
    seen.above |= above[l];
    seen.large |= large[l];
  }
  return wb_weight_judge(seen) | (zeros ? WB_WEIGHTS_UNUSABLE : 0u);
}

/* The sums of WB_CONVOLUTION_LANES pairs at once: element l of each array's rows belongs to pair l. m is at most
 * WB_CONVOLUTION_BLOCK. q has LANES_MARGIN rows of zeros on both sides, and r has rows for m + n - 1 + LANES_MARGIN
 * outputs. Eight vectors of sums stay in registers. */
static void WB_NAME(convolve_lanes)(int m, int n, const double *p, const double *q, double *r) {
  enum { width = WB_CONVOLUTION_LANES / LANES, rows = VECTORS / width };
  for (int i = 0; i < m + n - 1; i += rows) {
    const int low = i - n + 1, high = i + rows - 1;
    wb_vector sum[VECTORS];
    WB_UNROLL
    for (int l = 0; l < VECTORS; l++) sum[l] = WB_VECTOR_SET(0.0);
    for (int group = 0; group < m; group += WB_CONVOLUTION_GROUP) {
      const int end = m - group < WB_CONVOLUTION_GROUP ? m : group + WB_CONVOLUTION_GROUP;
      for (int c = 0; c < 8; c++) {
        for (int j = group + c; j < end; j += 8) {
          if (j < low || j > high) continue;
          const double *const weight = p + j * WB_CONVOLUTION_LANES, *const x = q + (i - j) * WB_CONVOLUTION_LANES;
          WB_UNROLL
          for (int l = 0; l < VECTORS; l++)
            sum[l] = WB_VECTOR_FMA(*(const wb_vector *)(weight + l % width * LANES),
                                   *(const wb_vector *)(x + l * LANES), sum[l]);
        }
      }
    }
    WB_UNROLL
    for (int l = 0; l < VECTORS; l++) *(wb_vector *)(r + i * WB_CONVOLUTION_LANES + l * LANES) = sum[l];
  }
}

/* convolve_lanes for longer vectors: 18 loads serve 32 multiply-adds. p, r: whole groups. q has zeros around it. */
static void WB_NAME(convolve_lanes_long)(int m, int n, const double *p, const double *q, double *r) {
  enum { width = WB_CONVOLUTION_LANES / LANES, residues = STEPS * width < VECTORS ? VECTORS / (STEPS * width) : 1 };
  const int64_t row = WB_CONVOLUTION_LANES;
  for (int i = 0; i < m + n - 1; i += WB_CONVOLUTION_GROUP) {
    const int low = i - n + 1 > 0 ? (i - n + 1) / WB_CONVOLUTION_GROUP * WB_CONVOLUTION_GROUP : 0;
    const int high = i + WB_CONVOLUTION_GROUP < m ? i + WB_CONVOLUTION_GROUP : m;
    for (int first = 0; first < 8; first += residues) {
      /* Outputs i + first + residue + 8 l. */
      wb_vector sum[residues][STEPS][width];
      memset(sum, 0, sizeof sum);
      for (int group = low; group < high; group += WB_CONVOLUTION_GROUP) {
        for (int c = 0; c < 8; c++) {
          const double *const weight = p + (group + c) * row;
          wb_vector w[STEPS][width];
          WB_UNROLL
          for (int l = 0; l < STEPS * width; l++)
            w[l / width][l % width] = *(const wb_vector *)(weight + l / width * 8 * row + l % width * LANES);
          WB_UNROLL
          for (int residue = 0; residue < residues; residue++) {
            const double *const x = q + (i - group + first + residue - c - 8 * (STEPS - 1)) * row;
            WB_UNROLL
            for (int step = 0; step < STEPS; step++) {
              WB_UNROLL
              for (int l = 0; l < STEPS * width; l++)
                sum[residue][l / width][l % width] = WB_VECTOR_FMA(
                    w[step][l % width],
                    *(const wb_vector *)(x + (l / width + STEPS - 1 - step) * 8 * row + l % width * LANES),
                    sum[residue][l / width][l % width]);
            }
          }
        }
      }
      WB_UNROLL
      for (int residue = 0; residue < residues; residue++) {
        WB_UNROLL
        for (int l = 0; l < STEPS * width; l++)
          *(wb_vector *)(r + (i + first + residue + l / width * 8) * row + l % width * LANES) =
              sum[residue][l / width][l % width];
      }
    }
  }
}

static const int WB_NAME(convolve_outputs) = VECTORS * LANES;

#undef LANES
#undef VECTORS
#undef SHIFT
#undef STEPS
