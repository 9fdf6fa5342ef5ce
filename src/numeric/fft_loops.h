/* The passes of the discrete Fourier transform, included once for each instruction set by isa.h. Real and imaginary
 * parts are in separate arrays. Vectors run along the index, or across eight smallest transforms. */

#define LANES (WB_VECTOR_BYTES / 8)
#define LOAD(address) (*(const wb_vector *)(address))
#define STORE(address, value) (*(wb_vector *)(address) = (value))
/* (x_re + i x_im)(w_re + i w_im), and the product with the conjugate of w. */
#define MULTIPLY(x_re, x_im, w_re, w_im, y_re, y_im) \
  const wb_vector y_re = WB_VECTOR_FMA(x_re, w_re, -((x_im) * (w_im))), \
                  y_im = WB_VECTOR_FMA(x_re, w_im, (x_im) * (w_re))
#define MULTIPLY_CONJUGATE(x_re, x_im, w_re, w_im, y_re, y_im) \
  const wb_vector y_re = WB_VECTOR_FMA(x_re, w_re, (x_im) * (w_im)), \
                  y_im = WB_VECTOR_FMA(x_im, w_re, -((x_re) * (w_im)))

/* A radix-4 step on vectors q apart, and its inverse up to a factor of four. w: re, im of three roots; NULL: 1. */
WB_INLINE void WB_NAME(fft_divide_four)(double *re, double *im, size_t q, const wb_vector *w) {
  const wb_vector ar = LOAD(re), br = LOAD(re + q), cr = LOAD(re + 2 * q), dr = LOAD(re + 3 * q);
  const wb_vector ai = LOAD(im), bi = LOAD(im + q), ci = LOAD(im + 2 * q), di = LOAD(im + 3 * q);
  const wb_vector ac_r = ar + cr, ac_i = ai + ci, a_c_r = ar - cr, a_c_i = ai - ci;
  const wb_vector bd_r = br + dr, bd_i = bi + di, b_d_r = br - dr, b_d_i = bi - di;
  wb_vector y1r = a_c_r + b_d_i, y1i = a_c_i - b_d_r;
  wb_vector y2r = ac_r - bd_r, y2i = ac_i - bd_i;
  wb_vector y3r = a_c_r - b_d_i, y3i = a_c_i + b_d_r;
  if (w) {
    MULTIPLY(y1r, y1i, w[0], w[1], z1r, z1i);
    MULTIPLY(y2r, y2i, w[2], w[3], z2r, z2i);
    MULTIPLY(y3r, y3i, w[4], w[5], z3r, z3i);
    y1r = z1r, y1i = z1i;
    y2r = z2r, y2i = z2i;
    y3r = z3r, y3i = z3i;
  }
  STORE(re, ac_r + bd_r);
  STORE(im, ac_i + bd_i);
  STORE(re + q, y1r);
  STORE(im + q, y1i);
  STORE(re + 2 * q, y2r);
  STORE(im + 2 * q, y2i);
  STORE(re + 3 * q, y3r);
  STORE(im + 3 * q, y3i);
}
WB_INLINE void WB_NAME(fft_unite_four)(double *re, double *im, size_t q, const wb_vector *w) {
  const wb_vector y0r = LOAD(re), y0i = LOAD(im);
  wb_vector y1r = LOAD(re + q), y2r = LOAD(re + 2 * q), y3r = LOAD(re + 3 * q);
  wb_vector y1i = LOAD(im + q), y2i = LOAD(im + 2 * q), y3i = LOAD(im + 3 * q);
  if (w) {
    MULTIPLY_CONJUGATE(y1r, y1i, w[0], w[1], z1r, z1i);
    MULTIPLY_CONJUGATE(y2r, y2i, w[2], w[3], z2r, z2i);
    MULTIPLY_CONJUGATE(y3r, y3i, w[4], w[5], z3r, z3i);
    y1r = z1r, y1i = z1i;
    y2r = z2r, y2i = z2i;
    y3r = z3r, y3i = z3i;
  }
  const wb_vector even_r = y0r + y2r, even_i = y0i + y2i, odd_r = y1r + y3r, odd_i = y1i + y3i;
  const wb_vector a_c_r = y0r - y2r, a_c_i = y0i - y2i, b_d_r = y1r - y3r, b_d_i = y1i - y3i;
  STORE(re, even_r + odd_r);
  STORE(im, even_i + odd_i);
  STORE(re + q, a_c_r - b_d_i);
  STORE(im + q, a_c_i + b_d_r);
  STORE(re + 2 * q, even_r - odd_r);
  STORE(im + 2 * q, even_i - odd_i);
  STORE(re + 3 * q, a_c_r + b_d_i);
  STORE(im + 3 * q, a_c_i - b_d_r);
}

/* A step of the transform of length n: its quarters become inputs of four transforms of length n/4. `roots` is laid out
 * by wb_fft_open(). begin..end - 1 are the indices within a quarter to do now. Then the inverse. */
#define STEP(name, step) \
  static void WB_NAME(name)(double *re, double *im, size_t n, const double *roots, size_t begin, size_t end) { \
    for (size_t k = begin; k < end; k += LANES) { \
      const double *const w = roots + k / 8 * 48 + k % 8; \
      const wb_vector root[6] = {LOAD(w), LOAD(w + 8), LOAD(w + 16), LOAD(w + 24), LOAD(w + 32), LOAD(w + 40)}; \
      WB_NAME(step)(re + k, im + k, n / 4, root); \
    } \
  }
STEP(fft_divide, fft_divide_four)
STEP(fft_unite, fft_unite_four)

/* The radix-2 steps that begin and end a transform whose length is not a power of four. */
static void WB_NAME(fft_halve)(double *re, double *im, size_t n, const double *roots, size_t begin, size_t end) {
  const size_t h = n / 2;
  for (size_t k = begin; k < end; k += LANES) {
    double *const r = re + k, *const i = im + k;
    const double *const w = roots + k / 8 * 16 + k % 8;
    const wb_vector ar = LOAD(r), br = LOAD(r + h), ai = LOAD(i), bi = LOAD(i + h);
    const wb_vector yr = ar - br, yi = ai - bi;
    MULTIPLY(yr, yi, LOAD(w), LOAD(w + 8), zr, zi);
    STORE(r, ar + br);
    STORE(i, ai + bi);
    STORE(r + h, zr);
    STORE(i + h, zi);
  }
}
static void WB_NAME(fft_join)(double *re, double *im, size_t n, const double *roots, size_t begin, size_t end) {
  const size_t h = n / 2;
  for (size_t k = begin; k < end; k += LANES) {
    double *const r = re + k, *const i = im + k;
    const double *const w = roots + k / 8 * 16 + k % 8;
    const wb_vector zr = LOAD(r + h), zi = LOAD(i + h), yr = LOAD(r), yi = LOAD(i);
    MULTIPLY_CONJUGATE(zr, zi, LOAD(w), LOAD(w + 8), br, bi);
    STORE(r, yr + br);
    STORE(i, yi + bi);
    STORE(r + h, yr - br);
    STORE(i + h, yi - bi);
  }
}

/* Transforms, squares and transforms back eight neighbouring blocks of 16. Each block occupies one lane of the vectors,
 * so blocks are transposed on the way in and out. `roots` holds re and im of w^0..w^9 for w the 16th root of unity. */
static void WB_NAME(fft_square_sixteen)(double *re, double *im, const double *roots) {
  _Alignas(64) double r[16 * 8], i[16 * 8];
  for (int k = 0; k < 16; k++)
    for (int l = 0; l < 8; l++) {
      r[8 * k + l] = re[16 * l + k];
      i[8 * k + l] = im[16 * l + k];
    }
  for (int first = 0; first < 8; first += LANES) {
    double *const x = r + first, *const y = i + first;
    for (int k = 0; k < 4; k++) {
      wb_vector w[6];
      for (int j = 0; j < 6; j++) w[j] = WB_VECTOR_SET(roots[2 * k * (1 + j / 2) + j % 2]);
      WB_NAME(fft_divide_four)(x + 8 * k, y + 8 * k, 32, w);
    }
    for (int k = 0; k < 16; k += 4) {
      WB_NAME(fft_divide_four)(x + 8 * k, y + 8 * k, 8, NULL);
      for (int s = k; s < k + 4; s++) {
        const wb_vector a = LOAD(x + 8 * s), b = LOAD(y + 8 * s);
        STORE(x + 8 * s, WB_VECTOR_FMA(a, a, -(b * b)));
        STORE(y + 8 * s, (a + a) * b);
      }
      WB_NAME(fft_unite_four)(x + 8 * k, y + 8 * k, 8, NULL);
    }
    for (int k = 0; k < 4; k++) {
      wb_vector w[6];
      for (int j = 0; j < 6; j++) w[j] = WB_VECTOR_SET(roots[2 * k * (1 + j / 2) + j % 2]);
      WB_NAME(fft_unite_four)(x + 8 * k, y + 8 * k, 32, w);
    }
  }
  for (int l = 0; l < 8; l++)
    for (int k = 0; k < 16; k++) {
      re[16 * l + k] = r[8 * k + l];
      im[16 * l + k] = i[8 * k + l];
    }
}

/* Transforms, squares and transforms back, depth first: a quarter is finished while it is in the cache. n is a power of
 * four, at least 256. roots[0] belongs to length 16, roots[s] to 4^(s + 2). */
static void WB_NAME(fft_square_quarters)(double *re, double *im, size_t n, int level, const double *const *roots) {
  WB_NAME(fft_divide)(re, im, n, roots[level], 0, n / 4);
  const size_t q = n / 4;
  for (int s = 0; s < 4; s++) {
    double *const r = re + (size_t)s * q, *const i = im + (size_t)s * q;
    if (q > 64) {
      WB_NAME(fft_square_quarters)(r, i, q, level - 1, roots);
    } else {
      WB_NAME(fft_divide)(r, i, 64, roots[1], 0, 16);
      if (s % 2 == 1) { /* two quarters of 64 make the eight blocks of 16 */
        WB_NAME(fft_square_sixteen)(r - 64, i - 64, roots[0]);
        WB_NAME(fft_unite)(r - 64, i - 64, 64, roots[1], 0, 16);
        WB_NAME(fft_unite)(r, i, 64, roots[1], 0, 16);
      }
    }
  }
  WB_NAME(fft_unite)(re, im, n, roots[level], 0, n / 4);
}

static void WB_NAME(fft_table)(size_t count, double n, double *restrict cosine, double *restrict sine) {
  for (size_t k = 0; k < count; k++) {
    const double t = (double)(int)k / n;
    cosine[k] = fft_cosine(t);
    sine[k] = fft_sine(t);
  }
}

#undef LANES
#undef LOAD
#undef STEP
#undef STORE
#undef MULTIPLY
#undef MULTIPLY_CONJUGATE
