/* A Polya-Gamma variable of large shape as a polynomial of a normal one: the expansion of Cornish & Fisher (1938, Revue
 * de l'Institut international de statistique 5, 307-320; Hill & Davis 1968, Annals of Mathematical Statistics 39,
 * 1264-1273), and the cumulants it needs, without branches. Coefficients: Edgeworth's series, inverted in rationals. */
#pragma once

#include "core/elementary.h"
#include "core/unroll.h"

/* The first 6 or 8 cumulants (count) of PG(1, c), c >= 0. Relative errors: mean 3e-16, variance 5e-14, the others 2e-10
 * or, from the fourth on, smaller than an expansion notices (4e-7 for the last). Below c = 2 they are polynomials in
 * q = c^2/4. Above, with y = c/2, the Taylor coefficients of g = tanh(y)/y and h = sech(y)^2 about q follow from
 *   (n+1) g_{n+1} = (h_n - (2n+1) g_n)/(2q),   (n+1) h_{n+1} = -sum_{i<=n} h_i g_{n-i},
 * and kappa_r = (-1)^{r+1} (r-1)! g_{r-1}/2^{r+1}. */
WB_HD void wb_polyagamma_unit_cumulants(double c, int count, double *kappa) {
  double near[8], g[8], h[8];
  double half = 0.5 * c, q = half * half;
  near[0] = WB_HORNER(q, 4.5715643499473676e-08, -4.556661553163569e-07, 2.281488399066209e-06, -7.950844507602987e-06,
                      2.269837112108194e-05, -5.885232043182779e-05, 0.00014709007067216902, -0.00036382245163543963,
                      0.0008980002578816721, -0.0022158037663018897, 0.005467371592828706, -0.013492063457422519,
                      0.03333333333216747, -0.08333333333331779, 0.24999999999999997);
  near[1] = WB_HORNER(q, -3.2233042695934926e-07, 2.9842880160384787e-06, -1.377684642885797e-05, 4.392053434929737e-05,
                      -0.00011375173142247208, 0.0002650704875853149, -0.0005885052193826968, 0.0012734398246673768,
                      -0.0026940182896885074, 0.005539512701936845, -0.010934743567608343, 0.02023809521101432,
                      -0.033333333332919025, 0.04166666666666561);
  near[2] = WB_HORNER(q, -5.335203072169559e-06, 4.2777160665126725e-05, -0.00016985635929608114, 0.0004643327741940688,
                      -0.0010302768811979734, 0.0020471493489827484, -0.0038168319099349786, 0.006734436687491878,
                      -0.011078963082779114, 0.016402112112481625, -0.020238095148851436, 0.016666666666357306);
  near[3] = WB_HORNER(q, 2.9630675720451804e-05, -0.00021612721234439954, 0.0007710704151213908, -0.0018679289900560513,
                      0.003615833345386302, -0.006147094889375865, 0.009544068121296915, -0.013469288474118636,
                      0.01661849178022522, -0.016402114551491872, 0.010119047611417006);
  near[4] = WB_HORNER(q, 7.11690283212547e-05, -0.000507770843111242, 0.001750265344737916, -0.004024147834911965,
                      0.007233063838878722, -0.011171767030211256, 0.015462359436915816, -0.0191047041390947,
                      0.020205524447489784, -0.016618561782016546, 0.008201058181119303);
  near[5] = WB_HORNER(q, 0.00018336967293367803, -0.001283057163085251, 0.0042916559008273686, -0.009428272708472171,
                      0.015881877182879214, -0.0225383097847827, 0.028174573100095156, -0.030967704298796566,
                      0.02866119264880083, -0.02020570670694888, 0.008309283253643907);
  if (count > 6) {
    near[6] = WB_HORNER(q, 0.000504563573154319, -0.0034699513491060385, 0.01130345196174842, -0.02386081224667524,
                        0.037960734716999935, -0.04996457187773904, 0.05702409443123922, -0.0564682478251627,
                        0.04646303595619648, -0.028661699418337627, 0.010102859937701358);
    near[7] = WB_HORNER(q, 0.0014769155827692438, -0.010001206333124922, 0.03182436758845529, -0.06485357404753052,
                        0.098083750690135, -0.1206993242556463, 0.12690793625335944, -0.11439922797740558,
                        0.08473626078232506, -0.04646453484323197, 0.014330869227838246);
  }
  int far = c >= 2.0;
  double away = wb_select(far, c, 2.0);
  double e = wb_exp_weight(-away);
  double inverse = 1.0 / ((1.0 + e) * away);
  double to_one = away * inverse; /* 1/(1 + e^-c) */
  double over_c = (1.0 + e) * inverse;
  double over_2q = 2.0 * over_c * over_c;
  g[0] = 2.0 * (1.0 - e) * inverse;
  h[0] = 4.0 * e * to_one * to_one;
  WB_UNROLL
  for (int n = 0; n < count - 1; n++) {
    double sum = h[0] * g[n];
    WB_UNROLL
    for (int i = 1; i <= n; i++) sum = wb_fma(h[i], g[n - i], sum);
    h[n + 1] = sum * (-1.0 / (n + 1));
    g[n + 1] = (h[n] - (2.0 * n + 1.0) * g[n]) * (over_2q * (1.0 / (n + 1)));
  }
  double scale = 0.25;
  WB_UNROLL
  for (int n = 0; n < count; n++) {
    kappa[n] = wb_select(far, scale * g[n], near[n]);
    scale *= -0.5 * (n + 1);
  }
}

/* Adds to p, the coefficients of powers of z, the terms up to the order n^-2 of the standardised cumulants l3..l6. */
WB_HD void wb_cornish_fisher_6(double l3, double l4, double l5, double l6, double *p) {
  const double l33 = l3 * l3, l34 = l3 * l4, l35 = l3 * l5, l44 = l4 * l4, l333 = l3 * l33, l334 = l3 * l34,
               l3333 = l3 * l333;
  p[0] = WB_ADD_PRODUCTS(p[0], (l3, -1.0 / 6), (l5, 1.0 / 40), (l34, -1.0 / 12), (l333, 17.0 / 324));
  p[1] = WB_ADD_PRODUCTS(p[1], (l4, -1.0 / 8), (l33, 5.0 / 36), (l6, 1.0 / 48), (l44, -29.0 / 384), (l35, -7.0 / 60),
                         (l334, 107.0 / 288), (l3333, -1511.0 / 7776));
  p[2] = WB_ADD_PRODUCTS(p[2], (l3, 1.0 / 6), (l5, -1.0 / 20), (l34, 5.0 / 24), (l333, -53.0 / 324));
  p[3] = WB_ADD_PRODUCTS(p[3], (l4, 1.0 / 24), (l33, -1.0 / 18), (l6, -1.0 / 72), (l44, 1.0 / 16), (l35, 17.0 / 180),
                         (l334, -103.0 / 288), (l3333, 211.0 / 972));
  p[4] = WB_ADD_PRODUCTS(p[4], (l5, 1.0 / 120), (l34, -1.0 / 24), (l333, 1.0 / 27));
  p[5] = WB_ADD_PRODUCTS(p[5], (l6, 1.0 / 720), (l44, -1.0 / 128), (l35, -1.0 / 90), (l334, 7.0 / 144),
                         (l3333, -7.0 / 216));
}

/* Adds the further terms of l3..l8, up to the order n^-3. */
WB_HD void wb_cornish_fisher_8(double l3, double l4, double l5, double l6, double l7, double l8, double *p) {
  const double l33 = l3 * l3, l34 = l3 * l4, l35 = l3 * l5, l44 = l4 * l4, l333 = l3 * l33, l334 = l3 * l34,
               l3333 = l3 * l333, l36 = l3 * l6, l37 = l3 * l7, l45 = l4 * l5, l46 = l4 * l6, l55 = l5 * l5,
               l335 = l3 * l35, l336 = l3 * l36, l344 = l3 * l44, l345 = l3 * l45, l444 = l4 * l44, l3334 = l3 * l334,
               l3335 = l3 * l335, l3344 = l3 * l344, l33333 = l3 * l3333, l33334 = l3 * l3334, l333333 = l3 * l33333;
  p[0] = WB_ADD_PRODUCTS(p[0], (l7, -1.0 / 336), (l45, 1.0 / 30), (l36, 1.0 / 48), (l344, -1.0 / 9), (l335, -1.0 / 12),
                         (l3334, 19.0 / 81), (l33333, -2651.0 / 29160));
  p[1] = WB_ADD_PRODUCTS(p[1], (l8, -1.0 / 384), (l55, 3.0 / 100), (l46, 19.0 / 384), (l444, -107.0 / 1024),
                         (l37, 3.0 / 112), (l345, -139.0 / 288), (l336, -265.0 / 1728), (l3344, 16367.0 / 13824),
                         (l3335, 3937.0 / 6480), (l33334, -109553.0 / 62208), (l333333, 2542637.0 / 4199040));
  p[2] = WB_ADD_PRODUCTS(p[2], (l7, 1.0 / 112), (l45, -29.0 / 240), (l36, -11.0 / 144), (l344, 271.0 / 576),
                         (l335, 131.0 / 360), (l3334, -1513.0 / 1296), (l33333, 7531.0 / 14580));
  p[3] = WB_ADD_PRODUCTS(p[3], (l8, 1.0 / 384), (l55, -11.0 / 300), (l46, -23.0 / 384), (l444, 451.0 / 3072),
                         (l37, -2.0 / 63), (l345, 487.0 / 720), (l336, 275.0 / 1296), (l3344, -13003.0 / 6912),
                         (l3335, -3751.0 / 3888), (l33334, 195259.0 / 62208), (l333333, -2516857.0 / 2099520));
  p[4] = WB_ADD_PRODUCTS(p[4], (l7, -1.0 / 336), (l45, 1.0 / 20), (l36, 13.0 / 432), (l344, -43.0 / 192),
                         (l335, -181.0 / 1080), (l3334, 803.0 / 1296), (l33333, -331.0 / 1080));
  p[5] = WB_ADD_PRODUCTS(p[5], (l8, -1.0 / 1920), (l55, 11.0 / 1200), (l46, 17.0 / 1152), (l444, -131.0 / 3072),
                         (l37, 37.0 / 5040), (l345, -91.0 / 480), (l336, -293.0 / 5184), (l3344, 2731.0 / 4608),
                         (l3335, 1427.0 / 4860), (l33334, -16751.0 / 15552), (l333333, 157307.0 / 349920));
  p[6] = WB_ADD_PRODUCTS(p[6], (l7, 1.0 / 5040), (l45, -1.0 / 240), (l36, -1.0 / 432), (l344, 1.0 / 48),
                         (l335, 2.0 / 135), (l3334, -5.0 / 81), (l33333, 8.0 / 243));
  p[7] = WB_ADD_PRODUCTS(p[7], (l8, 1.0 / 40320), (l55, -1.0 / 1800), (l46, -1.0 / 1152), (l444, 3.0 / 1024),
                         (l37, -1.0 / 2520), (l345, 1.0 / 80), (l336, 1.0 / 288), (l3344, -11.0 / 256),
                         (l3335, -11.0 / 540), (l33334, 143.0 / 1728), (l333333, -143.0 / 3888));
}

/* A variable of PG(b, c) is mean + sd times a polynomial of a normal: of degree 5 by 6 cumulants for b >= 30, of degree
 * 7 by 8 cumulants for b >= 12. By 2 cumulants it is the normal approximation. Errors: bench/polyagamma-law.R. */
typedef struct wb_polyagamma_expansion {
  double mean, sd, p[8];
} wb_polyagamma_expansion;

WB_HD wb_polyagamma_expansion wb_polyagamma_expansion_from(const double *kappa, double b, int cumulants) {
  wb_polyagamma_expansion series = {0.0, 0.0, {0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
  double l[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  series.mean = b * kappa[0];
  series.sd = wb_sqrt(b * kappa[1]);
  if (cumulants == 2) return series;
  double inverse = 1.0 / series.sd, power = b * inverse * inverse;
  WB_UNROLL
  for (int r = 3; r <= 8; r++) {
    if (r > cumulants) continue;
    power *= inverse;
    l[r - 1] = kappa[r - 1] * power;
  }
  wb_cornish_fisher_6(l[2], l[3], l[4], l[5], series.p);
  if (cumulants > 6) wb_cornish_fisher_8(l[2], l[3], l[4], l[5], l[6], l[7], series.p);
  return series;
}

WB_HD wb_polyagamma_expansion wb_polyagamma_expansion_prepare(double b, double c, int cumulants) {
  double kappa[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  wb_polyagamma_unit_cumulants(c, cumulants > 6 ? 8 : 6, kappa);
  return wb_polyagamma_expansion_from(kappa, b, cumulants);
}

/* |z| <= 8.3. */
WB_HD double wb_polyagamma_expansion_at(wb_polyagamma_expansion series, double z, int cumulants) {
  if (cumulants == 2) return wb_fma(series.sd, z, series.mean);
  double w = cumulants > 6 ? series.p[7] : series.p[5];
  WB_UNROLL
  for (int i = cumulants > 6 ? 6 : 4; i >= 0; i--) w = wb_fma(w, z, series.p[i]);
  return wb_fma(series.sd, w, series.mean);
}
