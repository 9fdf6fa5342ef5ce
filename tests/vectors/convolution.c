/* Writes tests/testthat/convolution-reference.csv: laws of sums of discrete variables in quadruple precision, by direct
 * sums. The factors are made by operations that IEEE 754 rounds the same way everywhere.
 * tests/testthat/helper-convolution.R makes the same doubles.
 *   cc -O2 -ffp-contract=off convolution.c -lquadmath -o convolution
 *   ./convolution > ../testthat/convolution-reference.csv     (half a minute)
 */
#include <quadmath.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 quad;
typedef struct vector {
  int n;
  double *x;
} vector;

static vector zeros(int n) {
  vector v = {n, calloc((size_t)n, sizeof(double))};
  return v;
}

/* choose(n, k) 2^-n, from the ratios of neighbours. */
static vector binomial_half(int n) {
  vector v = zeros(n + 1);
  v.x[0] = 1;
  for (int k = 0; k < n; k++) v.x[0] *= 0.5;
  for (int k = 0; k < n; k++) v.x[k + 1] = v.x[k] * (n - k) / (k + 1);
  return v;
}

/* Proportional to Poisson probabilities for 0..n - 1, 1 at the mode. */
static vector poisson(int n, int mean) {
  vector v = zeros(n);
  v.x[mean] = 1;
  for (int k = mean; k + 1 < n; k++) v.x[k + 1] = v.x[k] * mean / (k + 1);
  for (int k = mean; k > 0; k--) v.x[k - 1] = v.x[k] * k / mean;
  return v;
}

static vector heavy(int n) {
  vector v = zeros(n);
  for (int k = 0; k < n; k++) v.x[k] = 1 / ((double)(k + 1) * (double)(k + 1));
  return v;
}

static vector geometric(int n, double ratio) {
  vector v = zeros(n);
  v.x[0] = 1;
  for (int k = 1; k < n; k++) v.x[k] = v.x[k - 1] * ratio;
  return v;
}

/* R's runif() after set.seed(seed): the Mersenne Twister (Matsumoto & Nishimura 1998) with R's initial scrambling. */
static uint32_t state[624];
static int position;
static void set_seed(uint32_t seed) {
  for (int i = 0; i < 50; i++) seed = 69069 * seed + 1;
  seed = 69069 * seed + 1; /* the position, which R then sets to the end */
  for (int i = 0; i < 624; i++) state[i] = seed = 69069 * seed + 1;
  position = 624;
}
static double runif1(void) {
  if (position == 624) {
    for (int i = 0; i < 624; i++) {
      const uint32_t y = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
      state[i] = state[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    position = 0;
  }
  uint32_t y = state[position++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  y ^= y >> 18;
  return y * 2.3283064365386963e-10;
}
static vector random_uniform(int n, uint32_t seed) {
  vector v = zeros(n);
  set_seed(seed);
  for (int k = 0; k < n; k++) v.x[k] = runif1();
  return v;
}

static quad entry(const vector *p, const vector *q, int i) {
  quad sum = 0;
  for (int j = i - q->n + 1 > 0 ? i - q->n + 1 : 0; j < p->n && j <= i; j++)
    if (p->x[j] > 0 && q->x[i - j] > 0) sum += (quad)p->x[j] * q->x[i - j];
  return sum;
}

static void show(const char *name, int i, quad value, int is_log) {
  char text[64];
  quadmath_snprintf(text, sizeof text, is_log ? "%.25Qg" : "%.20Qe", value);
  printf("%s,%d,%s\n", name, i, text);
}

/* Entries at both ends, where windows begin, and in steps. */
static void pair(const char *name, vector p, vector q) {
  const int n = p.n + q.n - 1, step = n / 60 + 1;
  for (int i = 0; i < n; i++)
    if (i < 4 || i >= n - 4 || i % step == 0) {
      const quad value = entry(&p, &q, i);
      if (value > 1e-300Q) show(name, i, value, 0);
    }
}

static void repeat(void) {
  const int n = 50 * 256 + 1;
  vector one = zeros(51);
  one.x[0] = 0.006737946999085467; /* exp(-5) */
  for (int k = 0; k < 50; k++) one.x[k + 1] = one.x[k] * 5 / (k + 1);
  quad *a = malloc(n * sizeof(quad)), *b = malloc(n * sizeof(quad));
  int length = 51;
  for (int i = 0; i < length; i++) a[i] = one.x[i];
  for (int round = 0; round < 8; round++) {
    for (int i = 0; i < 2 * length - 1; i++) {
      b[i] = 0;
      for (int j = i - length + 1 > 0 ? i - length + 1 : 0; j < length && j <= i; j++) b[i] += a[j] * a[i - j];
    }
    length = 2 * length - 1;
    memcpy(a, b, (size_t)length * sizeof(quad));
  }
  for (int i = 0; i < n; i += 37)
    if (a[i] > 1e-300Q) show("repeat", i, a[i], 0);
  for (int i = 0; i < n; i += 257)
    if (a[i] > 1e-4800Q) show("repeat_log", i, logq(a[i]), 1);
}

static void poisson_binomial(void) {
  const int n = 10000;
  vector p = random_uniform(n, 1);
  quad *a = calloc((size_t)n + 1, sizeof(quad)), tail = 0;
  a[0] = 1;
  for (int k = 0; k < n; k++) {
    const quad yes = p.x[k], no = 1 - yes;
    for (int i = k + 1; i > 0; i--) a[i] = a[i] * no + a[i - 1] * yes;
    a[0] *= no;
  }
  for (int i = 0; i <= n; i += 125) show("poisson_binomial_log", i, logq(a[i]), 1);
  for (int i = n; i > 9000; i--) tail += a[i];
  show("poisson_binomial_tail_log", 9000, logq(tail), 1);
}

/* Logarithms -(k - centre)^2 / spread, and for every second pair a dent. */
static void logarithms(void) {
  const int n = 1500;
  vector p = zeros(n), q = zeros(n);
  for (int k = 0; k < n; k++) {
    p.x[k] = -(double)((k - 700) * (k - 700)) / 16;
    q.x[k] = -(double)((k - 300) * (k - 300)) / 32 - (k % 7 == 0 ? 900 : 0);
  }
  for (int i = 0; i < 2 * n - 1; i += 41) {
    quad top = -1e30Q, sum = 0;
    for (int round = 0; round < 2; round++)
      for (int j = i - n + 1 > 0 ? i - n + 1 : 0; j < n && j <= i; j++) {
        const quad x = (quad)p.x[j] + q.x[i - j];
        if (round == 0) {
          if (x > top) top = x;
        } else {
          sum += expq(x - top);
        }
      }
    show("logarithms", i, top + logq(sum), 1);
  }
}

int main(void) {
  puts("case,index,value");
  pair("binomial", binomial_half(1000), binomial_half(1000));
  pair("poisson", poisson(171, 1), poisson(14200, 10000));
  pair("poisson_large", poisson(14200, 10000), poisson(20000, 15000));
  pair("heavy_narrow", heavy(30000), poisson(3000, 50));
  pair("heavy_heavy", heavy(9000), heavy(9000));
  pair("random_medium", random_uniform(900, 3), random_uniform(1500, 4));
  pair("random", random_uniform(9000, 1), random_uniform(11000, 2));
  pair("geometric", geometric(9000, 0.9921875), geometric(9000, 0.984375));
  repeat();
  poisson_binomial();
  logarithms();
  return 0;
}
