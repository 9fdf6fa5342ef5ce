/* Logistic regression whose outcomes are sometimes recorded wrongly. */
#define USE_FC_LEN_T
#include <warpbayes.h>
#include <R_ext/Lapack.h>

extern const warpbayes_table *wb; /* opened when the package is loaded */

static void check(int status, const warpbayes_message *message) {
  if (status) Rf_error("%s", message->text);
}

/* The true outcomes z, given as kappa = z - 1/2, and count[2 z + y]. */
static void draw_outcomes(int n, const int *y, const double *eta, double *u, const double *error, double *kappa,
                          double *count) {
  for (int j = 0; j < 4; j++) count[j] = 0;
  for (int i = 0; i < n; i++) {
    double ratio = y[i] ? (1 - error[1]) / error[0] : error[1] / (1 - error[0]);
    int z = u[i] * (1 + exp(-eta[i]) / ratio) < 1;
    kappa[i] = z - 0.5;
    count[2 * z + y[i]]++;
  }
}

/* beta ~ N(Q^-1 X' kappa, Q^-1), Q = X' Omega X + I / 2.5^2. Q: p x p. */
static void draw_beta(int n, int p, const double *X, const double *omega, const double *kappa, double *Q, double *noise,
                      double *beta) {
  const int one = 1;
  int info;
  for (int j = 0; j < p; j++) {
    for (int k = 0; k <= j; k++) {
      Q[j + k * p] = j == k ? 0.16 : 0;
      for (int i = 0; i < n; i++) Q[j + k * p] += omega[i] * X[i + j * n] * X[i + k * n];
    }
    beta[j] = 0;
    for (int i = 0; i < n; i++) beta[j] += X[i + j * n] * kappa[i];
  }
  F77_CALL(dposv)("L", &p, &one, Q, &p, beta, &p, &info FCONE);
  F77_CALL(dtrsv)("L", "T", "N", &p, Q, &p, noise, &one FCONE FCONE FCONE);
  for (int j = 0; j < p; j++) beta[j] += noise[j];
}

/* Draws, sweeps x (p + 2): beta and both errors, which are ~ Be(1, 9). */
SEXP mislabelled(SEXP x, SEXP y, SEXP sweeps, SEXP seed, SEXP threads) {
  const int n = Rf_nrows(x), p = Rf_ncols(x), S = Rf_asInteger(sweeps);
  const double one = 1, *X = REAL(x);
  double *eta = (double *)R_alloc(4 * n + p * (p + 2), sizeof(double));
  double *omega = eta + n, *kappa = omega + n, *u = kappa + n, *Q = u + n;
  double *beta = Q + p * p, *noise = beta + p, error[2] = {0.1, 0.1}, count[4];
  SEXP draws = PROTECT(Rf_allocMatrix(REALSXP, S, p + 2));
  warpbayes_message m;
  uint64_t checked;
  check(warpbayes_seed(seed, &checked, &m), &m);
  warpbayes_source from = {wb->key(checked, 0), 0, 0, Rf_asInteger(threads)};
  for (int j = 0; j < p; j++) beta[j] = 0;
  for (int s = 0; s < S; s++) {
    R_CheckUserInterrupt();
    from.iteration = s + 1;
    for (int i = 0; i < n; i++) eta[i] = 0;
    for (int j = 0; j < p; j++)
      for (int i = 0; i < n; i++) eta[i] += X[i + j * n] * beta[j];
    check(wb->uniform_draw(&from, n, u, &m), &m);
    draw_outcomes(n, INTEGER(y), eta, u, error, kappa, count);
    check(wb->polyagamma_draw(&from, n, &one, 1, eta, n, omega, &m), &m);
    check(wb->normal_draw(&from, p, noise, &m), &m);
    draw_beta(n, p, X, omega, kappa, Q, noise, beta);
    const double a[] = {1 + count[1], 1 + count[2]};
    const double b[] = {9 + count[0], 9 + count[3]};
    check(wb->beta_draw(&from, 2, a, 2, b, 2, 0, error, &m), &m);
    for (int j = 0; j < p + 2; j++) REAL(draws)[s + j * S] = j < p ? beta[j] : error[j - p];
  }
  UNPROTECT(1);
  return draws;
}
